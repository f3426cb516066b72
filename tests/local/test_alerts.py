# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When the operator's alerts fire, and when they don't, as Prometheus' own promtool sees it."""

from __future__ import annotations

import json
import subprocess

import pytest
import yaml
from support.ansible_runs import play
from support.debian import program

ALERTS = "roles/operator/files/alerts.yaml"
UP = 'up{job="osso-scheduler-operator-metrics", namespace="ops", instance="1"}'
ERRORS = 'controller_runtime_reconcile_errors_total{job="osso-scheduler-operator-metrics", namespace="ops"}'


KUBELET = 'instance="n:10250", job="kubelet", metrics_path="/metrics", node="n"'
KUBELET_UP, KUBELET_START = f"up{{{KUBELET}}}", f"process_start_time_seconds{{{KUBELET}}}"
REJECTED = f'kubelet_admission_rejections_total{{{KUBELET}, reason="OutOfcpu"}}'
REJECTED_ALERT = ["SecondarySchedulerPodsRejected"]
SEEN_BEFORE = {KUBELET_UP: "1x200", KUBELET_START: "-90000x200"}


def placed(profile):
    return f'scheduler_schedule_attempts_total{{job="s", profile="{profile}", result="scheduled"}}'


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
    "the first pods that a kubelet rejects": (
        {**SEEN_BEFORE, REJECTED: "_x30 7x170"},
        {29: [], 30: REJECTED_ALERT, 44: REJECTED_ALERT, 60: []},
    ),
    "further rejected pods": ({**SEEN_BEFORE, REJECTED: "7x50 9x150"}, {49: [], 52: REJECTED_ALERT, 80: []}),
    "rejected pods of a kubelet that restarts": ({**SEEN_BEFORE, REJECTED: "7x50 _x3 2x150"}, {49: [], 56: REJECTED_ALERT, 90: []}),
    "rejected pods on a new node": (
        {KUBELET_UP: "_x30 1x170", KUBELET_START: "_x30 1800x170", REJECTED: "_x30 7x170"},
        {32: REJECTED_ALERT, 60: []},
    ),
    "pods that were rejected before Prometheus started": ({**SEEN_BEFORE, REJECTED: "7x200"}, {1: [], 14: [], 16: [], 100: []}),
    "a kubelet that could not be scraped for a while": (
        {**SEEN_BEFORE, KUBELET_UP: "1x20 0x30 1x150", REJECTED: "7x20 _x30 7x150"},
        {50: [], 53: [], 60: [], 90: []},
    ),
    "pods that are rejected for another reason": (
        {**SEEN_BEFORE, REJECTED.replace("OutOfcpu", "NodeShutdown"): "_x30 7x170"},
        {31: [], 60: []},
    ),
}


@pytest.fixture(scope="module")
def promtool(root):
    found = program("prometheus", "promtool")

    def run(*arguments):
        return subprocess.run([found, *arguments], capture_output=True, text=True, check=False)

    assert run("check", "rules", root / ALERTS).returncode == 0
    return run


@pytest.fixture
def expect(promtool, root, tmp_path):
    """expect(series, KEY=tests of promtool): they hold."""

    def run(series, rules=root / ALERTS, **tests):
        given = [{"series": name, "values": values} for name, values in {**WELL, **series}.items()]
        test = {"interval": "1m", "input_series": given, **tests}
        file = tmp_path / "test.yaml"
        file.write_text(yaml.safe_dump({"rule_files": [str(rules)], "evaluation_interval": "1m", "tests": [test]}))
        done = promtool("test", "rules", file)
        assert done.returncode == 0, done.stdout + done.stderr

    return run


@pytest.mark.parametrize("case", CASES)
def test_alerts_fire_exactly_at_the_expected_minutes(case, expect):
    series, firing = CASES[case]
    questions = [
        {
            "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
            "eval_time": f"{minute}m",
            "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in alerts],
        }
        for minute, alerts in firing.items()
    ]
    expect(series, promql_expr_test=questions)


def test_the_alert_names_the_number_of_rejected_pods_and_who_placed_pods_meanwhile(expect, root):
    series = {
        **SEEN_BEFORE,
        REJECTED: "_x30 7x170",
        placed("default-scheduler"): "5x20 9x180",
        placed("batch"): "_x25 3x175",
        placed("idle"): "4x200",
    }
    (rule,) = [
        one
        for group in yaml.safe_load((root / ALERTS).read_text())["groups"]
        for one in group["rules"]
        if one.get("alert") in REJECTED_ALERT
    ]
    start, _query, end = rule["annotations"]["description"].partition("{{ range")
    description = f"{start}batch, default-scheduler{end.rpartition('{{ end }}')[2]}".replace('{{ $value | printf "%.0f" }}', "7")
    expected = {"exp_labels": rule["labels"], "exp_annotations": {**rule["annotations"], "description": description}}
    expect(series, alert_rule_test=[{"eval_time": "31m", "alertname": rule["alert"], "exp_alerts": [expected]}])


def test_the_operator_of_another_namespace_does_not_hide_that_this_one_is_down(expect, root, tmp_path):
    template = root / "roles/operator/templates/operator_monitoring.yaml.j2"
    given = {
        "namespace": "team",
        "cluster_name": "team",
        "labels": {},
        "monitoring_labels": {},
        "found": {"openshift": False, "monitoring": True},
    }
    variables = {f"operator_{name}": value for name, value in {**given, "prometheus_namespace": "monitoring"}.items()}
    variables["operator_prometheus_service_account"] = "prometheus"
    command = [
        "ansible",
        "localhost",
        "--connection=local",
        f"--playbook-dir={root / 'roles/operator'}",
        "--module-name=ansible.builtin.copy",
    ]
    content = f"content={{{{ lookup('ansible.builtin.template', '{template}') }}}} dest={tmp_path / 'objects.yaml'}"
    done = subprocess.run(
        [*command, f"--args={content}", f"--extra-vars={json.dumps(variables)}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    *_others, rule = yaml.safe_load_all((tmp_path / "objects.yaml").read_text())
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(rule["spec"]))
    firing = {"labels": '{alertname="SecondarySchedulerOperatorDown"}', "value": 1}
    question = {"expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": "21m", "exp_samples": [firing]}
    expect({UP.replace("ops", "team"): "1x9 0x200"}, rules=tmp_path / "rules.yaml", promql_expr_test=[question])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, []),
        (
            {"operator_monitoring_labels": {"release": "stack"}},
            [{"namespace": "openshift-monitoring", "service_account": "prometheus-k8s", "labels": {"release": "stack"}}],
        ),
    ],
)
def test_the_operator_gets_the_address_of_a_prometheus_other_than_openshifts(given, expected, root):
    files = [str(root / f"roles/operator/{folder}/main.yml") for folder in ("defaults", "vars")]
    tasks = [{"ansible.builtin.include_vars": file} for file in files]
    tasks.append({"name": "Show", "ansible.builtin.debug": {"msg": "{{ operator_prometheus_environment }}"}})
    shown = play(tasks, variables=given).task("Show").result["msg"]
    assert [(one["name"], json.loads(one["value"])) for one in shown] == [("OPERAND_PROMETHEUS", value) for value in expected]
