# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator's pods on the throwaway cluster, seen and killed from the machine that the nodes are on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .fault_proxy import FaultProxy
from .scheduler import eventually
from .site import NAMESPACE

NAME = "osso-scheduler-operator"
CONTROLLER = "ansible-operator"
PARENT = "warm-parent"
# What runs in the pod between two reconciles, by the names that the kernel keeps of it.
AT_REST = {"warm-runner", CONTROLLER[:15], PARENT}
WAYS_TO_DIE = ("crash", "evict", "lose")


def restart(kubectl) -> None:
    """Delete the operator's pods, and wait until new ones are ready."""
    kubectl("delete", "pod", f"--namespace={NAMESPACE}", f"--selector=app.kubernetes.io/name={NAME}", "--timeout=110s")
    kubectl("rollout", "status", f"deployment/{NAME}", f"--namespace={NAMESPACE}", "--timeout=110s")


@dataclass(frozen=True)
class Process:
    pid: int
    command: str

    @property
    def resident(self) -> int:
        """Resident bytes; 0 when it has ended."""
        return sum(_kibibytes(f"/proc/{self.pid}/status", "VmRSS:")) * 1024


class Operator:
    """The operator of the demo's installation."""

    def __init__(self, kubectl):
        self.kubectl = kubectl

    def pods(self) -> list[dict]:
        """Those that are not being deleted."""
        selector = f"--selector=app.kubernetes.io/name={NAME}"
        found = self.kubectl.json("get", "pods", f"--namespace={NAMESPACE}", selector)["items"]
        return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]

    def processes(self, *pods: dict) -> list[Process]:
        """What runs in these pods, or in all of them; the sandboxes' own process is left out."""
        marks = [f"/pod{pod['metadata']['uid']}/" for pod in pods or self.pods()]
        return [process for process, groups in _all_processes() if process.command != "pause" and any(mark in groups for mark in marks)]

    def await_running(self, within: float = 180) -> dict:
        """A pod whose controller runs, whether it is ready yet or not."""

        def running():
            """the operator's controller runs"""
            return next((pod for pod in self.pods() if self._controllers(pod)), None)

        return eventually(running, within)

    def await_ready(self, within: float = 180) -> None:
        self.kubectl("rollout", "status", f"deployment/{NAME}", f"--namespace={NAMESPACE}", f"--timeout={within}s", timeout=within + 10)

    def work(self, proxy: FaultProxy, requests: int, at_most: float = 30) -> None:
        """Let it send so many requests: for a kill in the middle of the work, whatever the machine's speed. Idle ones send none."""
        end, until = time.monotonic() + at_most, proxy.seen + requests
        while proxy.seen < until and time.monotonic() < end:
            time.sleep(0.02)

    def kill(self, pod: dict, way: str) -> None:
        """End a pod's operator by one of WAYS_TO_DIE.

        crash: its processes end at once, the kubelet starts the container again with the same /tmp.
        evict: the pod is deleted and has time to end, its successor starts meanwhile.
        lose: processes end at once, and the pod goes with what it has written.
        """
        if way != "evict":
            for process in self._controllers(pod):
                with suppress(ProcessLookupError):
                    # The first process of the container ends with it, and then the kernel ends all others.
                    os.kill(process.pid, signal.SIGKILL)
        if way == "lose":
            # A pod that came and went while the ReplicaSet controller's watch was down is not replaced (kubernetes/kubernetes#129795).
            eventually(lambda: pod["metadata"]["name"] not in self._unseen_by_controllers(), within=120)
        if way != "crash":
            force = ["--grace-period=0", "--force"] if way == "lose" else []
            self.kubectl("delete", "pod", pod["metadata"]["name"], f"--namespace={NAMESPACE}", "--wait=false", "--ignore-not-found", *force)

    def scale(self, replicas: int) -> None:
        """Set the number of replicas, and wait until it is reached."""
        self.kubectl("scale", f"deployment/{NAME}", f"--namespace={NAMESPACE}", f"--replicas={replicas}")
        if replicas:
            self.await_ready()
        else:
            eventually(lambda: not self.processes() and not self.pods())

    def use_api_server(self, *environment: str) -> None:
        """Have the operator speak to another address: `KUBERNETES_SERVICE_HOST=...`, or `KUBERNETES_SERVICE_HOST-` to take it back."""
        self.kubectl("set", "env", f"deployment/{NAME}", f"--namespace={NAMESPACE}", *environment)
        self.await_ready()

    def files(self) -> Iterator[Path]:
        """All files below /tmp of the pod, the only place that it can write to."""
        for process in self._controllers(self.await_running()):
            for folder, _folders, names in os.walk(Path("/proc", str(process.pid), "root", "tmp")):
                yield from (Path(folder, name) for name in names)

    def _unseen_by_controllers(self) -> set[str]:
        """Pods that kube-controller-manager does not know yet: its EndpointSlice and its ReplicaSet controller share a watch."""
        selector = f"--selector=kubernetes.io/service-name={NAME}-metrics"
        slices = self.kubectl.json("get", "endpointslices", f"--namespace={NAMESPACE}", selector)["items"]
        seen = {endpoint["targetRef"]["name"] for one in slices for endpoint in one["endpoints"] or []}
        return {pod["metadata"]["name"] for pod in self.pods()} - seen

    def _controllers(self, pod: dict) -> list[Process]:
        return [process for process in self.processes(pod) if process.command == CONTROLLER[:15]]


def _all_processes() -> Iterator[tuple[Process, str]]:
    """Every process with its cgroups."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):  # ended meanwhile
                command = Path(entry.path, "comm").read_text().rstrip("\n")
                yield Process(int(entry.name), command), Path(entry.path, "cgroup").read_text()


def _kibibytes(path: str, key: str) -> Iterator[int]:
    with suppress(OSError):
        for line in Path(path).read_text().splitlines():
            if line.startswith(key):
                yield int(line.split()[1])
