# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which cluster a playbook changes, where hosts of the inventory name theirs by cluster_access."""

from __future__ import annotations

import json

import pytest
from support.ansible_runs import play
from support.api_server import ApiServer

WORKLOAD = {"kind": "Deployment", "namespace": "batch", "name": "crunch"}


@pytest.mark.parametrize(
    ("playbook", "variables"),
    [
        ("site", {"operator_image": "registry.example.com/osso/scheduler-operator:1.0.0"}),
        ("use_scheduler", {"use_scheduler_workloads": [WORKLOAD], "use_scheduler_undo": True}),
        ("remove", {}),
    ],
)
def test_nothing_is_asked_of_the_credentials_cluster_where_a_host_has_a_kubeconfig(playbook, variables, tmp_path):
    """A job of Automation Platform with a credential, whose host and token kubernetes.core puts before a kubeconfig."""
    inventory = tmp_path / "inventory.json"
    access = {"kubeconfig": "/etc/kube/berlin", "context": "admin"}
    inventory.write_text(json.dumps({"clusters": {"hosts": {"berlin": {"cluster_access": access}}}}))
    with ApiServer.running() as server:
        server.answers = [(404, b"")] * 50
        done = play(
            f"osso.scheduler.{playbook}",
            variables=variables,
            args=[f"--inventory={inventory}"],
            env={"K8S_AUTH_HOST": server.url, "K8S_AUTH_API_KEY": "of-the-credential"},
            succeed=False,
        )
        (failure,) = done.failures
        # A task that loops says it for each item.
        said = [one["msg"] for one in failure.result.get("results", [failure.result])]
        assert said
        assert all("Two clusters are named: one by the options (kubeconfig: /etc/kube/berlin and context: admin)" in one for one in said)
        assert server.seen == []
