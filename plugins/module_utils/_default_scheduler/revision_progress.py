# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How far OpenShift's kube-scheduler operator is with a new revision of the default scheduler."""

from __future__ import annotations

from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import complaint, conditions_of, find
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object


def evaluate(cluster_operator: dict[str, Any] | None, kube_scheduler: dict[str, Any], after_revision: int = 0) -> dict[str, Any]:
    """``complete`` (bool), ``failing`` (text, empty if nothing is), ``message`` (one line), ``revision`` and ``nodes``.

    Complete is: the ClusterOperator is available, neither progressing nor degraded, every node runs the latest revision, and that is later
    than ``after_revision``. Until the operator has created a revision for a change, all other values still report success.
    """
    status = kube_scheduler.get("status") or {}
    latest = status.get("latestAvailableRevision") or 0
    nodes = [_node(one) for one in status.get("nodeStatuses") or []]
    behind = [node for node in nodes if node["revision"] != latest]
    waiting = [
        text
        for text, holds in (
            (f"no revision after {after_revision} yet", latest <= after_revision),
            ("no node is known yet", not nodes),
            (f"revision {latest} is on {len(nodes) - len(behind)} of {len(nodes)} nodes{_under_way(nodes)}", behind),
        )
        if holds
    ]
    if cluster_operator is None:
        waiting.append("there is no ClusterOperator kube-scheduler")
    else:
        waiting += [
            _message_of(cluster_operator, kind, is_now)
            for kind, wanted in (("Available", "True"), ("Progressing", "False"), ("Degraded", "False"))
            if (is_now := find(cluster_operator, kind).get("status", "Unknown")) != wanted
        ]
    failing = _failing(cluster_operator, kube_scheduler, behind, latest)
    return {
        "complete": not waiting,
        "failing": failing,
        "message": "; ".join(waiting) if waiting else f"revision {latest} is on all {len(nodes)} nodes",
        "revision": latest,
        "nodes": nodes,
    }


def degraded_reasons(resource: dict[str, Any] | None) -> list[str]:
    """What the conditions of a ClusterOperator or KubeScheduler complain about."""
    return [
        complaint(one["type"], one.get("reason") or "", (one.get("message") or "").strip())
        for one in conditions_of(resource)
        if one["type"].endswith("Degraded") and one["status"] == "True"
    ]


def conditions(resource: dict[str, Any] | None) -> dict[str, str]:
    """By type the status of each condition."""
    return {one["type"]: one["status"] for one in conditions_of(resource)}


def _failing(cluster_operator: Object | None, kube_scheduler: Object, behind: list[dict[str, Any]], latest: int) -> str:
    for node in behind:
        if node["failed_revision"] == latest and latest:
            return f"{node['name']} could not be updated to revision {latest}: {node['failure'] or 'no reason given'}"
    if find(kube_scheduler, "TargetConfigControllerDegraded").get("status") == "True":
        # Its configuration cannot be made: no waiting helps.
        return _message_of(kube_scheduler, "TargetConfigControllerDegraded", "True")
    if find(cluster_operator, "Degraded").get("status") == "True":
        return _message_of(cluster_operator, "Degraded", "True")
    return ""


def _node(status: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": status["nodeName"],
        "revision": status.get("currentRevision") or 0,
        "target": status.get("targetRevision") or 0,
        "failed_revision": status.get("lastFailedRevision") or 0,
        "failure": "; ".join(status.get("lastFailedRevisionErrors") or []) or status.get("lastFailedReason", ""),
    }


def _under_way(nodes: list[dict[str, Any]]) -> str:
    changing = [f"{node['name']} is getting {node['target']} after {node['revision']}" for node in nodes if node["target"]]
    return ", " + ", ".join(changing) if changing else ""


def _message_of(resource: Object | None, kind: str, is_now: str) -> str:
    found = find(resource, kind)
    text = f"{kind} is {is_now}"
    if found.get("reason") not in (None, "", "AsExpected"):
        text += f" ({found['reason']})"
    return f"{text}: {found['message'].strip()}" if found.get("message") else text
