# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What releases differ in when they check values: bounds, words, and which plugins and locks they still take.

A table with minors as keys contains the rules that apply from that minor on. Sources, in each minor: pkg/scheduler/apis/config/validation of
Kubernetes, config/validation of component-base, tools/leaderelection/resourcelock of client-go; apis/config/validation and the
constructors (pkg/) of scheduler-plugins.
"""

from __future__ import annotations

from ..result import BUILD, VALIDATE

# --- leader election ---

LEASE_MAY_EQUAL_DEADLINE = {21: True, 26: False}
"""Whether leaseDuration = renewDeadline passes validation; the leader elector refuses it in every release."""

LEASE_WORDS = {21: "LeaseDuration must be greater than RenewDeadline", 34: "must be greater than `RenewDeadline`"}

RESOURCE_LOCKS = {
    # minor: (stage in which another one is refused, those that work)
    21: (BUILD, ("leases", "endpoints", "configmaps", "endpointsleases", "configmapsleases")),
    24: (BUILD, ("leases", "endpointsleases", "configmapsleases")),
    27: (VALIDATE, ("leases",)),
}

REMOVED_LOCKS = {"endpoints": "endpointsleases", "configmaps": "configmapsleases"}
"""Lock -> the one to migrate to, in the words of the releases that removed it."""

# --- addresses of the insecure port ---

ADDRESSES = {21: "listens", 23: "port 0"}
"""What healthzBindAddress and metricsBindAddress have to be: an address to listen on; none or one with port 0."""

# --- plugins ---

INVALID_PLUGINS = (
    # first minor, last minor, version of the document, plugins refused by name, words
    (
        22,
        22,
        "v1beta2",
        (
            "NodeLabel",
            "ServiceAffinity",
            "NodePreferAvoidPods",
            "NodeResourcesLeastAllocated",
            "NodeResourcesMostAllocated",
            "RequestedToCapacityRatio",
        ),
        "was removed in version v1beta2",
    ),
    (25, 28, "v1", ("SelectorSpread",), "was removed, v1 does not have it"),
    (31, 99, "v1", ("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"), "was removed, v1 does not have it"),
)

PLUGIN_REPLACEMENTS = {
    "NodeLabel": "give NodeAffinity's argument addedAffinity the labels instead",
    "ServiceAffinity": "there is none; give the pods podAffinity or topologySpreadConstraints",
    "NodePreferAvoidPods": "there is none; taint the nodes",
    "NodeResourcesLeastAllocated": "use NodeResourcesFit with the argument scoringStrategy.type: LeastAllocated",
    "NodeResourcesMostAllocated": "use NodeResourcesFit with the argument scoringStrategy.type: MostAllocated",
    "RequestedToCapacityRatio": "use NodeResourcesFit with the argument scoringStrategy.type: RequestedToCapacityRatio",
    "SelectorSpread": "PodTopologySpread does it by default",
    "AzureDiskLimits": "NodeVolumeLimits counts these volumes",
    "CinderLimits": "NodeVolumeLimits counts these volumes",
    "EBSLimits": "NodeVolumeLimits counts these volumes",
    "GCEPDLimits": "NodeVolumeLimits counts these volumes",
}

CONFLICTING_SCORES = (
    # first minor, last minor, version of the document, plugin, those it cannot score together with
    (22, 22, "v1beta1", "NodeResourcesFit", ("NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio")),
)

QUEUE_SORT_WORDS = {
    21: "has to match for all profiles",
    30: "queueSort must be the same for all profiles",
    34: "must be the same for all profiles",
}
QUEUE_SORT_ARGS_WORDS = {21: "has to match for all profiles", 30: "queueSort must be the same for all profiles"}

EMPTY_LIST_IS_NONE = {21: False, 30: True}
"""Whether ``disabled: []`` and no ``disabled`` count as the same when the queueSort of two profiles is compared."""

# --- arguments of plugins ---

CHECKED_IN_PROFILE = (
    # plugin, first minor, last minor: its arguments are checked wherever they stand, even if it is disabled.
    # Those of other plugins, and of earlier releases, are checked by the plugin, if it is enabled.
    ("DefaultPreemption", 22, 99),
    ("InterPodAffinity", 22, 99),
    ("NodeAffinity", 22, 99),
    ("NodeResourcesBalancedAllocation", 22, 99),
    ("PodTopologySpread", 22, 99),
    ("VolumeBinding", 22, 99),
    ("DynamicResources", 34, 99),
    ("NodeLabel", 22, 22),
    ("NodeResourcesLeastAllocated", 22, 22),
    ("NodeResourcesMostAllocated", 22, 22),
    ("RequestedToCapacityRatio", 22, 22),
)

MISNAMED_FIT = {21: "", 22: "NodeResourcesFitArgs"}
"""The plugin's name under which kube-scheduler by mistake looks for NodeResourcesFit's arguments: nothing under it is accepted."""

SHAPE_WORDS = {21: "utilization values must be sorted in increasing order", 34: "values must be sorted in increasing order"}
STORAGE_GATE = {21: "VolumeCapacityPriority", 33: "StorageCapacityScoring"}
EMPTY_SHAPE_PASSES = {21: True, 23: False}
"""Whether NodeResourcesFit takes a requestedToCapacityRatio without any point."""

RATIO_BY_TYPE = {21: False, 36: True}
"""Whether requestedToCapacityRatio has to be there for that strategy, and only for it; before, the lack of it is a crash."""

# --- arguments of scheduler-plugins ---

COSCHEDULING_WORDS = {
    # field: words about a value that is negative (or above the maximum), by minor; empty: not checked
    "permitWaitingTimeSeconds": {21: "", 32: "must be greater than 0"},
    "podGroupBackoffSeconds": {21: "", 26: "parse arguments failed: must not be negative", 32: "must be greater than 0"},
    "podGroupRejectPercentage": {21: "", 34: "must be between 0 and 100"},
}
ALLOCATABLE_MODES = ("Least", "Most")
TOPOLOGY_STRATEGIES = {
    21: ("MostAllocated", "BalancedAllocation", "LeastAllocated"),
    25: ("MostAllocated", "BalancedAllocation", "LeastAllocated", "LeastNUMANodes"),
}
TOPOLOGY_WORDS = {21: "illegal scoring strategy found", 25: "invalid ScoringStrategyType"}
METRIC_PROVIDERS = ("KubernetesMetricsServer", "Prometheus", "SignalFx")
LIBRARY_PLUGINS = ("TargetLoadPacking", "LoadVariationRiskBalancing", "LowRiskOverCommitment")
"""Plugins that watch the load themselves if no watcherAddress is given; one process can do that once."""
