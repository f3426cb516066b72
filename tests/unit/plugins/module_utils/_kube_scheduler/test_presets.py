# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Presets: what they make, for which releases it is right, and what they say to wrong parameters."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import from_structure
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.presets import PresetError, configuration, parameters, profile
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import PRESETS, PROM_TOKEN, PROM_URL
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.releases import NEWEST
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.scheduler_plugins import RELEASES
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import IN_TREE, SCHEDULER_PLUGINS
from ansible_collections.osso.scheduler.plugins.module_utils._operand.plugin_requirements import requirements_of
from ansible_collections.osso.scheduler.plugins.module_utils._operand.rollout import flags

FLAGS = tuple(flags("secondary-scheduler", "default"))
NEEDED = {
    "peaks": {
        "watcher_address": "http://load-watcher.monitoring.svc:2020",
        "node_power_model": {"node-1": {"k0": 300.5, "k1": -100.25, "k2": -0.03}},
    },
}
# What is set here is in no profile unless it is given.
OPTIONAL = {
    "coscheduling": {"pod_group_backoff_seconds": 10},
    "node_resource_topology": {"resources": [{"name": "cpu", "weight": 2}], "cache_resync_period_seconds": 5},
}
WITH_LOAD = [name for name, preset in PRESETS.items() if preset.load]
SOURCES = [
    {"metric_provider": "Prometheus", "address": "https://prometheus.example.com", "token": ""},
    {"metric_provider": "KubernetesMetricsServer"},
    {"metric_provider": "SignalFx", "token": "secret"},
    {"watcher_address": "http://load-watcher.monitoring.svc:2020"},
]


def releases(name):
    """The minors that a preset is for."""
    last = NEWEST if PRESETS[name].image == IN_TREE else max(RELEASES)
    return range(PRESETS[name].since, last + 1)


def verdict(name, minor, **given):
    gates = tuple(f"--feature-gates={gate}=true" for gate in PRESETS[name].gates)
    return check(
        from_structure(configuration(name, {**NEEDED.get(name, {}), **given})), f"1.{minor}", PRESETS[name].image, (*FLAGS, *gates)
    )


def is_supported(effective, minor):
    """Whether the operator has kinds and permissions for the plugins in this release."""
    facts = {"annotations": {"osso.scheduler/kubernetes-version": f"1.{minor}"}, "image": "", "served": set(), "cluster_roles": set()}
    missing = requirements_of(effective, {**facts, "controller": None})["missing"]
    return "ReleaseUnsupported" not in {one["reason"] for one in missing}


def args(name, **given):
    """Of the plugin that the preset is about."""
    return profile(name, {**NEEDED.get(name, {}), **given})["pluginConfig"][0]["args"]


def message(name, given) -> str:
    with pytest.raises(PresetError) as error:
        configuration(name, given)
    return str(error.value)


@pytest.mark.parametrize(("name", "minor"), [(name, minor) for name in PRESETS for minor in releases(name)])
def test_each_release_accepts_its_presets_without_findings(name, minor):
    result = verdict(name, minor)
    assert result.starts, result.findings
    # Who fills in the placeholders is not the preset's concern.
    assert [finding for finding in result.findings if finding.code != "placeholder"] == []
    assert result.scheduler_names == ("secondary-scheduler",)


# 1.35 and 1.36 run gangs, too, but of other versions of the API.
@pytest.mark.parametrize("name", sorted(PRESETS.keys() - {"gang_scheduling"}))
def test_the_release_before_the_first_does_not_run_the_preset(name):
    preset, minor = PRESETS[name], PRESETS[name].since - 1
    result = check(from_structure(configuration(name, NEEDED.get(name))), f"1.{minor}", preset.image, FLAGS)
    assert not result.valid or not is_supported(result.effective, minor)


@pytest.mark.parametrize("name", [name for name, preset in PRESETS.items() if preset.image == SCHEDULER_PLUGINS])
def test_presets_of_scheduler_plugins_are_rejected_for_in_tree_images(name):
    assert not check(from_structure(configuration(name, NEEDED.get(name))), f"1.{max(RELEASES)}", IN_TREE, FLAGS).valid


