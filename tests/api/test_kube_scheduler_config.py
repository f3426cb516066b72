# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kube_scheduler_config with an API server: ConfigMaps, the cluster's release, check mode, and that nothing is left of a question to the image."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from support.direct_module import COLLECTIONS, run_directly
from support.scheduler import IMAGE, eventually

MODULE = "kube_scheduler_config"
V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: {leaderElect: false}\n"


@pytest.fixture
def own_image(kubectl) -> str:
    """A kube-scheduler of the API server's release."""
    return f"registry.k8s.io/kube-scheduler:v1.{kubectl.json('version')['serverVersion']['minor']}.0"


def left_over(kubectl, namespace) -> list[str]:
    """What a question has made in the namespace and is still there; pods go with their Job, a moment later."""
    selector = "--selector=osso.scheduler/image-answer"
    return kubectl("get", "jobs,secrets", f"--namespace={namespace}", selector, "--output=name").stdout.split()


def test_release_of_the_cluster_is_used_if_no_other_is_given(kubeconfig, kubectl):
    minor = kubectl.json("version")["serverVersion"]["gitVersion"].split(".")[1]
    result = run_directly(MODULE, content=V1, kubeconfig=str(kubeconfig)).result
    assert (result["target"]["kubernetes_version"], result["target"]["kubernetes_version_from"]) == (f"1.{minor}", "cluster")
    assert result["valid"] is True


def test_version_skew_between_image_and_cluster_is_a_finding(kubeconfig, own_image):
    old = "registry.k8s.io/kube-scheduler:v1.28.0"
    run = run_directly(MODULE, content=V1, image=old, compare_cluster=True, kubeconfig=str(kubeconfig))
    assert [finding["code"] for finding in run.result["findings"]] == ["version-skew"]
    assert any("releases older than the cluster's v1." in warning for warning in run.warnings)
    assert run_directly(MODULE, content=V1, image=old, kubeconfig="/does/not/exist").result["findings"] == []
    assert run_directly(MODULE, content=V1, image=own_image, compare_cluster=True, kubeconfig=str(kubeconfig)).result["findings"] == []


def test_an_api_or_permission_that_the_cluster_lacks_for_devices_is_a_finding(kubeconfig, kubectl):
    """The API server serves resource.k8s.io/v1 alone; then its role of schedulers loses a verb."""

    def findings(**options):
        found = run_directly(MODULE, content=V1, compare_cluster=True, kubeconfig=str(kubeconfig), **options).result["findings"]
        return [(finding["code"], finding["message"]) for finding in found]

    gate = "--feature-gates=DynamicResourceAllocation=true"
    ((code, message),) = findings(kubernetes_version="1.33", flags=[gate])
    assert (code, "reads resource.k8s.io/v1beta1 in Kubernetes 1.33, but the API server serves only resource.k8s.io/v1:" in message) == (
        "dra-api",
        True,
    )
    assert findings(kubernetes_version="1.34") == []
    role = kubectl.json("get", "clusterrole", "system:kube-scheduler")
    rules = [rule for rule in role["rules"] if "resourceslices" not in rule.get("resources", ())]
    assert len(rules) < len(role["rules"])
    patch = ("patch", "clusterrole", "system:kube-scheduler", "--type=json", "--patch")
    try:
        kubectl(*patch, json.dumps([{"op": "replace", "path": "/rules", "value": rules}]))
        ((code, message),) = findings(kubernetes_version="1.34")
        assert code == "dra-permissions"
        assert "get resourceslices, list resourceslices, watch resourceslices" in message
        assert findings(kubernetes_version="1.33") == []
    finally:
        kubectl(*patch, json.dumps([{"op": "replace", "path": "/rules", "value": role["rules"]}]))
    assert findings(kubernetes_version="1.34") == []


