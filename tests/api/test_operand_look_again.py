# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When a reconcile has the operator look again (operand_info and operand_report)."""

from __future__ import annotations

import pytest
from support.scheduler import Scheduler


@pytest.fixture
def scheduler(kubectl, namespace, secondary_scheduler_kind):
    scheduler = Scheduler(kubectl, "batch", namespace)
    scheduler.write()
    return scheduler


@pytest.fixture
def report(scheduler, run_module):
    """report(**options) is what operand_report returns for the resource as it is now."""

    def run(**options):
        return run_module("operand_report", {"resource": scheduler.resource, **options})

    return run


@pytest.fixture
def reconcile(scheduler, run_module, report):
    """What a reconcile of the resource that finds an obstacle returns."""
    return lambda: report(operand=run_module("operand_info", {"resource": scheduler.resource, "ask_image": False}))


def seconds(told) -> int:
    """As long as nothing has changed, which a slow machine makes longer."""
    return int(told["look_again"].removesuffix("s"))


def test_only_a_config_map_that_does_not_exist_is_looked_for(scheduler, reconcile, kubectl):
    assert reconcile()["look_again"] == "10s"
    assert scheduler.condition("ConfigValid")[1] == "ConfigMapMissing"
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": scheduler.name, "namespace": scheduler.namespace}}
    kubectl.apply({**config_map, "data": {"other": ""}})
    # Once more, so that the operator begins to watch what has just got its annotation.
    assert seconds(reconcile()) >= 10
    for data in ({"other": ""}, {"config.yaml": "kind: Pod\n"}):
        kubectl.apply({**config_map, "data": data})
        assert reconcile()["look_again"] == ""
    assert scheduler.condition("ConfigValid")[1] == "ConfigInvalid"


def test_a_failure_is_tried_again_at_once_and_then_ever_more_rarely(scheduler, reconcile, report):
    """At once, which the operator does for a failure of the play."""
    first, second = report(error="the API server refuses it"), report(error="it does so again")
    assert (first["failure"], first["look_again"]) == ("the API server refuses it", "")
    assert second["failure"] == "it does so again"
    assert seconds(second) >= 10
    assert scheduler.condition("Degraded")[:2] == ("True", "ReadFailed")
