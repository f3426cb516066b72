# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A kube-scheduler's answers through a port-forward: no other scheduler hangs or fills the memory of the module."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from contextlib import contextmanager, nullcontext, suppress
from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import https
from support.certificates import Authority


def endless(connection, head, piece, pause):
    with suppress(OSError):
        connection.recv(65536)
        connection.sendall(head)
        while True:
            connection.sendall(piece)
            time.sleep(pause)


@pytest.mark.parametrize(
    ("head", "piece", "pause", "error", "words"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x", 0.01, socket.timeout, "timed out"),
        (b"HTTP/1.1 200 OK\r\nX: ", b"x", 0.01, socket.timeout, "timed out"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536, 0, ClusterError, "more than 1 MiB"),
    ],
)
def test_an_endless_answer_ends_with_an_error(monkeypatch, tmp_path, head, piece, pause, error, words):
    context = Authority(tmp_path).context("127.0.0.1")
    ours, theirs = socket.socketpair()
    threading.Thread(target=lambda: endless(context.wrap_socket(theirs, server_side=True), head, piece, pause), daemon=True).start()

    @contextmanager
    def forwarded(_client, _namespace, _pod, _port, patience):
        ours.settimeout(patience)
        yield ours

    monkeypatch.setattr(https.streams, "forwarded", forwarded)
    monkeypatch.setattr(https, "_LARGEST", 1 << 20)
    start = time.monotonic()
    with pytest.raises(error, match=words):
        https.get(None, SimpleNamespace(namespace="a", name="b"), 1, "/", https.Peer(https.unverified()), 5 if pause == 0 else 0.5)
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    "error",
    [
        ssl.SSLEOFError(ssl.SSL_ERROR_EOF, "EOF occurred in violation of protocol"),
        ssl.SSLSyscallError(ssl.SSL_ERROR_SYSCALL, "Some I/O error occurred"),
        ssl.SSLZeroReturnError(ssl.SSL_ERROR_ZERO_RETURN, "TLS/SSL connection has been closed (EOF)"),
        ConnectionResetError(104, "Connection reset by peer"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_connection_that_ends_during_the_handshake_is_no_wrong_port(monkeypatch, error):
    def wrap_socket(*_args, **_kwargs):
        raise error

    monkeypatch.setattr(https.streams, "forwarded", lambda *_args: nullcontext())
    peer = https.Peer(SimpleNamespace(wrap_socket=wrap_socket))
    with pytest.raises(type(error)) as raised:
        https.get(None, SimpleNamespace(namespace="a", name="b"), 1, "/", peer, 5)
    assert raised.value is error
