# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a scheduler is told of Prometheus (operand/prometheus_access.py), and what a reconcile decides on it (operand/decision.py)."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import content_hash
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document import tree
from ansible_collections.osso.scheduler.plugins.module_utils._operand import prometheus_access, resource_names
from ansible_collections.osso.scheduler.plugins.module_utils._operand import rollout as rollouts
from ansible_collections.osso.scheduler.plugins.module_utils._operand.decision import decide, requested_rollout
from ansible_collections.osso.scheduler.plugins.module_utils._operand.status import Outcome, next_look, report
from support.operand import CONFIG, NOW, facts, resource, serving, stored

ARGS = {"metricProvider": {"type": "Prometheus", "address": "${PROM_URL}", "token": "${PROM_TOKEN}"}}
TEXT = json.dumps(
    {
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "schedulerName": "load-aware",
                "plugins": {"score": {"enabled": [{"name": "TargetLoadPacking"}]}},
                "pluginConfig": [{"name": "TargetLoadPacking", "args": ARGS}],
            }
        ],
    }
)
URL = "https://prometheus.example.com:9091"
ANNOTATIONS = {"osso.scheduler/prometheus-url": URL, "osso.scheduler/prometheus-token": "serviceaccount/metrics-reader"}
ACCOUNT = {"metadata": {"name": "metrics-reader", "namespace": "ns", "uid": "1"}}
SECRET = {"metadata": {"name": "given", "namespace": "ns"}, "data": {"token": base64.b64encode(b"opaque-Token").decode()}}
CA = {"metadata": {"name": "ca", "namespace": "ns"}, "data": {"ca.crt": "-----BEGIN CERTIFICATE-----\n"}}


class Cluster:
    """Stands for the API server: some objects, and tokens that live for as long as was asked for, from NOW on."""

    class Kind:
        def __init__(self, kind):
            self.kind = kind

        def path(self, *parts):
            return "/".join([self.kind, *parts])

    def __init__(self, *objects):
        self.objects = {item["metadata"]["name"]: item for item in objects}
        self.requested = []

    def resource(self, _api_version, kind):
        return self.Kind(kind)

    def get(self, _kind, name, _namespace):
        return self.objects.get(name)

    def request(self, _method, _path, body, content_type):
        assert content_type
        self.requested.append(body["spec"]["expirationSeconds"])
        ends = {86400: "2026-01-02T01:00:00Z", 600: "2026-01-01T01:10:00Z"}[body["spec"]["expirationSeconds"]]
        return {"status": {"token": f"token-{len(self.requested)}", "expirationTimestamp": ends}}


def read(cluster, secrets=(), now=NOW, text=TEXT, **annotations):
    given = {**ANNOTATIONS, **{f"osso.scheduler/{name.replace('_', '-')}": value for name, value in annotations.items()}}
    return prometheus_access.read(cluster, resource(annotations=given), [text], secrets, now)


def secret_of(source, text=TEXT, config_hash="abc"):
    """The Secret that the operator makes with a source."""
    content = prometheus_access.content(config_hash, text, source)
    annotations = prometheus_access.annotations_of(text, source, content)
    return stored(
        {"name": f"secondary-scheduler-config-{content}", "annotations": annotations, "data": prometheus_access.data(text, source)}
    )


def test_a_token_in_place_of_the_name_of_its_secret_is_not_shown():
    problem = read(Cluster(), prometheus_token="S3cr3t").problem
    assert problem.startswith("the annotation osso.scheduler/prometheus-token names no object: set")
    assert "S3cr3t" not in problem


def is_intact(secret):
    return prometheus_access.is_intact(secret, resource_names.names_of(resource()))


def test_nothing_is_read_where_nothing_is_to_be_filled():
    assert read(Cluster(), text="kind: KubeSchedulerConfiguration") is None


