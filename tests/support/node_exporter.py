# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What node-exporter would say on nodes whose load a test chooses, or that really have one: counters of CPU time, gauges of memory."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MEMORY = 8 * 2**30
# How the time of a CPU that works is spent.
BUSY = {"user": 0.6, "system": 0.3, "softirq": 0.1}


@dataclass
class Node:
    """cpu, memory: load from 0 to 1. seconds: CPU time so far, by mode, of each core.

    used: says how much CPU time the node has really used, all cores together; then `cpu` is what follows from that.
    """

    cpu: float
    memory: float
    cores: int
    used: Callable[[], float] | None = None
    before: float = 0.0
    since: float = field(default_factory=time.monotonic)
    seconds: dict[str, float] = field(default_factory=dict)

    def count(self) -> None:
        """Let the time since the last look pass."""
        now = time.monotonic()
        passed, self.since = now - self.since, now
        if self.used and passed > 0:
            used = self.used()
            self.cpu, self.before = min(1.0, (used - self.before) / passed / self.cores), used
        shares = {"idle": 1 - self.cpu, **{mode: share * self.cpu for mode, share in BUSY.items()}}
        for mode, share in shares.items():
            self.seconds[mode] = self.seconds.get(mode, 0.0) + passed * share


class NodeExporter(ThreadingHTTPServer):
    """Serves /metrics on 127.0.0.1:`port` for all nodes, told apart by the label `instance`; to be scraped with honor_labels."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.port = self.server_address[1]
        self._nodes: dict[str, Node] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self.serve_forever, args=[0.05], daemon=True).start()

    def load(self, instance: str, cpu: float = 0.2, memory: float = 0.2, cores: int = 2) -> None:
        """Put a node under a load from now on."""
        with self._lock:
            node = self._nodes.setdefault(instance, Node(cpu, memory, cores))
            node.count()
            node.cpu, node.memory, node.used = cpu, memory, None

    def measure(self, instance: str, cgroup: Path) -> None:
        """Put a node under the load that the processes of this cgroup are, on all of the machine's cores."""
        used = cpu_seconds(cgroup)
        with self._lock:
            self._nodes[instance] = Node(0.0, 0.2, os.cpu_count() or 1, lambda: cpu_seconds(cgroup), used)

    def only(self, *instances: str, **load: float) -> None:
        """Know these nodes and no others."""
        with self._lock:
            self._nodes = {name: node for name, node in self._nodes.items() if name in instances}
        for instance in instances:
            self.load(instance, **load)

    def text(self) -> str:
        lines = []
        with self._lock:
            for instance, node in self._nodes.items():
                node.count()
                for core in range(node.cores):
                    lines += [
                        f'node_cpu_seconds_total{{instance="{instance}",cpu="{core}",mode="{mode}"}} {seconds}'
                        for mode, seconds in node.seconds.items()
                    ]
                lines.append(f'node_memory_MemTotal_bytes{{instance="{instance}"}} {MEMORY}')
                lines.append(f'node_memory_MemAvailable_bytes{{instance="{instance}"}} {MEMORY * (1 - node.memory)}')
        return "\n".join(lines) + "\n"


def cpu_seconds(cgroup: Path) -> float:
    """CPU time that a cgroup of version 1 (its folder of the controller cpuacct) or 2 has used."""
    if (usage := cgroup / "cpuacct.usage").exists():
        return int(usage.read_text()) / 1e9
    statistics = dict(line.split() for line in (cgroup / "cpu.stat").read_text().splitlines())
    return int(statistics["usage_usec"]) / 1e6


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.server.text().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args):
        pass
