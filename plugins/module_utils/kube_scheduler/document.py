# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A YAML document as a tree that knows where each part stands in the text.

The tree is built from PyYAML's events instead of its constructor, for four reasons: places (line and column of every key
and value), duplicate keys, kube-scheduler's own scalars (module scalars), and no recursion, so that neither deep nesting
nor aliases of aliases cost more than the text is long.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from .result import ERROR, WARNING, Finding
from .scalars import resolve

try:
    import yaml
except ImportError:  # reported by check(): this file must stay importable
    yaml = None

_NOT_PRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Far beyond any configuration, and few enough for PyYAML's own parser, whose time grows with the square of the depth.
MAX_DEPTH = 200
_STRING_TAGS = ("!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:binary")


class Place(NamedTuple):
    """Where something stands, counted from 1."""

    line: int
    column: int


class Node:
    """A part of a document.

    place: of the value itself; value: plain Python data.
    entries: of a mapping, key -> (place of the key, Node); items: of a sequence. None for the other kinds.
    """

    __slots__ = ("entries", "items", "place", "value")

    def __init__(self, place: Place, value: Any = None):
        self.place = place
        self.value = value
        self.entries: dict[str, tuple[Place, Node]] | None = None
        self.items: list[Node] | None = None


class NotYaml(Exception):
    """The text can't be read; ``finding`` says where and why."""

    def __init__(self, finding: Finding):
        super().__init__(finding.message)
        self.finding = finding


def _not_yaml(code: str, message: str, place: Place, hint: str = "", path: str = "") -> NotYaml:
    return NotYaml(Finding(ERROR, code, message, path, place.line, place.column, hint))


def place_at(text: str, index: int) -> Place:
    """The place of a character of the text, given its index."""
    before = text[:index]
    return Place(before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1)


