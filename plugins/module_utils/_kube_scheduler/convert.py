# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An old configuration in the newest version that a newer kube-scheduler reads, with the same behaviour.

    convert(text, "1.22", "1.31").text

A version is never skipped: v1beta1 becomes v1beta2 on 1.22, v1beta2 becomes v1beta3 on 1.23 to 1.27, v1beta3 becomes v1 on
1.25 to 1.28, releases that read both versions. There the plugins that run before and after are compared, point by point, and
what still differs is written down explicitly. A release's own changes of the defaults (a plugin that a newer kube-scheduler
adds) are not undone; ``configuration_diff`` shows them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .check import check
from .configuration_text import from_structure, normalize
from .document import Node, NotYaml, parse
from .migrations import (
    APPROXIMATE,
    EXACT,
    IMPOSSIBLE,
    Log,
    Profile,
    Running,
    Step,
    keep_addresses,
    profiles,
    rename_version,
    repair,
    same,
    same_queue_sort,
    spelled_out,
    to_release,
    to_v1,
    to_v1beta2,
    to_v1beta3,
)
from .plugins import make_target
from .result import ERROR, Finding, Result
from .tables.releases import API_VERSIONS, NEWEST
from .target import IN_TREE, Target

__all__ = ("APPROXIMATE", "EXACT", "IMPOSSIBLE", "Conversion", "Step", "convert")

HOPS = (
    # from, to, the first and the last minor that read both
    ("v1beta1", "v1beta2", 22, 22),
    ("v1beta2", "v1beta3", 23, 27),
    ("v1beta3", "v1", 25, 28),
)
_REWRITES = {"v1beta2": to_v1beta2, "v1beta3": to_v1beta3, "v1": to_v1}


