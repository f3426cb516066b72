# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the status says after a reconcile (operand/status.py)."""

from __future__ import annotations

import heapq
import json
from bisect import insort
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import jinja2
import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import readiness
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import PERIOD_ANNOTATION
from ansible_collections.osso.scheduler.plugins.module_utils._operand import rollout as rollouts
from ansible_collections.osso.scheduler.plugins.module_utils._operand.decision import decide, requested_rollout
from ansible_collections.osso.scheduler.plugins.module_utils._operand.status import Outcome, backoff, next_look, report, unchanged_for
from support.operand import CONFIG, NOW, THEN, deployment, facts, memory, resource, serving

NEW = requested_rollout(facts())
TEMPLATES = Path(__file__).parents[5] / "roles/secondary_scheduler/templates"


def outcome(**given):
    about = given.pop("facts", None) or facts(deployment=given.get("deployment"))
    return Outcome(**{"resource": about.resource, "decision": decide(about), "now": NOW, "deployment": about.deployment, **given})


def conditions(status):
    return {condition["type"]: (condition["status"], condition["reason"]) for condition in status["conditions"]}


def test_an_available_scheduler_has_all_conditions_as_expected():
    status = report(outcome(deployment=serving(NEW), names=("batch",)))
    assert conditions(status) == {
        "Available": ("True", "AsExpected"),
        "Progressing": ("False", "AsExpected"),
        "Degraded": ("False", "AsExpected"),
        "ConfigValid": ("True", "AsExpected"),
        "Upgradeable": ("True", "AsExpected"),
        "SchedulerNamesUnique": ("True", "AsExpected"),
    }
    assert (status["observedGeneration"], status["readyReplicas"], status["schedulerNames"]) == (3, 1, ["batch"])
    assert status["generations"] == [
        {"group": "apps", "resource": "deployments", "namespace": "ns", "name": "secondary-scheduler", "lastGeneration": 2, "hash": "abc"}
    ]


@pytest.mark.parametrize(
    "live",
    [
        deployment(NEW, observed=1, replicas=1, updatedReplicas=1, availableReplicas=1),
        deployment(NEW, updatedReplicas=1),
        deployment(NEW, replicas=2, updatedReplicas=1, availableReplicas=2),
    ],
    ids=["spec not seen yet", "not available", "one of two updated"],
)
def test_a_rollout_in_progress_is_checked_again_after_5_seconds(live):
    live["status"]["replicas"] = live["spec"]["replicas"]
    seen = outcome(deployment=live)
    assert conditions(report(seen))["Progressing"] == ("True", "RollingOut")
    assert next_look(seen, report(seen)) == "5s"


def test_an_old_replica_that_still_exists_means_progress():
    live = deployment(NEW, updatedReplicas=1, availableReplicas=1)
    live["status"]["replicas"] = 2
    assert conditions(report(outcome(deployment=live)))["Progressing"][0] == "True"


def test_a_paused_rollout_is_named_with_the_command_that_continues_it():
    live = deployment(NEW, updatedReplicas=0)
    live["spec"]["paused"] = True
    (message,) = (entry["message"] for entry in report(outcome(deployment=live))["conditions"] if entry["type"] == "Progressing")
    assert "kubectl rollout resume deployment/secondary-scheduler -n ns" in message


def test_a_removal_is_in_progress_until_all_objects_are_deleted():
    about = facts(resource=resource(managementState="Removed"), deployment=serving(NEW))
    seen = outcome(facts=about, removing="Deployment ns/x: held by pods")
    assert conditions(report(seen))["Progressing"] == ("True", "Removing")
    assert next_look(seen, report(seen)) == "1s"
    over = outcome(facts=about)
    assert (conditions(report(over))["Progressing"], next_look(over, report(over))) == (("False", "Removed"), "")


