# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Profiles from a scheduler that answers over TLS. With real schedulers: tests/integration/test_scheduler_pprof.py."""

from __future__ import annotations

import hashlib
import socket
import ssl
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import https, profiles
from ansible_collections.osso.scheduler.plugins.modules import scheduler_pprof
from support.certificates import Authority

GZIP, TRACE = b"\x1f\x8bprofile", b"go 1.25 trace"
TARGET = {"namespace": "n", "pod": "p", "container": "c", "node": "m1", "static": False}
DIGEST = "registry.example.com/a/scheduler@sha256:" + "0" * 64


class Server:
    """An API server with a pod; it fails to create or delete some kinds."""

    def __init__(self, refuses=(), keeps=(), node=None):
        self.refuses, self.keeps, self.node, self.existing = refuses, keeps, node, []

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def get(self, resource, name, namespace=None):
        if resource.kind == "Node":
            if isinstance(self.node, Exception):
                raise self.node
            return self.node
        container = {"name": "c", "image": DIGEST, "command": ["kube-scheduler", "--secure-port=10300"]}
        return {
            "metadata": {"namespace": "n", "name": "p"},
            "spec": {"containers": [container], "nodeName": "m1"},
            "status": {"containerStatuses": [{"name": "c", "containerID": "x://1"}]},
        }

    def create(self, resource, manifest):
        if resource.kind in self.refuses:
            raise ApiError(403, "Forbidden", "not you")
        self.existing.append(resource.kind)

    def delete(self, resource, name, namespace):
        if resource.kind in self.keeps:
            raise ApiError(500, "InternalError", "etcd is gone")
        self.existing.remove(resource.kind)


class Scheduler:
    """Answers a connection with the next of `answers`: (status, body). `seen`: the port, the patience and the request of each."""

    def __init__(self, folder):
        self.authority = Authority(folder)
        self._context = self.authority.context("scheduler.example.com")
        self.fingerprint = hashlib.sha256(ssl.PEM_cert_to_DER_cert((folder / "1.crt").read_text())).hexdigest()
        self.answers, self.seen = [], []

    @contextmanager
    def forwarded(self, _client, namespace, pod, port, patience):
        assert (namespace, pod) == ("n", "p")
        ours, theirs = socket.socketpair()
        ours.settimeout(60)
        same = ours.dup()  # that of TLS is not closed after an error
        thread = threading.Thread(target=self._serve, args=[theirs, port, patience], daemon=True)
        thread.start()
        try:
            yield ours
        finally:
            same.shutdown(socket.SHUT_WR)
            same.close()
            thread.join(60)

    def _serve(self, plain, port, patience):
        try:
            with self._context.wrap_socket(plain, server_side=True) as connection:
                lines = connection.recv(65536).decode().split("\r\n")
                if not lines[0]:
                    return
                self.seen.append((port, patience, lines[0].split()[1], [line for line in lines if line.startswith("Authorization")]))
                code, body = self.answers.pop(0)
                connection.sendall(b"%sContent-Length: %d\r\n\r\n%s" % (b"HTTP/1.1 %d X\r\n" % code, len(body), body))
                # Until the client has closed it
                connection.recv(1)
        except OSError:
            return


@pytest.fixture
def scheduler(tmp_path, monkeypatch):
    folder = tmp_path / "certificates"
    folder.mkdir()
    found = Scheduler(folder)
    monkeypatch.setattr(https.streams, "forwarded", found.forwarded)
    return found


def options(folder, **given):
    defaults = {name: about.get("default") for name, about in scheduler_pprof.OPTIONS.items()}
    about = {"pod": {"namespace": "n", "name": "p", "container": None}, "dest": str(folder), "access": "anonymous"}
    return profiles.Options(**{**defaults, **about, **given})


def no_program(command):
    raise AssertionError(command)


def test_the_plan_lists_the_files_that_would_be_fetched(tmp_path):
    found = profiles.plan(Server(), options(tmp_path, profiles=["heap", "trace"], binary={"skopeo": "skopeo"}))
    assert found == {
        "changed": True,
        "target": TARGET,
        "files": [
            {"profile": "heap", "path": f"{tmp_path}/p.heap.pb.gz", "size": None},
            {"profile": "trace", "path": f"{tmp_path}/p.trace.trace", "size": None},
        ],
        "certificate": None,
        "binary": {"path": f"{tmp_path}/p.kube-scheduler", "size": None, "image": DIGEST},
        "msg": "Would fetch heap, trace from the pod n/p.",
    }
    assert profiles.plan(Server(), options(tmp_path, profiles=["heap"]))["binary"] is None


