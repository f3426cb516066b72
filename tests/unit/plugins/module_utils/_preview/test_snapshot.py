# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The snapshot of a cluster: what it contains, what it never contains, and files that are none."""

from __future__ import annotations

import gzip
import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._preview import snapshot
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import RESOURCES, Snapshot, parse, redact, take
from support.preview import SECRET, listed, node, pod


def test_planted_secrets_are_dropped_and_fields_for_scheduling_are_kept():
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}
    volumes = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "token", "secret": {"secretName": SECRET}},
        {"name": "inline", "csi": {"driver": "csi.example.com", "volumeAttributes": {"password": SECRET}}},
    ]
    given = pod("p", on="a", affinity=affinity, volumes=volumes, priority=7, tolerations=[{"operator": "Exists"}])
    given["spec"]["initContainers"] = [{"name": "first", "env": [{"name": "T", "value": SECRET}], "resources": {"requests": {"cpu": "2"}}}]
    template = {"spec": {"containers": [{"name": "c", "env": [{"name": "T", "value": SECRET}]}]}}
    workload = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "r", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": "shop"}}, "template": template},
    }
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "s"},
        "provisioner": "csi.example.com",
        "parameters": {"password": SECRET},
    }
    planted = listed(given, node("a"), workload, storage)
    assert planted.count(SECRET.encode()) > 5
    found = parse(planted, "list")
    content = gzip.decompress(found.write()).decode()
    assert SECRET not in content
    assert "last-applied" not in content
    (kept,) = found.of("Pod")
    assert kept["spec"]["affinity"] == affinity
    assert kept["spec"]["priority"] == 7
    assert kept["spec"]["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "inline", "csi": {"driver": "csi.example.com"}},
    ]
    assert kept["spec"]["initContainers"] == [{"name": "first", "resources": {"requests": {"cpu": "2"}}}]
    assert [obj["spec"] for obj in found.objects if obj["kind"] == "ReplicaSet"] == [{"selector": {"matchLabels": {"app": "shop"}}}]


def test_only_the_amounts_of_the_usage_of_a_pod_are_kept():
    container = {"name": "main", "usage": {"cpu": "120m", "memory": "64Mi"}}
    found = redact({**USE, "timestamp": "2026-11-25T10:00:00Z", "window": "15s", "containers": [container]})
    assert found == {**USE, "containers": [{"usage": container["usage"]}]}


def test_annotations_with_effect_stay():
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c", "annotations": {"pv.kubernetes.io/bind-completed": "yes", "note": SECRET}},
        "spec": {},
    }
    assert redact(claim)["metadata"]["annotations"] == {"pv.kubernetes.io/bind-completed": "yes"}


def test_a_file_is_read_as_it_was_written():
    written = Snapshot((node("a"), pod("p", on="a")), "v1.34.4", "2026-11-23T10:00:00Z", ("resourceslices: forbidden",)).write()
    found = parse(written, "file")
    assert (found.kubernetes, found.taken, found.missing) == ("v1.34.4", "2026-11-23T10:00:00Z", ("resourceslices: forbidden",))
    assert parse(found.write(), "file") == found


def test_pods_that_have_ended_and_other_kinds_are_left_out():
    ended = {**pod("done", on="a"), "status": {"phase": "Succeeded"}}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": SECRET}}
    found = parse(listed(node("a"), ended, secret), "list")
    assert [obj["kind"] for obj in found.objects] == ["Node"]


def test_the_list_of_an_api_server_names_no_kind_in_its_items():
    items = [{key: node("a")[key] for key in ("metadata", "spec", "status")}]
    found = parse(json.dumps({"apiVersion": "v1", "kind": "NodeList", "items": items}).encode(), "list")
    assert [one["metadata"]["name"] for one in found.of("Node")] == ["a"]


