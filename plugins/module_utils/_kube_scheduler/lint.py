# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Warnings: settings that kube-scheduler accepts and that are likely mistakes.

Checks that require more than the document and its kube-scheduler (number of replicas, CRDs, RBAC, image, ConfigMap) are elsewhere. A configuration of
defaults never gets a warning, and no message quotes an argument of a plugin.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import flags
from .default_plugins import ALL, Entry, defaults
from .document import Node
from .field_types import args_kind
from .plain_data import as_list, as_mapping
from .plugins import PluginInfo, points, registry
from .report import Path, Report
from .secrets import OF_ADDRESSES, credentials_in
from .similar_names import did_you_mean
from .tables import lint as table
from .tables.plugins import DEFAULTS, MULTI_POINT
from .tables.releases import API_VERSIONS, DEPRECATED_SINCE
from .target import Target
from .value_syntax import Duration

if TYPE_CHECKING:
    from typing_extensions import TypeGuard  # of the type checker; in typing since Python 3.10

DEFAULT_SCHEDULER = "default-scheduler"
INSECURE = "http://"
SECURE = "https://"


class _Case(NamedTuple):
    """All that the rules look at. written: the document as plain data; config: with defaults and flags applied."""

    config: Mapping[str, Any]
    written: Mapping[str, Any]
    version: str
    target: Target
    built: Any
    report: Report
    plugins: Mapping[str, PluginInfo]
    defaults: Mapping[str, list[Entry]]
    beside: bool
    """Whether another scheduler serves default-scheduler: no profile has that name, or the lease is not the default one."""


class _Profile(NamedTuple):
    """written: the profile as written in the document; args: plugin -> its arguments, completed; runs: point -> {plugin: weight}."""

    index: int  # type: ignore[assignment]  # hides the method of tuples, which is never called
    path: Path
    written: Mapping[str, Any]
    args: Mapping[str, Any]
    runs: Mapping[str, Mapping[str, int]]

    def listed(self, point: str, which: str = "enabled") -> Iterator[tuple[Path, str, Mapping[str, Any]]]:
        """The plugins that the document lists at a point: path, name, entry."""
        plugin_set = as_mapping(as_mapping(self.written.get("plugins")).get(point))
        for index, entry in enumerate(as_list(plugin_set.get(which))):
            if isinstance(entry, dict) and isinstance(entry.get("name"), str):
                yield (*self.path, "plugins", point, which, index), entry["name"], entry

    def names(self, point: str, which: str = "enabled") -> dict[str, Mapping[str, Any]]:
        return {name: entry for _path, name, entry in self.listed(point, which)}

    def place(self, name: str, which: str = "enabled") -> Path:
        """Where the document lists a plugin, at whichever point."""
        for point in as_mapping(self.written.get("plugins")):
            for path, listed, _entry in self.listed(point, which):
                if listed == name:
                    return (*path, "name")
        return (*self.path, "plugins") if "plugins" in self.written else self.path


def advise(
    config: dict[str, Any], root: Node, version: str, target: Target, built: Any, report: Report, placeholders: Sequence[str]
) -> None:
    """Report warnings. If errors were found, there are no warnings about the plugins that run, which can be a consequence of them."""
    names = [profile.get("schedulerName") for profile in config.get("profiles") or ()]
    election = config.get("leaderElection") or {}
    lease = (election.get("resourceNamespace"), election.get("resourceName"))
    beside = DEFAULT_SCHEDULER not in names or (bool(election.get("leaderElect")) and lease != table.DEFAULT_LEASE)
    written = root.value if isinstance(root.value, dict) else {}
    case = _Case(config, written, version, target, built, report, registry(target), defaults(version, target), beside)
    _deprecated_version(case)
    _scheduler_names(case, names)
    _leader_election(case)
    _connection(case)
    _numbers(case)
    _texts(case, root, placeholders)
    for index, extender in enumerate(config.get("extenders") or ()):
        _extender(case, extender, ("extenders", index))
    _ignored_resources(case)
    for profile in _profiles(case):
        _without_effect(case, profile)
        _weights(case, profile)
        _arguments(case, profile)
        if profile.runs and not report.has_error():
            _what_runs(case, profile)


