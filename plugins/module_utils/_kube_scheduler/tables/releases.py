# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The releases that the tables know: Kubernetes minors, versions of the configuration that they serve, OpenShift's numbers.

Sources: kube-scheduler's scheme (pkg/scheduler/apis/config/scheme/scheme.go) of each minor, run as binaries; KEP-785 for the
ends of the versions; the Kubernetes version that ``oc version`` of each OpenShift 4 release reports.
"""

from __future__ import annotations

from typing import NamedTuple

OLDEST, NEWEST = 21, 37
"""Kubernetes 1.21 to 1.37; a minor is the number after the point."""

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


class OpenShift(NamedTuple):
    """A release of OpenShift; as text ``4.18``."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


OPENSHIFT = {
    # release of OpenShift: minor of its Kubernetes
    **{OpenShift(4, minor): minor + 13 for minor in range(8, 24)},
    # The branches release-5.0 and release-4.23 of openshift/cluster-kube-scheduler-operator are the same commit.
    OpenShift(5, 0): 36,
}
