# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator's reconcile where no pod is needed: what the deletion of a resource removes, and how it ends. One test runs the role operand."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from conformance.operator.steps import patch
from support.access import service_account
from support.operand import FINALIZER, reconcile
from support.scheduler import Scheduler, eventually

# What the clean-up may do beside reading: events at its end, and what is outside the namespace. It may delete nothing in it.
OUTSIDE = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterrolebindings", "rolebindings"], "verbs": ["*"]}
RULES = (
    OUTSIDE,
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
)


pytestmark = pytest.mark.usefixtures("secondary_scheduler_kind")


@pytest.fixture
def held(kubectl, namespace, operator) -> Scheduler:
    """A SecondaryScheduler after its first reconcile, with the finalizer that the operator gives it."""
    scheduler = Scheduler(kubectl, "held", namespace=namespace)
    scheduler.write_config()
    scheduler.write()
    finalize(scheduler, FINALIZER)
    operator.reconcile(scheduler)
    assert len(outside(scheduler)) == 3
    # What creates its pod has ended when the test deletes it.
    eventually(lambda: kubectl.list("pod", scheduler.namespace, f"app={scheduler.workload}"))
    yield scheduler
    if scheduler.resource:
        finalize(scheduler)
        scheduler.delete()


def finalize(scheduler, *finalizers):
    patch(scheduler, "secondaryscheduler", scheduler.name, metadata={"finalizers": list(finalizers)})


def outside(scheduler) -> dict[str, dict]:
    """What was made for it outside its namespace, by name."""
    selector = f"--selector=osso.scheduler/set=operand-{scheduler.name},osso.scheduler/set-namespace={scheduler.namespace}"
    found = scheduler.kubectl.json("get", "clusterrolebindings", selector)["items"]
    found += scheduler.kubectl.json("get", "rolebindings", "--namespace=kube-system", selector)["items"]
    return {f"{item['kind']} {item['metadata']['name']}": item for item in found}


def test_deleting_the_namespace_leaves_nothing_in_the_cluster(held, kubectl, operator):
    """although the inventory is deleted before; what others copied, and a scheduler of that name in another namespace, keep theirs"""
    other = Scheduler(kubectl, held.name, namespace="default")
    other.write_config()
    other.write()
    operator.reconcile(other)
    binding = next(item for name, item in outside(held).items() if name.startswith("ClusterRoleBinding"))
    kubectl.apply({**binding, "metadata": {"name": f"{held.namespace}-copy", "labels": binding["metadata"]["labels"]}})

    kubectl("delete", "namespace", held.namespace, "--wait=false")
    eventually(lambda: not held.get("configmap", f"osso-set-operand-{held.name}") and not held.get("serviceaccount"))
    try:
        removed(operator, held)
        assert set(outside(held)) == {f"ClusterRoleBinding {held.namespace}-copy"}
        assert len(outside(other)) == 3
    finally:
        kubectl("delete", "clusterrolebinding", f"{held.namespace}-copy")
        removed(operator, other)
        other.delete()
    assert outside(other) == {}


def test_an_unreadable_inventory_is_not_needed(held, kubectl, operator):
    inventory = f"osso-set-operand-{held.name}"
    change = json.dumps({"data": {"objects": "not an inventory"}})
    kubectl("patch", "configmap", inventory, f"--namespace={held.namespace}", f"--patch={change}")
    removed(operator, held)
    assert outside(held) == {}
    assert not kubectl.json("get", "all,secret,role,rolebinding,networkpolicy", f"--namespace={held.namespace}")["items"]
    assert not held.get("configmap", inventory)


def removed(operator, scheduler):
    """Finalize until all is deleted; pods and the garbage collector take their time."""

    def done():
        found = operator.finalize(scheduler)
        assert found.failure == ""
        return found.look_again == ""

    eventually(done)


def hold(scheduler, *finalizers):
    """Only who gave these finalizers to the Deployment can end its deletion."""
    patch(scheduler, "deployment", metadata={"finalizers": list(finalizers)})


def deleted_at(scheduler, time):
    """Its resource as if it was deleted, and its clean-up tried, at that time."""
    resource = scheduler.resource
    resource["metadata"]["deletionTimestamp"] = time
    tried = {"type": "Progressing", "status": "True", "reason": "Removing", "message": "", "lastTransitionTime": time}
    resource["status"]["conditions"] = [tried]
    return resource


def test_a_deletion_returns_at_once_and_reports_the_blocking_finalizer(held, operator, audit):
    hold(held, "example.com/hold")
    held.kubectl("delete", "secondaryscheduler", held.name, f"--namespace={held.namespace}", "--wait=false")
    first = operator.finalize(held)
    assert (first.failure, bool(first.look_again)) == ("", True)
    status, reason, message = held.condition("Progressing")
    assert (status, reason) == ("True", "Removing")
    assert "example.com/hold" in message
    assert held.resource["status"]["observedGeneration"] == held.resource["metadata"]["generation"]
    with audit:
        assert operator.finalize(held).look_again
    assert [one for one in audit.writes() if one.verb == "delete" and one.namespace == held.namespace] == []
    hold(held)
    removed(operator, held)
    assert not held.deployment
    assert outside(held) == {}


