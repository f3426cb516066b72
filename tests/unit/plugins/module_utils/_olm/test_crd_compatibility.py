# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The definitions that an InstallPlan names: inline, or in the ConfigMap of an unpacked bundle, whose content anyone may have written."""

from __future__ import annotations

import base64
import gzip
import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Resource
from ansible_collections.osso.scheduler.plugins.module_utils._olm.crd_compatibility import problems
from support.api_server import ApiServer, connect, status
from support.objects import thing, things
from support.stored_cluster import StoredCluster

GROUP = "example.com"
CRD = "CustomResourceDefinition"
REFERENCE = {"kind": "ConfigMap", "name": "unpacked", "namespace": "olm", "catalogSourceName": "c", "catalogSourceNamespace": "olm"}
MISSING = (404, status(404, "NotFound", "no such object"))


def plan(manifest):
    resource = {"kind": "CustomResourceDefinition", "name": f"things.{GROUP}", "manifest": manifest}
    return {"metadata": {"name": "install-1"}, "status": {"plan": [{"resource": {"kind": "Service", "name": "s"}}, {"resource": resource}]}}


def unpacked(content, annotations=None):
    return (200, {"kind": "ConfigMap", "metadata": {"name": "unpacked", "annotations": annotations or {}}, **content})


def compressed(data):
    return base64.b64encode(base64.b64encode(gzip.compress(data))).decode()


def found(plan, *answers):
    with ApiServer.running() as server:
        server.answers = list(answers)
        result = problems(connect(server.url), plan)
        assert server.answers == []
        return result


@pytest.mark.parametrize("where", ["inline", "text", "compressed"])
def test_a_crd_that_the_server_rejects_is_named(where):
    text = json.dumps(things(GROUP))
    rejected = (422, status(422, "Invalid", "spec.scope: Invalid value: field is immutable"))
    if where == "inline":
        said = found(plan(text), (200, things(GROUP)), rejected)
    else:
        content = {"data": {"crd.yaml": text}} if where == "text" else {"binaryData": {"crd.yaml": compressed(text.encode())}}
        bundle = unpacked(content, {"olm.contentEncoding": "gzip+base64"} if where == "compressed" else None)
        said = found(plan(json.dumps(REFERENCE)), bundle, (200, things(GROUP)), rejected)
    (text,) = said
    assert f"CustomResourceDefinition things.{GROUP} of the bundle cannot replace the existing one: spec.scope" in text


def test_a_new_crd_has_no_incompatible_objects():
    assert found(plan(json.dumps(things(GROUP))), MISSING) == []


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"binaryData": {"crd.yaml": compressed(b"x" * (17 * 2**20))}}, "is larger than"),
        ({"binaryData": {"crd.yaml": base64.b64encode(b"no gzip").decode()}}, "cannot be decoded"),
        ({"data": {"crd.yaml": "kind: ["}}, "YAML syntax error"),
    ],
    ids=["bomb", "garbage", "no YAML"],
)
def test_a_bundle_that_cannot_be_read_is_an_error(content, says):
    with pytest.raises(InputError, match=says):
        found(plan(json.dumps(REFERENCE)), unpacked(content, {"olm.contentEncoding": "gzip+base64"}))


def crd_cluster(*objects, live=None):
    return StoredCluster(live or things(GROUP), *objects, kinds=[Resource(f"{GROUP}/v1", "Thing", "things", True)])


def definition(change=None):
    made = things(GROUP)
    if change:
        change(made["spec"])
    return made


INVALID = (
    f"existing objects are not valid by CustomResourceDefinition things.{GROUP} of the bundle: {{0}}. Correct these objects, or choose another version "
    "of the operator"
)


def inline(made):
    return plan(json.dumps(made))


def test_existing_objects_that_the_new_crd_does_not_allow_are_named():
    wrong = [thing(GROUP, "n", f"thing-{number}", spec={"size": -number}) for number in range(1, 8)]
    assert problems(crd_cluster(*wrong[:1], thing(GROUP, "n", "fine")), inline(definition())) == [
        INVALID.format("Thing n/thing-1: spec.size is -1; the minimum is 0")
    ]
    five = "; ".join(f"Thing n/thing-{number}: spec.size is -{number}; the minimum is 0" for number in range(1, 6))
    assert problems(crd_cluster(*wrong[:5]), inline(definition())) == [INVALID.format(five)]
    assert problems(crd_cluster(*wrong), inline(definition())) == [INVALID.format(f"{five}; and 2 more")]
    assert problems(crd_cluster(), inline(definition())) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda spec: spec.update(conversion={"strategy": "Webhook"}),
        lambda spec: spec["versions"][0].update(served=False),
        lambda spec: spec["versions"][0].update(name="v2"),
        lambda spec: spec["versions"][0].pop("schema"),
    ],
    ids=["converted by a webhook", "not served any more", "another version", "no schema"],
)
def test_objects_that_the_new_schema_is_not_for_are_not_compared(change):
    assert problems(crd_cluster(thing(GROUP, "n", spec={"size": -1})), inline(definition(change))) == []


