# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A reconcile that finds the objects of the upstream operator, for which there is a stand-in (tests/support/upstream.py).

The file has no other test: the namespace and the kinds are those of the upstream operator, and go with its installation.
"""

from __future__ import annotations

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
