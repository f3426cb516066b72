# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which container of which pod is looked into, and what the API server's streams say."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import streams
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import send_sigusr2
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import Target, leads, named, serving


class Server:
    """An API server that has one pod, or none."""

    def __init__(self, pod=None):
        self.pod = pod

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def get(self, resource, name, namespace):
        return self.pod


def pod(*containers, running=True, **metadata):
    statuses = [{"name": one["name"], "containerID": "containerd://0a1b" if running else ""} for one in containers]
    return {
        "metadata": {"namespace": "n", "name": "p", **metadata},
        "spec": {"containers": list(containers), "nodeName": "node-1"},
        "status": {"containerStatuses": statuses},
    }


SCHEDULER = {"name": "main", "image": "x", "command": ["/bin/kube-scheduler", "--secure-port=10300"]}
SIDECAR = {"name": "side", "image": "y", "command": ["/bin/y"]}


def find(one, container=None):
    return named(Server(one), {"namespace": "n", "name": "p", "container": container}, None)


def test_the_container_that_starts_kube_scheduler_is_found():
    target = find(pod(SIDECAR, SCHEDULER))
    assert (target.container, target.container_id, target.secure_port, target.static) == ("main", "0a1b", 10300, False)


def test_the_only_container_or_the_given_one_is_found():
    assert find(pod(SIDECAR)).container == "side"
    assert find(pod(SIDECAR)).secure_port == 10259
    assert find(pod(SIDECAR, SCHEDULER), "side").container == "side"


@pytest.mark.parametrize(
    ("one", "container", "why"),
    [
        (None, None, "there is no pod n/p"),
        (pod(SIDECAR, {**SIDECAR, "name": "b"}), None, "none starts kube-scheduler.*side, b. Give one of them as pod.container"),
        (pod(SIDECAR), "x", "pod.container: x is none of the containers of n/p: side"),
    ],
)
def test_a_missing_pod_or_container_is_an_error(one, container, why):
    with pytest.raises(InputError, match=why):
        find(one, container)


def test_a_container_that_does_not_run_is_an_error():
    with pytest.raises(ClusterError, match="does not run: kubectl -n n describe pod p"):
        find(pod(SCHEDULER, running=False))


def test_the_leader_is_identified_by_the_holder_name_before_the_suffix():
    one = {"metadata": {"name": "second-a"}, "spec": {"nodeName": "node-1"}}
    assert leads(one, "second-a_0e0e8c8a")
    assert not leads(one, "second-ab_0e0e8c8a")
    assert not leads(one, "")
    assert leads({**one, "spec": {"nodeName": "node-1", "hostNetwork": True}}, "node-1_0e0e8c8a")


@pytest.mark.parametrize("words", [["--secure-port=$(PORT)"], ["--secure-port", "--v=2"], ["--secure-port=-1"]])
def test_an_invalid_secure_port_is_an_error(words):
    target = find(pod({**SCHEDULER, "command": ["kube-scheduler", *words]}))
    with pytest.raises(ClusterError, match=r"^The flag --secure-port of the scheduler in n/p is .*set it as port"):
        _port = target.secure_port


class Beside(Server):
    """... to which an ephemeral container can be added, and that fails when it is asked for the pod then, or for the container's log."""

    def __init__(self, failing, state=None):
        super().__init__(pod(SCHEDULER))
        self.failing, self.state, self.name = failing, state, ""

    def request(self, method, path, body=None, **_more):
        self.name = body["spec"]["ephemeralContainers"][0]["name"]
        if self.failing == "patch":
            raise ApiError(0, "Unreachable", "no answer", path=path)

    def get(self, resource, name, namespace):
        if self.failing == "get":
            raise ApiError(500, "InternalError", "etcd is gone")
        return {"status": {"ephemeralContainerStatuses": [{"name": self.name, "state": self.state}]}}

    def text(self, path, query=None):
        raise ApiError(500, "InternalError", "the node is gone", path=path)


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (Beside("patch"), "If it was added all the same, it is"),
        (Beside("get"), "etcd is gone The ephemeral container"),
        (Beside("text", {"terminated": {"exitCode": 3}}), "the node is gone The ephemeral container"),
    ],
)
def test_an_error_names_the_container_that_stays(server, said):
    with pytest.raises(ApiError) as error:
        send_sigusr2.from_beside(server, Target(server.pod, "main", {}, None), "kube-scheduler", "busybox", 5)
    assert said in error.value.message
    assert server.name in error.value.message


def test_no_container_is_added_to_a_static_pod():
    static = Target(pod(SCHEDULER, annotations={"kubernetes.io/config.mirror": "x"}), "main", {}, None)
    with pytest.raises(InputError, match=r"static pod of the node node-1.*method: host"):
        send_sigusr2.from_beside(Server(), static, "kube-scheduler", "busybox", 1)


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        ({"status": "Success"}, 0, ""),
        ({"status": "Failure", "message": "ended", "details": {"causes": [{"reason": "ExitCode", "message": "3"}]}}, 3, "ended"),
        ({"status": "Failure", "reason": "InternalError", "message": "sh: not found"}, None, "sh: not found"),
    ],
)
def test_the_status_of_a_command_gives_its_exit_code_and_message(status, code, message):
    assert streams._outcome(json.dumps(status), "out") == (code, "out", message)


