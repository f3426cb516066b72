# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What tests rely on: the way to Ansible and back, and that what they look at is not missed."""

from __future__ import annotations

import json
import socket
from types import SimpleNamespace

import pytest
from support.cluster import Audit
from support.control_plane import Watch
from support.pod_stream import PodStream
from support.scheduler import eventually


def test_run_module_returns_the_result_of_the_module(run_module):
    result = run_module("ansible.builtin.command", {"argv": ["echo", "hello"]})
    assert (result["failed"], result["changed"], result["stdout"]) == (False, True, "hello")


def test_run_module_returns_the_message_of_a_failure(run_module):
    result = run_module("ansible.builtin.command", {"argv": ["false"], "bogus": 1})
    assert result["failed"]
    assert "bogus" in result["msg"]


def test_play_returns_status_and_result_of_each_task(play):
    tasks = [
        {"name": "Quiet", "ansible.builtin.debug": {"msg": "{{ word }}"}},
        {"name": "Not today", "ansible.builtin.debug": {}, "when": False},
        {"name": "Broken", "ansible.builtin.fail": {"msg": "because"}},
    ]
    run = play(tasks, variables={"word": "spoken"}, succeed=False)
    assert run.rc == 2
    assert [task.status for task in run.tasks] == ["ok", "skipped", "failed"]
    assert run.task("Quiet").result["msg"] == "spoken"
    assert run.failures[0].result["msg"] == "because"
    assert run.changed == []


class NoMorePods:
    """A kubectl that can create one pod."""

    def __init__(self):
        self.pods = 0

    def __call__(self, *_arguments, **_options):
        pass

    def create(self, *_arguments):
        self.pods += 1
        if self.pods > 1:
            raise AssertionError("no more pods")


def test_a_stream_of_pods_that_ended_is_an_error():
    kubectl = NoMorePods()
    with pytest.raises(AssertionError, match="no more pods"), PodStream(kubectl, "n", "s", seconds=0):
        eventually(lambda: kubectl.pods > 1)


def test_a_scheduler_that_does_not_answer_is_not_ready(tmp_path):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        watch = Watch({"one": SimpleNamespace(enter=lambda *_namespaces: [])}, tmp_path, silent.getsockname())
        try:
            eventually(lambda: any(path.stat().st_size for path in tmp_path.iterdir()))
        finally:
            watch.end()
    assert watch.interrupted() == {"one"}


@pytest.mark.parametrize("rotated", [False, True])
def test_the_audit_log_is_read_across_its_rotation(tmp_path, rotated):
    event = {
        "stage": "ResponseComplete",
        "verb": "delete",
        "user": {"username": "someone"},
        "requestURI": "/api/v1/namespaces/n/pods/p",
        "objectRef": {"resource": "pods", "namespace": "n", "name": "p"},
        "responseStatus": {"code": 200},
    }
    first, second = ["before", "mark-1", json.dumps(event)], [json.dumps(event), "mark-2", "after"]
    log = tmp_path / "audit.log"
    if rotated:
        (tmp_path / "audit-2026-11-27T00-00-00.000.log").write_text("older\n")
        (tmp_path / "audit-2026-11-28T00-00-00.000.log").write_text("\n".join([*first, ""]))
        log.write_text("\n".join([*second, ""]))
    else:
        log.write_text("\n".join([*first, *second, ""]))
    audit = Audit(log, None)
    audit._from, audit._until = "mark-1", "mark-2"
    assert [request.verb for request in audit.requests()] == ["delete", "delete"]
