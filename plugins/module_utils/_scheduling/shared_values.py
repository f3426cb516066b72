# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values that several items of a variable share and must not."""

from __future__ import annotations

from collections.abc import Iterable


def listed_twice(values: Iterable[tuple[str, str]], remedy: str) -> list[str]:
    """An error for each value that occurs more than once; ``values``: (place, value)."""
    places: dict[str, list[str]] = {}
    for place, value in values:
        places.setdefault(value, []).append(place)
    return [f"{', '.join(those)}: {value} is listed {len(those)} times: {remedy}." for value, those in places.items() if len(those) > 1]
