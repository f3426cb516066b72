# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requirements of dynamic resource allocation (DRA) that a cluster lacks: the API, and permissions of the scheduler. Pure: no I/O.

Without them kube-scheduler reports nothing: it waits for its caches before it places the first pod, or allocates no devices.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import ADVICE, WARNING, Effective, Finding, plugins_of
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.lint import ALLOCATION, ALLOCATION_GATE
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.needs import DEVICE_GROUP, DEVICE_RULES, DEVICE_VERSIONS
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import parse_release

GROUP = DEVICE_GROUP
CLUSTER_ROLE = "system:kube-scheduler"


def allocates(effective: Effective) -> bool:
    """Whether the plugin runs in a profile."""
    return ALLOCATION in plugins_of(effective)


def unserved(effective: Effective, kubernetes: str | None, groups: Mapping[str, Collection[str]] | None) -> list[Finding]:
    """A warning if the API server does not serve the version of the claims that a kube-scheduler reads.

    kubernetes: its release, None if unknown; groups: the served API groups, each with its versions, None if unknown.
    """
    minor = parse_release(kubernetes) if kubernetes else 0
    if groups is None or minor < min(DEVICE_VERSIONS) or not allocates(effective):
        return []
    version = DEVICE_VERSIONS[max(since for since in DEVICE_VERSIONS if since <= minor)]
    served = sorted(groups.get(GROUP, ()))
    if version in served:
        return []
    others = f"only {GROUP}/{', '.join(served)}" if served else f"no version of {GROUP}"
    message = (
        f"the configuration runs {ALLOCATION}, which reads {GROUP}/{version} in Kubernetes {kubernetes}, but the API server serves "
        f"{others}: the scheduler places no pod"
    )
    hint = (
        f"use an image of the cluster's release, and start the API server with the feature gate {ALLOCATION_GATE} and "
        f"--runtime-config={GROUP}/{version}=true"
    )
    return [_warning("dra-api", message, hint)]


def unreadable(effective: Effective, role: Mapping[str, Any] | None) -> list[Finding]:
    """A warning if the ClusterRole system:kube-scheduler lacks permissions for claims, classes and slices; None: it could not be read."""
    if role is None or not allocates(effective):
        return []
    missing = [
        f"{verb} {resource}"
        for rule in DEVICE_RULES
        for resource in rule.resources.split()
        for verb in rule.verbs.split()
        if not any(_allows(found, rule.group, resource, verb) for found in role.get("rules") or ())
    ]
    if not missing:
        return []
    message = (
        f"the configuration runs {ALLOCATION}, but the ClusterRole {CLUSTER_ROLE} of this cluster does not permit in {GROUP}: "
        f"{', '.join(missing)}. The scheduler waits for them, or allocates no devices, without an error"
    )
    hint = (
        f"start the API server with the feature gate {ALLOCATION_GATE}, which adds the rules, unless the role has the annotation "
        'rbac.authorization.kubernetes.io/autoupdate: "false"'
    )
    return [_warning("dra-permissions", message, hint)]


def _allows(rule: Mapping[str, Any], group: str, resource: str, verb: str) -> bool:
    """Whether a rule of a ClusterRole permits a request for every object of a resource."""
    if rule.get("resourceNames"):
        return False
    wanted = (("apiGroups", group), ("resources", resource), ("verbs", verb))
    return all(value in (rule.get(field) or ()) or "*" in (rule.get(field) or ()) for field, value in wanted)


def _warning(code: str, message: str, hint: str) -> Finding:
    return Finding(WARNING, code, message, hint=hint, stage=ADVICE)
