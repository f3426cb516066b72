# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What scheduler_cache_dump says where there is no dump after the signal (F155)."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import klog, streams
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import cache_dump, dump_parser, send_sigusr2
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.logs import ContainerLog
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import Target
from ansible_collections.osso.scheduler.plugins.modules import scheduler_cache_dump

POD = {
    "metadata": {"namespace": "n", "name": "p"},
    "spec": {"containers": [{"name": "c"}]},
    "status": {"containerStatuses": [{"name": "c", "containerID": "x://1"}]},
}
LEFTOVER = "The ephemeral container e has ended; it stays listed."


class Server:
    """An API server with a pod; its log grows by one line, or can't be read any more."""

    def __init__(self, grown):
        self.grown, self.read = grown, 0

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def get(self, resource, name, namespace):
        return POD

    def text(self, path, query=None):
        self.read += 1
        if self.read == 1:
            return "2026-11-22T05:26:55.1Z first\n"
        if isinstance(self.grown, Exception):
            raise self.grown
        return f"2026-11-22T05:26:56.1Z {self.grown}\n"


def failure(monkeypatch, grown) -> ClusterError:
    monkeypatch.setattr(send_sigusr2, "from_inside", lambda *_args: send_sigusr2.Sent(send_sigusr2.EPHEMERAL, LEFTOVER))
    options = cache_dump.Options(
        None, [], {"namespace": "n", "name": "p"}, cache_dump.AUTO, "busybox", "kube-scheduler", None, None, 1, False
    )
    with pytest.raises(ClusterError) as error:
        cache_dump.run(Server(grown), options, Target(POD, "c", {}, None))
    return error.value


def test_the_end_of_a_log_is_shown_without_credentials(monkeypatch):
    """The message also names what stays in the cluster."""
    message = failure(monkeypatch, "cannot use token: pl4nted").message
    assert "its log since then ends with: cannot use token: ********" in message
    assert "pl4nted" not in message
    assert message.endswith(LEFTOVER)


def test_a_log_that_cannot_be_read_any_more_is_an_error(monkeypatch):
    error = failure(monkeypatch, ApiError(500, "InternalError", "the node is gone"))
    assert (error.status, error.message) == (500, f"the node is gone {LEFTOVER}")


def options(**given):
    defaults = {name: about.get("default") for name, about in scheduler_cache_dump.OPTIONS.items()}
    return cache_dump.Options(**{**defaults, "pod": {"namespace": "n", "name": "p"}, "compare": False, **given})


STATIC = {
    "metadata": {"namespace": "n", "name": "p", "annotations": {"kubernetes.io/config.mirror": "x"}},
    "spec": {"containers": [{"name": "c"}], "nodeName": "m1"},
}
WITHIN, BESIDE = (
    "run a shell in the container c of the pod n/p",
    "add an ephemeral container of busybox to the pod n/p, which stays listed there",
)
SENDS = ", to send SIGUSR2 to the scheduler"


@pytest.mark.parametrize(
    ("given", "changed", "what"),
    [
        ({"method": "auto"}, True, f"{WITHIN}, or if its image has none {BESIDE}{SENDS}"),
        ({"method": "exec"}, False, f"{WITHIN}{SENDS}"),
        ({"method": "ephemeral_container"}, True, f"{BESIDE}{SENDS}"),
        ({"method": "auto", "pod": STATIC}, False, f"{WITHIN}{SENDS}"),
        ({"method": "host"}, False, "send SIGUSR2 to the process of the pod n/p on this host, which must be , and read the pod's log"),
    ],
)
def test_the_plan_describes_the_actions_for_a_pod(given, changed, what):
    given = {"debug_image": "busybox", **given}
    target = Target({**POD, **given.pop("pod", {})}, "c", {}, None)
    assert cache_dump.plan(Server(""), options(**given), target) == {
        "changed": changed,
        "target": target.as_dict(),
        "method": None,
        "leftover": "",
        "dump": None,
        "comparison": None,
        "msg": f"Would {what}.",
    }


