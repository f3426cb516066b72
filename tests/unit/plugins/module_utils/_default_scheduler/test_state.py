# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What default_scheduler_info reads, and where it ends before it reads more."""

from __future__ import annotations

import json
import time

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN, Resource
from ansible_collections.osso.scheduler.plugins.module_utils._default_scheduler.state import read_state
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.openshift import rendered
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.openshift import DRA
from support.stored_cluster import StoredCluster

FIRST_WITH_GATE = f"{DRA[1]}.0"


class Cluster:
    """It has an Infrastructure with this topology, or answers this error, and no other kind of OpenShift."""

    def __init__(self, topology=None, error=None):
        self.topology, self.error = topology, error

    def resource(self, _api_version, kind):
        return kind

    def get(self, kind, _name, _namespace=None):
        if kind != "Infrastructure":
            raise ApiError(404, "NotServed", "not served")
        if self.error:
            raise self.error
        return {"status": {"controlPlaneTopology": self.topology}} if self.topology else None


def test_a_hosted_control_plane_is_configured_elsewhere():
    with pytest.raises(ClusterError, match=r"spec\.configuration\.scheduler of the HostedCluster"):
        read_state(Cluster("External"), {})


@pytest.mark.parametrize("cluster", [Cluster("HighlyAvailable"), Cluster(), Cluster(error=ApiError(403, "Forbidden", "no"))])
def test_clusters_without_openshifts_scheduler_operator_are_rejected(cluster):
    with pytest.raises(ClusterError, match="this is no OpenShift with a kube-scheduler operator"):
        read_state(cluster, {})


KINDS = (
    Resource("config.openshift.io/v1", "Scheduler", "schedulers", False),
    Resource("config.openshift.io/v1", "ClusterVersion", "clusterversions", False),
    Resource("config.openshift.io/v1", "ClusterOperator", "clusteroperators", False),
    Resource("config.openshift.io/v1", "Infrastructure", "infrastructures", False),
    Resource("config.openshift.io/v1", "FeatureGate", "featuregates", False),
    Resource("operator.openshift.io/v1", "KubeScheduler", "kubeschedulers", False),
)
PARAMS = {
    "openshift_version": None,
    "wanted": None,
    "events": 0,
    "former": None,
    "wait_timeout": 0,
    "after_revision": 0,
    "known_progress": None,
}
WELL = [
    {"type": "Available", "status": "True"},
    {"type": "Progressing", "status": "False"},
    {"type": "Degraded", "status": "False"},
]
OPERATOR = "openshift-kube-scheduler-operator"


def thing(kind, name="cluster", namespace=None, **content):
    (version,) = [one.api_version for one in (*KINDS, *KNOWN.values()) if one.kind == kind and one.api_version != "events.k8s.io/v1"]
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **content}


def kube_scheduler(revision=7, spec=None, conditions=()):
    nodes = [{"nodeName": "node-1", "currentRevision": revision}]
    status = {"latestAvailableRevision": 7, "nodeStatuses": nodes, "conditions": list(conditions)}
    return thing("KubeScheduler", spec={"logLevel": "Normal"} if spec is None else spec, status=status)


def openshift(*more, version="4.18.3", scheduler=None, configuration="", without=()):
    """OpenShift with a default scheduler whose rollout is complete."""
    there = [
        thing("Scheduler", spec={"profile": "HighNodeUtilization"} if scheduler is None else scheduler),
        kube_scheduler(),
        thing("ClusterVersion", "version", status={"desired": {"version": version}}),
        thing("ClusterOperator", "kube-scheduler", status={"conditions": WELL}),
        thing("ConfigMap", "config", "openshift-kube-scheduler", data={"config.yaml": configuration} if configuration else {}),
        *more,
    ]
    return StoredCluster(*(one for one in there if one["kind"] not in without), kinds=KINDS)


def state(cluster, **params):
    return read_state(cluster, {**PARAMS, **params})


