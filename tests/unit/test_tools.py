# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The scripts behind make."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import subprocess

import pytest


def run(*command, **environment):
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)


def load(script):
    """A script without suffix as a module."""
    loader = importlib.machinery.SourceFileLoader(script.name, str(script))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(script.name, loader))
    loader.exec_module(module)
    return module


def test_environment_refuses_a_python_that_does_not_run(root):
    done = run(root / "tests/tools/environment", PYTHON="/nowhere/python3")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "make env: PYTHON=/nowhere/python3 does not run; name a Python 3.11 or newer, for example: make env PYTHON=/usr/bin/python3.12"
    ]


def test_environment_refuses_an_old_python(root):
    pythons = load(root / "tests/tools/sanity").find_pythons()
    old = next((python for version, python in pythons.items() if version in ("3.9", "3.10")), None)
    if not old:
        pytest.skip("there is no Python older than 3.11 here")
    done = run(root / "tests/tools/environment", PYTHON=str(old))
    assert done.returncode == 1
    assert f"PYTHON={old} is Python 3." in done.stderr
    assert "3.11 or newer is needed" in done.stderr


def test_env_leaves_only_the_cluster_of_kubeconfig(root):
    """Credentials of another cluster in the caller's shell must not reach it by mistake."""
    done = run(
        root / "tests/tools/env", "env", KUBECONFIG="/some/kubeconfig", K8S_AUTH_HOST="https://production", ANSIBLE_CHECK_MODE_MARKERS="1"
    )
    assert "KUBECONFIG=/some/kubeconfig" in done.stdout.splitlines()
    assert "K8S_AUTH_" not in done.stdout
    assert "ANSIBLE_CHECK_MODE_MARKERS" not in done.stdout


def test_env_keeps_shims_off_the_path(root, tmp_path):
    shims = tmp_path / "shims"
    done = run(root / "tests/tools/env", "printenv", "PATH", PATH=f"{shims}:{os.environ['PATH']}")
    path = done.stdout.strip().split(":")
    assert str(shims) not in path
    assert path[0] == str(root / ".venv/bin")


def test_another_cluster_needs_a_registry(root):
    done = run("make", "--no-print-directory", "-C", root, "ready", KUBECONFIG="/some/kubeconfig", REGISTRY="")
    assert done.returncode == 2
    assert "REGISTRY is needed too" in done.stderr


def test_part_keeps_the_exit_code(root):
    done = run(root / "tests/tools/part", "self-test", "false")
    assert done.returncode == 1
    assert "=== self-test: failed after" in done.stdout
