# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rollouts of a scheduler, with statuses of its pods played back: to the end, crashing, overdue, and back."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import find
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import image_answer
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.config_validation import Answer
from conformance.operator.steps import edit, patch, version
from support.admission import mutating_policy
from support.operator_in_process import crashing, ready, unpullable
from support.scheduler import IMAGE, eventually

ACCOUNT = "osso.scheduler/service-account"
NONSENSE = {"command": ["/bin/kube-scheduler", "--nonsense"]}
LAST_WORDS = "Error: unknown flag: --nonsense\n"


def template(scheduler) -> dict:
    return scheduler.deployment["spec"]["template"]["spec"]


def edit_container(scheduler, **fields):
    """Change the Deployment's container by hand."""
    (container,) = template(scheduler)["containers"]
    patch(scheduler, "deployment", spec={"template": {"spec": {"containers": [{**container, **fields}]}}})


def command(scheduler) -> list[str]:
    return template(scheduler)["containers"][0]["command"]


def mounted(scheduler) -> str:
    return template(scheduler)["volumes"][0]["secret"]["secretName"]


def secrets(scheduler) -> list[str]:
    return [secret["metadata"]["name"] for secret in scheduler.kubectl.list("secret", scheduler.namespace, f"app={scheduler.workload}")]


def annotate(scheduler, **annotations):
    pairs = {f"osso.scheduler/{name.replace('_', '-')}": value for name, value in annotations.items()}
    patch(scheduler, "secondaryscheduler", scheduler.name, metadata={"annotations": pairs})


def test_resource_and_configuration_written_together_are_one_rollout(scheduler, operator):
    """The reconcile of the first event finds the second write."""
    of_the_event = scheduler.resource
    scheduler.write_config(scheduler.config(weight=7))
    scheduler.write(logLevel="Debug")
    before = scheduler.rollouts()
    operator.reconcile(scheduler, of_the_event)
    operator.run_pods(scheduler)
    operator.reconcile(scheduler)
    assert "-v=4" in template(scheduler)["containers"][0]["args"]
    assert scheduler.rollouts() == before + 1
    assert scheduler.served(), scheduler.resource["status"]


def test_a_rollout_that_is_reported_available_can_be_rolled_back_to(new, operator):
    """The rollout ends in the middle of a reconcile: the edit that follows a report must find a rollout that is known to serve."""
    scheduler = new()
    operator.reconcile(scheduler)
    result = operator.reconcile(scheduler, meanwhile=lambda: operator.run_pods(scheduler))
    assert (scheduler.served(), result.look_again) == (False, "1s")
    operator.reconcile(scheduler)
    assert scheduler.served()
    scheduler.write(unsupportedConfigOverrides=NONSENSE)
    operator.reconcile(scheduler)
    operator.play(scheduler, crashing(LAST_WORDS))
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[1] == "RolledBack"


def test_a_new_scheduler_has_one_rollout_until_it_is_available_and_none_afterwards(new, operator):
    """B05"""
    scheduler = new()
    operator.reconcile(scheduler)
    assert scheduler.condition("Progressing")[:2] == ("True", "RollingOut")
    assert scheduler.condition("Available")[:2] == ("False", "NoReplicaAvailable")
    operator.run_pods(scheduler)
    operator.reconcile(scheduler)
    assert scheduler.condition("Available")[0] == "True"
    assert scheduler.condition("Progressing")[:2] == ("False", "AsExpected")
    assert scheduler.condition("Degraded")[:2] == ("False", "AsExpected")
    before = version(scheduler)
    assert (before[0], before[2]) == (1, 1), "rollouts, and generation of the Deployment"
    edit(scheduler, operatorLogLevel="Debug")
    operator.reconcile(scheduler)
    assert scheduler.resource["status"]["observedGeneration"] == scheduler.resource["metadata"]["generation"]
    assert version(scheduler) == before
    assert operator.writes(scheduler) == 0