@dataclass(frozen=True)
class Conversion:
    """text: the converted document; the one that was given where nothing is to be done or where it can't be read.

    api_version: of ``text``, for example ``kubescheduler.config.k8s.io/v1``.
    source: the release whose rules the given document was read by (``1.22``).
    steps: all conversions that were made or are impossible. findings: those of the target's kube-scheduler for ``text``, with warnings; if its own
    release already rejects the given document, the errors of that release.
    """

    text: str
    api_version: str = ""
    source: str = ""
    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether ``text`` can be used as it is: the target takes it, and nothing is left for a person to decide."""
        return not any(step.kind == IMPOSSIBLE for step in self.steps) and not any(found.severity == ERROR for found in self.findings)


def convert(
    text: str | bytes, source: str | None, target: str, plugins: str | Mapping[str, Any] = IN_TREE, flags: tuple[str, ...] = ()
) -> Conversion:
    """Convert a configuration, or a scheduling policy (kind Policy, up to 1.22), for a newer release.

    source: the release that reads ``text`` today (``1.22``); None: the last one that reads its version.
    target: the release that is to read the result, in the newest version that it serves.
    plugins: what is compiled into both (see ``check``); flags: the command line at the target.

    Raises UnknownTarget. A document that its own release refuses is not converted.
    """
    goal = make_target(target, plugins, flags)
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    try:
        root, _found = parse(text)
    except NotYaml as error:
        return Conversion(text, findings=(error.finding,))
    written = root.value if root is not None and root.entries is not None else {}
    if root is not None and written.get("kind") == "Policy":
        return _convert_policy(text, root, source, goal, plugins)
    version = str(written.get("apiVersion")).rpartition("/")[2]
    release = source or f"1.{min(_last_reader(version), goal.minor)}"
    result = check(text, release, plugins)
    if root is None or not result.valid:
        return Conversion(text, result.api_version, release, (), result.errors)
    work = _Work(_plain(written), version, make_target(release, plugins), plugins)
    work.bring_to(goal)
    return _finish(text, root, work, goal, release)


def _last_reader(version: str) -> int:
    last = API_VERSIONS.get(version, (None, None))[1]
    return NEWEST if last is None else last


def _convert_policy(text: str, root: Node, source: str | None, goal: Target, plugins: str | Mapping[str, Any]) -> Conversion:
    from .policy import LAST_MINOR, read_policy

    release = make_target(source or f"1.{LAST_MINOR}", plugins)
    log = Log()
    data, findings = read_policy(root, release, goal, log)
    if findings:
        return Conversion(text, "v1", release.kubernetes, (), tuple(findings))
    work = _Work(data, "v1beta1", release, plugins, log)
    work.bring_to(goal)
    return _finish(text, root, work, goal, release.kubernetes)


def _finish(text: str, root: Node, work: _Work, goal: Target, release: str) -> Conversion:
    """Write the document, report lost settings, and validate the result for the target."""
    steps = work.log.steps
    old = root.value["apiVersion"]
    if old != work.data["apiVersion"]:
        message = f"{old.rpartition('/')[2]} is now {work.version}, the newest version that Kubernetes {goal.kubernetes} reads"
        steps.insert(0, Step(EXACT, "apiVersion", message))
    converted = _with_comments(text, root, work.data)
    if converted is None:
        converted = from_structure(work.data)
        if _has_comments(text):
            work.log.add(APPROXIMATE, "", "comments, anchors and the author's layout are lost, because the text was generated")
        elif text.lstrip().startswith("{"):
            work.log.add(EXACT, "", "written as YAML")
    custom = {**work.plugins, "base": goal.plugins} if goal.custom and isinstance(work.plugins, Mapping) else goal.plugins
    result = check(converted, goal.kubernetes, custom, goal.flags)
    return Conversion(converted, result.api_version, release, tuple(steps), result.findings)


class _Work:
    """A document on its way: its data, the version that it has, the release that reads it."""

    def __init__(self, data: dict[str, Any], version: str, release: Target, plugins: str | Mapping[str, Any], log: Log | None = None):
        self.data = data
        self.version = version
        self.release = release
        self.plugins = plugins
        self.log = log or Log()

    def bring_to(self, goal: Target) -> None:
        for old, new, first, last in HOPS:
            if self.version == old and goal.minor >= first:
                self.move(self.target(min(max(goal.minor, first), last)))
                self.hop(new)
        self.move(goal)

    def target(self, minor: int) -> Target:
        return make_target(f"1.{minor}", self.plugins)

    def move(self, release: Target) -> None:
        """To another release, in the version that it has."""
        to_release(self.data, self.version, self.release, release, self.log)
        self.release = release

    def hop(self, new: str) -> None:
        """To the next version, on a release that reads both."""
        before = self.check()
        if not before.valid:
            for error in before.errors:
                self.log.add(IMPOSSIBLE, error.path, f"1.{self.release.minor}, which reads {self.version} and {new}: {error.message}")
        running = self.running(before)
        added = not self.data.get("profiles")
        if added:
            self.data["profiles"] = [{"schedulerName": name} for name in before.scheduler_names]
        wanted = {profile.path[1]: _REWRITES[new](profile, running.get(profile.path[1], {}), self.log) for profile in self.profiles()}
        if new == "v1beta2":
            keep_addresses(self.data, before.config or {})
        if new == "v1beta3":
            same_queue_sort(self.data, running, self.log)
        if added and self.data["profiles"] == [{"schedulerName": "default-scheduler"}]:
            del self.data["profiles"]
        rename_version(self.data, self.version, new, self.release, self.log)
        self.version = new
        if before.valid:
            self.compare(wanted)

    def compare(self, wanted: Mapping[int, Running]) -> None:
        """Correct settings that have a different effect in the new version; report those that cannot be corrected."""
        result = self.check()
        if not result.valid:
            # Negative weights overflow in one order and not in another: the order is pinned by a list of all that scores.
            for profile in self.profiles():
                if any(weight < 0 for _name, weight in wanted[profile.path[1]].get("score", ())):
                    profile.set("score", spelled_out(wanted[profile.path[1]]["score"], "score"))
                    profile.at("score", "all plugins are listed, so that negative weights are summed up in the order of before")
            result = self.check()
        if result.valid:
            runs = self.running(result)
            for profile in self.profiles():
                repair(profile, wanted[profile.path[1]], runs.get(profile.path[1], {}), self.release.minor)
        after = self.check()
        if not after.valid:
            return  # the target finds the same errors
        runs = self.running(after)
        for profile in self.profiles():
            want, has = wanted[profile.path[1]], runs.get(profile.path[1], {})
            for point in sorted({*want, *has}):
                if not same(point, want.get(point, ()), has.get(point, ())):
                    profile.at(point, "other plugins run here than before, or in another order", IMPOSSIBLE)

    def check(self) -> Result:
        return check(from_structure(self.data), self.release.kubernetes, self.plugins)

    def profiles(self) -> Iterator[Profile]:
        return profiles(self.data, self.log)

    def running(self, result: Result) -> dict[int, Running]:
        """By the index of the profile."""
        return dict(enumerate(result.effective.get(name, {}) for name in result.scheduler_names))


def _plain(value: Any, raw: bool = False) -> Any:
    """A copy without nulls: they become absent, in a list an empty item. raw: inside of arguments of unknown meaning."""
    if isinstance(value, dict):
        return {key: _plain(item, raw or key == "args") for key, item in value.items() if item is not None or raw}
    if isinstance(value, list):
        return [{} if item is None and not raw else _plain(item, raw) for item in value]
    return value


def _with_comments(text: str, root: Node, data: dict[str, Any]) -> str | None:
    """The author's text with another apiVersion, if that is all that changes; None if it is not."""
    old, new = root.value.get("apiVersion"), data["apiVersion"]
    written = _plain(root.value)
    if written == data:
        return text
    if {**written, "apiVersion": new} != data or not isinstance(old, str):
        return None
    lines = normalize(text).split("\n")
    number = (root.entries or {})["apiVersion"][1].place.line - 1
    lines[number] = lines[number].replace(old, new, 1)
    changed = "\n".join(lines)
    try:
        again, _found = parse(changed)
    except NotYaml:
        return None
    return changed if again is not None and again.value is not None and _plain(again.value) == data else None


def _has_comments(text: str) -> bool:
    return re.search(r"(?m)(?:^|\s)#", text) is not None or re.search(r"(?m)[:-]\s+[&*]\w", text) is not None
