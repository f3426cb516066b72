# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Statuses, limits and summaries from what schedulers did; the log; the configuration for the sandbox."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import from_structure
from ansible_collections.osso.scheduler.plugins.module_utils._preview import effect, present_state, progress
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import (
    Options,
    _with_profile,
    copy_of,
    make_scene,
    preview,
    select,
)
from ansible_collections.osso.scheduler.plugins.module_utils._preview.sandbox import Change, Sandbox, key_of
from ansible_collections.osso.scheduler.plugins.module_utils._preview.scheduler_process import Candidate, Log, Scores, sandbox_config
from ansible_collections.osso.scheduler.plugins.module_utils._preview.simulation import Placement, Run, Scene, Stage
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import parse
from ansible_collections.osso.scheduler.plugins.module_utils._preview.table import table
from support.preview import CONFIG, listed, node, pod


def run(placements, history=()):
    return Run({("shop", name): placement for name, placement in placements.items()}, list(history))


def outcome(pods, placements, ties=None, baseline=None):
    scene = Scene("replace", (), tuple(pods))
    return effect.Outcome(scene, pods, [node("a"), node("b")], run(placements), baseline and run(baseline), ties or {}, {}, {})


@pytest.mark.parametrize(
    ("placement", "ties", "status"),
    [
        (Placement("a"), {}, "same"),
        (Placement("b"), {("shop", "p"): {"a", "b"}}, "tie"),
        (Placement("b"), {("shop", "p"): {"b"}}, "moved"),
        (Placement("b"), {}, "not compared"),
        (Placement("", "0/2 nodes"), {}, "unschedulable"),
        (Placement("a", "", (("shop", "victim"),)), {}, "preempts"),
        (Placement(processed=False), {}, "unschedulable"),
    ],
)
def test_the_status_of_a_pod_follows_from_its_placement_and_ties(placement, ties, status):
    (row,) = effect.report(outcome([pod("p", on="a")], {"p": placement}, ties))["pods"]
    assert (row["status"], row["before"], row["node"]) == (status, "a", placement.node)


@pytest.mark.parametrize(
    ("ties", "reason"),
    [({"a", "b"}, "it had no node; 2 nodes have the same score"), ({"b"}, "it had no node"), (set(), "it had no node")],
)
def test_ties_of_a_pod_without_a_node_are_reported(ties, reason):
    """They are determined like those of a pod on another node."""
    waiting = pod("p")
    found = outcome([waiting], {"p": Placement("b")}, {("shop", "p"): ties})
    (row,) = effect.report(found)["pods"]
    assert (row["status"], row["reason"], row["ties"]) == ("moved", reason, sorted(ties))
    assert effect.scored(found.scene, found.candidate, None) == [("shop", "p")]


def test_scores_are_read_for_moved_pods_first(monkeypatch):
    """First those that are on another node; of pods without a node and of those that preempt there are none."""
    placements = {"same": Placement("a"), "none": Placement(), "moved": Placement("b"), "by": Placement("b", "", (("shop", "victim"),))}
    found = outcome([pod(name, on="a") for name in placements], placements)

    def names(every):
        return [name for _namespace, name in effect.scored(found.scene, found.candidate, None, every)]

    assert (names(False), names(True)) == (["moved"], ["moved", "same"])
    monkeypatch.setattr(effect, "MAX_SCORED", 1)
    assert names(True) == ["moved"]


def test_with_a_limit_of_moved_pods_ties_of_all_of_them_are_determined(monkeypatch):
    monkeypatch.setattr(effect, "MAX_SCORED", 1)
    pods = [pod(f"p{number}", on="a") for number in range(4)]
    found = outcome(pods, {f"p{number}": Placement("b" if number < 3 else "a") for number in range(4)})
    scored = [effect.scored(found.scene, found.candidate, None, True, limited) for limited in (False, True)]
    assert [[name for _namespace, name in one] for one in scored] == [["p0"], ["p0", "p1", "p2"]]


def test_the_baseline_takes_precedence_over_the_present_node():
    found = outcome([pod("p", on="a")], {"p": Placement("b")}, baseline={"p": Placement("b")})
    (row,) = effect.report(found)["pods"]
    assert (row["status"], row["current"], row["before"]) == ("same", "a", "b")


