# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reports of a reconcile: status, events, metrics, and the annotations that make changes trigger a reconcile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply import Options, Run
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_result import Report
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import in_status, of_status
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import VERBOSITY_ANNOTATION
from ansible_collections.osso.scheduler.plugins.module_utils._operand import (
    condition_metrics,
    events,
    resource_names,
    uniqueness,
    upstream_cleanup,
)
from ansible_collections.osso.scheduler.plugins.module_utils._operand import status as statuses
from ansible_collections.osso.scheduler.plugins.module_utils._operand.decision import REMOVE
from ansible_collections.osso.scheduler.plugins.module_utils._operand.inputs import ConfigMap, Inputs, Neighbours
from ansible_collections.osso.scheduler.plugins.module_utils._operand.operator_conditions import (
    SEE_DEGRADED,
    Condition,
    condition,
    with_time,
)
from ansible_collections.osso.scheduler.plugins.module_utils._operand.plugin_requirements import Missing, Needs

# What the runner prints of a resource's reconciles; more only for who asks for it.
OPERATOR_VERBOSITY = {"Debug": "1", "Trace": "3", "TraceAll": "5"}

MERGE_PATCH = "application/merge-patch+json"
# Beside the reconcile of a resource, the one of a rival writes one condition of its status.
RIVAL_FIELD_MANAGER = f"{resource_names.FIELD_MANAGER}.rival"
# Answers of an API server, a policy or a webhook (also one that does not work) that another attempt would get, too; or the object does not exist.
_REFUSED = (400, 403, 404, 422, 500)


class Applied(NamedTuple):
    """What an apply changed. objects, additions: see the module apply. deployment: the scheduler's after the apply, None where it is unknown.
    put_back: see `apply_result.Report`. removing: what holds that which is being deleted, "" if nothing does."""

    objects: tuple[Mapping[str, Any], ...] = ()
    additions: tuple[Mapping[str, Any], ...] = ()
    deployment: Object | None = None
    put_back: tuple[str, ...] = ()
    removing: str = ""


class Reported(NamedTuple):
    """changed: was something written? look_again: when the operator has to reconcile again by itself, such as ``5s``; "" if it learns of every
    change that matters."""

    changed: bool
    look_again: str = ""


