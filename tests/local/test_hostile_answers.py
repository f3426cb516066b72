# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Answers that no Prometheus gives, and URLs and tokens that are none: each is a finding, in time and within a size."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring import prometheus as client
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.node_metrics import load_aware
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.preflight import Options, inspect_prometheus
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.prometheus import Prometheus, PrometheusError
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.direct_module import COLLECTIONS

TIMEOUT = 0.5
TOKEN = "t0ken-t0ken"
NODE = {"metadata": {"name": "n"}, "status": {}}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


class Server:
    """Reads the head of each request and a body that it announces, and writes the pieces of `answer` until the other side has enough."""

    def __init__(self):
        self.answer = lambda: iter([b""])
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _address = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=[connection], daemon=True).start()

    def _talk(self, connection):
        try:
            with connection, connection.makefile("rb") as file:
                length = 0
                while line := file.readline().strip():
                    name, _colon, value = line.lower().partition(b":")
                    length = int(value) if name == b"content-length" else length
                file.read(length)
                for piece in self.answer():
                    connection.sendall(piece)
        except OSError:
            pass  # the client has hung up, as it should

    def close(self):
        self._listener.close()


@pytest.fixture(scope="module")
def server():
    server = Server()
    yield server
    server.close()


def whole(body, status="200 OK", headers=""):
    """An answer with that body."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda: iter([f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n{headers}\r\n".encode("latin-1") + content])


def success(data):
    return {"status": "success", "data": data}


def vector(*samples):
    return success({"resultType": "vector", "result": [{"metric": labels, "value": value} for labels, value in samples]})


def examined(url, **options):
    """The result of the module for a cluster of one node, and how long it took."""
    params = {"token": TOKEN, "insecure_skip_verify": False, "prometheus_ca": None, "plugins": load_aware(), "timeout": 30}
    cluster = SimpleNamespace(resource=lambda *_kind: None, list=lambda _resource: [NODE], get=lambda *_name: None)
    start = time.monotonic()
    result = inspect_prometheus(Options(url=url, **{**params, **options}), lambda: cluster)
    assert TOKEN not in json.dumps(result, allow_nan=False, ensure_ascii=False).encode().decode()
    return result, time.monotonic() - start


def errors(result):
    return [finding["code"] for finding in result["findings"] if finding["severity"] == "error"]


UNEXPECTED = {
    "no data": {"status": "success"},
    "null": success(None),
    "a scalar": success({"resultType": "scalar", "result": [1, "0.5"]}),
    "a vector of a scalar": success({"resultType": "vector", "result": [1, "0.5"]}),
    "no number": vector(({"instance": "n"}, [1, "much"])),
    "a number of JSON": vector(({"instance": "n"}, [1, 0.5])),
    "no value": vector(({"instance": "n"}, [])),
    "no labels": vector((None, [1, "0.5"])),
    "a list": [1],
    "deep": b'{"status":"success","data":' + b"[" * 200_000,
    "deep and closed": b"[" * 200_000 + b"]" * 200_000,
    "a long number": b'{"status":"success","data":' + b"9" * 3_000_000 + b"}",
    "UTF-16": json.dumps(success(None)).encode("utf-16"),
}


@pytest.mark.parametrize("name", UNEXPECTED)
def test_an_unexpected_response_is_reported_as_no_prometheus(server, name):
    server.answer = whole(UNEXPECTED[name])
    for options in ({}, {"alerts": ["A"], "plugins": []}):
        result, seconds = examined(server.url, timeout=TIMEOUT, **options)
        assert "not-prometheus" in errors(result)
        assert not result["usable"]
        assert seconds < 20


@pytest.mark.parametrize(
    "groups",
    [1, [1], [{"rules": 1}], [{"rules": [1]}], [{"rules": [{}]}], [{"rules": [{"name": "A", "alerts": [{"labels": 1}]}]}]],
)
def test_rules_of_an_unexpected_form_are_reported_as_no_prometheus(server, groups):
    server.answer = whole({**vector(), "data": {"resultType": "vector", "result": [], "groups": groups}})
    assert errors(examined(server.url, alerts=["A"], plugins=[])[0]) == ["not-prometheus"]


def test_values_that_JSON_does_not_allow_are_findings(server):
    server.answer = whole(vector(({"instance": "n"}, [1, "NaN"]), ({"instance": "\ud800"}, [1, "+Inf"])))
    result, _seconds = examined(server.url)
    assert set(errors(result)) == {"metric-invalid", "metric-stale"}
    assert [metric["other_instances"] for metric in result["metrics"]] == [["\ufffd"]] * 2


@pytest.mark.parametrize("location", ["http://[::1", "https://user:s3cret@[::1]:x/", "http://\u0100", "", "//"])
def test_a_broken_redirection_is_reported_without_its_password(server, location):
    header = f"Location: {location.encode().decode('latin-1')}\r\n"
    server.answer = whole(b"", "302 Found", header)
    result, _seconds = examined(server.url)
    assert errors(result) == ["not-prometheus"]
    assert "s3cret" not in str(result)


def test_an_error_message_that_repeats_the_token_is_redacted(server):
    server.answer = whole({"status": "error", "error": f"Bearer {TOKEN} \ud800"}, "400 Bad Request")
    assert "Bearer ******** \ufffd" in examined(server.url)[0]["findings"][1]["message"]


@pytest.mark.parametrize(
    "url",
    [
        "http://[::1",
        "http://a..b",
        "http://a b",
        "http://a/\n",
        "http://a:s3cret@b:x",
        "http://a:s3/cret@b",
        "a:s3cret@b",
        "http://\ud800",
        "http://a/\ud800",
    ],
)
def test_an_invalid_url_is_reported_without_its_password(url):
    result, _seconds = examined(url)
    assert errors(result) == ["bad-url"]
    assert "s3" not in str(result["findings"])


def test_a_password_in_a_url_is_sent_and_never_shown(server):
    server.answer = whole(b"", "401 Unauthorized")
    url = server.url.replace("//", "//a:s3%20cret@")
    seen = client.credentials_in(url)
    assert seen == {"a:s3%20cret", "s3%20cret", "s3 cret"}
    parameter = "http://h/a?x=1&api_key=s3%2Fcret"
    assert client.credentials_in(parameter) == {"s3%2Fcret", "s3/cret"}
    assert client.without_credentials(parameter) == "http://h/a?x=1&api_key=********"
    assert "s3" not in str(examined(url, token=None)[0]["findings"])


@pytest.mark.parametrize("token", [f"{TOKEN}\n", f"{TOKEN}\r\nX: y", f"{TOKEN}\u20ac", f"{TOKEN} x", f"{TOKEN}\ud800"])
def test_a_token_that_no_header_can_contain_is_reported_without_its_text(server, token):
    result, _seconds = examined(server.url, token=token)
    assert errors(result) == ["token-malformed"]
    with pytest.raises(PrometheusError) as raised:
        Prometheus(server.url, token)
    assert TOKEN not in str(raised.value)


@pytest.mark.parametrize("proxy", ["http://a:s3cret@[::1", "http://a:s3cret@b:x", "http://a..b"])
def test_an_invalid_proxy_is_reported_without_its_password(monkeypatch, proxy):
    monkeypatch.setenv("http_proxy", proxy)
    result, _seconds = examined("http://prometheus.example.com")
    assert errors(result) == ["unreachable"]
    assert "s3cret" not in str(result)


def drip(head, piece=b"x"):
    """Byte after byte, each long before a timeout of the socket."""

    def answer():
        yield head
        while True:
            yield piece
            time.sleep(TIMEOUT / 10)

    return answer


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nX: ",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n",
    ],
)
def test_a_response_that_arrives_byte_by_byte_times_out(server, head):
    server.answer = drip(head)
    result, seconds = examined(server.url, timeout=TIMEOUT)
    assert errors(result) == ["no-answer"]
    assert seconds < 20 * TIMEOUT


def test_a_proxy_response_that_arrives_byte_by_byte_times_out(server, monkeypatch):
    server.answer = drip(b"HTTP/1.1 200 OK\r\nX: ")
    monkeypatch.setenv("https_proxy", server.url)
    result, seconds = examined("https://prometheus.example.com", insecure_skip_verify=True, timeout=TIMEOUT)
    assert errors(result) == ["unreachable"]
    assert seconds < 20 * TIMEOUT


def endless(head, piece):
    def answer():
        yield head
        while True:
            yield piece

    return answer


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", b"x" * 65536),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 65536 + b"\r\n"),
    ],
)
def test_an_endless_response_is_cut_off_after_4_mib(server, head, piece):
    server.answer = endless(head, piece)
    result, _seconds = examined(server.url, timeout=10)
    assert errors(result) == ["not-prometheus"]
    assert "more than 4 MiB" in result["findings"][1]["message"]


@pytest.mark.parametrize("piece", [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\nX: y\r\n\r\n" * 1000])
def test_endless_interim_responses_time_out(server, piece):
    server.answer = endless(b"", piece)
    assert errors(examined(server.url, timeout=TIMEOUT)[0]) == ["no-answer"]


def test_a_response_that_is_cut_off_is_reported_as_unreachable(server):
    content = json.dumps(vector(({"instance": "n"}, [1, "0.5"]))).encode()
    for head in (b"Content-Length: 1000", b"Transfer-Encoding: chunked"):
        server.answer = lambda head=head: iter([b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n" + content])
        assert errors(examined(server.url)[0]) == ["unreachable"]


LARGEST = """
import resource, sys
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring import prometheus
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
before = peak()
connection = prometheus.Prometheus(sys.argv[1], timeout=60)
try:
    connection.query("a")
