# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Modules of module_utils import each other in one direction, have names of their own, and take no object of a module."""

from __future__ import annotations

import ast
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent / "plugins/module_utils"
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


def imported_modules(name, text, known):
    """The modules of ``known`` that the module ``name`` imports, at once or later."""
    folders = name.split(".")[:-1]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith(PREFIX)):
            parts = folders[: len(folders) - node.level + 1] if node.level else []
            parts += [part for part in (node.module or "").removeprefix(PREFIX).split(".") if part]
            yield from {".".join(parts), *(".".join([*parts, alias.name]) for alias in node.names)} & known


def order_of_modules(files):
    """The modules, those first that import no other; ``files``: text by name."""
    return list(TopologicalSorter({name: set(imported_modules(name, text, set(files))) for name, text in files.items()}).static_order())


def parameters(text):
    """The names of all parameters of functions."""
    return {node.arg for node in ast.walk(ast.parse(text)) if isinstance(node, ast.arg)}


def of_the_controller(path):
    """What a file imports of Ansible beside its module_utils, itself or through other files of this checkout."""
    for node in ast.parse(path.read_text()).body:
        if not isinstance(node, ast.ImportFrom):
            continue
        parts = [*(["support"] if node.level else []), *(node.module or "").split(".")]
        if parts[0] == "ansible" and parts[1:2] != ["module_utils"]:
            yield ".".join(parts)
        place = TESTS.joinpath(*parts) if parts[0] == "support" else TESTS.parent.joinpath(*parts[3:])
        for file in [place.with_suffix(".py"), *(place / f"{alias.name}.py" for alias in node.names)]:
            if file.is_file() and ROOT not in file.parents:
                yield from of_the_controller(file)


@pytest.fixture(scope="module")
def files():
    return {".".join(path.relative_to(ROOT).with_suffix("").parts): path.read_text() for path in ROOT.rglob("*.py")}


def test_a_circular_import_of_packages_is_found():
    files = [("a", f"from {PREFIX}.b.c import d"), ("b", f"def f():\n    from {PREFIX}.a import e")]
    assert order(files[:1]) == ["b", "a"]
    with pytest.raises(CycleError):
        order(files)


def test_packages_depend_in_one_direction():
    found = order((path.relative_to(ROOT).parts[0], path.read_text()) for path in ROOT.rglob("*.py"))
    assert found.index("_kube_scheduler") < found.index("_cluster") < found.index("_scheduling") < found.index("_operand")


def test_a_circular_import_of_modules_is_found():
    files = {"a.b": "def f():\n    from . import c", "a.c": f"from {PREFIX}.d.e import f", "d.e": ""}
    assert order_of_modules(files) == ["d.e", "a.c", "a.b"]
    with pytest.raises(CycleError):
        order_of_modules({**files, "d.e": f"from {PREFIX}.a import b"})


def test_modules_depend_in_one_direction(files):
    found = order_of_modules(files)
    assert found.index("_kube_scheduler.result") < found.index("_kube_scheduler.check") < found.index("_operand.reconcile")


def test_no_two_modules_have_one_name(files):
    """Tables of the engine have the names of the modules that read them."""
    names = Counter(name.rpartition(".")[2] for name in files if ".tables." not in name and not name.endswith("__init__"))
    assert names["reconcile"] == 1
    assert [name for name, count in names.items() if count > 1] == []


def test_no_function_of_module_utils_has_a_parameter_named_module(files):
    assert parameters("def f(module): pass") == {"module"}
    assert [name for name, text in files.items() if "module" in parameters(text)] == []


def test_tests_of_module_utils_run_without_ansibles_controller():
    """As `ansible-test units` runs them."""
    assert [*of_the_controller(TESTS / "support/direct_module.py")]
    paths = (TESTS / "unit/plugins/module_utils").rglob("*.py")
    assert {path.name: found for path in paths if (found := list(of_the_controller(path)))} == {}
