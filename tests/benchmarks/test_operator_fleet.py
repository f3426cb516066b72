# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fifty resources in ten namespaces: figures for docs/benchmarks.md, no assertions on time.

The schedulers are stand-ins (stand_in/main.go), healthy at once: fifty real ones would take more of a small machine's CPU time to start
than the operator takes, and would have to fit beside each other. API server, kubelets and containers are real, and share the machine.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from benchmarks.observe import OperatorPod, serves, until
from support.site import installed, site

TITLE = "The operator, many resources"
NAMESPACES, EACH = 10, 5
ALL = [(f"fleet-{number}", f"batch-{member}") for number in range(NAMESPACES) for member in range(EACH)]
KIND = ("operator.openshift.io", "v1")
STAND_IN = "stand-in:1"
# The nodes look in the cluster's registry for the images of every other one.
IMAGE = f"registry.k8s.io/{STAND_IN}"
# With these nobody has to ask the image.
ANNOTATIONS = {"osso.scheduler/kubernetes-version": "1.34", "osso.scheduler/plugins": "in-tree"}


@pytest.fixture(scope="module")
def pod(own_cluster, api, root, kubectl, tmp_path_factory):
    """The operator alone, watching all namespaces; the demo's own resource is away, for the figures with one resource are of this fleet."""
    folder = tmp_path_factory.mktemp("stand-in")
    source = Path(__file__).parent / "stand_in/main.go"
    environment = {**os.environ, "CGO_ENABLED": "0", "GO111MODULE": "off", "GOCACHE": str(root / ".cache/go")}
    subprocess.run(["go", "build", "-o", folder / "kube-scheduler", source], env=environment, check=True)
    (folder / "Containerfile").write_text("FROM scratch\nCOPY kube-scheduler /bin/kube-scheduler\n")
    subprocess.run([root / "tests/cluster/cluster", "image", folder, STAND_IN], check=True)
    shutil.rmtree(folder)
    site(variables={"operator_watch_namespaces": ["*"], "probe": "never"})
    kubectl("delete", "secondaryscheduler", "--all", "--all-namespaces", "--timeout=300s", timeout=320)
    for number in range(NAMESPACES):
        kubectl("create", "namespace", f"fleet-{number}")
    yield OperatorPod(api)
    kubectl("delete", "secondaryscheduler", "--all", "--all-namespaces", "--timeout=600s", timeout=620)
    kubectl("delete", "namespace", *(f"fleet-{number}" for number in range(NAMESPACES)), "--wait=false")
    installed()


@pytest.fixture
def fleet(pod, api):
    fleet = Fleet(api)
    yield fleet
    fleet.delete()


class Fleet:
    """Resources with their ConfigMaps in the fleet's namespaces, and what has become of them."""

    def __init__(self, api):
        self._api = api
        self._core, self._apps, self._custom = api.CoreV1Api(), api.AppsV1Api(), api.CustomObjectsApi()

    def write_configs(self, members):
        for namespace, name in members:
            config = {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "profiles": [{"schedulerName": f"{namespace}-{name}"}],
            }
            body = {"metadata": {"name": name}, "data": {"config.yaml": json.dumps(config)}}
            try:
                self._core.create_namespaced_config_map(namespace, body)
            except self._api.ApiException as error:
                if error.status != 409:
                    raise

    def write(self, members):
        for namespace, name in members:
            body = {
                "apiVersion": "/".join(KIND),
                "kind": "SecondaryScheduler",
                "metadata": {"name": name, "annotations": ANNOTATIONS},
                "spec": {"schedulerConfig": name, "schedulerImage": IMAGE},
            }
            self._custom.create_namespaced_custom_object(*KIND, namespace, "secondaryschedulers", body)

    def edit(self, members, level):
        for namespace, name in members:
            self._custom.patch_namespaced_custom_object(*KIND, namespace, "secondaryschedulers", name, {"spec": {"logLevel": level}})

    def delete(self):
        for namespace, name in self._resources():
            self._custom.delete_namespaced_custom_object(*KIND, namespace, "secondaryschedulers", name)
        until(lambda: not self._resources(), pause=0.5)

    def deployed(self, flag) -> set:
        """Those whose Deployment is what the resource says."""
        found = self._apps.list_deployment_for_all_namespaces(label_selector="app.kubernetes.io/managed-by=osso.scheduler").items
        return {
            (item.metadata.namespace, item.metadata.labels["app.kubernetes.io/instance"])
            for item in found
            if flag in item.spec.template.spec.containers[0].args
        }

    def converged(self, flag) -> set:
        """Those of them whose scheduler serves it, and whose status says so."""
        return {key for key, resource in self._resources().items() if serves(resource)} & self.deployed(flag)

    def _resources(self) -> dict:
        items = self._custom.list_cluster_custom_object(*KIND, "secondaryschedulers")["items"]
        return {(item["metadata"]["namespace"], item["metadata"]["name"]): item for item in items}