def test_an_unknown_image_is_asked_once_and_reported_meanwhile(scheduler, operator, kubectl, monkeypatch):
    monkeypatch.setattr(image_answer, "ask_without_waiting", lambda *_question: 2)
    before = scheduler.resource["status"]
    scheduler.write(schedulerImage="registry.example.com/scheduler:mine")
    assert operator.reconcile(scheduler).look_again == "2s"
    assert scheduler.condition("Progressing")[:2] == ("True", "RollingOut")
    after = scheduler.resource["status"]
    unchanged = [[one for one in status["conditions"] if one["type"] != "Progressing"] for status in (before, after)]
    assert unchanged[0] == unchanged[1]
    assert after["observedGeneration"] == before["observedGeneration"]
    assert operator.writes(scheduler) == 0, "the next look"

    monkeypatch.setattr(image_answer, "ask_without_waiting", lambda *_question: Answer(True))
    operator.serve(scheduler)
    assert scheduler.condition("ConfigValid")[:2] == ("True", "ImageAccepts")
    monkeypatch.setattr(image_answer, "ask_without_waiting", lambda *_question: pytest.fail("The rollout has served."))
    kubectl("delete", f"deployment/{scheduler.workload}", f"--namespace={scheduler.namespace}")
    operator.serve(scheduler)
    assert scheduler.condition("ConfigValid")[:2] == ("True", "ImageAccepts")


def test_a_crashing_rollout_is_rolled_back_and_the_pods_last_message_is_reported(scheduler, operator):
    generation = scheduler.deployment["metadata"]["generation"]
    scheduler.write(unsupportedConfigOverrides=NONSENSE)
    operator.reconcile(scheduler)
    operator.play(scheduler, crashing(LAST_WORDS, crashes=1))
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[:2] == ("True", "CrashLoopBackOff")
    assert "unknown flag: --nonsense" in scheduler.condition("Degraded")[2]
    assert command(scheduler)[-1] == "--nonsense", "two crashes are not enough"
    assert scheduler.condition("Available")[0] == "True", "the pod of before"

    scheduler.write(unsupportedConfigOverrides={**NONSENSE, "env": [{"name": "another", "value": "one"}]})
    operator.reconcile(scheduler)
    operator.play(scheduler, crashing(LAST_WORDS))
    operator.reconcile(scheduler)
    assert command(scheduler) == ["/bin/kube-scheduler"]
    status, reason, message = scheduler.condition("Degraded")
    assert (status, reason) == ("True", "RolledBack")
    assert "unknown flag: --nonsense" in message
    operator.run_pods(scheduler)
    operator.reconcile(scheduler)
    assert scheduler.condition("Progressing")[0] == "False"
    assert scheduler.condition("Available")[0] == "True"
    assert scheduler.deployment["metadata"]["generation"] == generation + 3
    # It stays so until somebody asks for another try.
    annotate(scheduler, seen="1")
    operator.reconcile(scheduler)
    assert (scheduler.condition("Degraded")[1], command(scheduler)) == ("RolledBack", ["/bin/kube-scheduler"])
    annotate(scheduler, retry="1")
    operator.reconcile(scheduler)
    assert command(scheduler)[-1] == "--nonsense"
    scheduler.write(unsupportedConfigOverrides=None)
    operator.serve(scheduler)
    assert scheduler.condition("Degraded")[0] == "False"


@pytest.mark.parametrize("rejected", ["override", "configuration"])
def test_a_crashing_rollout_is_rolled_back_although_a_later_edit_was_rejected(scheduler, operator, rejected):
    scheduler.write(unsupportedConfigOverrides=NONSENSE)
    operator.reconcile(scheduler)
    if rejected == "override":
        scheduler.write(unsupportedConfigOverrides={"args": ["--kube-api-qps=52"]})
    else:
        scheduler.write_config("profils: []\n")
    result = operator.reconcile(scheduler)
    assert command(scheduler)[-1] == "--nonsense", "it may still come to serve"
    assert scheduler.condition("Progressing")[:2] == ("True", "RollingOut")
    reason = {"override": "OverridesInvalid", "configuration": "ConfigInvalid"}[rejected]
    assert scheduler.condition("Degraded")[:2] == ("True", reason)
    assert result.look_again == "5s", "crashes of pods are no event for the operator"
    operator.play(scheduler, crashing(LAST_WORDS))
    operator.reconcile(scheduler)
    assert command(scheduler) == ["/bin/kube-scheduler"]
    operator.run_pods(scheduler)
    operator.reconcile(scheduler)
    assert scheduler.condition("Progressing")[:2] == ("False", reason)
    assert scheduler.condition("Degraded")[:2] == ("True", reason)


