# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods that a kubelet rejected, and nodes that several schedulers use."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.collisions import User, collisions, is_rejected, overlaps

OWNER = {"kind": "Job", "name": "crunch", "controller": True}


def pod(name, scheduler, second, node="n1", reason="", phase="Running", **metadata):
    status = {
        "phase": "Failed" if reason else phase,
        "startTime": f"2026-11-20T12:00:{second:02}Z",
        **({"reason": reason} if reason else {}),
    }
    about = {"name": name, "namespace": "d", "creationTimestamp": "2026-11-20T11:00:00Z", **metadata}
    return {"metadata": about, "spec": {"schedulerName": scheduler, "nodeName": node}, "status": status}


@pytest.mark.parametrize(
    ("reason", "rejected"),
    [("OutOfcpu", True), ("OutOfmemory", True), ("Outofpods", False), ("OutOfpods", True), ("OutOfexample.com/gpu", True), ("NodeAffinity", True),
     ("UnexpectedAdmissionError", True), ("Evicted", False), ("NodeLost", False), ("", False)],
)  # fmt: skip
def test_only_reasons_of_the_kubelets_admission_are_rejections(reason, rejected):
    assert is_rejected(pod("p", "s", 0, reason=reason)) is rejected


def test_a_pod_without_a_node_was_not_rejected_by_a_kubelet():
    assert not is_rejected({"spec": {}, "status": {"phase": "Failed", "reason": "OutOfcpu"}})
    assert not is_rejected({"spec": {"nodeName": "n"}})
    assert not is_rejected(pod("p", "s", 0) | {"status": {"phase": "Running", "reason": "OutOfcpu"}})


def test_the_other_scheduler_is_the_one_that_placed_a_pod_there_in_those_seconds():
    rejected = [
        pod("a", "batch", 20, reason="OutOfcpu", ownerReferences=[OWNER]),
        pod("b", "batch", 30, reason="OutOfmemory", ownerReferences=[OWNER]),
        pod("c", "batch", 20, "n2", "OutOfcpu"),
        pod("d", "batch", 20, "n3", "OutOfcpu"),
    ]
    nodes = {
        "n1": [*rejected[:2], pod("w", "default-scheduler", 21), pod("own", "batch", 20), pod("late", "other", 41)],
        # It was rejected itself: it took nothing.
        "n2": [rejected[2], pod("x", "default-scheduler", 20, "n2", "OutOfcpu")],
    }
    found = collisions(rejected, nodes)
    assert [(one["others"], one["pods"], one["reasons"], one["nodes"]) for one in found] == [
        (["default-scheduler"], 2, {"OutOfcpu": 1, "OutOfmemory": 1}, ["n1"]),
        ([], 2, {"OutOfcpu": 2}, ["n2", "n3"]),
    ]
    assert (found[0]["name"], found[0]["owner"], found[0]["at"]) == ("b", "Job/crunch", "2026-11-20T12:00:30Z")
    assert found[0]["message"].startswith(
        "kubelets of 1 node rejected 2 pods of the scheduler batch (1 OutOfcpu, 1 OutOfmemory), while default-scheduler placed pods there within 10 s: "
        "define a pool for batch; "
    )
    assert "no other scheduler placed a pod there" in found[1]["message"]


def test_the_pool_is_for_the_scheduler_that_is_not_the_default_one():
    (found,) = collisions([pod("a", "default-scheduler", 1, reason="OutOfcpu")], {"n1": [pod("b", "batch", 1)]})
    assert "define a pool for batch;" in found["message"]


def node(name, taint="", **labels):
    return {"metadata": {"name": name, "labels": labels}, "spec": {"taints": [{"key": "k", "effect": taint}]} if taint else {}}


DEFAULT = User("default", {"default-scheduler": None})


def added(*expressions):
    return User("batch", {"batch": [{"matchExpressions": list(expressions)}]})


def test_schedulers_that_use_the_same_nodes_are_reported():
    nodes = [node("n1"), node("n2", "NoSchedule"), node("n3", "PreferNoSchedule"), node("n4", "NoExecute")]
    (found,) = overlaps([DEFAULT, User("batch", {"b": None, "a": None})], nodes)
    assert (found["schedulers"], found["scheduler_names"], found["nodes"], found["examples"]) == (
        ["default", "batch"],
        ["a", "b", "default-scheduler"],
        2,
        ["n1", "n3"],
    )
    assert found["message"].startswith("default and batch place pods on the same 2 nodes, and can bind")
    assert overlaps([DEFAULT], nodes) == []


def test_only_affinity_and_a_taint_together_separate_schedulers():
    """One keeps to its nodes, and a taint keeps the other away from them. Either alone is not sufficient."""
    mine = {"key": "pool", "operator": "In", "values": ["batch"]}
    assert overlaps([DEFAULT, added(mine)], [node("n1", "NoSchedule", pool="batch"), node("n2")]) == []
    assert overlaps([DEFAULT, added(mine)], [node("n1", pool="batch"), node("n2")])[0]["examples"] == ["n1"]
    assert overlaps([DEFAULT, User("batch", {"batch": None})], [node("n1", "NoSchedule", pool="batch"), node("n2")])[0]["examples"] == [
        "n2"
    ]


