# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The first document of a YAML text as a tree, with what kube-scheduler makes of it on its way to JSON.

Grammar: go-yaml version 2, parserc.go. Keys, merges, aliases and tags: its decode.go and sigs.k8s.io/yaml. Nothing here
recurses, so neither deep nesting nor aliases of aliases cost more than the text is long.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable
from typing import Any, NamedTuple

from .document_nodes import IGNORED, MAX_DEPTH, Limits, Node, NotYaml, Place, duplicate, join, not_yaml, too_deep, too_long, too_many
from .result import WARNING, Finding
from .scalars import TAG_PREFIX, TagError, resolve, resolve_tagged
from .value_syntax import float32
from .yaml_scanner import (
    ALIAS,
    ANCHOR,
    BLOCK_END,
    BLOCK_ENTRY,
    BLOCK_MAPPING,
    BLOCK_SEQUENCE,
    DOCUMENT_END,
    DOCUMENT_START,
    END,
    FLOW_ENTRY,
    FLOW_MAPPING,
    FLOW_MAPPING_END,
    FLOW_SEQUENCE,
    FLOW_SEQUENCE_END,
    KEY,
    SCALAR,
    STAND_INS,
    STREAM_END,
    TAG,
    TAG_DIRECTIVE,
    VALUE,
    VERSION_DIRECTIVE,
    ScanError,
    Scanner,
)

_MAX_FINDINGS = 100
_BETWEEN_DOCUMENTS = (VERSION_DIRECTIVE, TAG_DIRECTIVE, DOCUMENT_START, DOCUMENT_END, STREAM_END)
_NOTHING_MORE = r"(?:\s|\ufeff|#.*|---(?=\s|\Z)|\.\.\.(?=\s|\Z))*\Z"
_BINARY_TAG = TAG_PREFIX + "binary"
_MERGE_TAG = TAG_PREFIX + "merge"

_place = tuple.__new__  # of a Place; several times faster than calling it


class Reading(NamedTuple):
    """root: None if there is no document. rest: how many characters at the end were not looked at."""

    root: Node | None
    findings: list[Finding]
    rest: int


def read(text: str, limits: Limits) -> Reading:
    """text: only characters that YAML allows. Raises NotYaml."""
    for line_end in ("\r\n", "\r", "\x85"):
        if line_end in text:
            text = text.replace(line_end, "\n")
    for character, stand_in in STAND_INS.items():
        if character in text:
            text = text.replace(character, stand_in)
    return _Reader(text, limits).read()


_State = Callable[["_Reader", "_Frame"], None]
"""What the grammar expects next: a method of the reader, for the collection that is open."""


class _Frame:
    """A mapping or sequence whose end has not been reached yet, and what the grammar expects next in it."""

    __slots__ = ("anchor", "expect", "has_other_keys", "key", "key_place", "keys", "merge", "node", "start")

    def __init__(self, node: Node, expect: _State, start: int):
        self.node = node
        self.expect = expect
        self.start = start  # in _Reader.count
        self.anchor: str | None = None
        # of a mapping: its keys as Go compares them, and the entry whose value comes next
        self.keys: dict[Any, str] = {}
        self.has_other_keys = False  # than strings
        self.key: Any = None
        self.key_place = node.place
        self.merge = False


class _Anchor(NamedTuple):
    """start, end: what it spans in _Reader.count; end is -1 while it is open."""

    node: Node
    start: int
    end: int


