# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The effect of a candidate: pods, nodes and a summary, before and after. Pure."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import resource_accounting
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.dump_parser import Resources
from ansible_collections.osso.scheduler.plugins.module_utils._preview.sandbox import Key, key_of
from ansible_collections.osso.scheduler.plugins.module_utils._preview.scheduler_process import Scores
from ansible_collections.osso.scheduler.plugins.module_utils._preview.simulation import HEADROOM, REPLACE, Placement, Run, Scene

SAME, MOVED, TIE, UNSCHEDULABLE, PREEMPTS, NOT_COMPARED = "same", "moved", "tie", "unschedulable", "preempts", "not compared"
MAX_SCORED = 500
"""Pods for which ties are determined."""
_NAMED = 10


class Outcome(NamedTuple):
    """What a preview ran.

    baseline: None if the reference is the present node of each pod. scores: of the nodes before and after. skipped: pods that were not offered, with
    the reason. load: the NodeMetrics and PodMetrics of the snapshot.
    """

    scene: Scene
    pods: Sequence[Object]
    nodes: Sequence[Object]
    candidate: Run
    baseline: Run | None
    ties: Mapping[Key, set[str]]
    scores: Mapping[Key, Mapping[str, Scores]]
    skipped: Mapping[Key, str]
    load: Sequence[Object] = ()

    def reference(self, pod: Object) -> str:
        """The node that the candidate's node is compared with, empty if there is none."""
        return reference(pod, self.baseline)


def reference(pod: Object, baseline: Run | None) -> str:
    if baseline is None:
        return str(pod["spec"].get("nodeName") or "")
    return baseline.placements.get(key_of(pod), Placement()).node


def scored(scene: Scene, candidate: Run, baseline: Run | None, every: bool = False, limited: bool = False) -> list[Key]:
    """The pods whose scores are to be read: with a node that is not that of the reference, perhaps only because several nodes have the same score.

    every: then also the pods with the same node. limited: whether a limit needs to know of all pods that moved.
    """
    if scene.mode == HEADROOM:
        return []
    changed: list[Key] = []
    same: list[Key] = []
    for pod in scene.offered:
        placement, node = candidate.placements[key_of(pod)], reference(pod, baseline)
        if placement.node and not placement.victims:
            (same if placement.node == node else changed).append(key_of(pod))
    return [*changed, *(same if every else [])][: max(MAX_SCORED, len(changed) if limited else 0)]


def report(outcome: Outcome) -> dict[str, Any]:
    """pods, nodes, summary and headroom, as the module returns them."""
    rows = [_pod(outcome, pod) for pod in outcome.scene.offered if key_of(pod) in outcome.candidate.placements]
    rows += [
        _row(pod, outcome.reference(pod), "", NOT_COMPARED, outcome.skipped[key_of(pod)])
        for pod in outcome.pods
        if key_of(pod) in outcome.skipped
    ]
    nodes = _nodes(outcome)
    headroom = None
    if outcome.scene.mode == HEADROOM:
        headroom, rows = _headroom(outcome), []
    return {"pods": rows, "nodes": nodes, "summary": _summary(outcome, rows, nodes), "headroom": headroom}


def exceeded(
    summary: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], unschedulable: int | None, moved_percent: float | None
) -> list[str]:
    """The limits that a preview is beyond, each as a sentence that names pods.

    With the limit of moved pods, ties of all of them have to be known (`scored`).
    """
    found, lost = [], summary["lost"]
    if unschedulable is not None and len(lost) > unschedulable:
        found.append(f"{counted(len(lost))} would have no node, the limit is {unschedulable}: {_names(lost)}.")
    if moved_percent is not None and summary["moved_percent"] > moved_percent:
        names = _names([_name(row) for row in rows if row["status"] == MOVED and row["before"]])
        found.append(f"{summary['moved_percent']} % of the pods would be on another node, the limit is {moved_percent} %: {names}.")
    return found


def counted(pods: int) -> str:
    """A number of pods, in words for a message."""
    return f"{pods} pod{'' if pods == 1 else 's'}"


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['namespace']}/{row['name']}"


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _pod(outcome: Outcome, pod: Object) -> dict[str, Any]:
    key, before = key_of(pod), outcome.reference(pod)
    placement = outcome.candidate.placements[key]
    if not placement.processed:
        status = UNSCHEDULABLE if before else NOT_COMPARED
        reason = "the scheduler did not process it, such as a pod that waits for other pods of its group"
    elif placement.victims:
        status, reason = PREEMPTS, "preempts " + ", ".join("/".join(victim) for victim in placement.victims)
    elif not placement.node:
        status, reason = UNSCHEDULABLE, placement.reason
    elif placement.node == before:
        status, reason = SAME, ""
    elif not before:
        equal = len(outcome.ties.get(key, ()))
        status, reason = MOVED, "it had no node" + (f"; {equal} nodes have the same score" if equal > 1 else "")
    elif key not in outcome.ties:
        status, reason = NOT_COMPARED, f"more than {MAX_SCORED} pods are on another node; for the others ties are not determined"
    elif before in outcome.ties[key]:
        status, reason = TIE, f"{len(outcome.ties[key])} nodes have the same score; the scheduler chooses one at random"
    else:
        status, reason = MOVED, f"{before} is not among the nodes with the highest score"
    scores = {name: {"total": one.total, "plugins": one.plugins} for name, one in outcome.scores.get(key, {}).items()}
    return {**_row(pod, before, placement.node, status, reason), "ties": sorted(outcome.ties.get(key, ())), "scores": scores}


