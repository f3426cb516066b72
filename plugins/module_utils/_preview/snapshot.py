# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes, pods and everything else that a kube-scheduler reads, redacted, in a file.

Of pods, nodes and workloads only the fields that a scheduler reads remain. No environment, command, argument or pod template of a workload is in
a snapshot, and no annotation but those that change where pods are placed.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object, Resource
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import resource_accounting
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.dump_parser import Resources
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.needs import NEEDS

if TYPE_CHECKING:
    from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client

FORMAT, VERSION = "osso.scheduler/snapshot", 1
_LARGEST = 2 << 30
"""Bytes of JSON in a file. 5,000 nodes with 150,000 pods are about 400 MB."""
_NAME = re.compile(r"[A-Za-z0-9._:-]{0,253}")
_GZIP = b"\x1f\x8b"


def _resources(api_version: str, namespaced: bool, **plurals: str) -> list[Resource]:
    return [Resource(api_version, kind, plural, namespaced) for kind, plural in plurals.items()]


RESOURCES: tuple[Resource, ...] = (
    *_resources("v1", False, Node="nodes", Namespace="namespaces", PersistentVolume="persistentvolumes"),
    *_resources("v1", True, Pod="pods", Service="services", ReplicationController="replicationcontrollers"),
    *_resources("v1", True, PersistentVolumeClaim="persistentvolumeclaims"),
    *_resources("apps/v1", True, ReplicaSet="replicasets", StatefulSet="statefulsets"),
    *_resources("policy/v1", True, PodDisruptionBudget="poddisruptionbudgets"),
    *_resources("scheduling.k8s.io/v1", False, PriorityClass="priorityclasses"),
    *_resources("storage.k8s.io/v1", False, StorageClass="storageclasses", CSINode="csinodes", CSIDriver="csidrivers"),
    *_resources("storage.k8s.io/v1", False, VolumeAttachment="volumeattachments"),
    *_resources("storage.k8s.io/v1", True, CSIStorageCapacity="csistoragecapacities"),
    *_resources("resource.k8s.io/v1", False, ResourceSlice="resourceslices", DeviceClass="deviceclasses"),
    *_resources("resource.k8s.io/v1", False, DeviceTaintRule="devicetaintrules"),
    *_resources("resource.k8s.io/v1", True, ResourceClaim="resourceclaims"),
    *_resources("metrics.k8s.io/v1beta1", False, NodeMetrics="nodes"),
    *_resources("metrics.k8s.io/v1beta1", True, PodMetrics="pods"),
    *(
        Resource(kind.api_version, kind.kind, kind.plural, kind.kind != "NodeResourceTopology")
        for kind in dict.fromkeys(kind for need in NEEDS.values() for kind in need.kinds)
    ),
)
"""What kube-scheduler and the plugins of scheduler-plugins list and watch, and the measured load."""

