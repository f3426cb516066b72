# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""scheduler_preview as a Job: the programs of the images, in a pod without rights. What needs no node: tests/api/test_preview.py."""

from __future__ import annotations

import base64
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._preview import in_pod, job
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import job_pods
from cluster.throwaway import processes
from cluster.throwaway.layout import Layout
from support.access import service_account
from support.direct_module import COLLECTIONS, run_directly
from support.preview import CONFIG, SECRET, listed, node, pod
from support.scheduler import IMAGE, eventually

OWN = [
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create", "delete"]},
    {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]},
    {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
]
OPERATOR = Path(os.environ["OPERATOR_IMAGE_FILE"]).read_text().strip()


@pytest.fixture
def left_over(kubectl, namespace):
    """What previews have created and still exists. The namespace enforces Pod Security `restricted`."""
    kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
    selector = "--selector=osso.scheduler/preview"

    def names():
        return kubectl("get", "jobs,secrets,pods", f"--namespace={namespace}", selector, "--output=name").stdout.split()

    return names


@pytest.fixture
def given(kubeconfig, namespace, tmp_path):
    file = tmp_path / "list.json"
    file.write_bytes(listed(node("a"), node("b"), node("c"), *(pod(f"p{number}", on="abc"[number % 3]) for number in range(6))))
    return {
        "kubeconfig": str(kubeconfig),
        "snapshot": str(file),
        "mode": "replace",
        "candidate": {"image": IMAGE, "config": CONFIG},
        "baseline": {"config": CONFIG},
        "job": {"namespace": namespace, "image": OPERATOR},
    }


def test_a_preview_in_a_job_needs_only_the_documented_permissions(given, left_over, kubectl, namespace, audit, monkeypatch):
    """With the permissions of the documentation alone, and a question in several Secrets. It writes only the Job's own objects.

    The namespace has a ResourceQuota on limits.
    """
    kubectl("create", "quota", "limits", f"--namespace={namespace}", "--hard=limits.cpu=8,limits.memory=4Gi")
    monkeypatch.setattr(job, "_PART", 400)
    with service_account(kubectl, namespace, *OWN) as robot, audit as requests:
        done = run_directly("scheduler_preview", **{**given, **robot})
    assert done.result["previewed"]
    assert {row["status"] for row in done.result["pods"]} <= {"same", "tie"}, done.result["pods"]
    assert done.result["summary"]["pods"] == 6
    assert done.result["kubernetes_version"] == "1.34"
    written = [(request.verb, request.resource) for request in requests.writes(user="robot")]
    assert (written[0], written[-1]) == (("create", "jobs"), ("delete", "jobs"))
    assert len(written) > 4
    assert set(written[1:-1]) == {("create", "secrets")}
    assert SECRET not in done.output
    eventually(lambda: not left_over())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"candidate": {"image": "registry.k8s.io/pause:3.10", "config": CONFIG}}, "pause:3.10 has no usable /bin/kube-scheduler"),
        ({"image": IMAGE}, f"The image {IMAGE} cannot be started: "),
        (
            {"candidate": {"image": IMAGE, "config": {**CONFIG, "profiles": [{"schedulerNam": "x"}]}}},
            "candidate.config: this is no usable ",
        ),
    ],
    ids=["no scheduler", "no collection", "rejected configuration"],
)
def test_a_job_that_cannot_preview_is_one_error_and_is_deleted(given, left_over, namespace, change, why):
    """One error, and nothing remains."""
    if "image" in change:
        change = {"job": {"namespace": namespace, **change}}
    assert why in run_directly("scheduler_preview", succeed=False, **{**given, **change}).message
    eventually(lambda: not left_over())


@pytest.mark.long
def test_an_explanation_in_a_job_needs_only_the_documented_permissions(given, left_over, audit, kubectl, namespace):
    """With the same permissions, of a pod that fits nowhere."""
    question = {key: given[key] for key in ("snapshot", "candidate", "job")}
    template = {"spec": pod("x", cpu="64")["spec"]}
    checked = run_directly("scheduler_explain", check=True, template=template, **question)
    assert (checked.result["explained"], left_over()) == (False, [])
    with service_account(kubectl, namespace, *OWN) as robot, audit as requests:
        found = run_directly("scheduler_explain", template=template, **question, **robot).result
    assert found["explained"]
    assert {row["name"]: row["filters"] for row in found["nodes"]} == {name: ["NodeResourcesFit"] for name in "abc"}
    assert [attempt["change"] for attempt in found["attempts"]] == ["10 % smaller requests", "with one more node like a"]
    written = [(request.verb, request.resource) for request in requests.writes(user="robot")]
    assert set(written) == {("create", "jobs"), ("create", "secrets"), ("delete", "jobs")}
    eventually(lambda: not left_over())


