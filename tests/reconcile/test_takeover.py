# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A reconcile that finds the objects of the upstream operator, for which there is a stand-in (tests/support/upstream.py).

Other tests are in other files: the namespace and the kinds are those of the upstream operator, and go with its installation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from support import upstream
from support.operand import CRD
from support.scheduler import Scheduler, eventually


@pytest.fixture
def upstream_scheduler(kubectl, operator) -> Iterator[Scheduler]:
    """A scheduler that the upstream operator has installed, and that runs; that operator itself is gone."""
    scheduler = Scheduler(kubectl, "cluster", scheduler_name="secondary-scheduler")
    try:
        upstream.install(kubectl, CRD)
        scheduler.write_config()
        scheduler.write()
        upstream.Upstream(kubectl).reconcile()
        operator.run_pods(scheduler)
        yield scheduler
        eventually(lambda: not operator.finalize(scheduler).look_again)
    finally:
        upstream.uninstall(kubectl)


def test_the_objects_of_the_upstream_operator_are_taken_over_in_one_rollout(upstream_scheduler, operator):
    before = upstream_scheduler.resource["spec"]
    assert "observedConfig" in before
    assert set(upstream.found(upstream_scheduler)) > upstream.ALONE
    assert upstream_scheduler.rollouts() == 1

    assert operator.reconcile(upstream_scheduler).failure == ""
    upstream.assert_nothing_left(upstream_scheduler)
    operator.run_pods(upstream_scheduler)
    operator.reconcile(upstream_scheduler)
    assert upstream_scheduler.served(), upstream_scheduler.resource["status"]
    assert upstream_scheduler.rollouts() == 2
    assert upstream_scheduler.resource["spec"] == before
    assert operator.writes(upstream_scheduler) == 0


def test_state_removed_deletes_a_scheduler_that_was_never_taken_over(upstream_scheduler, operator, kubectl):
    """The upstream operator ignores the field, and Unmanaged comes before Removed when a user tries this operator carefully."""
    where = f"--namespace={upstream_scheduler.namespace}"
    changed = {"metadata": {"ownerReferences": None}}
    kubectl("patch", "service", "metrics", where, "--type=merge", f"--patch={json.dumps(changed)}")
    upstream_scheduler.write(managementState="Removed")
    operator.reconcile(upstream_scheduler)
    assert upstream_scheduler.deployment is None
    operator.reconcile(upstream_scheduler)
    assert upstream_scheduler.condition("Available")[:2] == ("False", "Removed")
    assert set(upstream.found(upstream_scheduler)) == {("Service", "metrics")}, "this is a user's now"
    assert operator.writes(upstream_scheduler) == 0


def test_a_deployment_of_a_user_is_neither_deleted_nor_reported_as_removed(upstream_scheduler, operator, kubectl):
    where = f"--namespace={upstream_scheduler.namespace}"
    changed = {"metadata": {"ownerReferences": None}}
    kubectl("patch", "deployment", upstream_scheduler.workload, where, "--type=merge", f"--patch={json.dumps(changed)}")
    upstream_scheduler.write(managementState="Removed")
    operator.reconcile(upstream_scheduler)
    assert upstream_scheduler.deployment
    assert upstream_scheduler.condition("Available")[:2] == ("True", "AsExpected")
    assert not upstream.ALONE & set(upstream.found(upstream_scheduler))


def test_the_deletion_of_a_resource_deletes_the_bindings_of_the_upstream_operator(upstream_scheduler, operator):
    """An invalid configuration has prevented the takeover. Owner references do not reach ClusterRoleBindings."""
    upstream_scheduler.write_config("kind: Nothing")
    operator.reconcile(upstream_scheduler)
    assert set(upstream.found(upstream_scheduler)) > upstream.ALONE
    eventually(lambda: not operator.finalize(upstream_scheduler).look_again)
    assert upstream.found(upstream_scheduler) == {}
