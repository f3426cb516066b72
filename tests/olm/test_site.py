# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The main job with OLM, in the order of an operator's life: from nothing to a pod, again, upgrades, and away.

F001-F004, F007, F008: namespace, OperatorGroup, Subscription and a CatalogSource of one's own. F005: approval. F019: along a
channel. F020, F021: away. By manifests and back: test_role.py.
"""

from __future__ import annotations

import json

import pytest
from conformance.operator.steps import reconcile
from support.cluster import Audit
from support.inventory import at_rest, everything, sees_what_is_planted
from support.scheduler import Scheduler, eventually
from support.shipped import Shipped
from support.site import NAMESPACE, VARIABLES, remove, removed, site

# The state after one test is where the next one begins.
pytestmark = pytest.mark.in_order


@pytest.fixture(scope="module")
def shipped(olm, tmp_path_factory) -> Shipped:
    return Shipped(olm, tmp_path_factory.mktemp("shipped"))


@pytest.fixture(scope="module")
def fresh(olm, kubectl):
    """A cluster without us, and without the namespaces that other tests leave to be deleted."""
    removed(kubectl)
    eventually(lambda: "namespace/test-" not in kubectl("get", "namespaces", "--output=name").stdout)
    yield at_rest(kubectl)
    removed(kubectl)


@pytest.fixture(scope="module")
def by_olm(shipped, tmp_path_factory):
    """by_olm(later, ...) runs site for a catalog with our version and these later ones. The operator's image is for the bundle to say."""
    schedulers = tmp_path_factory.mktemp("site") / "vars.json"
    schedulers.write_text(json.dumps({"secondary_schedulers": VARIABLES["secondary_schedulers"]}))

    def run(*later, **variables):
        image = shipped.catalog(*later)
        return site(schedulers, variables={"operator_method": "olm", "operator_catalog_image": image, "probe": "never", **variables})

    return run


@pytest.fixture(scope="module")
def installed(fresh, by_olm):
    return by_olm(probe="changed")


@pytest.fixture(scope="module")
def olm_scheduler(installed, kubectl) -> Scheduler:
    return Scheduler(kubectl, "cluster", scheduler_name="secondary-scheduler")


def serving(scheduler) -> set[str]:
    """The scheduler's pods, by what no other pod will ever have."""
    return {pod["metadata"]["uid"] for pod in scheduler.serving_pods()}


def operator_pods(kubectl) -> set[str]:
    return {pod["metadata"]["uid"] for pod in kubectl.list("pod", NAMESPACE, "app.kubernetes.io/name=osso-scheduler-operator")}


def test_the_first_run_installs_by_olm_and_a_test_pod_is_placed(installed, shipped, olm, kubectl, olm_scheduler):
    probe = installed.task("Verify each scheduler with a test pod").result["results"][0]
    assert probe["scheduler"] == "secondary-scheduler"
    eventually(lambda: olm.phase(shipped.csv(shipped.version), NAMESPACE) == ("Succeeded", "InstallSucceeded"))
    assert olm_scheduler.condition("Available")[0] == "True"
    owners = kubectl.get("deployment", "osso-scheduler-operator", NAMESPACE)["metadata"]["ownerReferences"]
    assert [owner["kind"] for owner in owners] == ["ClusterServiceVersion"]


def test_second_run_changes_nothing_and_sends_no_write(installed, by_olm, olm_scheduler, audit):
    olm_scheduler.rest()
    with audit:
        run = by_olm(probe="changed")
    assert run.changed == []
    assert audit.writes() == []


@pytest.mark.long
def test_an_upgrade_along_the_channel_keeps_the_schedulers_pods(installed, shipped, by_olm, olm, kubectl, olm_scheduler):
    """OLM replaces the operator; the scheduler, whose pods are to be the same, goes on."""
    pods, operator, rollouts = serving(olm_scheduler), operator_pods(kubectl), olm_scheduler.rollouts()
    assert pods
    run = by_olm("1.1.0")
    assert run.changed
    eventually(lambda: olm.phase(shipped.csv("1.1.0"), NAMESPACE) == ("Succeeded", "InstallSucceeded"))
    assert eventually(lambda: olm.phase(shipped.csv(shipped.version), NAMESPACE) == ("", ""))
    eventually(lambda: operator_pods(kubectl) and not operator_pods(kubectl) & operator)
    reconcile(olm_scheduler)
    olm_scheduler.rest()
    assert serving(olm_scheduler) == pods
    assert olm_scheduler.rollouts() == rollouts


@pytest.mark.long
def test_an_upgrade_waits_until_its_version_is_approved(installed, shipped, by_olm, olm, kubectl, olm_scheduler, audit):
    """Nothing comes before the version is named; then that one does, and no other."""
    pods, later = serving(olm_scheduler), ("1.1.0", "1.2.0")
    run = by_olm(*later, operator_approval="Manual")
    assert olm.phase(shipped.csv("1.1.0"), NAMESPACE)[0] == "Succeeded"
    assert olm.phase(shipped.csv("1.2.0"), NAMESPACE) == ("", "")
    told = run.task("Install the operator with OLM")
    assert told.changed, "the catalog is another one"
    assert (told.result["csv"]["version"], told.result["upgrade"]) == ("1.1.0", "1.2.0")

    def waits():
        """a plan for the new version waits for approval"""
        plans = kubectl.list("installplan", NAMESPACE)
        return [plan["spec"]["approved"] for plan in plans if shipped.csv("1.2.0") in plan["spec"]["clusterServiceVersionNames"]]

    assert eventually(waits) == [False]
    told = by_olm(*later, operator_approval="Manual", operator_approve="1.2.0").task("Install the operator with OLM").result
    assert (told["csv"]["version"], told["upgrade"]) == ("1.2.0", None)
    assert olm.phase(shipped.csv("1.2.0"), NAMESPACE)[0] == "Succeeded"
    reconcile(olm_scheduler)
    olm_scheduler.rest()
    assert serving(olm_scheduler) == pods
    with audit:
        again = by_olm(*later, operator_approval="Manual", operator_approve="1.2.0")
    assert again.changed == []
    assert audit.writes() == []


def deleted(run) -> set[tuple[str, str]]:
    """Kind and name of what a run deleted, or would delete."""
    told = [obj for task in run.tasks for obj in task.result.get("objects", [])]
    return {(obj["kind"], obj["name"]) for obj in told if obj["action"] == "deleted"}


@pytest.fixture(scope="module")
def predicted(installed, own_cluster, kubectl) -> set[tuple[str, str]]:
    audit = Audit(own_cluster / "logs/audit.log", kubectl)
    with audit:
        run = remove(check=True)
    assert audit.writes() == []
    return deleted(run)


def test_removal_deletes_everything_that_check_mode_predicted(predicted, fresh, olm, kubectl):
    sees_what_is_planted(kubectl)
    assert everything(kubectl) - fresh, "nothing to remove"
    assert deleted(remove()) == predicted

    def gone():
        """all objects that were not there before are gone"""
        return not everything(kubectl) - fresh

    try:
        eventually(gone)
    except AssertionError:
        assert everything(kubectl) - fresh == set()
    assert fresh - everything(kubectl) == set()
    assert remove().changed == []
