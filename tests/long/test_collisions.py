# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two schedulers fill two nearly full nodes at the same time: kubelets reject pods without pools, and none with an exclusive pool.

A node of the throwaway cluster takes 110 pods, so the pods are created in waves. A wave waits until its pods are in the queues of both schedulers, because
the nodes are cordoned, and then both schedulers find the same free CPU at the same moment.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.collisions import is_rejected
from support.plain_scheduler import CONFIG, plain_scheduler
from support.prometheus import Monitoring
from support.scheduler import eventually

pytestmark = pytest.mark.long

PAUSE = "registry.k8s.io/pause:3.10"
DEFAULT = "default-scheduler"
ALERT = "SecondarySchedulerPodsRejected"
WAVES, PODS_OF_EACH, ROOM, CPU = 9, 30, 10, 20
"""ROOM: free places of each node; CPU: millicores of a pod."""
ONE_PROFILE = CONFIG.partition("  - schedulerName: {namespace}-packing")[0]
ON_ITS_NODES = (
    ONE_PROFILE
    + """\
    pluginConfig:
      - name: NodeAffinity
        args:
          addedAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms:
                - matchExpressions:
                    - {{key: osso.scheduler/pool, operator: In, values: ["{namespace}"]}}
"""
)
READER = "collisions-reader"


def pod(namespace, name, cpu, **spec):
    container = {"name": "c", "image": PAUSE, "resources": {"requests": {"cpu": f"{cpu}m"}}}
    # One second, so that a deleted pod exists until its kubelet no longer counts it.
    spec = {"containers": [container], "terminationGracePeriodSeconds": 1, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def millicores(quantity: str) -> int:
    return int(quantity[:-1]) if quantity.endswith("m") else int(float(quantity) * 1000)


def requested(one) -> int:
    containers = one["spec"]["containers"]
    return sum(millicores(container.get("resources", {}).get("requests", {}).get("cpu", "0")) for container in containers)


class Nodes:
    """Two nodes without taints that have room for `ROOM` pods each, because a pod of this class uses the rest."""

    def __init__(self, kubectl, namespace):
        self._kubectl, self._namespace = kubectl, namespace
        free = [one for one in kubectl.json("get", "nodes")["items"] if not one["spec"].get("taints")]
        if len(free) < 2:
            pytest.skip("needs two nodes: make cluster NODES=2")
        self.names = [one["metadata"]["name"] for one in free[:2]]
        # The pods of a namespace that is being deleted still take their room.
        eventually(lambda: all(one["status"]["phase"] == "Active" for one in kubectl.json("get", "namespaces")["items"]), 120)
        for one in free[:2]:
            self._fill(one)
        terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": self.names}]}]
        self.affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}

    def _fill(self, node) -> None:
        name = node["metadata"]["name"]
        present = self._kubectl.json("get", "pods", "--all-namespaces", f"--field-selector=spec.nodeName={name}")["items"]
        used = sum(requested(one) for one in present if one["status"]["phase"] not in ("Failed", "Succeeded"))
        rest = millicores(node["status"]["allocatable"]["cpu"]) - used - ROOM * CPU
        self._kubectl.create("pod", pod(self._namespace, f"filler-{name}", rest, nodeName=name), self._namespace)
        eventually(lambda: self._kubectl.get("pod", f"filler-{name}", self._namespace)["status"]["phase"] == "Running", 60)

    @contextmanager
    def closed(self) -> Iterator[None]:
        self._kubectl("cordon", *self.names)
        try:
            yield
        finally:
            self._kubectl("uncordon", *self.names)


def wave(kubectl, nodes: Nodes, schedulers: dict[str, str], see: Callable[[list[dict]], None]) -> int:
    """Pods of both namespaces, with their schedulerName (empty: none), on all free places; `see` is called with them. Returns how many a kubelet rejected."""

    def pods() -> list[dict]:
        return [one for namespace in schedulers for one in kubectl.list("pod", namespace)]

    with nodes.closed():
        for namespace, scheduler in schedulers.items():
            named = {"schedulerName": scheduler} if scheduler else {}
            items = [pod(namespace, f"p-{number}", CPU, affinity=nodes.affinity, **named) for number in range(PODS_OF_EACH)]
            kubectl("create", "--filename=-", stdin={"apiVersion": "v1", "kind": "List", "items": items})
        eventually(lambda: all(one["status"].get("conditions") for one in pods()), 60)
    eventually(lambda: sum(one["status"]["phase"] == "Running" for one in pods()) == ROOM * len(nodes.names), 120)
    found = pods()
    see(found)
    # All at once: pods of one namespace would take the places that the others leave.
    for namespace in schedulers:
        kubectl("delete", "pods", "--all", f"--namespace={namespace}", "--wait=false")
    eventually(lambda: not pods(), 120)
    return sum(is_rejected(one) for one in found)


@pytest.fixture
def nodes(kubectl, namespace):
    yield Nodes(kubectl, namespace)
    kubectl("delete", "pods", "--all", f"--namespace={namespace}", "--wait=false")


@pytest.fixture
def namespaces(kubectl, namespace):
    """One for the team, one for all others."""
    names = [f"{namespace}-team", f"{namespace}-others"]
    for name in names:
        kubectl("create", "namespace", name)
    yield names
    kubectl("delete", "namespace", *names, "--wait=false")


