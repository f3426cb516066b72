# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a process has logged since a moment, of a container through the API server or of a file.

The moment is a place in the log, not a time: clocks differ.
"""

from __future__ import annotations

import os
import re
from typing import Any, Protocol

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import Target

_STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?\S* ?")


class Log(Protocol):
    def since(self) -> str:
        """What was written since the object was made."""


class ContainerLog:
    """Of a target's container; the node's own time of the last line is the moment."""

    def __init__(self, client: Client, target: Target) -> None:
        self._client = client
        self._path = client.resource("v1", "Pod").path(target.namespace, target.name, "log")
        self._container = target.container
        lines = self._read(tailLines=1).splitlines()
        self._last = lines[-1] if lines else ""

    def since(self) -> str:
        if not self._last:
            return "".join(_unstamped(line) for line in self._read().splitlines(keepends=True))
        moment = _moment(self._last)
        # The API server takes whole seconds, so some lines are from before.
        lines = self._read(sinceTime=f"{self._last.partition(' ')[0]}").splitlines(keepends=True)
        return "".join(_unstamped(line) for line in lines if _moment(line) > moment)

    def _read(self, **query: Any) -> str:
        return self._client.text(self._path, {"container": self._container, "timestamps": "true", **query})


class FileLog:
    """Of a file on the machine that the module runs on; its size is the moment. A file that is replaced meanwhile is read from its start."""

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            about = os.stat(path)
        except OSError as error:
            raise InputError(
                f"log_path: {path} cannot be read: {error.strerror}. It is a path on the host that the module runs on."
            ) from None
        self._inode, self._size = about.st_ino, about.st_size

    def since(self) -> str:
        try:
            with open(self._path, "rb") as file:
                about = os.fstat(file.fileno())
                file.seek(self._size if about.st_ino == self._inode and about.st_size >= self._size else 0)
                return file.read().decode("utf-8", "replace")
        except OSError as error:
            raise InputError(f"log_path: {self._path} cannot be read: {error.strerror}.") from None


def _moment(line: str) -> tuple[str, str]:
    """The time that the node has written before a line, in a form that can be compared."""
    stamp = _STAMP.match(line)
    return (stamp.group(1), (stamp.group(2) or "").ljust(9, "0")) if stamp else ("", "")


def _unstamped(line: str) -> str:
    stamp = _STAMP.match(line)
    return line[stamp.end() :] if stamp else line
