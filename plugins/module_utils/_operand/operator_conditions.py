# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Conditions, in the shape of OpenShift's operators (openshift/api, operator/v1 OperatorCondition)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import in_status
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.secrets import without_tokens

SEE_DEGRADED = "See the condition Degraded."
"""The message of a condition that follows from Degraded, which alone has the reason in full."""

# Kubernetes allows 32768 characters, and a status may have several such messages.
_LONGEST = 8192


class Condition(TypedDict):
    """A condition without its time; ``status`` is ``"True"``, ``"False"`` or ``"Unknown"``."""

    type: str
    status: str
    reason: str
    message: str


class DatedCondition(Condition):
    """A condition with the time (RFC 3339) since which it has its status."""

    lastTransitionTime: str


def condition(name: str, status: str, reason: str, message: str = "") -> Condition:
    """The condition of this name. Tokens in the message are masked, and one that is too long for a status is shortened, at its end."""
    message = without_tokens(message)
    if len(message) > _LONGEST:
        hint = f" ... (shortened from {len(message)} characters: correct the above first, then this message shows the rest)"
        message = message[: _LONGEST - len(hint)] + hint
    return {"type": name, "status": status, "reason": reason, "message": message}


def with_time(entry: Condition, before: Mapping[str, Any], now: str) -> DatedCondition:
    """The condition with its time: that of the status ``before``, as long as it stays True, False or Unknown."""
    old = in_status(before, entry["type"])
    same = old.get("status") == entry["status"] and old.get("lastTransitionTime")
    return {**entry, "lastTransitionTime": old["lastTransitionTime"] if same else now}
