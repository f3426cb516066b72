# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator at work, as a pod: what is not in tests/conformance/operator, which has rollouts, drift and deletion."""

from __future__ import annotations

import json

import pytest
from support.registries import stands_in_for
from support.scheduler import IMAGE, Scheduler, eventually
from support.site import NAMESPACE


def test_scheduler_runs_the_real_kube_scheduler(operator, kubectl):
    scheduler = Scheduler(kubectl, "cluster")  # the demo's
    log = kubectl("logs", f"deployment/{scheduler.workload}", f"--namespace={NAMESPACE}").stdout
    assert "Starting Kubernetes Scheduler" in log
    pods = kubectl.json("get", "pods", f"--namespace={NAMESPACE}", f"--selector=app={scheduler.workload}")["items"]
    assert [pod["spec"]["serviceAccountName"] for pod in pods] == [scheduler.workload]
    assert "forbidden" not in log.lower()


@pytest.mark.long
def test_pod_with_the_name_of_no_running_scheduler_stays_pending(scheduler, run_module, kubectl, namespace):
    kubectl(
        "run", "waits", f"--namespace={namespace}", "--image=registry.k8s.io/pause:3.10", '--overrides={"spec":{"schedulerName":"nobody"}}'
    )

    def unserved():
        return [
            (pod["name"], pod["scheduler_name"]) for pod in run_module("scheduler_info")["unserved_pods"] if pod["namespace"] == namespace
        ]

    eventually(lambda: unserved() == [("waits", "nobody")])
    info = run_module("scheduler_info")
    assert any(scheduler.scheduler_name in found["scheduler_names"] and found["serving"] for found in info["schedulers"])
    assert kubectl.json("get", "pod", "waits", f"--namespace={namespace}")["status"]["phase"] == "Pending"


@pytest.mark.long
def test_another_image_reference_causes_one_rollout(scheduler, own_cluster):
    before = scheduler.rollouts()
    # The same image under another name: what is new is the reference.
    other = IMAGE.replace("registry.k8s.io/", "quay.io/", 1)
    with stands_in_for(own_cluster, "quay.io"):
        scheduler.write(schedulerImage=other)
        eventually(lambda: scheduler.deployment["spec"]["template"]["spec"]["containers"][0]["image"] == other)
        scheduler.rest()
        assert scheduler.rollouts() == before + 1
        scheduler.write()
        scheduler.rest()


@pytest.mark.long
def test_invalid_configuration_changes_nothing_that_runs(scheduler):
    before = scheduler.rollouts(), scheduler.deployment["metadata"]["generation"]
    scheduler.write_config("apiVersion: v1\nkind: Pod\n")
    eventually(lambda: scheduler.condition("Degraded")[:2] == ("True", "ConfigInvalid"))
    assert scheduler.condition("Available")[0] == "True"
    assert "line 2: kind: Pod is not" in scheduler.condition("Degraded")[2]
    assert (scheduler.rollouts(), scheduler.deployment["metadata"]["generation"]) == before
    scheduler.write_config()
    eventually(lambda: scheduler.condition("Degraded")[0] == "False")
    scheduler.rest()


def test_misspelt_plugin_is_not_deployed_and_rolls_out_once_it_is_right(new):
    """field and reason stand in the conditions; nothing of the scheduler exists until the configuration is right"""
    scheduler = new()
    scheduler.write_config(scheduler.config().replace('"enabled": [{"name": "NodeResourcesFit"', '"enabled": [{"name": "NodeResourceFit"'))
    scheduler.write()
    eventually(lambda: scheduler.condition("ConfigValid")[:2] == ("False", "ConfigInvalid"))
    message = scheduler.condition("Degraded")[2]
    assert "profiles[0].plugins.score.enabled[0].name: " in message
    assert "did you mean NodeResourcesFit?" in message
    assert scheduler.deployment is None
    scheduler.write_config()
    scheduler.rest()
    assert scheduler.rollouts() == 1
    status, reason, message = scheduler.condition("ConfigValid")
    assert (status, reason) == ("True", "AsExpected")
    # On a cluster of another release, a warning follows.
    assert message.startswith("Checked for Kubernetes 1.34 with scheduler-plugins.")


@pytest.mark.long
def test_flags_of_the_operator_override_fields_that_would_prevent_a_start(scheduler):
    """a renewDeadline that is not longer than 1.2 times the retryPeriod ends kube-scheduler, but the operator's flags are other ones"""
    config = {**json.loads(scheduler.config(weight=7)), "leaderElection": {"renewDeadline": "2s", "retryPeriod": "2s"}}
    before = scheduler.rollouts()
    scheduler.write_config(json.dumps(config))
    eventually(lambda: scheduler.rollouts() == before + 1)
    eventually(lambda: scheduler.condition("ConfigValid")[0] == "True")
    scheduler.rest()
    scheduler.write_config()
    scheduler.rest()


