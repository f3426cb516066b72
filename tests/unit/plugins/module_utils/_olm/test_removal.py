# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a removal deletes, keeps and warns of, with an OLM that does its work at once (tests/olm has the real one)."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._olm.objects import FIELD_MANAGER, MARK
from ansible_collections.osso.scheduler.plugins.module_utils._olm.removal import Removal
from support import olm_objects
from support.objects import thing as custom_resource
from support.objects import things
from support.olm_objects import catalog, csv, deployment, group, namespace, olm_cluster, plan, subscription, thing
from support.stored_cluster import resource

FORBIDDEN = ApiError(403, "Forbidden", "you may not")
GROUP = "example.com"
CRD = f"things.{GROUP}"
OWNED = {"owned": [{"name": CRD, "kind": "Thing", "version": "v1"}]}
LABEL = "operators.coreos.com/demo.n"


class Run(olm_objects.Run):
    def __init__(self, cluster, check=False, **options):
        super().__init__(Removal, cluster, check, **{"state": "absent", "wait_timeout": 0, **options})


def ours(obj):
    """An object with the marks of this collection."""
    fields = {"f:metadata": {"f:labels": {f"f:{MARK}": {}}}}
    managed = [{"manager": FIELD_MANAGER, "operation": "Apply", "apiVersion": obj["apiVersion"], "fieldsV1": fields}]
    return {**obj, "metadata": {**obj["metadata"], "labels": {MARK: "true"}, "managedFields": managed}}


def definition(*managers):
    """The operator's CustomResourceDefinition, created by OLM unless others are named."""
    made = things(GROUP)
    made["metadata"]["managedFields"] = [
        {"manager": name, "operation": "Update", "fieldsV1": {"f:spec": {"f:group": {}}}} for name in managers or ("catalog",)
    ]
    return made


def olm(cluster, method, obj):
    """What OLM does after a write: without its CSV an operator has no Deployment and no components."""
    if method == "DELETE" and obj["kind"] == "ClusterServiceVersion":
        cluster.remove("Deployment", "demo", "n")
        if cluster.found("Operator", "demo.n"):
            cluster.store(record())


def record(*components):
    made = thing("Operator", "demo.n", None, spec={}, status={"components": {"refs": list(components)}})
    del made["metadata"]["namespace"]
    return made


def installed(*objects, controller=olm, kinds=(), **definitions):
    """A cluster in which this collection installed the operator, in a namespace of its own."""
    told = {"installedCSV": "demo.v1.0.0", "currentCSV": "demo.v1.0.0"}
    there = [
        ours(namespace()),
        ours(group()),
        ours(catalog()),
        subscription(status=told),
        csv(**{"customresourcedefinitions": OWNED, **definitions}),
        deployment(),
        plan("1.0.0", approved=True, phase="Complete"),
        definition(),
        record({"kind": "Deployment"}),
    ]
    return olm_cluster(*there, *objects, kinds=(resource(f"{GROUP}/v1", "Thing"), *kinds), controller=controller)


def test_all_of_an_operator_is_deleted_in_the_order_in_which_others_need_it():
    cluster = installed()
    run = Run(cluster, delete_crds=True)
    assert (run.error, run.warnings) == ("", [])
    assert cluster.writes == [
        ("DELETE", "Subscription", "demo"),
        ("DELETE", "ClusterServiceVersion", "demo.v1.0.0"),
        ("DELETE", "InstallPlan", "install-1.0.0"),
        ("DELETE", "CustomResourceDefinition", CRD),
        ("DELETE", "OperatorGroup", "group"),
        ("DELETE", "CatalogSource", "cat"),
        ("DELETE", "Namespace", "n"),
        ("DELETE", "Operator", "demo.n"),
    ]
    assert run.deleted == [
        "Subscription demo",
        "ClusterServiceVersion demo.v1.0.0",
        f"CustomResourceDefinition {CRD}",
        "OperatorGroup group",
        "CatalogSource cat",
        "Namespace n",
        "Operator demo.n",
    ]
    assert run.message == "demo is not installed in namespace n."
    assert run.result["subscription"] == {
        "name": "demo",
        "namespace": "n",
        "package": "demo",
        **dict.fromkeys(["channel", "source", "source_namespace", "approval", "starting_csv", "state", "current_csv", "installed_csv"]),
        "conditions": [],
    }
    assert run.result["install_plan"] == {"name": None, "approved": None, "csvs": [], "phase": None}
    assert run.result["catalog"] == {"name": "cat", "namespace": "n", "state": None, "packages": [], "channels": []}


