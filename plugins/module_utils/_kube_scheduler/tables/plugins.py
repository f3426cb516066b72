# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plugins compiled into every kube-scheduler: which exist, at which extension points, which run by default.

A release is its minor: 31 for Kubernetes 1.31. A point with a bound (``score>=22``, ``reserve<=35``) is implemented from that
minor on, or up to it.

Sources, per minor: pkg/scheduler/framework/plugins/registry.go and the ``var _ framework.XPlugin`` lines of each plugin,
pkg/scheduler/algorithmprovider/registry.go (1.21), pkg/scheduler/apis/config/v*/default_plugins.go (since 1.22).
"""

from __future__ import annotations

from typing import NamedTuple

POINTS = {
    # extension point, as the configuration names it: first minor whose framework has it; in the order of the documentation
    "preEnqueue": 26,
    "queueSort": 21,
    "preFilter": 21,
    "filter": 21,
    "postFilter": 21,
    "preScore": 21,
    "score": 21,
    "reserve": 21,
    "permit": 21,
    "preBind": 21,
    "bind": 21,
    "postBind": 21,
    "placementGenerate": 36,
    "placementScore": 36,
    "podGroupPostFilter": 37,
}
MULTI_POINT = "multiPoint"

BUILD_ORDER = {
    # first minor: the order in which the framework registers the points, which decides the error that is logged
    # (getExtensionPoints in pkg/scheduler/framework/runtime/framework.go)
    21: "preFilter filter postFilter reserve preScore score preBind bind postBind permit queueSort",
    26: "preFilter filter postFilter reserve preScore score preBind bind postBind permit preEnqueue queueSort",
    36: "preFilter filter postFilter reserve preScore score preBind bind postBind permit preEnqueue queueSort"
    " placementGenerate placementScore",
    37: "preFilter filter postFilter reserve preScore score preBind bind postBind permit preEnqueue queueSort"
    " placementGenerate placementScore podGroupPostFilter",
}

MERGED_POINTS = {
    # version of the configuration: what its mergePlugins takes over from the document; the rest is decoded and then lost
    "v1beta1": "queueSort preFilter filter postFilter preScore score reserve permit preBind bind postBind",
    "v1beta2": "queueSort preFilter filter postFilter preScore score reserve permit preBind bind postBind",
    "v1beta3": "multiPoint queueSort preFilter filter postFilter preScore score reserve permit preBind bind postBind",
    "v1": "multiPoint preEnqueue queueSort preFilter filter postFilter preScore score reserve permit preBind bind postBind"
    " placementGenerate placementScore podGroupPostFilter",
}

WITHOUT_DEFAULT_ARGUMENTS = ("podGroupPostFilter",)
"""Points whose plugins get no default arguments: pluginsNames in pkg/scheduler/apis/config/v1/defaults.go of 1.37 leaves them out."""


class Plugin(NamedTuple):
    """A plugin of a registry: its points, the first and the last minor that has it."""

    name: str
    points: str
    since: int = 0
    until: int | None = None


IN_TREE = (
    Plugin("PrioritySort", "queueSort"),
    Plugin("SchedulingGates", "preEnqueue", since=26),
    Plugin("NodeUnschedulable", "filter preFilter>=37"),
    Plugin("NodeName", "filter preFilter>=37"),
    Plugin("TaintToleration", "filter preScore score preFilter>=37"),
    Plugin("NodeAffinity", "preFilter filter preScore score"),
    Plugin("NodePorts", "preFilter filter"),
    Plugin("NodeResourcesFit", "preFilter filter score>=22 preScore>=27 placementScore>=36"),
    Plugin("NodeResourcesBalancedAllocation", "score preScore>=27"),
    Plugin("VolumeRestrictions", "filter preFilter>=22"),
    Plugin("NodeVolumeLimits", "filter preFilter>=28"),
    Plugin("EBSLimits", "filter preFilter>=28", until=31),
    Plugin("GCEPDLimits", "filter preFilter>=28", until=31),
    Plugin("AzureDiskLimits", "filter preFilter>=28", until=31),
    Plugin("CinderLimits", "filter preFilter>=28", until=31),
    Plugin("VolumeBinding", "preFilter filter reserve preBind score preScore>=30"),
    Plugin("VolumeZone", "filter preFilter>=27"),
    Plugin("PodTopologySpread", "preFilter filter preScore score"),
    Plugin("InterPodAffinity", "preFilter filter preScore score"),
    Plugin("DefaultPreemption", "postFilter preEnqueue>=32 podGroupPostFilter>=37"),
    Plugin("ImageLocality", "score"),
    Plugin("DefaultBinder", "bind"),
    Plugin(
        "DynamicResources",
        "preFilter filter postFilter reserve preScore<=31 postBind<=31 preEnqueue>=28 preBind>=30 score>=35 podGroupPostFilter>=37",
        since=26,
    ),
    Plugin("DeferredPodScheduling", "preFilter filter permit", since=37),
    Plugin("NodeDeclaredFeatures", "preFilter filter", since=35),
    Plugin("GangScheduling", "preEnqueue permit reserve<=35", since=35),
    Plugin("TopologyPlacementGenerator", "placementGenerate", since=36),
    Plugin("PodGroupPodsCount", "placementScore", since=36),
    Plugin("SelectorSpread", "preScore score", until=28),
    Plugin("NodeResourcesLeastAllocated", "score", until=22),
    Plugin("NodeResourcesMostAllocated", "score", until=22),
    Plugin("RequestedToCapacityRatio", "score", until=22),
    Plugin("NodeLabel", "filter score", until=22),
    Plugin("ServiceAffinity", "preFilter filter score", until=22),
    Plugin("NodePreferAvoidPods", "score", until=22),
)


class Default(NamedTuple):
    """A plugin that runs without being asked for.

    point: where it is in the default configuration; weight: None if the default configuration gives none.
    versions: of the configuration; since, until: the minors. gate: runs only while this feature gate is on
    (``!Name``: off). The order of the table is the order of running.
    """

    point: str
    name: str
    weight: int | None = None
    versions: str = "v1beta1 v1beta2"
    since: int = 0
    until: int | None = None
    gate: str = ""


DEFAULTS = (
    # v1beta1, v1beta2: point by point
    Default("queueSort", "PrioritySort"),
    Default("preEnqueue", "SchedulingGates", versions="v1beta2", since=26, gate="PodSchedulingReadiness"),
    Default("preFilter", "NodeResourcesFit"),
    Default("preFilter", "NodePorts"),
    Default("preFilter", "VolumeRestrictions", since=22),
    Default("preFilter", "PodTopologySpread"),
    Default("preFilter", "InterPodAffinity"),
    Default("preFilter", "VolumeBinding"),
    Default("preFilter", "VolumeZone", since=27),
    Default("preFilter", "NodeAffinity"),
    Default("filter", "NodeUnschedulable"),
    Default("filter", "NodeName"),
    Default("filter", "TaintToleration"),
    Default("filter", "NodeAffinity"),
    Default("filter", "NodePorts"),
    Default("filter", "NodeResourcesFit"),
    Default("filter", "VolumeRestrictions"),
    Default("filter", "EBSLimits"),
    Default("filter", "GCEPDLimits"),
    Default("filter", "NodeVolumeLimits"),
    Default("filter", "AzureDiskLimits"),
    Default("filter", "VolumeBinding"),
    Default("filter", "VolumeZone"),
    Default("filter", "PodTopologySpread"),
    Default("filter", "InterPodAffinity"),
    Default("postFilter", "DefaultPreemption"),
    Default("preScore", "InterPodAffinity"),
    Default("preScore", "PodTopologySpread"),
    Default("preScore", "TaintToleration"),
    Default("preScore", "NodeAffinity"),
    Default("preScore", "NodeResourcesFit", since=27),
    Default("preScore", "NodeResourcesBalancedAllocation", since=27),
    Default("preScore", "SelectorSpread", until=23, gate="!DefaultPodTopologySpread"),
    Default("score", "NodeResourcesBalancedAllocation", 1),
    Default("score", "ImageLocality", 1),
    Default("score", "InterPodAffinity", 1),
    Default("score", "NodeResourcesLeastAllocated", 1, versions="v1beta1"),
    Default("score", "NodeResourcesFit", 1, versions="v1beta2"),
    Default("score", "NodeAffinity", 1),
    Default("score", "NodePreferAvoidPods", 10000, versions="v1beta1"),
    Default("score", "PodTopologySpread", 2),
    Default("score", "TaintToleration", 1),
    Default("score", "VolumeBinding", 1, gate="VolumeCapacityPriority"),
    Default("score", "SelectorSpread", 1, until=23, gate="!DefaultPodTopologySpread"),
    Default("reserve", "VolumeBinding"),
    Default("preBind", "VolumeBinding"),
    Default("bind", "DefaultBinder"),
    # v1beta3, v1: every plugin at all of its points
    Default(MULTI_POINT, "SchedulingGates", versions="v1", since=30),
    Default(MULTI_POINT, "PrioritySort", versions="v1beta3 v1"),
    Default(MULTI_POINT, "NodeUnschedulable", versions="v1beta3 v1", until=36),
    Default(MULTI_POINT, "NodeName", versions="v1beta3 v1"),
    Default(MULTI_POINT, "NodeUnschedulable", versions="v1", since=37),
    Default(MULTI_POINT, "TaintToleration", 3, versions="v1beta3 v1"),
    Default(MULTI_POINT, "NodeAffinity", 2, versions="v1beta3 v1"),
    Default(MULTI_POINT, "NodePorts", versions="v1beta3 v1"),
    Default(MULTI_POINT, "DeferredPodScheduling", versions="v1", since=37, gate="InPlacePodVerticalScalingSchedulerPreemption"),
    Default(MULTI_POINT, "NodeResourcesFit", 1, versions="v1beta3 v1"),
    Default(MULTI_POINT, "VolumeRestrictions", versions="v1beta3 v1"),
    Default(MULTI_POINT, "EBSLimits", versions="v1beta3 v1", until=30),
    Default(MULTI_POINT, "GCEPDLimits", versions="v1beta3 v1", until=30),
    Default(MULTI_POINT, "NodeVolumeLimits", versions="v1beta3 v1"),
    Default(MULTI_POINT, "AzureDiskLimits", versions="v1beta3 v1", until=30),
    Default(MULTI_POINT, "VolumeBinding", versions="v1beta3 v1"),
    Default(MULTI_POINT, "VolumeZone", versions="v1beta3 v1"),
    Default(MULTI_POINT, "PodTopologySpread", 2, versions="v1beta3 v1"),
    Default(MULTI_POINT, "InterPodAffinity", 2, versions="v1beta3 v1"),
    Default(MULTI_POINT, "DynamicResources", versions="v1", since=26, until=34, gate="DynamicResourceAllocation"),
    Default(MULTI_POINT, "DynamicResources", 2, versions="v1", since=35, gate="DynamicResourceAllocation"),
    Default(MULTI_POINT, "DefaultPreemption", versions="v1beta3 v1"),
    Default(MULTI_POINT, "NodeResourcesBalancedAllocation", 1, versions="v1beta3 v1"),
    Default(MULTI_POINT, "ImageLocality", 1, versions="v1beta3 v1"),
    Default(MULTI_POINT, "DefaultBinder", versions="v1beta3 v1"),
    Default(MULTI_POINT, "SelectorSpread", 1, versions="v1beta3", until=23, gate="!DefaultPodTopologySpread"),
    Default(MULTI_POINT, "SchedulingGates", versions="v1beta3 v1", since=26, until=29, gate="PodSchedulingReadiness"),
    Default(MULTI_POINT, "NodeDeclaredFeatures", versions="v1", since=35, gate="NodeDeclaredFeatures"),
    Default(MULTI_POINT, "GangScheduling", versions="v1", since=35, until=36, gate="GangScheduling"),
    Default(MULTI_POINT, "GangScheduling", versions="v1", since=37, gate="GenericWorkload"),
    Default(MULTI_POINT, "TopologyPlacementGenerator", versions="v1", since=36, gate="TopologyAwareWorkloadScheduling"),
    Default(MULTI_POINT, "PodGroupPodsCount", 1, versions="v1", since=36, gate="TopologyAwareWorkloadScheduling"),
)
