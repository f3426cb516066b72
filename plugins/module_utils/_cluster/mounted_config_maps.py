# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods that may have read a ConfigMap as others edited it: restoring its content does not change what a running program has read."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.pod_templates import annotated, pod_annotations
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object

RESTORED = "osso.scheduler/restored"
"""Annotation of pods that were replaced because a ConfigMap was restored: the resourceVersion that the ConfigMap had before."""


def is_edited(wanted: Object, live: Object) -> bool:
    """Does a live ConfigMap have another content under a key of the manifest ``wanted``? Without the key, a scheduler has read nothing."""
    present = {*(live.get("data") or {}), *(live.get("binaryData") or {})}
    return any(
        key in present and (live.get(field) or {}).get(key) != value
        for field in ("data", "binaryData")
        for key, value in (wanted.get(field) or {}).items()
    )


def is_rolled_out(wanted: Object, live: Object) -> bool:
    """Do the pods of a live workload have the annotations of the manifest ``wanted``? Others, such as the hash of new content, are a rollout."""
    return pod_annotations(wanted).items() <= pod_annotations(live).items()


def with_restored(wanted: Object, live: Object, version: str) -> Object:
    """The manifest of a workload whose pods are replaced for ``version``, or stay with the one that they were replaced for if it is empty."""
    version = version or pod_annotations(wanted).get(RESTORED) or pod_annotations(live).get(RESTORED) or ""
    if not version:
        return wanted
    return annotated(wanted, RESTORED, version)
