# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The profiles as kube-scheduler builds them out of plugins, and what it refuses then.

Sources: NewFramework, expandMultiPointPlugins and getScoreWeights in pkg/scheduler/framework/runtime/framework.go, NewMap in
pkg/scheduler/profile/profile.go, of each minor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from . import default_plugins, extenders
from .default_plugins import ALL, Entry, PluginSets
from .defaults import complete_args
from .field_types import args_kind
from .plugins import CUSTOM, build_order, interface, points, registry
from .report import BUILD, Path, Report
from .similar_names import did_you_mean
from .tables.plugins import MULTI_POINT
from .target import SCHEDULER_PLUGINS, Target
from .validation import follows, same
from .validation_args import constructor_errors, second_watchers

Effective = dict[str, dict[str, list[tuple[str, int]]]]


class Built(NamedTuple):
    """effective: scheduler name -> extension point -> [(plugin, weight), ...] in running order, weight 0 where none is used;
    a point without plugins is absent. plugins: for each profile the names of the plugins that are made for it.

    Both are as complete as they can be after errors.
    """

    effective: Effective
    plugins: tuple[frozenset[str], ...]


def build(config: dict[str, Any], version: str, target: Target, report: Report) -> Built:
    """Build every profile. config: complete and validated; what extenders do to arguments of plugins is done to it, too."""
    extenders.build(config, target, report)
    effective: Effective = {}
    frameworks = []
    for index, profile in enumerate(config.get("profiles", ())):
        if target.minor <= 21:
            profile["plugins"] = default_plugins.merge(profile.get("plugins", {}), version, target)
        framework = _Framework(profile, index, version, target, report)
        framework.build()
        effective.setdefault(profile.get("schedulerName", ""), framework.effective())
        frameworks.append(framework)
    _check_queue_sort(frameworks, report)
    if target.plugins == SCHEDULER_PLUGINS:
        _check_watchers(frameworks, report)
    return Built(effective, tuple(framework.needed for framework in frameworks))


