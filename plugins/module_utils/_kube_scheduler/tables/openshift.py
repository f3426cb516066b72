# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What OpenShift's kube-scheduler operator makes of its resources, by release.

Source: openshift/cluster-kube-scheduler-operator, branches release-4.10 to release-5.0, bindata/assets/config and
pkg/operator/targetconfigcontroller. The profiles themselves are presets (tables.presets).
"""

from __future__ import annotations

from .releases import OpenShift

OLDEST = OpenShift(4, 10)

PROFILES = {
    # spec.profile: preset, None for what says nothing about profiles
    "LowNodeUtilization": None,
    "HighNodeUtilization": "high_node_utilization",
    "NoScoring": "no_scoring",
}
DEFAULT_PROFILE = "LowNodeUtilization"

# (first release, value), the last one that fits counts
API_VERSION = ((OpenShift(4, 10), "v1beta3"), (OpenShift(4, 15), "v1"))
RESOURCE_LOCK = ((OpenShift(4, 10), "configmapsleases"), (OpenShift(4, 13), "leases"))

PROFILING_SINCE = OpenShift(4, 12)
"""From here on the configuration says that profiling is off; before, kube-scheduler's default is on."""

TYPED_SINCE = OpenShift(4, 16)
"""From here on the operator reads its own text into Go structs first, so that empty values stand in what it writes."""

DRA = (OpenShift(4, 16), OpenShift(4, 20))
"""profileCustomizations.dynamicResourceAllocation: the first and the last release in which it does something."""

DRA_PLUGIN = "DynamicResources"

EXTENSION_POINTS = (
    # as kube-scheduler's type has them, with the first release
    ("preEnqueue", TYPED_SINCE),
    ("queueSort", TYPED_SINCE),
    ("preFilter", TYPED_SINCE),
    ("filter", TYPED_SINCE),
    ("postFilter", TYPED_SINCE),
    ("preScore", TYPED_SINCE),
    ("score", TYPED_SINCE),
    ("reserve", TYPED_SINCE),
    ("permit", TYPED_SINCE),
    ("preBind", TYPED_SINCE),
    ("bind", TYPED_SINCE),
    ("postBind", TYPED_SINCE),
    ("multiPoint", TYPED_SINCE),
    ("placementGenerate", OpenShift(4, 23)),
    ("placementScore", OpenShift(4, 23)),
)

KUBECONFIG = "/etc/kubernetes/static-pod-resources/configmaps/scheduler-kubeconfig/kubeconfig"
LEADER_ELECTION = {
    "leaderElect": True,
    "leaseDuration": "137s",
    "renewDeadline": "107s",
    "retryPeriod": "26s",
    "resourceNamespace": "openshift-kube-scheduler",
}
EMPTY: dict[str, dict[str, str | int]] = {
    # what the Go structs add, from TYPED_SINCE on
    "clientConnection": {"acceptContentTypes": "", "contentType": "", "qps": 0, "burst": 0},
    "leaderElection": {"resourceName": ""},
}

VERBOSITY = {"Normal": 2, "Debug": 4, "Trace": 6, "TraceAll": 10}
"""spec.logLevel: -v of kube-scheduler. Its V(10), where scores are, is why TraceAll is more than elsewhere in OpenShift (8)."""
