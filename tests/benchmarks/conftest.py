# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Figures of one run, written to docs/benchmarks.md with machine and date; and the operator as the machine sees it."""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
from pathlib import Path

import pytest
from benchmarks.observe import OperatorPod
from support.site import installed

PAGE = Path(__file__).parents[2] / "docs/benchmarks.md"
HEAD = """# Benchmarks

`make bench` measures and writes this page, `make bench TESTS=tests/benchmarks/test_x.py` one section of it. Figures of one section compare
with each other, not with another machine's. Load is the machine's load average over the last minute at that moment: where it is far above
the number of cores, others had most of the time, and only CPU time is comparable. Where the time of a reconcile goes, and what was tried
to lower it: [decisions/0008](decisions/0008-what-a-reconcile-costs.md).
"""


@pytest.fixture(scope="session", autouse=True)
def _ordinary_plays():
    """Plays are new processes, as users start them, and not forks of one that has imported Ansible."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORDINARY_PLAYS", "1")
        yield


@pytest.fixture(scope="module")
def publish(request):
    """publish(text) makes it the module's section of the page, under its TITLE or another one, with machine and date."""

    def write(text, title=None):
        title = title or request.module.TITLE
        section = f"{_machine()}\n{text}"
        _replace(title, section)
        print(f"\n{title}\n\n{section}")

    return write


@pytest.fixture(scope="module")
def figures(publish):
    """figures(what, value, unit) notes a figure; when the module is done, they become its section."""
    noted = []
    yield lambda what, value, unit: noted.append((what, value, unit, os.getloadavg()[0]))
    if noted:
        publish("| what | figure | load |\n|---|---|---|\n" + "".join(_row(*figure) for figure in noted))


def _row(what, value, unit, load):
    number = f"{value:.2f}" if isinstance(value, float) else str(value)
    return f"| {what} | {number}{' ' + unit if unit else ''} | {load:.1f} |\n"


def _replace(title, section):
    """Put a section in the place of the one with that title, or behind the others."""
    _head, *parts = re.split(r"^## (.*)\n", PAGE.read_text(), flags=re.MULTILINE)
    sections = dict(zip(parts[::2], (text.strip("\n") for text in parts[1::2]), strict=True))
    sections[title] = section.strip("\n")
    PAGE.write_text(HEAD + "".join(f"\n## {name}\n\n{text}\n" for name, text in sections.items()))


def _machine():
    model = next(
        (line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), ""
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False).stdout.strip()
    today = datetime.datetime.now(tz=datetime.UTC).date()
    return f"{today}, commit {commit}: {os.cpu_count()} cores ({model}), {memory:.0f} GiB, {platform.system()} {platform.release()}.\n"


@pytest.fixture(scope="session")
def api(kubeconfig):
    """The Kubernetes client: a process of kubectl per look would be slower than what is measured."""
    from kubernetes import client, config

    config.load_kube_config(str(kubeconfig))
    return client


@pytest.fixture(scope="module")
def pod(own_cluster, api):
    """The demo's installation; the operator watches its own namespace."""
    installed()
    return OperatorPod(api)
