# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sandbox's answers, request by request. With a real kube-scheduler: tests/api/test_preview.py."""

from __future__ import annotations

import json
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._preview.sandbox import Answer, Change, Sandbox
from support.preview import node, pod

POD = "/api/v1/namespaces/shop/pods/p"


@pytest.fixture
def sandbox():
    made = Sandbox([node("a"), pod("p"), pod("low", on="a")])
    made.serve()
    yield made
    made.close()


def ask(sandbox, method, path, body=None):
    return sandbox.answer(method, path, body)


def test_objects_can_be_read_alone_and_as_lists(sandbox):
    status, listed = ask(sandbox, "GET", "/api/v1/pods")
    assert (status, listed["kind"], [one["metadata"]["name"] for one in listed["items"]]) == (200, "PodList", ["p", "low"])
    assert ask(sandbox, "GET", "/api/v1/namespaces/other/pods")[1]["items"] == []
    assert ask(sandbox, "GET", POD)[1]["metadata"]["name"] == "p"
    assert ask(sandbox, "GET", "/api/v1/nodes/b")[0] == 404
    # No namespace was given; selectors of namespaces need it.
    (namespace,) = ask(sandbox, "GET", "/api/v1/namespaces")[1]["items"]
    assert namespace["metadata"]["labels"] == {"kubernetes.io/metadata.name": "shop"}
    assert sandbox.unknown == {}


def test_kinds_are_served_in_the_version_that_is_requested(sandbox):
    assert ask(sandbox, "GET", "/apis/resource.k8s.io/v1beta2/resourceclaims")[1]["apiVersion"] == "resource.k8s.io/v1beta2"


def test_discovery_lists_groups_and_the_plural_names_of_kinds(sandbox):
    groups = {group["name"] for group in ask(sandbox, "GET", "/apis")[1]["groups"]}
    assert {"apps", "scheduling.x-k8s.io", "events.k8s.io"} <= groups
    plurals = {one["name"] for one in ask(sandbox, "GET", "/apis/scheduling.x-k8s.io/v1alpha1")[1]["resources"]}
    assert plurals == {"podgroups", "elasticquotas"}


def test_a_binding_places_the_pod_and_is_recorded(sandbox):
    assert ask(sandbox, "POST", f"{POD}/binding", {"target": {"name": "a"}})[0] == 201
    assert sandbox.answers == {("shop", "p"): Answer("a")}
    assert sandbox.history == [Change(("shop", "p"), "a")]
    assert ask(sandbox, "GET", POD)[1]["spec"]["nodeName"] == "a"


def test_the_sandbox_records_a_rejection_and_a_nomination(sandbox):
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}
    patch = {"status": {"$setElementOrder/conditions": [], "conditions": [condition], "nominatedNodeName": "a"}}
    assert ask(sandbox, "PATCH", f"{POD}/status", patch)[0] == 200
    assert sandbox.answers == {("shop", "p"): Answer("", "0/1 nodes", "a")}
    assert ask(sandbox, "GET", POD)[1]["status"]["conditions"] == [condition]


@pytest.mark.parametrize(
    "named", [{"related": {"uid": "shop-p"}, "note": "Preempted by a pod on node a"}, {"note": "Preempted by pod shop-p on node a"}]
)
def test_a_preemption_is_recorded_with_the_pod_that_causes_it(sandbox, named):
    assert ask(sandbox, "DELETE", "/api/v1/namespaces/shop/pods/low")[0] == 200
    event = {"reason": "Preempted", "regarding": {"namespace": "shop", "name": "low"}, **named}
    assert ask(sandbox, "POST", "/apis/events.k8s.io/v1/namespaces/shop/events", event)[0] == 201
    assert sandbox.history == [Change(("shop", "low"), by="shop-p")]


def test_a_preempted_pod_that_was_offered_has_an_answer(sandbox):
    ask(sandbox, "POST", f"{POD}/binding", {"target": {"name": "a"}})
    ask(sandbox, "DELETE", POD)
    assert sandbox.answers[("shop", "p")] == Answer("", "it was preempted by another pod of the preview")