def test_an_invalid_configuration_degrades_and_stays_available():
    before = {"generations": [{"hash": "good"}]}
    about = facts(resource=resource(status=before), config=replace(CONFIG, valid=False), deployment=serving())
    status = report(outcome(facts=about))
    assert conditions(status)["Available"] == ("True", "AsExpected")
    assert conditions(status)["Degraded"] == ("True", "ConfigInvalid")
    assert conditions(status)["ConfigValid"] == ("False", "ConfigInvalid")
    assert conditions(status)["Upgradeable"] == ("False", "ConfigInvalid")
    messages = {entry["type"]: entry["message"] for entry in status["conditions"]}
    assert messages["Progressing"] == messages["ConfigValid"] == "See the condition Degraded."
    assert len(messages["Degraded"]) > len(messages["Progressing"])
    assert status["generations"][0]["hash"] == "good"


def test_a_removed_scheduler_is_unavailable_but_not_degraded():
    status = report(outcome(facts=facts(resource=resource(managementState="Removed"), config=None)))
    assert conditions(status)["Available"] == ("False", "Removed")
    assert conditions(status)["Progressing"] == ("False", "Removed")
    assert conditions(status)["Degraded"] == ("False", "AsExpected")
    assert ("generations" in status, status["readyReplicas"]) == (False, 0)


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ({"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "m"}, "ProgressDeadlineExceeded"),
        ({"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "quota"}, "FailedCreate"),
    ],
)
def test_failed_rollout_is_degraded(condition, reason):
    assert conditions(report(outcome(deployment=deployment(NEW, conditions=[condition], updatedReplicas=1))))["Degraded"] == (
        "True",
        reason,
    )


LATE = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "m"}
CRASH = SimpleNamespace(reason="CrashLoopBackOff", message="pod p: no kind", crashes=3, pod="p")
REFUSED = "the API server rejects it: quota"


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (lambda: outcome(error=REFUSED), REFUSED),
        (lambda: outcome(facts=facts(config=None, config_problem="it is lost", deployment=serving())), "it is lost"),
        (lambda: outcome(facts=facts(config=replace(CONFIG, valid=False))), "ConfigMap "),
        (lambda: outcome(deployment=deployment(NEW, conditions=[LATE], updatedReplicas=1)), "no progress for"),
        (lambda: outcome(deployment=deployment(NEW, conditions=[LATE], updatedReplicas=1), failure=CRASH), CRASH.message),
    ],
    ids=["not applied", "no ConfigMap", "invalid", "late", "crashed"],
)
def test_a_reason_is_given_only_in_the_condition_degraded(seen, told):
    messages = {entry["type"]: entry["message"] for entry in report(seen())["conditions"]}
    assert [kind for kind, message in messages.items() if told in message] == ["Degraded"]


@pytest.mark.parametrize(
    "newer", [deployment(NEW, conditions=[LATE], updatedReplicas=1), serving(NEW)], ids=["its deadline has passed", "it is complete"]
)
def test_a_rollout_that_ends_during_a_reconcile_is_checked_again_at_once(newer):
    """The change of a condition's value is no event for the operator. It is reported when it was decided on."""
    on_its_way = deployment(NEW, updatedReplicas=1)
    for decided_on, again, progressing in ((on_its_way, "1s", "True"), (newer, "", "False")):
        seen = outcome(deployment=decided_on, newer=newer)
        assert conditions(report(seen))["Progressing"][0] == progressing
        assert next_look(seen, report(seen)) == again


def test_the_last_message_of_a_pod_is_in_the_status():
    failure = SimpleNamespace(reason="ImagePullBackOff", message="pod p: no such image", crashes=0, pod="p")
    (degraded,) = (c for c in report(outcome(deployment=deployment(NEW), failure=failure))["conditions"] if c["type"] == "Degraded")
    assert (degraded["status"], degraded["reason"], degraded["message"]) == ("True", "ImagePullBackOff", "pod p: no such image")


