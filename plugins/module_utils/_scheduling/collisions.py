# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods that a kubelet rejected, the scheduler that placed a pod there at the same time, and nodes that several schedulers use. Pure: no requests.

A scheduler that does not know the latest decision of another one binds a pod to a node that is full. The kubelet then rejects it: phase Failed, with a
reason of its admission (kubernetes/kubernetes, pkg/kubelet/lifecycle/predicate.go and pkg/kubelet/cm). It records the time in ``status.startTime``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.taints import REPELLING
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.plain_data import as_list
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import DEFAULT_SCHEDULER_NAME
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pending_pods import owner

SECONDS = 10
"""Decisions on one node that are at most so far apart can be made without knowledge of each other."""
EXAMPLES = 5
_REASONS = ("NodeAffinity", "NodePorts", "TopologyAffinityError", "UnexpectedAdmissionError")
_RESOURCE = "OutOf"
_REMEDY = "a pool with nodes of its own and exclusive: true separates them (docs/pools.md)"


class User(NamedTuple):
    """A scheduler process, which has one cache for all its profiles.

    place: such as ``Deployment batch/batch``. terms: by schedulerName, the nodeSelectorTerms of the profile's addedAffinity; None without them.
    """

    place: str
    terms: Mapping[str, Sequence[Mapping[str, Any]] | None]


def is_rejected(pod: Mapping[str, Any]) -> bool:
    """Whether the kubelet of its node did not admit the pod."""
    status = pod.get("status") or {}
    reason = status.get("reason") or ""
    return bool(status.get("phase") == "Failed" and pod["spec"].get("nodeName") and (reason.startswith(_RESOURCE) or reason in _REASONS))


def collisions(rejected: Sequence[Object], pods_by_node: Mapping[str, Sequence[Object]]) -> list[dict[str, Any]]:
    """The ``rejected`` pods, in groups of the same scheduler and of the same others that placed pods on the node in those seconds.

    ``pods_by_node``: all pods of the nodes. Groups with other schedulers first, then by number of pods.
    """
    placed = {
        node: [(timestamps.parse(_time(pod)), pod["spec"]["schedulerName"]) for pod in pods if not is_rejected(pod)]
        for node, pods in pods_by_node.items()
    }
    groups: dict[tuple[str, tuple[str, ...]], list[Object]] = {}
    for pod in sorted(rejected, key=_time, reverse=True):
        mine, moment = pod["spec"]["schedulerName"], timestamps.parse(_time(pod))
        meeting = {name for at, name in placed.get(pod["spec"]["nodeName"], ()) if abs((at - moment).total_seconds()) <= SECONDS}
        groups.setdefault((mine, tuple(sorted(meeting - {mine}))), []).append(pod)
    found = [_group(name, others, pods) for (name, others), pods in groups.items()]
    return sorted(found, key=lambda one: (not one["others"], -one["pods"], one["scheduler_name"]))


def overlaps(users: Sequence[User], nodes: Sequence[Object]) -> list[dict[str, Any]]:
    """Nodes on which more than one scheduler places pods, in groups of the same schedulers.

    A node with a taint NoSchedule or NoExecute counts for those schedulers only whose addedAffinity selects it: others need a toleration in each pod.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    names = {user.place: sorted(user.terms) for user in users}
    for node in nodes:
        places = tuple(user.place for user in users if any(uses(terms, node) for terms in user.terms.values()))
        if len(places) > 1:
            groups.setdefault(places, []).append(node["metadata"]["name"])
    return [
        {
            "schedulers": list(places),
            "scheduler_names": sorted({name for place in places for name in names[place]}),
            "nodes": len(those),
            "examples": sorted(those)[:EXAMPLES],
            "message": f"{' and '.join(places)} place pods on the same {_count(len(those), 'node')}, and can bind two pods to the same free "
            f"resources: {_REMEDY}",
        }
        for places, those in sorted(groups.items(), key=lambda one: -len(one[1]))
    ]


def _group(name: str, others: Sequence[str], pods: Sequence[Object]) -> dict[str, Any]:
    nodes = sorted({pod["spec"]["nodeName"] for pod in pods})
    reasons = Counter(pod["status"]["reason"] for pod in pods)
    told = ", ".join(f"{number} {reason}" for reason, number in sorted(reasons.items()))
    start = f"kubelets of {_count(len(nodes), 'node')} rejected {_count(len(pods), 'pod')} of the scheduler {name} ({told})"
    if others:
        pool = next((one for one in (name, *others) if one != DEFAULT_SCHEDULER_NAME), name)
        message = f"{start}, while {' and '.join(others)} placed pods there within {SECONDS} s: define a pool for {pool}; {_REMEDY}"
    else:
        message = (
            f"{start}; no other scheduler placed a pod there within {SECONDS} s that still exists. The message of the pod has the cause"
        )
    last = pods[0]
    return {
        "scheduler_name": name,
        "others": list(others),
        "pods": len(pods),
        "reasons": dict(reasons),
        "nodes": nodes,
        "namespace": last["metadata"]["namespace"],
        "name": last["metadata"]["name"],
        "owner": owner(last),
        "at": _time(last),
        "message": message,
    }


def _time(pod: Mapping[str, Any]) -> str:
    """When the kubelet saw the pod first, right after it was bound."""
    return str((pod.get("status") or {}).get("startTime") or pod["metadata"]["creationTimestamp"])


def uses(terms: Sequence[Mapping[str, Any]] | None, node: Object) -> bool:
    """Whether a profile with these nodeSelectorTerms (see `User`) places pods on a node that tolerate none of its taints."""
    if terms is not None:
        return any(_matches(term, node) for term in terms)
    return not any(taint["effect"] in REPELLING for taint in node["spec"].get("taints") or [])


def _matches(term: Mapping[str, Any], node: Object) -> bool:
    """Whether a nodeSelectorTerm, which can be any mapping, selects a node. An empty term selects none."""
    labels = node["metadata"].get("labels") or {}
    results = [_holds(one, labels) for one in as_list(term.get("matchExpressions"))]
    results += [_holds(one, {"metadata.name": node["metadata"]["name"]}) for one in as_list(term.get("matchFields"))]
    return bool(results) and all(results)


def _holds(requirement: Any, labels: Mapping[str, str]) -> bool:
    if not isinstance(requirement, dict):
        return False
    key, values = requirement.get("key"), [value for value in as_list(requirement.get("values")) if isinstance(value, str)]
    check = _OPERATORS.get(str(requirement.get("operator")))
    return isinstance(key, str) and check is not None and check(labels.get(key), values)


def _compare(value: str | None, wanted: Sequence[str], sign: int) -> bool:
    try:
        return (int(value or "") - int(wanted[0])) * sign > 0
    except (IndexError, ValueError):
        return False


_OPERATORS: dict[str, Callable[[str | None, Sequence[str]], bool]] = {
    "In": lambda value, wanted: value in wanted,
    "NotIn": lambda value, wanted: value not in wanted,
    "Exists": lambda value, wanted: value is not None,
    "DoesNotExist": lambda value, wanted: value is None,
    "Gt": lambda value, wanted: _compare(value, wanted, 1),
    "Lt": lambda value, wanted: _compare(value, wanted, -1),
}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
