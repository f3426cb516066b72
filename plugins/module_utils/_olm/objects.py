# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The objects of the Operator Lifecycle Manager (OLM): their kinds, their creation, and how to distinguish ours from others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import client as cluster
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import conditions_of
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.object_comparison import owned_fields
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object, Resource

V1ALPHA1 = "operators.coreos.com/v1alpha1"
V1 = "operators.coreos.com/v1"
SUBSCRIPTION, CSV, PLAN, CATALOG, GROUP = "Subscription", "ClusterServiceVersion", "InstallPlan", "CatalogSource", "OperatorGroup"
VERSIONS = {SUBSCRIPTION: V1ALPHA1, CSV: V1ALPHA1, PLAN: V1ALPHA1, CATALOG: V1ALPHA1, GROUP: V1}

# OpenShift's own catalogs live in one namespace.
MARKETPLACE = "openshift-marketplace"
MARKETPLACE_CATALOGS = ("certified-operators", "community-operators", "redhat-marketplace", "redhat-operators")

# The state up to which nothing of the operator is in the cluster
PREPARED = "prepared"

# What helps where OLM cannot go on with what it installed
REINSTALL = "remove the operator with state: absent, its custom resources stay, and install it again"

# Not the name that apply uses: a namespace that a set holds as well keeps what that has set.
FIELD_MANAGER = cluster.FIELD_MANAGER + ".olm"
MARK = "osso.scheduler/olm"
_LABELS = {"app.kubernetes.io/managed-by": "osso.scheduler", MARK: "true"}

# A label's name holds 63 characters (OLM's decorator of Operator objects cuts it so)
_LABEL_NAME = 63


class Options(NamedTuple):
    """What to do; the meaning of each is documented in the module ``olm_operator``."""

    package: str
    namespace: str
    name: str
    state: str = "present"
    channel: str | None = None
    source: str | None = None
    source_namespace: str | None = None
    catalog: dict[str, Any] | None = None
    starting_csv: str | None = None
    upgrade: str = "channel"
    version: str | None = None
    approval: str = "Automatic"
    approve: str | None = None
    approve_others: bool = False
    watch_namespaces: list[str] | None = None
    config: Object | None = None
    labels: dict[str, str] | None = None
    namespace_labels: dict[str, str] | None = None
    delete_crds: bool = False
    force: bool = False
    wait: bool = True
    wait_timeout: int = 300

    @property
    def catalog_identity(self) -> Identity:
        """The CatalogSource, where ``source`` is given or known from the Subscription."""
        if self.source is None:
            raise AssertionError("source")
        if self.source_namespace is None:
            raise AssertionError("source_namespace")
        return identity(CATALOG, self.source, self.source_namespace)

    @property
    def wanted_version(self) -> str:
        """``version``, which the module requires where ``upgrade`` is version."""
        if self.version is None:
            raise AssertionError("version")
        return self.version

    @property
    def targets(self) -> list[str]:
        """The namespaces that the operator is to watch, sorted; [] means all."""
        return [self.namespace] if self.watch_namespaces is None else sorted(set(self.watch_namespaces))


def identity(kind: str, name: str, namespace: str | None) -> Identity:
    return Identity(VERSIONS[kind], kind, namespace, name)


def namespace_identity(name: str) -> Identity:
    return Identity("v1", "Namespace", None, name)


def resources(client: Client) -> dict[str, Resource]:
    """The `Resource` of each of OLM's kinds that the module needs. Raises `ClusterError` where OLM is not installed."""
    found = {}
    for kind, version in VERSIONS.items():
        try:
            found[kind] = client.resource(version, kind)
        except ApiError as error:
            if error.status != 404:
                raise
            raise ClusterError(
                f"OLM is not installed in this cluster: the API server does not serve {version} {kind}. Install the Operator Lifecycle "
                "Manager (it is part of OpenShift), or install the operator from its manifests.",
                status=error.status,
                reason=error.reason,
            ) from None
    return found


def manifest(
    kind: str, name: str, namespace: str | None, spec: Object, labels: Mapping[str, str] | None = None, ours: bool = True
) -> Object:
    """An object as it is applied; with the marks of what is ours unless it was someone else's before."""
    labels = dict(labels or {}, **(_LABELS if ours else {}))
    metadata: Object = {"name": name, "namespace": namespace}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": VERSIONS[kind], "kind": kind, "metadata": metadata, "spec": spec}


def namespace_manifest(name: str, labels: Mapping[str, str], ours: bool) -> Object:
    labels = dict(labels, **(_LABELS if ours else {}))
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def is_ours(live: Object | None) -> bool:
    """Was the object made by this module? It carries the mark, and the mark was set by our apply."""
    if not live or MARK not in (live["metadata"].get("labels") or {}):
        return False
    labels = owned_fields(live, FIELD_MANAGER).get("f:metadata", {}).get("f:labels", {})
    return "f:" + MARK in labels


def component_label(package: str, namespace: str) -> str:
    """The label that OLM puts on everything of one operator."""
    name = f"{package}.{namespace}"
    if len(name) > _LABEL_NAME:
        name = name[:_LABEL_NAME].rstrip("._-")
    return "operators.coreos.com/" + name


def name_of(obj: Object) -> str:
    name: str = obj["metadata"]["name"]
    return name


def conditions(obj: Object | None) -> dict[str, Object]:
    """The conditions of a status by type."""
    return {one["type"]: one for one in conditions_of(obj)}


def status(obj: Object | None, field: str, default: Any = None) -> Any:
    value = ((obj or {}).get("status") or {}).get(field)
    return default if value is None else value


def spec(obj: Object | None, field: str, default: Any = None) -> Any:
    value = ((obj or {}).get("spec") or {}).get(field)
    return default if value is None else value
