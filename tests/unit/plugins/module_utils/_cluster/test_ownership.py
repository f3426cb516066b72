# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sets of fields, and what is left of an object when they are taken over; that a real API server agrees is for the integration tests."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.ownership import (
    TakeOver,
    other_causes,
    outcome,
    replacement,
    rewrite,
    take_over,
    take_over_content,
    union,
    with_content_of,
)

OURS, THEIRS = "osso.scheduler", "other-operator"


def entry(manager, fields, operation="Update", version="apps/v1", **more):
    return {"manager": manager, "operation": operation, "apiVersion": version, "fieldsType": "FieldsV1", "fieldsV1": fields, **more}


def live(*entries, **content):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"resourceVersion": "7", "managedFields": list(entries)}, **content}


def spec(*names):
    return {"f:spec": {f"f:{name}": {} for name in names}}


def test_nothing_is_taken_of_an_object_that_they_own_nothing_of():
    others = [
        entry("kubectl", spec("a")),
        entry(OURS, spec("a"), operation="Apply"),
        entry(THEIRS, {"f:status": {}}, subresource="status"),
        entry(THEIRS, spec("a"), version="apps/v1beta1"),
    ]
    assert take_over(live(*others), [THEIRS], OURS, "apps/v1") is None
    assert take_over(live(entry(THEIRS, spec("a"))), [], OURS, "apps/v1") is None
    assert take_over({"metadata": {}}, [THEIRS], OURS, "apps/v1") is None


def test_the_content_of_others_is_taken_over_and_their_labels_stay():
    label = {"f:metadata": {"f:labels": {"f:x": {}}}}
    status, other = entry("controller", {"f:status": {}}, subresource="status"), entry("old", spec("o"), version="apps/v1beta1")
    own, edit = entry(OURS, spec("a"), "Apply"), entry("kubectl", {**spec("b"), **label})
    wanted = {"apiVersion": "apps/v1", "metadata": {}}
    taken = take_over_content(live(own, edit, status, other), OURS, wanted)
    assert taken.fields == union([spec("a"), spec("b")])
    assert taken.entries == [entry("kubectl", label), status, other, entry(OURS, taken.fields, "Apply")]
    assert take_over_content(live(own, entry("kubectl", label), status, other), OURS, wanted) is None


def test_owners_by_others_are_taken_over_if_the_manifest_has_an_owner():
    label, owner = {"f:labels": {"f:x": {}}}, {"f:ownerReferences": {'k:{"uid":"1"}': {}}}
    own, edit = entry(OURS, spec("a"), "Apply"), entry("kubectl", {"f:metadata": {**label, **owner}})
    wanted = {"apiVersion": "apps/v1", "metadata": {"ownerReferences": [{"uid": "2"}]}}
    taken = take_over_content(live(own, edit), OURS, wanted)
    assert taken.fields == {**spec("a"), "f:metadata": owner}
    assert taken.entries == [entry("kubectl", {"f:metadata": label}), entry(OURS, taken.fields, "Apply")]
    assert take_over_content(live(own, edit), OURS, {**wanted, "metadata": {}}) is None


def test_an_object_gets_the_content_of_another_and_keeps_its_own_metadata():
    made = {**live(replicas=1), "metadata": {"name": "dry-run", "uid": "2", "labels": {"ours": "1"}}}
    before = live(replicas=2, added=3, status={"ready": 1})
    before["metadata"].update(name="x", uid="1", labels={"theirs": "1"})
    after = with_content_of(before, made)
    metadata = {**before["metadata"], "labels": {"theirs": "1", "ours": "1"}, "annotations": {}}
    assert after == {**live(replicas=1), "metadata": metadata, "status": {"ready": 1}}


@pytest.mark.parametrize(("made", "expected"), [(["ours"], ["ours"]), ([], ["theirs"]), (None, ["theirs"])])
def test_an_object_has_the_owners_of_the_other_one_if_that_has_any(made, expected):
    before = {"kind": "ConfigMap", "metadata": {"name": "a", "ownerReferences": ["theirs"]}}
    after = with_content_of(before, {"kind": "ConfigMap", "metadata": {"ownerReferences": made}})
    assert after["metadata"]["ownerReferences"] == expected


