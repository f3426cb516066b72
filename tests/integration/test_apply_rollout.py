# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Module apply while it waits for rollouts, whose pods need nodes. Everything else about it: tests/api/test_apply*.py."""

from __future__ import annotations

import time

import pytest
from support.objects import deployment
from support.scheduler import eventually


def test_workloads_of_the_set_roll_out(apply, kubectl, namespace):
    manifest = deployment(namespace, replicas=2)
    run = apply(manifest, wait=True, return_kinds=["Deployment"], wait_timeout=120)
    (live,) = run.result["resources"]
    assert live["status"]["availableReplicas"] == 2
    assert live["status"]["observedGeneration"] == live["metadata"]["generation"]

    manifest["spec"]["template"]["metadata"]["annotations"] = {"changed": "true"}
    run = apply(manifest, wait=True, return_kinds=["Deployment"], wait_timeout=120)
    (live,) = run.result["resources"]
    assert live["metadata"]["generation"] == 2
    assert live["status"]["updatedReplicas"] == live["status"]["replicas"] == live["status"]["availableReplicas"] == 2

    run = apply(manifest, wait=True)
    assert run.result["requests"] == {"read": 1, "write": 0, "dry_run": 0}, "what is rolled out costs no watch"


def test_the_reasons_why_workloads_do_not_roll_out_are_reported(apply, kubectl, namespace):
    no_image = deployment(namespace, "no-image", image="registry.k8s.io/does-not-exist:1", replicas=2)
    no_node = deployment(namespace, "no-node", nodeSelector={"example.com/none": "true"})
    crashing = deployment(namespace, "crashing", image="registry.k8s.io/busybox:1")
    crashing["spec"]["template"]["spec"]["containers"][0].update(
        command=["/bin/sh", "-c", "echo the disk is full > /dev/termination-log; exit 3"]
    )
    fine = deployment(namespace, "fine")
    objects = [no_image, no_node, crashing, fine]
    assert apply(objects).result["counts"]["created"] == 4

    def is_reported():
        """The pods show everything that the message names."""
        pods = {pod["metadata"]["labels"]["app"]: pod["status"] for pod in kubectl.list("pod", namespace)}
        waits = {name: status["containerStatuses"][0] for name, status in pods.items() if status.get("containerStatuses")}
        return (
            kubectl.get("deployment", "fine", namespace)["status"].get("availableReplicas") == 1
            and "Image" in waits.get("no-image", {"state": {}})["state"].get("waiting", {}).get("reason", "")
            and any("terminated" in waits.get("crashing", {}).get(key, {}) for key in ("state", "lastState"))
            and pods.get("no-node", {}).get("conditions")
        )

    eventually(is_reported)
    started = time.monotonic()
    run = apply(objects, wait=True, wait_timeout=10, succeed=False)
    assert 9 < time.monotonic() - started < 29, "one deadline for all"
    assert run.message.startswith("Not ready after 10 s (wait_timeout). ")
    by_object = {text.split(":")[0]: text for text in run.message.removeprefix("Not ready after 10 s (wait_timeout). ").split(" | ")}
    assert set(by_object) == {f"Deployment {namespace}/{name}" for name in ("no-image", "no-node", "crashing")}
    assert "0 available" in by_object[f"Deployment {namespace}/no-image"]
    assert "ErrImagePull" in run.message or "ImagePullBackOff" in run.message
    assert "registry.k8s.io/does-not-exist:1" in by_object[f"Deployment {namespace}/no-image"]
    assert "not scheduled by default-scheduler: 0/" in by_object[f"Deployment {namespace}/no-node"]
    assert "exit code 3: the disk is full" in by_object[f"Deployment {namespace}/crashing"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("image", "command", "says"),
    [
        ("registry.k8s.io/does-not-exist:1", None, "registry.k8s.io/does-not-exist:1"),
        (
            "registry.k8s.io/busybox:1",
            ["/bin/sh", "-c", "echo the disk is full > /dev/termination-log; exit 3"],
            "exit code 3: the disk is full",
        ),
    ],
    ids=["image", "crash"],
)
def test_pods_that_cannot_start_end_the_wait(apply, namespace, image, command, says):
    manifest = deployment(namespace, "stuck", image=image)
    if command:
        manifest["spec"]["template"]["spec"]["containers"][0].update(command=command)
    started = time.monotonic()
    message = apply(manifest, wait=True, wait_timeout=300, succeed=False).message
    assert time.monotonic() - started < 150
    assert message.startswith(f"Will not become ready. Deployment {namespace}/stuck: ")
    assert says in message
