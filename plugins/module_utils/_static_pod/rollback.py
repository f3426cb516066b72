# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A change of a static pod that is not confirmed yet, and its rollback.

The change is recorded before the first file is written, and the record is deleted when the new process is well. A run that is killed leaves the record.
This file is also the guard, a program that rolls back what a killed run left. ``guard.py`` copies it to the host, so it imports the standard library only.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import stat
import sys
import syslog
import tempfile
import time
from collections.abc import Collection, Iterator
from typing import NamedTuple

FILE_MODE = 0o600
RETRY_SECONDS = 10
RECORD = "change.json"
ARMED = "armed"
PROGRAM = "guard.py"
_ERRORS = "surrogateescape"
"""What is no UTF-8 is put back byte by byte."""
_PREFIX = ".osso-"
_TEMPORARY = re.compile(re.escape(_PREFIX) + r"[a-z0-9_]{8}")
"""The names that tempfile makes."""


class Change(NamedTuple):
    """What a rollback needs.

    - ``manifest``: the file; ``before``: its last confirmed text; ``after``: digests of the texts that were written since
    - ``argv``: the command line in ``before``; ``running``: its processes before the change
    - ``folders``: of configurations; ``keep``: the configurations that ``before`` names
    - ``config``: the file of the new configuration, with the digest ``config_after``; ``found``: the text in it before, if a process ran with it
    """

    manifest: str
    before: str
    after: list[str]
    argv: list[str]
    running: list[int]
    folders: list[str]
    keep: list[str]
    config: str | None
    config_after: str | None
    found: str | None

    @property
    def texts(self) -> set[str]:
        """Digests of the manifest's texts that the change knows."""
        return {*self.after, digest(self.before)}


def state_folder(manifest: str) -> str:
    """The folder of record and guard: next to the manifest folder, so that a file can be renamed from here to there."""
    folder, name = os.path.split(manifest)
    return os.path.join(os.path.dirname(folder), _PREFIX + name)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors=_ERRORS)).hexdigest()


def config_name(text: str) -> str:
    """A separate file for each content: only the manifest selects one of them."""
    return f"kube-scheduler-{digest(text)[:12]}.yaml"


@contextlib.contextmanager
def locked(manifest: str, seconds: float | None = None) -> Iterator[None]:
    """Hold the lock of the manifest. The kernel releases it when its holder ends, also by SIGKILL. Raises TimeoutError after ``seconds``."""
    handle = os.open(os.path.dirname(os.path.dirname(manifest)), os.O_RDONLY | os.O_DIRECTORY)
    try:
        if seconds is None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        else:
            _flock(handle, time.monotonic() + seconds)
        yield
    finally:
        os.close(handle)


def _flock(handle: int, deadline: float) -> None:
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise TimeoutError from None
        time.sleep(0.05)


def content(path: str) -> str:
    with open(path, encoding="utf-8", errors=_ERRORS, newline="") as file:
        return file.read()


def content_if_any(path: str | None) -> str | None:
    try:
        return content(path) if path else None
    except (FileNotFoundError, NotADirectoryError):
        return None


def write(path: str, text: str, folder: str, mode: int = FILE_MODE, owner: tuple[int, int] | None = None) -> None:
    """Put a file in its place in one step, which a crash of the host does not undo; until then it is in ``folder``. Raises OSError with ``path``."""
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=_PREFIX)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors=_ERRORS, newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        if owner:
            os.chown(temporary, *owner)
        os.rename(temporary, path)
        _sync(os.path.dirname(path))
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, path) from None
        raise


def _sync(folder: str) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace_manifest(path: str, text: str) -> None:
    """Mode and owner stay. kubelet takes whatever is in the folder of manifests for a pod, so the new file comes from another one."""
    found = os.stat(path)
    write(path, text, state_folder(path), found.st_mode & 0o7777, (found.st_uid, found.st_gid))


def record(change: Change) -> None:
    folder = state_folder(change.manifest)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    write(os.path.join(folder, RECORD), json.dumps(change._asdict()), folder)


def unconfirmed(manifest: str) -> Change | None:
    """The change that no run has confirmed or rolled back. Raises ValueError if the record is not from this module."""
    text = content_if_any(os.path.join(state_folder(manifest), RECORD))
    if text is None:
        return None
    try:
        found = Change(**json.loads(text))
    except TypeError as error:
        raise ValueError(str(error)) from None
    if found.manifest != manifest:
        raise ValueError(f"it is about {found.manifest}")
    return found