def test_a_service_keeps_its_address():
    before = {"kind": "Service", "metadata": {}, "spec": {"clusterIP": "10.0.0.1", "selector": {"a": "1"}}}
    made = {"kind": "Service", "metadata": {}, "spec": {"clusterIP": "10.0.0.2", "ports": []}}
    assert with_content_of(before, made)["spec"] == {"clusterIP": "10.0.0.1", "ports": []}


def test_their_entries_become_our_apply_entry_and_others_stay():
    kubectl, theirs, status = entry("kubectl", spec("k")), entry(THEIRS, spec("a")), entry("controller", {}, subresource="status")
    before = live(kubectl, theirs, status)
    unchanged = copy.deepcopy(before)
    taken = take_over(before, [THEIRS, "third"], OURS, "apps/v1")
    assert taken == TakeOver([kubectl, status, entry(OURS, spec("a"), "Apply")], spec("a"))
    assert before == unchanged
    assert rewrite(before, taken) == [
        {"op": "replace", "path": "/metadata/managedFields", "value": taken.entries},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
    ]


def test_their_fields_join_those_that_we_applied_already():
    """whichever way they wrote them, and what we once wrote client-side"""
    own, theirs = entry(OURS, spec("a", "b"), "Apply", time="1"), entry(THEIRS, spec("b"))
    third, own_update = entry("third", spec("c"), "Apply"), entry(OURS, spec("d"))
    taken = take_over(live(theirs, own, third, own_update), [THEIRS, "third", OURS], OURS, "apps/v1")
    assert taken.entries == [entry(OURS, spec("a", "b", "c", "d"), "Apply", time="1")]


def test_fields_are_not_taken_over_if_our_entry_has_another_api_version():
    """there can be one Apply entry of a manager only, and field names of two versions do not mix"""
    own = entry(OURS, spec("a"), "Apply", version="apps/v1beta1")
    assert take_over(live(own, entry(THEIRS, spec("b"))), [THEIRS], OURS, "apps/v1") is None


def test_entries_of_a_subresource_are_taken_over_for_it_alone():
    main, status = entry(THEIRS, spec("a")), entry(THEIRS, {"f:status": {"f:x": {}}}, subresource="status")
    taken = take_over(live(main, status), [THEIRS], OURS, "apps/v1", "status")
    assert taken.entries == [main, entry(OURS, {"f:status": {"f:x": {}}}, "Apply", subresource="status")]


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ([], {}),
        ([{}, {"f:a": {}}], {"f:a": {}}),
        ([{"f:a": {}}, {"f:b": {}}], {"f:a": {}, "f:b": {}}),
        ([{"f:a": {"f:x": {}}}, {"f:a": {"f:y": {}}}], {"f:a": {"f:x": {}, "f:y": {}}}),
        ([{"f:a": {}}, {"f:a": {"f:x": {}}}], {"f:a": {".": {}, "f:x": {}}}),
        ([{"f:a": {".": {}, "f:x": {}}}, {"f:a": {".": {}}}], {"f:a": {".": {}, "f:x": {}}}),
        ([{"f:a": {}}, {"f:a": {}}], {"f:a": {}}),
    ],
)
def test_the_union_contains_the_fields_of_all_sets_in_any_order(sets, expected):
    assert union(sets) == expected
    assert union(reversed(sets)) == expected


POD = {
    "containers": [{"name": "main", "image": "x", "env": [{"name": "A", "value": "1"}]}, {"name": "side", "image": "s"}],
    "securityContext": {"runAsNonRoot": True},
    "nodeSelector": {"a": "1", "b": "2"},
    "volumes": [{"name": "old", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}],
}
ALL = {
    "f:spec": {
        "f:containers": {
            'k:{"name":"main"}': {".": {}, "f:name": {}, "f:image": {}, "f:env": {".": {}, 'k:{"name":"A"}': {".": {}, "f:name": {}}}},
            'k:{"name":"side"}': {".": {}, "f:name": {}, "f:image": {}},
        },
        "f:securityContext": {"f:runAsNonRoot": {}},
        "f:nodeSelector": {},
        "f:volumes": {
            ".": {},
            'k:{"name":"old"}': {".": {}, "f:name": {}, "f:emptyDir": {}},
            'k:{"name":"tmp"}': {".": {}, "f:name": {}, "f:emptyDir": {}},
        },
    }
}


