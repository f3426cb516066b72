# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cgroups below which a node's kubelet puts its pods: <hierarchy>/<identity>/<node>, in every hierarchy of the machine."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from .layout import Layout
from .progress import ClusterError

ROOT = Path("/sys/fs/cgroup")


def hierarchies() -> list[Path]:
    """Mount points: one in cgroup v2, one per controller in v1 (where a v2 without controllers may be mounted as well)."""
    if (ROOT / "cgroup.controllers").exists():
        return [ROOT]
    return sorted(path for path in ROOT.iterdir() if path.is_dir() and not path.is_symlink() and (path / "cgroup.procs").exists())


def node_root(layout: Layout, node: str) -> str:
    """The kubelet's cgroupRoot."""
    return f"/{layout.identity}/{node}"


def create(layout: Layout, node: str) -> None:
    for hierarchy in hierarchies():
        parent = hierarchy
        for name in (layout.identity, node):
            controllers = parent / "cgroup.controllers"
            if controllers.exists():
                _enable(parent, controllers.read_text().split())
            group = parent / name
            group.mkdir(exist_ok=True)
            # A v1 cpuset starts empty, and nothing can run in an empty one.
            for setting in ("cpuset.cpus", "cpuset.mems"):
                file = group / setting
                if not controllers.exists() and file.exists() and not file.read_text().strip():
                    file.write_text((parent / setting).read_text())
            parent = group


def _enable(group: Path, controllers: list[str]) -> None:
    """cgroup v2: let groups below have the controllers."""
    if set(controllers) <= set((group / "cgroup.subtree_control").read_text().split()):
        return
    try:
        (group / "cgroup.subtree_control").write_text(" ".join(f"+{controller}" for controller in controllers))
    except OSError as error:
        raise ClusterError(
            f"the controllers of the cgroup {group} cannot be enabled for the nodes' containers ({error.strerror}): "
            "in a container, start it with the machine's cgroup namespace, or move its processes out of the root cgroup"
        ) from error


def present(layout: Layout, node: str = "") -> list[Path]:
    """The cgroups of this cluster, or of one node of it; the innermost first."""
    groups = []
    for hierarchy in hierarchies():
        top = hierarchy / layout.identity / node
        if top.is_dir():
            groups += [top, *(path for path in top.rglob("*") if path.is_dir())]
    return sorted(groups, key=lambda path: len(path.parts), reverse=True)


def processes(layout: Layout) -> set[int]:
    """Processes that are in this cluster's cgroups: those of containers carry no variables of ours."""
    pids: set[int] = set()
    for group in present(layout):
        with suppress(OSError):
            pids.update(map(int, (group / "cgroup.procs").read_text().split()))
    return pids


def remove(layout: Layout, node: str = "") -> None:
    """Remove them; the kernel needs a moment after the last process in one has ended."""
    deadline = time.monotonic() + 10
    while groups := present(layout, node):
        for group in groups:
            with suppress(OSError):
                group.rmdir()
        if time.monotonic() > deadline:
            raise ClusterError(f"these cgroups cannot be removed: {', '.join(map(str, groups))}")
        time.sleep(0.05)
