# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What others added to the pod template of a workload that we apply: fields that are neither ours nor a default of the server.

Server-side apply does not change such fields, whoever added them. `evaluate` returns the fields to remove. `claim` assigns them to our field manager,
and the next apply removes them. Each is removed once for each template that we apply. A field that returns at once stays and is reported: a mutating
admission policy, for example, adds it to every write, and no write would end that.

The record of what was removed is an annotation of the workload. It holds hashes: of the template that we apply, and of each field with its
manager. A field without a manager was added by admission, see https://kubernetes.io/docs/reference/using-api/server-side-apply/.

Admission can also replace or remove what we apply. Server-side apply does not record that, so `replaced` compares the values.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.object_comparison import ABSENT, equal, is_item, owned_fields
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.ownership import TakeOver, union
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._images import reference
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import DEFAULT_SCHEDULER_NAME

RECORD = "osso.scheduler/reverted"
KINDS = ("DaemonSet", "Deployment", "StatefulSet")

# Of a value in a message
_MAX_TEXT = 200

# A field that was removed and is back within these seconds is disputed.
AT_ONCE = 600

_TEMPLATE = ("f:spec", "f:template")
# Written by `kubectl rollout restart`
_RESTARTED = (*_TEMPLATE, "f:metadata", "f:annotations", "f:kubectl.kubernetes.io/restartedAt")

