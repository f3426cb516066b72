# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How fast the operator follows one resource, and what that costs: figures for docs/benchmarks.md, no assertions on time."""

from __future__ import annotations

import json
import math
import statistics
import time

import pytest
from benchmarks.observe import serves, until
from support.scheduler import IMAGE
from support.site import NAMESPACE

TITLE = "The operator, one resource"
NEW, EDITS, CONFIG_EDITS = 3, 50, 20
IDLE_SECONDS = 120
NAME = "benchmark"
WORKLOAD = f"secondary-scheduler-{NAME}"
SERVICE_ACCOUNT = "osso-scheduler-operator"


class Scheduler:
    """One SecondaryScheduler and its ConfigMap, written through the Kubernetes client, and its Deployment, watched."""

    def __init__(self, api):
        self._apps, self._core, self._custom = api.AppsV1Api(), api.CoreV1Api(), api.CustomObjectsApi()

    def create(self):
        metadata = {"name": NAME, "namespace": NAMESPACE}
        self._core.create_namespaced_config_map(NAMESPACE, {"metadata": metadata, "data": {"config.yaml": config(1)}})
        spec = {"schedulerConfig": NAME, "schedulerImage": IMAGE}
        body = {"apiVersion": "operator.openshift.io/v1", "kind": "SecondaryScheduler", "metadata": metadata, "spec": spec}
        self._custom.create_namespaced_custom_object(*self._kind, body)

    def edit(self, **spec):
        self._custom.patch_namespaced_custom_object(*self._kind, NAME, {"spec": spec})

    def edit_config(self, weight):
        self._core.patch_namespaced_config_map(NAME, NAMESPACE, {"data": {"config.yaml": config(weight)}})

    def delete(self):
        """Delete both and wait until the scheduler's pods are gone, too."""
        for delete in (lambda: self._custom.delete_namespaced_custom_object(*self._kind, NAME), self._delete_config):
            try:
                delete()
            except Exception as error:
                if getattr(error, "status", 0) != 404:
                    raise
        until(lambda: not self._exists() and not self._core.list_namespaced_pod(NAMESPACE, label_selector=f"app={WORKLOAD}").items)

    def deployment_when(self, ready, within=300):
        """The Deployment as soon as `ready(deployment)`; it need not exist yet."""
        from kubernetes import watch

        stream = watch.Watch()
        selector = f"metadata.name={WORKLOAD}"
        for event in stream.stream(self._apps.list_namespaced_deployment, NAMESPACE, field_selector=selector, timeout_seconds=within):
            if event["type"] != "DELETED" and ready(event["object"]):
                stream.stop()
                return event["object"]
        raise AssertionError(f"not within {within} s")

    def served(self) -> bool:
        """The operator says that the scheduler serves what the resource asks for."""
        return serves(self._custom.get_namespaced_custom_object(*self._kind, NAME))

    def secret(self) -> str:
        """Name of the Secret with the configuration that the Deployment mounts."""
        return secret(self._apps.read_namespaced_deployment(WORKLOAD, NAMESPACE))

    @property
    def _kind(self):
        return ("operator.openshift.io", "v1", NAMESPACE, "secondaryschedulers")

    def _exists(self) -> bool:
        return any(item["metadata"]["name"] == NAME for item in self._custom.list_namespaced_custom_object(*self._kind)["items"])

    def _delete_config(self):
        self._core.delete_namespaced_config_map(NAME, NAMESPACE)


