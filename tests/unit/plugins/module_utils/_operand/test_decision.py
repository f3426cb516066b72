# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a reconcile decides to do (operand/decision.py)."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import Finding
from ansible_collections.osso.scheduler.plugins.module_utils._operand import rollout as rollouts
from ansible_collections.osso.scheduler.plugins.module_utils._operand.decision import decide, requested_rollout
from ansible_collections.osso.scheduler.plugins.module_utils._operand.prometheus_access import TEMPLATE_KEY, Source
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.config_validation import Answer
from support.operand import CONFIG, UNKNOWN, deployment, facts, memory, resource, serving, stored

OLD = requested_rollout(facts(config=replace(CONFIG, hash="old")))
NEW = requested_rollout(facts())
CRASHING = SimpleNamespace(reason="CrashLoopBackOff", message="pod p: no kind", crashes=3, pod="p")
OVERDUE = [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]


@pytest.mark.parametrize(
    ("spec", "config", "action", "reason"),
    [
        ({}, CONFIG, "apply", "AsExpected"),
        ({"managementState": ""}, CONFIG, "apply", "AsExpected"),
        ({"managementState": "Force"}, CONFIG, "apply", "AsExpected"),
        ({"managementState": "Removed"}, None, "remove", "Removed"),
        ({"managementState": "Unmanaged"}, CONFIG, "leave", "Unmanaged"),
        ({"schedulerImage": ""}, CONFIG, "hold", "FieldMissing"),
        ({"schedulerConfig": ""}, None, "hold", "FieldMissing"),
        ({"schedulerConfig": ".."}, None, "hold", "ConfigMapNameInvalid"),
        ({"schedulerConfig": "a/b"}, None, "hold", "ConfigMapNameInvalid"),
        ({"schedulerConfig": "Config"}, None, "hold", "ConfigMapNameInvalid"),
        ({"schedulerConfig": "n" * 254}, None, "hold", "ConfigMapNameInvalid"),
        ({"schedulerConfig": "my.config-2"}, CONFIG, "apply", "AsExpected"),
        ({}, None, "hold", "ConfigMapMissing"),
        ({}, replace(CONFIG, valid=False, starts=False), "hold", "ConfigInvalid"),
        ({}, replace(CONFIG, starts=False), "hold", "ConfigInvalid"),
        ({}, replace(CONFIG, scheduler_names=["default-scheduler"]), "hold", "DefaultSchedulerRefused"),
        ({}, UNKNOWN, "apply", "AsExpected"),
        ({}, replace(UNKNOWN, valid=False, starts=False, image_answer=Answer(False, "no")), "hold", "ConfigInvalid"),
    ],
)
def test_spec_and_verdict_decide_the_action_and_its_reason(spec, config, action, reason):
    decision = decide(facts(resource=resource(**spec), config=config))
    assert (decision.action, decision.reason) == (action, reason)


def test_default_scheduler_is_a_decision_of_the_user():
    allowed = resource(annotations={"osso.scheduler/allow-default-scheduler": "true"})
    config = replace(CONFIG, scheduler_names=["default-scheduler"])
    assert decide(facts(resource=allowed, config=config)).action == "apply"


def test_message_names_field_and_remedy():
    assert "spec.schedulerImage" in decide(facts(resource=resource(schedulerImage=""))).message
    finding = Finding("error", "c", "is Pod", "kind", 4, hint="write KubeSchedulerConfiguration")
    findings = (finding, replace(finding, severity="warning", message="so so"))
    message = decide(facts(config=replace(CONFIG, valid=False, findings=findings))).message
    assert "line 4: kind: is Pod (write KubeSchedulerConfiguration)" in message
    assert "so so" not in message


def test_the_resource_name_has_to_fit_into_the_names_of_its_objects():
    assert decide(facts(resource=resource(name="n" * 43))).action == "apply"
    assert len("secondary-scheduler-" + "n" * 43) == 63
    for name in ("n" * 44, "a.b"):
        assert decide(facts(resource=resource(name=name))).reason == "NameUnusable"


