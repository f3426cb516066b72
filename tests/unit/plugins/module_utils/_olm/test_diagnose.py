# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is said of OLM's objects (F007), from statuses as OLM 0.45 writes them."""

from __future__ import annotations

import copy
import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._olm.diagnose import (
    Goal,
    Seen,
    bundle_cannot_be_pulled,
    carries,
    deployments_of,
    evaluate,
    is_deleted,
    needs_unpack_pods,
    uninstalled,
)

NAME = "demo.v1.0.0"


def subscription(conditions=(), **status):
    return {
        "metadata": {"name": "demo", "namespace": "n"},
        "spec": {"name": "demo"},
        "status": {"conditions": [{"status": "True", **one} for one in conditions], **status},
    }


def plan(phase, approved=True, **status):
    return {
        "metadata": {"name": "install-1", "namespace": "n"},
        "spec": {"approved": approved, "clusterServiceVersionNames": [NAME]},
        "status": {"phase": phase, **status},
    }


def csv(phase, reason="", message="", **status):
    return {
        "metadata": {"name": NAME, "namespace": "n"},
        "spec": {"version": "1.0.0", "install": {"spec": {"deployments": [{"name": "demo"}]}}},
        "status": {"phase": phase, "reason": reason, "message": message, **status},
    }


def deployment(available=1, env=()):
    return {
        "kind": "Deployment",
        "metadata": {"name": "demo", "generation": 1},
        "spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "c", "env": list(env)}]}}},
        "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": available},
    }


def catalog(state="READY"):
    return {"metadata": {"name": "cat", "namespace": "n"}, "status": {"connectionState": {"lastObservedState": state}}}


def verdict(sub, *plans, csv=None, deployments=None, catalog=None, wanted=NAME, short=False, config=None, approves=False):
    found = {csv["metadata"]["name"]: csv} if csv else {}
    there = {"demo": deployment()} if deployments is None else deployments
    goal = Goal(lambda name: name == wanted, lambda name: short, config or {}, lambda plan: approves)
    return evaluate(Seen(sub, list(plans), found, there, catalog), goal)


INSTALLED = {"state": "AtLatestKnown", "installedCSV": NAME, "currentCSV": NAME, "installPlanRef": {"name": "install-1"}}
COMING = {"state": "UpgradePending", "currentCSV": NAME, "installPlanRef": {"name": "install-1"}}


def test_a_completed_installation_is_ready():
    assert verdict(subscription(**INSTALLED), plan("Complete"), csv=csv("Succeeded")).state == "ready"


def test_a_failed_resolution_of_another_subscription_does_not_matter():
    failing = [{"type": "ResolutionFailed", "reason": "ConstraintsNotSatisfiable", "message": "other"}]
    assert verdict(subscription(failing, **INSTALLED), plan("Complete"), csv=csv("Succeeded")).state == "ready"


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"deployments": {}}, "Deployment demo does not exist"),
        ({"deployments": {"demo": deployment(available=0)}}, "Deployment demo: 1 of 1 replicas updated, 0 available"),
        ({"config": {"env": [{"name": "A", "value": "b"}]}}, "Deployment demo does not have the Subscription's config yet"),
    ],
)
def test_an_installation_is_pending_until_its_deployment_is_as_declared(changed, says):
    state, why = verdict(subscription(**INSTALLED), plan("Complete"), csv=csv("Succeeded"), **changed)
    assert (state, why) == ("pending", says)


@pytest.mark.parametrize("phase", ["Installing", "Failed", "Succeeded"])
def test_the_way_back_is_named_after_olm_has_deleted_the_old_version(phase):
    """It does so when the new version is available, if only for a second: the InstallPlan shows that the old one was installed."""
    crashing = csv(phase)
    crashing["spec"]["replaces"] = "demo.v0.9.0"
    before = plan("Complete")
    before["spec"]["clusterServiceVersionNames"] = ["demo.v0.9.0"]
    unavailable = {"demo": deployment(available=0)}
    remedy = "install it again with starting_csv: demo.v0.9.0 and upgrade: none"
    assert remedy in verdict(subscription(**INSTALLED), before, plan("Complete"), csv=crashing, deployments=unavailable).why
    assert remedy not in verdict(subscription(**INSTALLED), plan("Complete"), csv=crashing, deployments=unavailable).why