def test_unknown_requests_are_recorded(sandbox):
    assert ask(sandbox, "GET", "/apis/custom.metrics.k8s.io/v1beta1/nodes")[0] == 404
    assert ask(sandbox, "POST", "/api/v1/pods", pod("x"))[0] == 404
    assert ask(sandbox, "GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication")[0] == 404
    assert sandbox.unknown == {"GET custom.metrics.k8s.io/v1beta1 nodes": 1, "POST v1 pods": 1}


def test_the_sandbox_reports_the_load_of_nodes_like_load_watcher():
    """In percent of the capacity; not that of a node that has left."""
    measured = [
        {"apiVersion": "metrics.k8s.io/v1beta1", "kind": "NodeMetrics", "metadata": {"name": name}, "usage": {"cpu": "1", "memory": "4Gi"}}
        for name in ("a", "gone")
    ]
    made = Sandbox([node("a"), *measured])
    made.serve()
    status, answer = ask(made, "GET", "/watcher")
    made.close()
    assert made.has_load
    assert (status, list(answer["data"]["NodeMetricsMap"])) == (200, ["a"])
    metrics = answer["data"]["NodeMetricsMap"]["a"]["metrics"]
    assert [(metric["type"], metric["operator"], metric["value"]) for metric in metrics] == [("CPU", "AVG", 25.0), ("Memory", "AVG", 25.0)]


def url(sandbox) -> str:
    return json.loads(sandbox.kubeconfig())["clusters"][0]["cluster"]["server"]


def test_other_users_of_the_host_read_nothing(sandbox):
    assert json.load(urlopen(f"{url(sandbox)}/api/v1/nodes"))["kind"] == "NodeList"
    with pytest.raises(HTTPError, match="401"):
        urlopen(f"{url(sandbox).rpartition('/')[0]}/api/v1/nodes")


def watched(sandbox, query):
    return urlopen(f"{url(sandbox)}/api/v1/pods?watch=true&{query}")


def test_a_watch_can_begin_with_the_list_of_objects(sandbox):
    with watched(sandbox, "sendInitialEvents=true&allowWatchBookmarks=true") as stream:
        first = [json.loads(stream.readline()) for _number in range(3)]
        assert [event["type"] for event in first] == ["ADDED", "ADDED", "BOOKMARK"]
        assert first[2]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        sandbox.offer(pod("new"))
        assert json.loads(stream.readline())["object"]["metadata"]["name"] == "new"


def test_a_watch_returns_the_events_since_its_version(sandbox):
    since = ask(sandbox, "GET", "/api/v1/pods")[1]["metadata"]["resourceVersion"]
    sandbox.withdraw(("shop", "low"))
    with watched(sandbox, f"resourceVersion={since}") as stream:
        event = json.loads(stream.readline())
        assert (event["type"], event["object"]["metadata"]["name"]) == ("DELETED", "low")


def volume(name, **spec):
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def claim(**metadata):
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "fast"}
    metadata = {"name": "data", "namespace": "shop", "uid": "u-1", **metadata}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


