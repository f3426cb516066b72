# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rules for the values of a configuration, after defaults are filled in and flags have overridden it.

Sources: pkg/scheduler/apis/config/validation/validation.go of Kubernetes and config/validation of component-base; the checks
between that and the building of profiles (cmd/kube-scheduler/app/options: resource lock, addresses) have the stage "build".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from . import flags
from .addresses import is_ip, split_host_port
from .decode import registered
from .report import BUILD, DECODE, VALIDATE, Path, Report, render
from .strconv import parse_int
from .tables import rules
from .target import Target
from .validation_args import at, checked_in_profile, errors
from .value_syntax import qualified_name

_QUOTA_PREFIX = "requests."
_WILDCARDS = ("", "0.0.0.0", "::")


def validate(config: Mapping[str, Any], version: str, target: Target, report: Report) -> None:
    """Report everything for which kube-scheduler refuses the values of a configuration.

    Nothing is reported that only follows from an earlier error, such as a name that is missing because it is misspelt.
    """
    _Validator(config, version, target, report).run()


class _Validator:
    def __init__(self, config: Mapping[str, Any], version: str, target: Target, report: Report):
        self.config = config
        self.version = version
        self.target = target
        self.minor = target.minor
        self.report = report
        self.removed = {
            name: words
            for first, last, of, names, words in rules.INVALID_PLUGINS
            if first <= target.minor <= last and of == version
            for name in names
        }

    def run(self) -> None:
        self._client_connection()
        self._leader_election(self.config.get("leaderElection") or {})
        self._top_level()
        profiles = self.config.get("profiles") or ()
        for index, profile in enumerate(profiles):
            self._profile(profile, ("profiles", index))
        self._scheduler_names(profiles)
        self._queue_sort(profiles)
        self._extenders(self.config.get("extenders") or ())

    # --- the document as a whole ---

    def _client_connection(self) -> None:
        burst = (self.config.get("clientConnection") or {}).get("burst", 0)
        if burst < 0:
            self._error(("clientConnection", "burst"), "out-of-range", f"{burst} must be non-negative", "leave it out for 100")

    def _leader_election(self, election: Mapping[str, Any]) -> None:
        if not election.get("leaderElect"):
            return
        path = ("leaderElection",)
        lease, deadline, _retry = durations = [election.get(name, 0) for name in ("leaseDuration", "renewDeadline", "retryPeriod")]
        for name, duration in zip(("leaseDuration", "renewDeadline", "retryPeriod"), durations):
            if duration <= 0:
                self._election_error(name, "out-of-range", f"{duration} must be greater than zero", "for example 15s")
        too_short = lease < deadline or (lease == deadline and not at(self.minor, rules.LEASE_MAY_EQUAL_DEADLINE))
        if too_short and not is_broken(self.report, path):
            words = at(self.minor, rules.LEASE_WORDS)
            hint = f"give leaseDuration more than {deadline}, or renewDeadline less than {lease}"
            self._election_error("leaseDuration", "out-of-range", f"{lease}: {words}, which is {deadline}", hint)
        for name in ("resourceLock", "resourceNamespace", "resourceName"):
            if not election.get(name):
                self._election_error(name, "required", "is required", "leave the flag out for the default")
        self._resource_lock(election.get("resourceLock", ""))

    def _resource_lock(self, lock: str) -> None:
        stage, known = at(self.minor, rules.RESOURCE_LOCKS)
        if lock in known or not lock:
            return
        if stage == VALIDATE:
            message = f'{lock}: resourceLock value must be "leases"'
        elif lock in rules.REMOVED_LOCKS:
            message = f"couldn't create resource lock: {lock} lock is removed, migrate to {rules.REMOVED_LOCKS[lock]}"
        else:
            message = f"couldn't create resource lock: Invalid lock-type {lock}"
        self._election_error("resourceLock", "lock", message, "use leases", stage)

    def _election_error(self, name: str, code: str, message: str, hint: str, stage: str = VALIDATE) -> None:
        flag = flags.overriding(self.target).get(name)
        if flag:
            hint = f"{hint}; the flag --{flag} overrides the file"
        self._error(("leaderElection", name), code, message, hint, stage)

    def _top_level(self) -> None:
        config = self.config
        parallelism = config.get("parallelism", 0)
        if parallelism <= 0:
            message = f"{parallelism} should be an integer value greater than zero"
            self._error(("parallelism",), "out-of-range", message, "leave it out for 16")
        self._percentage(config, ())
        first, most = config.get("podInitialBackoffSeconds", 0), config.get("podMaxBackoffSeconds", 0)
        if first <= 0:
            self._error(("podInitialBackoffSeconds",), "out-of-range", f"{first} must be greater than 0", "leave it out for 1")
        if most < first and not self._misread(("podInitialBackoffSeconds",)):
            message = f"{most} must be greater than or equal to podInitialBackoffSeconds, which is {first}"
            self._error(("podMaxBackoffSeconds",), "out-of-range", message, f"give at least {first}")
        listens = at(self.minor, rules.ADDRESSES) == "listens"
        for name in ("healthzBindAddress", "metricsBindAddress"):
            (self._listening_address if listens else self._unused_address)((name,), config.get(name, ""))
        if listens:
            self._listeners()

    def _percentage(self, values: Mapping[str, Any], path: Path) -> None:
        percentage = values.get("percentageOfNodesToScore", 0)
        if not 0 <= percentage <= 100:
            message, hint = f"{percentage} not in valid range [0-100]", "0 lets kube-scheduler choose by the number of nodes"
            self._error((*path, "percentageOfNodesToScore"), "out-of-range", message, hint)

    def _listening_address(self, path: Path, address: str) -> None:
        hint = "an address such as 0.0.0.0:10251"
        try:
            host, port = split_host_port(address)
        except ValueError:
            message = "must be a valid socket address format, (e.g. 0.0.0.0:10254 or [::]:10254)"
            self._error(path, "invalid-value", f"{address} {message}", hint)
            return
        try:
            number = parse_int(port)
        except ValueError:
            number = 0
        if not 1 <= number <= 65535:
            self._error(path, "invalid-value", f"{address}: the port must be between 1 and 65535, inclusive", hint)
        if not is_ip(host):
            self._error(path, "invalid-value", f"{address}: the host must be a valid IP address, (e.g. 10.9.8.7)", hint)

    def _unused_address(self, path: Path, address: str) -> None:
        if not address:
            return
        hint = "remove it: kube-scheduler listens on no such address any more"
        try:
            host, port = split_host_port(address)
            number = parse_int(port)
        except ValueError as error:
            self._error(path, "invalid-value", str(error), hint)
            return
        # Zeros in front do not matter here (ParseIPSloppy).
        if not is_ip(re.sub("(?<![0-9:])0+(?=[0-9])", "", host)):
            self._error(path, "invalid-value", f"{address}: the host must be a valid IP address, (e.g. 10.9.8.7)", hint)
        if number != 0:
            self._error(path, "invalid-value", f"{address} must be empty or with an explicit 0 port", hint)

    def _listeners(self) -> None:
        """Both addresses are listened on: one port twice works for equal addresses, and for two that name a host each."""
        paths = (("healthzBindAddress",), ("metricsBindAddress",))
        if any(self.report.has_error(path) for path in paths):
            return
        (host, port), (other_host, other_port) = (split_host_port(self.config[path[0]]) for path in paths)
        if port == other_port and host != other_host and (host in _WILDCARDS or other_host in _WILDCARDS):
            message = "failed to create listener: address already in use by healthzBindAddress"
            self._error(paths[1], "invalid-value", message, "give both the same address, or different ports", BUILD)

    # --- profiles ---

    def _profile(self, profile: Mapping[str, Any], path: Path) -> None:
        if not profile.get("schedulerName"):
            hint = "give each profile a name; pods name it in spec.schedulerName"
            self._error((*path, "schedulerName"), "required", "Required value", hint)
        self._percentage(profile, path)
        for point, plugins in (profile.get("plugins") or {}).items():
            if point not in ("multiPoint", "placementGenerate", "placementScore"):
                for entry in plugins.get("enabled") or ():
                    self._removed_plugin(entry.get("name", ""), getattr(entry, "path", None) or (*path, "plugins", point))
        self._conflicting_scores(profile, path)
        seen: set[str] = set()
        for index, entry in enumerate(profile.get("pluginConfig") or ()):
            self._plugin_config(entry, (*path, "pluginConfig", index), seen)

    def _removed_plugin(self, name: str, path: Path) -> bool:
        if name not in self.removed:
            return False
        self._error(path, "removed-plugin", f"{name} {self.removed[name]}", rules.PLUGIN_REPLACEMENTS[name])
        return True

    def _conflicting_scores(self, profile: Mapping[str, Any], path: Path) -> None:
        score = ((profile.get("plugins") or {}).get("score") or {}).get("enabled") or ()
        for first, last, version, name, others in rules.CONFLICTING_SCORES:
            found = [entry["name"] for entry in score if entry.get("name") in others]
            if not first <= self.minor <= last or version != self.version or not found:
                continue
            for entry in score:
                if entry.get("name") == name:
                    where = getattr(entry, "path", None) or (*path, "plugins", "score")
                    hint = f"add score.disabled for {', '.join(found)}"
                    self._error(where, "invalid-value", f"{name} conflicts with {', '.join(found)} in {version}", hint)

    def _plugin_config(self, entry: Mapping[str, Any], path: Path, seen: set[str]) -> None:
        name = entry.get("name", "")
        if self.minor >= 22:
            if name in seen and not is_broken(self.report, path):
                self._error(path, "duplicate", f"{name} has arguments already", "merge the two entries")
            seen.add(name)
        if self._removed_plugin(name, path):
            return
        if name and name == at(self.minor, rules.MISNAMED_FIT):
            self._error((*path, "args"), "invalid-value", "has to match plugin args", "the plugin's name is NodeResourcesFit")
        elif checked_in_profile(name, self.target) and registered(name, self.version, self.target):
            for within, code, message, hint in errors(name, entry.get("args") or {}, self.version, self.target):
                self._error((*path, "args", *within), code, message, hint)

    def _scheduler_names(self, profiles: Sequence[Mapping[str, Any]]) -> None:
        seen: dict[str, int] = {}
        for index, profile in enumerate(profiles):
            name = profile.get("schedulerName", "")
            if name in seen and not is_broken(self.report, ("profiles", index)) and not is_broken(self.report, ("profiles", seen[name])):
                message = f"{name or 'no name'} is the name of profiles[{seen[name]}], too"
                hint = "give each profile a name of its own"
                self.report.error(VALIDATE, "duplicate", ("profiles", index, "schedulerName"), message, hint)
            seen[name] = index

    def _queue_sort(self, profiles: Sequence[Mapping[str, Any]]) -> None:
        """All profiles share one queue, so they must sort it alike."""
        if not profiles:
            return
        first = (profiles[0].get("plugins") or {}).get("queueSort") or {}
        enabled = first.get("enabled") or ()
        if self.minor >= 22 and len(enabled) > 1:
            message = f"{len(enabled)} plugins: only one queue sort plugin can be enabled"
            hint = 'add disabled: [{name: "*"}] there and enable one'
            self._error(("profiles", 0, "plugins", "queueSort", "enabled"), "queue-sort", message, hint)
        name = enabled[0].get("name", "") if enabled and self.minor >= 22 else ""
        args = _args_of(profiles[0], name)
        for index, profile in enumerate(profiles[1:], 1):
            path = ("profiles", index)
            if is_broken(self.report, (*path, "plugins", "queueSort")) or is_broken(self.report, ("profiles", 0, "plugins", "queueSort")):
                continue
            if self._plugin_set(first) != self._plugin_set((profile.get("plugins") or {}).get("queueSort") or {}):
                words = at(self.minor, rules.QUEUE_SORT_WORDS)
                hint = "write the same queueSort, enabled and disabled, into every profile"
                self._error((*path, "plugins", "queueSort"), "queue-sort", words, hint)
            for position, entry in enumerate(profile.get("pluginConfig") or ()):
                where = (*path, "pluginConfig", position)
                if entry.get("name", "") != name or same(args, entry.get("args")) or self.minor < 22:
                    continue
                hint = f"give {name} the same arguments in every profile"
                if not name:
                    # Where the first profile names no plugin, kube-scheduler compares entries that have no name.
                    if is_broken(self.report, where):
                        continue
                    hint = "name the plugin whose arguments these are"
                self._error((*where, "args"), "queue-sort", at(self.minor, rules.QUEUE_SORT_ARGS_WORDS), hint)

    def _plugin_set(self, plugins: Mapping[str, Any]) -> list[Any]:
        """The values that must be equal: names and weights in their order, and whether a list exists at all."""
        lists = []
        for name in ("enabled", "disabled"):
            found = plugins.get(name)
            if not found and at(self.minor, rules.EMPTY_LIST_IS_NONE):
                found = None
            lists.append(found and [(entry.get("name", ""), entry.get("weight", 0)) for entry in found])
        return lists

    # --- extenders ---

    def _extenders(self, extenders: Sequence[Mapping[str, Any]]) -> None:
        managed: set[str] = set()
        for index, extender in enumerate(extenders):
            path = ("extenders", index)
            weight = extender.get("weight", 0)
            if extender.get("prioritizeVerb") and weight <= 0:
                message = f"{weight}: an extender with prioritizeVerb must have a positive weight"
                self._error((*path, "weight"), "out-of-range", message, "give a positive weight, or remove prioritizeVerb")
            for position, resource in enumerate(extender.get("managedResources") or ()):
                self._managed_resource(resource.get("name", ""), (*path, "managedResources", position), managed)
        binders = sum(1 for extender in extenders if extender.get("bindVerb"))
        if binders > 1:
            message = f"found {binders} extenders implementing bind: only one extender can implement bind"
            self._error(("extenders",), "extender", message, "leave bindVerb to one of them")

    def _managed_resource(self, name: str, path: Path, managed: set[str]) -> None:
        if is_broken(self.report, path):
            return
        path = (*path, "name")
        hint = "a name such as example.com/gpu"
        problems = qualified_name(name)
        for problem in problems:
            self.report.error(VALIDATE, "invalid-value", path, f"{name}: {problem}", hint)
        if not problems and not _is_extended_resource(name):
            self._error(path, "invalid-value", f"{name} is an invalid extended resource name", hint)
        if name in managed:
            message = f"{name}: duplicate extender managed resource name"
            self.report.error(VALIDATE, "duplicate", path, message, "leave it to one extender")
        managed.add(name)

    # --- reporting ---

    def _error(self, path: Path, code: str, message: str, hint: str, stage: str = VALIDATE) -> None:
        """An error, unless the field has one already or it only follows from another one."""
        if not self.report.has_error(path) and not follows(self.report, path):
            self.report.error(stage, code, path, message, hint)

    def _misread(self, path: Path) -> bool:
        """Whether a field could not be read, so that its default was taken."""
        wanted = render(path)
        return any(finding.stage == DECODE and finding.path == wanted for finding in self.report.findings)


