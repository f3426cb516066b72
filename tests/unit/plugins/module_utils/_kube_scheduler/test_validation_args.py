# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rules for the arguments of plugins, in every release. Expectations are kube-scheduler's own answers."""

from __future__ import annotations

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import validation_args
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import Target

EVERY = range(21, 37)


def judge(plugin, args, minor, plugins="in-tree", point=None, flags=(), version=None):
    """[(stage, path within the arguments)] of a document with these arguments; point: where to enable the plugin."""
    version = version or Target(minor).served[-1]
    profile = {"pluginConfig": [{"name": plugin, "args": yaml.safe_load(args) if isinstance(args, str) else args}]}
    if point:
        profile["plugins"] = {point: {"enabled": [{"name": plugin}]}}
    document = {"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": "KubeSchedulerConfiguration", "profiles": [profile]}
    found = check(yaml.safe_dump(document), f"1.{minor}", plugins, flags).errors
    return sorted((finding.stage, finding.path.replace("profiles[0].pluginConfig[0].args.", "")) for finding in found)


@pytest.mark.parametrize("minor", EVERY)
@pytest.mark.parametrize(
    ("plugin", "args", "wrong"),
    [
        ("DefaultPreemption", "{minCandidateNodesPercentage: 100}", []),
        ("DefaultPreemption", "{minCandidateNodesPercentage: 101}", ["minCandidateNodesPercentage"]),
        ("DefaultPreemption", "{minCandidateNodesAbsolute: -1}", ["minCandidateNodesAbsolute"]),
        ("DefaultPreemption", "{minCandidateNodesPercentage: 0}", []),
        (
            "DefaultPreemption",
            "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}",
            ["minCandidateNodesAbsolute", "minCandidateNodesPercentage"],
        ),
        ("InterPodAffinity", "{hardPodAffinityWeight: 0}", []),
        ("InterPodAffinity", "{hardPodAffinityWeight: -1}", ["hardPodAffinityWeight"]),
        ("PodTopologySpread", "{defaultingType: List}", []),
        ("PodTopologySpread", "{defaultingType: list}", ["defaultingType"]),
        (
            "PodTopologySpread",
            "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}",
            [],
        ),
        (
            "PodTopologySpread",
            "{defaultingType: System, defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}",
            ["defaultingType"],
        ),
        (
            "PodTopologySpread",
            "{defaultingType: List, defaultConstraints: [{maxSkew: 0, topologyKey: a b, whenUnsatisfiable: Never, labelSelector: {}}]}",
            [f"defaultConstraints[0].{name}" for name in ("labelSelector", "maxSkew", "topologyKey", "whenUnsatisfiable")],
        ),
        (
            "PodTopologySpread",
            "{defaultingType: List, defaultConstraints: [&one {maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}, *one]}",
            ["defaultConstraints[1]"],
        ),
        ("VolumeBinding", "{bindTimeoutSeconds: 0}", []),
        ("VolumeBinding", "{bindTimeoutSeconds: -1}", ["bindTimeoutSeconds"]),
        ("NodeResourcesFit", "{ignoredResources: [example.com/a], ignoredResourceGroups: [example.com]}", []),
        ("NodeResourcesFit", "{ignoredResources: [a b]}", ["ignoredResources[0]"]),
        ("NodeResourcesFit", "{ignoredResourceGroups: [example.com/a]}", ["ignoredResourceGroups[0]"]),
    ],
)
def test_arguments_of_plugins_of_every_release_are_validated(minor, plugin, args, wrong):
    stage = "build" if minor < 22 or plugin == "NodeResourcesFit" else "validate"
    assert judge(plugin, args, minor) == [(stage, path) for path in wrong]


REQUIRED = "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"


