# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ready or not, and why."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import readiness, timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.pod_failures import EventText
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.readiness import FAILED, PENDING, READY


def obj(kind, spec=None, generation=2, **status):
    return {
        "kind": kind,
        "metadata": {"name": "a", "generation": generation},
        "spec": spec or {},
        "status": {"observedGeneration": 2, **status},
    }


def one(type, status="True", **more):
    return {"type": type, "status": status, **more}


def test_a_condition_counts_only_with_the_expected_status_and_reason():
    live = obj("Thing", conditions=[one("Available", "True", reason="Up")])
    assert readiness.condition(live, "Available").state == READY
    assert readiness.condition(live, "Available", reason="Up").state == READY
    assert readiness.condition(live, "Available", reason="Down").state == PENDING
    assert readiness.condition(live, "Available", "False").state == PENDING


def test_a_condition_of_an_earlier_generation_does_not_count():
    live = obj("Thing", generation=3, conditions=[one("Available")])
    verdict = readiness.condition(live, "Available")
    assert verdict.state == PENDING
    assert "generation" in verdict.why
    live = obj("Thing", conditions=[one("Available", observedGeneration=1)])
    assert readiness.condition(live, "Available").state == PENDING


def test_a_condition_without_observed_generation_counts():
    live = obj("Thing", conditions=[one("Available")])
    del live["status"]["observedGeneration"]
    assert readiness.condition(live, "Available").state == READY


@pytest.mark.parametrize(
    "status", [{}, {"conditions": None}, {"conditions": "text"}, {"conditions": [{"type": "Other", "status": "True"}, 5]}]
)
def test_a_missing_condition_is_named(status):
    verdict = readiness.condition({"kind": "Thing", "metadata": {}, "status": status}, "Available")
    assert verdict.state == PENDING
    assert "Available is not reported" in verdict.why


def test_a_crd_whose_names_are_taken_will_not_be_established():
    live = obj("CustomResourceDefinition", conditions=[one("NamesAccepted", "False", message="taken"), one("Established", "False")])
    verdict = readiness.established(live)
    assert verdict.state == FAILED
    assert "taken" in verdict.why


@pytest.mark.parametrize(
    ("kind", "spec", "status"),
    [
        ("Deployment", {"replicas": 2}, {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}),
        ("Deployment", {"replicas": 0}, {}),
        ("DaemonSet", {}, {"desiredNumberScheduled": 3, "updatedNumberScheduled": 3, "numberAvailable": 3}),
        ("StatefulSet", {"replicas": 2}, {"updatedReplicas": 2, "availableReplicas": 2}),
        ("Job", {}, {"conditions": [one("Complete")]}),
    ],
)
def test_a_completed_rollout_is_ready(kind, spec, status):
    assert readiness.rollout(obj(kind, spec, **status)) == (READY, "")


@pytest.mark.parametrize(
    ("kind", "spec", "status", "why"),
    [
        (
            "Deployment",
            {"replicas": 2},
            {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 1},
            "2 of 2 replicas updated, 1 available",
        ),
        ("Deployment", {}, {"replicas": 2, "updatedReplicas": 1, "availableReplicas": 2}, "1 old ones left"),
        ("Deployment", {}, {"conditions": [one("ReplicaFailure", message="quota")]}, "quota"),
        ("DaemonSet", {}, {"desiredNumberScheduled": 3, "updatedNumberScheduled": 3, "numberAvailable": 2}, "2 available"),
        ("StatefulSet", {"replicas": 2}, {"updatedReplicas": 1, "availableReplicas": 2}, "1 of 2 replicas updated"),
        ("Job", {"completions": 2}, {"succeeded": 1}, "1 of 2 completions"),
        ("Deployment", {}, {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1}, "present generation"),
    ],
)
def test_an_incomplete_rollout_is_pending_with_a_reason(kind, spec, status, why):
    verdict = readiness.rollout(obj(kind, spec, **status))
    assert verdict.state == PENDING
    assert why in verdict.why


def test_the_deadline_of_an_earlier_rollout_does_not_fail_this_one():
    overdue = one("Progressing", "False", reason="ProgressDeadlineExceeded")
    assert readiness.rollout(obj("Deployment", conditions=[overdue], replicas=1)).state == PENDING
    assert readiness.rollout(obj("Deployment", conditions=[overdue], replicas=2, updatedReplicas=1)).state == FAILED