# The server's defaults, by the last part of their path. Kubernetes adds none to pod templates any more, since each would replace all pods of a
# cluster: kubernetes/kubernetes pkg/apis/core/v1/defaults_test.go, TestWorkloadDefaults.
_DEFAULTS = {
    "apiVersion": ("v1",),  # fieldRef
    "cachingMode": ("ReadWrite",),
    "defaultMode": (420,),
    "divisor": ("0",),
    "dnsPolicy": ("ClusterFirst",),
    "expirationSeconds": (3600,),
    "failureThreshold": (3,),
    "iscsiInterface": ("default",),
    "keyring": ("/etc/ceph/keyring",),
    "path": ("/",),  # httpGet
    "periodSeconds": (10,),
    "pool": ("rbd",),
    "protocol": ("TCP",),
    "restartPolicy": ("Always",),
    "schedulerName": (DEFAULT_SCHEDULER_NAME,),
    "scheme": ("HTTP",),
    "storageMode": ("ThinProvisioned",),
    "successThreshold": (1,),
    "terminationGracePeriodSeconds": (30,),
    "terminationMessagePath": ("/dev/termination-log",),
    "terminationMessagePolicy": ("File",),
    "timeoutSeconds": (1,),
    "volumeMode": ("Filesystem",),
}
# Lists whose items are owned one by one, with the keys of an item
_LIST_KEYS = {
    "containers": ("name",),
    "env": ("name",),
    "ephemeralContainers": ("name",),
    "hostAliases": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ports": ("containerPort", "protocol"),
    "resourceClaims": ("name",),
    "schedulingGates": ("name",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}


class Addition(NamedTuple):
    """path: its keys in the form of fieldsV1. manager: its owner, "" without one. time: the owner's last write."""

    path: tuple[str, ...]
    manager: str
    time: str

    @property
    def field(self) -> str:
        """The path as people write it, such as ``spec.template.spec.containers[name=scheduler].env``."""
        return "".join(map(_written, self.path)).lstrip(".")

    @property
    def hash(self) -> str:
        return _hash([self.manager, *self.path])


class Replacement(NamedTuple):
    """A field that we apply and that admission changes. declared, live: the two values as JSON; live is "" if it removes the field."""

    path: tuple[str, ...]
    declared: str
    live: str

    @property
    def field(self) -> str:
        return "".join(map(_written, self.path)).lstrip(".")


class Verdict(NamedTuple):
    """fresh: additions to remove now. disputed: those that returned at once. record: the annotation to apply, "" for none."""

    fresh: list[Addition]
    disputed: list[Addition]
    record: str


def evaluate(live: dict[str, Any], wanted: dict[str, Any], manager: str) -> Verdict:
    """The `Verdict` on a live workload to which ``manager`` applies ``wanted``."""
    found = _found(live, wanted, manager)
    template = _hash(wanted["spec"]["template"])
    removed = _removed(live, template)
    applied = next((entry.get("time", "") for entry in _entries(live) if _is_own(entry, manager)), "")
    disputed = [one for one in found if one.hash in removed and _is_at_once(one.time, applied)]
    fresh = [one for one in found if one not in disputed]
    known = sorted(removed | {one.hash for one in fresh})
    record = json.dumps({"template": template, "fields": known}, separators=(",", ":"), sort_keys=True) if known else ""
    return Verdict(fresh, disputed, record)


def by_hand(live: Object, manager: str) -> list[Addition]:
    """What other field managers than ``manager`` added to the pods' spec of a live workload, without defaults of the server."""
    return [one for one in _found(live, live, manager) if one.manager and one.path[2] == "f:spec"]


def claim(live: dict[str, Any], fresh: list[Addition], manager: str) -> TakeOver | None:
    """The `TakeOver` that makes the additions fields of ``manager``; None where there are none."""
    if not fresh:
        return None
    entries = _entries(live)
    own = next(entry for entry in entries if _is_own(entry, manager))
    fields = union([own["fieldsV1"], *(_nested(one.path) for one in fresh)])
    left = []
    for entry in entries:
        if entry is own:
            left.append(dict(own, fieldsV1=fields))
        elif entry.get("subresource"):
            left.append(entry)
        else:
            rest = entry.get("fieldsV1") or {}
            for one in fresh:
                rest = _without(rest, one.path)
            left += [dict(entry, fieldsV1=rest)] if rest else []
    return TakeOver(left, fields)


def with_record(wanted: dict[str, Any], record: str) -> dict[str, Any]:
    """The manifest with the annotation."""
    if not record:
        return wanted
    metadata = wanted["metadata"]
    return dict(wanted, metadata=dict(metadata, annotations=dict(metadata.get("annotations") or {}, **{RECORD: record})))


def replaced(live: Object, wanted: Object, manager: str) -> list[Replacement]:
    """What admission changed in the answer ``live`` to an apply of ``wanted`` as ``manager``."""
    ours = owned_fields(live, manager)
    for key in _TEMPLATE:
        ours = ours.get(key) or {}
    return list(_replaced(wanted["spec"]["template"], live["spec"]["template"], ours, _TEMPLATE)) if ours else []


def listing(additions: list[Addition]) -> str:
    """The fields with their managers, for people."""
    return "; ".join(f"{one.field} ({'field manager ' + one.manager if one.manager else 'mutating admission'})" for one in additions)


def describe(identity: Identity, additions: list[Addition]) -> str:
    """What is in the way of a pod template as it was declared, for people."""
    return f"{identity}: others add to its pod template, and again after the fields were removed: {listing(additions)}"


def describe_replaced(identity: Identity, replacements: list[Replacement]) -> str:
    """The same for what admission replaces."""
    fields = "; ".join(f"{one.field} (declared {one.declared}, {'live ' + one.live if one.live else 'removed'})" for one in replacements)
    return f"{identity}: mutating admission changes its pod template in each write: {fields}"


# Finding


def _found(live: Object, wanted: Object, manager: str) -> list[Addition]:
    ours = owned_fields(live, manager)
    for key in _TEMPLATE:
        ours = ours.get(key) or {}
    if not ours:
        return []  # It was never applied.
    paths = _extra(live["spec"]["template"], wanted["spec"]["template"], ours, _TEMPLATE)
    return [Addition(path, *_owner(live, path, manager)) for path in paths if path != _RESTARTED]


def _extra(value: Any, wanted: Any, ours: Object, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the path of each field in ``value`` that the set of fields ``ours`` does not contain."""
    if not {key for key in ours if key != "."} and "." not in ours and (wanted or (wanted is None and isinstance(value, list))):
        return  # It is owned as a whole, such as a list that is wanted no longer.
    if isinstance(value, dict):
        for key, item in value.items():
            below = ours.get("f:" + key)
            if below is None and key in (*_LIST_KEYS, "annotations", "labels"):
                yield from _extra(item, None, {".": {}}, (*path, "f:" + key))
            elif below is None:
                if not _is_default(key, item, value):
                    yield (*path, "f:" + key)
            elif isinstance(item, (dict, list)):
                yield from _extra(item, wanted.get(key) if isinstance(wanted, dict) else None, below, (*path, "f:" + key))
    elif isinstance(value, list):
        for item in value:
            key = next((key for key in ours if is_item(key, item)), None)
            if key is None:
                yield (*path, _item_key(path[-1][2:], item))
            elif key.startswith("k:"):
                same = next((one for one in wanted if is_item(key, one)), None) if isinstance(wanted, list) else None
                yield from _extra(item, same, ours[key], (*path, key))


def _replaced(wanted: Any, live: Any, ours: Object, path: tuple[str, ...]) -> Iterator[Replacement]:
    """Yield each field of ``wanted`` that ``live`` does not have with the same value. ``ours`` determines which lists consist of items."""
    children = {key: below for key, below in ours.items() if key != "."}
    if children and isinstance(wanted, dict) and isinstance(live, dict):
        for key, value in wanted.items():
            yield from _replaced(value, live.get(key, ABSENT), children.get("f:" + key) or {}, (*path, "f:" + key))
    elif children and isinstance(wanted, list) and isinstance(live, list):
        for item in wanted:
            key = next((key for key in children if is_item(key, item)), _item_key(path[-1][2:], item))
            same = next((one for one in live if is_item(key, one)), ABSENT)
            yield from _replaced(item, same, children.get(key) or {}, (*path, key))
    elif not equal(wanted, live, tuple(key[2:] for key in path if key.startswith("f:"))):
        yield Replacement(path, _as_text(wanted, path), "" if live is ABSENT else _as_text(live, path))


def _as_text(value: Any, path: tuple[str, ...]) -> str:
    """The value as JSON. The value of an environment variable can be a password."""
    text = "(not shown)" if "f:env" in path else json.dumps(value, sort_keys=True)
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "..."


def _is_default(key: str, value: Any, parent: Object) -> bool:
    if value is None or value == {} or value == [] or value == "":
        return True
    if key == "imagePullPolicy":
        return bool(value == _pull_policy(parent.get("image") or ""))
    if key == "serviceAccount":
        return bool(value == parent.get("serviceAccountName"))
    if key == "hostPort":
        return bool(value == parent.get("containerPort"))
    return type(value) in (int, str) and value in _DEFAULTS.get(key, ())


def _pull_policy(image: str) -> str:
    """The API server's default. For it, what is no image reference has no tag."""
    try:
        tag = reference.parse(image).tag
    except ValueError:
        tag = ""
    return "Always" if tag == "latest" else "IfNotPresent"


def _item_key(name: str, item: Any) -> str:
    if not isinstance(item, dict) or name not in _LIST_KEYS:
        return "v:" + json.dumps(item, separators=(",", ":"), sort_keys=True)
    keys = {key: item.get(key, _DEFAULTS.get(key, (None,))[0]) for key in _LIST_KEYS[name]}
    return "k:" + json.dumps(keys, separators=(",", ":"), sort_keys=True)


def _owner(live: Object, path: tuple[str, ...], manager: str) -> tuple[str, str]:
    """Name of the manager that owns a field, or something in it, and the time of its last write; the latest of several."""
    owners = [
        (entry.get("time") or "", entry["manager"])
        for entry in _entries(live)
        if not _is_own(entry, manager) and not entry.get("subresource") and _contains(entry.get("fieldsV1") or {}, path)
    ]
    time, name = max(owners, default=("", ""))
    return name, time


def _contains(fields: Object, path: tuple[str, ...]) -> bool:
    for key in path:
        if key not in fields:
            return False
        fields = fields[key]
        if not fields:
            return True  # owned as a whole
    return True


def _entries(live: Object) -> list[Object]:
    return live["metadata"].get("managedFields") or []


def _is_own(entry: Object, manager: str) -> bool:
    return (entry.get("manager"), entry.get("operation"), entry.get("subresource", "")) == (manager, "Apply", "")


# The record


def _removed(live: Object, template: str) -> set[str]:
    """Hashes of the additions that were removed from this template."""
    try:
        record = json.loads((live["metadata"].get("annotations") or {}).get(RECORD) or "{}")
        return {str(one) for one in record["fields"]} if record["template"] == template else set()
    except (KeyError, RecursionError, TypeError, ValueError):
        return set()  # It does not exist, or another client changed it.


def _is_at_once(added: str, applied: str) -> bool:
    try:
        return not added or timestamps.seconds_between(applied, added) < AT_ONCE
    except ValueError:
        return True


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


# Sets of fields


def _nested(path: tuple[str, ...]) -> Object:
    fields: Object = {}
    for key in reversed(path):
        fields = {key: fields}
    return fields


def _without(fields: Object, path: Sequence[str]) -> Object:
    """A set of fields without what is at ``path``; a parent that this leaves empty goes, too."""
    key, *rest = path
    if key not in fields:
        return fields
    left = {name: below for name, below in fields.items() if name != key}
    below = _without(fields[key], rest) if rest and fields[key] else {}
    return {**left, key: below} if below else left


def _written(key: str) -> str:
    kind, _colon, text = key.partition(":")
    if kind == "k":
        return "[" + ",".join(f"{name}={value}" for name, value in json.loads(text).items()) + "]"
    if kind == "v":
        return f"[{text}]"
    return f".{text}" if text.isalnum() else f"['{text}']"