def test_objects_of_a_version_that_is_not_served_are_not_compared():
    old = definition(lambda spec: spec["versions"][0].update(served=False))
    assert problems(crd_cluster(thing(GROUP, "n", spec={"size": -1}), live=old), inline(definition())) == []


def test_a_conversion_without_a_webhook_is_compared():
    made = definition(lambda spec: spec.update(conversion={"strategy": "None"}))
    assert len(problems(crd_cluster(thing(GROUP, "n", spec={"size": -1})), inline(made))) == 1


@pytest.mark.parametrize(("status", "told"), [(400, True), (422, True), (403, False), (500, False)])
def test_only_an_invalid_crd_is_a_problem_of_the_bundle(status, told):
    cluster = crd_cluster()
    cluster.rejected["PATCH", "customresourcedefinitions"] = ApiError(status, "No", "not so")
    if told:
        assert problems(cluster, inline(definition())) == [
            (
                f"CustomResourceDefinition things.{GROUP} of the bundle cannot replace the existing one: not so. Choose a version of the operator whose "
                "definition fits, or delete the existing definition, with all of its objects, first"
            )
        ]
        return
    with pytest.raises(ClusterError, match=rf"^CustomResourceDefinition things\.{GROUP}: could not check the update of it: not so"):
        problems(cluster, inline(definition()))


@pytest.mark.parametrize(
    ("plural", "says"),
    [("things", r"^Thing \*: could not list it: no"), ("customresourcedefinitions", "could not check the update of it: no")],
)
def test_objects_that_cannot_be_read_are_named(plural, says):
    cluster = crd_cluster()
    cluster.rejected["GET", plural] = ApiError(403, "Forbidden", "no")
    with pytest.raises(ClusterError, match=says):
        problems(cluster, inline(definition()))


def test_each_crd_of_a_bundle_is_compared():
    others = definition(lambda spec: spec["names"].update(kind="Other", plural="others"))
    others["metadata"]["name"] = f"others.{GROUP}"
    second = json.loads(json.dumps(definition()).replace("things.", "ignored."))
    data = {
        "a.yaml": json.dumps(definition()),
        "b.yaml": json.dumps(others),
        "c.yaml": json.dumps(second),
        "d.yaml": "kind: Other\napiVersion: v1\nmetadata: {name: a}\n",
    }
    bundle = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "unpacked", "namespace": "olm"}, "data": data}
    cluster = crd_cluster(bundle)
    cluster.store(others)
    cluster.rejected["PATCH", "customresourcedefinitions"] = ApiError(422, "Invalid", "not so")
    steps = [{"resource": {"kind": CRD, "name": f"{name}.{GROUP}", "manifest": json.dumps(REFERENCE)}} for name in ("things", "others")]
    found = problems(cluster, {"status": {"plan": [{}, *steps]}})
    assert [text.partition(" of the bundle")[0] for text in found] == [f"{CRD} things.{GROUP}", f"{CRD} others.{GROUP}"]
    assert problems(cluster, {"status": {}}) == []


@pytest.mark.parametrize(
    "broken",
    [{"spec": None}, {"spec": {"versions": None}}, {"spec": {"versions": [1]}}, {"spec": {"versions": [{}]}}],
)
def test_an_incomplete_crd_is_left_to_the_server(broken):
    assert problems(crd_cluster(), inline({**definition(), **broken})) == []


@pytest.mark.parametrize("reference", [{**REFERENCE, "kind": "Secret"}, {**REFERENCE, "catalogSourceName": ""}])
def test_another_object_in_a_step_is_no_reference_to_a_bundle(reference):
    given = {"apiVersion": "v1", "metadata": {"name": "x"}, **reference}
    cluster = crd_cluster()
    cluster.rejected["GET", "configmaps"] = ApiError(500, "Broken", "it was read")
    assert problems(cluster, plan(json.dumps(given))) == []


def test_a_missing_bundle_has_no_crds_and_a_forbidden_one_is_an_error():
    cluster = crd_cluster()
    assert problems(cluster, plan(json.dumps(REFERENCE))) == []
    cluster.rejected["GET", "configmaps"] = ApiError(403, "Forbidden", "no")
    with pytest.raises(ClusterError, match=r"^ConfigMap olm/unpacked: could not read it: no"):
        problems(cluster, plan(json.dumps(REFERENCE)))


def test_a_bundle_that_is_not_compressed_is_read():
    encoded = base64.b64encode(json.dumps(definition()).encode()).decode()
    bundle = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "unpacked", "namespace": "olm"}, "binaryData": {"a": encoded}}
    cluster = crd_cluster(bundle, thing(GROUP, "n", spec={"size": -1}))
    assert problems(cluster, plan(json.dumps(REFERENCE))) == [INVALID.format("Thing n/one: spec.size is -1; the minimum is 0")]
