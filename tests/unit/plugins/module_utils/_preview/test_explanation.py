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


def test_only_what_could_matter_is_tried():
    assert list(changes(node("a", taints=[SOFT]), node("b"))) == ["10 % smaller requests", "with one more node like a"]
    tolerant = changes(node("a", taints=[GPU]), tolerations=[{"key": "gpu", "operator": "Exists"}])
    assert list(tolerant) == ["10 % smaller requests", "with one more node like a"]


def test_each_change_is_the_only_one():
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


def test_smaller_requests():
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
def test_the_reason_of_one_node(message, reason):
    assert explanation._own_reason(message) == reason


def test_one_pod_is_required():
    snapshot = parse(listed(node("a")), "list")
    for given in ({}, {"name": "p", "template": {"spec": {}}}):
        with pytest.raises(InputError, match="name, template: set one of them"):
            explanation.explain(explanation.Options({}, **given), snapshot, None, None)


def test_a_template_that_is_no_pod():
    snapshot = parse(listed(node("a")), "list")
    with pytest.raises(InputError, match=r"^template: must be a Pod with metadata and spec"):
        explanation.explain(explanation.Options({}, template={"metadata": "x", "spec": {}}), snapshot, None, None)