def test_all_invalid_annotations_are_reported_together():
    annotations = {"osso.scheduler/rollback": "Maybe", "osso.scheduler/adopt": "yes", "osso.scheduler/plugins": "garbage"}
    decision = decide(facts(resource=resource(annotations=annotations)))
    assert decision.reason == "AnnotationInvalid"
    assert 'The annotation osso.scheduler/rollback is "Maybe"; it must be Automatic or Never.' in decision.message
    assert 'The annotation osso.scheduler/adopt is "yes"; it must be ' in decision.message
    assert "The annotation osso.scheduler/plugins cannot be used: " in decision.message


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("kubernetes-version", "garbage", "garbage is no release: write for example 1.31 or openshift-4.18."),
        ("kubernetes-version", "1", "1 is no release"),
        ("plugins", "garbage", "plugins: 'garbage' is no set of plugins: write in-tree"),
        ("plugins", "{extra: [{name: A}]}", "plugins.extra[0].points: must be"),
        ("plugins", "{base: in-tree, more: 1}", "plugins: there is no field 'more'"),
    ],
)
def test_a_malformed_annotation_about_the_image_is_reported(key, value, said):
    decision = decide(facts(resource=resource(annotations={f"osso.scheduler/{key}": value})))
    assert (decision.action, decision.reason) == ("hold", "AnnotationInvalid")
    assert f"The annotation osso.scheduler/{key} cannot be used: {said}" in decision.message


@pytest.mark.parametrize(
    ("version", "plugins"),
    [
        *(("1.99", ""), ("openshift-9.9", "in-tree"), ("1.31", "{extra: [{name: A, points: [laterPoint]}]}"), ("1.31", "")),
        *(("", "scheduler-plugins"), ("", "{extra: [{name: NodeAffinity, points: [score]}]}")),
    ],
)
def test_an_image_newer_than_the_tables_does_not_block_the_rollout(version, plugins):
    annotations = {"osso.scheduler/kubernetes-version": version, "osso.scheduler/plugins": plugins}
    assert decide(facts(resource=resource(annotations=annotations))).action == "apply"


def test_invalid_overrides_block_the_rollout():
    decision = decide(facts(override_problems=("spec.unsupportedConfigOverrides.args is 1.",)))
    assert (decision.action, decision.reason) == ("hold", "OverridesInvalid")


@pytest.mark.parametrize(
    ("topology", "eligible", "replicas"),
    [
        ({}, None, 1),
        ({"mode": "SingleReplica"}, None, 1),
        ({"mode": "HighlyAvailable"}, ["a"], 1),
        ({"mode": "HighlyAvailable"}, ["a", "b", "c", "d"], 3),
        ({"mode": "HighlyAvailable", "highlyAvailableTopology": {"maxReplicas": 6}}, list("abcde"), 5),
        ({"mode": "HighlyAvailable", "highlyAvailableTopology": {"maxReplicas": 2}}, list("abc"), 2),
    ],
)
def test_replicas_follow_the_topology_and_the_eligible_nodes(topology, eligible, replicas):
    assert decide(facts(resource=resource(topology=topology), eligible=eligible)).replicas == replicas


def test_without_a_node_nothing_changes():
    topology = {"mode": "HighlyAvailable", "highlyAvailableTopology": {"nodeSelector": {"pool": "none"}}}
    wanted = resource(topology=topology)
    decision = decide(facts(resource=wanted, eligible=[]))
    assert (decision.action, decision.reason) == ("hold", "NoNodeMatches")
    assert "pool=none" in decision.message
    kept = decide(facts(resource=wanted, eligible=[], memory=memory(OLD), deployment=serving(OLD, replicas=2)))
    assert (kept.action, kept.rollout, kept.replicas) == ("apply", OLD, 2)


def test_old_configurations_are_pruned_only_when_this_one_is_available():
    assert decide(facts(deployment=serving(NEW))).prune is True
    assert decide(facts(deployment=deployment(NEW))).prune is False
    assert decide(facts(deployment=serving(OLD))).prune is False
    assert decide(facts()).prune is False