def test_scheduler_that_crashes_later_is_degraded_and_rolls_nothing_out():
    live = serving(NEW)
    live["status"].update(availableReplicas=0, conditions=[{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}])
    failure = SimpleNamespace(reason="CrashLoopBackOff", message="pod p: panic", crashes=9, pod="p")
    status = report(outcome(facts=facts(deployment=live, failure=failure, memory=memory(NEW)), failure=failure))
    assert conditions(status)["Progressing"] == ("False", "CrashLoopBackOff")
    assert conditions(status)["Degraded"] == ("True", "CrashLoopBackOff")
    # One that was over without any pod, as after a scaling to 0, has still to be looked at.
    status = report(outcome(deployment=live, failure=failure))
    assert conditions(status)["Progressing"] == ("True", "RollingOut")


def test_a_rollback_is_reported_while_it_runs_and_when_it_is_over():
    old = requested_rollout(facts(config=replace(CONFIG, hash="old")))
    failure = SimpleNamespace(reason="CrashLoopBackOff", message="pod p: m", crashes=3, pod="p")
    about = facts(deployment=deployment(NEW), failure=failure, memory=memory(old))
    back = deployment(old, replicas=1)
    assert conditions(report(outcome(facts=about, deployment=back)))["Progressing"] == ("True", "RollingBack")
    status = report(outcome(facts=about, deployment=serving(old)))
    assert conditions(status)["Progressing"] == ("False", "RolledBack")
    assert conditions(status)["Degraded"] == ("True", "RolledBack")
    assert status["generations"][0]["hash"] == "old"


def test_transition_time_moves_only_with_the_status():
    rolling = report(outcome(deployment=deployment(NEW), now=THEN))
    about = facts(resource=resource(status=rolling), deployment=serving(NEW))
    times = {c["type"]: c["lastTransitionTime"] for c in report(outcome(facts=about))["conditions"]}
    assert {name for name, time in times.items() if time == NOW} == {"Available", "Progressing"}


def test_overrides_are_not_upgradeable():
    assert conditions(report(outcome(overridden=True)))["Upgradeable"] == ("False", "UnsupportedConfigOverrides")


def test_a_missing_requirement_of_a_plugin_is_reported_as_a_condition():
    missing = [{"plugin": "Coscheduling", "reason": "CRDMissing", "what": "PodGroup", "message": "PodGroup is missing."}]
    status = report(outcome(missing=missing))
    assert conditions(status)["PluginsReady"] == ("False", "CRDMissing")
    assert conditions(report(outcome(missing=[])))["PluginsReady"] == ("True", "AsExpected")


@pytest.mark.parametrize(
    ("about", "again"),
    [
        (facts(deployment=serving(NEW)), ""),
        (facts(resource=resource(topology={"mode": "HighlyAvailable"}), eligible=["a"], deployment=serving(NEW)), "30s"),
        (facts(resource=resource(managementState="Removed"), config=None), ""),
        (facts(resource=resource(managementState="Unmanaged", topology={"mode": "HighlyAvailable"})), ""),
    ],
)
def test_the_topology_decides_when_the_next_reconcile_is_due(about, again):
    seen = outcome(facts=about)
    assert next_look(seen, report(seen)) == again


MISSING = facts(config=None)


@pytest.mark.parametrize(
    ("given", "again"),
    [
        # A ConfigMap that is there and marked tells of its edits, whatever is wrong with it.
        ({"facts": MISSING}, ""),
        ({"facts": MISSING, "is_config_unwatched": True}, "10s"),
        ({"facts": facts(config=replace(CONFIG, valid=False))}, ""),
        ({"deployment": serving(NEW), "is_config_unwatched": True}, "10s"),
        ({"error": "quota"}, "10s"),
        ({"missing": [{"plugin": "a", "reason": "CRDMissing", "what": "b", "message": "c"}], "deployment": serving(NEW)}, "10s"),
        ({"deployment": serving(NEW), "metrics": []}, "120s"),
        # The more there are, the rarer: fifty take a fifth of a processor together.
        ({"facts": MISSING, "is_config_unwatched": True, "resources": 50}, "50s"),
        ({"deployment": serving(NEW), "metrics": [], "resources": 50}, "250s"),
        ({"deployment": serving(NEW), "metrics": [], "resources": 500}, "600s"),
        ({"deployment": deployment(NEW), "resources": 50}, "5s"),
    ],
)
def test_state_and_number_of_resources_decide_the_time_of_the_next_check(given, again):
    seen = outcome(**given)
    assert next_look(seen, report(seen)) == again


