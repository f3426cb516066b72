# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pod template of a workload: its annotations, a change of which replaces the pods, and what the pods mount."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object

_VOLUMES = {"Secret": ("secret", "secretName"), "ConfigMap": ("configMap", "name")}


def pod_annotations(workload: Object) -> dict[str, str]:
    """The annotations of the pods."""
    return (workload["spec"]["template"].get("metadata") or {}).get("annotations") or {}


def annotated(workload: Object, name: str, value: str) -> Object:
    """A copy of the workload whose pods have this annotation, too."""
    template = workload["spec"]["template"]
    metadata = dict(template.get("metadata") or {}, annotations={**pod_annotations(workload), name: value})
    return dict(workload, spec=dict(workload["spec"], template=dict(template, metadata=metadata)))


def mounted(workload: Object, kind: str) -> list[str]:
    """Names of the Secrets or ConfigMaps that the pods mount, sorted."""
    source, key = _VOLUMES[kind]
    volumes = workload["spec"]["template"]["spec"].get("volumes") or ()
    return sorted({volume[source][key] for volume in volumes if key in (volume.get(source) or {})})
