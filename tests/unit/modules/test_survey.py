# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How scheduler_info judges what it read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.survey import Survey, is_operand, why_pending, why_unserved
from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.workload import Election

NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)
ELECTED = Election(True, "n", "lease")


def lease(holder="s-1_x", renewed="2026-11-20T11:59:58.123456Z", duration=15) -> dict:
    return {"spec": {"holderIdentity": holder, "renewTime": renewed, "leaseDurationSeconds": duration}}


@pytest.mark.parametrize(
    ("ready", "elected", "held", "serves", "says"),
    [
        (1, ELECTED, lease(), True, "s-1_x leads"),
        (2, ELECTED, lease(), True, "2 instances ready"),
        (0, ELECTED, lease(), False, "no instance is ready"),
        (0, Election(False, "", ""), None, False, "no instance is ready"),
        (1, Election(False, "", ""), None, True, "without leader election"),
        (1, ELECTED, None, False, "no Lease n/lease"),
        (1, ELECTED, lease(holder=""), False, "nobody holds"),
        (1, ELECTED, lease(holder="other-1_x"), False, "which other-1_x holds"),
        (1, ELECTED, lease(renewed="2026-11-20T11:59:36Z"), True, "leads"),
        (1, ELECTED, lease(renewed="2026-11-20T11:59:34Z"), False, "for 26 s"),
        (1, ELECTED, lease(renewed="2026-11-20T12:00:09Z"), True, "leads"),
        (1, ELECTED, lease(renewed="2026-11-20T11:58:00Z", duration=137), True, "leads"),
        (None, ELECTED, lease(), True, "can't be seen"),
        (None, ELECTED, None, None, "can't be seen"),
    ],
)
def test_serving(ready, elected, held, serves, says):
    serving, message = Survey(None, [], NOW)._serves(ready, elected, held, "s-")
    assert serving is serves
    assert says in message


def test_a_lease_that_may_not_be_read_proves_nothing():
    survey = Survey(None, [], NOW)
    survey.unknown.append("Lease n/lease: leases is forbidden")
    assert survey._serves(1, ELECTED, None, "s-")[0] is True
    assert survey._serves(None, ELECTED, None, "s-")[0] is None


def scheduler(name, serving) -> dict:
    return {
        "scheduler_names": [name],
        "kind": "Deployment",
        "namespace": "n",
        "name": "d",
        "serving": serving,
        "message": "broken",
    }


SCHEDULERS = [
    scheduler("good", True),
    scheduler("bad", False),
    scheduler("twice", False),
    scheduler("twice", True),
    scheduler("dim", None),
]


def pod(name, looked_at=False, **spec) -> dict:
    status = {"conditions": [{"type": "PodScheduled", "status": "False"}]} if looked_at else {}
    return {"metadata": {}, "spec": {"schedulerName": name, **spec}, "status": status}


@pytest.mark.parametrize(
    ("waiting", "seconds", "reason"),
    [
        (pod("none"), 0, "no scheduler serves the name none"),
        (pod("none", looked_at=True), 100, ""),  # by a scheduler that is not kube-scheduler
        (pod("good"), 29, ""),
        (pod("good"), 30, "has not looked at the pod for 30 s"),
        (pod("good", looked_at=True), 1000, ""),
        (pod("bad"), 0, "Deployment n/d: broken"),
        (pod("bad", looked_at=True), 0, "Deployment n/d: broken"),
        (pod("twice"), 0, ""),
        (pod("dim"), 0, ""),
        (pod("none", schedulingGates=[{"name": "g"}]), 0, ""),
        ({**pod("none"), "metadata": {"deletionTimestamp": "2026-11-20T12:00:00Z"}}, 0, ""),
    ],
)
def test_unserved_pods(waiting, seconds, reason):
    said = why_unserved(waiting, SCHEDULERS, seconds)
    assert bool(said) == bool(reason)
    assert reason in said


def aged(name, second, **spec) -> dict:
    """A pod of that name that was made at this second of the minute before NOW."""
    metadata = {"namespace": "n", "name": f"{name}-{second}", "creationTimestamp": f"2026-11-20T11:59:{second:02}Z"}
    return {**pod(name, looked_at=True, **spec), "metadata": metadata}


def test_pending_pods_with_those_first_that_nobody_looks_after():
    refused = aged("good", 40)
    refused["status"]["conditions"][0].update(reason="Unschedulable", message="0/3 nodes are available.")
    gone = aged("bad", 1)
    pods = [refused, aged("good", 20, schedulingGates=[{"name": "a"}, {"name": "b"}]), aged("bad", 30), gone]
    found = Survey(None, [], NOW).pending(pods, SCHEDULERS)
    assert [(one["name"], one["served"], one["pending_seconds"]) for one in found] == [
        ("bad-1", False, 59),
        ("bad-30", False, 30),
        ("good-20", True, 40),
        ("good-40", True, 20),
    ]
    assert "Deployment n/d: broken" in found[0]["reason"]
    assert found[2]["reason"] == "it waits at the scheduling gates a, b"
    assert found[3]["reason"] == "Unschedulable: 0/3 nodes are available."


def test_what_a_pod_waits_for_that_nobody_has_looked_at_yet():
    assert why_pending(pod("good")) == "its scheduler has not looked at it yet"
    assert why_pending({**pod("good"), "metadata": {"deletionTimestamp": "now"}}) == "it is being deleted"


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"ownerReferences": [{"uid": "other"}, {"uid": "u"}]}, True),
        ({"ownerReferences": [{"uid": "other"}]}, False),
        ({"labels": {"app.kubernetes.io/name": "secondary-scheduler", "app.kubernetes.io/instance": "cluster"}}, True),
        ({"labels": {"app.kubernetes.io/name": "secondary-scheduler", "app.kubernetes.io/instance": "b"}}, False),
        ({}, False),
    ],
)
def test_which_deployment_belongs_to_a_resource(metadata, expected):
    assert is_operand({"metadata": metadata}, {"metadata": {"name": "cluster", "uid": "u"}}) is expected
