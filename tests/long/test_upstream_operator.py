# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The real upstream operator, where its program is at hand: that the stand-in of the other tests leaves what it leaves, and moving over and back.

UPSTREAM_OPERATOR is the path of the program `secondary-scheduler-operator`; no package registry has it, so without it these are skipped.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support import upstream
from support.scheduler import Scheduler, eventually
from support.site import NAMESPACE, remove, site
from support.tcp_proxy import TcpProxy

pytestmark = pytest.mark.long
PROGRAM = os.environ.get("UPSTREAM_OPERATOR", "")
CRD = Path(__file__).parents[2] / "roles/operator/files/secondaryschedulers.crd.yaml"


@pytest.fixture
def real(kubectl, tmp_path):
    """`with real():` the upstream operator runs, with its port and the API server's on the loopback interface."""
    if not Path(PROGRAM).is_file():
        pytest.skip("UPSTREAM_OPERATOR is not the path of the upstream operator's program, which no package registry has")

    @contextmanager
    def run():
        config = kubectl.json("config", "view", "--minify", "--flatten", "--raw")
        server = urlsplit(config["clusters"][0]["cluster"]["server"])
        with TcpProxy((server.hostname, server.port)) as proxy, (tmp_path / "log").open("w") as log:
            config["clusters"][0]["cluster"] |= {"server": f"https://127.0.0.1:{proxy.port}", "tls-server-name": "kubernetes"}
            kubeconfig = tmp_path / "kubeconfig"
            kubeconfig.write_text(json.dumps(config))
            options = [f"--kubeconfig={kubeconfig}", f"--namespace={NAMESPACE}", "--listen=127.0.0.1:18443"]
            process = subprocess.Popen([PROGRAM, "operator", *options], stdout=log, stderr=log, cwd=tmp_path)
            try:
                yield
            finally:
                process.terminate()
                process.wait(30)

    return run


@pytest.fixture
def upstream_scheduler(kubectl):
    """The resource that the upstream operator looks at, in an installation of it."""
    remove()
    upstream.uninstall(kubectl)
    upstream.install(kubectl, CRD)
    scheduler = Scheduler(kubectl, "cluster", scheduler_name="secondary-scheduler")
    yield scheduler
    remove()
    upstream.uninstall(kubectl)


def begin(scheduler):
    scheduler.write_config()
    scheduler.write(managementState="Managed")


def reported(scheduler):
    """upstream's status says that it wrote the Deployment of now"""
    resource, deployment = scheduler.resource, scheduler.deployment
    generations = (resource.get("status") or {}).get("generations") or [{}]
    return (
        deployment
        and "observedConfig" in resource["spec"]
        and deployment["spec"]["template"]["metadata"]["annotations"].get("secondaryschedulers.operator.openshift.io/cluster")
        == str(resource["metadata"]["generation"])
        and generations[0].get("lastGeneration") == deployment["metadata"]["generation"]
        and {one["type"] for one in resource["status"].get("conditions") or []} >= set(upstream.CONDITIONS.values())
    )


def left(scheduler) -> dict:
    """What the operator left, by kind and name: content, and which fields who owns; without what is different in every run."""
    kubectl, resource = scheduler.kubectl, scheduler.resource
    names = [(upstream.RESOURCE, resource["metadata"])]
    names += [(f"{one['kind']}.{one['apiVersion'].rpartition('/')[0]}".rstrip("."), one["metadata"]) for one in upstream.objects(resource)]
    found = {}
    for kind, metadata in names:
        where = [f"--namespace={metadata['namespace']}"] if "namespace" in metadata else []
        obj = kubectl.json("get", kind, metadata["name"], *where, "--show-managed-fields")
        obj["metadata"] = {key: obj["metadata"].get(key) for key in ("labels", "annotations", "ownerReferences", "managedFields")}
        owners = [entry for entry in obj["metadata"]["managedFields"] if entry["manager"] != "kube-controller-manager"]
        owned = [[entry["manager"], entry["operation"], entry.get("subresource"), entry["fieldsV1"]] for entry in owners]
        obj["metadata"]["managedFields"] = sorted(owned, key=str)
        if "conditions" in obj.get("status", {}) and kind == upstream.RESOURCE:
            obj["status"]["conditions"].sort(key=lambda one: one["type"])
        elif kind == "Deployment.apps":
            del obj["status"]
        found[kind, metadata["name"]] = masked(json.loads(json.dumps(obj).replace(resource["metadata"]["uid"], "uid")))
    return found