def test_a_connection_that_breaks_is_no_outcome():
    assert streams._outcome("", "").exit_code is None


def refused(reason):
    class ApiException(Exception):
        pass

    failure = ApiException()
    failure.reason = reason
    with pytest.raises(ApiError) as error, streams._refusals("GET", "/exec"):
        raise failure
    return error.value


@pytest.mark.parametrize("written", [str, lambda body: repr(body.encode())], ids=["text", "bytes"])
def test_a_rejection_is_reported_in_the_words_of_the_server(written):
    body = (
        json.dumps({"kind": "Status", "reason": "Forbidden", "message": 'pods "p" is forbidden: User "u\'s" cannot get "pods/exec"'}) + "\n"
    )
    error = refused(f"Handshake status 403 Forbidden -+-+- {{'content-type': 'application/json'}} -+-+- {written(body)}")
    assert (error.status, error.reason) == (403, "Forbidden")
    assert error.message == 'pods "p" is forbidden: User "u\'s" cannot get "pods/exec"'


def test_a_rejected_stream_without_a_message_reports_the_http_reason():
    assert refused("Handshake status 502 Bad Gateway -+-+- {} -+-+- <html>").message == "Bad Gateway"
    assert refused("Connection refused").message == "Connection refused"


class Masters(Server):
    """An API server with OpenShift's scheduler on these nodes, each with whether its pod is ready and runs; m2 leads unless `holder` does."""

    def __init__(self, *nodes, holder="m2_x", command="kube-scheduler", refuses=()):
        super().__init__()
        self.nodes, self.holder, self.command, self.refuses = nodes, holder, command, refuses

    def list(self, resource, namespace=None, **selectors):
        if resource.kind in self.refuses:
            raise ApiError(403, "Forbidden", f"no {resource.plural}")
        if resource.kind != "Pod" or namespace != "openshift-kube-scheduler":
            return []
        return [
            {
                "metadata": {
                    "namespace": namespace,
                    "name": f"openshift-kube-scheduler-{name}",
                    "labels": {"revision": "7"},
                    "annotations": {"kubernetes.io/config.mirror": "1"},
                },
                "spec": {
                    "containers": [{"name": "kube-scheduler", "image": "x@sha256:1", "command": [self.command, "--secure-port=10300"]}],
                    "nodeName": name,
                    "hostNetwork": True,
                },
                "status": {
                    "containerStatuses": [{"name": "kube-scheduler", "containerID": "cri-o://1" if runs else "", "state": {"running": {}}}],
                    "conditions": [{"type": "Ready", "status": str(ready)}],
                },
            }
            for name, ready, runs in self.nodes
        ]

    def get(self, resource, name, namespace=None):
        if resource.kind != "Lease" or namespace != "openshift-kube-scheduler":
            return None
        moment = "2026-11-20T12:00:00.000000Z"
        return {"spec": {"holderIdentity": self.holder, "renewTime": moment, "acquireTime": moment, "leaseDurationSeconds": 137}}


@pytest.mark.parametrize(
    ("server", "node"),
    [
        (Masters(("m1", True, True), ("m2", False, True), ("m3", True, True)), "m2"),
        (Masters(("m1", True, True), ("m2", False, True), ("m3", False, True), holder="gone_x"), "m1"),
        (Masters(("m1", True, True), ("m3", True, True), holder=""), "m3"),
    ],
    ids=["leads", "is ready", "has the last name"],
)
def test_the_leading_or_ready_instance_of_a_scheduler_name_is_found(server, node):
    target = serving(server, "default-scheduler", ["n"])
    assert target.as_dict() == {
        "namespace": "openshift-kube-scheduler",
        "pod": f"openshift-kube-scheduler-{node}",
        "container": "kube-scheduler",
        "node": node,
        "static": True,
    }
    assert (target.secure_port, target.scheduler_names) == (10300, ("default-scheduler",))


@pytest.mark.parametrize(
    ("server", "name", "error", "why"),
    [
        (
            Masters(("m1", True, True)),
            "second",
            InputError,
            r"^scheduler_name: no scheduler of the name second was found; found are default-scheduler\..*or its pod in pod\.$",
        ),
        (Masters(("m1", True, True), refuses=("Deployment",)), "second", InputError, r"in pod\. Could not be read: .*no deployments.*\.$"),
        (
            Masters(("m1", False, False), holder="m1_x"),
            "default-scheduler",
            ClusterError,
            "^The scheduler of the name default-scheduler does not run: ",
        ),
    ],
)
def test_a_scheduler_name_without_an_instance_is_an_error(server, name, error, why):
    with pytest.raises(error, match=why):
        serving(server, name, ["n"])
