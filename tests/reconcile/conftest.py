# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The reconcile tier: the operator's reconcile in this process, against the API server of the API tier (tests/api)."""

from __future__ import annotations

import pytest

# pylint: disable=unused-import
from api.conftest import _environment, kubeconfig, operator, own_cluster, secondary_scheduler_kind  # noqa: F401 - fixtures of this tier, too
from support.scheduler import Scheduler


@pytest.fixture
def new(kubectl, namespace, secondary_scheduler_kind):  # noqa: F811 - the imported fixture
    """new(name) is a scheduler with its ConfigMap and resource; nothing was reconciled yet."""

    def make(name="batch", scheduler_name=None, config=None, **spec) -> Scheduler:
        scheduler = Scheduler(kubectl, name, namespace, scheduler_name)
        scheduler.write_config(config and config(scheduler))
        scheduler.write(**spec)
        return scheduler

    return make


@pytest.fixture
def scheduler(new, operator) -> Scheduler:  # noqa: F811 - the imported fixture
    """A scheduler that is available."""
    scheduler = new()
    operator.serve(scheduler)
    return scheduler
