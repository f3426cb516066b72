# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role default_scheduler against OpenShift's real resource definitions, with a stand-in for its operator (F130 to F147)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from support.access import kubeconfig_of
from support.kinds import served
from support.openshift import (
    DEBUG_LOGGING,
    NODES,
    OPERATOR_NAMESPACE,
    configure_default_scheduler,
    debug_logging_objects,
    openshift,
    profile_texts,
)
from support.scheduler import eventually


@pytest.fixture(scope="module")
def openshift_cluster(kubectl):
    with openshift(kubectl, profile_texts()) as stand_in:
        yield stand_in


@pytest.fixture
def configure(play):
    return partial(configure_default_scheduler, play)


def scheduler(kubectl):
    return kubectl.json("get", "scheduler.config.openshift.io", "cluster")["spec"]


def kube_scheduler(kubectl):
    return kubectl.json("get", "kubescheduler", "cluster")["spec"]


def test_a_cluster_that_is_not_openshift_is_reported(kubectl, run_module):
    if kubectl.json("get", "crd", "kubeschedulers.operator.openshift.io", "--ignore-not-found"):
        pytest.skip("the cluster knows OpenShift's kinds, since another test is under way or it is one")
    result = run_module("default_scheduler_info")
    assert result["failed"]
    assert "this is no OpenShift with a kube-scheduler operator" in result["msg"]


def test_info_reports_the_version_profile_rollout_and_conditions(openshift_cluster, run_module):
    """F131, F137, F138"""
    result = run_module("default_scheduler_info")
    assert (result["openshift_version"], result["profile"], result["policy"]) == ("4.18.3", "LowNodeUtilization", "")
    assert result["configuration"]["matches"] is True
    assert result["rollout"]["complete"]
    assert [node["name"] for node in result["rollout"]["nodes"]] == list(NODES)
    assert run_module("default_scheduler_info", {"openshift_version": "5.99"})["openshift_version"] == "4.18.3"
    unknown = run_module("default_scheduler_info", {"openshift_version": "4.7"})
    assert "openshift_version: 4.7 is no release of OpenShift that is known" in unknown["msg"]
    assert result["conditions"]["Available"] == "True"
    assert {event["reason"] for event in result["events"]} == {"NodeCurrentRevisionChanged"}


def test_check_mode_writes_nothing(openshift_cluster, configure, kubectl):
    run = configure(profile="HighNodeUtilization", check=True, diff=True)
    assert "HighNodeUtilization" in str(run.task("Configure the default scheduler").result["diff"])
    assert "profile" not in scheduler(kubectl)


@pytest.mark.parametrize("check", [False, True])
def test_the_error_on_a_hosted_control_plane_names_the_field_to_change(openshift_cluster, configure, kubectl, audit, check):
    """The pods of its default scheduler run in another cluster."""
    names = {"infrastructureName": "x", "apiServerURL": "", "apiServerInternalURI": "", "etcdDiscoveryDomain": ""}
    hosted = {"status": {**names, "controlPlaneTopology": "External", "infrastructureTopology": "HighlyAvailable"}}
    with served(kubectl, "infrastructures.config.openshift.io"):
        kubectl.apply({"apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": {"name": "cluster"}, "spec": {}})
        kubectl("patch", "infrastructure", "cluster", "--subresource=status", "--type=merge", f"--patch={json.dumps(hosted)}")
        with audit:
            (failure,) = configure(profile="HighNodeUtilization", check=check, succeed=False).failures
    assert "spec.configuration.scheduler of the HostedCluster" in failure.result["msg"]
    assert audit.writes(dry_run=True) == []


def test_profile_is_rolled_out_to_every_node_and_each_step_is_reported(openshift_cluster, configure, kubectl):
    """F130, F139"""
    before = openshift_cluster.revision
    run = configure(profile="HighNodeUtilization", masters_schedulable=True, default_node_selector="pool=work")
    assert openshift_cluster.revision == before + 1
    assert scheduler(kubectl) == {
        "profile": "HighNodeUtilization",
        "mastersSchedulable": True,
        "defaultNodeSelector": "pool=work",
        "policy": {"name": ""},
    }
    told = [task.result["msg"] for task in run.tasks if task.task.endswith("Report the progress")]
    assert told[-1] == f"revision {before + 1} is on all 3 nodes"
    live = kubectl.json("get", "configmap", "config", "--namespace=openshift-kube-scheduler")["data"]["config.yaml"]
    assert json.loads(live)["profiles"][0]["pluginConfig"][0]["args"] == {"scoringStrategy": {"type": "MostAllocated"}}


