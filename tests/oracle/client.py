# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ask the oracle from Python.

    from oracle import client

    for verdict in client.run("1.31", "in-tree", [{"id": 1, "text": "..."}]):
        print(verdict["verdict"], verdict["error"])

README.md describes documents and verdicts.
"""

from __future__ import annotations

import base64
import json
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from .answers import Answers
from .programs import IN_TREE, OracleError, Program, all_programs


def available() -> list[tuple[str, str]]:
    """(minor, plugins) of the programs that are built."""
    return [(program.minor, program.plugins) for program in all_programs() if program.built()]


def run(minor: str, plugins: str, documents: Iterable[dict], *options: str) -> list[dict]:
    """The verdicts on the documents, in their order.

    A document is {"id": any, "text": str or bytes, "flags": [str]}; only "text" is needed. Options are those of the
    program, "--isolate" for instance; without any, what was answered before is not asked again. Raises OracleError when the
    program is not built or fails.
    """
    program = Program(minor, plugins)
    if not program.built():
        raise OracleError(f"the oracle {minor} {plugins} is not built: tests/oracle/oracle build {minor}")
    questions = [_line(document) for document in documents]
    if options:
        return _ask(program, questions, options)
    with closing(Answers(Path(program.path))) as known:
        verdicts = [known.of(question) for question in questions]
        unknown = [index for index, verdict in enumerate(verdicts) if verdict is None]
        if unknown:
            new = [questions[index] for index in unknown]
            answers = _ask(program, new, ())
            known.keep(new, answers)
            for index, answer in zip(unknown, answers, strict=True):
                verdicts[index] = answer
    return verdicts


def _ask(program: Program, questions: list[dict], options: Sequence[str]) -> list[dict]:
    lines = [json.dumps(question) for question in questions]
    with tempfile.TemporaryFile("w+") as errors:
        done = subprocess.run(
            [program.path, *options], input="\n".join(lines), stdout=subprocess.PIPE, stderr=errors, text=True, check=False
        )
        errors.seek(0)
        said = errors.read().strip()
    verdicts = [json.loads(line) for line in done.stdout.split("\n") if line]  # splitlines() takes U+0085 for a line break
    if done.returncode or len(verdicts) != len(lines):
        raise OracleError(
            f"the oracle {program.minor} {program.plugins} ended with status {done.returncode}, {len(verdicts)} of {len(lines)} answers: {said}"
        )
    return verdicts


def _line(document: dict) -> dict:
    """The document as JSON can hold it: what is not UTF-8 goes as base64."""
    line = {"id": None, **document}
    text = line.get("text")
    if isinstance(text, str) and any("\ud800" <= character <= "\udfff" for character in text):
        text = text.encode("utf-8", "surrogateescape")
    if isinstance(text, bytes):
        del line["text"]
        line["base64"] = base64.b64encode(text).decode()
    return line


__all__ = ["IN_TREE", "OracleError", "available", "run"]
