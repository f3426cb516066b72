# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""playbooks/use_scheduler.yml: workloads moved to a second scheduler and back (F120, F121, F126). What needs no pods: tests/api/test_use_scheduler.py."""

from __future__ import annotations

import os

import pytest
from support.objects import deployment
from support.plain_scheduler import plain_scheduler
from support.scheduler import eventually

PLAYBOOK = "osso.scheduler.use_scheduler"
PREVIOUS = "osso.scheduler/previous-scheduler-name"
CHANGE = "Change the schedulerName"
# Modules wait longer for pods without a readiness probe: such a pod may still crash.
CONTAINER = {
    "name": "main",
    "image": f"{os.environ.get('REGISTRY')}/busybox:1",
    "command": ["sleep", "100000"],
    "readinessProbe": {"exec": {"command": ["true"]}, "periodSeconds": 1},
}


@pytest.fixture(scope="module")
def second(kubectl):
    with plain_scheduler(kubectl) as namespace:
        yield namespace


@pytest.fixture
def workloads(kubectl, namespace) -> list[dict]:
    """One of each kind that can be moved, at rest."""
    web = deployment(namespace, "web", replicas=2, containers=[CONTAINER])
    store = {**deployment(namespace, "store", containers=[CONTAINER]), "kind": "StatefulSet"}
    store["spec"] = {**store["spec"], "serviceName": "store"}
    agent = {**deployment(namespace, "agent", containers=[CONTAINER]), "kind": "DaemonSet"}
    agent["spec"] = {key: value for key, value in agent["spec"].items() if key != "replicas"}
    template = {"spec": {**web["spec"]["template"]["spec"], "restartPolicy": "Never"}}
    nightly = {"schedule": "0 3 1 1 *", "jobTemplate": {"spec": {"template": template}}}
    job = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly", "namespace": namespace}, "spec": nightly}
    kubectl.apply(web, store, agent, job)
    for one in ("deployment/web", "statefulset/store", "daemonset/agent"):
        kubectl("rollout", "status", one, f"--namespace={namespace}", "--timeout=180s", timeout=200)
    return [{"kind": one["kind"], "namespace": namespace, "name": one["metadata"]["name"]} for one in (web, store, agent, job)]


@pytest.fixture
def move(play, second, workloads):
    def run(**options):
        variables = {"use_scheduler_workloads": workloads, "use_scheduler_namespaces": [second], **options.pop("variables", {})}
        return play(PLAYBOOK, variables={"use_scheduler_name": second, **variables}, **options)

    return run


def names(kubectl, workloads) -> dict[str, tuple]:
    """schedulerName and remembered name of each."""
    found = {}
    for one in workloads:
        live = kubectl.json("get", one["kind"], one["name"], f"--namespace={one['namespace']}")
        spec = live["spec"]["jobTemplate"]["spec"] if one["kind"] == "CronJob" else live["spec"]
        found[one["name"]] = (spec["template"]["spec"]["schedulerName"], live["metadata"].get("annotations", {}).get(PREVIOUS))
    return found


def placed_by(kubectl, namespace) -> set[str]:
    """Who placed the pods that are there."""
    events = kubectl.json("get", "events", f"--namespace={namespace}", "--field-selector=reason=Scheduled")["items"]
    by_uid = {event["involvedObject"]["uid"]: event["reportingComponent"] for event in events}
    pods = [pod for pod in kubectl.list("pod", namespace) if "deletionTimestamp" not in pod["metadata"]]
    return {by_uid.get(pod["metadata"]["uid"]) for pod in pods}


@pytest.mark.long
def test_workloads_move_to_the_second_scheduler_and_back(move, kubectl, workloads, namespace, second):
    moved = move()
    assert moved.changed == [CHANGE] * 4
    assert names(kubectl, workloads) == dict.fromkeys(("web", "store", "agent", "nightly"), (second, "default-scheduler"))
    eventually(lambda: placed_by(kubectl, namespace) == {second})
    said = moved.task("Report which scheduler placed the pods").result["msg"]
    assert {one["placed_by"] for one in said} == {second}
    assert {one["workload"].partition(" ")[0] for one in said} == {"Deployment", "StatefulSet", "DaemonSet"}
    assert "jobs that begin from now on" in moved.task("Report workloads whose pods are not replaced").result["msg"][0]

    assert move(variables={"use_scheduler_undo": True}).changed == [CHANGE] * 4
    assert set(names(kubectl, workloads).values()) == {("default-scheduler", None)}
    eventually(lambda: placed_by(kubectl, namespace) == {"default-scheduler"})


@pytest.mark.long
def test_a_second_move_writes_nothing(move, audit):
    move()
    with audit:
        again = move()
    assert again.changed == []
    assert audit.writes() == []
    assert {one["as_wanted"] for one in again.task("Report which scheduler placed the pods").result["msg"]} == {True}
