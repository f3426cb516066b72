# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Have a kube-scheduler dump its cache, read it and compare it with the API server: the work of the module scheduler_cache_dump."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import klog
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import redacted
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import dump_parser as dumps
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import send_sigusr2
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.cache_comparison import View, compare, view
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.logs import ContainerLog, FileLog, Log
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import Target, named, serving

AUTO = "auto"
_POLL_SECONDS = 0.3


@dataclass(frozen=True)
class Options:
    """What to dump; the names and meanings are those of the module's options."""

    scheduler_name: str | None
    namespaces: list[str]
    pod: Mapping[str, Any] | None
    method: str
    debug_image: str
    process: str
    pid: int | None
    log_path: str | None
    timeout: int
    compare: bool

    def __post_init__(self) -> None:
        if self.timeout < 1:
            raise InputError(f"timeout is {self.timeout}: give at least 1 second.")
        if (self.log_path or self.pid) and self.method != send_sigusr2.HOST:
            given = "log_path" if self.log_path else "pid"
            raise InputError(f"{given} is about a process of the host that the task runs on: give method: host with it, or leave it out.")
        if self.log_path and self.pod:
            raise InputError("log_path and pod exclude each other: the log of a pod is read through the API server.")
        if not self.scheduler_name and not self.pod:
            raise InputError("scheduler_name: give the schedulerName of the scheduler, or its pod as pod.")
        if not self.process:
            raise InputError("process is empty: give the name of the scheduler's program, such as kube-scheduler.")


def plan(client: Client, options: Options, target: Target | None = None) -> dict[str, Any]:
    """What would be done, in the module's form. Reads only. target: where it is known already, it is not looked for."""
    target = target or _target(client, options)
    if target is None:
        what = f"send SIGUSR2 to the process {options.pid or options.process} of this host and read {options.log_path}"
    elif options.method == send_sigusr2.HOST:
        what = f"send SIGUSR2 to the process of the pod {target} on this host, which must be {target.node}, and read the pod's log"
    else:
        beside = f"add an ephemeral container of {options.debug_image} to the pod {target}, which stays listed there"
        within = f"run a shell in the container {target.container} of the pod {target}"
        what = {
            send_sigusr2.EXEC: within,
            send_sigusr2.EPHEMERAL: beside,
            AUTO: within if target.static else f"{within}, or if its image has none {beside}",
        }[options.method]
        what += ", to send SIGUSR2 to the scheduler"
    return {
        # Whether a shell is there shows only when one is started.
        "changed": target is not None and not target.static and options.method in (AUTO, send_sigusr2.EPHEMERAL),
        "target": target.as_dict() if target else None,
        "method": None,
        "leftover": "",
        "dump": None,
        "comparison": None,
        "msg": f"Would {what}.",
    }


def run(client: Client, options: Options, target: Target | None = None) -> dict[str, Any]:
    """The module's result. Raises ClusterError where there is no dump, with the reason and the remedy, and what is left in the cluster.

    target: where it is known already, it is not looked for.
    """
    target = target or _target(client, options)
    log: Log = ContainerLog(client, target) if target else FileLog(options.log_path or "")
    look = _looker(client) if options.compare else None
    before = look() if look else None
    sent = _send(client, options, target)
    comparison = None
    try:
        found = _wait(client, options, target, log)
        if look and before:
            names = target.scheduler_names if target else tuple(filter(None, [options.scheduler_name]))
            comparison = compare(found, before, look(), names)
    except ClusterError as error:
        error.message = " ".join(filter(None, [error.message, sent.leftover]))
        raise
    return {
        "changed": bool(sent.leftover),
        "target": target.as_dict() if target else None,
        "method": sent.method,
        "leftover": sent.leftover,
        "dump": found.as_dict(),
        "comparison": comparison,
        "msg": _sentence(options, target, found, comparison),
    }


def _target(client: Client, options: Options) -> Target | None:
    """None for a process that is in no pod."""
    if options.pod:
        return named(client, options.pod, (options.scheduler_name,) if options.scheduler_name else None)
    if options.log_path:
        return None
    return serving(client, options.scheduler_name or "", options.namespaces)


def _looker(client: Client) -> Callable[[], View]:
    nodes, pods = client.resource("v1", "Node"), client.resource("v1", "Pod")

    def look() -> View:
        return view(client.list(nodes), client.list(pods))

    return look


def _send(client: Client, options: Options, target: Target | None) -> send_sigusr2.Sent:
    if options.method == send_sigusr2.HOST or target is None:
        return send_sigusr2.on_host(options.process, target.container_id if target else "", options.pid)
    if options.method in (AUTO, send_sigusr2.EXEC):
        try:
            return send_sigusr2.from_inside(client, target, options.process)
        except send_sigusr2.NoShell as error:
            if options.method == send_sigusr2.EXEC:
                raise ClusterError(f"{error.message}. Use method: ephemeral_container, or host on the node {target.node}.") from None
            if target.static:
                raise ClusterError(
                    f"{error.message}, and to a static pod no container can be added. Run the task on the node {target.node} (delegate_to) "
                    "with method: host."
                ) from None
    return send_sigusr2.from_beside(client, target, options.process, options.debug_image, options.timeout)


def _wait(client: Client, options: Options, target: Target | None, log: Log) -> dumps.Dump:
    deadline = time.monotonic() + options.timeout
    while True:
        text = log.since()
        try:
            found = dumps.find(klog.entries(text))
        except dumps.DumpError as error:
            raise ClusterError(
                f"The scheduler's dump can't be read, {error}. This module reads the dumps of Kubernetes {' to '.join(dumps.RELEASES)}."
            ) from None
        if found:
            return found
        if time.monotonic() > deadline:
            raise ClusterError(_why_none(client, target, text, options.timeout))
        time.sleep(_POLL_SECONDS)


def _why_none(client: Client, target: Target | None, text: str, timeout: int) -> str:
    if target:
        live = client.get(client.resource("v1", "Pod"), target.name, target.namespace)
        statuses = ((live or {}).get("status") or {}).get("containerStatuses") or []
        now = next((status.get("containerID") or "" for status in statuses if status["name"] == target.container), "")
        if now.rpartition("//")[2] != target.container_id:
            return f"The container {target.container} of the pod {target} was restarted meanwhile, so there is no dump; repeat the task."
    last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    said = f"its log since then ends with: {redacted(last)}" if last else "its log shows nothing new"
    return (
        f"The scheduler has dumped nothing that could be read within {timeout} s (timeout) of the signal; {said}. Does it log to the container's "
        "output, or to log_path, as klog or JSON text?"
    )


def _sentence(options: Options, target: Target | None, found: dumps.Dump, comparison: dict[str, Any] | None) -> str:
    who = str(target) if target else f"the process of {options.log_path}"
    scheduled, queued = sum(len(node.pods) for node in found.nodes), len(found.queue)
    text = f"{who} knows {len(found.nodes)} nodes with {scheduled} pods, and has {queued} pods in its queue"
    if comparison is None:
        return f"{text}."
    count = len(comparison["differences"])
    if not count:
        return f"{text}, as the API server has it."
    return f"{text}; {count} difference{'s' if count > 1 else ''} from the API server: {comparison['differences'][0]['message']}" + (
        "." if count == 1 else ", and others."
    )
