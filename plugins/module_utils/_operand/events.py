# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Events of a reconcile on the SecondaryScheduler: what was changed in the cluster, and what changed in its conditions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import in_status
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._operand.operator_conditions import SEE_DEGRADED

NORMAL, WARNING = "Normal", "Warning"
COMPONENT = "osso-scheduler-operator"
PUT_BACK = "FieldsPutBack"

CONDITIONS = {
    # condition: (status when all is well, reason of the event when it becomes so)
    "Degraded": ("False", "Recovered"),
    "ConfigValid": ("True", "ConfigValid"),
    "SchedulerNamesUnique": ("True", "SchedulerNamesUnique"),
    "PluginsReady": ("True", "PluginsReady"),
    "MetricsAvailable": ("True", "MetricsAvailable"),
    "PodTemplateAsDeclared": ("True", "PodTemplateAsDeclared"),
    "AnnotationsKnown": ("True", "AnnotationsKnown"),
    "Available": ("True", "Available"),
}
_WORDS = {"created": "Created", "updated": "Updated", "deleted": "Deleted"}
_INTENDED = ("leave", "remove")
_LONGEST = 1024


class Event(NamedTuple):
    """type: Normal or Warning."""

    type: str
    reason: str
    message: str


def of_reconcile(
    applied: Iterable[Mapping[str, Any]],
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    action: str = "",
    put_back: Iterable[str] = (),
) -> list[Event]:
    """The events that a reconcile writes; empty where nothing changed.

    ``applied``: ``objects`` of the module apply. ``before``, ``after``: the resource's status before and after. ``action``: of the decision.
    ``put_back``: see `apply_result.Report`.
    """
    taken = [Event(WARNING, PUT_BACK, f"{fields}. The operator has put back what the resource requests.") for fields in put_back]
    return _of_objects(applied) + taken + _of_conditions(before or {}, after or {}, action)


def _of_objects(applied: Iterable[Mapping[str, Any]]) -> list[Event]:
    found = []
    for entry in applied:
        word = _WORDS.get(entry.get("action", ""))
        if word:
            place = f"{entry['namespace']}/" if entry.get("namespace") else ""
            found.append(Event(NORMAL, entry["kind"] + word, f"{word} {entry['kind']} {place}{entry['name']}."))
    return found


def _of_conditions(before: Mapping[str, Any], after: Mapping[str, Any], action: str) -> list[Event]:
    found: dict[str, Event] = {}
    for name, (good, well) in CONDITIONS.items():
        old, new = in_status(before, name), in_status(after, name)
        if not new or (old.get("status"), old.get("reason")) == (new.get("status"), new.get("reason")):
            continue
        if new["status"] != good:
            # Of two conditions with one reason, as Degraded and ConfigValid, one event is enough.
            if new.get("message") == SEE_DEGRADED:
                continue
            found.setdefault(new.get("reason") or name, Event(_severity(name, old, new, action), new.get("reason") or name, _message(new)))
        elif old and old.get("status") != good:
            found.setdefault(well, Event(NORMAL, well, _message(new)))
    return list(found.values())


def _severity(name: str, old: Object, new: Object, action: str) -> str:
    if action in _INTENDED:
        return NORMAL
    if name == "Available":
        # A scheduler that is being started is not available yet, which is no fault.
        return WARNING if old.get("status") == "True" else NORMAL
    return NORMAL if new["status"] == "Unknown" else WARNING


def _message(condition: Object) -> str:
    return condition.get("message") or f"{condition['type']} is {condition['status']}."


def manifest(resource: Object, event: Event, now: str) -> Object:
    """The v1 Event object for ``event`` on ``resource``; ``now`` is an RFC 3339 time.

    Its name is the same for the same resource, reason and message, so that who finds it in the cluster can raise its ``count``.
    """
    metadata = resource["metadata"]
    message = event.message if len(event.message) <= _LONGEST else event.message[: _LONGEST - 4] + " ..."
    # Together a valid name, also for a resource that has the longest possible one
    stem = metadata["name"][:230].rstrip(".-")
    digest = hashlib.sha256("\0".join((metadata.get("uid") or "", *event[:2], message)).encode()).hexdigest()[:16]
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{stem}.{digest}", "namespace": metadata["namespace"]},
        "involvedObject": {
            "apiVersion": resource["apiVersion"],
            "kind": resource["kind"],
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata.get("uid") or "",
        },
        "type": event.type,
        "reason": event.reason,
        "message": message,
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
