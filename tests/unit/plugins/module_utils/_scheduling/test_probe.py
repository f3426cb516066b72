# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The probe pod, and what is reported of it."""

from __future__ import annotations

import time

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.probe import (
    Observation,
    Options,
    dry_run,
    manifest,
    probe,
    report,
)


def observation(options, seconds=None, running=None, events=(), deleted=False, status=None, **spec) -> Observation:
    pod = manifest(options, "osso-probe-1")
    pod["spec"].update(spec)
    pod["status"] = status or {}
    return Observation(pod, seconds, running, deleted, list(events))


def event(reason, message="", component="s", kind="Normal") -> dict:
    return {"time": "", "type": kind, "reason": reason, "message": message, "component": component, "instance": ""}


def refusal(message="0/1 nodes are available") -> dict:
    return {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]}


def test_the_probes_own_labels_override_given_labels():
    pod = manifest(Options("s", labels={"a": "b", "app.kubernetes.io/name": "x"}), "osso-probe-1")
    assert pod["metadata"]["labels"]["a"] == "b"
    assert pod["metadata"]["labels"]["app.kubernetes.io/name"] == "scheduler-probe"


def test_the_probe_pod_tolerates_the_nodes_of_a_pool():
    own = {"key": "gpu", "operator": "Exists"}
    pool = {"key": "osso.scheduler/pool", "operator": "Exists", "effect": "NoSchedule"}
    assert manifest(Options("s", tolerations=[own]), "osso-probe-1")["spec"]["tolerations"] == [own, pool]


@pytest.mark.parametrize(("options", "says"), [({"scheduler_name": ""}, "scheduler_name is empty"), ({"timeout": 0}, "timeout is 0")])
def test_an_empty_name_and_a_timeout_of_zero_are_rejected(options, says):
    with pytest.raises(InputError, match=says):
        Options(**{"scheduler_name": "s", **options})


@pytest.mark.parametrize(
    ("seen", "options", "expected", "says"),
    [
        (
            {"nodeName": "n", "seconds": 0.1, "events": [event("Scheduled")]},
            {},
            True,
            "s placed the probe pod on n after 0.1 s.",
        ),
        ({"nodeName": "n", "seconds": 0.1}, {}, True, "a scheduler that left no event placed"),
        ({"nodeName": "n", "seconds": 0.1}, {"expect": "unplaced"}, False, "expected not to be placed"),
        ({"nodeName": "n", "seconds": 0.1, "running": 1.5}, {"running": True}, True, "running after 1.5 s"),
        (
            {
                "nodeName": "n",
                "status": {"containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull", "message": "gone"}}}]},
            },
            {"running": True},
            False,
            "ErrImagePull: gone. Its events: kubectl -n default get events --field-selector involvedObject.name=osso-probe-1",
        ),
        (
            {"nodeName": "n", "status": {"phase": "Failed", "reason": "OutOfcpu", "message": "no cpu"}},
            {"running": True},
            False,
            "OutOfcpu: no cpu",
        ),
        (
            {},
            {},
            False,
            "no running scheduler has the name s: none has processed the pod. List the schedulers and their names: ansible localhost",
        ),
        ({}, {"expect": "unplaced"}, True, "no running scheduler has the name s"),
        ({"status": refusal()}, {"expect": "unplaced"}, True, "s did not place the probe pod: 0/1 nodes are available"),
        ({"status": refusal()}, {}, False, "Its events: kubectl"),
        ({"events": [event("FailedScheduling", "no room", "other")]}, {}, False, "no room"),
        ({"schedulerName": "x"}, {}, False, "an admission webhook changed schedulerName to x"),
        ({"deleted": True}, {}, False, "another client deleted the pod"),
    ],
)
def test_the_report_shows_whether_and_why_the_placement_is_as_expected(seen, options, expected, says):
    options = Options("s", **options)
    result = report(observation(options, **seen), options)
    assert result["as_expected"] is expected
    assert says in result["msg"]
    assert result["placed"] is ("nodeName" in seen)


