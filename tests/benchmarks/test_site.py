# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the play that brings everything takes when there is nothing to do: figures for docs/benchmarks.md."""

from __future__ import annotations

import statistics
import time

from support.ansible_runs import play
from support.processes import cpu_of_children
from support.site import DEMO

TITLE = "The play"


def test_a_rerun_of_the_site_playbook_changes_nothing_and_is_measured(pod, audit, figures):
    times, cpu = [], []
    for _attempt in range(5):
        with audit:
            started, used = time.monotonic(), cpu_of_children()
            run = play("osso.scheduler.site", args=[f"--extra-vars=@{DEMO}"])
            times.append(time.monotonic() - started)
            cpu.append(cpu_of_children() - used)
        assert run.changed == []
    figures("unchanged site.yml, median of 5", statistics.median(times), "s")
    figures("unchanged site.yml, CPU time, median of 5", statistics.median(cpu), "s")
    figures("unchanged site.yml, API requests", len(audit.requests()), "")
    figures("unchanged site.yml, write requests", len(audit.writes()), "")
