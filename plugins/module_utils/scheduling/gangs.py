# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Gangs of kubernetes-sigs/scheduler-plugins, written as gangs of Kubernetes 1.37 (k8s.io/api/scheduling/v1beta1 v0.37.2). Pure: no requests."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

OLD_API, OLD_LABEL = "scheduling.x-k8s.io/v1alpha1", "scheduling.x-k8s.io/pod-group"
API = "scheduling.k8s.io/v1beta1"

_WITHOUT_SUCCESSOR = ("minResources", "scheduleTimeoutSeconds")
"""Fields of the old PodGroup for which the new one has none."""


class CannotConvert(ValueError):
    """A manifest cannot be converted; the message names it, field, value and remedy."""


def convert(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest with a PodGroup of Kubernetes in place of one of scheduler-plugins, or with pods that name their group in a field.

    Other manifests are returned unchanged, as a copy. ``minResources`` and ``scheduleTimeoutSeconds`` have no successor and are dropped: Kubernetes
    places a gang in one attempt, and no pod waits for another one while it holds resources. Raises CannotConvert.
    """
    made = copy.deepcopy(dict(manifest))
    if made.get("kind") == "PodGroup" and made.get("apiVersion") == OLD_API:
        return _group(made)
    for pod in _pods(made):
        name = ((pod.get("metadata") or {}).get("labels") or {}).get(OLD_LABEL)
        if name is None:
            continue
        spec = pod.setdefault("spec", {})
        present = (spec.get("schedulingGroup") or {}).get("podGroupName")
        if present not in (None, name):
            raise CannotConvert(
                f"{_name(made)}: the label {OLD_LABEL} names {name} and spec.schedulingGroup.podGroupName {present}: remove one"
            )
        del pod["metadata"]["labels"][OLD_LABEL]
        spec["schedulingGroup"] = {"podGroupName": name}
    return made


def _group(manifest: dict[str, Any]) -> dict[str, Any]:
    spec = {key: value for key, value in (manifest.get("spec") or {}).items() if key not in _WITHOUT_SUCCESSOR}
    count = spec.pop("minMember", None)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise CannotConvert(f"{_name(manifest)}: spec.minMember is {count!r}: give the number of pods that have to run together, 1 or more")
    manifest.pop("status", None)
    return {**manifest, "apiVersion": API, "spec": {**spec, "schedulingPolicy": {"gang": {"minCount": count}}}}


def _pods(manifest: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The pod that the manifest is, or the template of pods in it."""
    if manifest.get("kind") == "Pod":
        yield manifest
    spec = manifest.get("spec") or {}
    job = (spec.get("jobTemplate") or {}).get("spec") or {}
    yield from (template for template in (spec.get("template"), job.get("template")) if isinstance(template, dict))


def _name(manifest: Mapping[str, Any]) -> str:
    return f"{manifest.get('kind')} {(manifest.get('metadata') or {}).get('name', 'without a name')}"
