# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why pods have no node, and which schedulers get in each other's way. Pure: no requests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import conditions, timestamps

PATIENCE = 30
"""Seconds after which a pod is reported that its scheduler has not looked at."""

_GATED = "SchedulingGated"
"""The reason of the condition PodScheduled that the API server writes for a pod with scheduling gates. No scheduler has seen that pod."""

_BY_HASH = "pod-template-hash"
_OF_CRON_JOB, _RECENT = re.compile(r"(.+)-([0-9]{8})"), 30 * 24 * 3600
"""The name of a Job that a CronJob created: the CronJob's, and the scheduled time in minutes since 1970. The pod is not much younger (seconds)."""
GROUP = "schedulingGroup"
_OLD_GROUP = "workloadRef"
"""Fields of a pod by which it belongs to a group, with the gate GenericWorkload: since Kubernetes 1.36, and of 1.35 (KEP-4671)."""

PodGroups = Mapping[tuple[str, str], str]
"""Namespace and name of each PodGroup, and what its scheduler reports of it: empty if nothing."""


class Claims(NamedTuple):
    """The ResourceClaims of a cluster: namespace and name. known: whether they could be listed."""

    existing: frozenset[tuple[str, str]] = frozenset()
    being_deleted: frozenset[tuple[str, str]] = frozenset()
    known: bool = True


def why_unserved(
    pod: Mapping[str, Any], schedulers: Sequence[Mapping[str, Any]], seconds: int, complete: bool = True, claims: Claims | None = None
) -> str | None:
    """Why no scheduler looks after a pod without a node. Empty if one does, or if the pod is not to be scheduled yet; None if that is unknown.

    seconds: how long ago the pod was changed. complete: whether Deployments of all namespaces were searched.
    """
    spec = pod["spec"]
    name = spec["schedulerName"]
    if pod["metadata"].get("deletionTimestamp") or spec.get("schedulingGates"):
        return ""
    reported = _reported(pod)
    candidates = [scheduler for scheduler in schedulers if name in scheduler["scheduler_names"]]
    if not candidates:
        if not reported:
            if complete:
                return f"no running scheduler has the name {name}"
            return f"no scheduler with the name {name} was found in the namespaces that were searched, and none has reported on the pod"
        # A condition outlives the scheduler that wrote it.
        return f"no running scheduler has the name {name} any more; the last one reported: {reported}" if complete else None
    if all(scheduler["serving"] is False for scheduler in candidates):
        told = "; ".join(
            f"{scheduler['kind']} {scheduler['namespace']}/{scheduler['name']}: {scheduler['message']}" for scheduler in candidates
        )
        return f"the scheduler with the name {name} is not available: {told}"
    if not reported and seconds >= PATIENCE and not why_queued(pod, claims):
        # Without the seconds of this pod: pods with the same reason are one group.
        return f"the scheduler with the name {name} seems to be available but has not processed the pod for at least {PATIENCE} s"
    return ""


def pod_groups(found: Sequence[Mapping[str, Any]]) -> PodGroups:
    """What is known of these PodGroups (scheduling.k8s.io). One whose pods were placed once is not reported: they are scheduled again one by one."""
    said = {}
    for group in found:
        condition = conditions.find(group, "PodGroupInitiallyScheduled") or {}
        told = [condition.get("reason"), condition.get("message")] if condition.get("status") == "False" else []
        said[(group["metadata"]["namespace"], group["metadata"]["name"])] = ": ".join(filter(None, told))
    return said


def why_pending(pod: Mapping[str, Any], claims: Claims | None = None, groups: PodGroups | None = None) -> str:
    """Why a pod that a scheduler looks after has no node yet, in that scheduler's words where it has reported something."""
    if pod["metadata"].get("deletionTimestamp"):
        return "it is being deleted"
    gates = ", ".join(gate["name"] for gate in pod["spec"].get("schedulingGates") or [])
    if gates:
        return f"it waits at the scheduling gates {gates}"
    reported = _reported(pod)
    node = (pod.get("status") or {}).get("nominatedNodeName")
    if node:
        # Since 1.35 kube-scheduler nominates a node also while a plugin delays the binding (NominatedNodeNameForExpectation).
        waits = (
            f"it is nominated for the node {node}: it waits for preempted pods to end, or for other pods of its group, a volume or a device"
        )
        return f"{waits}; before, its scheduler reported: {reported}" if reported else waits
    if not reported:
        return why_queued(pod, claims, groups) or "its scheduler has not processed it yet"
    name, of_group = _group_report(pod, groups)
    # kube-scheduler repeats the report in the condition of most pods of the group.
    repeated = not of_group or of_group in reported or reported in of_group
    return reported if repeated else f"{reported}; of the PodGroup {name} its scheduler reports: {of_group}"


def why_queued(pod: Mapping[str, Any], claims: Claims | None = None, groups: PodGroups | None = None) -> str:
    """Why kube-scheduler leaves a pod in its queue without an attempt and without a condition (plugins at preEnqueue); empty if not known.

    Sources: PreEnqueue of the plugins dynamicresources and gangscheduling in kubernetes/kubernetes, pkg/scheduler/framework/plugins.
    """
    waits_for = [
        text for text in (_lacks(pod, entry, claims or Claims(known=False)) for entry in pod["spec"].get("resourceClaims") or []) if text
    ]
    waits_for += filter(None, [_group(pod, groups)])
    return f"it waits in the queue of its scheduler for {', and for '.join(waits_for)}" if waits_for else ""


