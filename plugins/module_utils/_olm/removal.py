# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Removing an operator that OLM installed, with what OLM leaves behind."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import live_objects, membership, namespace_contents, prune, readiness
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_result import Report
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import FIELD_MANAGER, Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.delete import Doomed, delete
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, NotDeleted
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity, Key
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object, Resource
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.wait import Deadline, Target, until_gone, until_ready
from ansible_collections.osso.scheduler.plugins.module_utils._olm import catalog as catalogs
from ansible_collections.osso.scheduler.plugins.module_utils._olm import diagnose, install_plans, outcome
from ansible_collections.osso.scheduler.plugins.module_utils._olm.diagnose import Seen
from ansible_collections.osso.scheduler.plugins.module_utils._olm.objects import (
    CATALOG,
    CSV,
    GROUP,
    PLAN,
    SUBSCRIPTION,
    V1,
    Options,
    component_label,
    identity,
    is_ours,
    name_of,
    namespace_identity,
    resources,
    spec,
    status,
)
from ansible_collections.osso.scheduler.plugins.module_utils._olm.preconditions import (
    ORIGINALS,
    Existing,
    csvs_of_package,
    read_existing,
    refuse_namesakes,
)

_CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
_CLUSTER_ROLE = ("rbac.authorization.k8s.io/v1", "ClusterRole")

# The field manager of OLM's catalog-operator, which executes InstallPlans
_CATALOG_OPERATOR = "catalog"

# OLM takes at most so long to detect that the components of an operator were deleted.
_RECORD_SECONDS = 30

# OLM deletes the ClusterRoles of a deleted OperatorGroup at once.
_ROLES_SECONDS = 5


