# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whole previews and explanations with a stand-in for kube-scheduler. With real kube-schedulers: tests/api/test_preview.py."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._preview import explanation, simulation
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import (
    Options,
    Selection,
    _assumptions,
    about_load,
    preview,
    source_of,
    text_of,
)
from ansible_collections.osso.scheduler.plugins.module_utils._preview.sandbox import Sandbox
from ansible_collections.osso.scheduler.plugins.module_utils._preview.scheduler_process import Candidate
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import Snapshot, parse
from support import scheduler_stand_in
from support.preview import CONFIG, listed, node, pod

GENERAL = "Admission, quotas and kubelets that reject pods are not part of a preview."
ALL_NODES = (
    "All nodes are scored (percentageOfNodesToScore is 100). With fewer, a cluster of more than 100 nodes chooses among some of them."
)
KUBECTL = "The snapshot is a list of kubectl: kinds that it does not contain do not exist in the preview."
ALONE = "Each pod is placed alone, with all other pods where they are. The values of nodes after it add up these answers."


@pytest.fixture
def given(tmp_path):
    """What the stand-in was given, after a preview."""
    return tmp_path / "given.json"


@pytest.fixture
def ask(tmp_path):
    """ask(objects, mode, ...): the result, and the progress that was shown."""
    path, _given = scheduler_stand_in.write(tmp_path)
    shown = []

    def result(objects, mode, candidate=None, **more):
        side = {"binary": path, "config": CONFIG, **(candidate or {})}
        return preview(Options(side, mode, **more), parse(listed(*objects), "list"), None, shown.append)

    result.shown, result.path = shown, path
    return result


@pytest.fixture
def why(ask):
    def result(objects, name="p", **more):
        options = explanation.Options({"binary": ask.path, "config": CONFIG}, name, "shop", **more)
        return explanation.explain(options, parse(listed(*objects), "list"), None, ask.shown.append)

    return result


def scored(name, points, **more):
    made = node(name, **more)
    made["metadata"]["labels"]["score"] = str(points)
    return made


def places(result):
    return {row["name"]: (row["status"], row["node"]) for row in result["pods"]}


def test_mode_replace_places_pods_one_after_the_other(ask, given):
    objects = [scored("a", 5), scored("b", 9), scored("c", 9), pod("good", on="b"), pod("better", on="a"), pod("tied", on="c")]
    found = ask([*objects, pod("waits")], "replace")
    assert places(found) == {"good": ("tie", "c"), "better": ("moved", "c"), "tied": ("same", "c")}
    assert (found["changed"], found["exceeded"], found["missing"], found["kubernetes_version"]) == (False, [], [], "1.34")
    assert found["scheduler_names"] == ["second"]
    assert found["msg"] == "replace: 3 pods: 1 same, 1 tie, 1 moved, 0 unschedulable, 0 preempts, 0 not compared."
    assert found["assumptions"] == [GENERAL, ALL_NODES, ALONE, "1 other pending pods are not placed.", KUBECTL]
    assert ask.shown[:3] == ["candidate: 0 of 3 pods", "candidate: 1 of 3 pods", "candidate: 2 of 3 pods"]
    assert "candidate, scores: 0 of 2 pods" in ask.shown
    seen = json.loads(given.read_text())
    assert seen["arguments"] == [
        *("--secure-port=0", "--leader-elect=false", "--authentication-skip-lookup=true"),
        "--vmodule=schedule_one=10,eventhandlers=3,framework=4",
    ]
    assert seen["config"]["profiles"][0]["schedulerName"] == "second"


def test_pending_pods_are_placed_together(ask, monkeypatch):
    monkeypatch.setattr(simulation, "_RETRIED", 0.2)
    objects = [node("a", cpu="2"), pod("here", on="a", cpu="1"), pod("big", cpu="1500m"), pod("small", cpu="500m")]
    found = ask([*objects, pod("gated", schedulingGates=[{"name": "x"}])], "pending", max_unschedulable=0)
    summary = {name: found["summary"][name] for name in ("pods", "moved", "unschedulable", "not_compared", "newly_unschedulable")}
    assert summary == {"pods": 3, "moved": 1, "unschedulable": 1, "not_compared": 1, "newly_unschedulable": 0}
    assert places(found)["small"][1] == "a"
    assert places(found)["big"] == ("unschedulable", "")
    assert found["exceeded"] == []
    assert {row["name"]: row["reason"] for row in found["pods"]}["big"] == "0/1 nodes are available: 1 Insufficient cpu."
    assert {row["name"]: row["reason"] for row in found["pods"]}["gated"] == "it waits at the scheduling gates x"
    assert found["assumptions"] == [GENERAL, ALL_NODES, KUBECTL]


