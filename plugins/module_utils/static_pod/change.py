# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Changing the default scheduler of a control plane's host, and back if it does not come up: the work of the module static_pod_scheduler."""

from __future__ import annotations

import glob
import os
import tempfile
import time
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils.static_pod import manifest as manifests
from ansible_collections.osso.scheduler.plugins.module_utils.static_pod import process

FILE_MODE = 0o600


def change(params: dict[str, Any], check_mode: bool = False) -> dict[str, Any]:
    """The result of the module for its parameters. Raises ClusterError after a way back."""
    path = os.path.realpath(params["manifest"])
    folder, manifests_folder = os.path.realpath(params["config_folder"]), os.path.dirname(path)
    if folder == manifests_folder or folder.startswith(manifests_folder + os.sep):
        raise InputError(
            f"config_folder is {params['config_folder']}, inside of {manifests_folder}, where kubelet takes every file for a pod: use another one."
        )
    before = manifests.read(_content(path), path)
    present = params["state"] == "present"
    text = _text(params, before, folder) if present else None
    config_path = os.path.join(folder, manifests.config_name(text)) if text else None
    flags = {str(name): str(value) for name, value in (params["flags"] or {}).items()} if present else {}
    after = manifests.edited(before, config_path, flags)
    old_config = before.flag("config")
    old_text = _content(old_config) if old_config and os.path.exists(old_config) else ""
    changed = after.text != before.text or (text is not None and (not os.path.exists(config_path) or _content(config_path) != text))
    result = {
        "changed": changed,
        "config_path": config_path or "",
        "diff": [
            {"before_header": path, "after_header": path, "before": before.text, "after": after.text},
            {"before_header": old_config or "", "after_header": config_path or "", "before": old_text, "after": text or ""},
        ],
    }
    if not changed or check_mode:
        return result
    process.same_file_system(os.path.dirname(manifests_folder), manifests_folder)
    if text is not None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        _write(config_path, text, folder)
    address = (params["health_host"] or after.address[0], after.address[1])
    began = time.monotonic()
    _replace(path, after.text)
    wrong = process.await_one(after.argv, [before.argv] if before.argv != after.argv else [], address, params["wait_timeout"])
    if wrong:
        words = process.last_words()
        _replace(path, before.text)
        back = process.await_one(
            before.argv, [after.argv], (params["health_host"] or before.address[0], before.address[1]), params["wait_timeout"]
        )
        how = f"It is not back yet either: {back}" if back else "The manifest of before is in its place again, and the scheduler is well"
        _tidy(folder, before.flag("config"))
        raise ClusterError(
            f"kube-scheduler did not come up within {params['wait_timeout']} s: {wrong}. {how}."
            + (f" Its last words: {words}" if words else ""),
            rolled_back=not back,
        )
    _tidy(folder, config_path)
    return {**result, "seconds_until_ready": round(time.monotonic() - began, 1)}


def _text(params, before, folder) -> str | None:
    """The configuration to be written, None where none is wanted."""
    if params["content"] is None:
        return None
    return manifests.with_kubeconfig(params["content"], before.flag("kubeconfig"))


def _content(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}. Run the task on a host of the control plane, as root.") from None


def _write(path: str, text: str, folder: str, mode: int = FILE_MODE, owner: tuple[int, int] | None = None) -> None:
    """Put a file in its place in one step; until then it is in ``folder``."""
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".osso-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
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


def _tidy(folder: str, keep: str | None) -> None:
    """Remove the configurations that nobody uses any more."""
    for path in glob.glob(os.path.join(folder, "kube-scheduler-*.yaml")):
        if path != keep:
            os.unlink(path)
