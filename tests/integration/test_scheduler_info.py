# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""scheduler_info on a real cluster: its default scheduler, a second one as plain Deployment, and ours."""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime

import pytest
from support.access import service_account
from support.site import NAMESPACE, VARIABLES, site

MODULE = "scheduler_info"
IMAGE = VARIABLES["secondary_schedulers"][0]["image"]
EVERYTHING = ["schedulers", "pods", "operators", "platform"]
RULES = [
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]},
    {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["list"]},
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get"]},
    {"apiGroups": ["operator.openshift.io"], "resources": ["secondaryschedulers"], "verbs": ["list"]},
]
READ_ALL = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}
CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  resourceNamespace: {namespace}
  resourceName: second
profiles:
  - schedulerName: {namespace}
  - schedulerName: {namespace}-packing
"""


def eventually(check, within=60):
    """What `check()` returns as soon as it is true."""
    deadline = time.monotonic() + within
    while not (answer := check()):
        assert time.monotonic() < deadline, f"not within {within} s"
        time.sleep(0.3)
    return answer


def config_map(namespace, text) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "second", "namespace": namespace},
        "data": {"config.yaml": text},
    }


@pytest.fixture(scope="module")
def second(kubectl):
    """A second scheduler, run as a plain Deployment; the name of its namespace, which is also its schedulerName."""
    namespace = f"test-second-{uuid.uuid4().hex[:8]}"
    about = {"name": "second", "namespace": namespace}
    bindings = [
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": f"{namespace}-{role}"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": f"system:{role}"},
            "subjects": [{"kind": "ServiceAccount", **about}],
        }
        for role in ("kube-scheduler", "volume-scheduler")
    ]
    lease = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": about,
        "rules": [{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["*"]}],
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": about,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "second"},
        "subjects": [{"kind": "ServiceAccount", **about}],
    }
    container = {
        "name": "scheduler",
        "image": IMAGE,
        "command": ["/bin/kube-scheduler"],
        "args": ["--config=/etc/second/config.yaml", "--authentication-tolerate-lookup-failure=true"],
        "volumeMounts": [{"name": "config", "mountPath": "/etc/second"}, {"name": "tmp", "mountPath": "/tmp"}],
        "readinessProbe": {"httpGet": {"scheme": "HTTPS", "port": 10259, "path": "/healthz"}, "periodSeconds": 1},
    }
    pod = {
        "serviceAccountName": "second",
        "terminationGracePeriodSeconds": 1,
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": "second"}}, {"name": "tmp", "emptyDir": {}}],
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": about,
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "second"}},
            "template": {"metadata": {"labels": {"app": "second"}}, "spec": pod},
        },
    }
    kubectl("create", "namespace", namespace)
    try:
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": about}
        kubectl.apply(account, *bindings, lease, binding, config_map(namespace, CONFIG.format(namespace=namespace)), deployment)
        kubectl("rollout", "status", "deployment/second", f"--namespace={namespace}", "--timeout=120s")
        yield namespace
    finally:
        kubectl("delete", "clusterrolebinding", *(item["metadata"]["name"] for item in bindings), "--ignore-not-found")
        kubectl("delete", "namespace", namespace, "--wait=false")


@pytest.fixture
def seen(run_module, second):
    """The entry of the second scheduler, as of now."""

    def look() -> dict:
        (entry,) = run_module(MODULE, {"namespaces": [second], "scheduler_name": second, "gather": ["schedulers"]})["schedulers"]
        return entry

    return look


@pytest.fixture
def waiting(kubectl, namespace):
    """Create a pod that asks for a scheduler; returns its name."""

    def create(scheduler_name, **spec) -> str:
        name = f"waiting-{uuid.uuid4().hex[:6]}"
        containers = [{"name": "c", "image": "registry.k8s.io/pause:3.10"}]
        spec = {"schedulerName": scheduler_name, "containers": containers, "terminationGracePeriodSeconds": 0, **spec}
        kubectl.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec})
        return name

    return create


@pytest.fixture
def default_lease(kubectl):
    """The default scheduler's Lease. Where it runs without one (a single instance needs none), one is planted that nobody takes."""
    about = {"name": "kube-scheduler", "namespace": "kube-system"}
    if kubectl.json("get", "lease", about["name"], f"--namespace={about['namespace']}", "--ignore-not-found"):
        yield
        return
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": "planted_1", "leaseDurationSeconds": 3600, "acquireTime": now, "renewTime": now}
    kubectl.apply({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": about, "spec": spec})
    yield
    kubectl("delete", "lease", about["name"], f"--namespace={about['namespace']}")


@pytest.mark.usefixtures("default_lease")
def test_default_scheduler_serves(run_module):
    result = run_module(MODULE)
    assert (result["failed"], result["changed"], result["unknown"]) == (False, False, [])
    default = result["schedulers"][0]
    assert default["scheduler_names"] == ["default-scheduler"]
    assert default["kind"] in ("StaticPod", "default")
    assert default["serving"] is True
    assert default["leader"]["holder"]
    assert default["leader"]["renewed_seconds"] <= default["leader"]["duration_seconds"] + 10


def test_deployment_is_found_where_it_is_looked_for(run_module, second, seen):
    entry = eventually(lambda: (entry := seen())["serving"] and entry)
    assert entry["scheduler_names"] == [second, f"{second}-packing"]
    assert (entry["kind"], entry["namespace"], entry["name"], entry["workload"]) == (
        "Deployment",
        second,
        "second",
        "Deployment/second",
    )
    assert (entry["image"], entry["version"]) == (IMAGE, IMAGE.rpartition(":")[2])
    assert (entry["replicas"], entry["ready"]) == (1, 1)
    assert (entry["leader"]["namespace"], entry["leader"]["lease"]) == (second, "second")
    assert entry["leader"]["holder"].startswith("second-")
    assert run_module(MODULE, {"scheduler_name": second})["schedulers"] == []
    probe = run_module("scheduler_probe", {"scheduler_name": f"{second}-packing"})
    assert probe["scheduler"] == f"{second}-packing"


def test_pod_with_a_name_that_nobody_serves(run_module, waiting, namespace):
    name, gated = waiting("nobody"), waiting("nobody", schedulingGates=[{"name": "example.org/gate"}])
    refused = waiting("default-scheduler", nodeSelector={"osso.scheduler/test": "nowhere"})
    found = {pod["name"]: pod for pod in run_module(MODULE)["unserved_pods"] if pod["namespace"] == namespace}
    assert set(found) == {name}, f"not {gated} and {refused}"
    assert (found[name]["scheduler_name"], found[name]["reason"]) == ("nobody", "no scheduler serves the name nobody")
    assert 0 <= found[name]["pending_seconds"] < 60
    other = run_module(MODULE, {"scheduler_name": "somebody"})
    assert other["unserved_pods"] == []


def test_scheduler_that_is_down(run_module, kubectl, second, seen, waiting):
    kubectl("scale", "deployment/second", "--replicas=0", f"--namespace={second}")
    try:
        entry = eventually(lambda: not (entry := seen())["serving"] and entry)
        assert (entry["ready"], entry["message"]) == (0, "no instance is ready")
        name = waiting(second)
        (pod,) = run_module(MODULE, {"namespaces": [second], "scheduler_name": second})["unserved_pods"]
        assert pod["name"] == name
        assert f"Deployment {second}/second: no instance is ready" in pod["reason"]
    finally:
        kubectl("scale", "deployment/second", "--replicas=1", f"--namespace={second}")
    eventually(lambda: seen()["serving"])


@pytest.mark.usefixtures("default_lease")
def test_lease_that_another_holds(kubectl, second, seen):
    """A second scheduler with the default's Lease waits for ever: kubectl shows it Ready, and still it serves nobody."""
    flags = {
        "args": [
            "--config=/etc/second/config.yaml",
            "--leader-elect-resource-namespace=kube-system",
            "--leader-elect-resource-name=kube-scheduler",
        ]
    }
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "scheduler", **flags}]}}}}
    kubectl("patch", "deployment/second", f"--namespace={second}", "--patch-file=/dev/stdin", stdin=patch)
    try:
        kubectl("rollout", "status", "deployment/second", f"--namespace={second}", "--timeout=60s")
        entry = seen()
        assert (entry["ready"], entry["serving"]) == (1, False)
        assert "waits for the Lease kube-system/kube-scheduler" in entry["message"]
    finally:
        kubectl("rollout", "undo", "deployment/second", f"--namespace={second}")
        kubectl("rollout", "status", "deployment/second", f"--namespace={second}", "--timeout=60s")
    eventually(lambda: seen()["serving"])


