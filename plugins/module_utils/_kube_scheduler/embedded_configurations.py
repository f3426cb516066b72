# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The KubeSchedulerConfigurations within Kubernetes objects, as kubectl, Helm and kustomize write them. Pure: no I/O.

for found in configurations(text):
    check(found.text, "1.31")
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from .document import OF_OBJECTS, Node, NotYaml, parse
from .document_nodes import IGNORED, MAX_DEPTH, Place
from .images import annotation_errors, described
from .plain_data import as_text
from .result import ERROR, WARNING, Finding
from .target import (
    PERIOD_ANNOTATION,
    PLUGINS_ANNOTATION,
    RUNNER_ANNOTATIONS,
    VERSION_ANNOTATION,
    is_later_openshift,
    runner_problems,
)
from .version_independent import API_GROUP
from .version_independent import KIND as CONFIGURATION

CONFIG_KEY = "config.yaml"
"""The key of the ConfigMap that the operator of a SecondaryScheduler reads."""

_HOLDERS = {"ConfigMap": ("data", "binaryData"), "Secret": ("stringData", "data")}
_ENCODED = (("ConfigMap", "binaryData"), ("Secret", "data"))
_SCHEDULER = "SecondaryScheduler"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_NAME = 253
_SEPARATOR = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_FIELD = re.compile(r"""^["']?(apiVersion|kind)["']?[ \t]*:[ \t]*["']?([^\s"'#]+)""", re.MULTILINE)
# Kinds that are worth reading: the others may be larger than what the reader takes, such as CRDs.
_WORTH = re.compile(rf"""\b(?:{"|".join([*_HOLDERS, _SCHEDULER])}|[A-Za-z]*List)\b""")
_LITERAL = re.compile(r"(?:[&!]\S*[ \t]+)*\|([-+0-9]*)[ \t]*(?:#.*)?$")


class Scheduler(NamedTuple):
    """Properties of a SecondaryScheduler for the kube-scheduler that reads its configuration.

    kubernetes, plugins: from its annotations, as for ``plugins.make_target``; empty and None without a usable one.
    others: the other SecondarySchedulers that read the same ConfigMap.
    """

    object: str
    image: str
    kubernetes: str
    plugins: Any
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Configuration:
    """A configuration, or an object that is not right itself.

    object: kind, namespace and name; empty for a document that is a configuration. key: of the object. text: None where there is none.
    findings: of the object. line: how many lines of the file come before the text, None if the lines of the text are not lines of the file;
    column: how far it is indented. place: of the value in the file. scheduler: the SecondaryScheduler that names the object, if one does.
    """

    object: str = ""
    key: str = ""
    text: str | bytes | None = None
    findings: tuple[Finding, ...] = ()
    line: int | None = 0
    column: int = 0
    place: tuple[int, int] = (1, 1)
    scheduler: Scheduler | None = None

    @property
    def label(self) -> str:
        return ", ".join(part for part in (self.object, f"key {self.key}" if self.key else "") if part)

    def located(self, finding: Finding) -> Finding:
        """The finding at its place in the file."""
        if self.line is None:
            inside = f"line {finding.line}, column {finding.column}: " if finding.line else ""
            return replace(finding, line=self.place[0], column=self.place[1], message=f"{inside}{finding.message}")
        if finding.line is None:
            return replace(finding, line=self.place[0], column=self.place[1]) if self.object else finding
        return replace(finding, line=finding.line + self.line, column=(finding.column or 1) + self.column)


def configurations(text: str | bytes) -> list[Configuration]:
    """The configurations of a file, and the objects in which something is wrong.

    A file whose first document is no Kubernetes object is taken for a configuration as a whole, as kube-scheduler takes it.
    """
    pieces = list(_documents(_decoded(text)))
    first = next((kind for kind in (_kind(piece) for piece, _line in pieces) if kind), ("", ""))
    if not _is_object(*first):
        return [Configuration(text=text)]
    found = [one for piece, line in pieces for one in _objects(piece, line)]
    among = [Configuration(CONFIGURATION, text=piece, line=line) for piece, line in pieces if _is_bare(*(_kind(piece) or ("", "")))]
    return [*_resolved(found), *among]


def _decoded(text: str | bytes) -> str:
    """Without a byte order mark. A redirection in PowerShell writes UTF-16 with one."""
    if isinstance(text, str):
        return text.lstrip("\ufeff")
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return text.decode("utf-16", "replace")
    return text.decode("utf-8-sig", "surrogateescape")


