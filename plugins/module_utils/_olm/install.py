# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From "not there" to "ClusterServiceVersion Succeeded": what is written, in which order, and what is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import apply, apply_result, namespace_contents, readiness
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.api_errors import FORCE, refusal
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_result import Report
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.delete import Doomed, delete
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.object_comparison import applied
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.wait import (
    GRACE_SECONDS,
    Deadline,
    Patience,
    of_newest_template,
    pods_of,
)
from ansible_collections.osso.scheduler.plugins.module_utils._olm import catalog as catalogs
from ansible_collections.osso.scheduler.plugins.module_utils._olm import crd_compatibility, diagnose, group, install_plans, outcome
from ansible_collections.osso.scheduler.plugins.module_utils._olm.catalog import Offer
from ansible_collections.osso.scheduler.plugins.module_utils._olm.diagnose import Goal, Seen, Verdict, evaluate
from ansible_collections.osso.scheduler.plugins.module_utils._olm.objects import (
    CATALOG,
    CSV,
    FIELD_MANAGER,
    PLAN,
    PREPARED,
    SUBSCRIPTION,
    Options,
    identity,
    is_ours,
    manifest,
    name_of,
    namespace_identity,
    namespace_manifest,
    resources,
    spec,
    status,
)
from ansible_collections.osso.scheduler.plugins.module_utils._olm.preconditions import (
    Existing,
    read_existing,
    refuse_namesakes,
    refuse_orphans,
    refuse_rivals,
)
from ansible_collections.osso.scheduler.plugins.module_utils._olm.removal import record
from ansible_collections.osso.scheduler.plugins.module_utils._olm.watching import Selection, Watcher

_TICK_SECONDS = 1
_POD_SECONDS = 5
# What OLM needs to delete what it made for a Subscription
_WITHDRAWAL_SECONDS = 60


