# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of a SecondaryScheduler: read and decide, render, apply, report; and the clean-up when it is deleted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import apply_set, live_objects, readiness, timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply import Options, Run
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_result import Report
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import conditions_of
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, NotDeleted, message_of
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.membership import former_manager, set_of
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._operand import condition_metrics, events, resource_names, upstream_cleanup
from ansible_collections.osso.scheduler.plugins.module_utils._operand import decision as decisions
from ansible_collections.osso.scheduler.plugins.module_utils._operand.inputs import (
    ASK_TIMEOUT,
    Inputs,
    Reader,
    TemplateVariables,
    Unanswered,
    template_variables,
)
from ansible_collections.osso.scheduler.plugins.module_utils._operand.reporting import Applied, Reporting
from ansible_collections.osso.scheduler.plugins.module_utils._operand.status import REMOVING, unchanged_for

CLEANUP_GIVEN_UP = "CleanupGivenUp"
# Seconds
_LONGEST_REMOVAL = 24 * 60 * 60

RBAC = "rbac.authorization.k8s.io/v1"
_LEASES = "coordination.k8s.io/v1"
KINDS = (
    {"api_version": "v1", "kind": "ServiceAccount"},
    {"api_version": "v1", "kind": "Secret"},
    {"api_version": "v1", "kind": "Service"},
    {"api_version": "apps/v1", "kind": "Deployment"},
    {"api_version": RBAC, "kind": "Role"},
    {"api_version": RBAC, "kind": "RoleBinding"},
    {"api_version": "networking.k8s.io/v1", "kind": "NetworkPolicy"},
    {"api_version": "policy/v1", "kind": "PodDisruptionBudget"},
    {"api_version": "monitoring.coreos.com/v1", "kind": "ServiceMonitor"},
)
"""Where members of the set can be in the resource's namespace, for a clean-up without the inventory: that is deleted with its namespace."""

KINDS_ELSEWHERE = (
    {"api_version": RBAC, "kind": "ClusterRoleBinding"},
    {"api_version": RBAC, "kind": "RoleBinding", "namespace": "kube-system"},
)
"""Where members can be outside of it. Nothing deletes these with the resource or its namespace, and they grant permissions."""

# Seconds that a reconcile waits for what is being deleted. Others are waiting for the operator's workers meanwhile.
_REMOVAL_WAIT = 1

# Finalizers that end by themselves: ours with this clean-up, the API server's with its garbage collection
_OF_THE_DELETION = (resource_names.FINALIZER, "foregroundDeletion", "orphan")


Render = Callable[[TemplateVariables], list[Object]]
"""Makes manifests of the templates."""


class Result(NamedTuple):
    """changed: was something written? look_again: when to reconcile again, such as ``5s``, "" if not by itself. failure: why the reconcile has to
    be tried again, "" if it has not."""

    changed: bool = False
    look_again: str = ""
    failure: str = ""


def reconcile(
    client: Client,
    resource: Object,
    render: Render,
    namespaces: Sequence[str],
    warn: Callable[[str], None],
) -> Result:
    """Apply the state that the resource requests, and report it.

    render: the manifests that the templates make of `template_variables`. namespaces: those in which other SecondarySchedulers are looked for,
    empty for all.
    """
    try:
        inputs = Reader(client, resource, namespaces).read()
    except Unanswered as unanswered:
        asking = Reporting(client, unanswered.resource, warn).asking(ASK_TIMEOUT)
        return Result(asking.changed, f"{unanswered.seconds}s")
    except Exception as error:
        return _unread(client, resource, message_of(error), warn)
    applied, failure, resource = Applied(), "", inputs.facts.resource
    if isinstance(inputs.decision, decisions.Application):
        applied, failure = _apply(client, inputs, inputs.decision, render, warn)
    elif inputs.decision.action == decisions.REMOVE:
        report, removing = Report(client, check=False, with_diff=False), ""
        try:
            _remove(client, resource, Options([], wait_timeout=_REMOVAL_WAIT), report, warn)
        except NotDeleted as error:
            removing = error.held
        except Exception as error:
            failure = message_of(error)
        applied = Applied(tuple(report.result()["objects"]), removing=removing)
    told = Reporting(client, resource, warn).present(inputs, applied, failure)
    return Result(
        told.changed or any(entry["action"] not in ("unchanged", "absent") for entry in applied.objects), told.look_again, failure
    )


def _unread(client: Client, resource: Object, failure: str, warn: Callable[[str], None]) -> Result:
    try:
        told = Reporting(client, resource, warn).unread(failure)
    except Exception:
        return Result(failure=failure)  # An API server that does not answer takes no status, either.
    return Result(told.changed, told.look_again, failure)


