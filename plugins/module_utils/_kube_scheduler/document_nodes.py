# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tree of a document, made by yaml_reader and json_reader."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from .result import ERROR, Finding

MAX_DEPTH = 200
"""Levels of nesting in any text."""


class Limits(NamedTuple):
    """The size of a text. nodes: keys and values, every alias counted as what it stands for; items: values in one list."""

    length: int
    nodes: int
    items: int


OF_CONFIGURATION = Limits(length=2**20, nodes=20_000, items=1000)
"""Far beyond any configuration: a ConfigMap contains no more than 1 MiB. kube-scheduler has higher limits, and would take minutes for the profiles
alone."""
OF_OBJECTS = Limits(length=2**26, nodes=5_000_000, items=200_000)
"""For a list of objects, such as all ConfigMaps of a cluster. Reading takes about a second per MiB."""


DUPLICATE = "duplicate-key"
IGNORED = "ignored-document"
"""Code of the finding that there is something behind the first document."""


class Place(NamedTuple):
    """Where something stands, counted from 1."""

    line: int
    column: int


class Node:
    """A part of a document.

    place: of the value itself; value: plain Python data, numbers as the decoder gets them.
    entries: of a mapping, key -> (place of the key, Node); items: of a sequence. None for the other kinds.
    number: of a number in a JSON document, its text, on which Go's decoders decide (1.0 is no integer). In YAML None.
    duplicates: of a mapping in a JSON document, keys that are there already: key, its place, the place before. In YAML they are findings.
    keys: of a YAML mapping with keys that are no strings, what they are for Go; else None.
    """

    __slots__ = ("duplicates", "entries", "items", "keys", "number", "place", "value")

    def __init__(self, place: Place, value: Any = None):
        self.place = place
        self.value = value
        self.entries: dict[str, tuple[Place, Node]] | None = None
        self.items: list[Node] | None = None
        self.number: str | None = None
        self.duplicates: list[tuple[str, Place, Place]] | None = None
        self.keys: dict[Any, str] | None = None


class NotYaml(Exception):
    """The text cannot be read; ``finding`` contains the position and the reason."""

    def __init__(self, finding: Finding):
        super().__init__(finding.message)
        self.finding = finding


def not_yaml(code: str, message: str, place: Place | tuple[int, int], hint: str = "", path: str = "") -> NotYaml:
    return NotYaml(Finding(ERROR, code, message, path, place[0], place[1], hint))


def too_deep(place: Place | tuple[int, int]) -> NotYaml:
    return not_yaml("too-deep", f"nested more than {MAX_DEPTH} levels deep", place, "flatten it")


def too_many(place: Place | tuple[int, int], limits: Limits) -> NotYaml:
    return not_yaml("too-large", f"more than {limits.nodes} keys and values", place, _TOO_LARGE[limits])


def too_long(place: Place | tuple[int, int], limits: Limits) -> NotYaml:
    return not_yaml("too-large", f"a list of more than {limits.items} values", place, _TOO_LARGE[limits])


def too_large(limits: Limits) -> NotYaml:
    size = f"the text is longer than {limits.length} characters"
    more = ", which is more than a ConfigMap holds" if limits is OF_CONFIGURATION else ""
    return not_yaml("too-large", size + more, (1, 1), _TOO_LARGE[limits])


_TOO_LARGE = {OF_CONFIGURATION: "this is no scheduler configuration", OF_OBJECTS: "split it into several files"}


def duplicate(path: str, place: Place, first: Place) -> Finding:
    message = f"the field exists twice, first in line {first.line}"
    return Finding(ERROR, DUPLICATE, message, path, place.line, place.column, "remove one of the two")


def always(pattern: str, flags: int = 0) -> Callable[[str, int], re.Match[str]]:
    """``match`` of a pattern that takes an empty text as well, so that there is always a match. Raises ValueError for another pattern."""
    match = re.compile(pattern, flags).match
    if match("") is None:
        raise ValueError(f"{pattern} does not take an empty text")
    return cast("Callable[[str, int], re.Match[str]]", match)


def join(path: str, key: Any) -> str:
    """The path of a child: a string is a key, a number an index."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key
