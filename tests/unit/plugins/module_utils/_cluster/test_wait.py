# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waiting for objects: where a server does not let one watch, and for workloads whose pods cannot start."""

from __future__ import annotations

import json
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import readiness, timestamps, wait
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from support.api_server import ApiServer, connect, status

OBJECT = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}


def first_version(*answers):
    """The object as it comes first, from a server that answers so."""
    with ApiServer.running() as server:
        server.answers = list(answers)
        client = connect(server.url, retry_seconds=0)
        target = SimpleNamespace(identity=Identity("v1", "Namespace", None, "a"), resource=client.resource("v1", "Namespace"))
        return next(wait._versions(client, target, SimpleNamespace(remaining=lambda: 60)))


def ended(code, reason):
    """A watch that the server ends with an error."""
    return (200, json.dumps({"type": "ERROR", "object": status(code, reason)}).encode() + b"\n")


def test_after_a_timeout_the_object_is_read_from_the_server():
    """Its cache was behind what it had told itself ("Too large resource version")."""
    assert first_version(ended(504, "Timeout"), (200, OBJECT)) == OBJECT


def test_an_unauthorized_watch_is_an_error():
    with pytest.raises(ApiError):
        first_version(ended(401, "Unauthorized"), (200, OBJECT))


def pod(template, created, **container):
    metadata = {
        "name": f"{template}-{created}",
        "creationTimestamp": f"2026-01-01T00:00:0{created}Z",
        "labels": {"pod-template-hash": template},
    }
    return {"metadata": metadata, "status": {"containerStatuses": [{"name": "main", "ready": False, **container}]}}


