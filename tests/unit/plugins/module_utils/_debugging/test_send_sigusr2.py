# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Signalling processes of this machine, by the module's own code and by the script that runs in containers (F155, F156)."""

from __future__ import annotations

import subprocess
import sys
import uuid

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import send_sigusr2
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import Target

PROGRAM = """
import pathlib, signal, sys, time
pathlib.Path("/proc/self/comm").write_text(sys.argv[1])
if sys.argv[2] == "caught":
    signal.signal(signal.SIGUSR2, lambda *a: print("signalled", flush=True))
print("ready", flush=True)
while True:
    time.sleep(1)
"""


@pytest.fixture
def start():
    """Start a process of a name that has a handler for the signal, or has not."""
    running = []

    def started(name, how="caught"):
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, name, how], stdout=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield started
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def name() -> str:
    return f"dump-{uuid.uuid4().hex[:9]}"


def script(name):
    command = send_sigusr2._command(name)
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_process_of_the_name_is_signalled(start, name):
    process = start(name)
    start("another")
    assert send_sigusr2.on_host(name).pids == (process.pid,)
    assert process.stdout.readline() == "signalled\n"
    assert script(name).returncode == 0
    assert process.stdout.readline() == "signalled\n"


def test_a_process_without_a_handler_is_not_signalled(start, name):
    process = start(name, "deaf")
    with pytest.raises(ClusterError, match="no handler for SIGUSR2"):
        send_sigusr2.on_host(name)
    done = script(name)
    assert done.returncode == 3
    assert "does not expect the signal" in done.stdout
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.3)


def test_no_process_of_the_name(name):
    with pytest.raises(ClusterError, match=f"a process outside of containers whose program is called {name}"):
        send_sigusr2.on_host(name)
    done = script(name)
    assert (done.returncode, done.stdout) == (3, f"no process named {name} was signalled\n")


def test_several_processes_of_the_name(start, name):
    first, second = start(name), start(name)
    with pytest.raises(InputError, match=f"pid: 2 processes on this host.*{first.pid}: ") as refused:
        send_sigusr2.on_host(name)
    assert f"{second.pid}: " in refused.value.message
    assert send_sigusr2.on_host(name, pid=second.pid).pids == (second.pid,)
    assert second.stdout.readline() == "signalled\n"


def test_a_process_of_another_container(start, name):
    start(name)
    with pytest.raises(ClusterError, match="a process of the container 0123456789ab"):
        send_sigusr2.on_host(name, container_id="0123456789abcdef")


def target(container=None, **spec):
    containers = [{"name": "secondary-scheduler", **(container or {})}]
    pod = {"metadata": {"namespace": "n", "name": "p"}, "spec": {"containers": containers, **spec}}
    return Target(pod, "secondary-scheduler", {}, None)


def security(*args, **spec):
    made = send_sigusr2.ephemeral_container(target(*args, **spec), "osso-dump-1", "kube-scheduler", "busybox")
    assert made["targetContainerName"] == "secondary-scheduler"
    assert made["securityContext"]["allowPrivilegeEscalation"] is False
    return made["securityContext"]


def test_an_ephemeral_container_is_as_restricted_as_the_scheduler():
    assert security(securityContext={"runAsUser": 1001})["capabilities"] == {"drop": ["ALL"]}
    own = security({"securityContext": {"runAsUser": 65532, "runAsNonRoot": True}})
    assert (own["runAsUser"], own["runAsNonRoot"], own["capabilities"]) == (65532, True, {"drop": ["ALL"]})


def test_it_may_signal_others_where_nobody_knows_the_schedulers_user():
    assert security()["capabilities"] == {"drop": ["ALL"], "add": ["KILL"]}


class Waiting:
    """A client that shows one ephemeral container, which waits for this reason."""

    def __init__(self, reason):
        self.state = {"waiting": {"reason": reason, "message": "the kubelet's words"}}

    def resource(self, version, kind):
        return kind

    def get(self, resource, name, namespace):
        return {"status": {"ephemeralContainerStatuses": [{"name": "one", "state": self.state}]}}


@pytest.mark.parametrize(
    ("reason", "says"),
    [("ImagePullBackOff", "cannot be pulled"), ("InvalidImageName", "cannot be pulled"), ("CreateContainerError", "cannot be started")],
)
def test_an_ephemeral_container_that_cannot_start_ends_the_wait(monkeypatch, reason, says):
    monkeypatch.setattr(send_sigusr2.time, "sleep", lambda seconds: pytest.fail("it waits"))
    with pytest.raises(ClusterError) as raised:
        send_sigusr2._await_end(Waiting(reason), target(), "one", "registry.invalid/no/such:image", 60)
    assert f"{says}: {reason}: the kubelet's words" in raised.value.message
    assert "as debug_image (now registry.invalid/no/such:image)" in raised.value.message


def test_one_that_is_being_created_is_waited_for():
    with pytest.raises(ClusterError, match="did not run within 0 s: ContainerCreating"):
        send_sigusr2._await_end(Waiting("ContainerCreating"), target(), "one", "busybox", 0)