def _row(pod: Object, before: str, node: str, status: str, reason: str) -> dict[str, Any]:
    namespace, name = key_of(pod)
    current = pod["spec"].get("nodeName") or ""
    about = {"namespace": namespace, "name": name, "current": current, "before": before, "node": node}
    return {**about, "status": status, "reason": reason, "ties": [], "scores": {}}


def _places(outcome: Outcome, run: Run | None) -> dict[Key, str]:
    """The node of each pod after a run, or at present."""
    places = {key_of(pod): str(pod["spec"].get("nodeName") or "") for pod in outcome.pods}
    if run is not None:
        if outcome.scene.mode != REPLACE:
            places.update({change.key: "" for change in run.history if not change.node})
        places.update({key: placement.node for key, placement in run.placements.items()})
    return places


def _nodes(outcome: Outcome) -> list[dict[str, Any]]:
    by_key = {key_of(pod): pod for pod in (*outcome.pods, *outcome.scene.offered)}
    requested = {key: resource_accounting.requested([pod]) for key, pod in by_key.items()}
    totals = []
    for run in (outcome.baseline, outcome.candidate):
        total: dict[str, Counter[str]] = {node["metadata"]["name"]: Counter() for node in outcome.nodes}
        for key, name in _places(outcome, run).items():
            if name in total:
                total[name].update(pods=1, cpu_millis=requested[key].cpu_millis, memory=requested[key].memory)
        totals.append(total)
    rows = []
    for node in outcome.nodes:
        name, has = node["metadata"]["name"], resource_accounting.allocatable(node)
        before, after = ({field: total[name][field] for field in ("pods", "cpu_millis", "memory")} for total in totals)
        allocatable = {"pods": has.pods, "cpu_millis": has.cpu_millis, "memory": has.memory}
        rows.append({"name": name, "allocatable": allocatable, "before": before, "after": after})
    return rows


def _summary(outcome: Outcome, rows: Sequence[Mapping[str, Any]], nodes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    counts = Counter(row["status"] for row in rows)
    runs = (outcome.baseline, outcome.candidate)
    compared = len(rows) - counts[NOT_COMPARED]
    before, after = ({"/".join(change.key) for change in run.history if not change.node} if run else set() for run in runs)
    unschedulable = [_name(row) for row in rows if row["status"] == UNSCHEDULABLE and row["before"]]
    summary: dict[str, Any] = {
        "pods": len(rows),
        **{status.replace(" ", "_"): counts[status] for status in (SAME, MOVED, TIE, UNSCHEDULABLE, PREEMPTS, NOT_COMPARED)},
        "newly_unschedulable": len(unschedulable),
        "newly_schedulable": sum(bool(row["node"]) and not row["before"] for row in rows),
        "moved_percent": _percent(sum(row["status"] == MOVED and bool(row["before"]) for row in rows), compared),
        "preempted": sorted(after),
        "newly_preempted": sorted(after - before),
        # A pod that is preempted has no node.
        "lost": [*dict.fromkeys([*unschedulable, *sorted(after - before)])],
    }
    room = {node["name"]: node["allocatable"] for node in nodes}
    for when, run in zip(("before", "after"), runs):
        load = _load(outcome, run)
        summary[when] = {
            "empty_nodes": sum(node[when]["pods"] == 0 for node in nodes),
            **_shares({node["name"]: node[when] for node in nodes}, room),
            "load": _shares(load, room) if load else None,
        }
    return summary


def _shares(used: Mapping[str, Mapping[str, float]], room: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Mean and standard deviation of what nodes use, in percent of what is allocatable."""
    found = {}
    for field in ("cpu_millis", "memory"):
        shares = [100 * of[field] / room[name][field] for name, of in used.items() if room[name][field]]
        name = field.partition("_")[0]
        found[f"{name}_percent_mean"] = round(statistics.fmean(shares), 1) if shares else 0.0
        found[f"{name}_percent_deviation"] = round(statistics.pstdev(shares), 1) if shares else 0.0
    return found


def _load(outcome: Outcome, run: Run | None) -> dict[str, dict[str, int]]:
    """The use of each measured node after a run: the measured one, and that of the pods that come, without that of the pods that go."""
    nodes = {node["metadata"]["name"] for node in outcome.nodes}
    total: dict[str, dict[str, int]] = {}
    uses: dict[Key, Resources] = {}
    for one in outcome.load:
        if one["kind"] == "PodMetrics":
            uses[key_of(one)] = resource_accounting.used(container.get("usage") for container in one["containers"])
        elif one["metadata"]["name"] in nodes:
            used = resource_accounting.used([one.get("usage")])
            total[one["metadata"]["name"]] = {"cpu_millis": used.cpu_millis, "memory": used.memory}
    pods = {key_of(pod): pod for pod in (*outcome.pods, *outcome.scene.offered)} if total else {}
    places = _places(outcome, run) if total else {}
    for key, pod in pods.items():
        present, after = str(pod["spec"].get("nodeName") or ""), places.get(key, "")
        if present == after:
            continue
        use = uses.get(key) or resource_accounting.requested([pod])
        for name, sign in ((present, -1), (after, 1)):
            if name in total:
                total[name]["cpu_millis"] = max(0, total[name]["cpu_millis"] + sign * use.cpu_millis)
                total[name]["memory"] = max(0, total[name]["memory"] + sign * use.memory)
    return total


def _headroom(outcome: Outcome) -> dict[str, Any]:
    def count(run: Run | None) -> int | None:
        return None if run is None else sum(bool(placement.node) for placement in run.placements.values())

    last = [*outcome.candidate.placements.values()][-1]
    stopped_by = f"the limit of {counted(outcome.scene.limit)}" if last.node else last.reason or "the scheduler did not process the pod"
    return {"before": count(outcome.baseline), "pods": count(outcome.candidate), "stopped_by": stopped_by}
