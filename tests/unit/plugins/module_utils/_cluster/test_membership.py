# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which objects belong to a set, and what gives an adopted one back."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import membership
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.membership import Standing

OURS = "osso.scheduler"
SET = ("mine", "home")
LABELS = {"osso.scheduler/set": "mine", "osso.scheduler/set-namespace": "home"}
ADOPTED = {"osso.scheduler/adopted-from": "Update kubectl"}


def entry(manager, operation="Update", *names, version="v1", **more):
    fields = {"f:data": {f"f:{name}": {} for name in names}}
    return {"manager": manager, "operation": operation, "apiVersion": version, "fieldsV1": fields, **more}


def live(**metadata):
    return {"metadata": {"uid": "u", "resourceVersion": "7", **metadata}, "data": {"a": "1"}}


@pytest.mark.parametrize(
    ("present", "recorded", "expected"),
    [
        (None, False, Standing.CREATED),
        (live(labels=LABELS), True, Standing.CREATED),
        (live(labels=LABELS), False, Standing.FOREIGN),
        (live(labels=LABELS, annotations=ADOPTED), True, Standing.ADOPTED),
        (live(labels=LABELS, annotations={"osso.scheduler/adopted-from": ""}), True, Standing.ADOPTED),
        (live(labels=LABELS, annotations=ADOPTED), False, Standing.FOREIGN),
        (live(labels={**LABELS, "osso.scheduler/set-namespace": "other"}), True, Standing.FOREIGN),
        (live(), True, Standing.FOREIGN),
        (live(labels=None, annotations=None), True, Standing.FOREIGN),
    ],
)
def test_labels_annotations_and_record_give_the_standing_of_an_object(present, recorded, expected):
    assert membership.standing(present, SET, recorded) is expected


def test_the_set_is_in_the_labels():
    assert membership.set_of(live(labels=LABELS)) == SET
    assert membership.set_of(live(labels={"osso.scheduler/set": "mine"})) == ("mine", None)
    assert membership.set_of(live(labels={"osso.scheduler/set-namespace": "home"})) is None
    assert membership.set_of(live(labels=None)) is None


def test_any_entry_of_a_manager_counts_as_its_fields():
    present = live(managedFields=[entry("kubectl"), entry("controller", subresource="status"), {}])
    assert membership.has_fields_of(present, ["controller"])
    assert not membership.has_fields_of(present, ["other"])
    assert not membership.has_fields_of(live(managedFields=None), ["kubectl"])


def test_managers_are_those_of_the_object_or_of_its_subresource():
    present = live(
        managedFields=[entry("z"), entry("a"), entry("a", "Apply"), entry("controller", subresource="status"), {"operation": "Update"}]
    )
    assert membership.managers(present) == ["a", "z"]
    assert membership.managers(present, "status") == ["controller"]
    assert membership.managers(live(managedFields=None)) == []


@pytest.mark.parametrize(
    ("managed", "former"),
    [
        (
            [entry("kubectl", "Update", "a"), entry("helm", "Apply", "b", "c"), entry("x", "Update", "a", "b", "c", subresource="status")],
            "Apply helm",
        ),
        ([{**entry("", "Update", "a", "b")}, {"manager": "bare", "operation": "Update"}], "Update bare"),
        ([entry(OURS, "Apply", "a", "b"), entry("kubectl", "Update", "c")], "Update kubectl"),
        ([entry(OURS, "Apply", "a")], f"Apply {OURS}"),
        ([], ""),
        (None, ""),
    ],
)
def test_an_adopted_object_names_the_manager_that_has_most_fields(managed, former):
    wanted = {"metadata": {"name": "n", "ownerReferences": [{"uid": "o"}], "annotations": {"own": "1"}}, "data": {"a": "2"}}
    before = copy.deepcopy(wanted)
    annotations = {"own": "1", "osso.scheduler/adopted-from": former}
    assert membership.adopted(wanted, live(managedFields=managed), OURS) == {
        "metadata": {"name": "n", "annotations": annotations},
        "data": {"a": "2"},
    }
    assert wanted == before


