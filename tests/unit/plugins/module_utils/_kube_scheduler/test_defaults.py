# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a configuration means where it says nothing."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import addresses, decode, defaults
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document import parse
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.report import Report
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import (
    IN_TREE,
    SCHEDULER_PLUGINS,
    CustomPlugin,
    Target,
)

CPU_AND_MEMORY = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
SECOND = 10**9


def complete(body="", minor=34, version=None, plugins=IN_TREE, flags=(), custom=()):
    target = Target(minor, plugins, custom, flags)
    version = version or target.served[-1]
    root, _findings = parse(f"apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\n{body}")
    report = Report(root)
    config = decode.decode(root, version, target, report)
    assert [finding.format() for finding in report.findings] == []
    defaults.apply(config, version, target)
    return config


def complete_args(plugin, args="{}", *more, **kwargs):
    config = complete(f"profiles: [{{pluginConfig: [{{name: {plugin}, args: {args}}}]}}]\n", *more, **kwargs)
    return config["profiles"][0]["pluginConfig"][0]["args"]


@pytest.mark.parametrize("minor", range(21, 37))
def test_an_empty_document_is_completed_with_all_defaults(minor):
    for version in Target(minor).served:
        config = complete("", minor, version)
        assert [profile["schedulerName"] for profile in config.pop("profiles")] == ["default-scheduler"]
        if minor <= 22:
            assert config.pop("healthzBindAddress") == config.pop("metricsBindAddress") == "0.0.0.0:10251"
        assert config == {
            "apiVersion": f"kubescheduler.config.k8s.io/{version}",
            "kind": "KubeSchedulerConfiguration",
            "parallelism": 16,
            "leaderElection": {
                "leaderElect": True,
                "leaseDuration": 15 * SECOND,
                "renewDeadline": 10 * SECOND,
                "retryPeriod": 2 * SECOND,
                "resourceLock": "leases",
                "resourceName": "kube-scheduler",
                "resourceNamespace": "kube-system",
            },
            "clientConnection": {"contentType": "application/vnd.kubernetes.protobuf", "qps": 50, "burst": 100},
            "enableProfiling": True,
            "enableContentionProfiling": True,
            "percentageOfNodesToScore": 0,
            "podInitialBackoffSeconds": 1,
            "podMaxBackoffSeconds": 10,
        }


@pytest.mark.parametrize(
    ("body", "path", "value"),
    [
        ("parallelism: 0\n", ("parallelism",), 0),
        ("podInitialBackoffSeconds: 0\n", ("podInitialBackoffSeconds",), 0),
        ("enableProfiling: false\n", ("enableProfiling",), False),
        ("leaderElection: {leaderElect: false}\n", ("leaderElection", "leaderElect"), False),
        # These cannot tell absent from empty.
        ("leaderElection: {leaseDuration: 0s}\n", ("leaderElection", "leaseDuration"), 15 * SECOND),
        ("leaderElection: {resourceName: ''}\n", ("leaderElection", "resourceName"), "kube-scheduler"),
        ("clientConnection: {qps: 0}\n", ("clientConnection", "qps"), 50),
        ("clientConnection: {burst: 0}\n", ("clientConnection", "burst"), 100),
        ("clientConnection: {qps: -1}\n", ("clientConnection", "qps"), -1),
        ("extenders: [{}]\n", ("extenders", 0, "httpTimeout"), 5 * SECOND),
        ("extenders: [{httpTimeout: 0s}]\n", ("extenders", 0, "httpTimeout"), 5 * SECOND),
        ("extenders: [{httpTimeout: -1s}]\n", ("extenders", 0, "httpTimeout"), -SECOND),
    ],
)
def test_given_values_are_kept_unless_zero_means_the_default(body, path, value):
    found = complete(body)
    for part in path:
        found = found[part]
    assert found == value


def test_contention_profiling_follows_profiling():
    assert "enableContentionProfiling" not in complete("enableProfiling: false\n")
    assert complete("enableProfiling: false\nenableContentionProfiling: true\n")["enableContentionProfiling"] is True


@pytest.mark.parametrize(
    ("profiles", "names"),
    [
        ("[]", ["default-scheduler"]),
        ("[null]", ["default-scheduler"]),
        ("[{schedulerName: ''}]", [""]),
        ("[{schedulerName: a}]", ["a"]),
        ("[{schedulerName: a}, {}]", ["a", None]),
    ],
)
def test_only_a_single_profile_gets_a_default_scheduler_name(profiles, names):
    assert [profile.get("schedulerName") for profile in complete(f"profiles: {profiles}\n")["profiles"]] == names


