# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the operator queries Prometheus for without the module. The queries themselves are in tests/api/test_prometheus_info.py."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from urllib.parse import parse_qs

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.presets import configuration
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import LOAD_WATCHER_URL
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.preflight import Options, inspect_prometheus
from ansible_collections.osso.scheduler.plugins.modules import prometheus_info
from support.api_server import ApiServer

# Options of every module, and where to look for a Prometheus that has no url
ELSEWHERE = {"retry_seconds", "sources", "namespace", "names"}


def test_defaults_are_those_of_the_module():
    options = yaml.safe_load(prometheus_info.DOCUMENTATION)["options"]
    assert {*Options._fields} == {*options} - {"retry_seconds"}
    found = Options()._asdict()
    same = set(found) - ELSEWHERE
    assert {name: found[name] or None for name in same} == {name: options[name].get("default") or None for name in same}


def test_the_repr_of_options_contains_no_token():
    assert "open-sesame" not in repr(Options(url="https://a:open-sesame@h", token="open-sesame"))


NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)
CPU = "instance:node_cpu:ratio"


@pytest.fixture
def server(monkeypatch):
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with ApiServer.running() as server:
        yield server


class Cluster:
    """Has these nodes, or an error."""

    def __init__(self, *nodes, status=None):
        self.nodes, self.status = [{"metadata": {"name": name}} for name in nodes], status

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def list(self, resource):
        assert resource.kind == "Node"
        if self.status:
            raise ApiError(self.status, "reason", "message")
        return self.nodes


class Ambiguous(Cluster):
    """Has two Prometheus objects."""

    def list(self, resource):
        assert resource.kind == "Prometheus"
        return [{"metadata": {"namespace": namespace, "name": "p"}} for namespace in ("a", "b")]


def vector(**values):
    result = [{"metric": {"instance": name.replace("_", "-")}, "value": [0, value]} for name, value in values.items()]
    return (200, {"status": "success", "data": {"resultType": "vector", "result": result}})


def inspected(cluster=None, hidden=None, **options):
    hide = (hidden if hidden is not None else []).append
    return inspect_prometheus(
        Options(**{"plugins": ["LowRiskOverCommitment"], **options}), lambda: cluster or Cluster("n-1"), NOW, hide=hide
    )


def claims(**values):
    return f"e30.{base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip('=')}.c"


def test_no_prometheus_is_chosen_for_a_token_from_several_objects():
    search = {"sources": ["prometheus"], "namespace": "m", "ask": False}
    assert inspected(Ambiguous(), **search)["url"] == "http://prometheus-operated.a.svc:9090"
    result = inspected(Ambiguous(), token="t", **search)
    assert (result["found"], result["url"], [one["code"] for one in result["findings"]]) == (False, None, ["ambiguous"])


def test_a_prometheus_that_is_not_queried_is_still_described():
    hidden = []
    token = claims(exp=NOW.timestamp())
    url = "https://me:open%2Fsesame@prometheus/p/"
    assert inspected(url=url, token=token, ask=False, hidden=hidden, return_token=True) == {
        "changed": False,
        "found": True,
        "url": url.rstrip("/"),
        "source": {"kind": "url", "namespace": "", "name": ""},
        "ca": None,
        "ca_from": None,
        "tls_verified": None,
        "reachable": None,
        "authorized": None,
        "token_from": "token",
        "token_expires": "2026-11-20T12:00:00Z",
        "plugins": ["LowRiskOverCommitment"],
        "needed": [CPU, "instance:node_memory_utilisation:ratio"],
        "metrics": [],
        "alerts": [],
        "usable": None,
        "findings": [],
        "token": token,
    }
    assert set(hidden) == {"me:open%2Fsesame", "open%2Fsesame", "open/sesame", token}
    assert "token" not in inspected(url="https://prometheus", token=token, ask=False)
    assert inspected(url="https://prometheus", ask=False, return_token=True)["token"] is None


def test_a_prometheus_with_all_metrics_is_usable(server):
    server.answers = [vector(n_1="0.5")] * 6
    found = inspected(url=server.url, plugins=["TargetLoadPacking"])
    assert (found["reachable"], found["authorized"], found["usable"], found["findings"]) == (True, True, True, [])
    report = {"name": CPU, "exists": True, "nodes": [{"name": "n-1", "value": 0.5, "age_seconds": 0}], "other_instances": []}
    assert found["metrics"] == [{**report, "recorded_by_others": True}]
    assert [one.path for one in server.seen] == ["/api/v1/query"] * 3
    queries = [parse_qs(one.body.decode())["query"][0] for one in server.seen]
    assert queries == [
        f"avg_over_time({CPU}[15m])",
        f"time() - (timestamp({CPU}) or max_over_time(timestamp({CPU})[15m:10s]))",
        f"count by (recorded_by) ({CPU})",
    ]