def _profiles(case: _Case) -> Iterator[_Profile]:
    written = as_list(case.written.get("profiles"))
    errors = case.report.has_error()
    for index, profile in enumerate(case.config.get("profiles") or ()):
        own = as_mapping(written[index]) if index < len(written) else {}
        args = {entry.get("name"): as_mapping(entry.get("args")) for entry in profile.get("pluginConfig") or ()}
        effective = {} if errors else case.built.effective.get(profile.get("schedulerName")) or {}
        runs = {point: dict(listed) for point, listed in effective.items()}
        yield _Profile(index, ("profiles", index), own, args, runs)


# The document as a whole


def _deprecated_version(case: _Case) -> None:
    since = DEPRECATED_SINCE.get(case.version)
    if since is None or case.target.minor < since:
        return
    last = API_VERSIONS[case.version][1]
    message = f"{case.version} is deprecated since Kubernetes 1.{since}; 1.{last} is the last to read it"
    newest = case.target.served[-1]
    case.report.warning("deprecated-version", ("apiVersion",), message, f"convert the document to {newest}")


def _scheduler_names(case: _Case, names: list[Any]) -> None:
    if not case.beside or DEFAULT_SCHEDULER not in names:
        return
    index = names.index(DEFAULT_SCHEDULER)
    message = (
        f"the name is {DEFAULT_SCHEDULER}, but a lease of its own shows that this scheduler runs beside the default one:"
        " both place the same pods"
    )
    case.report.warning("name-collision", ("profiles", index, "schedulerName"), message, "give the profile a name of its own")


def _leader_election(case: _Case) -> None:
    election = case.config.get("leaderElection") or {}
    own = as_mapping(case.written.get("leaderElection"))
    overriding = flags.overriding(case.target)
    for name, value in own.items():
        if name in overriding and value is not None and not _equal(value, election.get(name)):
            message = f"without effect: the flag --{overriding[name]} overrides it"
            case.report.warning("overridden-by-flag", ("leaderElection", name), message, "remove the field, or change the flag")
    lease = (election.get("resourceNamespace"), election.get("resourceName"))
    names = [profile.get("schedulerName") for profile in case.config.get("profiles") or ()]
    if election.get("leaderElect") and lease == table.DEFAULT_LEASE and DEFAULT_SCHEDULER not in names:
        message = "the lease kube-scheduler in kube-system belongs to the default scheduler: this one waits for it forever, or acquires it"
        hint = "set resourceName and resourceNamespace to a lease of its own, or leaderElect: false for a single replica"
        path = ("leaderElection", "resourceName") if "resourceName" in own else ("leaderElection",)
        case.report.warning("lease-collision", path, message, hint)


def _equal(written: Any, value: Any) -> bool:
    if isinstance(value, Duration) and isinstance(written, str):
        try:
            return Duration.parse(written) == value
        except ValueError:
            return True  # reported as an error
    return bool(written == value)


def _connection(case: _Case) -> None:
    path = as_mapping(case.written.get("clientConnection")).get("kubeconfig")
    if isinstance(path, str) and path and case.beside and not _is_placeholder(path):
        message = "the file must be there where the scheduler runs; a pod has it only by a mount, and ends at once without it"
        case.report.warning("kubeconfig", ("clientConnection", "kubeconfig"), message, "remove it: a pod uses its service account")


def _numbers(case: _Case) -> None:
    _percentage(case, case.written, ())
    for index, profile in enumerate(as_list(case.written.get("profiles"))):
        _percentage(case, as_mapping(profile), ("profiles", index))
    threads = case.written.get("parallelism")
    if _is_number(threads) and threads > table.LARGE_PARALLELISM:
        message = f"{threads} goroutines at once: more than twice the number of cores only adds waiting"
        case.report.warning("parallelism", ("parallelism",), message, "16 is the default")
    seconds = case.written.get("podMaxBackoffSeconds")
    if _is_number(seconds) and seconds > table.LONG_BACKOFF_SECONDS:
        message = f"a pod that could not be placed may wait {seconds} seconds for the next attempt"
        case.report.warning("long-backoff", ("podMaxBackoffSeconds",), message, "10 is the default")


def _percentage(case: _Case, values: Mapping[str, Any], path: Path) -> None:
    percentage = values.get("percentageOfNodesToScore")
    if not _is_number(percentage):
        return
    if percentage == 100:
        message = "every node is looked at for every pod, which takes long in a large cluster"
    elif 0 < percentage < table.FEW_NODES_PERCENT:
        message = f"{percentage}: among so few nodes the best ones are seldom found"
    else:
        return
    hint = "leave it out: then 50% are looked at in small clusters and down to 5% in large ones, and never less than 100 nodes"
    case.report.warning("percentage-extreme", (*path, "percentageOfNodesToScore"), message, hint)


