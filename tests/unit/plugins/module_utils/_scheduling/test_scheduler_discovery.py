# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What scheduler_info makes of what it reads of schedulers."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Resource
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import target
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pending_pods import conflicts
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_discovery import SchedulerDiscovery, is_operand
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.workload import Election
from support.running_schedulers import SCHEDULERS

NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)
ELECTED = Election(True, "n", "lease")


def lease(holder="s-1_x", renewed="2026-11-20T11:59:58.123456Z", duration=15) -> dict:
    return {"spec": {"holderIdentity": holder, "renewTime": renewed, "leaseDurationSeconds": duration}}


@pytest.mark.parametrize(
    ("ready", "elected", "held", "serves", "says"),
    [
        (1, ELECTED, lease(), True, "s-1_x leads"),
        (2, ELECTED, lease(), True, "2 instances ready"),
        (0, ELECTED, lease(), False, "no instance is ready"),
        (0, Election(False, "", ""), None, False, "no instance is ready"),
        (1, Election(False, "", ""), None, True, "without leader election"),
        (1, ELECTED, None, False, "no Lease n/lease"),
        (1, ELECTED, lease(holder=""), False, "has no holder"),
        (1, ELECTED, lease(holder="other-1_x"), False, "which other-1_x holds"),
        (1, ELECTED, lease(renewed="2026-11-20T11:59:36Z"), True, "leads"),
        (1, ELECTED, lease(renewed="2026-11-20T11:59:34Z"), False, "for 26 s"),
        (1, ELECTED, lease(renewed="2026-11-20T12:00:09Z"), True, "leads"),
        (1, ELECTED, lease(renewed="2026-11-20T11:58:00Z", duration=137), True, "leads"),
        (None, ELECTED, lease(), True, "can't be seen"),
        (None, ELECTED, None, None, "can't be seen"),
    ],
)
def test_readiness_and_the_lease_determine_whether_a_scheduler_is_available(ready, elected, held, serves, says):
    serving, message = SchedulerDiscovery(None, [], NOW)._serves(ready, elected, held, "s-")
    assert serving is serves
    assert says in message


def test_a_lease_that_may_not_be_read_proves_nothing():
    discovery = SchedulerDiscovery(None, [], NOW)
    discovery.unknown.append("Lease n/lease: leases is forbidden")
    assert discovery._serves(1, ELECTED, None, "s-")[0] is True
    assert discovery._serves(None, ELECTED, None, "s-")[0] is None


def pod(name, looked_at=False, **spec) -> dict:
    status = {"conditions": [{"type": "PodScheduled", "status": "False"}]} if looked_at else {}
    return {"metadata": {}, "spec": {"schedulerName": name, **spec}, "status": status}


def aged(name, second, **spec) -> dict:
    """A pod of that name that was made at this second of the minute before NOW."""
    metadata = {"namespace": "n", "name": f"{name}-{second}", "creationTimestamp": f"2026-11-20T11:59:{second:02}Z"}
    return {**pod(name, looked_at=True, **spec), "metadata": metadata}


def test_pending_pods_without_a_scheduler_are_listed_first():
    refused = aged("good", 40)
    refused["status"]["conditions"][0].update(reason="Unschedulable", message="0/3 nodes are available.")
    gone = aged("bad", 1)
    pods = [refused, aged("good", 20, schedulingGates=[{"name": "a"}, {"name": "b"}]), aged("bad", 30), gone]
    found = SchedulerDiscovery(None, [], NOW).pending(pods, SCHEDULERS)
    assert [(one["name"], one["served"], one["pending_seconds"]) for one in found] == [
        ("bad-1", False, 59),
        ("bad-30", False, 30),
        ("good-20", True, 40),
        ("good-40", True, 20),
    ]
    assert "Deployment n/d: broken" in found[0]["reason"]
    assert found[2]["reason"] == "it waits at the scheduling gates a, b"
    assert found[3]["reason"] == "Unschedulable: 0/3 nodes are available."


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"ownerReferences": [{"uid": "other"}, {"uid": "u"}]}, True),
        ({"ownerReferences": [{"uid": "other"}]}, False),
        ({"labels": {"app.kubernetes.io/name": "secondary-scheduler", "app.kubernetes.io/instance": "cluster"}}, True),
        ({"labels": {"app.kubernetes.io/name": "secondary-scheduler", "app.kubernetes.io/instance": "b"}}, False),
        ({}, False),
    ],
)
def test_owner_or_labels_determine_which_deployment_belongs_to_a_resource(metadata, expected):
    assert is_operand({"metadata": metadata}, {"metadata": {"name": "cluster", "uid": "u"}}) is expected


