# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The client on the wire."""

from __future__ import annotations

import base64
import json
import time
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from ansible_collections.kubernetes.core.plugins.module_utils import k8s
from ansible_collections.kubernetes.core.plugins.module_utils.k8s import client as kubernetes_core
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import client as client_module
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import raise_if_gone
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from kubernetes.client import Configuration
from kubernetes.client.exceptions import ApiException
from support.api_server import HANG_UP, HANG_UP_IN_THE_ANSWER, SILENCE, ApiServer, Handler, connect, status

CONFIG_MAP = KNOWN["v1", "ConfigMap"]


@pytest.fixture
def server():
    with ApiServer.running() as server:
        yield server


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


OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}}


class TestRequests:
    def test_a_read_sends_a_single_request(self, server, client):
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
        assert first.headers["Content-Type"] == "application/apply-patch+yaml; charset=utf-8"
        assert first.query == {"fieldManager": ["osso.scheduler"], "fieldValidation": ["Strict"]}
        assert json.loads(first.body) == OBJECT
        assert second.path.endswith("/configmaps/a/status")
        assert (second.query["fieldManager"], second.query["force"]) == (["other"], ["true"])
        assert third.query["dryRun"] == ["All"]
        assert client.requests == {"read": 0, "write": 2, "dry_run": 1}

    def test_characters_outside_the_basic_multilingual_plane_are_sent_whole(self, server, client):
        server.answers = [(200, OBJECT)] * 3
        obj = {**OBJECT, "data": {"😀": "a 😀 \ud83d\ude00 b"}}
        client.apply(CONFIG_MAP, obj)
        client.create(CONFIG_MAP, obj)
        client.json_patch(CONFIG_MAP, "a", "b", [{"op": "add", "path": "/data/😀", "value": "😀"}])
        applied, created, _patched = server.seen
        assert applied.body.decode().count("😀") == 3, "YAML has no escapes for surrogates"
        assert json.loads(applied.body) == json.loads(created.body) == {**OBJECT, "data": {"😀": "a 😀 😀 b"}}

    def test_half_a_character_is_never_sent(self, server, client):
        for half in ("\ud83d", "\ude00", "\ude00\ud83d"):
            for send in (client.apply, client.create):
                with pytest.raises(InputError, match=r"/configmaps.*\.data\.a contains \\ud[8e]"):
                    send(CONFIG_MAP, {**OBJECT, "data": {"a": f"x{half}"}})
        assert server.seen == []

    @pytest.mark.parametrize("content", [b"[]", b"1", b"null", b"\xff", b""])
    def test_an_answer_that_is_no_json_object_is_an_error(self, server, client, content):
        server.answers = [(200, content), (400, content)]
        with pytest.raises(ApiError, match="not a JSON object"):
            client.get(CONFIG_MAP, "a", "b")
        with pytest.raises(ApiError):
            client.get(CONFIG_MAP, "a", "b")

    def test_an_answer_that_is_nested_too_deeply_for_python_is_an_error(self, server, client):
        server.answers = [(200, b'{"items":[' * 50_000 + b"]}" * 50_000), (400, b"[" * 200_000)]
        with pytest.raises(ApiError, match="is nested more deeply than Python reads"):
            client.list(CONFIG_MAP)
        with pytest.raises(ApiError):
            client.get(CONFIG_MAP, "a", "b")

    def test_a_deletion_can_require_the_uid_of_its_object(self, server, client):
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

    def test_create_posts_the_object_to_the_path_of_its_kind(self, server, client):
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

    def test_a_list_out_of_the_operators_cache_has_no_further_page(self, server, client):
        server.answers = [(200, {"items": [{"metadata": {"name": "a"}}], "metadata": {"continue": "continue-not-supported"}})]
        assert [found["metadata"]["name"] for found in client.list(CONFIG_MAP)] == ["a"]
        assert len(server.seen) == 1

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