def forget(manifest: str, files: Collection[str] = ()) -> None:
    """Delete the record, in one step, and then everything that served it, ``files`` included."""
    folder = state_folder(manifest)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(folder, RECORD))
        _sync(folder)  # it would undo a confirmed change after a crash of the host
    for path in files:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    shutil.rmtree(folder, ignore_errors=True)


def restore(change: Change) -> tuple[bool, list[int]]:
    """Files as they were before the change: whether they are, and the processes that were asked to end for it.

    They are not if others have changed or removed the manifest since: their changes stay.
    """
    text = content_if_any(change.manifest)
    if text is None or digest(text) not in change.texts:
        return False, []
    ended: list[int] = []
    if restore_configuration(change) and text == change.before:
        # kubelet sees no change of the manifest. What ran before the change runs with this text.
        ended = [pid for pid in processes(change.argv) if pid not in change.running]
        end(ended)
    if text != change.before:
        replace_manifest(change.manifest, change.before)
    for path in unused(change.folders, change.keep, change.manifest):
        with contextlib.suppress(OSError):
            os.unlink(path)
    return True, ended


def restore_configuration(change: Change) -> bool:
    """Put back the text that was in the place of the new configuration, if that is still there: whether there was something to put back."""
    if change.config is None or change.found is None or digest(content_if_any(change.config) or "") != change.config_after:
        return False
    present = os.stat(change.config)
    write(change.config, change.found, os.path.dirname(change.config), owner=(present.st_uid, present.st_gid))
    return True


def unused(folders: Collection[str], keep: Collection[str], manifest: str) -> list[str]:
    """Configurations that were written here and are no longer kept, and temporary files of killed runs. Call it only under the lock, without other
    writers. What another manifest in the folder of ``manifest`` names is used."""
    folder = os.path.dirname(manifest)
    others = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if os.path.join(folder, name) != manifest]
    texts = [content(path) for path in others if _is_file(path)]
    kept = {os.path.realpath(path) for path in keep}
    found = [
        path for folder in sorted(set(folders)) for path in sorted(glob.glob(os.path.join(glob.escape(folder), "kube-scheduler-*.yaml")))
    ]
    named = {path for path in found if any(os.path.basename(path) in text for text in texts)}
    unnamed = [path for path in found if path not in named and os.path.realpath(path) not in kept and _written_here(path)]
    return [*unnamed, *(path for folder in sorted(set(folders)) for path in _temporary_files(folder))]


def _written_here(path: str) -> bool:
    """Whether the file is named by its content: other files do not belong to this module."""
    if not _is_file(path):
        return False
    with open(path, "rb") as file:
        return os.path.basename(path) == config_name(file.read().decode("utf-8", "replace"))


def _temporary_files(folder: str) -> list[str]:
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [path for path in (os.path.join(folder, name) for name in names if _TEMPORARY.fullmatch(name)) if _is_file(path)]


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False


def processes(argv: list[str], proc: str = "/proc") -> list[int]:
    """The processes with exactly this command line."""
    wanted = b"\0".join(one.encode() for one in argv) + b"\0"
    found = []
    for path in glob.glob(f"{proc}/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                if file.read() == wanted:
                    found.append(int(path.split("/")[-2]))
        except OSError:
            continue  # it has ended meanwhile
    return found


def end(pids: Collection[int]) -> None:
    """Ask processes to end."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
            os.kill(pid, signal.SIGTERM)


def guard(manifest: str, *files: str) -> None:
    """Wait until the run that holds the lock ends, however it ends, and roll back what it has not confirmed. ``files`` are deleted at the end."""
    syslog.openlog("osso-scheduler-guard")
    with contextlib.suppress(FileNotFoundError):  # the run has ended already
        os.close(os.open(os.path.join(state_folder(manifest), ARMED), os.O_CREAT | os.O_WRONLY, FILE_MODE))
    while True:
        try:
            with locked(manifest):
                change = unconfirmed(manifest)
                if change:
                    restored, _ended = restore(change)
                    what = "rolled back" if restored else "left unchanged, because it was changed since"
                    syslog.syslog(syslog.LOG_WARNING, f"{manifest}: the change was not confirmed, and is {what}")
                forget(manifest, files)
                return
        except (OSError, ValueError) as error:
            syslog.syslog(syslog.LOG_ERR, f"{manifest}: the change cannot be rolled back, next try in {RETRY_SECONDS} s: {error}")
        time.sleep(RETRY_SECONDS)


if __name__ == "__main__":
    guard(*sys.argv[1:])