@pytest.mark.parametrize("phase", ["", "Pending", "InstallReady", "Installing", "Failed", "Replacing", "Deleting", "Unknown"])
def test_a_csv_is_installed_when_it_has_succeeded_and_not_before(phase):
    told = uninstalled(NAME, csv(phase, "Because", "of this"))
    assert told == f"ClusterServiceVersion demo.v1.0.0 is {phase or 'new'} (Because): of this"
    assert uninstalled(NAME, csv("Succeeded", "InstallSucceeded")) == ""


def test_a_csv_that_is_being_deleted_is_not_installed():
    going = csv("Succeeded")
    going["metadata"]["deletionTimestamp"] = "2026-11-22T00:00:00Z"
    state, why = verdict(subscription(**INSTALLED), plan("Complete"), csv=going)
    assert (state, why) == ("pending", "ClusterServiceVersion demo.v1.0.0 is being deleted")


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        (
            {
                "type": "ResolutionFailed",
                "reason": "ConstraintsNotSatisfiable",
                "message": "constraints not satisfiable: no operators found in package missing in the catalog referenced by subscription demo",
            },
            "Subscription demo: OLM cannot resolve it: ConstraintsNotSatisfiable: constraints not satisfiable: no operators found in package",
        ),
        (
            {"type": "BundleUnpackFailed", "reason": "BundleUnpackFailed", "message": "Bundle unpacking failed - DeadlineExceeded"},
            "Subscription demo: its bundle cannot be unpacked: BundleUnpackFailed: Bundle unpacking failed - DeadlineExceeded",
        ),
    ],
)
def test_a_failure_in_the_subscription_fails_the_installation(condition, says):
    state, why = verdict(subscription([condition]))
    assert state == "failed"
    assert why.startswith(says)


@pytest.mark.parametrize(
    ("kind", "reason", "says"),
    [
        ("ResolutionFailed", "ErrorPreventedResolution", "OLM cannot resolve it: ErrorPreventedResolution: no connection to other"),
        ("BundleUnpackFailed", "EnsureInstallPlanFailed", "its bundle cannot be unpacked: EnsureInstallPlanFailed: no connection to other"),
    ],
)
def test_a_failure_that_olm_retries_is_pending(kind, reason, says):
    """such as another catalog that does not answer for a moment, or an InstallPlan that two wrote at once"""
    condition = {"type": kind, "reason": reason, "message": "no connection to other"}
    assert verdict(subscription([condition])) == ("pending", f"Subscription demo: {says}")


@pytest.mark.parametrize(
    ("there", "state"),
    [
        (None, "pending"),
        ({"phase": "Replacing"}, "pending"),
        ({"phase": "Deleting"}, "pending"),
        ({"phase": "Succeeded"}, "failed"),
    ],
    ids=["gone", "replacing", "deleting", "orphan"],
)
def test_a_csv_without_a_subscription_is_a_failure_unless_an_upgrade_replaces_it(there, state):
    message = f"constraints not satisfiable: clusterserviceversion {NAME} exists and is not referenced by a subscription, subscription x"
    found = verdict(subscription([{"type": "ResolutionFailed", "message": message}]), csv=csv(**there) if there else None)
    assert found.state == state
    assert ("belongs to another operator, whose Subscription was deleted: delete this ClusterServiceVersion" in found.why) == (
        state == "failed"
    )


def test_a_csv_of_the_package_without_its_subscription_is_removed_with_state_absent():
    message = f"constraints not satisfiable: clusterserviceversion {NAME} exists and is not referenced by a subscription, subscription x"
    orphan = csv("Succeeded")
    properties = {"properties": [{"type": "olm.package", "value": {"packageName": "demo", "version": "1.0.0"}}]}
    orphan["metadata"]["annotations"] = {"operatorframework.io/properties": json.dumps(properties)}
    found = verdict(subscription([{"type": "ResolutionFailed", "message": message}]), csv=orphan)
    assert found.state == "failed"
    assert "OLM does not connect demo.v1.0.0 with this Subscription: remove the operator with state: absent" in found.why