@pytest.fixture
def prometheus(own_cluster, kubectl, namespace, root, tmp_path):
    """start(scheduler): a Prometheus with the operator's rules, which scrapes the kubelets and both schedulers as a cluster's monitoring does."""
    rules = [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}, {"apiGroups": [""], "resources": ["nodes/metrics"], "verbs": ["get"]}]
    about = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": READER}}
    account = {"kind": "ServiceAccount", "name": "default", "namespace": namespace}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": READER}
    kubectl.apply(
        {**about, "kind": "ClusterRole", "rules": rules},
        {**about, "kind": "ClusterRoleBinding", "roleRef": reference, "subjects": [account]},
    )
    token = kubectl("create", "token", "default", f"--namespace={namespace}").stdout.strip()
    monitoring = Monitoring(own_cluster, tmp_path)

    def job(name, targets: dict[str, str]) -> dict:
        access = {"authorization": {"credentials": token}, "scheme": "https", "tls_config": {"insecure_skip_verify": True}}
        return {
            "job_name": name,
            **access,
            "static_configs": [{"targets": [target], "labels": {"node": node}} for node, target in targets.items()],
        }

    def start(scheduler):
        kubelets = {
            one["metadata"]["name"]: f"{one['status']['addresses'][0]['address']}:10250" for one in kubectl.json("get", "nodes")["items"]
        }
        (second,) = kubectl.list("pod", scheduler)
        schedulers = {"control-plane": f"{monitoring.address}:10259", scheduler: f"{second['status']['podIP']}:10259"}
        monitoring.jobs = [job("kubelet", kubelets), job("scheduler", schedulers)]
        monitoring.start(guarded=False)
        monitoring.rules(yaml.safe_load((root / "roles/operator/files/alerts.yaml").read_text())["groups"])
        monitoring.wait_for('up{job="kubelet"} == 1', *kubelets.values())
        monitoring.wait_for('up{job="scheduler"} == 1', *schedulers.values())
        return monitoring

    yield start
    monitoring.stop()
    kubectl("delete", "clusterrolebinding,clusterrole", READER)


def test_kubelets_reject_pods_of_two_schedulers_and_alert_and_report_name_both(
    kubectl, module_result, play, nodes, namespaces, prometheus, tmp_path, record_property
):
    team, others = namespaces
    reports = []

    with plain_scheduler(kubectl, config=ONE_PROFILE) as scheduler:
        monitoring = prometheus(scheduler)

        def report(pods):
            if reports or not any(is_rejected(one) for one in pods):
                return
            found = module_result("scheduler_info", {"gather": ["collisions"], "scheduler_name": scheduler})["collisions"]
            play("osso.scheduler.report", variables={"report_dest": str(tmp_path)})
            reports.append((found, (tmp_path / "schedulers-localhost.html").read_text()))

        rejected = [wave(kubectl, nodes, {team: scheduler, others: ""}, report) for _number in range(WAVES)]
        record_property("pods without pools", 2 * WAVES * PODS_OF_EACH)
        record_property("rejected without pools, by wave", rejected)
        assert sum(rejected) > 0
        ((found, page),) = reports
        both = [one for one in found if {one["scheduler_name"], *one["others"]} == {scheduler, DEFAULT}]
        assert both, found
        assert all(f"define a pool for {scheduler}" in one["message"] and html.escape(one["message"]) in page for one in both)

        (alert,) = eventually(lambda: [one for one in monitoring.alerts() if one["labels"]["alertname"] == ALERT], 60)
        assert alert["state"] == "firing"
        assert f": {', '.join(sorted([scheduler, DEFAULT]))}." in alert["annotations"]["description"]
        counted = sum(monitoring.query("sum by (instance) (kubelet_admission_rejections_total)").values())
        record_property("rejections that the kubelets have counted since their start", int(counted))


def test_no_kubelet_rejects_a_pod_of_an_exclusive_pool_or_of_the_others(kubectl, module_result, nodes, namespaces, record_property):
    team, others = namespaces
    with plain_scheduler(kubectl, config=ON_ITS_NODES) as scheduler:
        item = {"scheduler_name": scheduler, "namespaces": {"names": [team]}, "nodes": {"names": nodes.names[1:]}, "exclusive": True}
        try:
            result = module_result("scheduler_pool", {"pools": [item]})
            assert not result["failed"], result["msg"]
            trial = pod(team, "trial", CPU)
            eventually(
                lambda: (
                    scheduler
                    in kubectl("create", "--dry-run=server", "--filename=-", "--output=jsonpath={.spec.schedulerName}", stdin=trial).stdout
                ),
                30,
            )
            placed = set()

            def see(pods):
                placed.update((one["spec"]["schedulerName"], one["spec"]["nodeName"]) for one in pods if one["spec"].get("nodeName"))

            rejected = [wave(kubectl, nodes, {team: "", others: ""}, see) for _number in range(WAVES)]
        finally:
            removed = module_result("scheduler_pool", {"pools": [{"scheduler_name": scheduler, "state": "absent"}]})
            assert not removed["failed"], removed["msg"]
    record_property("pods with an exclusive pool", 2 * WAVES * PODS_OF_EACH)
    record_property("rejected with an exclusive pool", sum(rejected))
    assert placed == {(DEFAULT, nodes.names[0]), (scheduler, nodes.names[1])}
    assert sum(rejected) == 0
