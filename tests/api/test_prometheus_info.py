# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""prometheus_info with a real Prometheus behind a real kube-rbac-proxy, reached through a Route as on OpenShift; and without any of it."""

from __future__ import annotations

import base64
import json
import socket
import time
from contextlib import contextmanager

import pytest
from support.access import service_account
from support.certificates import Authority
from support.direct_module import run_directly
from support.kinds import served
from support.monitoring import CPU, MEMORY, READ, Stack, grant
from support.prometheus import NAMESPACE
from support.scheduler import eventually

MODULE = "prometheus_info"


@pytest.fixture(scope="module")
def nodes(kubectl):
    """Three of them, as the API server has them; there is no machine."""
    names = [f"node-{number}" for number in (1, 2, 3)]
    for number, name in enumerate(names):
        status = {"addresses": [{"type": "InternalIP", "address": f"192.0.2.{number + 1}"}]}
        kubectl("create", "--filename=-", stdin={"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status})
    yield names
    kubectl("delete", "nodes", *names)


@pytest.fixture(scope="module")
def stack(own_cluster, kubectl, nodes, tmp_path_factory):
    with Stack.of(own_cluster, kubectl, tmp_path_factory.mktemp("monitoring")) as stack:
        yield stack


@pytest.fixture
def reader(stack, kubectl, namespace):
    """A ServiceAccount that may read metrics, as the option service_account names it."""
    return grant(kubectl, namespace, READ)


@pytest.fixture
def look(stack, kubeconfig):
    """Run the module with few seconds to wait; it must not fail unless `failed` is given, and never print a token."""

    def run(failed=False, **options):
        options = {"timeout": 15, "kubeconfig": str(kubeconfig), **options}
        run = run_directly(MODULE, succeed=not failed, **options)
        assert "eyJhbGci" not in run.output, "a web token begins so"
        return run.result

    return run


def codes(result) -> list[str]:
    return [finding["code"] for finding in result["findings"]]


def finding(result) -> dict:
    (one,) = result["findings"]
    assert one["hint"], "no finding without a remedy"
    return one


def test_a_usable_prometheus_is_found_with_few_requests_and_no_write(look, reader, stack, audit):
    with audit:
        result = look(service_account=reader)
    assert result["findings"] == []
    assert (result["changed"], result["found"], result["usable"], result["authorized"]) == (False, True, True, True)
    assert (result["url"], result["source"]) == (stack.guarded_url, {"kind": "Route", "namespace": NAMESPACE, "name": "prometheus-k8s"})
    assert (result["tls_verified"], result["ca"]) == (True, stack.authority.pem)
    assert result["ca_from"] == "ConfigMap openshift-config-managed/default-ingress-cert"
    assert result["token_from"] == f"TokenRequest for ServiceAccount {reader['namespace']}/{reader['name']}"
    assert result["token_expires"]
    assert "token" not in result
    assert [metric["name"] for metric in result["metrics"]] == result["needed"] == [CPU, MEMORY]
    for metric in result["metrics"]:
        assert [node["name"] for node in metric["nodes"]] == stack.nodes
        assert all(0 <= node["value"] <= 1 and node["age_seconds"] < 30 for node in metric["nodes"])
    assert audit.writes() == []
    requests = audit.requests(agent="OpenAPI-Generator")
    assert 0 < len(requests) <= 12, requests


def test_check_mode_returns_the_same_result(run_module, reader, stack):
    result = run_module(MODULE, {"service_account": reader}, check=True)
    assert (result["failed"], result["usable"], result["findings"]) == (False, True, [])


@pytest.mark.long
def test_the_values_of_a_metric_follow_the_load_of_the_nodes(look, reader, stack):
    stack.exporter.load(stack.nodes[0], cpu=0.9)
    try:
        deadline = time.monotonic() + 60
        while True:
            (metric,) = look(service_account=reader, plugins=["TargetLoadPacking"])["metrics"]
            busy, other = (node["value"] for node in metric["nodes"][:2])
            if busy > other + 0.1:
                break
            assert time.monotonic() < deadline, metric
            time.sleep(1)
    finally:
        stack.exporter.load(stack.nodes[0])


def test_token_is_returned_only_to_a_task_with_no_log(play, reader, stack):
    asking = {"osso.scheduler.prometheus_info": {"service_account": reader, "return_token": True, "ask": False}}
    refused = play([{"name": "Ask", **asking}], succeed=False)
    assert "set no_log: true on the task" in refused.task("Ask").result["msg"]
    url = f"{stack.guarded_url}/api/v1/query?query=vector(1)"
    header = {"Authorization": "Bearer {{ asked.token }}"}
    tasks = [
        {"name": "Ask", **asking, "register": "asked", "no_log": True},
        {"name": "Use", "ansible.builtin.uri": {"url": url, "headers": header, "validate_certs": False}, "no_log": True},
        {"name": "Show a part", "ansible.builtin.debug": {"msg": "{{ asked.token[:20] }}"}},
        {"name": "Ask as usual", "osso.scheduler.prometheus_info": {"service_account": reader}},
        {"name": "Ask with a token", "osso.scheduler.prometheus_info": {"token": "{{ asked.token }}"}},
    ]
    run = play(tasks, args=["-vvv"], diff=True)
    beginning = run.task("Show a part").result["msg"]
    rest = run.output().replace(beginning, "", 1)
    assert beginning.startswith("eyJhbGci")
    assert beginning in run.output(), "the search would find it"
    # What was printed on purpose is there twice: as output and as recorded result of that task.
    assert run.stdout.count(beginning) == 1, "the token was printed"
    assert rest.count(base64.b64encode(beginning.encode()).decode()[:20]) == 0
    assert run.task("Ask with a token").result["usable"] is True


def test_the_token_of_a_service_account_secret_is_used(look, kubectl, reader, stack):
    about = {
        "name": "reader-token",
        "namespace": reader["namespace"],
        "annotations": {"kubernetes.io/service-account.name": reader["name"]},
    }
    kubectl.apply({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token", "metadata": about})
    secret = {"name": "reader-token", "namespace": reader["namespace"]}
    # Its controller writes the token a moment later.
    result = eventually(lambda: (found := look(token_secret=secret))["usable"] and found)
    assert (result["token_from"], result["token_expires"]) == (f"Secret {reader['namespace']}/reader-token", None)
    absent = finding(look(token_secret={**secret, "name": "absent"}, ask=False))
    assert (absent["code"], "does not exist" in absent["message"]) == ("no-token-secret", True)


def test_a_legacy_token_secret_is_used_once_it_exists(look, kubectl, stack):
    assert finding(look(legacy_token_secret=True, ask=False))["code"] == "no-token-secret"
    grant(kubectl, NAMESPACE, READ, name="prometheus-k8s")
    name = "prometheus-k8s-token-abcde"
    about = {"name": name, "namespace": NAMESPACE, "annotations": {"kubernetes.io/service-account.name": "prometheus-k8s"}}
    kubectl.apply({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token", "metadata": about})
    try:
        result = eventually(lambda: (found := look(legacy_token_secret=True))["usable"] and found)
        assert result["token_from"] == f"Secret {NAMESPACE}/{name}"
    finally:
        kubectl("delete", "secret", name, f"--namespace={NAMESPACE}")


# What is refused


def test_without_a_token_prometheus_is_reachable_but_not_authorized(look, stack):
    result = look()
    assert (finding(result)["code"], result["reachable"], result["authorized"], result["metrics"]) == ("token-missing", True, False, [])


def test_a_wrong_token_is_reported_as_refused(look, stack):
    assert finding(look(token="wrong"))["code"] == "token-refused"


def test_an_expired_token_is_reported_with_its_expiry(look, stack):
    claims = json.dumps({"exp": 1700000000, "sub": "system:serviceaccount:a:b"}).encode()
    token = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (b'{"alg":"RS256"}', claims, b"signature"))
    result = look(token=token)
    expired = finding(result)
    assert (expired["code"], expired["message"]) == ("token-expired", "The token expired at 2023-11-14 22:13:20 UTC")
    assert (result["token_expires"], result["authorized"]) == ("2023-11-14T22:13:20Z", False)


@pytest.mark.parametrize(
    ("verbs", "said"),
    [((), "may not read metrics (Forbidden"), (("get",), "by GET only, and schedulers send POST: the verb create is missing")],
    ids=["nothing", "get"],
)
def test_a_missing_permission_is_reported_with_the_command_that_grants_it(look, kubectl, namespace, stack, verbs, said):
    account = grant(kubectl, namespace, [{**READ[0], "verbs": list(verbs)}] if verbs else [])
    result = look(service_account=account)
    forbidden = finding(result)
    assert (forbidden["code"], result["authorized"]) == ("forbidden", False)
    assert said in forbidden["message"]
    assert f"cluster-monitoring-view -z {account['name']} -n {namespace}" in forbidden["hint"]


def test_a_missing_service_account_is_reported(look, namespace, stack):
    result = look(service_account={"namespace": namespace, "name": "nobody"})
    assert finding(result)["code"] == "no-service-account"


def test_a_token_lifetime_that_is_too_short_is_reported(look, reader):
    assert codes(look(service_account={**reader, "expiration_seconds": 60}, ask=False)) == ["token-request-refused"]


# Certificates


def test_a_certificate_of_another_ca_is_reported_and_no_query_is_sent(look, reader, stack, tmp_path):
    other = Authority(tmp_path)
    before = stack.queries_seen()
    result = look(service_account=reader, prometheus_ca=other.pem)
    assert (finding(result)["code"], result["tls_verified"], result["authorized"]) == ("certificate-not-verified", False, None)
    assert stack.queries_seen() == before
    given = look(service_account=reader, prometheus_ca=str(stack.authority.path))
    assert stack.queries_seen() > before, "the counter would have shown it"
    assert (given["usable"], given["ca_from"], given["ca"]) == (True, "prometheus_ca", stack.authority.pem)


def test_an_untrusted_certificate_is_an_error_unless_verification_is_skipped(look, reader, stack, tmp_path):
    with stack.guarded_otherwise(Authority(tmp_path)):
        result = look(service_account=reader)
        assert (finding(result)["code"], result["tls_verified"]) == ("certificate-not-verified", False)
        skipped = look(service_account=reader, insecure_skip_verify=True)
        assert (finding(skipped)["severity"], skipped["usable"], skipped["tls_verified"]) == ("warning", True, False)


def test_a_certificate_for_another_name_is_reported(look, reader, stack):
    with stack.guarded_otherwise(stack.authority, "prometheus.example.com"):
        wrong = finding(look(service_account=reader))
    assert wrong["code"] == "certificate-not-verified"
    assert "the name that it was made for" in wrong["hint"]


# Finding it


def test_a_route_that_is_not_admitted_is_reported(look, reader, stack):
    with stack.route(admitted=False):
        result = look(service_account=reader, sources=["route"])
    assert codes(result) == ["route-not-admitted", "not-found"]
    assert (result["found"], result["url"], result["usable"]) == (False, None, False)
    assert "HostAlreadyClaimed" in result["findings"][0]["message"]


def test_the_second_route_name_is_used_where_the_first_is_missing(look, reader, stack):
    with stack.route(name="thanos-querier"):
        result = look(service_account=reader)
    assert (result["source"]["name"], result["usable"]) == ("thanos-querier", True)


def test_a_missing_route_is_reported_as_not_found(look, stack):
    with stack.without_route():
        result = look(service_account=None)
    assert finding(result)["code"] == "not-found"
    assert "no admitted Route openshift-monitoring/prometheus-k8s" in result["findings"][0]["message"]


def test_a_service_name_that_does_not_resolve_is_reported(look, kubectl, stack):
    spec = {"ports": [{"name": "web", "port": 9091}]}
    kubectl.apply({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "prometheus-k8s", "namespace": NAMESPACE}, "spec": spec})
    try:
        result = look(sources=["service"])
        assert (result["url"], result["source"]["kind"]) == ("https://prometheus-k8s.openshift-monitoring.svc:9091", "Service")
        assert (finding(result)["code"], result["reachable"]) == ("unresolved", False)
    finally:
        kubectl("delete", "service", "prometheus-k8s", f"--namespace={NAMESPACE}")


def test_the_url_is_derived_from_a_prometheus_object(look, kubectl, namespace, stack):
    with served(kubectl, "prometheuses.monitoring.coreos.com"):
        kubectl.apply(
            {
                "apiVersion": "monitoring.coreos.com/v1",
                "kind": "Prometheus",
                "metadata": {"name": "mine", "namespace": namespace},
                "spec": {"routePrefix": "/prom"},
            }
        )
        result = look(sources=["prometheus"], ask=False)
        assert (result["url"], result["usable"]) == (f"http://prometheus-operated.{namespace}.svc:9090/prom", None)


def test_a_user_without_permissions_gets_findings_instead_of_a_failure(run_module, kubectl, namespace, stack):
    with service_account(kubectl, namespace) as access:
        result = run_module(MODULE, {"url": stack.url, **access})
        assert (result["usable"], codes(result)) == (True, ["not-allowed"])
        assert all(metric["exists"] and metric["nodes"] == [] for metric in result["metrics"])
        assert codes(run_module(MODULE, access)) == ["not-allowed"] * 5 + ["not-found"]


# Out of order


def test_a_prometheus_that_is_down_is_reported_with_and_without_its_proxy(look, reader, stack):
    with stack.down():
        result = look(service_account=reader)
        direct = look(url=stack.url)
    assert (finding(result)["code"], result["reachable"], result["authorized"]) == ("unavailable", True, None)
    assert (finding(direct)["code"], direct["reachable"]) == ("unreachable", False)


def test_an_endpoint_that_accepts_and_never_answers_times_out(look, stack):
    with socket.create_server((stack.address, 0)) as listener:
        start = time.monotonic()
        result = look(url=f"https://{stack.address}:{listener.getsockname()[1]}", timeout=2)
        took = time.monotonic() - start
    silent = finding(result)
    assert (silent["code"], result["reachable"]) == ("no-answer", False)
    assert "would wait for it for many minutes" in silent["hint"]
    assert took < 60


def test_a_server_that_is_not_prometheus_and_a_bad_url_are_reported(look, stack):
    assert finding(look(url=f"{stack.url}/graph"))["code"] == "not-prometheus"
    assert finding(look(url="prometheus:9090"))["code"] == "bad-url"


# Metrics


@contextmanager
def exporting(stack, *instances):
    """Other instances than the nodes, in a Prometheus that has forgotten what it knew."""
    stack.exporter.only(*instances)
    stack.forget()
    try:
        if instances:
            stack.wait_for(CPU, *instances)
        yield
    finally:
        stack.exporter.only(*stack.nodes)
        stack.forget()
        stack.wait_for(CPU, *stack.nodes)


def test_a_metric_that_no_rule_records_is_reported_as_missing(look, stack):
    stack.rules([])
    stack.forget()
    try:
        stack.wait_for("node_cpu_seconds_total", *stack.nodes)
        result = look(url=stack.url, plugins=["TargetLoadPacking"])
    finally:
        stack.record()
    missing = finding(result)
    assert (missing["code"], missing["metric"], result["usable"]) == ("metric-missing", CPU, False)
    assert "it has node_cpu_seconds_total: record the metric by a rule" in missing["hint"]


@pytest.mark.long
def test_states_of_named_alerts_are_reported(look, kubectl, namespace, reader, stack):
    """Those of OpenShift's default scheduler, by name: one fires, one waits for its time, one is quiet, one is not known."""
    text = {"annotations": {"description": "KubeScheduler has disappeared."}, "labels": {"severity": "critical"}}
    rules = [
        {"alert": "KubeSchedulerDown", "expr": 'absent(up{job="scheduler"} == 1)', **text},
        {"alert": "SchedulerLegacyPolicySet", "expr": "vector(1)", "for": "1h"},
        {"alert": "Quiet", "expr": "vector(1) > 2"},
    ]
    names = [*(rule["alert"] for rule in rules), "Unknown"]
    stack.rules([{"name": "scheduler", "rules": rules}], name="alerts")
    try:
        deadline = time.monotonic() + 60
        while (result := look(service_account=reader, alerts=names))["alerts"][0]["state"] != "firing" or len(result["findings"]) < 3:
            assert time.monotonic() < deadline, result
            time.sleep(0.5)
        may_not = look(service_account=grant(kubectl, namespace, [], name="nobody"), alerts=names)
    finally:
        stack.rules([], name="alerts")
    assert {one["name"]: one["state"] for one in result["alerts"]} == dict(zip(names, ["firing", "pending", "inactive", None], strict=True))
    (fires,) = result["alerts"][0]["active"]
    assert (fires["labels"], fires["message"]) == ({"severity": "critical"}, "KubeScheduler has disappeared.")
    assert codes(result) == ["alert-firing", "alert-pending", "alert-unknown"]
    assert f"KubeSchedulerDown is firing since {fires['since']}: KubeScheduler has disappeared" in result["findings"][0]["message"]
    assert (result["usable"], result["needed"]) == (True, []), "no plugin was named, so no metrics were checked"
    assert (codes(may_not), may_not["alerts"]) == (["forbidden"], [])


def test_a_metric_that_is_missing_for_a_node_is_reported(look, stack):
    with exporting(stack, *stack.nodes[:-1]):
        result = look(url=stack.url)
    assert codes(result) == ["metric-missing-for-nodes"] * 2
    assert result["findings"][0]["nodes"] == stack.nodes[-1:]
    assert result["metrics"][0]["nodes"][-1] == {"name": stack.nodes[-1], "value": None, "age_seconds": None}


@pytest.mark.long
def test_instance_labels_that_are_not_node_names_are_reported(look, kubectl, stack):
    addresses = [
        entry["address"]
        for node in kubectl.json("get", "nodes")["items"]
        for entry in node["status"]["addresses"]
        if entry["type"] == "InternalIP"
    ]
    with exporting(stack, *(f"{address}:9100" for address in addresses)):
        result = look(url=stack.url)
    assert codes(result) == ["labels-do-not-match"] * 2
    assert sorted(result["findings"][0]["nodes"]) == sorted(stack.nodes)
    assert f"{addresses[0]}:9100" in result["metrics"][0]["other_instances"]


@pytest.mark.long
def test_a_metric_that_is_too_old_is_reported(look, stack):
    lost = stack.nodes[-1]
    time.sleep(12)  # the time between the looks back for a series that has ended
    stack.exporter.only(*stack.nodes[:-1])
    try:
        deadline = time.monotonic() + 90
        while "metric-stale" not in codes(result := look(url=stack.url, max_age=20, plugins=["TargetLoadPacking"])):
            assert time.monotonic() < deadline, result
            time.sleep(2)
    finally:
        stack.exporter.only(*stack.nodes)
        stack.wait_for(CPU, *stack.nodes)
    stale = finding(result)
    assert (stale["nodes"], result["usable"]) == ([lost], False)
    assert result["metrics"][0]["nodes"][-1]["value"] is not None, "a scheduler would go on using it"


# Configurations


def trimaran(**provider):
    plugin = "TargetLoadPacking"
    profile = {"schedulerName": "a", "plugins": {"score": {"enabled": [{"name": plugin}]}}}
    provider = {"type": "Prometheus", "address": "http://x", **provider}
    return {**profile, "pluginConfig": [{"name": plugin, "args": {"metricProvider": provider}}]}


def config(*profiles):
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": list(profiles)}


def test_the_configuration_determines_the_plugins_and_metrics_that_are_checked(look, stack):
    result = look(url=stack.url, config=config(trimaran()))
    assert (result["plugins"], result["needed"], result["usable"]) == (["TargetLoadPacking"], [CPU], True)
    nothing = look(url=stack.url, config=config({"schedulerName": "a"}))
    assert (codes(nothing), nothing["usable"], nothing["metrics"]) == (["nothing-asks"], True, [])
    twice = look(url=stack.url, content=json.dumps(config(trimaran(), {**trimaran(), "schedulerName": "b"})))
    assert codes(twice) == ["second-watcher"]


def test_fail_on_decides_which_findings_fail_the_task(look, stack):
    result = look(failed=True, url=stack.url, config=config(trimaran(), {**trimaran(), "schedulerName": "b"}), fail_on="error")
    assert result["msg"].startswith("Prometheus is not fit for load-aware scheduling:\nThe plugin TargetLoadPacking of the profile b: ")
    assert result["findings"], "the result is there, too"
    warned = {"url": stack.url, "config": config({"schedulerName": "a"})}
    assert look(**warned, fail_on="error")["usable"] is True
    assert look(failed=True, **warned, fail_on="warning")["findings"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"plugins": ["Coscheduling"]}, "plugins: Coscheduling needs no metrics of Prometheus. Choose from LoadVariationRiskBalancing,"),
        ({"content": "a: b: c"}, "content: this is no KubeSchedulerConfiguration: "),
        ({"prometheus_ca": "/does/not/exist"}, "prometheus_ca: /does/not/exist cannot be read: No such file or directory."),
        ({"token": "given-token", "legacy_token_secret": True}, "parameters are mutually exclusive: token|service_account|"),
    ],
)
def test_unusable_options_are_rejected(look, stack, options, said):
    assert said in look(failed=True, **{"url": stack.guarded_url, **options})["msg"]
