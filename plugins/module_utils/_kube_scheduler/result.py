# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The answer about one configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .secrets import without_tokens

ERROR = "error"
WARNING = "warning"

DECODE, VALIDATE, BUILD, RUN, ADVICE = "decode", "validate", "build", "run", "advice"
"""The stages in which kube-scheduler refuses a document, in their order; ADVICE is ours, with warnings only."""

Effective = Mapping[str, Mapping[str, Sequence[tuple[str, int]]]]
"""Profile to extension point to its plugins with their weights, see `Result`."""


@dataclass(frozen=True)
class Finding:
    """One error, or likely mistake, in a configuration.

    severity: ``error`` (kube-scheduler rejects the document) or ``warning`` (it accepts it).
    code: stable identifier in kebab-case, for tests and filters.
    message: what is wrong; hint: what to do about it. Neither ever holds a value from a plugin's arguments, or a token.
    path: field, such as ``profiles[0].schedulerName``; empty for the document as a whole.
    line, column: counted from 1; None where no place in the text is meant.
    stage: where kube-scheduler refuses it (see report.py); empty for a text that is no document at all.
    """

    severity: str
    code: str
    message: str
    path: str = ""
    line: int | None = None
    column: int | None = None
    hint: str = ""
    stage: str = ""

    def __post_init__(self) -> None:
        for name in ("message", "path", "hint"):
            object.__setattr__(self, name, without_tokens(getattr(self, name)))

    def format(self, source: str = "", position: bool = True) -> str:
        """One line: ``source:line:column: path: message (hint)``; parts that are unknown are left out.

        position=False leaves line and column out, for a document that its author never saw as text.
        """
        place = [source] if source else []
        if position and self.line is not None:
            place += [str(self.line), str(self.column)]
        parts = [":".join(place), self.path, self.message]
        line = ": ".join(part for part in parts if part)
        return f"{line} ({self.hint})" if self.hint else line

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Result:
    """What ``check`` found out about one document.

    config: the completed configuration as plain data, defaults filled in, in the document's own version, as the flag
    ``--write-config-to`` writes it; None if the document is rejected. Without a release, the unchanged document.
    api_version: as written, for example ``kubescheduler.config.k8s.io/v1``; empty if missing.
    scheduler_names: the names that pods put into ``spec.schedulerName`` to be placed by this configuration, in the order
    of the profiles.
    effective: scheduler name -> extension point -> [(plugin, weight), ...] in running order; weight 0 where none is used.
    tree: the document as it is written, as plain data: what everybody goes by who needs more of it than this result says. Empty if the
    text cannot be read or holds no mapping.
    starts: whether the process would also begin to work (stage RUN); None if no release was given.
    """

    findings: tuple[Finding, ...] = ()
    config: dict[str, Any] | None = None
    api_version: str = ""
    scheduler_names: tuple[str, ...] = ()
    effective: dict[str, dict[str, list[tuple[str, int]]]] = field(default_factory=dict)
    starts: bool | None = None
    tree: dict[str, Any] = field(default_factory=dict)

    @property
    def valid(self) -> bool:
        """True if nothing was found for which kube-scheduler would refuse the document when it reads it."""
        return not any(finding.stage != RUN for finding in self.errors)

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == WARNING)


def plugins_of(effective: Effective) -> set[str]:
    """The plugins that run in a profile, see `Result`."""
    return {plugin for points in effective.values() for entries in points.values() for plugin, weight in entries}
