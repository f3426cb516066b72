# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Presets do what they say: the real kube-scheduler places pods on nodes that are only objects of the API server."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections import Counter

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.presets import configuration
from support.load_watcher import load_watcher
from support.scheduler import eventually, program_with_plugins

ZONE = "topology.kubernetes.io/zone"
GPU = "nvidia.com/gpu"
NUMA = "topology.node.k8s.io/v1alpha2"


class Simulation:
    """Nodes, pods and a scheduler with one preset."""

    def __init__(self, kubectl, own_cluster, namespace, folder):
        self.kubectl = kubectl
        self.namespace = namespace
        self._cluster = own_cluster
        self._folder = folder
        # Also the label of the nodes that are its own.
        self.scheduler_name = f"test-{uuid.uuid4().hex[:8]}"
        self._programs = []

    def node(self, name, zone="a", cpu="10", taints=(), **resources) -> str:
        """A node that is ready; its whole name."""
        name = f"{self.scheduler_name}-{name}"
        labels = {"preset": self.scheduler_name, "kubernetes.io/hostname": name, ZONE: zone}
        about = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
        self.kubectl.apply(about)
        room = {"cpu": cpu, "memory": "40Gi", "pods": "110", **resources}
        status = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}
        self.kubectl("patch", "node", name, "--subresource=status", "--type=merge", f"--patch={json.dumps({'status': status})}")
        # The API server adds one to every new node.
        self.kubectl("patch", "node", name, "--type=merge", f"--patch={json.dumps({'spec': {'taints': list(taints)}})}")
        return name

    def start(self, preset, **parameters):
        """Run a kube-scheduler with the preset."""
        config = configuration(preset, {**parameters, "scheduler_name": self.scheduler_name})
        config |= {"clientConnection": {"kubeconfig": f"{self._cluster}/kubeconfig"}, "leaderElection": {"leaderElect": False}}
        file = self._folder / "config.yaml"
        file.write_text(yaml.safe_dump(config))
        program = program_with_plugins(self._cluster)
        with (self._folder / "scheduler.log").open("wb") as log:
            self._programs.append(
                subprocess.Popen(
                    ["kube-scheduler", f"--config={file}", "--secure-port=0"], executable=program, stdout=log, stderr=subprocess.STDOUT
                )
            )

    def pods(self, name, count=1, labels=None, limits=None, node=None, **requests) -> None:
        """A Deployment whose pods are for the nodes of this test, or on one of them already.

        kube-scheduler spreads pods by default only if they belong to a workload.
        """
        labels = {"app": name, **(labels or {})}
        pod = {
            "schedulerName": self.scheduler_name,
            "nodeSelector": {"preset": self.scheduler_name},
            "containers": [
                {"name": "c", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests, "limits": limits or requests}}
            ],
        }
        if node:
            pod["nodeName"] = node
        spec = {"replicas": count, "selector": {"matchLabels": {"app": name}}, "template": {"metadata": {"labels": labels}, "spec": pod}}
        about = {"name": name, "namespace": self.namespace}
        self.kubectl.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": about, "spec": spec})
        eventually(lambda: sum(self.placed(name).values()) == count)

    def placed(self, name) -> Counter:
        """Node, without the prefix of the test -> its number of pods of the workload; None for those without a node."""
        found = self.kubectl.list("pod", self.namespace, f"app={name}")
        return Counter(
            pod["spec"]["nodeName"].removeprefix(f"{self.scheduler_name}-") if "nodeName" in pod["spec"] else None for pod in found
        )

    def await_placed(self, name) -> Counter:
        """The same once all have a node."""

        def all_placed():
            where = self.placed(name)
            return where if where and None not in where else None

        return eventually(all_placed)

    def await_refused(self, name) -> None:
        """Wait until the scheduler has refused a pod of the workload."""

        def refused():
            found = self.kubectl.list("pod", self.namespace, f"app={name}")
            return any(condition["status"] == "False" for pod in found for condition in pod["status"].get("conditions", ()))

        eventually(refused)

    def end(self):
        for program in self._programs:
            program.kill()
            program.wait()
        self.kubectl("delete", "deployments", "--all", f"--namespace={self.namespace}", "--cascade=foreground", "--wait=false")
        self.kubectl("delete", "nodes", f"--selector=preset={self.scheduler_name}")
        self.kubectl("delete", "pods", "--all", f"--namespace={self.namespace}", "--force", "--grace-period=0")


@pytest.fixture
def simulation(kubectl, own_cluster, namespace, tmp_path, kinds):
    simulation = Simulation(kubectl, own_cluster, namespace, tmp_path)
    yield simulation
    simulation.end()


