# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Module apply and a ServiceAccount that was recreated: pods whose tokens the API server rejects are replaced."""

from __future__ import annotations

import json

import pytest
from support.objects import deployment

REVERTED = "osso.scheduler/reverted"
KEY = "osso.scheduler/service-account"


@pytest.fixture
def run(apply, namespace):
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "app", "namespace": namespace}}
    manifests = [account, deployment(namespace, replicas=0, serviceAccountName="app")]
    return lambda **options: apply(manifests, set_name="app", set_namespace=namespace, **{"track_accounts": True, **options})


@pytest.fixture
def live(kubectl, namespace):
    return lambda kind="deployment": kubectl.json("get", kind, "app", f"--namespace={namespace}")


@pytest.fixture
def records(live):
    """The uid of the account, the one that the Deployment records, and the one that its pods were replaced for."""

    def read():
        found = live()
        return (
            live("serviceaccount")["metadata"]["uid"],
            found["metadata"]["labels"].get(KEY),
            (found["spec"]["template"]["metadata"].get("annotations") or {}).get(KEY),
        )

    return read


def is_unchanged(done) -> bool:
    return not done.result["changed"] and done.result["requests"]["write"] == 0 and not done.warnings


@pytest.mark.parametrize("tracked", [pytest.param(True, id="recorded"), pytest.param(False, id="created by an earlier release")])
def test_pods_are_replaced_when_the_run_recreates_their_account(run, live, records, kubectl, namespace, tracked):
    run(track_accounts=tracked)
    if tracked:
        first, recorded, replaced = records()
        assert (recorded, replaced) == (first, None)
        assert is_unchanged(run())
    before = live()["metadata"]["generation"]
    kubectl("delete", "serviceaccount", "app", f"--namespace={namespace}")

    predicted = run(check=True)
    assert predicted.result["requests"]["write"] == 0
    assert live()["metadata"]["generation"] == before
    done = run()
    expected = {"ConfigMap osso-set-app": "unchanged", "ServiceAccount app": "created", "Deployment app": "updated"}
    assert done.actions() == predicted.actions() == expected
    for texts, word in ((predicted.warnings, "Would be"), (done.warnings, "Are being")):
        assert any(f"Deployment {namespace}/app: the API server rejects the tokens" in text and word in text for text in texts)
    uid, *recorded = records()
    assert recorded == [uid, uid]
    assert live()["metadata"]["generation"] == before + 1
    assert is_unchanged(run())
    assert is_unchanged(run(check=True))


def test_pods_are_replaced_after_others_recreated_their_account(run, live, records, kubectl, namespace):
    """such as a backup that was restored, or an earlier run that was interrupted"""
    run()
    kubectl("delete", "serviceaccount", "app", f"--namespace={namespace}")
    kubectl("create", "serviceaccount", "app", f"--namespace={namespace}")
    assert run(adopt=True).actions()["Deployment app"] == "updated"
    uid, *recorded = records()
    assert recorded == [uid, uid]
    assert is_unchanged(run())


def test_a_missing_record_is_added_without_a_rollout(run, live, records):
    run(track_accounts=False)
    before = live()["metadata"]["generation"]
    run()
    uid, *recorded = records()
    assert recorded == [uid, None]
    assert live()["metadata"]["generation"] == before
    assert is_unchanged(run())


def test_a_released_deployment_has_no_record(run, live, kubectl, namespace):
    theirs = deployment(namespace, replicas=0, serviceAccountName="app")
    kubectl.apply(theirs)
    run(adopt=True, revert_additions=True)
    added = {"spec": {"template": {"metadata": {"annotations": {"example.com/added": "1"}}}}}
    kubectl("patch", "deployment", "app", f"--namespace={namespace}", f"--patch={json.dumps(added)}")
    run(revert_additions=True)
    assert REVERTED in live()["metadata"]["annotations"]
    assert KEY in live()["metadata"]["labels"]
    run(state="absent")
    metadata = live()["metadata"]
    assert [key for key in {**metadata["annotations"], **metadata.get("labels", {})} if key.startswith("osso.scheduler/")] == []
