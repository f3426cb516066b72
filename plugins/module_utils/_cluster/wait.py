# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waiting, by watch, for objects to become ready or to be gone; everything in a run shares one deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import readiness
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, NotDeleted
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.pod_failures import NO_TEXTS, EventText, event_texts
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.readiness import Judge
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object, Resource

# A watch is renewed this often, so that a connection which died silently is noticed.
_WATCH_SECONDS = 20
_POLL_SECONDS = 0.5
_MAX_PODS_LOOKED_AT, _MAX_PODS_NAMED = 50, 3
# While a workload is waited for, its pods are read so often.
_PODS_SECONDS = 5
# So long a kubelet may try in vain, such as until a registry answers or a Secret exists.
GRACE_SECONDS = 20
# A failure that was there before the wait may be an old one, so long.
RECOVERY_SECONDS = 60
# What the pods of one template have in common
_TEMPLATE_LABELS = ("pod-template-hash", "controller-revision-hash")


class Deadline:
    """A moment, so many seconds from now."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        return self._end - time.monotonic()


class Patience:
    """Detects that something was broken for so many seconds without interruption, by default ``GRACE_SECONDS``."""

    def __init__(self, seconds: float | None = None) -> None:
        self._seconds = GRACE_SECONDS if seconds is None else seconds
        self._since: float | None = None

    def ends(self, broken: bool) -> bool:
        if not broken:
            self._since = None
            return False
        self._since = self._since or time.monotonic()
        return time.monotonic() - self._since >= self._seconds


class Target(NamedTuple):
    """One object to wait for, with the function that returns its `readiness.Verdict`."""

    identity: Identity
    resource: Resource
    judge: Judge


def until_ready(
    client: Client, targets: Sequence[Target], deadline: Deadline, live: Mapping[Identity, Object | None] | None = None
) -> dict[Identity, Object | None]:
    """Wait until each of ``targets`` is ready, and return the objects as last seen, by identity.

    ``live`` holds objects already read (a dict by identity): what is ready there costs no request. When the time is over, or one
    fails for good, one `ClusterError` says for each object that is not ready why.
    """
    seen = dict(live or {})
    for position, target in enumerate(targets):
        verdict, obj = _until_ready(client, target, deadline, seen.get(target.identity))
        seen[target.identity] = obj
        if verdict.state != readiness.READY:
            raise ClusterError(_not_ready(client, targets[position:], verdict, seen, deadline))
    return seen


def _until_ready(client: Client, target: Target, deadline: Deadline, obj: Object | None) -> tuple[readiness.Verdict, Object | None]:
    """``(verdict, object)``; the verdict is READY unless the time is over, the object failed, or its pods cannot start or stay."""
    verdict, looked = _evaluate(target, obj), time.monotonic()
    patience, recovery = Patience(), Patience(RECOVERY_SECONDS)
    if verdict.state == readiness.READY and obj and obj["kind"] == "Deployment":
        # Without a request, as most are unchanged
        why = readiness.newly_available(obj, client.server_time())
        verdict = readiness.Verdict(readiness.PENDING, why) if why else verdict
    # A failure that was there before may be an old one: the object gets the chance to recover.
    for obj in _versions(client, target, deadline) if verdict.state != readiness.READY else ():
        verdict, before = _evaluate(target, obj), verdict
        if verdict.state == readiness.READY and obj:
            verdict = _steadiness(client, obj)
        if verdict.state == readiness.READY or (verdict.state == readiness.FAILED and before.state == readiness.PENDING):
            break
        if recovery.ends(verdict.state == readiness.FAILED):
            break
        if time.monotonic() - looked >= _PODS_SECONDS and target.identity.kind in readiness.ROLLOUTS:
            looked = time.monotonic()
            if patience.ends(bool(obj and readiness.has_no_pods(obj)) or any(map(readiness.cannot_start, _newest_pods(client, obj)))):
                break
    return verdict, obj


def _evaluate(target: Target, obj: Object | None) -> readiness.Verdict:
    return target.judge(obj) if obj else readiness.Verdict(readiness.PENDING, "it does not exist")


def _steadiness(client: Client, obj: Object) -> readiness.Verdict:
    """READY, or PENDING while pods of a workload that is ready may be ones that crash repeatedly."""
    if obj["kind"] not in readiness.LASTING:
        return readiness.Verdict(readiness.READY)
    reasons = (readiness.unsteady(pod, client.server_time()) for pod in _newest_pods(client, obj))
    why = next(filter(None, reasons), "")
    return readiness.Verdict(readiness.PENDING if why else readiness.READY, why)


def _versions(client: Client, target: Target, deadline: Deadline) -> Iterator[Object | None]:
    """Yield the object as it is, after each change (None when deleted) and from time to time, until ``deadline``."""
    identity = target.identity
    seconds = _PODS_SECONDS if identity.kind in readiness.ROLLOUTS else _WATCH_SECONDS
    selector = "metadata.name=" + identity.name
    may_watch = True
    while deadline.remaining() > 0:
        if may_watch:
            try:
                started = time.monotonic()
                for event, obj in client.watch(
                    target.resource, identity.namespace, field_selector=selector, timeout=min(seconds, deadline.remaining())
                ):
                    yield None if event == "DELETED" else obj
                    if deadline.remaining() <= 0:
                        return
                if time.monotonic() - started < _POLL_SECONDS:
                    time.sleep(_POLL_SECONDS)
            except ApiError as error:
                # 504: a busy server, whose cache has not reached the requested version yet
                if error.status not in (403, 404, 405, 504):
                    raise
                may_watch = False
        else:
            # Not allowed to watch, or the kind is not served yet
            time.sleep(_POLL_SECONDS)
            yield client.get(target.resource, identity.name, identity.namespace)


def _not_ready(
    client: Client, targets: Sequence[Target], verdict: readiness.Verdict, seen: dict[Identity, Object | None], deadline: Deadline
) -> str:
    texts = []
    for position, target in enumerate(targets):
        if position:
            obj = client.get(target.resource, target.identity.name, target.identity.namespace)
            verdict = _evaluate(target, obj)
            seen[target.identity] = obj
        if verdict.state != readiness.READY:
            texts.append("{0}: {1}".format(target.identity, "; ".join([verdict.why] + _pod_problems(client, seen[target.identity]))))
    if deadline.remaining() <= 0:
        return "Not ready after {0} s (wait_timeout). {1}".format(deadline.seconds, " | ".join(texts))
    return "Will not become ready. {0}".format(" | ".join(texts))


def _pod_problems(client: Client, workload: Object | None) -> list[str]:
    """Why the pods of a workload do not run; nothing for other objects."""
    try:
        pods = pods_of(client, workload)[:_MAX_PODS_LOOKED_AT]
        return readiness.pod_problems(pods, _event_texts(client, workload, pods))
    except ApiError as error:
        return ["its pods could not be read: " + error.message]


def _event_texts(client: Client, workload: Object | None, pods: Sequence[Object]) -> Mapping[str, EventText]:
    if not workload or not any(map(readiness.has_events, pods)):
        return NO_TEXTS
    try:
        return event_texts(partial(client.list, client.resource("v1", "Event"), workload["metadata"]["namespace"], None))
    except ApiError:
        # The problem of the pod remains.
        return NO_TEXTS


def pods_of(client: Client, workload: Object | None) -> list[Object]:
    """The pods of a workload, the newest first; none of other objects. Raises `ApiError`."""
    labels = ((workload.get("spec") or {}).get("selector") or {}).get("matchLabels") if workload else None
    if not workload or not labels or workload["kind"] not in readiness.ROLLOUTS:
        return []
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    pods = client.list(client.resource("v1", "Pod"), workload["metadata"]["namespace"], label_selector=selector)
    return sorted(pods, key=lambda pod: pod["metadata"].get("creationTimestamp", ""), reverse=True)


def of_newest_template(pods: Sequence[Object]) -> list[Object]:
    """Those of ``pods``, the newest first, that have the newest one's template."""
    return [pod for pod in pods if _template(pod) == _template(pods[0])]


