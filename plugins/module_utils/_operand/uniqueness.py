# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Do two SecondarySchedulers claim the same schedulerName? Both report it."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import in_status
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._operand.operator_conditions import Condition, condition

Key = tuple[str, str]
"""Namespace and name of a resource."""

TYPE = "SchedulerNamesUnique"


def conditions(resources: Sequence[Object]) -> dict[Key, Condition]:
    """The condition SchedulerNamesUnique of each resource, by ``(namespace, name)``.

    What counts are the scheduler names in the resources' statuses. A resource that is being deleted, or whose scheduler is removed, claims none.
    """
    claims: dict[str, list[Key]] = {}
    for resource in resources:
        if not resource["metadata"].get("deletionTimestamp") and (resource.get("spec") or {}).get("managementState") != "Removed":
            for name in (resource.get("status") or {}).get("schedulerNames") or []:
                claims.setdefault(name, []).append(key(resource))
    return {key(resource): _condition_of(key(resource), claims) for resource in resources}


def changed(resources: Sequence[Object]) -> list[tuple[Object, Condition]]:
    """``[(resource, condition)]`` of those whose status differs from the result of this module; one without a status is left to its own reconcile."""
    judged = conditions(resources)
    found = []
    for resource in resources:
        said, now = in_status(resource.get("status") or {}, TYPE), judged[key(resource)]
        if said and (said["status"], said.get("message", "")) != (now["status"], now["message"]):
            found.append((resource, now))
    return found


def _condition_of(mine: Key, claims: dict[str, list[Key]]) -> Condition:
    taken = {name: [other for other in keys if other != mine] for name, keys in sorted(claims.items()) if mine in keys and len(keys) > 1}
    if not taken:
        return condition(TYPE, "True", "AsExpected")
    told = "; ".join(
        "{0} is also a schedulerName of SecondaryScheduler {1}".format(name, ", ".join("/".join(other) for other in sorted(others)))
        for name, others in taken.items()
    )
    return condition(TYPE, "False", "SchedulerNameTaken", f"{told}. Both would place the same pods: rename one of them.")


def key(resource: Object) -> Key:
    return resource["metadata"]["namespace"], resource["metadata"]["name"]
