# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The oracle's answers as they are kept in tests/conformance/kube_scheduler: small files, one for each kube-scheduler.

A file is JSON, compressed by xz: {"asked": what, "configs": [...], "effective": [...], "answers": {digest: [...]}}. An answer
is found by the digest of its document (documents.Document.digest), so that neither documents nor their order are kept.
A configuration and a set of lists that several answers have stands there once.
"""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parents[1] / "conformance/kube_scheduler/recordings"

# What differs from run to run, and what repeats the document.
_ADDRESS = re.compile(r"0x?c?0[0-9a-f]{6,}")
_STRICT_OF = re.compile(r"strict decoder error for .*?: (?=v1\w*\.|yaml: |unmarshal)", re.DOTALL)
_MISSING_IN = re.compile(r"(Object '\w+' is missing in )'.*'", re.DOTALL)
_CONTEXT = re.compile(r"(error found in) #\d+ byte of .*", re.DOTALL)
LONGEST_ERROR = 600
_STAGES = {"flags": "decode", "options": "decode"}  # the engine has no stage for the command line alone


class Answer(NamedTuple):
    """What a kube-scheduler said about one document.

    verdict: "accept", "refuse", "panic" or "timeout"; stage: "decode", "validate" or "build" where it was refused.
    config: the completed configuration; effective: the plugins that run, by profile and extension point.
    """

    verdict: str
    stage: str = ""
    error: str = ""
    starts: bool = False
    run_error: str = ""
    config: dict[str, Any] | None = None
    effective: dict[str, Any] | None = None

    @property
    def accepted(self) -> bool:
        return self.verdict == "accept"


def plain(value: Any) -> Any:
    """As JSON would give it back: integral numbers are integers, tuples are lists, texts are texts."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, (bool, str, float)) or value is None:
        return str(value) if isinstance(value, str) else value
    return value if isinstance(value, int) and value.__class__ is int else str(value)


def effective(lists: dict[str, Any] | None) -> dict[str, Any]:
    """Plugins per profile and extension point, points without plugins left out."""
    return {
        name: {point: [list(entry) for entry in entries] for point, entries in sorted(points.items()) if entries}
        for name, points in (lists or {}).items()
    }


def shortened(error: str) -> str:
    error = _STRICT_OF.sub("strict decoder error: ", error)
    error = _MISSING_IN.sub(r"\1the document", error)
    error = _CONTEXT.sub(r"\1", error)
    return _ADDRESS.sub("ADDRESS", error)[:LONGEST_ERROR]


def answer(said: dict[str, Any]) -> Answer:
    """An answer of the oracle (see its README)."""
    accepted = said["verdict"] == "accept"
    stage = said.get("stage", "")
    return Answer(
        said["verdict"],
        "build" if "initializing profiles" in (said.get("error") or "") else _STAGES.get(stage, stage),
        shortened(said.get("error") or ""),
        bool(said.get("starts")),
        shortened(said.get("run_error") or ""),
        said["config"] if accepted else None,
        effective(said["effective"]) if accepted else None,
    )


def path(minor: int, plugins: str) -> Path:
    return FOLDER / f"1.{minor}-{plugins}.json.xz"


def save(minor: int, plugins: str, asked: dict[str, Any], answers: dict[str, Answer]) -> int:
    """Write what was answered. Returns the size in bytes."""
    configs, lists = _Distinct(), _Distinct()
    rows = {}
    for digest, said in sorted(answers.items()):
        rows[digest] = [
            said.verdict,
            said.stage,
            said.error,
            int(said.starts),
            said.run_error,
            configs.index(said.config) if said.config is not None else None,
            lists.index(said.effective) if said.effective is not None else None,
        ]
    data = {"asked": asked, "configs": configs.values, "effective": lists.values, "answers": rows}
    packed = lzma.compress(json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass"), preset=9)
    FOLDER.mkdir(parents=True, exist_ok=True)
    path(minor, plugins).write_bytes(packed)
    return len(packed)


def load(minor: int, plugins: str) -> tuple[dict[str, Any], dict[str, Answer]]:
    """(what was asked, answers by digest)."""
    data = json.loads(lzma.decompress(path(minor, plugins).read_bytes()).decode("utf-8", "surrogatepass"))
    answers = {}
    for digest, (verdict, stage, error, starts, run_error, config_index, effective_index) in data["answers"].items():
        answers[digest] = Answer(
            verdict,
            _STAGES.get(stage, stage),
            error,
            bool(starts),
            run_error,
            None if config_index is None else data["configs"][config_index],
            None if effective_index is None else data["effective"][effective_index],
        )
    return data["asked"], answers


class _Distinct:
    """Values, each once."""

    def __init__(self):
        self.values: list[Any] = []
        self._places: dict[str, int] = {}

    def index(self, value: Any) -> int:
        key = json.dumps(value, sort_keys=True)
        if key not in self._places:
            self._places[key] = len(self.values)
            self.values.append(value)
        return self._places[key]
