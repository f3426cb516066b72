# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Messages about the program of a preview. With real kube-schedulers: tests/api/test_preview.py."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._preview import scheduler_process
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import prepared
from support.preview import CONFIG

IMAGE = "registry.example.com/kube-scheduler:latest"


@pytest.fixture
def program(tmp_path):
    def written(script):
        path = tmp_path / "kube-scheduler"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)

    return written


@pytest.mark.parametrize(
    ("side", "option"),
    [
        ({}, "candidate.binary: {path}"),
        ({"image": IMAGE}, "candidate.binary: {path}"),
        ({"image": IMAGE, "extracted": True}, f"candidate.image: {IMAGE}"),
        ({"program": "candidate.image: other"}, "candidate.image: other"),
    ],
    ids=["file", "file, and image for its release", "image", "program of the other side"],
)
def test_messages_name_the_option_with_the_program(program, side, option):
    path = program("echo hello")
    with pytest.raises(InputError) as caught, prepared("candidate", {"binary": path, "config": CONFIG, **side}, None):
        pass
    assert caught.value.message.startswith(f"{option.format(path=path)} --version does not print the release of a kube-scheduler: set ")


def test_a_program_that_writes_without_end(program):
    path = program("exec yes Kubernetes")
    with pytest.raises(InputError, match="does not print the release"):
        scheduler_process.version_of(path, "candidate", "candidate.binary: x")


def test_a_program_that_leaves_another_one(program, monkeypatch):
    """It holds the output open."""
    monkeypatch.setattr(scheduler_process, "START_SECONDS", 1)
    with pytest.raises(InputError, match="did not end within 1 s"):
        scheduler_process.version_of(program("sleep 300 & echo Kubernetes"), "candidate", "candidate.binary: x")


def test_the_release_of_a_program(program):
    assert scheduler_process.version_of(program("echo Kubernetes v1.34.1; echo more >&2"), "candidate", "") == ("1.34", None)
