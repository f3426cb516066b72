# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is tried to make a pod fit, and how the reason for one node is found. Outcomes: tests/api/test_preview.py."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._preview import explanation
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import parse
from support.preview import listed, node, pod

GPU = {"key": "gpu", "value": "a", "effect": "NoSchedule"}
SOFT = {"key": "soft", "effect": "PreferNoSchedule"}


def changes(*nodes, **spec):
    return {one.text: one.pod["spec"] for one in explanation.changes(pod("p", **spec), nodes)}


def test_only_changes_that_could_matter_are_tried():
    assert list(changes(node("a", taints=[SOFT]), node("b"))) == ["10 % smaller requests", "with one more node like a"]
    tolerant = changes(node("a", taints=[GPU]), tolerations=[{"key": "gpu", "operator": "Exists"}])
    assert list(tolerant) == ["10 % smaller requests", "with one more node like a"]


def test_each_tried_pod_has_only_one_change():
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": []}]}}
    apart = {"requiredDuringSchedulingIgnoredDuringExecution": [{}], "preferredDuringSchedulingIgnoredDuringExecution": [1]}
    affinity = {"nodeAffinity": required, "podAntiAffinity": apart}
    before = pod("p", affinity=affinity)
    untouched = copy.deepcopy(before)
    found = {one.text: one.pod["spec"] for one in explanation.changes(before, [node("a", taints=[GPU])])}
    assert before == untouched
    assert found["without the taint gpu=a:NoSchedule of 1 nodes"]["tolerations"] == [{**GPU, "operator": "Equal"}]
    assert found["without nodeSelector and required node affinity"]["affinity"] == {"nodeAffinity": {}, "podAntiAffinity": apart}
    less = found["without required pod anti-affinity"]["affinity"]
    assert less == {"nodeAffinity": required, "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [1]}}
    assert all(spec["preemptionPolicy"] == "Never" for spec in found.values())


def test_smaller_requests_reduce_only_cpu_and_memory():
    spec = pod("p", cpu="1")["spec"]
    spec["containers"][0]["resources"]["requests"]["example.com/gpu"] = "1"
    (container,) = explanation.smaller(spec)["containers"]
    assert container["resources"]["requests"] == {"cpu": "900m", "memory": "94371840", "example.com/gpu": "1"}


def test_a_new_node_of_each_size_is_empty():
    nodes = [node("a", taints=[{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]), node("b"), node("big", cpu="64")]
    new = [one.node for one in explanation.changes(pod("p"), nodes) if one.node]
    assert [one["metadata"]["name"] for one in new] == ["preview-new-1", "preview-new-2"]
    assert new[0]["metadata"]["labels"]["kubernetes.io/hostname"] == "preview-new-1"
    assert new[0]["spec"] == {"taints": []}


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (
            "0/4 nodes are available: 1 Insufficient cpu, 3 node(s) didn't satisfy plugin(s) [NodeAffinity]. preemption: no.",
            "Insufficient cpu",
        ),
        ("0/1 nodes are available: 1 Insufficient memory.", "Insufficient memory"),
        (
            "0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.",
            "0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.",
        ),
        ("waiting for ephemeral volume controller", "waiting for ephemeral volume controller"),
    ],
)
def test_the_reason_of_one_node_is_read_from_the_message(message, reason):
    assert explanation._own_reason(message) == reason


def test_one_pod_is_required():
    snapshot = parse(listed(node("a")), "list")
    for given in ({}, {"name": "p", "template": {"spec": {}}}):
        with pytest.raises(InputError, match="name, template: set one of them"):
            explanation.explain(explanation.Options({}, **given), snapshot, None, None)


def test_a_template_that_is_no_pod_is_rejected():
    snapshot = parse(listed(node("a")), "list")
    with pytest.raises(InputError, match=r"^template: must be a Pod with metadata and spec"):
        explanation.explain(explanation.Options({}, template={"metadata": "x", "spec": {}}), snapshot, None, None)


