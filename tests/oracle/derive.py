# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Derive the engine's tables of a release from its real kube-scheduler (`make new-release MINOR=1.37`).

    tests/tools/env python -m oracle.derive MINOR [--write]      (in tests/)

The program of the release prints its feature gates, flags, plugins and types (source/facts.go). Its answers show the extension points of each plugin,
the plugins that run by default, with each feature gate switched, and the defaults of all fields. Together they are the *column* of the release.
Without --write, the differences between the column and the tables are printed. With it, the column is recorded (columns.py), and table_writer
writes it to the tables.
"""

from __future__ import annotations

import argparse
import difflib
import json
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from . import client, compare, recordings
from .columns import Column, record
from .programs import IN_TREE, Program

DOCUMENT = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
FLAG_TYPES = {
    "bool": "bool",
    "duration": "duration",
    "float32": "float",
    "int": "int",
    "int32": "int32",
    "ip": "ip",
    "Level": "level",
    "version": "version",
}
"""Go type of a flag -> its name in the table; all others are texts to the engine."""
UNLINKED_FLAGS = ("log-json-info-buffer-size", "log-json-split-stream")
"""Flags that the table has and the program not: the published command links the JSON log format."""
KUBERNETES_TYPES = ("NodeAffinity", "TopologySpreadConstraint")
"""Types of the Kubernetes API in arguments. Their fields are not the configuration's."""
OUTERMOST = ("PrioritySort", "DefaultBinder")
"""Plugins of which a profile has exactly one: they run without being enabled."""


# ---- the column of a release, from its kube-scheduler


def of_release(minor: int) -> Column:
    """Ask the kube-scheduler of a release. Raises OracleError when it is not built."""
    program = Program(f"1.{minor}", IN_TREE)
    if not program.built():
        raise client.OracleError(f"1.{minor} is not built: tests/oracle/oracle build 1.{minor}")
    found = json.loads(subprocess.run([program.path, "--facts"], capture_output=True, text=True, check=True).stdout)
    return {
        "feature gates": {name: stage(gate) for name, gate in found["gates"].items()},
        "gates that need other gates": {name: sorted(needed) for name, needed in found["needs"].items()},
        "flags": {name: FLAG_TYPES.get(kind, "string") for name, kind in found["flags"].items()},
        "extension points": sorted(set(found["types"]["Plugins"]) - {"multiPoint"}),
        "plugins": _points(minor, found),
        "default plugins": _default_plugins(minor, found),
        "arguments": sorted(found["args"]),
        "structures": {
            structure: {name: field_type(kind, found["types"]) for name, kind in fields.items()}
            for structure, fields in sorted(found["types"].items())
        },
        "defaults": _completed(_ask(minor, [_every_argument(found["args"])], [()])[0]["config"]),
    }


def stage(gate: Mapping[str, Any]) -> str:
    """As the table writes it: ``beta+``."""
    return gate["stage"] + ("+" if gate["default"] else "") + ("!" if gate["locked"] else "")


def field_type(kind: str, structures: Collection[str]) -> str:
    """``*v1.Duration`` as the table writes it: ``*duration``. structures: the known ones; a type with another name is a text."""
    for prefix in ("*", "[]", "map[string]"):
        if kind.startswith(prefix) and kind != "[]uint8":
            return prefix + field_type(kind.removeprefix(prefix), structures)
    special = {"[]uint8": "bytes", "v1.Duration": "duration", "resource.Quantity": "quantity", "runtime.RawExtension": "args"}
    name = kind.rpartition(".")[2]
    return special.get(kind) or (name if name in structures or name in KUBERNETES_TYPES or name == kind else "string")


