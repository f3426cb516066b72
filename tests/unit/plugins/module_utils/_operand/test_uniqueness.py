# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Do two resources claim the same schedulerName (operand/uniqueness.py)?"""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._operand.uniqueness import changed, conditions
from support.operand import resource


def claiming(name, *names, **spec):
    return resource(name, status={"schedulerNames": list(names)}, **spec)


def test_resources_with_the_same_scheduler_name_report_each_other():
    judged = conditions([claiming("a", "batch", "x"), claiming("b", "batch"), claiming("c", "y")])
    assert [judged["ns", name]["status"] for name in "abc"] == ["False", "False", "True"]
    assert "ns/b" in judged["ns", "a"]["message"]
    assert "ns/a" in judged["ns", "b"]["message"]


def test_deleted_and_removed_resources_claim_no_scheduler_name():
    going = claiming("a", "batch")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    judged = conditions([going, claiming("b", "batch", managementState="Removed"), claiming("c", "batch")])
    assert {entry["status"] for entry in judged.values()} == {"True"}


def test_only_statuses_that_become_wrong_are_changed():
    told = [claiming("a", "batch"), claiming("b", "batch")]
    for one in told:
        one["status"]["conditions"] = [conditions(told)["ns", one["metadata"]["name"]]]
    assert changed(told) == []
    assert [found["metadata"]["name"] for found, condition in changed(told[:1])] == ["a"]
    told[0]["status"]["conditions"] = []
    assert changed(told[:1]) == []