USE = {"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics", "metadata": {"name": "p", "namespace": "shop"}}
WHOLE = Snapshot((node("a"),)).write()
OTHER = json.dumps({"format": "osso.scheduler/snapshot", "version": 9, "objects": []}).encode()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (WHOLE[:-20], "file is truncated or damaged: it is no complete JSON document. Take the snapshot again"),
        (WHOLE + WHOLE, "file is truncated or damaged"),
        (WHOLE[:40] + b"x" + WHOLE[41:], "file is truncated or damaged"),
        (listed(node("a"))[:-3], "file is truncated or damaged"),
        (b"", "file is truncated or damaged"),
        (b"[" * 100_000, "file is truncated or damaged"),
        (b"\xff\xfe", "file is truncated or damaged"),
        (OTHER, "file has version 9 of the format; this release of the collection reads version 1"),
        (b"{}", "file is neither a snapshot of this collection nor a list"),
        (b'{"kind": "List", "items": 5}', "file contains no list of objects"),
        (listed(), "file contains no node"),
        (listed(node("a"), {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}}), "the Pod p is malformed"),
        (listed(node("a"), pod("p", cpu="many")), "the Pod p is malformed"),
        (listed(node("a", cpu="x")), "the Node a is malformed"),
        (listed(node("a"), {**pod("p"), "spec": []}), "the Pod p is malformed"),
        (listed("text"), "the object None is malformed"),
        (listed(node("a"), pod("p", labels=["x"])), "the Pod p is malformed: metadata.labels is of type list, not dict."),
        (listed(node("a"), pod("p", priority="high")), "the Pod p is malformed: spec.priority is of type str, not int."),
        (listed(node("a"), pod("p", schedulingGates=[{}])), r"malformed: spec.schedulingGates\[0\].name is of type NoneType, not str"),
        (listed(node("a", taints=[{"key": "x"}])), r"the Node a is malformed: spec.taints\[0\].effect"),
        (listed(node("a"), pod("p", cpu="9" * 400)), "the Pod p is malformed: a quantity is larger than any"),
        (listed(node("a"), pod("p", on="a\x1b[31m")), "the Pod p is malformed"),
        (listed(node("a"), {**pod("p"), "metadata": {"name": "a/b"}}), "the Pod a/b is malformed"),
        (listed(node("a"), {**USE, "containers": [{"usage": {"cpu": "much"}}]}), "the PodMetrics p is malformed"),
        (listed(node("a"), {**USE, "containers": [{"usage": {"cpu": "9" * 400}}]}), "the PodMetrics p is malformed: a quantity is larger"),
        (listed(node("a"), {**USE, "kind": "NodeMetrics", "usage": {"cpu": "much"}}), "the NodeMetrics p is malformed"),
    ],
)
def test_a_file_that_is_no_snapshot_is_rejected(content, why):
    with pytest.raises(InputError, match=why):
        parse(content, "file")


class Cluster:
    """A client that may list nothing but these kinds."""

    def __init__(self, *kinds):
        self.kinds = kinds

    def list(self, resource):
        if resource.kind in self.kinds:
            return [node("a")] if resource.kind == "Node" else []
        raise ApiError(403 if resource.api_version == "v1" else 404, "Forbidden", f"{resource.plural} is forbidden")

    def version(self):
        return "v1.34.4"


def test_kinds_that_must_not_be_read_are_listed_as_missing():
    found = take(Cluster("Node", "Pod"))
    assert found.missing[0] == "namespaces (v1): namespaces is forbidden"
    assert len(found.missing) == sum(resource.api_version == "v1" for resource in RESOURCES) - 2
    with pytest.raises(ApiError, match="pods is forbidden"):
        take(Cluster("Node"))