def join(path: str, key: Any) -> str:
    """The path of a child: a string is a key, a number an index."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


def parse(text: str) -> tuple[Node | None, list[Finding]]:
    """The first document of a text (None if it holds none) and what was noticed on the way.

    kube-scheduler reads the first document and ignores everything after it, errors included. Raises NotYaml.
    """
    if yaml is None:
        raise ImportError("PyYAML is needed to read a KubeSchedulerConfiguration")
    unprintable = _NOT_PRINTABLE.search(text)
    if unprintable:
        raise _not_yaml(
            "control-character",
            f"the character U+{ord(unprintable.group()):04X} is not allowed in YAML",
            place_at(text, unprintable.start()),
            "delete it; it is invisible in most editors",
        )
    if text.lstrip().startswith("{"):
        _require_json(text)
        # JSON allows tabs between tokens, where YAML does not; inside of its strings there are none.
        text = text.replace("\t", " ")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    events = yaml.parse(text, Loader=loader)
    try:
        next(events)  # StreamStart
        if not isinstance(next(events), yaml.DocumentStartEvent):
            return None, []
        root, findings = _compose(events)
        next(events)  # DocumentEnd
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(text, error) from None
    try:
        rest = next(events)
    except yaml.MarkedYAMLError as error:
        rest = error
    if not isinstance(rest, yaml.StreamEndEvent):
        mark = rest.problem_mark if isinstance(rest, Exception) else rest.start_mark
        findings.append(
            Finding(
                WARNING,
                "ignored-document",
                "kube-scheduler reads the first document only and ignores everything from here on",
                line=mark.line + 1,
                column=mark.column + 1,
                hint="keep one document in the text",
            )
        )
    return root, findings


def _require_json(text: str) -> None:
    try:
        json.loads(text)
    except RecursionError:
        return  # too deep for Python's reader, not for the tree
    except ValueError as error:
        index = getattr(error, "pos", 0)
        raise _not_yaml(
            "json-syntax",
            "not JSON: {}".format(getattr(error, "msg", "unreadable")),
            place_at(text, index),
            "a document that begins with { is read as JSON and never as YAML",
        ) from None


def _syntax_error(text: str, error: Exception) -> NotYaml:
    mark = error.problem_mark or error.context_mark
    place = Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)
    # PyYAML quotes pieces of the document, which may be a secret.
    problem = re.sub(r"\s*'[^']{2,}'|\s*\"[^\"]{2,}\"", "", error.problem or "unreadable").strip()
    lines = text.splitlines()
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    indentation = line[: len(line) - len(line.lstrip())]
    hint = ""
    if "\t" in indentation:
        hint = f"line {place.line} is indented with a tab; YAML allows spaces only"
    elif "\xa0" in line:
        hint = f"line {place.line} holds a no-break space (U+00A0), as copied from a web page; replace it by a space"
    elif "mapping values are not allowed" in problem:
        hint = "a text with a colon and a space needs quotes, or a line before this one is indented wrongly"
    elif "block" in problem or "expected" in problem:
        hint = "compare the indentation of this line with that of the lines before it"
    return _not_yaml("yaml-syntax", f"not YAML: {problem}", place, hint)


class _Open:
    """A mapping or sequence whose end has not been reached yet."""

    __slots__ = ("anchor", "key", "key_place", "merge", "node", "path")

    def __init__(self, node: Node, path: str, anchor: str | None):
        self.node = node
        self.path = path
        self.anchor = anchor
        # of the mapping entry whose value comes next:
        self.key: str | None = None
        self.key_place: Place | None = None
        self.merge = False


def _compose(events) -> tuple[Node, list[Finding]]:
    """Build the tree of one document from its events, up to and including its last node."""
    findings: list[Finding] = []
    anchors: dict[str, Node | None] = {}  # None while the anchored node is still open
    stack: list[_Open] = []
    while True:
        event = next(events)
        place = Place(event.start_mark.line + 1, event.start_mark.column + 1)
        merge = False
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            if len(stack) == MAX_DEPTH:
                raise _not_yaml("too-deep", f"nested more than {MAX_DEPTH} levels deep", place, "flatten it")
            if event.anchor is not None:
                anchors[event.anchor] = None
            stack.append(_Open(_collection(event, place), _path_of_next(stack, place), event.anchor))
            continue
        if isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            closed = stack.pop()
            node = closed.node
            if closed.anchor is not None:
                anchors[closed.anchor] = node
        elif isinstance(event, yaml.AliasEvent):
            node = anchors.get(event.anchor)
            if node is None:
                problem = "refers to itself" if event.anchor in anchors else "has no anchor before it"
                raise _not_yaml("yaml-alias", f"an alias {problem}", place, "a text that begins with * needs quotes")
        else:
            node = Node(place, _scalar(event))
            merge = event.value == "<<" and not event.style
            if event.anchor is not None:
                anchors[event.anchor] = node
        if not stack:
            return node, findings
        if _takes_key(stack):
            _open_entry(stack[-1], node, place, merge)
        else:
            _add(stack[-1], node, findings)


def _takes_key(stack: list[_Open]) -> bool:
    return bool(stack) and stack[-1].node.entries is not None and stack[-1].key is None


def _path_of_next(stack: list[_Open], place: Place) -> str:
    if not stack:
        return ""
    parent = stack[-1]
    if parent.node.items is not None:
        return join(parent.path, len(parent.node.items))
    if parent.key is None:
        raise _not_yaml(
            "yaml-key",
            "a mapping or list stands where the name of a field belongs",
            place,
            "a template such as {{ name }} needs quotes",
            parent.path,
        )
    return join(parent.path, parent.key)


def _collection(event, place: Place) -> Node:
    if isinstance(event, yaml.MappingStartEvent):
        node = Node(place, {})
        node.entries = {}
    else:
        node = Node(place, [])
        node.items = []
    return node


def _scalar(event) -> Any:
    if event.style and event.tag is None:  # quoted (libyaml says "", PyYAML None, for a plain one)
        return event.value
    if event.tag is not None and (event.tag in _STRING_TAGS or not event.tag.startswith("tag:yaml.org,2002:")):
        return event.value
    return resolve(event.value)


def _open_entry(parent: _Open, node: Node, place: Place, merge: bool) -> None:
    """Remember the key of the entry whose value comes next. Keys that are no strings become such, as in JSON."""
    value = node.value
    if value is None or isinstance(value, (list, dict)):
        raise _not_yaml("yaml-key", "the name of a field is missing", place, path=parent.path)
    if isinstance(value, bool):
        value = "true" if value else "false"
    parent.key = str(value)
    parent.key_place = place
    parent.merge = merge


def _add(parent: _Open, node: Node, findings: list[Finding]) -> None:
    """Put a finished node into the collection that is open."""
    if parent.node.items is not None:
        parent.node.items.append(node)
        parent.node.value.append(node.value)
        return
    key, place = parent.key, parent.key_place
    parent.key = None
    if not parent.merge:
        _set(parent, key, place, node, findings)
        return
    sources = list(reversed(node.items)) if node.items is not None else [node]
    for source in sources:
        if source.entries is None:
            raise _not_yaml("yaml-merge", "<< merges a mapping or a list of mappings, nothing else", place, path=parent.path)
        for merged, entry in source.entries.items():
            _set(parent, merged, place, entry[1], findings)


def _set(parent: _Open, key: str, place: Place, node: Node, findings: list[Finding]) -> None:
    """A key that is there already is an error for kube-scheduler, also when it came by a merge."""
    earlier = parent.node.entries.get(key)
    if earlier is not None:
        findings.append(
            Finding(
                ERROR,
                "duplicate-key",
                f"the field is there twice, first in line {earlier[0].line}",
                join(parent.path, key),
                place.line,
                place.column,
                "remove one of the two",
            )
        )
    parent.node.entries[key] = (place, node)
    parent.node.value[key] = node.value