def test_an_available_rollout_is_remembered_on_its_secret():
    assert decide(facts()).secret["annotations"] == {}
    secret = decide(facts(deployment=serving(NEW))).secret
    assert rollouts.read_memory([stored(secret)]).served == NEW
    again = decide(facts(deployment=serving(NEW), memory=memory(NEW))).secret
    assert again["annotations"][rollouts.SERVED_AT] == "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("config", "reason"),
    [(replace(CONFIG, valid=False), "ConfigInvalid"), (None, "ConfigMapMissing")],
)
def test_the_last_available_rollout_is_kept_with_its_secret(config, reason):
    for live in (serving(OLD), None):
        decision = decide(facts(config=config, deployment=live, memory=memory(OLD)))
        assert (decision.action, decision.reason, decision.rollout) == ("apply", reason, OLD)
        assert decision.is_kept
        assert decision.secret["data"]
    # A newer one that was valid and has not come to serve yet is left alone.
    assert decide(facts(config=config, deployment=deployment(NEW), memory=memory(OLD))).action == "hold"


@pytest.mark.parametrize(
    ("live", "failure"),
    [(deployment(NEW), CRASHING), (deployment(NEW, conditions=OVERDUE, updatedReplicas=1), None)],
    ids=["crashes", "deadline"],
)
def test_a_failed_rollout_is_rolled_back_to_the_last_available_one(live, failure):
    given = {"deployment": live, "failure": failure, "memory": memory(OLD)}
    decision = decide(facts(**given))
    assert (decision.action, decision.reason, decision.rollout, decision.desired) == ("apply", "RolledBack", OLD, NEW)
    assert "configuration old" in decision.message
    if failure:
        assert "no kind" in decision.message
    never = resource(annotations={"osso.scheduler/rollback": "Never"})
    assert decide(facts(**given, resource=never)).rollout == NEW
    assert decide(facts(**{**given, "memory": rollouts.Memory()})).rollout == NEW


def test_a_failure_is_remembered_while_another_problem_exists():
    failed = {"id": rollouts.identity(NEW), "reason": "CrashLoopBackOff", "message": "m", "retry": ""}
    given = {"deployment": serving(OLD), "memory": memory(OLD, failed)}
    gone = decide(facts(config=None, **given))
    assert json.loads(gone.secret["annotations"][rollouts.FAILED]) == failed
    # And a rollout that is failing is not left alone for it.
    failing = decide(facts(config=None, deployment=deployment(NEW), failure=CRASHING, memory=memory(OLD)))
    assert (failing.action, failing.reason, failing.rollout) == ("apply", "ConfigMapMissing", OLD)


def test_accepted_image_that_is_removed_is_missed():
    accepted = {"type": "ConfigValid", "status": "True", "reason": "ImageAccepts"}
    wanted = resource(schedulerImage="", status={"conditions": [accepted]})
    assert decide(facts(resource=wanted, config=UNKNOWN)).reason == "FieldMissing"


def test_one_crash_is_no_failure():
    once = SimpleNamespace(reason="Error", message="m", crashes=1, pod="p")
    assert decide(facts(deployment=deployment(NEW), failure=once, memory=memory(OLD))).rollout == NEW


def test_a_rollback_stays_until_something_changes():
    decided = decide(facts(deployment=deployment(NEW), failure=CRASHING, memory=memory(OLD)))
    kept = rollouts.read_memory([stored(decided.secret)])
    settled = {"deployment": serving(OLD), "memory": kept}
    again = decide(facts(**settled))
    assert (again.reason, again.rollout) == ("RolledBack", OLD)
    assert again.secret["annotations"] == decided.secret["annotations"]
    for changed in ({"config": replace(CONFIG, hash="newer")}, {"resource": resource(annotations={"osso.scheduler/retry": "1"})}):
        assert decide(facts(**settled, **changed)).reason == "AsExpected"


def test_the_last_available_rollout_is_restored_from_the_config_map():
    """As the copy on the Deployment remembers it."""
    served = {**NEW, "image": "image:0"}
    failed = {"id": rollouts.identity(NEW), "reason": "CrashLoopBackOff", "message": "m", "retry": ""}
    given = {"deployment": serving(served), "memory": rollouts.Memory(None, served, failed)}
    again = decide(facts(**given))
    assert (again.action, again.reason, again.rollout) == ("apply", "RolledBack", served)
    assert json.loads(again.secret["annotations"][rollouts.FAILED]) == json.loads(again.annotations[rollouts.FAILED]) == failed
    # Nothing is known of another text, or nothing fills its placeholders.
    unfilled = Source(problem="there is no Prometheus", names_ca=True)
    for changed in ({"config": None}, {"config": replace(CONFIG, hash="other", valid=False)}, {"source": unfilled}):
        held = decide(facts(**given, **changed, lost_config="lost"))
        assert held.action == "hold"
        assert "The Secret ns/lost with the configuration of the running scheduler was deleted" in held.message


