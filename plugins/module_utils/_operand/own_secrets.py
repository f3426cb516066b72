# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Secrets that the operator made for a SecondaryScheduler: only their configurations, records of rollouts and tokens are used.

Anyone who may create Secrets can give one the labels, the owner and the annotations of the operator's. Inventory and Deployment prove who made it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import mounted_secrets
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.object_comparison import owned_fields
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._operand import prometheus_access, resource_names, rollout


def own(secrets: Iterable[Object], resource: Object, deployment: Object | None, inventory: Callable[[], Collection[str]]) -> list[Object]:
    """Those of ``secrets``, which have the labels of the resource and its set, that the operator made, with the content that it gave them.

    ``deployment``: the live one or None; it records Secrets with their uids. ``inventory``: reads the names of the Secrets in the inventory; it is
    called only for Secrets that the Deployment does not record.
    """
    names, uid = resource_names.names_of(resource), resource["metadata"]["uid"]
    intact = [secret for secret in secrets if prometheus_access.is_intact(secret, names)]
    mounted = mounted_secrets.recorded(deployment) if deployment else {}
    # A new inventory also names what others gave the labels before the resource, and so its uid, existed.
    owned = [secret for secret in intact if secret["metadata"]["name"] not in mounted and _is_owned(secret, uid)]
    members = inventory() if owned else ()
    found = [secret for secret in intact if mounted.get(secret["metadata"]["name"]) == secret["metadata"]["uid"]]
    found += [secret for secret in owned if secret["metadata"]["name"] in members]
    return [_without_record_of_others(secret) for secret in found]


def _is_owned(secret: Object, uid: str) -> bool:
    return any(reference["uid"] == uid for reference in secret["metadata"].get("ownerReferences") or ())


def _without_record_of_others(secret: Object) -> Object:
    """The Secret without a record of rollouts that the operator did not write, which others gave a Secret before the operator applied its own."""
    annotations = resource_names.annotations_of(secret)
    applied = owned_fields(secret, resource_names.FIELD_MANAGER).get("f:metadata", {}).get("f:annotations", {})
    if all(f"f:{key}" in applied for key in rollout.RECORD if key in annotations):
        return secret
    others = {key: value for key, value in annotations.items() if key not in rollout.RECORD}
    return dict(secret, metadata=dict(secret["metadata"], annotations=others))
