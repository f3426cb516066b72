# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Roles where users have created or changed what the roles are to write. No scheduler runs: that is not the question here."""

from __future__ import annotations

import json

import pytest

RBAC = "rbac.authorization.k8s.io"
NAME = "custom-scheduler"
IMAGE = "registry.k8s.io/kube-scheduler:v1.34.7"
SCHEDULER = {"name": NAME, "image": IMAGE}


def documented() -> list[dict]:
    """The objects of OpenShift's documentation on custom schedulers, shortened where the role writes the same."""
    labels = {"component": "scheduler", "tier": "control-plane"}
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": "kube-system"}
    config = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: {leaderElect: false}\n"
    container = {"name": "kube-second-scheduler", "image": "registry.example.com/theirs:1", "command": ["/usr/local/bin/kube-scheduler"]}
    pod = {"serviceAccountName": NAME, "containers": [container]}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": "kube-system"}},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "scheduler-config", "namespace": "kube-system"},
            "data": {"scheduler-config.yaml": config},
        },
        *(
            {
                "apiVersion": f"{RBAC}/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": f"{NAME}-as-{role}"},
                "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": f"system:{role}"},
                "subjects": [subject],
            }
            for role in ("kube-scheduler", "volume-scheduler")
        ),
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": NAME, "namespace": "kube-system", "labels": labels},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": {**labels, "version": "second"}}, "spec": pod},
            },
        },
    ]


def names(objects) -> set[tuple[str, str]]:
    return {(one["kind"], one["metadata"]["name"]) for one in objects}


def present(kubectl) -> set[tuple[str, str]]:
    """What there is of the custom scheduler, the documentation's and the role's."""
    kinds = "deployments,serviceaccounts,configmaps,rolebindings,clusterrolebindings"
    found = kubectl.json("get", kinds, "--namespace=kube-system")["items"]
    return {one for one in names(found) if NAME in one[1] or one[1] == "scheduler-config"}


def run(play, item=None, **options):
    variables = {"custom_schedulers": [{**SCHEDULER, **(item or {})}], "custom_scheduler_wait": False, "custom_scheduler_probe": "never"}
    return play("osso.scheduler.custom_scheduler", variables={**variables, **options.pop("variables", {})}, **options)


def objects(run) -> dict[str, set[tuple[str, str]]]:
    """What was done with what."""
    (done,) = run.task("Apply schedulers").result["results"]
    return {action: {(one["kind"], one["name"]) for one in done["objects"] if one["action"] == action} for action in done["counts"]}


@pytest.fixture
def theirs(kubectl, play):
    kubectl.apply(*documented())
    yield names(documented())
    run(play, {"state": "absent"})
    for obj in documented():
        kubectl("delete", obj["kind"], obj["metadata"]["name"], "--namespace=kube-system", "--ignore-not-found", "--wait=false")


def test_the_documented_scheduler_is_left_to_its_owner(theirs, play, kubectl, audit):
    with audit:
        for check in (True, False):
            (failure,) = run(play, check=check, succeed=False).failures
            for kind, name in theirs:
                assert f"{kind} " in failure.result["results"][0]["msg"]
                assert f"{name}: set custom-{NAME} did not create it" in failure.result["results"][0]["msg"]
        run(play, {"state": "absent"})
    assert audit.writes(agent="python") == []
    assert present(kubectl) == theirs


def test_the_documented_scheduler_is_adopted_and_released(theirs, play, kubectl, audit):
    adopt = {"custom_scheduler_adopt": True}
    with audit:
        predicted = run(play, variables=adopt, check=True)
    assert audit.writes() == []
    done = run(play, variables=adopt)
    assert objects(predicted)["adopted"] == objects(done)["adopted"] == theirs
    ours = objects(done)["created"]
    assert ("ConfigMap", f"osso-set-custom-{NAME}") in ours
    assert "adopted by set" in predicted.output()
    deployment = kubectl.get("deployment", NAME, "kube-system")
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == IMAGE

    with audit:
        again = run(play)
    assert again.changed == []
    assert audit.writes(dry_run=True) == []

    predicted = run(play, {"state": "absent"}, check=True)
    gone = run(play, {"state": "absent"})
    for removed in (predicted, gone):
        (result,) = removed.task("Remove schedulers").result["results"]
        assert {(one["kind"], one["name"]) for one in result["objects"] if one["action"] == "released"} == theirs
        assert {(one["kind"], one["name"]) for one in result["objects"] if one["action"] == "deleted"} == ours
    assert present(kubectl) == theirs
    kubectl.apply(*documented())
    containers = kubectl.get("deployment", NAME, "kube-system")["spec"]["template"]["spec"]["containers"]
    assert containers[0]["image"] == "registry.example.com/theirs:1"


