# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""site.yml where a scheduler goes by the load that a real Prometheus measures: up to a pod on the right node, or not at all."""

from __future__ import annotations

import pytest
from support.load_aware import (
    BALANCING,
    DEFAULT,
    FILLING,
    FULL,
    PACKING,
    QUIET,
    VARIABLES,
    ask_again,
    away,
    place,
    pod,
    reserve,
)
from support.monitoring import CPU, Stack
from support.scheduler import Scheduler, eventually
from support.site import NAMESPACE, remove, site


@pytest.fixture(scope="module")
def stack(own_cluster, kubectl, tmp_path_factory):
    """No OpenShift: Prometheus is given by its URL, and asks nobody for a token."""
    with Stack.of(own_cluster, kubectl, tmp_path_factory.mktemp("monitoring"), openshift=False) as stack, stack.operated():
        yield stack


@pytest.fixture(scope="module")
def schedulers(stack, kubectl):
    """Both presets, deployed by site.yml in the situation from which the tests start; the result of its wait for metrics."""
    full, filling, quiet = stack.nodes[:3]
    stack.under({**dict.fromkeys(stack.nodes, QUIET), full: FULL, filling: FILLING, quiet: QUIET})
    variables = {"prometheus_url": stack.url, "probe": "never"}
    yield site(VARIABLES, variables=variables).task("Wait until the metrics of every node are usable").result
    stack.exporter.only(*stack.nodes, cpu=0.2)
    away(kubectl)


@pytest.mark.long
def test_nothing_is_deployed_without_metrics_that_are_required(stack, kubectl):
    with stack.down():
        run = site(VARIABLES, variables={"prometheus_url": stack.url, "monitoring_access": "none"}, succeed=False)
    (failure,) = run.failures
    assert "Load-aware scheduling would not work" in failure.result["msg"]
    assert [Scheduler(kubectl, name).resource for name in (PACKING, BALANCING)] == [None, None]


def test_metrics_are_waited_for_and_schedulers_are_scraped(stack, schedulers):
    assert schedulers["plugins"] == ["LoadVariationRiskBalancing", "TargetLoadPacking"]
    # By the ServiceMonitor that our operator makes
    target = f"serviceMonitor/{NAMESPACE}/secondary-scheduler-{PACKING}/0"
    eventually(lambda: target in stack.operated_config())


@pytest.mark.long
def test_each_preset_places_its_pods_on_the_expected_node(stack, schedulers, kubectl, namespace):
    """Each scheduler to a node of its own; and where the loads of two nodes change places, so do the choices that go by them."""
    full, filling, quiet = stack.nodes[:3]
    reserve(kubectl, namespace, filling, quiet)
    expected = {DEFAULT: [full] * 4, PACKING: [filling] * 4, BALANCING: [quiet] * 4}
    assert place(kubectl, namespace, *expected) == expected

    stack.under({full: FULL, filling: QUIET, quiet: FILLING})
    ask_again(kubectl, PACKING, BALANCING)
    expected = {DEFAULT: [full] * 4, PACKING: [quiet] * 4, BALANCING: [filling] * 4}
    assert place(kubectl, namespace, *expected) == expected


@pytest.mark.long
def test_a_node_with_real_load_is_avoided(stack, schedulers, kubectl, namespace):
    """Here nothing is chosen by the test but which node works: the load is what the nodes' cgroups count."""
    working, *others = stack.nodes
    busy = pod("busy", namespace, nodeName=working)
    busy["spec"]["containers"][0].update(image="registry.k8s.io/busybox:1", command=["sh", "-c", "while :; do :; done"])
    kubectl.apply(busy)
    reserve(kubectl, namespace, *others)
    for node in stack.nodes:
        stack.measure(node)
    stack.remember({})
    eventually(lambda: stack.query(f"count_over_time({CPU}[5m])").get(working, 0) >= 15)
    ask_again(kubectl, BALANCING)
    chosen = place(kubectl, namespace, DEFAULT, BALANCING)
    assert chosen[DEFAULT] == [working] * 4
    assert working not in chosen[BALANCING], stack.query(CPU)


@pytest.mark.long
def test_the_playbook_remove_deletes_rules_and_account(stack, kubectl, play):
    role = {"name": "Monitoring", "ansible.builtin.import_role": {"name": "osso.scheduler.monitoring"}}
    site(variables={"probe": "never"})
    stack.rules([])
    stack.forget()
    try:
        play([role], variables={"monitoring_wait": False, "monitoring_url": stack.url, "monitoring_access": "minimal"})
        assert kubectl.json("get", "prometheusrule", "osso-scheduler-nodes", f"--namespace={NAMESPACE}")
        remove()
    finally:
        stack.record()
    label = "--selector=app.kubernetes.io/name=osso-scheduler-monitoring"
    kinds = "serviceaccounts,clusterrolebindings,roles,rolebindings,prometheusrules"
    assert kubectl("get", kinds, "--all-namespaces", label, "--output=name").stdout == ""