def test_check_mode_of_a_removal_predicts_the_same_and_deletes_nothing():
    cluster = installed(config_map())
    cluster.store(plan("1.0.0", approved=True, phase="Complete", plan=[step("left", "ConfigMap", group="", version="v1")]))
    run = Run(cluster, check=True, delete_crds=True)
    assert (cluster.writes, run.error, run.warnings) == ([], "", [])
    assert run.message == "demo would be removed from namespace n."
    assert run.deleted == Run(installed(), delete_crds=True).deleted
    empty = Run(olm_cluster(), check=True)
    assert (empty.deleted, empty.message) == ([], "demo is not installed in namespace n.")


def test_nothing_to_remove_is_no_change():
    run = Run(olm_cluster())
    assert (run.error, run.warnings) == ("", [])
    assert run.actions == {"Subscription demo": "absent"}
    assert run.message == "demo is not installed in namespace n."


def test_crds_and_the_operator_record_stay_unless_they_are_to_be_deleted():
    cluster = installed()
    run = Run(cluster)
    assert run.warnings == []
    assert cluster.found("CustomResourceDefinition", CRD)
    assert cluster.found("Operator", "demo.n")
    assert "Namespace n" in run.deleted


def test_the_record_of_an_operator_without_crds_is_deleted():
    cluster = installed(customresourcedefinitions={})
    cluster.remove("CustomResourceDefinition", CRD)
    assert "Operator demo.n" in Run(cluster).deleted


def test_a_crd_that_belongs_to_the_operator_only_by_its_label_is_deleted():
    cluster = installed(customresourcedefinitions=None)
    labelled = definition()
    labelled["metadata"]["labels"] = {LABEL: ""}
    cluster.store(labelled)
    assert f"CustomResourceDefinition {CRD}" in Run(cluster, delete_crds=True).deleted


@pytest.mark.parametrize(
    ("managers", "told"),
    [(["kubectl"], "kubectl"), (["catalog", "helm"], "catalog, helm"), (["osso.scheduler.olm"], None), (["catalog"], None), ([], None)],
)
def test_a_crd_of_others_is_not_deleted(managers, told):
    cluster = installed()
    cluster.store(definition(*managers))
    run = Run(cluster, delete_crds=True)
    expected = (
        f"CustomResourceDefinition {CRD} is not deleted: it existed before OLM installed the operator (field manager {told}). If nothing else needs "
        "it, delete it yourself."
    )
    assert run.warnings == ([expected] if told else [])
    assert (f"CustomResourceDefinition {CRD}" in run.deleted) is (told is None)
    assert ("Operator demo.n" in run.deleted) is (told is None)


def test_a_crd_without_a_known_creator_is_not_deleted():
    cluster = installed()
    unknown = definition()
    del unknown["metadata"]["managedFields"]
    cluster.store(unknown)
    run = Run(cluster, delete_crds=True)
    assert "(field manager unknown)" in run.warnings[0]


def test_a_crd_that_another_operator_owns_is_not_deleted():
    other = csv("2.0.0", name="other", customresourcedefinitions=OWNED)
    other["metadata"]["namespace"] = "elsewhere"
    run = Run(installed(other), delete_crds=True)
    assert run.warnings == [f"CustomResourceDefinition {CRD} is not deleted: an operator in another namespace owns it too."]
    assert f"CustomResourceDefinition {CRD}" not in run.deleted


def test_copies_of_the_csv_in_other_namespaces_own_nothing():
    copied = csv("1.0.0", customresourcedefinitions=OWNED)
    copied["metadata"].update(namespace="elsewhere", labels={"olm.copiedFrom": "n"})
    run = Run(installed(copied), delete_crds=True)
    assert run.warnings == []
    assert f"CustomResourceDefinition {CRD}" in run.deleted


def test_a_crd_in_use_is_deleted_with_its_objects_only_by_force():
    cluster = installed(custom_resource(GROUP, "elsewhere"))
    run = Run(cluster, delete_crds=True)
    assert run.warnings == [
        f"CustomResourceDefinition {CRD} is not deleted: objects of its kind exist and would be deleted too. Set force: true to do so."
    ]
    assert cluster.found("CustomResourceDefinition", CRD)
    forced = installed(custom_resource(GROUP, "elsewhere"))
    run = Run(forced, delete_crds=True, force=True)
    assert run.warnings == []
    # As long as the operator is there, it can clean up after its resources.
    assert forced.writes[:2] == [("DELETE", "Thing", "one"), ("DELETE", "Subscription", "demo")]
    assert f"CustomResourceDefinition {CRD}" in run.deleted


def test_force_without_delete_crds_deletes_no_object_of_the_operator():
    cluster = installed(custom_resource(GROUP, "elsewhere"))
    Run(cluster, force=True)
    assert cluster.found("Thing", "one", "elsewhere")


