# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rules for values, in every release. Expectations are kube-scheduler's own answers."""

from __future__ import annotations

import re

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables import rules
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import Target

EVERY = range(21, 37)


def judge(fields, minor, version=None, flags=()):
    """The result of a document with these top-level fields (a mapping, or YAML) in the newest version that the release reads."""
    if isinstance(fields, str):
        fields = yaml.safe_load(fields) or {}
    version = version or Target(minor).served[-1]
    document = {"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": "KubeSchedulerConfiguration", **fields}
    return check(yaml.safe_dump(document), f"1.{minor}", flags=flags)


def errors(*arguments, **options):
    """[(stage, path)] in the order of paths."""
    return sorted((finding.stage, finding.path) for finding in judge(*arguments, **options).errors)


def paths(*arguments, **options):
    return [path for _stage, path in errors(*arguments, **options)]


@pytest.mark.parametrize("minor", EVERY)
@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ("", []),
        ("parallelism: 0", ["parallelism"]),
        ("parallelism: -1", ["parallelism"]),
        ("parallelism: 1", []),
        ("percentageOfNodesToScore: 100", []),
        ("percentageOfNodesToScore: 101", ["percentageOfNodesToScore"]),
        ("percentageOfNodesToScore: -1", ["percentageOfNodesToScore"]),
        ("podInitialBackoffSeconds: 10", []),
        ("podInitialBackoffSeconds: 11", ["podMaxBackoffSeconds"]),
        ("{podInitialBackoffSeconds: -3, podMaxBackoffSeconds: -4}", ["podInitialBackoffSeconds", "podMaxBackoffSeconds"]),
        ("clientConnection: {qps: -1, burst: 2147483647}", []),
        ("clientConnection: {burst: -1}", ["clientConnection.burst"]),
    ],
)
def test_fields_of_the_document_must_be_in_their_range(minor, fields, wrong):
    assert errors(fields, minor) == [("validate", path) for path in wrong]


@pytest.mark.parametrize("minor", EVERY)
@pytest.mark.parametrize(
    ("election", "wrong"),
    [
        ("{leaseDuration: 10.5s, renewDeadline: 10s}", []),
        ("{leaseDuration: 9s, renewDeadline: 10s}", ["leaseDuration"]),
        ("{leaseDuration: -1s}", ["leaseDuration"]),
        ("{renewDeadline: -1s}", ["renewDeadline"]),
        ("{retryPeriod: -1s}", ["retryPeriod"]),
        ("{leaderElect: false, leaseDuration: -1s, resourceLock: no-lock}", []),
    ],
)
def test_durations_of_leader_election_are_validated_only_if_it_is_enabled(minor, election, wrong):
    assert errors({"leaderElection": yaml.safe_load(election)}, minor) == [("validate", f"leaderElection.{name}") for name in wrong]


@pytest.mark.parametrize("minor", EVERY)
def test_a_lease_as_long_as_the_renew_deadline_is_an_error(minor):
    """Refused by validation since 1.26, before that when the process begins to work."""
    result = judge("leaderElection: {leaseDuration: 10s, renewDeadline: 10s}", minor)
    assert [(finding.stage, finding.path) for finding in result.errors] == [
        ("validate" if minor >= 26 else "run", "leaderElection.leaseDuration")
    ]
    assert result.valid == (minor < 26)
    assert not result.starts


@pytest.mark.parametrize("minor", EVERY)
@pytest.mark.parametrize(
    ("deadline", "retry", "starts"), [("2s", "2s", False), ("12s", "10s", False), ("12.000000001s", "10s", True), ("3s", "2s", True)]
)
def test_a_deadline_too_short_for_retries_validates_but_does_not_start(minor, deadline, retry, starts):
    result = judge({"leaderElection": {"renewDeadline": deadline, "retryPeriod": retry}}, minor)
    assert (result.valid, result.starts) == (True, starts)
    assert [finding.path for finding in result.errors] == ([] if starts else ["leaderElection.renewDeadline"])


@pytest.mark.parametrize("minor", EVERY)
@pytest.mark.parametrize(
    ("lock", "last"),
    [("leases", 36), ("endpoints", 23), ("configmaps", 23), ("endpointsleases", 26), ("configmapsleases", 26), ("Leases", 0)],
)
def test_a_resource_lock_is_rejected_after_its_last_release(minor, lock, last):
    expected = [] if minor <= last else [("validate" if minor >= 27 else "build", "leaderElection.resourceLock")]
    assert errors({"leaderElection": {"resourceLock": lock}}, minor) == expected


