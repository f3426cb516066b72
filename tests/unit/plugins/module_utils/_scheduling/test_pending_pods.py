# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why pods have no node, and which schedulers get in each other's way."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pending_pods import (
    Claims,
    conflicts,
    conflicts_of_workloads,
    groups,
    owner,
    pod_groups,
    why_pending,
    why_unserved,
)
from support.running_schedulers import SCHEDULERS, scheduler

GATED = "SchedulingGated"
UNSCHEDULABLE = {
    "type": "PodGroupInitiallyScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "too few",
}
POD_GROUPS = pod_groups(
    [
        {"metadata": {"namespace": "n", "name": "fits"}, "status": {"conditions": [{**UNSCHEDULABLE, "status": "True"}]}},
        {"metadata": {"namespace": "n", "name": "big"}, "status": {"conditions": [UNSCHEDULABLE]}},
    ]
)
CLAIMS = Claims(frozenset({("n", "there"), ("n", "going")}), frozenset({("n", "going")}))


def pod(name, reported="", status=None, **spec) -> dict:
    """reported: the reason of its condition PodScheduled."""
    conditions = [{"type": "PodScheduled", "status": "False", "reason": reported, "message": "0/3 nodes."}] if reported else []
    return {
        "metadata": {"namespace": "n"},
        "spec": {"schedulerName": name, **spec},
        "status": {"conditions": conditions, **(status or {})},
    }


def claiming(status=None, **entry) -> dict:
    return pod("good", status=status, resourceClaims=[{"name": "gpu", **entry}])


@pytest.mark.parametrize(
    ("waiting", "seconds", "reason"),
    [
        (pod("none"), 0, "no running scheduler has the name none"),
        (
            pod("none", "Unschedulable"),
            100,
            "no running scheduler has the name none any more; the last one reported: Unschedulable: 0/3 nodes.",
        ),
        (pod("none", GATED), 100, "no running scheduler has the name none"),
        (pod("good"), 29, ""),
        (pod("good"), 30, "has not processed the pod for at least 30 s"),
        (pod("good", GATED), 30, "has not processed the pod for at least 30 s"),
        (pod("good", "Unschedulable"), 1000, ""),
        (pod("bad"), 0, "Deployment n/d: broken"),
        (pod("bad", "Unschedulable"), 0, "Deployment n/d: broken"),
        (pod("twice"), 0, ""),
        (pod("dim"), 0, ""),
        (pod("none", schedulingGates=[{"name": "g"}]), 0, ""),
        ({**pod("none"), "metadata": {"deletionTimestamp": "2026-11-20T12:00:00Z"}}, 0, ""),
        (claiming(resourceClaimName="none"), 1000, ""),
        (claiming(resourceClaimName="there"), 1000, "has not processed the pod for at least 30 s"),
        (pod("good", workloadRef={"name": "w"}), 1000, ""),
    ],
)
def test_the_reason_why_no_scheduler_places_a_pod_is_reported(waiting, seconds, reason):
    said = why_unserved(waiting, SCHEDULERS, seconds, claims=CLAIMS)
    assert bool(said) == bool(reason)
    assert reason in said


def test_a_condition_of_a_scheduler_that_was_not_searched_everywhere_decides_nothing():
    assert why_unserved(pod("none", "Unschedulable"), SCHEDULERS, 100, complete=False) is None
    for waiting in (pod("none", GATED), pod("none")):
        said = why_unserved(waiting, SCHEDULERS, 100, complete=False)
        assert said == "no scheduler with the name none was found in the namespaces that were searched, and none has reported on the pod"


@pytest.mark.parametrize(
    ("waiting", "reason"),
    [
        (pod("good"), "its scheduler has not processed it yet"),
        (pod("good", GATED), "its scheduler has not processed it yet"),
        ({**pod("good"), "metadata": {"deletionTimestamp": "now"}}, "it is being deleted"),
        (pod("good", "Unschedulable"), "Unschedulable: 0/3 nodes."),
        (
            pod("good", "Unschedulable", {"nominatedNodeName": "worker-1"}),
            (
                "it is nominated for the node worker-1: it waits for preempted pods to end, or for other pods of its group, a volume or a device; "
                "before, its scheduler reported: Unschedulable: 0/3 nodes."
            ),
        ),
        (claiming(resourceClaimName="none"), "it waits in the queue of its scheduler for the ResourceClaim none, which does not exist"),
        (claiming(resourceClaimName="going"), "it waits in the queue of its scheduler for the ResourceClaim going, which is being deleted"),
        (claiming(resourceClaimName="there"), "its scheduler has not processed it yet"),
        (
            claiming(resourceClaimTemplateName="t"),
            "it waits in the queue of its scheduler for the ResourceClaim of its ResourceClaimTemplate t, which is not created yet",
        ),
        (
            claiming({"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "none"}]}, resourceClaimTemplateName="t"),
            "it waits in the queue of its scheduler for the ResourceClaim none, which does not exist",
        ),
        (claiming({"resourceClaimStatuses": [{"name": "gpu"}]}, resourceClaimTemplateName="t"), "its scheduler has not processed it yet"),
        (pod("good", workloadRef={"name": "w"}), "it waits in the queue of its scheduler for the other pods of its group"),
        (
            pod("good", schedulingGroup={"podGroupName": "none"}),
            "it waits in the queue of its scheduler for the PodGroup none, which does not exist",
        ),
        (
            pod("good", schedulingGroup={"podGroupName": "fits"}),
            "it waits in the queue of its scheduler for the other pods of its PodGroup fits",
        ),
        (
            pod("good", schedulingGroup={"podGroupName": "big"}),
            "it waits in the queue of its scheduler for the other pods of its PodGroup big, of which its scheduler reports: Unschedulable: too few",
        ),
    ],
)
def test_the_reason_names_the_cause_of_a_pending_pod(waiting, reason):
    assert why_pending(waiting, CLAIMS, POD_GROUPS) == reason


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("too few", "Unschedulable: too few"),
        ("pod group is unschedulable, Unschedulable: too few", "Unschedulable: pod group is unschedulable, Unschedulable: too few"),
        ("0/2 nodes", "Unschedulable: 0/2 nodes; of the PodGroup big its scheduler reports: Unschedulable: too few"),
    ],
)
def test_the_reason_of_a_pod_contains_the_report_of_its_group_only_once(message, reason):
    waiting = pod("good", schedulingGroup={"podGroupName": "big"})
    waiting["status"] = {"conditions": [{**UNSCHEDULABLE, "type": "PodScheduled", "message": message}]}
    assert why_pending(waiting, None, POD_GROUPS) == reason