def test_placeholders_are_replaced_with_the_url_and_the_token():
    source = read(Cluster(ACCOUNT, CA), prometheus_ca="ca")
    assert source.problem == ""
    assert (source.url, source.token, source.issued, source.expires) == (URL, "token-1", NOW, "2026-01-02T01:00:00Z")
    assert source.renew == 24 * 3600 * 4 / 5
    data = prometheus_access.data(TEXT, source)
    provider = json.loads(data["config.yaml"])["profiles"][0]["pluginConfig"][0]["args"]["metricProvider"]
    assert provider == {"type": "Prometheus", "address": URL, "token": "token-1"}
    assert (data["template.yaml"], data["token"], data["prometheus-ca.crt"]) == (TEXT, "token-1", CA["data"]["ca.crt"])
    assert prometheus_access.template(secret_of(source)) == TEXT


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("kind: X\n", None),
        ("kind: X\n", prometheus_access.Source(ca="authority")),
        (TEXT, prometheus_access.Source(URL, "token", "authority")),
        (
            "${LOAD_WATCHER_URL}${PROM_URL} ${PROM_URL}",
            prometheus_access.Source(URL, "token", watcher_url="http://load-watcher-cluster.ns.svc:2020"),
        ),
    ],
)
def test_a_secret_is_intact_until_its_data_is_changed(text, source):
    secret = secret_of(source, text, content_hash(text))
    assert is_intact(secret)
    for key, value in secret["data"].items():
        if key == "token":
            continue  # It is in the configuration, too.
        other = base64.b64encode(base64.b64decode(value) + b"#").decode()
        assert not is_intact({**secret, "data": {**secret["data"], key: other}}), key
    assert not is_intact({**secret, "data": {"config.yaml": "é"}})


def test_the_secret_of_a_load_watcher_is_intact_until_its_data_is_changed():
    source = read(Cluster(ACCOUNT), text="${LOAD_WATCHER_URL}", load_watcher="image:1")
    secret = stored(prometheus_access.load_watcher("${LOAD_WATCHER_URL}", source, resource_names.names_of(resource()))["secret"])
    assert is_intact(secret)
    assert not is_intact({**secret, "data": {"token": base64.b64encode(b"other").decode()}})


def test_only_placeholders_of_the_text_are_filled():
    source = read(Cluster(), text="address: ${PROM_URL}")
    assert prometheus_access.data("address: ${PROM_URL}", source) == {
        "config.yaml": f"address: {URL}",
        "template.yaml": "address: ${PROM_URL}",
    }
    assert prometheus_access.content("abc", "address: ${PROM_URL}", source) != "abc"
    assert prometheus_access.content("abc", "kind: X", source) == "abc"


def test_token_is_kept_until_it_has_to_be_renewed():
    cluster = Cluster(ACCOUNT)
    short = {"prometheus_token_duration": "600"}
    made = secret_of(read(cluster, **short))
    again = read(cluster, [made], now="2026-01-01T01:07:00Z", **short)
    assert (again.token, again.renew, len(cluster.requested)) == ("token-1", 60, 1)
    assert prometheus_access.content("abc", TEXT, again) == made["metadata"]["name"].rpartition("-")[2]
    renewed = read(cluster, [made], now="2026-01-01T01:08:00Z", **short)
    assert renewed.token == "token-2"
    assert secret_of(renewed)["metadata"]["name"] != made["metadata"]["name"]
    assert read(cluster, [made], now="2026-01-01T01:08:00Z", prometheus_token_renew_before="60").renew == 60
    # Of two, the one that lives longer
    assert read(cluster, [made, secret_of(read(cluster))]).expires == "2026-01-02T01:00:00Z"


def test_a_shorter_duration_takes_effect_at_once():
    """and once, also if the API server grants more than that"""
    cluster = Cluster(ACCOUNT)
    made = secret_of(read(cluster))
    shorter = read(cluster, [made], prometheus_token_duration="600")
    assert (shorter.token, len(cluster.requested)) == ("token-2", 2)
    assert secret_of(shorter)["metadata"]["name"] != made["metadata"]["name"]
    long_lived = secret_of(shorter._replace(expires="2027-01-01T00:00:00Z"))
    assert read(cluster, [made, long_lived], prometheus_token_duration="600").token == "token-2"
    assert len(cluster.requested) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda secret: secret["data"].update(token="/w=="),
        lambda secret: secret["metadata"]["annotations"].update({prometheus_access.REQUESTED: "x"}),
        lambda secret: secret["data"].update(token="x"),
        lambda secret: secret["metadata"]["annotations"].update({prometheus_access.ISSUED: "yesterday"}),
        lambda secret: secret["metadata"]["annotations"].update({prometheus_access.EXPIRES: ""}),
        lambda secret: secret["metadata"]["annotations"].update({prometheus_access.EXPIRES: NOW}),
    ],
)
def test_the_token_of_a_changed_secret_is_not_kept(change):
    cluster = Cluster(ACCOUNT)
    made = secret_of(read(cluster))
    change(made)
    assert read(cluster, [made]).token == "token-2"


