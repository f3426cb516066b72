# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Times as the API server writes them: RFC 3339 in UTC, with fractions of a second in a MicroTime alone."""

from __future__ import annotations

import re
from datetime import datetime, timezone

_FORMAT = "%Y-%m-%dT%H:%M:%S"
_TIME = re.compile(r"([^.]{19})(?:\.[0-9]+)?Z")


def parse(text: str | None) -> datetime:
    """The moment, without fractions of a second. Raises ValueError for a text in another form, and for none."""
    match = _TIME.fullmatch(text or "")
    if not match:
        raise ValueError("no time of an API server")
    return datetime.strptime(match[1], _FORMAT).replace(tzinfo=timezone.utc)


def write(moment: datetime) -> str:
    """The moment as the API server writes it."""
    return moment.strftime(f"{_FORMAT}Z")


def now() -> str:
    """The present time as the API server writes it."""
    return write(datetime.now(timezone.utc))


def seconds_between(earlier: str | None, later: str | None) -> float:
    """Negative where ``later`` is before ``earlier``. Raises ValueError as `parse`."""
    return (parse(later) - parse(earlier)).total_seconds()
