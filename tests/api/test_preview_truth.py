# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a preview places pods of many kinds, and where they are in fact, with nodes that are only objects of the API server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Resource
from cluster.throwaway.layout import Layout
from oracle.programs import number as minor
from support.load_watcher import load_watcher
from support.preview_truth import GPU, HOST, PODS, ZONE, Cluster, Score, preset, profile
from support.scheduler import oracle_program, oracle_programs, program_with_plugins


def some_pods(cluster: Cluster, count: int) -> list[dict]:
    """Pods of many kinds, each of another size."""
    here = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "apart"}}}
    by_zone = {"topologyKey": ZONE, "maxSkew": 1, "labelSelector": {"matchLabels": {"app": "spread"}}}
    ssd = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    near = {
        "topologyKey": ZONE,
        "labelSelector": {"matchLabels": {"app": "old-2"}},
        "namespaceSelector": {"matchLabels": {"team": "truth"}},
    }
    kinds = [
        {},
        {"app": "apart", "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [here]}}},
        {"app": "spread", "topologySpreadConstraints": [{**by_zone, "whenUnsatisfiable": "DoNotSchedule"}]},
        {"nodeSelector": {"disk": "ssd"}},
        {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 50, "preference": ssd}]}}},
        {"image": "registry.example.com/big:1"},
        {"resources": {GPU: "1"}, "tolerations": [{"key": "dedicated", "operator": "Exists"}]},
        {"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 80, "podAffinityTerm": near}]}}},
        {"ports": [{"containerPort": 80, "hostPort": 8080}]},
        {"app": "old-1", "topologySpreadConstraints": [{**by_zone, "whenUnsatisfiable": "ScheduleAnyway"}]},
        {"nodeSelector": {"rack": "none"}},
        {"limits": {"cpu": "9", "memory": "8Gi"}},
    ]
    return [
        cluster.pod(
            f"p{number:03}", cpu=f"{150 + 97 * number % 1800}m", memory=f"{100 + 83 * number % 1900}Mi", **kinds[number % len(kinds)]
        )
        for number in range(count)
    ]


@pytest.fixture
def cluster(kubeconfig, api_server, tmp_path):
    made = Cluster(Client.connect({"kubeconfig": str(kubeconfig)}, print), kubeconfig, tmp_path)
    yield made
    made.remove()


IN_TREE = {
    "default": profile(),
    "high_node_utilization": preset("high_node_utilization"),
    "packing": preset("packing"),
    "gpu_packing": preset("gpu_packing"),
    "zone_spread": preset("zone_spread"),
    "zone_spread, required": preset("zone_spread", when_unsatisfiable="DoNotSchedule"),
    "no_scoring": preset("no_scoring"),
    "requested to capacity": profile(
        pluginConfig=[
            {
                "name": "NodeResourcesFit",
                "args": {
                    "scoringStrategy": {
                        "type": "RequestedToCapacityRatio",
                        "resources": [{"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}],
                        "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]},
                    }
                },
            }
        ]
    ),
}


def test_a_preview_predicts_the_real_placements(cluster, own_cluster):
    cluster.fill(12)
    score = Score()
    cluster.compare(score, "default", {"binary": str(own_cluster / "bin/kube-scheduler")}, IN_TREE["default"], some_pods(cluster, 12))
    assert score.wrong == []
    assert (len(score.sizes), score.refused) == (11, 1)


@pytest.mark.long
def test_a_preview_predicts_the_real_preemption(cluster, own_cluster):
    """On the node whose victim has the lowest priority."""
    cluster.fill(2)
    classes = {value: f"{cluster.namespace}-{value}" for value in (10, 20, 1000)}
    for value, name in classes.items():
        cluster.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value})
    for number, (cpu, priority) in enumerate((("7", 20), ("14", 10))):
        low = cluster.pod(f"low-{number}", cpu=cpu, priorityClassName=classes[priority])
        low["spec"]["nodeName"] = f"sim-{number:03}"
        cluster.create(low)
    score = Score()
    high = cluster.pod("high", cpu="6", priorityClassName=classes[1000])
    side = {"binary": str(own_cluster / "bin/kube-scheduler")}
    try:
        result = cluster.compare(score, "preemption", side, IN_TREE["default"], [high])
    finally:
        for name in classes.values():
            cluster.client.delete(Resource("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", False), name)
    assert score.wrong == []
    assert [row["status"] for row in result["pods"]] == ["preempts"]
    assert result["summary"]["preempted"] == [f"{cluster.namespace}/low-1"]
    assert [cluster.client.get(PODS, f"low-{number}", cluster.namespace) is None for number in (0, 1)] == [False, True]


