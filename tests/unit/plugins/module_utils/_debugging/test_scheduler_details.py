# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What scheduler_info tells of a scheduler beyond who it is (F124)."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.klog import last_error
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import https
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.scheduler_details import Inside, in_effect
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_discovery import SchedulerDiscovery
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.workload import Command
from support.certificates import Authority

IN_TREE = "registry.k8s.io/kube-scheduler:v1.34.1"
TEXT = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PACKING = """\
profiles:
  - schedulerName: a
    plugins:
      score:
        disabled: [{name: "*"}]
        enabled: [{name: ImageLocality, weight: 7}]
"""


REFUSED = "leaderElection: {resourceLock: pl4nted-key}\nextenders: [{urlPrefix: https://x, tlsConfig: {keyData: pl4nted-key}}]\n"


def command(image=IN_TREE, **flags):
    return Command(image, flags, None, "c")


def test_plugins_in_effect_include_defaults_and_weights():
    found = in_effect(command(), TEXT + PACKING)
    (profile,) = found["profiles"]
    assert found["profiles_message"] == ""
    assert (profile["scheduler_name"], profile["plugins"]["score"], profile["weights"]) == ("a", ["ImageLocality"], {"ImageLocality": 7})
    assert profile["plugins"]["bind"] == ["DefaultBinder"]
    assert "permit" not in profile["plugins"]


@pytest.mark.parametrize(("image", "node_volume"), [(IN_TREE, False), ("registry.k8s.io/kube-scheduler:v1.29.0", True)])
def test_without_a_configuration_the_defaults_of_the_release_run(image, node_volume):
    (profile,) = in_effect(command(image), None)["profiles"]
    assert profile["scheduler_name"] == "default-scheduler"
    assert ("EBSLimits" in profile["plugins"]["filter"]) is node_volume


def test_plugins_of_an_unknown_image_are_unknown():
    found = in_effect(command("registry.example.com/mine:1"), TEXT + PACKING)
    assert found["profiles"] == [{"scheduler_name": "a", "plugins": None, "weights": None}]
    assert "registry.example.com/mine:1 is not one that a table describes" in found["profiles_message"]


@pytest.mark.parametrize(
    ("one", "text", "why"),
    [
        (command(config="/etc/c.yaml"), None, "can't be read through the API"),
        (command("registry.example.com/mine:1"), None, "it has no configuration, and the image"),
        (command(), TEXT + "parallelism: many\n", "not valid: 3:14: parallelism"),
        (command(), "kind: [", "not valid"),
        # An error that quotes what is a credential elsewhere in the document, which is refused as a whole
        (command(), TEXT + REFUSED, "resourceLock: ********"),
    ],
)
def test_a_message_explains_why_the_profiles_are_unknown(one, text, why):
    found = in_effect(one, text)
    assert found["profiles"] is None
    assert why in found["profiles_message"]


ERROR = 'E1122 05:26:55.100000       1 a.go:1] "Failed" err="x"\n'
INFO = 'I1122 05:26:56.100000       1 a.go:1] "Fine"\n'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", None),
        (INFO, None),
        (ERROR + INFO, ("1122 05:26:55.100000", ERROR.strip())),
        (ERROR + ERROR.replace("55", "57") + INFO, ("1122 05:26:57.100000", ERROR.replace("55", "57").strip())),
        (INFO + 'F1122 05:26:58.1 1 a.go:1] "End"\n', None),  # a time of another form is no header
        (ERROR + "panic: runtime error\n\ngoroutine 1 [running]:\n", ("", "panic: runtime error")),
        (
            '{"ts":1.5,"caller":"a","msg":"no","err":"x"}\n{"ts":2,"v":0,"msg":"y"}\n',
            ("1.5", '{"ts":1.5,"caller":"a","msg":"no","err":"x"}'),
        ),
        (
            INFO + ERROR.replace('"x"', "<") + "\tone\n\ttwo\n >\n" + INFO,
            ("1122 05:26:55.100000", ERROR.replace('"x"', "<") + "\tone\n\ttwo\n >"),
        ),
    ],
)
def test_the_last_error_of_a_log_is_found(text, found):
    assert last_error(text) == found