def test_a_pod_group_that_cannot_be_read_may_exist():
    waiting = pod("good", schedulingGroup={"podGroupName": "g"})
    assert why_pending(waiting) == "it waits in the queue of its scheduler for the other pods of its PodGroup g"


def test_claims_that_cannot_be_read_may_be_the_reason():
    assert "which can't be read" in why_pending(claiming(resourceClaimName="a"), Claims(known=False))


@pytest.mark.parametrize(
    ("controller", "labels", "expected"),
    [
        (("ReplicaSet", "web-7c9b7f6d5"), {"pod-template-hash": "7c9b7f6d5"}, "Deployment/web"),
        (("ReplicaSet", "web"), {}, "ReplicaSet/web"),
        (("StatefulSet", "db"), {}, "StatefulSet/db"),
        (("Job", "nightly-29926698"), {}, "CronJob/nightly"),
        (("Job", "nightly-29826698"), {}, "Job/nightly-29826698"),
        (("Job", "nightly-20261125"), {}, "Job/nightly-20261125"),
        (("Job", "once"), {}, "Job/once"),
        (None, {}, ""),
    ],
)
def test_the_owner_of_a_pod_is_its_topmost_workload(controller, labels, expected):
    owners = [{"kind": "Node", "name": "x"}]
    if controller:
        owners.append({"kind": controller[0], "name": controller[1], "controller": True})
    metadata = {"labels": labels, "ownerReferences": owners, "creationTimestamp": "2026-11-25T10:18:00Z"}
    assert owner({"metadata": metadata}) == expected


def pending(name, of="Deployment/web", reason="r", seconds=1, served=True) -> dict:
    entry = {"scheduler_name": "s", "namespace": "n", "name": name, "owner": of, "pending_seconds": seconds, "served": served}
    return {**entry, "reason": reason}


def test_pods_of_one_owner_and_reason_are_one_group():
    found = groups(
        [
            *(pending(f"web-{index}", seconds=index) for index in range(500)),
            pending("web-x", reason="another"),
            pending("alone", of=""),
            pending("alone-2", of=""),
        ]
    )
    assert [(group["pods"], group["name"], group["pending_seconds"]) for group in found] == [
        (500, "web-499", 499),
        (1, "web-x", 1),
        (1, "alone", 1),
        (1, "alone-2", 1),
    ]


@pytest.mark.parametrize(
    ("schedulers", "expected"),
    [
        ([scheduler("a", True, "x"), scheduler("a", True, "y")], ["Deployment n/x", "Deployment n/y"]),
        ([scheduler("a", True, "x"), scheduler("a", None, "y")], None),
        ([scheduler("a", True, "x", lease="1"), scheduler("a", True, "y", lease="2")], ["Deployment n/x", "Deployment n/y"]),
        ([scheduler("a", True, "x", lease="1"), scheduler("a", True, "y", lease="1")], None),
        ([scheduler("a", True, "x"), scheduler("a", False, "y")], None),
        ([scheduler("a", True, "x"), scheduler("b", True, "y")], None),
        ([scheduler("a", True, "x", ready=2, elects=False)], ["Deployment n/x"]),
        ([scheduler("a", True, "x", ready=2, lease="1")], None),
    ],
)
def test_schedulers_with_the_same_name_and_no_common_lease_conflict(schedulers, expected):
    found = conflicts(schedulers)
    assert [one["schedulers"] for one in found] == ([expected] if expected else [])
    assert all(place in one["message"] for one in found for place in one["schedulers"])


def test_names_that_schedulers_share_are_those_of_two_workloads():
    """Right after a rollout, two instances of one Deployment may run."""
    both = [scheduler("a", True, "x"), scheduler("a", True, "y")]
    assert conflicts_of_workloads([*both, scheduler("b", True, "z")], "a") == conflicts(both)
    assert conflicts_of_workloads(both, "b") == []
    assert conflicts_of_workloads([scheduler("a", True, "x", ready=2, elects=False)], "a") == []
