# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What OpenShift's operator writes for each profile (F131): compared with texts as its Go code makes them."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.openshift import (
    UnknownRelease,
    differences,
    release_of,
    rendered,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables import openshift as table
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.releases import OPENSHIFT, OpenShift
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import IN_TREE

# From 4.16 on: the profile's asset through Go structs, and the default configuration over it.
LOW = """
{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",
 "clientConnection":{"acceptContentTypes":"","burst":0,"contentType":"","qps":0,
   "kubeconfig":"/etc/kubernetes/static-pod-resources/configmaps/scheduler-kubeconfig/kubeconfig"},
 "enableProfiling":false,"enableContentionProfiling":false,
 "leaderElection":{"leaderElect":true,"leaseDuration":"137s","renewDeadline":"107s","retryPeriod":"26s",
   "resourceLock":"leases","resourceName":"","resourceNamespace":"openshift-kube-scheduler"}}
"""
HIGH = """
[{"schedulerName":"default-scheduler",
  "pluginConfig":[{"name":"NodeResourcesFit","args":{"scoringStrategy":{"type":"MostAllocated"}}}],
  "plugins":{"preEnqueue":{},"queueSort":{},"preFilter":{},"filter":{},"postFilter":{},"preScore":{},
    "score":{"enabled":[{"name":"NodeResourcesFit","weight":5}],"disabled":[{"name":"NodeResourcesBalancedAllocation"}]},
    "reserve":{},"permit":{},"preBind":{},"bind":{},"postBind":{},"multiPoint":{}}}]
"""
NONE = """
[{"schedulerName":"default-scheduler",
  "plugins":{"preEnqueue":{},"queueSort":{},"preFilter":{},"filter":{},"postFilter":{},
    "preScore":{"disabled":[{"name":"*"}]},"score":{"disabled":[{"name":"*"}]},
    "reserve":{},"permit":{},"preBind":{},"bind":{},"postBind":{},"multiPoint":{}}}]
"""
# 4.10 and 4.12: assets and default configuration as they are
OLD = """
{"apiVersion":"kubescheduler.config.k8s.io/v1beta3","kind":"KubeSchedulerConfiguration",
 "clientConnection":{"kubeconfig":"/etc/kubernetes/static-pod-resources/configmaps/scheduler-kubeconfig/kubeconfig"},
 "leaderElection":{"leaderElect":true,"leaseDuration":"137s","renewDeadline":"107s","retryPeriod":"26s",
   "resourceLock":"configmapsleases","resourceNamespace":"openshift-kube-scheduler"}}
"""
RELEASES = [release for release in OPENSHIFT if release >= table.OLDEST]


@pytest.mark.parametrize("minor", range(16, 23))
@pytest.mark.parametrize(
    ("profile", "profiles"), [("", None), ("LowNodeUtilization", None), ("HighNodeUtilization", HIGH), ("NoScoring", NONE)]
)
def test_profiles_match_the_recorded_text_of_each_release(minor, profile, profiles):
    expected = {**json.loads(LOW), **({"profiles": json.loads(profiles)} if profiles else {})}
    assert rendered(f"4.{minor}", profile) == expected


def test_openshift_4_23_adds_two_extension_points():
    """Kubernetes 1.36 has two more extension points, whose empty sets the operator writes, too."""
    (profile,) = rendered("4.23", "NoScoring")["profiles"]
    (before,) = rendered("4.22", "NoScoring")["profiles"]
    assert {point: profile["plugins"][point] for point in set(profile["plugins"]) - set(before["plugins"])} == {
        "placementGenerate": {},
        "placementScore": {},
    }


def test_older_releases_write_other_fields():
    assert rendered("4.10") == json.loads(OLD)
    off = {"enableProfiling": False, "enableContentionProfiling": False}
    assert rendered("4.12") == {**json.loads(OLD), **off}
    leases = json.loads(OLD)
    leases["leaderElection"]["resourceLock"] = "leases"
    assert rendered("4.14") == {**leases, **off}
    assert rendered("4.15") == {**leases, **off, "apiVersion": "kubescheduler.config.k8s.io/v1"}
    (profile,) = rendered("4.15", "NoScoring")["profiles"]
    assert profile == {
        "schedulerName": "default-scheduler",
        "plugins": {point: {"disabled": [{"name": "*"}]} for point in ("preScore", "score")},
    }


@pytest.mark.parametrize("release", RELEASES, ids=str)
@pytest.mark.parametrize("profile", table.PROFILES)
def test_kube_scheduler_of_the_release_accepts_each_profile(release, profile):
    judged = check(json.dumps(rendered(str(release), profile)), f"openshift-{release}", IN_TREE)
    assert judged.valid, judged.findings


def test_the_plugin_dynamic_resources_is_added_only_from_4_16_to_4_20():
    """F132: 4.16 to 4.20 put the plugin into the first profile, and make one where there is none; later releases do nothing"""
    for minor in range(16, 21):
        (profile,) = rendered(f"4.{minor}", "", dynamic_resource_allocation=True)["profiles"]
        assert profile["plugins"]["multiPoint"] == {"enabled": [{"name": "DynamicResources"}]}
        assert "schedulerName" not in profile
        (profile,) = rendered(f"4.{minor}", "NoScoring", dynamic_resource_allocation=True)["profiles"]
        assert (profile["schedulerName"], "enabled" in profile["plugins"]["multiPoint"]) == ("default-scheduler", True)
    for minor in (15, 21, 22, 23):
        assert rendered(f"4.{minor}", "", dynamic_resource_allocation=True) == rendered(f"4.{minor}")


@pytest.mark.parametrize(
    ("text", "release"),
    [("4.18", (4, 18)), ("4.18.3", (4, 18)), ("openshift-4.18", (4, 18)), ("4.18.0-rc.1", (4, 18)), ("5.0.0-ec.2", (5, 0))],
)
def test_releases_are_parsed_from_version_texts(text, release):
    assert release_of(text) == release


def test_5_0_writes_what_4_23_writes():
    assert rendered("5.0.1", "NoScoring") == rendered("4.23.1", "NoScoring")
    assert OPENSHIFT[OpenShift(5, 0)] == OPENSHIFT[OpenShift(4, 23)]


@pytest.mark.parametrize(("text", "profile"), [("4.9", ""), ("4.24.0", ""), ("5.1.0", ""), ("1.31", ""), ("", ""), ("4.18", "Mine")])
def test_unknown_releases_and_profiles_are_rejected(text, profile):
    with pytest.raises(UnknownRelease):
        rendered(text, profile)


def test_differences_name_the_field():
    live = rendered("4.18", "HighNodeUtilization")
    assert differences(rendered("4.18", "HighNodeUtilization"), live) == []
    live["leaderElection"]["retryPeriod"] = "2s"
    live["parallelism"] = 3
    del live["enableProfiling"]
    live["profiles"][0]["plugins"]["score"]["enabled"][0]["weight"] = 1
    assert sorted(differences(rendered("4.18", "HighNodeUtilization"), live)) == [
        "enableProfiling: expected False, is missing",
        "leaderElection.retryPeriod: expected '26s', is '2s'",
        "parallelism: not expected, is 3",
        "profiles[0].plugins.score.enabled[0].weight: expected 5, is 1",
    ]
