# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""OpenShift's monitoring as far as load-aware scheduling sees it: a Route, its authority, a ClusterRole, and a real Prometheus behind."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from .access import RBAC
from .kinds import served
from .prometheus import NAMESPACE, Monitoring

CPU, MEMORY = "instance:node_cpu:ratio", "instance:node_memory_utilisation:ratio"
VIEW = "cluster-monitoring-view"
# What that ClusterRole allows.
READ = [
    {
        "apiGroups": ["monitoring.coreos.com"],
        "resources": ["prometheuses/api"],
        "resourceNames": ["k8s"],
        "verbs": ["get", "create", "update"],
    },
]
RULES = {
    CPU: '1 - avg by (instance) (rate(node_cpu_seconds_total{mode="idle"}[10s]))',
    MEMORY: "1 - sum by (instance) (last_over_time(node_memory_MemAvailable_bytes[10s]))"
    " / sum by (instance) (last_over_time(node_memory_MemTotal_bytes[10s]))",
}
# Over so many seconds load-watcher averages.
WINDOW = 15 * 60


@dataclass(frozen=True)
class Load:
    """CPU use of a node, from 0 to 1: its average, and by how much it goes up and down every minute."""

    average: float
    swing: float = 0.0

    def history(self) -> list[float]:
        return [self.average + (self.swing if second // 30 % 2 else -self.swing) for second in range(WINDOW)]


def grant(kubectl, namespace: str, rules: list[dict], name: str = "reader") -> dict[str, str]:
    """Make a ServiceAccount with these rights in the namespace of Prometheus; its `name` and `namespace`."""
    account = {"name": name, "namespace": namespace}
    about = {"name": f"{namespace}-{name}", "namespace": NAMESPACE}
    reference = {"apiGroup": RBAC, "kind": "Role", "name": about["name"]}
    subjects = [{"kind": "ServiceAccount", **account}]
    kubectl.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account},
        {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": about, "rules": rules},
        {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding", "metadata": about, "roleRef": reference, "subjects": subjects},
    )
    return account


class Stack(Monitoring):
    """`Monitoring`, and the objects of OpenShift that lead to it. Its Prometheus records both metrics for all nodes."""

    def __init__(self, cluster: Path, folder: Path, kubectl):
        super().__init__(cluster, folder)
        self._kubectl = kubectl
        self.nodes = sorted(node["metadata"]["name"] for node in kubectl.json("get", "nodes")["items"])

    @classmethod
    @contextmanager
    def of(cls, cluster: Path, kubectl, folder: Path, openshift: bool = True, guarded: bool = True) -> Iterator[Stack]:
        """The whole of it, for a cluster that is no OpenShift before and after.

        With `openshift` there are Routes, by which OpenShift is known. An operator's installation would then wait in vain for a certificate.
        With `guarded` kube-rbac-proxy is before Prometheus, at `guarded_url`.
        """
        with served(kubectl, *(["routes.route.openshift.io"] if openshift else [])):
            stack = cls(cluster, folder, kubectl)
            try:
                stack.exporter.only(*stack.nodes)
                stack.start(guarded)
                stack.record()
                stack._make()
                if openshift:
                    stack._route("prometheus-k8s")
                yield stack
            finally:
                stack.stop()
                kubectl("delete", "clusterrole", VIEW, "--ignore-not-found")
                kubectl("delete", "namespace", NAMESPACE, "openshift-config-managed", "--ignore-not-found")

    @contextmanager
    def operated(self) -> Iterator[None]:
        """A Prometheus object for all rules and monitors of the cluster, and the real prometheus-operator that works on it.

        It makes a StatefulSet without pods: what it wrote for them is what `operated_rules` and `operated_config` return.
        """
        kinds = ("podmonitors", "probes", "prometheuses", "prometheusrules", "servicemonitors")
        everything = {f"{kind}{suffix}": {} for kind in ("rule", "serviceMonitor") for suffix in ("Selector", "NamespaceSelector")}
        with served(self._kubectl, *(f"{kind}.monitoring.coreos.com" for kind in kinds)):
            self._kubectl.apply(
                {
                    "apiVersion": "monitoring.coreos.com/v1",
                    "kind": "Prometheus",
                    "metadata": {"name": "k8s", "namespace": NAMESPACE},
                    "spec": {"replicas": 0, **everything},
                }
            )
            self.start_operator()
            try:
                yield
            finally:
                self._stop("prometheus-operator")

    def operated_rules(self) -> list[dict]:
        """The groups of rules that prometheus-operator has taken from PrometheusRule objects."""
        selector = "--selector=prometheus-name=k8s"
        found = self._kubectl.json("get", "configmaps", f"--namespace={NAMESPACE}", selector)["items"]
        files = [yaml.safe_load(text) for item in found for text in (item.get("data") or {}).values()]
        return [group for file in files for group in file["groups"]]

    def operated_config(self) -> str:
        """The configuration that prometheus-operator has made for Prometheus."""
        secret = self._kubectl.json("get", "secret", "prometheus-k8s", f"--namespace={NAMESPACE}", "--ignore-not-found")
        return gzip.decompress(base64.b64decode(secret["data"]["prometheus.yaml.gz"])).decode() if secret else ""

    def under(self, loads: dict[str, Load]) -> None:
        """Have each node been under its load for 15 minutes, over which load-watcher averages, and be so on average from now on."""
        for node, load in loads.items():
            self.exporter.load(node, cpu=load.average)
        self.remember(
            {
                CPU: {node: load.history() for node, load in loads.items()},
                MEMORY: dict.fromkeys(loads, [0.2] * WINDOW),
            }
        )
        # Recorded from now on
        self.wait_for("rate(node_cpu_seconds_total[10s])", *loads)

    def record(self) -> None:
        """Have both metrics recorded, not by us."""
        self.rules([{"name": "nodes", "rules": [{"record": metric, "expr": expression} for metric, expression in RULES.items()]}])
        for metric in RULES:
            self.wait_for(metric, *self.nodes)

    @contextmanager
    def route(self, admitted: bool = True, name: str = "prometheus-k8s") -> Iterator[None]:
        """Another Route in the place of the usual one."""
        with self.without_route():
            self._route(name, admitted)
            try:
                yield
            finally:
                self._kubectl("delete", "route.route.openshift.io", name, f"--namespace={NAMESPACE}")

    @contextmanager
    def without_route(self) -> Iterator[None]:
        self._kubectl("delete", "route.route.openshift.io", "prometheus-k8s", f"--namespace={NAMESPACE}")
        try:
            yield
        finally:
            self._route("prometheus-k8s")

    def _make(self) -> None:
        managed = "openshift-config-managed"
        self._kubectl.apply(
            *({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in (NAMESPACE, managed)),
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "default-ingress-cert", "namespace": managed},
                "data": {"ca-bundle.crt": self.authority.pem},
            },
            {
                "apiVersion": f"{RBAC}/v1",
                "kind": "ClusterRole",
                "metadata": {"name": VIEW},
                "rules": [{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]}, *READ],
            },
        )

    def _route(self, name: str, admitted: bool = True) -> None:
        condition = {"type": "Admitted", "status": str(admitted)}
        if not admitted:
            condition.update(reason="HostAlreadyClaimed", message="another route has this host")
        route = {
            "apiVersion": "route.openshift.io/v1",
            "kind": "Route",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"to": {"kind": "Service", "name": name, "weight": 100}, "tls": {"termination": "reencrypt"}, "wildcardPolicy": "None"},
        }
        self._kubectl.apply(route)
        # What a router writes. Its host is an address here: no name is known on the machine and in pods alike.
        ingress = [{"host": self.address, "routerName": "default", "wildcardPolicy": "None", "conditions": [condition]}]
        command = ["apply", "--server-side", "--subresource=status", "--filename=-"]
        self._kubectl(*command, stdin={**route, "status": {"ingress": ingress}})
