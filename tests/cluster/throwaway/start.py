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

MOST_NODES = 100
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
    prerequisites.check_namespaces()
    build.check(layout)
    prerequisites.ensure_packages(layout, progress)
    build.ensure(layout, progress)

    if recorded is None:
        processes.stop_all(layout)  # of a cluster whose files somebody has removed
    record = Record(network.choose(layout, recorded), count)
    if recorded and recorded.index != record.index:
        print(f"the network {recorded.network} is in use by others now: a new cluster in {record.network}")
        control_plane.forget(layout)
        recorded = None
    record.save(layout)
    switch = network.ensure_switch(layout, record)
    pki.ensure(layout, record)
    pki.kubeconfig(layout, record, "admin", layout.kubeconfig)
    write(layout.registry_file, record.registry + "\n")

    api = Api(layout, record)
    processes.ensure(layout, [make(layout, record) for make in (control_plane.registry, control_plane.etcd, control_plane.api_server)])
    pids = {node: nodes.ensure(layout, record, switch, node) for node in record.node_names()}
    network.connect(record, switch, pids)
    processes.ensure(layout, [nodes.containerd(layout, record, node, pid) for node, pid in pids.items()])
    if not api.ready():
        with progress.step("API server ready") as step:
            wait(layout, api.ready, "the API server is ready", [control_plane.ETCD, control_plane.API_SERVER], 60, step)
    processes.ensure(layout, [control_plane.controller_manager(layout, record), control_plane.scheduler(layout, record)])
    started = processes.ensure(layout, [nodes.kubelet(layout, record, node, pid) for node, pid in pids.items()])
    for kubelet in started:
        api.doubt(node_of(kubelet))
    processes.ensure(layout, [nodes.kube_proxy(layout, record, node, pid) for node, pid in pids.items()])
    for node in set(recorded.node_names() if recorded else ()) - set(record.node_names()):
        nodes.forget(layout, switch, node)
        api.request("DELETE", f"/api/v1/nodes/{node}")

    wait(layout, lambda: images.registry_ready(record), "the registry answers", [control_plane.REGISTRY], 10)
    images.ensure(layout, record, progress, images.FIRST)
    for name in addons.REQUIRED:
        addons.apply(layout, record, name)
    images.ensure(layout, record, progress)  # the others, while pods start

    def nodes_ready() -> bool:
        return set(record.node_names()) <= api.ready_nodes()

    if not nodes_ready():
        with progress.step("nodes ready") as step:
            wait(layout, nodes_ready, "all nodes are Ready", [f"kubelet.{node}" for node in pids], 120, step)
    for name in addons.REQUIRED:
        addons.await_works(layout, record, name, progress)
