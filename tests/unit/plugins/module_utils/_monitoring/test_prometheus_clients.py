# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which plugins of a configuration ask Prometheus."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.presets import configuration
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.prometheus_clients import asking_prometheus, too_many

PACKING, BALANCING = "trimaran_target_load_packing", "trimaran_load_variation_risk_balancing"


def profiles(*presets):
    made = [configuration(name, {"scheduler_name": f"s{number}", **given}) for number, (name, given) in enumerate(presets)]
    return {**made[0], "profiles": [config["profiles"][0] for config in made]}


@pytest.mark.parametrize(
    ("presets", "plugins"),
    [
        ([(PACKING, {})], ["TargetLoadPacking"]),
        ([(PACKING, {"watcher_address": "http://w:2020"})], []),
        ([(PACKING, {"metric_provider": "KubernetesMetricsServer"})], []),
        ([("high_node_utilization", {})], []),
        ([(PACKING, {}), ("low_risk_overcommitment", {})], ["LowRiskOverCommitment", "TargetLoadPacking"]),
        ([(PACKING, {}), (PACKING, {})], ["TargetLoadPacking"]),
    ],
)
def test_plugins_that_ask(presets, plugins):
    assert asking_prometheus(profiles(*presets)) == plugins


def test_plugin_that_is_only_configured_does_not_ask():
    config = configuration(PACKING)
    config["profiles"][0]["plugins"] = {}
    assert asking_prometheus(config) == []


def test_two_that_watch_the_load_themselves():
    (finding,) = too_many(profiles((PACKING, {}), (BALANCING, {})))
    assert (finding.severity, finding.code) == ("error", "second-watcher")
    assert finding.message.startswith("The plugin LoadVariationRiskBalancing of the profile s1: watches the load itself")
    assert "watcherAddress" in finding.hint


def test_a_service_may_be_asked_by_any_number():
    service = {"watcher_address": "http://w:2020"}
    assert too_many(profiles((PACKING, {}), (BALANCING, service), (PACKING, service))) == []


@pytest.mark.parametrize("config", [{}, {"profiles": 5}, {"profiles": [5, {"plugins": 5, "pluginConfig": [5]}]}])
def test_odd_documents_ask_nothing(config):
    assert (asking_prometheus(config), too_many(config)) == ([], [])
