# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What there is before anything is written, and what speaks against the installation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object, Resource
from ansible_collections.osso.scheduler.plugins.module_utils._olm import group
from ansible_collections.osso.scheduler.plugins.module_utils._olm.install_plans import Versions
from ansible_collections.osso.scheduler.plugins.module_utils._olm.objects import (
    CATALOG,
    CSV,
    GROUP,
    MARKETPLACE,
    MARKETPLACE_CATALOGS,
    PLAN,
    REINSTALL,
    SUBSCRIPTION,
    Options,
    component_label,
    name_of,
    namespace_identity,
    spec,
    status,
)

# CSVs without the copies that OLM makes in the namespaces that an operator watches
ORIGINALS = "!olm.copiedFrom"


class Existing(NamedTuple):
    """The objects as they were found; ``subscriptions`` are those of all namespaces that the user may read."""

    namespace: Object | None
    subscription: Object | None
    subscriptions: list[Object]
    groups: list[Object]
    csvs: list[Object]
    plans: list[Object]
    catalog: Object | None

    def tenants(self, options: Options) -> list[str]:
        """Names of the other Subscriptions in the namespace."""
        return [name_of(one) for one in self.neighbours(options)]

    def neighbours(self, options: Options) -> list[Object]:
        return [one for one in self.subscriptions if _namespace(one) == options.namespace and name_of(one) != options.name]


def read_existing(client: Client, resources: Mapping[str, Resource], options: Options) -> tuple[Existing, Options]:
    """``(Existing, options)``: the latter with source and source_namespace filled in."""
    subscriptions = _subscriptions(client, resources, options)
    live = next((one for one in subscriptions if (_namespace(one), name_of(one)) == (options.namespace, options.name)), None)
    if not options.source and live:
        options = options._replace(source=spec(live, "source"), source_namespace=spec(live, "sourceNamespace"))
    if not options.source_namespace:
        options = options._replace(source_namespace=MARKETPLACE if options.source in MARKETPLACE_CATALOGS else options.namespace)
    namespace = namespace_identity(options.namespace)
    found = Existing(
        namespace=client.get(client.resource(namespace.api_version, namespace.kind), options.namespace),
        subscription=live,
        subscriptions=subscriptions,
        groups=client.list(resources[GROUP], options.namespace),
        csvs=client.list(resources[CSV], options.namespace, label_selector=ORIGINALS),
        plans=client.list(resources[PLAN], options.namespace),
        catalog=client.get(resources[CATALOG], options.source, options.source_namespace) if options.source else None,
    )
    return found, options


def _namespace(obj: Object) -> str:
    namespace: str = obj["metadata"]["namespace"]
    return namespace


def _subscriptions(client: Client, resources: Mapping[str, Resource], options: Options) -> list[Object]:
    try:
        return client.list(resources[SUBSCRIPTION])
    except ApiError as error:
        if error.status != 403:
            raise
        return client.list(resources[SUBSCRIPTION], options.namespace)


def refuse_namesakes(found: Existing, options: Options) -> None:
    """Raise `InputError` where the namespace has the name for another package, or the package under another name."""
    if found.subscription is not None and spec(found.subscription, "name") != options.package:
        raise InputError(
            "name is {0}, but Subscription {0} in namespace {1} is for package {2}, not {3}; give another name.".format(
                options.name, options.namespace, spec(found.subscription, "name"), options.package
            )
        )
    for other in found.neighbours(options):
        if spec(other, "name") == options.package:
            raise InputError(
                f"package {options.package} is subscribed to in namespace {options.namespace} by Subscription {name_of(other)} already, and "
                f"name is {options.name}. Set name: {name_of(other)} to manage that one, or delete it."
            )


def csvs_of_package(found: Existing, options: Options, versions: Versions) -> list[Object]:
    """The CSVs of the package in the namespace: those that the Subscription names, and what OLM or a plan calls so."""
    label = component_label(options.package, options.namespace)
    named = {status(found.subscription, field) for field in ("installedCSV", "currentCSV")}
    return [
        one
        for one in found.csvs
        if name_of(one) in named or label in (one["metadata"].get("labels") or {}) or versions.is_ours(name_of(one))
    ]


def refuse_orphans(found: Existing, options: Options, versions: Versions) -> None:
    """Raise `InputError` where the package is installed, but its Subscription was deleted: OLM never connects a new one with that CSV."""
    if found.subscription is not None:
        return
    orphans = [name_of(one) for one in csvs_of_package(found, options, versions) if "deletionTimestamp" not in one["metadata"]]
    if orphans:
        raise InputError(
            f"name is {options.name}, but there is no such Subscription in namespace {options.namespace}, although ClusterServiceVersion "
            f"{', '.join(orphans)} of package {options.package} is there: its Subscription was deleted, and OLM does not connect a new one with "
            f"it. To go on, {REINSTALL}."
        )


def refuse_rivals(client: Client, resources: Mapping[str, Resource], found: Existing, options: Options) -> None:
    """Raise `InputError` where the same package is installed in another namespace for some of the same namespaces."""
    for other in found.subscriptions:
        there = _namespace(other)
        if there == options.namespace or spec(other, "name") != options.package or other["metadata"].get("deletionTimestamp"):
            continue
        try:
            groups = client.list(resources[GROUP], there)
        except ApiError as error:
            if error.status != 403:
                raise
            continue
        for one in groups:
            if group.intersect(group.targets(one), options.targets):
                theirs, ours = group.namespaces_text(group.targets(one)), group.namespaces_text(options.targets)
                raise InputError(
                    f"package {options.package} is subscribed to in namespace {there} already (Subscription {name_of(other)}, OperatorGroup "
                    f"{name_of(one)} for {theirs}), and here it would be for {ours}: two installations must not watch the same namespace. "
                    "Remove that one, or set watch_namespaces apart."
                )
