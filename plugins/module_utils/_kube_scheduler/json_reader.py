# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A JSON document as a tree, with the syntax of Go's encoding/json, which kube-scheduler reads it with first."""

from __future__ import annotations

import re

from .document_nodes import MAX_DEPTH, Limits, Node, NotYaml, Place, always, not_yaml, too_deep, too_long, too_many

_SPACE = always("[ \t\n\r]*")
_STRING_PART = always(r'(?:[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){0,100}')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?").match
_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS = {"true": True, "false": False, "null": None}
_END = "\0"


class _Reader:
    def __init__(self, text: str, limits: Limits):
        self.text = text + _END
        self.limits = limits
        self.index = 0
        self.line = 1
        self.line_start = 0
        self.count = 0

    def read(self) -> Node:
        """One value at a time; ``stack`` has the collections that are open, with the key of the value that comes next."""
        stack: list[tuple[Node, tuple[str, Place] | None]] = []
        while True:
            node = self._value(len(stack))
            if node.entries is not None and not self._take("}"):
                stack.append((node, self._key()))
                continue
            if node.items is not None and not self._take("]"):
                stack.append((node, None))
                continue
            while stack:
                parent, key = stack.pop()
                self._add(parent, key, node)
                if parent.items is not None:
                    if self._take(","):
                        stack.append((parent, None))
                        break
                    self._expect("]", "after a value in a list")
                else:
                    if self._take(","):
                        stack.append((parent, self._key()))
                        break
                    self._expect("}", "after a value in an object")
                node = parent
            else:
                self._skip()
                if self.text[self.index] != _END or self.index < len(self.text) - 1:
                    raise self._error("there is something after the document")
                return node

    def _skip(self) -> None:
        start = self.index
        self.index = _SPACE(self.text, start).end()
        breaks = self.text.count("\n", start, self.index)
        if breaks:
            self.line += breaks
            self.line_start = self.text.rindex("\n", start, self.index) + 1

    def _place(self) -> Place:
        return Place(self.line, self.index - self.line_start + 1)

    def _take(self, character: str) -> bool:
        self._skip()
        if self.text[self.index] != character:
            return False
        self.index += 1
        return True

    def _expect(self, character: str, where: str) -> None:
        if not self._take(character):
            raise self._error(f"{character} or a comma is missing {where}" if character != ":" else f": is missing {where}")

    def _key(self) -> tuple[str, Place]:
        self._skip()
        place = self._place()
        if self.text[self.index] != '"':
            raise self._error("the name of a field in double quotes is missing")
        key = self._string()
        self._expect(":", "after the name of a field")
        return key, place

    def _value(self, depth: int) -> Node:
        self._skip()
        text, index = self.text, self.index
        node = Node(self._place())
        self.count += 1
        if self.count > self.limits.nodes:
            raise too_many(node.place, self.limits)
        character = text[index]
        if character in "{[":
            if depth == MAX_DEPTH:
                raise too_deep(node.place)
            self.index += 1
            if character == "{":
                node.value, node.entries = {}, {}
            else:
                node.value, node.items = [], []
            return node
        if character == '"':
            node.value = self._string()
            return node
        match = _NUMBER(text, index)
        if match:
            self.index = match.end()
            node.number = match.group()
            is_integer = match.group(1) is None and match.group(2) is None and len(node.number) < 400
            node.value = int(node.number) if is_integer else float(node.number)
            return node
        for word, value in _LITERALS.items():
            if text.startswith(word, index):
                self.index += len(word)
                node.value = value
                return node
        raise self._error("a value is missing, or a text without double quotes")

    def _string(self) -> str:
        text = self.text
        start = end = self.index + 1
        while True:
            part_end = _STRING_PART(text, end).end()
            if part_end == end:
                break
            end = part_end
        if text[end] != '"':
            raise self._error("a text has no end, or holds an escape or a control character that JSON does not allow")
        self.index = end + 1
        string = text[start:end]
        return _ESCAPE.sub(_unescape, string) if "\\" in string else string

    def _add(self, parent: Node, key: tuple[str, Place] | None, node: Node) -> None:
        if parent.items is not None:
            if len(parent.items) == self.limits.items:
                raise too_long(node.place, self.limits)
            parent.items.append(node)
            parent.value.append(node.value)
            return
        # A mapping, whose key was read before
        if parent.entries is None or key is None:
            raise AssertionError("key")
        name, place = key
        if name in parent.entries:
            parent.duplicates = parent.duplicates or []
            parent.duplicates.append((name, place, parent.entries[name][0]))
        parent.entries[name] = (place, node)
        parent.value[name] = node.value

    def _error(self, problem: str) -> NotYaml:
        hint = "a document that begins with { is read as JSON and never as YAML"
        return not_yaml("json-syntax", f"not JSON: {problem}", self._place(), hint)


def _unescape(escape: re.Match[str]) -> str:
    text = escape.group()
    if text[1] != "u":
        return _ESCAPES[text[1]]
    if len(text) > 6:
        return chr(0x10000 + ((int(text[2:6], 16) - 0xD800) << 10) + int(text[8:], 16) - 0xDC00)
    character = chr(int(text[2:], 16))
    return "\ufffd" if "\ud800" <= character <= "\udfff" else character


def read(text: str, limits: Limits) -> Node:
    """Raises NotYaml."""
    return _Reader(text, limits).read()
