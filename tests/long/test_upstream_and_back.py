# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From the upstream operator to this one and back, as one sequence with a pod created every second.

The upstream operator is a stand-in, whose Deployment has the real one's flags and probes.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from support import upstream
from support.ansible_runs import play
from support.pod_stream import PodStream
from support.scheduler import Scheduler, eventually
from support.site import NAMESPACE, remove, site

pytestmark = pytest.mark.long

CRD = Path(__file__).parents[2] / "roles/operator/files/secondaryschedulers.crd.yaml"
# Seconds that a pod waits at most. Our scheduler tries to acquire the Lease every 1 to 2.2 s, upstream's every 26 to 57 s: then there is a bridge.
WITHIN = 3


@pytest.fixture
def stand_in(kubectl):
    return upstream.Upstream(kubectl, user=65532)


@pytest.fixture
def upstream_scheduler(kubectl, stand_in):
    """An installation of the upstream operator whose scheduler places pods."""
    remove()
    upstream.uninstall(kubectl)
    upstream.install(kubectl, CRD)
    scheduler = Scheduler(kubectl, "cluster", scheduler_name="secondary-scheduler")
    scheduler.write_config()
    scheduler.write()
    stand_in.reconcile()
    kubectl("rollout", "status", f"deployment/{scheduler.workload}", f"--namespace={NAMESPACE}", "--timeout=240s", timeout=250)
    eventually(lambda: leader(scheduler))
    yield scheduler
    remove()
    upstream.uninstall(kubectl)
    # The hand-over leaves them without the labels of the operator, which adopts nothing.
    kubectl("delete", f"--filename={CRD.parent / 'plugins'}", "--ignore-not-found")


def leader(scheduler) -> str:
    """The pod that holds the scheduler's Lease."""
    lease = scheduler.get("lease") or {"spec": {}}
    return (lease["spec"].get("holderIdentity") or "").partition("_")[0]


def waits_for_the_other_operator(scheduler) -> bool:
    """The pod that leads no longer belongs to a ReplicaSet."""
    pod = scheduler.get("pod", leader(scheduler))
    return bool(pod) and "pod-template-hash" not in pod["metadata"]["labels"]


def bindings(scheduler) -> list[str]:
    """Those of our operator and of its scheduler outside the namespace."""
    found = scheduler.kubectl("get", "clusterrolebindings,rolebindings", "--namespace=kube-system", "--output=name").stdout.split()
    return [name for name in found if "/osso" in name]


def test_pods_are_placed_all_the_time(upstream_scheduler, stand_in, kubectl, record_property):
    namespace = "upstream-and-back"
    kubectl("create", "namespace", namespace)
    stream = PodStream(kubectl, namespace, upstream_scheduler.scheduler_name)
    outcome = {}

    def release():
        outcome["run"] = play("osso.scheduler.hand_over", variables={"hand_over_wait": 600}, succeed=False)

    try:
        with stream:
            first = upstream_scheduler.rollouts()
            site(variables={"probe": "never", "secondary_schedulers": []})
            upstream_scheduler.rest()
            eventually(lambda: stream.created > 5)
            middle, over = upstream_scheduler.rollouts(), stream.created
            assert len(bindings(upstream_scheduler)) > 3

            handing_over = threading.Thread(target=release)
            handing_over.start()
            eventually(lambda: waits_for_the_other_operator(upstream_scheduler) or not handing_over.is_alive())
            with stand_in.at_work():
                handing_over.join()
            last = upstream_scheduler.rollouts()
            assert outcome["run"].rc == 0, outcome["run"].output()
            back = stream.created
            eventually(lambda: stream.created > back + 5)
        eventually(lambda: None not in stream.waits(), within=120)
        waits = stream.waits()
    finally:
        stream.close()
        kubectl("delete", "namespace", namespace, "--wait=false")
    record_property("seconds_that_a_pod_waited_when_moving_over", max(waits[:over]))
    record_property("seconds_that_a_pod_waited_when_moving_back", max(waits[over:]))
    assert (middle - first, last - middle) == (1, 1)
    assert max(waits[:over]) <= WITHIN
    assert max(waits[over:]) <= WITHIN
    assert bindings(upstream_scheduler) == []
    pods = kubectl.list("pod", NAMESPACE, f"app={upstream_scheduler.workload}")
    assert [pod["metadata"]["name"] for pod in pods] == [leader(upstream_scheduler)]
    assert {volume["name"] for volume in pods[0]["spec"]["volumes"]} >= {"etckubernetes", "certs-dir"}
    assert play("osso.scheduler.hand_over").changed == []
