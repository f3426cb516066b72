# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A SecondaryScheduler whose plugin asks a real, guarded Prometheus: its token, its certificate authority, its metrics."""

from __future__ import annotations

import json
import socket
import threading
import time
import uuid
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._operand.prometheus_access import EXPIRES, ISSUED
from conformance.operator.steps import reconcile
from support.certificates import Authority
from support.monitoring import CPU, READ, Stack, grant
from support.scheduler import IMAGE, Scheduler, eventually
from support.secrets import decoded, holding
from support.site import DEMO, NAMESPACE, installed, site

PLACE = f"--namespace={NAMESPACE}"
OPERATOR = "--selector=app.kubernetes.io/name=osso-scheduler-operator"
PREFIX = "osso.scheduler/"
LIFE = 600  # seconds, the shortest that the API server gives a token
HA = {"mode": "HighlyAvailable", "highlyAvailableTopology": {"maxReplicas": 2}}


@pytest.fixture(scope="module")
def stack(own_cluster, kubectl, tmp_path_factory):
    """Who may read it: the ServiceAccount metrics-reader, and not the ServiceAccount stranger."""
    installed()
    with Stack.of(own_cluster, kubectl, tmp_path_factory.mktemp("monitoring"), openshift=False) as stack:
        grant(kubectl, NAMESPACE, READ, name="metrics-reader")
        yield stack
    kubectl("delete", "serviceaccount", "metrics-reader", PLACE, "--ignore-not-found")


class LoadAware(Scheduler):
    """By TargetLoadPacking, with placeholders for URL and token."""

    def __init__(self, kubectl, stack, **annotations):
        super().__init__(kubectl, f"load-{uuid.uuid4().hex[:6]}")
        kubectl.apply(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": f"{self.name}-ca", "namespace": NAMESPACE},
                "data": {"ca.crt": stack.authority.pem},
            }
        )
        self.annotations = {
            "prometheus-url": stack.guarded_url,
            "prometheus-token": "serviceaccount/metrics-reader",
            "prometheus-ca": f"{self.name}-ca",
            **{name.replace("_", "-"): value for name, value in annotations.items()},
        }

    def config(self, weight=1):
        provider = {"type": "Prometheus", "address": "${PROM_URL}", "token": "${PROM_TOKEN}", "insecureSkipVerify": False}
        args = {"metricProvider": provider, "targetUtilization": 70, "defaultRequestsMultiplier": "1"}
        disabled = [{"name": "NodeResourcesFit"}, {"name": "NodeResourcesBalancedAllocation"}]
        profile = {
            "schedulerName": self.scheduler_name,
            "plugins": {"score": {"disabled": disabled, "enabled": [{"name": "TargetLoadPacking", "weight": weight}]}},
            "pluginConfig": [{"name": "TargetLoadPacking", "args": args}],
        }
        return json.dumps(
            {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile]}, indent=1
        )

    def write(self, **spec):
        super().write(**spec)
        self.annotate(**self.annotations)

    def annotate(self, **annotations):
        """Set annotations of ours, by name without prefix."""
        given = [f"{PREFIX}{name.replace('_', '-')}={value}" for name, value in annotations.items()]
        self.kubectl("annotate", "--overwrite", "secondaryscheduler", self.name, PLACE, *given)

    def look_again(self):
        self.annotate(look=uuid.uuid4().hex)

    def secrets(self) -> list[dict]:
        """Those with its configurations."""
        return self.kubectl.list("secret", NAMESPACE, f"app={self.workload}")

    def tokens(self) -> set[str]:
        return {decoded(secret["data"]["token"]) for secret in self.secrets() if "token" in secret["data"]}

    def age(self, left: int) -> None:
        """Date younger tokens back, so that they are renewed in so many seconds: when a fifth of their life is left."""
        expires = datetime.now(UTC) + timedelta(seconds=LIFE / 5 + left)
        dates = {ISSUED: expires - timedelta(seconds=LIFE), EXPIRES: expires}
        given = [f"{name}={timestamps.write(moment)}" for name, moment in dates.items()]
        for secret in self.secrets():
            if timestamps.write(expires) < (secret["metadata"]["annotations"].get(EXPIRES) or ""):
                self.kubectl("annotate", "--overwrite", "secret", secret["metadata"]["name"], PLACE, *given)

    def log(self) -> str:
        return self.kubectl.log(NAMESPACE, f"app={self.workload}")

    def delete(self):
        super().delete()
        self.kubectl("delete", "configmap", f"{self.name}-ca", PLACE, "--ignore-not-found")


