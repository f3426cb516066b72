# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What pods depend on, and the memory of it (operand/rollout.py)."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._operand import rollout as rollouts
from ansible_collections.osso.scheduler.plugins.module_utils._operand.decision import requested_rollout
from support.operand import CONFIG, deployment, facts, memory, resource, serving

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
def test_readiness_means_filled_caches_where_the_release_can_say_so(kubernetes, completed, ready):
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


def test_a_deployment_has_a_copy_of_the_memory_as_of_when_its_rollout_began():
    served, failed = memory(ROLLOUT), {"id": "x"}
    newer = {**ROLLOUT, "image": "image:2"}
    began = rollouts.annotations_of_deployment(served, newer, None, failed)
    assert list(began) == ["osso.scheduler/rollout", rollouts.SERVED, rollouts.FAILED]
    live = {"metadata": {"annotations": began}}
    assert rollouts.deployed(live) == rollouts.identity(newer)
    assert rollouts.read_memory([], live) == rollouts.Memory(None, ROLLOUT, failed)
    assert rollouts.read_memory([memory(newer).secret], live).served == newer
    # It comes to serve, and the copy stays as it is; only a first rollout has none.
    assert rollouts.annotations_of_deployment(memory(newer), newer, live, failed) == began
    assert list(rollouts.annotations_of_deployment(served, ROLLOUT, deployment(ROLLOUT))) == ["osso.scheduler/rollout"]
    assert rollouts.read_memory([], deployment(ROLLOUT)) == rollouts.read_memory([]) == rollouts.Memory()


def test_deadline_of_an_earlier_rollout_is_not_that_of_this_one():
    overdue = [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]
    assert rollouts.is_overdue(deployment(ROLLOUT, conditions=overdue, updatedReplicas=1))
    assert not rollouts.is_overdue(deployment(ROLLOUT, generation=3, observed=2, conditions=overdue, updatedReplicas=1))
    assert not rollouts.is_overdue(deployment(ROLLOUT, conditions=overdue))


def test_crash_for_want_of_the_api_server_is_no_failure_of_the_rollout():
    crash = SimpleNamespace(reason="CrashLoopBackOff", message="pod p: unknown flag: --x", crashes=3)
    assert rollouts.is_failing(deployment(ROLLOUT), crash)
    assert not rollouts.is_failing(
        deployment(ROLLOUT), SimpleNamespace(**{**vars(crash), "message": "dial tcp: connect: connection refused"})
    )


def test_rollout_that_was_over_once_fails_no_more():
    crash = SimpleNamespace(reason="CrashLoopBackOff", message="pod p: panic", crashes=9)
    live = serving(ROLLOUT)
    live["status"].update(availableReplicas=0, conditions=[{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}])
    assert not rollouts.is_complete(live)
    assert not rollouts.is_failing(live, crash)


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
def test_the_topology_goes_before_the_overrides(topology, overrides, placement, replicas):
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
def test_a_rollout_that_was_over_once_has_served(changed, served):
    live = serving(ROLLOUT)
    live["status"] |= {"conditions": [{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}], **changed}
    assert rollouts.has_served(live) is served


@pytest.mark.parametrize(("crashes", "fails"), [(2, False), (3, True)])
def test_a_rollout_fails_with_the_third_crash(crashes, fails):
    crash = SimpleNamespace(reason="CrashLoopBackOff", message="panic", crashes=crashes)
    assert rollouts.is_failing(deployment(ROLLOUT), crash) is fails


def test_annotations_of_a_secret_remember_what_serves():
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