def _points(minor: int, found: Mapping[str, Any]) -> dict[str, list[str]]:
    """Plugin -> its extension points, with every plugin and every gate on."""
    enabled = [{"name": name} for name in found["plugins"] if name not in OUTERMOST]
    config = {**DOCUMENT, "profiles": [{"plugins": {"multiPoint": {"enabled": enabled}}}]}
    every = {name: True for name, gate in found["gates"].items() if not gate["default"] and not gate["locked"]}
    points: dict[str, set[str]] = {name: set() for name in found["plugins"]}
    for point, plugins in _ask(minor, [config], [_switched(every)])[0]["effective"]["default-scheduler"].items():
        for name, _weight in plugins:
            points[name].add(point[0].lower() + point[1:])
    return {name: sorted(points[name]) for name in sorted(points)}


def _default_plugins(minor: int, found: Mapping[str, Any]) -> list[str]:
    """``name=weight gate`` in the order in which they run."""
    chosen = {name: _with_related(name, found) for name, gate in found["gates"].items() if not gate["locked"]}
    answers = dict(zip(chosen, _ask(minor, [DOCUMENT] * len(chosen), [_switched(gates) for gates in chosen.values()]), strict=True))
    standard = _enabled(_ask(minor, [DOCUMENT], [()])[0])
    gate_of: dict[str, str] = {}
    for name in sorted(chosen, key=lambda name: (len(chosen[name]), name)):
        if answers[name]["verdict"] == "accept":
            for plugin in sorted(set(_enabled(answers[name])) ^ set(standard)):
                gate_of.setdefault(plugin, name)
    on = {gate: True for name in gate_of.values() if not found["gates"][name]["default"] for gate in chosen[name]}
    every = _enabled(_ask(minor, [DOCUMENT], [_switched(on)])[0])
    missing = sorted({*standard, *gate_of} - set(every))
    if missing:
        raise client.OracleError(
            f"1.{minor}: a gate removes {', '.join(missing)}: write its rows by hand, with gate='!{gate_of[missing[0]]}'"
        )
    return [f"{name}={weight} {gate_of.get(name, '')}".rstrip() for name, weight in every.items()]


def _with_related(name: str, found: Mapping[str, Any]) -> dict[str, bool]:
    """A gate switched, with those that have to change with it: those that it needs, or those that need it."""
    value = not found["gates"][name]["default"]
    switched, left = {name: value}, [name]
    while left:
        gate = left.pop()
        related = found["needs"].get(gate, ()) if value else [other for other, needed in found["needs"].items() if gate in needed]
        for other in related:
            if other not in switched and found["gates"][other]["default"] != value:
                switched[other] = value
                left.append(other)
    return switched


def _switched(gates: Mapping[str, bool]) -> tuple[str, ...]:
    return (f"--feature-gates={','.join(f'{name}={str(value).lower()}' for name, value in sorted(gates.items()))}",) if gates else ()


def _enabled(answer: Mapping[str, Any]) -> dict[str, int]:
    return {plugin["name"]: plugin["weight"] for plugin in answer["config"]["profiles"][0]["plugins"]["multiPoint"]["enabled"]}


def _every_argument(kinds: Iterable[str]) -> dict[str, Any]:
    return {**DOCUMENT, "profiles": [{"pluginConfig": [{"name": kind.removesuffix("Args"), "args": {}} for kind in sorted(kinds)]}]}


def _completed(config: Mapping[str, Any]) -> Column:
    """A completed configuration without its plugins, which have sections of their own."""
    plain = recordings.plain(config)
    profile = plain.pop("profiles")[0]
    return {**plain, "profile": {name: value for name, value in profile.items() if name not in ("plugins", "pluginConfig")}} | {
        entry["name"]: entry["args"] for entry in profile["pluginConfig"]
    }


def _ask(minor: int, configs: list[dict[str, Any]], arguments: list[tuple[str, ...]]) -> list[dict[str, Any]]:
    documents = [{"text": json.dumps(config), "flags": list(chosen)} for config, chosen in zip(configs, arguments, strict=True)]
    return client.run(f"1.{minor}", IN_TREE, documents)


# ---- the same column, from the tables