class Cluster:
    """Answers as the client does. objects: kind -> all of it. allowed: the namespaces in which they may be listed, None for everywhere."""

    def __init__(self, allowed=None, **objects):
        self.objects, self.allowed, self.lists = objects, allowed, []

    def resource(self, api_version, kind):
        return Resource(api_version, kind, f"{kind.lower()}s", True)

    def list(self, resource, namespace=None, label_selector=None, field_selector=None, metadata_only=False):
        self.lists.append((resource.kind, namespace))
        if self.allowed is not None and namespace not in self.allowed:
            raise ApiError(403, "Forbidden", "forbidden")
        found = [one for one in self.objects.get(resource.kind, []) if namespace in (None, one["metadata"]["namespace"])]
        if label_selector:
            key, _equals, value = label_selector.partition("=")
            found = [one for one in found if one["metadata"].get("labels", {}).get(key) == value]
        if field_selector and resource.kind == "Event":
            found = [one for one in found if field_selector == f"reason={one['reason']}"]
        return found

    def get(self, resource, name, namespace=None):
        if "%" in name:
            raise ApiError(400, "BadRequest", "Name parameter invalid")
        return next((one for one in self.list(resource, namespace) if one["metadata"]["name"] == name), None)

    def request(self, _method, path):
        if path != "/apis/resource.k8s.io" or "ResourceClaim" not in self.objects:
            raise ApiError(404, "NotFound", "not found")
        return {"preferredVersion": {"groupVersion": "resource.k8s.io/v1"}}


def deployment(namespace, name, replicas=1, ready=1, **container) -> dict:
    """A Deployment of kube-scheduler without a configuration, unless the container says otherwise."""
    container = container or {"image": "registry.k8s.io/kube-scheduler:v1.34.1", "args": ["--leader-elect=false"]}
    template = {"spec": {"containers": [{"name": "c", **container}]}}
    return {
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
        "status": {"readyReplicas": ready},
    }


VOLCANO = {"image": "docker.io/volcanosh/vc-scheduler:v1.12.0", "args": ["--scheduler-conf=/volcano.scheduler/volcano-scheduler.conf"]}
YUNIKORN = {"image": "apache/yunikorn:scheduler-1.6.3"}
KOORDINATOR = {"image": "ghcr.io/koordinatorsh/koord-scheduler:v1.7.0", "command": ["/koord-scheduler"], "args": ["--v=4"]}


def seen(cluster, namespaces=()) -> tuple[SchedulerDiscovery, list[dict]]:
    discovery = SchedulerDiscovery(cluster, list(namespaces), NOW)
    return discovery, discovery.schedulers()


@pytest.mark.parametrize("runs", [True, False])
def test_a_reconcile_period_that_is_no_duration_is_named(runs):
    """ansible-operator reports nothing of such a resource, and may have served it before."""
    resource = {
        "metadata": {"namespace": "a", "name": "b", "uid": "u", "annotations": {target.PERIOD_ANNOTATION: "garbage"}},
        "spec": {"schedulerImage": "i"},
    }
    ours = deployment("a", "b")
    ours["metadata"]["ownerReferences"] = [{"uid": "u"}]
    _discovery, found = seen(Cluster(SecondaryScheduler=[resource], Deployment=[ours] if runs else []))
    (entry,) = [one for one in found if one["kind"] == "SecondaryScheduler"]
    assert entry["serving"] is runs
    assert 'reconcile-period: "garbage" is no duration' in entry["message"]
    assert "a duration such as 10m" in entry["message"]


@pytest.mark.parametrize(("given", "named"), [([""], []), ([" ", "a", " b"], ["a", "b"])])
def test_blank_answers_of_a_form_are_no_namespaces(given, named):
    discovery = SchedulerDiscovery(None, given)
    assert (discovery._everywhere, sorted(discovery.named)) == (not named, named)
    assert "" not in discovery.namespaces


def test_deployments_of_all_namespaces_are_found_with_one_request():
    numa = {
        "image": "registry.example.com/noderesourcetopology-scheduler:v4.18",
        "command": ["/bin/kube-scheduler"],
        "args": ["--config=/c"],
    }
    cluster = Cluster(
        Deployment=[deployment("openshift-numaresources", "secondary-scheduler", **numa), deployment("a", "web", image="nginx")]
    )
    _discovery, found = seen(cluster)
    assert [(one["namespace"], one["name"]) for one in found if one["kind"] == "Deployment"] == [
        ("openshift-numaresources", "secondary-scheduler")
    ]
    assert [kind for kind, _namespace in cluster.lists].count("Deployment") == 1
    assert [one["kind"] for one in seen(cluster, ["a"])[1]] == ["default"]


