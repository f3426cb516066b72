# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What two configurations, or two releases reading one configuration, differ in: the plugins that run, and all other fields.

between_releases(text, "openshift-4.17", "openshift-4.18")
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .check import check
from .document import join
from .result import Finding, Result
from .secrets import is_secret, mask_credentials
from .tables.plugins import POINTS
from .target import IN_TREE

ADDED, REMOVED, CHANGED, REORDERED = "added", "removed", "changed", "reordered"
HIDDEN = "(not shown)"


class Difference(NamedTuple):
    """profile: a scheduler name, "" for what concerns all profiles.

    where: an extension point (``score``), a field of the configuration (``leaderElection.leaseDuration``), of the arguments of a
    plugin (``NodeResourcesFit.scoringStrategy.type``), or ``valid`` and ``starts``, ``error`` and ``warning`` for the verdict.
    what: ADDED, REMOVED, CHANGED or REORDERED (the plugins of a point that run before and after do so in another order; not
    reported for score, whose order has no effect).
    name: the plugin at an extension point, the field of a finding, else "".
    before, after: the weight at score, the plugins in their order, the value of a field, the text of a finding; None on the
    side where there is nothing. Values of secret fields are never shown.
    """

    profile: str
    where: str
    what: str
    name: str = ""
    before: Any = None
    after: Any = None

    def format(self) -> str:
        """``my-scheduler: score: NodeAffinity: changed: 1 -> 2``"""
        change = self.what
        if self.what == REORDERED:
            change += f": {', '.join(self.before)} -> {', '.join(self.after)}"
        elif self.what == CHANGED:
            change += f": {self.before} -> {self.after}"
        else:
            value = self.after if self.what == ADDED else self.before
            change += f": {value}" if value is not None else ""
        return ": ".join(part for part in (self.profile, self.where, self.name, change) if part)


def between_releases(
    text: str | bytes,
    before: str,
    after: str,
    plugins: str | Mapping[str, Any] = IN_TREE,
    flags: Sequence[str] = (),
) -> list[Difference]:
    """What changes for one document when its kube-scheduler goes from one release to another. Raises UnknownTarget."""
    return diff(check(text, before, plugins, flags), check(text, after, plugins, flags))


def diff(before: Result, after: Result) -> list[Difference]:
    """In this order: the verdict, the fields, then by profile the plugins that run and their arguments.

    Of a document that is refused there is no more than the verdict.
    """
    differences = list(_verdicts(before, after))
    if before.config is None or after.config is None:
        return differences
    differences += _fields("", "", _without_profiles(before.config), _without_profiles(after.config))
    profiles = {profile["schedulerName"]: profile for profile in before.config.get("profiles", ())}
    profiles_after = {profile["schedulerName"]: profile for profile in after.config.get("profiles", ())}
    for name in [*profiles, *(name for name in profiles_after if name not in profiles)]:
        if name not in profiles or name not in profiles_after:
            differences.append(Difference(name, "profiles", REMOVED if name in profiles else ADDED))
            continue
        old, new = profiles[name], profiles_after[name]
        differences += _fields(name, "", _without_plugins(old), _without_plugins(new))
        running, running_after = before.effective.get(name, {}), after.effective.get(name, {})
        for point in POINTS:
            differences += _plugins(name, point, running.get(point, ()), running_after.get(point, ()))
        differences += _arguments(name, old, new)
    return differences


def _verdicts(before: Result, after: Result) -> Iterator[Difference]:
    for name in ("valid", "starts"):
        if getattr(before, name) != getattr(after, name):
            yield Difference("", name, CHANGED, "", getattr(before, name), getattr(after, name))
    for severity in ("errors", "warnings"):
        old, new = getattr(before, severity), getattr(after, severity)
        known, known_after = {_key(found) for found in old}, {_key(found) for found in new}
        for found in old:
            if _key(found) not in known_after:
                yield Difference("", found.severity, REMOVED, found.path, found.message)
        for found in new:
            if _key(found) not in known:
                yield Difference("", found.severity, ADDED, found.path, None, found.message)


def _key(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.path


def _without_profiles(config: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in config.items() if name != "profiles"}


def _without_plugins(profile: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in profile.items() if name not in ("plugins", "pluginConfig", "schedulerName")}


def _plugins(profile: str, point: str, before: Sequence[tuple[str, int]], after: Sequence[tuple[str, int]]) -> Iterator[Difference]:
    weights, weights_after = dict(before), dict(after)
    for name, weight in weights.items():
        if name not in weights_after:
            yield Difference(profile, point, REMOVED, name, weight or None)
        elif weights_after[name] != weight:
            yield Difference(profile, point, CHANGED, name, weight, weights_after[name])
    for name, weight in weights_after.items():
        if name not in weights:
            yield Difference(profile, point, ADDED, name, None, weight or None)
    kept = [name for name in weights if name in weights_after]
    kept_after = [name for name in weights_after if name in weights]
    if kept != kept_after and point != "score":
        yield Difference(profile, point, REORDERED, "", tuple(kept), tuple(kept_after))


def _arguments(profile: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    args, args_after = _args(before), _args(after)
    for plugin in [*args, *(plugin for plugin in args_after if plugin not in args)]:
        if plugin in args and plugin in args_after:
            yield from _fields(profile, plugin, args[plugin], args_after[plugin])


def _args(profile: Mapping[str, Any]) -> dict[str, Any]:
    entries = {entry["name"]: entry.get("args") for entry in profile.get("pluginConfig", ())}
    return {
        name: {key: value for key, value in args.items() if key not in ("apiVersion", "kind")} if isinstance(args, Mapping) else args
        for name, args in entries.items()
    }


def _fields(profile: str, path: str, before: Any, after: Any, secret: bool = False) -> Iterator[Difference]:
    """secret: whether the field is one, or is below one."""
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _fields(profile, join(path, key), before.get(key), after.get(key), secret or is_secret(str(key)))
        return
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after)):
            yield from _fields(profile, join(path, index), old, new, secret)
        return
    what = ADDED if before is None else REMOVED if after is None else CHANGED
    yield Difference(profile, path, what, "", _shown(before, secret), _shown(after, secret))


def _shown(value: Any, secret: bool = False) -> Any:
    """A value as it may be shown: nothing that is, or holds, a secret."""
    if value is None:
        return None
    if secret:
        return HIDDEN
    if isinstance(value, Mapping):
        return {key: _shown(item, is_secret(str(key))) for key, item in value.items()}
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return mask_credentials(value, HIDDEN) if isinstance(value, str) else value
