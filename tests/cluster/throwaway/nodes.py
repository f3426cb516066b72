# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes: namespaces of their own, with containerd, kubelet and kube-proxy inside.

A node is one process tree. Its first process (`node-init`) holds the PID namespace: when that process ends, the kernel ends
every other one of the node, containers included, and with the last one the mounts and network links go.
"""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

from . import build, cgroups, network
from .images import can_overlay
from .layout import DNS_IP, DOMAIN, SOURCE, Layout, Record, digest, write, write_json
from .prerequisites import cni_directory, find
from .processes import Daemon, ensure_holder, stop_all

COMPONENTS = ("containerd", "kubelet", "kube-proxy")

RUNTIME = "/run/containerd/containerd.sock"

PAUSE_IMAGE = "pause:3.10"

# Registries whose images are built here, of the same sources. A test that uses another name declares it: tests/support/registries.py.
STANDS_IN_FOR = ("registry.k8s.io",)

# Nothing listens there in a node.
NOWHERE = "http://127.0.0.1:1"


def ensure(layout: Layout, record: Record, switch: int, node: str) -> int:
    """See that the node's namespaces exist; the pid of its first process. Of a node that has lost that nothing remains."""
    script = SOURCE / "node.sh"
    inputs = digest(script, build.built(layout, "pause"), record.node_address(node))
    namespaces = ["--fork", "--kill-child", "--mount", "--propagation=slave", "--mount-proc", "--net", "--pid", "--uts", "--ipc"]
    argv = [find("unshare"), *namespaces, "--", "sh", str(script), str(layout.state), node]

    def prepare() -> None:
        remove(layout, switch, node)
        for name in ("run", "containerd", "kubelet", "log"):
            (layout.node(node) / name).mkdir(parents=True, exist_ok=True)
        # Tests that were killed may have left manifests there.
        shutil.rmtree(layout.static_pods(node), ignore_errors=True)
        cgroups.create(layout, node)

    return ensure_holder(layout, f"node-init.{node}", argv, inputs, before=prepare)


def remove(layout: Layout, switch: int, node: str) -> None:
    """End the node's first process, and with it the node; its files stay."""
    stop_all(layout, node)
    network.unplug(switch, node)
    # The kubelet of a new node would spend seconds on each group of a former container.
    cgroups.remove(layout, node)


def left_over(layout: Layout, record: Record) -> list[str]:
    """Nodes that the cluster had before it was made smaller."""
    return sorted(path.name for path in (layout.state / "nodes").iterdir() if path.name not in record.node_names())


def forget(layout: Layout, switch: int, node: str) -> None:
    """Remove a node that is no longer wanted, with its files."""
    remove(layout, switch, node)
    shutil.rmtree(layout.node(node), ignore_errors=True)


def containerd(layout: Layout, record: Record, node: str, pid: int) -> Daemon:
    directory = layout.node(node)
    inside = layout.in_node(directory)
    config = directory / "containerd.toml"
    # The cluster's own registry is the only one that nodes can reach. Where it does not stand in for another one, a pull is refused at once.
    places = {"_default": NOWHERE, **dict.fromkeys((record.registry, *STANDS_IN_FOR), f"http://{record.registry}")}
    hosts = [write(directory / "registries" / name / "hosts.toml", hosts_toml(place)) for name, place in places.items()]
    write(
        config,
        f"""\
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = [
  "io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.tracing.processor.v1.otlp",
]

[grpc]
  address = "{RUNTIME}"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{record.registry}/{PAUSE_IMAGE}"
  # Without CAP_SYS_RESOURCE a negative score is refused, and with it the sandbox.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "{"overlayfs" if can_overlay(layout) else "native"}"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{cni_directory()}"
    conf_dir = "{inside / "cni"}"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "{inside / "registries"}"
""",
    )
    cni = write_json(
        directory / "cni" / "10-bridge.conflist",
        {
            "cniVersion": "0.4.0",
            "name": "pods",
            "plugins": [
                {
                    "type": "bridge",
                    "bridge": "pods",
                    "isGateway": True,
                    "hairpinMode": True,
                    "ipMasq": False,
                    "ipam": {
                        "type": "host-local",
                        "dataDir": "/run/cni/networks",
                        "ranges": [[{"subnet": record.node_pod_cidr(node)}]],
                        "routes": [{"dst": "0.0.0.0/0"}],
                    },
                }
            ],
        },
    )
    return Daemon(
        f"containerd.{node}", (f"--config={layout.in_node(config)}",), Path(find("containerd")), inputs=(config, *hosts, cni), node_pid=pid
    )


