# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Profiles for common purposes, by name: what a user would otherwise write by hand.

All are written in ``kubescheduler.config.k8s.io/v1``. Defaults are those of the examples that users know: the operator's README
and deploy/scheduler_configmap_examples (openshift/secondary-scheduler-operator), pkg/*/README.md and manifests/*/scheduler-config.yaml
(kubernetes-sigs/scheduler-plugins), bindata/assets/config of openshift/cluster-kube-scheduler-operator. What differs from them: scores
that pull against the plugin are always disabled, default spreading where the plugin packs among them, and certificates are verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .needs import FIRST


class Value(NamedTuple):
    """Stands in a profile for the value of a parameter. A field whose parameter is not set is left out.

    by: the content of the field by value of the parameter, if it is another one; the field is left out for other values.
    """

    parameter: str
    by: Mapping[str, Any] | None = None


class Parameter(NamedTuple):
    """type: ``str``, ``int``, ``float``, ``bool``, ``dict`` or ``list``. default: None for what is left out of the profile then.

    minimum, maximum: of a number, or of each value of a mapping. kube-scheduler replaces others without a message, or fails with them.
    """

    type: str
    default: Any
    description: str
    required: bool = False
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None

    @property
    def range(self) -> str:
        """The allowed numbers as text; empty for all."""
        if self.minimum is None:
            return ""
        return f"{self.minimum} or more" if self.maximum is None else f"{self.minimum} to {self.maximum}"


class Preset(NamedTuple):
    """plugins, args: as in a profile, ``args`` by plugin. since: the first minor of Kubernetes whose kube-scheduler can run it, and for
    whose plugins the operator has kinds and permissions.

    image: ``in-tree`` or ``scheduler-plugins``, the required plugins of the image. load: the plugin among ``args`` whose source of the nodes' load
    ``LOAD_PARAMETERS`` sets; empty if there is none. gates: the feature gates that the scheduler needs for it.
    """

    description: str
    plugins: Mapping[str, Any]
    args: Mapping[str, Any]
    parameters: Mapping[str, Parameter]
    image: str = "scheduler-plugins"
    since: int = 25
    load: str = ""
    gates: tuple[str, ...] = ()


PROM_URL, PROM_TOKEN = "${PROM_URL}", "${PROM_TOKEN}"
"""Placeholders for URL and token of Prometheus, filled in when the configuration is brought to the scheduler."""

LOAD_WATCHER_URL = "${LOAD_WATCHER_URL}"
"""The same for the load-watcher service that the operator runs beside the scheduler."""

PLACEHOLDERS = (PROM_URL, PROM_TOKEN, LOAD_WATCHER_URL)

COMMON_PARAMETERS = {
    "scheduler_name": Parameter("str", "secondary-scheduler", "The name that pods put into C(schedulerName)."),
}

LOAD_PARAMETERS = {
    "metric_provider": Parameter(
        "str",
        "Prometheus",
        "The source of the nodes' load.",
        choices=("Prometheus", "SignalFx", "KubernetesMetricsServer"),
    ),
    "address": Parameter("str", None, f"URL of the metric provider. For V(Prometheus) V({PROM_URL}) by default."),
    "token": Parameter(
        "str",
        None,
        f"Bearer token for the metric provider. For V(Prometheus) V({PROM_TOKEN}) by default; empty if it requires no token.",
    ),
    "insecure_skip_verify": Parameter("bool", False, "Whether the certificate of Prometheus is not verified."),
    "watcher_address": Parameter(
        "str",
        None,
        "URL of a load-watcher service, such as V(http://load-watcher.monitoring.svc:2020), which replaces the metric provider. "
        f"V({LOAD_WATCHER_URL}) for a load-watcher that the operator runs next to the scheduler.",
    ),
}

PROVIDER_DEFAULTS: dict[str, dict[str, str | None]] = {
    # metric provider: what of address and token it takes, with the default; None where it has to be given
    "Prometheus": {"address": PROM_URL, "token": PROM_TOKEN},
    "SignalFx": {"address": "", "token": None},
    "KubernetesMetricsServer": {},
}

_WEIGHT = Parameter("int", 1, "Weight of the plugin's score relative to other plugins.", minimum=1)
_FIRST_WEIGHT = _WEIGHT._replace(default=10)
_BY_REQUESTS = [{"name": "NodeResourcesFit"}, {"name": "NodeResourcesBalancedAllocation"}]
_ALL = [{"name": "*"}]