def test_the_state_of_a_healthy_default_scheduler_has_all_its_fields():
    expected = rendered("4.18", "HighNodeUtilization", False)
    found = state(openshift(configuration=json.dumps(expected)))
    plan = found.pop("plan")
    assert plan == {"manifests": [], "refusals": [], "warnings": [], "new_revision": False}
    assert found == {
        "changed": False,
        "openshift_version": "4.18.3",
        "scheduler": {"profile": "HighNodeUtilization"},
        "kube_scheduler": {"logLevel": "Normal"},
        "profile": "HighNodeUtilization",
        "policy": "",
        "unmanaged": [],
        "other_overrides": [],
        "debug_logging": {
            "active": False,
            "noted": False,
            "name": "osso-scheduler-debug-logging",
            "level": "",
            "back_to": "",
            "until": "",
        },
        "events": [],
        "new_revision": False,
        "rollout": {
            "complete": True,
            "failing": "",
            "message": "revision 7 is on all 1 nodes",
            "revision": 7,
            "nodes": [{"name": "node-1", "revision": 7, "target": 0, "failed_revision": 0, "failure": ""}],
        },
        "conditions": {"Available": "True", "Progressing": "False", "Degraded": "False"},
        "degraded_reasons": [],
        "configuration": {"expected": expected, "live": expected, "matches": True, "differences": [], "reason": ""},
    }


def test_the_observed_configuration_is_not_shown_but_a_policy_is():
    cluster = openshift(scheduler={"policy": {"name": "mine"}})
    cluster.store(kube_scheduler(spec={"logLevel": "Debug", "observedConfig": {"a": "b"}}))
    found = state(cluster)
    assert (found["kube_scheduler"], found["policy"], found["profile"]) == ({"logLevel": "Debug"}, "mine", "LowNodeUtilization")
    assert "spec.policy.name is mine" in found["plan"]["refusals"][0]


def test_objects_without_a_specification_are_empty():
    cluster = openshift()
    for kind in ("Scheduler", "KubeScheduler", "ClusterVersion"):
        cluster.store(thing(kind, "version" if kind == "ClusterVersion" else "cluster"))
    found = state(cluster)
    assert (found["scheduler"], found["kube_scheduler"], found["openshift_version"]) == ({}, {}, "")
    assert (found["policy"], found["profile"], found["unmanaged"]) == ("", "LowNodeUtilization", [])
    assert found["rollout"]["message"] == "no revision after 0 yet; no node is known yet"


def test_a_configuration_that_differs_is_reported_with_the_differences():
    expected = rendered("4.18", "HighNodeUtilization", False)
    found = state(openshift(configuration=json.dumps({**expected, "leaderElection": {"leaderElect": "x"}})))["configuration"]
    assert found["matches"] is False
    assert found["reason"] == ""
    assert "leaderElection" in str(found["differences"])


def test_a_configuration_that_is_missing_or_no_yaml_is_reported():
    found = state(openshift())["configuration"]
    assert (found["live"], found["matches"], found["differences"]) == (None, None, [])
    assert found["reason"] == "There is no ConfigMap openshift-kube-scheduler/config with the key config.yaml."
    assert found["expected"] == rendered("4.18", "HighNodeUtilization", False)
    assert state(openshift(without=["ConfigMap"]))["configuration"] == found
    found = state(openshift(configuration="a: [", scheduler={}))["configuration"]
    assert (found["live"], found["matches"]) == ("a: [", False)


def test_a_release_that_is_not_known_has_no_expected_configuration():
    found = state(openshift(version="4.3.1", configuration="{}"))
    told = found["configuration"]
    assert (told["expected"], told["live"], told["matches"], told["differences"]) == (None, {}, None, [])
    assert "4.3" in told["reason"]
    assert told["reason"].endswith(".")
    assert found["openshift_version"] == "4.3.1"
    # That is the reason also where there is nothing to compare.
    assert state(openshift(version="4.3.1"))["configuration"]["reason"] == told["reason"]


def test_the_version_of_the_cluster_is_the_given_one_or_the_desired_one():
    assert state(openshift(), openshift_version="4.19")["openshift_version"] == "4.19"
    assert state(openshift(without=["ClusterVersion"]))["openshift_version"] == ""
    with pytest.raises(ClusterError, match=r"^openshift_version: .*4\.3"):
        state(openshift(), openshift_version="4.3")
    # A later one than this collection knows is replaced by the version of the cluster.
    assert state(openshift(), openshift_version="4.99")["openshift_version"] == "4.18.3"