def _raise(error):
    raise error


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
            (500, b"dial tcp 192.0.2.1:443: connect: connection refused\n"),
        ],
    )
    @pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
    def test_idempotent_requests_are_repeated_after_a_failure(self, server, client, trouble, method):
        server.answers = [trouble, trouble, (200, OBJECT)]
        assert client.request(method, "/x") == OBJECT
        assert len(server.seen) == 3
        assert sum(client.requests.values()) == 1

    @pytest.mark.parametrize("trouble", [HANG_UP, (504, status(504, "Timeout")), (500, b"EOF\n")])
    def test_a_creation_that_may_have_happened_is_not_repeated(self, server, client, trouble):
        server.answers = [trouble, (201, OBJECT)]
        with pytest.raises(ApiError):
            client.create(CONFIG_MAP, OBJECT)
        assert len(server.seen) == 1

    @pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE", "POST"])
    def test_a_tls_connection_that_breaks_is_treated_like_any_other(self, server, client, monkeypatch, method):
        send, failures = client._http.request, [ApiException(0, "SSLError\nEOF occurred in violation of protocol (_ssl.c:2427)")]
        monkeypatch.setattr(
            client._http, "request", lambda *args, **options: _raise(failures.pop()) if failures else send(*args, **options)
        )
        server.answers = [(200, OBJECT)]
        if method == "POST":
            with pytest.raises(ApiError, match="cannot be reached: SSLError"):
                client.request(method, "/x")
        else:
            assert client.request(method, "/x") == OBJECT

    def test_a_creation_that_an_overloaded_server_rejected_is_repeated(self, server, client):
        server.answers = [(429, status(429, "TooManyRequests")), (503, status(503, "ServiceUnavailable")), (201, OBJECT)]
        assert client.create(CONFIG_MAP, OBJECT) == OBJECT

    def test_a_request_is_repeated_after_the_time_of_retry_after(self, server, client):
        server.answers = [(429, status(429, "TooManyRequests"), {"Retry-After": "1"}), (200, OBJECT)]
        started = time.monotonic()
        client.request("GET", "/x")
        assert time.monotonic() - started >= 1

    @pytest.mark.parametrize("code", [400, 401, 403, 404, 409, 422, 500])
    def test_errors_that_the_server_returns_are_not_retried(self, server, client, code):
        server.answers = [(code, status(code, "Reason", "the server's words", kind="configmaps"))]
        with pytest.raises(ApiError) as raised:
            client.request("GET", "/x")
        error = raised.value
        assert (error.status, error.reason, error.message) == (code, "Reason", "the server's words")
        assert (error.details, error.method, error.path) == ({"kind": "configmaps"}, "GET", "/x")

    def test_a_request_is_repeated_only_for_the_given_seconds(self, server):
        server.answers = [(503, status(503, "ServiceUnavailable", "starting"))] * 100
        started = time.monotonic()
        with pytest.raises(ApiError, match="starting"):
            connect(server.url, retry_seconds=1).request("GET", "/x")
        # All of them would take 200 s.
        assert time.monotonic() - started < 60
        server.answers = [(503, status(503, "ServiceUnavailable"))] * 2
        with pytest.raises(ApiError):
            connect(server.url, retry_seconds=0).request("GET", "/x")
        assert len(server.answers) == 1

    def test_an_html_page_is_reported_as_no_api_server(self, server, client):
        server.answers = [(200, b"<html>login</html>")]
        with pytest.raises(ApiError, match="not a JSON object; is it a Kubernetes API server"):
            client.request("GET", "/x")


