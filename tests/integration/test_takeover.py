# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Moving from the upstream operator to this one, and back. The tests follow each other: the state of one is where the next begins.

The upstream operator is a stand-in; that it leaves what the real one leaves is checked in tests/long.
"""

from __future__ import annotations

import uuid

import pytest
import yaml
from support import upstream
from support.pod_stream import PodStream
from support.scheduler import Scheduler, eventually
from support.site import NAMESPACE, remove, site

# The state after one test is where the next one begins.
pytestmark = [pytest.mark.long, pytest.mark.in_order]

USER = 65532


@pytest.fixture(scope="module")
def stand_in(kubectl):
    return upstream.Upstream(kubectl, user=USER, delay=5)


@pytest.fixture(scope="module")
def upstream_scheduler(kubectl, root, tmp_path_factory, stand_in):
    """An installation of the upstream operator that serves, the operator itself gone."""
    remove()
    upstream.uninstall(kubectl)
    definition = yaml.safe_load((root / "roles/operator/files/secondaryschedulers.crd.yaml").read_text())
    for version in definition["spec"]["versions"]:
        version.pop("additionalPrinterColumns", None)
        version["schema"]["openAPIV3Schema"]["description"] = "as another operator describes it"
    file = tmp_path_factory.mktemp("crd") / "crd.yaml"
    file.write_text(yaml.safe_dump(definition))
    upstream.install(kubectl, file)
    scheduler = Scheduler(kubectl, "cluster", scheduler_name="secondary-scheduler")
    scheduler.write_config()
    scheduler.write()
    stand_in.reconcile()
    serves(scheduler)
    eventually(lambda: (scheduler.get("lease") or {"spec": {}})["spec"].get("holderIdentity"))
    yield scheduler
    remove()
    upstream.uninstall(kubectl)


@pytest.fixture
def stream(kubectl, upstream_scheduler):
    """Pods a second for the scheduler, and how many of its own pods are ready each time."""
    name = f"stream-{uuid.uuid4().hex[:6]}"
    kubectl("create", "namespace", name)

    def ready():
        return upstream_scheduler.deployment["status"].get("readyReplicas", 0)

    stream = PodStream(kubectl, name, upstream_scheduler.scheduler_name, also=ready)
    yield stream
    stream.close()
    kubectl("delete", "namespace", name, "--wait=false")


def serves(scheduler):
    scheduler.kubectl("rollout", "status", "deployment/secondary-scheduler", f"--namespace={NAMESPACE}", "--timeout=240s", timeout=250)


def without_a_gap(stream, what):
    """Every pod was placed, and at no time nobody was ready."""
    eventually(lambda: None not in stream.waits(), within=120)
    waits = stream.waits()
    print(f"{what}: {len(waits)} pods, the longest waited {max(waits):.0f} s for its node")
    assert min(stream.seen) >= 1
    assert len(waits) > 5


def ours(scheduler) -> set:
    """What of ours is outside the namespace."""
    kinds = "clusterrolebindings,rolebindings"
    found = scheduler.kubectl.json("get", kinds, "--namespace=kube-system", "--selector=app.kubernetes.io/managed-by=osso.scheduler")[
        "items"
    ]
    return {(one["kind"], one["metadata"]["name"]) for one in found if one["metadata"]["name"].startswith(scheduler.cluster_name)}


def test_moving_over_is_one_rollout_without_a_gap(upstream_scheduler, stream):
    before = upstream_scheduler.rollouts(), upstream_scheduler.resource["spec"], upstream_scheduler.get("lease")["metadata"]["uid"]
    assert set(upstream.found(upstream_scheduler)) > upstream.ALONE
    with stream:
        site(variables={"probe": "never", "secondary_schedulers": []})
        upstream_scheduler.rest()
    without_a_gap(stream, "moving over")
    assert upstream_scheduler.rollouts() == before[0] + 1
    assert upstream_scheduler.resource["spec"] == before[1]
    assert "observedConfig" in upstream_scheduler.resource["spec"]
    assert upstream_scheduler.get("lease")["metadata"]["uid"] == before[2]
    assert "osso.scheduler/clean-up" in upstream_scheduler.resource["metadata"]["finalizers"]


def test_moving_over_leaves_no_object_or_field_of_upstream(upstream_scheduler):
    upstream.assert_nothing_left(upstream_scheduler)


def untouched(scheduler):
    deployment = scheduler.deployment
    pods = scheduler.kubectl.json("get", "pods", f"--namespace={NAMESPACE}", "--selector=app=secondary-scheduler")["items"]
    return deployment["metadata"]["generation"], deployment["spec"], [pod["metadata"]["uid"] for pod in pods]


def test_one_of_two_schedulers_that_share_an_operator_is_not_handed_over(upstream_scheduler, play, kubectl):
    other = Scheduler(kubectl, "other")
    other.write()
    try:
        eventually(lambda: "finalizers" in other.resource["metadata"])
        chosen = {"hand_over_schedulers": [{"namespace": NAMESPACE, "name": "cluster"}]}
        refused = play("osso.scheduler.hand_over", variables=chosen, succeed=False)
        assert f"also manages SecondaryScheduler {NAMESPACE}/other" in refused.failures[0].result["msg"]
        chosen = {"hand_over_schedulers": [{"namespace": NAMESPACE, "name": "none"}]}
        refused = play("osso.scheduler.hand_over", variables=chosen, succeed=False)
        assert "none does not exist" in refused.failures[0].result["msg"]
        assert refused.changed == []
    finally:
        other.delete()


def test_hand_over_releases_the_resource_and_changes_no_scheduler(upstream_scheduler, play, audit, kubectl):
    before, spec = untouched(upstream_scheduler), upstream_scheduler.resource["spec"]
    kubectl("annotate", "secondaryscheduler", "cluster", f"--namespace={NAMESPACE}", "team=blue")
    with audit:
        planned = play("osso.scheduler.hand_over", check=True)
    assert audit.writes() == []
    done = play("osso.scheduler.hand_over")
    assert done.changed == planned.changed
    assert len(done.changed) == 4
    assert not kubectl.json("get", "deployment", "osso-scheduler-operator", f"--namespace={NAMESPACE}", "--ignore-not-found")
    pods = kubectl.json("get", "pods", f"--namespace={NAMESPACE}", "--selector=app.kubernetes.io/name=osso-scheduler-operator")
    assert pods["items"] == []

    resource = upstream_scheduler.resource
    assert "finalizers" not in resource["metadata"]
    assert resource["metadata"]["annotations"] == {"team": "blue"}
    assert resource["spec"] == spec
    assert not (resource.get("status") or {}).get("conditions")
    config_map = upstream_scheduler.get("configmap", "cluster")
    assert "annotations" not in config_map["metadata"]
    assert "labels" not in config_map["metadata"]
    assert list(config_map["data"]) == ["config.yaml"]
    assert untouched(upstream_scheduler) == before
    assert ours(upstream_scheduler)

    with audit:
        again = play("osso.scheduler.hand_over")
    assert again.changed == []
    assert not [one for one in audit.writes() if one.namespace == NAMESPACE]
    assert untouched(upstream_scheduler) == before


def test_upstream_takes_the_scheduler_back_with_one_rollout(upstream_scheduler, stand_in, stream, play):
    before = upstream_scheduler.rollouts()
    with stream:
        stand_in.reconcile()
        serves(upstream_scheduler)
        stand_in.reconcile()
    without_a_gap(stream, "moving back")
    assert upstream_scheduler.rollouts() == before + 1
    assert ours(upstream_scheduler)

    cleaned = play("osso.scheduler.hand_over")
    assert cleaned.changed == ["Remove objects that are no longer in use", "Remove the rest of the operator's installation"]
    assert ours(upstream_scheduler) == set()
    assert not upstream_scheduler.get("networkpolicy")
    assert not upstream_scheduler.get("configmap", "osso-set-operand-cluster")
    assert set(upstream.found(upstream_scheduler)) >= upstream.ALONE
    assert len(upstream.found(upstream_scheduler)) == 10
    assert play("osso.scheduler.hand_over").changed == []
    stand_in.reconcile()
    serves(upstream_scheduler)
    assert upstream_scheduler.rollouts() == before + 1, "a change of its objects makes it replace its pods"


def test_the_resource_can_be_deleted_without_this_operator(upstream_scheduler):
    upstream_scheduler.delete()
    assert upstream_scheduler.resource is None
