# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The custom scheduler of OpenShift's documentation, without an operator, on the real cluster (F110 to F118, F121)."""

from __future__ import annotations

import pytest
from support.inventory import everything, sees_what_is_planted
from support.scheduler import IMAGE, eventually

PLAYBOOK = "osso.scheduler.custom_scheduler"
DOCUMENTED = {"image": IMAGE}
# Written by the cluster for what other tests do
RESTLESS = {"EndpointSlice", "Endpoints"}


def present(kubectl) -> set[tuple[str, ...]]:
    """All objects of the cluster as (kind, namespace, name), without those that come and go by themselves."""
    return {tuple(row) for _version, *row in everything(kubectl) if row[0] not in RESTLESS}


def leases(kubectl) -> set[tuple[str, str]]:
    """The role makes some, and the cluster's own come and go elsewhere."""
    return {(one["metadata"]["namespace"], one["metadata"]["name"]) for one in kubectl.list("lease", "custom-batch")}


def bring(play, *schedulers, probe_namespace="default", **options):
    variables = {"custom_schedulers": list(schedulers), "custom_scheduler_probe_namespace": probe_namespace}
    return play(PLAYBOOK, variables=variables, **options)


NAMES = ({"name": "custom-scheduler"}, {"name": "batch", "namespace": "custom-batch"})


@pytest.fixture(scope="module")
def before(play, kubectl):
    """What there is without custom schedulers. None is left behind, whatever fails."""

    def remove():
        bring(play, *({**name, "state": "absent"} for name in NAMES))

    remove()
    # What tests before have left is on its way out.
    eventually(lambda: "Terminating" not in kubectl("get", "namespaces", "--no-headers").stdout)
    yield present(kubectl)
    remove()
    kubectl("delete", "namespace", "custom-batch", "--ignore-not-found")


@pytest.fixture(scope="module")
def two(before, play, kubectl):
    """The documentation's scheduler, and another one beside it whose two pods elect a leader."""
    batch = {"name": "batch", "namespace": "custom-batch", "create_namespace": True, "image": IMAGE, "replicas": 2}
    # Only the documentation's image needs to run as root.
    batch["pod_security_context"] = {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}
    return [DOCUMENTED, batch], bring(play, DOCUMENTED, batch)


def test_the_comparison_detects_a_planted_object(kubectl):
    sees_what_is_planted(kubectl)


def test_check_mode_writes_nothing(before, play, audit):
    with audit:
        run = bring(play, DOCUMENTED, check=True, diff=True)
    assert audit.writes() == []
    (applied,) = run.task("Apply schedulers").result["results"]
    assert {item["action"] for item in applied["objects"]} == {"created"}
    assert "kube-second-scheduler" in str(applied["diff"])


def test_two_custom_schedulers_place_pods_at_the_same_time(two, kubectl):
    """F115, F116, F121: each is proven by a pod of its own"""
    _schedulers, run = two
    probes = run.task("Verify each scheduler with a test pod").result["results"]
    assert {(probe["item"], probe["scheduler"], probe["placed"]) for probe in probes} == {
        ("custom-scheduler", "custom-scheduler", True),
        ("batch", "batch", True),
    }
    for name, namespace, replicas in (("custom-scheduler", "kube-system", 1), ("batch", "custom-batch", 2)):
        deployment = kubectl.get("deployment", name, namespace)
        assert deployment["status"]["readyReplicas"] == replicas


def test_pods_elect_a_leader_by_a_lease_of_their_own(two, kubectl):
    """F114"""
    lease = eventually(lambda: (kubectl.get("lease", "batch", "custom-batch") or {}).get("spec", {}).get("holderIdentity"))
    assert lease.startswith("batch-")
    assert kubectl.get("lease", "custom-scheduler", "kube-system") is None


def test_scheduler_reads_how_clients_are_authenticated(two, kubectl):
    """F118: without the binding it says so, again and again"""
    log = kubectl.log("kube-system", "component=scheduler,tier=control-plane")
    assert "Serving securely" in log
    assert 'configmaps "extension-apiserver-authentication" is forbidden' not in log


def test_second_run_writes_nothing(two, play, audit):
    schedulers, _run = two
    with audit:
        run = bring(play, *schedulers)
    assert run.changed == []
    assert audit.writes() == []
    assert {task.status for task in run.tasks if "Verify each scheduler" in task.task} == {"skipped"}


def rollouts(kubectl) -> int:
    return len(kubectl.list("replicaset", "kube-system", "component=scheduler,tier=control-plane"))


@pytest.mark.long
def test_only_new_content_causes_a_rollout(two, play, kubectl):
    """A label on the ConfigMap is none; an old version of the same configuration is converted, and said"""
    schedulers, _run = two
    kubectl("label", "configmap", "scheduler-config", "--namespace=kube-system", "edited=yes")
    count = rollouts(kubectl)
    bring(play, *schedulers)
    assert rollouts(kubectl) == count
    old = {
        "apiVersion": "kubescheduler.config.k8s.io/v1beta2",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "custom-scheduler"}],
        "leaderElection": {"leaderElect": False},
    }
    run = bring(play, {**DOCUMENTED, "config": old})
    assert "does not read kubescheduler.config.k8s.io/v1beta2 any more" in run.stdout
    assert (
        "kubescheduler.config.k8s.io/v1\n" in kubectl.get("configmap", "scheduler-config", "kube-system")["data"]["scheduler-config.yaml"]
    )
    assert rollouts(kubectl) == count + 1
    (probe,) = run.task("Verify each scheduler with a test pod").result["results"]
    assert probe["placed"]


def test_an_invalid_configuration_is_rejected_without_a_write(two, play, kubectl, audit):
    wrong = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [{"schedulerNam": "x"}]}
    with audit:
        run = bring(play, {**DOCUMENTED, "config": wrong}, succeed=False)
    assert run.rc != 0
    assert "schedulerNam" in run.stdout
    assert audit.writes() == []


def test_state_absent_deletes_all_objects_of_the_role_and_nothing_else(two, before, play, kubectl):
    """F117: a namespace of the role's stays as long as others have something in it, and goes with a later removal"""
    schedulers, _run = two
    absent = [{**one, "state": "absent"} for one in schedulers]
    theirs = {("ConfigMap", "kube-system", "kept"), ("ConfigMap", "custom-batch", "kept")}
    own = {("ConfigMap", "custom-batch", "kube-root-ca.crt"), ("Namespace", "<none>", "custom-batch")}
    own |= {("ServiceAccount", "custom-batch", "default")}
    for _kind, namespace, name in theirs:
        kubectl("create", "configmap", name, f"--namespace={namespace}")
    try:
        run = bring(play, *absent)
        # Wrapped wherever the line is full
        assert "Namespacecustom-batchisnotdeleted:itstillcontainsConfigMapkept." in "".join(run.output().split())
        # What the scheduler's pods own goes with them.
        eventually(lambda: present(kubectl) - before == theirs | own)
        eventually(lambda: before - present(kubectl) == set())
        assert leases(kubectl) == set()
        assert bring(play, *absent).changed == []
    finally:
        for _kind, namespace, name in theirs:
            kubectl("delete", "configmap", name, f"--namespace={namespace}")
    bring(play, schedulers[1])
    bring(play, absent[1])
    eventually(lambda: present(kubectl) == before)
