# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parts of the throwaway cluster that end without warning, and come back."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster.throwaway import control_plane, nodes, processes
from cluster.throwaway.api import Api
from cluster.throwaway.layout import SOURCE, Layout, Record, node_of

from .scheduler import eventually

CONTROL_PLANE = {
    control_plane.API_SERVER: control_plane.api_server,
    control_plane.ETCD: control_plane.etcd,
    control_plane.SCHEDULER: control_plane.scheduler,
}


class Outages:
    """Outages of the cluster in `folder`.

    with outages.of("kube-apiserver"):
        time.sleep(15)
    """

    def __init__(self, folder: Path):
        self._layout = Layout(folder)
        self._record = Record.load(self._layout)
        self._api = Api(self._layout, self._record)

    @contextmanager
    def of(self, component: str) -> Iterator[None]:
        """Kill etcd, the API server, the scheduler or `kubelet.NODE`; start it again at the end, and wait until it works."""
        self.stop(component)
        try:
            yield
        finally:
            self.start(component)

    def stop(self, component: str) -> None:
        process = processes.running(self._layout)[component]
        processes.stop([process], grace=0)

    def start(self, component: str) -> None:
        processes.ensure(self._layout, [self._daemon(component)])
        node = node_of(component)
        # Right after its end a kubelet's node still counts as Ready.
        works = (lambda: node in self._api.ready_nodes()) if node else self._api.ready
        eventually(works, within=120)

    def not_ready(self, node: str, within: float = 120) -> None:
        """Wait until the cluster has seen that the node's kubelet is gone."""
        eventually(lambda: node not in self._api.ready_nodes(), within)

    def repair(self) -> None:
        """All that should run runs."""
        subprocess.run([SOURCE / "cluster", "start"], check=True, stdout=subprocess.DEVNULL, timeout=300)

    def _daemon(self, component: str) -> processes.Daemon:
        if component in CONTROL_PLANE:
            return CONTROL_PLANE[component](self._layout, self._record)
        node = node_of(component)
        holder = processes.running(self._layout)[f"node-init.{node}"]
        return nodes.kubelet(self._layout, self._record, node, holder.pid)
