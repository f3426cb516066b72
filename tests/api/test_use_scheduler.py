# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""playbooks/use_scheduler.yml where no pod runs: what is refused, check mode, a second run, pods that nothing places, and the way back."""

from __future__ import annotations

import pytest
from support.objects import deployment

PLAYBOOK = "osso.scheduler.use_scheduler"
PREVIOUS = "osso.scheduler/previous-scheduler-name"
CHANGE = "Change the schedulerName"
POD = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "registry.k8s.io/pause:3.10"}]}


@pytest.fixture
def move(play):
    def run(*workloads, name="second", **options):
        variables = {"use_scheduler_workloads": workloads, "use_scheduler_name": name, **options.pop("variables", {})}
        return play(PLAYBOOK, variables=variables, **options)

    return run


@pytest.fixture
def web(kubectl, namespace):
    kubectl.apply(deployment(namespace, "web"))
    return {"kind": "Deployment", "namespace": namespace, "name": "web"}


def test_a_cron_job_moves_to_the_scheduler_and_back_without_waiting_for_pods(move, kubectl, namespace, audit):
    """None of its pods is waited for. Its later pods would wait for ever for a scheduler that does not run."""
    about = {"name": "nightly", "namespace": namespace}
    spec = {"schedule": "0 3 1 1 *", "jobTemplate": {"spec": {"template": {"spec": POD}}}}
    kubectl.apply({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": about, "spec": spec})
    nightly = {"kind": "CronJob", **about}

    def names():
        live = kubectl.json("get", "cronjob", "nightly", f"--namespace={namespace}")
        template = live["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        return template["schedulerName"], live["metadata"].get("annotations", {}).get(PREVIOUS)

    assert "No running scheduler that was found serves the name second" in move(nightly, succeed=False).failures[0].result["msg"]
    served = {"use_scheduler_unserved": True}
    with audit:
        checked = move(nightly, check=True, diff=True, variables=served)
    assert audit.writes() == []
    assert (checked.changed, names()) == ([CHANGE], ("default-scheduler", None))
    assert move(nightly, variables=served).changed == [CHANGE]
    assert names() == ("second", "default-scheduler")
    with audit:
        again = move(nightly)
    assert (again.changed, audit.writes()) == ([], [])
    undo = {"use_scheduler_undo": True, **served}
    assert move(nightly, variables=undo).changed == [CHANGE]
    assert names() == ("default-scheduler", None)


def test_nothing_is_changed_if_one_workload_is_rejected(move, web, kubectl, namespace, audit):
    once = {"name": "once", "namespace": namespace}
    kubectl.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": once, "spec": {"template": {"spec": POD}}})
    refused = {
        "the namespace kube-system is the cluster's own": {"kind": "Deployment", "namespace": "kube-system", "name": "coredns"},
        "the namespace openshift-dns is the cluster's own": {"kind": "DaemonSet", "namespace": "openshift-dns", "name": "dns"},
        "Deployment default/missing: it does not exist": {"kind": "Deployment", "namespace": "default", "name": "missing"},
        "it is of the kind Gadget": {"kind": "Gadget", "namespace": "default", "name": "x"},
        "give kind, namespace and name": {"kind": "Deployment", "name": "web"},
        "delete the Job and create it again": {"kind": "Job", **once},
    }
    with audit:
        run = move(web, *refused.values(), succeed=False)
    assert audit.writes() == []
    (failure,) = run.failures
    assert failure.result["msg"].startswith("Nothing was changed. ")
    assert [why for why in refused if why not in failure.result["msg"]] == []
    assert f"Deployment {namespace}/web" not in failure.result["msg"]


def test_a_scheduler_name_without_a_running_scheduler_is_rejected(move, web, audit):
    with audit:
        run = move(web, name="nobody", succeed=False)
    assert audit.writes() == []
    assert "serves the name nobody" in run.failures[0].result["msg"]


def test_pods_that_no_scheduler_places_are_reported(move, web, kubectl, namespace):
    def names():
        live = kubectl.json("get", "deployment", "web", f"--namespace={namespace}")
        return live["spec"]["template"]["spec"]["schedulerName"], live["metadata"].get("annotations", {}).get(PREVIOUS)

    # A name of no profile is let through by choice, and the playbook does not wait for the events of the pods.
    unserved = {"use_scheduler_unserved": True, "use_scheduler_timeout": 2, "use_scheduler_until": 0}
    message = move(web, name="nobody", variables=unserved, succeed=False).task("Report the failure").result["msg"]
    assert "no running scheduler has the name nobody" in message
    assert "use_scheduler_undo: true goes back" in message
    assert names() == ("nobody", "default-scheduler")
    again = move(web, name="nobody", variables=unserved, succeed=False)
    assert again.changed == []
    assert "not everything is as it should be" in again.failures[0].result["msg"]
    assert f"Deployment {namespace}/web" in again.failures[0].result["msg"]
    # The former name is written first, and the wait ends without a node.
    move(web, variables={"use_scheduler_undo": True, "use_scheduler_timeout": 1}, succeed=False)
    assert names() == ("default-scheduler", None)