class _Object(NamedTuple):
    """An object of a stream. line: how many lines come before its document. problem: why it could not be read."""

    root: Node
    line: int
    document: str
    problem: Finding | None = None

    def value(self, *path: str) -> Any:
        """The value of a field, None where there is none."""
        value: Any = self.root.value
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def text(self, *path: str) -> str:
        """The text of a field, empty where there is none."""
        return as_text(self.value(*path))

    @property
    def kind(self) -> str:
        return self.text("kind")

    @property
    def namespace(self) -> str:
        return self.text("metadata", "namespace")

    @property
    def name(self) -> str:
        return self.text("metadata", "name")

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}".rstrip()

    def error(self, code: str, message: str, *path: str, hint: str = "") -> Finding:
        node, place = self.root, self.root.place
        for key in path:
            if node.entries is None or key not in node.entries:
                break
            place, node = node.entries[key]
            place = place if node.value is None else node.place
        return Finding(ERROR, code, message, ".".join(path), place[0] + self.line, place[1], hint)


def _documents(text: str) -> Iterator[tuple[str, int]]:
    """The documents of a stream, each with the number of lines before it. One of JSON is one document."""
    start, line = 0, 0
    ends = [] if text.lstrip().startswith("{") else [match.start() for match in _SEPARATOR.finditer(text)]
    for end in [*ends, len(text)]:
        if end > start:
            yield text[start:end], line
            line += text.count("\n", start, end)
        start = end


def _kind(document: str) -> tuple[str, str] | None:
    """apiVersion and kind of a document, empty where they are not found; None for an empty document."""
    if document.lstrip().startswith("{"):
        try:
            root = parse(document, limits=OF_OBJECTS)[0]
        except NotYaml:
            return "", ""
        value = root.value if root is not None and isinstance(root.value, dict) else {}
        return as_text(value.get("apiVersion")), as_text(value.get("kind"))
    if not re.search(r"^(?!---|#|%|\s*$)", document.partition("\n")[2] if document.startswith("---") else document, re.MULTILINE):
        return None
    fields = {match[1]: match[2] for match in reversed(list(_FIELD.finditer(document)))}
    return fields.get("apiVersion", ""), fields.get("kind", "")


def _is_object(api_version: str, kind: str) -> bool:
    return bool(api_version and kind) and api_version.partition("/")[0] != API_GROUP and kind not in (CONFIGURATION, "Policy")


def _is_bare(api_version: str, kind: str) -> bool:
    """Whether a document among objects is a configuration itself."""
    return kind == CONFIGURATION or api_version.partition("/")[0] == API_GROUP


def _objects(document: str, line: int) -> Iterator[_Object]:
    kind = _kind(document)
    if kind is None or not _WORTH.fullmatch(kind[1] or "-"):
        return
    try:
        root, found = parse(document, limits=OF_OBJECTS)
    except NotYaml as error:
        severity = ERROR if _mentions(document) or kind[1] == _SCHEDULER else WARNING
        finding = replace(error.finding, severity=severity, line=(error.finding.line or 1) + line)
        yield _Object(Node(Place(1, 1), {"kind": kind[1]}), line, document, finding)
        return
    if root is None:
        return
    # What comes behind the document is the next one of the stream.
    for one in found:
        if one.severity == ERROR and one.code != IGNORED:
            yield _Object(root, line, document, replace(one, line=(one.line or 1) + line))
            return
    yield from _of_list(root, line, document, 0)


def _of_list(node: Node | None, line: int, document: str, depth: int) -> Iterator[_Object]:
    if node is None or node.entries is None or depth > MAX_DEPTH:
        return
    one = _Object(node, line, document)
    if one.kind.endswith("List"):
        _place, items = node.entries.get("items", (node.place, node))
        for item in items.items or []:
            yield from _of_list(item, line, document, depth + 1)
    elif one.kind in _HOLDERS or one.kind == _SCHEDULER:
        yield one


def _resolved(found: list[_Object]) -> Iterator[Configuration]:
    schedulers: dict[tuple[str, str], Scheduler] = {}
    for one in found:
        if one.problem is not None:
            yield Configuration(str(one), findings=(one.problem,))
        elif one.kind == _SCHEDULER:
            image = one.text("spec", "schedulerImage")
            problems, kubernetes, plugins = _annotated(one, image)
            problems += _scheduler_problems(one, found)
            if problems:
                yield Configuration(str(one), findings=tuple(problems))
            key = (one.namespace, one.text("spec", "schedulerConfig"))
            before = schedulers.get(key)
            others = (*before.others, before.object) if before else ()
            schedulers[key] = Scheduler(str(one), image, kubernetes, plugins, others)
    for one in found:
        if one.kind in _HOLDERS and one.problem is None:
            scheduler = schedulers.get((one.namespace, one.name)) if one.kind == "ConfigMap" else None
            yield from _held(one, scheduler)


