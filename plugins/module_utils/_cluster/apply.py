# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Apply or delete a set of manifests."""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import (
    accounts,
    additions,
    apply_order,
    apply_result,
    apply_set,
    diff,
    live_objects,
    membership,
    mounted_config_maps,
    mounted_secrets,
    ownership,
    pod_templates,
    prune,
    readiness,
    wait,
)
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.api_errors import FORCE, conflicts, is_escalation, refusal
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import FIELD_MANAGER, Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.delete import Doomed, delete
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.dry_run import Forecast
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity, Key, desired, without_set
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.membership import Standing
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.object_comparison import applied, is_applied, owned_fields
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.readiness import Judge
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object, Resource
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.wait_targets import goals

_RETRY_PAUSE = 0.2
_MAX_RACES = 5
# A definition takes this long at most to reach each of the API servers.
_SPREADING_SECONDS = 5
_LEASE = ("coordination.k8s.io", "Lease")


class Options(NamedTuple):
    """What to do with a set; the meaning of each is documented in the module ``apply``.

    repair, for an operator, which cannot ask a user: a member is deleted and created again where the manifest changes what cannot be changed;
    an object of no set that is in the place of a member becomes one; and pods are replaced whose Secret, a member, was replaced.
    possible_kinds: the only kinds that members have, as ``set_kinds``. What the inventory names besides was not written by the set and is
    ignored: a run need not have the permission to read it. Empty for all kinds.
    """

    manifests: Sequence[Object]
    check: bool = False
    field_manager: str = FIELD_MANAGER
    force_conflicts: bool = False
    takeover_field_managers: Sequence[str] = ()
    revert_additions: bool = False
    track_accounts: bool = False
    track_config_maps: bool = False
    set_name: str | None = None
    set_namespace: str | None = None
    set_kinds: Sequence[Mapping[str, str]] = ()
    possible_kinds: Sequence[Mapping[str, str]] = ()
    adopt: bool = False
    keep_existing: Sequence[str] = ()
    take_ownership: Sequence[str] = ()
    orphan: Sequence[str] = ()
    keep_members: Sequence[str] = ()
    prune: bool = False
    keep_nonempty: bool = False
    repair: bool = False
    owner: Mapping[str, Any] | None = None
    subresource: str | None = None
    wait: bool = False
    wait_for: Sequence[Mapping[str, Any]] = ()
    wait_timeout: int = 300
    all_of: Sequence[Mapping[str, Any]] = ()
    assume_deleted: Sequence[Mapping[str, Any]] = ()
    assume_created: Sequence[Mapping[str, Any]] = ()
    return_removed: bool = False