def masked(value, key=""):
    if isinstance(value, dict):
        return {name: masked(item, name) for name, item in value.items() if name not in ("uid", "clusterIP", "clusterIPs")}
    if isinstance(value, list):
        return [masked(item, key) for item in value]
    if key == upstream.SPEC_HASH:
        assert re.fullmatch("[0-9a-f]{64}", value)
        return "hash"
    if key in ("lastGeneration", "lastTransitionTime", "deployment.kubernetes.io/revision"):
        return key
    return "number" if isinstance(value, str) and "/" in key and value.isdigit() else value


def within_upstream(scheduler):
    """Have OpenShift's part played: the user that its admission gives the pods."""
    user = [{"op": "add", "path": "/spec/template/spec/securityContext/runAsUser", "value": 65532}]
    scheduler.kubectl("patch", "deployment", scheduler.workload, f"--namespace={NAMESPACE}", "--type=json", f"--patch={json.dumps(user)}")


def serves(scheduler):
    scheduler.kubectl("rollout", "status", f"deployment/{scheduler.workload}", f"--namespace={NAMESPACE}", "--timeout=240s", timeout=250)


def test_moving_from_the_real_upstream_operator_and_back_takes_one_rollout_each(upstream_scheduler, real, play):
    begin(upstream_scheduler)
    with real():
        eventually(lambda: reported(upstream_scheduler), within=120)
    within_upstream(upstream_scheduler)
    serves(upstream_scheduler)
    before = upstream_scheduler.rollouts()
    site(variables={"probe": "never", "secondary_schedulers": []})
    upstream_scheduler.rest()
    print("rollouts when moving over:", upstream_scheduler.rollouts() - before)
    assert upstream_scheduler.rollouts() == before + 1

    play("osso.scheduler.hand_over")
    before = upstream_scheduler.rollouts()
    with real():
        eventually(lambda: reported(upstream_scheduler), within=120)
        first = upstream_scheduler.deployment["metadata"]["generation"]
        time.sleep(20)  # no event shows that upstream's operator changes nothing else
        assert upstream_scheduler.deployment["metadata"]["generation"] == first
    print("rollouts when moving back:", upstream_scheduler.rollouts() - before)
    assert upstream_scheduler.rollouts() == before + 1
    within_upstream(upstream_scheduler)
    serves(upstream_scheduler)
    assert play("osso.scheduler.hand_over").changed == [
        "Remove objects that are no longer in use",
        "Remove the rest of the operator's installation",
    ]


def test_the_stand_in_leaves_the_same_objects_as_the_real_operator(upstream_scheduler, real, kubectl):
    begin(upstream_scheduler)
    with real():
        eventually(lambda: reported(upstream_scheduler), within=120)
    by_the_real_one = left(upstream_scheduler)
    print("rollouts by the upstream operator for a new resource (B5):", upstream_scheduler.rollouts())

    upstream.uninstall(kubectl)
    upstream.install(kubectl, CRD)
    begin(upstream_scheduler)
    upstream.Upstream(kubectl).reconcile()
    assert reported(upstream_scheduler)
    by_the_stand_in = left(upstream_scheduler)
    for name, obj in by_the_real_one.items():
        assert by_the_stand_in[name] == obj, name
    assert len(by_the_stand_in) == len(by_the_real_one) == 11