@pytest.mark.parametrize(
    ("version", "customization", "gates", "enabled"),
    [
        ("4.18.3", "Enabled", {}, True),
        ("4.18.3", "Disabled", {"4.18.3": True}, False),
        (FIRST_WITH_GATE, "", {FIRST_WITH_GATE: True}, True),
        (FIRST_WITH_GATE, "", {FIRST_WITH_GATE: False}, False),
        (FIRST_WITH_GATE, "", {"4.1.0": True}, False),
        (FIRST_WITH_GATE, "", {}, False),
    ],
)
def test_dynamic_resource_allocation_is_by_customization_or_feature_gate(version, customization, gates, enabled):
    entries = [
        {"version": one, "enabled": [{"name": "Other"}, *([{"name": "DynamicResourceAllocation"}] if on else [])]}
        for one, on in gates.items()
    ]
    scheduler = {"profileCustomizations": {"dynamicResourceAllocation": customization}} if customization else {}
    cluster = openshift(thing("FeatureGate", status={"featureGates": entries}), version=version, scheduler=scheduler)
    found = state(cluster)["configuration"]["expected"]
    release = version.rpartition(".")[0]
    assert found == rendered(release, None, enabled)
    assert rendered(release, None, True) != rendered(release, None, False)


def test_overrides_of_the_cluster_version_are_those_of_the_scheduler():
    overrides = [
        {"kind": "Deployment", "namespace": OPERATOR, "name": "openshift-kube-scheduler-operator", "unmanaged": True},
        {"kind": "ConfigMap", "namespace": "openshift-kube-scheduler", "name": "config", "unmanaged": True},
        {"kind": "Deployment", "namespace": OPERATOR, "name": "managed", "unmanaged": False},
        {"kind": "Deployment", "namespace": "elsewhere", "name": "other", "unmanaged": True},
    ]
    version = thing("ClusterVersion", "version", spec={"overrides": overrides})
    found = state(openshift(version))
    assert found["unmanaged"] == [f"Deployment {OPERATOR}/openshift-kube-scheduler-operator", "ConfigMap openshift-kube-scheduler/config"]
    # A list that is one value has an owner as a whole; one that is merged has owners of its entries, and an apply of one leaves the others.
    assert found["other_overrides"] == overrides[1:]
    for owned, others in (({}, overrides[1:]), ({'k:{"kind":"Deployment"}': {}}, [])):
        version["metadata"]["managedFields"] = [
            {"manager": "m", "fieldsV1": {"f:metadata": {}}},
            {"fieldsV1": {"f:spec": {"f:overrides": owned}}},
        ]
        assert state(openshift(version))["other_overrides"] == others


def test_events_are_the_latest_ones_of_the_operator_the_oldest_first():
    def event(name, namespace=OPERATOR, **content):
        made = thing("Event", name, namespace, **content)
        made["metadata"]["creationTimestamp"] = "2026-01-05T00:00:00Z"
        return made

    events = [
        event("a", lastTimestamp="2026-01-03T00:00:00Z", eventTime="2026-01-09T00:00:00Z", type="Normal", reason="A", message="a"),
        event("b", eventTime="2026-01-04T00:00:00Z", type="Warning", reason="B", message="b"),
        event("c"),
        event("d", lastTimestamp="2026-01-01T00:00:00Z"),
        event("e", "elsewhere", lastTimestamp="2026-01-09T00:00:00Z"),
    ]
    cluster = openshift(*events)
    assert state(cluster, events=3)["events"] == [
        {"time": "2026-01-03T00:00:00Z", "type": "Normal", "reason": "A", "message": "a"},
        {"time": "2026-01-04T00:00:00Z", "type": "Warning", "reason": "B", "message": "b"},
        {"time": "2026-01-05T00:00:00Z", "type": "", "reason": "", "message": ""},
    ]
    assert len(state(cluster, events=9)["events"]) == 4
    cluster.rejected["GET", "events"] = ApiError(403, "Forbidden", "no")
    assert state(cluster)["events"] == []


