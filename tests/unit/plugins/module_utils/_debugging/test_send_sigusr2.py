# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Signalling processes of this machine, by the module's own code and by the script that runs in containers (F155, F156)."""

from __future__ import annotations

import signal
import subprocess
import sys
import uuid
from contextlib import suppress

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import streams
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
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


def test_a_missing_process_is_an_error(name):
    with pytest.raises(ClusterError, match=f"a process outside of containers whose program is called {name}"):
        send_sigusr2.on_host(name)
    done = script(name)
    assert (done.returncode, done.stdout) == (3, f"no process named {name} was signalled\n")


def test_one_of_several_processes_must_be_chosen_by_pid(start, name):
    first, second = start(name), start(name)
    with pytest.raises(InputError, match=f"pid: 2 processes on this host.*{first.pid}: ") as refused:
        send_sigusr2.on_host(name)
    assert f"{second.pid}: " in refused.value.message
    assert send_sigusr2.on_host(name, pid=second.pid).pids == (second.pid,)
    assert second.stdout.readline() == "signalled\n"


def test_a_process_outside_of_the_container_is_not_signalled(start, name):
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


def test_a_container_may_signal_others_if_the_schedulers_user_is_unknown():
    assert security()["capabilities"] == {"drop": ["ALL"], "add": ["KILL"]}
    # Pod Security `restricted` forbids the capability, which only root can use.
    assert security(securityContext={"runAsNonRoot": True})["capabilities"] == {"drop": ["ALL"]}
    assert security({"securityContext": {"runAsNonRoot": True}})["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("name", ["/etc/x", "../x", ".."])
def test_a_name_that_is_a_path_is_rejected(name):
    found = Target({"metadata": {"namespace": "n", "name": name}}, "c", {}, None)
    with pytest.raises(ClusterError, match="is not a name of an object"):
        found.name.join("x")


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


def test_an_ephemeral_container_that_is_being_created_is_waited_for():
    with pytest.raises(ClusterError, match="did not run within 0 s: ContainerCreating"):
        send_sigusr2._await_end(Waiting("ContainerCreating"), target(), "one", "busybox", 0)


@pytest.mark.parametrize(
    ("outcome", "error", "why"),
    [
        ((None, "", "exec: sh: not found "), send_sigusr2.NoShell, r"could not run a shell: exec: sh: not found$"),
        ((None, "", "stat /bin/sh: no such file or directory"), send_sigusr2.NoShell, "could not run a shell: stat /bin/sh: no such file"),
        (
            (None, "", "container is paused"),
            ClusterError,
            "^the container secondary-scheduler of the pod n/p could not run a shell: container is",
        ),
        (
            (3, " no process named x was signalled\n", "exit 3"),
            ClusterError,
            r"n/p: no process named x was signalled\. Is it a kube-scheduler\?",
        ),
        ((1, " \n", "exit code 1"), ClusterError, r"^In the container secondary-scheduler of the pod n/p: exit code 1\. Is it"),
    ],
)
def test_a_shell_that_sends_no_signal_is_an_error(monkeypatch, outcome, error, why):
    monkeypatch.setattr(send_sigusr2.streams, "run", lambda *_arguments: streams.Outcome(*outcome))
    with pytest.raises(error, match=why) as raised:
        send_sigusr2.from_inside(None, target(), "x")
    assert raised.type is error


def test_a_shell_in_the_container_sends_the_signal(monkeypatch):
    seen = []

    def run(client, *arguments):
        seen.append(arguments)
        return streams.Outcome(0, "", "")

    monkeypatch.setattr(send_sigusr2.streams, "run", run)
    assert send_sigusr2.from_inside(None, target(), "kube-scheduler-of-shop") == ("exec", "", ())
    (arguments,) = seen
    assert arguments[:3] == ("n", "p", "secondary-scheduler")
    # The kernel keeps 15 characters of a name.
    assert (arguments[3][:2], arguments[3][3:]) == (["sh", "-c"], ["sh", "kube-scheduler-"])


class Ended(Waiting):
    """... that has ended, with a log."""

    def __init__(self, log, **state):
        self.log, self.state = log, {"terminated": state}

    def resource(self, version, kind):
        return KNOWN[version, kind]

    def text(self, path, query):
        assert (path, query) == ("/api/v1/namespaces/n/pods/p/log", {"container": "one"})
        return self.log


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (Ended(" no process\n", exitCode=3, message="m", reason="Error"), "no process"),
        (Ended("", exitCode=3, message="m", reason="Error"), "m"),
        (Ended("", exitCode=1, reason="StartError"), "StartError"),
        (Ended("", reason="ContainerStatusUnknown"), "ContainerStatusUnknown"),
    ],
)
def test_a_failed_ephemeral_container_is_an_error_with_its_message(server, said):
    with pytest.raises(ClusterError) as raised:
        send_sigusr2._await_end(server, target(), "one", "busybox", 60)
    remedy = "Is it a kube-scheduler? Its program's name is given as process."
    assert raised.value.message == f"In the ephemeral container one: {said}. {remedy}"