@pytest.mark.parametrize(
    ("written", "v1beta1", "v1beta2"),
    [
        ("127.0.0.1:1", "127.0.0.1:1", "127.0.0.1:1"),
        (":1", "0.0.0.0:1", "0.0.0.0:1"),
        ("127.0.0.1", "127.0.0.1:10251", "127.0.0.1:10251"),
        ("::1", "[::1]:10251", "[::1]:10251"),
        ("[::1]:5", "[::1]:5", "[::1]:5"),
        ("garbage", "0.0.0.0:10251", "garbage"),
        ("", "0.0.0.0:10251", ""),
        ("host:port", "host:port", "host:port"),
    ],
)
def test_bind_addresses_are_completed_as_each_version_does(written, v1beta1, v1beta2):
    for field in ("healthzBindAddress", "metricsBindAddress"):
        for minor in (21, 22):
            assert complete(f"{field}: '{written}'\n", minor, "v1beta1")[field] == v1beta1
        assert complete(f"{field}: '{written}'\n", 22, "v1beta2")[field] == v1beta2
        assert complete(f"{field}: '{written}'\n", 23, "v1beta2")[field] == written
    assert "healthzBindAddress" not in complete("", 23, "v1beta2")


@pytest.mark.parametrize(
    "wrong", ["", "a", "a:b:c", "[::1]", "[::1", "[::1]x:1", "[::1]:1:2", "a[b:1", "a]b:1", "[a[b]:1", "[a]b]:1", "[::1]]:1"]
)
def test_a_text_that_is_no_host_and_port_is_rejected(wrong):
    with pytest.raises(ValueError, match=r"^address "):
        addresses.split_host_port(wrong)


@pytest.mark.parametrize(
    ("text", "is_ip"),
    [
        ("1.2.3.4", True),
        ("::1", True),
        ("::ffff:1.2.3.4", True),
        ("1.2.3", False),
        ("1.2.3.04", False),
        ("fe80::1%eth0", False),
        ("", False),
    ],
)
def test_ip_addresses_are_distinguished_from_other_text(text, is_ip):
    assert addresses.is_ip(text) == is_ip


# --- arguments of plugins ---


@pytest.mark.parametrize(
    ("plugin", "args", "completed"),
    [
        ("DefaultPreemption", "{}", {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100}),
        (
            "DefaultPreemption",
            "{minCandidateNodesPercentage: 0}",
            {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 100},
        ),
        ("InterPodAffinity", "{}", {"hardPodAffinityWeight": 1}),
        ("NodeAffinity", "{}", {}),
        ("NodeAffinity", "{addedAffinity: {}}", {"addedAffinity": {}}),
        ("NodeResourcesBalancedAllocation", "{resources: []}", {"resources": CPU_AND_MEMORY}),
        (
            "NodeResourcesBalancedAllocation",
            "{resources: [{name: a, weight: 0}, {name: b, weight: 2}]}",
            {"resources": [{"name": "a", "weight": 1}, {"name": "b", "weight": 2}]},
        ),
        ("NodeResourcesFit", "{}", {"scoringStrategy": {"type": "LeastAllocated", "resources": CPU_AND_MEMORY}}),
        ("NodeResourcesFit", "{scoringStrategy: {}}", {"scoringStrategy": {"resources": CPU_AND_MEMORY}}),
        (
            "NodeResourcesFit",
            "{scoringStrategy: {type: MostAllocated, resources: [{name: a}]}}",
            {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "a", "weight": 1}]}},
        ),
        ("PodTopologySpread", "{}", {"defaultingType": "System"}),
        ("PodTopologySpread", "{defaultingType: List}", {"defaultingType": "List"}),
        ("PodTopologySpread", "{defaultConstraints: [{}]}", {"defaultingType": "System", "defaultConstraints": [{}]}),
        ("VolumeBinding", "{}", {"bindTimeoutSeconds": 600}),
        ("VolumeBinding", "{bindTimeoutSeconds: 0}", {"bindTimeoutSeconds": 0}),
        ("DynamicResources", "{}", {"filterTimeout": 10 * SECOND}),
        ("DynamicResources", "{filterTimeout: 0s}", {"filterTimeout": 0}),
    ],
)
def test_plugin_arguments_are_completed_with_defaults(plugin, args, completed):
    assert complete_args(plugin, args) == completed


def test_arguments_without_a_type_are_left_unchanged():
    assert complete_args("ImageLocality", "{a: 1}") == {"a": 1}


def test_node_resources_fit_has_a_default_scoring_strategy_since_1_22():
    assert complete_args("NodeResourcesFit", "{}", 21) == {}
    assert "scoringStrategy" in complete_args("NodeResourcesFit", "{}", 22, "v1beta1")


