# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pages that are executed: what they show as a command's output is what the command prints.

A page is Markdown. From top to bottom,

- a block whose first line is a comment with the name of a file (``# vars.yml``) is written to that file;
- in a block ``console`` each line that begins with ``$ `` is a command, also over several lines that end with a backslash, and what follows
  is its output. A line ``...`` stands for any lines.
- ``<!-- walkthrough: fails -->`` before a block: its last command exits with another code than 0.
- ``<!-- walkthrough: not executed: WHY -->`` before a block: it is only shown.

Of ansible-playbook's output those tasks are shown that change or say something, and the recap; see `condensed`. What differs from run to run
(ages, hashes, addresses, ...) is not compared; see MASKS. A command that only reads is repeated until it prints what the page says.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^```(\w*)\s*$")
DIRECTIVE = re.compile(r"^<!-- walkthrough: (.+) -->$")
FILE = re.compile(r"^# ([\w.-]+\.(?:cfg|ini|ya?ml))$")
READS = re.compile(r"^kubectl (-n \S+ )?((get|describe|logs)\b|.* --dry-run=server\b)|^ansible localhost -m osso\.scheduler\.\w+_info\b")
ANY = "..."
# So many seconds what only reads is repeated, and where the page is to be written.
PATIENCE, SETTLED = 60, 8

# What differs from run to run, and what stands for it when outputs are compared, in this order.
MASKS = (
    (re.compile(r"\*{3,}"), "***"),  # as wide as the terminal
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?"), "TIME"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"\b[0-9a-f]{32,64}\b"), "HASH"),
    (re.compile(r"-[bcdf0-9]{5,10}-[bcdfghjklmnpqrstvwxz0-9]{5}\b"), "-POD"),  # a Deployment's pods
    (re.compile(r"-[0-9a-f]{8,12}\b"), "-HASH"),
    (re.compile(r"\b\d+\.\d+\.\d+\.\d+(:\d+)?\b"), "ADDRESS"),
    (re.compile(r"\b(\d+[dhms])+\b"), "AGE"),
    (re.compile(r"\b\d+(\.\d+)? (s|ms|seconds?|minutes?)\b"), "DURATION"),
    (re.compile(r'(_seconds": )\d+(\.\d+)?'), r"\1N"),
    (re.compile(r"\b(ok|skipped)=\d+"), r"\1=N"),  # one more task is no other outcome
    (re.compile(r"\s+"), " "),  # columns are as wide as what is in them
)
NODES = (re.compile(r"\b(node|control-plane)-\d\b"), "NODE")


class Differs(AssertionError):
    """A page is not right; its text says where, what is expected and what came."""


@dataclass
class Step:
    """A command of a page. `first` and `end`: the lines of the page, counted from 0, that are its output now."""

    command: str
    first: int
    end: int
    fails: bool = False


@dataclass
class File:
    """A file of a page."""

    name: str
    text: str


@dataclass
class Place:
    """Where a page is executed: what its reader has, and this machine has by another name.

    `names`: what pages call something -> what it is here. `more`: by name of a file, what is in it besides what the page says, or all of it
    where the page has no such file. `nodes`: whether it matters which node is named. `besides`: lines of outputs that only this place has.
    """

    names: dict[str, str] = field(default_factory=dict)
    more: dict[str, str] = field(default_factory=dict)
    nodes: bool = False
    besides: re.Pattern[str] | None = None

    def here(self, text: str) -> str:
        for name, meant in self.names.items():
            text = text.replace(name, meant)
        return text

    def published(self, text: str) -> str:
        for name, meant in sorted(self.names.items(), key=lambda pair: -len(pair[1])):
            text = text.replace(meant, name)
        return text

    def masked(self, line: str) -> str:
        for pattern, stands_for in MASKS if self.nodes else (*MASKS, NODES):
            line = pattern.sub(stands_for, line)
        return line.strip()


class Page:
    """One page; `name` is how messages call it."""

    def __init__(self, path: Path):
        self.path, self.name = path, path.name
        self.lines = path.read_text().splitlines()
        self.parts = list(parts(self.lines, self.name))

    def execute(self, folder: Path, place: Place, write: bool = False) -> None:
        """Do in the folder what the page says. Raises Differs at the first output that is another one; with `write`, puts it into the page."""
        for name, text in place.more.items():
            (folder / name).write_text(text)
        new: list[tuple[Step, list[str]]] = []
        try:
            for part in self.parts:
                if isinstance(part, File):
                    (folder / part.name).write_text(place.here(part.text) + place.more.get(part.name, ""))
                else:
                    self._step(part, folder, place, new if write else None)
        finally:
            if new:
                for step, lines in reversed(new):
                    self.lines[step.first : step.end] = lines
                self.path.write_text("\n".join(self.lines) + "\n")

    def _step(self, step: Step, folder: Path, place: Place, new: list[tuple[Step, list[str]]] | None) -> None:
        """Type the command. Another output than the page's is added to ``new``, or is an error where that is None."""
        expected = self.lines[step.first : step.end]
        code, shown = self._outcome(step, expected, folder, place, PATIENCE if new is None else SETTLED)
        where = f"{self.name}:{step.first}: {step.command}\n"
        if (code != 0) != step.fails:
            raise Differs(f"{where}ended with {code}\n" + "\n".join(shown))
        if agree(expected, shown, place):
            return
        if new is None:
            raise Differs(f"{where}{difference(expected, shown, place)}\n`make walkthroughs` rewrites the outputs.")
        new.append((step, kept(expected, shown, place)))

    def _outcome(self, step: Step, expected: list[str], folder: Path, place: Place, patience: int) -> tuple[int, list[str]]:
        """Its exit code and what is to be shown of its output."""
        until = time.monotonic() + patience
        while True:
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", place.here(step.command)],
                cwd=folder,
                env={**os.environ, "ANSIBLE_NOCOLOR": "true", "COLUMNS": "80"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=900,
                check=False,
            )
            lines = [line.rstrip() for line in place.published(done.stdout).replace(str(folder), ".").splitlines()]
            lines = [line for line in lines if not (place.besides and place.besides.match(line))]
            shown = condensed(lines) if step.command.startswith("ansible-playbook ") else lines
            if not READS.match(step.command) or agree(expected, shown, place) or time.monotonic() > until:
                return done.returncode, shown
            time.sleep(0.5)


def parts(lines: list[str], name: str) -> Iterable[Step | File]:
    """What of a page is to be done, in its order."""
    number = 0
    directive = ""
    while number < len(lines):
        line = lines[number]
        number += 1
        if match := DIRECTIVE.match(line):
            directive = match[1]
            if directive != "fails" and not directive.startswith("not executed: "):
                raise Differs(f"{name}:{number}: `{directive}` is neither `fails` nor `not executed: WHY`")
        elif match := FENCE.match(line):
            end = lines.index("```", number)
            if not directive.startswith("not executed"):
                if match[1] == "console":
                    yield from steps(lines, number, end, name, directive == "fails")
                elif end > number and (found := FILE.match(lines[number])):
                    yield File(found[1], "\n".join(lines[number:end]) + "\n")
            number = end + 1
            directive = ""


def steps(lines: list[str], number: int, end: int, name: str, fails: bool) -> list[Step]:
    """The commands of a block."""
    found: list[Step] = []
    while number < end:
        if not lines[number].startswith("$ "):
            raise Differs(f"{name}:{number + 1}: a block `console` begins with a command: `$ ...`")
        command = lines[number][2:]
        while command.endswith("\\") and number + 1 < end:
            number += 1
            command += "\n" + lines[number]
        number += 1
        first = number
        while number < end and not lines[number].startswith("$ "):
            number += 1
        found.append(Step(command, first, number))
    if found:
        found[-1].fails = fails
    return found


HEADING = re.compile(r"^(PLAY|TASK|RUNNING HANDLER|NO MORE HOSTS LEFT)\b")
TELLS = re.compile(r"^(changed|fatal|failed|unreachable): |^\[(WARNING|DEPRECATION WARNING|ERROR)\]|^ok: .* => \{$")
# What these found good is worth a line, too.
JUDGES = re.compile(r"^TASK \[(.* : )?(Validate the configurations|Verify each scheduler with a test pod)")
FAILED = re.compile(r"^(fatal|failed): .*? => ")


def condensed(lines: list[str]) -> list[str]:
    """Of a playbook's output the tasks that changed or said something, and the recap; ``...`` for what is left out.

    Of a failure the message is shown: neither where the task stands in the collection's files, nor all that its module returned.
    """
    tasks: list[list[str]] = []
    excerpt = False
    for line in lines:
        if HEADING.match(line) or not tasks:
            tasks.append([])
        if failed := FAILED.match(line):
            line = failed[0] + ANY
        excerpt = not (failed or HEADING.match(line)) and (excerpt or line.startswith("Origin: "))
        if line and not excerpt and not line.startswith(("skipping: ", "included: ")):
            tasks[-1].append(re.sub(r" \*{3,}$", " ***", line))
    shown: list[str] = []
    for task in tasks:
        if task and is_shown(task):
            shown += task
        elif task and shown[-1:] != [ANY]:
            shown.append(ANY)
    return shown


def is_shown(task: list[str]) -> bool:
    """Whether of a task, which begins with its heading, more is shown than that there was one."""
    if task[0].startswith(("PLAY RECAP", "NO MORE")) or any(TELLS.match(line) for line in task):
        return True
    return len(task) > 1 and JUDGES.match(task[0]) is not None


def agree(expected: list[str], shown: list[str], place: Place) -> bool:
    """Whether the output is the one that the page shows, but for what differs from run to run, and for tasks that nothing is shown of."""
    pattern = "".join(r"(?:.*\n)*?" if line == ANY else re.escape(place.masked(line) + "\n") for line in expected)
    return re.fullmatch(pattern, "".join(place.masked(line) + "\n" for line in shown if line != ANY)) is not None


def difference(expected: list[str], shown: list[str], place: Place) -> str:
    before, after = ([place.masked(line) for line in lines] for lines in (expected, shown))
    return "\n".join(difflib.unified_diff(before, after, "the page", "this run", lineterm=""))


def kept(expected: list[str], shown: list[str], place: Place) -> list[str]:
    """The output as a page shows it: all of it, or where the page left something out, as far as that is still the same."""
    if ANY not in expected:
        return shown
    before = [place.masked(line) for line in expected]
    result: list[str] = []
    for operation, first, end, start, stop in difflib.SequenceMatcher(
        None, before, [place.masked(line) for line in shown], autojunk=False
    ).get_opcodes():
        if operation == "insert" or (operation == "replace" and ANY in before[first:end]):
            result += [] if result[-1:] == [ANY] else [ANY]
        elif operation in ("equal", "replace"):
            result += shown[start:stop]
    return result
