# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Module apply in the place of another manager: what that one wrote by Update goes, in one write, and check mode knows it before."""

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.deployments import progress
from support.kinds import established
from support.objects import deployment, thing, things
from support.scheduler import eventually

OTHER = "other-operator"


@pytest.fixture
def written(kubectl):
    """Create an object as the other manager does, by a client-side write."""

    def write(obj):
        kubectl("create", f"--field-manager={OTHER}", "--filename=-", stdin=obj)

    return write


def role(namespace, *verbs, name="reader"):
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": list(verbs)}]
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata, "rules": rules}


def service(namespace, port, **metadata):
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "app", "namespace": namespace, **metadata},
        "spec": {"selector": {"app": "app"}, "ports": [{"name": "https", "port": port}]},
    }


def theirs(namespace) -> dict:
    """A Deployment with about everything that can be left over in one."""
    volume_mounts = [{"name": "old", "mountPath": "/old"}, {"name": "tmp", "mountPath": "/tmp"}]
    obj = deployment(
        namespace,
        securityContext={"runAsNonRoot": False, "fsGroup": 1},
        volumes=[{"name": "old", "emptyDir": {"medium": "Memory"}}, {"name": "tmp", "emptyDir": {}}],
        tolerations=[{"key": "a", "operator": "Exists"}],
    )
    obj["metadata"].update(annotations={"theirs.example.com/hash": "1"}, labels={"theirs": "1"})
    obj["spec"]["template"]["metadata"]["annotations"] = {"theirs.example.com/version": "7"}
    (container,) = obj["spec"]["template"]["spec"]["containers"]
    container.update(
        env=[{"name": "THEIRS", "value": "1"}, {"name": "BOTH", "value": "1"}],
        volumeMounts=volume_mounts,
        resources={"requests": {"cpu": "1m"}, "limits": {"memory": "64Mi"}},
        livenessProbe={"tcpSocket": {"port": 1}, "initialDelaySeconds": 3600},
    )
    return obj


def ours(namespace) -> dict:
    obj = deployment(namespace, volumes=[{"name": "tmp", "emptyDir": {}}])
    (container,) = obj["spec"]["template"]["spec"]["containers"]
    container.update(
        env=[{"name": "BOTH", "value": "2"}],
        volumeMounts=[{"name": "tmp", "mountPath": "/tmp"}],
        resources={"requests": {"cpu": "2m"}},
    )
    return obj


def rollouts(kubectl, namespace):
    """How many there were, once the controller has made all pods of the present one, and thus writes no status any more."""

    def is_made():
        found = progress(kubectl.get("deployment", "app", namespace))
        return found.observed and found.updated == found.wanted

    eventually(is_made)
    return len(kubectl.json("get", "replicasets", f"--namespace={namespace}")["items"])


def read(kubectl, namespace, kind, name="app"):
    return kubectl.json("get", kind, name, f"--namespace={namespace}", "--show-managed-fields")


def after(run) -> list:
    return [yaml.safe_load(one["after"]) for one in run.result["diff"]]


def test_fields_that_only_the_other_manager_had_are_removed_in_one_rollout(apply, kubectl, namespace, written):
    written(theirs(namespace))
    assert rollouts(kubectl, namespace) == 1
    before = read(kubectl, namespace, "deployment")

    # Without it everything of theirs stays: this is what the option is for.
    plain = apply(ours(namespace), force_conflicts=True, check=True, diff=True)
    assert [volume["name"] for volume in after(plain)[0]["spec"]["template"]["spec"]["volumes"]] == ["old", "tmp"]

    first = apply(ours(namespace), takeover_field_managers=[OTHER])
    assert first.actions() == {"Deployment app": "updated"}
    assert first.result["requests"] == {"read": 1, "write": 2, "dry_run": 2}
    live = read(kubectl, namespace, "deployment")
    pod = live["spec"]["template"]["spec"]
    assert pod["volumes"] == [{"name": "tmp", "emptyDir": {}}]
    assert pod["securityContext"] == {}
    assert "tolerations" not in pod
    (container,) = pod["containers"]
    assert container["env"] == [{"name": "BOTH", "value": "2"}]
    assert container["resources"] == {"requests": {"cpu": "2m"}}
    assert [mount["name"] for mount in container["volumeMounts"]] == ["tmp"]
    assert "livenessProbe" not in container
    assert "annotations" not in live["spec"]["template"]["metadata"]
    assert "labels" not in live["metadata"]
    assert "theirs.example.com/hash" not in live["metadata"]["annotations"]
    assert live["spec"]["progressDeadlineSeconds"] == before["spec"]["progressDeadlineSeconds"]
    assert live["metadata"]["generation"] == before["metadata"]["generation"] + 1
    assert OTHER not in {entry["manager"] for entry in live["metadata"]["managedFields"]}
    assert rollouts(kubectl, namespace) == 2

    second = apply(ours(namespace), takeover_field_managers=[OTHER])
    assert second.actions() == {"Deployment app": "unchanged"}
    assert second.result["requests"] == {"read": 1, "write": 0, "dry_run": 0}


