# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Paths in the API, as the reference of the Kubernetes API lists them."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN


@pytest.mark.parametrize(
    ("api_version", "kind", "args", "path"),
    [
        ("v1", "ConfigMap", {"namespace": "n", "name": "a"}, "/api/v1/namespaces/n/configmaps/a"),
        ("v1", "ConfigMap", {}, "/api/v1/configmaps"),
        ("v1", "Namespace", {"name": "a"}, "/api/v1/namespaces/a"),
        (
            "apps/v1",
            "Deployment",
            {"namespace": "n", "name": "a", "subresource": "status"},
            "/apis/apps/v1/namespaces/n/deployments/a/status",
        ),
        (
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
            {"name": "system:kube-scheduler"},
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:kube-scheduler",
        ),
        ("networking.k8s.io/v1", "NetworkPolicy", {"namespace": "n"}, "/apis/networking.k8s.io/v1/namespaces/n/networkpolicies"),
        (
            "rbac.authorization.k8s.io/v1",
            "Role",
            {"namespace": "n", "name": "a/b?c"},
            "/apis/rbac.authorization.k8s.io/v1/namespaces/n/roles/a%2Fb%3Fc",
        ),
    ],
)
def test_paths_match_the_reference_of_the_kubernetes_api(api_version, kind, args, path):
    assert KNOWN[api_version, kind].path(**args) == path
