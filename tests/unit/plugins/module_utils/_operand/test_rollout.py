# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What pods depend on, and the memory of it (operand/rollout.py)."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import content_hash
from ansible_collections.osso.scheduler.plugins.module_utils._operand import rollout as rollouts
from ansible_collections.osso.scheduler.plugins.module_utils._operand.decision import requested_rollout
from support.operand import CONFIG, deployment, facts, memory, pod_fields, resource, serving

ROLLOUT = requested_rollout(facts())


@pytest.mark.parametrize(
    ("level", "verbosity"), [("", "-v=2"), ("Normal", "-v=2"), ("Debug", "-v=4"), ("Trace", "-v=6"), ("TraceAll", "-v=8")]
)
def test_the_log_level_sets_the_verbosity_of_the_scheduler(level, verbosity):
    given = rollouts.flags("secondary-scheduler", "ns", level)
    assert given[-1] == verbosity
    assert "--leader-elect-resource-name=secondary-scheduler" in given


@pytest.mark.parametrize(
    ("kubernetes", "completed", "ready"),
    [
        (None, None, "/healthz"),
        ("1.30", {}, "/healthz"),
        ("1.31", {}, "/readyz"),
        ("1.34", None, "/readyz"),
        ("1.34", {"delayCacheUntilActive": True}, "/livez"),
    ],
)
def test_readiness_means_filled_caches_where_the_release_reports_them(kubernetes, completed, ready):
    assert rollouts.health(kubernetes, completed)["ready"] == ready


def test_identity_depends_on_content_alone():
    assert rollouts.identity({"a": 1, "b": [2]}) == rollouts.identity({"b": [2], "a": 1}) != rollouts.identity({"a": 1, "b": [3]})


def test_identity_is_that_of_earlier_releases():
    """With another one, each scheduler would be rolled out again when its operator is updated."""
    assert rollouts.identity({"b": [2, "x"], "a": {"c": None}}) == "691d4b550739"


def test_the_newest_available_rollout_is_remembered():
    old, new = (requested_rollout(facts(config=replace(CONFIG, hash=name))) for name in ("old", "new"))
    secrets = [memory(old).secret, memory(new).secret]
    secrets[1]["metadata"]["annotations"][rollouts.SERVED_AT] = "2026-06-01T00:00:00Z"
    assert rollouts.read_memory(secrets).served == new
    assert rollouts.read_memory(list(reversed(secrets))).served == new


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", json.dumps({"config": "abc"}), json.dumps({**ROLLOUT, "config": "other"}), "[" * 100_000]
)
def test_an_unreadable_annotation_gives_an_empty_memory(text):
    secret = memory(ROLLOUT).secret
    secret["metadata"]["annotations"][rollouts.SERVED] = text
    assert rollouts.read_memory([secret]) == rollouts.Memory()


@pytest.mark.parametrize("data", [None, {}, {"config.yaml": "x"}, {"config.yaml": "/w=="}, {"config.yaml": "Zm9v", "token": "x"}])
def test_a_changed_secret_gives_an_empty_memory(data):
    secret = {**memory(ROLLOUT).secret, "data": data}
    assert rollouts.read_memory([secret]) == rollouts.Memory()


NEWER: rollouts.Rollout = {**ROLLOUT, "image": "image:2"}


def holding(rollout, before=None, failed=None, live=None):
    """A Deployment that says what it holds, and what it remembers."""
    live = live or deployment(rollout)
    live["metadata"]["annotations"] = rollouts.annotations_of_deployment(rollouts.Memory(None, before), rollout, None, failed)
    return live


def test_a_deployment_records_the_rollout_that_was_available_before():
    failed = {"id": "x"}
    began = holding(NEWER, ROLLOUT, failed)
    assert rollouts.deployed(began) == rollouts.identity(NEWER)
    assert rollouts.read_memory([], began) == rollouts.Memory(None, ROLLOUT, failed)
    assert rollouts.read_memory([], deployment(ROLLOUT)) == rollouts.read_memory([], holding(ROLLOUT)) == rollouts.Memory()
    # A Secret has its own record of a failure.
    assert rollouts.read_memory([memory(ROLLOUT, {"id": "y"}).secret], began).failed == {"id": "y"}