# Texts anywhere in the document


_PLACEHOLDER = re.compile(
    r"\$\{[^}]+\} | \$\([^)]+\) | \{\{.+\}\} | \A\s*<[^<>\n]+>\s*\Z | (?:replace|change)[_-]?me(?![a-z])", re.IGNORECASE | re.VERBOSE
)
_INVISIBLE = "\u00a0\u200b\u200c\u200d\u2060\ufeff"


def _texts(case: _Case, root: Node, filled: Sequence[str]) -> None:
    stack: list[tuple[Path, Node]] = [((), root)]
    seen: set[int] = set()
    while stack:
        path, node = stack.pop()
        if id(node) in seen:  # an alias: the place of its anchor is enough
            continue
        seen.add(id(node))
        children: Iterable[tuple[int | str, Node]] = enumerate(node.items or ())
        if node.entries is not None:
            children = ((key, child) for key, (_place, child) in node.entries.items())
        for key, child in children:
            if child.entries is not None or child.items is not None:
                stack.append(((*path, key), child))
            elif isinstance(child.value, str):
                _text(case, (*path, key), child.value, filled)


def _text(case: _Case, path: Path, text: str, filled: Sequence[str]) -> None:
    unfilled = text
    for name in filled:
        unfilled = unfilled.replace(name, "")
    if _is_placeholder(unfilled):
        message = "holds a placeholder without a value; kube-scheduler uses it literally"
        case.report.warning("placeholder", path, message, "write the value that is meant")
    if not text.isascii() and any(character in text for character in _INVISIBLE):
        message = "holds an invisible character (such as U+00A0, no-break space), as copied from a web page"
        case.report.warning("invisible-character", path, message, "type the text again")


def _is_placeholder(text: str) -> bool:
    return _PLACEHOLDER.search(text) is not None


# Extenders


def _extender(case: _Case, extender: Mapping[str, Any], path: Path) -> None:
    def warn(code: str, name: str, message: str, hint: str) -> None:
        case.report.warning(code, (*path, name) if name else path, message, hint)

    tls = extender.get("tlsConfig") or {}
    url = extender.get("urlPrefix") or ""
    verbs = [name for name in ("filterVerb", "preemptVerb", "prioritizeVerb", "bindVerb") if extender.get(name)]
    if not verbs:
        warn(
            "extender-unused",
            "",
            "no verb is set: kube-scheduler never calls the extender",
            "set filterVerb, prioritizeVerb, preemptVerb or bindVerb",
        )
    elif not url.startswith((INSECURE, SECURE)):
        warn(
            "extender-address",
            "urlPrefix",
            "is no http or https address: every request to the extender fails",
            "write https://HOST:PORT/PATH",
        )
    if tls.get("insecure"):
        warn("tls-off", "tlsConfig", "insecure: the certificate of the extender is not verified", "give caData or caFile instead")
    elif extender.get("enableHTTPS") and not tls.get("caData") and not tls.get("caFile"):
        message = "without a CA the certificate of the extender is not verified"
        warn("tls-off", "enableHTTPS", message, "give tlsConfig.caData or tlsConfig.caFile")
    if url.startswith(INSECURE) and (extender.get("enableHTTPS") or tls):
        warn(
            "tls-off", "urlPrefix", "pods and nodes are sent in clear text: TLS is configured, but the address is http://", "write https://"
        )
    if tls.get("keyData"):
        message = "a private key in clear text: whoever reads the configuration has it"
        case.report.warning("secret-in-clear", (*path, "tlsConfig", "keyData"), message, "mount a Secret and name its file in keyFile")
    _credential_in_address(case, url, (*path, "urlPrefix"), "identify the scheduler by tlsConfig.certFile and keyFile instead")
    timeout = extender.get("httpTimeout") or 0
    if timeout > table.LONG_EXTENDER_TIMEOUT_SECONDS * 10**9:
        message = f"{timeout}: an extender that does not answer delays every pod by this time"
        warn("extender-timeout", "httpTimeout", message, "a few seconds; 5s is the default")


