# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which cluster a playbook changes, where hosts of the inventory name theirs by cluster_access. A real play.

The rules: tests/unit/plugins/module_utils/_fleet/test_cluster_identity.py.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from support.ansible_runs import play
from support.api_server import ApiServer

PLAYBOOKS = Path(__file__).parents[3] / "playbooks"
# Of a job of Automation Platform with a credential, and of many a shell
CREDENTIAL = "of-the-credential"
IMAGE = {"operator_image": "registry.example.com/osso/scheduler-operator:1.0.0"}


@pytest.fixture
def server():
    """The cluster of the environment."""
    with ApiServer.running() as server:
        server.answers = [(404, b"")] * 50
        yield server


def run(server, inventory, tmp_path, playbook="site", args=(), **options):
    path = tmp_path / "inventory.json"
    path.write_text(json.dumps(inventory))
    environment = {"K8S_AUTH_HOST": server.url, "K8S_AUTH_API_KEY": CREDENTIAL}
    return play(f"osso.scheduler.{playbook}", args=[f"--inventory={path}", *args], env=environment, succeed=False, **options)


def rejected(done, server):
    """The one message of a play that has asked nothing of the environment's cluster."""
    (failure,) = done.failures
    assert failure.task.endswith("Select the clusters")
    assert server.seen == []
    assert CREDENTIAL not in done.output()
    return failure.result["msg"]


def test_every_playbook_for_clusters_begins_with_the_check():
    """Modules read the access themselves."""
    found = {path.stem: path.read_text() for path in PLAYBOOKS.glob("*.yml") if "groups['clusters']" in path.read_text()}
    assert {"site", "configure", "remove", "gather", "mirror"} <= found.keys()
    for name, text in found.items():
        play_of, *results = yaml.safe_load(text)
        assert [other["ansible.builtin.import_playbook"] for other in results] in ([], ["plays/result.yml"]), name
        first = play_of["tasks"][0]["ansible.builtin.import_tasks"]
        assert first in ("tasks/clusters.yml", "tasks/fleet_clusters.yml") or first.startswith("tasks/{{ 'fleet' if"), name
        assert "module_defaults" not in play_of, name


def test_playbooks_and_roles_use_modules_that_read_cluster_access():
    """Others would go to the cluster of the environment."""
    files = [path for folder in ("playbooks", "roles") for path in (PLAYBOOKS.parent / folder).rglob("*.yml")]
    assert len(files) > 80
    assert [path for path in files if re.search(r"^\s*kubernetes\.core\.\w+:", path.read_text(), re.MULTILINE)] == []
    with_options = {
        path.stem for path in (PLAYBOOKS.parent / "plugins/modules").glob("*.py") if "osso.scheduler.cluster\n" in path.read_text()
    }
    reading = {path.stem for path in (PLAYBOOKS.parent / "plugins/action").glob("*.py") if "cluster_action" in path.read_text()}
    assert with_options <= reading


@pytest.mark.parametrize(
    ("playbook", "variables", "said"),
    [
        ("site", {}, "berlin: cluster_access is missing."),
        ("remove", {"cluster_acess": {"kubeconfig": "/dev/null"}}, "berlin: cluster_access is missing; the host has cluster_acess"),
        ("gather", {"cluster_access": {"kubeconfig": "{{ undefined_here }}"}}, "berlin: cluster_access"),
        ("hand_over", {"cluster_access": {"kubeconfig": "/dev/null"}}, "K8S_AUTH_HOST of the environment would be used as its host"),
    ],
)
def test_a_host_of_the_group_never_uses_the_cluster_of_the_environment(server, tmp_path, playbook, variables, said):
    done = run(server, {"clusters": {"hosts": {"berlin": variables}}}, tmp_path, playbook, variables=IMAGE)
    assert said in rejected(done, server)


def test_all_hosts_that_are_wrong_are_named_at_once(server, tmp_path):
    hosts = {"berlin": {"cluster_access": {"host": server.url, "api_key": "of-berlin"}}, "lisbon": {}, "oslo": {"cluster_access": {}}}
    said = rejected(run(server, {"clusters": {"hosts": hosts}}, tmp_path, variables=IMAGE), server)
    assert "lisbon: cluster_access is missing. oslo: cluster_access names no cluster" in said
    assert "berlin" not in said


def test_a_group_with_another_name_is_reported(server, tmp_path):
    inventory = {"cluster": {"hosts": {"berlin": {"cluster_access": {"host": "https://127.0.0.1:9", "api_key": "of-berlin"}}}}}
    assert "no host in the group clusters, but cluster_access for berlin" in rejected(
        run(server, inventory, tmp_path, variables=IMAGE), server
    )


