# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How far the rollout of a Deployment is, by its status alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import find


class Progress(NamedTuple):
    """observed: does the status speak for the present spec? wanted: replicas of the spec; updated, available, total: replicas of the status."""

    observed: bool
    wanted: int
    updated: int
    available: int
    total: int

    @property
    def complete(self) -> bool:
        """Do all replicas, and no others, run the present pod template, and are they available?"""
        return self.observed and self.updated == self.available == self.total == self.wanted


def progress(live: Mapping[str, Any]) -> Progress:
    """The `Progress` of a Deployment as the API server returns it."""
    status, wanted = live.get("status") or {}, (live.get("spec") or {}).get("replicas", 1)
    observed = status.get("observedGeneration", 0) >= live["metadata"].get("generation", 0)
    return Progress(observed, wanted, *(status.get(key, 0) for key in ("updatedReplicas", "availableReplicas", "replicas")))


def is_overdue(live: Mapping[str, Any]) -> bool:
    """Has the deadline of the present rollout passed? As long as only replicas of the one before exist, the condition may be about that one."""
    found = progress(live)
    return (
        found.observed and bool(found.updated or not found.total) and find(live, "Progressing").get("reason") == "ProgressDeadlineExceeded"
    )
