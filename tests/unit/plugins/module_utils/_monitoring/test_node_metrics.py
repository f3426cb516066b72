# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a cluster's nodes lack of the metrics that a scheduler goes by."""

from __future__ import annotations

import math

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.node_metrics import (
    CPU,
    MAX_AGE,
    MEMORY,
    Node,
    Readers,
    by_others,
    evaluate,
    load_aware,
    needed,
    nodes,
)
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.prometheus import Sample

PACKING = Readers(["TargetLoadPacking"])
NODES = (Node("node-1", ("10.0.0.1", "node-1")), Node("node-2", ("10.0.0.2",)))


def vector(values):
    return [Sample({"instance": instance, "job": "x"}, value) for instance, value in values.items()]


def judged(values, ages=None, raw=None, known=NODES, readers=PACKING, metric=CPU):
    ages = dict.fromkeys(values, 10) if ages is None else ages
    return evaluate(metric, vector(values), vector(ages), known, MAX_AGE, raw, readers)


def codes(findings):
    return {finding.code: finding.nodes for finding in findings}


def test_metrics_of_all_nodes_yield_no_finding():
    report, findings = judged({"node-1": 0.12345, "node-2": 0.5})
    assert findings == []
    assert report == {
        "name": CPU,
        "exists": True,
        "nodes": [{"name": "node-1", "value": 0.1235, "age_seconds": 10}, {"name": "node-2", "value": 0.5, "age_seconds": 10}],
        "other_instances": [],
    }


@pytest.mark.parametrize(
    ("raw", "hint"),
    [
        (16, "it has node_cpu_seconds_total: record the metric by a rule"),
        (0, "it has no node_cpu_seconds_total either: have it scrape node-exporter"),
        (None, "record it by a rule"),
    ],
)
def test_a_missing_metric_is_an_error_with_a_hint(raw, hint):
    report, (finding,) = judged({}, raw=raw)
    assert (report["exists"], finding.code, finding.severity, finding.metric) == (False, "metric-missing", "error", CPU)
    assert finding.hint.startswith(hint)


def test_nodes_without_the_metric_are_named():
    report, findings = judged({"node-1": 0.1})
    assert codes(findings) == {"metric-missing-for-nodes": ("node-2",)}
    assert report["nodes"][1] == {"name": "node-2", "value": None, "age_seconds": None}


@pytest.mark.parametrize(
    ("plugins", "score"),
    [
        (["LowRiskOverCommitment", "TargetLoadPacking"], "the lowest score"),
        (["Peaks"], "the highest score"),
        (["Peaks", "TargetLoadPacking"], "the lowest score, from Peaks the highest"),
    ],
)
def test_the_score_of_nodes_without_the_metric_depends_on_the_plugins(plugins, score):
    """Peaks scores a cost, which NormalizeScore inverts."""
    _report, (finding,) = judged({"node-1": 0.1}, readers=Readers(plugins))
    assert finding.message == f"Prometheus has no {CPU} for node-2, which therefore get {score}"


@pytest.mark.parametrize(
    "instances",
    [
        ("10.0.0.1:9100", "10.0.0.2:9100"),
        ("node-1:9100", "node-2:9100"),
        ("node-1.example.com", "node-2.example.com:9100"),
        ("exporter-a", "exporter-b"),
    ],
)
def test_instance_labels_that_are_no_node_names_are_a_finding(instances):
    report, findings = judged(dict.fromkeys(instances, 0.1))
    assert codes(findings) == {"labels-do-not-match": ("node-1", "node-2")}
    assert instances[0] in findings[0].message
    assert report["other_instances"] == sorted(instances)


def test_a_misnamed_node_and_a_missing_node_are_separate_findings():
    known = [*NODES, Node("node-3", ("10.0.0.3",))]
    _report, findings = judged({"node-1": 0.1, "10.0.0.2:9100": 0.2}, known=known)
    assert codes(findings) == {"labels-do-not-match": ("node-2",), "metric-missing-for-nodes": ("node-3",)}


def test_instances_that_are_no_nodes_are_no_finding():
    report, findings = judged({"node-1": 0.1, "node-2": 0.2, "gateway": 0.3})
    assert (findings, report["other_instances"]) == ([], ["gateway"])


def test_old_samples_are_reported_with_node_and_age():
    _report, (finding,) = judged({"node-1": 0.1, "node-2": 0.1}, ages={"node-1": 700.4, "node-2": 5})
    assert (finding.code, finding.nodes) == ("metric-stale", ("node-1",))
    assert "700 s old for node-1" in finding.message


def test_several_series_for_a_node_are_a_warning():
    samples = [*vector({"node-1": 0.1, "node-2": 0.2}), Sample({"instance": "node-1", "job": "y"}, 0.9)]
    _report, (finding,) = evaluate(CPU, samples, vector({"node-1": 5, "node-2": 5}), NODES, MAX_AGE, None, Readers([]))
    assert (finding.severity, finding.code, finding.nodes) == ("warning", "metric-duplicate", ("node-1",))


