# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`cluster clean`: end the cluster, remove all that it made, and make sure that nothing is left."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from . import cgroups, network, processes
from .layout import Layout, Record
from .prerequisites import find
from .progress import ClusterError, output


def clean(layout: Layout) -> None:
    networks = network.networks_of(layout, Record.load(layout))
    processes.stop_all(layout)
    for pid in cgroups.processes(layout):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    network.remove(layout)
    cgroups.remove(layout)
    for mount in reversed(mounts(layout)):
        output(find("umount"), "--lazy", mount)
    shutil.rmtree(layout.state, ignore_errors=True)
    verify(layout, networks)


def verify(layout: Layout, networks: list[Record], patience: float = 5) -> None:
    """Look for everything that a cluster makes, print what was looked for, and fail if something is there.

    The kernel takes a moment to tear down namespaces: what is there only within `patience` seconds does not count.
    """
    checks: dict[str, Callable[[], list[str]]] = {
        "processes": lambda: [f"{process.pid} ({process.component})" for process in processes.owned_processes(layout.state)],
        "mounts": lambda: mounts(layout),
        "network links": lambda: network.own_links(layout),
        "routes": lambda: network.leftover_routes(layout, networks),
        "cgroups": lambda: [str(group) for group in cgroups.present(layout)],
        "nftables rules": lambda: network.leftover_rules(layout, networks),
        "files": lambda: [str(layout.state)] if layout.state.exists() else [],
    }
    left: dict[str, list[str]] = {}
    for name, look in checks.items():
        deadline = time.monotonic() + patience
        while (found := look()) and time.monotonic() < deadline:
            time.sleep(0.1)
        print(f"{name:15} {'LEFT: ' + ', '.join(found) if found else 'none left'}")
        if found:
            left[name] = found
    if left:
        raise ClusterError(f"the cluster in {layout.state} left something behind: {', '.join(left)} (see above)")


def mounts(layout: Layout) -> list[str]:
    """Mount points below the state directory, or mounts of what is below it, in the machine's own mount namespace."""
    found = []
    prefix = f"{layout.state}/"
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split(" ")
        source, target = (field.replace("\\040", " ") for field in fields[3:5])
        if f"{target}/".startswith(prefix) or f"{source}/".startswith(prefix):
            found.append(target)
    return found
