# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Types of role variables: a variable that is given as ``-e name=value`` is a text, whatever the argument specification says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAMESPACE_REMEDY = "use up to 63 lower-case letters, digits and hyphens, with no hyphen at an end"

# -1: no limit
LEAST = {"default_scheduler_failed_revision_limit": -1, "default_scheduler_succeeded_revision_limit": -1}
TRUE = ("1", "true", "t", "yes", "y", "on")


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


def errors(options: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """What of ``values`` is a text instead of a list or dict, or a negative number; ``options`` of an argument specification.

    Ansible accepts such a text, and a role would then read its characters. A module rejects such a number, after others have written.
    """
    found = [
        f"{name} is a text instead of a {about['type']}. Give it in a file (-e @vars.yml) or as JSON (-e '{{\"{name}\": {example}}}')."
        for name, about in options.items()
        for example in [{"list": "[...]", "dict": "{...}"}.get(about.get("type", ""))]
        if example and isinstance(values.get(name), str)
    ]
    numbers = {name: typed(values.get(name), "int") for name, about in options.items() if about.get("type") == "int"}
    return found + [
        f"{name} is {number}: set a number of at least {LEAST.get(name, 0)}."
        for name, number in numbers.items()
        if isinstance(number, int) and number < LEAST.get(name, 0)
    ]
