# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The examples in the documentation of modules, run as they stand, where what they speak of is there. Those of filters: tests/api/test_examples.py."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.openshift import rendered
from support.examples import PLUGINS, run_examples
from support.objects import deployment
from support.openshift import openshift
from support.registries import stands_in_for
from support.scheduler import Scheduler
from support.site import changed, installed

# apply comes last: its examples end with the removal of all SecondaryScheduler resources.
# Those of olm_operator are run where there is OLM (tests/olm/test_olm_operator.py), those of scheduler_preview and scheduler_explain
# without nodes (tests/api/test_preview.py).
# validate_variables is for roles: its example reads facts that a role has collected.
ELSEWHERE = ("olm_operator", "scheduler_explain", "scheduler_preview", "validate_variables")
DOCUMENTED = sorted(
    (path for path in PLUGINS.glob("modules/*.py") if path.stem not in ELSEWHERE),
    key=lambda path: (path.stem == "apply", path),
)


@pytest.fixture(scope="module")
def world(kubectl):
    """The demo's installation; a scheduler, a namespace and a pool of nodes called batch, batch and jobs."""
    installed()
    batch = Scheduler(kubectl, "batch")
    # It uses only the nodes of its pool.
    here = {"key": "pool", "operator": "In", "values": ["batch"]}
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}}
    config = json.loads(batch.config())
    config["profiles"][0]["pluginConfig"] = [{"name": "NodeAffinity", "args": {"addedAffinity": affinity}}]
    batch.write_config(json.dumps(config))
    batch.write()
    kubectl("create", "namespace", "jobs")
    node = kubectl.json("get", "nodes")["items"][0]["metadata"]["name"]
    kubectl("label", "node", node, "pool=batch")
    batch.rest()
    yield
    kubectl("label", "node", node, "pool-")
    kubectl("delete", "namespace", "jobs", "my-operator", "--ignore-not-found", "--wait=false")
    batch.delete()
    # One of the examples removes all SecondarySchedulers.
    changed()


@pytest.fixture
def surroundings(path, kubectl, request):
    """What only the examples of one module speak of."""
    if path.stem == "static_pod_scheduler":
        pytest.skip("its examples change a host of a control plane; test_static_pod_scheduler.py does so on nodes")
    if path.stem == "default_scheduler_info":
        with openshift(kubectl, {"LowNodeUtilization": json.dumps(rendered("4.18"))}):
            yield
    elif path.stem == "scheduler_cache_dump":
        with stands_in_for(request.getfixturevalue("own_cluster"), "registry.example.com"):
            yield
    elif path.stem == "resource_patch":
        kubectl.apply(deployment("jobs", name="crunch", replicas=0))
        yield
    else:
        yield


@pytest.mark.parametrize("path", DOCUMENTED, ids=lambda path: path.stem)
def test_examples_of_modules_run_unchanged(world, surroundings, play, tmp_path, path):
    run_examples(play, path, tmp_path)