@pytest.fixture
def load_aware(stack, kubectl):
    """Make such a scheduler."""
    made = []

    def make(**annotations):
        made.append(LoadAware(kubectl, stack, **annotations))
        made[-1].write_config()
        return made[-1]

    yield make
    for scheduler in made:
        scheduler.delete()


def everything(kubectl) -> dict[str, str]:
    """Every object that is no Secret, the log of each of our pods, and what Ansible leaves in the operator's."""
    places = {}
    kinds = kubectl("api-resources", "--verbs=list", "--namespaced", "--output=name").stdout.split()
    kinds = [kind for kind in kinds if kind not in ("events.events.k8s.io", "secrets")]
    for item in kubectl.json("get", ",".join(kinds), "--all-namespaces")["items"]:
        places["{kind}/{metadata[namespace]}/{metadata[name]}".format(**item)] = json.dumps(item)
    for pod in kubectl.list("pod", NAMESPACE):
        name = pod["metadata"]["name"]
        places[f"log {name}"] = kubectl("logs", name, PLACE, "--all-containers", check=False).stdout
    for pod in kubectl.json("get", "pods", PLACE, OPERATOR)["items"]:
        places["files"] = kubectl("exec", pod["metadata"]["name"], PLACE, "--", "sh", "-c", "grep -ra '' /tmp || true").stdout
    return places


def place_pod(kubectl, scheduler, name):
    container = {"name": "pause", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": {"cpu": "1m"}}}
    spec = {"schedulerName": scheduler.scheduler_name, "containers": [container], "terminationGracePeriodSeconds": 0}
    kubectl.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec})


def node_of(kubectl, name):
    return kubectl.get("pod", name, "default")["spec"].get("nodeName")


def test_token_is_used_and_appears_nowhere(load_aware, stack, kubectl):
    scheduler, before = load_aware(), stack.queries_seen()
    scheduler.write(logLevel="TraceAll", operatorLogLevel="TraceAll")
    scheduler.rest()
    eventually(lambda: scheduler.condition("MetricsAvailable")[:2] == ("True", "AsExpected"))
    (secret,) = scheduler.secrets()
    config = json.loads(decoded(secret["data"]["config.yaml"]))
    provider = config["profiles"][0]["pluginConfig"][0]["args"]["metricProvider"]
    (token,) = scheduler.tokens()
    assert provider == {"type": "Prometheus", "address": stack.guarded_url, "token": token, "insecureSkipVerify": False}
    # The guard lets nobody in without a token, and the authority is known by SSL_CERT_FILE alone.
    assert "error querying Prometheus" not in scheduler.log()
    eventually(lambda: stack.queries_seen() > before + 80)  # the operator asks a handful, load-watcher 102 each time
    reconcile(scheduler)
    places = everything(kubectl)
    assert any("kube-scheduler" in text for name, text in places.items() if name.startswith("log secondary-scheduler-load"))
    assert "TASK" in places["files"], "Ansible's output is not among what was read"
    assert holding(token, places) == []
    # It would have been found.
    scheduler.write_config(scheduler.config().replace("${PROM_TOKEN}", token))
    assert holding(token, everything(kubectl)) == [f"ConfigMap/{NAMESPACE}/{scheduler.name}"]


@pytest.mark.long
def test_an_untrusted_certificate_is_reported_until_the_right_ca_is_given(load_aware, stack, kubectl, tmp_path):
    scheduler = load_aware()
    other = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"{scheduler.name}-ca", "namespace": NAMESPACE},
        "data": {"ca.crt": Authority(tmp_path, "other").pem},
    }
    kubectl.apply(other)
    scheduler.write()
    scheduler.rest()
    status, reason, message = scheduler.condition("MetricsAvailable")
    assert (status, reason) == ("False", "CertificateNotVerified"), message
    assert scheduler.condition("Available")[0] == "True", "it runs all the same"
    eventually(lambda: "x509: certificate signed by unknown authority" in scheduler.log())
    kubectl.apply({**other, "data": {"ca.crt": stack.authority.pem}})
    scheduler.look_again()
    eventually(lambda: scheduler.condition("MetricsAvailable")[0] == "True")
    scheduler.rest()
    eventually(lambda: "x509" not in scheduler.log())  # the old pod's log ends with it
    assert scheduler.rollouts() == 2


