# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of the role monitoring."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Prometheus, model.ParseDuration: units in their order, each at most once
_DURATION = re.compile("".join(f"(?:[0-9]{{1,9}}{unit})?" for unit in ("y", "w", "d", "h", "m", "s", "ms")))


def complete(given: Mapping[str, Any]) -> dict[str, Any]:
    """``errors``: what of ``given``, the variables, cannot work, with value and remedy."""
    window = given["monitoring_rate_window"]
    if _DURATION.fullmatch(window) and re.search("[1-9]", window):
        return {"errors": []}
    return {"errors": [f"monitoring_rate_window is {window!r}: set a duration of Prometheus, such as 5m or 1h30m."]}