def test_a_crash_of_a_rollout_that_was_available_causes_no_rollback():
    decision = decide(facts(deployment=deployment(NEW), failure=CRASHING, memory=memory(NEW)))
    assert (decision.reason, decision.rollout) == ("AsExpected", NEW)


def test_verdict_of_the_image_itself_stays_while_its_rollout_is_deployed():
    accepted = decide(facts(config=replace(UNKNOWN, image_answer=Answer(True)))).config_valid
    assert (accepted["status"], accepted["reason"]) == ("True", "ImageAccepts")
    before = resource(status={"conditions": [accepted]})
    wanted = requested_rollout(facts(config=UNKNOWN))
    assert decide(facts(resource=before, config=UNKNOWN, deployment=serving(wanted))).config_valid["reason"] == "ImageAccepts"
    assert decide(facts(resource=before, config=UNKNOWN, deployment=serving(OLD))).config_valid["reason"] == "ImageUnknown"


@pytest.mark.parametrize("live", [None, OLD])
def test_an_image_whose_rollout_has_served_accepts_the_configuration(live):
    """Its Deployment was deleted, or holds another rollout that fails."""
    wanted = requested_rollout(facts(config=UNKNOWN))
    given = {"config": UNKNOWN, "deployment": live and serving(live)}
    told = decide(facts(**given, memory=memory(wanted))).config_valid
    assert (told["status"], told["reason"]) == ("True", "ImageAccepts")
    assert "has already run with it" in told["message"]
    assert decide(facts(**given, memory=memory({**wanted, "image": "image:0"}))).config_valid["reason"] == "ImageUnknown"


@pytest.mark.parametrize(
    ("spec", "config", "status", "reason", "said"),
    [
        ({}, CONFIG, "True", "AsExpected", "Checked for Kubernetes 1.31 with scheduler-plugins."),
        ({}, UNKNOWN, "Unknown", "ImageUnknown", "osso.scheduler/kubernetes-version"),
        ({}, UNKNOWN, "Unknown", "ImageUnknown", "image:1 says nothing"),
        ({}, None, "Unknown", "ConfigMapMissing", "it is gone"),
        ({"schedulerConfig": ""}, None, "Unknown", "FieldMissing", "spec.schedulerConfig"),
        (
            {"schedulerConfig": "../x"},
            None,
            "Unknown",
            "ConfigMapNameInvalid",
            'spec.schedulerConfig is "../x", which cannot be the name of a ConfigMap',
        ),
        ({"managementState": "Unmanaged"}, replace(CONFIG, valid=False), "False", "ConfigInvalid", "ns/config"),
    ],
)
def test_the_condition_config_valid_shows_the_result_of_the_validation(spec, config, status, reason, said):
    condition = decide(facts(resource=resource(**spec), config=config, config_problem="it is gone")).config_valid
    assert (condition["type"], condition["status"], condition["reason"]) == ("ConfigValid", status, reason)
    assert said in condition["message"]


def test_a_config_map_that_is_no_text_exists():
    condition = decide(facts(config=None, config_problem="it cannot be read", config_unreadable=True)).config_valid
    assert (condition["status"], condition["reason"]) == ("Unknown", "ConfigMapUnreadable")


def test_flags_of_the_overrides_are_not_in_the_config_map():
    flag = Finding("error", "flag", "unknown flag: --nonexistent", line=1, column=1)
    other = Finding("error", "c", "is Pod", "kind", 4)
    said = decide(facts(config=replace(CONFIG, valid=False, findings=(flag,)))).config_valid["message"]
    assert said == "spec.unsupportedConfigOverrides.args: unknown flag: --nonexistent"
    said = decide(facts(config=replace(CONFIG, valid=False, findings=(flag, other)))).config_valid["message"]
    assert (
        said
        == "ConfigMap ns/config, key config.yaml: line 4: kind: is Pod; spec.unsupportedConfigOverrides.args: unknown flag: --nonexistent"
    )