def test_profiles_are_saved_and_the_permission_is_deleted(scheduler, tmp_path):
    server = Server()
    scheduler.answers = [(200, GZIP), (200, GZIP + b"cpu"), (200, TRACE)]
    found = profiles.run(server, options(tmp_path, profiles=["heap", "cpu", "trace"], seconds=7), no_program)
    assert found == {
        "changed": True,
        "target": TARGET,
        "files": [
            {"profile": "heap", "path": f"{tmp_path}/p.heap.pb.gz", "size": len(GZIP)},
            {"profile": "cpu", "path": f"{tmp_path}/p.cpu.pb.gz", "size": len(GZIP) + 3},
            {"profile": "trace", "path": f"{tmp_path}/p.trace.trace", "size": len(TRACE)},
        ],
        "certificate": {"sha256": scheduler.fingerprint, "verified": False},
        "binary": None,
        "msg": "Fetched heap, cpu, trace from the pod n/p; its certificate was not verified.",
    }
    assert (tmp_path / "p.cpu.pb.gz").read_bytes() == GZIP + b"cpu"
    # Only a profile over some seconds takes that time.
    assert scheduler.seen == [
        (10300, 30, "/debug/pprof/heap", []),
        (10300, 37, "/debug/pprof/profile?seconds=7", []),
        (10300, 37, "/debug/pprof/trace?seconds=7", []),
    ]
    assert server.existing == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"serving_ca": True}, "verified by serving_ca"),
        ({"serving_ca": True, "serving_name": "scheduler.example.com", "port": 9}, "verified by serving_ca"),
        ({"certificate_sha256": True, "serving_ca": True}, "the one of certificate_sha256"),
    ],
)
def test_a_certificate_is_verified_as_the_options_require(scheduler, tmp_path, given, words):
    scheduler.answers = [(200, GZIP)]
    shown = ":".join(scheduler.fingerprint[at : at + 2] for at in range(0, 64, 2)).upper()
    values = {"serving_ca": str(scheduler.authority.path), "certificate_sha256": shown}
    given = {name: values.get(name, value) for name, value in given.items()}
    found = profiles.run(Server(), options(tmp_path, profiles=["heap"], **given), no_program)
    assert found["certificate"] == {"sha256": scheduler.fingerprint, "verified": True}
    assert found["msg"] == f"Fetched heap from the pod n/p; its certificate was {words}."
    assert [port for port, *_rest in scheduler.seen] == [given.get("port", 10300)]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            {"certificate_sha256": "0" * 64},
            "certificate_sha256: the certificate of the scheduler in n/p is another one, with the fingerprint",
        ),
        ({"serving_ca": True, "serving_name": "other.example.com"}, "could not be verified with serving_ca and serving_name: "),
        ({"serving_ca": True, "serving_name": ".example.com"}, r"serving_name: \.example\.com is no name that a certificate can have"),
        ({"serving_ca": "other"}, "could not be verified with serving_ca and serving_name: "),
    ],
)
def test_no_request_is_sent_to_a_server_with_another_certificate(scheduler, tmp_path, given, why):
    (tmp_path / "other").mkdir()
    files = {True: str(scheduler.authority.path), "other": str(Authority(tmp_path / "other").path)}
    given = {name: files.get(value, value) for name, value in given.items()}
    server = Server()
    with pytest.raises(ClusterError, match=why):
        profiles.run(server, options(tmp_path, profiles=["heap"], **given), no_program)
    assert (scheduler.seen, server.existing) == ([], [])


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_serving_ca_without_certificates_is_rejected(tmp_path, content):
    path = tmp_path / "ca.crt"
    if content:
        path.write_text(content)
    server = Server()
    with pytest.raises(InputError, match=f"^serving_ca: {path} contains no readable certificates: "):
        profiles.run(server, options(tmp_path, profiles=["heap"], serving_ca=str(path)), no_program)
    assert server.existing == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((404, b""), "^The scheduler in n/p serves no profiles: they are switched off. Set enableProfiling: true"),
        ((401, b""), r"does not let everybody read its profiles \(HTTP 401\). Use access: token.$"),
        ((403, b""), r"does not let everybody read its profiles \(HTTP 403\). Use access: token.$"),
        ((500, b" out of memory \n"), "answered the question for the heap profile with HTTP 500: out of memory$"),
        ((200, b"<html>"), "answered with something that is no heap profile: b'<html>'. Is port the scheduler's\\?$"),
        ((200, TRACE), "is no heap profile"),
    ],
)
def test_an_answer_without_a_profile_is_an_error_that_names_its_cause(scheduler, tmp_path, monkeypatch, answer, why):
    monkeypatch.setattr(profiles, "_REFUSED_SECONDS", -1)
    server = Server()
    scheduler.answers = [(200, GZIP), answer]
    with pytest.raises(ClusterError, match=why) as error:
        profiles.run(server, options(tmp_path, profiles=["mutex", "heap"]), no_program)
    # What was fetched before stays.
    assert error.value.result == {"files": [{"profile": "mutex", "path": f"{tmp_path}/p.mutex.pb.gz", "size": len(GZIP)}]}
    assert server.existing == []