def _ignored_resources(case: _Case) -> None:
    """Since 1.22 the resources that an extender takes over replace the list in the arguments of NodeResourcesFit."""
    taken_over = [
        resource
        for extender in case.config.get("extenders") or ()
        for resource in extender.get("managedResources") or ()
        if resource.get("ignoredByScheduler")
    ]
    if not taken_over or case.target.minor < 22:
        return
    for index, profile in enumerate(as_list(case.written.get("profiles"))):
        for number, entry in enumerate(as_list(as_mapping(profile).get("pluginConfig"))):
            args = as_mapping(as_mapping(entry).get("args"))
            if as_mapping(entry).get("name") == "NodeResourcesFit" and args.get("ignoredResources"):
                path = ("profiles", index, "pluginConfig", number, "args", "ignoredResources")
                message = "without effect: the resources that extenders ignore (ignoredByScheduler) replace this list"
                case.report.warning("ignored-field", path, message, "add the resources to managedResources of an extender, or to none")


# A profile: what has no effect


def _without_effect(case: _Case, profile: _Profile) -> None:
    ignored = {"v1beta2": (MULTI_POINT, "preEnqueue"), "v1beta3": ("preEnqueue",)}.get(case.version, ())
    for point in ignored:
        if profile.names(point) or profile.names(point, "disabled"):
            path = (*profile.path, "plugins", point)
            case.report.warning("ignored-field", path, f"without effect: {case.version} reads it and ignores it", "v1 uses it", at_key=True)
    for point in as_mapping(profile.written.get("plugins")):
        disabled = profile.names(point, "disabled")
        if not disabled or ALL in disabled or point in ignored:
            continue
        enabled = profile.names(point)
        for path, name, _entry in profile.listed(point, "disabled"):
            if name not in enabled and not _runs_by_default(case, profile, point, name):
                _dead_disable(case, path, point, name)
    _unused_config(case, profile)


def _runs_by_default(case: _Case, profile: _Profile, point: str, name: str) -> bool:
    """Whether a plugin would run at a point if it were not disabled there, or would with another feature gate."""
    known = case.plugins.get(name)
    if known is None:
        return False
    gated = {row.point for row in DEFAULTS if row.name == name and row.gate and case.version in row.versions.split()}
    listed = gated | {where for where, entries in case.defaults.items() if any(entry["name"] == name for entry in entries)}
    if case.version in ("v1beta3", "v1") and name in profile.names(MULTI_POINT) and point != MULTI_POINT:
        listed.add(MULTI_POINT)
    return point in listed or (MULTI_POINT in listed and point in known.points)


def _dead_disable(case: _Case, path: Path, point: str, name: str) -> None:
    known = case.plugins.get(name)
    if known is None and name in table.REPLACED_BY_FIT:
        message = f"{name} is no plugin any more; NodeResourcesFit still does its scoring"
        hint = "disable NodeResourcesFit at score instead"
    elif known is None:
        message = f"{name} is no plugin of this kube-scheduler: nothing is disabled"
        hint = did_you_mean(name, case.plugins, "remove the entry")
    elif point != MULTI_POINT and point not in known.points:
        message = f"{name} has nothing to do with {point}: nothing is disabled"
        hint = f"it works at {', '.join(known.points)}"
    else:
        message = f"{name} does not run here by default: nothing is disabled"
        hint = "remove the entry"
    case.report.warning("disabled-without-effect", (*path, "name"), message, hint)


def _unused_config(case: _Case, profile: _Profile) -> None:
    for index, entry in enumerate(as_list(profile.written.get("pluginConfig"))):
        name = as_mapping(entry).get("name")
        path = (*profile.path, "pluginConfig", index)
        if not isinstance(name, str) or case.report.has_error((*path, "name")) or case.report.has_error(path):
            continue
        known = case.plugins.get(name)
        if known is None:
            message = f"{name} is no plugin of this kube-scheduler: its arguments are ignored"
            hint = did_you_mean(name, case.plugins, "remove the entry")
        elif known.origin != "custom" and args_kind(name, case.version, case.target) is None:
            message = f"{name} takes no arguments: they are ignored"
            hint = "remove the entry"
        elif not case.report.has_error() and name not in _built(case, profile):
            message = f"{name} runs nowhere in this profile: its arguments are ignored"
            hint = "enable the plugin, or remove the entry"
        else:
            continue
        case.report.warning("unused-args", (*path, "name"), message, hint)


def _built(case: _Case, profile: _Profile) -> Any:
    plugins = case.built.plugins
    return plugins[profile.index] if profile.index < len(plugins) else ()


# A profile: weights