def test_usage_of_nodes_and_the_summary_follow_from_the_placements():
    pods = [pod("one", on="a", cpu="1"), pod("two", on="a", cpu="1"), pod("victim", on="b")]
    placements = {"one": Placement("b", "", (("shop", "victim"),)), "two": Placement("", "no")}
    history = [Change(("shop", "victim"), by="shop-one"), Change(("shop", "one"), "b")]
    found = outcome(pods, placements)._replace(scene=Scene("drain", (), tuple(pods[:2])), candidate=run(placements, history))
    report = effect.report(found)
    assert [entry["after"]["pods"] for entry in report["nodes"]] == [0, 1]
    assert report["nodes"][1]["after"]["cpu_millis"] == 1000
    summary = report["summary"]
    assert (summary["preempts"], summary["unschedulable"], summary["newly_unschedulable"]) == (1, 1, 1)
    assert summary["preempted"] == ["shop/victim"]
    assert summary["lost"] == ["shop/two", "shop/victim"]
    assert (summary["before"]["empty_nodes"], summary["after"]["empty_nodes"]) == (0, 1)
    assert (summary["before"]["cpu_percent_mean"], summary["before"]["cpu_percent_deviation"]) == (26.2, 23.8)
    shown = table({**report, "msg": "end", "assumptions": [], "missing": []})
    assert shown[2:5] == ["shop/two  unschedulable  a       -      no", "", "NODE  PODS    CPU %    MEMORY %"]
    assert table({**report, "msg": "end", "assumptions": [], "missing": []}, 1)[2] == "and 1 more"


def measured(kind, name, cpu, memory="0"):
    usage = {"cpu": cpu, "memory": memory}
    about = {"apiVersion": "metrics.k8s.io/v1beta1", "kind": kind, "metadata": {"name": name}}
    return (
        {**about, "usage": usage}
        if kind == "NodeMetrics"
        else {**about, "metadata": {"name": name, "namespace": "shop"}, "containers": [{"usage": usage}]}
    )


def test_the_measured_load_moves_with_the_pods():
    """A pod without a measured use, such as a new one, counts with its requests."""
    pods = [pod("busy", on="a", cpu="1"), pod("new", cpu="400m"), pod("stays", on="b")]
    load = [measured("NodeMetrics", "a", "3"), measured("NodeMetrics", "b", "1", "8Gi"), measured("PodMetrics", "busy", "2")]
    found = outcome(pods, {"busy": Placement("b"), "new": Placement("a"), "stays": Placement("b")})._replace(load=load)
    summary = effect.report(found)["summary"]
    # Of nodes with 4 CPUs: 3 and 1, then 3 - 2 + 0.4 and 1 + 2.
    assert (summary["before"]["load"]["cpu_percent_mean"], summary["before"]["load"]["cpu_percent_deviation"]) == (50.0, 25.0)
    assert (summary["after"]["load"]["cpu_percent_mean"], summary["after"]["load"]["cpu_percent_deviation"]) == (55.0, 20.0)
    assert summary["before"]["load"]["memory_percent_mean"] == 25.0
    assert effect.report(found._replace(load=[]))["summary"]["before"]["load"] is None
    # A node that was not measured is left out.
    assert effect.report(found._replace(load=load[:1]))["summary"]["before"]["load"]["cpu_percent_mean"] == 75.0


def test_limits_name_the_first_pods():
    pods = [pod(f"p{number:02}", on="a") for number in range(12)]
    report = effect.report(outcome(pods, {one["metadata"]["name"]: Placement("b") for one in pods}, {key_of(one): {"b"} for one in pods}))
    assert effect.exceeded(report["summary"], report["pods"], 0, 100.0) == []
    (beyond,) = effect.exceeded(report["summary"], report["pods"], 0, 50.0)
    assert beyond.startswith("100.0 % of the pods would be on another node, the limit is 50.0 %: shop/p00, ")
    assert beyond.endswith("shop/p09 and 2 more.")


def limits(pods, placements, history=(), baseline=None, ties=None):
    """limits(...)(unschedulable, moved_percent) are the sentences about the limits."""
    found = outcome(pods, placements, ties)._replace(candidate=run(placements, history), baseline=baseline)
    report = effect.report(found)
    return lambda unschedulable, moved: effect.exceeded(report["summary"], report["pods"], unschedulable, moved)