def test_a_copy_is_not_an_installation():
    copy_here = csv("Succeeded", "Copied", "The operator is running in other but is managing this namespace")
    copy_here["metadata"]["labels"] = {"olm.copiedFrom": "other"}
    state, why = verdict(subscription(**INSTALLED), plan("Complete"), csv=copy_here)
    assert state == "failed"
    assert "demo.v1.0.0 is here only as a copy of the one in namespace other (The operator is running in other" in why


def test_an_installation_is_pending_while_its_bundle_is_unpacked():
    unpacking = {"type": "BundleUnpacking", "reason": "UnpackingInProgress"}
    state, why = verdict(subscription([unpacking]), catalog=catalog())
    assert (state, why) == ("pending", "Subscription demo: its bundle is being unpacked: UnpackingInProgress")


@pytest.mark.parametrize(("approves", "state"), [(False, "approval"), (True, "pending")])
def test_an_install_plan_that_waits_for_approval_gives_its_state(approves, state):
    found = verdict(subscription(**COMING), plan("RequiresApproval", approved=False), approves=approves)
    assert found == (state, "InstallPlan install-1 waits for approval; it installs demo.v1.0.0")


def test_a_failed_install_plan_fails_the_installation():
    condition = {"type": "Installed", "status": "False", "reason": "InstallComponentFailed", "message": "error creating CRD: no"}
    state, why = verdict(subscription(**COMING), plan("Failed", conditions=[condition], message="retries exhausted"))
    assert state == "failed"
    assert why.startswith(
        "InstallPlan install-1 failed: retries exhausted; InstallComponentFailed: error creating CRD: no; OLM does not execute"
    )


OLD, NEW = "demo.v0.9.0", NAME
UPGRADING = {"state": "UpgradePending", "installedCSV": OLD, "currentCSV": NEW, "installPlanRef": {"name": "install-1"}}
ORPHANED = {
    "type": "ResolutionFailed",
    "reason": "ConstraintsNotSatisfiable",
    "message": f"constraints not satisfiable: clusterserviceversion {OLD} exists and is not referenced by a subscription, subscription demo",
}


def upgrade(*plans, new=None):
    """The verdict on an upgrade that does not come to its end; the resolver complains about the version that is there."""
    old = {"metadata": {"name": OLD}, "spec": {"version": "0.9.0"}, "status": {"phase": "Replacing" if new else "Succeeded"}}
    csvs = {OLD: old, **({NEW: new} if new else {})}
    goal = Goal(lambda name: name == NEW, lambda name: False, {}, lambda plan: True)
    return evaluate(Seen(subscription([ORPHANED], **UPGRADING), list(plans), csvs, {"demo": deployment(available=0)}, catalog()), goal)


@pytest.mark.parametrize(
    ("message", "remedy"),
    [
        ("error validating demo/v1, Kind=Thing one: updated validation is too restrictive: [].spec.size: Required", "correct the object"),
        ('error updating CRD "things": spec.scope: Invalid value: "Cluster": field is immutable', "delete that, with all of its objects"),
        ("risk of data loss updating things: new CRD removes version v1alpha1 that is listed as a stored version", "status.storedVersions"),
    ],
)
def test_a_crd_that_blocks_an_upgrade_is_the_reason(message, remedy):
    """not the resolver's complaint, and not what the new CSV lacks meanwhile"""
    lacking = csv("Pending", "RequirementsNotMet", "one or more requirements couldn't be found")
    for phase, new in (("Installing", None), ("Installing", lacking), ("Failed", lacking)):
        state, why = upgrade(plan(phase, message=message), new=new)
        assert state == "failed"
        assert why.startswith(f"InstallPlan install-1 {'failed' if phase == 'Failed' else 'is Installing'}: {message}; ")
        assert remedy in why


