# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why the newest pods of a scheduler do not come to serve: a pure function over objects as the API server returns them.

What a crashed container said last is the end of its log (``terminationMessagePolicy: FallbackToLogsOnError``), and kube-scheduler logs its
whole configuration, tokens included: at ``-v=2``, and in the error for a file without ``kind``. So only the line with the reason is used, and only up
to the first possible secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import conditions
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.klog import exit_reason
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import one_line, redacted
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object

REVISION = "deployment.kubernetes.io/revision"

# A failing container goes through several states: these have the name of the one that lasts, so that the reason stays the same.
_LASTING = {"ErrImagePull": "ImagePullBackOff", "Error": "CrashLoopBackOff", "Completed": "CrashLoopBackOff"}
STARTING = ("ContainerCreating", "PodInitializing")
# For a container that waits for its restart, its last end is more informative.
_AGAIN = ("CrashLoopBackOff", "RunContainerError")
# kube-scheduler ends with 0 only then; as process 1 of its container a Go program that does not listen for signals yet ends with 2.
_TOLD_TO_END_CODES = (0, 2, 143)
_PANIC_CODE, _KILLED_CODE = 2, 137


class Failure(NamedTuple):
    """reason: the container's own, such as ImagePullBackOff, or the pod's (Unschedulable) or the Deployment's (FailedCreate).

    message: pod, container and what they say, without secrets. crashes: how often the container ended that ended most often.
    pod: its name, "" where there is none.
    """

    reason: str
    message: str
    crashes: int = 0
    pod: str = ""


class EventText(NamedTuple):
    """reason: of an event on a pod, such as FailedMount. message: one line, without credentials."""

    reason: str
    message: str


NO_TEXTS: Mapping[str, EventText] = MappingProxyType({})


def of_rollout(
    deployment: Object | None, replica_sets: Iterable[Object], pods: Iterable[Object], texts: Mapping[str, EventText] = NO_TEXTS
) -> Failure | None:
    """What is wrong with the newest pods of a Deployment: the worst `Failure`, None where nothing is known to be wrong.

    ``replica_sets`` and ``pods`` are those of the Deployment's namespace; ``texts``: see `event_texts`, for pods with no worse failure. Also None where
    they are older than the Deployment's present template: the failure of an earlier rollout is none of this one.
    """
    newest = _newest(deployment, replica_sets)
    if newest is None:
        return None
    uid = newest["metadata"]["uid"]
    mine = [pod for pod in pods if uid in _owners(pod) and not pod["metadata"].get("deletionTimestamp")]
    found = [failure for failure in map(_of_pod, mine) if failure] or list(_of_events(mine, texts))
    # Of equally bad ones the same each time, so that the message stays the same.
    return min(found, key=lambda failure: (-failure.crashes, failure.pod)) if found else _of_controllers(deployment, newest)


def event_texts(read: Callable[[str], Iterable[Object]]) -> dict[str, EventText]:
    """uid of a pod -> what the last event on it shows that its status does not: a volume that cannot be mounted, or a probe that fails.

    ``read``: the events for a field selector.
    """
    events = [(reason, event) for reason in ("FailedMount", "Unhealthy") for event in read(f"reason={reason}")]
    events.sort(key=lambda found: found[1].get("lastTimestamp") or found[1].get("eventTime") or "")
    return {
        (event.get("involvedObject") or {}).get("uid", ""): EventText(reason, one_line(redacted(event.get("message") or "")))
        for reason, event in events
    }


def _of_events(pods: Iterable[Object], texts: Mapping[str, EventText]) -> Iterator[Failure]:
    for pod in pods:
        name, text = pod["metadata"]["name"], texts.get(pod["metadata"].get("uid") or "-")
        if text and text.message and not conditions.is_true(pod, "Ready"):
            yield Failure(text.reason, f"pod {name}: {text.message}", 0, name)


