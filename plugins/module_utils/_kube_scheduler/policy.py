# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Scheduling policies (apiVersion v1, kind Policy; Kubernetes 1.22 was the last to read them) as a v1beta1 configuration.

Sources: the types in k8s.io/kube-scheduler/config/v1, ValidatePolicy in pkg/scheduler/apis/config/validation, createFromConfig in
pkg/scheduler/factory.go and pkg/scheduler/framework/plugins/legacy_registry.go, all of 1.21 and 1.22.
"""

from __future__ import annotations

from typing import Any

from .check import check
from .document import Node
from .migrations import APPROXIMATE, EXACT, Log
from .plugins import points, registry
from .report import Path, Report
from .result import DECODE, VALIDATE, Finding
from .tables.policy import (
    DEFAULT_PREDICATES,
    DEFAULT_PRIORITIES,
    MANDATORY_PREDICATES,
    OTHER_NAMES,
    POLICY_FIELDS,
    PREDICATE_ORDER,
    PREDICATES,
    PRIORITIES,
)
from .tables.releases import OLDEST
from .target import Target
from .value_syntax import Duration
from .version_independent import API_GROUP, KIND

LAST_MINOR = 22
MAX_WEIGHT = (2**63 - 1) // 100
_OLD_SCORING = {"NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio"}


def read_policy(root: Node, release: Target, goal: Target, log: Log) -> tuple[dict[str, Any], list[Finding]]:
    """A v1beta1 configuration, as plain data, that runs the same plugins; errors if kube-scheduler refuses the policy.

    release: that reads the policy; goal: the release that the configuration is finally for.
    Nothing but profiles and extenders is in it: the rest of a configuration never stood in a policy.
    """
    report = Report(root)
    if release.minor > LAST_MINOR:
        message = f"Kubernetes {release.kubernetes} does not read scheduling policies"
        report.error(DECODE, "unserved-version", ("kind",), message, f"the last one that does is 1.{LAST_MINOR}: give it as the source")
        return {}, report.findings
    version = root.value.get("apiVersion")
    if version not in ("v1", f"{API_GROUP}/v1"):
        report.error(DECODE, "unserved-version", ("apiVersion",), "is no version of a scheduling policy", "write apiVersion: v1")
    policy = _decode(root, "Policy", (), report)
    if not report.has_error():
        _validate(policy, report)
    if report.has_error():
        return {}, report.findings
    plugins, args = _plugins(policy, report)
    if report.has_error():
        return {}, report.findings
    if policy.get("alwaysCheckAllPredicates"):
        log.add(APPROXIMATE, "alwaysCheckAllPredicates", "removed: the first filter that rejects a node ends its evaluation")
    profile: dict[str, Any] = {"schedulerName": "default-scheduler"}
    changed = _against_defaults(plugins, release, goal)
    if changed:
        profile["plugins"] = changed
    if args:
        profile["pluginConfig"] = [{"name": name, "args": given} for name, given in args.items()]
    data: dict[str, Any] = {"apiVersion": f"{API_GROUP}/v1beta1", "kind": KIND, "profiles": [profile]}
    if policy.get("extenders"):
        data["extenders"] = [_extender(extender, index, log) for index, extender in enumerate(policy["extenders"])]
    message = "the policy is now the profile default-scheduler; what the command line said beside it (--scheduler-name, leader election) is not in it"
    log.add(EXACT, "kind", message)
    return data, report.findings


def _decode(node: Node, kind: str, path: Path, report: Report) -> Any:
    """Strictly, by the table; what is null is absent. Extenders are read without regard to case, as encoding/json does."""
    if kind.startswith("[]"):
        if node.items is None:
            report.error(DECODE, "wrong-type", path, "is no list", "begin each item with a hyphen")
            return []
        return [_decode(item, kind[2:], (*path, index), report) for index, item in enumerate(node.items) if item.value is not None]
    if kind not in POLICY_FIELDS:
        right = {"string": str, "int": int, "bool": bool, "any": object}[kind]
        if not isinstance(node.value, right) or (right is int and isinstance(node.value, bool)):
            article = {"string": "a text", "int": "a whole number", "bool": "true or false"}[kind]
            report.error(DECODE, "wrong-type", path, f"is not {article}", f"write {article}")
            return None
        return node.value
    if node.entries is None:
        report.error(DECODE, "wrong-type", path, "is no mapping", "write name: value")
        return {}
    known = POLICY_FIELDS[kind]
    values = {}
    for name, (_place, child) in node.entries.items():
        found = name if name in known else None
        if found is None and kind == "Extender":
            found = next((field for field in known if field.lower() == name.lower()), None)
        if found is None:
            if kind != "Extender":
                report.error(
                    DECODE, "unknown-field", (*path, name), "is no field of a policy", f"known here: {', '.join(known)}", at_key=True
                )
        elif child.value is not None:
            values[found] = _decode(child, known[found], (*path, name), report)
    return values


def _validate(policy: dict[str, Any], report: Report) -> None:
    weights: dict[str, int] = {}
    for index, priority in enumerate(policy.get("priorities") or ()):
        path: Path = ("priorities", index)
        weight = priority.get("weight", 0)
        if not 0 < weight < MAX_WEIGHT:
            report.error(VALIDATE, "out-of-range", (*path, "weight"), f"{weight} is no positive weight", "write a weight of 1 or more")
        if "argument" not in priority:
            continue
        given = list(priority["argument"])
        if len(given) != 1:
            report.error(
                VALIDATE, "invalid-value", (*path, "argument"), "must hold exactly one argument", "split it into several priorities"
            )
            continue
        if given[0] in weights and given[0] == "requestedToCapacityRatioArguments":
            report.error(VALIDATE, "duplicate", path, "a second RequestedToCapacityRatio", "keep one")
        elif weights.setdefault(given[0], weight) != weight:
            message = f"all priorities with {given[0]} must have one weight, the first has {weights[given[0]]}"
            report.error(VALIDATE, "invalid-value", (*path, "weight"), message, "give them the same weight")
    for index, predicate in enumerate(policy.get("predicates") or ()):
        if "argument" in predicate and len(predicate["argument"]) != 1:
            path = ("predicates", index, "argument")
            report.error(VALIDATE, "invalid-value", path, "must hold exactly one argument", "split it into several predicates")
    weight = policy.get("hardPodAffinitySymmetricWeight", 0)
    if not 0 <= weight <= 100:
        path = ("hardPodAffinitySymmetricWeight",)
        report.error(VALIDATE, "out-of-range", path, f"{weight}: not in valid range [0-100]", "write a number from 0 to 100")


def _plugins(policy: dict[str, Any], report: Report) -> tuple[dict[str, dict[str, int]], dict[str, Any]]:
    """Extension point -> plugin -> weight, 0 except at score; and the arguments of plugins."""
    args: dict[str, Any] = {}
    predicates = _predicates(policy, args, report)
    priorities = _priorities(policy, args, report)
    plugins: dict[str, dict[str, int]] = {}
    for predicate in sorted(predicates, key=PREDICATE_ORDER.index):
        for entry in PREDICATES[predicate].split():
            name, _slash, where = entry.partition("/")
            for point in where.split(","):
                plugins.setdefault(point, {})[name] = 0
    # By name, as kube-scheduler does it: of two that stand for one plugin the first one's weight counts.
    for priority in sorted(priorities):
        name, _slash, where = PRIORITIES[priority].partition("/")
        weight = priorities[priority]
        if name in ("NodeLabel", "ServiceAffinity"):
            weight *= sum(len(labels) for key, labels in args.get(name, {}).items() if key.endswith("Preference"))
        for point in where.split(","):
            plugins.setdefault(point, {}).setdefault(name, weight if point == "score" else 0)
    if "SelectorSpreadPriority" not in priorities and "EvenPodsSpreadPriority" in priorities:
        args["PodTopologySpread"] = {"defaultingType": "List"}
    hard = policy.get("hardPodAffinitySymmetricWeight")
    if hard and "InterPodAffinityPriority" in priorities:
        args["InterPodAffinity"] = {"hardPodAffinityWeight": hard}
    return plugins, args


def _predicates(policy: dict[str, Any], args: dict[str, Any], report: Report) -> set[str]:
    if policy.get("predicates") is None:
        return {*DEFAULT_PREDICATES, *MANDATORY_PREDICATES}
    chosen = set(MANDATORY_PREDICATES)
    for index, predicate in enumerate(policy["predicates"]):
        name, argument = OTHER_NAMES.get(predicate.get("name"), predicate.get("name", "")), predicate.get("argument") or {}
        if name in PREDICATES:
            chosen.add(name)
        elif "serviceAffinity" in argument:
            labels = args.setdefault("ServiceAffinity", {}).setdefault("affinityLabels", [])
            labels += argument["serviceAffinity"].get("labels") or ()
            chosen.add("CheckServiceAffinity")
        elif "labelsPresence" in argument:
            presence = argument["labelsPresence"]
            key = "presentLabels" if presence.get("presence") else "absentLabels"
            args.setdefault("NodeLabel", {}).setdefault(key, []).extend(presence.get("labels") or ())
            chosen.add("CheckNodeLabelPresence")
        else:
            path = ("predicates", index, "name")
            report.error(VALIDATE, "unknown-predicate", path, f"predicate type not found for {name}", "remove it or correct its name")
    return chosen


def _priorities(policy: dict[str, Any], args: dict[str, Any], report: Report) -> dict[str, int]:
    if policy.get("priorities") is None:
        return dict(DEFAULT_PRIORITIES)
    chosen: dict[str, int] = {}
    for index, priority in enumerate(policy["priorities"]):
        name, argument = OTHER_NAMES.get(priority.get("name"), priority.get("name", "")), priority.get("argument") or {}
        if name == "EqualPriority":
            continue
        if "serviceAntiAffinity" in argument:
            labels = args.setdefault("ServiceAffinity", {}).setdefault("antiAffinityLabelsPreference", [])
            labels.append(argument["serviceAntiAffinity"].get("label", ""))
            name = "ServiceAffinity"
        elif "labelPreference" in argument:
            preference = argument["labelPreference"]
            key = "presentLabelsPreference" if preference.get("presence") else "absentLabelsPreference"
            args.setdefault("NodeLabel", {}).setdefault(key, []).append(preference.get("label", ""))
            name = "NodeLabel"
        elif "requestedToCapacityRatioArguments" in argument:
            args["RequestedToCapacityRatio"] = argument["requestedToCapacityRatioArguments"]
            name = "RequestedToCapacityRatio"
        elif name not in PRIORITIES or name in ("ServiceAffinity", "NodeLabel", "RequestedToCapacityRatio"):
            path = ("priorities", index, "name")
            report.error(VALIDATE, "unknown-priority", path, f"priority type not found for {name}", "remove it or correct its name")
            continue
        chosen[name] = priority["weight"]
    return chosen


def _against_defaults(plugins: dict[str, dict[str, int]], release: Target, goal: Target) -> dict[str, Any]:
    """What a v1beta1 profile must enable and disable in order to run these plugins and no others.

    A plugin that runs nowhere is disabled at every point that it has up to the goal, so that no later release runs it at a new one.
    """
    plain = f"apiVersion: {API_GROUP}/v1beta1\nkind: {KIND}\n"
    defaults = check(plain, release.kubernetes).effective.get("default-scheduler", {})
    runs = {name for listed in plugins.values() for name in listed}
    ever: dict[str, set[str]] = {}
    for minor in range(OLDEST, max(release.minor, goal.minor) + 1):
        for name, info in registry(Target(minor)).items():
            ever.setdefault(name, set()).update(info.points)
    changes: dict[str, Any] = {}
    for point in points(release.minor):
        if point in ("queueSort", "postFilter", "bind"):
            continue  # PrioritySort, DefaultPreemption and DefaultBinder belong to every policy
        wanted, default = plugins.get(point, {}), dict(defaults.get(point, ()))
        replaced = {name for name, weight in wanted.items() if name in default and point == "score" and weight != default[name]}
        disabled = [name for name in default if name not in wanted or name in replaced]
        enabled = [
            {"name": name, "weight": weight} if point == "score" else {"name": name}
            for name, weight in wanted.items()
            if name not in default or name in replaced
        ]
        everywhere = {name for listed in defaults.values() for name, _weight in listed if name not in runs}
        if point in ("preScore", "score") and _OLD_SCORING & set(plugins.get("score", {})):
            everywhere.discard("NodeResourcesFit")
        disabled += sorted(name for name in everywhere if point in ever[name] and name not in disabled and name not in _OLD_SCORING)
        change = {}
        if enabled:
            change["enabled"] = enabled
        if disabled:
            change["disabled"] = [{"name": name} for name in disabled]
        if change:
            changes[point] = change
    return changes


def _extender(extender: dict[str, Any], index: int, log: Log) -> dict[str, Any]:
    converted = {("enableHTTPS" if name == "enableHttps" else name): value for name, value in extender.items()}
    if "httpTimeout" in converted:
        converted["httpTimeout"] = str(Duration(converted["httpTimeout"]))
        log.add(EXACT, ("extenders", index, "httpTimeout"), "written as a duration; a policy counts nanoseconds")
    return converted
