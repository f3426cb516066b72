# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role monitoring with a real Prometheus, as on OpenShift: access, recording rules, waiting."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest
import yaml
from support.monitoring import CPU, MEMORY, RULES, VIEW, Stack
from support.scheduler import eventually

ROLE = {"name": "Monitoring", "ansible.builtin.import_role": {"name": "osso.scheduler.monitoring"}}


@pytest.fixture(scope="module")
def stack(own_cluster, kubectl, tmp_path_factory):
    with Stack.of(own_cluster, kubectl, tmp_path_factory.mktemp("monitoring")) as stack, stack.operated():
        yield stack


@pytest.fixture
def role(play, stack, namespace):
    """Run the role in the namespace of the test, whose objects outside of it go again."""

    def run(**options):
        arguments = {name: options.pop(name) for name in ("check", "diff", "succeed") if name in options}
        fast = {"monitoring_rate_window": "10s", "monitoring_wait_timeout": 60}
        variables = {"monitoring_namespace": namespace, **fast, **{f"monitoring_{name}": value for name, value in options.items()}}
        return play([ROLE], variables=variables, **arguments)

    yield run
    run(state="absent")


@contextmanager
def recorded_by_others(stack, *metrics):
    """A Prometheus with no rules but those for these metrics, that has forgotten what it knew."""
    stack.rules([{"name": "nodes", "rules": [{"record": metric, "expr": RULES[metric]} for metric in metrics]}])
    stack.forget()
    stack.wait_for("rate(node_cpu_seconds_total[10s])", *stack.nodes)
    for metric in metrics:
        stack.wait_for(metric, *stack.nodes)
    try:
        yield
    finally:
        stack.rules([], name="ours")
        stack.record()


def rule(kubectl, namespace):
    return kubectl.json("get", "prometheusrule", "osso-scheduler-nodes", f"--namespace={namespace}", "--ignore-not-found")


def records(groups) -> list[str]:
    return [entry["record"] for group in groups for entry in group["rules"]]


def test_missing_metrics_are_recorded_and_then_usable(role, stack, kubectl, namespace, audit):
    with recorded_by_others(stack):
        first = role(wait=False)
        assert "instance:node_cpu:ratio" in first.task("Report missing metrics").result["msg"]
        assert records(rule(kubectl, namespace)["spec"]["groups"]) == [CPU, MEMORY]
        # Made by prometheus-operator of our PrometheusRule, and brought to Prometheus as its pod would find it.
        groups = eventually(stack.operated_rules)
        assert records(groups) == [CPU, MEMORY]
        stack.rules(groups, name="ours")
        for metric in (CPU, MEMORY):
            stack.wait_for(metric, *stack.nodes)
        with audit:
            second = role()
        assert (second.changed, audit.writes()) == ([], [])
        result = second.task("Wait until the metrics of every node are usable").result
        assert (result["usable"], result["findings"]) == (True, [])
        assert [metric["recorded_by_others"] for metric in result["metrics"]] == [False, False]
        values = {node["name"]: node["value"] for node in result["metrics"][0]["nodes"]}
        # The exporter's load is 0.2 for every node.
        assert all(abs(value - 0.2) < 0.05 for value in values.values()), values


@pytest.mark.long
def test_metrics_that_others_record_are_not_recorded_by_the_role(role, stack, kubectl, namespace):
    with recorded_by_others(stack, MEMORY):
        role(wait=False)
        assert records(rule(kubectl, namespace)["spec"]["groups"]) == [CPU]
    role()
    assert rule(kubectl, namespace) is None, "others record both by now"


@pytest.mark.long
def test_the_role_waits_for_metrics_that_appear_later(role, stack):
    with recorded_by_others(stack):
        later = threading.Timer(8, stack.record)
        later.start()
        run = role(rules="none", required=True)
        later.join()
        assert run.task("Wait until the metrics of every node are usable").result["usable"] is True


@pytest.mark.long
def test_rules_are_written_to_a_file_for_a_prometheus_without_operator(role, stack, kubectl, namespace):
    path = stack.rules_folder / "ours.yaml"
    with recorded_by_others(stack):
        options = {"rules": "file", "rules_file": str(path), "url": stack.url, "access": "none"}
        role(**options, wait=False)
        assert records(yaml.safe_load(path.read_text())["groups"]) == [CPU, MEMORY]
        assert rule(kubectl, namespace) is None
        stack.reload()
        again = role(**options)
        assert (again.changed, again.task("Wait until the metrics of every node are usable").result["usable"]) == ([], True)
        role(**options, state="absent")
        assert not path.exists()


@pytest.mark.long
def test_rules_use_another_label_for_the_name_of_the_node(role, stack, kubectl, namespace):
    with recorded_by_others(stack):
        role(wait=False, node_label="node", plugins=["TargetLoadPacking"])
        groups = rule(kubectl, namespace)["spec"]["groups"]
    assert groups[0]["rules"][0]["expr"].startswith("label_replace(1 - sum by (node) (rate(")
    stack.rules(groups, name="ours")  # Prometheus takes it
    stack.rules([], name="ours")


@pytest.mark.parametrize("access", [pytest.param("cluster-monitoring-view", marks=pytest.mark.long), "minimal"])
def test_the_role_grants_the_access_that_the_proxy_requires(role, stack, kubectl, namespace, access):
    for metric in (CPU, MEMORY):
        stack.wait_for(f'{metric}{{recorded_by=""}}', *stack.nodes)
    run = role(access=access)
    result = run.task("Wait until the metrics of every node are usable").result
    assert (result["authorized"], result["token_from"]) == (True, f"TokenRequest for ServiceAccount {namespace}/metrics-reader")
    subject = f"--as=system:serviceaccount:{namespace}:metrics-reader"
    may = kubectl("auth", "can-i", "get", "namespaces", subject, check=False).stdout.strip()
    assert may == ("yes" if access == VIEW else "no")
    first = run.task("Query Prometheus").result
    assert [metric["recorded_by_others"] for metric in first["metrics"]] == [True, True]
    assert rule(kubectl, namespace) is None


def test_check_mode_on_an_empty_cluster_writes_nothing(role, stack, audit):
    with audit:
        run = role(check=True, diff=True)
    assert audit.writes() == []
    assert "Apply the account that may read metrics" in " ".join(run.changed)


def test_state_absent_deletes_all_objects_of_the_role(role, stack, kubectl, namespace):
    def left():
        kinds = "serviceaccounts,clusterrolebindings,roles,rolebindings,prometheusrules"
        label = "--selector=app.kubernetes.io/name=osso-scheduler-monitoring"
        return kubectl("get", kinds, "--all-namespaces", label, "--output=name").stdout.split()

    with recorded_by_others(stack):
        role(access="minimal", wait=False)
        assert len(left()) == 4, left()
        role(state="absent")
    assert left() == []