def test_an_api_server_without_gangs_is_named(kubeconfig, kubectl):
    gangs = {"preset": "gang_scheduling", "kubernetes_version": "1.37", "kubeconfig": str(kubeconfig)}
    gate = {"flags": ["--feature-gates=GenericWorkload=true"]}
    is_served = "scheduling.k8s.io/v1beta1" in kubectl("api-versions").stdout.split()  # where the API tier runs 1.37

    def codes(**options):
        found = [finding["code"] for finding in run_directly(MODULE, **gangs, **options).result["findings"]]
        return [code for code in found if code.startswith("gang-")]

    assert codes(compare_cluster=True, **gate) == ([] if is_served else ["gang-api"])
    assert codes(compare_cluster=True) == ["gang-gate", *([] if is_served else ["gang-api"])]
    assert codes(**gate) == [], "nothing was compared"


def test_a_configuration_is_read_from_a_key_of_a_config_map(kubeconfig, kubectl, namespace, own_image):
    about = {"name": "config", "namespace": namespace, "labels": {"a": "b"}}
    kubectl.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": {"config.yaml": V1, "broken": V1 + "x: 1\n"}})
    options = {"image": own_image, "kubeconfig": str(kubeconfig)}
    where = {"name": "config", "namespace": namespace}
    result = run_directly(MODULE, config_map=where, **options).result
    assert (result["valid"], result["found"], result["labels"], result["text"]) == (True, True, {"a": "b"}, V1)
    broken = run_directly(MODULE, config_map={**where, "key": "broken"}, succeed=False, **options)
    assert f"\nConfigMap {namespace}/config[broken]:4:1: x: " in broken.message
    missing = run_directly(MODULE, config_map={**where, "key": "none"}, fail_on="never", **options).result
    assert (missing["found"], missing["valid"], set(missing)) == (False, False, set(result))
    assert "its keys: broken, config.yaml" in missing["reason"]
    assert "does not exist" in run_directly(MODULE, config_map={**where, "name": "none"}, succeed=False, **options).message


def test_a_missing_namespace_for_the_job_is_reported(kubeconfig):
    options = {"image": IMAGE, "ask_image": True, "ask_namespace": "does-not-exist", "kubeconfig": str(kubeconfig)}
    message = run_directly(MODULE, content=V1, succeed=False, **options).message
    assert message.startswith("ask_namespace: the namespace does-not-exist does not exist")


def test_check_mode_creates_nothing(kubeconfig, audit, namespace):
    with audit:
        run = run_directly(MODULE, check=True, content=V1, image=IMAGE, ask_image=True, ask_namespace=namespace, kubeconfig=str(kubeconfig))
    assert audit.writes(dry_run=True) == []
    assert (run.result["valid"], run.result["image_answer"]) == (True, None)


@pytest.fixture
def asking(kubeconfig, kubectl, namespace):
    """A process that waits for an image that does not exist; Job and Secret are there."""
    options = {"content": V1, "image": "registry.k8s.io/no-such-image:3", "ask_image": True, "ask_namespace": namespace}
    module = subprocess.Popen(
        [sys.executable, "-m", f"ansible_collections.osso.scheduler.plugins.modules.{MODULE}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(COLLECTIONS)},
        text=True,
    )
    module.stdin.write(json.dumps({"ANSIBLE_MODULE_ARGS": {**options, "kubeconfig": str(kubeconfig)}}))
    module.stdin.close()
    eventually(lambda: len(left_over(kubectl, namespace)) == 2)
    yield module
    module.kill()
    module.wait(timeout=30)


def test_a_signal_ends_the_module_and_leaves_no_objects(asking, kubectl, namespace):
    asking.send_signal(signal.SIGTERM)
    assert "was ended by SIGTERM" in json.loads(asking.stdout.read())["msg"]
    asking.wait(timeout=30)
    assert left_over(kubectl, namespace) == []


def test_the_cluster_deletes_the_job_of_a_module_that_was_killed(asking, kubectl, namespace):
    """the Job ends by itself, and everything is the Job's"""
    asking.kill()
    asking.wait(timeout=30)
    (job,) = kubectl.json("get", "jobs", f"--namespace={namespace}")["items"]
    assert (job["spec"]["activeDeadlineSeconds"], job["spec"]["ttlSecondsAfterFinished"]) == (150, 60)
    kubectl("delete", "job", job["metadata"]["name"], f"--namespace={namespace}")
    eventually(lambda: not left_over(kubectl, namespace))
