# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The main job on a fresh cluster: install, again, remove, and nothing left. Check mode and refusals: tests/api/test_site.py."""

from __future__ import annotations

import pytest
from support.inventory import at_rest, everything
from support.scheduler import IMAGE, Scheduler, eventually
from support.site import NAMESPACE, VARIABLES, remove, site


@pytest.fixture(scope="module")
def fresh(kubectl):
    """A cluster without us, and without the namespaces that other tests leave to be deleted."""
    remove()
    eventually(lambda: "namespace/test-" not in kubectl("get", "namespaces", "--output=name").stdout)
    return at_rest(kubectl)


def test_the_comparison_detects_a_planted_object(fresh, kubectl):
    kubectl("create", "clusterrole", "planted", "--verb=get", "--resource=pods")
    try:
        assert everything(kubectl) - fresh == {("rbac.authorization.k8s.io/v1", "ClusterRole", "<none>", "planted")}
    finally:
        kubectl("delete", "clusterrole", "planted")
    assert everything(kubectl) == fresh


@pytest.fixture(scope="module")
def installed(fresh):
    return site()


def test_first_run_installs_the_scheduler_and_probes_it(installed, kubectl):
    assert {"Apply the operator", "Apply schedulers"} <= {name.rpartition(" : ")[2] for name in installed.changed}
    probe = installed.task("Verify each scheduler with a test pod").result["results"][0]
    assert probe["scheduler"] == "secondary-scheduler"
    assert kubectl.json("get", "pods", "--namespace=default")["items"] == []


def test_second_run_changes_nothing_and_sends_no_write(installed, audit):
    with audit:
        run = site()
    assert run.changed == []
    assert audit.writes() == []
    assert [task.status for task in run.tasks if task.task.endswith("Verify each scheduler with a test pod")] == ["skipped"]


@pytest.mark.long
def test_a_name_and_a_preset_are_all_that_a_user_writes(installed, kubectl):
    name = "packed"
    item = {"name": name, "image": IMAGE, "preset": "high_node_utilization"}
    try:
        run = site(variables={"secondary_schedulers": [item], "probe": "always"})
        assert run.task("Verify each scheduler with a test pod").result["results"][0]["scheduler"] == name
        again = site(variables={"secondary_schedulers": [item]})
        assert again.changed == []
    finally:
        site(variables={"secondary_schedulers": [{**item, "state": "absent"}], "probe": "never"})
    assert Scheduler(kubectl, name).resource is None


def test_check_mode_predicts_a_change_and_writes_nothing(installed, kubectl, audit):
    scheduler = {**VARIABLES["secondary_schedulers"][0], "log_level": "Debug"}
    with audit:
        run = site(check=True, diff=True, variables={"secondary_schedulers": [scheduler]})
    assert audit.writes() == []
    result = run.task("Apply schedulers").result
    assert {item["kind"]: item["action"] for item in result["objects"]} == {"ConfigMap": "unchanged", "SecondaryScheduler": "updated"}
    assert "Debug" in str(result["diff"])


def test_the_operator_runs_with_its_own_restricted_account(installed, kubectl):
    (pod,) = kubectl.json("get", "pods", f"--namespace={NAMESPACE}", "--selector=app.kubernetes.io/name=osso-scheduler-operator")["items"]
    account = f"system:serviceaccount:{NAMESPACE}:osso-scheduler-operator"
    assert pod["spec"]["serviceAccountName"] == "osso-scheduler-operator"
    assert pod["spec"]["containers"][0]["securityContext"]["readOnlyRootFilesystem"] is True
    for verb, what in (("create", "clusterroles"), ("get", "secrets"), ("create", "pods"), ("*", "*")):
        answer = kubectl("auth", "can-i", verb, what, f"--as={account}", "--namespace=default", check=False)
        assert answer.stdout.strip() == "no", f"the operator may {verb} {what} in the namespace default"
    assert kubectl("auth", "can-i", "create", "clusterrolebindings", f"--as={account}").stdout.strip() == "yes"


def test_check_of_remove_predicts_and_writes_nothing(installed, kubectl, audit):
    with audit:
        run = remove(check=True)
    assert audit.writes() == []
    assert {"Delete all secondary schedulers, while the operator can clean up after them", "Delete the operator"} == {
        name.rpartition(" : ")[2] for name in run.changed
    }


def test_removal_deletes_everything_that_the_installation_created(installed, fresh, kubectl):
    assert everything(kubectl) - fresh, "nothing to remove"
    remove()
    eventually(lambda: everything(kubectl) <= fresh)
    assert fresh - everything(kubectl) == set()
    assert remove().changed == []
