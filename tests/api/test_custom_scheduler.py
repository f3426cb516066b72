# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role custom_scheduler on an API server: what it writes and removes. No scheduler runs: that is not the question here."""

from __future__ import annotations

import pytest

PLAYBOOK = "osso.scheduler.custom_scheduler"
IMAGE = "registry.k8s.io/kube-scheduler:v1.34.7"
WITH_PLUGINS = "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7"


@pytest.fixture
def deploy(play, namespace):
    """Run the playbook with these schedulers, in the namespace of the test. They are removed after it."""
    known = {}

    def run(*schedulers, **options):
        items = [{"namespace": namespace, "image": IMAGE, **one} for one in schedulers]
        if not options.get("check"):
            known.update({(one["namespace"], one["name"]): {**one, "state": "absent"} for one in items})
        variables = {"custom_schedulers": items, "custom_scheduler_wait": False, "custom_scheduler_probe": "never"}
        return play(PLAYBOOK, variables=variables, **options)

    yield run
    if known:
        run(*known.values())


def rights(kubectl, name) -> list[dict]:
    """The rules of the ClusterRole of this name that is bound by a ClusterRoleBinding of the same name."""
    found = kubectl.json("get", "clusterroles,clusterrolebindings")["items"]
    found = {one["kind"]: one for one in found if one["metadata"]["name"] == name}
    assert len(found) in (0, 2)
    return found["ClusterRole"]["rules"] if found else []


def test_a_plugin_without_its_kind_ends_the_run_before_the_first_write(deploy, audit):
    with audit:
        failed = deploy({"name": "gangs", "image": WITH_PLUGINS, "preset": "coscheduling"}, succeed=False)
    assert audit.writes() == []
    assert "the plugin Coscheduling reads scheduling.x-k8s.io/v1alpha1 PodGroup, which the API server does not serve" in failed.output()


def test_permissions_of_plugins_are_removed_also_without_the_inventory(deploy, kubectl, namespace, kinds):
    gangs = {"name": "gangs", "image": WITH_PLUGINS, "preset": "coscheduling"}
    deploy(gangs)
    name = f"{namespace}:gangs-plugins"
    assert [rule["resources"] for rule in rights(kubectl, name)] == [["podgroups"]]
    assert deploy(gangs).changed == []
    deploy({**gangs, "preset": "no_scoring"})
    assert rights(kubectl, name) == []
    deploy(gangs)
    kubectl("delete", "configmap", "osso-set-custom-gangs", f"--namespace={namespace}")
    deploy({**gangs, "state": "absent"})
    assert rights(kubectl, name) == []


def test_pods_are_replaced_when_their_edited_configuration_is_restored(deploy, kubectl, namespace):
    """once: a pod that was started after the edit has read it, and the hash of the declared text does not change"""
    scheduler = {"name": "batch"}
    deploy(scheduler)
    patch = '--patch={"data":{"scheduler-config.yaml":"edited"}}'
    revisions = []
    for _edit in range(2):
        before = kubectl.get("deployment", "batch", namespace)["metadata"]["generation"]
        kubectl("patch", "configmap", "batch-config", f"--namespace={namespace}", "--type=merge", patch)
        predicted, done = deploy(scheduler, check=True), deploy(scheduler)
        for run, would in ((predicted, "Would be"), (done, "Are being")):
            assert f"what others wrote into ConfigMap batch-config. {would} replaced." in " ".join(run.output().split())
        live = kubectl.get("deployment", "batch", namespace)
        assert live["metadata"]["generation"] == before + 1
        revisions.append(live["spec"]["template"]["metadata"]["annotations"]["osso.scheduler/restored"])
        assert deploy(scheduler).changed == []
    assert revisions[0] != revisions[1]
    before = kubectl.get("deployment", "batch", namespace)["metadata"]["generation"]
    run = deploy({**scheduler, "preset": "no_scoring"})
    assert "may have read" not in run.output()
    live = kubectl.get("deployment", "batch", namespace)
    assert live["metadata"]["generation"] == before + 1


def test_check_mode_predicts_a_run_that_removes_and_deploys(deploy, kubectl, namespace):
    """The second scheduler has the ConfigMap of the first one, and stays in the namespace that the first one created."""
    home, config_map = f"{namespace}-home", "shared-config"
    first = {"name": "first", "namespace": home, "create_namespace": True, "config_map": config_map}
    second = {"name": "second", "namespace": home, "config_map": config_map}
    try:
        deploy(first)
        change = ({**first, "state": "absent"}, second)
        predicted, done = deploy(*change, check=True), deploy(*change)
        for run in (predicted, done):
            (removed,), (applied,) = (run.task(task).result["results"] for task in ("Remove schedulers", "Apply schedulers"))
            actions = {(one["kind"], one["name"]): one["action"] for one in (*removed["objects"], *applied["objects"])}
            assert (actions["Namespace", home], actions["ConfigMap", config_map], actions["Deployment", "second"]) == (
                "updated",
                "created",
                "created",
            )
        labels = kubectl.get("namespace", home)["metadata"]["labels"]
        assert [key for key in labels if key.startswith("osso.scheduler/")] == []
    finally:
        deploy({**second, "state": "absent"})
        kubectl("delete", "namespace", home, "--ignore-not-found", "--wait=false")


def test_check_mode_knows_the_namespace_that_an_earlier_scheduler_creates(deploy, namespace):
    home = f"{namespace}-new"
    first = {"name": "first", "namespace": home, "create_namespace": True}
    assert home not in missing(deploy(first, {"name": "second", "namespace": home}, check=True))
    assert home in missing(deploy({"name": "second", "namespace": home}, first, check=True))


def missing(run) -> str:
    """The warnings of a run about what does not exist."""
    return "".join(line for line in run.output().splitlines() if "does not exist" in line)
