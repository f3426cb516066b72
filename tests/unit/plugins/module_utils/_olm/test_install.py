# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an installation writes, waits for and returns, with an OLM that does its work at once (tests/olm has the real one)."""

from __future__ import annotations

import json
import threading

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps, wait
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._olm import install
from ansible_collections.osso.scheduler.plugins.module_utils._olm.install import Install
from support import olm_objects
from support.objects import thing, things
from support.olm_objects import (
    catalog,
    csv,
    deployment,
    group,
    namespace,
    olm_cluster,
    package,
    plan,
    subscription,
)
from support.stored_cluster import StoredCluster, resource

FORBIDDEN = ApiError(403, "Forbidden", "you may not")
BROKEN = ApiError(500, "Broken", "the server is broken")
LABELS = {"app.kubernetes.io/managed-by": "osso.scheduler", "osso.scheduler/olm": "true"}


class Run(olm_objects.Run):
    def __init__(self, cluster, check=False, **options):
        super().__init__(Install, cluster, check, **{"source": "cat", "wait_timeout": 5, **options})


def olm(cluster, method, obj, ready=True):
    """What OLM does after a write: a catalog is connected, a Subscription gets an InstallPlan, and an approved plan is executed."""
    if method == "DELETE":
        return
    if obj["kind"] == "CatalogSource" and ready:
        cluster.store({**obj, "status": catalog()["status"]})
        cluster.store(package())
    if obj["kind"] == "Subscription" and not obj.get("status"):
        version = obj["spec"].get("startingCSV", "demo.v1.1.0").partition(".v")[2]
        automatic = obj["spec"]["installPlanApproval"] == "Automatic"
        name = f"demo.v{version}"
        status = {"state": "UpgradePending", "currentCSV": name, "installPlanRef": {"name": f"install-{version}"}}
        cluster.store({**obj, "status": status})
        cluster.store(plan(version, approved=automatic, phase="Complete" if automatic else "RequiresApproval"))
        if automatic:
            execute(cluster, version)
    if obj["kind"] == "InstallPlan" and obj["spec"]["approved"] and obj["status"]["phase"] == "RequiresApproval":
        version = obj["metadata"]["name"].partition("-")[2]
        cluster.store({**obj, "status": {"phase": "Complete"}})
        execute(cluster, version)


def execute(cluster, version):
    name = f"demo.v{version}"
    live = cluster.found("Subscription", "demo", "n")
    cluster.store({**live, "status": {**live["status"], "state": "AtLatestKnown", "installedCSV": name, "currentCSV": name}})
    cluster.store(csv(version))
    cluster.store(deployment())


def prepared_cluster(*objects, controller=olm):
    """A cluster with a namespace, an OperatorGroup and a catalog of others."""
    return olm_cluster(namespace(), group(), catalog(), package(), *objects, controller=controller)


def installed_cluster(*objects, version="1.0.0", approval="Automatic", **status):
    """A cluster in which a version is installed by this collection."""
    name = f"demo.v{version}"
    told = {"installedCSV": name, "currentCSV": name, "state": "AtLatestKnown", "installPlanRef": {"name": f"install-{version}"}, **status}
    there = subscription(approval=approval, status=told)
    done = plan(version, approved=True, phase="Complete")
    return prepared_cluster(there, csv(version), deployment(), done, *objects)


def test_an_installation_creates_its_own_catalog_and_namespace():
    cluster = olm_cluster(controller=olm)
    run = Run(cluster, catalog={"image": "a/b:c"}, namespace_labels={"team": "x"}, labels={"l": "m"}, watch_namespaces=[])
    assert run.error == ""
    assert cluster.writes == [
        ("PATCH", "Namespace", "n"),
        ("PATCH", "OperatorGroup", "demo"),
        ("PATCH", "CatalogSource", "cat"),
        ("PATCH", "Subscription", "demo"),
    ]
    assert cluster.found("Namespace", "n")["metadata"]["labels"] == {"l": "m", "team": "x", **LABELS}
    assert cluster.found("OperatorGroup", "demo", "n")["spec"] == {}
    assert cluster.found("CatalogSource", "cat", "n")["spec"] == {"sourceType": "grpc", "image": "a/b:c"}
    made = cluster.found("Subscription", "demo", "n")
    assert made["metadata"]["labels"] == {"l": "m", **LABELS}
    assert made["spec"] == {
        "name": "demo",
        "source": "cat",
        "sourceNamespace": "n",
        "channel": "stable",
        "installPlanApproval": "Automatic",
    }
    assert run.actions == {
        "Namespace n": "created",
        "OperatorGroup demo": "created",
        "CatalogSource cat": "created",
        "Subscription demo": "created",
    }
    assert run.warnings == []
    assert run.result == {
        "csv": {"name": "demo.v1.1.0", "version": "1.1.0", "phase": "Succeeded", "reason": "InstallSucceeded", "message": "well"},
        "subscription": {
            "name": "demo",
            "namespace": "n",
            "package": "demo",
            "channel": "stable",
            "source": "cat",
            "source_namespace": "n",
            "approval": "Automatic",
            "starting_csv": None,
            "state": "AtLatestKnown",
            "current_csv": "demo.v1.1.0",
            "installed_csv": "demo.v1.1.0",
            "conditions": [],
        },
        "install_plan": {"name": "install-1.1.0", "approved": True, "csvs": ["demo.v1.1.0"], "phase": "Complete"},
        "catalog": {"name": "cat", "namespace": "n", "state": "READY", "packages": ["demo"], "channels": ["old", "stable"]},
        "upgrade": None,
        "msg": "demo.v1.1.0 is installed in namespace n.",
    }


def test_a_second_run_writes_nothing():
    cluster = prepared_cluster()
    first = Run(cluster)
    cluster.writes.clear()
    again = Run(cluster)
    assert (cluster.writes, again.warnings, again.error) == ([], [], "")
    assert again.actions == {"Namespace n": "unchanged", "OperatorGroup group": "unchanged", "Subscription demo": "unchanged"}
    assert again.result == first.result


