# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`cluster start`: bring the cluster to the wanted state from whatever state it is in."""

from __future__ import annotations

import os

from . import addons, build, control_plane, images, network, nodes, pki, prerequisites, processes
from .api import Api, wait
from .layout import Layout, Record, node_of, write
from .progress import ClusterError, Progress
from .status import components

MOST_NODES = 50
DEFAULT_NODES = 3


def wanted_nodes(recorded: Record | None) -> int:
    """NODES, else as many as the cluster has, else three."""
    text = os.environ.get("NODES", "")
    if not text:
        return recorded.nodes if recorded else DEFAULT_NODES
    if not text.isdigit() or not 1 <= int(text) <= MOST_NODES:
        raise ClusterError(f"NODES={text}: must be a whole number from 1 to {MOST_NODES}")
    return int(text)


def start(layout: Layout, progress: Progress) -> None:
    recorded = Record.load(layout)
    count = wanted_nodes(recorded)
    _check(layout, count)
    prerequisites.ensure_packages(layout, progress)
    build.ensure(layout, progress)

    record = _settle(layout, recorded, count)
    switch = network.ensure_switch(layout, record)
    pki.ensure(layout, record)
    pki.kubeconfig(layout, record, "admin", layout.kubeconfig)
    write(layout.registry_file, record.registry + "\n")

    api = Api(layout, record)
    has_new_registry = images.restore(layout)
    _start_processes(layout, record, switch, api, progress)
    for node in nodes.left_over(layout, record):
        nodes.forget(layout, switch, node)
        api.request("DELETE", f"/api/v1/nodes/{node}")
    _fill(layout, record, progress)
    if has_new_registry:
        images.keep(layout)
    _await(layout, record, api, progress)


def _check(layout: Layout, count: int) -> None:
    """See that the machine can have such a cluster, before anything is done."""
    prerequisites.check_namespaces()
    build.check(layout)
    prerequisites.check_packages()
    to_start = set(components(count)) - processes.running(layout).keys()
    if to_start:
        prerequisites.check_inotify(to_start)


def _settle(layout: Layout, recorded: Record | None, count: int) -> Record:
    """Choose the cluster's network, and record it. What lives at another address or without a record is ended."""
    if recorded is None:
        processes.stop_all(layout)
    record = Record(network.choose(layout, recorded), count, layout.release.minor)
    if recorded and recorded.index != record.index:
        print(f"the network {recorded.network} is in use by others now: a new cluster in {record.network}")
        control_plane.forget(layout)
    elif recorded and recorded.kubernetes != record.kubernetes:
        print(f"the cluster ran Kubernetes {recorded.kubernetes}: a new one with {record.kubernetes}")
        control_plane.forget(layout)
    record.save(layout)
    return record


def _start_processes(layout: Layout, record: Record, switch: int, api: Api, progress: Progress) -> None:
    processes.ensure(layout, [make(layout, record) for make in (control_plane.registry, control_plane.etcd, control_plane.api_server)])
    pids = {node: nodes.ensure(layout, record, switch, node) for node in record.node_names()}
    network.connect(record, switch, pids)
    processes.ensure(layout, [nodes.containerd(layout, record, node, pid) for node, pid in pids.items()])
    if not api.ready():
        with progress.step("API server ready") as step:
            wait(layout, api.ready, "the API server is ready", [control_plane.ETCD, control_plane.API_SERVER], 60, step)
    processes.ensure(layout, [control_plane.controller_manager(layout, record), control_plane.scheduler(layout, record)])
    runtimes = [f"containerd.{node}" for node in pids]
    wait(layout, lambda: all(map(nodes.runtime_listens, pids.values())), "containerd listens", runtimes, 30)
    for kubelet in processes.ensure(layout, [nodes.kubelet(layout, record, node, pid) for node, pid in pids.items()]):
        api.doubt(node_of(kubelet))
    processes.ensure(layout, [nodes.kube_proxy(layout, record, node, pid) for node, pid in pids.items()])


def _fill(layout: Layout, record: Record, progress: Progress) -> None:
    """Push the images and install the add-ons that every cluster has."""
    wait(layout, lambda: images.registry_ready(record), "the registry answers", [control_plane.REGISTRY], 10)
    images.ensure(layout, record, progress, images.FIRST)
    for name in addons.REQUIRED:
        addons.apply(layout, record, name)
    images.ensure(layout, record, progress, images.of_every_cluster(layout))  # the others, while pods start


def _await(layout: Layout, record: Record, api: Api, progress: Progress) -> None:
    """Wait until all works, and see that nothing has ended meanwhile."""

    def nodes_ready() -> bool:
        return set(record.node_names()) <= api.ready_nodes()

    if not nodes_ready():
        with progress.step("nodes ready") as step:
            wait(layout, nodes_ready, "all nodes are Ready", [f"kubelet.{node}" for node in record.node_names()], 120, step)
    for name in addons.REQUIRED:
        addons.await_works(layout, record, name, progress)
    alive = processes.running(layout)
    for component in components(record.nodes):
        if component not in alive:
            raise ClusterError(f"{component} ended right after its start", layout.logs / f"{component}.log")