# Else the constraints that PodTopologySpread has by default spread the pods of a workload over nodes and zones.
_NO_DEFAULT_SPREADING = {"defaultingType": "List"}


def _scored_by(plugin: str) -> dict[str, Any]:
    """The plugin instead of those that score by what pods request."""
    return {"score": {"enabled": [{"name": plugin, "weight": Value("weight")}], "disabled": _BY_REQUESTS}}


PRESETS = {
    "trimaran_target_load_packing": Preset(
        "Packs pods onto nodes up to a target of measured CPU use, and spreads them above it. Constraints in a pod still spread it.",
        plugins=_scored_by("TargetLoadPacking"),
        args={
            "TargetLoadPacking": {
                "defaultRequests": Value("default_requests"),
                "defaultRequestsMultiplier": Value("default_requests_multiplier"),
                "targetUtilization": Value("target_utilization"),
            },
            "PodTopologySpread": _NO_DEFAULT_SPREADING,
        },
        parameters={
            "target_utilization": Parameter("int", 70, "CPU use in percent up to which a node is filled.", minimum=1, maximum=100),
            "default_requests": Parameter("dict", {"cpu": "2000m"}, "The assumed use of a container without requests and limits."),
            "default_requests_multiplier": Parameter(
                "str", "1", "Factor of the requests for the assumed use of a container without limits."
            ),
            "weight": _WEIGHT,
        },
        load="TargetLoadPacking",
    ),
    "trimaran_load_variation_risk_balancing": Preset(
        "Places pods where the average and the variation of the measured load are low.",
        plugins=_scored_by("LoadVariationRiskBalancing"),
        args={
            "LoadVariationRiskBalancing": {
                "safeVarianceMargin": Value("safe_variance_margin"),
                "safeVarianceSensitivity": Value("safe_variance_sensitivity"),
            },
        },
        parameters={
            "safe_variance_margin": Parameter("float", 1, "Factor of the standard deviation.", minimum=0),
            "safe_variance_sensitivity": Parameter(
                "float", 2, "Root of the standard deviation; more makes small deviations count more.", minimum=0
            ),
            "weight": _WEIGHT,
        },
        load="LoadVariationRiskBalancing",
    ),
    "low_risk_overcommitment": Preset(
        "Places pods where limits above requests, and the measured load, cause the least risk.",
        plugins={"multiPoint": {"enabled": [{"name": "LowRiskOverCommitment", "weight": Value("weight")}]}},
        args={
            "LowRiskOverCommitment": {
                "smoothingWindowSize": Value("smoothing_window_size"),
                "riskLimitWeights": Value("risk_limit_weights"),
            },
        },
        parameters={
            "smoothing_window_size": Parameter("int", 5, "Number of windows over which metrics are smoothed.", minimum=1),
            "risk_limit_weights": Parameter(
                "dict",
                {"cpu": 0.5, "memory": 0.5},
                "For each resource, the part of the risk that depends on limits; the rest depends on load.",
                minimum=0,
                maximum=1,
            ),
            "weight": _WEIGHT,
        },
        since=26,
        load="LowRiskOverCommitment",
    ),
    "peaks": Preset(
        "Places pods where they increase the power consumption of the nodes the least. It always needs a load-watcher service. Peaks computes no increase "
        "for a node without metrics, for a node that is not in node_power_model, and for a node whose measured CPU use and the request of the pod exceed its "
        "CPUs: it prefers such nodes to all others. A pod that requests no CPU is placed on any node that fits.",
        plugins={"preScore": {"disabled": _ALL}, "score": {"enabled": [{"name": "Peaks"}], "disabled": _ALL}},
        args={"Peaks": {"WatcherAddress": Value("watcher_address"), "NodePowerModel": Value("node_power_model")}},
        parameters={
            "watcher_address": Parameter("str", None, "URL of the load-watcher service.", required=True),
            "node_power_model": Parameter(
                "dict",
                None,
                "For each node, the numbers C(k0), C(k1) and C(k2) of its power model, k0 + k1 * e ^ (k2 * CPU use in percent). It must list every node "
                "of the scheduler.",
                required=True,
            ),
        },
        since=31,
    ),
    "coscheduling": Preset(
        "Places the pods of a PodGroup together or not at all.",
        plugins={
            "multiPoint": {"enabled": [{"name": "Coscheduling"}]},
            "queueSort": {"enabled": [{"name": "Coscheduling"}], "disabled": _ALL},
        },
        args={
            "Coscheduling": {
                "permitWaitingTimeSeconds": Value("permit_waiting_time_seconds"),
                "podGroupBackoffSeconds": Value("pod_group_backoff_seconds"),
            },
        },
        parameters={
            "permit_waiting_time_seconds": Parameter("int", 10, "How long a pod waits for the others of its group, in seconds.", minimum=1),
            "pod_group_backoff_seconds": Parameter("int", None, "How long a failed group is not retried, in seconds.", minimum=0),
        },
        since=FIRST,
    ),
    "capacity_scheduling": Preset(
        "Shares the cluster among namespaces by their ElasticQuotas: others can use an unused quota, and preemption returns it to its owner. The "
        "fields min and max of an ElasticQuota must name every resource that the pods request: with cpu alone, a pod that requests memory stays pending.",
        plugins={
            "multiPoint": {"enabled": [{"name": "CapacityScheduling"}]},
            "postFilter": {"enabled": [{"name": "CapacityScheduling"}], "disabled": _ALL},
        },
        args={},
        parameters={},
        since=FIRST,
    ),
    "node_resource_topology": Preset(
        "Places pods on nodes where their resources come from one NUMA zone, as the configuration of the kubelets requires.",
        plugins={
            "multiPoint": {"enabled": [{"name": "NodeResourceTopologyMatch", "weight": Value("weight")}]},
            # Else these spread what the plugin packs.
            "score": Value("scoring_strategy", {"MostAllocated": {"disabled": [{"name": "NodeResourcesBalancedAllocation"}]}}),
        },
        args={
            "NodeResourceTopologyMatch": {
                "scoringStrategy": {"type": Value("scoring_strategy"), "resources": Value("resources")},
                "cacheResyncPeriodSeconds": Value("cache_resync_period_seconds"),
            },
            "NodeResourcesFit": Value("scoring_strategy", {"MostAllocated": {"scoringStrategy": {"type": "MostAllocated"}}}),
            "PodTopologySpread": Value("scoring_strategy", {"MostAllocated": _NO_DEFAULT_SPREADING}),
        },
        parameters={
            "scoring_strategy": Parameter(
                "str",
                "LeastAllocated",
                "How the plugin ranks nodes by the free resources of their NUMA zones; the kubelet chooses the zone. V(LeastNUMANodes) prefers nodes "
                "where the pod needs the fewest zones. The others rank only nodes with the topology manager policy single-numa-node. V(MostAllocated) "
                "also prefers nodes that are filled by requests, and no longer spreads the replicas of a workload.",
                choices=("LeastAllocated", "MostAllocated", "BalancedAllocation", "LeastNUMANodes"),
            ),
            "resources": Parameter(
                "list", None, "The scored resources, each with C(name) and C(weight). Default: CPU and memory with equal weight."
            ),
            "cache_resync_period_seconds": Parameter(
                "int",
                None,
                "Interval of the comparison of the scheduler's cache of the zones with the nodes, in seconds. Not set or 0: no cache; pods that arrive "
                "within one update of the agent can then be placed for the same free zone. Set 5 or more to use the cache, which requires an agent that "
                "publishes pod fingerprints.",
                minimum=0,
            ),
            "weight": _WEIGHT,
        },
        since=FIRST,
    ),
    "node_resources_allocatable": Preset(
        "Places pods on the smallest nodes that have enough resources for them, or on the largest.",
        plugins=_scored_by("NodeResourcesAllocatable"),
        args={"NodeResourcesAllocatable": {"mode": Value("mode"), "resources": Value("resources")}},
        parameters={
            "mode": Parameter("str", "Least", "V(Least) prefers nodes with little to allocate.", choices=("Least", "Most")),
            "resources": Parameter(
                "list",
                [{"name": "cpu", "weight": 1000000}, {"name": "memory", "weight": 1}],
                "The scored resources, each with C(name) and C(weight). The unit of CPU is a thousandth of a core, of memory a byte.",
            ),
            "weight": _WEIGHT,
        },
    ),
    "low_node_utilization": Preset(
        "Spreads pods evenly, like kube-scheduler without configuration.", plugins={}, args={}, parameters={}, image="in-tree"
    ),
    "high_node_utilization": Preset(
        "OpenShift's profile HighNodeUtilization: prefers nodes that are filled most, by requests. The replicas of a workload are spread nevertheless, "
        "as kube-scheduler does by default. The preset packing packs them, too.",
        plugins={
            "score": {"enabled": [{"name": "NodeResourcesFit", "weight": 5}], "disabled": [{"name": "NodeResourcesBalancedAllocation"}]}
        },
        args={"NodeResourcesFit": {"scoringStrategy": {"type": "MostAllocated"}}},
        parameters={},
        image="in-tree",
    ),
    "packing": Preset(
        "Packs pods onto as few nodes as possible, by their requests. Constraints in a pod still spread it.",
        plugins={
            "score": {
                "enabled": [{"name": "NodeResourcesFit", "weight": Value("weight")}],
                "disabled": [{"name": "NodeResourcesBalancedAllocation"}],
            }
        },
        args={
            "NodeResourcesFit": {"scoringStrategy": {"type": "MostAllocated", "resources": Value("resources")}},
            "PodTopologySpread": _NO_DEFAULT_SPREADING,
        },
        parameters={
            "resources": Parameter(
                "list", None, "The scored resources, each with C(name) and C(weight). Default: CPU and memory with equal weight."
            ),
            "weight": _FIRST_WEIGHT,
        },
        image="in-tree",
    ),
    "gpu_packing": Preset(
        "Packs pods that request GPUs onto as few nodes as possible, so that nodes stay free for pods that request many. "
        "Pods without GPUs are neither spread nor placed by free resources: use this scheduler only for pods that request GPUs.",
        plugins={"score": {"enabled": [{"name": "NodeResourcesFit", "weight": Value("weight")}]}},
        args={
            "NodeResourcesFit": {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": Value("resource"), "weight": 1}]}},
            "PodTopologySpread": _NO_DEFAULT_SPREADING,
        },
        parameters={
            "resource": Parameter("str", "nvidia.com/gpu", "The extended resource by which the nodes are filled."),
            "weight": _FIRST_WEIGHT,
        },
        image="in-tree",
    ),
    "zone_spread": Preset(
        "Spreads the pods of a workload evenly over zones. Constraints in a pod replace those of the preset.",
        plugins={"score": {"enabled": [{"name": "PodTopologySpread", "weight": Value("weight")}]}},
        args={
            "PodTopologySpread": {
                "defaultingType": "List",
                "defaultConstraints": [
                    {"topologyKey": Value("topology_key"), "maxSkew": Value("max_skew"), "whenUnsatisfiable": Value("when_unsatisfiable")}
                ],
            },
        },
        parameters={
            "topology_key": Parameter("str", "topology.kubernetes.io/zone", "The label of nodes whose values are the zones."),
            "max_skew": Parameter("int", 1, "The difference in the number of pods that two zones can have.", minimum=1),
            "when_unsatisfiable": Parameter(
                "str",
                "ScheduleAnyway",
                "V(DoNotSchedule) leaves pods pending when no zone is left for them. In a pool, this is the case if a zone has no node of the "
                "pool, unless the pods select the nodes of the pool themselves: all zones count that a pod may use by its own affinity.",
                choices=("ScheduleAnyway", "DoNotSchedule"),
            ),
            "weight": _FIRST_WEIGHT,
        },
        image="in-tree",
    ),
    "gang_scheduling": Preset(
        "Places the pods of a PodGroup of Kubernetes (scheduling.k8s.io) together or not at all. Requires the feature gate GenericWorkload in the scheduler "
        "and in the API server.",
        plugins={"multiPoint": {"enabled": [{"name": "GangScheduling"}]}},
        args={},
        parameters={},
        image="in-tree",
        since=37,
        gates=("GenericWorkload",),
    ),
    "no_scoring": Preset(
        "Selects the first node that fits: the fastest placement. Before Kubernetes 1.30, kube-scheduler filters as many nodes as for scoring, and selects "
        "one of those that fit at random.",
        plugins={"preScore": {"disabled": _ALL}, "score": {"disabled": _ALL}},
        args={},
        parameters={},
        image="in-tree",
    ),
}
