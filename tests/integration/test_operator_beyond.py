# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the operator does beyond upstream's: it keeps what served, sees why pods fail, and tells of schedulers that compete."""

from __future__ import annotations

import json

import pytest
from support.scheduler import IMAGE, eventually
from support.site import NAMESPACE


def annotate(scheduler, **annotations):
    pairs = [f"osso.scheduler/{name.replace('_', '-')}={value}" for name, value in annotations.items()]
    scheduler.kubectl("annotate", "--overwrite", "secondaryscheduler", scheduler.name, f"--namespace={scheduler.namespace}", *pairs)


def command(scheduler):
    return scheduler.deployment["spec"]["template"]["spec"]["containers"][0]["command"]


def secrets(scheduler):
    selector = f"--selector=app={scheduler.workload}"
    return scheduler.kubectl.json("get", "secrets", f"--namespace={scheduler.namespace}", selector)["items"]


def reason(scheduler, kind, wanted):
    eventually(lambda: scheduler.condition(kind)[1] == wanted or None)
    return scheduler.condition(kind)


def test_crashing_rollout_is_rolled_back_and_the_pods_last_message_is_reported(own_scheduler):
    generation = own_scheduler.deployment["metadata"]["generation"]
    own_scheduler.write(unsupportedConfigOverrides={"command": ["/bin/kube-scheduler", "--nonsense"]})
    status, _reason, message = reason(own_scheduler, "Degraded", "RolledBack")
    assert status == "True"
    assert "unknown flag: --nonsense" in message
    assert command(own_scheduler) == ["/bin/kube-scheduler"]
    eventually(lambda: own_scheduler.condition("Progressing") and own_scheduler.condition("Progressing")[0] == "False")
    assert own_scheduler.condition("Available")[0] == "True"
    assert own_scheduler.deployment["metadata"]["generation"] == generation + 2


@pytest.mark.long
def test_rollback_can_be_switched_off(own_scheduler):
    annotate(own_scheduler, rollback="Never")
    own_scheduler.write(unsupportedConfigOverrides={"command": ["/bin/kube-scheduler", "--nonsense"]})
    status, _reason, message = reason(own_scheduler, "Degraded", "CrashLoopBackOff")
    assert (status, own_scheduler.condition("Available")[0]) == ("True", "True")
    assert "unknown flag: --nonsense" in message
    assert command(own_scheduler)[-1] == "--nonsense"


@pytest.mark.long
def test_image_that_cannot_be_pulled_is_seen_and_given_up_after_the_deadline(own_scheduler):
    annotate(own_scheduler, kubernetes_version="1.34", plugins="scheduler-plugins")
    image = "registry.k8s.io/osso/does-not-exist:1"
    own_scheduler.write(schedulerImage=image, unsupportedConfigOverrides={"progressDeadlineSeconds": 25})
    eventually(lambda: own_scheduler.condition("Degraded")[1] in ("ErrImagePull", "ImagePullBackOff"), within=60)
    assert image in own_scheduler.condition("Degraded")[2]
    assert own_scheduler.condition("Available")[0] == "True"
    _status, _reason, message = reason(own_scheduler, "Degraded", "RolledBack")
    assert image in message
    assert own_scheduler.deployment["spec"]["template"]["spec"]["containers"][0]["image"] == IMAGE