@pytest.mark.parametrize(
    ("container", "software", "names"),
    [
        (VOLCANO, "Volcano", ["volcano"]),
        ({**VOLCANO, "args": ["--scheduler-name=a", "--scheduler-name", "b"]}, "Volcano", ["a", "b"]),
        (YUNIKORN, "YuniKorn", ["yunikorn"]),
        (KOORDINATOR, "Koordinator", ["koord-scheduler"]),
    ],
)
def test_schedulers_of_other_projects_are_recognised(container, software, names):
    (entry,) = (one for one in seen(Cluster(Deployment=[deployment("s", "d", **container)]))[1] if one["kind"] == "Deployment")
    assert (entry["software"], entry["scheduler_names"], entry["serving"]) == (software, names, True)
    assert software in entry["message"]
    (entry,) = (one for one in seen(Cluster(Deployment=[deployment("s", "d", ready=0, **container)]))[1] if one["kind"] == "Deployment")
    assert entry["serving"] is False


@pytest.mark.parametrize(
    "container",
    [
        {"image": "apache/yunikorn:admission-1.6.3"},
        {"image": "nginx", "command": ["nginx"]},
        {"image": "x", "args": ["--of", "kube-scheduler"]},
    ],
)
def test_other_programs_are_no_schedulers(container):
    assert [one["kind"] for one in seen(Cluster(Deployment=[deployment("s", "d", **container)]))[1]] == ["default"]


def test_an_unknown_program_counts_if_its_deployment_has_the_scheduler_name():
    discovery, found = seen(
        Cluster(Deployment=[deployment("s", "own", image="registry.example.com/own:1"), deployment("s", "web", image="nginx")])
    )
    rows = {one["scheduler_name"]: one["served"] for one in discovery.pending([aged("own", 1), aged("none", 1)], found)}
    assert rows == {"own": True, "none": False}


def test_without_all_namespaces_it_is_unknown_whether_a_scheduler_still_runs():
    discovery, found = seen(Cluster(Deployment=[]), ["here"])
    (row,) = discovery.pending([aged("elsewhere", 1)], found)
    assert row["served"] is None
    assert "namespaces that were searched" in row["reason"]


def test_a_gate_that_was_removed_just_now_is_no_fault_of_the_scheduler():
    pods = [aged("good", 1), aged("good", 2)]
    for one in pods:
        one["status"]["conditions"][0]["reason"] = "SchedulingGated"
    pods[0]["metadata"]["managedFields"] = [{"manager": "kubectl", "time": "2026-11-20T11:59:55Z"}]
    rows = {one["name"]: one["served"] for one in SchedulerDiscovery(Cluster(), [], NOW).pending(pods, SCHEDULERS)}
    assert rows == {"good-1": True, "good-2": False}


def test_claims_are_read_once_and_only_for_pods_that_have_some():
    claimed = aged("good", 1, resourceClaims=[{"name": "gpu", "resourceClaimName": "none"}])
    claimed["status"] = {}
    cluster = Cluster(ResourceClaim=[])
    (row,) = SchedulerDiscovery(cluster, [], NOW).pending([claimed], SCHEDULERS)
    assert (row["served"], "the ResourceClaim none, which does not exist" in row["reason"]) == (True, True)
    assert cluster.lists == [("ResourceClaim", None)]
    assert SchedulerDiscovery(Cluster(), [], NOW).pending([aged("good", 1)], SCHEDULERS)[0]["served"]


def test_the_event_of_a_pod_that_is_not_ready_is_the_reason():
    metadata = {"namespace": "s", "name": "d-1", "uid": "u", "labels": {"app": "d"}}
    running = {"metadata": metadata, "spec": {}, "status": {"containerStatuses": [{"name": "c", "ready": False, "state": {"running": {}}}]}}

    def event(message, at=None, uid="u", reason="Unhealthy"):
        when = at or NOW.isoformat()
        return {"metadata": {"namespace": "s"}, "reason": reason, "involvedObject": {"uid": uid}, "lastTimestamp": when, "message": message}

    events = [event("old", "2026-11-20T11:59:00Z"), event("Readiness probe failed: 500"), event("of another", uid="other")]
    cluster = Cluster(Deployment=[deployment("s", "d", ready=0)], Pod=[running], Event=events)
    (entry,) = (one for one in seen(cluster)[1] if one["kind"] == "Deployment")
    assert entry["message"] == "no instance is ready; Readiness probe failed: 500"
    cluster.objects["Deployment"] = [deployment("s", "d", replicas=2)]
    (entry,) = (one for one in seen(cluster)[1] if one["kind"] == "Deployment")
    assert entry["message"] == "1 instance ready, without leader election; Readiness probe failed: 500"
    metadata["deletionTimestamp"] = "t"
    (entry,) = (one for one in seen(cluster)[1] if one["kind"] == "Deployment")
    assert entry["message"] == "1 instance ready, without leader election"
    del metadata["deletionTimestamp"]
    cluster.objects["Event"] = [event("MountVolume.SetUp failed", reason="FailedMount"), event("Pulled", reason="Pulled")]
    (entry,) = (one for one in seen(cluster)[1] if one["kind"] == "Deployment")
    assert entry["message"] == "1 instance ready, without leader election; MountVolume.SetUp failed"