def _newest(deployment: Object | None, replica_sets: Iterable[Object]) -> Object | None:
    """The ReplicaSet of the Deployment's present template, None where there is none yet."""
    if not deployment:
        return None
    metadata, status = deployment["metadata"], deployment.get("status") or {}
    mine = [one for one in replica_sets if metadata["uid"] in _owners(one)]
    newest = max(mine, key=_revision, default=None)
    observed = (status.get("observedGeneration") or 0) >= (metadata.get("generation") or 0)
    return newest if newest and observed and _revision(newest) >= _revision(deployment) else None


def _revision(live: Object) -> int:
    text = (live["metadata"].get("annotations") or {}).get(REVISION) or ""
    return int(text) if text.isdecimal() else 0


def _owners(live: Object) -> list[str]:
    return [owner["uid"] for owner in live["metadata"].get("ownerReferences") or []]


def _of_controllers(deployment: Object | None, replica_set: Object) -> Failure | None:
    """A Failure if pods cannot be created at all, for example for lack of quota or of permissions."""
    for live in (replica_set, deployment):
        failed = conditions.find(live, "ReplicaFailure")
        if failed.get("status") == "True":
            return Failure(failed.get("reason") or "FailedCreate", one_line(failed.get("message")) or "no pod can be made")
    return None


def _of_pod(pod: Object) -> Failure | None:
    name, status = pod["metadata"]["name"], pod.get("status") or {}
    containers = (status.get("initContainerStatuses") or []) + (status.get("containerStatuses") or [])
    found = [failure for failure in (_of_container(name, one) for one in containers) if failure]
    if found:
        return max(found, key=lambda failure: failure.crashes)
    unplaced = conditions.find(pod, "PodScheduled")
    if unplaced.get("status") == "False":
        return Failure(
            unplaced.get("reason") or "Unschedulable", f"pod {name}: {one_line(unplaced.get('message')) or 'it has no node'}", 0, name
        )
    if status.get("phase") == "Failed":  # by the kubelet, as Evicted
        return Failure(status.get("reason") or "Failed", f"pod {name}: {one_line(status.get('message')) or 'it failed'}", 0, name)
    return None


def _of_container(pod: str, container: Object) -> Failure | None:
    state = container.get("state") or {}
    waiting = state.get("waiting") or {}
    ended = state.get("terminated") or (container.get("lastState") or {}).get("terminated") or {}
    crashes = container.get("restartCount") or 0
    reason = waiting.get("reason") or ""
    if reason and reason not in STARTING and not (reason in _AGAIN and ended):
        # The kubelet alternates between the error and the back-off from it, which holds the same words.
        words = one_line(re.sub(r'^Back-off pulling image "[^"]*": ErrImagePull: ', "", waiting.get("message") or ""))
    elif ended and not container.get("ready") and ("running" not in state or crashes):
        reason, words = ended.get("reason") or "Error", _last_words(ended)
        crashes += "running" not in state and ended.get("exitCode") != 0
    else:
        return None
    return Failure(_LASTING.get(reason, reason), f"pod {pod}: container {container['name']}: {words or 'no more is said'}", crashes, pod)


def _last_words(ended: Object) -> str:
    """Why a container ended, by what it said and by how it ended."""
    reason, code, message = ended.get("reason"), ended.get("exitCode"), ended.get("message") or ""
    if reason == "OOMKilled":
        return "it was killed for using more memory than its limit; raise resources.limits.memory"
    if reason not in ("Error", "Completed", None):
        return one_line(message) or f"exit code {code}"
    return redacted(exit_reason(message)) or _by_code(code, message)


def _by_code(code: int | None, log: str) -> str:
    """The meaning of the exit code of a process without an error message."""
    if code == _PANIC_CODE and log:
        return "it panicked (exit code 2), and the end of its log contains no reason"
    if code in _TOLD_TO_END_CODES:
        return f"it received SIGTERM (exit code {code}), as is one whose startup or liveness probe fails"
    if code == _KILLED_CODE:
        return "it was killed (exit code 137), as is one whose probe fails and that ignores SIGTERM"
    return f"it ended with exit code {code}, and its log contains no reason"
