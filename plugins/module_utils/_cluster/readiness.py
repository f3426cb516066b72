# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Is an object ready, and if not, why? Answered from the object alone.

A status speaks for the spec only once ``status.observedGeneration``, where there is one, has reached ``metadata.generation``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import conditions, runner_annotations, timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.deployments import is_overdue, progress
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.klog import exit_reason
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.pod_failures import NO_TEXTS, STARTING, EventText
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import one_line, redacted
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object

PENDING, READY, FAILED = "pending", "ready", "failed"


class Verdict(NamedTuple):
    """``state`` is READY, PENDING or FAILED (it will not become ready by itself); ``why`` is for a person."""

    state: str
    why: str = ""


Judge = Callable[[Object], Verdict]
"""Says of a live object whether it is ready."""


def condition(
    live: Object, type: str, status: str = "True", reason: str | None = None, final_reasons: Collection[str] | None = None
) -> Verdict:
    """Has the condition ``type`` the wanted ``status`` (and ``reason``)? With one of ``final_reasons`` it has failed."""
    found = conditions.find(live, type)
    ignored = runner_annotations.problem(live, only_stopping=True)
    if ignored and (found.get("status") != status or not _is_current(live, found)):
        return Verdict(FAILED, ignored)
    if not found:
        seen = ", ".join("{type}={status}".format(**one) for one in conditions.conditions_of(live))
        return Verdict(PENDING, "condition {0} is not reported{1}".format(type, " (only " + seen + ")" if seen else ""))
    if not _is_current(live, found):
        return Verdict(PENDING, "its controller has not looked at the present generation yet: " + _message_of(found))
    if found.get("reason") in (final_reasons or ()):
        return Verdict(FAILED, _message_of(found))
    if found.get("status") != status or (reason and found.get("reason") != reason):
        return Verdict(PENDING, _message_of(found))
    return Verdict(READY)


def _is_current(live: Object, found: Object) -> bool:
    """Does a condition describe the present generation of an object?"""
    generation = live["metadata"].get("generation", 0)
    return all(observer.get("observedGeneration", generation) >= generation for observer in (live.get("status", {}), found))


def fields(live: Object, wanted: Mapping[str, Any]) -> Verdict:
    """Has each path of ``wanted``, such as ``status.generations[0].hash``, the text that it should have?"""
    for path, value in wanted.items():
        found = _at(live, path)
        if found is None or str(found) != str(value):
            return Verdict(PENDING, "{0} is {1} and should be {2}".format(path, "not set" if found is None else found, value))
    return Verdict(READY)


def established(live: Object) -> Verdict:
    """Is a CustomResourceDefinition served?"""
    rejected = conditions.find(live, "NamesAccepted")
    if rejected.get("status") == "False":
        return Verdict(FAILED, _message_of(rejected))
    return condition(live, "Established")


def rollout(live: Object) -> Verdict:
    """Has a workload rolled out its present template: all replicas updated and available (for a Job: completed)?"""
    if live.get("status", {}).get("observedGeneration", 0) < live["metadata"].get("generation", 0) and live["kind"] != "Job":
        return Verdict(PENDING, "its controller has not looked at the present generation yet")
    return ROLLOUTS[live["kind"]](live.get("spec", {}), live.get("status", {}), live)


def _deployment(spec: Object, status: Object, live: Object) -> Verdict:
    found = progress(live)
    if found.complete:
        return Verdict(READY)
    counts = f"{found.updated} of {found.wanted} replicas updated, {found.available} available"
    if found.total > found.updated:
        counts += f", {found.total - found.updated} old ones left"
    if is_overdue(live):
        return Verdict(FAILED, counts + "; " + _message_of(conditions.find(live, "Progressing")))
    failure = conditions.find(live, "ReplicaFailure")
    if failure.get("status") == "True":
        counts += "; " + _message_of(failure)
    return Verdict(PENDING, counts)


def _daemon_set(spec: Object, status: Object, live: Object) -> Verdict:
    wanted = status.get("desiredNumberScheduled", 0)
    updated, available = status.get("updatedNumberScheduled", 0), status.get("numberAvailable", 0)
    if updated >= wanted and available >= wanted:
        return Verdict(READY)
    return Verdict(PENDING, f"{updated} of {wanted} nodes updated, {available} available")


