# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The JSON Schemas of docs/schema agree with the check about the shape of a document; what is generated is up to date."""

from __future__ import annotations

import copy
import random

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import from_structure
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.field_types import (
    ARGS,
    LIST,
    MAP,
    ROOT,
    STRUCTURE,
    args_kind,
    fields,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.json_schemas import schema
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.plugins import make_target, registry
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import DECODE
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.types import INCONVERTIBLE
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import IN_TREE, SCHEDULER_PLUGINS
from jsonschema import Draft7Validator

TARGETS = [("1.22", SCHEDULER_PLUGINS), ("1.25", IN_TREE), ("1.28", SCHEDULER_PLUGINS), ("1.34", SCHEDULER_PLUGINS), ("1.36", IN_TREE)]

OF_NAMES = ("unknown-plugin", "wrong-extension-point", "removed-plugin")

GOOD = {
    "string": ["", "a"],
    "bool": [True, False],
    "int32": [0, 1, -(2**31), 2**31 - 1],
    "int64": [0, 2**63 - 1],
    "float32": [0, 1.5],
    "float64": [1e300, -1],
    "duration": ["15s", "1.5h", "-1m30s", "0", "1h2m3s4ms5us6ns"],
    "quantity": ["1", "500m", "1.5Gi", "1e3", 2],
    "bytes": ["", "YQ=="],
}
BAD = {
    "string": [1, True, [], {}],
    "bool": ["true", 1, []],
    "int32": ["1", 1.5, 2**31, -(2**31) - 1, True, {}],
    "int64": ["1", 2**63, 1.5, []],
    "float32": ["1", True],
    "float64": ["1.5", {}],
    "duration": ["15", "s", "1d", "", 15, []],
    "quantity": ["1 Gi", "Gi", "1gi", [], True],
    "bytes": ["!", 1],
}


def complete(target, version, structure=ROOT, depth=0, plugin="NodeAffinity", point=None) -> dict:
    """A document that holds every field once, with a value of its type."""
    document = {}
    for name, (_field, kind) in fields(structure, version, target).items():
        if structure.endswith("Args") and name in ("apiVersion", "kind"):
            continue
        document[name] = value(target, version, kind, name, plugin, name if structure == "Plugins" else point)
    return document


def value(target, version, kind, name, plugin, point):
    if kind.kind == STRUCTURE:
        made = complete(target, version, kind.structure, plugin=plugin, point=point)
        if kind.structure == "Plugin":
            known = registry(target)
            made["name"] = (
                next(each for each in known if point == "multiPoint" or point in known[each].points)
                if point_is_usable(target, point)
                else ""
            )
        if kind.structure == "PluginConfig":
            made = {"name": plugin, "args": complete(target, version, args_kind(plugin, version, target))}
        return made
    if kind.kind == LIST:
        return [value(target, version, kind.element, name, plugin, point)]
    if kind.kind == MAP:
        return {"key": value(target, version, kind.element, name, plugin, point)}
    if kind.kind == ARGS:
        return {}
    return GOOD[kind.kind][-1]


def point_is_usable(target, point):
    return point == "multiPoint" or any(point in plugin.points for plugin in registry(target).values())


def documents(target):
    """One document per version and plugin with arguments, every field in it."""
    for version in target.served:
        for plugin in registry(target):
            if args_kind(plugin, version, target) is not None and plugin not in INCONVERTIBLE:
                document = complete(target, version, plugin=plugin)
                document.update(apiVersion=f"kubescheduler.config.k8s.io/{version}", kind=ROOT)
                for profile in document["profiles"]:
                    remove_unusable(target, profile["plugins"])
                yield version, document


def remove_unusable(target, plugins):
    for point in plugins:
        if not point_is_usable(target, point):
            plugins[point].pop("enabled")


def wrong_shapes(document, target) -> list[str]:
    """What the check says against fields, their types, and plugins at the points where they stand."""
    result = check(from_structure(document), target.kubernetes, target.plugins)
    return [finding.format() for finding in result.errors if finding.stage in ("", DECODE) or finding.code in OF_NAMES]


@pytest.mark.parametrize(("kubernetes", "plugins"), TARGETS)
def test_schema_and_check_accept_every_field(kubernetes, plugins):
    target = make_target(kubernetes, plugins)
    validator = Draft7Validator(schema(target))
    seen = 0
    for version, document in documents(target):
        seen += 1
        assert [f"{version}: {error.json_path}: {error.message}" for error in validator.iter_errors(document)] == []
        assert wrong_shapes(document, target) == []
    assert seen > 5


@pytest.mark.parametrize(("kubernetes", "plugins"), TARGETS)
def test_schema_and_check_agree_on_changed_documents(kubernetes, plugins):
    """A field with a value of another type, an unknown field, a null: both refuse it, or both accept it."""
    target = make_target(kubernetes, plugins)
    validator = Draft7Validator(schema(target))
    chance = random.Random(f"{kubernetes} {plugins}")
    verdicts = {True: 0, False: 0}
    for _version, document in documents(target):
        for _round in range(6):
            changed = copy.deepcopy(document)
            what = change(changed, chance)
            if what is None:
                continue
            expected = not wrong_shapes(changed, target)
            verdicts[expected] += 1
            assert validator.is_valid(changed) == expected, what
    assert min(verdicts.values()) > 5, verdicts


def change(document, chance):
    """Change one place of a document; returns what was done, None if nothing."""
    places = [place for place in walk(document, ()) if place[1][:1] not in (("apiVersion",), ("kind",))]
    holder, path = chance.choice(places)
    key = path[-1]
    if isinstance(holder, dict) and chance.random() < 0.2:
        holder[f"{key}x"] = holder[key]
        if ".".join(map(str, path)).endswith("key"):
            return None  # the keys of a map are free
        return f"{path}: an unknown field beside it"
    if key == "name":
        return None  # which plugins exist is found after decoding
    chosen = chance.choice(
        [*(each for values in GOOD.values() for each in values), *(each for values in BAD.values() for each in values), None]
    )
    if isinstance(chosen, (dict, list)) and not chosen:
        chosen = copy.copy(chosen)
    holder[key] = chosen
    return f"{path} = {chosen!r}"


def walk(node, path):
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, child in list(items):
        yield node, (*path, key)
        if isinstance(child, (dict, list)):
            yield from walk(child, (*path, key))


def test_schema_knows_the_plugins_of_a_point():
    target = make_target("1.34", IN_TREE)
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": ROOT,
        "profiles": [{"plugins": {"score": {"enabled": [{"name": "NodeName"}], "disabled": [{"name": "Whatever"}]}}}],
    }
    (error,) = Draft7Validator(schema(target)).iter_errors(document)
    assert "NodeName" in str([each.message for each in error.context] or error.message)
    document["profiles"][0]["plugins"]["score"]["enabled"][0]["name"] = "ImageLocality"
    assert Draft7Validator(schema(target)).is_valid(document)