def test_a_pod_that_keeps_an_upgrade_is_the_reason():
    state, why = upgrade(plan("Complete"), new=csv("Installing", "InstallWaiting", "waiting for deployment demo"))
    assert state == "pending"
    assert why.startswith(
        "ClusterServiceVersion demo.v1.0.0 is Installing (InstallWaiting): waiting for deployment demo; Deployment demo: "
    )


def test_an_upgrade_that_only_waits_for_the_resolver_is_pending():
    assert upgrade(plan("Complete"), new=None).state == "pending"


def test_a_plan_that_olm_retries_for_another_reason_is_pending():
    state, why = upgrade(plan("Installing", message="retrying execution due to error: forbidden"))
    assert (state, why) == ("pending", "InstallPlan install-1 is Installing: retrying execution due to error: forbidden")


def test_a_csv_that_was_deleted_by_hand_comes_with_a_remedy():
    state, why = verdict(subscription(**INSTALLED), plan("Complete"), csv=None, catalog=catalog())
    assert state == "failed"
    assert "its ClusterServiceVersion demo.v1.0.0 was deleted, and OLM does not create it again. To restore it, remove the operator" in why


def test_a_bundle_that_cannot_be_pulled_is_known_by_the_condition():
    for message, said in (
        ("Bundle image pull failed. Common causes: ...", True),
        ("Reason: ErrImagePull", True),
        ("unpack job not completed", False),
    ):
        unpacking = {"type": "BundleUnpacking", "reason": "UnpackingInProgress", "message": message}
        assert bundle_cannot_be_pulled(Seen(subscription([unpacking]), [], {}, {}, None)) is said


def test_requirements_that_are_missing_are_named():
    requirements = [
        {"kind": "CustomResourceDefinition", "name": "things.example.com", "status": "NotPresent", "message": "CRD is not present"},
        {"kind": "ClusterServiceVersion", "name": NAME, "status": "Present", "message": "CSV minKubeVersion (1.20.0) less than ..."},
        {
            "kind": "ServiceAccount",
            "name": "demo",
            "status": "PresentNotSatisfied",
            "message": "Policy rule not satisfied for service account",
            "dependents": [{"kind": "PolicyRule", "status": "NotSatisfied", "message": "cluster rule:{}"}],
        },
    ]
    stuck = csv("Pending", "RequirementsNotMet", "one or more requirements couldn't be found", requirementStatus=requirements)
    state, why = verdict(subscription(**COMING), plan("Complete"), csv=stuck)
    assert state == "pending"
    assert why == (
        "ClusterServiceVersion demo.v1.0.0 is Pending (RequirementsNotMet): one or more requirements couldn't be found; "
        "CustomResourceDefinition things.example.com is NotPresent: CRD is not present; "
        "ServiceAccount demo is PresentNotSatisfied: Policy rule not satisfied for service account; "
        "PolicyRule NotSatisfied: cluster rule:{}"
    )


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("TooManyOperatorGroups", "delete all OperatorGroups in the namespace but one"),
        ("InterOperatorGroupOwnerConflict", "an operator in another namespace"),
        ("UnsupportedOperatorGroup", "set other watch_namespaces"),
    ],
)
def test_a_csv_that_failed_for_its_surroundings_comes_with_a_remedy(reason, remedy):
    state, why = verdict(subscription(**COMING), plan("Complete"), csv=csv("Failed", reason, "as OLM says"))
    assert state == "failed"
    assert f"is Failed ({reason}): as OLM says; " in why
    assert remedy in why


def test_an_unavailable_deployment_keeps_the_installation_pending():
    waiting = csv("Installing", "InstallWaiting", "installing: waiting for deployment demo to become ready")
    state, why = verdict(subscription(**COMING), plan("Complete"), csv=waiting, deployments={"demo": deployment(available=0)})
    assert state == "pending"
    assert why.endswith("to become ready; Deployment demo: 1 of 1 replicas updated, 0 available")