def test_second_run_writes_nothing(openshift_cluster, configure, audit):
    options = {"profile": "HighNodeUtilization", "masters_schedulable": True, "default_node_selector": "pool=work"}
    with audit:
        run = configure(**options)
    assert run.changed == []
    assert [request for request in audit.writes() if "ansible" in request.agent.lower() or "OpenAPI" in request.agent] == []


def test_log_levels_revision_limits_and_forced_redeployment_are_applied(openshift_cluster, configure, kubectl):
    """F135, F140 to F142"""
    before = openshift_cluster.revision
    configure(
        profile="HighNodeUtilization",
        log_level="Debug",
        operator_log_level="Trace",
        force_redeployment_reason="again",
        failed_revision_limit=3,
        succeeded_revision_limit=-1,
        unsupported_config_overrides={"arguments": {"v": "9"}},
        i_understand_unsupported_overrides=True,
    )
    assert openshift_cluster.revision == before + 1
    assert kube_scheduler(kubectl) == {
        "managementState": "Managed",
        "logLevel": "Debug",
        "operatorLogLevel": "Trace",
        "forceRedeploymentReason": "again",
        "failedRevisionLimit": 3,
        "succeededRevisionLimit": -1,
        "unsupportedConfigOverrides": {"arguments": {"v": "9"}},
    }


def test_dangerous_options_require_their_i_understand_option(openshift_cluster, configure, kubectl):
    """F141, F143 to F145"""
    run = configure(
        unsupported_config_overrides={"arguments": {"v": "9"}},
        operator_managed=False,
        operator_image="example.com/operator:1",
        cluster_version_operator="stopped",
        succeed=False,
    )
    (failure,) = run.failures
    for word in ("unsupported_overrides", "unmanaged_operator", "custom_operator_image", "stopped_cluster_version_operator"):
        assert f"default_scheduler_i_understand_{word}" in failure.result["msg"]
    assert kubectl.json("get", "clusterversion", "version")["spec"].get("overrides") is None


@pytest.mark.parametrize("version", ["4.18", "4.14"])
def test_operator_is_unmanaged_and_managed_again(openshift_cluster, configure, kubectl, run_module, version):
    """F143: another's overrides stay, also before 4.15, where the list is one value."""
    configure = partial(configure, openshift_version=version)
    if version == "4.14":
        kinds = kubectl.json("get", "crd", "clusterversions.config.openshift.io")
        overrides = kinds["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["overrides"]
        del overrides["x-kubernetes-list-map-keys"]
        overrides["x-kubernetes-list-type"] = "atomic"
        kubectl("replace", "--filename=-", stdin=json.dumps(kinds))
    other = {"kind": "Deployment", "group": "apps", "namespace": "elsewhere", "name": "other", "unmanaged": True}
    kubectl("patch", "clusterversion", "version", "--type=merge", f"--patch={json.dumps({'spec': {'overrides': [other]}})}")
    configure(operator_managed=False, i_understand_unmanaged_operator=True)
    ours = {**other, "namespace": OPERATOR_NAMESPACE, "name": OPERATOR_NAMESPACE}
    assert kubectl.json("get", "clusterversion", "version")["spec"]["overrides"] == [other, ours]
    assert run_module("default_scheduler_info")["unmanaged"] == [f"Deployment {OPERATOR_NAMESPACE}/{OPERATOR_NAMESPACE}"]
    configure(operator_managed=True)
    assert kubectl.json("get", "clusterversion", "version")["spec"]["overrides"] == [other, {**ours, "unmanaged": False}]


@pytest.fixture
def operators(openshift_cluster, kubectl):
    """The Deployments of the scheduler's operator, which has no pods, and of the cluster-version operator."""
    cluster_version = "openshift-cluster-version"
    kubectl("create", "namespace", cluster_version)
    for namespace, name, container, replicas in (
        (OPERATOR_NAMESPACE, OPERATOR_NAMESPACE, "kube-scheduler-operator-container", 0),
        (cluster_version, "cluster-version-operator", "cluster-version-operator", 1),
    ):
        labels = {"app": name}
        one = {"name": container, "image": "release.example.com/operator:1", "env": [{"name": "IMAGE", "value": "release"}]}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [one]}}
        spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
        about = {"name": name, "namespace": namespace}
        kubectl.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": about, "spec": spec})
    yield
    kubectl("delete", "namespace", cluster_version)
    kubectl("delete", "deployment", OPERATOR_NAMESPACE, f"--namespace={OPERATOR_NAMESPACE}")