UNPULLABLE = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}}
CRASHING = {"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 3}
LEAK = 'I1 1 a.go:1] "x"\nE1122 10:00:00.000000       1 run.go:72] "command failed" err="no kind; token: sha256~planted"'
LEAKING = {"lastState": {"terminated": {"exitCode": 1, "message": LEAK}}, **CRASHING}
STARTING = {"state": {"waiting": {"reason": "ContainerCreating"}}}


NOW = timestamps.parse("2026-01-01T00:10:00Z")


def waited(monkeypatch, live, pods, events=()):
    """The message with which a wait of a second for these states of a Deployment and its pods fails; None if it does not. The last state stays."""
    monkeypatch.setattr(wait, "_PODS_SECONDS", 0)
    monkeypatch.setattr(wait, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(wait, "GRACE_SECONDS", 0)
    metadata = {"name": "app", "namespace": "n", "generation": 1}
    about = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}
    states = [{**about, "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "app"}}, **one[0]}, "status": one[1]} for one in live]
    seen = iter([("ADDED", one) for one in states])
    listed = iter(pods)

    def list_objects(kind, _namespace, label_selector=None, field_selector=None):
        if kind == "Event":
            return [event for event in events if field_selector == f"reason={event['reason']}"]
        return next(listed, pods[-1])

    client = SimpleNamespace(
        watch=lambda *args, **options: iter([next(seen, ("MODIFIED", states[-1]))]),
        resource=lambda *args: args[1],
        list=list_objects,
        server_time=lambda: NOW,
    )
    target = wait.Target(Identity("apps/v1", "Deployment", "n", "app"), "Deployment", readiness.rollout)
    try:
        wait.until_ready(client, [target], wait.Deadline(1))
    except ClusterError as failure:
        return failure.message
    return None


UNPROBED, PROBED = ({"template": {"spec": {"containers": [{"name": "main", **probe}]}}} for probe in ({}, {"readinessProbe": {}}))
BEGUN = {"observedGeneration": 1}
AVAILABLE = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "readyReplicas": 1}


def running(second, spec=UNPROBED, restarts=0):
    """A pod that was started ten minutes before NOW, less so many seconds."""
    state = {
        "state": {"running": {"startedAt": f"2026-01-01T00:{second // 60:02}:{second % 60:02}Z"}},
        "ready": True,
        "restartCount": restarts,
    }
    return [{**pod("new", 2, **state), "spec": spec["template"]["spec"]}]


@pytest.mark.parametrize(
    ("spec", "pods", "says"),
    [
        (UNPROBED, [running(595), running(500)], None),
        (UNPROBED, [running(595)], "container main has no readiness probe and was started less than 10 s ago"),
        (UNPROBED, [[pod("new", 2, **{**CRASHING, "restartCount": 2})], running(500, restarts=2)], None),
        (UNPROBED, [[pod("new", 2, **CRASHING)]], "container main is CrashLoopBackOff"),
        (PROBED, [running(595, PROBED)], None),
        (PROBED, [running(580, PROBED, restarts=2)], "container main was restarted 2 times, the last time less than 60 s ago"),
    ],
    ids=["later steady", "new", "after a crash", "crash", "probed", "restarted"],
)
def test_a_pod_that_is_available_for_a_moment_is_not_ready(monkeypatch, spec, pods, says):
    """A container without a readiness probe counts as available as soon as it runs, even if it crashes after some seconds."""
    pods = [[{"spec": spec["template"]["spec"], **one} for one in each] for each in pods]
    message = waited(monkeypatch, [(spec, BEGUN), (spec, AVAILABLE)], pods)
    assert (message is None) is (says is None), message
    assert (says or "") in (message or "")


@pytest.mark.parametrize(("since", "watched"), [("00:09:55", True), ("00:08:00", False)], ids=["between two crashes", "long ago"])
def test_a_workload_that_was_ready_before_is_checked_without_a_request(since, watched):
    """A run between two crashes finds a Deployment that has just become available again."""
    available = {"type": "Available", "status": "True", "lastTransitionTime": f"2026-01-01T{since}Z"}
    live = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "app", "namespace": "n", "generation": 1},
        "spec": {"replicas": 1, **UNPROBED},
        "status": {**AVAILABLE, "conditions": [available]},
    }

    def watch(*_args, **_options):
        raise Watched

    target = wait.Target(Identity("apps/v1", "Deployment", "n", "app"), "Deployment", readiness.rollout)
    client = SimpleNamespace(watch=watch, server_time=lambda: NOW)
    with pytest.raises(Watched) if watched else nullcontext():
        wait.until_ready(client, [target], wait.Deadline(60), {target.identity: live})


class Watched(Exception):
    """The wait goes on."""


def test_pods_that_may_not_be_created_end_the_wait(monkeypatch):
    denied = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "no PriorityClass with name x was found"}
    message = waited(monkeypatch, [(PROBED, {"observedGeneration": 1, "conditions": [denied]})], [[]])
    assert message.startswith("Will not become ready. Deployment n/app: "), message
    assert "ReplicaFailure is True (FailedCreate): no PriorityClass with name x was found" in message


