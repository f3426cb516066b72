# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where default_scheduler_info ends before it looks further."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._default_scheduler.state import read_state


class Cluster:
    """It has an Infrastructure with this topology, or answers this error, and no other kind of OpenShift."""

    def __init__(self, topology=None, error=None):
        self.topology, self.error = topology, error

    def resource(self, _api_version, kind):
        return kind

    def get(self, kind, _name, _namespace=None):
        if kind != "Infrastructure":
            raise ApiError(404, "NotServed", "not served")
        if self.error:
            raise self.error
        return {"status": {"controlPlaneTopology": self.topology}} if self.topology else None


def test_a_hosted_control_plane_is_configured_elsewhere():
    with pytest.raises(ClusterError, match=r"spec\.configuration\.scheduler of the HostedCluster"):
        read_state(Cluster("External"), {})


@pytest.mark.parametrize("cluster", [Cluster("HighlyAvailable"), Cluster(), Cluster(error=ApiError(403, "Forbidden", "no"))])
def test_others_are_not(cluster):
    with pytest.raises(ClusterError, match="this is no OpenShift with a kube-scheduler operator"):
        read_state(cluster, {})
