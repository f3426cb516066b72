# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Catalogs, OperatorGroups and what is ours, as far as they need no cluster (F003, F008, F017)."""

from __future__ import annotations

import calendar
import re
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.wait import Deadline
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.operators import UPSTREAM_NAMESPACE
from ansible_collections.osso.scheduler.plugins.module_utils._olm import catalog, group, objects
from ansible_collections.osso.scheduler.plugins.module_utils._olm.catalog import UNKNOWN, Offer
from ansible_collections.osso.scheduler.plugins.module_utils._olm.objects import Options
from support.olm_objects import olm_cluster
from support.olm_objects import package as made_package
from support.stored_cluster import StoredCluster

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


def test_a_package_gives_its_channels_and_their_heads():
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
def test_a_missing_package_or_channel_is_reported_with_the_available_ones(offer, options, says):
    assert says in catalog.problem(offer, OPTIONS._replace(**options))


@pytest.mark.parametrize(("offer", "options"), [(UNKNOWN, {}), (Offer(["demo"], DEMO), {}), (Offer(["demo"], DEMO), {"channel": "old"})])
def test_an_offered_or_unknown_package_is_no_problem(offer, options):
    assert catalog.problem(offer, OPTIONS._replace(**options)) is None


def test_the_channel_is_the_given_one_else_the_subscription_s_else_the_default():
    offer, live = Offer(["demo"], DEMO), {"spec": {"channel": "old"}}
    assert catalog.channel(offer, OPTIONS._replace(channel="x"), live) == "x"
    assert catalog.channel(offer, OPTIONS, live) == "old"
    assert catalog.channel(offer, OPTIONS, None) == "stable"
    assert catalog.channel(UNKNOWN, OPTIONS, None) is None


@pytest.mark.parametrize("version", ["1.0.0", "v1.0.0", "demo.v1.0.0"])
def test_the_csv_of_a_version_is_found_by_each_spelling(version):
    assert catalog.csv_for(Offer(["demo"], DEMO), "stable", version, "version") == "demo.v1.0.0"


def test_a_version_that_the_channel_does_not_contain_is_an_error():
    with pytest.raises(InputError, match=r"version is 2.0.0, which channel stable .* It holds: 1.1.0 \(demo.v1.1.0\), 1.0.0"):
        catalog.csv_for(Offer(["demo"], DEMO), "stable", "2.0.0", "version")
    with pytest.raises(InputError, match="serves no PackageManifests"):
        catalog.csv_for(UNKNOWN, "stable", "2.0.0", "version")


@pytest.mark.parametrize(
    ("made", "connected", "young"),
    [("00:00:00", "00:00:01", False), ("00:59:30", None, True), ("00:00:00", "00:59:30", True), ("00:00:00", None, False)],
)
def test_the_age_of_a_catalog_counts_from_its_creation_or_last_connection(made, connected, young):
    now = calendar.timegm((2026, 11, 22, 1, 0, 0))
    live = {"metadata": {"creationTimestamp": f"2026-11-22T{made}Z"}}
    if connected:
        live["status"] = {"connectionState": {"lastConnect": f"2026-11-22T{connected}Z"}}
    assert catalog.is_young(live, now) is young


def test_a_catalog_source_is_built_with_all_its_options():
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


def test_two_operator_groups_of_a_namespace_are_named_in_an_error():
    with pytest.raises(InputError, match=r"namespace n has 2 OperatorGroups: a \(for n\), b \(for all namespaces\)"):
        group.wanted([operator_group("b"), operator_group("a", ["n"])], OPTIONS, [])


@pytest.mark.parametrize(
    ("some", "others", "common"),
    [([], ["a"], True), (["a"], [], True), (["a", "b"], ["b"], True), (["a"], ["b"], False)],
)
def test_an_empty_list_of_namespaces_overlaps_with_every_list(some, others, common):
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