@pytest.mark.parametrize(
    ("state", "reason", "message", "expected"),
    [
        (
            {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
            "Unhealthy",
            "Readiness probe failed: HTTP probe failed with statuscode: 404",
            "container main runs but is not ready: Readiness probe failed: HTTP probe failed with statuscode: 404",
        ),
        (
            {"waiting": {"reason": "ContainerCreating"}},
            "FailedMount",
            'MountVolume.SetUp failed for volume "a"',
            'container main is ContainerCreating: MountVolume.SetUp failed for volume "a"',
        ),
    ],
    ids=["probe", "volume"],
)
def test_events_of_pods_that_are_not_ready_are_reported(monkeypatch, state, reason, message, expected):
    unready = {**pod("new", 2, state=state), "spec": PROBED["template"]["spec"]}
    unready["metadata"]["uid"] = "u"
    events = [{"reason": reason, "involvedObject": {"uid": "u"}, "message": message}]
    assert expected in waited(monkeypatch, [(PROBED, BEGUN)], [[unready]], events)


@pytest.mark.parametrize(
    ("pods", "says"),
    [
        ([pod("new", 2, **UNPULLABLE)], "container main is ImagePullBackOff: not found"),
        ([pod("new", 2, **CRASHING)], "container main is CrashLoopBackOff"),
        ([pod("new", 2, **LEAKING)], "it ended with exit code 1: no kind"),
        ([pod("new", 2, **STARTING)], None),
        ([pod("new", 2, **{**CRASHING, "restartCount": 2})], None),
        ([pod("old", 1, **UNPULLABLE), pod("new", 2, **STARTING)], None),
    ],
    ids=["image", "crash", "leak", "starting", "twice", "before"],
)
def test_pods_that_cannot_start_end_the_wait(monkeypatch, pods, says):
    """before its timeout, with the reason; pods of the template before count for nothing"""
    monkeypatch.setattr(wait, "_PODS_SECONDS", 0)
    monkeypatch.setattr(wait, "GRACE_SECONDS", 0)
    live = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "app", "namespace": "n", "generation": 1},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "app"}}},
        "status": {"observedGeneration": 1},
    }
    client = SimpleNamespace(
        watch=lambda *args, **options: iter([("ADDED", live)] * 3), resource=lambda *args: args[1], list=lambda *args, **options: pods
    )
    target = wait.Target(Identity("apps/v1", "Deployment", "n", "app"), "Deployment", readiness.rollout)
    with pytest.raises(ClusterError) as failure:
        wait.until_ready(client, [target], wait.Deadline(60 if says else 1))
    assert failure.value.message.startswith("Will not become ready. Deployment n/app: " if says else "Not ready after 1 s (wait_timeout). ")
    assert (says or "") in failure.value.message
    assert "planted" not in failure.value.message


CONFIG_MAP = Identity("v1", "ConfigMap", "n", "a")


class Server:
    """Answers reads and watches with the next of these; an exception is raised."""

    def __init__(self, *reads, watches=()):
        self.reads, self.watches, self.seen = list(reads), list(watches), []

    def get(self, resource, name, namespace):
        self.seen.append("get")
        answer = self.reads.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def watch(self, resource, namespace, field_selector, timeout, resource_version=None):
        self.seen.append(f"watch {namespace} {field_selector} {resource_version}")
        answer = self.watches.pop(0)
        if isinstance(answer, Exception):
            raise answer
        yield from answer


def live(uid="u", ready="no"):
    return {
        "kind": "ConfigMap",
        "metadata": {"name": "a", "uid": uid, "resourceVersion": "7", "finalizers": ["f"]},
        "data": {"ready": ready},
    }


def until_gone(server, seconds=60):
    wait.until_gone(server, [(CONFIG_MAP, object(), "u")], wait.Deadline(seconds))
    return server.seen


WATCH = "watch n metadata.name=a 7"


@pytest.mark.parametrize(
    ("reads", "watches", "seen"),
    [
        ([None], [], ["get"]),
        ([live("another")], [], ["get"]),
        ([live()], [[("MODIFIED", live()), ("DELETED", live())]], ["get", WATCH]),
        ([live(), None], [[("MODIFIED", live())]], ["get", WATCH, "get"]),
        *(([live(), live(), None], [ApiError(status, "", "")], ["get", WATCH, "get", "get"]) for status in (403, 404, 405, 410, 504)),
    ],
)
def test_the_wait_for_a_deletion_ends_when_the_object_is_deleted(monkeypatch, reads, watches, seen):
    monkeypatch.setattr(wait, "_POLL_SECONDS", 0)
    assert until_gone(Server(*reads, watches=watches)) == seen


def test_the_error_names_the_finalizers_of_an_object_that_is_not_deleted():
    message = (
        "Not deleted after 0 s (wait_timeout). ConfigMap n/a: held by finalizers f, which the controllers that put them there have to remove; "
        "it is no longer marked for deletion: it was created again"
    )
    with pytest.raises(ClusterError) as failure:
        until_gone(Server(live()), seconds=0)
    assert failure.value.message == message
    with pytest.raises(ApiError):
        until_gone(Server(live(), watches=[ApiError(500, "", "")]))