def test_a_cleanup_that_is_given_up_leaves_neither_lease_nor_inventory(held, operator):
    hold(held, "example.com/hold")
    resource = deleted_at(held, "2026-01-01T00:00:00Z")
    lease = {"name": held.workload, "namespace": held.namespace}
    held.kubectl.apply({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": lease})
    done = operator.finalize(held, resource)
    assert done.look_again == ""
    assert "example.com/hold" in held.events()["CleanupGivenUp"]
    assert outside(held) == {}
    assert not held.get("lease")
    assert not held.get("configmap", f"osso-set-operand-{held.name}")
    hold(held)


def test_a_reconcile_with_state_removed_does_not_wait_for_finalizers(held, operator):
    hold(held, "example.com/hold")
    held.write(managementState="Removed")
    first = operator.reconcile(held)
    assert (first.failure, bool(first.look_again)) == ("", True)
    assert held.condition("Progressing")[:2] == ("True", "Removing")
    # The Deployment still changes.
    eventually(lambda: operator.writes(held) == 0)
    hold(held)
    eventually(lambda: operator.reconcile(held).look_again == "")
    assert held.condition("Progressing")[:2] == ("False", "Removed")
    assert not held.deployment
    assert operator.writes(held) == 0


def test_a_rejected_removal_is_reported_and_retried(held, operator, monkeypatch):
    """Such as by a webhook."""

    def refused(*_arguments, **_options):
        raise ApiError(403, "Forbidden", "the webhook denied the request")

    held.write(managementState="Removed")
    with monkeypatch.context() as patched:
        patched.setattr(Client, "delete", refused)
        first, again = operator.reconcile(held), operator.reconcile(held)
    assert "the webhook denied the request" in first.failure
    assert (first.look_again, again.look_again) == ("", "10s")
    status, reason, message = held.condition("Degraded")
    assert (status, reason) == ("True", "ApplyFailed")
    assert "the webhook denied the request" in message
    eventually(lambda: operator.reconcile(held).look_again == "")
    assert held.condition("Degraded")[0] == "False"
    assert not held.deployment


def test_an_unusable_configuration_does_not_delay_the_deletion(held, operator):
    held.write(schedulerConfig="no/name")
    removed(operator, held)
    assert outside(held) == {}


@pytest.mark.parametrize("length", [44, 63])
def test_a_name_that_is_too_long_is_reported_and_deleted_at_once(kubectl, namespace, length, operator):
    """63 characters fit into the resource's name, but with a prefix into no label."""
    scheduler = Scheduler(kubectl, "n" * length, namespace=namespace)
    scheduler.write_config()
    scheduler.write()
    assert operator.reconcile(scheduler).failure == ""
    status, reason, message = scheduler.condition("Degraded")
    assert (status, reason) == ("True", "NameUnusable"), message
    assert "at most 43" in message
    assert operator.finalize(scheduler).failure == ""


def test_a_failing_clean_up_is_tried_again_in_time_and_then_given_up(held, kubectl):
    """What is in the namespace is deleted with its owner. What is outside would stay."""

    def clean_up(age):
        deleted = datetime.now(UTC) - timedelta(seconds=age)
        resource = deleted_at(held, deleted.strftime("%Y-%m-%dT%H:%M:%SZ"))
        with service_account(kubectl, held.namespace, *RULES, everywhere=True) as somebody:
            run = reconcile(resource, state="absent", access=somebody)
        assert run.failures == []
        assert "forbidden" in run.task("Reconcile the scheduler").result["failure"].lower(), run.output()
        return run.task("Show when the operator looks again").result["msg"]

    assert 1 <= int(clean_up(age=200).removesuffix("s")) <= 40
    assert outside(held)
    # What others copied with its labels is not ours.
    copied = f"{held.namespace}-copy"
    binding = next(item for name, item in outside(held).items() if name.startswith("ClusterRoleBinding"))
    kubectl.apply({**binding, "metadata": {"name": copied, "labels": binding["metadata"]["labels"]}})
    assert clean_up(age=400) == ""
    assert set(outside(held)) == {f"ClusterRoleBinding {copied}"}
    kubectl("delete", "clusterrolebinding", copied)
    events = kubectl.json("get", "events", f"--namespace={held.namespace}")["items"]
    (event,) = [item for item in events if item["reason"] == "CleanupGivenUp"]
    assert event["type"] == "Warning"
    assert event["involvedObject"]["kind"] == "SecondaryScheduler"
    assert "forbidden" in event["message"].lower(), json.dumps(event)


def test_an_override_that_ansible_reads_as_an_encrypted_text_is_reported(held):
    overrides = {"__ansible_vault": "x", "env": [{"name": "A", "value": {"__ansible_vault": "y"}}]}
    held.write(unsupportedConfigOverrides=overrides)
    run = reconcile(held.resource)
    assert run.failures == []
    status, reason, message = held.condition("Degraded")
    assert (status, reason) == ("True", "OverridesInvalid"), message
    assert "spec.unsupportedConfigOverrides.__ansible_vault is unknown" in message


def test_a_sidecar_is_removed_once_and_then_reported(held, kubectl, operator):
    sidecar = {"spec": {"template": {"spec": {"containers": [{"name": "sidecar", "image": "registry.k8s.io/pause:3.10"}]}}}}
    reported = None
    for left in (["secondary-scheduler"], ["secondary-scheduler", "sidecar"]):
        kubectl(
            "patch",
            "deployment",
            held.workload,
            f"--namespace={held.namespace}",
            f"--patch={json.dumps(sidecar)}",
        )
        operator.reconcile(held)
        containers = held.deployment["spec"]["template"]["spec"]["containers"]
        assert sorted(one["name"] for one in containers) == left
        reported = held.condition("PodTemplateAsDeclared")
        assert bool(reported[0]) == ("sidecar" in left)
    assert reported[:2] == ("False", "FieldsAdded")
    assert "containers[name=sidecar], by field manager kubectl-patch" in reported[2]


def test_only_a_reconcile_that_changes_something_sends_dry_runs(held, operator):
    def requests():
        return operator.requests(held)

    def unchanged():
        """The first ones report what the controller of Deployments has done."""
        found = requests()
        return (found["write"], found["dry_run"]) == (0, 0)

    eventually(unchanged)
    held.write(logLevel="Debug")
    changed = requests()
    assert changed["write"] > 0
    assert changed["dry_run"] <= changed["write"]


def test_release_does_not_wait_for_a_resource_whose_operator_no_longer_exists(held, kubectl, play):
    kubectl("delete", "secondaryscheduler", held.name, f"--namespace={held.namespace}", "--wait=false")
    chosen = {"hand_over_schedulers": [{"namespace": held.namespace, "name": held.name}]}
    play("osso.scheduler.hand_over", variables=chosen, check=True)
    assert len(outside(held)) == 3
    play("osso.scheduler.hand_over", variables=chosen)
    assert not held.resource
    assert outside(held) == {}


def test_a_configuration_in_binary_data_is_deployed(held, operator, kubectl):
    """A volume shows it as a file, so upstream's scheduler runs with it."""
    name = held.resource["spec"]["schedulerConfig"]
    live = kubectl.get("configmap", name, held.namespace)
    encoded = base64.b64encode(live["data"]["config.yaml"].encode()).decode()
    change = json.dumps({"data": None, "binaryData": {"config.yaml": encoded}})
    kubectl("patch", "configmap", name, f"--namespace={held.namespace}", "--type=merge", f"--patch={change}")
    operator.reconcile(held)
    assert held.condition("ConfigValid")[0] != "False", held.condition("ConfigValid")
    assert held.condition("Degraded")[0] == "False", held.condition("Degraded")
    change = json.dumps({"binaryData": {"config.yaml": base64.b64encode(b"kind: \xff").decode()}})
    kubectl("patch", "configmap", name, f"--namespace={held.namespace}", "--type=merge", f"--patch={change}")
    operator.reconcile(held)
    status, reason, message = held.condition("Degraded")
    assert (status, reason) == ("True", "ConfigMapUnreadable"), message
    assert "binaryData.config.yaml is not UTF-8 text (byte 6)" in message


def test_an_invalid_config_map_name_is_reported(held, operator):
    held.write(schedulerConfig="..")
    operator.reconcile(held)
    status, reason, message = held.condition("Degraded")
    assert (status, reason) == ("True", "ConfigMapNameInvalid"), message
    assert 'spec.schedulerConfig is ".."' in message


# The last one: it deletes the kind.
def test_removal_does_not_wait_for_an_operator_that_no_longer_exists(held, kubectl, play, operator):
    kubectl("delete", "secondaryscheduler", held.name, f"--namespace={held.namespace}", "--wait=false")
    other = Scheduler(kubectl, "kept", namespace=held.namespace)
    other.write_config()
    other.write()
    finalize(other, FINALIZER)
    operator.reconcile(other)
    variables = {"operator_namespace": held.namespace}
    checked = play("osso.scheduler.remove", variables=variables, check=True)
    assert checked.changed
    assert len(outside(held)) == len(outside(other)) == 3
    play("osso.scheduler.remove", variables=variables)
    assert outside(held) == outside(other) == {}
    assert not kubectl.json("get", "all,secret,role,rolebinding", f"--namespace={held.namespace}")["items"]
    assert play("osso.scheduler.remove", variables=variables).changed == []