def _weights(case: _Case, profile: _Profile) -> None:
    by_default = {
        entry["name"]: entry["weight"] for point in (MULTI_POINT, "score") for entry in case.defaults.get(point, ()) if entry.get("weight")
    }
    everywhere = profile.names(MULTI_POINT) if case.version in ("v1beta3", "v1") else {}
    at_score = profile.names("score")
    for point in as_mapping(profile.written.get("plugins")):
        for path, name, entry in profile.listed(point):
            weight = entry.get("weight")
            if point not in ("score", "placementScore", MULTI_POINT):
                if _is_number(weight) and weight:
                    case.report.warning("ignored-weight", (*path, "weight"), f"without effect: nothing is weighted at {point}", "remove it")
                continue
            if point == MULTI_POINT and (name in at_score or case.version not in ("v1beta3", "v1")):
                continue
            if weight is None:
                _reset_weight(case, path, name, by_default.get(name, 1), name in everywhere and point == "score")
            elif weight == 0:
                case.report.warning(
                    "weight-zero", (*path, "weight"), "0 counts as 1", "disable the plugin, or write the weight that is meant"
                )
            elif _is_number(weight) and weight < 0 and not case.report.has_error():
                message = "a negative weight: the nodes that the plugin likes best become the worst"
                case.report.warning("weight-negative", (*path, "weight"), message, "write a positive weight")
        for path, name, entry in profile.listed(point, "disabled"):
            if entry.get("weight"):
                case.report.warning("ignored-weight", (*path, "weight"), f"without effect: {name} is disabled", "remove it")
    for path, name, entry in profile.listed("score"):
        other = everywhere.get(name, {}).get("weight")
        if other and other != (entry.get("weight") or 1):
            message = f"{name} has the weight {entry.get('weight') or 1} here and {other} under multiPoint: this one counts"
            case.report.warning("two-weights", path, message, "give it in one place")


def _reset_weight(case: _Case, path: Path, name: str, weight: int, listed_twice: bool) -> None:
    if weight > 1 and not listed_twice:
        message = f"{name} replaces the default entry: its weight falls from {weight} to 1"
        case.report.warning("reset-weight", (*path, "name"), message, f"add weight: {weight} to keep it, or weight: 1 if that is meant")


# A profile: arguments


def _arguments(case: _Case, profile: _Profile) -> None:
    for index, entry in enumerate(as_list(profile.written.get("pluginConfig"))):
        name = as_mapping(entry).get("name")
        written = as_mapping(as_mapping(entry).get("args"))
        path = (*profile.path, "pluginConfig", index, "args")
        if "metricProvider" in written:
            _metric_provider(case, as_mapping(written["metricProvider"]), (*path, "metricProvider"))
        _ranges(case, name, written, path)
        if name == "PodTopologySpread":
            _spreading(case, profile, written, path)
        strategy = as_mapping(written.get("scoringStrategy")) if name == "NodeResourcesFit" and case.target.minor <= 35 else {}
        if strategy.get("requestedToCapacityRatio") is not None and strategy.get("type") != "RequestedToCapacityRatio":
            message = "without effect: the strategy has another type; 1.36 and later reject it"
            where = (*path, "scoringStrategy", "requestedToCapacityRatio")
            case.report.warning("ignored-field", where, message, "set type: RequestedToCapacityRatio, or remove it", at_key=True)


def _spreading(case: _Case, profile: _Profile, written: Mapping[str, Any], path: Path) -> None:
    """Constraints that count nodes on which addedAffinity places no pod (podtopologyspread/filtering.go regards the affinity of the pod alone)."""
    if not as_mapping(profile.args.get("NodeAffinity", {}).get("addedAffinity")).get("requiredDuringSchedulingIgnoredDuringExecution"):
        return
    for number, constraint in enumerate(as_list(written.get("defaultConstraints"))):
        if as_mapping(constraint).get("whenUnsatisfiable") == "DoNotSchedule":
            message = (
                "also counts nodes outside of the addedAffinity of NodeAffinity: if a domain has nodes there only, pods stay pending, because it never"
                " gets any"
            )
            hint = "write ScheduleAnyway, or give the pods the node affinity themselves"
            case.report.warning("spread-beyond-affinity", (*path, "defaultConstraints", number, "whenUnsatisfiable"), message, hint)


