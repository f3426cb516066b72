# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a preview as lines for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def table(result: Mapping[str, Any], limit: int | None = None) -> list[str]:
    """The pods that are not the same, the nodes, and the summary. limit: with more pods or nodes, only the first ones, and of nodes those that change."""
    rows = [
        (f"{row['namespace']}/{row['name']}", row["status"], row["before"] or "-", row["node"] or "-", row["reason"])
        for row in result["pods"]
        if row["status"] != "same"
    ]
    nodes = [(node["name"], *(_change(node, field) for field in ("pods", "cpu_millis", "memory"))) for node in result["nodes"]]
    if limit is not None and len(nodes) > limit:
        nodes = [row for row in nodes if any("->" in cell for cell in row[1:])]
    lines = _columns([("POD", "STATUS", "BEFORE", "AFTER", "REASON"), *rows], limit) if rows else []
    lines += [*([""] if rows else []), *_columns([("NODE", "PODS", "CPU %", "MEMORY %"), *nodes], limit), "", result["msg"]]
    lines += [f"Assumption: {one}" for one in result["assumptions"]]
    return [printable(line) for line in (*lines, *(f"Missing: {one}" for one in result["missing"]))]


def printable(text: str) -> str:
    """The text with escapes for what a terminal would obey, such as in a ``schedulerName``, which an API server does not validate."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


def _change(node: Mapping[str, Any], field: str) -> str:
    def value(when: str) -> str:
        amount, of = node[when][field], node["allocatable"][field]
        return str(amount) if field == "pods" else f"{100 * amount / of:.0f}" if of else "-"

    before, after = value("before"), value("after")
    return before if before == after else f"{before} -> {after}"


def _columns(rows: Sequence[tuple[str, ...]], limit: int | None) -> list[str]:
    shown = rows if limit is None else rows[: limit + 1]
    widths = [max(map(len, column)) for column in zip(*shown)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in shown]
    return [*lines, f"and {len(rows) - len(shown)} more"] if len(shown) < len(rows) else lines