def test_another_operator_image_is_set_and_reverted_with_the_version_operator(operators, configure, kubectl, audit):
    """F143 to F145, and the way back"""
    image = "example.com/operator:2"
    meant = {f"i_understand_{word}": True for word in ("unmanaged_operator", "custom_operator_image", "stopped_cluster_version_operator")}
    chosen = {"operator_managed": False, "operator_image": image, "cluster_version_operator": "stopped", **meant}

    def seen():
        (container,) = kubectl.get("deployment", OPERATOR_NAMESPACE, OPERATOR_NAMESPACE)["spec"]["template"]["spec"]["containers"]
        assert container["env"] == [{"name": "IMAGE", "value": "release"}]
        replicas = kubectl.get("deployment", "cluster-version-operator", "openshift-cluster-version")["spec"]["replicas"]
        overrides = kubectl.json("get", "clusterversion", "version")["spec"]["overrides"]
        (override,) = [one for one in overrides if one["namespace"] == OPERATOR_NAMESPACE]
        return container["image"], replicas, override["unmanaged"]

    assert len(configure(**chosen, check=True).changed) == 3
    assert kubectl.get("deployment", OPERATOR_NAMESPACE, OPERATOR_NAMESPACE)["metadata"]["generation"] == 1
    assert len(configure(**chosen).changed) == 3
    assert seen() == (image, 0, True)
    with audit:
        assert configure(**chosen).changed == []
    assert [request for request in audit.writes() if "ansible" in request.agent.lower() or "OpenAPI" in request.agent] == []
    assert len(configure(operator_managed=True, cluster_version_operator="running").changed) == 2
    assert seen() == (image, 1, False), "the cluster-version operator puts its own image back"


def test_obsolete_policy_is_rejected_and_cleared_on_request(openshift_cluster, configure, kubectl, run_module):
    """F134"""
    kubectl("patch", "scheduler.config.openshift.io", "cluster", "--type=merge", '--patch={"spec":{"policy":{"name":"old"}}}')
    eventually(lambda: run_module("default_scheduler_info")["rollout"]["failing"])
    run = configure(profile="NoScoring", succeed=False)
    assert "spec.policy.name is old" in run.failures[0].result["msg"]
    configure(profile="NoScoring", clear_policy=True)
    assert scheduler(kubectl)["policy"] == {"name": ""}
    assert run_module("default_scheduler_info")["rollout"]["failing"] == ""


def test_profile_customization_is_written_only_where_it_has_an_effect(openshift_cluster, configure, kubectl):
    """F132"""
    run = configure(profile="NoScoring", clear_policy=True, dynamic_resource_allocation="Enabled", wait=False)
    assert scheduler(kubectl)["profileCustomizations"] == {"dynamicResourceAllocation": "Enabled"}
    assert "TechPreviewNoUpgrade" in run.stdout
    # What an earlier run set and this one does not goes back; 4.21 has no use for it.
    configure(profile="NoScoring", clear_policy=True, dynamic_resource_allocation="Enabled", openshift_version="4.21", wait=False)
    assert not scheduler(kubectl).get("profileCustomizations")


