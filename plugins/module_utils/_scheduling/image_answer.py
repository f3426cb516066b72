# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ask a scheduler's image itself what it says to a configuration.

A short Job runs the image's kube-scheduler as the scheduler's pod would, with ``--write-config-to``: it then reads, validates
and builds everything, and ends before it schedules anything (cmd/kube-scheduler/app/options/configfile.go, LogOrWriteConfig).
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import uuid
from dataclasses import dataclass
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import klog, timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import ApiError, Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import scrub
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.images import PROGRAM
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import job_pods
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.config_validation import Answer
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.interrupts import ended_by_signals, uninterrupted

LABEL = "osso.scheduler/image-answer"
# Seconds between two checks for an answer that no event reports
_FIRST_LOOK, _LAST_LOOK = 2, 10
# How refusals begin or what they hold up to Kubernetes 1.22, where they are printed bare.
_BARE_REFUSALS = (
    "decod",
    "no kind",
    "Object 'Kind'",
    "couldn't create scheduler",
    "initializing profiles",
    "nvalid value",
    "equired value",
)


@dataclass(frozen=True)
class Question:
    """text: the configuration; flags: the scheduler's command line without ``--config``; timeout: seconds, the pull included.

    command: the program, and arguments before the flags. pull_secrets: names of Secrets in the namespace; without any, those of the service account.

    secrets: values in the text that no message may hold. With any, the completed configuration is not asked for, since it
    would stand in a log.
    """

    image: str
    text: str | bytes
    flags: tuple[str, ...] = ()
    namespace: str = "default"
    service_account: str = "default"
    timeout: int = 120
    secrets: tuple[str, ...] = ()
    command: tuple[str, ...] = (PROGRAM,)
    pull_secrets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.timeout < 1:
            raise InputError(f"ask_timeout is {self.timeout}: give at least 1 second.")

    @property
    def digest(self) -> str:
        """Equal for equal questions."""
        text = self.text if isinstance(self.text, str) else self.text.decode("utf-8", "backslashreplace")
        asked = [self.image, text, self.flags, self.service_account, self.command, self.pull_secrets]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:10]


def ask_without_waiting(client: Client, question: Question, now: str) -> Answer | int:
    """Start the Job, or read the answer of the one that was started for the same question; then what was made is deleted.

    Returns the answer or, where it does not exist yet, the seconds after which to call this again. Raises ClusterError if the image gave none.
    ``now``: the present time as the API server writes it.
    """
    name = f"osso-ask-{question.digest}"
    kind = client.resource("v1", "Secret")
    failure = answer = None
    try:
        started = client.get(kind, name, question.namespace)
        if started is None:
            return _start(client, question, name)
        pod, ended, trouble = _state(client, question, name)
        if pod is not None and ended is not None:
            answer = _read(client, question, pod, ended)
        else:
            age = timestamps.seconds_between(started["metadata"]["creationTimestamp"], now)
            if pod is None and age > _FIRST_LOOK and job_pods.is_final(trouble):
                raise ClusterError(job_pods.without_pod(question.namespace, name, trouble))
            if age < question.timeout:
                return min(max(int(age), _FIRST_LOOK), _LAST_LOOK)
            raise _silent(question, trouble)
    except ClusterError as error:
        failure = error
    leftover = _end(client, question, name, failure)
    if leftover:  # It would be the answer to the next question, too.
        raise ClusterError(leftover)
    # Without an answer there is a failure
    if answer is None:
        raise AssertionError("answer")
    return answer


def _start(client: Client, question: Question, name: str) -> int:
    """Create what the question needs. Returns the seconds after which to look for the answer."""
    try:
        _create(client, question, name)
    except ApiError as error:
        if error.status != 409:
            raise
        # A Job without its Secret, which its pod waits for: its maker ended in between.
        client.delete(client.resource("batch/v1", "Job"), name, question.namespace)
    return _FIRST_LOOK


def _end(client: Client, question: Question, name: str, failure: ClusterError | None, option: str = "") -> str:
    """Delete what was made. Returns a sentence for the user if that did not succeed. Raises ClusterError, without the secrets of the question, for a failure.

    option: with which the user sets the namespace.
    """
    leftover = job_pods.remove(client, ("Job", "Secret"), name, question.namespace, failure)
    if not failure:
        return scrub(leftover, question.secrets)
    about = job_pods.unusable_namespace(client, question.namespace, option, failure) if option else ""
    raise ClusterError(scrub(" ".join(filter(None, [about or failure.message, leftover])), question.secrets))


def ask(client: Client, question: Question) -> Answer:
    """Run the Job, read the answer, and delete what was made, whatever happens. Raises ClusterError if the image gave none."""
    name = f"osso-ask-{uuid.uuid4().hex[:10]}"
    failure: ClusterError | None = None
    answer: Answer | None = None
    leftover = ""
    with uninterrupted():
        try:
            with ended_by_signals("The question to the image"):
                answer = _run(client, question, name)
        except ClusterError as error:
            failure = error
        finally:
            leftover = _end(client, question, name, failure, "ask_namespace")
    # Without an answer there is a failure
    if answer is None:
        raise AssertionError("answer")
    return answer._replace(warning=leftover)