@pytest.mark.parametrize(
    ("term", "selects"),
    [
        ({"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}, True),
        ({"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a"]}]}, False),
        ({"matchExpressions": [{"key": "zone", "operator": "Exists"}, {"key": "gpu", "operator": "DoesNotExist"}]}, True),
        (
            {
                "matchExpressions": [
                    {"key": "cores", "operator": "Gt", "values": ["4"]},
                    {"key": "cores", "operator": "Lt", "values": ["9"]},
                ]
            },
            True,
        ),
        ({"matchExpressions": [{"key": "zone", "operator": "Gt", "values": ["4"]}]}, False),
        ({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}, True),
        ({}, False),
        # A configuration is a text of somebody else.
        ({"matchExpressions": 1}, False),
        ({"matchExpressions": [1]}, False),
        ({"matchExpressions": [{"key": [], "operator": {}, "values": 5}]}, False),
        ({"matchExpressions": [{"key": "zone", "operator": "In", "values": "abc"}]}, False),
    ],
)
def test_node_selector_terms_select_nodes_as_in_kubernetes(term, selects):
    found = overlaps([DEFAULT, User("batch", {"batch": [term]})], [node("n", zone="a", cores="8")])
    assert bool(found) is selects


def test_the_entry_of_a_collision_has_all_its_fields():
    rejected = [pod("a", "batch", 20, reason="OutOfcpu"), pod("b", "batch", 21, "n2", "OutOfcpu")]
    nodes = {"n1": [pod("w", "default-scheduler", 30)], "n2": [pod("x", "default-scheduler", 11, "n2"), pod("y", "other", 32, "n2")]}
    (found,) = collisions(rejected, nodes)
    assert found == {
        "scheduler_name": "batch",
        "others": ["default-scheduler"],
        "pods": 2,
        "reasons": {"OutOfcpu": 2},
        "nodes": ["n1", "n2"],
        "namespace": "d",
        "name": "b",
        "owner": "",
        "at": "2026-11-20T12:00:21Z",
        "message": (
            "kubelets of 2 nodes rejected 2 pods of the scheduler batch (2 OutOfcpu), while default-scheduler placed pods there within 10 s: define "
            "a pool for batch; a pool with nodes of its own and exclusive: true separates them (docs/pools.md)"
        ),
    }


def test_without_a_start_time_the_creation_counts():
    early = pod("a", "batch", 0, reason="OutOfcpu")
    del early["status"]["startTime"]
    (found,) = collisions([early], {})
    assert (found["at"], found["others"]) == ("2026-11-20T11:00:00Z", [])
    assert found["message"] == (
        "kubelets of 1 node rejected 1 pod of the scheduler batch (1 OutOfcpu); no other scheduler placed a pod there within 10 s that still "
        "exists. The message of the pod has the cause"
    )


def test_groups_of_collisions_are_in_order():
    rejected = [pod(name, scheduler, 1, node, "OutOfcpu") for name, scheduler, node in (
        ("a", "z", "n1"), ("b", "y", "n1"), ("c", "x", "n2"), ("d", "x", "n2"), ("e", "w", "n3"))]  # fmt: skip
    found = collisions(rejected, {"n3": [pod("o", "other", 1, "n3")]})
    assert [(one["scheduler_name"], one["pods"]) for one in found] == [("w", 1), ("x", 2), ("y", 1), ("z", 1)]


def test_examples_of_nodes_are_few_and_largest_groups_come_first():
    mine = {"key": "pool", "operator": "In", "values": ["batch"]}
    nodes = [node("z", pool="batch"), *(node(f"n{number}") for number in range(7))]
    users = [DEFAULT, User("second", {"second": None}), added(mine)]
    found = overlaps(users, nodes)
    assert [(one["schedulers"], one["nodes"], one["examples"]) for one in found] == [
        (["default", "second"], 7, ["n0", "n1", "n2", "n3", "n4"]),
        (["default", "second", "batch"], 1, ["z"]),
    ]
    assert found[1]["message"] == (
        "default and second and batch place pods on the same 1 node, and can bind two pods to the same free resources: a pool with nodes of its "
        "own and exclusive: true separates them (docs/pools.md)"
    )


@pytest.mark.parametrize(
    ("operator", "values", "selects"),
    [
        ("Gt", ["7"], True),
        ("Gt", ["8"], False),
        ("Lt", ["9"], True),
        ("Lt", ["8"], False),
        ("Gt", [], False),
        ("NotIn", ["7"], True),
        ("Other", ["8"], False),
    ],
)
def test_gt_and_lt_compare_labels_as_numbers(operator, values, selects):
    term = {"matchExpressions": [{"key": "cores", "operator": operator, "values": values}]}
    assert bool(overlaps([DEFAULT, User("batch", {"batch": [term]})], [node("n", cores="8")])) is selects
