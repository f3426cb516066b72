# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Documents to ask kube-scheduler about, how they are written as YAML, and which kube-schedulers there are.

Nothing here comes from the engine that is tested with it: what is served by which release is written down once more.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

MINORS = tuple(sorted(int(path.stem.partition(".")[2]) for path in (Path(__file__).parent / "modules").glob("*.mod")))
# Of which no program can be built any more (README.md): their recordings stay as they are, documents that they lack are not compared.
FROZEN = {(21, "scheduler-plugins")}
PLUGINS = ("in-tree", "scheduler-plugins")
# The releases of kubernetes-sigs/scheduler-plugins end here.
LAST_SCHEDULER_PLUGINS = 34
SERVED = {"v1beta1": range(19, 23), "v1beta2": range(22, 28), "v1beta3": range(23, 29), "v1": range(25, 1000)}

# Plain scalars that every YAML parser takes for a string.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*\Z")
_WORDS = frozenset(["y", "yes", "n", "no", "on", "off", "true", "false", "null", "nan", "inf"])


class Document(NamedTuple):
    """A question. text: of the file; flags: of the command line; expected: "accept", "refuse" or None (nobody said)."""

    id: str
    text: str | bytes
    flags: tuple[str, ...] = ()
    expected: str | None = None

    @property
    def digest(self) -> str:
        """What a recorded answer is found by."""
        data = self.text if isinstance(self.text, bytes) else self.text.encode("utf-8", "surrogatepass")
        return hashlib.sha256(b"\0".join([data, *(flag.encode() for flag in self.flags)])).hexdigest()[:10]

    def question(self) -> dict[str, Any]:
        """As the oracle reads it."""
        asked: dict[str, Any] = {"id": self.id}
        if isinstance(self.text, bytes):
            asked["base64"] = base64.b64encode(self.text).decode()
        else:
            asked["text"] = self.text
        if self.flags:
            asked["flags"] = list(self.flags)
        return asked


def targets() -> list[tuple[int, str]]:
    """Every kube-scheduler there is, as (minor, plugins)."""
    return [(minor, plugins) for minor in MINORS for plugins in PLUGINS if plugins == "in-tree" or minor <= LAST_SCHEDULER_PLUGINS]


def served(minor: int) -> list[str]:
    """The versions of the configuration that a release reads: ``["v1beta2", "v1beta3"]``."""
    return [version for version, minors in SERVED.items() if minor in minors]


def scalar(value: Any) -> str:
    """One scalar as YAML: JSON's spelling, without quotes where they change nothing."""
    if isinstance(value, str) and _PLAIN.match(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)


def emit(value: Any) -> str:
    """Plain data as block YAML."""
    return "\n".join(_lines(value)) + "\n"


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict) and value:
        lines = []
        for key, item in value.items():
            lines += _below(f"{scalar(key)}:", item, "  " if isinstance(item, dict) else "")
        return lines
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        lines = []
        for item in value:
            first, *rest = _lines(item)
            lines += [f"- {first}", *(f"  {line}" for line in rest)]
        return lines
    return [scalar(value)]


def _below(head: str, value: Any, indent: str) -> list[str]:
    lines = _lines(value)
    if isinstance(value, (dict, list)) and value:
        return [head, *(indent + line for line in lines)]
    return [f"{head} {lines[0]}"]
