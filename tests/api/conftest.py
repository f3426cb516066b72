# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API tier: a real etcd, kube-apiserver and kube-controller-manager per worker, without a node.

The fixtures are those of tests/conftest.py; here `kubeconfig` and `own_cluster` are those of that API server. So is KUBECONFIG.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import kubernetes
import pytest
import yaml
from support.kinds import delete_kinds, established
from support.operand import CRD
from support.operator_in_process import Operator
from support.site import RESOURCE

OPERATOR_IMAGE = "registry.example.com/osso/scheduler-operator:1.0.0"


@pytest.fixture(scope="session")
def kubeconfig(api_server) -> Path:
    return api_server.folder / "kubeconfig"


@pytest.fixture(scope="session")
def own_cluster(api_server) -> Path:
    """Its folder, with kubeconfig, pki, bin and logs/audit.log."""
    return api_server.folder


@pytest.fixture(scope="module", autouse=True)
def _environment(kubeconfig):
    """No other cluster is reached by mistake: not by what a test starts, nor by a module in a fork. The operator's image is only a name."""
    image = kubeconfig.with_name("operator-image")
    image.write_text(OPERATOR_IMAGE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBECONFIG", str(kubeconfig))
        patch.setenv("OPERATOR_IMAGE_FILE", str(image))
        patch.delenv("REGISTRY", raising=False)
        patch.setattr(kubernetes.config.kube_config, "KUBE_CONFIG_DEFAULT_LOCATION", str(kubeconfig))
        yield


@pytest.fixture
def operator(kubectl) -> Operator:
    """The operator's code in the process of the test."""
    return Operator(kubectl)


@pytest.fixture(scope="module")
def secondary_scheduler_kind(kubectl) -> Iterator[None]:
    """SecondaryScheduler resources are served. Other files expect a cluster on which nothing is installed: so not after this one."""
    kubectl("apply", "--server-side", f"--filename={CRD}")
    established(kubectl, RESOURCE)
    yield
    delete_kinds(kubectl, RESOURCE)


@pytest.fixture(scope="module")
def kinds(kubectl, root):
    """The kinds that plugins need, which the role operator installs."""
    names = []
    for path in sorted((root / "roles/operator/files/plugins").iterdir()):
        for definition in yaml.safe_load_all(path.read_text()):
            kubectl.apply(definition)
            names.append(definition["metadata"]["name"])
    established(kubectl, *names)
    yield
    delete_kinds(kubectl, *names)