def test_preempted_pods_count_as_pods_without_a_node():
    """Only those that the baseline does not preempt, and each one only once."""
    pods, victims = [pod("one", on="a"), pod("two", on="a")], (("shop", "v"), ("shop", "w"))
    placements = {"one": Placement("a", "", victims), "two": Placement("", "it was preempted")}
    history = [Change(victim) for victim in (*victims, ("shop", "two"))]
    sentence = "3 pods would have no node, the limit is {}: shop/two, shop/v, shop/w."
    exceeded = limits(pods, placements, history)
    assert (exceeded(2, None), exceeded(3, None)) == ([sentence.format(2)], [])
    baseline = run({"one": Placement("a", "", (("shop", "v"),)), "two": Placement("a")}, history[:1])
    assert limits(pods, placements, history, baseline)(0, None) == ["2 pods would have no node, the limit is 0: shop/two, shop/w."]


def test_a_pod_that_gains_a_node_does_not_count_as_moved():
    ties = {("shop", "p"): {"b"}}
    assert limits([pod("p")], {"p": Placement("b")}, ties=ties)(0, 0.0) == []
    assert effect.report(outcome([pod("p")], {"p": Placement("b")}, ties))["summary"]["moved_percent"] == 0.0


def test_a_table_contains_no_control_characters():
    """The API server does not validate the schedulerName, which a reason contains."""
    reason = "the baseline has no profile x\x1b[2J\nshop/fake  same\u202e"
    found = outcome([pod("p", on="a")], {})._replace(skipped={("shop", "p"): reason})
    shown = table({**effect.report(found), "msg": "end", "assumptions": ["\a"], "missing": []})
    assert shown[1].endswith(r"the baseline has no profile x\x1b[2J\nshop/fake  same\u202e")
    assert shown[-1] == r"Assumption: \x07"


def options(**given):
    return Options(candidate={}, **given)


def test_pods_are_selected_by_mode_and_sorted_by_priority_and_age():
    old, new, high = pod("old", on="a"), pod("new", on="a"), pod("high", on="a", priority=5)
    old["metadata"]["creationTimestamp"], new["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"
    agent, static = pod("agent", on="a", owner="DaemonSet"), pod("static", on="a", owner="Node")
    snapshot = parse(listed(node("a"), new, old, high, agent, static, pod("pending"), pod("other", on="a", labels={"app": "x"})), "list")
    found = select(options(mode="drain", labels={"app": "shop"}), snapshot)
    assert [key_of(one)[1] for one in found.offered] == ["high", "old", "new"]
    assert found.stays == 2
    assert [key_of(one)[1] for one in select(options(mode="pending"), snapshot).offered] == ["pending"]
    assert select(options(mode="drain", namespaces=["elsewhere"]), snapshot).offered == []
    assert select(options(mode="drain", scheduler_names=["second"]), snapshot).offered == []


def test_maintenance_cordons_and_places_no_pending_pods():
    snapshot = parse(listed(node("a"), node("b"), pod("p", on="a"), pod("q", on="b"), pod("pending")), "list")
    given = options(mode="drain", nodes=["a"])
    scene = make_scene(given, snapshot, select(given, snapshot).offered)
    assert [obj["metadata"]["name"] for obj in scene.objects] == ["a", "b", "q", "pending"]
    assert scene.objects[-1]["spec"]["schedulerName"] == "not-in-this-preview"
    assert [bool(obj["spec"].get("unschedulable")) for obj in scene.objects[:2]] == [True, False]


def volume(name):
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"volumeName": f"v-{name}"},
    }


def attachment(name, on):
    spec = {"nodeName": on, "source": {"persistentVolumeName": f"v-{name}"}}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": f"{name}-{on}"}, "spec": spec}


def test_the_volumes_of_removed_pods_are_detached():
    """Each pod can be placed on its node again: a volume counts only once."""

    def using(name, claim, **more):
        return pod(name, volumes=[{"name": "data", **claim}], **more)

    pods = [
        using("one", {"persistentVolumeClaim": {"claimName": "own"}}, on="a"),
        using("two", {"persistentVolumeClaim": {"claimName": "shared"}}, on="a"),
        using("agent", {"persistentVolumeClaim": {"claimName": "shared"}}, on="a", owner="DaemonSet"),
        using("three", {"ephemeral": {"volumeClaimTemplate": {}}}, on="a"),
    ]
    names = ("own", "shared", "three-data", "unused")
    attachments = [*(attachment(name, "a") for name in names), attachment("own", "b")]
    snapshot = parse(listed(node("a"), node("b"), *pods, *map(volume, names), *attachments), "list")
    for mode, left in (("drain", ["shared-a", "unused-a", "own-b"]), ("replace", [one["metadata"]["name"] for one in attachments])):
        given = options(mode=mode)
        scene = make_scene(given, snapshot, select(given, snapshot).offered)
        assert [one["metadata"]["name"] for one in scene.objects if one["kind"] == "VolumeAttachment"] == left


