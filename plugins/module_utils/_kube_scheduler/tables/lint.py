# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is known of plugins beyond the verdict: which of their points belong together, what is lost without them.

Sources: the methods of the plugins, which read at one point the state that they wrote at another
(pkg/scheduler/framework/plugins of 1.21 to 1.36, pkg of kubernetes-sigs/scheduler-plugins 0.21 to 0.34).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple


class Needs(NamedTuple):
    """A plugin that runs at ``point`` (``*``: at any point but queueSort) does not work unless it runs at ``others``, too."""

    plugin: str
    point: str
    others: str
    otherwise: str
    since: int = 0
    until: int | None = None


_FAILS = "every attempt to place a pod fails there"
NEEDS = (
    Needs("NodeResourcesFit", "filter", "preFilter", _FAILS),
    Needs("NodePorts", "filter", "preFilter", _FAILS),
    Needs("PodTopologySpread", "filter", "preFilter", _FAILS),
    Needs("InterPodAffinity", "filter", "preFilter", _FAILS),
    Needs("VolumeRestrictions", "filter", "preFilter", _FAILS, since=27),
    Needs("VolumeBinding", "filter", "preFilter", _FAILS),
    Needs("VolumeBinding", "filter", "reserve preBind", "volumes are chosen and never bound"),
    Needs("TaintToleration", "score", "preScore", _FAILS),
    Needs("PodTopologySpread", "score", "preScore", _FAILS),
    Needs("InterPodAffinity", "score", "preScore", _FAILS),
    Needs("Coscheduling", "*", "preFilter permit reserve", "groups of pods are not placed together"),
    Needs("CapacityScheduling", "*", "preFilter reserve", "quotas are not kept"),
    Needs("CapacityScheduling", "*", "postFilter", "lent quota is never taken back"),
    Needs("NetworkOverhead", "filter", "preFilter", _FAILS),
    Needs("NetworkOverhead", "score", "preFilter", _FAILS),
)

SECURING = {
    # plugin at filter: what happens to pods without it
    "NodeUnschedulable": "pods are placed on cordoned nodes",
    "TaintToleration": "pods are placed on nodes whose taints they don't tolerate",
    "NodeAffinity": "nodeSelector and node affinity of pods are ignored",
    "NodeName": "spec.nodeName of pods is ignored",
    "NodePorts": "pods are placed where their host ports are taken",
    "VolumeBinding": "pods are placed where their volumes can't be attached",
}

GANGS, GANG_GATE, GANG_GATE_SINCE = "GangScheduling", "GenericWorkload", 37
ALLOCATION, ALLOCATION_GATE = "DynamicResources", "DynamicResourceAllocation"

TRIMARAN = frozenset(("TargetLoadPacking", "LoadVariationRiskBalancing", "LowRiskOverCommitment", "Peaks"))
CONTRARY = {
    # Trimaran plugin: scores that pull the other way, as its documentation says
    "TargetLoadPacking": ("NodeResourcesFit", "NodeResourcesLeastAllocated", "NodeResourcesBalancedAllocation"),
    "LoadVariationRiskBalancing": ("NodeResourcesFit", "NodeResourcesLeastAllocated", "NodeResourcesBalancedAllocation"),
}
RANGES: Mapping[str, Mapping[str, tuple[float, float]]] = {
    # plugin -> argument, a number or a mapping of numbers -> lowest and highest that count (apis/config/v1/defaults.go of scheduler-plugins)
    "TargetLoadPacking": {"targetUtilization": (1, 100)},
    "LoadVariationRiskBalancing": {"safeVarianceMargin": (0, math.inf), "safeVarianceSensitivity": (0, math.inf)},
    "LowRiskOverCommitment": {"smoothingWindowSize": (1, math.inf), "riskLimitWeights": (0, 1)},
}
OWN_PREEMPTION = frozenset(("CapacityScheduling", "PreemptionToleration", "CrossNodePreemption"))

REPLACED_BY_FIT = frozenset(("NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio"))

DEFAULT_LEASE = ("kube-system", "kube-scheduler")
LARGE_PARALLELISM = 256
LONG_BACKOFF_SECONDS = 3600
LONG_EXTENDER_TIMEOUT_SECONDS = 30
FEW_NODES_PERCENT = 5
