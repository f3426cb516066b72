# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""scheduler_info for users with few permissions: what is missing is a finding, and what is documented suffices."""

from __future__ import annotations

import json

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


def test_missing_permissions_are_findings(module_result, kubectl, namespace):
    with service_account(kubectl, namespace) as access:
        result = module_result(MODULE, {"namespaces": [namespace], "gather": EVERYTHING, **access})
    assert not result["failed"]
    assert [(entry["kind"], entry["serving"]) for entry in result["schedulers"]] == [("default", None)]
    assert (result["unserved_pods"], result["pending_pods"], result["pending_groups"], result["operators"]) == (None,) * 4
    assert [warning for warning in result["warnings"] if f"Pods may not be listed in {namespace}; give namespaces" in warning]
    for what in ("Lease kube-system/kube-scheduler", f"Pods in {namespace}", f"Deployments in {namespace}"):
        assert [finding for finding in result["unknown"] if finding.startswith(what)], result["unknown"]


def test_a_user_who_may_list_one_namespace_sees_its_unserved_pods(module_result, kubectl, namespace, pending_pod):
    name = pending_pod("nobody")
    with service_account(kubectl, namespace, READ_ALL) as access:
        result = module_result(MODULE, {"namespaces": [namespace], **access})
    assert not result["failed"], result["msg"]
    assert [pod["name"] for pod in result["unserved_pods"]] == [name]
    assert f"Pods outside of the namespaces {namespace}: listing them everywhere is not allowed" in result["unknown"]


def test_a_user_of_another_namespace_gets_a_warning_that_nothing_was_listed(run_module, kubectl, namespace, pending_pod):
    pending_pod("nobody")
    with service_account(kubectl, namespace, READ_ALL) as access:
        result = run_module(MODULE, access)
    assert (result["failed"], result["unserved_pods"]) == (False, None)
    assert any("give namespaces in which you may list them" in warning for warning in result["warnings"])


def test_the_condition_of_a_pod_proves_no_scheduler(module_result, kubectl, namespace, pending_pod):
    """The API server itself writes PodScheduled for a pod with a gate, and a condition outlives the scheduler that wrote it."""
    gated, stale = pending_pod("nobody", schedulingGates=[{"name": "example.com/gate"}]), pending_pod("gone")
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available."}
    kubectl("patch", "pod", gated, f"--namespace={namespace}", "--type=merge", '--patch={"spec": {"schedulingGates": null}}')
    kubectl(
        "patch",
        "pod",
        stale,
        f"--namespace={namespace}",
        "--subresource=status",
        f"--patch={json.dumps({'status': {'conditions': [condition]}})}",
    )
    written = {
        pod["metadata"]["name"]: pod["status"]["conditions"][0]["reason"]
        for pod in kubectl.json("get", "pods", f"--namespace={namespace}")["items"]
    }
    assert written == {gated: "SchedulingGated", stale: "Unschedulable"}
    found = {pod["name"]: pod["reason"] for pod in module_result(MODULE)["unserved_pods"] if pod["namespace"] == namespace}
    assert found == {
        gated: "no running scheduler has the name nobody",
        stale: "no running scheduler has the name gone any more; the last one reported: Unschedulable: 0/3 nodes are available.",
    }


def test_a_deployment_of_any_namespace_is_found(module_result, kubectl, namespace):
    """As the NUMA Resources Operator runs one."""
    labels = {"app": "s"}
    container = {"name": "s", "image": "registry.example.com/numa:1", "command": ["/bin/kube-scheduler"]}
    about = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "numa", "namespace": namespace}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    kubectl.apply({**about, "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}})
    result = module_result(MODULE, {"gather": ["schedulers"]})
    assert [(one["name"], one["serving"]) for one in result["schedulers"] if one["namespace"] == namespace] == [("numa", False)]
    assert result["conflicts"] == []


def test_documented_permissions_suffice_with_few_requests_and_no_write(module_result, kubectl, namespace, audit):
    with audit, service_account(kubectl, namespace, *RULES, everywhere=True) as access:
        result = module_result(MODULE, {"gather": EVERYTHING, **access})
    served = kubectl("api-versions").stdout
    assert result["unknown"] == []
    assert [result["openshift"], result["monitoring"], result["olm"]] == [
        group in served for group in ("route.openshift.io/", "monitoring.coreos.com/v1\n", "operators.coreos.com/")
    ]
    assert result["admission_policies"] == ("validatingadmissionpolicies" in kubectl("api-resources", "--output=name").stdout)
    server = kubectl.json("version")["serverVersion"]
    assert result["kubernetes_version"] == f"{server['major']}.{server['minor']}"
    requests = audit.requests(user=f"system:serviceaccount:{namespace}:robot")
    assert 0 < len(requests) <= 12 + 2 * len(result["schedulers"]), requests
    assert {request.verb for request in requests} <= {"get", "list"}


def test_a_pod_that_a_kubelet_rejected_is_a_collision(module_result, kubectl, namespace):
    """One is rejected when another scheduler has placed a pod there, as a kubelet reports it."""
    node = f"node-{namespace}"
    kubectl("create", "--filename=-", stdin={"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}})
    try:
        for name, scheduler, status in (
            (
                "rejected",
                "batch",
                {"phase": "Failed", "reason": "OutOfcpu", "message": "Pod was rejected", "startTime": "2026-11-20T12:00:03Z"},
            ),
            ("neighbour", "fast", {"phase": "Running", "startTime": "2026-11-20T12:00:01Z"}),
        ):
            spec = {"schedulerName": scheduler, "nodeName": node, "containers": [{"name": "c", "image": "registry.example.com/c:1"}]}
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec}
            kubectl.create("pod", pod, namespace)
            kubectl.report("pod", name, status, namespace)
        result = module_result(MODULE, {"gather": ["collisions"], "scheduler_name": "batch"})
        (found,) = result["collisions"]
        assert (found["others"], found["pods"], found["nodes"], found["name"]) == (["fast"], 1, [node], "rejected")
        assert result["overlaps"] == []
        (found, *_others) = module_result(MODULE, {"gather": ["placements"], "scheduler_name": "batch"})["placements"]
        assert (found["namespace"], found["scheduler_name"], found["rejected"]) == (namespace, "batch", 1)
        with service_account(kubectl, namespace) as access:
            result = module_result(MODULE, {"gather": ["collisions"], "namespaces": [namespace], **access})
        assert (result["failed"], result["collisions"], result["overlaps"]) == (False, None, None)
        assert any(finding.startswith("Nodes: ") for finding in result["unknown"])
    finally:
        kubectl("delete", "node", node)
