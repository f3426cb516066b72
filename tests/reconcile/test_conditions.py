# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the conditions of a SecondaryScheduler report, and what is not done then."""

from __future__ import annotations

import json
import sys
import uuid

import pytest
from conformance.operator.steps import patch
from support.access import service_account
from support.operator_in_process import Operator, crashing
from support.scheduler import Scheduler, eventually

VERBOSITY = "ansible.sdk.operatorframework.io/verbosity"

NO_CONFIGURATION = "apiVersion: v1\nkind: Pod\n"


def test_an_invalid_configuration_changes_nothing_that_runs(scheduler, operator):
    before = scheduler.deployment["metadata"]["generation"]
    scheduler.write_config(NO_CONFIGURATION)
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[:2] == ("True", "ConfigInvalid")
    assert "line 2: kind: Pod is not" in scheduler.condition("Degraded")[2]
    assert scheduler.condition("Available")[0] == "True"
    assert scheduler.condition("Upgradeable")[:2] == ("False", "ConfigInvalid")
    assert scheduler.deployment["metadata"]["generation"] == before
    scheduler.write_config()
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[0] == "False"
    assert scheduler.deployment["metadata"]["generation"] == before


def test_fields_that_flags_of_the_operator_override_do_not_prevent_a_deployment(new, operator):
    """kube-scheduler rejects a renewDeadline that is at most 1.2 times the retryPeriod."""
    late = {"leaderElection": {"renewDeadline": "2s", "retryPeriod": "2s"}}
    scheduler = new(config=lambda one: json.dumps({**json.loads(one.config()), **late}))
    operator.reconcile(scheduler)
    assert scheduler.condition("ConfigValid")[:2] == ("True", "AsExpected")
    assert scheduler.deployment


def test_a_misspelt_plugin_is_not_deployed_until_it_is_right(new, operator):
    """field and reason stand in the conditions; nothing of the scheduler exists until the configuration is right"""
    scheduler = new(
        config=lambda one: one.config().replace('"enabled": [{"name": "NodeResourcesFit"', '"enabled": [{"name": "NodeResourceFit"')
    )
    operator.reconcile(scheduler)
    assert scheduler.condition("ConfigValid")[:2] == ("False", "ConfigInvalid")
    message = scheduler.condition("Degraded")[2]
    assert "profiles[0].plugins.score.enabled[0].name: " in message
    assert "did you mean NodeResourcesFit?" in message
    assert scheduler.condition("ConfigValid")[2] == "See the condition Degraded."
    assert scheduler.deployment is None
    scheduler.write_config()
    operator.serve(scheduler)
    assert scheduler.rollouts() == 1
    status, reason, message = scheduler.condition("ConfigValid")
    assert (status, reason) == ("True", "AsExpected")
    # An API server of another release adds the distance.
    assert message.startswith("Checked for Kubernetes 1.34 with scheduler-plugins.")


def test_devices_that_the_scheduler_cannot_read_are_named(new, operator):
    """dra-api: kube-scheduler 1.33 with its gate reads resource.k8s.io/v1beta1, and the API server serves v1 alone"""
    image = "registry.k8s.io/kube-scheduler:v1.33.5"
    scheduler = new(schedulerImage=image, unsupportedConfigOverrides={"args": ["--feature-gates=DynamicResourceAllocation=true"]})
    operator.serve(scheduler)
    status, reason, message = scheduler.condition("ConfigValid")
    assert (status, reason) == ("True", "AsExpected")
    assert message.startswith("Checked for Kubernetes 1.33. Warnings: ")
    assert "reads resource.k8s.io/v1beta1 in Kubernetes 1.33, but the API server serves only resource.k8s.io/v1:" in message
    scheduler.write(schedulerImage=image, unsupportedConfigOverrides=None)  # without the gate, no device is allocated
    operator.serve(scheduler)
    assert "resource.k8s.io" not in scheduler.condition("ConfigValid")[2]


def test_the_value_of_a_misspelt_token_field_is_rejected_and_appears_nowhere(new, operator):
    """B13"""
    secret = uuid.uuid4().hex

    def config(scheduler):
        written = json.loads(scheduler.config())
        provider = {"type": "Prometheus", "address": "https://prometheus.example.com", "Token": secret}
        written["profiles"][0]["pluginConfig"] = [{"name": "TargetLoadPacking", "args": {"metricProvider": provider}}]
        return json.dumps(written)

    scheduler = new(config=config)
    operator.reconcile(scheduler)
    status, reason, message = scheduler.condition("Degraded")
    assert (status, reason) == ("True", "ConfigInvalid")
    assert "profiles[0].pluginConfig[0].args.metricProvider" in message
    assert "Token" in message
    assert secret not in json.dumps(scheduler.resource["status"])
    assert scheduler.deployment is None


