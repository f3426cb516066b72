# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Conversion of old configurations and policies; that it keeps the behaviour is kube-scheduler's word, recorded."""

from __future__ import annotations

import copy
import json
import textwrap

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.convert import (
    APPROXIMATE,
    EXACT,
    IMPOSSIBLE,
    convert,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.releases import NEWEST
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import UnknownTarget
from conformance.kube_scheduler.convert import recording
from oracle import corpus, recordings

CASES = {case.id: case for case in recording.cases()}
RECORDED = recording.load()
ASKED = {(case.minor, case.plugins) for case in CASES.values() if case.id in RECORDED}


def config(version: str, body: str = "") -> str:
    head = f"apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\n"
    return head + textwrap.dedent(body)


def converted(text: str, source: str | None, target: str, **options) -> tuple[dict, list]:
    result = convert(text, source, target, **options)
    return yaml.safe_load(result.text), [(step.kind, step.path) for step in result.steps]


# What kube-scheduler says


@pytest.mark.parametrize("case", CASES)
def test_the_real_kube_scheduler_runs_the_same_before_and_after(case):
    case, recorded = CASES[case], RECORDED.get(case)
    if not ASKED & {(case.minor, case.plugins)}:
        pytest.skip(f"the oracle 1.{case.minor} {case.plugins} was never asked: see recording.py")
    assert recorded is not None, "never asked: see recording.py"
    conversion = case.convert()
    assert recording.digest(conversion.text) == recorded["converted"], (
        "converted otherwise than when kube-scheduler was asked: see recording.py"
    )
    assert conversion.complete is not case.decide
    if not case.decide:
        assert recording.differences(case, recorded["before"], recorded["after"]) == []


def test_recordings_are_of_these_documents_and_no_others():
    assert set(RECORDED) == {case.id for case in CASES.values() if (case.minor, case.plugins) in ASKED}


@pytest.mark.parametrize(
    "change",
    [
        lambda after: after["effective"]["mine"]["score"].pop(),
        lambda after: after["effective"]["mine"]["filter"].pop(),
        lambda after: after["effective"]["mine"]["score"][0].__setitem__(1, 17),
        lambda after: after["effective"]["mine"]["bind"].append(["X", 0]),
        lambda after: after["config"]["profiles"][0]["pluginConfig"][0]["args"].update(minCandidateNodesAbsolute=1),
        lambda after: after["config"].update(parallelism=17),
        lambda after: after.update(verdict="refuse", error="why"),
    ],
    ids=["score", "filter", "weight", "bind", "arguments", "field", "refused"],
)
def test_the_comparison_sees_a_difference(change):
    case = CASES["one profile with a name, v1beta2 on 1.25"]
    recorded = copy.deepcopy(RECORDED[case.id])
    change(recorded["after"])
    assert len(recording.differences(case, recorded["before"], recorded["after"])) == 1


def test_the_newest_release_takes_the_results():
    latest = {(case.id.partition(" on 1.")[0]): case for case in CASES.values() if not case.decide and case.plugins == "in-tree"}
    for case in latest.values():
        if case.id.startswith("policy with the "):
            continue  # one predicate or priority; the other policies have them all
        conversion = convert(case.text, f"1.{case.minor}", f"1.{NEWEST}")
        assert conversion.complete is ("ServiceAffinity" not in case.id), (case.id, [found.format() for found in conversion.findings])
        assert conversion.api_version == "kubescheduler.config.k8s.io/v1"


def test_1_37_accepts_configurations_of_1_36_unchanged():
    """No kube-scheduler 1.37 rejected a document that 1.36 accepted, other than for its flags: nothing has to be converted."""
    before, after = (recordings.load(minor, "in-tree")[1] for minor in (36, 37))
    accepted = [
        document
        for document in corpus.documents(36, "in-tree")
        if not document.flags and before[document.digest].accepted and document.digest in after
    ]
    assert len(accepted) > 400
    assert [document.id for document in accepted if not after[document.digest].accepted] == []
    for document in accepted[::8]:
        conversion = convert(document.text, "1.36", "1.37")
        assert (conversion.complete, conversion.steps) == (after[document.digest].starts, ()), document.id


# Steps and texts


def test_a_conversion_keeps_the_default_weights_of_the_old_version():
    data, steps = converted(config("v1beta2"), "1.27", "1.31")
    assert data["profiles"][0]["plugins"]["multiPoint"]["enabled"] == [
        {"name": "InterPodAffinity", "weight": 1},
        {"name": "NodeAffinity", "weight": 1},
        {"name": "TaintToleration", "weight": 1},
    ]
    assert (EXACT, "profiles[0].plugins.multiPoint") in steps


def test_a_plugin_that_is_disabled_at_one_point_runs_at_the_others():
    result = convert(config("v1beta2"), "1.24", "1.33")
    (message,) = (step.message for step in result.steps if "VolumeBinding" in step.message)
    assert message.startswith("VolumeBinding: disabled at score alone")
    runs = check(result.text, "1.33").effective["default-scheduler"]
    assert ["VolumeBinding" in dict(runs[point]) for point in ("filter", "score")] == [True, False]


def test_weights_that_the_document_gives_need_no_keeping():
    body = """
        profiles:
          - plugins:
              score:
                enabled: [{name: NodeAffinity, weight: 4}, {name: TaintToleration}]
                disabled: [{name: InterPodAffinity}]
        """
    data, _steps = converted(config("v1beta2", body), "1.27", "1.31")
    assert "multiPoint" not in data["profiles"][0]["plugins"]


@pytest.mark.parametrize(
    ("target", "version"), [("1.22", "v1beta2"), ("1.23", "v1beta3"), ("1.24", "v1beta3"), ("1.25", "v1"), ("1.37", "v1")]
)
def test_a_conversion_writes_the_newest_version_that_the_target_reads(target, version):
    assert convert(config("v1beta1"), "1.22", target).api_version == f"kubescheduler.config.k8s.io/{version}"


def test_comments_stay_where_only_the_version_changes():
    text = "# ours\n" + config("v1beta3", "profiles:  # two\n  - schedulerName: default-scheduler\n")
    result = convert(text, "1.25", "1.31")
    assert result.text == text.replace("v1beta3", "v1")
    assert [step.kind for step in result.steps] == [EXACT]


def test_lost_comments_are_reported_as_a_step():
    result = convert("# ours\n" + config("v1beta2"), "1.25", "1.31")
    assert "#" not in result.text
    assert (APPROXIMATE, "", True) in [(step.kind, step.path, "comments" in step.message) for step in result.steps]
    assert not any("comments" in step.message for step in convert(config("v1beta2"), "1.25", "1.31").steps)


def test_a_document_that_needs_nothing_stays_as_it_is():
    text = "# ours\n" + config("v1", "parallelism: 0x10\n")
    result = convert(text, "1.31", "1.31")
    assert (result.text, result.steps, result.complete) == (text, (), True)


def test_without_a_source_the_last_release_that_reads_the_version_counts():
    assert convert(config("v1beta1"), None, "1.31").source == "1.22"
    assert convert(config("v1beta3"), None, "1.26").source == "1.26"
    assert convert("kind: Policy\napiVersion: v1\n", None, "1.31").source == "1.22"


def test_a_configuration_that_the_source_release_rejects_is_not_converted():
    text = config("v1beta2", "parallelism: 0\n")
    result = convert(text, "1.25", "1.31")
    assert (result.text, result.complete) == (text, False)
    assert [found.path for found in result.findings] == ["parallelism"]


@pytest.mark.parametrize(
    "text", ["", "a: [", "[]", "kind: Deployment\napiVersion: apps/v1\n", "kind: Policy\n", "kind: Policy\napiVersion: {}\n", b"\xff"]
)
def test_a_text_that_is_no_configuration_is_an_error(text):
    result = convert(text, None, "1.31")
    assert not result.complete
    assert result.findings


def test_unknown_releases_are_rejected():
    with pytest.raises(UnknownTarget):
        convert(config("v1beta2"), "1.25", "1.99")
    with pytest.raises(UnknownTarget):
        convert(config("v1beta2"), "2", "1.31")


def test_removed_locks_and_addresses_are_replaced_or_left_out():
    body = "leaderElection: {resourceLock: endpoints}\nhealthzBindAddress: 127.0.0.1:10251\nmetricsBindAddress: 127.0.0.1:10251\n"
    data, steps = converted(config("v1beta1", body), "1.22", "1.31")
    assert data["leaderElection"] == {"resourceLock": "leases"}
    assert "healthzBindAddress" not in data
    assert {(APPROXIMATE, path) for path in ("leaderElection.resourceLock", "healthzBindAddress", "metricsBindAddress")} <= set(steps)


@pytest.mark.parametrize(("target", "lock"), [("1.23", "endpoints"), ("1.24", "leases")])
def test_endpoints_locks_become_leases_with_1_24(target, lock):
    data, _steps = converted(config("v1beta2", "leaderElection: {resourceLock: endpoints}\n"), "1.22", target)
    assert data["leaderElection"]["resourceLock"] == lock


@pytest.mark.parametrize(("target", "lock"), [("1.26", "configmapsleases"), ("1.27", "leases")])
def test_combined_locks_end_with_1_27(target, lock):
    data, _steps = converted(config("v1beta2", "leaderElection: {resourceLock: configmapsleases}\n"), "1.22", target)
    assert data["leaderElection"]["resourceLock"] == lock


@pytest.mark.parametrize(("target", "there"), [("1.30", True), ("1.31", False)])
def test_volume_limits_end_with_1_31(target, there):
    body = "profiles: [{plugins: {filter: {disabled: [{name: EBSLimits}]}}}]\n"
    data, steps = converted(config("v1", body), "1.28", target)
    assert ("plugins" in data["profiles"][0]) is there
    assert ((EXACT, "profiles[0].plugins.filter.disabled") in steps) is not there


def test_a_ratio_that_is_not_used_ends_with_1_36():
    body = """
        profiles:
          - pluginConfig:
              - name: NodeResourcesFit
                args: {scoringStrategy: {type: LeastAllocated, requestedToCapacityRatio: {shape: [{utilization: 0, score: 1}]}}}
        """
    data, _steps = converted(config("v1", body), "1.35", "1.36")
    assert data["profiles"][0]["pluginConfig"][0]["args"] == {"scoringStrategy": {"type": "LeastAllocated"}}
    assert convert(config("v1", body), "1.34", "1.35").text == config("v1", body)


def test_weights_of_resources_beyond_100_are_scaled():
    body = """
        profiles:
          - plugins: {score: {disabled: [{name: "*"}], enabled: [{name: RequestedToCapacityRatio}]}}
            pluginConfig:
              - name: RequestedToCapacityRatio
                args: {shape: [{utilization: 0, score: 1}], resources: [{name: cpu, weight: 400}, {name: memory, weight: 100}, {name: a/b}]}
        """
    result = convert(config("v1beta1", body), "1.22", "1.31")
    strategy = yaml.safe_load(result.text)["profiles"][0]["pluginConfig"][0]["args"]["scoringStrategy"]
    assert [resource["weight"] for resource in strategy["resources"]] == [100, 25, 1]
    assert result.complete
    assert APPROXIMATE in [step.kind for step in result.steps]


def test_a_plugin_without_a_replacement_has_to_be_converted_by_hand():
    body = "profiles: [{plugins: {score: {enabled: [{name: NodeResourcesMostAllocated}]}}}]\n"
    result = convert(config("v1beta1", body), "1.22", "1.31")
    assert not result.complete
    assert [step.path for step in result.steps if step.kind == IMPOSSIBLE] == ["profiles[0].plugins.score"]
    assert check(result.text, "1.31").valid


def test_node_label_without_node_affinity_has_to_be_converted_by_hand():
    body = """
        profiles:
          - plugins: {filter: {disabled: [{name: NodeAffinity}], enabled: [{name: NodeLabel}]}}
            pluginConfig: [{name: NodeLabel, args: {presentLabels: [a]}}]
        """
    result = convert(config("v1beta1", body), "1.22", "1.31")
    assert [step.path for step in result.steps if step.kind == IMPOSSIBLE] == ["profiles[0].plugins.filter"]


@pytest.mark.parametrize(("connection", "kind"), [("/a", EXACT), ("/b", APPROXIMATE)])
def test_a_plugin_loses_its_own_connection(connection, kind):
    body = f"""
        clientConnection: {{kubeconfig: {connection}}}
        profiles:
          - schedulerName: mine
            pluginConfig: [{{name: Coscheduling, args: {{kubeConfigPath: /a, kubeMaster: x, permitWaitingTimeSeconds: 3}}}}]
        """
    data, steps = converted(config("v1beta1", body), "1.22", "1.31", plugins="scheduler-plugins")
    assert data["profiles"][0]["pluginConfig"] == [{"name": "Coscheduling", "args": {"permitWaitingTimeSeconds": 3}}]
    assert (kind, "profiles[0].pluginConfig[0].args.kubeConfigPath") in steps
    assert (APPROXIMATE, "profiles[0].pluginConfig[0].args.kubeMaster") in steps


def test_arguments_of_custom_plugins_are_kept():
    plugins = {"base": "in-tree", "extra": [{"name": "Mine", "points": ["score"]}]}
    body = """
        profiles:
          - schedulerName: mine
            plugins: {score: {enabled: [{name: Mine, weight: 3}]}}
            pluginConfig: [{name: Mine, args: {a: null, b: [1.5, "y"]}}]
        """
    result = convert(config("v1beta2", body), "1.25", "1.31", plugins)
    assert result.complete
    assert yaml.safe_load(result.text)["profiles"][0]["pluginConfig"] == [{"name": "Mine", "args": {"a": None, "b": [1.5, "y"]}}]


# Policies


def policy(body: str) -> str:
    return "apiVersion: v1\nkind: Policy\n" + textwrap.dedent(body)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("predicates: [{name: Nonsense}]", "predicates[0].name"),
        ("predicates: [{name: X, argument: {}}]", "predicates[0].argument"),
        ("priorities: [{name: Nonsense, weight: 1}]", "priorities[0].name"),
        ("priorities: [{name: ImageLocalityPriority}]", "priorities[0].weight"),
        ("priorities: [{name: ImageLocalityPriority, weight: -1}]", "priorities[0].weight"),
        ("priorities: [{name: ImageLocalityPriority, weight: one}]", "priorities[0].weight"),
        ("priorities: [{name: X, weight: 1, argument: {}}]", "priorities[0].argument"),
        (
            "priorities: [{name: one, weight: 1, argument: {labelPreference: {label: a}}}, {name: two, weight: 2, argument: {labelPreference: {label: b}}}]",
            "priorities[1].weight",
        ),
        ("hardPodAffinitySymmetricWeight: 101", "hardPodAffinitySymmetricWeight"),
        ("predicate: []", "predicate"),
        ("predicates: {}", "predicates"),
        ("alwaysCheckAllPredicates: 1", "alwaysCheckAllPredicates"),
    ],
)
def test_an_invalid_policy_is_rejected(body, path):
    result = convert(policy(body), "1.22", "1.31")
    assert [found.path for found in result.findings] == [path]
    assert not result.complete


