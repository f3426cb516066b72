# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The throwaway cluster: images of an earlier cluster in the registry of a new one, and the end of its processes."""

from __future__ import annotations

import os
import shutil
import signal

import pytest
from cluster.throwaway import build, images, processes
from cluster.throwaway.layout import Layout
from support.scheduler import eventually


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """The hash of what each program consists of."""
    hashes: dict[str, str] = {}
    monkeypatch.setattr(images, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(build, "LOCKS", tmp_path / "locks")
    monkeypatch.setattr(build, "built", lambda layout, name: hashes.get(name, "same"))
    return hashes


@pytest.fixture
def new_layout(tmp_path):
    def make(name):
        made = Layout(tmp_path / name)
        made.inputs.mkdir(parents=True)
        return made

    return make


def fill(layout):
    folder = layout.registry_data / "docker"
    folder.mkdir(parents=True)
    for name in ("data", "link"):
        (folder / name).write_text(name)


def contents(layout):
    return {path.name: path.stat().st_ino for path in layout.registry_data.rglob("*") if path.is_file()}


def test_a_new_registry_gets_the_images_of_an_earlier_cluster(programs, new_layout):
    first, second = new_layout("first"), new_layout("second")
    assert images.restore(first)
    assert not first.registry_data.exists()
    fill(first)
    images.keep(first)
    assert images.restore(second)
    # The registry writes to links of tags in place, and never to the content of a blob.
    assert contents(second).keys() == {"data", "link"}
    assert contents(second)["data"] == contents(first)["data"]
    assert contents(second)["link"] != contents(first)["link"]
    assert len(list(second.inputs.glob("image-*"))) == len(images.of_every_cluster(second))


def test_a_registry_with_data_stays_as_it_is(programs, new_layout):
    first = new_layout("first")
    fill(first)
    images.keep(first)
    before = contents(first)
    assert not images.restore(first)
    assert contents(first) == before
    assert not list(first.inputs.glob("image-*"))


def test_images_of_other_programs_are_not_used_and_do_not_stay(programs, new_layout):
    first, second = new_layout("first"), new_layout("second")
    fill(first)
    images.keep(first)
    programs["scheduler-plugins"] = "two"
    assert images.restore(second)
    assert not second.registry_data.exists()
    fill(second)
    images.keep(second)
    assert len(list(images.KEPT.iterdir())) == 1


def test_a_copy_that_was_ended_is_made_again(programs, new_layout):
    first, second = new_layout("first"), new_layout("second")
    fill(first)
    images.keep(first)
    half = second.registry_data.with_name("registry-data.new")
    half.mkdir()
    (half / "data").write_text("ha")
    assert images.restore(second)
    assert contents(second).keys() == {"data", "link"}
    assert not half.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_node_ends_although_what_runs_in_it_was_stopped(new_layout, tmp_path):
    """nsenter stops itself with the process that it waits for, and is not continued with it."""
    layout = new_layout("stopped")
    for name in ("node-init", "kubelet"):
        (tmp_path / name).symlink_to(shutil.which("sleep"))
    argv = ["unshare", "--fork", "--pid", str(tmp_path / "node-init"), "600"]
    processes.spawn(layout, "node-init.node-1", argv, "")
    first = eventually(lambda: processes.running(layout).get("node-init.node-1"))
    nsenter = processes.spawn(layout, "kubelet.node-1", ["nsenter", f"--target={first.pid}", "--pid", str(tmp_path / "kubelet"), "600"], "")
    kubelet = eventually(lambda: processes.running(layout).get("kubelet.node-1")).pid
    try:
        os.kill(kubelet, signal.SIGSTOP)
        os.waitid(os.P_PID, nsenter.pid, os.WSTOPPED)
        os.kill(kubelet, signal.SIGCONT)
        assert processes.ensure_holder(layout, "node-init.node-1", argv, "changed", before=lambda: None) != first.pid
        processes.stop_all(layout)
        assert processes.owned_processes(layout.state) == []
    finally:
        nsenter.kill()