def test_check_mode_writes_nothing_and_names_what_it_cannot_verify():
    cluster = olm_cluster(controller=olm)
    run = Run(cluster, check=True, catalog={"image": "a/b:c"}, upgrade="version", version="1.0.0")
    assert (cluster.writes, run.error) == ([], "")
    assert run.actions == {
        "Namespace n": "created",
        "OperatorGroup demo": "created",
        "CatalogSource cat": "created",
        "Subscription demo": "created",
    }
    assert run.warnings == [
        (
            "Check mode: CatalogSource n/cat does not exist yet, so its image, and the package, channel, version and bundle in it, are not verified. A "
            "run verifies them before it writes the Subscription."
        )
    ]
    assert run.message == "demo is not installed yet."


@pytest.mark.parametrize(
    ("live", "options", "why"),
    [
        (catalog(image="other:1"), {"catalog": {"image": "a/b:c"}}, "would be changed"),
        (catalog(state="CONNECTING"), {}, "is not ready (its connection is CONNECTING)"),
        (catalog(), {}, "lists no packages now"),
    ],
)
def test_check_mode_names_why_a_catalog_is_not_verified(live, options, why):
    run = Run(olm_cluster(namespace(), group(), live), check=True, **options)
    assert (run.error, len(run.warnings)) == ("", 1)
    assert f"CatalogSource n/cat {why}, so its image" in run.warnings[0]


def test_check_mode_verifies_the_package_and_channel_of_a_ready_catalog():
    run = Run(prepared_cluster(), check=True)
    assert (run.error, run.warnings) == ("", [])
    assert run.result["catalog"] == {
        "name": "cat",
        "namespace": "n",
        "state": "READY",
        "packages": ["demo"],
        "channels": ["old", "stable"],
    }
    assert run.actions["Subscription demo"] == "created"
    assert "channel is beta, which package demo" in Run(prepared_cluster(), check=True, channel="beta").error


@pytest.mark.parametrize(
    ("options", "spec", "message"),
    [
        ({"channel": "old"}, {"channel": "old", "installPlanApproval": "Automatic"}, "demo.v1.1.0 is installed in namespace n."),
        (
            {"upgrade": "none", "starting_csv": "1.0.0"},
            {"channel": "stable", "installPlanApproval": "Manual", "startingCSV": "demo.v1.0.0"},
            "demo.v1.0.0 is installed in namespace n.",
        ),
        (
            {"upgrade": "version", "version": "1.0.0"},
            {"channel": "stable", "installPlanApproval": "Manual", "startingCSV": "demo.v1.0.0"},
            "demo.v1.0.0 is installed in namespace n.",
        ),
        (
            {"approval": "Manual", "approve": "1.1.0"},
            {"channel": "stable", "installPlanApproval": "Manual"},
            "demo.v1.1.0 is installed in namespace n.",
        ),
        ({"upgrade": "none"}, {"channel": "stable", "installPlanApproval": "Manual"}, "demo.v1.1.0 is installed in namespace n."),
    ],
)
def test_the_subscription_follows_from_the_option_upgrade(options, spec, message):
    cluster = prepared_cluster()
    if options.get("channel") == "old":
        cluster.store(package(heads={"old": "demo.v1.1.0"}))
    run = Run(cluster, **options)
    assert (run.error, run.message) == ("", message)
    made = cluster.found("Subscription", "demo", "n")
    assert made["spec"] == {"name": "demo", "source": "cat", "sourceNamespace": "n", **spec}


def test_a_plan_that_this_run_approved_is_reported():
    cluster = prepared_cluster()
    run = Run(cluster, upgrade="none", starting_csv="demo.v1.0.0")
    assert cluster.writes == [("PATCH", "Subscription", "demo"), ("PATCH", "InstallPlan", "install-1.0.0")]
    assert run.actions["InstallPlan install-1.0.0"] == "updated"
    assert run.result["install_plan"] == {"name": "install-1.0.0", "approved": True, "csvs": ["demo.v1.0.0"], "phase": "Complete"}
    assert run.result["upgrade"] == "1.1.0"


class SlowPlans(StoredCluster):
    """A server whose watches do not deliver InstallPlans: only who asks for them gets them."""

    def list(self, resource, *arguments, **options):
        found = super().list(resource, *arguments, **options)
        slow = resource.kind == "InstallPlan" and threading.current_thread() is not threading.main_thread()
        return [] if slow else found


def test_a_plan_that_is_executed_before_its_news_arrives_is_reported_as_it_is():
    cluster = SlowPlans(namespace(), group(), catalog(), package(), kinds=olm_objects.KINDS, controller=olm)
    run = Run(cluster, upgrade="none", starting_csv="demo.v1.0.0")
    assert run.result["install_plan"] == {"name": "install-1.0.0", "approved": True, "csvs": ["demo.v1.0.0"], "phase": "Complete"}


def test_a_plan_of_another_version_waits_for_a_person():
    cluster = prepared_cluster()
    run = Run(cluster, approval="Manual")
    assert cluster.writes == [("PATCH", "Subscription", "demo")]
    assert run.error == ""
    assert run.message == (
        "demo is not installed yet. InstallPlan install-1.1.0 waits for approval; it installs demo.v1.1.0: approve it with approve: 1.1.0."
    )
    assert run.warnings == [run.message]
    assert run.result["csv"] == {"name": "demo.v1.1.0", "version": "1.1.0", "phase": None, "reason": None, "message": None}
    assert run.result["install_plan"] == {
        "name": "install-1.1.0",
        "approved": False,
        "csvs": ["demo.v1.1.0"],
        "phase": "RequiresApproval",
    }


def test_a_waiting_upgrade_is_reported_with_the_installed_version():
    waiting = {"currentCSV": "demo.v1.1.0", "state": "UpgradePending", "installPlanRef": {"name": "install-1.1.0"}}
    cluster = installed_cluster(plan("1.1.0"), approval="Manual", **waiting)
    for check in (True, False):
        run = Run(cluster, check=check, approval="Manual")
        assert run.message == (
            "demo.v1.0.0 is installed in namespace n. InstallPlan install-1.1.0 waits for approval; it installs demo.v1.1.0: approve it with "
            "approve: 1.1.0."
        )
        assert run.warnings == [run.message]
        assert run.result["upgrade"] == "1.1.0"
    # The user approved the installed version, so the newer one is no news.
    quiet = Run(cluster, approval="Manual", approve="1.0.0")
    assert (quiet.error, quiet.warnings) == ("", [])
    assert "InstallPlan install-1.1.0 waits for approval" in quiet.message
    done = Run(cluster, approval="Manual", approve="1.1.0")
    assert (done.error, done.warnings, done.message) == ("", [], "demo.v1.1.0 is installed in namespace n.")
    assert ("PATCH", "InstallPlan", "install-1.1.0") in cluster.writes