def test_mode_drain_places_the_pods_of_a_node_elsewhere(ask, given):
    objects = [
        scored("a", 9),
        scored("b", 1),
        pod("one", on="a"),
        pod("two", on="a"),
        pod("agent", on="a", owner="DaemonSet"),
        pod("waits"),
    ]
    found = ask([*objects, pod("other", on="b")], "drain", nodes=["a"])
    assert {name: where for name, (_status, where) in places(found).items()} == {"one": "b", "two": "b"}
    assert found["assumptions"] == [
        GENERAL,
        ALL_NODES,
        "These nodes are cordoned: a.",
        "1 selected pods stay: pods of DaemonSets, static pods and pods that are being deleted.",
        "1 other pending pods are not placed.",
        KUBECTL,
    ]


@pytest.mark.parametrize(("limit", "pods", "stopped"), [(10, 3, "0/1 nodes are available: 1 Insufficient cpu."), (2, 2, "the limit")])
def test_mode_headroom_counts_how_many_pods_of_a_template_fit(ask, given, limit, pods, stopped):
    template = {"metadata": {"namespace": "shop"}, "spec": pod("x", cpu="1")["spec"]}
    found = (
        ask([node("a")], "headroom", template=template, limit=limit)
        if limit == 2
        else ask([node("a"), pod("there", on="a", cpu="1")], "headroom", template=template, limit=limit)
    )
    assert found["headroom"]["pods"] == pods
    assert stopped in found["headroom"]["stopped_by"]
    assert found["msg"].startswith(f"{pods} more pods fit. The next one: ")


def test_headroom_is_beside_the_pods_that_exist(ask):
    template = {"spec": pod("x", cpu="1", priority=9)["spec"]}
    found = ask([node("a"), pod("there", on="a", cpu="3")], "headroom", template=template)
    assert (found["headroom"]["pods"], found["summary"]["preempted"]) == (1, [])


@pytest.mark.parametrize("mode", ["pending", "replace"])
def test_a_preemption_names_its_victims(ask, mode):
    high = pod("high", cpu="3", priority=10, on="a" if mode == "replace" else "")
    found = ask([node("a"), pod("low", on="a", cpu="3"), high], mode, namespaces=["shop"], labels={"app": "shop"})
    row = next(row for row in found["pods"] if row["name"] == "high")
    assert (row["status"], row["node"], row["reason"]) == ("preempts", "a", "preempts shop/low")
    assert found["summary"]["preempted"] == ["shop/low"]
    if mode == "replace":
        # What was preempted exists again for the next pod.
        assert {row["name"] for row in found["pods"]} == {"high", "low"}


def test_pods_are_compared_with_the_baseline(ask, tmp_path):
    objects = [scored("a", 5), scored("b", 9), pod("p", on="a")]
    found = ask(objects, "replace", baseline={"config": CONFIG, "image": "registry.k8s.io/kube-scheduler:v1.33.0"})
    assert places(found) == {"p": ("same", "b")}
    assert "baseline: 0 of 1 pods" in ask.shown
    found = ask(objects, "replace", baseline={"config": CONFIG, "binary": ask.path})
    assert places(found) == {"p": ("same", "b")}


def test_a_broken_baseline_is_an_error_unless_it_may_be_broken(ask):
    broken = {"config_text": "kind: [", "source": "the ConfigMap"}
    objects = [node("a"), pod("p", on="a")]
    with pytest.raises(ClusterError, match=r"^the ConfigMap: this is no usable KubeSchedulerConfiguration for "):
        ask(objects, "replace", baseline=broken)
    found = ask(objects, "replace", baseline={**broken, "may_be_broken": True})
    assert found["assumptions"][-1].startswith(
        "The present configuration cannot be run, so each pod is compared with its present node. the ConfigMap: this is no usable "
    )
    assert places(found) == {"p": ("same", "a")}


