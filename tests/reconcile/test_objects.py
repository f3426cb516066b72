# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The objects of a scheduler: all of them, as declared, whatever others do to them."""

from __future__ import annotations

import base64
import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import find
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import content_hash
from conformance.operator.steps import container, owner, owners, patch, pod_spec, version
from support.access import service_account
from support.operator_in_process import Operator
from support.scheduler import IMAGE, eventually

STRANGER = [{"kind": "ServiceAccount", "name": "stranger", "namespace": "default"}]
LEASES = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "delete"]}


def objects(scheduler) -> dict[tuple[str, str], dict]:
    """What is made for it, by kind and name, and what somebody changes of it."""
    return {
        ("clusterrolebinding", f"{scheduler.cluster_name}:kube-scheduler"): {"subjects": STRANGER},
        ("clusterrolebinding", f"{scheduler.cluster_name}:volume-scheduler"): {"subjects": STRANGER},
        ("serviceaccount", scheduler.workload): {"metadata": {"labels": {"app": "other"}}},
        ("service", scheduler.workload): {"spec": {"selector": {"app": "other"}}},
        ("role", scheduler.workload): {"rules": [LEASES]},
        ("rolebinding", scheduler.workload): {"subjects": STRANGER},
        ("deployment", scheduler.workload): {"spec": {"replicas": 2}},
    }


def enforced(item) -> dict:
    """What of an object the operator enforces."""
    return {key: item[key] for key in ("subjects", "rules", "spec") if key in item} | {"labels": item["metadata"].get("labels")}


def copied(metadata) -> dict:
    """What who replaces an object keeps of its metadata, so that it looks like the operator's."""
    return {key: metadata[key] for key in ("name", "namespace", "labels", "annotations", "ownerReferences") if key in metadata}


def test_one_reconcile_makes_everything_and_reports_the_generation(scheduler):
    """U07, U03"""
    for kind, name in objects(scheduler):
        found = scheduler.get(kind, name)
        assert found, kind
        assert owners(found) == ([] if kind == "clusterrolebinding" else [owner(scheduler)]), kind
    assert (
        scheduler.resource["status"]["generations"][0].items()
        >= {
            "group": "apps",
            "resource": "deployments",
            "namespace": scheduler.namespace,
            "name": scheduler.workload,
            "lastGeneration": scheduler.deployment["metadata"]["generation"],
        }.items()
    )
    assert scheduler.resource["status"]["readyReplicas"] == 1
    assert scheduler.resource["status"]["observedGeneration"] == scheduler.resource["metadata"]["generation"]
    assert container(scheduler)["image"] == IMAGE
    volume = pod_spec(scheduler)["volumes"][0]
    (mount,) = [mount for mount in container(scheduler)["volumeMounts"] if mount["name"] == volume["name"]]
    assert f"--config={mount['mountPath']}/config.yaml" in container(scheduler)["args"]
    config = scheduler.get("secret", volume["secret"]["secretName"])["data"]["config.yaml"]
    # It always ends with a newline.
    assert base64.b64decode(config).decode() == scheduler.get("configmap", scheduler.name)["data"]["config.yaml"] + "\n"


def test_every_object_is_repaired_and_nothing_is_written_without_a_reason(scheduler, operator, kubectl):
    """U02, U06"""
    assert operator.writes(scheduler) == 0
    before = {key: enforced(scheduler.get(*key)) for key in objects(scheduler)}
    for (kind, name), change in objects(scheduler).items():
        patch(scheduler, kind, name, **change)
    drifted = {"containers": [{**container(scheduler), "image": "registry.k8s.io/pause:3.10"}]}
    patch(scheduler, "deployment", spec={"template": {"spec": drifted}})
    assert [key for key in before if enforced(scheduler.get(*key)) == before[key]] == []
    operator.serve(scheduler)
    assert {key: enforced(scheduler.get(*key)) for key in before} == before
    uid = scheduler.deployment["metadata"]["uid"]
    kubectl("delete", "deployment", scheduler.workload, f"--namespace={scheduler.namespace}", "--cascade=foreground")
    operator.serve(scheduler)
    assert scheduler.deployment["metadata"]["uid"] != uid
    assert operator.writes(scheduler) == 0