@pytest.mark.parametrize(("seconds", "again"), [(0, "10s"), (9, "10s"), (25, "25s"), (59, "59s"), (3600, "60s")])
def test_the_next_check_is_as_far_away_as_the_last_change(seconds, again):
    first = report(outcome(facts=MISSING, now=THEN))
    now = f"2026-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"
    about = facts(resource=resource(status=first), config=None)
    seen = outcome(facts=about, is_config_unwatched=True, now=now)
    assert next_look(seen, report(seen)) == again


def test_a_resource_is_checked_about_once_a_minute_over_a_year():
    """Of a resource that stays as it is: some checks in the first minute, one in each later minute."""
    age, looks = 0, 0
    while age < 365 * 86400:
        age, looks = age + backoff(age), looks + 1
        assert looks <= 4 or age > 60
    assert looks == pytest.approx(365 * 1440, rel=0.01)


@pytest.mark.parametrize("resources", [1, 2, 10, 50, 120, 1000])
def test_checks_of_many_resources_use_at_most_a_fifth_of_a_processor(resources):
    """The operator's own reconcile of each, every ten minutes, comes in addition."""
    second_of_cpu = 1
    settled = backoff(10**6, resources=resources)
    assert resources * second_of_cpu / settled <= max(0.2, resources * second_of_cpu / 600)
    assert settled <= 600


@pytest.mark.parametrize("time", ["", "yesterday", "2026-01-01T00:00:00+01:00", "2026-02-30T00:00:00Z"])
def test_an_invalid_transition_time_is_ignored(time):
    assert unchanged_for({"conditions": [{"lastTransitionTime": time}]}, NOW) == 0
    assert unchanged_for({"conditions": [{"lastTransitionTime": time}, {"lastTransitionTime": THEN}]}, NOW) == 3600
    assert unchanged_for({"conditions": []}, NOW) == 0