class Run:
    """One run over one set. ``warn`` is called with texts; ``report`` collects what was done, also when a call raises."""

    def __init__(self, client: Client, options: Options, report: apply_result.Report, warn: Callable[[str], None]) -> None:
        self._client = client
        self._options = options
        self._report = report
        self._warn = warn
        self._deadline = wait.Deadline(options.wait_timeout)
        wanted = [desired(obj, options.set_name, options.set_namespace, options.owner, options.subresource) for obj in options.manifests]
        self._wanted = {Identity.of(obj): obj for obj in wanted}
        self._own_kinds = live_objects.learn_definitions(client, wanted)
        self._forecast = Forecast(self._own_kinds, warn, options.assume_created if options.check else ())
        self._inventory = (
            apply_set.identity(options.set_name, options.set_namespace) if options.set_name and options.set_namespace else None
        )
        self._resources: dict[Identity, Resource | None] = {}
        self._live: dict[Identity, Object | None] = {}
        self._assumed = prune.Deleted(options.assume_deleted if options.check else ())
        # As `membership.set_of` returns it
        self._set = (options.set_name, options.set_namespace) if options.set_name else None
        # What the inventory names, or what is found by the labels
        self._members: list[Identity] = []
        # Without an inventory, the labels alone say what is a member.
        self._has_inventory = False
        # Of the members, those that existed before: as the inventory says, and as this run finds or changes it
        self._adopted: set[Key] = set()
        # What becomes a member in this run
        self._mine: list[Identity] = []
        # Objects that this run adopts, and those of which fields by others are put back
        self._adopting: set[Identity] = set()
        self._put_back: dict[Identity, str] = {}
        self._would = "Would be" if options.check else "Was"
        # Warnings that are true after the first write
        self._announced: list[str] = []
        # Deployments whose ServiceAccount was recreated
        self._cut_off: set[Identity] = set()
        # Deployments whose pods may have read ConfigMaps that others edited, with the names of these
        self._misled: dict[Identity, str] = {}
        # When this run changed a definition, by the kind that it defines
        self._defined: dict[tuple[str, str], float] = {}
        # When this run changed permissions
        self._granted = 0.0
        # Members that no apply can be merged with: of these the content of others is removed, those are deleted and created again
        self._separate: set[Identity] = set()
        self._recreated: set[Identity] = set()

    def present(self) -> None:
        """Apply the set: see `Options`."""
        awaited = goals(self._wanted, self._options.wait, self._options.wait_for)
        self._locate(self._wanted)
        if not self._options.check:
            self._locate(identity for identity, judge in awaited)
            self._refuse_unknown_kinds()
        self._read(self._wanted)
        members = self._members = self._recorded()
        mine = self._mine = self._claim()
        self._record_on_workloads()
        stale = [member for member in members if member.key not in {identity.key for identity in self._wanted}]
        if not self._options.check:
            self._rehearse()

        recorded, adopted = False, set(self._adopted)
        for phase in apply_order.phases(self._wanted):
            if not recorded and apply_order.phase(phase[0]) != apply_order.NAMESPACES:
                self._record(apply_set.union(members, mine))
                recorded = True
            if not self._options.check and any(identity.kind in additions.KINDS for identity in phase):
                self._record_on_workloads()  # Accounts of an earlier phase have their uid now.
            for identity in phase:
                self._apply(identity, self._wanted[identity])
            self._establish(phase)
        if not recorded or self._adopted != adopted:
            self._record(apply_set.union(members, mine))
        if not self._options.check:
            self._wait(awaited)
        if self._options.prune:
            kept = self._prune(stale)
            self._record(apply_set.union(kept, mine))

    def absent(self, recorded: bool = True, then: Callable[[], None] = lambda: None) -> None:
        """Delete the manifests, every object of the kinds in ``all_of``, and what the set's inventory names.

        Of a set, only what it created: what it adopted is given back, and what it never had stays. Without ``recorded`` the inventory is not
        read and stays: only the members among the set's kinds that are found by their labels are deleted. ``then`` is called when something
        of a set with an inventory was there and is deleted, before the inventory is, so that an interrupted run calls it again.
        """
        self._locate(self._wanted)
        self._read(self._wanted)
        members = self._members = self._recorded(look_for_more=True) if recorded else self._labelled()
        named, kept = {identity.key for identity in self._wanted}, self._options.keep_members
        others = [member for member in members if member.key not in named and f"{member.kind}/{member.name}" not in kept]
        self._locate(others)
        self._read(others)
        doomed, released = self._sorted_by_standing(others)
        orphaned = self._orphaned(doomed)
        selected = {one.identity.key for one in doomed} | {one.identity.key for one in released}
        doomed = [one for one in doomed if one not in orphaned]
        for selection in self._options.all_of:
            found = [one for one in self._all_of(selection) if one.identity.key not in selected]
            # Where labels select, they may be those of a set, and what it adopted is not to be deleted.
            adopted = [one for one in found if selection.get("label_selector") and membership.former_manager(one.present) is not None]
            self._live.update((one.identity, one.live) for one in adopted)
            self._resources.update((one.identity, one.resource) for one in adopted)
            released += adopted
            doomed += [one for one in found if one not in adopted]
        doomed = self._without_definitions_in_use(doomed, {member.key for member in others})
        if self._options.keep_nonempty:
            going = {self._inventory.key} if self._inventory else set()
            doomed = prune.without_nonempty(self._client, doomed, going, self._warn)
        home = []
        if self._inventory:
            # The inventory goes last, so that an interrupted run can be repeated; only its own namespace is deleted after it.
            home = [one for one in doomed if one.identity.key == ("", "Namespace", None, self._options.set_namespace)]
            doomed = [one for one in doomed if one not in home]
        self._release(released)
        for one in orphaned:
            self._orphan(one)
        self._delete(doomed)
        if self._inventory and recorded:
            if doomed or self._live[self._inventory]:
                then()
            self._delete([self._doomed(self._inventory)])
        self._delete(home)

    def _sorted_by_standing(self, others: Iterable[Identity]) -> tuple[list[Doomed], list[Doomed]]:
        """What of the manifests and of ``others``, the further members of the inventory, is to be deleted, and what to be given back."""
        doomed, released = [], []
        for identity in [*self._wanted, *others]:
            one = self._doomed(identity)
            standing = self._standing(identity) if self._options.set_name else Standing.CREATED
            if standing is Standing.ADOPTED:
                released.append(one)
            elif standing is Standing.CREATED and (one.live or identity in self._wanted):
                doomed.append(one)
            elif identity in self._wanted and one.live:
                self._report.add(identity, apply_result.UNCHANGED, one.live, one.live)
                self._warn(f"{identity} is not deleted: {self._whose(one.live)}. Delete it by hand if nothing needs it.")
        return doomed, released

    def _without_definitions_in_use(self, doomed: list[Doomed], keys: Collection[Key]) -> list[Doomed]:
        """``doomed`` without those definitions among ``keys`` of whose kind objects exist that stay."""
        used = [one for one in prune.in_use(self._client, doomed) if one.identity.key in keys]
        for one in used:
            self._warn(
                f"{one.identity} of set {self._options.set_name} is not deleted: objects of its kind exist and would be deleted too."
            )
        return [one for one in doomed if one not in used]

    # Membership

    def _is_recorded(self, identity: Identity) -> bool:
        return any(identity.key == member.key for member in self._members)

    def _standing(self, identity: Identity) -> Standing:
        live = self._live[identity]
        if live and (identity.group, identity.kind) == _LEASE and self._is_replaced(identity, live):
            return Standing.CREATED
        return membership.standing(live, self._set, not self._has_inventory or self._is_recorded(identity))

    def _claim(self) -> list[Identity]:
        """The identities that are members of the set. What existed before becomes one only where the options allow that.

        A Namespace or CustomResourceDefinition that existed before is shared: it is applied, but does not become a member. Raises
        `InputError` for anything else.
        """
        options = self._options
        if not options.set_name:
            return list(self._wanted)
        mine: list[Identity] = []
        foreign: dict[Identity, Object] = {}
        for identity, wanted in list(self._wanted.items()):
            live = self._live[identity]
            if live is None or "deletionTimestamp" in live["metadata"]:
                # An object of others that is being deleted becomes no member: what this run creates in its place does (`_await_end`).
                if live is None or options.check or self._is_created(identity, live):
                    mine.append(identity)
                continue
            standing, returned = self._standing(identity), self._is_returned(identity, live)
            if self._is_replaced(identity, live):
                standing = Standing.CREATED
            if standing is Standing.ADOPTED:
                self._wanted[identity] = membership.adopted(wanted, live, options.field_manager)
            elif standing is Standing.FOREIGN and identity.kind in prune.HOLDERS:
                if identity.name not in options.take_ownership:
                    self._share(identity)
                    continue
            elif standing is Standing.FOREIGN and (returned or not self._is_taken_over(identity, live)):
                if membership.set_of(live) not in (None, self._set) or not (returned or options.adopt):
                    foreign[identity] = live
                    continue
                self._wanted[identity] = membership.adopted(wanted, live, options.field_manager)
                self._adopting.add(identity)
            mine.append(identity)
            if membership.former_manager(self._wanted[identity]) is not None:
                self._adopted.add(identity.key)
            else:
                self._adopted.discard(identity.key)
        if foreign:
            raise InputError(self._not_ours(foreign))
        if self._adopting:
            names = ", ".join(str(identity) for identity in self._wanted if identity in self._adopting)
            self._announce(f"{self._would} adopted by set {options.set_name}, since it existed before: {names}.")
        return mine

    def _is_replaced(self, identity: Identity, live: Object) -> bool:
        """Is this in the place of an object that the set created, without saying that it belongs to any set?

        Not only a repair replaces a Lease: the clients that elect a leader by it create it again, and it has no content that could be lost.
        """
        belongs = self._has_inventory and self._is_recorded(identity) and identity.key not in self._adopted
        return (self._options.repair or (identity.group, identity.kind) == _LEASE) and belongs and membership.set_of(live) is None

    def _is_returned(self, identity: Identity, live: Object) -> bool:
        """Is this an adopted object, or in the place of one, that its owner wrote without the labels of the set?"""
        return identity.key in self._adopted and membership.set_of(live) is None

    def _share(self, identity: Identity) -> None:
        """Apply an object without its becoming a member, or leave it as it is."""
        if identity.name in self._options.keep_existing:
            self._report.add(identity, apply_result.UNCHANGED, self._live[identity], self._live[identity])
            del self._wanted[identity]
        else:
            self._wanted[identity] = without_set(self._wanted[identity])

    def _is_taken_over(self, identity: Identity, live: Object) -> bool:
        """Was it written by a replaced field manager, or by one of our runs that was interrupted during the takeover?"""
        replaced = self._options.takeover_field_managers
        if not replaced or membership.set_of(live) not in (None, self._set):
            return False
        # Such a run had written the inventory before. An inventory that others changed need not name what has the labels.
        is_member = self._inventory is None or self._is_recorded(identity) or membership.set_of(live) == self._set
        return membership.has_fields_of(live, [*replaced, self._options.field_manager] if is_member else replaced)

    def _not_ours(self, foreign: Mapping[Identity, Object]) -> str:
        reasons = "; ".join(f"{identity}: {self._whose(live)}" for identity, live in foreign.items())
        return (
            f"Nothing was written, because objects exist that set {self._options.set_name} did not create. {reasons}. Delete or rename them, or "
            "set adopt to true (in a role of this collection ROLE_adopt, of a SecondaryScheduler the annotation osso.scheduler/adopt): then "
            "they become what the manifests say, and are given back instead of deleted when the set is removed. An object of another set "
            "is never adopted: remove that set first."
        )

    def _whose(self, live: Object) -> str:
        other = membership.set_of(live)
        if other not in (None, self._set):
            name, namespace = other
            return f"it belongs to set {name}" + (f" of namespace {namespace}" if namespace else "")
        managers = ", ".join(membership.managers(live)) or "unknown"
        return f"set {self._options.set_name} did not create it (field managers: {managers})"

    def _release(self, released: list[Doomed]) -> None:
        """Give adopted objects back to those who had them before."""
        for one in released:
            after = self._released(one.identity)
            if after:
                self._report.add(one.identity, apply_result.RELEASED, one.live, after)
        if released:
            names = ", ".join(str(one.identity) for one in released)
            self._warn(f"{names} existed before and was adopted. {self._would} released unchanged, not deleted.")

    def _released(self, identity: Identity) -> Object | None:
        races = 0
        while True:
            live = self._live[identity]
            if not live or membership.former_manager(live) is None:
                return None
            try:
                return self._rewrite(identity, membership.release(live, self._options.field_manager))
            except ApiError as error:
                races += 1
                if error.status not in (404, 409) or races == _MAX_RACES:
                    raise refusal(error, identity, "release") from None
                time.sleep(_RETRY_PAUSE)
                self._read([identity])

    # Reading

    def _locate(self, identities: Iterable[Identity]) -> None:
        for identity in identities:
            self._resources[identity] = live_objects.locate(self._client, identity)

    def _resource(self, identity: Identity) -> Resource:
        """Where an object is written. What is not served ended the run before, or is read as missing and is not written."""
        resource = self._resources[identity]
        if resource is None:
            raise AssertionError("resource")
        return resource

    def _existing(self, identity: Identity) -> Object:
        """What is known to exist, for instance since this run applied it."""
        live = self._live[identity]
        if live is None:
            raise AssertionError("live")
        return live

    def _name_and_namespace(self) -> tuple[str, str]:
        """Of a set that has an inventory."""
        if self._options.set_name is None:
            raise AssertionError("set_name")
        if self._options.set_namespace is None:
            raise AssertionError("set_namespace")
        return self._options.set_name, self._options.set_namespace

    def _read(self, identities: Iterable[Identity]) -> None:
        found = live_objects.read(self._client, {identity: self._resources[identity] for identity in identities})
        self._live.update(self._assumed.without(found))

    def _doomed(self, identity: Identity) -> Doomed:
        return Doomed(identity, self._resources[identity], self._live[identity])

    def _delete(self, doomed: list[Doomed]) -> None:
        delete(self._client, doomed, self._report, self._deadline, self._options.check)

    def _refuse_unknown_kinds(self) -> None:
        for identity, resource in self._resources.items():
            if resource is None:
                raise InputError(
                    f"{identity}: the API server does not serve {identity.api_version} {identity.kind}. "
                    "Install its CustomResourceDefinition first, or put it into the manifests."
                )

    def _recorded(self, look_for_more: bool = False) -> list[Identity]:
        """The members that the inventory names; [] without an inventory.

        Where it is lost, and with ``look_for_more``, also those that are found by their labels.
        """
        if not self._inventory:
            return []
        self._locate([self._inventory])
        self._read([self._inventory])
        live = self._live[self._inventory]
        try:
            members = [one for one in apply_set.members(live) if self._is_possible(one)]
            self._adopted = apply_set.adopted(live)
        except ClusterError as error:
            if not self._options.set_kinds:
                raise
            self._warn(f"{error.message} The members are found by their labels instead.")
            live, members = None, []
        self._has_inventory = live is not None
        return apply_set.union(self._labelled(), members) if look_for_more or live is None else members

    def _is_possible(self, member: Identity) -> bool:
        kinds = self._options.possible_kinds
        return not kinds or any(
            Identity(kind["api_version"], kind["kind"], kind.get("namespace"), member.name).key == member.key for kind in kinds
        )

    def _labelled(self) -> list[Identity]:
        """The members that are found by the labels that we gave them, among the kinds of the set."""
        options = self._options
        selector = apply_set.selector(*self._name_and_namespace())
        # Without an inventory, a removal would leave the members of a kind that may not be listed, and report that nothing is left.
        optional = self._has_inventory or bool(options.manifests)
        found = [one for kind in options.set_kinds for one in self._all_of(dict(kind, label_selector=selector), optional)]
        return [one.identity for one in found if apply_set.was_labelled_by(one.present, options.field_manager)]

    def _all_of(self, selection: Mapping[str, Any], optional: bool = False) -> list[Doomed]:
        kind = Identity(selection["api_version"], selection["kind"], None, "*")
        try:
            resource = self._client.resource(kind.api_version, kind.kind)
            found = self._client.list(resource, selection.get("namespace"), label_selector=selection.get("label_selector"))
        except ApiError as error:
            if error.status == 404:
                return []
            refused = refusal(error, kind, "list")
            if not optional or error.status != 403:
                raise refused from None
            self._warn(f"{refused.message} Members of the set that no inventory names are not looked for among these.")
            return []
        return [Doomed(Identity.of(obj), resource, obj) for obj in found]

    # Applying

    def _rehearse(self) -> None:
        """Send all writes as dry runs first, so that an object that the server rejects ends the run before the first write.

        Objects that the server cannot validate yet, such as one in a namespace of this set or in place of one that is being deleted, are only
        written. A single write without conflicts requires no dry run: the server rejects it or stores it.
        """
        ordered = [identity for phase in apply_order.phases(self._wanted) for identity in phase]
        pending = [
            identity
            for identity in ordered
            if not self._is_dying(self._live[identity]) and not self._is_unchanged(identity, self._wanted[identity])
        ]
        if len(pending) < 2 and not any(map(self._can_conflict, pending)):
            return
        forecast, problems = Forecast(self._own_kinds), []
        for identity in pending:
            wanted = self._wanted[identity]
            ask = functools.partial(self._dry_run, identity, wanted)
            try:
                forecast.ask(identity, wanted, self._live[identity], self._resources[identity], ask, bool(self._taken(identity)))
            except ClusterError as error:
                problems.append(error)
        if problems:
            problems[0].message = "\n".join(error.message for error in problems) + "\nNothing was written."
            raise problems[0]

    def _can_conflict(self, identity: Identity) -> bool:
        live = self._live[identity]
        return live is not None and any(
            manager != self._options.field_manager for manager in membership.managers(live, self._options.subresource)
        )

    def _is_unchanged(self, identity: Identity, wanted: Object) -> bool:
        live = self._live[identity]
        return (
            live is not None
            and not self._is_dying(live)
            and not self._taken(identity)
            and is_applied(wanted, live, self._options.field_manager, self._options.subresource)
        )

    def _is_dying(self, live: Object | None) -> bool:
        # An object that is being deleted can still get a status; other fields are for its successor.
        return live is not None and "deletionTimestamp" in live["metadata"] and not self._options.subresource

    def _taken(self, identity: Identity) -> ownership.TakeOver | None:
        """The `ownership.TakeOver` of what the managers to be replaced own of an object, or of what others added; None where that is nothing."""
        live, manager = self._live[identity], self._options.field_manager
        if live and identity in self._separate:
            return ownership.take_over_content(live, manager, self._wanted[identity])
        taken = self._replaced_managers(identity)
        return taken if taken or live is None else additions.claim(live, self._fresh(identity), manager)

    def _replaced_managers(self, identity: Identity) -> ownership.TakeOver | None:
        live, options = self._live[identity], self._options
        if not live or self._is_dying(live) or identity not in self._wanted:
            return None
        version = self._wanted[identity]["apiVersion"]
        return ownership.take_over(live, options.takeover_field_managers, options.field_manager, version, options.subresource)

    def _fresh(self, identity: Identity) -> list[additions.Addition]:
        """What others added to a workload and this apply removes. A write that replaces managers removes nothing else."""
        live = self._live[identity]
        if not live or self._is_dying(live) or identity not in self._wanted or self._replaced_managers(identity):
            return []
        judged = self._judge_additions(live, self._wanted[identity])
        return judged.fresh if judged else []

    def _apply(self, identity: Identity, wanted: Object) -> None:
        options, live = self._options, self._live[identity]
        if live and self._is_dying(live) and not options.check:
            live = self._await_end(identity, live)
        if live and self._is_unchanged(identity, wanted):
            self._report.add(identity, apply_result.UNCHANGED, live, live)
            self._report_additions(identity, live, wanted)
            return
        if live and identity in self._recreated and not options.check:
            self._delete([self._doomed(identity)])
            self._report.undo(identity)
            self._live[identity] = None
        taken, fresh = self._taken(identity), self._fresh(identity)
        if options.check:
            if identity in self._assumed.identities:
                predict = functools.partial(self._predict_creation, identity, wanted)
            else:
                predict = functools.partial(self._predict, identity, wanted, live, taken)
            live, after, obstacle = self._forecast.ask(identity, wanted, live, self._resources[identity], predict, bool(taken))
            if obstacle is not None:
                self._report.not_validated(identity, obstacle)
        else:
            if taken:
                self._take_over(identity)
            after = self._live[identity] = self._patch(identity, wanted)
            if identity in self._put_back:
                self._report.put_back.append(f"{identity}: {self._put_back[identity]}")
        if live is None:
            done = apply_result.CREATED
            self._adopted.discard(identity.key)
        elif identity in self._adopting:
            done = apply_result.ADOPTED
        else:
            done = (
                apply_result.UPDATED
                if taken or identity in self._recreated or self._differs(wanted, live, after)
                else apply_result.UNCHANGED
            )
        if done != apply_result.UNCHANGED:
            self._defined.update(dict.fromkeys(live_objects.defined_kinds(wanted), time.monotonic()))
            if wanted["kind"] in ("Role", "ClusterRole"):
                self._granted = time.monotonic()
        self._report.add(identity, done, live, after, with_status="status" in wanted)
        if fresh:
            self._warn(f"{identity}: others added to its pod template: {additions.listing(fresh)}. {self._would} removed.")
        replaced = "Would be" if options.check else "Are being"
        if identity in self._misled:
            self._warn(
                f"{identity}: its pods may have read what others wrote into ConfigMap {self._misled[identity]}. {replaced} replaced."
            )
        if identity in self._cut_off:
            self._warn(
                f"{identity}: the API server rejects the tokens of its pods, since their ServiceAccount was recreated. {replaced} replaced."
            )
        self._report_additions(identity, after, wanted)

    def _await_end(self, identity: Identity, dying: Object) -> Object | None:
        """Wait until an object is deleted; what is in its place then. Raises `InputError` where that is not for the set to change."""
        wait.until_gone(self._client, [(identity, self._resource(identity), dying["metadata"]["uid"])], self._deadline)
        self._read([identity])
        live = self._live[identity]
        if identity == self._inventory:
            return live
        if live and self._options.set_name and not self._is_created(identity, live):
            raise InputError(
                f"{identity}: while it was being deleted, another object of its name was created, and {self._whose(live)}. It stays as it is. "
                "Run again: the next run treats it as an object that existed before."
            )
        if identity not in self._mine:
            self._mine.append(identity)
            if apply_order.phase(identity) != apply_order.NAMESPACES:
                self._record(apply_set.union(self._members, self._mine))
        return live

    def _record_on_workloads(self) -> None:
        """Have the manifests of workloads record the uid of their ServiceAccount, what their pods are replaced for, and which additions of others
        are removed."""
        for identity, wanted in self._wanted.items():
            wanted = self._with_account(identity, self._with_config_maps(identity, wanted))
            wanted = self._wanted[identity] = self._with_secrets(identity, wanted)
            live = self._live[identity]
            judged = self._judge_additions(live, wanted) if live and not self._is_dying(live) else None
            if judged:
                self._wanted[identity] = additions.with_record(wanted, judged.record)

    def _with_config_maps(self, identity: Identity, wanted: Object) -> Object:
        """The manifest of a Deployment, whose pods are replaced if this run restores a ConfigMap that they may have read as others edited it."""
        live = self._live[identity]
        if not self._options.track_config_maps or wanted["kind"] != "Deployment" or live is None or self._is_dying(live):
            return wanted
        edited: dict[str, Object] = {}
        for name in pod_templates.mounted(wanted, "ConfigMap"):
            one = Identity("v1", "ConfigMap", identity.namespace, name)
            found = self._live[one] if one in self._wanted else None
            if found and mounted_config_maps.is_edited(self._wanted[one], found) and mounted_config_maps.is_rolled_out(wanted, live):
                edited[name] = found
        if edited:
            self._misled[identity] = ", ".join(edited)
        versions = ".".join(found["metadata"]["resourceVersion"] for found in edited.values())
        return mounted_config_maps.with_restored(wanted, live, versions)

    def _with_account(self, identity: Identity, wanted: Object) -> Object:
        """The manifest of a Deployment with the record of its ServiceAccount, if that is a member of the set.

        Before the run creates the account, its uid is unknown: then the pods of an existing Deployment have lost their account.
        """
        if not self._options.track_accounts or wanted["kind"] != "Deployment":
            return wanted
        name = wanted["spec"]["template"]["spec"].get("serviceAccountName")
        account = Identity("v1", "ServiceAccount", identity.namespace, name or "default")
        if account not in self._wanted:
            return wanted
        live, found = (None if one and self._is_dying(one) else one for one in (self._live[identity], self._live[account]))
        if live is None:
            return accounts.with_account(wanted, accounts.Account(found["metadata"]["uid"]) if found else accounts.Account())
        uid = found["metadata"]["uid"] if found else accounts.PENDING
        judged = accounts.account(live, found)
        if found is None or judged.is_cut_off or identity in self._cut_off:
            self._cut_off.add(identity)
            judged = accounts.Account(uid, uid, True)
        return accounts.with_account(wanted, judged)

    def _with_secrets(self, identity: Identity, wanted: Object) -> Object:
        """The manifest of a Deployment with the record of its Secrets that are members and exist."""
        if not self._options.repair or wanted["kind"] != "Deployment":
            return wanted
        live, found = self._live[identity], {}
        for name in pod_templates.mounted(wanted, "Secret"):
            secret = self._live.get(Identity("v1", "Secret", identity.namespace, name))
            if secret and not self._is_dying(secret):
                found[name] = secret
        return mounted_secrets.with_secrets(wanted, None if self._is_dying(live) else live, found)

    def _judge_additions(self, live: Object, wanted: Object) -> additions.Verdict | None:
        """The `additions.Verdict` on a workload; None where additions stay."""
        if not self._options.revert_additions or wanted["kind"] not in additions.KINDS:
            return None
        return additions.evaluate(live, wanted, self._options.field_manager)

    def _report_additions(self, identity: Identity, after: Object, wanted: Object) -> None:
        """Report what others added and what cannot be reverted, and what admission replaces."""
        judged = self._judge_additions(after, wanted)
        if judged and judged.disputed:
            self._report.add_additions(identity, judged.disputed)
            self._warn(additions.describe(identity, judged.disputed) + ".")
        replaced = additions.replaced(after, wanted, self._options.field_manager) if judged else []
        if replaced:
            self._report.add_replacements(identity, replaced)
            self._warn(additions.describe_replaced(identity, replaced) + ".")

    def _differs(self, wanted: Object, before: Object, after: Object) -> bool:
        """Did an apply change something: the content, or which fields of it are ours?

        The resourceVersion alone is not sufficient, because others also write, especially to the status.
        """
        ours = (self._options.field_manager, self._options.subresource)
        with_status = "status" in wanted
        return diff.content(before, with_status) != diff.content(after, with_status) or owned_fields(before, *ours) != owned_fields(
            after, *ours
        )

    def _announce(self, text: str) -> None:
        """Warn of what is done; without check mode not before something was written."""
        self._announced.append(text)
        if self._options.check:
            self._warn_announced()

    def _warn_announced(self) -> None:
        while self._announced:
            self._warn(self._announced.pop(0))

    def _patch(self, identity: Identity, wanted: Object) -> Object:
        races = 0
        while True:
            try:
                after = self._settle(identity, wanted)
                self._warn_announced()
                return after
            except ApiError as error:
                races += 1
                lost_race = error.status == 409 and not error.details.get("causes") and races < _MAX_RACES
                if not (lost_race or self._is_spreading(identity, error)):
                    raise refusal(error, identity, "apply", wanted) from None
                time.sleep(_RETRY_PAUSE)

    def _settle(self, identity: Identity, wanted: Object, dry_run: bool = False) -> Object:
        """Apply; where others have set fields to another value, and these are to be put back, report it and apply with force."""
        if identity in self._put_back or identity == self._inventory:
            return self._send(identity, wanted, dry_run, force=True)
        try:
            return self._send(identity, wanted, dry_run)
        except ApiError as error:
            causes = error.details.get("causes") or []
            # Conflicts with managers whose place is taken are none once that is written.
            replaced = self._options.takeover_field_managers if dry_run and self._taken(identity) else []
            error.details["causes"] = ownership.other_causes(causes, replaced)
            found = conflicts(error)
            forcible = not error.details["causes"] or (found and self._may_force(identity))
            if not causes or not forcible:
                raise
            if found:
                self._put_back[identity] = found
                self._announce(f"{identity}: {found}. {self._would} put back to what the manifest says.")
        return self._send(identity, wanted, dry_run, force=True)

    def _dry_run(self, identity: Identity, wanted: Object) -> Object:
        """What applying would leave, by dry runs; also of a member that others edited so that no apply can be merged with it."""
        try:
            return self._settle(identity, wanted, dry_run=True)
        except ApiError as error:
            made = self._apart(identity, wanted, error)
            if made is None:
                raise
            return made

    def _apart(self, identity: Identity, wanted: Object, error: ApiError) -> Object | None:
        """What a member becomes without the content that others gave it, or if it is created again; None where that does not help."""
        live, options = self._live[identity], self._options
        if live is None or error.status != 422 or not self._is_created(identity, live) or options.subresource:
            return None
        try:
            made = self._predict_creation(identity, wanted)
        except ApiError:
            return None  # The manifest itself is invalid.
        try:
            left = self._rewrite(identity, ownership.replacement(live, ownership.with_content_of(live, made)), dry_run=True)
        except ApiError as refused:
            if refused.status != 422 or not options.repair:
                return None
            self._recreated.add(identity)
            self._announce(f"{identity}: it has to change what the API server lets nobody change. {self._would} deleted and created again.")
            return made
        others = ", ".join(manager for manager in membership.managers(live) if manager != options.field_manager)
        if not options.force_conflicts:
            remedy = f"it is valid without what the field managers {others} set; {FORCE} removes that"
            error.details.setdefault("causes", []).append({"message": remedy})
            return None
        self._separate.add(identity)
        self._put_back[identity] = f"the manifest cannot be merged with fields that are managed by {others}"
        self._announce(f"{identity}: {self._put_back[identity]}. {self._would} put back to what the manifest says.")
        return left

    def _is_created(self, identity: Identity, live: Object) -> bool:
        """Did the set create this object, or the one in whose place it is?"""
        belongs = self._set is not None and membership.set_of(live) == self._set
        return (belongs and membership.former_manager(live) is None) or self._is_replaced(identity, live)

    def _may_force(self, identity: Identity) -> bool:
        return self._options.force_conflicts or (self._options.adopt and identity in self._adopting)

    def _take_over(self, identity: Identity) -> None:
        """Store that fields are ours. The object may be written by others at the same time, or even be gone."""
        races = 0
        while True:
            live, taken = self._live[identity], self._taken(identity)
            if not live or not taken:
                return
            try:
                self._live[identity] = self._rewrite(identity, ownership.rewrite(live, taken))
                return
            except ApiError as error:
                races += 1
                if error.status not in (404, 409) or races == _MAX_RACES:
                    raise refusal(error, identity, "take over fields of", self._wanted[identity]) from None
                time.sleep(_RETRY_PAUSE)
                self._read([identity])

    def _predict(self, identity: Identity, wanted: Object, live: Object | None, taken: ownership.TakeOver | None) -> Object:
        """What applying would leave, by dry runs. The server knows nothing of a take-over that was not stored: so its answer to the
        apply is stripped of what would go, and then asked for again, to have defaults filled in."""
        answer = self._dry_run(identity, wanted)
        if not taken or live is None or identity in self._separate | self._recreated:
            return answer
        options = self._options
        left = ownership.outcome(answer, taken, options.field_manager, options.subresource)
        return self._rewrite(identity, ownership.replacement(live, left), options.subresource)

    def _predict_creation(self, identity: Identity, wanted: Object) -> Object:
        """What creating it would leave, where an object of this name is still there: the server is asked under another name."""
        name = "osso-dry-run-" + hashlib.sha256(identity.name.encode()).hexdigest()[:10]
        answer = self._send(identity, dict(wanted, metadata=dict(wanted["metadata"], name=name)), dry_run=True)
        return dict(answer, metadata=dict(answer["metadata"], name=identity.name))

    def _rewrite(self, identity: Identity, operations: list[Object], subresource: str | None = None, dry_run: bool = False) -> Object:
        options = self._options
        return self._client.json_patch(
            self._resource(identity),
            identity.name,
            identity.namespace,
            operations,
            field_manager=options.field_manager,
            dry_run=dry_run or options.check,
            subresource=subresource,
        )

    def _is_spreading(self, identity: Identity, error: ApiError) -> bool:
        """Does an API server that answers so perhaps not know yet, or not in its new shape, what this run has just defined or granted?"""
        if is_escalation(error):
            return time.monotonic() - self._granted < _SPREADING_SECONDS
        defined = self._defined.get((identity.group, identity.kind))
        return defined is not None and error.status in (400, 404, 422, 500) and time.monotonic() - defined < _SPREADING_SECONDS

    def _send(self, identity: Identity, wanted: Object, dry_run: bool, force: bool = False) -> Object:
        options = self._options
        return self._client.apply(
            self._resource(identity),
            wanted,
            force=force,
            dry_run=dry_run,
            subresource=options.subresource,
            field_manager=options.field_manager,
        )

    def _establish(self, phase: list[Identity]) -> None:
        """Wait until the CustomResourceDefinitions of a phase are served: what comes after them may be their instances."""
        if self._options.check:
            return
        targets = [
            wait.Target(identity, self._resource(identity), readiness.established)
            for identity in phase
            if identity.kind == live_objects.CRD and readiness.established(self._existing(identity)).state != readiness.READY
        ]
        self._live.update(wait.until_ready(self._client, targets, self._deadline, self._live))

    # Waiting

    def _wait(self, awaited: list[tuple[Identity, Judge]]) -> None:
        targets = [wait.Target(identity, self._resource(identity), judge) for identity, judge in awaited]
        for identity, live in wait.until_ready(self._client, targets, self._deadline, self._live).items():
            self._report.see(identity, live)

    # The inventory

    def _record(self, members: list[Identity]) -> None:
        """Write down what the set consists of, where that is not written already."""
        if self._inventory:
            wanted = desired(apply_set.manifest(*self._name_and_namespace(), members, self._adopted))
            live = self._live[self._inventory]
            if live and live.get("immutable"):
                self._recreated.add(self._inventory)
            self._apply(self._inventory, wanted)

    def _prune(self, stale: list[Identity]) -> list[Identity]:
        """Delete members that are no longer in the set, and return those that have to stay in the inventory."""
        self._locate(stale)
        self._read(stale)
        mine = [one for one in map(self._doomed, stale) if one.live and self._standing(one.identity) is not Standing.FOREIGN]
        adopted = [one for one in mine if membership.former_manager(one.present) is not None]
        orphaned = self._orphaned(one for one in mine if one not in adopted)
        doomed = [one for one in mine if one not in adopted + orphaned]
        kept = prune.must_stay(self._client, doomed, self._options.set_name, self._warn)
        self._remember([one for one in mine if one not in kept])
        self._release(adopted)
        for one in orphaned:
            self._orphan(one)
        self._delete([one for one in doomed if one not in kept])
        return [one.identity for one in kept]

    def _remember(self, leaving: list[Doomed]) -> None:
        """For a task that restores it: the manifests of what leaves the set."""
        if self._options.return_removed:
            self._report.removed = [applied(one.present, self._options.field_manager) for one in leaving if one.identity.kind != "Secret"]

    def _orphaned(self, doomed: Iterable[Doomed]) -> list[Doomed]:
        """Those which stay, because the options name them."""
        return [one for one in doomed if one.live and one.identity.kind in prune.HOLDERS and one.identity.name in self._options.orphan]

    def _orphan(self, one: Doomed) -> None:
        """Take the set's labels off an object that others look after from now on; everything else of it stays."""
        metadata = one.present["metadata"]
        operations = [
            {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
            *membership.without_labels(one.present),
        ]
        try:
            after = self._rewrite(one.identity, operations)
        except ApiError as error:
            raise refusal(error, one.identity, "let go of") from None
        self._report.add(one.identity, apply_result.UPDATED, one.live, after)
