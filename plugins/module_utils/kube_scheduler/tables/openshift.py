# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What OpenShift's kube-scheduler operator makes of its resources, by release: 4.N is N.

Source: openshift/cluster-kube-scheduler-operator, branches release-4.10 to release-4.23, bindata/assets/config and
pkg/operator/targetconfigcontroller. The profiles themselves are presets (tables.presets).
"""

from __future__ import annotations

OLDEST, NEWEST = 10, 23

PROFILES = {
    # spec.profile: preset, None for what says nothing about profiles
    "LowNodeUtilization": None,
    "HighNodeUtilization": "high_node_utilization",
    "NoScoring": "no_scoring",
}
DEFAULT_PROFILE = "LowNodeUtilization"

# (first release, value), the last one that fits counts
API_VERSION = ((10, "v1beta3"), (15, "v1"))
RESOURCE_LOCK = ((10, "configmapsleases"), (13, "leases"))

PROFILING_SINCE = 12
"""From here on the configuration says that profiling is off; before, kube-scheduler's default is on."""

TYPED_SINCE = 16
"""From here on the operator reads its own text into Go structs first, so that empty values stand in what it writes."""

DRA = (16, 20)
"""profileCustomizations.dynamicResourceAllocation: the first and the last release in which it does something."""

DRA_FIELD_UNTIL = 23
"""The field is announced to be gone in the release after this one."""

DRA_PLUGIN = "DynamicResources"

EXTENSION_POINTS = (
    # as kube-scheduler's type has them, with the first release
    ("preEnqueue", 16),
    ("queueSort", 16),
    ("preFilter", 16),
    ("filter", 16),
    ("postFilter", 16),
    ("preScore", 16),
    ("score", 16),
    ("reserve", 16),
    ("permit", 16),
    ("preBind", 16),
    ("bind", 16),
    ("postBind", 16),
    ("multiPoint", 16),
    ("placementGenerate", 23),
    ("placementScore", 23),
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