def test_metadata_of_others_stay_and_cause_no_rollout(scheduler, operator):
    """B04"""
    before = version(scheduler)
    touched = {"metadata": {"labels": {"example.com/touched": "yes"}, "annotations": {"example.com/touched": "yes"}}}
    made = [
        *((kind, name) for kind, name in objects(scheduler) if kind != "deployment"),
        ("configmap", scheduler.name),
        ("secret", pod_spec(scheduler)["volumes"][0]["secret"]["secretName"]),
    ]
    for kind, name in made:
        patch(scheduler, kind, name, **touched)
    # What OpenShift does to every ServiceAccount.
    patch(scheduler, "serviceaccount", imagePullSecrets=[{"name": "dockercfg"}])
    operator.serve(scheduler)
    assert version(scheduler) == before
    for kind, name in made:
        assert scheduler.get(kind, name)["metadata"]["labels"]["example.com/touched"] == "yes", f"{kind} {name}: taken away from its owner"
    assert scheduler.get("serviceaccount")["imagePullSecrets"] == [{"name": "dockercfg"}]


def test_objects_of_others_are_adopted_only_if_the_resource_allows_it(new, operator, kubectl):
    scheduler = new()
    kubectl.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": scheduler.workload, "namespace": scheduler.namespace}}
    )
    assert "osso.scheduler/adopt" in operator.reconcile(scheduler).failure
    assert scheduler.condition("Degraded")[:2] == ("True", "ApplyFailed")
    assert scheduler.deployment is None
    patch(scheduler, "secondaryscheduler", scheduler.name, metadata={"annotations": {"osso.scheduler/adopt": "true"}})
    operator.serve(scheduler)


def test_an_adopted_object_that_its_owner_replaces_is_adopted_again(new, operator, kubectl):
    """Nothing in it says that it belongs to the scheduler, and the inventory says that it existed before."""
    scheduler = new()
    theirs = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": scheduler.workload, "namespace": scheduler.namespace}}
    kubectl.apply(theirs)
    patch(scheduler, "secondaryscheduler", scheduler.name, metadata={"annotations": {"osso.scheduler/adopt": "true"}})
    operator.serve(scheduler)
    patch(scheduler, "secondaryscheduler", scheduler.name, metadata={"annotations": {"osso.scheduler/adopt": None}})
    kubectl("replace", "--filename=-", stdin=theirs)
    operator.serve(scheduler)
    metadata = scheduler.get("serviceaccount")["metadata"]
    assert "osso.scheduler/adopted-from" in metadata["annotations"]
    assert owners({"metadata": metadata}) == []
    assert operator.writes(scheduler) == 0
    eventually(lambda: not operator.finalize(scheduler).look_again)
    assert "osso.scheduler/set" not in scheduler.get("serviceaccount")["metadata"]["labels"]


def test_an_object_that_its_owner_deletes_and_creates_again_is_not_changed(new, operator, kubectl):
    """The operator cannot wait for its end, and what follows it does not belong to the scheduler."""
    scheduler = new()
    metadata = {"name": scheduler.workload, "namespace": scheduler.namespace}
    theirs = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {**metadata, "finalizers": ["example.com/hold"]}}
    kubectl.apply(theirs)
    kubectl("delete", "serviceaccount", scheduler.workload, f"--namespace={scheduler.namespace}", "--wait=false")
    assert operator.reconcile(scheduler).look_again
    patch(scheduler, "serviceaccount", metadata={"finalizers": None})
    kubectl.apply({**theirs, "metadata": metadata})
    before = scheduler.get("serviceaccount")
    assert "osso.scheduler/adopt" in operator.reconcile(scheduler).failure
    assert scheduler.get("serviceaccount") == before
    kubectl("delete", "serviceaccount", scheduler.workload, f"--namespace={scheduler.namespace}")
    operator.serve(scheduler)
    assert operator.writes(scheduler) == 0