def test_a_baseline_whose_scheduler_ends_is_broken_too(ask, tmp_path):
    """The pods of profiles that it lacks are compared, too. A baseline that takes too long is no broken one."""
    program = tmp_path / "broken"
    program.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Kubernetes v1.34.1 && exit\necho "unknown plugin" >&2\nexit 1\n')
    program.chmod(0o755)
    config = {**CONFIG, "profiles": [{"schedulerName": "second"}, {"schedulerName": "third"}]}
    objects = [node("a"), pod("p", on="a"), pod("q", on="a", schedulerName="second")]
    baseline = {"config": config, "binary": str(program), "may_be_broken": True}
    found = ask(objects, "replace", baseline=baseline)
    assert places(found) == {"p": ("same", "a"), "q": ("same", "a")}
    assert "unknown plugin" in found["assumptions"][-1]
    slow = [node("a"), pod("q", on="a", schedulerName="second", labels={"silent": ""})]
    with pytest.raises(ClusterError, match="did not place all pods before the timeout"):
        ask(slow, "replace", baseline={"config": config, "binary": ask.path, "may_be_broken": True}, timeout=1)


def test_a_pod_that_the_scheduler_does_not_process_loses_its_node(ask, monkeypatch):
    monkeypatch.setattr(simulation, "_UNPROCESSED", 0.5)
    monkeypatch.setattr(simulation, "_RETRIED", 0.2)
    objects = [node("a"), pod("first", on="a"), pod("second", on="a", labels={"silent": ""})]
    found = ask(objects, "replace", max_unschedulable=0)
    assert places(found) == {"first": ("same", "a"), "second": ("unschedulable", "")}
    assert found["exceeded"] == ["1 pod would have no node, the limit is 0: shop/second."]
    assert places(ask([node("a"), pod("p"), pod("q", labels={"silent": ""})], "pending"))["q"] == ("not compared", "")


def test_a_preview_ends_at_its_timeout(ask, monkeypatch):
    with pytest.raises(
        ClusterError, match=r"^candidate: the kube-scheduler \(candidate\.binary: .*\) did not place all pods before the timeout"
    ):
        ask([node("a"), pod("p", on="a", labels={"silent": ""})], "replace", timeout=1)


def test_an_explanation_lists_scores_and_the_reasons_of_rejected_nodes(why, given):
    cordoned, tainted = scored("c", 9, unschedulable=True), scored("d", 9, taints=[{"key": "gpu", "effect": "NoSchedule"}])
    objects = [scored("a", 1), scored("b", 3), cordoned, tainted, node("e", cpu="1"), pod("q", on="e", cpu="1"), pod("p", on="a"), pod("w")]
    found = why(objects)
    assert found.pop("nodes") == [
        {"name": "b", "fits": True, "score": 3, "plugins": {"Label": 3}, "filters": [], "reason": ""},
        {"name": "a", "fits": True, "score": 1, "plugins": {"Label": 1}, "filters": [], "reason": ""},
        {
            "name": "c",
            "fits": False,
            "score": None,
            "plugins": {},
            "filters": ["NodeUnschedulable"],
            "reason": "node(s) were unschedulable",
        },
        {
            "name": "d",
            "fits": False,
            "score": None,
            "plugins": {},
            "filters": ["TaintToleration"],
            "reason": "node(s) had untolerated taint {gpu: }",
        },
        {"name": "e", "fits": False, "score": None, "plugins": {}, "filters": ["NodeResourcesFit"], "reason": "Insufficient cpu"},
    ]
    assert found == {
        "changed": False,
        "pod": {"namespace": "shop", "name": "p", "current": "a"},
        "node": "b",
        "ties": ["b"],
        "preempted": [],
        "reason": "",
        "attempts": [],
        "assumptions": [
            "Admission, quotas and kubelets that reject pods are not part of an explanation.",
            "Other pending pods are not placed.",
        ],
        "missing": [],
        "kubernetes_version": "1.34",
        "msg": "shop/p: b. 2 of 5 nodes fit.",
    }


def test_an_explanation_lists_nodes_with_the_same_score_as_ties(why):
    found = why([scored("a", 3), scored("b", 3), pod("p")])
    assert (found["node"], found["ties"]) == ("b", ["a", "b"])
    assert found["msg"] == "shop/p: b, at random among 2 nodes with the same score. 2 of 2 nodes fit."
    alone = why([node("a"), pod("p")])
    assert (alone["ties"], alone["nodes"][0]["score"], alone["nodes"][0]["fits"]) == (["a"], None, True)


