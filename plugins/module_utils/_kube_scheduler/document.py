# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A document as a tree that knows where each part stands in the text.

kube-scheduler reads what begins with { as JSON and everything else as YAML (apimachinery, serializer/json). Here, too, each
has its own reader; neither is PyYAML's or Python's, because the verdict is to be equal for any text (see yaml_scanner).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import yaml_reader
from .document_nodes import (
    DUPLICATE,
    IGNORED,
    MAX_DEPTH,
    OF_CONFIGURATION,
    OF_OBJECTS,
    Limits,
    Node,
    NotYaml,
    Place,
    duplicate,
    join,
    not_yaml,
    too_large,
)
from .result import Finding
from .scalars import replace_surrogates

__all__ = (
    "MAX_DEPTH",
    "OF_CONFIGURATION",
    "OF_OBJECTS",
    "Limits",
    "Node",
    "NotYaml",
    "Place",
    "duplicates",
    "hidden",
    "join",
    "parse",
    "read",
    "read_yaml",
    "tree",
    "unprintable",
)

_NOT_PRINTABLE_ASCII = "[^\t\n\r\x20-\x7e]"
_NOT_PRINTABLE = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_GO_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_CHUNK = 512
_TEMPLATE = re.compile(r"{{-?[ \t]*(?:/\*|[a-zA-Z.$\"(])")
"""An expression of Go's or Jinja's templates"""
_JSON_IS_YAML_TOO = 22


def parse(text: str | bytes, minor: int | None = None, limits: Limits = OF_CONFIGURATION) -> tuple[Node | None, list[Finding]]:
    """The first document of a text (None if it holds none) and what was noticed on the way.

    kube-scheduler reads the first document and ignores everything after it, errors included. Raises NotYaml.
    text: bytes are UTF-8, or UTF-16 with a byte order mark. minor: 31 for Kubernetes 1.31; up to 1.22 JSON is read as YAML,
    too. None: whatever holds for all releases. limits: of the size.
    """
    if len(text) > limits.length:
        raise too_large(limits)
    if isinstance(text, bytes):
        text = _decode(text)
    try:
        return _parse(text, minor, limits)
    except NotYaml as error:
        line, column = error.finding.line or 1, error.finding.column or 1
        template = _TEMPLATE.search(text)
        if template is None or text.count("\n", 0, template.start()) >= line:
            raise
        message = f"this is a template, not a configuration: {error.finding.message}"
        render = "render it first, for example: helm template CHART | kube-scheduler-config -"
        hint = "; else ".join(filter(None, [render, error.finding.hint]))
        raise not_yaml(error.finding.code, message, (line, column), hint, error.finding.path) from None


def _parse(text: str, minor: int | None, limits: Limits) -> tuple[Node | None, list[Finding]]:
    if text.lstrip(_GO_SPACES).startswith("{"):
        from . import json_reader  # most documents are YAML

        root = json_reader.read(text if text.isascii() else replace_surrogates(text), limits)
        if minor is not None and minor <= _JSON_IS_YAML_TOO:
            return root, _read_yaml(text, limits)[1]
        return root, [found for path, node in _walk(root) if not _is_in_args(path) for found in _duplicates_of(node, path)]
    return _read_yaml(text, limits)


def read(text: str | bytes) -> Any:
    """The first document of a text as plain data, None if it holds none. Raises NotYaml."""
    root = parse(text)[0]
    return None if root is None else root.value


def read_yaml(text: str | bytes) -> Any:
    """The same of a text that is no configuration: YAML also where it begins with a brace, which kube-scheduler takes for JSON."""
    if len(text) > OF_CONFIGURATION.length:
        raise too_large(OF_CONFIGURATION)
    root = _read_yaml(_decode(text) if isinstance(text, bytes) else text, OF_CONFIGURATION)[0]
    return None if root is None else root.value


def tree(text: str | bytes) -> dict[str, Any]:
    """The same where only a mapping is of use: empty for everything else. Raises nothing."""
    try:
        value = read(text)
    except NotYaml:
        return {}
    return value if isinstance(value, dict) else {}


def hidden(root: Node, findings: list[Finding]) -> bool:
    """Does a text hold more than the plain data that was read from it? root, findings: what ``parse`` returned."""
    return any(finding.code in (IGNORED, DUPLICATE) for finding in [*findings, *duplicates(root, "")])


def duplicates(node: Node, path: str) -> list[Finding]:
    """Keys in a part of a JSON document that are there twice. ``parse`` reports them, but for those in a plugin's arguments:
    kube-scheduler refuses them where it knows the type of the arguments, and does not look at others."""
    return [found for inner, child in _walk(node, path) for found in _duplicates_of(child, inner)]


def unprintable(value: Any) -> tuple[str | int, ...] | None:
    """Where in plain data is a text with a character that YAML does not allow, if anywhere.

    Escapes can put them into a document; line breaks and other control characters below U+0020 are harmless there.
    """
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while stack:
        path, part = stack.pop()
        if isinstance(part, str):
            if not part.isprintable() and re.search(_NOT_PRINTABLE, re.sub("[\0-\x1f]", "", part)):
                return path
        elif isinstance(part, dict):
            stack += [((*path, key), child) for key, child in part.items()]
        elif isinstance(part, list):
            stack += [((*path, index), child) for index, child in enumerate(part)]
    return None


def _walk(root: Node, path: str = "") -> Iterator[tuple[str, Node]]:
    stack = [(path, root)]
    while stack:
        path, node = stack.pop()
        yield path, node
        if node.entries is not None:
            stack += [(join(path, key), child) for key, (_place, child) in node.entries.items()]
        elif node.items is not None:
            stack += [(join(path, index), child) for index, child in enumerate(node.items)]


def _duplicates_of(node: Node, path: str) -> list[Finding]:
    return [duplicate(join(path, key), place, first) for key, place, first in node.duplicates or ()]


def _is_in_args(path: str) -> bool:
    return re.match(r"profiles\[[0-9]+\]\.pluginConfig\[[0-9]+\]\.args(?![^.\[])", path) is not None


def _decode(octets: bytes) -> str:
    """Octets that are no character become lone surrogates."""
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if octets.startswith(mark):
            text = (
                octets[2:].decode(encoding, "surrogatepass")
                if len(octets) % 2 == 0
                else octets[2:-1].decode(encoding, "surrogatepass") + "\udc80"
            )
            return "\ufeff" + text
    return octets.decode("utf-8", "surrogateescape")


def _read_yaml(text: str, limits: Limits) -> tuple[Node | None, list[Finding]]:
    wrong = re.search(_NOT_PRINTABLE_ASCII if text.isascii() else _NOT_PRINTABLE, text)
    readable = text[: wrong.start()] if wrong else text
    if text.startswith("\ufeff"):
        readable = readable[1:]
    try:
        root, findings, rest = yaml_reader.read(readable, limits)
    except NotYaml:
        if wrong is None:
            raise
        rest = -1
    # Not if it stands behind the first document, further than kube-scheduler looks ahead.
    if wrong and (rest < 0 or _read_ahead(text, wrong.start() - rest) > wrong.start()):
        raise _wrong_character(text, wrong)
    return root, findings


def _wrong_character(text: str, wrong: re.Match[str]) -> NotYaml:
    before = text[: wrong.start()]
    place = Place(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
    if "\ud800" <= wrong.group() <= "\udfff":
        return not_yaml("encoding", "not UTF-8: a byte that begins or continues no character", place, "save the file as UTF-8")
    message = f"the character U+{ord(wrong.group()):04X} is not allowed in YAML"
    return not_yaml("control-character", message, place, "delete it; it is invisible in most editors")


def _read_ahead(text: str, length: int) -> int:
    """How many characters kube-scheduler has read when it has looked at so many: it reads 512 bytes at a time."""
    octets = text.encode("utf-8", "surrogateescape")
    wanted = len(text[:length].encode("utf-8", "surrogateescape"))
    end = 0
    while end < wanted:
        start, end = end, min(end + _CHUNK, len(octets))
        # A character that is cut off is left for the next time.
        for back in range(1, min(4, end - start + 1)):
            lead = octets[end - back]
            if lead >= 0xC0:
                length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4 if lead < 0xF8 else 1
                end -= back if length > back else 0
                break
        if end == start:
            return len(text)
    return len(octets[:end].decode("utf-8", "surrogateescape"))
