# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The clean-up after a resource that is deleted, and after one whose operator does not run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply import Options
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_result import Report
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN, Resource
from ansible_collections.osso.scheduler.plugins.module_utils._operand import condition_metrics
from ansible_collections.osso.scheduler.plugins.module_utils._operand.inputs import Reader
from ansible_collections.osso.scheduler.plugins.module_utils._operand.reconcile import clean_up, clean_up_unattended, finalize
from ansible_collections.osso.scheduler.plugins.module_utils._operand.reporting import Reporting
from ansible_collections.osso.scheduler.plugins.module_utils._operand.resource_names import FINALIZER, names_of
from support.operand import resource

SERVICE_MONITOR = Resource("monitoring.coreos.com/v1", "ServiceMonitor", "servicemonitors", True)


class Cluster:
    """Has these objects by kind and name, and these errors by verb and kind."""

    def __init__(self, objects=(), **errors):
        self.objects = {(one["kind"], one["metadata"]["name"]): one for one in objects}
        self.errors, self.requests, self.seen, self.patches, self.applied = errors, {}, [], [], []

    def resource(self, api_version, kind):
        return SERVICE_MONITOR if kind == "ServiceMonitor" else KNOWN[api_version, kind]

    def _see(self, verb, *seen):
        self.seen.append((verb, *seen))
        if verb in self.errors:
            raise self.errors[verb]

    def get(self, resource, name, namespace=None):
        self._see("get", resource.kind, namespace, name)
        return self.objects.get((resource.kind, name))

    def list(self, resource, namespace=None, label_selector=None, **_options):
        self._see("list", resource.kind, namespace, label_selector)
        return []

    def delete(self, resource, name, namespace, **options):
        self._see("delete", resource.kind, namespace, name)
        return {"kind": "Status"}

    def json_patch(self, resource, name, namespace, operations, dry_run=False):
        self._see("json_patch", resource.kind, namespace, name)
        self.patches.append((operations, dry_run))

    def apply(self, resource, obj, **options):
        self._see("apply", resource.kind)
        self.applied.append(obj)
        return obj


def cleaned_up(cluster, name="cluster") -> bool:
    """Was something deleted?"""
    report = Report(cluster, check=False, with_diff=False)
    clean_up(cluster, resource(name), Options([]), report, list)
    return report.result()["changed"]


LEASE = {"kind": "Lease", "metadata": {"name": "secondary-scheduler", "namespace": "ns", "uid": "l"}}
SELECTOR = "osso.scheduler/set=operand-cluster,osso.scheduler/set-namespace=ns"


INVENTORY = {"kind": "ConfigMap", "metadata": {"name": "osso-set-operand-cluster", "namespace": "ns", "uid": "i"}, "data": {"objects": ""}}


def workload(**metadata):
    return {"kind": "Deployment", "metadata": {"name": "secondary-scheduler", "namespace": "ns", "uid": "d", **metadata}}


LABELS = {"osso.scheduler/set": "operand-cluster", "osso.scheduler/set-namespace": "ns"}
ADOPTED = {"osso.scheduler/adopted-from": ""}


def deleted(cluster):
    return [seen[1] for seen in cluster.seen if seen[0] == "delete"]


def test_all_kinds_of_a_resource_are_listed_and_its_lease_is_deleted():
    cluster = Cluster([LEASE, INVENTORY])
    assert cleaned_up(cluster)
    listed = [seen for seen in cluster.seen if seen[0] == "list"]
    kinds = [
        "ServiceAccount",
        "Secret",
        "Service",
        "Deployment",
        "Role",
        "RoleBinding",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "ServiceMonitor",
    ]
    assert listed == [
        *(("list", kind, "ns", SELECTOR) for kind in kinds),
        ("list", "ClusterRoleBinding", None, SELECTOR),
        ("list", "RoleBinding", "kube-system", SELECTOR),
    ]
    assert deleted(cluster) == ["Lease", "ConfigMap"]
    assert not cleaned_up(Cluster())


