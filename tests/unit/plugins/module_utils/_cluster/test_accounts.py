# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Records of the ServiceAccount of a Deployment's pods."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.accounts import SERVICE_ACCOUNT, Account, account, with_account

CREATED = "2026-01-01T00:00:05Z"
LIVE = {"metadata": {"uid": "new", "creationTimestamp": CREATED}}


def deployment(label="", annotation="", ended=None):
    progressing = {"type": "Progressing", "status": "True", **({"lastUpdateTime": ended} if ended else {})}
    return {
        "metadata": {"name": "app", "labels": {SERVICE_ACCOUNT: label} if label else None},
        "spec": {"template": {"metadata": {"annotations": {SERVICE_ACCOUNT: annotation} if annotation else None}}},
        "status": {"conditions": [progressing]},
    }


@pytest.mark.parametrize(
    ("present", "live", "expected"),
    [
        pytest.param(deployment(), None, Account("none", ""), id="no account, no record"),
        pytest.param(deployment("old"), None, Account("old", ""), id="no account, a record"),
        pytest.param(deployment(annotation="old"), None, Account("old", "old"), id="no account, pods that were replaced"),
        pytest.param(deployment("new"), LIVE, Account("new", "", False), id="the recorded account"),
        pytest.param(deployment("new", "new"), LIVE, Account("new", "new", False), id="the account that pods were replaced for"),
        pytest.param(deployment("old"), LIVE, Account("new", "new", True), id="another account"),
        pytest.param(deployment("none"), LIVE, Account("new", "new", True), id="an account where there was none"),
        pytest.param(deployment("new", "older"), LIVE, Account("new", "older", False), id="the label counts before the annotation"),
        pytest.param(deployment(annotation="new"), LIVE, Account("new", "new", False), id="the annotation counts without a label"),
        pytest.param(deployment(ended="2026-01-01T00:00:04Z"), LIVE, Account("new", "new", True), id="created after the last rollout"),
        pytest.param(deployment(ended=CREATED), LIVE, Account("new", "", False), id="created in the second of the last rollout"),
        pytest.param(deployment(), LIVE, Account("new", "", False), id="no rollout yet"),
    ],
)
def test_uid_and_record_show_whether_the_account_of_the_pods_was_recreated(present, live, expected):
    assert account(present, live) == expected


def test_the_manifest_records_the_account():
    wanted = {
        "metadata": {"name": "app", "labels": {"app": "x"}},
        "spec": {"replicas": 1, "template": {"metadata": {"labels": {"app": "x"}}, "spec": {}}},
    }
    before = copy.deepcopy(wanted)
    labelled = {**wanted, "metadata": {"name": "app", "labels": {"app": "x", SERVICE_ACCOUNT: "u"}}}
    assert with_account(wanted, Account()) is wanted
    assert with_account(wanted, Account("u")) == labelled
    pods = {"labels": {"app": "x"}, "annotations": {SERVICE_ACCOUNT: "r"}}
    assert with_account(wanted, Account("u", "r", True)) == {
        **labelled,
        "spec": {"replicas": 1, "template": {"metadata": pods, "spec": {}}},
    }
    assert wanted == before


def test_a_manifest_with_no_metadata_of_its_pods_records_the_account_too():
    wanted = {"metadata": {"name": "app", "labels": None}, "spec": {"template": {"metadata": None}}}
    assert with_account(wanted, Account("u", "r")) == {
        "metadata": {"name": "app", "labels": {SERVICE_ACCOUNT: "u"}},
        "spec": {"template": {"metadata": {"annotations": {SERVICE_ACCOUNT: "r"}}}},
    }
    wanted["spec"]["template"]["metadata"] = {"annotations": {"own": "1"}}
    pods = with_account(wanted, Account("u", "r"))["spec"]["template"]["metadata"]
    assert pods == {"annotations": {"own": "1", SERVICE_ACCOUNT: "r"}}
