# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What serves the whole cluster and runs on the machine itself: image registry, etcd, and Kubernetes' own servers.

All of it listens at the machine's address in the cluster's network only, so that two clusters on one machine do not meet.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from . import build, processes
from .layout import DOMAIN, SERVICE_CIDR, Layout, Record, write_json
from .prerequisites import find
from .processes import Daemon

REGISTRY, ETCD, API_SERVER = "docker-registry", "etcd", "kube-apiserver"
CONTROLLER_MANAGER, SCHEDULER = "kube-controller-manager", "kube-scheduler"

COMPONENTS = (REGISTRY, ETCD, API_SERVER, CONTROLLER_MANAGER, SCHEDULER)


def _flags(flags: dict[str, object]) -> tuple[str, ...]:
    return tuple(f"--{name}={value}" for name, value in flags.items())


def registry(layout: Layout, record: Record) -> Daemon:
    content = {
        "version": "0.1",
        "log": {"level": "info", "accesslog": {"disabled": True}},
        "storage": {"filesystem": {"rootdirectory": str(layout.registry_data)}, "delete": {"enabled": True}},
        "http": {"addr": record.registry, "relativeurls": True},
    }
    config = write_json(layout.config / "registry.json", content)
    return Daemon(REGISTRY, ("serve", str(config)), Path(find("docker-registry")), inputs=(config,))


def etcd(layout: Layout, record: Record) -> Daemon:
    pki = layout.pki
    client, peer = f"https://{record.address}:2379", f"https://{record.address}:2380"
    flags = {
        "name": "throwaway",
        "data-dir": layout.state / "etcd" / "data",
        "listen-client-urls": client,
        "advertise-client-urls": client,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": f"throwaway={peer}",
        "client-cert-auth": "true",
        "peer-client-cert-auth": "true",
        "log-level": "warn",
        # The data are disposable, the disk may be slow.
        "unsafe-no-fsync": "true",
    }
    for prefix in ("", "peer-"):
        flags |= {
            f"{prefix}cert-file": pki / "etcd.crt",
            f"{prefix}key-file": pki / "etcd.key",
            f"{prefix}trusted-ca-file": pki / "etcd-ca.crt",
        }
    return Daemon(ETCD, _flags(flags), layout.bin / ETCD, inputs=(build.built(layout, "kubernetes"), pki / "etcd.crt"))


def api_server(layout: Layout, record: Record) -> Daemon:
    pki = layout.pki
    authentication = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthenticationConfiguration",
        # Without credentials one may ask whether the server is well, nothing else.
        "anonymous": {"enabled": True, "conditions": [{"path": path} for path in ("/healthz", "/livez", "/readyz")]},
    }
    # Tests count write requests in this log.
    audit = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]}
    authentication_file = write_json(layout.config / "authentication.json", authentication)
    audit_file = write_json(layout.config / "audit-policy.json", audit)
    flags = {
        "bind-address": record.address,
        "secure-port": 6443,
        "advertise-address": record.address,
        "tls-cert-file": pki / "apiserver.crt",
        "tls-private-key-file": pki / "apiserver.key",
        "client-ca-file": pki / "ca.crt",
        "authentication-config": authentication_file,
        "authorization-mode": "Node,RBAC",
        "enable-admission-plugins": "NodeRestriction",
        "allow-privileged": "true",
        "profiling": "false",
        "audit-policy-file": audit_file,
        "audit-log-path": layout.logs / "audit.log",
        "audit-log-maxsize": 200,
        "audit-log-maxbackup": 2,
        "etcd-servers": f"https://{record.address}:2379",
        "etcd-cafile": pki / "etcd-ca.crt",
        "etcd-certfile": pki / "apiserver-etcd-client.crt",
        "etcd-keyfile": pki / "apiserver-etcd-client.key",
        "service-cluster-ip-range": SERVICE_CIDR,
        "service-account-issuer": f"https://kubernetes.default.svc.{DOMAIN}",
        "service-account-key-file": pki / "service-accounts.pub",
        "service-account-signing-key-file": pki / "service-accounts.key",
        # Nodes' names do not resolve.
        "kubelet-preferred-address-types": "InternalIP",
        "kubelet-certificate-authority": pki / "ca.crt",
        "kubelet-client-certificate": pki / "apiserver-kubelet-client.crt",
        "kubelet-client-key": pki / "apiserver-kubelet-client.key",
        # Aggregated APIs and webhooks: the machine has no route to Services, so the server goes to their endpoints.
        "enable-aggregator-routing": "true",
        "requestheader-client-ca-file": pki / "front-proxy-ca.crt",
        "requestheader-allowed-names": "front-proxy-client",
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "proxy-client-cert-file": pki / "front-proxy-client.crt",
        "proxy-client-key-file": pki / "front-proxy-client.key",
        **_gates(layout),
    }
    if layout.release.apis:
        flags["runtime-config"] = ",".join(f"{api}=true" for api in layout.release.apis)
    inputs = (build.built(layout, "kubernetes"), authentication_file, audit_file, pki / "apiserver.crt", pki / "service-accounts.pub")
    return Daemon(API_SERVER, _flags(flags), layout.bin / API_SERVER, inputs=inputs)


def controller_manager(layout: Layout, record: Record) -> Daemon:
    pki = layout.pki
    flags = _common_flags(layout, record, CONTROLLER_MANAGER) | {
        "allocate-node-cidrs": "false",  # nodes.py gives each node its own
        "cluster-signing-cert-file": pki / "ca.crt",
        "cluster-signing-key-file": pki / "ca.key",
        "flex-volume-plugin-dir": layout.state / "flex-volume-plugins",
        "root-ca-file": pki / "ca.crt",
        "service-account-private-key-file": pki / "service-accounts.key",
        "use-service-account-credentials": "true",
    }
    inputs = (build.built(layout, "kubernetes"), pki / f"{CONTROLLER_MANAGER}.kubeconfig", pki / "service-accounts.pub")
    return Daemon(CONTROLLER_MANAGER, _flags(flags), layout.bin / CONTROLLER_MANAGER, inputs=inputs)


def scheduler(layout: Layout, record: Record) -> Daemon:
    inputs = (build.built(layout, "kubernetes"), layout.pki / f"{SCHEDULER}.kubeconfig")
    return Daemon(SCHEDULER, _flags(_common_flags(layout, record, SCHEDULER)), layout.bin / SCHEDULER, inputs=inputs)


def _gates(layout: Layout) -> dict[str, object]:
    gates = layout.release.gates
    return {"feature-gates": ",".join(f"{gate}=true" for gate in gates)} if gates else {}


def _common_flags(layout: Layout, record: Record, component: str) -> dict[str, object]:
    kubeconfig = layout.pki / f"{component}.kubeconfig"
    return {
        "bind-address": record.address,
        "kubeconfig": kubeconfig,
        "authentication-kubeconfig": kubeconfig,
        "authorization-kubeconfig": kubeconfig,
        "leader-elect": "false",  # there is one of each, and waiting for a lease takes time
        "profiling": "false",
        "tls-cert-file": layout.pki / f"{component}.crt",
        "tls-private-key-file": layout.pki / f"{component}.key",
        **_gates(layout),
    }


def forget(layout: Layout) -> None:
    """Remove what belongs to a cluster at other addresses; registry data and programs stay."""
    processes.stop_all(layout)
    for name in ("etcd", "pki", "nodes", "config"):
        shutil.rmtree(layout.state / name, ignore_errors=True)
