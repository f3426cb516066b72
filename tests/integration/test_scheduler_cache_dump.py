# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""scheduler_cache_dump on a real scheduler whose image has no shell, beside the API server (F155, F156, F157)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from support.access import service_account
from support.inventory import everything
from support.plain_scheduler import plain_scheduler
from support.scheduler import eventually

MODULE = "scheduler_cache_dump"
PAUSE = "registry.k8s.io/pause:3.10"
PODS, CPU_MILLIS, MEMORY_MI = 200, 3, 2


@pytest.fixture(scope="module")
def shell_image() -> str:
    return f"{os.environ['REGISTRY']}/busybox:1"


@pytest.fixture(scope="module")
def second(kubectl):
    """A scheduler as restricted as can be; the name of its namespace, which is also its schedulerName."""
    with plain_scheduler(kubectl, restricted=True) as namespace:
        yield namespace


@pytest.fixture(scope="module")
def crowd(kubectl, second):
    """200 pods on a node without a kubelet, which cost nothing but their placing, and some that wait for one reason or other."""
    node = f"crowded-{second}"
    metadata = {"name": node, "labels": {"crowd": second}}
    kubectl("create", "--filename=-", stdin={"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": [TAINT]}})
    room = {"cpu": "4", "memory": "8Gi", "pods": "1000", "example.com/gpu": "3", "hugepages-2Mi": "64Mi", "ephemeral-storage": "10Gi"}
    status = {"status": {"capacity": room, "allocatable": room}}
    kubectl("patch", "node", node, "--subresource=status", "--type=merge", f"--patch={json.dumps(status)}")
    kubectl("create", "namespace", f"{second}-crowd")
    kubectl("create", "serviceaccount", "default", f"--namespace={second}-crowd", check=False)
    pods = [pod(f"crowd-{number}", second) for number in range(PODS)]
    pods[0]["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] = "1"
    pods[0]["spec"]["containers"][0]["resources"]["limits"] = {"example.com/gpu": "1"}
    pods[1]["spec"]["initContainers"] = [
        {"name": "big", "image": PAUSE, "resources": {"requests": {"cpu": "40m"}}},
        {"name": "side", "image": PAUSE, "restartPolicy": "Always", "resources": {"requests": {"cpu": "5m"}}},
    ]
    pods += [
        pod("nowhere", second, nodeSelector={"crowd": "nowhere"}),
        pod("gated", second, schedulingGates=[{"name": "example.com/wait"}]),
        pod("others", "nobody-serves-this"),
    ]
    for one in pods:
        one["metadata"]["namespace"] = f"{second}-crowd"
    try:
        kubectl("create", "--filename=-", stdin={"apiVersion": "v1", "kind": "List", "items": pods}, timeout=300)

        def placed():
            """all pods have a node"""
            found = kubectl.list("pod", f"{second}-crowd", "crowd=yes")
            return sum(1 for one in found if one["spec"].get("nodeName") == node) == PODS

        eventually(placed)
        yield node
    finally:
        kubectl("delete", "pods", "--all", f"--namespace={second}-crowd", "--force", "--grace-period=0", "--wait=false", timeout=300)
        kubectl("delete", "node", node)
        kubectl("delete", "namespace", f"{second}-crowd", "--wait=false")


TAINT = {"key": "crowd", "effect": "NoSchedule"}


def pod(name, scheduler_name, **spec):
    requests = {"cpu": f"{CPU_MILLIS}m", "memory": f"{MEMORY_MI}Mi"}
    container = {"name": "c", "image": PAUSE, "resources": {"requests": requests}}
    selector = {"crowd": scheduler_name}
    spec = {
        "schedulerName": scheduler_name,
        "nodeSelector": selector,
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
        **spec,
    }
    labels = {"crowd": "yes" if name.startswith("crowd-") else "no"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec}


@pytest.fixture
def dump(run_module, second, shell_image):
    def run(check=False, **options):
        return run_module(
            MODULE, {"scheduler_name": second, "namespaces": [second], "debug_image": shell_image, "timeout": 120, **options}, check=check
        )

    return run


def ephemeral(kubectl, second) -> list[str]:
    """The ephemeral containers of the scheduler's pod."""
    (one,) = kubectl.list("pod", second, "app=second")
    return [container["name"] for container in one["spec"].get("ephemeralContainers") or []]


def test_check_mode_reports_the_planned_actions_and_executes_none(dump, second, kubectl, audit):
    with audit:
        result = dump(check=True)
    assert audit.writes() == []
    assert not result["failed"], result["msg"]
    assert (result["changed"], result["dump"], result["method"]) == (True, None, None)
    assert result["msg"].startswith("Would run a shell in the container scheduler of the pod")
    assert result["target"]["namespace"] == second
    assert ephemeral(kubectl, second) == []


def test_the_dump_of_a_scheduler_without_a_shell_matches_the_api_server(dump, second, crowd, kubectl):
    before = everything(kubectl)
    result = dump()
    assert not result["failed"], result["msg"]
    assert (result["changed"], result["method"]) == (True, "ephemeral_container")
    believed = result["dump"]
    assert {node["name"] for node in believed["nodes"]} == {node["metadata"]["name"] for node in kubectl.json("get", "nodes")["items"]}
    node = next(node for node in believed["nodes"] if node["name"] == crowd)
    assert len(node["pods"]) == PODS
    # One init container needs 40m, where its sidecar comes after it.
    assert node["requested"]["cpu_millis"] == PODS * CPU_MILLIS - CPU_MILLIS + 40
    assert node["requested"]["memory"] == PODS * MEMORY_MI << 20
    assert node["requested"]["scalar"] == {"example.com/gpu": 1}
    assert node["allocatable"]["scalar"]["hugepages-2Mi"] == 64 << 20
    assert result["comparison"]["differences"] == []
    assert result["comparison"]["consistent"]
    assert {pod["name"]: pod["queue"] for pod in believed["queue"]} == {"nowhere": "unschedulable", "gated": "unschedulable"}
    # The scheduler's own comparison takes pods of others for missed ones.
    assert [
        (one["pod"], one["meaning"].partition(":")[0])
        for one in result["comparison"]["mismatches"]
        if one["namespace"] == f"{second}-crowd"
    ] == [("others", "no mismatch")]
    # What it says of itself is all that is left, and that has ended.
    (name,) = ephemeral(kubectl, second)
    assert name in result["leftover"]
    (one,) = kubectl.list("pod", second, "app=second")
    (status,) = one["status"]["ephemeralContainerStatuses"]
    assert status["state"]["terminated"]["exitCode"] == 0
    assert one["status"]["containerStatuses"][0]["restartCount"] == 0
    assert everything(kubectl) - before == set()


@pytest.mark.usefixtures("crowd", "own_cluster")
@pytest.mark.long
def test_a_difference_between_cache_and_api_server_is_reported(dump, second, kubectl):
    """A pod on a node that does not exist is counted on a node that the API server does not have."""
    one = pod("haunting", second, nodeName="ghost-node")
    kubectl("create", f"--namespace={second}-crowd", "--filename=-", stdin=one)
    try:

        def haunted():
            """the scheduler has heard of the pod"""
            result = dump(method="host")
            assert not result["failed"], result["msg"]
            return [one for one in result["comparison"]["differences"] if one["node"] == "ghost-node"]

        (difference,) = eventually(haunted)
        assert difference["kind"] == "ghost_node"
        assert difference["message"] == "the scheduler keeps the node ghost-node for 1 pods, which the API server does not have"
    finally:
        kubectl("delete", "pod", "haunting", f"--namespace={second}-crowd", "--force", "--grace-period=0", "--ignore-not-found")


@pytest.mark.usefixtures("own_cluster")
def test_a_dump_on_the_schedulers_host_leaves_no_objects(dump, second, crowd, kubectl, audit):
    before = ephemeral(kubectl, second)
    with audit:
        result = dump(method="host", pod=named_pod(kubectl, second))
    assert not result["failed"], result["msg"]
    assert (result["changed"], result["method"], result["leftover"]) == (False, "host", "")
    assert result["comparison"]["consistent"], result["comparison"]["differences"]
    assert len(next(node for node in result["dump"]["nodes"] if node["name"] == crowd)["pods"]) == PODS
    assert audit.writes() == []
    assert ephemeral(kubectl, second) == before


def named_pod(kubectl, second) -> dict:
    (one,) = kubectl.list("pod", second, "app=second")
    return {"namespace": second, "name": one["metadata"]["name"]}


@pytest.mark.long
def test_the_default_scheduler_is_dumped_as_a_process_of_the_host(run_module, own_cluster, kubectl):
    (pid,) = own_schedulers(own_cluster)
    options = {
        "scheduler_name": "default-scheduler",
        "method": "host",
        "pid": pid,
        "log_path": str(own_cluster / "logs/kube-scheduler.log"),
    }
    result = run_module(MODULE, options)
    assert not result["failed"], result["msg"]
    assert (result["changed"], result["target"]) == (False, None)
    assert result["comparison"]["consistent"], result["comparison"]["differences"]
    assert {node["name"] for node in result["dump"]["nodes"]} >= {
        node["metadata"]["name"] for node in kubectl.json("get", "nodes")["items"]
    }


def own_schedulers(cluster) -> list[int]:
    """Processes of this machine, not of a container, that are this cluster's scheduler."""
    found = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdigit() and (process / "comm").read_text().strip() == "kube-scheduler":
                mine = f"THROWAWAY_CLUSTER={cluster}".encode() in (process / "environ").read_bytes().split(b"\0")
                if mine and os.readlink(process / "ns/pid") == os.readlink("/proc/self/ns/pid"):
                    found.append(int(process.name))
    return found


def test_a_scheduler_without_a_visible_pod_is_an_error_with_the_remedy(run_module):
    result = run_module(MODULE, {"scheduler_name": "default-scheduler"})
    assert result["failed"]
    assert "has no pod that can be seen" in result["msg"]
    assert "method: host" in result["msg"]
    assert "log_path" in result["msg"]


def test_a_scheduler_name_that_no_scheduler_has_is_an_error_with_the_known_names(dump, second):
    result = dump(scheduler_name="nobody")
    assert result["failed"]
    assert result["msg"].startswith("scheduler_name: no scheduler of the name nobody was found; found are default-scheduler, ")
    assert second in result["msg"]


def test_a_missing_shell_is_an_error_with_the_remedy(dump, second):
    result = dump(method="exec")
    assert result["failed"]
    assert "could not run a shell" in result["msg"]
    assert "Use method: ephemeral_container" in result["msg"]


@pytest.mark.long
def test_an_image_that_cannot_be_pulled_is_named(dump):
    result = dump(method="ephemeral_container", debug_image="registry.invalid/no/such:image", timeout=5)
    assert result["failed"]
    assert "debug_image (now registry.invalid/no/such:image)" in result["msg"]
    assert "stays listed" in result["msg"]


@pytest.mark.long
def test_a_missing_permission_is_named(run_module, kubectl, second):
    rules = [{"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list"]}]
    with service_account(kubectl, second, *rules) as me:
        result = run_module(MODULE, {**me, "scheduler_name": second, "pod": named_pod(kubectl, second), "compare": False})
    assert result["failed"]
    assert "pods/exec" in result["msg"]
    assert "forbidden" in result["msg"]


