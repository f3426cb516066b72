# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whom a release concerns, and what it may delete."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import apply_set
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._operand.hand_over import installations, plan, stale
from ansible_collections.osso.scheduler.plugins.module_utils._operand.resource_names import FIELD_MANAGER, FINALIZER


def resource(namespace="one", name="cluster"):
    return {
        "apiVersion": "operator.openshift.io/v1",
        "kind": "SecondaryScheduler",
        "metadata": {"namespace": namespace, "name": name, "uid": "u"},
        "spec": {"schedulerConfig": "c"},
    }


def operator(*watches, namespace="one", replicas=1, variant="osso", method="manifests"):
    return {
        "kind": "Deployment",
        "namespace": namespace,
        "name": "osso-scheduler-operator",
        "variant": variant,
        "method": method,
        "watches": list(watches),
        "replicas": replicas,
    }


def named(entries):
    return [(one["metadata"]["namespace"], one["metadata"]["name"]) for one in entries]


BOTH = [resource("one"), resource("two", "batch")]


def test_all_are_released_and_their_operators_are_stopped():
    operators = [operator("one"), operator("two", namespace="two"), operator("three", namespace="three")]
    found = plan(BOTH, [*operators, operator("one", variant="upstream")])
    assert found["resources"] == BOTH
    assert named(found["manifests"]) == named(BOTH)
    assert found["workloads"] == [
        {"namespace": "one", "name": "secondary-scheduler"},
        {"namespace": "two", "name": "secondary-scheduler-batch"},
    ]
    assert "spec" not in found["manifests"][0]
    assert [(one["kind"], *named([one])[0]) for one in found["operators"]] == [
        ("Deployment", "one", "osso-scheduler-operator"),
        ("Deployment", "two", "osso-scheduler-operator"),
    ]
    assert found["unattended"] == found["missing"] == []


def test_operators_that_olm_installed_are_among_those_to_be_stopped():
    operators = [operator("one", method="olm"), operator("two", namespace="two"), operator("three", namespace="three", method="olm")]
    found = plan(BOTH, operators)
    assert found["olm"] == ["one"]
    assert named(found["operators"]) == [("one", "osso-scheduler-operator"), ("two", "osso-scheduler-operator")]


@pytest.mark.parametrize("watches", [["*"], ["one", "two"]])
def test_one_alone_cannot_be_released_from_an_operator_of_others(watches):
    chosen = [{"namespace": "one", "name": "cluster"}]
    assert plan(BOTH, [operator(*watches)], chosen)["unattended"] == [{"namespace": "two", "name": "batch"}]
    assert plan(BOTH, [operator(*watches, replicas=0)], chosen)["unattended"] == []
    found = plan(BOTH, [operator("one"), operator("two", namespace="two")], chosen)
    assert found["unattended"] == []
    assert named(found["operators"]) == [("one", "osso-scheduler-operator")]
    assert named(found["resources"]) == [("one", "cluster")]


def test_resources_that_do_not_exist_are_reported_as_missing():
    assert plan(BOTH, [], [{"namespace": "one", "name": "batch"}])["missing"] == [{"namespace": "one", "name": "batch"}]


def deployment(volume, **status):
    whole = {"observedGeneration": 2, "updatedReplicas": 1, "availableReplicas": 1, "replicas": 1}
    return {
        "metadata": {"namespace": "one", "name": "secondary-scheduler", "generation": 2},
        "spec": {"replicas": 1, "template": {"spec": {"volumes": [volume]}}},
        "status": {**whole, **status},
    }


RBAC = "rbac.authorization.k8s.io/v1"
GONE = [
    Identity(RBAC, "Role", "one", "secondary-scheduler"),
    Identity(RBAC, "ClusterRoleBinding", None, "osso:one:cluster:kube-scheduler"),
    Identity("v1", "Secret", "one", "secondary-scheduler-config-0123"),
]
INVENTORY = apply_set.manifest("operand-cluster", "one", GONE)
OURS = {"name": "config", "secret": {"secretName": "secondary-scheduler-config-0123"}}
THEIRS = {"name": "etckubernetes", "configMap": {"name": "c"}}


def test_our_objects_are_deleted_once_their_pods_are_available():
    assert stale(resource(), [deployment(THEIRS)], [INVENTORY]) == {
        "set_name": "operand-cluster",
        "set_namespace": "one",
        "keep_members": [
            "Deployment/secondary-scheduler",
            "ServiceAccount/secondary-scheduler",
            "ServiceMonitor/secondary-scheduler",
            "Service/metrics",
            "Role/prometheus-k8s",
            "RoleBinding/prometheus-k8s",
        ],
    }


