# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Conditions, times and the progress of Deployments as the API server writes them."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import conditions, timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.deployments import progress

READY = {"type": "Ready", "status": "True"}


@pytest.mark.parametrize("odd", [None, "text", {}, {"type": "Ready"}, {"status": "True"}, 1])
def test_an_invalid_condition_counts_as_absent(odd):
    live = {"status": {"conditions": [odd, READY]}}
    assert conditions.conditions_of(live) == [READY]
    assert conditions.find(live, "Ready") == READY
    assert conditions.is_true(live, "Ready")


@pytest.mark.parametrize("live", [None, {}, {"status": None}, {"status": {"conditions": None}}, {"status": {"conditions": "text"}}])
def test_an_object_without_usable_conditions_has_none(live):
    assert conditions.conditions_of(live) == []
    assert conditions.find(live, "Ready") == {}
    assert not conditions.is_true(live, "Ready")


def test_fractions_of_a_second_are_dropped_from_times():
    moment = timestamps.parse("2026-01-01T00:00:01Z")
    assert timestamps.parse("2026-01-01T00:00:01.999999Z") == moment
    assert timestamps.write(moment) == "2026-01-01T00:00:01Z"
    assert timestamps.seconds_between("2026-01-01T00:00:00Z", "2026-01-01T01:00:00.5Z") == 3600


@pytest.mark.parametrize("text", [None, "", "yesterday", "2026-01-01T00:00:00", "2026-01-01T00:00:00+01:00", "2026-02-30T00:00:00Z"])
def test_text_that_is_no_utc_time_is_rejected(text):
    with pytest.raises(ValueError, match=r"time|day"):
        timestamps.parse(text)


def deployment(observed=1, **counts):
    return {"metadata": {"generation": 1}, "spec": {"replicas": 2}, "status": {"observedGeneration": observed, **counts}}


def test_a_rollout_is_complete_when_all_replicas_and_no_others_are_available():
    over = dict.fromkeys(("replicas", "updatedReplicas", "availableReplicas"), 2)
    assert progress(deployment(**over)).complete
    assert not progress(deployment(observed=0, **over)).complete
    for change in ({"replicas": 3}, {"updatedReplicas": 1}, {"availableReplicas": 1}, dict.fromkeys(over, 3)):
        assert not progress(deployment(**{**over, **change})).complete
    assert not progress({"metadata": {}, "spec": {}}).complete
