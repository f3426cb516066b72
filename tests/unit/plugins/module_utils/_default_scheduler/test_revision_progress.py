# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When a rollout of OpenShift's default scheduler is over (F139)."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._default_scheduler.revision_progress import (
    conditions,
    degraded_reasons,
    evaluate,
)

WELL = {"Available": "True", "Progressing": "False", "Degraded": "False"}


def operator(**conditions):
    return {
        "status": {
            "conditions": [{"type": kind, "status": status, "reason": "AsExpected"} for kind, status in {**WELL, **conditions}.items()]
        }
    }


def scheduler(*revisions, latest=7, conditions=(), **failure):
    """Three nodes with these revisions; a pair is the present one and the one that is coming."""
    pairs = [one if isinstance(one, tuple) else (one, 0) for one in revisions]
    nodes = [{"nodeName": f"node-{number}", "currentRevision": now, "targetRevision": to} for number, (now, to) in enumerate(pairs, 1)]
    if failure:
        nodes[-1].update(failure)
    return {"status": {"latestAvailableRevision": latest, "nodeStatuses": nodes, "conditions": list(conditions)}}


def test_a_rollout_is_complete_when_all_nodes_have_the_revision():
    judged = evaluate(operator(), scheduler(7, 7, 7))
    assert (judged["complete"], judged["failing"], judged["message"]) == (True, "", "revision 7 is on all 3 nodes")
    assert evaluate(operator(), scheduler(7, 7, 7), after_revision=6)["complete"]


@pytest.mark.parametrize(
    ("cluster_operator", "kube_scheduler", "after", "says"),
    [
        # A change of which the operator has made no revision yet: everything looks well
        (operator(), scheduler(7, 7, 7), 7, "no revision after 7 yet"),
        (operator(), scheduler(7, (6, 7), 6), 0, "revision 7 is on 1 of 3 nodes, node-2 is getting 7 after 6"),
        (operator(Progressing="True"), scheduler(7, 7, 7), 0, "Progressing is True"),
        (operator(Degraded="True"), scheduler(7, 7, 7), 0, "Degraded is True"),
        (operator(Available="False"), scheduler(7, 7, 7), 0, "Available is False"),
        ({"status": {}}, scheduler(7, 7, 7), 0, "Available is Unknown"),
        (None, scheduler(7, 7, 7), 0, "no ClusterOperator"),
        (operator(), scheduler(), 0, "no node is known yet"),
        (operator(), {}, 0, "no revision after 0 yet"),
    ],
)
def test_an_incomplete_rollout_is_reported_with_the_reason(cluster_operator, kube_scheduler, after, says):
    judged = evaluate(cluster_operator, kube_scheduler, after)
    assert not judged["complete"]
    assert says in judged["message"]


def test_a_failing_rollout_is_reported_with_the_reason():
    judged = evaluate(operator(), scheduler(7, 7, 6, lastFailedRevision=7, lastFailedRevisionErrors=["no space left"]))
    assert judged["failing"] == "node-3 could not be updated to revision 7: no space left"
    # What failed before is no news once it worked, nor is an older revision's failure.
    assert evaluate(operator(), scheduler(7, 7, 7, lastFailedRevision=7))["failing"] == ""
    assert evaluate(operator(), scheduler(7, 7, 6, lastFailedRevision=5))["failing"] == ""
    broken = {
        "type": "TargetConfigControllerDegraded",
        "status": "True",
        "reason": "SynchronizationError",
        "message": 'profile "X" not recognized',
    }
    assert 'profile "X" not recognized' in evaluate(operator(), scheduler(7, 7, 7, conditions=[broken]))["failing"]
    assert degraded_reasons(scheduler(conditions=[broken])) == [
        'TargetConfigControllerDegraded (SynchronizationError): profile "X" not recognized'
    ]


def test_a_rollout_is_reported_with_each_node_and_each_reason_to_wait():
    conditions = [
        {"type": "Available", "status": "False", "reason": "NoPods", "message": "no pod\n"},
        {"type": "Progressing", "status": "True", "reason": "AsExpected", "message": "node-2 is at 6"},
        {"type": "Degraded", "status": "Unknown", "reason": ""},
    ]
    judged = evaluate(
        {"status": {"conditions": conditions}}, scheduler(7, (6, 7), (5, 6), lastFailedRevision=6, lastFailedReason="Slow"), 7
    )
    assert judged == {
        "complete": False,
        "failing": "",
        "message": "no revision after 7 yet; revision 7 is on 1 of 3 nodes, node-2 is getting 7 after 6, node-3 is getting 6 after 5; "
        "Available is False (NoPods): no pod; Progressing is True: node-2 is at 6; Degraded is Unknown",
        "revision": 7,
        "nodes": [
            {"name": "node-1", "revision": 7, "target": 0, "failed_revision": 0, "failure": ""},
            {"name": "node-2", "revision": 6, "target": 7, "failed_revision": 0, "failure": ""},
            {"name": "node-3", "revision": 5, "target": 6, "failed_revision": 6, "failure": "Slow"},
        ],
    }


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        ({"lastFailedRevisionErrors": ["a", "b"], "lastFailedReason": "Slow"}, "a; b"),
        ({"lastFailedRevisionErrors": [], "lastFailedReason": "Slow"}, "Slow"),
        ({}, "no reason given"),
    ],
)
def test_a_node_that_failed_is_reported_with_its_errors_or_its_reason(failure, told):
    judged = evaluate(operator(), scheduler(7, 7, 6, lastFailedRevision=7, **failure))
    assert judged["failing"] == f"node-3 could not be updated to revision 7: {told}"


def test_a_failure_of_the_operator_is_the_last_reason():
    broken = {"type": "TargetConfigControllerDegraded", "status": "True", "reason": "Bad", "message": "no configuration"}
    degraded = operator(Degraded="True")
    assert evaluate(degraded, scheduler(7, 7, 7))["failing"] == "Degraded is True"
    assert evaluate(degraded, scheduler(7, 7, 7, conditions=[broken]))["failing"] == (
        "TargetConfigControllerDegraded is True (Bad): no configuration"
    )
    failed = scheduler(7, 7, 6, conditions=[broken], lastFailedRevision=7, lastFailedRevisionErrors=["disk"])
    assert evaluate(degraded, failed)["failing"] == "node-3 could not be updated to revision 7: disk"
    healed = {**broken, "status": "False"}
    assert evaluate(operator(), scheduler(7, 7, 7, conditions=[healed]))["failing"] == ""
    assert evaluate(None, {"status": {"nodeStatuses": [{"nodeName": "n", "currentRevision": 3}]}})["failing"] == ""


def test_conditions_are_complaints_if_they_end_in_degraded_and_are_true():
    found = {
        "status": {
            "conditions": [
                {"type": "Degraded", "status": "True"},
                {"type": "NodeControllerDegraded", "status": "False", "message": "well"},
                {"type": "Progressing", "status": "True", "message": "on the way"},
                {"type": "StaticPodsDegraded", "status": "True", "reason": "R", "message": " m\n"},
            ]
        }
    }
    assert degraded_reasons(found) == ["Degraded", "StaticPodsDegraded (R): m"]
    assert degraded_reasons(None) == []
    assert conditions(found) == {
        "Degraded": "True",
        "NodeControllerDegraded": "False",
        "Progressing": "True",
        "StaticPodsDegraded": "True",
    }
    assert conditions(None) == {}
