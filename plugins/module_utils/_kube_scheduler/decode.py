# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From the document to typed values: every field must be known, and have the type that it has in this release.

The rules are those of Go's encoding/json, strict and case-sensitive (k8s.io/apimachinery/pkg/runtime/serializer/json,
sigs.k8s.io/json), those of the types that decode themselves (metav1.Duration, resource.Quantity), and of
KubeSchedulerConfiguration.DecodeNestedObjects (k8s.io/kube-scheduler/config) for the arguments of plugins.
"""

from __future__ import annotations

import math
import re
from base64 import b64encode
from collections.abc import Callable, Iterable
from typing import Any

from .document import Node, duplicates
from .field_types import ARGS, LIST, MAP, ROOT, STRUCTURE, Type, args_kind, fields
from .report import DECODE, Path, Report, render
from .similar_names import did_you_mean
from .tables.releases import API_VERSIONS
from .tables.types import INCONVERTIBLE, STRUCTURES
from .target import Target
from .value_syntax import Duration, Quantity, base64_bytes, float32
from .version_independent import API_GROUP, KIND

_ABSENT = object()
_INTEGERS = {"int32": 2**31, "int64": 2**63}
_FLOATS = ("float32", "float64")
_ZERO = {"string": "", "bool": False, "int32": 0, "int64": 0, "float32": 0, "float64": 0, "duration": Duration(0)}
_NAMES = {
    "string": "a string",
    "bool": "true or false",
    "int32": "an integer",
    "int64": "an integer",
    "float32": "a number",
    "float64": "a number",
    "duration": "a duration such as 15s",
    "quantity": "a quantity such as 500m or 1Gi",
    "bytes": "text in base64",
    LIST: "a list",
    MAP: "a mapping",
    STRUCTURE: "a mapping",
}


def api_version(root: Node, target: Target, report: Report) -> str | None:
    """The version of the document, such as ``v1beta3``; None if this release does not read it, which is then reported.

    Like kube-scheduler it takes ``Kind`` for ``kind`` here; that the name is unknown is found by ``decode``.
    """
    example = f"{API_GROUP}/{target.served[-1]}"
    written: dict[str, tuple[str, str]] = {}  # kind -> name as written, value
    for name, remedy in (("kind", KIND), ("apiVersion", example)):
        found = _find_ignoring_case(root, name)
        if found is not None and not isinstance(found[1].value, (str, type(None))):
            message = f"is {_describe(found[1])}, not a string"
            report.error(DECODE, "wrong-type", (found[0],), message, f"write {name}: {remedy}")
            return None
        written[name] = ("", "") if found is None else (found[0], found[1].value or "")
    (kind_name, kind), (version_name, api) = written["kind"], written["apiVersion"]
    if not kind:
        report.error(DECODE, "required", ("kind",), "is missing", f"add kind: {KIND}")
        return None
    if api.count("/") > 1:
        report.error(DECODE, "invalid-value", (version_name,), f"{api} is no group and version", f"write apiVersion: {example}")
        return None
    group, _slash, version = ("", "", "") if api == "/" else api.rpartition("/")
    if not version:
        place = (version_name,) if api and version_name else ("apiVersion",)
        report.error(DECODE, "required", place, "is missing", f"add apiVersion: {example}")
        return None
    if kind != KIND:
        hint = f"write kind: {KIND}"
        if kind == "Policy":
            hint = f"scheduling policies are no configuration, and ended with Kubernetes 1.22: write a {KIND}"
        elif kind in ("ConfigMap", "Secret"):
            hint = f"this is a {kind}; what belongs here is the text under one of its keys, such as config.yaml"
        report.error(DECODE, "wrong-kind", (kind_name,), f"{kind} is not {KIND}", hint)
        return None
    if group != API_GROUP:
        report.error(DECODE, "unserved-version", (version_name,), f"{api} is no version of {API_GROUP}", f"write {example}")
        return None
    if not target.serves(version):
        served = ", ".join(target.served)
        message = f"Kubernetes {target.kubernetes} does not read {KIND} in version {version}"
        report.error(DECODE, "unserved-version", (version_name,), message, _hint_for_version(version, served))
        return None
    return version


def _hint_for_version(version: str, served: str) -> str:
    if version not in API_VERSIONS:
        return f"it reads {served}"
    first, last = API_VERSIONS[version]
    releases = f"1.{first} to 1.{last}" if last else f"1.{first} and later"
    return f"it reads {served}; {version} is for {releases}"


def _find_ignoring_case(node: Node, name: str) -> tuple[str, Node] | None:
    """A key and its value as Go's encoding/json finds them, where the case of letters does not matter."""
    entries = node.entries or {}
    found = [name] if name in entries else [key for key in entries if key.lower() == name.lower()]
    return (found[-1], entries[found[-1]][1]) if found else None


