# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`make mutants`, with a repository of one function that has two places to break."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess

import pytest
from coverage import CoverageData

pytestmark = pytest.mark.long

CODE = "def larger(a, b):\n    return a > b\n"
TEST = """import pathlib
import pytest
exec(pathlib.Path("plugins/module_utils/_a/thing.py").read_text())

@pytest.mark.parametrize("text", ["a::b [c] | (d)", "a b"])
def test_larger(text):
    assert larger(2, 1)
"""
CONTEXT = "tests/unit/test_all.py::test_larger[a::b [c] | (d)]|run"


@pytest.fixture
def tool(root, tmp_path, monkeypatch):
    loader = importlib.machinery.SourceFileLoader("mutants", str(root / "tests/tools/mutants"))
    tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants", loader))
    loader.exec_module(tool)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    checkout = tmp_path / "checkout"
    tool.ROOT, tool.HOME, tool.COVERAGE = checkout, checkout / ".cache/mutants", checkout / ".cache/mutants/coverage"
    (checkout / ".cache/collections/ansible_collections").mkdir(parents=True)
    tool.HOME.mkdir()
    for name, text in {
        "plugins/module_utils/_a/thing.py": CODE,
        "tests/unit/test_all.py": TEST,
        "tests/tools/env": '#!/bin/sh\nexec "$@"\n',
        ".gitignore": "/.cache/\n",
    }.items():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(text)
    (checkout / "tests/tools/env").chmod(0o755)
    data = CoverageData(str(tool.COVERAGE))
    data.set_context(CONTEXT)
    data.add_lines({str(checkout / "plugins/module_utils/_a/thing.py"): [2]})
    data.write()
    subprocess.run(["git", "init", "--quiet"], cwd=checkout, check=True)
    commit(tool)
    return tool


def commit(tool):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["add", "--all"], ["commit", "--quiet", "--allow-empty", "--no-gpg-sign", "--message=x"]):
        subprocess.run([*git, *command], cwd=tool.ROOT, check=True)


def outcomes(tool, capsys):
    """Of the places that were broken in this run."""
    assert tool.check(10, 1, ("",)) == 50
    return sorted(line.partition(" ")[2] for line in capsys.readouterr().out.splitlines() if line[0].isdigit())


def test_a_run_of_the_same_commit_continues(tool, capsys):
    """The test is selected although its parameters contain brackets, blanks and colons."""
    found = ["noticed: plugins/module_utils/_a/thing.py:2:5: return a > b -> return None"]
    found.append("survived: plugins/module_utils/_a/thing.py:2:12: a > b -> (a >= b)")
    assert outcomes(tool, capsys) == found
    assert outcomes(tool, capsys) == []
    (tool.ROOT / "notes").touch()
    commit(tool)
    assert outcomes(tool, capsys) == found
    (tool.ROOT / "notes").write_text("changed")
    assert outcomes(tool, capsys) == outcomes(tool, capsys) == found


@pytest.mark.parametrize("name", ["test_all", "test_thing"])
def test_tests_that_fail_with_unbroken_code_end_the_run(tool, name):
    (tool.ROOT / f"tests/unit/{name}.py").write_text(TEST.replace("larger(2, 1)", "larger(1, 2)"))
    commit(tool)
    with pytest.raises(SystemExit) as ended:
        tool.check(10, 1, ("",))
    first, *failed = str(ended.value).splitlines()
    assert first.startswith("mutants: tests fail with unbroken code. Correct them, or run make coverage")
    assert [line.partition(" - ")[0] for line in failed] == [
        f"FAILED tests/unit/{name}.py::test_larger[{text}]" for text in ("a::b [c] | (d)", "a b")
    ]


def test_tests_that_do_not_end_count_as_failed(tool):
    (tool.ROOT / "tests/unit/test_all.py").write_text(TEST.replace("assert", "while True: assert"))
    tool.LIMIT = 1
    with pytest.raises(SystemExit, match=r"^mutants: tests fail with unbroken code.*\nnot ended after 1 seconds$"):
        tool.check(10, 1, ("",))


@pytest.mark.parametrize(
    ("context", "test"),
    [
        (CONTEXT, "tests/unit/test_all.py::test_larger"),
        ("tests/api/test_a.py::test_b|setup", "tests/api/test_a.py::test_b"),
        ("tests/api/test_a.py::TestC::test_b (call)", "tests/api/test_a.py::TestC::test_b"),
        ("tests/api/test_a.py::TestC::test_b[x] (teardown)", "tests/api/test_a.py::TestC::test_b"),
    ],
)
def test_a_context_of_the_coverage_names_the_function_of_its_test(tool, context, test):
    assert tool.function_of(context) == test
