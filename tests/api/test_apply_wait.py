# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Module apply while it waits: for conditions, kinds and deletions. Rollouts that end well: tests/integration/test_apply_rollout.py."""

from __future__ import annotations

import json
import threading
import time

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import conditions
from support.kinds import established
from support.objects import config_map, deployment, thing, things
from support.scheduler import eventually


def later(seconds, function, *args):
    """Call a function in the background after some seconds; join() what is returned."""
    timer = threading.Timer(seconds, function, args)
    timer.start()
    return timer


def set_status(kubectl, group, namespace, **status):
    patch = json.dumps({"status": status})
    arguments = [f"--namespace={namespace}", "--subresource=status", "--type=merge", "--patch", patch]
    kubectl("patch", f"things.{group}", "one", *arguments)


def ready(group, namespace, **condition):
    return {
        "api_version": f"{group}/v1",
        "kind": "Thing",
        "name": "one",
        "namespace": namespace,
        "condition": {"type": "Ready", **condition},
    }


class TestRollout:
    def test_pods_that_a_quota_forbids_are_reported(self, apply, kubectl, namespace):
        kubectl("create", "quota", "none", "--hard=pods=0", f"--namespace={namespace}")
        # Admission uses its status, which a controller writes.
        eventually(lambda: kubectl.json("get", "quota", "none", f"--namespace={namespace}").get("status", {}).get("used"))
        apply(deployment(namespace))
        eventually(lambda: conditions.find(kubectl.get("deployment", "app", namespace), "ReplicaFailure"))
        message = apply(deployment(namespace), wait=True, wait_timeout=1, succeed=False).message
        assert "exceeded quota: none" in message

    def test_a_rollout_that_is_stuck_fails_before_the_time_is_over(self, apply, namespace):
        manifest = deployment(namespace, image="registry.k8s.io/does-not-exist:1")
        manifest["spec"]["progressDeadlineSeconds"] = 3
        message = apply(manifest, wait=True, wait_timeout=60, succeed=False).message
        assert message.startswith(f"Will not become ready. Deployment {namespace}/app: ")
        assert "ProgressDeadlineExceeded" in message


class TestConditions:
    def test_the_module_waits_for_a_condition_by_one_watch(self, apply, kubectl, namespace, group):
        apply([things(group), thing(group, namespace)])
        become = later(
            3, lambda: set_status(kubectl, group, namespace, conditions=[{"type": "Ready", "status": "False", "reason": "Done"}])
        )
        started = time.monotonic()
        run = apply(thing(group, namespace), wait_for=[ready(group, namespace, status="False", reason="Done")], return_kinds=["Thing"])
        become.join()
        assert 1 < time.monotonic() - started < 60
        assert run.result["resources"][0]["status"]["conditions"][0]["reason"] == "Done"
        # A watch that was opened once, not a question every second
        assert run.result["requests"]["read"] <= 3

    def test_a_condition_of_an_older_generation_does_not_count(self, apply, kubectl, namespace, group):
        apply([things(group), thing(group, namespace)])
        established(kubectl, f"things.{group}")
        set_status(kubectl, group, namespace, observedGeneration=1, conditions=[{"type": "Ready", "status": "True"}])
        assert apply(thing(group, namespace), wait_for=[ready(group, namespace)])
        changed = thing(group, namespace, spec={"size": 2})
        message = apply(changed, wait_for=[ready(group, namespace)], wait_timeout=2, succeed=False).message
        assert "has not looked at the present generation yet" in message

    def test_an_object_that_does_not_exist_yet_is_waited_for(self, apply, kubectl, namespace, group):
        apply([things(group)])
        established(kubectl, f"things.{group}")
        wait_for = [ready(group, namespace)]
        message = apply(config_map(namespace), wait_for=wait_for, wait_timeout=2, succeed=False).message
        assert message == f"Not ready after 2 s (wait_timeout). Thing {namespace}/one: it does not exist"

        def create():
            kubectl.apply(thing(group, namespace))
            set_status(kubectl, group, namespace, conditions=[{"type": "Ready", "status": "True"}])

        creation = later(2, create)
        apply(config_map(namespace), wait_for=wait_for, wait_timeout=30)
        creation.join()

    def test_only_the_unmet_one_of_several_wait_targets_is_named(self, apply, kubectl, namespace, group):
        apply([things(group), thing(group, namespace)])
        wait_for = [
            ready(group, namespace),
            {"kind": "Deployment", "name": "app", "namespace": namespace, "rollout": True},
            {"kind": "Deployment", "name": "app", "namespace": namespace, "condition": {"type": "Available"}},
        ]
        apply(deployment(namespace, replicas=0), wait=True)
        message = apply(deployment(namespace, replicas=0), wait_for=wait_for, wait_timeout=1, succeed=False).message
        assert message == f"Not ready after 1 s (wait_timeout). Thing {namespace}/one: condition Ready is not reported"


