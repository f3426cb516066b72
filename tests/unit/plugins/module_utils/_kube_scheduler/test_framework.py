# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Profiles built out of plugins: what runs, in which order, and what is refused. Expectations are kube-scheduler's own answers."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import decode, defaults, framework
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document import parse
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.plugins import make_target
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.report import Report


class Built:
    """The stages up to building, without validation."""

    def __init__(self, profiles, kubernetes="1.31", version="v1", plugins="in-tree", **fields):
        document = {"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": "KubeSchedulerConfiguration"}
        root = parse(json.dumps({**document, "profiles": profiles, **fields}))[0]
        target = make_target(kubernetes, plugins)
        report = Report(root)
        assert decode.api_version(root, target, report) == version
        self.config = decode.decode(root, version, target, report)
        defaults.apply(self.config, version, target)
        self.built = framework.build(self.config, version, target, report)
        self.findings = report.findings

    @property
    def errors(self):
        return [(finding.code, finding.path) for finding in self.findings]

    @property
    def messages(self):
        return " ".join(finding.message for finding in self.findings)

    def at(self, point):
        return list(self.built.effective["default-scheduler"].get(point, []))


def of(*entries, disabled=()):
    """A list of plugins: names, or (name, weight)."""
    enabled = [{"name": entry} if isinstance(entry, str) else {"name": entry[0], "weight": entry[1]} for entry in entries]
    return {"enabled": enabled, "disabled": [{"name": name} for name in disabled]}


def profile(name=None, plugin_config=None, **points):
    return {**({"schedulerName": name} if name else {}), "plugins": points, **({"pluginConfig": plugin_config} if plugin_config else {})}


def test_the_default_profile_runs_the_default_plugins_in_order():
    built = Built([{}])
    assert built.errors == []
    assert built.at("score") == [
        ("TaintToleration", 3),
        ("NodeAffinity", 2),
        ("NodeResourcesFit", 1),
        ("VolumeBinding", 1),
        ("PodTopologySpread", 2),
        ("InterPodAffinity", 2),
        ("NodeResourcesBalancedAllocation", 1),
        ("ImageLocality", 1),
    ]
    assert built.at("bind") == [("DefaultBinder", 0)]
    assert built.at("permit") == []
    assert "DefaultPreemption" in built.built.plugins[0]
    assert "EBSLimits" not in built.built.plugins[0]


# --- multiPoint ---


def test_explicit_plugins_come_first_and_keep_their_weight():
    score = Built([profile(score=of(("ImageLocality", 9), ("NodeAffinity", 4)))]).at("score")
    assert score[:3] == [("ImageLocality", 9), ("NodeAffinity", 4), ("TaintToleration", 3)]


def test_explicit_plugins_that_multi_point_does_not_have_come_last():
    built = Built([profile(score=of("SelectorSpread"))], kubernetes="1.25", version="v1beta3")
    assert built.at("score")[-1] == ("SelectorSpread", 1)


def test_a_point_is_not_expanded_where_all_is_disabled():
    built = Built([profile(score=of("ImageLocality", disabled=["*"]))])
    assert built.at("score") == [("ImageLocality", 1)]
    assert built.at("preScore")


def test_a_plugin_can_be_disabled_at_one_point():
    built = Built([profile(score=of(disabled=["TaintToleration"]))])
    assert "TaintToleration" not in dict(built.at("score"))
    assert "TaintToleration" in dict(built.at("filter"))


def test_plugins_in_both_lists_of_a_point_are_enabled():
    assert Built([profile(score=of("TaintToleration", disabled=["TaintToleration"]))]).at("score")[-1] == ("TaintToleration", 1)


@pytest.mark.parametrize(
    ("kubernetes", "first", "last"),
    [
        ("1.25", ["NodeResourcesFit", "TaintToleration", "InterPodAffinity", "InterPodAffinity"], ["ImageLocality"]),
        ("1.26", ["NodeResourcesFit", "ImageLocality", "TaintToleration", "InterPodAffinity"], []),
    ],
)
def test_the_order_with_three_or_more_explicit_plugins_is_mangled_up_to_1_25(kubernetes, first, last):
    built = Built([profile(score=of("NodeResourcesFit", "ImageLocality", "TaintToleration", "InterPodAffinity"))], kubernetes)
    of_multi_point = ["NodeAffinity", "VolumeBinding", "PodTopologySpread", "NodeResourcesBalancedAllocation"]
    assert [name for name, _weight in built.at("score")] == first + of_multi_point + last
    assert built.errors == []