@pytest.mark.parametrize("status", [404, 409, 422])
def test_a_plan_that_changed_before_its_approval_is_read_again(status):
    cluster = prepared_cluster()
    cluster.rejected["PATCH", "installplans"] = ApiError(status, "Changed", "it changed")
    run = Run(cluster, upgrade="none", wait_timeout=0)
    assert "InstallPlan install-1.1.0 waits for approval; it installs demo.v1.1.0" in run.error
    assert "InstallPlan install-1.1.0" not in run.actions


def test_an_approval_that_is_forbidden_ends_the_run():
    cluster = prepared_cluster()
    cluster.rejected["PATCH", "installplans"] = FORBIDDEN
    run = Run(cluster, upgrade="none")
    assert run.error.startswith("InstallPlan n/install-1.1.0: could not approve it: you may not")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"upgrade": "version", "version": "0.9.0"},
            "version is 0.9.0, but demo.v1.0.0 is installed, and OLM does not go back. Remove the operator with state: absent first",
        ),
        ({"upgrade": "version", "version": "7.0.0"}, "version is 7.0.0, which channel stable of package demo does not hold. It holds: "),
        ({"approval": "Manual", "approve": "7.0.0"}, "approve is 7.0.0, which channel stable of package demo does not hold."),
        ({"channel": "beta"}, "channel is beta, which package demo in CatalogSource n/cat does not have"),
        ({"name": "other"}, "is subscribed to in namespace n by Subscription demo already, and name is other. Set name: demo to manage"),
        ({"package": "else"}, "name is demo, but Subscription demo in namespace n is for package demo, not else; give another name."),
        ({"watch_namespaces": []}, "watch_namespaces is for all namespaces, but OperatorGroup group in namespace n is for n"),
    ],
)
def test_an_impossible_installation_is_rejected_before_a_write(options, says):
    cluster = installed_cluster()
    run = Run(cluster, **options)
    assert says in run.error
    assert cluster.writes == []


def test_a_version_that_is_past_needs_no_approval():
    cluster = installed_cluster(version="1.1.0", approval="Manual")
    run = Run(cluster, approval="Manual", approve="1.0.0")
    assert (run.error, run.warnings, run.message) == ("", [], "demo.v1.1.0 is installed in namespace n.")


def test_a_source_that_is_missing_or_absent_comes_with_the_list_of_those_that_exist():
    cluster = olm_cluster(namespace(), group(), catalog(name="b"), catalog(name="a", namespace="m"))
    assert Run(cluster, source=None).error == ("source is missing; name the CatalogSource that contains package demo. There are: m/a, n/b.")
    assert "there is no CatalogSource cat in namespace n. There are: m/a, n/b. Name one of them" in Run(cluster).error
    # Red Hat's catalogs are in a namespace of their own.
    assert "no CatalogSource redhat-operators in namespace openshift-marketplace." in Run(cluster, source="redhat-operators").error
    cluster.rejected["GET", "catalogsources", None] = FORBIDDEN
    assert Run(cluster, source=None).error.endswith("There are: n/b.")
    cluster.rejected["GET", "catalogsources"] = FORBIDDEN
    assert Run(cluster, source=None).error.endswith("There are: none.")
    cluster.rejected["GET", "catalogsources"] = BROKEN
    assert Run(cluster, source=None).error == "the server is broken"


def test_a_new_catalog_needs_the_name_of_a_service_account():
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "cat", "namespace": "n"}}
    cluster = olm_cluster(namespace(), group(), account, controller=olm)
    run = Run(cluster, catalog={"image": "a/b:c"})
    assert "source is cat, but namespace n has a ServiceAccount of this name already" in run.error
    assert cluster.writes == []
    cluster.store({**account, "metadata": {**account["metadata"], "labels": {"olm.managed": "true"}}})
    assert Run(cluster, catalog={"image": "a/b:c"}).error == ""
    unseen = olm_cluster(namespace(), group(), account, controller=olm)
    unseen.rejected["GET", "serviceaccounts"] = FORBIDDEN
    assert Run(unseen, catalog={"image": "a/b:c"}).error == ""


def test_labels_of_a_namespace_of_others_are_set_without_a_mark():
    cluster = prepared_cluster()
    run = Run(cluster, namespace_labels={"team": "x"}, labels={"l": "m"})
    assert cluster.found("Namespace", "n")["metadata"]["labels"] == {"team": "x"}
    assert run.actions["Namespace n"] == "updated"


def catalog_pod(image, ready="True", name="cat-1", **state):
    waiting = [{"name": "server", "state": state, "restartCount": 0, "ready": False, "image": image}] if state else []
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "n", "labels": {"olm.catalogSource": "cat"}},
        "spec": {"containers": [{"name": "server", "image": image}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}], "containerStatuses": waiting},
    }


def test_a_changed_image_is_waited_for_until_a_ready_pod_has_it():
    def cluster_with(*pods):
        return prepared_cluster(*pods)

    image = {"catalog": {"image": "new:2"}}
    late = Run(cluster_with(catalog_pod("a/b:c"), catalog_pod("new:2", "False", "cat-2")), wait_timeout=0, **image)
    assert late.error == "Not ready after 0 s (wait_timeout). CatalogSource n/cat: no pod runs image new:2 yet."
    cluster = cluster_with(catalog_pod("new:2"))
    cluster.store(package(heads={"stable": "demo.v1.2.0"}))
    assert Run(cluster, wait_timeout=1, **image).error == ""
    # Where pods cannot be read, the state of the catalog has to do.
    unseen = cluster_with()
    unseen.rejected["GET", "pods"] = FORBIDDEN
    assert "no pod runs" not in Run(unseen, wait_timeout=0, **image).error


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"catalog": {"image": "new:2"}}, "Correct catalog.image, or name a pull secret in catalog.secrets."),
        ({}, "Correct the image of this CatalogSource, or name another one by source and source_namespace."),
    ],
)
def test_a_catalog_that_does_not_start_is_reported_with_its_pods_and_a_remedy(options, remedy):
    broken = catalog_pod("new:2", "False", waiting={"reason": "ImagePullBackOff", "message": "no such image"})
    cluster = olm_cluster(namespace(), group(), catalog(image="new:2", state="CONNECTING"), broken)
    run = Run(cluster, wait_timeout=0, **options)
    assert run.error.startswith("Not ready after 0 s (wait_timeout). CatalogSource n/cat: its connection is CONNECTING; ")
    assert "ImagePullBackOff" in run.error
    assert run.error.endswith(f". {remedy}")
    assert run.result["catalog"]["state"] == "CONNECTING"


