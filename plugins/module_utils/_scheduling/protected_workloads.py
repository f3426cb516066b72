# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether the schedulerName of a workload may be changed. Pure.

What keeps a cluster alive stays with the cluster's own scheduler: a second one that stops would take it along.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.placements import MIRROR_ANNOTATION

PROTECTED_PREFIXES = ("openshift-", "kube-")
"""How namespaces of the cluster itself begin; ``openshift`` is one, too."""

TEMPLATES = {
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
    "DaemonSet": ("spec", "template", "spec"),
    "Deployment": ("spec", "template", "spec"),
    "StatefulSet": ("spec", "template", "spec"),
}
"""Kinds of which it can be changed -> where their pods are described."""

_CONTROLLED = "it belongs to {kind} {name}, which would set it back: change it there"
_IMMUTABLE = {
    "Job": "the pods of a Job cannot be changed after its creation: delete the Job and create it again with the schedulerName",
    "Pod": "the schedulerName of a pod cannot be changed after its creation: change the owner of the pod, or create it again",
}


def is_protected(namespace: str) -> bool:
    """Whether a namespace is the cluster's own."""
    return namespace == "openshift" or namespace.startswith(PROTECTED_PREFIXES)


def refusal(kind: str, namespace: str, live: Mapping[str, Any] | None = None) -> str:
    """Why the schedulerName must not or can't be changed, empty if it may. ``live``: the object where it is known."""
    metadata = (live or {}).get("metadata") or {}
    if is_protected(namespace):
        return f"the namespace {namespace} is the cluster's own (openshift-*, kube-*): its pods stay with the default scheduler"
    if kind == "Pod" and MIRROR_ANNOTATION in (metadata.get("annotations") or {}):
        return "it is a static pod, which the kubelet of its node runs without any scheduler"
    controller = next((owner for owner in metadata.get("ownerReferences") or [] if owner.get("controller")), None)
    if controller:
        return _CONTROLLED.format(kind=controller["kind"], name=controller["name"])
    if kind in TEMPLATES:
        return ""
    return _IMMUTABLE.get(kind) or f"it is of the kind {kind}, and what can be changed is {', '.join(sorted(TEMPLATES))}"