def topology(number: int) -> dict:
    """A node of two NUMA zones."""
    cpus = 8 + 7 * number % 41
    zones = [
        {
            "name": f"node-{zone}",
            "type": "Node",
            "resources": [
                {"name": name, "capacity": amount, "allocatable": amount, "available": amount}
                for name, amount in (("cpu", str(cpu)), ("memory", f"{5 + 3 * number % 9}Gi"))
            ],
        }
        for zone, cpu in enumerate((cpus // 4, cpus - cpus // 4))
    ]
    attributes = [{"name": "topologyManagerPolicy", "value": "single-numa-node"}, {"name": "topologyManagerScope", "value": "container"}]
    about = {"name": f"sim-{number:03}"}
    return {
        "apiVersion": "topology.node.k8s.io/v1alpha2",
        "kind": "NodeResourceTopology",
        "metadata": about,
        "attributes": attributes,
        "zones": zones,
    }


def measured(number: int, percent: int) -> dict:
    """The same load as the metrics API returns it."""
    cpu, memory = 8 + 7 * number % 41, 16 + 5 * number % 37
    usage = {"cpu": f"{10 * cpu * percent}m", "memory": f"{10 * memory * percent}Mi"}
    return {"apiVersion": "metrics.k8s.io/v1beta1", "kind": "NodeMetrics", "metadata": {"name": f"sim-{number:03}"}, "usage": usage}


@pytest.mark.long
@pytest.mark.usefixtures("kinds")
def test_previews_of_all_profiles_agree_with_the_real_placements_on_100_nodes(cluster, own_cluster, record_property):
    """In-tree profiles, and all presets, with the plugins of scheduler-plugins, the load of the nodes frozen."""
    cluster.fill(100)
    side = {"binary": str(program_with_plugins(own_cluster)), "plugins": "scheduler-plugins"}
    score = Score()
    for what, config in IN_TREE.items():
        cluster.compare(score, what, side, config, some_pods(cluster, 18))
    for mode in ("Least", "Most"):
        config = preset("node_resources_allocatable", mode=mode, weight=100)
        cluster.compare(score, f"allocatable, {mode}", side, config, some_pods(cluster, 12))

    percent = [(11 * number) % 90 + 5 for number in range(100)]
    averages = {f"sim-{number:03}": (percent[number], None) for number in range(100)}
    with load_watcher(averages) as url:
        # The preview has the load of the metrics API.
        load = [measured(number, percent[number]) for number in range(100)]
        for name in ("trimaran_target_load_packing", "trimaran_load_variation_risk_balancing"):
            config = preset(name, watcher_address=url)
            cluster.compare(score, f"{name}, metrics API", side, config, some_pods(cluster, 12), load)
    with load_watcher({name: (average, average % 13) for name, (average, _none) in averages.items()}) as url:
        model = {name: {"k0": 100, "k1": 1 + int(name[-2:]) % 7, "k2": 0.03} for name in averages}
        for name, more in {
            "trimaran_target_load_packing": {},
            "trimaran_load_variation_risk_balancing": {},
            "low_risk_overcommitment": {},
            "peaks": {"node_power_model": model},
        }.items():
            cluster.compare(score, name, side, preset(name, watcher_address=url, **more), some_pods(cluster, 12))

    for number in range(100):
        cluster.create(topology(number))
    cluster.compare(score, "node_resource_topology", side, preset("node_resource_topology", weight=10), some_pods(cluster, 12))

    limits = {"cpu": "6", "memory": "40Gi", GPU: "1"}
    spec = {"min": limits, "max": {**limits, "cpu": "200"}}
    about = {"name": "quota", "namespace": cluster.namespace}
    cluster.create({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "ElasticQuota", "metadata": about, "spec": spec})
    cluster.compare(score, "capacity_scheduling", side, preset("capacity_scheduling"), some_pods(cluster, 12))

    cluster.compare(score, "coscheduling", side, preset("coscheduling"), some_pods(cluster, 12))
    score.note(record_property)
    assert score.wrong == []
    assert len(score.sizes) >= 200
    assert score.exact >= 100


@pytest.mark.long
@pytest.mark.parametrize("program", oracle_programs(), ids=lambda one: one.path.name)
def test_previews_of_other_releases_agree_with_the_real_placements(cluster, program, tmp_path, record_property):
    """Schedulers of other releases, with the API server of this one."""
    served = Layout(Path(os.environ["CLUSTER_DIR"])).release.minor
    if minor(program.minor) > minor(served):
        pytest.skip(f"a kube-scheduler {program.minor} waits for kinds that the API server {served} does not have")
    side = {"binary": oracle_program(program, tmp_path), "release": program.minor, "plugins": program.plugins}
    cluster.fill(40)
    score = Score()
    for what in ("default", "packing", "zone_spread", "no_scoring"):
        cluster.compare(score, what, side, IN_TREE[what], some_pods(cluster, 12))
    score.note(record_property)
    assert score.wrong == []
    assert len(score.sizes) >= 40