def test_a_kind_that_may_be_listed_nowhere_is_unread():
    discovery = SchedulerDiscovery(Cluster(allowed=["mine"], Pod=[{"metadata": {"namespace": "mine"}}]), [], NOW)
    assert (discovery.pending_pods(None), discovery.unread) == ([], {"Pod"})
    discovery = SchedulerDiscovery(Cluster(allowed=["mine"], Pod=[{"metadata": {"namespace": "mine"}}]), ["other", "mine"], NOW)
    assert (len(discovery.pending_pods(None)), discovery.unread) == (1, set())


def test_two_deployments_with_one_scheduler_name_are_a_conflict():
    _discovery, found = seen(Cluster(Deployment=[deployment("a", "one"), deployment("b", "two"), deployment("c", "down", ready=0)]))
    (conflict,) = conflicts(found)
    assert (conflict["scheduler_name"], conflict["schedulers"]) == ("default-scheduler", ["Deployment a/one", "Deployment b/two"])


@pytest.mark.parametrize(
    ("labels", "status", "method", "ready"), [(None, None, "manifests", 0), ({"olm.owner": "csv"}, {"readyReplicas": 2}, "olm", 2)]
)
def test_an_operator_is_reported_with_version_method_and_replicas(labels, status, method, ready):
    operator = deployment("ops", "osso-scheduler-operator", image="registry.example.com/operator:1.2.3")
    operator["metadata"]["labels"] = labels
    operator["status"] = status
    found = next(one for one in SchedulerDiscovery(Cluster(Deployment=[operator]), [], NOW).operators() if one["variant"] == "osso")
    assert (found["namespace"], found["name"], found["version"]) == ("ops", "osso-scheduler-operator", "1.2.3")
    assert (found["method"], found["replicas"], found["ready"]) == (method, 1, ready)


def custom_resource(**spec):
    return {"metadata": {"namespace": "s", "name": "cluster", "uid": "u"}, "spec": spec}


def renewed(namespace, name, holder, renewed="2026-11-20T11:59:55Z"):
    spec = {"holderIdentity": holder, "renewTime": renewed, "acquireTime": "2026-11-20T11:58:00Z", "leaseDurationSeconds": 15}
    return {"metadata": {"namespace": namespace, "name": name}, "spec": spec}


CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {resourceNamespace: s, resourceName: lease}
profiles: [{schedulerName: one}, {schedulerName: two}]
"""


def config_map(text=CONFIG, namespace="s", name="config"):
    return {"metadata": {"namespace": namespace, "name": name}, "data": {"config.yaml": text}}


UNSEEN = {
    "scheduler_names": ["default-scheduler"],
    "kind": "default",
    "namespace": "kube-system",
    "name": "kube-scheduler",
    "conditions": [],
    "software": "kube-scheduler",
    "workload": None,
    "image": None,
    "version": None,
    "replicas": None,
    "ready": None,
    "serving": None,
    "elects": None,
    "leader": None,
    "message": "neither a Lease nor pods of it are visible, so it is unknown whether it is available",
}


def test_the_entry_of_a_secondary_scheduler_has_all_its_fields():
    conditions = [{"type": "Available", "status": "True"}]
    resource = {**custom_resource(schedulerConfig="config"), "status": {"conditions": conditions}}
    ours = deployment("s", "secondary", image="registry.k8s.io/kube-scheduler:v1.34.1", args=["--config=/c"])
    ours["metadata"]["ownerReferences"] = [{"uid": "u"}]
    cluster = Cluster(
        SecondaryScheduler=[resource], Deployment=[ours], ConfigMap=[config_map()], Lease=[renewed("s", "lease", "secondary-1")]
    )
    discovery, found = seen(cluster)
    leader = {"namespace": "s", "lease": "lease", "holder": "secondary-1"}
    times = {"acquired_seconds": 120, "renewed_seconds": 5, "duration_seconds": 15}
    entry = {
        "scheduler_names": ["one", "two"],
        "kind": "SecondaryScheduler",
        "namespace": "s",
        "name": "cluster",
        "conditions": conditions,
        "software": "kube-scheduler",
        "workload": "Deployment/secondary",
        "image": "registry.k8s.io/kube-scheduler:v1.34.1",
        "version": "v1.34.1",
        "replicas": 1,
        "ready": 1,
        "serving": True,
        "elects": True,
        "leader": {**leader, **times},
        "message": "1 instance ready, secondary-1 leads",
    }
    assert found == [UNSEEN, entry]
    assert discovery.configuration(entry) == CONFIG
    assert discovery.running(entry).selector == "app=secondary"
    assert discovery.unknown == []


@pytest.mark.parametrize(
    ("spec", "objects", "names", "message"),
    [
        ({"schedulerImage": "i:1", "schedulerConfig": "config"}, {"ConfigMap": [config_map()]}, ["one", "two"], ""),
        ({"schedulerImage": "i:1"}, {}, [], "; its configuration is not in a ConfigMap, so its names are unknown"),
        (
            {"schedulerImage": "i:1", "schedulerConfig": "config"},
            {},
            [],
            "; its ConfigMap s/config does not exist or can't be read",
        ),
        (
            {"schedulerImage": "i:1", "schedulerConfig": "config"},
            {"ConfigMap": [{"metadata": {"namespace": "s", "name": "config"}}]},
            [],
            "; its ConfigMap s/config has no key config.yaml",
        ),
        (
            {"schedulerImage": "i:1", "schedulerConfig": "config"},
            {"ConfigMap": [{"metadata": {"namespace": "s", "name": "config"}, "binaryData": {"config.yaml": "/w=="}}]},
            [],
            "; its ConfigMap s/config cannot be read: binaryData.config.yaml is not UTF-8 text (byte 0)",
        ),
    ],
)
def test_a_secondary_scheduler_without_a_deployment_is_not_available(spec, objects, names, message):
    (_default, entry) = seen(Cluster(SecondaryScheduler=[custom_resource(**spec)], **objects))[1]
    assert (entry["scheduler_names"], entry["image"], entry["version"], entry["serving"]) == (names, "i:1", "1", False)
    assert (entry["workload"], entry["elects"], entry["leader"]) == (None, None, None)
    assert entry["message"] == f"it has no Deployment that runs kube-scheduler{message}"


def test_a_degraded_secondary_scheduler_names_the_reason():
    def message(status):
        degraded = {"type": "Degraded", "status": status, "message": "no image"}
        resource = {**custom_resource(schedulerConfig="config"), "status": {"conditions": [degraded]}}
        return seen(Cluster(SecondaryScheduler=[resource], ConfigMap=[config_map()]))[1][1]["message"]

    assert message("True") == "it has no Deployment that runs kube-scheduler; no image"
    assert message("False") == "it has no Deployment that runs kube-scheduler"


def test_an_invalid_configuration_is_named_without_its_secrets():
    text = CONFIG.replace("KubeSchedulerConfiguration", "planted-secret") + "token: planted-secret\n"
    resource = custom_resource(schedulerConfig="config")
    message = seen(Cluster(SecondaryScheduler=[resource], ConfigMap=[config_map(text)]))[1][1]["message"]
    assert "; its ConfigMap s/config is not valid: " in message
    assert "********" in message
    assert "planted-secret" not in message


@pytest.mark.parametrize(
    "election",
    ["{resourceName: [a]}", "{resourceNamespace: 5}", "{resourceName: 50%}", r'{resourceName: "\ud800"}', "[]", "{leaderElect: {}}"],
)
def test_a_lease_that_cannot_exist_ends_no_report(election):
    """Anyone who may create a Deployment could otherwise end the report on all schedulers."""
    text = CONFIG.replace("{resourceNamespace: s, resourceName: lease}", election)
    container = {"image": "registry.k8s.io/kube-scheduler:v1.34.1", "args": ["--config=/c/config.yaml"]}
    theirs = deployment("s", "d", **container, volumeMounts=[{"name": "v", "mountPath": "/c"}])
    theirs["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "configMap": {"name": "config"}}]
    (entry,) = (one for one in seen(Cluster(Deployment=[theirs], ConfigMap=[config_map(text)]))[1] if one["kind"] == "Deployment")
    assert (entry["serving"], "none leads" in entry["message"] or "is not valid" in entry["message"]) == (False, True)


def test_a_config_map_that_cannot_exist_ends_no_report():
    (entry,) = seen(Cluster(SecondaryScheduler=[custom_resource(schedulerConfig="50%")]))[1][1:]
    assert "its ConfigMap s/50% does not exist" in entry["message"]


def static_pod(number, ready=True, namespace="kube-system", **labels):
    status = "True" if ready else "False"
    return {
        "metadata": {
            "namespace": namespace,
            "name": f"kube-scheduler-{number}",
            "annotations": {"kubernetes.io/config.mirror": "x"},
            "labels": labels or {"component": "kube-scheduler"},
        },
        "spec": {
            "containers": [{"name": "kube-scheduler", "image": "registry.k8s.io/kube-scheduler:v1.34.1", "command": ["kube-scheduler"]}]
        },
        "status": {"conditions": [{"type": "Ready", "status": status}]},
    }


def test_static_pods_of_a_scheduler_are_one_entry():
    other = static_pod(3)
    del other["metadata"]["annotations"]
    pods = [static_pod(1), static_pod(2, ready=False), other]
    discovery, (entry,) = seen(Cluster(Pod=pods, Lease=[renewed("kube-system", "kube-scheduler", "node-1_x")]))
    assert entry == {
        **UNSEEN,
        "kind": "StaticPod",
        "workload": "Pod/kube-scheduler-1, Pod/kube-scheduler-2",
        "image": "registry.k8s.io/kube-scheduler:v1.34.1",
        "version": "v1.34.1",
        "replicas": 2,
        "ready": 1,
        "serving": True,
        "elects": True,
        "leader": {
            "namespace": "kube-system",
            "lease": "kube-scheduler",
            "holder": "node-1_x",
            "acquired_seconds": 120,
            "renewed_seconds": 5,
            "duration_seconds": 15,
        },
        "message": "1 instance ready, node-1_x leads",
    }
    assert discovery.pods(entry) == pods[:2]
    pods[0]["metadata"]["deletionTimestamp"] = "t"
    assert discovery.pods(entry) == pods[1:2]
    assert discovery.configuration(entry) is None


def test_the_default_scheduler_is_known_by_its_lease_where_pods_cannot_be_seen():
    (entry,) = seen(Cluster(Lease=[renewed("openshift-kube-scheduler", "kube-scheduler", "m-0")]))[1]
    assert (entry["kind"], entry["namespace"], entry["serving"]) == ("default", "openshift-kube-scheduler", True)
    assert (entry["workload"], entry["replicas"], entry["ready"]) == (None, None, None)
    assert entry["message"] == "its instances can't be seen, m-0 leads"


def test_a_deployment_that_leads_as_the_default_scheduler_is_the_only_entry():
    ours = deployment("kube-system", "sched", image="registry.k8s.io/kube-scheduler:v1.34.1")
    found = seen(Cluster(Deployment=[ours], Lease=[renewed("kube-system", "kube-scheduler", "sched-1")]))[1]
    assert [(one["kind"], one["scheduler_names"], one["serving"]) for one in found] == [("Deployment", ["default-scheduler"], True)]


@pytest.mark.parametrize(("revision", "name"), [("7", "config-7"), (None, "config")])
def test_the_configuration_of_openshift_s_scheduler_is_that_of_its_revision(revision, name):
    labels = {"app": "openshift-kube-scheduler", **({"revision": revision} if revision else {})}
    pods = [static_pod(1, namespace="openshift-kube-scheduler", **labels)]
    configs = [config_map(f"{one}\n", "openshift-kube-scheduler", one) for one in ("config", "config-7")]
    discovery, (entry,) = seen(Cluster(Pod=pods, ConfigMap=configs))
    assert discovery.configuration(entry) == f"{name}\n"


def test_the_pods_of_a_deployment_are_found_by_its_selector():
    labels = {"app": "d"}
    pods = [
        {"metadata": {"namespace": "s", "name": "d-1", "labels": labels}},
        {"metadata": {"namespace": "s", "name": "d-2", "labels": labels, "deletionTimestamp": "t"}},
        {"metadata": {"namespace": "s", "name": "e-1", "labels": {"app": "e"}}},
    ]
    discovery, (_default, entry) = seen(Cluster(Deployment=[deployment("s", "d")], Pod=pods))
    assert discovery.pods(entry) == pods[:1]
    assert discovery.pods(UNSEEN) == []


def test_a_deployment_with_rejected_pods_names_the_reason():
    lacking = deployment("s", "d", ready=None)
    lacking["status"]["conditions"] = [{"type": "ReplicaFailure", "status": "True", "message": "quota"}]
    (_default, entry) = seen(Cluster(Deployment=[lacking]))[1]
    assert (entry["message"], entry["ready"], entry["serving"]) == ("no instance is ready; quota", 0, False)
    lacking["status"]["conditions"][0]["status"] = "False"
    assert seen(Cluster(Deployment=[lacking]))[1][1]["message"] == "no instance is ready"


class Logs(Cluster):
    """Answers each request for a log with the next of these."""

    def __init__(self, *answers, **objects):
        super().__init__(**objects)
        self.answers, self.texts, self.versions = list(answers), [], 0

    def text(self, path, query):
        self.texts.append((path, query))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def request(self, method, path):
        self.versions += path == "/version"
        return {"major": "1", "minor": "34+"} if path == "/version" else super().request(method, path)


LOGGED = {"metadata": {"namespace": "s", "name": "p"}, "spec": {"nodeName": "node-1"}}


def test_the_end_of_a_log_is_read_or_reported_as_unknown():
    cluster = Logs("text", "before", ApiError(400, "BadRequest", "no"), ApiError(404, "NotFound", "no"), ApiError(403, "Forbidden", "no"))
    discovery = SchedulerDiscovery(cluster, [], NOW)
    assert discovery.log(LOGGED, "c", 5) == "text"
    assert discovery.log(LOGGED, "c", 6, previous=True) == "before"
    assert cluster.texts[0] == ("/api/v1/namespaces/s/pods/p/log", {"container": "c", "tailLines": 5})
    assert cluster.texts[1][1] == {"container": "c", "tailLines": 6, "previous": "true"}
    assert [discovery.log(LOGGED, "c", 5) for _again in range(2)] == [None, None]
    assert discovery.unknown == []
    assert discovery.log(LOGGED, "c", 5) is None
    assert (discovery.unknown, discovery.silent, cluster.versions) == (["the log of s/p: no"], set(), 0)


@pytest.mark.parametrize(("status", "is_silent"), [(0, True), (503, True), (504, True), (500, False)])
def test_a_node_that_does_not_answer_is_not_queried_again(status, is_silent):
    cluster = Logs(ApiError(status, "reason", "late"), "text")
    discovery = SchedulerDiscovery(cluster, [], NOW)
    assert discovery.log(LOGGED, "c", 5) is None
    assert cluster.versions == (status == 0)
    assert discovery.log(LOGGED, "c", 5) == (None if is_silent else "text")
    again = ["the log of s/p: its node node-1 has not answered before, so no further request was sent"] if is_silent else []
    assert discovery.unknown == ["the log of s/p: late", *again]


def test_operators_of_both_variants_are_found():
    ours, upstream = deployment("ops", "osso-scheduler-operator"), deployment("up", "secondary-scheduler-operator")

    class Selecting(Cluster):
        def list(self, resource, namespace=None, label_selector=None, field_selector=None, metadata_only=False):
            found = super().list(resource, namespace)
            return [one for one in found if field_selector in (None, f"metadata.name={one['metadata']['name']}")]

    ours["spec"]["template"]["spec"]["containers"][0] = {"image": "r/o:1", "env": [{"name": "WATCH_NAMESPACE", "value": "a,b"}]}
    ours["metadata"]["labels"] = {"olm.owner": "csv"}
    del ours["spec"]["replicas"]
    found = SchedulerDiscovery(Selecting(Deployment=[upstream, ours]), [], NOW).operators()
    assert found == [
        {
            "kind": "Deployment",
            "namespace": "ops",
            "name": "osso-scheduler-operator",
            "variant": "osso",
            "watches": ["a", "b"],
            "image": "r/o:1",
            "version": "1",
            "method": "olm",
            "replicas": 1,
            "ready": 1,
        },
        {
            "kind": "Deployment",
            "namespace": "up",
            "name": "secondary-scheduler-operator",
            "variant": "upstream",
            "watches": ["openshift-secondary-scheduler-operator"],
            "image": "registry.k8s.io/kube-scheduler:v1.34.1",
            "version": "v1.34.1",
            "method": "manifests",
            "replicas": 1,
            "ready": 1,
        },
    ]


class Platform(Cluster):
    """Serves these paths, and has this Namespace kube-system or error."""

    host = "https://api"

    def __init__(self, served, namespace=None):
        super().__init__()
        self.served, self.namespace = {**served, "/version": {"major": "1", "minor": "34+"}}, namespace

    def request(self, _method, path):
        if path not in self.served:
            raise ApiError(404, "NotFound", "not found")
        return self.served[path]

    def get(self, resource, name, namespace=None):
        assert (resource.kind, name) == ("Namespace", "kube-system")
        if isinstance(self.namespace, Exception):
            raise self.namespace
        return self.namespace


def kinds(*names):
    return {"resources": [{"kind": name} for name in names]}


@pytest.mark.parametrize(
    ("served", "expected"),
    [
        ({}, {}),
        ({"/apis/route.openshift.io": {}}, {"openshift": True}),
        ({"/apis/operators.coreos.com": {}}, {"olm": True}),
        ({"/apis/monitoring.coreos.com/v1": kinds("ServiceMonitor", "PrometheusRule", "Prometheus")}, {"monitoring": True}),
        ({"/apis/monitoring.coreos.com/v1": kinds("ServiceMonitor")}, {}),
        ({"/apis/monitoring.coreos.com/v1": {}}, {}),
        ({"/apis/admissionregistration.k8s.io/v1": kinds("ValidatingAdmissionPolicy")}, {"admission_policies": True}),
        ({"/apis/admissionregistration.k8s.io/v1": kinds("ValidatingWebhookConfiguration")}, {}),
    ],
)
def test_served_api_groups_decide_the_features_of_the_platform(served, expected):
    none = dict.fromkeys(("openshift", "monitoring", "olm", "admission_policies"), False)
    assert SchedulerDiscovery(Platform(served), [], NOW).platform() == {**none, "kubernetes_version": "1.34", **expected}


def test_the_cluster_is_known_by_the_uid_of_a_namespace():
    def found(namespace):
        discovery = SchedulerDiscovery(Platform({}, namespace), [], NOW)
        return discovery.cluster(), discovery.unknown

    assert found({"metadata": {"uid": "u"}}) == ({"uid": "u", "server": "https://api"}, [])
    assert found(None) == ({"uid": None, "server": "https://api"}, [])
    assert found(ApiError(403, "Forbidden", "no")) == ({"uid": None, "server": "https://api"}, ["no"])
    with pytest.raises(ApiError):
        found(ApiError(500, "", "broken"))


def test_pod_groups_are_read_in_the_version_that_is_served():
    waiting = aged("good", 1, schedulingGroup={"podGroupName": "g"})
    waiting["status"] = {}
    group = {
        "metadata": {"namespace": "n", "name": "g"},
        "status": {"conditions": [{"type": "PodGroupInitiallyScheduled", "status": "False", "reason": "r"}]},
    }
    versions = [{"groupVersion": f"scheduling.k8s.io/{one}"} for one in ("v1", "v1beta1")]
    cluster = Platform({"/apis/scheduling.k8s.io": {"versions": versions}, "/apis/scheduling.k8s.io/v1beta1": kinds("PodGroup")})
    cluster.objects = {"PodGroup": [group]}
    (row,) = SchedulerDiscovery(cluster, [], NOW).pending([waiting], SCHEDULERS)
    assert row["reason"] == "it waits in the queue of its scheduler for the other pods of its PodGroup g, of which its scheduler reports: r"
    cluster.objects = {}
    (row,) = SchedulerDiscovery(cluster, [], NOW).pending([waiting], SCHEDULERS)
    assert row["reason"] == "it waits in the queue of its scheduler for the PodGroup g, which does not exist"
    cluster.allowed = []
    (row,) = SchedulerDiscovery(cluster, [], NOW).pending([waiting], SCHEDULERS)
    assert row["reason"] == "it waits in the queue of its scheduler for the other pods of its PodGroup g"


def test_a_listing_of_only_some_namespaces_is_noted_once():
    discovery = SchedulerDiscovery(Cluster(allowed=["mine"], Pod=[aged("good", 1)]), ["mine", "other"], NOW)
    for _again in range(2):
        discovery.pending_pods("good")
    assert discovery.unknown == [
        "Pods in other: forbidden",
        "Pods outside of the namespaces mine, other: listing them everywhere is not allowed",
    ]


def test_schedulers_are_sorted_by_namespace_after_the_default_one():
    found = seen(Cluster(Deployment=[deployment("b", "two"), deployment("a", "one")]))[1]
    assert [one["namespace"] for one in found] == ["kube-system", "a", "b"]


@pytest.mark.parametrize(("created", "seconds"), [("2026-11-20T11:59:00Z", 60), ("2026-11-20T12:00:05Z", 0)])
def test_the_age_of_a_time_is_never_negative(created, seconds):
    assert SchedulerDiscovery(None, [], NOW).age(created) == seconds
