# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What scheduler_info tells of a scheduler beyond who it is (F124)."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.klog import last_error
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.scheduler_details import Inside, in_effect
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_discovery import SchedulerDiscovery
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.workload import Command

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


def test_plugins_in_effect_with_defaults_and_weights():
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


def test_an_image_that_nobody_knows():
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
def test_why_nothing_is_known(one, text, why):
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
def test_the_last_error_of_a_log(text, found):
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


def test_openshift_s_default_scheduler():
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


def test_metrics_of_what_does_not_run():
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


def test_how_it_ended_the_last_time_and_a_log_that_cannot_be_read():
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


def test_no_pods_are_no_instances():
    server = Server(["", ""])
    discovery = SchedulerDiscovery(server, ["kube-system"])
    (entry,) = discovery.schedulers()
    for pod in discovery.running(entry).pods:
        pod["metadata"]["deletionTimestamp"] = "2026-11-20T12:00:00Z"
    assert Inside(server, discovery).instances(entry) == {"instances": None}


@pytest.mark.parametrize("status", [0, 401])
def test_a_server_that_is_gone_while_a_log_is_read_is_no_finding(status):
    class Gone(Server):
        def text(self, path, query):
            raise ApiError(status, "Unreachable", "gone")

        def request(self, method, path):
            raise ApiError(status, "Unreachable", f"gone at {path}")

    discovery = SchedulerDiscovery(Gone([]), ["kube-system"])
    (entry,) = discovery.schedulers()
    with pytest.raises(ApiError, match="gone at /version"):
        Inside(Gone([]), discovery).instances(entry)
