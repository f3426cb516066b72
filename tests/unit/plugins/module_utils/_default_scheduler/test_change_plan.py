# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is written to OpenShift's resources, and what is refused (F130, F132 to F135, F140 to F142)."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._default_scheduler.change_plan import plan, restarts
from ansible_collections.osso.scheduler.plugins.module_utils._default_scheduler.state import debug_logging_of
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.releases import OpenShift

CLUSTER = OpenShift(4, 18)


def planned(wanted, scheduler=None, kube_scheduler=None, release=CLUSTER):
    return plan(wanted, {"spec": scheduler or {}}, {"spec": kube_scheduler or {}}, release)


def test_only_given_options_are_written():
    assert planned({}).manifests == []
    scheduler, kube_scheduler = planned(
        {
            "profile": "NoScoring",
            "masters_schedulable": False,
            "default_node_selector": "",
            "log_level": "Debug",
            "failed_revision_limit": 0,
        }
    ).manifests
    assert (scheduler["kind"], scheduler["metadata"]) == ("Scheduler", {"name": "cluster"})
    assert scheduler["spec"] == {"profile": "NoScoring", "mastersSchedulable": False, "defaultNodeSelector": ""}
    assert kube_scheduler["spec"] == {"logLevel": "Debug", "failedRevisionLimit": 0}


@pytest.mark.parametrize(("policy", "clear", "spec"), [("mine", True, {"policy": {"name": ""}}), ("", True, {"policy": {"name": ""}})])
def test_clear_policy_empties_the_name_of_the_policy(policy, clear, spec):
    made = planned({"clear_policy": clear}, {"policy": {"name": policy}})
    assert (made.refusals, [one["spec"] for one in made.manifests]) == ([], [spec])


def test_an_obsolete_policy_is_rejected_unless_it_is_to_be_cleared():
    (refusal,) = planned({"profile": "NoScoring"}, {"policy": {"name": "mine"}}).refusals
    assert "spec.policy.name is mine" in refusal
    assert "default_scheduler_clear_policy" in refusal
    assert planned({"clear_policy": True}).manifests == []


def test_the_release_decides_what_dynamic_resource_allocation_does():
    wanted = {"dynamic_resource_allocation": "Enabled"}
    (refusal,) = planned(wanted, release=OpenShift(4, 15)).refusals
    assert "OpenShift 4.15 has no such customization" in refusal
    made = planned(wanted, release=OpenShift(4, 18))
    assert made.manifests[0]["spec"] == {"profileCustomizations": {"dynamicResourceAllocation": "Enabled"}}
    assert made.new_revision
    assert "TechPreviewNoUpgrade" in made.warnings[0]
    made = planned(wanted, release=OpenShift(4, 21))
    assert (made.manifests, made.refusals, made.new_revision) == ([], [], False)
    assert "does nothing since OpenShift 4.21" in made.warnings[0]


def test_unsupported_overrides_need_an_explicit_confirmation():
    wanted = {"unsupported_config_overrides": {"arguments": {"v": "9"}}}
    (refusal,) = planned(wanted).refusals
    assert "default_scheduler_i_understand_unsupported_overrides" in refusal
    assert planned({**wanted, "i_understand_unsupported_overrides": True}).refusals == []


@pytest.mark.parametrize(
    ("wanted", "scheduler", "kube_scheduler", "new"),
    [
        ({"profile": "NoScoring"}, {}, {}, True),
        ({"profile": "LowNodeUtilization"}, {}, {}, False),
        ({"profile": "NoScoring"}, {"profile": "NoScoring"}, {}, False),
        (
            {"masters_schedulable": True, "default_node_selector": "a=b", "operator_log_level": "Debug", "succeeded_revision_limit": 3},
            {},
            {},
            False,
        ),
        ({"log_level": "Normal"}, {}, {}, False),
        ({"log_level": "Normal"}, {}, {"logLevel": "Debug"}, True),
        ({"force_redeployment_reason": "a"}, {}, {}, True),
        ({"force_redeployment_reason": "a"}, {}, {"forceRedeploymentReason": "a"}, False),
    ],
)
def test_only_changes_that_affect_the_scheduler_make_a_new_revision(wanted, scheduler, kube_scheduler, new):
    assert planned(wanted, scheduler, kube_scheduler).new_revision is new


def test_effective_changes_and_removals_cause_a_new_revision():
    """Also what was taken away, which nobody asked for by name"""
    assert restarts(({}, {"unsupportedConfigOverrides": {"arguments": {}}}), ({}, {}))
    assert restarts(({"profile": "NoScoring"}, {}), ({}, {}))
    assert not restarts(
        ({"profile": ""}, {"logLevel": ""}), ({"profile": "LowNodeUtilization"}, {"logLevel": "Normal", "operatorLogLevel": "Debug"})
    )


@pytest.mark.parametrize(("level", "warnings"), [("Debug", 0), ("Trace", 1)])
def test_log_level_is_not_written_while_it_is_raised_for_a_time(level, warnings):
    raised = {"active": True, "level": "TraceAll", "back_to": "Debug", "until": "2026-01-01T12:00:00Z"}
    wanted = {"log_level": level, "failed_revision_limit": 3}
    made = plan(wanted, {"spec": {}}, {"spec": {"logLevel": "TraceAll"}}, 18, raised)
    assert [one["spec"] for one in made.manifests] == [{"failedRevisionLimit": 3}]
    assert not made.new_revision
    assert len(made.warnings) == warnings
    over = plan(wanted, {"spec": {}}, {"spec": {"logLevel": "TraceAll"}}, 18, {**raised, "active": False})
    assert over.manifests[0]["spec"]["logLevel"] == level


