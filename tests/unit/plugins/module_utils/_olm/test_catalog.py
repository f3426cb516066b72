# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Catalogs, OperatorGroups and what is ours, as far as they need no cluster (F003, F008, F017)."""

from __future__ import annotations

import calendar

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._olm import catalog, group, objects
from ansible_collections.osso.scheduler.plugins.module_utils._olm.catalog import UNKNOWN, Offer
from ansible_collections.osso.scheduler.plugins.module_utils._olm.objects import Options

OPTIONS = Options(package="demo", namespace="n", name="demo", source="cat", source_namespace="n")
MANIFEST = {
    "metadata": {"name": "demo"},
    "status": {
        "packageName": "demo",
        "defaultChannel": "stable",
        "channels": [
            {
                "name": "stable",
                "currentCSV": "demo.v1.1.0",
                "entries": [{"name": "demo.v1.1.0", "version": "1.1.0"}, {"name": "demo.v1.0.0", "version": "1.0.0"}],
            },
            {"name": "old", "currentCSV": "demo.v0.9.0", "currentCSVDesc": {"version": "0.9.0"}},
        ],
    },
}
DEMO = catalog.parse(MANIFEST)


def test_a_package_with_and_without_entries():
    assert DEMO.default_channel == "stable"
    assert DEMO.heads == {"stable": "demo.v1.1.0", "old": "demo.v0.9.0"}
    assert DEMO.channels["old"] == [("demo.v0.9.0", "0.9.0")]


@pytest.mark.parametrize(
    ("offer", "options", "says"),
    [
        (Offer(["a", "b"], None), {}, "package is demo, which CatalogSource n/cat does not hold. Its packages: a, b."),
        (Offer(["dema", "other"], None), {}, "which CatalogSource n/cat does not hold; did you mean dema? Its packages: dema, other."),
        (Offer([], None), {}, "Its packages: none."),
        (
            Offer(["demo"], DEMO),
            {"channel": "beta"},
            "channel is beta, which package demo in CatalogSource n/cat does not have. Its channels: old, stable (default: stable).",
        ),
        (Offer(["demo"], DEMO), {"channel": "stabel"}, "does not have; did you mean stable? Its channels"),
    ],
)
def test_what_a_catalog_does_not_hold_is_told_with_what_it_holds(offer, options, says):
    assert says in catalog.problem(offer, OPTIONS._replace(**options))


@pytest.mark.parametrize(("offer", "options"), [(UNKNOWN, {}), (Offer(["demo"], DEMO), {}), (Offer(["demo"], DEMO), {"channel": "old"})])
def test_what_can_be_installed_or_cannot_be_known(offer, options):
    assert catalog.problem(offer, OPTIONS._replace(**options)) is None


def test_the_channel_is_the_given_one_else_the_subscription_s_else_the_default():
    offer, live = Offer(["demo"], DEMO), {"spec": {"channel": "old"}}
    assert catalog.channel(offer, OPTIONS._replace(channel="x"), live) == "x"
    assert catalog.channel(offer, OPTIONS, live) == "old"
    assert catalog.channel(offer, OPTIONS, None) == "stable"
    assert catalog.channel(UNKNOWN, OPTIONS, None) is None


@pytest.mark.parametrize("version", ["1.0.0", "v1.0.0", "demo.v1.0.0"])
def test_the_csv_of_a_version(version):
    assert catalog.csv_for(Offer(["demo"], DEMO), "stable", version, "version") == "demo.v1.0.0"


def test_a_version_that_the_channel_does_not_hold():
    with pytest.raises(InputError, match=r"version is 2.0.0, which channel stable .* It holds: 1.1.0 \(demo.v1.1.0\), 1.0.0"):
        catalog.csv_for(Offer(["demo"], DEMO), "stable", "2.0.0", "version")
    with pytest.raises(InputError, match="serves no PackageManifests"):
        catalog.csv_for(UNKNOWN, "stable", "2.0.0", "version")


@pytest.mark.parametrize(
    ("made", "connected", "young"),
    [("00:00:00", "00:00:01", False), ("00:59:30", None, True), ("00:00:00", "00:59:30", True), ("00:00:00", None, False)],
)
def test_a_catalog_is_young_by_what_happened_last(made, connected, young):
    now = calendar.timegm((2026, 11, 22, 1, 0, 0))
    live = {"metadata": {"creationTimestamp": f"2026-11-22T{made}Z"}}
    if connected:
        live["status"] = {"connectionState": {"lastConnect": f"2026-11-22T{connected}Z"}}
    assert catalog.is_young(live, now) is young


