# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Scheduling policies: their fields, and the plugins that stand for predicates and priorities.

Sources: k8s.io/kube-scheduler/config/v1/types.go and pkg/scheduler/framework/plugins/legacy_registry.go of 1.21 and 1.22 (equal in
both).
"""

from __future__ import annotations

POLICY_FIELDS = {
    # structure: field -> type; []: a list; any: taken as it is
    "Policy": {
        "apiVersion": "string",
        "kind": "string",
        "predicates": "[]Predicate",
        "priorities": "[]Priority",
        "extenders": "[]Extender",
        "hardPodAffinitySymmetricWeight": "int",
        "alwaysCheckAllPredicates": "bool",
    },
    "Predicate": {"name": "string", "argument": "PredicateArgument"},
    "PredicateArgument": {"serviceAffinity": "ServiceAffinity", "labelsPresence": "LabelsPresence"},
    "ServiceAffinity": {"labels": "[]string"},
    "LabelsPresence": {"labels": "[]string", "presence": "bool"},
    "Priority": {"name": "string", "weight": "int", "argument": "PriorityArgument"},
    "PriorityArgument": {
        "serviceAntiAffinity": "ServiceAntiAffinity",
        "labelPreference": "LabelPreference",
        "requestedToCapacityRatioArguments": "RequestedToCapacityRatioArguments",
    },
    "ServiceAntiAffinity": {"label": "string"},
    "LabelPreference": {"label": "string", "presence": "bool"},
    "RequestedToCapacityRatioArguments": {"shape": "[]ShapePoint", "resources": "[]Resource"},
    "ShapePoint": {"utilization": "int", "score": "int"},
    "Resource": {"name": "string", "weight": "int"},
    "Extender": {
        "urlPrefix": "string",
        "filterVerb": "string",
        "preemptVerb": "string",
        "prioritizeVerb": "string",
        "weight": "int",
        "bindVerb": "string",
        "enableHttps": "bool",
        "tlsConfig": "any",
        "httpTimeout": "int",
        "nodeCacheCapable": "bool",
        "managedResources": "any",
        "ignorable": "bool",
    },
}

OTHER_NAMES = {"PodFitsPorts": "PodFitsHostPorts", "ServiceSpreadingPriority": "SelectorSpreadPriority"}

PREDICATES = {
    # predicate: plugins, each with its extension points; in the order of PREDICATE_ORDER
    "CheckNodeUnschedulable": "NodeUnschedulable/filter",
    "GeneralPredicates": "NodeResourcesFit/filter,preFilter NodeName/filter NodePorts/filter,preFilter NodeAffinity/filter,preFilter",
    "HostName": "NodeName/filter",
    "PodFitsHostPorts": "NodePorts/filter,preFilter",
    "MatchNodeSelector": "NodeAffinity/filter,preFilter",
    "PodFitsResources": "NodeResourcesFit/filter,preFilter",
    "NoDiskConflict": "VolumeRestrictions/filter",
    "PodToleratesNodeTaints": "TaintToleration/filter",
    "CheckNodeLabelPresence": "NodeLabel/filter",
    "CheckServiceAffinity": "ServiceAffinity/filter,preFilter",
    "MaxEBSVolumeCount": "EBSLimits/filter",
    "MaxGCEPDVolumeCount": "GCEPDLimits/filter",
    "MaxCSIVolumeCountPred": "NodeVolumeLimits/filter",
    "MaxAzureDiskVolumeCount": "AzureDiskLimits/filter",
    "MaxCinderVolumeCount": "CinderLimits/filter",
    "CheckVolumeBinding": "VolumeBinding/preFilter,filter,reserve,preBind",
    "NoVolumeZoneConflict": "VolumeZone/filter",
    "EvenPodsSpread": "PodTopologySpread/preFilter,filter",
    "MatchInterPodAffinity": "InterPodAffinity/filter,preFilter",
}
PREDICATE_ORDER = tuple(PREDICATES)
MANDATORY_PREDICATES = ("PodToleratesNodeTaints", "CheckNodeUnschedulable")
DEFAULT_PREDICATES = (
    # where a policy has no predicates at all
    "NoVolumeZoneConflict",
    "MaxEBSVolumeCount",
    "MaxGCEPDVolumeCount",
    "MaxAzureDiskVolumeCount",
    "MaxCSIVolumeCountPred",
    "MatchInterPodAffinity",
    "NoDiskConflict",
    "GeneralPredicates",
    "CheckVolumeBinding",
    "EvenPodsSpread",
)

PRIORITIES = {
    # priority: plugin with its extension points
    "SelectorSpreadPriority": "PodTopologySpread/preScore,score",  # with defaultingType System; SelectorSpread only without a gate
    "EvenPodsSpreadPriority": "PodTopologySpread/preScore,score",  # with defaultingType List
    "InterPodAffinityPriority": "InterPodAffinity/preScore,score",
    "LeastRequestedPriority": "NodeResourcesLeastAllocated/score",
    "MostRequestedPriority": "NodeResourcesMostAllocated/score",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio/score",
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation/score",
    "NodePreferAvoidPodsPriority": "NodePreferAvoidPods/score",
    "NodeAffinityPriority": "NodeAffinity/preScore,score",
    "TaintTolerationPriority": "TaintToleration/preScore,score",
    "ImageLocalityPriority": "ImageLocality/score",
    "NodeLabel": "NodeLabel/score",  # by argument.labelPreference
    "ServiceAffinity": "ServiceAffinity/score",  # by argument.serviceAntiAffinity
}
DEFAULT_PRIORITIES = {
    # where a policy has no priorities at all
    "SelectorSpreadPriority": 1,
    "InterPodAffinityPriority": 1,
    "LeastRequestedPriority": 1,
    "BalancedResourceAllocation": 1,
    "NodePreferAvoidPodsPriority": 10000,
    "NodeAffinityPriority": 1,
    "TaintTolerationPriority": 1,
    "ImageLocalityPriority": 1,
    "EvenPodsSpreadPriority": 2,
}
