# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Changing the default scheduler of a control plane's host, and back if it does not come up: the work of the module static_pod_scheduler."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import masked, scrub, secret_texts
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document import tree
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.interrupts import ended_by_signals, uninterrupted
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import manifest as manifests
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import process, rollback
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod.guard import Guard

LOCK_SECONDS = 10
"""A guard that rolls back holds the lock for less."""


def change(params: dict[str, Any], check_mode: bool = False) -> dict[str, Any]:
    """The result of the module for its parameters. Raises ClusterError after a rollback."""
    given = params["content"]
    path = os.path.realpath(params["manifest"])
    folder, manifests_folder = os.path.realpath(params["config_folder"]), os.path.dirname(path)
    if folder == manifests_folder or folder.startswith(manifests_folder + os.sep):
        raise InputError(
            f"config_folder is {params['config_folder']}, inside of {manifests_folder}, where kubelet takes every file for a pod: use another one."
        )
    with contextlib.ExitStack() as lock:
        try:
            lock.enter_context(rollback.locked(path, LOCK_SECONDS))
        except TimeoutError:
            raise ClusterError(f"Another run of this module is changing {path}: run the task again when that has ended.") from None
        except OSError as error:
            raise _unread(path, error) from None
        return _change(given, path, folder, params, check_mode)


def _change(given: str | None, path: str, folder: str, params: dict[str, Any], check_mode: bool) -> dict[str, Any]:
    """Under the lock."""
    step, warnings = _plan(given, path, folder, params, check_mode)
    result = _result(step)
    if step.to_do:
        process.same_file_system(os.path.dirname(os.path.dirname(path)), os.path.dirname(path))
    try:
        if check_mode:
            pass
        elif step.to_do:
            result.update(_switch(step, warnings))
            warnings += _delete(step.unused)
        else:
            if step.left_over:
                _end(step)
            warnings += _delete(step.unused)
            _await_unchanged(step)
    except ClusterError as error:
        error.result.update({"warnings": warnings} if warnings else {})
        raise
    return {**result, **({"warnings": warnings} if warnings else {})}


class _Step(NamedTuple):
    """From one manifest to another.

    - ``record``: what a rollback needs; ``resumed``: whether it is that of a killed run, whose manifest is no basis for a change
    - ``current``: the text of the manifest now, which is that of ``before`` unless a run was killed
    - ``found``: the text in the place of the configuration ``text``, None where nothing is; ``old_text``: the configuration of ``before``
    - ``outdated``: processes with the command line of ``after`` that have to end; ``argvs``: all known command lines
    - ``unused``: files that ``after`` does not need; ``left_over``: what killed runs left that is no record
    """

    record: rollback.Change
    resumed: bool
    guard: Guard
    before: manifests.Manifest
    after: manifests.Manifest
    current: str
    text: str | None
    old_text: str
    found: str | None
    outdated: list[int]
    argvs: list[list[str]]
    unused: list[str]
    left_over: list[str]
    host: str | None
    timeout: int

    @property
    def path(self) -> str:
        return self.record.manifest

    @property
    def files_differ(self) -> bool:
        return self.current != self.after.text or self.found != self.text

    @property
    def to_do(self) -> bool:
        return self.resumed or self.files_differ or bool(self.outdated)

    @property
    def what(self) -> str:
        return "configuration" if self.after.text == self.before.text else "manifest"

    @property
    def words(self) -> str:
        return _last_words(self.text, self.old_text)

    def await_one(self, manifest: manifests.Manifest, *more: Any) -> str:
        others = [argv for argv in self.argvs if argv != manifest.argv]
        address = (self.host or manifest.address[0], manifest.address[1])
        return process.await_one(manifest.argv, others, address, self.timeout, *more)


