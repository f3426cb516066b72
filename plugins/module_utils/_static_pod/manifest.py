# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The manifest of kube-scheduler's static pod, edited as what it is: a pod."""

from __future__ import annotations

import copy
import json
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import document
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import from_structure

CONTAINER = "kube-scheduler"
VOLUME = "osso-scheduler-config"
BEFORE = "osso.scheduler/flags-before"
"""On the pod: by flag what it was before it was set here, null if it was not there."""
PORT = 10259


class Manifest(NamedTuple):
    """``text``: as it is in the file; ``pod``: what that says."""

    text: str
    pod: dict[str, Any]

    @property
    def argv(self) -> list[str]:
        """The process's command line."""
        container = _container(self.pod)
        return [*(container.get("command") or []), *(container.get("args") or [])]

    def flag(self, name: str) -> str | None:
        """The value of ``--name=value``; of several the last one counts."""
        return next((one.partition("=")[2] for one in reversed(self.argv) if one.partition("=")[0] == f"--{name}"), None)

    @property
    def configurations(self) -> set[str]:
        """The files of the configurations that it names: the one in use, and the one to go back to."""
        return {path for path in (self.flag("config"), _flags_before(self.pod).get("config")) if path}

    @property
    def address(self) -> tuple[str, int]:
        """Where it serves its health, on its host."""
        host = self.flag("bind-address")
        return ("127.0.0.1" if host in (None, "", "0.0.0.0", "::") else host), int(self.flag("secure-port") or PORT)


def read(text: str, path: str) -> Manifest:
    """Raises InputError where it is no manifest of a kube-scheduler."""
    try:
        pod = document.read(text)
    except document.NotYaml as error:
        raise InputError(f"manifest: {path} is no YAML: {error.finding.format()}. Repair it first.") from None
    if not isinstance(pod, dict) or pod.get("kind") != "Pod" or not isinstance(pod.get("metadata"), dict) or _find_container(pod) is None:
        raise InputError(f"manifest: {path} holds no Pod with a container {CONTAINER}: give the manifest of the default scheduler.")
    try:
        undo = _flags_before(pod)
    except (ValueError, RecursionError):
        undo = None
    if not isinstance(undo, dict) or not all(value is None or isinstance(value, str) for value in undo.values()):
        message = f"manifest: the annotation {BEFORE} in {path} is not what was written there: set the flags by hand, and delete it."
        raise InputError(message)
    return Manifest(text, pod)


def edited(manifest: Manifest, config_path: str | None, flags: dict[str, str]) -> Manifest:
    """With this configuration file (None: without ours) and these flags; what was set here before and is not any more is as it was.

    The text stays as it is where nothing changes.
    """
    pod = copy.deepcopy(manifest.pod)
    _undo(pod)
    container = _container(pod)
    before: dict[str, str | None] = {}
    wanted = {**flags, **({"config": config_path} if config_path else {})}
    for name, value in wanted.items():
        before[name] = _set_flag(container, name, value)
    if config_path:
        folder = config_path.rpartition("/")[0]
        container.setdefault("volumeMounts", []).append({"name": VOLUME, "mountPath": folder, "readOnly": True})
        pod["spec"].setdefault("volumes", []).append({"name": VOLUME, "hostPath": {"path": folder, "type": "Directory"}})
    if before:
        pod["metadata"].setdefault("annotations", {})[BEFORE] = json.dumps(before, sort_keys=True)
    if pod == manifest.pod:
        return manifest
    return Manifest(from_structure(pod), pod)


def with_kubeconfig(text: str, kubeconfig: str | None) -> str:
    """The configuration, with the flag's kubeconfig if it sets none: kube-scheduler ignores that flag if it has a configuration file."""
    try:
        config = document.read(text)
    except document.NotYaml as error:
        raise InputError(f"content is no YAML, see line {error.finding.line}: correct it.") from None
    if not isinstance(config, dict):
        raise InputError("content is no KubeSchedulerConfiguration: give a YAML mapping.")
    connection = config.get("clientConnection") or {}
    if not isinstance(connection, dict):
        raise InputError("content: clientConnection is no mapping: correct it.")
    if kubeconfig and not connection.get("kubeconfig"):
        return from_structure({**config, "clientConnection": {**connection, "kubeconfig": kubeconfig}})
    if not connection.get("kubeconfig"):
        raise InputError("content: clientConnection.kubeconfig is missing, and the manifest has no --kubeconfig: set it.")
    return text


def _container(pod: dict[str, Any]) -> dict[str, Any]:
    """The scheduler's container of a pod that `read` has accepted."""
    found = _find_container(pod)
    if found is None:
        raise AssertionError("found")
    return found


def _find_container(pod: dict[str, Any]) -> dict[str, Any] | None:
    spec = pod.get("spec")
    containers = spec.get("containers") if isinstance(spec, dict) else None
    named = containers if isinstance(containers, list) else []
    return next((one for one in named if isinstance(one, dict) and one.get("name") == CONTAINER), None)


def _flags_before(pod: dict[str, Any]) -> dict[str, str | None]:
    """By flag what it was before it was set here."""
    before: dict[str, str | None] = json.loads((pod["metadata"].get("annotations") or {}).get(BEFORE) or "{}")
    return before


def _undo(pod: dict[str, Any]) -> None:
    """Take out what was set here before."""
    annotations = pod["metadata"].get("annotations") or {}
    container = _container(pod)
    for name, value in _flags_before(pod).items():
        _set_flag(container, name, value)
    annotations.pop(BEFORE, None)
    if not annotations:
        pod["metadata"].pop("annotations", None)
    for holder, field in ((container, "volumeMounts"), (pod["spec"], "volumes")):
        if any(one["name"] == VOLUME for one in holder.get(field) or []):
            holder[field] = [one for one in holder[field] if one["name"] != VOLUME]
            if not holder[field]:
                del holder[field]


def _set_flag(container: dict[str, Any], name: str, value: str | None) -> str | None:
    """Set it, or take it out (None), in its place; return what it was."""
    was = None
    for field in ("command", "args"):
        kept = []
        for one in container.get(field) or []:
            if one.partition("=")[0] != f"--{name}":
                kept.append(one)
                continue
            was = one.partition("=")[2] if "=" in one else "true"
            if value is not None:
                kept.append(f"--{name}={value}")
        if field in container:
            container[field] = kept
    if was is None and value is not None:
        field = "args" if container.get("args") else "command"
        container.setdefault(field, []).append(f"--{name}={value}")
    return was