@pytest.mark.parametrize("minor", EVERY)
@pytest.mark.parametrize(
    ("term", "wrong"),
    [
        ("{}", []),
        ("{matchExpressions: [{key: a, operator: In, values: [b]}]}", []),
        ("{matchExpressions: [{key: a, operator: in, values: [b]}]}", ["matchExpressions[0].operator"]),
        ("{matchExpressions: [{key: a, operator: NotIn}]}", ["matchExpressions[0].values"]),
        ("{matchExpressions: [{key: a, operator: Exists}]}", []),
        ("{matchExpressions: [{key: a, operator: Exists, values: [b]}]}", ["matchExpressions[0].values"]),
        ("{matchExpressions: [{key: a, operator: Gt, values: ['5']}]}", []),
        ("{matchExpressions: [{key: a, operator: Gt, values: [x]}]}", ["matchExpressions[0].values[0]"]),
        ("{matchExpressions: [{key: a, operator: Lt, values: ['5', '6']}]}", ["matchExpressions[0].values"]),
        ("{matchExpressions: [{key: a b, operator: In, values: [c d]}]}", ["matchExpressions[0].key", "matchExpressions[0].values[0]"]),
        ("{matchFields: [{key: a b, operator: In, values: [c d]}]}", []),
        ("{matchFields: [{key: a, operator: In, values: [b, c]}]}", ["matchFields[0].values"]),
        ("{matchFields: [{key: a, operator: Exists}]}", ["matchFields[0].operator"]),
    ],
)
def test_invalid_node_selector_terms_of_node_affinity_are_rejected(minor, term, wrong):
    args = {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [yaml.safe_load(term)]}}}
    stage = "validate" if minor >= 22 else "build"
    assert judge("NodeAffinity", args, minor) == [(stage, f"{REQUIRED}.{path}") for path in wrong]


@pytest.mark.parametrize(("weight", "refused"), [(0, False), (1, True), (101, True)])
def test_a_preferred_term_without_weight_is_not_validated(weight, refused):
    term = {"weight": weight, "preference": {"matchExpressions": [{"key": "a", "operator": "Never"}]}}
    args = {"addedAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    path = "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].operator"
    assert judge("NodeAffinity", args, 34) == ([("validate", path)] if refused else [])


@pytest.mark.parametrize("minor", range(22, 37))
@pytest.mark.parametrize(
    ("resources", "wrong"),
    [
        ("[{name: cpu}]", []),
        ("[{name: cpu, weight: 2}]", ["resources[0].weight"]),
        ("[{name: cpu}, {name: cpu}]", ["resources[1].name"]),
    ],
)
def test_balanced_allocation_rejects_weights_and_repeated_resources(minor, resources, wrong):
    args = {"resources": yaml.safe_load(resources)}
    assert judge("NodeResourcesBalancedAllocation", args, minor) == [("validate", path) for path in wrong]


RATIO = "scoringStrategy.requestedToCapacityRatio"


@pytest.mark.parametrize("minor", range(22, 37))
@pytest.mark.parametrize(
    ("strategy", "wrong"),
    [
        ("{type: MostAllocated, resources: [{name: cpu, weight: 100}]}", []),
        ("{type: MostAllocated, resources: [{name: cpu, weight: 101}]}", ["scoringStrategy.resources[0].weight"]),
        ("{type: MostAllocated, resources: [{name: cpu, weight: -1}]}", ["scoringStrategy.resources[0].weight"]),
        ("{type: mostAllocated}", ["scoringStrategy.type"]),
        ("{resources: [{name: cpu}]}", ["scoringStrategy.type"]),
        ("{type: RequestedToCapacityRatio}", [RATIO]),
        ("{type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}]}}", []),
        (
            "{type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 9}, {utilization: 9, score: 11}]}}",
            [f"{RATIO}.shape[1].score", f"{RATIO}.shape[1].utilization"],
        ),
    ],
)
def test_the_scoring_strategy_of_node_resources_fit_is_validated(minor, strategy, wrong):
    assert judge("NodeResourcesFit", {"scoringStrategy": yaml.safe_load(strategy)}, minor) == [("build", path) for path in wrong]


@pytest.mark.parametrize("minor", range(22, 37))
def test_errors_about_requested_to_capacity_ratio_depend_on_the_release(minor):
    def wrong(block, kind="RequestedToCapacityRatio"):
        return judge("NodeResourcesFit", {"scoringStrategy": {"type": kind, "requestedToCapacityRatio": block}}, minor)

    assert wrong({"shape": []}) == ([] if minor == 22 else [("build", f"{RATIO}.shape")])
    assert wrong({"shape": [{"score": 1}]}, "LeastAllocated") == ([] if minor < 36 else [("build", RATIO)])


