# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Changing the default scheduler of a control plane's host, and back if it does not come up: the work of the module static_pod_scheduler."""

from __future__ import annotations

import glob
import os
import socket
import tempfile
import time
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.secret_texts import masked, scrub, secret_texts
from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.signals import ended_by_signals, uninterrupted
from ansible_collections.osso.scheduler.plugins.module_utils.static_pod import manifest as manifests
from ansible_collections.osso.scheduler.plugins.module_utils.static_pod import process

FILE_MODE = 0o600


def change(params: dict[str, Any], check_mode: bool = False) -> dict[str, Any]:
    """The result of the module for its parameters, in which a credential of ``content`` is masked. Raises ClusterError after a way back."""
    given = params["content"]
    # The invocation is part of the result.
    params["content"] = masked(given, "")[0] if given else given
    path = os.path.realpath(params["manifest"])
    folder, manifests_folder = os.path.realpath(params["config_folder"]), os.path.dirname(path)
    if folder == manifests_folder or folder.startswith(manifests_folder + os.sep):
        raise InputError(
            f"config_folder is {params['config_folder']}, inside of {manifests_folder}, where kubelet takes every file for a pod: use another one."
        )
    before = manifests.read(_content(path), path)
    present = params["state"] == "present"
    text = manifests.with_kubeconfig(given, before.flag("kubeconfig")) if present and given is not None else None
    config_path = os.path.join(folder, manifests.config_name(text)) if text else None
    flags = {str(name): str(value) for name, value in (params["flags"] or {}).items()} if present else {}
    after = manifests.edited(before, config_path, flags)
    old_config = before.flag("config")
    old_text = _content(old_config) if old_config and os.path.exists(old_config) else ""
    changed = after.text != before.text or (text is not None and (not os.path.exists(config_path) or _content(config_path) != text))
    shown, shown_after = masked(old_text, text or "")
    result = {
        "changed": changed,
        "config_path": config_path or "",
        "hostname": socket.gethostname(),
        "diff": [
            {"before_header": path, "after_header": path, "before": before.text, "after": after.text},
            {"before_header": old_config or "", "after_header": config_path or "", "before": shown, "after": shown_after},
        ],
    }
    if check_mode:
        return result
    host, timeout = params["health_host"], params["wait_timeout"]
    if not changed:
        # What is in its place may be what a run left that was killed.
        wrong = process.await_one(before.argv, [], (host or before.address[0], before.address[1]), timeout)
        if wrong:
            raise ClusterError(
                f"Nothing was to be changed in {path}, but its kube-scheduler is not well after {timeout} s: {wrong}."
                f"{_last_words(text)} Give another configuration, or take out what was set here with state=absent."
            )
        return result
    process.same_file_system(os.path.dirname(manifests_folder), manifests_folder)
    began = time.monotonic()
    with uninterrupted():  # nothing interrupts the way back
        try:
            with ended_by_signals("The change of kube-scheduler"):
                if text is not None:
                    os.makedirs(folder, mode=0o700, exist_ok=True)
                    _write(config_path, text, folder)
                # kubelet starts the pod anew whatever changes in it, also where the command line stays.
                running = process.processes(before.argv) if after.pod != before.pod else []
                others = [before.argv] if before.argv != after.argv else []
                _replace(path, after.text)
                wrong = process.await_one(after.argv, others, (host or after.address[0], after.address[1]), timeout, running, process.LOGS)
            failure = f"kube-scheduler did not come up within {time.monotonic() - began:.0f} s: {wrong}." if wrong else ""
        except ClusterError as error:
            failure = error.message
        if failure:
            words = _last_words(text, old_text)
            _replace(path, before.text)
            others = [after.argv] if before.argv != after.argv else []
            back = process.await_one(before.argv, others, (host or before.address[0], before.address[1]), timeout)
            how = (
                f"It is not back yet either: {back}" if back else "The manifest of before is in its place again, and the scheduler is well"
            )
            _tidy(folder, before)
            raise ClusterError(f"{failure} {how}.{words}", rolled_back=not back)
        _tidy(folder, after)
    return {**result, "seconds_until_ready": round(time.monotonic() - began, 1)}


def _content(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}. Run the task on a host of the control plane, as root.") from None


def _write(path: str, text: str, folder: str, mode: int = FILE_MODE, owner: tuple[int, int] | None = None) -> None:
    """Put a file in its place in one step; until then it is in ``folder``."""
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".osso-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        if owner:
            os.chown(temporary, *owner)
        os.rename(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _replace(path: str, text: str) -> None:
    """The manifest, from a file beside its folder: kubelet takes whatever is in that for a pod."""
    found = os.stat(path)
    _write(path, text, os.path.dirname(os.path.dirname(path)), found.st_mode & 0o7777, (found.st_uid, found.st_gid))


def _tidy(folder: str, manifest: manifests.Manifest) -> None:
    """Remove the configurations that were written here and that the manifest does not name."""
    kept = {os.path.realpath(path) for path in manifest.configurations}
    for path in glob.glob(os.path.join(folder, "kube-scheduler-*.yaml")):
        if os.path.realpath(path) not in kept and _written_here(path):
            os.unlink(path)


def _written_here(path: str) -> bool:
    """Whether the file is named by its content: others are somebody's own."""
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return os.path.basename(path) == manifests.config_name(file.read().decode("utf-8", "replace"))


def _last_words(*configurations: str | None) -> str:
    """A sentence with what the scheduler said last, without the credentials of these configurations; empty if it said nothing."""
    import yaml

    words = process.last_words()
    for text in configurations:
        try:
            words = scrub(words, secret_texts(yaml.safe_load(text or "")))
        except (yaml.YAMLError, ValueError):
            continue  # of that one the scheduler reads nothing either
    return f" Its last words: {words}" if words else ""
