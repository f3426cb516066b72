# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bring a set of manifests to the cluster, or remove it."""

from __future__ import annotations

import hashlib
import time
from typing import NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils.cluster import (
    additions,
    diff,
    inventory,
    lookup,
    order,
    ownership,
    prune,
    readiness,
    wait,
)
from ansible_collections.osso.scheduler.plugins.module_utils.cluster import report as action
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import FIELD_MANAGER
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.compare import applied, is_applied, owned_fields
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.delete import Doomed, delete
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.explain import refusal
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.forecast import Forecast
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.goals import goals
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.manifests import (
    SET_LABEL,
    SET_NAMESPACE_LABEL,
    Identity,
    desired,
    without_set,
)

_RETRY_PAUSE = 0.2
_MAX_RACES = 5
# A definition takes this long at most to reach each of the API servers.
_SPREADING_SECONDS = 5


class Options(NamedTuple):
    """What to do with a set; the meaning of each is documented in the module ``apply``."""

    manifests: list
    check: bool = False
    field_manager: str = FIELD_MANAGER
    force_conflicts: bool = False
    takeover_field_managers: list = ()
    revert_additions: bool = False
    set_name: str | None = None
    set_namespace: str | None = None
    set_kinds: list = ()
    keep_existing: list = ()
    take_ownership: list = ()
    orphan: list = ()
    prune: bool = False
    keep_inhabited: bool = False
    owner: dict | None = None
    subresource: str | None = None
    wait: bool = False
    wait_for: list = ()
    wait_timeout: int = 300
    all_of: list = ()
    assume_deleted: list = ()
    return_removed: bool = False


