# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""apply, where another way of installation takes over: what left the set can be restored, and check mode knows what goes first."""

from __future__ import annotations

import pytest
from support.objects import config_map, deployment


def test_pruned_objects_are_restored_by_their_returned_manifests(apply, namespace, kubectl, audit):
    members = {"set_name": "moving", "set_namespace": namespace}
    workload = deployment(namespace)
    apply([workload, config_map(namespace)], **members)
    kubectl("label", "deployment", "app", f"--namespace={namespace}", "theirs=1")
    moved = apply(config_map(namespace), prune=True, return_removed=True, **members)
    (removed,) = moved.result["removed"]
    assert removed["spec"]["template"]["spec"] == workload["spec"]["template"]["spec"]
    assert "theirs" not in removed["metadata"]["labels"]
    assert set(removed["metadata"]) == {"name", "namespace", "labels"}
    assert apply(removed, **members).actions()["Deployment app"] == "created"
    with audit:
        assert not apply([workload, config_map(namespace)], prune=True, **members).result["changed"]
    assert audit.writes() == []


@pytest.fixture
def owned(namespace, kubectl):
    """A Deployment that an operator of another installation has made, with a variable that ours sets otherwise; and its owner."""
    kubectl.apply(config_map(namespace, "owner"))
    owner = kubectl.get("configmap", "owner", namespace)
    theirs = deployment(namespace)
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    theirs["metadata"]["ownerReferences"] = [reference]
    source = {"fieldRef": {"fieldPath": "metadata.annotations['targets']"}}
    theirs["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "WATCH", "valueFrom": source}]
    kubectl("create", "--filename=-", stdin=theirs)
    return {"apiVersion": "v1", "kind": "ConfigMap", "namespace": namespace, "name": "owner", "uid": reference["uid"], "action": "deleted"}


def with_variable(namespace, **container):
    ours = deployment(namespace)
    ours["spec"]["template"]["spec"]["containers"][0].update({"env": [{"name": "WATCH", "value": "n"}], **container})
    return ours


def test_check_mode_ignores_objects_that_an_earlier_task_deletes(apply, namespace, owned, audit):
    """Merged with what is still there, it would have both value and valueFrom."""
    options = {"check": True, "diff": True, "force_conflicts": True}
    assert "may not be specified when `value` is not empty" in apply(with_variable(namespace), succeed=False, **options).message
    with audit:
        predicted = apply(with_variable(namespace), assume_deleted=[owned], **options)
    assert audit.writes() == []
    assert predicted.actions() == {"Deployment app": "created"}
    assert predicted.result["unvalidated"] == []
    (difference,) = predicted.result["diff"]
    assert (difference["before"], "name: app\n" in difference["after"]) == ("", True)
    invalid = apply(with_variable(namespace, imagePullPolicy="Soon"), assume_deleted=[owned], succeed=False, **options)
    assert "imagePullPolicy" in invalid.message
    kept = apply(with_variable(namespace), assume_deleted=[{**owned, "action": "unchanged"}], succeed=False, **options)
    assert "may not be specified" in kept.message


def test_a_namespace_that_is_deleted_first_takes_all_with_it(apply, namespace, owned):
    gone = {"apiVersion": "v1", "kind": "Namespace", "name": namespace, "action": "deleted"}
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    predicted = apply([home, with_variable(namespace)], assume_deleted=[gone], check=True)
    assert predicted.actions() == {f"Namespace {namespace}": "created", "Deployment app": "created"}
    assert [one["reason"] for one in predicted.result["unvalidated"]] == ["its namespace is created by this set"]