def job(question: Question, name: str, security: dict[str, Any]) -> dict[str, Any]:
    """The Job. Its pod is like the scheduler's: same program, flags, mounts and restrictions."""
    flags = [
        "--config=/etc/kubernetes/config.yaml",
        *question.flags,
        # After the others, for the last one counts: no ports, no configuration in the log.
        "--secure-port=0",
        "-v=0",
        "--write-config-to={}".format("/tmp/completed.yaml" if question.secrets else "/dev/stdout"),
    ]
    labels = {"app.kubernetes.io/managed-by": "osso.scheduler", LABEL: name}
    spec = {
        "restartPolicy": "Never",
        "serviceAccountName": question.service_account,
        "imagePullSecrets": [{"name": secret} for secret in question.pull_secrets],
        "terminationGracePeriodSeconds": 0,
        "enableServiceLinks": False,
        "securityContext": security,
        "containers": [
            {
                "name": "kube-scheduler",
                "image": question.image,
                "command": [*question.command],
                "args": flags,
                "resources": job_pods.PROGRAM_RESOURCES,
                "securityContext": job_pods.CONTAINER_SECURITY,
                "volumeMounts": [
                    {"name": "config", "mountPath": "/etc/kubernetes", "readOnly": True},
                    {"name": "tmp", "mountPath": "/tmp"},
                ],
            }
        ],
        "volumes": [{"name": "config", "secret": {"secretName": name}}, {"name": "tmp", "emptyDir": {"medium": "Memory"}}],
    }
    return job_pods.job(name, question.namespace, labels, question.timeout + 30, spec)


def interpret(image: str, exit_code: int, log: str) -> Answer:
    """What the program answered by its exit status and its output. Raises ClusterError if that is no verdict."""
    if exit_code == 0 and "Wrote configuration" in log:
        written = "\n".join(klog.foreign_lines(log))
        return Answer(True, config=written[written.find("apiVersion:") :] + "\n" if "apiVersion:" in written else None)
    words = _refusal(log)
    if exit_code and words:
        return Answer(False, words)
    last = next((line for line in reversed(log.strip().splitlines()) if line.strip()), "it wrote nothing")
    raise ClusterError(
        f"The image {image} gave no verdict: its kube-scheduler ended with status {exit_code}: {last.strip()}. Is it a "
        "kube-scheduler that knows these flags?"
    )


def _refusal(log: str) -> str:
    """The words by which kube-scheduler refused the configuration; empty if there are none."""
    failed = [error for error in map(klog.command_error, klog.entries(log + "\n")) if error is not None]
    if failed:
        return failed[-1]
    panic = re.search(r"^panic: .*$", log, re.MULTILINE)
    if panic:
        return panic.group()
    fatal = re.search(r"^F\d{4} [^\]]*\] (.*)$", log, re.MULTILINE)
    if fatal:
        return fatal.group(1)
    bare = "\n".join(line for line in klog.foreign_lines(log) if line.strip())
    return bare if any(word in bare for word in _BARE_REFUSALS) else ""


def _run(client: Client, question: Question, name: str) -> Answer:
    _create(client, question, name)
    pod, ended, trouble = job_pods.wait_for_end(client, question.namespace, LABEL, name, "kube-scheduler", question.timeout)
    if pod is None or ended is None:
        raise _silent(question, trouble)
    return _read(client, question, pod, ended)


def _create(client: Client, question: Question, name: str) -> None:
    """Create the Job, and the Secret with the configuration."""
    manifest = job(question, name, job_pods.pod_security(client))
    data = question.text.encode() if isinstance(question.text, str) else question.text
    created = client.create(client.resource("batch/v1", "Job"), manifest)
    # The pod waits for its Secret, which belongs to the Job and goes with it.
    client.create(client.resource("v1", "Secret"), job_pods.owned_secret(created, name, {"config.yaml": base64.b64encode(data).decode()}))


def _read(client: Client, question: Question, pod: dict[str, Any], ended: dict[str, Any]) -> Answer:
    """The answer of a container that has ended."""
    path = client.resource("v1", "Pod").path(question.namespace, pod["metadata"]["name"])
    log = client.text(f"{path}/log", {"container": "kube-scheduler"})
    answer = interpret(question.image, ended["exitCode"], log)
    return Answer(answer.valid, scrub(answer.error, question.secrets), answer.config)


def _state(client: Client, question: Question, name: str) -> tuple[dict[str, Any] | None, dict[str, Any] | None, str]:
    """The pod, its container's end if it has one, and what keeps it from starting. Raises ClusterError where no waiting helps."""
    pods = client.list(client.resource("v1", "Pod"), question.namespace, label_selector=f"{LABEL}={name}")
    for pod in pods:
        return (pod, *job_pods.state(pod, "kube-scheduler"))
    return None, None, job_pods.events(client, question.namespace, name)


def _silent(question: Question, trouble: str) -> ClusterError:
    reason = trouble or "it has not ended"
    return ClusterError(f"The image {question.image} gave no answer within {question.timeout} s (ask_timeout): {reason}.")
