# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The process of a static pod as its host sees it: is it the one that the manifest describes, and is it well?"""

from __future__ import annotations

import glob
import http.client
import math
import os
import re
import ssl
import time
from collections.abc import Collection
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod.rollback import processes

STABLE_SECONDS = 5
"""So long one process has to be well: one that ends on its configuration does so at once, and kubelet starts it again."""
VAIN_STARTS = 3
"""So many times it is started before it is given up. kubelet starts again at once what has ended for the first time; before the third start it waits ten
seconds or more, before each further one twice as long. So what fails for a moment gets another chance after that moment."""
CLOCK_SECONDS = 0.1
"""So far the start of a process and the time of a file may be apart by the granularity of their clocks."""
LOGS = "/var/log/pods/kube-system_kube-scheduler-*/kube-scheduler/*.log"
_PATHS = (("/livez", "/readyz"), ("/healthz",))


def older_than(path: str, pids: Collection[int]) -> list[int]:
    """Those of the processes that began before the file was last written: they may run with another text than it has now.

    Both ages are taken from now on, so it does not matter when the host was booted by its clock. A start is known to the tick, a hundredth of a second.
    """
    # One after the other: on a busy host much time can pass until the files are read.
    now, now_of_processes = time.time(), time.clock_gettime(time.CLOCK_BOOTTIME)
    age_of_file = now - os.stat(path).st_mtime
    return [pid for pid in pids if _age(pid, now_of_processes) > age_of_file + CLOCK_SECONDS]


def _age(pid: int, now: float) -> float:
    """Seconds from the begin of the process to `now` (CLOCK_BOOTTIME), see proc_pid_stat(5); -inf where it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return -math.inf
    return now - int(fields[19]) / os.sysconf("SC_CLK_TCK")


def await_one(
    argv: list[str],
    others: list[list[str]],
    address: tuple[str, int],
    timeout: float,
    before: Collection[int] = (),
    logs: str | None = None,
) -> str:
    """Wait until a process with this command line is well and stays so, and none with those of ``others`` is left.

    ``before``: processes that have to be gone, though they may have the same command line. ``logs``: pattern of the files that kubelet has one
    of for each start; where it is given, what ends again and again is not waited for until the time is over.
    Returns an empty text, or what was seen last.
    """
    deadline = time.monotonic() + timeout
    since: tuple[int, float] | None = None
    starts = _Starts(logs) if logs else None
    while True:
        running = processes(argv)
        left = [pid for other in others for pid in processes(other)] + [pid for pid in running if pid in before]
        if len(running) != 1:
            seen = f"{len(running)} processes run with the manifest's command line"
        elif left:
            seen = "the process before still runs"
        else:
            seen = _health(address)
        now = time.monotonic()
        if starts:
            starts.look(now, bool(running))
        if seen:
            since = None
            if starts and starts.in_vain(now):
                return f"kubelet started it {starts.count} times, and it ended each time"
        elif since is None or since[0] != running[0]:
            since = (running[0], now)
        elif now - since[1] >= STABLE_SECONDS:
            return ""
        if now >= deadline:
            return seen or "it was not well for long enough"
        time.sleep(0.2)


class _Starts:
    """The starts of a container from now on, by its logs: a process that ends at once is not visible otherwise."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._before = set(glob.glob(pattern))
        self._seen: set[str] = set()
        self._alive = 0.0

    @property
    def count(self) -> int:
        return len(self._seen)

    def look(self, now: float, running: bool) -> None:
        # Of older containers kubelet deletes the logs.
        found = set(glob.glob(self._pattern)) - self._before
        if running or not found <= self._seen:
            self._alive = now
        self._seen |= found

    def in_vain(self, now: float) -> bool:
        """Whether it has been started often enough, and the last one has ended, too."""
        return self.count >= VAIN_STARTS and now - self._alive >= STABLE_SECONDS


def last_words(pattern: str = LOGS) -> str:
    """The last line of the youngest log of the pod, empty where there is none."""
    try:
        youngest = max(glob.glob(pattern), key=os.path.getmtime)
        with open(youngest, "rb") as file:
            file.seek(max(0, os.path.getsize(youngest) - 4096))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except (OSError, ValueError):
        return ""
    # The runtime puts in front a time, the stream and whether the line is whole.
    return re.sub(r"^\S+ (stdout|stderr) [FP] ", "", lines[-1]) if lines else ""


def _health(address: tuple[str, int]) -> str:
    """Empty if its health checks report live and ready, else their result."""
    answer: Any = None
    for paths in _PATHS:
        answers = [(path, _status(address, path)) for path in paths]
        if all(status == 200 for _path, status in answers):
            return ""
        path, answer = next((path, status) for path, status in answers if status != 200)
        if answer != 404:
            # Releases before 1.31 know neither of the first two.
            return f"{path} on {address[0]}:{address[1]} answers {answer}"
    return f"{address[0]}:{address[1]} answers {answer}"


def _status(address: tuple[str, int], path: str) -> int | str:
    # It signs its certificate itself at each start. The request contains no secret, and stays on its own host.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection(*address, timeout=5, context=context)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"nothing ({error})"
    finally:
        connection.close()


def same_file_system(folder: str, other: str) -> None:
    """Raises InputError unless a file can be renamed from one to the other."""
    if os.stat(folder).st_dev != os.stat(other).st_dev:
        raise InputError(
            f"{folder} and {other} are on different file systems, so the manifest cannot be replaced in one step: mount them together."
        )