def test_the_pod_of_the_options_is_the_target():
    found = cache_dump.plan(Server(""), options(method="exec"))
    assert found["target"] == {"namespace": "n", "pod": "p", "container": "c", "node": "", "static": False}


@pytest.mark.parametrize(("given", "which"), [({"pid": 7}, "7"), ({}, "kube-scheduler")])
def test_the_plan_describes_the_actions_for_a_process(given, which):
    found = cache_dump.plan(Server(""), options(scheduler_name="s", pod=None, method="host", log_path="/var/log/x", **given))
    assert (found["changed"], found["target"]) == (False, None)
    assert found["msg"] == f"Would send SIGUSR2 to the process {which} of this host and read /var/log/x."


RECORDED = Path(__file__).parent / "recorded"
PROCESS = """
import pathlib, shutil, signal, sys, time
pathlib.Path("/proc/self/comm").write_text(sys.argv[1])
def dump(*_arguments):
    with open(sys.argv[3], "a") as log:
        log.write(open(sys.argv[2]).read())
signal.signal(signal.SIGUSR2, dump)
print("ready", flush=True)
while True:
    time.sleep(1)
"""


class Cluster(Server):
    """An API server with the objects of the recorded dump. `later`: pods that are deleted before they are listed again."""

    def __init__(self, later=()):
        super().__init__("")
        self.objects, self.later, self.reads = json.loads((RECORDED / "1.34.json").read_text()), later, 0

    def list(self, resource):
        found = self.objects[resource.plural]
        if resource.kind == "Pod":
            self.reads += 1
            return [pod for pod in found if self.reads == 1 or pod["metadata"]["name"] not in self.later]
        return found