class TestDefinitions:
    def test_a_crd_whose_names_are_taken_ends_the_run(self, apply, kubectl, namespace, group):
        second = things(group)
        second["metadata"]["name"] = f"others.{group}"
        second["spec"]["names"]["plural"] = "others"
        apply(things(group))
        run = apply([second, config_map(namespace)], succeed=False)
        apply(second, state="absent")
        assert run.message.startswith(f"Will not become ready. CustomResourceDefinition others.{group}: NamesAccepted is False")
        assert run.actions() == {f"CustomResourceDefinition others.{group}": "created"}, "what may need the kind has to wait"

    def test_a_crd_can_get_a_new_field_in_the_same_run_as_its_instance(self, apply, kubectl, namespace, group):
        definition = things(group)
        apply([definition, thing(group, namespace)])
        for number in range(5):
            properties = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
            properties[f"new{number}"] = {"type": "integer"}
            apply([definition, thing(group, namespace, spec={"size": 1, f"new{number}": number})])
        assert kubectl.json("get", f"things.{group}", "one", f"--namespace={namespace}")["spec"]["new4"] == 4


class TestDeletion:
    def hold(self, obj):
        obj["metadata"]["finalizers"] = ["example.com/hold"]
        return obj

    def release(self, kubectl, kind, name, namespace):
        patch = json.dumps({"metadata": {"finalizers": None}})
        kubectl("patch", kind, name, f"--namespace={namespace}", "--type=merge", "--patch", patch)

    def test_custom_resources_are_deleted_before_the_objects_that_clean_up_after_them(self, apply, kubectl, namespace, group):
        manifests = [things(group), self.hold(thing(group, namespace)), deployment(namespace), config_map(namespace)]
        apply(manifests)
        seen = []

        def clean_up():
            """What an operator does: it needs the Deployment, its configuration and the kind to be there still."""
            for kind, name in (("deployment", "app"), ("configmap", "settings"), ("customresourcedefinition", f"things.{group}")):
                where = [] if kind == "customresourcedefinition" else [f"--namespace={namespace}"]
                seen.append(kubectl.json("get", kind, name, *where)["metadata"].get("deletionTimestamp"))
            self.release(kubectl, f"things.{group}", "one", namespace)

        operator = later(4, clean_up)
        run = apply(manifests, state="absent", wait_timeout=60)
        operator.join()
        assert seen == [None, None, None]
        assert list(run.actions()) == ["Thing one", "Deployment app", "ConfigMap settings", f"CustomResourceDefinition things.{group}"]
        assert set(run.actions().values()) == {"deleted"}
        # Really gone, the pods of the Deployment too
        assert kubectl.json("get", "pods,deployments,configmaps", "--selector=app=app", f"--namespace={namespace}")["items"] == []
        assert kubectl.json("get", "customresourcedefinition", f"things.{group}", "--ignore-not-found") is None

    def test_a_finalizer_that_delays_the_deletion_of_an_object_is_reported(self, apply, kubectl, namespace, group):
        manifests = [things(group), self.hold(thing(group, namespace))]
        apply(manifests)
        try:
            run = apply(manifests, state="absent", wait_timeout=2, succeed=False)
            assert run.message.startswith(
                f"Not deleted after 2 s (wait_timeout). Thing {namespace}/one: held by finalizers example.com/hold"
            )
            assert run.actions() == {"Thing one": "deleted"}, "nothing else was touched"
            assert kubectl.json("get", "customresourcedefinition", f"things.{group}")["metadata"].get("deletionTimestamp") is None
        finally:
            self.release(kubectl, f"things.{group}", "one", namespace)

    def test_the_objects_that_delay_the_deletion_of_a_namespace_are_reported(self, apply, kubectl, namespace):
        own_namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        apply(self.hold(config_map(namespace)))
        try:
            kubectl("delete", "namespace", namespace, "--wait=false")
            eventually(lambda: conditions.find(kubectl.get("namespace", namespace), "NamespaceFinalizersRemaining"))
            message = apply(own_namespace, state="absent", wait_timeout=1, succeed=False).message
            assert message.startswith(f"Not deleted after 1 s (wait_timeout). Namespace {namespace}: held by ")
            assert "example.com/hold in 1 resource instances" in message
        finally:
            self.release(kubectl, "configmap", "settings", namespace)
        assert apply(own_namespace, state="absent").actions() == {f"Namespace {namespace}": "deleted"}
        assert kubectl.json("get", "namespace", namespace, "--ignore-not-found") is None
