# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cluster under test: the throwaway one (make cluster), or the one of KUBECONFIG."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest
from support.cluster import Audit, Kubectl

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("integration")


@pytest.fixture(scope="session")
def kubeconfig() -> Path:
    """Path of the kubeconfig, of a cluster that answers."""
    path = Path(os.environ["KUBECONFIG"])
    if not path.exists():
        pytest.fail(f"No cluster: {path} does not exist. Start one with `make cluster` or name yours in KUBECONFIG.", pytrace=False)
    ready = Kubectl(path)("get", "--raw=/readyz", check=False, timeout=30)
    if ready.returncode:
        pytest.fail(f"The cluster of {path} does not answer: {ready.stderr.strip()}. See `make cluster-status`.", pytrace=False)
    return path


@pytest.fixture(scope="session")
def kubectl(kubeconfig) -> Kubectl:
    """kubectl("get", "nodes"), kubectl.json("get", "nodes"), kubectl.apply(object, ...)."""
    return Kubectl(kubeconfig)


@pytest.fixture
def namespace(kubectl) -> str:
    """A new namespace of its own; its deletion is not waited for."""
    name = f"test-{uuid.uuid4().hex[:10]}"
    kubectl("create", "namespace", name)
    yield name
    kubectl("delete", "namespace", name, "--wait=false", "--ignore-not-found")


@pytest.fixture(scope="session")
def own_cluster(root, kubeconfig) -> Path:
    """The folder of the throwaway cluster; skips on any other cluster."""
    if kubeconfig.resolve() != root / ".cluster/kubeconfig":
        pytest.skip(f"needs the inside of the throwaway cluster; KUBECONFIG={kubeconfig} is another one")
    return root / ".cluster"


@pytest.fixture
def audit(own_cluster, kubectl) -> Audit:
    """`with audit: ...`, then `audit.writes()` are the write requests in between."""
    return Audit(own_cluster / "logs/audit.log", kubectl)