def pods_of(scheduler) -> list[str]:
    return [pod["metadata"]["name"] for pod in scheduler.kubectl.list("pod", NAMESPACE, f"app={scheduler.workload}")]


@pytest.fixture
def placed(kubectl):
    """Names of pods that are deleted in the end."""
    names = []
    yield names
    if names:
        kubectl("delete", "pod", "--namespace=default", *names, "--ignore-not-found", "--wait=false")


@pytest.mark.long
@pytest.mark.parametrize("replicas", [1, 2])
def test_token_is_renewed_without_a_gap(load_aware, placed, kubectl, replicas):
    if len(kubectl.json("get", "nodes")["items"]) < replicas:
        pytest.skip(f"{replicas} replicas need as many nodes: make cluster NODES={replicas}")
    scheduler = load_aware(prometheus_token_duration=LIFE)
    loudly = {"logLevel": "TraceAll", "operatorLogLevel": "TraceAll"}
    scheduler.write(**loudly, **({"topology": HA} if replicas > 1 else {}))
    eventually(lambda: len(scheduler.serving_pods()) == replicas)
    seen, gaps, logs = scheduler.tokens(), 0, {}
    first, started = scheduler.rollouts(), time.monotonic()
    while scheduler.rollouts() < first + 2:
        assert time.monotonic() - started < 180, f"{len(seen)} tokens, {scheduler.rollouts() - first} rollouts"
        placed.append(f"{scheduler.name}-{len(placed)}")
        place_pod(kubectl, scheduler, placed[-1])
        seen |= scheduler.tokens()
        scheduler.age(left=15)
        # Those of the pods that are replaced, too
        logs |= {f"log {name}": kubectl("logs", name, PLACE, check=False).stdout for name in pods_of(scheduler)}
        gaps += len(scheduler.serving_pods()) < replicas
        time.sleep(2)
    assert gaps == 0
    seen |= scheduler.tokens()
    assert len(seen) > 2
    assert len([name for name in logs if "kube-scheduler" in logs[name]]) > replicas
    places = {**logs, **everything(kubectl)}
    assert [(token[-6:], holding(token, places)) for token in seen if holding(token, places)] == []
    assert scheduler.condition("Degraded")[0] == "False"
    eventually(lambda: all(node_of(kubectl, name) for name in placed))
    scheduler.rest()
    eventually(lambda: len(scheduler.secrets()) == 1)
    assert scheduler.condition("MetricsAvailable")[0] == "True"


@contextmanager
def silent(address):
    """An address where connections are accepted and nothing is ever said."""
    with socket.create_server((address, 0)) as listener:
        taken, stop = [], threading.Event()

        def take():
            listener.settimeout(0.2)
            while not stop.is_set():
                try:
                    taken.append(listener.accept()[0])
                except TimeoutError:
                    continue

        thread = threading.Thread(target=take)
        thread.start()
        try:
            yield f"http://{address}:{listener.getsockname()[1]}"
        finally:
            stop.set()
            thread.join()
            for connection in taken:
                connection.close()


def refused(scheduler, reason, said, condition="MetricsUnavailable"):
    """Nothing was brought, and the status says why."""
    eventually(lambda: said in scheduler.condition("Degraded")[2])
    assert scheduler.condition("Degraded")[:2] == ("True", condition)
    if reason:
        assert scheduler.condition("MetricsAvailable")[:2] == ("False", reason)
    assert scheduler.deployment is None


@pytest.mark.long
def test_a_scheduler_whose_prometheus_never_answers_is_not_deployed(load_aware, stack):
    with silent(stack.address) as url:
        scheduler = load_aware(prometheus_url=url)
        scheduler.write()
        refused(scheduler, "NoAnswer", "would not even start")


