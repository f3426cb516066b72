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
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.secret_texts import masked, scrub, secret_texts
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.document import tree
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
    found = _content(config_path) if config_path and os.path.exists(config_path) else None
    changed = after.text != before.text or found != text
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
    if changed:
        process.same_file_system(os.path.dirname(manifests_folder), manifests_folder)
    if check_mode:
        return result
    step = _Step(path, folder, before, after, config_path, text, found, params["health_host"], params["wait_timeout"])
    if not changed:
        # What is in its place may be what a run left that was killed.
        wrong = process.await_one(before.argv, [], step.address(before), step.timeout)
        if wrong:
            raise ClusterError(
                f"Nothing was to be changed in {path}, but its kube-scheduler is not well after {step.timeout} s: {wrong}."
                f"{_last_words(text)} Give another configuration, or take out what was set here with state=absent."
            )
        return result
    began = time.monotonic()
    with uninterrupted():  # nothing interrupts the way back
        running = process.processes(before.argv)
        try:
            with ended_by_signals("The change of kube-scheduler"):
                wrong = _go(step, running)
            failure = f"kube-scheduler did not come up within {time.monotonic() - began:.0f} s: {wrong}." if wrong else ""
        except InputError as error:
            # The manifest is as it was, and no process was ended.
            _put_back(step, running, error.message)
            _tidy(folder, before)
            raise
        except ClusterError as error:
            failure = error.message
        if failure:
            _go_back(step, running, failure, _last_words(text, old_text))
        warnings = _tidy(folder, after)
    return {**result, "seconds_until_ready": round(time.monotonic() - began, 1), **({"warnings": warnings} if warnings else {})}


class _Step(NamedTuple):
    """From one manifest to another. ``found`` is what was in the place of the configuration ``text``: None where nothing was."""

    path: str
    folder: str
    before: manifests.Manifest
    after: manifests.Manifest
    config_path: str | None
    text: str | None
    found: str | None
    host: str | None
    timeout: int

    @property
    def same_manifest(self) -> bool:
        """Somebody edited the file of the configuration in its place, or took it away."""
        return self.after.text == self.before.text

    @property
    def what(self) -> str:
        return "configuration" if self.same_manifest else "manifest"

    def address(self, manifest: manifests.Manifest) -> tuple[str, int]:
        return self.host or manifest.address[0], manifest.address[1]

    def await_one(self, manifest: manifests.Manifest, *more: Any) -> str:
        others = [one.argv for one in (self.before, self.after) if one.argv != manifest.argv]
        return process.await_one(manifest.argv, others, self.address(manifest), self.timeout, *more)


def _go(step: _Step, running: list[int]) -> str:
    """Bring configuration and manifest; what is wrong with the new process. Raises InputError while the manifest is as it was."""
    if step.text is not None:
        try:
            os.makedirs(step.folder, mode=0o700, exist_ok=True)
        except OSError as error:
            raise _unwritten(step.folder, error) from None
        _write(step.config_path, step.text, step.folder)
    if step.same_manifest:
        process.end(running)  # kubelet looks at the manifest alone
    else:
        # kubelet starts the pod anew whatever changes in it, also where the command line stays.
        _replace(step.path, step.after.text)
    return step.await_one(step.after, running, process.LOGS)


def _go_back(step: _Step, running: list[int], failure: str, words: str) -> None:
    """Put back what was there before, wait for its process, and raise ClusterError with all of that."""
    if step.same_manifest and (step.found is None or not running):
        raise ClusterError(f"{failure} No other configuration served before, so nothing was put back.{words}", rolled_back=False)
    ended = _put_back(step, running, failure, words)
    wrong = step.await_one(step.before, ended)
    how = f"It is not back yet either: {wrong}" if wrong else f"The {step.what} of before is in its place again, and the scheduler is well"
    _tidy(step.folder, step.before)
    raise ClusterError(f"{failure} {how}.{words}", rolled_back=not wrong)


def _put_back(step: _Step, running: list[int], failure: str, words: str = "") -> list[int]:
    """Files as they were; the processes that had to be ended for it. What no process ran with is not put back."""
    ended: list[int] = []
    try:
        if step.found is not None and running and _content(step.config_path) != step.found:
            _write(step.config_path, step.found, step.folder)
            if step.same_manifest:
                ended = process.processes(step.after.argv)
                process.end(ended)
        if _content(step.path) != step.before.text:
            _replace(step.path, step.before.text)
    except ClusterError as error:
        raise ClusterError(
            f"{failure} The {step.what} of before could not be put back: {error.message}{words}", rolled_back=False
        ) from None
    return ended


def _content(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}. Run the task on a host of the control plane, as root.") from None


def _write(path: str, text: str, folder: str, mode: int = FILE_MODE, owner: tuple[int, int] | None = None) -> None:
    """Put a file in its place in one step; until then it is in ``folder``. Raises InputError where it stays as it was."""
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".osso-")
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        if owner:
            os.chown(temporary, *owner)
        os.rename(temporary, path)
    except BaseException as error:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise _unwritten(path, error) from None
        raise


def _replace(path: str, text: str) -> None:
    """The manifest, from a file beside its folder: kubelet takes whatever is in that for a pod."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise _unwritten(path, error) from None
    _write(path, text, os.path.dirname(os.path.dirname(path)), found.st_mode & 0o7777, (found.st_uid, found.st_gid))


def _unwritten(path: str, error: OSError) -> InputError:
    return InputError(f"{path} cannot be written: {error.strerror}. See to that, and run the task again, as root.")


def _tidy(folder: str, manifest: manifests.Manifest) -> list[str]:
    """Remove the configurations that were written here and that the manifest does not name; warnings of those that stay."""
    kept = {os.path.realpath(path) for path in manifest.configurations}
    warnings = []
    for path in glob.glob(os.path.join(folder, "kube-scheduler-*.yaml")):
        try:
            if os.path.realpath(path) not in kept and _written_here(path):
                os.unlink(path)
        except OSError as error:
            warnings.append(
                f"{path}, which is not used any more, cannot be deleted: {error.strerror}. Delete it, since it may hold credentials."
            )
    return warnings


def _written_here(path: str) -> bool:
    """Whether the file is named by its content: others are somebody's own."""
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return os.path.basename(path) == manifests.config_name(file.read().decode("utf-8", "replace"))


def _last_words(*configurations: str | None) -> str:
    """A sentence with what the scheduler said last, without the credentials of these configurations; empty if it said nothing."""
    words = process.last_words()
    for text in configurations:
        words = scrub(words, secret_texts(tree(text or "")))
    return f" Its last words: {words}" if words else ""
