# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a set may delete, and what stays."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import prune
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_result import Report
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.delete import Doomed, delete
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN, Resource
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.wait import Deadline
from support.objects import config_map, deployment, thing, things

GROUP = "example.com"
CRD = Identity("apiextensions.k8s.io/v1", "CustomResourceDefinition", None, "things.example.com")
THING = Identity("example.com/v1", "Thing", "n", "one")


class Cluster:
    """Lists these objects of the kind Thing, and answers deletions in turn."""

    def __init__(self, objects=(), answers=(), status=None):
        self.objects, self.answers, self.status = list(objects), list(answers), status
        self.learned, self.deleted, self.listed = {}, [], []
        self.requests = {}

    def learn(self, resource):
        self.learned[resource.api_version, resource.kind] = resource

    def resource(self, api_version, kind):
        return self.learned[api_version, kind]

    def list(self, resource):
        self.listed.append(resource)
        if self.status:
            raise ApiError(self.status, "reason", "message")
        return self.objects

    def delete(self, resource, name, namespace, **options):
        self.deleted.append((resource.kind, name, namespace, options))
        if not self.answers:
            return {"kind": "Status"}
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def doomed(live, uid="u"):
    identity = Identity.of(live)
    resource = KNOWN.get((identity.api_version, identity.kind)) or Resource("example.com/v1", "Thing", "things", True)
    return Doomed(identity, resource, {**live, "metadata": {**live["metadata"], "uid": uid}})


def absent(live):
    return doomed(live)._replace(live=None)


NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}


@pytest.mark.parametrize(
    ("objects", "also", "kept"),
    [
        ([thing(GROUP, "n")], [], ["things.example.com"]),
        ([thing(GROUP, "n")], [thing(GROUP, "n")], []),
        ([thing(GROUP, "n"), thing(GROUP, "m")], [thing(GROUP, "n")], ["things.example.com"]),
        ([], [], []),
    ],
)
def test_a_crd_stays_while_objects_of_its_kind_stay(objects, also, kept):
    client = Cluster(objects)
    all_doomed = [doomed(things(GROUP)), *map(doomed, also)]
    assert [one.identity.name for one in prune.in_use(client, all_doomed)] == kept
    assert client.listed == [Resource("example.com/v1", "Thing", "things", True)]


def test_only_crds_that_exist_can_be_in_use():
    assert prune.in_use(Cluster([thing(GROUP, "n")]), [absent(things(GROUP)), doomed(config_map("n")), doomed(NAMESPACE)]) == []


def test_objects_of_a_crd_are_listed_in_a_served_version():
    definition = things(GROUP)
    old, new = {"name": "v1alpha1", "served": False}, {"name": "v2", "served": True}
    definition["spec"]["versions"] = [old, new, {"name": "v3", "served": True}]
    client = Cluster([thing(GROUP, "n")])
    assert prune.instances(client, definition) == [thing(GROUP, "n")]
    assert [one.api_version for one in client.listed] == ["example.com/v2"]
    definition["spec"]["versions"] = [old]
    assert prune.instances(client, definition) == []


def test_a_kind_that_is_not_served_has_no_objects():
    assert prune.instances(Cluster(status=404), things(GROUP)) == []
    with pytest.raises(ApiError):
        prune.instances(Cluster(status=403), things(GROUP))


def test_namespaces_and_crds_in_use_are_not_pruned():
    warnings = []
    namespace, definition, other = doomed(NAMESPACE), doomed(things(GROUP)), doomed(config_map("n"))
    assert prune.must_stay(Cluster([thing(GROUP, "n")]), [other, namespace, definition], "mine", warnings.append) == [namespace, definition]
    assert warnings == [
        "Namespace n is no longer in set mine but is not pruned: what else lives in it would be deleted too. Delete it by hand.",
        (
            "CustomResourceDefinition things.example.com is no longer in set mine but is not pruned: "
            "objects of its kind exist and would be deleted too. Delete it by hand."
        ),
    ]
    assert prune.must_stay(Cluster(), [other, definition], "mine", warnings.append) == []
    assert len(warnings) == 2


def entry(kind, name, namespace=None, action="deleted", api_version="v1", uid=None):
    return {"apiVersion": api_version, "kind": kind, "namespace": namespace, "name": name, "uid": uid, "action": action}


A = Identity("v1", "ConfigMap", "n", "settings")


@pytest.mark.parametrize(
    ("entries", "is_gone"),
    [
        ([entry("ConfigMap", "settings", "n")], True),
        ([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "n", "name": "settings"}], True),
        ([entry("ConfigMap", "settings", "n", action="released")], False),
        ([entry("ConfigMap", "settings", "m")], False),
        ([entry("ConfigMap", "other", "n")], False),
        ([entry("Namespace", "n")], True),
        ([entry("Namespace", "n", action="unchanged")], False),
        ([entry("Namespace", "m")], False),
        ([entry("Namespace", "n", api_version="example.com/v1")], False),
        ([entry("Project", "n")], False),
        ([entry("Secret", "s", "m", uid="owner")], True),
        ([entry("Secret", "s", "m", uid="another")], False),
        ([entry("Secret", "s", "m", uid="owner", action="updated")], False),
        ([], False),
    ],
)
def test_objects_that_an_earlier_task_deletes_count_as_missing(entries, is_gone):
    live = config_map("n")
    live["metadata"]["ownerReferences"] = [{"uid": "owner"}]
    other = Identity("v1", "ConfigMap", "x", "absent")
    deleted = prune.Deleted(entries)
    assert deleted.without({A: live, other: None}) == {A: None if is_gone else live, other: None}
    assert deleted.identities == ({A} if is_gone else set())


def test_an_object_without_owners_is_not_deleted_with_another():
    deleted = prune.Deleted([entry("Secret", "s", "m", uid="owner")])
    assert deleted.without({A: config_map("n")}) == {A: config_map("n")}


def run_delete(client, found, check=False):
    report = Report(client, check, with_diff=False)
    delete(client, found, report, Deadline(0), check)
    return [(one["name"], one["action"]) for one in report.result()["objects"]]


def test_objects_are_deleted_in_the_opposite_order_of_their_application():
    client = Cluster(answers=[{"kind": "Status"}, None])
    first, second = doomed(config_map("n", "first"), "1"), doomed(config_map("n", "second"), "2")
    found = [absent(NAMESPACE), first, second, doomed(deployment("n"), "3")]
    assert run_delete(client, found) == [("app", "deleted"), ("second", "deleted"), ("first", "deleted"), ("n", "absent")]
    assert client.deleted == [
        ("Deployment", "app", "n", {"uid": "3", "propagation": "Foreground", "dry_run": False}),
        ("ConfigMap", "second", "n", {"uid": "2", "propagation": "Background", "dry_run": False}),
        ("ConfigMap", "first", "n", {"uid": "1", "propagation": "Background", "dry_run": False}),
    ]


def test_check_mode_deletes_in_dry_runs_and_waits_for_nothing():
    client = Cluster(answers=[config_map("n")])
    assert run_delete(client, [doomed(config_map("n"))], check=True) == [("settings", "deleted")]
    assert client.deleted == [("ConfigMap", "settings", "n", {"uid": "u", "propagation": "Background", "dry_run": True})]


def test_a_deletion_that_is_rejected_names_the_object():
    client = Cluster(answers=[ApiError(403, "Forbidden", "no")])
    with pytest.raises(ClusterError, match=r"^ConfigMap n/settings: could not delete it: no$"):
        run_delete(client, [doomed(config_map("n"))])
