# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How many pods each scheduler placed in each namespace, and how they fared."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.placements import placements

CREATED = "2026-11-20T12:00:00Z"


def pod(namespace, scheduler, second=None, unschedulable=False, kind=None, annotations=None, **status):
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable" if unschedulable else "SchedulingGated"}
    if second is not None:
        condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": f"2026-11-20T12:00:{second:02}Z"}
    owners = [{"kind": kind, "name": "o", "controller": True}] if kind else []
    return {
        "metadata": {"namespace": namespace, "creationTimestamp": CREATED, "ownerReferences": owners, "annotations": annotations},
        "spec": {"schedulerName": scheduler, **({} if second is None else {"nodeName": "n"})},
        "status": {"phase": "Running" if second is not None else "Pending", "conditions": [condition], **status},
    }


PODS = [
    pod("a", "batch", 1),
    pod("a", "batch", 3),
    pod("a", "batch", 10, phase="Failed", reason="OutOfcpu"),
    pod("a", "batch", unschedulable=True),
    pod("a", "default-scheduler", 2, phase="Failed", reason="Evicted"),
    pod("a", "default-scheduler", kind="DaemonSet", second=1),
    pod("a", "default-scheduler", second=1, annotations={"kubernetes.io/config.mirror": "x"}),
    pod("b", "default-scheduler"),
    {"metadata": {"namespace": "b", "creationTimestamp": CREATED}, "spec": {"schedulerName": "default-scheduler"}},
]


def test_pods_are_counted_by_namespace_and_scheduler():
    batch = {"namespace": "a", "scheduler_name": "batch", "pods": 4, "placed": 3, "unschedulable": 1, "failed": 1, "rejected": 1}
    batch["wait_seconds"] = {"median": 3, "max": 10}
    default = {
        "namespace": "a",
        "scheduler_name": "default-scheduler",
        "pods": 1,
        "placed": 1,
        "unschedulable": 0,
        "failed": 1,
        "rejected": 0,
    }
    default["wait_seconds"] = {"median": 2, "max": 2}
    waiting = {
        "namespace": "b",
        "scheduler_name": "default-scheduler",
        "pods": 2,
        "placed": 0,
        "unschedulable": 0,
        "failed": 0,
        "rejected": 0,
    }
    waiting["wait_seconds"] = None
    assert placements(PODS) == [batch, default, waiting]
    assert placements(PODS, "batch") == [batch, default]
    assert placements(PODS, "other") == []
