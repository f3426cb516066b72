# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What becomes of the nodes' load with each scheduler: figures for docs/benchmarks.md, table and plots for docs/load-aware-scheduling.md.

Real are schedulers, load-watcher and Prometheus. The nodes are objects without a kubelet: what counts is where pods are bound to, and
their load is what the pods that were bound to them are said to use.
"""

from __future__ import annotations

import random
import re
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from benchmarks import plots
from support.load_aware import BALANCING, DEFAULT, PACKING, QUIET, VARIABLES, ask_again, away, pod
from support.monitoring import CPU, Load, Stack
from support.scheduler import eventually
from support.site import site

TITLE = "Placement by load"
DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "load-aware-scheduling.md"

PODS, EVERY = 120, 5.0
CORES = 8
# Of what no pod of the run accounts for.
BASE = (0.45, 0.30, 0.20, 0.10, 0.05)
# What a pod requests, and what it uses: most less, a fifth of them twice as much.
REQUEST, USES, WEIGHTS = "200m", (0.4, 0.05, 0.03), (20, 40, 40)
TARGET = 0.7
# So many seconds of the past Prometheus keeps for the nodes whose load counts at once.
KEPT = 30
GREY, BLUE, ORANGE, LIGHT_BLUE, LIGHT_ORANGE = "#777777", "#1f77b4", "#e6550d", "#9ecae1", "#fdae6b"


@dataclass
class Pool:
    """Nodes for the pods of one scheduler, and what they have been doing."""

    name: str
    scheduler: str
    title: str
    colour: str
    recent: bool = False
    loads: dict[str, float] = field(default_factory=dict)
    pods: dict[str, int] = field(default_factory=dict)
    history: list[tuple[float, dict[str, float]]] = field(default_factory=list)

    def __post_init__(self):
        self.loads = {f"{self.name}-{number}": base for number, base in enumerate(BASE, 1)}
        self.pods = dict.fromkeys(self.loads, 0)

    def add(self, node: str, cores: float) -> None:
        self.pods[node] += 1
        self.loads[node] = min(1.0, self.loads[node] + cores / CORES)

    def highest(self) -> float:
        return max(self.loads.values())

    def mean(self) -> float:
        return statistics.mean(self.loads.values())

    def above(self) -> float:
        """Minutes above the target, of all nodes together."""
        pairs = zip(self.history, self.history[1:], strict=False)
        return sum((later - now) / 60 * sum(load > TARGET for load in loads.values()) for (now, loads), (later, _loads) in pairs)


POOLS = (
    Pool("default", DEFAULT, "default scheduler", GREY),
    Pool("packing", PACKING, "TargetLoadPacking", BLUE, recent=True),
    Pool("balancing", BALANCING, "LoadVariationRiskBalancing", ORANGE, recent=True),
    Pool("packing-15m", PACKING, "TargetLoadPacking, average of 15 minutes", LIGHT_BLUE),
    Pool("balancing-15m", BALANCING, "LoadVariationRiskBalancing, average of 15 minutes", LIGHT_ORANGE),
)


@pytest.fixture(scope="module")
def stack(own_cluster, kubectl, tmp_path_factory):
    """Prometheus, both schedulers, and the nodes of all pools."""
    with Stack.of(own_cluster, kubectl, tmp_path_factory.mktemp("monitoring"), openshift=False) as stack:
        variables = {"prometheus_url": stack.url, "probe": "never"}
        site(VARIABLES, variables=variables)
        loads = {node: load for pool in POOLS for node, load in pool.loads.items()}
        try:
            kubectl.apply(*(_node(node, pool) for pool in POOLS for node in pool.loads))
            stack.under({**dict.fromkeys(stack.nodes, QUIET), **{node: Load(load) for node, load in loads.items()}})
            ask_again(kubectl, PACKING, BALANCING)
            yield stack
        finally:
            kubectl("delete", "node", *loads, "--ignore-not-found")
            away(kubectl)


def test_the_load_of_nodes_is_measured_with_each_scheduler(stack, api, namespace, figures):
    core = api.CoreV1Api()
    chance = random.Random(2026)
    recent = "|".join(node for pool in POOLS if pool.recent for node in pool.loads)
    # What pods that were there already request is, for a minute, load not yet measured to a scheduler that has just started.
    time.sleep(60)
    started = time.monotonic()
    for number in range(PODS):
        stack.forget(f'{CPU}{{instance=~"{recent}"}}', older_than=KEPT)
        cores = chance.choices(USES, WEIGHTS)[0]
        for pool in POOLS:
            core.create_namespaced_pod(namespace, _pod(pool, number, namespace))

        def placed(number=number):
            """every pod of this round has a node"""
            found = core.list_namespaced_pod(namespace, label_selector=f"round={number}").items
            return found if len(found) == len(POOLS) and all(item.spec.node_name for item in found) else None

        nodes = {item.metadata.labels["pool"]: item.spec.node_name for item in eventually(placed)}
        now = time.monotonic() - started
        for pool in POOLS:
            pool.add(nodes[pool.name], cores)
            stack.exporter.load(nodes[pool.name], cpu=pool.loads[nodes[pool.name]])
            pool.history.append((now, dict(pool.loads)))
        time.sleep(max(0.0, started + (number + 1) * EVERY - time.monotonic()))
    for pool in POOLS:
        assert sum(pool.pods.values()) == PODS
        figures(f"{pool.title}: mean load of the nodes after {PODS} pods", 100 * pool.mean(), "%")
        figures(f"{pool.title}: highest load of a node", 100 * pool.highest(), "%")
    _write(table())
    _draw()
    # No kubelet would ever end them, and one by one it takes minutes.
    core.delete_collection_namespaced_pod(namespace, grace_period_seconds=0)


def table() -> str:
    head = f"| scheduler | mean | highest | lowest | minutes of nodes above {TARGET:.0%} | pods by node |\n|---|---|---|---|---|---|\n"
    return head + "".join(
        f"| {pool.title} | {pool.mean():.0%} | {pool.highest():.0%} | {min(pool.loads.values()):.0%} | {pool.above():.1f} "
        f"| {', '.join(map(str, pool.pods.values()))} |\n"
        for pool in (Pool("before", "", "before the first pod", ""), *POOLS)
    )


def _write(text: str) -> None:
    """Put the table where the page has the one of the last run."""
    place = r"(<!-- measured: placements -->\n).*?(<!-- end -->)"
    page, count = re.subn(place, lambda found: f"{found[1]}\n{text}\n{found[2]}", PAGE.read_text(), flags=re.DOTALL)
    assert count == 1, f"{PAGE} has no place for the table"
    PAGE.write_text(page)


def _draw() -> None:
    shown = {pool.title: pool for pool in POOLS[:3]}
    plots.lines(
        DOCS / "load-aware-load.svg",
        f"Load of five nodes each, while {PODS} pods come",
        "minutes",
        "CPU use in percent",
        {
            title: (pool.colour, [[(now / 60, 100 * loads[node]) for now, loads in pool.history] for node in pool.loads])
            for title, pool in shown.items()
        },
    )
    plots.bars(
        DOCS / "load-aware-pods.svg",
        f"Where {PODS} pods went",
        "CPU use of the node before the first pod",
        "pods",
        [f"{base:.0%}" for base in BASE],
        {pool.title: (pool.colour, list(pool.pods.values())) for pool in shown.values()},
    )


def _node(name: str, pool: Pool) -> dict:
    resources = {"cpu": str(CORES), "memory": "32Gi", "pods": "250"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"pool": pool.name}},
        "spec": {"taints": [{"key": "without-kubelet", "effect": "NoSchedule"}]},
        "status": {"capacity": resources, "allocatable": resources},
    }


def _pod(pool: Pool, number: int, namespace: str) -> dict:
    made = pod(
        f"{pool.name}-{number}", namespace, pool.scheduler, REQUEST, nodeSelector={"pool": pool.name}, tolerations=[{"operator": "Exists"}]
    )
    made["metadata"]["labels"].update({"pool": pool.name, "round": str(number)})
    return made