class Run:
    """One run over one set. ``warn`` is called with texts; ``report`` collects what was done, also when a call raises."""

    def __init__(self, client, options, report, warn):
        self._client = client
        self._options = options
        self._report = report
        self._warn = warn
        self._deadline = wait.Deadline(options.wait_timeout)
        wanted = [desired(obj, options.set_name, options.set_namespace, options.owner, options.subresource) for obj in options.manifests]
        self._wanted = {Identity.of(obj): obj for obj in wanted}
        self._forecast = Forecast(lookup.learn_definitions(client, wanted), warn)
        self._inventory = inventory.identity(options.set_name, options.set_namespace) if options.set_name else None
        self._resources = {}
        self._live = {}
        self._assumed = prune.Deleted(options.assume_deleted if options.check else ())
        # When this run changed a definition, by the kind that it defines
        self._defined = {}

    def present(self):
        """Apply the set: see `Options`."""
        awaited = goals(self._wanted, self._options.wait, self._options.wait_for)
        self._locate(self._wanted)
        if not self._options.check:
            self._locate(identity for identity, judge in awaited)
            self._refuse_unknown_kinds()
        self._read(self._wanted)
        members = self._recorded()
        mine = self._leave_to_others()
        stale = [member for member in members if member.key not in {identity.key for identity in self._wanted}]

        recorded = False
        for phase in order.phases(self._wanted):
            if not recorded and order.phase(phase[0]) != order.NAMESPACES:
                self._record(inventory.union(members, mine))
                recorded = True
            for identity in phase:
                self._apply(identity, self._wanted[identity], self._options.force_conflicts)
            self._establish(phase)
        if not recorded:
            self._record(inventory.union(members, mine))
        if not self._options.check:
            self._wait(awaited)
        if self._options.prune:
            kept = self._prune(stale)
            self._record(inventory.union(kept, mine))

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
            others = [member for member in self._recorded(look_for_more=True) if member.key not in {one.identity.key for one in doomed}]
            self._locate(others)
            self._read(others)
            doomed += self._deletable(prune.ours(map(self._doomed, others), self._options.set_name, self._options.set_namespace), doomed)
        if self._options.keep_inhabited:
            going = {self._inventory.key} if self._inventory else set()
            doomed = prune.without_inhabited(self._client, doomed, going, self._warn)
        if self._inventory:
            # The inventory goes last, so that an interrupted run can be repeated; only its own namespace is deleted after it.
            home = [one for one in doomed if one.identity.key == ("", "Namespace", None, self._options.set_namespace)]
            doomed = [one for one in doomed if one not in home]
        self._delete(doomed)
        if self._inventory:
            self._delete([self._doomed(self._inventory)])
        self._delete(home)

    def _deletable(self, members, others):
        """The members of the set that may go, together with ``others``: no definition with whose objects nobody reckons."""
        inhabited = [one for one in prune.in_use(self._client, members + others) if one in members]
        for one in inhabited:
            self._warn(
                f"{one.identity} of set {self._options.set_name} is not deleted: objects of its kind exist and would be deleted too."
            )
        return [one for one in members if one not in inhabited]

    def _leave_to_others(self):
        """The members of the set; what holds others' objects and was there before the set is applied, but does not become one."""
        found = prune.guests(self._live, self._wanted, self._options.set_name, self._options.set_namespace)
        guests = [identity for identity in found if identity.name not in self._options.take_ownership]
        for identity in guests:
            if identity.name in self._options.keep_existing:
                self._report.add(identity, action.UNCHANGED, self._live[identity], self._live[identity])
                del self._wanted[identity]
            else:
                self._wanted[identity] = without_set(self._wanted[identity])
        return [identity for identity in self._wanted if identity not in guests]

    # Reading

    def _locate(self, identities):
        for identity in identities:
            self._resources[identity] = lookup.locate(self._client, identity)

    def _read(self, identities):
        found = lookup.read(self._client, {identity: self._resources[identity] for identity in identities})
        self._live.update(self._assumed.without(found))

    def _doomed(self, identity):
        return Doomed(identity, self._resources[identity], self._live[identity])

    def _delete(self, doomed):
        delete(self._client, doomed, self._report, self._deadline, self._options.check)

    def _refuse_unknown_kinds(self):
        for identity, resource in self._resources.items():
            if resource is None:
                raise InputError(
                    f"{identity}: the API server does not serve {identity.api_version} {identity.kind}. "
                    "Install its CustomResourceDefinition first, or put it into the manifests."
                )

    def _recorded(self, look_for_more=False):
        """The members that the inventory names; [] without a set.

        Where it is lost, and with ``look_for_more``, also those that are found by their labels.
        """
        if not self._inventory:
            return []
        self._locate([self._inventory])
        self._read([self._inventory])
        live = self._live[self._inventory]
        try:
            members = inventory.members(live)
        except ClusterError as error:
            if not self._options.set_kinds:
                raise
            self._warn(f"{error.message} Members are looked for by their labels instead.")
            live, members = None, []
        return inventory.union(self._labelled(), members) if look_for_more or live is None else members

    def _labelled(self):
        """The members that are found by the labels that we gave them, among the kinds of the set."""
        options = self._options
        selector = inventory.selector(options.set_name, options.set_namespace)
        found = [one for kind in options.set_kinds for one in self._all_of(dict(kind, label_selector=selector))]
        return [one.identity for one in found if inventory.was_labelled_by(one.live, options.field_manager)]

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
        # A status can be told of what is being deleted; anything else is for what comes after it.
        dying = bool(live) and "deletionTimestamp" in live["metadata"] and not options.subresource
        if dying and not options.check:
            wait.until_gone(self._client, [(identity, self._resources[identity], live["metadata"]["uid"])], self._deadline)
            live = self._live[identity] = None
        judged = self._judge_additions(live, wanted) if live and not dying else None
        if judged:
            wanted = additions.with_record(wanted, judged.record)
        taken = self._foreign(live, wanted) if live and not dying else None
        if live and not dying and not taken and is_applied(wanted, live, options.field_manager, options.subresource):
            self._report.add(identity, action.UNCHANGED, live, live)
            self._report_additions(identity, live, wanted)
            return
        if options.check:
            predict = self._predict_creation if identity in self._assumed.identities else self._predict
            live, after, obstacle = self._forecast.ask(
                identity, wanted, live, self._resources[identity], lambda: predict(identity, wanted, live, taken, force)
            )
            if obstacle is not None:
                self._report.not_validated(identity, obstacle)
        else:
            if taken:
                self._take_over(identity, wanted)
            after = self._live[identity] = self._patch(identity, wanted, force)
        if live is None:
            done = action.CREATED
        else:
            done = action.UPDATED if taken or self._differs(wanted, live, after) else action.UNCHANGED
        if done != action.UNCHANGED:
            self._defined.update(dict.fromkeys(lookup.defined_kinds(wanted), time.monotonic()))
        self._report.add(identity, done, live, after, with_status="status" in wanted)
        if judged:
            self._report_additions(identity, after, wanted)

    def _judge_additions(self, live, wanted):
        """The `additions.Verdict` on a workload; None where additions stay."""
        if not self._options.revert_additions or wanted["kind"] not in additions.KINDS:
            return None
        return additions.judge(live, wanted, self._options.field_manager)

    def _report_additions(self, identity, after, wanted):
        """Report what others added and what cannot be reverted."""
        judged = self._judge_additions(after, wanted)
        if judged and judged.disputed:
            self._report.add_additions(identity, judged.disputed)
            self._warn(additions.told(identity, judged.disputed) + ".")

    def _differs(self, wanted, before, after):
        """Did an apply change something: the content, or which fields of it are ours?

        The resourceVersion alone does not tell, since others write meanwhile, to the status above all.
        """
        ours = (self._options.field_manager, self._options.subresource)
        with_status = "status" in wanted
        return diff.content(before, with_status) != diff.content(after, with_status) or owned_fields(before, *ours) != owned_fields(
            after, *ours
        )

    def _patch(self, identity, wanted, force):
        races = 0
        while True:
            try:
                return self._send(identity, wanted, force)
            except ApiError as error:
                races += 1
                lost_race = error.status == 409 and not error.details.get("causes") and races < _MAX_RACES
                if not (lost_race or self._is_spreading(identity, error)):
                    raise refusal(error, identity, "apply", wanted) from None
                time.sleep(_RETRY_PAUSE)

    def _foreign(self, live, wanted):
        """The `ownership.TakeOver` of what the managers to be replaced own of an object, or of what others added; None where that is nothing."""
        options = self._options
        taken = ownership.take_over(live, options.takeover_field_managers, options.field_manager, wanted["apiVersion"], options.subresource)
        judged = None if taken else self._judge_additions(live, wanted)
        return additions.claim(live, judged.fresh, options.field_manager) if judged else taken

    def _take_over(self, identity, wanted):
        """Store that fields are ours. The object may be written by others at the same time, or even be gone."""
        races = 0
        while self._live[identity]:
            live = self._live[identity]
            taken = self._foreign(live, wanted)
            if not taken:
                return
            try:
                self._live[identity] = self._rewrite(identity, ownership.rewrite(live, taken))
                return
            except ApiError as error:
                races += 1
                if error.status not in (404, 409) or races == _MAX_RACES:
                    raise refusal(error, identity, "take over fields of", wanted) from None
                time.sleep(_RETRY_PAUSE)
                self._read([identity])

    def _predict(self, identity, wanted, live, taken, force):
        """What applying would leave, by dry runs. The server knows nothing of a take-over that was not stored: so its answer to the
        apply is stripped of what would go, and then asked for again, to have defaults filled in."""
        if not taken:
            return self._send(identity, wanted, force)
        options = self._options
        try:
            answer = self._send(identity, wanted, force)
        except ApiError as error:
            causes = error.details.get("causes") or []
            error.details["causes"] = ownership.other_causes(causes, options.takeover_field_managers)
            if error.details["causes"] or not causes:
                raise
            answer = self._send(identity, wanted, force=True)
        left = ownership.outcome(answer, taken, options.field_manager, options.subresource)
        return self._rewrite(identity, ownership.replacement(live, left), options.subresource)

    def _predict_creation(self, identity, wanted, live, taken, force):
        """What creating it would leave, where an object of this name is still there: the server is asked under another name."""
        name = "osso-dry-run-" + hashlib.sha256(identity.name.encode()).hexdigest()[:10]
        answer = self._send(identity, dict(wanted, metadata=dict(wanted["metadata"], name=name)), force)
        return dict(answer, metadata=dict(answer["metadata"], name=identity.name))

    def _rewrite(self, identity, operations, subresource=None):
        options = self._options
        return self._client.json_patch(
            self._resources[identity],
            identity.name,
            identity.namespace,
            operations,
            field_manager=options.field_manager,
            dry_run=options.check,
            subresource=subresource,
        )

    def _is_spreading(self, identity, error):
        """Does an API server that answers so perhaps not know yet, or not in its new shape, what this run has just defined?"""
        defined = self._defined.get((identity.group, identity.kind))
        return defined is not None and error.status in (400, 404, 422, 500) and time.monotonic() - defined < _SPREADING_SECONDS

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

    def _establish(self, phase):
        """Wait until the CustomResourceDefinitions of a phase are served: what comes after them may be their instances."""
        if self._options.check:
            return
        targets = [
            wait.Target(identity, self._resources[identity], readiness.established)
            for identity in phase
            if identity.kind == lookup.CRD and readiness.established(self._live[identity]).state != readiness.READY
        ]
        self._live.update(wait.until_ready(self._client, targets, self._deadline, self._live))

    # Waiting

    def _wait(self, awaited):
        targets = [wait.Target(identity, self._resources[identity], judge) for identity, judge in awaited]
        for identity, live in wait.until_ready(self._client, targets, self._deadline, self._live).items():
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
        mine = prune.ours(map(self._doomed, stale), self._options.set_name, self._options.set_namespace)
        released = [one for one in mine if one.identity.kind in prune.HOLDERS and one.identity.name in self._options.orphan]
        doomed = [one for one in mine if one not in released]
        kept = prune.kept(self._client, doomed, self._options.set_name, self._warn)
        self._remember([one for one in mine if one not in kept])
        for one in released:
            self._orphan(one)
        self._delete([one for one in doomed if one not in kept])
        return [one.identity for one in kept]

    def _remember(self, leaving):
        """For a task that restores it: the manifests of what leaves the set."""
        if self._options.return_removed:
            self._report.removed = [applied(one.live, self._options.field_manager) for one in leaving if one.identity.kind != "Secret"]

    def _orphan(self, one):
        """Take the set's labels off an object that others look after from now on; everything else of it stays."""
        metadata = one.live["metadata"]
        operations = [
            {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
            *({"op": "remove", "path": "/metadata/labels/" + label.replace("/", "~1")} for label in (SET_LABEL, SET_NAMESPACE_LABEL)),
        ]
        try:
            after = self._rewrite(one.identity, operations)
        except ApiError as error:
            raise refusal(error, one.identity, "let go of") from None
        self._report.add(one.identity, action.UPDATED, one.live, after)
