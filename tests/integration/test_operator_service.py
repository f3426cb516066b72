# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator as a service: its metrics, its replicas, how it stops, what it leaves on disk, and that it keeps secrets."""

from __future__ import annotations

import base64
import json
import subprocess
import time
import uuid

import pytest
from conformance.operator.steps import reconcile
from support.metrics import Reader
from support.operator_pod import restart
from support.scheduler import Scheduler, eventually
from support.secrets import holding
from support.site import NAMESPACE, installed, site

OPERATOR = "osso-scheduler-operator"
PLACE = f"--namespace={NAMESPACE}"
PODS = f"--selector=app.kubernetes.io/name={OPERATOR}"
RUNS = "/tmp/ansible-operator/runner"


@pytest.fixture(scope="module")
def reader(operator, kubectl):
    with Reader.running(kubectl) as reader:
        yield reader


def operator_pods(kubectl) -> list:
    return [pod for pod in kubectl.json("get", "pods", PLACE, PODS)["items"] if not pod["metadata"].get("deletionTimestamp")]


def look_again(kubectl, scheduler):
    """Have the operator reconcile, with nothing to do."""
    kubectl("annotate", "--overwrite", "secondaryscheduler", scheduler.name, PLACE, f"look={uuid.uuid4().hex}")


# Metrics


def test_metrics_are_returned_only_to_authorized_clients(reader, kubectl):
    # It starts with the demo's resource in the cluster, whatever ran before.
    restart(kubectl)
    total = 'controller_runtime_reconcile_total{controller="secondaryscheduler-v1-controller",result="requeue_after"}'
    eventually(lambda: reader.scrape().status == 200 and reader.scrape().value(total))
    assert reader.scrape(token=False).status == 401
    with Reader.running(kubectl, allowed=False) as stranger:
        assert stranger.scrape().status == 403
    scrape = reader.scrape()
    assert scrape.status == 200
    assert scrape.value(total) >= 1
    assert scrape.value('controller_runtime_reconcile_errors_total{controller="secondaryscheduler-v1-controller"}') is not None
    assert scrape.value('controller_runtime_reconcile_time_seconds_count{controller="secondaryscheduler-v1-controller"}') >= 1
    # Resources that are there when the operator starts wait for those that somebody edits.
    assert 'priority="-100"' in scrape.text


def gauge(condition, scheduler) -> str:
    """As readers see it that know no dashes in names."""
    return f"osso_secondaryscheduler_condition:{condition}:{NAMESPACE}:{scheduler.name}".replace("-", "_")


def test_conditions_of_a_resource_are_gauges_and_end_as_unknown(reader, new, kubectl):
    scheduler = new()

    def gauges(one):
        scrape = reader.scrape()
        return [scrape.value(gauge(condition, one)) for condition in ("Available", "Degraded", "ConfigValid")]

    demo = Scheduler(kubectl, "cluster")
    eventually(lambda: gauges(demo) == [1, 0, 1])
    exact = reader.scrape(accept="application/openmetrics-text; version=1.0.0; escaping=allow-utf-8").text
    assert f'{{"osso_secondaryscheduler_condition:Degraded:{NAMESPACE}:{demo.name}"}} 0' in exact
    scheduler.write_config("apiVersion: v1\nkind: Pod\n")
    scheduler.write()
    eventually(lambda: gauges(scheduler) == [0, 1, 0])
    scheduler.delete()
    assert gauges(scheduler) == [-1, -1, -1]


# Replicas


@pytest.fixture
def two_replicas(operator):
    site(variables={"probe": "never", "operator_replicas": 2})
    yield
    installed()


@pytest.mark.long
def test_other_replica_takes_over_when_the_leader_dies(two_replicas, new, kubectl, record_property):
    scheduler = new()

    def leader() -> str:
        return kubectl.json("get", "lease", OPERATOR, PLACE)["spec"]["holderIdentity"].partition("_")[0]

    scheduler.write_config()
    scheduler.write()
    scheduler.rest()
    first = eventually(lambda: leader() in [pod["metadata"]["name"] for pod in operator_pods(kubectl)] and leader())
    assert len(operator_pods(kubectl)) == 2
    killed = time.monotonic()
    kubectl("delete", "pod", first, PLACE, "--grace-period=0", "--force")
    scheduler.write(logLevel="Debug")
    eventually(lambda: "-v=4" in scheduler.deployment["spec"]["template"]["spec"]["containers"][0]["args"])
    record_property("seconds from the leader's death to an edit's effect", f"{time.monotonic() - killed:.1f}")
    eventually(lambda: leader() != first)
    scheduler.rest()