@pytest.mark.long
def test_last_good_rollout_survives_loss_of_config_map_deployment_and_operator(own_scheduler, kubectl):
    before = own_scheduler.deployment["spec"]["template"]
    kubectl("delete", "configmap", own_scheduler.name, f"--namespace={NAMESPACE}")
    eventually(lambda: own_scheduler.condition("ConfigValid")[1] == "ConfigMapMissing", within=15)
    assert own_scheduler.condition("Available")[0] == "True"
    kubectl("rollout", "restart", "deployment/osso-scheduler-operator", f"--namespace={NAMESPACE}")
    kubectl("rollout", "status", "deployment/osso-scheduler-operator", f"--namespace={NAMESPACE}", "--timeout=100s")
    kubectl("delete", "deployment", own_scheduler.workload, f"--namespace={NAMESPACE}")
    eventually(lambda: own_scheduler.deployment and own_scheduler.condition("Available")[0] == "True", within=90)
    assert own_scheduler.deployment["spec"]["template"] == before
    assert own_scheduler.condition("Degraded")[:2] == ("True", "ConfigMapMissing")
    own_scheduler.write_config()
    eventually(lambda: own_scheduler.condition("Degraded")[0] == "False", within=90)  # looked for once a minute
    assert own_scheduler.deployment["spec"]["template"] == before


@pytest.mark.long
def test_only_the_configuration_of_the_available_rollout_is_kept(own_scheduler):
    (secret,) = secrets(own_scheduler)
    served = json.loads(secret["metadata"]["annotations"]["osso.scheduler/served-rollout"])
    assert secret["metadata"]["name"].endswith(served["config"])
    own_scheduler.write_config(own_scheduler.config(weight=7))
    eventually(lambda: [found["metadata"]["name"] for found in secrets(own_scheduler)] not in ([], [secret["metadata"]["name"]]))
    own_scheduler.rest()
    eventually(lambda: len(secrets(own_scheduler)) == 1)
    assert secrets(own_scheduler)[0]["metadata"]["name"] != secret["metadata"]["name"]


@pytest.mark.long
def test_an_unknown_image_validates_the_configuration_itself(own_scheduler, new, kubectl):
    """An image by its digest: no table knows which release that is."""
    pods = kubectl.json("get", "pods", f"--namespace={NAMESPACE}", f"--selector=app={own_scheduler.workload}")["items"]
    digest = pods[0]["status"]["containerStatuses"][0]["imageID"].rpartition("@")[2]
    unknown = new()
    image = f"registry.k8s.io/scheduler-plugins/kube-scheduler@{digest}"
    unknown.write_config(unknown.config().replace("NodeResourcesFit", "NodeResourcesFits"))
    unknown.write(schedulerImage=image)
    status, _reason, message = reason(unknown, "Degraded", "ConfigInvalid")
    assert status == "True"
    assert "the kube-scheduler in the image rejects it" in message
    assert "NodeResourcesFits" in message
    assert unknown.deployment is None
    unknown.write_config()
    status, _reason, _message = reason(unknown, "ConfigValid", "ImageAccepts")
    assert status == "True"
    unknown.rest()
    assert unknown.condition("ConfigValid")[1] == "ImageAccepts"
    # That of the configuration that was replaced while the image ran ends by itself.
    eventually(lambda: kubectl.list("job", NAMESPACE) == [])


@pytest.mark.long
def test_the_name_default_scheduler_is_rejected_without_the_annotation(new):
    scheduler = new(scheduler_name="default-scheduler")
    scheduler.write_config()
    scheduler.write()
    _status, _reason, message = reason(scheduler, "Degraded", "DefaultSchedulerRefused")
    assert "osso.scheduler/allow-default-scheduler" in message
    assert scheduler.deployment is None


@pytest.mark.long
def test_two_schedulers_of_one_name_report_the_conflict_until_one_is_removed(own_scheduler, new):
    rival = new(scheduler_name=own_scheduler.scheduler_name)
    rival.write_config()
    rival.write()
    for one, other in ((rival, own_scheduler), (own_scheduler, rival)):
        status, _reason, message = reason(one, "SchedulerNamesUnique", "SchedulerNameTaken")
        assert status == "False"
        assert f"{NAMESPACE}/{other.name}" in message
    rival.delete()
    eventually(lambda: own_scheduler.condition("SchedulerNamesUnique")[0] == "True", within=30)