class Install:
    """One run with ``state: present`` or ``prepared``. ``result()`` is what the module returns, also after a failure."""

    def __init__(self, client: Client, options: Options, report: Report, warn: Callable[[str], None], check: bool) -> None:
        self._client = client
        self._options = options
        self._report = report
        self._warn = warn
        self._check = check
        self._deadline = Deadline(options.wait_timeout)
        self._seen = Seen(None, [], {}, {}, None)
        self._offer = catalogs.UNKNOWN
        self._versions = install_plans.Versions(options.package)
        self._approved: str | None = None
        self._approved_generation = 0
        self._short = ""
        self._pending = ""
        self._ready = ""
        self._fresh = False
        self._written: list[Identity] = []
        self._patience = Patience()

    def run(self) -> None:
        self._resources = resources(self._client)
        found, self._options = read_existing(self._client, self._resources, self._options)
        options = self._options
        self._see(Seen(found.subscription, found.plans, {name_of(one): one for one in found.csvs}, {}, found.catalog))
        if not options.source:
            raise InputError(self._no_source())
        refuse_namesakes(found, options)
        self._versions.learn(found.plans, found.csvs)
        refuse_orphans(found, options, self._versions)
        refuse_rivals(self._client, self._resources, found, options)
        group_manifest, group_name = group.wanted(found.groups, options, found.tenants(options))
        base = [*self._namespace(found), *([group_manifest] if group_manifest else []), *self._catalog(found)]
        if found.catalog is None and not options.catalog:
            raise catalogs.absent(options, self._sources())
        if group_manifest is None:
            self._report.add(
                identity("OperatorGroup", group_name, options.namespace), apply_result.UNCHANGED, found.groups[0], found.groups[0]
            )
        if self._check:
            self._predict(found, base)
            return
        known = record(self._client, options, self._deadline, check=True) if options.state == PREPARED else []
        try:
            self._install(found, base)
        except ClusterError as error:
            if options.state == PREPARED:
                self._withdraw(found, known, error)
            raise

    def result(self) -> dict[str, Any]:
        channel = spec(self._seen.subscription, "channel") or self._options.channel
        return outcome.result(self._seen, self._options, self._offer, channel, self._versions, self._message(), self._approved)

    def _no_source(self) -> str:
        names = catalogs.listing(self._sources())
        return f"source is missing; name the CatalogSource that contains package {self._options.package}. There are: {names}."

    def _sources(self) -> list[Object]:
        """All CatalogSources, as far as the user may see them."""
        for namespace in (None, self._options.source_namespace):
            try:
                return self._client.list(self._resources[CATALOG], namespace)
            except ApiError as error:
                if error.status != 403:
                    raise
        return []

    # What is written

    def _namespace(self, found: Existing) -> list[Object]:
        options, labels = self._options, self._options.namespace_labels or {}
        if found.namespace is None or is_ours(found.namespace):
            return [namespace_manifest(options.namespace, dict(options.labels or {}, **labels), ours=True)]
        if labels:
            return [namespace_manifest(options.namespace, labels, ours=False)]
        self._report.add(namespace_identity(options.namespace), apply_result.UNCHANGED, found.namespace, found.namespace)
        return []

    def _catalog(self, found: Existing) -> list[Object]:
        options = self._options
        if not options.catalog:
            return []
        if found.catalog is None:
            self._refuse_foreign_account()
        ours = found.catalog is None or is_ours(found.catalog)
        where = options.catalog_identity
        return [catalogs.source(where.name, where.namespace, options.catalog, options.labels, ours)]

    def _refuse_foreign_account(self) -> None:
        """Raise `InputError` where OLM would wait for ever for the ServiceAccount of a new catalog, since its name is taken."""
        options, where = self._options, self._options.catalog_identity
        try:
            live = self._client.get(self._client.resource("v1", "ServiceAccount"), where.name, where.namespace)
        except ApiError as error:
            if error.status != 403:
                raise
            return
        if live and "olm.managed" not in (live["metadata"].get("labels") or {}):
            raise InputError(
                f"source is {options.source}, but namespace {options.source_namespace} has a ServiceAccount of this name already, and OLM needs "
                "one for the catalog alone. Give source another name."
            )

    def _subscription(self, live: Object | None) -> Object:
        """The Subscription for what the catalog offers."""
        options, offer = self._options, self._offer
        channel = catalogs.channel(offer, options, live)
        installed = self._installed(live)
        wanted: Object = {"name": options.package, "source": options.source, "sourceNamespace": options.source_namespace}
        if channel:
            wanted["channel"] = channel
        automatic = options.upgrade == "channel" and options.approval == "Automatic" and options.state != PREPARED
        wanted["installPlanApproval"] = "Automatic" if automatic else "Manual"
        # It matters for the first installation only, and stays as it was then.
        starting = spec(live, "startingCSV") if installed else options.starting_csv or spec(live, "startingCSV")
        if options.upgrade == "version" and not self._versions.matches(installed, options.wanted_version):
            starting = self._step(channel, installed) or starting
        elif not installed and options.starting_csv and offer.package:
            starting = catalogs.csv_for(offer, channel, options.starting_csv, "starting_csv")
        if starting:
            wanted["startingCSV"] = starting
        if options.config:
            wanted["config"] = options.config
        return manifest(SUBSCRIPTION, options.name, options.namespace, wanted, options.labels)

    def _step(self, channel: str | None, installed: str | None) -> str | None:
        """The CSV to start with for ``version``; None where one is installed. Raises `InputError` for a version that cannot be reached."""
        options, there = self._options, self._versions.version(installed)
        if there and install_plans.precedes(options.wanted_version, there):
            raise InputError(
                f"version is {options.version}, but {installed} is installed, and OLM does not go back. Remove the operator with state: "
                "absent first, or set a version that is not older."
            )
        if self._offer.package is None and (installed or options.starting_csv):
            return None  # OLM will say.
        wanted = catalogs.csv_for(self._offer, channel, options.wanted_version, "version")
        return None if installed else wanted

    def _apply(self, manifests: list[Object], force: bool = False) -> None:
        self._written += [Identity.of(one) for one in manifests]
        run = apply.Run(
            self._client,
            apply.Options(
                manifests,
                check=self._check,
                field_manager=FIELD_MANAGER,
                force_conflicts=force or self._options.force,
                wait_timeout=self._options.wait_timeout,
            ),
            self._report,
            self._warn,
        )
        try:
            run.present()
        except ClusterError as error:
            # apply has another name for the option.
            error.message = error.message.replace(FORCE, "force: true")
            raise

    def _install(self, found: Existing, base: list[Object]) -> None:
        options = self._options
        image = (options.catalog or {}).get("image")
        changed = bool(found.catalog and image and spec(found.catalog, "image") != image)
        reader = catalogs.Reader(self._client, options.catalog_identity)
        before = reader.offer(options.package) if changed else None
        if options.catalog:
            self._apply(base)
            base = []
        live = self._until_served(image if changed else None)
        self._fresh = changed or catalogs.is_young(live)
        self._seen = self._seen._replace(catalog=live)
        self._take(reader.until_offered(live, options, self._deadline, before))
        self._apply([*base, self._subscription(found.subscription)])
        self._settle()

    def _withdraw(self, found: Existing, known: list[Doomed], error: ClusterError) -> None:
        """Delete the objects that a failed preparation created, and restore those that it changed; ``error`` gets the names of those that stay.

        ``known`` is OLM's record of the operator before, as a list.
        """
        if not self._written:
            return
        before = {Identity.of(one).key: one for one in (found.namespace, found.subscription, found.catalog, *found.groups) if one}
        deadline = Deadline(_WITHDRAWAL_SECONDS)
        try:
            for one in reversed(list(dict.fromkeys(self._written))):
                if one.key in before:
                    self._apply([applied(before[one.key], FIELD_MANAGER)], force=True)
                else:
                    self._remove(one, deadline)
                self._report.undo(one)
            if not known:
                delete(self._client, record(self._client, self._options, deadline, check=False), self._scratch(), deadline)
        except ClusterError as failure:
            error.message = error.message.rstrip(".") + f". The changes for it could not be reverted: {failure.message}"
        else:
            error.message = error.message.rstrip(".") + ". The changes for it were reverted."

    def _remove(self, one: Identity, deadline: Deadline) -> None:
        resource = self._client.resource(one.api_version, one.kind)
        live = self._client.get(resource, one.name, one.namespace)
        if live and not (one.kind == "Namespace" and namespace_contents.list_contents(self._client, one.name, set())):
            delete(self._client, [Doomed(one, resource, live)], self._scratch(), deadline)

    def _scratch(self) -> Report:
        return Report(self._client, check=False, with_diff=False)

    def _predict(self, found: Existing, base: list[Object]) -> None:
        """Check mode: nothing is waited for, and a catalog that this run would make or change cannot be asked."""
        options = self._options
        if diagnose.is_deleted(self._seen):
            raise ClusterError(evaluate(self._seen, self._goal()).why + ".")
        same = not options.catalog or (found.catalog and spec(found.catalog, "image") == options.catalog["image"])
        if not same:
            why = "would be changed" if found.catalog else "does not exist yet"
        elif catalogs.state(found.catalog) != "READY":
            why = f"is not ready ({catalogs.evaluate(found.catalog).why})"
        else:
            offer = catalogs.Reader(self._client, options.catalog_identity).offer(options.package)
            why = "" if offer.packages else "lists no packages now"
            if not why:
                self._take(offer)
        if why:
            self._warn(
                f"Check mode: CatalogSource {options.source_namespace}/{options.source} {why}, so its image, and the package, channel, version and "
                "bundle in it, are not verified. A run verifies them before it writes the Subscription."
            )
        self._learn()
        if self._offer.package is None and options.upgrade == "version" and not options.starting_csv and not found.subscription:
            # Which CSV it starts with cannot be known yet, and changes nothing about what is predicted.
            self._options = options._replace(upgrade="none")
        self._apply([*base, self._subscription(found.subscription)])
        self._options = options
        if found.subscription is not None and options.state != PREPARED:
            self._approve()
            if self._earlier() and not self._approved and not self._goal().reached(self._installed(found.subscription) or ""):
                raise ClusterError(self._failure(evaluate(self._seen, self._goal())))
            self._note_waiting()
            if self._uninstalled() and not (self._pending and self._asks()):
                self._warn(self._message())

    def _take(self, offer: Offer) -> None:
        problem = catalogs.problem(offer, self._options)
        self._offer = offer
        if problem:
            raise InputError(problem)
        entries = offer.package.entries if offer.package else []
        self._versions = install_plans.Versions(self._options.package, entries)
        self._learn()
        self._refuse_unknown_approval()

    def _refuse_unknown_approval(self) -> None:
        """Raise `InputError` for ``approve`` that is no version of the channel, neither installed nor offered by an InstallPlan."""
        options, live = self._options, self._seen.subscription
        if options.approve is None or self._offer.package is None:
            return
        installed = self._installed(live)
        if installed and self._is_past(installed, options.approve):
            return
        known = [installed, *(name for one in self._seen.plans for name in install_plans.csvs_of(one) if self._versions.is_ours(name))]
        if not any(self._versions.matches(name, options.approve) for name in known):
            catalogs.csv_for(self._offer, catalogs.channel(self._offer, options, live), options.approve, "approve")

    def _learn(self) -> None:
        subscriptions = [self._seen.subscription] if self._seen.subscription else []
        self._versions.learn(self._seen.plans, self._seen.csvs.values(), subscriptions)

    # What is waited for

    def _until_served(self, image: str | None) -> Object:
        """The CatalogSource, once it is READY, and with ``image`` once a pod of that image serves it."""
        options, where = self._options, self._options.catalog_identity
        selections = {CATALOG: Selection(self._resources[CATALOG], where.namespace, where.name)}
        if image or catalogs.evaluate(self._seen.catalog).state != readiness.READY:
            of_pods = Selection(self._client.resource("v1", "Pod"), where.namespace, label_selector="olm.catalogSource=" + where.name)
            if self._may_list(of_pods):
                selections["Pod"] = of_pods
            else:
                image = None
        with Watcher(self._client, selections) as watcher:
            while True:
                live = watcher.objects(CATALOG).get(where.name)
                pods = list(watcher.objects("Pod").values()) if "Pod" in selections else []
                if live and catalogs.evaluate(live).state == readiness.READY and (not image or catalogs.serves(pods, image)):
                    return live
                self._seen = self._seen._replace(catalog=live)
                given = (options.catalog or {}).get("image")
                if self._deadline.remaining() <= 0 or self._patience.ends(
                    any(readiness.cannot_start(pod) for pod in pods if not given or catalogs.runs(pod, given))
                ):
                    raise ClusterError(self._unserved(live, image, pods))
                watcher.wait(min(_TICK_SECONDS, self._deadline.remaining()))

    def _unserved(self, live: Object | None, image: str | None, pods: list[Object]) -> str:
        options = self._options
        why = [catalogs.evaluate(live).why or f"no pod runs image {image} yet" if live else "it does not exist"]
        text = "{0}. CatalogSource {1}/{2}: {3}".format(
            self._given_up(), options.source_namespace, options.source, "; ".join(why + readiness.pod_problems(pods))
        )
        if any(readiness.cannot_start(pod) for pod in pods):
            text += (
                ". Correct catalog.image, or name a pull secret in catalog.secrets."
                if options.catalog
                else ". Correct the image of this CatalogSource, or name another one by source and source_namespace."
            )
        return text.rstrip(".") + "."

    def _given_up(self) -> str:
        return (
            "Will not become ready" if self._deadline.remaining() > 0 else f"Not ready after {self._options.wait_timeout} s (wait_timeout)"
        )

    def _may_list(self, selection: Selection) -> bool:
        try:
            selection.list(self._client)
        except ApiError as error:
            if error.status != 403:
                raise
            return False
        return True

    def _settle(self) -> None:
        """Wait until OLM has installed the requested version, and approve the permitted InstallPlans."""
        options, where = self._options, self._options.catalog_identity
        selections = {
            SUBSCRIPTION: Selection(self._resources[SUBSCRIPTION], options.namespace, options.name),
            PLAN: Selection(self._resources[PLAN], options.namespace),
            CSV: Selection(self._resources[CSV], options.namespace),
            CATALOG: Selection(self._resources[CATALOG], where.namespace, where.name),
            "Deployment": Selection(self._client.resource("apps/v1", "Deployment"), options.namespace),
        }
        goal, self._patience = self._goal(), Patience()
        since, before, looked = time.monotonic(), None, 0.0
        with Watcher(self._client, selections) as watcher:
            while True:
                self._see(
                    Seen(
                        watcher.objects(SUBSCRIPTION).get(options.name),
                        list(watcher.objects(PLAN).values()),
                        watcher.objects(CSV),
                        watcher.objects("Deployment"),
                        watcher.objects(CATALOG).get(where.name),
                    )
                )
                self._learn()
                if options.state == PREPARED and self._is_prepared():
                    return
                if options.state != PREPARED:
                    self._approve()
                verdict = evaluate(self._seen, goal)
                unsteady = self._unsteady() if verdict.state in (diagnose.READY, diagnose.SHORT) and options.wait else ""
                if unsteady:
                    verdict = Verdict(diagnose.PENDING, unsteady)
                if verdict.state != before:
                    since, before = time.monotonic(), verdict.state
                if verdict.state == diagnose.READY:
                    self._complete_plan(selections[PLAN])
                    self._note_waiting()
                    return
                if not options.wait and options.state != PREPARED:
                    if spec(self._seen.subscription, "installPlanApproval") == "Manual" and not self._approved and not self._asks():
                        self._warn("wait is false, and there is no InstallPlan to approve yet. Run it again, or OLM waits forever.")
                    if verdict.state == diagnose.FAILED and self._uninstalled():
                        self._warn(self._message())
                    return
                broken = False
                if verdict.state == diagnose.PENDING and time.monotonic() - looked >= _POD_SECONDS:
                    looked, broken = time.monotonic(), self._patience.ends(self._cannot_start())
                if broken or self._is_final(verdict, time.monotonic() - since):
                    self._give_up(verdict)
                    return
                watcher.wait(min(_TICK_SECONDS, self._deadline.remaining()))

    def _unsteady(self) -> str:
        """Why an operator that is available may still crash; "" if this is not expected."""
        try:
            pods = self._operator_pods()
            found = [("pod " + name_of(pod), readiness.unsteady(pod, self._client.server_time())) for pod in pods]
        except ApiError as error:
            if error.status != 403:
                raise
            mine = diagnose.deployments_of(self._seen.csvs.get(status(self._seen.subscription, "installedCSV")) or {})
            live = [one for name, one in self._seen.deployments.items() if name in mine]
            found = [("Deployment " + name_of(one), readiness.newly_available(one, self._client.server_time())) for one in live]
        return next((f"{what}: {why}" for what, why in found if why), "")

    def _see(self, seen: Seen) -> None:
        """Remember the objects, with the CSV that the Subscription names as installed: a list without copies, or a watch, may lack it."""
        name = status(seen.subscription, "installedCSV")
        if name and name not in seen.csvs:
            csv = self._client.get(self._resources[CSV], name, self._options.namespace)
            seen = seen._replace(csvs={**seen.csvs, name: csv}) if csv else seen
        self._seen = seen

    def _complete_plan(self, selection: Selection) -> None:
        """Read the InstallPlans again if the one in the result is not complete: its watch may be later than that of the CSV."""
        shown = outcome.shown_plan(self._seen, self._approved)
        if status(shown, "phase") != "Complete":
            self._see(self._seen._replace(plans=selection.list(self._client)))

    def _installed(self, subscription: Object | None) -> str | None:
        """The CSV that is installed: the status of a Subscription may name one that was deleted."""
        name: str | None = status(subscription, "installedCSV")
        return name if name in self._seen.csvs else None

    def _note_waiting(self) -> None:
        """Remember an InstallPlan with a newer version that waits for the user's approval; with a warning, unless ``approve`` names the installed one."""
        referred = install_plans.current(self._seen.plans, self._seen.subscription)
        if (
            self._options.approval != "Manual"
            or referred is None
            or not install_plans.waits_for_approval(referred)
            or name_of(referred) == self._approved
        ):
            return
        self._pending = diagnose.waiting(referred)
        if self._asks():
            self._warn(self._message())

    def _is_prepared(self) -> bool:
        """Does an InstallPlan wait that the user agreed to? Raises `ClusterError` where OLM could not execute it."""
        waiting = self._to_approve()
        if waiting is None:
            return False
        try:
            problems = crd_compatibility.problems(self._client, waiting)
        except ClusterError as error:
            if error.result.get("status") != 403:
                raise
            self._warn(
                f"The definitions in the bundle were not compared with those of the cluster and with existing objects: {error.message}"
            )
            problems = []
        if problems:
            raise ClusterError("{0} cannot be installed: {1}.".format(", ".join(install_plans.csvs_of(waiting)), "; ".join(problems)))
        self._ready = f"{', '.join(install_plans.csvs_of(waiting))} can be installed: InstallPlan {name_of(waiting)} waits for approval."
        return True

    def _is_final(self, verdict: Verdict, seconds: float) -> bool:
        if self._deadline.remaining() <= 0:
            return True
        if verdict.state == diagnose.PENDING:
            return False
        waits = verdict.state == diagnose.APPROVAL and (self._asks() or (bool(self._earlier()) and not self._report.result()["changed"]))
        at_once = waits or (verdict.state == diagnose.SHORT and not self._is_news())
        return at_once or seconds >= GRACE_SECONDS

    def _asks(self) -> bool:
        """Is it for a person to approve?"""
        return self._options.approval == "Manual" and self._options.approve is None

    def _is_news(self) -> bool:
        return self._fresh or self._report.result()["changed"]

    def _give_up(self, verdict: Verdict) -> None:
        if verdict.state == diagnose.SHORT:
            if self._offer.package is None:
                return  # Without a list of what the channel offers there is nothing to compare with.
            self._short = verdict.why
        elif verdict.state == diagnose.APPROVAL and self._asks():
            self._pending = verdict.why
        else:
            raise ClusterError(self._failure(verdict))
        self._warn(self._message())

    def _failure(self, verdict: Verdict) -> str:
        why = verdict.why
        options = self._options
        if verdict.state == diagnose.APPROVAL:
            asked = f"approve is {options.approve}" if options.approve else f"version is {options.version or options.starting_csv}"
            why += f"; {asked}, which it does not install, so it was not approved"
            if self._earlier():
                why += f". OLM upgrades step by step: set approve: {self._earlier()} first, and approve: {options.approve} when its InstallPlan waits"
        pods, unread = self._pods()
        return f"{self._given_up()}. {'; '.join([why, *readiness.pod_problems(pods), *unread])}".rstrip(".") + "."

    def _pods(self) -> tuple[list[Object], list[str]]:
        """The pods that a Subscription waits for: those which unpack bundles, and those of the operator; and why they could not be read."""
        pods = []
        try:
            if diagnose.needs_unpack_pods(self._seen):
                resource = self._client.resource("v1", "Pod")
                pods += self._client.list(resource, self._options.source_namespace, label_selector="operatorframework.io/bundle-unpack-ref")
            return pods + self._operator_pods(), []
        except ApiError as error:
            return pods, ["its pods could not be read: " + error.message]

    def _operator_pods(self) -> list[Object]:
        """The pods of the CSV that is coming. Raises `ApiError`."""
        seen, pods = self._seen, []
        csv = seen.csvs.get(status(seen.subscription, "currentCSV"))
        if csv is None:
            return []
        for name in diagnose.deployments_of(csv):
            found = pods_of(self._client, seen.deployments.get(name))
            # Older ones are of the version before, or of a configuration before.
            pods += of_newest_template(
                [one for one in found if one["metadata"]["creationTimestamp"] >= csv["metadata"]["creationTimestamp"]]
            )
        return pods

    def _cannot_start(self) -> bool:
        """Can the bundle not be pulled, or a pod of the operator not start?"""
        if diagnose.bundle_cannot_be_pulled(self._seen):
            return True
        try:
            return any(map(readiness.cannot_start, self._operator_pods()))
        except ApiError as error:
            if error.status != 403:
                raise
            return False

    def _goal(self) -> Goal:
        options, versions = self._options, self._versions
        head = None
        if self._offer.package:
            head = self._offer.package.heads.get(catalogs.channel(self._offer, options, self._seen.subscription) or "")

        def reached(name: str) -> bool:
            if options.upgrade == "version":
                return versions.matches(name, options.wanted_version)
            if options.upgrade == "none":
                return True
            if options.approval == "Manual":
                return options.approve is None or versions.matches(name, options.approve) or self._is_past(name, options.approve)
            return name == head if head else status(self._seen.subscription, "state") == "AtLatestKnown" and not self._fresh

        def short(name: str) -> bool:
            return options.upgrade == "channel" and options.approval == "Automatic"

        return Goal(reached, short, options.config or {}, lambda found: any(self._agrees(name) for name in install_plans.csvs_of(found)))

    def _is_past(self, name: str, version: str) -> bool:
        there, wanted = self._versions.version(name), self._versions.version(version) or version
        return there is not None and install_plans.precedes(wanted, there)

    # Approval

    def _earlier(self) -> str | None:
        """The version that waits for approval and is older than the one in ``approve``, so that it has to be approved before."""
        referred, wanted = install_plans.current(self._seen.plans, self._seen.subscription), self._options.approve
        if wanted is None or referred is None or not install_plans.waits_for_approval(referred):
            return None
        wanted = self._versions.version(wanted) or wanted
        found = [self._versions.version(name) for name in install_plans.csvs_of(referred) if self._versions.is_ours(name)]
        return next((one for one in found if one and install_plans.precedes(one, wanted)), None)

    def _agrees(self, name: str) -> bool:
        """Did the user request the CSV of this name in a plan that waits for approval?"""
        options, versions = self._options, self._versions
        installed = self._installed(self._seen.subscription)
        if installed and (name == installed or not self._is_newer(name, installed)):
            return False
        if options.approval == "Manual" and (options.approve or options.state != PREPARED):
            return options.approve is not None and versions.matches(name, options.approve)
        if not self._is_referred(name):
            return False
        if options.upgrade == "version":
            # What lies between is a step on the way, if it is known to lead there.
            return versions.matches(name, options.wanted_version) or (
                self._offer.package is not None and self._is_newer(options.wanted_version, name)
            )
        if options.upgrade == "none":
            return not installed and (not options.starting_csv or versions.matches(name, options.starting_csv))
        return True

    def _is_newer(self, name: str, other: str) -> bool:
        new, old = (self._versions.version(one) or one for one in (name, other))
        return install_plans.precedes(old, new)

    def _is_referred(self, name: str) -> bool:
        referred = install_plans.current(self._seen.plans, self._seen.subscription)
        return referred is not None and name in install_plans.csvs_of(referred)

    def _to_approve(self) -> Object | None:
        return install_plans.to_approve(
            self._seen.plans, self._seen.subscription, self._versions, self._agrees, self._options.approve_others
        )

    def _approve(self) -> None:
        """Approve the InstallPlan that the user agreed to, if there is one that waits."""
        options = self._options
        found = self._to_approve()
        if found is None:
            return
        if name_of(found) == self._approved:
            # What was read before this run's approval is older.
            if found["metadata"].get("generation", 0) > self._approved_generation:
                raise ClusterError(
                    f"InstallPlan {name_of(found)} was approved by this task, but its approval was withdrawn before OLM executed it. It is not "
                    "approved again; run this task again when the plan may be executed."
                )
            return
        where = identity(PLAN, name_of(found), options.namespace)
        try:
            after = self._client.json_patch(
                self._resources[PLAN],
                name_of(found),
                options.namespace,
                install_plans.approval(found),
                field_manager=FIELD_MANAGER,
                dry_run=self._check,
            )
        except ApiError as error:
            if error.status in (404, 409, 422):
                return  # It has changed meanwhile: the watch delivers the new one.
            raise refusal(error, where, "approve") from None
        self._approved, self._approved_generation = name_of(found), after["metadata"].get("generation", 0)
        self._report.add(where, apply_result.UPDATED, found, after)

    def _message(self) -> str:
        seen, options = self._seen, self._options
        if self._ready:
            return self._ready
        installed, lacking = status(seen.subscription, "installedCSV"), self._uninstalled()
        if lacking:
            text = f"{options.package} is not installed in namespace {options.namespace} yet: {lacking.rstrip('.')}."
        else:
            text = (
                f"{installed} is installed in namespace {options.namespace}." if installed else f"{options.package} is not installed yet."
            )
        if self._pending:
            text += f" {self._pending}: approve it with approve: {self._pending_version()}."
        elif self._short:
            text += f" {self._short}."
        elif installed and options.approval == "Manual":
            channel = catalogs.channel(self._offer, options, seen.subscription)
            newer = outcome.offered(self._offer, channel, self._versions, installed)
            if newer:
                text += (
                    f" Channel {channel} offers {', '.join(newer)}, and OLM upgrades step by step: run again when OLM has written the InstallPlan "
                    "for the next version."
                )
        return text

    def _uninstalled(self) -> str:
        """Why the CSV that the Subscription names as installed is not; "" if it is, or the Subscription names none."""
        installed = status(self._seen.subscription, "installedCSV")
        return diagnose.uninstalled(installed, self._seen.csvs.get(installed)) if installed else ""

    def _pending_version(self) -> str | None:
        name = status(self._seen.subscription, "currentCSV")
        return self._versions.version(name) or name