def of_tables(minor: int) -> Column:
    """What the tables contain of a release."""
    from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import gates, plugins
    from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
    from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.field_types import args_kind, fields
    from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.flags import FLAGS
    from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.plugins import DEFAULTS, MULTI_POINT
    from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.types import IN_TREE_KINDS, STRUCTURES

    target = plugins.make_target(f"1.{minor}")
    stages = gates.stages(minor, minor)
    kinds = [kind for kind in sorted(IN_TREE_KINDS) if args_kind(kind.removesuffix("Args"), "v1", target)]
    rows = [
        (row.name, row.weight or 0, stages.get(row.gate, "!") if row.gate else "+!", row.gate)
        for row in DEFAULTS
        if row.point == MULTI_POINT and "v1" in row.versions.split() and row.since <= minor and (row.until is None or minor <= row.until)
    ]
    structures = {}
    for name in ("KubeSchedulerConfiguration", *kinds, *sorted(STRUCTURES)):
        if name in kinds or not name.endswith("Args"):
            structures[name] = _written_types(fields(name, "v1", target))
    reachable = _reachable(structures, ("KubeSchedulerConfiguration", *kinds))
    return {
        "feature gates": dict(stages),
        "gates that need other gates": {name: sorted(needed) for name, needed in gates.dependencies(minor).items()},
        "flags": {name: kind for name, (kind, first, last) in FLAGS.items() if first <= minor <= last and name not in UNLINKED_FLAGS},
        "extension points": sorted(plugins.points(minor)),
        "plugins": {name: sorted(info.points) for name, info in sorted(plugins.registry(target).items())},
        "default plugins": [
            f"{name}={weight} {'' if '!' in now else gate}".rstrip() for name, weight, now, gate in rows if "+" in now or "!" not in now
        ],
        "arguments": kinds,
        "structures": {name: structures[name] for name in sorted(reachable)},
        "defaults": _completed(check(json.dumps(_every_argument(kinds)), f"1.{minor}", IN_TREE).config),
    }


def _written_types(found: Mapping[str, Any]) -> dict[str, str]:
    return {name: field.type for name, (field, _kind) in sorted(found.items()) if name not in ("apiVersion", "kind")}


def _reachable(structures: Mapping[str, Mapping[str, str]], roots: Iterable[str]) -> set[str]:
    """The structures of the configuration; those of the Kubernetes API, which it contains too, are not the configuration's."""
    seen, left = set(), list(roots)
    while left:
        name = left.pop()
        if name in structures and name not in seen and name not in KUBERNETES_TYPES:
            seen.add(name)
            left += [kind.rpartition("]")[2].lstrip("*") for kind in structures[name].values()]
    return seen


# ---- the difference


def differences(real: Column, told: Column) -> Iterator[tuple[str, str]]:
    """(section, what kube-scheduler has and the engine does not, or otherwise)."""
    for section, found in real.items():
        if section == "default plugins":
            lines = [line for line in difflib.ndiff(told[section], found) if line[:1] in "+-"]
            yield from ((section, line) for line in lines)
        elif isinstance(found, list):
            yield from ((section, f"+ {name}") for name in found if name not in told[section])
            yield from ((section, f"- {name}") for name in told[section] if name not in found)
        else:
            yield from ((section, line.lstrip(".")) for line in compare.differences(found, told[section], ""))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="derive", description="The differences between a release and the tables")
    parser.add_argument("minor", help="1.37 or 37")
    parser.add_argument("--write", action="store_true", help="record the column and write it to the tables")
    options = parser.parse_args(arguments)
    minor = int(options.minor.rpartition(".")[2])
    sys.path.insert(0, compare.COLLECTIONS)
    real = of_release(minor)
    if options.write:
        from . import table_writer

        record(minor, real)
        table_writer.raise_newest(minor)  # before the engine is imported
        found = list(differences(real, of_tables(minor)))
        table_writer.write(minor, real, of_tables(minor))
    else:
        found = list(differences(real, of_tables(minor)))
    for section in real:
        lines = [line for of, line in found if of == section]
        print(f"{section}: {f'{len(lines)} differences' + ', written' * options.write if lines else 'as in the tables'}")
        for line in lines:
            print(f"  {line}")
    return 1 if found and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