def _ranges(case: _Case, name: Any, written: Mapping[str, Any], path: Path) -> None:
    """Numbers that kube-scheduler accepts, and then replaces or fails with at every pod."""
    for field, (lowest, highest) in (table.RANGES.get(name, {}) if isinstance(name, str) else {}).items():
        value = written.get(field)
        numbers = {(field, key): number for key, number in value.items()} if isinstance(value, Mapping) else {(field,): value}
        for place, number in numbers.items():
            if not isinstance(number, (int, float)) or isinstance(number, bool) or lowest <= number <= highest:
                continue
            message = "kube-scheduler uses the default instead, without a message"
            if field == "targetUtilization" and number > highest:
                message = "the plugin computes scores above 100, which are errors: no pod is placed"
            hint = f"give a number from {lowest} to {highest}" if highest < math.inf else f"give {lowest} or more"
            case.report.warning("out-of-range", (*path, *place), message, hint)


def _metric_provider(case: _Case, provider: Mapping[str, Any], path: Path) -> None:
    token = provider.get("token")
    if isinstance(token, str) and token and not _is_placeholder(token):
        message = "a token in clear text: whoever reads the configuration, or the scheduler's log at -v=2, has it"
        case.report.warning(
            "secret-in-clear", (*path, "token"), message, "keep the configuration in a Secret, and let the token be short-lived"
        )
    address = provider.get("address")
    address = address if isinstance(address, str) else ""
    _credential_in_address(case, address, (*path, "address"), "give a token instead")
    if provider.get("type") != "Prometheus":
        return
    if token and (not address or address.startswith(INSECURE)):
        message = "the token is sent over http, in clear text"
        where = (*path, "address") if address else path
        case.report.warning("token-over-http", where, message, "give an https:// address")
    if not address.startswith(SECURE) or case.target.minor < 23:
        return
    verify = provider.get("insecureSkipVerify")
    if verify is True and not token:
        # NewPromClient of load-watcher (metricsprovider/prometheus.go) makes the client without its transport then.
        message = "has no effect without a token: load-watcher verifies the certificate of Prometheus"
        case.report.warning(
            "tls-on", (*path, "insecureSkipVerify"), message, "give a token, or trust the authority of Prometheus in the image"
        )
    elif verify is True:
        message = "the certificate of Prometheus is not verified"
        case.report.warning("tls-off", (*path, "insecureSkipVerify"), message, "write insecureSkipVerify: false")
    elif verify is None and token:
        message = "insecureSkipVerify is true unless it is set: the certificate of Prometheus is not verified"
        case.report.warning("tls-off", path, message, "add insecureSkipVerify: false")


# A profile: what runs


def _what_runs(case: _Case, profile: _Profile) -> None:
    _twice(case, profile)
    _lost_filters(case, profile)
    _halves(case, profile)
    _preemption(case, profile)
    _trimaran(case, profile)
    _gangs_without_gate(case, profile)
    _devices_without_gate(case, profile)


def _gangs_without_gate(case: _Case, profile: _Profile) -> None:
    """Seen of 1.37: the plugin holds back each pod of a group until the group is known, and without the gate no group is ever read."""
    gate = table.GANG_GATE
    if (
        case.target.minor >= table.GANG_GATE_SINCE
        and table.GANGS in profile.runs.get("preEnqueue", {})
        and not flags.feature_gates(case.target)[gate]
    ):
        message = f"without the feature gate {gate}, {table.GANGS} keeps the pods of every PodGroup pending and reports no reason"
        case.report.warning(
            "gang-gate", profile.place(table.GANGS), message, f"add --feature-gates={gate}=true to the flags of the scheduler"
        )


def _devices_without_gate(case: _Case, profile: _Profile) -> None:
    """Without its gate, the constructor returns a plugin that does nothing."""
    gate = table.ALLOCATION_GATE
    if table.ALLOCATION in profile.runs.get("preFilter", {}) and not flags.feature_gates(case.target).get(gate, True):
        message = f"without the feature gate {gate}, {table.ALLOCATION} does nothing: pods are placed without the devices that they claim"
        case.report.warning(
            "dra-gate", profile.place(table.ALLOCATION), message, f"add --feature-gates={gate}=true to the flags of the scheduler"
        )


