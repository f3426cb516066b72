# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How fast the operator and the play are: figures for docs/benchmarks.md, no assertions on time."""

from __future__ import annotations

import json
import statistics
import time

import pytest
from support.ansible_runs import play
from support.site import DEMO, NAMESPACE, VARIABLES, site

EDITS = 20
NAME = "benchmark"
WORKLOAD = f"secondary-scheduler-{NAME}"
CONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"schedulerName": NAME}],
}


@pytest.fixture(scope="module")
def api(kubeconfig):
    """The Kubernetes client: a process of kubectl per look would be slower than what is measured."""
    from kubernetes import client, config

    config.load_kube_config(str(kubeconfig))
    return client


@pytest.fixture(scope="module")
def installed(kubeconfig):
    site(variables={"probe": "never"})


@pytest.fixture
def scheduler(installed, kubectl):
    def write(log_level="Normal"):
        kubectl.apply(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": NAME, "namespace": NAMESPACE},
                "data": {"config.yaml": json.dumps(CONFIG)},
            },
            {
                "apiVersion": "operator.openshift.io/v1",
                "kind": "SecondaryScheduler",
                "metadata": {"name": NAME, "namespace": NAMESPACE},
                "spec": {
                    "schedulerConfig": NAME,
                    "schedulerImage": VARIABLES["secondary_schedulers"][0]["image"],
                    "logLevel": log_level,
                },
            },
        )

    yield write
    kubectl("delete", "secondaryscheduler", NAME, f"--namespace={NAMESPACE}", "--ignore-not-found")
    kubectl("delete", "configmap", NAME, f"--namespace={NAMESPACE}", "--ignore-not-found")


def deployment_when(api, ready, within=120):
    """Watch the benchmark's Deployment until `ready(deployment)`; it need not exist yet."""
    from kubernetes import watch

    stream = watch.Watch()
    for event in stream.stream(
        api.AppsV1Api().list_namespaced_deployment,
        NAMESPACE,
        field_selector=f"metadata.name={WORKLOAD}",
        timeout_seconds=within,
    ):
        if ready(event["object"]):
            stream.stop()
            return event["object"]
    raise AssertionError(f"not within {within} s")


def operator_memory(kubectl) -> float:
    """Working set of the operator's pod in MB, as the kubelet reports it."""
    selector = "--selector=app.kubernetes.io/name=osso-scheduler-operator"
    (pod,) = kubectl.json("get", "pods", f"--namespace={NAMESPACE}", selector)["items"]
    summary = json.loads(kubectl("get", "--raw", f"/api/v1/nodes/{pod['spec']['nodeName']}/proxy/stats/summary").stdout)
    (stats,) = [entry for entry in summary["pods"] if entry["podRef"]["uid"] == pod["metadata"]["uid"]]
    return stats["memory"]["workingSetBytes"] / 1e6


def test_new_resource_to_scheduler_ready(scheduler, api, kubectl, figures):
    times = []
    for _attempt in range(3):
        started = time.monotonic()
        scheduler()
        deployment = deployment_when(api, lambda live: (live.status.available_replicas or 0) == 1)
        times.append(time.monotonic() - started)
        assert deployment.metadata.generation == 1, "one rollout"
        kubectl("delete", "secondaryscheduler", NAME, f"--namespace={NAMESPACE}", "--timeout=60s")
        kubectl("wait", "--for=delete", "pod", f"--selector=app={WORKLOAD}", f"--namespace={NAMESPACE}", "--timeout=60s")
    figures("new resource to scheduler ready, median of 3", statistics.median(times), "s")


def test_edit_to_deployment_updated(scheduler, api, kubectl, figures, audit):
    scheduler()
    deployment_when(api, lambda live: (live.status.available_replicas or 0) == 1)
    # Other work of the operator must be over: what is measured is one edit of a resource at rest.
    time.sleep(10)
    figures("operator's memory, ten seconds after the last work", operator_memory(kubectl), "MB")
    custom = api.CustomObjectsApi()
    times, requests = [], []
    for edit in range(EDITS):
        flag, level = (("-v=4", "Debug"), ("-v=2", "Normal"))[edit % 2]
        with audit:
            started = time.monotonic()
            custom.patch_namespaced_custom_object(
                "operator.openshift.io", "v1", NAMESPACE, "secondaryschedulers", NAME, {"spec": {"logLevel": level}}
            )
            deployment_when(api, lambda live, flag=flag: flag in live.spec.template.spec.containers[0].args)
            times.append(time.monotonic() - started)
            settle(api)
        requests.append(len(audit.requests(user="osso-scheduler-operator")))
    ordered = sorted(times)
    figures(f"resource edit to Deployment updated, median of {EDITS}", statistics.median(times), "s")
    figures(f"resource edit to Deployment updated, 95th percentile of {EDITS}", ordered[int(0.95 * EDITS) - 1], "s")
    figures("the operator's API requests for one edit until the rollout is over, median", statistics.median(requests), "")


def settle(api):
    """Wait until the rollout is over and the operator has reported it."""
    custom = api.CustomObjectsApi()
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        resource = custom.get_namespaced_custom_object("operator.openshift.io", "v1", NAMESPACE, "secondaryschedulers", NAME)
        status = resource.get("status", {})
        progressing = [c["status"] for c in status.get("conditions", []) if c["type"] == "Progressing"]
        if progressing == ["False"] and status.get("observedGeneration") == resource["metadata"]["generation"]:
            time.sleep(3)
            return
        time.sleep(0.2)
    raise AssertionError("the operator does not come to rest")


def test_unchanged_site(installed, audit, figures):
    times = []
    for _attempt in range(5):
        with audit:
            started = time.monotonic()
            run = play("osso.scheduler.site", args=[f"--extra-vars=@{DEMO}"])
            times.append(time.monotonic() - started)
        assert run.changed == []
    figures("unchanged site.yml, median of 5", statistics.median(times), "s")
    figures("unchanged site.yml, API requests", len(audit.requests()), "")
    figures("unchanged site.yml, write requests", len(audit.writes()), "")