def test_says_why_an_instance_does_not_start(kubectl, second, seen):
    image = "registry.invalid/does/not:exist"
    kubectl("scale", "deployment/second", "--replicas=0", f"--namespace={second}")
    kubectl("set", "image", "deployment/second", f"scheduler={image}", f"--namespace={second}")
    kubectl("scale", "deployment/second", "--replicas=1", f"--namespace={second}")
    try:
        eventually(lambda: image in seen()["message"])
    finally:
        kubectl("rollout", "undo", "deployment/second", f"--namespace={second}")
        kubectl("rollout", "status", "deployment/second", f"--namespace={second}", "--timeout=60s")
    eventually(lambda: seen()["serving"])


def test_broken_configuration(run_module, kubectl, second):
    text = CONFIG.format(namespace=second)
    kubectl.apply(config_map(second, text.replace("kind: Kube", "kind: Cube")))
    try:
        found = run_module(MODULE, {"namespaces": [second], "gather": ["schedulers"]})["schedulers"]
        (entry,) = (entry for entry in found if entry["namespace"] == second)
        assert entry["scheduler_names"] == []
        assert f"ConfigMap {second}/second is not valid: 2:7: kind: CubeSchedulerConfiguration is not" in entry["message"]
    finally:
        kubectl.apply(config_map(second, text))