@pytest.mark.parametrize("when", ["rolled back", "during the rollout"])
def test_a_rollback_survives_the_loss_of_its_configuration_secret(scheduler, operator, kubectl, when):
    served = mounted(scheduler)
    content = scheduler.get("secret", served)["data"]
    scheduler.write(unsupportedConfigOverrides=NONSENSE)
    operator.reconcile(scheduler)
    operator.play(scheduler, crashing(LAST_WORDS))
    if when == "rolled back":
        operator.reconcile(scheduler)
        operator.run_pods(scheduler)
        operator.reconcile(scheduler)
    for _repeated in range(2):
        kubectl("delete", "secret", served, f"--namespace={scheduler.namespace}")
        operator.reconcile(scheduler)
        operator.run_pods(scheduler)
        operator.reconcile(scheduler)
        assert (scheduler.condition("Degraded")[1], command(scheduler)) == ("RolledBack", ["/bin/kube-scheduler"])
        assert "unknown flag: --nonsense" in scheduler.condition("Degraded")[2]
        assert scheduler.get("secret", mounted(scheduler))["data"] == content
    assert operator.writes(scheduler) == 0
    scheduler.write(unsupportedConfigOverrides=None)
    operator.serve(scheduler)
    assert scheduler.condition("Degraded")[0] == "False"


def test_the_lost_secret_of_a_rollback_without_another_copy_is_reported(scheduler, operator, kubectl):
    served = mounted(scheduler)
    scheduler.write_config(scheduler.config(weight=17))
    scheduler.write(unsupportedConfigOverrides=NONSENSE)
    operator.reconcile(scheduler)
    failing = mounted(scheduler)
    operator.play(scheduler, crashing(LAST_WORDS))
    operator.reconcile(scheduler)
    operator.run_pods(scheduler)
    operator.reconcile(scheduler)
    assert (mounted(scheduler), command(scheduler)) == (served, ["/bin/kube-scheduler"])
    kubectl("delete", "secret", served, f"--namespace={scheduler.namespace}")
    operator.reconcile(scheduler)
    assert (mounted(scheduler), command(scheduler)) == (served, ["/bin/kube-scheduler"]), "the failed one is not applied again"
    status, reason, message = scheduler.condition("Degraded")
    assert (status, reason) == ("True", "RolledBack")
    assert "unknown flag: --nonsense" in message
    assert f"The Secret {scheduler.namespace}/{served} with the configuration of the running scheduler was deleted or replaced" in message
    assert operator.writes(scheduler) == 0
    scheduler.write(unsupportedConfigOverrides=None)
    operator.serve(scheduler)
    assert scheduler.condition("Degraded")[0] == "False"
    assert mounted(scheduler) == failing, "it was the command that failed"


def test_a_failing_rollout_stays_if_the_configuration_of_the_last_good_one_is_lost(scheduler, operator, kubectl):
    served = mounted(scheduler)
    scheduler.write_config(scheduler.config(weight=17))
    scheduler.write(unsupportedConfigOverrides=NONSENSE)
    operator.reconcile(scheduler)
    kubectl("delete", "secret", served, f"--namespace={scheduler.namespace}")
    operator.play(scheduler, crashing(LAST_WORDS))
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[:2] == ("True", "CrashLoopBackOff")
    assert command(scheduler)[-1] == "--nonsense"


@pytest.mark.parametrize("earlier", ["none", "another"])
def test_a_rollout_that_was_available_unnoticed_is_the_target_of_a_rollback(new, operator, earlier):
    """Its pods were ready, and the next edit came before the operator looked: it was restarted, or busy."""
    scheduler = new()
    operator.reconcile(scheduler)
    operator.run_pods(scheduler)
    if earlier == "another":
        operator.reconcile(scheduler)
        scheduler.write_config(scheduler.config(weight=17))
        operator.reconcile(scheduler)
        operator.run_pods(scheduler)
    served = mounted(scheduler)
    scheduler.write_config(scheduler.config(weight=18))
    scheduler.write(unsupportedConfigOverrides=NONSENSE)
    operator.reconcile(scheduler)
    assert command(scheduler)[-1] == "--nonsense"
    operator.play(scheduler, crashing(LAST_WORDS))
    operator.reconcile(scheduler)
    operator.run_pods(scheduler)
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[1] == "RolledBack"
    assert (mounted(scheduler), command(scheduler)) == (served, ["/bin/kube-scheduler"])
    assert operator.writes(scheduler) == 0