def test_an_unready_catalog_is_the_reason():
    unhealthy = {"type": "CatalogSourcesUnhealthy", "reason": "UnhealthyCatalogSourceFound", "message": "targeted catalogsource n/cat"}
    assert verdict(subscription([unhealthy])).why == "Subscription demo: UnhealthyCatalogSourceFound: targeted catalogsource n/cat"
    assert verdict(subscription(), catalog=catalog("CONNECTING")).why == "CatalogSource cat: its connection is CONNECTING"


def test_the_reason_mentions_that_olms_catalog_operator_may_not_run():
    assert verdict(None).why == "the Subscription does not exist"
    assert "does its catalog-operator run?" in verdict(subscription(), catalog=catalog()).why


def test_an_upgrade_that_olm_has_no_path_to_is_reported_as_short():
    found = verdict(subscription(**INSTALLED), plan("Complete"), csv=csv("Succeeded"), wanted="demo.v2.0.0", short=True)
    assert found == ("short", "demo.v1.0.0 is installed, and OLM sees no way from there to a newer one")


@pytest.mark.parametrize("kind", ["ResolutionFailed", "BundleUnpackFailed", "BundleUnpacking"])
def test_an_upgrade_in_progress_is_not_reported_as_short(kind):
    busy = subscription([{"type": kind, "reason": kind}], **INSTALLED)
    assert verdict(busy, plan("Complete"), csv=csv("Succeeded"), wanted="demo.v2.0.0", short=True).state in ("failed", "pending")


CONFIG = {
    "env": [{"name": "A", "value": "b"}],
    "envFrom": [{"secretRef": {"name": "s"}}],
    "resources": {"requests": {"cpu": "1000m"}},
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "tolerations": [{"key": "k", "operator": "Exists"}],
    "volumes": [{"name": "v", "emptyDir": {}}],
    "volumeMounts": [{"name": "v", "mountPath": "/v"}],
}


def configured():
    live = deployment()
    container = {key: copy.deepcopy(CONFIG[key]) for key in ("env", "envFrom", "volumeMounts")}
    container["resources"] = {"requests": {"cpu": "1", "memory": "10Mi"}}
    live["spec"]["template"]["spec"] = {
        "containers": [container],
        **{key: copy.deepcopy(CONFIG[key]) for key in ("nodeSelector", "tolerations", "volumes")},
    }
    return live


@pytest.mark.parametrize("part", sorted(CONFIG))
def test_the_config_is_present_only_if_all_of_its_parts_are(part):
    live = configured()
    assert carries(live, CONFIG)
    pod = live["spec"]["template"]["spec"]
    (pod if part in pod else pod["containers"][0])[part] = {} if isinstance(CONFIG[part], dict) else []
    assert not carries(live, CONFIG)


def test_an_environment_variable_without_a_value_counts_as_present():
    """as the API server tells it"""
    live = deployment(env=[{"name": "HTTP_PROXY"}])
    assert carries(live, {"env": [{"name": "HTTP_PROXY", "value": ""}]})
    assert not carries(live, {"env": [{"name": "NO_PROXY", "value": ""}]})


@pytest.mark.parametrize(
    ("live", "told"),
    [
        (None, "ClusterServiceVersion demo.v1.0.0 does not exist"),
        (csv("Succeeded"), ""),
        (csv(None, None, None), "ClusterServiceVersion demo.v1.0.0 is new"),
        (csv("Pending", "", "two\n lines"), "ClusterServiceVersion demo.v1.0.0 is Pending: two lines"),
        (csv("Pending", "R"), "ClusterServiceVersion demo.v1.0.0 is Pending (R)"),
    ],
)
def test_the_reason_shows_why_a_csv_is_not_installed(live, told):
    assert uninstalled(NAME, live) == told


def test_a_copy_without_a_message_is_called_copied():
    live = csv("Succeeded", message=None)
    live["metadata"]["labels"] = {"olm.copiedFrom": "m"}
    assert uninstalled(NAME, live) == f"ClusterServiceVersion {NAME} is here only as a copy of the one in namespace m (Copied)"
    assert verdict(subscription(**INSTALLED), csv=live) == (
        "failed",
        (
            f"Subscription demo: ClusterServiceVersion {NAME} is here only as a copy of the one in namespace m (Copied); remove the operator there, or "
            "watch no namespace that it watches"
        ),
    )