@pytest.mark.parametrize(
    ("kind", "condition"),
    [("Deployment", one("Progressing", "False", reason="ProgressDeadlineExceeded")), ("Job", one("Failed", reason="BackoffLimitExceeded"))],
)
def test_a_failed_rollout_is_reported_with_its_reason(kind, condition):
    verdict = readiness.rollout(obj(kind, conditions=[condition]))
    assert verdict.state == FAILED
    assert condition["reason"] in verdict.why


def pod(name, **status):
    return {"metadata": {"name": name}, "spec": {"schedulerName": "mine"}, "status": status}


def test_the_reasons_why_pods_do_not_run_are_reported():
    def waiting(reason, message=None, **more):
        return {"containerStatuses": [{"name": "main", "state": {"waiting": {"reason": reason, "message": message}}, **more}]}

    problems = readiness.pod_problems(
        [
            pod("a", **waiting("ImagePullBackOff", "not found")),
            pod("b", **waiting("ImagePullBackOff", "not found")),
            pod("c", **waiting("CrashLoopBackOff", lastState={"terminated": {"exitCode": 3, "message": "boom\n"}})),
            pod("d", conditions=[one("PodScheduled", "False", message="0/3 nodes are available")]),
            pod("e", **waiting("ContainerCreating")),
            pod("f", initContainerStatuses=[{"name": "init", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}]),
            pod("g", containerStatuses=[{"name": "main", "ready": False, "state": {"running": {}}}]),
            pod("h", containerStatuses=[{"name": "main", "ready": True, "state": {"running": {}}}]),
            pod("i", phase="Failed", reason="Evicted", message="disk"),
        ]
    )
    assert problems == [
        "2 pods such as a: container main is ImagePullBackOff: not found",
        "pod c: container main is CrashLoopBackOff; it ended with exit code 3: boom",
        "pod d: not scheduled by mine: 0/3 nodes are available",
        "pod f: container init ended with exit code 1: Error",
        "pod g: container main runs but is not ready",
        "pod i: Evicted: disk",
    ]


NOW = datetime(2026, 11, 24, tzinfo=UTC)


def ago(seconds):
    return timestamps.write(NOW - timedelta(seconds=seconds))


def ready_pod(seconds, restarts=0, probe=False, state=None, **metadata):
    """Its container was started ``seconds`` ago."""
    container = {"name": "c", "ready": True, "restartCount": restarts, "state": state or {"running": {"startedAt": ago(seconds)}}}
    spec = {"containers": [{"name": "c", **({"readinessProbe": {}} if probe else {})}]}
    return {**pod("a", containerStatuses=[container]), "spec": spec, "metadata": {"name": "a", **metadata}}


@pytest.mark.parametrize(
    ("live", "says"),
    [
        (ready_pod(8), "container c has no readiness probe and was started less than 10 s ago"),
        (ready_pod(-8), "container c has no readiness probe and was started less than 10 s ago"),
        (ready_pod(8, restarts=1), "container c was restarted once, the last time less than 60 s ago"),
        (ready_pod(50, restarts=4), "container c was restarted 4 times, the last time less than 60 s ago"),
        (ready_pod(50, restarts=4, probe=True), "container c was restarted 4 times, the last time less than 60 s ago"),
        (ready_pod(50, probe=True, state={"terminated": {"exitCode": 1}}), "container c does not run"),
        (ready_pod(10), ""),
        (ready_pod(1, probe=True), ""),
        (ready_pod(61, restarts=4), ""),
        (ready_pod(3600, restarts=1), ""),
        (ready_pod(8, deletionTimestamp=ago(1)), ""),
        (ready_pod(8, state={"running": {"startedAt": None}}), ""),
        ({**ready_pod(8), "status": {**ready_pod(8)["status"], "phase": "Succeeded"}}, ""),
        ({**ready_pod(8), "status": {**ready_pod(8)["status"], "phase": "Failed"}}, ""),
    ],
)
def test_a_pod_that_was_started_a_moment_ago_may_crash_again(live, says):
    assert readiness.unsteady(live, NOW) == says


