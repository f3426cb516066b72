# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""JSON Schemas of a KubeSchedulerConfiguration, for completion and first hints in editors.

They describe the structure: fields, types, ranges of integers, the plugins of each extension point, the arguments of each plugin. Only ``check``
makes checks across several fields.
"""

from __future__ import annotations

from typing import Any

from .field_types import ARGS, LIST, MAP, ROOT, STRUCTURE, Type, args_kind, fields
from .plugins import registry
from .tables.plugins import MERGED_POINTS, MULTI_POINT
from .target import Target
from .version_independent import API_GROUP, KIND

DIALECT = "http://json-schema.org/draft-07/schema#"

_DURATION = r"^[-+]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$"
_QUANTITY = r"^[-+]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?\d+)?$"
_BASE64 = r"^[\r\n]*(([A-Za-z0-9+/][\r\n]*){4})*(([A-Za-z0-9+/][\r\n]*){2}=[\r\n]*=|([A-Za-z0-9+/][\r\n]*){3}=)?[\r\n]*$"
_BYTE = {"type": ["integer", "null"], "minimum": 0, "maximum": 255}

_SCALARS: dict[str, dict[str, Any]] = {
    "string": {"type": ["string", "null"]},
    "bool": {"type": ["boolean", "null"]},
    "int32": {"type": ["integer", "null"], "minimum": -(2**31), "maximum": 2**31 - 1},
    "int64": {"type": ["integer", "null"], "minimum": -(2**63), "maximum": 2**63 - 1},
    "float32": {"type": ["number", "null"]},
    "float64": {"type": ["number", "null"]},
    "quantity": {"type": ["string", "number", "null"], "pattern": _QUANTITY},
    # Go takes a list of numbers for bytes, too.
    "bytes": {"anyOf": [{"type": ["string", "null"], "pattern": _BASE64}, {"type": "array", "items": _BYTE}]},
}


def schema(target: Target) -> dict[str, Any]:
    """The schema of the documents that one kube-scheduler reads, in every version that it serves (JSON Schema, draft 7)."""
    definitions: dict[str, Any] = {}
    versions = []
    for version in target.served:
        builder = _Builder(target, version, definitions)
        versions.append(
            {
                "if": {"properties": {"apiVersion": {"const": f"{API_GROUP}/{version}"}}},
                "then": builder.reference(ROOT),
            }
        )
    return {
        "$schema": DIALECT,
        "title": f"{KIND} of kube-scheduler {target.kubernetes} ({target.plugins})",
        "type": "object",
        "required": ["apiVersion", "kind"],
        "properties": {
            # The newest first: editors offer them in this order.
            "apiVersion": {"enum": [f"{API_GROUP}/{version}" for version in reversed(target.served)]},
            "kind": {"const": KIND},
        },
        "allOf": versions,
        "definitions": {name: definitions[name] for name in sorted(definitions)},
    }


class _Builder:
    """Describes the structures of one version of the configuration."""

    def __init__(self, target: Target, version: str, definitions: dict[str, Any]):
        self.target = target
        self.version = version
        self.definitions = definitions

    def reference(self, structure: str) -> dict[str, Any]:
        name = f"{self.version}.{structure}"
        if name not in self.definitions:
            self.definitions[name] = {}  # the place is taken while its own fields are described
            self.definitions[name] = self._describe(structure)
        return {"$ref": f"#/definitions/{name}"}

    def _describe(self, structure: str) -> dict[str, Any]:
        properties = {}
        for name, (field, kind) in fields(structure, self.version, self.target).items():
            described = self._type(kind)
            if field.default is not None and kind.kind != "duration" and not isinstance(field.default, tuple):
                described = {**described, "default": field.default}
            properties[name] = described
        if structure == "Plugins":
            # Points that the version reads and then forgets take any plugin.
            for point in MERGED_POINTS[self.version].split():
                if point in properties:
                    properties[point] = self._nullable(self._plugin_set(point))
        described = {"type": "object", "additionalProperties": False, "properties": properties}
        if structure == "PluginConfig":
            described["allOf"] = self._args()
        if structure.endswith("Args"):
            properties["apiVersion"] = {"enum": [f"{API_GROUP}/{self.version}", "", None]}
            properties["kind"] = {"enum": [structure, "", None]}
        return described

    def _type(self, kind: Type) -> dict[str, Any]:
        if kind.kind == STRUCTURE:
            return self._nullable(self.reference(kind.structure))
        if kind.kind == LIST:
            return {"type": ["array", "null"], "items": self._type(kind.items)}
        if kind.kind == MAP:
            return {"type": ["object", "null"], "additionalProperties": self._type(kind.items)}
        if kind.kind == ARGS:
            return {}
        if kind.kind == "duration":
            # metav1.Duration reads null as an empty text, which is no duration.
            return {"type": ["string", "null"] if kind.pointer else "string", "pattern": _DURATION}
        return _SCALARS[kind.kind]

    def _nullable(self, described: dict[str, Any]) -> dict[str, Any]:
        return {"anyOf": [described, {"type": "null"}]}

    def _plugin_set(self, point: str) -> dict[str, Any]:
        """The plugins that can be enabled at one extension point; ``disabled`` takes any name."""
        plugins = registry(self.target)
        names = sorted(name for name, plugin in plugins.items() if point == MULTI_POINT or point in plugin.points)
        entry = self.reference("Plugin")
        enabled = {"allOf": [entry, {"required": ["name"], "properties": {"name": {"enum": names}}}]}
        return {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "enabled": {"type": ["array", "null"], "items": enabled},
                "disabled": {"type": ["array", "null"], "items": self._nullable(entry)},
            },
        }

    def _args(self) -> list[dict[str, Any]]:
        """The arguments that belong to each plugin's name."""
        described = []
        for name in sorted(registry(self.target)):
            kind = args_kind(name, self.version, self.target)
            if kind is not None:
                described.append(
                    {
                        "if": {"required": ["name"], "properties": {"name": {"const": name}}},
                        "then": {"properties": {"args": self._nullable(self.reference(kind))}},
                    }
                )
        return described