def test_check_mode_predicts_the_result_of_the_real_run(apply, audit, kubectl, namespace, group, written):
    definition = things(group)
    apply(definition)
    wanted = [ours(namespace), service(namespace, 443), role(namespace, "get"), thing(group, namespace)]
    written(theirs(namespace))
    written(service(namespace, 443, annotations={"theirs": "1"}))
    written(role(namespace, "get", "list"))
    written(thing(group, namespace, spec={"size": 2, "mode": "other"}))
    with audit:
        predicted = apply(wanted, takeover_field_managers=[OTHER], check=True, diff=True)
    assert not [one for one in audit.writes() if namespace == one.namespace]
    assert set(predicted.actions().values()) == {"updated"}
    assert predicted.result["unvalidated"] == []
    real = apply(wanted, takeover_field_managers=[OTHER], diff=True)
    assert real.actions() == predicted.actions()
    assert after(predicted) == after(real)
    assert after(real)[-1]["spec"] == {"size": 1, "mode": "plain"}
    for again in (apply(wanted, takeover_field_managers=[OTHER], check=True), apply(wanted, takeover_field_managers=[OTHER])):
        assert not again.result["changed"]
        assert again.result["requests"]["write"] + again.result["requests"]["dry_run"] == 0


def test_fields_that_third_parties_set_stay(apply, kubectl, namespace, written):
    written(theirs(namespace))
    kubectl("label", "deployment", "app", f"--namespace={namespace}", "team=blue", "theirs=2", "--overwrite")
    kubectl("set", "env", "deployment/app", f"--namespace={namespace}", "USER=1")
    for check in (True, False):
        run = apply(ours(namespace), takeover_field_managers=[OTHER], check=check, diff=True)
        (live,) = after(run)
        assert live["metadata"]["labels"] == {"team": "blue", "theirs": "2"}
        assert {one["name"] for one in live["spec"]["template"]["spec"]["containers"][0]["env"]} == {"BOTH", "USER"}


def test_values_of_third_parties_are_still_a_conflict(apply, kubectl, namespace, written):
    written(theirs(namespace))
    kubectl("scale", "deployment/app", f"--namespace={namespace}", "--replicas=2")
    for check in (True, False):
        refused = apply(ours(namespace), takeover_field_managers=[OTHER], check=check, succeed=False)
        assert "spec.replicas is managed by" in refused.message
        assert "other-operator" not in refused.message
    run = apply(ours(namespace), takeover_field_managers=[OTHER], force_conflicts=True)
    assert run.result["changed"]


def test_a_service_keeps_its_address(apply, kubectl, namespace, written):
    written(service(namespace, 80, labels={"theirs": "1"}))
    before = read(kubectl, namespace, "service")
    apply(service(namespace, 443), takeover_field_managers=[OTHER])
    live = read(kubectl, namespace, "service")
    assert live["spec"]["clusterIP"] == before["spec"]["clusterIP"]
    assert [port["port"] for port in live["spec"]["ports"]] == [443]
    assert live["metadata"]["uid"] == before["metadata"]["uid"]
    assert "labels" not in live["metadata"]


def test_an_owner_reference_to_the_same_owner_is_taken_over(apply, kubectl, namespace, written):
    """the same owner in both: one reference stays"""
    account = ("get", "serviceaccount", "default", f"--namespace={namespace}", "--ignore-not-found")
    uid = eventually(lambda: kubectl.json(*account))["metadata"]["uid"]  # its controller creates it a moment after the namespace
    owner = {"apiVersion": "v1", "kind": "ServiceAccount", "name": "default", "uid": uid}
    obj = role(namespace, "get")
    written({**obj, "metadata": {**obj["metadata"], "ownerReferences": [owner]}})
    for check in (True, False):
        run = apply(obj, takeover_field_managers=[OTHER], owner={**owner, "namespace": namespace}, check=check, diff=True)
        assert after(run)[0]["metadata"]["ownerReferences"] == [{**owner, "controller": True}]


def test_a_status_is_taken_over_independently_of_the_spec(apply, kubectl, namespace, group):
    apply([things(group), thing(group, namespace)])
    established(kubectl, f"things.{group}")
    theirs = {"conditions": [{"type": "Theirs", "status": "True"}, {"type": "Both", "status": "True"}]}
    kubectl(
        "patch", f"things.{group}", "one", f"--namespace={namespace}", "--subresource=status", "--type=merge", f"--field-manager={OTHER}",
        f"--patch={json.dumps({'status': theirs})}",
    )  # fmt: skip
    status = {"conditions": [{"type": "Both", "status": "False"}]}
    wanted = thing(group, namespace, status=status)
    for check in (True, False):
        run = apply(wanted, subresource="status", takeover_field_managers=[OTHER], check=check, diff=True)
        assert after(run)[0]["status"] == status
        assert after(run)[0]["spec"]["size"] == 1
    assert not apply(wanted, subresource="status", takeover_field_managers=[OTHER]).result["changed"]


def test_takeover_field_managers_is_rejected_with_state_absent(apply, namespace):
    refused = apply(role(namespace, "get"), state="absent", takeover_field_managers=[OTHER], succeed=False)
    assert "takeover_field_managers" in refused.message
