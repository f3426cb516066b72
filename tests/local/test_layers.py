# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Packages of module_utils import each other in one direction."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "plugins/module_utils"
PREFIX = "ansible_collections.osso.scheduler.plugins.module_utils"


def imported(text):
    """The packages that a file imports by their full names. Within its own package, names are relative or full."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PREFIX):
            names = node.module[len(PREFIX) :].strip(".")
            yield from [names.partition(".")[0]] if names else [alias.name for alias in node.names]


def order(files):
    """The packages, those first that import no other; ``files``: (package, text)."""
    edges = {}
    for package, text in files:
        edges.setdefault(package, set()).update(set(imported(text)) - {package})
    return list(TopologicalSorter(edges).static_order())


def test_a_circle_is_found():
    files = [("a", f"from {PREFIX}.b.c import d"), ("b", f"def f():\n    from {PREFIX}.a import e")]
    assert order(files[:1]) == ["b", "a"]
    with pytest.raises(CycleError):
        order(files)


def test_packages_depend_in_one_direction():
    found = order((path.relative_to(ROOT).parts[0], path.read_text()) for path in ROOT.rglob("*.py"))
    assert found.index("_kube_scheduler") < found.index("_cluster") < found.index("_scheduling") < found.index("_operand")
