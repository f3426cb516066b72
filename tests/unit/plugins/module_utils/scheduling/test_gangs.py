# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Gangs of scheduler-plugins become gangs of Kubernetes (scheduling/gangs.py)."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.gangs import OLD_API, OLD_LABEL, CannotConvert, convert

GROUP = {"apiVersion": OLD_API, "kind": "PodGroup", "metadata": {"name": "model", "namespace": "n"}}


def labelled(**spec) -> dict:
    return {"metadata": {"labels": {OLD_LABEL: "model", "app": "a"}}, "spec": {"containers": [], **spec}}


CONVERTED = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [], "schedulingGroup": {"podGroupName": "model"}}}


def test_a_pod_group_keeps_its_name_and_the_number_of_its_pods():
    old = {**GROUP, "spec": {"minMember": 3, "minResources": {"cpu": 3}, "scheduleTimeoutSeconds": 60}, "status": {"phase": "Running"}}
    before = copy.deepcopy(old)
    spec = {"schedulingPolicy": {"gang": {"minCount": 3}}}
    assert convert(old) == {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": GROUP["metadata"], "spec": spec}
    assert old == before


@pytest.mark.parametrize("count", [None, 0, "3", True])
def test_a_pod_group_without_a_number_of_pods_is_refused(count):
    with pytest.raises(CannotConvert, match=f"PodGroup model: spec.minMember is {count!r}: give"):
        convert({**GROUP, "spec": {"minMember": count}})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"kind": "Pod", **labelled()}, {"kind": "Pod", **CONVERTED}),
        ({"kind": "Job", "spec": {"template": labelled()}}, {"kind": "Job", "spec": {"template": CONVERTED}}),
        (
            {"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": labelled()}}}},
            {"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": CONVERTED}}}},
        ),
    ],
    ids=["pod", "job", "cron job"],
)
def test_pods_name_their_group_in_a_field(old, new):
    assert convert(old) == new
    assert convert(new) == new, "what is converted stays as it is"


def test_other_manifests_stay_as_they_are():
    for manifest in ({"kind": "ConfigMap", "data": {"a": "b"}}, {"kind": "Pod", "metadata": {"labels": None}, "spec": {}}):
        assert convert(manifest) == manifest


def test_two_groups_of_one_pod_are_refused():
    with pytest.raises(CannotConvert, match=r"names model and spec\.schedulingGroup\.podGroupName other: remove one"):
        convert({"kind": "Pod", **labelled(schedulingGroup={"podGroupName": "other"})})
