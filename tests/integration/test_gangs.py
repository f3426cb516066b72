# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Gangs of Kubernetes itself, placed by a second scheduler with the preset gang_scheduling. They need a cluster of 1.37 or newer."""

from __future__ import annotations

import uuid

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.presets import configuration
from cluster.throwaway.layout import Layout
from support.scheduler import Scheduler, eventually
from support.site import installed

GATE = {"args": ["--feature-gates=GenericWorkload=true"]}
API = "scheduling.k8s.io/v1beta1"


@pytest.fixture(scope="module")
def release(own_cluster):
    release = Layout(own_cluster).release
    if "GenericWorkload" not in release.gates:
        pytest.skip(f"Kubernetes {release.minor} has no gangs: make cluster KUBERNETES=1.37")
    return release


@pytest.fixture
def gang_scheduler(release, kubectl):
    """Make a scheduler with the preset and these overrides, that serves."""
    installed()
    made = []

    def make(**overrides):
        scheduler = Scheduler(kubectl, f"test-gangs-{uuid.uuid4().hex[:4]}")
        made.append(scheduler)
        scheduler.write_config(yaml.safe_dump(configuration("gang_scheduling", {"scheduler_name": scheduler.scheduler_name})))
        scheduler.write(schedulerImage=f"registry.k8s.io/kube-scheduler:{release.version}", unsupportedConfigOverrides=overrides)
        scheduler.rest()
        return scheduler

    yield make
    for scheduler in made:
        scheduler.delete()


@pytest.fixture
def gang(kubectl, namespace):
    """Create a PodGroup and its pods, each with a part of a node's CPU."""

    def create(scheduler, name, size, cpu):
        about = {"name": name, "namespace": namespace}
        kubectl.apply(
            {"apiVersion": API, "kind": "PodGroup", "metadata": about, "spec": {"schedulingPolicy": {"gang": {"minCount": size}}}}
        )
        spec = {
            "schedulerName": scheduler.scheduler_name,
            "schedulingGroup": {"podGroupName": name},
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "c", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": {"cpu": cpu}}}],
        }
        kubectl.apply(
            *(
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": f"{name}-{number}", "namespace": namespace, "labels": {"gang": name}},
                    "spec": spec,
                }
                for number in range(size)
            )
        )

    return create


@pytest.fixture
def bound(kubectl, namespace):
    """How many pods of a gang have a node."""
    return lambda name: sum("nodeName" in pod["spec"] for pod in kubectl.list("pod", namespace, f"gang={name}"))


@pytest.fixture
def initially_scheduled(kubectl, namespace):
    """Status and message of a PodGroup's condition."""

    def condition(name):
        status = kubectl.json("get", "podgroups.scheduling.k8s.io", name, f"--namespace={namespace}").get("status") or {}
        found = [one for one in status.get("conditions", []) if one["type"] == "PodGroupInitiallyScheduled"]
        return (found[0]["status"], found[0]["message"]) if found else None

    return condition


def test_a_gang_runs_together_or_not_at_all(gang_scheduler, gang, bound, initially_scheduled, module_result, namespace):
    scheduler = gang_scheduler(**GATE)
    assert scheduler.condition("ConfigValid")[2].startswith("Checked for Kubernetes 1.37"), scheduler.condition("ConfigValid")
    gang(scheduler, "fits", 5, "10m")
    eventually(lambda: bound("fits") == 5)
    gang(scheduler, "too-big", 50, "500m")
    eventually(lambda: (initially_scheduled("too-big") or ("",))[0] == "False")
    assert bound("too-big") == 0

    def explained():
        found = module_result("scheduler_info", {"gather": ["pending"], "scheduler_name": scheduler.scheduler_name})["pending_pods"]
        return ["minCount (50)" in pod["reason"] for pod in found] == [True] * 50

    eventually(explained)
    assert bound("too-big") == 0


def test_two_gangs_that_compete_do_not_block_each_other(gang_scheduler, gang, bound, kubectl, namespace):
    """The nodes have room for one of them: each has pods for more than half of it."""
    scheduler = gang_scheduler(**GATE)
    nodes = kubectl.json("get", "nodes")["items"]
    size = sum(int(node["status"]["allocatable"]["cpu"]) for node in nodes)
    for name in ("first", "second"):
        gang(scheduler, name, size, "600m")
    eventually(lambda: sorted([bound("first"), bound("second")]) == [0, size])
    winner = "first" if bound("first") else "second"
    loser = "second" if winner == "first" else "first"
    kubectl("delete", "pods", f"--selector=gang={winner}", f"--namespace={namespace}")
    eventually(lambda: bound(loser) == size)


def test_a_scheduler_without_the_feature_gate_is_reported(gang_scheduler):
    scheduler = gang_scheduler()
    assert (
        "without the feature gate GenericWorkload, GangScheduling keeps the pods of every PodGroup pending"
        in scheduler.condition("ConfigValid")[2]
    )
