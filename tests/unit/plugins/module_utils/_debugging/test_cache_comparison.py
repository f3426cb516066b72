# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A dump beside the API server's view."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import cache_comparison as comparing
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.dump_parser import Dump, Node, Pod, Resources

NAMES = ("second",)


def believed(name, queue="", node=""):
    return Pod("shop", name, f"uid-{name}", "Running", node, queue)


def node(name="node-1", pods=(), deleted=False, cpu=0, allocatable=1000):
    return Node(name, deleted, Resources(cpu_millis=cpu), Resources(cpu_millis=allocatable), tuple(pods))


def dump(*nodes, queue=(), **mismatches):
    none = dict.fromkeys(("missed_nodes", "redundant_nodes", "missed_pods", "redundant_pods"), ())
    return Dump("", nodes, {}, tuple(queue), {**none, **mismatches})


def api_node(name="node-1", cpu="1"):
    return {"metadata": {"name": name}, "status": {"allocatable": {"cpu": cpu}}}


def api_pod(name, where="", scheduler="second", phase="Running", cpu="0", **metadata):
    return {
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", **metadata},
        "spec": {"nodeName": where, "schedulerName": scheduler, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
        "status": {"phase": phase},
    }


def kinds(found, before, after=None, names=NAMES, nodes=None):
    nodes = nodes or [api_node()]
    result = comparing.compare(found, comparing.view(nodes, before), comparing.view(nodes, before if after is None else after), names)
    assert result["consistent"] == (not result["differences"])
    return [(difference["kind"], difference["pod"] or difference["node"]) for difference in result["differences"]]


def test_a_dump_that_matches_the_cluster_has_no_differences():
    found = dump(node(pods=[believed("a")], cpu=100), queue=[believed("w", "unschedulable")])
    assert (
        kinds(
            found,
            [
                api_pod("a", "node-1", cpu="100m"),
                api_pod("w"),
                api_pod("done", "node-1", phase="Succeeded"),
                api_pod("else", scheduler="x"),
            ],
        )
        == []
    )


def test_missing_and_ghost_nodes_are_differences():
    assert kinds(dump(), []) == [("missing_node", "node-1")]
    assert kinds(dump(node(deleted=True)), []) == [("missing_node", "node-1")]
    assert kinds(dump(node(), node("gone", [believed("a")], deleted=True)), []) == [("ghost_node", "gone"), ("stale_pod", "a")]


def test_wrong_allocatable_and_requested_amounts_are_differences():
    assert kinds(dump(node(allocatable=900)), []) == [("allocatable", "node-1")]
    assert kinds(dump(node(pods=[believed("a")], cpu=50)), [api_pod("a", "node-1", cpu="100m")]) == [("requested", "node-1")]


def test_a_difference_in_requests_is_not_reported_if_the_pods_differ():
    assert kinds(dump(node(cpu=0)), [api_pod("a", "node-1", cpu="100m")]) == [("missing_pod", "a")]


def test_stale_and_misplaced_pods_are_differences():
    assert kinds(dump(node(pods=[believed("a")])), []) == [("stale_pod", "a")]
    assert kinds(dump(node(pods=[believed("a")])), [api_pod("a", "node-1", phase="Failed")]) == [("stale_pod", "a")]
    two = [api_node(), api_node("node-2")]
    assert kinds(dump(node(pods=[believed("a")]), node("node-2")), [api_pod("a", "node-2")], nodes=two) == [("pod_elsewhere", "a")]


def test_a_pod_that_is_assumed_on_a_node_is_no_difference():
    assert kinds(dump(node(pods=[believed("a")])), [api_pod("a")]) == []


def test_missing_and_stale_pods_in_the_queue_are_differences():
    assert kinds(dump(node()), [api_pod("w")]) == [("missing_in_queue", "w")]
    assert kinds(dump(node()), [api_pod("w")], names=None) == []
    assert kinds(dump(node()), [api_pod("w", deletionTimestamp="now")]) == []
    assert kinds(dump(node(), queue=[believed("w", "active")]), []) == [("stale_in_queue", "w")]
    assert kinds(dump(node(pods=[believed("w")]), queue=[believed("w", "active")]), [api_pod("w", "node-1")]) == [("stale_in_queue", "w")]


@pytest.mark.parametrize(
    ("before", "after"),
    [([], [api_pod("a", "node-1")]), ([api_pod("a", "node-1")], []), ([api_pod("a")], [api_pod("a", "node-1")])],
)
def test_changes_during_the_dump_are_no_differences(before, after):
    for found in (dump(node()), dump(node(pods=[believed("a")])), dump(node(), queue=[believed("a", "active")])):
        assert kinds(found, before, after) == []
    nodes = [api_node()]
    assert comparing.compare(dump(node()), comparing.view(nodes, before), comparing.view(nodes, after), NAMES)["in_flux"] == 1


def test_the_schedulers_own_mismatches_are_explained():
    found = dump(node(), missed_pods=("uid-other", "uid-mine", "uid-there", "uid-gone"), redundant_nodes=("n",))
    pods = [api_pod("other", scheduler="x"), api_pod("mine"), api_pod("there", "node-1")]
    one = comparing.view([api_node()], pods)
    explained = {entry["pod"] or entry["subject"]: entry["meaning"] for entry in comparing.compare(found, one, one, NAMES)["mismatches"]}
    assert explained["other"] == "no mismatch: it waits for x, which is another scheduler"
    assert "not in the queue" in explained["mine"]
    assert "disagree about this pod" in explained["there"]
    assert "does not have any more" in explained["uid-gone"]
    assert "disagree about this node" in explained["n"]


def test_each_difference_has_its_kind_explanation_and_place():
    two = [api_node(), api_node("node-2")]
    found = dump(
        node(pods=[believed("moved"), believed("gone")], cpu=50, allocatable=900),
        node("ghost", [believed("a")], deleted=True),
        node("ghost-2"),
        queue=[believed("placed", "active"), believed("ended", "active")],
    )
    pods = [api_pod("moved", "node-2"), api_pod("placed", "node-1"), api_pod("waits"), api_pod("a", "ghost")]
    one = comparing.view(two, pods)
    result = comparing.compare(found, one, one, NAMES)
    assert (result["consistent"], result["in_flux"], result["mismatches"]) == (False, 0, [])
    amount = "of cpu on node-1 the scheduler has 900m as allocatable, the API server 1000m"
    waits = "it waits for this scheduler, but is neither in its queue nor assumed on a node; it may be processed at this moment"
    assert [tuple(difference.values()) for difference in result["differences"]] == [
        ("allocatable", amount, "node-1", "", ""),
        ("missing_node", "the scheduler does not know the node node-2", "node-2", "", ""),
        ("ghost_node", "the scheduler keeps the node ghost for 1 pods, which the API server does not have", "ghost", "", ""),
        ("ghost_node", "the scheduler keeps the node ghost-2 as if it were there, which the API server does not have", "ghost-2", "", ""),
        ("pod_elsewhere", "pod shop/moved: the scheduler counts it on node-1, but it is on node-2", "node-1", "shop", "moved"),
        ("stale_pod", "pod shop/gone: the scheduler counts it on node-1, but it has ended or was deleted", "node-1", "shop", "gone"),
        ("missing_pod", "pod shop/placed: it is on node-1, but the scheduler does not count it", "node-1", "shop", "placed"),
        ("stale_in_queue", "pod shop/placed: it is in the scheduler's queue, but it is on node-1 already", "", "shop", "placed"),
        ("stale_in_queue", "pod shop/ended: it is in the scheduler's queue, but it has ended or was deleted", "", "shop", "ended"),
        ("missing_in_queue", f"pod shop/waits: {waits}", "", "shop", "waits"),
    ]
    assert list(result["differences"][0]) == ["kind", "message", "node", "namespace", "pod"]


def test_each_mismatch_has_its_kind_subject_and_meaning():
    found = dump(node(), missed_pods=("uid-other", "uid-gone"), redundant_pods=("uid-other",), missed_nodes=("n",))
    one = comparing.view([api_node()], [api_pod("other", scheduler="x")])
    about = {"namespace": "", "pod": ""}
    other = {"subject": "uid-other", "namespace": "shop", "pod": "other"}
    node_text = "the scheduler's informer and its cache disagree about this node"
    assert comparing.compare(found, one, one, NAMES)["mismatches"] == [
        {"kind": "missed_nodes", "subject": "n", **about, "meaning": node_text},
        {"kind": "missed_pods", **other, "meaning": "no mismatch: it waits for x, which is another scheduler"},
        {"kind": "missed_pods", "subject": "uid-gone", **about, "meaning": "a pod that the API server does not have any more"},
        {"kind": "redundant_pods", **other, "meaning": "the scheduler's informer and its cache disagree about this pod"},
    ]
    unknown = comparing.compare(found, one, one, None)["mismatches"][1]["meaning"]
    assert unknown == "it waits for a node, but is not in the queue; it may have been processed at that moment"
