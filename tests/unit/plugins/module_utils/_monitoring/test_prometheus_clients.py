# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which plugins of a configuration ask Prometheus."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.presets import configuration
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import LOAD_WATCHER_URL
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.prometheus_clients import (
    Asked,
    asking_prometheus,
    holds_password,
    holds_token,
    queried_prometheus,
    target_utilization,
    too_many,
    watched_by,
)

PACKING, BALANCING = "trimaran_target_load_packing", "trimaran_load_variation_risk_balancing"


def profiles(*presets):
    made = [configuration(name, {"scheduler_name": f"s{number}", **given}) for number, (name, given) in enumerate(presets)]
    return {**made[0], "profiles": [config["profiles"][0] for config in made]}


@pytest.mark.parametrize(
    ("presets", "plugins"),
    [
        ([(PACKING, {})], ["TargetLoadPacking"]),
        ([(PACKING, {"watcher_address": "http://w:2020"})], []),
        ([(PACKING, {"watcher_address": LOAD_WATCHER_URL})], ["TargetLoadPacking"]),
        ([("peaks", {"watcher_address": LOAD_WATCHER_URL, "node_power_model": {"n": {}}})], ["Peaks"]),
        ([(PACKING, {}), (BALANCING, {"watcher_address": LOAD_WATCHER_URL})], ["LoadVariationRiskBalancing", "TargetLoadPacking"]),
        ([(PACKING, {"metric_provider": "KubernetesMetricsServer"})], []),
        ([("high_node_utilization", {})], []),
        ([(PACKING, {}), ("low_risk_overcommitment", {})], ["LowRiskOverCommitment", "TargetLoadPacking"]),
        ([(PACKING, {}), (PACKING, {})], ["TargetLoadPacking"]),
    ],
)
def test_plugins_that_query_prometheus_are_listed(presets, plugins):
    assert asking_prometheus(profiles(*presets)) == plugins


def test_plugins_of_the_operators_load_watcher_do_not_query_prometheus_themselves():
    config = profiles((PACKING, {}), (BALANCING, {"watcher_address": LOAD_WATCHER_URL}))
    asked = queried_prometheus(config)
    assert asked is not None
    assert asked.plugins == ["TargetLoadPacking"]


def test_a_plugin_that_is_only_configured_does_not_query_prometheus():
    config = configuration(PACKING)
    config["profiles"][0]["plugins"] = {}
    assert asking_prometheus(config) == []


def test_two_plugins_that_watch_the_load_themselves_are_an_error():
    (finding,) = too_many(profiles((PACKING, {}), (BALANCING, {})))
    assert (finding.severity, finding.code) == ("error", "second-watcher")
    assert finding.message.startswith("The plugin LoadVariationRiskBalancing of the profile s1: watches the load itself")
    assert "watcherAddress" in finding.hint


def test_any_number_of_profiles_may_query_a_load_watcher_service():
    service = {"watcher_address": "http://w:2020"}
    assert too_many(profiles((PACKING, {}), (BALANCING, service), (PACKING, service))) == []


@pytest.mark.parametrize("config", [{}, {"profiles": 5}, {"profiles": [5, {"plugins": 5, "pluginConfig": [5]}]}])
def test_a_malformed_document_queries_no_prometheus(config):
    assert (asking_prometheus(config), too_many(config)) == ([], [])


def config(*plugins, scheduler="s"):
    """A profile that enables these plugins with these arguments."""
    enabled = [{"name": name} for name, _args in plugins]
    entries = [{"name": name, "args": args} for name, args in plugins]
    return {"profiles": [{"schedulerName": scheduler, "plugins": {"score": {"enabled": enabled}}, "pluginConfig": entries}]}


def asking(**provider):
    return {"metricProvider": {"type": "Prometheus", **provider}}


def test_the_prometheus_that_a_configuration_queries_is_found():
    given = asking(address="https://me:secret@p", token="t", insecureSkipVerify=True)
    found = queried_prometheus(config(("TargetLoadPacking", given), ("Peaks", {})))
    assert found == Asked("https://me:secret@p", "t", True, ["TargetLoadPacking"])
    assert repr(found) == "<Prometheus at https://********@p, asked by TargetLoadPacking>"
    found = queried_prometheus(config(("TargetLoadPacking", asking(insecureSkipVerify="true"))))
    assert found == Asked("http://prometheus-k8s:9090", "", False, ["TargetLoadPacking"])
    assert queried_prometheus(config(("TargetLoadPacking", {"watcherAddress": "http://w", **asking()}))) is None
    assert queried_prometheus(config(("TargetLoadPacking", {"metricProvider": {"type": "SignalFx"}}))) is None


def test_the_plugins_that_use_a_load_watcher_service_are_listed():
    given = config(("TargetLoadPacking", {"watcherAddress": "http://w"}), ("Peaks", {"WatcherAddress": "http://w"}))
    assert watched_by(given, "http://w") == ["Peaks", "TargetLoadPacking"]
    assert watched_by(given, "http://other") == []


def test_tokens_and_passwords_in_a_configuration_are_found():
    assert holds_token(config(("Any", asking(token="t"))))
    assert not holds_token(config(("Any", asking(token="")), ("Other", {"token": "t"})))
    assert holds_token(config(("Other", {"tokn": ["eyJhbGciOiJ.planted"]})))
    assert holds_token({"extenders": [{"tlsConfig": {"keyData": "cGxhbnRlZA=="}}]})
    assert holds_password({"extenders": [{"tlsConfig": {"keyData": "cGxhbnRlZA=="}}]})
    assert not holds_password(config(("Any", asking(token="eyJhbGciOiJ.planted"))))
    assert holds_password({"extenders": [{"urlPrefix": "https://me:secret@e"}]})
    assert holds_password(config(("Any", {"metricProvider": {"address": "https://p/?access_token=planted"}})))
    assert not holds_password({"extenders": [{"urlPrefix": "https://e/?tokenFile=/path", "weight": 1}]})


def test_the_lowest_target_utilization_counts():
    given = [("TargetLoadPacking", {"targetUtilization": value}) for value in (60, 30, 0, "5")]
    profiles = [config(one)["profiles"][0] for one in given]
    assert target_utilization({"profiles": profiles}) == 30
    assert target_utilization({"profiles": profiles[2:]}) == 40
    assert target_utilization(config(("Peaks", {"targetUtilization": 5}))) == 40
