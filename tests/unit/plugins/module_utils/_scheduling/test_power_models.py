# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes that the power models of Peaks lack (scheduling/power_models.py)."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import from_structure
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.presets import configuration
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import SCHEDULER_PLUGINS
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import config_validation
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pool_policies import plugin_config
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.power_models import incomplete

MODEL = {"k0": 1, "k1": 1, "k2": 1}
POOL = {"scheduler_name": "secondary-scheduler", "nodes": {"names": [], "match_labels": {"pool": "batch"}}}


def node(name, taints=(), **labels):
    return {"metadata": {"name": name, "labels": labels}, "spec": {"taints": [{"key": "k", "effect": effect} for effect in taints]}}


def findings(nodes, *configs, listed=("listed",)):
    config = configuration("peaks", {"watcher_address": "http://w:2020", "node_power_model": dict.fromkeys(listed, MODEL)})
    config["profiles"][0]["pluginConfig"] += configs
    target = config_validation.resolve_target(None, "1.34", SCHEDULER_PLUGINS, (), lambda: "1.34")
    validated = config_validation.validate(from_structure(config), target)
    return incomplete(validated.config, validated.effective, nodes)


def test_nodes_that_a_power_model_lacks_are_a_warning():
    (finding,) = findings([node("listed"), node("b"), node("a")])
    assert (finding.severity, finding.code) == ("warning", "power-model-incomplete")
    assert finding.message.startswith("Peaks of the scheduler secondary-scheduler prefers a, b to all other nodes")
    (finding,) = findings([node(f"n{number}") for number in range(7)])
    assert "n0, n1, n2, n3, n4 and 2 more" in finding.message


@pytest.mark.parametrize(
    ("nodes", "configs"),
    [
        ([node("listed")], []),
        ([node("control-plane", taints=["NoSchedule"])], []),
        ([node("listed", pool="batch"), node("other")], [plugin_config(POOL)]),
    ],
    ids=["all listed", "tainted", "outside of the pool"],
)
def test_nodes_where_the_scheduler_places_no_pods_need_no_power_model(nodes, configs):
    assert findings(nodes, *configs) == []
