# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role monitoring on a cluster without Prometheus."""

from __future__ import annotations

import yaml
from support.direct_module import COLLECTIONS
from support.monitoring import CPU, MEMORY

ROLE = {"name": "Monitoring", "ansible.builtin.import_role": {"name": "osso.scheduler.monitoring"}}


def test_the_role_does_not_wait_for_metrics_that_never_appear(play, namespace):
    variables = {"monitoring_namespace": namespace, "monitoring_sources": ["route"], "monitoring_required": True}
    run = play([ROLE], variables=variables, succeed=False)
    (failure,) = run.failures
    message = failure.result["msg"]
    assert message.startswith("Load-aware scheduling would not work:\nERROR: No Prometheus was found")
    assert message.endswith("With monitoring_required: false it is deployed all the same.")
    assert run.task("Wait until the metrics of every node are usable").result["attempts"] == 1
    run = play([ROLE], variables={**variables, "monitoring_required": False})
    assert "No Prometheus was found" in run.task("Report missing metrics").result["msg"]


IDLE = 'rate(node_cpu_seconds_total{mode=~"idle|iowait|steal"}[1m])'


def test_rules_are_written_to_a_file_with_the_label_of_the_node(play, namespace, tmp_path):
    """For a Prometheus without an operator. What is recorded has the name of the node as label instance, whatever label the metrics have."""
    file = tmp_path / "rules.yaml"
    variables = {
        "monitoring_namespace": namespace,
        "monitoring_sources": ["route"],
        "monitoring_rules": "file",
        "monitoring_rules_file": str(file),
        "monitoring_recorded_metrics": [CPU, MEMORY],
        "monitoring_rate_window": "1m",
    }

    def written(**options):
        assert play([ROLE], variables={**variables, **options}).changed == ["osso.scheduler.monitoring : Write the recording rules"]
        (group,) = yaml.safe_load(file.read_text())["groups"]
        assert [rule["labels"] for rule in group["rules"]] == [{"recorded_by": "osso.scheduler"}] * 2
        return {rule["record"]: rule["expr"] for rule in group["rules"]}

    def ratios(label):
        return {
            CPU: f"1 - sum by ({label}) ({IDLE}) / sum by ({label}) (rate(node_cpu_seconds_total[1m]))",
            MEMORY: f"1 - sum by ({label}) (node_memory_MemAvailable_bytes) / sum by ({label}) (node_memory_MemTotal_bytes)",
        }

    assert written() == ratios("instance")
    renamed = {metric: f'label_replace({ratio}, "instance", "$1", "node", "(.+)")' for metric, ratio in ratios("node").items()}
    assert written(monitoring_node_label="node") == renamed
    play([ROLE], variables={**variables, "monitoring_state": "absent"})
    assert not file.exists()


def test_a_run_with_other_schedulers_keeps_the_account_of_earlier_ones(secondary_scheduler_kind, play, kubectl, namespace):
    """Schedulers that a run does not name stay, so their account stays, too; the account of a scheduler that is gone does not."""
    tasks = {
        "name": "Provide",
        "ansible.builtin.include_tasks": f"{COLLECTIONS}/ansible_collections/osso/scheduler/playbooks/tasks/metrics_and_pools.yml",
    }
    usual = {
        "operator_namespace": namespace,
        "monitoring_access": "cluster-monitoring-view",
        "monitoring_rules": "none",
        "monitoring_sources": ["route"],
        "monitoring_required": False,
        "secondary_scheduler_asking_prometheus": ["TargetLoadPacking"],
        "scheduler_pools": [],
    }
    other = f"{namespace}-other"
    kubectl("create", "namespace", other)

    def accounts(where, **more):
        play([tasks], variables={**usual, "secondary_scheduler_namespaces_asking_prometheus": [where], **more})
        found = kubectl.json("get", "serviceaccounts", "--all-namespaces", f"--selector=osso.scheduler/set-namespace={namespace}")["items"]
        return sorted(one["metadata"]["namespace"] for one in found)

    try:
        assert accounts(namespace) == [namespace]
        spec = {"managementState": "Managed", "schedulerConfig": "c", "schedulerImage": "registry.k8s.io/kube-scheduler:v1.34.0"}
        annotations = {"osso.scheduler/prometheus-token": "serviceaccount/metrics-reader"}
        about = {"name": "early", "namespace": namespace, "annotations": annotations}
        kubectl.apply({"apiVersion": "operator.openshift.io/v1", "kind": "SecondaryScheduler", "metadata": about, "spec": spec})
        assert accounts(other) == [namespace, other]
        # The needs of a scheduler that is part of the run are known.
        assert accounts(other, secondary_scheduler_all=[{"namespace": namespace, "name": "early", "state": "absent"}]) == [other]
        assert accounts(namespace) == [namespace]
        kubectl("delete", "secondaryscheduler", "early", f"--namespace={namespace}")
        assert accounts(other) == [other]
    finally:
        play([ROLE], variables={"monitoring_namespace": namespace, "monitoring_state": "absent"})
        kubectl("delete", "namespace", other, "--wait=false")