class TestWatch:
    def event(self, type, name):
        return json.dumps({"type": type, "object": {"metadata": {"name": name}}}).encode() + b"\n"

    def test_a_watch_returns_whole_events_until_the_connection_ends(self, server, client):
        stream = self.event("ADDED", "a") + self.event("BOOKMARK", "") + b"\n" + self.event("MODIFIED", "b") + b'{"type": "cut'
        server.answers = [(200, stream)]
        seen = [(type, obj["metadata"]["name"]) for type, obj in client.watch(CONFIG_MAP, "n", field_selector="metadata.name=a")]
        assert seen == [("ADDED", "a"), ("MODIFIED", "b")]
        assert server.seen[0].query["watch"] == ["true"]
        assert server.seen[0].query["fieldSelector"] == ["metadata.name=a"]

    def test_a_line_that_a_proxy_cut_off_is_the_end(self, server, client):
        server.answers = [(200, self.event("ADDED", "a") + b'{"type": "MODI\n')]
        assert [type for type, obj in client.watch(CONFIG_MAP, "n")] == ["ADDED"]

    def test_a_watch_from_an_expired_version_is_an_error(self, server, client):
        server.answers = [(200, json.dumps({"type": "ERROR", "object": status(410, "Expired")}).encode() + b"\n")]
        with pytest.raises(ApiError) as raised:
            list(client.watch(CONFIG_MAP, resource_version="1"))
        assert raised.value.status == 410

    def test_an_answer_to_a_watch_that_is_no_stream_is_an_error(self, server, client):
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

    def test_the_kubeconfig_of_the_operators_proxy_gives_basic_authentication(self, server, tmp_path):
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

    def test_host_and_token_are_read_from_the_environment(self, server, monkeypatch):
        monkeypatch.setenv("K8S_AUTH_HOST", server.url)
        monkeypatch.setenv("K8S_AUTH_API_KEY", "from-environment")
        server.answers = [(200, OBJECT)]
        connect(None, api_key=None).get(CONFIG_MAP, "a", "b")
        assert server.seen[0].headers["Authorization"] == "Bearer from-environment"

    @pytest.mark.parametrize(
        ("options", "named"),
        [
            ({"kubeconfig": "FILE", "context": "x"}, "(kubeconfig: FILE and context: x)"),
            ({"kubeconfig": "INLINE"}, "(kubeconfig)"),
            ({"context": "x"}, "(context: x)"),
        ],
    )
    @pytest.mark.parametrize("token", ["from-environment", None])
    def test_a_kubeconfig_beside_a_host_in_the_environment_is_rejected(self, server, monkeypatch, tmp_path, options, named, token):
        """kubernetes.core would go to the host, with its token or the kubeconfig's: on a Platform, to the credential's cluster."""
        path = tmp_path / "kubeconfig"
        path.write_text(json.dumps(self.kubeconfig(server.url, token="of-kubeconfig")))
        monkeypatch.setenv("KUBECONFIG", str(path))
        monkeypatch.setenv("K8S_AUTH_HOST", "https://user:pass@credential.example.com:6443")
        if token:
            monkeypatch.setenv("K8S_AUTH_API_KEY", token)
        given = {"FILE": str(path), "INLINE": self.kubeconfig(server.url, token="of-kubeconfig")}
        options = {name: given.get(value, value) for name, value in options.items()}
        with pytest.raises(InputError) as raised:
            connect(None, api_key=None, **options)
        said = raised.value.message
        assert named.replace("FILE", str(path)) in said
        assert "K8S_AUTH_HOST=https://credential.example.com:6443 in the environment" in said
        assert "Give host, api_key and ca_cert" in said
        assert "launch the job without the cluster's credential" in said
        assert [secret for secret in ("pass@", "of-kubeconfig", "from-environment") if secret in said] == []

    def test_a_host_in_the_options_takes_precedence_over_the_environment(self, server, monkeypatch):
        monkeypatch.setenv("K8S_AUTH_HOST", "https://credential.example.com:6443")
        monkeypatch.setenv("K8S_AUTH_API_KEY", "from-environment")
        server.answers = [(200, OBJECT)]
        connect(server.url, kubeconfig="/nowhere", context="x").get(CONFIG_MAP, "a", "b")
        assert server.seen[0].headers["Authorization"] == "Bearer token"

    def test_a_kubeconfig_without_a_host_in_the_environment_is_used(self, server, monkeypatch, tmp_path):
        """K8S_AUTH_KUBECONFIG, as the operator's jobs have it, and other variables are no other cluster."""
        path = tmp_path / "kubeconfig"
        path.write_text(json.dumps(self.kubeconfig(server.url, token="of-kubeconfig")))
        monkeypatch.setenv("K8S_AUTH_KUBECONFIG", "/somewhere/else")
        monkeypatch.setenv("K8S_AUTH_HOST", "")
        server.answers = [(200, OBJECT)]
        connect(None, api_key=None, kubeconfig=str(path), context="x").get(CONFIG_MAP, "a", "b")
        assert server.seen[0].headers["Authorization"] == "Bearer of-kubeconfig"

    def test_a_host_is_not_set_back_to_that_of_a_kubeconfig_with_a_token(self, server, tmp_path):
        path = tmp_path / "kubeconfig"
        path.write_text(json.dumps(self.kubeconfig("https://other.example.com:6443", token="of-kubeconfig")))
        server.answers = [(200, OBJECT)]
        connect(server.url, api_key=None, kubeconfig=str(path)).get(CONFIG_MAP, "a", "b")
        assert server.seen[0].headers["Authorization"] == "Bearer of-kubeconfig"

    def test_user_and_groups_to_impersonate_are_sent_as_headers(self, server):
        server.answers = [(200, OBJECT)]
        connect(server.url, impersonate_user="somebody", impersonate_groups=["one", "two"]).get(CONFIG_MAP, "a", "b")
        headers = server.seen[0].headers
        assert headers["Impersonate-User"] == "somebody"
        assert headers.get_all("Impersonate-Group") == ["one", "two"]

    def test_the_public_function_of_a_changed_kubernetes_core_is_used(self, server, monkeypatch, tmp_path):
        """Then its public function serves, at the price of its discovery."""
        public = {name: getattr(kubernetes_core, name) for name in ("AUTH_ARG_SPEC", "CoreException", "get_api_client")}
        monkeypatch.setattr(k8s, "client", SimpleNamespace(**public))
        monkeypatch.setenv("TMPDIR", str(tmp_path))  # where the discovery is cached
        monkeypatch.setattr("tempfile.tempdir", None)
        server.answers = [(200, {"gitVersion": "v1"}), (200, {"kind": "APIGroupList", "groups": []}), (200, OBJECT)]
        assert connect(server.url).get(CONFIG_MAP, "a", "b") == OBJECT


