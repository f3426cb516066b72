# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When the operator's alerts fire, and when they don't, as Prometheus' own promtool sees it."""

from __future__ import annotations

import subprocess

import pytest
import yaml
from support.debian import program

ALERTS = "roles/operator/files/alerts.yaml"
UP = 'up{job="osso-scheduler-operator-metrics", namespace="ops", instance="1"}'
ERRORS = 'controller_runtime_reconcile_errors_total{job="osso-scheduler-operator-metrics", namespace="ops"}'


def condition(kind, instance="1"):
    labels = f'namespace="ops", instance="{instance}", secondaryscheduler_namespace="team", secondaryscheduler="a"'
    return f'osso_secondaryscheduler_condition{{condition="{kind}", {labels}}}'


WELL = {
    UP: "1x200",
    ERRORS: "0x200",
    condition("Available"): "1x200",
    condition("Degraded"): "0x200",
    condition("ConfigValid"): "1x200",
}

# name -> series that differ from WELL, minute -> alerts that fire then
CASES = {
    "all is well": ({}, {100: []}),
    "operator down": ({UP: "1x9 0x200"}, {19: [], 21: ["SecondarySchedulerOperatorDown"]}),
    "one of two replicas down": ({UP.replace('"1"', '"2"'): "0x200"}, {100: []}),
    "no target at all": ({UP: "_x200"}, {11: ["SecondarySchedulerOperatorDown"]}),
    "not available": ({condition("Available"): "0x200"}, {4: [], 6: ["SecondarySchedulerNotAvailable"]}),
    "degraded": ({condition("Degraded"): "1x200"}, {14: [], 16: ["SecondarySchedulerDegraded"]}),
    "degraded, with an operator's restart in between": (
        {condition("Degraded"): "1x9 _x200", condition("Degraded", "2"): "_x9 1x200"},
        {14: [], 17: ["SecondarySchedulerDegraded"]},
    ),
    "configuration invalid": ({condition("ConfigValid"): "0x200"}, {4: [], 6: ["SecondarySchedulerConfigInvalid"]}),
    "configuration unknown": ({condition("ConfigValid"): "-1x200"}, {100: []}),
    "metrics unavailable": (
        {condition("MetricsAvailable"): "0x200"},
        {14: [], 16: ["SecondarySchedulerMetricsUnavailable"]},
    ),
    "deleted, with the worst of conditions before": (
        {condition("Available"): "0x3 -1x200", condition("Degraded"): "1x3 -1x200", condition("ConfigValid"): "0x3 -1x200"},
        {6: [], 100: []},
    ),
    "errors of an outage that passes": ({ERRORS: "0 0 0 4 7 8x190"}, {30: [], 42: [], 80: []}),
    # What controller-runtime's back-off comes to: one in 1,000 s
    "errors without an end": (
        {ERRORS: " ".join(str(minute * 60 // 1000) for minute in range(200))},
        {60: [], 120: ["SecondarySchedulerOperatorReconcileErrors"], 190: ["SecondarySchedulerOperatorReconcileErrors"]},
    ),
}


@pytest.fixture(scope="module")
def promtool(root):
    found = program("prometheus", "promtool")

    def run(*arguments):
        return subprocess.run([found, *arguments], capture_output=True, text=True, check=False)

    assert run("check", "rules", root / ALERTS).returncode == 0
    return run


@pytest.mark.parametrize("case", CASES)
def test_alerts_fire_when_they_should(case, promtool, root, tmp_path):
    series, firing = CASES[case]
    questions = [
        {
            "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
            "eval_time": f"{minute}m",
            "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in alerts],
        }
        for minute, alerts in firing.items()
    ]
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in {**WELL, **series}.items()],
        "promql_expr_test": questions,
    }
    file = tmp_path / "test.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [str(root / ALERTS)], "evaluation_interval": "1m", "tests": [test]}))
    done = promtool("test", "rules", file)
    assert done.returncode == 0, done.stdout + done.stderr
