# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""scheduler_info on a real cluster: its default scheduler, a second one as plain Deployment, and ours."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from support.plain_scheduler import CONFIG, IMAGE, config_map, errors_of, plain_scheduler
from support.scheduler import Scheduler, eventually
from support.site import NAMESPACE, VARIABLES, installed

MODULE = "scheduler_info"


@pytest.fixture(scope="module")
def second(kubectl):
    """A second scheduler, run as a plain Deployment; the name of its namespace, which is also its schedulerName."""
    with plain_scheduler(kubectl) as namespace:
        yield namespace


@pytest.fixture
def seen(module_result, second):
    """The entry of the second scheduler, as of now."""

    def look() -> dict:
        (entry,) = module_result(MODULE, {"namespaces": [second], "scheduler_name": second, "gather": ["schedulers"]})["schedulers"]
        return entry

    return look


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
def test_the_default_scheduler_is_reported_as_available_with_its_leader(run_module):
    result = run_module(MODULE)
    assert (result["failed"], result["changed"], result["unknown"]) == (False, False, [])
    default = result["schedulers"][0]
    assert default["scheduler_names"] == ["default-scheduler"]
    assert default["kind"] in ("StaticPod", "default")
    assert default["serving"] is True
    assert default["leader"]["holder"]
    assert default["leader"]["renewed_seconds"] <= default["leader"]["duration_seconds"] + 10


def test_deployment_is_found_in_any_namespace(module_result, second, seen):
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
    assert [one["namespace"] for one in module_result(MODULE, {"scheduler_name": second})["schedulers"]] == [second]
    assert module_result(MODULE, {"scheduler_name": second, "namespaces": ["kube-system"]})["schedulers"] == []
    probe = module_result("scheduler_probe", {"scheduler_name": f"{second}-packing"})
    assert probe["scheduler"] == f"{second}-packing"


def test_a_pod_with_the_name_of_no_running_scheduler_is_reported_as_unserved(module_result, pending_pod, namespace):
    name, gated = pending_pod("nobody"), pending_pod("nobody", schedulingGates=[{"name": "example.org/gate"}])
    refused = pending_pod("default-scheduler", nodeSelector={"osso.scheduler/test": "nowhere"})
    found = {pod["name"]: pod for pod in module_result(MODULE)["unserved_pods"] if pod["namespace"] == namespace}
    assert set(found) == {name}, f"not {gated} and {refused}"
    assert (found[name]["scheduler_name"], found[name]["reason"]) == ("nobody", "no running scheduler has the name nobody")
    assert 0 <= found[name]["pending_seconds"] < 60
    other = module_result(MODULE, {"scheduler_name": "somebody"})
    assert other["unserved_pods"] == []


def test_a_scheduler_without_a_ready_instance_is_reported_with_its_pods(module_result, kubectl, second, seen, pending_pod):
    kubectl("scale", "deployment/second", "--replicas=0", f"--namespace={second}")
    try:
        # The instance gives its Lease back before the Deployment counts it as gone.
        entry = eventually(lambda: (entry := seen())["ready"] == 0 and entry)
        assert (entry["serving"], entry["message"]) == (False, "no instance is ready")
        # An instance that is being ended still places pods.
        eventually(lambda: not kubectl.list("pod", second))
        name = pending_pod(second)
        (pod,) = module_result(MODULE, {"namespaces": [second], "scheduler_name": second})["unserved_pods"]
        assert pod["name"] == name
        assert f"Deployment {second}/second: no instance is ready" in pod["reason"]
    finally:
        kubectl("scale", "deployment/second", "--replicas=1", f"--namespace={second}")
    eventually(lambda: seen()["serving"])


@pytest.mark.usefixtures("default_lease")
@pytest.mark.long
def test_a_scheduler_whose_lease_another_holds_is_not_available(kubectl, second, seen):
    """A second scheduler with the default's Lease waits for ever: kubectl shows it Ready, and still it serves nobody."""
    flags = {
        "args": [
            "--config=/etc/second/config.yaml",
            "--leader-elect-resource-namespace=kube-system",
            "--leader-elect-resource-name=kube-scheduler",
        ]
    }
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "scheduler", **flags}]}}}}
    kubectl("patch", "deployment/second", f"--namespace={second}", f"--patch={json.dumps(patch)}")
    try:
        kubectl("rollout", "status", "deployment/second", f"--namespace={second}", "--timeout=100s")
        entry = seen()
        assert (entry["ready"], entry["serving"]) == (1, False)
        assert "waits for the Lease kube-system/kube-scheduler" in entry["message"]
    finally:
        kubectl("rollout", "undo", "deployment/second", f"--namespace={second}")
        kubectl("rollout", "status", "deployment/second", f"--namespace={second}", "--timeout=100s")
    eventually(lambda: seen()["serving"])


