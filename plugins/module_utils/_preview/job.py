# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A preview, or an explanation, as a Job in the cluster, for hosts that cannot run the program of an image.

The pod has a container for each image of a scheduler, whose kube-scheduler waits, and one for the sandbox, which copies these programs (`in_pod`). It
has no token: the user's snapshot is in Secrets that belong to the Job, and the result is in the log. Without this process, too, the Job ends at
its deadline, and is then deleted with everything that belongs to it.
"""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import conditions
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import ApiError, Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError, message_of
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.images import program
from ansible_collections.osso.scheduler.plugins.module_utils._preview import explanation, in_pod
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import Options, check, source_of, text_of
from ansible_collections.osso.scheduler.plugins.module_utils._preview.simulation import Progress
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import Snapshot
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import job_pods
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.interrupts import ended_by_signals, uninterrupted
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_discovery import SchedulerDiscovery

LABEL = "osso.scheduler/preview"
CONTAINER = "preview"
# Until the pod runs, the pulls of its images included
_START_SECONDS = 300
# The API server accepts 1 MiB in a Secret.
_PART = 900_000
_LARGEST_LOG = 100_000_000
_LOOK_SECONDS = 5
# The sandbox shows its progress every few seconds.
_SILENT_SECONDS = 120
# Of the sandbox and the scheduler in it: limits are necessary because a ResourceQuota on limits rejects pods without them.
_MEMORY_MI, _OBJECTS_PER_MI = 512, 10
_SAME_VERSION = "The image must contain this version of the collection, such as the operator's of this version."
_HEADROOM = {"pods": int, "stopped_by": str}
_AMOUNTS = {"pods": int, "cpu_millis": int, "memory": int}
_LOAD = {f"{of}_percent_{what}": float for of in ("cpu", "memory") for what in ("mean", "deviation")}
_SHARES = {"empty_nodes": int, **_LOAD}
# What of a result is read here and in the table, the page and the playbooks
_RESULT = {
    "pods": [{**dict.fromkeys(("namespace", "name", "current", "before", "node", "status", "reason"), str), "ties": [str], "scores": dict}],
    "nodes": [{"name": str, "allocatable": _AMOUNTS, "before": _AMOUNTS, "after": _AMOUNTS}],
    "summary": {
        **dict.fromkeys(("pods", "same", "tie", "moved", "unschedulable", "preempts", "not_compared"), int),
        **dict.fromkeys(("newly_unschedulable", "newly_schedulable"), int),
        "moved_percent": float,
        **{key: [str] for key in ("preempted", "lost")},
        "before": _SHARES,
        "after": _SHARES,
    },
    **{key: [str] for key in ("exceeded", "assumptions", "missing", "scheduler_names")},
    **dict.fromkeys(("kubernetes_version", "msg"), str),
}
_EXPLANATION = {
    "pod": dict.fromkeys(("namespace", "name", "current"), str),
    "nodes": [{"name": str, "fits": bool, "plugins": dict, "filters": [str], "reason": str}],
    "attempts": [{"change": str, "fits": bool, "node": str, "reason": str}],
    **{key: [str] for key in ("ties", "preempted", "assumptions", "missing")},
    **dict.fromkeys(("node", "reason", "kubernetes_version", "msg"), str),
}


class Work(NamedTuple):
    """What a Job does. runs: the largest number of runs of a scheduler. shape: of the result."""

    name: str
    check: Callable[[Any, Snapshot], None]
    runs: int
    shape: Mapping[str, Any]


# Of the baseline, of the candidate, and for the scores; for the scores, the filters, and the attempts without and with new nodes
PREVIEW = Work(in_pod.PREVIEW, check, 3, _RESULT)
EXPLAIN = Work(in_pod.EXPLAIN, explanation.check, 4, _EXPLANATION)
# Without a token and without an API server, kube-scheduler waits for its Lease.
_WAITING = ("--master=http://127.0.0.1:9", "--leader-elect=true", "--secure-port=0", "--authentication-skip-lookup=true")


class Place(NamedTuple):
    """Where the Job is created. image: contains the collection; empty for that of the operator of the cluster."""

    namespace: str
    image: str = ""


class Program(NamedTuple):
    """A kube-scheduler, and where its image has it."""

    image: str
    path: str


def carry_out(
    work: Work,
    client: Client,
    options: Options | explanation.Options,
    snapshot: Snapshot,
    place: Place,
    progress: Progress,
    warn: Callable[[str], None],
) -> dict[str, Any]:
    """The result of `preview.preview` or `explain.explain`. What was created is deleted in every case. warn: is called if that fails.

    Raises ClusterError.
    """
    work.check(options, snapshot)
    programs, given = _for_the_pod(options)
    place = place._replace(image=place.image or _of_the_operator(client))
    name = f"osso-preview-{uuid.uuid4().hex[:10]}"
    failure: ClusterError | None = None
    log = leftover = ""
    with uninterrupted():  # nothing interrupts the cleaning up
        try:
            with ended_by_signals(f"The {work.name}"):
                log = _run(work, client, name, place, programs, given, snapshot, progress)
        except ClusterError as error:
            failure = error
        finally:
            leftover = job_pods.remove(client, ("Job",), name, place.namespace, failure)
    if failure:
        about = job_pods.unusable_namespace(client, place.namespace, "job.namespace", failure) or message_of(failure)
        raise ClusterError(" ".join(filter(None, [about, leftover])))
    if leftover:
        warn(leftover)
    return _result(log, place.image, work)


def _for_the_pod(options: Options | explanation.Options) -> tuple[dict[str, Program], dict[str, Any]]:
    """The programs that are necessary, by side, and the options without what only this host has. Raises InputError."""
    sides: dict[str, Any] = {}
    programs: dict[str, Program] = {}
    for name in ("candidate", "baseline"):
        given = getattr(options, name, None)
        if not given:
            continue
        if given.get("binary"):
            raise InputError(f"{name}.binary is a file of this host, which a Job does not have: set {name}.image, or remove job.")
        text = text_of(name, given)
        if isinstance(text, bytes):
            try:
                text = text.decode()
            except UnicodeDecodeError:
                raise InputError(f"{name}.config_file: {given['config_file']} is no UTF-8.") from None
        kept = ("image", "release", "plugins", "flags", "feature_gates", "as_scheduler", "allow_extenders", "may_be_broken")
        side = {key: given[key] for key in kept if given.get(key) is not None}
        image = given.get("image")
        if name == "candidate" and not image:
            raise InputError("candidate: set candidate.image, whose kube-scheduler the Job uses.")
        if image and image not in (taken.image for taken in programs.values()):
            programs[name] = Program(image, program(image, given.get("plugins")))
            side["binary"] = "kube-scheduler"
        sides[name] = {**side, "config_text": text, "source": source_of(name, given)}
    return programs, {**options._asdict(), **sides}


def _of_the_operator(client: Client) -> str:
    for found in SchedulerDiscovery(client, []).operators():
        if found["variant"] == "osso":
            return str(found["image"])
    raise InputError(
        "job.image: there is no operator of the collection in the cluster, whose image the Job would use. Set job.image "
        "to an image with the collection, such as the operator's."
    )


def manifest(
    name: str, place: Place, programs: dict[str, Program], secrets: list[str], seconds: int, memory: int, security: dict[str, Any]
) -> dict[str, Any]:
    """The Job. programs: of the schedulers, by side. secrets: the names of those with the question, in their order. memory: MiB for the sandbox."""
    labels = {"app.kubernetes.io/managed-by": "osso.scheduler", LABEL: name}
    schedulers = [
        {
            "name": side,
            "image": found.image,
            "command": [found.path],
            "args": [*_WAITING],
            "env": [{"name": in_pod.SIDE, "value": side}],
            "resources": job_pods.PROGRAM_RESOURCES,
            "securityContext": job_pods.CONTAINER_SECURITY,
        }
        for side, found in programs.items()
    ]
    sandbox = {
        "name": CONTAINER,
        "image": place.image,
        "command": ["python3", "-m", in_pod.__name__],
        "env": [{"name": "PYTHONPATH", "value": "/opt/ansible/python:/usr/share/ansible/collections"}, {"name": "HOME", "value": "/tmp"}],
        "resources": {"requests": {"cpu": "100m", "memory": "300Mi"}, "limits": {"cpu": "2", "memory": f"{memory}Mi"}},
        "securityContext": job_pods.CONTAINER_SECURITY,
        "volumeMounts": [{"name": "question", "mountPath": in_pod.FOLDER, "readOnly": True}, {"name": "tmp", "mountPath": "/tmp"}],
    }
    parts = [{"secret": {"name": secret, "items": [{"key": "part", "path": f"{number:04}"}]}} for number, secret in enumerate(secrets)]
    spec = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 0,
        "enableServiceLinks": False,
        # The sandbox copies the programs of the other containers, which needs the same user and group.
        "shareProcessNamespace": True,
        "securityContext": {**security, "runAsGroup": job_pods.USER},
        # In this order they are pulled and started.
        "containers": [*schedulers, sandbox],
        "volumes": [{"name": "question", "projected": {"sources": parts}}, {"name": "tmp", "emptyDir": {}}],
    }
    return job_pods.job(name, place.namespace, labels, seconds, spec)


def _run(
    work: Work,
    client: Client,
    name: str,
    place: Place,
    programs: dict[str, Program],
    given: dict[str, Any],
    snapshot: Snapshot,
    progress: Progress,
) -> str:
    """The log of the Job."""
    question = in_pod.question(given, snapshot.write(), work.name)
    parts = [question[start : start + _PART] for start in range(0, len(question), _PART)]
    secrets = [f"{name}-{number}" for number in range(len(parts))]
    seconds = _START_SECONDS + in_pod.PROGRAM_SECONDS * len(programs) + work.runs * given["timeout"]
    memory = _MEMORY_MI + (len(snapshot.objects) - len(snapshot.load)) // _OBJECTS_PER_MI
    wanted = manifest(name, place, programs, secrets, seconds, memory, job_pods.pod_security(client))
    created = client.create(client.resource("batch/v1", "Job"), wanted)
    for secret, part in zip(secrets, parts):
        # The pod waits for them. They belong to the Job and are deleted with it.
        data = {"part": base64.b64encode(part).decode()}
        client.create(client.resource("v1", "Secret"), job_pods.owned_secret(created, secret, data))
    patience = max(_SILENT_SECONDS, given["timeout"] // 5)
    return _Waiting(client, name, place, seconds, patience, memory, progress).log()


class _Waiting:
    """For the end of the sandbox. patience: seconds without progress of the sandbox. memory: MiB that it can use."""

    def __init__(self, client: Client, name: str, place: Place, seconds: int, patience: int, memory: int, progress: Progress) -> None:
        self._client, self._name, self._place, self._progress = client, name, place, progress
        self._seconds, self._patience, self._memory = seconds, patience, memory
        self._last: str | None = None
        self._changed = time.monotonic()
        self._started = time.monotonic()

    def log(self) -> str:
        """The log of the sandbox when it has ended. Raises ClusterError."""
        image, namespace = self._place.image, self._place.namespace
        pod, ended, trouble = job_pods.wait_for_end(
            self._client, namespace, LABEL, self._name, CONTAINER, self._seconds, self._look, _LOOK_SECONDS
        )
        if pod is None or ended is None:
            raise self._late(trouble)
        if ended.get("reason") == "OOMKilled":
            raise ClusterError(
                f"job: the preview needs more than {self._memory} MiB of memory, the limit of the container {CONTAINER} for a snapshot of this size. "
                "Run it on a host: set candidate.binary, and remove job."
            )
        log = self._client.text(self._path(pod), {"container": CONTAINER, "limitBytes": _LARGEST_LOG})
        if ended.get("exitCode"):
            last = (log.strip().splitlines() or ["it wrote nothing"])[-1][:1000]
            raise ClusterError(f"job.image: the container of {image} ended with status {ended['exitCode']}: {last}. {_SAME_VERSION}")
        return log

    def _path(self, pod: dict[str, Any]) -> str:
        return self._client.resource("v1", "Pod").path(self._place.namespace, pod["metadata"]["name"]) + "/log"

    def _look(self, pod: dict[str, Any] | None, trouble: str) -> None:
        now, name = time.monotonic(), self._name
        statuses = (pod or {}).get("status", {}).get("containerStatuses") or []
        if pod and any(one["name"] == CONTAINER and "running" in (one.get("state") or {}) for one in statuses):
            line = ""
            with suppress(ApiError):  # it has ended
                line = self._client.text(
                    self._path(pod), {"container": CONTAINER, "tailLines": 1, "limitBytes": 1000, "timestamps": "true"}
                )
            if line != self._last:
                self._last, self._changed = line, now
            if now - self._changed > self._patience:
                raise self._silent(pod)
            _time, _space, text = line.strip().partition(" ")
            self._progress(text[len(in_pod.PROGRESS) :] if text.startswith(in_pod.PROGRESS) else f"the Job {name} runs")
            return
        self._changed = now
        if now - self._started > _START_SECONDS:
            raise self._late(trouble)
        self._progress(f"the Job {name} starts" + (f": {trouble}" if trouble else ""))

    def _silent(self, pod: dict[str, Any]) -> ClusterError:
        node, found = pod["spec"].get("nodeName") or "", None
        with suppress(ApiError):  # without this permission, the reason is not known
            found = self._client.get(self._client.resource("v1", "Node"), node)
        if found and conditions.find(found, "Ready").get("status") != "True":
            return ClusterError(
                f"job: the node {node}, on which the Job {self._place.namespace}/{self._name} runs, is not ready: there was no progress for "
                f"{self._patience} s. Check this node, and run the task again: new pods are placed on other nodes."
            )
        return ClusterError(
            f"job.image: the container of {self._place.image} on the node {node} has shown no progress for {self._patience} s. {_SAME_VERSION} "
            "If the node is slow, raise timeout: a fifth of it is the limit, if that is more."
        )

    def _late(self, trouble: str) -> ClusterError:
        seconds = int(time.monotonic() - self._started)
        reason = trouble or "it has not ended; raise timeout"
        return ClusterError(f"job: the Job {self._place.namespace}/{self._name} gave no result within {seconds} s: {reason}.")


def _result(log: str, image: str, work: Work = PREVIEW) -> dict[str, Any]:
    """The result in a log of the image. Raises ClusterError."""
    try:
        answer = in_pod.read(log)
    except ClusterError as error:
        raise ClusterError(f"job.image: the container of {image} wrote no complete result: {error.message}. {_SAME_VERSION}") from None
    if isinstance(answer.get("error"), str):
        raise ClusterError(answer["error"])
    found: Any = answer.get("result")
    wrong = _difference(found, work.shape, "result") or (_difference_of_optional(found) if work is PREVIEW else "")
    if wrong:
        raise ClusterError(f"job.image: the container of {image} wrote a result of another version: {wrong}. {_SAME_VERSION}")
    more = {"headroom": found["headroom"]} if work is PREVIEW else {}
    return {"changed": False, **more, **{key: found[key] for key in work.shape}}


def _difference_of_optional(found: dict[str, Any]) -> str:
    """As `_difference`, for what can be null in the result of a preview, and is null here if it is missing."""
    optional: list[tuple[dict[str, Any], str, dict[str, Any], str]] = [(found, "headroom", _HEADROOM, "result")]
    optional += [(found["summary"][when], "load", _LOAD, f"result.summary.{when}") for when in ("before", "after")]
    pairs = ((one.setdefault(key, None), shape, f"{path}.{key}") for one, key, shape, path in optional)
    return next(filter(None, (_difference(*pair) for pair in pairs if pair[0] is not None)), "")


def _difference(found: Any, shape: Any, path: str) -> str:
    """Where a structure is not as it should be; empty if it is. shape: a type, a mapping of shapes by key, or a list with the shape of each item."""
    expected: Any = shape if isinstance(shape, type) else type(shape)
    if not isinstance(found, expected):
        return f"{path} is {'missing' if found is None else 'a ' + type(found).__name__}, not a {expected.__name__}"
    pairs: Iterable[tuple[Any, Any, str]] = ()
    if isinstance(shape, dict):
        pairs = ((found.get(key), one, f"{path}.{key}") for key, one in shape.items())
    elif isinstance(shape, list):
        pairs = ((item, shape[0], f"{path}[{number}]") for number, item in enumerate(found))
    return next(filter(None, (_difference(*pair) for pair in pairs)), "")
