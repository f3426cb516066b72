# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Items of the variable scheduler_pools: defaults and validation. Pure: no requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import (
    dns1123_label,
    dns1123_subdomain,
    label_value,
    qualified_name,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import DEFAULT_SCHEDULER_NAME
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.shared_values import listed_twice

VARIABLE = "scheduler_pools"
POOL_KEY = "osso.scheduler/pool"
"""Label and taint of a pool's nodes; the value is the schedulerName."""
ALL = 16
"""The share of all controllers: one sixteenth for each last digit of a uid."""
SYSTEM_PREFIXES = ("kube-", "openshift-")
SYSTEM_NAMESPACES = ("openshift",)
# As in plugins/modules/scheduler_pool.py
DEFAULTS: dict[str, Any] = {
    "scheduler_name": "",
    "state": "present",
    "namespaces": {},
    "pods": {},
    "nodes": {},
    "exclusive": False,
    "reserved": False,
    "share": ALL,
    "when_unavailable": "wait",
}
_KINDS: dict[type, str] = {str: "a text", bool: "true or false", int: "a number", dict: "a mapping", list: "a list"}
_SELECTOR: dict[str, type] = {"match_labels": dict, "names": list}
_LABELS = {"namespaces": "team: research", "pods": "app: batch", "nodes": "pool: batch"}
_SEPARATE = "set in their pods.match_labels different values of one label"
_NAMES: dict[str, Callable[[str], list[str]]] = {"namespaces": dns1123_label, "nodes": dns1123_subdomain}