def test_an_ephemeral_container_that_does_not_start_is_an_error():
    why = r"The ephemeral container two of the pod n/p did not run within 0 s: it has not started\. Give an image"
    with pytest.raises(ClusterError, match=why):
        send_sigusr2._await_end(Waiting("x"), target(), "two", "busybox", 0)


def test_the_ephemeral_container_is_restricted_and_runs_as_the_same_user():
    own = {
        "runAsUser": 0,
        "runAsGroup": 1,
        "seccompProfile": {"type": "RuntimeDefault"},
        "seLinuxOptions": {"level": "s0"},
        "privileged": True,
    }
    made = send_sigusr2.ephemeral_container(target({"securityContext": own}), "osso-dump-1", "kube-scheduler", "busybox")
    assert made == {
        "name": "osso-dump-1",
        "image": "busybox",
        "command": send_sigusr2._command("kube-scheduler"),
        "targetContainerName": "secondary-scheduler",
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
            "runAsUser": 0,
            "runAsGroup": 1,
            "seccompProfile": {"type": "RuntimeDefault"},
            "seLinuxOptions": {"level": "s0"},
        },
    }


def test_a_process_of_another_user_is_an_error_that_names_become(start, name, monkeypatch):
    process = start(name)

    def denied(pid, number):
        raise PermissionError

    monkeypatch.setattr(send_sigusr2.os, "kill", denied)
    with pytest.raises(ClusterError, match=f"^The process {process.pid} belongs to another user: run the task with become: true.$"):
        send_sigusr2.on_host(name)


@pytest.fixture
def proc(tmp_path):
    """A /proc with the processes 1 (ours) to 5; only 3 and 4 are kube-schedulers of this PID namespace."""
    for number, comm, namespace in (("self", "ours", 1), ("4", "x", 1), ("3", "x", 1), ("2", "x", 2), ("5", "other", 1), ("a", "x", 1)):
        folder = tmp_path / number
        (folder / "ns").mkdir(parents=True)
        (folder / "comm").write_text(f"{comm}\n")
        (folder / "ns/pid").symlink_to(f"pid:[{namespace}]")
        (folder / "cgroup").write_text(f"0::/kubepods/cri-containerd-{number}{number}.scope\n")
    (tmp_path / "9").mkdir()
    (tmp_path / "3/cmdline").write_bytes(b"x\0--v=2\0" + b"y" * 300)
    return tmp_path


def test_processes_of_other_containers_are_no_candidates(proc):
    with pytest.raises(InputError) as raised:
        send_sigusr2.on_host("x", proc=proc)
    assert raised.value.message == (
        "pid: 2 processes on this host are called x; give the pid of the one that is meant. 3: x --v=2 " + "y" * 192 + "; 4: unknown"
    )
    with pytest.raises(ClusterError, match=r"^On this host there is not the process 2 whose program is called x"):
        send_sigusr2.on_host("x", pid=2, proc=proc)
    with pytest.raises(ClusterError, match=r"^On this host there is not a process of the container 123456789012 whose"):
        send_sigusr2.on_host("x", container_id="1234567890123", proc=proc)
    # Their status cannot be read, so nobody knows whether the signal ends them.
    for given in ({"pid": 3}, {"container_id": "22"}):
        with pytest.raises(
            ClusterError, match=r"has no handler for SIGUSR2, which would end it, so it was not sent\. Is it a kube-scheduler"
        ):
            send_sigusr2.on_host("x", proc=proc, **given)


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("SigCgt:\t0000000000000800\n", True),
        ("SigBlk:\t0000000000000800\nSigCgt:\t0000000000000400\n", False),
        ("SigCgt:\tffffffffffffffff\n", True),
        ("SigCgt:\tfffffffffffff7ff\n", False),
        ("SigCgt:\tx\n", False),
        ("Name:\tx\n", False),
    ],
)
def test_only_a_process_with_a_handler_gets_the_signal(proc, monkeypatch, text, sent):
    killed = []
    monkeypatch.setattr(send_sigusr2.os, "kill", lambda *about: killed.append(about))
    (proc / "3/status").write_text(text)
    with suppress(ClusterError):
        send_sigusr2.on_host("x", pid=3, proc=proc)
    assert killed == ([(3, signal.SIGUSR2)] if sent else [])