def _stateful_set(spec: Object, status: Object, live: Object) -> Verdict:
    wanted = spec.get("replicas", 1)
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    if status.get("currentRevision") == status.get("updateRevision"):
        updated = max(updated, status.get("currentReplicas", 0))
    if updated >= wanted and available >= wanted:
        return Verdict(READY)
    return Verdict(PENDING, f"{updated} of {wanted} replicas updated, {available} available")


def _job(spec: Object, status: Object, live: Object) -> Verdict:
    failed = conditions.find(live, "Failed")
    if failed.get("status") == "True":
        return Verdict(FAILED, _message_of(failed))
    if conditions.is_true(live, "Complete"):
        return Verdict(READY)
    return Verdict(PENDING, "{0} of {1} completions".format(status.get("succeeded", 0), spec.get("completions", 1)))


ROLLOUTS = {"DaemonSet": _daemon_set, "Deployment": _deployment, "Job": _job, "StatefulSet": _stateful_set}


LASTING = ("DaemonSet", "Deployment", "StatefulSet")
"""Kinds whose pods run until they are deleted"""


def has_no_pods(live: Object) -> bool:
    """Does the API server reject the pods of a workload, such as for a quota, a policy or a PriorityClass that does not exist?"""
    return conditions.is_true(live, "ReplicaFailure")


def pod_problems(pods: Iterable[Object], texts: Mapping[str, EventText] = NO_TEXTS) -> list[str]:
    """Why pods do not run, one text per distinct reason, with the number of pods it holds for. ``texts``: see `pod_failures.event_texts`."""
    counts: dict[str, list[str]] = {}
    for pod in pods:
        for problem in _pod_problems(pod, texts.get(pod["metadata"].get("uid", ""))):
            counts.setdefault(problem, []).append(pod["metadata"]["name"])
    return [
        "{0}: {1}".format("pod " + names[0] if len(names) == 1 else f"{len(names)} pods such as {names[0]}", problem)
        for problem, names in counts.items()
    ]


def has_events(pod: Object) -> bool:
    """Has the pod a container that starts, or that runs without being ready? Its events then tell more than its status."""
    containers = pod.get("status", {}).get("containerStatuses", [])
    return any(("running" in one.get("state", {}) and not one.get("ready")) or _is_starting(one) for one in containers)


def _is_starting(container: Object) -> bool:
    return container.get("state", {}).get("waiting", {}).get("reason") in STARTING