@pytest.mark.parametrize("recorded", ["2999-01-01T00:00:00Z", "2026-01-02T00:00:00Z"])
def test_a_token_is_renewed_at_its_own_end_if_the_recorded_one_is_later(recorded):
    claims = base64.urlsafe_b64encode(json.dumps({"exp": 1767315600}).encode()).decode().rstrip("=")
    cluster = Cluster(ACCOUNT)
    made = secret_of(read(cluster)._replace(token=f"a.{claims}.c"))
    made["metadata"]["annotations"][prometheus_access.EXPIRES] = recorded
    kept, end = read(cluster, [made]), min(recorded, "2026-01-02T01:00:00Z")
    assert (kept.expires, len(cluster.requested)) == (end, 1)
    assert secret_of(kept)["metadata"]["annotations"][prometheus_access.EXPIRES] == end, "the annotation is repaired"
    assert read(cluster, [made], now="2026-01-02T00:00:00Z").token == "token-2"


def test_a_token_with_less_lifetime_than_requested_is_not_renewed_at_once():
    source = read(Cluster(ACCOUNT), prometheus_token_duration="600", prometheus_token_renew_before="3600")
    assert source.renew == 300
    assert read(Cluster(ACCOUNT), prometheus_token_duration="600", prometheus_token_renew_before="595").renew == 300
    cluster = Cluster(ACCOUNT)
    assert read(cluster, [secret_of(source)], prometheus_token_renew_before="3600").renew == 300
    assert cluster.requested == []


def test_the_token_of_a_recreated_account_is_requested_again():
    made = secret_of(read(Cluster(ACCOUNT)))
    anew = Cluster({"metadata": {**ACCOUNT["metadata"], "uid": "2"}})
    read(anew, [made])
    assert len(anew.requested) == 1


def test_token_of_a_secret_is_read():
    source = read(Cluster(SECRET), prometheus_token="secret/given")
    assert (source.token, source.expires, source.renew) == ("opaque-Token", "", None)


@pytest.mark.parametrize(
    ("annotations", "objects", "said"),
    [
        ({"prometheus_url": ""}, (), "holds ${PROM_URL}: set the annotation osso.scheduler/prometheus-url"),
        ({"prometheus_url": "prometheus:9090"}, (), 'prometheus-url is "prometheus:9090"; it must be a URL'),
        ({"prometheus_url": 'https://a"b'}, (), "it must be a URL"),
        ({"prometheus_token": ""}, (), "holds ${PROM_TOKEN}: set the annotation osso.scheduler/prometheus-token"),
        ({"prometheus_token": "metrics-reader"}, (), "prometheus-token names no object: set the annotation"),
        (
            {"prometheus_token": "secret/none"},
            (),
            "the Secret ns/none does not exist: create a Secret with the key token, or set the annotation osso",
        ),
        ({"prometheus_token_duration": "1h"}, (ACCOUNT,), "prometheus-token-duration is 1h; it must be a number of seconds"),
        ({"prometheus_token_renew_before": "0"}, (ACCOUNT,), "prometheus-token-renew-before is 0; it must be"),
        ({"prometheus_ca": "none"}, (ACCOUNT,), "the ConfigMap ns/none (annotation osso.scheduler/prometheus-ca) does not exist"),
        ({"prometheus_ca": "a/b"}, (ACCOUNT,), 'prometheus-ca is "a/b", which cannot be the name of a ConfigMap'),
        ({"prometheus_ca": "empty"}, (ACCOUNT, {"metadata": {"name": "empty"}}), "holds no certificates under ca.crt"),
    ],
)
def test_a_missing_or_invalid_prometheus_setting_is_a_problem(annotations, objects, said):
    source = read(Cluster(*objects), **annotations)
    assert said in source.problem
    decision = decide(facts(config=LOAD_AWARE, source=source))
    assert (decision.action, decision.reason) == ("hold", "PrometheusUnknown")
    assert said in decision.message


@pytest.mark.parametrize("token", ["12345", "a b", 'a"b', "a: b", "a#b", "~", "é"])
def test_a_text_that_yaml_could_interpret_differently_is_no_token(token):
    held = {**SECRET, "data": {"token": base64.b64encode(token.encode()).decode()}}
    assert read(Cluster(held), prometheus_token="secret/given").problem


# A load-watcher service

WATCHED = TEXT.replace(json.dumps(ARGS), json.dumps({"watcherAddress": "${LOAD_WATCHER_URL}"}))
NAMES = resource_names.names_of(resource())