def priority_class(name, value, **more):
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value, **more}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, {"priority": 5}),
        ({"priorityClassName": "high"}, {"priorityClassName": "high", "priority": 9, "preemptionPolicy": "Never"}),
        ({"priorityClassName": "gone", "priority": 3}, {"priorityClassName": "gone", "priority": 3}),
    ],
)
def test_a_template_gets_the_defaults_of_a_pod(spec, expected):
    classes = [priority_class("high", 9, preemptionPolicy="Never"), priority_class("usual", 5, globalDefault=True)]
    snapshot = parse(listed(node("a"), *classes), "list")
    containers = [{"name": "c", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}}]
    made = copy_of({"spec": {**spec, "containers": containers, "initContainers": [{"name": "i"}]}}, snapshot)["spec"]
    assert made.pop("containers")[0]["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}
    assert made == {**expected, "initContainers": [{"name": "i"}]}


def test_a_template_with_an_unknown_priority_class_is_rejected():
    template = {"spec": {"priorityClassName": "hihg", "containers": []}}
    with pytest.raises(InputError, match=r"^template: spec\.priorityClassName: there is no PriorityClass hihg\."):
        copy_of(template, parse(listed(node("a"), priority_class("high", 9)), "list"))
    # A list of kubectl may lack them.
    assert "priority" not in copy_of(template, parse(listed(node("a")), "list"))["spec"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"mode": "headroom"}, "template is for mode headroom, which requires it: mode is headroom"),
        ({"mode": "drain", "template": {"spec": {}}}, "template is for mode headroom"),
        ({"mode": "headroom", "template": {"spec": pod("x", cpu="many")["spec"]}}, "^template: must be a Pod with metadata and spec"),
        ({"mode": "headroom", "template": {"spec": {"tolerations": "x"}}}, "spec.tolerations is of type str, not list"),
        ({"mode": "headroom", "template": {"metadata": "x", "spec": {}}}, "^template: must be a Pod with metadata and spec"),
        ({"mode": "headroom", "template": ["x"]}, "^template: must be a Pod with metadata and spec"),
        ({"mode": "all"}, "mode: all is not known: choose from pending, replace, drain, headroom"),
        ({"timeout": 0}, "timeout is 0: it must be from 1 to 604800"),
        ({"timeout": 10**20}, "timeout is 1"),
        ({"limit": 10**9}, "limit is 1000000000: it must be from 1 to 100000"),
        ({"max_unschedulable": -1}, "max_unschedulable is -1: it must be at least 0"),
        ({"max_moved_percent": float("nan")}, "max_moved_percent is nan: it must be from 0 to 100"),
        ({"max_moved_percent": 101.0}, "max_moved_percent is 101: it must be from 0 to 100"),
        ({"mode": "replace", "namespaces": ["shp"]}, r'^namespaces: no pod is selected by namespaces \["shp"\]. Correct the selection'),
        ({"mode": "replace", "labels": {"app": "x"}}, r'^labels: no pod is selected by labels {"app": "x"}'),
        ({"mode": "drain", "nodes": ["c", "a"]}, "nodes: c: there is no such node"),
    ],
)
def test_invalid_or_conflicting_options_are_rejected(given, why):
    with pytest.raises(InputError, match=why):
        preview(options(**given), parse(listed(node("a")), "list"), None, print)


def test_the_configuration_of_the_sandbox_scores_all_nodes():
    profile = {"schedulerName": "x", "percentageOfNodesToScore": 5}
    given = {**CONFIG, "leaderElection": {"leaderElect": True}, "percentageOfNodesToScore": 10, "profiles": [profile]}
    made = sandbox_config(check(from_structure(given), "1.34").config, "/kubeconfig")
    assert made["leaderElection"]["leaderElect"] is False
    assert made["percentageOfNodesToScore"] == 100
    assert "percentageOfNodesToScore" not in made["profiles"][0]
    assert made["clientConnection"]["kubeconfig"] == "/kubeconfig"
    assert check(from_structure(made), "1.34").valid


