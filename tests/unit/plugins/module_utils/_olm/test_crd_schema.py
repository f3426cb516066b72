# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Existing objects against the schema of a definition that is to replace theirs."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._olm.crd_schema import violations

ROOT = Path(__file__).resolve().parents[5]


def of_spec(**schema):
    return {"type": "object", "properties": {"spec": {"type": "object", **schema}}}


def field(**schema):
    return of_spec(properties={"x": schema})


@pytest.mark.parametrize(
    ("spec", "schema", "wrong"),
    [
        ({}, of_spec(required=["x"]), ["spec.x is missing"]),
        ({"x": "1"}, field(type="integer"), ["spec.x must be of type integer"]),
        ({"x": True}, field(type="integer"), ["spec.x must be of type integer"]),
        ({"x": None}, field(type="string"), ["spec.x must be of type string"]),
        ({"x": "a"}, field(type="string", enum=["b", "c"]), ["spec.x is 'a'; allowed are 'b', 'c'"]),
        ({"x": 0}, field(type="integer", minimum=1), ["spec.x is 0; the minimum is 1"]),
        ({"x": 9}, field(type="number", maximum=9, exclusiveMaximum=True), ["spec.x is 9; the maximum is 9"]),
        ({"x": "UP"}, field(type="string", pattern="^[a-z]+$"), ["spec.x does not match the pattern ^[a-z]+$"]),
        ({"x": "abc"}, field(type="string", maxLength=2), ["spec.x has 3 characters; the maximum is 2"]),
        ({"x": [1, "2"]}, field(type="array", items={"type": "integer"}), ["spec.x[1] must be of type integer"]),
        ({"x": {"a": 1}}, field(type="object", additionalProperties={"type": "string"}), ["spec.x.a must be of type string"]),
        ({"x": []}, {**field(**{"x-kubernetes-int-or-string": True})}, ["spec.x must be a number or a text"]),
        ({"x": 1}, field(oneOf=[{"minimum": 0}, {"maximum": 2}]), ["spec.x does not fit oneOf of its schema"]),
        ({"x": 1}, field(anyOf=[{"minimum": 2}, {"maximum": 0}]), ["spec.x does not fit anyOf of its schema"]),
        ({"x": 1}, field(**{"not": {"enum": [1]}}), ["spec.x is what its schema excludes"]),
        ({"x": 1}, field(allOf=[{"minimum": 2}]), ["spec.x is 1; the minimum is 2"]),
    ],
)
def test_each_violation_of_a_schema_is_described(spec, schema, wrong):
    assert violations({"apiVersion": "a/v1", "kind": "K", "metadata": {"name": "n"}, "spec": spec}, schema) == wrong


@pytest.mark.parametrize(
    ("spec", "schema"),
    [
        ({}, of_spec(required=["x"], properties={"x": {"type": "string", "default": "a"}})),
        ({"x": None}, field(type="string", nullable=True)),
        ({"x": 2.0}, field(type="integer")),
        ({"x": "10%"}, field(anyOf=[{"type": "integer"}, {"type": "string"}], **{"x-kubernetes-int-or-string": True})),
        ({"x": {"any": [1]}}, field(type="object", **{"x-kubernetes-preserve-unknown-fields": True})),
        ({"y": 1}, field(type="string")),
        ({"x": "a"}, field(type="string", pattern=r"^\p{L}$")),
        ({"x": "soon"}, field(type="string", format="date-time")),
    ],
)
def test_allowed_or_uncheckable_values_are_no_violation(spec, schema):
    assert violations({"spec": spec}, schema) == []


def test_metadata_is_not_compared():
    schema = {"type": "object", "required": ["metadata", "apiVersion"], "properties": {"metadata": {"type": "string"}}}
    assert violations({"metadata": {"name": "n"}}, schema) == []


def test_a_valid_secondary_scheduler_conforms_to_its_crd():
    definition = yaml.safe_load((ROOT / "roles/operator/files/secondaryschedulers.crd.yaml").read_text())
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    spec = {"managementState": "Managed", "schedulerConfig": "c", "schedulerImage": "i", "logLevel": "Normal", "operatorLogLevel": "Normal"}
    assert violations({"spec": spec, "status": {"conditions": []}}, schema) == []
    assert violations({"spec": {**spec, "logLevel": 3}}, schema) == ["spec.logLevel must be of type string"]


