# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Gangs of Kubernetes 1.37 (k8s.io/api/scheduling/v1beta1 v0.37.2): what they lack on a cluster, and their conversion. Pure: no requests.

``convert`` makes them of gangs of kubernetes-sigs/scheduler-plugins.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import ADVICE, WARNING, Effective, Finding, plugins_of
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.lint import GANG_GATE, GANGS
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.needs import GANG, GANG_VERSIONS
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import parse_release

OLD_API, OLD_LABEL = "scheduling.x-k8s.io/v1alpha1", "scheduling.x-k8s.io/pod-group"
API = GANG.api_version
GROUP = API.partition("/")[0]

_WITHOUT_SUCCESSOR = ("minResources", "scheduleTimeoutSeconds")
"""Fields of the old PodGroup for which the new one has none."""


class CannotConvert(ValueError):
    """A manifest cannot be converted; the message names it, field, value and remedy."""


def unserved(effective: Effective, kubernetes: str | None, groups: Mapping[str, Collection[str]]) -> list[Finding]:
    """A warning if the API server does not serve the version of gangs that a kube-scheduler reads.

    kubernetes: its release, None if unknown; groups: the served API groups, each with its versions.

    Seen of 1.37: a scheduler with the feature gate waits until its caches contain the PodGroups, and places no pod before that, of whatever kind.
    """
    minor = parse_release(kubernetes) if kubernetes else 0
    if minor < min(GANG_VERSIONS) or GANGS not in plugins_of(effective):
        return []
    version = GANG_VERSIONS[max(since for since in GANG_VERSIONS if since <= minor)]
    if version in groups.get(GROUP, ()):
        return []
    message = (
        f"the configuration runs {GANGS}, which reads {GROUP}/{version} in Kubernetes {kubernetes}, but the API server does not serve it: "
        f"a scheduler with the feature gate {GANG_GATE} places no pod"
    )
    hint = (
        f"use an image of the cluster's release, and start the API server with --feature-gates={GANG_GATE}=true and "
        f"--runtime-config={GROUP}/{version}=true"
    )
    return [Finding(WARNING, "gang-api", message, hint=hint, stage=ADVICE)]


def convert(manifest: Any) -> dict[str, Any]:
    """The manifest with a PodGroup of Kubernetes in place of one of scheduler-plugins, or with pods that name their group in a field.

    Other manifests are returned unchanged, as a copy. ``minResources`` and ``scheduleTimeoutSeconds`` have no successor and are dropped: Kubernetes
    places a gang in one attempt, and no pod waits for another one while it holds resources. Raises CannotConvert.
    """
    if not isinstance(manifest, Mapping):
        raise CannotConvert(f"{str(manifest)[:80]!r} is no manifest: give a list of mappings with apiVersion and kind")
    made = copy.deepcopy(dict(manifest))
    if made.get("kind") == "PodGroup" and made.get("apiVersion") == OLD_API:
        return _group(made)
    if made.get("kind") == "List" and isinstance(made.get("items"), list):
        return {**made, "items": [convert(item) for item in made["items"]]}
    for pod, is_selected in _pods(made):
        name = _mapping(_mapping(pod.get("metadata")).get("labels")).get(OLD_LABEL)
        if name is None:
            continue
        if not isinstance(name, str) or not name:
            raise CannotConvert(f"{_name(made)}: the label {OLD_LABEL} is {name!r}: give the name of a PodGroup, in quotes")
        present = _mapping(pod["spec"].get("schedulingGroup")).get("podGroupName")
        if present not in (None, name):
            raise CannotConvert(
                f"{_name(made)}: the label {OLD_LABEL} names {name} and spec.schedulingGroup.podGroupName {present}: remove one"
            )
        if not is_selected:
            del pod["metadata"]["labels"][OLD_LABEL]
        pod["spec"]["schedulingGroup"] = {"podGroupName": name}
    return made


def _group(manifest: dict[str, Any]) -> dict[str, Any]:
    spec = {key: value for key, value in _mapping(manifest.get("spec")).items() if key not in _WITHOUT_SUCCESSOR}
    count = spec.pop("minMember", None)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise CannotConvert(f"{_name(manifest)}: spec.minMember is {count!r}: give the number of pods that have to run together, 1 or more")
    manifest.pop("status", None)
    return {**manifest, "apiVersion": API, "spec": {**spec, "schedulingPolicy": {"gang": {"minCount": count}}}}


def _pods(value: Any, is_selected: bool = False) -> Iterator[tuple[dict[str, Any], bool]]:
    """The pod that a manifest is, or the pod templates in it, at any depth: of workloads, and of resources that create workloads.

    Each comes with whether a selector next to it requires the label, so that it cannot be removed.
    """
    if isinstance(value, list):
        for entry in value:
            yield from _pods(entry)
    elif isinstance(value, dict) and isinstance(value.get("spec"), dict) and "containers" in value["spec"]:
        yield value, is_selected
    elif isinstance(value, dict):
        selector = _mapping(value.get("selector"))
        expressions = selector.get("matchExpressions")
        keys = [_mapping(one).get("key") for one in expressions] if isinstance(expressions, list) else []
        is_selected = OLD_LABEL in (*_mapping(selector.get("matchLabels")), *keys)
        for entry in value.values():
            yield from _pods(entry, is_selected)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _name(manifest: Mapping[str, Any]) -> str:
    return f"{manifest.get('kind')} {_mapping(manifest.get('metadata')).get('name', 'without a name')}"