def registered(plugin: str, version: str, target: Target) -> bool:
    """Whether the arguments of a plugin have a type. Where they have none, they are taken as they are, whatever they hold."""
    return args_kind(plugin, version, target) is not None


def decode(root: Node, version: str, target: Target, report: Report) -> dict[str, Any]:
    """The document as typed values; what has the wrong type is reported and left out, like what is null.

    Durations are ``value_syntax.Duration``, quantities ``value_syntax.Quantity``, bytes base64 text. The arguments of a plugin are typed if they are in
    ``registered``.
    """
    return _Decoder(version, target, report).structure(root, ROOT, ())


class _Decoder:
    def __init__(self, version: str, target: Target, report: Report):
        self.version = version
        self.target = target
        self.report = report

    def structure(self, node: Node, name: str, path: Path) -> dict[str, Any]:
        known = fields(name, self.version, self.target)
        values: dict[str, Any] = {}
        for key, (_place, child) in (node.entries or {}).items():
            if key not in known:
                self._unknown(key, name, path, known)
                continue
            value = self.value(child, known[key][1], (*path, key))
            if value is not _ABSENT:
                values[key] = value
        if name == "PluginConfig":
            self._decode_args(node, values, path)
        elif name == "KubeSchedulerProfile":
            self._check_convertible(values, path)
        return values

    def value(self, node: Node, kind: Type, path: Path) -> Any:
        """The value of a field; _ABSENT for null and for what has the wrong type."""
        if kind.kind == ARGS:
            return self._raw(node, path)
        if node.value is None:
            if kind.kind == "duration" and not kind.pointer:
                self._error("wrong-type", path, "is null, not a duration", "give a duration such as 15s, or remove the field")
            return _ABSENT
        if kind.kind == STRUCTURE and node.entries is not None:
            return self.structure(node, kind.structure, path)
        if kind.kind == LIST and node.items is not None:
            return [self._element(item, kind.items, (*path, index)) for index, item in enumerate(node.items)]
        if kind.kind == MAP and node.entries is not None:
            return {key: self._element(child, kind.items, (*path, key)) for key, (_place, child) in node.entries.items()}
        if kind.kind == "bytes" and node.items is not None:
            return self._byte_list(node, path)
        return self._scalar(node, kind, path)

    def _element(self, node: Node, kind: Type, path: Path) -> Any:
        """A value in a list or map, where null stands for the zero value."""
        value = self.value(node, kind, path)
        if value is not _ABSENT:
            return value
        if kind.kind == "quantity":
            return Quantity(0)
        return _ZERO.get(kind.kind, [] if kind.kind == LIST else {})

    def _scalar(self, node: Node, kind: Type, path: Path) -> Any:
        value = node.value
        if kind.kind == "string":
            if isinstance(value, str):
                return value
        elif kind.kind == "bool":
            if isinstance(value, bool):
                return value
        elif kind.kind in _INTEGERS:
            if _is_number(value):
                return self._integer(node, _INTEGERS[kind.kind], path)
        elif kind.kind in _FLOATS:
            if _is_number(value):
                return self._float(node, kind.kind, path)
        elif kind.kind == "quantity":
            return self._parse(Quantity.parse, value if isinstance(value, str) else _json(node), path, "write it as 500m, 2 or 1.5Gi")
        elif kind.kind == "duration":
            if isinstance(value, str):
                return self._parse(Duration.parse, value, path, "write it as 15s, 1m30s or 500ms")
        elif kind.kind == "bytes" and isinstance(value, str):
            return self._parse(base64_bytes, value, path, "encode it with base64, in one piece")
        self._wrong_type(node, kind, path)
        return _ABSENT

    def _integer(self, node: Node, limit: int, path: Path) -> Any:
        text = node.number
        if isinstance(node.value, float) or (text is not None and not re.match(r"-?[0-9]+\Z", text)):
            is_large = isinstance(node.value, float) and abs(node.value) >= 2**63
            message = "is too large for an integer" if is_large else "is a number with a fraction or an exponent, not an integer"
            self._error("wrong-type", path, message, "write a whole number" + " of at most 64 bits" * is_large)
            return _ABSENT
        value = node.value if self.target.minor >= 23 else _wrapped(node, limit)
        if not -limit <= value < limit:
            message = f"is too large or too small: the range is {-limit} to {limit - 1}"
            self._error("out-of-range", path, message, "write a number within the range")
            return _ABSENT
        return int(value)

    def _float(self, node: Node, kind: str, path: Path) -> Any:
        try:
            value = float(node.value)
            if math.isinf(value):
                raise OverflowError
            value = float32(value) if kind == "float32" else value
        except (OverflowError, ValueError):
            self._error("out-of-range", path, f"is too large for a {kind}", "write a smaller number")
            return _ABSENT
        return int(value) if value == int(value) and abs(value) < 2**53 else value

    def _byte_list(self, node: Node, path: Path) -> Any:
        """Go takes a list of numbers for bytes, too."""
        values = [0 if item.value is None else item.value for item in node.items or ()]
        if all(isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 256 for value in values):
            return b64encode(bytes(values)).decode("ascii")
        self._error("wrong-type", path, "is a list, not text in base64", "encode it with base64, in one piece")
        return _ABSENT

    def _parse(self, parse: Callable[[str], Any], text: str, path: Path, hint: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            # The words of the Go library quote the text, which within the arguments of a plugin may be a secret.
            message = "is not what belongs here" if self._is_private(path) else str(error)
            self._error("invalid-value", path, message, hint)
            return _ABSENT

    def _decode_args(self, node: Node, values: dict[str, Any], path: Path) -> None:
        """The arguments in an entry of pluginConfig, if they have a type."""
        plugin = values.get("name", "")
        kind = args_kind(plugin, self.version, self.target)
        if kind is None:
            return
        values["args"] = {}
        args = (node.entries or {}).get("args", (None, Node(node.place)))[1]
        if args.value is None:
            return
        path = (*path, "args")
        if args.entries is None:
            self._error("wrong-type", path, f"is {_describe(args)}, not a mapping", f"write the fields of {kind}")
            return
        if self.target.minor >= 23:  # before, every duplicate in the document is found when it is read
            self.report.findings += duplicates(args, render(path))
        if self._check_kind(args, plugin, kind, path):
            values["args"] = self.structure(args, kind, path)

    def _check_kind(self, args: Node, plugin: str, kind: str, path: Path) -> bool:
        """Arguments may say their type; what they say must be the type of this plugin in the version of the document."""
        expected = {"kind": kind, "apiVersion": f"{API_GROUP}/{self.version}"}
        for name, value in expected.items():
            found = _find_ignoring_case(args, name)
            if found is None or found[1].value is None:
                continue
            written = found[1].value
            if not isinstance(written, str):
                self._error("wrong-type", (*path, found[0]), f"is {_describe(found[1])}, not a string", f"write {value}, or nothing")
                return False
            accepted = (value, "") if name == "kind" else (value, "", "/", f"{API_GROUP}/")
            if written not in accepted:
                message = f"is not that of the arguments of {plugin} in a document of version {self.version}"
                self._error("wrong-kind", (*path, found[0]), message, f"write {value}, or nothing")
                return False
        return True

    def _raw(self, node: Node, path: Path) -> Any:
        """Arguments that have no type. Up to 1.22 their numbers are read all the same."""
        if self.target.minor <= 22:
            nodes = [(node, path)]
            while nodes:
                inner, where = nodes.pop()
                if isinstance(inner.value, float) and math.isinf(inner.value):
                    self._error("out-of-range", where, "is too large for a float64", "write a smaller number")
                nodes += [(child, (*where, key)) for key, (_place, child) in (inner.entries or {}).items()]
                nodes += [(child, (*where, index)) for index, child in enumerate(inner.items or ())]
        return _ABSENT if node.value is None else node.value

    def _check_convertible(self, profile: dict[str, Any], path: Path) -> None:
        """Arguments with a type that kube-scheduler cannot convert are an error wherever it would hold them."""
        for plugin in INCONVERTIBLE:
            if INCONVERTIBLE[plugin] != self.target.minor or not registered(plugin, self.version, self.target):
                continue
            for point, plugins in profile.get("plugins", {}).items():
                self._inconvertible(plugin, plugins.get("enabled", ()), (*path, "plugins", point, "enabled"))
            self._inconvertible(plugin, profile.get("pluginConfig", ()), (*path, "pluginConfig"))

    def _inconvertible(self, plugin: str, entries: Iterable[dict[str, Any]], path: Path) -> None:
        for index, entry in enumerate(entries):
            if entry.get("name") == plugin:
                message = f"this release cannot use {plugin} in a document of version {self.version}"
                later = [version for version in self.target.served if not registered(plugin, version, self.target)]
                self._error("unsupported-plugin", (*path, index, "name"), message, f"write the document in version {later[-1]}")

    # --- what is wrong ---

    def _error(self, code: str, path: Path, message: str, hint: str = "", at_key: bool = False) -> None:
        self.report.error(DECODE, code, path, message, hint, at_key)

    def _is_private(self, path: Path) -> bool:
        return "args" in path or "tlsConfig" in path

    def _wrong_type(self, node: Node, kind: Type, path: Path) -> None:
        self._error("wrong-type", path, f"is {_describe(node)}, not {_NAMES[kind.kind]}", _hint_for_type(node, kind))

    def _unknown(self, key: str, structure: str, path: Path, known: Iterable[str]) -> None:
        hint = self._hint_for_unknown(key, structure, known)
        self._error("unknown-field", (*path, key), f"unknown field {key}", hint, at_key=True)

    def _hint_for_unknown(self, key: str, structure: str, known: Iterable[str]) -> str:
        known = list(known)
        if "\xa0" in key:
            return "its name holds a no-break space (U+00A0), as copied from a web page; replace it by a space"
        same = next((name for name in known if name.lower() == key.lower()), None)
        if same is not None:
            return f"did you mean {same}? Upper and lower case matter"
        elsewhere = self._hint_for_other_release(key, structure)
        if elsewhere:
            return elsewhere
        if structure == ROOT:
            owner = next((name for name in known if key in self._fields_below(name)), None)
            if owner is not None:
                return f"it is a field of {owner}: check the indentation"
        return did_you_mean(key, known, f"the fields here are {', '.join(sorted(known))}")

    def _hint_for_other_release(self, key: str, structure: str) -> str:
        """If other releases or versions know the field."""
        rows = [field for field in STRUCTURES.get(structure, ()) if field.name == key]
        for field in rows:
            if field.versions and self.version not in field.versions:
                return f"it is a field of {' and '.join(field.versions)}, not of {self.version}"
            if self.target.minor < field.since:
                return f"it is a field since Kubernetes 1.{field.since}"
            if self.target.minor > field.until:
                return f"it was a field up to Kubernetes 1.{field.until}"
        return ""

    def _fields_below(self, name: str) -> Iterable[str]:
        kind = fields(ROOT, self.version, self.target)[name][1]
        kind = kind.element or kind
        return fields(kind.structure, self.version, self.target) if kind.kind == STRUCTURE else ()


def _wrapped(node: Node, limit: int) -> int:
    """An integer as kube-scheduler reads it up to 1.22: json-iterator overlooks some overflows, so that 5000000035 is 705032739.

    What it notices stays out of range.
    """
    value: int = node.value
    if node.number is None and not -(2**63) <= value < 2**64:  # a float in YAML, whose shortest digits are read
        from decimal import Decimal  # hardly ever needed

        value = int(format(Decimal(repr(float(value))), "f"))
    read = 0
    for digit in str(abs(value)):
        following = (read * 10 + int(digit)) % (2 * limit)
        if following < read:
            return value
        read = following
    return -read if value < 0 else read


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_collection(node: Node) -> bool:
    return node.entries is not None or node.items is not None


def _describe(node: Node) -> str:
    value = node.value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if _is_number(value):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "a list" if node.items is not None else "a mapping"


def _hint_for_type(node: Node, kind: Type) -> str:
    value = node.value
    if kind.kind == "string" and not _is_collection(node):
        return "put it into quotes"
    if kind.kind == "duration" and _is_number(value):
        return "give it a unit, such as 15s"
    if kind.kind in (*_INTEGERS, *_FLOATS) and isinstance(value, str) and re.match(r"[-+]?[0-9.]+\Z", value):
        return "remove the quotes"
    if kind.kind == "bool" and isinstance(value, str) and value.lower() in ("true", "false"):
        return "remove the quotes"
    if kind.kind == LIST and not _is_collection(node):
        return "begin each item with a hyphen"
    if kind.kind == LIST:
        return "begin each item with a hyphen; there may be only one"
    if kind.kind in (STRUCTURE, MAP) and node.items is not None:
        return "remove the hyphens: it is not a list"
    return f"write {_NAMES[kind.kind]}"


def _json(node: Node) -> str:
    """A value that is no string as JSON text, for the types that read it themselves."""
    if isinstance(node.value, bool):
        return "true" if node.value else "false"
    if _is_collection(node):
        return "[]" if node.items is not None else "{}"
    return node.number if node.number is not None else repr(node.value)