def test_the_load_watcher_gets_the_token_instead_of_the_scheduler():
    source = read(Cluster(ACCOUNT, CA), text=WATCHED, prometheus_ca="ca", load_watcher="load-watcher:1")
    assert source.problem == ""
    data = prometheus_access.data(WATCHED, source)
    assert set(data) == {"config.yaml", "template.yaml"}
    assert "http://load-watcher-cluster.ns.svc:2020" in data["config.yaml"]
    found = prometheus_access.load_watcher(WATCHED, source, NAMES)
    assert (found["image"], found["url"]) == ("load-watcher:1", URL)
    assert found["secret"]["data"] == {"token": "token-1", "prometheus-ca.crt": CA["data"]["ca.crt"]}
    # A new token is nothing to the scheduler.
    renewed = source._replace(token="token-2")
    assert prometheus_access.content("abc", WATCHED, renewed) == prometheus_access.content("abc", WATCHED, source)
    assert prometheus_access.load_watcher(WATCHED, renewed, NAMES)["secret"]["name"] != found["secret"]["name"]
    again = read(Cluster(ACCOUNT), [stored(found["secret"])], text=WATCHED, load_watcher="load-watcher:1")
    assert again.token == "token-1"
    assert prometheus_access.load_watcher(TEXT, read(Cluster(ACCOUNT)), NAMES) is None


def test_load_watcher_gets_no_token_for_a_prometheus_without_one():
    source = read(Cluster(), text=WATCHED, prometheus_token="", load_watcher="load-watcher:1")
    assert prometheus_access.load_watcher(WATCHED, source, NAMES)["secret"]["data"] == {}


def test_load_watcher_needs_an_image_and_a_url():
    assert "set the annotation osso.scheduler/load-watcher" in read(Cluster(), text=WATCHED).problem
    unknown = read(Cluster(), text=WATCHED, prometheus_url="", load_watcher="load-watcher:1")
    assert "holds ${LOAD_WATCHER_URL}: set the annotation osso.scheduler/prometheus-url" in unknown.problem
    assert prometheus_access.load_watcher(WATCHED, unknown, NAMES) is None


def test_scheduler_does_not_wait_for_its_load_watcher():
    missing = {"severity": "error", "code": "load-watcher-unavailable", "message": "No pod is ready", "hint": ""}
    required = resource(annotations={"osso.scheduler/monitoring-required": "true"})
    assert decide(facts(resource=required, metrics=[missing])).reason == "AsExpected"


# Decisions

LOAD_AWARE = replace(CONFIG, text=TEXT, tree=tree(TEXT))


def test_token_is_part_of_the_secret_and_not_of_the_rollout():
    one, two = read(Cluster(ACCOUNT)), read(Cluster(ACCOUNT))._replace(token="token-2")
    first, second = (decide(facts(config=LOAD_AWARE, source=source)) for source in (one, two))
    assert first.rollout == second.rollout
    assert first.secret["name"] != second.secret["name"]
    assert "token-1" not in json.dumps([first.rollout, first.secret["annotations"]])


def provided(**provider):
    args = {"metricProvider": {"type": "Prometheus", **provider}}
    return {"profiles": [{"pluginConfig": [{"name": "TargetLoadPacking", "args": args}]}]}


TOKEN, EVIL = "${PROM_TOKEN}", "https://evil.example.com"


@pytest.mark.parametrize(
    "config",
    [
        provided(address="${PROM_URL}", token=TOKEN),
        provided(address=URL, token=TOKEN),
        provided(address="${PROM_URL}/", token=TOKEN),
        provided(address=f"{URL}/prometheus", token=TOKEN),
        {"profiles": [{"pluginConfig": [{"name": "Private", "args": {"from": [{"address": "${PROM_URL}", "token": TOKEN}]}}]}]},
        {"profiles": [], "url": "${PROM_URL}"},
    ],
)
def test_the_token_is_filled_in_for_the_address_of_prometheus(config):
    config = replace(CONFIG, text=json.dumps(config) + f"\n# {TOKEN}\n")
    decision = decide(facts(config=config, source=read(Cluster(ACCOUNT), text=config.text)))
    assert (decision.action, decision.reason) == ("apply", "AsExpected")
    assert TOKEN not in decision.secret["data"]["config.yaml"]