@pytest.mark.parametrize(
    ("deployments", "inventories"),
    [
        pytest.param([deployment(OURS)], [INVENTORY], id="ours still"),
        pytest.param([deployment(THEIRS, updatedReplicas=0)], [INVENTORY], id="theirs are not there yet"),
        pytest.param([deployment(THEIRS, observedGeneration=1)], [INVENTORY], id="theirs are not begun"),
        pytest.param([deployment(THEIRS, replicas=2)], [INVENTORY], id="ours are going"),
        pytest.param([], [INVENTORY], id="nobody's"),
        pytest.param([deployment(THEIRS)], [], id="done already"),
        pytest.param([deployment(THEIRS)], [apply_set.manifest("operand-cluster", "two", GONE)], id="another one's"),
    ],
)
def test_nothing_is_deleted_before_or_after_the_hand_over(deployments, inventories):
    assert stale(resource(), deployments, inventories) == {}


def test_a_resource_that_is_being_deleted_is_not_handed_over():
    """It would be waited for until it is gone, which its own finalizer prevents."""
    dying, held_by_others = resource("two", "batch"), resource("two", "other")
    for one, finalizers in ((dying, ["example.com/first", FINALIZER]), (held_by_others, ["example.com/first"])):
        one["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=finalizers)
    found = plan([resource(), dying, held_by_others], [])
    assert named(found["resources"]) == named(found["manifests"]) == [("one", "cluster")]
    assert found["deleted"] == [dying]


CRD = "CustomResourceDefinition"
INSTALLATION = apply_set.manifest(
    "osso-scheduler-operator",
    "one",
    [
        Identity("v1", "Namespace", None, "one"),
        Identity("apiextensions.k8s.io/v1", CRD, None, "secondaryschedulers.operator.openshift.io"),
        Identity(RBAC, "ClusterRoleBinding", None, "osso:one:operator"),
    ],
)
UNUSED = [{"namespace": "one", "orphan": ["secondaryschedulers.operator.openshift.io", "one"]}]
OF_ANOTHER = apply_set.manifest("operand-batch", "two", GONE)


def of_operator(inventory, manager=FIELD_MANAGER):
    return {**inventory, "metadata": {**inventory["metadata"], "managedFields": [{"manager": manager}]}}


@pytest.mark.parametrize(
    ("operators", "inventories", "deleted"),
    [
        pytest.param(
            [operator("one")], [of_operator(INVENTORY), of_operator(OF_ANOTHER)], [("two", "batch")], id="its operator is stopped"
        ),
        pytest.param([], [of_operator(OF_ANOTHER)], [("two", "batch")], id="no operator"),
        pytest.param([operator("two", namespace="two")], [of_operator(OF_ANOTHER)], [], id="another operator cleans up"),
        pytest.param([], [of_operator(OF_ANOTHER, "osso.scheduler")], [], id="a user's set"),
        pytest.param([], [of_operator(INSTALLATION)], [], id="of the operator itself"),
    ],
)
def test_leftovers_of_a_resource_that_no_longer_exists_are_cleaned_up(operators, inventories, deleted):
    assert named(plan([resource()], operators, None, inventories)["deleted"]) == deleted


@pytest.mark.parametrize(("namespace", "deleted"), [("one", []), ("two", [("two", "batch")])])
def test_leftovers_of_a_resource_are_cleaned_up_only_in_chosen_namespaces(namespace, deleted):
    chosen = [{"namespace": namespace, "name": "cluster"}]
    assert named(plan([resource(), resource("two", "cluster")], [], chosen, [of_operator(OF_ANOTHER)])["deleted"]) == deleted


def test_deleted_resources_do_not_keep_the_installation():
    inventories = [of_operator(OF_ANOTHER), INSTALLATION]
    assert installations(plan([], [], None, inventories), [], [], inventories) == UNUSED
    assert installations(plan([], [], None, []), [], [], inventories) == []


@pytest.mark.parametrize(
    ("operators", "deployments", "inventories", "unused"),
    [
        pytest.param([operator("one")], [deployment(THEIRS)], [INVENTORY, INSTALLATION], UNUSED, id="stopped in this run"),
        pytest.param([], [deployment(THEIRS)], [INVENTORY, INSTALLATION], UNUSED, id="stopped before"),
        pytest.param([], [], [INSTALLATION], UNUSED, id="all is done but this"),
        pytest.param([], [deployment(OURS)], [INVENTORY, INSTALLATION], [], id="its pods still run"),
        pytest.param([operator("three")], [], [INSTALLATION], [], id="it looks after others"),
        pytest.param([], [], [OF_ANOTHER, INSTALLATION], [], id="a scheduler depends on it"),
        pytest.param([operator("two", namespace="two")], [], [OF_ANOTHER, INSTALLATION], UNUSED, id="another operator has that scheduler"),
        pytest.param([operator("one", variant="upstream")], [], [INSTALLATION], UNUSED, id="the operator is upstream's"),
        pytest.param([], [], [], [], id="none"),
    ],
)
def test_an_installation_is_removed_with_the_last_scheduler_that_depends_on_it(operators, deployments, inventories, unused):
    released = plan([resource()], operators, [{"namespace": "one", "name": "cluster"}])
    assert installations(released, operators, deployments, inventories) == unused
