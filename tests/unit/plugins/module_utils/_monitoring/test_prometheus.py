# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The HTTP client for Prometheus, with servers in moods that a real one has too seldom. Real ones are in tests/integration."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import parse_qs

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring import prometheus
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.preflight import Options, inspect_prometheus
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.prometheus import (
    CertificateError,
    Prometheus,
    PrometheusError,
    Sample,
    bypasses_proxy,
    first_that_verifies,
    roots,
    verifying,
)
from support.certificates import Authority

VECTOR = {"status": "success", "data": {"resultType": "vector", "result": [{"metric": {"instance": "n"}, "value": [1, "0.25"]}]}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        self.server.seen.append(SimpleNamespace(method=self.command, path=self.path, form=parse_qs(body), headers=dict(self.headers)))
        status, content, headers = (*self.server.answers.pop(0), {})[:3]
        content = content.encode() if isinstance(content, str) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = answer

    def log_message(self, *_args):
        pass


@contextmanager
def serving(context=None):
    """An HTTP server that gives the next of its `answers` each time, over TLS with a context."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.handle_error = lambda *_args: None
        server.answers, server.seen = [], []
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        server.url = "{0}://127.0.0.1:{1}".format("https" if context else "http", server.server_address[1])
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server():
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


def failure(connection, *args, **options) -> PrometheusError:
    with pytest.raises(PrometheusError) as error:
        connection.query(*args, **options)
    return error.value


def test_queries_are_sent_by_post_or_get_with_the_token(server):
    server.answers += [(200, VECTOR), (200, VECTOR)]
    connection = Prometheus(f"{server.url}/prefix/", token="t0ken")
    assert connection.query('a{b="c"}') == [Sample({"instance": "n"}, 0.25)]
    assert connection.query("d", method="GET") == [Sample({"instance": "n"}, 0.25)]
    post, get = server.seen
    assert (post.method, post.path, post.form) == ("POST", "/prefix/api/v1/query", {"query": ['a{b="c"}']})
    assert (get.method, get.path) == ("GET", "/prefix/api/v1/query?query=d")
    assert {seen.headers["Authorization"] for seen in server.seen} == {"Bearer t0ken"}


@pytest.mark.parametrize("status", [405, 501])
def test_a_query_that_is_rejected_by_post_is_sent_by_get(server, status):
    server.answers += [(status, "no"), (200, VECTOR)]
    assert Prometheus(server.url).query("a") == [Sample({"instance": "n"}, 0.25)]
    assert [seen.method for seen in server.seen] == ["POST", "GET"]


def test_port_0_is_not_the_default_port():
    assert failure(Prometheus("http://127.0.0.1:0"), "a").message.startswith("127.0.0.1:0 cannot be reached")


@pytest.mark.parametrize(
    ("proxy", "said"),
    [
        ("http://u:s3cret@127.0.0.1:1", "prometheus.example:80 cannot be reached through the proxy 127.0.0.1:1 of the environment: "),
        ("http://u:s3cret@proxy.invalid:1", "the name proxy.invalid cannot be resolved here"),
    ],
)
def test_a_proxy_that_cannot_be_reached_is_named(monkeypatch, proxy, said):
    monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(PrometheusError) as raised:
        Prometheus("http://prometheus.example", timeout=5).query("up")
    assert said in str(raised.value)
    assert "s3cret" not in str(raised.value)


def test_credentials_in_the_url_of_a_proxy_are_sent_to_it(server, monkeypatch):
    monkeypatch.setenv("http_proxy", server.url.replace("//", "//us%65r:pass@"))
    server.answers.append((200, VECTOR))
    Prometheus("http://prometheus.example.com:9090", token="t0ken").query("a")
    assert server.seen[0].path == "http://prometheus.example.com:9090/api/v1/query"
    assert server.seen[0].headers["Proxy-Authorization"] == "Basic dXNlcjpwYXNz"


@pytest.mark.parametrize(
    ("host", "no_proxy", "expected"),
    [
        ("10.1.2.3", "10.0.0.0/8", True),
        ("11.1.2.3", "10.0.0.0/8", False),
        ("fd00::1", "fd00::/8", True),
        ("10.1.2.3", "10.1.2.3", True),
        ("10.1.2.3", "10.1.2.3:443", False),
        ("10.1.2.3", "10.1.2.3:9091", True),
        ("fd00::1", "[fd00::1]:9091", True),
        ("prometheus.example.com", "example.com", True),
        ("example.com", "example.com", True),
        ("example.com", ".example.com", False),
        ("a.example.com", "*.example.com", True),
        ("notexample.com", "example.com", False),
        ("a.example.com", "other.com, example.com:9091", True),
        ("a.example.com", "*", True),
        ("localhost", "", True),
        ("127.0.0.9", "", True),
        ("a.example.com", "", False),
    ],
)
def test_hosts_without_a_proxy_are_those_of_go(host, no_proxy, expected):
    assert bypasses_proxy(host, 9091, no_proxy) is expected


def test_without_a_token_there_is_no_header(server):
    server.answers.append((200, VECTOR))
    Prometheus(server.url).query("a")
    assert "Authorization" not in server.seen[0].headers


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        ((401, "Unauthorized"), "unauthorized", "(401)"),
        ((403, "Forbidden (user=x, verb=create, resource=prometheuses, subresource=api)"), "forbidden", "(403)"),
        ((302, "", {"Location": "https://login.example.com/oauth"}), "not-prometheus", "a redirection to login.example.com (302)"),
        ((200, "<html>Welcome</html>"), "not-prometheus", "no answer of Prometheus"),
        ((200, {"hello": 1}), "not-prometheus", "no answer of Prometheus"),
        ((404, "404 page not found"), "not-prometheus", "(404)"),
        ((503, "<html>Application is not available</html>"), "unavailable", "(503): an HTML page"),
        ((400, {"status": "error", "error": "parse error"}), "query-refused", "parse error"),
    ],
)
def test_an_answer_without_a_result_is_an_error_with_its_code(server, answer, code, said):
    server.answers.append(answer)
    error = failure(Prometheus(server.url), "a")
    assert error.code == code
    assert said in error.message
    if code == "forbidden":
        assert "verb=create" in error.text


def test_a_connection_that_was_closed_meanwhile_is_opened_again(server):
    server.answers += [(200, VECTOR, {"Connection": "close"}), (200, VECTOR)]
    connection = Prometheus(server.url)
    assert connection.query("a") == connection.query("a")


@pytest.mark.parametrize("url", ["prometheus:9090", "ftp://x", "https://", "http://x:99999", "/path"])
def test_an_invalid_url_is_rejected(url):
    with pytest.raises(PrometheusError) as error:
        Prometheus(url)
    assert (error.value.code, url in error.value.message) == ("bad-url", True)


def test_an_unreachable_server_is_reported():
    # The port is nobody else's meanwhile.
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        error = failure(Prometheus(f"http://127.0.0.1:{port}"), "a")
    assert (error.code, f"127.0.0.1:{port} cannot be reached" in error.message) == ("unreachable", True)


def test_an_unknown_host_name_is_an_error():
    error = failure(Prometheus("https://prometheus-k8s.openshift-monitoring.svc.invalid:9091"), "a")
    assert error.code == "unresolved"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_server_that_accepts_and_never_answers_is_an_error(scheme):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        start = time.monotonic()
        connection = Prometheus(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}", timeout=0.5)
        if scheme == "http":
            connection.connect()
        assert failure(connection, "a").code == "no-answer"
        assert time.monotonic() - start < 5


def test_an_https_url_of_a_server_without_tls_is_an_error(server):
    error = failure(Prometheus(server.url.replace("http:", "https:")), "a")
    assert (error.code, "does not speak TLS" in error.message) == ("unreachable", True)


def test_only_the_right_authority_verifies_the_certificate(authority, tmp_path):
    other = Authority(tmp_path)
    with serving(authority.context("127.0.0.1")) as server:
        connection = Prometheus(server.url)
        for wrong in (None, other.pem):
            with pytest.raises(CertificateError) as error:
                connection.connect(verifying(wrong))
            assert error.value.with_other_authority
        assert server.seen == [], "nothing is sent to a server that is not verified"
        server.answers.append((200, VECTOR))
        connection.connect(verifying(authority.pem))
        assert connection.query("a")


@pytest.mark.parametrize(("name", "days", "said"), [("elsewhere.example.com", 1, "127.0.0.1"), ("127.0.0.1", -1, "expired")])
def test_a_certificate_error_that_no_other_ca_can_fix_is_reported(authority, name, days, said, tmp_path):
    with serving(authority.context(name, days=days)) as server:
        tried = []
        outcome = first_that_verifies(
            lambda context: Prometheus(server.url).connect(context),
            (tried.append(source) or (source, pem) for source, pem in (("first", authority.pem), ("second", Authority(tmp_path).pem))),
        )
        assert isinstance(outcome, CertificateError)
        assert (said in outcome.message, outcome.with_other_authority, tried) == (True, False, ["first", "second"])


def test_the_first_authority_that_verifies_the_certificate_is_returned(authority):
    with serving(authority.context("127.0.0.1")) as server:
        connect = Prometheus(server.url).connect
        authorities = [
            ("machine", None),
            ("ConfigMap a/b", "no certificate"),
            ("ConfigMap c/d", authority.pem),
            ("never", None),
        ]
        assert first_that_verifies(connect, authorities) == ("ConfigMap c/d", authority.pem)
        assert "ConfigMap a/b holds no certificates" in first_that_verifies(connect, authorities[:2]).message
        assert first_that_verifies(connect, []).message == "no authority is known that could verify the certificate"


def test_a_given_certificate_verifies_though_it_is_no_root(authority):
    certificate, key = authority.certificate("127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serving(context) as server:
        pem = certificate.read_text()
        assert first_that_verifies(Prometheus(server.url).connect, [("given", pem)]) == ("given", pem)


def test_only_certificates_that_signed_themselves_are_roots(authority, tmp_path):
    """Others are renewed often, and would soon be worthless to whoever got them."""
    certificate, _key = authority.certificate("127.0.0.1")
    other = Authority(tmp_path)
    bundle = (
        f"# a comment\n{certificate.read_text()}{authority.pem}-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n{other.pem}"
    )
    assert roots(bundle) == authority.pem + other.pem
    assert roots("no certificate") == ""


def test_an_authority_that_has_expired_may_have_a_successor(authority):
    with serving(authority.context("127.0.0.1")) as server:
        connect = Prometheus(server.url).connect
        assert first_that_verifies(connect, [("old", authority.expired()), ("new", authority.pem)]) == ("new", authority.pem)


@pytest.mark.parametrize(("token", "usable"), [("", False), ("t0ken", None)])
def test_load_watcher_without_a_token_always_verifies_certificates(authority, token, usable):
    """NewPromClient of load-watcher v0.2.4 drops the transport that does not verify, where there is no token."""
    with serving(authority.context("127.0.0.1")) as server:
        server.answers += [(200, VECTOR)] * 9
        options = {"url": server.url, "token": token, "insecure_skip_verify": True, "prometheus_ca": None, "plugins": [], "timeout": 5}
        result = inspect_prometheus(
            Options(**options),
            lambda: SimpleNamespace(resource=lambda *_kind: None, list=lambda *_args, **_options: [], get=lambda *_args: None),
        )
    found = {finding["severity"] for finding in result["findings"] if finding["code"] == "certificate-not-verified"}
    assert found == {"error" if usable is False else "warning"}, result["findings"]
    assert result["tls_verified"] is False


def test_the_proxy_of_the_environment_is_used(server, monkeypatch):
    monkeypatch.setenv("http_proxy", server.url)
    server.answers.append((200, VECTOR))
    assert Prometheus("http://prometheus.example.com:9090/p").query("a")
    assert server.seen[0].path == "http://prometheus.example.com:9090/p/api/v1/query"
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server.answers.append((200, VECTOR))
    Prometheus(f"{server.url}/direct").query("a")
    assert server.seen[1].path == "/direct/api/v1/query"


class ClusterWithAuthority:
    """Has the authority of its Routes in a ConfigMap, or refuses to show it."""

    def __init__(self, pem):
        self.pem = pem

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def get(self, resource, name, namespace):
        assert resource.kind == "ConfigMap"
        if self.pem is None:
            raise ApiError(403, "Forbidden", "message")
        return {"data": {"ca-bundle.crt": self.pem}} if name == "default-ingress-cert" else None


@pytest.mark.parametrize(
    ("readable", "option", "expected"),
    [
        (True, {}, "ConfigMap openshift-config-managed/default-ingress-cert"),
        (False, {}, "the certificate authorities of this host"),
        (True, {"cluster_ca": False}, "the certificate authorities of this host"),
    ],
)
def test_the_scheduler_gets_the_ca_of_the_cluster_though_this_host_trusts_it(readable, option, expected, authority, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.path))
    with serving(authority.context("127.0.0.1")) as server:
        server.answers.append((200, VECTOR))
        cluster = ClusterWithAuthority(authority.pem if readable else None)
        result = inspect_prometheus(Options(url=server.url, plugins=[]), lambda: cluster, **option)
    assert (result["tls_verified"], result["ca_from"]) == (True, expected)
    assert result["ca"] == (authority.pem if "ConfigMap" in expected else None)
    assert [finding for finding in result["findings"] if finding["code"] == "not-allowed"] == []


def test_given_proxies_are_used_instead_of_those_of_the_environment(server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    server.answers += [(200, VECTOR)] * 2
    Prometheus("http://prometheus.example.com:9090", proxies={"http": server.url}).query("a")
    assert server.seen[0].path == "http://prometheus.example.com:9090/api/v1/query"
    monkeypatch.setattr(prometheus, "bypasses_proxy", lambda *_options: False)
    Prometheus(server.url, proxies={}).query("a")
    assert server.seen[1].path == "/api/v1/query"
