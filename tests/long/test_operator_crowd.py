# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fifty SecondarySchedulers that are broken, each in its way, and one that is well, whose user does not wait for them. CROWD is their number."""

from __future__ import annotations

import os
import statistics
import time

import pytest
from benchmarks.observe import OperatorPod, until
from kubernetes import client, config
from support.scheduler import Scheduler, eventually
from support.site import installed, site

pytestmark = pytest.mark.long

CROWD = int(os.environ.get("CROWD") or 50)
NAMESPACES = 5
EDITS = 10
SETTLED = 120
WITHIN = 5


def missing(scheduler):
    scheduler.write()


def without_key(scheduler):
    scheduler.kubectl.apply(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": scheduler.name, "namespace": scheduler.namespace},
            "data": {"a": "b"},
        }
    )
    scheduler.write()


def invalid(scheduler):
    scheduler.write_config("apiVersion: v1\nkind: Pod\n")
    scheduler.write()


def crashing(scheduler):
    scheduler.write_config()
    scheduler.write(unsupportedConfigOverrides={"args": ["--authentication-kubeconfig=/none"]})


def refused(scheduler):
    scheduler.write_config()
    scheduler.write(unsupportedConfigOverrides={"nodeSelector": {"pool": "no valid label!"}})


WAYS = {
    missing: "ConfigMapMissing",
    without_key: "ConfigMapMissing",
    invalid: "ConfigInvalid",
    crashing: "CrashLoopBackOff",
    refused: "ApplyFailed",
}


@pytest.fixture
def namespaces(kubectl, own_cluster):
    site(variables={"operator_watch_namespaces": ["*"], "probe": "never"})
    names = [f"crowd-{number}" for number in range(NAMESPACES)]
    for name in names:
        kubectl("create", "namespace", name)
    yield names
    for name in names:
        kubectl("delete", "secondaryschedulers", "--all", f"--namespace={name}", f"--timeout={CROWD * 5}s", timeout=CROWD * 5 + 10)
        kubectl("delete", "namespace", name, "--wait=false")
    installed()


def busy() -> float:
    """By how much a machine that does much else is slower."""
    return min(max(os.getloadavg()[0] / os.cpu_count(), 1), 4)


def seconds_of_an_edit(scheduler: Scheduler, weight: int) -> float:
    """From the edit of its ConfigMap to the status that tells of it."""

    def told():
        return scheduler.resource["status"]["generations"][0].get("hash")

    before, began = told(), time.monotonic()
    scheduler.write_config(scheduler.config(weight))
    eventually(lambda: told() != before, within=600)
    return time.monotonic() - began


def edits(scheduler: Scheduler, first: int, count: int) -> list[float]:
    found = []
    for weight in range(first, first + count):
        found.append(seconds_of_an_edit(scheduler, weight))
        eventually(scheduler.served)
    return found


def test_broken_schedulers_do_not_delay_the_healthy_one(namespaces, kubectl, kubeconfig, record_property):
    config.load_kube_config(str(kubeconfig))
    pod = OperatorPod(client)
    well = Scheduler(kubectl, "well", namespaces[0])
    well.write_config()
    well.write()
    eventually(well.served)
    record_property("seconds_of_an_edit_alone", [round(found, 1) for found in edits(well, 2, 3)])
    ways = list(WAYS)
    crowd = [
        (Scheduler(kubectl, f"broken-{number}", namespaces[number % NAMESPACES]), ways[number // NAMESPACES % len(ways)])
        for number in range(CROWD)
    ]
    began = time.monotonic()
    for scheduler, way in crowd:
        way(scheduler)
    for scheduler, way in crowd:
        eventually(lambda scheduler=scheduler, way=way: scheduler.condition("Degraded")[:2] == ("True", WAYS[way]), within=900)
    record_property("seconds_until_all_have_a_verdict", round(time.monotonic() - began))
    record_property("seconds_of_an_edit_at_once", [round(found, 1) for found in edits(well, 10, 5)])
    time.sleep(SETTLED)
    used, before = pod.cpu(), time.monotonic()
    time.sleep(SETTLED)
    share = (pod.cpu() - used) / (time.monotonic() - before)
    record_property("processors_at_rest", round(share, 2))
    settled = edits(well, 20, EDITS)
    record_property("seconds_of_an_edit", [round(found, 1) for found in settled])
    pod.restart()
    # Now it watches, and examines all resources once more.
    until(pod.runs)
    restarted = seconds_of_an_edit(well, 40)
    record_property("seconds_of_an_edit_after_a_restart", round(restarted, 1))
    assert len(pod.runs()) < CROWD, "the edit did not come while the others waited"
    assert statistics.quantiles(settled, n=20)[-1] <= WITHIN * busy()
    assert restarted <= WITHIN * busy()
    assert share <= 0.5 * busy()
