# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The guard on the host, which rolls a change back if the module is killed: as a unit of systemd, else as a detached process."""

from __future__ import annotations

import contextlib
import inspect
import os
import subprocess
import sys
import time

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import rollback

SYSTEMD = "/run/systemd/system"
"""It exists where systemd is the init system, see sd_booted(3)."""
UNITS = "/etc/systemd/system"
START_SECONDS = 15
_UNIT = """\
[Unit]
Description=Rolls back a change of kube-scheduler whose task was killed
After=local-fs.target
Before=kubelet.service

[Service]
ExecStart={command}

[Install]
WantedBy=multi-user.target
"""


class Guard:
    """Of one manifest."""

    def __init__(self, manifest: str) -> None:
        self._manifest = manifest
        self._folder = rollback.state_folder(manifest)
        self._name = f"osso-scheduler-guard-{rollback.digest(manifest)[:12]}.service"

    @property
    def files(self) -> list[str]:
        """Unit and link: what there is of it outside of the folder of the record."""
        return [os.path.join(UNITS, self._name), os.path.join(UNITS, "multi-user.target.wants", self._name)]

    @property
    def left_over(self) -> list[str]:
        """What a run has left that was killed after its change was confirmed, or before it was recorded."""
        return [path for path in (self._folder, *self.files) if os.path.lexists(path)]

    def start(self) -> tuple[str, list[str]]:
        """Start it and wait until it waits: the way it runs, ``systemd`` or ``process``, and warnings. Raises OSError and InputError."""
        program, armed = (os.path.join(self._folder, name) for name in (rollback.PROGRAM, rollback.ARMED))
        rollback.write(program, inspect.getsource(rollback), self._folder)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(armed)  # of the guard before
        command = [sys.executable, "-I", program, self._manifest]
        warnings: list[str] = []
        if os.path.isdir(SYSTEMD):
            wrong = self._start_unit([*command, *self.files]) or _await(armed)
            if not wrong:
                return "systemd", []
            warnings.append(
                f"systemd does not start the guard ({wrong}), so it is a detached process, which does not survive a reboot of the host. "
                "After a reboot in the middle of a change, run the task again."
            )
        subprocess.Popen(  # pylint: disable=ansible-bad-function # run_command would wait for its end
            [*command, *self.files],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        wrong = _await(armed)
        if wrong:
            raise InputError(f"The guard that would roll the change back does not start: {wrong}. See to that, and run the task again.")
        return "process", warnings

    def end(self) -> None:
        """Delete the record, and the guard."""
        unit = os.path.lexists(self.files[0])
        rollback.forget(self._manifest, self.files)
        if unit:
            _systemctl("stop", self._name)
            _systemctl("daemon-reload")

    def _start_unit(self, command: list[str]) -> str:
        """What is wrong."""
        unit, link = self.files
        try:
            rollback.write(unit, _UNIT.format(command=" ".join(map(_quoted, command))), UNITS, 0o644)
            os.makedirs(os.path.dirname(link), exist_ok=True)
            if not os.path.lexists(link):
                os.symlink(unit, link)  # by which it starts with the host
        except OSError as error:
            return str(error)
        return _systemctl("daemon-reload") or _systemctl("restart", self._name)


def _systemctl(*arguments: str) -> str:
    """What is wrong."""
    try:
        # run_command has no time-out
        done = subprocess.run(  # pylint: disable=ansible-bad-function
            ["systemctl", *arguments], capture_output=True, text=True, check=False, timeout=START_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return " ".join(done.stderr.split()) or f"systemctl exits with {done.returncode}" if done.returncode else ""


def _await(armed: str) -> str:
    """Empty once the file exists, else what is wrong."""
    deadline = time.monotonic() + START_SECONDS
    while not os.path.exists(armed):
        if time.monotonic() >= deadline:
            return f"it does not answer within {START_SECONDS} s"
        time.sleep(0.02)
    return ""


def _quoted(word: str) -> str:
    """As one word of a command line in a unit, see systemd.service(5)."""
    for special, escaped in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("$", "$$")):
        word = word.replace(special, escaped)
    return f'"{word}"'