def test_a_rollout_was_available_if_its_deployment_or_a_secret_records_it():
    """What was recorded last may be an earlier one: no reconcile has seen yet that this one is complete."""
    earlier = memory({**ROLLOUT, "image": "image:0"}).secret
    assert rollouts.read_memory([earlier], holding(NEWER, ROLLOUT)).served == ROLLOUT
    assert rollouts.read_memory([earlier], holding(NEWER, ROLLOUT, live=serving(NEWER))).served == NEWER
    assert rollouts.read_memory([memory(NEWER).secret], holding(NEWER, ROLLOUT)).served == NEWER
    # Someone changed which one it is said to hold: what the Secrets record is later than what the Deployment says of before.
    other = holding(NEWER, ROLLOUT, live=serving(NEWER))
    other["metadata"]["annotations"]["osso.scheduler/rollout"] = rollouts.identity(ROLLOUT)
    assert rollouts.read_memory([], other).served == ROLLOUT
    assert rollouts.read_memory([memory(NEWER).secret], other).served == NEWER


def edited(manager="kubectl-patch", **added):
    """A Deployment whose pods' spec someone edited."""
    live = serving(NEWER)
    live["spec"]["template"]["spec"].update(added)
    fields = pod_fields({f"f:{name}": {} for name in added})
    live["metadata"]["managedFields"].append({"manager": manager, "operation": "Update", "fieldsV1": fields})
    return live


def taken(field):
    """A Deployment in which someone removed or replaced a field of the container that the operator applied."""
    live = serving(NEWER)
    (container,) = live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:template"]["f:spec"]["f:containers"].values()
    del container[field]
    return live


def strangers():
    return {**serving(NEWER), "metadata": {**serving(NEWER)["metadata"], "managedFields": None}}


def test_pods_of_another_template_and_missing_pods_prove_nothing():
    assert rollouts.serves(serving(NEWER), NEWER)
    for live in (taken("f:image"), taken("f:args"), taken("f:startupProbe"), edited(tolerations=[{"operator": "Exists"}]), strangers()):
        assert not rollouts.serves(live, NEWER)
        assert rollouts.read_memory([], holding(NEWER, ROLLOUT, live=live)).served == ROLLOUT
    # A default of the server, and what no one owns: admission added it.
    for live in (edited(dnsPolicy="ClusterFirst", schedulerName="default-scheduler"), edited("", tolerations=[{"operator": "Exists"}])):
        assert rollouts.serves(live, NEWER)
    assert not rollouts.serves(serving(NEWER, replicas=0), NEWER)
    assert not rollouts.serves(deployment(NEWER), NEWER)
    assert not rollouts.serves(serving(ROLLOUT), NEWER)
    assert not rollouts.serves(None, NEWER)


@pytest.mark.parametrize(
    ("override", "value", "fields"),
    [
        ("affinity", {"nodeAffinity": {}}, {"f:nodeAffinity": {}}),
        ("env", [{"name": "A", "value": "1"}], {'k:{"name":"A"}': {"f:name": {}, "f:value": {}}}),
        ("imagePullPolicy", "Always", {}),
        ("imagePullSecrets", [{"name": "a"}], {'k:{"name":"a"}': {"f:name": {}}}),
        ("nodeSelector", {"a": "b"}, {}),
        ("priorityClassName", "a", {}),
        ("resources", {"limits": {"memory": "1Gi"}}, {"f:limits": {"f:memory": {}}}),
        ("tolerations", [{"operator": "Exists"}], {}),
        ("topologySpreadConstraints", [{"topologyKey": "a"}], {'k:{"topologyKey":"a"}': {"f:topologyKey": {}}}),
        ("volumeMounts", [{"mountPath": "/a", "name": "a"}], {'k:{"mountPath":"/a"}': {"f:mountPath": {}, "f:name": {}}}),
        ("volumes", [{"name": "a", "emptyDir": {}}], {'k:{"name":"a"}': {"f:name": {}, "f:emptyDir": {}}}),
    ],
)
def test_a_deployment_without_a_field_that_was_applied_proves_nothing(override, value, fields):
    if override in ("nodeSelector", "tolerations"):
        rollout = {**NEWER, "placement": {**NEWER["placement"], override: value}}
    else:
        rollout = {**NEWER, "overrides": {override: value}}
    live = serving(rollout)
    assert not rollouts.serves(live, rollout)
    pods = live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:template"]["f:spec"]
    (container,) = pods["f:containers"].values()
    of_container = override in ("env", "imagePullPolicy", "resources", "volumeMounts")
    known = (container if of_container else pods).setdefault(f"f:{override}", {})
    known.update(fields)
    assert rollouts.serves(live, rollout)