class Removal:
    """One run with ``state: absent``. ``result()`` is what the module returns, also after a failure."""

    def __init__(self, client: Client, options: Options, report: Report, warn: Callable[[str], None], check: bool) -> None:
        self._client = client
        self._options = options
        self._report = report
        self._warn = warn
        self._check = check
        self._deadline = Deadline(options.wait_timeout)
        self._gone: set[Key] = set()
        self._versions = install_plans.Versions(options.package)

    def run(self) -> None:
        self._resources = resources(self._client)
        found, self._options = read_existing(self._client, self._resources, self._options)
        refuse_namesakes(found, self._options)
        self._versions.learn(found.plans, found.csvs, [found.subscription] if found.subscription else [])
        csvs = csvs_of_package(found, self._options, self._versions)
        definitions = self._definitions_if_any(csvs)
        kept = self._kept(definitions or [])
        left_by_plans = self._left_by_plans(found)
        going = [one for one in definitions or [] if one not in kept]
        if self._options.delete_crds and self._options.force:
            # As long as the operator is there, it can clean up after its resources.
            self._delete([one for definition in going for one in self._instances(definition)])
        self._delete([self._doomed(SUBSCRIPTION, self._options.name, found.subscription)])
        self._delete_operators(csvs)
        if not self._check:
            # A plan that was being executed has created more since. A removal that is interrupted before still finds the plans.
            found = found._replace(plans=self._client.list(self._resources[PLAN], self._options.namespace))
            self._versions.learn(found.plans)
            left_by_plans.update(self._left_by_plans(found))
        self._delete_plans(found)
        if not self._check:
            late = self._client.list(self._resources[CSV], self._options.namespace, label_selector=ORIGINALS)
            self._versions.learn(csvs=late)
            self._delete_operators(csvs_of_package(found._replace(csvs=late), self._options, self._versions))
        self._delete(self._read(left_by_plans))
        if self._options.delete_crds:
            self._delete(going)
        others = bool(found.tenants(self._options)) or len(csvs) < len(found.csvs)
        groups = [] if others else [one for one in found.groups if is_ours(one)]
        self._delete([self._doomed(GROUP, name_of(one), one) for one in groups])
        self._delete(self._catalog(found))
        self._delete(self._namespace(found))
        self._delete_record(definitions, kept)
        self._delete_roles({name_of(one) for one in found.groups if one not in groups})

    def result(self) -> dict[str, Any]:
        seen = Seen(None, [], {}, {}, None)
        return outcome.result(seen, self._options, catalogs.UNKNOWN, None, self._versions, self._message())

    def _message(self) -> str:
        foretold = self._check and self._report.result()["changed"]
        return (
            f"{self._options.package} {'would be removed from' if foretold else 'is not installed in'} namespace {self._options.namespace}."
        )

    def _doomed(self, kind: str, name: str, live: Object | None) -> Doomed:
        namespace = live["metadata"]["namespace"] if live else self._options.namespace
        return Doomed(identity(kind, name, namespace), self._resources[kind], live)

    def _delete(self, doomed: list[Doomed]) -> None:
        delete(self._client, doomed, self._report, self._deadline, self._check)
        self._gone.update(one.identity.key for one in doomed)

    def _delete_operators(self, csvs: list[Object]) -> None:
        """Delete CSVs, and wait until OLM has deleted their Deployments."""
        deployments = self._deployments(csvs)
        self._delete([self._doomed(CSV, name_of(one), one) for one in csvs])
        if not self._check:
            until_gone(self._client, deployments, self._deadline)
        self._gone.update(one.key for one, resource, uid in deployments)

    # What belongs to the operator

    def _definitions_if_any(self, csvs: list[Object]) -> list[Doomed] | None:
        """As `_definitions`; None if the user may not read them, and they stay."""
        try:
            return self._definitions(csvs)
        except ApiError as error:
            if error.status != 403 or self._options.delete_crds:
                raise
            return None

    def _definitions(self, csvs: list[Object]) -> list[Doomed]:
        """The CustomResourceDefinitions that the CSVs own; without a CSV those that OLM has labelled for the operator."""
        resource = self._client.resource(*_CRD)
        names = [name for csv in csvs for name in _owned(csv)]
        found = {name: self._client.get(resource, name) for name in names}
        label = component_label(self._options.package, self._options.namespace)
        found.update((name_of(one), one) for one in self._client.list(resource, label_selector=label))
        return [Doomed(Identity(*_CRD, None, name), resource, live) for name, live in sorted(found.items()) if live]

    def _kept(self, definitions: list[Doomed]) -> list[Doomed]:
        """Those that stay despite the deletion, because others use them; a warning names them."""
        if not self._options.delete_crds:
            return definitions
        elsewhere = self._owned_elsewhere() if definitions else ()
        shared = [one for one in definitions if one.identity.name in elsewhere]
        for one in shared:
            self._warn(f"{one.identity} is not deleted: an operator in another namespace owns it too.")
        foreign = [one for one in definitions if one not in shared and not _is_of_olm(one.present)]
        for one in foreign:
            self._warn(
                f"{one.identity} is not deleted: it existed before OLM installed the operator (field manager {_creator(one.present)}). "
                "If nothing else needs it, delete it yourself."
            )
        shared += foreign
        used = [] if self._options.force else [one for one in prune.in_use(self._client, definitions) if one not in shared]
        for one in used:
            self._warn(f"{one.identity} is not deleted: objects of its kind exist and would be deleted too. Set force: true to do so.")
        return shared + used

    def _owned_elsewhere(self) -> set[str]:
        """Names of the definitions that CSVs in other namespaces own, as far as the user may see them."""
        try:
            csvs = self._client.list(self._resources[CSV], label_selector=ORIGINALS)
        except ApiError as error:
            if error.status != 403:
                raise
            return set()
        return {name for one in csvs if one["metadata"]["namespace"] != self._options.namespace for name in _owned(one)}

    def _instances(self, definition: Doomed) -> list[Doomed]:
        found = prune.instances(self._client, definition.present)
        return [Doomed(Identity.of(one), self._client.resource(one["apiVersion"], one["kind"]), one) for one in found]

    def _deployments(self, csvs: list[Object]) -> list[tuple[Identity, Resource, str]]:
        """The operator's Deployments, as triples that `until_gone` takes: OLM deletes them after the CSV."""
        resource = self._client.resource("apps/v1", "Deployment")
        found = []
        for name in {name for csv in csvs for name in diagnose.deployments_of(csv)}:
            live = self._client.get(resource, name, self._options.namespace)
            if live:
                one = Identity("apps/v1", "Deployment", self._options.namespace, name)
                found.append((one, resource, live["metadata"]["uid"]))
        return found

    def _left_by_plans(self, found: Existing) -> dict[Identity | None, bool]:
        """Objects that the package's InstallPlans created besides CSVs and CRDs, including cluster-scoped ones: by identity, whether it was created
        then, or possibly existed before."""
        left: dict[tuple[str, str, str], bool] = {}
        for one in found.plans:
            for step in status(one, "plan", []):
                what = step.get("resource") or {}
                own = self._versions.is_ours(step.get("resolving")) and step.get("status") in ("Created", "Present")
                if own and what.get("kind") and what.get("name") and what["kind"] not in (CSV, SUBSCRIPTION, _CRD[1], PLAN):
                    version = "/".join(part for part in (what.get("group"), what.get("version")) if part)
                    key = (version, what["kind"], what["name"])
                    left[key] = left.get(key, False) or step["status"] == "Created"
        return {self._placed(*key): created for key, created in left.items()}

    def _placed(self, version: str, kind: str, name: str) -> Identity | None:
        """The `Identity` with a namespace where the kind has one; None where it is not served."""
        try:
            namespaced = self._client.resource(version, kind).namespaced
        except ApiError as error:
            if error.status != 404:
                raise
            return None
        return Identity(version, kind, self._options.namespace if namespaced else None, name)

    def _delete_plans(self, found: Existing) -> None:
        """Delete the package's InstallPlans. Another Subscription may own them too; OLM takes an old plan for that of the next installation."""
        doomed = [
            Doomed(identity(PLAN, name_of(one), self._options.namespace), self._resources[PLAN], one)
            for one in found.plans
            if install_plans.csvs_of(one) and not install_plans.foreign(one, self._versions)
        ]
        self._gone.update(one.identity.key for one in doomed)
        if self._check:
            return
        try:
            delete(self._client, doomed, Report(self._client, check=False, with_diff=False), self._deadline)
        except ClusterError as error:
            if error.result.get("status") != 403:
                raise
            self._warn(
                f"{error.message} OLM may take it for the InstallPlan of the next installation in this namespace, and then install nothing."
            )

    def _read(self, identities: Mapping[Identity | None, bool]) -> list[Doomed]:
        """Those of these that still exist; check mode cannot identify the objects that OLM deletes with the CSV, so it does not predict them."""
        if self._check:
            self._gone.update(one.key for one in identities if one)
            return []
        located = {one: live_objects.locate(self._client, one) for one in identities if one}
        found = {}
        for one, resource in located.items():
            try:
                found.update(live_objects.read(self._client, {one: resource}))
            except ClusterError as error:
                if error.result.get("status") != 403:
                    raise
                self._warn(f"{one}, which an InstallPlan of the operator names, is not deleted: {error.message}")
        for one, live in found.items():
            if live and _owner(live) not in (None, self._options.namespace):
                self._warn(f"{one} is not deleted: OLM uses it for an operator in the namespace {_owner(live)}.")
        return [
            Doomed(one, located[one], live)
            for one, live in found.items()
            # An old plan can name objects that another installation has created since.
            if live and membership.set_of(live) is None and _owner(live) in (self._options.namespace, *([None] if identities[one] else []))
        ]

    # What was made for the operator

    def _catalog(self, found: Existing) -> list[Doomed]:
        if self._options.source:
            candidates = [found.catalog] if found.catalog else []
        else:
            # The Subscription that named it was already deleted, perhaps by an interrupted removal.
            candidates = self._client.list(self._resources[CATALOG], self._options.namespace)
        return [one for live in candidates if is_ours(live) for one in self._unused(found, live)]

    def _delete_roles(self, groups: set[str]) -> None:
        """Delete the ClusterRoles that OLM made for OperatorGroups of the namespace, except for those of ``groups``.

        OLM deletes those that it knows of when the OperatorGroup is deleted, and possibly writes one at the same time, which then stays.
        """
        if self._check:
            return
        resource = self._client.resource(*_CLUSTER_ROLE)
        selector = f"olm.owner.kind={GROUP},olm.owner.namespace={self._options.namespace}"
        try:
            found = self._client.list(resource, label_selector=selector)
        except ApiError as error:
            if error.status != 403:
                raise
            return
        left = [one for one in found if one["metadata"]["labels"].get("olm.owner") not in groups]
        roles = {Identity.of(one): one for one in left if name_of(one).startswith("olm.og.")}
        patience = Deadline(max(0, min(_ROLES_SECONDS, self._deadline.remaining())))
        with contextlib.suppress(NotDeleted):
            until_gone(self._client, [(identity, resource, one["metadata"]["uid"]) for identity, one in roles.items()], patience, roles.pop)
        self._delete([Doomed(identity, resource, one) for identity, one in roles.items()])

    def _unused(self, found: Existing, live: Object) -> list[Doomed]:
        here = (live["metadata"]["namespace"], name_of(live))
        users = [
            one
            for one in found.subscriptions
            if (spec(one, "sourceNamespace"), spec(one, "source")) == here
            and (one["metadata"]["namespace"], name_of(one)) != (self._options.namespace, self._options.name)
        ]
        if users:
            names = ", ".join("{0}/{1}".format(one["metadata"]["namespace"], name_of(one)) for one in users)
            self._warn(f"CatalogSource {here[0]}/{here[1]} is not deleted: other Subscriptions use it ({names}).")
            return []
        return [self._doomed(CATALOG, name_of(live), live)]

    def _delete_record(self, definitions: list[Doomed] | None, kept: list[Doomed]) -> None:
        """Delete OLM's record of the operator."""
        if definitions is None or (definitions and (kept or not self._options.delete_crds)):
            return
        try:
            self._delete(record(self._client, self._options, self._deadline, self._check))
        except ClusterError as error:
            if getattr(error, "status", None) != 403 and error.result.get("status") != 403:
                raise
            self._warn(f"OLM's record of the operator, an object of the kind Operator, is not deleted: {error.message}")

    def _namespace(self, found: Existing) -> list[Doomed]:
        live = found.namespace
        if live is None or not is_ours(live):
            return []
        name = self._options.namespace
        staying = namespace_contents.list_contents(self._client, name, self._gone)
        if staying:
            self._warn(f"Namespace {name} is not deleted: it still contains {namespace_contents.described(staying)}.")
            return []
        one = namespace_identity(name)
        return [Doomed(one, self._client.resource(one.api_version, one.kind), live)]