@pytest.mark.parametrize(
    ("kept", "left"),
    [
        pytest.param({}, {}, id="nothing is wanted"),
        pytest.param({"f:containers": {'k:{"name":"side"}': {".": {}, "f:name": {}}}}, {"containers": [{"name": "side"}]}, id="an item"),
        pytest.param(
            {"f:containers": {'k:{"name":"main"}': {"f:image": {}}}}, {"containers": [{"image": "x"}]}, id="what another owns in an item"
        ),
        pytest.param({"f:nodeSelector": {}}, {"nodeSelector": {"a": "1", "b": "2"}}, id="a whole"),
        pytest.param({"f:nodeSelector": {"f:b": {}}}, {"nodeSelector": {"a": "1", "b": "2"}}, id="a part of a whole"),
        pytest.param({"f:securityContext": {}}, {"securityContext": {}}, id="emptied, and still owned"),
        pytest.param(
            {"f:volumes": {'k:{"name":"tmp"}': {".": {}, "f:name": {}, "f:emptyDir": {}}}},
            {"volumes": [{"name": "tmp", "emptyDir": {}}]},
            id="one of two items",
        ),
    ],
)
def test_fields_that_no_other_manager_owns_are_removed(kept, left):
    answer = live(entry(THEIRS, ALL), entry(OURS, {"f:spec": kept}, "Apply") if kept else entry(OURS, {}, "Apply"), spec=POD)
    outcome_ = outcome(answer, TakeOver([], ALL), OURS)
    assert outcome_.get("spec", {}) == left


def test_only_items_that_no_other_manager_owns_are_removed_from_a_list():
    fields = {"f:metadata": {"f:finalizers": {".": {}, 'v:"a/1"': {}, 'v:"a/2"': {}}, "f:labels": {"f:l": {}}}}
    third = entry("kubectl", {"f:metadata": {"f:finalizers": {'v:"a/2"': {}}}})
    answer = live(entry(THEIRS, fields), third)
    answer["metadata"].update(finalizers=["a/1", "a/2", "b/3"], labels={"l": "1", "m": "2"})
    metadata = outcome(answer, TakeOver([third], fields), OURS)["metadata"]
    assert metadata["finalizers"] == ["a/2", "b/3"]
    assert metadata["labels"] == {"m": "2"}


def test_a_replacement_contains_only_the_differences():
    old = {"apiVersion": "v1", "kind": "X", "metadata": {"uid": "u", "labels": {"a": "1"}, "annotations": {"b": "1"}}, "data": 1, "gone": 2}
    new = {"apiVersion": "v1", "kind": "X", "metadata": {"labels": {"a": "2"}}, "data": 1, "more": 3}
    assert replacement(old, new) == [
        {"op": "remove", "path": "/gone"},
        {"op": "add", "path": "/more", "value": 3},
        {"op": "remove", "path": "/metadata/annotations"},
        {"op": "add", "path": "/metadata/labels", "value": {"a": "2"}},
    ]


def test_conflicts_with_managers_that_are_taken_over_are_ignored():
    def conflict(text):
        return {"reason": "FieldManagerConflict", "message": text, "field": ".spec"}

    theirs = [conflict('conflict with "other-operator" using apps/v1'), conflict('conflict with "other-operator"')]
    others = [
        conflict('conflict with "kubectl" with subresource "scale" using apps/v1'),
        conflict('conflict with "other-operator-2"'),
        {"reason": "FieldValueInvalid", "message": 'conflict with "other-operator"'},
    ]
    assert other_causes([*theirs, *others], [THEIRS]) == others
    assert other_causes(theirs, [THEIRS]) == []
