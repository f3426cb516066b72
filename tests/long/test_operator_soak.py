# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the operator's pod holds after many reconciles: memory, files, open files, processes. SOAK_RECONCILES makes it shorter."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

import pytest
from support.convergence import User, converge
from support.operator_pod import AT_REST, PARENT, Operator
from support.scheduler import eventually
from support.site import NAMESPACE, installed

pytestmark = pytest.mark.long

RECONCILES = int(os.environ.get("SOAK_RECONCILES") or 1000)
MARKS = tuple(RECONCILES * share // 10 for share in (1, 5, 10))
USERS = 4
WITHIN = 600
KILLING = 90  # seconds
# Between the last two marks, with Go's collector free to run when it likes: a tenth of the operator's size at rest.
GROWTH = 8 * 2**20


@dataclass(frozen=True)
class Sample:
    """The pod at rest, after so many reconciles."""

    reconciles: int
    processes: int
    resident: int
    files: int
    bytes: int
    open_files: int

    @classmethod
    def take(cls, operator: Operator, reconciles: int) -> Sample:
        processes = operator.processes()
        sizes, descriptors = [], 0
        for path in operator.files():
            with suppress(OSError):
                sizes.append(path.lstat().st_size)
        for process in processes:
            with suppress(OSError):
                descriptors += len(list(Path(f"/proc/{process.pid}/fd").iterdir()))
        return cls(reconciles, len(processes), sum(process.resident for process in processes), len(sizes), sum(sizes), descriptors)


class Reconciles:
    """Counts the runs that the operator's log tells of."""

    def __init__(self):
        self.count = 0

    @contextmanager
    def counted(self, kubectl, pod: str) -> Iterator[Reconciles]:
        follow = ["kubectl", f"--kubeconfig={kubectl.kubeconfig}", "logs", "--follow", "--tail=0", pod, f"--namespace={NAMESPACE}"]
        with subprocess.Popen(follow, stdout=subprocess.PIPE, text=True) as log:
            thread = threading.Thread(target=self._read, args=[log.stdout])
            thread.start()
            try:
                yield self
            finally:
                log.terminate()
                thread.join()

    def _read(self, lines) -> None:
        for line in lines:
            self.count += '"logger":"runner"' in line and '"job":' in line


@pytest.fixture
def new_operator(kubectl, own_cluster):
    """A new pod of the demo's operator."""
    installed()
    operator = Operator(kubectl)
    operator.scale(0)
    operator.scale(1)
    return operator


@pytest.fixture
def users(new_operator, kubectl):
    users = [User(kubectl, f"soak-{number}") for number in range(USERS)]
    for user in users:
        user.create()
    converge(kubectl, users, WITHIN)
    yield users
    for user in users:
        user.delete()
    converge(kubectl, users, WITHIN)
    for user in users:
        kubectl("delete", "configmap", user.name, f"--namespace={NAMESPACE}", "--ignore-not-found")


def at_rest(operator: Operator) -> None:
    """Wait until no reconcile has run for a while."""
    since = time.monotonic()

    def rests():
        """no reconcile runs"""
        nonlocal since
        if {process.command for process in operator.processes()} != AT_REST:
            since = time.monotonic()
        return time.monotonic() - since > 5

    eventually(rests, WITHIN)


def test_memory_and_files_stay_flat(new_operator, users, kubectl, record_property):
    pod = new_operator.await_running()
    samples = []
    with Reconciles().counted(kubectl, pod["metadata"]["name"]) as reconciles:
        edit = 0
        for mark in MARKS:
            deadline = time.monotonic() + 10 * (mark + 60)
            while reconciles.count < mark:
                assert time.monotonic() < deadline, f"{reconciles.count} reconciles"
                edit += 1
                annotation = f"example.com/edit={edit}"
                kubectl("annotate", "secondaryschedulers", "--all", f"--namespace={NAMESPACE}", "--overwrite", annotation)
                time.sleep(0.5)
            at_rest(new_operator)
            samples.append(Sample.take(new_operator, reconciles.count))
            print(samples[-1], flush=True)
            record_property(f"after {mark} reconciles", ", ".join(f"{name} {value}" for name, value in asdict(samples[-1]).items()))
    (same,) = new_operator.pods()
    assert same["metadata"]["uid"] == pod["metadata"]["uid"], "one pod all the time"
    assert not same["status"]["containerStatuses"][0]["restartCount"]
    first, middle, last = samples
    assert first.files, "the files of the runs are seen"
    assert {sample.processes for sample in samples} == {len(AT_REST)}
    assert last.resident - middle.resident < GROWTH
    assert last.resident - first.resident < 2 * GROWTH
    assert last.files <= first.files * 1.1
    assert last.bytes <= first.bytes * 1.1
    assert last.open_files <= first.open_files + 10


def test_the_operator_converges_although_its_processes_are_killed(new_operator, users, kubectl, record_property):
    """The parent that forks reconciles, and reconciles, killed again and again: everything converges, in the same container."""
    pod = new_operator.await_running()
    killed = Counter()
    end = time.monotonic() + KILLING
    for edit in count():
        if time.monotonic() > end:
            break
        kubectl("annotate", "secondaryschedulers", "--all", f"--namespace={NAMESPACE}", "--overwrite", f"example.com/kill={edit}")
        running = [process for process in new_operator.processes() if process.command not in AT_REST - {PARENT}]
        # Every third time the parent, which is always there
        for process in [one for one in running if (one.command == PARENT) == (edit % 3 == 0)][-1:]:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
                killed[process.command] += 1
        time.sleep(random.uniform(0.2, 2))
    for user in users:
        user.edit(logLevel="Debug")
    converge(kubectl, users, WITHIN)
    at_rest(new_operator)
    record_property("killed", ", ".join(f"{name} {times}" for name, times in sorted(killed.items())))
    assert killed[PARENT]
    assert set(killed) & {"ansible-runner", "ansible-playboo"}
    (same,) = new_operator.pods()
    assert same["metadata"]["uid"] == pod["metadata"]["uid"]
    assert not same["status"]["containerStatuses"][0]["restartCount"]
    assert [
        process
        for process in new_operator.processes()
        if Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    ] == []
