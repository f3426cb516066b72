# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pod of a short Job that runs a scheduler's image: its restrictions, and how it ends."""

from __future__ import annotations

import posixpath
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import conditions
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import ApiError, Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.pod_failures import STARTING

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
# With limits, because a ResourceQuota on limits rejects pods without them
PROGRAM_RESOURCES = {"requests": {"cpu": "15m", "memory": "50Mi"}, "limits": {"cpu": "500m", "memory": "200Mi"}}
_NO_POD_SECONDS, _NO_POD_LOOK = 60, 2
# Rejections in a namespace that was just created; the last one is OpenShift's.
_NEW_NAMESPACE = ("error looking up service account", "status unknown for quota", "unable to find annotation")
CONTAINER_SECURITY = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


def pod_security(client: Client) -> dict[str, Any]:
    """The security context of the pod: that of Pod Security `restricted`."""
    from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_discovery import SchedulerDiscovery

    security: dict[str, Any] = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    # OpenShift chooses one itself
    return security if SchedulerDiscovery(client, []).openshift() else {**security, "runAsUser": USER}


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
    label: str,
    name: str,
    container: str,
    seconds: float,
    between: Callable[[dict[str, Any] | None, str], None] | None = None,
    every: float = float("inf"),
) -> tuple[dict[str, Any] | None, dict[str, Any] | None, str]:
    """The pod of a Job, the end of its container, and what keeps it from starting: the last two as `state` has them.

    label: of the pod, whose value is the name of the Job. between: is called with the pod and its trouble ``every`` so many seconds, and more often
    without a pod. Raises ClusterError where no waiting helps.
    """
    started = time.monotonic()
    deadline = started + seconds
    pods = client.resource("v1", "Pod")
    found, trouble = None, ""
    while time.monotonic() < deadline:
        interval = min(every if found else _NO_POD_LOOK, deadline - time.monotonic())
        changes = client.watch(pods, namespace, label_selector=f"{label}={name}", timeout=interval)
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
        if not found:
            before, trouble = trouble, events(client, namespace, name)
            # A rejection can also end by itself, so it counts if it lasts.
            if (is_final(before) and is_final(trouble)) or time.monotonic() - started > _NO_POD_SECONDS:
                raise ClusterError(without_pod(namespace, name, trouble))
        if between:
            between(found, trouble)
    return found, None, trouble


def is_final(trouble: str) -> bool:
    """Whether admission rejects the pod, which waiting does not change."""
    rejected = trouble.startswith("Error creating: ") and (" is forbidden: " in trouble or "denied the request" in trouble)
    return rejected and not any(words in trouble for words in _NEW_NAMESPACE)


def without_pod(namespace: str, name: str, trouble: str) -> str:
    """The message about a Job without a pod, with the remedy. trouble: as `events` has it."""
    remedy = "Use a namespace whose ResourceQuota, LimitRange and policies allow this pod, or change them." if is_final(trouble) else ""
    return f"The Job {namespace}/{name} has no pod: {trouble or 'it has no events'}. {remedy}".rstrip()


def events(client: Client, namespace: str, name: str) -> str:
    """Why a Job has no pod: the messages of its events, each once."""
    try:
        found = client.list(client.resource("v1", "Event"), namespace, field_selector=f"involvedObject.name={name},type=Warning")
    except ApiError as error:
        show = f"kubectl -n {namespace} get events --field-selector involvedObject.name={name}"
        return f"its events, which have the reason, cannot be read ({error.message}); with the permission to list events: {show}"
    # Each attempt is about a pod with another name.
    messages = (re.sub(rf"{re.escape(name)}-[a-z0-9]{{5}}\b", name, str(event.get("message") or "")).strip().rstrip(".") for event in found)
    return "; ".join(dict.fromkeys(filter(None, messages)))


def unusable_namespace(client: Client, namespace: str, option: str, failure: ClusterError) -> str:
    """The message about a namespace that does not exist or is being deleted, if that explains a failure; otherwise empty."""
    message = failure.message
    missing, ends = f'namespaces "{namespace}" not found' in message, "because it is being terminated" in message
    try:
        found = client.get(client.resource("v1", "Namespace"), namespace)
    except ApiError:
        pass  # without this permission, the API server's message decides
    else:
        missing, ends = found is None, bool(found and found["metadata"].get("deletionTimestamp"))
    if missing:
        return f"{option}: the namespace {namespace} does not exist. Create it, or set another namespace."
    if ends:
        return f"{option}: the namespace {namespace} is being deleted. Set another namespace, or wait until it is deleted and create it."
    return ""


def state(pod: dict[str, Any], container: str) -> tuple[dict[str, Any] | None, str]:
    """The end of a container if it has ended, and what keeps the pod from starting. Raises ClusterError where no waiting helps."""
    status, own = pod.get("status") or {}, {one["name"]: one for one in pod["spec"]["containers"]}
    for one in status.get("containerStatuses") or []:
        image, current = one.get("image", ""), one.get("state") or {}
        program = ""
        if one["name"] in own:
            image, (program, *_more) = own[one["name"]]["image"], own[one["name"]].get("command") or [""]
        is_program = posixpath.basename(program) == "kube-scheduler"
        ended, waiting = current.get("terminated"), current.get("waiting") or {}
        if ended and ended.get("reason") in ("StartError", "ContainerCannotRun"):
            trouble = f"has no usable {program}" if is_program else "cannot be started"
            raise ClusterError(f"The image {image} {trouble}: {ended.get('message', '').strip()}")
        if ended and one["name"] == container:
            return ended, ""
        # What runs beside the container, and is killed when it is no longer necessary
        if ended and is_program and ended.get("exitCode") != KILLED:
            raise ClusterError(f"The image {image} has no usable {program}: it ended with status {ended.get('exitCode')}.")
        reason, message = waiting.get("reason", ""), waiting.get("message", "")
        if reason in HOPELESS:
            raise ClusterError(f"The image {image} {HOPELESS[reason]}: {reason}: {message or 'no further details'}")
        if reason not in ("", *STARTING):
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
        return (
            f"The Job {name} may be left over ({error.message}); delete it: kubectl -n {namespace} delete {those} {name}. "
            "Otherwise Kubernetes deletes it, its pod and its Secrets a minute after its end."
        )
    return ""