class _Framework:
    """One profile. lists: extension point -> the entries that run there, in order."""

    def __init__(self, profile: dict[str, Any], index: int, version: str, target: Target, report: Report):
        self.profile = profile
        self.path: Path = ("profiles", index)
        self.version = version
        self.target = target
        self.report = report
        self.registry = registry(target)
        self.points = build_order(target.minor)
        self.sets: PluginSets = profile["plugins"]
        enabled = {entry.name for plugin_set in self.sets.values() for entry in plugin_set.get("enabled", ())}
        self.needed = frozenset(enabled & self.registry.keys())
        self.plugin_config: dict[str, int] = {}
        self.lists: dict[str, list[str]] = {}
        self.weights: dict[str, dict[str, int]] = {point: {} for point in ("score", "placementScore") if point in self.points}

    def build(self) -> None:
        self._index_plugin_config()
        for name in sorted(self.needed):
            self._construct(name)
        for point in self.points:
            self._register(point)
        if self._enabled(MULTI_POINT):
            self._expand_multi_point()
        self._count()
        self._weigh()

    def effective(self) -> dict[str, list[tuple[str, int]]]:
        lists = {}
        for point in points(self.target.minor):
            if point in self.lists:
                weights = self.weights.get(point, {})
                lists[point] = [(name, weights.get(name, 0)) for name in self.lists[point]]
        return lists

    def args(self, name: str) -> Any:
        """The arguments that the plugin gets; None if there are none."""
        if name in self.plugin_config:
            return self.profile["pluginConfig"][self.plugin_config[name]].get("args")
        if args_kind(name, self.version, self.target) is not None:  # up to 1.21: later, defaults have added them
            args: dict[str, Any] = {}
            complete_args(name, args, self.version, self.target)
            return args
        return None

    def args_path(self, name: str, where: Path = ()) -> Path:
        """The field of the arguments, or the name of the plugin if the profile has no arguments for it."""
        if name in self.plugin_config:
            return (*self.path, "pluginConfig", self.plugin_config[name], "args", *where)
        return self._place_of(name)

    def reported(self, path: Path) -> bool:
        """Whether something is wrong with the field, or with a field in it, that was reported before."""
        return self.report.has_error_within(path)

    # --- the steps of NewFramework ---

    def _index_plugin_config(self) -> None:
        for index, entry in enumerate(self.profile.get("pluginConfig", ())):
            name = entry.get("name", "")
            if self.plugin_config.setdefault(name, index) != index:
                path = (*self.path, "pluginConfig", index)
                if not self.reported(path):
                    hint = "give the arguments of a plugin once per profile"
                    self.report.error(BUILD, "duplicate", path, f"repeated config for plugin {name}", hint)

    def _construct(self, name: str) -> None:
        kind = args_kind(name, self.version, self.target)
        if kind is not None and self.registry[name].origin != CUSTOM:
            if name not in self.plugin_config and self.target.minor > 21:
                hint = f"add {{name: {name}, args: {{}}}} to pluginConfig: kube-scheduler adds no arguments for a plugin that is only enabled there"
                self.report.error(BUILD, "missing-arguments", self._place_of(name), f"got args of type <nil>, want *{kind}", hint)
                return
            for where, code, message, hint in constructor_errors(name, self.args(name), self.version, self.target):
                path = self.args_path(name, where)
                if not self.reported(path) and not follows(self.report, path):
                    self.report.error(BUILD, code, path, message, hint)
        elif self.registry[name].origin == SCHEDULER_PLUGINS:
            from .tables.scheduler_plugins import WITHOUT_ARGS

            if name in WITHOUT_ARGS.get(self.version, ()):
                message = f"{name} needs arguments, and {self.version} has no type for them"
                later = ", ".join(served for served in self.target.served if name not in WITHOUT_ARGS.get(served, ()))
                self.report.error(BUILD, "invalid-value", self._place_of(name), message, f"write the configuration in {later}")

    def _register(self, point: str) -> None:
        """What is enabled at the extension point itself."""
        names: list[str] = []
        for entry in self._enabled(point):
            info = self.registry.get(entry.name)
            if info is None:
                self._unknown(entry, point)
            elif point not in info.points:
                message = f'plugin "{entry.name}" does not extend {interface(point)} plugin'
                hint = f"enable it at {', '.join(info.points)}"
                self._entry_error("wrong-extension-point", entry, message, hint)
            elif entry.name in names:
                self._registered_twice(entry, point)
            else:
                names.append(entry.name)
        if names:
            self.lists[point] = names

    def _expand_multi_point(self) -> None:
        self._find_unknown()
        implementing: dict[str, list[Entry]] = {point: [] for point in self.points}
        for entry in self._enabled(MULTI_POINT):
            if entry.name in self.registry:
                for point in self.registry[entry.name].points:
                    implementing[point].append(entry)
        for point in self.points:
            disabled = self._disabled(point)
            if ALL in disabled:
                continue
            explicit = self.lists.get(point, [])
            # What is enabled explicitly keeps its weight and goes first.
            overriding: set[str] = set()
            expanded: list[str] = []
            for entry in implementing[point]:
                name = entry.name
                if name in disabled:
                    continue
                if name in explicit:
                    overriding.add(name)
                elif name in expanded:
                    self._registered_twice(entry, point)
                else:
                    expanded.append(name)
            split = _split if self.target.minor >= 26 else _split_up_to_1_25
            first, last = split(explicit, overriding)
            if first or expanded or last:
                self.lists[point] = first + expanded + last

    def _find_unknown(self) -> None:
        """Names in multiPoint; the error is that of the first point that it is expanded to, and a crash if there is none."""
        expanded = (point for point in self.points if ALL not in self._disabled(point))
        first = next(expanded, self.points[0])
        for entry in self._enabled(MULTI_POINT):
            if entry.name not in self.registry:
                self._unknown(entry, first)

    def _count(self) -> None:
        name = self.profile.get("schedulerName", "")
        queue_sort = self.lists.get("queueSort", [])
        if len(queue_sort) != 1 and not self._uncertain("queueSort"):
            words = "one queue sort plugin required"
            if self.target.minor >= 25:
                words = "only " + words
            message = f'{words} for profile with scheduler name "{name}", but got {len(queue_sort)}'
            hint = "enable one at queueSort, such as PrioritySort"
            path = (*self.path, "plugins", "queueSort")
            if queue_sort:
                entries = [entry for entry in self._all_entries() if entry.name in queue_sort and entry.path]
                path = self._path_of(entries[-1]) if entries else path
                wanted = entries[-1].name if entries else queue_sort[-1]
                message += f": {', '.join(queue_sort)}"
                hint = f'add queueSort: {{enabled: [{{name: {wanted}}}], disabled: [{{name: "*"}}]}} to plugins'
            self.report.error(BUILD, "queue-sort", path, message, hint)
        if not self.lists.get("bind") and not self._uncertain("bind"):
            message = f'at least one bind plugin is needed for profile with scheduler name "{name}"'
            self.report.error(BUILD, "no-bind", (*self.path, "plugins", "bind"), message, "enable one at bind, such as DefaultBinder")
        if len(self.lists.get("placementGenerate", ())) > 1:
            message = f'at most one placement generate plugin is allowed for profile with scheduler name "{name}"'
            self.report.error(BUILD, "placement-generate", (*self.path, "plugins", "placementGenerate"), message, "disable the others")

    def _weigh(self) -> None:
        if self.target.minor <= 21:
            # One weight per plugin, that of the last point at which it is enabled.
            last = {entry.name: entry for point in self.points for entry in self._enabled(point)}
            self._add_up("score", sorted(last.values(), key=lambda entry: entry.get("weight", 0)))
        elif self.target.minor == 22:
            self._add_up("score", self._enabled("score"))
        else:
            for point in self.weights:
                entries: dict[str, Entry] = {}
                for entry in (*self._enabled(point), *self._enabled(MULTI_POINT)):
                    info = self.registry.get(entry.name)
                    if info is not None and point in info.points:
                        entries.setdefault(entry.name, entry)
                self._add_up(point, entries.values())

    def _add_up(self, point: str, entries: Iterable[Entry]) -> None:
        """Weights by name; kube-scheduler refuses a sum that could overflow.

        Its check overflows itself as soon as the sum is negative, so that every further plugin is refused, whatever its weight.
        Up to 1.21 the order of adding is random and so is the verdict: here the negative weights come first.
        """
        total = 0
        negative: Entry | None = None
        refused = False
        for entry in entries:
            weight = entry.get("weight", 0) or 1
            if total < 0 and negative is not None and not refused:
                refused = True
                message = f"total score of {interface(point)[:-6]} plugins could overflow: the sum of the weights is negative"
                path = (*self._path_of(negative, field=""), "weight")
                self.report.error(BUILD, "weight-overflow", path, message, "give a positive weight, or disable the plugin")
            if weight < 0 and negative is None:
                negative = entry
            total += weight
            self.weights[point][entry.name] = weight

    # --- entries ---

    def _enabled(self, point: str) -> Sequence[Entry]:
        return self.sets.get(point, {}).get("enabled", ())

    def _disabled(self, point: str) -> set[str]:
        return {entry.name for entry in self.sets.get(point, {}).get("disabled", ())}

    def _all_entries(self) -> list[Entry]:
        return [entry for plugin_set in self.sets.values() for entry in plugin_set.get("enabled", ())]

    def _path_of(self, entry: Entry, field: str = "name") -> Path:
        if entry.path is None:
            return (*self.path, "plugins")
        return (*entry.path, field) if field else entry.path

    def _place_of(self, name: str) -> Path:
        """Where a plugin that is needed is enabled."""
        return self._path_of(next(entry for entry in self._all_entries() if entry.name == name))

    def _uncertain(self, point: str) -> bool:
        """Whether an error that was reported before may be the reason for too many or too few plugins at the point."""
        plugins = (*self.path, "plugins")
        return self.reported((*plugins, point)) or self.reported((*plugins, MULTI_POINT))

    def _entry_error(self, code: str, entry: Entry, message: str, hint: str) -> None:
        path = self._path_of(entry, field="")
        if not self.reported(path):
            self.report.error(BUILD, code, self._path_of(entry), message, hint)

    def _registered_twice(self, entry: Entry, point: str) -> None:
        hint = "list it once"
        if self.version == "v1beta1":
            hint = f"it runs by default: list it under {point}.disabled, too, or leave it out"
        self._entry_error("already-registered", entry, f'plugin "{entry.name}" already registered as "{interface(point)}"', hint)

    def _unknown(self, entry: Entry, point: str) -> None:
        hint = _hint_for_unknown(entry.name, self.registry, self.target) if entry.name else "give its name"
        self._entry_error("unknown-plugin", entry, f'{interface(point)} "{entry.name}" does not exist', hint)