def record(client: Client, options: Options, deadline: Deadline, check: bool) -> list[Doomed]:
    """OLM's record of an operator as a list of `Doomed`, once it names no component any more: until then OLM would make it again."""
    # OLM names it after the label, where that had to be cut too.
    name = component_label(options.package, options.namespace).partition("/")[2]
    try:
        resource = client.resource(V1, "Operator")
    except ApiError as error:
        if error.status != 404:
            raise
        return []
    live = client.get(resource, name)
    one = Identity(V1, "Operator", None, name)
    if live and not check:
        patience = Deadline(max(0, min(_RECORD_SECONDS, deadline.remaining())))
        with contextlib.suppress(ClusterError):
            live = until_ready(client, [Target(one, resource, _is_empty)], patience, {one: live})[one]
    return [Doomed(one, resource, live)] if live else []


def _owner(live: Object) -> str | None:
    """The namespace of the operator that OLM made it for."""
    owner: str | None = (live["metadata"].get("labels") or {}).get("olm.owner.namespace")
    return owner


def _creator(definition: Object) -> str:
    """The field managers that created or applied a CRD. OLM updates an existing one without owning its group, which cannot change."""
    return ", ".join(_creators(definition)) or "unknown"


def _creators(definition: Object) -> list[str]:
    entries = definition["metadata"].get("managedFields") or []
    return [one["manager"] for one in entries if "f:group" in (one.get("fieldsV1") or {}).get("f:spec", {})]


def _is_of_olm(definition: Object) -> bool:
    """Did OLM, or this collection, create a CRD?"""
    found = _creators(definition)
    return bool(found) and all(name == _CATALOG_OPERATOR or name.startswith(FIELD_MANAGER) for name in found)


def _owned(csv: Object) -> list[str]:
    return [one["name"] for one in (spec(csv, "customresourcedefinitions") or {}).get("owned") or []]


def _is_empty(record: Object) -> readiness.Verdict:
    """Does OLM's record of an operator name no component any more?"""
    refs = (status(record, "components") or {}).get("refs") or []
    return readiness.Verdict(readiness.PENDING if refs else readiness.READY, f"{len(refs)} components")