def _annotated(one: _Object, image: str) -> tuple[list[Finding], str, Any]:
    """Problems of a SecondaryScheduler's annotations, and the release and the plugins in them: empty and None where they cannot be used."""
    problems: list[Finding] = []
    texts: dict[str, str] = {}
    annotations = ("metadata", "annotations")
    values = one.value(*annotations)
    for name in (VERSION_ANNOTATION, PLUGINS_ANNOTATION, *RUNNER_ANNOTATIONS):
        value = values.get(name) if isinstance(values, dict) else None
        if isinstance(value, str):
            texts[name] = value
        elif value is not None:
            kind = "boolean" if isinstance(value, bool) else "number" if isinstance(value, (int, float)) else "list or mapping"
            problems.append(one.error("wrong-type", f"is a {kind}, not a string", *annotations, name, hint="put it into quotes"))
    for name, error in list(annotation_errors(texts, image)):
        code = "unknown-release" if name == VERSION_ANNOTATION else "unknown-plugins"
        problems.append(one.error(code, str(error), *annotations, name))
        del texts[name]
    kubernetes = texts.get(VERSION_ANNOTATION, "")
    kubernetes = "" if is_later_openshift(kubernetes) else kubernetes
    for found in runner_problems(texts):
        code = "invalid-duration" if found.name == PERIOD_ANNOTATION else "invalid-value"
        problems.append(one.error(code, found.problem, *annotations, found.name, hint=found.remedy))
    return problems, kubernetes, described(texts.get(PLUGINS_ANNOTATION))


def _scheduler_problems(one: _Object, found: list[_Object]) -> Iterator[Finding]:
    name = one.text("spec", "schedulerConfig")
    path = ("spec", "schedulerConfig")
    if not name:
        yield one.error("missing-field", "is missing", *path, hint="name the ConfigMap with the configuration")
        return
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        hint = "use lower-case letters, digits, hyphens and dots"
        yield one.error("invalid-name", f"{name[:_LONGEST_NAME]} is no name of a ConfigMap", *path, hint=hint)
    for other in found:
        if (other.kind, other.namespace, other.name) == ("ConfigMap", one.namespace, name) and not _value(other, CONFIG_KEY):
            yield one.error(
                "missing-key", f"the ConfigMap {name} has no key {CONFIG_KEY}", *path, hint="rename the key, as the operator reads no other"
            )


def _value(one: _Object, key: str) -> Any:
    return next((value[key] for field in _HOLDERS[one.kind] if isinstance(value := one.root.value.get(field), dict) and key in value), None)


def _held(one: _Object, scheduler: Scheduler | None) -> Iterator[Configuration]:
    """The configurations that an object holds: what names their API group, and what a SecondaryScheduler reads."""
    for field in _HOLDERS[one.kind]:
        node = one.root.entries.get(field, (None, None))[1] if one.root.entries else None
        for key, (_place, value) in ((node.entries or {}) if node is not None else {}).items():
            text = value.value
            if not isinstance(text, str):
                continue
            found = Configuration(str(one), key, text, place=(value.place[0] + one.line, value.place[1]), scheduler=scheduler)
            if (one.kind, field) in _ENCODED:
                try:
                    found = replace(found, text=base64.b64decode(text, validate=True), line=None)
                except (binascii.Error, ValueError):
                    if _mentions(key) or (scheduler is not None and key == CONFIG_KEY):
                        yield replace(found, text=None, findings=(one.error("encoding", "is not base64", field, key),))
                    continue
            else:
                found = replace(found, **_lines(one, value))
            if _is_configuration(found.text) or (scheduler is not None and key == CONFIG_KEY):
                yield found


def _mentions(text: str | bytes | None) -> bool:
    names = (API_GROUP, CONFIGURATION)
    return any((name.encode() in text) if isinstance(text, bytes) else (name in text) for name in names) if text else False


def _is_configuration(text: str | bytes | None) -> bool:
    """Whether a text means to be a configuration, and does not just name one."""
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text or ""
    return _mentions(decoded) and re.search(r"""^[ \t{"']*(?:apiVersion|kind)["']?[ \t]*:""", decoded, re.MULTILINE) is not None


def _lines(one: _Object, value: Node) -> dict[str, Any]:
    """``line`` and ``column`` of a text that is a literal block of YAML; of others no line is a line of the file."""
    lines = one.document.split("\n")
    line, column = value.place[0] - 1, value.place[1] - 1
    if line >= len(lines) or one.document.lstrip().startswith("{"):
        return {"line": None}
    literal = _LITERAL.fullmatch(lines[line][column:].rstrip("\r"))
    if literal is None:
        return {"line": None}
    first = next((text for text in lines[line + 1 :] if text.strip()), "")
    indent = len(first) - len(first.lstrip(" "))
    return {"line": one.line + line + 1, "column": indent}