@pytest.mark.long
def test_the_message_shows_why_an_instance_does_not_start(kubectl, second, seen):
    image = "registry.invalid/does/not:exist"
    kubectl("scale", "deployment/second", "--replicas=0", f"--namespace={second}")
    kubectl("set", "image", "deployment/second", f"scheduler={image}", f"--namespace={second}")
    kubectl("scale", "deployment/second", "--replicas=1", f"--namespace={second}")
    try:
        eventually(lambda: image in seen()["message"])
    finally:
        kubectl("rollout", "undo", "deployment/second", f"--namespace={second}")
        kubectl("rollout", "status", "deployment/second", f"--namespace={second}", "--timeout=100s")
    eventually(lambda: seen()["serving"])


def test_an_invalid_configuration_is_reported_without_scheduler_names(module_result, kubectl, second):
    text = CONFIG.format(namespace=second)
    kubectl.apply(config_map(second, text.replace("kind: Kube", "kind: Cube")))
    try:
        found = module_result(MODULE, {"namespaces": [second], "gather": ["schedulers"]})["schedulers"]
        (entry,) = (entry for entry in found if entry["namespace"] == second)
        assert entry["scheduler_names"] == []
        assert f"ConfigMap {second}/second is not valid: 2:7: kind: CubeSchedulerConfiguration is not" in entry["message"]
    finally:
        kubectl.apply(config_map(second, text))


def test_a_secondary_scheduler_and_its_operator_are_reported(module_result, kubectl):
    installed()
    Scheduler(kubectl, "cluster").rest()
    result = module_result(MODULE, {"gather": ["schedulers", "operators"]})
    name = VARIABLES["secondary_schedulers"][0].get("name", "cluster")
    (entry,) = (entry for entry in result["schedulers"] if (entry["namespace"], entry["name"]) == (NAMESPACE, name))
    assert (entry["kind"], entry["serving"], entry["ready"]) == ("SecondaryScheduler", True, 1), entry
    assert entry["scheduler_names"]
    assert entry["leader"]["namespace"] == NAMESPACE
    assert {condition["type"] for condition in entry["conditions"]} >= {"Available", "Progressing", "Degraded"}
    assert [other["name"] for other in result["schedulers"] if other["workload"] == entry["workload"]] == [name]
    (operator,) = (operator for operator in result["operators"] if operator["namespace"] == NAMESPACE)
    assert (operator["variant"], operator["watches"], operator["method"]) == ("osso", [NAMESPACE], "manifests")


def test_pending_pods_are_listed_with_those_of_no_scheduler_first(module_result, pending_pod, namespace):
    refused = pending_pod("default-scheduler", nodeSelector={"osso.scheduler/test": "no-node-has-this"})
    gated = pending_pod("default-scheduler", schedulingGates=[{"name": "example.com/wait"}])
    alone = pending_pod("nobody")

    def told():
        """the default scheduler has said something of its pod"""
        found = [pod for pod in module_result(MODULE, {"gather": ["pending"]})["pending_pods"] if pod["namespace"] == namespace]
        return {pod["name"]: pod for pod in found} if any("nodes are available" in pod["reason"] for pod in found) else None

    found = eventually(told)
    assert next(iter(found)) == alone
    assert {name: pod["served"] for name, pod in found.items()} == {alone: False, refused: True, gated: True}
    assert found[alone]["reason"] == "no running scheduler has the name nobody"
    assert found[gated]["reason"] == "it waits at the scheduling gates example.com/wait"


@pytest.fixture(scope="module")
def metrics_account(kubectl, second):
    """A ServiceAccount that may GET /metrics and nothing else."""
    name = f"{second}-reader"
    kubectl("create", "serviceaccount", "metrics", f"--namespace={second}")
    kubectl("create", "clusterrole", name, "--verb=get", "--non-resource-url=/metrics")
    kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", f"--serviceaccount={second}:metrics")
    yield {"namespace": second, "name": "metrics"}
    kubectl("delete", "clusterrole,clusterrolebinding", name)


