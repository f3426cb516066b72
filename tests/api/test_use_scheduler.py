# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""playbooks/use_scheduler.yml where no pod is replaced: what is refused, check mode, a second run, and the way back."""

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
    """None of its pods is waited for"""
    about = {"name": "nightly", "namespace": namespace}
    spec = {"schedule": "0 3 1 1 *", "jobTemplate": {"spec": {"template": {"spec": POD}}}}
    kubectl.apply({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": about, "spec": spec})
    nightly = {"kind": "CronJob", **about}

    def names():
        live = kubectl.json("get", "cronjob", "nightly", f"--namespace={namespace}")
        template = live["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        return template["schedulerName"], live["metadata"].get("annotations", {}).get(PREVIOUS)

    with audit:
        checked = move(nightly, check=True, diff=True)
    assert audit.writes() == []
    assert (checked.changed, names()) == ([CHANGE], ("default-scheduler", None))
    assert move(nightly).changed == [CHANGE]
    assert names() == ("second", "default-scheduler")
    with audit:
        again = move(nightly)
    assert (again.changed, audit.writes()) == ([], [])
    undo = {"use_scheduler_undo": True}
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