def _split(explicit: list[str], overriding: set[str]) -> tuple[list[str], list[str]]:
    """The plugins that multiPoint has, too, and the others: what runs before and after those of multiPoint alone."""
    return [name for name in explicit if name in overriding], [name for name in explicit if name not in overriding]


def _split_up_to_1_25(explicit: list[str], overriding: set[str]) -> tuple[list[str], list[str]]:
    """The same with a mistake: names are deleted from the list that is being walked through.

    In Go the loop sees the elements that move forward and, behind the end, those that stay behind: with three names or more
    some are skipped, and thus come last, and others are met, and run, twice.
    """
    walked = list(explicit)
    left = len(walked)
    deleted: set[str] = set()
    first = []
    for index in range(len(walked)):
        name = walked[index]
        if name not in overriding:
            continue
        first.append(name)
        if name not in deleted:
            deleted.add(name)
            at = walked.index(name)
            walked[at : left - 1] = walked[at + 1 : left]
            left -= 1
    return first, walked[:left]


def _hint_for_unknown(name: str, known: Iterable[str], target: Target) -> str:
    from .tables.plugins import IN_TREE as in_tree
    from .tables.rules import PLUGIN_REPLACEMENTS
    from .tables.scheduler_plugins import PLUGINS as of_scheduler_plugins

    for rows, whose in ((in_tree, "Kubernetes"), (of_scheduler_plugins, "scheduler-plugins")):
        for plugin in rows:
            if plugin.name == name:
                if plugin.until is not None and target.minor > plugin.until:
                    return f"{whose} 1.{plugin.until} was the last one with it: {PLUGIN_REPLACEMENTS.get(name, 'remove it')}"
                if target.minor < plugin.since:
                    return f"{whose} has it since 1.{plugin.since}: remove it, or use a newer image"
                return "it belongs to scheduler-plugins of kubernetes-sigs: the image must be one of theirs"
    return did_you_mean(
        name, known, "only an image that registers this plugin can run it; if yours does, describe it (see the option plugins)"
    )


