# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which InstallPlan is approved (F005), and what is known of a CSV by its name."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._olm import install_plans as plans
from ansible_collections.osso.scheduler.plugins.module_utils._olm.install_plans import Versions, approval, precedes, to_approve


def lookup(csv, package, version):
    properties = {"properties": [{"type": "olm.package", "value": {"packageName": package, "version": version}}]}
    return {"identifier": csv, "properties": json.dumps(properties)}


def plan(name, *csvs, approved=False, phase="RequiresApproval", generation=1):
    lookups = [lookup(csv, csv.split(".")[0], csv.partition(".v")[2]) for csv in csvs]
    return {
        "metadata": {"name": name, "namespace": "n"},
        "spec": {"clusterServiceVersionNames": list(csvs), "approved": approved, "approval": "Manual", "generation": generation},
        "status": {"phase": phase, "bundleLookups": lookups},
    }


def subscription(refers_to=None, **status):
    if refers_to:
        status["installPlanRef"] = {"name": refers_to}
    return {"metadata": {"name": "a", "namespace": "n"}, "spec": {"name": "a"}, "status": status}


def choice(found, wanted, refers_to=None, approve_others=False):
    versions = Versions("a")
    versions.learn(found)
    chosen = to_approve(found, subscription(refers_to), versions, lambda name: versions.matches(name, wanted), approve_others)
    return chosen and chosen["metadata"]["name"]


ONE, TWO = plan("one", "a.v1.0.0"), plan("two", "a.v1.1.0", generation=2)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [("1.0.0", "one"), ("1.1.0", "two"), ("v1.1.0", "two"), ("a.v1.1.0", "two"), ("1.1", None), ("1.2.0", None)],
)
def test_only_the_plan_of_exactly_the_requested_version_is_chosen(wanted, expected):
    assert choice([ONE, TWO], wanted) == expected


@pytest.mark.parametrize("other", [{"approved": True}, {"phase": "Complete"}, {"phase": "Failed"}, {"phase": ""}])
def test_a_plan_that_does_not_wait_is_left_alone(other):
    assert choice([plan("one", "a.v1.0.0", **other)], "1.0.0") is None


def test_a_plan_is_not_approved_before_olm_has_written_its_status():
    new = {**ONE, "status": {}}
    assert choice([new], "1.0.0") is None
    assert choice([new, plan("again", "a.v1.0.0", generation=2)], "1.0.0") == "again"


def test_the_subscription_s_plan_takes_precedence_over_the_newest_one():
    twins = [plan("older", "a.v1.0.0", generation=1), plan("newer", "a.v1.0.0", generation=2)]
    assert choice(twins, "1.0.0") == "newer"
    assert choice(twins, "1.0.0", refers_to="older") == "older"


def test_a_plan_with_csvs_of_others_is_rejected_with_their_names():
    mixed = [plan("mixed", "a.v1.0.0", "b.v3.0.0", "c.v1.0.0")]
    with pytest.raises(InputError, match=r"InstallPlan mixed brings a.v1.0.0, but also b.v3.0.0, c.v1.0.0.*approve_others: true"):
        choice(mixed, "1.0.0")
    assert choice(mixed, "1.0.0", approve_others=True) == "mixed"


def test_a_version_of_another_package_is_not_ours():
    assert choice([plan("other", "b.v1.0.0")], "1.0.0") is None


def test_an_unknown_csv_counts_as_foreign():
    unknown = plan("unknown", "a.v1.0.0", "mystery.v1.0.0")
    unknown["status"]["bundleLookups"].pop()
    with pytest.raises(InputError, match=r"also mystery.v1.0.0"):
        choice([unknown], "1.0.0")


def test_the_approval_applies_only_to_the_csvs_that_were_read():
    assert approval(TWO) == [
        {"op": "test", "path": "/spec/clusterServiceVersionNames", "value": ["a.v1.1.0"]},
        {"op": "replace", "path": "/spec/approved", "value": True},
    ]


def test_versions_are_known_by_catalog_plan_csv_and_name():
    versions = Versions("a", [("a-final", "2.0.0")])
    versions.learn(
        [plan("one", "a.v1.0.0")],
        [{"metadata": {"name": "odd"}, "spec": {"version": "3.0.0"}}],
        [{"spec": {"name": "a"}, "status": {"installedCSV": "odd"}}],
    )
    known = {name: (versions.version(name), versions.is_ours(name)) for name in ("a-final", "a.v1.0.0", "odd", "b.v1.2.3", "b")}
    assert known == {
        "a-final": ("2.0.0", True),
        "a.v1.0.0": ("1.0.0", True),
        "odd": ("3.0.0", True),
        "b.v1.2.3": ("1.2.3", False),
        "b": (None, False),
    }


