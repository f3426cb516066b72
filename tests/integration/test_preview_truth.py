# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a preview places pods, and where they are in fact, on real nodes."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import Options, preview
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import take
from support.preview import CONFIG
from support.preview_truth import PODS, Cluster, Score, preset, profile
from support.scheduler import eventually, oracle_program, oracle_programs, program_with_plugins


@pytest.fixture
def cluster(kubeconfig, tmp_path):
    made = Cluster(Client.connect({"kubeconfig": str(kubeconfig)}, print), kubeconfig, tmp_path)
    yield made
    made.remove()


NAMES = {f"p{number:02}" for number in range(8)}


@pytest.fixture(scope="module")
def snapshot(kubeconfig, tmp_path_factory):
    """Of the cluster, with pods that its default scheduler has placed; and their namespace."""
    made = Cluster(Client.connect({"kubeconfig": str(kubeconfig)}, print), kubeconfig, tmp_path_factory.mktemp("snapshot"))
    for number, name in enumerate(sorted(NAMES)):
        made.create(made.pod(name, cpu=f"{10 + number}m", image="registry.k8s.io/pause:3.10", schedulerName="default-scheduler"))
    eventually(lambda: all(one["spec"].get("nodeName") for one in made.client.list(PODS, made.namespace)))
    found = take(made.client)
    made.remove()
    return found, made.namespace


def assert_nothing_moves(snapshot, side):
    """With the same configuration on both sides."""
    found, namespace = snapshot
    for mode in ("replace", "drain"):
        result = preview(Options(side, mode, side, namespaces=[namespace]), found, None, lambda text: None)
        statuses = {row["name"]: row["status"] for row in result["pods"]}
        assert set(statuses) == NAMES
        assert set(statuses.values()) <= {"same", "tie"}


def test_the_same_configuration_moves_no_pod_of_the_cluster(snapshot, own_cluster):
    assert_nothing_moves(snapshot, {"binary": str(own_cluster / "bin/kube-scheduler"), "config": CONFIG})


@pytest.mark.long
@pytest.mark.parametrize("program", oracle_programs(), ids=lambda one: one.path.name)
def test_no_release_moves_pods_of_the_cluster(snapshot, program, tmp_path):
    """Each kube-scheduler that the oracle builds reads the snapshot of a cluster of another release."""
    side = {"binary": oracle_program(program, tmp_path), "release": program.minor, "plugins": program.plugins, "config": CONFIG}
    if program.plugins == "scheduler-plugins":
        side.update(config=None, preset="coscheduling")
    assert_nothing_moves(snapshot, side)


@pytest.mark.long
def test_a_preview_predicts_the_placements_on_real_nodes(cluster, own_cluster, record_property):
    side = {"binary": str(program_with_plugins(own_cluster)), "plugins": "scheduler-plugins"}
    score = Score()
    for what, config in {"default": profile(), "packing": preset("packing"), "no_scoring": preset("no_scoring")}.items():
        # The last one fits nowhere.
        sizes = [(f"{20 + 7 * number}m", f"{30 + 11 * number}Mi") for number in range(12)] + [("1000", "1Gi")]
        pods = [
            cluster.pod(f"p{number:02}", cpu=cpu, memory=memory, image="registry.k8s.io/pause:3.10")
            for number, (cpu, memory) in enumerate(sizes)
        ]
        cluster.compare(score, what, side, config, pods)
    score.note(record_property)
    assert score.wrong == []
    assert (len(score.sizes), score.refused) == (36, 3)