@pytest.mark.parametrize(
    ("fields", "minor", "version", "wrong"),
    [
        ("healthzBindAddress: 127.0.0.1:80", 22, "v1beta2", []),
        ("healthzBindAddress: 127.0.0.1:0", 22, "v1beta2", ["healthzBindAddress"]),
        ("healthzBindAddress: 127.0.0.1:70000", 22, "v1beta2", ["healthzBindAddress"]),
        ("healthzBindAddress: localhost:80", 22, "v1beta2", ["healthzBindAddress"]),
        ("healthzBindAddress: ''", 22, "v1beta2", ["healthzBindAddress"]),
        ("healthzBindAddress: nonsense", 21, "v1beta1", []),
        ("metricsBindAddress: 0.0.0.0:0", 23, "v1beta2", []),
        ("metricsBindAddress: ''", 23, "v1beta2", []),
        ("metricsBindAddress: 010.0.0.1:0", 23, "v1beta2", []),
        ("metricsBindAddress: ':0'", 23, "v1beta2", ["metricsBindAddress"]),
        ("metricsBindAddress: 0.0.0.0:10251", 23, "v1beta2", ["metricsBindAddress"]),
        ("metricsBindAddress: 0.0.0.0", 27, "v1beta2", ["metricsBindAddress"]),
        ("metricsBindAddress: '0.0.0.0:x'", 27, "v1beta2", ["metricsBindAddress"]),
    ],
)
def test_addresses_of_the_insecure_port_are_validated(fields, minor, version, wrong):
    assert errors(fields, minor, version) == [("validate", path) for path in wrong]


@pytest.mark.parametrize(
    ("healthz", "metrics", "refused"),
    [
        ("127.0.0.1:10251", "127.0.0.1:10251", False),
        ("127.0.0.1:10251", "127.0.0.1:10252", False),
        ("127.0.0.1:10251", "127.0.0.2:10251", False),
        ("127.0.0.1:10251", "0.0.0.0:10251", True),
    ],
)
def test_one_port_cannot_be_listened_on_twice(healthz, metrics, refused):
    found = errors({"healthzBindAddress": healthz, "metricsBindAddress": metrics}, 22)
    assert found == ([("build", "metricsBindAddress")] if refused else [])


@pytest.mark.parametrize("minor", EVERY)
@pytest.mark.parametrize(
    ("profiles", "wrong"),
    [
        ("[{}]", []),
        ("[{schedulerName: a}, {schedulerName: b}]", []),
        ("[{schedulerName: ''}]", ["profiles[0].schedulerName"]),
        ("[{schedulerName: a}, {}]", ["profiles[1].schedulerName"]),
        ("[{schedulerName: a}, {schedulerName: b}, {schedulerName: a}]", ["profiles[2].schedulerName"]),
    ],
)
def test_scheduler_names_must_be_present_and_unique(minor, profiles, wrong):
    assert errors(f"profiles: {profiles}", minor) == [("validate", path) for path in wrong]


@pytest.mark.parametrize("minor", range(26, 37))
def test_the_percentage_of_a_profile_must_be_in_its_range(minor):
    fields = "profiles: [{percentageOfNodesToScore: 101}]"
    assert errors(fields, minor, "v1") == [("validate", "profiles[0].percentageOfNodesToScore")]


@pytest.mark.parametrize(
    ("name", "version", "minors"),
    [
        ("NodeResourcesLeastAllocated", "v1beta2", [22]),
        ("ServiceAffinity", "v1beta2", [22]),
        ("SelectorSpread", "v1", [25, 26, 27, 28]),
        ("EBSLimits", "v1", [31, 32, 36]),
        ("CinderLimits", "v1", [31, 32, 36]),
    ],
)
def test_removed_plugins_are_rejected_by_name(name, version, minors):
    """In lists and pluginConfig; multiPoint is not looked into."""
    for minor in minors:
        enabled = {"filter": {"enabled": [{"name": name}]}}
        found = errors({"profiles": [{"plugins": enabled, "pluginConfig": [{"name": name}]}]}, minor, version)
        assert ("validate", "profiles[0].plugins.filter.enabled[0]") in found
        assert ("validate", "profiles[0].pluginConfig[0]") in found
        assert "validate" not in [
            stage for stage, _path in errors({"profiles": [{"plugins": {"multiPoint": enabled["filter"]}}]}, minor, version)
        ]


@pytest.mark.parametrize(("minor", "refused"), [(24, False), (25, True), (28, True), (29, False)])
def test_selector_spread_is_rejected_by_name_only_in_some_releases(minor, refused):
    found = errors("profiles: [{pluginConfig: [{name: SelectorSpread}]}]", minor)
    assert found == ([("validate", "profiles[0].pluginConfig[0]")] if refused else [])