except prometheus.PrometheusError as error:
    print(error.code)
print(peak() - before)
"""
LISTS = b'{"status":"success","data":{"resultType":"vector","result":[' + b"[]," * 399_000 + b"[]]}}"


@pytest.mark.parametrize(
    "body",
    [
        LISTS.ljust(client._LARGEST),
        b"[" + b"{}," * 1_000_000 + b"{}]",
        # One character takes four bytes in Python's text then.
        ('"\U0001f600' + "x" * (client._LARGEST - 10) + '"').encode(),
        b"x" * client._LARGEST,
        b"x" * client._LARGEST * 10,
    ],
)
def test_a_large_response_takes_at_most_64_mib_of_memory(server, body):
    server.answer = whole(body)
    command = [sys.executable, "-c", LARGEST, server.url]
    done = subprocess.run(command, env={"PYTHONPATH": str(COLLECTIONS)}, capture_output=True, text=True, check=False, timeout=60)
    code, megabytes = done.stdout.split()
    assert code == "not-prometheus"
    assert int(megabytes) <= 64


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5) | st.sampled_from(["NaN", "0.5", "n"])
)
keys = st.sampled_from(
    [
        "status",
        "data",
        "resultType",
        "result",
        "metric",
        "value",
        "instance",
        "error",
        "groups",
        "rules",
        "name",
        "alerts",
        "labels",
        "annotations",
    ]
)
trees = st.recursive(
    scalars, lambda below: st.lists(below, max_size=3) | st.dictionaries(keys | st.text(max_size=3), below, max_size=4), max_leaves=12
)
samples = st.fixed_dictionaries({}, optional={"metric": trees, "value": trees | st.lists(scalars, max_size=3)})
vectors = st.builds(lambda result: success({"resultType": "vector", "result": result}), st.lists(samples, max_size=3) | trees)
rules = st.builds(
    lambda alerts: success({"groups": [{"rules": [{"name": "A", "state": "firing", "alerts": alerts}]}]}),
    st.lists(st.fixed_dictionaries({}, optional={"labels": trees, "annotations": trees, "activeAt": trees, "state": trees}), max_size=2),
)
bodies = st.binary(max_size=200) | st.builds(lambda tree: json.dumps(tree).encode(), trees | vectors | rules)
heads = st.builds(
    lambda status, header, value: f"HTTP/1.1 {status}\r\n{header}: {value}\r\n".encode("utf-8", "replace"),
    st.sampled_from(["200 OK", "200", "204 x", "302 Found", "401 x", "403 x", "500 x", "0 x", "1e3 x", "-1"]),
    st.sampled_from(["Content-Length", "Transfer-Encoding", "Location", "Connection", "X", ""]),
    st.sampled_from(["0", "-1", "99999", "1" * 5000, "chunked", "gzip", "http://[", "close", "keep-alive"]) | st.text(max_size=10),
)
answers = st.builds(lambda head, body: head + b"\r\n" + body, heads, bodies) | st.binary(max_size=100)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(answers, min_size=1, max_size=3) | st.lists(st.builds(lambda body: whole(body)().__next__(), bodies), min_size=1, max_size=4)
)
@example([b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"])
def test_any_response_yields_a_result_in_time(server, given_answers):
    pending = list(given_answers)
    server.answer = lambda: iter([pending.pop(0) if len(pending) > 1 else pending[0]])
    for options in ({}, {"alerts": ["A"], "plugins": []}):
        result, seconds = examined(server.url, timeout=TIMEOUT, **options)
        assert result["usable"] is not None
        assert seconds < 20 * TIMEOUT


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(), max_size=12), st.sampled_from(["", "http://", "https://", "http://[", "https://a:b@", "http://a:"]))
def test_any_text_is_a_valid_url_or_a_finding(text, start):
    try:
        connection = Prometheus(start + text)
    except PrometheusError as error:
        failure = error
    else:
        assert (connection._host + connection._path).isascii()
        return
    assert failure.code == client.BAD_URL
    assert failure.message.encode()
