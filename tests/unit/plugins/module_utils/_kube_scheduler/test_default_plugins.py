# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Default plugins and how those of a document are merged into them. The lists are what kube-scheduler itself answered."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.default_plugins import Entry, complete, defaults
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import Target


def plugin_set(enabled=(), disabled=()):
    lists = {"enabled": [{"name": entry} if isinstance(entry, str) else entry for entry in enabled]}
    return {**lists, "disabled": [{"name": name} for name in disabled]}


def merged(version, minor, flags=(), **points):
    profile = {"plugins": points}
    complete(profile, 0, version, Target(minor, flags=flags))
    return profile["plugins"]


def names(entries):
    return [entry.name for entry in entries]


MULTI_POINT = [
    "PrioritySort",
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "EBSLimits",
    "GCEPDLimits",
    "NodeVolumeLimits",
    "AzureDiskLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DefaultPreemption",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
    "DefaultBinder",
]


@pytest.mark.parametrize(
    ("version", "minor", "without", "first", "last"),
    [
        ("v1beta3", 25, (), [], []),
        ("v1", 26, (), [], []),
        ("v1", 27, (), [], ["SchedulingGates"]),
        ("v1", 30, (), ["SchedulingGates"], []),
        ("v1", 31, ("EBSLimits", "GCEPDLimits", "AzureDiskLimits"), ["SchedulingGates"], []),
    ],
)
def test_default_plugins_are_in_multi_point_since_v1beta3(version, minor, without, first, last):
    found = defaults(version, Target(minor))
    assert list(found) == ["multiPoint"]
    assert names(found["multiPoint"]) == first + [name for name in MULTI_POINT if name not in without] + last


@pytest.mark.parametrize(("minor", "weight"), [(34, None), (35, 2)])
def test_dynamic_resources_run_before_preemption(minor, weight):
    plugins = defaults("v1", Target(minor))["multiPoint"]
    at = names(plugins).index("DynamicResources")
    assert plugins[at].get("weight") == weight
    assert plugins[at + 1].name == "DefaultPreemption"


@pytest.mark.parametrize(
    ("version", "minor", "gate", "point", "name"),
    [
        ("v1", 26, "PodSchedulingReadiness=true", "multiPoint", "SchedulingGates"),
        ("v1", 33, "DynamicResourceAllocation=true", "multiPoint", "DynamicResources"),
        ("v1", 36, "TopologyAwareWorkloadScheduling=true,GenericWorkload=true,GangScheduling=true", "multiPoint", "PodGroupPodsCount"),
        ("v1", 37, "GenericWorkload=true", "multiPoint", "GangScheduling"),
        ("v1", 37, "InPlacePodVerticalScalingSchedulerPreemption=true", "multiPoint", "DeferredPodScheduling"),
        ("v1beta2", 26, "PodSchedulingReadiness=true", "preEnqueue", "SchedulingGates"),
        ("v1beta2", 23, "DefaultPodTopologySpread=false", "score", "SelectorSpread"),
        ("v1beta1", 22, "VolumeCapacityPriority=true", "score", "VolumeBinding"),
    ],
)
def test_a_feature_gate_adds_a_default_plugin(version, minor, gate, point, name):
    assert name not in names(defaults(version, Target(minor)).get(point, []))
    assert name in names(defaults(version, Target(minor, flags=(f"--feature-gates={gate}",)))[point])


def test_a_deferred_pod_is_found_before_it_does_not_fit():
    """Since 1.37 NodeName is before NodeUnschedulable, too."""
    plugins = names(defaults("v1", Target(37, flags=("--feature-gates=InPlacePodVerticalScalingSchedulerPreemption=true",)))["multiPoint"])
    assert plugins[plugins.index("DeferredPodScheduling") + 1] == "NodeResourcesFit"
    assert plugins[2:4] == ["NodeName", "NodeUnschedulable"]
    assert names(defaults("v1", Target(36))["multiPoint"])[2:4] == ["NodeUnschedulable", "NodeName"]


