# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""E01 to E13: what the upstream operator's end-to-end tests assert, of the CR `cluster` on a real cluster (README.md)."""

from __future__ import annotations

import json
import uuid

import pytest
from conformance.operator.steps import edit, reconcile
from support.prometheus import NAMESPACE as MONITORING
from support.prometheus import Monitoring
from support.scheduler import IMAGE, eventually
from support.site import NAMESPACE, VARIABLES

LABELS = {"app": "secondary-scheduler"}
RESTRICTED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
RESTRICTED_POD = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}


@pytest.fixture(scope="module")
def placed(cluster, kubectl):
    """A pod for the secondary scheduler, in a namespace of its own; both names are upstream's."""
    namespace, name = "e2e-test-secondaryschedulerscheduling", "test-secondary-scheduler-scheduling-pod"
    kubectl("create", "namespace", namespace)
    container = {"name": "pause", "image": "registry.k8s.io/pause:3.10", "ports": [{"containerPort": 80}], "securityContext": RESTRICTED}
    spec = {"schedulerName": "secondary-scheduler", "securityContext": RESTRICTED_POD, "containers": [container]}
    kubectl.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec})
    yield namespace, name
    kubectl("delete", "namespace", namespace, "--ignore-not-found")


@pytest.fixture(scope="module")
def highly_available(cluster, kubectl):
    """The CR with topology HighlyAvailable, once its three replicas serve: how often it was rolled out before."""
    nodes = kubectl.json("get", "nodes")["items"]
    free = [node for node in nodes if not node["spec"].get("unschedulable") and not node["spec"].get("taints")]
    if len(free) < 3:
        pytest.skip(f"needs three nodes for pods, this cluster has {len(free)}")
    before = cluster.rollouts()
    edit(cluster, topology={"mode": "HighlyAvailable", "highlyAvailableTopology": {"maxReplicas": 3}})
    eventually(lambda: len(cluster.serving_pods()) == 3)
    yield before
    edit(cluster, topology=None)
    cluster.rest()


def single_replica(scheduler):
    """What upstream checks before and after it tries HighlyAvailable."""
    topology = scheduler.resource["spec"].get("topology") or {}
    assert topology.get("mode", "") in ("", "SingleReplica")
    assert scheduler.deployment["spec"]["replicas"] == 1
    eventually(lambda: len(scheduler.serving_pods()) == 1)


def test_E01_the_operators_objects_and_its_resource_are_on_the_cluster(operator, cluster, kubectl):
    definition = kubectl.json("get", "customresourcedefinition", "secondaryschedulers.operator.openshift.io")
    assert [version["name"] for version in definition["spec"]["versions"]] == ["v1"]
    namespace = kubectl.json("get", "namespace", NAMESPACE)
    assert namespace["metadata"]["labels"]["openshift.io/cluster-monitoring"] == "true"
    for kind in ("serviceaccount", "deployment"):
        assert cluster.get(kind, "osso-scheduler-operator"), kind
    for kind in ("role", "rolebinding"):
        assert cluster.get(kind, f"osso:{NAMESPACE}:operator:reconcile"), kind
    for kind in ("clusterrole", "clusterrolebinding"):
        assert kubectl.json("get", kind, f"osso:{NAMESPACE}:operator"), kind
    config = cluster.get("configmap", cluster.resource["spec"]["schedulerConfig"])
    assert (
        json.loads(json.dumps(VARIABLES["secondary_schedulers"][0]["config"]["profiles"]))[0]["schedulerName"]
        in config["data"]["config.yaml"]
    )
    assert cluster.resource["spec"]["schedulerImage"] == IMAGE


def test_E02_one_pod_of_the_scheduler_runs(cluster, kubectl):
    pods = [pod for pod in cluster.serving_pods() if pod["metadata"]["name"].startswith("secondary-scheduler-")]
    assert len(pods) == 1