def follows(report: Report, path: Path) -> bool:
    """Whether what is wrong with a field only follows from an earlier error: it is not written, but perhaps misspelt."""
    return bool(path) and not _is_written(report, path) and is_broken(report, path[:-1])


def is_broken(report: Report, path: Path) -> bool:
    """Whether a structure, or one of its direct fields, could not be read: then its missing fields are unknown."""
    structure = render(path)
    for finding in report.findings:
        around, _dot, name = finding.path.rpartition(".")
        if finding.stage == DECODE and (finding.path == structure or (around == structure and "[" not in name)):
            return True
    return False


def _is_written(report: Report, path: Path) -> bool:
    """Whether the document has the field."""
    node = report.root
    for part in path:
        if isinstance(part, int):
            if node is None or node.items is None or part >= len(node.items):
                return False
            node = node.items[part]
        else:
            if node is None or node.entries is None or part not in node.entries:
                return False
            node = node.entries[part][1]
    return node is not None


def _is_extended_resource(name: str) -> bool:
    """A resource that is not Kubernetes' own and can be written into a quota (pkg/apis/core/v1/helper)."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith(_QUOTA_PREFIX):
        return False
    return not qualified_name(_QUOTA_PREFIX + name)


def _args_of(profile: Mapping[str, Any], name: str) -> Any:
    """The arguments of the last entry for a plugin; None if there is none."""
    args = None
    for entry in profile.get("pluginConfig") or ():
        if name and entry.get("name") == name:
            args = entry.get("args")
    return args


def same(one: Any, other: Any) -> bool:
    """Whether two arguments of plugins are equal, without Python's 1 == True."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other