@pytest.mark.parametrize("crowd", [10, 50, 200])
def test_an_edit_does_not_wait_for_resources_that_are_checked_again(crowd):
    """A queue as the operator's, of two workers, with resources that nothing tells of, which broke all at once, for an hour."""
    seconds, workers = 1.1, [0.0, 0.0]
    edits = [(second, "edit") for second in range(300, 3600, 7)]
    waited, first = [], {}
    queue = [*((0.0, number) for number in range(crowd)), *edits]
    while queue and queue[0][0] < 3600:
        asked, which = queue.pop(0)
        end = max(asked, heapq.heappop(workers)) + seconds
        heapq.heappush(workers, end)
        if which == "edit":
            waited.append(end - asked)
        else:
            age = int(end - first.setdefault(which, end))
            insort(queue, (end + backoff(age, max(10, crowd), crowd), which), key=lambda entry: entry[0])
    assert len(waited) == len(edits)
    assert sorted(waited)[len(waited) * 95 // 100] <= 5


@pytest.mark.parametrize(("manager", "said"), [("", "by mutating admission"), ("kubectl-edit", "by field manager kubectl-edit")])
def test_a_field_that_others_keep_adding_is_reported(manager, said):
    added = {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns", "name": "it", "field": "spec.template.spec.hostNetwork"}
    status = report(outcome(deployment=serving(NEW), additions=({**added, "manager": manager},)))
    assert conditions(status)["PodTemplateAsDeclared"] == ("False", "FieldsAdded")
    messages = {entry["type"]: entry["message"] for entry in status["conditions"]}
    assert f"Deployment ns/it: spec.template.spec.hostNetwork, {said}." in messages["PodTemplateAsDeclared"]
    assert "the declared configuration" not in messages["Progressing"]


@pytest.mark.parametrize(("live", "said"), [('"b:1"', 'live "b:1"'), ("", "removed")])
def test_a_field_that_admission_replaces_is_reported(live, said):
    replaced = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "namespace": "ns",
        "name": "it",
        "field": "spec.template.spec.x",
        "manager": "",
    }
    status = report(outcome(deployment=serving(NEW), additions=({**replaced, "declared": '"a:1"', "live": live},)))
    assert conditions(status)["PodTemplateAsDeclared"] == ("False", "FieldsReplaced")
    messages = {entry["type"]: entry["message"] for entry in status["conditions"]}
    assert f'Deployment ns/it: spec.template.spec.x, declared "a:1", {said}.' in messages["PodTemplateAsDeclared"]
    assert "declared configuration" not in messages["Progressing"]


def told(**given):
    """Reason and message of each condition that is not AsExpected."""
    entries = report(outcome(**given))["conditions"]
    return {one["type"]: (one["status"], one["reason"], one["message"]) for one in entries if one["reason"] != "AsExpected"}


def failing(**status):
    live = deployment(NEW, conditions=[{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}], updatedReplicas=1)
    live["status"] |= status
    return live


def test_pods_of_the_earlier_rollout_are_not_counted_as_desired():
    live = deployment(NEW, updatedReplicas=1)
    live["status"] |= {"replicas": 2, "availableReplicas": 2}
    entries = {one["type"]: one["message"] for one in report(outcome(deployment=live))["conditions"]}
    assert entries["Available"] == "1 of 1 replicas are available."


def test_conditions_of_an_available_scheduler_have_their_messages():
    entries = {one["type"]: one["message"] for one in report(outcome(deployment=serving(NEW, replicas=2)))["conditions"]}
    assert entries["Available"] == "2 of 2 replicas are available."
    assert entries["Progressing"] == "All replicas run the declared configuration."
    assert entries["ConfigValid"] == "Checked for Kubernetes 1.31 with scheduler-plugins."


NO_REPLICA = ("False", "NoReplicaAvailable", "No replica of the scheduler is ready yet.")
NO_PROGRESS = "The rollout made no progress for 600 s."


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"Available": ("False", "NoDeployment", "There is no Deployment.")}),
        (
            {"deployment": deployment(NEW, updatedReplicas=1)},
            {"Available": NO_REPLICA, "Progressing": ("True", "RollingOut", "1 of 1 replicas updated, 0 available.")},
        ),
        (
            {"deployment": deployment(NEW, observed=1, updatedReplicas=1, availableReplicas=1, replicas=1)},
            {"Progressing": ("True", "RollingOut", "0 of 1 replicas updated, 1 available.")},
        ),
        (
            {"deployment": failing()},
            {
                "Available": NO_REPLICA,
                "Progressing": ("False", "ProgressDeadlineExceeded", "See the condition Degraded."),
                "Degraded": ("True", "ProgressDeadlineExceeded", NO_PROGRESS),
            },
        ),
        (
            {"deployment": serving(NEW), "error": "no"},
            {"Progressing": ("False", "ApplyFailed", "See the condition Degraded."), "Degraded": ("True", "ApplyFailed", "no")},
        ),
        (
            {"deployment": serving(NEW), "failure": SimpleNamespace(reason="Crash", message="m", crashes=1, pod="p")},
            {"Degraded": ("True", "Crash", "m")},
        ),
        (
            {"deployment": serving(NEW), "overridden": True},
            {
                "Upgradeable": (
                    "False",
                    "UnsupportedConfigOverrides",
                    "spec.unsupportedConfigOverrides is set: whether it fits a later release of the operator has to be checked first.",
                )
            },
        ),
        (
            {"deployment": serving(NEW), "missing": [{"reason": "One", "message": "a."}, {"reason": "Two", "message": "b."}]},
            {"PluginsReady": ("False", "One", "a. b.")},
        ),
    ],
)
def test_each_outcome_has_its_conditions_and_messages(given, expected):
    assert told(**given) == expected


