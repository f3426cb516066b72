# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""In which order the objects of a set are applied; they are deleted in the opposite one."""

from __future__ import annotations

NAMESPACES = 0

_KIND_PHASES = {
    "Namespace": NAMESPACES,
    "CustomResourceDefinition": 1,
    "ServiceAccount": 2,
    "ClusterRole": 2,
    "Role": 2,
    "ClusterRoleBinding": 2,
    "RoleBinding": 2,
    "ConfigMap": 3,
    "Secret": 3,
    "CronJob": 5,
    "DaemonSet": 5,
    "Deployment": 5,
    "Job": 5,
    "Pod": 5,
    "ReplicaSet": 5,
    "StatefulSet": 5,
    # They are served by workloads
    "APIService": 7,
    "MutatingWebhookConfiguration": 7,
    "ValidatingWebhookConfiguration": 7,
}
_SERVICES = 4
_CUSTOM_RESOURCES = 6


def phase(identity):
    """The position of an object's kind: namespaces, CRDs, accounts and RBAC, configuration, services, workloads, custom resources."""
    if not _is_builtin(identity.group):
        return _CUSTOM_RESOURCES
    return _KIND_PHASES.get(identity.kind, _SERVICES)


def _is_builtin(group):
    return "." not in group or group.endswith(".k8s.io")


def phases(identities):
    """The identities in lists of one phase each, in the order of application; the given order is kept within a phase."""
    by_phase = {}
    for identity in identities:
        by_phase.setdefault(phase(identity), []).append(identity)
    return [by_phase[number] for number in sorted(by_phase)]