def test_the_latest_available_rollout_is_restored_after_the_loss_of_its_secret(scheduler, operator, kubectl):
    """Both have the same configuration, so that it is known although the Secret is lost."""
    scheduler.write(logLevel="Debug")
    operator.serve(scheduler)
    scheduler.write_config("kind: Pod")
    operator.reconcile(scheduler)
    kubectl("delete", "secret", mounted(scheduler), f"--namespace={scheduler.namespace}")
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[1] == "ConfigInvalid"
    scheduler.write_config()
    scheduler.write(unsupportedConfigOverrides=NONSENSE, logLevel="Debug")
    operator.reconcile(scheduler)
    operator.play(scheduler, crashing(LAST_WORDS))
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[1] == "RolledBack"
    assert command(scheduler) == ["/bin/kube-scheduler"]
    assert "-v=4" in template(scheduler)["containers"][0]["args"]


EVERY_OVERRIDE = {
    "affinity": {},
    "args": ["--pod-max-in-unschedulable-pods-duration=6m"],
    "command": ["/bin/kube-scheduler"],
    "env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
    "imagePullPolicy": "IfNotPresent",
    "imagePullSecrets": [{"name": "pull"}],
    "nodeSelector": {"pool": "batch"},
    "podAnnotations": {"example.com/a": "1"},
    "priorityClassName": "system-cluster-critical",
    "progressDeadlineSeconds": 60,
    "resources": {"requests": {"cpu": "1000m"}, "limits": {"memory": "1024Mi"}},
    "tolerations": [{"operator": "Exists"}],
    "topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}],
    "volumeMounts": [{"name": "extra", "mountPath": "/extra"}],
    "volumes": [{"name": "extra", "emptyDir": {}}],
}


def test_a_rollout_with_every_override_becomes_the_last_one_that_works(new, operator):
    scheduler = new(unsupportedConfigOverrides=EVERY_OVERRIDE)
    operator.serve(scheduler)
    (secret,) = scheduler.kubectl.list("secret", scheduler.namespace, f"app={scheduler.workload}")
    record = json.loads(secret["metadata"]["annotations"]["osso.scheduler/served-rollout"])
    assert record["overrides"]["resources"] == EVERY_OVERRIDE["resources"]


REPLACING = """Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [
    Object.spec.template.spec.containers{name: "secondary-scheduler", image: "192.0.2.1/mirror/kube-scheduler:1"}]}}}}"""


def test_a_rollout_is_rolled_back_to_one_whose_image_admission_replaces(new, operator, kubectl, namespace):
    """What admission replaces stays the operator's, so its pods prove that the rollout works."""
    with mutating_policy(kubectl, namespace, REPLACING):
        scheduler = new()
        operator.serve(scheduler)
        assert template(scheduler)["containers"][0]["image"].startswith("192.0.2.1/")
        assert scheduler.condition("PodTemplateAsDeclared")[:2] == ("False", "FieldsReplaced")
        served = mounted(scheduler)
        for weight in (18, 19):
            scheduler.write_config(scheduler.config(weight=weight))
            scheduler.write(unsupportedConfigOverrides=NONSENSE if weight == 19 else {})
            operator.reconcile(scheduler)
            if weight == 18:
                operator.run_pods(scheduler)
                operator.reconcile(scheduler)
                assert secrets(scheduler) == [served := mounted(scheduler)], "the earlier configuration is deleted"
        operator.play(scheduler, crashing(LAST_WORDS))
        operator.reconcile(scheduler)
        assert scheduler.condition("Degraded")[1] == "RolledBack"
        assert (mounted(scheduler), command(scheduler)) == (served, ["/bin/kube-scheduler"])


def test_an_override_reverted_by_hand_does_not_prove_that_the_rollout_works(scheduler, operator):
    scheduler.write(unsupportedConfigOverrides={"resources": {"limits": {"memory": "1Mi"}}})
    operator.reconcile(scheduler)
    edit_container(scheduler, resources={"limits": {"memory": "1Gi"}})
    operator.run_pods(scheduler)
    operator.reconcile(scheduler)
    assert template(scheduler)["containers"][0]["resources"]["limits"] == {"memory": "1Mi"}
    operator.play(scheduler, crashing(LAST_WORDS))
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[1] == "RolledBack"
    assert "limits" not in template(scheduler)["containers"][0]["resources"]


