# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Do the CustomResourceDefinitions of an InstallPlan fit those of the cluster, and the objects that exist?

OLM checks the same when it executes the plan (pkg/controller/operators/catalog/step.go), which is too late for a running operator.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterator
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.api_errors import refusal
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.live_objects import CRD
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity, read
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object, Resource
from ansible_collections.osso.scheduler.plugins.module_utils._olm.crd_schema import violations
from ansible_collections.osso.scheduler.plugins.module_utils._olm.objects import status

_CRD = ("apiextensions.k8s.io/v1", CRD)
# How the Job that unpacks a bundle encodes its files (operator-registry, pkg/configmap)
_ENCODING = "olm.contentEncoding"
# A ConfigMap holds 1 MiB; its files are compressed.
_MAX_FILE_BYTES = 16 * 2**20
_MAX_SHOWN = 5
_GZIP = 16 + zlib.MAX_WBITS


def problems(client: Client, plan: Object) -> list[str]:
    """Why OLM could not execute the InstallPlan: one text for each CustomResourceDefinition that does not fit. Sends reads and dry runs."""
    return [text for definition in _definitions(client, plan) for text in _misfits(client, definition)]


def _misfits(client: Client, definition: Object) -> Iterator[str]:
    resource = client.resource(*_CRD)
    name = definition["metadata"]["name"]
    try:
        live = client.get(resource, name)
        if live is None:
            return
        client.request(
            "PATCH",
            resource.path(None, name),
            query={"dryRun": "All"},
            body=[{"op": "replace", "path": "/spec", "value": definition["spec"]}],
            content_type="application/json-patch+json",
        )
    except ApiError as error:
        if error.status not in (400, 422):
            raise refusal(error, Identity(*_CRD, None, name), "check the update of") from None
        yield (
            f"CustomResourceDefinition {name} of the bundle cannot replace the existing one: {error.message}. Choose a version of the operator "
            "whose definition fits, or delete the existing definition, with all of its objects, first"
        )
        return
    if (definition["spec"].get("conversion") or {}).get("strategy") == "Webhook":
        return  # OLM trusts the webhook, which does not run yet, to convert the objects.
    misfits = list(_invalid_objects(client, live, definition))
    if misfits:
        shown = "; ".join(misfits[:_MAX_SHOWN]) + (f"; and {len(misfits) - _MAX_SHOWN} more" if len(misfits) > _MAX_SHOWN else "")
        yield (
            f"existing objects are not valid by CustomResourceDefinition {name} of the bundle: {shown}. Correct these objects, or choose another "
            "version of the operator"
        )


def _invalid_objects(client: Client, live: Object, definition: Object) -> Iterator[str]:
    """A text for each object that the schema of a version which stays served does not allow."""
    spec = live["spec"]
    served = {one["name"] for one in spec["versions"] if one.get("served")}
    for version in definition["spec"]["versions"]:
        if version["name"] not in served or not version.get("served"):
            continue
        schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
        names = spec["names"]
        resource = Resource(f"{spec['group']}/{version['name']}", names["kind"], names["plural"], spec["scope"] == "Namespaced")
        try:
            found = client.list(resource)
        except ApiError as error:
            raise refusal(error, Identity(resource.api_version, resource.kind, None, "*"), "list") from None
        for obj in found:
            wrong = violations(obj, schema)
            if wrong:
                yield f"{Identity.of(obj)}: {', '.join(wrong[:_MAX_SHOWN])}"


def _definitions(client: Client, plan: Object) -> list[Object]:
    """The CustomResourceDefinitions of a plan: OLM writes them into its steps, or names the ConfigMap with the files of the bundle."""
    found: dict[str, Object] = {}
    bundles: dict[tuple[str, str], list[str]] = {}
    for step in status(plan, "plan", []):
        what = step.get("resource") or {}
        if what.get("kind") != CRD:
            continue
        reference = _reference(what.get("manifest"))
        if reference is None:
            documents = _documents(what.get("manifest"), what.get("name"))
        else:
            if reference not in bundles:
                bundles[reference] = list(_files(client, *reference))
            documents = [one for text in bundles[reference] for one in _documents(text, reference[1])]
        found.update((one["metadata"]["name"], one) for one in documents if one["metadata"]["name"] == what.get("name"))
    return list(found.values())


def _reference(manifest: Any) -> tuple[str, str] | None:
    """``(namespace, name)`` of the ConfigMap that the manifest of a step refers to; None where it is the object itself."""
    try:
        given = json.loads(manifest)
        return (given["namespace"], given["name"]) if given["kind"] == "ConfigMap" and given.get("catalogSourceName") else None
    except (KeyError, TypeError, ValueError):
        return None


def _files(client: Client, namespace: str, name: str) -> Iterator[str]:
    where = Identity("v1", "ConfigMap", namespace, name)
    try:
        live = client.get(client.resource("v1", "ConfigMap"), name, namespace) or {}
    except ApiError as error:
        raise refusal(error, where, "read") from None
    yield from (live.get("data") or {}).values()
    compressed = ((live.get("metadata") or {}).get("annotations") or {}).get(_ENCODING)
    for key, value in (live.get("binaryData") or {}).items():
        try:
            content = base64.b64decode(value)
            if compressed:
                unpacker = zlib.decompressobj(_GZIP)
                content = unpacker.decompress(base64.b64decode(content), _MAX_FILE_BYTES)
                if unpacker.unconsumed_tail:
                    raise InputError(f"{where}: file {key} of the bundle is larger than {_MAX_FILE_BYTES} bytes.")
            yield content.decode()
        except (binascii.Error, UnicodeDecodeError, zlib.error):
            raise InputError(f"{where}: file {key} of the bundle cannot be decoded.") from None


def _documents(text: Any, source: Any) -> list[Object]:
    return [one for one in read(text, f"bundle {source}") if (one["apiVersion"], one["kind"]) == _CRD and _is_complete(one)]


def _is_complete(definition: Object) -> bool:
    versions = (definition.get("spec") or {}).get("versions")
    return isinstance(versions, list) and all(isinstance(one, dict) and "name" in one for one in versions)
