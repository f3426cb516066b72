# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the upstream operator leaves that has another name here: two ClusterRoleBindings, and the Role and RoleBinding for its Lease.

What has the same name becomes ours in place (`cluster.ownership`), or is deleted where the scheduler is to be removed. The upstream operator
reconciles one SecondaryScheduler alone, so nothing else has leftovers. Its ClusterRoleBindings refer to that resource as their owner, which
garbage collection does not heed for cluster-scoped objects: they stay when the resource goes, so the owner may be one that no longer exists.

Manifests here are dicts with apiVersion, kind and metadata.name, for namespaced kinds also metadata.namespace.
"""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import membership
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import SET_LABEL
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.operators import UPSTREAM_NAMESPACE
from ansible_collections.osso.scheduler.plugins.module_utils._operand import resource_names

# The field manager of its writes: what a Go program is called that names none.
UPSTREAM_MANAGER = "secondary-scheduler-operator"
# Those of the conditions that it applies
UPSTREAM_STATUS_MANAGERS = ("secondary-scheduler-ConfigObserver", "SecondarySchedulerOperator-ResourceSync")
UPSTREAM_RESOURCE = "cluster"

_RBAC = "rbac.authorization.k8s.io/v1"
_WORKLOAD = "secondary-scheduler"


def candidates(resource: Object) -> list[Object]:
    """Objects to look for, as manifests; [] for a SecondaryScheduler that the upstream operator never reconciled."""
    metadata = resource["metadata"]
    if (metadata["namespace"], metadata["name"]) != (UPSTREAM_NAMESPACE, UPSTREAM_RESOURCE):
        return []
    bindings = [
        _manifest(_RBAC, "ClusterRoleBinding", "secondary-scheduler-system-kube-scheduler"),
        _manifest(_RBAC, "ClusterRoleBinding", "secondary-scheduler-system-volume-scheduler"),
    ]
    return bindings + [_manifest(_RBAC, kind, "secondary-scheduler-operand", UPSTREAM_NAMESPACE) for kind in ("RoleBinding", "Role")]


def shared(names: resource_names.Names) -> list[Object]:
    """What has the same name here and there, as manifests."""
    kinds = [
        ("apps/v1", "Deployment", names["workload"]),
        ("v1", "ServiceAccount", names["workload"]),
        ("monitoring.coreos.com/v1", "ServiceMonitor", names["workload"]),
        ("v1", "Service", names["service"]),
        (_RBAC, "Role", names["prometheus"]),
        (_RBAC, "RoleBinding", names["prometheus"]),
    ]
    return [_manifest(api_version, kind, name, names["namespace"]) for api_version, kind, name in kinds]


def all_candidates(resource: Object) -> list[Object]:
    """`candidates`, and what has the same name here: for a scheduler that is to be removed."""
    found = candidates(resource)
    return found and found + shared(resource_names.names_of(resource))


def leftovers_of(resource: Object, found: list[Object]) -> list[Object]:
    """Those of ``found`` (objects as the API returns them) that the upstream operator made for ``resource``, as manifests.

    Objects that a user gave another purpose (another subject, another owner) are not included.
    """
    wanted = candidates(resource)
    return [
        manifest
        for manifest, obj in _with_manifests(found)
        if manifest in wanted and _is_upstreams(obj, resource) and ("roleRef" not in obj or _is_for_the_scheduler(obj))
    ]


def all_of(resource: Object, found: list[Object]) -> list[Object]:
    """`leftovers_of`, and those of ``found`` that have the same name here and that this operator has never managed: of `all_candidates`."""
    wanted = shared(resource_names.names_of(resource))
    return leftovers_of(resource, found) + [
        manifest
        for manifest, obj in _with_manifests(found)
        if manifest in wanted and _is_upstreams(obj, resource) and membership.has_fields_of(obj, [UPSTREAM_MANAGER])
    ]


def leftovers_after(found: list[Object]) -> list[Object]:
    """`leftovers_of` the resource that the upstream operator reconciled, which no longer exists, and its Deployment.

    Kubernetes deletes the Deployment with its owner, but not if the CRD was deleted before the garbage collector knew the kind.
    """
    metadata = {"namespace": UPSTREAM_NAMESPACE, "name": UPSTREAM_RESOURCE}
    resource = {"apiVersion": "operator.openshift.io/v1", "kind": "SecondaryScheduler", "metadata": metadata}
    deployment = _manifest("apps/v1", "Deployment", _WORKLOAD, UPSTREAM_NAMESPACE)
    return leftovers_of(resource, found) + [
        manifest for manifest, obj in _with_manifests(found) if manifest == deployment and _is_upstreams(obj, resource)
    ]


def _is_upstreams(obj: Object, resource: Object) -> bool:
    owners = obj["metadata"].get("ownerReferences") or []
    return bool(owners) and all(_owns(owner, obj, resource) for owner in owners) and SET_LABEL not in (obj["metadata"].get("labels") or {})


def _owns(owner: Object, obj: Object, resource: Object) -> bool:
    namespaced = "namespace" in obj["metadata"]
    return (
        owner.get("apiVersion", "").partition("/")[0] == resource["apiVersion"].partition("/")[0]
        and owner.get("kind") == resource["kind"]
        and owner.get("name") == UPSTREAM_RESOURCE
        and (not namespaced or owner.get("uid") == resource["metadata"].get("uid", owner.get("uid")))
    )


def _is_for_the_scheduler(binding: Object) -> bool:
    subjects = [(one.get("kind"), one.get("namespace"), one.get("name")) for one in binding.get("subjects") or []]
    return subjects == [("ServiceAccount", UPSTREAM_NAMESPACE, _WORKLOAD)]


def _with_manifests(found: list[Object]) -> list[tuple[Object, Object]]:
    return [(_manifest(obj["apiVersion"], obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace")), obj) for obj in found]


def _manifest(api_version: str, kind: str, name: str, namespace: str | None = None) -> Object:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}