CLAIM, VOLUMES = "/api/v1/namespaces/shop/persistentvolumeclaims/data", "/api/v1/persistentvolumes"
SELECTED = {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": "a"}}}


def test_a_volume_is_invented_for_a_claim_with_a_selected_node():
    made = Sandbox([node("a"), claim()])
    assert ask(made, "PATCH", CLAIM, {"metadata": {"labels": {"a": "b"}}})[0] == 200
    assert made.invented == set()
    assert ask(made, "PATCH", CLAIM, SELECTED)[0] == 200
    (invented,) = ask(made, "GET", VOLUMES)[1]["items"]
    metadata = dict(invented["metadata"])
    version = metadata.pop("resourceVersion")
    found = {**invented, "metadata": metadata}
    assert found == {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "preview-u-1", "annotations": {"pv.kubernetes.io/provisioned-by": "preview"}},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "storageClassName": "fast",
            "claimRef": {"kind": "PersistentVolumeClaim", "namespace": "shop", "name": "data", "uid": "u-1"},
        },
        "status": {"phase": "Bound"},
    }
    bound = ask(made, "GET", CLAIM)[1]
    assert (bound["spec"]["volumeName"], bound["status"], made.invented) == ("preview-u-1", {"phase": "Bound"}, {"shop/data"})
    assert bound["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] == "yes"
    # Another change does not bind it again.
    ask(made, "PATCH", CLAIM, {"metadata": {"labels": {"a": "c"}}})
    assert ask(made, "GET", VOLUMES)[1]["items"][0]["metadata"]["resourceVersion"] == version


def test_a_claim_is_bound_to_the_volume_that_the_scheduler_selects():
    made = Sandbox([node("a"), claim(), volume("v"), volume("w")])
    assert ask(made, "PUT", f"{VOLUMES}/w", {"spec": {"claimRef": {"namespace": "shop", "name": "other"}}})[0] == 200
    assert "volumeName" not in ask(made, "GET", CLAIM)[1]["spec"]
    assert ask(made, "PUT", f"{VOLUMES}/v", {"spec": {"claimRef": {"namespace": "shop", "name": "data"}}})[0] == 200
    assert (ask(made, "GET", CLAIM)[1]["spec"]["volumeName"], made.invented) == ("v", set())
    assert len(ask(made, "GET", VOLUMES)[1]["items"]) == 2


def test_an_invented_volume_is_where_its_driver_can_reach_it():
    zones = {"topology.example.com/zone": "z"}
    where = node("a")
    where["metadata"]["labels"] = zones
    csi = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "a"}}
    csi["spec"] = {"drivers": [{"name": "other"}, {"name": "d", "topologyKeys": [*zones, "unknown"]}]}
    storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"}, "provisioner": "d"}
    made = Sandbox([where, csi, storage, claim()])
    ask(made, "PATCH", CLAIM, SELECTED)
    (invented,) = ask(made, "GET", VOLUMES)[1]["items"]
    terms = [{"matchExpressions": [{"key": "topology.example.com/zone", "operator": "In", "values": ["z"]}]}]
    assert invented["spec"]["nodeAffinity"] == {"required": {"nodeSelectorTerms": terms}}


def test_volumes_that_were_bound_or_created_for_a_pod_can_be_restored():
    made = Sandbox([node("a"), claim(), volume("v")])
    before = made.volumes()
    ask(made, "PATCH", CLAIM, SELECTED)
    assert len(ask(made, "GET", VOLUMES)[1]["items"]) == 2
    made.restore_volumes(before)
    assert [one["metadata"]["name"] for one in ask(made, "GET", VOLUMES)[1]["items"]] == ["v"]
    restored = ask(made, "GET", CLAIM)[1]
    assert ("volumeName" in restored["spec"], "annotations" in restored["metadata"]) == (False, False)
    version = restored["metadata"]["resourceVersion"]
    made.restore_volumes(made.volumes())
    assert ask(made, "GET", CLAIM)[1]["metadata"]["resourceVersion"] == version, "nothing changed, so nothing is written"


def test_discovery_lists_versions_groups_and_resources(sandbox):
    assert ask(sandbox, "GET", "/version") == (200, {"major": "1", "minor": "0", "gitVersion": "v1.0.0"})
    assert ask(sandbox, "GET", "/api") == (200, {"kind": "APIVersions", "versions": ["v1"]})
    groups = ask(sandbox, "GET", "/apis")[1]
    assert (groups["kind"], groups["apiVersion"]) == ("APIGroupList", "v1")
    version = {"groupVersion": "apps/v1", "version": "v1"}
    assert {"name": "apps", "versions": [version], "preferredVersion": version} in groups["groups"]
    found = ask(sandbox, "GET", "/api/v1")[1]
    verbs = ["get", "list", "watch", "update", "patch", "delete"]
    assert (found["kind"], found["groupVersion"]) == ("APIResourceList", "v1")
    assert {"name": "pods", "singularName": "pod", "kind": "Pod", "namespaced": True, "verbs": verbs} in found["resources"]
    assert {"name": "nodes", "singularName": "node", "kind": "Node", "namespaced": False, "verbs": verbs} in found["resources"]
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "NotFound", "code": 404}
    assert ask(sandbox, "GET", "/apis/x/v1") == (404, {**status, "message": "the sandbox of a preview does not serve this"})
    assert ask(sandbox, "GET", "/api/v1/nodes/b") == (404, {**status, "message": 'nodes "b" not found'})
    assert list(sandbox.unknown) == ["GET x/v1 "]