def _twice(case: _Case, profile: _Profile) -> None:
    """1.23 to 1.25 register plugins twice where three or more of multiPoint are listed at a point."""
    if not 23 <= case.target.minor <= 25:
        return
    effective = case.built.effective[case.config["profiles"][profile.index]["schedulerName"]]
    for point, listed in effective.items():
        names = [name for name, _weight in listed]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            message = f"{', '.join(twice)} runs twice here, by a mistake of Kubernetes 1.23 to 1.25 with three and more entries"
            hint = "add disabled: [{name: '*'}] and list all plugins of the point"
            case.report.warning("runs-twice", (*profile.path, "plugins", point, "enabled"), message, hint, at_key=True)


def _lost_filters(case: _Case, profile: _Profile) -> None:
    filters = profile.runs.get("filter", {})
    if "NodeResourcesFit" not in filters:
        message = "NodeResourcesFit does not filter: pods are placed on nodes without room for them, and kubelet rejects them"
        hint = (
            "disable it at score only" if "NodeResourcesFit" not in profile.runs.get("score", {}) else "enable it at filter and preFilter"
        )
        case.report.warning("fit-disabled", _disabled_at(profile, "NodeResourcesFit", "filter"), message, hint)
    lost: dict[Path, list[str]] = {}
    for name in table.SECURING:
        if name not in filters:
            lost.setdefault(_disabled_at(profile, name, "filter"), []).append(name)
    for path, names in lost.items():
        message = "; ".join(f"without {name} {table.SECURING[name]}" for name in names)
        case.report.warning("lost-filter", path, message, f"enable {', '.join(names)} at filter again")


def _disabled_at(profile: _Profile, name: str, point: str) -> Path:
    for where in (point, MULTI_POINT):
        for path, listed, _entry in profile.listed(where, "disabled"):
            if listed in (name, ALL):
                return (*path, "name")
    return profile.path


def _halves(case: _Case, profile: _Profile) -> None:
    for row in table.NEEDS:
        if not row.since <= case.target.minor or (row.until is not None and case.target.minor > row.until):
            continue
        if row.point == "*":
            at_work = [point for point in points(case.target.minor) if point != "queueSort" and row.plugin in profile.runs.get(point, {})]
        else:
            at_work = [row.point] if row.plugin in profile.runs.get(row.point, {}) else []
        known = case.plugins.get(row.plugin)
        missing = (
            [point for point in row.others.split() if row.plugin not in profile.runs.get(point, {}) and point in known.points]
            if known
            else []
        )
        if at_work and missing:
            message = f"{row.plugin} runs at {', '.join(at_work)} but not at {', '.join(missing)}: {row.otherwise}"
            hint = f"enable it at {', '.join(missing)}, too"
            disabled = _disabled_at(profile, row.plugin, missing[0])
            path = disabled if disabled != profile.path else profile.place(row.plugin)
            case.report.warning("partly-enabled", path, message, hint)


def _preemption(case: _Case, profile: _Profile) -> None:
    running = profile.runs.get("postFilter", {})
    own = [name for name in running if name in table.OWN_PREEMPTION]
    if own and "DefaultPreemption" in running:
        message = f"{own[0]} preempts pods by its own rules, and DefaultPreemption by others: both run"
        case.report.warning("two-preemptions", profile.place(own[0]), message, "disable DefaultPreemption at postFilter")


def _trimaran(case: _Case, profile: _Profile) -> None:
    scores = profile.runs.get("score", {})
    chosen = [name for name in scores if name in table.TRIMARAN]
    if len(chosen) > 1:
        message = f"{' and '.join(chosen)} score by contradicting goals"
        case.report.warning("contrary-scores", profile.place(chosen[1]), message, "keep one of them in a profile")
    for name in chosen[:1]:
        contrary = [other for other in table.CONTRARY.get(name, ()) if other in scores]
        strategy = as_mapping(profile.args.get("NodeResourcesFit", {}).get("scoringStrategy")).get("type", "LeastAllocated")
        if strategy != "LeastAllocated" and "NodeResourcesFit" in contrary:
            contrary.remove("NodeResourcesFit")
        if contrary:
            message = f"{name} scores by the load that is measured, {' and '.join(contrary)} against it by what pods request"
            hint = f"disable {' and '.join(contrary)} at score"
            case.report.warning("contrary-scores", profile.place(name), message, hint)


# Helpers


def _credential_in_address(case: _Case, address: str, path: Path, hint: str) -> None:
    if credentials_in(address, OF_ADDRESSES):
        message = "a credential in clear text: whoever reads the configuration has it, and errors in the scheduler's log repeat a parameter such as ?token="
        case.report.warning("secret-in-clear", path, message, hint)


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