def config(weight) -> str:
    enabled = [{"name": "NodeResourcesFit", "weight": weight}]
    plugins = {"score": {"disabled": [{"name": "NodeResourcesFit"}], "enabled": enabled}}
    profiles = [{"schedulerName": NAME, "plugins": plugins}]
    return json.dumps({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": profiles})


def secret(deployment) -> str:
    (name,) = [volume.secret.secret_name for volume in deployment.spec.template.spec.volumes if volume.name == "config"]
    return name


def percentile(values, share) -> float:
    """The least of `values` that at least this share of them does not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


@pytest.fixture
def absent(pod, api):
    scheduler = Scheduler(api)
    scheduler.delete()
    yield scheduler
    scheduler.delete()


@pytest.fixture
def benched_scheduler(absent, pod):
    """A scheduler that serves, and an operator at rest."""
    absent.create()
    until(absent.served)
    pod.rest()
    return absent


def test_the_time_from_a_new_resource_to_a_ready_scheduler_is_measured(absent, pod, figures):
    ready, reported = [], []
    for _attempt in range(NEW):
        pod.rest()
        started = time.monotonic()
        absent.create()
        absent.deployment_when(lambda live: (live.status.available_replicas or 0) == 1)
        ready.append(time.monotonic() - started)
        until(absent.served)
        reported.append(time.monotonic() - started)
        pod.rest()
        generation = absent.deployment_when(lambda live: True).metadata.generation
        assert generation == 1, "the rollout that became ready was the last one"
        absent.delete()
    figures(f"new resource and ConfigMap to scheduler ready, its last rollout, median of {NEW}", statistics.median(ready), "s")
    figures("the same until the status reports it", statistics.median(reported), "s")


def test_the_time_from_an_edit_to_the_updated_deployment_is_measured(benched_scheduler, pod, figures, audit):
    levels = (("-v=4", "Debug"), ("-v=2", "Normal"))
    times, requests, cpu, runs = [], [], [], []
    for edit in range(EDITS):
        flag, level = levels[edit % 2]
        cpu_before, runs_before = pod.cpu(), len(pod.runs())
        with audit:
            started = time.monotonic()
            benched_scheduler.edit(logLevel=level)
            benched_scheduler.deployment_when(lambda live, flag=flag: flag in live.spec.template.spec.containers[0].args)
            times.append(time.monotonic() - started)
            until(benched_scheduler.served)
            pod.rest(quiet=3)
        requests.append(len(audit.requests(user=SERVICE_ACCOUNT)))
        cpu.append(pod.cpu() - cpu_before)
        runs.append(len(pod.runs()) - runs_before)
    figures(f"resource edit to Deployment updated, median of {EDITS}", statistics.median(times), "s")
    figures(f"resource edit to Deployment updated, 95th percentile of {EDITS}", percentile(times, 0.95), "s")
    figures("for one edit until the rollout is over, median: reconciles", statistics.median(runs), "")
    figures("for one edit until the rollout is over, median: the operator's CPU time", statistics.median(cpu), "s")
    figures("for one edit until the rollout is over, median: the operator's API requests", statistics.median(requests), "")
    figures("CPU time of the operator's pod for one reconcile, mean over all these edits", sum(cpu) / max(1, sum(runs)), "s")


def test_the_time_from_a_config_map_edit_to_the_updated_deployment_is_measured(benched_scheduler, pod, figures):
    times = []
    for edit in range(CONFIG_EDITS):
        before = benched_scheduler.secret()
        started = time.monotonic()
        benched_scheduler.edit_config(weight=2 + edit)
        benched_scheduler.deployment_when(lambda live, before=before: secret(live) != before)
        times.append(time.monotonic() - started)
        until(benched_scheduler.served)
        pod.rest(quiet=3)
    figures(f"ConfigMap edit to Deployment updated, median of {CONFIG_EDITS}", statistics.median(times), "s")
    figures(f"ConfigMap edit to Deployment updated, 95th percentile of {CONFIG_EDITS}", percentile(times, 0.95), "s")


def test_memory_requests_and_cpu_time_of_an_idle_operator_are_measured(pod, figures, audit, kubectl):
    """The demo's one resource, nothing to do."""
    pod.restart()
    pod.rest(quiet=20)
    assert len(kubectl.json("get", "secondaryschedulers", "--all-namespaces")["items"]) == 1
    figures("operator's memory at rest with one resource", pod.memory(), "MB")
    cpu = pod.cpu()
    with audit:
        time.sleep(IDLE_SECONDS)
    minutes = IDLE_SECONDS / 60
    figures("operator's requests per minute at rest", len(audit.requests(user=SERVICE_ACCOUNT)) / minutes, "")
    figures("operator's write requests per minute at rest", len(audit.writes(user=SERVICE_ACCOUNT)) / minutes, "")
    figures("operator's CPU time per minute at rest", (pod.cpu() - cpu) * 1000 / minutes, "ms")
