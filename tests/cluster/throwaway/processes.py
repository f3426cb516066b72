# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Daemons: started detached, found again by the environment variables they carry, stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .layout import COMPONENT_VARIABLE, INPUTS_VARIABLE, OWNER_VARIABLE, Layout, digest, node_of
from .prerequisites import SEARCH_PATH, find
from .progress import ClusterError


@dataclass(frozen=True)
class Process:
    """A live process that belongs to a cluster. `component` is inherited by its children."""

    pid: int
    command: str
    component: str
    inputs: str

    @property
    def memory(self) -> int:
        """Resident bytes; 0 when it has ended."""
        return int((_status(self.pid, "VmRSS") or "0").split()[0]) * 1024


@dataclass(frozen=True)
class Daemon:
    """A component to run. Its name begins with the command's name; `.node-1` follows for one of a node.

    `inputs` are texts and files whose change asks for a restart; `node_pid` is the first process of its node.
    """

    name: str
    arguments: tuple[str, ...]
    path: Path
    inputs: tuple[object, ...] = ()
    node_pid: int | None = None

    @property
    def argv(self) -> list[str]:
        inside = [find("nsenter"), f"--target={self.node_pid}", "--mount", "--net", "--pid", "--uts", "--ipc", "--"]
        return [*(inside if self.node_pid else []), str(self.path), *self.arguments]

    @property
    def hash(self) -> str:
        return digest(*self.argv, *self.inputs)

    def log(self, layout: Layout) -> Path:
        return layout.logs / f"{self.name}.log"


def owned_processes(owner: str | Path) -> list[Process]:
    """All live processes of the cluster whose state directory is `owner`, those in its nodes and pods' shims included."""
    wanted = f"{OWNER_VARIABLE}={owner}".encode()
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            environment = Path(entry.path, "environ").read_bytes().split(b"\0")
            if wanted not in environment:
                continue
            variables = dict(line.decode(errors="replace").split("=", 1) for line in environment if b"=" in line)
            command = Path(entry.path, "comm").read_text().rstrip("\n")
        except OSError:  # ended meanwhile
            continue
        found.append(Process(int(entry.name), command, variables.get(COMPONENT_VARIABLE, ""), variables.get(INPUTS_VARIABLE, "")))
    return found


def running(layout: Layout) -> dict[str, Process]:
    """The daemons that run, by component. Wrappers and children carry the same variables, but have other commands."""
    return {process.component: process for process in owned_processes(layout.state) if process.command == command_of(process.component)}


def command_of(component: str) -> str:
    """The command of a component's process, as the kernel shows it: cut to 15 bytes."""
    return component.split(".")[0][:15]


def ensure(layout: Layout, daemons: Iterable[Daemon]) -> list[str]:
    """See that the daemons run with their present inputs; the names of those that had to be started."""
    alive = running(layout)
    stale = [daemon for daemon in daemons if daemon.name not in alive or alive[daemon.name].inputs != daemon.hash]
    stop(alive[daemon.name] for daemon in stale if daemon.name in alive)
    for daemon in stale:
        spawn(layout, daemon.name, daemon.argv, daemon.hash)
    return [daemon.name for daemon in stale]


def ensure_holder(layout: Layout, component: str, argv: list[str], inputs: str, before: Callable[[], None]) -> int:
    """See that the process that holds a set of namespaces runs; its pid. `argv` ends up as it, after `before` has made room."""
    present = running(layout).get(component)
    if present and present.inputs == inputs:
        return present.pid
    stop_all(layout, node_of(component))
    before()
    wrapper = spawn(layout, component, argv, inputs)
    deadline = time.monotonic() + 10
    while wrapper.poll() is None and time.monotonic() < deadline:
        if process := running(layout).get(component):
            return process.pid
        time.sleep(0.02)
    raise ClusterError(f"the namespaces of {node_of(component)} could not be set up", layout.logs / f"{component}.log")


def spawn(layout: Layout, component: str, argv: list[str], inputs: str) -> subprocess.Popen:
    layout.logs.mkdir(exist_ok=True)
    with (layout.logs / f"{component}.log").open("ab") as log:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=environment(layout, component, inputs),
            start_new_session=True,
        )


def stop(processes: Iterable[Process], grace: float = 5) -> None:
    """End processes: SIGTERM, and SIGKILL to those that are still there after `grace` seconds."""
    remaining = {process.pid for process in processes}
    for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, 5)):
        if number == signal.SIGTERM and not grace:
            continue
        for pid in remaining:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        deadline = time.monotonic() + seconds
        while remaining and time.monotonic() < deadline:
            remaining = {pid for pid in remaining if _alive(pid)}
            time.sleep(0.02)
    if remaining:
        raise ClusterError(f"these processes do not end, even by SIGKILL: {', '.join(map(str, sorted(remaining)))}")


def resume(processes: Iterable[Process]) -> None:
    """Continue what somebody has stopped: nsenter stops itself with the process that it waits for, and is not continued with it."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGCONT)


def stop_all(layout: Layout, node: str = "") -> None:
    """End everything of the cluster, or of one node, at once. With a node's first process the kernel ends all others of it."""
    for first in (True, False):
        ours = [process for process in owned_processes(layout.state) if node in ("", node_of(process.component))]
        # A node's first process ends only when every nsenter has seen the end of what it started there.
        resume(ours)
        stop([process for process in ours if not first or process.command == "node-init"], grace=0)


def _alive(pid: int) -> bool:
    return _status(pid, "State")[:1] not in ("", "Z", "X")


def _status(pid: int, key: str) -> str:
    """A field of what the kernel says of the process; empty when it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(f"{key}:")), "")


# Garbage is collected less often: with the default, that is a fifth of an API server's CPU time.
GO = {"GOGC": "400"}


def environment(layout: Layout, component: str, inputs: str) -> dict[str, str]:
    """A clean one: the proxy variables of the user's shell are not for the cluster."""
    return {
        "PATH": SEARCH_PATH,
        "HOME": "/",
        "LANG": "C.UTF-8",
        **GO,
        OWNER_VARIABLE: str(layout.state),
        COMPONENT_VARIABLE: component,
        INPUTS_VARIABLE: inputs,
    }
