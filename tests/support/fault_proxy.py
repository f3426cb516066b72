# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An API server that answers now and then with 409 or 429: a proxy in front of the real one, for pods of the throwaway cluster."""

from __future__ import annotations

import http.client
import json
import random
import ssl
import threading
from collections import Counter
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# Reviews are questions that are sent by POST: nothing of them could conflict.
REVIEWS = ("/apis/authorization.k8s.io/", "/apis/authentication.k8s.io/")
REASONS = {
    409: ("Conflict", "Operation cannot be fulfilled: the object has been modified (injected by the test)"),
    429: ("TooManyRequests", "the server has received too many requests and has asked us to try again later (injected by the test)"),
}
RETRY_AFTER = 1
# They belong to one connection, not to the request.
HOP_BY_HOP = frozenset({"connection", "host", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"})
CHUNK = 65536


class FaultProxy:
    """Forwards to the API server of the throwaway cluster in `folder`, and answers the share `rate` of all requests itself.

        with FaultProxy(own_cluster, seed=7) as proxy:
            kubectl("set", "env", "deployment/it", *proxy.environment)
            proxy.rate = 0.2
        print(proxy.injected)

    A write is answered with 409 or 429, a read with 429 (`Retry-After: 1`), a watch never; such a request does not reach the API
    server. Which ones are hit is drawn from a generator with `seed`, in the order of their arrival.

    It shows the API server's own certificate, at the same address on another port, so clients verify it as they do the real one. Their
    tokens are passed on; a client certificate cannot be, and its owner is nobody here.

    `injected` counts answers by status, `forwarded` the requests that were passed on by method (`WATCH` for watches).
    """

    def __init__(self, folder: Path, seed: int = 0):
        pki = folder / "pki"
        server = json.loads((folder / "kubeconfig").read_text())["clusters"][0]["cluster"]["server"]
        self.rate = 0.0
        self.injected: Counter[int] = Counter()
        self.forwarded: Counter[str] = Counter()
        self._target = urlsplit(server)
        self._trust = ssl.create_default_context(cafile=pki / "ca.crt")
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki / "apiserver.crt", pki / "apiserver.key")
        self._server = _Server((self._target.hostname, 0), _Handler)
        # Each connection shakes hands in its own thread: nobody waits for a slow one.
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._server.proxy = self

    def __enter__(self) -> FaultProxy:
        threading.Thread(target=self._server.serve_forever, args=[0.05], daemon=True).start()
        return self

    def __exit__(self, *_exception) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def seen(self) -> int:
        """Requests so far, however answered."""
        return self.injected.total() + self.forwarded.total()

    @property
    def url(self) -> str:
        return f"https://{self._target.hostname}:{self._server.server_address[1]}"

    @property
    def environment(self) -> list[str]:
        """The variables by which a client in a pod finds its API server."""
        return [f"KUBERNETES_SERVICE_HOST={self._target.hostname}", f"KUBERNETES_SERVICE_PORT={self._server.server_address[1]}"]

    def connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(self._target.hostname, self._target.port, context=self._trust)

    def fault(self, method: str, path: str) -> int:
        """The status to answer this request with, or 0 to forward it."""
        url = urlsplit(path)
        watch = parse_qs(url.query).get("watch", ["false"])[0] in ("true", "1")
        with self._lock:
            if watch or self._random.random() >= self.rate:
                self.forwarded["WATCH" if watch else method] += 1
                return 0
            status = self._random.choice((409, 429)) if method in WRITES and not url.path.startswith(REVIEWS) else 429
            self.injected[status] += 1
            return status

    def answer(self, method: str, path: str, headers: Message, body: bytes) -> tuple[int, dict[str, str], dict] | None:
        """Status, headers and content of what a proxy of another kind answers itself; None to go on."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    proxy: FaultProxy

    def handle_error(self, request, client_address):
        """Either end may be killed at any time: the other one sees a broken connection."""


class _Handler(BaseHTTPRequestHandler):
    """One client's connection, with one of its own to the API server."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    upstream: http.client.HTTPSConnection | None = None

    def serve(self):
        body = self._body()
        own = self.server.proxy.answer(self.command, self.path, self.headers, body)
        if own:
            self._say(*own)
        elif status := self.server.proxy.fault(self.command, self.path):
            self._refuse(status)
        else:
            self._forward(body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = serve

    def finish(self):
        if self.upstream:
            self.upstream.close()
        super().finish()

    def log_message(self, *_arguments):
        pass

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():  # trailers
            pass
        return body

    def _refuse(self, status: int) -> None:
        reason, message = REASONS[status]
        content = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "reason": reason, "message": message}
        headers = {}
        if status == 429:
            content["details"] = {"retryAfterSeconds": RETRY_AFTER}
            headers["Retry-After"] = str(RETRY_AFTER)
        self._say(status, headers, content)

    def _say(self, status: int, headers: dict[str, str], content: dict) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _forward(self, body: bytes) -> None:
        self.upstream = self.upstream or self.server.proxy.connect()
        try:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP | {"content-length"}}
            self.upstream.request(self.command, self.path, body or None, headers)
            self._answer(self.upstream.getresponse())
        except (OSError, http.client.HTTPException):
            # The client learns of it as it would without the proxy: the connection ends.
            self.close_connection = True
            raise

    def _answer(self, response: http.client.HTTPResponse) -> None:
        """Pass the answer on as it comes: a watch's one is never complete."""
        whole = response.length is not None
        self.send_response_only(response.status, response.reason)
        for name, value in response.getheaders():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        if not whole:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while data := response.read1(CHUNK):
            self.wfile.write(data if whole else b"%x\r\n%s\r\n" % (len(data), data))
        if not whole:
            self.wfile.write(b"0\r\n\r\n")
        # Where the length is known, the end of the body alone does not free the connection for the next request.
        response.close()
