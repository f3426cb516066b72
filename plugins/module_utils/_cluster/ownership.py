# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fields of another manager become ours, so that the next apply removes those which the manifest does not hold.

Server-side apply removes only what its own manager applied before. Who takes another writer's place has to rewrite
``metadata.managedFields`` first; that is no change of the object, so a Deployment rolls at most once, by the apply that follows. The
same procedure as of client-go's package csaupgrade, see
https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply.

Sets of fields have the form of fieldsV1 (see `object_comparison`): a node is in the set when it is ``{}`` or has the key ``.``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.object_comparison import is_item
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object

# What the API server gives each Service
_GIVEN = ("clusterIP", "clusterIPs")
# What of the metadata has an owner that can give it up
_METADATA = ("annotations", "finalizers", "labels", "ownerReferences")


class TakeOver(NamedTuple):
    """``entries``: managedFields as they are to become; ``fields``: the set of fields in our entry of them."""

    entries: list[dict[str, Any]]
    fields: dict[str, Any]


def take_over(live: Object, managers: Collection[str], manager: str, api_version: str, subresource: str | None = None) -> TakeOver | None:
    """The `TakeOver` that makes ``manager`` the applier of what ``managers`` own, or None where they own nothing.

    Entries of another API version stay as they are: their fields may have other names there.
    """
    entries = live["metadata"].get("managedFields") or []
    own = [entry for entry in entries if _is_own(entry, manager, subresource)]
    given = [
        entry for entry in entries if entry not in own and _is_of(entry, managers, subresource) and entry.get("apiVersion") == api_version
    ]
    if not given or any(entry.get("apiVersion") != api_version for entry in own):
        return None
    fields = union(entry.get("fieldsV1") or {} for entry in own + given)
    merged = dict((own + given)[0], manager=manager, operation="Apply", fieldsV1=fields)
    return TakeOver([entry for entry in entries if entry not in own + given] + [merged], fields)


def take_over_content(live: Object, manager: str, wanted: Object) -> TakeOver | None:
    """The `TakeOver` of what all other managers own of an object's content; labels and annotations stay theirs, and owners where ``wanted`` has
    none."""
    owners = {"f:ownerReferences"} if wanted["metadata"].get("ownerReferences") else set()
    kept, own, given = [], [], []
    for entry in live["metadata"].get("managedFields") or []:
        fields = entry.get("fieldsV1") or {}
        metadata = fields.get("f:metadata") or {}
        left = {key: subset for key, subset in metadata.items() if key not in owners}
        owning = {key: subset for key, subset in metadata.items() if key in owners}
        content = {key: subset for key, subset in fields.items() if key != "f:metadata"}
        if owning:
            content["f:metadata"] = owning
        if _is_own(entry, manager, None):
            own.append(entry)
        elif entry.get("subresource") or entry.get("apiVersion") != wanted["apiVersion"] or not content:
            kept.append(entry)
        else:
            given.append(dict(entry, fieldsV1=content))
            if left:
                kept.append(dict(entry, fieldsV1={"f:metadata": left}))
    if not given or any(entry.get("apiVersion") != wanted["apiVersion"] for entry in own):
        return None
    fields = union(entry["fieldsV1"] for entry in own + given)
    return TakeOver([*kept, dict((own + given)[0], manager=manager, operation="Apply", fieldsV1=fields)], fields)


def with_content_of(live: Object, made: Object) -> Object:
    """``live`` with the content of ``made``, an object that was made without it; labels, annotations and finalizers of others stay, and owners where
    ``made`` has none."""
    metadata = dict(live["metadata"])
    if made["metadata"].get("ownerReferences"):
        metadata["ownerReferences"] = made["metadata"]["ownerReferences"]
    for key in ("labels", "annotations"):
        metadata[key] = {**(metadata.get(key) or {}), **(made["metadata"].get(key) or {})}
    content = {key: value for key, value in made.items() if key not in ("metadata", "status")}
    if live["kind"] == "Service":
        content["spec"] = {**content["spec"], **{key: live["spec"][key] for key in _GIVEN if key in live["spec"]}}
    return {**content, "metadata": metadata, **({"status": live["status"]} if "status" in live else {})}


