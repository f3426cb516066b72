# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plugins that a kube-scheduler holds: in-tree, of kubernetes-sigs/scheduler-plugins, of a custom image."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from .field_types import parse_type
from .similar_names import instead
from .tables import plugins as table
from .target import IN_TREE, SCHEDULER_PLUGINS, CustomPlugin, NotInTables, Target, UnknownTarget, parse_release

CUSTOM = "custom"


class PluginInfo(NamedTuple):
    """points: the extension points that it implements, in the order of the table; origin: IN_TREE, SCHEDULER_PLUGINS or CUSTOM."""

    points: tuple[str, ...]
    origin: str


def registry(target: Target) -> Mapping[str, PluginInfo]:
    """Name -> what is known of it, for every plugin that a configuration may name. Do not change it."""
    known = _registry(target.minor, target.plugins)
    if target.custom:
        known = {**known, **{plugin.name: PluginInfo(plugin.points, CUSTOM) for plugin in target.custom}}
    return known


@cache
def _registry(minor: int, plugins: str) -> Mapping[str, PluginInfo]:
    known = {name: PluginInfo(points, IN_TREE) for name, points in _at(table.IN_TREE, minor)}
    if plugins == SCHEDULER_PLUGINS:
        from .tables.scheduler_plugins import PLUGINS

        known.update((name, PluginInfo(points, SCHEDULER_PLUGINS)) for name, points in _at(PLUGINS, minor))
    return known


def _at(rows: Iterable[table.Plugin], minor: int) -> Iterable[tuple[str, tuple[str, ...]]]:
    for plugin in rows:
        if plugin.since <= minor and (plugin.until is None or minor <= plugin.until):
            implemented = {point for point in map(_bound(minor), plugin.points.split()) if point}
            yield plugin.name, tuple(point for point in table.POINTS if point in implemented)


def _bound(minor: int) -> Callable[[str], str]:
    """A function: the point of ``score>=22`` or ``reserve<=35``, empty if this minor is outside of the bound."""

    def point_at(notation: str) -> str:
        point, since, bound = notation.partition(">=")
        if since:
            return point if minor >= int(bound) else ""
        point, until, bound = notation.partition("<=")
        return "" if until and minor > int(bound) else point

    return point_at


@cache
def points(minor: int) -> tuple[str, ...]:
    """The extension points of a release, without multiPoint."""
    return tuple(point for point, since in table.POINTS.items() if since <= minor)


@cache
def build_order(minor: int) -> tuple[str, ...]:
    """The extension points in the order in which the framework registers plugins at them."""
    return tuple(table.BUILD_ORDER[max(since for since in table.BUILD_ORDER if since <= minor)].split())


def interface(point: str) -> str:
    """The point as messages of kube-scheduler call it: ``PreFilterPlugin``."""
    return f"{point[0].upper()}{point[1:]}Plugin"


def make_target(kubernetes: str, plugins: str | Mapping[str, Any] = IN_TREE, flags: Sequence[str] = ()) -> Target:
    """The target that the arguments of ``check`` describe. Raises UnknownTarget.

    plugins: ``in-tree``, ``scheduler-plugins``, or the description of a custom image:
    ``{"base": "in-tree", "extra": [{"name": "MyScore", "points": ["score"], "args": "opaque"}]}``; ``base`` defaults to
    ``in-tree``, ``args`` to ``opaque`` and may be a mapping of field names to types.
    """
    minor = parse_release(kubernetes)
    base, custom = parse_plugins(plugins, minor)
    return Target(minor, base, custom, tuple(flags))


def parse_plugins(plugins: str | Mapping[str, Any], minor: int) -> tuple[str, tuple[CustomPlugin, ...]]:
    """The plugins that the caller describes (see ``make_target``). Raises UnknownTarget, which contains the correct form."""
    if isinstance(plugins, str):
        return _base(plugins, minor), ()
    if not isinstance(plugins, Mapping):
        raise UnknownTarget(
            f"plugins: a {type(plugins).__name__} is no set of plugins: write {IN_TREE}, {SCHEDULER_PLUGINS} or a mapping with base and extra"
        )
    _only(plugins, ("base", "extra"), "plugins")
    base = _base(plugins.get("base", IN_TREE), minor)
    extra = plugins.get("extra", ())
    if isinstance(extra, (str, Mapping)) or not isinstance(extra, Iterable):
        raise UnknownTarget("plugins.extra: must be a list of plugins, each with name and points")
    known = dict(_registry(minor, base))
    custom = []
    for index, entry in enumerate(extra):
        plugin = _custom(entry, minor, f"plugins.extra[{index}]")
        if plugin.name in known:
            raise NotInTables(
                f"plugins.extra[{index}].name: a plugin named {plugin.name} exists already; an image can't register it twice: remove it here"
            )
        known[plugin.name] = PluginInfo(plugin.points, CUSTOM)
        custom.append(plugin)
    return base, tuple(custom)


def _base(base: Any, minor: int) -> str:
    if base not in (IN_TREE, SCHEDULER_PLUGINS):
        raise UnknownTarget(
            f"plugins: {base!r} is no set of plugins: write {IN_TREE}, {SCHEDULER_PLUGINS} or a mapping with base and extra"
        )
    if base == SCHEDULER_PLUGINS:
        from .tables.scheduler_plugins import RELEASES

        if minor not in RELEASES:
            raise NotInTables(
                f"plugins: kubernetes-sigs has no release of scheduler-plugins for Kubernetes 1.{minor}, the newest is"
                f" {RELEASES[max(RELEASES)]}: describe what your image holds under plugins.extra, or choose another release"
            )
    return str(base)


def _custom(entry: Any, minor: int, path: str) -> CustomPlugin:
    if not isinstance(entry, Mapping):
        raise UnknownTarget(f"{path}: must be a mapping with name and points")
    _only(entry, ("name", "points", "args"), path)
    name = entry.get("name")
    if not isinstance(name, str) or not name or name == "*":
        raise UnknownTarget(f"{path}.name: must be the name under which the image registers the plugin")
    points_of = entry.get("points")
    if isinstance(points_of, (str, Mapping)) or not isinstance(points_of, Iterable):
        raise UnknownTarget(f"{path}.points: must be a list of extension points such as score")
    chosen = list(points_of)
    if not chosen:
        raise UnknownTarget(f"{path}.points: must name at least one extension point such as score")
    for position, point in enumerate(chosen):
        if point not in points(minor):
            raise NotInTables(
                f"{path}.points[{position}]: {point!r} is no extension point of Kubernetes 1.{minor}: {instead(point, points(minor))}"
            )
    return CustomPlugin(name, tuple(point for point in points(minor) if point in chosen), _args(entry.get("args"), path))


def _args(args: Any, path: str) -> Mapping[str, str] | None:
    if args is None or args == "opaque":
        return None
    if not isinstance(args, Mapping):
        raise UnknownTarget(f"{path}.args: must be opaque or a mapping of field names to types")
    for name, notation in args.items():
        try:
            if not isinstance(name, str) or not isinstance(notation, str):
                raise ValueError
            parse_type(notation)
        except ValueError:
            raise UnknownTarget(
                f"{path}.args.{name}: {notation!r} is no type: write for example string, *int32, []string, duration or map[string]quantity"
            ) from None
    return dict(args)


def _only(mapping: Mapping[str, Any], fields: tuple[str, ...], path: str) -> None:
    for field in mapping:
        if field not in fields:
            raise UnknownTarget(f"{path}: there is no field {field!r}: {instead(field, fields)}")
