# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The conditions in an object's status. An entry without a type or a status, as some other program may write it, counts as absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def of_status(status: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The conditions of a status, in its order."""
    found = (status or {}).get("conditions")
    return [one for one in found if isinstance(one, dict) and "type" in one and "status" in one] if isinstance(found, list) else []


def conditions_of(live: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The conditions of an object as the API server returns it, [] for None."""
    return of_status((live or {}).get("status"))


def in_status(status: Mapping[str, Any] | None, kind: str) -> dict[str, Any]:
    """The condition of that type in a status, {} where there is none."""
    return next((one for one in of_status(status) if one["type"] == kind), {})


def find(live: Mapping[str, Any] | None, kind: str) -> dict[str, Any]:
    """The condition of that type of an object, {} where there is none."""
    return in_status((live or {}).get("status"), kind)


def is_true(live: Mapping[str, Any] | None, kind: str) -> bool:
    """Has an object the condition, with the status True?"""
    return find(live, kind).get("status") == "True"


def complaint(subject: str, reason: str, message: str) -> str:
    """``subject`` with what is known of why: "Degraded (Crashed): exit code 1"."""
    return subject + (f" ({reason})" if reason else "") + (f": {message}" if message else "")