def test_a_plugin_given_twice_in_multi_point_is_an_error():
    built = Built([profile(multiPoint=of("ImageLocality", "ImageLocality"))])
    assert built.errors == [("already-registered", "profiles[0].plugins.multiPoint.enabled[0].name")]
    assert 'plugin "ImageLocality" already registered as "ScorePlugin"' in built.messages


def test_a_plugin_twice_in_multi_point_is_accepted_if_an_explicit_one_overrides_it():
    assert Built([profile(multiPoint=of("ImageLocality", "ImageLocality"), score=of("ImageLocality"))]).errors == []


def test_an_unknown_plugin_in_multi_point_is_reported_once():
    built = Built([profile(multiPoint=of("NodeAfinity"))])
    assert built.errors == [("unknown-plugin", "profiles[0].plugins.multiPoint.enabled[0].name")]
    assert built.findings[0].message == 'PreFilterPlugin "NodeAfinity" does not exist'
    assert built.findings[0].hint == "did you mean NodeAffinity?"


def test_without_default_plugins_queue_sort_and_bind_must_be_enabled():
    built = Built([profile(multiPoint=of(disabled=["*"]))])
    assert built.errors == [("queue-sort", "profiles[0].plugins.queueSort"), ("no-bind", "profiles[0].plugins.bind")]
    assert Built([profile(multiPoint=of("PrioritySort", "DefaultBinder", disabled=["*"]))]).errors == []


# --- single points ---


def test_an_unknown_plugin_is_rejected_with_its_likely_origin():
    built = Built([profile(score=of("ImageLocality", "TargetLoadPacking"))])
    assert built.errors == [("unknown-plugin", "profiles[0].plugins.score.enabled[1].name")]
    assert built.findings[0].message == 'ScorePlugin "TargetLoadPacking" does not exist'
    assert "belongs to scheduler-plugins" in built.findings[0].hint


@pytest.mark.parametrize(
    ("name", "kubernetes", "plugins", "hint"),
    [
        ("NodeResourcesLeastAllocated", "1.31", "in-tree", "Kubernetes 1.22 was the last one with it: use NodeResourcesFit with"),
        ("NodeDeclaredFeatures", "1.31", "in-tree", "Kubernetes has it since 1.35"),
        ("Peaks", "1.30", "scheduler-plugins", "scheduler-plugins has it since 1.31"),
        ("MyOwn", "1.31", "in-tree", "only an image that registers this plugin"),
    ],
)
def test_an_unknown_plugin_is_an_error_with_a_hint(name, kubernetes, plugins, hint):
    built = Built([profile(filter=of(name))], kubernetes, plugins=plugins)
    assert built.errors == [("unknown-plugin", "profiles[0].plugins.filter.enabled[0].name")]
    assert hint in built.findings[0].hint


def test_a_plugin_at_a_point_that_it_does_not_have_is_an_error():
    built = Built([profile(score=of("NodeName"))])
    assert built.errors == [("wrong-extension-point", "profiles[0].plugins.score.enabled[0].name")]
    assert built.findings[0].message == 'plugin "NodeName" does not extend ScorePlugin plugin'
    assert built.findings[0].hint == "enable it at filter"


def test_a_plugin_given_twice_at_a_point_is_an_error():
    built = Built([profile(score=of("ImageLocality", "ImageLocality"))])
    assert built.errors == [("already-registered", "profiles[0].plugins.score.enabled[1].name")]


@pytest.mark.parametrize("kubernetes", ["1.21", "1.22"])
def test_v1beta1_rejects_a_default_plugin_that_is_enabled_again(kubernetes):
    built = Built([profile(score=of("ImageLocality"))], kubernetes, "v1beta1")
    assert built.errors == [("already-registered", "profiles[0].plugins.score.enabled[0].name")]
    assert "score.disabled" in built.findings[0].hint
    assert Built([profile(score=of("ImageLocality", disabled=["ImageLocality"]))], kubernetes, "v1beta1").errors == []


