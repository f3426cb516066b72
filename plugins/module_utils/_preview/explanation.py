# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why a scheduler places a pod on a node or on none, and what would make it fit.

kube-scheduler logs the scores of nodes, but not which filter rejects a node: a twin of the pod that fits only this node, by its affinity, shows it.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.taints import REPELLING, tolerates
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import binary, resource_accounting
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import Quantity
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import about_load, check_number, copy_of, prepared
from ansible_collections.osso.scheduler.plugins.module_utils._preview.sandbox import Key, key_of
from ansible_collections.osso.scheduler.plugins.module_utils._preview.scheduler_process import REJECTIONS, SCORES, Candidate
from ansible_collections.osso.scheduler.plugins.module_utils._preview.simulation import Placement, Progress, Run, Stage, bystander, on_stage
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import Snapshot

_HOSTNAME = "kubernetes.io/hostname"
_CORDONED = "node.kubernetes.io/unschedulable"
_NODE_AFFINITY = "NodeAffinity"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
# Until the log shows the plugins that rejected a pod
_LOGGED = 2.0
_MOST_TAINTS = 10
_MOST_NEW_NODES = 3


class Options(NamedTuple):
    """What to explain; the module scheduler_explain documents each."""

    candidate: dict[str, Any]
    name: str | None = None
    namespace: str = "default"
    template: dict[str, Any] | None = None
    attempts: bool = True
    timeout: int = 600


class Rejection(NamedTuple):
    """plugins: the filters, empty if the release does not log them."""

    plugins: tuple[str, ...]
    reason: str


class Change(NamedTuple):
    """A changed pod, and perhaps a node that is added for it."""

    text: str
    pod: Object
    node: Object | None = None


def explain(options: Options, snapshot: Snapshot, run_command: binary.RunCommand, progress: Progress) -> dict[str, Any]:
    """The result of the module. Raises ClusterError."""
    check(options, snapshot)
    pod, nodes = _pod(options, snapshot), snapshot.of("Node")
    objects = [bystander(obj) for obj in snapshot.objects]
    key, names = key_of(pod), [node["metadata"]["name"] for node in nodes]
    with prepared("candidate", options.candidate, run_command) as candidate:
        one = _Explainer(candidate, options.timeout, progress)
        scored = one.run(objects, lambda stage: {key: stage.attempt(pod)}, SCORES, {key: names})
        placement, scores = scored.placements[key], scored.scores.get(key, {})
        feasible = {*scores, *([placement.node] if placement.node and not placement.victims else [])}
        rejected = one.rejections(objects, pod, [name for name in names if name not in feasible])
        attempts = []
        if options.attempts and placement.processed and not placement.node:
            attempts = one.attempts(objects, changes(pod, nodes))
    ties = sorted(scored.ties.get(key, set()) or ([placement.node] if placement.node else []))
    rows = [_row(name, scores, feasible, rejected) for name in names]
    rows.sort(key=lambda row: (not row["fits"], -(row["score"] or 0), row["name"]))
    result = {
        "changed": False,
        "pod": {"namespace": key[0], "name": key[1], "current": pod["spec"].get("nodeName") or ""},
        "node": placement.node,
        "ties": ties,
        "preempted": ["/".join(victim) for victim in placement.victims],
        "reason": placement.reason,
        "nodes": rows,
        "attempts": attempts,
        "assumptions": _assumptions(pod, snapshot, candidate, scored, attempts),
        "missing": list(snapshot.missing),
        "kubernetes_version": candidate.kubernetes,
    }
    return {**result, "msg": _sentence(placement, result)}


def check(options: Options, snapshot: Snapshot) -> None:
    """Raises InputError for options that do not fit the snapshot."""
    check_number("timeout", options.timeout)
    _pod(options, snapshot)