def test_plugins_and_instances_are_reported_without_any_write(module_result, kubectl, second, seen, audit):
    """F124. Plugins cost no request, instances two for each pod; nothing is written."""
    eventually(lambda: seen()["serving"])
    options = {"namespaces": [second], "scheduler_name": second}
    with audit:
        module_result(MODULE, {**options, "gather": ["schedulers"]})
    cheap = len(audit.requests(agent="python"))
    assert cheap
    with audit:
        (entry,) = module_result(MODULE, {**options, "gather": ["profiles"]})["schedulers"]
    assert len(audit.requests(agent="python")) == cheap
    assert [profile["scheduler_name"] for profile in entry["profiles"]] == [second, f"{second}-packing"]
    assert entry["profiles"][0]["plugins"]["queueSort"] == ["PrioritySort"]
    assert entry["profiles"][0]["weights"]["TaintToleration"] == 3
    assert entry["leader"]["acquired_seconds"] >= entry["leader"]["renewed_seconds"]
    earlier = errors_of(kubectl, second)
    with audit:
        (entry,) = module_result(MODULE, {**options, "gather": ["instances"]})["schedulers"]
    assert len(audit.requests(agent="python")) <= cheap + 3
    assert audit.writes(agent="python") == []
    (pod,) = (pod for pod in kubectl.json("get", "pods", f"--namespace={second}")["items"] if "deletionTimestamp" not in pod["metadata"])
    (instance,) = entry["instances"]
    assert (instance["pod"], instance["node"]) == (pod["metadata"]["name"], pod["spec"]["nodeName"])
    assert (instance["ready"], instance["leads"], instance["restarts"], instance["last_end"]) == (True, True, 0, None)
    # It may not read what tells it who asks, and says so (--authentication-tolerate-lookup-failure). Later errors are about events in deleted namespaces.
    assert "extension-apiserver-authentication" in earlier[0]
    last = [line[:80] for line in errors_of(kubectl, second)[len(earlier) - 1 :]]
    assert instance["last_error"]["line"][:80] in last
    assert "profiles" not in entry


def test_metrics_of_a_scheduler_that_authenticates_clients_are_read(
    module_result, kubectl, second, seen, pending_pod, namespace, metrics_account
):
    eventually(lambda: seen()["serving"])
    placed, refused = pending_pod(second), pending_pod(second, nodeSelector={"osso.scheduler/test": "no-node-has-this"})
    options = {"namespaces": [second], "scheduler_name": second, "gather": ["metrics"]}

    def counted():
        """both pods were tried, one waits"""
        (entry,) = module_result(MODULE, {**options, "metrics_account": metrics_account})["schedulers"]
        if entry["metrics_message"]:
            return None
        found = {profile["scheduler_name"]: profile for profile in entry["metrics"]["profiles"]}.get(second)
        return found and {"scheduled", "unschedulable"} <= set(found["attempts"]) and entry["metrics"]["pod_seconds"] and entry

    entry = eventually(counted)
    (profile,) = (profile for profile in entry["metrics"]["profiles"] if profile["scheduler_name"] == second)
    took = profile["attempt_seconds"]
    assert took["count"] == sum(profile["attempts"].values())
    assert 0 < took["p50"] <= took["p90"] <= took["p99"]
    assert entry["metrics"]["pending"]["unschedulable"] == 1, (placed, refused, namespace)
    assert entry["metrics"]["counted_seconds"] >= 0
    # It does not know the user's certificate, and says what to do.
    (entry,) = module_result(MODULE, options)["schedulers"]
    assert entry["metrics"] is None
    assert "give a ServiceAccount as metrics_account that may GET /metrics" in entry["metrics_message"]


@pytest.mark.long
def test_the_last_error_and_the_restarts_of_a_crashed_scheduler_are_reported(module_result, kubectl, second, seen):
    """A scheduler with a broken configuration: it is started again and again, and its last words are told."""
    text = CONFIG.format(namespace=second)
    kubectl.apply(config_map(second, text.replace("leaderElect: true", "leaderElect: true\n  leaseDuration: never")))
    kubectl("delete", "pods", "--all", f"--namespace={second}", "--wait=false")
    try:

        def ended():
            """its container has ended and was started again"""
            (entry,) = (
                entry
                for entry in module_result(MODULE, {"namespaces": [second], "gather": ["instances"]})["schedulers"]
                if entry["namespace"] == second
            )
            return next((one for one in entry["instances"] or [] if one["restarts"] and one["last_error"]), None)

        instance = eventually(ended, within=180)
        assert instance["last_end"]["exit_code"] == 1
        assert "leaseDuration" in instance["last_error"]["line"] or "time: invalid duration" in instance["last_error"]["line"]
        assert instance["ready"] is False
    finally:
        kubectl.apply(config_map(second, text))
        kubectl("delete", "pods", "--all", f"--namespace={second}", "--wait=false")
        kubectl("rollout", "status", "deployment/second", f"--namespace={second}", "--timeout=120s")
    eventually(lambda: seen()["serving"], within=120)