def test_an_extender_does_not_bind():
    """The scheduler would leave it to the extender, which would bind a pod of the cluster."""
    extender = {"urlPrefix": "http://127.0.0.1:9", "filterVerb": "filter", "bindVerb": "bind"}
    made = sandbox_config({**check(from_structure(CONFIG), "1.34").config, "extenders": [extender]}, "/kubeconfig")
    assert made["extenders"] == [{"urlPrefix": "http://127.0.0.1:9", "filterVerb": "filter"}]
    assert check(from_structure(made), "1.34").valid


def test_a_profile_without_scores_gets_a_neutral_one():
    nothing = {"disabled": [{"name": "*"}]}
    profiles = [{"schedulerName": "x", "plugins": {"preScore": nothing, "score": nothing}}, {"schedulerName": "y"}]
    completed = check(from_structure({**CONFIG, "profiles": profiles}), "1.34").config
    made = check(from_structure(sandbox_config(completed, "/kubeconfig", unscored=["x"])), "1.34")
    assert made.effective["x"]["score"] == [("VolumeBinding", 1)]
    assert made.effective["y"]["score"] == check(from_structure(completed), "1.34").effective["y"]["score"]
    assert "preScore" not in made.effective["x"]
    assert made.effective["x"]["filter"] == check(from_structure(completed), "1.34").effective["x"]["filter"]


def test_the_profile_of_a_pod_must_be_unambiguous():
    several = Candidate("candidate", "", "1.34", {}, ("x", "y"))
    assert several.profile_for("y") == "y"
    with pytest.raises(InputError, match=r"candidate.as_scheduler is not set.*: set one of x, y"):
        several.profile_for("default-scheduler")
    assert Candidate("candidate", "", "1.34", {}, ("x",)).profile_for("default-scheduler") == "x"


def test_scores_attempts_and_events_are_read_from_the_log():
    head = b"I1123 10:26:55.123456       1 schedule_one.go:882] "
    log = Log()

    def score(name, points):
        return head + f'"Calculated node\'s final score for pod" pod="shop/p" node="{name}" score={points}\n'.encode()

    first = head + b'"Attempting to schedule pod" pod="shop/p"\n'
    assert [log.read(line) for line in (first, score("a", 7), score("b", 9), score("c", 9), score("d", 1))] == [True] * 5
    assert log.ties(("shop", "p")) == {"b", "c"}
    log.read(head + b'"Attempting to schedule pod" pod="shop/q"\n')
    log.read(first)
    assert log.ties(("shop", "p")) == set()
    assert [log.attempt(("shop", name)) for name in "qp"] == [2, 3]
    assert not log.await_event("DELETED", ("shop", "p"), 1, 0)
    log.read(head + b'"Delete event for scheduled pod" pod="shop/p"\n')
    assert log.await_event("DELETED", ("shop", "p"), 1, 0)
    assert not log.await_event("ADDED", ("", "a"), 1, 0)
    assert log.read(head + b'"Add event for node" node="a"\n')
    assert [log.await_event("ADDED", ("", name), 1, 0) for name in "ab"] == [True, False]
    assert not log.read(head + b'"Something else" pod="shop/p"\n')


def test_a_pod_that_waits_for_others_is_recognised_in_the_log():
    head, log, key = b"I1123 10:26:55.123456       1 framework.go:1610] ", Log(), ("shop", "p")
    assert log.read(head + b'"Pod waiting on permit" pod="shop/p"\n')
    assert (log.count("WAITING", key), log.count("REJECTED", key)) == (1, 0)
    assert log.read(head + b'"Pod rejected while waiting on permit" pod="shop/p" status="removed"\n')
    assert log.await_event("REJECTED", key, 1, 0)


def test_scores_and_rejections_are_read_from_the_log():
    """Only the scores of the kept nodes are kept, of the last attempt. A key of the rejections has a blank."""
    head = b"I1123 10:26:55.123456       1 schedule_one.go:882] "
    log = Log({("shop", "p"): ["a"]})
    attempt = head + b'"Attempting to schedule pod" pod="shop/p"\n'
    lines = [attempt]
    for name in "ab":
        lines += [
            head + f'"Plugin scored node for pod" pod="shop/p" plugin="{plugin}" node="{name}" score=7\n'.encode()
            for plugin in ("Fit", "Taints")
        ]
        lines.append(head + f'"Calculated node\'s final score for pod" pod="shop/p" node="{name}" score=14\n'.encode())
    assert all(log.read(line) for line in lines)
    assert log.scores(("shop", "p")) == {"a": Scores({"Fit": 7, "Taints": 7}, 14)}
    log.read(attempt)
    assert log.scores(("shop", "p")) == {}
    assert log.take_rejection(("shop", "p"), 0) is None
    queue = b'"Pod moved to an internal scheduling queue" pod="shop/p" event="ScheduleAttemptFailure" schedulingCycle=4 hint=0'
    log.read(head + queue + b' unschedulable plugins={"NodeResourcesFit":{},"NodeAffinity":{}}\n')
    assert log.take_rejection(("shop", "p"), 0) == ("NodeAffinity", "NodeResourcesFit")
    assert log.take_rejection(("shop", "p"), 0) is None