class Server:
    """An API server with static pods of OpenShift's scheduler, and logs by whether they are of an earlier run."""

    def __init__(self, logs):
        self.logs, self.asked = logs, []

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def list(self, resource, namespace=None, **selectors):
        if resource.kind != "Pod" or namespace != "openshift-kube-scheduler":
            return []
        container = {"name": "kube-scheduler", "image": "x@sha256:1", "command": ["kube-scheduler"], "args": ["--config=/etc/c.yaml"]}
        status = {"name": "kube-scheduler", "restartCount": 2, "containerID": "cri-o://1", "state": {"running": {}}}
        about = {"labels": {"revision": "7"}, "annotations": {"kubernetes.io/config.mirror": "1"}}
        return [
            {
                "metadata": {"namespace": namespace, "name": "openshift-kube-scheduler-m1", **about},
                "spec": {"containers": [container], "nodeName": "m1", "hostNetwork": True},
                "status": {"containerStatuses": [status], "conditions": [{"type": "Ready", "status": "True"}]},
            }
        ]

    def get(self, resource, name, namespace=None):
        self.asked.append((resource.kind, name))
        if (resource.kind, name) == ("ConfigMap", "config-7"):
            planted = "extenders: [{urlPrefix: 'https://x', tlsConfig: {keyData: cGxhbnRlZC1rZXk=}}]\n"
            return {"data": {"config.yaml": TEXT + "profiles: [{schedulerName: default-scheduler}, {schedulerName: b}]\n" + planted}}
        if resource.kind == "Lease" and namespace == "openshift-kube-scheduler":
            moment = "2026-11-20T12:00:00.000000Z"
            return {"spec": {"holderIdentity": "m1_x", "renewTime": moment, "acquireTime": moment, "leaseDurationSeconds": 137}}
        return None

    def text(self, path, query):
        return self.logs["previous" in query]


def test_openshifts_default_scheduler_has_profiles_instances_and_a_last_error():
    """Its configuration is the ConfigMap of its revision; the error is in the log from before a restart, and names a credential."""
    server = Server(["", 'E1122 05:26:55.100000       1 a.go:1] "Bad" key="cGxhbnRlZC1rZXk=" more="x"\n'])
    discovery = SchedulerDiscovery(server, ["kube-system"])
    (entry,) = discovery.schedulers()
    look = Inside(server, discovery)
    assert [profile["scheduler_name"] for profile in look.profiles(entry)["profiles"]] == ["default-scheduler", "b"]
    (instance,) = look.instances(entry)["instances"]
    assert (instance["pod"], instance["leads"], instance["restarts"]) == ("openshift-kube-scheduler-m1", True, 2)
    assert instance["last_error"]["previous"] is True
    assert "Bad" in instance["last_error"]["line"]
    assert "cGxhbnRlZC1rZXk=" not in str(instance)
    assert entry["leader"]["acquired_seconds"] > 0


def test_a_scheduler_that_does_not_run_has_no_metrics_and_a_reason():
    server = Server(["", ""])
    discovery = SchedulerDiscovery(server, ["kube-system"])
    (entry,) = discovery.schedulers()
    look = Inside(server, discovery)
    assert look.target(entry).name == "openshift-kube-scheduler-m1"
    nobody = {
        "kind": "default",
        "software": "kube-scheduler",
        "namespace": "kube-system",
        "name": "kube-scheduler",
        "leader": None,
        "scheduler_names": [],
    }
    assert look.metrics(nobody) == {"metrics": None, "metrics_message": "no visible pod runs it, so its metrics can't be reached"}
    assert look.instances(nobody) == {"instances": None}
    assert look.profiles(nobody) == {"profiles": None, "profiles_message": "no visible pod runs it"}


def test_the_last_end_is_reported_although_the_log_cannot_be_read():
    """A container that has ended and was not started again says more than its end before; and no log is no failure (F124)."""
    broken = ApiError(500, "InternalError", "dial tcp 10.0.0.1:10250: connect: no route to host")

    class Broken(Server):
        def list(self, resource, namespace=None, **selectors):
            pods = super().list(resource, namespace, **selectors)
            for pod in pods:
                (status,) = pod["status"]["containerStatuses"]
                status.update(
                    state={"terminated": {"reason": "Error", "exitCode": 2}}, lastState={"terminated": {"reason": "Error", "exitCode": 1}}
                )
            return pods

        def text(self, path, query):
            raise broken

    discovery = SchedulerDiscovery(Broken([]), ["kube-system"])
    (entry,) = discovery.schedulers()
    (instance,) = Inside(Broken([]), discovery).instances(entry)["instances"]
    assert (instance["last_end"]["exit_code"], instance["last_error"]) == (2, None)
    assert discovery.unknown == ["the log of openshift-kube-scheduler/openshift-kube-scheduler-m1: " + broken.message]


