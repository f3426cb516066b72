# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a run does about answers that a cluster with one healthy API server does not give."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply import Options, Run
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_result import Report
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError
from support.api_server import ApiServer, connect, status
from support.objects import config_map, thing, things

NOT_SERVED = (404, b"404 page not found\n")
OLD_SCHEMA = (500, status(500, "", ".spec.new: field not declared in schema"))


@pytest.fixture
def server():
    with ApiServer.running() as server:
        yield server


def run(server, *manifests, **options):
    client = connect(server.url)
    report = Report(client, check=False, with_diff=False)
    Run(client, Options(list(manifests), **options), report, warn=None).present()
    return {entry["kind"]: entry["action"] for entry in report.result()["objects"]}


def stored(obj, version="1", **fields):
    return (200, {**obj, **fields, "metadata": {**obj["metadata"], "resourceVersion": version, "uid": "u"}})


def established(group):
    return stored(things(group), status={"conditions": [{"type": "Established", "status": "True"}]})


@pytest.mark.parametrize("trouble", [NOT_SERVED, OLD_SCHEMA])
def test_requests_for_a_kind_that_was_just_defined_are_repeated(server, trouble):
    group = "example.com"
    reads = [NOT_SERVED, NOT_SERVED]
    dry_runs = [established(group), NOT_SERVED]
    server.answers = [*reads, *dry_runs, established(group), trouble, trouble, stored(thing(group, "n"))]
    assert run(server, things(group), thing(group, "n")) == {"CustomResourceDefinition": "created", "Thing": "created"}


def test_schema_updates_are_awaited_only_for_crds_of_the_same_run(server):
    served = {"resources": [{"name": "things", "kind": "Thing", "namespaced": True}]}
    server.answers = [(200, served), NOT_SERVED, OLD_SCHEMA]
    with pytest.raises(ClusterError, match="field not declared"):
        run(server, thing("example.com", "n"))
    assert server.answers == []


def test_a_write_that_lost_a_race_is_repeated(server):
    lost = (409, status(409, "Conflict", "the object has been modified; please apply your changes to the latest version"))
    server.answers = [NOT_SERVED, lost, lost, stored(config_map("n"))]
    assert run(server, config_map("n")) == {"ConfigMap": "created"}
    server.answers = [NOT_SERVED, *[lost] * 10]
    with pytest.raises(ClusterError, match="has been modified"):
        run(server, config_map("n"))


def test_a_take_over_that_lost_a_race_is_repeated_with_the_current_object(server):
    """and comes to nothing where the object is gone meanwhile"""
    lost = (409, status(409, "Conflict", "the object has been modified; please apply your changes to the latest version"))
    theirs = {"manager": "other", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:a": {}}}}

    def live(version):
        obj = stored(config_map("n"), version)[1]
        return (200, {**obj, "metadata": {**obj["metadata"], "managedFields": [theirs]}})

    dry_run = stored(config_map("n"))
    server.answers = [live("1"), dry_run, lost, live("2"), live("3"), stored(config_map("n"))]
    assert run(server, config_map("n"), takeover_field_managers=["other"]) == {"ConfigMap": "updated"}
    patches = [json.loads(one.body) for one in server.seen if one.headers["Content-Type"] == "application/json-patch+json"]
    assert [patch[1]["value"] for patch in patches] == ["1", "2"]

    server.answers = [live("1"), dry_run, lost, NOT_SERVED, stored(config_map("n"))]
    run(server, config_map("n"), takeover_field_managers=["other"])
    assert server.seen[-1].headers["Content-Type"].startswith("application/apply-patch+yaml")

    server.answers = [live("1"), dry_run, *[lost, live("2")] * 10]
    with pytest.raises(ClusterError, match=r"take over fields of it: .*has been modified"):
        run(server, config_map("n"), takeover_field_managers=["other"])


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param((403, status(403, "Forbidden")), id="may not watch"),
        pytest.param((200, json.dumps(config_map("n")).encode() + b"\n"), id="the operator's proxy answers with the object"),
    ],
)
def test_objects_that_cannot_be_watched_are_polled(server, refusal):
    def live(value):
        return stored(config_map("n", state=value))

    server.answers = [live("old"), live("old"), refusal, live("old"), live("new")]
    wait_for = [{"kind": "ConfigMap", "name": "settings", "namespace": "n", "fields": {"data.state": "new"}}]
    run(server, config_map("n", state="old"), wait_for=wait_for)
    assert server.answers == []