@pytest.mark.parametrize(
    "config",
    [
        provided(address=EVIL, token=TOKEN),
        provided(address="${PROM_URL}.evil.example.com", token=TOKEN),
        provided(address=f"{EVIL}/${{PROM_URL}}", token=TOKEN),
        provided(token=TOKEN),
        provided(address=f"{EVIL}/{TOKEN}"),
        provided(address="${PROM_URL}", token={"address": EVIL, "token": TOKEN}),
        {"profiles": [{"pluginConfig": [{"args": {"watcherAddress": f"{EVIL}?{TOKEN}"}}]}]},
        {"extenders": [{"urlPrefix": EVIL, "filterVerb": TOKEN}]},
        {"extenders": [{"urlPrefix": EVIL, "managedResources": [{TOKEN: ""}]}]},
    ],
)
def test_the_token_is_not_filled_in_for_another_address(config):
    config = replace(CONFIG, text=json.dumps(config))
    source = read(Cluster(ACCOUNT), text=config.text)
    decision = decide(facts(config=config, source=source))
    assert (decision.action, decision.reason) == ("hold", "PrometheusUnknown")
    assert decision.message == (
        "The settings for Prometheus are incomplete: the configuration holds ${PROM_TOKEN} where the token would be sent to another address than that "
        "of Prometheus: use it only as token next to address: ${PROM_URL}, or set the annotation osso.scheduler/prometheus-url of this resource "
        "(monitoring_url of the playbooks) to that address."
    )
    served = requested_rollout(facts(config=replace(LOAD_AWARE, hash="served")))
    good = secret_of(source, config_hash="served")
    memory = rollouts.Memory(good, served)
    kept = decide(facts(config=config, source=source, memory=memory))
    assert (kept.action, kept.reason, kept.secret["template"]) == ("apply", "PrometheusUnknown", TEXT)


def test_an_address_that_no_annotation_names_gets_no_token():
    text = json.dumps(provided(address=EVIL, token=TOKEN))
    assert read(Cluster(ACCOUNT), text=text, prometheus_url="").lacks(text)
    text = json.dumps(provided(address="", token=TOKEN))
    assert read(Cluster(ACCOUNT), text=text, prometheus_url="").lacks(text)


def test_a_rollout_that_had_the_token_for_another_address_gets_no_new_one():
    text = json.dumps(provided(address=EVIL, token=TOKEN))
    source = read(Cluster(ACCOUNT), text=text)
    served = requested_rollout(facts(config=replace(CONFIG, text=text, hash="served")))
    memory = rollouts.Memory(secret_of(source._replace(token="token-1"), text, "served"), served)
    kept = decide(facts(config=None, source=source._replace(token="token-2"), memory=memory))
    assert (kept.action, kept.secret["data"]["token"]) == ("apply", "token-1")


def test_configuration_with_a_token_is_not_logged():
    flags = requested_rollout(facts(config=LOAD_AWARE))["flags"]
    assert [flag for flag in flags if flag.startswith(("-v=", "--vmodule="))] == ["-v=1", "--vmodule=configfile=1,*=2"]
    json_format = requested_rollout(facts(config=LOAD_AWARE, overrides={"args": ["--logging-format=json"]}))["flags"]
    assert [flag for flag in json_format if flag.startswith(("-v=", "--vmodule="))] == ["-v=1"]
    assert "-v=2" in requested_rollout(facts())["flags"]


@pytest.mark.parametrize(
    ("address", "url", "is_secret"),
    [
        ("${PROM_URL}", "https://reader:pw@prometheus.example.com", True),
        ("${PROM_URL}", URL, False),
        ("https://reader:pw@prometheus.example.com", "", True),
        (URL, "https://reader:pw@prometheus.example.com", False),
    ],
)
def test_configuration_with_a_password_in_a_url_is_not_logged(address, url, is_secret):
    provider = {"profiles": [{"pluginConfig": [{"name": "P", "args": {"metricProvider": {"type": "Prometheus", "address": address}}}]}]}
    extender = {"extenders": [{"urlPrefix": address, "filterVerb": "filter"}]}
    for text in map(json.dumps, (provider, extender)):
        config = replace(CONFIG, text=text, tree=tree(text))
        flags = requested_rollout(facts(config=config, source=prometheus_access.Source(url=url)))["flags"]
        # --vmodule would log the address when its client is created.
        assert [flag for flag in flags if flag.startswith(("-v=", "--vmodule="))] == ["-v=1" if is_secret else "-v=2"]


