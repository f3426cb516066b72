# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A TCP connection that can be cut: what a client sees when an API server goes away for a while."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading


class TcpProxy:
    """Forwards connections on 127.0.0.1:`port` to `target`, a pair of host and port.

    with TcpProxy(("10.0.0.1", 6443)) as proxy:
        proxy.cut(seconds=10)
    """

    def __init__(self, target: tuple[str, int]):
        self._target = target
        self._connections: list[socket.socket] = []
        self._timer = threading.Timer(0, self._listen)
        self.port = 0
        self._listen()
        self.port = self._listener.getsockname()[1]

    def __enter__(self) -> TcpProxy:
        return self

    def __exit__(self, *_exception) -> None:
        self._timer.cancel()
        self._close()

    def cut(self, seconds: float) -> None:
        """Break all connections and refuse new ones; after `seconds` listen again, in the background."""
        self._close()
        self._timer = threading.Timer(seconds, self._listen)
        self._timer.start()

    def _listen(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=[self._listener], daemon=True).start()

    def _close(self) -> None:
        if self._listener is not None:
            # Wakes the thread that waits in accept(), which would get one connection more.
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        while self._connections:
            connection = self._connections.pop()
            # Wakes the thread that reads; then a reset instead of an orderly end.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RD)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _address = listener.accept()
                server = socket.create_connection(self._target)
            except OSError:
                return
            self._connections += [client, server]
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=_pump, args=[source, sink], daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass
