# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Predictions and facts: the pods of a preview, created one by one in its order, with a real kube-scheduler.

If several nodes have the same score, the real scheduler can choose another one than the preview: then the pod is put on the node of the preview, so
that the next pod meets the nodes of the preview.
"""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import conditions
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Resource
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.presets import configuration
from ansible_collections.osso.scheduler.plugins.module_utils._preview import scheduler_process
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import Options, prepared, preview
from ansible_collections.osso.scheduler.plugins.module_utils._preview.sandbox import key_of
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import Snapshot, take

from .preview import CONFIG
from .scheduler import eventually

NAME = "truth"
ZONE, HOST, GPU = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "nvidia.com/gpu"
NODES, PODS = Resource("v1", "Node", "nodes", False), Resource("v1", "Pod", "pods", True)
IMAGES = [{"names": ["registry.example.com/big:1"], "sizeBytes": 900 << 20}]


@dataclass
class Score:
    """placements: predictions with a node, and the number of nodes that each named. refused: pods for which both found no node."""

    sizes: list[int] = field(default_factory=list)
    refused: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def exact(self) -> int:
        return self.sizes.count(1)

    def note(self, record_property) -> None:
        record_property("placements", len(self.sizes))
        record_property("exact predictions", self.exact)
        record_property("mean size of a prediction", round(sum(self.sizes) / len(self.sizes), 2))
        record_property("refused by both", self.refused)


class Cluster:
    """Nodes and pods of an API server, and what a real scheduler does with new pods."""

    def __init__(self, client: Client, kubeconfig: Path, folder: Path):
        self.client = client
        self.namespace = f"truth-{uuid.uuid4().hex[:8]}"
        self._kubeconfig, self._folder = kubeconfig, folder
        self._nodes: list[str] = []
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace, "labels": {"team": "truth"}}})
        account = Resource("v1", "ServiceAccount", "serviceaccounts", True)
        eventually(lambda: client.get(account, "default", self.namespace))

    def create(self, obj: dict) -> dict:
        return self.client.create(self.client.resource(obj["apiVersion"], obj["kind"]), obj)

    def fill(self, count: int) -> None:
        """Nodes of many sizes, with a pod or two."""
        for number in range(count):
            stored = self.create(a_node(number))
            self._nodes.append(stored["metadata"]["name"])
            # The API server adds a taint to each new node.
            stored["spec"]["taints"] = taints_of(number)
            self.client.request("PUT", NODES.path(None, stored["metadata"]["name"]), body=stored, content_type="application/json")
            for which in range(1 + number % 2):
                old = self.pod(f"old-{number}-{which}", cpu=f"{(37 * number + 211 * which) % 1500 + 100}m", app=f"old-{number % 5}")
                old["spec"]["nodeName"] = stored["metadata"]["name"]
                self.create(old)
        for app in ("web", "old-1"):
            about = {"name": app, "namespace": self.namespace}
            spec = {"selector": {"app": app}, "ports": [{"port": 80}]}
            self.create({"apiVersion": "v1", "kind": "Service", "metadata": about, "spec": spec})

    def pod(self, name: str, cpu: str, app: str = "web", memory: str = "200Mi", labels=None, limits=None, **spec) -> dict:
        requests = {"cpu": cpu, "memory": memory, **spec.pop("resources", {})}
        container = {"name": "main", "image": spec.pop("image", "registry.example.com/app:1")}
        extended = {name: amount for name, amount in requests.items() if "/" in name}
        container["resources"] = {"requests": requests, "limits": {**(limits or {}), **extended}}
        container["ports"] = spec.pop("ports", [])
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": self.namespace, "labels": {"app": app, **(labels or {})}},
            "spec": {"schedulerName": NAME, "containers": [container], "terminationGracePeriodSeconds": 0, **spec},
        }

    def delete(self, pod: dict) -> None:
        namespace, name = key_of(pod)
        self.client.delete(PODS, name, namespace, grace_period=0)

    def placed(self, pod: dict) -> tuple[str, str]:
        """Create a pod: the node that the scheduler gives to it, or the reason why it has none."""
        namespace, name = key_of(pod)
        stored = self.create(pod)
        selector, version = f"metadata.name={name}", stored["metadata"]["resourceVersion"]
        for _event, live in self.client.watch(PODS, namespace, selector, resource_version=version):
            refused = conditions.find(live, "PodScheduled")
            if live["spec"].get("nodeName"):
                return live["spec"]["nodeName"], ""
            if refused.get("status") == "False" and not live["status"].get("nominatedNodeName"):
                return "", refused["message"]
        raise AssertionError(f"{name}: the scheduler did nothing")

    @contextmanager
    def real(self, side: dict, config: dict) -> Iterator[scheduler_process.Log]:
        """A kube-scheduler of this API server, which knows all pods; its log."""
        file = self._folder / "real.json"
        changed = {"clientConnection": {"kubeconfig": str(self._kubeconfig)}, "leaderElection": {"leaderElect": False}}
        file.write_text(json.dumps({**config, **changed}))
        command = [side["binary"], f"--config={file}", "--secure-port=0", "--vmodule=schedule_one=3,eventhandlers=3"]
        with prepared("real", {**side, "config": config}, None) as candidate:
            started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            process = scheduler_process.Process(candidate, started, scheduler_process.Log())
            process.follow()
            try:
                placed = self.client.list(PODS, field_selector="spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed")
                # Before 1.28 it starts to place pods before it knows the nodes.
                for obj in [*placed, *self.client.list(NODES)]:
                    assert process.log.await_event("ADDED", key_of(obj), 1, 60), process.failure("did not read the pods and nodes")
                yield process.log
            finally:
                process.end()

    def compare(self, score: Score, what: str, side: dict, config: dict, pods: list[dict], load: list[dict] | None = None) -> dict:
        """Preview the pods, roll them out, and note where they really are; the preview."""
        for pod in pods:
            self.create(pod)
        found = take(self.client)
        snapshot = Snapshot((*found.objects, *(load or [])), found.kubernetes, found.taken, found.missing)
        result = preview(Options({**side, "config": config}, "pending", scheduler_names=[NAME]), snapshot, None, lambda text: None)
        for pod in pods:
            self.delete(pod)
        by_name = {pod["metadata"]["name"]: pod for pod in pods}
        assert len(result["pods"]) == len(pods)
        try:
            with self.real(side, config) as log:
                for row in result["pods"]:
                    self._compare(score, what, row, by_name[row["name"]], log)
        finally:
            for pod in pods:
                self.delete(pod)
        return result

    def _compare(self, score: Score, what: str, row: dict, pod: dict, log: scheduler_process.Log) -> None:
        predicted = set(row["ties"]) or {row["node"]}
        node, why = self.placed(pod)
        if node not in predicted:
            score.wrong.append(
                f"{what}: {row['name']}: {node or why}, but predicted was {sorted(predicted)}: {row['status']}, {row['reason']}"
            )
        if not row["node"]:
            score.refused += 1
            return
        score.sizes.append(len(predicted))
        if node != row["node"]:
            key = key_of(pod)
            self.delete(pod)
            if node:
                log.await_event("DELETED", key, 1, 60)
            pod = {**pod, "spec": {**pod["spec"], "nodeName": row["node"]}}
            self.create(pod)
            assert log.await_event("ADDED", key, 1 + bool(node), 60)

    def remove(self) -> None:
        for pod in self.client.list(PODS, self.namespace):
            self.delete(pod)
        for name in self._nodes:
            self.client.delete(NODES, name)
        self.client.delete(Resource("v1", "Namespace", "namespaces", False), self.namespace)


def a_node(number: int) -> dict:
    name = f"sim-{number:03}"
    room = {"cpu": str(8 + 7 * number % 41), "memory": f"{16 + 5 * number % 37}000Mi", "pods": "110", "ephemeral-storage": "100Gi"}
    if number % 5 == 0:
        room[GPU] = str(4 + 4 * (number % 2))
    labels = {HOST: name, ZONE: "abcd"[number % 4], **({"disk": "ssd"} if number % 3 == 0 else {})}
    status = {"capacity": room, "allocatable": room, "images": IMAGES if number % 6 == 0 else []}
    status["conditions"] = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def taints_of(number: int) -> list[dict]:
    return {
        3: [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}],
        7: [{"key": "slow", "effect": "PreferNoSchedule"}],
    }.get(number % 10, [])


def preset(name: str, **parameters) -> dict:
    return configuration(name, {**parameters, "scheduler_name": NAME})


def profile(**fields) -> dict:
    return {**CONFIG, "profiles": [{"schedulerName": NAME, **fields}]}
