# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tokens of a YAML text, as kube-scheduler's YAML library finds them.

That library is go-yaml version 2 (scannerc.go; the same in every release from 1.21 to 1.36). PyYAML's two parsers read another
dialect, and each its own: they differ from it in tabs, escapes, tags, indicators inside of brackets, directives and in what
stands after the document, so a verdict that is equal for any text needs these rules and no others.

Tokens come one by one, and the scanner reads no further than the last one asked for: what stands behind the first document
is never looked at.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .document_nodes import MAX_DEPTH, always, too_deep

# Kinds of tokens
(
    SCALAR,
    ALIAS,
    ANCHOR,
    TAG,
    KEY,
    VALUE,
    BLOCK_ENTRY,
    BLOCK_SEQUENCE,
    BLOCK_MAPPING,
    BLOCK_END,
    FLOW_SEQUENCE,
    FLOW_SEQUENCE_END,
    FLOW_MAPPING,
    FLOW_MAPPING_END,
    FLOW_ENTRY,
    VERSION_DIRECTIVE,
    TAG_DIRECTIVE,
    DOCUMENT_START,
    DOCUMENT_END,
    STREAM_END,
) = range(20)

END = "\0"
"""Ends the text that is scanned; it is no character of YAML."""

# Line breaks: CR, CR LF and NEL are made LF before. The separators of lines and paragraphs, which stay what they are within
# a scalar, are stood for by control characters: regular expressions of Latin-1 only are compiled many times faster.
STAND_INS = {"\u2028": "\x1e", "\u2029": "\x1f"}
_BREAKS = "\n\x1e\x1f"
_SEPARATORS = {ord(stand_in): character for character, stand_in in STAND_INS.items()}
_BLANK_OR_END = " \t\0" + _BREAKS
_MAX_KEY = 1024

_SPACES = always("[ ]*")
_BLANKS = always("[ \t]*")
_LINE = always(f"[^{_BREAKS}\0]*")
_NAME = always("[0-9A-Za-z_-]*")
_URI = always(r"[0-9A-Za-z_;/?:@&=+$,.!~*'()\[\]%-]*")
_BLOCK_HEADER = always("[|>]?(?:([+-])([0-9])?|([0-9])([+-])?)?[ \t]*(?:#[^\n\x1e\x1f\0]*)?")
_VERSION = re.compile(r"[ \t]*([0-9]{1,2})\.([0-9]{1,2})(?![0-9])").match
_DOUBLE_QUOTED = re.compile(f'"([^"\\\\{_BREAKS}\0]*)"').match
_SINGLE_QUOTED = re.compile(f"'([^'{_BREAKS}\0]*)'(?!')").match
_DOUBLE_PART = always(f'[^"\\\\ \t{_BREAKS}\0]*')
_SINGLE_PART = always(f"[^' \t{_BREAKS}\0]*")


def _plain(excluded: str) -> Callable[[str, int], re.Match[str] | None]:
    """A piece of one line of a plain scalar: a colon before a blank ends it, and so does # after one.

    Only a piece because a pattern that repeats a group takes memory each time.
    """
    character = f"(?:[^ \t:{excluded}{_BREAKS}\0]+|:(?![ \t{_BREAKS}\0])){{1,100}}"
    return re.compile(f"{character}(?:[ \t]+(?!#){character}){{0,100}}").match


_PLAIN_IN_BLOCK = _plain("")
_PLAIN_IN_FLOW = _plain(r",?\[\]{}")

_ESCAPES = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    " ": " ",
    '"': '"',
    "'": "'",
    "\\": "\\",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
_HEXADECIMAL = {"x": 2, "u": 4, "U": 8}
_FLOW_INDICATORS = {"[": FLOW_SEQUENCE, "{": FLOW_MAPPING, "]": FLOW_SEQUENCE_END, "}": FLOW_MAPPING_END}


class Token(NamedTuple):
    """line and column count from 1.

    value: of a scalar, anchor or alias its text, of a tag (handle, suffix), of a directive its two parts.
    plain: of a scalar, whether it stands without quotes and not as a block.
    """

    kind: int
    line: int
    column: int
    value: Any = None
    plain: bool = False


