# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Deleting objects in the opposite order of their application, and waiting until they are really gone."""

from __future__ import annotations

from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils.cluster import order
from ansible_collections.osso.scheduler.plugins.module_utils.cluster import report as action
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.explain import refusal
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.readiness import ROLLOUTS
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.wait import until_gone


class Doomed(NamedTuple):
    """An object to delete; ``live`` is None when it does not exist."""

    identity: Identity
    resource: Any
    live: Any


def delete(client, doomed, report, deadline, check=False):
    """Delete each of ``doomed``, phase by phase: what others need for their own clean-up goes last.

    Each phase waits until the one before it is gone. In check mode the server is asked whether it would.
    """
    by_identity = {one.identity: one for one in doomed}
    for phase in reversed(order.phases(by_identity)):
        waiting = []
        for identity in reversed(phase):
            one = by_identity[identity]
            if one.live is None:
                report.add(identity, action.ABSENT)
                continue
            answer = _delete(client, one, check)
            report.add(identity, action.DELETED, before=one.live)
            # The server answers with a Status when the object is gone at once, and with the object when it is not.
            if not check and answer is not None and answer.get("kind") != "Status":
                waiting.append((identity, one.resource, one.live["metadata"]["uid"]))
        until_gone(client, waiting, deadline)


def _delete(client, one, check):
    identity = one.identity
    try:
        return client.delete(
            one.resource,
            identity.name,
            identity.namespace,
            uid=one.live["metadata"]["uid"],
            # A workload is gone when its pods are: what comes after it may be what they use.
            propagation="Foreground" if identity.kind in ROLLOUTS else "Background",
            dry_run=check,
        )
    except ApiError as error:
        raise refusal(error, identity, "delete") from None