def test_the_configuration_of_the_available_rollout_is_found_without_a_record():
    text = "kind: KubeSchedulerConfiguration"
    served = {**NEWER, "config": content_hash(text)}
    secret, other = memory(served, text=text).secret, memory(NEWER, text="kind: Pod").secret
    for one, written in ((secret, "2026-01-01T00:00:00Z"), (other, "2026-01-02T00:00:00Z")):
        one["metadata"].update(annotations={}, creationTimestamp=written)
    found = rollouts.read_memory([other, secret], holding(served, live=serving(served)))
    assert (found.served, found.secret) == (served, secret)
    name = secret["metadata"]["name"]
    assert rollouts.annotations_of(found, name, "now")[rollouts.SERVED_AT] == "now"
    assert rollouts.read_memory([other], holding(served, live=serving(served))).secret is None


def test_nothing_is_written_to_a_deployment_when_its_rollout_is_available():
    began = holding(NEWER, ROLLOUT)
    annotations = began["metadata"]["annotations"]
    assert rollouts.annotations_of_deployment(memory(NEWER), NEWER, began) == annotations
    assert rollouts.SERVED not in rollouts.annotations_of_deployment(memory(ROLLOUT), ROLLOUT, holding(ROLLOUT))
    # What someone else wrote over it is no rollout.
    annotations[rollouts.SERVED] = "garbage{"
    assert json.loads(rollouts.annotations_of_deployment(memory(NEWER), NEWER, began)[rollouts.SERVED]) == NEWER


@pytest.mark.parametrize(
    "changed",
    [
        {"image": 7},
        {"config": 22},
        {"flags": [1, 2]},
        {"flags": "-v=2"},
        {"placement": []},
        {"placement": {"nodeSelector": ["a"], "tolerations": []}},
        {"placement": {"nodeSelector": {"a": 1}, "tolerations": []}},
        {"placement": {"nodeSelector": {}, "tolerations": ["a"]}},
        {"placement": {"nodeSelector": {}, "tolerations": {}}},
        {"overrides": []},
        {"overrides": {"env": "no"}},
        {"serving_cert": "x"},
        {"health": []},
        {"health": "/healthz"},
        {"health": {"live": "/healthz"}},
    ],
)
def test_a_record_of_another_shape_counts_as_absent(changed):
    wrong = json.dumps({**ROLLOUT, **changed})
    secret, live = memory(ROLLOUT).secret, holding(NEWER, ROLLOUT)
    for one in (secret, live):
        one["metadata"]["annotations"][rollouts.SERVED] = wrong
    assert rollouts.read_memory([secret], live) == rollouts.Memory()


def test_deadline_of_an_earlier_rollout_is_not_that_of_this_one():
    overdue = [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]
    assert rollouts.is_overdue(deployment(ROLLOUT, conditions=overdue, updatedReplicas=1))
    assert not rollouts.is_overdue(deployment(ROLLOUT, generation=3, observed=2, conditions=overdue, updatedReplicas=1))
    assert not rollouts.is_overdue(deployment(ROLLOUT, conditions=overdue))


def test_a_crash_while_the_api_server_is_unreachable_is_no_rollout_failure():
    crash = SimpleNamespace(reason="CrashLoopBackOff", message="pod p: unknown flag: --x", crashes=3)
    assert rollouts.is_failing(deployment(ROLLOUT), crash)
    assert not rollouts.is_failing(
        deployment(ROLLOUT), SimpleNamespace(**{**vars(crash), "message": "dial tcp: connect: connection refused"})
    )


def test_a_rollout_that_crashes_before_it_is_recorded_has_failed():
    """It may have been over without any pod, if someone scaled the Deployment."""
    crash = SimpleNamespace(reason="CrashLoopBackOff", message="pod p: panic", crashes=9)
    live = serving(ROLLOUT)
    live["status"].update(availableReplicas=0, conditions=[{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}])
    assert not rollouts.is_complete(live)
    assert rollouts.is_failing(live, crash)
    assert not rollouts.is_failing(serving(ROLLOUT), crash)


@pytest.mark.parametrize(
    ("kubernetes", "completed", "live"),
    [(None, None, "/healthz"), ("1.30", {}, "/healthz"), ("1.31", {}, "/livez"), ("1.34", None, "/livez")],
)
def test_liveness_has_a_path_of_its_own_since_1_31(kubernetes, completed, live):
    assert rollouts.health(kubernetes, completed)["live"] == live


@pytest.mark.parametrize(
    ("secrets", "extra", "said"),
    [
        (rollouts.Secrets(), [], ["-v=4"]),
        (rollouts.Secrets(token=True), [], ["-v=1", "--vmodule=configfile=1,*=4"]),
        (rollouts.Secrets(token=True), ["--logging-format=json"], ["-v=1"]),
        (rollouts.Secrets(password=True), [], ["-v=1"]),
        (rollouts.Secrets(True, True), [], ["-v=1"]),
    ],
)
def test_a_configuration_with_secrets_is_not_logged(secrets, extra, said):
    base = rollouts.flags("w", "ns", "Debug")[:-1]
    assert rollouts.flags("w", "ns", "Debug", ["--tls"], extra, secrets) == [*base, *said, "--tls", *extra]