def config_map(name="left", **labels):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "n", "labels": labels}}


def test_a_namespace_with_other_contents_is_not_deleted():
    run = Run(installed(config_map()))
    assert run.warnings == ["Namespace n is not deleted: it still contains ConfigMap left."]
    assert "Namespace n" not in run.deleted
    assert "OperatorGroup group" in run.deleted


def test_objects_that_others_created_are_not_deleted():
    cluster = installed()
    for one in (namespace(), group(), catalog()):
        cluster.store(one)
    assert Run(cluster).deleted == ["Subscription demo", "ClusterServiceVersion demo.v1.0.0"]


def test_an_empty_namespace_that_others_created_is_not_deleted():
    cluster = installed()
    cluster.store(namespace())
    run = Run(cluster)
    assert (run.error, run.warnings, cluster.found("Namespace", "n") is None) == ("", [], False)
    assert run.deleted[-2:] == ["OperatorGroup group", "CatalogSource cat"]


def test_an_operator_group_stays_for_other_subscriptions_and_csvs():
    run = Run(installed(subscription("second", package="second", source="other")))
    assert "OperatorGroup group" not in run.deleted
    assert "CatalogSource cat" in run.deleted
    run = Run(installed(csv("3.0.0", name="second")))
    assert "OperatorGroup group" not in run.deleted


def test_a_catalog_stays_for_subscriptions_of_any_namespace():
    run = Run(installed(subscription("demo", "m", package="second"), subscription("third", "m", package="third")))
    assert "CatalogSource n/cat is not deleted: other Subscriptions use it (m/demo, m/third)." in run.warnings
    assert "CatalogSource cat" not in run.deleted
    assert "OperatorGroup group" in run.deleted


def test_a_catalog_is_also_found_without_the_subscription_that_names_it():
    cluster = olm_cluster(ours(catalog()), ours(catalog("elsewhere", "m")), catalog("theirs"))
    assert Run(cluster).deleted == ["CatalogSource cat"]
    assert Run(olm_cluster(ours(catalog())), source="else").deleted == []


def role(name="demo", **labels):
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name, "labels": labels}}


def role_of_group(name, group="group", namespace="n"):
    return role(name, **{"olm.owner.kind": "OperatorGroup", "olm.owner": group, "olm.owner.namespace": namespace})


def test_cluster_roles_that_olm_leaves_of_a_deleted_operator_group_are_deleted():
    """OLM deletes the first one itself."""

    def forgetful(cluster, method, obj):
        olm(cluster, method, obj)
        if method == "DELETE" and obj["kind"] == "Operator":
            cluster.remove("ClusterRole", "olm.og.group.view-1")

    others = [
        role_of_group("olm.og.other.edit-1", "other"),
        role_of_group("olm.og.group.edit-2", namespace="m"),
        role_of_group("mine"),
        role("any"),
    ]
    cluster = installed(
        role_of_group("olm.og.group.view-1"), role_of_group("olm.og.group.edit-1"), *others, group("other"), controller=forgetful
    )
    cluster.remove("CustomResourceDefinition", CRD)
    assert not any("ClusterRole" in name for name in Run(cluster, check=True).deleted)
    run = Run(cluster)
    assert (run.error, [name for name in run.deleted if "ClusterRole" in name]) == ("", ["ClusterRole olm.og.group.edit-1"])
    assert all(cluster.found("ClusterRole", one["metadata"]["name"]) for one in others)
    assert "OperatorGroup group" in run.deleted


def test_cluster_roles_that_must_not_be_listed_are_left_to_olm():
    cluster = installed(role_of_group("olm.og.group.edit-1"))
    cluster.rejected["GET", "clusterroles", None] = FORBIDDEN
    run = Run(cluster)
    assert (run.error, run.warnings) == ("", [])
    cluster = installed(role_of_group("olm.og.group.edit-1"))
    cluster.rejected["GET", "clusterroles", None] = ApiError(500, "Broken", "the server is broken")
    assert "the server is broken" in Run(cluster).error


def step(name, kind="ClusterRole", status="Created", resolving="demo.v1.0.0", group="rbac.authorization.k8s.io", version="v1"):
    return {"resolving": resolving, "status": status, "resource": {"group": group, "version": version, "kind": kind, "name": name}}


