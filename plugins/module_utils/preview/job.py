# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A preview as a Job in the cluster, for hosts that cannot run the program of an image.

The pod has a container for each image of a scheduler, whose kube-scheduler waits, and one for the sandbox, which copies these programs (`in_pod`). It
has no token: the user's snapshot is in Secrets that belong to the Job, and the result is in the log. Without this process, too, the Job ends at
its deadline, and is then deleted with everything that belongs to it.
"""

from __future__ import annotations

import base64
import uuid
from contextlib import suppress
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import ApiError, Client
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ClusterError, InputError, message_of
from ansible_collections.osso.scheduler.plugins.module_utils.preview import in_pod
from ansible_collections.osso.scheduler.plugins.module_utils.preview.preview import Options, check, text_of
from ansible_collections.osso.scheduler.plugins.module_utils.preview.run import Progress
from ansible_collections.osso.scheduler.plugins.module_utils.preview.snapshot import Snapshot
from ansible_collections.osso.scheduler.plugins.module_utils.scheduling import job_pods
from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.signals import ended_by_signals, uninterrupted
from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.survey import Survey

LABEL = "osso.scheduler/preview"
CONTAINER = "preview"
# Until the pod runs, the pulls of its images included
_START_SECONDS = 300
# Runs of a scheduler in one preview: of the baseline, of the candidate, and for the scores
_RUNS = 3
# The API server accepts 1 MiB in a Secret.
_PART = 900_000
_LARGEST_LOG = 100_000_000
_LOOK_SECONDS = 5
# Without a token and without an API server, kube-scheduler waits for its Lease.
_WAITING = ("--master=http://127.0.0.1:9", "--leader-elect=true", "--secure-port=0", "--authentication-skip-lookup=true")


class Place(NamedTuple):
    """Where the Job is created. image: contains the collection; empty for that of the operator of the cluster."""

    namespace: str
    image: str = ""


def preview(client: Client, options: Options, snapshot: Snapshot, place: Place, progress: Progress) -> dict[str, Any]:
    """The result of `preview.preview`. What was created is deleted in every case. Raises ClusterError."""
    check(options, snapshot)
    images, given = _for_the_pod(options)
    place = place._replace(image=place.image or _of_the_operator(client))
    name = f"osso-preview-{uuid.uuid4().hex[:10]}"
    failure: ClusterError | None = None
    result: dict[str, Any] = {}
    with uninterrupted():  # nothing interrupts the cleaning up
        try:
            with ended_by_signals("The preview"):
                result = _run(client, name, place, images, in_pod.question(given, snapshot.write()), options.timeout, progress)
        except ClusterError as error:
            failure = error
        finally:
            leftover = job_pods.remove(client, ("Job",), name, place.namespace, failure)
    if failure or leftover:
        raise ClusterError(" ".join(filter(None, [message_of(failure) if failure else "", leftover])))
    return result


def _for_the_pod(options: Options) -> tuple[dict[str, str], dict[str, Any]]:
    """The images whose programs are necessary, by side, and the options without what only this host has. Raises InputError."""
    sides: dict[str, Any] = {}
    images: dict[str, str] = {}
    for name in ("candidate", "baseline"):
        given = getattr(options, name)
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
            raise InputError("candidate: set image, whose kube-scheduler the Job uses.")
        if image and image not in images.values():
            images[name] = image
            side["binary"] = "kube-scheduler"
        sides[name] = {**side, "config_text": text}
    return images, {**options._asdict(), **sides}


def _of_the_operator(client: Client) -> str:
    for found in Survey(client, []).operators():
        if found["variant"] == "osso":
            return str(found["image"])
    raise InputError(
        "job.image: there is no operator of the collection in the cluster, whose image the Job would use. Set job.image, in playbooks "
        "preview_job_image, to an image with the collection, such as the operator's."
    )


def manifest(name: str, place: Place, images: dict[str, str], secrets: list[str], seconds: int, security: dict[str, Any]) -> dict[str, Any]:
    """The Job. images: of the schedulers, by side. secrets: the names of those with the question, in their order."""
    labels = {"app.kubernetes.io/managed-by": "osso.scheduler", LABEL: name}
    schedulers = [
        {
            "name": side,
            "image": image,
            "command": [job_pods.PROGRAM],
            "args": [*_WAITING],
            "env": [{"name": in_pod.SIDE, "value": side}],
            "resources": {"requests": {"cpu": "15m", "memory": "50Mi"}},
            "securityContext": job_pods.CONTAINER_SECURITY,
        }
        for side, image in images.items()
    ]
    sandbox = {
        "name": CONTAINER,
        "image": place.image,
        "command": ["python3", "-m", in_pod.__name__],
        "env": [{"name": "PYTHONPATH", "value": "/opt/ansible/python:/usr/share/ansible/collections"}, {"name": "HOME", "value": "/tmp"}],
        "resources": {"requests": {"cpu": "100m", "memory": "300Mi"}},
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
    client: Client, name: str, place: Place, images: dict[str, str], question: bytes, timeout: int, progress: Progress
) -> dict[str, Any]:
    parts = [question[start : start + _PART] for start in range(0, len(question), _PART)]
    secrets = [f"{name}-{number}" for number in range(len(parts))]
    seconds = _START_SECONDS + in_pod.PROGRAM_SECONDS * len(images) + _RUNS * timeout
    wanted = manifest(name, place, images, secrets, seconds, job_pods.pod_security(client))
    created = client.create(client.resource("batch/v1", "Job"), wanted)
    for secret, part in zip(secrets, parts):
        # The pod waits for them. They belong to the Job and are deleted with it.
        data = {"part": base64.b64encode(part).decode()}
        client.create(client.resource("v1", "Secret"), job_pods.owned_secret(created, secret, data))
    return _result(_log(client, name, place, seconds, progress))


def _log(client: Client, name: str, place: Place, seconds: int, progress: Progress) -> str:
    """The log of the sandbox when it has ended."""

    def path(pod: dict[str, Any]) -> str:
        return client.resource("v1", "Pod").path(place.namespace, pod["metadata"]["name"]) + "/log"

    def look(pod: dict[str, Any] | None, trouble: str) -> None:
        statuses = (pod or {}).get("status", {}).get("containerStatuses") or []
        if pod and any(one["name"] == CONTAINER and "running" in (one.get("state") or {}) for one in statuses):
            line = ""
            with suppress(ApiError):  # it has ended
                line = client.text(path(pod), {"container": CONTAINER, "tailLines": 1, "limitBytes": 1000}).strip()
            progress(line[len(in_pod.PROGRESS) :] if line.startswith(in_pod.PROGRESS) else f"the Job {name} runs")
            return
        waited.append(1)
        if len(waited) * _LOOK_SECONDS > _START_SECONDS:
            raise late(trouble)
        progress(f"the Job {name} starts" + (f": {trouble}" if trouble else ""))

    def late(trouble: str) -> ClusterError:
        reason = trouble or job_pods.events(client, place.namespace, name) or "it has not ended"
        return ClusterError(f"job: the Job {place.namespace}/{name} gave no result: {reason}.")

    waited: list[int] = []
    selector = f"{LABEL}={name}"
    pod, ended, trouble = job_pods.wait_for_end(client, place.namespace, selector, CONTAINER, seconds, look, _LOOK_SECONDS)
    if pod is None or ended is None:
        raise late(trouble)
    log = client.text(path(pod), {"container": CONTAINER, "limitBytes": _LARGEST_LOG})
    if ended.get("exitCode"):
        last = (log.strip().splitlines() or ["it wrote nothing"])[-1][:1000]
        raise ClusterError(
            f"job.image: the container of {place.image} ended with status {ended['exitCode']}: {last}. Does it contain the collection?"
        )
    return log


def _result(log: str) -> dict[str, Any]:
    answer = in_pod.read(log)
    result = answer.get("result")
    if isinstance(result, dict):
        return result
    raise ClusterError(str(answer.get("error") or "job: the log contains no result"))
