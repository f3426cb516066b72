# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rules for the arguments of plugins.

A rule yields ``(path within the arguments, code, message, hint)``. No message holds a value out of the arguments.
Sources: pkg/scheduler/apis/config/validation/validation_pluginargs.go and the plugins' constructors of Kubernetes,
component-helpers/scheduling/corev1/nodeaffinity, apis/config/validation and pkg/ of scheduler-plugins, load-watcher.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from . import strconv
from .flags import feature_gates
from .report import Path
from .tables import rules
from .target import Target
from .value_syntax import label_value, qualified_name

Problem = tuple[Path, str, str, str]
"""Path within the arguments, code, message, hint."""

_T = TypeVar("_T")
_SECOND = 10**9
_LABEL_HINT = "a name such as topology.kubernetes.io/zone"


def at(minor: int, table: Mapping[int, _T]) -> _T:
    """What a table whose keys are minors ("from this one on") says about a minor."""
    return table[max(since for since in table if since <= minor)]


def checked_in_profile(plugin: str, target: Target) -> bool:
    """Whether the arguments are checked with the configuration, so that it does not matter whether the plugin is enabled."""
    return any(plugin == name and first <= target.minor <= last for name, first, last in rules.CHECKED_IN_PROFILE)


def errors(plugin: str, args: Mapping[str, Any], version: str, target: Target) -> list[Problem]:
    """What is wrong with arguments that have a type (``decode.registered``), defaults filled in."""
    rule = _RULES.get(plugin)
    return list(rule(args, target)) if rule else []


def constructor_errors(plugin: str, args: Any, version: str, target: Target) -> list[Problem]:
    """What a plugin refuses when it is built with these arguments: all that ``validation`` has not found before.

    args: as after defaulting; anything but a mapping where the plugin has no type of arguments.
    """
    if not isinstance(args, dict) or checked_in_profile(plugin, target):
        return []
    return errors(plugin, args, version, target)


def second_watchers(instances: Iterable[tuple[_T, str, Any]]) -> list[tuple[_T, str, str]]:
    """Plugins that cannot be built because another one already watches the load in this process.

    instances: (anything that identifies the instance, plugin, args) of all profiles.
    Returns (identity, message, hint). kube-scheduler ends with "panic: ... conflicts with pattern" on /watcher.
    """
    watching = [
        identity
        for identity, plugin, args in instances
        if plugin in rules.LIBRARY_PLUGINS and isinstance(args, dict) and not args.get("watcherAddress")
    ]
    message = "watches the load itself, as another plugin or profile already does: kube-scheduler crashes at start"
    hint = "give all but one of these plugins a watcherAddress, that of a load-watcher service"
    return [(identity, message, hint) for identity in watching[1:]]


# --- in-tree plugins ---


