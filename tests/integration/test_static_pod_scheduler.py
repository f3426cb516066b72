# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role default_scheduler where kubelets run the cluster's own kube-scheduler as a static pod: one host of a control plane, then two."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from cluster.throwaway.layout import STATE_IN_NODE
from support import control_plane
from support.control_plane import ControlPlane
from support.direct_module import COLLECTIONS
from support.pod_stream import PAUSE, PodStream
from support.scheduler import eventually

# The state after one test is where the next one begins.
pytestmark = [pytest.mark.long, pytest.mark.in_order]

PLAYBOOK = "osso.scheduler.default_scheduler_static_pod"
CHANGE = "Change the static pod of this host"
NODES = 3


@pytest.fixture(scope="module")
def plane(own_cluster, kubectl, tmp_path_factory):
    with ControlPlane(own_cluster, kubectl, tmp_path_factory.mktemp("control-plane")) as plane:
        plane.add("node-1")
        yield plane


@pytest.fixture
def host(plane):
    return plane.hosts["node-1"]


@pytest.fixture
def configure(play, plane):
    def run(*args, **options):
        chosen = {name: options.pop(name) for name in ("check", "diff", "succeed") if name in options}
        variables = {f"default_scheduler_{name}": value for name, value in options.items()}
        return play(PLAYBOOK, variables=variables, args=[f"--inventory={plane.inventory}", *args], **chosen)

    return run


@pytest.fixture
def stream(kubectl, namespace):
    """Pods that the default scheduler places meanwhile."""
    stream = PodStream(kubectl, namespace, "default-scheduler", seconds=0.3)
    yield stream
    stream.close()


def command(host) -> list[str]:
    return yaml.safe_load(host.manifest.read_text())["spec"]["containers"][0]["command"]


def container_id(plane, host) -> str:
    return plane.mirror(host)["status"]["containerStatuses"][0]["containerID"]


def placements(kubectl, namespace, count=5) -> list[str]:
    """The nodes of so many pods, each of which wants a tenth of a node."""
    room = kubectl.json("get", "nodes")["items"][0]["status"]["allocatable"]
    requests = {"cpu": f"{int(room['cpu']) * 100}m", "memory": f"{int(room['memory'].removesuffix('Ki')) // 10}Ki"}
    names = [f"tenth-{number}" for number in range(count)]
    for name in names:
        # One after the other: the scheduler counts what it has placed, also where the pod does not run yet.
        container = {"name": "pause", "image": PAUSE, "resources": {"requests": requests}}
        spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
        kubectl.create("pod", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}, namespace)

    def placed():
        """all pods have a node"""
        found = [kubectl.get("pod", name, namespace)["spec"].get("nodeName") for name in names]
        return found if all(found) else None

    found = eventually(placed)
    kubectl("delete", "pods", "--all", f"--namespace={namespace}")
    return found


def all_placed(stream) -> bool:
    return None not in stream.waits()


def told(stream) -> str:
    waits = stream.waits()
    return f"{len(waits)} pods, no placement for {stream.longest_pause():.1f} s at most, the longest waited {max(waits):.0f} s"


def test_check_mode_shows_both_files_and_writes_nothing(plane, host, configure):
    before, process = host.files(), container_id(plane, host)
    run = configure(profile="HighNodeUtilization", log_level="Debug", profiling=True, check=True, diff=True)
    manifest, config = run.task(CHANGE).result["diff"]
    assert "--v=4" in manifest["after"]
    assert "--v=4" not in manifest["before"]
    assert "type: MostAllocated" in config["after"]
    assert (host.files(), container_id(plane, host)) == (before, process)


def test_profile_log_level_and_profiling_take_effect_on_one_host(plane, host, configure, kubectl, namespace, stream, run_module, tmp_path):
    """Issue 8: HighNodeUtilization packs; on the only host there is a time without a scheduler"""
    with stream, plane.watched() as watch:
        run = configure(profile="HighNodeUtilization", log_level="Debug", profiling=True)
    eventually(lambda: all_placed(stream))
    assert watch.seconds_unserved() > 0
    seconds = run.task(CHANGE).result["seconds_until_ready"]
    print(f"\none host: changed and well after {seconds} s, no scheduler for {watch.seconds_unserved():.1f} s; {told(stream)}")
    probe = run.task("Verify with a test pod that pods are scheduled, before the next host").result
    assert [event["instance"] for event in probe["events"]] == ["default-scheduler-node-1"]

    stream.close()
    assert len(set(placements(kubectl, namespace))) == 1
    # The level at which it says that; 2 is what it had without the flag.
    assert "Attempting to bind pod to node" in kubectl("logs", host.pod, "--namespace=kube-system").stdout

    result = run_module("scheduler_pprof", {"scheduler_name": "default-scheduler", "profiles": ["heap"], "dest": str(tmp_path)})
    assert not result["failed"], result["msg"]
    assert (result["target"]["pod"], result["target"]["static"]) == (host.pod, True)
    with gzip.open(result["files"][0]["path"]) as profile:
        assert b"alloc_space" in profile.read()


def test_second_run_changes_nothing(plane, host, configure):
    before, process = host.files(), container_id(plane, host)
    run = configure(profile="HighNodeUtilization", log_level="Debug", profiling=True)
    assert run.changed == []
    assert (host.files(), container_id(plane, host)) == (before, process)


