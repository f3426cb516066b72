# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Contents of a namespace, without the objects that every namespace has and those that are deleted with their owner."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity, Key
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object, Resource, group_version_path

_READERS = 4
_MAX_TOLD = 10

# Answers of programs instead of objects, or a second view of what is found anyway
_VIEWS = ("metrics.k8s.io", "packages.operators.coreos.com", "events.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io")
# They tell of others and hold nothing of their own.
_IDLE_KINDS = ("Endpoints", "EndpointSlice", "Event", "Lease", "OperatorCondition")
# Every namespace has them, those of OpenShift included.
_GIVEN = {
    ("ConfigMap", "kube-root-ca.crt"),
    ("ConfigMap", "openshift-service-ca.crt"),
    ("RoleBinding", "system:deployers"),
    ("RoleBinding", "system:image-builders"),
    ("RoleBinding", "system:image-pullers"),
    ("ServiceAccount", "builder"),
    ("ServiceAccount", "default"),
    ("ServiceAccount", "deployer"),
}
_ACCOUNT = "kubernetes.io/service-account.name"
# What OLM made for itself or for an operator, and the copies of CSVs
_OLM_LABELS = ("olm.managed", "olm.owner", "operatorframework.io/bundle-unpack-ref")
_COPY_LABEL = "olm.copiedFrom"
_OLM = "operators.coreos.com"


def list_contents(client: Client, namespace: str, gone: Collection[Key]) -> list[Identity]:
    """Identities of what is in the namespace, without those whose keys are in ``gone``. Asks for every kind that is served."""
    kinds = list(_kinds(client))
    outside = {(one.api_version.rpartition("/")[0], one.kind) for one in kinds if not one.namespaced}
    resources = [one for one in kinds if one.namespaced and one.kind not in _IDLE_KINDS]

    def listed(resource: Resource) -> list[Object]:
        try:
            return client.list(resource, namespace)
        except ApiError as error:
            if error.status in (404, 405):
                return []
            raise

    with ThreadPoolExecutor(max_workers=_READERS) as readers:
        found = {Identity.of(obj).key: obj for some in readers.map(listed, resources) for obj in some}
    return sorted(
        (Identity.of(obj) for key, obj in found.items() if key not in gone and not _is_given(obj, outside, gone)),
        key=lambda one: (one.kind, one.name),
    )


def described(identities: Sequence[Identity]) -> str:
    shown = ", ".join(f"{one.kind} {one.name}" for one in identities[:_MAX_TOLD])
    return shown + (f" and {len(identities) - _MAX_TOLD} more" if len(identities) > _MAX_TOLD else "")


def _kinds(client: Client) -> Iterator[Resource]:
    """The kinds that can be listed and deleted, each in one version: the preferred one of its group, if it is served in that."""
    versions, seen = ["v1"], set()
    for group in client.request("GET", "/apis")["groups"]:
        versions += [group["preferredVersion"]["groupVersion"], *(one["groupVersion"] for one in group.get("versions") or [])]
    for version in dict.fromkeys(versions):
        group = version.rpartition("/")[0]
        if group in _VIEWS:
            continue
        for entry in _served(client, version):
            usable = "/" not in entry["name"] and {"list", "delete"} <= set(entry["verbs"])
            if usable and (group, entry["kind"]) not in seen:
                seen.add((group, entry["kind"]))
                yield Resource(version, entry["kind"], entry["name"], entry["namespaced"])


def _served(client: Client, version: str) -> list[Object]:
    try:
        served: list[Object] = client.request("GET", group_version_path(version))["resources"]
    except ApiError as error:
        if error.status != 404:
            raise
        return []  # Its definitions were deleted a moment ago.
    return served


def _is_given(obj: Object, outside: Collection[tuple[str, str]] = (), gone: Collection[Key] = ()) -> bool:
    """Is it in every namespace, or does it go by itself? ``outside`` are the kinds (group, kind) that are in no namespace."""
    metadata = obj["metadata"]
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    return (
        (obj["kind"], metadata["name"]) in _GIVEN
        or (obj["kind"] == "Secret" and ("ServiceAccount", annotations.get(_ACCOUNT)) in _GIVEN)
        or _goes_with_its_owner(metadata.get("ownerReferences") or [], outside, gone)
        or bool(metadata.get("deletionTimestamp"))
        or _COPY_LABEL in labels
        # Operators carry such labels too, and count.
        or (obj["apiVersion"].partition("/")[0] != _OLM and any(label in labels for label in _OLM_LABELS))
    )


def _goes_with_its_owner(owners: list[Object], outside: Collection[tuple[str, str]], gone: Collection[Key]) -> bool:
    """An owner in the namespace is also listed, or was deleted. A cluster-scoped owner stays with all objects that it owns, unless it was deleted."""
    keys = [Identity(one["apiVersion"], one["kind"], None, one["name"]).key for one in owners]
    return bool(keys) and all(key[:2] not in outside or key in gone for key in keys)
