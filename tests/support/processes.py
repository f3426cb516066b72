# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Processes of this machine."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
from pathlib import Path

from .scheduler import eventually


def started(argv) -> subprocess.Popen:
    """A process whose command line /proc shows: it does so only a moment after `Popen` returns."""
    process = subprocess.Popen(argv)
    eventually(lambda: Path(f"/proc/{process.pid}/cmdline").read_text().split("\0")[:-1] == argv)
    return process


def descendants(pid, word) -> list[int]:
    """Process ids below `pid` whose command line holds `word`, children after their parents; without those that end meanwhile."""
    found = []
    for task in Path("/proc").glob(f"{pid}/task/*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for child in (task / "children").read_text().split():
                if word in Path(f"/proc/{child}/cmdline").read_text():
                    found.append(int(child))
                found += descendants(child, word)
    return found


def cpu_of_children() -> float:
    """CPU seconds of this process' children that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of(pid) -> float:
    """CPU seconds of a process, and of its children that have ended."""
    after_the_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, after_the_name[11:15])) / os.sysconf("SC_CLK_TCK")