def test_a_configuration_that_is_created_later_is_deployed_then(kubectl, namespace, operator, secondary_scheduler_kind):
    """B01"""
    scheduler = Scheduler(kubectl, "later", namespace)
    scheduler.write()
    assert operator.reconcile(scheduler).look_again
    assert scheduler.condition("Degraded")[:2] == ("True", "ConfigMapMissing")
    assert scheduler.name in scheduler.condition("Degraded")[2]
    scheduler.write_config()
    operator.serve(scheduler)
    assert scheduler.rollouts() == 1


def test_state_removed_deletes_the_scheduler_and_keeps_the_resource(scheduler, operator):
    scheduler.write(managementState="Removed")
    operator.reconcile(scheduler)
    assert scheduler.deployment is None
    operator.reconcile(scheduler)  # which the end of the Deployment causes
    assert scheduler.condition("Available")[:2] == ("False", "Removed")
    assert scheduler.get("clusterrolebinding", f"{scheduler.cluster_name}:kube-scheduler") is None
    scheduler.write(managementState="Managed")
    operator.serve(scheduler)


def test_a_scheduler_with_state_unmanaged_is_left_alone(scheduler, operator, kubectl):
    scheduler.write(managementState="Unmanaged")
    operator.reconcile(scheduler)
    assert scheduler.condition("Progressing")[1] == "Unmanaged"
    kubectl("scale", f"deployment/{scheduler.workload}", "--replicas=0", f"--namespace={scheduler.namespace}")
    operator.reconcile(scheduler)
    assert scheduler.deployment["spec"]["replicas"] == 0
    scheduler.write(managementState="Managed")
    operator.serve(scheduler)
    assert scheduler.deployment["spec"]["replicas"] == 1


def test_a_rejection_by_the_api_server_is_reported(new, operator):
    scheduler = new(unsupportedConfigOverrides={"nodeSelector": {"pool": "no valid label!"}})
    assert "nodeSelector" in operator.reconcile(scheduler).failure
    status, reason, message = scheduler.condition("Degraded")
    assert (status, reason) == ("True", "ApplyFailed")
    assert "nodeSelector" in message
    scheduler.write(unsupportedConfigOverrides=None)
    operator.serve(scheduler)


GROUPS = ["", "coordination.k8s.io", "networking.k8s.io", "operator.openshift.io", "policy", "rbac.authorization.k8s.io"]


