# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The examples in the documentation of modules and filters, run as they stand, where what they speak of is there."""

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.openshift import rendered
from support.examples import PLUGINS, examples
from support.openshift import openshift
from support.scheduler import Scheduler
from support.site import VARIABLES, installed

# apply comes last: its examples end with the removal of all SecondaryScheduler resources.
# Those of olm_operator are run where there is OLM (tests/olm/test_olm_operator.py).
DOCUMENTED = sorted(
    (path for path in [*PLUGINS.glob("modules/*.py"), *PLUGINS.glob("filter/*.py")] if path.stem != "olm_operator"),
    key=lambda path: (path.stem == "apply", path),
)
FILES = {
    "files/config.yaml": VARIABLES["secondary_schedulers"][0]["config"],
    "files/old.yaml": {"apiVersion": "kubescheduler.config.k8s.io/v1beta3", "kind": "KubeSchedulerConfiguration"},
    "scheduler.yaml.j2": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "example", "namespace": "jobs"}},
    "deployment.yaml": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "taken-over", "namespace": "jobs"}},
    "namespace.yaml.j2": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "my-operator"}},
    "operator.yaml.j2": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "operator", "namespace": "my-operator"}},
    "crd.yaml": {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "operator", "namespace": "my-operator"}},
    "catalog.yaml": {"schema": "olm.bundle", "name": "a.v1.0.0", "package": "a", "image": "registry.example.com/a-bundle:1.0.0"},
}


@pytest.fixture(scope="module")
def world(kubectl):
    """The demo's installation; a scheduler, a namespace and a pool of nodes called batch, batch and jobs."""
    installed()
    batch = Scheduler(kubectl, "batch")
    batch.write_config()
    batch.write()
    kubectl("create", "namespace", "jobs")
    node = kubectl.json("get", "nodes")["items"][0]["metadata"]["name"]
    kubectl("label", "node", node, "pool=batch")
    batch.rest()
    yield
    kubectl("label", "node", node, "pool-")
    kubectl("delete", "namespace", "jobs", "my-operator", "--ignore-not-found", "--wait=false")
    batch.delete()


@pytest.fixture
def surroundings(path, kubectl):
    """What only the examples of one module speak of."""
    if path.stem == "static_pod_scheduler":
        pytest.skip("its examples change a host of a control plane; test_static_pod_scheduler.py does so on nodes")
    if path.stem == "default_scheduler_info":
        with openshift(kubectl, {"LowNodeUtilization": json.dumps(rendered("4.18"))}):
            yield
    else:
        yield


@pytest.mark.parametrize("path", DOCUMENTED, ids=lambda path: path.stem)
def test_examples_run_as_they_stand(world, surroundings, play, tmp_path, path):
    for name, content in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(yaml.safe_dump(content))
    playbook = tmp_path / "playbook.yaml"
    tasks = examples(path)
    playbook.write_text(yaml.safe_dump([{"name": "Examples", "hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
    run = play(playbook, variables={"private_folder": str(tmp_path), "registry_password": "not a real one"})
    assert [task.status for task in run.tasks] == ["ok"] * len(tasks)
