# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Duration and memory of previews and explanations by the size of the cluster, and the rate of kube-scheduler without a preview."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Resource
from ansible_collections.osso.scheduler.plugins.module_utils._preview.explanation import Options as Question
from ansible_collections.osso.scheduler.plugins.module_utils._preview.explanation import explain
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import Options, make_scene, prepared, preview, select
from ansible_collections.osso.scheduler.plugins.module_utils._preview.sandbox import key_of
from ansible_collections.osso.scheduler.plugins.module_utils._preview.scheduler_process import EVENTS
from ansible_collections.osso.scheduler.plugins.module_utils._preview.simulation import PENDING, Stage, on_stage, perform, score
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import Snapshot, parse
from benchmarks import drain_alone, plots
from support.direct_module import COLLECTIONS
from support.preview import CONFIG, listed, node, pod
from support.scheduler import eventually

TITLE = "Previews"
NODES, PODS = Resource("v1", "Node", "nodes", False), Resource("v1", "Pod", "pods", True)


def objects(nodes: int, pods: int, on_nodes: bool = True) -> list[dict]:
    """Nodes of five sizes, and pods of nine sizes."""
    some = [node(f"n{number:04}", cpu=str(8 + 2 * (number % 5))) for number in range(nodes)]
    places = (f"n{number % nodes:04}" if on_nodes else "" for number in range(pods))
    return some + [pod(f"p{number}", on=place, cpu=f"{100 + 50 * (number % 9)}m") for number, place in enumerate(places)]


def cluster(nodes: int, pods: int, *more: dict) -> Snapshot:
    """Nodes, pods that have a node, and more objects."""
    return parse(listed(*objects(nodes, pods), *more), "list")


@pytest.fixture
def binary() -> str:
    return str(Path(os.environ["CLUSTER_DIR"], "bin/kube-scheduler"))


@pytest.fixture
def timed(figures, binary):
    """timed(what, act, options, snapshot) notes the seconds of a preview or explanation by the cluster's kube-scheduler."""

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


class Memory:
    """The largest resident memory of a process and its children together so far, in MB (10^6 bytes), with the files of their programs."""

    def __init__(self, process: int):
        self.largest = 0.0
        self._process = process
        self._ended = threading.Event()
        self._sampling = threading.Thread(target=self._sample)

    def __enter__(self):
        self._sampling.start()
        return self

    def __exit__(self, *_failure):
        self._ended.set()
        self._sampling.join()

    def _sample(self):
        while not self._ended.wait(0.1):
            self.largest = max(self.largest, sum(map(memory, [self._process, *children(self._process)])))