class _Explainer:
    def __init__(self, candidate: Candidate, timeout: int, progress: Progress) -> None:
        self._candidate = candidate
        self._timeout = timeout
        self._progress = progress

    def run(
        self,
        objects: Sequence[Object],
        act: Callable[[Stage], dict[Key, Placement]],
        logged: str,
        kept: Mapping[Key, Sequence[str]] | None = None,
        total: int = 1,
    ) -> Run:
        return on_stage(self._candidate, objects, act, self._timeout, logged, self._progress, total, kept)

    def rejections(self, objects: Sequence[Object], pod: Object, names: Sequence[str]) -> dict[str, Rejection]:
        """The filters that reject a pod on each of these nodes."""
        found: dict[str, Rejection] = {}

        def act(stage: Stage) -> dict[Key, Placement]:
            log, key, logs = stage.process.log, key_of(pod), True
            for name in names:
                placement = stage.attempt(_only_on(pod, name))
                plugins = log.take_rejection(key, _LOGGED) if logs else None
                logs = plugins is not None
                # The affinity of the twin rejects all other nodes, and that of the pod perhaps this one.
                others = tuple(plugin for plugin in plugins or () if plugin != _NODE_AFFINITY)
                found[name] = Rejection(others or plugins or (), _own_reason(placement.reason))
            return {}

        if names:
            self.run(objects, act, REJECTIONS, total=len(names))
        return found

    def attempts(self, objects: Sequence[Object], found: Sequence[Change]) -> list[dict[str, Any]]:
        """The outcome of each change, each by itself."""
        new = [change.node for change in found if change.node]
        outcomes: dict[int, Placement] = {}

        def act_on(with_nodes: bool) -> Callable[[Stage], dict[Key, Placement]]:
            def act(stage: Stage) -> dict[Key, Placement]:
                outcomes.update({n: stage.attempt(one.pod) for n, one in enumerate(found) if bool(one.node) == with_nodes})
                return {}

            return act

        if len(new) < len(found):
            self.run(objects, act_on(with_nodes=False), REJECTIONS, total=len(found))
        if new:
            self.run([*objects, *new], act_on(with_nodes=True), REJECTIONS, total=len(new))
        return [
            {
                "change": change.text,
                "fits": bool(outcomes[number].node),
                "node": outcomes[number].node,
                "reason": _own_reason(outcomes[number].reason) if change.node else outcomes[number].reason,
            }
            for number, change in enumerate(found)
        ]


def changes(pod: Object, nodes: Sequence[Object]) -> list[Change]:
    """What could make a pod fit, the smallest changes first. No attempt preempts other pods."""
    pod = _with_spec(pod, preemptionPolicy="Never")
    spec = pod["spec"]
    found = [Change("10 % smaller requests", _with_spec(pod, **smaller(spec)))] if smaller(spec) != _containers(spec) else []
    tolerations = spec.get("tolerations") or []
    taints = Counter(
        (taint["key"], str(taint.get("value") or ""), taint["effect"])
        for node in nodes
        for taint in (node.get("spec") or {}).get("taints") or []
        if taint.get("effect") in REPELLING and taint["key"] != _CORDONED and not any(tolerates(one, taint) for one in tolerations)
    )
    for (key, value, effect), count in taints.most_common(_MOST_TAINTS):
        toleration = {"key": key, "operator": "Exists", "effect": effect}
        text = f"without the taint {key}{'=' if value else ''}{value}:{effect} of {count} nodes"
        exact = {**toleration, "operator": "Equal", "value": value}
        found.append(Change(text, _with_spec(pod, tolerations=[*tolerations, exact])))
    cordoned = sum(bool((node.get("spec") or {}).get("unschedulable")) for node in nodes)
    if cordoned:
        toleration = {"key": _CORDONED, "operator": "Exists"}
        found.append(Change(f"with the {cordoned} cordoned nodes", _with_spec(pod, tolerations=[*tolerations, toleration])))
    affinity = spec.get("affinity") or {}
    if spec.get("nodeSelector") or (affinity.get("nodeAffinity") or {}).get(_REQUIRED):
        less = _with_spec(pod, nodeSelector=None, affinity=_without(affinity, "nodeAffinity"))
        found.append(Change("without nodeSelector and required node affinity", less))
    for name, words in (("podAffinity", "required pod affinity"), ("podAntiAffinity", "required pod anti-affinity")):
        if (affinity.get(name) or {}).get(_REQUIRED):
            found.append(Change(f"without {words}", _with_spec(pod, affinity=_without(affinity, name))))
    spread = spec.get("topologySpreadConstraints") or []
    soft = [one for one in spread if one.get("whenUnsatisfiable") == "ScheduleAnyway"]
    if len(soft) < len(spread):
        found.append(Change("without required topology spread constraints", _with_spec(pod, topologySpreadConstraints=soft)))
    return found + [
        Change(f"with one more node like {like}", _only_on(pod, node["metadata"]["name"]), node) for like, node in _new_nodes(nodes)
    ]