def test_a_package_is_read_as_its_catalog_offers_it():
    assert (
        catalog.Package(
            "demo",
            "stable",
            {"stable": [("demo.v1.1.0", "1.1.0"), ("demo.v1.0.0", "1.0.0")], "old": [("demo.v0.9.0", "0.9.0")]},
            {"stable": "demo.v1.1.0", "old": "demo.v0.9.0"},
        )
        == DEMO
    )
    assert DEMO.entries == [("demo.v1.1.0", "1.1.0"), ("demo.v1.0.0", "1.0.0"), ("demo.v0.9.0", "0.9.0")]


def test_a_package_without_details_is_read_as_far_as_possible():
    one = {"metadata": {"name": "demo"}, "status": {"channels": [{"name": "a", "currentCSV": "demo.v1"}]}}
    assert catalog.parse(one) == catalog.Package("demo", "a", {"a": [("demo.v1", None)]}, {"a": "demo.v1"})
    two = {"metadata": {"name": "demo"}, "status": {"channels": [{"name": "a"}, {"name": "b", "entries": [{"name": "x"}]}]}}
    assert catalog.parse(two) == catalog.Package("demo", None, {"a": [], "b": [("x", None)]}, {"a": None, "b": None})
    assert catalog.parse({"metadata": {"name": "demo"}}) == catalog.Package("demo", None, {}, {})


@pytest.mark.parametrize(
    ("live", "state", "verdict"),
    [
        (None, None, ("pending", "OLM has not connected to it yet")),
        ({"status": {"connectionState": {"lastObservedState": "READY"}}}, "READY", ("ready", "")),
        (
            {"status": {"connectionState": {"lastObservedState": "IDLE"}, "reason": "R", "message": "M"}},
            "IDLE",
            ("pending", "its connection is IDLE; reason: R; message: M"),
        ),
        ({"status": {"message": "M"}}, None, ("pending", "OLM has not connected to it yet; message: M")),
    ],
)
def test_the_state_of_a_catalog_comes_from_its_connection(live, state, verdict):
    assert catalog.state(live) == state
    found = catalog.evaluate(live)
    assert (found.state, found.why) == verdict


def test_a_pod_serves_an_image_when_it_has_it_and_is_ready():
    def pod(ready, containers=(), init=()):
        return {
            "spec": {"containers": [{"image": one} for one in containers], "initContainers": [{"image": one} for one in init]},
            "status": {"conditions": [{"type": "Ready", "status": ready}]},
        }

    assert catalog.serves([pod("True", ["a"])], "a") is True
    assert catalog.serves([pod("False", ["a"]), pod("True", ["b"])], "a") is False
    assert catalog.serves([pod("True", ["opm"], ["a"])], "a") is True
    assert catalog.serves([], "a") is False
    assert catalog.runs({"spec": {"containers": [{"image": "a"}]}}, "a") is True
    assert catalog.runs({"spec": {}}, "a") is False


def test_a_catalog_is_no_longer_young_after_a_minute():
    made = calendar.timegm((2026, 11, 22, 1, 0, 0))
    live = {"metadata": {"creationTimestamp": "2026-11-22T01:00:00Z"}}
    assert [catalog.is_young(live, made + seconds) for seconds in (0, 59, 60, -59, -60)] == [True, True, False, True, False]
    assert catalog.is_young({"metadata": {}}, made) is False
    assert catalog.is_young(live) is False


def read(cluster, package="demo"):
    return catalog.Reader(cluster, objects.identity("CatalogSource", "cat", "n")).offer(package)


def test_one_package_of_a_catalog_is_read_alone():
    assert read(olm_cluster(made_package(), made_package("other"))) == Offer(["demo"], catalog.parse(made_package()))


def test_a_package_that_is_missing_comes_with_the_names_of_the_others():
    elsewhere = made_package("elsewhere")
    elsewhere["status"]["catalogSource"] = "second"
    namesake = made_package("namesake")
    namesake["status"]["catalogSourceNamespace"] = "m"
    unlabelled = made_package("unlabelled")
    del unlabelled["metadata"]["labels"]
    cluster = olm_cluster(made_package("b"), made_package("a"), elsewhere, namesake, unlabelled)
    assert read(cluster) == Offer(["a", "b"], None)