def test_missing_permissions_are_findings(run_module, kubectl, namespace):
    with service_account(kubectl, namespace) as access:
        result = run_module(MODULE, {"namespaces": [namespace], "gather": EVERYTHING, **access})
    assert not result["failed"]
    assert [(entry["kind"], entry["serving"]) for entry in result["schedulers"]] == [("default", None)]
    assert (result["unserved_pods"], result["operators"]) == ([], [])
    for what in ("Lease kube-system/kube-scheduler", f"Pods in {namespace}", f"Deployments in {namespace}"):
        assert [finding for finding in result["unknown"] if finding.startswith(what)], result["unknown"]


def test_one_namespace_is_better_than_none(run_module, kubectl, namespace, waiting):
    name = waiting("nobody")
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


def test_secondary_scheduler_and_its_operator(run_module):
    site()
    result = run_module(MODULE, {"gather": ["schedulers", "operators"]})
    name = VARIABLES["secondary_schedulers"][0].get("name", "cluster")
    (entry,) = (entry for entry in result["schedulers"] if (entry["namespace"], entry["name"]) == (NAMESPACE, name))
    assert (entry["kind"], entry["serving"], entry["ready"]) == ("SecondaryScheduler", True, 1), entry
    assert entry["scheduler_names"]
    assert entry["leader"]["namespace"] == NAMESPACE
    assert {condition["type"] for condition in entry["conditions"]} >= {"Available", "Progressing", "Degraded"}
    assert [other["name"] for other in result["schedulers"] if other["workload"] == entry["workload"]] == [name]
    (operator,) = (operator for operator in result["operators"] if operator["namespace"] == NAMESPACE)
    assert (operator["variant"], operator["watches"], operator["method"]) == ("osso", [NAMESPACE], "manifests")
