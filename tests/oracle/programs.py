# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The oracle's programs: one per Kubernetes minor and plugin set, built by Go from source/ with the module files of modules/."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "source"
MODULES = HERE / "modules"
CACHE = HERE.parents[1] / ".cache" / "oracle"
BIN = CACHE / "bin"

IN_TREE = "in-tree"
SCHEDULER_PLUGINS = "scheduler-plugins"

# The oldest release that source/ has a build constraint for; see tags().
FIRST_CONSTRAINT = 22


class OracleError(Exception):
    """What the user can do something about."""


@dataclass(frozen=True)
class Program:
    minor: str
    plugins: str

    @property
    def path(self) -> Path:
        return BIN / f"{self.minor}-{self.plugins}"

    @property
    def module(self) -> Path:
        return MODULES / f"{self.minor}.mod"

    @property
    def mark(self) -> Path:
        """Holds the hash of what the program was built of."""
        return BIN / f".{self.path.name}.inputs"

    def inputs(self) -> str:
        files = [*sorted(SOURCE.glob("*.go")), self.module, self.module.with_suffix(".sum")]
        content = hashlib.sha256()
        for file in files:
            content.update(f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
        return content.hexdigest()

    def built(self) -> bool:
        return self.path.exists()

    def current(self) -> bool:
        return self.built() and self.mark.exists() and self.mark.read_text() == self.inputs()

    def versions(self) -> tuple[str, str | None]:
        """The versions of Kubernetes and of scheduler-plugins that the module file names."""
        text = self.module.read_text()
        kubernetes = re.search(r"^\tk8s\.io/kubernetes => \S+ (\S+)$", text, re.MULTILINE)
        plugins = re.search(r"^\tsigs\.k8s\.io/scheduler-plugins (v\S+)", text, re.MULTILINE)
        if kubernetes is None:
            raise OracleError(f"{self.module} does not replace k8s.io/kubernetes")
        return kubernetes[1], plugins and plugins[1]


def number(minor: str) -> int:
    return int(minor.split(".")[1])


def tags(minor: str, plugins: str) -> str:
    """Build constraints: since_1_22 ... up to the minor itself, and scheduler_plugins."""
    names = [f"since_1_{n}" for n in range(FIRST_CONSTRAINT, number(minor) + 1)]
    if plugins == SCHEDULER_PLUGINS:
        names.append("scheduler_plugins")
    return ",".join(names)


def all_programs(minors: Iterable[str] = ()) -> list[Program]:
    """Every program that there is a module file for; only those of the given minors if there are any."""
    known = sorted((path.stem for path in MODULES.glob("*.mod")), key=number)
    unknown = [minor for minor in minors if minor not in known]
    if unknown:
        raise OracleError(f"no oracle for {', '.join(unknown)}: there is one for {', '.join(known)}")
    programs = []
    for minor in list(minors) or known:
        programs.append(Program(minor, IN_TREE))
        with_plugins = Program(minor, SCHEDULER_PLUGINS)
        if with_plugins.versions()[1]:
            programs.append(with_plugins)
    return programs


def build(minors: Iterable[str], report: Callable[[str], None]) -> list[Program]:
    """Build what is missing or out of date, one after the other; return what could not be built."""
    failed = []
    by_minor: dict[str, list[Program]] = {}
    for program in all_programs(minors):
        if not program.current():
            by_minor.setdefault(program.minor, []).append(program)
    BIN.mkdir(parents=True, exist_ok=True)
    for minor, programs in by_minor.items():
        # Releases share next to nothing, and what Go keeps of one is about a gigabyte.
        own_cache = CACHE / "go-build" / minor
        environment = {"GOCACHE": str(own_cache), **os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly"}
        try:
            for program in programs:
                started = time.monotonic()
                message = _compile(program, environment)
                if message:
                    failed.append(program)
                seconds = time.monotonic() - started
                report(f"{program.minor} {program.plugins}: {message or 'built'} ({seconds:.0f} s)")
        finally:
            shutil.rmtree(own_cache, ignore_errors=True)
    return failed


def _compile(program: Program, environment: dict[str, str]) -> str | None:
    """Build one program; return why that failed."""
    new = program.path.with_name(f".{program.path.name}.new")
    inputs = program.inputs()
    flags = [
        "-trimpath",
        "-buildvcs=false",
        "-ldflags=-s -w",
        f"-tags={tags(program.minor, program.plugins)}",
        f"-modfile={program.module}",
    ]
    log = CACHE / f"{program.path.name}.log"
    with log.open("w") as output:
        done = subprocess.run(
            ["go", "build", *flags, "-o", new, "."], cwd=SOURCE, env=environment, stdout=output, stderr=output, check=False
        )
    if done.returncode:
        return f"failed, see {log}"
    new.replace(program.path)
    program.mark.write_text(inputs)
    log.unlink()
    return None