def test_an_object_released_by_a_former_scheduler_has_to_be_adopted(scheduler, operator, kubectl):
    """as docs/ownership.md describes it: the operator wrote it once, but it has no labels any more"""
    kubectl("delete", "configmap", f"osso-set-operand-{scheduler.name}", f"--namespace={scheduler.namespace}")
    labels = {"osso.scheduler/set": None, "osso.scheduler/set-namespace": None}
    patch(scheduler, "role", metadata={"labels": labels, "ownerReferences": None})
    assert "osso.scheduler/adopt" in operator.reconcile(scheduler).failure
    patch(scheduler, "secondaryscheduler", scheduler.name, metadata={"annotations": {"osso.scheduler/adopt": "true"}})
    operator.serve(scheduler)
    assert "osso.scheduler/adopted-from" in scheduler.get("role")["metadata"]["annotations"]


def test_the_lease_of_another_scheduler_stays_when_a_resource_is_deleted(new, operator, kubectl):
    scheduler = new()
    metadata = {"name": scheduler.workload, "namespace": scheduler.namespace}
    pod = {"metadata": {"labels": {"app": "other"}}, "spec": {"containers": [{"name": "main", "image": IMAGE}]}}
    spec = {"selector": {"matchLabels": {"app": "other"}}, "template": pod}
    kubectl.apply(
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec},
        {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata},
    )
    assert "osso.scheduler/adopt" in operator.reconcile(scheduler).failure
    assert not operator.finalize(scheduler).look_again
    assert scheduler.get("lease")


def test_edits_that_make_an_apply_invalid_are_reverted(scheduler, operator):
    before = scheduler.deployment["spec"]["template"]
    volumes = [{"name": volume["name"], "emptyDir": {}} for volume in pod_spec(scheduler)["volumes"]]
    ports = [{**container(scheduler)["ports"][0], "containerPort": 1}]
    containers = [{**container(scheduler), "ports": ports}]
    labels = {"example.com/kept": "yes"}
    patch(scheduler, "deployment", metadata={"labels": labels}, spec={"template": {"spec": {"volumes": volumes, "containers": containers}}})
    assert operator.reconcile(scheduler).failure == ""
    assert scheduler.deployment["spec"]["template"] == before
    assert scheduler.deployment["metadata"]["labels"].items() >= labels.items()
    assert "cannot be merged with fields that are managed by kubectl-patch" in scheduler.events()["FieldsPutBack"]
    operator.serve(scheduler)
    assert operator.writes(scheduler) == 0


def test_a_configuration_secret_that_was_replaced_is_recreated(scheduler, operator, kubectl):
    name = pod_spec(scheduler)["volumes"][0]["secret"]["secretName"]
    secret = scheduler.get("secret", name)
    other = base64.b64encode(b"not the configuration").decode()
    replaced = {**secret, "data": {"config.yaml": other}, "metadata": copied(secret["metadata"])}
    kubectl("delete", "secret", name, f"--namespace={scheduler.namespace}")
    kubectl("create", "--filename=-", stdin=json.dumps(replaced))
    assert operator.reconcile(scheduler).failure == ""
    assert scheduler.get("secret", name)["data"] == secret["data"]
    assert scheduler.get("secret", name)["metadata"]["uid"] != secret["metadata"]["uid"]
    operator.serve(scheduler)
    assert operator.writes(scheduler) == 0


def test_a_configuration_secret_that_cannot_be_recreated_is_reported(scheduler, operator, kubectl):
    name = pod_spec(scheduler)["volumes"][0]["secret"]["secretName"]
    secret = scheduler.get("secret", name)
    replaced = {**secret, "data": {"config.yaml": base64.b64encode(b"other").decode()}, "metadata": copied(secret["metadata"])}
    scheduler.write_config("kind: Pod")
    operator.reconcile(scheduler)
    assert "do not run what was deployed" not in scheduler.condition("Degraded")[2]
    kubectl("delete", "secret", name, f"--namespace={scheduler.namespace}")
    kubectl("create", "--filename=-", stdin=json.dumps(replaced))
    operator.reconcile(scheduler)
    status, reason, message = scheduler.condition("Degraded")
    assert (status, reason) == ("True", "ConfigInvalid")
    assert f"The Secret {scheduler.namespace}/{name} with the configuration of the running scheduler was deleted or replaced" in message
    scheduler.write_config()
    operator.serve(scheduler)
    assert scheduler.get("secret", name)["data"] == secret["data"]
    assert scheduler.condition("Degraded")[0] == "False"