@pytest.mark.long
def test_a_scheduler_without_its_required_metrics_is_not_deployed(load_aware, stack, kubectl):
    scheduler = load_aware(monitoring_required="true")
    with stack.down():
        scheduler.write()
        refused(scheduler, "Unavailable", "it answers that it does not work (502)")
        # Before Prometheus is back: with the next look at it, the scheduler would be deployed.
        scheduler.annotate(prometheus_token=f"secret/{scheduler.name}")
        refused(scheduler, "", f"the Secret {NAMESPACE}/{scheduler.name} does not exist", condition="PrometheusUnknown")
    garbage = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": scheduler.name, "namespace": NAMESPACE}}
    kubectl.apply({**garbage, "stringData": {"token": "garbage"}})
    scheduler.look_again()
    refused(scheduler, "TokenRefused", "does not accept the token")
    stranger = kubectl("create", "token", "default", PLACE).stdout.strip()
    kubectl.apply({**garbage, "stringData": {"token": stranger}})
    scheduler.look_again()
    refused(scheduler, "Forbidden", f"The ServiceAccount {NAMESPACE}/default may not read metrics")
    stack.rules([])
    stack.forget()
    try:
        scheduler.annotate(prometheus_token="serviceaccount/metrics-reader")
        refused(scheduler, "MetricMissing", f"Prometheus has no {CPU}")
        stack.exporter.only(stack.nodes[0], cpu=0.2)
    finally:
        stack.exporter.only(*stack.nodes)
        stack.record()
    scheduler.look_again()
    eventually(lambda: scheduler.condition("MetricsAvailable")[0] == "True")
    scheduler.rest()
    # It runs; what goes away now is told and stops nothing.
    with stack.down():
        scheduler.look_again()
        eventually(lambda: scheduler.condition("MetricsAvailable")[:2] == ("False", "Unavailable"))
        assert scheduler.condition("Available")[0] == "True"
    kubectl("delete", "secret", scheduler.name, PLACE)


@pytest.mark.long
def test_a_metric_that_becomes_not_a_number_is_reported_while_the_scheduler_runs(load_aware, stack, kubectl):
    """TargetLoadPacking calculates an invalid score from it, so no pod is placed."""
    scheduler = load_aware()
    scheduler.write()
    scheduler.rest()
    assert scheduler.condition("MetricsAvailable")[:2] == ("True", "AsExpected")
    pods = [f"{scheduler.name}-{number}" for number in range(2)]
    place_pod(kubectl, scheduler, pods[0])
    eventually(lambda: node_of(kubectl, pods[0]))
    rollouts = scheduler.rollouts()

    def told():
        scheduler.look_again()
        return scheduler.condition("MetricsAvailable")[:2] == ("False", "MetricInvalid")

    stack.exporter.load(stack.nodes[0], cpu=float("nan"))
    try:
        eventually(told)
        message = scheduler.condition("MetricsAvailable")[2]
        assert f"is nan for {stack.nodes[0]}" in message
        assert "TargetLoadPacking" in message
        # What runs is left as it is.
        assert scheduler.condition("Available")[0] == "True"
        assert scheduler.rollouts() == rollouts
    finally:
        # Its counters remain without a number: the node starts with new ones.
        stack.exporter.only(*stack.nodes[1:])
        stack.exporter.only(*stack.nodes)
        stack.forget()
        stack.record()
    scheduler.look_again()
    eventually(lambda: scheduler.condition("MetricsAvailable")[0] == "True")
    place_pod(kubectl, scheduler, pods[1])
    eventually(lambda: node_of(kubectl, pods[1]))
    kubectl("delete", "pod", "--namespace=default", *pods, "--wait=false")


def test_an_account_whose_token_the_operator_may_not_request_is_reported(load_aware):
    scheduler = load_aware(prometheus_token="serviceaccount/default")
    scheduler.write()
    remedy = "or set the annotation osso.scheduler/prometheus-token to serviceaccount/metrics-reader"
    refused(scheduler, "", remedy, condition="PrometheusUnknown")
    assert "the operator is not allowed to request a token" in scheduler.condition("Degraded")[2]