def test_the_old_secret_stays_until_its_successor_is_available():
    source = read(Cluster(ACCOUNT))
    wanted = requested_rollout(facts(config=LOAD_AWARE))
    renewed = decide(facts(config=LOAD_AWARE, source=source._replace(token="token-2"), deployment=mounting(wanted, secret_of(source))))
    assert (renewed.reason, renewed.prune) == ("AsExpected", False)
    assert rollouts.SERVED not in renewed.secret["annotations"]
    over = decide(facts(config=LOAD_AWARE, source=source, deployment=mounting(wanted, secret_of(source))))
    assert over.prune
    assert rollouts.read_memory([stored(over.secret)]).served == wanted


def test_a_kept_configuration_gets_the_new_token():
    source = read(Cluster(ACCOUNT))
    served = requested_rollout(facts(config=LOAD_AWARE))
    first = decide(facts(config=LOAD_AWARE, source=source, deployment=mounting(served, secret_of(source))))
    memory = rollouts.read_memory([stored(first.secret)])
    broken = replace(CONFIG, hash="new", valid=False, text="kind: X")
    kept = decide(facts(config=broken, source=source._replace(token="token-2"), memory=memory))
    assert (kept.action, kept.reason, kept.rollout) == ("apply", "ConfigInvalid", served)
    assert kept.secret["data"]["token"] == "token-2"
    # Where it cannot be filled, it stays as it was.
    for config in (broken, LOAD_AWARE):
        unfilled = decide(facts(config=config, source=prometheus_access.Source(problem="no such account"), memory=memory))
        assert unfilled.secret["name"] == first.secret["name"]
        assert unfilled.secret["data"] == first.secret["data"]
        assert {name: unfilled.secret["annotations"][name] for name in first.secret["annotations"]} == first.secret["annotations"]


def mounting(rollout, secret):
    live = serving(rollout)
    live["spec"]["template"]["spec"]["volumes"][0]["secret"]["secretName"] = secret["metadata"]["name"]
    return live


# Metrics

MISSING = {"severity": "error", "code": "metric-missing", "message": "Prometheus has no m", "hint": "record it"}
OLD_TWICE = {"severity": "warning", "code": "metric-duplicate", "message": "There are several series of m", "hint": ""}
SILENT = {"severity": "error", "code": "no-answer", "message": "It says nothing", "hint": ""}
REQUIRED = {"osso.scheduler/monitoring-required": "true"}


def test_the_scheduler_is_not_deployed_without_required_metrics():
    refused = decide(facts(resource=resource(annotations=REQUIRED), metrics=[MISSING]))
    assert (refused.action, refused.reason) == ("hold", "MetricsUnavailable")
    assert "Prometheus has no m: record it." in refused.message
    assert decide(facts(resource=resource(annotations=REQUIRED), metrics=[OLD_TWICE])).action == "apply"
    assert decide(facts(metrics=[MISSING])).reason == "AsExpected"


def test_a_prometheus_that_never_answers_blocks_a_new_rollout():
    refused = decide(facts(metrics=[SILENT]))
    assert (refused.action, refused.reason) == ("hold", "MetricsUnavailable")
    assert decide(facts(metrics=[SILENT], deployment=serving(requested_rollout(facts())))).reason == "AsExpected"


@pytest.mark.parametrize(
    ("findings", "status", "reason", "said"),
    [
        ([], "True", "AsExpected", "has what the enabled plugins need"),
        ([OLD_TWICE], "True", "AsExpected", "several series"),
        ([OLD_TWICE, MISSING], "False", "MetricMissing", "Prometheus has no m: record it."),
    ],
)
def test_a_missing_metric_sets_the_condition_metrics_available_to_false(findings, status, reason, said):
    live = serving(requested_rollout(facts()))
    outcome = Outcome(resource=resource(), decision=decide(facts(metrics=findings, deployment=live)), deployment=live, metrics=findings)
    told = report(outcome)
    (condition,) = [entry for entry in told["conditions"] if entry["type"] == "MetricsAvailable"]
    assert (condition["status"], condition["reason"]) == (status, reason)
    assert said in condition["message"]
    assert next_look(outcome, told) == "120s"
    assert next_look(outcome._replace(renew=50), told) == "50s"
    assert next_look(outcome._replace(metrics=None, renew=590), told) == "590s"
    assert next_look(outcome._replace(metrics=None, renew=3000), told) == ""
    assert "MetricsAvailable" not in [entry["type"] for entry in report(outcome._replace(metrics=None))["conditions"]]