def test_plugins_before_scoring_strategies_get_default_resources_or_weights():
    resources = "{resources: [{name: a}]}"
    for plugin in ("NodeResourcesLeastAllocated", "NodeResourcesMostAllocated"):
        for minor in (21, 22):
            assert complete_args(plugin, "{}", minor, "v1beta1") == {"resources": CPU_AND_MEMORY}
            assert complete_args(plugin, resources, minor, "v1beta1") == {"resources": [{"name": "a"}]}
    assert complete_args("RequestedToCapacityRatio", resources, 21, "v1beta1") == {"resources": [{"name": "a"}]}
    assert complete_args("RequestedToCapacityRatio", resources, 22, "v1beta1") == {"resources": [{"name": "a", "weight": 1}]}


@pytest.mark.parametrize(
    ("version", "args", "kind"),
    [
        ("v1beta1", "{}", "System"),
        ("v1beta1", "{defaultConstraints: [{}]}", "List"),
        ("v1beta2", "{}", "System"),
        ("v1beta2", "{defaultConstraints: [{}]}", "System"),
    ],
)
def test_the_default_type_of_spreading_depends_on_the_version(version, args, kind):
    assert complete_args("PodTopologySpread", args, 22, version)["defaultingType"] == kind


def test_feature_gates_change_defaults():
    def gated(gate, plugin, minor, *args):
        return complete_args(plugin, "{}", minor, *args, flags=(f"--feature-gates={gate}",))

    assert gated("DefaultPodTopologySpread=false", "PodTopologySpread", 22, "v1beta2") == {"defaultingType": "List"}
    most = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    least = [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]
    assert gated("VolumeCapacityPriority=true", "VolumeBinding", 32)["shape"] == most
    assert gated("StorageCapacityScoring=true", "VolumeBinding", 33)["shape"] == least
    assert gated("DRASchedulerFilterTimeout=false", "DynamicResources", 34) == {}
    both = "DRADeviceBindingConditions=true,DRAResourceClaimDeviceStatus=true"
    assert gated(both, "DynamicResources", 34) == {"filterTimeout": 10 * SECOND}
    assert gated(both, "DynamicResources", 35) == {"filterTimeout": 10 * SECOND, "bindingTimeout": 600 * SECOND}


@pytest.mark.parametrize(
    ("plugin", "args", "completed"),
    [
        (
            "Coscheduling",
            "{}",
            {"permitWaitingTimeSeconds": 60, "podGroupBackoffSeconds": 0, "podGroupRejectPercentage": 10},
        ),
        (
            "NodeResourcesAllocatable",
            "{}",
            {"resources": [{"name": "cpu", "weight": 2**20}, {"name": "memory", "weight": 1}], "mode": "Least"},
        ),
        ("PreemptionToleration", "{}", {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100}),
        ("TopologicalSort", "{namespaces: []}", {"namespaces": ["default"]}),
        (
            "NetworkOverhead",
            "{weightsName: ''}",
            {"namespaces": ["default"], "weightsName": "", "networkTopologyName": "nt-default"},
        ),
        ("SySched", "{}", {"defaultProfileNamespace": "default", "defaultProfileName": "all-syscalls"}),
        ("Peaks", "{}", {}),
        (
            "LoadVariationRiskBalancing",
            "{watcherAddress: a, safeVarianceMargin: -1, safeVarianceSensitivity: 0}",
            {"watcherAddress": "a", "metricProvider": {}, "safeVarianceMargin": 1, "safeVarianceSensitivity": 0},
        ),
        (
            "LowRiskOverCommitment",
            "{watcherAddress: a, smoothingWindowSize: 0}",
            {
                "watcherAddress": "a",
                "metricProvider": {},
                "smoothingWindowSize": 5,
                "riskLimitWeights": {"cpu": 0.5, "memory": 0.5},
            },
        ),
        (
            "LowRiskOverCommitment",
            "{watcherAddress: a, smoothingWindowSize: 3, riskLimitWeights: {a: 1.5, b: -1, c: 1, d: 0}}",
            {
                "watcherAddress": "a",
                "metricProvider": {},
                "smoothingWindowSize": 3,
                "riskLimitWeights": {"a": 0.5, "b": 0.5, "c": 1, "d": 0},
            },
        ),
        (
            "NodeResourceTopologyMatch",
            "{}",
            {
                "scoringStrategy": {"type": "LeastAllocated", "resources": CPU_AND_MEMORY},
                "cache": {"foreignPodsDetect": "All", "resyncMethod": "Autodetect", "informerMode": "Dedicated"},
            },
        ),
    ],
)
def test_arguments_of_scheduler_plugins_are_completed_with_defaults(plugin, args, completed):
    assert complete_args(plugin, args, plugins=SCHEDULER_PLUGINS) == completed