@pytest.mark.parametrize("config", [CONFIG, UNKNOWN])
def test_warnings_are_in_the_condition_config_valid(config):
    warning = Finding("warning", "c", "old registry", hint="use the new one")
    condition = decide(facts(config=replace(config, findings=(warning,)))).config_valid
    assert condition["message"].endswith(" Warnings: old registry (use the new one)")


@pytest.mark.parametrize(
    ("path", "mounts", "is_missing"),
    [
        ("/etc/kube/config", [], True),
        ("/etc/kube/config", ["/etc/kube-other"], True),
        ("/etc/kube/config", ["/etc/kube/"], False),
        ("/etc/kube/config", ["/etc/kube/config"], False),
        ("", [], False),
        ([], [], False),
    ],
)
def test_a_kubeconfig_that_no_volume_contains_blocks_the_rollout(path, mounts, is_missing):
    """The scheduler would end at once, again and again."""
    config = replace(CONFIG, tree={"clientConnection": {"kubeconfig": path}})
    decision = decide(facts(config=config, overrides={"volumeMounts": [{"name": "v", "mountPath": mount} for mount in mounts]}))
    assert (decision.action, decision.reason) == (("hold", "ConfigInvalid") if is_missing else ("apply", "AsExpected"))
    assert ('clientConnection.kubeconfig is "/etc/kube/config", and no volume' in decision.message) is is_missing


def test_the_password_of_a_kubeconfig_that_is_a_url_is_not_shown():
    config = replace(CONFIG, tree={"clientConnection": {"kubeconfig": "https://me:planted@host/"}})
    message = decide(facts(config=config)).message
    assert 'clientConnection.kubeconfig is "https://********@host/", and no volume' in message


def test_the_rollout_that_a_resource_requests_has_all_its_fields():
    overrides = {"args": ["--x"], "nodeSelector": {"a": "1"}, "tolerations": [{"key": "t"}], "env": [{"name": "A"}]}
    rollout = requested_rollout(facts(overrides=overrides, serving_cert=True))
    flags, health = rollout.pop("flags"), rollout.pop("health")
    assert rollout == {
        "image": "image:1",
        "config": "abc",
        "placement": {"nodeSelector": {"a": "1"}, "tolerations": [{"key": "t"}]},
        "overrides": {"env": [{"name": "A"}]},
        "serving_cert": True,
    }
    assert flags
    assert health == rollouts.health("1.31", CONFIG.completed)
    assert requested_rollout(facts(config=replace(CONFIG, hash=None)))["config"] == ""


@pytest.mark.parametrize(
    ("image", "annotations", "given", "expected"),
    [
        ("registry.k8s.io/kube-scheduler:v1.37.2", {}, {}, {"command": ["/usr/local/bin/kube-scheduler"]}),
        ("registry.k8s.io/kube-scheduler:v1.37.2", {}, {"command": ["/own"]}, {"command": ["/own"]}),
        ("registry.k8s.io/scheduler-plugins/kube-scheduler:v0.29.7", {}, {}, {"command": ["/kube-scheduler"]}),
        # Rollouts that can have served with the command of the template stay the same.
        ("registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7", {}, {}, {}),
        ("registry.example.com/scheduler:7", {}, {}, {}),
        ("registry.example.com/kube-scheduler:v1.34.7", {"osso.scheduler/plugins": "scheduler-plugins"}, {}, {}),
    ],
)
def test_the_rollout_has_a_command_if_the_program_is_elsewhere(image, annotations, given, expected):
    wanted = facts(resource=resource(annotations=annotations, schedulerImage=image), overrides=given)
    assert requested_rollout(wanted)["overrides"] == expected


PRIVATE = "registry.example.com/team/kube-scheduler:v1.34.7"


def deployment_of(image, replicas):
    container = {"name": "secondary-scheduler", "image": image, "command": ["/bin/kube-scheduler"]}
    status = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": replicas, "readyReplicas": replicas}
    return {"metadata": {"generation": 1}, "spec": {"replicas": 1, "template": {"spec": {"containers": [container]}}}, "status": status}


