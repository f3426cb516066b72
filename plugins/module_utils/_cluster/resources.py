# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the objects of a kind live in the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

Object = dict[str, Any]
"""A Kubernetes object, or a part of one, as its JSON has it."""


class Resource(NamedTuple):
    """One kind as the API serves it."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        """The URL path of the collection, of one object (``name``) or of a subresource of it."""
        parts = [group_version_path(self.api_version)]
        if self.namespaced and namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        if name:
            # "system:..." is a legal name of RBAC objects
            parts.append(quote(name, safe=":"))
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


def group_version_path(api_version: str) -> str:
    """The URL path of a group version, which answers with the list of its kinds."""
    return ("/apis/" if "/" in api_version else "/api/") + api_version


def _resources(api_version: str, namespaced: bool, kinds: Mapping[str, str]) -> dict[tuple[str, str], Resource]:
    return {(api_version, kind): Resource(api_version, kind, plural or kind.lower() + "s", namespaced) for kind, plural in kinds.items()}


# Kinds whose path is part of Kubernetes' stable API: no request is needed to find them.
KNOWN = {
    **_resources("v1", False, {"Namespace": "", "Node": "", "PersistentVolume": ""}),
    **_resources(
        "v1",
        True,
        {
            "ConfigMap": "",
            "Event": "",
            "PersistentVolumeClaim": "",
            "Pod": "",
            "Secret": "",
            "Service": "",
            "ServiceAccount": "",
        },
    ),
    **_resources(
        "admissionregistration.k8s.io/v1",
        False,
        {"MutatingWebhookConfiguration": "", "ValidatingWebhookConfiguration": ""},
    ),
    **_resources("apiextensions.k8s.io/v1", False, {"CustomResourceDefinition": ""}),
    **_resources("apps/v1", True, {"DaemonSet": "", "Deployment": "", "ReplicaSet": "", "StatefulSet": ""}),
    **_resources("batch/v1", True, {"CronJob": "", "Job": ""}),
    **_resources("coordination.k8s.io/v1", True, {"Lease": ""}),
    **_resources("events.k8s.io/v1", True, {"Event": ""}),
    **_resources("networking.k8s.io/v1", True, {"NetworkPolicy": "networkpolicies"}),
    **_resources("operator.openshift.io/v1", True, {"SecondaryScheduler": ""}),
    **_resources("policy/v1", True, {"PodDisruptionBudget": ""}),
    **_resources("rbac.authorization.k8s.io/v1", False, {"ClusterRole": "", "ClusterRoleBinding": ""}),
    **_resources("rbac.authorization.k8s.io/v1", True, {"Role": "", "RoleBinding": ""}),
    **_resources("scheduling.k8s.io/v1", False, {"PriorityClass": "priorityclasses"}),
    **_resources("storage.k8s.io/v1", False, {"StorageClass": "storageclasses"}),
}
