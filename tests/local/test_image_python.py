# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What operator/image/build adds to the Python packages of the operator's image, the programs that it requires, and the image's start."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

IMAGE = Path(__file__).parents[2] / "operator/image"
# Ten levels less than Go's encoding/json reads
NESTED = '{"a":[' * 4990 + "{}" + "]}" * 4990
PLAY = [{"hosts": "localhost", "gather_facts": False, "tasks": [{"ansible.builtin.assert": {"that": "operand.spec is mapping"}}]}]


@pytest.fixture
def build(monkeypatch):
    monkeypatch.syspath_prepend(str(IMAGE))
    loader = importlib.machinery.SourceFileLoader("image_build", str(IMAGE / "build"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("image_build", loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def tree(build, tmp_path) -> Path:
    """The folder of the packages after the build's own additions."""
    for folder in ("ansible_test", "bin"):
        (tmp_path / "python" / folder).mkdir(parents=True)
    build.change(tmp_path / "python")
    return tmp_path / "python"


def test_a_play_gets_a_resource_that_is_nested_as_deeply_as_the_api_allows(tree, tmp_path):
    (tmp_path / "play.yml").write_text(json.dumps(PLAY))
    (tmp_path / "variables.json").write_text(f'{{"operand": {{"spec": {NESTED}}}}}')
    command = [sys.executable, "-m", "ansible.cli.playbook", "--inventory=localhost,", "--connection=local"]
    done = subprocess.run(
        [*command, f"--extra-vars=@{tmp_path / 'variables.json'}", str(tmp_path / "play.yml")],
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]


@pytest.mark.parametrize(
    ("given", "found", "is_required"),
    [
        ((), True, True),
        (("warm_runner",), False, True),
        (("ansible_operator",), False, True),
        (("warm_runner",), True, False),
        (("ansible_operator", "warm_runner"), False, False),
    ],
)
def test_go_is_required_at_once_if_a_binary_has_to_be_built(build, monkeypatch, tmp_path, given, found, is_required):
    """found: was ansible-operator built before?"""
    program = tmp_path / "program"
    program.touch()
    monkeypatch.setattr(build.parts, "check", lambda _options: None)
    monkeypatch.setattr(build, "BUILT_OPERATOR", program if found else tmp_path / "absent")
    monkeypatch.setenv("PATH", "")
    options = Namespace(**dict.fromkeys(("ansible_operator", "warm_runner")) | dict.fromkeys(given, program))
    if is_required:
        with pytest.raises(SystemExit, match="go is missing"):
            build.check(options)
    else:
        build.check(options)


def test_a_container_that_an_interrupted_build_left_does_not_stop_the_next_one(build, monkeypatch, tmp_path):
    """If its image is one of a former build, which is removed."""
    monkeypatch.setattr(build.containers, "CACHE", tmp_path)
    buildah = Namespace(engine="buildah")
    empty = build.containers.engine(buildah, ["from", "scratch"]).strip()
    former = build.containers.engine(buildah, ["commit", "--quiet", empty]).strip()
    build.containers.engine(buildah, ["from", "--pull-never", former])
    build.containers.prune(buildah)
    assert build.containers.engine(buildah, ["images", "--all", "--quiet"]) == ""


def test_a_start_of_the_image_removes_the_files_of_runs_that_were_cut_off(tmp_path):
    text = (IMAGE.parent / "Containerfile").read_text().replace("\\\n", "")
    *shell, script, name = json.loads(re.search(r"^ENTRYPOINT (.*)$", text, re.MULTILINE)[1])[:4]
    for left in ("ansibleoperator-1", "kubeconfig1", ".ansible/ansible-local-1/file", "ansible-operator/runner/artifacts"):
        (tmp_path / left).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / left).touch()
    done = subprocess.run(
        [*shell, script.replace("/tmp/", f"{tmp_path}/"), name, "echo", "a b"], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("a b\n", "")
    assert [path.name for path in tmp_path.iterdir()] == ["ansible-operator"]