def test_default_weights_of_scores_depend_on_the_version():
    def weights(version, minor):
        return {entry.name: entry["weight"] for entry in defaults(version, Target(minor))["score"]}

    assert weights("v1beta1", 22)["NodePreferAvoidPods"] == 10000
    assert weights("v1beta1", 22)["NodeResourcesLeastAllocated"] == 1
    assert "NodeResourcesFit" not in weights("v1beta1", 22)
    assert weights("v1beta2", 22) == {
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
        "InterPodAffinity": 1,
        "NodeResourcesFit": 1,
        "NodeAffinity": 1,
        "PodTopologySpread": 2,
        "TaintToleration": 1,
    }


def test_a_default_plugin_that_is_enabled_again_keeps_its_place_and_loses_its_weight():
    multi_point = merged("v1", 31, multiPoint=plugin_set(["NodeAffinity", "Mine"]))["multiPoint"]["enabled"]
    assert names(multi_point)[4:6] == ["TaintToleration", "NodeAffinity"]
    assert multi_point[5] == {"name": "NodeAffinity"}
    assert multi_point[5].path == ("profiles", 0, "plugins", "multiPoint", "enabled", 0)
    assert names(multi_point)[-1] == "Mine"
    assert multi_point[4].path is None


def test_v1beta1_appends_a_plugin_that_is_a_default_already():
    score = merged("v1beta1", 22, score=plugin_set([{"name": "ImageLocality", "weight": 5}]))["score"]["enabled"]
    assert names(score).count("ImageLocality") == 2
    assert score[-1] == {"name": "ImageLocality", "weight": 5}


def test_the_last_of_two_entries_with_one_name_replaces_the_default():
    entries = [{"name": "NodeAffinity", "weight": 5}, {"name": "NodeAffinity", "weight": 7}]
    multi_point = merged("v1", 31, multiPoint=plugin_set(entries))["multiPoint"]["enabled"]
    assert [entry["weight"] for entry in multi_point if entry.name == "NodeAffinity"] == [7, 5]


@pytest.mark.parametrize("disabled", ["*", "PrioritySort"])
def test_disabled_default_plugins_are_left_out(disabled):
    assert merged("v1beta2", 25, queueSort=plugin_set(["Mine"], [disabled]))["queueSort"] == {"enabled": [{"name": "Mine"}]}


def test_disabled_plugins_are_kept_since_v1beta3_only():
    lists = plugin_set(["Mine"], ["*", "Other"])
    assert "disabled" not in merged("v1beta2", 23, score=lists)["score"]
    assert merged("v1beta3", 23, score=lists)["score"]["disabled"] == [{"name": "*"}, {"name": "Other"}]


@pytest.mark.parametrize(
    ("version", "minor", "point"), [("v1beta2", 25, "multiPoint"), ("v1beta2", 27, "preEnqueue"), ("v1beta3", 27, "preEnqueue")]
)
def test_plugins_of_points_that_a_version_ignores_do_not_run(version, minor, point):
    assert "Mine" not in names(merged(version, minor, **{point: plugin_set(["Mine"])}).get(point, {}).get("enabled", ()))


def test_points_without_plugins_are_absent():
    assert "permit" not in merged("v1", 31, permit=plugin_set())
    assert "score" not in merged("v1beta2", 25, score=plugin_set(disabled=["*"]))


def test_plugins_without_arguments_get_default_ones_in_the_order_of_their_names():
    profile = {"pluginConfig": [{"name": "NodeAffinity", "args": {}}, {"name": "Mine"}]}
    complete(profile, 0, "v1", Target(31))
    assert [entry["name"] for entry in profile["pluginConfig"]] == [
        "NodeAffinity",
        "Mine",
        "DefaultPreemption",
        "InterPodAffinity",
        "NodeResourcesBalancedAllocation",
        "NodeResourcesFit",
        "PodTopologySpread",
        "VolumeBinding",
    ]


def test_up_to_1_21_nothing_is_merged_before_building():
    profile = {"plugins": {"score": plugin_set(["ImageLocality"])}}
    complete(profile, 0, "v1beta1", Target(21))
    assert profile == {"plugins": {"score": {"enabled": [{"name": "ImageLocality"}], "disabled": []}}}
    assert isinstance(profile["plugins"]["score"]["enabled"][0], Entry)
