# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Moving workloads to a scheduler: the guards (F126) and what is written (F120)."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.protected_workloads import is_protected, refusal
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_moves import MOVED_TO, PREVIOUS, placements, plan

VERSIONS = {"CronJob": "batch/v1", "Job": "batch/v1", "Pod": "v1"}


def workload(kind="Deployment", name="web", namespace="shop", scheduler="default-scheduler", annotations=None, owners=None, **spec):
    pods = {"template": {"spec": {"schedulerName": scheduler}}}
    if kind == "CronJob":
        pods = {"jobTemplate": {"spec": pods}}
    metadata = {"name": name, "namespace": namespace, "annotations": annotations or {}, "ownerReferences": owners or []}
    selector = {"selector": {"matchLabels": {"app": name}}}
    return {"apiVersion": VERSIONS.get(kind, "apps/v1"), "kind": kind, "metadata": metadata, "spec": {**pods, **selector, **spec}}


def asked(*objects):
    return [{"kind": one["kind"], **{key: one["metadata"][key] for key in ("namespace", "name")}} for one in objects]


@pytest.mark.parametrize("namespace", ["openshift-monitoring", "openshift", "kube-system", "kube-public"])
def test_workloads_in_the_clusters_own_namespaces_are_rejected(namespace):
    assert "cluster's own" in refusal("Deployment", namespace)
    one = workload(namespace=namespace)
    found = plan(asked(one), [one], "second")
    assert (len(found["refused"]), found["patches"]) == (1, [])


@pytest.mark.parametrize("namespace", ["default", "kubeflow", "openshiftish", "my-kube-system"])
def test_other_namespaces_are_not_protected(namespace):
    assert not is_protected(namespace)
    assert refusal("Deployment", namespace) == ""


def test_static_pods_are_rejected_as_such():
    pod = {"metadata": {"annotations": {"kubernetes.io/config.mirror": "x"}}}
    assert "static pod" in refusal("Pod", "default", pod)
    assert "cannot be changed" in refusal("Pod", "default", {"metadata": {}})


@pytest.mark.parametrize(
    ("kind", "why"), [("Job", "delete the Job"), ("ReplicaSet", "of the kind ReplicaSet"), ("CronTab", "of the kind CronTab")]
)
def test_kinds_that_cannot_be_changed_are_rejected(kind, why):
    one = workload(kind)
    [refused] = plan(asked(one), [one], "second")["refused"]
    assert refused.startswith(f"{kind} shop/web: ")
    assert why in refused


def test_a_workload_that_its_controller_would_revert_is_rejected():
    one = workload(owners=[{"kind": "Grafana", "name": "main", "controller": True}])
    assert "belongs to Grafana main" in plan(asked(one), [one], "second")["refused"][0]


def test_missing_or_incompletely_named_workloads_are_rejected():
    refused = plan([{"kind": "Deployment", "namespace": "shop", "name": "gone"}, {"kind": "Deployment", "name": "web"}], [], "second")[
        "refused"
    ]
    assert refused[0] == "Deployment shop/gone: it does not exist."
    assert "give kind, namespace and name" in refused[1]


def test_a_move_writes_the_name_and_remembers_the_one_before():
    one = workload()
    found = plan(asked(one), [one], "second")
    assert found["patches"] == [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop", "annotations": {PREVIOUS: "default-scheduler", MOVED_TO: "second"}},
            "spec": {"template": {"spec": {"schedulerName": "second"}}},
        }
    ]
    assert found["moved"] == [{"kind": "Deployment", "namespace": "shop", "name": "web", "before": "default-scheduler", "after": "second"}]
    assert found["rollouts"] == [{"api_version": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}]
    assert found["verify"] == found["rollouts"]


def test_a_workload_that_uses_the_scheduler_already_is_left_unchanged():
    one = workload(scheduler="second")
    assert plan(asked(one), [one], "second") == {"refused": [], "patches": [], "moved": [], "rollouts": [], "verify": [], "held": []}


def test_a_workload_that_an_earlier_run_moved_is_verified_and_not_written():
    one = workload(scheduler="second", annotations={PREVIOUS: "default-scheduler"})
    found = plan(asked(one), [one], "second")
    assert (found["patches"], found["moved"], found["rollouts"]) == ([], [], [])
    assert found["verify"] == [{"api_version": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}]


