# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pools on real nodes: two schedulers that are separated, and a collision that a real kubelet ends."""

from __future__ import annotations

import json

import pytest
from support.objects import deployment
from support.plain_scheduler import CONFIG, plain_scheduler
from support.scheduler import eventually

PAUSE = "registry.k8s.io/pause:3.10"
KEEP_TO_NODES = """\
    pluginConfig:
      - name: NodeAffinity
        args:
          addedAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms:
                - matchExpressions:
                    - key: osso.scheduler/pool
                      operator: In
                      values:
                        - {namespace}
"""


def pod(namespace, name, **spec):
    container = {"name": "c", "image": PAUSE, "resources": spec.pop("resources", {})}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


@pytest.fixture
def node(kubectl):
    """A node without taints."""
    return next(one["metadata"]["name"] for one in kubectl.json("get", "nodes")["items"] if not one["spec"].get("taints"))


def test_pods_of_a_namespace_on_nodes_of_their_own(kubectl, module_result, namespace, node):
    with plain_scheduler(kubectl, config=CONFIG.partition("  - schedulerName: {namespace}-packing")[0] + KEEP_TO_NODES) as name:
        item = {"scheduler_name": name, "namespaces": {"names": [namespace]}, "nodes": {"names": [node]}, "exclusive": True}
        try:
            result = module_result("scheduler_pool", {"pools": [item]})
            assert not result["failed"], result["msg"]
            trial = pod(namespace, "trial")

            def routed():
                answer = kubectl("create", "--dry-run=server", "--filename=-", "--output=json", stdin=trial)
                return json.loads(answer.stdout)["spec"]["schedulerName"] == name

            eventually(routed, 30)
            kubectl.create("pod", pod(namespace, "bare"), namespace)
            kubectl.apply(deployment(namespace, replicas=2, image=PAUSE))
            kubectl("create", "job", "once", f"--image={PAUSE}", f"--namespace={namespace}")
            pods = eventually(
                lambda: (some := kubectl.list("pod", namespace)) and sum("nodeName" in one["spec"] for one in some) == 4 and some
            )
            assert {(one["spec"]["schedulerName"], one["spec"]["nodeName"]) for one in pods} == {(name, node)}

            probe = module_result("scheduler_probe", {"scheduler_name": name, "image": PAUSE})
            assert not probe["failed"], probe["msg"]
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
            removed = module_result("scheduler_pool", {"pools": [{"scheduler_name": name, "state": "absent"}]})
        assert not removed["failed"], removed["msg"]
        assert "taints" not in kubectl.json("get", "node", node)["spec"]


def test_a_collision(kubectl, module_result, namespace, node):
    """A pod is bound to a node that another scheduler has filled, as by a scheduler that does not know it yet."""
    cores = kubectl.json("get", "node", node)["status"]["allocatable"]["cpu"]
    # With a request, whatever else runs there: the second one asks for all of the node.
    kubectl.create(
        "pod", pod(namespace, "first", nodeSelector={"kubernetes.io/hostname": node}, resources={"requests": {"cpu": "100m"}}), namespace
    )
    eventually(lambda: kubectl.get("pod", "first", namespace)["status"].get("startTime"))
    kubectl.create("pod", pod(namespace, "second", schedulerName="stale", resources={"requests": {"cpu": cores}}), namespace)
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
