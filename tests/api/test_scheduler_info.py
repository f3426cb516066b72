# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""scheduler_info for users with few permissions: what is missing is a finding, and what is documented suffices."""

from __future__ import annotations

from support.access import service_account

MODULE = "scheduler_info"
EVERYTHING = ["schedulers", "pods", "pending", "operators", "platform"]
RULES = [
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]},
    {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["list"]},
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get"]},
    {"apiGroups": ["operator.openshift.io"], "resources": ["secondaryschedulers"], "verbs": ["list"]},
]
READ_ALL = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}


def test_missing_permissions_are_findings(run_module, kubectl, namespace):
    with service_account(kubectl, namespace) as access:
        result = run_module(MODULE, {"namespaces": [namespace], "gather": EVERYTHING, **access})
    assert not result["failed"]
    assert [(entry["kind"], entry["serving"]) for entry in result["schedulers"]] == [("default", None)]
    assert (result["unserved_pods"], result["operators"]) == ([], [])
    for what in ("Lease kube-system/kube-scheduler", f"Pods in {namespace}", f"Deployments in {namespace}"):
        assert [finding for finding in result["unknown"] if finding.startswith(what)], result["unknown"]


def test_one_namespace_is_better_than_none(run_module, kubectl, namespace, pending_pod):
    name = pending_pod("nobody")
    with service_account(kubectl, namespace, READ_ALL) as access:
        result = run_module(MODULE, {"namespaces": [namespace], **access})
    assert not result["failed"], result["msg"]
    assert [pod["name"] for pod in result["unserved_pods"]] == [name]
    assert f"Pods outside of the namespaces {namespace}: listing them everywhere is not allowed" in result["unknown"]


def test_documented_permissions_suffice_with_few_requests_and_no_write(run_module, kubectl, namespace, audit):
    with audit, service_account(kubectl, namespace, *RULES, everywhere=True) as access:
        result = run_module(MODULE, {"gather": EVERYTHING, **access})
    served = kubectl("api-versions").stdout
    assert result["unknown"] == []
    assert [result["openshift"], result["monitoring"], result["olm"]] == [
        group in served for group in ("route.openshift.io/", "monitoring.coreos.com/v1\n", "operators.coreos.com/")
    ]
    server = kubectl.json("version")["serverVersion"]
    assert result["kubernetes_version"] == f"{server['major']}.{server['minor']}"
    requests = audit.requests(user=f"system:serviceaccount:{namespace}:robot")
    assert 0 < len(requests) <= 12 + 2 * len(result["schedulers"]), requests
    assert {request.verb for request in requests} <= {"get", "list"}