def test_an_explanation_lists_changes_that_would_make_a_pod_fit(why):
    objects = [
        node("full", cpu="1"),
        node("gpu", taints=[{"key": "gpu", "value": "a", "effect": "NoSchedule"}]),
        node("cordoned", unschedulable=True),
        pod("p", cpu="1100m", resourceClaims=[{"name": "c"}]),
    ]
    found = why(objects)
    assert (found["node"], found["ties"]) == ("", [])
    assert found["reason"] == (
        "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {gpu: }, 1 node(s) were unschedulable."
    )
    assert {one["change"]: (one["fits"], one["node"]) for one in found["attempts"]} == {
        "10 % smaller requests": (True, "full"),
        "without the taint gpu=a:NoSchedule of 1 nodes": (True, "gpu"),
        "with the 1 cordoned nodes": (True, "cordoned"),
        "with one more node like full": (False, ""),
        "with one more node like gpu": (False, ""),
    }
    reasons = {one["change"]: one["reason"] for one in found["attempts"]}
    assert reasons["with one more node like full"] == "Insufficient cpu"
    assert found["assumptions"][2:] == [
        "Devices of ResourceClaims are not allocated.",
        "A new node is empty. Pods of DaemonSets will use a part of it.",
    ]
    assert found["msg"].endswith(
        ". It would fit: 10 % smaller requests; without the taint gpu=a:NoSchedule of 1 nodes; with the 1 cordoned nodes."
    )
    assert why(objects, attempts=False)["attempts"] == []


def test_an_explanation_names_the_pods_that_would_be_preempted(why):
    found = why([node("a"), pod("victim", on="a", cpu="3"), pod("p", cpu="3", priority=10)])
    assert (found["node"], found["preempted"], found["attempts"]) == ("a", ["shop/victim"], [])
    assert (found["nodes"][0]["fits"], found["nodes"][0]["filters"]) == (False, ["NodeResourcesFit"])
    assert found["msg"] == "shop/p: a, after the deletion of shop/victim. 0 of 1 nodes fit."


def test_an_explanation_accepts_a_template_and_reports_an_unprocessed_pod(why, monkeypatch):
    template = {"spec": {"containers": [{"name": "c"}], "schedulingGates": [{"name": "x"}]}}
    found = why([node("a")], name=None, template=template)
    assert (found["pod"], found["node"]) == ({"namespace": "shop", "name": "preview", "current": ""}, "a")
    monkeypatch.setattr(simulation, "START_SECONDS", 0.5)
    found = why([node("a"), pod("p", labels={"silent": ""})])
    assert found["msg"] == "shop/p: the scheduler did not process it, such as a pod that waits for other pods of its group."
    assert found["attempts"] == []
    with pytest.raises(InputError, match=r"^name: there is no pod shop/x, or it has ended\. Set namespace and name of a pod that exists"):
        why([node("a")], name="x")


def test_exceeded_limits_are_reported_with_their_pods(ask):
    objects = [scored("a", 1), scored("b", 9), pod("moves", on="a"), pod("big", on="a", cpu="9"), pod("stays", on="b")]
    found = ask(objects, "replace", max_unschedulable=0, max_moved_percent=33.0)
    assert found["exceeded"] == [
        "1 pod would have no node, the limit is 0: shop/big.",
        "33.3 % of the pods would be on another node, the limit is 33.0 %: shop/moves.",
    ]
    assert ask(objects, "replace", max_unschedulable=1, max_moved_percent=33.3)["exceeded"] == []


@pytest.mark.parametrize(
    ("side", "text"),
    [
        ({"config": {"a": 1}}, "a: 1\n"),
        ({"config_text": "a: 2\n", "config": None}, "a: 2\n"),
        ({"config_file": True}, b"a: \xff\n"),
    ],
)
def test_a_configuration_is_read_from_each_option_that_can_name_it(tmp_path, side, text):
    file = tmp_path / "config.yaml"
    file.write_bytes(b"a: \xff\n")
    side = {name: str(file) if value is True else value for name, value in side.items()}
    assert text_of("baseline", side) == text
    option = "config_file" if isinstance(text, bytes) else "config" if "1" in text else "config_text"
    assert source_of("baseline", side) == f"baseline.{option}" + (f": {file}" if option == "config_file" else "")
    assert source_of("baseline", {**side, "source": "elsewhere"}) == "elsewhere"


@pytest.mark.parametrize(
    ("side", "message"),
    [
        ({}, "set one of x.config, x.config_text, x.config_file, x.preset; set are: none."),
        ({"config": {"a": 1}, "preset": "p"}, "set one of x.config, x.config_text, x.config_file, x.preset; set are: x.config, x.preset."),
    ],
)
def test_one_configuration_is_required(side, message):
    with pytest.raises(InputError) as error:
        text_of("x", side)
    assert error.value.message == f"x: {message}"