def test_a_repeated_reason_is_reported_once():
    options = Options("s")
    result = report(
        observation(
            options,
            status=refusal("full"),
            events=[event("FailedScheduling", "full"), event("FailedScheduling", "fuller")],
        ),
        options,
    )
    assert result["reasons"] == ["full", "fuller"]


@pytest.mark.parametrize(
    ("seen", "options", "finished"),
    [
        ({}, {}, False),
        ({"nodeName": "n"}, {}, True),
        ({"nodeName": "n"}, {"running": True}, False),
        ({"nodeName": "n", "running": 1.0}, {"running": True}, True),
        ({"nodeName": "n", "status": {"phase": "Failed"}}, {"running": True}, True),
        ({"status": refusal()}, {}, False),
        ({"status": refusal()}, {"expect": "unplaced"}, True),
        ({"nodeName": "n"}, {"expect": "unplaced"}, True),
        ({"deleted": True}, {}, True),
    ],
)
def test_waiting_ends_with_the_expected_or_a_final_outcome(seen, options, finished):
    options = Options("s", **options)
    assert observation(options, **seen).finished(options) is finished


class Server:
    """Answers as the client does. create: the error of a POST, delete: that of a DELETE."""

    def __init__(self, create=None, delete=None):
        self.errors = {"create": create, "delete": delete}
        self.deleted = []

    def resource(self, _api_version, kind):
        return kind

    def create(self, _kind, pod):
        if self.errors["create"]:
            raise self.errors["create"]
        return {**pod, "metadata": {**pod["metadata"], "uid": "u", "resourceVersion": "1"}, "spec": {**pod["spec"], "nodeName": "n"}}

    def list(self, *_args, **_options):
        return [{"metadata": {}, "reason": "Scheduled", "reportingComponent": "s"}]

    def delete(self, _kind, name, _namespace, grace_period=None):
        self.deleted.append(name)
        if self.errors["delete"]:
            raise self.errors["delete"]


GONE = ApiError(0, "Unreachable", "it cannot be reached", method="POST", never_sent=True)
UNANSWERED = ApiError(0, "Unreachable", "no answer in time", method="POST")


def forbidden() -> ApiError:
    return ApiError(403, "Forbidden", "pods is forbidden", method="POST")


@pytest.mark.parametrize(
    ("server", "tried", "says"),
    [
        (Server(GONE, GONE), 0, ""),
        (Server(forbidden(), forbidden()), 0, ""),
        (Server(UNANSWERED, GONE), 1, "It is unknown whether the pod osso-probe-"),
        (Server(None, forbidden()), 1, " is left over (pods is forbidden); delete it: kubectl -n default delete pod osso-probe-"),
    ],
)
def test_only_a_pod_that_was_created_is_left_over(server, tried, says):
    with pytest.raises(ClusterError) as failure:
        probe(server, Options("s"))
    assert len(server.deleted) == tried
    assert says in failure.value.message
    assert ("left over" in failure.value.message) is ("left over" in says)
    assert ("unknown whether" in failure.value.message) is ("unknown whether" in says)


class SlowServer:
    """It answers the creation after 20 s. Then the pod is placed."""

    def __init__(self, monkeypatch):
        self.now = 0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def resource(self, api_version, kind):
        return kind

    def create(self, pods, pod):
        self.now += 20
        return {**pod, "metadata": {**pod["metadata"], "uid": "u", "resourceVersion": "1"}}

    def watch(self, pods, namespace, timeout, **query):
        assert timeout == 5
        yield "MODIFIED", {"metadata": {"name": "osso-probe-1", "uid": "u", "resourceVersion": "2"}, "spec": {"nodeName": "n"}}

    def list(self, events, namespace, field_selector):
        self.now += 1
        return [{"metadata": {}, "reason": "Scheduled", "reportingComponent": "s"}]

    def delete(self, pods, name, namespace, grace_period):
        pass