LOST = (409, status(409, "Conflict", "the object has been modified"))
SET_LABELS = MappingProxyType({"osso.scheduler/set": "mine"})
OWN_FIELDS = {"manager": "osso.scheduler", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:a": {}}}}


def member(version="1", annotations=None, labels=SET_LABELS, uid="u", **fields):
    metadata = {
        "resourceVersion": version,
        "uid": uid,
        "labels": dict(labels),
        "annotations": annotations or {},
        "managedFields": [OWN_FIELDS],
    }
    live = {**config_map("n"), **fields}
    return (200, {**live, "metadata": {**live["metadata"], **metadata}})


ADOPTED = {"osso.scheduler/adopted-from": "Update kubectl"}


def removed(server, **options):
    warnings = []
    client = connect(server.url)
    report = Report(client, check=False, with_diff=False)
    Run(client, Options([config_map("n")], set_name="mine", **options), report, warnings.append).absent()
    return [entry["action"] for entry in report.result()["objects"]], warnings


def test_a_release_that_lost_a_race_is_repeated_with_the_current_object(server):
    server.answers = [member("1", ADOPTED), LOST, member("2", ADOPTED), member("3", labels={})]
    warning = "ConfigMap n/settings existed before and was adopted. Was released unchanged, not deleted."
    assert removed(server) == (["released"], [warning])
    patches = [json.loads(one.body) for one in server.seen if one.method == "PATCH"]
    assert [patch[-1]["value"] for patch in patches] == ["1", "2"]


@pytest.mark.parametrize("now", [NOT_SERVED, member("2", labels={})])
def test_a_release_ends_where_the_object_is_no_longer_adopted(server, now):
    server.answers = [member("1", ADOPTED), (404, status(404, "NotFound")), now]
    assert removed(server)[0] == []
    assert server.answers == []


def test_a_release_gives_up_after_five_races(server):
    server.answers = [member("1", ADOPTED), *[LOST, member("2", ADOPTED)] * 9]
    with pytest.raises(ClusterError, match=r"^ConfigMap n/settings: could not release it: the object has been modified$"):
        removed(server)
    assert [one.method for one in server.seen].count("PATCH") == 5
    server.answers = [member("1", ADOPTED), (403, status(403, "Forbidden", "no"))]
    with pytest.raises(ClusterError, match=r"could not release it: no$"):
        removed(server)
    assert server.answers == []


def test_only_objects_that_the_set_created_are_deleted(server):
    server.answers = [member("1"), (200, {"kind": "Status"})]
    assert removed(server) == (["deleted"], [])
    other = {**SET_LABELS, "osso.scheduler/set": "other", "osso.scheduler/set-namespace": "home"}
    for labels, whose in (
        ({}, "set mine did not create it (field managers: osso.scheduler)"),
        (other, "it belongs to set other of namespace home"),
        ({"osso.scheduler/set": "other"}, "it belongs to set other"),
    ):
        server.answers = [member("1", labels=labels)]
        assert removed(server) == (
            ["unchanged"],
            [f"ConfigMap n/settings is not deleted: {whose}. Delete it by hand if nothing needs it."],
        )
    server.answers = [NOT_SERVED]
    assert removed(server) == (["absent"], [])


def present(server, *manifests, check=False, **options):
    warnings = []
    client = connect(server.url)
    report = Report(client, check=check, with_diff=False)
    Run(client, Options(list(manifests), check=check, **options), report, warnings.append).present()
    return [entry["action"] for entry in report.result()["objects"]], warnings


def test_objects_that_the_set_did_not_create_are_not_changed(server):
    server.answers = [member("1", labels={})]
    with pytest.raises(ClusterError) as failure:
        present(server, config_map("n"), set_name="mine")
    assert failure.value.message == (
        "Nothing was written, because objects exist that set mine did not create. ConfigMap n/settings: set mine did not create it (field "
        "managers: osso.scheduler). Delete or rename them, or set adopt to true (in a role of this collection ROLE_adopt, of a "
        "SecondaryScheduler the annotation osso.scheduler/adopt): then they become what the manifests say, and are given back instead of deleted "
        "when the set is removed. An object of another set is never adopted: remove that set first."
    )
    server.answers = [member("1", labels={"osso.scheduler/set": "other"})]
    with pytest.raises(ClusterError, match="ConfigMap n/settings: it belongs to set other"):
        present(server, config_map("n"), set_name="mine", adopt=True)
    assert [one.method for one in server.seen] == ["GET", "GET"]


def test_existing_objects_are_adopted_if_adopt_is_true(server):
    server.answers = [member("1", labels={}), member("2", ADOPTED)]
    assert present(server, config_map("n"), set_name="mine", adopt=True) == (
        ["adopted"],
        ["Was adopted by set mine, since it existed before: ConfigMap n/settings."],
    )
    sent = json.loads(server.seen[-1].body)
    assert sent["metadata"]["annotations"] == {"osso.scheduler/adopted-from": "Apply osso.scheduler"}
    assert server.seen[-1].query == {"fieldManager": ["osso.scheduler"], "fieldValidation": ["Strict"]}


def test_conflicting_fields_are_restored_only_with_force(server):
    cause = {"reason": "FieldManagerConflict", "message": 'conflict with "kubectl" using v1', "field": ".data.a"}
    conflict = (409, status(409, "Conflict", "conflict", causes=[cause]))
    kubectl = {**OWN_FIELDS, "manager": "kubectl", "operation": "Update"}
    live = member("1")
    live[1]["metadata"]["managedFields"] = [kubectl]
    server.answers = [live, conflict]
    with pytest.raises(ClusterError, match=r'conflict: \.data\.a is managed by "kubectl" using v1\. With force_conflicts: true') as failure:
        present(server, config_map("n", a="2"))
    assert failure.value.message.endswith("\nNothing was written.")
    assert server.seen[-1].query["dryRun"] == ["All"]
    server.answers = [live, conflict, member("1"), member("2", data={"a": "2"})]
    assert present(server, config_map("n", a="2"), force_conflicts=True) == (
        ["updated"],
        ['ConfigMap n/settings: .data.a is managed by "kubectl" using v1. Was put back to what the manifest says.'],
    )
    assert [(one.query.get("dryRun"), one.query.get("force")) for one in server.seen[-2:]] == [(["All"], ["true"]), (None, ["true"])]


def test_a_creation_after_a_deletion_is_predicted_under_another_name(server):
    predicted = stored({**config_map("n"), "metadata": {"name": "osso-dry-run-12345", "namespace": "n"}})
    deleted = [{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "n", "name": "settings", "uid": "u", "action": "deleted"}]
    server.answers = [member("1"), predicted]
    assert present(server, config_map("n"), check=True, assume_deleted=deleted) == (["created"], [])
    request = server.seen[-1]
    assert request.path == "/api/v1/namespaces/n/configmaps/osso-dry-run-cde0fb0dec"
    assert request.query["dryRun"] == ["All"]
    server.answers = [member("1"), member("2")]
    assert present(server, config_map("n"), assume_deleted=deleted)[0] == ["unchanged"], "only check mode assumes it"


def test_a_kind_that_is_not_served_ends_the_run(server):
    server.answers = [NOT_SERVED]
    message = "Thing n/one: the API server does not serve example.com/v1 Thing. Install its CustomResourceDefinition first, or put it into the manifests."
    with pytest.raises(ClusterError) as failure:
        present(server, thing("example.com", "n"))
    assert failure.value.message == message


def test_members_that_left_the_set_are_pruned(server):
    """after the inventory has named all, and before it names the rest"""
    stale = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "n", "name": "stale"}
    labels = {"osso.scheduler/set": "mine", "osso.scheduler/set-namespace": "home"}
    inventory = stored({**config_map("home", "osso-set-mine", objects=json.dumps(stale) + "\n")})
    gone = member("1", labels=labels, uid="s")
    gone[1]["metadata"]["name"] = "stale"
    written = stored(config_map("home", "osso-set-mine"))
    created = member("1", labels=labels)
    server.answers = [NOT_SERVED, inventory, written, created, gone, (200, {"kind": "Status"}), written]
    actions, warnings = present(server, config_map("n"), set_name="mine", set_namespace="home", prune=True)
    assert (actions, warnings, server.answers) == (["updated", "created", "deleted"], [], [])
    requests = [(one.method, one.path.rpartition("/")[2]) for one in server.seen]
    assert requests[2:] == [
        ("PATCH", "osso-set-mine"),
        ("PATCH", "settings"),
        ("GET", "stale"),
        ("DELETE", "stale"),
        ("PATCH", "osso-set-mine"),
    ]
    names = [[json.loads(line)["name"] for line in json.loads(server.seen[index].body)["data"]["objects"].splitlines()] for index in (2, 6)]
    assert names == [["settings", "stale"], ["settings"]]
    assert json.loads(server.seen[5].body)["preconditions"] == {"uid": "s"}


