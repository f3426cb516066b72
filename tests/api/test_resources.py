# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""resource_info and resource_patch, and the playbooks that use them with a ``cluster_access``."""

from __future__ import annotations

import pytest


def config_map(namespace, **data):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": namespace, "labels": {"test": "a"}},
        "data": data,
    }


def test_resource_info_finds_objects_by_name_and_by_selector(run_module, kubectl, namespace):
    kubectl.apply(config_map(namespace, one="1"))
    for query, names in (
        ({"kind": "ConfigMap", "namespace": namespace, "name": "a"}, ["a"]),
        ({"kind": "ConfigMap", "namespace": namespace, "name": "b"}, []),
        ({"kind": "ConfigMap", "namespace": namespace, "label_selector": "test=a"}, ["a"]),
        ({"kind": "ConfigMap", "namespace": namespace, "field_selector": "metadata.name=b"}, []),
        ({"kind": "Gadget", "api_version": "example.com/v1"}, []),
        ({"kind": "Gadget", "api_version": "example.com/v1", "namespace": namespace, "name": "a"}, []),
    ):
        result = run_module("resource_info", query)
        assert not result["failed"], result
        assert [one["metadata"]["name"] for one in result["resources"]] == names, query
        assert {(one["apiVersion"], one["kind"]) for one in result["resources"]} <= {("v1", "ConfigMap")}


def test_resource_patch_merges_or_applies_a_json_patch_once(run_module, kubectl, namespace):
    kubectl.apply(config_map(namespace, one="1", two="2"))
    of = {"kind": "ConfigMap", "namespace": namespace, "name": "a"}

    def patch(patch, **options):
        return run_module("resource_patch", {**of, "patch": patch}, **options)

    def data():
        return kubectl.json("get", "configmap", "a", f"--namespace={namespace}")["data"]

    checked = patch({"data": {"one": None, "three": "3"}}, check=True, diff=True)
    assert checked["changed"]
    assert "three" in checked["diff"]["after"]
    assert data() == {"one": "1", "two": "2"}
    assert patch({"data": {"one": None, "three": "3"}})["changed"]
    assert data() == {"two": "2", "three": "3"}
    assert not patch({"data": {"one": None, "three": "3"}})["changed"]
    remove = [{"op": "test", "path": "/data/two", "value": "2"}, {"op": "remove", "path": "/data/two"}]
    assert patch(remove)["changed"]
    assert data() == {"three": "3"}
    assert patch(remove)["failed"]
    assert "patch is a str" in patch("x")["msg"]
    assert "ConfigMap has no rollout" in run_module("resource_patch", {**of, "patch": {}, "wait": True})["msg"]
    of["name"] = "b"
    assert "does not exist" in patch({})["msg"]


@pytest.mark.parametrize(
    ("playbook", "variables", "said"),
    [
        ("hand_over", {}, ""),
        ("mirror", {"operator_image": "registry.example.com/a:1"}, "mirror_registry"),
        (
            "use_scheduler",
            {"use_scheduler_name": "x", "use_scheduler_workloads": [{"kind": "Deployment", "namespace": "default", "name": "missing"}]},
            "Deployment default/missing: it does not exist",
        ),
    ],
)
def test_retry_seconds_of_cluster_access_suits_every_playbook(play, kubeconfig, playbook, variables, said):
    """kubernetes.core has no such option."""
    access = {"kubeconfig": str(kubeconfig), "retry_seconds": 5}
    run = play(f"osso.scheduler.{playbook}", variables={"cluster_access": access, **variables}, succeed=False)
    assert [said in failure.result["msg"] for failure in run.failures] == ([True] if said else []), run.output()