def test_a_policy_is_read_up_to_1_22():
    assert convert(policy(""), "1.22", "1.31").complete
    assert [found.code for found in convert(policy(""), "1.23", "1.31").findings] == ["unserved-version"]


def test_a_policy_in_json_is_converted_with_its_extender():
    extender = {"urlPrefix": "http://x", "FILTERVERB": "f", "enableHttps": True, "httpTimeout": 90000000000}
    text = json.dumps({"kind": "Policy", "apiVersion": "v1", "extenders": [extender]})
    data, steps = converted(text, "1.22", "1.31")
    assert data["extenders"] == [{"urlPrefix": "http://x", "filterVerb": "f", "enableHTTPS": True, "httpTimeout": "1m30s"}]
    assert (EXACT, "extenders[0].httpTimeout") in steps


def test_an_option_that_a_policy_no_longer_has_is_reported():
    _data, steps = converted(policy("alwaysCheckAllPredicates: true"), "1.22", "1.31")
    assert (APPROXIMATE, "alwaysCheckAllPredicates") in steps


def test_plugins_that_a_policy_does_not_name_stay_off_in_later_releases():
    """VolumeZone filters in 1.21 and works at preFilter, too, since 1.27."""
    conversion = convert(policy("predicates: [{name: GeneralPredicates}]"), "1.21", "1.31")
    effective = check(conversion.text, "1.31").effective["default-scheduler"]
    assert "VolumeZone" not in {name for listed in effective.values() for name, _weight in listed}
