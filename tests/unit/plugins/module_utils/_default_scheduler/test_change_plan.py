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


def test_only_what_is_said_is_written():
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
def test_dead_policy_is_emptied(policy, clear, spec):
    made = planned({"clear_policy": clear}, {"policy": {"name": policy}})
    assert (made.refusals, [one["spec"] for one in made.manifests]) == ([], [spec])


def test_dead_policy_is_refused_unless_it_is_to_go():
    (refusal,) = planned({"profile": "NoScoring"}, {"policy": {"name": "mine"}}).refusals
    assert "spec.policy.name is mine" in refusal
    assert "default_scheduler_clear_policy" in refusal
    assert planned({"clear_policy": True}).manifests == []


def test_dynamic_resource_allocation_by_release():
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


def test_overrides_need_a_word_more():
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
def test_what_makes_a_new_revision(wanted, scheduler, kube_scheduler, new):
    assert planned(wanted, scheduler, kube_scheduler).new_revision is new


def test_what_became_of_a_change_makes_a_new_revision():
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


def test_debug_logging_goes_on_as_long_as_something_will_end_it():
    notes = {"osso.scheduler/log-level": "Trace", "osso.scheduler/back-to": "Normal", "osso.scheduler/until": "1000"}
    role, job = {"metadata": {"annotations": notes}}, {"metadata": {}}

    def told(*args):
        found = debug_logging_of(*args)
        return found["active"], found["noted"], found["back_to"]

    assert told(role, job, 999.5) == (True, True, "Normal")
    assert told(role, job, 1000) == (False, True, "Normal")
    assert told(role, None, 10) == (False, True, "Normal")
    assert told(None, None, 10) == (False, False, "")
