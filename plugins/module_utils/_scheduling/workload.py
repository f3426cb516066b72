# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the pod template of a workload says about the kube-scheduler or operator in it. Pure: no requests."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import conditions
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.klog import exit_reason
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.pod_failures import STARTING
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import redacted
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.images import split
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.plain_data import as_mapping, as_text

BINARY = "kube-scheduler"
# What kube-scheduler uses if neither configuration nor flags name a lease.
DEFAULT_LEASE = ("kube-system", "kube-scheduler")


class ConfigMapKey(NamedTuple):
    """One key of a ConfigMap."""

    name: str
    key: str


class Election(NamedTuple):
    """Whether instances elect a leader, and the Lease by which they do."""

    elect: bool
    namespace: str
    name: str


@dataclass(frozen=True)
class Command:
    """How a container starts kube-scheduler.

    flags: name without hyphens -> value; a flag without value is ``true``.
    config_map: where the file of ``--config`` comes from, None if not from a ConfigMap. container: its name.
    """

    image: str
    flags: dict[str, str]
    config_map: ConfigMapKey | None
    container: str = ""

    @property
    def config_path(self) -> str | None:
        return self.flags.get("config")


def find_command(pod_spec: dict[str, Any]) -> Command | None:
    """The kube-scheduler among the containers of a pod, or None."""
    for container in pod_spec.get("containers") or []:
        given = words(container)
        start = next(
            (index for index, word in enumerate(given) if posixpath.basename(word) == BINARY and not _is_value(given, index)), None
        )
        if start is None:
            # Without a command the image's own entry point runs, and the arguments are its flags.
            if container.get("command") or posixpath.basename(split(container.get("image", ""))[0]) != BINARY:
                continue
            start = -1
        flags = _flags(given[start + 1 :])
        path = flags.get("config")
        config_map = config_map_of(path, container, pod_spec) if path else None
        return Command(container.get("image", ""), flags, config_map, container.get("name", ""))
    return None


def _is_value(given: list[str], index: int) -> bool:
    """Whether a word may be the value of the flag before it."""
    before = given[index - 1] if index else ""
    return before.startswith("--") and before != "--" and "=" not in before


def words(container: Mapping[str, Any]) -> list[str]:
    """The command line; the text of a shell's -c is split into its words."""
    found: list[str] = []
    for word in [*(container.get("command") or []), *(container.get("args") or [])]:
        if " " in word or "\n" in word:
            try:
                found += shlex.split(word, comments=True)
            except ValueError:
                found += word.split()
        else:
            found.append(word)
    return found


def _flags(words: list[str]) -> dict[str, str]:
    flags: dict[str, str] = {}
    for index, word in enumerate(words):
        if not word.startswith("-"):
            continue
        name, equals, value = word.lstrip("-").partition("=")
        following = words[index + 1] if index + 1 < len(words) else "-"
        # A boolean flag takes no separate value.
        if not equals:
            value = "true" if following.startswith("-") or name == "leader-elect" else following
        flags[name] = value
    return flags


def config_map_of(path: str, container: Mapping[str, Any], pod_spec: Mapping[str, Any]) -> ConfigMapKey | None:
    """The ConfigMap and key that the container sees as the file at `path`."""
    mounts = [mount for mount in container.get("volumeMounts") or [] if _is_below(path, mount["mountPath"])]
    if not mounts:
        return None
    mount = max(mounts, key=lambda mount: len(mount["mountPath"]))
    inside = posixpath.relpath(path, mount["mountPath"])
    inside = posixpath.normpath(posixpath.join(mount.get("subPath") or "", "" if inside == "." else inside))
    volume: Mapping[str, Any] = next((volume for volume in pod_spec.get("volumes") or [] if volume["name"] == mount["name"]), {})
    sources = [volume, *((volume.get("projected") or {}).get("sources") or [])]
    for source in filter(None, (source.get("configMap") for source in sources)):
        items = source.get("items")
        if not items:
            return ConfigMapKey(source["name"], inside)
        for item in items:
            if posixpath.normpath(item["path"]) == inside:
                return ConfigMapKey(source["name"], item["key"])
    return None


def _is_below(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def election(config: dict[str, Any] | None, flags: dict[str, str]) -> Election:
    """How leaders are elected: by the flags, else by the configuration, which can be any mapping, else as kube-scheduler does by default."""
    stanza = as_mapping((config or {}).get("leaderElection"))
    elect = flags.get("leader-elect")
    return Election(
        elect.lower() in ("true", "1", "t") if elect is not None else stanza.get("leaderElect") is not False,
        flags.get("leader-elect-resource-namespace") or as_text(stanza.get("resourceNamespace")) or DEFAULT_LEASE[0],
        flags.get("leader-elect-resource-name") or as_text(stanza.get("resourceName")) or DEFAULT_LEASE[1],
    )


def trouble(pod: dict[str, Any]) -> str:
    """Why a pod does not run, empty if nothing is known to be wrong."""
    status = pod.get("status") or {}
    for container in status.get("containerStatuses") or []:
        waiting = (container.get("state") or {}).get("waiting") or {}
        ended = (container.get("lastState") or {}).get("terminated") or {}
        if waiting.get("reason") not in (None, *STARTING):
            # What the container said last explains a CrashLoopBackOff better than the kubelet does.
            last = ended.get("message") or ""
            said = redacted(exit_reason(last) or last or waiting.get("message") or "")
            return f"{waiting['reason']}: {said}" if said else waiting["reason"]
    scheduled = conditions.find(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        return f"{scheduled.get('reason', 'not scheduled')}: {scheduled.get('message', '')}"
    return ""


def is_ready(pod: Mapping[str, Any]) -> bool:
    return conditions.is_true(pod, "Ready")


def watched_namespaces(template: dict[str, Any]) -> list[str]:
    """The namespaces that an operator made with operator-sdk watches; ``["*"]`` for all."""
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    for container in template["spec"]["containers"]:
        for variable in container.get("env") or []:
            if variable["name"] == "WATCH_NAMESPACE":
                # OLM hands them over by an annotation that the variable refers to.
                value = annotations.get("olm.targetNamespaces", "") if "valueFrom" in variable else variable.get("value", "")
                return [name.strip() for name in value.split(",") if name.strip()] or ["*"]
    return ["*"]
