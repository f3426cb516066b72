# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A situation in which three schedulers choose three different nodes, and the placing of pods by each of them.

The default scheduler goes by what pods request, TargetLoadPacking by the average of the measured load, LoadVariationRiskBalancing by that
and by how much it varies.
"""

from __future__ import annotations

import uuid
from pathlib import Path

from .monitoring import Load
from .scheduler import Scheduler, eventually

VARIABLES = Path(__file__).parents[1] / "demo/load-aware.yml"
DEFAULT, PACKING, BALANCING = "default-scheduler", "target-load-packing", "load-variation"
IMAGE = "registry.k8s.io/pause:3.10"

# Least requested, and nearly full: the choice of who looks at requests alone.
FULL = Load(0.9)
# Below the target of 70 percent, and next to it: the choice of TargetLoadPacking. It varies much.
FILLING = Load(0.5, swing=0.4)
# Low and steady: the choice of LoadVariationRiskBalancing.
QUIET = Load(0.2)


def pod(name: str, namespace: str, scheduler: str = DEFAULT, cpu: str = "1m", **spec) -> dict:
    """A pod that does nothing. It requests CPU in any case: TargetLoadPacking takes one that doesn't for one that uses two cores."""
    container = {"name": "pause", "image": IMAGE, "resources": {"requests": {"cpu": cpu, "memory": "1Mi"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"placed-by": scheduler}},
        "spec": {"schedulerName": scheduler, "terminationGracePeriodSeconds": 0, "containers": [container], **spec},
    }


def reserve(kubectl, namespace: str, *nodes: str, memory: str = "8Gi") -> None:
    """Have pods request memory on these nodes, so that the default scheduler prefers the others.

    No CPU: TargetLoadPacking would take that for load that Prometheus has not measured yet.
    """
    pods = [pod(f"reserved-{node}", namespace, nodeName=node) for node in nodes]
    for item in pods:
        item["spec"]["containers"][0]["resources"]["requests"]["memory"] = memory
    kubectl.apply(*pods)


def place(kubectl, namespace: str, *schedulers: str, count: int = 4) -> dict[str, list[str]]:
    """Have each scheduler place so many pods, and return the nodes it has chosen; the pods are deleted again."""
    mark = uuid.uuid4().hex[:6]
    kubectl.apply(*(pod(f"{scheduler}-{mark}-{number}", namespace, scheduler) for scheduler in schedulers for number in range(count)))

    def placed():
        """every pod has a node"""
        nodes = {
            scheduler: [
                item["spec"].get("nodeName", "")
                for item in kubectl.list("pod", namespace, f"placed-by={scheduler}")
                if mark in item["metadata"]["name"]
            ]
            for scheduler in schedulers
        }
        return nodes if all(all(found) for found in nodes.values()) else None

    chosen = eventually(placed)
    for scheduler in schedulers:
        names = [f"{scheduler}-{mark}-{number}" for number in range(count)]
        kubectl("delete", "pod", *names, f"--namespace={namespace}", "--wait=false")
    return chosen


def ask_again(kubectl, *names: str) -> None:
    """Restart schedulers: that is when they ask Prometheus at once, and not within the next one and a half minutes."""
    schedulers = [Scheduler(kubectl, name) for name in names]
    before = {pod["metadata"]["uid"] for scheduler in schedulers for pod in scheduler.serving_pods()}
    for scheduler in schedulers:
        kubectl("delete", "pod", f"--selector=app={scheduler.workload}", f"--namespace={scheduler.namespace}", "--wait=false")

    def restarted():
        """new pods of the schedulers serve"""
        return all({pod["metadata"]["uid"] for pod in scheduler.serving_pods()} - before for scheduler in schedulers)

    eventually(restarted)


def away(kubectl) -> None:
    """Delete both schedulers, where they are."""
    for name in (PACKING, BALANCING):
        if (scheduler := Scheduler(kubectl, name)).resource:
            scheduler.delete()
