# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the programs have answered before, so that comparing again asks them about new documents only."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path


class Answers:
    """The answers of one program, kept beside it; another build of it begins anew."""

    def __init__(self, program: Path):
        built = program.stat()
        self._build = f"{built.st_mtime_ns} {built.st_size}"
        self._store = sqlite3.connect(program.with_name(f"{program.name}.answers"), timeout=60)
        self._store.execute("CREATE TABLE IF NOT EXISTS answers (question BLOB PRIMARY KEY, answer TEXT) WITHOUT ROWID")

    def of(self, line: dict) -> dict | None:
        """The answer to a document (a line of the protocol), with the id of this one."""
        found = self._store.execute("SELECT answer FROM answers WHERE question = ?", (self._key(line),)).fetchone()
        return None if found is None else {**json.loads(found[0]), "id": line["id"]}

    def keep(self, lines: Sequence[dict], answers: Sequence[dict]) -> None:
        rows = [
            (self._key(line), json.dumps(answer)) for line, answer in zip(lines, answers, strict=True) if answer["verdict"] != "timeout"
        ]
        with self._store:
            self._store.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", rows)

    def close(self) -> None:
        self._store.close()

    def _key(self, line: dict) -> bytes:
        question = {name: value for name, value in line.items() if name != "id"}
        return hashlib.sha256(f"{self._build} {json.dumps(question, sort_keys=True)}".encode()).digest()
