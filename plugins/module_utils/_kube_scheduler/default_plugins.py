# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The default plugins, and how the plugins of a profile are merged into them.

Sources: pkg/scheduler/apis/config/<version>/default_plugins.go and defaults.go; for 1.21, where the scheduler itself merges
when it is built, pkg/scheduler/algorithmprovider/registry.go, pkg/scheduler/factory.go and pkg/scheduler/apis/config/types.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from .field_types import args_kind
from .flags import feature_gates
from .report import Path
from .tables.plugins import DEFAULTS, MERGED_POINTS, WITHOUT_DEFAULT_ARGUMENTS
from .target import Target

ALL = "*"
"""In ``disabled``: every plugin."""

PluginSets = dict[str, dict[str, list["Entry"]]]
"""``{"score": {"enabled": [...], "disabled": [...]}}``; a list without entries is absent, as is a point without lists."""


class Entry(dict[str, Any]):
    """A plugin in a list, ``{"name": "NodeAffinity", "weight": 2}``; path: where the document has it, None for a default."""

    __slots__ = ("path",)

    def __init__(self, values: Mapping[str, Any], path: Path | None = None):
        super().__init__(values)
        self.path = path

    @property
    def name(self) -> str:
        name: str = self.get("name", "")
        return name


def complete(profile: dict[str, Any], index: int, version: str, target: Target) -> None:
    """Merge the plugins of a profile into the default ones and give every plugin its arguments, in place.

    index: of the profile. Up to 1.21 the plugins stay as they are written (validation sees them like that) and
    ``framework.build`` merges them, as kube-scheduler does. Everywhere the entries of the lists become ``Entry``.
    """
    written = _entries(profile.get("plugins"), index)
    if target.minor <= 21:
        if "plugins" in profile:
            profile["plugins"] = written
        return
    profile["plugins"] = merge(written, version, target)
    _add_plugin_config(profile, version, target)


def merge(written: PluginSets, version: str, target: Target) -> PluginSets:
    """The plugins of a profile out of those that the document has: ``written`` may be changed."""
    merged = {point: {"enabled": enabled} for point, enabled in defaults(version, target).items()}
    for point in MERGED_POINTS[version].split():
        if point in written:
            plugin_set = _merge_set(merged.pop(point, {}).get("enabled", ()), written[point], version)
            if plugin_set:
                merged[point] = plugin_set
    return merged


def defaults(version: str, target: Target) -> dict[str, list[Entry]]:
    """Point -> the plugins that run there by default; multiPoint is a separate point."""
    on = feature_gates(target)
    gated = tuple(gate for gate in _GATES if on.get(gate.lstrip("!"), gate.startswith("!")) != gate.startswith("!"))
    return {
        point: [Entry({"name": name} if weight is None else {"name": name, "weight": weight}) for name, weight in plugins]
        for point, plugins in _defaults(version, target.minor, gated).items()
    }


_GATES = tuple(dict.fromkeys(row.gate for row in DEFAULTS if row.gate))


@cache
def _defaults(version: str, minor: int, gated: tuple[str, ...]) -> Mapping[str, list[tuple[str, int | None]]]:
    """gated: the conditions of the column ``gate`` that hold."""
    plugins: dict[str, list[tuple[str, int | None]]] = {}
    for row in DEFAULTS:
        in_release = row.since <= minor and (row.until is None or minor <= row.until)
        if in_release and version in row.versions.split() and (not row.gate or row.gate in gated):
            plugins.setdefault(row.point, []).append((row.name, row.weight))
    return plugins


def _entries(plugins: dict[str, Any] | None, profile: int) -> PluginSets:
    """The lists of a document as they are, each entry knowing its place."""
    sets: PluginSets = {}
    for point, plugin_set in (plugins or {}).items():
        sets[point] = {
            kind: [Entry(values, ("profiles", profile, "plugins", point, kind, index)) for index, values in enumerate(entries)]
            for kind, entries in plugin_set.items()
        }
    return sets


def _merge_set(default: Iterable[Entry], written: Mapping[str, list[Entry]], version: str) -> dict[str, list[Entry]]:
    enabled = written.get("enabled", [])
    disabled = {entry.name for entry in written.get("disabled", ())}
    # Since v1beta2 a default plugin that is enabled again keeps its place, in v1beta1 it is there twice, which is refused
    # later. The last entry of a name counts, the others stay where they are: twice, too.
    replacing = {} if version == "v1beta1" else {entry.name: index for index, entry in enumerate(enabled)}
    replaced: set[int] = set()
    result: list[Entry] = []
    if ALL not in disabled:
        for entry in default:
            if entry.name in disabled:
                continue
            if entry.name in replacing:
                replaced.add(replacing[entry.name])
                entry = enabled[replacing[entry.name]]
            result.append(entry)
    result += (entry for index, entry in enumerate(enabled) if index not in replaced)
    merged = {}
    if result:
        merged["enabled"] = result
    # Since v1beta3 disabled plugins count a second time, when multiPoint is expanded.
    if version not in ("v1beta1", "v1beta2") and written.get("disabled"):
        merged["disabled"] = [Entry({"name": entry.name}, entry.path) for entry in written["disabled"]]
    return merged


def _add_plugin_config(profile: dict[str, Any], version: str, target: Target) -> None:
    """Append empty arguments for the plugins that have none, in the order of their names; defaults fill them."""
    configured = {entry.get("name", "") for entry in profile.get("pluginConfig", ())}
    enabled = {
        entry.name
        for point, plugin_set in profile["plugins"].items()
        if point not in WITHOUT_DEFAULT_ARGUMENTS
        for entry in plugin_set.get("enabled", ())
    }
    missing = [name for name in sorted(enabled - configured) if args_kind(name, version, target) is not None]
    if missing:
        profile.setdefault("pluginConfig", []).extend({"name": name, "args": {}} for name in missing)
