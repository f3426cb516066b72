# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The client on the wire: a small HTTP server plays an API server in moods that a real one has too seldom for a test."""

from __future__ import annotations

import base64
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from ansible_collections.kubernetes.core.plugins.module_utils import k8s
from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC
from ansible_collections.kubernetes.core.plugins.module_utils.k8s import client as kubernetes_core
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.resources import KNOWN
from kubernetes.client import Configuration

CONFIG_MAP = KNOWN["v1", "ConfigMap"]
HANG_UP, HANG_UP_IN_THE_ANSWER = "hang up", "hang up in the answer"


class ApiServer(ThreadingHTTPServer):
    """Answers each request with the next of `answers`: (status, body) or (status, body, headers), or one of the ways to fail."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = []
        self.seen = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

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


@pytest.fixture
def server():
    with ApiServer() as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield server
        server.shutdown()


def connect(url, retry_seconds=5, **options):
    params = {**dict.fromkeys(AUTH_ARG_SPEC), "host": url, "api_key": "token", "retry_seconds": retry_seconds, **options}
    warnings = []
    client = Client.from_module(SimpleNamespace(params=params, warn=warnings.append))
    client.warnings = warnings
    return client


@pytest.fixture(autouse=True)
def no_other_cluster(monkeypatch):
    """The kubernetes library remembers the last kubeconfig of the process."""
    for name in ("K8S_AUTH_HOST", "K8S_AUTH_API_KEY", "K8S_AUTH_KUBECONFIG"):
        monkeypatch.delenv(name, raising=False)
    yield
    Configuration.set_default(None)


@pytest.fixture
def client(server):
    return connect(server.url)


def status(code, reason, message="message", **details):
    return {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message, "details": details}


OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}}


class TestRequests:
    def test_no_request_beside_the_one_asked_for(self, server, client):
        server.answers = [(200, OBJECT)]
        assert client.get(CONFIG_MAP, "a", "b") == OBJECT
        (seen,) = server.seen
        assert (seen.method, seen.path, seen.query) == ("GET", "/api/v1/namespaces/b/configmaps/a", {})
        assert seen.headers["Authorization"] == "Bearer token"
        assert client.requests == {"read": 1, "write": 0, "dry_run": 0}
        assert client.warnings == []

    def test_apply_is_server_side_and_strict(self, server, client):
        server.answers = [(200, OBJECT)] * 3
        client.apply(CONFIG_MAP, OBJECT)
        client.apply(CONFIG_MAP, OBJECT, force=True, field_manager="other", subresource="status")
        client.apply(CONFIG_MAP, OBJECT, dry_run=True)
        first, second, third = server.seen
        assert first.method == "PATCH"
        assert first.headers["Content-Type"] == "application/apply-patch+yaml"
        assert first.query == {"fieldManager": ["osso.scheduler"], "fieldValidation": ["Strict"]}
        assert json.loads(first.body) == OBJECT
        assert second.path.endswith("/configmaps/a/status")
        assert (second.query["fieldManager"], second.query["force"]) == (["other"], ["true"])
        assert third.query["dryRun"] == ["All"]
        assert client.requests == {"read": 0, "write": 2, "dry_run": 1}

    def test_delete_names_the_very_object(self, server, client):
        server.answers = [(200, status(200, "")), (200, status(200, "")), (404, status(404, "NotFound"))]
        client.delete(CONFIG_MAP, "a", "b", uid="u", propagation="Foreground", grace_period=0)
        client.delete(CONFIG_MAP, "a", "b", dry_run=True)
        assert client.delete(CONFIG_MAP, "a", "b") is None
        assert json.loads(server.seen[0].body) == {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Foreground",
            "preconditions": {"uid": "u"},
            "gracePeriodSeconds": 0,
        }
        assert json.loads(server.seen[1].body)["dryRun"] == ["All"]
        assert client.requests == {"read": 0, "write": 2, "dry_run": 1}

    def test_create(self, server, client):
        server.answers = [(201, OBJECT)]
        client.create(CONFIG_MAP, OBJECT)
        (seen,) = server.seen
        assert (seen.method, seen.path) == ("POST", "/api/v1/namespaces/b/configmaps")
        assert json.loads(seen.body) == OBJECT

    def test_lists_are_read_to_their_end(self, server, client):
        server.answers = [
            (200, {"items": [{"metadata": {"name": "a"}}], "metadata": {"continue": "more"}}),
            (200, {"items": [{"metadata": {"name": "b"}}], "metadata": {}}),
        ]
        found = client.list(CONFIG_MAP, "n", label_selector="l=1")
        assert found == [{"metadata": {"name": name}, "apiVersion": "v1", "kind": "ConfigMap"} for name in "ab"]
        assert server.seen[1].query == {"limit": ["500"], "labelSelector": ["l=1"], "continue": ["more"]}

    def test_kinds_are_looked_up_once_and_only_when_unknown(self, server, client):
        client.resource("v1", "ConfigMap")
        served = {"resources": [{"name": "things", "kind": "Thing", "namespaced": True}, {"name": "things/status", "kind": "Thing"}]}
        server.answers = [(200, served), (404, b"404 page not found\n"), (200, served)]
        for _time in range(2):
            assert client.resource("example.com/v1", "Thing").path("n", "a") == "/apis/example.com/v1/namespaces/n/things/a"
        assert len(server.seen) == 1
        with pytest.raises(ApiError) as raised:
            client.resource("example.com/v2", "Thing")
        assert (raised.value.status, raised.value.reason) == (404, "NotServed")
        with pytest.raises(ApiError, match="does not serve"):
            client.resource("example.com/v1", "Other")


class TestRetries:
    @pytest.mark.parametrize(
        "trouble",
        [
            HANG_UP,
            HANG_UP_IN_THE_ANSWER,
            (503, status(503, "ServiceUnavailable")),
            (503, b"not even JSON"),
            (429, status(429, "TooManyRequests"), {"Retry-After": "0"}),
            (504, status(504, "Timeout")),
        ],
    )
    @pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
    def test_what_is_safe_is_asked_again(self, server, client, trouble, method):
        server.answers = [trouble, trouble, (200, OBJECT)]
        assert client.request(method, "/x") == OBJECT
        assert len(server.seen) == 3
        assert sum(client.requests.values()) == 1

    @pytest.mark.parametrize("trouble", [HANG_UP, (504, status(504, "Timeout"))])
    def test_a_creation_that_may_have_happened_is_not_repeated(self, server, client, trouble):
        server.answers = [trouble, (201, OBJECT)]
        with pytest.raises(ApiError):
            client.create(CONFIG_MAP, OBJECT)
        assert len(server.seen) == 1

    def test_a_creation_that_was_turned_away_is_repeated(self, server, client):
        server.answers = [(429, status(429, "TooManyRequests")), (503, status(503, "ServiceUnavailable")), (201, OBJECT)]
        assert client.create(CONFIG_MAP, OBJECT) == OBJECT

    def test_the_server_says_when(self, server, client):
        server.answers = [(429, status(429, "TooManyRequests"), {"Retry-After": "1"}), (200, OBJECT)]
        started = time.monotonic()
        client.request("GET", "/x")
        assert time.monotonic() - started >= 1

    @pytest.mark.parametrize("code", [400, 401, 403, 404, 409, 422, 500])
    def test_refusals_are_final(self, server, client, code):
        server.answers = [(code, status(code, "Reason", "the server's words", kind="configmaps"))]
        with pytest.raises(ApiError) as raised:
            client.request("GET", "/x")
        error = raised.value
        assert (error.status, error.reason, error.message) == (code, "Reason", "the server's words")
        assert (error.details, error.method, error.path) == ({"kind": "configmaps"}, "GET", "/x")

    def test_patience_has_an_end(self, server):
        server.answers = [(503, status(503, "ServiceUnavailable", "starting"))] * 100
        started = time.monotonic()
        with pytest.raises(ApiError, match="starting"):
            connect(server.url, retry_seconds=1).request("GET", "/x")
        assert time.monotonic() - started < 3
        server.answers = [(503, status(503, "ServiceUnavailable"))] * 2
        with pytest.raises(ApiError):
            connect(server.url, retry_seconds=0).request("GET", "/x")
        assert len(server.answers) == 1

    def test_what_is_no_api_server(self, server, client):
        server.answers = [(200, b"<html>login</html>")]
        with pytest.raises(ApiError, match="not JSON; is it a Kubernetes API server"):
            client.request("GET", "/x")


class TestWatch:
    def event(self, type, name):
        return json.dumps({"type": type, "object": {"metadata": {"name": name}}}).encode() + b"\n"

    def test_events_until_the_connection_ends(self, server, client):
        stream = self.event("ADDED", "a") + self.event("BOOKMARK", "") + b"\n" + self.event("MODIFIED", "b") + b'{"type": "cut'
        server.answers = [(200, stream)]
        seen = [(type, obj["metadata"]["name"]) for type, obj in client.watch(CONFIG_MAP, "n", field_selector="metadata.name=a")]
        assert seen == [("ADDED", "a"), ("MODIFIED", "b")]
        assert server.seen[0].query["watch"] == ["true"]
        assert server.seen[0].query["fieldSelector"] == ["metadata.name=a"]

    def test_an_old_version_is_told(self, server, client):
        server.answers = [(200, json.dumps({"type": "ERROR", "object": status(410, "Expired")}).encode() + b"\n")]
        with pytest.raises(ApiError) as raised:
            list(client.watch(CONFIG_MAP, resource_version="1"))
        assert raised.value.status == 410

    def test_an_answer_that_is_no_stream(self, server, client):
        server.answers = [(200, json.dumps(OBJECT).encode() + b"\n")]
        with pytest.raises(ApiError) as raised:
            list(client.watch(CONFIG_MAP, "b", field_selector="metadata.name=a"))
        assert raised.value.status == 405


class TestAuthentication:
    def kubeconfig(self, url, **user):
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": url}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }

    def test_the_operator_s_proxy(self, server, tmp_path):
        """Its kubeconfig has the owner before the host and as user name of basic authentication."""
        owner = base64.b64encode(b'{"name": "cluster"}').decode()
        path = tmp_path / "kubeconfig"
        url = server.url.replace("//", f"//{owner.rstrip('=')}:unused@")
        path.write_text(json.dumps(self.kubeconfig(url, username=owner, password="unused")))
        client = connect(None, api_key=None, kubeconfig=str(path))
        server.answers = [(200, OBJECT)]
        client.get(CONFIG_MAP, "a", "b")
        scheme, _space, value = server.seen[0].headers["Authorization"].partition(" ")
        assert (scheme, base64.b64decode(value).decode()) == ("Basic", f"{owner}:unused")
        assert client.host == server.url
        assert client.warnings == []

    def test_the_environment(self, server, monkeypatch):
        monkeypatch.setenv("K8S_AUTH_HOST", server.url)
        monkeypatch.setenv("K8S_AUTH_API_KEY", "from-environment")
        server.answers = [(200, OBJECT)]
        connect(None, api_key=None).get(CONFIG_MAP, "a", "b")
        assert server.seen[0].headers["Authorization"] == "Bearer from-environment"

    def test_impersonation(self, server):
        server.answers = [(200, OBJECT)]
        connect(server.url, impersonate_user="somebody", impersonate_groups=["one", "two"]).get(CONFIG_MAP, "a", "b")
        headers = server.seen[0].headers
        assert headers["Impersonate-User"] == "somebody"
        assert headers.get_all("Impersonate-Group") == ["one", "two"]

    def test_a_kubernetes_core_that_has_changed_inside(self, server, monkeypatch, tmp_path):
        """Then its public function serves, at the price of its discovery."""
        public = {name: getattr(kubernetes_core, name) for name in ("AUTH_ARG_SPEC", "CoreException", "get_api_client")}
        monkeypatch.setattr(k8s, "client", SimpleNamespace(**public))
        monkeypatch.setenv("TMPDIR", str(tmp_path))  # where the discovery is cached
        monkeypatch.setattr("tempfile.tempdir", None)
        server.answers = [(200, {"gitVersion": "v1"}), (200, {"kind": "APIGroupList", "groups": []}), (200, OBJECT)]
        assert connect(server.url).get(CONFIG_MAP, "a", "b") == OBJECT
