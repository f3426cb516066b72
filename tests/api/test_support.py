# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The audit log shows planted writes, and the kubectl-server answers as kubectl does."""

from __future__ import annotations

import json
import subprocess

import pytest
from support import kubectl_server


def config_map(namespace, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "planted", "namespace": namespace}, "data": data}


def test_audit_sees_writes_and_who_sent_them(audit, kubectl, namespace, run_module):
    with audit:
        kubectl("create", "configmap", "by-kubectl", "--namespace", namespace)
        run_module("apply", {"manifests": [config_map(namespace, key="value")]})
    assert [write.name for write in audit.writes(agent="kubectl")] == ["by-kubectl"]
    assert [(write.verb, write.resource, write.name) for write in audit.writes() if write.name == "planted"] == [
        ("patch", "configmaps", "planted")
    ]


def test_audit_distinguishes_reads_and_dry_runs_from_writes(audit, kubectl, namespace):
    with audit:
        kubectl("get", "configmaps", "--namespace", namespace)
        kubectl("create", "configmap", "never", "--namespace", namespace, "--dry-run=server")
    assert audit.writes(agent="kubectl") == []
    assert [write.name for write in audit.writes(agent="kubectl", dry_run=True)] == ["never"]
    assert [request.verb for request in audit.requests(agent="kubectl") if request.namespace == namespace] == ["list", "create"]


def test_the_audit_fixture_returns_only_requests_within_its_block(audit, kubectl, namespace):
    with audit:
        pass
    kubectl("create", "configmap", "too-late", "--namespace", namespace)
    assert audit.writes() == []
    with audit:
        kubectl("delete", "configmap", "too-late", "--namespace", namespace)
    assert [(write.verb, write.name) for write in audit.writes(agent="kubectl")] == [("delete", "too-late")]


def test_the_kubectl_fixture_reads_json_and_applies_manifests(kubectl, namespace):
    assert kubectl.json("get", "configmap", "planted", "--namespace", namespace, "--ignore-not-found") is None
    kubectl.apply(config_map(namespace, colour="green"))
    assert kubectl.json("get", "configmap", "planted", "--namespace", namespace)["data"] == {"colour": "green"}
    refused = kubectl("get", "configmap", "absent", "--namespace", namespace, check=False)
    assert refused.returncode == 1
    assert "not found" in refused.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("get", "configmap", "kube-root-ca.crt", "--namespace=default", "--output=json"),
        ("get", "configmap", "nothing", "--namespace=default"),
        ("get", "--nonsense"),
        ("nonsense",),
        ("create", "--dry-run=server", "--filename=-", "--output=name"),
    ],
    ids=" ".join,
)
def test_the_kubectl_server_answers_as_kubectl(command, kubeconfig):
    arguments, stdin = [f"--kubeconfig={kubeconfig}", *command], json.dumps(config_map("default", key="value"))
    alone = subprocess.run(["kubectl", *arguments], input=stdin, capture_output=True, text=True, check=False)
    for _twice in range(2):
        served = kubectl_server.run(arguments, stdin, timeout=60)
        assert (served.returncode, served.stdout, served.stderr) == (alone.returncode, alone.stdout, alone.stderr)


def test_the_kubectl_server_ends_after_a_timeout(kubectl, namespace):
    with pytest.raises(subprocess.TimeoutExpired):
        kubectl("wait", "--for=create", "configmap/never", f"--namespace={namespace}", "--timeout=60s", timeout=1)
    assert kubectl("get", "configmaps", f"--namespace={namespace}", "--output=name").returncode == 0