def test_a_group_and_a_variable_that_are_both_misspelt_are_reported(server, tmp_path):
    inventory = {"clustres": {"hosts": {"berlin": {"cluster_acces": {"host": "https://127.0.0.1:9", "api_key": "of-berlin"}}}}}
    said = rejected(run(server, inventory, tmp_path, variables=IMAGE), server)
    assert (
        "no host in the group clusters, but cluster_acces for berlin: put them into that group, and name the variable cluster_access."
        in said
    )


def test_start_at_task_does_not_skip_the_check_of_cluster_access(server, tmp_path):
    begin = ["--start-at-task=Read schedulers, pods and operators"]
    done = run(server, {"clusters": {"hosts": {"berlin": {}}}}, tmp_path, "report", args=begin)
    assert "cluster_access is missing for berlin" in done.failures[0].result["msg"]
    assert server.seen == []


def test_without_the_group_a_playbook_uses_the_cluster_of_the_environment(server, tmp_path):
    """Whatever other hosts there are."""
    done = run(server, {"web": {"hosts": {"www": {"colour": "red"}}}}, tmp_path, variables=IMAGE)
    assert done.task("Select the clusters").status == "ok"
    assert server.seen


NOT_FOUND = (404, {"kind": "Status", "code": 404, "reason": "NotFound", "message": "not found", "metadata": {}})


def read(access, options=None, **variables):
    """One read in a play of somebody's own, in the group clusters."""
    task = {"osso.scheduler.resource_info": {"kind": "ConfigMap", "namespace": "a", "name": "b", **(options or {})}}
    play_of = {"name": "Test", "hosts": "berlin", "connection": "local", "gather_facts": False, "vars": variables, "tasks": [task]}
    inventory = json.dumps({"clusters": {"hosts": {"berlin": {} if access is None else {"cluster_access": access}}}})
    return play_of, inventory


@pytest.mark.parametrize(
    ("access", "options", "asked", "said"),
    [
        ({"host": "{{ berlin }}", "api_key": "of-berlin", "retry_seconds": 0}, {}, "berlin", ""),
        # Options of a task are not mixed with those of the variable.
        (
            {"host": "{{ berlin }}", "username": "u", "password": "of-berlin"},
            {"host": "{{ lisbon }}", "api_key": "of-lisbon"},
            "lisbon",
            "",
        ),
        ({"host": "{{ berlin }}", "api_key": "of-berlin"}, {"retry_seconds": 0, "kubeconfig": ""}, "berlin", ""),
        ({"hots": "{{ berlin }}"}, {}, "", "cluster_access.hots is not an option; the closest one is host"),
        ("{{ berlin }}", {}, "", "cluster_access is not a mapping"),
        ({"host": "{{ nowhere }}"}, {}, "", "cluster_access cannot be evaluated"),
        (None, {}, "", "cluster_access is missing for berlin"),
    ],
)
def test_a_task_without_options_takes_those_of_cluster_access(server, tmp_path, access, options, asked, said):
    with ApiServer.running() as berlin, ApiServer.running() as lisbon:
        berlin.answers, lisbon.answers = [NOT_FOUND], [NOT_FOUND]
        content, inventory = read(access, options, berlin=berlin.url, lisbon=lisbon.url)
        path = tmp_path / "inventory.json"
        path.write_text(inventory)
        environment = {"K8S_AUTH_HOST": server.url, "K8S_AUTH_API_KEY": CREDENTIAL}
        done = play([content], args=[f"--inventory={path}", "-vvv"], env=environment, succeed=False)
        seen = {"berlin": berlin.seen, "lisbon": lisbon.seen, "the environment's": server.seen}
    assert [name for name, requests in seen.items() if requests] == ([asked] if asked else []), done.output()
    assert not re.search("of-(berlin|lisbon)", done.output())
    if asked:
        assert done.tasks[0].result["resources"] == []
    else:
        assert said in done.failures[0].result["msg"]


@pytest.mark.parametrize("name", ["operator", "mirror"])
def test_a_role_uses_cluster_access_without_module_defaults(server, name):
    """``retry_seconds`` is an option of every module that the role runs."""
    with ApiServer.running() as berlin:
        berlin.answers = [(403, {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "forbidden", "metadata": {}})] * 50
        variables = {"cluster_access": {"host": berlin.url, "api_key": "of-berlin", "retry_seconds": 0}, **IMAGE}
        tasks = [{"ansible.builtin.include_role": {"name": f"osso.scheduler.{name}"}}]
        environment = {"K8S_AUTH_HOST": server.url, "K8S_AUTH_API_KEY": CREDENTIAL}
        done = play(tasks, variables=variables, env=environment, succeed=False)
        assert berlin.seen
    assert server.seen == []
    assert "forbidden" in done.output().lower()
