# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Documents that nobody wrote: realistic configurations with faults, the same ones for the same seed.

Only ``random.Random.random`` is used, whose numbers are the same in every Python, so that recorded answers need no documents
beside them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from .corpus import GROUP
from .documents import Document, scalar, served

SEED = 4
COUNT = 2000
"""Documents for each kube-scheduler."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


PLUGIN_NAMES = _words(
    "PrioritySort SchedulingGates NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit"
    " NodeResourcesBalancedAllocation VolumeRestrictions NodeVolumeLimits EBSLimits GCEPDLimits AzureDiskLimits CinderLimits"
    " VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DefaultPreemption ImageLocality DefaultBinder DynamicResources"
    " NodeDeclaredFeatures GangScheduling TopologyPlacementGenerator PodGroupPodsCount SelectorSpread NodeResourcesLeastAllocated"
    " NodeResourcesMostAllocated RequestedToCapacityRatio NodeLabel ServiceAffinity NodePreferAvoidPods CapacityScheduling"
    " Coscheduling NodeResourcesAllocatable TargetLoadPacking PodState QOSSort CrossNodePreemption LoadVariationRiskBalancing"
    " NodeResourceTopologyMatch PreemptionToleration NetworkOverhead TopologicalSort LowRiskOverCommitment SySched Peaks"
)
POINTS = _words(
    "queueSort preFilter filter postFilter preScore score reserve permit preBind bind postBind"
    " multiPoint preEnqueue placementGenerate placementScore"
)
# Those that exist since a release, only for it and later ones: the documents for older releases stay the same, and with them their answers.
NEW_PLUGIN_NAMES = {37: ("DeferredPodScheduling",)}
NEW_POINTS = {37: ("podGroupPostFilter",)}
# What stands where in the bases below; the default plugins of nearly all releases.
SCORERS = _words(
    "NodeResourcesFit NodeAffinity TaintToleration InterPodAffinity PodTopologySpread ImageLocality NodeResourcesBalancedAllocation"
)
FILTERS = _words("NodeName NodePorts NodeAffinity TaintToleration NodeResourcesFit VolumeZone PodTopologySpread InterPodAffinity")
WORDS = _words(
    "LeastAllocated MostAllocated RequestedToCapacityRatio BalancedAllocation LeastNUMANodes List System DoNotSchedule ScheduleAnyway"
    " In NotIn Exists DoesNotExist Gt Lt Prometheus SignalFx KubernetesMetricsServer Least Most leases endpoints endpointsleases"
    " configmaps configmapsleases default-scheduler * cpu memory nvidia.com/gpu kubernetes.io/hostname 10s 0s -1s 1m30s 15 1Gi 100m"
)
VALUES = (None, "", "x", "yes", "1", 0, 1, -1, 2, 100, 101, 1.5, 0.1, True, False, 99999999999, 2**63, -(2**31) - 1)
SHAPES = ([], {}, ["x"], {"a": "b"}, [None], [{}], [1])
FIELDS = _words(
    "parallelism leaderElection clientConnection profiles extenders plugins pluginConfig enabled disabled name weight args score"
    " schedulerName healthzBindAddress metricsBindAddress percentageOfNodesToScore delayCacheUntilActive resources type shape"
    " scoringStrategy leaderElect metadata policy httpTimeout minDomains multiPoint preEnqueue token watcherAddress cache"
)


class Dice:
    """Choices that depend on nothing but the seed."""

    def __init__(self, seed: str):
        self._next = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        return self._next() < probability

    def below(self, number: int) -> int:
        return int(self._next() * number)

    def pick(self, items: Any) -> Any:
        return items[int(self._next() * len(items))]

    def some(self, items: Any, most: int) -> list:
        """Up to ``most`` different items, in a random order."""
        left, found = list(items), []
        for _count in range(min(self.below(most + 1), len(left))):
            found.append(left.pop(self.below(len(left))))
        return found


class Target:
    """The kube-scheduler that a document is made for."""

    def __init__(self, minor: int, plugins: str, version: str):
        self.minor, self.plugins, self.version = minor, plugins, version
        self.multi_point = version in ("v1beta3", "v1")
        self.merges = version != "v1beta1"  # an enabled default plugin replaces the default entry
        self.points = (*POINTS, *(point for since, points in NEW_POINTS.items() if since <= minor for point in points))
        self.plugin_names = (*PLUGIN_NAMES, *(name for since, names in NEW_PLUGIN_NAMES.items() if since <= minor for name in names))


def documents(minor: int, plugins: str, count: int = COUNT, seed: int = SEED) -> list[Document]:
    return [document(minor, plugins, number, seed) for number in range(count)]


def document(minor: int, plugins: str, number: int, seed: int = SEED) -> Document:
    dice = Dice(f"{seed}/{minor}/{plugins}/{number}")
    target = Target(minor, plugins, dice.pick(served(minor)))
    made = configuration(dice, target)
    faults = (0, 0, 1, 1, 1, 1, 1, 2, 2, 3)[dice.below(10)]
    for _count in range(faults):
        made = mutated(dice, made, target)
    text: str | bytes = written(dice, made)
    if dice.chance(0.08):
        text = spoilt(dice, text)
    return Document(f"gen/{minor}-{plugins}/{number}", text, flags(dice, minor) if dice.chance(0.12) else ())


# ---- configurations that are right, or nearly so


def configuration(dice: Dice, target: Target) -> dict[str, Any]:
    made: dict[str, Any] = {"apiVersion": f"{GROUP}/{target.version}", "kind": "KubeSchedulerConfiguration"}
    if dice.chance(0.6):
        made["leaderElection"] = leader_election(dice, target)
    if dice.chance(0.2):
        made["clientConnection"] = client_connection(dice)
    for field, values in (
        ("parallelism", (1, 8, 16, 64)),
        ("percentageOfNodesToScore", (0, 5, 50, 100)),
        ("podInitialBackoffSeconds", (1, 2, 10)),
        ("podMaxBackoffSeconds", (10, 20, 60)),
        ("enableProfiling", (True, False)),
        ("enableContentionProfiling", (True, False)),
    ):
        if dice.chance(0.12):
            made[field] = dice.pick(values)
    if target.version == "v1" and target.minor >= 28 and dice.chance(0.1):
        made["delayCacheUntilActive"] = dice.pick((True, False))
    if target.version in ("v1beta1", "v1beta2") and dice.chance(0.15):
        address = dice.pick(("0.0.0.0:0", "", "[::]:0") if target.minor >= 23 else ("0.0.0.0:10251", "127.0.0.1:10351", "0.0.0.0"))
        made["healthzBindAddress"] = made["metricsBindAddress"] = address
    if dice.chance(0.9):
        made["profiles"] = profiles(dice, target)
    if dice.chance(0.15):
        made["extenders"] = [extender(dice, number) for number in range(1 + dice.below(2))]
    return made


def leader_election(dice: Dice, target: Target) -> dict[str, Any]:
    if dice.chance(0.4):
        return {"leaderElect": False}
    made: dict[str, Any] = {"leaderElect": True}
    if dice.chance(0.5):
        lease, renew, retry = dice.pick((("15s", "10s", "2s"), ("137s", "107s", "26s"), ("1m", "40s", "5s"), ("10s", "2s", "2s")))
        made |= {"leaseDuration": lease, "renewDeadline": renew, "retryPeriod": retry}
    if dice.chance(0.3):
        made["resourceLock"] = dice.pick(("leases", "leases", "leases", "endpointsleases"))
    if dice.chance(0.5):
        made |= {"resourceName": "my-scheduler", "resourceNamespace": "kube-system"}
    return made


def client_connection(dice: Dice) -> dict[str, Any]:
    made: dict[str, Any] = {"qps": dice.pick((5, 50, 100.5, 0.1)), "burst": dice.pick((0, 100, 200))}
    if dice.chance(0.3):
        made |= {"contentType": "application/json", "acceptContentTypes": ""}
    return made


def extender(dice: Dice, number: int) -> dict[str, Any]:
    made: dict[str, Any] = {"urlPrefix": f"http://127.0.0.1:{8888 + number}/x"}
    if dice.chance(0.6):
        made["filterVerb"] = "filter"
    if dice.chance(0.5):
        made |= {"prioritizeVerb": "prioritize", "weight": 1 + dice.below(10)}
    if number == 0 and dice.chance(0.2):
        made["bindVerb"] = "bind"
    if dice.chance(0.3):
        made |= {"nodeCacheCapable": dice.chance(0.5), "ignorable": dice.chance(0.5)}
    if dice.chance(0.3):
        made["httpTimeout"] = dice.pick(("100ms", "5s", "1m30s", "0s"))
    if dice.chance(0.2):
        made |= {"enableHTTPS": True, "tlsConfig": {"insecure": True}}
    if dice.chance(0.4):
        made["managedResources"] = [{"name": f"example.com/r{number}"}]
        if dice.chance(0.4):
            made["managedResources"][0]["ignoredByScheduler"] = True
    return made


def profiles(dice: Dice, target: Target) -> list[dict[str, Any]]:
    names = ("main", "second", "third")
    made = [profile(dice, target, names[number]) for number in range((1, 1, 1, 2, 2, 3)[dice.below(6)])]
    for other in made[1:]:
        if dice.chance(0.8):  # else they differ in queueSort, which is refused
            sorting = made[0].get("plugins", {}).get("queueSort")
            plugins = other.setdefault("plugins", {})
            plugins.pop("queueSort", None)
            if sorting:
                plugins["queueSort"] = sorting
    return made


def profile(dice: Dice, target: Target, name: str) -> dict[str, Any]:
    made: dict[str, Any] = {"schedulerName": name}
    if target.version == "v1" and target.minor >= 26 and dice.chance(0.1):
        made["percentageOfNodesToScore"] = dice.pick((0, 10, 100))
    in_tree = (*IN_TREE, *(kind for since, kinds in NEW_IN_TREE.items() if since <= target.minor for kind in kinds))
    kinds = in_tree if target.plugins == "in-tree" or dice.chance(0.25) else SCHEDULER_PLUGINS
    plugins: dict[str, Any] = {}
    configs: list[dict[str, Any]] = []
    for _count in range((0, 1, 1, 2, 2, 3)[dice.below(6)]):
        dice.pick(kinds)(dice, target, plugins, configs)
    if plugins:
        made["plugins"] = plugins
    if configs:
        made["pluginConfig"] = list({config["name"]: config for config in configs}.values())
    return made


def _enable(target: Target, plugins: dict, point: str, entry: dict, default: bool = True) -> None:
    """Enable a plugin at a point; default: it may stand there already."""
    place = plugins.setdefault(point, {})
    enabled = place.setdefault("enabled", [])
    if all(other["name"] != entry["name"] for other in enabled):
        enabled.append(entry)
    if default and not target.merges:
        place.setdefault("disabled", []).append({"name": entry["name"]})


def weights(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    names = [name for name in SCORERS if target.merges or name != "NodeResourcesFit"]
    for name in dice.some(names, 4):
        entry: dict[str, Any] = {"name": name}
        if dice.chance(0.8):
            entry["weight"] = dice.pick((1, 2, 3, 5, 10, 100, 0))
        _enable(target, plugins, "score", entry)
    if dice.chance(0.15):
        plugins.setdefault("score", {})["disabled"] = [{"name": "*"}]


def switched_off(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    point = dice.pick(("score", "filter", "preScore", "preFilter", "postFilter", "permit", "reserve"))
    names = dice.some(SCORERS + FILTERS, 3) or ["*"]
    plugins.setdefault(point, {}).setdefault("disabled", []).extend({"name": name} for name in names)


def filters(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    for name in dice.some(FILTERS, 5):
        _enable(target, plugins, "filter", {"name": name})


def everywhere(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    if not target.multi_point:
        return weights(dice, target, plugins, configs)
    place = plugins.setdefault("multiPoint", {})
    for name in dice.some((*SCORERS, "NodePorts", "VolumeZone"), 4):
        entry: dict[str, Any] = {"name": name}
        if dice.chance(0.5):
            entry["weight"] = dice.pick((1, 2, 5, 20))
        _enable(target, plugins, "multiPoint", entry)
    if dice.chance(0.4):
        place["disabled"] = [{"name": name} for name in dice.some(SCORERS, 3)]
    if dice.chance(0.15):
        place["disabled"] = [{"name": "*"}]
        for name in ("PrioritySort", "DefaultBinder"):
            _enable(target, plugins, "multiPoint", {"name": name})
    return None


def pod_groups(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    """podGroupPostFilter, whose plugins get no default arguments."""
    for name in dice.some(("DefaultPreemption", "DynamicResources"), 2):
        _enable(target, plugins, "podGroupPostFilter", {"name": name})
        if dice.chance(0.5):
            plugins.setdefault("multiPoint", {}).setdefault("disabled", []).append({"name": name})
            if dice.chance(0.5):
                configs.append({"name": name, "args": {}})
    if dice.chance(0.2):
        plugins.setdefault("podGroupPostFilter", {})["disabled"] = [{"name": "*"}]


def sorting(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    plugins["queueSort"] = {"enabled": [{"name": "PrioritySort"}], "disabled": [{"name": dice.pick(("*", "PrioritySort"))}]}


def _resources(dice: Dice, most: int = 5) -> list[dict[str, Any]]:
    return [{"name": name, "weight": 1 + dice.below(most)} for name in dice.some(("cpu", "memory", "nvidia.com/gpu"), 3)]


def _shape(dice: Dice) -> list[dict[str, int]]:
    return [{"utilization": at, "score": dice.below(11)} for at in (0, 40, 70, 100)[: 1 + dice.below(4)]]


def fit(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    args: dict[str, Any] = {}
    if dice.chance(0.4):
        args["ignoredResources"] = dice.some(("example.com/a", "example.com/b", "c"), 2)
    if dice.chance(0.2):
        args["ignoredResourceGroups"] = ["example.com"]
    if target.minor >= 22 and dice.chance(0.8):
        strategy: dict[str, Any] = {"type": dice.pick(("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"))}
        if dice.chance(0.7):
            strategy["resources"] = _resources(dice)
        if strategy["type"] == "RequestedToCapacityRatio":
            strategy["requestedToCapacityRatio"] = {"shape": _shape(dice)}
        args["scoringStrategy"] = strategy
    configs.append({"name": "NodeResourcesFit", "args": args})


def _args(name: str, make: Callable[[Dice, Target], dict[str, Any]]) -> Callable:
    def add(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
        args = make(dice, target)
        if dice.chance(0.15):
            args = {"apiVersion": f"{GROUP}/{target.version}", "kind": f"{name}Args", **args}
        configs.append({"name": name, "args": args})

    return add


def _spread(dice: Dice, target: Target) -> dict[str, Any]:
    if dice.chance(0.2):
        return {"defaultingType": dice.pick(("System", "List"))}
    made = []
    for key in dice.some(("kubernetes.io/hostname", "topology.kubernetes.io/zone", "rack"), 2):
        constraint: dict[str, Any] = {
            "maxSkew": 1 + dice.below(5),
            "topologyKey": key,
            "whenUnsatisfiable": dice.pick(("DoNotSchedule", "ScheduleAnyway")),
        }
        if target.minor >= 24 and dice.chance(0.2):
            constraint["minDomains"] = 2
        if target.minor >= 25 and dice.chance(0.2):
            constraint["nodeTaintsPolicy"] = "Honor"
        made.append(constraint)
    return {"defaultConstraints": made, "defaultingType": "List"}


def _affinity(dice: Dice, target: Target) -> dict[str, Any]:
    def expression():
        operator = dice.pick(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
        found: dict[str, Any] = {"key": dice.pick(("zone", "example.com/pool", "node-role.kubernetes.io/infra")), "operator": operator}
        if operator in ("In", "NotIn"):
            found["values"] = ["a", "b"][: 1 + dice.below(2)]
        if operator in ("Gt", "Lt"):
            found["values"] = [str(dice.below(50))]
        return found

    made: dict[str, Any] = {}
    if dice.chance(0.8):
        made["requiredDuringSchedulingIgnoredDuringExecution"] = {
            "nodeSelectorTerms": [{"matchExpressions": [expression() for _count in range(1 + dice.below(2))]}]
        }
    if dice.chance(0.4):
        made["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": 1 + dice.below(100), "preference": {"matchExpressions": [expression()]}}
        ]
    if dice.chance(0.15):
        made["requiredDuringSchedulingIgnoredDuringExecution"] = {
            "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}]
        }
    return {"addedAffinity": made}


def _preemption(dice: Dice, target: Target) -> dict[str, Any]:
    return {"minCandidateNodesPercentage": dice.below(101), "minCandidateNodesAbsolute": 1 + dice.below(200)}


def _inter_pod(dice: Dice, target: Target) -> dict[str, Any]:
    made: dict[str, Any] = {"hardPodAffinityWeight": dice.below(101)}
    if target.minor >= 27 and dice.chance(0.3):
        made["ignorePreferredTermsOfExistingPods"] = True
    return made


def _dynamic(dice: Dice, target: Target) -> dict[str, Any]:
    made = {"filterTimeout": dice.pick(("0s", "10s", "1m"))}
    if target.minor >= 36 and dice.chance(0.5):
        made["bindingTimeout"] = dice.pick(("1s", "10m"))
    return made


def legacy(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    if target.version != "v1beta1":
        return fit(dice, target, plugins, configs)
    name = dice.pick(("NodeResourcesMostAllocated", "NodeResourcesLeastAllocated", "RequestedToCapacityRatio", "NodeLabel"))
    if name == "NodeLabel":
        _enable(target, plugins, "filter", {"name": name}, default=False)
        configs.append({"name": name, "args": {"presentLabels": ["zone"], "absentLabels": dice.some(("old", "zone2"), 2)}})
        return None
    _enable(target, plugins, "score", {"name": name, "weight": 1 + dice.below(5)})
    plugins["score"].setdefault("disabled", []).append({"name": "NodeResourcesLeastAllocated"})
    args: dict[str, Any] = {"resources": _resources(dice)}
    if name == "RequestedToCapacityRatio":
        args["shape"] = _shape(dice)
    configs.append({"name": name, "args": args})
    return None


IN_TREE = (
    weights,
    weights,
    switched_off,
    filters,
    everywhere,
    everywhere,
    sorting,
    fit,
    fit,
    legacy,
    _args("PodTopologySpread", _spread),
    _args("NodeAffinity", _affinity),
    _args("DefaultPreemption", _preemption),
    _args("InterPodAffinity", _inter_pod),
    _args("VolumeBinding", lambda dice, target: {"bindTimeoutSeconds": dice.pick((0, 60, 600))}),
    _args("NodeResourcesBalancedAllocation", lambda dice, target: {"resources": _resources(dice, 1)}),
    _args("DynamicResources", _dynamic),
)
NEW_IN_TREE = {37: (pod_groups, pod_groups)}


def _trimaran_args(dice: Dice) -> dict[str, Any]:
    if dice.chance(0.6):
        return {"watcherAddress": "http://127.0.0.1:2020"}
    kind = dice.pick(("Prometheus", "Prometheus", "SignalFx"))
    return {
        "metricProvider": {"type": kind, "address": dice.pick(("http://127.0.0.1:9090", "https://prometheus.example.com")), "token": "t"}
    }


def target_load_packing(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    _enable(target, plugins, "score", {"name": "TargetLoadPacking", "weight": 1 + dice.below(5)}, default=False)
    args = _trimaran_args(dice)
    if dice.chance(0.5):
        args |= {"defaultRequests": {"cpu": dice.pick(("2000m", "1", 2, "0.5"))}, "defaultRequestsMultiplier": dice.pick(("1.8", "2"))}
    if dice.chance(0.5):
        args["targetUtilization"] = dice.pick((40, 70, 0))
    configs.append({"name": "TargetLoadPacking", "args": args})


def load_variation(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    _enable(target, plugins, "score", {"name": "LoadVariationRiskBalancing"}, default=False)
    args = _trimaran_args(dice)
    if dice.chance(0.5):
        args |= {"safeVarianceMargin": dice.pick((1, 0.5)), "safeVarianceSensitivity": dice.pick((2, 1.5))}
    configs.append({"name": "LoadVariationRiskBalancing", "args": args})


def low_risk(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    if target.minor < 26 or not target.multi_point:
        return target_load_packing(dice, target, plugins, configs)
    _enable(target, plugins, dice.pick(("score", "multiPoint")), {"name": "LowRiskOverCommitment", "weight": 5}, default=False)
    args = _trimaran_args(dice)
    if dice.chance(0.5):
        args |= {"smoothingWindowSize": dice.pick((5, 10)), "riskLimitWeights": {"cpu": 0.25, "memory": dice.pick((0.5, 1, 2))}}
    configs.append({"name": "LowRiskOverCommitment", "args": args})
    return None


def coscheduling(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    if target.multi_point and dice.chance(0.6):
        _enable(target, plugins, "multiPoint", {"name": "Coscheduling"}, default=False)
        plugins["queueSort"] = {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "*"}]}
    else:
        for point in dice.some(("preFilter", "postFilter", "permit", "reserve"), 4) or ["permit"]:
            _enable(target, plugins, point, {"name": "Coscheduling"}, default=False)
        if dice.chance(0.5):
            plugins["queueSort"] = {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "*"}]}
    if dice.chance(0.6):
        args = {"permitWaitingTimeSeconds": dice.pick((0, 10, 60))}
        if target.minor >= 26 and dice.chance(0.4):
            args["podGroupBackoffSeconds"] = 5
        if target.minor >= 34 and dice.chance(0.4):
            args["podGroupRejectPercentage"] = 20
        configs.append({"name": "Coscheduling", "args": args})


def capacity(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    for point in ("preFilter", "postFilter", "reserve"):
        _enable(target, plugins, point, {"name": "CapacityScheduling"}, default=False)
    if dice.chance(0.7):
        plugins["postFilter"]["disabled"] = [{"name": "*"}]


def numa(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    for point in ("filter", "score", "reserve")[: 2 if target.minor < 24 else 3]:
        _enable(target, plugins, point, {"name": "NodeResourceTopologyMatch"}, default=False)
    args: dict[str, Any] = {}
    if dice.chance(0.6):
        args["scoringStrategy"] = {"type": dice.pick(("LeastAllocated", "MostAllocated", "BalancedAllocation"))}
        if dice.chance(0.5):
            args["scoringStrategy"]["resources"] = _resources(dice)
    if target.minor >= 24 and target.version != "v1beta2" and dice.chance(0.3):
        args["cacheResyncPeriodSeconds"] = 5
    if target.minor >= 26 and target.version != "v1beta2" and dice.chance(0.3):
        args["cache"] = {"foreignPodsDetect": dice.pick(("None", "All", "OnlyExclusiveResources")), "resyncMethod": "Autodetect"}
        if target.minor >= 28 and dice.chance(0.5):
            args["cache"]["informerMode"] = dice.pick(("Shared", "Dedicated"))
        if target.minor >= 29 and dice.chance(0.5):
            args["cache"]["resyncScope"] = "OnlyResources"
    configs.append({"name": "NodeResourceTopologyMatch", "args": args})


def allocatable(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    _enable(target, plugins, "score", {"name": "NodeResourcesAllocatable", "weight": 1 + dice.below(9)}, default=False)
    args: dict[str, Any] = {"mode": dice.pick(("Least", "Most"))}
    if dice.chance(0.6):
        args["resources"] = _resources(dice, 1000)
    configs.append({"name": "NodeResourcesAllocatable", "args": args})


def network(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    if target.minor < 24 or not target.multi_point:
        return allocatable(dice, target, plugins, configs)
    for point in ("preFilter", "filter", "score"):
        _enable(target, plugins, point, {"name": "NetworkOverhead"}, default=False)
    if dice.chance(0.5):
        configs.append({"name": "NetworkOverhead", "args": {"namespaces": ["a"], "weightsName": "UserDefined"}})
    if dice.chance(0.4):
        plugins["queueSort"] = {"enabled": [{"name": "TopologicalSort"}], "disabled": [{"name": "*"}]}
        configs.append({"name": "TopologicalSort", "args": {"namespaces": dice.some(("a", "b"), 2)}})
    return None


def others(dice: Dice, target: Target, plugins: dict, configs: list) -> None:
    choice = dice.below(5)
    if choice == 0:
        _enable(target, plugins, "score", {"name": "PodState", "weight": 2}, default=False)
    elif choice == 1:
        plugins["queueSort"] = {"enabled": [{"name": "QOSSort"}], "disabled": [{"name": "*"}]}
    elif choice == 2 and target.minor >= 22:
        plugins["postFilter"] = {"enabled": [{"name": "PreemptionToleration"}], "disabled": [{"name": "*"}]}
        configs.append({"name": "PreemptionToleration", "args": _preemption(dice, target)})
    elif choice == 3 and target.minor >= 28:
        _enable(target, plugins, dice.pick(("score", "multiPoint")), {"name": "SySched"}, default=False)
        configs.append({"name": "SySched", "args": {"defaultProfileNamespace": "default"}})
    elif target.minor >= 31:
        _enable(target, plugins, "score", {"name": "Peaks"}, default=False)
        model = {"node-1": {"k0": 100.5, "k1": -2, "k2": 0.1}}
        configs.append({"name": "Peaks", "args": {"WatcherAddress": "http://127.0.0.1:2020", "NodePowerModel": model}})
    else:
        _enable(target, plugins, "score", {"name": "PodState"}, default=False)


SCHEDULER_PLUGINS = (
    target_load_packing,
    load_variation,
    low_risk,
    coscheduling,
    coscheduling,
    capacity,
    numa,
    numa,
    allocatable,
    network,
    others,
    others,
    weights,
    switched_off,
    fit,
)


def flags(dice: Dice, minor: int) -> tuple[str, ...]:
    choices = [
        "--leader-elect=false",
        "--leader-elect=true",
        "--leader-elect-lease-duration=137s",
        "--leader-elect-lease-duration=5s",
        "--leader-elect-renew-deadline=107s",
        "--leader-elect-renew-deadline=2s",
        "--leader-elect-retry-period=26s",
        "--leader-elect-resource-lock=leases",
        "--leader-elect-resource-lock=endpointsleases",
        "--leader-elect-resource-name=x",
        "--v=2",
        "--feature-gates=AllAlpha=false",
    ]
    if 22 <= minor <= 32:
        choices.append("--feature-gates=VolumeCapacityPriority=true")
    if 26 <= minor <= 34:
        choices.append(f"--feature-gates=DynamicResourceAllocation={dice.pick(('true', 'false'))}")
    if minor >= 33:
        choices.append("--feature-gates=StorageCapacityScoring=true")
    return tuple(dice.some(choices, 3))


# ---- faults


def _places(value: Any, found: list, path: tuple = ()) -> list:
    """Every (container, key) of a structure, parents before their children."""
    for key, item in list(value.items()) if isinstance(value, dict) else enumerate(value):
        found.append((value, key))
        if isinstance(item, (dict, list)):
            _places(item, found)
    return found


def mutated(dice: Dice, made: dict[str, Any], target: Target) -> dict[str, Any]:
    """The configuration with one fault more, or with something unusual that is none."""
    made = json.loads(json.dumps(made))  # nothing shared between its parts
    dice.pick(MUTATIONS)(dice, made, target)
    return made


def _any(dice: Dice, made: dict) -> tuple[Any, Any]:
    # Not apiVersion and kind each time: most documents must come further than that.
    places = [place for place in _places(made, []) if place[1] not in ("apiVersion", "kind") or dice.chance(0.1)]
    if not places:
        made.setdefault("kind", "KubeSchedulerConfiguration")
    return dice.pick(places or [(made, "kind")])


def _scalars(dice: Dice, made: dict, *kinds: type) -> tuple[Any, Any] | None:
    places = [
        (container, key)
        for container, key in _places(made, [])
        if type(container[key]) in kinds and (key not in ("apiVersion", "kind") or dice.chance(0.1))
    ]
    return dice.pick(places) if places else None


def drop(dice: Dice, made: dict, target: Target) -> None:
    container, key = _any(dice, made)
    del container[key]


def retype(dice: Dice, made: dict, target: Target) -> None:
    container, key = _any(dice, made)
    container[key] = dice.pick(VALUES if dice.chance(0.7) else SHAPES)


def nothing(dice: Dice, made: dict, target: Target) -> None:
    container, key = _any(dice, made)
    container[key] = dice.pick((None, "", None, [], {}))


def _renamed(container: Any, key: Any, name: str) -> None:
    """Rename a field, its place kept."""
    items = [(name if other == key else other, value) for other, value in container.items()]
    container.clear()
    container.update(items)


def misspell(dice: Dice, made: dict, target: Target) -> None:
    container, key = _any(dice, made)
    text = key if isinstance(container, dict) else container[key]
    if not isinstance(text, str) or len(text) < 2:
        return
    at = dice.below(len(text) - 1)
    wrong = dice.pick(
        (text[:at] + text[at + 1 :], text[:at] + text[at + 1] + text[at] + text[at + 2 :], text + "s", text[:at] + "x" + text[at:])
    )
    if isinstance(container, dict):
        _renamed(container, key, wrong)
    else:
        container[key] = wrong


def other_case(dice: Dice, made: dict, target: Target) -> None:
    container, key = _any(dice, made)
    text = key if isinstance(container, dict) and dice.chance(0.6) else container[key]
    if not isinstance(text, str) or not text:
        return
    wrong = dice.pick((text[0].swapcase() + text[1:], text.lower(), text.upper(), text.title()))
    if text == key:
        _renamed(container, key, wrong)
    else:
        container[key] = wrong


def twice(dice: Dice, made: dict, target: Target) -> None:
    lists = [container[key] for container, key in _places(made, []) if isinstance(container[key], list) and container[key]]
    if lists:
        chosen = dice.pick(lists)
        chosen.append(dice.pick(chosen))


def number(dice: Dice, made: dict, target: Target) -> None:
    place = _scalars(dice, made, int, float)
    if place:
        container, key = place
        value = container[key]
        container[key] = dice.pick((-value, 0, value * 1000000007, 101, 11, -1, value + 0.5, float(value), 2**31 - 1, 2**31, str(value)))


def word(dice: Dice, made: dict, target: Target) -> None:
    place = _scalars(dice, made, str)
    if place:
        container, key = place
        container[key] = dice.pick(WORDS)


def other_plugin(dice: Dice, made: dict, target: Target) -> None:
    places = [(container, key) for container, key in _places(made, []) if key == "name" and isinstance(container, dict)]
    if places:
        container, key = dice.pick(places)
        container[key] = dice.pick(target.plugin_names)


def _profile(dice: Dice, made: dict) -> dict | None:
    found = made.get("profiles")
    if isinstance(found, list) and found and all(isinstance(item, dict) for item in found):
        return dice.pick(found)
    return None


def _plugins(dice: Dice, made: dict) -> dict | None:
    chosen = _profile(dice, made)
    if chosen is None:
        return None
    plugins = chosen.get("plugins")
    if not isinstance(plugins, dict):
        plugins = chosen["plugins"] = {}
    return plugins


def other_point(dice: Dice, made: dict, target: Target) -> None:
    plugins = _plugins(dice, made)
    if plugins:
        _renamed(plugins, dice.pick(list(plugins)), dice.pick(target.points))


def _place_of_plugins(dice: Dice, made: dict, target: Target, kind: str) -> list | None:
    plugins = _plugins(dice, made)
    if plugins is None:
        return None
    points = POINTS[:12] if target.multi_point else POINTS[:11]
    point = plugins.setdefault(dice.pick(points if dice.chance(0.9) else target.points), {})
    if not isinstance(point, dict):
        return None
    entries = point.setdefault(kind, [])
    return entries if isinstance(entries, list) else None


def one_more(dice: Dice, made: dict, target: Target) -> None:
    entries = _place_of_plugins(dice, made, target, "enabled")
    if entries is not None:
        entry: dict[str, Any] = {"name": dice.pick(target.plugin_names)}
        if dice.chance(0.5):
            entry["weight"] = dice.pick((-5, -1, 0, 1, 3, 100, 2**31 - 1))
        entries.insert(dice.below(len(entries) + 1), entry)


def one_less(dice: Dice, made: dict, target: Target) -> None:
    entries = _place_of_plugins(dice, made, target, "disabled")
    if entries is not None:
        entries.append({"name": dice.pick(("*", *target.plugin_names))})


def more_arguments(dice: Dice, made: dict, target: Target) -> None:
    chosen = _profile(dice, made)
    if chosen is not None and isinstance(chosen.setdefault("pluginConfig", []), list):
        args = dice.pick(({}, {"resources": [{"name": "cpu", "weight": dice.pick((0, 1, 2, 101))}]}, {"x": "y"}, None, {"kind": "XArgs"}))
        chosen["pluginConfig"].append({"name": dice.pick(target.plugin_names), "args": args})


def more_fields(dice: Dice, made: dict, target: Target) -> None:
    mappings = [made] + [container[key] for container, key in _places(made, []) if isinstance(container[key], dict)]
    dice.pick(mappings)[dice.pick(FIELDS)] = dice.pick(VALUES + ([], {}))


def one_profile_more(dice: Dice, made: dict, target: Target) -> None:
    if isinstance(made.setdefault("profiles", []), list):
        made["profiles"].append(dice.pick(({}, {"schedulerName": "more"}, {"schedulerName": "main"}, {"schedulerName": ""})))


def other_version(dice: Dice, made: dict, target: Target) -> None:
    made["apiVersion"] = f"{GROUP}/{dice.pick(('v1beta1', 'v1beta2', 'v1beta3', 'v1', 'v1alpha1', 'v2', ''))}"


def times(dice: Dice, made: dict, target: Target) -> None:
    election = made.get("leaderElection")
    if isinstance(election, dict):
        name = dice.pick(("leaseDuration", "renewDeadline", "retryPeriod"))
        election[name] = dice.pick(("1s", "2s", "15s", "-1s", "1h", "0s", "0", "", "5", 5, "1.5s", "1d", "500ms", None))


MUTATIONS = (
    drop,
    drop,
    retype,
    retype,
    nothing,
    misspell,
    misspell,
    other_case,
    other_case,
    twice,
    number,
    number,
    number,
    word,
    other_plugin,
    other_plugin,
    other_point,
    one_more,
    one_more,
    one_more,
    one_less,
    one_less,
    more_arguments,
    more_fields,
    one_profile_more,
    other_version,
    times,
)


# ---- how it is written


def written(dice: Dice, made: dict[str, Any]) -> str:
    if dice.chance(0.08):
        return json.dumps(made, indent=dice.pick((None, 2, 4)), ensure_ascii=dice.chance(0.5))
    unusual = 0.15 if dice.chance(0.3) else 0.0
    text = "".join("\n".join(_block(dice, {key: value}, 0 if key == "kind" else unusual)) + "\n" for key, value in made.items())
    if text.startswith("{"):  # one field in flow style, which would be JSON
        text = f"--- {text}"
    if unusual:
        if dice.chance(0.15):
            text = dice.pick(("---\n", "# configuration\n---\n", "\ufeff", "\n\n", "%YAML 1.1\n---\n", "--- # first\n")) + text
        if dice.chance(0.15):
            text += dice.pick(("---\n", "...\n", "---\na: [\n", "# end", "---\nkind: Other\n", "\n\n \n"))
        if dice.chance(0.1):
            text = text.replace("\n", "\r\n")
    return text


def _block(dice: Dice, value: Any, unusual: float) -> list[str]:
    if not isinstance(value, (dict, list)) or not value or (unusual and dice.chance(unusual)):
        return [_flow(dice, value, unusual)]
    lines = []
    if isinstance(value, dict):
        step = "  "
        for key, item in value.items():
            name = _scalar(dice, key, unusual / 3)
            below = _block(dice, item, unusual)
            if isinstance(item, (dict, list)) and item and not (len(below) == 1 and below[0][0] in "[{"):
                shift = step if isinstance(item, dict) or (unusual and dice.chance(0.5)) else ""
                lines.append(f"{name}:" + (dice.pick(("", " ", " # note")) if unusual else ""))
                lines += [shift + line for line in below]
            else:
                lines.append(f"{name}: {below[0]}" + (" # note" if unusual and dice.chance(unusual / 2) else ""))
        return lines
    for item in value:
        first, *rest = _block(dice, item, unusual)
        lines += [f"- {first}", *(f"  {line}" for line in rest)]
    return lines


def _flow(dice: Dice, value: Any, unusual: float) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(dice, key, 0)}: {_flow(dice, item, unusual)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(dice, item, unusual) for item in value) + "]"
    return _scalar(dice, value, unusual)


def _scalar(dice: Dice, value: Any, unusual: float) -> str:
    usual = scalar(value)
    if not unusual or not dice.chance(unusual * 2):
        return usual
    if value is None:
        return dice.pick(("~", "null", "Null", "NULL"))
    if isinstance(value, bool):
        return dice.pick(("yes", "On", "y", "TRUE", "True") if value else ("no", "Off", "n", "FALSE", "False"))
    if isinstance(value, int) and 0 <= value < 2**31:
        return dice.pick(
            (hex(value), bin(value), f"0o{value:o}", f"0{value:o}", f"+{value}", f"{value}.0", f"{value}e0", f"{value:_}", f"'{value}'")
        )
    if isinstance(value, str) and value and value.isprintable():
        quoted = "'" + value.replace("'", "''") + "'"
        return dice.pick(
            (quoted, json.dumps(value), f"!!str {json.dumps(value)}", value if value[0].isalnum() and ": " not in value else quoted)
        )
    return usual


def spoilt(dice: Dice, text: str) -> str | bytes:
    """The text with something that an editor or a template does to it."""
    lines = text.split("\n")
    at = dice.below(len(lines))
    choice = dice.below(14)
    if choice == 0:
        lines.insert(at, lines[at])
    elif choice == 1:
        lines[at] = lines[at].replace("  ", "\t", 1)
    elif choice == 2:
        lines[at] = lines[at].replace("  ", "", 1)
    elif choice == 3:
        lines[at] = " " + lines[at]
    elif choice == 4:
        lines[at] = lines[at].replace(" ", "\u00a0", 1)
    elif choice == 5:
        lines[at] = lines[at].replace(": ", ":", 1)
    elif choice == 6:
        del lines[at]
    elif choice == 7:
        lines = lines[: at + 1]
    elif choice == 8:
        lines[at] += dice.pick((" # comment", "#no comment", " :", "\t", " ]", " &a", " *a", "\x07", "\u2028"))
    elif choice == 9:
        lines.insert(at, dice.pick(("---", "...", "<<<<<<< HEAD", "{{ name }}", "${NAME}", "- x", "? x", "<<: {}", "x: *y", "x: &y")))
    elif choice == 10:
        joined = "\n".join(lines)
        place = dice.below(len(joined) + 1)
        return (
            joined[:place]
            + dice.pick(('"', "'", "{", "}", "[", "]", ":", "#", "\\", "@", "%", "\x00", "\u200b", "&", "!"))
            + joined[place:]
        )
    elif choice == 11:
        joined = "\n".join(lines)
        place = dice.below(max(1, len(joined)))
        return joined[:place] + joined[place + 1 :]
    elif choice == 12:
        data = "\n".join(lines).encode()
        place = dice.below(len(data) + 1)
        return data[:place] + dice.pick((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x80", b"\xef\xbf\xbe")) + data[place:]
    else:
        lines = [line.replace("true", "yes").replace("false", "no") for line in lines]
    return "\n".join(lines)