@pytest.mark.parametrize(
    ("sub", "plans", "options", "expected"),
    [
        (subscription(**COMING), [plan("")], {}, ("pending", "InstallPlan install-1 is new: it gives no reason")),
        (
            subscription(**COMING),
            [plan("Installing")],
            {},
            ("pending", "InstallPlan install-1 is Installing: it gives no reason"),
        ),
        (
            subscription(**COMING),
            [plan("Planning", message="m")],
            {"catalog": catalog()},
            ("pending", "InstallPlan install-1 is Planning: m"),
        ),
        # A plan that waits, but for another version than the one that is coming
        (
            subscription(**{**COMING, "currentCSV": "demo.v2.0.0"}),
            [plan("RequiresApproval", approved=False)],
            {},
            ("pending", "InstallPlan install-1 is RequiresApproval: it gives no reason"),
        ),
        (
            subscription(**COMING),
            [plan("Complete")],
            {},
            ("pending", "Subscription demo is UpgradePending; its CSV demo.v1.0.0 does not exist"),
        ),
        (
            subscription(**COMING),
            [plan("Complete")],
            {"csv": csv("Succeeded")},
            ("pending", "demo.v1.0.0 is installed; the Subscription is UpgradePending"),
        ),
        (
            subscription(currentCSV=NAME),
            [],
            {"csv": csv("Succeeded")},
            ("pending", "demo.v1.0.0 is installed; the Subscription is not processed yet"),
        ),
        (
            subscription(),
            [],
            {},
            ("pending", "Subscription demo: OLM reports nothing about it; does its catalog-operator run?"),
        ),
        (
            subscription(**INSTALLED),
            [plan("Complete")],
            {"csv": csv("Succeeded"), "wanted": "demo.v2.0.0", "short": True, "deployments": {}},
            ("pending", "Deployment demo does not exist"),
        ),
        (
            subscription(**{**INSTALLED, "state": "UpgradePending"}),
            [plan("Complete")],
            {"csv": csv("Succeeded"), "wanted": "demo.v2.0.0", "short": True},
            ("pending", "demo.v1.0.0 is installed; the Subscription is UpgradePending"),
        ),
        (
            subscription(**INSTALLED),
            [plan("Complete")],
            {"csv": csv("Succeeded"), "wanted": "demo.v2.0.0"},
            ("pending", "demo.v1.0.0 is installed; the Subscription is AtLatestKnown"),
        ),
        # A condition that is False says nothing.
        (
            subscription([{"type": "ResolutionFailed", "status": "False", "message": "m"}]),
            [],
            {},
            ("pending", "Subscription demo: OLM reports nothing about it; does its catalog-operator run?"),
        ),
        (
            subscription([{"type": "BundleUnpackFailed"}]),
            [],
            {},
            ("failed", "Subscription demo: its bundle cannot be unpacked: BundleUnpackFailed"),
        ),
    ],
)
def test_each_state_of_olms_objects_gives_its_verdict(sub, plans, options, expected):
    assert verdict(sub, *plans, **options) == expected


def test_every_reason_of_a_plan_is_named_once():
    condition = {"type": "Installed", "status": "False", "reason": "R", "message": " m "}
    lookup = {
        "identifier": "demo.v1.0.0",
        "conditions": [
            {"type": "BundleLookupPending", "status": "True", "reason": "JobIncomplete", "message": "unpack job not completed"},
            {"type": "BundleLookupPersisted", "status": "False", "message": "no"},
        ],
    }
    stuck = plan("Installing", message="R: m", conditions=[condition, {"type": "X", "status": "True"}], bundleLookups=[lookup, {}])
    assert verdict(subscription(**COMING), stuck) == (
        "pending",
        "InstallPlan install-1 is Installing: R: m; bundle demo.v1.0.0: JobIncomplete: unpack job not completed",
    )


