# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The way from a test to Ansible and back, which all other tests rely on."""

from __future__ import annotations


def test_module_result_comes_back(run_module):
    result = run_module("ansible.builtin.command", {"argv": ["echo", "hello"]})
    assert (result["failed"], result["changed"], result["stdout"]) == (False, True, "hello")


def test_module_failure_comes_back_with_its_message(run_module):
    result = run_module("ansible.builtin.command", {"argv": ["false"], "bogus": 1})
    assert result["failed"]
    assert "bogus" in result["msg"]


def test_play_reports_each_task(play):
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
