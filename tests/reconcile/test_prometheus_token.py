# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A token for Prometheus that has expired: it is in the status, and the next one replaces it."""

from __future__ import annotations

import json
import threading
import time
from base64 import b64decode, urlsafe_b64encode
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from conformance.operator.steps import patch
from support.scheduler import Scheduler

HOUR = 3600
LONG_AGO = {"osso.scheduler/token-issued": "2026-01-01T00:00:00Z", "osso.scheduler/token-expires": "2026-01-02T00:00:00Z"}


def claims(token) -> dict:
    body = token.split(".")[1]
    return json.loads(b64decode(body + "=" * (-len(body) % 4), altchars=b"-_"))


def web_token(expires) -> str:
    """As an API server signs them; nobody verifies the signature here."""
    parts = ({"alg": "none"}, {"sub": "system:serviceaccount:ns:reader", "exp": int(expires)})
    return ".".join(urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + ".signature"


class Guarded(BaseHTTPRequestHandler):
    """Answers like a Prometheus without metrics behind kube-rbac-proxy: 401 for a token that has expired."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        token = self.headers["Authorization"].removeprefix("Bearer ")
        is_valid = claims(token)["exp"] > time.time()
        body = json.dumps({"status": "success", "data": {"resultType": "vector", "result": []}}).encode() if is_valid else b"Unauthorized\n"
        self.send_response(HTTPStatus.OK if is_valid else HTTPStatus.UNAUTHORIZED)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST

    def log_message(self, *_arguments):
        """Nothing: it would be among the output of the tests."""


@pytest.fixture
def prometheus():
    """The URL of one that rejects expired tokens."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Guarded) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def load_aware(new, prometheus):
    """load_aware(source) is a scheduler whose token is from there."""

    def config(scheduler):
        provider = {"type": "Prometheus", "address": "${PROM_URL}", "token": "${PROM_TOKEN}"}
        plugin = {"name": "TargetLoadPacking", "args": {"metricProvider": provider}}
        plugins = {"score": {"enabled": [{"name": plugin["name"]}]}}
        profile = {"schedulerName": scheduler.scheduler_name, "plugins": plugins, "pluginConfig": [plugin]}
        return json.dumps({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile]})

    def make(source):
        scheduler = new(config=config)
        annotations = {"osso.scheduler/prometheus-url": prometheus, "osso.scheduler/prometheus-token": source}
        patch(scheduler, "secondaryscheduler", scheduler.name, metadata={"annotations": annotations})
        return scheduler

    return make


def write_secret(scheduler, token):
    metadata = {"name": "given", "namespace": scheduler.namespace}
    scheduler.kubectl.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"token": token}})


def mounted(scheduler) -> dict:
    """The Secret that the pods of the Deployment mount."""
    (volume,) = [one for one in scheduler.deployment["spec"]["template"]["spec"]["volumes"] if one["name"] == "config"]
    return scheduler.get("secret", volume["secret"]["secretName"])


def token_of(scheduler: Scheduler) -> str:
    return b64decode(mounted(scheduler)["data"]["token"]).decode()


def test_an_expired_token_of_a_secret_is_reported_until_the_secret_has_another_one(load_aware, operator):
    scheduler, expired = load_aware("secret/given"), web_token(time.time() - HOUR)
    write_secret(scheduler, expired)
    operator.serve(scheduler)
    status, reason, message = scheduler.condition("MetricsAvailable")
    assert (status, reason) == ("False", "TokenExpired"), message
    assert "The token expired at 20" in message
    assert expired not in json.dumps(scheduler.resource["status"])
    assert token_of(scheduler) == expired
    # No event reports the next token.
    assert operator.reconcile(scheduler).look_again

    write_secret(scheduler, web_token(time.time() + HOUR))
    operator.serve(scheduler)
    assert token_of(scheduler) != expired
    assert scheduler.condition("MetricsAvailable")[1] == "MetricMissing", "the next token is accepted"
    assert scheduler.rollouts() == 2
    assert operator.writes(scheduler) == 0


def test_a_token_that_expired_without_an_operator_is_replaced_by_the_first_reconcile(load_aware, operator, kubectl):
    scheduler = load_aware("serviceaccount/metrics-reader")
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "metrics-reader", "namespace": scheduler.namespace}}
    kubectl.apply(account)
    operator.serve(scheduler)
    before = token_of(scheduler)
    assert operator.writes(scheduler) == 0
    patch(scheduler, "secret", mounted(scheduler)["metadata"]["name"], metadata={"annotations": LONG_AGO})
    operator.serve(scheduler)
    renewed = token_of(scheduler)
    assert claims(renewed)["exp"] > time.time()
    assert renewed != before
    assert scheduler.rollouts() == 2
    assert operator.writes(scheduler) == 0

    # Where nothing can replace it, the status names the cause.
    patch(scheduler, "secret", mounted(scheduler)["metadata"]["name"], metadata={"annotations": LONG_AGO})
    kubectl("delete", "serviceaccount", "metrics-reader", f"--namespace={scheduler.namespace}")
    operator.reconcile(scheduler)
    assert scheduler.condition("Degraded")[:2] == ("True", "PrometheusUnknown")
    remedy = "create it, for example with the role osso.scheduler.monitoring, or correct the annotation osso.scheduler/prometheus-token"
    assert f"metrics-reader does not exist: {remedy}" in scheduler.condition("Degraded")[2]
    assert token_of(scheduler) == renewed
    kubectl.apply(account)
    operator.serve(scheduler)
    assert scheduler.condition("Degraded")[0] == "False"
    assert token_of(scheduler) != renewed
    assert scheduler.rollouts() == 3
    assert operator.writes(scheduler) == 0


def test_a_token_is_not_sent_to_another_address_than_that_of_the_resource(load_aware, operator, kubectl):
    scheduler = load_aware("secret/given")
    write_secret(scheduler, web_token(time.time() + HOUR))
    operator.serve(scheduler)
    before, seen = mounted(scheduler)["metadata"]["name"], []

    class Other(Guarded):
        def do_GET(self):
            seen.append(self.headers["Authorization"])
            super().do_GET()

        do_POST = do_GET

    with ThreadingHTTPServer(("127.0.0.1", 0), Other) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        text = scheduler.get("configmap", scheduler.name)["data"]["config.yaml"]
        scheduler.write_config(text.replace("${PROM_URL}", f"http://127.0.0.1:{server.server_port}"))
        operator.reconcile(scheduler)
        server.shutdown()
    status, reason, message = scheduler.condition("Degraded")
    assert (status, reason, seen) == ("True", "PrometheusUnknown", [])
    assert "the token would be sent to another address than that of Prometheus" in message
    assert mounted(scheduler)["metadata"]["name"] == before


def test_an_edited_end_of_a_token_is_repaired_from_the_token(load_aware, operator, kubectl):
    scheduler = load_aware("serviceaccount/metrics-reader")
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "metrics-reader", "namespace": scheduler.namespace}}
    kubectl.apply(account)
    operator.serve(scheduler)
    before, key = mounted(scheduler)["metadata"], "osso.scheduler/token-expires"
    patch(scheduler, "secret", before["name"], metadata={"annotations": {key: "2999-01-01T00:00:00Z"}})
    operator.reconcile(scheduler)
    assert mounted(scheduler)["metadata"]["annotations"][key] == before["annotations"][key]
    assert operator.writes(scheduler) == 0
