# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Place a pod and see who does it: the work of the module scheduler_probe."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import conditions
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import ApiError, Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Resource
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.interrupts import ended_by_signals, uninterrupted
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pool_items import POOL_KEY

PROBE_LABEL = "osso.scheduler/probe"
# kube-scheduler writes its event after the binding, so it can come a little later than the node's name.
EVENT_SECONDS = 5
# The account of a new namespace is made by a controller.
ACCOUNT_SECONDS = 10


@dataclass(frozen=True)
class Options:
    """What to probe; the names and meanings are those of the module's options."""

    scheduler_name: str
    namespace: str = "default"
    image: str = "registry.k8s.io/pause:3.10"
    timeout: int = 60
    running: bool = False
    expect: str = "placed"
    labels: dict[str, str] = field(default_factory=dict)
    node_selector: dict[str, str] = field(default_factory=dict)
    tolerations: list[dict[str, Any]] = field(default_factory=list)
    resources: dict[str, Any] = field(default_factory=dict)
    priority_class_name: str | None = None
    image_pull_secrets: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.scheduler_name:
            raise InputError("scheduler_name is empty: give the schedulerName of a profile, such as secondary-scheduler.")
        if self.timeout < 1:
            raise InputError(f"timeout is {self.timeout}: give at least 1 second.")


@dataclass
class Observation:
    """What was seen of the probe pod. Times are in seconds since its creation was asked for."""

    pod: dict[str, Any]
    seconds: float | None = None
    seconds_running: float | None = None
    deleted: bool = False
    events: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def see(self, pod: dict[str, Any], elapsed: float) -> None:
        self.pod = pod
        if self.node and self.seconds is None:
            self.seconds = round(elapsed, 3)
        if self.phase == "Running" and self.seconds_running is None:
            self.seconds_running = round(elapsed, 3)

    @property
    def name(self) -> str:
        name: str = self.pod["metadata"]["name"]
        return name

    @property
    def node(self) -> str | None:
        node: str | None = self.pod["spec"].get("nodeName")
        return node

    @property
    def phase(self) -> str:
        phase: str = (self.pod.get("status") or {}).get("phase", "")
        return phase

    @property
    def scheduled_condition(self) -> dict[str, Any] | None:
        """The condition PodScheduled, which a scheduler writes once it has looked at the pod."""
        return conditions.find(self.pod, "PodScheduled") or None

    @property
    def refused(self) -> bool:
        condition = self.scheduled_condition
        return not self.node and condition is not None and condition["status"] == "False"

    @property
    def scheduler(self) -> str | None:
        """Who placed the pod, or refused to, as its event says."""
        reason = "Scheduled" if self.node else "FailedScheduling"
        return next((event["component"] for event in self.events if event["reason"] == reason and event["component"]), None)

    def finished(self, options: Options) -> bool:
        """Whether waiting longer can't change the outcome."""
        if self.deleted or self.phase in ("Failed", "Succeeded"):
            return True
        if options.expect == "unplaced":
            return bool(self.node) or self.refused
        return bool(self.node) and (not options.running or self.seconds_running is not None)


def manifest(options: Options, name: str) -> dict[str, Any]:
    """The probe pod. It passes the Pod Security level ``restricted`` and has no access to the API."""
    container = {
        "name": "pause",
        "image": options.image,
        "resources": options.resources,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }
    spec = {
        "schedulerName": options.scheduler_name,
        "containers": [container],
        "nodeSelector": options.node_selector,
        # A scheduler that keeps to the nodes of its pool finds no other.
        "tolerations": [*options.tolerations, {"key": POOL_KEY, "operator": "Exists", "effect": "NoSchedule"}],
        "imagePullSecrets": [{"name": secret} for secret in options.image_pull_secrets],
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    }
    if options.priority_class_name:
        spec["priorityClassName"] = options.priority_class_name
    labels = {
        **options.labels,
        "app.kubernetes.io/name": "scheduler-probe",
        "app.kubernetes.io/managed-by": "osso.scheduler",
        PROBE_LABEL: name,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": options.namespace, "labels": labels},
        "spec": spec,
    }


def dry_run(client: Client, options: Options) -> dict[str, Any]:
    """Let the server validate the pod without storing it; no scheduler places it, so ``placed`` is None."""
    pod = manifest(options, _unique_name())
    message = "The API server accepts the probe pod; check mode places none."
    try:
        client.create(client.resource("v1", "Pod"), pod, dry_run=True)
    except ApiError as error:
        if not _is_missing_namespace(error):
            raise _not_created(error, options) from error
        message = f"The namespace {options.namespace} does not exist yet, so nothing was checked."
    return {"placed": None, "scheduler": None, "node": None, "reasons": [], "events": [], "msg": message}


