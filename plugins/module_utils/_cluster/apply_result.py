# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a run did, in the shape that the module returns."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import diff
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.additions import Addition, Replacement
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object

CREATED, ADOPTED, UPDATED, UNCHANGED = "created", "adopted", "updated", "unchanged"
DELETED, RELEASED, ABSENT = "deleted", "released", "absent"
CHANGES = (CREATED, ADOPTED, UPDATED, DELETED, RELEASED)
ACTIONS = (*CHANGES, UNCHANGED, ABSENT)


class Report:
    """Collects one entry per object, in the order of processing."""

    def __init__(self, client: Client, check: bool, with_diff: bool, return_kinds: Collection[str] = ()) -> None:
        self._client = client
        self._check = check
        self._with_diff = with_diff
        self._return_kinds = return_kinds
        self._entries: dict[Identity, dict[str, str | None]] = {}
        self._diffs: list[dict[str, str]] = []
        self._unvalidated: list[dict[str, str | None]] = []
        self._resources: dict[Identity, Object] = {}
        self._additions: list[dict[str, str | None]] = []
        # Objects of which fields that others had set were put back, with these fields and their managers
        self.put_back: list[str] = []
        # Manifests of what left the set, where they were asked for
        self.removed: list[Object] | None = None

    def add(
        self, identity: Identity, action: str, before: Object | None = None, after: Object | None = None, with_status: bool = False
    ) -> None:
        """Record ``action`` on an object, with the object ``before`` and ``after`` it (None when it did or does not exist).
        The diff leaves the status out unless ``with_status``.

        Of an object that comes twice, as the inventory may, the first change counts.
        """
        if self._entries.get(identity, {}).get("action", UNCHANGED) != UNCHANGED:
            return
        self._entries[identity] = dict(identity.as_dict(), action=action)
        uid = (before or after or {}).get("metadata", {}).get("uid")
        if uid and not (self._check and action == CREATED):
            self._entries[identity]["uid"] = uid
        self.see(identity, after)
        if self._with_diff and action in CHANGES:
            old, new = diff.difference(before, after, with_status)
            self._diffs.append(diff.as_diff(str(identity), old, new))

    def undo(self, identity: Identity) -> None:
        """Forget what was recorded of an object, since it is again as it was before."""
        self._entries.pop(identity, None)
        self._diffs = [one for one in self._diffs if one["before_header"] != str(identity)]

    def see(self, identity: Identity, live: Object | None) -> None:
        """Remember the newest state of an object whose kind was asked for."""
        if live and identity.kind in self._return_kinds:
            metadata = {key: value for key, value in live["metadata"].items() if key != "managedFields"}
            self._resources[identity] = diff.shown(dict(live, metadata=metadata))

    def add_additions(self, identity: Identity, additions: Iterable[Addition]) -> None:
        """What others added to an object, and what is left there."""
        self._additions += [dict(identity.as_dict(), field=one.field, manager=one.manager) for one in additions]

    def add_replacements(self, identity: Identity, replacements: Iterable[Replacement]) -> None:
        """What admission replaced in an object."""
        self._additions += [
            dict(identity.as_dict(), field=one.field, manager="", declared=one.declared, live=one.live) for one in replacements
        ]

    def not_validated(self, identity: Identity, why: str) -> None:
        """Record that check mode could not ask the server about an object."""
        self._unvalidated.append(dict(identity.as_dict(), reason=why))

    def result(self) -> dict[str, Any]:
        objects = list(self._entries.values())
        counts = {action: sum(1 for entry in objects if entry["action"] == action) for action in ACTIONS}
        result = {
            "changed": any(counts[action] for action in CHANGES),
            "objects": objects,
            "counts": counts,
            "requests": dict(self._client.requests),
            "resources": list(self._resources.values()),
            "additions": self._additions,
            "unvalidated": self._unvalidated,
        }
        if self.removed is not None:
            result["removed"] = self.removed
        if self._with_diff:
            result["diff"] = self._diffs
        return result
