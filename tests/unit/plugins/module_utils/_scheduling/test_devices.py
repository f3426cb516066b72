# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a cluster lacks for dynamic resource allocation."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import config_validation, devices

V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
OFF = V1 + "profiles: [{plugins: {multiPoint: {disabled: [{name: DynamicResources}]}}}]\n"
GATE = ("--feature-gates=DynamicResourceAllocation=true",)
GROUPS = {"apps": ["v1"], "resource.k8s.io": ["v1", "v1beta2"]}


def rule(resources, verbs, groups=("resource.k8s.io",)):
    return {"apiGroups": list(groups), "resources": resources.split(), "verbs": verbs.split()}


READ = rule("resourceclaims deviceclasses resourceslices", "get list watch")
WRITE = rule("resourceclaims/status", "update patch")


@pytest.mark.parametrize(
    ("kubernetes", "flags", "text", "groups", "told"),
    [
        ("1.34", (), V1, GROUPS, ""),
        ("1.37", (), V1, GROUPS, ""),
        ("1.37", (), V1, {"apps": ["v1"]}, "the API server serves no version of resource.k8s.io: the scheduler places no pod"),
        ("1.34", (), V1, {"resource.k8s.io": ["v1beta2", "v1beta1"]}, "serves only resource.k8s.io/v1beta1, v1beta2: the"),
        (
            "1.33",
            GATE,
            V1,
            GROUPS,
            "which reads resource.k8s.io/v1beta1 in Kubernetes 1.33, but the API server serves only resource.k8s.io/v1, v1beta2",
        ),
        ("1.33", (), V1, {}, ""),  # off by default
        ("1.25", (), V1, {}, ""),
        ("1.37", (), OFF, {}, ""),
        ("1.37", (), V1, None, ""),
        (None, (), V1, {}, ""),
    ],
)
def test_an_unserved_version_that_the_scheduler_reads_is_a_warning(kubernetes, flags, text, groups, told):
    target = config_validation.Target(kubernetes, "option", "in-tree", "option")
    result = config_validation.validate(text, target, flags, groups=groups)
    found = [finding for finding in result.findings if finding.code.startswith("dra-")]
    assert [finding.code for finding in found] == ["dra-api"] * bool(told)
    assert all(told in finding.message and finding.severity == "warning" for finding in found)


def test_a_version_skew_that_explains_the_problem_is_the_only_finding():
    target = config_validation.resolve_target("registry.k8s.io/kube-scheduler:v1.34.1", None, None, (), lambda: "v1.33.0")
    given = ((), (), "registry.k8s.io/kube-scheduler:v1.34.1", "v1.33.0", {"resource.k8s.io": ["v1beta1"]})
    assert [finding.code for finding in config_validation.validate(V1, target, *given).findings] == ["version-skew"]


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ([READ, WRITE], ""),
        ([rule("*", "*", ("*",))], ""),
        (
            [
                rule("resourceclaims resourceclaims/status", "get list watch patch update"),
                rule("deviceclasses resourceslices", "get list watch"),
            ],
            "",
        ),
        ([READ], "patch resourceclaims/status, update resourceclaims/status."),
        ([rule("resourceclaims deviceclasses", "get list watch"), WRITE], "get resourceslices, list resourceslices, watch resourceslices."),
        ([{**READ, "resourceNames": ["one"]}, WRITE], "get resourceclaims, list resourceclaims, watch resourceclaims, get deviceclasses"),
        ([rule("resourceclaims deviceclasses resourceslices", "get list watch", ("",)), WRITE], "get resourceclaims"),
        (None, "get resourceclaims"),
    ],
)
def test_missing_permissions_of_the_role_are_named(rules, told):
    effective = check(V1, "1.34", "in-tree").effective
    found = devices.unreadable(effective, {"rules": rules})
    assert [finding.code for finding in found] == ["dra-permissions"] * bool(told)
    assert all(told in finding.message for finding in found)


def test_permissions_that_are_unknown_or_not_needed_are_not_missing():
    assert devices.unreadable(check(V1, "1.34", "in-tree").effective, None) == []
    assert devices.unreadable(check(OFF, "1.34", "in-tree").effective, {"rules": []}) == []