def test_only_status_fields_that_schedulers_read_are_kept():
    given = pod("p")
    scheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    given["status"] = {
        "phase": "Pending",
        "message": SECRET,
        "conditions": [scheduled, {"type": "Ready", "status": "False", "message": SECRET}],
        "containerStatuses": [{"name": "main", "image": SECRET, "allocatedResources": {"cpu": "1"}}],
    }
    (kept,) = parse(listed(given, node("a")), "list").of("Pod")
    assert kept["status"]["conditions"] == [scheduled]
    assert kept["status"]["containerStatuses"] == [{"name": "main", "allocatedResources": {"cpu": "1"}}]
    assert SECRET not in str(kept)


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_above_the_size_limit_is_rejected(monkeypatch, tmp_path, packed):
    text = listed(node("a"))
    path = tmp_path / "snapshot"
    path.write_bytes(gzip.compress(text) if packed else text)
    monkeypatch.setattr(snapshot, "_LARGEST", len(text))
    assert snapshot.read(str(path)).of("Node")
    monkeypatch.setattr(snapshot, "_LARGEST", len(text) - 1)
    with pytest.raises(InputError, match=r"^snapshot: .* contains more than 0 GiB\. Select namespaces when you take it\.$"):
        snapshot.read(str(path))


def test_a_missing_snapshot_is_an_error():
    with pytest.raises(InputError, match=r"^snapshot: /nowhere cannot be read: No such file or directory\. It is a path on the host"):
        snapshot.read("/nowhere")


def test_a_snapshot_is_written_as_compressed_json_with_its_format():
    written = Snapshot((node("a"),), "v1.34.4", "2026-11-23T10:00:00Z", ("x",)).write()
    assert json.loads(gzip.decompress(written)) == {
        "format": "osso.scheduler/snapshot",
        "version": 1,
        "kubernetes": "v1.34.4",
        "taken": "2026-11-23T10:00:00Z",
        "missing": ["x"],
        "objects": [node("a")],
    }


class Failing(Cluster):
    """A client that fails with this status for one kind, and has nothing of the others but a node."""

    def __init__(self, kind, status):
        self.kind, self.status = kind, status

    def list(self, resource):
        if resource.kind == self.kind:
            raise ApiError(self.status, "Reason", "no")
        return [node("a")] if resource.kind == "Node" else []


@pytest.mark.parametrize(
    ("kind", "status", "missing"),
    [
        ("NodeMetrics", 503, ("nodes (metrics.k8s.io/v1beta1): no",)),
        ("PodMetrics", 403, ("pods (metrics.k8s.io/v1beta1): no",)),
        ("NodeMetrics", 404, ()),
        ("ResourceSlice", 404, ()),
        ("ResourceSlice", 403, ("resourceslices (resource.k8s.io/v1): no",)),
        ("ResourceSlice", 500, None),
        ("Node", 403, None),
        ("Pod", 403, None),
    ],
)
def test_only_optional_kinds_may_be_missing_in_a_snapshot(kind, status, missing):
    if missing is None:
        with pytest.raises(ApiError):
            take(Failing(kind, status))
        return
    found = take(Failing(kind, status))
    assert (found.missing, found.kubernetes, bool(found.taken)) == (missing, "v1.34.4", True)