def test_packing_fills_one_node_with_the_replicas_of_a_workload(simulation):
    for name in ("one", "two", "three"):
        simulation.node(name)
    simulation.start("packing")
    simulation.pods("web", 6, cpu="1", memory="1Gi")
    assert sorted(simulation.await_placed("web").values()) == [6]


def test_openshift_profile_high_node_utilization_spreads_replicas(simulation):
    """What docs/presets.md says of it."""
    for name in ("one", "two", "three"):
        simulation.node(name)
    simulation.start("high_node_utilization")
    simulation.pods("web", 6, cpu="1", memory="1Gi")
    assert len(simulation.await_placed("web")) > 1


def test_gpu_packing_keeps_nodes_free_for_pods_with_many_gpus(simulation):
    for name in ("one", "two"):
        simulation.node(name, **{GPU: "8"})
    simulation.start("gpu_packing")
    simulation.pods("small", 4, cpu="1", memory="1Gi", **{GPU: "1"})
    assert sorted(simulation.await_placed("small").values()) == [4]
    simulation.pods("big", 1, cpu="1", memory="1Gi", **{GPU: "8"})
    simulation.await_placed("big")


def test_zone_spread_uses_each_zone_evenly(simulation):
    """Zone a has most of the room: without the preset it gets most of the pods."""
    for number in range(3):
        simulation.node(f"a{number}", zone="a", cpu="20")
    simulation.node("b", zone="b")
    simulation.node("c", zone="c")
    simulation.start("zone_spread")
    simulation.pods("web", 9, cpu="100m", memory="100Mi")
    zones = Counter()
    for node, pods in simulation.await_placed("web").items():
        zones[node[0]] += pods
    assert zones == {"a": 3, "b": 3, "c": 3}


def test_zone_spread_with_do_not_schedule_leaves_pods_pending(simulation):
    simulation.node("a", zone="a")
    simulation.node("b", zone="b", cpu="1")
    simulation.start("zone_spread", when_unsatisfiable="DoNotSchedule")
    simulation.pods("web", 4, cpu="900m", memory="1Gi")
    simulation.await_refused("web")
    eventually(lambda: sum(pods for node, pods in simulation.placed("web").items() if node) == 3)


def test_no_scoring_places_pods_where_they_fit(simulation):
    simulation.node("small", cpu="1")
    simulation.node("large", cpu="10")
    simulation.start("no_scoring")
    simulation.pods("web", 3, cpu="2", memory="1Gi")
    assert simulation.await_placed("web") == {"large": 3}


def test_low_node_utilization_spreads_pods_over_nodes(simulation):
    for name in ("one", "two", "three"):
        simulation.node(name)
    simulation.start("low_node_utilization")
    simulation.pods("web", 6, cpu="1", memory="1Gi")
    assert sorted(simulation.await_placed("web").values()) == [2, 2, 2]


@pytest.mark.parametrize(("mode", "chosen"), [("Least", "small"), ("Most", "large")])
def test_node_resources_allocatable_prefers_nodes_by_their_size(simulation, mode, chosen):
    simulation.node("small", cpu="4")
    simulation.node("large", cpu="40")
    simulation.start("node_resources_allocatable", mode=mode, weight=100)
    simulation.pods("web", 1, cpu="100m", memory="100Mi")
    assert simulation.await_placed("web") == {chosen: 1}