def test_samples_older_than_max_age_are_an_error(server):
    for max_age, codes in ((20, ["metric-stale"]), (60, [])):
        server.answers = [vector(n_1="0.5"), vector(n_1="30"), vector(n_1="1")]
        found = inspected(url=server.url, plugins=["TargetLoadPacking"], max_age=max_age)
        assert ([one["code"] for one in found["findings"]], found["usable"]) == (codes, not codes)


def test_the_source_metrics_of_a_missing_metric_are_queried(server):
    server.answers = [vector(), vector(n_1="4")]
    found = inspected(url=server.url, plugins=["TargetLoadPacking"])
    assert [(one["code"], one["severity"]) for one in found["findings"]] == [("metric-missing", "error")]
    assert found["findings"][0]["hint"].startswith("it has node_cpu_seconds_total: record the metric")
    assert (found["usable"], found["metrics"][0]["recorded_by_others"]) == (False, False)
    assert parse_qs(server.seen[1].body.decode())["query"] == ["count(node_cpu_seconds_total)"]


def test_without_plugins_only_access_is_checked(server):
    rules = {"groups": [{"rules": [{"name": "Down", "state": "firing", "alerts": []}]}]}
    server.answers = [vector(), (200, {"status": "success", "data": rules})]
    found = inspected(url=server.url, plugins=None, alerts=["Down"])
    assert (found["plugins"], found["needed"], found["metrics"], found["usable"]) == ([], [], [], True)
    assert found["alerts"] == [{"name": "Down", "state": "firing", "active": []}]
    assert [one["code"] for one in found["findings"]] == ["alert-firing"]
    assert parse_qs(server.seen[0].body.decode())["query"] == ["vector(1)"]
    seen = server.seen[1]
    assert (seen.method, seen.path, seen.query) == ("GET", "/api/v1/rules", {"type": ["alert"], "rule_name[]": ["Down"]})


@pytest.mark.parametrize(("fail_on", "fails"), [("never", False), ("error", False), ("warning", True)])
def test_a_warning_is_a_failure_only_where_it_is_to_be_one(server, fail_on, fails):
    server.answers = [vector(n_1="0.5")] * 3

    def run():
        return inspected(url=server.url, plugins=["TargetLoadPacking"], token="t", fail_on=fail_on, return_token=True)

    if not fails:
        assert run()["token"] == "t"
        return
    with pytest.raises(ClusterError) as failure:
        run()
    text = f"Prometheus is not fit for load-aware scheduling:\nThe token is sent to {server.url} in clear text: use an https url."
    assert (failure.value.message, "token" in failure.value.result) == (text, False)
    assert failure.value.result["findings"][0]["code"] == "token-over-http"


def test_an_expired_token_is_an_error(server):
    server.answers = [(401, b"no")]
    found = inspected(url=server.url, token=claims(exp=NOW.timestamp()))
    assert (found["reachable"], found["authorized"], found["usable"]) == (True, False, False)
    expired = next(one for one in found["findings"] if one["code"] == "token-expired")
    assert (expired["severity"], expired["message"]) == ("error", "The token expired at 2026-11-20 12:00:00 UTC")


def test_nodes_that_may_not_be_listed_are_a_warning(server):
    server.answers = [vector(n_1="0.5")] * 3
    found = inspected(Cluster(status=403), url=server.url, plugins=["TargetLoadPacking"])
    assert found["metrics"][0]["nodes"] == []
    assert [one["severity"] for one in found["findings"]] == ["warning"]
    server.answers = [vector(n_1="0.5")] * 3
    with pytest.raises(ApiError):
        inspected(Cluster(status=500), url=server.url, plugins=["TargetLoadPacking"])


def test_a_server_that_is_no_prometheus_is_reachable_but_not_usable(server):
    server.answers = [(200, b"<html>")]
    found = inspected(url=server.url)
    assert (found["reachable"], found["authorized"], found["usable"]) == (True, None, False)
    assert [(one["code"], one["hint"]) for one in found["findings"]] == [
        ("not-prometheus", "give the url of Prometheus' API, that to which /api/v1/query can be added")
    ]
    assert found["findings"][0]["message"].startswith(f"Prometheus at {server.url} cannot be queried: ")