def test_a_binding_to_another_role_is_not_adopted(theirs, play, kubectl, audit):
    name = f"{NAME}-as-kube-scheduler"
    binding = next(obj for obj in documented() if obj["metadata"]["name"] == name)
    kubectl("delete", "clusterrolebinding", name)
    kubectl.apply({**binding, "roleRef": {**binding["roleRef"], "name": "view"}})
    with audit:
        done = run(play, variables={"custom_scheduler_adopt": True}, succeed=False)
    assert audit.writes(agent="python") == []
    (failure,) = done.failures
    message = failure.result["results"][0]["msg"]
    assert "Delete the binding, then repeat" in message
    assert "Nothing was written." in message
    assert "Was adopted" not in done.output()
    assert "Was put back" not in done.output()


def test_a_service_account_that_the_role_recreates_replaces_the_pods(play, kubectl):
    def annotations():
        return kubectl.get("deployment", NAME, "kube-system")["spec"]["template"]["metadata"].get("annotations") or {}

    run(play)
    before = annotations()
    kubectl("delete", "serviceaccount", NAME, "--namespace=kube-system")
    assert "rejects the tokens of its pods" in run(play, check=True).output()
    run(play)
    uid = kubectl.get("serviceaccount", NAME, "kube-system")["metadata"]["uid"]
    assert annotations() == {**before, "osso.scheduler/service-account": uid}
    assert run(play).changed == []
    run(play, {"state": "absent"})


@pytest.fixture
def secondary(play, namespace, secondary_scheduler_kind):
    """Run the role secondary_scheduler for one scheduler in the namespace."""

    def run(state="present", check=False, succeed=True, **variables):
        config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"schedulerName": "batch"}],
        }
        item = {"name": "batch", "namespace": namespace, "image": IMAGE, "config": config, "state": state}
        variables = {"secondary_schedulers": [item], "secondary_scheduler_wait": False, **variables}
        tasks = [{"name": "Role", "ansible.builtin.include_role": {"name": "osso.scheduler.secondary_scheduler"}}]
        return play(tasks, variables=variables, check=check, succeed=succeed)

    return run


CONFIG_MAP = "secondary-scheduler-batch-config"


def test_a_changed_config_map_is_restored_with_force_or_reported_as_a_conflict(secondary, kubectl, namespace, audit):
    secondary()
    before = kubectl.get("configmap", CONFIG_MAP, namespace)["data"]
    patch = json.dumps({"data": {"config.yaml": "changed by hand"}})
    kubectl("patch", "configmap", CONFIG_MAP, f"--namespace={namespace}", "--type=merge", f"--patch={patch}")
    with audit:
        (failure,) = secondary(secondary_scheduler_force_conflicts=False, succeed=False).failures
        assert (
            f'ConfigMap {namespace}/{CONFIG_MAP}: could not apply it: conflict: .data.config.yaml is managed by "kubectl-patch"'
            in (failure.result["msg"])
        )
        predicted = secondary(check=True)
    assert audit.writes(agent="python") == []
    done = secondary()
    for run, words in ((predicted, "Would be put back"), (done, "Was put back")):
        assert words in " ".join(run.output().split())
        assert run.changed == ["osso.scheduler.secondary_scheduler : Apply schedulers"]
    assert kubectl.get("configmap", CONFIG_MAP, namespace)["data"] == before
    assert secondary().changed == []


def test_a_config_map_made_by_hand_belongs_to_the_role_only_after_adoption(secondary, kubectl, namespace, audit):
    kubectl("create", "configmap", CONFIG_MAP, f"--namespace={namespace}", "--from-literal=config.yaml=by hand")
    with audit:
        (failure,) = secondary(succeed=False).failures
    assert f"ConfigMap {namespace}/{CONFIG_MAP}: set secondary-schedulers did not create it" in failure.result["msg"]
    assert audit.writes(agent="python") == []
    secondary(secondary_scheduler_adopt=True)
    secondary("absent")
    assert kubectl.get("secondaryscheduler", "batch", namespace) is None
    live = kubectl.get("configmap", CONFIG_MAP, namespace)
    assert "kubescheduler.config.k8s.io" in live["data"]["config.yaml"]
    assert "osso.scheduler/set" not in live["metadata"].get("labels", {})
