# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Is a live object what we would apply? Answered from the object alone, so that an unchanged object costs no write.

Server-side apply keeps, in ``metadata.managedFields``, the set of fields that each manager applied last (fieldsV1: ``f:name`` a field,
``k:{...}`` a list item by its keys, ``v:...`` an item of a set, ``.`` the value itself; no children means that the value is owned as
a whole). When another writer changes a field, it leaves our set. So an apply changes nothing if our set is exactly the set to apply and the live
values are the desired ones. If this is unknown, the result is "not the same": an apply without effect costs one request, a missed change would be
wrong.

See https://kubernetes.io/docs/reference/using-api/server-side-apply/ and sigs.k8s.io/structured-merge-diff.
"""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object

ABSENT = object()

# Keys of associative lists that the server defaults
_KEY_DEFAULTS = {"protocol": "TCP"}

# What the server adds inside values that are owned as a whole, by the field that holds them
_DEFAULTS: dict[str, Object] = {
    "fieldRef": {"apiVersion": "v1"},
    "resourceFieldRef": {"divisor": "0"},
    "serviceAccountToken": {"expirationSeconds": 3600},
    "ports": {"protocol": "TCP"},
    "rules": {"scope": "*"},
    "resourceRules": {"scope": "*"},
    "excludeResourceRules": {"scope": "*"},
    # Of admission policies and their bindings
    "matchConstraints": {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}},
    "matchResources": {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}},
}

# Fields that are, or hold, quantities: "1000m" is stored as "1"
_QUANTITIES = {"averageValue", "capacity", "divisor", "hard", "limits", "podFixed", "requests", "sizeLimit"}


def is_applied(desired: Object, live: Object, manager: str, subresource: str | None = None) -> bool:
    """True when applying ``desired`` as ``manager`` would leave ``live`` as it is."""
    entries = _entries(live, manager, subresource)
    if len(entries) > 1 or any(entry.get("apiVersion") != desired["apiVersion"] for entry in entries):
        return False
    owned = entries[0].get("fieldsV1", {}) if entries else {}
    wanted = {key: value for key, value in desired.items() if key not in ("apiVersion", "kind", "metadata")}
    metadata = {key: value for key, value in desired["metadata"].items() if key not in ("name", "namespace")}
    if metadata:
        wanted["metadata"] = metadata
    if not wanted:
        return not _children(owned)
    return bool(owned) and _same(wanted, live, owned, ())


def owned_fields(live: Object, manager: str, subresource: str | None = None) -> Object:
    """fieldsV1 of what ``manager`` applied last; {} when it never did."""
    entries = _entries(live, manager, subresource)
    return entries[0].get("fieldsV1", {}) if entries else {}


def owns(fields: Object, value: Any) -> bool:
    """Does the set ``fields`` (fieldsV1) contain each field of ``value``, a part of a manifest? The values themselves do not matter."""
    children = _children(fields)
    if not children:
        # "." alone is the mark of an empty mapping or list among granular ones
        return "." not in fields or not value
    if isinstance(value, dict):
        given = {"f:" + key: item for key, item in value.items() if item is not None}
        return all(key in children and owns(children[key], item) for key, item in given.items())
    return isinstance(value, list) and all(
        any(is_item(key, item) and owns(below, item) for key, below in children.items()) for item in value
    )


def applied(live: Object, manager: str) -> Object:
    """The manifest that ``manager`` would have to apply to an object to leave it as it is: what it owns, with the present values."""
    owned = owned_fields(live, manager)
    content = _owned_part(live, owned) if owned else {}
    metadata = {key: live["metadata"][key] for key in ("name", "namespace") if key in live["metadata"]}
    return dict(content, apiVersion=live["apiVersion"], kind=live["kind"], metadata=dict(content.get("metadata", {}), **metadata))


def _owned_part(value: Any, owned: Object) -> Any:
    children = _children(owned)
    if not children:
        return value if "." not in owned else type(value)()
    if isinstance(value, dict):
        return {key: _owned_part(item, children["f:" + key]) for key, item in value.items() if "f:" + key in children}
    found = [(item, next((key for key in children if is_item(key, item)), None)) for item in value]
    return [item if key.startswith("v:") else _owned_part(item, children[key]) for item, key in found if key]


def _entries(live: Object, manager: str, subresource: str | None) -> list[Object]:
    return [
        entry
        for entry in live["metadata"].get("managedFields") or []
        if entry.get("manager") == manager and entry.get("operation") == "Apply" and entry.get("subresource", "") == (subresource or "")
    ]


def _children(owned: Object) -> Object:
    return {key: value for key, value in owned.items() if key != "."}


def _same(wanted: Any, live: Any, owned: Object, path: tuple[str, ...]) -> bool:
    children = _children(owned)
    if not children:
        # "." alone is the mark of an empty mapping or list among granular ones
        return ("." not in owned or not wanted) and equal(wanted, live, path)
    if isinstance(wanted, dict) and isinstance(live, dict):
        return set(children) == {"f:" + key for key in wanted} and all(
            _same(value, live.get(key, ABSENT), children["f:" + key], path + (key,)) for key, value in wanted.items()
        )
    if isinstance(wanted, list) and isinstance(live, list) and len(wanted) == len(children):
        return _same_items(wanted, live, children, path)
    return False


def _same_items(wanted: list[Any], live: list[Any], children: Object, path: tuple[str, ...]) -> bool:
    """Compare a list whose items are owned one by one: present, the same, and in the wanted order (others may stand between)."""
    positions = []
    for item in wanted:
        key = next((key for key in children if is_item(key, item)), None)
        position = next((index for index, candidate in enumerate(live) if key and is_item(key, candidate)), None)
        if key is None or position is None or position in positions:
            return False
        if key.startswith("k:") and not _same(item, live[position], children[key], path):
            return False
        positions.append(position)
    return positions == sorted(positions)


def is_item(key: str, item: Any) -> bool:
    """Is ``key`` (of fieldsV1) the one of this item of a list?"""
    if key[:2] not in ("k:", "v:"):
        return False
    value = json.loads(key[2:])
    if key.startswith("v:"):
        return bool(item == value)
    return isinstance(item, dict) and all(item.get(name, _KEY_DEFAULTS.get(name)) == part for name, part in value.items())


def equal(wanted: Any, live: Any, path: tuple[str, ...]) -> bool:
    """Compare values that are owned as a whole."""
    if live is ABSENT:
        # The server drops what is the zero value of its type.
        return not wanted
    if isinstance(wanted, dict) and isinstance(live, dict):
        defaults = _DEFAULTS.get(path[-1], {}) if path else {}
        return all(equal(value, live.get(key, ABSENT), path + (key,)) for key, value in wanted.items()) and all(
            key in wanted or defaults.get(key, ABSENT) == value for key, value in live.items()
        )
    if isinstance(wanted, list) and isinstance(live, list):
        return len(wanted) == len(live) and all(equal(left, right, path) for left, right in zip(wanted, live))
    if wanted == live:
        return isinstance(wanted, bool) == isinstance(live, bool)
    return not _QUANTITIES.isdisjoint(path[-2:]) and _same_quantity(wanted, live)


def _same_quantity(wanted: Any, live: Any) -> bool:
    from kubernetes.utils import parse_quantity

    try:
        return bool(parse_quantity(wanted) == parse_quantity(live))
    except (TypeError, ValueError):
        return False
