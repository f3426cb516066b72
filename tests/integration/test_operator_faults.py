# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator is killed, its API server goes away, refuses and conflicts: in the end the cluster is as its users said.

The short form; tests/long/test_operator_storm.py is the long one.
"""

from __future__ import annotations

import http.client
import json
import random
import ssl
import time
from urllib.parse import urlsplit

import pytest
from support.access import service_account
from support.convergence import SET_LABEL, Cluster, User, converge
from support.fault_proxy import FaultProxy
from support.operator_pod import WAYS_TO_DIE, Operator
from support.outages import Outages
from support.scheduler import eventually
from support.site import NAMESPACE, installed

pytestmark = pytest.mark.long

SEED = 5
RATE = 0.2
NAMES = ("faults-a", "faults-b", "faults-c")
WITHIN = 600


@pytest.fixture(scope="module")
def outages(own_cluster):
    outages = Outages(own_cluster)
    yield outages
    outages.repair()


@pytest.fixture(scope="module")
def proxy(own_cluster):
    with FaultProxy(own_cluster, SEED) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def operator_behind_proxy(kubectl, outages, proxy):
    """The operator of the demo, behind the proxy."""
    installed()
    operator = Operator(kubectl)
    operator.use_api_server(*proxy.environment)
    yield operator
    proxy.rate = 0
    operator.use_api_server(*(f"{variable.split('=')[0]}-" for variable in proxy.environment))


@pytest.fixture(scope="module")
def users(operator_behind_proxy, kubectl):
    users = [User(kubectl, name) for name in NAMES]
    yield users
    for user in users:
        user.delete()
    converge(kubectl, users, WITHIN)
    for user in users:
        kubectl("delete", "configmap", user.name, f"--namespace={NAMESPACE}", "--ignore-not-found")


class Client:
    """One connection, kept alive as clients do, without a retry."""

    def __init__(self, proxy, own_cluster, token):
        address = urlsplit(proxy.url)
        trust = ssl.create_default_context(cafile=own_cluster / "pki/ca.crt")
        self._connection = http.client.HTTPSConnection(address.hostname, address.port, timeout=20, context=trust)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def open(self, method, path, body=None):
        self._connection.request(method, path, json.dumps(body) if body else None, self._headers)
        return self._connection.getresponse()

    def __call__(self, method, path, body=None):
        """Status, headers and object of an answer."""
        with self.open(method, path, body) as answer:
            return answer.status, answer.headers, json.load(answer)


def test_the_proxy_answers_429_at_its_rate_and_passes_other_requests(own_cluster, kubectl, namespace):
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch", "create"]}
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "made-"}}
    with service_account(kubectl, namespace, rule) as somebody, FaultProxy(own_cluster, SEED) as proxy:
        token = somebody["kubeconfig"]["users"][0]["user"]["token"]
        client = Client(proxy, own_cluster, token)
        assert [client(method, path, body)[0] for method, body in (("POST", made), ("GET", None), ("POST", made))] == [201, 200, 201]
        assert client("GET", "/api/v1/nodes")[0] == 403, "the API server knows who asks"
        assert Client(proxy, own_cluster, "wrong")("GET", path)[0] == 401

        proxy.rate = 1
        status, headers, answer = client("GET", path)
        assert (status, headers["Retry-After"], answer["reason"]) == (429, "1", "TooManyRequests")
        assert {client("POST", path, made)[0] for _attempt in range(10)} == {409, 429}
        with Client(proxy, own_cluster, token).open("GET", f"{path}?watch=true&timeoutSeconds=5") as events:
            kubectl("create", "configmap", "seen", f"--namespace={namespace}")
            assert any(json.loads(line)["object"]["metadata"]["name"] == "seen" for line in events)
        kinds = [item["metadata"]["name"].split("-")[0] for item in kubectl.json("get", "configmaps", f"--namespace={namespace}")["items"]]
        assert kinds.count("made") == 2, "what is refused does not reach the API server"

        proxy.rate = 0.5
        proxy.injected.clear()
        answers = [client("GET", path)[0] for _attempt in range(40)]
    assert 5 < answers.count(429) == proxy.injected[429] < 35
    assert set(answers) == {200, 429}


def test_all_schedulers_converge_to_their_last_edit_after_the_faults(operator_behind_proxy, users, proxy, outages, kubectl):
    dice = random.Random(SEED)
    proxy.rate = RATE
    for user in users:
        user.create()
    edited, configured, deleted = users

    def kill(way):
        pod = operator_behind_proxy.await_running()
        operator_behind_proxy.work(proxy, dice.randrange(5, 60))
        operator_behind_proxy.kill(pod, way)

    for number, way in enumerate(WAYS_TO_DIE):
        edited.edit(logLevel=("Debug", "Trace", "Normal")[number])
        configured.configure(number + 2)
        kill(way)
    edited.edit(logLevel="Debug")
    with outages.of("kube-apiserver"):
        time.sleep(5)
    configured.configure(10)
    kubectl("delete", "deployment", configured.scheduler.workload, f"--namespace={NAMESPACE}", "--ignore-not-found")
    deleted.delete()
    edited.edit(logLevel="Debug", topology={"mode": "HighlyAvailable", "highlyAvailableTopology": {"maxReplicas": 2}})
    kill("lose")
    eventually(lambda: proxy.injected[409] and proxy.injected[429], WITHIN)
    proxy.rate = 0
    cluster = converge(kubectl, users, WITHIN)

    counts = {"409": proxy.injected[409], "429": proxy.injected[429], "passed": proxy.forwarded.total()}
    print(f"\nseed {SEED}; answers: {counts}; 4 kills, 1 outage; looked at: {cluster.counts}; wrong: {len(cluster.findings)}")


def test_the_check_sees_an_orphan_a_lost_edit_and_a_stuck_finalizer(operator_behind_proxy, users, kubectl):
    """Nobody is there who could mend them."""
    edited, configured, _deleted = users
    operator_behind_proxy.scale(0)
    labels = {SET_LABEL: "operand-ghost"}
    blocked = {"name": "blocked", "namespace": NAMESPACE, "labels": {SET_LABEL: f"operand-{edited.name}"}}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "ghost", "namespace": NAMESPACE, "labels": labels}}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"osso:{NAMESPACE}:ghost:planted"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
    }
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**blocked, "finalizers": ["example.com/never"]}}
    twin = edited.scheduler.deployment
    twin["metadata"] = {"name": "twin", "namespace": NAMESPACE, "labels": blocked["labels"]}
    twin["spec"]["replicas"] = 0
    try:
        kubectl.apply(account, binding, config_map)
        kubectl("delete", "configmap", "blocked", f"--namespace={NAMESPACE}", "--wait=false")
        kubectl("create", "--filename=-", stdin=twin)
        edited.edit(logLevel="TraceAll")
        configured.configure(99)
        kubectl("delete", "secondaryscheduler", configured.name, f"--namespace={NAMESPACE}", "--wait=false")  # its finalizer holds it
        found = "\n".join(Cluster(kubectl, users).findings)
        for expected in (
            f"orphan: ServiceAccount {NAMESPACE}/ghost of {NAMESPACE}/ghost",
            f"orphan: ClusterRoleBinding osso:{NAMESPACE}:ghost:planted",
            f"{edited.name}: lost edit: generation",
            f"{edited.name}: duplicate: 2 Deployments",
            f"{configured.name}: lost edit: the Deployment's configuration",
            f"stuck finalizer: SecondaryScheduler {NAMESPACE}/{configured.name}",
            f"stuck finalizer: ConfigMap {NAMESPACE}/blocked",
        ):
            assert expected in found, found
    finally:
        kubectl("patch", "configmap", "blocked", f"--namespace={NAMESPACE}", "--type=merge", '--patch={"metadata":{"finalizers":null}}')
        for planted in ("serviceaccount/ghost", f"clusterrolebinding/osso:{NAMESPACE}:ghost:planted", "deployment/twin"):
            kubectl("delete", planted, f"--namespace={NAMESPACE}")
        operator_behind_proxy.scale(1)
