# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fields of a KubeSchedulerConfiguration and of the arguments of plugins: names, types, defaults, since when.

Sources: the Go types of k8s.io/kube-scheduler/config, k8s.io/component-base/config/v1alpha1, k8s.io/api/core/v1 and
sigs.k8s.io/scheduler-plugins/apis/config (pkg/apis/config before 0.23) of each minor, with the defaults.go and the generated conversions in the same
folders. To add a minor, compare those files with the previous minor and add ``since`` or ``until``.

Types are written as in Go: ``string bool int32 int64 float32 float64``, ``[]T``, ``map[string]T``, the name of a structure
below, and ``*`` where absent differs from empty. ``duration`` is metav1.Duration, ``quantity`` resource.Quantity, ``bytes``
[]byte (base64), ``args`` the arguments of the plugin in the field ``name`` of the same object.
"""

from __future__ import annotations

from typing import Any, NamedTuple

ALWAYS, UNLESS_EMPTY, NEVER = "always", "unless empty", "never"
"""When ``--write-config-to`` writes a field: always, too, what the internal types cannot tell from absent; never what they lack."""

V1BETA1 = ("v1beta1",)
V1BETA2 = ("v1beta2",)
UP_TO_V1BETA2 = ("v1beta1", "v1beta2")
SINCE_V1BETA2 = ("v1beta2", "v1beta3", "v1")
SINCE_V1BETA3 = ("v1beta3", "v1")
V1 = ("v1",)


class Field(NamedTuple):
    """A field of a structure.

    default: for a pointer what stands for absent, for another type what stands for its zero value, too; None: nothing. Defaults
    that depend on more than the field itself are in the module ``defaults``.
    written: by --write-config-to. since, until: first and last minor; versions: those that have it, empty for all.
    """

    name: str
    type: str
    default: Any = None
    written: str = UNLESS_EMPTY
    since: int = 0
    until: int = 999
    versions: tuple[str, ...] = ()


class Kind(NamedTuple):
    """Where the arguments of a plugin are registered: elsewhere they are neither decoded nor checked."""

    since: int = 0
    until: int = 999
    versions: tuple[str, ...] = ()


IN_TREE_KINDS = {
    "DefaultPreemptionArgs": Kind(),
    "DynamicResourcesArgs": Kind(since=34),
    "InterPodAffinityArgs": Kind(),
    "NodeAffinityArgs": Kind(),
    "NodeLabelArgs": Kind(versions=V1BETA1),
    "NodeResourcesBalancedAllocationArgs": Kind(since=22),
    "NodeResourcesFitArgs": Kind(),
    "NodeResourcesLeastAllocatedArgs": Kind(versions=V1BETA1),
    "NodeResourcesMostAllocatedArgs": Kind(versions=V1BETA1),
    "PodTopologySpreadArgs": Kind(),
    "RequestedToCapacityRatioArgs": Kind(versions=V1BETA1),
    "ServiceAffinityArgs": Kind(versions=V1BETA1),
    "VolumeBindingArgs": Kind(),
}

SCHEDULER_PLUGINS_KINDS = {
    "CapacitySchedulingArgs": Kind(versions=V1BETA1),
    "CoschedulingArgs": Kind(),
    "LoadVariationRiskBalancingArgs": Kind(),
    "LowRiskOverCommitmentArgs": Kind(since=26, versions=SINCE_V1BETA3),
    "NetworkOverheadArgs": Kind(since=24, versions=SINCE_V1BETA3),
    "NodeResourceTopologyMatchArgs": Kind(),
    "NodeResourcesAllocatableArgs": Kind(),
    "PeaksArgs": Kind(since=31),
    "PreemptionTolerationArgs": Kind(since=22, versions=SINCE_V1BETA2),
    "SySchedArgs": Kind(since=28),
    "TargetLoadPackingArgs": Kind(),
    "TopologicalSortArgs": Kind(since=24, versions=SINCE_V1BETA3),
}

INCONVERTIBLE = {"CapacityScheduling": 22}
"""plugin: minor in which its arguments are registered in one version but not internally, so that nothing can hold them.

