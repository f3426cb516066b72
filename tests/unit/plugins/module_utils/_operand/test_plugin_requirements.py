# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What enabled plugins need besides the scheduler (operand/plugin_requirements.py, kube_scheduler/tables/needs.py)."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.needs import CONTROLLER, NEEDS
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.scheduler_plugins import PLUGINS
from ansible_collections.osso.scheduler.plugins.module_utils._operand import plugin_requirements

IMAGE = "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7"
GANGS = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: gangs
    plugins:
      multiPoint: {enabled: [{name: Coscheduling}]}
      queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
"""


def enabled(*names):
    return {"batch": {"filter": [("NodeResourcesFit", 0)], "score": [(name, 1) for name in names]}}


def facts(effective, image=IMAGE, without=(), controller=None, **annotations):
    """A cluster that has everything but ``without``: kinds and ClusterRoles."""
    return {
        "served": {f"{api_version}/{kind}" for api_version, kind in plugin_requirements.kinds(effective) if kind not in without},
        "cluster_roles": {name for name in plugin_requirements.cluster_roles(effective) if name not in without},
        "image": image,
        "controller": controller,
        "annotations": {f"osso.scheduler/{key.replace('_', '-')}": value for key, value in annotations.items()},
    }


def reasons(found):
    return [(entry["what"], entry["reason"]) for entry in found["missing"]]


def test_a_configuration_of_in_tree_plugins_needs_nothing():
    effective = enabled("NodeResourcesBalancedAllocation", "QOSSort")
    assert plugin_requirements.kinds(effective) == []
    assert plugin_requirements.cluster_roles(effective) == []
    assert plugin_requirements.requirements_of(effective, facts(effective)) == {"cluster_roles": [], "controller": None, "missing": []}


def test_gangs_of_kubernetes_need_an_api_that_is_off_by_default():
    effective = enabled("GangScheduling")
    kind = ("scheduling.k8s.io/v1beta1", "PodGroup")
    image = "registry.k8s.io/kube-scheduler:v1.37.2"
    assert plugin_requirements.kinds(effective) == [kind]
    assert plugin_requirements.requirements_of(effective, facts(effective, image))["missing"] == []
    (missing,) = plugin_requirements.requirements_of(effective, facts(effective, image, without=["PodGroup"]))["missing"]
    assert (missing["what"], missing["reason"]) == ("API scheduling.k8s.io/v1beta1", "APINotServed")
    assert "--feature-gates=GenericWorkload=true and --runtime-config=scheduling.k8s.io/v1beta1=true" in missing["message"]
    # An annotation with a release that nobody knows yet leaves the decision to the image.
    later = {**facts(effective, image, without=["PodGroup"]), "annotations": {plugin_requirements.VERSION_ANNOTATION: "openshift-5.99"}}
    assert plugin_requirements.requirements_of(effective, later)["missing"] == [missing]
    old = {**later, "image": "registry.k8s.io/kube-scheduler:v1.36.0"}
    assert plugin_requirements.requirements_of(effective, old)["missing"] == []
    # That of 1.36 has another version.
    assert (
        plugin_requirements.requirements_of(effective, facts(effective, "registry.k8s.io/kube-scheduler:v1.36.0", without=["PodGroup"]))[
            "missing"
        ]
        == []
    )


def test_the_verdict_on_a_configuration_determines_its_requirements():
    effective = check(GANGS, "1.34", plugins="scheduler-plugins").effective
    assert plugin_requirements.plugins(effective) == ["Coscheduling"]
    found = plugin_requirements.requirements_of(effective, facts(effective))
    assert found["cluster_roles"] == ["osso-scheduler:plugin:Coscheduling"]
    assert found["controller"]["image"] == "registry.k8s.io/scheduler-plugins/controller:v0.34.7"
    assert found["missing"] == []


def test_plugins_of_all_profiles_count_once():
    effective = {
        **enabled("NetworkOverhead", "PreemptionToleration"),
        "other": {"queueSort": [["TopologicalSort", 0], ["NetworkOverhead", 0]]},
    }
    assert plugin_requirements.plugins(effective) == ["NetworkOverhead", "PreemptionToleration", "TopologicalSort"]
    assert plugin_requirements.kinds(effective) == [
        ("appgroup.diktyo.x-k8s.io/v1alpha1", "AppGroup"),
        ("networktopology.diktyo.x-k8s.io/v1alpha1", "NetworkTopology"),
    ]
    found = plugin_requirements.requirements_of(effective, facts(effective))
    assert found["controller"] is None
    assert found["missing"] == []


def test_a_missing_crd_is_named_with_its_remedy():
    effective = enabled("NodeResourceTopologyMatch")
    found = plugin_requirements.requirements_of(effective, facts(effective, without=["NodeResourceTopology"]))
    assert reasons(found) == [("CustomResourceDefinition noderesourcetopologies.topology.node.k8s.io", "CRDMissing")]
    assert "operator_plugins" in found["missing"][0]["message"]
    assert found["cluster_roles"] == ["osso-scheduler:plugin:NodeResourceTopologyMatch"]


def test_the_message_names_the_operator_that_installs_a_missing_crd():
    effective = enabled("SySched")
    (missing,) = plugin_requirements.requirements_of(effective, facts(effective, without=["SeccompProfile"]))["missing"]
    assert missing["message"].endswith("install the Security Profiles Operator.")


def test_a_missing_cluster_role_is_not_bound():
    effective = enabled("PreemptionToleration")
    role = "osso-scheduler:plugin:PreemptionToleration"
    found = plugin_requirements.requirements_of(effective, facts(effective, without=[role]))
    assert reasons(found) == [(f"ClusterRole {role}", "ClusterRoleMissing")]
    assert found["cluster_roles"] == []


def test_the_controller_needs_the_kinds_of_both_its_plugins():
    effective = enabled("Coscheduling")
    found = plugin_requirements.requirements_of(effective, facts(effective, without=["ElasticQuota"]))
    assert reasons(found) == [("CustomResourceDefinition elasticquotas.scheduling.x-k8s.io", "CRDMissing")]
    assert found["controller"] is None, "it would never start"


def test_a_crd_that_plugin_and_controller_lack_is_reported_once():
    effective = enabled("Coscheduling", "CapacityScheduling")
    found = plugin_requirements.requirements_of(effective, facts(effective, without=["PodGroup"]))
    assert reasons(found) == [("CustomResourceDefinition podgroups.scheduling.x-k8s.io", "CRDMissing")]


@pytest.mark.parametrize("role", [CONTROLLER.role, CONTROLLER.lease_role])
def test_the_controller_is_not_deployed_without_its_cluster_roles(role):
    effective = enabled("CapacityScheduling")
    found = plugin_requirements.requirements_of(effective, facts(effective, without=[role]))
    assert reasons(found) == [(f"ClusterRole {role}", "ClusterRoleMissing")]
    assert found["controller"] is None


@pytest.mark.parametrize(
    ("image", "annotation", "expected"),
    [
        (IMAGE, "", "registry.k8s.io/scheduler-plugins/controller:v0.34.7"),
        (IMAGE + "@sha256:" + "0" * 64, "", "registry.k8s.io/scheduler-plugins/controller:v0.34.7"),
        ("10.1.0.1:5000/mirror/scheduler-plugins/kube-scheduler:v0.31.8", "", "10.1.0.1:5000/mirror/scheduler-plugins/controller:v0.31.8"),
        ("registry.example.com/scheduler-plugins/kube-scheduler@sha256:" + "0" * 64, "", ""),
        ("registry.example.com/team/my-scheduler:v3", "", ""),
        ("registry.example.com/my-scheduler-plugins/kube-scheduler:v0.34.7", "", ""),
        (
            "registry.example.com/team/my-scheduler:v3",
            "registry.example.com/team/my-controller:v3",
            "registry.example.com/team/my-controller:v3",
        ),
        (IMAGE, "registry.example.com/team/my-controller:v3", "registry.example.com/team/my-controller:v3"),
    ],
)
def test_the_controller_image_is_derived_or_given_by_an_annotation(image, annotation, expected):
    effective = enabled("Coscheduling")
    found = plugin_requirements.requirements_of(
        effective, facts(effective, image=image, **({"controller_image": annotation} if annotation else {}))
    )
    if expected:
        assert found["controller"]["image"] == expected
        assert found["missing"] == []
    else:
        assert found["controller"] is None
        assert reasons(found) == [("controller", "ControllerMissing")]
        assert "osso.scheduler/controller-image" in found["missing"][0]["message"]


@pytest.mark.parametrize(
    ("reason", "told"), [("ReplicaSetUpdated", []), ("NewReplicaSetAvailable", []), ("ProgressDeadlineExceeded", ["controller"])]
)
def test_a_controller_that_does_not_become_available_is_reported(reason, told):
    effective = enabled("Coscheduling")
    available = {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable"}
    conditions = [available, {"type": "Progressing", "status": "True", "reason": reason}]
    deployment = {"metadata": {"name": "secondary-scheduler-controller"}, "status": {"conditions": conditions}}
    found = plugin_requirements.requirements_of(effective, facts(effective, controller=deployment))
    assert [entry["what"] for entry in found["missing"]] == told
    assert found["controller"], "it stays, and may yet come to work"
    if told:
        assert "secondary-scheduler-controller" in found["missing"][0]["message"]
        assert found["controller"]["image"] in found["missing"][0]["message"]
    # A plugin that is no longer enabled asks for nothing.
    assert plugin_requirements.requirements_of(enabled("QOSSort"), facts(enabled("QOSSort"), controller=deployment))["missing"] == []


@pytest.mark.parametrize("status", [{"observedGeneration": 2}, {"observedGeneration": 3, "replicas": 1, "updatedReplicas": 0}])
def test_a_failure_of_the_earlier_controller_image_is_not_reported_for_the_new_one(status):
    """Right after a change of the annotation the condition is still that of the rollout before."""
    effective = enabled("Coscheduling")
    conditions = [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]
    deployment = {"metadata": {"name": "c", "generation": 3}, "status": {"conditions": conditions, **status}}
    found = plugin_requirements.requirements_of(effective, facts(effective, controller=deployment))
    assert found["missing"] == []


def test_releases_of_other_apis_are_left_to_their_users():
    effective = enabled("Coscheduling")
    for old in (
        facts(effective, image="k8s.gcr.io/scheduler-plugins/kube-scheduler:v0.22.6"),
        facts(effective, image="example.com/mine:1", kubernetes_version="v1.25.3"),
    ):
        found = plugin_requirements.requirements_of(effective, old)
        assert found["cluster_roles"] == []
        assert found["controller"] is None
        assert reasons(found) == [("scheduler-plugins v0.26", "ReleaseUnsupported")]
    unreadable = facts(effective, kubernetes_version="newest")
    assert plugin_requirements.requirements_of(effective, unreadable)["missing"] == []


def test_a_plugin_without_kinds_works_in_old_releases_too():
    effective = enabled("TargetLoadPacking")
    found = plugin_requirements.requirements_of(effective, facts(effective, kubernetes_version="v1.25.3"))
    assert found == {"cluster_roles": [plugin_requirements.role("TargetLoadPacking")], "controller": None, "missing": []}
    both = enabled("TargetLoadPacking", "Coscheduling")
    found = plugin_requirements.requirements_of(both, facts(both, kubernetes_version="v1.25.3"))
    assert [(entry["plugin"], entry["reason"]) for entry in found["missing"]] == [("Coscheduling", "ReleaseUnsupported")]


def test_an_old_image_without_such_plugins_needs_nothing():
    effective = enabled("NodeResourcesAllocatable")
    assert (
        plugin_requirements.requirements_of(effective, facts(effective, image="k8s.gcr.io/scheduler-plugins/kube-scheduler:v0.22.6"))[
            "missing"
        ]
        == []
    )


def test_the_table_is_about_plugins_that_exist():
    assert set(NEEDS) < {plugin.name for plugin in PLUGINS}


def test_plugins_need_only_read_access_without_wildcards():
    rules = [rule for need in NEEDS.values() for rule in need.rules]
    assert rules
    assert all(set(rule.verbs.split()) <= {"get", "list", "watch"} for rule in rules), "schedulers only read"
    everything = rules + list(CONTROLLER.rules + CONTROLLER.lease_rules)
    assert not any("*" in text for rule in everything for text in rule)
    for need in NEEDS.values():
        readable = {(rule.group, plural) for rule in need.rules for plural in rule.resources.split()}
        for kind in need.kinds:
            assert (kind.api_version.partition("/")[0], kind.plural) in readable