@pytest.mark.parametrize(("fields", "message"), [({}, ""), ({"reason": "FailedCreate", "message": "quota"}, "quota")])
def test_pods_that_are_rejected_degrade_the_scheduler(fields, message):
    live = serving(NEW)
    live["status"]["conditions"] = [{"type": "ReplicaFailure", "status": "True", **fields}]
    assert told(deployment=live)["Degraded"] == ("True", fields.get("reason", "ReplicaFailure"), message)
    live["status"]["conditions"][0]["status"] = "False"
    assert told(deployment=live) == {}


def test_requirements_that_are_met_are_a_condition():
    entries = {one["type"]: one["message"] for one in report(outcome(missing=[], metrics=[]))["conditions"]}
    assert entries["PluginsReady"] == "The requirements of the enabled plugins are met."
    assert entries["MetricsAvailable"] == "Prometheus has what the enabled plugins need, for every node."
    assert {"PluginsReady", "MetricsAvailable", "PodTemplateAsDeclared"}.isdisjoint(conditions(report(outcome())))


def test_fields_that_others_added_are_reported_in_a_condition():
    about = {"namespace": "ns", "name": "s"}
    added = [{**about, "field": "a", "manager": "m"}, {**about, "field": "b", "manager": ""}]
    replaced = [{**about, "field": "c", "declared": "1", "live": "2"}, {**about, "field": "d", "declared": "3", "live": ""}]
    status, reason, message = told(deployment=serving(NEW), additions=(*added, *replaced))["PodTemplateAsDeclared"]
    assert (status, reason) == ("False", "FieldsAdded")
    assert ": Deployment ns/s: a, by field manager m; Deployment ns/s: b, by mutating admission. It is left there." in message
    assert ": Deployment ns/s: c, declared 1, live 2; Deployment ns/s: d, declared 3, removed. Change the policy" in message
    assert told(deployment=serving(NEW), additions=tuple(replaced))["PodTemplateAsDeclared"][1] == "FieldsReplaced"
    entries = {one["type"]: one["message"] for one in report(outcome(deployment=serving(NEW), additions=tuple(added)))["conditions"]}
    assert entries["Progressing"] == (
        "All replicas run the pod template of the Deployment, which others change: see the condition PodTemplateAsDeclared."
    )


