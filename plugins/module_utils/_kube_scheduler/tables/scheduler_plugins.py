# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plugins that images of kubernetes-sigs/scheduler-plugins hold besides those of every kube-scheduler.

Releases follow Kubernetes: v0.31.8 is built from Kubernetes 1.31. Sources, per release: cmd/scheduler/main.go (what is
registered) and the ``var _ framework.XPlugin`` lines and methods of each plugin (at which extension points).
"""

from __future__ import annotations

from .plugins import Plugin

RELEASES = {
    # minor: the release that the tables describe
    21: "v0.21.6",
    22: "v0.22.6",
    23: "v0.23.10",
    24: "v0.24.9",
    25: "v0.25.12",
    26: "v0.26.7",
    27: "v0.27.9",
    28: "v0.28.9",
    29: "v0.29.8",
    30: "v0.30.12",
    31: "v0.31.8",
    32: "v0.32.7",
    33: "v0.33.5",
    34: "v0.34.7",
}

PLUGINS = (
    Plugin("CapacityScheduling", "preFilter postFilter reserve"),
    Plugin("Coscheduling", "queueSort preFilter postFilter reserve permit postBind<=25"),
    Plugin("CrossNodePreemption", "postFilter", until=22),
    Plugin("LoadVariationRiskBalancing", "score"),
    Plugin("LowRiskOverCommitment", "preScore score", since=26),
    Plugin("NetworkOverhead", "preFilter filter score", since=24),
    Plugin("NodeResourceTopologyMatch", "filter score reserve>=24 postBind>=26"),
    Plugin("NodeResourcesAllocatable", "score"),
    Plugin("Peaks", "score", since=31),
    Plugin("PodState", "score"),
    Plugin("PreemptionToleration", "postFilter", since=22),
    Plugin("QOSSort", "queueSort"),
    Plugin("SySched", "score", since=28),
    Plugin("TargetLoadPacking", "score"),
    Plugin("TopologicalSort", "queueSort", since=24),
)

WITHOUT_ARGS = {
    # version: plugins that refuse to be built because it has no type for the arguments that they need
    "v1beta1": ("PreemptionToleration",),
    "v1beta2": ("LowRiskOverCommitment", "NetworkOverhead", "TopologicalSort"),
}