def _default_preemption(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    percentage, absolute = args.get("minCandidateNodesPercentage", 0), args.get("minCandidateNodesAbsolute", 0)
    if not 0 <= percentage <= 100:
        yield _range("minCandidateNodesPercentage", "[0, 100]")
    if absolute < 0:
        yield _range("minCandidateNodesAbsolute", "[0, inf)")
    if percentage == 0 and absolute == 0:
        for name, other in (("Percentage", "Absolute"), ("Absolute", "Percentage")):
            message = f"cannot be zero at the same time as minCandidateNodes{other}"
            yield (f"minCandidateNodes{name}",), "invalid-value", message, "make one of the two positive"


def _inter_pod_affinity(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    if not 0 <= args.get("hardPodAffinityWeight", 0) <= 100:
        yield _range("hardPodAffinityWeight", "[0, 100]")


def _node_affinity(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    affinity = args.get("addedAffinity") or {}
    required = ("addedAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    preferred = ("addedAffinity", "preferredDuringSchedulingIgnoredDuringExecution")
    for index, term in enumerate((affinity.get(required[1]) or {}).get("nodeSelectorTerms") or ()):
        yield from _node_selector_term(term, (*required, "nodeSelectorTerms", index))
    for index, preference in enumerate(affinity.get(preferred[1]) or ()):
        if preference.get("weight"):
            yield from _node_selector_term(preference.get("preference") or {}, (*preferred, index, "preference"))


_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


def _node_selector_term(term: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    for index, requirement in enumerate(term.get("matchExpressions") or ()):
        yield from _label_requirement(requirement, (*path, "matchExpressions", index))
    for index, requirement in enumerate(term.get("matchFields") or ()):
        within = (*path, "matchFields", index)
        if requirement.get("operator") not in ("In", "NotIn"):
            yield _unsupported((*within, "operator"), ("In", "NotIn"))
        elif len(requirement.get("values") or ()) != 1:
            yield (*within, "values"), "invalid-value", "must have one element", "give exactly one value"


def _label_requirement(requirement: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    operator, values = requirement.get("operator"), requirement.get("values") or ()
    if operator not in _OPERATORS:
        yield _unsupported((*path, "operator"), _OPERATORS)
        return
    yield from _name((*path, "key"), requirement.get("key", ""))
    within = (*path, "values")
    if operator in ("In", "NotIn") and not values:
        yield within, "invalid-value", "for In and NotIn the values can't be empty", "give at least one value, or use Exists"
    if operator in ("Exists", "DoesNotExist") and values:
        yield within, "invalid-value", "for Exists and DoesNotExist there must be no values", "remove them, or use In"
    if operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield within, "invalid-value", "for Gt and Lt exactly one value is required", "give one integer, as a string"
        for index, value in enumerate(values):
            if not _parses(strconv.parse_int, value):
                yield (*within, index), "invalid-value", "for Gt and Lt the value must be an integer", 'write it as a string: "16"'
    for index, value in enumerate(values):
        for problem in label_value(value):
            yield (*within, index), "invalid-value", problem, "a value that a node's label can have"


def _balanced_allocation(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, resource in enumerate(args.get("resources") or ()):
        name = resource.get("name", "")
        if name in seen:
            yield ("resources", index, "name"), "duplicate", "is listed twice", "list each resource once"
        seen.add(name)
        if resource.get("weight", 0) != 1:
            yield ("resources", index, "weight"), "out-of-range", "must be 1", "remove it: this plugin knows no other weight"


def _fit(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    for index, name in enumerate(args.get("ignoredResources") or ()):
        yield from _name(("ignoredResources", index), name, "a name such as example.com/gpu")
    for index, group in enumerate(args.get("ignoredResourceGroups") or ()):
        if "/" in group:
            message = "resource group name can't contain '/'"
            yield ("ignoredResourceGroups", index), "invalid-value", message, "remove the slash and what follows: example.com"
        yield from _name(("ignoredResourceGroups", index), group, "a name such as example.com")
    strategy = args.get("scoringStrategy")
    if strategy is not None and target.minor >= 22:
        yield from _fit_strategy(strategy, target)


_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")


def _fit_strategy(strategy: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    within = ("scoringStrategy",)
    ratio = (*within, "requestedToCapacityRatio")
    if strategy.get("type") not in _STRATEGIES:
        yield _unsupported((*within, "type"), _STRATEGIES)
    yield from _weights(strategy.get("resources") or (), (*within, "resources"), 100)
    block = strategy.get("requestedToCapacityRatio")
    needed = strategy.get("type") == "RequestedToCapacityRatio"
    by_type = at(target.minor, rules.RATIO_BY_TYPE)
    if needed and block is None:
        message = "must be specified when type is RequestedToCapacityRatio"
        if not by_type:
            message += ": kube-scheduler crashes at start"
        yield ratio, "required", message, "add requestedToCapacityRatio.shape with at least one point {utilization, score}"
    elif block is not None and by_type and not needed:
        message = "must be absent when type is not RequestedToCapacityRatio"
        yield ratio, "invalid-value", message, "remove it, or set type: RequestedToCapacityRatio"
    elif block is not None and (block.get("shape") or not at(target.minor, rules.EMPTY_SHAPE_PASSES)):
        yield from _shape(block.get("shape"), (*ratio, "shape"), target)


def _least_or_most_allocated(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    yield from _weights(args.get("resources") or (), ("resources",), 100)


def _capacity_ratio(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    yield from _shape(args.get("shape"), ("shape",), target)
    yield from _weights(args.get("resources") or (), ("resources",), None)


def _weights(resources: Sequence[Mapping[str, Any]], path: Path, most: int | None) -> Iterator[Problem]:
    allowed = f"(0, {most}]" if most is not None else "[1, inf)"
    for index, resource in enumerate(resources):
        weight = resource.get("weight", 0)
        if weight <= 0 or (most is not None and weight > most):
            message = f"resource weight not in valid range {allowed}"
            yield (*path, index, "weight"), "out-of-range", message, "give a weight in this range"


def _shape(points: Sequence[Mapping[str, Any]] | None, path: Path, target: Target) -> Iterator[Problem]:
    if not points:
        yield path, "required", "at least one point must be specified", "for example {utilization: 0, score: 0}"
        return
    utilizations = [point.get("utilization", 0) for point in points]
    for index in range(1, len(points)):
        if utilizations[index - 1] >= utilizations[index]:
            words = at(target.minor, rules.SHAPE_WORDS)
            yield (*path, index, "utilization"), "invalid-value", words, "order the points by utilization"
            break
    for index, point in enumerate(points):
        if not 0 <= utilizations[index] <= 100:
            yield _range((*path, index, "utilization"), "[0, 100]")
        if not 0 <= point.get("score", 0) <= 10:
            yield _range((*path, index, "score"), "[0, 10]")


def _node_label(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    for suffix in ("", "Preference"):
        present = {label: index for index, label in enumerate(args.get(f"presentLabels{suffix}") or ())}
        for index, label in enumerate(args.get(f"absentLabels{suffix}") or ()):
            if label in present:
                message = f"conflict with absentLabels{suffix}[{index}]"
                yield (f"presentLabels{suffix}", present[label]), "invalid-value", message, "remove one of the two"


def _topology_spread(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    constraints = args.get("defaultConstraints") or ()
    defaulting = args.get("defaultingType")
    if defaulting not in ("System", "List"):
        yield _unsupported(("defaultingType",), ("System", "List"))
    elif defaulting == "System" and constraints:
        message = "is System, which excludes defaultConstraints"
        yield ("defaultingType",), "invalid-value", message, "add defaultingType: List, or remove the constraints"
    seen: set[tuple[str, str]] = set()
    for index, constraint in enumerate(constraints):
        path = ("defaultConstraints", index)
        key, action = constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")
        if constraint.get("maxSkew", 0) <= 0:
            yield _range((*path, "maxSkew"), "(0, inf)")
        if key:
            yield from _name((*path, "topologyKey"), key)
        else:
            yield (*path, "topologyKey"), "required", "can not be empty", _LABEL_HINT
        if not action:
            yield (*path, "whenUnsatisfiable"), "required", "can not be empty", "DoNotSchedule or ScheduleAnyway"
        elif action not in ("DoNotSchedule", "ScheduleAnyway"):
            yield _unsupported((*path, "whenUnsatisfiable"), ("DoNotSchedule", "ScheduleAnyway"))
        if constraint.get("labelSelector") is not None:
            message = "constraint must not define a selector, as it is deduced for each pod"
            yield (*path, "labelSelector"), "invalid-value", message, "remove it"
        if (key, action) in seen:
            message = "has the topologyKey and whenUnsatisfiable of another constraint"
            yield path, "duplicate", message, "keep one of the two"
        seen.add((key, action))


def _volume_binding(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    if args.get("bindTimeoutSeconds", 0) < 0:
        yield _range("bindTimeoutSeconds", "[0, inf)")
    if target.minor < 22:
        return
    gate = at(target.minor, rules.STORAGE_GATE)
    if feature_gates(target)[gate]:
        yield from _shape(args.get("shape"), ("shape",), target)
    elif args.get("shape") is not None:
        message = f"unexpected field, the feature gate {gate} is off"
        yield ("shape",), "invalid-value", message, f"remove it, or start kube-scheduler with --feature-gates={gate}=true"


def _dynamic_resources(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    enabled = feature_gates(target)
    timeout = args.get("filterTimeout")
    if timeout is not None and not enabled["DRASchedulerFilterTimeout"]:
        yield _needs_gates("filterTimeout", "DRASchedulerFilterTimeout")
    elif timeout is not None and timeout < 0:
        yield ("filterTimeout",), "out-of-range", "must be zero or positive", "0s switches it off"
    timeout = args.get("bindingTimeout")
    if timeout is not None and not (enabled["DRADeviceBindingConditions"] and enabled["DRAResourceClaimDeviceStatus"]):
        yield _needs_gates("bindingTimeout", "DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")
    elif timeout is not None and timeout < _SECOND:
        yield ("bindingTimeout",), "out-of-range", "must be at least 1 second", "for example 600s"


def _needs_gates(name: str, *needed: str) -> Problem:
    flag = ",".join(f"{gate}=true" for gate in needed)
    message = f"{' or '.join(needed)} feature gate is disabled"
    return (name,), "invalid-value", message, f"remove it, or start kube-scheduler with --feature-gates={flag}"


# --- scheduler-plugins ---


def _coscheduling(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    for name, words in rules.COSCHEDULING_WORDS.items():
        value, message = args.get(name, 0), at(target.minor, words)
        if message and (value < 0 or (name == "podGroupRejectPercentage" and value > 100)):
            yield (name,), "out-of-range", message, "give a number that is not negative"


def _allocatable(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    if args.get("mode") and args["mode"] not in rules.ALLOCATABLE_MODES:
        yield _unsupported(("mode",), rules.ALLOCATABLE_MODES)
    for index, resource in enumerate(args.get("resources") or ()):
        if resource.get("weight", 0) <= 0:
            message = "resource weight should be a positive value"
            yield ("resources", index, "weight"), "out-of-range", message, "give a positive weight"


def _topology_match(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    supported = at(target.minor, rules.TOPOLOGY_STRATEGIES)
    if (args.get("scoringStrategy") or {}).get("type", "") not in supported:
        message = at(target.minor, rules.TOPOLOGY_WORDS)
        yield ("scoringStrategy", "type"), "unsupported-value", message, f"one of {', '.join(supported)}"


def _metric_provider(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    if args.get("watcherAddress"):
        return
    provider = args.get("metricProvider") or {}
    kind = provider.get("type", "")
    if kind not in rules.METRIC_PROVIDERS:
        hint = f"one of {', '.join(rules.METRIC_PROVIDERS)}; or give watcherAddress"
        yield ("metricProvider", "type"), "unsupported-value", "invalid MetricProvider.Type", hint
    elif kind == "SignalFx" and not provider.get("token"):
        message = "no auth token found to connect with SignalFx server"
        yield ("metricProvider", "token"), "required", message, "give the token of SignalFx"
    elif kind == "Prometheus":
        problem = url_problem(provider.get("address", ""))
        if problem:
            yield ("metricProvider", "address"), "invalid-value", problem, "a URL such as https://prometheus.example.com:9090"


def _load_packing(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    yield from _metric_provider(args, target)
    if not _parses(strconv.parse_float, args.get("defaultRequestsMultiplier", "")):
        message = "unable to parse DefaultRequestsMultiplier: it is no number"
        yield ("defaultRequestsMultiplier",), "invalid-value", message, 'a number, written as a string: "1.5"'


def _peaks(args: Mapping[str, Any], target: Target) -> Iterator[Problem]:
    if not args.get("WatcherAddress"):
        message = "Peaks needs a load-watcher service (invalid MetricProvider.Type)"
        yield ("WatcherAddress",), "required", message, "give its address"
    elif not args.get("NodePowerModel"):
        message = "without it Peaks reads the file that the environment variable NODE_POWER_MODEL names"
        yield ("NodePowerModel",), "required", message, "give the power model: a node's name -> {k0, k1, k2}"


_RULES = {
    "DefaultPreemption": _default_preemption,
    "InterPodAffinity": _inter_pod_affinity,
    "NodeAffinity": _node_affinity,
    "NodeResourcesBalancedAllocation": _balanced_allocation,
    "NodeResourcesFit": _fit,
    "NodeResourcesLeastAllocated": _least_or_most_allocated,
    "NodeResourcesMostAllocated": _least_or_most_allocated,
    "RequestedToCapacityRatio": _capacity_ratio,
    "NodeLabel": _node_label,
    "PodTopologySpread": _topology_spread,
    "VolumeBinding": _volume_binding,
    "DynamicResources": _dynamic_resources,
    "Coscheduling": _coscheduling,
    "NodeResourcesAllocatable": _allocatable,
    "NodeResourceTopologyMatch": _topology_match,
    "TargetLoadPacking": _load_packing,
    "LoadVariationRiskBalancing": _metric_provider,
    "LowRiskOverCommitment": _metric_provider,
    "PreemptionToleration": _default_preemption,
    "Peaks": _peaks,
}


# --- values ---


def _range(path: Path | str, allowed: str) -> Problem:
    where = (path,) if isinstance(path, str) else path
    return where, "out-of-range", f"not in valid range {allowed}", "give a number in this range"


def _unsupported(path: Path, supported: Sequence[str]) -> Problem:
    return path, "unsupported-value", "unsupported value", f"one of {', '.join(supported)}"


def _name(path: Path, name: str, hint: str = _LABEL_HINT) -> Iterator[Problem]:
    for problem in qualified_name(name):
        yield path, "invalid-value", problem, hint


def _parses(parse: Callable[[str], Any], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def url_problem(text: str) -> str:
    """What Go's net/url finds wrong with a URL; empty for nothing. The URL is never quoted: it can hold a password."""
    if any(ord(character) < 0x20 or ord(character) == 0x7F for character in text):
        return "invalid control character in URL"
    rest, _hash, fragment = text.partition("#")
    if text.startswith(":"):
        return "missing protocol scheme"
    scheme = re.match("[A-Za-z][-+.A-Za-z0-9]*:", rest)
    if scheme:
        rest = rest[scheme.end() :]
    rest = rest.partition("?")[0]
    if not rest.startswith("/"):
        if scheme:
            return _escape_problem(fragment)
        if ":" in rest.partition("/")[0]:
            return "first path segment in URL cannot contain colon"
    elif rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        problem = _authority_problem(authority)
        if problem:
            return problem
    return _escape_problem(rest) or _escape_problem(fragment)


def _authority_problem(authority: str) -> str:
    user, at_sign, host = authority.rpartition("@")
    if at_sign and not re.fullmatch(r"[-A-Za-z0-9._:~!$&'()*+,;=%@]*", user):
        return "invalid userinfo"
    if host.startswith("["):
        name, bracket, port = host.rpartition("]")
        if not bracket:
            return "missing ']' in host"
    else:
        name, colon, port = host.rpartition(":")
        name, port = (name, colon + port) if colon else (host, "")
    if not re.fullmatch("(:[0-9]*)?", port):
        return "invalid port after host"
    if re.search(r"[\x00-\x20#/?@\\^`{|}\x7f]", name):
        return "invalid character in host name"
    if re.search("%(?![89A-Fa-f][0-9A-Fa-f])", name) and "%25" not in name:
        return "invalid URL escape in host name"
    return _escape_problem(user)


def _escape_problem(text: str) -> str:
    return "invalid URL escape" if re.search("%(?![0-9A-Fa-f]{2})", text) else ""
