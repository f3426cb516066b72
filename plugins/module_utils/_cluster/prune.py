# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a set may delete, and what it has to leave to others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import apply_result, live_objects, namespace_contents
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.delete import Doomed
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity, Key
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object

# With one of these, what others keep in it or of it would go.
HOLDERS = ("Namespace", live_objects.CRD)


class Deleted:
    """Objects that an earlier task deletes: what counts as not there in check mode. ``identities`` are those that were found all the same.

    ``entries`` are dicts with apiVersion, kind, namespace, name, uid and action, as modules return them in ``objects``.
    """

    def __init__(self, entries: Iterable[Mapping[str, Any]]) -> None:
        gone = [one for one in entries if one.get("action") in (None, apply_result.DELETED)]
        self._keys = {Identity(one["apiVersion"], one["kind"], one.get("namespace"), one["name"]).key for one in gone}
        self._namespaces = {name for group, kind, namespace, name in self._keys if (group, kind) == ("", "Namespace")}
        self._uids = {one["uid"] for one in gone if one.get("uid")}
        self.identities: set[Identity] = set()

    def without(self, found: dict[Identity, Object | None]) -> dict[Identity, Object | None]:
        """``found`` (objects by identity) with None for what is deleted, by itself, with its owner or with its namespace."""
        gone = {identity for identity, live in found.items() if live and self._takes(identity, live)}
        self.identities |= gone
        return {identity: None if identity in gone else live for identity, live in found.items()}

    def _takes(self, identity: Identity, live: Object) -> bool:
        owners = {one["uid"] for one in live["metadata"].get("ownerReferences") or []}
        return identity.key in self._keys or identity.namespace in self._namespaces or not self._uids.isdisjoint(owners)


def must_stay(client: Client, doomed: list[Doomed], set_name: str | None, warn: Callable[[str], None]) -> list[Doomed]:
    """Those that must stay, because objects of others would be deleted with them; ``warn`` is called with the reason."""
    used = [one.identity for one in in_use(client, doomed)]
    staying = []
    for one in doomed:
        if one.identity.kind == "Namespace":
            why = "what else lives in it would be deleted too"
        elif one.identity in used:
            why = "objects of its kind exist and would be deleted too"
        else:
            continue
        warn(f"{one.identity} is no longer in set {set_name} but is not pruned: {why}. Delete it by hand.")
        staying.append(one)
    return staying


def without_nonempty(client: Client, doomed: list[Doomed], going: Collection[Key], warn: Callable[[str], None]) -> list[Doomed]:
    """``doomed`` without the namespaces that contain an object that is neither doomed nor among the keys ``going``; ``warn`` is called for each."""
    going = {one.identity.key for one in doomed}.union(going)
    left = []
    for one in doomed:
        namespace = one.live and one.identity.key[:2] == ("", "Namespace")
        staying = namespace_contents.list_contents(client, one.identity.name, going) if namespace else []
        if staying:
            warn(f"{one.identity} is not deleted: it still contains {namespace_contents.described(staying)}.")
        else:
            left.append(one)
    return left


def in_use(client: Client, doomed: list[Doomed]) -> list[Doomed]:
    """The definitions among ``doomed`` of which objects exist that are not doomed themselves."""
    going = {one.identity.key for one in doomed}
    definitions = [one for one in doomed if one.identity.kind == live_objects.CRD and one.live]
    return [one for one in definitions if any(Identity.of(obj).key not in going for obj in instances(client, one.present))]


def instances(client: Client, definition: Object) -> list[Object]:
    """All objects of the kind that a CustomResourceDefinition defines."""
    live_objects.learn_definitions(client, [definition])
    spec = definition["spec"]
    version = next((one["name"] for one in spec["versions"] if one["served"]), None)
    if version is None:
        return []
    try:
        return client.list(client.resource(f"{spec['group']}/{version}", spec["names"]["kind"]))
    except ApiError as error:
        if error.status == 404:  # it is not served: there are none
            return []
        raise