GROUP = "example.com"
CRD = f"things.{GROUP}"


def owned_things():
    """The status of an InstallPlan whose bundle has a definition."""
    manifest = json.dumps(things(GROUP))
    return {"plan": [{"resource": {"kind": "CustomResourceDefinition", "name": CRD, "manifest": manifest}}]}


def preparing(plan_status=None):
    """OLM up to the InstallPlan, which has this status."""

    def react(cluster, method, obj):
        olm(cluster, method, obj)
        if obj["kind"] == "Subscription" and method == "PATCH" and cluster.found("InstallPlan", "install-1.1.0", "n"):
            cluster.store(plan("1.1.0", **(plan_status or {})))

    return react


def test_a_preparation_approves_nothing_and_reports_the_plan():
    cluster = prepared_cluster(controller=preparing(owned_things()))
    run = Run(cluster, state="prepared")
    assert (run.error, run.warnings) == ("", [])
    assert run.message == "demo.v1.1.0 can be installed: InstallPlan install-1.1.0 waits for approval."
    assert cluster.writes == [("PATCH", "Subscription", "demo")]
    assert cluster.found("Subscription", "demo", "n")["spec"]["installPlanApproval"] == "Manual"
    assert run.result["install_plan"]["approved"] is False


def test_a_preparation_that_fails_deletes_what_it_created():
    old = things(GROUP)
    old["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = {"type": "object"}
    cluster = olm_cluster(old, kinds=[resource(f"{GROUP}/v1", "Thing")], controller=preparing(owned_things()))
    cluster.store(thing(GROUP, "elsewhere", spec={"size": -1}))
    run = Run(cluster, state="prepared", catalog={"image": "a/b:c"})
    assert run.error == (
        f"demo.v1.1.0 cannot be installed: existing objects are not valid by CustomResourceDefinition {CRD} of the bundle: "
        "Thing elsewhere/one: spec.size is -1; the minimum is 0. Correct these objects, or choose another version of the operator. The changes for "
        "it were reverted."
    )
    assert cluster.writes[4:] == [
        ("DELETE", "Subscription", "demo"),
        ("DELETE", "CatalogSource", "cat"),
        ("DELETE", "OperatorGroup", "demo"),
    ]
    assert run.actions == {}
    # Something is in it now.
    assert cluster.found("Namespace", "n")


def test_a_preparation_that_fails_restores_what_it_changed():
    first = {"spec": {"size": -1}}
    cluster = olm_cluster(things(GROUP), kinds=[resource(f"{GROUP}/v1", "Thing")], controller=olm)
    assert Run(cluster, upgrade="none", starting_csv="1.0.0", catalog={"image": "a/b:c"}, watch_namespaces=["m"]).error == ""
    before = {kind: cluster.found(kind, name, "n")["spec"] for kind, name in CHANGED}
    cluster.store(thing(GROUP, "elsewhere", **first))
    waiting = {"state": "UpgradePending", "currentCSV": "demo.v1.1.0", "installPlanRef": {"name": "install-1.1.0"}}
    live = cluster.found("Subscription", "demo", "n")
    cluster.store({**live, "status": {**live["status"], **waiting}})
    cluster.store(plan("1.1.0", **owned_things()))
    run = Run(cluster, state="prepared", catalog={"image": "a/b:c", "priority": 1}, channel="stable", labels={"a": "b"})
    assert run.error.endswith("The changes for it were reverted.")
    assert "1.1.0 cannot be installed" in run.error
    assert {kind: cluster.found(kind, name, "n")["spec"] for kind, name in CHANGED} == before
    assert "a" not in cluster.found("Subscription", "demo", "n")["metadata"]["labels"]
    assert run.actions == {}
    assert ("DELETE", "Subscription", "demo") not in cluster.writes


CHANGED = (("Subscription", "demo"), ("CatalogSource", "cat"), ("OperatorGroup", "demo"))


def test_changes_that_a_failed_preparation_cannot_revert_are_named():
    cluster = prepared_cluster(controller=preparing({"phase": "Failed", "message": "no"}))
    cluster.rejected["DELETE", "subscriptions"] = FORBIDDEN
    run = Run(cluster, state="prepared", wait_timeout=0)
    assert "InstallPlan install-1.1.0 failed: no" in run.error
    assert ". The changes for it could not be reverted: Subscription n/demo: could not delete it: you may not" in run.error
    assert run.actions["Subscription demo"] == "created"


def test_crds_that_cannot_be_compared_are_a_warning():
    cluster = prepared_cluster(things(GROUP), controller=preparing(owned_things()))
    cluster.rejected["PATCH", "customresourcedefinitions"] = FORBIDDEN
    run = Run(cluster, state="prepared")
    assert run.error == ""
    (warning,) = run.warnings
    assert warning.startswith("The definitions in the bundle were not compared with those of the cluster and with existing objects: ")
    assert run.message == "demo.v1.1.0 can be installed: InstallPlan install-1.1.0 waits for approval."
    cluster.rejected["PATCH", "customresourcedefinitions"] = ApiError(500, "Broken", "broken")
    assert "broken" in Run(cluster, state="prepared").error


def test_a_failed_run_that_is_no_preparation_reverts_nothing():
    cluster = prepared_cluster(controller=preparing({"phase": "Failed", "message": "no"}))
    run = Run(cluster, upgrade="none", wait_timeout=0)
    assert run.error.startswith("Not ready after 0 s (wait_timeout). InstallPlan install-1.1.0 failed: no; OLM does not execute")
    assert cluster.found("Subscription", "demo", "n")


def operator_pod(name="demo-1", created="2020-01-01T00:00:00Z", **state):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "n", "labels": {"app": "demo"}, "creationTimestamp": created},
        "spec": {"containers": [{"name": "operator", "image": "a/b:c"}]},
        "status": {
            "phase": "Pending",
            "containerStatuses": [{"name": "operator", "image": "a/b:c", "restartCount": 0, "ready": False, "state": state}],
        },
    }