def test_objects_that_install_plans_created_are_deleted_unless_others_own_them():
    steps = [
        step("created"),
        step("present", status="Present"),
        step("labelled", status="Present"),
        step("unknown", status="Unknown"),
        step("foreign", resolving="other.v1.0.0"),
        step("left", "ConfigMap", group="", version="v1"),
        step("gone"),
        step("x", "Widget", group="nowhere.example.com"),
        step(CRD, "CustomResourceDefinition", group="apiextensions.k8s.io"),
    ]
    names = ("created", "present", "unknown", "foreign")
    owner = {"olm.owner.namespace": "n"}
    cluster = installed(*map(role, names), role("labelled", **owner), config_map())
    cluster.store(plan("1.0.0", approved=True, phase="Complete", plan=steps))
    run = Run(cluster)
    assert (run.error, run.warnings) == ("", [])
    assert set(run.deleted) >= {"ClusterRole created", "ClusterRole labelled", "ConfigMap left", "Namespace n"}
    assert not {f"ClusterRole {name}" for name in ("present", "unknown", "foreign", "gone")} & set(run.deleted)
    assert cluster.found("CustomResourceDefinition", CRD)


def test_a_member_of_a_set_is_not_deleted_with_a_plan_that_created_its_namesake():
    member = role("created", **{"applyset.kubernetes.io/part-of": "x", "osso.scheduler/set": "other"})
    cluster = installed(member)
    cluster.store(plan("1.0.0", approved=True, phase="Complete", plan=[step("created")]))
    assert "ClusterRole created" not in Run(cluster).deleted


def test_a_plan_that_also_installs_others_stays():
    shared = plan("1.0.0", approved=True, phase="Complete")
    shared["spec"]["clusterServiceVersionNames"].append("other.v1.0.0")
    cluster = installed(shared)
    Run(cluster)
    assert cluster.found("InstallPlan", "install-1.0.0", "n")


def test_a_plan_that_must_not_be_deleted_is_a_warning():
    cluster = installed()
    cluster.rejected["DELETE", "installplans"] = FORBIDDEN
    run = Run(cluster)
    assert run.error == ""
    assert run.warnings[0].endswith(
        "OLM may take it for the InstallPlan of the next installation in this namespace, and then install nothing."
    )
    assert "InstallPlan n/install-1.0.0: could not delete it" in run.warnings[0]


@pytest.mark.parametrize("plural", ["subscriptions", "clusterserviceversions"])
def test_a_deletion_that_is_forbidden_ends_the_run(plural):
    cluster = installed()
    cluster.rejected["DELETE", plural] = FORBIDDEN
    run = Run(cluster)
    assert "could not delete it: you may not" in run.error
    assert cluster.found("Namespace", "n")


def test_deployments_of_the_operator_are_waited_for():
    run = Run(installed(controller=None))
    assert run.error.startswith("Not deleted after 0 s (wait_timeout). Deployment n/demo: held by ")


def test_a_record_that_still_names_components_is_deleted_all_the_same_at_the_end():
    cluster = installed(customresourcedefinitions={})
    cluster.remove("CustomResourceDefinition", CRD)
    cluster.remove("Deployment", "demo", "n")
    cluster.controller = None
    assert "Operator demo.n" in Run(cluster).deleted


def test_an_olm_without_records_is_no_error():
    cluster = installed()
    for key in [key for key in cluster._resources if key[1] == "Operator"]:
        del cluster._resources[key], cluster._kinds[key]
    cluster.objects = {key: one for key, one in cluster.objects.items() if key[0].kind != "Operator"}
    run = Run(cluster, delete_crds=True)
    assert (run.error, run.warnings) == ("", [])


def test_a_subscription_of_another_package_is_not_removed():
    cluster = installed()
    run = Run(cluster, package="else")
    assert "Subscription demo in namespace n is for package demo, not else" in run.error
    assert cluster.writes == []


def test_csvs_of_other_namespaces_need_not_be_readable():
    cluster = installed()
    cluster.rejected["GET", "clusterserviceversions", None] = FORBIDDEN
    run = Run(cluster, delete_crds=True)
    assert (run.error, run.warnings) == ("", [])
    assert f"CustomResourceDefinition {CRD}" in run.deleted


@pytest.mark.parametrize("rejected", [("GET", "clusterserviceversions", None), ("DELETE", "installplans")])
def test_a_server_that_is_broken_ends_the_removal(rejected):
    cluster = installed()
    cluster.rejected[rejected] = ApiError(500, "Broken", "the server is broken")
    assert "the server is broken" in Run(cluster, delete_crds=True).error
    assert cluster.found("Namespace", "n")


PROPERTIES = {"properties": [{"type": "olm.package", "value": {"packageName": "demo", "version": "1.0.0"}}]}


