# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook hand_over when the other operator has replaced the pods: the objects of the operator's installation are deleted, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._operand.rollout import is_complete
from support.kinds import delete_kinds
from support.operand import reconcile
from support.scheduler import Scheduler, await_end, eventually
from support.site import NAMESPACE, RESOURCE, remove, removed

ROOT = Path(__file__).resolve().parents[2]
ROLE = [{"name": "Install", "ansible.builtin.import_role": {"name": "osso.scheduler.operator"}}]
UPSTREAM = {"operator_variant": "upstream", "operator_image": "quay.io/openshift/secondary-scheduler-operator:4.20", "operator_wait": False}


@pytest.fixture(scope="module", autouse=True)
def others(kubectl):
    """What other files have left. They expect a cluster on which nothing is installed."""
    remove()
    await_end(kubectl, "roles,rolebindings", "--selector=osso.scheduler/set")
    before = ours(kubectl)
    yield before
    assert ours(kubectl) == before
    files = (ROOT / "roles/operator/files").rglob("*.yaml")
    objects = (one for path in files for one in yaml.safe_load_all(path.read_text()))
    delete_kinds(kubectl, *(one["metadata"]["name"] for one in objects if one.get("kind") == "CustomResourceDefinition"))
    kubectl("delete", "--ignore-not-found", "namespace", NAMESPACE, "--timeout=100s")


@pytest.fixture
def reconciled_scheduler(kubectl, play):
    """A scheduler of our operator, as the operator has made it."""
    play(ROLE, variables={"operator_image": "a/b:c", "operator_wait": False})
    scheduler = Scheduler(kubectl, "cluster")
    scheduler.write_config()
    scheduler.write()
    reconcile(scheduler.resource)
    yield scheduler
    removed(kubectl)


def ours(kubectl) -> list[str]:
    """Roles and bindings of our operator and of its schedulers, in the whole cluster, but for those that the upstream operator makes by the same name."""
    kinds = "clusterroles,clusterrolebindings,roles,rolebindings"
    found = kubectl("get", kinds, "--all-namespaces", "--selector=osso.scheduler/set", "--output=name").stdout.split()
    return [name for name in found if not name.endswith("/prometheus-k8s")]


def labels(kubectl, kind, name) -> dict:
    return kubectl.json("get", kind, name)["metadata"].get("labels") or {}


def test_handing_over_the_last_scheduler_deletes_the_operators_installation(reconciled_scheduler, kubectl, play, audit, others):
    before = ours(kubectl)
    assert f"clusterrolebinding.rbac.authorization.k8s.io/osso:{NAMESPACE}:operator" in before
    assert "osso.scheduler/set" in labels(kubectl, "namespace", NAMESPACE)
    play("osso.scheduler.hand_over")
    assert ours(kubectl) == before
    # Neither a member that somebody replaced nor what somebody wrote into the inventory is deleted.
    where = f"--namespace={NAMESPACE}"
    policy = reconciled_scheduler.get("networkpolicy")
    kubectl("delete", "networkpolicy", reconciled_scheduler.workload, where)
    kubectl("create", "--filename=-", stdin={**policy, "metadata": {"name": reconciled_scheduler.workload, "namespace": NAMESPACE}})
    inventory = reconciled_scheduler.get("configmap", f"osso-set-operand-{reconciled_scheduler.name}")
    forged = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "kube-root-ca.crt"})
    patch = {"data": {"objects": inventory["data"]["objects"] + forged + "\n"}}
    kubectl("patch", "configmap", inventory["metadata"]["name"], where, f"--patch={json.dumps(patch)}")
    root = kubectl.json("get", "configmap", "kube-root-ca.crt", "--namespace=default")["metadata"]["uid"]

    # Without nodes, no pod replaces the former ones.
    pod = {"volumes": None, "containers": [{"name": reconciled_scheduler.workload, "volumeMounts": None}]}
    patch = {"spec": {"replicas": 0, "template": {"spec": pod}}}
    kubectl("patch", "deployment", reconciled_scheduler.workload, where, f"--patch={json.dumps(patch)}")
    # As if the other operator had created it, after someone had deleted ours
    kubectl("label", "deployment", reconciled_scheduler.workload, where, "app.kubernetes.io/managed-by-", "osso.scheduler/set-")
    eventually(lambda: is_complete(reconciled_scheduler.deployment))
    with audit:
        predicted = play("osso.scheduler.hand_over", check=True)
    assert audit.writes() == []
    assert ours(kubectl) == before
    run = play("osso.scheduler.hand_over")
    assert (
        run.changed == predicted.changed == ["Remove objects that are no longer in use", "Remove the rest of the operator's installation"]
    )
    assert ours(kubectl) == others
    kubectl("delete", "networkpolicy", reconciled_scheduler.workload, where)
    assert kubectl.json("get", "configmap", "kube-root-ca.crt", "--namespace=default")["metadata"]["uid"] == root
    assert reconciled_scheduler.get("serviceaccount")
    assert not reconciled_scheduler.get("serviceaccount", "osso-scheduler-operator")
    assert not kubectl("get", "configmaps", f"--namespace={NAMESPACE}", "--selector=osso.scheduler/inventory", "--output=name").stdout
    assert reconciled_scheduler.resource
    for kind, name in (("namespace", NAMESPACE), ("crd", RESOURCE), ("crd", "podgroups.scheduling.x-k8s.io")):
        assert "osso.scheduler/set" not in labels(kubectl, kind, name)
    assert play("osso.scheduler.hand_over").changed == []
    play(ROLE, variables=UPSTREAM)
    remove(variables=UPSTREAM)


