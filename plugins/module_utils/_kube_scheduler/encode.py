# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The completed configuration as ``kube-scheduler --write-config-to`` writes it.

Source: LogOrWriteConfig (cmd/kube-scheduler/app/options/configfile.go) and the profiles that NewFramework captures
(pkg/scheduler/framework/runtime/framework.go). The output went through the internal types: if these do not distinguish absent from empty, the empty
value is written; fields that they lack are lost (``written`` in tables/types.py).
"""

from __future__ import annotations

from typing import Any

from .defaults import complete_args
from .field_types import ARGS, LIST, MAP, ROOT, STRUCTURE, Type, args_kind, fields
from .tables.types import ALWAYS, NEVER
from .target import Target
from .value_syntax import Duration
from .version_independent import API_GROUP


def completed(config: dict[str, Any], version: str, target: Target, built: Any) -> dict[str, Any]:
    """As plain data. config: complete and without errors; built: what ``framework.build`` made of it.

    Of the arguments only those of plugins that run are written, in the order of their names.
    """
    encoder = _Encoder(version, target)
    profiles = [
        {**profile, "pluginConfig": encoder.plugin_config(profile, sorted(built.plugins[index]))}
        for index, profile in enumerate(config["profiles"])
    ]
    return encoder.structure({**config, "profiles": profiles}, ROOT)


_NEVER_EMPTY = (STRUCTURE, "duration")
"""Go structures, which its encoder never takes for empty."""


class _Encoder:
    def __init__(self, version: str, target: Target):
        self.version = version
        self.target = target

    def plugin_config(self, profile: dict[str, Any], plugins: list[str]) -> list[dict[str, Any]]:
        """The arguments of each plugin, without those that have none."""
        given = {entry.get("name", ""): entry["args"] for entry in profile.get("pluginConfig", ()) if "args" in entry}
        entries = []
        for plugin in plugins:
            kind = args_kind(plugin, self.version, self.target)
            if plugin not in given and kind is not None and self.target.minor <= 21:
                # Later releases add them when they fill in defaults, and then they are there.
                given[plugin] = {}
                complete_args(plugin, given[plugin], self.version, self.target)
            if plugin in given:
                entries.append({"name": plugin, "args": given[plugin] if kind is None else self._args(given[plugin], kind)})
        return entries

    def _args(self, args: dict[str, Any], kind: str) -> dict[str, Any]:
        return self.structure({**args, "kind": kind, "apiVersion": f"{API_GROUP}/{self.version}"}, kind)

    def structure(self, values: dict[str, Any], name: str) -> dict[str, Any]:
        encoded = {}
        for key, (field, kind) in fields(name, self.version, self.target).items():
            if field.written == NEVER:
                continue
            value = values.get(key)
            if value is None and kind.pointer and field.written != ALWAYS:
                continue
            text = self.value(value, kind) if value is not None else self._empty(kind, field.written)
            if text or kind.pointer or field.written == ALWAYS or kind.kind in _NEVER_EMPTY or (kind.kind == ARGS and key in values):
                encoded[key] = text
        return encoded

    def value(self, value: Any, kind: Type) -> Any:
        if kind.kind == STRUCTURE:
            return self.structure(value, kind.structure)
        if kind.kind == LIST:
            return [self.value(item, kind.items) for item in value]
        if kind.kind == MAP:
            return {key: self.value(item, kind.items) for key, item in value.items()}
        if kind.kind in ("duration", "quantity"):
            return str(value)
        return value

    def _empty(self, kind: Type, written: str) -> Any:
        """What stands for the field where nothing was given; null for what Go calls nil."""
        if kind.kind == STRUCTURE:
            return {} if kind.pointer else self.structure({}, kind.structure)
        if kind.kind in (LIST, MAP, ARGS, "bytes"):
            return None
        if kind.kind == "duration":
            return None if kind.pointer else str(Duration(0))
        return "" if kind.kind == "string" else False if kind.kind == "bool" else 0
