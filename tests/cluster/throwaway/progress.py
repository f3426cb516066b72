# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the user sees of long work: each step with its progress and how long it took last time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

TAIL = 15


class ClusterError(Exception):
    """Something the user has to know: one clear sentence, and the log that tells more."""

    def __init__(self, message: str, log: Path | None = None):
        super().__init__(message)
        self.log = log


def tail(log: Path, lines: int = TAIL) -> str:
    try:
        with log.open(errors="replace") as file:
            return "".join(deque(file, lines))
    except OSError as error:
        return f"(no log: {error.strerror})\n"


def report_failure(error: ClusterError) -> None:
    if error.log:
        sys.stderr.write(f"--- last lines of {error.log}\n{tail(error.log)}---\n")
    sys.stderr.write(f"error: {error}\n")


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


class Step:
    """One line of progress, rewritten in place on a terminal, repeated now and then elsewhere."""

    def __init__(self, title: str, last: float | None):
        self.title = title
        self.started = time.monotonic()
        self.detail = ""
        self._last = f", last time {duration(last)}" if last else ""
        self._terminal = sys.stdout.isatty()
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def _line(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.title}{detail} ({duration(self.seconds)}{self._last})"

    def _tick(self) -> None:
        while not self._over.wait(0.5 if self._terminal else 10):
            if self._terminal:
                sys.stdout.write(f"\r\033[K{self._line()[: os.get_terminal_size().columns - 1]}")
                sys.stdout.flush()
            else:
                print(self._line(), flush=True)

    def __enter__(self) -> Step:
        self._ticker.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._over.set()
        self._ticker.join()
        if self._terminal:
            sys.stdout.write("\r\033[K")
        print(f"{self.title}{' FAILED' if error else ''} ({duration(self.seconds)}{self._last})", flush=True)


class Progress:
    """Steps, and the file that remembers how long each one took."""

    def __init__(self, durations_file: Path):
        self._file = durations_file
        try:
            self._durations = json.loads(durations_file.read_text())
        except (OSError, ValueError):
            self._durations = {}

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        with Step(title, self._durations.get(title)) as step:
            yield step
        self._durations[title] = round(step.seconds, 1)
        if self._file.parent.is_dir():
            self._file.write_text(json.dumps(self._durations, indent=1, sort_keys=True) + "\n")


def run_logged(
    argv: Sequence[str | Path],
    log: Path,
    failure: str,
    *,
    on_line: Callable[[str], None] = lambda line: None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> None:
    """Run a command with its output in `log`; `on_line` sees each line. Raises ClusterError with `failure`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        file.write("+ " + " ".join(map(str, argv)) + "\n")
        file.flush()
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=env, cwd=cwd
        )
        for line in process.stdout:
            file.write(line)
            on_line(line.rstrip())
        if process.wait():
            file.flush()
            raise ClusterError(f"{failure} (exit code {process.returncode})", log)


def output(*argv: str | Path, input: str | None = None) -> str:
    """What a short command prints. Raises ClusterError with what it says on failure."""
    result = subprocess.run(argv, input=input, capture_output=True, text=True, check=False)
    if result.returncode:
        said = (result.stderr or result.stdout).strip()
        raise ClusterError(f"`{' '.join(map(str, argv))}` failed: {said or f'exit code {result.returncode}'}")
    return result.stdout