scheduler-plugins 0.22.6 registers CapacitySchedulingArgs in v1beta1 and dropped the internal type (run as a binary).
"""

_SECOND = 10**9  # durations are nanoseconds

_TYPE = (Field("apiVersion", "string"), Field("kind", "string"))
_RESOURCES = (Field("resources", "[]ResourceSpec"),)
_PREEMPTION = (
    Field("minCandidateNodesPercentage", "*int32", 10, ALWAYS),
    Field("minCandidateNodesAbsolute", "*int32", 100, ALWAYS),
)
_TRIMARAN = (
    Field("metricProvider", "MetricProviderSpec"),
    Field("watcherAddress", "*string", None, ALWAYS),
)

STRUCTURES: dict[str, tuple[Field, ...]] = {
    # --- the document ---
    "KubeSchedulerConfiguration": (
        *_TYPE,
        Field("parallelism", "*int32", 16, ALWAYS),
        Field("leaderElection", "LeaderElectionConfiguration"),
        Field("clientConnection", "ClientConnectionConfiguration"),
        Field("healthzBindAddress", "*string", None, ALWAYS, versions=UP_TO_V1BETA2),
        Field("metricsBindAddress", "*string", None, ALWAYS, versions=UP_TO_V1BETA2),
        Field("enableProfiling", "*bool", True, ALWAYS),
        Field("enableContentionProfiling", "*bool", None, ALWAYS),
        Field("percentageOfNodesToScore", "*int32", 0, ALWAYS),
        Field("podInitialBackoffSeconds", "*int64", 1, ALWAYS),
        Field("podMaxBackoffSeconds", "*int64", 10, ALWAYS),
        Field("profiles", "[]KubeSchedulerProfile"),
        Field("extenders", "[]Extender"),
        Field("delayCacheUntilActive", "bool", since=28, versions=V1),
    ),
    "LeaderElectionConfiguration": (
        Field("leaderElect", "*bool", True, ALWAYS),
        Field("leaseDuration", "duration", 15 * _SECOND, ALWAYS),
        Field("renewDeadline", "duration", 10 * _SECOND, ALWAYS),
        Field("retryPeriod", "duration", 2 * _SECOND, ALWAYS),
        Field("resourceLock", "string", "leases", ALWAYS),
        Field("resourceName", "string", "kube-scheduler", ALWAYS),
        Field("resourceNamespace", "string", "kube-system", ALWAYS),
    ),
    "ClientConnectionConfiguration": (
        Field("kubeconfig", "string", None, ALWAYS),
        Field("acceptContentTypes", "string", None, ALWAYS),
        Field("contentType", "string", "application/vnd.kubernetes.protobuf", ALWAYS),
        Field("qps", "float32", 50, ALWAYS),
        Field("burst", "int32", 100, ALWAYS),
    ),
    "KubeSchedulerProfile": (
        Field("schedulerName", "*string", None, ALWAYS),
        Field("percentageOfNodesToScore", "*int32", since=26, versions=V1),
        Field("plugins", "*Plugins"),
        Field("pluginConfig", "[]PluginConfig"),
    ),
    "Plugins": (
        Field("preEnqueue", "PluginSet", since=26),
        Field("queueSort", "PluginSet"),
        Field("preFilter", "PluginSet"),
        Field("filter", "PluginSet"),
        Field("postFilter", "PluginSet"),
        Field("preScore", "PluginSet"),
        Field("score", "PluginSet"),
        Field("reserve", "PluginSet"),
        Field("permit", "PluginSet"),
        Field("preBind", "PluginSet"),
        Field("bind", "PluginSet"),
        Field("postBind", "PluginSet"),
        Field("multiPoint", "PluginSet", since=23),
        Field("placementGenerate", "PluginSet", since=36),
        Field("placementScore", "PluginSet", since=36),
        Field("podGroupPostFilter", "PluginSet", since=37),
    ),
    "PluginSet": (
        Field("enabled", "[]Plugin"),
        Field("disabled", "[]Plugin"),
    ),
    "Plugin": (
        Field("name", "string", None, ALWAYS),
        Field("weight", "*int32", None, ALWAYS),
    ),
    "PluginConfig": (
        Field("name", "string", None, ALWAYS),
        Field("args", "args"),
    ),
    "Extender": (
        Field("urlPrefix", "string", None, ALWAYS),
        Field("filterVerb", "string"),
        Field("preemptVerb", "string"),
        Field("prioritizeVerb", "string"),
        Field("weight", "int64"),
        Field("bindVerb", "string"),
        Field("enableHTTPS", "bool"),
        Field("tlsConfig", "*ExtenderTLSConfig"),
        Field("httpTimeout", "duration", 5 * _SECOND, ALWAYS),
        Field("nodeCacheCapable", "bool"),
        Field("managedResources", "[]ExtenderManagedResource"),
        Field("ignorable", "bool"),
    ),
    "ExtenderTLSConfig": (
        Field("insecure", "bool"),
        Field("serverName", "string"),
        Field("certFile", "string"),
        Field("keyFile", "string"),
        Field("caFile", "string"),
        Field("certData", "bytes"),
        Field("keyData", "bytes"),
        Field("caData", "bytes"),
    ),
    "ExtenderManagedResource": (
        Field("name", "string", None, ALWAYS),
        Field("ignoredByScheduler", "bool"),
    ),
    # --- arguments of the plugins in kube-scheduler itself ---
    "DefaultPreemptionArgs": (*_TYPE, *_PREEMPTION),
    "DynamicResourcesArgs": (
        *_TYPE,
        Field("filterTimeout", "*duration", None, ALWAYS),
        Field("bindingTimeout", "*duration", since=35),
    ),
    "InterPodAffinityArgs": (
        *_TYPE,
        Field("hardPodAffinityWeight", "*int32", 1, ALWAYS),
        Field("ignorePreferredTermsOfExistingPods", "bool", None, ALWAYS, since=27),
    ),
    "NodeAffinityArgs": (*_TYPE, Field("addedAffinity", "*NodeAffinity")),
    "NodeLabelArgs": (
        *_TYPE,
        Field("presentLabels", "[]string"),
        Field("absentLabels", "[]string"),
        Field("presentLabelsPreference", "[]string"),
        Field("absentLabelsPreference", "[]string"),
    ),
    "NodeResourcesBalancedAllocationArgs": (*_TYPE, *_RESOURCES),
    "NodeResourcesFitArgs": (
        *_TYPE,
        Field("ignoredResources", "[]string"),
        Field("ignoredResourceGroups", "[]string"),
        Field("scoringStrategy", "*ScoringStrategy", since=22),
    ),
    "NodeResourcesLeastAllocatedArgs": (*_TYPE, *_RESOURCES),
    "NodeResourcesMostAllocatedArgs": (*_TYPE, *_RESOURCES),
    "PodTopologySpreadArgs": (
        *_TYPE,
        Field("defaultConstraints", "[]TopologySpreadConstraint"),
        Field("defaultingType", "string"),
    ),
    "RequestedToCapacityRatioArgs": (
        *_TYPE,
        Field("shape", "[]UtilizationShapePoint", None, ALWAYS),
        *_RESOURCES,
    ),
    "ServiceAffinityArgs": (
        *_TYPE,
        Field("affinityLabels", "[]string"),
        Field("antiAffinityLabelsPreference", "[]string"),
    ),
    "VolumeBindingArgs": (
        *_TYPE,
        Field("bindTimeoutSeconds", "*int64", 600, ALWAYS),
        Field("shape", "[]UtilizationShapePoint", since=22),
    ),
    "ScoringStrategy": (
        Field("type", "string"),
        *_RESOURCES,
        Field("requestedToCapacityRatio", "*RequestedToCapacityRatioParam"),
    ),
    "RequestedToCapacityRatioParam": (Field("shape", "[]UtilizationShapePoint"),),
    "UtilizationShapePoint": (
        Field("utilization", "int32", None, ALWAYS),
        Field("score", "int32", None, ALWAYS),
    ),
    "ResourceSpec": (
        Field("name", "string", None, ALWAYS),
        Field("weight", "int64"),
    ),
    # --- parts of the Kubernetes API ---
    "NodeAffinity": (
        Field("requiredDuringSchedulingIgnoredDuringExecution", "*NodeSelector"),
        Field("preferredDuringSchedulingIgnoredDuringExecution", "[]PreferredSchedulingTerm"),
    ),
    "NodeSelector": (Field("nodeSelectorTerms", "[]NodeSelectorTerm", None, ALWAYS),),
    "NodeSelectorTerm": (
        Field("matchExpressions", "[]NodeSelectorRequirement"),
        Field("matchFields", "[]NodeSelectorRequirement"),
    ),
    "NodeSelectorRequirement": (
        Field("key", "string", None, ALWAYS),
        Field("operator", "string", None, ALWAYS),
        Field("values", "[]string"),
    ),
    "PreferredSchedulingTerm": (
        Field("weight", "int32", None, ALWAYS),
        Field("preference", "NodeSelectorTerm"),
    ),
    "TopologySpreadConstraint": (
        Field("maxSkew", "int32", None, ALWAYS),
        Field("topologyKey", "string", None, ALWAYS),
        Field("whenUnsatisfiable", "string", None, ALWAYS),
        Field("labelSelector", "*LabelSelector"),
        Field("minDomains", "*int32", since=24),
        Field("nodeAffinityPolicy", "*string", since=25),
        Field("nodeTaintsPolicy", "*string", since=25),
        Field("matchLabelKeys", "[]string", since=25),
    ),
    "LabelSelector": (
        Field("matchLabels", "map[string]string"),
        Field("matchExpressions", "[]LabelSelectorRequirement"),
    ),
    "LabelSelectorRequirement": (
        Field("key", "string", None, ALWAYS),
        Field("operator", "string", None, ALWAYS),
        Field("values", "[]string"),
    ),
    # --- arguments of kubernetes-sigs/scheduler-plugins, the release for the minor ---
    "CapacitySchedulingArgs": (*_TYPE, Field("kubeConfigPath", "*string", None, ALWAYS)),
    "CoschedulingArgs": (
        *_TYPE,
        Field("permitWaitingTimeSeconds", "*int64", 60, ALWAYS),
        Field("deniedPGExpirationTimeSeconds", "*int64", 20, ALWAYS, until=22, versions=UP_TO_V1BETA2),
        Field("deniedPGExpirationTimeSeconds", "*int64", 20, NEVER, since=23, versions=V1BETA2),
        Field("kubeMaster", "*string", None, ALWAYS, until=21, versions=V1BETA1),
        Field("kubeMaster", "*string", None, NEVER, since=22, versions=V1BETA1),
        Field("kubeConfigPath", "*string", None, ALWAYS, until=21, versions=V1BETA1),
        Field("kubeConfigPath", "*string", None, NEVER, since=22, versions=V1BETA1),
        Field("podGroupBackoffSeconds", "*int64", 0, ALWAYS, since=26),
        Field("podGroupRejectPercentage", "*int32", 10, ALWAYS, since=34),
    ),
    "LoadVariationRiskBalancingArgs": (
        *_TYPE,
        *_TRIMARAN,
        Field("safeVarianceMargin", "*float64", 1, ALWAYS),
        Field("safeVarianceSensitivity", "*float64", 1, ALWAYS),
    ),
    "LowRiskOverCommitmentArgs": (
        *_TYPE,
        *_TRIMARAN,
        Field("smoothingWindowSize", "*int64", 5, ALWAYS),
        Field("riskLimitWeights", "map[string]float64"),
    ),
    "MetricProviderSpec": (
        Field("type", "string"),
        Field("address", "*string", None, ALWAYS),
        Field("token", "*string", None, ALWAYS),
        Field("insecureSkipVerify", "*bool", None, ALWAYS, since=23),
    ),
    "NetworkOverheadArgs": (
        *_TYPE,
        Field("namespaces", "[]string", ("default",)),
        Field("weightsName", "*string", "UserDefined", ALWAYS),
        Field("networkTopologyName", "*string", "nt-default", ALWAYS),
    ),
    "NodeResourceTopologyMatchArgs": (
        *_TYPE,
        Field("kubeconfigpath", "*string", "/etc/kubernetes/scheduler.conf", ALWAYS, until=21, versions=V1BETA1),
        Field("kubeconfigpath", "*string", None, NEVER, since=22, versions=V1BETA1),
        Field("masteroverride", "*string", None, ALWAYS, until=21, versions=V1BETA1),
        Field("masteroverride", "*string", None, NEVER, since=22, versions=V1BETA1),
        Field("namespaces", "[]string", ("default",), until=21, versions=V1BETA1),
        Field("scoringStrategy", "*NodeResourceTopologyScoringStrategy"),
        Field("cacheResyncPeriodSeconds", "*int64", None, ALWAYS, since=24),
        Field("discardReservedNodes", "bool", since=26),
        Field("cache", "*NodeResourceTopologyCache", since=26),
    ),
    "NodeResourceTopologyCache": (
        Field("foreignPodsDetect", "*string", "All"),
        Field("resyncMethod", "*string", "Autodetect"),
        Field("informerMode", "*string", "Dedicated", since=28),
        Field("resyncScope", "*string", since=29),
    ),
    "NodeResourceTopologyScoringStrategy": (Field("type", "string"), *_RESOURCES),
    "NodeResourcesAllocatableArgs": (*_TYPE, *_RESOURCES, Field("mode", "string", "Least")),
    # The tags of the Go structure are malformed, so that its names are those of Go.
    "PeaksArgs": (
        *_TYPE,
        Field("WatcherAddress", "string", None, ALWAYS),
        Field("NodePowerModel", "map[string]PowerModel", None, ALWAYS),
    ),
    "PowerModel": (
        Field("k0", "float64", None, ALWAYS),
        Field("k1", "float64", None, ALWAYS),
        Field("k2", "float64", None, ALWAYS),
    ),
    "PreemptionTolerationArgs": (*_TYPE, *_PREEMPTION),
    "SySchedArgs": (
        *_TYPE,
        Field("defaultProfileNamespace", "*string", "default", ALWAYS),
        Field("defaultProfileName", "*string", "all-syscalls", ALWAYS),
    ),
    "TargetLoadPackingArgs": (
        *_TYPE,
        *_TRIMARAN,
        Field("defaultRequests", "map[string]quantity"),
        Field("defaultRequestsMultiplier", "*string", "1.5", ALWAYS),
        Field("targetUtilization", "*int64", 40, ALWAYS),
    ),
    "TopologicalSortArgs": (*_TYPE, Field("namespaces", "[]string", ("default",))),
}