class Watched(LoadAware):
    """The load-watcher service asks in its place."""

    def config(self, weight=1):
        text = json.loads(super().config(weight))
        args = text["profiles"][0]["pluginConfig"][0]["args"]
        del args["metricProvider"]
        args["watcherAddress"] = "${LOAD_WATCHER_URL}"
        return json.dumps(text)

    @property
    def watchers(self) -> list[dict]:
        """The pods of the service that are ready."""
        found = self.kubectl.list("pod", NAMESPACE, f"app.kubernetes.io/name=load-watcher,app.kubernetes.io/instance={self.name}")
        return [pod for pod in found if any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions") or [])]


@pytest.mark.long
def test_load_watcher_keeps_the_token_from_the_scheduler(stack, kubectl):
    image = IMAGE.replace(IMAGE.rpartition("/")[2], "load-watcher:v0.2.4").replace("scheduler-plugins/", "")
    scheduler = Watched(kubectl, stack, load_watcher=image, prometheus_token_duration=LIFE)
    try:
        busy, middling, idle = stack.nodes[:3]
        for node, cpu in ((busy, 0.95), (middling, 0.6), (idle, 0.05)):
            stack.exporter.load(node, cpu=cpu)
        stack.forget()
        stack.wait_for(CPU, *stack.nodes)
        time.sleep(12)  # the average of 15 minutes begins with the rule's window
        scheduler.write_config()
        scheduler.write(logLevel="Debug")
        scheduler.rest()
        eventually(lambda: scheduler.watchers)
        eventually(lambda: scheduler.condition("MetricsAvailable")[:2] == ("True", "AsExpected"))
        (token,) = scheduler.tokens()
        (pod,) = scheduler.watchers
        mounted = scheduler.deployment["spec"]["template"]["spec"]["volumes"][0]["secret"]["secretName"]
        assert holding(token, {mounted: json.dumps(scheduler.get("secret", mounted))}) == []
        assert holding(token, everything(kubectl)) == []
        before = scheduler.rollouts()

        def placed() -> set[str]:
            names = [f"{scheduler.name}-{uuid.uuid4().hex[:4]}" for _count in range(6)]
            for name in names:
                place_pod(kubectl, scheduler, name)
            eventually(lambda: all(node_of(kubectl, name) for name in names))
            nodes = {node_of(kubectl, name) for name in names}
            kubectl("delete", "pod", "--namespace=default", *names, "--wait=false")
            return nodes

        # The plugin asks the load-watcher every 30 seconds.
        eventually(lambda: placed() == {middling})
        # A new token replaces the load-watcher and nothing else.
        scheduler.age(left=0)
        eventually(lambda: scheduler.watchers and scheduler.watchers[0]["metadata"]["name"] != pod["metadata"]["name"])
        scheduler.rest()
        assert scheduler.rollouts() == before
    finally:
        stack.exporter.only(*stack.nodes, cpu=0.2)
        scheduler.delete()
    eventually(lambda: kubectl.get("deployment", f"load-watcher-{scheduler.name}", NAMESPACE) is None)


@pytest.mark.long
def test_the_playbook_site_requires_only_the_name_of_a_load_aware_preset(stack, kubectl, play):
    name = f"load-{uuid.uuid4().hex[:6]}"
    item = {"name": name, "image": IMAGE, "preset": "trimaran_load_variation_risk_balancing"}
    variables = {
        "secondary_schedulers": [item],
        # What differs from OpenShift: its Route leads to Prometheus, and its ClusterRole lets schedulers read.
        "monitoring_url": stack.guarded_url,
        "monitoring_prometheus_ca": stack.authority.pem,
        "monitoring_access": "minimal",
        "monitoring_required": True,
        "probe": "never",
    }
    loudly = {"args": [f"--extra-vars=@{DEMO}", "-vvv"], "diff": True}
    role = {"name": "Monitoring", "ansible.builtin.import_role": {"name": "osso.scheduler.monitoring"}}
    scheduler = Scheduler(kubectl, name)
    # The role makes an account of the same name, and adopts none.
    kubectl("delete", "serviceaccount", "metrics-reader", PLACE)
    try:
        said = play("osso.scheduler.site", variables=variables, **loudly).output()
        assert "eyJhbGci" not in said, "a web token begins so"
        assert {note.removeprefix(PREFIX): value for note, value in scheduler.resource["metadata"]["annotations"].items()}.items() >= {
            "prometheus-url": stack.guarded_url,
            "prometheus-token": "serviceaccount/metrics-reader",
            "prometheus-ca": f"secondary-scheduler-{name}-config-prometheus-ca",
            "monitoring-required": "true",
        }.items()
        assert scheduler.condition("MetricsAvailable")[:2] == ("True", "AsExpected")
        place_pod(kubectl, scheduler, name)
        eventually(lambda: node_of(kubectl, name))
        assert play("osso.scheduler.site", variables=variables, **loudly).changed == []
    finally:
        kubectl("delete", "pod", name, "--namespace=default", "--ignore-not-found", "--wait=false")
        site(variables={"secondary_schedulers": [{**item, "state": "absent"}], "probe": "never"})
        play([role], variables={"monitoring_state": "absent"})
    for kind in ("configmap", "secret", "serviceaccount"):
        left = [found["metadata"]["name"] for found in kubectl.list(kind, NAMESPACE)]
        assert [found for found in left if name in found or found == "metrics-reader"] == [], kind
