# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Comparison of a scheduler's dump with the API server. Pure.

The cluster changes meanwhile. So the module reads from the API server before and after the dump. Only values that are the same both times and differ
from the dump are differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._debugging import resource_accounting
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.dump_parser import Dump, Node, Pod, Resources

MISSING_NODE, GHOST_NODE, ALLOCATABLE, REQUESTED = "missing_node", "ghost_node", "allocatable", "requested"
MISSING_POD, STALE_POD, ELSEWHERE, UNQUEUED, STALE_IN_QUEUE = (
    "missing_pod",
    "stale_pod",
    "pod_elsewhere",
    "missing_in_queue",
    "stale_in_queue",
)


class View(NamedTuple):
    """What the API server has at one moment: nodes by name; by uid those pods that have not ended."""

    nodes: dict[str, Mapping[str, Any]]
    pods: dict[str, Mapping[str, Any]]


class Difference(NamedTuple):
    """kind: one of the constants above. node, namespace, pod: what it is about, empty otherwise. message: for a person."""

    kind: str
    message: str
    node: str = ""
    namespace: str = ""
    pod: str = ""


def view(nodes: Iterable[Mapping[str, Any]], pods: Iterable[Mapping[str, Any]]) -> View:
    """``nodes``, ``pods``: as the API server returns them."""
    return View(
        {node["metadata"]["name"]: node for node in nodes},
        {pod["metadata"]["uid"]: pod for pod in pods if (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")},
    )


def compare(dump: Dump, before: View, after: View, scheduler_names: Iterable[str] | None) -> dict[str, Any]:
    """``consistent``, the ``differences``, how many pods were ``in_flux``, and what the scheduler's own ``mismatches`` mean.

    ``scheduler_names``: the names under which it places pods, None if unknown; then pods that are missing from the queue are not reported.
    """
    names = None if scheduler_names is None else set(scheduler_names)
    found = [*_nodes(dump, before, after), *_pods(dump, before, after), *_queue(dump, before, after, names)]
    return {
        "consistent": not found,
        "differences": [difference._asdict() for difference in found],
        "in_flux": len(_in_flux(before, after)),
        "mismatches": [_explained(kind, uid, before, after, names) for kind, uids in dump.mismatches.items() for uid in uids],
    }


def _nodes(dump: Dump, before: View, after: View) -> Iterable[Difference]:
    cached = {node.name: node for node in dump.nodes}
    flux = _in_flux(before, after)
    for name in sorted(set(before.nodes) & set(after.nodes)):
        node = cached.get(name)
        if node is None or node.deleted:
            yield Difference(MISSING_NODE, f"the scheduler does not know the node {name}", name)
            continue
        yield from _amounts(ALLOCATABLE, node, *(resource_accounting.allocatable(one.nodes[name]) for one in (before, after)))
        present = [{uid: pod for uid, pod in one.pods.items() if _node(pod) == name} for one in (before, after)]
        # Differences of the pods are reported for the pods.
        if set(present[0]) == set(present[1]) == {pod.uid for pod in node.pods} and not flux & set(present[0]):
            yield from _amounts(REQUESTED, node, *(resource_accounting.requested(pods.values()) for pods in present))
    for name, node in sorted(cached.items()):
        if name not in before.nodes and name not in after.nodes:
            what = f"for {len(node.pods)} pods" if node.deleted else "as if it were there"
            yield Difference(GHOST_NODE, f"the scheduler keeps the node {name} {what}, which the API server does not have", name)


def _amounts(kind: str, node: Node, before: Resources, after: Resources) -> Iterable[Difference]:
    believed = (node.allocatable if kind == ALLOCATABLE else node.requested).flat()
    real, later = before.flat(), after.flat()
    for name in sorted({*believed, *real}):
        wanted = real.get(name, 0)
        if wanted == later.get(name, 0) != believed.get(name, 0):
            unit = "m" if name == "cpu" else ""
            message = f"of {name} on {node.name} the scheduler has {believed.get(name, 0)}{unit} as {kind}, the API server {wanted}{unit}"
            yield Difference(kind, message, node.name)


def _pods(dump: Dump, before: View, after: View) -> Iterable[Difference]:
    cached = {pod.uid: (node.name, pod) for node in dump.nodes for pod in node.pods}
    for uid, (name, pod) in cached.items():
        now, then = before.pods.get(uid), after.pods.get(uid)
        if now is None and then is None:
            yield _about(STALE_POD, pod, f"the scheduler counts it on {name}, but it has ended or was deleted", name)
        elif now and then and _node(now) == _node(then) != name and _node(now):
            yield _about(ELSEWHERE, pod, f"the scheduler counts it on {name}, but it is on {_node(now)}", name)
    for uid in sorted(set(before.pods) & set(after.pods)):
        live = before.pods[uid]
        if _node(live) and _node(live) == _node(after.pods[uid]) and uid not in cached:
            yield _of_api(MISSING_POD, live, f"it is on {_node(live)}, but the scheduler does not count it", _node(live))


def _queue(dump: Dump, before: View, after: View, names: set[str] | None) -> Iterable[Difference]:
    queued = {pod.uid for pod in dump.queue}
    cached = {pod.uid for node in dump.nodes for pod in node.pods}
    for pod in dump.queue:
        versions = [one.pods[pod.uid] for one in (before, after) if one.pods.get(pod.uid)]
        if not versions:
            yield _about(STALE_IN_QUEUE, pod, "it is in the scheduler's queue, but it has ended or was deleted")
        elif len(versions) == 2 and all(map(_node, versions)):
            yield _about(STALE_IN_QUEUE, pod, f"it is in the scheduler's queue, but it is on {_node(versions[0])} already")
    for uid in sorted(set(before.pods) & set(after.pods)):
        live = after.pods[uid]
        if _node(live) or _node(before.pods[uid]) or uid in queued or uid in cached or names is None:
            continue
        if live["spec"].get("schedulerName") in names and not live["metadata"].get("deletionTimestamp"):
            yield _of_api(
                UNQUEUED,
                live,
                "it waits for this scheduler, but is neither in its queue nor assumed on a node; it may be processed at this moment",
            )


def _explained(kind: str, subject: str, before: View, after: View, names: set[str] | None) -> dict[str, str]:
    """What an entry of "Cache mismatch" means."""
    pod = before.pods.get(subject) or after.pods.get(subject)
    about = {"kind": kind, "subject": subject, "namespace": "", "pod": ""}
    if kind.endswith("_nodes"):
        return {**about, "meaning": "the scheduler's informer and its cache disagree about this node"}
    if pod is None:
        return {**about, "meaning": "a pod that the API server does not have any more"}
    about.update(namespace=pod["metadata"]["namespace"], pod=pod["metadata"]["name"])
    asked = pod["spec"].get("schedulerName")
    if kind == "missed_pods" and not _node(pod) and names is not None and asked not in names:
        # The comparer looks at all pods, the queue takes those of its profiles only.
        return {**about, "meaning": f"no mismatch: it waits for {asked}, which is another scheduler"}
    if kind == "missed_pods" and not _node(pod):
        return {**about, "meaning": "it waits for a node, but is not in the queue; it may have been processed at that moment"}
    return {**about, "meaning": "the scheduler's informer and its cache disagree about this pod"}


def _in_flux(before: View, after: View) -> set[str]:
    """The pods that came, went or got a node between the two looks."""
    both = set(before.pods) & set(after.pods)
    moved = {uid for uid in both if _node(before.pods[uid]) != _node(after.pods[uid])}
    return (set(before.pods) ^ set(after.pods)) | moved


def _node(pod: Mapping[str, Any]) -> str:
    return pod["spec"].get("nodeName") or ""


def _about(kind: str, pod: Pod, message: str, node: str = "") -> Difference:
    return Difference(kind, f"pod {pod.namespace}/{pod.name}: {message}", node, pod.namespace, pod.name)


def _of_api(kind: str, pod: Mapping[str, Any], message: str, node: str = "") -> Difference:
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    return Difference(kind, f"pod {namespace}/{name}: {message}", node, namespace, name)