def test_debug_logging_is_active_only_while_a_job_will_end_it():
    notes = {"osso.scheduler/log-level": "Trace", "osso.scheduler/back-to": "Normal", "osso.scheduler/until": "1000"}
    role, job = {"metadata": {"annotations": notes}}, {"metadata": {}}

    def told(*args):
        found = debug_logging_of(*args)
        return found["active"], found["noted"], found["back_to"]

    assert told(role, job, 999.5) == (True, True, "Normal")
    assert told(role, job, 1000) == (False, True, "Normal")
    assert told(role, None, 10) == (False, True, "Normal")
    assert told(None, None, 10) == (False, False, "")


EVERY_OPTION = {
    "profile": "NoScoring",
    "dynamic_resource_allocation": "Disabled",
    "masters_schedulable": True,
    "default_node_selector": "a=b",
    "log_level": "TraceAll",
    "operator_log_level": "Debug",
    "force_redeployment_reason": "again",
    "failed_revision_limit": 1,
    "succeeded_revision_limit": 2,
    "unsupported_config_overrides": {"arguments": {"v": "9"}},
    "i_understand_unsupported_overrides": True,
    "clear_policy": True,
}


def test_every_option_has_its_field():
    made = planned(EVERY_OPTION, {"policy": {"name": "mine"}})
    assert made.manifests == [
        {
            "apiVersion": "config.openshift.io/v1",
            "kind": "Scheduler",
            "metadata": {"name": "cluster"},
            "spec": {
                "profile": "NoScoring",
                "profileCustomizations": {"dynamicResourceAllocation": "Disabled"},
                "mastersSchedulable": True,
                "defaultNodeSelector": "a=b",
                "policy": {"name": ""},
            },
        },
        {
            "apiVersion": "operator.openshift.io/v1",
            "kind": "KubeScheduler",
            "metadata": {"name": "cluster"},
            "spec": {
                "logLevel": "TraceAll",
                "operatorLogLevel": "Debug",
                "forceRedeploymentReason": "again",
                "failedRevisionLimit": 1,
                "succeededRevisionLimit": 2,
                "unsupportedConfigOverrides": {"arguments": {"v": "9"}},
            },
        },
    ]
    assert made.refusals == []
    assert made.warnings == ["default_scheduler_log_level is TraceAll, which is -v=10: every score of every node is logged for each pod."]
    assert made.new_revision is True


def test_options_that_are_none_are_not_written():
    assert planned(dict.fromkeys(EVERY_OPTION)) == ([], [], [], False)


def test_clear_policy_changes_only_the_policy():
    (made,) = planned({"clear_policy": True}, {"policy": {"name": "mine"}, "profile": "NoScoring"}).manifests
    assert (made["kind"], made["spec"]) == ("Scheduler", {"policy": {"name": ""}})


@pytest.mark.parametrize(
    ("release", "written", "refusals", "warnings"),
    [((4, 15), 0, 1, 0), ((4, 16), 1, 0, 1), ((4, 20), 1, 0, 1), ((4, 21), 0, 0, 1), (None, 1, 0, 1)],
)
def test_dynamic_resource_allocation_is_written_from_4_16_to_4_20(release, written, refusals, warnings):
    made = planned({"dynamic_resource_allocation": "Enabled"}, release=release and OpenShift(*release))
    assert (len(made.manifests), len(made.refusals), len(made.warnings)) == (written, refusals, warnings)
    disabled = planned({"dynamic_resource_allocation": "Disabled"}, release=OpenShift(4, 18))
    assert (disabled.warnings, disabled.new_revision) == ([], False)


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ({"dynamicResourceAllocation": "Enabled"}, "Enabled", False),
        ({"dynamicResourceAllocation": "Enabled"}, "Disabled", True),
        (None, "Disabled", False),
        ({"dynamicResourceAllocation": ""}, "Disabled", False),
    ],
)
def test_a_customization_makes_a_new_revision_where_it_changes(before, after, new):
    assert planned({"dynamic_resource_allocation": after}, {"profileCustomizations": before}).new_revision is new


def test_overrides_make_a_new_revision_where_they_change():
    wanted = {"unsupported_config_overrides": {"a": 1}, "i_understand_unsupported_overrides": True}
    assert planned(wanted).new_revision is True
    assert planned(wanted, None, {"unsupportedConfigOverrides": {"a": 1}}).new_revision is False
    assert planned({"unsupported_config_overrides": {}}, None, {}).refusals == []


def test_a_level_that_is_raised_for_a_time_is_named_with_its_end():
    raised = {"active": True, "level": "TraceAll", "back_to": "Normal", "until": "2026-01-01T12:00:00Z"}
    made = plan({"log_level": "Debug"}, {}, {}, CLUSTER, raised)
    assert made.manifests == []
    assert made.warnings == [
        (
            "default_scheduler_log_level is Debug, but the log level is TraceAll for a time and goes back to Normal at 2026-01-01T12:00:00Z: it is not "
            "written before. End that with osso.scheduler.revert to have it at once."
        )
    ]
    other = plan({"profile": "NoScoring"}, {}, {}, CLUSTER, raised)
    assert ([one["spec"] for one in other.manifests], other.warnings) == ([{"profile": "NoScoring"}], [])