LOAD = ("NodeMetrics", "PodMetrics")
_BY_KIND = {(resource.api_version.partition("/")[0], resource.kind): resource for resource in RESOURCES}
_METADATA = ("name", "namespace", "uid", "labels", "ownerReferences", "creationTimestamp", "deletionTimestamp")
_ANNOTATIONS = (
    "volume.kubernetes.io/selected-node",
    "volume.kubernetes.io/storage-provisioner",
    "volume.beta.kubernetes.io/storage-",
    "pv.kubernetes.io/",
    "storage.alpha.kubernetes.io/migrated-plugins",
    "storageclass.kubernetes.io/is-default-class",
    "preemption-toleration.scheduling.x-k8s.io/",
    "seccomp.security.alpha.kubernetes.io",
    "container.seccomp.security.alpha.kubernetes.io",
)
"""Beginnings of the annotations that kube-scheduler or a plugin reads."""
_DROPPED = (*("parameters", "volumeAttributes", "opaque", "mountOptions", "options", "attachmentMetadata", "attachError", "detachError"),)
"""Fields of storage and device objects that only drivers and kubelets read, and that can contain credentials."""
_POD_SPEC = (
    *("nodeName", "schedulerName", "priority", "priorityClassName", "preemptionPolicy", "nodeSelector", "affinity", "tolerations"),
    *("topologySpreadConstraints", "schedulingGates", "overhead", "resources", "resourceClaims", "runtimeClassName", "hostNetwork", "os"),
    *("workloadRef", "schedulingGroup"),
)
_CONTAINER = ("name", "image", "ports", "resources", "restartPolicy")
_POD_STATUS = ("phase", "nominatedNodeName", "startTime", "resize", "resourceClaimStatuses")
_VOLUMES: Mapping[str, tuple[str, ...]] = {
    "persistentVolumeClaim": ("claimName", "readOnly"),
    "ephemeral": (),
    "csi": ("driver", "readOnly"),
    "gcePersistentDisk": ("pdName", "readOnly"),
    "awsElasticBlockStore": ("volumeID", "readOnly"),
    "azureDisk": ("diskName", "readOnly"),
    "iscsi": ("iqn", "lun", "targetPortal", "readOnly"),
    "rbd": ("monitors", "image", "pool", "readOnly"),
}
_FIELDS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # kind: fields of spec, fields of status
    "Node": (("taints", "unschedulable", "providerID"), ("allocatable", "capacity", "images", "features", "declaredFeatures")),
    "Namespace": ((), ()),
    **dict.fromkeys(("Service", "ReplicationController", "ReplicaSet", "StatefulSet"), (("selector",), ())),
}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_METADATA_SHAPE = {
    "labels": {"": str},
    "ownerReferences": [{"kind": str}],
    **dict.fromkeys(("creationTimestamp", "deletionTimestamp", "uid"), str),
}
_SHAPES: Mapping[str, Any] = {
    "Node": {"metadata": _METADATA_SHAPE, "spec": {"taints": [{"key!": str, "value": str, "effect!": str}]}},
    "PriorityClass": {"value": int, "preemptionPolicy": str},
    "Pod": {
        "metadata": _METADATA_SHAPE,
        "spec": {
            **dict.fromkeys(("nodeName", "schedulerName", "preemptionPolicy"), str),
            "priority": int,
            "nodeSelector": {"": str},
            "affinity": {
                "nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [{}], "matchFields": [{}]}]}},
                **{name: {_REQUIRED: [{}]} for name in ("podAffinity", "podAntiAffinity")},
            },
            "tolerations": [dict.fromkeys(("key", "operator", "value", "effect"), str)],
            "schedulingGates": [{"name!": str}],
            "resourceClaims": [{}],
            "topologySpreadConstraints": [{"whenUnsatisfiable": str}],
        },
    },
}
"""The types of what is read here, by kind. ``!``: required. Of a mapping with any keys, the values of the key that is empty."""
_LARGEST_AMOUNT = (1 << 63) - 1


_AMOUNTS: Mapping[str, Callable[[Object], Resources]] = {
    "Pod": lambda pod: resource_accounting.requested([pod]),
    "Node": resource_accounting.allocatable,
    "NodeMetrics": lambda node: resource_accounting.used([node.get("usage")]),
    "PodMetrics": lambda pod: resource_accounting.used(container["usage"] for container in pod["containers"]),
}
"""The quantities that are read here, by kind."""


class Malformed(ValueError):
    """Its message names the field."""


