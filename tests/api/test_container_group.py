# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The account of docs/container-group, by which jobs configure schedulers: it may do what they need. Pods of such jobs: tests/integration."""

from __future__ import annotations

import json

import pytest
import yaml
from support.access import kubeconfig_of
from support.scheduler import IMAGE
from support.site import NAMESPACE


@pytest.fixture
def account(kubectl, secondary_scheduler_kind, root, tmp_path):
    """Path of a kubeconfig to be this account. The namespace of the operator is there before its roles are."""
    items = yaml.safe_load((root / "docs/container-group/access.yml").read_text())["items"]
    kubectl("create", "namespace", NAMESPACE)
    kubectl.apply(*items)
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(kubeconfig_of(kubectl, "scheduler-jobs", "scheduler-jobs")))
    yield path
    for item in reversed(items):
        place = [f"--namespace={item['metadata']['namespace']}"] if "namespace" in item["metadata"] else []
        kubectl("delete", item["kind"], item["metadata"]["name"], *place, "--ignore-not-found", "--wait=false")
    kubectl("delete", "namespace", NAMESPACE, "scheduler-jobs", "--ignore-not-found")


def test_the_documented_permissions_suffice_to_configure_and_remove_a_scheduler(account, play, kubectl):
    def configure(**options):
        scheduler = {"name": "inside", "image": IMAGE, "preset": "no_scoring", **options}
        # No operator works on the resource, and nothing places the pod of a probe.
        variables = {"secondary_schedulers": [scheduler], "secondary_scheduler_wait": False, "probe": "never"}
        return play("osso.scheduler.configure", variables=variables, env={"KUBECONFIG": str(account)})

    assert configure().changed
    config_map = kubectl.get("secondaryscheduler", "inside", NAMESPACE)["spec"]["schedulerConfig"]
    assert "schedulerName: inside" in kubectl.get("configmap", config_map, NAMESPACE)["data"]["config.yaml"]
    assert configure().changed == []
    assert configure(state="absent").changed
    assert kubectl.get("secondaryscheduler", "inside", NAMESPACE) is None
    assert kubectl.get("configmap", config_map, NAMESPACE) is None
