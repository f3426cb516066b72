# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How many pods each scheduler placed in each namespace, and how they fared. Pure: no requests."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import find
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.collisions import is_rejected
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pending_pods import owner

MIRROR_ANNOTATION = "kubernetes.io/config.mirror"


def placements(pods: Iterable[Object], scheduler_name: str | None = None) -> list[dict[str, Any]]:
    """The pods in groups of namespace and schedulerName, without those of DaemonSets and static pods, which no policy routes.

    With ``scheduler_name``, only the namespaces in which this scheduler has pods, with the other schedulers there. ``wait_seconds`` is None where no
    pod of the group has a node.
    """
    groups: dict[tuple[str, str], list[Object]] = {}
    for pod in pods:
        if not owner(pod).startswith("DaemonSet/") and MIRROR_ANNOTATION not in (pod["metadata"].get("annotations") or {}):
            groups.setdefault((pod["metadata"]["namespace"], pod["spec"]["schedulerName"]), []).append(pod)
    namespaces = {namespace for namespace, name in groups if scheduler_name in (None, name)}
    return [_group(namespace, name, those) for (namespace, name), those in sorted(groups.items()) if namespace in namespaces]


def _group(namespace: str, name: str, pods: Sequence[Object]) -> dict[str, Any]:
    scheduled = [(pod, find(pod, "PodScheduled")) for pod in pods]
    waits = [
        timestamps.seconds_between(pod["metadata"]["creationTimestamp"], one["lastTransitionTime"])
        for pod, one in scheduled
        if one.get("status") == "True" and one.get("lastTransitionTime")
    ]
    return {
        "namespace": namespace,
        "scheduler_name": name,
        "pods": len(pods),
        "placed": sum(1 for pod in pods if pod["spec"].get("nodeName")),
        "unschedulable": sum(1 for _pod, one in scheduled if one.get("status") == "False" and one.get("reason") == "Unschedulable"),
        "failed": sum(1 for pod in pods if (pod.get("status") or {}).get("phase") == "Failed"),
        "rejected": sum(1 for pod in pods if is_rejected(pod)),
        "wait_seconds": {"median": int(statistics.median(waits)), "max": int(max(waits))} if waits else None,
    }
