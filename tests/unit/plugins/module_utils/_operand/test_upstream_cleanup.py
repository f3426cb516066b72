# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What may be deleted because the upstream operator made it, and what may not."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._operand import upstream_cleanup
from support import upstream

RESOURCE = {
    "apiVersion": "operator.openshift.io/v1",
    "kind": "SecondaryScheduler",
    "metadata": {"name": "cluster", "namespace": "openshift-secondary-scheduler-operator", "uid": "uid-1", "generation": 1},
    "spec": {"schedulerConfig": "c", "schedulerImage": "i"},
}
MADE = upstream.objects(RESOURCE)


def named(objects):
    return {(obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace")) for obj in objects}


def of(kind, name="secondary-scheduler-operand", **metadata):
    (obj,) = [obj for obj in MADE if (obj["kind"], obj["metadata"]["name"]) == (kind, name)]
    return {**obj, "metadata": {**obj["metadata"], **metadata}}


def cluster_role_binding(**fields):
    return {**of("ClusterRoleBinding", "secondary-scheduler-system-kube-scheduler"), **fields}


def test_exactly_the_objects_without_our_names_are_deleted():
    goes = upstream_cleanup.leftovers_of(RESOURCE, MADE)
    namespace = RESOURCE["metadata"]["namespace"]
    assert named(goes) == {
        ("ClusterRoleBinding", "secondary-scheduler-system-kube-scheduler", None),
        ("ClusterRoleBinding", "secondary-scheduler-system-volume-scheduler", None),
        ("Role", "secondary-scheduler-operand", namespace),
        ("RoleBinding", "secondary-scheduler-operand", namespace),
    }
    assert named(upstream_cleanup.candidates(RESOURCE)) == named(goes)
    assert all(set(one) == {"apiVersion", "kind", "metadata"} for one in goes)
    assert upstream_cleanup.leftovers_of(RESOURCE, []) == []


def test_a_removal_also_deletes_the_objects_with_our_names():
    written = [of(one["kind"], one["metadata"]["name"], managedFields=[{"manager": upstream.MANAGER}]) for one in MADE]
    goes = upstream_cleanup.all_of(RESOURCE, written)
    assert named(goes) == named(MADE) == named(upstream_cleanup.all_candidates(RESOURCE))
    assert upstream_cleanup.all_of(RESOURCE, MADE) == upstream_cleanup.leftovers_of(RESOURCE, MADE)


@pytest.mark.parametrize("other", [{"name": "other"}, {"namespace": "other"}])
def test_another_resource_has_no_leftovers(other):
    resource = {**RESOURCE, "metadata": {**RESOURCE["metadata"], **other}}
    assert upstream_cleanup.candidates(resource) == upstream_cleanup.all_candidates(resource) == []
    assert upstream_cleanup.leftovers_of(resource, MADE) == []


def test_cluster_role_bindings_of_a_former_resource_are_deleted_too():
    """B6: they outlive it"""
    resource = {**RESOURCE, "metadata": {**RESOURCE["metadata"], "uid": "uid-2"}}
    assert {one["kind"] for one in upstream_cleanup.leftovers_of(resource, MADE)} == {"ClusterRoleBinding"}


OTHERS = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "cluster", "uid": "uid-1"}]
SUBJECT = {"kind": "ServiceAccount", "namespace": "openshift-secondary-scheduler-operator", "name": "secondary-scheduler"}


@pytest.mark.parametrize(
    "obj",
    [
        pytest.param(of("Role", ownerReferences=[]), id="nobody's"),
        pytest.param(of("Role", ownerReferences=OTHERS), id="somebody else's"),
        pytest.param(of("Role", ownerReferences=of("Role")["metadata"]["ownerReferences"] + OTHERS), id="somebody else's, too"),
        pytest.param(of("Role", labels={"osso.scheduler/set": "operand-cluster"}), id="ours"),
        pytest.param(cluster_role_binding(subjects=[SUBJECT, {**SUBJECT, "name": "other"}]), id="for another account, too"),
        pytest.param(cluster_role_binding(subjects=[]), id="for nobody"),
        pytest.param(cluster_role_binding(kind="ClusterRole"), id="another kind"),
    ],
)
def test_objects_that_others_created_or_use_stay(obj):
    assert upstream_cleanup.leftovers_of(RESOURCE, [obj]) == []


def test_the_deployment_of_a_resource_that_no_longer_exists_is_a_leftover():
    """and so are its ClusterRoleBindings; of a resource that exists, Kubernetes deletes it"""
    deployment = of("Deployment", "secondary-scheduler")
    goes = upstream_cleanup.leftovers_after([deployment, cluster_role_binding()])
    assert [one["kind"] for one in goes] == ["ClusterRoleBinding", "Deployment"]
    assert upstream_cleanup.leftovers_of(RESOURCE, [deployment]) == []
    for other in (
        {"ownerReferences": []},
        {"ownerReferences": OTHERS},
        {"labels": {"osso.scheduler/set": "operand-cluster"}},
        {"namespace": "other"},
    ):
        assert upstream_cleanup.leftovers_after([of("Deployment", "secondary-scheduler", **other)]) == []
