# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finding and reading the objects of a set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.api_errors import refusal
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object, Resource

CRD = "CustomResourceDefinition"

_READERS = 4


def learn_definitions(client: Client, objects: Iterable[Object]) -> set[tuple[str, str]]:
    """Teach the client the kinds that CustomResourceDefinitions among ``objects`` define; return them as (group, kind)."""
    kinds = set()
    for obj in objects:
        for resource in _defined(obj):
            client.learn(resource)
        kinds.update(defined_kinds(obj))
    return kinds


def defined_kinds(obj: Object) -> set[tuple[str, str]]:
    """The kinds that an object defines, as (group, kind): one for a CustomResourceDefinition, none for anything else."""
    return {(resource.api_version.partition("/")[0], resource.kind) for resource in _defined(obj)}


def _defined(obj: Object) -> list[Resource]:
    if obj["kind"] != CRD:
        return []
    try:
        spec = obj["spec"]
        names, namespaced = spec["names"], spec["scope"] == "Namespaced"
        return [Resource(f"{spec['group']}/{version['name']}", names["kind"], names["plural"], namespaced) for version in spec["versions"]]
    except (KeyError, TypeError):
        # The server will say what is wrong with it.
        return []


def locate(client: Client, identity: Identity) -> Resource | None:
    """The `Resource` of an object, or None when the server does not serve its kind. Raises `InputError` for a wrong scope."""
    try:
        resource = client.resource(identity.api_version, identity.kind)
    except ApiError as error:
        if error.status == 404:
            return None
        raise refusal(error, identity, "find the kind of") from None
    if resource.namespaced and not identity.namespace:
        raise InputError(f"{identity}: metadata.namespace is missing; {identity.kind} objects live in a namespace.")
    if identity.namespace and not resource.namespaced:
        raise InputError(
            f"{identity}: metadata.namespace is {identity.namespace}, but {identity.kind} objects are cluster-scoped; remove it."
        )
    return resource


def read(client: Client, resources: Mapping[Identity, Resource | None]) -> dict[Identity, Object | None]:
    """The live objects of ``resources`` (a dict of identity to `Resource`), by identity; None for what does not exist."""

    def get(item: tuple[Identity, Resource | None]) -> Object | None:
        identity, resource = item
        if resource is None:
            return None
        try:
            return client.get(resource, identity.name, identity.namespace)
        except ApiError as error:
            raise refusal(error, identity, "read") from None

    if len(resources) < 2:
        found = [get(item) for item in resources.items()]
    else:
        with ThreadPoolExecutor(max_workers=min(_READERS, len(resources))) as readers:
            found = list(readers.map(get, resources.items()))
    return dict(zip(resources, found))
