# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a reconcile reads, and requests, to decide (operand/inputs.py)."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring import preflight
from ansible_collections.osso.scheduler.plugins.module_utils._operand.inputs import Reader
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import image_answer
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.config_validation import Answer
from support.operand import resource

ANNOTATIONS = {
    # Nothing listens there.
    "osso.scheduler/prometheus-url": "http://127.0.0.1:1",
    "osso.scheduler/prometheus-token": "serviceaccount/metrics-reader",
    "osso.scheduler/kubernetes-version": "1.31",
    "osso.scheduler/plugins": "scheduler-plugins",
}


def config(name="load-aware", address="${PROM_URL}"):
    provider = {"type": "Prometheus", "address": address, "token": "${PROM_TOKEN}"}
    plugin = {"name": "TargetLoadPacking", "args": {"metricProvider": provider}}
    profile = {"schedulerName": name, "plugins": {"score": {"enabled": [{"name": plugin["name"]}]}}, "pluginConfig": [plugin]}
    return json.dumps({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile]})


class Cluster:
    """Has a resource, its ConfigMap with this text, and a ServiceAccount whose tokens it counts."""

    def __init__(self, reconciled, text):
        self.reconciled, self.tokens = reconciled, 0
        metadata = {"name": "config", "namespace": "ns", "resourceVersion": "1"}
        self.objects = {
            ("ConfigMap", "config"): {"metadata": metadata, "data": {"config.yaml": text}},
            ("ServiceAccount", "metrics-reader"): {"metadata": {"name": "metrics-reader", "namespace": "ns", "uid": "1"}},
        }

    def groups(self):
        return {}

    def version(self):
        return "1.31"

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def list(self, kind, _namespace=None, **_options):
        return [self.reconciled] if kind.kind == "SecondaryScheduler" else []

    def get(self, kind, name, _namespace=None):
        return self.objects.get((kind.kind, name))

    def request(self, _method, path, **_options):
        assert path.endswith("/serviceaccounts/metrics-reader/token")
        self.tokens += 1
        return {"status": {"token": f"token-{self.tokens}", "expirationTimestamp": "2999-01-01T00:00:00Z"}}


def read(text, annotations=None, **spec):
    """What a reconcile goes by, and how many tokens it requests."""
    reconciled = resource(annotations={**ANNOTATIONS, **(annotations or {})}, **spec)
    cluster = Cluster(reconciled, text)
    return Reader(cluster, reconciled).read(), cluster.tokens


@pytest.mark.parametrize(
    ("text", "spec", "reason"),
    [
        (config(), {"managementState": "Removed"}, "Removed"),
        (config(), {"managementState": "Unmanaged"}, "Unmanaged"),
        (config("default-scheduler"), {}, "DefaultSchedulerRefused"),
        (config(), {"unsupportedConfigOverrides": {"nonsense": True}}, "OverridesInvalid"),
        (config(), {"topology": {"mode": "HighlyAvailable"}}, "NoNodeMatches"),
        (config(address="http://192.0.2.1"), {}, "PrometheusUnknown"),
        (config(), {"annotations": {"osso.scheduler/prometheus-ca": "missing"}}, "PrometheusUnknown"),
    ],
)
def test_no_token_is_requested_for_a_configuration_that_is_not_applied(text, spec, reason):
    inputs, requested = read(text, **spec)
    assert (inputs.decision.reason, requested) == (reason, 0)


def test_the_check_of_an_unknown_image_uses_command_and_secrets_of_the_pods(monkeypatch):
    asked = []

    def answer(client, question, now):
        asked.append(question)
        return Answer(True)

    monkeypatch.setattr(image_answer, "ask_without_waiting", answer)
    unknown = {"osso.scheduler/kubernetes-version": "", "osso.scheduler/plugins": ""}
    given = {"command": ["/scheduler"], "imagePullSecrets": [{"name": "registry"}]}
    for overrides in ({}, given):
        inputs, _requested = read(
            config(), annotations=unknown, schedulerImage="example.com/scheduler:7", unsupportedConfigOverrides=overrides
        )
        assert inputs.facts.config.image_answer == Answer(True)
    found = [(question.command, question.pull_secrets) for question in asked]
    assert found == [(("/bin/kube-scheduler",), ()), (("/scheduler",), ("registry",))]


def test_a_token_is_requested_for_a_configuration_that_is_applied():
    inputs, requested = read(config())
    assert (inputs.facts.source.token, requested) == ("token-1", 1)


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ([], {"http": "", "https": "", "no": ""}),
        (
            [
                {"name": "HTTPS_PROXY", "value": "http://192.0.2.1:3128"},
                {"name": "https_proxy", "value": "x"},
                {"name": "no_proxy", "value": ".svc"},
            ],
            {"http": "", "https": "http://192.0.2.1:3128", "no": ".svc"},
        ),
        ([{"name": "HTTPS_PROXY", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}], {"http": "", "https": "", "no": ""}),
    ],
)
def test_prometheus_is_queried_only_through_the_proxy_of_the_scheduler(monkeypatch, env, expected):
    """OLM sets that of the cluster in the operator's environment, which the scheduler does not get."""
    asked = []
    monkeypatch.setattr(preflight, "inspect_prometheus", lambda *_more, proxies, **_named: asked.append(proxies) or {"findings": []})
    read(config(), unsupportedConfigOverrides={"env": env})
    assert asked == [expected]


def test_a_load_watcher_queries_prometheus_without_a_proxy(monkeypatch):
    asked = []
    monkeypatch.setattr(preflight, "inspect_prometheus", lambda *_more, proxies, **_named: asked.append(proxies) or {"findings": []})
    args = {"watcherAddress": "${LOAD_WATCHER_URL}"}
    text = json.loads(config())
    text["profiles"][0]["pluginConfig"][0]["args"] = args
    env = [{"name": "HTTP_PROXY", "value": "http://192.0.2.1:3128"}]
    read(json.dumps(text), {"osso.scheduler/load-watcher": "load-watcher:1"}, unsupportedConfigOverrides={"env": env})
    assert asked == [{}]