def test_progress_is_shown_only_every_few_seconds(monkeypatch):
    shown, now = [], [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    report = progress.Progress(shown.append)
    for number in range(100):
        now[0] = number / 10
        report(f"{number}")
    assert shown == ["30", "80"]


@pytest.mark.parametrize(
    ("new", "text", "same"),
    [
        ({}, "a: 1\n", True),
        ({}, "a: 2\n", False),
        ({"image": "i:1"}, "a: 1\n", True),
        ({"image": "i:2"}, "a: 1\n", False),
        # The upstream operator's ConfigMap has the values.
        ({}, "a: ${PROM_URL}\n", True),
        ({}, "b: ${PROM_URL}\n", False),
        # A value has one line: here lines are missing.
        ({}, "a: ${PROM_URL}", False),
    ],
)
def test_a_candidate_equal_to_the_present_state_is_recognised(new, text, same):
    assert present_state.is_same(new, text, {"image": "i:1", "config_text": "a: 1\n"}) is same


def test_a_pod_without_a_profile_in_the_baseline_is_skipped():
    """The pods of a profile that the candidate adds cannot be compared."""
    pods = [pod("old", on="a", schedulerName="old"), pod("new", on="a", schedulerName="new")]
    old = Candidate("baseline", "", "1.34", {}, ("old", "other"))
    selection = _with_profile(select(Options({}, "replace"), parse(listed(node("a"), *pods), "list")), old)
    assert [key_of(one) for one in selection.offered] == [("shop", "old")]
    assert selection.skipped == {("shop", "new"): "the baseline has no profile new"}


def test_a_present_configuration_that_is_no_text_is_an_error(monkeypatch):
    """The message names the option."""
    client = SimpleNamespace(resource=lambda *names: names, get=lambda *names: {"metadata": {}, "spec": {"schedulerConfig": "config"}})
    monkeypatch.setattr(present_state, "read_config_map", lambda *names: SimpleNamespace(text=b"\xff", source="ConfigMap ns/config"))
    with pytest.raises(InputError, match=r"^baseline\.secondary_scheduler: ns/one: ConfigMap ns/config is no UTF-8\.$"):
        present_state.read(client, {"secondary_scheduler": {"name": "one", "namespace": "ns"}})


def test_the_preview_waits_until_the_cache_of_the_scheduler_has_followed():
    """Its log shows a change before its cache has followed, and the next one afterwards, on a busy host late: the preview waits for that."""
    log = Log()
    stage = Stage(None, Sandbox([node("a"), pod("p", on="a")]), SimpleNamespace(log=log), 0, print)
    line = 'I1125 10:00:00.000000 1 eventhandlers.go:1] "Add event for scheduled pod" pod="{}"\n'
    log.read(line.format("shop/p").encode())
    threading.Timer(2.5, log.read, [line.format("preview/-marker-").encode()]).start()
    stage._await_cache()
    assert (log.count("ADDED", ("preview", "-marker-")), stage._follows) == (1, True)


def test_a_pod_is_offered_with_its_claims_and_nothing_else_of_its_status():
    stage = Stage(SimpleNamespace(profile_for=lambda name: f"{name}-new"), Sandbox([]), SimpleNamespace(log=Log()), 0, print)
    claims = [{"name": "gpu", "resourceClaimName": "gpu-1"}]
    given = pod("p", on="a", schedulerName="old")
    given["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], "resourceClaimStatuses": claims}
    twin = stage.twin(given)
    assert (twin["spec"]["schedulerName"], "nodeName" in twin["spec"]) == ("old-new", False)
    assert twin["status"] == {"phase": "Pending", "resourceClaimStatuses": claims}
    del given["status"]
    assert stage.twin(given)["status"] == {"phase": "Pending"}