def judged(obj):
    state = {"no": readiness.PENDING, "yes": readiness.READY, "never": readiness.FAILED}[obj["data"]["ready"]]
    return readiness.Verdict(state, f"it says {obj['data']['ready']}")


def until_ready(server, seconds=60, known=None):
    target = wait.Target(CONFIG_MAP, object(), judged)
    return wait.until_ready(server, [target], wait.Deadline(seconds), known)


def test_objects_that_are_ready_already_cause_no_request():
    server = Server()
    assert until_ready(server, known={CONFIG_MAP: live(ready="yes")}) == {CONFIG_MAP: live(ready="yes")}
    assert server.seen == []


def test_the_object_is_returned_as_last_seen():
    server = Server(watches=[[("ADDED", live()), ("DELETED", live()), ("ADDED", live(ready="yes"))]])
    assert until_ready(server, known={CONFIG_MAP: None}) == {CONFIG_MAP: live(ready="yes")}
    assert server.seen == ["watch n metadata.name=a None"]


@pytest.mark.parametrize(
    ("versions", "known", "ends"),
    [
        (["never"], {CONFIG_MAP: None}, True),
        (["no", "never"], {CONFIG_MAP: live(ready="never")}, True),
        (["never", "yes"], {CONFIG_MAP: live(ready="never")}, False),
    ],
)
def test_a_failure_counts_only_if_it_is_new(versions, known, ends):
    server = Server(watches=[[("MODIFIED", live(ready=one)) for one in versions]])
    if not ends:
        assert until_ready(server, known=known)[CONFIG_MAP] == live(ready="yes")
        return
    with pytest.raises(ClusterError) as failure:
        until_ready(server, known=known)
    assert failure.value.message == "Will not become ready. ConfigMap n/a: it says never"


def test_an_old_failure_that_stays_ends_the_wait_after_a_minute(monkeypatch):
    monkeypatch.setattr(wait, "RECOVERY_SECONDS", 0)
    with pytest.raises(ClusterError, match="Will not become ready"):
        until_ready(Server(watches=[[("ADDED", live(ready="never"))]]), known={CONFIG_MAP: live(ready="never")})


def test_the_end_of_the_time_names_each_object_that_is_not_ready():
    other = wait.Target(CONFIG_MAP._replace(name="b"), object(), judged)
    third = wait.Target(CONFIG_MAP._replace(name="c"), object(), judged)
    targets = [wait.Target(CONFIG_MAP, object(), judged), other, third]
    with pytest.raises(ClusterError) as failure:
        wait.until_ready(Server(None, live(ready="yes")), targets, wait.Deadline(0))
    assert failure.value.message == (
        "Not ready after 0 s (wait_timeout). ConfigMap n/a: it does not exist | ConfigMap n/b: it does not exist"
    )


def test_pods_of_a_workload_are_the_newest_first():
    class Pods(Server):
        def resource(self, api_version, kind):
            return kind

        def list(self, resource, namespace, label_selector):
            self.seen.append((resource, namespace, label_selector))
            return [pod("old", 1), pod("new", 3), pod("new", 2)]

    server = Pods()
    workload = {"kind": "Deployment", "metadata": {"namespace": "n"}, "spec": {"selector": {"matchLabels": {"b": "2", "a": "1"}}}}
    found = wait.pods_of(server, workload)
    assert [one["metadata"]["name"] for one in found] == ["new-3", "new-2", "old-1"]
    assert [one["metadata"]["name"] for one in wait.of_newest_template(found)] == ["new-3", "new-2"]
    assert server.seen == [("Pod", "n", "a=1,b=2")]
    for other in (None, {**workload, "kind": "Thing"}, {**workload, "spec": {}}):
        assert wait.pods_of(server, other) == []
    assert len(server.seen) == 1