def test_an_operator_that_does_not_start_is_reported_with_its_pods():
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    cluster = installed_cluster(operator_pod(**waiting), operator_pod("old", "2019-01-01T00:00:00Z", **waiting), version="1.1.0")
    cluster.store(deployment(available=0))
    run = Run(cluster, wait_timeout=0)
    assert run.error.startswith("Not ready after 0 s (wait_timeout). Deployment demo: 1 of 1 replicas updated, 0 available; ")
    assert "pod demo-1: " in run.error
    assert "pod old" not in run.error
    cluster.rejected["GET", "pods"] = FORBIDDEN
    assert Run(cluster, wait_timeout=0).error.endswith("its pods could not be read: you may not.")


def test_a_bundle_that_is_unpacked_is_reported_with_the_pods_that_unpack_it():
    pod = operator_pod("unpack", waiting={"reason": "ImagePullBackOff", "message": "no such bundle"})
    pod["metadata"]["labels"] = {"operatorframework.io/bundle-unpack-ref": "x"}
    condition = {"type": "BundleUnpacking", "status": "True", "reason": "JobIncomplete", "message": "unpack job not completed"}
    cluster = prepared_cluster(subscription(status={"conditions": [condition]}), pod, controller=None)
    run = Run(cluster, wait_timeout=0)
    assert "its bundle is being unpacked: JobIncomplete: unpack job not completed; pod unpack: " in run.error
    assert run.result["subscription"]["conditions"] == [
        {"type": "BundleUnpacking", "reason": "JobIncomplete", "message": "unpack job not completed"}
    ]


def test_an_operator_that_is_available_for_a_moment_is_not_steady_yet():
    restarted = operator_pod(running={"startedAt": timestamps.now()})
    told = restarted["status"]["containerStatuses"][0]
    told.update(restartCount=2, ready=True, lastState={"terminated": {"exitCode": 3, "reason": "Error", "finishedAt": timestamps.now()}})
    cluster = installed_cluster(restarted, version="1.1.0")
    for options in ({}, {"upgrade": "none"}):
        run = Run(cluster, wait_timeout=0, **options)
        assert "pod demo-1: " in run.error
        assert "restarted 2 times" in run.error
    # Without waiting it is not checked.
    assert Run(cluster, wait=False, upgrade="none").message == "demo.v1.1.0 is installed in namespace n."
    # Where pods cannot be read, the Deployment has to do.
    cluster.rejected["GET", "pods"] = FORBIDDEN
    assert Run(cluster).error == ""
    new = deployment()
    new["status"]["conditions"] = [{"type": "Available", "status": "True", "lastTransitionTime": timestamps.now()}]
    cluster.store(new)
    assert "Deployment demo: " in Run(cluster, wait_timeout=0).error


def test_a_missing_plan_that_needs_approval_is_a_warning_without_wait():
    cluster = prepared_cluster(controller=None)
    run = Run(cluster, wait=False, upgrade="none")
    assert (run.error, run.message) == ("", "demo is not installed yet.")
    assert run.warnings == ["wait is false, and there is no InstallPlan to approve yet. Run it again, or OLM waits forever."]
    assert Run(prepared_cluster(controller=None), wait=False).warnings == []
    assert Run(prepared_cluster(controller=None), wait=False, approval="Manual").warnings == []
    approved = Run(prepared_cluster(), wait=False, upgrade="none")
    assert (approved.warnings, approved.actions["InstallPlan install-1.1.0"]) == ([], "updated")


def test_a_newer_version_that_olm_cannot_reach_is_a_warning():
    cluster = installed_cluster()
    # What this run has changed is given time.
    assert "OLM sees no way" in Run(cluster, wait_timeout=0).message
    run = Run(cluster)
    assert run.error == ""
    told = "demo.v1.0.0 is installed in namespace n. demo.v1.0.0 is installed, and OLM sees no way from there to a newer one."
    assert (run.message, run.warnings) == (told, [told])
    assert run.result["upgrade"] == "1.1.0"
    # Without a list of the catalog there is nothing to compare with.
    cluster.remove("PackageManifest", "demo", "n")
    cluster.rejected["GET", "packagemanifests"] = ApiError(503, "Unavailable", "no")
    run = Run(cluster)
    assert (run.error, run.warnings, run.message) == ("", [], "demo.v1.0.0 is installed in namespace n.")


def test_a_deleted_csv_is_an_error_in_check_mode_too():
    cluster = installed_cluster()
    cluster.remove("ClusterServiceVersion", "demo.v1.0.0", "n")
    for check in (True, False):
        run = Run(cluster, check=check, wait_timeout=0)
        assert "its ClusterServiceVersion demo.v1.0.0 was deleted, and OLM does not create it again" in run.error
        assert run.message == ("demo is not installed in namespace n yet: ClusterServiceVersion demo.v1.0.0 does not exist.")


def test_a_version_beyond_the_plan_that_waits_is_not_approved():
    waiting = {"currentCSV": "demo.v1.1.0", "state": "UpgradePending", "installPlanRef": {"name": "install-1.1.0"}}
    cluster = installed_cluster(plan("1.1.0"), approval="Manual", **waiting)
    cluster.store(package(versions=("1.2.0", "1.1.0", "1.0.0"), heads={"stable": "demo.v1.2.0"}))
    assert Run(cluster, approval="Manual", wait=False).error == ""
    for check in (True, False):
        run = Run(cluster, check=check, approval="Manual", approve="1.2.0")
        assert run.error == (
            "Will not become ready. InstallPlan install-1.1.0 waits for approval; it installs demo.v1.1.0; approve is 1.2.0, which it does not install, "
            "so it was not approved. OLM upgrades step by step: set approve: 1.1.0 first, and approve: 1.2.0 when its InstallPlan waits."
        )
    assert not cluster.found("InstallPlan", "install-1.1.0", "n")["spec"]["approved"]