def test_a_slow_api_server_is_no_slow_scheduler(monkeypatch):
    """The time that a scheduler has begins with the answer to the creation."""
    assert probe(SlowServer(monkeypatch), Options("s", timeout=5))["placed"]


def test_the_shortest_timeout_is_one_second():
    assert Options("s", timeout=1).timeout == 1
    with pytest.raises(InputError, match="timeout is 0: give at least 1 second"):
        Options("s", timeout=0)


def test_the_probe_pod_is_restricted():
    """What the level ``restricted`` of Pod Security requires, and no access to the API."""
    spec = manifest(Options("s"), "osso-probe-1")["spec"]
    assert spec["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    (container,) = spec["containers"]
    security = container["securityContext"]
    assert (security["allowPrivilegeEscalation"], security["capabilities"]) == (False, {"drop": ["ALL"]})
    assert spec["automountServiceAccountToken"] is False


def test_the_probe_pod_has_all_given_options():
    options = Options(
        "s",
        namespace="n",
        image="i:1",
        labels={"a": "b"},
        node_selector={"zone": "z"},
        resources={"requests": {"cpu": "1"}},
        priority_class_name="high",
        image_pull_secrets=["p"],
    )
    made = manifest(options, "osso-probe-1")
    container = made["spec"].pop("containers")[0]
    assert made == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "osso-probe-1",
            "namespace": "n",
            "labels": {
                "a": "b",
                "app.kubernetes.io/name": "scheduler-probe",
                "app.kubernetes.io/managed-by": "osso.scheduler",
                "osso.scheduler/probe": "osso-probe-1",
            },
        },
        "spec": {
            "schedulerName": "s",
            "nodeSelector": {"zone": "z"},
            "tolerations": [{"key": "osso.scheduler/pool", "operator": "Exists", "effect": "NoSchedule"}],
            "imagePullSecrets": [{"name": "p"}],
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            "priorityClassName": "high",
        },
    }
    assert container == {
        "name": "pause",
        "image": "i:1",
        "resources": {"requests": {"cpu": "1"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True},
    }
    assert "priorityClassName" not in manifest(Options("s"), "osso-probe-1")["spec"]


class DryRun:
    """Answers the dry run of a creation with this error."""

    def __init__(self, error=None):
        self.error, self.seen = error, []

    def resource(self, api_version, kind):
        return f"{api_version} {kind}"

    def create(self, resource, pod, dry_run=False):
        self.seen.append((resource, pod["metadata"]["namespace"], dry_run))
        if self.error:
            raise self.error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (None, "The API server accepts the probe pod; check mode places none."),
        (ApiError(404, "NotFound", "no", {"kind": "namespaces"}), "The namespace n does not exist yet, so nothing was checked."),
    ],
)
def test_check_mode_only_validates_the_pod(error, message):
    client = DryRun(error)
    expected = {"placed": None, "scheduler": None, "node": None, "reasons": [], "events": [], "msg": message}
    assert dry_run(client, Options("s", namespace="n")) == expected
    assert client.seen == [("v1 Pod", "n", True)]


@pytest.mark.parametrize(
    "error", [ApiError(404, "NotFound", "no", {"kind": "priorityclasses"}), ApiError(403, "Forbidden", "no", {"kind": "namespaces"})]
)
def test_a_rejected_probe_pod_is_an_error_that_names_the_namespace(error):
    with pytest.raises(ApiError) as failure:
        dry_run(DryRun(error), Options("s", namespace="n"))
    assert failure.value.message == "The probe pod could not be created in the namespace n: no"


def live_event(reason, second, **fields):
    return {"metadata": {"creationTimestamp": f"2026-01-01T00:00:{second:02}Z"}, "reason": reason, **fields}