def test_leftovers_of_an_interrupted_removal_are_deleted():
    cluster = installed()
    cluster.remove("Subscription", "demo", "n")
    live = cluster.found("ClusterServiceVersion", "demo.v1.0.0", "n")
    live["metadata"]["annotations"] = {"operatorframework.io/properties": json.dumps(PROPERTIES)}
    cluster.store(live)
    run = Run(cluster)
    assert run.actions["Subscription demo"] == "absent"
    assert run.deleted == ["ClusterServiceVersion demo.v1.0.0", "OperatorGroup group", "CatalogSource cat", "Namespace n"]


def test_a_csv_of_the_package_is_also_known_by_its_label():
    cluster = installed()
    cluster.remove("Subscription", "demo", "n")
    live = cluster.found("ClusterServiceVersion", "demo.v1.0.0", "n")
    assert "ClusterServiceVersion demo.v1.0.0" not in Run(cluster, check=True).deleted
    live["metadata"]["labels"] = {LABEL: ""}
    cluster.store(live)
    assert "ClusterServiceVersion demo.v1.0.0" in Run(cluster, check=True).deleted


def test_an_object_that_another_installation_uses_now_stays():
    """This plan created it, and the plan of an installation in another namespace has updated it since."""
    cluster = installed(role("created", **{"olm.owner.namespace": "other"}))
    cluster.store(plan("1.0.0", approved=True, phase="Complete", plan=[step("created")]))
    run = Run(cluster)
    assert "ClusterRole created" not in run.deleted
    assert run.warnings == ["ClusterRole created is not deleted: OLM uses it for an operator in the namespace other."]


def test_a_csv_that_a_plan_creates_meanwhile_is_deleted():
    """The InstallPlan of an upgrade was being executed when the Subscription was deleted."""
    lookup = {"identifier": "demo.v1.1.0", "properties": json.dumps(PROPERTIES)}

    def executing(cluster, method, obj):
        olm(cluster, method, obj)
        if (method, obj["kind"], obj["metadata"]["name"]) == ("DELETE", "ClusterServiceVersion", "demo.v1.0.0"):
            cluster.store(csv("1.1.0"))
            cluster.store(config_map())
            created = [step("left", "ConfigMap", group="", version="v1", resolving="demo.v1.1.0")]
            cluster.store(plan("1.1.0", approved=True, phase="Installing", bundleLookups=[lookup], plan=created))

    cluster = installed(plan("1.1.0", approved=True, phase="Installing", bundleLookups=[lookup]), controller=executing)
    run = Run(cluster)
    assert (run.error, cluster.found("ClusterServiceVersion", "demo.v1.1.0", "n")) == ("", None)
    deleted = [name for method, kind, name in cluster.writes if kind in ("InstallPlan", "ClusterServiceVersion")]
    assert (deleted[0], sorted(deleted[1:3]), deleted[3:]) == ("demo.v1.0.0", ["install-1.0.0", "install-1.1.0"], ["demo.v1.1.0"])
    assert "ConfigMap left" in run.deleted, "the plan has created it meanwhile, too"


def test_a_removal_needs_no_permission_to_list_crds_or_to_read_the_record():
    cluster = installed()
    cluster.rejected["GET", "customresourcedefinitions", None] = FORBIDDEN
    assert Run(cluster).error == ""
    cluster = installed()
    cluster.rejected["GET", "operators", None] = FORBIDDEN
    run = Run(cluster, delete_crds=True)
    assert run.error == ""
    assert run.warnings == ["OLM's record of the operator, an object of the kind Operator, is not deleted: you may not"]
    cluster = installed(role("created"))
    cluster.store(plan("1.0.0", approved=True, phase="Complete", plan=[step("created")]))
    cluster.rejected["DELETE", "operators"] = cluster.rejected["GET", "clusterroles"] = FORBIDDEN
    run = Run(cluster, delete_crds=True)
    assert (run.error, "Namespace n" in run.deleted) == ("", True)
    assert [text.partition(" is not deleted: ")[0] for text in run.warnings] == [
        "ClusterRole created, which an InstallPlan of the operator names,",
        "OLM's record of the operator, an object of the kind Operator,",
    ]


def test_a_removal_that_was_interrupted_still_deletes_what_its_plans_created():
    lookup = {"identifier": "demo.v1.0.0", "properties": json.dumps(PROPERTIES)}
    created = [step("left", "ConfigMap", group="", version="v1")]
    cluster = installed(config_map(), controller=None)
    cluster.store(plan("1.0.0", approved=True, phase="Complete", bundleLookups=[lookup], plan=created))
    assert "Not deleted after 0 s" in Run(cluster).error
    cluster.remove("Deployment", "demo", "n")
    assert "ConfigMap left" in Run(cluster).deleted
