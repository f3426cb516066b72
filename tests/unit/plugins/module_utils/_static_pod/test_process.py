# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether the process of a static pod is available, and what its logs report."""

from __future__ import annotations

import math
import os
import socket
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import process
from support.certificates import Authority
from support.processes import started


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(self.server.answers.get(self.path, 404))
        self.end_headers()

    def log_message(self, *_args):
        pass


class Health(ThreadingHTTPServer):
    """The health of a scheduler: its answers by path, 404 for others."""

    def __init__(self, context):
        super().__init__(("127.0.0.1", 0), Handler)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.answers = {}

    def handle_error(self, request, client_address):
        """Connections that the tests break are no news."""


@pytest.fixture(scope="module")
def running_server(tmp_path_factory):
    with Health(Authority(tmp_path_factory.mktemp("health")).context("127.0.0.1")) as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def server(running_server):
    running_server.answers = {"/livez": 200, "/readyz": 200}
    return running_server


@pytest.fixture
def start():
    """Start a process with an unusual command line: the process and that line."""
    running = []

    def start(argv=None):
        argv = argv or ["sleep", f"60.{uuid.uuid4().int % 10**9:09}"]
        running.append(started(argv))
        return running[-1], argv

    yield start
    for one in running:
        one.kill()
        one.wait()


@pytest.mark.parametrize(
    ("answers", "seen"),
    [
        ({"/livez": 200, "/readyz": 200}, ""),
        ({"/livez": 200, "/readyz": 503, "/healthz": 200}, "/readyz on ADDRESS answers 503"),
        ({"/livez": 500, "/readyz": 200, "/healthz": 200}, "/livez on ADDRESS answers 500"),
        ({"/healthz": 200}, ""),
        ({"/livez": 200, "/healthz": 200}, ""),
        ({"/healthz": 500}, "/healthz on ADDRESS answers 500"),
        ({}, "ADDRESS answers 404"),
    ],
)
def test_the_health_of_a_scheduler_comes_from_its_health_endpoints(server, answers, seen):
    server.answers = answers
    host, port = server.server_address
    assert process._health((host, port)) == seen.replace("ADDRESS", f"{host}:{port}")


def test_a_port_where_nothing_listens_is_reported(server):
    # It is nobody else's meanwhile.
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        host, port = unused.getsockname()
        seen = process._health((host, port))
    assert seen == f"/livez on {host}:{port} answers nothing ([Errno 111] Connection refused)"


def test_a_process_that_stays_well_is_awaited(server, start, monkeypatch):
    monkeypatch.setattr(process, "STABLE_SECONDS", 0.1)
    _one, argv = start()
    began = time.monotonic()
    assert process.await_one(argv, [], server.server_address, 30) == ""
    assert 0.1 <= time.monotonic() - began < 20


def test_the_last_observation_is_the_reason(server, start, monkeypatch):
    one, argv = start()
    _other, others = start()
    address = server.server_address
    assert process.await_one(argv, [], address, 0) == "it was not well for long enough"
    assert process.await_one(argv, [others], address, 0) == "the process before still runs"
    assert process.await_one(argv, [["no-such-program"]], address, 0, [one.pid]) == "the process before still runs"
    assert process.await_one(["no-such-program"], [], address, 0) == "0 processes run with the manifest's command line"
    server.answers = {"/livez": 503}
    assert process.await_one(argv, [], address, 0).endswith(" answers 503")
    start(argv)
    assert process.await_one(argv, [], address, 0) == "2 processes run with the manifest's command line"


@pytest.fixture
def clock(monkeypatch):
    """The time, which passes only by waiting. `at`: what happens after so many waits."""

    class Clock:
        now, waits = 1000.0, 0

        def __init__(self):
            self.at = {}

        def monotonic(self):
            return self.now

        def sleep(self, seconds):
            self.now += seconds
            self.waits += 1
            self.at.get(self.waits, lambda: None)()

    found = Clock()
    monkeypatch.setattr(process, "time", found)
    return found


def test_the_wait_restarts_if_the_process_is_replaced_or_unhealthy(server, start, clock):
    one, argv = start()

    def replace():
        one.kill()
        one.wait()
        start(argv)

    # Well since 0, another process since 4, not well at 8, well since 8.2: 5 seconds are over at 13.2.
    clock.at = {20: replace, 40: lambda: server.answers.update({"/livez": 500}), 41: lambda: server.answers.update({"/livez": 200})}
    assert process.await_one(argv, [], server.server_address, 60) == ""
    assert clock.now - 1000 == pytest.approx(13.2, abs=0.3)


def test_the_wait_for_a_process_ends_at_its_timeout(server, start, clock):
    _one, argv = start()
    assert process.await_one(argv, [], server.server_address, 4) == "it was not well for long enough"
    assert clock.now - 1000 == pytest.approx(4, abs=0.3)


def test_logs_of_starts_before_do_not_count(server, clock, tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.log").touch()

    def started(number):
        return (tmp_path / f"{number}.log").touch

    clock.at = {5: started(3), 10: started(4), 15: started(5)}
    wrong = process.await_one(["no-such-program"], [], server.server_address, 60, logs=str(tmp_path / "*.log"))
    assert wrong == "kubelet started it 3 times, and it ended each time"
    # Five seconds after the last start
    assert clock.now - 1000 == pytest.approx(8.2, abs=0.3)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"2026-11-25T10:00:00Z stdout F one\n2026-11-25T10:00:01Z stderr F two words\n", "two words"),
        (b"2026-11-25T10:00:01Z stderr P a part", "a part"),
        (b"plain \xff text\n\n", "plain � text"),
        (b"x" * 5000 + b"\nlast\n", "last"),
        (b"x" * 5000, "x" * 4096),
        (b"", ""),
        (b" \n", ""),
    ],
)
def test_the_last_line_of_the_youngest_log_is_read(tmp_path, content, words):
    for name, text, at in (("0.log", b"older", 100), ("1.log", content, 300), ("2.log", b"older, too", 200)):
        (tmp_path / name).write_bytes(text)
        os.utime(tmp_path / name, (at, at))
    assert process.last_words(str(tmp_path / "*.log")) == words


def test_a_missing_log_has_no_last_message(tmp_path):
    assert process.last_words(str(tmp_path / "*.log")) == ""
    (tmp_path / "0.log").mkdir()
    assert process.last_words(str(tmp_path / "*.log")) == ""


def test_a_process_that_has_ended_has_no_age(start, tmp_path):
    began = time.time()
    one, _argv = start()
    assert 0 <= process._age(one.pid, time.clock_gettime(time.CLOCK_BOOTTIME)) < 60
    file = tmp_path / "file"
    file.touch()
    os.utime(file, (began, began))
    assert process.older_than(str(file), [one.pid]) == []
    os.utime(file, (time.time() + 5, time.time() + 5))
    assert process.older_than(str(file), [one.pid]) == [one.pid]
    one.kill()
    one.wait()
    assert process._age(one.pid, 0) == -math.inf


def test_paths_on_different_file_systems_are_rejected(tmp_path):
    process.same_file_system(str(tmp_path), str(tmp_path))
    with pytest.raises(InputError, match=f"^{tmp_path} and /proc are on different file systems, so the manifest cannot be replaced in one"):
        process.same_file_system(str(tmp_path), "/proc")
