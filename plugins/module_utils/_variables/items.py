# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lists of schedulers in a variable: which item is meant, and what two of them may not share. Each item has its place, ``where``: NAME[0], NAME[1]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import DEFAULT_SCHEDULER_NAME
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.shared_values import listed_twice
from ansible_collections.osso.scheduler.plugins.module_utils._variables.typed_values import typed


def completed(variable: str, given: Sequence[Mapping[str, Any]], defaults: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The items with their place and with the ``defaults`` of what was left out; values have the types of these."""
    kinds = {bool: "bool", int: "int", str: "str"}
    return [
        {
            **defaults,
            **{key: typed(value, kinds.get(type(defaults.get(key)), "")) for key, value in one.items() if value is not None},
            "where": f"{variable}[{number}]",
        }
        for number, one in enumerate(given)
    ]


def duplicates(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """Items that are one scheduler, by namespace and name."""
    names = [(item["where"], f"{item['namespace']}/{item['name']}") for item in items]
    return listed_twice(names, "give each scheduler of a namespace its own name")


def default_scheduler(
    items: Sequence[Mapping[str, Any]], names: Sequence[Sequence[str]], is_allowed: Callable[[Mapping[str, Any]], bool], remedy: str
) -> list[str]:
    """Schedulers that would place the default scheduler's pods without permission. names: of the profiles of each; remedy: the end of the sentence."""
    return [
        f"{item['where']}: {item['namespace']}/{item['name']} has a profile with the schedulerName {DEFAULT_SCHEDULER_NAME}, so two schedulers would place "
        f"every pod{remedy}"
        for item, those in zip(items, names)
        if DEFAULT_SCHEDULER_NAME in those and not is_allowed(item)
    ]


def shared_names(items: Sequence[Mapping[str, Any]], names: Sequence[Sequence[str]]) -> list[str]:
    """A schedulerName that the profiles of several items have; ``names``: those of each of ``items``."""
    found = []
    for name in dict.fromkeys(name for several in names for name in several):
        users = [item for item, several in zip(items, names) if name in several]
        if len(users) > 1:
            those = " and ".join(f"{item['namespace']}/{item['name']}" for item in users)
            places = ", ".join(item["where"] for item in users)
            found.append(f"{places}: the schedulerName {name} is in the profiles of {those}: use it once.")
    return found
