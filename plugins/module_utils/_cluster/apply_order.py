# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""In which order the objects of a set are applied; they are deleted in the opposite one."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity

NAMESPACES = 0
_SERVICES = 5
_WORKLOADS = 6
_CUSTOM_RESOURCES = 7

_KIND_PHASES = {
    "Namespace": NAMESPACES,
    "CustomResourceDefinition": 1,
    "ServiceAccount": 2,
    "ClusterRole": 2,
    "Role": 2,
    # Who may not bind every role can bind one only when it exists
    "ClusterRoleBinding": 3,
    "RoleBinding": 3,
    "ConfigMap": 4,
    "Secret": 4,
    "CronJob": _WORKLOADS,
    "DaemonSet": _WORKLOADS,
    "Deployment": _WORKLOADS,
    "Job": _WORKLOADS,
    "Pod": _WORKLOADS,
    "ReplicaSet": _WORKLOADS,
    "StatefulSet": _WORKLOADS,
    # They are served by workloads
    "APIService": 8,
    "MutatingWebhookConfiguration": 8,
    "ValidatingWebhookConfiguration": 8,
}


def phase(identity: Identity) -> int:
    """The position of an object's kind: namespaces, CRDs, accounts and RBAC, configuration, services, workloads, custom resources."""
    if not _is_builtin(identity.group):
        return _CUSTOM_RESOURCES
    return _KIND_PHASES.get(identity.kind, _SERVICES)


def _is_builtin(group: str) -> bool:
    return "." not in group or group.endswith(".k8s.io")


def phases(identities: Iterable[Identity]) -> list[list[Identity]]:
    """The identities in lists of one phase each, in the order of application; the given order is kept within a phase."""
    by_phase: dict[int, list[Identity]] = {}
    for identity in identities:
        by_phase.setdefault(phase(identity), []).append(identity)
    return [by_phase[number] for number in sorted(by_phase)]
