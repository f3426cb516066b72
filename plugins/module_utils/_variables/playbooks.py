# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Types and choices of variables that playbooks read themselves: no argument specification of a role covers these, or not by their name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import dns1123_label
from ansible_collections.osso.scheduler.plugins.module_utils._variables.typed_values import NAMESPACE_REMEDY

CHOICES = {
    # Also the default of a role's variable, whose own check would blame that one
    "operator_variant": ("osso", "upstream"),
    "preview": ("never", "report", "required"),
    "probe": ("changed", "always", "never"),
}
BOOLS = ("fleet_required", "gather_cache_dumps", "preview_allow_extenders", "use_scheduler_undo", "use_scheduler_unserved")
NAMESPACES = ("preview_job_namespace", "probe_namespace")
NUMBERS = (
    "gather_log_lines",
    "hand_over_wait",
    "preview_limit",
    "preview_max_moved_percent",
    "preview_max_unschedulable",
    "preview_timeout",
    "use_scheduler_timeout",
)


def errors(values: Mapping[str, Any]) -> list[str]:
    """One sentence for each value that a playbook would misread. An empty text or null of a bool or number is an unset variable."""
    found = [
        f"{name} is {values[name]}: set {', '.join(choices[:-1])} or {choices[-1]}."
        for name, choices in CHOICES.items()
        if name in values and values[name] not in choices
    ]
    given = {name: values[name] for name in (*BOOLS, *NUMBERS) if values.get(name) not in (None, "")}
    found += [f"{name} is {given[name]}: set true or false." for name in BOOLS if name in given and not _is_bool(given[name])]
    found += [
        f"{name} is {values[name]}: {NAMESPACE_REMEDY}." for name in NAMESPACES if values.get(name) and dns1123_label(str(values[name]))
    ]
    return found + [f"{name} is {given[name]}: set a number." for name in NUMBERS if name in given and not _is_number(given[name])]


def _is_bool(value: Any) -> bool:
    try:
        boolean(value)
    except TypeError:
        return False
    return True


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)
