# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""playbooks/site.yml over an inventory of clusters: three real API servers without controllers. How it grows with more of them: tests/long/test_fleet.py."""

from __future__ import annotations

import json
import os
import re

import pytest
from support.bare_cluster import bare_clusters
from support.fleet import VARIABLES, forbidden, inventory, site, table
from support.site import NAMESPACE

NAMES = ["berlin", "lisbon", "oslo"]
RESOURCE = f"/apis/operator.openshift.io/v1/namespaces/{NAMESPACE}/secondaryschedulers/cluster"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    with bare_clusters(tmp_path_factory.mktemp("fleet"), NAMES) as clusters:
        yield clusters


@pytest.fixture(scope="module")
def release(fleet) -> str:
    version = json.loads(fleet["berlin"].get("/version"))
    return f"{version['major']}.{version['minor']}"


@pytest.fixture(scope="module")
def accesses(fleet, tmp_path_factory):
    """One by kubeconfig and context, two by host and token."""
    path = fleet["berlin"].kubeconfig(tmp_path_factory.mktemp("access") / "berlin.kubeconfig", "admin", current=False)
    by_token = {name: fleet[name].access for name in NAMES[1:]}
    return {"berlin": {"kubeconfig": str(path), "context": "admin"}, **by_token}


@pytest.fixture(scope="module")
def installed(fleet, accesses, tmp_path_factory):
    return site(inventory(tmp_path_factory.mktemp("first") / "inventory.json", accesses), variables={"fleet_serial": [1, "100%"]})


def handed_on(run):
    """What the next job of a workflow gets, told once."""
    told = run.task("Set the result for the next job of a workflow").result["ansible_stats"]
    assert not told["per_host"]
    (name,) = told["data"]
    return name, {cluster: (row["outcome"], row["changed"]) for cluster, row in told["data"][name]["clusters"].items()}


def reported_as_failed(run):
    """What Ansible's recap, and so Automation Platform, shows as failed."""
    recap = run.stdout.partition("PLAY RECAP")[2]
    counts = dict(re.findall(r"^(\S+)\s.* failed=(\d+)", recap, re.MULTILINE))
    assert counts, run.output()
    return [name for name, count in counts.items() if int(count)]


def positions(fleet):
    return {name: cluster.position() for name, cluster in fleet.items()}


def test_first_run_installs_on_all_clusters_and_on_the_canary_first(installed, fleet, release):
    assert table(installed) == dict.fromkeys(NAMES, f"{release} osso 1.0.0 secondary-scheduler operator, schedulers")
    (_berlin, *others) = [task.host for task in installed.tasks if task.task.endswith("Apply schedulers")]
    assert (_berlin, sorted(others)) == ("berlin", ["lisbon", "oslo"])
    for cluster in fleet.values():
        assert b'"kind":"SecondaryScheduler"' in cluster.get(RESOURCE)
    assert handed_on(installed) == ("osso_site", dict.fromkeys(NAMES, ("done", ["operator", "schedulers"])))


def test_second_run_changes_nothing_sends_no_write_and_prints_no_secret(installed, fleet, release, accesses, tmp_path):
    before = positions(fleet)
    folder = tmp_path / "of/this job"
    run = site(inventory(tmp_path / "inventory.json", accesses), variables={"fleet_dest": str(folder)})
    assert run.changed == []
    assert table(run) == dict.fromkeys(NAMES, f"{release} osso 1.0.0 secondary-scheduler nothing")
    for name, cluster in fleet.items():
        assert cluster.requests(before[name]), "this would not see a write"
        assert cluster.writes(before[name]) == []
    document = json.loads((folder / "fleet.json").read_text())
    uids = [json.loads(cluster.get("/api/v1/namespaces/kube-system"))["metadata"]["uid"] for cluster in fleet.values()]
    assert [one["id"] for one in document["clusters"]] == [uid[:8] for uid in uids]
    assert [(one["cluster"], one["outcome"], one["changed"]) for one in document["clusters"]] == [(name, "done", []) for name in NAMES]
    page = (folder / "fleet.html").read_text()
    assert all(f"<td>{name}</td>" in page for name in NAMES)
    written = run.output() + page + json.dumps(document) + json.dumps([task.result for task in run.tasks])
    assert all(cluster.token not in written for cluster in fleet.values())


def test_check_of_a_change_reports_it_for_each_cluster_and_writes_nothing(installed, fleet, release, accesses, tmp_path):
    scheduler = {**VARIABLES["secondary_schedulers"][0], "log_level": "Debug"}
    before = positions(fleet)
    run = site(inventory(tmp_path / "inventory.json", accesses), check=True, variables={"secondary_schedulers": [scheduler]})
    assert table(run) == dict.fromkeys(NAMES, f"{release} osso 1.0.0 secondary-scheduler schedulers")
    assert [cluster.writes(before[name]) for name, cluster in fleet.items()] == [[]] * 3
    assert list(tmp_path.iterdir()) == [tmp_path / "inventory.json"]


