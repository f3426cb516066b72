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


def test_all_is_well():
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


def test_nodes():
    assert kinds(dump(), []) == [("missing_node", "node-1")]
    assert kinds(dump(node(deleted=True)), []) == [("missing_node", "node-1")]
    assert kinds(dump(node(), node("gone", [believed("a")], deleted=True)), []) == [("ghost_node", "gone"), ("stale_pod", "a")]


def test_amounts():
    assert kinds(dump(node(allocatable=900)), []) == [("allocatable", "node-1")]
    assert kinds(dump(node(pods=[believed("a")], cpu=50)), [api_pod("a", "node-1", cpu="100m")]) == [("requested", "node-1")]


def test_what_is_requested_is_not_told_where_the_pods_differ_already():
    assert kinds(dump(node(cpu=0)), [api_pod("a", "node-1", cpu="100m")]) == [("missing_pod", "a")]


def test_pods():
    assert kinds(dump(node(pods=[believed("a")])), []) == [("stale_pod", "a")]
    assert kinds(dump(node(pods=[believed("a")])), [api_pod("a", "node-1", phase="Failed")]) == [("stale_pod", "a")]
    two = [api_node(), api_node("node-2")]
    assert kinds(dump(node(pods=[believed("a")]), node("node-2")), [api_pod("a", "node-2")], nodes=two) == [("pod_elsewhere", "a")]


def test_a_pod_that_is_assumed_on_a_node_is_no_difference():
    assert kinds(dump(node(pods=[believed("a")])), [api_pod("a")]) == []


def test_the_queue():
    assert kinds(dump(node()), [api_pod("w")]) == [("missing_in_queue", "w")]
    assert kinds(dump(node()), [api_pod("w")], names=None) == []
    assert kinds(dump(node()), [api_pod("w", deletionTimestamp="now")]) == []
    assert kinds(dump(node(), queue=[believed("w", "active")]), []) == [("stale_in_queue", "w")]
    assert kinds(dump(node(pods=[believed("w")]), queue=[believed("w", "active")]), [api_pod("w", "node-1")]) == [("stale_in_queue", "w")]


@pytest.mark.parametrize(
    ("before", "after"),
    [([], [api_pod("a", "node-1")]), ([api_pod("a", "node-1")], []), ([api_pod("a")], [api_pod("a", "node-1")])],
)
def test_what_changes_meanwhile_is_no_difference(before, after):
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
