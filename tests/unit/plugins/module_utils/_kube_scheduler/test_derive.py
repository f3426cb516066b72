# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tables against what `make new-release` derived from kube-schedulers, and what it writes, without a kube-scheduler."""

from __future__ import annotations

import ast
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from oracle import columns, derive, table_writer
from oracle.table_writer import Source

NEXT = 98
ENGINE = Path("ansible_collections/osso/scheduler/plugins/module_utils/_kube_scheduler")
MINORS = columns.recorded_minors()


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """A folder for collections, with a copy of the engine."""
    shutil.copytree(table_writer.TABLES.parent, tmp_path / ENGINE, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(table_writer, "TABLES", tmp_path / ENGINE / "tables")
    return tmp_path


def read(name) -> dict:
    return runpy.run_path(str(table_writer.TABLES / f"{name}.py"))


def column(engine, minor) -> dict:
    """What the tables of the copy contain of a release."""
    command = f"import json; from oracle import derive; print(json.dumps(derive.of_tables({minor})))"
    path = os.pathsep.join((str(engine), str(Path(derive.__file__).parents[1])))
    return json.loads(subprocess.run([sys.executable, "-c", command], env={"PYTHONPATH": path}, capture_output=True, check=True).stdout)


def forget(minor) -> None:
    """Remove a release and all later ones from the tables."""
    later = "|".join(str(other) for other in range(minor, NEXT))
    ended = "|".join(str(other) for other in range(minor - 1, NEXT))
    substitute("releases", r"^(OLDEST, NEWEST = \d+), \d+$", rf"\1, {minor - 1}")
    substitute("gates", rf'(?<=[ "])({later}):(?! )[^ "]*', "")
    substitute("gates", r'^    "\w+": " *",\n', "")
    substitute("gates", r' +",$', '",')
    substitute("flags", rf'^    "[\w-]+": \("\w+", ({later}), \d+\),\n', "")
    substitute("flags", rf'^(    "[\w-]+": \("\w+", \d+), ({ended})\),$', rf"\1, {table_writer.LAST}),")
    substitute("plugins", rf" \w+>=({later})\b", "")
    substitute("plugins", rf"<=({ended})\b", "")
    for name in ("plugins", "types"):
        substitute(name, rf", until=({ended})\b", "")
        source = Source(name)
        Removal(source, minor).visit(ast.parse(source.text))
        source.save()
    source = Source("types")
    kinds = {**source.entries("IN_TREE_KINDS"), **source.entries("SCHEDULER_PLUGINS_KINDS")}
    for key, value in zip(source["STRUCTURES"].keys, source["STRUCTURES"].values, strict=True):
        if key.value.endswith("Args") and key.value not in kinds:
            source.remove(key, value)
    source.save()
    source = Source("plugins")
    merged = source.entries("MERGED_POINTS")["v1"]
    points = {"multiPoint", *source.entries("POINTS")}
    source.replace(merged, repr(" ".join(point for point in merged.value.split() if point in points)))
    source.save()


def substitute(name, pattern, text) -> None:
    path = table_writer.TABLES / f"{name}.py"
    path.write_text(re.sub(pattern, text, path.read_text(), flags=re.MULTILINE))


class Removal(ast.NodeVisitor):
    """Remove rows that begin with a minor or a later one: elements with ``since``, and entries whose key or value is a minor."""

    def __init__(self, source, minor):
        self.source, self.minor = source, minor

    def visit_Call(self, node):
        if self.is_new(node):
            self.source.remove(node, node)

    def visit_Dict(self, node):
        for key, value in zip(node.keys, node.values, strict=True):
            if self.is_new(key) or self.is_new(value):
                self.source.remove(key, value)
            else:
                self.visit(value)

    def is_new(self, node) -> bool:
        values = [keyword.value for keyword in getattr(node, "keywords", ()) if keyword.arg == "since"] or [node]
        minor = getattr(values[0], "value", None)
        return isinstance(minor, int) and self.minor <= minor < NEXT


@pytest.mark.parametrize("minor", MINORS)
def test_the_tables_match_the_behavior_of_the_kube_scheduler(engine, minor):
    assert list(derive.differences(columns.recorded(minor), column(engine, minor))) == []


@pytest.mark.parametrize("minor", MINORS)
def test_a_release_written_from_scratch_is_that_of_the_tables(engine, minor):
    """The tables end with the release before: the command writes this one."""
    real = columns.recorded(minor)
    before = column(engine, minor - 1)
    forget(minor)
    table_writer.raise_newest(minor)
    told = column(engine, minor)
    assert list(derive.differences(real, told)), "nothing was forgotten"
    table_writer.write(minor, real, told)
    assert list(derive.differences(real, column(engine, minor))) == []
    assert column(engine, minor - 1) == before, "an older release has changed"


def test_stages_of_gates_are_added_and_written_once(engine):
    before = read("gates")["GATES"]
    changed = {"NewGate": "alpha", "GenericWorkload": "ga+!"}
    table_writer.write_gates(NEXT, changed, "GATES")
    once = (table_writer.TABLES / "gates.py").read_text()
    table_writer.write_gates(NEXT, changed, "GATES")
    assert (table_writer.TABLES / "gates.py").read_text() == once
    after = read("gates")["GATES"]
    assert after == {**before, "NewGate": f"{NEXT}:alpha", "GenericWorkload": f"{before['GenericWorkload']} {NEXT}:ga+!"}
    assert list(after) == sorted(after)


def test_gates_that_need_others_are_added_and_removed(engine):
    before = read("gates")["DEPENDENCIES"]
    table_writer.write_gates(NEXT, {"NewGate": "OldGate,OtherGate", "DRAAdminAccess": ""}, "DEPENDENCIES")
    after = read("gates")["DEPENDENCIES"]
    assert after == {**before, "NewGate": f"{NEXT}:OldGate,OtherGate", "DRAAdminAccess": f"{before['DRAAdminAccess']} {NEXT}:"}


def test_write_flags_adds_new_flags_and_ends_removed_ones(engine):
    before = read("flags")["FLAGS"]
    table_writer.write_flags(NEXT, {"new-flag": "string", "master": ""})
    assert read("flags")["FLAGS"] == {**before, "new-flag": ("string", NEXT, 99), "master": ("string", 21, NEXT - 1)}


def test_the_newest_release_is_raised_but_not_lowered(engine):
    newest = read("releases")["NEWEST"]
    table_writer.raise_newest(newest - 1)
    assert read("releases")["NEWEST"] == newest
    table_writer.raise_newest(NEXT)
    assert read("releases")["NEWEST"] == NEXT