def test_a_scheduler_without_pods_has_no_instances():
    server = Server(["", ""])
    discovery = SchedulerDiscovery(server, ["kube-system"])
    (entry,) = discovery.schedulers()
    for pod in discovery.running(entry).pods:
        pod["metadata"]["deletionTimestamp"] = "2026-11-20T12:00:00Z"
    assert Inside(server, discovery).instances(entry) == {"instances": None}


@pytest.mark.parametrize("status", [0, 401])
def test_a_server_that_fails_while_a_log_is_read_is_an_error_and_no_finding(status):
    class Gone(Server):
        def text(self, path, query):
            raise ApiError(status, "Unreachable", "gone")

        def request(self, method, path):
            raise ApiError(status, "Unreachable", f"gone at {path}")

    discovery = SchedulerDiscovery(Gone([]), ["kube-system"])
    (entry,) = discovery.schedulers()
    with pytest.raises(ApiError, match="gone at /version"):
        Inside(Gone([]), discovery).instances(entry)


PAGE = 'process_start_time_seconds 1.0e+09\nscheduler_pending_pods{queue="active"} 2\n'
ACCOUNT = {"namespace": "monitoring", "name": "reader"}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificates")
    return Authority(folder).context("scheduler.example.com"), *Authority(folder).certificate("user")