def test_a_snapshot_keeps_only_the_scheduling_fields_of_a_pod():
    metadata = {"name": "p", "namespace": "n", "uid": "u", "labels": {"a": "b"}, "creationTimestamp": "t", "deletionTimestamp": "d"}
    spec = {
        "nodeName": "a",
        "schedulerName": "s",
        "priority": 1,
        "priorityClassName": "c",
        "preemptionPolicy": "Never",
        "nodeSelector": {"x": "y"},
        "tolerations": [{"key": "k"}],
        "schedulingGates": [{"name": "g"}],
        "overhead": {"cpu": "1"},
        "resources": {"requests": {"cpu": "1"}},
        "resourceClaims": [{"name": "r"}],
        "runtimeClassName": "rc",
        "hostNetwork": True,
        "os": {"name": "linux"},
        "workloadRef": {"name": "w"},
        "schedulingGroup": {"podGroupName": "g"},
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "affinity": {},
        "topologySpreadConstraints": [{"whenUnsatisfiable": "DoNotSchedule"}],
        "containers": [
            {
                "name": "c",
                "image": "i",
                "ports": [{"hostPort": 1}],
                "resources": {"limits": {"cpu": "1"}},
                "restartPolicy": "Always",
                "securityContext": {"seccompProfile": {"type": "Localhost", "localhostProfile": "p.json"}},
            }
        ],
        "volumes": [
            {"name": "a", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
            {"name": "b", "gcePersistentDisk": {"pdName": "p", "readOnly": True}},
            {"name": "c", "awsElasticBlockStore": {"volumeID": "v", "readOnly": True}},
            {"name": "d", "azureDisk": {"diskName": "d", "readOnly": True}},
            {"name": "e", "iscsi": {"iqn": "q", "lun": 0, "targetPortal": "t", "readOnly": True}},
            {"name": "f", "rbd": {"monitors": ["m"], "image": "i", "pool": "p", "readOnly": True}},
            {"name": "g", "persistentVolumeClaim": {"claimName": "c", "readOnly": True}},
            {"name": "h", "csi": {"driver": "d", "readOnly": True}},
        ],
    }
    status = {
        "phase": "Running",
        "nominatedNodeName": "b",
        "startTime": "t",
        "resize": "Infeasible",
        "resourceClaimStatuses": [{"name": "r"}],
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
        "containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "1"}}],
    }
    given = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}
    expected = {**given, "spec": {**spec, "volumes": [{"name": "a", "ephemeral": {}}, *spec["volumes"][1:]]}}
    more = {
        **given,
        "metadata": {**metadata, "generateName": SECRET, "annotations": {"preemption-toleration.scheduling.x-k8s.io/a": "b", "c": SECRET}},
        "spec": {**spec, "serviceAccountName": SECRET, "securityContext": {**spec["securityContext"], "runAsUser": SECRET}},
        "status": {**status, "podIP": SECRET, "conditions": [*status["conditions"], {"type": "Ready"}]},
    }
    expected["metadata"] = {**metadata, "annotations": {"preemption-toleration.scheduling.x-k8s.io/a": "b"}}
    assert redact(more) == expected


def test_a_snapshot_keeps_only_the_scheduling_fields_of_other_kinds():
    spec = {"taints": [{"key": "k", "effect": "NoSchedule"}], "unschedulable": True, "providerID": "p"}
    status = {
        "allocatable": {"cpu": "1"},
        "capacity": {"cpu": "1"},
        "images": [{"names": ["i"]}],
        "features": {},
        "declaredFeatures": ["f"],
    }
    about = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
    more = {**about, "spec": {**spec, "podCIDR": SECRET}, "status": {**status, "nodeInfo": SECRET}}
    assert redact(more) == {**about, "spec": spec, "status": status}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n", "labels": {"a": "b"}}}
    assert redact({**namespace, "spec": {"finalizers": [SECRET]}}) == {**namespace, "spec": {}, "status": {}}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"selector": {"a": "b"}}}
    assert redact({**service, "spec": {**service["spec"], "ports": SECRET}}) == {**service, "status": {}}
    device = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "r"}}
    opaque = {**device, "spec": {"devices": {"config": [{"opaque": SECRET, "requests": ["r"]}]}}, "parameters": SECRET}
    assert redact(opaque) == {**device, "spec": {"devices": {"config": [{"requests": ["r"]}]}}}
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}}
    selecting = {**budget, "spec": {"selector": {"matchLabels": {"options": "x"}}}}
    assert redact(selecting) == selecting


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("v1 PersistentVolume", {"spec": {"mountOptions": [SECRET], "flexVolume": {"options": {"a": SECRET}}}}),
        ("storage.k8s.io/v1 StorageClass", {"mountOptions": [SECRET], "parameters": {"a": SECRET}}),
        ("storage.k8s.io/v1 VolumeAttachment", {"status": {"attachmentMetadata": {"a": SECRET}, "attachError": {"message": SECRET}}}),
    ],
)
def test_a_snapshot_keeps_no_credentials_of_storage(kind, fields):
    api_version, kind = kind.split()
    metadata = {
        "name": "n",
        "annotations": {"volume.beta.kubernetes.io/mount-options": SECRET, "pv.kubernetes.io/bound-by-controller": "yes"},
    }
    found = redact({"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields})
    assert SECRET not in str(found)
    assert found["metadata"]["annotations"] == {"pv.kubernetes.io/bound-by-controller": "yes"}
