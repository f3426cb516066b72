# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Duration of previews and explanations by the size of the cluster, and the memory of the largest scheduler."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._preview.explanation import Options as Question
from ansible_collections.osso.scheduler.plugins.module_utils._preview.explanation import explain
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import Options, make_scene, prepared, preview, select
from ansible_collections.osso.scheduler.plugins.module_utils._preview.sandbox import key_of
from ansible_collections.osso.scheduler.plugins.module_utils._preview.simulation import perform, score
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import Snapshot, parse
from benchmarks import plots
from support.preview import CONFIG, listed, node, pod

TITLE = "Previews"


def cluster(nodes: int, pods: int, *more: dict) -> Snapshot:
    """Nodes of five sizes, pods of nine sizes with a node, and more objects."""
    some = [node(f"n{number:04}", cpu=str(8 + 2 * (number % 5))) for number in range(nodes)]
    placed = [pod(f"p{number}", on=f"n{number % nodes:04}", cpu=f"{100 + 50 * (number % 9)}m") for number in range(pods)]
    return parse(listed(*some, *placed, *more), "list")


@pytest.fixture
def timed(figures):
    """timed(what, act, options, snapshot) notes the seconds of a preview or explanation by the cluster's kube-scheduler."""
    binary = str(Path(os.environ["CLUSTER_DIR"], "bin/kube-scheduler"))

    def note(what, act, options, snapshot):
        started = time.monotonic()
        act(
            options._replace(candidate={"binary": binary, "config": CONFIG}),
            snapshot,
            None,
            lambda text: None,
        )
        figures(what, time.monotonic() - started, "s")

    return note


def test_previews_and_explanations(timed, figures):
    """Wanted on two idle cores: 15 s, 45 s and 60 s for the scores, 12 s, 12 s, 500 MB."""
    timed("replace, 50 nodes, 500 pods, scores of moved pods", preview, Options({}, "replace"), cluster(50, 500))
    timed("drain, 500 nodes, 5000 pods, scores of 500 pods", preview, Options({}, "drain"), cluster(500, 5000))
    for which, cpu in (("that fits", "100m"), ("that does not fit", "64")):
        snapshot = cluster(500, 5000, pod("new", cpu=cpu))
        timed(f"explanation of a pod {which}, 500 nodes, 5000 pods", explain, Question({}, "new", "shop"), snapshot)
    figures("memory of the largest process that was started", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, "MiB")


GROWTH = (50, 100, 200, 500, 1000, 2000, 5000)
CHOSEN = 100


def test_growth_with_the_nodes(figures):
    """The same 100 pods among more and more nodes, each with ten pods; at the end the plot of docs/preview.md."""
    side = {"binary": str(Path(os.environ["CLUSTER_DIR"], "bin/kube-scheduler")), "config": CONFIG}
    points: dict[str, list[tuple[int, float]]] = {
        "places of 100 pods": [],
        "scores of 100 pods": [],
        "explanation of a pod": [],
    }
    for nodes in GROWTH:
        snapshot = cluster(nodes, 10 * nodes, pod("new"))
        options = Options(side, "replace")
        offered = select(options, snapshot).offered[:CHOSEN]
        scene = make_scene(options, snapshot, offered)
        with prepared("candidate", side, None) as candidate:
            found = perform(candidate, scene, 1800, lambda text: None)
            assert len(found.placements) == CHOSEN
            scored = score(candidate, scene, {key_of(one): set() for one in offered}, found.history, 1800, lambda text: None)
        started = time.monotonic()
        explain(Question(side, "new", "shop"), snapshot, None, lambda text: None)
        for (what, those), seconds in zip(points.items(), (found.seconds, scored.seconds, time.monotonic() - started), strict=True):
            those.append((nodes, round(seconds, 1)))
            figures(f"{what}, {nodes} nodes with {10 * nodes} pods", seconds, "s")
    plots.lines(
        Path(__file__).parents[2] / "docs/preview-growth.svg",
        "Duration of a preview by the size of the cluster",
        "nodes",
        "seconds",
        {what: (colour, [those]) for (what, those), colour in zip(points.items(), ("#1f77b4", "#d62728", "#2ca02c"), strict=True)},
        percent=False,
    )