class Metered(Server):
    """... whose schedulers answer requests for metrics with `answers`: (status, body). `seen`: the request, and whether there was a certificate."""

    def __init__(self, context, words=(), cert_file=None, key_file=None, token="issued"):
        super().__init__(["", ""])
        self.context, self.words, self.token, self.answers, self.seen, self.tokens = context, words, token, [], [], []
        self.api_client = SimpleNamespace(configuration=SimpleNamespace(cert_file=cert_file, key_file=key_file))

    def list(self, resource, namespace=None, **selectors):
        pods = super().list(resource, namespace, **selectors)
        for pod in pods:
            pod["spec"]["containers"][0]["args"] += self.words
        return pods

    def request(self, method, path, body=None, content_type=None):
        if path == "/version":
            return {}
        self.tokens.append((path, body["spec"]))
        if self.token is None:
            raise ApiError(403, "Forbidden", "no")
        return {"status": {"token": self.token, "expirationTimestamp": "2026-11-25T10:00:00Z"}}

    @contextmanager
    def forwarded(self, _client, namespace, pod, port, patience):
        ours, theirs = socket.socketpair()
        thread = threading.Thread(target=self.serve, args=[theirs, (namespace, pod, port)], daemon=True)
        thread.start()
        yield ours
        ours.close()
        thread.join(10)

    def serve(self, plain, where):
        with self.context.wrap_socket(plain, server_side=True) as connection:
            lines = connection.recv(65536).decode().split("\r\n")
            self.seen.append((where, lines[0], [line for line in lines if line.startswith("Authorization")]))
            status, body = self.answers.pop(0)
            connection.sendall(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            connection.recv(1)


def metered(monkeypatch, server, account=None):
    monkeypatch.setattr(https.streams, "forwarded", server.forwarded)
    discovery = SchedulerDiscovery(server, ["kube-system"], datetime.fromtimestamp(1_000_000_060, UTC))
    (entry,) = discovery.schedulers()
    return Inside(server, discovery, account), entry


def test_metrics_are_read_from_the_secure_port(monkeypatch, certificates):
    server = Metered(certificates[0], ["--secure-port=10300"])
    look, entry = metered(monkeypatch, server)
    server.answers = [(200, PAGE), (200, PAGE.partition("\n")[2])]
    pod = "openshift-kube-scheduler-m1"
    metrics = {"pod": pod, "counted_seconds": 60, "profiles": [], "pod_seconds": None, "pending": {"active": 2}}
    assert look.metrics(entry) == {"metrics": metrics, "metrics_message": ""}
    assert look.metrics(entry)["metrics"]["counted_seconds"] is None
    assert server.seen == [(("openshift-kube-scheduler", pod, 10300), "GET /metrics HTTP/1.1", [])] * 2
    assert server.tokens == []


def test_the_token_for_metrics_is_requested_only_once(monkeypatch, certificates):
    server = Metered(certificates[0])
    look, entry = metered(monkeypatch, server, ACCOUNT)
    server.answers = [(200, PAGE), (403, "")]
    assert look.metrics(entry)["metrics_message"] == ""
    refused = (
        "openshift-kube-scheduler/openshift-kube-scheduler-m1 does not let the ServiceAccount monitoring/reader read its metrics (HTTP 403): it "
        "needs a ClusterRole for GET /metrics"
    )
    assert look.metrics(entry) == {"metrics": None, "metrics_message": refused}
    assert server.tokens == [("/api/v1/namespaces/monitoring/serviceaccounts/reader/token", {"expirationSeconds": 600})]
    assert {str(headers) for _where, _line, headers in server.seen} == {"['Authorization: Bearer issued']"}


@pytest.mark.parametrize(
    ("home", "namespaces", "sent"),
    [
        ("team", [], False),
        ("team", ["other"], False),
        ("team", ["other", "team"], True),
        ("kube-system", [], True),
        ("openshift-kube-scheduler", ["other"], True),
    ],
)
def test_the_token_is_sent_only_to_system_namespaces_and_named_ones(monkeypatch, certificates, home, namespaces, sent):
    server = Metered(certificates[0])
    look, entry = metered(monkeypatch, server, ACCOUNT)
    target = look.target(entry)
    target = replace(target, pod={**target.pod, "metadata": {**target.pod["metadata"], "namespace": home}})
    look = Inside(server, SchedulerDiscovery(server, namespaces), ACCOUNT)
    server.answers = [(200, PAGE)] * 2
    text, why = look.page_of(target, 10259)
    assert (text, len(server.seen), len(server.tokens)) == ((PAGE, 1, 1) if sent else ("", 0, 0))
    assert why == (
        ""
        if sent
        else "its metrics were not requested, because anyone who may create a Deployment in team would receive the token of metrics_account: set "
        "namespaces to all namespaces with schedulers, team among them, if that is right"
    )
    assert Inside(server, SchedulerDiscovery(server, [])).page_of(target, 10259) == (PAGE, "")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((401, ""), "does not let the user read its metrics (HTTP 401): give a ServiceAccount as metrics_account that may GET /metrics."),
        ((403, ""), "does not let the user read its metrics (HTTP 403): give a ServiceAccount as metrics_account that may GET /metrics."),
        ((500, ""), "answered the request for its metrics with HTTP 500"),
    ],
)
def test_a_rejected_request_for_metrics_is_explained(monkeypatch, certificates, answer, why):
    server = Metered(certificates[0])
    look, entry = metered(monkeypatch, server)
    server.answers = [answer]
    found = look.metrics(entry)
    assert found["metrics"] is None
    assert found["metrics_message"].startswith(f"openshift-kube-scheduler/openshift-kube-scheduler-m1 {why}")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--secure-port=0"], "it exposes no metrics: its flag --secure-port is 0"),
        (["--secure-port=x"], "The flag --secure-port of the scheduler in openshift-kube-scheduler/openshift-kube-scheduler-m1 is x"),
    ],
)
def test_a_port_without_metrics_is_not_requested(monkeypatch, certificates, words, why):
    server = Metered(certificates[0], words)
    look, entry = metered(monkeypatch, server)
    assert look.metrics(entry)["metrics_message"].startswith(why)
    assert server.seen == []


def test_no_metrics_are_requested_if_the_account_gets_no_token(monkeypatch, certificates):
    server = Metered(certificates[0], token=None)
    look, entry = metered(monkeypatch, server, ACCOUNT)
    assert look.metrics(entry)["metrics_message"].startswith(
        "metrics_account: The user is not allowed to request a token of the ServiceAccount monitoring/reader"
    )
    assert server.seen == []


