# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An object against the structural schema of a CustomResourceDefinition.

https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema. Formats and rules in CEL
are left to the server: what is reported here is wrong, but not all that is wrong is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _is_number(value) and value == int(value),
    "number": _is_number,
}
_SIZES = (
    (str, "minLength", "maxLength", "characters"),
    (list, "minItems", "maxItems", "items"),
    (dict, "minProperties", "maxProperties", "properties"),
)
# The server validates them itself, whatever a schema says
_OBJECT_FIELDS = ("apiVersion", "kind", "metadata")


def violations(obj: Object, schema: Object) -> list[str]:
    """What of an object its schema does not allow, as texts that begin with the field."""
    content = {key: value for key, value in obj.items() if key not in _OBJECT_FIELDS}
    required = [name for name in schema.get("required") or [] if name not in _OBJECT_FIELDS]
    return list(_violations(content, dict(schema, required=required), ""))


def _violations(value: Any, schema: Object, path: str) -> Iterator[str]:
    if value is None and (schema.get("nullable") or not schema):
        return
    wrong = _wrong_value(value, schema)
    if wrong:
        yield f"{path or 'the object'} {wrong}"
        return
    for text in _wrong_sizes(value, schema):
        yield f"{path or 'the object'} has {text}"
    if isinstance(value, dict):
        yield from _wrong_fields(value, schema, path)
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        for index, item in enumerate(value):
            yield from _violations(item, schema["items"], f"{path}[{index}]")
    yield from _wrong_combination(value, schema, path)


def _wrong_value(value: Any, schema: Object) -> str | None:
    kind = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        if not (_TYPES["integer"](value) or isinstance(value, str)):
            return "must be a number or a text"
    elif kind in _TYPES and not _TYPES[kind](value):
        return f"must be of type {kind}"
    if "enum" in schema and value not in schema["enum"]:
        return f"is {value!r}; allowed are {', '.join(map(repr, schema['enum']))}"
    if _is_number(value):
        low, high = schema.get("minimum"), schema.get("maximum")
        if low is not None and (value < low or (schema.get("exclusiveMinimum") and value == low)):
            return f"is {value}; the minimum is {low}"
        if high is not None and (value > high or (schema.get("exclusiveMaximum") and value == high)):
            return f"is {value}; the maximum is {high}"
    if isinstance(value, str) and "pattern" in schema and not _matches(schema["pattern"], value):
        return f"does not match the pattern {schema['pattern']}"
    return None


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is not None
    except re.error:
        return True  # Go's expressions differ in a few things: OLM has the last word.


def _wrong_sizes(value: Any, schema: Object) -> Iterator[str]:
    for kind, low, high, said in _SIZES:
        if isinstance(value, kind):
            if low in schema and len(value) < schema[low]:
                yield f"{len(value)} {said}; the minimum is {schema[low]}"
            if high in schema and len(value) > schema[high]:
                yield f"{len(value)} {said}; the maximum is {schema[high]}"


def _wrong_fields(value: Any, schema: Object, path: str) -> Iterator[str]:
    known, others = schema.get("properties") or {}, schema.get("additionalProperties")
    for name in schema.get("required") or []:
        # A default is filled in before an object is validated.
        if name not in value and "default" not in (known.get(name) or {}):
            yield f"{_join(path, name)} is missing"
    for name, item in value.items():
        if name in known:
            yield from _violations(item, known[name], _join(path, name))
        elif isinstance(others, dict):
            yield from _violations(item, others, _join(path, name))


def _wrong_combination(value: Any, schema: Object, path: str) -> Iterator[str]:
    where = path or "the object"
    for one in schema.get("allOf") or []:
        yield from _violations(value, one, path)
    combinations: dict[str, Callable[[int], bool]] = {"anyOf": lambda count: count > 0, "oneOf": lambda count: count == 1}
    for field, fits in combinations.items():
        branches = schema.get(field) or []
        if branches and not fits(sum(1 for one in branches if not any(_violations(value, one, path)))):
            yield f"{where} does not fit {field} of its schema"
    if schema.get("not") and not any(_violations(value, schema["not"], path)):
        yield f"{where} is what its schema excludes"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
