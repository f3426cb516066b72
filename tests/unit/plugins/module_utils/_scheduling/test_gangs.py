# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Gangs of scheduler-plugins become gangs of Kubernetes (scheduling/gangs.py)."""

from __future__ import annotations

import copy

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.presets import configuration
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.gangs import (
    API,
    OLD_API,
    OLD_LABEL,
    CannotConvert,
    convert,
    unserved,
)

DEFAULT = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
SERVED = {"scheduling.k8s.io": ["v1", "v1beta1"]}

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
def test_a_pod_group_without_a_number_of_pods_is_rejected(count):
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
        (
            {"kind": "JobSet", "spec": {"replicatedJobs": [{"template": {"spec": {"template": labelled()}}}]}},
            {"kind": "JobSet", "spec": {"replicatedJobs": [{"template": {"spec": {"template": CONVERTED}}}]}},
        ),
        (
            {"kind": "List", "items": [{**GROUP, "spec": {"minMember": 2}}, {"kind": "Pod", **labelled()}]},
            {
                "kind": "List",
                "items": [
                    {**GROUP, "apiVersion": API, "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}},
                    {"kind": "Pod", **CONVERTED},
                ],
            },
        ),
    ],
    ids=["pod", "job", "cron job", "job set", "list"],
)
def test_pods_name_their_group_in_a_field(old, new):
    assert convert(old) == new
    assert convert(new) == new, "what is converted stays as it is"


@pytest.mark.parametrize(
    "selector", [{"matchLabels": {OLD_LABEL: "model"}}, {"matchExpressions": [{"key": OLD_LABEL, "operator": "Exists"}]}]
)
def test_a_label_that_a_selector_requires_stays(selector):
    made = convert({"kind": "Deployment", "spec": {"selector": selector, "template": labelled()}})
    assert made["spec"]["template"] == labelled(schedulingGroup={"podGroupName": "model"})
    assert convert(made) == made


@pytest.mark.parametrize(
    ("manifest", "told"),
    [
        ("kind: Pod", "'kind: Pod' is no manifest: give a list of mappings"),
        ({**GROUP, "spec": "three"}, "PodGroup model: spec.minMember is None: give"),
        (
            {"kind": "Pod", "metadata": {"labels": {OLD_LABEL: 5}}, "spec": {"containers": []}},
            "Pod without a name: the label .* is 5: give the name",
        ),
    ],
)
def test_manifests_that_cannot_be_read_are_rejected(manifest, told):
    with pytest.raises(CannotConvert, match=told):
        convert(manifest)


def test_other_manifests_stay_as_they_are():
    for manifest in (
        {"kind": "ConfigMap", "data": {"a": "b"}},
        {"kind": "Pod", "metadata": {"labels": None}, "spec": {}},
        {"kind": "Pod", "spec": "text"},
    ):
        assert convert(manifest) == manifest


def test_two_groups_of_one_pod_are_rejected():
    with pytest.raises(CannotConvert, match=r"names model and spec\.schedulingGroup\.podGroupName other: remove one"):
        convert({"kind": "Pod", **labelled(schedulingGroup={"podGroupName": "other"})})


@pytest.mark.parametrize(
    ("kubernetes", "groups", "told"),
    [
        ("1.37", SERVED, False),
        ("1.37", {"scheduling.k8s.io": ["v1"]}, True),
        ("1.37", {}, True),
        ("1.36", SERVED, True),  # its gangs are of another version
        ("1.36", {"scheduling.k8s.io": ["v1", "v1alpha2"]}, False),
        ("1.35", {"scheduling.k8s.io": ["v1alpha1"]}, False),
        ("1.34", {}, False),
        (None, {}, False),
    ],
)
def test_an_api_server_without_gangs_is_named(kubernetes, groups, told):
    text = yaml.safe_dump(configuration("gang_scheduling"))
    effective = check(text, "1.37").effective
    found = unserved(effective, kubernetes, groups)
    assert [finding.code for finding in found] == ["gang-api"] * told
    assert all(f"in Kubernetes {kubernetes}, but the API server does not serve it" in finding.message for finding in found)
    assert unserved(check(DEFAULT, "1.37").effective, kubernetes, groups) == []