@pytest.mark.parametrize("recorded", ["Update first", ""])
def test_an_object_that_is_adopted_already_keeps_its_former_manager(recorded):
    present = live(annotations={"osso.scheduler/adopted-from": recorded}, managedFields=[entry("other", "Update", "a")])
    assert membership.adopted({"metadata": {"name": "n"}}, present, OURS)["metadata"]["annotations"] == {
        "osso.scheduler/adopted-from": recorded
    }


def test_a_released_object_loses_the_labels_and_annotations_of_the_set():
    labels = {**LABELS, "osso.scheduler/service-account": "sa", "app": "x"}
    kubectl, own, status = (
        entry("kubectl", "Update", "a"),
        entry(OURS, "Apply", "b"),
        entry("controller", "Update", "s", subresource="status"),
    )
    present = live(
        labels=labels, annotations={**ADOPTED, "osso.scheduler/reverted": "{}", "own": "1"}, managedFields=[status, own, kubectl]
    )
    unchanged = copy.deepcopy(present)
    assert membership.release(present, OURS) == [
        {"op": "test", "path": "/metadata/uid", "value": "u"},
        {"op": "remove", "path": "/metadata/labels/osso.scheduler~1set"},
        {"op": "remove", "path": "/metadata/labels/osso.scheduler~1set-namespace"},
        {"op": "remove", "path": "/metadata/labels/osso.scheduler~1service-account"},
        {"op": "remove", "path": "/metadata/annotations/osso.scheduler~1adopted-from"},
        {"op": "remove", "path": "/metadata/annotations/osso.scheduler~1reverted"},
        {"op": "replace", "path": "/metadata/managedFields", "value": [status, entry("kubectl", "Update", "a", "b")]},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
    ]
    assert present == unchanged


def test_only_existing_labels_of_a_set_are_removed():
    assert membership.without_labels(live(labels={"app": "x", "osso.scheduler/set": "mine"})) == [
        {"op": "remove", "path": "/metadata/labels/osso.scheduler~1set"}
    ]
    assert membership.without_labels(live(labels=None)) == []


OWN = entry(OURS, "Apply", "b")


@pytest.mark.parametrize(
    ("former", "managed", "returned"),
    [
        pytest.param("Apply helm", [OWN], [entry("helm", "Apply", "b")], id="the former manager has no entry any more"),
        pytest.param("Update ours and blanks", [OWN], [entry("ours and blanks", "Update", "b")], id="a manager with blanks in its name"),
        pytest.param(
            "Update kubectl",
            [entry("kubectl", "Update", "a", version="v1beta1"), entry("kubectl", "Apply", "c"), OWN],
            [entry("kubectl", "Update", "a", version="v1beta1"), entry("kubectl", "Apply", "c"), entry("kubectl", "Update", "b")],
            id="entries of another version or operation stay",
        ),
        pytest.param("", [OWN, entry("kubectl", "Update", "a")], [entry("kubectl", "Update", "a")], id="no manager had it"),
        pytest.param("", [OWN], [{}], id="a list with nothing left is emptied"),
        pytest.param("Delete kubectl", [OWN], [{}], id="an operation that does not exist"),
        pytest.param("Update", [OWN], [{}], id="an operation without a manager"),
        pytest.param(
            "Update kubectl",
            [entry(OURS, "Update", "b"), entry(OURS, "Apply", "s", subresource="status")],
            [entry(OURS, "Update", "b"), entry(OURS, "Apply", "s", subresource="status")],
            id="nothing was applied",
        ),
    ],
)
def test_fields_that_we_applied_belong_to_the_former_manager_again(former, managed, returned):
    present = live(annotations={"osso.scheduler/adopted-from": former}, managedFields=managed)
    assert [one["value"] for one in membership.release(present, OURS) if one["path"] == "/metadata/managedFields"] == [returned]
