# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kubectl without the start of a process for each command: the throwaway cluster's kubectl-server executes them (tests/cluster/kubernetes/kubectl.go).

A new process of kubectl runs if there is no such program, or if another thread's command is being executed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from functools import cache
from select import select

from cluster.throwaway.processes import GO


def run(arguments: list[str], stdin: str | None, timeout: float) -> subprocess.CompletedProcess:
    """As `subprocess.run` of kubectl; stdout and stderr are text. ``timeout`` is in seconds."""
    server = _server(os.getpid(), shutil.which("kubectl-server"))
    if server and server.lock.acquire(blocking=False):
        try:
            answer = server.answer({"arguments": arguments, "stdin": stdin or ""}, timeout)
        finally:
            server.lock.release()
        if answer:
            return subprocess.CompletedProcess(["kubectl", *arguments], **answer)
    return subprocess.run(["kubectl", *arguments], input=stdin, capture_output=True, text=True, timeout=timeout, check=False)


@cache
def _server(_process: int, program: str | None) -> _Server | None:
    """The server of this process: a fork has its own."""
    return _Server(program) if program else None


class _Server:
    def __init__(self, program: str):
        self.lock = threading.Lock()
        self._program = program
        self._process: subprocess.Popen | None = None

    def answer(self, request: dict, timeout: float) -> dict | None:
        """returncode, stdout and stderr; None if kubectl has ended the process, as it does if it does not know a command."""
        if not self._process:
            # It ends when its stdin is closed, at the latest with this process.
            self._process = subprocess.Popen([self._program], env={**os.environ, **GO}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        in_time = select([self._process.stdout], [], [], timeout)[0]
        if in_time and (line := self._process.stdout.readline()):
            return json.loads(line)
        self._process.kill()
        self._process.communicate()
        self._process = None
        if not in_time:
            raise subprocess.TimeoutExpired(["kubectl", *request["arguments"]], timeout)
        return None