def test_a_planted_record_of_a_rollout_is_not_applied(scheduler, operator, kubectl):
    """Anyone who may create Secrets can give one the labels, the owner and the annotations of the operator's."""
    image = container(scheduler)["image"]
    secret = scheduler.get("secret", pod_spec(scheduler)["volumes"][0]["secret"]["secretName"])
    text = scheduler.config(weight=7)
    name = f"{scheduler.workload}-config-{content_hash(text)}"
    record = json.loads(scheduler.deployment["metadata"]["annotations"]["osso.scheduler/present-rollout"])
    evil = {**record, "image": "registry.example.com/evil:1", "config": content_hash(text)}
    planted = {
        **secret,
        "metadata": {**copied(secret["metadata"]), "name": name},
        "data": {"config.yaml": base64.b64encode(text.encode()).decode()},
    }
    annotations = {"osso.scheduler/served-rollout": json.dumps(evil), "osso.scheduler/served-at": "2999-01-01T00:00:00Z"}
    planted["metadata"]["annotations"] = annotations
    kubectl.create("secret", planted, scheduler.namespace)
    kubectl("delete", "configmap", scheduler.name, f"--namespace={scheduler.namespace}")
    kubectl("delete", "deployment", scheduler.workload, f"--namespace={scheduler.namespace}")
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[:2] == ("True", "ConfigMapMissing")
    assert container(scheduler)["image"] == image
    # Nor is it overwritten and used, once it is to create a Secret of this name itself.
    scheduler.write_config(text)
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[:2] == ("True", "ApplyFailed")
    assert f"Secret {scheduler.namespace}/{name}" in scheduler.condition("Degraded")[2]
    assert container(scheduler)["image"] == image


def test_a_planted_record_does_not_start_a_scheduler_without_configuration(scheduler, new, operator, kubectl):
    """Where nothing was created yet, neither an inventory nor a Deployment names other Secrets."""
    victim = new("victim")
    kubectl("delete", "configmap", victim.name, f"--namespace={victim.namespace}")
    text = victim.config()
    secret = scheduler.get("secret", pod_spec(scheduler)["volumes"][0]["secret"]["secretName"])
    record = json.loads(scheduler.deployment["metadata"]["annotations"]["osso.scheduler/present-rollout"])
    evil = {**record, "image": "registry.example.com/evil:1", "config": content_hash(text)}
    labels = {key: value.replace(scheduler.name, victim.name) for key, value in secret["metadata"]["labels"].items()}
    metadata = {
        "name": f"{victim.workload}-config-{content_hash(text)}",
        "labels": labels,
        "annotations": {"osso.scheduler/served-rollout": json.dumps(evil), "osso.scheduler/served-at": "2026-01-01T00:00:00Z"},
        "ownerReferences": [{**secret["metadata"]["ownerReferences"][0], "name": victim.name, "uid": victim.resource["metadata"]["uid"]}],
    }
    data = {"config.yaml": base64.b64encode(text.encode()).decode()}
    kubectl.create("secret", {**secret, "metadata": metadata, "data": data}, victim.namespace)
    operator.reconcile(victim)
    assert victim.condition("Degraded")[:2] == ("True", "ConfigMapMissing")
    assert kubectl.get("deployment", victim.workload, victim.namespace) is None


def test_a_binding_with_another_role_is_created_again(scheduler, operator, kubectl):
    binding = scheduler.get("rolebinding")
    replaced = {**binding, "metadata": copied(binding["metadata"])}
    replaced["roleRef"] = {**binding["roleRef"], "kind": "ClusterRole", "name": "view"}
    kubectl("delete", "rolebinding", scheduler.workload, f"--namespace={scheduler.namespace}")
    kubectl("create", "--filename=-", stdin=json.dumps(replaced))
    assert operator.reconcile(scheduler).failure == ""
    assert scheduler.get("rolebinding")["roleRef"] == binding["roleRef"]
    assert operator.writes(scheduler) == 0


