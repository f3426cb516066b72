# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ground on which the other tests stand: a real OLM, catalogs that opm serves, and nothing left of either after a test."""

from __future__ import annotations

import pytest
from support.olm import NAMESPACE, Bundle, Olm, Package
from support.scheduler import eventually

pytestmark = pytest.mark.long

ONE, TWO = Bundle("lonely", "1.0.0"), Bundle("lonely", "1.1.0")
# Packages of other tests have other names: OLM recreates the Operator object of one that it is just removing.
THING = Package("lonely", {"stable": [ONE, TWO], "candidate": [ONE]})


@pytest.fixture
def catalog(olm, namespace) -> str:
    """A CatalogSource in the namespace; its packages are listed."""
    olm.serve(olm.catalog(THING), namespace)
    return "catalog"


def left(kubectl, namespace) -> list[str]:
    """What there is of OLM in a namespace, and of its operators in the cluster."""
    kinds = ("subscriptions", "clusterserviceversions", "installplans", "catalogsources", "operatorgroups")
    names = ",".join(f"{kind}.operators.coreos.com" for kind in kinds)
    found = kubectl("get", names, f"--namespace={namespace}", "--output=name").stdout.split()
    for kind in ("customresourcedefinitions", "operators.operators.coreos.com", "clusterroles"):
        names = kubectl("get", kind, "--output=name").stdout.split()
        found += [name for name in names if "lonely" in name or namespace in name]
    return found


def test_a_catalog_lists_its_packages(olm, namespace, catalog):
    """PackageManifests tell the channels and their versions."""
    status = olm.packages(namespace, catalog)["lonely"]
    assert status["defaultChannel"] == "stable"
    assert {channel["name"]: channel["currentCSV"] for channel in status["channels"]} == {"stable": TWO.name, "candidate": ONE.name}


def test_an_operator_is_upgraded_along_its_channel_and_removed_without_leftovers(olm, kubectl, namespace, catalog):
    """From the oldest version to the newest, each with an approval; afterwards nothing is left, of what is shown to be there before."""
    olm.subscribe("lonely", namespace, startingCSV=ONE.name, installPlanApproval="Manual")

    def plan(csv):
        plans = kubectl.list("installplan", namespace)
        return next((plan["metadata"]["name"] for plan in plans if csv in plan["spec"]["clusterServiceVersionNames"]), None)

    for bundle in (ONE, TWO):
        name = eventually(lambda bundle=bundle: plan(bundle.name), within=300)
        assert olm.phase(bundle.name, namespace) == ("", "")
        approve = ["--type=merge", "--patch", '{"spec": {"approved": true}}']
        kubectl("patch", "installplans.operators.coreos.com", name, f"--namespace={namespace}", *approve)
        olm.await_phase(bundle.name, namespace)
    assert eventually(lambda: olm.phase(ONE.name, namespace) == ("", ""))
    found = left(kubectl, namespace)
    assert any(name.startswith("clusterserviceversion") for name in found)
    assert f"customresourcedefinition.apiextensions.k8s.io/{ONE.definition}" in found
    assert f"operator.operators.coreos.com/lonely.{namespace}" in found

    olm.clear(namespace)
    eventually(lambda: not left(kubectl, namespace))


def test_a_second_installation_of_olm_writes_nothing(own_cluster, kubectl, olm, audit):
    with audit:
        Olm(own_cluster, kubectl)
    assert [request for request in audit.writes(agent="kubectl") if request.namespace == NAMESPACE] == []
