# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a SecondaryScheduler asks for and what its status says (cluster/status.py)."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.status import decide, report

THEN, NOW = "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"
CONFIG = {"found": True, "valid": True, "findings": [], "hash": "abc"}


def resource(name="cluster", status=None, **spec):
    spec = {"schedulerConfig": "config", "schedulerImage": "image:1", **spec}
    made = {"metadata": {"name": name, "namespace": "ns", "generation": 3}, "spec": spec}
    return {**made, "status": status} if status else made


def deployment(replicas=1, generation=2, observed=2, conditions=(), **status):
    return {
        "metadata": {"name": "secondary-scheduler", "namespace": "ns", "generation": generation},
        "spec": {"replicas": replicas},
        "status": {"observedGeneration": observed, "conditions": list(conditions), **status},
    }


SERVING = deployment(updatedReplicas=1, availableReplicas=1, readyReplicas=1)
SERVING["status"]["replicas"] = 1


def conditions(status):
    return {condition["type"]: (condition["status"], condition["reason"]) for condition in status["conditions"]}


@pytest.mark.parametrize(
    ("spec", "config", "action", "reason"),
    [
        ({}, CONFIG, "apply", "AsExpected"),
        ({"managementState": ""}, CONFIG, "apply", "AsExpected"),
        ({"managementState": "Force"}, CONFIG, "apply", "AsExpected"),
        ({"managementState": "Removed"}, None, "remove", "Removed"),
        ({"managementState": "Unmanaged"}, CONFIG, "leave", "Unmanaged"),
        ({"schedulerImage": ""}, CONFIG, "hold", "FieldMissing"),
        ({"schedulerConfig": ""}, {"skipped": True}, "hold", "FieldMissing"),
        ({}, {"found": False, "reason": "gone"}, "hold", "ConfigMapMissing"),
        ({}, {"skipped": True}, "hold", "ConfigMapMissing"),
        ({}, {**CONFIG, "valid": False}, "hold", "ConfigInvalid"),
    ],
)
def test_decision(spec, config, action, reason):
    decision = decide(resource(**spec), config)
    assert (decision["action"], decision["reason"]) == (action, reason)


def test_message_names_field_and_remedy():
    assert "spec.schedulerImage" in decide(resource(schedulerImage=""), CONFIG)["message"]
    finding = {"severity": "error", "line": 4, "path": "kind", "message": "is Pod", "hint": "write KubeSchedulerConfiguration"}
    message = decide(resource(), {**CONFIG, "valid": False, "findings": [finding, {**finding, "severity": "warning", "message": "so so"}]})[
        "message"
    ]
    assert "line 4: kind: is Pod (write KubeSchedulerConfiguration)" in message
    assert "so so" not in message


def test_name_has_to_fit_into_the_names_of_what_is_made():
    assert decide(resource(name="n" * 43), CONFIG)["action"] == "apply"
    assert len("secondary-scheduler-" + "n" * 43) == 63
    for name in ("n" * 44, "a.b"):
        assert decide(resource(name=name), CONFIG)["reason"] == "NameUnusable"


def test_old_configurations_go_only_when_this_one_serves():
    decision = decide(resource(), CONFIG)
    served = report(resource(), decision, SERVING, THEN, "abc")
    rolling = report(resource(), decision, deployment(), THEN, "abc")
    assert decide(resource(status=served), CONFIG)["prune"] is True
    assert decide(resource(status=rolling), CONFIG)["prune"] is False
    assert decide(resource(status=served), {**CONFIG, "hash": "new"})["prune"] is False
    assert decision["prune"] is False


def test_serving():
    status = report(resource(), decide(resource(), CONFIG), SERVING, NOW, "abc")
    assert conditions(status) == {
        "Available": ("True", "AsExpected"),
        "Progressing": ("False", "AsExpected"),
        "Degraded": ("False", "AsExpected"),
    }
    assert status["observedGeneration"] == 3
    assert status["readyReplicas"] == 1
    assert status["generations"] == [
        {"group": "apps", "resource": "deployments", "namespace": "ns", "name": "secondary-scheduler", "lastGeneration": 2, "hash": "abc"}
    ]


@pytest.mark.parametrize(
    "live",
    [
        deployment(observed=1, replicas=1, updatedReplicas=1, availableReplicas=1),
        deployment(updatedReplicas=1),
        deployment(replicas=2, updatedReplicas=1, availableReplicas=2),
    ],
    ids=["spec not seen yet", "not available", "one of two updated"],
)
def test_rolling_out(live):
    live["status"]["replicas"] = live["spec"]["replicas"]
    status = report(resource(), decide(resource(), CONFIG), live, NOW, "abc")
    assert conditions(status)["Progressing"] == ("True", "RollingOut")


def test_old_replica_still_there_is_progress():
    live = deployment(updatedReplicas=1, availableReplicas=1)
    live["status"]["replicas"] = 2
    assert conditions(report(resource(), decide(resource(), CONFIG), live, NOW, "abc"))["Progressing"][0] == "True"


def test_invalid_configuration_keeps_what_runs():
    decision = decide(resource(), {**CONFIG, "valid": False})
    before = {"generations": [{"hash": "good"}]}
    status = report(resource(status=before), decision, SERVING, NOW)
    assert conditions(status)["Available"] == ("True", "AsExpected")
    assert conditions(status)["Degraded"] == ("True", "ConfigInvalid")
    assert status["generations"][0]["hash"] == "good"


def test_removed():
    status = report(resource(), decide(resource(managementState="Removed")), None, NOW)
    assert conditions(status) == {
        "Available": ("False", "Removed"),
        "Progressing": ("False", "Removed"),
        "Degraded": ("False", "AsExpected"),
    }
    assert (status["generations"], status["readyReplicas"]) == ([], 0)


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ({"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "m"}, "ProgressDeadlineExceeded"),
        ({"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "quota"}, "FailedCreate"),
    ],
)
def test_failed_rollout_is_degraded(condition, reason):
    status = report(resource(), decide(resource(), CONFIG), deployment(conditions=[condition]), NOW, "abc")
    assert conditions(status)["Degraded"] == ("True", reason)


def test_transition_time_moves_only_with_the_status():
    decision = decide(resource(), CONFIG)
    rolling = report(resource(), decision, deployment(), THEN, "abc")
    times = {c["type"]: c["lastTransitionTime"] for c in report(resource(status=rolling), decision, SERVING, NOW, "abc")["conditions"]}
    assert times == {"Available": NOW, "Progressing": NOW, "Degraded": THEN}
