# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the upstream Secondary Scheduler Operator works, and which release of it is for which release of OpenShift.

Sources: the table in the README of openshift/secondary-scheduler-operator, and the bundles of its catalogs (branch fbc). The catalog of
an OpenShift release holds older versions as well, for upgrades alone.
"""

from __future__ import annotations

from .releases import OpenShift

UPSTREAM_NAMESPACE = "openshift-secondary-scheduler-operator"
"""Upstream's reads resources of this namespace alone, whatever its environment says."""

UPSTREAM = {
    # minor of the operator (1.5): releases of OpenShift, versions
    1: ((OpenShift(4, 11), OpenShift(4, 12), OpenShift(4, 13)), ("1.1.0", "1.1.1", "1.1.2", "1.1.3", "1.1.4", "1.1.5")),
    2: ((OpenShift(4, 14), OpenShift(4, 15)), ("1.2.0", "1.2.1", "1.2.2", "1.2.3")),
    3: ((OpenShift(4, 16), OpenShift(4, 17)), ("1.3.0", "1.3.1", "1.3.2")),
    4: ((OpenShift(4, 18), OpenShift(4, 19)), ("1.4.0", "1.4.1", "1.4.2")),
    5: ((OpenShift(4, 20), OpenShift(4, 21)), ("1.5.0", "1.5.1")),
    6: ((OpenShift(4, 22), OpenShift(4, 23)), ("1.6.0", "1.6.1")),
}

UPSTREAM_SINCE = {
    # version that not every OpenShift of its line has: the first that does
    "1.1.1": OpenShift(4, 12),
    "1.1.2": OpenShift(4, 12),
    "1.1.3": OpenShift(4, 12),
    "1.1.4": OpenShift(4, 12),
    "1.1.5": OpenShift(4, 12),
}

OSSO_SINCE = 25
"""Our operator needs Kubernetes 1.25: the definition of its resource has validation rules (CEL)."""