class TestBrokenCredentials:
    """The libraries quote them in their tracebacks."""

    @pytest.mark.parametrize(
        ("options", "named"),
        [
            ({"api_key": "t0ken\n"}, "api_key"),
            ({"api_key": "t0ken\r\nX: y"}, "api_key"),
            ({"api_key": "t0ken😀"}, "api_key"),
            ({"impersonate_user": "t0ken\n"}, "impersonate_user"),
            ({"impersonate_groups": ["a", "t0ken€"]}, "impersonate_groups"),
            ({"host": "https://a:t0ken@[::1"}, "host"),
            ({"host": "https://a:t0ken@b", "proxy": "http://a:t0ken@[::1"}, "proxy"),
        ],
    )
    def test_invalid_credentials_are_rejected_and_never_shown(self, server, options, named):
        with pytest.raises(InputError, match=named) as raised:
            connect(options.pop("host", server.url), **options)
        assert "t0ken" not in raised.value.message
        assert server.seen == []


@pytest.mark.parametrize(("date", "year"), [("Tue, 24 Nov 2020 01:02:03 GMT", 2020), ("soon", datetime.now(UTC).year)])
def test_the_time_is_that_of_the_server_if_it_answers_one(server, client, monkeypatch, date, year):
    monkeypatch.setattr(Handler, "date_time_string", lambda self, timestamp=None: date)
    server.answers = [(200, {})]
    client.request("GET", "/api")
    assert (client.server_time().year, client.server_time().tzinfo) == (year, UTC)


def test_a_read_that_gets_no_answer_in_time_is_repeated_and_then_reported(server, client, monkeypatch):
    monkeypatch.setattr(client_module, "READ_TIMEOUT", 0.2)
    started = time.monotonic()
    server.answers = [SILENCE, (200, OBJECT)]
    assert client.get(CONFIG_MAP, "a", "b") == OBJECT
    server.answers = [SILENCE]
    with pytest.raises(ApiError) as raised:
        connect(server.url, retry_seconds=0).request("GET", "/x")
    error = raised.value
    assert error.message == f"{server.url} gave no answer to GET /x in time"
    assert (error.status, error.reason, error.method, error.path, error.never_sent) == (0, "Unreachable", "GET", "/x", False)
    assert len(server.seen) == 3
    assert time.monotonic() - started < client_module.CONNECT_TIMEOUT, "another time was waited"