@pytest.mark.parametrize("phase", ["Pending", "Installing", "Failed"])
@pytest.mark.parametrize("reason", ["RequirementsNotMet", "RequirementsUnknown", "Other"])
def test_requirements_are_named_where_they_are_the_reason(phase, reason):
    lacking = [{"status": "NotPresent"}, {"kind": "K", "name": "n", "status": "Satisfied", "dependents": [{"status": "NotSatisfied"}]}]
    found = verdict(subscription(**COMING), plan("Complete"), csv=csv(phase, reason, requirementStatus=lacking))
    named = phase == "Pending" or reason.startswith("Requirements")
    assert found.why == f"ClusterServiceVersion {NAME} is {phase} ({reason})" + ("; ? ? is NotPresent" if named else "")
    assert found.state == ("failed" if phase == "Failed" else "pending")


def test_dependents_that_are_satisfied_are_not_named():
    dependents = [
        {"kind": "PolicyRule", "status": "Satisfied", "message": "fine"},
        {"kind": "Role", "status": "NotSatisfied", "message": "bad"},
    ]
    lacking = [{"kind": "K", "name": "n", "status": "NotPresent", "message": "m", "dependents": dependents}]
    found = verdict(subscription(**COMING), plan("Complete"), csv=csv("Pending", "R", "why", requirementStatus=lacking))
    assert found.why == f"ClusterServiceVersion {NAME} is Pending (R): why; K n is NotPresent: m; Role NotSatisfied: bad"


def test_the_way_back_is_named_while_the_old_version_exists():
    crashing = csv("Failed")
    crashing["spec"]["replaces"] = OLD
    seen = Seen(
        subscription(**INSTALLED),
        [plan("Complete")],
        {NAME: crashing, OLD: {"metadata": {"name": OLD}}},
        {"demo": deployment(available=0)},
        None,
    )
    goal = Goal(lambda name: True, lambda name: False, {}, lambda plan: False)
    assert evaluate(seen, goal).why.endswith(
        f". OLM does not return to {OLD}: to install it again, remove the operator with state: absent, its custom resources stay, and install it "
        f"again with starting_csv: {OLD} and upgrade: none"
    )
    assert "OLM does not return" not in evaluate(seen._replace(deployments={"demo": deployment()}), goal).why


@pytest.mark.parametrize("state", ["Failed", "Installing"])
def test_the_way_back_is_not_named_for_a_version_whose_plan_was_not_executed(state):
    crashing = csv("Failed")
    crashing["spec"]["replaces"] = OLD
    before = plan(state)
    before["metadata"]["name"] = "install-0"
    before["spec"]["clusterServiceVersionNames"] = [OLD]
    found = verdict(subscription(**INSTALLED), before, plan("Complete"), csv=crashing, deployments={"demo": deployment(available=0)})
    assert "OLM does not return" not in found.why


@pytest.mark.parametrize("upgrade", ["installed", "replaced by another CSV", "neither"])
def test_a_resolution_that_fails_for_the_version_before_is_waited_for(upgrade):
    csvs = {OLD: {"metadata": {"name": OLD}, "status": {"phase": "Succeeded"}}}
    if upgrade == "replaced by another CSV":
        csvs[NAME] = {"metadata": {"name": NAME}, "spec": {"replaces": OLD}, "status": {"phase": "Succeeded"}}
    status = {"installedCSV": OLD, "currentCSV": NAME} if upgrade == "installed" else {}
    goal = Goal(lambda name: False, lambda name: False, {}, lambda plan: False)
    found = evaluate(Seen(subscription([ORPHANED], **status), [], csvs, {}, None), goal)
    assert found.state == ("failed" if upgrade == "neither" else "pending")