class ScanError(Exception):
    """problem: what is wrong, with no piece of the text in it; line and column count from 1."""

    def __init__(self, problem: str, line: int, column: int):
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.column = column


class _Key(NamedTuple):
    """A token that turns out to be a key if a colon follows it in its line."""

    number: int
    line: int
    index: int  # type: ignore[assignment]  # hides the method of tuples, which is never called
    column: int
    required: bool


class Scanner:
    """text: ends with END four times, has LF for its line ends and stand-ins."""

    def __init__(self, text: str):
        self.text = text
        self.index = 0
        self._token_start = 0
        self._line = 0
        self._line_start = 0
        self._indent = -1
        self._indents: list[int] = []
        self._flow_level = 0
        self._key_allowed = True
        self._keys: list[_Key | None] = [None]  # for each level of brackets
        self._numbers = [0]  # likewise, of the token that was a possible key last, at first the bracket
        self._possible: dict[int, _Key] = {}
        self._queue: deque[Token] = deque()
        self._taken = 0
        # go-yaml skips the first character of every line if a second byte order mark begins the text.
        self._skips_characters = text[0] == "\ufeff"

    def tokens(self) -> Iterator[Token]:
        """Raises ScanError, and NotYaml where brackets are nested too deep."""
        queue, possible = self._queue, self._possible
        fetch = self._fetch
        while True:
            fetch()
            while queue:
                key = possible.get(self._taken)
                if key is not None and self._is_valid(key):
                    break
                token = queue.popleft()
                self._taken += 1
                yield token
                if token[0] == STREAM_END:
                    return

    @property
    def looked_at(self) -> int:
        """Number of characters read ahead: go-yaml reads four at the start of a token, and one after it."""
        return max(self._token_start + 4, self.index + 1)

    # --- state ---

    def _error(self, problem: str, index: int | None = None) -> ScanError:
        index = self.index if index is None else index
        start = self.text.rfind("\n", 0, index) + 1 if index < self._line_start else self._line_start
        line = self._line - self.text.count("\n", index, self._line_start) if index < self._line_start else self._line
        return ScanError(problem, line + 1, index - start + 1)

    def _put(self, kind: int, length: int, value: Any = None) -> None:
        self._queue.append(Token(kind, self._line + 1, self.index - self._line_start + 1, value))
        self.index += length

    def _is_valid(self, key: _Key) -> bool:
        """A key ends in the line where it begins, and within 1024 characters."""
        if key.line == self._line and self.index <= key.index + _MAX_KEY:
            return True
        if key.required:
            raise ScanError("could not find expected ':'", key.line + 1, key.column + 1)
        return False

    def _save_key(self) -> None:
        if not self._key_allowed:
            return
        self._remove_key()
        column = self.index - self._line_start
        required = not self._flow_level and self._indent == column
        key = _Key(self._taken + len(self._queue), self._line, self.index, column, required)
        self._keys[-1] = key
        self._numbers[-1] = key.number
        self._possible[key.number] = key

    def _remove_key(self) -> None:
        key = self._keys[-1]
        if key is not None:
            if key.required:
                raise ScanError("could not find expected ':'", key.line + 1, key.column + 1)
            self._keys[-1] = None
            self._possible.pop(key.number, None)

    def _begin_block(self, kind: int, column: int, position: int = -1) -> None:
        """A block begins where the indentation grows; position: in the queue, -1 for its end."""
        if self._flow_level or self._indent >= column:
            return
        self._indents.append(self._indent)
        self._indent = column
        token = Token(kind, self._line + 1, column + 1)
        self._insert(position, token)

    def _insert(self, position: int, token: Token) -> None:
        """A negative position is that of a token that was taken already: go-yaml then puts it at the end."""
        if position < 0:
            self._queue.append(token)
        else:
            self._queue.insert(position, token)

    def _end_blocks(self, column: int) -> None:
        if self._flow_level:
            return
        while self._indent > column:
            self._queue.append(Token(BLOCK_END, self._line + 1, self.index - self._line_start + 1))
            self._indent = self._indents.pop()

    def _next_line(self, index: int) -> int:
        """Past the line break at the index."""
        self._line += 1
        self._line_start = index + 1
        return index + 1

    def _is_indicator(self, index: int) -> bool:
        """Whether --- or ... stands at the beginning of a line."""
        return index == self._line_start and self.text.startswith(("---", "..."), index) and self.text[index + 3] in _BLANK_OR_END

    # --- tokens ---

    def _skip_to_next_token(self) -> None:
        text, index = self.text, self.index
        # A tab may separate tokens, not indent them.
        blanks = _BLANKS if self._flow_level or not self._key_allowed else _SPACES
        while True:
            if self._skips_characters and index == self._line_start and text[index] != END:
                index += 1
            index = blanks(text, index).end()
            if text[index] == "#":
                index = _LINE(text, index).end()
            if text[index] not in _BREAKS:
                break
            index = self._next_line(index)
            if not self._flow_level:
                self._key_allowed = True
                blanks = _SPACES
        self.index = index

    def _fetch(self) -> None:
        self._skip_to_next_token()
        text, index = self.text, self.index
        self._token_start = index
        column = index - self._line_start
        if self._indent > column:
            self._end_blocks(column)
        character = text[index]
        if column == 0 and character in "-.%":
            if character == "%":
                self._reset()
                return self._scan_directive()
            if self._is_indicator(index):
                self._reset()
                return self._put(DOCUMENT_START if character == "-" else DOCUMENT_END, 3)
        fetch = _FETCH.get(character)
        if fetch is not None:
            return fetch(self, character)
        if character in "|>" and not self._flow_level:
            return self._scan_block_scalar()
        if character in "\t%@`|>#":
            raise self._error("found character that cannot start any token" + (" (a tab)" if character == "\t" else ""))
        return self._scan_plain()

    def _reset(self) -> None:
        """Before what stands between documents."""
        self._end_blocks(-1)
        self._remove_key()
        self._key_allowed = False

    def _fetch_end(self, _character: str) -> None:
        if self.index != self._line_start:
            self._line += 1
            self._line_start = self.index
        self._reset()
        self._put(STREAM_END, 0)

    def _fetch_flow_start(self, character: str) -> None:
        self._save_key()
        self._keys.append(None)
        self._numbers.append(self._taken + len(self._queue))
        self._flow_level += 1
        if self._flow_level > MAX_DEPTH:
            raise too_deep((self._line + 1, self.index - self._line_start + 1))
        self._key_allowed = True
        self._put(_FLOW_INDICATORS[character], 1)

    def _fetch_flow_end(self, character: str) -> None:
        self._remove_key()
        if self._flow_level:
            self._flow_level -= 1
            self._keys.pop()
            # go-yaml forgets here that an empty pair of brackets may be a key, and reads {} from "{}: 1".
            self._possible.pop(self._numbers.pop(), None)
        self._key_allowed = False
        self._put(_FLOW_INDICATORS[character], 1)

    def _fetch_flow_entry(self, _character: str) -> None:
        self._remove_key()
        self._key_allowed = True
        self._put(FLOW_ENTRY, 1)

    def _fetch_dash(self, _character: str) -> None:
        if self.text[self.index + 1] not in _BLANK_OR_END:
            return self._scan_plain()
        if not self._flow_level:
            if not self._key_allowed:
                raise self._error("block sequence entries are not allowed in this context")
            self._begin_block(BLOCK_SEQUENCE, self.index - self._line_start)
        self._remove_key()
        self._key_allowed = True
        return self._put(BLOCK_ENTRY, 1)

    def _fetch_question_mark(self, _character: str) -> None:
        if not self._flow_level:
            if self.text[self.index + 1] not in _BLANK_OR_END:
                return self._scan_plain()
            if not self._key_allowed:
                raise self._error("mapping keys are not allowed in this context")
            self._begin_block(BLOCK_MAPPING, self.index - self._line_start)
        self._remove_key()
        self._key_allowed = not self._flow_level
        return self._put(KEY, 1)

    def _fetch_colon(self, _character: str) -> None:
        if not self._flow_level and self.text[self.index + 1] not in _BLANK_OR_END:
            return self._scan_plain()
        key = self._keys[-1]
        if key is not None and self._is_valid(key):
            position = key.number - self._taken
            self._insert(position, Token(KEY, key.line + 1, key.column + 1))
            self._begin_block(BLOCK_MAPPING, key.column, position)
            self._keys[-1] = None
            self._possible.pop(key.number, None)
            self._key_allowed = False
        else:
            if key is not None:
                self._keys[-1] = None
                self._possible.pop(key.number, None)
            if not self._flow_level:
                if not self._key_allowed:
                    raise self._error("mapping values are not allowed in this context")
                self._begin_block(BLOCK_MAPPING, self.index - self._line_start)
            self._key_allowed = not self._flow_level
        return self._put(VALUE, 1)

    def _fetch_anchor(self, character: str) -> None:
        self._save_key()
        self._key_allowed = False
        start = self.index + 1
        end = _NAME(self.text, start).end()
        if end == start or self.text[end] not in _BLANK_OR_END + "?:,]}%@`":
            raise self._error("did not find expected alphabetic or numeric character after & or *")
        self._put(ANCHOR if character == "&" else ALIAS, end - self.index, self.text[start:end])

    # --- tags and directives ---

    def _fetch_tag(self, _character: str) -> None:
        self._save_key()
        self._key_allowed = False
        text, start = self.text, self.index
        if text[start + 1] == "<":
            handle, (suffix, end) = "", self._scan_uri(start + 2)
            if text[end] != ">":
                raise self._error("did not find the expected '>' of a tag")
            end += 1
        else:
            handle, end = self._scan_handle(start)
            if len(handle) > 1 and handle[-1] == "!":
                suffix, end = self._scan_uri(end)
            else:
                suffix, end = self._scan_uri(end, handle)
                handle = "!" if suffix else ""
                suffix = suffix or "!"
        if text[end] not in _BLANK_OR_END:
            raise self._error("did not find expected whitespace or line break after a tag")
        self._put(TAG, end - start, (handle, suffix))

    def _scan_handle(self, start: int) -> tuple[str, int]:
        end = _NAME(self.text, start + 1).end()
        if self.text[end] == "!":
            end += 1
        return self.text[start:end], end

    def _scan_uri(self, start: int, head: str = "") -> tuple[str, int]:
        match = _URI(self.text, start)
        uri = match.group()
        if not (uri or head):
            raise self._error("did not find expected tag URI")
        if "%" in uri:
            if re.search("%(?![0-9A-Fa-f]{2})", uri):
                raise self._error("did not find URI escaped octet in a tag")
            try:
                octets = re.sub("%(..)", lambda escape: chr(int(escape.group(1), 16)), uri).encode("latin-1")
                uri = octets.decode("utf-8")
            except UnicodeDecodeError:
                raise self._error("found an incorrect UTF-8 octet in a tag") from None
        return head[1:] + uri, match.end()

    def _scan_directive(self) -> None:
        text, index = self.text, self.index + 1
        end = _NAME(text, index).end()
        name = text[index:end]
        if name == "YAML" and text[end] in _BLANK_OR_END:
            match = _VERSION(text, end)
            if match is None:
                raise self._error("did not find the version number of a %YAML directive")
            kind, value, end = VERSION_DIRECTIVE, (match.group(1), match.group(2)), match.end()
        elif name == "TAG" and text[end] in _BLANK_OR_END:
            index = _BLANKS(text, end).end()
            handle, end = self._scan_handle(index)
            if text[index] != "!" or (handle[-1] != "!") or text[end] not in " \t":
                raise self._error("did not find the handle of a %TAG directive")
            prefix, end = self._scan_uri(_BLANKS(text, end).end())
            if text[end] not in _BLANK_OR_END:
                raise self._error("did not find expected whitespace or line break after a %TAG directive")
            kind, value = TAG_DIRECTIVE, (handle, prefix)
        else:
            raise self._error("found unknown directive name")
        end = _BLANKS(text, end).end()
        if text[end] == "#":
            end = _LINE(text, end).end()
        if text[end] not in _BREAKS + END:
            raise self._error("did not find expected comment or line break")
        self._put(kind, end - self.index, value)
        if text[end] != END:
            self.index = self._next_line(end)

    # --- scalars ---

    def _put_scalar(self, line: int, column: int, value: str, end: int, plain: bool = False) -> None:
        self._queue.append(Token(SCALAR, line + 1, column + 1, value, plain))
        self.index = end

    def _scan_plain(self) -> None:
        self._save_key()
        self._key_allowed = False
        text, index = self.text, self.index
        line, column = self._line, index - self._line_start
        flow = self._flow_level
        match = _PLAIN_IN_FLOW if flow else _PLAIN_IN_BLOCK
        first = match(text, index)
        # A character that begins a plain scalar stands there
        if first is None:
            raise AssertionError("first")
        end = first.end()
        value = text[index:end]
        at_new_line = False
        while True:
            blanks_end = _BLANKS(text, end).end()
            if text[blanks_end] not in _BREAKS:
                more = None if text[blanks_end] == "#" and blanks_end > end else match(text, blanks_end)
                if more is None:  # a comment or an indicator
                    end = blanks_end
                    break
                value += text[end : more.end()]
                end = more.end()
                continue
            breaks, end = self._scan_breaks(blanks_end, self._indent + 1)
            at_new_line = True
            if not flow and end - self._line_start <= self._indent:
                break
            more = None if text[end] == "#" or self._is_indicator(end) else match(text, end)
            if more is None:
                break
            value += _fold(breaks) + more.group()
            end = more.end()
            at_new_line = False
        if at_new_line:
            self._key_allowed = True
        self._put_scalar(line, column, value, end, True)

    def _scan_breaks(self, index: int, indent: int = 0) -> tuple[str, int]:
        """Line breaks and the blanks between and after them. Tabs before the column ``indent`` are an error."""
        text = self.text
        breaks = ""
        while text[index] in _BREAKS:
            breaks += text[index]
            start = self._next_line(index)
            index = _BLANKS(text, start).end()
            tab = text.find("\t", start, index)
            if 0 <= tab < start + indent:
                raise self._error("found a tab character that violates indentation", tab)
        return breaks, index

    def _fetch_double_quoted(self, _character: str) -> None:
        simple = _DOUBLE_QUOTED(self.text, self.index)
        self._scan_quoted('"', simple)

    def _fetch_single_quoted(self, _character: str) -> None:
        simple = _SINGLE_QUOTED(self.text, self.index)
        self._scan_quoted("'", simple)

    def _scan_quoted(self, quote: str, simple: re.Match[str] | None) -> None:
        self._save_key()
        self._key_allowed = False
        text, start = self.text, self.index
        line, column = self._line, start - self._line_start
        if simple is not None:
            return self._put_scalar(line, column, simple.group(1), simple.end())
        parts: list[str] = []
        index = start + 1
        while True:
            if self._is_indicator(index):
                raise self._error("found unexpected document indicator in a quoted text", index)
            if text[index] == END:
                raise ScanError("found no end of a quoted text", line + 1, column + 1)
            escaped_break = False
            if quote == "'":
                end = self._scan_single_part(index, parts)
            else:
                end, escaped_break = self._scan_double_part(index, parts)
            if text[end] == quote:
                break
            index = _BLANKS(text, end).end()
            if text[index] in _BREAKS:
                breaks, index = self._scan_breaks(index)
                parts.append(breaks.translate(_SEPARATORS) if escaped_break else _fold(breaks))
            elif not escaped_break:
                parts.append(text[end:index])
        return self._put_scalar(line, column, "".join(parts), end + 1)

    def _scan_single_part(self, index: int, parts: list[str]) -> int:
        """Up to a blank, a line break or the quote."""
        text = self.text
        while True:
            end = _SINGLE_PART(text, index).end()
            parts.append(text[index:end])
            if not text.startswith("''", end):
                return end
            parts.append("'")
            index = end + 2

    def _scan_double_part(self, index: int, parts: list[str]) -> tuple[int, bool]:
        """Up to a blank, a line break or the quote; also whether it ended with an escaped line break."""
        text = self.text
        while True:
            end = _DOUBLE_PART(text, index).end()
            parts.append(text[index:end])
            if text[end] != "\\":
                return end, False
            escape = text[end + 1]
            if escape in _BREAKS:
                return self._next_line(end + 1), True
            index = end + 2
            if escape in _ESCAPES:
                parts.append(_ESCAPES[escape])
                continue
            length = _HEXADECIMAL.get(escape)
            if length is None:
                raise self._error("found unknown escape character", end)
            digits = text[index : index + length]
            if not re.match(f"[0-9A-Fa-f]{{{length}}}", digits):
                raise self._error("did not find expected hexadecimal number", end)
            code = int(digits, 16)
            if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
                raise self._error("found invalid Unicode character escape code", end)
            parts.append(chr(code))
            index += length

    def _scan_block_scalar(self) -> None:
        self._remove_key()
        self._key_allowed = True
        text, start = self.text, self.index
        line, column = self._line, start - self._line_start
        header = _BLOCK_HEADER(text, start)
        chomping = header.group(1) or header.group(4)
        increment = header.group(2) or header.group(3)
        if increment == "0":
            raise self._error("found an indentation indicator equal to 0")
        index = header.end()
        if text[index] not in _BREAKS + END:
            raise self._error("did not find expected comment or line break")
        if text[index] != END:
            index = self._next_line(index)
        indent = max(self._indent, 0) + int(increment) if increment else 0
        breaks, index, indent = self._scan_block_breaks(index, indent)
        parts: list[str] = []
        last_break = ""
        was_blank = False
        while index - self._line_start == indent and text[index] != END:
            is_blank = text[index] in " \t"
            if text[start] == ">" and not was_blank and not is_blank and last_break == "\n":
                parts.append("" if breaks else " ")
            else:
                parts.append(last_break)
            parts.append(breaks)
            was_blank = is_blank
            end = _LINE(text, index).end()
            parts.append(text[index:end])
            last_break = ""
            if text[end] != END:
                last_break = text[end]
                end = self._next_line(end)
            breaks, index, indent = self._scan_block_breaks(end, indent)
        if chomping != "-":
            parts.append(last_break)
        if chomping == "+":
            parts.append(breaks)
        self._put_scalar(line, column, "".join(parts).translate(_SEPARATORS), index)

    def _scan_block_breaks(self, index: int, indent: int) -> tuple[str, int, int]:
        """Empty lines and the indentation after them, which the first line with content decides (indent 0)."""
        text = self.text
        breaks: list[str] = []
        widest = 0
        while True:
            spaces = _SPACES(text, index).end()
            index = min(spaces, max(index, self._line_start + indent)) if indent else spaces
            column = index - self._line_start
            widest = max(widest, column)
            if (not indent or column < indent) and text[index] == "\t":
                raise self._error("found a tab character where an indentation space is expected", index)
            if text[index] not in _BREAKS:
                break
            breaks.append(text[index])
            index = self._next_line(index)
        return "".join(breaks), index, indent or max(widest, self._indent + 1, 1)


def _fold(breaks: str) -> str:
    """Line breaks within a scalar: a single one is a space, of more the first one counts for nothing."""
    if breaks == "\n":
        return " "
    if breaks[0] != "\n":
        return breaks.translate(_SEPARATORS)
    return breaks[1:].translate(_SEPARATORS)


_FETCH = {
    END: Scanner._fetch_end,
    "[": Scanner._fetch_flow_start,
    "{": Scanner._fetch_flow_start,
    "]": Scanner._fetch_flow_end,
    "}": Scanner._fetch_flow_end,
    ",": Scanner._fetch_flow_entry,
    "-": Scanner._fetch_dash,
    "?": Scanner._fetch_question_mark,
    ":": Scanner._fetch_colon,
    "*": Scanner._fetch_anchor,
    "&": Scanner._fetch_anchor,
    "!": Scanner._fetch_tag,
    "'": Scanner._fetch_single_quoted,
    '"': Scanner._fetch_double_quoted,
}