@dataclass(frozen=True)
class Snapshot:
    """objects: redacted. kubernetes: release of the API server, empty if unknown. missing: what could not be read, and why."""

    objects: tuple[Object, ...]
    kubernetes: str = ""
    taken: str = ""
    missing: tuple[str, ...] = ()

    def of(self, kind: str) -> list[Object]:
        """The objects of a kind of the API group ``v1``."""
        return [one for one in self.objects if one["kind"] == kind and one["apiVersion"] == "v1"]

    @property
    def load(self) -> list[Object]:
        """What the metrics API measured of nodes and pods."""
        return [one for one in self.objects if one["kind"] in LOAD]

    def write(self) -> bytes:
        """The content of the file, compressed."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "kubernetes": self.kubernetes,
            "taken": self.taken,
            "missing": self.missing,
            "objects": self.objects,
        }
        return gzip.compress(json.dumps(content, separators=(",", ":")).encode(), mtime=0)


def take(client: Client) -> Snapshot:
    """The snapshot of a cluster. What the user must not read is in ``missing``. Raises `ApiError` if that is so for nodes or pods."""
    objects: list[Object] = []
    missing = []
    for resource in RESOURCES:
        try:
            objects += client.list(resource)
        except ApiError as error:
            # The metrics API is another server, which can be unavailable.
            if (resource.kind in LOAD and error.status != 404) or (error.status == 403 and resource.kind not in ("Node", "Pod")):
                missing.append(f"{resource.plural} ({resource.api_version}): {error.in_words()}")
            elif error.status != 404:
                raise
    return Snapshot(_redacted(objects, "the cluster"), client.version(), timestamps.now(), tuple(missing))


def read(path: str) -> Snapshot:
    """The snapshot in a file: one that `Snapshot.write` made, or a list that ``kubectl get -o json`` printed. Raises InputError."""
    try:
        with open(path, "rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise InputError(f"snapshot: {path} cannot be read: {error.strerror}. It is a path on the host that the task runs on.") from None
    return parse(content, path)


def parse(content: bytes, path: str) -> Snapshot:
    """As `read`, for the content of a file; ``path`` is for messages. Objects are redacted again. Raises InputError."""
    again = "Take the snapshot again."
    try:
        if content.startswith(_GZIP):
            unpacker = zlib.decompressobj(wbits=31)
            content = unpacker.decompress(content, _LARGEST + 1)
            if (not unpacker.eof or unpacker.unused_data) and len(content) <= _LARGEST:
                raise EOFError
        if len(content) > _LARGEST:
            raise InputError(f"snapshot: {path} contains more than {_LARGEST >> 30} GiB. Select namespaces when you take it.")
        found = json.loads(content)
    except (EOFError, zlib.error, UnicodeDecodeError, ValueError, RecursionError):
        raise InputError(f"snapshot: {path} is truncated or damaged: it is no complete JSON document. {again}") from None
    if isinstance(found, dict) and found.get("format") == FORMAT:
        if found.get("version") != VERSION:
            raise InputError(
                f"snapshot: {path} has version {found.get('version')!r:.20} of the format; this release of the collection reads version "
                f"{VERSION}. {again}"
            )
        items, about = found.get("objects"), [found.get(name, "") for name in ("kubernetes", "taken")]
        missing = tuple(str(one) for one in found["missing"]) if isinstance(found.get("missing"), list) else ()
    elif isinstance(found, dict) and str(found.get("kind", "")).endswith("List"):
        kind = str(found["kind"])[: -len("List")]
        items, about, missing = found.get("items"), ["", ""], ()
        if isinstance(items, list) and kind:
            items = [{"apiVersion": found.get("apiVersion"), "kind": kind, **one} for one in items if isinstance(one, dict)]
    else:
        raise InputError(f"snapshot: {path} is neither a snapshot of this collection nor a list that kubectl get -o json prints.")
    if not isinstance(items, list):
        raise InputError(f"snapshot: {path} contains no list of objects. {again}")
    return Snapshot(_redacted(items, path), str(about[0]), str(about[1]), missing)


def _redacted(objects: Iterable[Any], source: str) -> tuple[Object, ...]:
    """The objects that a scheduler reads, with the fields that it reads. Raises InputError for malformed ones."""
    found: dict[tuple[str, str, str], Object] = {}
    for obj in objects:
        try:
            resource = _BY_KIND.get((obj["apiVersion"].partition("/")[0], obj["kind"]))
            if resource is not None and not _has_ended(obj):
                found[resource.kind, obj["metadata"].get("namespace") or "", obj["metadata"]["name"]] = redact(obj)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            about = (obj.get("kind"), obj.get("metadata")) if isinstance(obj, dict) else ("object", obj)
            name = about[1].get("name") if isinstance(about[1], dict) else None
            why = f": {error}" if isinstance(error, Malformed) else ""
            raise InputError(f"snapshot: {source}: the {str(about[0])[:60]} {str(name)[:260]} is malformed{why}.") from None
    if not any(kind == "Node" for kind, *_name in found):
        raise InputError(f"snapshot: {source} contains no node. For a list of kubectl: kubectl get nodes,pods,namespaces -A -o json")
    return tuple(found.values())


def _has_ended(obj: Object) -> bool:
    return obj["kind"] == "Pod" and (obj.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def redact(obj: Mapping[str, Any]) -> Object:
    """The object with the fields that a scheduler reads. Raises AttributeError, KeyError, TypeError or ValueError for a malformed one."""
    redacted = _redacted_object(obj)
    wrong = _difference(redacted, _SHAPES.get(obj["kind"], {}), "")
    if wrong:
        raise Malformed(wrong)
    if obj["kind"] in _AMOUNTS:
        has = _AMOUNTS[obj["kind"]](redacted)
        if max(has.cpu_millis, has.memory, has.pods) > _LARGEST_AMOUNT:
            raise Malformed("a quantity is larger than any of Kubernetes")
    return redacted


def _difference(found: Any, shape: Any, path: str) -> str:
    """The first field that is not as its shape; empty if there is none."""
    expected: Any = shape if isinstance(shape, type) else type(shape)
    if not isinstance(found, expected):
        return f"{path} is of type {type(found).__name__}, not {expected.__name__}"
    pairs: list[tuple[Any, Any, str]] = []
    if isinstance(shape, list):
        pairs = [(item, shape[0], f"{path}[{number}]") for number, item in enumerate(found)]
    elif isinstance(shape, dict) and "" in shape:
        pairs = [(value, shape[""], f"a value of {path}") for value in found.values()]
    elif isinstance(shape, dict):
        for key, one in shape.items():
            name = key.rstrip("!")
            if key != name or found.get(name) is not None:
                pairs.append((found.get(name), one, f"{path}.{name}".lstrip(".")))
    return next(filter(None, (_difference(*pair) for pair in pairs)), "")


def _redacted_object(obj: Mapping[str, Any]) -> Object:
    kind, metadata = obj["kind"], obj["metadata"]
    kept = _only(metadata, _METADATA)
    spec = obj.get("spec") or {}
    # They are printed, and are parts of paths.
    if not all(_NAME.fullmatch(name) for name in (kept["name"], kept.get("namespace", ""), spec.get("nodeName") or "")):
        raise ValueError
    annotations = {key: value for key, value in (metadata.get("annotations") or {}).items() if key.startswith(_ANNOTATIONS)}
    if annotations:
        kept["annotations"] = annotations
    about = {"apiVersion": obj["apiVersion"], "kind": kind, "metadata": kept}
    if kind == "Pod":
        return {**about, "spec": _pod_spec(obj["spec"]), "status": _pod_status(obj.get("status") or {})}
    if kind == "PodMetrics":
        return {**about, "containers": [{"usage": _only(container["usage"], ("cpu", "memory"))} for container in obj["containers"]]}
    if kind in _FIELDS:
        return {**about, **{name: _only(obj.get(name) or {}, fields) for name, fields in zip(("spec", "status"), _FIELDS[kind])}}
    return {**about, **{key: _without(value) for key, value in obj.items() if key not in (*about, *_DROPPED)}}


def _pod_spec(spec: Mapping[str, Any]) -> Object:
    kept = {**_only(spec, _POD_SPEC), **_seccomp(spec)}
    for name in ("containers", "initContainers"):
        if spec.get(name):
            kept[name] = [{**_only(container, _CONTAINER), **_seccomp(container)} for container in spec[name]]
    volumes = [
        {"name": volume["name"], kind: _only(volume[kind], fields)}
        for volume in spec.get("volumes") or []
        for kind, fields in _VOLUMES.items()
        if volume.get(kind) is not None
    ]
    return {**kept, "volumes": volumes} if volumes else kept


def _seccomp(value: Mapping[str, Any]) -> Object:
    """What the plugin SySched reads of the security context of a pod or container."""
    profile = (value.get("securityContext") or {}).get("seccompProfile")
    return {"securityContext": {"seccompProfile": _only(profile, ("type", "localhostProfile"))}} if profile else {}


def _pod_status(status: Mapping[str, Any]) -> Object:
    kept = _only(status, _POD_STATUS)
    conditions = [one for one in status.get("conditions") or [] if one["type"] in ("PodScheduled", "PodResizePending")]
    statuses = [_only(one, ("name", "resources", "allocatedResources")) for one in status.get("containerStatuses") or []]
    return {**kept, **({"conditions": conditions} if conditions else {}), **({"containerStatuses": statuses} if statuses else {})}


def _only(value: Mapping[str, Any], names: Iterable[str]) -> Object:
    return {name: value[name] for name in names if value.get(name) is not None}


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: item if key == "matchLabels" else _without(item) for key, item in value.items() if key not in _DROPPED}
    return [_without(item) for item in value] if isinstance(value, list) else value