@pytest.mark.parametrize("usable", [True, False])
def test_the_certificate_of_the_user_is_presented_if_it_can_be_read(monkeypatch, certificates, tmp_path, usable):
    context, certificate, key = certificates
    server = Metered(context, cert_file=str(certificate), key_file=str(key) if usable else str(tmp_path / "missing"))
    look, entry = metered(monkeypatch, server)
    loaded = []
    monkeypatch.setattr(https.ssl.SSLContext, "load_cert_chain", recorded(https.ssl.SSLContext.load_cert_chain, loaded))
    server.answers = [(200, PAGE)]
    assert look.metrics(entry)["metrics_message"] == ""
    assert loaded == ([True] if usable else [False])


def recorded(load, loaded):
    """`load`, noting in `loaded` whether it succeeded."""

    def wrapper(self, *files):
        loaded.append(False)
        load(self, *files)
        loaded[-1] = True

    return wrapper


def test_an_instance_has_all_its_fields():
    class Restarted(Server):
        def list(self, resource, namespace=None, **selectors):
            pods = super().list(resource, namespace, **selectors)
            for pod in pods:
                ended = {"terminated": {"reason": "OOMKilled", "exitCode": 137, "finishedAt": "2026-11-20T11:00:00Z"}}
                about = {"imageID": "x@sha256:2", "state": {"running": {"startedAt": "2026-11-20T11:59:00Z"}}, "lastState": ended}
                pod["status"]["containerStatuses"] = [
                    {"name": "other", "restartCount": 9},
                    {**pod["status"]["containerStatuses"][0], **about},
                ]
            return pods

    server = Restarted([ERROR, ""])
    discovery = SchedulerDiscovery(server, ["kube-system"], datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC))
    (entry,) = discovery.schedulers()
    assert Inside(server, discovery).instances(entry)["instances"] == [
        {
            "pod": "openshift-kube-scheduler-m1",
            "node": "m1",
            "container": "kube-scheduler",
            "image_id": "x@sha256:2",
            "ready": True,
            "leads": True,
            "running_seconds": 60,
            "restarts": 2,
            "last_end": {"reason": "OOMKilled", "exit_code": 137, "at": "2026-11-20T11:00:00Z"},
            "last_error": {"time": "1122 05:26:55.100000", "line": " ".join(ERROR.split()), "previous": False},
        }
    ]
    fresh = Server(["", ERROR])
    look = SchedulerDiscovery(fresh, ["kube-system"])
    (entry,) = look.schedulers()
    (pod,) = Inside(fresh, look).pods(entry)
    pod["status"] = None
    instance = Inside(fresh, look)._instance(entry, pod, set())
    assert (instance["image_id"], instance["running_seconds"], instance["restarts"], instance["last_end"]) == ("", None, 0, None)
    # Without a restart there is no log of an earlier run.
    assert instance["last_error"] is None


def test_metrics_are_read_from_the_leading_instance_that_runs():
    """The leading one, unless its container does not run."""

    class Three(Server):
        def list(self, resource, namespace=None, **selectors):
            pods = super().list(resource, namespace, **selectors)
            found = []
            for name in ("m0", "m1", "m3") if pods else ():
                (pod,) = super().list(resource, namespace, **selectors)
                pod["metadata"]["name"], pod["spec"]["nodeName"] = f"openshift-kube-scheduler-{name}", name
                found.append(pod)
            return found

    server = Three(["", ""])
    discovery = SchedulerDiscovery(server, ["kube-system"])
    (entry,) = discovery.schedulers()
    look = Inside(server, discovery)
    assert look.target(entry).node == "m1"
    assert look.target({**entry, "leader": None}).node == "m3"
    pods = {pod["spec"]["nodeName"]: pod for pod in look.pods(entry)}
    pods["m1"]["status"]["containerStatuses"][0]["containerID"] = ""
    target = look.target(entry)
    assert (target.node, target.container, target.scheduler_names) == ("m3", "kube-scheduler", ("default-scheduler",))
    pods["m3"]["status"]["conditions"] = []
    assert look.target(entry).node == "m0"
    for pod in pods.values():
        pod["status"]["containerStatuses"] = None
    assert look.target(entry) is None