@pytest.mark.parametrize(("seconds", "probe", "steady"), [(9, False, False), (10, False, True), (1, True, True)])
def test_a_deployment_without_a_probe_is_steady_only_after_10_seconds(seconds, probe, steady):
    template = {"spec": {"containers": [{"name": "c", **({"readinessProbe": {}} if probe else {})}]}}
    live = obj("Deployment", {"template": template}, conditions=[one("Available", lastTransitionTime=ago(seconds))])
    assert (readiness.newly_available(live, NOW) == "") is steady


def test_finalizers_and_contents_that_delay_a_deletion_are_named():
    def dying(kind="Thing", finalizers=(), **fields):
        return {"kind": kind, "metadata": {"name": "a", "deletionTimestamp": "t", "finalizers": list(finalizers)}, **fields}

    assert "finalizers example.com/a, example.com/b" in readiness.held_by(dying(finalizers=["example.com/a", "example.com/b"]))
    assert "belong to it" in readiness.held_by(dying(finalizers=["foregroundDeletion"]))
    namespace = dying("Namespace", spec={"finalizers": ["kubernetes"]})
    assert "content" in readiness.held_by(namespace)
    remaining = one("NamespaceFinalizersRemaining", reason="SomeFinalizersRemain", message="example.com/f in 1 resource instances")
    namespace["status"] = {"conditions": [remaining, one("NamespaceDeletionContentFailure", "False")]}
    assert "example.com/f in 1 resource instances" in readiness.held_by(namespace)
    assert "ContentFailure" not in readiness.held_by(namespace)
    again = dying()
    del again["metadata"]["deletionTimestamp"]
    assert "it was created again" in readiness.held_by(again)


@pytest.mark.parametrize(
    ("reason", "generation", "state"), [("ConfigInvalid", 1, FAILED), ("ConfigInvalid", 2, PENDING), ("CrashLoopBackOff", 1, PENDING)]
)
def test_a_final_reason_is_a_failure_once_it_is_about_this_generation(reason, generation, state):
    live = obj("Thing", conditions=[{**one("Degraded", "True"), "reason": reason, "message": "line 4: no such field"}])
    live["metadata"]["generation"], live["status"]["observedGeneration"] = generation, 1
    verdict = readiness.condition(live, "Degraded", "False", final_reasons=["ConfigInvalid"])
    assert verdict.state == state
    assert "line 4: no such field" in verdict.why


@pytest.mark.parametrize("period", ["garbage", "10", "", "1d"])
def test_a_condition_fails_with_an_invalid_reconcile_period(period):
    """ansible-operator stops at this annotation before any code of ours runs."""
    live = obj("Thing", conditions=[one("Ready", "False")])
    live["metadata"]["annotations"] = {"ansible.sdk.operatorframework.io/reconcile-period": period}
    state, why = readiness.condition(live, "Ready")
    assert state == FAILED
    assert (
        f'reconcile-period: "{period}" is no duration up to 2562047h, so the operator does not reconcile the resource: remove it, or set a duration such as 10m'
        in why
    )


@pytest.mark.parametrize("period", ["10m", "1h30m", "0", "1.5s"])
def test_a_false_condition_is_pending_with_a_valid_reconcile_period(period):
    live = obj("Thing", conditions=[one("Ready", "False")])
    live["metadata"]["annotations"] = {"ansible.sdk.operatorframework.io/reconcile-period": period}
    assert readiness.condition(live, "Ready").state == PENDING


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        ({"currentReplicas": 2, "availableReplicas": 2}, (READY, "")),
        ({"currentReplicas": 2, "availableReplicas": 1}, (PENDING, "2 of 2 replicas updated, 1 available")),
        (
            {"currentReplicas": 2, "availableReplicas": 2, "currentRevision": "a", "updateRevision": "b"},
            (PENDING, "0 of 2 replicas updated, 2 available"),
        ),
        ({"currentReplicas": 2, "availableReplicas": 2, "currentRevision": "a", "updateRevision": "a"}, (READY, "")),
        ({"updatedReplicas": 3, "availableReplicas": 3}, (READY, "")),
        ({}, (PENDING, "0 of 2 replicas updated, 0 available")),
    ],
)
def test_a_stateful_set_is_ready_when_all_replicas_are_updated(status, verdict):
    assert readiness.rollout(obj("StatefulSet", {"replicas": 2}, **status)) == verdict


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        ({"desiredNumberScheduled": 2, "updatedNumberScheduled": 1, "numberAvailable": 2}, (PENDING, "1 of 2 nodes updated, 2 available")),
        ({"desiredNumberScheduled": 2, "updatedNumberScheduled": 3, "numberAvailable": 3}, (READY, "")),
        ({}, (READY, "")),
    ],
)
def test_a_daemon_set_is_ready_when_all_nodes_are_updated(status, verdict):
    assert readiness.rollout(obj("DaemonSet", **status)) == verdict


