# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The releases that the tables know: Kubernetes minors, versions of the configuration that they serve, OpenShift's numbers.

Sources: kube-scheduler's scheme (pkg/scheduler/apis/config/scheme/scheme.go) of each minor, run as binaries; KEP-785 for the
ends of the versions; the Kubernetes version that ``oc version`` of each OpenShift release reports.
"""

from __future__ import annotations

OLDEST, NEWEST = 21, 36
"""Kubernetes 1.21 to 1.36; a minor is the number after the point."""

API_VERSIONS = {
    # version of the configuration: first minor, last minor that serve it (None: still served)
    "v1beta1": (19, 22),
    "v1beta2": (22, 27),
    "v1beta3": (23, 28),
    "v1": (25, None),
}

DEPRECATED_SINCE = {
    # version of the configuration: minor whose kube-scheduler logs its deprecation first
    "v1beta1": 22,
    "v1beta2": 25,
    "v1beta3": 26,
}

OPENSHIFT_OFFSET = 13
"""OpenShift 4.N runs Kubernetes 1.(N + 13): 4.8 is 1.21, 4.23 is 1.36."""