def waited_for(status):
    """The state of each condition that the role secondary_scheduler waits for."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), undefined=jinja2.StrictUndefined)
    environment.filters["to_json"] = json.dumps
    items, checked = [{"name": "a", "namespace": "ns", "management_state": "Managed"}], {"results": [{"hash": "abc"}]}
    template = environment.get_template("wait_for.yaml.j2")
    entries = yaml.safe_load(template.render(secondary_scheduler_items=items, secondary_scheduler_checked=checked))
    live = {"metadata": {"generation": 3}, "status": status}
    return {entry["condition"]["type"]: readiness.condition(live, **entry["condition"]).state for entry in entries}


@pytest.mark.parametrize(
    ("given", "reason", "state"),
    [
        ({"config": replace(CONFIG, valid=False)}, "ConfigInvalid", readiness.FAILED),
        ({"config": replace(CONFIG, scheduler_names=("default-scheduler",))}, "DefaultSchedulerRefused", readiness.FAILED),
        ({"config": None, "config_unreadable": True}, "ConfigMapUnreadable", readiness.FAILED),
        ({"resource": resource(schedulerImage="")}, "FieldMissing", readiness.FAILED),
        ({"resource": resource(schedulerConfig="A")}, "ConfigMapNameInvalid", readiness.FAILED),
        ({"resource": resource(name="a.b")}, "NameUnusable", readiness.FAILED),
        ({"resource": resource(annotations={"osso.scheduler/plugins": "x"})}, "AnnotationInvalid", readiness.FAILED),
        ({"override_problems": ("a.",)}, "OverridesInvalid", readiness.FAILED),
        ({"config": None}, "ConfigMapMissing", readiness.PENDING),
        ({"eligible": []}, "NoNodeMatches", readiness.PENDING),
    ],
)
def test_the_role_waits_only_for_problems_that_can_end_without_an_edit(given, reason, state):
    status = report(outcome(facts=facts(**given)))
    assert conditions(status)["Degraded"] == ("True", reason)
    states = waited_for(status)
    assert states["Degraded"] == state
    # It is waited for first.
    assert (states["Progressing"] == readiness.FAILED) == (state == readiness.FAILED)


def test_the_role_does_not_wait_after_a_rollback():
    old = {**NEW, "image": "old:1"}
    failed = {"id": rollouts.identity(NEW), "reason": "CrashLoopBackOff", "message": "exit code 1", "retry": ""}
    about = facts(memory=memory(old, failed), deployment=serving(old))
    states = waited_for(report(outcome(facts=about)))
    assert (states["Progressing"], states["Degraded"]) == (readiness.FAILED, readiness.FAILED)


def test_a_misspelt_annotation_is_reported_and_blocks_nothing():
    about = facts(resource=resource(annotations={"osso.scheduler/retyr": "1"}), deployment=serving(NEW))
    assert told(facts=about) == {
        "AnnotationsKnown": (
            "False",
            "AnnotationUnknown",
            "The operator ignores annotations that it does not know: osso.scheduler/retyr (did you mean osso.scheduler/retry?). Correct or remove them.",
        )
    }


def test_the_hash_is_that_of_the_applied_configuration():
    about = facts(deployment=deployment(), config=None)
    assert "hash" not in report(outcome(facts=about))["generations"][0]
    kept = facts(deployment=deployment(), config=None, resource=resource(status={"generations": [{"hash": "h"}]}))
    assert report(outcome(facts=kept))["generations"][0]["hash"] == "h"
    assert "generations" not in report(outcome())


@pytest.mark.parametrize(
    ("age", "least", "resources", "expected"),
    [
        (0, 10, 1, 10),
        (10, 10, 1, 10),
        (11, 10, 1, 11),
        (60, 10, 1, 60),
        (61, 10, 1, 60),
        (61, 10, 13, 61),
        (66, 10, 13, 65),
        (9999, 10, 999, 600),
    ],
)
def test_the_time_until_the_next_check_grows_with_age_and_resources(age, least, resources, expected):
    assert backoff(age, least, resources) == expected


@pytest.mark.parametrize(
    ("period", "renew", "expected"),
    [
        ("0", 40_000, "40000s"),
        ("-5m", 40_000, "40000s"),
        ("24h", 40_000, "40000s"),
        ("24h", 86_400, ""),
        ("1m", 500, ""),
        ("x", 599, "599s"),
    ],
)
def test_a_token_is_renewed_in_time_with_every_reconcile_period(period, renew, expected):
    about = resource(annotations={PERIOD_ANNOTATION: period})
    seen = outcome(deployment=serving(NEW), resource=about, renew=renew)
    assert next_look(seen, report(seen)) == expected


AVAILABLE = {"mode": "HighlyAvailable"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ""),
        ({"renew": 600}, ""),
        ({"renew": 599}, "599s"),
        ({"renew": 0}, "1s"),
        ({"metrics": []}, "120s"),
        ({"metrics": [], "resources": 25}, "125s"),
        ({"metrics": [], "resources": 999}, "600s"),
        ({"resource": resource(topology=AVAILABLE)}, "30s"),
        ({"resource": resource(topology=AVAILABLE), "resources": 7}, "35s"),
        ({"is_config_unwatched": True}, "10s"),
        ({"is_config_unwatched": True, "resources": 11}, "11s"),
        ({"missing": [{"reason": "r", "message": "m"}]}, "10s"),
        ({"missing": []}, ""),
        ({"error": "no"}, "10s"),
    ],
)
def test_metrics_token_and_topology_decide_the_next_check_if_available(given, expected):
    seen = outcome(**{"deployment": serving(NEW), **given})
    assert next_look(seen, report(seen)) == expected