def json_patch(scheduler, *operations):
    arguments = ("deployment", scheduler.workload, f"--namespace={scheduler.namespace}", "--type=json")
    scheduler.kubectl("patch", *arguments, f"--patch={json.dumps(operations)}")


def without_owners(scheduler):
    json_patch(scheduler, {"op": "replace", "path": "/metadata/managedFields", "value": [{}]})


def recreated(scheduler):
    live = scheduler.deployment
    live["metadata"] = {key: live["metadata"][key] for key in ("name", "namespace", "labels", "annotations", "ownerReferences")}
    scheduler.kubectl("replace", "--force", "--filename=-", stdin=live)


@pytest.mark.parametrize("change", [without_owners, recreated])
def test_a_rollout_works_although_others_own_the_same_fields(scheduler, operator, change):
    change(scheduler)
    operator.reconcile(scheduler)
    operator.run_pods(scheduler)
    scheduler.write_config(scheduler.config(weight=18))
    operator.reconcile(scheduler)
    operator.run_pods(scheduler)
    operator.reconcile(scheduler)
    assert secrets(scheduler) == [served := mounted(scheduler)]
    scheduler.write_config(scheduler.config(weight=19))
    scheduler.write(unsupportedConfigOverrides=NONSENSE)
    operator.reconcile(scheduler)
    operator.play(scheduler, crashing(LAST_WORDS))
    operator.reconcile(scheduler)
    assert (scheduler.condition("Degraded")[1], mounted(scheduler)) == ("RolledBack", served)


def test_a_field_removed_by_hand_makes_no_failing_rollout_the_last_good_one(scheduler, operator):
    """No field manager owns what is not there."""
    scheduler.write(unsupportedConfigOverrides={"imagePullSecrets": [{"name": "missing"}]})
    operator.reconcile(scheduler)
    json_patch(scheduler, {"op": "remove", "path": "/spec/template/spec/imagePullSecrets"})
    operator.run_pods(scheduler)
    operator.reconcile(scheduler)
    operator.play(scheduler, unpullable)
    scheduler.write(unsupportedConfigOverrides=NONSENSE)
    operator.reconcile(scheduler)
    operator.play(scheduler, crashing(LAST_WORDS))
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[1] == "RolledBack"
    assert not template(scheduler).get("imagePullSecrets")


@pytest.mark.parametrize("edit_by_hand", ["image", "replicas"])
def test_an_edit_by_hand_never_makes_a_failing_rollout_the_last_good_one(scheduler, operator, edit_by_hand):
    failing = f"{IMAGE}9"  # no such patch release
    scheduler.write(schedulerImage=failing)
    operator.reconcile(scheduler)
    if edit_by_hand == "image":
        edit_container(scheduler, image=IMAGE)
        operator.run_pods(scheduler)
    else:
        patch(scheduler, "deployment", spec={"replicas": 0})
        eventually(lambda: scheduler.deployment["status"].get("observedGeneration") == scheduler.deployment["metadata"]["generation"])
        eventually(lambda: not scheduler.deployment["status"].get("replicas"))
    operator.reconcile(scheduler)
    assert template(scheduler)["containers"][0]["image"] == failing
    operator.play(scheduler, crashing(LAST_WORDS))
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[1] == "RolledBack"
    assert template(scheduler)["containers"][0]["image"] == IMAGE


def test_crashes_of_pods_after_a_rollback_are_reported_with_it(scheduler, operator, kubectl):
    scheduler.write(unsupportedConfigOverrides=NONSENSE)
    operator.reconcile(scheduler)
    operator.play(scheduler, crashing(LAST_WORDS))
    operator.reconcile(scheduler)
    operator.run_pods(scheduler)
    kubectl("delete", "secret", mounted(scheduler), f"--namespace={scheduler.namespace}")
    operator.reconcile(scheduler)
    operator.play(scheduler, crashing("Error: no file\n"))
    operator.reconcile(scheduler)
    status, reason, message = scheduler.condition("Degraded")
    assert (status, reason, command(scheduler)) == ("True", "RolledBack", ["/bin/kube-scheduler"])
    assert "unknown flag: --nonsense" in message
    assert "The present pods fail, too: CrashLoopBackOff: pod " in message
    assert message.endswith(": no file")