@pytest.mark.parametrize(
    ("objects", "gone"),
    [
        pytest.param([LEASE], [], id="nothing was made for the resource"),
        pytest.param([LEASE, INVENTORY, workload()], ["ConfigMap"], id="another scheduler of the name runs"),
        pytest.param([LEASE, INVENTORY, workload(labels=LABELS, annotations=ADOPTED)], ["ConfigMap"], id="an adopted one is given back"),
        pytest.param([LEASE, INVENTORY, workload(labels=LABELS)], ["Lease", "ConfigMap"], id="no other scheduler has the name"),
        pytest.param(
            [{**LEASE, "metadata": {**LEASE["metadata"], "labels": {"osso.scheduler/set": "other"}}}, INVENTORY],
            ["ConfigMap"],
            id="of another set",
        ),
    ],
)
def test_only_the_lease_of_the_deleted_scheduler_is_deleted(objects, gone):
    cluster = Cluster(objects)
    cleaned_up(cluster)
    assert deleted(cluster) == gone


def test_nothing_was_made_for_a_resource_with_an_unusable_name():
    cluster = Cluster([LEASE])
    assert not cleaned_up(cluster, "A")
    assert cluster.seen == []


def ago(seconds):
    return timestamps.write(datetime.now(UTC) - timedelta(seconds=seconds))


def dying(seconds, finalizers=(FINALIZER,), tried=None):
    """Deleted so many seconds ago. ``tried``: seconds since the first attempt to clean up, None for no attempt."""
    live = resource()
    live["metadata"]["deletionTimestamp"] = ago(seconds)
    if tried is not None:
        live["status"] = {
            "conditions": [{"type": "Progressing", "status": "True", "reason": "Removing", "message": "", "lastTransitionTime": ago(tried)}]
        }
    live["metadata"]["finalizers"] = list(finalizers)
    return live


@pytest.mark.parametrize(("seconds", "again"), [(0, {"5s"}), (40, {"20s", "21s"}), (290, {"9s", "10s"})])
def test_a_clean_up_that_fails_is_tried_again_in_time(seconds, again):
    warnings = []
    found = finalize(Cluster(list=ApiError(403, "Forbidden", "no")), dying(seconds, tried=seconds), 300, [], warnings.append)
    assert (found.changed, found.look_again in again) == (False, True), found
    assert "no" in found.failure
    assert warnings == [found.failure]


@pytest.mark.parametrize("tried", [None, 300, 1000])
def test_a_clean_up_that_fails_for_too_long_is_given_up_with_an_event(monkeypatch, tried):
    """Where the status cannot be written, the time since the deletion counts."""
    monkeypatch.setattr(Reporting, "leaving", lambda *_options: cluster.list(KNOWN["v1", "Secret"]))
    cluster = Cluster(list=ApiError(403, "Forbidden", "no"))
    found = finalize(cluster, dying(300, tried=tried), 300, [], list)
    assert (found.changed, found.look_again) == (True, "")
    (event,) = cluster.applied
    assert (event["kind"], event["type"], event["reason"]) == ("Event", "Warning", "CleanupGivenUp")
    message = f"After 300 s the clean-up still fails, so the resource is deleted without it: {found.failure}"
    assert event["message"].startswith(message)
    listed = [seen[:3] for seen in cluster.seen if seen[0] == "list"]
    assert listed[-2:] == [("list", "ClusterRoleBinding", None), ("list", "SecondaryScheduler", None)]


@pytest.mark.parametrize("tried", [None, 299])
def test_a_clean_up_is_tried_for_the_whole_time_after_the_operator_was_down(monkeypatch, tried):
    monkeypatch.setattr(Reporting, "leaving", lambda *_options: None)
    found = finalize(Cluster(list=ApiError(403, "Forbidden", "no")), dying(9000, tried=tried), 300, [], list)
    assert found.look_again == ("5s" if tried is None else "1s")


