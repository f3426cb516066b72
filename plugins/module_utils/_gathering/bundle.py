# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A tar file with an index of what is in it, and of what could not be read. No requests."""

from __future__ import annotations

import io
import json
import tarfile
from datetime import datetime
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._gathering.masking import Masking

INDEX, PAGE = "index.json", "index.md"


class Bundle:
    """Collects files; `packed` masks them all, when every credential has been seen."""

    def __init__(self, masking: Masking) -> None:
        self.masking = masking
        self.files: list[dict[str, Any]] = []
        self.missing: list[dict[str, str]] = []
        self.notes: list[str] = []
        self._contents: dict[str, Any] = {}

    def add(self, name: str, what: str, source: str, content: Any, objects: int | None = None) -> None:
        """A file of the tar. what: in words. source: where it is from, such as a request. objects: how many objects are in it.

        content: a text, or what becomes JSON: that can only be masked before. A name of an object that leads out of the folder is not used.
        """
        if {"", ".", ".."} & set(name.split("/")):
            self.miss(what, source, "a name in the answer is not a name of an object")
            return
        self._contents[name] = content
        self.files.append({"file": name, "what": what, "source": source, "objects": objects})

    def objects(self, name: str, what: str, source: str, objects: list[dict[str, Any]]) -> None:
        """Objects of the cluster, cleaned, as a list that kubectl can read."""
        cleaned = [self.masking.cleaned(obj) for obj in objects]
        self.add(name, what, source, {"apiVersion": "v1", "kind": "List", "items": cleaned}, len(objects))

    def miss(self, what: str, source: str, why: str) -> None:
        """Something that could not be read."""
        self.missing.append({"what": what, "source": source, "why": why})

    def packed(self, folder: str, cluster: str, made: datetime) -> bytes:
        """The tar.gz, everything in one folder. Also fills in the sizes of `files`, and masks `missing` and `notes`."""
        masks = self.masking
        contents = {name: self._masked(content).encode() for name, content in self._contents.items()}
        self.files = [{**entry, "bytes": len(contents[entry["file"]])} for entry in self.files]
        self.missing, self.notes = masks.values(self.missing), masks.values(self.notes)
        moment = made.strftime("%Y-%m-%dT%H:%M:%SZ")
        index = {"made": moment, "cluster": cluster, "files": self.files, "missing": self.missing, "notes": self.notes}
        contents = {PAGE: self._page(cluster, moment).encode(), INDEX: as_json(index).encode(), **contents}
        written = io.BytesIO()
        with tarfile.open(fileobj=written, mode="w:gz") as archive:
            for name, content in contents.items():
                member = tarfile.TarInfo(f"{folder}/{name}")
                member.size, member.mode, member.mtime = len(content), 0o600, int(made.timestamp())
                archive.addfile(member, io.BytesIO(content))
        return written.getvalue()

    def _masked(self, content: Any) -> str:
        return self.masking.text(content) if isinstance(content, str) else as_json(self.masking.values(content))

    def _page(self, cluster: str, moment: str) -> str:
        lines = [
            "# Support bundle: schedulers",
            "",
            f"Gathered from {cluster} at {moment}. Credentials are masked; of Secrets there are only names and labels.",
            "",
            "## What could not be read",
            "",
            *(_table(("what", "from", "why"), [list(entry.values()) for entry in self.missing]) if self.missing else ["Nothing."]),
            *(["", "## To know", "", *(f"- {_cell(note)}" for note in self.notes)] if self.notes else []),
            "",
            "## What is here",
            "",
            *_table(
                ("file", "what", "from", "objects", "bytes"),
                [[entry["file"], entry["what"], entry["source"], entry["objects"], entry["bytes"]] for entry in self.files],
            ),
            "",
        ]
        return "\n".join(lines)


def as_json(value: Any) -> str:
    """What is no JSON, such as a time, becomes a text."""
    return json.dumps(value, indent=1, default=str) + "\n"


def _table(head: tuple[str, ...], rows: list[list[Any]]) -> list[str]:
    return [f"| {' | '.join(map(_cell, row))} |" for row in (head, ["---"] * len(head), *rows)]


def _cell(value: Any) -> str:
    """A text that stays within a cell of a table and is no markup there."""
    text = "" if value is None else " ".join(str(value).split())
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