def test_fit_is_checked_only_where_it_is_enabled():
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "plugins": {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}},
                "pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "Never"}}}],
            }
        ],
    }
    assert check(yaml.safe_dump(document), "1.34").valid


@pytest.mark.parametrize("minor", range(22, 37))
@pytest.mark.parametrize("shape", ["[]", "[{utilization: 0, score: 0}]"])
def test_shape_of_volume_binding_needs_its_gate(minor, shape):
    gate = "StorageCapacityScoring" if minor >= 33 else "VolumeCapacityPriority"
    args = {"shape": yaml.safe_load(shape)}
    assert judge("VolumeBinding", args, minor) == [("validate", "shape")]
    assert judge("VolumeBinding", args, minor, flags=(f"--feature-gates={gate}=true",)) == []


@pytest.mark.parametrize("minor", range(22, 37))
def test_the_shape_of_volume_binding_is_validated_with_its_gate(minor):
    gate = "StorageCapacityScoring" if minor >= 33 else "VolumeCapacityPriority"
    args = {"shape": [{"utilization": 101, "score": -1}]}
    wrong = judge("VolumeBinding", args, minor, flags=(f"--feature-gates={gate}=true",))
    assert wrong == [("validate", "shape[0].score"), ("validate", "shape[0].utilization")]


@pytest.mark.parametrize(
    ("minor", "args", "flags", "wrong"),
    [
        (34, {"filterTimeout": "0s"}, (), []),
        (34, {"filterTimeout": "-1s"}, (), ["filterTimeout"]),
        (34, {"filterTimeout": "5s"}, ("--feature-gates=DRASchedulerFilterTimeout=false",), ["filterTimeout"]),
        (33, {"filterTimeout": "-1s"}, (), []),
        (35, {"bindingTimeout": "5s"}, (), ["bindingTimeout"]),
        (35, {"bindingTimeout": "5s"}, ("--feature-gates=DRADeviceBindingConditions=true",), []),
        (36, {"bindingTimeout": "1s"}, (), []),
        (36, {"bindingTimeout": "999ms"}, (), ["bindingTimeout"]),
    ],
)
def test_timeouts_of_dynamic_resources_are_validated_by_release_and_gate(minor, args, flags, wrong):
    assert judge("DynamicResources", args, minor, flags=flags) == [("validate", path) for path in wrong]


@pytest.mark.parametrize(
    ("plugin", "args", "wrong"),
    [
        ("NodeResourcesMostAllocated", {"resources": [{"name": "cpu", "weight": 101}]}, ["resources[0].weight"]),
        ("RequestedToCapacityRatio", {"shape": []}, ["shape"]),
        ("RequestedToCapacityRatio", {"shape": [{}], "resources": [{"name": "cpu", "weight": 500}]}, []),
        ("RequestedToCapacityRatio", {"shape": [{}], "resources": [{"name": "cpu", "weight": -1}]}, ["resources[0].weight"]),
        ("NodeLabel", {"presentLabels": ["a", "b"], "absentLabels": ["b"]}, ["presentLabels[1]"]),
        ("NodeLabel", {"presentLabelsPreference": ["a"], "absentLabelsPreference": ["b"]}, []),
    ],
)
def test_arguments_of_plugins_removed_after_1_22_are_validated(plugin, args, wrong):
    assert judge(plugin, args, 22, point="score", version="v1beta1") == [("validate", path) for path in wrong]
    assert judge(plugin, args, 21, point="score") == [("build", path) for path in wrong]


# --- scheduler-plugins ---


@pytest.mark.parametrize("minor", range(25, 35))
@pytest.mark.parametrize(
    ("name", "value", "field_since", "since"),
    [
        ("permitWaitingTimeSeconds", -1, 21, 32),
        ("podGroupBackoffSeconds", -1, 26, 26),
        ("podGroupRejectPercentage", 101, 34, 34),
        ("podGroupRejectPercentage", -1, 34, 34),
    ],
)
def test_the_release_decides_if_coscheduling_rejects_a_value_out_of_range(minor, name, value, field_since, since):
    found = judge("Coscheduling", {name: value}, minor, "scheduler-plugins", "permit")
    if minor < field_since:
        assert found == [("decode", name)]
    else:
        assert found == ([("build", name)] if minor >= since else [])


