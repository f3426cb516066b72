# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a configuration means where it says nothing.

Defaults of single fields stand in tables/types.py, the default plugins in ``default_plugins``; here is what depends on more
than one field. Sources: pkg/scheduler/apis/config/<version>/defaults.go of Kubernetes and apis/config/<version>/defaults.go
of scheduler-plugins, of each minor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import default_plugins
from .addresses import is_ip, join_host_port, split_host_port
from .field_types import LIST, ROOT, STRUCTURE, args_kind, built_in_kind, fields
from .flags import feature_gates
from .target import Target
from .value_syntax import Duration
from .version_independent import DEFAULT_SCHEDULER_NAME

_INSECURE_PORT = "10251"
_SECOND = 10**9
_CPU_AND_MEMORY = (("cpu", 1), ("memory", 1))
# A millicore of CPU weighs as much as a MiB of memory.
_ALLOCATABLE = (("cpu", 2**20), ("memory", 1))


def apply(config: dict[str, Any], version: str, target: Target) -> None:
    """Fill in, in place, what the configuration leaves open: its own fields, default plugins, arguments of plugins."""
    _fill(config, ROOT, version, target)
    if config["enableProfiling"]:
        config.setdefault("enableContentionProfiling", True)
    if version == "v1beta1" or target.minor <= 22:
        for name in ("healthzBindAddress", "metricsBindAddress"):
            config[name] = _bind_address(config.get(name), version)
    if not config.get("profiles"):
        config["profiles"] = [{}]
    profiles = config["profiles"]
    if len(profiles) == 1:
        profiles[0].setdefault("schedulerName", DEFAULT_SCHEDULER_NAME)
    for index, profile in enumerate(profiles):
        default_plugins.complete(profile, index, version, target)
        for entry in profile.get("pluginConfig", ()):
            name = entry.get("name", "")
            if args_kind(name, version, target) is not None:
                complete_args(name, entry.setdefault("args", {}), version, target)


def complete_args(plugin: str, args: dict[str, Any], version: str, target: Target) -> None:
    """Fill in, in place, the arguments of a plugin. They must have a type (``decode.registered``)."""
    kind = f"{plugin}Args"
    _fill(args, kind, version, target)
    if kind in _ARGS and built_in_kind(plugin, version, target):
        _ARGS[kind](args, version, target)


def _fill(values: dict[str, Any], structure: str, version: str, target: Target) -> None:
    """The defaults of single fields, also of the structures within."""
    for name, (field, kind) in fields(structure, version, target).items():
        default = field.default
        if default is not None:
            if (name not in values) if kind.pointer else not values.get(name):
                values[name] = Duration(default) if kind.kind == "duration" else list(default) if kind.kind == LIST else default
        elif kind.kind == STRUCTURE:
            if not kind.pointer:
                values.setdefault(name, {})
            if name in values:
                _fill(values[name], kind.structure, version, target)
        elif kind.kind == LIST and kind.items.kind == STRUCTURE:
            for item in values.get(name, ()):
                _fill(item, kind.items.structure, version, target)


def _bind_address(address: str | None, version: str) -> str:
    """Missing parts are added; what is no address becomes the default in v1beta1 and is left to validation in v1beta2."""
    default = join_host_port("0.0.0.0", _INSECURE_PORT)
    if address is None:
        return default
    try:
        host, port = split_host_port(address)
    except ValueError:
        if is_ip(address):
            return join_host_port(address, _INSECURE_PORT)
        return default if version == "v1beta1" else address
    return join_host_port(host or "0.0.0.0", port)


# --- arguments of plugins ---


def _resources(specs: tuple[tuple[str, int], ...]) -> list[dict[str, Any]]:
    return [{"name": name, "weight": weight} for name, weight in specs]


def _weigh(resources: list[dict[str, Any]]) -> None:
    """No weight, or 0, is 1."""
    for resource in resources:
        if not resource.get("weight"):
            resource["weight"] = 1


def _weighed_resources(args: dict[str, Any], version: str, target: Target) -> None:
    if not args.get("resources"):
        args["resources"] = _resources(_CPU_AND_MEMORY)
    # Up to 1.21 a weight of 0 stays, and is refused.
    if target.minor >= 22:
        _weigh(args["resources"])


def _unweighed_resources(args: dict[str, Any], version: str, target: Target) -> None:
    if not args.get("resources"):
        args["resources"] = _resources(_CPU_AND_MEMORY)


def _scoring_strategy(args: dict[str, Any], version: str, target: Target) -> None:
    if "scoringStrategy" not in fields("NodeResourcesFitArgs", version, target):
        return
    _strategy_of(args)