def smaller(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The containers of a pod with 10 % smaller requests of CPU, memory and ephemeral storage."""
    found = copy.deepcopy(_containers(spec))
    for container in (container for several in found.values() for container in several):
        requests = (container.get("resources") or {}).get("requests") or {}
        for name, unit in (("cpu", "m"), ("memory", ""), ("ephemeral-storage", "")):
            if requests.get(name):
                quantity = Quantity.parse(str(requests[name]))
                amount = quantity.number * Fraction(10) ** quantity.exponent * (1000 if unit else 1)
                requests[name] = f"{int(amount * Fraction(9, 10))}{unit}"
    return found


def _containers(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {name: spec[name] for name in ("containers", "initContainers") if spec.get(name)}


def _new_nodes(nodes: Sequence[Object]) -> list[tuple[str, Object]]:
    """Empty copies of nodes, one for each of the most frequent sizes, each with the name of its original."""
    by_size: dict[tuple[int, int, int], list[Object]] = {}
    for node in nodes:
        has = resource_accounting.allocatable(node)
        by_size.setdefault((has.cpu_millis, has.memory, has.pods), []).append(node)
    frequent = sorted(by_size.values(), key=lambda those: -len(those))[:_MOST_NEW_NODES]
    found = []
    for number, node in enumerate((those[0] for those in frequent), 1):
        spec, name = node.get("spec") or {}, f"preview-new-{number}"
        # Not what has happened to this node
        taints = [taint for taint in spec.get("taints") or [] if not taint["key"].startswith("node.kubernetes.io/")]
        metadata = {"name": name, "labels": {**(node["metadata"].get("labels") or {}), _HOSTNAME: name}}
        found.append((node["metadata"]["name"], {**node, "metadata": metadata, "spec": {"taints": taints}}))
    return found


def _only_on(pod: Object, node: str) -> Object:
    """A twin that fits only one node, if any. Its own terms stay: one of them has to match."""
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or [{}]
    here = {"key": "metadata.name", "operator": "In", "values": [node]}
    pinned = [{**term, "matchFields": [*(term.get("matchFields") or []), here]} for term in terms]
    changed = {**(pod["spec"].get("affinity") or {}), "nodeAffinity": {**affinity, _REQUIRED: {"nodeSelectorTerms": pinned}}}
    return _with_spec(pod, affinity=changed, preemptionPolicy="Never")


def _with_spec(pod: Object, **changed: Any) -> Object:
    return {**pod, "spec": {name: value for name, value in {**pod["spec"], **changed}.items() if value is not None}}


def _without(affinity: Mapping[str, Any], name: str) -> Object:
    less = {key: value for key, value in affinity[name].items() if key != _REQUIRED} if affinity.get(name) else {}
    return {**affinity, name: less}


def _own_reason(message: str) -> str:
    """The part of a message about a pinned twin that is about its node: ``0/3 nodes are available: 1 REASON, 2 node(s) didn't satisfy ...``"""
    reasons = message.partition(": ")[2].partition(". ")[0].rstrip(".").split(", ")
    own = [reason for reason in reasons if reason.startswith("1 ") and "didn't satisfy plugin(s) [NodeAffinity]" not in reason]
    # Other nodes than this one are rejected for other reasons, too, such as taints before 1.26: then the whole message remains.
    return own[0][2:] if len(own) == 1 else message


def _pod(options: Options, snapshot: Snapshot) -> Object:
    if bool(options.template) == bool(options.name):
        raise InputError("name, template: set one of them, the name of a pod or an invented one.")
    if options.template:
        pod = copy_of(options.template, snapshot, options.namespace)
    else:
        found = [pod for pod in snapshot.of("Pod") if key_of(pod) == (options.namespace, options.name)]
        if not found:
            raise InputError(
                f"name: there is no pod {options.namespace}/{options.name}, or it has ended. Set namespace and name of a pod that exists, or template."
            )
        pod = found[0]
    return _with_spec(pod, schedulingGates=None)


def _row(name: str, scores: Mapping[str, Any], feasible: set[str], rejected: Mapping[str, Rejection]) -> dict[str, Any]:
    score, rejection = scores.get(name), rejected.get(name, Rejection((), ""))
    return {
        "name": name,
        "fits": name in feasible,
        "score": score.total if score else None,
        "plugins": score.plugins if score else {},
        "filters": list(rejection.plugins),
        "reason": rejection.reason,
    }


def _assumptions(pod: Object, snapshot: Snapshot, candidate: Candidate, scored: Run, attempts: Sequence[Mapping[str, Any]]) -> list[str]:
    found = ["Admission, quotas and kubelets that reject pods are not part of an explanation.", "Other pending pods are not placed."]
    if pod["spec"].get("resourceClaims"):
        found.append("Devices of ResourceClaims are not allocated.")
    found += about_load(snapshot, candidate)
    if any("one more node" in attempt["change"] for attempt in attempts):
        found.append("A new node is empty. Pods of DaemonSets will use a part of it.")
    return found + [f"The sandbox does not serve: {request} ({count} requests)." for request, count in sorted(scored.unknown.items())]


def _sentence(placement: Placement, result: Mapping[str, Any]) -> str:
    about = "{namespace}/{name}".format(**result["pod"])
    if not placement.processed:
        return f"{about}: the scheduler did not process it, such as a pod that waits for other pods of its group."
    if placement.node:
        victims = f", after the deletion of {', '.join(result['preempted'])}" if placement.victims else ""
        tied = f", at random among {len(result['ties'])} nodes with the same score" if len(result["ties"]) > 1 else ""
        return (
            f"{about}: {placement.node}{tied}{victims}. {sum(row['fits'] for row in result['nodes'])} of {len(result['nodes'])} nodes fit."
        )
    fitting = [attempt["change"] for attempt in result["attempts"] if attempt["fits"]]
    return f"{about}: no node. {placement.reason}" + (f" It would fit: {'; '.join(fitting)}." if fitting else "")
