# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Moving workloads to a scheduler and back: the required writes, and the schedulers that then placed the pods. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import DEFAULT_SCHEDULER_NAME
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.protected_workloads import TEMPLATES, refusal

PREVIOUS = "osso.scheduler/previous-scheduler-name"
"""Annotation of a workload: the schedulerName that it had before it was moved."""
MOVED_TO = "osso.scheduler/moved-to-scheduler-name"
"""The annotation with the name that was set, to notice that someone has set another one since."""


def plan(workloads: Iterable[Object], found: Iterable[Object], scheduler_name: str = "", undo: bool = False) -> dict[str, Any]:
    """What is to be done for ``workloads``, each with ``kind``, ``namespace``, ``name``, of which ``found`` are there.

    - ``refused``: sentences; nothing may be written while there are any
    - ``patches``: a manifest for each workload that is to be changed, with nothing but what changes
    - ``moved``: the same workloads as ``kind``, ``namespace``, ``name``, ``before``, ``after``
    - ``rollouts``: those of them whose pods are replaced now, as ``api_version``, ``kind``, ``namespace``, ``name``
    - ``verify``: these and those that an earlier run has moved, for it may have failed after its change
    - ``held``: sentences about those whose pods are not replaced
    """
    live = {(one["kind"], one["metadata"]["namespace"], one["metadata"]["name"]): one for one in found}
    result: dict[str, Any] = {"refused": [], "patches": [], "moved": [], "rollouts": [], "verify": [], "held": []}
    for workload in workloads:
        kind, namespace, name = (str(workload.get(key) or "") for key in ("kind", "namespace", "name"))
        where = f"{kind} {namespace}/{name}"
        if not (kind and namespace and name):
            result["refused"].append(f"{dict(workload)}: give kind, namespace and name of each workload.")
            continue
        present = live.get((kind, namespace, name))
        why = refusal(kind, namespace, present)
        if not why and present is None:
            why = "it does not exist"
        if why or present is None:
            result["refused"].append(f"{where}: {why}.")
        else:
            _change(result, present, where, scheduler_name, undo)
    return result


def placements(
    workloads: Iterable[Object], pods: Iterable[Object], events: Iterable[Object], moved: Iterable[Object] | None = None
) -> list[dict[str, Any]]:
    """Each pod of the ``workloads`` (as they are in the cluster): ``workload``, ``pod``, ``node``, ``scheduler_name``, ``placed_by``, ``as_wanted``.

    ``events``: those of the reason Scheduled. ``placed_by`` is empty where there is none, for events expire.
    ``moved``: workloads, each with ``kind``, ``namespace``, ``name``, whose pods are new, so that each must have its event; None for all.
    """
    renewed = None if moved is None else {(one["kind"], one["namespace"], one["name"]) for one in moved}
    by_uid = {}
    for event in events:
        about = event.get("regarding") or event.get("involvedObject") or {}
        who = event.get("reportingComponent") or event.get("reportingController") or (event.get("source") or {}).get("component") or ""
        by_uid[about.get("uid")] = who
    pods, found = list(pods), []
    for workload in workloads:
        metadata, labels = workload["metadata"], (workload["spec"].get("selector") or {}).get("matchLabels") or {}
        wanted = _template(workload).get("schedulerName") or DEFAULT_SCHEDULER_NAME
        told = (wanted,) if renewed is None or (workload["kind"], metadata["namespace"], metadata["name"]) in renewed else (wanted, "")
        for pod in pods:
            about = pod["metadata"]
            if about["namespace"] != metadata["namespace"] or not labels or not _carries(about, labels):
                continue
            if about.get("deletionTimestamp") or (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
                continue
            name, node = pod["spec"].get("schedulerName"), pod["spec"].get("nodeName") or ""
            placed_by = by_uid.get(about["uid"], "")
            found.append(
                {
                    "workload": f"{workload['kind']} {metadata['namespace']}/{metadata['name']}",
                    "pod": about["name"],
                    "node": node,
                    "scheduler_name": name,
                    "placed_by": placed_by,
                    "as_wanted": name == wanted and placed_by in told and bool(node),
                }
            )
    return found


def _change(result: dict[str, Any], present: Object, where: str, scheduler_name: str, undo: bool) -> None:
    kind, metadata = present["kind"], present["metadata"]
    about = {"kind": kind, "namespace": metadata["namespace"], "name": metadata["name"]}
    before = _template(present).get("schedulerName") or DEFAULT_SCHEDULER_NAME
    annotations = metadata.get("annotations") or {}
    remembered, moved_to = annotations.get(PREVIOUS), annotations.get(MOVED_TO)
    if undo and remembered is None:
        return  # nothing was moved, or it was moved back
    if remembered is not None and moved_to not in (None, before):
        # Someone has chosen another scheduler since.
        remembered = None
        if undo:
            gone = {"name": about["name"], "namespace": about["namespace"], "annotations": {PREVIOUS: None, MOVED_TO: None}}
            result["patches"].append({"apiVersion": present["apiVersion"], "kind": kind, "metadata": gone})
            result["held"].append(f"{where}: its schedulerName was changed to {before} since it was moved to {moved_to}, and stays.")
            return
    after = remembered if undo else scheduler_name
    if before == after and not undo:
        if remembered is not None:
            _follow(result, present, where, ("verify",))
        return
    spec: dict[str, Any] = {"schedulerName": after}
    for step in reversed(TEMPLATES[kind]):
        spec = {step: spec}
    # Null takes the annotation away. The first name stays remembered through several moves.
    notes = {PREVIOUS: None if undo else remembered or before, MOVED_TO: None if undo else after}
    metadata = {"name": about["name"], "namespace": about["namespace"], "annotations": notes}
    result["patches"].append({"apiVersion": present["apiVersion"], "kind": kind, "metadata": metadata, **spec})
    result["moved"].append({**about, "before": before, "after": after})
    if before != after:
        _follow(result, present, where, ("rollouts", "verify"))


def _follow(result: dict[str, Any], present: Object, where: str, lists: Iterable[str]) -> None:
    """Add a workload to these lists of its pods, or return why they are not replaced."""
    held = _held(present)
    if held:
        result["held"].append(f"{where}: {held}.")
        return
    about = {key: present["metadata"][key] for key in ("namespace", "name")}
    for one in lists:
        result[one].append({"api_version": present["apiVersion"], "kind": present["kind"], **about})


def _held(present: Object) -> str:
    """Why the pods are not replaced at once, empty if they are."""
    spec = present["spec"]
    if present["kind"] == "CronJob":
        return "the jobs that begin from now on are placed so, those that run stay as they are"
    if spec.get("paused"):
        return "its rollout is paused, so its pods stay as they are until it is resumed"
    strategy = spec.get("updateStrategy") or {}
    if strategy.get("type") == "OnDelete":
        return "its updateStrategy is OnDelete, so each pod stays unchanged until it is deleted"
    partition = (strategy.get("rollingUpdate") or {}).get("partition") or 0
    if present["kind"] == "StatefulSet" and partition > 0:
        return f"its updateStrategy has the partition {partition}, so the pods with a lower number stay as they are until it is 0"
    return ""


def _carries(metadata: Object, labels: Mapping[str, str]) -> bool:
    present = metadata.get("labels") or {}
    return all(present.get(key) == value for key, value in labels.items())


def _template(present: Object) -> Object:
    for step in TEMPLATES[present["kind"]]:
        present = present.get(step) or {}
    return present