def probe(client: Client, options: Options) -> dict[str, Any]:
    """Create the pod, wait, report and delete it again, whatever happens. Raises ClusterError if `options.expect` is not met."""
    pods = client.resource("v1", "Pod")
    pod = manifest(options, _unique_name())
    result: dict[str, Any] = {}
    failure = None
    with uninterrupted():  # nothing interrupts the cleaning up
        try:
            with ended_by_signals("The probe"):
                observation = _observe(client, pods, pod, options)
            result = report(observation, options)
            if not result.pop("as_expected"):
                failure = ClusterError(result.pop("msg"), **result)
        except ClusterError as error:
            failure = error
        finally:
            leftover = _remove(client, pods, pod, failure)
    if leftover:
        message = failure.message if failure else result.pop("msg")
        failure = ClusterError(f"{message} {leftover}", **result)
    if failure:
        raise failure
    return result


def report(observation: Observation, options: Options) -> dict[str, Any]:
    """The module's result, with ``msg`` and whether things are ``as_expected``."""
    placed = bool(observation.node)
    reasons = _reasons(observation, options)
    result = {
        "placed": placed,
        "scheduler": observation.scheduler,
        "node": observation.node,
        "seconds": observation.seconds,
        "seconds_running": observation.seconds_running,
        "reasons": reasons,
        "events": observation.events,
        "pod": {"namespace": options.namespace, "name": observation.name},
    }
    if observation.warnings:
        result["warnings"] = observation.warnings
    why = "; ".join(reasons) or "no reason was given"
    events_command = f"kubectl -n {options.namespace} get events --field-selector involvedObject.name={observation.name}"
    if placed:
        who = observation.scheduler or "a scheduler that left no event"
        message = f"{who} placed the probe pod on {observation.node} after {observation.seconds} s"
        if options.expect == "unplaced":
            return {**result, "as_expected": False, "msg": f"{message}, though it was expected not to be placed."}
        if not options.running:
            return {**result, "as_expected": True, "msg": f"{message}."}
        if observation.seconds_running is not None:
            return {
                **result,
                "as_expected": True,
                "msg": f"{message}; it was running after {observation.seconds_running} s.",
            }
        message = f"{message}, but it was not running within {options.timeout} s: {why}. Its events: {events_command}"
        return {**result, "as_expected": False, "msg": message}
    message = f"No scheduler placed the probe pod within {options.timeout} s: {why}."
    if observation.refused or observation.deleted:
        message = f"{observation.scheduler or options.scheduler_name} did not place the probe pod: {why}."
        command = f"Its events: {events_command}"
    else:
        command = f"List the schedulers and their names: ansible localhost -m osso.scheduler.scheduler_info -a scheduler_name={options.scheduler_name}"
    if options.expect == "unplaced":
        return {**result, "as_expected": True, "msg": message}
    return {**result, "as_expected": False, "msg": f"{message} {command}"}


def _reasons(observation: Observation, options: Options) -> list[str]:
    """Why the pod is not placed, or not running; empty if nothing is missing."""
    status = observation.pod.get("status") or {}
    found: list[str | None] = []
    if observation.deleted:
        found.append("another client deleted the pod")
    if observation.phase == "Failed":
        found.append(": ".join(filter(None, [status.get("reason"), status.get("message")])))
    if not observation.node:
        condition = observation.scheduled_condition
        if condition is not None:
            found.append(condition.get("message") or condition.get("reason"))
        found += [event["message"] for event in observation.events if event["reason"] == "FailedScheduling"]
        asked_for = observation.pod["spec"].get("schedulerName")
        if asked_for != options.scheduler_name:
            found.append(f"an admission webhook changed schedulerName to {asked_for}")
        if not any(found):
            found.append(f"no running scheduler has the name {options.scheduler_name}: none has processed the pod")
    elif options.running and observation.seconds_running is None:
        for container in status.get("containerStatuses") or []:
            waiting = (container.get("state") or {}).get("waiting")
            if waiting:
                found.append(": ".join(filter(None, [waiting.get("reason"), waiting.get("message")])))
        found += [event["message"] for event in observation.events if event["type"] == "Warning"]
    return list(dict.fromkeys(text for text in found if text))


def _unique_name() -> str:
    # Our own name, not generateName: the pod can be deleted even if the answer to its creation got lost.
    return f"osso-probe-{uuid.uuid4().hex[:10]}"