def complete(given: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """``items``: the pools with all that was left out; ``errors``: what of ``given`` cannot be used, with place, value and remedy.

    A selector of an item is a dict with ``match_labels`` and, of namespaces and nodes, ``names``.
    """
    given = [_typed(item) for item in given]
    wrong = [error for number, item in enumerate(given) for error in _type_errors(item, f"{VARIABLE}[{number}]")]
    if wrong:
        return {"items": [], "errors": wrong}
    items = [_completed(item, f"{VARIABLE}[{number}]") for number, item in enumerate(given)]
    errors = [error for raw, item in zip(given, items) for error in [*_errors(item), *_empty_selectors(raw, item)]]
    errors += _shared(items, "scheduler_name", lambda item: [item["scheduler_name"]], "give each scheduler one pool")
    present = [item for item in items if item["state"] == "present"]
    errors += _shared(present, "nodes", _nodes, "give each pool its own nodes")
    errors += _shared_by_namespaces(present)
    return {"items": items, "errors": errors}


def shared_namespaces(items: Sequence[Mapping[str, Any]], namespaces: Sequence[Mapping[str, Any]]) -> list[str]:
    """Why pods of existing namespaces would be routed by several of the pools: whose policy sets the schedulerName first is not defined."""
    found = []
    for namespace in namespaces:
        name, labels = namespace["metadata"]["name"], namespace["metadata"].get("labels") or {}
        pools = _overlapping([item for item in items if not is_system(name) and _selects(item, name, labels)])
        if pools:
            which = " and ".join(f"{item['where']} ({item['scheduler_name']})" for item in pools)
            found.append(f"The namespace {name} is in {which}: change their namespaces, so that it is in one pool, or {_SEPARATE}.")
    return found


def is_system(namespace: str) -> bool:
    """Whether pods of a namespace are never routed, because the cluster itself runs there."""
    return namespace.startswith(SYSTEM_PREFIXES) or namespace in SYSTEM_NAMESPACES


def _overlapping(items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Pools of one namespace that can have a pod in common with another of them."""
    return [item for item in items if any(one is not item and not _separate(one, item) for one in items)]


def _separate(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether no pod is in both: they require different values of one label."""
    labels = other["pods"]["match_labels"]
    return any(labels.get(label, value) != value for label, value in one["pods"]["match_labels"].items())


def _selects(item: Mapping[str, Any], name: str, labels: Mapping[str, str]) -> bool:
    selector = item["namespaces"]
    return name in selector["names"] if selector["names"] else bool(selector["match_labels"].items() <= labels.items())


def _typed(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item whose numbers and booleans can be texts, which is what a template of a variable or of a survey results in."""
    found = dict(item)
    for key, text in item.items():
        if not isinstance(text, str):
            continue
        default = DEFAULTS.get(key)
        if isinstance(default, bool):
            with suppress(TypeError):
                found[key] = boolean(text)
        elif isinstance(default, int) and text.strip().isdecimal():
            found[key] = int(text)
    return found


def _type_errors(item: Mapping[str, Any], where: str) -> list[str]:
    """Fields that do not exist, or have another type than their default. Modules that take pools as they are have no other check of it."""
    found = _wrong_fields(item, {name: type(default) for name, default in DEFAULTS.items()}, where)
    for key in _LABELS:
        if isinstance(item.get(key), Mapping):
            fields = {name: kind for name, kind in _SELECTOR.items() if name == "match_labels" or key in _NAMES}
            found += _wrong_fields(item[key], fields, f"{where}.{key}")
    return found


def _wrong_fields(given: Mapping[str, Any], fields: Mapping[str, type], where: str) -> list[str]:
    found = []
    for name, value in given.items():
        if name not in fields:
            found.append(f"{where} has {name}, which is no field of it: use {', '.join(fields)}.")
        elif value is not None and (not isinstance(value, fields[name]) or isinstance(value, bool) is not (fields[name] is bool)):
            found.append(f"{where}.{name} is {value!r}: set {_KINDS[fields[name]]}.")
    return found


def _completed(item: Mapping[str, Any], where: str) -> dict[str, Any]:
    found = {**DEFAULTS, **{key: value for key, value in item.items() if value is not None}, "where": where}
    for key in _LABELS:
        labels = found[key].get("match_labels") or {}
        texts = {
            str(name): str(value) if isinstance(value, int) and not isinstance(value, bool) else value for name, value in labels.items()
        }
        found[key] = {"match_labels": texts, "names": [str(name) for name in found[key].get("names") or []]}
    return found


def _errors(item: Mapping[str, Any]) -> list[str]:
    where, name = item["where"], item["scheduler_name"]
    found = []
    if name == DEFAULT_SCHEDULER_NAME:
        found.append(f"{where}.scheduler_name is {name}, which pods have without a pool: name another scheduler.")
    elif dns1123_label(name):
        found.append(f"{where}.scheduler_name is {name!r}: use up to 63 lower-case letters, digits and hyphens, with no hyphen at an end.")
    if item["state"] not in ("present", "absent"):
        found.append(f"{where}.state is {item['state']}: set present or absent.")
    if item["state"] == "absent":
        return found
    found += [error for key in _LABELS for error in _selector_errors(item, key)]
    if not any(item["namespaces"].values()):
        found.append(f"{where}.namespaces selects nothing: set match_labels, such as {{{_LABELS['namespaces']}}}, or names.")
    system = [namespace for namespace in item["namespaces"]["names"] if is_system(namespace)]
    if system:
        found.append(f"{where}.namespaces.names has {', '.join(system)}: pods of the cluster itself are never routed. Remove it.")
    if item["exclusive"] and not any(item["nodes"].values()):
        found.append(f"{where}.exclusive is true without nodes: set nodes, or set exclusive to false.")
    marked = item["nodes"]["match_labels"].get(POOL_KEY, name)
    if marked != name:
        found.append(
            f"{where}.nodes.match_labels has {POOL_KEY}: {marked!r}, which is the label of another pool: set {name}, or another label."
        )
    if not 1 <= item["share"] <= ALL:
        found.append(f"{where}.share is {item['share']}: set a number of sixteenths from 1 to {ALL}. state: absent ends the routing.")
    if item["when_unavailable"] not in ("wait", "default"):
        found.append(f"{where}.when_unavailable is {item['when_unavailable']}: set wait or default.")
    return found


def _selector_errors(item: Mapping[str, Any], key: str) -> list[str]:
    place, selector = f"{item['where']}.{key}", item[key]
    found = []
    if selector["names"] and selector["match_labels"]:
        found.append(f"{place} has match_labels and names: set one of them.")
    for label, value in selector["match_labels"].items():
        if not isinstance(value, str):
            found.append(f"{place}.match_labels has {label}: {value!r}: put the value into quotes.")
            continue
        wrong = qualified_name(label) + label_value(value)
        if wrong:
            found.append(f"{place}.match_labels has {label}: {value!r}: {wrong[0]}.")
    for name in selector["names"]:
        wrong = _NAMES[key](name)
        if wrong:
            found.append(f"{place}.names has {name!r}: {wrong[0]}.")
    return found


def _empty_selectors(given: Mapping[str, Any], item: Mapping[str, Any]) -> list[str]:
    """Lists and labels that a template left empty: without them the pool would have all pods, or no nodes of its own. An empty mapping is no selector."""
    if item["state"] == "absent":
        return []
    found = []
    for key in ("pods", "nodes"):
        empty = [f"{field}: {value!r}" for field, value in (given.get(key) or {}).items() if value is not None and not value]
        if empty and not any(item[key].values()):
            found.append(f"{item['where']}.{key} has {', '.join(empty)}: set match_labels, such as {{{_LABELS[key]}}}, or remove {key}.")
    return found


def _labels(item: Mapping[str, Any], key: str) -> list[str]:
    """Its labels as one text; no labels: an empty list."""
    text = ", ".join(f"{label}={value}" for label, value in sorted(item[key]["match_labels"].items()))
    return [text] if text else []


def _nodes(item: Mapping[str, Any]) -> list[str]:
    return [*item["nodes"]["names"], *_labels(item, "nodes")]


def _namespaces(item: Mapping[str, Any]) -> list[str]:
    return [*item["namespaces"]["names"], *_labels(item, "namespaces")]


def _shared_by_namespaces(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """Namespaces and labels of namespaces that pools with common pods have in common."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for item in items:
        for value in dict.fromkeys(_namespaces(item)):
            groups.setdefault(value, []).append(item)
    places = ((f"{item['where']}.namespaces", value) for value, group in groups.items() for item in _overlapping(group))
    return listed_twice(places, f"route each namespace to one scheduler, or {_SEPARATE}")


def _shared(items: Sequence[Mapping[str, Any]], field: str, values: Callable[[Mapping[str, Any]], Iterable[str]], remedy: str) -> list[str]:
    """Values of ``field`` that several items have."""
    return listed_twice(((f"{item['where']}.{field}", value) for item in items for value in dict.fromkeys(values(item))), remedy)