GROUPS = ["", "apps", "coordination.k8s.io", "networking.k8s.io", "policy", "rbac.authorization.k8s.io", "operator.openshift.io"]
# About the permissions of the operator
MAY = {"apiGroups": GROUPS, "resources": ["*"], "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"]}


def test_a_widened_role_does_not_keep_its_binding_from_being_repaired(scheduler, kubectl):
    """The API server lets nobody bind a role that permits more than he may."""
    role, binding = scheduler.get("role"), scheduler.get("rolebinding")
    patch(scheduler, "role", rules=[{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}])
    patch(scheduler, "rolebinding", subjects=STRANGER)
    with service_account(kubectl, scheduler.namespace, MAY, everywhere=True) as somebody:
        assert Operator(kubectl, **somebody).reconcile(scheduler).failure == ""
    assert scheduler.get("role")["rules"] == role["rules"]
    assert scheduler.get("rolebinding")["subjects"] == binding["subjects"]


@pytest.mark.parametrize("is_recorded", [True, False])
def test_pods_that_may_have_read_another_configuration_are_replaced(scheduler, operator, kubectl, is_recorded):
    """Somebody replaced the Secret, a pod started, and the operator put it right: the pod still has what it read."""
    if not is_recorded:
        # The times have to tell. They are whole seconds.
        ended = find(scheduler.deployment, "Progressing")["lastUpdateTime"]
        eventually(lambda: timestamps.now() > ended)
        patch(scheduler, "deployment", metadata={"annotations": {"osso.scheduler/secrets": None}})
    name, generation = pod_spec(scheduler)["volumes"][0]["secret"]["secretName"], scheduler.deployment["metadata"]["generation"]
    secret = scheduler.get("secret", name)
    kubectl("delete", "secret", name, f"--namespace={scheduler.namespace}")
    kubectl.create("secret", {**secret, "metadata": copied(secret["metadata"])}, scheduler.namespace)
    assert operator.reconcile(scheduler).failure == ""
    uid = scheduler.get("secret", name)["metadata"]["uid"]
    assert scheduler.deployment["spec"]["template"]["metadata"]["annotations"]["osso.scheduler/secrets"] == f"{name}={uid}"
    assert scheduler.deployment["metadata"]["generation"] == generation + 1
    operator.serve(scheduler)
    assert scheduler.deployment["metadata"]["generation"] == generation + 1
    assert operator.writes(scheduler) == 0


@pytest.mark.parametrize("kind", ["secret", "serviceaccount", "role", "rolebinding", "service", "networkpolicy"])
def test_an_object_that_was_replaced_is_repaired(scheduler, operator, kubectl, kind):
    """Nothing in it says that it belongs to the scheduler, but the inventory does."""
    name = pod_spec(scheduler)["volumes"][0]["secret"]["secretName"] if kind == "secret" else scheduler.workload
    before = scheduler.get(kind, name)
    bare = {**before, "metadata": {"name": name, "namespace": scheduler.namespace}}
    if kind == "secret":
        bare["data"] = {"config.yaml": base64.b64encode(b"not the configuration").decode()}
    if kind == "rolebinding":
        bare["roleRef"] = {**before["roleRef"], "kind": "ClusterRole", "name": "view"}
    if kind == "service":
        del bare["spec"]["clusterIP"], bare["spec"]["clusterIPs"]
    kubectl("delete", kind, name, f"--namespace={scheduler.namespace}")
    kubectl("create", "--filename=-", stdin=bare)
    assert operator.reconcile(scheduler).failure == ""
    after = scheduler.get(kind, name)
    assert after["metadata"]["labels"] == before["metadata"]["labels"]
    assert after.get("data") == before.get("data")
    assert after.get("roleRef") == before.get("roleRef")
    operator.serve(scheduler)
    assert operator.writes(scheduler) == 0