class Placing(Server):
    """Places the pod with these events, or with an error where they are read."""

    def __init__(self, *events, error=None, **node):
        super().__init__()
        self.events, self.error, self.selectors = list(events), error, []

    def list(self, resource, namespace, field_selector):
        self.selectors.append((resource, namespace, field_selector))
        if self.error:
            raise self.error
        return self.events


def test_the_result_of_a_probe_has_all_its_fields():
    scheduled = live_event("Scheduled", 2, type="Normal", message="m", source={"component": "s", "host": "h"})
    pulled = live_event("Pulled", 9, eventTime="2026-01-01T00:00:01Z", reportingComponent="kubelet", reportingInstance="n")
    server = Placing(scheduled, pulled)
    result = probe(server, Options("s"))
    (name,) = server.deleted
    seconds = result.pop("seconds")
    assert result == {
        "placed": True,
        "scheduler": "s",
        "node": "n",
        "seconds_running": None,
        "reasons": [],
        "events": [
            {"time": "2026-01-01T00:00:01Z", "type": "", "reason": "Pulled", "message": "", "component": "kubelet", "instance": "n"},
            {"time": "2026-01-01T00:00:02Z", "type": "Normal", "reason": "Scheduled", "message": "m", "component": "s", "instance": "h"},
        ],
        "pod": {"namespace": "default", "name": name},
        "msg": f"s placed the probe pod on n after {seconds} s.",
    }
    assert server.selectors == [("Event", "default", "involvedObject.uid=u")]


def test_events_that_cannot_be_read_are_a_warning():
    result = probe(Placing(error=ApiError(403, "Forbidden", "no")), Options("s"))
    assert (result["placed"], result["scheduler"], result["events"]) == (True, None, [])
    assert result["warnings"] == ["The events in default can't be read, so it is unknown which scheduler placed it: no"]


def test_a_result_that_is_not_as_expected_is_a_failure_with_the_result():
    server = Placing(live_event("Scheduled", 1, reportingComponent="s"))
    with pytest.raises(ClusterError) as failure:
        probe(server, Options("s", expect="unplaced"))
    assert failure.value.message.endswith(" s, though it was expected not to be placed.")
    assert (failure.value.result["placed"], failure.value.result["node"]) == (True, "n")
    assert "as_expected" not in failure.value.result
    assert len(server.deleted) == 1


def test_the_observation_of_a_pod_keeps_the_first_time_of_each_state():
    options = Options("s")
    seen = observation(options)
    pod = {"metadata": {"name": "p"}, "spec": {}, "status": None}
    seen.see(pod, 1.23456)
    assert (seen.seconds, seen.seconds_running, seen.phase, seen.node) == (None, None, "", None)
    pod = {**pod, "spec": {"nodeName": "n"}, "status": {"phase": "Running"}}
    seen.see(pod, 2.34567)
    seen.see(pod, 3)
    assert (seen.seconds, seen.seconds_running, seen.name, seen.node) == (2.346, 2.346, "p", "n")


def test_the_event_identifies_the_scheduler_that_did_not_place_a_pod():
    options = Options("s")
    events = [event("FailedScheduling", component=""), event("FailedScheduling", component="a"), event("Scheduled", component="b")]
    assert observation(options, events=events).scheduler == "a"
    assert observation(options, events=events, nodeName="n").scheduler == "b"
    assert observation(options).scheduler is None


def test_a_pod_that_does_not_run_is_reported_with_its_reasons():
    options = Options("s", running=True)
    statuses = [{"state": {"waiting": {"reason": "ErrImagePull"}}}, {"state": {"running": {}}}, {}]
    events = [event("Failed", "no image", kind="Warning"), event("Pulling", "pulls")]
    found = observation(options, nodeName="n", events=events, status={"containerStatuses": statuses})
    assert report(found, options)["reasons"] == ["ErrImagePull", "no image"]
    assert report(observation(options, nodeName="n", running=1.0, events=events), options)["reasons"] == []
    gated = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}
    assert report(observation(Options("s"), status=gated), Options("s"))["reasons"] == ["SchedulingGated"]
