# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The inventory of a set: a ConfigMap that remembers which objects were applied under the set's name.

It is written before the objects are, so that an interrupted run leaves nothing behind that a later one does not know of.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import (
    SET_LABEL,
    SET_NAMESPACE_LABEL,
    Identity,
    Key,
)
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.object_comparison import owned_fields
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object

INVENTORY_LABEL = "osso.scheduler/inventory"
_KEY, _ADOPTED = "objects", "adopted"


def identity(set_name: str, namespace: str) -> Identity:
    return Identity("v1", "ConfigMap", namespace, "osso-set-" + set_name)


def manifest(set_name: str, namespace: str, members: Iterable[Identity], adopted: Collection[Key] = ()) -> Object:
    """The ConfigMap that records ``members`` (identities), one a line, sorted; those of ``adopted`` as adopted."""
    entries = ({**member.as_dict(), **({_ADOPTED: True} if member.key in adopted else {})} for member in members)
    lines = sorted(json.dumps(entry, sort_keys=True) for entry in entries)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": identity(set_name, namespace).name,
            "namespace": namespace,
            "labels": {INVENTORY_LABEL: "true", SET_LABEL: set_name},
        },
        "data": {_KEY: "".join(line + "\n" for line in lines)},
    }


def members(config_map: Object | None) -> list[Identity]:
    """The identities that a ConfigMap (or None) records. Raises `ClusterError` when someone else's hand made it unreadable."""
    return [identity for identity, _adopted in _entries(config_map)]


def adopted(config_map: Object | None) -> set[Key]:
    """Those of the `members` that existed before the set. Raises `ClusterError`, too."""
    return {identity.key for identity, is_adopted in _entries(config_map) if is_adopted}


def _entries(config_map: Object | None) -> list[tuple[Identity, bool]]:
    if config_map is None:
        return []
    try:
        entries = [json.loads(line) for line in config_map["data"][_KEY].splitlines()]
        return [
            (Identity(entry["apiVersion"], entry["kind"], entry["namespace"], entry["name"]), entry.get(_ADOPTED) is True)
            for entry in entries
        ]
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        raise ClusterError(
            f"{Identity.of(config_map)} does not hold the inventory of a set (data.{_KEY}, one JSON object a line). "
            "Restore it, or delete it and run again: then what was applied earlier and is no longer in the set stays in the cluster."
        ) from None


def union(*lists: Iterable[Identity]) -> list[Identity]:
    """All identities, each object once; the last one given wins (it may name a newer API version)."""
    return list({member.key: member for some in lists for member in some}.values())


def selector(set_name: str, set_namespace: str) -> str:
    """The label selector for the members of a set."""
    return f"{SET_LABEL}={set_name},{SET_NAMESPACE_LABEL}={set_namespace}"


def was_labelled_by(live: Object, manager: str) -> bool:
    """Did ``manager`` apply the labels of the set? Not where they came with a copy that someone made of a member."""
    labels = owned_fields(live, manager).get("f:metadata", {}).get("f:labels", {})
    return {f"f:{SET_LABEL}", f"f:{SET_NAMESPACE_LABEL}"} <= set(labels)