@pytest.mark.parametrize("kind", ["deployment", "service"])
def test_an_object_that_another_controller_claims_is_repaired(scheduler, operator, kind):
    other = scheduler.get("configmap", f"osso-set-operand-{scheduler.name}")["metadata"]
    claim = {"apiVersion": "v1", "kind": "ConfigMap", "name": other["name"], "uid": other["uid"], "controller": True}
    before = scheduler.get(kind)["metadata"]
    patch(scheduler, kind, metadata={"ownerReferences": [claim]})
    assert operator.reconcile(scheduler).failure == ""
    after = scheduler.get(kind)["metadata"]
    assert (after["uid"], after["ownerReferences"]) == (before["uid"], before["ownerReferences"])
    operator.serve(scheduler)
    assert operator.writes(scheduler) == 0


def test_the_removal_of_a_resource_with_finalizers_of_others_is_reported(scheduler, operator, kubectl):
    patch(scheduler, "secondaryscheduler", scheduler.name, metadata={"finalizers": ["example.com/hold"]})
    kubectl("delete", "secondaryscheduler", scheduler.name, f"--namespace={scheduler.namespace}", "--wait=false")
    eventually(lambda: not operator.finalize(scheduler).look_again)
    assert scheduler.deployment is None
    assert scheduler.condition("Available")[:2] == ("False", "Removing")
    status, reason, message = scheduler.condition("Progressing")
    assert (status, reason) == ("True", "Removing")
    assert "the operator reports nothing more. The resource is held by finalizers example.com/hold" in message
    assert scheduler.condition("Degraded")[0] == "False"
    patch(scheduler, "secondaryscheduler", scheduler.name, metadata={"finalizers": None})


def test_an_immutable_inventory_is_created_again(scheduler, operator):
    inventory = f"osso-set-operand-{scheduler.name}"
    before = scheduler.get("configmap", inventory)["data"]
    patch(scheduler, "configmap", inventory, immutable=True, data={"objects": ""})
    patch(scheduler, "role", rules=[LEASES])
    assert operator.reconcile(scheduler).failure == ""
    assert scheduler.get("configmap", inventory)["data"] == before
    assert scheduler.get("role")["rules"] != [LEASES]
    assert operator.writes(scheduler) == 0


@pytest.mark.parametrize("is_elsewhere", [True, False])
def test_a_forged_line_of_the_inventory_does_not_stop_the_operator(scheduler, kubectl, is_elsewhere):
    """The operator may not read what it names."""
    inventory = f"osso-set-operand-{scheduler.name}"
    before = scheduler.get("configmap", inventory)["data"]
    where = "default" if is_elsewhere else scheduler.namespace
    line = json.dumps({"apiVersion": "batch/v1", "kind": "Job", "namespace": where, "name": "other"})
    patch(scheduler, "configmap", inventory, data={"objects": before["objects"] + line + "\n"})
    with service_account(kubectl, scheduler.namespace, MAY, everywhere=True) as robot:
        operator = Operator(kubectl, **robot)
        assert operator.reconcile(scheduler).failure == ""
        assert scheduler.get("configmap", inventory)["data"] == before
        patch(scheduler, "configmap", inventory, data={"objects": before["objects"] + line + "\n"})
        eventually(lambda: not operator.finalize(scheduler).look_again)
    assert scheduler.deployment is None


def test_a_reconcile_does_not_wait_for_a_deployment_that_is_being_deleted(scheduler, operator, kubectl):
    patch(scheduler, "deployment", metadata={"finalizers": ["example.com/hold"]})
    kubectl("delete", "deployment", scheduler.workload, f"--namespace={scheduler.namespace}", "--wait=false")
    done = operator.reconcile(scheduler)
    assert (done.failure, bool(done.look_again)) == ("", True)
    status, reason, message = scheduler.condition("Progressing")
    assert (status, reason) == ("True", "Removing")
    assert "example.com/hold" in message
    patch(scheduler, "deployment", metadata={"finalizers": None})
    eventually(lambda: not operator.reconcile(scheduler).look_again or scheduler.deployment)
    operator.serve(scheduler)
