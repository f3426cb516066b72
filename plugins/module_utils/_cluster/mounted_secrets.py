# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which Secrets the pods of a Deployment were started with: whoever replaces one may have had a pod read another content under its name."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import find
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.pod_templates import annotated, mounted, pod_annotations
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object

SECRETS = "osso.scheduler/secrets"
"""Annotation of the Deployment: ``NAME=UID`` of each Secret of the set that its pods mount, separated by commas. Annotation of the pods: the same,
if they were replaced because a Secret was."""


def with_secrets(wanted: Object, live: Object | None, secrets: Mapping[str, Object]) -> Object:
    """The manifest of a Deployment with the record of its Secrets, ``secrets`` by name; the pods of ``live`` are replaced if a Secret was."""
    if not secrets:
        return wanted
    record = ",".join(f"{name}={secret['metadata']['uid']}" for name, secret in sorted(secrets.items()))
    metadata = wanted["metadata"]
    wanted = dict(wanted, metadata=dict(metadata, annotations=dict(metadata.get("annotations") or {}, **{SECRETS: record})))
    if live is None or not set(secrets) <= set(mounted(live, "Secret")):
        return wanted  # a rollout of another configuration
    is_replaced = any(_is_replaced(live, name, secret["metadata"]) for name, secret in secrets.items())
    replaced = record if is_replaced else pod_annotations(live).get(SECRETS) or ""
    return annotated(wanted, SECRETS, replaced) if replaced else wanted


def recorded(workload: Object) -> dict[str, str]:
    """The uids of the Secrets that a workload records, by name."""
    record: str = (workload["metadata"].get("annotations") or {}).get(SECRETS) or ""
    return dict(entry.partition("=")[::2] for entry in record.split(","))


def _is_replaced(workload: Object, name: str, secret: Object) -> bool:
    """Is this, the metadata of a Secret, not the one with which the pods were started?"""
    uids = recorded(workload)
    ended = find(workload, "Progressing").get("lastUpdateTime")
    # Without a record, of another release or removed by a user, only the times can tell; they are whole seconds.
    return uids[name] != secret["uid"] if name in uids else ended is not None and secret["creationTimestamp"] > ended