class TestRefusals:
    """An answer that is not 2xx, as `ApiError`."""

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            (
                (404, b"404 page not found\n"),
                (404, "NotServed", "the API server does not serve /x; is its CustomResourceDefinition installed?"),
            ),
            ((404, {"kind": "Status", "message": "gone"}), (404, "", "gone")),
            ((403, {"kind": "Status", "reason": "Forbidden"}), (403, "Forbidden", "Forbidden")),
            ((500, b" broken \n"), (500, "Internal Server Error", "broken")),
            ((500, b""), (500, "Internal Server Error", "Internal Server Error")),
            ((500, b"x" * 501), (500, "Internal Server Error", "x" * 500)),
            ((400, {"kind": "Other"}), (400, "Bad Request", '{"kind": "Other"}')),
        ],
    )
    def test_an_api_error_has_the_reason_and_message_of_the_answer(self, server, answer, expected):
        server.answers = [answer]
        with pytest.raises(ApiError) as raised:
            connect(server.url, retry_seconds=0).request("GET", "/x")
        error = raised.value
        assert (error.status, error.reason, error.message) == expected
        assert (error.method, error.path, error.never_sent) == ("GET", "/x", False)

    def test_an_unreachable_server_is_reported_as_never_sent(self):
        with pytest.raises(ApiError) as raised:
            connect("http://127.0.0.1:1", retry_seconds=0).request("POST", "/x")
        error = raised.value
        assert (error.status, error.reason, error.method, error.path, error.never_sent) == (0, "Unreachable", "POST", "/x", True)
        assert error.message.startswith("the API server http://127.0.0.1:1 cannot be reached: ")

    def test_an_unresolvable_host_name_is_not_retried(self):
        with pytest.raises(ApiError) as raised:
            connect("http://nobody.invalid:80", retry_seconds=30).request("GET", "/x")
        error = raised.value
        assert (error.status, error.reason, error.method, error.path, error.never_sent) == (0, "Unusable", "GET", "/x", True)
        assert error.message == (
            "the name of the API server in http://nobody.invalid:80 cannot be resolved; check host or the kubeconfig's server"
        )

    def test_a_broken_connection_may_have_been_received(self, server):
        server.answers = [HANG_UP]
        with pytest.raises(ApiError) as raised:
            connect(server.url, retry_seconds=0).request("GET", "/x")
        assert (raised.value.reason, raised.value.never_sent) == ("Unreachable", False)


