# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the stages of a check put what they find; it knows the places of fields in the text."""

from __future__ import annotations

from typing import Union

from .document import Node, Place, join
from .result import ADVICE, BUILD, DECODE, ERROR, RUN, VALIDATE, WARNING, Finding

Path = tuple[Union[str, int], ...]
"""A field: ``("profiles", 0, "schedulerName")``. The indices are those of the user's document."""

__all__ = ("ADVICE", "BUILD", "DECODE", "MAX_ERRORS", "RUN", "VALIDATE", "Path", "Report", "TooManyErrors", "render")


def render(path: Path) -> str:
    """``profiles[0].schedulerName``"""
    text = ""
    for part in path:
        text = join(text, part)
    return text


MAX_ERRORS = 200
"""More of them help nobody, and the time that they take grows with their square."""


_MAX_MESSAGE = 1000


class TooManyErrors(Exception):
    """A report has as many errors as it may have."""


class Report:
    """Collects findings.

    root: the document, None if it was no mapping. max_errors: with the last of them TooManyErrors is raised; None: never.
    """

    def __init__(self, root: Node | None = None, max_errors: int | None = None):
        self.root = root
        self.max_errors = max_errors
        self.findings: list[Finding] = []

    def error(self, stage: str, code: str, path: Path, message: str, hint: str = "", at_key: bool = False) -> None:
        """Something for which kube-scheduler refuses the document, or does not start (stage RUN).

        at_key: the place is the name of the field, not its value.
        """
        self._add(ERROR, stage, code, path, message, hint, at_key)
        if self.max_errors is not None and len(self.findings) >= self.max_errors:
            raise TooManyErrors

    def warning(self, code: str, path: Path, message: str, hint: str = "", at_key: bool = False) -> None:
        """A setting that kube-scheduler accepts and that is a likely mistake."""
        self._add(WARNING, ADVICE, code, path, message, hint, at_key)

    def has_error(self, path: Path | None = None) -> bool:
        """Whether an error was found, at exactly this field or (None) anywhere."""
        wanted = None if path is None else render(path)
        return any(found.severity == ERROR and wanted in (None, found.path) for found in self.findings)

    def has_error_within(self, path: Path) -> bool:
        """Whether an error was found at this field or at a field in it."""
        wanted = render(path)
        return any(
            found.severity == ERROR and found.path.startswith(wanted) and found.path[len(wanted) : len(wanted) + 1] in ("", ".", "[")
            for found in self.findings
        )

    def place_of(self, path: Path, at_key: bool = False) -> Place | None:
        """Where a field stands; of a field that the text does not have, the nearest one around it."""
        node = self.root
        if node is None:
            return None
        place = node.place
        for part in path:
            if isinstance(part, int):
                if node.items is None or part >= len(node.items):
                    return place
                node = node.items[part]
            else:
                if node.entries is None or part not in node.entries:
                    return place
                key_place, node = node.entries[part]
                place = key_place
            if not at_key and (node.value is not None or isinstance(part, int)):
                place = node.place
        return place

    def _add(self, severity: str, stage: str, code: str, path: Path, message: str, hint: str, at_key: bool) -> None:
        place = self.place_of(path, at_key)
        line, column = place if place is not None else (None, None)
        if len(message) > _MAX_MESSAGE:
            message = message[:_MAX_MESSAGE] + " ..."
        finding = Finding(severity, code, message, render(path), line, column, hint, stage)
        if finding not in self.findings:
            self.findings.append(finding)