def test_custom_plugins_run_only_at_their_extension_points():
    plugins = {"extra": [{"name": "MyScore", "points": ["score"]}]}
    assert Built([profile(score=of(("MyScore", 4)))], plugins=plugins).at("score")[-1] == ("MyScore", 4)
    assert Built([profile(filter=of("MyScore"))], plugins=plugins).errors[0][0] == "wrong-extension-point"


# --- counts ---


def test_two_queue_sort_plugins_are_an_error_with_a_hint():
    built = Built([profile(multiPoint=of("Coscheduling"))], plugins="scheduler-plugins")
    assert built.errors == [("queue-sort", "profiles[0].plugins.multiPoint.enabled[0].name")]
    assert 'only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 2' in built.messages
    assert 'queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}' in built.findings[0].hint
    plugins = {"multiPoint": of("Coscheduling"), "queueSort": of("Coscheduling", disabled=["*"])}
    built = Built([profile(**plugins)], plugins="scheduler-plugins")
    assert built.errors == []
    assert built.at("queueSort") == [("Coscheduling", 0)]


@pytest.mark.parametrize("kubernetes", ["1.21", "1.22", "1.31"])
def test_a_profile_without_a_queue_sort_plugin_is_an_error(kubernetes):
    version = "v1" if kubernetes == "1.31" else "v1beta1"
    built = Built([profile(queueSort=of(disabled=["*"]))], kubernetes, version)
    assert built.errors == [("queue-sort", "profiles[0].plugins.queueSort")]


def test_a_profile_without_a_bind_plugin_is_rejected():
    assert Built([profile(bind=of(disabled=["DefaultBinder"]))]).errors == [("no-bind", "profiles[0].plugins.bind")]


def test_a_misspelt_queue_sort_plugin_is_one_error():
    built = Built([profile(queueSort=of("PriortySort", disabled=["*"]))])
    assert built.errors == [("unknown-plugin", "profiles[0].plugins.queueSort.enabled[0].name")]


def test_a_misspelt_field_of_the_queue_sort_is_one_error():
    built = Built([profile(queueSort={"enable": [{"name": "PrioritySort"}], "disabled": [{"name": "*"}]})])
    assert built.errors == [("unknown-field", "profiles[0].plugins.queueSort.enable")]


# --- weights ---


@pytest.mark.parametrize(
    ("plugins", "errors"),
    [
        ({"score": of(("NodeAffinity", -5))}, ["score"]),
        ({"multiPoint": of(("TaintToleration", -1))}, ["multiPoint"]),
        # The last ones that are counted: nothing comes after them.
        ({"multiPoint": of(("ImageLocality", -1))}, []),
        ({"multiPoint": of(("ImageLocality", -100))}, []),
        # 3 of TaintToleration come before.
        ({"multiPoint": of(("NodeAffinity", -3))}, []),
        ({"multiPoint": of(("NodeAffinity", -4))}, ["multiPoint"]),
        # Switched off at score, counted all the same.
        ({"multiPoint": of(("TaintToleration", -1)), "score": of(disabled=["*"])}, ["multiPoint"]),
        ({"filter": of(("TaintToleration", -1))}, []),
    ],
)
def test_negative_weights_are_rejected_where_a_plugin_follows(plugins, errors):
    built = Built([profile(**plugins)])
    assert built.errors == [("weight-overflow", f"profiles[0].plugins.{point}.enabled[0].weight") for point in errors]


def test_in_1_22_the_plugins_of_score_alone_are_counted():
    def score(*entries):
        return Built([profile(score=of(*entries, disabled=["*"]))], "1.22", "v1beta2").errors

    assert score(("ImageLocality", -1)) == []
    assert score(("ImageLocality", -1), "NodeAffinity") == [("weight-overflow", "profiles[0].plugins.score.enabled[0].weight")]