@pytest.mark.parametrize(("upgrade", "approved"), [({"upgrade": "version", "version": "1.2.0"}, True), ({"upgrade": "none"}, False)])
def test_a_step_on_the_way_to_a_version_is_approved(upgrade, approved):
    waiting = {"currentCSV": "demo.v1.1.0", "state": "UpgradePending", "installPlanRef": {"name": "install-1.1.0"}}
    cluster = installed_cluster(plan("1.1.0"), approval="Manual", **waiting)
    cluster.store(package(versions=("1.2.0", "1.1.0", "1.0.0"), heads={"stable": "demo.v1.2.0"}))
    Run(cluster, wait_timeout=0, **upgrade)
    assert cluster.found("InstallPlan", "install-1.1.0", "n")["spec"]["approved"] is approved


def test_a_plan_whose_approval_was_withdrawn_is_not_approved_again():
    withdrawn = []

    def react(cluster, method, obj):
        if obj["kind"] == "InstallPlan" and obj["spec"]["approved"] and not withdrawn:
            withdrawn.append(True)
            metadata = {**obj["metadata"], "generation": 3}
            cluster.store({**obj, "metadata": metadata, "spec": {**obj["spec"], "approved": False}})
        elif obj["kind"] == "Subscription":
            olm(cluster, method, obj)

    run = Run(prepared_cluster(controller=react), upgrade="none")
    assert run.error.startswith(
        "InstallPlan install-1.1.0 was approved by this task, but its approval was withdrawn before OLM executed it."
    )


def test_config_is_written_and_waited_for():
    cluster = installed_cluster(version="1.1.0")
    run = Run(cluster, config={"env": [{"name": "A", "value": "b"}]}, wait_timeout=0)
    assert cluster.found("Subscription", "demo", "n")["spec"]["config"] == {"env": [{"name": "A", "value": "b"}]}
    assert run.error == "Not ready after 0 s (wait_timeout). Deployment demo does not have the Subscription's config yet."


def test_a_rival_in_another_namespace_is_named():
    rival = subscription("theirs", "m")
    cluster = prepared_cluster(rival, group("g", "m", ["m", "n"]))
    run = Run(cluster)
    assert run.error == (
        "package demo is subscribed to in namespace m already (Subscription theirs, OperatorGroup g for m, n), and here it would be for n: two "
        "installations must not watch the same namespace. Remove that one, or set watch_namespaces apart."
    )
    assert cluster.writes == []
    for fine in (
        prepared_cluster(rival, group("g", "m", ["m"])),
        prepared_cluster(subscription("theirs", "m", package="else"), group("g", "m", ["n"])),
        prepared_cluster({**rival, "metadata": {**rival["metadata"], "deletionTimestamp": "x"}}, group("g", "m", ["n"])),
    ):
        assert Run(fine).error == ""
    # What must not be read is no obstacle.
    cluster.rejected["GET", "operatorgroups", "m"] = FORBIDDEN
    assert Run(cluster).error == ""


def test_subscriptions_of_other_namespaces_need_not_be_readable():
    cluster = prepared_cluster()
    request = cluster.request

    def guarded(method, path, **options):
        if method == "GET" and path.endswith("v1alpha1/subscriptions"):
            raise FORBIDDEN
        return request(method, path, **options)

    cluster.request = guarded
    assert Run(cluster).message == "demo.v1.1.0 is installed in namespace n."


