# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which objects belong to a set: those that it created, and those that it adopted and has to give back.

A member carries the labels of the set: its name and, where it has an inventory, the namespace of the inventory. An adopted member also carries
an annotation that names the field manager which had it before, so that both are known as long as the object exists, even when the
inventory is lost.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.accounts import SERVICE_ACCOUNT
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.additions import RECORD
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import SET_LABEL, SET_NAMESPACE_LABEL
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.ownership import leaf_count, union
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object

ADOPTED_FROM = "osso.scheduler/adopted-from"
"""Annotation of an adopted object: operation and name of the field manager that had most of it, such as ``Update kubectl-create``."""


class Standing(Enum):
    """How an object stands to a set."""

    CREATED = "created by the set, or not there yet"
    ADOPTED = "existed before, and was adopted"
    FOREIGN = "existed before, or belongs to another set"


def standing(live: Object | None, wanted_set: tuple[str, str | None] | None, recorded: bool) -> Standing:
    """The `Standing` of an object (None: it does not exist) to a set, as `set_of` returns it.

    ``recorded``: the inventory names the object, or there is no inventory.
    """
    if live is None:
        return Standing.CREATED
    if not (recorded and set_of(live) == wanted_set):
        return Standing.FOREIGN
    return Standing.ADOPTED if former_manager(live) is not None else Standing.CREATED


def set_of(live: Object) -> tuple[str, str | None] | None:
    """Name, and namespace or None, of the set that an object says it belongs to; None for an object of no set."""
    labels = live["metadata"].get("labels") or {}
    return (labels[SET_LABEL], labels.get(SET_NAMESPACE_LABEL)) if SET_LABEL in labels else None


def former_manager(live: Object) -> str | None:
    """The value of the annotation of an adopted object, None for any other."""
    return (live["metadata"].get("annotations") or {}).get(ADOPTED_FROM)


def has_fields_of(live: Object, managers: Collection[str]) -> bool:
    """Does any of the field managers own something of the object?"""
    return any(entry.get("manager") in managers for entry in live["metadata"].get("managedFields") or [])


def adopted(wanted: Object, live: Object, manager: str) -> Object:
    """The manifest ``wanted`` for an object that existed before: with the annotation, and without an owner that it would be deleted with.

    ``manager``: our field manager. It is recorded only if no other has a field.
    """
    former = former_manager(live)
    metadata = {key: value for key, value in wanted["metadata"].items() if key != "ownerReferences"}
    metadata["annotations"] = {**(metadata.get("annotations") or {}), ADOPTED_FROM: _most_of(live, manager) if former is None else former}
    return {**wanted, "metadata": metadata}


def release(live: Object, manager: str) -> list[Object]:
    """The JSON patch that gives an adopted object back: without labels and annotation, our fields those of the manager that had it before.

    Its content stays as it is. It is refused as a conflict (409) when the object has changed since it was read.
    """
    metadata = live["metadata"]
    operation, _space, former = (former_manager(live) or "").partition(" ")
    return [
        {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
        *without_labels(live),
        *(
            {"op": "remove", "path": "/metadata/annotations/" + _escaped(key)}
            for key in (ADOPTED_FROM, RECORD)
            if key in metadata["annotations"]
        ),
        {"op": "replace", "path": "/metadata/managedFields", "value": _returned(metadata["managedFields"], manager, operation, former)},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]},
    ]


def without_labels(live: Object) -> list[Object]:
    """The operations of a JSON patch that remove the labels that the members of a set get."""
    labels = live["metadata"].get("labels") or {}
    return [
        {"op": "remove", "path": "/metadata/labels/" + _escaped(key)}
        for key in (SET_LABEL, SET_NAMESPACE_LABEL, SERVICE_ACCOUNT)
        if key in labels
    ]


def managers(live: Object, subresource: str | None = None) -> list[str]:
    """Names of the field managers of an object or, instead, of its subresource."""
    return sorted({entry["manager"] for entry in _entries(live, subresource) if entry.get("manager")})


def _entries(live: Object, subresource: str | None = None) -> list[Object]:
    return [entry for entry in live["metadata"].get("managedFields") or [] if entry.get("subresource", "") == (subresource or "")]


def _most_of(live: Object, ours: str) -> str:
    """Operation and name of the field manager that owns most of the fields, ours only if there is no other; empty without an owner."""
    entries = [entry for entry in _entries(live) if entry.get("manager")]
    if not entries:
        return ""
    first = max(entries, key=lambda entry: (entry["manager"] != ours, leaf_count(entry.get("fieldsV1") or {})))
    return f"{first['operation']} {first['manager']}"


def _returned(entries: list[Object], manager: str, operation: str, former: str) -> list[Object]:
    """managedFields in which the fields that ``manager`` applied belong to the former manager, or have no owner if that is unknown."""
    ours = [entry for entry in entries if _is(entry, manager, "Apply")]
    others = [entry for entry in entries if entry not in ours]
    if not ours or not former or operation not in ("Apply", "Update"):
        # An empty list would be ignored: this is how the list is emptied.
        return others or [{}]
    theirs = [entry for entry in others if _is(entry, former, operation) and entry.get("apiVersion") == ours[0].get("apiVersion")]
    fields = union(entry.get("fieldsV1") or {} for entry in theirs + ours)
    merged = {**(theirs + ours)[0], "manager": former, "operation": operation, "fieldsV1": fields}
    return [entry for entry in others if entry not in theirs] + [merged]


def _is(entry: Object, manager: str, operation: str) -> bool:
    return entry.get("manager") == manager and entry.get("operation") == operation and not entry.get("subresource")


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