@pytest.mark.parametrize(
    ("value", "schema", "wrong"),
    [
        # Limits are allowed values, unless they are exclusive.
        (1, {"minimum": 1}, None),
        (1, {"minimum": 1, "exclusiveMinimum": True}, "is 1; the minimum is 1"),
        (2, {"minimum": 1, "exclusiveMinimum": True}, None),
        (0, {"minimum": 0}, None),
        (-1, {"minimum": 0}, "is -1; the minimum is 0"),
        (9, {"maximum": 9}, None),
        (10, {"maximum": 9}, "is 10; the maximum is 9"),
        (1, {"maximum": 0}, "is 1; the maximum is 0"),
        (8, {"maximum": 9, "exclusiveMaximum": True}, None),
        ("1", {"minimum": 2}, None),
        (True, {"minimum": 2}, None),
        ("ab", {"minLength": 2, "maxLength": 2}, None),
        ("a", {"minLength": 2}, "has 1 characters; the minimum is 2"),
        ([1], {"minItems": 1, "maxItems": 1}, None),
        ([], {"minItems": 1}, "has 0 items; the minimum is 1"),
        ([1, 2], {"maxItems": 1}, "has 2 items; the maximum is 1"),
        ({"a": 1}, {"minProperties": 1, "maxProperties": 1}, None),
        ({}, {"minProperties": 1}, "has 0 properties; the minimum is 1"),
        ({"a": 1, "b": 2}, {"maxProperties": 1}, "has 2 properties; the maximum is 1"),
        # Types
        ({}, {"type": "object"}, None),
        ([], {"type": "object"}, "must be of type object"),
        ([], {"type": "array"}, None),
        ({}, {"type": "array"}, "must be of type array"),
        ("", {"type": "string"}, None),
        (1, {"type": "string"}, "must be of type string"),
        (False, {"type": "boolean"}, None),
        (0, {"type": "boolean"}, "must be of type boolean"),
        (1.5, {"type": "number"}, None),
        (1.5, {"type": "integer"}, "must be of type integer"),
        (True, {"type": "number"}, "must be of type number"),
        ("1", {"type": "number"}, "must be of type number"),
        (1, {"type": "unknown"}, None),
        (1, {"x-kubernetes-int-or-string": True}, None),
        (1.5, {"x-kubernetes-int-or-string": True}, "must be a number or a text"),
        ("b", {"enum": ["a", "b"]}, None),
        ("ab", {"pattern": "^a"}, None),
        ("ba", {"pattern": "^a"}, "does not match the pattern ^a"),
        (1, {"pattern": "^a"}, None),
        # Combinations
        (1, {"oneOf": [{"minimum": 0}, {"minimum": 2}]}, None),
        (1, {"oneOf": [{"minimum": 2}, {"minimum": 3}]}, "does not fit oneOf of its schema"),
        (1, {"anyOf": [{"minimum": 0}, {"maximum": 2}]}, None),
        (1, {"not": {"enum": [2]}}, None),
        (None, {}, None),
        (None, {"nullable": True, "type": "string"}, None),
        (None, {"nullable": False, "enum": ["a"]}, "is None; allowed are 'a'"),
    ],
)
def test_a_value_that_violates_its_schema_is_described(value, schema, wrong):
    assert violations({"spec": {"x": value}}, field(**schema)) == ([f"spec.x {wrong}"] if wrong else [])


def test_each_wrong_field_is_named_with_its_path():
    item = {"type": "object", "required": ["name", "kind"], "properties": {"name": {"type": "string"}, "kind": {"default": "a"}}}
    schema = of_spec(
        required=["list", "x"], properties={"list": {"type": "array", "items": item}}, additionalProperties={"type": "integer"}
    )
    obj = {"spec": {"list": [{"name": "a"}, {}, {"name": 1}], "other": "text", "fine": 1}}
    assert violations(obj, schema) == [
        "spec.x is missing",
        "spec.list[1].name is missing",
        "spec.list[2].name must be of type string",
        "spec.other must be of type integer",
    ]


def test_the_object_itself_is_named_where_no_field_is_wrong():
    assert violations({"spec": 1, "other": 2}, {"type": "object", "maxProperties": 1}) == ["the object has 2 properties; the maximum is 1"]
    assert violations({"spec": 1}, {"type": "array"}) == ["the object must be of type array"]
    assert violations({"spec": 1}, {"not": {"required": ["spec"]}}) == ["the object is what its schema excludes"]
    assert violations({"kind": "K"}, {"required": ["spec", "kind"]}) == ["spec is missing"]