def test_a_rejected_request_is_repeated(scheduler, tmp_path, monkeypatch):
    waits = []
    monkeypatch.setattr(profiles, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=waits.append))
    scheduler.answers = [(403, b""), (401, b""), (200, GZIP)]
    assert profiles.run(Server(), options(tmp_path, profiles=["heap"]), no_program)["files"][0]["size"] == len(GZIP)
    assert len(waits) == 2


@pytest.mark.parametrize("code", [401, 403])
def test_a_token_that_the_scheduler_does_not_accept_is_explained(tmp_path, code):
    answer = https.Answer(code, b"", "")
    target = profiles._target(Server(), options(tmp_path, profiles=["heap"]))
    message = profiles._refusal(options(tmp_path, profiles=["heap"], access="token"), target, "heap", answer)
    assert message.startswith(
        f"The scheduler in n/p does not let the token read its profiles (HTTP {code}). It must send the token to the API"
    )
    assert message.endswith("Without that, access: anonymous may help.")


def test_failure_and_leftovers_are_in_one_message(scheduler, tmp_path):
    scheduler.answers = [(404, b"")]
    with pytest.raises(ClusterError, match=r"^The scheduler in n/p serves no profiles.* The ClusterRole osso-pprof-\w+ may be left over"):
        profiles.run(Server(keeps=("ClusterRole",)), options(tmp_path, profiles=["heap"]), no_program)
    scheduler.answers = [(200, GZIP)]
    with pytest.raises(ClusterError, match=r"^The ClusterRole osso-pprof-\w+ may be left over \(etcd is gone\)") as error:
        profiles.run(Server(keeps=("ClusterRole",)), options(tmp_path, profiles=["heap"]), no_program)
    assert [one["profile"] for one in error.value.result["files"]] == ["heap"]


def test_without_the_permission_nothing_is_requested(scheduler, tmp_path):
    with pytest.raises(ClusterError, match=r"^The ClusterRole osso-pprof-\w+ for reading profiles could not be created: not you$"):
        profiles.run(Server(refuses=("ClusterRole",)), options(tmp_path, profiles=["heap"]), no_program)
    assert scheduler.seen == []


@pytest.mark.parametrize(
    ("node", "architecture"),
    [
        ({"status": {"nodeInfo": {"architecture": "arm64"}}}, ["--override-arch=arm64"]),
        ({"status": {}}, []),
        ({}, []),
        (None, []),
        (ApiError(403, "Forbidden", "no nodes"), []),
    ],
)
def test_the_program_is_copied_for_the_architecture_of_the_node(scheduler, tmp_path, node, architecture):
    scheduler.answers = [(200, GZIP)]
    commands = []

    def fails(command):
        commands.append(command)
        return 1, "", "unauthorized"

    given = {"auth_file": "/a", "validate_certs": True, "skopeo": "skopeo"}
    with pytest.raises(ClusterError, match=f"binary: the image {DIGEST} could not be copied: unauthorized") as error:
        profiles.run(Server(node=node), options(tmp_path, profiles=["heap"], binary=given), fails)
    assert [one["profile"] for one in error.value.result["files"]] == ["heap"]
    assert commands[0][:-1] == [
        *("skopeo", "--override-os=linux", *architecture, "copy", "--quiet", "--src-tls-verify=true", "--src-authfile=/a"),
        f"docker://{DIGEST}",
    ]


def test_a_port_that_does_not_speak_tls_or_http_is_an_error(tmp_path, monkeypatch):
    target = profiles._target(Server(), options(tmp_path, profiles=["heap"]))
    authority = Authority(tmp_path)
    for context, words in (
        (None, r"^Port 9 of the pod n/p does not speak TLS \(.+\)\. Give the scheduler's --secure-port as port\.$"),
        (authority.context("x"), "^Port 9 of the pod n/p does not speak HTTP: BadStatusLine"),
    ):
        ours, theirs = socket.socketpair()

        def serve(theirs=theirs, context=context):
            with context.wrap_socket(theirs, server_side=True) if context else theirs as connection:
                connection.recv(65536)
                connection.sendall(b"SSH-2.0-OpenSSH\r\n\r\n")

        @contextmanager
        def forwarded(*_arguments, ours=ours):
            yield ours

        monkeypatch.setattr(https.streams, "forwarded", forwarded)
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with pytest.raises(ClusterError, match=words):
            https.get(None, target, 9, "/", https.Peer(https.unverified()), 10)
        thread.join(60)


def test_a_token_is_sent_as_bearer_token(scheduler, tmp_path):
    scheduler.answers = [(204, b"")]
    target = profiles._target(Server(), options(tmp_path, profiles=["heap"]))
    found = https.get(None, target, 9, "/metrics", https.Peer(https.unverified(), token="secret"), 10)
    assert found == (204, b"", scheduler.fingerprint)
    assert scheduler.seen == [(9, 10, "/metrics", ["Authorization: Bearer secret"])]