@pytest.mark.parametrize("name", OPTIONAL)
def test_optional_parameters_change_the_arguments_and_stay_valid(name):
    result = verdict(name, max(RELEASES), **OPTIONAL[name])
    assert (result.starts, result.findings) == (True, ())
    assert args(name, **OPTIONAL[name]) != args(name)


@pytest.mark.parametrize("source", SOURCES, ids="-".join)
@pytest.mark.parametrize("name", WITH_LOAD)
def test_presets_with_load_are_valid_with_each_source_of_load(name, source):
    result = verdict(name, max(RELEASES), **source)
    # A token that stands in the configuration is warned of, wherever it comes from.
    assert [finding for finding in result.findings if finding.code != "secret-in-clear"] == []
    assert result.starts


def test_prometheus_is_verified_and_filled_in_later():
    assert args("trimaran_target_load_packing") == {
        "defaultRequests": {"cpu": "2000m"},
        "defaultRequestsMultiplier": "1",
        "targetUtilization": 70,
        "metricProvider": {"type": "Prometheus", "address": PROM_URL, "token": PROM_TOKEN, "insecureSkipVerify": False},
    }


def test_an_empty_token_is_left_out():
    assert "token" not in args("low_risk_overcommitment", token="")["metricProvider"]


def test_a_load_watcher_service_needs_no_token():
    assert args("trimaran_load_variation_risk_balancing", watcher_address="http://w:2020") == {
        "safeVarianceMargin": 1,
        "safeVarianceSensitivity": 2,
        "watcherAddress": "http://w:2020",
    }


@pytest.mark.parametrize(("name", "minor"), [(name, minor) for name in PRESETS for minor in releases(name)])
def test_the_operator_supports_the_plugins_of_each_release_of_a_preset(name, minor):
    assert is_supported(verdict(name, minor).effective, minor)


def test_plugins_that_score_by_requests_do_not_run_beside_a_load_aware_one():
    scores = dict(verdict("trimaran_target_load_packing", 34, weight=7).effective["secondary-scheduler"]["score"])
    assert scores["TargetLoadPacking"] == 7
    assert not {"NodeResourcesFit", "NodeResourcesBalancedAllocation"} & set(scores)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("packing", {}),
        ("gpu_packing", {}),
        ("trimaran_target_load_packing", {}),
        ("node_resource_topology", {"scoring_strategy": "MostAllocated"}),
    ],
)
def test_presets_that_pack_do_not_spread_the_replicas_of_a_workload(name, given):
    assert {"name": "PodTopologySpread", "args": {"defaultingType": "List"}} in profile(name, given)["pluginConfig"]
    assert verdict(name, max(RELEASES), **given).starts


def test_node_resource_topology_packs_by_requests_as_its_strategy_packs():
    """Else NodeResourcesFit and NodeResourcesBalancedAllocation outweigh the plugin, and the emptiest node is chosen."""
    packing = profile("node_resource_topology", {"scoring_strategy": "MostAllocated"})
    assert {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}} in packing["pluginConfig"]
    scores = running("node_resource_topology", scoring_strategy="MostAllocated")["score"]
    assert (scores["NodeResourcesFit"], "NodeResourcesBalancedAllocation" in scores) == (1, False)
    others = PRESETS["node_resource_topology"].parameters["scoring_strategy"].choices
    for strategy in set(others) - {"MostAllocated"}:
        made = profile("node_resource_topology", {"scoring_strategy": strategy})
        assert ([entry["name"] for entry in made["pluginConfig"]], list(made["plugins"])) == (["NodeResourceTopologyMatch"], ["multiPoint"])


@pytest.mark.parametrize("minor", releases("node_resource_topology"))
def test_each_release_accepts_a_strategy_that_packs_without_findings(minor):
    result = verdict("node_resource_topology", minor, scoring_strategy="MostAllocated")
    assert (result.starts, result.findings) == (True, ())


def test_the_preset_for_spreading_is_the_default_of_kube_scheduler():
    assert profile("low_node_utilization") == {"schedulerName": "secondary-scheduler"}