def test_only_taints_that_are_not_tolerated_are_tried():
    nodes = [
        node("a", taints=[GPU, {"key": "b", "effect": "NoExecute"}]),
        node("b", taints=[GPU, {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}], unschedulable=True),
        node("c", taints=[{"key": "t", "value": "5", "effect": "NoSchedule"}]),
    ]
    tolerations = [{"key": "t", "operator": "Lt", "value": "9", "effect": ""}]
    found = changes(*nodes, tolerations=tolerations)
    assert list(found)[1:4] == [
        "without the taint gpu=a:NoSchedule of 2 nodes",
        "without the taint b:NoExecute of 1 nodes",
        "with the 1 cordoned nodes",
    ]
    added = {"key": "b", "operator": "Equal", "effect": "NoExecute", "value": ""}
    assert found["without the taint b:NoExecute of 1 nodes"]["tolerations"] == [*tolerations, added]
    cordoned = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
    assert found["with the 1 cordoned nodes"]["tolerations"] == [*tolerations, cordoned]


def test_only_required_constraints_are_removed_one_at_a_time():
    hard, soft = ({"topologyKey": "z", "whenUnsatisfiable": one} for one in ("DoNotSchedule", "ScheduleAnyway"))
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [{}]}
    found = changes(node("a"), nodeSelector={"a": "b"}, affinity={"podAffinity": required}, topologySpreadConstraints=[hard, soft])
    assert list(found)[1:] == [
        "without nodeSelector and required node affinity",
        "without required pod affinity",
        "without required topology spread constraints",
        "with one more node like a",
    ]
    less = found["without nodeSelector and required node affinity"]
    assert ("nodeSelector" in less, less["affinity"]) == (False, {"podAffinity": required, "nodeAffinity": {}})
    assert found["without required pod affinity"]["affinity"] == {"podAffinity": {}}
    assert found["without required topology spread constraints"]["topologySpreadConstraints"] == [soft]
    only_soft = changes(node("a"), topologySpreadConstraints=[soft], cpu="0")
    assert "without required topology spread constraints" not in only_soft


def test_requests_of_all_kinds_are_made_smaller():
    requests = {"cpu": "1500m", "memory": "1Ki", "ephemeral-storage": "10", "pods": "1"}
    spec = {
        "containers": [{"resources": {"requests": requests}}, {"name": "none"}],
        "initContainers": [{"resources": {"requests": {"cpu": 1}}}],
    }
    assert explanation.smaller(spec) == {
        "containers": [
            {"resources": {"requests": {"cpu": "1350m", "memory": "921", "ephemeral-storage": "9", "pods": "1"}}},
            {"name": "none"},
        ],
        "initContainers": [{"resources": {"requests": {"cpu": "900m"}}}],
    }


def test_new_nodes_are_copies_of_the_three_most_frequent_sizes():
    nodes = [node(name, cpu=cpu) for name, cpu in (("a", "1"), ("b", "2"), ("c", "3"), ("d", "3"), ("e", "4"), ("f", "4"))]
    nodes[2]["spec"]["taints"] = [GPU, {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]
    found = [(one.text, one.node) for one in explanation.changes(pod("p"), nodes) if one.node]
    assert [text.rpartition(" ")[2] for text, _node in found] == ["c", "e", "a"]
    new = found[0][1]
    assert new == {
        **nodes[2],
        "metadata": {"name": "preview-new-1", "labels": {"kubernetes.io/hostname": "preview-new-1"}},
        "spec": {"taints": [GPU]},
    }


def test_a_twin_for_one_node_keeps_its_own_terms():
    terms = [{"matchFields": [{"key": "x"}]}, {"matchExpressions": [{"key": "y"}]}]
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [1]}
    affinity = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}, **preferred},
        "podAffinity": {},
    }
    here = {"key": "metadata.name", "operator": "In", "values": ["a"]}
    twin = explanation._only_on(pod("p", affinity=affinity), "a")["spec"]
    pinned = [{"matchFields": [{"key": "x"}, here]}, {"matchExpressions": [{"key": "y"}], "matchFields": [here]}]
    assert twin["affinity"] == {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": pinned}, **preferred},
        "podAffinity": {},
    }
    assert twin["preemptionPolicy"] == "Never"