@pytest.mark.parametrize(
    ("options", "code"),
    [({"url": "http://127.0.0.1:1"}, "unreachable"), ({"url": "ftp://x"}, "bad-url"), ({"token": "a b"}, "token-malformed")],
)
def test_a_prometheus_that_cannot_be_reached_is_not_usable(server, options, code):
    found = inspected(**{"url": server.url, **options})
    assert (found["reachable"], found["usable"], [one["code"] for one in found["findings"]][-1]) == (False, False, code)


def test_plugins_that_read_no_metrics_are_rejected():
    with pytest.raises(InputError, match=r"^plugins: NodeResourcesFit needs no metrics of Prometheus\. Choose from .*TargetLoadPacking"):
        inspected(url="https://p", ask=False, plugins=["NodeResourcesFit"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"content": "- a"}, "content: this is no KubeSchedulerConfiguration: "),
        ({"content": "a: ["}, "content: this is no KubeSchedulerConfiguration: "),
    ],
)
def test_texts_that_are_no_configuration_are_rejected(options, said):
    with pytest.raises(InputError, match=f"^{said}"):
        inspected(url="https://p", ask=False, plugins=None, **options)


def test_a_configuration_whose_plugins_query_nothing_is_a_warning():
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    found = inspected(url="https://p", ask=False, plugins=None, config=config)
    assert (found["plugins"], [one["code"] for one in found["findings"]]) == ([], ["nothing-asks"])


def test_values_that_the_operators_load_watcher_cannot_send_are_errors(server):
    server.answers = [vector(n_1="NaN")] * 6
    config = configuration("low_risk_overcommitment", {"watcher_address": LOAD_WATCHER_URL})
    found = inspected(url=server.url, plugins=None, config=config)
    assert found["plugins"] == ["LowRiskOverCommitment"]
    assert "metric-invalid" in [one["code"] for one in found["findings"]]


@pytest.mark.parametrize(("content", "said"), [(None, "No such file or directory"), (b"\xff", "it is no text")])
def test_a_file_with_authorities_that_cannot_be_read_is_an_error(tmp_path, content, said):
    path = tmp_path / "ca"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=rf"^prometheus_ca: {path} cannot be read: {said}\. It is a path on the host"):
        inspected(url="https://127.0.0.1:1", prometheus_ca=str(path))


ACCOUNT = "system:serviceaccount:ns:reader"
BIND = "bind the ClusterRole cluster-monitoring-view to it (oc adm policy add-cluster-role-to-user cluster-monitoring-view"


@pytest.mark.parametrize(
    ("token", "again", "message", "hint"),
    [
        (claims(sub=ACCOUNT), (403, b"no"), "The ServiceAccount ns/reader may not read metrics (denied)", f"{BIND} -z reader -n ns)"),
        (
            claims(sub=ACCOUNT),
            vector(),
            "The ServiceAccount ns/reader may read metrics by GET only, and schedulers send POST: the verb create is missing (denied)",
            f"{BIND} -z reader -n ns)",
        ),
        (claims(sub="someone"), (403, b"no"), "The someone may not read metrics (denied)", f"{BIND} NAME)"),
        ("opaque", (403, b"no"), "The user of the token may not read metrics (denied)", f"{BIND} NAME)"),
        (None, (403, b"no"), "The user of the token may not read metrics (denied)", f"{BIND} NAME)"),
    ],
)
def test_a_user_who_may_not_read_metrics_is_an_error_with_a_hint(server, token, again, message, hint):
    server.answers = [(403, b"denied"), again]
    found = inspected(url=server.url, token=token)
    finding = found["findings"][-1]
    assert (found["reachable"], found["authorized"], finding["code"], finding["severity"]) == (True, False, "forbidden", "error")
    assert finding["message"] == message
    assert finding["hint"].startswith(hint)
    assert [one.method for one in server.seen] == ["POST", "GET"]


def test_a_rejected_token_and_a_missing_token_are_distinct_findings(server):
    server.answers = [(401, b"no"), (401, b"no")]
    refused = inspected(url=server.url, token="t")["findings"][-1]
    assert (refused["code"], refused["message"]) == ("token-refused", "Prometheus does not accept the token (token)")
    (missing,) = inspected(url=server.url)["findings"]
    assert (missing["code"], missing["hint"]) == ("token-missing", "give one of token, service_account, token_secret, legacy_token_secret")


def test_a_missing_token_is_one_finding(server):
    """The search for it has reported the reason."""

    class Without(Cluster):
        def get(self, resource, name, namespace):
            return None

    server.answers = [(401, b"no")]
    found = inspected(Without(), url=server.url, token_secret={"namespace": "n", "name": "s"})
    assert [one["code"] for one in found["findings"]] == ["no-token-secret"]
    assert (found["token_from"], found["authorized"]) == (None, False)
