# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How many clusters a play changes at a time."""

from __future__ import annotations

import re
from typing import Any

_SIZE = re.compile(r"[1-9][0-9]{0,8}%?")


def batches(given: Any) -> list[Any]:
    """The value of ``fleet_serial`` as a list, for the keyword ``serial``. Raises ValueError.

    Ansible itself ends with a traceback for a text that is no number, and changes all clusters at a time for 0 and for a negative number.
    """
    sizes = list(given) if isinstance(given, (list, tuple)) else [given]
    for size in sizes or [given]:
        if isinstance(size, (bool, float)) or not _SIZE.fullmatch(str(size).strip()):
            raise ValueError(
                f"fleet_serial is {given!r}: give a number of clusters of 1 or more, a percentage such as '30%', or a list of them such as [1, '100%']"
            )
    return sizes
