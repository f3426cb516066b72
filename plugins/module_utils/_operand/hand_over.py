# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Handover of SecondarySchedulers to another operator: the affected resources, and our objects without a purpose afterwards.

A running operator cannot release a single resource: each event would make it add its finalizer again. So every operator that
looks after a released resource is stopped, and may not look after any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import apply_set, membership, prune
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._operand import resource_names, rollout, upstream_cleanup

# Names of inventories: of a SecondaryScheduler's objects (without its name), and of an operator's
_OPERAND = apply_set.identity("operand-", "").name
_INSTALLATION = apply_set.identity("osso-scheduler-operator", "").name


class Operator(TypedDict):
    """One of the ``operators`` that the module scheduler_info returns, as far as it is read here."""

    kind: str
    namespace: str
    name: str
    variant: str
    method: str
    replicas: int
    watches: list[str]


class Place(TypedDict):
    namespace: str
    name: str


class Plan(TypedDict):
    """Who is concerned by a handover. Manifests are without content.

    resources: that are released; manifests: of these; workloads: their Deployments; operators: manifests of the Deployments to be stopped; olm: the
    namespaces of those that OLM installed. deleted: resources that are being deleted and wait for an operator, and those that no longer exist, of which
    objects are left. unattended: other resources that would have no operator any more. missing: chosen resources that do not exist.
    """

    resources: list[Object]
    deleted: list[Object]
    manifests: list[Object]
    workloads: list[Place]
    operators: list[Object]
    olm: list[str]
    unattended: list[Place]
    missing: list[Place]


class Replaced(TypedDict, total=False):
    """The set of the objects of a released resource whose pods another operator has replaced; empty before. keep_members: those that
    are that operator's from then on, as KIND/NAME. Any change of them would make it replace its pods."""

    set_name: str
    set_namespace: str
    keep_members: list[str]


class Installation(TypedDict):
    """An installation of our operator that is no longer in use. namespace: of its set; orphan: the names of the members that others use too,
    Namespaces and CustomResourceDefinitions."""

    namespace: str
    orphan: list[str]


def plan(resources: list[Object], operators: list[Operator], chosen: list[Place] | None = None, inventories: Sequence[Object] = ()) -> Plan:
    """The `Plan` to release ``chosen`` (None: all) of the SecondarySchedulers ``resources``. inventories: as `stale` takes them."""
    keys = {_key(one["metadata"]) for one in resources}
    wanted = keys if chosen is None else {_key(one) for one in chosen}
    namespaces = {namespace for namespace, name in wanted & keys}
    stopped = [one for one in operators if one["variant"] == "osso" and any(_watches(one, namespace) for namespace in namespaces)]
    running = [one for one in stopped if one["replicas"]]
    found = [one for one in resources if _key(one["metadata"]) in wanted]
    released = [one for one in found if not one["metadata"].get("deletionTimestamp")]
    waiting = [one for one in found if resource_names.FINALIZER in (one["metadata"].get("finalizers") or []) and one not in released]
    others = [one for one in operators if one["variant"] == "osso" and one not in stopped]
    lost = [
        one
        for one in _recorded(inventories)
        if _key(one["metadata"]) not in keys
        and (chosen is None or one["metadata"]["namespace"] in {namespace for namespace, name in wanted})
    ]
    return {
        "resources": released,
        "deleted": waiting + [one for one in lost if not any(_watches(other, one["metadata"]["namespace"]) for other in others)],
        "manifests": [_manifest(Identity.of(one)) for one in released],
        "workloads": [{"namespace": one["namespace"], "name": one["workload"]} for one in map(resource_names.names_of, released)],
        "operators": [_manifest(Identity("apps/v1", one["kind"], one["namespace"], one["name"])) for one in stopped],
        "olm": [one["namespace"] for one in stopped if one["method"] == "olm"],
        "unattended": [
            {"namespace": namespace, "name": name}
            for namespace, name in sorted(keys - wanted)
            if any(_watches(one, namespace) for one in running)
        ],
        "missing": [{"namespace": namespace, "name": name} for namespace, name in sorted(wanted - keys)],
    }


def stale(resource: Object, deployments: list[Object], inventories: list[Object]) -> Replaced:
    """The set of what was made for a released ``resource`` and nothing uses any more.

    {} until another operator's Deployment, of the same name, has replaced our pods. What has the name that the upstream operator gives it
    is that one's from then on.
    """
    known = resource_names.names_of(resource)
    mine = apply_set.identity(known["set"], known["namespace"])
    is_recorded = any(Identity.of(one).key == mine.key for one in inventories)
    deployment = next((one for one in deployments if _key(one["metadata"]) == (known["namespace"], known["workload"])), None)
    if not is_recorded or deployment is None or _is_ours(deployment, known) or not rollout.is_complete(deployment):
        return {}
    return {
        "set_name": known["set"],
        "set_namespace": known["namespace"],
        "keep_members": [f"{one['kind']}/{one['metadata']['name']}" for one in upstream_cleanup.shared(known)],
    }


def installations(
    plan: Plan,
    operators: list[Operator],
    deployments: list[Object],
    inventories: list[Object],
) -> list[Installation]:
    """The installations whose operator is stopped, and on whose objects no scheduler depends. deployments, inventories: as `stale` takes them."""
    stopped = {_key(one["metadata"]) for one in plan["operators"]}
    others = [one for one in operators if one["variant"] == "osso" and _key(one) not in stopped]
    unused = [*plan["deleted"], *(one for one in plan["resources"] if stale(one, deployments, inventories))]
    replaced = [apply_set.identity(one["set"], one["namespace"]) for one in map(resource_names.names_of, unused)]
    for one in map(Identity.of, inventories):
        is_in_use = one.name.startswith(_OPERAND) and one not in replaced
        if is_in_use and not any(_watches(other, one.namespace) for other in others):
            return []
    return [
        {
            "namespace": one["metadata"]["namespace"],
            "orphan": [member.name for member in apply_set.members(one) if member.kind in prune.HOLDERS],
        }
        for one in inventories
        if one["metadata"]["name"] == _INSTALLATION and one["metadata"]["namespace"] not in [other["namespace"] for other in others]
    ]


def _recorded(inventories: Iterable[Object]) -> list[Object]:
    """The SecondarySchedulers, as manifests without content, of whose objects an operator wrote an inventory."""
    # A user's set can have any name.
    found = [one["metadata"] for one in inventories if membership.has_fields_of(one, [resource_names.FIELD_MANAGER])]
    return [
        _manifest(Identity("operator.openshift.io/v1", "SecondaryScheduler", one["namespace"], one["name"][len(_OPERAND) :]))
        for one in found
        if one["name"].startswith(_OPERAND)
    ]


def _is_ours(deployment: Object, known: resource_names.Names) -> bool:
    """Do its pods still mount a configuration that this operator created?"""
    volumes = deployment["spec"]["template"]["spec"].get("volumes") or []
    secrets = [(volume.get("secret") or {}).get("secretName", "") for volume in volumes]
    return any(name.startswith(resource_names.config_secret(known, "")) for name in secrets)


def _watches(operator: Operator, namespace: str | None) -> bool:
    return "*" in operator["watches"] or namespace in operator["watches"]


def _key(metadata: Mapping[str, Any]) -> tuple[str, str]:
    return metadata["namespace"], metadata["name"]


def _manifest(identity: Identity) -> Object:
    metadata = {"name": identity.name, **({"namespace": identity.namespace} if identity.namespace else {})}
    return {"apiVersion": identity.api_version, "kind": identity.kind, "metadata": metadata}
