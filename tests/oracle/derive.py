# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Derive what the engine's tables say about a release from its real kube-scheduler (`make new-release MINOR=1.37`).

    tests/tools/env python -m oracle.derive MINOR [--write]      (in tests/)

The program of the release prints its feature gates, flags, plugins and types (source/facts.go). Its answers tell the extension points of each plugin
and the plugins that run by default, with each feature gate switched. Every difference from the tables is printed. With --write, gates, their dependencies and
flags are written to the tables; everything else is for a person to decide, and is printed with the answer that shows it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import client, compare
from .programs import IN_TREE, Program

TABLES = Path(__file__).parents[2] / "plugins/module_utils/kube_scheduler/tables"
DOCUMENT = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
LAST = 99
# Those that every command has, and those that the command registers outside of what the program links.
OTHER_FLAGS = {"help", "version", "log-json-info-buffer-size", "log-json-split-stream"}
# Go types of the flags -> what the table calls them; all others are texts to the engine.
FLAG_TYPES = {"bool", "duration", "float", "int", "int32", "ip", "string", "uint"}


def facts(minor: int) -> dict[str, Any]:
    """What the program of a release prints of it. Raises OracleError when it is not built."""
    program = Program(f"1.{minor}", IN_TREE)
    if not program.built():
        raise client.OracleError(f"1.{minor} is not built: tests/oracle/oracle build 1.{minor}")
    return json.loads(subprocess.run([program.path, "--facts"], capture_output=True, text=True, check=True).stdout)


def stage(gate: Mapping[str, Any]) -> str:
    """As the table writes it: ``beta+``."""
    return gate["stage"] + ("+" if gate["default"] else "") + ("!" if gate["locked"] else "")


def gates(minor: int, found: Mapping[str, Any]) -> dict[str, str]:
    """Gate -> its stage in the release, where the table says another one; ``gone`` where the release has no such gate."""
    from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.gates import _stages

    told = _stages(minor, minor)
    real = {name: stage(gate) for name, gate in found["gates"].items()}
    return {name: real.get(name, "gone") for name in sorted({*told, *real}) if told.get(name) != real.get(name)}


