# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the operator's pod holds after many reconciles: memory, files, open files, processes. SOAK_RECONCILES makes it shorter."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
from support.convergence import User, converge
from support.operator_pod import CONTROLLER, Operator
from support.scheduler import eventually
from support.site import NAMESPACE, installed

pytestmark = pytest.mark.long

RECONCILES = int(os.environ.get("SOAK_RECONCILES") or 1000)
MARKS = tuple(RECONCILES * share // 10 for share in (1, 5, 10))
USERS = 4
WITHIN = 600
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
def operator(kubectl, own_cluster):
    """A new pod of the demo's operator."""
    installed()
    operator = Operator(kubectl)
    operator.scale(0)
    operator.scale(1)
    return operator


@pytest.fixture
def users(operator, kubectl):
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
    """Wait until nothing but the controller has run for a while."""
    since = time.monotonic()

    def rests():
        """only the controller runs"""
        nonlocal since
        if {process.command for process in operator.processes()} != {CONTROLLER[:15]}:
            since = time.monotonic()
        return time.monotonic() - since > 5

    eventually(rests, WITHIN)


def test_memory_and_files_stay_flat(operator, users, kubectl, record_property):
    pod = operator.await_running()
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
            at_rest(operator)
            samples.append(Sample.take(operator, reconciles.count))
            print(samples[-1], flush=True)
            record_property(f"after {mark} reconciles", ", ".join(f"{name} {value}" for name, value in asdict(samples[-1]).items()))
    (same,) = operator.pods()
    assert same["metadata"]["uid"] == pod["metadata"]["uid"], "one pod all the time"
    assert not same["status"]["containerStatuses"][0]["restartCount"]
    first, middle, last = samples
    assert first.files, "the files of the runs are seen"
    assert {sample.processes for sample in samples} == {1}
    assert last.resident - middle.resident < GROWTH
    assert last.resident - first.resident < 2 * GROWTH
    assert last.files <= first.files * 1.1
    assert last.bytes <= first.bytes * 1.1
    assert last.open_files <= first.open_files + 10
