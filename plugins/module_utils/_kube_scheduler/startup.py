# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What kube-scheduler checks only when it begins to work: its leader elector (client-go, tools/leaderelection).

``--write-config-to`` does not come that far, so a configuration can be valid and still not start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import flags
from .report import RUN, Report
from .target import Target
from .validation import is_broken
from .value_syntax import Duration

_JITTER_FACTOR = 1.2
"""A retry comes up to that many times the retry period later."""


def check(config: Mapping[str, Any], version: str, target: Target, report: Report) -> None:
    """Report why a kube-scheduler with this configuration, which is otherwise right, ends right after its start."""
    election = config.get("leaderElection") or {}
    if not election.get("leaderElect"):
        return
    lease, deadline, retry = (election.get(name, 0) for name in ("leaseDuration", "renewDeadline", "retryPeriod"))
    names = ("leaseDuration", "renewDeadline", "retryPeriod")
    if is_broken(report, ("leaderElection",)) or any(report.has_error(("leaderElection", name)) for name in names):
        return
    overriding = flags.overriding(target)
    if lease <= deadline:
        message = f"{lease}: leaseDuration must be greater than renewDeadline, which is {deadline}"
        name, hint = "leaseDuration", f"give more than {deadline}"
    elif deadline <= int(_JITTER_FACTOR * retry):
        least = Duration(int(_JITTER_FACTOR * retry))
        message = f"{deadline}: renewDeadline must be greater than 1.2 times retryPeriod, which is {retry}"
        name, hint = "renewDeadline", f"give more than {least}"
    else:
        return
    if name in overriding:
        hint += f"; the flag --{overriding[name]} overrides the file"
    report.error(RUN, "out-of-range", ("leaderElection", name), message, hint)