def _apply(
    client: Client, inputs: Inputs, decision: decisions.Application, render: Render, warn: Callable[[str], None]
) -> tuple[Applied, str]:
    """What was applied, and why that failed, "" if it did not."""
    resource, names = inputs.facts.resource, resource_names.names_of(inputs.facts.resource)
    report, failure, removing = Report(client, check=False, with_diff=False, return_kinds=("Deployment",)), "", ""
    try:
        options = Options(
            render(template_variables(inputs, decision)),
            field_manager=resource_names.FIELD_MANAGER,
            owner=resource_names.owner(resource),
            set_name=names["set"],
            set_namespace=names["namespace"],
            set_kinds=KINDS_ELSEWHERE,
            possible_kinds=_kinds(names["namespace"]),
            prune=decision.prune,
            adopt=resource_names.annotations_of(resource).get(resource_names.ADOPT) == "true",
            force_conflicts=True,
            repair=True,
            wait_timeout=_REMOVAL_WAIT,
            revert_additions=True,
            # What the upstream operator wrote into these objects no longer counts.
            takeover_field_managers=[upstream_cleanup.UPSTREAM_MANAGER],
        )
        Run(client, options, report, warn).present()
        if inputs.leftovers:
            Run(client, Options(list(inputs.leftovers)), Report(client, check=False, with_diff=False), warn).absent()
    except NotDeleted as error:
        removing = error.held
    except Exception as error:
        failure = message_of(error)
    result = report.result()
    deployment = next((live for live in result["resources"] if live["metadata"]["name"] == names["workload"]), None)
    return Applied(tuple(result["objects"]), tuple(result["additions"]), deployment, tuple(report.put_back), removing), failure


def _remove(client: Client, resource: Object, options: Options, report: Report, warn: Callable[[str], None]) -> None:
    """`clean_up`, and delete what the upstream operator made for the resource, of which this one need never have managed anything."""
    identities = map(Identity.of, upstream_cleanup.all_candidates(resource))
    found = live_objects.read(client, {identity: live_objects.locate(client, identity) for identity in identities})
    theirs = upstream_cleanup.all_of(resource, [one for one in found.values() if one])
    Run(client, options._replace(manifests=theirs), report, warn).absent()
    clean_up(client, resource, options, report, warn)


def clean_up(client: Client, resource: Object, options: Options, report: Report, warn: Callable[[str], None]) -> None:
    """Delete what was made for a resource, wherever it is. Nothing else of the resource need be usable than its name.

    ``options``: check, and the seconds to wait for the scheduler's pods to end. Raises `NotDeleted` where they need longer.
    """
    names = resource_names.names_of(resource)
    if not resource_names.is_usable(names["name"]):
        return  # Nothing was ever made for it.
    kinds = _kinds(names["namespace"])
    members = _members(names, kinds, options)._replace(possible_kinds=kinds)
    # The Lease goes after the scheduler, which would create it again.
    Run(client, members, report, warn).absent(
        then=lambda: Run(client, options._replace(manifests=_lease(client, names)), report, warn).absent()
    )


def _kinds(namespace: str) -> list[Mapping[str, str]]:
    """Everywhere that members of the set of a resource in ``namespace`` can be."""
    return [*({**kind, "namespace": namespace} for kind in KINDS), *KINDS_ELSEWHERE]


def _members(names: resource_names.Names, kinds: Sequence[Mapping[str, str]], options: Options) -> Options:
    return options._replace(
        set_name=names["set"], set_namespace=names["namespace"], set_kinds=kinds, field_manager=resource_names.FIELD_MANAGER
    )


def _lease(client: Client, names: resource_names.Names) -> list[Object]:
    """The Lease of a scheduler whose objects are deleted, as a manifest without content; [] if others use it.

    The scheduler itself creates it, so nothing on it shows whose it is; a Deployment of its name does.
    """
    name, namespace = names["workload"], names["namespace"]
    lease = client.get(client.resource(_LEASES, "Lease"), name, namespace)
    deployment = client.get(client.resource("apps/v1", "Deployment"), name, namespace)
    is_others = deployment is not None and (set_of(deployment) != (names["set"], namespace) or former_manager(deployment) is not None)
    if lease is None or set_of(lease) is not None or is_others:
        return []
    return [{"apiVersion": _LEASES, "kind": "Lease", "metadata": {"name": name, "namespace": namespace}}]


def _unowned(client: Client, names: resource_names.Names) -> list[Object]:
    """What of a scheduler is in its namespace without an owner, as manifests; [] if nothing was made for it."""
    inventory = apply_set.manifest(names["set"], names["namespace"], ())
    live = client.get(client.resource("v1", "ConfigMap"), inventory["metadata"]["name"], names["namespace"])
    return [inventory, *_lease(client, names)] if live else []


