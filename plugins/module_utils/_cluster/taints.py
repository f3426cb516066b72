# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Taints of nodes, and the tolerations of pods that match them. See k8s.io/api core/v1 Toleration.ToleratesTaint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

REPELLING = ("NoSchedule", "NoExecute")
"""The effects that keep new pods away; PreferNoSchedule does not."""


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Does the toleration match the taint? No effect stands for every effect, no key (with Exists) for every key.

    Gt and Lt count as in a cluster with the feature gate TaintTolerationComparisonOperators: without it, the API server rejects pods that have them.
    """
    if any(toleration.get(field) not in (None, "", taint.get(field)) for field in ("effect", "key")):
        return False
    operator, wanted, value = toleration.get("operator") or "Equal", toleration.get("value") or "", taint.get("value") or ""
    if operator in ("Gt", "Lt"):
        least, most = (wanted, value) if operator == "Gt" else (value, wanted)
        return _is_integer(least) and _is_integer(most) and int(least) < int(most)
    return operator == "Exists" or (operator == "Equal" and wanted == value)


def _is_integer(value: str) -> bool:
    """An integer of 64 bits, without a plus sign and leading zeros."""
    return bool(re.fullmatch(r"0|-?[1-9][0-9]{0,18}", value)) and -(1 << 63) <= int(value) < 1 << 63
