# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes of pools: which node belongs to which pool, and the patch that labels and taints it. Pure: no requests.

The taints of a node are one list with several writers (kubelet, node controllers, users), which server-side apply would replace as a whole. So label
and taint are patched, and known by their key: ``osso.scheduler/pool``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.taints import REPELLING, tolerates
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pool_items import POOL_KEY
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pool_policies import node_labels

_EFFECT = "NoSchedule"
_ESCAPED = POOL_KEY.replace("/", "~1")


class Marks(NamedTuple):
    """What a node has of pools: the value of the label and of the taint, None without it."""

    label: str | None = None
    taint: str | None = None


def members(
    items: Sequence[Mapping[str, Any]], nodes: Sequence[Object], earlier: Sequence[Mapping[str, Any]] = ()
) -> tuple[dict[str, list[str]], list[str]]:
    """The names of the nodes of each pool by schedulerName, and what contradicts that: a node that does not exist, or is in two pools.

    ``earlier``: pools of earlier runs, whose nodes can have been deleted since.
    """
    existing = {node["metadata"]["name"]: node["metadata"].get("labels") or {} for node in nodes}
    found = {item["scheduler_name"]: _members(item, existing) for item in items}
    errors = []
    for item in items:
        missing = [name for name in item["nodes"]["names"] if name not in existing]
        if missing:
            errors.append(f"{item['where']}.nodes.names has {', '.join(missing)}, which do not exist: remove them, or add the nodes.")
    others = [(f"{item['scheduler_name']} (an earlier pool)", _members(item, existing)) for item in earlier]
    for name in sorted({name for names in found.values() for name in names}):
        pools = [pool for pool, names in [*found.items(), *others] if name in names]
        if len(pools) > 1:
            errors.append(f"The node {name} is in the pools {' and '.join(pools)}: change their nodes, so that each node is in one pool.")
    return found, errors


def wanted_marks(items: Sequence[Mapping[str, Any]], found: Mapping[str, Sequence[str]]) -> dict[str, Marks]:
    """By the name of a node of a pool, what it has to have; ``found``: of `members`."""
    return {
        node: Marks(node_labels(item).get(POOL_KEY), item["scheduler_name"] if item["exclusive"] else None)
        for item in items
        for node in found[item["scheduler_name"]]
    }


def marks_before_deployment(nodes: Mapping[str, Object], wanted: Mapping[str, Marks], pools: Collection[str]) -> dict[str, Marks]:
    """What nodes by name have to have before the schedulers of `pools` are deployed: their new labels, and all that they have of these pools."""
    found = {}
    for name, node in nodes.items():
        label, taint = (mark if mark in pools else None for mark in marks(node))
        if name in wanted or label or taint:
            found[name] = Marks(wanted.get(name, Marks()).label or label, taint)
    return found


def marks(node: Object) -> Marks:
    taints = [taint.get("value") or "" for taint in _taints(node) if _is_ours(taint)]
    return Marks((node["metadata"].get("labels") or {}).get(POOL_KEY), taints[0] if taints else None)


def patch(node: Object, wanted: Marks | None, pools: Collection[str]) -> tuple[list[Object], str]:
    """The JSON patch that gives a node the ``wanted`` marks, and why it cannot be: it has those of a pool that is not among ``pools``.

    None is for a node that is in none of ``pools``: it loses their marks, and keeps those of other pools. The API server rejects the patch if others
    have changed the taints since they were read.
    """
    present = marks(node)
    foreign = sorted({mark for mark in present if mark is not None and mark not in pools})
    if foreign:
        name = node["metadata"]["name"]
        if wanted is None:
            return [], ""
        return [], (
            f"The node {name} is in the pool {foreign[0]} by its label or taint {POOL_KEY}. Remove that pool first (state: absent), or choose other nodes."
        )
    wanted = wanted or Marks()
    operations: list[Object] = []
    if present.label != wanted.label:
        labels = node["metadata"].get("labels")
        if wanted.label is None:
            operations.append({"op": "remove", "path": f"/metadata/labels/{_ESCAPED}"})
        elif labels is None:
            operations.append({"op": "add", "path": "/metadata/labels", "value": {POOL_KEY: wanted.label}})
        else:
            operations.append({"op": "add", "path": f"/metadata/labels/{_ESCAPED}", "value": wanted.label})
    if present.taint != wanted.taint:
        before = node["spec"].get("taints")
        after = [taint for taint in _taints(node) if not _is_ours(taint)]
        if wanted.taint is not None:
            after.append(_taint(wanted.taint))
        operations.append({"op": "test", "path": "/spec/taints", "value": before})
        operations.append({"op": "add", "path": "/spec/taints", "value": after})
    return operations, ""


def open_to_all(nodes: Sequence[Object], wanted: Mapping[str, Marks], pools: Collection[str]) -> list[str]:
    """The nodes that take pods without tolerations once the marks of ``pools`` are as ``wanted``. Taints that Kubernetes sets for a while do not count."""
    found = []
    for node in nodes:
        name = node["metadata"]["name"]
        others = [taint for taint in _taints(node) if not (_is_ours(taint) and taint.get("value") in pools)]
        closed = [taint for taint in others if taint["effect"] in REPELLING and not taint["key"].startswith("node.kubernetes.io/")]
        if not closed and wanted.get(name, Marks()).taint is None:
            found.append(name)
    return found


def kept_out(daemon_sets: Sequence[Object], nodes: Sequence[Object], pool: str) -> list[str]:
    """DaemonSets, as NAMESPACE/NAME, that select some of the nodes of an exclusive pool and do not tolerate its taint."""
    taint = _taint(pool)
    labels = [node["metadata"].get("labels") or {} for node in nodes]
    found = []
    for one in daemon_sets:
        spec = one["spec"]["template"]["spec"]
        selector = spec.get("nodeSelector") or {}
        if any(selector.items() <= some.items() for some in labels) and not any(
            tolerates(toleration, taint) for toleration in spec.get("tolerations") or []
        ):
            found.append(f"{one['metadata']['namespace']}/{one['metadata']['name']}")
    return sorted(found)


def _members(item: Mapping[str, Any], existing: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Of ``existing`` nodes, the labels by name."""
    if item["nodes"]["names"]:
        return sorted(set(item["nodes"]["names"]) & set(existing))
    wanted = node_labels(item)
    return sorted(name for name, labels in existing.items() if wanted and wanted.items() <= labels.items())


def _taint(pool: str) -> dict[str, str]:
    return {"key": POOL_KEY, "value": pool, "effect": _EFFECT}


def _taints(node: Object) -> list[Object]:
    return list(node["spec"].get("taints") or [])


def _is_ours(taint: Mapping[str, Any]) -> bool:
    return bool(taint["key"] == POOL_KEY and taint["effect"] == _EFFECT)