def test_E03_the_scheduler_places_a_pod(placed, kubectl):
    namespace, name = placed
    pod = ["get", "pod", name, f"--namespace={namespace}"]
    eventually(lambda: kubectl.json(*pod)["spec"].get("nodeName"))
    selector = f"--field-selector=involvedObject.name={name},reason=Scheduled"
    # A scheduler writes the event after it has bound the pod, and does not wait for it.
    events = eventually(lambda: kubectl.json("get", "events", f"--namespace={namespace}", selector)["items"])
    assert {event.get("reportingComponent") or event["source"]["component"] for event in events} == {"secondary-scheduler"}


def test_E04_a_namespace_with_pods_of_the_scheduler_can_be_deleted(placed, kubectl):
    namespace, _name = placed
    kubectl("delete", "namespace", namespace, "--timeout=100s")
    assert kubectl.json("get", "namespace", namespace, "--ignore-not-found") is None


def test_E05_the_pods_have_one_label_and_the_service_has_one_port(cluster):
    assert cluster.deployment["spec"]["template"]["metadata"]["labels"] == LABELS
    assert len(cluster.get("service", "metrics")["spec"]["ports"]) == 1


def test_E06_the_metrics_service_exposes_the_https_port(cluster):
    service = cluster.get("service", "metrics")
    assert service["metadata"]["labels"].items() >= LABELS.items()
    assert [(port["name"], port["port"]) for port in service["spec"]["ports"]] == [("https", 10259)]


def test_E07_service_monitor_selects_the_service(cluster, service_monitors):
    reconcile(cluster)
    monitor = eventually(lambda: cluster.get("servicemonitor"))
    labels = cluster.get("service", "metrics")["metadata"]["labels"]
    assert monitor["spec"]["selector"]["matchLabels"].items() >= LABELS.items()
    assert monitor["spec"]["selector"]["matchLabels"].items() <= labels.items()
    (endpoint,) = monitor["spec"]["endpoints"]
    assert (endpoint["port"], endpoint["scheme"], endpoint["path"]) == ("https", "https", "/metrics")


class Scrapes(Monitoring):
    """A real Prometheus that scrapes every ready endpoint of Service `metrics`, as OpenShift's does, with the ServiceAccount of that one.

    Debian's Prometheus cannot look for endpoints itself: they are written to a file for it. Nobody signs the certificate but the scheduler
    itself, where there is no service-ca: it is not verified here.
    """

    def __init__(self, cluster, folder, kubectl):
        super().__init__(cluster, folder)
        self._kubectl = kubectl
        self._targets = folder / "targets.json"
        self._role = f"prometheus-{uuid.uuid4().hex[:6]}"
        self.account = f"system:serviceaccount:{MONITORING}:prometheus-k8s"
        token = folder / "token"
        token.write_text(kubectl("create", "token", "prometheus-k8s", f"--namespace={MONITORING}", "--duration=1h").stdout)
        kubectl("create", "clusterrole", self._role, "--verb=get", "--non-resource-url=/metrics")
        self.jobs = [
            {
                "job_name": "metrics",
                "scheme": "https",
                "tls_config": {"insecure_skip_verify": True},
                "authorization": {"credentials_file": str(token)},
                "file_sd_configs": [{"files": [str(self._targets)]}],
            }
        ]

    def allow(self):
        """Let Prometheus read."""
        binding = ["create", "clusterrolebinding", self._role, f"--clusterrole={self._role}"]
        self._kubectl(*binding, f"--serviceaccount={MONITORING}:prometheus-k8s", check=False)

    def of(self, metric, **labels) -> dict[str, float]:
        """The highest value of a metric of each endpoint, by its address."""
        selector = ["get", "endpointslices", f"--namespace={NAMESPACE}", "--selector=kubernetes.io/service-name=metrics"]
        slices = self._kubectl.json(*selector)["items"]
        ready = [address for found in slices for one in found["endpoints"] if one["conditions"]["ready"] for address in one["addresses"]]
        pods = {pod["status"].get("podIP"): pod for pod in self._kubectl.list("pod", NAMESPACE)}
        targets = [
            {
                "targets": [f"{address}:10259"],
                "labels": {"namespace": NAMESPACE, "container": pods[address]["spec"]["containers"][0]["name"]},
            }
            for address in ready
        ]
        self._targets.write_text(json.dumps(targets))
        chosen = ",".join(f'{name}="{value}"' for name, value in {"namespace": NAMESPACE, **labels}.items())
        return {
            instance.removesuffix(":10259"): value for instance, value in self.query(f"max by (instance) ({metric}{{{chosen}}})").items()
        }

    def close(self):
        self.stop()
        self._kubectl("delete", "clusterrole,clusterrolebinding", self._role, "--ignore-not-found")