def test_up_to_1_21_a_plugin_has_the_weight_of_its_last_point():
    built = Built([profile(score=of(("VolumeBinding", 7)))], "1.21", "v1beta1")
    assert built.at("score")[-1] == ("VolumeBinding", 1)
    built = Built([profile(score=of(("VolumeBinding", 7)), preBind=of(("VolumeBinding", 3), disabled=["*"]))], "1.21", "v1beta1")
    assert built.at("score")[-1] == ("VolumeBinding", 3)


def test_a_weight_of_zero_becomes_one():
    assert Built([profile(score=of(("ImageLocality", 0)))]).at("score")[0] == ("ImageLocality", 1)


# --- several profiles ---


def test_all_profiles_need_the_same_queue_sort():
    plugins = {"multiPoint": of("QOSSort", disabled=["PrioritySort"])}
    built = Built([profile("a"), profile("b", **plugins)], plugins="scheduler-plugins")
    assert built.errors == [("queue-sort", "profiles[1].plugins.queueSort")]
    assert 'different queue sort plugins for profile "b": "QOSSort", first: "PrioritySort"' in built.messages


def test_all_profiles_need_the_same_arguments_of_the_queue_sort():
    def coscheduling(name, seconds):
        args = [{"name": "Coscheduling", "args": {"permitWaitingTimeSeconds": seconds}}]
        return profile(name, args, multiPoint=of("Coscheduling", disabled=["PrioritySort"]))

    built = Built([coscheduling("a", 1), coscheduling("b", 2)], plugins="scheduler-plugins")
    assert built.errors == [("queue-sort", "profiles[1].pluginConfig[0].args")]
    assert Built([coscheduling("a", 1), coscheduling("b", 1)], plugins="scheduler-plugins").errors == []


def test_every_profile_is_built():
    built = Built([profile("a"), profile("b", score=of("ImageLocality", disabled=["*"]))])
    assert list(built.built.effective) == ["a", "b"]
    assert built.built.effective["b"]["score"] == [("ImageLocality", 1)]
    assert len(built.built.plugins) == 2


# --- arguments ---


def test_arguments_are_checked_when_the_plugin_is_built():
    bad = [{"name": "NodeResourcesFit", "args": {"ignoredResources": ["a b"]}}]
    assert Built([profile(plugin_config=bad)]).errors == [("invalid-value", "profiles[0].pluginConfig[0].args.ignoredResources[0]")]
    assert Built([profile(plugin_config=bad, multiPoint=of(disabled=["NodeResourcesFit"]))]).errors == []


def test_up_to_1_21_default_arguments_are_checked_when_the_plugin_is_built():
    built = Built([profile(score=of("RequestedToCapacityRatio"))], "1.21", "v1beta1")
    assert built.errors == [("required", "profiles[0].plugins.score.enabled[0].name")]


def test_repeated_arguments_of_a_plugin_are_rejected():
    twice = [{"name": "NodeName"}, {"name": "NodeName"}]
    assert Built([profile(plugin_config=twice)], "1.21", "v1beta1").errors == [("duplicate", "profiles[0].pluginConfig[1]")]


def test_a_plugin_whose_arguments_the_version_does_not_have_is_an_error():
    built = Built([profile(queueSort=of("TopologicalSort", disabled=["*"]))], "1.27", "v1beta2", "scheduler-plugins")
    assert built.errors == [("invalid-value", "profiles[0].plugins.queueSort.enabled[0].name")]
    assert built.findings[0].hint == "write the configuration in v1beta3, v1"
    assert Built([profile(queueSort=of("TopologicalSort", disabled=["*"]))], "1.27", "v1beta3", "scheduler-plugins").errors == []


def test_one_plugin_only_may_watch_the_load_itself():
    built = Built([profile(score=of("TargetLoadPacking", "LoadVariationRiskBalancing"))], plugins="scheduler-plugins")
    assert [code for code, _path in built.errors] == ["second-watcher"]
    addressed = [{"name": "TargetLoadPacking", "args": {"watcherAddress": "http://watcher:2020"}}]
    assert (
        Built([profile(None, addressed, score=of("TargetLoadPacking", "LoadVariationRiskBalancing"))], plugins="scheduler-plugins").errors
        == []
    )