@pytest.mark.parametrize(("seconds", "again"), [(40, {"20s", "21s"}), (200, {"99s", "100s"})])
def test_pauses_grow_also_where_the_status_cannot_be_written(monkeypatch, seconds, again):
    monkeypatch.setattr(Reporting, "leaving", lambda *_options: cluster.list(KNOWN["v1", "Secret"]))
    cluster = Cluster(list=ApiError(403, "Forbidden", "no"))
    assert finalize(cluster, dying(seconds), 300, [], list).look_again in again


@pytest.mark.parametrize("tried", [0, -90000])
def test_a_removal_ends_after_a_day_whatever_the_status_reports(monkeypatch, tried):
    monkeypatch.setattr(Reporting, "leaving", lambda *_options: None)
    assert finalize(Cluster(list=ApiError(403, "Forbidden", "no")), dying(86400 + 300, tried=tried), 300, [], list).look_again == ""


def test_the_first_attempt_has_a_time_though_a_rollout_was_in_progress():
    live = dying(5)
    old = {"status": "True", "reason": "RollingOut", "message": "", "lastTransitionTime": ago(600)}
    live["status"] = {"conditions": [{**old, "type": "Progressing"}, {**old, "type": "Available", "status": "False"}]}
    cluster = Cluster()
    cluster.applied.clear()
    Reporting(cluster, live, print).leaving("a pod", "")
    (written,) = [one for one in cluster.applied if one["kind"] == "SecondaryScheduler"]
    times = {one["type"]: one["lastTransitionTime"] for one in written["status"]["conditions"]}
    assert times["Available"] == old["lastTransitionTime"] < times["Progressing"]


def test_a_clean_up_that_is_given_up_leaves_no_metrics_and_no_mark(monkeypatch):
    forgotten, left = [], []
    monkeypatch.setattr(condition_metrics, "forget", forgotten.append)
    finalize(Cluster(list=ApiError(403, "Forbidden", "no")), dying(300, tried=300), 300, [], list)
    assert forgotten == [names_of(resource())]
    monkeypatch.setattr(Reader, "neighbours", lambda _self: "neighbours")
    monkeypatch.setattr(Reporting, "absent", lambda _self, neighbours: left.append(neighbours))
    finalize(Cluster(delete=ApiError(403, "Forbidden", "no"), list=ApiError(403, "Forbidden", "no")), dying(300, tried=300), 300, [], list)
    assert left == ["neighbours"]


@pytest.mark.parametrize("check", [False, True])
def test_the_finalizer_is_removed_where_no_operator_does(check):
    cluster = Cluster()
    result = clean_up_unattended(cluster, dying(0, ["other", FINALIZER]), 30, list, check=check)
    operations = [
        {"op": "test", "path": "/metadata/finalizers/1", "value": FINALIZER},
        {"op": "remove", "path": "/metadata/finalizers/1"},
    ]
    assert (result["changed"], cluster.patches) == (True, [(operations, check)])
    assert cluster.seen[-1] == ("json_patch", "SecondaryScheduler", "ns", "cluster")


def test_without_the_finalizer_or_the_resource_no_finalizer_is_removed():
    cluster = Cluster()
    assert clean_up_unattended(cluster, dying(0, ["other"]), 30, list)["changed"] is False
    assert cluster.patches == []
    left = Cluster([LEASE, INVENTORY])
    assert clean_up_unattended(left, resource(), 30, list)["changed"] is True
    assert deleted(left) == ["Lease", "ConfigMap"]
    gone = Cluster(json_patch=ApiError(404, "NotFound", "gone"))
    assert clean_up_unattended(gone, dying(0), 30, list)["changed"] is False
    with pytest.raises(ClusterError):
        clean_up_unattended(Cluster(json_patch=ApiError(409, "Conflict", "x")), dying(0), 30, list)
