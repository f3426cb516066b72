# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator at work, as a pod: rollouts, drift, states, deletion."""

from __future__ import annotations

import json
import time
import uuid

import pytest
from support.scheduler import IMAGE, Scheduler, eventually
from support.site import NAMESPACE, site


@pytest.fixture(scope="module")
def operator(kubectl):
    """The demo's installation."""
    site(variables={"probe": "never"})


@pytest.fixture
def absent_scheduler(operator, kubectl):
    scheduler = Scheduler(kubectl, f"test-{uuid.uuid4().hex[:6]}")
    yield scheduler
    scheduler.delete()


@pytest.fixture(scope="module")
def scheduler(operator, kubectl):
    """A scheduler that serves, for tests that leave it serving."""
    scheduler = Scheduler(kubectl, "test")
    scheduler.write_config()
    scheduler.write()
    scheduler.rest()
    yield scheduler
    scheduler.delete()


def test_one_rollout_from_resource_to_ready(scheduler):
    deployment = scheduler.deployment
    assert deployment["metadata"]["generation"] == 1
    assert scheduler.rollouts() == 1
    assert scheduler.resource["status"]["readyReplicas"] == 1
    (generation,) = scheduler.resource["status"]["generations"]
    assert generation["lastGeneration"] == 1
    assert generation["hash"] in json.dumps(deployment["spec"]["template"]["spec"]["volumes"])


def test_scheduler_runs_the_real_kube_scheduler(scheduler, kubectl):
    log = kubectl("logs", f"deployment/{scheduler.workload}", f"--namespace={NAMESPACE}").stdout
    assert "Starting Kubernetes Scheduler" in log
    pods = kubectl.json("get", "pods", f"--namespace={NAMESPACE}", f"--selector=app={scheduler.workload}")["items"]
    assert [pod["spec"]["serviceAccountName"] for pod in pods] == [scheduler.workload]
    assert "forbidden" not in log.lower()


def test_pod_is_placed_by_it(scheduler, run_module, namespace):
    probe = run_module("scheduler_probe", {"scheduler_name": scheduler.scheduler_name, "namespace": namespace, "running": True})
    assert not probe["failed"], probe
    assert probe["scheduler"] == scheduler.scheduler_name
    assert probe["placed"] is True


def test_pod_with_a_name_that_nobody_serves_stays_pending(scheduler, run_module, kubectl, namespace):
    kubectl(
        "run", "waits", f"--namespace={namespace}", "--image=registry.k8s.io/pause:3.10", '--overrides={"spec":{"schedulerName":"nobody"}}'
    )
    time.sleep(3)
    info = run_module("scheduler_info")
    assert [(pod["name"], pod["scheduler_name"]) for pod in info["unserved_pods"] if pod["namespace"] == namespace] == [("waits", "nobody")]
    assert any(scheduler.scheduler_name in found["scheduler_names"] and found["serving"] for found in info["schedulers"])
    assert kubectl.json("get", "pod", "waits", f"--namespace={namespace}")["status"]["phase"] == "Pending"


def test_content_of_the_config_map_rolls_exactly_once(scheduler):
    before, secret = scheduler.rollouts(), scheduler.deployment["spec"]["template"]["spec"]["volumes"][0]["secret"]["secretName"]
    scheduler.write_config(scheduler.config(weight=uuid.uuid4().int % 90 + 2))
    eventually(lambda: scheduler.rollouts() > before)
    scheduler.rest()
    assert scheduler.rollouts() == before + 1
    new = scheduler.deployment["spec"]["template"]["spec"]["volumes"][0]["secret"]["secretName"]
    assert new != secret
    assert scheduler.get("secret", new)["immutable"] is True
    eventually(lambda: scheduler.get("secret", secret) is None)


def test_label_on_the_config_map_rolls_nothing(scheduler, kubectl):
    before = scheduler.rollouts(), scheduler.deployment["metadata"]["generation"]
    kubectl("label", "configmap", scheduler.name, f"--namespace={NAMESPACE}", "--overwrite", f"team=x{uuid.uuid4().hex[:5]}")
    scheduler.rest()
    assert (scheduler.rollouts(), scheduler.deployment["metadata"]["generation"]) == before


def test_operator_log_level_rolls_nothing(scheduler):
    before = scheduler.rollouts(), scheduler.deployment["metadata"]["generation"]
    scheduler.write(operatorLogLevel="Debug")
    scheduler.rest()
    assert (scheduler.rollouts(), scheduler.deployment["metadata"]["generation"]) == before
    scheduler.write()
    scheduler.rest()


@pytest.mark.parametrize(("level", "flag"), [("Debug", "-v=4"), ("Trace", "-v=6"), ("TraceAll", "-v=8"), ("Normal", "-v=2")])
def test_log_level_shows_in_the_arguments(scheduler, level, flag):
    """U05"""
    scheduler.write(logLevel=level)
    eventually(lambda: flag in scheduler.deployment["spec"]["template"]["spec"]["containers"][0]["args"])
    scheduler.rest()


def test_image_change_rolls(scheduler, kubectl):
    before = scheduler.rollouts()
    # The same image under another name: what is new is the reference.
    other = IMAGE.replace("registry.k8s.io/", "quay.io/", 1)
    scheduler.write(schedulerImage=other)
    eventually(lambda: scheduler.deployment["spec"]["template"]["spec"]["containers"][0]["image"] == other)
    scheduler.rest()
    assert scheduler.rollouts() == before + 1
    scheduler.write()
    scheduler.rest()


