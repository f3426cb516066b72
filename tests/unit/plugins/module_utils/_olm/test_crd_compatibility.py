# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The definitions that an InstallPlan names: inline, or in the ConfigMap of an unpacked bundle, whose content anyone may have written."""

from __future__ import annotations

import base64
import gzip
import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._olm.crd_compatibility import problems
from support.api_server import ApiServer, connect, status
from support.objects import things

GROUP = "example.com"
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
def test_a_definition_that_the_server_rejects_is_named(where):
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


def test_a_definition_that_is_new_fits():
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