def dead(access):
    # Nothing listens at the discard port.
    return {**access, "host": "https://127.0.0.1:9", "retry_seconds": 1}


def test_one_dead_and_one_forbidden_cluster_do_not_stop_the_third(installed, fleet, release, accesses, tmp_path):
    broken = {"berlin": forbidden(fleet["berlin"]), "lisbon": dead(accesses["lisbon"]), "oslo": accesses["oslo"]}
    run = site(inventory(tmp_path / "inventory.json", broken), variables={"fleet_dest": str(tmp_path)}, succeed=False)
    assert run.rc == 2
    lines = table(run)
    assert lines["oslo"] == f"{release} osso 1.0.0 secondary-scheduler nothing"
    assert "failed: " in lines["berlin"]
    assert "cannot " in lines["berlin"]
    assert "failed: Fail if the cluster is unknown: the API server https://127.0.0.1:9 cannot be reached" in lines["lisbon"]
    assert reported_as_failed(run) == ["berlin", "lisbon"]
    reasons = {one["cluster"]: one["reason"] for one in json.loads((tmp_path / "fleet.json").read_text())["clusters"]}
    assert {name for name, reason in reasons.items() if reason} == {"berlin", "lisbon"}
    written = run.output() + (tmp_path / "fleet.html").read_text() + json.dumps(reasons)
    assert all(cluster.token not in written and cluster.weak_token not in written for cluster in fleet.values())


def test_no_other_cluster_is_changed_if_the_canary_fails(installed, fleet, accesses, tmp_path):
    """The canary is what the group of that name has, though it is not the first."""
    before = positions(fleet)
    path = inventory(tmp_path / "inventory.json", {**accesses, "oslo": forbidden(fleet["oslo"])}, canary=["oslo"])
    run = site(path, variables={"fleet_serial": [1, "100%"]}, succeed=False)
    assert (run.rc, reported_as_failed(run)) == (2, ["oslo"])
    lines = table(run)
    assert list(lines) == ["oslo", "berlin", "lisbon"]
    assert "failed: " in lines["oslo"]
    assert lines["berlin"] == lines["lisbon"] == "- - - - not begun: oslo failed before"
    assert fleet["oslo"].requests(before["oslo"]), "the canary was tried"
    assert [len(fleet[name].requests(before[name])) for name in ("berlin", "lisbon")] == [1, 1], "asked who they are, and nothing else"
    assert handed_on(run) == ("osso_site", {"oslo": ("failed", []), "berlin": ("not begun", []), "lisbon": ("not begun", [])})


@pytest.mark.parametrize(
    ("serial", "refused"),
    [
        ([1, "100%"], True),
        pytest.param("30%", True, marks=pytest.mark.long),
        pytest.param(3, False, marks=pytest.mark.long),
        ("100%", False),
    ],
)
def test_a_canary_that_ansible_would_ignore_is_rejected(installed, fleet, accesses, serial, refused, tmp_path):
    """Ansible makes batches before it looks at variables of groups."""
    before = positions(fleet)
    path = inventory(tmp_path / "inventory.json", accesses)
    content = json.loads(path.read_text())
    content["clusters"]["vars"] = {"fleet_serial": serial}
    path.write_text(json.dumps(content))
    # What fails by itself, without a request
    run = site(path, variables={"secondary_schedulers": [{"name": "lacking"}]}, succeed=False)
    assert ("Give it as an extra variable" in run.failures[0].result["msg"]) == refused
    assert [len(cluster.requests(before[name])) for name, cluster in fleet.items()] == [0 if refused else 1] * 3


def test_an_invalid_batch_size_is_one_error(accesses, tmp_path):
    run = site(inventory(tmp_path / "inventory.json", accesses), variables={"fleet_serial": "abc"}, succeed=False)
    assert "fleet_serial is 'abc': give a number of clusters of 1 or more" in run.output()
    assert "this is probably a bug" not in run.output()


@pytest.mark.parametrize("playbook", ["site", "remove"])
def test_one_cluster_under_two_names_is_rejected_before_the_canary_is_changed(installed, fleet, accesses, playbook, tmp_path):
    """Also where the second name is in a later batch and says it another way. The scheduler and its removal would be a write."""
    before = positions(fleet)
    again = {"munich": {**fleet["berlin"].access, "host": fleet["berlin"].url + "/"}}
    path = inventory(tmp_path / "inventory.json", {**accesses, **again})
    scheduler = {**VARIABLES["secondary_schedulers"][0], "log_level": "Debug"}
    variables = {"fleet_serial": [1, "100%"], "secondary_schedulers": [scheduler]}
    (failure,) = site(path, playbook=playbook, variables=variables, succeed=False).failures
    assert failure.result["msg"].startswith(f"berlin, munich are one cluster ({fleet['berlin'].url}, id ")
    assert [cluster.writes(before[name]) for name, cluster in fleet.items()] == [[]] * 3
    assert all(cluster.requests(before[name]) for name, cluster in fleet.items()), "this would not see a write"


