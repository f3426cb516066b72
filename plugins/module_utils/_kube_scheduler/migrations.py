# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What changes in a document from one version of the configuration, or one release, to the next.

Every function edits the plain data of a document that its author wrote (no defaults in it) and records its changes in a Log. Sources of the
replacements: KEP-785, the changelogs of 1.22, 1.23, 1.25 and 1.31, pkg/scheduler/apis/config/v*/default_plugins.go and the legacy plugins themselves
(pkg/scheduler/framework/plugins of 1.22).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .field_types import ROOT, args_kind, fields
from .plugins import points
from .report import Path, render
from .tables.plugins import DEFAULTS, MULTI_POINT
from .target import Target
from .version_independent import API_GROUP

EXACT, APPROXIMATE, IMPOSSIBLE = "exact", "approximate", "impossible"
"""Behaves as before; nearly so, in the way that the message says; can't be expressed: somebody has to decide what to do."""

SCORING_STRATEGIES = {
    # score plugin up to v1beta1: strategy of NodeResourcesFit that does the same
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}
FIT = "NodeResourcesFit"
ALL = "*"
MAX_RESOURCE_WEIGHT = 100
IN_ORDER = ("queueSort", "preEnqueue", "postFilter", "reserve", "permit", "preBind", "bind", "postBind")
"""The points at which the order of the plugins matters: the first one to act decides, or has effects that others see."""

VOLUME_LIMITS = ("EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits")

Running = Mapping[str, Sequence[tuple[str, int]]]
"""Of one profile: extension point -> [(plugin, weight), ...] as it runs."""


class Step(NamedTuple):
    """One thing that a conversion did, or could not do. path: a field of the document it was found in, "" for the whole."""

    kind: str
    path: str
    message: str


