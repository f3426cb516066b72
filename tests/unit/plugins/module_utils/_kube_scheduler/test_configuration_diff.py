# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What two configurations or two releases differ in."""

from __future__ import annotations

import textwrap

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_diff import (
    ADDED,
    CHANGED,
    HIDDEN,
    REMOVED,
    REORDERED,
    Difference,
    between_releases,
    diff,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import UnknownTarget
from oracle import compare, corpus, recordings

DEFAULT = "default-scheduler"


def config(body: str = "", version: str = "v1") -> str:
    return f"apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\n" + textwrap.dedent(body)


def differences(before: str, after: str, kubernetes: str = "1.31", plugins: str = "in-tree") -> list[Difference]:
    return diff(check(config(before), kubernetes, plugins), check(config(after), kubernetes, plugins))


def profiles(body: str, name: str = DEFAULT) -> str:
    return f"profiles: [{{schedulerName: {name}, {body}}}]\n"


def test_nothing_differs_from_itself():
    assert differences("parallelism: 4\n", "parallelism: 4\n") == []
    assert between_releases(config(), "1.31", "1.31") == []


def test_a_default_written_out_is_no_difference():
    assert differences("", "parallelism: 16\nleaderElection: {leaseDuration: 15000ms}\n") == []


def test_the_plugins_that_openshift_4_18_removes_are_found():
    limits = ("EBSLimits", "GCEPDLimits", "AzureDiskLimits")
    assert between_releases(config(), "openshift-4.17", "openshift-4.18") == [
        Difference(DEFAULT, point, REMOVED, name) for point in ("preFilter", "filter") for name in limits
    ]


def test_a_plugin_that_a_release_adds_is_a_difference():
    found = between_releases(config(), "1.33", "1.34")
    assert {difference.name for difference in found} == {"DynamicResources"}
    assert {difference.what for difference in found} == {ADDED}


def test_the_differences_between_1_36_and_1_37_are_found():
    found = between_releases(config(), "1.36", "1.37")
    assert [(difference.where, difference.name) for difference in found if difference.what == ADDED] == [
        ("preFilter", "NodeName"),
        ("preFilter", "NodeUnschedulable"),
        ("preFilter", "TaintToleration"),
        ("podGroupPostFilter", "DynamicResources"),
        ("podGroupPostFilter", "DefaultPreemption"),
        ("VolumeBinding.shape", ""),
    ]
    assert [(difference.where, difference.before[:2], difference.after[:2]) for difference in found if difference.what != ADDED] == [
        ("filter", ("NodeUnschedulable", "NodeName"), ("NodeName", "NodeUnschedulable")),
    ]


def test_1_37_runs_what_kube_scheduler_runs():
    """For documents that both releases accept, the plugins that differ are those of the recorded answers."""
    before, after = (recordings.load(minor, "in-tree")[1] for minor in (36, 37))
    asked = [document for document in corpus.documents(36, "in-tree") if not document.flags and before[document.digest].accepted]
    compared = 0
    for document in asked[::16]:
        old, new = before[document.digest].effective, after[document.digest].effective
        found = between_releases(document.text, "1.36", "1.37")
        for profile, points in new.items():
            for point in {*points, *old[profile]}:
                name = compare.POINTS.get(point, point)
                then, now = (dict(of[profile].get(point, ())) for of in (old, new))
                expected = {(ADDED, plugin) for plugin in now.keys() - then.keys()} | {
                    (REMOVED, plugin) for plugin in then.keys() - now.keys()
                }
                expected |= {(CHANGED, plugin) for plugin in now.keys() & then.keys() if now[plugin] != then[plugin]}
                told = {(one.what, one.name) for one in found if (one.profile, one.where) == (profile, name) and one.what != REORDERED}
                assert told == expected, (document.id, profile, name)
                compared += len(expected)
    assert compared > 50


def test_a_document_that_only_one_release_accepts_is_a_difference():
    found = between_releases(config(version="v1beta3"), "1.28", "1.29")
    assert [(difference.where, difference.what, difference.name) for difference in found] == [
        ("valid", CHANGED, ""),
        ("starts", CHANGED, ""),
        ("error", ADDED, "apiVersion"),
        ("warning", REMOVED, "apiVersion"),
    ]
    assert (found[0].before, found[0].after) == (True, False)


def test_a_new_warning_is_a_difference():
    first = differences("parallelism: 16\n", "parallelism: 999\n")[0]
    assert (first.where, first.what, first.name) == ("warning", ADDED, "parallelism")


def test_changed_fields_are_reported_with_both_values():
    found = differences("leaderElection: {leaseDuration: 20s}\n", "parallelism: 4\n")
    assert found == [
        Difference("", "parallelism", CHANGED, "", 16, 4),
        Difference("", "leaderElection.leaseDuration", CHANGED, "", "20s", "15s"),
    ]
    assert [difference.format() for difference in found] == [
        "parallelism: changed: 16 -> 4",
        "leaderElection.leaseDuration: changed: 20s -> 15s",
    ]


def test_added_removed_and_reweighted_plugins_are_reported():
    found = differences(
        profiles("plugins: {score: {disabled: [{name: ImageLocality}]}}"),
        profiles("plugins: {score: {enabled: [{name: NodeAffinity, weight: 7}]}, postFilter: {disabled: [{name: '*'}]}}"),
    )
    assert set(found) == {
        Difference(DEFAULT, "score", ADDED, "ImageLocality", None, 1),
        Difference(DEFAULT, "score", CHANGED, "NodeAffinity", 2, 7),
        Difference(DEFAULT, "postFilter", REMOVED, "DefaultPreemption"),
    }
    assert f"{DEFAULT}: score: NodeAffinity: changed: 2 -> 7" in [difference.format() for difference in found]


def test_order_is_compared_where_it_has_an_effect():
    first, second = (
        "plugins: {filter: {enabled: [{name: NodePorts}, {name: NodeName}]}}",
        "plugins: {filter: {enabled: [{name: NodeName}]}}",
    )
    (found,) = differences(profiles(first), profiles(second))
    assert (found.where, found.what, found.before[:2], found.after[:2]) == (
        "filter",
        REORDERED,
        ("NodePorts", "NodeName"),
        ("NodeName", "NodeUnschedulable"),
    )
    assert differences(profiles("plugins: {score: {enabled: [{name: ImageLocality, weight: 1}]}}"), profiles("plugins: {}")) == []


def test_changed_and_removed_plugin_arguments_are_reported():
    before = profiles("pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [a/b]}}]")
    after = profiles(
        "pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}}]"
    )
    assert {(each.where, each.what) for each in differences(before, after)} == {
        ("NodeResourcesFit.ignoredResources", REMOVED),
        ("NodeResourcesFit.scoringStrategy.type", CHANGED),
        ("NodeResourcesFit.scoringStrategy.resources", CHANGED),
    }


def test_added_and_removed_profiles_are_differences():
    found = differences(profiles("percentageOfNodesToScore: 10", "a"), profiles("percentageOfNodesToScore: 10", "b"))
    assert [(each.profile, each.where, each.what) for each in found] == [("a", "profiles", REMOVED), ("b", "profiles", ADDED)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("token: s3cr3t-one", "token: s3cr3t-two"),
        ("token: s3cr3t-one", ""),
        ("", "token: s3cr3t-two"),
        ("address: 'https://h?token=s3cr3t-one'", "address: 'https://s3cr3t-two@h'"),
        ("address: eyJs3cr3t-one", "address: sha256~s3cr3t-two"),
    ],
)
def test_secrets_are_not_shown(before, after):
    args = "args: {{metricProvider: {{type: Prometheus, {}}}}}"
    body = f"plugins: {{{{score: {{{{enabled: [{{{{name: TargetLoadPacking}}}}]}}}}}}}}, pluginConfig: [{{{{name: TargetLoadPacking, {args}}}}}]"
    found = differences(profiles(body.format(before)), profiles(body.format(after)), plugins="scheduler-plugins")
    assert HIDDEN in str(found)
    assert "s3cr3t" not in str(found)


def test_secrets_of_extenders_are_not_shown():
    before = "extenders: [{urlPrefix: 'https://me:czNjcjN0@x', filterVerb: f, tlsConfig: {caFile: /ca, keyData: czNjcjN0}}]\n"
    found = differences(before, "")
    assert HIDDEN in str(found)
    assert "czNjcjN0" not in str(found)


def test_unknown_releases_are_rejected():
    with pytest.raises(UnknownTarget):
        between_releases(config(), "1.31", "1.99")
