# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pools on real nodes: two schedulers that are separated, and a collision that a real kubelet ends."""

from __future__ import annotations

import json
import re

import pytest
from support.objects import deployment
from support.scheduler import IMAGE, await_end, eventually

PAUSE = "registry.k8s.io/pause:3.10"


def pod(namespace, name, **spec):
    container = {"name": "c", "image": PAUSE, "resources": spec.pop("resources", {})}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


@pytest.fixture
def node(kubectl):
    """A node without taints."""
    return next(one["metadata"]["name"] for one in kubectl.json("get", "nodes")["items"] if not one["spec"].get("taints"))


def test_a_pool_places_pods_of_its_namespace_only_on_its_nodes(kubectl, module_result, play, namespace, node):
    name = f"pool-{namespace}"
    scheduler = {"name": name, "namespace": name, "create_namespace": True, "image": IMAGE}
    item = {"scheduler_name": name, "namespaces": {"names": [namespace]}, "nodes": {"names": [node]}, "exclusive": True, "reserved": True}

    def deploy(**fields):
        variables = {
            "custom_schedulers": [{**scheduler, **fields}],
            "scheduler_pools": [{**item, **fields}],
            "custom_scheduler_probe": "always",
            "custom_scheduler_probe_image": PAUSE,
        }
        return play("osso.scheduler.custom_scheduler", variables=variables)

    # Policies of pools name the homes of all schedulers.
    await_end(kubectl, "deployments")
    try:
        # One run labels the node before the scheduler is verified with a pod, and routes pods afterwards.
        deploy()
        # Its probe is not one of the pods that `reserved` rejects.
        assert deploy().changed == []
        trial = pod(namespace, "trial")

        def routed():
            answer = kubectl("create", "--dry-run=server", "--filename=-", "--output=json", stdin=trial)
            return json.loads(answer.stdout)["spec"]["schedulerName"] == name

        eventually(routed)
        kubectl.create("pod", pod(namespace, "bare"), namespace)
        web = deployment(namespace, "web", image=PAUSE, replicas=2)
        store = {**deployment(namespace, "store", image=PAUSE), "kind": "StatefulSet"}
        store["spec"]["serviceName"] = "store"
        # It runs on all nodes: its pods belong to the default scheduler.
        agent = {**deployment(namespace, "agent", image=PAUSE, tolerations=[{"operator": "Exists"}]), "kind": "DaemonSet"}
        del agent["spec"]["replicas"]
        kubectl.apply(web, store, agent)
        for command in (["job", "once"], ["cronjob", "nightly", "--schedule=0 3 1 1 *"]):
            kubectl("create", *command, f"--image={PAUSE}", f"--namespace={namespace}")
        kubectl("create", "job", "of-nightly", "--from=cronjob/nightly", f"--namespace={namespace}")

        def placed():
            """The schedulers and nodes of the pods, by the start of their names."""
            pods = kubectl.list("pod", namespace)
            found = {(one["metadata"]["name"].partition("-")[0], one["spec"]["schedulerName"], one["spec"].get("nodeName")) for one in pods}
            complete = {start for start, _name, _node in found} == {"bare", "web", "store", "once", "of", "agent"}
            return found if complete and all(of_node for _start, _name, of_node in found) else None

        found = eventually(placed)
        assert {one for one in found if one[0] != "agent"} == {(start, name, node) for start in ("bare", "web", "store", "once", "of")}
        assert {one[1] for one in found if one[0] == "agent"} == {"default-scheduler"}
        # The other scheduler finds another node, or none: it does not use the one of the pool.
        other = pod("default", f"other-{namespace}")
        kubectl.create("pod", other, "default")
        seen = eventually(
            lambda: (one := kubectl.get("pod", other["metadata"]["name"], "default")) and one["status"].get("conditions") and one
        )
        assert seen["spec"].get("nodeName") != node
        overlaps = module_result("scheduler_info", {"gather": ["collisions"]})["overlaps"]
        assert [one for one in overlaps if name in one["scheduler_names"]] == []
    finally:
        kubectl("delete", "pod", f"other-{namespace}", "--namespace=default", "--ignore-not-found")
        deploy(state="absent")
    after = kubectl.json("get", "node", node)
    assert ("taints" in after["spec"], "osso.scheduler/pool" in after["metadata"]["labels"]) == (False, False)


def rejected_by(kubectl, node):
    """How many pods its kubelet has rejected for lack of CPU, as Prometheus reads it."""
    text = kubectl("get", f"--raw=/api/v1/nodes/{node}/proxy/metrics").stdout
    return sum(float(value) for value in re.findall(r'^kubelet_admission_rejections_total\{reason="OutOfcpu"\} (\S+)$', text, re.MULTILINE))


def test_a_pod_that_the_kubelet_rejects_is_reported_as_a_collision(kubectl, module_result, namespace, node):
    """A pod is bound to a node that another scheduler has filled, as by a scheduler that does not know it yet."""
    before = rejected_by(kubectl, node)
    cores = kubectl.json("get", "node", node)["status"]["allocatable"]["cpu"]
    # With a request, whatever else runs there: the second one asks for all of the node.
    kubectl.create(
        "pod", pod(namespace, "first", nodeSelector={"kubernetes.io/hostname": node}, resources={"requests": {"cpu": "100m"}}), namespace
    )
    kubectl.create("pod", pod(namespace, "second", schedulerName="stale", resources={"requests": {"cpu": cores}}), namespace)
    eventually(lambda: kubectl.get("pod", "first", namespace)["status"].get("startTime"))
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "second"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
    kubectl("create", f"--raw=/api/v1/namespaces/{namespace}/pods/second/binding", "--filename=-", stdin=binding)
    eventually(lambda: kubectl.get("pod", "second", namespace)["status"]["phase"] == "Failed")
    found = module_result("scheduler_info", {"gather": ["collisions"], "scheduler_name": "stale"})["collisions"]
    (mine,) = [one for one in found if one["namespace"] == namespace]
    assert (mine["reasons"], mine["nodes"], mine["name"]) == ({"OutOfcpu": 1}, [node], "second")
    assert "default-scheduler" in mine["others"]
    assert "define a pool for stale" in mine["message"]
    # Of it the operator's alert is made.
    assert rejected_by(kubectl, node) == before + 1