@pytest.mark.parametrize(
    ("verbs", "reason", "denied"), [(["get", "list", "watch"], "ApplyFailed", "patch"), (["create", "patch"], "ReadFailed", "get")]
)
def test_a_missing_permission_is_reported_until_the_operator_has_it(new, kubectl, verbs, reason, denied):
    scheduler = new()
    all_others = {"apiGroups": GROUPS, "resources": ["*"], "verbs": ["*"]}
    deployments = {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": verbs}
    with service_account(kubectl, scheduler.namespace, all_others, deployments, everywhere=True) as robot:
        operator = Operator(kubectl, **robot)
        operator.reconcile(scheduler)
        assert scheduler.condition("Degraded")[:2] == ("True", reason)
        assert f'cannot {denied} resource "deployments"' in scheduler.condition("Degraded")[2]
        rules = json.dumps({"rules": [all_others, {**deployments, "verbs": ["*"]}]})
        kubectl("patch", "clusterrole", f"{scheduler.namespace}-robot", "--type=merge", "--patch", rules)
        eventually(lambda: not operator.reconcile(scheduler).failure, within=30)
        operator.serve(scheduler)
    assert scheduler.condition("Degraded")[0] == "False"


def test_a_rejection_does_not_report_values_that_were_not_applied(scheduler, operator):
    def told():
        status = scheduler.resource["status"]
        return status["generations"][0]["hash"], status["schedulerNames"]

    before = told()
    scheduler.write(unsupportedConfigOverrides={"nodeSelector": {"pool": "no valid label!"}})
    scheduler.write_config(scheduler.config().replace(before[1][0], "another-name"))
    assert "nodeSelector" in operator.reconcile(scheduler).failure
    assert told() == before
    scheduler.write(unsupportedConfigOverrides=None)
    operator.serve(scheduler)
    assert told()[0] != before[0]
    assert told()[1] == ["another-name"]


def test_overrides_that_cannot_be_used_change_nothing(scheduler, operator):
    generation = scheduler.deployment["metadata"]["generation"]
    scheduler.write(unsupportedConfigOverrides={"args": ["--config=/elsewhere"], "colour": "red"})
    operator.reconcile(scheduler)
    status, reason, message = scheduler.condition("Degraded")
    assert (status, reason) == ("True", "OverridesInvalid")
    assert "args[0]" in message
    assert "colour" in message
    assert scheduler.condition("Upgradeable")[:2] == ("False", "UnsupportedConfigOverrides")
    assert scheduler.deployment["metadata"]["generation"] == generation


def test_the_name_default_scheduler_is_rejected_unless_it_is_allowed(new, operator):
    scheduler = new(scheduler_name="default-scheduler")
    operator.reconcile(scheduler)
    _status, reason, message = scheduler.condition("Degraded")
    assert reason == "DefaultSchedulerRefused"
    assert "osso.scheduler/allow-default-scheduler" in message
    assert scheduler.deployment is None


def test_two_schedulers_of_one_name_report_the_conflict_until_one_is_removed(scheduler, new, operator):
    rival = new("rival", scheduler_name=scheduler.scheduler_name)
    operator.reconcile(rival)
    for one, other in ((rival, scheduler), (scheduler, rival)):
        status, reason, message = one.condition("SchedulerNamesUnique")
        assert (status, reason) == ("False", "SchedulerNameTaken")
        assert f"{scheduler.namespace}/{other.name}" in message
    rival.write(managementState="Removed")
    operator.reconcile(rival)
    assert scheduler.condition("SchedulerNamesUnique")[0] == "True"


def test_changes_and_failures_are_events(scheduler, operator):
    assert {"DeploymentCreated", "SecretCreated", "Available"} <= scheduler.events().keys()
    scheduler.write_config("kind: Nothing")
    operator.reconcile(scheduler)
    assert "ConfigInvalid" in scheduler.events()


def test_a_field_that_another_writer_changes_is_restored_and_reported(scheduler, operator):
    patch(scheduler, "deployment", spec={"progressDeadlineSeconds": 5})
    assert "FieldsPutBack" not in scheduler.events()
    operator.serve(scheduler)
    assert scheduler.deployment["spec"]["progressDeadlineSeconds"] != 5
    told = f'Deployment {scheduler.namespace}/{scheduler.workload}: .spec.progressDeadlineSeconds is managed by "kubectl-patch" using apps/v1. '
    assert scheduler.events()["FieldsPutBack"] == told + "The operator has put back what the resource requests."


def test_the_operators_log_level_sets_the_verbosity_unless_a_user_set_it(scheduler, operator):
    def verbosity():
        return scheduler.resource["metadata"].get("annotations", {}).get(VERBOSITY)

    patch(scheduler, "secondaryscheduler", scheduler.name, metadata={"annotations": {VERBOSITY: "7"}})
    operator.reconcile(scheduler)
    assert verbosity() == "7"
    scheduler.write(operatorLogLevel="Trace")
    operator.reconcile(scheduler)
    assert verbosity() == "3"
    scheduler.write(operatorLogLevel="Normal")
    operator.reconcile(scheduler)
    assert verbosity() is None


def test_pods_that_crash_later_are_reported_and_their_rollout_stays(scheduler, operator, kubectl):
    """It served: what became of its pods since is no fault of the rollout."""
    generation = scheduler.deployment["metadata"]["generation"]
    (pod,) = kubectl.list("pod", scheduler.namespace, f"app={scheduler.workload}")
    status = crashing('E1121 14:07:48.014650    6984 leaderelection.go:340] "lost lease"\n')(pod)
    kubectl.report("pod", pod["metadata"]["name"], status, scheduler.namespace)

    def told():
        """the controller of Deployments has noticed, and the operator after it"""
        operator.reconcile(scheduler)
        return scheduler.condition("Degraded")[:2] == ("True", "CrashLoopBackOff")

    eventually(told)
    assert scheduler.condition("Available")[0] == "False"
    assert scheduler.deployment["metadata"]["generation"] == generation


def test_kubectl_prints_the_state_of_the_scheduler_in_columns(scheduler, kubectl):
    place = f"--namespace={scheduler.namespace}"
    head, line = kubectl("get", "secsched", scheduler.name, place).stdout.splitlines()
    assert head.split() == ["NAME", "READY", "SCHEDULERS", "AVAILABLE", "PROGRESSING", "DEGRADED", "CONFIGVALID", "AGE"]
    assert line.split()[:-1] == [scheduler.name, "1", f'["{scheduler.scheduler_name}"]', "True", "False", "False", "True"]
    assert scheduler.resource["spec"]["schedulerImage"] in kubectl("get", "secsched", scheduler.name, place, "--output=wide").stdout
    assert f"/{scheduler.name}" in kubectl("get", "scheduling", place, "--output=name").stdout


@pytest.mark.parametrize("place", ["unsupportedConfigOverrides", "observedConfig"])
def test_a_resource_nested_thousands_of_levels_deep_does_not_stop_others(new, operator, place):
    """Kubernetes accepts 10,000 levels. The operator's image raises Python's limit (operator/image/sitecustomize.py)."""
    nested: list = []
    for _level in range(8000):
        nested = [nested]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    try:
        other, deep = new(), new("deep", **{place: {"unknown": nested}})
        assert json.dumps(nested) in json.dumps(deep.resource)
        operator.reconcile(other)
        operator.reconcile(deep)
        assert "ReadFailed" not in [one.condition("Degraded")[1] for one in (other, deep)]
        assert operator.finalize(deep).failure == ""
        deep.delete()
    finally:
        sys.setrecursionlimit(limit)
