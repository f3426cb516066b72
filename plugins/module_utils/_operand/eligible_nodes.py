# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which nodes can take a pod of the scheduler, as kube-scheduler would judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import conditions
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.taints import REPELLING, tolerates


def eligible(
    nodes: Iterable[Object], node_selector: Mapping[str, str] | None = None, tolerations: Sequence[Object] | None = None
) -> list[str]:
    """Names of the nodes for pods with this nodeSelector and these tolerations, in alphabetical order; nodes as the API server returns them.

    A cordoned node does not count, not even for pods that tolerate it: a node is cordoned to become empty.
    """
    selector, tolerations = node_selector or {}, tolerations or []
    return sorted(
        node["metadata"]["name"] for node in nodes if _is_open(node) and _matches(node, selector) and not _repelling(node, tolerations)
    )


def _is_open(node: Object) -> bool:
    if node["metadata"].get("deletionTimestamp") or (node.get("spec") or {}).get("unschedulable"):
        return False
    return conditions.is_true(node, "Ready")


def _matches(node: Object, selector: Mapping[str, str]) -> bool:
    labels = node["metadata"].get("labels") or {}
    return all(labels.get(key) == value for key, value in selector.items())


def _repelling(node: Object, tolerations: Sequence[Object]) -> list[Object]:
    """The taints that keep the pods away."""
    taints = (node.get("spec") or {}).get("taints") or []
    return [taint for taint in taints if taint.get("effect") in REPELLING and not any(tolerates(one, taint) for one in tolerations)]