def measure(figures, pod, fleet, what, flag, started):
    """Wait until all of the fleet have converged; note the times since `started`, and what it cost the operator's present pod."""
    peak = 0.0
    deployed = None

    def done():
        nonlocal peak, deployed
        peak = max(peak, pod.memory())
        if deployed is None and len(fleet.deployed(flag)) == len(ALL):
            deployed = time.monotonic() - started
        return deployed is not None and len(fleet.converged(flag)) == len(ALL)

    until(done, pause=0.5)
    converged = time.monotonic() - started
    figures(f"{what} until every Deployment is what its resource says", deployed, "s")
    figures(f"{what} until all have converged: the scheduler is available, and the status reports it", converged, "s")
    figures(f"{what}: the CPU time of the operator's pod since its start", pod.cpu(), "s")
    figures(f"{what}: the operator's memory, highest of two looks a second", peak, "MB")


def test_memory_at_rest_is_measured_with_one_and_with_ten_resources(fleet, pod, figures):
    for present, count in ((0, 1), (1, 10)):
        fleet.write_configs(ALL[present:count])
        fleet.write(ALL[present:count])
        until(lambda count=count: len(fleet.converged("-v=2")) == count)
        pod.rest(quiet=15)
        figures(f"operator's memory at rest, all namespaces watched, resources: {count}", pod.memory(), "MB")


def test_reconciles_and_restarts_with_fifty_resources_are_measured(fleet, pod, figures, audit):
    fleet.write_configs(ALL)
    pod.restart()
    pod.rest(quiet=15)
    before = len(pod.runs())
    started = time.monotonic()
    fleet.write(ALL)
    measure(figures, pod, fleet, f"{len(ALL)} new resources in {NAMESPACES} namespaces", "-v=2", started)
    pod.rest(quiet=15)
    figures("reconciles for that until the operator rests", len(pod.runs()) - before, "")
    figures(f"operator's memory at rest, all namespaces watched, resources: {len(ALL)}", pod.memory(), "MB")
    with audit:
        time.sleep(60)
    figures(f"operator's requests per minute at rest with {len(ALL)} resources", len(audit.requests(user="osso-scheduler-operator")), "")

    with audit:
        started = time.monotonic()
        pod.restart()
        until(lambda: set(pod.runs()) >= set(ALL))
        figures(f"operator deleted, until its successor has reconciled all {len(ALL)} unchanged resources", time.monotonic() - started, "s")
        pod.rest(quiet=5)
    # Leader election is off, and nothing has changed.
    writes = [request for request in audit.writes(user="osso-scheduler-operator") if request.resource != "leases"]
    figures("write requests of that", len(writes), "")

    fleet.edit(ALL, "Debug")
    started = time.monotonic()
    pod.restart()
    measure(figures, pod, fleet, f"operator deleted after an edit of all {len(ALL)},", "-v=4", started)