def rewrite(live: Object, taken: TakeOver) -> list[Object]:
    """The JSON patch that stores a `TakeOver`; refused as a conflict (409) when the object has changed since it was read."""
    return [
        {"op": "replace", "path": "/metadata/managedFields", "value": taken.entries},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": live["metadata"]["resourceVersion"]},
    ]


def outcome(answer: Object, taken: TakeOver, manager: str, subresource: str | None = None) -> Object:
    """The object that an apply of ``manager`` after a `TakeOver` leaves: ``answer`` is what the apply without it would leave.

    Fields that the server defaults are missing in it where they were taken over.
    """
    own = [entry for entry in answer["metadata"].get("managedFields") or [] if _is_own(entry, manager, subresource)]
    others = [entry for entry in taken.entries if not _is_own(entry, manager, subresource)]
    kept = union(entry.get("fieldsV1") or {} for entry in own + others)
    return _less_mapping(answer, taken.fields, kept)


def replacement(live: Object, wanted: Object) -> list[Object]:
    """The JSON patch that gives ``live`` the content of ``wanted``, in what can be owned."""
    live_metadata, metadata = live["metadata"], wanted["metadata"]
    return [
        *_replace("/", live, wanted, sorted((set(live) | set(wanted)) - {"apiVersion", "kind", "metadata"})),
        *_replace("/metadata/", live_metadata, metadata, _METADATA),
    ]


def other_causes(causes: list[Object], managers: Collection[str]) -> list[Object]:
    """Those of the ``causes`` of a refusal that are no conflicts with ``managers``."""
    return [cause for cause in causes if cause.get("reason") != "FieldManagerConflict" or _manager(cause) not in managers]


def _manager(cause: Object) -> str | None:
    found = re.match(r'conflict with "([^"]*)"', cause.get("message", ""))
    return found.group(1) if found else None


def union(sets: Iterable[Object]) -> Object:
    """The union of sets of fields."""
    total: Object = {}
    for one in sets:
        total = _union(total, one) if total and one else total or one
    return total


def leaf_count(fields: Object) -> int:
    """How many fields a set names, those that only hold others not counted."""
    return sum(leaf_count(subset) for key, subset in fields.items() if key != ".") or 1


def _is_own(entry: Object, manager: str, subresource: str | None) -> bool:
    return entry.get("operation") == "Apply" and _is_of(entry, [manager], subresource)


def _is_of(entry: Object, managers: Collection[str], subresource: str | None) -> bool:
    return entry.get("manager") in managers and entry.get("subresource", "") == (subresource or "")


def _union(left: Object, right: Object) -> Object:
    if not left or not right:
        # One of them names the field itself, which its children do not say.
        return dict(left or right, **{".": {}}) if left or right else {}
    return {
        key: _union(left[key], right[key]) if key in left and key in right and key != "." else left.get(key, right.get(key))
        for key in {**left, **right}
    }


_GONE = object()


def _less(value: Any, taken: Object | None, kept: Object | None) -> Any:
    """``value`` without what is in the set ``taken`` and not in ``kept`` (None: not even beneath it); `_GONE` when nothing is left."""
    if taken is None or (not taken and kept is not None):
        return value
    if kept is None and (not taken or "." in taken):
        return _GONE
    left: Any
    if isinstance(value, dict):
        left = _less_mapping(value, taken, kept or {})
    elif isinstance(value, list):
        left = _less_list(value, taken, kept or {})
    else:
        return value
    return left if left or not value or kept is not None else _GONE


def _less_mapping(value: Object, taken: Object, kept: Object) -> Object:
    left = {key: _less(item, taken.get("f:" + key), kept.get("f:" + key)) for key, item in value.items()}
    return {key: item for key, item in left.items() if item is not _GONE}


def _less_list(value: list[Any], taken: Object, kept: Object) -> list[Any]:
    left = [_less(item, _of_item(taken, item), _of_item(kept, item)) for item in value]
    return [item for item in left if item is not _GONE]


def _of_item(fields: Object, item: Any) -> Any:
    return next((subset for key, subset in fields.items() if is_item(key, item)), None)


def _replace(path: str, old: Object, new: Object, keys: Iterable[str]) -> Iterator[Object]:
    for key in keys:
        if key in new and new[key] != old.get(key):
            yield {"op": "add", "path": path + key, "value": new[key]}
        elif key in old and key not in new:
            yield {"op": "remove", "path": path + key}
