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
from support.operand import CONFIG, deployment, facts, memory, serving

ROLLOUT = requested_rollout(facts())


@pytest.mark.parametrize(
    ("level", "verbosity"), [("", "-v=2"), ("Normal", "-v=2"), ("Debug", "-v=4"), ("Trace", "-v=6"), ("TraceAll", "-v=8")]
)
def test_U05_flags_of_the_scheduler(level, verbosity):
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
def test_B16_readiness_means_filled_caches_where_the_release_can_say_so(kubernetes, completed, ready):
    assert rollouts.health(kubernetes, completed)["ready"] == ready


def test_identity_depends_on_content_alone():
    assert rollouts.identity({"a": 1, "b": [2]}) == rollouts.identity({"b": [2], "a": 1}) != rollouts.identity({"a": 1, "b": [3]})


def test_the_newest_that_served_is_remembered():
    old, new = (requested_rollout(facts(config=replace(CONFIG, hash=name))) for name in ("old", "new"))
    secrets = [memory(old).secret, memory(new).secret]
    secrets[1]["metadata"]["annotations"][rollouts.SERVED_AT] = "2026-06-01T00:00:00Z"
    assert rollouts.read_memory(secrets).served == new
    assert rollouts.read_memory(list(reversed(secrets))).served == new


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", json.dumps({"config": "abc"}), json.dumps({**ROLLOUT, "config": "other"}), "[" * 100_000]
)
def test_unreadable_memory_is_none(text):
    secret = memory(ROLLOUT).secret
    secret["metadata"]["annotations"][rollouts.SERVED] = text
    assert rollouts.read_memory([secret]) == rollouts.Memory()


@pytest.mark.parametrize("data", [None, {}, {"config.yaml": "x"}, {"config.yaml": "/w=="}, {"config.yaml": "Zm9v", "token": "x"}])
def test_memory_of_a_secret_that_someone_changed_is_none(data):
    secret = {**memory(ROLLOUT).secret, "data": data}
    assert rollouts.read_memory([secret]) == rollouts.Memory()


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