@pytest.fixture
def process(tmp_path):
    """A process of this host that dumps to a file when it is signalled: its name, its id and the file."""
    log, name = tmp_path / "log", f"dump-{uuid.uuid4().hex[:9]}"
    log.write_text("I1122 05:00:00.000000       1 a.go:1] started\n")
    command = [sys.executable, "-c", PROCESS, name, str(RECORDED / "1.34.log"), str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "ready\n"
        yield name, running.pid, str(log)
        running.kill()


def test_a_process_of_the_host_dumps_to_its_file(process):
    name, pid, log = process
    given = options(scheduler_name="recorded", pod=None, method="host", process=name, pid=pid, log_path=log, timeout=30)
    found = cache_dump.run(Cluster(), given)
    assert found["dump"]["queues"] == {"active": 0, "backoff": 0, "unschedulable": 3}
    del found["dump"]
    pods = sum(len(node.pods) for node in dump_parser.find(klog.entries(Path(log).read_text())).nodes)
    assert found == {
        "changed": False,
        "target": None,
        "method": "host",
        "leftover": "",
        "comparison": None,
        "msg": f"the process of {log} knows 5 nodes with {pods} pods, and has 3 pods in its queue.",
    }


def test_the_dump_is_compared_with_the_objects_before_and_after(process):
    name, pid, log = process
    given = options(scheduler_name="recorded", pod=None, method="host", process=name, pid=pid, log_path=log, timeout=30, compare=True)
    server = Cluster(later=("placed-0",))
    found = cache_dump.run(server, given)
    assert server.reads == 2
    comparison = found["comparison"]
    assert comparison["in_flux"] == 1
    assert {one["kind"] for one in comparison["differences"]} == {"ghost_node"}
    # The name of the scheduler is known, so a pod for another one is no mismatch.
    assert "no mismatch: it waits for nobody, which is another scheduler" in [one["meaning"] for one in comparison["mismatches"]]
    assert found["msg"].endswith(f"in its queue; 1 difference from the API server: {comparison['differences'][0]['message']}.")


@pytest.mark.parametrize(
    ("messages", "end"),
    [
        ([], ", as the API server has it."),
        (["one"], "; 1 difference from the API server: one."),
        (["one", "two"], "; 2 differences from the API server: one, and others."),
    ],
)
def test_the_number_of_differences_is_in_the_message(messages, end):
    found = dump_parser.Dump("", (), {}, (), {})
    target = Target(POD, "c", {}, None)
    comparison = {"differences": [{"message": message} for message in messages]}
    sentence = cache_dump._sentence(options(), target, found, comparison)
    assert sentence == f"n/p knows 0 nodes with 0 pods, and has 0 pods in its queue{end}"


class Pod(Server):
    """... that takes an ephemeral container, which ends well. Its log has these lines since then."""

    def __init__(self, lines, container_id="x://1"):
        super().__init__("")
        self.lines, self.container_id, self.added = lines, container_id, []

    def request(self, method, path, query=None, body=None, content_type=None):
        self.added.append((method, path, query, content_type))
        self.name = body["spec"]["ephemeralContainers"][0]["name"]

    def get(self, resource, name, namespace):
        status = {"containerStatuses": [{"name": "other", "containerID": "x://3"}, {"name": "c", "containerID": self.container_id}]}
        if self.added:
            status["ephemeralContainerStatuses"] = [{"name": "other"}, {"name": self.name, "state": {"terminated": {"exitCode": 0}}}]
        return {**POD, "status": status}

    def text(self, path, query=None):
        return "".join(f"2026-11-22T05:26:56.{number:09}Z {line}\n" for number, line in enumerate(self.lines, 1)) if self.added else ""


def test_an_ephemeral_container_is_left_over_and_named():
    server = Pod((RECORDED / "1.34.log").read_text().splitlines())
    found = cache_dump.run(server, options(method="ephemeral_container", debug_image="busybox"))
    leftover = f"The ephemeral container {server.name} has ended; it stays listed in the pod n/p until that is replaced."
    assert (found["changed"], found["method"], found["leftover"]) == (True, "ephemeral_container", leftover)
    assert found["msg"].startswith("n/p knows 5 nodes with ")
    path = "/api/v1/namespaces/n/pods/p/ephemeralcontainers"
    assert server.added == [("PATCH", path, {"fieldManager": "osso.scheduler"}, "application/strategic-merge-patch+json")]


@pytest.mark.parametrize(
    ("lines", "container_id", "why"),
    [
        (["", "  "], "x://1", r"nothing that could be read within 0 s \(timeout\) of the signal; its log shows nothing new\. Does it log"),
        (["last", ""], "x://1", r"its log since then ends with: last\. Does it log to the container's output, or to log_path"),
        (["last"], "x://2", "^The container c of the pod n/p was restarted meanwhile, so there is no dump; repeat the task.$"),
    ],
)
def test_without_a_dump_the_reason_is_the_message(monkeypatch, lines, container_id, why):
    server = Pod(lines)
    target = Target(POD, "c", {}, None)
    log = ContainerLog(server, target)
    server.added, server.name, server.container_id = [()], "x", container_id
    given = options(timeout=1)
    object.__setattr__(given, "timeout", 0)
    with pytest.raises(ClusterError, match=why):
        cache_dump._wait(server, given, target, log)


def no_shell(*_arguments):
    return streams.Outcome(None, "", "sh not found")


@pytest.mark.parametrize(
    ("method", "about", "why"),
    [
        ("exec", POD, r"sh not found\. Use method: ephemeral_container, or host on the node \.$"),
        ("auto", {**POD, **STATIC}, r"no container can be added\. Run the task on the node m1 \(delegate_to\) with method: host\.$"),
    ],
)
def test_without_a_shell_the_other_methods_are_named(monkeypatch, method, about, why):
    monkeypatch.setattr(streams, "run", no_shell)
    with pytest.raises(ClusterError, match=why):
        cache_dump.run(Pod([]), options(method=method), Target(about, "c", {}, None))


def test_without_a_shell_an_ephemeral_container_is_added(monkeypatch):
    monkeypatch.setattr(streams, "run", no_shell)
    server = Pod((RECORDED / "1.34.log").read_text().splitlines())
    assert cache_dump.run(server, options(method="auto"), Target(POD, "c", {}, None))["method"] == "ephemeral_container"