def test_the_preset_no_scoring_keeps_filters_and_no_scores():
    effective = verdict("no_scoring", NEWEST).effective["secondary-scheduler"]
    assert not effective.get("score")
    assert effective["filter"]


def running(name, **given):
    """What runs at each extension point: weights by plugin."""
    points = verdict(name, max(RELEASES), **given).effective["secondary-scheduler"]
    return {point: dict(plugins) for point, plugins in points.items()}


def test_high_node_utilization_prefers_full_nodes_and_keeps_the_default_spreading():
    assert profile("high_node_utilization")["plugins"] == {
        "score": {"disabled": [{"name": "NodeResourcesBalancedAllocation"}], "enabled": [{"name": "NodeResourcesFit", "weight": 5}]}
    }
    # No arguments of PodTopologySpread: its own default constraints spread the replicas of a workload.
    assert args("high_node_utilization") == {"scoringStrategy": {"type": "MostAllocated"}}
    assert running("high_node_utilization")["score"]["PodTopologySpread"] == 2


def test_zone_spread_with_do_not_schedule_filters_nodes_by_the_skew_of_zones():
    zones = {"topologyKey": "topology.kubernetes.io/zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    assert args("zone_spread", when_unsatisfiable="DoNotSchedule") == {"defaultingType": "List", "defaultConstraints": [zones]}
    assert args("zone_spread")["defaultConstraints"] == [{**zones, "whenUnsatisfiable": "ScheduleAnyway"}]
    found = running("zone_spread", when_unsatisfiable="DoNotSchedule")
    assert found["score"]["PodTopologySpread"] == 10
    assert "PodTopologySpread" in found["filter"]


@pytest.mark.parametrize("mode", ["Least", "Most"])
def test_node_resources_allocatable_scores_nodes_by_their_size_in_place_of_requests(mode):
    assert args("node_resources_allocatable", mode=mode) == {
        "mode": mode,
        # A thousandth of a core counts as much as a megabyte.
        "resources": [{"name": "cpu", "weight": 1000000}, {"name": "memory", "weight": 1}],
    }
    scores = running("node_resources_allocatable", mode=mode, weight=100)["score"]
    assert scores["NodeResourcesAllocatable"] == 100
    assert not {"NodeResourcesFit", "NodeResourcesBalancedAllocation"} & set(scores)


def test_capacity_scheduling_checks_quotas_and_alone_preempts():
    """DefaultPreemption would end pods whatever their quota."""
    found = running("capacity_scheduling")
    assert "CapacityScheduling" in found["preFilter"]
    assert "CapacityScheduling" in found["reserve"]
    assert list(found["postFilter"]) == ["CapacityScheduling"]


def test_node_resource_topology_filters_and_scores_by_numa_zones():
    assert args("node_resource_topology") == {"scoringStrategy": {"type": "LeastAllocated"}}
    found = running("node_resource_topology", weight=3)
    assert "NodeResourceTopologyMatch" in found["filter"]
    assert "NodeResourceTopologyMatch" in found["reserve"]
    assert found["score"]["NodeResourceTopologyMatch"] == 3


def test_low_risk_overcommitment_scores_by_limits_and_load_in_equal_parts():
    load = {"type": "Prometheus", "address": PROM_URL, "token": PROM_TOKEN, "insecureSkipVerify": False}
    assert args("low_risk_overcommitment") == {
        "smoothingWindowSize": 5,
        "riskLimitWeights": {"cpu": 0.5, "memory": 0.5},
        "metricProvider": load,
    }
    found = running("low_risk_overcommitment", weight=3)
    assert found["score"]["LowRiskOverCommitment"] == 3
    assert "LowRiskOverCommitment" in found["preScore"]


def test_peaks_scores_nodes_by_their_power_model_alone():
    model = {"thrifty": {"k0": 100, "k1": 1, "k2": 0.05}, "wasteful": {"k0": 100, "k1": 50, "k2": 0.05}}
    assert args("peaks", watcher_address="http://w:2020", node_power_model=model) == {
        "WatcherAddress": "http://w:2020",
        "NodePowerModel": model,
    }
    found = running("peaks")
    assert list(found["score"]) == ["Peaks"]
    assert not found.get("preScore")


def test_template_texts_and_yaml_numbers_become_the_type_of_the_parameter():
    made = args("trimaran_target_load_packing", target_utilization="55", default_requests_multiplier=1.5, insecure_skip_verify="yes")
    assert (made["targetUtilization"], made["defaultRequestsMultiplier"]) == (55, "1.5")
    assert made["metricProvider"]["insecureSkipVerify"] is True
    assert args("trimaran_load_variation_risk_balancing", safe_variance_margin="0.5")["safeVarianceMargin"] == 0.5


def test_a_changed_result_does_not_change_its_preset():
    first = configuration("node_resources_allocatable")
    first["profiles"][0]["pluginConfig"][0]["args"]["resources"].clear()
    assert configuration("node_resources_allocatable")["profiles"][0]["pluginConfig"][0]["args"]["resources"]


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("trimaran", {}, "preset: there is none called trimaran: choose from trimaran_target_load_packing, "),
        ("no_scorin", {}, "preset: there is none called no_scorin: did you mean no_scoring?"),
        (
            "trimaran_target_load_packing",
            {"target_utilisation": 5},
            "target_utilisation: the preset trimaran_target_load_packing has no such parameter: did you mean target_utilization?",
        ),
        (
            "trimaran_target_load_packing",
            {"target_utilization": "much"},
            "preset_parameters.target_utilization: 'much' is no whole number: CPU use in percent up to which a node is filled",
        ),
        ("trimaran_target_load_packing", {"target_utilization": True}, "True is no whole number"),
        ("trimaran_target_load_packing", {"default_requests": "2000m"}, "'2000m' is no mapping"),
        ("trimaran_target_load_packing", {"token": ["s3cret"]}, "preset_parameters.token: what is given is no text: Bearer token"),
        ("trimaran_target_load_packing", {"insecure_skip_verify": "perhaps"}, "'perhaps' is no truth value"),
        ("node_resources_allocatable", {"mode": "Lest"}, "preset_parameters.mode: Lest is not known: did you mean Least?"),
        (
            "trimaran_target_load_packing",
            {"target_utilization": 101},
            "preset_parameters.target_utilization: 101 is out of range; give 1 to 100: CPU use in percent up to which a node is filled",
        ),
        ("trimaran_target_load_packing", {"target_utilization": "0"}, "0 is out of range; give 1 to 100"),
        ("trimaran_load_variation_risk_balancing", {"safe_variance_margin": -0.5}, "-0.5 is out of range; give 0 or more"),
        ("trimaran_load_variation_risk_balancing", {"safe_variance_margin": "nan"}, "nan is out of range"),
        ("low_risk_overcommitment", {"risk_limit_weights": {"cpu": 1.5}}, "preset_parameters.risk_limit_weights.cpu: 1.5 is out of range"),
        ("coscheduling", {"permit_waiting_time_seconds": 0}, "0 is out of range; give 1 or more"),
        ("packing", {"weight": 0}, "preset_parameters.weight: 0 is out of range; give 1 or more"),
        ("peaks", {}, "preset_parameters.watcher_address: the preset peaks needs it: URL of the load-watcher service"),
        ("low_risk_overcommitment", {"metric_provider": "SignalFx"}, "preset_parameters.token: the metric provider SignalFx needs it"),
        (
            "low_risk_overcommitment",
            {"metric_provider": "KubernetesMetricsServer", "address": "https://x"},
            "preset_parameters.address: the metric provider KubernetesMetricsServer takes none: remove it",
        ),
        (
            "low_risk_overcommitment",
            {"watcher_address": "http://w:2020", "token": "t"},
            "preset_parameters.token: with watcher_address no other source of the load is used: remove one of the two",
        ),
    ],
)
def test_errors_name_the_problem_and_the_remedy(name, given, expected):
    assert expected in message(name, given)


@pytest.mark.parametrize("name", PRESETS)
def test_each_parameter_is_described(name):
    assert all(parameter.description.endswith(".") for parameter in parameters(name).values())
    assert PRESETS[name].description.endswith(".")