def _pod_problems(pod: Object, event: EventText | None) -> Iterator[str]:
    status = pod.get("status", {})
    told = {event.reason: event.message} if event else {}
    scheduled = conditions.find(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        yield "not scheduled by {0}: {1}".format(
            pod.get("spec", {}).get("schedulerName", "?"), scheduled.get("message") or scheduled.get("reason", "")
        )
    for container in status.get("initContainerStatuses", []) + status.get("containerStatuses", []):
        waiting = container.get("state", {}).get("waiting", {})
        ended = container.get("state", {}).get("terminated") or container.get("lastState", {}).get("terminated") or {}
        # The message may be the end of a log, with credentials in it.
        said = ended.get("message") or ended.get("reason") or ""
        how = "ended with exit code {0}: {1}".format(ended.get("exitCode"), redacted(exit_reason(said) or said))
        if waiting.get("reason") not in (None, *STARTING):
            text = "container {0} is {1}".format(container["name"], waiting["reason"])
            if waiting.get("message"):
                text += ": " + one_line(waiting["message"])
            yield text + "; it " + how if ended.get("exitCode") else text
        elif ended.get("exitCode"):
            yield "container {0} {1}".format(container["name"], how)
        elif "running" in container.get("state", {}) and not container.get("ready"):
            yield ": ".join(filter(None, ["container {0} runs but is not ready".format(container["name"]), told.get("Unhealthy")]))
        elif _is_starting(container) and told.get("FailedMount"):
            yield "container {0} is {1}: {2}".format(container["name"], waiting["reason"], told["FailedMount"])
    if status.get("phase") == "Failed" and not status.get("containerStatuses"):
        yield "{0}: {1}".format(status.get("reason", "Failed"), status.get("message", ""))


# The kubelet's reasons for a container that it cannot create or run, whatever time passes
_CANNOT_START = (
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
)
# Crashes of a new pod after which a rollout has failed: fewer may be an API server that is away for a moment.
CRASHES = 3


def cannot_start(pod: Object) -> bool:
    """Can a container of the pod not be created, such as for an image that cannot be pulled, or does it crash repeatedly?"""
    status = pod.get("status", {})
    for container in status.get("initContainerStatuses", []) + status.get("containerStatuses", []):
        if container.get("state", {}).get("waiting", {}).get("reason") in _CANNOT_START:
            return True
        if container.get("restartCount", 0) >= CRASHES and not container.get("ready"):
            return True
    return False


# So many seconds a container without a readiness probe, which counts as ready at once, must run, and one that was restarted
STEADY_SECONDS, STEADY_AFTER_RESTART_SECONDS = 10, 60


def unsteady(pod: Object, now: datetime) -> str:
    """Why a pod that is ready may still be one that crashes repeatedly; "" if it is not. ``now`` is the API server's time."""
    status = pod.get("status", {})
    if "deletionTimestamp" in pod["metadata"] or status.get("phase") in ("Failed", "Succeeded"):
        return ""
    for container in status.get("containerStatuses", []):
        what, restarts = "container {0}".format(container["name"]), container.get("restartCount", 0)
        if "running" not in container.get("state", {}):
            return f"{what} does not run"
        times = "once" if restarts == 1 else f"{restarts} times"
        started = container["state"]["running"].get("startedAt")
        if restarts and _seconds(started, now) < STEADY_AFTER_RESTART_SECONDS:
            return f"{what} was restarted {times}, the last time less than {STEADY_AFTER_RESTART_SECONDS} s ago"
        if container["name"] in _unprobed(pod["spec"]) and _seconds(started, now) < STEADY_SECONDS:
            return f"{what} has no readiness probe and was started less than {STEADY_SECONDS} s ago"
    return ""


def newly_available(deployment: Object, now: datetime) -> str:
    """The same for a Deployment whose pods cannot be read."""
    since = conditions.find(deployment, "Available").get("lastTransitionTime")
    if not _unprobed(deployment["spec"]["template"]["spec"]) or _seconds(since, now) >= STEADY_SECONDS:
        return ""
    return f"it has no readiness probe and became available less than {STEADY_SECONDS} s ago"


def _unprobed(spec: Object) -> list[str]:
    return [container["name"] for container in spec["containers"] if "readinessProbe" not in container]


def _seconds(moment: str | None, now: datetime) -> float:
    """Between a moment and ``now``; the clock of a node may be ahead. Infinite where there is no moment."""
    try:
        return abs((now - timestamps.parse(moment)).total_seconds())
    except ValueError:
        return float("inf")


def held_by(live: Object) -> str:
    """What keeps an object that is being deleted."""
    reasons = []
    finalizers = list(live["metadata"].get("finalizers") or [])
    if "foregroundDeletion" in finalizers:
        finalizers.remove("foregroundDeletion")
        reasons.append("objects that belong to it and are still being deleted")
    if finalizers:
        reasons.append("finalizers {0}, which the controllers that put them there have to remove".format(", ".join(finalizers)))
    if live["kind"] == "Namespace":
        reasons += [_message_of(one) for one in conditions.conditions_of(live) if one.get("status") == "True"]
        if not reasons and live.get("spec", {}).get("finalizers"):
            reasons.append("its content is still being deleted")
    if not live["metadata"].get("deletionTimestamp"):
        reasons.append("it is no longer marked for deletion: it was created again")
    elif not reasons:
        reasons.append("no finalizer; the server has not removed it yet")
    return "; ".join(reasons)


def _at(live: Any, path: str) -> Any:
    """The value at a path of names and list positions, None where there is none. A name with dots is written as ``['a.b/c']``."""
    for quoted, plain in re.findall(r"\['([^']+)'\]|([^.\[\]]+)", path):
        step = quoted or plain
        try:
            live = live[int(step)] if isinstance(live, list) else live[step]
        except (IndexError, KeyError, TypeError, ValueError):
            return None
    return live


def _message_of(found: Object) -> str:
    text = "{0} is {1}".format(found["type"], found["status"])
    if found.get("reason"):
        text += " ({0})".format(found["reason"])
    if found.get("message"):
        text += ": " + found["message"].strip()
    return text