def test_coscheduling_binds_no_pod_of_a_gang_that_does_not_fit(simulation, kubectl):
    simulation.node("one", cpu="4")
    simulation.start("coscheduling")
    for name, size in (("fits", 3), ("too-big", 9)):
        about = {"name": name, "namespace": simulation.namespace}
        kubectl.apply({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": about, "spec": {"minMember": size}})
    simulation.pods("too-big", 9, labels={"scheduling.x-k8s.io/pod-group": "too-big"}, cpu="1", memory="1Gi")
    simulation.await_refused("too-big")
    simulation.pods("fits", 3, labels={"scheduling.x-k8s.io/pod-group": "fits"}, cpu="1", memory="1Gi")
    assert simulation.await_placed("fits") == {"one": 3}
    assert simulation.placed("too-big") == {None: 9}


def test_capacity_scheduling_keeps_the_quota_of_a_namespace(simulation, kubectl):
    simulation.node("one", cpu="40")
    limits = {"cpu": "2", "memory": "8Gi"}
    about = {"name": "quota", "namespace": simulation.namespace}
    spec = {"min": limits, "max": limits}
    kubectl.apply({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "ElasticQuota", "metadata": about, "spec": spec})
    simulation.start("capacity_scheduling")
    simulation.pods("web", 3, cpu="1", memory="1Gi")
    simulation.await_refused("web")
    eventually(lambda: simulation.placed("web") == {"one": 2, None: 1})


@pytest.fixture
def topology(simulation, kubectl):
    """Create the NodeResourceTopology of a node: free CPUs of its zones."""
    created = []

    def create(node, cpus, capacity="8"):
        zones = [
            {
                "name": f"node-{number}",
                "type": "Node",
                "resources": [
                    {"name": "cpu", "capacity": capacity, "allocatable": capacity, "available": cpu},
                    {"name": "memory", "capacity": "16Gi", "allocatable": "16Gi", "available": "16Gi"},
                ],
            }
            for number, cpu in enumerate(cpus)
        ]
        attributes = [
            {"name": "topologyManagerPolicy", "value": "single-numa-node"},
            {"name": "topologyManagerScope", "value": "container"},
        ]
        kubectl.apply(
            {"apiVersion": NUMA, "kind": "NodeResourceTopology", "metadata": {"name": node}, "attributes": attributes, "zones": zones}
        )
        created.append(node)

    yield create
    kubectl("delete", "noderesourcetopologies", *created)


def test_node_resource_topology_rejects_pods_that_fit_into_no_single_zone(simulation, topology):
    # Both have 8 CPUs, but only one has 6 of them in one zone.
    split, whole = simulation.node("split", cpu="8"), simulation.node("whole", cpu="8")
    topology(split, ["4", "4"])
    topology(whole, ["6", "2"])
    simulation.start("node_resource_topology")
    simulation.pods("numa", 1, cpu="6", memory="1Gi")
    assert simulation.await_placed("numa") == {"whole": 1}
    simulation.pods("second", 1, cpu="6", memory="1Gi")
    simulation.await_refused("second")


@pytest.mark.parametrize(("strategy", "pods", "chosen"), [("MostAllocated", 3, "used"), ("LeastAllocated", 1, "empty")])
def test_node_resource_topology_packs_or_spreads_by_its_strategy(simulation, topology, strategy, pods, chosen):
    used, empty = simulation.node("used", cpu="16"), simulation.node("empty", cpu="16")
    topology(used, ["4", "4"])
    topology(empty, ["8", "8"])
    simulation.pods("old", 1, node=used, cpu="8", memory="8Gi")
    simulation.start("node_resource_topology", scoring_strategy=strategy)
    simulation.pods("web", pods, cpu="1", memory="100Mi")
    assert simulation.await_placed("web") == {chosen: pods}


@pytest.mark.parametrize(
    ("preset", "load", "chosen"),
    [
        ("trimaran_target_load_packing", {"hot": (95, 1), "cool": (30, 1)}, "cool"),
        # It packs up to the target.
        ("trimaran_target_load_packing", {"half": (45, 1), "idle": (1, 1)}, "half"),
        ("trimaran_load_variation_risk_balancing", {"steady": (40, 1), "varying": (40, 40)}, "steady"),
    ],
)
def test_load_aware_presets_choose_a_node_by_its_load(simulation, preset, load, chosen):
    nodes = {simulation.node(name): about for name, about in load.items()}
    with load_watcher(nodes) as url:
        simulation.start(preset, watcher_address=url)
        simulation.pods("web", 1, cpu="500m", memory="100Mi")
        assert simulation.await_placed("web") == {chosen: 1}


def test_target_load_packing_packs_the_replicas_of_a_workload(simulation):
    nodes = {simulation.node(name): (load, 1) for name, load in (("half", 45), ("idle", 1))}
    with load_watcher(nodes) as url:
        simulation.start("trimaran_target_load_packing", watcher_address=url)
        simulation.pods("web", 3, cpu="100m", memory="100Mi")
        assert simulation.await_placed("web") == {"half": 3}


def test_low_risk_overcommitment_avoids_nodes_that_use_more_than_was_requested(simulation):
    nodes = {simulation.node("hot"): (80, 5), simulation.node("cool"): (10, 5)}
    limits = {"cpu": "9", "memory": "30Gi"}
    for number, node in enumerate(nodes):
        simulation.pods(f"old-{number}", 1, limits=limits, node=node, cpu="2", memory="8Gi")
    with load_watcher(nodes) as url:
        simulation.start("low_risk_overcommitment", watcher_address=url)
        simulation.pods("web", 1, limits=limits, cpu="2", memory="8Gi")
        assert simulation.await_placed("web") == {"cool": 1}


def test_peaks_chooses_the_node_that_needs_the_least_more_power(simulation):
    nodes = {simulation.node(name): (50, 1) for name in ("thrifty", "wasteful")}
    model = {node: {"k0": 100, "k1": 1 if "thrifty" in node else 50, "k2": 0.05} for node in nodes}
    with load_watcher(nodes) as url:
        simulation.start("peaks", watcher_address=url, node_power_model=model)
        simulation.pods("web", 1, cpu="1", memory="100Mi")
        assert simulation.await_placed("web") == {"thrifty": 1}