def test_target_load_packing_is_completed_with_defaults():
    args = complete_args("TargetLoadPacking", "{targetUtilization: -1}", plugins=SCHEDULER_PLUGINS)
    assert {name: str(quantity) for name, quantity in args.pop("defaultRequests").items()} == {"cpu": "1"}
    assert args == {
        "metricProvider": {"type": "KubernetesMetricsServer"},
        "defaultRequestsMultiplier": "1.5",
        "targetUtilization": 40,
    }
    assert complete_args("TargetLoadPacking", "{defaultRequests: {}}", plugins=SCHEDULER_PLUGINS)["defaultRequests"] == {}


@pytest.mark.parametrize(
    ("args", "provider"),
    [
        ("{}", {"type": "KubernetesMetricsServer"}),
        ("{watcherAddress: ''}", {}),
        ("{metricProvider: {type: Prometheus}}", {"type": "Prometheus", "insecureSkipVerify": True}),
        ("{metricProvider: {type: Prometheus, insecureSkipVerify: false}}", {"type": "Prometheus", "insecureSkipVerify": False}),
        ("{metricProvider: {type: SignalFx}}", {"type": "SignalFx"}),
    ],
)
def test_the_metric_provider_is_completed_with_defaults(args, provider):
    for plugin in ("TargetLoadPacking", "LoadVariationRiskBalancing", "LowRiskOverCommitment"):
        assert complete_args(plugin, args, plugins=SCHEDULER_PLUGINS)["metricProvider"] == provider


def test_skipping_verification_is_no_default_before_0_23():
    args = "{metricProvider: {type: Prometheus}}"
    assert complete_args("TargetLoadPacking", args, 22, plugins=SCHEDULER_PLUGINS)["metricProvider"] == {"type": "Prometheus"}


@pytest.mark.parametrize(
    ("minor", "version", "completed"),
    [
        (21, "v1beta1", {"permitWaitingTimeSeconds": 60, "deniedPGExpirationTimeSeconds": 20}),
        (25, "v1beta3", {"permitWaitingTimeSeconds": 60}),
        (26, "v1beta2", {"permitWaitingTimeSeconds": 60, "deniedPGExpirationTimeSeconds": 20, "podGroupBackoffSeconds": 0}),
        (33, "v1", {"permitWaitingTimeSeconds": 60, "podGroupBackoffSeconds": 0}),
    ],
)
def test_defaults_of_coscheduling_depend_on_the_release(minor, version, completed):
    assert complete_args("Coscheduling", "{}", minor, version, SCHEDULER_PLUGINS) == completed


def test_defaults_of_node_resource_topology_match_depend_on_the_release():
    strategy = {"scoringStrategy": {"type": "LeastAllocated", "resources": CPU_AND_MEMORY}}
    found = complete_args("NodeResourceTopologyMatch", "{}", 21, plugins=SCHEDULER_PLUGINS)
    assert found == {**strategy, "kubeconfigpath": "/etc/kubernetes/scheduler.conf", "namespaces": ["default"]}
    assert complete_args("NodeResourceTopologyMatch", "{}", 25, plugins=SCHEDULER_PLUGINS) == strategy
    found = complete_args("NodeResourceTopologyMatch", "{}", 26, plugins=SCHEDULER_PLUGINS)
    assert found["cache"] == {"foreignPodsDetect": "All", "resyncMethod": "Autodetect"}


def test_custom_plugins_have_no_defaults():
    custom = (CustomPlugin("Mine", ("score",), {"limit": "*int32"}),)
    assert complete_args("Mine", "{}", custom=custom) == {}
    custom = (CustomPlugin("TargetLoadPacking", ("score",), {"limit": "*int32"}),)
    assert complete_args("TargetLoadPacking", "{}", custom=custom) == {}


@pytest.mark.parametrize("minor", range(22, 37))
def test_every_default_plugin_with_typed_arguments_gets_them(minor):
    for version in Target(minor).served:
        for entry in complete("", minor, version)["profiles"][0]["pluginConfig"]:
            assert "args" in entry
            if entry["name"] == "DefaultPreemption":
                assert entry["args"]["minCandidateNodesAbsolute"] == 100


def test_defaults_are_not_shared():
    first = complete_args("TopologicalSort", "{}", plugins=SCHEDULER_PLUGINS)
    first["namespaces"].append("other")
    assert complete_args("TopologicalSort", "{}", plugins=SCHEDULER_PLUGINS)["namespaces"] == ["default"]
    fit = complete_args("NodeResourcesFit")
    fit["scoringStrategy"]["resources"][0]["weight"] = 5
    assert complete_args("NodeResourcesFit")["scoringStrategy"]["resources"] == CPU_AND_MEMORY