def test_the_first_name_is_remembered_through_several_moves():
    one = workload(scheduler="second", annotations={PREVIOUS: "default-scheduler"})
    assert plan(asked(one), [one], "third")["patches"][0]["metadata"]["annotations"] == {PREVIOUS: "default-scheduler", MOVED_TO: "third"}


def test_a_name_that_was_changed_since_the_move_stays():
    one = workload(scheduler="gpu", annotations={PREVIOUS: "default-scheduler", MOVED_TO: "second"})
    found = plan(asked(one), [one], undo=True)
    assert found["patches"] == [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop", "annotations": {PREVIOUS: None, MOVED_TO: None}},
        }
    ]
    assert (found["moved"], found["rollouts"]) == ([], [])
    assert found["held"] == ["Deployment shop/web: its schedulerName was changed to gpu since it was moved to second, and stays."]
    # A further move goes back to it.
    [patch] = plan(asked(one), [one], "second")["patches"]
    assert patch["metadata"]["annotations"] == {PREVIOUS: "gpu", MOVED_TO: "second"}


def test_undo_sets_the_name_of_before_and_forgets_it():
    one = workload(scheduler="second", annotations={PREVIOUS: "old"})
    [patch] = plan(asked(one), [one], undo=True)["patches"]
    assert patch["metadata"]["annotations"] == {PREVIOUS: None, MOVED_TO: None}
    assert patch["spec"]["template"]["spec"]["schedulerName"] == "old"


def test_undo_leaves_workloads_that_were_not_moved_unchanged():
    one = workload(scheduler="second")
    assert plan(asked(one), [one], undo=True)["patches"] == []


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (workload("CronJob"), "jobs that begin from now on"),
        (workload(paused=True), "paused"),
        (workload("StatefulSet", updateStrategy={"type": "OnDelete"}), "OnDelete"),
        (workload("StatefulSet", updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}), "the partition 2"),
    ],
)
def test_pods_that_are_not_replaced_are_reported_without_a_wait(one, why):
    found = plan(asked(one), [one], "second")
    assert len(found["patches"]) == 1
    assert found["rollouts"] == found["verify"] == []
    assert why in found["held"][0]


def test_a_cron_jobs_name_is_two_templates_deep():
    one = workload("CronJob")
    [patch] = plan(asked(one), [one], "second")["patches"]
    assert patch["spec"] == {"jobTemplate": {"spec": {"template": {"spec": {"schedulerName": "second"}}}}}


def pod(name, scheduler="second", node="node-1", **metadata):
    about = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "labels": {"app": "web"}, **metadata}
    return {"metadata": about, "spec": {"schedulerName": scheduler, "nodeName": node}, "status": {"phase": "Running"}}


def event(name, who="second"):
    return {"involvedObject": {"uid": f"uid-{name}"}, "reportingComponent": who}


def test_placements_name_the_scheduler_that_placed_each_pod():
    pods = [
        pod("a"),
        pod("b"),
        pod("c"),
        pod("old", "default-scheduler"),
        pod("other", labels={"app": "x"}),
        pod("going", deletionTimestamp="now"),
    ]
    events = [event("a"), event("b", "imposter"), event("old", "default-scheduler")]
    found = {one["pod"]: (one["placed_by"], one["as_wanted"]) for one in placements([workload(scheduler="second")], pods, events)}
    assert found == {"a": ("second", True), "b": ("imposter", False), "c": ("", False), "old": ("default-scheduler", False)}
    (first, *_others) = placements([workload(scheduler="second")], pods, events)
    assert first == {
        "workload": "Deployment shop/web",
        "pod": "a",
        "node": "node-1",
        "scheduler_name": "second",
        "placed_by": "second",
        "as_wanted": True,
    }


def test_pods_that_were_placed_long_ago_need_no_event():
    """but an event that names another tells, and so does a pod without a node"""
    pods = [pod("a"), pod("b"), pod("c", node="")]
    one = workload(scheduler="second")
    for moved, wanted in (([], {"a": True, "b": False, "c": False}), (asked(one), {"a": False, "b": False, "c": False})):
        found = placements([one], pods, [event("b", "imposter")], moved)
        assert {each["pod"]: each["as_wanted"] for each in found} == wanted
