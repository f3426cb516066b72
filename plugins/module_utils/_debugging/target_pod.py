# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which pod and container to look into, for a schedulerName or for a pod that is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.placements import MIRROR_ANNOTATION
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_discovery import SchedulerDiscovery
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.workload import Command, find_command, is_ready

INSTANCE_SPEC: dict[str, Any] = dict(
    scheduler_name=dict(type="str"),
    namespaces=dict(type="list", elements="str", default=[]),
    pod=dict(
        type="dict",
        options=dict(
            namespace=dict(type="str", required=True),
            name=dict(type="str", required=True),
            container=dict(type="str"),
        ),
    ),
)
"""The options of the doc fragment ``osso.scheduler.instance``."""

SECURE_PORT = 10259
"""Where kube-scheduler serves unless ``--secure-port`` says otherwise."""


@dataclass(frozen=True)
class Target:
    """One instance of a scheduler. pod: as the API server returned it. scheduler_names: None where they are not known."""

    pod: Mapping[str, Any]
    container: str
    flags: Mapping[str, str]
    scheduler_names: tuple[str, ...] | None

    @property
    def namespace(self) -> str:
        namespace: str = self.pod["metadata"]["namespace"]
        return namespace

    @property
    def name(self) -> str:
        name: str = self.pod["metadata"]["name"]
        if "/" in name or name in (".", ".."):  # files are called like it
            raise ClusterError(f"The API server returned a pod with the name {name!r}, which is not a name of an object.")
        return name

    @property
    def node(self) -> str:
        return self.pod["spec"].get("nodeName") or ""

    @property
    def static(self) -> bool:
        """Whether the kubelet runs it from a file, so that the API server can't change it."""
        return MIRROR_ANNOTATION in (self.pod["metadata"].get("annotations") or {})

    @property
    def container_id(self) -> str:
        """The container's id without the runtime's name; empty where it does not run."""
        statuses = (self.pod.get("status") or {}).get("containerStatuses") or []
        found = next((status.get("containerID") or "" for status in statuses if status["name"] == self.container), "")
        return found.rpartition("//")[2]

    @property
    def secure_port(self) -> int:
        """Raises ClusterError if its flag does not contain the port."""
        written = self.flags.get("secure-port") or str(SECURE_PORT)
        if not written.isdecimal():
            raise ClusterError(f"The flag --secure-port of the scheduler in {self} is {written}, which contains no port: set it as port.")
        return int(written)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    def as_dict(self) -> dict[str, Any]:
        return {"namespace": self.namespace, "pod": self.name, "container": self.container, "node": self.node, "static": self.static}


def named(client: Client, pod: Mapping[str, Any], scheduler_names: tuple[str, ...] | None) -> Target:
    """The target for a pod by ``namespace`` and ``name``, with ``container`` where there is doubt. Raises InputError."""
    where = f"{pod['namespace']}/{pod['name']}"
    live = client.get(client.resource("v1", "Pod"), pod["name"], pod["namespace"])
    if live is None:
        raise InputError(f"pod: there is no pod {where}. kubectl -n {pod['namespace']} get pods shows those that there are.")
    names = [container["name"] for container in live["spec"]["containers"]]
    command = find_command(live["spec"])
    container = pod.get("container") or (command.container if command else names[0] if len(names) == 1 else None)
    if container is None or container not in names:
        asked = (
            f"pod.container: {container} is"
            if container
            else "pod: it is not clear which container runs the scheduler, none starts kube-scheduler; it is"
        )
        raise InputError(f"{asked} none of the containers of {where}: {', '.join(names)}. Give one of them as pod.container.")
    target = Target(live, container, command.flags if command else {}, scheduler_names)
    if not target.container_id:
        raise ClusterError(
            f"The container {container} of the pod {where} does not run: kubectl -n {pod['namespace']} describe pod {pod['name']}"
        )
    return target


def serving(client: Client, scheduler_name: str, namespaces: list[str]) -> Target:
    """The leading instance of the scheduler that serves a name; one that is ready where none leads. Raises ClusterError with the remedy."""
    discovery = SchedulerDiscovery(client, namespaces)
    schedulers = discovery.schedulers()
    found = [entry for entry in schedulers if scheduler_name in entry["scheduler_names"]]
    if not found:
        known = ", ".join(sorted({name for entry in schedulers for name in entry["scheduler_names"]})) or "none"
        raise InputError(
            f"scheduler_name: no scheduler of the name {scheduler_name} was found; found are {known}. It is looked for as scheduler_info "
            f"does: give the namespace of its Deployment in namespaces, or its pod in pod.{_unseen(discovery)}"
        )
    entry = max(found, key=_serves)
    started = [(pod, command) for pod in discovery.pods(entry) for command in [_command(pod)] if command is not None]
    if not started:
        raise ClusterError(
            f"The scheduler of the name {scheduler_name} ({entry['kind']} {entry['namespace']}/{entry['name']}) has no pod that can be seen: "
            f"{entry['message']}. If it is a process of a host, scheduler_cache_dump can be run on that host, with method: host and log_path."
            f"{_unseen(discovery)}"
        )
    holder = (entry["leader"] or {}).get("holder", "")
    pod, command = max(started, key=lambda one: (leads(one[0], holder), is_ready(one[0]), one[0]["metadata"]["name"]))
    target = Target(pod, command.container, command.flags, tuple(entry["scheduler_names"]))
    if not target.container_id:
        raise ClusterError(f"The scheduler of the name {scheduler_name} does not run: {entry['message']}.")
    return target


def _unseen(discovery: SchedulerDiscovery) -> str:
    return f" Could not be read: {'; '.join(discovery.unknown)}." if discovery.unknown else ""


def _serves(entry: Mapping[str, Any]) -> bool:
    return bool(entry["serving"])


def _command(pod: Mapping[str, Any]) -> Command | None:
    return find_command(pod["spec"])


def leads(pod: Mapping[str, Any], holder: str) -> bool:
    """Whether the pod's name, or on the host's network the node's, is that of the holder of a Lease: NAME_UUID."""
    name = pod["spec"].get("nodeName") if pod["spec"].get("hostNetwork") else pod["metadata"]["name"]
    return bool(holder) and holder.rpartition("_")[0] == name
