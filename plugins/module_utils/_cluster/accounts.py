# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ServiceAccount of a Deployment's pods. Their tokens are bound to its uid: the API server rejects them when another one has the same name."""

from __future__ import annotations

from typing import NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import find
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.pod_templates import annotated, pod_annotations
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object

SERVICE_ACCOUNT = "osso.scheduler/service-account"
"""Label of the Deployment: the uid of the pods' ServiceAccount. Annotation of the pods: the same, if they were replaced because another account
had got the name."""

UNRECORDED = "none"
# In place of a uid that only the creation of the account determines
PENDING = "known-after-creation"


class Account(NamedTuple):
    """uid: the Deployment records it; `UNRECORDED` if the account did not exist although there were pods; "" without a Deployment. replaced: on the
    pods, the uid of the account that they were replaced for; "" if they never were. is_cut_off: does this run replace them?
    """

    uid: str = ""
    replaced: str = ""
    is_cut_off: bool = False


def account(deployment: Object, live: Object | None) -> Account:
    """The `Account` for a live Deployment, whose ServiceAccount is ``live``."""
    replaced = pod_annotations(deployment).get(SERVICE_ACCOUNT) or ""
    recorded = (deployment["metadata"].get("labels") or {}).get(SERVICE_ACCOUNT) or replaced
    if live is None:
        return Account(recorded or UNRECORDED, replaced)
    uid, ended = live["metadata"]["uid"], find(deployment, "Progressing").get("lastUpdateTime")
    # Without a record, of another release, only the times can tell; they are whole seconds.
    is_cut_off = recorded != uid if recorded else ended is not None and live["metadata"]["creationTimestamp"] > ended
    return Account(uid, uid if is_cut_off else replaced, is_cut_off)


def with_account(wanted: Object, account: Account) -> Object:
    """The manifest of a Deployment with the records of its account."""
    if not account.uid:
        return wanted
    metadata = wanted["metadata"]
    labelled = dict(wanted, metadata=dict(metadata, labels=dict(metadata.get("labels") or {}, **{SERVICE_ACCOUNT: account.uid})))
    return annotated(labelled, SERVICE_ACCOUNT, account.replaced) if account.replaced else labelled