@pytest.mark.long
def test_overrides_reach_pod_and_budget_and_are_checked(own_scheduler, kubectl):
    own_scheduler.write(
        unsupportedConfigOverrides={
            "args": ["--http2-max-streams-per-connection=77"],
            "env": [{"name": "GODEBUG", "value": "x=1"}],
            "priorityClassName": "system-cluster-critical",
            "podDisruptionBudget": {"maxUnavailable": 1},
            "resources": {"requests": {"cpu": "10m"}},
        }
    )
    own_scheduler.rest()
    pod = own_scheduler.deployment["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert container["args"][-1] == "--http2-max-streams-per-connection=77"
    assert {"name": "GODEBUG", "value": "x=1"} in container["env"]
    assert (pod["priorityClassName"], container["resources"]) == ("system-cluster-critical", {"requests": {"cpu": "10m"}})
    budget = own_scheduler.get("poddisruptionbudget")
    assert (budget["spec"]["maxUnavailable"], budget["spec"]["selector"]["matchLabels"]) == (1, {"app": own_scheduler.workload})
    assert own_scheduler.condition("Upgradeable")[:2] == ("False", "UnsupportedConfigOverrides")
    generation = own_scheduler.deployment["metadata"]["generation"]
    own_scheduler.write(unsupportedConfigOverrides={"args": ["--config=/elsewhere"], "colour": "red"})
    _status, _reason, message = reason(own_scheduler, "Degraded", "OverridesInvalid")
    assert "args[0]" in message
    assert "colour" in message
    assert own_scheduler.deployment["metadata"]["generation"] == generation
    own_scheduler.write(unsupportedConfigOverrides=None)
    own_scheduler.rest()
    # What is no longer wanted goes once the new pods serve, in a reconcile of its own.
    eventually(lambda: own_scheduler.get("poddisruptionbudget") is None)
    assert own_scheduler.condition("Upgradeable")[0] == "True"


@pytest.mark.long
def test_changes_and_failures_are_events(own_scheduler, kubectl):
    def events():
        field = f"--field-selector=involvedObject.name={own_scheduler.name}"
        return {event["reason"] for event in kubectl.json("get", "events", f"--namespace={NAMESPACE}", field)["items"]}

    assert {"DeploymentCreated", "SecretCreated", "Available"} <= events()
    own_scheduler.write_config("kind: Nothing")
    reason(own_scheduler, "ConfigValid", "ConfigInvalid")
    eventually(lambda: "ConfigInvalid" in events())


@pytest.mark.long
def test_operator_log_level_sets_the_verbosity_of_ansible_runner(own_scheduler):
    def verbosity():
        return (own_scheduler.resource["metadata"].get("annotations") or {}).get("ansible.sdk.operatorframework.io/verbosity")

    before = own_scheduler.rollouts()
    own_scheduler.write(operatorLogLevel="Trace")
    eventually(lambda: verbosity() == "3")
    own_scheduler.write(operatorLogLevel="Normal")
    eventually(lambda: verbosity() is None)
    assert own_scheduler.rollouts() == before


@pytest.mark.long
def test_pods_are_replaced_once_when_their_service_account_was_recreated(own_scheduler, kubectl):
    before = own_scheduler.rollouts()
    kubectl("delete", "serviceaccount", own_scheduler.workload, f"--namespace={NAMESPACE}")
    eventually(lambda: own_scheduler.rollouts() == before + 1, within=60)
    own_scheduler.rest()
    assert own_scheduler.rollouts() == before + 1
    account = own_scheduler.get("serviceaccount")["metadata"]["uid"]
    assert own_scheduler.deployment["spec"]["template"]["metadata"]["annotations"]["osso.scheduler/service-account"] == account
    # The one before could not hand over its Lease, which holds for 137 s.
    (pod,) = eventually(lambda: len(own_scheduler.serving_pods()) == 1 and own_scheduler.serving_pods())
    eventually(
        lambda: (own_scheduler.get("lease") or {"spec": {}})["spec"].get("holderIdentity", "").startswith(pod["metadata"]["name"]),
        within=60,
    )
