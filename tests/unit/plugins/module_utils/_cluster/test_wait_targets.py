# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What to wait for."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import readiness
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.wait_targets import goals

DEPLOYMENT = Identity("apps/v1", "Deployment", "n", "a")
CONFIG_MAP = Identity("v1", "ConfigMap", "n", "a")
THING = Identity("example.com/v1", "Thing", "n", "a")


def test_only_workloads_of_kubernetes_are_waited_for():
    imitation = Identity("example.com/v1", "Deployment", "n", "a")
    assert goals([CONFIG_MAP, DEPLOYMENT, imitation], True, []) == [(DEPLOYMENT, readiness.rollout)]
    assert goals([DEPLOYMENT], False, []) == []


def test_a_rollout_named_twice_is_one():
    entry = {"kind": "Deployment", "name": "a", "namespace": "n", "rollout": True}
    assert goals([DEPLOYMENT], True, [entry]) == [(DEPLOYMENT, readiness.rollout)]


def test_the_version_comes_from_the_manifests_or_is_well_known():
    entries = [{"kind": kind, "name": "a", "namespace": "n", "condition": {"type": "Ready"}} for kind in ("Thing", "Pod")]
    assert [identity for identity, judge in goals([THING], False, entries)] == [THING, Identity("v1", "Pod", "n", "a")]


@pytest.mark.parametrize(
    ("members", "kind", "words"),
    [
        ([], "Thing", "the manifests do not contain this kind"),
        ([], "Event", "it could be events.k8s.io/v1 or v1"),
        ([THING, Identity("example.com/v2", "Thing", "n", "b")], "Thing", "example.com/v1 or example.com/v2"),
        ([CONFIG_MAP], "ConfigMap", "has no rollout"),
    ],
)
def test_an_entry_that_matches_no_kind_or_several_is_an_error(members, kind, words):
    with pytest.raises(InputError, match=words):
        goals(members, False, [{"kind": kind, "name": "a", "namespace": "n", "rollout": True}])


def test_condition_and_fields_have_to_be_met_together():
    entry = {
        "kind": "Thing",
        "name": "a",
        "namespace": "n",
        "condition": {"type": "Ready", "status": "True", "reason": None},
        "fields": {"status.generations[0].hash": "new"},
    }
    ((_identity, judge),) = goals([THING], False, [entry])

    def live(ready, text):
        conditions = [{"type": "Ready", "status": ready}]
        return {"kind": "Thing", "metadata": {}, "status": {"conditions": conditions, "generations": [{"hash": text}]}}

    assert judge(live("True", "new")).state == readiness.READY
    assert judge(live("False", "new")).state == readiness.PENDING
    assert judge(live("True", "old")) == (readiness.PENDING, "status.generations[0].hash is old and should be new")
    assert "not set" in judge({**live("True", "new"), "status": {"conditions": [{"type": "Ready", "status": "True"}]}}).why


def test_a_rollout_has_to_be_complete_while_the_fields_match():
    """What has rolled out before the fields change does not count."""
    entry = {
        "kind": "Deployment",
        "name": "a",
        "namespace": "n",
        "rollout": True,
        "fields": {"spec.template.metadata.labels['a.b/c']": "new"},
    }
    ((_identity, judge),) = goals([DEPLOYMENT], False, [entry])

    def live(value, updated):
        counts = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": updated, "availableReplicas": 1}
        spec = {"replicas": 1, "template": {"metadata": {"labels": {"a.b/c": value}}}}
        return {"kind": "Deployment", "metadata": {"generation": 1}, "spec": spec, "status": counts}

    assert judge(live("new", 1)).state == readiness.READY
    assert judge(live("old", 1)) == (readiness.PENDING, "spec.template.metadata.labels['a.b/c'] is old and should be new")
    assert judge(live("new", 0)).state == readiness.PENDING