@pytest.mark.parametrize("minor", [22, 25, 31, 32, 34])
def test_allocatable_rejects_an_unknown_mode_and_a_missing_weight(minor):
    args = {"mode": "Max", "resources": [{"name": "cpu", "weight": 1}, {"name": "memory"}]}
    found = judge("NodeResourcesAllocatable", args, minor, "scheduler-plugins", "score")
    assert found == [("build", "mode"), ("build", "resources[1].weight")]


@pytest.mark.parametrize(("minor", "numa"), [(22, False), (24, False), (25, True), (34, True)])
def test_node_resource_topology_match_accepts_least_numa_nodes_since_1_25(minor, numa):
    def wrong(strategy):
        return judge("NodeResourceTopologyMatch", {"scoringStrategy": strategy}, minor, "scheduler-plugins", "filter")

    assert wrong({"type": "BalancedAllocation", "resources": [{"name": "cpu", "weight": -1}]}) == []
    assert wrong({"resources": [{"name": "cpu", "weight": 1}]}) == [("build", "scoringStrategy.type")]
    assert wrong({"type": "LeastNUMANodes"}) == ([] if numa else [("build", "scoringStrategy.type")])


@pytest.mark.parametrize("minor", [22, 25, 28, 31, 34])
@pytest.mark.parametrize("plugin", ["TargetLoadPacking", "LoadVariationRiskBalancing"])
@pytest.mark.parametrize(
    ("args", "wrong"),
    [
        ("{}", []),
        ("{watcherAddress: http://watcher}", []),
        ("{watcherAddress: http://watcher, metricProvider: {type: Never}}", []),
        ("{watcherAddress: ''}", ["metricProvider.type"]),
        ("{metricProvider: {type: prometheus}}", ["metricProvider.type"]),
        ("{metricProvider: {type: Prometheus, address: 'http://prometheus:9090'}}", []),
        ("{metricProvider: {type: Prometheus, address: '${PROM_URL}'}}", []),
        ("{metricProvider: {type: Prometheus, address: 'http://bad host'}}", ["metricProvider.address"]),
        ("{metricProvider: {type: SignalFx}}", ["metricProvider.token"]),
        ("{metricProvider: {type: SignalFx, token: secret}}", []),
    ],
)
def test_trimaran_plugins_require_a_valid_source_of_metrics(minor, plugin, args, wrong):
    assert judge(plugin, args, minor, "scheduler-plugins", "score") == [("build", path) for path in wrong]


@pytest.mark.parametrize(
    ("multiplier", "right"),
    [("1.5", True), ("", False), ("1_000", True), ("inf", True), ("1e400", False), ("0x1p-2", True), ("0x1", False), (" 1", False)],
)
def test_the_multiplier_of_target_load_packing_must_be_a_number_of_go(multiplier, right):
    args = {"watcherAddress": "x", "defaultRequestsMultiplier": multiplier}
    expected = [] if right else [("build", "defaultRequestsMultiplier")]
    assert judge("TargetLoadPacking", args, 34, "scheduler-plugins", "score") == expected


@pytest.mark.parametrize("one_has_a_service", [True, False])
def test_the_load_is_watched_once_in_a_process(one_has_a_service):
    args = {"watcherAddress": "http://watcher"} if one_has_a_service else {}
    profiles = [
        {
            "schedulerName": name,
            "plugins": {"score": {"enabled": [{"name": "TargetLoadPacking"}]}},
            "pluginConfig": [{"name": "TargetLoadPacking", "args": args if name == "a" else {}}],
        }
        for name in ("a", "b")
    ]
    document = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": profiles}
    result = check(yaml.safe_dump(document), "1.34", "scheduler-plugins")
    assert result.valid is one_has_a_service
    assert [finding.path.partition(".")[0] for finding in result.errors] == ([] if one_has_a_service else ["profiles[1]"])


