# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a run as the module returns it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.additions import Addition, Replacement
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_result import Report
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity

A, B = Identity("v1", "ConfigMap", "n", "a"), Identity("v1", "Namespace", None, "b")
ABOUT_A = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "n", "name": "a"}
ABOUT_B = {"apiVersion": "v1", "kind": "Namespace", "namespace": None, "name": "b"}
NONE = dict.fromkeys(("created", "adopted", "updated", "deleted", "released", "unchanged", "absent"), 0)


def report(**options):
    client = SimpleNamespace(requests={"read": 1, "write": 2, "dry_run": 3})
    return Report(client, **{"check": False, "with_diff": False, **options})


def live(value="1", **metadata):
    return {"kind": "ConfigMap", "metadata": {"name": "a", "uid": "u", **metadata}, "data": {"k": value}, "status": {"seen": value}}


def test_a_run_without_objects_changes_nothing():
    assert report().result() == {
        "changed": False,
        "objects": [],
        "counts": NONE,
        "requests": {"read": 1, "write": 2, "dry_run": 3},
        "resources": [],
        "additions": [],
        "unvalidated": [],
    }


def test_a_result_lists_the_objects_and_their_details():
    collected = report(with_diff=True, return_kinds=["ConfigMap"])
    collected.add(A, "updated", live("1"), live("2", managedFields=[{"manager": "m"}]))
    collected.add(B, "unchanged", {"metadata": {"uid": "v"}}, {"metadata": {"uid": "v"}})
    collected.add_additions(A, [Addition(("f:spec", "f:x"), "other", "t")])
    collected.add_replacements(A, [Replacement(("f:spec", "f:y"), "1", "")])
    collected.not_validated(B, "no reason")
    collected.removed = [live()]
    assert collected.result() == {
        "changed": True,
        "objects": [{**ABOUT_A, "action": "updated", "uid": "u"}, {**ABOUT_B, "action": "unchanged", "uid": "v"}],
        "counts": {**NONE, "updated": 1, "unchanged": 1},
        "requests": {"read": 1, "write": 2, "dry_run": 3},
        "resources": [live("2")],
        "additions": [
            {**ABOUT_A, "field": "spec.x", "manager": "other"},
            {**ABOUT_A, "field": "spec.y", "manager": "", "declared": "1", "live": ""},
        ],
        "unvalidated": [{**ABOUT_B, "reason": "no reason"}],
        "removed": [live()],
        "diff": [
            {
                "before_header": "ConfigMap n/a",
                "after_header": "ConfigMap n/a",
                "before": "data:\n  k: '1'\nkind: ConfigMap\nmetadata:\n  name: a\n",
                "after": "data:\n  k: '2'\nkind: ConfigMap\nmetadata:\n  name: a\n",
            }
        ],
    }


@pytest.mark.parametrize("action", ["created", "adopted", "updated", "deleted", "released"])
def test_each_of_these_actions_is_a_change_with_a_diff(action):
    collected = report(with_diff=True)
    collected.add(A, action, live())
    result = collected.result()
    assert (result["changed"], result["counts"], len(result["diff"])) == (True, {**NONE, action: 1}, 1)


@pytest.mark.parametrize("action", ["unchanged", "absent"])
def test_unchanged_and_absent_objects_are_no_change(action):
    collected = report(with_diff=True)
    collected.add(A, action, live())
    result = collected.result()
    assert (result["changed"], result["counts"], result["diff"]) == (False, {**NONE, action: 1}, [])


def test_a_status_is_in_the_diff_where_it_was_applied():
    collected = report(with_diff=True)
    collected.add(A, "updated", live("1"), live("2"), with_status=True)
    (diff,) = collected.result()["diff"]
    assert diff["before"].endswith("status:\n  seen: '1'\n")
    assert diff["after"].endswith("status:\n  seen: '2'\n")


def test_objects_that_check_mode_would_create_have_no_uid():
    def uid(check, action, before=None, after=None):
        collected = report(check=check)
        collected.add(A, action, before, after)
        return collected.result()["objects"][0].get("uid")

    assert uid(True, "created", None, live()) is None
    assert uid(False, "created", None, live()) == "u"
    assert uid(True, "updated", live(), live()) == "u"
    assert uid(False, "deleted", live()) == "u"
    assert uid(False, "absent") is None


def test_only_the_first_change_of_an_object_is_counted():
    collected = report()
    for action in ("unchanged", "updated", "deleted", "unchanged"):
        collected.add(A, action, live())
    assert collected.result()["counts"] == {**NONE, "updated": 1}


def test_an_undone_change_is_not_reported():
    collected = report(with_diff=True)
    collected.add(A, "updated", live("1"), live("2"))
    collected.add(B, "created", None, {"metadata": {"name": "b"}})
    collected.undo(A)
    collected.undo(Identity("v1", "ConfigMap", "n", "never recorded"))
    result = collected.result()
    assert [one["name"] for one in result["objects"]] == ["b"]
    assert [one["before_header"] for one in result["diff"]] == ["Namespace b"]


def test_resources_are_the_newest_state_of_the_kinds_that_are_requested():
    collected = report(return_kinds=["ConfigMap"])
    collected.see(A, live("1"))
    collected.see(A, live("2"))
    collected.see(A, None)
    collected.see(B, {"metadata": {"name": "b"}})
    assert collected.result()["resources"] == [live("2")]


def test_resources_show_no_credential():
    collected = report(return_kinds=["ConfigMap"])
    given = live("kind: KubeSchedulerConfiguration\nextenders: [{urlPrefix: 'https://me:planted@host'}]\n", resourceVersion="7")
    collected.see(A, given)
    (seen,) = collected.result()["resources"]
    assert "https://********@host" in seen["data"]["k"]
    assert seen["metadata"]["resourceVersion"] == "7"
    assert "planted" in given["data"]["k"]
