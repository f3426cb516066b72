# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The manifest of kube-scheduler's static pod, edited as what it is: a pod."""

from __future__ import annotations

import contextlib
import copy
import json
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import document, strconv
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import from_structure
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.flags import FLAGS, IGNORED_BESIDE_CONFIG

CONTAINER = "kube-scheduler"
VOLUME = "osso-scheduler-config"
BEFORE = "osso.scheduler/flags-before"
"""On the pod: by flag what it was before it was set here, null if it was not there, and what it was set to."""
_OF_TEXT: dict[str, Callable[[str], Any]] = {
    "bool": lambda text: strconv.parse_bool(text or "true"),
    "float": strconv.parse_float,
    "int32": lambda text: strconv.parse_int(text, bits=32),
    "string": str,
}
"""By type of a flag: the value of its text. Raises ValueError for what kube-scheduler does not take."""
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
        """The value of ``--name=value`` or ``--name value``; of several the last one counts."""
        return next((found for words, found in reversed(_flags(self.argv)) if words[0].partition("=")[0] == f"--{name}"), None)

    @property
    def configurations(self) -> set[str]:
        """The files of the configurations that it names: the one in use, and the one to go back to."""
        return {path for path in (self.flag("config"), _flags_before(self.pod).get("config")) if path}

    @property
    def owner(self) -> tuple[int, int] | None:
        """User and group as which the container runs, of whom its files have to be; None for root. A group of -1 is any."""
        contexts = [holder.get("securityContext") or {} for holder in (_container(self.pod), self.pod["spec"])]
        user, group = (
            next((one[name] for one in contexts if isinstance(one.get(name), int)), None) for name in ("runAsUser", "runAsGroup")
        )
        return (user, -1 if group is None else group) if user else None

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
        undo = _noted(pod)
    except (ValueError, RecursionError):
        undo = None
    if not isinstance(undo, dict) or not all(_is_noted(value) for value in undo.values()):
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
    before: dict[str, list[str | None]] = {}
    wanted = {**flags, **({"config": config_path} if config_path else {})}
    for name, value in wanted.items():
        before[name] = [_set_flag(container, name, value), value]
    folder = config_path.rpartition("/")[0] if config_path else ""
    if config_path and not _is_mounted(pod, folder):
        container.setdefault("volumeMounts", []).append({"name": VOLUME, "mountPath": folder, "readOnly": True})
        pod["spec"].setdefault("volumes", []).append({"name": VOLUME, "hostPath": {"path": folder, "type": "Directory"}})
    if before:
        pod["metadata"].setdefault("annotations", {})[BEFORE] = json.dumps(before, sort_keys=True)
    if pod == manifest.pod:
        return manifest
    return Manifest(from_structure(pod), pod)


def with_ignored_flags(text: str, manifest: Manifest) -> str:
    """The configuration with the values of flags that kube-scheduler ignores if it has a configuration file, as far as the configuration sets none.

    Flags that were set here do not count. In a manifest with a configuration file of its own, none has had an effect; but the kubeconfig is required.
    """
    try:
        config = document.read(text)
    except document.NotYaml as error:
        raise InputError(f"content is no YAML, see line {error.finding.line}: correct it.") from None
    if not isinstance(config, dict):
        raise InputError("content is no KubeSchedulerConfiguration: give a YAML mapping.")
    connection = config.get("clientConnection") or {}
    if not isinstance(connection, dict):
        raise InputError("content: clientConnection is no mapping: correct it.")
    pod = copy.deepcopy(manifest.pod)
    _undo(pod)
    manifest = Manifest("", pod)
    found: dict[str, Any] = {}
    connected: dict[str, Any] = {}
    for flag, path in IGNORED_BESIDE_CONFIG.items():
        holder, own = (connected, connection) if "." in path else (found, config)
        field = path.rpartition(".")[2]
        value = manifest.flag(flag) if flag == "kubeconfig" or not manifest.flag("config") else None
        if value is not None and own.get(field) in (None, ""):
            with contextlib.suppress(ValueError):  # kube-scheduler ends with such a flag
                holder[field] = _OF_TEXT[FLAGS[flag][0]](value)
    if not (connection.get("kubeconfig") or connected.get("kubeconfig")):
        raise InputError("content: clientConnection.kubeconfig is missing, and the manifest has no --kubeconfig: set it.")
    if not found and not connected:
        return text
    return from_structure({**config, **found, "clientConnection": {**connection, **connected}})


