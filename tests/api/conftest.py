# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API tier: a real etcd, kube-apiserver and kube-controller-manager per worker, without a node.

The fixtures are those of tests/conftest.py; here `kubeconfig` and `audit_log` are those of that API server. So is KUBECONFIG.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import kubernetes
import pytest
from support.bare_cluster import BareCluster, bare_clusters


@pytest.fixture(scope="session")
def api_server(tmp_path_factory) -> Iterator[BareCluster]:
    with bare_clusters(tmp_path_factory.mktemp("api"), ["api"], controllers=True) as clusters:
        yield clusters["api"]


@pytest.fixture(scope="session")
def kubeconfig(api_server) -> Path:
    return api_server.kubeconfig(api_server.folder / "kubeconfig")


@pytest.fixture(scope="session")
def audit_log(api_server) -> Path:
    return api_server.audit_log


@pytest.fixture(scope="module", autouse=True)
def _environment(kubeconfig):
    """No other cluster is reached by mistake: not by what a test starts, nor by a module in a fork."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBECONFIG", str(kubeconfig))
        patch.delenv("REGISTRY", raising=False)
        patch.setattr(kubernetes.config.kube_config, "KUBE_CONFIG_DEFAULT_LOCATION", str(kubeconfig))
        yield