def test_requests_that_are_not_served_are_counted(sandbox):
    assert ask(sandbox, "POST", POD, {})[0] == 404
    assert ask(sandbox, "PATCH", f"{POD}/status", ["x"])[0] == 404
    assert ask(sandbox, "DELETE", f"{POD}/status")[0] == 404
    assert ask(sandbox, "POST", "/api/v1/nodes/a/binding", {"target": {"name": "a"}})[0] == 404
    assert sandbox.unknown == {"POST v1 pods": 1, "PATCH v1 pods/status": 1, "DELETE v1 pods/status": 1, "POST v1 nodes/binding": 1}
    assert (sandbox.decisions, sandbox.history, sandbox.answers) == (0, [], {})
    sandbox.unknown.clear()
    # Without the names of objects, so that equal requests are counted together
    for path in ("things/one", "namespaces/n/things/two", "things/one/status"):
        assert ask(sandbox, "GET", f"/apis/x/v1/{path}")[0] == 404
    assert sandbox.unknown == {"GET x/v1 things": 2, "GET x/v1 things/status": 1}


def test_a_marker_follows_each_change_of_pods_with_a_node(sandbox):
    marker = ("preview", "-marker-")
    assert sandbox.mark() == ("ADDED", marker, 1)
    assert sandbox.mark() is None
    ask(sandbox, "POST", f"{POD}/binding", {"target": {"name": "a"}})
    assert (sandbox.mark(), sandbox.decisions) == (("DELETED", marker, 1), 1)
    ask(sandbox, "DELETE", "/api/v1/namespaces/shop/pods/low")
    assert (sandbox.mark(), sandbox.decisions) == (("ADDED", marker, 2), 2)
    # It replaces the bound one.
    sandbox.offer(pod("p"))
    assert (sandbox.mark(), sandbox.answers) == (("DELETED", marker, 2), {})
    # A pod without a node, a pod that is missing, and another kind
    sandbox.offer(pod("p"))
    sandbox.withdraw(("shop", "missing"))
    ask(sandbox, "DELETE", "/api/v1/nodes/a")
    assert (sandbox.decisions, sandbox.mark()) == (2, None)


def test_a_merge_patch_removes_fields_and_keeps_conditions_of_other_types(sandbox):
    ask(sandbox, "PATCH", POD, {"metadata": {"labels": {"app": None, "new": "x"}}, "$patch": "merge"})
    conditions = [{"type": "A", "status": "True"}, {"type": "B", "status": "True"}]
    ask(sandbox, "PATCH", f"{POD}/status", {"status": {"conditions": conditions, "nominatedNodeName": "a"}})
    ask(sandbox, "PATCH", f"{POD}/status", {"status": {"conditions": [{"type": "B", "status": "False"}], "nominatedNodeName": None}})
    found = ask(sandbox, "GET", POD)[1]
    assert (found["metadata"]["labels"], "$patch" in found) == ({"new": "x"}, False)
    assert found["status"] == {
        "phase": "Pending",
        "conditions": [{"type": "A", "status": "True"}, {"type": "B", "status": "False"}],
    }
    assert sandbox.answers == {}


def test_events_of_other_reasons_and_pods_change_no_decision(sandbox):
    ask(sandbox, "DELETE", "/api/v1/namespaces/shop/pods/low")
    path = "/apis/events.k8s.io/v1/namespaces/shop/events"
    regarding = {"namespace": "shop", "name": "low"}
    ask(sandbox, "POST", path, {"reason": "Scheduled", "regarding": regarding, "related": {"uid": "x"}})
    ask(sandbox, "POST", path, {"reason": "Preempted", "regarding": {**regarding, "name": "p"}, "related": {"uid": "x"}})
    assert sandbox.history == [Change(("shop", "low"))]
    assert ask(sandbox, "POST", path, {"reason": "Preempted"}) == (201, {"reason": "Preempted", "metadata": {"name": "event"}})
    assert ask(sandbox, "PATCH", f"{path}/e", {"metadata": {"name": "e"}}) == (200, {"metadata": {"name": "e"}})


def test_a_watch_of_a_kind_that_is_not_served_is_an_error(sandbox):
    with pytest.raises(HTTPError, match="404"):
        urlopen(f"{url(sandbox)}/apis/x/v1/things?watch=true")
    assert json.load(urlopen(f"{url(sandbox)}/api/v1/pods?watch=false"))["kind"] == "PodList"