@pytest.mark.parametrize(
    ("args", "wrong"),
    [
        ("{}", ["WatcherAddress"]),
        ("{WatcherAddress: x}", ["NodePowerModel"]),
        ("{WatcherAddress: x, NodePowerModel: {node: {k0: 1}}}", []),
    ],
)
def test_peaks_requires_an_address_and_a_power_model(args, wrong):
    assert judge("Peaks", args, 34, "scheduler-plugins", "score") == [("build", path) for path in wrong]


@pytest.mark.parametrize("minor", [22, 25, 34])
def test_preemption_toleration_rejects_a_percentage_above_100(minor):
    found = judge("PreemptionToleration", {"minCandidateNodesPercentage": 101}, minor, "scheduler-plugins", "postFilter")
    assert found == [("build", "minCandidateNodesPercentage")]


def test_messages_contain_no_values_of_the_arguments():
    secret = "hunter2"
    wrong = {
        "TargetLoadPacking": {
            "defaultRequestsMultiplier": secret,
            "metricProvider": {"type": "Prometheus", "address": f"http://u:{secret} @h", "token": secret},
        },
        "LoadVariationRiskBalancing": {"metricProvider": {"type": secret, "token": secret}},
        "NodeResourcesFit": {"scoringStrategy": {"type": secret}, "ignoredResources": [f"{secret} x"]},
    }
    for plugin, args in wrong.items():
        problems = validation_args.constructor_errors(plugin, args, "v1", Target(34, "scheduler-plugins"))
        assert problems
        assert secret not in str(problems)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("", ""),
        ("http://prometheus:9090", ""),
        ("https://user:word@[::1]:9090/path?query", ""),
        ("${PROM_URL}", ""),
        ("prometheus:9090", ""),
        ("http://h/a b", ""),
        ("1.2.3.4:9090", "first path segment in URL cannot contain colon"),
        (":9090", "missing protocol scheme"),
        ("https://${HOST}", "invalid character in host name"),
        ("http://h:port", "invalid port after host"),
        ("http://[::1", "missing ']' in host"),
        ("http://a b@h", "invalid userinfo"),
        ("http://h/%zz", "invalid URL escape"),
        ("http://h%zz", "invalid URL escape in host name"),
        ("http://h\n", "invalid control character in URL"),
    ],
)
def test_invalid_urls_get_the_messages_of_go(url, problem):
    assert validation_args.url_problem(url) == problem


@pytest.mark.parametrize(
    ("plugin", "args", "minor", "words"),
    [
        ("NodeResourcesFit", {"scoringStrategy": {"type": "RequestedToCapacityRatio"}}, 35, "crashes at start"),
        ("NodeResourcesFit", {"scoringStrategy": {"type": "RequestedToCapacityRatio"}}, 36, "must be specified when type is"),
        ("RequestedToCapacityRatio", {"shape": [{}, {}]}, 22, "utilization values must be sorted in increasing order"),
        ("Coscheduling", {"podGroupBackoffSeconds": -1}, 31, "parse arguments failed"),
        ("Coscheduling", {"podGroupBackoffSeconds": -1}, 32, "must be greater than 0"),
        ("Coscheduling", {"podGroupRejectPercentage": 101}, 34, "must be between 0 and 100"),
        ("NodeResourceTopologyMatch", {}, 24, "illegal scoring strategy found"),
        ("NodeResourceTopologyMatch", {}, 25, "invalid ScoringStrategyType"),
    ],
)
def test_messages_have_the_wording_of_the_release(plugin, args, minor, words):
    ((_path, _code, message, hint),) = validation_args.errors(plugin, args, "v1", Target(minor, "scheduler-plugins"))
    assert words in message
    assert hint


@pytest.mark.parametrize(("minor", "words"), [(33, "utilization values must be sorted"), (34, "values must be sorted")])
def test_the_message_about_an_unsorted_shape_depends_on_the_release(minor, words):
    strategy = {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": [{}, {}]}}
    ((_path, _code, message, _hint),) = validation_args.errors("NodeResourcesFit", {"scoringStrategy": strategy}, "v1", Target(minor))
    assert message.startswith(words)