@pytest.fixture(scope="module")
def scrapes(cluster, own_cluster, kubectl, tmp_path_factory):
    there = kubectl.json("get", "namespace", MONITORING, "--ignore-not-found")
    if not there:
        kubectl("create", "namespace", MONITORING)
        kubectl("create", "serviceaccount", "prometheus-k8s", f"--namespace={MONITORING}")
    scrapes = Scrapes(own_cluster, tmp_path_factory.mktemp("prometheus"), kubectl)
    try:
        scrapes.start_prometheus()
        yield scrapes
    finally:
        scrapes.close()
        if not there:
            kubectl("delete", "namespace", MONITORING, "--wait=false")


@pytest.mark.long
def test_E08_authorized_clients_can_read_every_metrics_endpoint(cluster, scrapes, kubectl):
    eventually(lambda: len(cluster.serving_pods()) == 1)
    refused = kubectl("auth", "can-i", "get", "/metrics", f"--as={scrapes.account}", check=False).returncode
    if refused:
        eventually(lambda: set(scrapes.of("up").values()) == {0})
    scrapes.allow()
    eventually(lambda: scrapes.of("up") == {pod["status"]["podIP"]: 1 for pod in cluster.serving_pods()})
    for resource in ("services", "endpoints", "pods", "endpointslices.discovery.k8s.io"):
        found = kubectl("auth", "can-i", "watch", resource, f"--namespace={NAMESPACE}", f"--as={scrapes.account}", check=False)
        assert found.stdout.strip() == "yes", f"Prometheus could not find the target by {resource}"


@pytest.mark.long
def test_E09_the_scheduler_counts_its_attempts(cluster, scrapes, run_module, namespace):
    probe = run_module("scheduler_probe", {"scheduler_name": cluster.scheduler_name, "namespace": namespace})
    assert probe.get("placed"), probe
    scrapes.allow()

    def counted():
        """Prometheus has the attempts of the container of that name"""
        return list(scrapes.of("scheduler_pod_scheduling_attempts_bucket", container="secondary-scheduler").values())

    eventually(lambda: max(counted(), default=0) >= 1)


def test_E10_the_scheduler_has_one_replica_by_default(cluster):
    single_replica(cluster)


@pytest.mark.long
def test_E11_a_highly_available_scheduler_runs_on_three_nodes(highly_available, cluster, kubectl):
    assert cluster.deployment["spec"]["replicas"] == 3
    revision = cluster.deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
    sets = kubectl.json("get", "replicasets", f"--namespace={NAMESPACE}", "--selector=app=secondary-scheduler")["items"]
    (current,) = [found for found in sets if found["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == revision]
    assert current["spec"]["replicas"] == 3
    pods = cluster.serving_pods()
    assert {pod["metadata"]["ownerReferences"][0]["name"] for pod in pods} == {current["metadata"]["name"]}
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 3
    assert cluster.rollouts() == highly_available, "more replicas are no other pods"
    assert cluster.get("lease")["spec"]["holderIdentity"].rsplit("_", 1)[0] in {pod["metadata"]["name"] for pod in pods}


@pytest.mark.long
def test_E12_replicas_avoid_each_others_nodes(highly_available, cluster):
    term = {"labelSelector": {"matchLabels": LABELS}, "topologyKey": "kubernetes.io/hostname"}
    for pod in cluster.serving_pods():
        wanted = pod["spec"]["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
        assert wanted == [{"weight": 100, "podAffinityTerm": term}]


@pytest.mark.long
def test_E13_the_scheduler_returns_to_one_replica(highly_available, cluster):
    edit(cluster, topology={"mode": "SingleReplica", "highlyAvailableTopology": None})
    eventually(lambda: cluster.deployment["spec"]["replicas"] == 1)
    single_replica(cluster)