class Log:
    """Collects the steps."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def add(self, kind: str, path: Path | str, message: str) -> None:
        step = Step(kind, path if isinstance(path, str) else render(path), message)
        if step not in self.steps:
            self.steps.append(step)


class Profile:
    """A profile of the document that is being edited. Lists that become empty by an edit are removed."""

    def __init__(self, data: dict[str, Any], index: int, log: Log):
        self.data = data
        self.path = ("profiles", index)
        self.log = log

    @property
    def points(self) -> tuple[str, ...]:
        return tuple(self.data.get("plugins") or ())

    def entries(self, point: str, which: str = "enabled") -> list[dict[str, Any]]:
        """The plugins that the document lists at a point, not to be changed."""
        plugin_set = (self.data.get("plugins") or {}).get(point) or {}
        return [entry for entry in plugin_set.get(which) or () if isinstance(entry, dict)]

    def names(self, point: str, which: str = "enabled") -> list[str]:
        return [entry.get("name", "") for entry in self.entries(point, which)]

    def drops_all(self, point: str) -> bool:
        return ALL in self.names(point, "disabled")

    def add(self, point: str, which: str, entry: dict[str, Any]) -> None:
        plugins = self.data.get("plugins")
        if plugins is None:
            plugins = self.data["plugins"] = {}
        if point == MULTI_POINT and point not in plugins:
            plugins = self.data["plugins"] = {point: {}, **plugins}
        plugin_set = plugins.setdefault(point, {})
        if not plugin_set.get(which):
            plugin_set[which] = []
        plugin_set[which].append(entry)

    def set(self, point: str, plugin_set: dict[str, Any] | None) -> None:
        """Replace the entry of a point; None: remove the entry."""
        plugins = self.data.setdefault("plugins", {})
        plugins.pop(point, None)
        if plugin_set:
            plugins[point] = plugin_set
        self._tidy()

    def remove(self, names: Iterable[str], point: str, which: str) -> list[str]:
        """Take plugins out of a list; returns those that were in it."""
        plugin_set = (self.data.get("plugins") or {}).get(point) or {}
        found = [name for name in self.names(point, which) if name in names]
        if found:
            plugin_set[which] = [entry for entry in plugin_set[which] if entry.get("name") not in found]
            self._tidy()
        return found

    def remove_everywhere(self, names: Iterable[str]) -> None:
        for point in self.points:
            for which in ("enabled", "disabled"):
                self.remove(names, point, which)

    def args(self, name: str) -> dict[str, Any]:
        for entry in self.data.get("pluginConfig") or ():
            if entry.get("name") == name:
                args = entry.get("args")
                return args if isinstance(args, dict) else {}
        return {}

    def ensure_args(self, name: str) -> dict[str, Any]:
        """The arguments of a plugin, to be changed; an entry is appended if there is none."""
        for entry in self.data.get("pluginConfig") or ():
            if entry.get("name") == name:
                if not isinstance(entry.get("args"), dict):
                    entry["args"] = {}
                args: dict[str, Any] = entry["args"]
                return args
        if not self.data.get("pluginConfig"):
            self.data["pluginConfig"] = []
        args = {}
        self.data["pluginConfig"].append({"name": name, "args": args})
        return args

    def remove_args(self, names: Iterable[str | None]) -> list[str]:
        given = [entry.get("name") for entry in self.data.get("pluginConfig") or ()]
        found = [name for name in given if name in names]
        if found:
            self.data["pluginConfig"] = [entry for entry in self.data["pluginConfig"] if entry.get("name") not in found]
            if not self.data["pluginConfig"]:
                del self.data["pluginConfig"]
        return found

    def say(self, kind: str, message: str, *path: str | int) -> None:
        self.log.add(kind, self.path + path, message)

    def at(self, point: str, message: str, kind: str = EXACT) -> None:
        self.say(kind, message, "plugins", point)

    def _tidy(self) -> None:
        plugins = self.data.get("plugins") or {}
        for point in list(plugins):
            plugin_set = plugins[point]
            if plugin_set:
                for which in [which for which in plugin_set if plugin_set[which] == []]:
                    del plugin_set[which]
            if plugin_set == {}:
                del plugins[point]
        if plugins == {}:
            self.data.pop("plugins", None)


def profiles(data: dict[str, Any], log: Log) -> Iterator[Profile]:
    for index, profile in enumerate(data.get("profiles") or ()):
        yield Profile(profile, index, log)


# Releases: what a newer kube-scheduler no longer takes, in any version of the configuration.


def to_release(data: dict[str, Any], version: str, before: Target, after: Target, log: Log) -> None:
    """Edit a document of one version so that a newer release takes it as well. Nothing is done for an older one."""
    crossed = range(before.minor + 1, after.minor + 1)
    _fields_that_end(data, version, before, version, after, log)
    if 23 in crossed:
        _drop_addresses(data, log)
    _move_locks(data, after.minor, log)
    for profile in profiles(data, log):
        if 31 in crossed:
            _drop_volume_limits(profile)
        if 36 in crossed:
            _drop_unused_ratio(profile)


def _drop_addresses(data: dict[str, Any], log: Log) -> None:
    for name in ("healthzBindAddress", "metricsBindAddress"):
        if name in data:
            _drop_address(data, name, log)


def _drop_address(data: dict[str, Any], name: str, log: Log) -> None:
    served = data.pop(name) not in ("", None)
    message = "removed: there is no insecure port since 1.23"
    if served:
        message += "; probes and scrapes must use HTTPS on the port of the flag --secure-port (10259) instead"
    log.add(APPROXIMATE if served else EXACT, name, message)


def _move_locks(data: dict[str, Any], minor: int, log: Log) -> None:
    """endpoints and configmaps as locks ended with 1.24, their combinations with leases with 1.27."""
    election = data.get("leaderElection") or {}
    lock = election.get("resourceLock")
    ended = {"endpoints": 24, "configmaps": 24, "endpointsleases": 27, "configmapsleases": 27}
    if lock in ended and minor >= ended[lock]:
        election["resourceLock"] = "leases"
        message = f"{lock} is now leases: 1.{ended[lock]} and later take no other lock"
        if not lock.endswith("leases"):
            message += f"; in a rolling update go by {lock}leases first, or two instances lead at once"
        log.add(APPROXIMATE, "leaderElection.resourceLock", message)


def _drop_volume_limits(profile: Profile) -> None:
    message = "{} no longer exist: NodeVolumeLimits counts the volumes of their CSI drivers"
    for point in profile.points:
        for which, kind in (("enabled", APPROXIMATE), ("disabled", EXACT)):
            found = profile.remove(VOLUME_LIMITS, point, which)
            if found:
                profile.say(kind, message.format(", ".join(found)), "plugins", point, which)
    found = profile.remove_args(VOLUME_LIMITS)
    if found:
        profile.say(EXACT, message.format(", ".join(found)), "pluginConfig")


def _drop_unused_ratio(profile: Profile) -> None:
    strategy = profile.args(FIT).get("scoringStrategy")
    if isinstance(strategy, dict) and "requestedToCapacityRatio" in strategy and strategy.get("type") != "RequestedToCapacityRatio":
        del strategy["requestedToCapacityRatio"]
        profile.say(EXACT, f"{FIT}: requestedToCapacityRatio removed: the strategy has another type, and 1.36 rejects it", "pluginConfig")


def _fields_that_end(data: dict[str, Any], version: str, before: Target, new: str, after: Target, log: Log) -> None:
    """Fields of the document, and of the arguments of plugins, that the new version or release does not have."""
    for name in _ended(ROOT, data, version, before, new, after):
        if name.endswith("BindAddress"):
            _drop_address(data, name, log)
        else:
            del data[name]
            log.add(APPROXIMATE, name, f"removed: {new} on 1.{after.minor} has no such field")
    connection = (data.get("clientConnection") or {}).get("kubeconfig")
    for profile in profiles(data, log):
        for index, entry in enumerate(profile.data.get("pluginConfig") or ()):
            kind = args_kind(entry.get("name", ""), version, before)
            args = entry.get("args")
            if kind is None or not isinstance(args, dict) or args_kind(entry["name"], new, after) is None:
                continue
            for name in _ended(kind, args, version, before, new, after):
                value = args.pop(name)
                path = ("pluginConfig", index, "args", name)
                if name.lower() == "kubeconfigpath":
                    same = value == connection
                    message = "removed: the plugin uses the connection of the scheduler (clientConnection.kubeconfig)"
                    profile.say(EXACT if same else APPROXIMATE, message, *path)
                elif name == "deniedPGExpirationTimeSeconds":
                    profile.say(APPROXIMATE, "removed: podGroupBackoffSeconds (since 1.26) is the nearest", *path)
                else:
                    profile.say(APPROXIMATE, f"removed: {entry['name']} has no such argument in {new} on 1.{after.minor}", *path)


def _ended(structure: str, given: Mapping[str, Any], version: str, before: Target, new: str, after: Target) -> list[str]:
    known = fields(structure, version, before)
    known_later = fields(structure, new, after)
    return [name for name in given if name in known and name not in known_later]


# Versions: what the next version of the configuration says in other words. ``running`` is what runs before, by profile.


def rename_version(data: dict[str, Any], old: str, new: str, release: Target, log: Log) -> None:
    """apiVersion, of the document and of arguments that repeat it, and the fields that the new version lacks."""
    data["apiVersion"] = f"{API_GROUP}/{new}"
    _fields_that_end(data, old, release, new, release, log)
    for profile in profiles(data, log):
        for entry in profile.data.get("pluginConfig") or ():
            args = entry.get("args")
            typed = args_kind(entry.get("name", ""), old, release) is not None
            if typed and isinstance(args, dict) and args.get("apiVersion") == f"{API_GROUP}/{old}":
                args["apiVersion"] = f"{API_GROUP}/{new}"


def keep_addresses(data: dict[str, Any], completed: Mapping[str, Any]) -> None:
    """v1beta1 completes a partial address, v1beta2 does not."""
    for name in ("healthzBindAddress", "metricsBindAddress"):
        if name in data:
            data[name] = completed.get(name, data[name])


def to_v1beta2(profile: Profile, running: Running, log: Log) -> Running:
    """Replace the plugins that end with v1beta1. Returns what is to run afterwards."""
    score = list(running.get("score", ()))
    _topology_spread_defaulting(profile)
    _node_label(profile, running)
    _service_affinity(profile, running)
    if "NodePreferAvoidPods" in dict(score):
        message = (
            "NodePreferAvoidPods scored here, by default with weight 10000; it no longer exists: the annotation"
            " scheduler.alpha.kubernetes.io/preferAvoidPods has no effect any more, use taints"
        )
        profile.at("score", message, APPROXIMATE)
    kept = _scoring_strategy(profile, score)
    ended = {*SCORING_STRATEGIES, "NodePreferAvoidPods", "NodeLabel", "ServiceAffinity"}
    profile.remove_everywhere(ended)
    profile.remove_args(ended)
    for name in profile.names("score", "disabled"):
        if name in profile.names("score"):
            profile.remove((name,), "score", "disabled")
            profile.at("score", f"{name} was disabled and enabled to change its weight; enabled alone does that now")
    wanted = {point: [entry for entry in listed if entry[0] not in ended] for point, listed in running.items()}
    if kept is not None:
        wanted["score"] = [(FIT, kept[1]) if entry == kept else entry for entry in score if entry == kept or entry[0] not in ended]
    return wanted


def _topology_spread_defaulting(profile: Profile) -> None:
    args = profile.args("PodTopologySpread")
    if args.get("defaultConstraints") and not args.get("defaultingType"):
        args["defaultingType"] = "List"
        profile.say(EXACT, "PodTopologySpread: defaultingType: List, which v1beta1 derived from the constraints", "pluginConfig")


def _scoring_strategy(profile: Profile, score: list[tuple[str, int]]) -> tuple[str, int] | None:
    """The one of the three old score plugins that NodeResourcesFit stands for from now on, with its weight."""
    old = [entry for entry in score if entry[0] in SCORING_STRATEGIES]
    asked_for = [entry for entry in old if entry[0] in profile.names("score")]
    if not old:
        if not profile.drops_all("score") and FIT not in dict(score):
            _replace_disabled(profile)
        return None
    kept = (asked_for or old)[0]
    if len(old) > 1:
        names = ", ".join(f"{name} ({weight})" for name, weight in old)
        message = f"{names} all scored: {FIT} has one strategy only, that of {kept[0]} was taken; a second profile can have another"
        profile.at("score", message, IMPOSSIBLE)
    name = kept[0]
    args = profile.args(name)
    if name != "NodeResourcesLeastAllocated" or args.get("resources") or "scoringStrategy" in profile.args(FIT):
        profile.ensure_args(FIT)["scoringStrategy"] = _strategy(profile, name, args)
        profile.say(EXACT, f"{name} is now {FIT} with scoringStrategy.type {SCORING_STRATEGIES[name]}", "pluginConfig")
    if kept in asked_for:
        for entry in profile.entries("score"):
            if entry.get("name") == name:
                entry["name"] = FIT
        profile.at("score", f"{name} is now {FIT}, its weight is kept")
    return kept


def _replace_disabled(profile: Profile) -> None:
    """None of the three scores: then NodeResourcesFit, which scores by default now, must not either."""
    disabled = [entry for entry in profile.entries("score", "disabled") if entry.get("name") in SCORING_STRATEGIES]
    for entry in disabled[:1]:
        entry["name"] = FIT
    profile.at("score", f"{FIT} is disabled: it scores by default now, and none of the plugins that it replaces did")


def _strategy(profile: Profile, name: str, args: dict[str, Any]) -> dict[str, Any]:
    strategy: dict[str, Any] = {"type": SCORING_STRATEGIES[name]}
    resources = [resource or {} for resource in args.get("resources") or ()]
    if resources:
        largest = max(resource.get("weight") or 1 for resource in resources)
        if largest > MAX_RESOURCE_WEIGHT:
            message = f"weights of resources end at {MAX_RESOURCE_WEIGHT} now: they were scaled down and rounded"
            profile.say(APPROXIMATE, message, "pluginConfig")
            for resource in resources:
                resource["weight"] = max(1, round((resource.get("weight") or 1) * MAX_RESOURCE_WEIGHT / largest))
        strategy["resources"] = resources
    if args.get("shape"):
        strategy["requestedToCapacityRatio"] = {"shape": args["shape"]}
    return strategy


def _node_label(profile: Profile, running: Running) -> None:
    """NodeLabel's demands on nodes become an affinity that NodeAffinity adds to that of every pod."""
    args = profile.args("NodeLabel")
    at_filter = "NodeLabel" in dict(running.get("filter", ()))
    at_score = "NodeLabel" in dict(running.get("score", ()))
    demands = [(label, "Exists") for label in args.get("presentLabels") or ()]
    demands += [(label, "DoesNotExist") for label in args.get("absentLabels") or ()]
    wishes = [(label, "Exists") for label in args.get("presentLabelsPreference") or ()]
    wishes += [(label, "DoesNotExist") for label in args.get("absentLabelsPreference") or ()]
    for runs, labels, point in ((at_filter, demands, "filter"), (at_score, wishes, "score")):
        if not runs or not labels:
            continue
        if "NodeAffinity" not in dict(running.get(point, ())):
            message = "NodeLabel no longer exists, and its replacement NodeAffinity is disabled here"
            profile.at(point, message, IMPOSSIBLE)
            continue
        affinity = profile.ensure_args("NodeAffinity").setdefault("addedAffinity", {})
        expressions = [{"key": label, "operator": operator} for label, operator in labels]
        if point == "filter":
            required = affinity.setdefault("requiredDuringSchedulingIgnoredDuringExecution", {})
            terms = required.setdefault("nodeSelectorTerms", [])
            if not terms:
                terms.append({})
            for term in terms:
                term["matchExpressions"] = [*(term.get("matchExpressions") or ()), *expressions]
            profile.say(EXACT, "NodeLabel's labels are now the addedAffinity of NodeAffinity, required", "pluginConfig")
        else:
            preferred = affinity.setdefault("preferredDuringSchedulingIgnoredDuringExecution", [])
            weight = max(1, MAX_RESOURCE_WEIGHT // len(expressions))
            preferred += [{"weight": weight, "preference": {"matchExpressions": [each]}} for each in expressions]
            message = "NodeLabel's preferences are now the addedAffinity of NodeAffinity, preferred: scores are normalised together"
            profile.say(APPROXIMATE, message, "pluginConfig")


def _service_affinity(profile: Profile, running: Running) -> None:
    for point in ("filter", "score"):
        if "ServiceAffinity" in dict(running.get(point, ())):
            message = "ServiceAffinity no longer exists: give the pods a podAffinity or topologySpreadConstraints"
            profile.at(point, message, IMPOSSIBLE)


def to_v1beta3(profile: Profile, running: Running, log: Log) -> Running:
    """Keep the default weights of v1beta2, and drop what v1beta2 read but never used."""
    for point in ("multiPoint", "preEnqueue"):
        if profile.entries(point) or profile.entries(point, "disabled"):
            profile.set(point, None)
            profile.at(point, "removed: v1beta2 reads it and ignores it, so it had no effect")
    _gather_disabled(profile, running)
    if profile.remove_args(("", None)):
        profile.say(EXACT, "arguments that name no plugin are removed: v1beta3 takes them for those of queueSort", "pluginConfig")
    new = {row.name: row.weight for row in DEFAULTS if row.point == MULTI_POINT and row.weight and "v1beta3" in row.versions.split()}
    pinned = [
        (name, weight)
        for name, weight in running.get("score", ())
        if name not in profile.names("score") and new.get(name, weight) != weight
    ]
    for name, weight in pinned:
        profile.add(MULTI_POINT, "enabled", {"name": name, "weight": weight})
    if pinned:
        names = ", ".join(f"{name} {weight} (now {new[name]})" for name, weight in pinned)
        profile.at(MULTI_POINT, f"the default weights of before are kept: {names}; remove the entries to adopt the new ones")
    return running


def _gather_disabled(profile: Profile, running: Running) -> None:
    """Plugins that are disabled at all of their points are disabled by one entry under multiPoint."""
    disabled: dict[str, list[str]] = {}
    for point in profile.points:
        for name in profile.names(point, "disabled"):
            disabled.setdefault(name, []).append(point)
    active = {name for listed in running.values() for name, _weight in listed}
    enabled = {name for point in profile.points for name in profile.names(point)}
    for name, where in disabled.items():
        if name == ALL or len(where) == 1 or name in active or name in enabled:
            continue
        for point in where:
            profile.remove((name,), point, "disabled")
        profile.add(MULTI_POINT, "disabled", {"name": name})
        profile.at(MULTI_POINT, f"{name} was disabled at all of its points; one entry does that now")


def same_queue_sort(data: dict[str, Any], running: Mapping[int, Running], log: Log) -> None:
    """From v1beta3 on the lists of queueSort must be equal in all profiles, word by word."""
    if not any("queueSort" in profile.points for profile in profiles(data, log)):
        return
    for profile in profiles(data, log):
        listed = running.get(profile.path[1], {}).get("queueSort", ())
        wanted = [name for name, _weight in listed]
        new = None if wanted in ([], ["PrioritySort"]) else spelled_out(listed, "queueSort")
        old = (profile.data.get("plugins") or {}).get("queueSort")
        if new != old:
            profile.set("queueSort", new)
            profile.at("queueSort", "written as it must be to be equal in all profiles")


def to_v1(profile: Profile, running: Running, log: Log) -> Running:
    """v1 does what v1beta3 does; SelectorSpread is no longer for it, and preEnqueue no longer ignored."""
    if profile.entries("preEnqueue") or profile.entries("preEnqueue", "disabled"):
        profile.set("preEnqueue", None)
        profile.at("preEnqueue", "removed: v1beta3 reads it and ignores it, so it had no effect")
    name = "SelectorSpread"
    wanted = {point: [entry for entry in listed if entry[0] != name] for point, listed in running.items()}
    if wanted != dict(running):
        message = (
            f"{name} no longer exists: PodTopologySpread with defaultingType: System, its default, spreads the pods of a Service or"
            " ReplicaSet over nodes (maxSkew 3) and zones (maxSkew 5)"
        )
        profile.at("score", message, APPROXIMATE)
    profile.remove_everywhere((name,))
    profile.remove_args((name,))
    return wanted


def spelled_out(listed: Sequence[tuple[str, int]], point: str) -> dict[str, Any]:
    """A point of a profile that says exactly what runs there, whatever the defaults are."""
    enabled = [{"name": name, "weight": weight} if point == "score" else {"name": name} for name, weight in listed]
    return {"enabled": enabled, "disabled": [{"name": ALL}]} if enabled else {"disabled": [{"name": ALL}]}


def repair(profile: Profile, wanted: Running, runs: Running, minor: int) -> bool:
    """Make a profile run what it is to run, where it does not. Returns whether anything was changed."""
    changed = False
    for point in points(minor):
        want, has = list(wanted.get(point, ())), list(runs.get(point, ()))
        if same(point, want, has):
            continue
        changed = True
        surplus = [entry for entry in has if entry[0] not in dict(want)]
        rest = [entry for entry in has if entry[0] in dict(want)]
        if same(point, want, rest) and not profile.drops_all(point):
            for name, _weight in surplus:
                profile.remove((name,), point, "enabled")
                profile.add(point, "disabled", {"name": name})
            names = ", ".join(name for name, _weight in surplus)
            profile.at(point, f"{names}: disabled at {point} alone, where it is a default now and did not run before")
        else:
            profile.set(point, spelled_out(want, point))
            profile.at(point, "all plugins are listed, so that the same run as before")
    return changed


def same(point: str, one: Sequence[tuple[str, int]], other: Sequence[tuple[str, int]]) -> bool:
    """Whether two lists do the same: the order is compared where it matters."""
    if point in IN_ORDER:
        return [tuple(entry) for entry in one] == [tuple(entry) for entry in other]
    return sorted(tuple(entry) for entry in one) == sorted(tuple(entry) for entry in other)