def test_a_rollout_without_rollback_stays_and_reports_its_crashes(scheduler, operator):
    annotate(scheduler, rollback="Never")
    scheduler.write(unsupportedConfigOverrides=NONSENSE)
    operator.reconcile(scheduler)
    operator.play(scheduler, crashing(LAST_WORDS))
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[:2] == ("True", "CrashLoopBackOff")
    assert scheduler.condition("Available")[0] == "True"
    assert command(scheduler)[-1] == "--nonsense"


def test_an_overdue_rollout_is_rolled_back(scheduler, operator):
    """an image that cannot be pulled, until the deadline has passed, which the controller of Deployments notices"""
    annotate(scheduler, kubernetes_version="1.34", plugins="scheduler-plugins")
    image = "registry.k8s.io/osso/does-not-exist:1"
    scheduler.write(schedulerImage=image, unsupportedConfigOverrides={"progressDeadlineSeconds": 1})
    operator.reconcile(scheduler)
    operator.play(scheduler, unpullable)
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[1] in ("ImagePullBackOff", "RolledBack")
    assert image in scheduler.condition("Degraded")[2]

    def rolled_back():
        """the deadline has passed, and the reconcile after it went back"""
        operator.reconcile(scheduler)
        return scheduler.condition("Degraded")[1] == "RolledBack"

    eventually(rolled_back)
    assert image in scheduler.condition("Degraded")[2]
    assert scheduler.condition("Available")[0] == "True"
    assert template(scheduler)["containers"][0]["image"] == IMAGE


def test_a_first_rollout_that_crashes_is_reported_and_not_rolled_back(new, operator):
    scheduler = new()
    operator.reconcile(scheduler)
    operator.play(scheduler, crashing('E1121 14:07:48.014650    6984 run.go:72] "command failed" err="no such host"\n', crashes=5))
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[:2] == ("True", "CrashLoopBackOff")
    assert "no such host" in scheduler.condition("Degraded")[2]
    assert scheduler.condition("Available")[0] == "False"
    assert scheduler.deployment["metadata"]["generation"] == 1


def test_only_a_change_of_the_configurations_content_causes_a_rollout(scheduler, operator):
    """U08: the name of the mounted Secret is the content"""
    first = mounted(scheduler)
    written = scheduler.get("configmap", scheduler.name)["metadata"]["resourceVersion"]
    scheduler.write_config(scheduler.config(weight=17))
    operator.serve(scheduler)
    assert mounted(scheduler) != first
    assert scheduler.rollouts() == 2
    assert scheduler.get("secret", mounted(scheduler))["immutable"] is True
    assert scheduler.resource["status"]["generations"][0]["hash"] in mounted(scheduler)
    # What served before is forgotten once the new one serves.
    assert operator.reconcile(scheduler).failure == ""
    assert secrets(scheduler) == [mounted(scheduler)]
    scheduler.write_config()
    operator.serve(scheduler)
    assert mounted(scheduler) == first
    assert scheduler.get("configmap", scheduler.name)["metadata"]["resourceVersion"] != written


@pytest.mark.parametrize(("level", "flag"), [("Normal", "-v=2"), ("Debug", "-v=4"), ("Trace", "-v=6"), ("TraceAll", "-v=8"), ("", "-v=2")])
def test_the_log_level_becomes_a_flag_of_the_scheduler(new, operator, level, flag):
    """U05"""
    scheduler = new(logLevel=level)
    operator.reconcile(scheduler)
    assert [argument for argument in template(scheduler)["containers"][0]["args"] if argument.startswith("-v=")] == [flag]


def test_another_image_causes_another_rollout(scheduler, operator):
    other = IMAGE.replace("registry.k8s.io/", "quay.io/", 1)
    scheduler.write(schedulerImage=other)
    operator.reconcile(scheduler)
    operator.play(scheduler, ready)
    operator.serve(scheduler)
    assert template(scheduler)["containers"][0]["image"] == other
    assert scheduler.rollouts() == 2


def test_the_last_good_rollout_survives_the_loss_of_config_map_and_deployment(scheduler, operator, kubectl):
    """B02"""
    before = scheduler.deployment["spec"]["template"]
    kubectl("delete", "configmap", scheduler.name, f"--namespace={scheduler.namespace}")
    operator.reconcile(scheduler)
    assert scheduler.condition("ConfigValid")[1] == "ConfigMapMissing"
    assert scheduler.condition("Available")[0] == "True"
    kubectl("delete", "deployment", scheduler.workload, f"--namespace={scheduler.namespace}", "--cascade=foreground")
    operator.reconcile(scheduler)
    operator.run_pods(scheduler)
    operator.reconcile(scheduler)
    assert scheduler.deployment["spec"]["template"] == before
    assert scheduler.condition("Degraded")[:2] == ("True", "ConfigMapMissing")
    assert scheduler.condition("Available")[0] == "True"
    scheduler.write_config()
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[0] == "False"
    assert scheduler.deployment["spec"]["template"] == before


