# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook hand_over with an operator that OLM installed: OLM would recreate its Deployment. The tests follow each other."""

from __future__ import annotations

import pytest
from support.olm import GROUP
from support.scheduler import Scheduler, eventually
from support.site import NAMESPACE, RESOURCE

pytestmark = pytest.mark.long

PLAYBOOK = "osso.scheduler.hand_over"
KINDS = ",".join(f"{kind}.{GROUP}" for kind in ("subscriptions", "clusterserviceversions", "installplans"))


@pytest.fixture(scope="module")
def olm_scheduler(role, by_olm, kubectl):
    """A scheduler of the operator that OLM installed."""
    role(by_olm)
    scheduler = Scheduler(kubectl, "cluster")
    scheduler.write_config()
    scheduler.write()
    eventually(scheduler.served)
    yield scheduler
    # Whatever was left of it, the operator comes back for the removal.
    role(by_olm)


def of_operator(kubectl) -> list[str]:
    found = kubectl("get", f"deployments,{KINDS}", f"--namespace={NAMESPACE}", "--output=name").stdout.split()
    return [name for name in found if not name.endswith("/secondary-scheduler")]


def pods(scheduler) -> list[str]:
    return [pod["metadata"]["uid"] for pod in scheduler.serving_pods()]


def test_the_schedulers_keep_running_while_no_operator_is_installed(olm_scheduler, play, kubectl, audit):
    before = pods(olm_scheduler), olm_scheduler.deployment["metadata"]["generation"]
    assert [name for name in of_operator(kubectl) if "clusterserviceversion" in name]
    with audit:
        predicted = play(PLAYBOOK, check=True, diff=True)
    assert audit.writes() == []
    run = play(PLAYBOOK)
    assert run.changed == predicted.changed
    assert of_operator(kubectl) == []
    assert not olm_scheduler.resource["metadata"].get("finalizers")
    assert (pods(olm_scheduler), olm_scheduler.deployment["metadata"]["generation"]) == before
    assert kubectl("get", "customresourcedefinition", RESOURCE, "--output=name").stdout
    assert play(PLAYBOOK).changed == []


def test_an_operator_reinstalled_by_olm_manages_the_schedulers_again(olm_scheduler, role, by_olm):
    before = pods(olm_scheduler)
    role(by_olm)
    eventually(lambda: olm_scheduler.resource["metadata"].get("finalizers") and olm_scheduler.served())
    assert pods(olm_scheduler) == before
