# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Deleting objects in the opposite order of their application, and waiting until they are really gone."""

from __future__ import annotations

from typing import NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import apply_order, apply_result
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.api_errors import refusal
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_result import Report
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.readiness import ROLLOUTS
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object, Resource
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.wait import Deadline, until_gone


class Doomed(NamedTuple):
    """An object to delete; ``live`` is None when it does not exist."""

    identity: Identity
    resource: Resource | None
    live: Object | None

    @property
    def present(self) -> Object:
        """The live object of one that exists."""
        if self.live is None:
            raise AssertionError("live")
        return self.live

    @property
    def served(self) -> Resource:
        """Where its kind is served, of one that exists."""
        if self.resource is None:
            raise AssertionError("resource")
        return self.resource


def delete(client: Client, doomed: list[Doomed], report: Report, deadline: Deadline, check: bool = False) -> None:
    """Delete each of ``doomed``, phase by phase: what others need for their own clean-up goes last.

    Each phase waits until the previous one is deleted. Check mode sends the deletions as dry runs.
    """
    by_identity = {one.identity: one for one in doomed}
    for phase in reversed(apply_order.phases(by_identity)):
        waiting = []
        for identity in reversed(phase):
            one = by_identity[identity]
            if one.live is None:
                report.add(identity, apply_result.ABSENT)
                continue
            answer: Object | None = one.live
            # Where someone has deleted it before, a second request would change nothing: then it counts once it does not exist any more.
            if check or "deletionTimestamp" not in one.live["metadata"]:
                answer = _delete(client, one, check)
                report.add(identity, apply_result.DELETED, before=one.live)
            # The server answers with a Status if it deleted the object at once, else with the object.
            if not check and answer is not None and answer.get("kind") != "Status":
                waiting.append((identity, one.served, one.live["metadata"]["uid"]))
        until_gone(client, waiting, deadline, lambda gone: report.add(gone, apply_result.DELETED, before=by_identity[gone].live))


def _delete(client: Client, one: Doomed, check: bool) -> Object | None:
    identity = one.identity
    try:
        return client.delete(
            one.served,
            identity.name,
            identity.namespace,
            uid=one.present["metadata"]["uid"],
            # A workload is deleted when its pods are: later phases may delete objects that the pods use.
            propagation="Foreground" if identity.kind in ROLLOUTS else "Background",
            dry_run=check,
        )
    except ApiError as error:
        raise refusal(error, identity, "delete") from None