def delete_account(scheduler):
    scheduler.kubectl("delete", "serviceaccount", scheduler.workload, f"--namespace={scheduler.namespace}")


def restore_account(scheduler):
    """Delete it, and create it as a backup does."""
    live = scheduler.get("serviceaccount")
    kept = {key: live["metadata"][key] for key in ("name", "namespace", "labels", "ownerReferences")}
    delete_account(scheduler)
    scheduler.kubectl.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": kept})


def account(scheduler) -> str:
    return scheduler.get("serviceaccount")["metadata"]["uid"]


def forget_account(scheduler):
    """As an operator left the Deployment that recorded no account."""
    patch(scheduler, "deployment", metadata={"labels": {ACCOUNT: None}})


def end_rollout_now(scheduler):
    """The rollout ends as late as the times of its objects can tell. They are whole seconds."""
    (progressing,) = [one for one in scheduler.deployment["status"]["conditions"] if one["type"] == "Progressing"]
    others = [one for one in scheduler.deployment["status"]["conditions"] if one != progressing]
    ended = dict(progressing, lastUpdateTime=timestamps.now())
    scheduler.kubectl.report("deployment", scheduler.workload, {"conditions": [*others, ended]}, scheduler.namespace)


def replaced_once(scheduler, operator) -> bool:
    operator.serve(scheduler)
    assert scheduler.rollouts() == 2
    assert json.dumps(scheduler.resource["status"]["conditions"]).count('"Degraded"') == 1
    assert operator.writes(scheduler) == 0
    return scheduler.deployment["spec"]["template"]["metadata"]["annotations"][ACCOUNT] == account(scheduler)


def test_pods_are_replaced_once_when_their_service_account_was_recreated(scheduler, operator):
    delete_account(scheduler)
    assert operator.reconcile(scheduler).look_again == "1s"
    end_rollout_now(scheduler)
    assert replaced_once(scheduler, operator)


def test_the_lease_of_a_leader_without_its_account_is_deleted(scheduler, operator):
    """The API server rejects the leader's token, so the leader cannot hand the Lease over."""
    about = {"name": scheduler.workload, "namespace": scheduler.namespace}
    scheduler.kubectl.apply({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": about})
    operator.reconcile(scheduler)
    assert scheduler.get("lease")
    restore_account(scheduler)
    operator.reconcile(scheduler)
    assert scheduler.get("lease") is None


def test_pods_are_replaced_once_when_their_service_account_was_restored(scheduler, operator):
    restore_account(scheduler)
    end_rollout_now(scheduler)
    assert replaced_once(scheduler, operator)


def test_pods_are_replaced_if_their_account_was_deleted_during_the_first_rollout(new, operator):
    scheduler = new()
    operator.reconcile(scheduler)
    delete_account(scheduler)
    operator.reconcile(scheduler)
    operator.run_pods(scheduler)
    end_rollout_now(scheduler)
    operator.reconcile(scheduler)
    assert scheduler.deployment["spec"]["template"]["metadata"]["annotations"][ACCOUNT] == account(scheduler)


def test_an_account_that_no_operator_recorded_is_recorded_without_a_rollout(scheduler, operator):
    forget_account(scheduler)
    before = scheduler.deployment["metadata"]["generation"]
    operator.serve(scheduler)
    assert scheduler.deployment["metadata"]["labels"][ACCOUNT] == account(scheduler)
    assert scheduler.deployment["metadata"]["generation"] == before
    assert operator.writes(scheduler) == 0


def test_pods_are_replaced_if_an_unrecorded_account_is_younger_than_the_rollout(scheduler, operator):
    forget_account(scheduler)
    # Without a record the times have to tell.
    ended = find(scheduler.deployment, "Progressing")["lastUpdateTime"]
    eventually(lambda: timestamps.now() > ended)
    restore_account(scheduler)
    assert replaced_once(scheduler, operator)
