# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ways to send SIGUSR2 to a kube-scheduler: from within its container, from an ephemeral container in its pod, or on its host.

Each finds the process by its name, and signals it only if it has a handler for the signal, because a process without one would end.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
import uuid
from pathlib import Path
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import streams
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import ApiError, Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import Target
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.job_pods import HOPELESS

EXEC, EPHEMERAL, HOST = "exec", "ephemeral_container", "host"
# A command in a container that is there takes no time; a node under load does.
EXEC_SECONDS = 30
# What the kernel keeps of a program's name
_COMM = 15
# Bit of SIGUSR2 in SigCgt of /proc/PID/status; in the script it is the third hexadecimal digit from the right.
_CAUGHT = 1 << (signal.SIGUSR2 - 1)
_POLL_SECONDS = 0.5
_SCRIPT = """\
done=
for process in /proc/[0-9]*; do
  name=; caught=
  read -r name 2>/dev/null <"$process/comm" || continue
  [ "$name" = "$1" ] || continue
  while read -r key value; do [ "$key" = SigCgt: ] && caught=$value; done 2>/dev/null <"$process/status"
  digit=${caught%??}; digit=${digit#"${digit%?}"}
  case $digit in [89a-f]) ;; *) echo "process ${process#/proc/} named $1 does not expect the signal"; continue ;; esac
  kill -USR2 "${process#/proc/}" && done=1
done
[ "$done" ] || { echo "no process named $1 was signalled"; exit 3; }
"""


class Sent(NamedTuple):
    """method: EXEC, EPHEMERAL or HOST. leftover: what stays in the cluster, empty if nothing does. pids: on the host."""

    method: str
    leftover: str = ""
    pids: tuple[int, ...] = ()


class NoShell(ClusterError):
    """The container's image has no shell."""


def from_inside(client: Client, target: Target, process: str) -> Sent:
    """Run a shell in the scheduler's own container. Raises `NoShell` where its image has none."""
    outcome = streams.run(client, target.namespace, target.name, target.container, _command(process), EXEC_SECONDS)
    if outcome.exit_code is None:
        message = f"the container {target.container} of the pod {target} could not run a shell: {outcome.message.strip()}"
        if "not found" in outcome.message or "no such file" in outcome.message:
            raise NoShell(message)
        raise ClusterError(message)
    if outcome.exit_code:
        raise ClusterError(
            f"In the container {target.container} of the pod {target}: {outcome.output.strip() or outcome.message}. {_remedy()}"
        )
    return Sent(EXEC)


def from_beside(client: Client, target: Target, process: str, image: str, timeout: float) -> Sent:
    """Add an ephemeral container that shares the scheduler's processes, sends the signal and ends. It stays listed in the pod."""
    if target.static:
        raise InputError(
            f"The pod {target} is a static pod of the node {target.node}: the API server can't add a container to it. Run the task on that "
            "node (delegate_to) with method: host."
        )
    name = f"osso-dump-{uuid.uuid4().hex[:8]}"
    pods = client.resource("v1", "Pod")
    try:
        client.request(
            "PATCH",
            pods.path(target.namespace, target.name, "ephemeralcontainers"),
            query={"fieldManager": "osso.scheduler"},
            body={"spec": {"ephemeralContainers": [ephemeral_container(target, name, process, image)]}},
            content_type="application/strategic-merge-patch+json",
        )
    except ApiError as error:
        error.message = f"No ephemeral container could be added to the pod {target}: {error.message}"
        if not 400 <= error.status < 500:
            error.message += f" If it was added all the same, it is {name}."
        raise
    try:
        _await_end(client, target, name, image, timeout)
    except ClusterError as error:
        error.message += f" The ephemeral container {name} stays listed in the pod {target} until that is replaced."
        raise
    return Sent(EPHEMERAL, f"The ephemeral container {name} has ended; it stays listed in the pod {target} until that is replaced.")