def test_a_package_of_several_catalogs_is_that_of_the_chosen_one():
    theirs, mine = made_package(), made_package(versions=("3.0.0",))
    theirs["status"]["catalogSource"] = "second"
    mine["metadata"]["name"] = "demo-of-cat"
    assert read(olm_cluster(theirs, mine)) == Offer(["demo"], catalog.parse(mine))


@pytest.mark.parametrize(("status", "unknown"), [(403, True), (404, True), (503, True), (500, False), (401, False)])
def test_packages_that_cannot_be_read_are_unknown(status, unknown):
    cluster = olm_cluster()
    cluster.rejected["GET", "packagemanifests"] = ApiError(status, "No", "no")
    if unknown:
        assert read(cluster) == UNKNOWN
        return
    with pytest.raises(ApiError):
        read(cluster)


class Later:
    """A reader's cluster in which something happens at the second reading."""

    def __init__(self, cluster, change):
        self.cluster, self.change, self.readings = cluster, change, 0

    def resource(self, *args):
        self.readings += 1
        if self.readings == 2:
            self.change(self.cluster)
        return self.cluster.resource(*args)

    def __getattr__(self, name):
        return getattr(self.cluster, name)


def until_offered(cluster, change=lambda cluster: None, seconds=10, live=None, before=None, **options):
    later = Later(cluster, change)
    reader = catalog.Reader(later, objects.identity("CatalogSource", "cat", "n"))
    live = live or {"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"}}
    return reader.until_offered(live, OPTIONS._replace(**options), Deadline(seconds), before), later.readings


def young():
    return {"metadata": {"creationTimestamp": timestamps.now()}}


def test_a_catalog_that_offers_the_package_is_read_once():
    offer, readings = until_offered(olm_cluster(made_package()), live=young())
    assert (offer.packages, readings) == (["demo"], 1)


def test_a_young_catalog_is_read_until_it_has_the_package():
    def change(cluster):
        cluster.store(made_package())

    offer, readings = until_offered(olm_cluster(made_package("other")), change, live=young())
    assert (offer.packages, readings) == (["demo"], 2)
    # An old one without packages is read again too, one with packages is not.
    assert until_offered(olm_cluster(), change)[1] == 2
    assert until_offered(olm_cluster(made_package("other")), change) == (Offer(["other"], None), 1)
    assert until_offered(olm_cluster(made_package()), live=young(), channel="beta", seconds=0)[1] == 1


def test_packages_that_are_unknown_are_not_waited_for():
    cluster = olm_cluster()
    cluster.rejected["GET", "packagemanifests"] = ApiError(503, "No", "no")
    assert until_offered(cluster, live=young()) == (UNKNOWN, 1)


def test_the_offer_of_the_image_before_is_not_taken_for_the_new_one():
    before = Offer(["demo"], catalog.parse(made_package()))
    new = made_package(versions=("2.0.0",))
    offer, readings = until_offered(olm_cluster(made_package()), lambda cluster: cluster.store(new), before=before)
    assert (offer.package, readings) == (catalog.parse(new), 2)
    # It stays where the time is over.
    assert until_offered(olm_cluster(made_package()), before=before, seconds=0) == (before, 1)


def test_a_version_of_no_known_channel_lists_nothing():
    with pytest.raises(InputError, match=r"channel None of package demo does not hold. It holds: \.$"):
        catalog.csv_for(Offer(["demo"], DEMO), None, "1.0.0", "version")
    unknown = catalog.Package("demo", "a", {"a": [("demo-final", None)]}, {"a": "demo-final"})
    with pytest.raises(InputError, match=r"It holds: \? \(demo-final\)\.$"):
        catalog.csv_for(Offer(["demo"], unknown), "a", "1.0.0", "version")
    assert catalog.csv_for(Offer(["demo"], unknown), "a", "demo-final", "version") == "demo-final"


def test_a_catalog_source_is_whole():
    given = {"image": "i", "description": "text", "security_context_config": None, "grpc_pod_config": None}
    assert catalog.source("cat", "n", given, None, ours=False) == {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "CatalogSource",
        "metadata": {"name": "cat", "namespace": "n"},
        "spec": {"sourceType": "grpc", "image": "i", "description": "text"},
    }