def needs(minor: int, found: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Gate -> the gates that it depends on, where the table says others."""
    from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.gates import _dependencies

    told = _dependencies(minor)
    real = {name: tuple(needed) for name, needed in found["needs"].items()}
    names = sorted({*told, *real})
    return {name: real.get(name, ()) for name in names if set(told.get(name, ())) != set(real.get(name, ()))}


def flags(minor: int, found: Mapping[str, Any]) -> dict[str, str]:
    """Flag -> its type in the release, where the table says another one; empty where the release has no such flag."""
    from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.tables.flags import FLAGS

    told = {name for name, (_kind, first, last) in FLAGS.items() if first <= minor <= last}
    return {name: found["flags"].get(name, "") for name in sorted((told ^ set(found["flags"])) - OTHER_FLAGS)}


def points(minor: int, found: Mapping[str, Any]) -> Iterator[str]:
    """Plugins and extension points that the table does not say."""
    from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.plugins import make_target, registry

    told = {name: set(info.points) for name, info in registry(make_target(f"1.{minor}")).items()}
    enabled = [{"name": name} for name in found["plugins"] if name not in ("PrioritySort", "DefaultBinder")]
    config = {**DOCUMENT, "profiles": [{"plugins": {"multiPoint": {"enabled": enabled}}}]}
    real: dict[str, set[str]] = {name: set() for name in found["plugins"]}
    for answer in _ask(minor, [config], [_everything_on(found)]):
        for point, plugins in answer["effective"]["default-scheduler"].items():
            for name, _weight in plugins:
                real[name].add(compare.POINTS.get(point, point))
    for name in sorted({*told, *real}):
        if told.get(name) != real.get(name):
            yield f"{name}: {_words(real.get(name))}; the table says {_words(told.get(name))}"


def defaults(minor: int, found: Mapping[str, Any]) -> Iterator[str]:
    """Where engine and release disagree about an empty configuration; with a feature gate switched, only what the gate adds to that."""
    from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.check import check

    switched = [
        (),
        *((f"--feature-gates={name}={str(not gate['default']).lower()}",) for name, gate in found["gates"].items() if not gate["locked"]),
    ]
    text = json.dumps(DOCUMENT)
    always: set[str] = set()
    for chosen, answer in zip(switched, _ask(minor, [DOCUMENT] * len(switched), switched), strict=True):
        told = check(text, f"1.{minor}", IN_TREE, chosen)
        if bool(told.valid) != (answer["verdict"] == "accept"):
            different = {f"{answer['verdict']} {answer['error']}; the engine: {'accept' if told.valid else 'refuse'}"}
        else:
            different = set(_points_that_differ(answer["effective"] or {}, told.effective))
        yield from (f"{' '.join(chosen) or 'no flags'}: {one}" for one in sorted(different - always))
        always = always or different


def _points_that_differ(real: Mapping[str, Any], told: Mapping[str, Any]) -> Iterator[str]:
    for profile, at in real.items():
        theirs = {compare.POINTS.get(point, point): [tuple(plugin) for plugin in plugins] for point, plugins in at.items() if plugins}
        ours = {point: [tuple(plugin) for plugin in plugins] for point, plugins in told.get(profile, {}).items() if plugins}
        for point in sorted({*theirs, *ours}):
            if theirs.get(point) != ours.get(point):
                yield f"{point}: {_listed(theirs.get(point))}; the engine: {_listed(ours.get(point))}"


def _listed(plugins: list[tuple[str, int]] | None) -> str:
    return " ".join(name + (f"={weight}" if weight else "") for name, weight in plugins or ()) or "nothing"


def types(minor: int, found: Mapping[str, Any]) -> Iterator[str]:
    """Fields of configuration and arguments that the table does not have, or has too much."""
    from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.plugins import make_target
    from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.tables.types import IN_TREE_KINDS, STRUCTURES
    from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.types import fields

    target = make_target(f"1.{minor}")
    served = {
        name for name, kind in IN_TREE_KINDS.items() if kind.since <= minor <= kind.until and (not kind.versions or "v1" in kind.versions)
    }
    for name in sorted(served ^ set(found["args"])):
        yield f"{name}: the arguments are {'registered' if name in found['args'] else 'not registered'}"
    for name, real in found["types"].items():
        if name not in STRUCTURES:
            yield f"{name}: a structure with {', '.join(f'{field} {kind}' for field, kind in real.items())}"
            continue
        told = set(fields(name, "v1", target)) - {"apiVersion", "kind"}
        for field in sorted(told ^ (set(real) - {"apiVersion", "kind"})):
            yield f"{name}.{field}: {real.get(field, 'no such field')}"


def _ask(minor: int, configs: list[dict[str, Any]], arguments: list[tuple[str, ...]]) -> list[dict[str, Any]]:
    documents = [{"text": json.dumps(config), "flags": list(chosen)} for config, chosen in zip(configs, arguments, strict=True)]
    return client.run(f"1.{minor}", IN_TREE, documents)


def _everything_on(found: Mapping[str, Any]) -> tuple[str, ...]:
    names = [name for name, gate in found["gates"].items() if not gate["default"] and not gate["locked"]]
    return (f"--feature-gates={','.join(f'{name}=true' for name in names)}",)


def _words(found: set[str] | None) -> str:
    return " ".join(sorted(found)) or "no point" if found is not None else "no such plugin"


def raise_newest(minor: int) -> None:
    """Let the tables know the release, before anything else of the engine is imported."""
    path = TABLES / "releases.py"
    text = path.read_text()
    known = int(re.search(r"^OLDEST, NEWEST = \d+, (\d+)$", text, re.MULTILINE)[1])
    if minor > known:
        path.write_text(text.replace(f", {known}\n", f", {minor}\n").replace(f"to 1.{known};", f"to 1.{minor};"))


def write_gates(minor: int, changed: Mapping[str, str]) -> None:
    """Put a new stage behind those that the table has of a gate."""
    path = TABLES / "gates.py"
    head, start, rest = path.read_text().partition("GATES = {\n")
    body, end, tail = rest.partition("\n}\n")
    rows = dict(re.findall(r'^    "(\w+)": "([^"]*)",$', body, re.MULTILINE))
    comment = next(line for line in body.splitlines() if line.strip().startswith("#"))
    for name, now in changed.items():
        kept = [entry for entry in rows.get(name, "").split() if not entry.startswith(f"{minor}:")]
        rows[name] = " ".join([*kept, f"{minor}:{now}"])
    lines = [comment, *(f'    "{name}": "{rows[name]}",' for name in sorted(rows))]
    path.write_text(head + start + "\n".join(lines) + end + tail)


def write_needs(minor: int, found: Mapping[str, Any]) -> None:
    """Add the dependencies of all gates, where those of the release before are others."""
    path = TABLES / "gates.py"
    text = path.read_text()
    head, start, rest = text.partition("DEPENDENCIES = {\n")
    body, end, tail = rest.partition("\n}\n")
    body = re.sub(rf"\n    {minor}: {{\n.*?\n    }},", "", body, flags=re.DOTALL)
    rows = [
        f'        "{name}": {json.dumps(needed)},'.replace("[", "(").replace("]", "," * (len(needed) == 1) + ")")
        for name, needed in sorted(found["needs"].items())
    ]
    path.write_text(head + start + "\n".join([body, f"    {minor}: {{", *rows, "    },"]) + end + tail)


def write_flags(minor: int, changed: Mapping[str, str]) -> None:
    """Add new flags, and end those that are gone with the release before."""
    path = TABLES / "flags.py"
    head, start, rest = path.read_text().partition("FLAGS = {\n")
    body, end, tail = rest.partition("\n}\n")
    lines = body.splitlines()
    for name, kind in changed.items():
        if kind:
            lines.append(f'    "{name}": ("{kind if kind in FLAG_TYPES else "string"}", {minor}, {LAST}),')
        else:
            lines = [re.sub(rf", {LAST}\),$", f", {minor - 1}),", line) if line.startswith(f'    "{name}":') else line for line in lines]
    path.write_text(head + start + "\n".join([lines[0], *sorted(lines[1:])]) + end + tail)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="derive", description="What the tables do not say of a release")
    parser.add_argument("minor", help="1.37 or 37")
    parser.add_argument("--write", action="store_true", help="write gates and flags to the tables")
    options = parser.parse_args(arguments)
    minor = int(options.minor.rpartition(".")[2])
    sys.path.insert(0, compare.COLLECTIONS)
    found = facts(minor)
    if options.write:
        raise_newest(minor)
    changed_gates, changed_flags = gates(minor, found), flags(minor, found)
    changed_needs = needs(minor, found)
    if options.write:
        write_gates(minor, changed_gates)
        if changed_needs:
            write_needs(minor, found)
        write_flags(minor, changed_flags)
    written = ", written" if options.write else ""
    sections = {
        "feature gates" + written: [f"{name}: {now}" for name, now in changed_gates.items()],
        "flags" + written: [f"{name}: {kind or 'gone'}" for name, kind in changed_flags.items()],
        "gates that need other gates" + written: [f"{name}: {', '.join(needed) or 'nothing'}" for name, needed in changed_needs.items()],
        "types": list(types(minor, found)),
        "plugins and their extension points": list(points(minor, found)),
        "default plugins": list(defaults(minor, found)),
    }
    for title, lines in sections.items():
        print(f"{title}: {len(lines) or 'as in the tables'}")
        for line in lines:
            print(f"  {line}")
    return 1 if any(sections.values()) and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