def finalize(client: Client, resource: Object, deadline: int, namespaces: Sequence[str], warn: Callable[[str], None]) -> Result:
    """Clean up after a resource that is being deleted, and report how far that is.

    Pods need time to end, and a failure is tried again, until ``deadline`` seconds after the first attempt, or after the deletion where the status
    cannot be written: then it is given up, so that the resource does not stay for ever, and an event on it reports what is left.
    """
    now = timestamps.now()
    deleted = int(timestamps.seconds_between(resource["metadata"].get("deletionTimestamp") or now, now))
    tried = [entry for entry in conditions_of(resource) if entry.get("reason") == REMOVING]
    # Not for ever, whatever someone writes into the status
    age = max(min(deleted, unchanged_for({"conditions": tried}, now)), deleted - _LONGEST_REMOVAL)
    left, report, failure, removing = deadline - age, Report(client, check=False, with_diff=False), "", ""
    reporting, reader = Reporting(client, resource, warn), Reader(client, resource, namespaces)
    try:
        _remove(client, resource, Options([], wait_timeout=_REMOVAL_WAIT), report, warn)
        held = [name for name in resource["metadata"].get("finalizers") or [] if name not in _OF_THE_DELETION]
        if held:
            live = {**resource, "metadata": {**resource["metadata"], "finalizers": held}}
            with contextlib.suppress(ClusterError):  # The clean-up does not depend on the status.
                said = f"All its objects are deleted, and the operator reports nothing more. The resource is held by {readiness.held_by(live)}."
                reporting.leaving(said, "")
        reporting.absent(reader.neighbours())
        return Result(True)
    except NotDeleted as error:
        removing = error.held
    except Exception as error:
        failure = message_of(error)
        warn(failure)
    if left > 0:
        try:
            reporting.leaving(removing, failure)
        except ClusterError:  # The clean-up does not depend on the status.
            age, left = deleted, deadline - deleted
    if left > 0:
        # Not a failure of the play: the operator would try again after ever longer pauses, up to a quarter of an hour.
        return Result(report.result()["changed"], f"{min(max(age // 2, 5 if failure else 1), left)}s", failure)
    _give_up(client, resource, deadline, failure or removing, reporting, warn)
    condition_metrics.forget(resource_names.names_of(resource))
    with contextlib.suppress(ClusterError):
        reporting.absent(reader.neighbours())
    return Result(True, failure=failure or removing)


def _give_up(client: Client, resource: Object, deadline: int, failure: str, reporting: Reporting, warn: Callable[[str], None]) -> None:
    """Delete what nothing else deletes, because it is outside the namespace or has no owner, and report what is left."""
    names, causes, report = resource_names.names_of(resource), [failure], Report(client, check=False, with_diff=False)
    options = Options([], wait_timeout=_REMOVAL_WAIT)
    deletions: tuple[Callable[[], None], ...] = (
        lambda: Run(client, _members(names, KINDS_ELSEWHERE, options), report, warn).absent(recorded=False),
        lambda: Run(client, options._replace(manifests=_unowned(client, names)), report, warn).absent(),
    )
    for delete in deletions:
        try:
            delete()
        except Exception as error:
            causes.append(message_of(error))
    message = f"After {deadline} s the clean-up still fails, so the resource is deleted without it: {' '.join(dict.fromkeys(causes))}"
    reporting.write_events([events.Event(events.WARNING, CLEANUP_GIVEN_UP, message)])


def clean_up_unattended(
    client: Client, resource: Object, seconds: int, warn: Callable[[str], None], check: bool = False, with_diff: bool = False
) -> dict[str, Any]:
    """Do what the operator does when the resource is deleted, and remove its finalizer, which would keep the resource for ever: for a resource
    whose operator does not run. Returns the result of the deletion, as the module apply does."""
    report = Report(client, check, with_diff)
    _remove(client, resource, Options([], check=check, wait_timeout=seconds), report, warn)
    result = report.result()
    metadata = resource["metadata"]
    finalizers = metadata.get("finalizers") or []
    if resource_names.FINALIZER not in finalizers:
        return result
    path = f"/metadata/finalizers/{finalizers.index(resource_names.FINALIZER)}"
    # Never one that another program has put there meanwhile
    operations = [{"op": "test", "path": path, "value": resource_names.FINALIZER}, {"op": "remove", "path": path}]
    kind = client.resource(resource["apiVersion"], resource["kind"])
    try:
        client.json_patch(kind, metadata["name"], metadata["namespace"], operations, dry_run=check)
    except ApiError as error:
        if error.status != 404:
            raise
        return result
    return dict(result, changed=True)
