# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a preview places pods, and where they are in fact, on real nodes."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import Client
from support.preview_truth import Cluster, Score, preset, profile
from support.scheduler import program_with_plugins


@pytest.mark.long
def test_a_preview_comes_true_on_real_nodes(kubeconfig, own_cluster, tmp_path, record_property):
    cluster = Cluster(Client.connect({"kubeconfig": str(kubeconfig)}, print), kubeconfig, tmp_path)
    side = {"binary": str(program_with_plugins(own_cluster)), "plugins": "scheduler-plugins"}
    score = Score()
    try:
        for what, config in {"default": profile(), "packing": preset("packing"), "no_scoring": preset("no_scoring")}.items():
            # The last one fits nowhere.
            sizes = [(f"{20 + 7 * number}m", f"{30 + 11 * number}Mi") for number in range(12)] + [("1000", "1Gi")]
            pods = [
                cluster.pod(f"p{number:02}", cpu=cpu, memory=memory, image="registry.k8s.io/pause:3.10")
                for number, (cpu, memory) in enumerate(sizes)
            ]
            cluster.compare(score, what, side, config, pods)
    finally:
        cluster.remove()
    score.note(record_property)
    assert score.wrong == []
    assert (len(score.sizes), score.refused) == (36, 3)
