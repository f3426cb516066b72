# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Figures of one run, written to docs/benchmarks.md with machine and date."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/benchmarks.md"
HEAD = """# Benchmarks

`make bench` measures and writes this page. Figures of one run on one machine compare with each other, not with another machine's.

"""


@pytest.fixture(scope="session")
def figures():
    """figures(what, value, unit) notes a figure; the page is written when all is measured."""
    noted = []
    yield lambda what, value, unit: noted.append((what, value, unit))
    if noted:
        PAGE.write_text(HEAD + _machine() + "\n| what | figure |\n|---|---|\n" + "".join(_row(*figure) for figure in noted))
        print(f"\n{PAGE.read_text()}")


def _row(what, value, unit):
    number = f"{value:.2f}" if isinstance(value, float) else str(value)
    return f"| {what} | {number}{' ' + unit if unit else ''} |\n"


def _machine():
    model = next(
        (line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), ""
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False).stdout.strip()
    today = datetime.datetime.now(tz=datetime.UTC).date()
    return f"{today}, commit {commit}: {os.cpu_count()} cores ({model}), {memory:.0f} GiB, {platform.system()} {platform.release()}.\n"