@pytest.mark.long
def test_a_namespace_that_rejects_the_jobs_pod_is_reported_at_once(given, left_over, kubectl, namespace):
    limits = [{"type": "Container", "max": {"memory": "100Mi"}}]
    kubectl.apply({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l", "namespace": namespace}, "spec": {"limits": limits}})
    started = time.monotonic()
    done = run_directly("scheduler_preview", succeed=False, **given)
    assert time.monotonic() - started < 60
    assert done.message.count("maximum memory usage per Container is 100Mi") == 1 + done.message.count(", maximum memory")
    assert "Use a namespace whose ResourceQuota, LimitRange and policies allow this pod" in done.message
    eventually(lambda: not left_over())


@pytest.mark.long
def test_a_namespace_that_is_deleted_during_the_preview_is_reported(given, left_over, kubectl, namespace):
    """Its image cannot be pulled for a while, so that the preview waits."""
    given["job"]["image"] = "registry.example.com/no-such-image:1"
    with ThreadPoolExecutor() as executor:
        preview = executor.submit(run_directly, "scheduler_preview", succeed=False, **given)
        eventually(lambda: any(name.startswith("pod/") for name in left_over()))
        kubectl("delete", "namespace", namespace, "--wait=false")
        assert preview.result().message.startswith(f"job.namespace: the namespace {namespace} ")


@pytest.mark.long
def test_a_user_who_may_not_delete_the_job_gets_the_result_with_a_warning(given, left_over, kubectl, namespace):
    """The result is returned with a warning, and the Job is deleted without the user."""
    rules = [{**OWN[0], "verbs": ["create"]}, *OWN[1:]]
    with service_account(kubectl, namespace, *rules) as robot:
        done = run_directly("scheduler_preview", **{**given, **robot})
    assert done.result["previewed"]
    assert any(f"kubectl -n {namespace} delete job osso-preview-" in warning for warning in done.warnings)
    eventually(lambda: not left_over(), within=120)


@pytest.mark.long
def test_a_preview_on_a_lost_node_fails_and_leaves_no_objects(given, left_over, kubectl, own_cluster, namespace, tmp_path):
    """The kubelet of the pod's node does not answer while the preview runs: one error, and all objects are deleted at once."""
    file = tmp_path / "many.json"
    nodes = [node(f"n{number:03}") for number in range(300)]
    file.write_bytes(listed(*nodes, *(pod(f"p{number:04}", on=f"n{number % 300:03}") for number in range(6000))))
    # A fifth of it is the patience without progress, but at least two minutes.
    asked = {**given, "snapshot": str(file), "timeout": 60}
    with ThreadPoolExecutor() as executor:
        preview = executor.submit(run_directly, "scheduler_preview", succeed=False, **asked)
        selector = ("--selector=osso.scheduler/preview", f"--namespace={namespace}")
        place = "--output=jsonpath={.items[?(@.status.phase=='Running')].spec.nodeName}"
        lost = eventually(lambda: kubectl("get", "pods", *selector, place).stdout)
        layout = Layout(own_cluster)
        os.kill(processes.running(layout)[f"kubelet.{lost}"].pid, signal.SIGSTOP)
        started = time.monotonic()
        try:
            message = preview.result(timeout=400).message
            eventually(lambda: left_over() == [])  # while the kubelet does not answer
        finally:
            processes.resume(process for process in processes.owned_processes(layout.state) if process.component == f"kubelet.{lost}")
    assert time.monotonic() - started < 300
    assert message.startswith(f"job: the node {lost}, on which the Job {namespace}/osso-preview-")


@pytest.mark.long
def test_the_playbook_previews_in_a_job_without_a_change(given, left_over, play, namespace):
    job_of = {"preview_job_namespace": namespace, "preview_job_image": OPERATOR}
    about = {"preview_image": IMAGE, "preview_preset": "packing", "preview_snapshot": given["snapshot"]}
    run = play("osso.scheduler.preview", variables={**about, **job_of})
    assert any(line.startswith("replace: 6 pods: ") for line in run.task("Report where the pods would be").result["msg"])
    assert run.changed == []
    eventually(lambda: not left_over())


@pytest.mark.long
def test_the_job_of_a_killed_module_is_deleted_with_its_objects(given, left_over):
    """The Job ends by itself, and is then deleted with its pod and its Secrets."""
    code = "import sys; sys.argv[1:] = []; from ansible_collections.osso.scheduler.plugins.modules.scheduler_preview import main; main()"
    started = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(COLLECTIONS)},
    )
    started.stdin.write(json.dumps({"ANSIBLE_MODULE_ARGS": given}).encode())
    started.stdin.close()
    eventually(lambda: any(name.startswith("secret/") for name in left_over()))
    started.send_signal(signal.SIGKILL)
    started.wait()
    assert left_over()
    eventually(lambda: not left_over(), within=400)