def test_debug_logging_is_read_from_its_role_and_its_job():
    name = "osso-scheduler-debug-logging"
    role = thing("ClusterRole", name)
    until = int(time.time()) + 3600
    role["metadata"]["annotations"] = {
        "osso.scheduler/log-level": "Trace",
        "osso.scheduler/back-to": "Normal",
        "osso.scheduler/until": str(until),
    }
    expected = {
        "active": True,
        "noted": True,
        "name": name,
        "level": "Trace",
        "back_to": "Normal",
        "until": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(until)),
    }
    assert state(openshift(role, thing("Job", name, name)))["debug_logging"] == expected
    assert state(openshift(role))["debug_logging"] == {**expected, "active": False}
    cluster = openshift(role)
    cluster.rejected["GET", "clusterroles"] = ApiError(403, "Forbidden", "no")
    assert state(cluster)["debug_logging"]["noted"] is False
    cluster.rejected["GET", "clusterroles"] = ApiError(500, "Broken", "no")
    with pytest.raises(ApiError):
        state(cluster)


@pytest.mark.parametrize(
    ("former", "new"),
    [
        (None, False),
        ({"scheduler": {"profile": "HighNodeUtilization"}, "kube_scheduler": {}}, False),
        ({"scheduler": {"profile": "NoScoring"}, "kube_scheduler": {}}, True),
        ({"scheduler": {"profile": "HighNodeUtilization"}, "kube_scheduler": {"logLevel": "Debug"}}, True),
    ],
)
def test_a_new_revision_follows_from_the_state_before(former, new):
    assert state(openshift(), former=former)["new_revision"] is new


def test_a_wait_ends_at_news_of_the_rollout():
    cluster = openshift()
    cluster.store(kube_scheduler(revision=6))
    told = "revision 7 is on 0 of 1 nodes"
    assert state(cluster, known_progress="something before", wait_timeout=60)["rollout"]["message"] == told
    assert state(cluster, known_progress=told, wait_timeout=0.1)["rollout"]["complete"] is False
    assert state(openshift(), after_revision=6, known_progress=told, wait_timeout=60)["rollout"]["complete"] is True
    started = time.monotonic()
    assert state(openshift(), known_progress="revision 7 is on all 1 nodes", wait_timeout=120)["rollout"]["complete"] is True
    assert time.monotonic() - started < 60, "it waited, although the rollout is complete"
    assert state(openshift(), after_revision=7)["rollout"]["message"] == "no revision after 7 yet"


def test_conditions_are_those_of_the_operator_and_of_its_resource():
    broken = {"type": "NodeControllerDegraded", "status": "True", "reason": "Down", "message": "node-1 is down\n"}
    degraded = {"type": "Degraded", "status": "True", "reason": "Bad", "message": "bad"}
    cluster = openshift(thing("ClusterOperator", "kube-scheduler", status={"conditions": [*WELL[:2], degraded]}))
    cluster.store(kube_scheduler(conditions=[broken, {"type": "Available", "status": "Unknown"}]))
    found = state(cluster)
    assert found["conditions"] == {
        "NodeControllerDegraded": "True",
        "Available": "True",
        "Progressing": "False",
        "Degraded": "True",
    }
    assert found["degraded_reasons"] == ["Degraded (Bad): bad", "NodeControllerDegraded (Down): node-1 is down"]
    assert found["rollout"]["failing"] == "Degraded is True (Bad): bad"
    assert state(openshift(without=["ClusterOperator"]))["rollout"]["message"] == "there is no ClusterOperator kube-scheduler"


@pytest.mark.parametrize("kind", ["Scheduler", "KubeScheduler"])
def test_a_resource_that_is_missing_is_named(kind):
    with pytest.raises(ClusterError, match=f"^There is no {kind} cluster, which OpenShift makes when it is installed: create it"):
        state(openshift(without=[kind]))


def test_a_resource_that_must_not_be_read_is_no_missing_openshift():
    cluster = openshift()
    cluster.rejected["GET", "schedulers"] = ApiError(403, "Forbidden", "no")
    with pytest.raises(ApiError):
        state(cluster)
    cluster = openshift()
    cluster.rejected["GET", "infrastructures"] = ApiError(500, "Broken", "no")
    with pytest.raises(ApiError):
        state(cluster)