class Reporting:
    """Reports about one SecondaryScheduler ``resource``; ``warn`` is called with texts."""

    def __init__(self, client: Client, resource: Object, warn: Callable[[str], None]):
        self._client = client
        self._resource = resource
        self._warn = warn
        self._now = timestamps.now()
        self._kind = client.resource(resource["apiVersion"], resource["kind"])

    def present(self, inputs: Inputs, applied: Applied, error: str = "") -> Reported:
        """After an apply, a removal, or none. ``error``: why that failed, "" if it did not."""
        facts, decision, before = inputs.facts, inputs.decision, self._resource.get("status") or {}
        # A rollout that ends after the decision is reported by the next reconcile, which also records it in the Secret.
        deployment, failure, newer = facts.deployment, facts.failure, applied.deployment
        if decision.action == REMOVE and not (applied.removing or error) and _is_deleted(deployment, applied.objects):
            deployment, failure = None, None
        if newer and not (deployment and _generation(newer) == _generation(deployment)):
            deployment, failure = newer, None  # Of pods that an apply has just replaced nothing is known yet.
        mine = _with_names(self._resource, inputs.scheduler_names)
        everybody = [mine, *(other for other in inputs.neighbours.resources if uniqueness.key(other) != uniqueness.key(mine))]
        config_map = inputs.neighbours.config_map
        outcome = statuses.Outcome(
            resource=self._resource,
            decision=decision,
            deployment=deployment,
            newer=newer,
            failure=failure,
            error=error,
            removing=applied.removing,
            names=inputs.scheduler_names,
            unique=uniqueness.conditions(everybody)[uniqueness.key(mine)],
            missing=_missing(inputs.needs),
            metrics=facts.metrics,
            renew=facts.source.renew if facts.source else None,
            is_config_unwatched=bool(config_map.name) and not config_map.marked,
            resources=len(everybody),
            overridden=bool((self._resource.get("spec") or {}).get("unsupportedConfigOverrides")),
            additions=applied.additions,
            now=self._now,
        )
        status = statuses.report(outcome)
        changed = self._write_status(status)
        changed |= self._tell_rivals(everybody[1:], everybody)
        changed |= self._mark(config_map)
        changed |= self._set_verbosity()
        changed |= self.write_events(events.of_reconcile(applied.objects, before, status, decision.action, applied.put_back))
        problem = condition_metrics.post(resource_names.names_of(self._resource), status["conditions"])
        if problem:
            self._warn(problem)
        return Reported(changed, self._look_again(outcome, status, applied.objects, is_new=facts.deployment is None))

    def asking(self, timeout: int) -> Reported:
        """While an unknown image runs in a Job, for at most ``timeout`` seconds: nothing is applied yet."""
        image = self._resource["spec"]["schedulerImage"]
        message = (
            f"The release of the image {image} is unknown. Before the rollout, a Job runs the image for at most {timeout} s to validate the "
            "configuration."
        )
        status = self._status_with(condition("Progressing", "True", statuses.ROLLING_OUT, message))
        changed = self._write_status(status)
        condition_metrics.post(resource_names.names_of(self._resource), status["conditions"])
        return Reported(changed)

    def _status_with(self, *known: Condition) -> Object:
        """The status before, also its observedGeneration, with these conditions."""
        before = self._resource.get("status") or {}
        kept = ("observedGeneration", "readyReplicas", "schedulerNames", "generations")
        return {**{key: before[key] for key in kept if key in before}, "conditions": self._conditions(*known)}

    def unread(self, error: str) -> Reported:
        """After a reconcile that could not even read what it depends on: all other conditions are what they were."""
        before = self._resource.get("status") or {}
        status = self._status_with(condition("Degraded", "True", "ReadFailed", error))
        changed = self._write_status(status)
        changed |= self.write_events(events.of_reconcile((), before, status))
        condition_metrics.post(resource_names.names_of(self._resource), status["conditions"])
        again = ""
        if _is_known(self._resource, "ReadFailed"):
            again = f"{statuses.backoff(statuses.unchanged_for(status, self._now), resources=statuses.MANY)}s"
        return Reported(changed, again)

    def leaving(self, removing: str, failure: str) -> None:
        """While what belonged to the resource is being deleted: what holds it (``removing``), or why the deletion fails."""
        before = self._resource.get("status") or {}
        degraded = condition("Degraded", "True", "CleanupFailed", failure) if failure else condition("Degraded", "False", "AsExpected")
        status = {
            "observedGeneration": self._resource["metadata"]["generation"],
            "readyReplicas": 0,
            "schedulerNames": before.get("schedulerNames") or [],
            "conditions": self._conditions(
                condition("Available", "False", statuses.REMOVING, "The resource is being deleted."),
                condition("Progressing", "True", statuses.REMOVING, removing or SEE_DEGRADED),
                degraded,
            ),
        }
        if in_status(before, "Progressing").get("reason") != statuses.REMOVING:
            # The time of the first attempt, also where a rollout was in progress
            status["conditions"] = [
                dict(one, lastTransitionTime=self._now) if one["type"] == "Progressing" else one for one in status["conditions"]
            ]
        self._write_status(status)
        self.write_events(events.of_reconcile((), before, status, "" if failure else REMOVE))

    def _conditions(self, *known: Condition) -> list[Mapping[str, str]]:
        """These conditions; all others are what they were."""
        before, types = self._resource.get("status") or {}, {entry["type"] for entry in known}
        others = [entry for entry in of_status(before) if entry["type"] in condition_metrics.TYPES and entry["type"] not in types]
        return [*others, *(with_time(entry, before, self._now) for entry in known)]

    def absent(self, neighbours: Neighbours) -> Reported:
        """After all that belonged to the resource is deleted, and before the resource itself is."""
        others = [other for other in neighbours.resources if uniqueness.key(other) != uniqueness.key(self._resource)]
        changed = self._tell_rivals(others, others)
        changed |= self._unmark(neighbours.config_map)
        condition_metrics.forget(resource_names.names_of(self._resource))
        return Reported(changed)

    def _look_again(self, outcome: statuses.Outcome, status: Object, objects: Iterable[Mapping[str, Any]], is_new: bool) -> str:
        anew = any(entry["kind"] == "ServiceAccount" and entry["action"] == "created" for entry in objects)
        if anew and not is_new:
            return "1s"  # its pods have to be replaced, see cluster.accounts
        # The first time it fails, which is tried again at once, and logged.
        if outcome.error and not _is_known(self._resource, "ApplyFailed"):
            return ""
        return statuses.next_look(outcome, status)

    def _write_status(self, status: Object) -> bool:
        """True if that changed something."""
        manifest = {
            "apiVersion": self._resource["apiVersion"],
            "kind": self._resource["kind"],
            "metadata": {key: self._resource["metadata"][key] for key in ("name", "namespace")},
            "status": status,
        }
        report = Report(self._client, check=False, with_diff=False)
        options = Options(
            [manifest],
            field_manager=resource_names.FIELD_MANAGER,
            force_conflicts=True,
            # Upstream's own conditions would stay as they were for ever.
            takeover_field_managers=[upstream_cleanup.UPSTREAM_MANAGER, *upstream_cleanup.UPSTREAM_STATUS_MANAGERS],
            subresource="status",
        )
        Run(self._client, options, report, self._warn).present()
        return bool(report.result()["changed"])

    def _tell_rivals(self, others: Sequence[Object], everybody: Sequence[Object]) -> bool:
        """Write the condition SchedulerNamesUnique of other resources where this one's names change it."""
        mine = uniqueness.key(self._resource)
        changed = False
        for other, entry in uniqueness.changed(everybody):
            if uniqueness.key(other) == mine:
                continue
            metadata = {key: other["metadata"][key] for key in ("name", "namespace")}
            manifest = {
                "apiVersion": self._resource["apiVersion"],
                "kind": self._resource["kind"],
                "metadata": metadata,
                "status": {"conditions": [with_time(entry, other.get("status") or {}, self._now)]},
            }
            write = partial(self._client.apply, self._kind, manifest, force=True)
            what = "The condition SchedulerNamesUnique of SecondaryScheduler {namespace}/{name}".format(**metadata)
            changed |= self._written(partial(write, subresource="status", field_manager=RIVAL_FIELD_MANAGER), what)
        return changed

    def _mark(self, config_map: ConfigMap) -> bool:
        """Annotate the ConfigMap so that its edits and deletion trigger a reconcile."""
        if not config_map.found or config_map.marked or config_map.shared:
            return False
        return self._annotate("v1", "ConfigMap", config_map.name, resource_names.watch_annotations(resource_names.names_of(self._resource)))

    def _unmark(self, config_map: ConfigMap) -> bool:
        if not config_map.marked:
            return False
        return self._annotate(
            "v1", "ConfigMap", config_map.name, dict.fromkeys(resource_names.watch_annotations(resource_names.names_of(self._resource)))
        )

    def _set_verbosity(self) -> bool:
        spec = self._resource.get("spec") or {}
        wanted = OPERATOR_VERBOSITY.get(spec.get("operatorLogLevel", ""))
        given = resource_names.annotations_of(self._resource).get(VERBOSITY_ANNOTATION)
        # A value that a user set stays, unless the field is set.
        if wanted == given or (wanted is None and given not in OPERATOR_VERBOSITY.values()):
            return False
        return self._annotate(
            self._resource["apiVersion"], self._resource["kind"], self._resource["metadata"]["name"], {VERBOSITY_ANNOTATION: wanted}
        )

    def _annotate(self, api_version: str, kind: str, name: str, annotations: Mapping[str, str | None]) -> bool:
        """Set annotations (None removes one) of an object in the resource's namespace; never creates it. True if they are written."""
        path = self._client.resource(api_version, kind).path(self._resource["metadata"]["namespace"], name)
        return self._written(
            lambda: self._client.request(
                "PATCH",
                path,
                query={"fieldManager": resource_names.FIELD_MANAGER},
                body={"metadata": {"annotations": annotations}},
                content_type=MERGE_PATCH,
            ),
            f"{kind} {name}: the annotation {', '.join(annotations)}",
        )

    def write_events(self, found: list[events.Event]) -> bool:
        """Write events on the resource. True if there are any; one that cannot be written is warned of."""
        kind = self._client.resource("v1", "Event")
        for event in found:
            manifest = events.manifest(self._resource, event, self._now)
            metadata = manifest["metadata"]
            try:
                earlier = self._client.get(kind, metadata["name"], metadata["namespace"])
                if earlier:
                    manifest["count"] = (earlier.get("count") or 1) + 1
                    manifest["firstTimestamp"] = earlier.get("firstTimestamp") or self._now
                self._client.apply(kind, manifest, force=True, field_manager=resource_names.FIELD_MANAGER)
            except ApiError as error:
                # A reconcile does not fail because of an event that cannot be written, as in a namespace that is being deleted.
                self._warn(f"The event {event.reason} could not be written: {error.message}")
        return bool(found)

    def _written(self, request: Callable[[], object], what: str) -> bool:
        """False where the object does not exist, or where its write is refused, such as by a policy. That is warned of, and fails neither a reconcile
        nor a clean-up."""
        try:
            request()
        except ApiError as error:
            if error.status not in _REFUSED:
                raise
            if error.status != 404:
                self._warn(f"{what} could not be written: {error.message}")
            return False
        return True


def _generation(live: Object) -> int:
    found: int = live["metadata"]["generation"]
    return found


def _is_deleted(live: Object | None, objects: Iterable[Mapping[str, Any]]) -> bool:
    """Did an apply delete it? A Deployment of others with the name stays, and runs its pods."""
    name = live and live["metadata"]["name"]
    return any((entry["kind"], entry["name"]) == ("Deployment", name) and entry["action"] in ("deleted", "absent") for entry in objects)


def _with_names(resource: Object, names: Iterable[str]) -> Object:
    return dict(resource, status=dict(resource.get("status") or {}, schedulerNames=list(names)))


def _missing(needs: Needs | None) -> list[Missing] | None:
    """What plugins lack; None where they need nothing."""
    if not needs or not (needs["cluster_roles"] or needs["controller"] or needs["missing"]):
        return None
    return needs["missing"]


def _is_known(resource: Object, reason: str) -> bool:
    """Has this failure been reported before?"""
    return bool(in_status(resource.get("status"), "Degraded").get("reason") == reason)