def test_a_grant_that_the_api_server_does_not_know_yet_is_repeated(server):
    names = {"name": "reader", "namespace": "n"}
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": names, "rules": []}
    binding = {**role, "kind": "RoleBinding", "roleRef": {"kind": "Role", "name": "reader"}}
    del binding["rules"]
    refused = (403, status(403, "Forbidden", "user is attempting to grant RBAC permissions not currently held: ..."))
    server.answers = [NOT_SERVED, NOT_SERVED, stored(role), stored(binding), stored(role), refused, refused, stored(binding)]
    assert run(server, role, binding) == {"Role": "created", "RoleBinding": "created"}
    # This run has granted nothing.
    server.answers = [NOT_SERVED, refused]
    with pytest.raises(ClusterError, match="not currently held"):
        run(server, binding)
    assert server.answers == []


def test_an_object_created_by_others_after_a_deletion_is_not_changed(server):
    dying = member("1")
    dying[1]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    theirs = member("2", labels={})
    theirs[1]["metadata"]["uid"] = "v"
    server.answers = [dying, theirs, theirs]
    with pytest.raises(
        ClusterError, match="while it was being deleted, another object of its name was created, and set mine did not create it"
    ):
        present(server, config_map("n"), set_name="mine")
    assert {one.method for one in server.seen} == {"GET"}