def hosts_toml(place: str) -> str:
    """What containerd reads in the folder of a registry: the URL of where its images are."""
    return f'server = "{place}"\n\n[host."{place}"]\n  capabilities = ["pull", "resolve"]\n'


def runtime_listens(pid: int) -> bool:
    """Whether containerd can be reached in the node of process `pid`; if not, a kubelet gives up at once."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(f"/proc/{pid}/root{RUNTIME}")
        except OSError:
            return False
    return True


def kubelet(layout: Layout, record: Record, node: str, pid: int) -> Daemon:
    directory = layout.node(node)
    pki = layout.in_node(layout.pki)
    resolver = directory / "resolv.conf"
    write(resolver, "# Names outside the cluster do not resolve.\n")
    static_pods = layout.static_pods(node)
    static_pods.mkdir(parents=True, exist_ok=True)
    config = write_json(
        directory / "kubelet.json",
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": record.node_address(node),
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": str(pki / "ca.crt")},
            },
            "authorization": {"mode": "Webhook"},
            "tlsCertFile": str(pki / f"{node}.crt"),
            "tlsPrivateKeyFile": str(pki / f"{node}.key"),
            "readOnlyPort": 0,
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": cgroups.node_root(layout, node),
            "failCgroupV1": False,
            "clusterDNS": [DNS_IP],
            "clusterDomain": DOMAIN,
            "containerRuntimeEndpoint": f"unix://{RUNTIME}",
            "resolvConf": str(layout.in_node(resolver)),
            "staticPodPath": str(layout.in_node(static_pods)),
            "volumePluginDir": "/var/lib/kubelet/volume-plugins",
            "makeIPTablesUtilChains": False,
            "serializeImagePulls": False,
            # The machine may have swap and little free disk; neither is a reason to evict a test's pods or images.
            "failSwapOn": False,
            "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%", "nodefs.inodesFree": "1%"},
            "imageGCHighThresholdPercent": 100,
        },
    )
    flags = (
        f"--config={layout.in_node(config)}",
        f"--kubeconfig={pki / node}.kubeconfig",
        f"--hostname-override={node}",
        f"--node-ip={record.node_address(node)}",
        "--root-dir=/var/lib/kubelet",
    )
    inputs = (build.built(layout, "kubernetes"), config, resolver, layout.pki / f"{node}.crt", layout.pki / f"{node}.kubeconfig")
    return Daemon(f"kubelet.{node}", flags, layout.in_node(layout.bin / "kubelet"), inputs=inputs, node_pid=pid)


def kube_proxy(layout: Layout, record: Record, node: str, pid: int) -> Daemon:
    kubeconfig = layout.pki / "kube-proxy.kubeconfig"
    config = write_json(
        layout.node(node) / "kube-proxy.json",
        {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "clientConnection": {"kubeconfig": str(layout.in_node(kubeconfig))},
            "mode": "nftables",
            "clusterCIDR": record.pod_cidr,
            "hostnameOverride": node,
            "healthzBindAddress": "127.0.0.1:10256",
            "metricsBindAddress": "127.0.0.1:10249",
            # The kernel's limit belongs to the machine.
            "conntrack": {"maxPerCore": 0, "min": 0},
        },
    )
    flags = (f"--config={layout.in_node(config)}",)
    inputs = (build.built(layout, "kubernetes"), config, kubeconfig)
    return Daemon(f"kube-proxy.{node}", flags, layout.in_node(layout.bin / "kube-proxy"), inputs=inputs, node_pid=pid)