def test_no_secret_of_the_cluster_is_in_the_output_of_a_preview(left_over, kubectl, kubeconfig, namespace, play, tmp_path, monkeypatch):
    """Not in the Secrets of the Job, in its log, in the answer and on the page. A label that is planted in the same pod is in the Secrets."""
    planted = pod("planted", labels={"app": "planted-label"}, schedulerName="nobody")
    (container,) = planted["spec"]["containers"]
    container["env"].append({"name": "FROM", "valueFrom": {"secretKeyRef": {"name": "planted", "key": SECRET}}})
    container["securityContext"] = job_pods.CONTAINER_SECURITY
    planted["spec"]["securityContext"] = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    planted["metadata"] = {"name": "planted", "namespace": namespace, "labels": {"app": "planted-label"}, "annotations": {"token": SECRET}}
    kubectl.apply(planted)
    of_secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "planted", "namespace": namespace}, "stringData": {"a": SECRET}}
    kubectl.apply(of_secret)
    kubectl("annotate", "namespace", namespace, f"token={SECRET}")
    kubectl("annotate", "node", "--all", f"token={SECRET}")
    job_of = {"preview_job_namespace": namespace, "preview_job_image": OPERATOR, "preview_dest": str(tmp_path)}
    about = {"preview_image": IMAGE, "preview_preset": "packing", "preview_mode": "pending", "preview_namespaces": [namespace]}
    try:
        run = play("osso.scheduler.preview", variables={**about, **job_of})
        eventually(lambda: not left_over())
        # This Job stays a minute.
        monkeypatch.setattr(job_pods, "remove", lambda *about: "")
        place = {"namespace": namespace, "image": OPERATOR}
        candidate = {"image": IMAGE, "config": CONFIG}
        answer = run_directly(
            "scheduler_preview", kubeconfig=str(kubeconfig), namespaces=[namespace], mode="pending", candidate=candidate, job=place
        )
        (pod_of_job,) = [name for name in left_over() if name.startswith("pod/")]
        logs = kubectl("logs", f"--namespace={namespace}", "--all-containers", pod_of_job).stdout
        secrets = kubectl.json("get", "secrets", f"--namespace={namespace}", "--selector=osso.scheduler/preview")["items"]
    finally:
        kubectl("annotate", "node", "--all", "token-")
    secrets.sort(key=lambda one: int(one["metadata"]["name"].rpartition("-")[2]))
    options, _newline, snapshot = b"".join(base64.b64decode(one["data"]["part"]) for one in secrets).partition(b"\n")
    question = options.decode() + gzip.decompress(snapshot).decode()
    # What is planted would be found.
    assert "planted-label" in question
    assert SECRET in json.dumps(kubectl.json("get", "pod", "planted", f"--namespace={namespace}"))
    assert [row["name"] for row in in_pod.read(logs)["result"]["pods"]] == ["planted"]
    page = (tmp_path / "preview-localhost.html").read_text()
    assert f"{namespace}/planted" in page
    texts = {
        "Secrets": question,
        "log": logs,
        "answer in the log": json.dumps(in_pod.read(logs)),
        "answer": answer.output,
        "page": page,
        "output": run.output(),
    }
    assert [name for name, text in texts.items() if SECRET in text] == []
    kubectl("delete", "jobs", f"--namespace={namespace}", "--selector=osso.scheduler/preview")
    eventually(lambda: not left_over())