@pytest.mark.parametrize(
    ("found", "is_kept"),
    [
        ({}, False),
        ({"memory": memory({**NEW, "image": PRIVATE})}, True),
        ({"memory": memory({**NEW, "image": PRIVATE, "overrides": {"command": ["/own"]}})}, False),
        ({"memory": memory(NEW)}, False),
        ({"deployment": deployment_of(PRIVATE, 1)}, True),
        ({"deployment": deployment_of(PRIVATE, 0)}, False),
        ({"deployment": deployment_of("registry.example.com/other:1", 1)}, False),
    ],
    ids=["new", "served", "served with a command", "another served", "taken over", "taken over without a pod", "another image taken over"],
)
def test_an_image_that_serves_with_the_program_of_the_template_keeps_it(found, is_kept):
    """A private build can be called as the image of Kubernetes is."""
    wanted = facts(resource=resource(schedulerImage=PRIVATE), **found)
    assert requested_rollout(wanted)["overrides"] == ({} if is_kept else {"command": ["/usr/local/bin/kube-scheduler"]})


def test_a_decision_to_apply_has_all_its_fields():
    decision = decide(facts())
    assert (decision.action, decision.reason, decision.message) == ("apply", "AsExpected", "")
    assert (decision.rollout, decision.desired, decision.replicas, decision.prune, decision.is_kept) == (NEW, NEW, 1, False, False)
    name = decision.secret["name"]
    assert name.startswith("secondary-scheduler-config-")
    assert decision.secret == {
        "name": name,
        "annotations": {},
        "data": {"config.yaml": CONFIG.text},
        "template": CONFIG.text,
    }


@pytest.mark.parametrize(
    ("given", "reason", "message"),
    [
        ({"resource": resource(managementState="Removed")}, "Removed", "spec.managementState is Removed."),
        (
            {"resource": resource(managementState="Unmanaged")},
            "Unmanaged",
            "spec.managementState is Unmanaged: the scheduler is left as it is.",
        ),
        (
            {"resource": resource(name="A")},
            "NameUnusable",
            (
                "metadata.name is A; it must be at most 43 lower-case letters, digits and hyphens, to fit into the names of what is created for it. "
                "Recreate it under another name."
            ),
        ),
        (
            {"resource": resource(schedulerConfig="")},
            "FieldMissing",
            "spec.schedulerConfig is empty; it must be the name of a ConfigMap.",
        ),
        (
            {"resource": resource(schedulerImage=None)},
            "FieldMissing",
            "spec.schedulerImage is empty; it must be the pull specification of the scheduler's image.",
        ),
        (
            {"resource": resource(annotations={"osso.scheduler/rollback": "no"})},
            "AnnotationInvalid",
            'The annotation osso.scheduler/rollback is "no"; it must be Automatic or Never.',
        ),
        ({"override_problems": ("a.", "b.")}, "OverridesInvalid", "a. b."),
        (
            {"config": None},
            "ConfigMapMissing",
            "ConfigMap ns/config, key config.yaml (spec.schedulerConfig): it does not exist.",
        ),
        (
            {"config": None, "config_problem": "no key.", "config_unreadable": True},
            "ConfigMapUnreadable",
            "ConfigMap ns/config, key config.yaml (spec.schedulerConfig): no key.",
        ),
        (
            {"config": replace(CONFIG, image_answer=Answer(False, "no such plugin"))},
            "ConfigInvalid",
            "ConfigMap ns/config, key config.yaml: the kube-scheduler in the image rejects it: no such plugin",
        ),
        ({"config": replace(CONFIG, starts=False)}, "ConfigInvalid", "ConfigMap ns/config, key config.yaml: "),
        (
            {"resource": resource(topology={"mode": "HighlyAvailable", "highlyAvailableTopology": {"nodeSelector": {}}}), "eligible": []},
            "NoNodeMatches",
            (
                "No node is ready, schedulable and free of taints that are not tolerated, with the labels (none) "
                "(spec.topology.highlyAvailableTopology.nodeSelector): what runs is left as it is. Label or uncordon a node, or change the selector."
            ),
        ),
    ],
)
def test_each_obstacle_has_its_reason_and_message(given, reason, message):
    decision = decide(facts(**given))
    assert (decision.reason, decision.message) == (reason, message)
    assert decision.is_kept is False