def _strategy_of(args: dict[str, Any]) -> None:
    """The type has a default only where the whole strategy is absent."""
    strategy = args.setdefault("scoringStrategy", {"type": "LeastAllocated"})
    if not strategy.get("resources"):
        strategy["resources"] = _resources(_CPU_AND_MEMORY)
    _weigh(strategy["resources"])


def _dynamic_resources(args: dict[str, Any], version: str, target: Target) -> None:
    on = feature_gates(target)
    if on.get("DRASchedulerFilterTimeout"):
        args.setdefault("filterTimeout", Duration(10 * _SECOND))
    if target.minor >= 35 and on.get("DRADeviceBindingConditions") and on.get("DRAResourceClaimDeviceStatus"):
        args.setdefault("bindingTimeout", Duration(600 * _SECOND))


def _topology_spread(args: dict[str, Any], version: str, target: Target) -> None:
    if args.get("defaultingType"):
        return
    system = True
    if target.minor <= 23:
        system = feature_gates(target).get("DefaultPodTopologySpread", True)
    if version == "v1beta1" and args.get("defaultConstraints"):
        system = False
    args["defaultingType"] = "System" if system else "List"


def _volume_binding(args: dict[str, Any], version: str, target: Target) -> None:
    # The gate that came later prefers the node with the least storage in use, the one before it the node with the most.
    gate, scores = ("VolumeCapacityPriority", (0, 10)) if target.minor <= 32 else ("StorageCapacityScoring", (10, 0))
    if "shape" in fields("VolumeBindingArgs", version, target) and not args.get("shape") and feature_gates(target).get(gate):
        args["shape"] = [{"utilization": use, "score": score} for use, score in zip((0, 100), scores)]


def _allocatable(args: dict[str, Any], version: str, target: Target) -> None:
    if not args.get("resources"):
        args["resources"] = _resources(_ALLOCATABLE)


def _trimaran(args: dict[str, Any], version: str, target: Target) -> None:
    provider = args["metricProvider"]
    if "watcherAddress" not in args and not provider.get("type"):
        provider["type"] = "KubernetesMetricsServer"
    if target.minor >= 23 and provider.get("type") == "Prometheus":
        provider.setdefault("insecureSkipVerify", True)


def _load_packing(args: dict[str, Any], version: str, target: Target) -> None:
    _trimaran(args, version, target)
    if "defaultRequests" not in args:
        from .value_syntax import Quantity

        args["defaultRequests"] = {"cpu": Quantity.parse("1000m")}
    if args["targetUtilization"] <= 0:
        args["targetUtilization"] = 40


def _risk_balancing(args: dict[str, Any], version: str, target: Target) -> None:
    _trimaran(args, version, target)
    for name in ("safeVarianceMargin", "safeVarianceSensitivity"):
        if args[name] < 0:
            args[name] = 1


def _low_risk(args: dict[str, Any], version: str, target: Target) -> None:
    _trimaran(args, version, target)
    if args["smoothingWindowSize"] <= 0:
        args["smoothingWindowSize"] = 5
    weights: Mapping[str, float] = args.get("riskLimitWeights") or {"cpu": 0.5, "memory": 0.5}
    args["riskLimitWeights"] = {name: weight if 0 <= weight <= 1 else 0.5 for name, weight in weights.items()}


def _topology_match(args: dict[str, Any], version: str, target: Target) -> None:
    _strategy_of(args)
    if target.minor >= 26:
        _fill(args.setdefault("cache", {}), "NodeResourceTopologyCache", version, target)


_ARGS: dict[str, Callable[[dict[str, Any], str, Target], None]] = {
    "DynamicResourcesArgs": _dynamic_resources,
    "NodeResourcesBalancedAllocationArgs": _weighed_resources,
    "NodeResourcesFitArgs": _scoring_strategy,
    "NodeResourcesLeastAllocatedArgs": _unweighed_resources,
    "NodeResourcesMostAllocatedArgs": _unweighed_resources,
    "PodTopologySpreadArgs": _topology_spread,
    "RequestedToCapacityRatioArgs": _weighed_resources,
    "VolumeBindingArgs": _volume_binding,
    # scheduler-plugins
    "LoadVariationRiskBalancingArgs": _risk_balancing,
    "LowRiskOverCommitmentArgs": _low_risk,
    "NodeResourceTopologyMatchArgs": _topology_match,
    "NodeResourcesAllocatableArgs": _allocatable,
    "TargetLoadPackingArgs": _load_packing,
}
