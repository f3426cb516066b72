# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The custom scheduler of OpenShift's documentation, without an operator, on the real cluster (F110 to F118, F121)."""

from __future__ import annotations

import pytest
from support.scheduler import IMAGE, eventually

PLAYBOOK = "osso.scheduler.custom_scheduler"
DOCUMENTED = {"image": IMAGE}
# What the scheduler's own work and the cluster's changes by itself leave
RESTLESS = {"Event", "Node", "EndpointSlice", "Endpoints"}


def everything(kubectl) -> set[tuple[str, ...]]:
    """All objects of the cluster as (kind, namespace, name), without those that come and go by themselves."""
    listed = kubectl("api-resources", "--verbs=list", "--output=name").stdout.split()
    columns = "custom-columns=K:.kind,NS:.metadata.namespace,N:.metadata.name"
    answer = kubectl("get", ",".join(listed), "--all-namespaces", "--no-headers", f"--output={columns}", "--ignore-not-found")
    rows = {tuple(line.split()) for line in answer.stdout.splitlines() if line.strip()}
    return {row for row in rows if row[0] not in RESTLESS}


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
    yield everything(kubectl)
    remove()


@pytest.fixture(scope="module")
def two(before, play, kubectl):
    """The documentation's scheduler, and another one beside it whose two pods elect a leader."""
    batch = {"name": "batch", "namespace": "custom-batch", "create_namespace": True, "image": IMAGE, "replicas": 2}
    # Only the documentation's image needs to run as root.
    batch["pod_security_context"] = {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}
    return [DOCUMENTED, batch], bring(play, DOCUMENTED, batch)


def test_comparison_sees_a_planted_object(before, kubectl):
    kubectl("create", "clusterrole", "planted", "--verb=get", "--resource=pods")
    try:
        assert everything(kubectl) - before == {("ClusterRole", "<none>", "planted")}
    finally:
        kubectl("delete", "clusterrole", "planted")


def test_check_mode_writes_nothing(before, play, audit):
    with audit:
        run = bring(play, DOCUMENTED, check=True, diff=True)
    assert audit.writes() == []
    (applied,) = run.task("Apply schedulers").result["results"]
    assert {item["action"] for item in applied["objects"]} == {"created"}
    assert "kube-second-scheduler" in str(applied["diff"])


def test_two_at_once_place_pods(two, kubectl):
    """F115, F116, F121: each is proven by a pod of its own"""
    _schedulers, run = two
    probes = run.task("Prove each scheduler with a pod").result["results"]
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
    assert {task.status for task in run.tasks if "Prove each scheduler" in task.task} == {"skipped"}


def rollouts(kubectl) -> int:
    return len(kubectl.list("replicaset", "kube-system", "component=scheduler,tier=control-plane"))


def test_only_new_content_is_a_rollout(two, play, kubectl):
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
    (probe,) = run.task("Prove each scheduler with a pod").result["results"]
    assert probe["placed"]


def test_what_would_not_start_is_refused_and_the_scheduler_goes_on(two, play, kubectl, audit):
    wrong = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [{"schedulerNam": "x"}]}
    with audit:
        run = bring(play, {**DOCUMENTED, "config": wrong}, succeed=False)
    assert run.rc != 0
    assert "schedulerNam" in run.stdout
    assert audit.writes() == []


def test_absent_takes_away_all_of_it_and_nothing_else(two, before, play, kubectl):
    """F117"""
    kubectl("create", "configmap", "kept", "--namespace=kube-system")
    try:
        schedulers, _run = two
        bring(play, *({**one, "state": "absent"} for one in schedulers))
        # The namespace's own objects go with it, and the scheduler's last event.
        eventually(lambda: everything(kubectl) - before == {("ConfigMap", "kube-system", "kept")})
        assert before - everything(kubectl) == set()
        assert bring(play, *({**one, "state": "absent"} for one in schedulers)).changed == []
    finally:
        kubectl("delete", "configmap", "kept", "--namespace=kube-system")
