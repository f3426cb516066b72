# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which nodes can take a pod of the scheduler."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._operand import eligible_nodes

GPU = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


def node(name="n", labels=None, ready="True", taints=None, deleted=None, **spec):
    return {
        "metadata": dict({"name": name, "labels": labels}, **({"deletionTimestamp": deleted} if deleted else {})),
        "spec": dict(spec, **({} if taints is None else {"taints": taints})),
        "status": {"conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ready}]},
    }


def toleration(**fields):
    return [fields]


@pytest.mark.parametrize(
    "live",
    [
        node(ready="False"),
        node(ready="Unknown"),
        node(unschedulable=True),
        node(deleted="2026-01-01T00:00:00Z"),
        {"metadata": {"name": "new"}},
        {"metadata": {"name": "new"}, "spec": None, "status": {"conditions": None}},
    ],
)
def test_a_node_that_takes_no_pods_does_not_count(live):
    assert eligible_nodes.eligible([live, node("good")]) == ["good"]
    assert eligible_nodes.eligible([live], {}, toleration(operator="Exists")) == []


def test_node_names_are_sorted_independently_of_the_server():
    assert eligible_nodes.eligible([node("b"), node("c"), node("a")]) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("selector", "labels", "wanted"),
    [
        (None, None, True),
        ({}, {"a": "1"}, True),
        ({"a": "1"}, {"a": "1", "b": "2"}, True),
        ({"a": "1", "b": "2"}, {"a": "1"}, False),
        ({"a": "1"}, {"a": "2"}, False),
        ({"a": ""}, {"a": ""}, True),
        ({"a": ""}, None, False),
    ],
)
def test_labels_match_the_selector(selector, labels, wanted):
    assert bool(eligible_nodes.eligible([node(labels=labels)], selector)) is wanted


@pytest.mark.parametrize(
    ("taints", "tolerations", "wanted"),
    [
        ([GPU], None, False),
        ([GPU], [], False),
        ([dict(GPU, effect="NoExecute")], None, False),
        ([dict(GPU, effect="PreferNoSchedule")], None, True),
        ([GPU], toleration(key="gpu", value="yes", effect="NoSchedule"), True),
        ([GPU], toleration(key="gpu", operator="Equal", value="no"), False),
        ([GPU], toleration(key="gpu", operator="Exists"), True),
        ([dict(GPU, value="5")], toleration(key="gpu", operator="Gt", value="4"), True),
        ([dict(GPU, value="5")], toleration(key="gpu", operator="Lt", value="4"), False),
        ([GPU, {"key": "other", "effect": "NoSchedule"}], toleration(key="gpu", operator="Exists"), False),
    ],
)
def test_taints_repel_unless_they_are_tolerated(taints, tolerations, wanted):
    assert bool(eligible_nodes.eligible([node(taints=taints)], None, tolerations)) is wanted


@pytest.mark.parametrize(
    ("count", "selector", "most", "replicas"),
    [
        (1, None, 3, 1),
        (3, None, 3, 3),
        (5, None, 3, 3),
        (5, {"role": "worker"}, 6, 5),
        (3, {"role": "worker"}, 2, 2),
        (0, {"role": "worker"}, 3, 0),
    ],
)
def test_u04_there_are_as_many_replicas_as_matching_nodes_up_to_the_limit(count, selector, most, replicas):
    cluster = [node(f"w{number}", {"role": "worker"}) for number in range(count)]
    others = [node(f"m{number}", {"role": "master"}) for number in range(10)] if selector else []
    assert min(most, len(eligible_nodes.eligible(cluster + others, selector))) == replicas


def test_u04_tolerations_make_tainted_nodes_eligible():
    cluster = [node("a", taints=[GPU]), node("b", taints=[GPU]), node("c", taints=[{"key": "infra", "effect": "NoExecute"}])]
    assert eligible_nodes.eligible(cluster) == []
    both = [{"key": "gpu", "operator": "Exists"}, {"key": "infra", "operator": "Exists", "effect": "NoExecute"}]
    assert eligible_nodes.eligible(cluster, {}, both) == ["a", "b", "c"]
