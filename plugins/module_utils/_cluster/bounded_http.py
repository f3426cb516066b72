# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Limits of time and size for the answers of HTTP servers. A timeout of a socket is none: it begins again with each byte."""

from __future__ import annotations

import http.client
import io
import socket
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class TooLargeError(http.client.HTTPException):
    """The answer is larger than the limit."""


def limit_time(connection: http.client.HTTPConnection, seconds: float) -> None:
    """Have what the other side sends from now on, a proxy's answer to CONNECT included, end within so many seconds, else socket.timeout."""
    connection.response_class = partial(_response, time.monotonic() + seconds)  # type: ignore[assignment]  # called like the class


def read(response: http.client.HTTPResponse, largest: int) -> bytes:
    """The whole body. Raises TooLargeError for one of more than ``largest`` bytes, HTTPException and OSError for one that is cut off."""
    body = response.read(largest + 1)
    if len(body) > largest:
        raise TooLargeError(f"an answer of more than {largest >> 20} MiB")
    if response.length:
        raise http.client.IncompleteRead(body, response.length)
    return body


def _response(deadline: float, connected: socket.socket, *args: Any, **options: Any) -> http.client.HTTPResponse:
    return http.client.HTTPResponse(_Connected(connected, deadline), *args, **options)  # type: ignore[arg-type]  # it uses no more of a socket


class _Connected:
    """All of a socket that an HTTPResponse uses."""

    def __init__(self, connected: socket.socket, deadline: float) -> None:
        self._connected = connected
        self._deadline = deadline

    def makefile(self, mode: Literal["rb"]) -> io.BufferedReader[_UntilDeadline]:
        return io.BufferedReader(_UntilDeadline(self._connected, self._connected.makefile(mode, 0), self._deadline))


class _UntilDeadline(io.RawIOBase):
    def __init__(self, connected: socket.socket, file: io.RawIOBase, deadline: float) -> None:
        super().__init__()
        self._connected = connected
        self._file = file
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise socket.timeout("timed out")
        self._connected.settimeout(remaining)
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()