def test_an_operator_whose_subscription_was_deleted_is_not_installed_again():
    orphan = csv("1.0.0")
    orphan["metadata"]["labels"] = {"operators.coreos.com/demo.n": ""}
    run = Run(prepared_cluster(orphan))
    assert run.error == (
        "name is demo, but there is no such Subscription in namespace n, although ClusterServiceVersion demo.v1.0.0 of package demo is there: its "
        "Subscription was deleted, and OLM does not connect a new one with it. To go on, remove the operator with state: absent, its custom resources "
        "stay, and install it again."
    )
    orphan["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert "there is no such Subscription" not in Run(prepared_cluster(orphan)).error


@pytest.mark.parametrize(
    ("rejected", "options"),
    [
        (("GET", "catalogsources"), {"source": None}),
        (("GET", "serviceaccounts"), {"catalog": {"image": "x"}, "source": "new"}),
        (("GET", "pods"), {"catalog": {"image": "x"}}),
        (("GET", "pods"), {"upgrade": "none"}),
        (("GET", "operatorgroups", "m"), {}),
        (("GET", "subscriptions"), {}),
        (("PATCH", "installplans"), {"approval": "Manual", "approve": "1.2.0"}),
    ],
)
def test_a_server_that_is_broken_is_an_error(rejected, options):
    waiting = {"currentCSV": "demo.v1.2.0", "state": "UpgradePending", "installPlanRef": {"name": "install-1.2.0"}}
    cluster = installed_cluster(subscription("x", "m"), group("g", "m", ["m"]), plan("1.2.0"), version="1.1.0")
    if "approve" in options:
        live = cluster.found("Subscription", "demo", "n")
        cluster.store({**live, "status": {**live["status"], **waiting}})
    assert "the server is broken" not in Run(cluster, wait_timeout=0, **{**options, "catalog": None, "source": "cat"}, check=True).error
    cluster.rejected[rejected] = BROKEN
    assert "the server is broken" in Run(cluster, wait_timeout=0, **options).error


@pytest.fixture
def impatient(monkeypatch):
    """What is broken is given up at once."""
    monkeypatch.setattr(wait, "GRACE_SECONDS", 0)
    monkeypatch.setattr(install, "GRACE_SECONDS", 0)


@pytest.mark.usefixtures("impatient")
def test_an_operator_that_cannot_start_is_given_up_before_the_timeout():
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    cluster = installed_cluster(operator_pod(**waiting), version="1.1.0")
    cluster.store(deployment(available=0))
    assert Run(cluster, wait_timeout=60).error.startswith(
        "Will not become ready. Deployment demo: 1 of 1 replicas updated, 0 available; pod "
    )
    message = "Bundle image pull failed. Common causes: none"
    condition = {"type": "BundleUnpacking", "status": "True", "reason": "UnpackingInProgress", "message": message}
    cluster = prepared_cluster(subscription(status={"conditions": [condition]}), controller=None)
    assert Run(cluster, wait_timeout=60).error == (
        f"Will not become ready. Subscription demo: its bundle is being unpacked: UnpackingInProgress: {message}."
    )
    broken = catalog_pod("a/b:c", "False", **waiting)
    run = Run(olm_cluster(namespace(), group(), catalog(state="CONNECTING"), broken), wait_timeout=60)
    assert run.error.startswith("Will not become ready. CatalogSource n/cat: its connection is CONNECTING; ")


@pytest.mark.usefixtures("impatient")
def test_pods_of_the_image_before_do_not_end_the_wait_for_a_catalog():
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    cluster = olm_cluster(namespace(), group(), catalog(state="CONNECTING"), catalog_pod("a/b:c", "False", **waiting))
    assert Run(cluster, wait_timeout=1, catalog={"image": "new:2"}).error.startswith("Not ready after 1 s (wait_timeout).")


@pytest.mark.usefixtures("impatient")
def test_a_failed_plan_is_given_up_before_the_time_is_over():
    cluster = prepared_cluster(controller=preparing({"phase": "Failed", "message": "no"}))
    run = Run(cluster, upgrade="none", wait_timeout=60)
    assert run.error.startswith("Will not become ready. InstallPlan install-1.1.0 failed: no; ")


def test_a_catalog_is_waited_for_until_it_is_connected():
    cluster = prepared_cluster(catalog(state="CONNECTING"))
    threading.Timer(0.1, cluster.store, [catalog()]).start()
    run = Run(cluster, wait_timeout=30)
    assert (run.error, run.message) == ("", "demo.v1.1.0 is installed in namespace n.")


def test_an_installation_is_waited_for():
    def react(cluster, method, obj):
        olm(cluster, method, {**obj, "spec": {**obj["spec"], "installPlanApproval": "Manual"}})
        live = cluster.found("InstallPlan", "install-1.1.0", "n")
        done = {**live, "spec": {**live["spec"], "approved": True}}
        threading.Timer(0.1, lambda: olm(cluster, "PATCH", done)).start()

    run = Run(prepared_cluster(controller=react), wait_timeout=30)
    assert (run.error, run.message, run.warnings) == ("", "demo.v1.1.0 is installed in namespace n.", [])


def test_a_preparation_that_ends_before_a_write_reverts_nothing():
    cluster = prepared_cluster()
    run = Run(cluster, state="prepared", channel="beta")
    assert "channel is beta" in run.error
    assert "reverted" not in run.error
    assert cluster.writes == []


def operator_record():
    return {"apiVersion": "operators.coreos.com/v1", "kind": "Operator", "metadata": {"name": "demo.n"}, "spec": {}, "status": {}}


@pytest.mark.parametrize("before", [True, False], ids=["from before", "of this run"])
def test_a_failed_preparation_deletes_the_record_that_olm_made_for_it(before):
    def react(cluster, method, obj):
        preparing({"phase": "Failed", "message": "no"})(cluster, method, obj)
        if method == "PATCH":
            cluster.store(operator_record())

    cluster = prepared_cluster(controller=react)
    if before:
        cluster.store(operator_record())
    run = Run(cluster, state="prepared", wait_timeout=0)
    assert run.error.endswith(". The changes for it were reverted.")
    assert bool(cluster.found("Operator", "demo.n")) is before
    assert cluster.found("Subscription", "demo", "n") is None


def test_a_failed_preparation_deletes_its_empty_namespace():
    offered = package()
    offered["metadata"]["namespace"] = offered["status"]["catalogSourceNamespace"] = "m"
    offered["metadata"]["labels"] = {"catalog": "cat", "catalog-namespace": "m"}
    cluster = olm_cluster(catalog(namespace="m"), offered)
    run = Run(cluster, state="prepared", source_namespace="m", wait_timeout=0)
    assert run.error.endswith(". The changes for it were reverted.")
    assert cluster.writes[-1] == ("DELETE", "Namespace", "n")
    assert run.actions == {}


def test_a_plan_of_another_version_than_the_first_one_is_not_approved():
    def react(cluster, method, obj):
        if obj["kind"] == "Subscription":
            olm(cluster, method, {**obj, "spec": {**obj["spec"], "startingCSV": "demo.v1.1.0"}})

    for options, asked in (
        ({"upgrade": "none", "starting_csv": "1.0.0"}, "version is 1.0.0"),
        ({"upgrade": "version", "version": "1.0.0"}, "version is 1.0.0"),
        ({"approval": "Manual", "approve": "1.0.0"}, "approve is 1.0.0"),
    ):
        cluster = prepared_cluster(controller=react)
        run = Run(cluster, wait_timeout=0, **options)
        assert run.error == (
            f"Not ready after 0 s (wait_timeout). InstallPlan install-1.1.0 waits for approval; it installs demo.v1.1.0; {asked}, which it does not "
            "install, so it was not approved."
        )
        assert not cluster.found("InstallPlan", "install-1.1.0", "n")["spec"]["approved"]


def test_a_plan_that_the_subscription_does_not_refer_to_is_not_approved():
    there = subscription(approval="Manual", status={"state": "UpgradePending", "currentCSV": "demo.v1.1.0"})
    cluster = prepared_cluster(there, plan("1.1.0"), controller=None)
    Run(cluster, upgrade="none", wait_timeout=0)
    assert not cluster.found("InstallPlan", "install-1.1.0", "n")["spec"]["approved"]
    # The user named the version.
    Run(cluster, approval="Manual", approve="1.1.0", wait_timeout=0)
    assert cluster.found("InstallPlan", "install-1.1.0", "n")["spec"]["approved"]


def test_a_plan_is_approved_once_while_older_states_are_read():
    def react(cluster, method, obj):
        if obj["kind"] == "InstallPlan":
            cluster.store({**obj, "spec": {**obj["spec"], "approved": False}})
        else:
            olm(cluster, method, obj)

    cluster = prepared_cluster(controller=react)
    run = Run(cluster, upgrade="none", wait_timeout=1)
    assert "InstallPlan install-1.1.0 waits for approval" in run.error
    assert cluster.writes.count(("PATCH", "InstallPlan", "install-1.1.0")) == 1


def test_plans_with_other_operators_need_an_approval_of_their_own():
    def react(cluster, method, obj):
        olm(cluster, method, obj)
        live = cluster.found("InstallPlan", "install-1.1.0", "n")
        if obj["kind"] == "Subscription" and live["spec"]["clusterServiceVersionNames"] == ["demo.v1.1.0"]:
            live["spec"]["clusterServiceVersionNames"].append("other.v1.0.0")
            cluster.store(live)

    run = Run(prepared_cluster(controller=react), upgrade="none", wait_timeout=0)
    assert "but also other.v1.0.0, which does not belong to package demo" in run.error
    run = Run(prepared_cluster(controller=react), upgrade="none", approve_others=True)
    assert (run.error, run.actions["InstallPlan install-1.1.0"]) == ("", "updated")


def test_check_mode_predicts_an_approval():
    waiting = {"currentCSV": "demo.v1.1.0", "state": "UpgradePending", "installPlanRef": {"name": "install-1.1.0"}}
    cluster = installed_cluster(plan("1.1.0"), approval="Manual", **waiting)
    run = Run(cluster, check=True, approval="Manual", approve="1.1.0")
    assert (run.error, run.warnings, cluster.writes) == ("", [], [])
    assert run.actions["InstallPlan install-1.1.0"] == "updated"
    # A preparation approves nothing.
    assert "InstallPlan install-1.1.0" not in Run(cluster, check=True, state="prepared", upgrade="version", version="1.1.0").actions


def test_a_failed_csv_is_a_warning_where_nothing_is_waited_for():
    cluster = installed_cluster(version="1.1.0")
    cluster.store(csv("1.1.0", phase="Failed"))
    for options in ({"check": True}, {"wait": False}):
        run = Run(cluster, **options)
        assert (run.error, run.warnings) == ("", [run.message])
        assert "demo is not installed in namespace n yet: ClusterServiceVersion demo.v1.1.0 is Failed" in run.message


def test_a_starting_csv_stays_as_it_was_at_the_first_installation():
    cluster = installed_cluster()
    live = cluster.found("Subscription", "demo", "n")
    cluster.store({**live, "spec": {**live["spec"], "startingCSV": "demo.v1.0.0"}})
    Run(cluster, upgrade="none", starting_csv="1.1.0")
    assert cluster.found("Subscription", "demo", "n")["spec"]["startingCSV"] == "demo.v1.0.0"
    # As long as nothing is installed, the option counts, else what is there.
    fresh = prepared_cluster(subscription(startingCSV="demo.v1.0.0"))
    assert Run(fresh, check=True).error == ""
    Run(fresh, upgrade="none", starting_csv="1.1.0", wait=False)
    assert fresh.found("Subscription", "demo", "n")["spec"]["startingCSV"] == "demo.v1.1.0"
    kept = prepared_cluster(subscription(startingCSV="demo.v1.0.0"))
    Run(kept, upgrade="none", wait=False)
    assert kept.found("Subscription", "demo", "n")["spec"]["startingCSV"] == "demo.v1.0.0"


def test_an_upgrade_to_a_version_keeps_no_new_starting_csv():
    cluster = installed_cluster()
    Run(cluster, upgrade="version", version="1.1.0", wait=False)
    assert "startingCSV" not in cluster.found("Subscription", "demo", "n")["spec"]
    assert cluster.found("Subscription", "demo", "n")["spec"]["installPlanApproval"] == "Manual"


def test_a_version_without_a_list_of_packages_needs_the_name_of_the_csv():
    cluster = prepared_cluster()
    cluster.rejected["GET", "packagemanifests"] = ApiError(503, "Unavailable", "no")
    run = Run(cluster, upgrade="version", version="1.0.0")
    assert "Give the name of the CSV as starting_csv too" in run.error
    run = Run(cluster, upgrade="version", version="1.0.0", starting_csv="demo.v1.0.0", channel="stable", wait=False)
    assert run.error == ""
    assert cluster.found("Subscription", "demo", "n")["spec"]["startingCSV"] == "demo.v1.0.0"


def test_manual_approval_names_the_versions_between():
    cluster = installed_cluster(approval="Manual", installPlanRef=None)
    cluster.store(package(versions=("1.2.0", "1.1.0", "1.0.0"), heads={"stable": "demo.v1.2.0"}))
    run = Run(cluster, approval="Manual")
    assert run.message == (
        "demo.v1.0.0 is installed in namespace n. Channel stable offers 1.1.0, 1.2.0, and OLM upgrades step by step: run again when OLM has written the "
        "InstallPlan for the next version."
    )
    assert run.result["upgrade"] is None


def test_a_young_catalog_gets_time_to_offer_an_upgrade():
    cluster = installed_cluster()
    assert Run(cluster, wait=False).error == ""
    young = catalog()
    young["status"]["connectionState"]["lastConnect"] = timestamps.now()
    cluster.store(young)
    threading.Timer(0.1, execute, [cluster, "1.1.0"]).start()
    run = Run(cluster, wait_timeout=30)
    assert (run.message, run.warnings) == ("demo.v1.1.0 is installed in namespace n.", [])


@pytest.mark.parametrize("options", [{"upgrade": "version", "version": "1.1.0"}, {"approval": "Manual", "approve": "1.1.0"}])
def test_a_version_that_olm_cannot_reach_is_an_error(options):
    run = Run(installed_cluster(), wait_timeout=0, **options)
    assert run.error == "Not ready after 0 s (wait_timeout). demo.v1.0.0 is installed; the Subscription is AtLatestKnown."
    assert run.warnings == []


def test_check_mode_predicts_an_approval_also_without_a_catalog_that_is_ready():
    waiting = {"currentCSV": "demo.v1.1.0", "state": "UpgradePending", "installPlanRef": {"name": "install-1.1.0"}}
    cluster = installed_cluster(plan("1.1.0"), catalog(state="CONNECTING"), approval="Manual", **waiting)
    run = Run(cluster, check=True, approval="Manual", approve="1.1.0")
    assert run.error == ""
    assert run.actions["InstallPlan install-1.1.0"] == "updated"