class TestOperations:
    def test_a_patch_sends_its_subresource_field_manager_and_dry_run(self, server, client):
        server.answers = [(200, OBJECT)] * 2
        assert client.json_patch(CONFIG_MAP, "a", "b", [{"op": "test"}], "me", dry_run=True, subresource="status") == OBJECT
        client.json_patch(CONFIG_MAP, "a", "b", [])
        first, second = server.seen
        assert (first.method, first.path) == ("PATCH", "/api/v1/namespaces/b/configmaps/a/status")
        assert first.query == {"fieldManager": ["me"], "fieldValidation": ["Strict"], "dryRun": ["All"]}
        assert first.headers["Content-Type"] == "application/json-patch+json"
        assert json.loads(first.body) == [{"op": "test"}]
        assert second.query == {"fieldManager": ["osso.scheduler"], "fieldValidation": ["Strict"]}
        assert client.requests == {"read": 0, "write": 1, "dry_run": 1}

    def test_a_deletion_sends_its_options_and_accepts_a_missing_object(self, server, client):
        server.answers = [(200, {"kind": "Status"}), (404, status(404, "NotFound")), (409, status(409, "Conflict"))]
        assert client.delete(CONFIG_MAP, "a", "b", grace_period=0, dry_run=True, propagation="Foreground") == {"kind": "Status"}
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Foreground",
            "gracePeriodSeconds": 0,
            "dryRun": ["All"],
        }
        assert json.loads(server.seen[0].body) == options
        assert server.seen[0].query == {"dryRun": ["All"]}
        assert client.delete(CONFIG_MAP, "a", "b") is None
        assert json.loads(server.seen[1].body) == {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        with pytest.raises(ApiError):
            client.delete(CONFIG_MAP, "a", "b")

    def test_a_missing_object_is_none_and_another_error_is_not(self, server, client):
        server.answers = [(404, status(404, "NotFound")), (403, status(403, "Forbidden"))]
        assert client.get(CONFIG_MAP, "a", "b") is None
        with pytest.raises(ApiError):
            client.get(CONFIG_MAP, "a", "b")

    def test_the_client_reads_groups_the_version_and_texts(self, server, client):
        groups = [{"name": "apps", "versions": [{"version": "v1"}, {"version": "v1beta1"}]}, {"name": "batch", "versions": []}]
        server.answers = [(200, {"groups": groups}), (200, {}), (200, {"gitVersion": "v1.34.1"}), (200, {}), (200, b"a\xffb")]
        assert client.groups() == {"apps": ["v1", "v1beta1"], "batch": []}
        assert client.groups() == {}
        assert (client.version(), client.version()) == ("v1.34.1", "")
        assert client.text("/log", {"tailLines": 5, "previous": None}) == "a\ufffdb"
        assert [one.path for one in server.seen] == ["/apis", "/apis", "/version", "/version", "/log"]
        assert server.seen[-1].query == {"tailLines": ["5"]}

    def test_a_list_sends_its_selectors_and_requests_only_metadata(self, server, client):
        server.answers = [(200, {"items": None})]
        assert client.list(CONFIG_MAP, "b", label_selector="a=b", field_selector="c=d", metadata_only=True) == []
        seen = server.seen[0]
        assert seen.query == {"limit": ["500"], "labelSelector": ["a=b"], "fieldSelector": ["c=d"]}
        assert seen.headers["Accept"] == "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

    def test_a_watch_sends_its_selectors_version_and_timeout(self, server, client):
        server.answers = [(200, b"")] * 2
        assert list(client.watch(CONFIG_MAP, "b", label_selector="a=b", resource_version="7", timeout=9.9)) == []
        assert list(client.watch(CONFIG_MAP, timeout=0.1)) == []
        first, second = (one.query for one in server.seen)
        assert first == {"watch": ["true"], "timeoutSeconds": ["9"], "labelSelector": ["a=b"], "resourceVersion": ["7"]}
        assert second == {"watch": ["true"], "timeoutSeconds": ["1"]}

    def test_an_error_in_a_watch_has_all_of_its_status(self, server, client):
        errors = [status(410, "Expired", "old", a=1), {}]
        server.answers = [(200, json.dumps({"type": "ERROR", "object": one}).encode() + b"\n") for one in errors]
        found = []
        for _again in errors:
            with pytest.raises(ApiError) as raised:
                list(client.watch(CONFIG_MAP, "b"))
            error = raised.value
            found.append((error.status, error.reason, error.message, error.details, error.method, error.path))
        place = ("GET", "/api/v1/namespaces/b/configmaps")
        assert found == [(410, "Expired", "old", {"a": 1}, *place), (500, "", "", {}, *place)]

    def test_the_host_of_a_client_contains_no_credentials(self, server):
        url = server.url.replace("http://", "http://owner@")
        assert connect(url).host == server.url


def test_only_a_missing_or_unauthorized_answer_causes_another_request(server, client):
    for code in (403, 500, 503):
        raise_if_gone(client, ApiError(code, "", ""))
    assert server.seen == []
    for code in (0, 401):
        server.answers = [(200, {})]
        raise_if_gone(client, ApiError(code, "", ""))
    assert [one.path for one in server.seen] == ["/version"] * 2
    server.answers = [(401, status(401, "Unauthorized"))]
    with pytest.raises(ApiError):
        raise_if_gone(client, ApiError(0, "", ""))
