# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An HTTP server that plays an API server in moods that a real one has too seldom for a test."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from kubernetes.client import Configuration

HANG_UP, HANG_UP_IN_THE_ANSWER, SILENCE = "hang up", "hang up in the answer", "silence"


class ApiServer(ThreadingHTTPServer):
    """Answers each request with the next of `answers`: (status, body) or (status, body, headers), or one of the ways to fail."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = []
        self.seen = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    @classmethod
    @contextmanager
    def running(cls):
        with cls() as server:
            threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
            try:
                yield server
            finally:
                # Else the thread goes on with a closed socket, and uses a whole core until pytest ends.
                server.shutdown()

    def handle_error(self, request, client_address):
        """Connections that the tests break are no news."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        url = urlsplit(self.path)
        self.server.seen.append(
            SimpleNamespace(method=self.command, path=url.path, query=parse_qs(url.query), body=body, headers=self.headers)
        )
        answer = self.server.answers.pop(0)
        if answer is HANG_UP:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if answer is SILENCE:
            self.rfile.read(1)  # until the client gives up and closes the connection
            return
        status, content, *headers = (200, {"whole": True}) if answer is HANG_UP_IN_THE_ANSWER else answer
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers[0].items() if headers else ():
            self.send_header(name, value)
        self.end_headers()
        if answer is HANG_UP_IN_THE_ANSWER:
            self.wfile.write(content[:3])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.wfile.write(content)

    do_GET = do_PATCH = do_POST = do_DELETE = answer

    def log_message(self, *_args):
        pass


def connect(url, retry_seconds=5, **options) -> Client:
    """The client of a module with these options; `warnings` is what the module was told to warn of."""
    # The kubernetes library remembers the last kubeconfig of the process, such as that of a test of tests/reconcile before.
    Configuration.set_default(None)
    params = {**dict.fromkeys(AUTH_ARG_SPEC), "host": url, "api_key": "token", "retry_seconds": retry_seconds, **options}
    warnings = []
    client = Client.connect(params, warnings.append)
    client.warnings = warnings
    return client


def status(code, reason, message="message", **details) -> dict:
    """The body of an answer that is a Status."""
    return {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message, "details": details}