def test_configuration_edited_in_place_is_corrected(plane, host, configure):
    """The manifest stays as it is; kubelet starts what was ended"""
    (path,) = (host.folder / "kube-scheduler").iterdir()
    right, manifest, process = path.read_text(), host.manifest.read_text(), container_id(plane, host)
    path.write_text(right + "# edited\n")
    run = configure(profile="HighNodeUtilization", log_level="Debug", profiling=True)
    assert run.task(CHANGE).changed
    assert (path.read_text(), host.manifest.read_text()) == (right, manifest)
    eventually(lambda: container_id(plane, host) != process)


def test_the_cache_of_the_default_scheduler_matches_the_api_server(plane, host, play, kubectl):
    """F155: on its host, for its image has no shell"""
    tasks = [
        {
            "osso.scheduler.scheduler_cache_dump": {
                "scheduler_name": "default-scheduler",
                "method": "host",
                "kubeconfig": str(STATE_IN_NODE / "kubeconfig"),
            }
        }
    ]
    run = play([{"hosts": host.name, "gather_facts": False, "tasks": tasks}], args=[f"--inventory={plane.inventory}"])
    (task,) = run.tasks
    assert (task.result["target"]["pod"], task.result["method"]) == (host.pod, "host")
    assert len(task.result["dump"]["nodes"]) >= NODES
    believed = {f"{pod['namespace']}/{pod['name']}" for node in task.result["dump"]["nodes"] for pod in node["pods"]}
    assert f"kube-system/{host.pod}" in believed
    assert task.result["comparison"]["differences"] == []


def test_broken_configuration_is_rolled_back(plane, host, configure, kubectl, namespace):
    before = {name: text for name, (text, _time) in host.files().items()}
    # Right by itself, so that only the process can say what is wrong.
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": "/no/such/file"},
    }
    with plane.watched() as watch:
        run = configure(config=config, succeed=False)
    print(f"\none host: a broken configuration and the way back, no scheduler for {watch.seconds_unserved():.1f} s")
    (failure,) = run.failures
    assert failure.result["rolled_back"] is True
    # It is not tried until the time is over: meanwhile nothing is placed.
    assert "kubelet started it 3 times, and it ended each time" in failure.result["msg"]
    assert "The manifest of before is in its place again, and the scheduler is well." in failure.result["msg"]
    assert re.search(r"Its last words: E\d{4} .*/no/such/file: no such file or directory", failure.result["msg"])
    assert {name: text for name, (text, _time) in host.files().items()} == before
    assert len(set(placements(kubectl, namespace))) == 1


def test_the_guard_rolls_back_when_a_run_is_killed_after_the_manifest_change(plane, host):
    """The guard, a process of the node, rolls back what ends again and again"""
    before = {name: text for name, (text, _time) in host.files().items()}
    arguments = {
        "manifest": str(host.inside / "manifests/kube-scheduler.yaml"),
        "config_folder": str(host.inside / "kube-scheduler"),
        "content": "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 8\n",
        "flags": {"no-such-flag": "yes"},
    }
    module = [sys.executable, "-m", "ansible_collections.osso.scheduler.plugins.modules.static_pod_scheduler"]
    run = subprocess.Popen(
        [*host.enter("mount", "net", "pid", "uts", "ipc"), *module],
        env={**os.environ, "PYTHONPATH": str(COLLECTIONS)},
        stdin=subprocess.PIPE,
        text=True,
    )
    run.stdin.write(json.dumps({"ANSIBLE_MODULE_ARGS": arguments}))
    run.stdin.close()

    def ends_again():
        """kubelet has started the broken one, and again"""
        assert run.poll() is None
        found = ((plane.mirror(host) or {}).get("status") or {}).get("containerStatuses") or [{}]
        return "--no-such-flag=yes" in command(host) and found[0].get("restartCount")

    eventually(ends_again)
    # nsenter waits for its child.
    (pid,) = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    os.kill(int(pid), signal.SIGKILL)
    run.wait()

    def restored():
        """the files are those of before"""
        try:
            return {name: text for name, (text, _time) in host.files().items()} == before
        except FileNotFoundError:
            return False  # the guard deletes its record at that moment

    eventually(restored)
    plane.await_ready(host)


def test_with_two_hosts_one_scheduler_is_always_available(plane, configure, kubectl, namespace, stream, run_module, tmp_path):
    """Issue 8: LowNodeUtilization spreads; while one host's scheduler starts anew, the other one places"""
    plane.add("node-2")
    with stream, plane.watched() as watch:
        run = configure(profile="LowNodeUtilization", log_level="Normal", profiling=False)
    eventually(lambda: all_placed(stream))
    # It sees when there is none.
    assert watch.interrupted() == set(plane.hosts)
    assert watch.seconds_unserved() == 0
    seconds = [task.result["seconds_until_ready"] for task in run.tasks if task.task.endswith(CHANGE)]
    print(f"\ntwo hosts: changed and well after {seconds} s, always a scheduler; {told(stream)}")
    assert [task.host for task in run.tasks if task.task.endswith(CHANGE)] == ["node-1", "node-2"]
    for host in plane.hosts.values():
        assert "--v=2" in command(host)

    stream.close()
    assert len(set(placements(kubectl, namespace))) == NODES
    result = run_module("scheduler_pprof", {"scheduler_name": "default-scheduler", "profiles": ["heap"], "dest": str(tmp_path)})
    assert result["failed"]
    assert "serves no profiles: they are switched off" in result["msg"]


def test_state_absent_restores_the_former_files(host, configure):
    run = configure(f"--limit={host.name}", state="absent")
    assert run.task(CHANGE).changed
    assert yaml.safe_load(host.manifest.read_text()) == control_plane.manifest(host.inside / "scheduler.conf")
    assert host.files().keys() == {"manifests/kube-scheduler.yaml", "scheduler.conf"}
