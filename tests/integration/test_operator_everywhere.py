# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An operator that watches all namespaces."""

from __future__ import annotations

import pytest
from support.scheduler import Scheduler, eventually
from support.site import NAMESPACE, installed, site

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def everywhere(kubectl):
    site(variables={"operator_watch_namespaces": ["*"], "probe": "never"})
    yield
    installed()


@pytest.fixture
def scheduler_elsewhere(everywhere, kubectl, namespace):
    """A resource of the same name as the demo's, in another namespace."""
    scheduler = Scheduler(kubectl, "cluster", namespace, scheduler_name=namespace)
    scheduler.write_config()
    scheduler.write()
    yield scheduler
    scheduler.delete()


def test_equal_names_in_two_namespaces_do_not_collide(scheduler_elsewhere, kubectl, run_module):
    scheduler_elsewhere.rest()
    for namespace, name in ((scheduler_elsewhere.namespace, scheduler_elsewhere.scheduler_name), (NAMESPACE, "secondary-scheduler")):
        probe = run_module("scheduler_probe", {"scheduler_name": name, "namespace": scheduler_elsewhere.namespace})
        assert probe.get("scheduler") == name, probe
        binding = kubectl.json("get", "clusterrolebinding", f"osso:{namespace}:cluster:kube-scheduler")
        assert [subject["namespace"] for subject in binding["subjects"]] == [namespace]
    other = Scheduler(kubectl, "cluster")
    scheduler_elsewhere.delete()
    eventually(
        lambda: not kubectl.json("get", "clusterrolebinding", f"{scheduler_elsewhere.cluster_name}:kube-scheduler", "--ignore-not-found")
    )
    assert other.deployment["status"]["availableReplicas"] == 1


def test_a_deleted_cluster_role_binding_is_recreated(scheduler_elsewhere, kubectl):
    """The runner watches cluster-scoped objects only when it watches all namespaces."""
    scheduler_elsewhere.rest()
    binding = f"{scheduler_elsewhere.cluster_name}:volume-scheduler"
    kubectl("delete", "clusterrolebinding", binding)
    eventually(lambda: kubectl.json("get", "clusterrolebinding", binding, "--ignore-not-found"))