def test_a_configuration_that_cannot_be_read_is_an_error():
    with pytest.raises(InputError, match=r"^x\.config_file: /nowhere cannot be read: No such file or directory\.$"):
        text_of("x", {"config_file": "/nowhere"})
    with pytest.raises(InputError, match=r"^x\.preset"):
        text_of("x", {"preset": "no-such-preset"})
    assert source_of("x", {"preset": "packing"}) == "x.preset: packing"


def test_a_candidate_without_a_program_is_an_error(ask):
    with pytest.raises(InputError, match=r"^candidate: set candidate\.binary, the path of a kube-scheduler, or candidate\.image, whose"):
        ask([node("a"), pod("p")], "pending", {"binary": None})


def candidate(**more):
    return Candidate("candidate", "/b", "1.34", {}, ("x",), **more)


MEASURED = {"apiVersion": "metrics.k8s.io/v1beta1", "kind": "NodeMetrics", "metadata": {"name": "a"}, "usage": {"cpu": "1"}}


def test_the_assumptions_describe_the_load_that_plugins_use():
    plain, measured = parse(listed(node("a")), "list"), parse(listed(node("a"), MEASURED), "list")
    assert about_load(measured, candidate()) == []
    aware = candidate(reads_load=("A", "B"))
    assert about_load(plain, aware) == [
        "A, B use the measured load, which does not change when pods are placed, and without access to metrics is 0."
    ]
    assert about_load(measured, aware) == [
        "A, B use the load that the metrics API measured for the snapshot. It has no deviation, and does not change when pods are placed."
    ]


def test_all_assumptions_of_a_preview_are_listed():
    snapshot = Snapshot((node("a"), pod("waits"), MEASURED), "v1.34.4")
    new = Candidate(
        "candidate",
        "/b",
        "1.35",
        {"extenders": [{"urlPrefix": "https://u:p@x/y"}]},
        ("x",),
        ("--feature-gates=OpportunisticBatching=false",),
    )
    runs = [simulation.Run(invented=("shop/data",), unknown={"GET b": 1, "GET a": 2}), simulation.Run(invented=("shop/data",))]
    options = Options({"image": "i:1"}, "drain", {"image": "i:2"}, nodes=["a", "b"])
    found = _assumptions(options, snapshot, Selection([], {}, 2), new, runs, shared=True)
    assert found == [
        GENERAL,
        "The feature gate OpportunisticBatching is off, because it skips scoring. It does not change where a single pod is placed.",
        ALL_NODES,
        "The baseline ran with the program of the candidate, although its image is i:2.",
        "These nodes are cordoned: a, b.",
        "2 selected pods stay: pods of DaemonSets, static pods and pods that are being deleted.",
        "1 other pending pods are not placed.",
        "In the load after, each pod that moves takes its measured use with it, and one without a measured use takes its requests.",
        "Extenders were called: https://********@x/y.",
        "The volume of the claim shop/data is invented, for the node of its first pod and nodes with the same topology of its CSI driver.",
        "The sandbox does not serve: GET a (2 requests).",
        "The sandbox does not serve: GET b (1 requests).",
    ]
    fewer = _assumptions(options, snapshot, Selection([], {}, 0), candidate(), [], shared=False)
    assert [line for line in found if line not in fewer][1] == found[3]
    # Pods that are offered, or skipped for a reason, are no other pods.
    pending = Options({}, "pending")
    waits = pod("waits")
    for selection in (Selection([waits], {}, 0), Selection([], {("shop", "waits"): "x"}, 0)):
        assert not [line for line in _assumptions(pending, snapshot, selection, candidate(), [], False) if "pending" in line]


def test_a_scheduler_that_waits_for_unserved_requests_is_an_error():
    """It waits for that, and processes no pod."""
    stage = simulation.Stage(None, Sandbox([]), SimpleNamespace(failure=ClusterError), 0, print)
    stage._check_processes()
    stage.sandbox.unknown = {"GET x/v1 things": 1, "GET y/v1 others": 2}
    with pytest.raises(
        ClusterError, match=r"^processes no pod; the sandbox does not serve what it requests: GET x/v1 things, GET y/v1 others$"
    ):
        stage._check_processes()
    stage.sandbox.decisions = 1
    stage._check_processes()