def test_a_catalog_source_with_all_its_options():
    given = {
        "image": "i",
        "display_name": "d",
        "publisher": "p",
        "priority": 0,
        "secrets": ["s"],
        "security_context_config": "restricted",
        "grpc_pod_config": {"memoryTarget": "30Mi"},
        "registry_poll_interval": "30m",
        "description": None,
    }
    made = catalog.source("cat", "n", given, {"a": "b"}, ours=True)
    assert made["metadata"]["labels"] == {"a": "b", "app.kubernetes.io/managed-by": "osso.scheduler", "osso.scheduler/olm": "true"}
    assert made["spec"] == {
        "sourceType": "grpc",
        "image": "i",
        "displayName": "d",
        "publisher": "p",
        "priority": 0,
        "secrets": ["s"],
        "grpcPodConfig": {"memoryTarget": "30Mi", "securityContextConfig": "restricted"},
        "updateStrategy": {"registryPoll": {"interval": "30m"}},
    }
    assert "labels" not in catalog.source("cat", "n", {"image": "i"}, {}, ours=False)["metadata"]


def operator_group(name, targets=None, ours=False):
    live = {"metadata": {"name": name, "namespace": "n"}, "spec": {"targetNamespaces": targets} if targets else {}}
    if ours:
        live["metadata"]["labels"] = {objects.MARK: "true"}
        fields = {"f:metadata": {"f:labels": {"f:" + objects.MARK: {}}}}
        live["metadata"]["managedFields"] = [{"manager": objects.FIELD_MANAGER, "operation": "Apply", "fieldsV1": fields}]
    return live


def test_a_namespace_without_a_group_gets_one():
    made, name = group.wanted([], OPTIONS, [])
    assert (name, made["spec"]) == ("demo", {"targetNamespaces": ["n"]})
    assert group.wanted([], OPTIONS._replace(watch_namespaces=[]), [])[0]["spec"] == {}


@pytest.mark.parametrize(("targets", "watch"), [(["n"], None), (["n"], ["n"]), (None, []), (["b", "a"], ["a", "b"])])
def test_a_group_that_fits_is_adopted_untouched(targets, watch):
    assert group.wanted([operator_group("theirs", targets)], OPTIONS._replace(watch_namespaces=watch), ["x"]) == (None, "theirs")


@pytest.mark.parametrize(("targets", "watch"), [(None, None), (["n"], []), (["a"], ["a", "b"])])
def test_a_group_that_does_not_fit_is_named(targets, watch):
    with pytest.raises(InputError, match=r"watch_namespaces is for .* OperatorGroup theirs in namespace n is for "):
        group.wanted([operator_group("theirs", targets)], OPTIONS._replace(watch_namespaces=watch), [])


def test_a_group_of_ours_is_changed_unless_others_use_it():
    ours, wider = [operator_group("ours", ["n"], ours=True)], OPTIONS._replace(watch_namespaces=["m", "n"])
    assert group.wanted(ours, wider, [])[0]["spec"] == {"targetNamespaces": ["m", "n"]}
    with pytest.raises(InputError, match="It is also used by other, so it is not changed"):
        group.wanted(ours, wider, ["other"])
    assert group.wanted(ours, OPTIONS, ["other"])[0]["spec"] == {"targetNamespaces": ["n"]}


def test_two_groups_are_named():
    with pytest.raises(InputError, match=r"namespace n has 2 OperatorGroups: a \(for n\), b \(for all namespaces\)"):
        group.wanted([operator_group("b"), operator_group("a", ["n"])], OPTIONS, [])


@pytest.mark.parametrize(
    ("some", "others", "common"),
    [([], ["a"], True), (["a"], [], True), (["a", "b"], ["b"], True), (["a"], ["b"], False)],
)
def test_namespaces_in_common(some, others, common):
    assert group.intersect(some, others) is common


def test_a_label_alone_does_not_make_an_object_ours():
    assert objects.is_ours(operator_group("g", ours=True))
    planted = operator_group("g", ours=True)
    planted["metadata"]["managedFields"][0]["manager"] = "kubectl"
    assert not objects.is_ours(planted)
    assert not objects.is_ours(None)


@pytest.mark.parametrize(
    ("package", "namespace", "label"),
    [
        ("demo", "n", "operators.coreos.com/demo.n"),
        (
            "openshift-secondary-scheduler-operator",
            "openshift-secondary-scheduler-operator",
            "openshift-secondary-scheduler-operator.openshift-secondary-sche",
        ),
        ("a" * 60, "bc.d", "a" * 60 + ".bc"),
    ],
)
def test_the_label_of_components_is_cut_as_olm_does(package, namespace, label):
    found = objects.component_label(package, namespace)
    assert found.rpartition("/")[2] == label.rpartition("/")[2]
    assert len(found.rpartition("/")[2]) <= 63
