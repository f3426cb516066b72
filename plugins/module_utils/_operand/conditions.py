# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Conditions, in the shape of OpenShift's operators (openshift/api, operator/v1 OperatorCondition)."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import in_status

SEE_DEGRADED = "See the condition Degraded."
"""The message of a condition that follows from Degraded, which alone has the reason in full."""


def made(name, status, reason, message=""):
    """A condition without its time; ``status`` is ``"True"``, ``"False"`` or ``"Unknown"``."""
    return {"type": name, "status": status, "reason": reason, "message": message}


def dated(entry, before, now):
    """The condition with its time: that of the status ``before``, as long as it stays True, False or Unknown."""
    old = in_status(before, entry["type"])
    same = old.get("status") == entry["status"] and old.get("lastTransitionTime")
    return dict(entry, lastTransitionTime=old["lastTransitionTime"] if same else now)