def test_a_rollout_reports_the_progress_of_a_deployment_or_a_job():
    overdue = one("Progressing", "False", reason="ProgressDeadlineExceeded", message=" late \n")
    status = {"replicas": 3, "updatedReplicas": 1, "availableReplicas": 1}
    assert readiness.rollout(obj("Deployment", {"replicas": 2}, conditions=[overdue], **status)) == (
        FAILED,
        "1 of 2 replicas updated, 1 available, 2 old ones left; Progressing is False (ProgressDeadlineExceeded): late",
    )
    failure = one("ReplicaFailure", reason="FailedCreate")
    assert readiness.rollout(obj("Deployment", conditions=[failure])) == (
        PENDING,
        "0 of 1 replicas updated, 0 available; ReplicaFailure is True (FailedCreate)",
    )
    assert readiness.has_no_pods(obj("Deployment", conditions=[failure]))
    assert not readiness.has_no_pods(obj("Deployment", conditions=[one("ReplicaFailure", "False")]))
    assert readiness.rollout(obj("Deployment", generation=3)) == (PENDING, "its controller has not looked at the present generation yet")
    job = obj("Job", conditions=[one("Failed", "False"), one("Complete")])
    del job["status"]["observedGeneration"]
    assert readiness.rollout(job) == (READY, "")
    assert readiness.rollout(obj("Job")) == (PENDING, "0 of 1 completions")


def test_an_unmet_condition_is_reported_with_its_current_state():
    live = obj("Thing", conditions=[one("Available", "False", reason="Down", message="x"), one("Other")])
    assert readiness.condition(live, "Ready") == (PENDING, "condition Ready is not reported (only Available=False, Other=True)")
    assert readiness.condition(live, "Available") == (PENDING, "Available is False (Down): x")
    assert readiness.condition(obj("Thing"), "Ready") == (PENDING, "condition Ready is not reported")
    live = obj("Thing", generation=3, conditions=[one("Available", observedGeneration=3)])
    assert readiness.condition(live, "Available") == (
        PENDING,
        "its controller has not looked at the present generation yet: Available is True",
    )


def test_a_crd_is_ready_when_it_is_established():
    assert readiness.established(obj("CustomResourceDefinition", conditions=[one("NamesAccepted"), one("Established")])) == (READY, "")
    assert readiness.established(obj("CustomResourceDefinition")) == (PENDING, "condition Established is not reported")


@pytest.mark.parametrize(
    ("path", "value", "verdict"),
    [
        ("status.list[1].name", "b", (READY, "")),
        ("status.list[1].name", "c", (PENDING, "status.list[1].name is b and should be c")),
        ("status.list[2].name", "c", (PENDING, "status.list[2].name is not set and should be c")),
        ("status.list.name", "c", (PENDING, "status.list.name is not set and should be c")),
        ("status.number", "5", (READY, "")),
        ("status.number.more", "5", (PENDING, "status.number.more is not set and should be 5")),
        ("status['a.b/c']", "x", (READY, "")),
        ("status.none", "None", (PENDING, "status.none is not set and should be None")),
    ],
)
def test_a_field_has_the_text_that_it_should_have(path, value, verdict):
    live = {"status": {"list": [{"name": "a"}, {"name": "b"}], "number": 5, "a.b/c": "x", "none": None}}
    assert readiness.fields(live, {"status.number": 5, path: value}) == verdict