@pytest.mark.parametrize("text", [None, "", "{}", "no json", '{"properties": [{"type": "olm.package"}]}', "[]"])
def test_malformed_properties_name_no_package(text):
    assert plans._package_property(text) is None


def test_versions_precede_each_other_as_in_semver():
    rising = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-rc.1", "1.0.0", "v1.0.1", "1.2.0", "1.10.0", "2.0.0"]
    for index, version in enumerate(rising):
        assert [precedes(version, other) for other in rising] == [index < place for place in range(len(rising))]
    assert not precedes("1.0.0+a", "1.0.0+b")


def test_versions_are_learnt_from_each_kind_of_object():
    properties = json.dumps({"properties": [{"type": "olm.package", "value": {"packageName": "a", "version": "9.9.9"}}]})
    versions = Versions("a", [("a-known", "1.0.0"), ("a-unknown", None)])
    versions.learn(
        [
            plan("one", "a.v1.0.0"),
            {"status": {"bundleLookups": [{"identifier": "x"}, {"properties": properties}, lookup("a-known", "b", "7.0.0")]}},
        ],
        [
            {"metadata": {"name": "annotated", "annotations": {"operatorframework.io/properties": properties}}, "spec": {"version": 2}},
            {"metadata": {"name": "bare"}},
        ],
        [{"spec": {"name": "b"}, "status": {"installedCSV": "b-there", "currentCSV": "b-next"}}, {"spec": {"name": "c"}}],
    )
    names = ("a-known", "a-unknown", "a.v1.0.0", "annotated", "bare", "b-there", "b-next", "x")
    assert {name: (versions.version(name), versions.package(name)) for name in names} == {
        # What the catalog says comes first.
        "a-known": ("1.0.0", "a"),
        "a-unknown": (None, "a"),
        "a.v1.0.0": ("1.0.0", "a"),
        "annotated": ("2", "a"),
        "bare": (None, None),
        "b-there": (None, "b"),
        "b-next": (None, "b"),
        "x": (None, None),
    }
    assert versions.version(None) is None
    assert versions.version("") is None


@pytest.mark.parametrize(
    ("name", "version", "found"),
    [
        ("a.v1.0.0", "1.0.0", True),
        ("a.v1.0.0", "v1.0.0", True),
        ("a.1.0.0", "1.0.0", True),
        ("a.v1.0.0-rc.1", "1.0.0-rc.1", True),
        ("a.v1.0.0", "a.v1.0.0", True),
        ("a.v1.0.0", "1.0", False),
        ("a", "a", True),
        (None, "1.0.0", False),
        ("", "", False),
    ],
)
def test_a_name_matches_its_version_and_itself(name, version, found):
    assert Versions("a").matches(name, version) is found


def test_a_plan_without_a_specification_installs_nothing_and_does_not_wait():
    assert plans.csvs_of({}) == []
    assert plans.waits_for_approval({}) is False
    assert plans.waits_for_approval({"status": {"phase": "RequiresApproval"}}) is True
    assert plans.waits_for_approval(plan("a", approved=True)) is False


def test_the_plan_of_a_subscription_is_the_one_that_it_refers_to():
    assert plans.current([ONE, TWO], subscription("two")) is TWO
    assert plans.current([ONE, TWO], subscription("three")) is None
    assert plans.current([ONE, TWO], subscription()) is None
    assert plans.current([ONE, TWO], None) is None


def test_the_newest_of_several_plans_without_a_reference_is_approved():
    twins = [plan("b", "a.v1.0.0", generation=2), plan("c", "a.v1.0.0", generation=1), plan("a", "a.v1.0.0", generation=2)]
    assert choice(twins, "1.0.0") == "b"
    without = [plan("a", "a.v1.0.0"), plan("b", "a.v1.0.0", generation=0)]
    del without[1]["spec"]["generation"]
    assert choice(without, "1.0.0") == "a"


@pytest.mark.parametrize(
    ("version", "key"),
    [
        ("1.2.3", ([1, 2, 3], True, [])),
        ("v1.2", ([1, 2], True, [])),
        ("1.x.3", ([1, 0, 3], True, [])),
        ("1.0.0-rc.1+build-2", ([1, 0, 0], False, [(1, 0, "rc"), (0, 1, "")])),
    ],
)
def test_the_key_to_sort_versions_reads_numbers_and_prereleases(version, key):
    assert plans.precedence(version) == key