def test_a_group_for_a_selector_is_for_the_namespaces_in_its_status():
    selected = {"spec": {"selector": {"a": "b"}}, "status": {"namespaces": ["y", "x", ""]}}
    assert group.targets(selected) == ["x", "y"]
    assert group.targets({"spec": {"selector": {"a": "b"}, "targetNamespaces": ["z"]}, "status": {"namespaces": ["x"]}}) == ["z"]
    assert group.targets({"spec": {"selector": {"a": "b"}}}) == []
    assert group.targets({"status": {"namespaces": [""]}}) == []


def test_a_new_group_is_whole():
    assert group.wanted([], OPTIONS._replace(labels={"l": "m"}, watch_namespaces=["b", "a", "b"]), []) == (
        {
            "apiVersion": "operators.coreos.com/v1",
            "kind": "OperatorGroup",
            "metadata": {
                "name": "demo",
                "namespace": "n",
                "labels": {"l": "m", "app.kubernetes.io/managed-by": "osso.scheduler", "osso.scheduler/olm": "true"},
            },
            "spec": {"targetNamespaces": ["a", "b"]},
        },
        "demo",
    )
    made, name = group.wanted([operator_group("ours", ["n"], ours=True)], OPTIONS, [])
    assert (made["metadata"]["name"], name) == ("ours", "ours")


def test_the_kinds_of_olm_are_found_or_olm_is_not_installed():
    assert {kind: one.api_version for kind, one in objects.resources(olm_cluster()).items()} == objects.VERSIONS
    with pytest.raises(ClusterError, match=r"^OLM is not installed in this cluster: the API server does not serve") as raised:
        objects.resources(StoredCluster())
    assert raised.value.result == {"status": 404, "reason": "NotServed"}


def test_options_name_the_catalog_and_the_version():
    assert OPTIONS.catalog_identity == objects.identity("CatalogSource", "cat", "n")
    assert OPTIONS._replace(version="1.0.0").wanted_version == "1.0.0"
    for missing in ({"source": None}, {"source_namespace": None}):
        with pytest.raises(AssertionError):
            assert OPTIONS._replace(**missing).catalog_identity
    with pytest.raises(AssertionError):
        assert OPTIONS.wanted_version


def test_a_namespace_has_the_marks_of_this_collection_only_if_it_made_it():
    assert objects.namespace_manifest("n", {"a": "b"}, ours=False) == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "n", "labels": {"a": "b"}},
    }
    marks = {"app.kubernetes.io/managed-by": "osso.scheduler", "osso.scheduler/olm": "true"}
    assert objects.namespace_manifest("n", {"a": "b"}, ours=True)["metadata"]["labels"] == {"a": "b", **marks}


def test_fields_that_are_missing_have_their_default():
    for obj in (None, {}, {"spec": None, "status": None}, {"spec": {"a": None}, "status": {"a": None}}):
        assert (objects.spec(obj, "a", 1), objects.status(obj, "a", 2), objects.spec(obj, "a")) == (1, 2, None)
    assert (objects.spec({"spec": {"a": 0}}, "a", 1), objects.status({"status": {"a": ""}}, "a", 1)) == (0, "")


def test_a_label_name_of_63_characters_is_not_cut():
    assert objects.component_label("a" * 61, "b") == f"operators.coreos.com/{'a' * 61}.b"
    assert objects.component_label("a" * 61, "bc") == f"operators.coreos.com/{'a' * 61}.b"
    assert objects.component_label("a" * 62, "bc") == f"operators.coreos.com/{'a' * 62}"


def test_the_documented_label_of_the_upstream_operator_is_that_of_olm():
    (label,) = re.findall(r"oc delete csv -n \$NS -l (\S+)", (Path(__file__).parents[5] / "docs/upstream.md").read_text())
    assert label == objects.component_label("openshift-secondary-scheduler-operator", UPSTREAM_NAMESPACE)
