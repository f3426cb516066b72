# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pod of a short Job that runs a scheduler's image: its restrictions, and how it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils.cluster import conditions
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import ApiError, Client
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ClusterError

PROGRAM = "/bin/kube-scheduler"
# What the kubelet says when it will not run a container, however long one waits.
HOPELESS = {
    "ImagePullBackOff": "cannot be pulled",
    "InvalidImageName": "cannot be pulled",
    "ErrImageNeverPull": "cannot be pulled",
    "CreateContainerError": "cannot be started",
    "CreateContainerConfigError": "cannot be started",
    "RunContainerError": "cannot be started",
}
USER = 65532
KILLED = 137
CONTAINER_SECURITY = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


def pod_security(client: Client) -> dict[str, Any]:
    """The security context of the pod: that of Pod Security `restricted`."""
    from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.survey import Survey

    security: dict[str, Any] = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    # OpenShift chooses one itself
    return security if Survey(client, []).openshift() else {**security, "runAsUser": USER}


def job(name: str, namespace: str, labels: dict[str, str], seconds: int, spec: dict[str, Any]) -> dict[str, Any]:
    """A Job that runs one pod once. seconds: its deadline, should this process be killed before it can clean up. spec: of the pod."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": seconds,
            "ttlSecondsAfterFinished": 60,
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def owned_secret(job: dict[str, Any], name: str, data: dict[str, str]) -> dict[str, Any]:
    """A Secret that is deleted with the Job that exists. data: encoded."""
    metadata = job["metadata"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": metadata["name"], "uid": metadata["uid"]}
    about = {"name": name, "namespace": metadata["namespace"], "labels": metadata["labels"], "ownerReferences": [owner]}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": about, "immutable": True, "type": "Opaque", "data": data}


def wait_for_end(
    client: Client,
    namespace: str,
    selector: str,
    container: str,
    seconds: float,
    between: Callable[[dict[str, Any] | None, str], None] | None = None,
    every: float = float("inf"),
) -> tuple[dict[str, Any] | None, dict[str, Any] | None, str]:
    """The pod, the end of its container, and what keeps it from starting: the last two as `state` has them.

    between: is called with the pod and its trouble ``every`` so many seconds. Raises ClusterError where no waiting helps.
    """
    deadline = time.monotonic() + seconds
    pods = client.resource("v1", "Pod")
    found, trouble = None, ""
    while time.monotonic() < deadline:
        changes = client.watch(pods, namespace, label_selector=selector, timeout=min(every, deadline - time.monotonic()))
        try:
            for kind, pod in changes:
                if kind == "DELETED":
                    raise ClusterError(f"The pod {pod['metadata']['name']} was deleted before it could answer.")
                ended, trouble = state(pod, container)
                found = pod
                if ended:
                    return pod, ended, ""
                if time.monotonic() >= deadline:
                    break
        except ApiError as error:
            if error.status != 410:
                raise
        finally:
            changes.close()
        if between:
            between(found, trouble)
    return found, None, trouble


def events(client: Client, namespace: str, name: str) -> str:
    """Why a Job has no pod, as its events say."""
    try:
        found = client.list(client.resource("v1", "Event"), namespace, field_selector=f"involvedObject.name={name},type=Warning")
    except ApiError:
        return ""
    return "; ".join(dict.fromkeys(event.get("message", "") for event in found))


def state(pod: dict[str, Any], container: str) -> tuple[dict[str, Any] | None, str]:
    """The end of a container if it has ended, and what keeps the pod from starting. Raises ClusterError where no waiting helps."""
    status, own = pod.get("status") or {}, {one["name"]: one for one in pod["spec"]["containers"]}
    for one in status.get("containerStatuses") or []:
        image, current = one.get("image", ""), one.get("state") or {}
        is_program = False
        if one["name"] in own:
            image, is_program = own[one["name"]]["image"], own[one["name"]].get("command") == [PROGRAM]
        ended, waiting = current.get("terminated"), current.get("waiting") or {}
        if ended and ended.get("reason") in ("StartError", "ContainerCannotRun"):
            trouble = f"has no usable {PROGRAM}" if is_program else "cannot be started"
            raise ClusterError(f"The image {image} {trouble}: {ended.get('message', '').strip()}")
        if ended and one["name"] == container:
            return ended, ""
        # What runs beside the container, and is killed when it is no longer necessary
        if ended and is_program and ended.get("exitCode") != KILLED:
            raise ClusterError(f"The image {image} has no usable {PROGRAM}: it ended with status {ended.get('exitCode')}.")
        reason, message = waiting.get("reason", ""), waiting.get("message", "")
        if reason in HOPELESS:
            raise ClusterError(f"The image {image} {HOPELESS[reason]}: {reason}: {message or 'no further details'}")
        if reason not in ("", "ContainerCreating", "PodInitializing"):
            return None, f"{reason}: {message}"
    scheduled = conditions.find(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        return None, f"its pod is not placed: {scheduled.get('message', '')}"
    if status.get("phase") == "Failed":
        image = own[container]["image"]
        raise ClusterError(f"The pod for the image {image} failed: {status.get('reason', '')} {status.get('message', '')}".rstrip())
    return None, ""


def remove(client: Client, kinds: Sequence[str], name: str, namespace: str, failure: Exception | None) -> str:
    """Delete the Job, and other objects with its name. Returns a sentence for the user if that did not succeed."""
    if isinstance(failure, ApiError) and failure.method == "POST" and failure.path.endswith("/jobs") and 400 <= failure.status < 500:
        return ""  # never created
    try:
        for kind in kinds:
            client.delete(client.resource("batch/v1" if kind == "Job" else "v1", kind), name, namespace)
    except ApiError as error:
        those = ",".join(kinds).lower()
        return f"The Job {name} may be left over ({error.message}); delete it: kubectl -n {namespace} delete {those} {name}"
    return ""