def memory(process: int) -> float:
    with suppress(OSError):  # it has ended
        (line,) = [line for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines() if line.startswith("Rss:")]
        return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def children(process: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            if int(path.read_text().rpartition(")")[2].split()[1]) == process:
                found.append(int(path.parent.name))
    return found


def test_the_duration_of_previews_and_explanations_is_measured(timed):
    """Required on two idle cores: 15 s, 12 s, 12 s."""
    timed("replace, 50 nodes, 500 pods, with the scores of moved pods (required: 15 s)", preview, Options({}, "replace"), cluster(50, 500))
    for which, cpu in (("that fits", "100m"), ("that does not fit", "64")):
        snapshot = cluster(500, 5000, pod("new", cpu=cpu))
        what = f"explanation of a pod {which}, 500 nodes, 5000 pods (required: 12 s)"
        timed(what, explain, Question({}, "new", "shop"), snapshot)


@pytest.mark.parametrize(("nodes", "pods"), [(3, 0), (50, 500), (500, 5000)])
def test_the_time_to_the_first_answer_is_measured(figures, binary, nodes, pods):
    """Required on two idle cores: 3 s from the start of sandbox and scheduler to the first answer."""
    new = pod("new")
    side = {"binary": binary, "config": CONFIG}
    seconds = []

    def act(stage: Stage):
        placements = {key_of(new): stage.attempt(new)}
        seconds.append(time.monotonic() - started)
        return placements

    scene = make_scene(Options(side, PENDING), cluster(nodes, pods, new), [new])
    with prepared("candidate", side, None) as candidate:
        started = time.monotonic()
        found = on_stage(candidate, scene.objects, act, 600, EVENTS, lambda text: None, 1)
    assert found.placements[key_of(new)].node
    figures(f"start to first answer, {nodes} nodes, {pods} pods (required: 3 s)", seconds[0], "s")


def test_duration_and_memory_of_a_drain_in_two_passes_are_measured(figures, binary, tmp_path):
    """Required on two idle cores: 45 s and 500 MB in total without scores, 60 s for the scores of 500 pods."""
    file = tmp_path / "cluster.json.gz"
    file.write_bytes(cluster(500, 5000).write())
    command = [sys.executable, drain_alone.__file__, str(file), binary, json.dumps(CONFIG)]
    environment = {**os.environ, "PYTHONPATH": str(COLLECTIONS)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as started, Memory(started.pid) as used:
        for what, required, pods in (("without scores", 45, 5000), ("scores of 500 pods", 60, 500)):
            found = json.loads(started.stdout.readline())
            assert found["pods"] == pods
            figures(f"drain, 500 nodes, 5000 pods, {what} (required: {required} s)", found["seconds"], "s")
            figures(f"drain, {what}: rate", found["pods"] / found["seconds"], "pods/s")
            figures(f"drain, {what}: CPU time of kube-scheduler", found["cpu"], "s")
            figures(f"drain, {what}: memory of all processes (required without scores: 500 MB)", used.largest, "MB")
    assert started.returncode == 0


@contextmanager
def pending_cluster(client: Client, nodes: int, pods: int) -> Iterator[str]:
    """Nodes and pending pods on a real API server; the namespace."""
    name = "scheduler-rate"
    client.create(Resource("v1", "Namespace", "namespaces", False), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    account = Resource("v1", "ServiceAccount", "serviceaccounts", True)
    eventually(lambda: client.get(account, "default", name))
    try:
        for one in objects(nodes, pods, on_nodes=False):
            if one["kind"] == "Pod":
                spec = {**one["spec"], "schedulerName": "second"}
                metadata = {"name": one["metadata"]["name"], "namespace": name, "labels": one["metadata"]["labels"]}
                client.create(PODS, {**one, "metadata": metadata, "spec": spec})
                continue
            stored = client.create(NODES, {**one, "metadata": {**one["metadata"], "managedFields": None}})
            # The API server adds a taint to each new node.
            stored["spec"].pop("taints", None)
            client.request("PUT", NODES.path(None, stored["metadata"]["name"]), body=stored, content_type="application/json")
        yield name
    finally:
        for number in range(nodes):
            client.delete(NODES, f"n{number:04}")
        client.delete(Resource("v1", "Namespace", "namespaces", False), name)


def test_the_rate_of_kube_scheduler_without_a_preview_is_measured(figures, binary, api_server, tmp_path):
    """The physical limit of a drain: the same nodes and pods, with a real API server in the place of the sandbox."""
    kubeconfig = api_server.folder / "kubeconfig"
    connection = {"kubeconfig": str(kubeconfig), "qps": 5000, "burst": 10000}
    file = tmp_path / "config.json"
    leader = {"leaderElect": False}
    file.write_text(json.dumps({**CONFIG, "clientConnection": connection, "leaderElection": leader, "percentageOfNodesToScore": 100}))
    client = Client.connect({"kubeconfig": str(kubeconfig)}, print)
    with pending_cluster(client, 500, 5000):
        command = [binary, f"--config={file}", "--secure-port=0", "--vmodule=schedule_one=2"]
        began = time.monotonic()
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as scheduler:
            bound, last = 0, b""
            for line in scheduler.stderr:
                last = line
                bound += b"Successfully bound pod to node" in line
                if bound == 5000:
                    break
            seconds = time.monotonic() - began
            fields = Path(f"/proc/{scheduler.pid}/stat").read_text().rpartition(")")[2].split()
            scheduler.terminate()
            scheduler.stderr.read()
        assert bound == 5000, last.decode()
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    figures("kube-scheduler alone with a real API server, 500 nodes, 5000 pods", seconds, "s")
    figures("kube-scheduler alone: rate", 5000 / seconds, "pods/s")
    figures("kube-scheduler alone: CPU time of kube-scheduler", cpu, "s")


GROWTH = (50, 100, 200, 500, 1000, 2000, 5000)
CHOSEN = 100


def test_the_growth_of_the_duration_with_the_number_of_nodes_is_measured(figures):
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
