# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bring a set of manifests to the cluster, or remove it."""

from __future__ import annotations

import time
from typing import NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils.cluster import diff, inventory, lookup, order, readiness, wait
from ansible_collections.osso.scheduler.plugins.module_utils.cluster import report as action
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import FIELD_MANAGER
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.compare import is_applied, owned_fields
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.delete import Doomed, delete
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ApiError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.explain import refusal
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.manifests import Identity, desired
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.resources import KNOWN

_CRD = "CustomResourceDefinition"
_RETRY_PAUSE = 0.2
_MAX_RACES = 5


class Options(NamedTuple):
    """What to do with a set; the meaning of each is documented in the module ``apply``."""

    manifests: list
    check: bool = False
    field_manager: str = FIELD_MANAGER
    force_conflicts: bool = False
    set_name: str | None = None
    set_namespace: str | None = None
    prune: bool = False
    owner: dict | None = None
    subresource: str | None = None
    wait: bool = False
    wait_for: list = ()
    wait_timeout: int = 300
    all_of: list = ()


class Run:
    """One run over one set. ``warn`` is called with texts; ``report`` collects what was done, also when a call raises."""

    def __init__(self, client, options, report, warn):
        self._client = client
        self._options = options
        self._report = report
        self._warn = warn
        self._deadline = wait.Deadline(options.wait_timeout)
        wanted = [desired(obj, options.set_name, options.owner, options.subresource) for obj in options.manifests]
        self._wanted = {Identity.of(obj): obj for obj in wanted}
        self._own_kinds = lookup.learn_definitions(client, wanted)
        self._resources = {}
        self._live = {}
        # Check mode only: what an earlier object of this run would have created, and namespaces found missing
        self._predicted = set()
        self._missing_namespaces = set()
        self._warned = set()
        self._inventory = inventory.identity(options.set_name, options.set_namespace) if options.set_name else None

    def present(self):
        """Apply the set: see `Options`."""
        targets = self._targets()
        self._locate(self._wanted)
        if not self._options.check:
            self._locate(identity for identity, judge in targets)
            self._refuse_unknown_kinds()
        self._read(self._wanted)
        members = self._recorded()
        stale = [member for member in members if member.key not in {identity.key for identity in self._wanted}]

        recorded = False
        for phase in order.phases(self._wanted):
            if not recorded and order.phase(phase[0]) != order.NAMESPACES:
                self._record(inventory.union(members, self._wanted))
                recorded = True
            for identity in phase:
                self._apply(identity, self._wanted[identity], self._options.force_conflicts)
            self._establish(phase)
        if not recorded:
            self._record(inventory.union(members, self._wanted))
        if not self._options.check:
            self._wait(targets)
        if self._options.prune:
            kept = self._prune(stale)
            self._record(inventory.union(kept, self._wanted))

    def absent(self):
        """Delete the manifests, every object of the kinds in ``all_of``, and what the set's inventory names."""
        self._locate(self._wanted)
        self._read(self._wanted)
        doomed = [Doomed(identity, self._resources[identity], self._live[identity]) for identity in self._wanted]
        named = {identity.key for identity in self._wanted}
        for selection in self._options.all_of:
            doomed += [one for one in self._all_of(selection) if one.identity.key not in named]
        home = []
        if self._inventory:
            others = [member for member in self._recorded() if member.key not in {one.identity.key for one in doomed}]
            self._locate(others)
            self._read(others)
            doomed += [one for one in map(self._doomed, others) if one.live and inventory.carries_label(one.live, self._options.set_name)]
            # The inventory goes last, so that an interrupted run can be repeated; only its own namespace is deleted after it.
            home = [one for one in doomed if one.identity.key == ("", "Namespace", None, self._options.set_namespace)]
            doomed = [one for one in doomed if one not in home]
        delete(self._client, doomed, self._report, self._deadline, self._options.check)
        if self._inventory:
            delete(self._client, [self._doomed(self._inventory)], self._report, self._deadline, self._options.check)
        delete(self._client, home, self._report, self._deadline, self._options.check)

    # Reading

    def _locate(self, identities):
        for identity in identities:
            self._resources[identity] = lookup.locate(self._client, identity)

    def _read(self, identities):
        self._live.update(lookup.read(self._client, {identity: self._resources[identity] for identity in identities}))

    def _doomed(self, identity):
        return Doomed(identity, self._resources[identity], self._live[identity])

    def _refuse_unknown_kinds(self):
        for identity, resource in self._resources.items():
            if resource is None:
                raise InputError(
                    f"{identity}: the API server does not serve {identity.api_version} {identity.kind}. "
                    "Install its CustomResourceDefinition first, or put it into the manifests."
                )

    def _recorded(self):
        """The members that the inventory names; [] without a set."""
        if not self._inventory:
            return []
        self._locate([self._inventory])
        self._read([self._inventory])
        return inventory.members(self._live[self._inventory])

    def _all_of(self, selection):
        kind = Identity(selection["api_version"], selection["kind"], None, "*")
        try:
            resource = self._client.resource(kind.api_version, kind.kind)
            found = self._client.list(resource, selection.get("namespace"), label_selector=selection.get("label_selector"))
        except ApiError as error:
            if error.status == 404:
                return []
            raise refusal(error, kind, "list") from None
        return [Doomed(Identity.of(obj), resource, obj) for obj in found]

    # Applying

    def _apply(self, identity, wanted, force):
        options, live = self._options, self._live[identity]
        dying = bool(live) and "deletionTimestamp" in live["metadata"]
        if dying and not options.check:
            wait.until_gone(self._client, [(identity, self._resources[identity], live["metadata"]["uid"])], self._deadline)
            live = self._live[identity] = None
        if live and not dying and is_applied(wanted, live, options.field_manager, options.subresource):
            self._report.add(identity, action.UNCHANGED, live, live)
        elif options.check:
            self._predict(identity, wanted, force, live)
        else:
            after = self._live[identity] = self._patch(identity, wanted, force)
            if live is None:
                done = action.CREATED
            else:
                done = action.UPDATED if _version(live) != _version(after) else action.UNCHANGED
            self._report.add(identity, done, live, after)

    def _patch(self, identity, wanted, force):
        races = 0
        while True:
            try:
                return self._send(identity, wanted, force)
            except ApiError as error:
                races += 1
                lost_race = error.status == 409 and not error.details.get("causes") and races < _MAX_RACES
                # Established, but not yet known to each of the API servers
                spreading = error.reason == "NotServed" and self._is_own_kind(identity) and self._deadline.remaining() > 0
                if not (lost_race or spreading):
                    raise refusal(error, identity, "apply", wanted) from None
                time.sleep(_RETRY_PAUSE)

    def _send(self, identity, wanted, force):
        options = self._options
        return self._client.apply(
            self._resources[identity],
            wanted,
            force=force,
            dry_run=options.check,
            subresource=options.subresource,
            field_manager=options.field_manager,
        )

    def _is_own_kind(self, identity):
        return (identity.group, identity.kind) in self._own_kinds

    def _establish(self, phase):
        """Wait until the CustomResourceDefinitions of a phase are served: what comes after them may be their instances."""
        if self._options.check:
            return
        targets = [
            wait.Target(identity, self._resources[identity], readiness.established)
            for identity in phase
            if identity.kind == _CRD and readiness.established(self._live[identity]).state != readiness.READY
        ]
        self._live.update(wait.until_ready(self._client, targets, self._deadline, self._live))

    # Check mode

    def _predict(self, identity, wanted, force, live):
        """Ask the server what an apply would do, where it can be asked."""
        obstacle = self._obstacle(identity, live)
        if obstacle is None:
            try:
                after = self._send(identity, wanted, force)
            except ApiError as error:
                obstacle = self._missing(error, identity)
                if obstacle is None:
                    raise refusal(error, identity, "apply", wanted) from None
        if obstacle is not None:
            self._report.not_validated(identity, obstacle)
            after, live = wanted, None
        if live is None:
            done = action.CREATED
            self._predicted.add(identity)
        else:
            done = action.UPDATED if self._differs(live, after) else action.UNCHANGED
        self._report.add(identity, done, live, after)

    def _obstacle(self, identity, live):
        """Why the server cannot be asked about an object, or None."""
        if live and live["metadata"].get("deletionTimestamp"):
            return "it is being deleted"
        if self._resources[identity] is None:
            self._warn_once_about(f"kind {identity.api_version} {identity.kind}")
            return f"the API server does not serve {identity.api_version} {identity.kind}"
        if identity.namespace and Identity("v1", "Namespace", None, identity.namespace) in self._predicted:
            return "its namespace is created by this set"
        if identity.namespace in self._missing_namespaces:
            return f"namespace {identity.namespace} does not exist"
        return None

    def _missing(self, error, identity):
        """What a dry run lacked that a real run may have by then; None for any other refusal."""
        if error.status != 404:
            return None
        if error.reason == "NotServed" and self._is_own_kind(identity):
            return "its kind is defined by this set"
        if error.reason == "NotServed":
            self._warn_once_about(f"kind {identity.api_version} {identity.kind}")
            return f"the API server does not serve {identity.api_version} {identity.kind}"
        if error.details.get("kind") == "namespaces":
            self._missing_namespaces.add(identity.namespace)
            self._warn_once_about(f"namespace {identity.namespace}")
            return f"namespace {identity.namespace} does not exist"
        for other in self._predicted:
            # Only the name tells: for a binding the server says "rolebindings NAME-OF-THE-ROLE not found".
            if other.name == error.details.get("name"):
                return f"it refers to {other}, which is created by this set"
        return None

    def _warn_once_about(self, what):
        if what not in self._warned:
            self._warned.add(what)
            self._warn(
                f"Check mode: {what} does not exist and is not part of the manifests. What needs it is predicted as "
                "created without having been validated; a real run fails unless something creates it first."
            )

    def _differs(self, before, after):
        """Would the server store something else? Beside the content this is which fields we own."""
        options = self._options
        return diff.content(before, options.subresource) != diff.content(after, options.subresource) or owned_fields(
            before, options.field_manager, options.subresource
        ) != owned_fields(after, options.field_manager, options.subresource)

    # Waiting

    def _targets(self):
        """What to wait for: the workloads of the set, when asked for, and what ``wait_for`` names."""
        targets = []
        if self._options.wait:
            for identity in self._wanted:
                if identity.kind in readiness.ROLLOUTS and identity.group in ("apps", "batch"):
                    targets.append((identity, readiness.rollout))
        for entry in self._options.wait_for:
            identity = self._named(entry)
            if entry.get("rollout") and (identity, readiness.rollout) not in targets:
                targets.append((identity, readiness.rollout))
            if entry.get("condition") or entry.get("fields"):
                targets.append((identity, _as_told(entry.get("condition"), entry.get("fields"))))
        return targets

    def _named(self, entry):
        """The identity that an entry of ``wait_for`` means; without api_version it is looked up by kind."""
        versions = (
            {entry["api_version"]} if entry.get("api_version") else {one.api_version for one in self._wanted if one.kind == entry["kind"]}
        )
        versions = versions or {version for version, kind in KNOWN if kind == entry["kind"]}
        if len(versions) != 1:
            raise InputError(
                "wait_for: api_version of {0} {1} is not known ({2}); set it.".format(
                    entry["kind"],
                    entry["name"],
                    "could be " + " or ".join(sorted(versions)) if versions else "no such kind in the manifests",
                )
            )
        identity = Identity(versions.pop(), entry["kind"], entry.get("namespace"), entry["name"])
        if entry.get("rollout") and identity.kind not in readiness.ROLLOUTS:
            raise InputError(
                "wait_for: {0} has no rollout; use condition, or rollout with {1}.".format(identity, ", ".join(readiness.ROLLOUTS))
            )
        return identity

    def _wait(self, targets):
        waited_for = [wait.Target(identity, self._resources[identity], judge) for identity, judge in targets]
        for identity, live in wait.until_ready(self._client, waited_for, self._deadline, self._live).items():
            self._report.see(identity, live)

    # The inventory

    def _record(self, members):
        """Write down what the set consists of, where that is not written already."""
        if self._inventory:
            wanted = desired(inventory.manifest(self._options.set_name, self._options.set_namespace, members))
            self._apply(self._inventory, wanted, force=True)

    def _prune(self, stale):
        """Delete members that are no longer in the set, and return those that have to stay in the inventory."""
        self._locate(stale)
        self._read(stale)
        ours = [one for one in map(self._doomed, stale) if one.live and inventory.carries_label(one.live, self._options.set_name)]
        going = {one.identity.key for one in ours}
        kept = [one for one in ours if self._holds_foreign_objects(one, going)]
        delete(self._client, [one for one in ours if one not in kept], self._report, self._deadline, self._options.check)
        return [one.identity for one in kept]

    def _holds_foreign_objects(self, one, going):
        """Deleting a namespace or a kind also deletes what others put there, which pruning must never do."""
        if one.identity.kind == "Namespace":
            what = "what else lives in it would be deleted too"
        elif one.identity.kind == _CRD and any(Identity.of(obj).key not in going for obj in self._instances(one.live)):
            what = "objects of its kind exist and would be deleted too"
        else:
            return False
        self._warn(f"{one.identity} is no longer in set {self._options.set_name} but is not pruned: {what}. Delete it by hand.")
        return True

    def _instances(self, definition):
        lookup.learn_definitions(self._client, [definition])
        version = next((one["name"] for one in definition["spec"]["versions"] if one["served"]), None)
        if version is None:
            return []
        api_version = "{0}/{1}".format(definition["spec"]["group"], version)
        return self._client.list(self._client.resource(api_version, definition["spec"]["names"]["kind"]))


def _as_told(condition, fields):
    """The judge of one entry of ``wait_for``: condition and fields have to hold at the same time."""

    def judge(live):
        verdict = readiness.condition(live, **condition) if condition else readiness.Verdict(readiness.READY)
        return readiness.fields(live, fields) if fields and verdict.state == readiness.READY else verdict

    return judge


def _version(live):
    return live["metadata"].get("resourceVersion")