def _group(pod: Mapping[str, Any], groups: PodGroups | None) -> str:
    """What a pod of a group waits for, empty if it is in none."""
    name, reported = _group_report(pod, groups)
    if not name:
        return "the other pods of its group" if pod["spec"].get(GROUP) or pod["spec"].get(_OLD_GROUP) else ""
    if reported is None:
        return f"the PodGroup {name}, which does not exist"
    return f"the other pods of its PodGroup {name}" + (f", of which its scheduler reports: {reported}" if reported else "")


def _group_report(pod: Mapping[str, Any], groups: PodGroups | None) -> tuple[str, str | None]:
    """The name of a pod's PodGroup, empty if it has none, and what its scheduler reports of it: None if the PodGroup does not exist."""
    name = (pod["spec"].get(GROUP) or {}).get("podGroupName", "")
    if not name or groups is None:
        return name, ""
    return name, groups.get((pod["metadata"].get("namespace", ""), name))


def _lacks(pod: Mapping[str, Any], entry: Mapping[str, Any], claims: Claims) -> str:
    """The missing part of one of a pod's ``spec.resourceClaims``, empty if it is complete."""
    made = {one["name"]: one.get("resourceClaimName") for one in (pod.get("status") or {}).get("resourceClaimStatuses") or []}
    name = entry.get("resourceClaimName") or made.get(entry["name"])
    if not name:
        template = entry.get("resourceClaimTemplateName")
        return "" if entry["name"] in made else f"the ResourceClaim of its ResourceClaimTemplate {template}, which is not created yet"
    key = (pod["metadata"].get("namespace", ""), name)
    if not claims.known:
        return f"the ResourceClaim {name}, which can't be read"
    if key in claims.being_deleted:
        return f"the ResourceClaim {name}, which is being deleted"
    return "" if key in claims.existing else f"the ResourceClaim {name}, which does not exist"


def _reported(pod: Mapping[str, Any]) -> str:
    """What a scheduler has reported of a pod, empty if none has."""
    found = conditions.find(pod, "PodScheduled")
    if not found or found.get("reason") == _GATED:
        return ""
    return ": ".join(filter(None, [found.get("reason"), found.get("message")])) or "PodScheduled is False"


def owner(pod: Mapping[str, Any]) -> str:
    """Kind and name of what makes pods like this one; empty for a pod that stands alone."""
    metadata = pod["metadata"]
    controller = next((one for one in metadata.get("ownerReferences") or [] if one.get("controller")), None)
    if controller is None:
        return ""
    kind, name = controller["kind"], controller["name"]
    suffix = f"-{(metadata.get('labels') or {}).get(_BY_HASH) or ''}"
    if kind == "ReplicaSet" and len(suffix) > 1 and name.endswith(suffix):
        return f"Deployment/{name[: -len(suffix)]}"
    scheduled = _OF_CRON_JOB.fullmatch(name)
    if kind == "Job" and scheduled and _is_recent(int(scheduled[2]) * 60, metadata.get("creationTimestamp")):
        return f"CronJob/{scheduled[1]}"
    return f"{kind}/{name}"


def _is_recent(seconds: int, created: str | None) -> bool:
    """Is a moment, in seconds since 1970, close to the creation of a pod? A Job of another origin may end in a number, too."""
    try:
        return abs(timestamps.parse(created).timestamp() - seconds) < _RECENT
    except ValueError:
        return False


def groups(pending: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Pending pods, in the form that the module returns, in groups of the same scheduler, namespace, owner and reason, in the same order."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for entry in pending:
        shared = {key: entry[key] for key in ("scheduler_name", "namespace", "owner", "served", "reason")}
        # Pods that stand alone have nothing in common but by chance.
        key = (*shared.values(), "" if entry["owner"] else entry["name"])
        group = found.setdefault(key, {**shared, "pods": 0, "name": entry["name"], "pending_seconds": entry["pending_seconds"]})
        group["pods"] += 1
        if entry["pending_seconds"] > group["pending_seconds"]:
            group.update(name=entry["name"], pending_seconds=entry["pending_seconds"])
    return list(found.values())


def conflicts(schedulers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The schedulerNames under which more than one process places pods now: ``scheduler_name``, ``schedulers`` and ``message``.

    Those that elect one leader by the same Lease are one scheduler.
    """
    found = []
    for name in dict.fromkeys(name for scheduler in schedulers for name in scheduler["scheduler_names"]):
        users = [scheduler for scheduler in schedulers if name in scheduler["scheduler_names"] and scheduler["serving"]]
        places = [f"{scheduler['kind']} {scheduler['namespace']}/{scheduler['name']}" for scheduler in users]
        if len({_leadership(scheduler) for scheduler in users}) > 1:
            message = f"{' and '.join(places)} place the same pods and do not see each other's decisions: give each its own schedulerName"
            found.append({"scheduler_name": name, "schedulers": places, "message": message})
        else:
            found += [
                {
                    "scheduler_name": name,
                    "schedulers": [place],
                    "message": f"{scheduler['ready']} instances of {place} place the same pods without leader election: enable leaderElection.leaderElect",
                }
                for place, scheduler in zip(places, users)
                if scheduler["elects"] is False and (scheduler["ready"] or 0) > 1
            ]
    return found


def conflicts_of_workloads(schedulers: Sequence[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    """The conflicts of several workloads about one schedulerName."""
    return [one for one in conflicts(schedulers) if one["scheduler_name"] == name and len(one["schedulers"]) > 1]


def _leadership(scheduler: Mapping[str, Any]) -> tuple[str, ...]:
    leader = scheduler["leader"]
    if leader:
        return leader["namespace"], leader["lease"]
    return scheduler["kind"], scheduler["namespace"], scheduler["name"]