def _observe(client: Client, pods: Resource, pod: dict[str, Any], options: Options) -> Observation:
    """Create the pod and watch it until its fate is known or the time is over. A slow answer to the creation is no time of a scheduler."""
    account_deadline = time.monotonic() + ACCOUNT_SECONDS
    while True:
        started = time.monotonic()
        try:
            observation = Observation(client.create(pods, pod))
            pod["metadata"]["uid"] = observation.pod["metadata"]["uid"]  # which `_remove` goes by
            break
        except ApiError as error:
            if not _is_missing_account(error) or time.monotonic() > account_deadline:
                raise _not_created(error, options) from error
            time.sleep(0.25)
    return _watch(client, pods, observation, options, started)


def _watch(client: Client, pods: Resource, observation: Observation, options: Options, started: float) -> Observation:
    deadline = time.monotonic() + options.timeout
    version = observation.pod["metadata"]["resourceVersion"]
    selector = f"{PROBE_LABEL}={observation.name}"
    while not observation.finished(options) and time.monotonic() < deadline:
        changes = client.watch(
            pods,
            options.namespace,
            label_selector=selector,
            resource_version=version,
            timeout=deadline - time.monotonic(),
        )
        try:
            for kind, pod in changes:
                observation.see(pod, time.monotonic() - started)
                observation.deleted = kind == "DELETED"
                version = pod["metadata"]["resourceVersion"]
                if observation.finished(options) or time.monotonic() >= deadline:
                    break
        except ApiError as error:
            if error.status != 410:
                raise
            version = None  # too old: begin with the present state
        finally:
            changes.close()
    expected = "Scheduled" if observation.node else "FailedScheduling"
    patience = EVENT_SECONDS if observation.node or observation.refused else 0
    _read_events(client, observation, options, expected, patience)
    return observation


def _read_events(client: Client, observation: Observation, options: Options, expected: str, patience: float) -> None:
    """Read the pod's events, again for `patience` seconds while the expected one is not there."""
    resource = client.resource("v1", "Event")
    selector = f"involvedObject.uid={observation.pod['metadata']['uid']}"
    deadline = time.monotonic() + patience
    while True:
        try:
            events = client.list(resource, options.namespace, field_selector=selector)
        except ApiError as error:
            observation.warnings.append(
                f"The events in {options.namespace} can't be read, so it is unknown which scheduler placed it: {error.message}"
            )
            return
        observation.events = sorted((_event(event) for event in events), key=lambda event: event["time"])
        if any(event["reason"] == expected for event in observation.events) or time.monotonic() > deadline:
            return
        time.sleep(0.1)


def _event(event: dict[str, Any]) -> dict[str, Any]:
    """What matters of an event, whichever of the two event APIs it was written through."""
    source = event.get("source") or {}
    times = [event.get(key) for key in ("eventTime", "lastTimestamp", "firstTimestamp")]
    return {
        "time": next(filter(None, [*times, event["metadata"].get("creationTimestamp")]), ""),
        "type": event.get("type", ""),
        "reason": event.get("reason", ""),
        "message": event.get("message", ""),
        "component": event.get("reportingComponent") or source.get("component", ""),
        "instance": event.get("reportingInstance") or source.get("host", ""),
    }


def _is_missing_account(error: ApiError) -> bool:
    return error.status == 403 and "serviceaccount" in error.message and "not found" in error.message


def _is_missing_namespace(error: ApiError) -> bool:
    return error.status == 404 and error.details.get("kind") == "namespaces"


def _not_created(error: ApiError, options: Options) -> ApiError:
    error.message = f"The probe pod could not be created in the namespace {options.namespace}: {error.message}"
    return error


def _remove(client: Client, pods: Resource, pod: dict[str, Any], failure: ClusterError | None) -> str:
    """Delete the pod. Returns a sentence for the user if it may be left over."""
    name, namespace, created = pod["metadata"]["name"], pod["metadata"]["namespace"], "uid" in pod["metadata"]
    if not created and isinstance(failure, ApiError) and (400 <= failure.status < 500 or failure.never_sent):
        return ""
    try:
        client.delete(pods, name, namespace, grace_period=0)
    except ApiError as error:
        command = f"kubectl -n {namespace} delete pod {name} --grace-period=0"
        if created:
            return f"The pod {name} is left over ({error.message}); delete it: {command}"
        return f"It is unknown whether the pod {name} was created ({error.message}); if it exists, delete it: {command}"
    return ""