def test_the_flags_of_a_resource_include_its_log_level_and_overrides():
    found = rollouts.flags_of(resource("batch", logLevel="Trace"), {"args": ["--x"]}, ["--tls"])
    assert found == rollouts.flags("secondary-scheduler-batch", "ns", "Trace", ["--tls"], ["--x"])
    assert rollouts.flags_of(resource(), {}, []) == rollouts.flags("secondary-scheduler", "ns")


AVAILABLE = "HighlyAvailable"
TOPOLOGY = {"nodeSelector": {"a": "1"}, "tolerations": [{"key": "a"}], "maxReplicas": 5}
OVERRIDES = {"nodeSelector": {"b": "2"}, "tolerations": [{"key": "b"}]}


@pytest.mark.parametrize(
    ("topology", "overrides", "placement", "replicas"),
    [
        (None, {}, {"nodeSelector": {}, "tolerations": []}, 1),
        (None, OVERRIDES, OVERRIDES, 1),
        ({"mode": "SingleReplica", "highlyAvailableTopology": TOPOLOGY}, OVERRIDES, OVERRIDES, 1),
        ({"mode": AVAILABLE, "highlyAvailableTopology": TOPOLOGY}, OVERRIDES, {key: TOPOLOGY[key] for key in OVERRIDES}, 5),
        ({"mode": AVAILABLE, "highlyAvailableTopology": None}, OVERRIDES, OVERRIDES, 3),
    ],
)
def test_the_topology_takes_precedence_over_the_overrides(topology, overrides, placement, replicas):
    spec = {"topology": topology}
    assert (rollouts.placement(spec, overrides), rollouts.max_replicas(spec)) == (placement, replicas)


def test_a_deployment_names_its_rollout_and_its_configuration():
    live = deployment(ROLLOUT)
    assert (rollouts.deployed(live), rollouts.configuration(live)) == (rollouts.identity(ROLLOUT), "secondary-scheduler-config-abc")
    live["spec"]["template"]["spec"]["volumes"] = [{"name": "tmp"}, {"name": "config", "configMap": {}}]
    assert rollouts.configuration(live) is None
    nothing = (rollouts.deployed, rollouts.configuration, rollouts.is_complete, rollouts.is_overdue, rollouts.has_served)
    assert [of(None) for of in nothing] == [None, None, False, False, False]
    assert rollouts.is_failing(None, None) is False


@pytest.mark.parametrize(
    ("changed", "served"),
    [
        ({}, True),
        ({"replicas": 2}, False),
        ({"updatedReplicas": 0}, False),
        ({"observedGeneration": 1}, False),
        ({"availableReplicas": 0}, True),
        ({"conditions": [{"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated"}]}, False),
    ],
)
def test_a_rollout_that_was_complete_once_was_available(changed, served):
    live = serving(ROLLOUT)
    live["status"] |= {"conditions": [{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}], **changed}
    assert rollouts.has_served(live) is served


@pytest.mark.parametrize(("crashes", "fails"), [(2, False), (3, True)])
def test_a_rollout_fails_with_the_third_crash(crashes, fails):
    crash = SimpleNamespace(reason="CrashLoopBackOff", message="panic", crashes=crashes)
    assert rollouts.is_failing(deployment(ROLLOUT), crash) is fails


def test_annotations_of_a_secret_record_the_available_rollout():
    kept = memory(ROLLOUT)
    name = kept.secret["metadata"]["name"]
    encoded = json.dumps(ROLLOUT, sort_keys=True, separators=(",", ":"))
    remembered = {rollouts.SERVED: encoded, rollouts.SERVED_AT: "2026-01-01T00:00:00Z"}
    assert rollouts.annotations_of(kept, name, "now") == remembered
    assert rollouts.annotations_of(kept, name, "now", ROLLOUT) == remembered
    assert rollouts.annotations_of(kept, "other", "now") == {}
    assert rollouts.annotations_of(kept, "other", "now", ROLLOUT) == {**remembered, rollouts.SERVED_AT: "now"}
    newer = {**ROLLOUT, "image": "image:2"}
    assert rollouts.annotations_of(kept, name, "now", newer)[rollouts.SERVED_AT] == "now"
    assert rollouts.annotations_of(kept, name, "now", failed={"id": "x"}) == {**remembered, rollouts.FAILED: '{"id":"x"}'}
    assert rollouts.annotations_of(rollouts.Memory(), name, "now", failed={"id": "x"}) == {}