@pytest.mark.parametrize("rollback", ["Automatic", "Never", ""])
def test_known_values_of_the_rollback_annotation_are_accepted(rollback):
    assert decide(facts(resource=resource(annotations={"osso.scheduler/rollback": rollback}))).reason == "AsExpected"


SILENT = {"severity": "error", "code": "no-answer", "message": "It is silent", "hint": "see why", "metric": "", "nodes": []}
WARNED = {**SILENT, "severity": "warning"}
MISSING = {**SILENT, "code": "metric-missing", "message": "It has no metric", "hint": ""}
WATCHER = {**SILENT, "code": "load-watcher-unavailable"}
REQUIRED = resource(annotations={"osso.scheduler/monitoring-required": "true"})


@pytest.mark.parametrize(
    ("metrics", "wanted", "live", "message"),
    [
        (None, REQUIRED, None, ""),
        ([WARNED, WATCHER], REQUIRED, None, ""),
        ([MISSING], resource(), None, ""),
        ([MISSING], resource(annotations={"osso.scheduler/monitoring-required": "false"}), None, ""),
        (
            [MISSING, WARNED, WATCHER],
            REQUIRED,
            None,
            "It has no metric. There is no rollout without metrics, because of the annotation osso.scheduler/monitoring-required says.",
        ),
        (
            [MISSING, SILENT],
            resource(),
            None,
            "It has no metric. It is silent: see why. With such a Prometheus the scheduler would not even start, so it is not deployed.",
        ),
        ([SILENT], resource(), serving(NEW), ""),
        (
            [SILENT],
            resource(),
            serving(OLD),
            "It is silent: see why. With such a Prometheus the scheduler would not even start, so it is not deployed.",
        ),
    ],
)
def test_missing_metrics_block_the_rollout_if_the_scheduler_requires_them(metrics, wanted, live, message):
    decision = decide(facts(resource=wanted, metrics=metrics, deployment=live))
    assert (decision.reason, decision.message) == (("MetricsUnavailable", message) if message else ("AsExpected", ""))
    assert decision.desired == NEW


TEMPLATE = "kind: KubeSchedulerConfiguration\naddress: ${PROM_URL}\ntoken: ${PROM_TOKEN}\n"
FILLED = replace(CONFIG, text=TEMPLATE)


def test_placeholders_that_nothing_fills_are_an_obstacle():
    source = Source(problem="no Prometheus was found")
    decision = decide(facts(config=FILLED, source=source))
    assert (decision.action, decision.reason, decision.desired) == ("hold", "PrometheusUnknown", None)
    assert decision.message == "The settings for Prometheus are incomplete: no Prometheus was found."
    filled = decide(facts(config=FILLED, source=Source(url="https://p", token="t")))
    assert (filled.action, filled.secret["template"]) == ("apply", TEMPLATE)
    assert "${" not in filled.secret["data"]["config.yaml"]


def test_an_incomplete_source_does_not_change_the_kept_configuration():
    """The kept configuration stays as it was filled."""
    kept = memory(OLD, text="filled\n")
    kept.secret["data"][TEMPLATE_KEY] = base64.b64encode(TEMPLATE.encode()).decode()
    given = {"config": None, "memory": kept, "deployment": serving(OLD)}
    decision = decide(facts(**given, source=Source(problem="no token")))
    assert (decision.action, decision.reason, decision.rollout) == ("apply", "ConfigMapMissing", OLD)
    assert (decision.secret["name"], decision.prune) == (kept.secret["metadata"]["name"], False)
    assert decision.secret["data"] == {"config.yaml": "filled\n", TEMPLATE_KEY: TEMPLATE}
    filled = decide(facts(**given, source=Source(url="https://p", token="t"))).secret
    assert filled["data"]["config.yaml"] == TEMPLATE.replace("${PROM_URL}", "https://p").replace("${PROM_TOKEN}", "t")