def test_deleted_deployment_comes_back(scheduler, kubectl):
    uid = scheduler.deployment["metadata"]["uid"]
    kubectl("delete", "deployment", scheduler.workload, f"--namespace={NAMESPACE}")
    eventually(lambda: (scheduler.deployment or {"metadata": {"uid": uid}})["metadata"]["uid"] != uid)
    scheduler.rest()


def test_edited_deployment_is_repaired(scheduler, kubectl):
    """U02"""
    kubectl(
        "set", "image", f"deployment/{scheduler.workload}", "secondary-scheduler=registry.k8s.io/pause:3.10", f"--namespace={NAMESPACE}"
    )
    eventually(lambda: scheduler.deployment["spec"]["template"]["spec"]["containers"][0]["image"] == IMAGE)
    kubectl("scale", f"deployment/{scheduler.workload}", "--replicas=2", f"--namespace={NAMESPACE}")
    eventually(lambda: scheduler.deployment["spec"]["replicas"] == 1)
    scheduler.rest()


def test_deleted_service_account_and_role_come_back(scheduler, kubectl):
    for kind in ("serviceaccount", "role", "rolebinding"):
        kubectl("delete", kind, scheduler.workload, f"--namespace={NAMESPACE}")
        eventually(lambda kind=kind: scheduler.get(kind))
    scheduler.rest()


def test_invalid_configuration_changes_nothing_that_runs(scheduler):
    before = scheduler.rollouts(), scheduler.deployment["metadata"]["generation"]
    scheduler.write_config("apiVersion: v1\nkind: Pod\n")
    eventually(lambda: scheduler.condition("Degraded")[:2] == ("True", "ConfigInvalid"))
    assert scheduler.condition("Available")[0] == "True"
    assert "line 1: apiVersion" in scheduler.condition("Degraded")[2]
    assert (scheduler.rollouts(), scheduler.deployment["metadata"]["generation"]) == before
    scheduler.write_config()
    eventually(lambda: scheduler.condition("Degraded")[0] == "False")
    scheduler.rest()


def test_unmanaged_is_left_alone(scheduler, kubectl):
    scheduler.write(managementState="Unmanaged")
    eventually(lambda: scheduler.condition("Progressing")[1] == "Unmanaged")
    kubectl("scale", f"deployment/{scheduler.workload}", "--replicas=0", f"--namespace={NAMESPACE}")
    time.sleep(5)
    assert scheduler.deployment["spec"]["replicas"] == 0
    scheduler.write()
    eventually(lambda: scheduler.deployment["spec"]["replicas"] == 1)
    scheduler.rest()


def test_removed_takes_the_scheduler_away_and_keeps_the_resource(scheduler, kubectl):
    scheduler.write(managementState="Removed")
    eventually(lambda: scheduler.deployment is None)
    eventually(lambda: scheduler.condition("Available")[:2] == ("False", "Removed"))
    assert not kubectl.json("get", "clusterrolebinding", f"{scheduler.cluster_name}:kube-scheduler", "--ignore-not-found")
    scheduler.write()
    scheduler.rest()


def test_config_map_made_after_the_resource_is_found(absent_scheduler):
    """B1"""
    absent_scheduler.write()
    eventually(lambda: absent_scheduler.condition("Degraded")[:2] == ("True", "ConfigMapMissing"))
    assert absent_scheduler.name in absent_scheduler.condition("Degraded")[2]
    absent_scheduler.write_config()
    eventually(absent_scheduler.served)


def test_deletion_removes_everything_that_was_made(absent_scheduler, kubectl):
    """B6, B9"""
    scheduler = absent_scheduler
    scheduler.write_config()
    scheduler.write()
    scheduler.rest()
    kinds = "deployments,replicasets,pods,serviceaccounts,roles,rolebindings,secrets,configmaps,clusterrolebindings"
    selector = f"--selector=app.kubernetes.io/instance={scheduler.name}"

    def made():
        found = kubectl.json("get", kinds, "--all-namespaces", selector)["items"]
        return {(item["kind"], item["metadata"]["name"]) for item in found}

    assert {kind for kind, _name in made()} == {"Deployment", "ServiceAccount", "Role", "RoleBinding", "Secret", "ClusterRoleBinding"}
    assert scheduler.get("lease"), "its replicas elect a leader"
    kubectl("delete", "secondaryscheduler", scheduler.name, f"--namespace={NAMESPACE}", "--timeout=60s")
    eventually(lambda: made() == set())
    eventually(
        lambda: not kubectl.json("get", "pods,replicasets", f"--namespace={NAMESPACE}", f"--selector=app={scheduler.workload}")["items"]
    )
    eventually(lambda: not scheduler.get("lease"))
    assert scheduler.get("configmap", scheduler.name), "the user's ConfigMap stays"
    assert not scheduler.get("configmap", f"osso-set-operand-{scheduler.name}")


def test_refusal_by_the_api_server_is_told(absent_scheduler):
    absent_scheduler.write_config()
    selector = {"nodeSelector": {"pool": "no valid label!"}}
    absent_scheduler.write(topology={"mode": "HighlyAvailable", "highlyAvailableTopology": selector})
    _status, reason, message = eventually(
        lambda: absent_scheduler.condition("Degraded")[0] == "True" and absent_scheduler.condition("Degraded")
    )
    assert reason == "ApplyFailed"
    assert "nodeSelector" in message
    absent_scheduler.write()
    eventually(absent_scheduler.served)


def test_template_in_a_resource_is_text(absent_scheduler):
    """A resource's author must not run code in the operator."""
    template = "{{ lookup('ansible.builtin.pipe', 'echo evaluated') }}"
    absent_scheduler.write_config()
    absent_scheduler.write(schedulerImage=template)
    deployment = eventually(lambda: absent_scheduler.deployment)
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == template
