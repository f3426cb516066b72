# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Details of one scheduler for scheduler_info: the plugins that run, its instances, its metrics. Reads only."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import klog
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import redacted, scrub, secret_texts
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import exposition, https
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import Target, leads
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.images import identify
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.plugins import make_target
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import KIND
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring import tokens
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.foreign_schedulers import KUBE_SCHEDULER
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pool_items import is_system
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_discovery import SchedulerDiscovery
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.workload import Command, find_command, is_ready

METRICS_ACCOUNT_SPEC: dict[str, Any] = dict(
    metrics_account=dict(
        type="dict",
        options=dict(
            namespace=dict(type="str", required=True),
            name=dict(type="str", required=True),
        ),
    ),
)
"""The option of the doc fragment ``osso.scheduler.metrics_account``."""

# Lines from the end of a log in which the last error is looked for
_LOG_LINES = 1000
_METRICS_SECONDS = 15
_METRICS_BYTES = 16 << 20
_TOKEN_SECONDS = 600


class Inside:
    """Looks into the entries of ``discovery.schedulers()``.

    metrics_account: the ServiceAccount (``namespace``, ``name``) with whose token metrics are read; None to use the client certificate of
    the user, where there is one.
    """

    def __init__(self, client: Client, discovery: SchedulerDiscovery, metrics_account: Mapping[str, str] | None = None) -> None:
        self._client = client
        self._discovery = discovery
        self._account = metrics_account
        self._token: str | None = None
        self._pods: dict[int, list[dict[str, Any]]] = {}

    def profiles(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """``profiles`` and ``profiles_message`` of an entry."""
        running = self._discovery.running(entry)
        if running.command is None:
            return {"profiles": None, "profiles_message": _why_not(entry)}
        return in_effect(running.command, self._discovery.configuration(entry))

    def instances(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """``instances`` of an entry: null where no pods can be seen."""
        running = self._discovery.running(entry)
        if running.command is None:
            return {"instances": None}
        secrets = credentials(self._discovery.configuration(entry))
        return {"instances": [self._instance(entry, pod, secrets) for pod in self.pods(entry)] or None}

    def metrics(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """``metrics`` and ``metrics_message`` of an entry."""
        target, text, why = self.metrics_text(entry)
        if target is None or why:
            return {"metrics": None, "metrics_message": why}
        read = exposition.of_scheduler(exposition.samples(text))
        started = read.pop("started_at")
        seconds = max(0, int(self._discovery.now.timestamp()) - started) if started else None
        return {"metrics": {"pod": target.name, "counted_seconds": seconds, **read}, "metrics_message": ""}

    def metrics_text(self, entry: Mapping[str, Any]) -> tuple[Target | None, str, str]:
        """The instance that was asked, the page that it serves, and in words why there is none."""
        target = self.target(entry)
        if target is None:
            return None, "", f"{_why_not(entry)}, so its metrics can't be reached"
        try:
            port = target.secure_port
        except ClusterError as error:
            return target, "", error.message
        if not port:
            return target, "", "it exposes no metrics: its flag --secure-port is 0"
        return (target, *self.page_of(target, port))

    def page_of(self, target: Target, port: int) -> tuple[str, str]:
        """The page of metrics at a port of a pod, and in words why there is none."""
        # Whoever may create a Deployment can have it called kube-scheduler, with the labels of an operand.
        if self._account and not is_system(target.namespace) and target.namespace not in self._discovery.named:
            return "", (
                f"its metrics were not requested, because anyone who may create a Deployment in {target.namespace} would receive the token of "
                f"metrics_account: set namespaces to all namespaces with schedulers, {target.namespace} among them, if that is right"
            )
        try:
            answer = https.get(self._client, target, port, "/metrics", self._peer(), _METRICS_SECONDS, _METRICS_BYTES)
        except ClusterError as error:
            return "", error.message
        if answer.status in (401, 403):
            return "", self._refused(target, answer.status)
        if answer.status != 200:
            return "", f"{target} answered the request for its metrics with HTTP {answer.status}"
        return answer.body.decode("utf-8", "replace"), ""

    def target(self, entry: Mapping[str, Any]) -> Target | None:
        """The leading instance of an entry, else one that is ready, else any that runs; None if there is none."""
        holder = (entry["leader"] or {}).get("holder", "")
        pods = sorted(self.pods(entry), key=lambda pod: (leads(pod, holder), is_ready(pod), pod["metadata"]["name"]), reverse=True)
        for pod in pods:
            command = find_command(pod["spec"])
            target = command and Target(pod, command.container, command.flags, tuple(entry["scheduler_names"]) or None)
            if target and target.container_id:
                return target
        return None

    def pods(self, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The pods of an entry that start kube-scheduler."""
        if id(entry) not in self._pods:
            self._pods[id(entry)] = [pod for pod in self._discovery.pods(entry) if find_command(pod["spec"]) is not None]
        return self._pods[id(entry)]

    def _instance(self, entry: Mapping[str, Any], pod: Mapping[str, Any], secrets: set[str]) -> dict[str, Any]:
        command = find_command(pod["spec"])
        container = command.container if command else ""
        statuses = (pod.get("status") or {}).get("containerStatuses") or []
        status: Mapping[str, Any] = next((one for one in statuses if one["name"] == container), {})
        ended = (status.get("state") or {}).get("terminated") or (status.get("lastState") or {}).get("terminated")
        began = ((status.get("state") or {}).get("running") or {}).get("startedAt")
        return {
            "pod": pod["metadata"]["name"],
            "node": pod["spec"].get("nodeName") or "",
            "container": container,
            "image_id": status.get("imageID") or "",
            "ready": is_ready(pod),
            "leads": leads(pod, (entry["leader"] or {}).get("holder", "")),
            "running_seconds": self._discovery.age(began) if began else None,
            "restarts": status.get("restartCount") or 0,
            "last_end": ended
            and {"reason": ended.get("reason") or "", "exit_code": ended.get("exitCode"), "at": ended.get("finishedAt") or ""},
            "last_error": self._last_error(pod, container, secrets, again=bool(status.get("restartCount"))),
        }

    def _last_error(self, pod: Mapping[str, Any], container: str, secrets: set[str], again: bool) -> dict[str, Any] | None:
        """again: whether the container was started before, so that there may be a log of that run."""
        for previous in (False, True) if again else (False,):
            text = self._discovery.log(pod, container, _LOG_LINES, previous)
            found = klog.last_error(text or "")
            if found:
                return {"time": found[0], "line": redacted(scrub(found[1], secrets)), "previous": previous}
        return None

    def _peer(self) -> https.Peer:
        """With the token of the account that was given, else with the user's client certificate, which gives nothing away."""
        context = https.unverified()
        if self._account:
            if self._token is None:
                wanted = {**self._account, "audiences": [], "expiration_seconds": _TOKEN_SECONDS}
                token, finding = tokens.request(self._client, wanted)
                if token is None:
                    raise ClusterError(f"metrics_account: {finding.message if finding else 'no token'}")
                self._token = token.value
            return https.Peer(context, token=self._token)
        configuration = self._client.api_client.configuration
        if configuration.cert_file and configuration.key_file:
            try:
                context.load_cert_chain(configuration.cert_file, configuration.key_file)
            except (OSError, ssl.SSLError):
                return https.Peer(https.unverified())
        return https.Peer(context)

    def _refused(self, target: Target, status: int) -> str:
        if self._account:
            who = "the ServiceAccount {namespace}/{name}".format(**self._account)
            return f"{target} does not let {who} read its metrics (HTTP {status}): it needs a ClusterRole for GET /metrics"
        return (
            f"{target} does not let the user read its metrics (HTTP {status}): give a ServiceAccount as metrics_account that may GET /metrics. "
            "No other token is ever sent to a scheduler."
        )


def _why_not(entry: Mapping[str, Any]) -> str:
    """Why nothing can be seen inside of an entry."""
    return "no visible pod runs it" if entry["software"] == KUBE_SCHEDULER else f"it is {entry['software']} and not kube-scheduler"


def in_effect(command: Command, text: str | None) -> dict[str, Any]:
    """``profiles`` and ``profiles_message`` for this configuration: plugins are null if the contents of the image are unknown."""
    image = identify(command.image)
    if text is None and command.config_path:
        return {"profiles": None, "profiles_message": "its configuration can't be read through the API"}
    if text is None and image.kubernetes:
        version = make_target(image.kubernetes).served[-1]
        text = f"apiVersion: kubescheduler.config.k8s.io/{version}\nkind: {KIND}\n"
    if text is None:
        return {"profiles": None, "profiles_message": f"it has no configuration, and {image.reason}"}
    flags = [f"--{name}={value}" for name, value in command.flags.items()]
    result = check(text, image.kubernetes, image.plugins, flags) if image.kubernetes and image.plugins else check(text, None)
    if not result.valid:
        said = scrub(f"its configuration is not valid: {result.errors[0].format()}", credentials(text))
        return {"profiles": None, "profiles_message": said}
    return {"profiles": [_profile(name, result.effective.get(name)) for name in result.scheduler_names], "profiles_message": image.reason}


def _profile(name: str, effective: Mapping[str, Any] | None) -> dict[str, Any]:
    if effective is None:
        return {"scheduler_name": name, "plugins": None, "weights": None}
    return {
        "scheduler_name": name,
        "plugins": {point: [plugin for plugin, _weight in found] for point, found in effective.items() if found},
        "weights": {plugin: weight for plugin, weight in effective.get("score", ()) if weight},
    }


def credentials(text: str | None) -> set[str]:
    """The credentials in a configuration, which a scheduler logs and an error can name. It need not be valid, but YAML."""
    return secret_texts(check(text, None).config) if text else set()


# What gather may ask for beyond the schedulers themselves, and what finds it.
FACTS: dict[str, Callable[[Inside, Mapping[str, Any]], dict[str, Any]]] = {
    "profiles": Inside.profiles,
    "instances": Inside.instances,
    "metrics": Inside.metrics,
}