class _Reader:
    def __init__(self, text: str, limits: Limits):
        self.text = text
        self.limits = limits
        self.scanner = Scanner(text + END * 4)
        self.tokens = self.scanner.tokens()
        self.root: Node | None = None
        self.findings: list[Finding] = []
        self.frames: list[_Frame] = []
        self.tag_prefixes = {"!": "!", "!!": TAG_PREFIX}
        self.anchors: dict[str, _Anchor] = {}
        self.count = 0  # values decoded so far, an alias counting as one
        self.aliases: list[tuple[int, int]] = []  # what each one spans
        self.alias_places: list[int] = []  # and the count where it stands
        self.added = [0]  # how many values the aliases add, up to each of them

    def read(self) -> Reading:
        try:
            self.token = next(self.tokens)
            has_document = self._begin_document()
            if has_document:
                self._read_root()
        except ScanError as error:
            raise self._syntax_error(error.problem, error.line, error.column) from None
        if self.aliases:
            self._check_aliases()
        if has_document:
            self._note_ignored()
        return Reading(self.root, self.findings, len(self.text) - self.scanner.looked_at)

    def _advance(self) -> None:
        self.token = next(self.tokens)

    def _error(self, problem: str) -> NotYaml:
        return self._syntax_error(problem, self.token.line, self.token.column)

    # --- grammar ---

    def _begin_document(self) -> bool:
        if self.token.kind == STREAM_END:
            return False
        declared: set[str] = set()
        explicit = self.token.kind in (VERSION_DIRECTIVE, TAG_DIRECTIVE, DOCUMENT_START)
        while self.token.kind in (VERSION_DIRECTIVE, TAG_DIRECTIVE):
            value = self.token.value
            name = "%YAML" if self.token.kind == VERSION_DIRECTIVE else value[0]
            if name in declared:
                raise self._error("found duplicate directive")
            declared.add(name)
            if name != "%YAML":
                self.tag_prefixes[name] = value[1]
            elif [int(part) for part in value] != [1, 1]:
                raise self._error("found incompatible YAML document: only %YAML 1.1 is read")
            self._advance()
        if explicit:
            if self.token.kind != DOCUMENT_START:
                raise self._error("did not find expected <document start>")
            self._advance()
            if self.token.kind in _BETWEEN_DOCUMENTS:
                self._empty()
                return True
        return True

    def _read_root(self) -> None:
        if self.root is None:
            self._node(True)
        frames = self.frames
        while frames:
            frames[-1].expect(self, frames[-1])

    def _node(self, block: bool, indentless: bool = False) -> None:
        """A value with its anchor and tag. A collection only begins here."""
        token = self.token
        kind = token.kind
        place = _place(Place, (token.line, token.column))
        if kind == SCALAR:
            node = Node(place, resolve(token.value) if token.plain else token.value)
            merge = token.plain and token.value == "<<"
            self._advance()
            return self._add_scalar(node, place, merge)
        if kind == ALIAS:
            self._advance()
            return self._add_alias(token.value, place)
        anchor = tag = None
        if kind == ANCHOR:
            anchor = token.value
            self._advance()
            if self.token.kind == TAG:
                tag = self._tag()
        elif kind == TAG:
            tag = self._tag()
            if self.token.kind == ANCHOR:
                anchor = self.token.value
                self._advance()
        token = self.token
        kind = token.kind
        if anchor is None and tag is None:
            pass
        elif kind == SCALAR:
            self._advance()
            return self._add_tagged(token.value, token.plain, anchor, tag, place)
        if indentless and kind == BLOCK_ENTRY:
            return self._open_sequence(_Reader._indentless_sequence, anchor, place)
        if kind == FLOW_SEQUENCE:
            self._advance()
            return self._open_sequence(_Reader._flow_sequence_first, anchor, place)
        if kind == FLOW_MAPPING:
            self._advance()
            return self._open_mapping(_Reader._flow_key, anchor, place)
        if block and kind == BLOCK_SEQUENCE:
            self._advance()
            return self._open_sequence(_Reader._block_sequence, anchor, place)
        if block and kind == BLOCK_MAPPING:
            self._advance()
            return self._open_mapping(_Reader._block_key, anchor, place)
        if anchor is not None or tag is not None:
            return self._add_tagged("", True, anchor, tag, place)
        raise self._error("did not find expected node content")

    def _tag(self) -> str:
        handle, suffix = self.token.value
        tag: str = suffix
        if handle:
            if handle not in self.tag_prefixes:
                raise self._error("found undefined tag handle")
            tag = self.tag_prefixes[handle] + suffix
        self._advance()
        return tag

    def _empty(self, place: Place | None = None) -> None:
        """A value that is not there."""
        if place is None:
            place = _place(Place, (self.token.line, self.token.column))
        self._add_scalar(Node(place), place, False)

    def _place_after(self) -> Place:
        """The place behind an indicator of one character."""
        return _place(Place, (self.token.line, self.token.column + 1))

    def _block_sequence(self, _frame: _Frame) -> None:
        if self.token.kind == BLOCK_ENTRY:
            place = self._place_after()
            self._advance()
            if self.token.kind in (BLOCK_ENTRY, BLOCK_END):
                self._empty(place)
            else:
                self._node(True)
        elif self.token.kind == BLOCK_END:
            self._advance()
            self._close()
        else:
            raise self._error("did not find expected '-' indicator")

    def _indentless_sequence(self, _frame: _Frame) -> None:
        if self.token.kind != BLOCK_ENTRY:
            self._close()
            return
        place = self._place_after()
        self._advance()
        if self.token.kind in (BLOCK_ENTRY, KEY, VALUE, BLOCK_END):
            self._empty(place)
        else:
            self._node(True)

    def _block_key(self, frame: _Frame) -> None:
        if self.token.kind == KEY:
            frame.expect = _Reader._block_value
            self._block_part()
        elif self.token.kind == BLOCK_END:
            self._advance()
            self._close()
        else:
            raise self._error("did not find expected key")

    def _block_value(self, frame: _Frame) -> None:
        frame.expect = _Reader._block_key
        if self.token.kind == VALUE:
            self._block_part()
        else:
            self._empty()

    def _block_part(self) -> None:
        place = self._place_after()
        self._advance()
        if self.token.kind in (KEY, VALUE, BLOCK_END):
            self._empty(place)
        else:
            self._node(True, True)

    def _flow_sequence_first(self, frame: _Frame) -> None:
        frame.expect = _Reader._flow_sequence
        self._flow_item()

    def _flow_sequence(self, _frame: _Frame) -> None:
        if self.token.kind == FLOW_ENTRY:
            self._advance()
        elif self.token.kind != FLOW_SEQUENCE_END:
            raise self._error("did not find expected ',' or ']'")
        self._flow_item()

    def _flow_item(self) -> None:
        if self.token.kind == FLOW_SEQUENCE_END:
            self._advance()
            self._close()
        elif self.token.kind == KEY:  # a mapping of one entry, without braces
            place = _place(Place, (self.token.line, self.token.column))
            self._advance()
            self._open_mapping(_Reader._pair_key, None, place)
        else:
            self._node(False)

    def _pair_key(self, frame: _Frame) -> None:
        frame.expect = _Reader._pair_value
        if self.token.kind in (VALUE, FLOW_ENTRY, FLOW_SEQUENCE_END):
            self._advance()  # go-yaml does, and then finds no value
            self._empty()
        else:
            self._node(False)

    def _pair_value(self, frame: _Frame) -> None:
        frame.expect = _Reader._pair_end
        if self.token.kind == VALUE:
            self._advance()
            if self.token.kind not in (FLOW_ENTRY, FLOW_SEQUENCE_END):
                self._node(False)
                return
        self._empty()

    def _pair_end(self, _frame: _Frame) -> None:
        self._close()

    def _flow_mapping(self, frame: _Frame) -> None:
        if self.token.kind == FLOW_ENTRY:
            self._advance()
        elif self.token.kind != FLOW_MAPPING_END:
            raise self._error("did not find expected ',' or '}'")
        self._flow_key(frame)

    def _flow_key(self, frame: _Frame) -> None:
        if self.token.kind == FLOW_MAPPING_END:
            self._advance()
            self._close()
        elif self.token.kind == KEY:
            frame.expect = _Reader._flow_value
            self._advance()
            if self.token.kind in (VALUE, FLOW_ENTRY, FLOW_MAPPING_END):
                self._empty()
            else:
                self._node(False)
        else:
            frame.expect = _Reader._flow_no_value
            self._node(False)

    def _flow_value(self, frame: _Frame) -> None:
        frame.expect = _Reader._flow_mapping
        if self.token.kind == VALUE:
            self._advance()
            if self.token.kind not in (FLOW_ENTRY, FLOW_MAPPING_END):
                self._node(False)
                return
        self._empty()

    def _flow_no_value(self, frame: _Frame) -> None:
        frame.expect = _Reader._flow_mapping
        self._empty()

    # --- the tree ---

    def _open_sequence(self, expect: _State, anchor: str | None, place: Place) -> None:
        node = Node(place, [])
        node.items = []
        self._open(node, expect, anchor)

    def _open_mapping(self, expect: _State, anchor: str | None, place: Place) -> None:
        node = Node(place, {})
        node.entries = {}
        self._open(node, expect, anchor)

    def _open(self, node: Node, expect: _State, anchor: str | None) -> None:
        frames = self.frames
        if frames:
            parent = frames[-1]
            if parent.node.entries is not None and parent.key is None:
                raise not_yaml(
                    "yaml-key",
                    "a mapping or list is in the place of a field's name",
                    node.place,
                    "a template such as {{ name }} needs quotes",
                    self._path(),
                )
            if len(frames) == MAX_DEPTH:
                raise too_deep(node.place)
        frame = _Frame(node, expect, self.count)
        if not (frames and frames[-1].merge and node.items is not None):  # a list of merged mappings is no value itself
            self.count += 1
        if anchor is not None:
            frame.anchor = anchor
            self.anchors[anchor] = _Anchor(node, frame.start, -1)
        frames.append(frame)

    def _close(self) -> None:
        frame = self.frames.pop()
        node = frame.node
        if frame.anchor is not None and self.anchors[frame.anchor].node is node:
            self.anchors[frame.anchor] = _Anchor(node, frame.start, self.count)
        if frame.has_other_keys:
            node.keys = frame.keys
        self._add(node, node.place)

    def _add_tagged(self, text: str, plain: bool, anchor: str | None, tag: str | None, place: Place) -> None:
        value: Any = text
        if tag is not None or plain:
            try:
                value = resolve_tagged(tag or "", text)
            except TagError as error:
                raise not_yaml("yaml-tag", str(error), place, "remove the tag, or correct the value", self._path()) from None
        merge = text == "<<" and (tag in ("!", _MERGE_TAG) or (tag is None and plain))
        node = Node(place, value)
        if anchor is not None:
            self.anchors[anchor] = _Anchor(node, self.count, self.count + 1)
        self._add_scalar(node, place, merge)

    def _add_scalar(self, node: Node, place: Place, merge: bool) -> None:
        self.count += 1
        frames = self.frames
        if frames and frames[-1].node.entries is not None and frames[-1].key is None:
            if merge:
                self.count -= 1
            self._open_entry(frames[-1], node, place, merge)
            return
        if isinstance(node.value, float):
            node.value = self._number(node.value, place)
        self._add(node, place)

    def _add_alias(self, name: str, place: Place) -> None:
        anchor = self.anchors.get(name)
        if anchor is None or anchor.end < 0:
            problem = "has no anchor before it" if anchor is None else "refers to itself"
            raise not_yaml("yaml-alias", f"an alias {problem}", place, "a text that begins with * needs quotes")
        start, end = anchor.start, anchor.end
        # The aliases within what it stands for were there before it.
        inner = self.added[bisect_left(self.alias_places, end)] - self.added[bisect_left(self.alias_places, start)]
        self.aliases.append((start, end))
        self.alias_places.append(self.count)
        self.added.append(self.added[-1] + end - start + inner)
        self.count += 1
        frame = self.frames[-1] if self.frames else None
        if frame is not None and frame.node.entries is not None and frame.key is None:
            self._open_entry(frame, anchor.node, place, False)
        else:
            self._add(anchor.node, place)

    def _add(self, node: Node, place: Place) -> None:
        """Put a finished node into the collection that is open."""
        if self.count + self.added[-1] > self.limits.nodes:
            raise too_many(place, self.limits)
        if not self.frames:
            self.root = node
            return
        frame = self.frames[-1]
        parent = frame.node
        if parent.items is not None:
            if len(parent.items) == self.limits.items:
                raise too_long(place, self.limits)
            parent.items.append(node)
            parent.value.append(node.value)
        elif frame.merge:
            self._merge(frame, node, node.place == place)
        else:
            self._set(frame, frame.key, frame.key_place, node)
        frame.key = None
        frame.merge = False

    def _open_entry(self, frame: _Frame, node: Node, place: Place, merge: bool) -> None:
        """Remember the key of the entry whose value comes next."""
        if node.entries is not None or node.items is not None:
            raise not_yaml("yaml-key", "a mapping or list is in the place of a field's name", place, path=self._path())
        if node.value is None or (isinstance(node.value, int) and node.value >= 2**63):
            problem = "the name of a field is missing" if node.value is None else "the name of a field is a number out of range"
            raise not_yaml("yaml-key", problem, place, path=self._path())
        value = node.value
        if not isinstance(value, str):
            # For Go 1, 1.0 and true are three keys, and not-a-number is equal to nothing.
            value = (type(value), float("nan") if math.isnan(value) else value)
            frame.has_other_keys = True
        frame.key = value
        frame.key_place = place
        frame.merge = merge

    def _merge(self, frame: _Frame, node: Node, is_written_here: bool) -> None:
        sources = [node] if node.items is None else node.items[::-1]
        for source in sources:
            # an alias may stand for a mapping, not for a list of mappings
            if source.entries is None or (node.items is not None and not is_written_here):
                problem = "<< merges a mapping or a list of mappings, nothing else"
                raise not_yaml("yaml-merge", problem, frame.key_place, path=self._path(frame))
            keys = source.keys or {name: name for name in source.entries}
            frame.has_other_keys = frame.has_other_keys or source.keys is not None
            for key, name in keys.items():
                self._set(frame, key, frame.key_place, source.entries[name][1])

    def _set(self, frame: _Frame, key: Any, place: Place, node: Node) -> None:
        """A key that is there already is an error for kube-scheduler, also when it came by a merge."""
        entries = frame.node.entries
        # The frame is a mapping
        if entries is None:
            raise AssertionError("entries")
        name = key if isinstance(key, str) else _name(key[1])
        if key in frame.keys and len(self.findings) < _MAX_FINDINGS:
            self.findings.append(duplicate(join(self._path(frame), name), place, entries[name][0]))
        frame.keys[key] = name
        entries[name] = (place, node)
        frame.node.value[name] = node.value

    def _number(self, value: float, place: Place) -> float | int:
        """Its form in the JSON for the decoder: without a fraction it is an integer."""
        if not math.isfinite(value):
            raise not_yaml("yaml-value", "infinity and not-a-number are no values of JSON", place, path=self._path())
        return int(value) if value == int(value) and abs(value) < 1e21 else value

    def _path(self, inner: _Frame | None = None) -> str:
        """Of what comes next; or of the collection of a frame."""
        path = ""
        for frame in self.frames:
            if frame is inner:
                break
            if frame.node.items is not None:
                path = join(path, len(frame.node.items))
            elif frame.key is not None:
                path = join(path, frame.key if isinstance(frame.key, str) else _name(frame.key[1]))
        return path

    # --- aliases ---

    def _check_aliases(self) -> None:
        """go-yaml's guard against aliases of aliases: of many values too few may be written out (decode.go, unmarshal)."""
        if self.count + self.added[-1] <= 1000:
            return
        root = self.root.place if self.root is not None else Place(1, 1)
        decoded, aliased = 1, 0
        spans = dict(zip(self.alias_places, self.aliases))
        stack = [(0, self.count, False)]
        while stack:
            at, end, in_alias = stack.pop()
            while at < end:
                decoded += 1
                aliased += in_alias
                if aliased > 100 and decoded > 1000 and aliased / decoded > 0.99:
                    raise not_yaml("yaml-alias", "document contains excessive aliasing", root, "write it out")
                span = spans.get(at)
                at += 1
                if span is not None:
                    stack.append((at, end, in_alias))
                    at, end = span
                    in_alias = True

    # --- what is wrong ---

    def _note_ignored(self) -> None:
        """What stands behind the first document."""
        if self.token.kind == STREAM_END:
            return
        lines = _lines(self.text)
        line, column = self.token.line, self.token.column
        rest = "\n".join([lines[line - 1][column - 1 :], *lines[line:]])
        if re.match(_NOTHING_MORE, rest):
            return
        self.findings.append(
            Finding(
                WARNING,
                IGNORED,
                "kube-scheduler reads the first document only and ignores everything from here on",
                line=line,
                column=column,
                hint="keep one document in the text",
            )
        )

    def _syntax_error(self, problem: str, line: int, column: int) -> NotYaml:
        lines = _lines(self.text)
        text = lines[line - 1] if line <= len(lines) else ""
        indentation = text[: len(text) - len(text.lstrip())]
        hint = ""
        if "\t" in indentation:
            hint = f"line {line} is indented with a tab; YAML allows spaces only"
        elif "\xa0" in text:
            hint = f"line {line} holds a no-break space (U+00A0), as copied from a web page; replace it by a space"
        elif "mapping values are not allowed" in problem:
            hint = "a text with a colon and a space needs quotes, or a line before this one is indented wrongly"
        elif "block" in problem or "expected" in problem:
            hint = "compare the indentation of this line with that of the lines before it"
        return not_yaml("yaml-syntax", f"not YAML: {problem}", (line, column), hint)


def _lines(text: str) -> list[str]:
    return re.split("[\n\x1e\x1f]", text)


def _name(key: Any) -> str:
    """The name that a key without quotes gets in JSON: true, 1, 1.5."""
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, int):
        return str(key)
    if math.isnan(key):
        return ".nan"
    try:
        key = float32(key)
    except ValueError:
        key = float("inf") if key > 0 else float("-inf")
    if key in (float("inf"), float("-inf")):
        return ".inf" if key > 0 else "-.inf"
    # Go's %g with the fewest digits: with an exponent below -4 and from 6 on.
    digits = re.sub(r"e.*|[-.]", "", repr(key)).lstrip("0").rstrip("0") or "0"
    scientific = f"{key:.{len(digits) - 1}e}"
    exponent = int(scientific.partition("e")[2])
    return f"{key:.{max(len(digits) - 1 - exponent, 0)}f}" if -4 <= exponent < 6 else scientific
