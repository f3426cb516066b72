# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every module with an API server that takes its time: a proxy in front of the real one delays each request.

Each module is a task of a host of its own, so that all of them wait at the same time.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from support.ansible_runs import TaskResult, play
from support.fault_proxy import FaultProxy
from support.operand import FINALIZER
from support.scheduler import IMAGE

pytestmark = pytest.mark.long

MODULES = Path(__file__).parents[2] / "plugins/modules"
NAMESPACE = "slow"
CONFIG = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": NAMESPACE}}
RESOURCE = {
    "apiVersion": "operator.openshift.io/v1",
    "kind": "SecondaryScheduler",
    "metadata": {"name": "a", "namespace": NAMESPACE, "uid": "u", "generation": 1, "finalizers": [FINALIZER]},
    "spec": {"schedulerConfig": "a", "schedulerImage": IMAGE},
}


def arguments(folder: Path) -> dict[str, dict]:
    """What each module is given."""
    return {
        "apply": {"manifests": [CONFIG_MAP]},
        "default_scheduler_info": {},
        "kube_scheduler_config": {"config_map": {"name": "b", "namespace": NAMESPACE}, "kubernetes_version": "1.34"},
        "olm_operator": {"package": "a", "namespace": NAMESPACE},
        "prometheus_info": {"service_account": {"name": "default", "namespace": NAMESPACE}},
        "reconcile_operand": {"resource": RESOURCE},
        "resource_info": {"api_version": "v1", "kind": "ConfigMap", "namespace": NAMESPACE},
        "resource_patch": {"api_version": "v1", "kind": "ServiceAccount", "namespace": NAMESPACE, "name": "default", "patch": {}},
        "scheduler_cache_dump": {"scheduler_name": "a"},
        "scheduler_gather": {"path": str(folder / "gathered.tar.gz")},
        "scheduler_info": {},
        "scheduler_pprof": {"scheduler_name": "a", "dest": str(folder)},
        "scheduler_pool": {"pools": [{"scheduler_name": "a", "namespaces": {"names": [NAMESPACE]}}]},
        "scheduler_explain": {"candidate": {"config": {"kind": "none"}}, "name": "p"},
        "scheduler_preview": {"candidate": {"config": {"kind": "none"}}},
        "scheduler_probe": {"scheduler_name": "a", "timeout": 5},
        "scheduler_snapshot": {"path": str(folder / "snapshot.json.gz")},
        "static_pod_scheduler": {},
    }


class SlowProxy(FaultProxy):
    """Every request takes so many seconds."""

    delay = 0.0

    def fault(self, method, path):
        time.sleep(self.delay)
        return super().fault(method, path)


def answers(folder: Path, kubeconfig: Path) -> dict[str, TaskResult]:
    """What each module answers."""
    hosts = {name: {"module": f"osso.scheduler.{name}", "arguments": args, **LOCAL} for name, args in arguments(folder).items()}
    inventory = folder / "inventory.json"
    inventory.write_text(json.dumps({"all": {"hosts": hosts}}))
    task = {"name": "Run the module", "action": "{{ module }}", "args": "{{ arguments }}"}
    run = play(
        [{"name": "Test", "hosts": "all", "gather_facts": False, "tasks": [task]}],
        args=["--inventory", str(inventory), "--forks", str(len(hosts))],
        env={"KUBECONFIG": str(kubeconfig), "K8S_AUTH_KUBECONFIG": str(kubeconfig)},
        succeed=False,
    )
    assert "Traceback" not in run.output()
    return {task.host: task for task in run.tasks}


def test_every_module_waits_for_a_slow_api_server_or_reports_it(secondary_scheduler_kind, own_cluster, kubectl, tmp_path):
    given = arguments(tmp_path)
    # A task of fleet_info is one for all hosts, and its request is one of scheduler_info. validate_variables sends no request.
    assert {*given, "fleet_info", "validate_variables"} == {path.stem for path in MODULES.glob("*.py") if path.stem != "__init__"}
    kubectl("create", "namespace", NAMESPACE)
    config = json.loads((own_cluster / "kubeconfig").read_text())
    kubeconfig = tmp_path / "kubeconfig"
    with SlowProxy(own_cluster) as proxy:
        config["clusters"][0]["cluster"]["server"] = proxy.url
        kubeconfig.write_text(json.dumps(config))
        at_once = answers(tmp_path, kubeconfig)
        proxy.delay = 2
        slow = answers(tmp_path, kubeconfig)
        # Longer than a read may take
        proxy.delay = 20
        too_slow = answers(tmp_path, kubeconfig)
    assert set(slow) == set(given)
    assert {name: one.status for name, one in slow.items()} == {name: one.status for name, one in at_once.items()}
    for name, one in slow.items():
        if one.status == "failed":
            assert one.result["msg"] == at_once[name].result["msg"]
    messages = {name: one.result["msg"] for name, one in too_slow.items() if one.status == "failed"}
    assert set(messages) == set(given)
    del messages["static_pod_scheduler"]
    for message in messages.values():
        assert "gave no answer to GET" in message
        assert "\n" not in message
    assert not kubectl("get", "pods", "--all-namespaces", "--output=name").stdout