def check_flags(flags: Mapping[str, str]) -> None:
    """Raises InputError for flags that kube-scheduler ignores beside a configuration file."""
    given = {name.replace("_", "-") for name in flags}
    for flag, path in IGNORED_BESIDE_CONFIG.items():
        if flag in given:
            raise InputError(f"flags: kube-scheduler ignores {flag} beside a configuration: set {path} in the configuration.")


def _is_mounted(pod: dict[str, Any], folder: str) -> bool:
    """Whether the scheduler's container has this folder of the host already. Raises InputError if another volume is in its place."""
    volumes = {one.get("name"): one for one in pod["spec"].get("volumes") or []}
    for mount in _container(pod).get("volumeMounts") or []:
        if os.path.normpath(str(mount.get("mountPath"))) == folder:
            host = (volumes.get(mount.get("name"), {}).get("hostPath") or {}).get("path")
            if host and os.path.normpath(host) == folder and not mount.get("subPath"):
                return True
            raise InputError(f"config_folder is {folder}, where the manifest mounts the volume {mount.get('name')}: use another folder.")
    return False


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


def _noted(pod: dict[str, Any]) -> Any:
    return json.loads((pod["metadata"].get("annotations") or {}).get(BEFORE) or "{}")


def _is_noted(value: Any) -> bool:
    """Of a flag: what it was before, or that and what it was set to."""
    return all(one is None or isinstance(one, str) for one in (value if isinstance(value, list) and len(value) == 2 else [value]))


def _flags_before(pod: dict[str, Any]) -> dict[str, str | None]:
    """By flag what it was before it was set here."""
    return {name: value[0] if isinstance(value, list) else value for name, value in _noted(pod).items()}


def _undo(pod: dict[str, Any]) -> None:
    """Take out what was set here before. A flag that others have changed since stays."""
    annotations = pod["metadata"].get("annotations") or {}
    container, now, noted = _container(pod), Manifest("", pod), _noted(pod)
    for name, value in _flags_before(pod).items():
        if not isinstance(noted[name], list) or now.flag(name) == noted[name][1]:
            _set_flag(container, name, value)
    annotations.pop(BEFORE, None)
    if not annotations:
        pod["metadata"].pop("annotations", None)
    for holder, field in ((container, "volumeMounts"), (pod["spec"], "volumes")):
        if any(one["name"] == VOLUME for one in holder.get(field) or []):
            holder[field] = [one for one in holder[field] if one["name"] != VOLUME]
            if not holder[field]:
                del holder[field]


def _flags(argv: list[str]) -> list[tuple[list[str], str]]:
    """The command line in parts, each with the value of its flag: ``--name=value``, ``--name``, ``--name value``, or another word."""
    found: list[tuple[list[str], str]] = []
    for word in argv:
        last = found[-1][0] if found else []
        if len(last) == 1 and last[0].startswith("--") and "=" not in last[0] and not word.startswith("-"):
            found[-1] = ([*last, word], word)
        else:
            found.append(([word], word.partition("=")[2]))
    return found


def _set_flag(container: dict[str, Any], name: str, value: str | None) -> str | None:
    """Set it, or take it out (None), in its place; return what it was."""
    was = None
    for field in ("command", "args"):
        kept = []
        for words, found in _flags(container.get(field) or []):
            if words[0].partition("=")[0] != f"--{name}":
                kept += words
                continue
            was = found or ("" if "=" in words[0] else "true")
            if value is not None:
                kept.append(f"--{name}={value}")
        if field in container:
            container[field] = kept
    if was is None and value is not None:
        field = "args" if container.get("args") else "command"
        container.setdefault(field, []).append(f"--{name}={value}")
    return was
