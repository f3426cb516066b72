# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What `make new-release` writes to the tables, without a kube-scheduler."""

from __future__ import annotations

import runpy
import shutil

import pytest
from oracle import derive

NEXT = 98
FOUND = {
    "gates": {
        "NewGate": {"stage": "alpha", "default": False, "locked": False},
        "OldGate": {"stage": "ga", "default": True, "locked": True},
    },
    "needs": {"NewGate": ["OldGate"]},
}


@pytest.fixture
def tables(tmp_path, monkeypatch):
    folder = tmp_path / "tables"
    shutil.copytree(derive.TABLES, folder)
    monkeypatch.setattr(derive, "TABLES", folder)
    return folder


def read(tables, name) -> dict:
    return runpy.run_path(str(tables / f"{name}.py"))


def test_stages_of_gates_are_added_and_written_once(tables):
    before = read(tables, "gates")["GATES"]
    changed = {"NewGate": derive.stage(FOUND["gates"]["NewGate"]), "GenericWorkload": derive.stage(FOUND["gates"]["OldGate"])}
    derive.write_gates(NEXT, changed)
    once = (tables / "gates.py").read_text()
    derive.write_gates(NEXT, changed)
    assert (tables / "gates.py").read_text() == once
    after = read(tables, "gates")["GATES"]
    expected = {"NewGate": f"{NEXT}:alpha", "GenericWorkload": f"{before['GenericWorkload']} {NEXT}:ga+!"}
    assert after == {**before, **expected}
    assert list(after) == sorted(after)


def test_gates_that_need_others_are_written_once(tables):
    before = read(tables, "gates")["DEPENDENCIES"]
    derive.write_needs(NEXT, FOUND)
    once = (tables / "gates.py").read_text()
    derive.write_needs(NEXT, FOUND)
    assert (tables / "gates.py").read_text() == once
    assert read(tables, "gates")["DEPENDENCIES"] == {**before, NEXT: {"NewGate": ("OldGate",)}}


def test_flags_are_added_and_ended(tables):
    before = read(tables, "flags")["FLAGS"]
    derive.write_flags(NEXT, {"new-flag": "stringSlice", "master": ""})
    assert read(tables, "flags")["FLAGS"] == {**before, "new-flag": ("string", NEXT, 99), "master": ("string", 21, NEXT - 1)}


def test_the_newest_release_is_raised_but_not_lowered(tables):
    newest = read(tables, "releases")["NEWEST"]
    derive.raise_newest(newest - 1)
    assert read(tables, "releases")["NEWEST"] == newest
    derive.raise_newest(NEXT)
    assert read(tables, "releases")["NEWEST"] == NEXT