def _check_queue_sort(frameworks: Sequence[_Framework], report: Report) -> None:
    """All profiles share one queue, so they must agree on its plugin and on the arguments of that plugin."""
    counted = [framework for framework in frameworks if len(framework.lists.get("queueSort", ())) == 1]
    for framework in counted[1:]:
        first, name = counted[0].lists["queueSort"][0], framework.lists["queueSort"][0]
        path = (*framework.path, "plugins", "queueSort")
        if framework.reported(path):
            continue
        if name != first:
            message = f'different queue sort plugins for profile "{framework.profile.get("schedulerName", "")}": "{name}", first: "{first}"'
            report.error(BUILD, "queue-sort", path, message, f"all profiles share one queue: enable {first} here, too")
        elif not same(framework.args(name), counted[0].args(name)):
            path = framework.args_path(name)
            if not framework.reported(path[:4]):
                message = f'different queue sort plugin args for profile "{framework.profile.get("schedulerName", "")}"'
                report.error(BUILD, "queue-sort", path, message, f"all profiles share one queue: give {name} the same arguments everywhere")


def _check_watchers(frameworks: Sequence[_Framework], report: Report) -> None:
    instances = [
        ((framework, name), name, framework.args(name))
        for framework in frameworks
        for name in sorted(framework.needed)
        if framework.registry[name].origin == SCHEDULER_PLUGINS
    ]
    for (framework, name), message, hint in second_watchers(instances):
        path = framework.args_path(name)
        if not framework.reported(path):
            report.error(BUILD, "second-watcher", path, message, hint)