def _template(pod: Object) -> list[str | None]:
    labels = pod["metadata"].get("labels") or {}
    return [labels.get(name) for name in _TEMPLATE_LABELS]


def _newest_pods(client: Client, workload: Object | None) -> list[Object]:
    try:
        return of_newest_template(pods_of(client, workload))
    except ApiError as error:
        if error.status != 403:
            raise
        return []


def until_gone(
    client: Client,
    targets: Iterable[tuple[Identity, Resource, str]],
    deadline: Deadline,
    gone: Callable[[Identity], object] = lambda identity: None,
) -> None:
    """Wait until each of ``targets`` (identity, resource and uid) is deleted, and call ``gone`` for each that is.

    A later object with the same name does not count. Raises one `NotDeleted` that names what blocks the remaining deletions.
    """
    held = []
    for identity, resource, uid in targets:
        obj = _until_gone(client, identity, resource, uid, deadline)
        if obj is None:
            gone(identity)
        else:
            held.append(f"{identity}: held by {readiness.held_by(obj)}{_pods_that_hold(client, obj)}")
    if held:
        raise NotDeleted(" | ".join(held), deadline.seconds)


def _pods_that_hold(client: Client, workload: Object) -> str:
    """The pods of a workload that is being deleted, with their finalizers; "" for anything else."""
    try:
        pods = pods_of(client, workload)
    except ApiError:
        return ""
    told = []
    for pod in pods[:_MAX_PODS_NAMED]:
        finalizers = ", ".join(pod["metadata"].get("finalizers") or ())
        told.append(pod["metadata"]["name"] + (f" (finalizers {finalizers})" if finalizers else ""))
    return f"; pods {', '.join(told)}" if told else ""


def _until_gone(client: Client, identity: Identity, resource: Resource, uid: str, deadline: Deadline) -> Object | None:
    """None when the object is deleted, else the object at the timeout."""
    may_watch = True
    while True:
        obj = client.get(resource, identity.name, identity.namespace)
        if obj is None or obj["metadata"]["uid"] != uid:
            return None
        if deadline.remaining() <= 0:
            return obj
        try:
            if not may_watch:
                time.sleep(_POLL_SECONDS)
                continue
            started = time.monotonic()
            for event, changed in client.watch(
                resource,
                identity.namespace,
                field_selector="metadata.name=" + identity.name,
                resource_version=obj["metadata"]["resourceVersion"],
                timeout=min(_WATCH_SECONDS, deadline.remaining()),
            ):
                if event == "DELETED":
                    return None
                if deadline.remaining() <= 0:
                    return changed
            if time.monotonic() - started < _POLL_SECONDS:
                time.sleep(_POLL_SECONDS)  # as the operator's proxy may end each watch at once
        except ApiError as error:
            if error.status not in (403, 404, 405, 410, 504):
                raise
            # 410: the object has not changed for so long that the server no longer remembers its version
            may_watch = False