def container(restarts=0, ready=False, **state):
    return {"name": "c", "restartCount": restarts, "ready": ready, "state": state}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"containerStatuses": [container(waiting={"reason": "ErrImagePull"})]}, True),
        ({"initContainerStatuses": [container(waiting={"reason": "RunContainerError"})]}, True),
        ({"containerStatuses": [container(waiting={"reason": "ContainerCreating"})]}, False),
        ({"containerStatuses": [container(3)]}, True),
        ({"containerStatuses": [container(2)]}, False),
        ({"containerStatuses": [container(3, ready=True)]}, False),
        ({"containerStatuses": [container(), container(3)]}, True),
        ({}, False),
    ],
)
def test_a_pod_cannot_start_after_three_restarts_or_a_failed_image_pull(status, expected):
    assert readiness.cannot_start(pod("a", **status)) is expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"containerStatuses": [container(running={})]}, True),
        ({"containerStatuses": [container(ready=True, running={})]}, False),
        ({"containerStatuses": [container(waiting={})]}, False),
        ({"containerStatuses": [container(waiting={"reason": "ContainerCreating"})]}, True),
        ({}, False),
    ],
)
def test_a_pod_that_starts_or_runs_without_being_ready_has_events(status, expected):
    assert readiness.has_events(pod("a", **status)) is expected


def test_each_problem_of_a_pod_is_described_in_one_line():
    running = {**pod("a", containerStatuses=[container(running={})]), "metadata": {"name": "a", "uid": "u"}}
    probe, mount = EventText("Unhealthy", "probe failed"), EventText("FailedMount", "no secret x")
    assert readiness.pod_problems([running], {"u": probe}) == ["pod a: container c runs but is not ready: probe failed"]
    assert readiness.pod_problems([running], {"u": mount}) == ["pod a: container c runs but is not ready"]
    starting = {**running, "status": {"containerStatuses": [container(waiting={"reason": "ContainerCreating"})]}}
    assert readiness.pod_problems([starting], {"u": mount}) == ["pod a: container c is ContainerCreating: no secret x"]
    assert readiness.pod_problems([starting], {"u": probe}) == readiness.pod_problems([starting]) == []
    refused = {"metadata": {"name": "b"}, "status": {"conditions": [one("PodScheduled", "False", reason="Gated")]}}
    assert readiness.pod_problems([refused]) == ["pod b: not scheduled by ?: Gated"]
    evicted = pod("c", phase="Failed", containerStatuses=[container(ready=True, running={})])
    assert readiness.pod_problems([evicted]) == []
    assert readiness.pod_problems([pod("d", phase="Failed")]) == ["pod d: Failed: "]
    crashed = pod("e", containerStatuses=[{**container(running={}), "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}])
    assert readiness.pod_problems([crashed]) == ["pod e: container c ended with exit code 1: Error"]
    ended = pod("f", containerStatuses=[{**container(waiting={"reason": "Completed"}), "lastState": {"terminated": {"exitCode": 0}}}])
    assert readiness.pod_problems([ended]) == ["pod f: container c is Completed"]


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        ({"kind": "Thing", "metadata": {"deletionTimestamp": "t"}}, "no finalizer; the server has not removed it yet"),
        (
            {"kind": "Thing", "metadata": {"deletionTimestamp": "t", "finalizers": ["foregroundDeletion", "f"]}},
            "objects that belong to it and are still being deleted; finalizers f, which the controllers that put them there have to remove",
        ),
        ({"kind": "Thing", "metadata": {}}, "it is no longer marked for deletion: it was created again"),
        (
            {"kind": "Namespace", "metadata": {"deletionTimestamp": "t"}, "spec": {"finalizers": ["k"]}},
            "its content is still being deleted",
        ),
        ({"kind": "Namespace", "metadata": {"deletionTimestamp": "t"}}, "no finalizer; the server has not removed it yet"),
        (
            {"kind": "Thing", "metadata": {"deletionTimestamp": "t"}, "spec": {"finalizers": ["k"]}},
            "no finalizer; the server has not removed it yet",
        ),
    ],
)
def test_the_reason_names_the_obstacle_to_the_deletion_of_an_object(live, expected):
    assert readiness.held_by(live) == expected
