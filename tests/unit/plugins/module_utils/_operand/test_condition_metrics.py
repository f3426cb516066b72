# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the runner makes of the requests is seen on the cluster: tests/integration/test_operator_service.py."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._operand.condition_metrics import ADDRESS, TYPES, forget, payloads, post


def condition(kind, status, reason="AsExpected"):
    return {"type": kind, "status": status, "reason": reason, "message": "", "lastTransitionTime": "2026-11-21T00:00:00Z"}


NAMES = {"namespace": "team", "name": "cluster"}


class Runner(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.taken.append((self.path, self.client_address, json.loads(body)))
        text = b"no" if self.server.status != 200 else b""
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def runner(monkeypatch):
    with HTTPServer(("127.0.0.1", 0), Runner) as server:
        server.taken, server.status = [], 200
        monkeypatch.setenv(ADDRESS, f"http://127.0.0.1:{server.server_address[1]}/metrics")
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield server
        server.shutdown()


def actions(runner):
    return [(body["name"], body["gauge"]) for _path, _client, body in runner.taken]


@pytest.mark.parametrize(
    ("status", "reason", "gauges"),
    [
        ("True", "AsExpected", [{"set": 1}]),
        # The runner takes no 0. In between it is Unknown, which alarms nobody.
        ("False", "AsExpected", [{"set": -1}, {"increment": True}]),
        ("Unknown", "ImageUnknown", [{"set": -1}]),
        ("False", "Removed", [{"set": -1}]),
    ],
)
def test_the_gauge_of_a_condition_follows_its_status(runner, status, reason, gauges):
    assert post(NAMES, [condition("Available", status, reason)]) is None
    name = "osso_secondaryscheduler_condition:Available:team:cluster"
    assert [gauge for of, gauge in actions(runner) if of == name] == gauges


def test_every_condition_has_its_gauge_and_all_use_one_connection(runner):
    assert post(NAMES, [condition("Available", "True"), condition("Degraded", "True")]) is None
    assert [name.split(":")[1] for name, _gauge in actions(runner)] == list(TYPES)
    # One that has gone, such as MetricsAvailable without a plugin that needs metrics, would keep its last value.
    assert [gauge for name, gauge in actions(runner) if ":MetricsAvailable:" in name] == [{"set": -1}]
    assert {path for path, _client, _body in runner.taken} == {"/metrics"}
    assert len({client for _path, client, _body in runner.taken}) == 1


def test_forget_resets_every_gauge_that_was_posted(runner):
    assert post(NAMES, [condition(kind, "True") for kind in TYPES]) is None
    posted = {name for name, _gauge in actions(runner)}
    runner.taken.clear()
    assert forget(NAMES) is None
    assert actions(runner) == [(name, {"set": -1}) for name in sorted(posted, key=lambda name: TYPES.index(name.split(":")[1]))]


@pytest.mark.parametrize("conditions", [None, []])
def test_without_conditions_nothing_is_sent(runner, conditions):
    assert post(NAMES, conditions) is None
    assert runner.taken == []


def test_no_two_resources_share_a_metric():
    """a dash becomes an underscore for readers that know no other names, and no name of Kubernetes holds one"""
    resources = [("a", "b-c"), ("a", "b.c"), ("a-b", "c"), ("a", "b")]
    bodies = [payloads({"namespace": namespace, "name": name}, {"Degraded": 1}) for namespace, name in resources]
    assert len({body["name"].replace("-", "_") for (body,) in bodies}) == len(resources)


def test_a_rejected_metric_is_reported_and_ends_the_requests(runner):
    runner.status = 400
    told = post(NAMES, [condition("Available", "True"), condition("Degraded", "True")])
    assert told.endswith("did not take osso_secondaryscheduler_condition:Available:team:cluster: 400 no")
    assert len(runner.taken) == 1


def test_an_unreachable_address_is_reported(monkeypatch):
    monkeypatch.setenv(ADDRESS, "http://127.0.0.1:9/metrics")
    assert "127.0.0.1:9" in forget(NAMES)


def test_outside_of_the_operator_nothing_is_sent(runner, monkeypatch):
    monkeypatch.delenv(ADDRESS)
    assert post(NAMES, [condition("Available", "True")]) is None
    assert runner.taken == []
