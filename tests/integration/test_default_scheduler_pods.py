# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What of the role default_scheduler needs pods that run: debug logging, which a Job reverts, and another image of the operator. The rest is in tests/api."""

from __future__ import annotations

from functools import partial

import pytest
from cluster.throwaway import images
from cluster.throwaway.layout import Layout, Record
from cluster.throwaway.progress import Progress
from support.openshift import (
    DEBUG_LOGGING,
    OPERATOR_NAMESPACE,
    configure_default_scheduler,
    debug_logging_objects,
    openshift,
    profile_texts,
)
from support.scheduler import eventually

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def openshift_cluster(kubectl):
    with openshift(kubectl, profile_texts()) as stand_in:
        yield stand_in


@pytest.fixture
def configure(play):
    return partial(configure_default_scheduler, play)


@pytest.fixture(scope="module")
def client_image(own_cluster):
    """An image with a shell and kubectl, as OpenShift's cli image has oc."""
    layout = Layout(own_cluster)
    images.ensure(layout, Record.load(layout), Progress(layout.durations_file), ["kubectl"])
    return f"registry.k8s.io/{images.IMAGES['kubectl'].name}"


def test_debug_logging_reverts_by_itself(openshift_cluster, configure, kubectl, client_image):
    """F136: the play is long over when the Job in the cluster lowers the level and takes itself away"""
    kubectl("patch", "kubescheduler", "cluster", "--type=merge", '--patch={"spec":{"logLevel":"Normal"}}')
    run = configure(debug_log_level="Debug", debug_minutes=1, debug_image=client_image)
    assert run.task("Raise the log level").result["changed"]
    eventually(lambda: kubectl.get("kubescheduler", "cluster")["spec"]["logLevel"] == "Normal")
    eventually(lambda: debug_logging_objects(kubectl) == [])


def test_debug_logging_is_reverted_at_once(openshift_cluster, configure, kubectl, run_module, client_image):
    """to log_level, which is not written meanwhile; without its Job it is made anew"""
    debug = {"debug_log_level": "TraceAll", "debug_minutes": 60, "debug_image": client_image}
    configure(log_level="Debug", **debug)
    assert kubectl.get("kubescheduler", "cluster")["spec"]["logLevel"] == "TraceAll"
    assert len(debug_logging_objects(kubectl)) == 6
    again = configure(log_level="Debug", **debug)
    assert again.changed == []
    assert kubectl.get("kubescheduler", "cluster")["spec"]["logLevel"] == "TraceAll"

    kubectl("delete", "job", DEBUG_LOGGING, f"--namespace={DEBUG_LOGGING}")
    found = run_module("default_scheduler_info")["debug_logging"]
    assert (found["active"], found["noted"], found["back_to"]) == (False, True, "Debug")
    configure(**debug)
    found = run_module("default_scheduler_info")["debug_logging"]
    assert (found["active"], found["level"], found["back_to"]) == (True, "TraceAll", "Debug")
    # The pod of the first Job may take a moment to go.
    eventually(lambda: len(debug_logging_objects(kubectl)) == 6)

    configure("osso.scheduler.revert")
    assert kubectl.get("kubescheduler", "cluster")["spec"]["logLevel"] == "Debug"
    eventually(lambda: debug_logging_objects(kubectl) == [])
    assert configure("osso.scheduler.revert").changed == []
    configure(log_level="Normal")


@pytest.fixture
def operators(openshift_cluster, own_cluster, kubectl):
    """The Deployments of the scheduler's operator and of the cluster-version operator, whose pods only exist; another image for such."""
    cluster_version = "openshift-cluster-version"
    kubectl("create", "namespace", cluster_version)
    for namespace, name, container in (
        (OPERATOR_NAMESPACE, OPERATOR_NAMESPACE, "kube-scheduler-operator-container"),
        (cluster_version, "cluster-version-operator", "cluster-version-operator"),
    ):
        labels = {"app": name}
        one = {"name": container, "image": "registry.k8s.io/pause:3.10", "env": [{"name": "IMAGE", "value": "release"}]}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [one]}}
        spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
        about = {"name": name, "namespace": namespace}
        kubectl.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": about, "spec": spec})
    yield f"{(own_cluster / 'registry').read_text().strip()}/pause:3.10"
    kubectl("delete", "namespace", cluster_version)
    kubectl("delete", "deployment", OPERATOR_NAMESPACE, f"--namespace={OPERATOR_NAMESPACE}")


def test_another_operator_image_is_set_and_reverted_with_the_version_operator(operators, configure, kubectl, audit):
    """F143 to F145, and the way back"""
    meant = {f"i_understand_{word}": True for word in ("unmanaged_operator", "custom_operator_image", "stopped_cluster_version_operator")}
    chosen = {"operator_managed": False, "operator_image": operators, "cluster_version_operator": "stopped", **meant}

    def seen():
        operator = kubectl.get("deployment", OPERATOR_NAMESPACE, OPERATOR_NAMESPACE)
        (container,) = operator["spec"]["template"]["spec"]["containers"]
        assert container["env"] == [{"name": "IMAGE", "value": "release"}]
        replicas = kubectl.get("deployment", "cluster-version-operator", "openshift-cluster-version")["spec"]["replicas"]
        overrides = kubectl.json("get", "clusterversion", "version")["spec"]["overrides"]
        (override,) = [one for one in overrides if one["namespace"] == OPERATOR_NAMESPACE]
        return container["image"], operator["status"]["updatedReplicas"], replicas, override["unmanaged"]

    assert len(configure(**chosen, check=True).changed) == 3
    assert kubectl.get("deployment", OPERATOR_NAMESPACE, OPERATOR_NAMESPACE)["metadata"]["generation"] == 1
    assert len(configure(**chosen).changed) == 3
    assert seen() == (operators, 1, 0, True)
    with audit:
        assert configure(**chosen).changed == []
    assert [request for request in audit.writes() if "ansible" in request.agent.lower() or "OpenAPI" in request.agent] == []
    assert len(configure(operator_managed=True, cluster_version_operator="running").changed) == 2
    assert seen() == (operators, 1, 1, False), "the cluster-version operator puts its own image back"