def test_a_cluster_with_unusable_access_fails_alone(installed, fleet, release, accesses, tmp_path):
    """A context that does not exist, and a kubeconfig without a server, for which the client would go to localhost."""
    path = fleet["lisbon"].kubeconfig(tmp_path / "lisbon.kubeconfig", "admin")
    content = json.loads(path.read_text())
    del content["clusters"][0]["cluster"]["server"]
    serverless = {"kubeconfig": content, "context": "admin"}
    broken = {"berlin": {**accesses["berlin"], "context": "amdin"}, "lisbon": serverless, "oslo": accesses["oslo"]}
    lines = table(site(inventory(tmp_path / "inventory.json", broken), succeed=False))
    assert "No usable credentials for a cluster: Invalid kube-config file. Expected object with name amdin" in lines["berlin"]
    assert "the kubeconfig's cluster has no server" in lines["lisbon"]
    assert lines["oslo"] == f"{release} osso 1.0.0 secondary-scheduler nothing"


def test_a_batch_in_which_every_cluster_fails_does_not_end_the_run(installed, fleet, accesses, tmp_path):
    path = inventory(tmp_path / "inventory.json", {**accesses, "lisbon": forbidden(fleet["lisbon"])})
    # Ansible itself would stop there, or forget what happened by its end.
    run = site(path, playbook="configure", variables={"fleet_serial": 1}, succeed=False)
    assert run.rc == 2
    assert [line.rpartition(" ")[2] for line in table(run).values()][::2] == ["nothing", "nothing"]
    assert handed_on(run) == ("osso_configure", {"berlin": ("done", []), "lisbon": ("failed", []), "oslo": ("done", [])})
    assert reported_as_failed(run) == ["lisbon"], "also in the batches after it"


def test_a_folder_of_kubeconfigs_is_an_inventory(installed, root, fleet, release, tmp_path):
    for name, cluster in fleet.items():
        path = cluster.kubeconfig(tmp_path / f"{name}.kubeconfig", "admin", current=False)
        path.write_text(json.dumps({**json.loads(path.read_text()), "current-context": "admin"}))
    run = site(root / "docs/inventories/kubeconfigs.sh", check=True, env={"KUBECONFIGS": os.fspath(tmp_path)})
    assert table(run) == dict.fromkeys(NAMES, f"{release} osso 1.0.0 secondary-scheduler nothing")


def test_an_inventory_without_clusters_does_not_use_the_cluster_of_the_environment(tmp_path):
    """Such as the cluster of the environment, where an inventory came out empty."""
    run = site(inventory(tmp_path / "inventory.json", {}), variables={"fleet_required": True})
    assert run.tasks == []
    assert "no hosts matched" in run.stdout


@pytest.mark.long
def test_check_of_a_removal_reports_it_for_each_cluster_and_writes_nothing(installed, fleet, release, accesses, tmp_path):
    before = positions(fleet)
    run = site(inventory(tmp_path / "inventory.json", accesses), playbook="remove", check=True)
    assert table(run) == dict.fromkeys(NAMES, f"{release} - - operator, schedulers")
    assert [cluster.writes(before[name]) for name, cluster in fleet.items()] == [[]] * 3


def test_a_dead_cluster_does_not_stop_the_removal_from_the_others(installed, fleet, release, accesses, tmp_path):
    """The last one: it takes away what the others need."""
    path = inventory(tmp_path / "inventory.json", {**accesses, "lisbon": dead(accesses["lisbon"])})
    with fleet["berlin"].deletions_end(), fleet["oslo"].deletions_end():
        run = site(path, playbook="remove", variables={"fleet_serial": [1, "100%"], "fleet_dest": str(tmp_path)}, succeed=False)
    assert run.rc == 2
    lines = table(run)
    assert lines["berlin"] == lines["oslo"] == f"{release} - - operator, schedulers"
    assert lines["lisbon"].startswith("- - - nothing failed: ")
    found = {one["cluster"]: (one["outcome"], one["changed"]) for one in json.loads((tmp_path / "fleet.json").read_text())["clusters"]}
    assert found == {"berlin": ("done", ["operator", "schedulers"]), "lisbon": ("failed", []), "oslo": ("done", ["operator", "schedulers"])}
    for name in ("berlin", "oslo"):
        assert f'"name":"{NAMESPACE}"'.encode() not in fleet[name].get("/api/v1/namespaces")
    assert b'"kind":"SecondaryScheduler"' in fleet["lisbon"].get(RESOURCE)
    assert table(site(path, playbook="remove", succeed=False))["oslo"] == f"{release} - - nothing"
