# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The columns that derive.py made, as they are kept in tests/conformance/kube_scheduler: a small file for each release."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "conformance/kube_scheduler/columns"

Column = dict[str, Any]
"""Section -> key -> text, or a list; as JSON would return it."""


def record(minor: int, column: Column) -> None:
    FOLDER.mkdir(exist_ok=True)
    _path(minor).write_bytes(lzma.compress(json.dumps(column, separators=(",", ":"), sort_keys=True).encode(), preset=9))


def recorded(minor: int) -> Column:
    column: Column = json.loads(lzma.decompress(_path(minor).read_bytes()))
    return column


def recorded_minors() -> list[int]:
    return sorted(int(path.name.split(".")[1]) for path in FOLDER.glob("1.*.json.xz"))


def _path(minor: int) -> Path:
    return FOLDER / f"1.{minor}.json.xz"