# What stays on disk


def inside(kubectl, command) -> list[str]:
    """The words that a command prints in the operator's pod."""
    return kubectl("exec", f"deployment/{OPERATOR}", PLACE, "--", "sh", "-c", command).stdout.split()


def files_of_runs(kubectl) -> list[str]:
    """Sockets, kubeconfigs and temporary folders, which each run has of its own."""
    return inside(kubectl, "ls /tmp /tmp/.ansible 2>&1 | grep -E '^(ansibleoperator-|kubeconfig|ansible-local-)' || true")


@pytest.mark.long
def test_artifacts_of_at_most_five_runs_are_kept(new, kubectl):
    scheduler = new()
    scheduler.write_config()
    scheduler.write()
    scheduler.rest()

    def runs() -> set[str]:
        return set(inside(kubectl, f"ls {RUNS}/operator.openshift.io/v1/SecondaryScheduler/{NAMESPACE}/{scheduler.name}/artifacts")) - {
            "latest"
        }

    seen = runs()
    for _round in range(7):
        look_again(kubectl, scheduler)
        eventually(lambda seen=seen: runs() - seen)
        seen |= runs()
    assert len(seen) > 6
    eventually(lambda: len(runs()) <= 5)
    scheduler.rest()
    eventually(lambda: files_of_runs(kubectl) == [])
    print("in /tmp:", inside(kubectl, "du -sk /tmp")[0], "kB")


# How it stops


@pytest.mark.long
def test_stopping_the_operator_in_the_middle_of_a_reconcile_leaves_nothing_half_done(new, kubectl):
    scheduler = new()
    scheduler.write_config()
    scheduler.write()
    scheduler.rest()
    before = scheduler.deployment["metadata"]["generation"]
    (pod,) = operator_pods(kubectl)
    name, restarts = pod["metadata"]["name"], pod["status"]["containerStatuses"][0]["restartCount"]
    # As of an earlier run that was cut off
    inside(kubectl, "touch /tmp/kubeconfig0 /tmp/ansibleoperator-0; mkdir -p /tmp/.ansible/ansible-local-0")
    # A pattern that does not match the command that looks for it.
    plays = "grep -qs 'ansible-[p]laybook' /proc/[0-9]*/cmdline"
    # No play for longer than the 5 s after which one may follow another: the next one is that of the edit.
    quiet = f"quiet=0; while [ $quiet -lt 70 ]; do quiet=$((quiet + 1)); ! {plays} || quiet=0; sleep 0.1; done"
    script = f"{quiet}; echo idle; until {plays}; do sleep 0.02; done; kill -TERM 1"
    run = ["kubectl", f"--kubeconfig={kubectl.kubeconfig}", PLACE]
    with (
        subprocess.Popen([*run, "logs", "--follow", "--tail=50", name], stdout=subprocess.PIPE, text=True) as log,
        subprocess.Popen([*run, "exec", name, "--", "sh", "-c", script], stdout=subprocess.PIPE, text=True) as stop,
    ):
        assert stop.stdout.readline() == "idle\n"
        scheduler.write(logLevel="Trace")
        assert stop.wait(60) == 0
        text = log.communicate(timeout=60)[0]
    eventually(lambda: kubectl.json("get", "pod", name, PLACE)["status"]["containerStatuses"][0]["restartCount"] == restarts + 1)
    stopped = text.index("Shutdown signal received, waiting for all workers to finish")
    # Its last task, which asks for another look while the rollout goes on; the operator does not wait for what the runner does then.
    assert "Set the reconciliation to occur after 5s" in text[stopped:], "the play that ran was not waited for"
    assert "All workers finished" in text[stopped:]
    scheduler.rest()
    assert "-v=6" in scheduler.deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    assert scheduler.deployment["metadata"]["generation"] == before + 1
    eventually(lambda: files_of_runs(kubectl) == [])


# Secrets

TOKEN_CONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "",
            "plugins": {"score": {"enabled": [{"name": "TargetLoadPacking"}]}},
            "pluginConfig": [
                {
                    "name": "TargetLoadPacking",
                    "args": {"metricProvider": {"type": "Prometheus", "address": "http://prometheus.invalid", "token": ""}},
                }
            ],
        }
    ],
}