def _await_end(client: Client, target: Target, name: str, image: str, timeout: float) -> None:
    """Wait until an ephemeral container has done its work. Raises ClusterError where it has not."""
    pods = client.resource("v1", "Pod")
    deadline = time.monotonic() + timeout
    while True:
        live = client.get(pods, target.name, target.namespace) or {}
        statuses = (live.get("status") or {}).get("ephemeralContainerStatuses") or []
        state = next((status.get("state") or {} for status in statuses if status["name"] == name), {})
        ended = state.get("terminated")
        if ended and ended.get("exitCode") == 0:
            return
        if ended:
            said = client.text(pods.path(target.namespace, target.name, "log"), {"container": name}).strip()
            raise ClusterError(f"In the ephemeral container {name}: {said or ended.get('message') or ended.get('reason')}. {_remedy()}")
        waiting = state.get("waiting") or {}
        cannot = HOPELESS.get(waiting.get("reason", ""))
        if cannot or time.monotonic() > deadline:
            why = ": ".join(filter(None, [waiting.get("reason"), waiting.get("message")])) or "it has not started"
            raise ClusterError(
                f"The ephemeral container {name} of the pod {target} {cannot or f'did not run within {timeout:.0f} s'}: {why}. Give an image with a "
                f"shell that the node {target.node} can pull as debug_image (now {image})."
            )
        time.sleep(_POLL_SECONDS)


def ephemeral_container(target: Target, name: str, process: str, image: str) -> dict[str, Any]:
    """The container: with the user of the scheduler if the pod specifies it, else with the capability to signal processes of others."""
    spec = target.pod["spec"]
    container = next(one for one in spec["containers"] if one["name"] == target.container)
    own, pod = container.get("securityContext") or {}, spec.get("securityContext") or {}
    user = own.get("runAsUser", pod.get("runAsUser"))
    security: dict[str, Any] = {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    for key in ("runAsUser", "runAsGroup", "runAsNonRoot", "seccompProfile", "seLinuxOptions"):
        if key in own:
            security[key] = own[key]
    if user is None and not own.get("runAsNonRoot", pod.get("runAsNonRoot")):
        # The user of its image is unknown. Root may signal all with this capability, others themselves.
        security["capabilities"]["add"] = ["KILL"]
    return {
        "name": name,
        "image": image,
        "command": _command(process),
        "targetContainerName": target.container,
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "securityContext": security,
    }


def on_host(process: str, container_id: str = "", pid: int | None = None, proc: Path = Path("/proc")) -> Sent:
    """Signal the process on the machine that the module runs on.

    ``container_id``: of its container; without one it is a process outside of containers. ``pid``: that one and no other.
    """
    found = [one for one in _processes(proc, process) if (pid is None or one == pid) and _belongs(proc, one, container_id)]
    if not found:
        which = (
            f"the process {pid}"
            if pid
            else f"a process of the container {container_id[:12]}"
            if container_id
            else "a process outside of containers"
        )
        raise ClusterError(
            f"On this host there is not {which} whose program is called {process}. Run the task on the host where the scheduler runs "
            "(delegate_to), as a user who sees its processes, and give its program's name as process if it has another."
        )
    if len(found) > 1:
        listed = "; ".join(f"{one}: {_command_line(proc, one)}" for one in found)
        raise InputError(f"pid: {len(found)} processes on this host are called {process}; give the pid of the one that is meant. {listed}")
    if not _expects_signal(proc, found[0]):
        raise ClusterError(
            f"The process {found[0]} called {process} has no handler for SIGUSR2, which would end it, so it was not sent. {_remedy()}"
        )
    try:
        os.kill(found[0], signal.SIGUSR2)
    except PermissionError:
        raise ClusterError(f"The process {found[0]} belongs to another user: run the task with become: true.") from None
    return Sent(HOST, pids=tuple(found))


def _command(process: str) -> list[str]:
    return ["sh", "-c", _SCRIPT, "sh", process[:_COMM]]


def _remedy() -> str:
    return "Is it a kube-scheduler? Its program's name is given as process."


def _processes(proc: Path, name: str) -> list[int]:
    found = []
    for entry in proc.iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdecimal() and (entry / "comm").read_text().strip() == name[:_COMM]:
                found.append(int(entry.name))
    return sorted(found)


def _belongs(proc: Path, pid: int, container_id: str) -> bool:
    """Whether the process is of the container, or without one in no PID namespace but ours."""
    try:
        if container_id:
            return container_id in (proc / str(pid) / "cgroup").read_text()
        return os.readlink(proc / str(pid) / "ns/pid") == os.readlink(proc / "self/ns/pid")
    except OSError:
        return False


def _expects_signal(proc: Path, pid: int) -> bool:
    with contextlib.suppress(OSError, ValueError):
        for line in (proc / str(pid) / "status").read_text().splitlines():
            key, _colon, value = line.partition(":")
            if key == "SigCgt":
                return bool(int(value, 16) & _CAUGHT)
    return False


def _command_line(proc: Path, pid: int) -> str:
    with contextlib.suppress(OSError):
        return (proc / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()[:200]
    return "unknown"
