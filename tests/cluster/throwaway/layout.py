# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where everything of a cluster is, and the few facts that are recorded about it."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from .progress import ClusterError

SCHEDULER_PLUGINS = "v0.34.7"
COREDNS = "v1.12.4"
# What that release of scheduler-plugins carries, see kubernetes/go.mod.
LOAD_WATCHER = "v0.2.4"
# See olm/go.mod.
OLM = "v0.45.0"
OPM = "v1.72.0"

SERVICE_CIDR = "10.96.0.0/16"
FIRST_SERVICE_IP = "10.96.0.1"
DNS_IP = "10.96.0.10"
DOMAIN = "cluster.local"

SOURCE = Path(__file__).resolve().parent.parent
CHECKOUT = SOURCE.parent.parent

# Environment variables that every process of a cluster carries: by them it is found again, without pid files that go stale.
OWNER_VARIABLE = "THROWAWAY_CLUSTER"
COMPONENT_VARIABLE = "THROWAWAY_COMPONENT"
INPUTS_VARIABLE = "THROWAWAY_INPUTS"


@dataclass(frozen=True)
class Release:
    """A release of Kubernetes that a cluster can run, with what is off by default in it and on here.

    `gates` are those of API server, controller manager and scheduler; `apis` are served beside those that are by default.
    """

    version: str
    gates: tuple[str, ...] = ()
    apis: tuple[str, ...] = ()

    @property
    def minor(self) -> str:
        return self.version.removeprefix("v").rpartition(".")[0]


# By minor release; the first is the default, and the one that scheduler-plugins can be built with.
RELEASES = {
    release.minor: release
    for release in (
        Release("v1.34.4", gates=("MutatingAdmissionPolicy",), apis=("admissionregistration.k8s.io/v1beta1",)),
        Release("v1.37.2", gates=("GenericWorkload",), apis=("scheduling.k8s.io/v1beta1",)),
    )
}

# Inside a node the state directory is mounted here, whatever the checkout's path: Unix sockets allow 107 bytes.
STATE_IN_NODE = Path("/run/cluster")


@dataclass(frozen=True)
class Layout:
    """Paths below the state directory `state`, which holds all that a cluster writes."""

    state: Path

    @classmethod
    def from_environment(cls) -> Layout:
        """The state directory is CLUSTER_DIR, or else .cluster in the checkout."""
        state = Path(os.environ.get("CLUSTER_DIR") or CHECKOUT / ".cluster").absolute()
        if len(os.fsencode(state)) > 200:
            raise ClusterError(
                f"the state directory's path {state} is longer than 200 bytes: use a checkout with a shorter path or set CLUSTER_DIR"
            )
        return cls(state)

    @cached_property
    def release(self) -> Release:
        """The release that KUBERNETES names, else that of the cluster, else the default."""
        recorded = Record.load(self)
        minor = os.environ.get("KUBERNETES") or (recorded.kubernetes if recorded else next(iter(RELEASES)))
        if minor not in RELEASES:
            raise ClusterError(f"KUBERNETES={minor}: must be one of {', '.join(RELEASES)}")
        return RELEASES[minor]

    @cached_property
    def identity(self) -> str:
        """Name of this cluster where names are shared by the whole machine (cgroups)."""
        return "throwaway-" + hashlib.sha256(os.fsencode(self.state)).hexdigest()[:8]

    @property
    def bin(self) -> Path:
        return self.state / "bin"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def pki(self) -> Path:
        return self.state / "pki"

    @property
    def config(self) -> Path:
        return self.state / "config"

    @property
    def kubeconfig(self) -> Path:
        return self.state / "kubeconfig"

    @property
    def registry_file(self) -> Path:
        return self.state / "registry"

    @property
    def containers(self) -> Path:
        """Storage of buildah."""
        return self.state / "containers"

    @property
    def registry_data(self) -> Path:
        return self.state / "registry-data"

    @property
    def inputs(self) -> Path:
        """One file per thing made, with the hash of what it was made of."""
        return self.state / "inputs"

    @property
    def record_file(self) -> Path:
        return self.state / "cluster.json"

    @property
    def durations_file(self) -> Path:
        return self.state / "durations.json"

    def node(self, name: str) -> Path:
        return self.state / "nodes" / name

    def static_pods(self, node: str) -> Path:
        """Where the node's kubelet looks for manifests of pods of its own: as on kubeadm's hosts, in a folder of its folder."""
        return self.node(node) / "kubernetes" / "manifests"

    def in_node(self, path: Path) -> Path:
        """The path by which a process inside a node sees `path` of the state directory."""
        return STATE_IN_NODE / path.relative_to(self.state)


@dataclass(frozen=True)
class Record:
    """What a cluster was started with. `index` chooses its addresses: 10.<index>.0.0/16. `kubernetes` is a minor release."""

    index: int
    nodes: int
    kubernetes: str = next(iter(RELEASES))

    @classmethod
    def load(cls, layout: Layout) -> Record | None:
        try:
            return cls(**json.loads(layout.record_file.read_text()))
        except FileNotFoundError:
            return None

    def save(self, layout: Layout) -> None:
        layout.record_file.write_text(json.dumps(asdict(self)) + "\n")

    @property
    def network(self) -> str:
        return f"10.{self.index}.0.0/16"

    @property
    def link(self) -> str:
        """The machine's end of its cable to the cluster's bridge."""
        return f"throwaway{self.index}"

    @property
    def address(self) -> str:
        """The machine's address in the cluster's network, at which the control plane and the registry listen."""
        return f"10.{self.index}.0.1"

    @property
    def pod_cidr(self) -> str:
        return f"10.{self.index}.128.0/17"

    @property
    def server(self) -> str:
        return f"https://{self.address}:6443"

    @property
    def registry(self) -> str:
        return f"{self.address}:5000"

    def node_names(self) -> list[str]:
        return node_names(self.nodes)

    def node_address(self, name: str) -> str:
        return f"10.{self.index}.0.{10 + node_number(name)}"

    def node_pod_cidr(self, name: str) -> str:
        return f"10.{self.index}.{128 + node_number(name)}.0/24"


def node_names(count: int) -> list[str]:
    return [f"node-{number}" for number in range(1, count + 1)]


def node_of(component: str) -> str:
    """The node of a component such as kubelet.node-1."""
    return component.partition(".")[2]


def node_number(name: str) -> int:
    return int(name.removeprefix("node-"))


def digest(*parts: object) -> str:
    """One hash over texts, bytes and the contents of files."""
    total = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else part if isinstance(part, bytes) else str(part).encode()
        total.update(len(data).to_bytes(8, "big") + data)
    return total.hexdigest()[:16]


def write(path: Path, text: str, mode: int = 0o644) -> Path:
    """Write a whole file at once if it differs, never readable by more than `mode` says."""
    if path.exists() and path.read_text() == text:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as file:
        file.write(text)
    return temporary.replace(path)


def write_json(path: Path, content: dict) -> Path:
    """A configuration file in JSON, which every reader of YAML takes."""
    return write(path, json.dumps(content, indent=1) + "\n")
