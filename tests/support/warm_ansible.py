# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ansible-playbook forked from a process that has imported Ansible: the parent of the operator's image (operator/image/warm_runner).

A play starts in a sixth of the CPU time. The ordinary way is taken where the environment was read while Ansible was imported, and is another
now; and with $ORDINARY_PLAYS.
"""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

# Those of the parent and of each play.
SETTINGS = {
    "ANSIBLE_CALLBACK_PLUGINS": str(Path(__file__).parent / "callback"),
    "ANSIBLE_CALLBACKS_ENABLED": "record",
    "ANSIBLE_NOCOLOR": "true",
}

SOURCE = Path(__file__).parents[2] / "operator/image/warm_runner"
PARENT = f"""
import ctypes, sys
ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL: it ends with the thread that has started it
sys.path.insert(0, {str(SOURCE)!r})
import warm_parent
warm_parent.load = warm_parent.load_ansible
warm_parent.main()
"""


def start() -> None:
    """Start the parent in this thread, whose end is that of the parent."""
    _parent(Path.cwd())


def run(command: list[str], *, env: dict[str, str], timeout: float) -> subprocess.CompletedProcess:
    """As `subprocess.run` of ansible-playbook, without stdin; stdout and stderr are text."""
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
    ):
        if not env.get("ORDINARY_PLAYS"):
            connection.connect(_parent(Path.cwd()))
            connection.settimeout(timeout)
            _expect(connection, "ready")
            with open(os.devnull) as nothing:
                message = "\0".join(
                    [*command[:1], os.getcwd(), str(len(command) - 1), *command[1:], *(f"{name}={value}" for name, value in env.items())]
                )
                socket.send_fds(connection, [message.encode()], [stream.fileno() for stream in (nothing, out, err)])
            answer = _answer(connection)
            if answer != "unlike":
                assert answer.startswith("pid "), answer
                try:
                    status = int(_expect(connection, "status"))
                except TimeoutError as error:
                    raise subprocess.TimeoutExpired(command, timeout) from error  # closing the connection kills the play
                out.seek(0)
                err.seek(0)
                return subprocess.CompletedProcess(command, os.waitstatus_to_exitcode(status), out.read(), err.read())
    return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False)


@cache
def _parent(_folder: Path) -> str:
    """The socket of this process's parent of plays in that working folder, where Ansible looked for its configuration."""
    folder = tempfile.mkdtemp(prefix="osso-plays-")
    path = Path(folder, "socket")
    # Its output is of interest when it cannot start.
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT], env={**os.environ, **SETTINGS, "OPERATOR_WARM_RUNNER": str(path)}, stdin=subprocess.DEVNULL
    )
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(process.kill)
    while not path.exists():
        assert process.poll() is None, "the parent of plays has ended"
        time.sleep(0.02)
    return str(path)


def _answer(connection: socket.socket) -> str:
    return connection.recv(100).decode()


def _expect(connection: socket.socket, word: str) -> str:
    answer = _answer(connection)
    assert answer.split()[:1] == [word], f"{answer!r} instead of {word!r}"
    return answer.removeprefix(word).strip()