@pytest.fixture(scope="module")
def with_shell(own_cluster, root, tmp_path_factory):
    """The name of an image that has kube-scheduler and a shell."""
    folder = tmp_path_factory.mktemp("image")
    shutil.copy("/bin/busybox", folder)
    (folder / "kube-scheduler").hardlink_to((own_cluster / "bin/kube-scheduler").resolve())
    (folder / "Containerfile").write_text(
        'FROM scratch\nCOPY busybox /bin/busybox\nRUN ["/bin/busybox", "--install", "/bin"]\nCOPY kube-scheduler /bin/kube-scheduler\n'
    )
    name = "scheduler-with-shell:1"
    subprocess.run([root / "tests/cluster/cluster", "image", folder, name], check=True, capture_output=True)
    return f"{os.environ['REGISTRY']}/{name}"


@pytest.mark.long
def test_an_image_with_a_shell_needs_no_other_container(run_module, kubectl, with_shell):
    with plain_scheduler(kubectl, image=with_shell) as namespace:
        result = run_module(MODULE, {"scheduler_name": namespace, "namespaces": [namespace], "timeout": 120})
        assert not result["failed"], result["msg"]
        assert (result["changed"], result["method"], result["leftover"]) == (False, "exec", "")
        assert result["comparison"]["consistent"], result["comparison"]["differences"]
        assert ephemeral(kubectl, namespace) == []