def test_a_subscription_without_news_is_not_unpacking():
    for kind, status, needed in (
        ("BundleUnpacking", "True", True),
        ("BundleUnpackFailed", "True", True),
        ("BundleUnpacking", "False", False),
        ("ResolutionFailed", "True", False),
    ):
        seen = Seen(subscription([{"type": kind, "status": status, "message": "ErrImagePull"}]), [], {}, {}, None)
        assert needs_unpack_pods(seen) is needed
        assert bundle_cannot_be_pulled(seen) is (kind == "BundleUnpacking" and status == "True")
    nothing = Seen(None, [], {}, {}, None)
    assert (needs_unpack_pods(nothing), bundle_cannot_be_pulled(nothing)) == (False, False)
    assert bundle_cannot_be_pulled(Seen(subscription([{"type": "BundleUnpacking"}]), [], {}, {}, None)) is False


def test_an_installed_csv_that_is_missing_is_deleted_unless_another_one_comes():
    for status, there, deleted in (
        ({"installedCSV": NAME, "currentCSV": NAME}, {}, True),
        ({"installedCSV": NAME, "currentCSV": NAME}, {NAME: csv("Succeeded")}, False),
        ({"installedCSV": OLD, "currentCSV": NAME}, {}, False),
        ({"currentCSV": NAME}, {}, False),
        ({}, {}, False),
    ):
        assert is_deleted(Seen(subscription(**status), [], there, {}, None)) is deleted


def test_deployments_of_a_csv_are_those_of_its_install_strategy():
    assert deployments_of(csv("Succeeded")) == ["demo"]
    for spec in (None, {}, {"install": None}, {"install": {"spec": None}}, {"install": {"spec": {"deployments": None}}}):
        assert deployments_of({"spec": spec}) == []


@pytest.mark.parametrize(
    ("wanted", "live", "same"),
    [
        ({"limits": {"cpu": "1"}}, {"limits": {"cpu": "1000m"}}, True),
        ({"limits": {"cpu": "1"}}, {"limits": {"cpu": "2"}}, False),
        ({"limits": {"cpu": "1"}}, {"requests": {"cpu": "1"}}, False),
        ({"requests": {"memory": "1Gi"}}, {"requests": {"memory": "1024Mi", "cpu": "1"}, "limits": {"cpu": "2"}}, True),
        ({"requests": {"memory": "1Gi"}}, {"requests": {"cpu": "1Gi"}}, False),
        ({"limits": None}, {}, True),
        (None, None, True),
        ({"limits": {"cpu": "1"}}, None, False),
    ],
)
def test_resources_of_the_config_are_compared_as_quantities(wanted, live, same):
    made = deployment()
    made["spec"]["template"]["spec"]["containers"][0]["resources"] = live
    assert carries(made, {"resources": wanted}) is same


@pytest.mark.parametrize(
    ("config", "pod", "same"),
    [
        ({}, {}, True),
        ({"nodeSelector": {}}, {}, True),
        ({"nodeSelector": None}, {"nodeSelector": {}}, True),
        ({"nodeSelector": {}}, {"nodeSelector": {"a": "b"}}, False),
        ({"tolerations": [{"operator": "Exists"}]}, {"tolerations": [{"operator": "Exists"}]}, True),
        ({"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "b"}]}, False),
        ({"volumes": [{"name": "a"}]}, {"volumes": [{"name": "b"}, {"name": "a"}]}, True),
        ({"env": [{"name": "A", "value": 1}]}, {"env": [{"name": "A", "value": "1"}]}, True),
        ({"env": [{"name": "A", "valueFrom": {}}]}, {}, True),
        ({"env": [{"name": "A", "value": ""}]}, {"env": [{"name": "A", "valueFrom": {}}]}, False),
        ({"env": None, "envFrom": None, "volumeMounts": None, "tolerations": None, "volumes": None}, {}, True),
    ],
)
def test_config_is_compared_with_the_pods(config, pod, same):
    made = deployment()
    content = {key: value for key, value in pod.items() if key != "env"}
    made["spec"]["template"]["spec"] = {"containers": [{"name": "c", "env": pod.get("env")}], **content}
    assert carries(made, config) is same


def test_every_container_has_the_config():
    made = deployment(env=[{"name": "A", "value": "b"}])
    made["spec"]["template"]["spec"]["containers"].append({"name": "other"})
    assert not carries(made, {"env": [{"name": "A", "value": "b"}]})
