# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which Secrets count as the operator's own (operand/own_secrets.py), and what a reconcile reads for that (operand/inputs.py)."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import apply_set
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.mounted_secrets import SECRETS
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import content_hash
from ansible_collections.osso.scheduler.plugins.module_utils._operand import rollout as rollouts
from ansible_collections.osso.scheduler.plugins.module_utils._operand.decision import HOLD, decide, requested_rollout
from ansible_collections.osso.scheduler.plugins.module_utils._operand.inputs import Reader
from ansible_collections.osso.scheduler.plugins.module_utils._operand.resource_names import FIELD_MANAGER
from support.operand import CONFIG, THEN, facts, resource, stored

HASH = content_hash(CONFIG.text)
NAME = f"secondary-scheduler-config-{HASH}"
EVIL = {**requested_rollout(facts()), "image": "registry.example.com/evil:1", "config": HASH}
OWNER = ({"apiVersion": "operator.openshift.io/v1", "kind": "SecondaryScheduler", "name": "cluster", "uid": "u"},)
SELECTOR = (
    "app=secondary-scheduler,app.kubernetes.io/name=secondary-scheduler,app.kubernetes.io/instance=cluster,"
    "app.kubernetes.io/managed-by=osso.scheduler,osso.scheduler/set=operand-cluster,osso.scheduler/set-namespace=ns"
)


def secret(owners=OWNER, manager=FIELD_MANAGER, uid="1"):
    """A Secret with the configuration, and with a record of a rollout that served."""
    record = {rollouts.SERVED: json.dumps(EVIL), rollouts.SERVED_AT: THEN}
    made = stored({"name": NAME, "annotations": record, "data": {"config.yaml": CONFIG.text}})
    fields = {"f:metadata": {"f:annotations": {f"f:{key}": {} for key in record}}}
    entries = [{"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields}]
    made["metadata"].update(namespace="ns", uid=uid, ownerReferences=owners, managedFields=entries)
    return made


def inventory(*names, kind="Secret"):
    return apply_set.manifest("operand-cluster", "ns", [Identity("v1", kind, "ns", name) for name in names])


def deployment(record):
    return {"metadata": {"annotations": {SECRETS: record}}}


class Cluster:
    """Has these Secrets, and this inventory or None."""

    def __init__(self, secrets, recorded):
        self.secrets, self.recorded, self.seen = secrets, recorded, []

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def list(self, kind, namespace, label_selector):
        self.seen.append(("list", kind.kind, namespace, label_selector))
        return self.secrets

    def get(self, kind, name, namespace):
        self.seen.append(("get", kind.kind, namespace, name))
        return self.recorded


def read(secrets, recorded=None, live=None):
    """The Secrets that a reconcile goes by, and the requests for them."""
    cluster = Cluster(secrets, recorded)
    return Reader(cluster, resource())._secrets(live), cluster.seen


LISTED = ("list", "Secret", "ns", SELECTOR)
INVENTORY = ("get", "ConfigMap", "ns", "osso-set-operand-cluster")


def test_a_secret_in_the_inventory_counts_where_the_deployment_is_lost():
    assert read([secret()], inventory("other", NAME)) == ([secret()], [LISTED, INVENTORY])


def test_a_secret_that_the_deployment_records_counts_without_a_further_request():
    live = deployment(f"{NAME}=1")
    assert read([secret()], live=live) == ([secret()], [LISTED])
    assert read([secret(owners=[])], live=live) == ([secret(owners=[])], [LISTED]), "adopted objects have no owner"


def test_a_secret_in_the_place_of_a_recorded_one_does_not_count():
    assert read([secret(uid="2")], inventory(NAME), deployment(f"{NAME}=1")) == ([], [LISTED])


@pytest.mark.parametrize(
    "recorded",
    [
        None,
        inventory(),
        inventory("other"),
        inventory(NAME, kind="ConfigMap"),
        {**inventory(NAME), "data": {"objects": "unreadable"}},
        {**inventory(NAME), "data": {}},
    ],
)
def test_a_secret_that_only_has_the_labels_does_not_count(recorded):
    assert read([secret()], recorded)[0] == []
    assert read([secret()], recorded, deployment("other=1"))[0] == []


@pytest.mark.parametrize("owners", [None, [], [{**OWNER[0], "uid": "another"}]])
def test_a_secret_from_before_the_resource_does_not_count(owners):
    """The first inventory names it, because it has the labels of the set."""
    assert read([secret(owners)], inventory(NAME)) == ([], [LISTED])


@pytest.mark.parametrize("manager", ["kubectl-create", FIELD_MANAGER + "2"])
def test_a_record_that_the_operator_did_not_write_does_not_count(manager):
    """The operator applied its own Secret where this one was before."""
    ((found,), _seen) = read([secret(manager=manager)], live=deployment(f"{NAME}=1"))
    assert found["metadata"]["annotations"] == {}
    assert found["data"] == secret()["data"]
    assert rollouts.read_memory([found]) == rollouts.Memory()


def test_a_secret_whose_content_was_replaced_does_not_count():
    replaced = {**secret(), "data": {"config.yaml": "a2luZDogUG9kCg=="}}
    assert read([replaced], inventory(NAME), deployment(f"{NAME}=1")) == ([], [LISTED])


def test_a_rollout_that_others_recorded_is_not_applied_in_place_of_a_lost_one():
    secrets, _seen = read([secret()], inventory())
    lost = facts(config=None, memory=rollouts.read_memory(secrets))
    assert decide(lost).action == HOLD
    trusted, _seen = read([secret()], inventory(NAME))
    assert decide(lost._replace(memory=rollouts.read_memory(trusted))).rollout == EVIL