def test_a_percentage_in_place_of_a_ratio_is_a_warning():
    _report, (finding,) = judged({"node-1": 55, "node-2": 0.2})
    assert (finding.severity, finding.code, finding.nodes) == ("warning", "metric-out-of-range", ("node-1",))


NAN, INF = float("nan"), float("inf")
TLP, LVRB, LROC = "TargetLoadPacking", "LoadVariationRiskBalancing", "LowRiskOverCommitment"


@pytest.mark.parametrize(
    ("plugin", "invalid", "clamped"),
    [
        # -0.27 is where the line through the default target of 40 % falls below a score of -0.5
        (TLP, [NAN, -INF, -0.271], [INF, 1.6, 100, -0.269]),
        (LVRB, [NAN, INF, -INF], [1.6, 1e300, -0.2, -1e300]),
        (LROC, [], [NAN, INF, -INF, 1.6, -0.2]),
        ("Peaks", [], [NAN, INF, -INF, 1.6, -0.2]),
    ],
)
def test_a_value_of_which_a_plugin_makes_an_invalid_score_is_an_error(plugin, invalid, clamped):
    for value in invalid + clamped:
        report, (finding,) = judged({"node-1": 0.5, "node-2": value}, readers=Readers([plugin]))
        expected = (
            ("error", "metric-invalid")
            if value in invalid or (math.isnan(value) and NAN in invalid)
            else ("warning", "metric-out-of-range")
        )
        assert (finding.severity, finding.code, finding.nodes) == (*expected, ("node-2",)), value
        assert (plugin in finding.message) == (expected[0] == "error")
        assert report["nodes"][1]["value"] == (round(value, 4) if abs(value) < INF else None)


def test_the_target_decides_from_which_load_on():
    for target, value, severity in [
        (1, -0.02, "error"),
        (1, -0.005, "error"),
        (10, -0.012, "error"),
        (11, -0.012, "warning"),
        (100, -50, "warning"),
        (100, NAN, "error"),
    ]:
        _report, (finding,) = judged({"node-1": 0.5, "node-2": value}, readers=Readers([TLP], target_utilization=target))
        assert finding.severity == severity, (target, value)


def test_a_plugin_that_does_not_read_the_metric_does_not_fail_by_it():
    readers = Readers([TLP, LROC])
    assert judged({"node-1": 0.5, "node-2": NAN}, readers=readers, metric=MEMORY)[1][0].severity == "warning"
    assert judged({"node-1": 0.5, "node-2": 0.5, "no-node": NAN}, readers=readers)[1] == []


def test_a_load_watcher_service_can_send_none_of_it():
    for value in (NAN, INF, -INF):
        _report, (finding,) = judged({"node-1": 0.5, "node-2": 0.5, "no-node": value}, readers=Readers([LROC], through_service=True))
        assert (finding.severity, finding.code, finding.nodes) == ("error", "metric-invalid", ("no-node",))


@pytest.mark.parametrize("age", [NAN, INF, 1e300])
def test_a_metric_with_an_impossible_age_is_stale(age):
    report, (finding,) = judged({"node-1": 0.5, "node-2": 0.5}, ages={"node-1": age, "node-2": 1})
    assert (finding.code, finding.nodes) == ("metric-stale", ("node-1",))
    assert (report["nodes"][0]["age_seconds"] is None) == (age != 1e300)


def test_long_lists_are_cut():
    known = [Node(f"node-{number:03}") for number in range(500)]
    _report, (finding,) = judged({"node-000": 0.1}, known=known)
    assert len(finding.nodes) == 499
    assert "node-005 and 494 more" in finding.message


def test_our_own_rule_is_known_by_its_label():
    ours, theirs = Sample({"recorded_by": "osso.scheduler"}, 3), Sample({}, 3)
    assert [by_others(answer) for answer in ([], [ours], [theirs], [ours, theirs])] == [False, False, True, True]


def test_without_nodes_only_the_metric_counts():
    assert judged({"node-1": 0.1}, known=[])[1] == []


def test_required_metrics_depend_on_the_enabled_plugins():
    assert needed(["TargetLoadPacking"]) == [CPU]
    assert needed(["TargetLoadPacking", "LowRiskOverCommitment"]) == [CPU, MEMORY]
    assert needed(["Coscheduling", "Unknown"]) == []
    assert load_aware() == ["LoadVariationRiskBalancing", "LowRiskOverCommitment", "Peaks", "TargetLoadPacking"]


def test_nodes_are_read_with_their_addresses_and_sorted():
    live = [
        {"metadata": {"name": "b"}, "status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.2"}]}},
        {"metadata": {"name": "a"}},
    ]
    assert nodes(live) == [Node("a", ()), Node("b", ("10.0.0.2",))]
