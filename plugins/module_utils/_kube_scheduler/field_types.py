# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which fields a structure has for one release and version of the configuration (tables/types.py)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from .tables.types import IN_TREE_KINDS, SCHEDULER_PLUGINS_KINDS, STRUCTURES, Field, Kind
from .target import SCHEDULER_PLUGINS, Target

ROOT = "KubeSchedulerConfiguration"
SCALARS = ("string", "bool", "int32", "int64", "float32", "float64", "duration", "quantity", "bytes")
STRUCTURE, LIST, MAP, ARGS = "structure", "list", "map", "args"


class Type(NamedTuple):
    """kind: one of SCALARS, or STRUCTURE, LIST, MAP (keys are strings) or ARGS.

    pointer: absent differs from empty. element: of a list or map. structure: its name.
    """

    kind: str
    pointer: bool = False
    element: Type | None = None
    structure: str = ""

    @property
    def items(self) -> Type:
        """The element of a list or map. Raises ValueError for another kind."""
        if self.element is None:
            raise ValueError(f"{self.kind} has no elements")
        return self.element


@cache
def parse_type(notation: str) -> Type:
    """The meaning of a type such as ``*int32``, ``[]ResourceSpec`` or ``map[string]quantity``. Raises ValueError."""
    if notation.startswith("*"):
        return parse_type(notation[1:])._replace(pointer=True)
    if notation.startswith("[]"):
        return Type(LIST, element=parse_type(notation[2:]))
    if notation.startswith("map[string]"):
        return Type(MAP, element=parse_type(notation[len("map[string]") :]))
    if notation in SCALARS:
        return Type(notation)
    if notation == ARGS:
        return Type(ARGS)
    if notation in STRUCTURES:
        return Type(STRUCTURE, structure=notation)
    raise ValueError(f"{notation} is no type")


@cache
def _fields(structure: str, version: str, minor: int) -> Mapping[str, tuple[Field, Type]]:
    return {
        field.name: (field, parse_type(field.type))
        for field in STRUCTURES[structure]
        if field.since <= minor <= field.until and (not field.versions or version in field.versions)
    }


def fields(structure: str, version: str, target: Target) -> Mapping[str, tuple[Field, Type]]:
    """name -> (field, type) in the order of the table. structure: its name in the table, or the kind of a plugin's arguments."""
    for plugin in target.custom:
        if plugin.args is not None and f"{plugin.name}Args" == structure:
            return _custom_fields(tuple(plugin.args.items()))
    return _fields(structure, version, target.minor)


@cache
def _custom_fields(args: tuple[tuple[str, str], ...]) -> Mapping[str, tuple[Field, Type]]:
    known = (("apiVersion", "string"), ("kind", "string"), *args)
    return {name: (Field(name, notation), parse_type(notation)) for name, notation in known}


def args_kind(plugin: str, version: str, target: Target) -> str | None:
    """``NodeAffinityArgs`` for NodeAffinity; None where kube-scheduler knows no type for the arguments of the plugin."""
    name = f"{plugin}Args"
    for custom in target.custom:
        if custom.name == plugin:
            return None if custom.args is None else name
    return _known_kind(name, version, target)


def built_in_kind(plugin: str, version: str, target: Target) -> str | None:
    """As ``args_kind``, without the plugins that only a custom image holds."""
    custom = any(custom.name == plugin for custom in target.custom)
    return None if custom else _known_kind(f"{plugin}Args", version, target)


def _known_kind(name: str, version: str, target: Target) -> str | None:
    kind = IN_TREE_KINDS.get(name)
    if kind is None and target.plugins == SCHEDULER_PLUGINS:
        kind = SCHEDULER_PLUGINS_KINDS.get(name)
    return name if kind is not None and _is_registered(kind, version, target.minor) else None


def _is_registered(kind: Kind, version: str, minor: int) -> bool:
    return kind.since <= minor <= kind.until and (not kind.versions or version in kind.versions)