def _plan(given: str | None, path: str, folder: str, params: dict[str, Any], check_mode: bool) -> tuple[_Step, list[str]]:
    """What is to be done, and warnings. Writes nothing but the configuration that a killed run replaced, and not even that in check mode."""
    guard = Guard(path)
    current = _content(path)
    pending, warnings = _pending(path, current)
    before = manifests.read(pending.before if pending else current, path)
    present = params["state"] == "present"
    text = manifests.with_ignored_flags(given, before) if present and given is not None else None
    config_path = os.path.join(folder, rollback.config_name(text)) if text else None
    flags = {str(name): str(value) for name, value in (params["flags"] or {}).items()} if present else {}
    if config_path:
        manifests.check_flags(flags)
    after = manifests.edited(before, config_path, flags)
    same = pending is not None and current == after.text and pending.config == config_path and _content_if_any(config_path) == text
    if pending and not same and not check_mode:
        with _files():
            rollback.restore_configuration(pending)
    found = _content_if_any(config_path) if _belongs_to(config_path, after.owner) else None
    _check_folder(folder if config_path else None, after.owner)
    running = rollback.processes(before.argv)
    folders = {
        folder,
        *(os.path.dirname(one) for one in before.configurations if os.path.isabs(one)),
        *(pending.folders if pending else ()),
    }
    # A text that no process ran with is not put back.
    served = found if found != text and (running or (pending and pending.running)) else None
    step = _Step(
        record=rollback.Change(
            manifest=path,
            before=before.text,
            after=sorted({rollback.digest(after.text), *(pending.after if pending else ())}),
            argv=before.argv,
            running=running,
            folders=sorted(folders),
            keep=sorted(before.configurations),
            config=config_path,
            config_after=rollback.digest(text) if text is not None else None,
            found=pending.found if pending and same else served,
        ),
        resumed=pending is not None,
        guard=guard,
        before=before,
        after=after,
        current=current,
        text=text,
        old_text=_content_if_any(before.flag("config")) or "",
        found=found,
        outdated=_outdated(after, current, config_path, text, found),
        argvs=[before.argv, after.argv, *([manifests.read(current, path).argv] if pending else [])],
        unused=rollback.unused(folders, after.configurations, path),
        left_over=[] if pending else guard.left_over,
        host=params["health_host"],
        timeout=params["wait_timeout"],
    )
    if step.outdated and not step.files_differ:
        warnings.append(
            f"kube-scheduler's process {step.outdated[0]} began before {config_path} was last written. It may run with another text, so it is restarted."
        )
    return step, warnings


def _result(step: _Step) -> dict[str, Any]:
    manifest, manifest_after = masked(step.before.text, step.after.text, by_key=False)
    shown, shown_after = masked(step.old_text.encode(errors="replace").decode(), step.text or "")
    old_config, config = step.before.flag("config") or "", step.record.config or ""
    return {
        "changed": step.to_do or bool(step.unused or step.left_over),
        "config_path": config,
        "hostname": socket.gethostname(),
        "deleted_files": [*step.unused, *step.left_over],
        "diff": [
            {"before_header": step.path, "after_header": step.path, "before": manifest, "after": manifest_after},
            {"before_header": old_config, "after_header": config, "before": shown, "after": shown_after},
        ],
    }


def _pending(path: str, current: str) -> tuple[rollback.Change | None, list[str]]:
    """The change that a killed run left, and warnings. Later changes by others are not reverted."""
    try:
        found = rollback.unconfirmed(path)
    except (OSError, ValueError) as error:
        raise InputError(
            f"A run that was killed has left {rollback.state_folder(path)}, which cannot be read: {error}. Check {path}, delete that folder, "
            "and run the task again."
        ) from None
    if found is None:
        return None, []
    if rollback.digest(current) not in found.texts:
        return None, [f"A run that was killed has changed {path}, and another program has changed it since: its current content is used."]
    return found, [f"A run that was killed has not confirmed its change of {path}: this run starts from the manifest before that change."]


def _outdated(after: manifests.Manifest, current: str, config_path: str | None, text: str | None, found: str | None) -> list[int]:
    """The processes that already run with the command line of ``after``, but with outdated files."""
    running = rollback.processes(after.argv)
    if current != after.text or found != text:
        return running
    return process.older_than(config_path, running) if config_path else []


def _await_unchanged(step: _Step) -> None:
    wrong = step.await_one(step.before)
    if wrong:
        raise ClusterError(
            f"Nothing was to be changed in {step.path}, but its kube-scheduler is not well after {step.timeout} s: {wrong}. "
            f"Give another configuration, or take out what was set here with state=absent.{step.words}"
        )


def _switch(step: _Step, warnings: list[str]) -> dict[str, Any]:
    """Make the change and confirm it, or roll it back and raise ClusterError."""
    began = time.monotonic()
    with uninterrupted():  # nothing interrupts the rollback
        try:
            with _files():
                rollback.record(step.record)
                way, more = step.guard.start()
            warnings += more
            with ended_by_signals("The change of kube-scheduler"):
                wrong = _go(step)
            failure = f"kube-scheduler did not become available within {time.monotonic() - began:.0f} s: {wrong}." if wrong else ""
        except InputError as error:
            # The manifest is as it was, and no process was ended.
            _put_back(step, error.message)
            _end(step)
            raise
        except ClusterError as error:
            failure = error.message
        if failure:
            _go_back(step, failure)
        _end(step)
    return {"seconds_until_ready": round(time.monotonic() - began, 1), "guard": way}


