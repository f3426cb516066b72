# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import plugins
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import CustomPlugin, Target, UnknownTarget


@pytest.mark.parametrize(
    ("minor", "name", "points"),
    [
        (21, "NodeResourcesFit", ("preFilter", "filter")),
        (22, "NodeResourcesFit", ("preFilter", "filter", "score")),
        (36, "NodeResourcesFit", ("preFilter", "filter", "preScore", "score", "placementScore")),
        (29, "DynamicResources", ("preEnqueue", "preFilter", "filter", "postFilter", "preScore", "reserve", "postBind")),
        (32, "DynamicResources", ("preEnqueue", "preFilter", "filter", "postFilter", "reserve", "preBind")),
        (35, "GangScheduling", ("preEnqueue", "reserve", "permit")),
        (36, "GangScheduling", ("preEnqueue", "permit")),
        (37, "DefaultPreemption", ("preEnqueue", "postFilter", "podGroupPostFilter")),
        (37, "NodeName", ("preFilter", "filter")),
        (37, "DeferredPodScheduling", ("preFilter", "filter", "permit")),
    ],
)
def test_points_of_a_plugin_change_from_release_to_release(minor, name, points):
    assert plugins.registry(Target(minor))[name].points == points


@pytest.mark.parametrize(("name", "last"), [("EBSLimits", 31), ("SelectorSpread", 28), ("NodeLabel", 22)])
def test_a_removed_plugin_is_unknown_from_the_next_release_on(name, last):
    assert name in plugins.registry(Target(last))
    assert name not in plugins.registry(Target(last + 1))


@pytest.mark.parametrize(("name", "first"), [("SySched", 28), ("Peaks", 31), ("TopologicalSort", 24), ("LowRiskOverCommitment", 26)])
def test_plugins_of_scheduler_plugins_come_with_a_release(name, first):
    assert name in plugins.registry(Target(first, "scheduler-plugins"))
    assert name not in plugins.registry(Target(first - 1, "scheduler-plugins"))
    assert name not in plugins.registry(Target(first))


def test_custom_plugins_are_registered_with_the_others():
    target = plugins.make_target("1.31", {"base": "scheduler-plugins", "extra": [{"name": "Mine", "points": ["score", "filter"]}]})
    assert target.plugins == "scheduler-plugins"
    assert plugins.registry(target)["Mine"] == plugins.PluginInfo(("filter", "score"), "custom")
    assert {"NodeName", "Coscheduling"} <= set(plugins.registry(target))
    assert "Mine" not in plugins.registry(Target(31, "scheduler-plugins"))


def test_custom_plugins_are_parsed_with_their_arguments():
    description = {"extra": [{"name": "Mine", "points": ["score"], "args": {"limits": "[]int32"}}, {"name": "Other", "points": ["bind"]}]}
    assert plugins.parse_plugins(description, 31) == (
        "in-tree",
        (CustomPlugin("Mine", ("score",), {"limits": "[]int32"}), CustomPlugin("Other", ("bind",))),
    )


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ("sheduler-plugins", "'sheduler-plugins' is no set of plugins"),
        (3, "a int is no set of plugins"),
        ({"base": "sigs"}, "'sigs' is no set of plugins"),
        ({"extras": []}, "no field 'extras': did you mean extra?"),
        ({"extra": "Mine"}, "plugins.extra: must be a list"),
        ({"extra": ["Mine"]}, r"plugins.extra\[0\]: must be a mapping"),
        ({"extra": [{"points": ["score"]}]}, r"plugins.extra\[0\].name: must be"),
        ({"extra": [{"name": "Mine"}]}, r"plugins.extra\[0\].points: must be a list"),
        ({"extra": [{"name": "Mine", "points": []}]}, r"plugins.extra\[0\].points: must name at least one"),
        ({"extra": [{"name": "Mine", "points": ["scores"]}]}, r"points\[0\]: 'scores' is no extension point .*did you mean score\?"),
        ({"extra": [{"name": "Mine", "points": ["placementScore"]}]}, "is no extension point of Kubernetes 1.31"),
        ({"extra": [{"name": "Mine", "points": ["score"], "args": {"a": "int"}}]}, r"args.a: 'int' is no type"),
        ({"extra": [{"name": "Mine", "points": ["score"], "args": "none"}]}, "args: must be opaque or a mapping"),
        ({"extra": [{"name": "NodeName", "points": ["score"]}]}, "a plugin named NodeName exists already"),
        ({"extra": [{"name": "A", "points": ["score"]}] * 2}, r"plugins.extra\[1\].name: a plugin named A exists already"),
    ],
)
def test_an_invalid_description_is_rejected_with_the_remedy(description, message):
    with pytest.raises(UnknownTarget, match=message):
        plugins.parse_plugins(description, 31)


@pytest.mark.parametrize("minor", [35, 36, 37])
@pytest.mark.parametrize("description", ["scheduler-plugins", {"base": "scheduler-plugins"}])
def test_scheduler_plugins_has_no_release_for_the_newest_kubernetes(minor, description):
    with pytest.raises(UnknownTarget, match=rf"kubernetes-sigs has no release of scheduler-plugins for Kubernetes 1.{minor}, .* v0.34.7"):
        plugins.parse_plugins(description, minor)


def test_interfaces_are_called_as_in_messages_of_kube_scheduler():
    assert plugins.interface("preFilter") == "PreFilterPlugin"