def test_v1beta1_on_1_22_cannot_score_by_two_of_the_same_kind():
    fields = "profiles: [{plugins: {score: {enabled: [{name: NodeResourcesFit}]}}}]"
    assert errors(fields, 22, "v1beta1") == [("validate", "profiles[0].plugins.score.enabled[0]")]
    fields = "profiles: [{plugins: {score: {enabled: [{name: NodeResourcesFit}], disabled: [{name: NodeResourcesLeastAllocated}]}}}]"
    assert errors(fields, 22, "v1beta1") == []


@pytest.mark.parametrize("minor", EVERY)
def test_arguments_given_twice_for_a_plugin_are_an_error(minor):
    found = errors("profiles: [{pluginConfig: [{name: Nobody, args: {a: 1}}, {name: Nobody}]}]", minor)
    assert found == [("validate" if minor >= 22 else "build", "profiles[0].pluginConfig[1]")]


@pytest.mark.parametrize("minor", EVERY)
def test_arguments_are_checked_even_if_the_plugin_is_disabled(minor):
    off = [{"name": "InterPodAffinity"}]
    points = {point: {"disabled": off} for point in ("preFilter", "filter", "preScore", "score", "multiPoint")}
    if minor < 23:
        del points["multiPoint"]
    config = [{"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 101}}]
    path = "profiles[0].pluginConfig[0].args.hardPodAffinityWeight"
    # 1.21 leaves it to the plugin.
    assert errors({"profiles": [{"plugins": points, "pluginConfig": config}]}, minor) == ([("validate", path)] if minor >= 22 else [])


@pytest.mark.parametrize("minor", EVERY)
def test_a_plugin_name_that_ends_with_args_is_rejected_since_1_22(minor):
    found = errors("profiles: [{pluginConfig: [{name: NodeResourcesFitArgs, args: {}}]}]", minor)
    assert found == ([("validate", "profiles[0].pluginConfig[0].args")] if minor >= 22 else [])


QUEUE_SORT = "profiles: [{{schedulerName: a, plugins: {{queueSort: {0}}}}}, {{schedulerName: b, plugins: {{queueSort: {1}}}}}]"


@pytest.mark.parametrize("minor", range(25, 37))
@pytest.mark.parametrize(
    ("one", "other", "refused"),
    [
        ("{}", "{}", False),
        ("{enabled: [{name: PrioritySort}]}", "{enabled: [{name: PrioritySort}]}", False),
        ("{enabled: [{name: PrioritySort}]}", "{}", True),
        ("{enabled: [{name: PrioritySort, weight: 3}]}", "{enabled: [{name: PrioritySort}]}", True),
        ("{disabled: [{name: Nobody}]}", "{}", True),
    ],
)
def test_all_profiles_sort_the_queue_alike(minor, one, other, refused):
    found = errors(QUEUE_SORT.format(one, other), minor, "v1")
    assert found == ([("validate", "profiles[1].plugins.queueSort")] if refused else [])


def test_v1beta2_drops_disabled_plugins_before_it_compares_queue_sorts():
    fields = QUEUE_SORT.format("{enabled: [{name: PrioritySort}], disabled: [{name: '*'}]}", "{}")
    assert errors(fields, 23, "v1beta2") == []
    assert errors(fields, 23, "v1beta3") == [("validate", "profiles[1].plugins.queueSort")]


@pytest.mark.parametrize("minor", range(23, 37))
def test_arguments_of_the_queue_sort_plugin_are_equal(minor):
    sort = {"queueSort": {"enabled": [{"name": "PrioritySort"}]}}

    def profiles(*args):
        config = ([{"name": "PrioritySort", "args": {"a": value}}] for value in args)
        return {"profiles": [{"schedulerName": f"s{n}", "plugins": sort, "pluginConfig": one} for n, one in enumerate(config)]}

    assert errors(profiles(1, 1), minor) == []
    for value in (2, True, 1.5):
        assert errors(profiles(1, value), minor) == [("validate", "profiles[1].pluginConfig[0].args")]


@pytest.mark.parametrize("minor", range(23, 37))
def test_arguments_without_a_name_are_compared_with_the_first_profile_s_queue_sort(minor):
    fields = "profiles: [{{schedulerName: a}}, {{schedulerName: b, pluginConfig: [{{{0}}}]}}]"
    assert errors(fields.format("args: {a: 1}"), minor) == [("validate", "profiles[1].pluginConfig[0].args")]
    assert errors(fields.format("name: A, args: {a: 1}"), minor) == errors(fields.format(""), minor) == []
    assert errors(fields.format("nam: A, args: {a: 1}"), minor) == [("decode", "profiles[1].pluginConfig[0].nam")]


@pytest.mark.parametrize("minor", range(22, 37))
def test_only_one_queue_sort_plugin_is_allowed(minor):
    fields = "profiles: [{plugins: {queueSort: {enabled: [{name: A}, {name: B}], disabled: [{name: '*'}]}}}]"
    assert ("validate", "profiles[0].plugins.queueSort.enabled") in errors(fields, minor)


@pytest.mark.parametrize("minor", EVERY)
@pytest.mark.parametrize(
    ("extenders", "wrong"),
    [
        ("[{}]", []),
        ("[{weight: -1}]", []),
        ("[{prioritizeVerb: p, weight: 1}]", []),
        ("[{prioritizeVerb: p}]", ["extenders[0].weight"]),
        ("[{bindVerb: b}, {}]", []),
        ("[{bindVerb: b}, {bindVerb: b}]", ["extenders"]),
        ("[{managedResources: [{name: example.com/gpu}]}]", []),
        ("[{managedResources: [{name: cpu}]}]", ["extenders[0].managedResources[0].name"]),
        ("[{managedResources: [{name: scheduling.kubernetes.io/a}]}]", ["extenders[0].managedResources[0].name"]),
        ("[{managedResources: [{name: requests.example.com/a}]}]", ["extenders[0].managedResources[0].name"]),
        ("[{managedResources: [{name: a b}]}]", ["extenders[0].managedResources[0].name"]),
        (
            "[{managedResources: [{name: a.b/c}]}, {managedResources: [{name: a.b/c}]}]",
            ["extenders[1].managedResources[0].name"],
        ),
    ],
)
def test_invalid_extenders_are_rejected_at_the_invalid_field(minor, extenders, wrong):
    assert errors(f"extenders: {extenders}", minor) == [("validate", path) for path in wrong]


@pytest.mark.parametrize(
    ("fields", "only"),
    [
        ("profiles: [{schedulerNam: a}, {schedulerName: b}]", "profiles[0].schedulerNam"),
        ("profiles: [5, {schedulerName: b}]", "profiles[0]"),
        ("extenders: [{prioritizeVerb: p, weights: 1}]", "extenders[0].weights"),
        ("extenders: [{managedResources: [{names: a.b/c}]}]", "extenders[0].managedResources[0].names"),
        ("leaderElection: {leaseDurations: 30s, renewDeadline: 20s}", "leaderElection.leaseDurations"),
        (
            "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {types: MostAllocated}}}]}]",
            "profiles[0].pluginConfig[0].args.scoringStrategy.types",
        ),
    ],
)
def test_a_misspelt_field_is_one_finding(fields, only):
    assert errors(fields, 34) == [("decode", only)]


def test_all_errors_are_reported_at_once():
    fields = "{parallelism: 0, percentageOfNodesToScore: 101, extenders: [{prioritizeVerb: p}], profiles: [{schedulerName: ''}]}"
    assert paths(fields, 34) == ["extenders[0].weight", "parallelism", "percentageOfNodesToScore", "profiles[0].schedulerName"]


LEASE = "leaderElection: {leaseDuration: 9s, renewDeadline: 10s}"
SORTS = QUEUE_SORT.format("{disabled: [{name: Nobody}]}", "{}")
SORT_ARGS = (
    "profiles: [{schedulerName: a, plugins: &sort {queueSort: {enabled: [{name: PrioritySort}]}},"
    " pluginConfig: [{name: PrioritySort, args: {a: 1}}]},"
    " {schedulerName: b, plugins: *sort, pluginConfig: [{name: PrioritySort, args: {a: 2}}]}]"
)


@pytest.mark.parametrize(
    ("fields", "minor", "words"),
    [
        (LEASE, 33, "LeaseDuration must be greater than RenewDeadline"),
        (LEASE, 34, "must be greater than `RenewDeadline`"),
        ("leaderElection: {resourceLock: never}", 26, "couldn't create resource lock: Invalid lock-type never"),
        ("leaderElection: {resourceLock: endpoints}", 26, "endpoints lock is removed, migrate to endpointsleases"),
        ("leaderElection: {resourceLock: configmaps}", 24, "configmaps lock is removed, migrate to configmapsleases"),
        ("leaderElection: {resourceLock: endpoints}", 27, 'resourceLock value must be "leases"'),
        (SORTS, 29, "has to match for all profiles"),
        (SORTS, 30, "queueSort must be the same for all profiles"),
        (SORTS, 34, "^must be the same for all profiles"),
        (SORT_ARGS, 29, "has to match for all profiles"),
        (SORT_ARGS, 34, "queueSort must be the same for all profiles"),
        ("profiles: [{pluginConfig: [{name: EBSLimits}]}]", 31, "EBSLimits was removed"),
    ],
)
def test_messages_have_the_wording_of_the_release(fields, minor, words):
    (error,) = judge(fields, minor).errors
    assert re.search(words, error.message)
    assert error.hint


@pytest.mark.parametrize("name", [name for *_rest, names, _words in rules.INVALID_PLUGINS for name in names])
def test_every_removed_plugin_has_a_replacement(name):
    assert rules.PLUGIN_REPLACEMENTS[name]