def _go(step: _Step) -> str:
    """Write configuration and manifest; return the problem of the new process. Raises InputError before the manifest has changed."""
    config = step.record.config
    with _files():
        if config and step.text is not None and step.found != step.text:
            folder, owner = os.path.dirname(config), step.after.owner
            if not os.path.isdir(folder):
                os.makedirs(folder, mode=0o700)
                if owner:
                    os.chown(folder, *owner)
            rollback.write(config, step.text, folder, owner=owner)
        if step.current != step.after.text:
            # kubelet restarts the pod after any change of it, also if the command line stays.
            rollback.replace_manifest(step.path, step.after.text)
    if step.current == step.after.text and step.outdated:
        # kubelet looks at the manifest alone.
        try:
            if config:
                os.utime(config)  # its time may be in the future, and the next run would take the new process for an old one
            rollback.end(step.outdated)
        except OSError as error:
            raise ClusterError(f"kube-scheduler's process cannot be ended: {error.strerror}. Run the task as root.") from None
    return step.await_one(step.after, step.outdated, process.LOGS)


def _go_back(step: _Step, failure: str) -> None:
    """Restore the previous files, wait for their process, and raise ClusterError with the whole sequence."""
    words = step.words
    if step.after.text == step.before.text and step.record.found is None:
        _end(step)
        raise ClusterError(f"{failure} No other configuration was active before, so nothing was restored.{words}", rolled_back=False)
    ended = _put_back(step, failure, words)
    wrong = step.await_one(step.before, ended)
    how = f"It is not back yet either: {wrong}" if wrong else f"The {step.what} of before is in its place again, and the scheduler is well"
    _end(step)
    raise ClusterError(f"{failure} {how}.{words}", rolled_back=not wrong)


def _put_back(step: _Step, failure: str, words: str = "") -> list[int]:
    """Files as they were; the processes that had to be ended for it."""
    failure = f"{failure} The {step.what} of before could not be put back: "
    try:
        restored, ended = rollback.restore(step.record)
    except OSError as error:
        raise ClusterError(
            f"{failure}{error.filename} cannot be written: {error.strerror}. It is tried again every {rollback.RETRY_SECONDS} s, "
            f"and by the next run of the task.{words}",
            rolled_back=False,
        ) from None
    if not restored:
        _end(step)
        raise ClusterError(f"{failure}Another program has changed or removed {step.path} meanwhile.{words}", rolled_back=False)
    return ended


def _end(step: _Step) -> None:
    """Confirm what there is now."""
    try:
        step.guard.end()
    except OSError as error:
        raise ClusterError(
            f"{error.filename} cannot be deleted: {error.strerror}. While it exists, the change counts as unconfirmed and is rolled back."
        ) from None


def _belongs_to(path: str | None, owner: tuple[int, int] | None) -> bool:
    """Whether a file is of this user, or does not exist; without an owner, always."""
    try:
        return not owner or not path or os.stat(path).st_uid == owner[0]
    except OSError:
        return True


def _check_folder(path: str | None, owner: tuple[int, int] | None) -> None:
    """Raises InputError if a folder exists in which this user cannot read a file."""
    if not path or not owner or not os.path.isdir(path):
        return
    found = os.stat(path)
    needed = stat.S_IXUSR if found.st_uid == owner[0] else stat.S_IXGRP if found.st_gid == owner[1] else stat.S_IXOTH
    if not found.st_mode & needed:
        raise InputError(
            f"config_folder is {path}, which the container's user {owner[0]} cannot read: use another folder, or change its owner or mode."
        )


def _content(path: str) -> str:
    try:
        return rollback.content(path)
    except OSError as error:
        raise _unread(path, error) from None


def _content_if_any(path: str | None) -> str | None:
    try:
        return rollback.content_if_any(path)
    except OSError as error:
        raise _unread(path, error) from None


def _unread(path: str | None, error: OSError) -> InputError:
    return InputError(f"{path} cannot be read: {error.strerror}. Run the task on a host of the control plane, as root.")


@contextlib.contextmanager
def _files() -> Iterator[None]:
    """For the writing of files: what fails is an InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{error.filename} cannot be written: {error.strerror}. See to that, and run the task again, as root.") from None


def _delete(paths: list[str]) -> list[str]:
    """Warnings of those that stay."""
    warnings = []
    for path in paths:
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        except OSError as error:
            warnings.append(
                f"{path}, which is no longer used, cannot be deleted: {error.strerror}. Delete it, because it can contain credentials."
            )
    return warnings


def _last_words(*configurations: str | None) -> str:
    """A sentence with what the scheduler said last, without the credentials of these configurations; empty if it said nothing."""
    words = process.last_words()
    for text in configurations:
        words = scrub(words, secret_texts(tree(text or "")))
    return f" Its last words: {words}" if words else ""