@pytest.mark.parametrize(("url", "hides"), [("https://p", False), ("https://me:secret@p", True)])
def test_a_password_in_the_url_of_prometheus_is_not_logged(url, hides):
    with_url = replace(CONFIG, text="address: ${PROM_URL}\n")
    flags = requested_rollout(facts(config=with_url, source=Source(url=url, token="t")))["flags"]
    assert (flags != NEW["flags"]) is hides
    assert requested_rollout(facts(source=Source(url=url, token="t")))["flags"] == NEW["flags"], "no placeholder, no URL"


@pytest.mark.parametrize(
    ("tree", "hides"),
    [
        ({"profiles": [{"pluginConfig": [{"args": {"metricProvider": {"token": "${PROM_TOKEN}"}}}]}]}, False),
        ({"extenders": [{"urlPrefix": "https://a/${PROM_TOKEN}/x"}]}, True),
        ({"profiles": [{"pluginConfig": [{"args": {"names": ["${PROM_TOKEN}"]}}]}]}, True),
    ],
)
def test_the_token_of_prometheus_in_another_field_is_not_logged(tree, hides):
    """A token in its own field is logged only with the configuration as a whole, which has a level of its own."""
    flags = requested_rollout(facts(config=replace(CONFIG, tree=tree)))["flags"]
    assert "-v=1" in flags
    assert any(flag.startswith("--vmodule=") for flag in flags) is not hides


def test_a_failed_rollout_is_recorded_with_its_reason():
    for live, failure, reason, message in (
        (deployment(NEW), CRASHING, "CrashLoopBackOff", "pod p: no kind"),
        (deployment(NEW, conditions=OVERDUE, updatedReplicas=1), None, "ProgressDeadlineExceeded", "it was not ready in time"),
    ):
        wanted = resource(annotations={"osso.scheduler/retry": "2"})
        decision = decide(facts(resource=wanted, deployment=live, failure=failure, memory=memory(OLD)))
        record = json.loads(decision.secret["annotations"][rollouts.FAILED])
        assert record == {"id": rollouts.identity(NEW), "reason": reason, "message": message, "retry": "2"}
        assert decision.message == (
            f"The rollout of image image:1, configuration abc failed: {reason}: {message}. The last one that served replaces it: image image:1, "
            "configuration old. The failed one is tried again when this resource or its ConfigMap changes, or for a new value of the annotation "
            "osso.scheduler/retry."
        )


def test_the_message_mentions_that_a_rollback_keeps_the_configuration():
    served = {**NEW, "image": "image:0"}
    decision = decide(facts(deployment=deployment(NEW), failure=CRASHING, memory=memory(served)))
    assert "The last one that served replaces it: image image:0, the same configuration. " in decision.message


def test_a_record_ends_when_its_rollout_is_tried_again():
    failed = {"id": rollouts.identity(NEW), "reason": "r", "message": "m", "retry": ""}
    again = resource(annotations={"osso.scheduler/retry": "1"})
    decision = decide(facts(resource=again, deployment=serving(OLD), memory=memory(OLD, failed)))
    assert (decision.reason, decision.rollout) == ("AsExpected", NEW)
    assert rollouts.FAILED not in decision.secret["annotations"]


@pytest.mark.parametrize(("live", "replicas"), [(None, 1), (serving(OLD, replicas=0), 1), (serving(OLD, replicas=4), 4)])
def test_without_nodes_the_number_of_replicas_stays(live, replicas):
    topology = {"mode": "HighlyAvailable"}
    decision = decide(facts(resource=resource(topology=topology), eligible=[], memory=memory(OLD), deployment=live))
    assert (decision.action, decision.reason, decision.replicas) == ("apply", "NoNodeMatches", replicas)


def test_the_condition_shows_how_an_unknown_image_was_checked():
    message = decide(facts(config=UNKNOWN, image_error="it ended.")).config_valid["message"]
    assert message == (
        "Only release-independent checks are made, because image:1 says nothing. The image itself gave no answer: it ended. The annotations "
        "osso.scheduler/kubernetes-version (such as 1.31 or openshift-4.18) and osso.scheduler/plugins (in-tree, scheduler-plugins, or the plugins of a "
        "custom image) of this resource identify both."
    )
    accepted = decide(facts(config=replace(UNKNOWN, image_answer=Answer(True)))).config_valid
    assert accepted["message"] == "The kube-scheduler in the image accepts it. It was run because image:1 says nothing."
