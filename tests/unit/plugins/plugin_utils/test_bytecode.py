# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.filter import fleet
from ansible_collections.osso.scheduler.plugins.plugin_utils import bytecode, in_fork

PACKAGE = "ansible_collections.osso.scheduler.plugins.module_utils"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "_without_init").mkdir()
    (tmp_path / "one.py").write_text("VALUE = 1\n")
    return tmp_path


def test_the_compiled_form_is_kept_and_read(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    spec = bytecode.Finder.find_spec(f"{PACKAGE}.one", [str(folder)])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (module.VALUE, module.__file__) == (1, str(folder / "one.py"))
    (compiled,) = (folder / "__pycache__").iterdir()
    assert spec.cached == str(compiled)


@pytest.mark.parametrize(
    "name", [f"{PACKAGE}.two", f"{PACKAGE}._without_init", "ansible_collections.osso.scheduler.plugins.modules.one", "one", "json"]
)
def test_everything_else_is_left_to_the_next_finder(folder, name):
    assert bytecode.Finder.find_spec(name, [str(folder)]) is None
    assert bytecode.Finder.find_spec(name) is None


def test_the_finder_is_installed_only_once(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    for _twice in range(2):
        in_fork.share("apply")
    assert sys.meta_path.count(bytecode.Finder) == 1


def test_the_finder_comes_directly_before_that_of_ansible(monkeypatch):
    """An import test of ansible-test fails if the first finder has changed."""
    first, ansibles = object(), type("_AnsibleCollectionFinder", (), {})()
    monkeypatch.setattr(sys, "meta_path", [first, ansibles])
    bytecode.keep()
    assert sys.meta_path == [first, bytecode.Finder, ansibles]


def test_the_first_filter_of_a_play_uses_it(monkeypatch):
    """A playbook for clusters evaluates a filter before its first task, and Ansible then loads all of them in the order of their files."""
    assert Path(fleet.__file__) == min(Path(fleet.__file__).parent.glob("*.py"))
    monkeypatch.setattr(sys, "meta_path", [finder for finder in sys.meta_path if finder is not bytecode.Finder])
    importlib.reload(fleet)
    assert bytecode.Finder in sys.meta_path
