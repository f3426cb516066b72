# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the conformance tests of the operator share: the demo's installation, its scheduler, new ones, and OpenShift's kinds."""

from __future__ import annotations

import os
import re

import pytest
import yaml
from conformance.operator import plant
from support.go_modules import folder
from support.kinds import delete_kinds, established
from support.scheduler import Scheduler, eventually
from support.site import NAMESPACE

OPENSHIFT_API, PROMETHEUS_OPERATOR = "github.com/openshift/api", "github.com/prometheus-operator/prometheus-operator"


@pytest.fixture(scope="module")
def operator(operator, kubectl):
    """The demo's installation, at rest; also for the fixtures of all cluster tests that build on this one.

    PLANT: cases whose bugs the operator gets then, to see their tests fail.
    """
    Scheduler(kubectl, "cluster").rest()
    if not (cases := os.environ.get("PLANT", "").split()):
        yield
        return
    with plant.bugs(kubectl, NAMESPACE, cases):
        # It has done to the scheduler what it does.
        eventually(
            lambda: re.search(r"exited successfully|exit status", kubectl.log(NAMESPACE, f"app.kubernetes.io/name={plant.DEPLOYMENT}"))
        )
        kubectl("rollout", "status", "deployment/secondary-scheduler", f"--namespace={NAMESPACE}", "--timeout=60s", check=False)
        yield


@pytest.fixture(scope="module")
def cluster(operator, kubectl) -> Scheduler:
    """The demo's scheduler: the CR whose objects have upstream's names."""
    return Scheduler(kubectl, "cluster", scheduler_name="secondary-scheduler")


@pytest.fixture(scope="module")
def kind(kubectl, root):
    """kind(plural, group, module, path) has the cluster serve a kind of OpenShift until the tests of a file end; whether it did so already.

    The definition is the real one, out of the Go module that publishes it.
    """
    made = []

    def serve(plural, group, module, path):
        name = f"{plural}.{group}"
        if name in made or kubectl.json("get", "customresourcedefinition", name, "--ignore-not-found"):
            return name not in made
        definition = folder(root / "tests/conformance/operator/crds", module) / path
        kubectl("create", "--filename=-", stdin=yaml.safe_load(definition.read_text()))
        made.append(name)
        established(kubectl, name)
        return False

    yield serve
    delete_kinds(kubectl, *made)


@pytest.fixture(scope="module")
def service_monitors(kind):
    """Kind ServiceMonitor; true where the cluster had it before."""
    path = "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml"
    return kind("servicemonitors", "monitoring.coreos.com", PROMETHEUS_OPERATOR, path)


@pytest.fixture(scope="module")
def api_servers(kind):
    """Kind APIServer; true where the cluster had it before."""
    path = "config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_apiservers-Default.crd.yaml"
    return kind("apiservers", "config.openshift.io", OPENSHIFT_API, path)
