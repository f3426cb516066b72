# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Types of role variables: a variable that is given as ``-e name=value`` is a text, whatever the argument specification says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.similar_names import known_are

NAMESPACE_REMEDY = "use up to 63 lower-case letters, digits and hyphens, with no hyphen at an end"

# -1: no limit
LEAST = {"default_scheduler_failed_revision_limit": -1, "default_scheduler_succeeded_revision_limit": -1}
# Of the fields of Kubernetes that these variables become
LARGEST = 2**31 - 1
EXAMPLES = {"list": "[...]", "dict": "{...}"}
NOUNS = {"str": "text", "int": "number"}
TRUE = ("1", "true", "t", "yes", "y", "on")
FALSE = ("0", "false", "f", "no", "n", "off")


def typed(value: Any, wanted: str) -> Any:
    """``value`` as the type ``wanted`` of an argument specification: a text that stands for a bool or an int, a number that stands for a text."""
    if wanted == "str" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return value
    if wanted == "bool":
        return value.strip().lower() in TRUE
    if wanted == "int" and value.strip().lstrip("+-").isdecimal():
        return int(value)
    return value


def errors(options: Mapping[str, Any], values: Mapping[str, Any], where: str = "") -> list[str]:
    """What is wrong with the type of ``values``; ``options`` of an argument specification; ``where`` is the place of nested values.

    Null instead of a default, something else instead of a list or dict, one of these instead of a text, no number or one that is negative or too
    large, no bool, none of the choices, a nested value that is no option.

    Ansible accepts most of this: it splits a text, makes one of a list, and leaves the variable as it is, so that a role would read the characters of a
    text. A module rejects such a number after others have written, and the API server makes another one of a number beyond 32 bits. Of a wrong choice
    or name Ansible does not say which item has it.
    """
    known = [name for option, about in options.items() for name in (option, *about.get("aliases", ()))]
    return [
        *(f"{where}{name} is unknown: {known_are(name, known)}" for name in values if where and known and name not in known),
        *(
            error
            for name, about in options.items()
            if name in values
            for error in _errors_of(where + name, values[name], about, is_nested=bool(where))
        ),
    ]


def _errors_of(place: str, value: Any, about: Mapping[str, Any], is_nested: bool) -> list[str]:
    wanted, choices, default = about.get("type", "str"), about.get("choices"), about.get("default")
    if value is None and not is_nested and default not in (None, ""):
        shown = default if isinstance(default, str) else json.dumps(default)
        return [f"{place} is null: leave it out for its default {shown}, or give it a {NOUNS.get(wanted, wanted)}."]
    if choices and isinstance(value, (str, int, float)) and wanted != "list" and str(value) not in map(str, choices):
        return [f"{place} is {value}: {known_are(value, choices)}"]
    if wanted == "int":
        return _errors_of_number(place, value, -LARGEST if is_nested else LEAST.get(place, 0))
    if wanted == "bool":
        is_bool = value is None or str(value).strip().lower() in (*TRUE, *FALSE)
        return [] if is_bool else [f"{place} is {value}: set true or false."]
    if wanted == "str":
        return [f"{place} is a {kind(value)} instead of a text."] if isinstance(value, (list, dict)) else []
    if wanted not in EXAMPLES or value is None:
        return []
    if wanted == "dict" and isinstance(value, Mapping):
        return errors(about.get("options") or {}, value, f"{place}.")
    if wanted == "list" and isinstance(value, (list, tuple)):
        return _errors_of_items(place, value, about)
    example = EXAMPLES[wanted]
    remedy = (
        f"Give it in a file (-e @vars.yml) or as JSON (-e '{{\"{place}\": {example}}}')."
        if isinstance(value, str) and not is_nested
        else f"Write it as {example}."
    )
    return [f"{place} is a {kind(value)} instead of a {wanted}. {remedy}"]


def _errors_of_items(place: str, value: Sequence[Any], about: Mapping[str, Any]) -> list[str]:
    elements, choices, found = about.get("elements"), about.get("choices"), []
    for number, one in enumerate(value):
        at = f"{place}[{number}]"
        if elements == "dict" and isinstance(one, Mapping):
            found += errors(about.get("options") or {}, one, f"{at}.")
        elif elements == "dict" or (elements == "str" and (one is None or isinstance(one, (list, dict)))):
            found.append(f"{at} is a {kind(one)} instead of a {'dict' if elements == 'dict' else 'text'}.")
        elif choices and str(one) not in map(str, choices):
            found.append(f"{at} is {one}: {known_are(one, choices)}")
    return found


def _errors_of_number(place: str, value: Any, least: int) -> list[str]:
    number = typed(value, "int")
    if number is None:
        return []
    if not isinstance(number, (int, float)) or number % 1:
        return [f"{place} is {value}: set a whole number."]
    if least <= number <= LARGEST:
        return []
    return [f"{place} is {number}: set a number of at {f'least {least}' if number < least else f'most {LARGEST}'}."]


def kind(value: Any) -> str:
    """What a value is, for a message."""
    kinds = {bool: "bool", int: "number", float: "number", str: "text", list: "list", dict: "dict"}
    return next((name for known, name in kinds.items() if isinstance(value, known)), "null")