@pytest.mark.long
def test_annotations_determine_release_and_plugins_of_the_image(scheduler, kubectl):
    """they come before what its name tells: plugins that Kubernetes 1.34 does not have itself, a release that reads v1beta3"""
    before = scheduler.rollouts()
    resource = ["secondaryscheduler", scheduler.name, f"--namespace={NAMESPACE}"]
    config = json.loads(scheduler.config(weight=9))
    config["profiles"][0]["plugins"]["score"]["enabled"].append({"name": "NodeResourcesAllocatable"})
    kubectl("annotate", *resource, "osso.scheduler/plugins=in-tree")
    scheduler.write_config(json.dumps(config))
    eventually(lambda: "NodeResourcesAllocatable" in scheduler.condition("Degraded")[2])
    kubectl("annotate", "--overwrite", *resource, 'osso.scheduler/plugins={"base": "scheduler-plugins", "extra": []}')
    eventually(lambda: scheduler.condition("ConfigValid")[0] == "True")
    scheduler.rest()
    assert scheduler.rollouts() == before + 1
    kubectl("annotate", "--overwrite", *resource, "osso.scheduler/kubernetes-version=1.99")
    eventually(lambda: "1.99 is not known here" in scheduler.condition("ConfigValid")[2])
    assert scheduler.condition("ConfigValid")[:2] == ("True", "ImageAccepts")
    kubectl("annotate", *resource, "osso.scheduler/plugins-", "osso.scheduler/kubernetes-version-")
    scheduler.write_config()
    eventually(lambda: scheduler.condition("ConfigValid")[0] == "True")
    scheduler.rest()


@pytest.mark.long
def test_unknown_image_is_deployed_and_reported_as_unknown(new, kubectl):
    scheduler = new()
    scheduler.write_config()
    scheduler.write(schedulerImage="registry.k8s.io/pause:3.10")
    eventually(lambda: scheduler.deployment)
    eventually(lambda: scheduler.condition("ConfigValid")[:2] == ("Unknown", "ImageUnknown"))
    assert "osso.scheduler/kubernetes-version" in scheduler.condition("ConfigValid")[2]
    scheduler.write_config("apiVersion: v1\nkind: Pod\n")
    eventually(lambda: scheduler.condition("Degraded")[:2] == ("True", "ConfigInvalid"))


@pytest.mark.long
def test_a_scheduler_with_state_unmanaged_is_left_alone(scheduler, kubectl):
    scheduler.write(managementState="Unmanaged")
    eventually(lambda: scheduler.condition("Progressing")[1] == "Unmanaged")
    kubectl("scale", f"deployment/{scheduler.workload}", "--replicas=0", f"--namespace={NAMESPACE}")
    scheduler.write(managementState="Unmanaged", logLevel="Debug")
    eventually(lambda: scheduler.resource["status"]["observedGeneration"] == scheduler.resource["metadata"]["generation"])
    assert scheduler.deployment["spec"]["replicas"] == 0
    scheduler.write()
    eventually(lambda: scheduler.deployment["spec"]["replicas"] == 1)
    scheduler.rest()


@pytest.mark.long
def test_state_removed_deletes_the_scheduler_and_keeps_the_resource(scheduler, kubectl):
    scheduler.write(managementState="Removed")
    eventually(lambda: scheduler.deployment is None)
    eventually(lambda: scheduler.condition("Available")[:2] == ("False", "Removed"))
    eventually(lambda: scheduler.condition("Progressing")[:2] == ("False", "Removed"))
    assert not kubectl.json("get", "clusterrolebinding", f"{scheduler.cluster_name}:kube-scheduler", "--ignore-not-found")
    scheduler.write()
    scheduler.rest()


@pytest.mark.long
def test_rejection_by_the_api_server_is_reported(new):
    scheduler = new()
    scheduler.write_config()
    scheduler.write(unsupportedConfigOverrides={"nodeSelector": {"pool": "no valid label!"}})
    _status, reason, message = eventually(lambda: scheduler.condition("Degraded")[0] == "True" and scheduler.condition("Degraded"))
    assert reason == "ApplyFailed"
    assert "nodeSelector" in message
    scheduler.write()
    eventually(scheduler.served)


def test_a_jinja_template_in_a_resource_stays_text(new):
    """A resource's author must not run code in the operator."""
    scheduler = new()
    template = "{{ lookup('ansible.builtin.pipe', 'echo evaluated') }}"
    scheduler.write_config()
    scheduler.write(schedulerImage=template)
    deployment = eventually(lambda: scheduler.deployment)
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == template
