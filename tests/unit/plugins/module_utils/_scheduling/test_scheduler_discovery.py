# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What scheduler_info makes of what it reads of schedulers."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import reconcile_period
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Resource
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
def test_serving(ready, elected, held, serves, says):
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


def test_pending_pods_with_those_first_that_nobody_looks_after():
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
def test_which_deployment_belongs_to_a_resource(metadata, expected):
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
        return found

    def get(self, resource, name, namespace=None):
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
        "metadata": {"namespace": "a", "name": "b", "uid": "u", "annotations": {reconcile_period.ANNOTATION: "garbage"}},
        "spec": {"schedulerImage": "i"},
    }
    ours = deployment("a", "b")
    ours["metadata"]["ownerReferences"] = [{"uid": "u"}]
    _discovery, found = seen(Cluster(SecondaryScheduler=[resource], Deployment=[ours] if runs else []))
    (entry,) = [one for one in found if one["kind"] == "SecondaryScheduler"]
    assert entry["serving"] is runs
    assert 'reconcile-period is "garbage", so the operator' in entry["message"]
    assert "a duration such as 10m" in entry["message"]


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
def test_schedulers_of_another_make_are_known(container, software, names):
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
def test_other_programs_are_none(container):
    assert [one["kind"] for one in seen(Cluster(Deployment=[deployment("s", "d", **container)]))[1]] == ["default"]


def test_a_program_that_nobody_knows_counts_if_it_is_called_like_the_name():
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


def test_a_failing_probe_is_the_reason():
    metadata = {"namespace": "s", "name": "d-1", "uid": "u", "labels": {"app": "d"}}
    running = {"metadata": metadata, "spec": {}, "status": {"containerStatuses": [{"name": "c", "ready": False, "state": {"running": {}}}]}}
    events = [
        {"metadata": {"namespace": "s"}, "involvedObject": {"uid": "u"}, "lastTimestamp": "2026-11-20T11:59:00Z", "message": "old"},
        {
            "metadata": {"namespace": "s"},
            "involvedObject": {"uid": "u"},
            "lastTimestamp": NOW.isoformat(),
            "message": "Readiness probe failed: 500",
        },
        {"metadata": {"namespace": "s"}, "involvedObject": {"uid": "other"}, "lastTimestamp": NOW.isoformat(), "message": "of another"},
    ]
    cluster = Cluster(Deployment=[deployment("s", "d", ready=0)], Pod=[running], Event=events)
    (entry,) = (one for one in seen(cluster)[1] if one["kind"] == "Deployment")
    assert entry["message"] == "no instance is ready; Readiness probe failed: 500"
    cluster.objects["Deployment"] = [deployment("s", "d", replicas=2)]
    (entry,) = (one for one in seen(cluster)[1] if one["kind"] == "Deployment")
    assert entry["message"] == "1 instance ready, without leader election; Readiness probe failed: 500"


def test_what_may_be_listed_nowhere_is_unread():
    discovery = SchedulerDiscovery(Cluster(allowed=["mine"], Pod=[{"metadata": {"namespace": "mine"}}]), [], NOW)
    assert (discovery.pending_pods(None), discovery.unread) == ([], {"Pod"})
    discovery = SchedulerDiscovery(Cluster(allowed=["mine"], Pod=[{"metadata": {"namespace": "mine"}}]), ["other", "mine"], NOW)
    assert (len(discovery.pending_pods(None)), discovery.unread) == (1, set())


def test_two_deployments_with_one_name():
    _discovery, found = seen(Cluster(Deployment=[deployment("a", "one"), deployment("b", "two"), deployment("c", "down", ready=0)]))
    (conflict,) = conflicts(found)
    assert (conflict["scheduler_name"], conflict["schedulers"]) == ("default-scheduler", ["Deployment a/one", "Deployment b/two"])


@pytest.mark.parametrize(
    ("labels", "status", "method", "ready"), [(None, None, "manifests", 0), ({"olm.owner": "csv"}, {"readyReplicas": 2}, "olm", 2)]
)
def test_an_operator(labels, status, method, ready):
    operator = deployment("ops", "osso-scheduler-operator", image="registry.example.com/operator:1.2.3")
    operator["metadata"]["labels"] = labels
    operator["status"] = status
    found = next(one for one in SchedulerDiscovery(Cluster(Deployment=[operator]), [], NOW).operators() if one["variant"] == "osso")
    assert (found["namespace"], found["name"], found["version"]) == ("ops", "osso-scheduler-operator", "1.2.3")
    assert (found["method"], found["replicas"], found["ready"]) == (method, 1, ready)
