# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an apply would do, asked from the server by a dry run where it can be asked: for check mode, and before the first write."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import live_objects
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.api_errors import is_escalation, refusal
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.ownership import with_content_of
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object, Resource


class Forecast:
    """Records, during one run, the objects that would have been created and the missing ones.

    ``own_kinds`` are the kinds that the set itself defines, as pairs of group and kind; ``created`` the objects of earlier tasks of the play, as
    they report them. ``warn`` is called with texts; without it a
    namespace or kind that neither exists nor is part of the set is an error instead, as it is for a write.
    """

    def __init__(
        self, own_kinds: Collection[tuple[str, str]], warn: Callable[[str], None] | None = None, created: Iterable[Mapping[str, Any]] = ()
    ) -> None:
        self._own_kinds = own_kinds
        self._earlier = {(one["kind"], one["name"]) for one in created if one.get("action") == "created"}
        self._warn = warn
        self._created: list[Identity] = []
        self._asked: list[Identity] = []
        self._missing: set[str] = set()
        self._redefined: set[tuple[str, str]] = set()

    def ask(
        self,
        identity: Identity,
        wanted: Object,
        live: Object | None,
        resource: Resource | None,
        dry_run: Callable[[], Object],
        taken: bool = False,
    ) -> tuple[Object | None, Object, str | None]:
        """``(before, after, obstacle)`` of applying ``wanted``, where ``dry_run()`` sends the request.

        ``taken``: a real run removes fields of others before it applies the object. ``obstacle``: why the server could not validate it; the object
        then has the content of the manifest, and counts as created unless it is a binding of which only the role is in the way.
        """
        self._asked.append(identity)
        if live:
            self._redefined.update(live_objects.defined_kinds(wanted))
        obstacle = self._obstacle(identity, live, resource)
        if obstacle is None:
            try:
                after = dry_run()
            except ApiError as error:
                unbound = self._unbound(wanted, error)
                if live and unbound:
                    return live, with_content_of(live, wanted), unbound
                obstacle = self._lacking(identity, error)
                if taken and error.status == 422:
                    obstacle = "it is invalid together with fields that are removed first, those of takeover_field_managers"
                if obstacle is None:
                    raise refusal(error, identity, "apply", wanted) from None
        if obstacle is not None:
            live, after = None, wanted
        if live is None:
            self._created.append(identity)
        return live, after, obstacle

    def _obstacle(self, identity: Identity, live: Object | None, resource: Resource | None) -> str | None:
        if live and live["metadata"].get("deletionTimestamp"):
            return "it is being deleted"
        if resource is None:
            return self._unknown_kind(identity)
        if identity.namespace and Identity("v1", "Namespace", None, identity.namespace) in self._created:
            return "its namespace is created by this set"
        if f"namespace {identity.namespace}" in self._missing:
            return self._lacks_namespace(identity)
        return None

    def _lacking(self, identity: Identity, error: ApiError) -> str | None:
        """What a dry run lacked that a real run may have by then; None for any other refusal."""
        if (identity.group, identity.kind) in self._redefined and error.status in (400, 404, 422, 500):
            return "the definition of its kind is changed by this set"
        if error.status == 400 and "does not support dry run" in error.message:
            return "an admission webhook does not support dry runs"
        if error.status != 404:
            return None
        if error.reason == "NotServed":
            return self._unknown_kind(identity)
        if error.details.get("kind") == "namespaces":
            return self._lacks_namespace(identity)
        for other in self._created:
            # Only the name identifies it: for a binding the server reports "rolebindings NAME-OF-THE-ROLE not found".
            if other.name == error.details.get("name"):
                return f"it refers to {other}, which is created by this set"
        return None

    def _unbound(self, wanted: Object, error: ApiError) -> str | None:
        """Is a binding judged by what its role still contains, before this set changes that?"""
        if not is_escalation(error):
            return None
        role = wanted.get("roleRef") or {}
        found = next((one for one in self._asked if (one.kind, one.name) == (role.get("kind"), role.get("name"))), None)
        return f"it refers to {found}, which is changed by this set" if found else None

    def _unknown_kind(self, identity: Identity) -> str | None:
        if (identity.group, identity.kind) in self._own_kinds:
            return "its kind is defined by this set"
        if any(kind == "CustomResourceDefinition" and name.partition(".")[2] == identity.group for kind, name in self._earlier):
            return "its kind is created earlier in the play"
        return self._lacks(f"kind {identity.api_version} {identity.kind}")

    def _lacks_namespace(self, identity: Identity) -> str | None:
        if ("Namespace", identity.namespace) in self._earlier:
            return "its namespace is created earlier in the play"
        return self._lacks(f"namespace {identity.namespace}")

    def _lacks(self, what: str) -> str | None:
        if self._warn is None:
            return None
        if what not in self._missing:
            self._missing.add(what)
            self._warn(
                f"Check mode: {what} does not exist and is not part of the manifests. What needs it is predicted as created without "
                "having been validated; a real run fails unless something creates it first."
            )
        return f"{what} does not exist"
