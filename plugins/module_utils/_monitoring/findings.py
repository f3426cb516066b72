# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What stands between a scheduler and the metrics that it needs, each with what to do about it."""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict

ERROR, WARNING = "error", "warning"


class FindingData(TypedDict):
    """A `Finding` as modules return it."""

    severity: str
    code: str
    message: str
    hint: str
    metric: str
    nodes: list[str]


class Finding(NamedTuple):
    """severity: ``error`` where load-aware scheduling does not work, ``warning`` where it does. code: in kebab-case, for tests and filters.

    message: what is wrong. hint: what to do about it. metric, nodes: what it is about, empty otherwise. No field ever holds a token.
    """

    severity: str
    code: str
    message: str
    hint: str = ""
    metric: str = ""
    nodes: tuple[str, ...] = ()

    def as_dict(self) -> FindingData:
        return {
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "metric": self.metric,
            "nodes": list(self.nodes),
        }

    def __str__(self) -> str:
        return f"{self.message}: {self.hint}" if self.hint else self.message


def error(code: str, message: str, hint: str = "", **about: Any) -> Finding:
    return Finding(ERROR, code, message, hint, **about)


def warning(code: str, message: str, hint: str = "", **about: Any) -> Finding:
    return Finding(WARNING, code, message, hint, **about)
