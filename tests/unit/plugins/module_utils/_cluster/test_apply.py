# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a run does about answers that a cluster with one healthy API server does not give."""

from __future__ import annotations

import json

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
def test_api_servers_that_do_not_know_yet_what_was_just_defined(server, trouble):
    group = "example.com"
    reads = [NOT_SERVED, NOT_SERVED]
    dry_runs = [established(group), NOT_SERVED]
    server.answers = [*reads, *dry_runs, established(group), trouble, trouble, stored(thing(group, "n"))]
    assert run(server, things(group), thing(group, "n")) == {"CustomResourceDefinition": "created", "Thing": "created"}


def test_what_was_not_just_defined_is_not_waited_for(server):
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


def test_a_take_over_that_lost_a_race_is_repeated_with_what_is_there_then(server):
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
def test_where_nothing_can_be_watched_it_is_asked_for(server, refusal):
    def live(value):
        return stored(config_map("n", state=value))

    server.answers = [live("old"), live("old"), refusal, live("old"), live("new")]
    wait_for = [{"kind": "ConfigMap", "name": "settings", "namespace": "n", "fields": {"data.state": "new"}}]
    run(server, config_map("n", state="old"), wait_for=wait_for)
    assert server.answers == []