def test_a_resource_deleted_after_the_handover_leaves_no_objects(reconciled_scheduler, kubectl, play, others):
    play("osso.scheduler.hand_over")
    kubectl("delete", RESOURCE, reconciled_scheduler.name, f"--namespace={NAMESPACE}")
    predicted = play("osso.scheduler.hand_over", check=True)
    run = play("osso.scheduler.hand_over")
    assert run.changed == predicted.changed == ["Clean up after deleted resources", "Remove the rest of the operator's installation"]
    assert ours(kubectl) == others


@pytest.mark.parametrize("exists", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_removal_after_a_handover_leaves_no_objects(reconciled_scheduler, kubectl, play, others, exists):
    play("osso.scheduler.hand_over")
    if not exists:
        kubectl("delete", RESOURCE, reconciled_scheduler.name, f"--namespace={NAMESPACE}")
    assert "Removed: operator, schedulers." in remove().output()
    assert ours(kubectl) == others


def test_a_removal_reports_the_remains_of_the_upstream_operator(kubectl):
    name = "secondary-scheduler-system-volume-scheduler"
    group, subject = "rbac.authorization.k8s.io", {"kind": "ServiceAccount", "namespace": NAMESPACE, "name": "secondary-scheduler"}
    owner = {"apiVersion": "operator.openshift.io/v1", "kind": "SecondaryScheduler", "name": "cluster", "uid": "gone"}
    role = {"apiGroup": group, "kind": "ClusterRole", "name": "system:volume-scheduler"}
    binding = {"apiVersion": f"{group}/v1", "kind": "ClusterRoleBinding", "roleRef": role, "subjects": [subject]}
    removed(kubectl)
    kubectl.apply({**binding, "metadata": {"name": name, "ownerReferences": [owner]}})
    run = remove(variables=UPSTREAM)
    assert not kubectl("get", "clusterrolebinding", name, "--ignore-not-found").stdout
    assert "Removed: operator." in run.output()
    assert "Nothing was installed." in remove(variables=UPSTREAM).output()


def test_a_handover_that_waits_reports_that_no_other_operator_replaces_the_pods(reconciled_scheduler, kubectl, play):
    """Of the pod that holds the Lease there is only what the play reads, without a node."""
    where = f"--namespace={NAMESPACE}"
    pods = eventually(lambda: kubectl.list("pod", NAMESPACE, f"app={reconciled_scheduler.workload}"))
    name = pods[0]["metadata"]["name"]
    started = {"status": {"startTime": "2026-01-01T00:00:00Z"}}
    kubectl("patch", "pod", name, where, "--subresource=status", "--type=merge", f"--patch={json.dumps(started)}")
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": {"holderIdentity": f"{name}_1"}}
    kubectl.apply({**lease, "metadata": {"name": reconciled_scheduler.workload, "namespace": NAMESPACE}})
    run = play("osso.scheduler.hand_over", variables={"hand_over_wait": 5}, succeed=False)
    assert "other operator has rolled out its Deployment: this did not happen in time. Install the other operator" in run.output()
    assert not reconciled_scheduler.get("pod", f"{reconciled_scheduler.workload}-bridge")