def everything(kubectl) -> dict[str, str]:
    """All that the operator writes: every object of its namespace, its pods' logs, and its files."""
    places = {}
    kinds = kubectl("api-resources", "--verbs=list", "--namespaced", "--output=name").stdout.split()
    kinds = [kind for kind in kinds if kind not in ("events.events.k8s.io",)]
    for item in kubectl.json("get", ",".join(kinds), PLACE)["items"]:
        places[f"{item['kind']}/{item['metadata']['name']}"] = json.dumps(item)
    for pod in operator_pods(kubectl):
        name = pod["metadata"]["name"]
        places["log"] = kubectl("logs", name, PLACE).stdout
        files = kubectl("exec", name, PLACE, "--", "sh", "-c", "grep -ra '' /tmp || true").stdout
        for line in files.splitlines():
            path, _colon, text = line.partition(":")
            places[f"file {path}"] = places.get(f"file {path}", "") + text
    return places


def with_token(scheduler) -> tuple[dict, str]:
    """A configuration that holds a token, and the token."""
    token = "planted-" + uuid.uuid4().hex
    config = json.loads(json.dumps(TOKEN_CONFIG))
    config["profiles"][0]["schedulerName"] = scheduler.name
    config["profiles"][0]["pluginConfig"][0]["args"]["metricProvider"]["token"] = token
    return config, token


def told(scheduler, token, places) -> list[str]:
    """All places of the token but those where it belongs."""
    secret = f"Secret/{scheduler.workload}-config-"
    return [name for name in holding(token, places) if name != f"ConfigMap/{scheduler.name}" and not name.startswith(secret)]


def logged_tasks(kubectl) -> int:
    return kubectl.log(NAMESPACE, f"app.kubernetes.io/name={OPERATOR}").count("TASK")


def test_no_secret_is_printed_at_any_verbosity(new, kubectl):
    scheduler = new()
    config, token = with_token(scheduler)
    provider = config["profiles"][0]["pluginConfig"][0]["args"]["metricProvider"]
    scheduler.write_config(json.dumps(config))
    scheduler.write(operatorLogLevel="TraceAll")
    scheduler.rest()
    reconcile(scheduler)
    # Refused by the check: its messages quote what is wrong.
    provider["type"] = "NoSuchProvider"
    scheduler.write_config(json.dumps(config))
    eventually(lambda: "metricProvider.type" in scheduler.condition("Degraded")[2])
    provider["type"] = "Prometheus"
    scheduler.write_config(f"{json.dumps(config)}\n}}{token}")
    eventually(lambda: scheduler.condition("Degraded")[0] == "True" and "metricProvider.type" not in scheduler.condition("Degraded")[2])
    scheduler.write_config(json.dumps(config))
    # Refused by the API server: the log has the whole output of the run.
    overrides = {"nodeSelector": {"pool": "no valid label!"}}
    before = logged_tasks(kubectl)
    scheduler.write(operatorLogLevel="TraceAll", unsupportedConfigOverrides=overrides)
    eventually(lambda: scheduler.condition("Degraded")[1] == "ApplyFailed")
    # The operator logs the output when the run has ended.
    eventually(lambda: logged_tasks(kubectl) > before)
    places = everything(kubectl)
    assert f"ConfigMap/{scheduler.name}" in holding(token, places)
    assert [name for name in holding(token, places) if name.startswith(f"Secret/{scheduler.workload}-config-")], (
        "the configuration's Secret holds it"
    )
    assert "TASK" in places["log"], "the log holds no play: the verbosity was not high"
    assert [name for name in places if name.startswith(f"file {RUNS}")]
    assert told(scheduler, token, places) == []
    # That this would have been seen
    (pod,) = operator_pods(kubectl)
    planted = base64.b64encode(b"ab" + token.encode()).decode()
    kubectl("exec", pod["metadata"]["name"], PLACE, "--", "sh", "-c", f"echo {planted} >{RUNS}/planted")
    assert told(scheduler, token, everything(kubectl)) == [f"file {RUNS}/planted"]
    inside(kubectl, f"rm {RUNS}/planted")


@pytest.mark.long
def test_a_new_operator_prints_no_secret(new, kubectl):
    scheduler = new()
    config, token = with_token(scheduler)
    scheduler.write_config(json.dumps(config))
    scheduler.write(operatorLogLevel="TraceAll")
    scheduler.rest()
    kubectl("delete", "pod", PLACE, PODS, "--timeout=100s")
    eventually(lambda: len(operator_pods(kubectl)) == 1)
    scheduler.write(operatorLogLevel="TraceAll", logLevel="Debug")
    scheduler.rest()
    assert told(scheduler, token, everything(kubectl)) == []