def test_configuration_that_is_not_the_profiles_is_an_error(openshift_cluster, configure):
    openshift_cluster.broken = True
    try:
        run = configure(profile="LowNodeUtilization", clear_policy=True, succeed=False)
        assert "parallelism: not expected, is 3" in run.failures[0].result["msg"]
        again = configure(profile="LowNodeUtilization", clear_policy=True, succeed=False)
        assert again.changed == []
        assert "parallelism: not expected, is 3" in again.failures[0].result["msg"]
    finally:
        openshift_cluster.broken = False


def test_the_error_of_a_rollout_timeout_contains_the_latest_events(openshift_cluster, configure):
    openshift_cluster.held = True
    try:
        run = configure(profile="LowNodeUtilization", clear_policy=True, log_level="Trace", wait_timeout=5, succeed=False)
        message = run.failures[0].result["msg"]
        assert "The rollout is not over after 5 s: no revision after" in message
        assert "Latest events: Updated node" in message
    finally:
        openshift_cluster.held = False


def test_log_level_is_not_raised_if_the_job_that_lowers_it_cannot_start(openshift_cluster, configure, kubectl):
    before = kube_scheduler(kubectl)["logLevel"]
    level = "TraceAll"
    assert before != level
    run = configure(debug_log_level=level, debug_image="registry.k8s.io/no-such-image:1", debug_start_timeout=10, succeed=False)
    assert run.rc != 0
    assert kube_scheduler(kubectl)["logLevel"] == before
    eventually(lambda: debug_logging_objects(kubectl) == [])


@pytest.fixture
def debug_logging(openshift_cluster, configure, kubectl):
    """debug_logging(level) raises the log level; the result is the Job's command, which nothing runs: here a test sets what a kubelet would."""

    def pods():
        return [pod["metadata"]["name"] for pod in kubectl.json("get", "pods", f"--namespace={DEBUG_LOGGING}")["items"]]

    def start(level: str) -> list[str]:
        with ThreadPoolExecutor(1) as executor:
            play = executor.submit(configure, debug_log_level=level, debug_minutes=60, debug_image="client:1")
            eventually(pods)
            patch = json.dumps({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
            kubectl("patch", "pod", *pods(), f"--namespace={DEBUG_LOGGING}", "--subresource=status", f"--patch={patch}")
            assert play.result().rc == 0
        job = kubectl.json("get", "job", DEBUG_LOGGING, f"--namespace={DEBUG_LOGGING}")
        return job["spec"]["template"]["spec"]["containers"][0]["command"]

    yield start
    if debug_logging_objects(kubectl):
        configure("osso.scheduler.revert")


@pytest.mark.parametrize("others", [None, "Trace"])
def test_job_that_ends_debug_logging_reverts_only_its_own_level(debug_logging, kubectl, tmp_path, others):
    """With the permissions of its account, and no others"""
    before = kube_scheduler(kubectl)["logLevel"]
    command = debug_logging("TraceAll")
    assert kube_scheduler(kubectl)["logLevel"] == "TraceAll"
    if others:
        kubectl("patch", "kubescheduler", "cluster", "--type=merge", f'--patch={{"spec":{{"logLevel":"{others}"}}}}')
    (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig_of(kubectl, DEBUG_LOGGING, DEBUG_LOGGING)))
    ends = int(re.search(r"-lt (\d+)", command[-1])[1])
    assert 50 * 60 < ends - time.time() <= 60 * 60
    at_its_end = [part.replace(f"-lt {ends}", "-lt 0") for part in command]
    subprocess.run(at_its_end, env={**os.environ, "KUBECONFIG": str(tmp_path / "kubeconfig")}, check=True)
    assert kube_scheduler(kubectl)["logLevel"] == (others or before)
    eventually(lambda: debug_logging_objects(kubectl) == [])


def test_debug_logging_is_reverted_at_once_and_only_once(debug_logging, configure, kubectl):
    before = kube_scheduler(kubectl)["logLevel"]
    debug_logging("TraceAll")
    assert len(debug_logging_objects(kubectl)) == 6
    assert configure("osso.scheduler.revert").changed
    assert kube_scheduler(kubectl)["logLevel"] == before
    eventually(lambda: debug_logging_objects(kubectl) == [])
    assert configure("osso.scheduler.revert").changed == []
