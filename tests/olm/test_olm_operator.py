# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""olm_operator with a real OLM (F001-F008, F017, F019-F021): versions, approval, refusals, failures and removal.

One catalog for all namespaces serves most tests. What waits long to fail runs side by side.
"""

from __future__ import annotations

import json
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.direct_module import run_directly
from support.examples import PLUGINS, examples
from support.olm import GROUP, NAMESPACE, Bundle, Package, with_broken_manifest
from support.registries import stands_in_for
from support.scheduler import eventually

pytestmark = pytest.mark.long

MODULE = "olm_operator"
SOURCE = "shared"
THINGS = [Bundle("thing", version) for version in ("1.0.0", "1.1.0", "1.2.0")]
PACKAGES = [
    Package("thing", {"stable": THINGS, "candidate": THINGS[:2]}),
    Package("leader", {"stable": [Bundle("leader", requires={"thing": ">=1.0.0"})]}),
    Package("needy", {"stable": [Bundle("needy", requires={"nowhere": ">=1.0.0"})]}),
    Package("broken", {"stable": [with_broken_manifest(Bundle("broken"))]}),
    Package("unpushed", {"stable": [Bundle("unpushed", pushed=False)]}),
    Package("picky", {"stable": [Bundle("picky", spec={"minKubeVersion": "99.0.0"})]}),
    Package("imageless", {"stable": [Bundle("imageless", image="registry.invalid/does/not:exist")]}),
    Package("single", {"stable": [Bundle("single", modes=["AllNamespaces"])]}),
]
CRD = "customresourcedefinitions.apiextensions.k8s.io"


@pytest.fixture(scope="module")
def catalog(olm, kubectl):
    """The catalog for all namespaces; ready, its packages are listed."""
    olm.serve(olm.catalog(*PACKAGES), NAMESPACE, SOURCE)
    yield
    kubectl("delete", "catalogsource", SOURCE, f"--namespace={NAMESPACE}")


@pytest.fixture
def fresh(olm, kubectl):
    """Names of namespaces that do not exist yet; what is made in them is taken away."""
    names = []

    def name():
        names.append(f"test-{uuid.uuid4().hex[:10]}")
        return names[-1]

    yield name
    clear(olm, kubectl, names)


def clear(olm, kubectl, names):
    olm.clear(*names)
    kubectl("delete", "namespace", *names, "--wait=false", "--ignore-not-found")


def manage(namespace, package="thing", **options):
    """Run the module with the shared catalog, or as `options` say."""
    where = {} if options.get("state") == "absent" else {"source": SOURCE, "source_namespace": NAMESPACE}
    return run_directly(MODULE, package=package, namespace=namespace, **{"wait_timeout": 240, **where, **options})


def csvs(kubectl, namespace):
    """Name -> phase of the operators in a namespace, without those that OLM takes away after a newer one has come."""
    phases = {one["metadata"]["name"]: one["status"].get("phase") for one in kubectl.list("clusterserviceversion", namespace)}
    return {name: phase for name, phase in phases.items() if phase not in ("Replacing", "Deleting")}


def left(kubectl, namespace, package="thing"):
    """What there is of a package, its namespace and its traces in the whole cluster."""
    found = kubectl(
        "get", f"{CRD},operators.operators.coreos.com,clusterroles,clusterrolebindings,namespaces", "--output=name"
    ).stdout.split()
    marks = (f"/things.{package}.", f"/{package}.v", f"/{package}.{namespace}", f"/{namespace}")
    found = [name for name in found if any(mark in name for mark in marks)]
    kinds = "subscriptions,clusterserviceversions,installplans,catalogsources,operatorgroups"
    names = ",".join(f"{kind}.operators.coreos.com" for kind in kinds.split(","))
    return found + kubectl("get", f"{names},deployments", f"--namespace={namespace}", "--output=name").stdout.split()


def test_an_operator_is_installed_upgraded_and_removed_by_predicted_changes(catalog, fresh, kubectl, audit):
    """From an empty cluster over three versions and back: none, version and channel; each second run without a write."""
    namespace = fresh()
    about = {
        "starting_csv": "1.0.0",
        "namespace_labels": {"openshift.io/cluster-monitoring": "true"},
        "config": {"env": [{"name": "GREETING", "value": "hello"}], "resources": {"requests": {"cpu": "1m"}}},
    }
    with audit:
        predicted = manage(namespace, check=True, upgrade="none", **about)
    assert audit.writes() == []
    done = manage(namespace, upgrade="none", **about)
    assert {name: action for name, action in done.actions().items() if not name.startswith("InstallPlan")} == predicted.actions()
    assert done.result["csv"] == {
        "name": "thing.v1.0.0",
        "version": "1.0.0",
        "phase": "Succeeded",
        "reason": "InstallSucceeded",
        "message": done.result["csv"]["message"],
    }
    assert done.result["install_plan"]["approved"] is True
    assert done.result["install_plan"]["csvs"] == ["thing.v1.0.0"]
    assert done.result["catalog"]["channels"] == ["candidate", "stable"]
    assert done.result["upgrade"] == "1.2.0"
    assert kubectl.json("get", "namespace", namespace)["metadata"]["labels"]["openshift.io/cluster-monitoring"] == "true"
    container = kubectl.get("deployment", "thing", namespace)["spec"]["template"]["spec"]["containers"][0]
    assert {"name": "GREETING", "value": "hello"} in container["env"]
    assert container["resources"]["requests"]["cpu"] == "1m"

    with audit:
        again = manage(namespace, upgrade="none", **about)
        checked = manage(namespace, check=True, upgrade="none", **about)
    assert (again.result["changed"], checked.result["changed"], audit.writes(dry_run=True)) == (False, False, [])
    assert csvs(kubectl, namespace) == {"thing.v1.0.0": "Succeeded"}, "none has upgraded it"

    changed = manage(namespace, upgrade="none", **{**about, "config": {"env": [{"name": "GREETING", "value": "bye"}]}})
    assert changed.actions()["Subscription thing"] == "updated"
    container = kubectl.get("deployment", "thing", namespace)["spec"]["template"]["spec"]["containers"][0]
    assert {"name": "GREETING", "value": "bye"} in container["env"]

    unknown = manage(namespace, upgrade="version", version="2.0.0", succeed=False)
    assert "version is 2.0.0, which channel stable of package thing does not hold" in unknown.message
    done = manage(namespace, upgrade="version", version="1.1.0")
    assert (done.result["csv"]["version"], done.result["upgrade"]) == ("1.1.0", "1.2.0")
    older = manage(namespace, upgrade="version", version="1.0.0", succeed=False)
    assert "version is 1.0.0, but thing.v1.1.0 is installed, and OLM does not go back" in older.message
    with audit:
        assert not manage(namespace, upgrade="version", version="1.1.0").result["changed"]
    assert audit.writes() == []

    done = manage(namespace)
    assert (done.result["csv"]["version"], done.result["upgrade"], done.result["subscription"]["approval"]) == ("1.2.0", None, "Automatic")
    assert csvs(kubectl, namespace) == {"thing.v1.2.0": "Succeeded"}

    there = left(kubectl, namespace)
    assert {f"namespace/{namespace}", "subscription.operators.coreos.com/thing", "deployment.apps/thing"} < set(there)
    with audit:
        predicted = manage(namespace, state="absent", delete_crds=True, check=True)
    assert audit.writes() == []
    assert left(kubectl, namespace) == there
    done = manage(namespace, state="absent", delete_crds=True)
    assert done.actions() == predicted.actions()
    assert set(done.actions().values()) == {"deleted"}
    assert left(kubectl, namespace) == []
    with audit:
        assert not manage(namespace, state="absent", delete_crds=True).result["changed"]
    assert audit.writes() == []


def test_an_own_catalog_is_created_updated_and_deleted_with_its_operator(olm, fresh, kubectl, audit):
    """The catalog comes with the operator, brings the upgrade with another image, and goes with it; resources hold their definition."""
    namespace = fresh()
    images = [olm.catalog(Package("thing", {"stable": THINGS[:count]})) for count in (1, 2)]

    def catalog(image):
        return {"source": "own", "source_namespace": None, "catalog": {"image": image, "security_context_config": "restricted"}}

    assert manage(namespace, **catalog(images[0])).result["csv"]["version"] == "1.0.0"
    with audit:
        assert not manage(namespace, **catalog(images[0])).result["changed"]
    assert audit.writes() == []
    done = manage(namespace, **catalog(images[1]))
    assert (done.actions()["CatalogSource own"], done.result["csv"]["version"]) == ("updated", "1.1.0")

    thing = {"apiVersion": "thing.example.com/v1", "kind": "Thing", "metadata": {"name": "one", "namespace": namespace}}
    kubectl.apply(thing)
    gone = manage(namespace, state="absent", delete_crds=True)
    assert gone.actions()["CatalogSource own"] == "deleted"
    assert any("things.thing.example.com is not deleted: objects of its kind exist" in text for text in gone.warnings)
    assert any(f"Namespace {namespace} is not deleted: it still contains Thing one" in text for text in gone.warnings)
    assert kubectl("get", "things.thing.example.com", "one", f"--namespace={namespace}").returncode == 0
    forced = manage(namespace, state="absent", delete_crds=True, force=True)
    assert forced.actions()["Thing one"] == forced.actions()["CustomResourceDefinition things.thing.example.com"] == "deleted"
    assert left(kubectl, namespace) == []


def test_only_the_install_plan_that_was_approved_runs(catalog, namespace, kubectl, audit):
    """F005, in a namespace with a group of its own, which is adopted and stays."""
    group = {"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup", "metadata": {"name": "theirs", "namespace": namespace}}
    kubectl.apply({**group, "spec": {"targetNamespaces": [namespace]}})
    manual = {"approval": "Manual", "starting_csv": "thing.v1.0.0"}
    waits = manage(namespace, **manual)
    assert waits.actions()["OperatorGroup theirs"] == "unchanged"
    assert (waits.result["install_plan"]["phase"], waits.result["install_plan"]["approved"]) == ("RequiresApproval", False)
    assert "waits for approval; it installs thing.v1.0.0: approve it with approve: 1.0.0" in waits.message
    assert waits.message in " ".join(waits.warnings)
    plan = waits.result["install_plan"]["name"]

    predicted = manage(namespace, **manual, approve="1.0.0", check=True)
    assert predicted.actions()[f"InstallPlan {plan}"] == "updated"
    assert not kubectl.get("installplan", plan, namespace)["spec"]["approved"]
    wrong = manage(namespace, **manual, approve="1.1.0", wait_timeout=60, succeed=False)
    assert f"InstallPlan {plan} waits for approval; it installs thing.v1.0.0; approve is 1.1.0, which it does not install" in wrong.message
    assert not kubectl.get("installplan", plan, namespace)["spec"]["approved"]

    done = manage(namespace, **manual, approve="1.0.0")
    assert (done.result["csv"]["version"], done.actions()[f"InstallPlan {plan}"]) == ("1.0.0", "updated")
    with audit:
        assert not manage(namespace, **manual, approve="1.0.0").result["changed"]
    assert audit.writes() == []
    assert manage(namespace, **manual, approve="1.1.0").result["csv"]["version"] == "1.1.0"
    assert csvs(kubectl, namespace) == {"thing.v1.1.0": "Succeeded"}, "more was approved than was asked for"

    gone = manage(namespace, state="absent")
    assert {"OperatorGroup theirs", f"Namespace {namespace}"}.isdisjoint(gone.actions())
    assert kubectl.get("operatorgroup", "theirs", namespace)
    assert csvs(kubectl, namespace) == {}


def test_an_approval_that_is_withdrawn_before_the_plan_runs_is_not_given_again(catalog, namespace, kubectl):
    """Without OLM's catalog operator for a while, which would execute the plan at once."""
    manual = {"approval": "Manual", "starting_csv": "thing.v1.0.0"}
    plan = manage(namespace, **manual).result["install_plan"]["name"]

    def approved():
        return kubectl.get("installplan", plan, namespace)["spec"]["approved"]

    operator = ["deployment/catalog-operator", f"--namespace={NAMESPACE}"]
    kubectl("scale", *operator, "--replicas=0")
    try:
        eventually(lambda: not kubectl.list("pod", NAMESPACE, "app=catalog-operator"))
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(manage, namespace, **manual, approve="1.0.0", succeed=False)
            eventually(approved)
            withdrawn = json.dumps({"spec": {"approved": False}})
            kubectl("patch", f"installplan.{GROUP}", plan, f"--namespace={namespace}", "--type=merge", f"--patch={withdrawn}")
            failed = running.result()
        assert f"InstallPlan {plan} was approved by this task, but its approval was withdrawn" in failed.message
        assert not approved()
    finally:
        kubectl("scale", *operator, "--replicas=1")
        kubectl("rollout", "status", *operator, "--timeout=120s", timeout=130)
    assert manage(namespace, **manual, approve="1.0.0").result["csv"]["phase"] == "Succeeded"


def test_a_plan_that_installs_other_operators_is_approved_only_on_request(catalog, fresh, kubectl):
    namespace = fresh()
    manual = {"package": "leader", "approval": "Manual", "approve": "1.0.0"}
    refused = manage(namespace, **manual, succeed=False)
    assert "brings leader.v1.0.0, but also thing.v1.2.0, which does not belong to package leader" in refused.message
    assert csvs(kubectl, namespace) == {}
    done = manage(namespace, **manual, approve_others=True)
    assert done.result["csv"]["phase"] == "Succeeded"
    assert set(csvs(kubectl, namespace)) == {"leader.v1.0.0", "thing.v1.2.0"}
    gone = manage(namespace, package="leader", state="absent", delete_crds=True)
    assert gone.actions()["ClusterServiceVersion leader.v1.0.0"] == "deleted"
    assert set(csvs(kubectl, namespace)) == {"thing.v1.2.0"}
    assert {"OperatorGroup leader", f"Namespace {namespace}"}.isdisjoint(gone.actions())
    assert any(
        f"Namespace {namespace} is not deleted: it still contains ClusterServiceVersion thing.v1.2.0" in text for text in gone.warnings
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"package": "unknown"},
            "package is unknown, which CatalogSource olm/shared does not hold. Its packages: broken, imageless, leader",
        ),
        (
            {"channel": "beta"},
            "channel is beta, which package thing in CatalogSource olm/shared does not have. Its channels: candidate, stable",
        ),
        ({"starting_csv": "9.9.9"}, "starting_csv is 9.9.9, which channel stable of package thing does not hold. It holds: 1.2.0"),
        ({"upgrade": "version", "version": "9.9.9"}, "version is 9.9.9, which channel stable of package thing does not hold"),
        ({"source": "none"}, "there is no CatalogSource none in namespace olm. There are: olm/shared"),
        ({"source": None}, "source is missing; name the CatalogSource that contains package thing. There are: olm/shared"),
    ],
    ids=["package", "channel", "starting_csv", "version", "source", "no source"],
)
@pytest.mark.parametrize("check", [True, False], ids=["check", "run"])
def test_packages_and_versions_that_no_catalog_contains_are_rejected(catalog, kubectl, options, says, check):
    """Nothing is written, not even the namespace."""
    namespace = f"test-{uuid.uuid4().hex[:10]}"
    refused = manage(namespace, check=check, succeed=False, **{"wait_timeout": 8, **options})
    assert says in refused.message
    assert refused.actions() == {}
    assert kubectl("get", "namespace", namespace, check=False).returncode, "it was made for nothing"


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ({"a": ["x"], "b": None}, "has 2 OperatorGroups: a (for x), b (for all namespaces)"),
        ({"a": None}, "OperatorGroup a in namespace {0} is for all namespaces"),
        ({"a": ["x"]}, "watch_namespaces is for {0}, but OperatorGroup a in namespace {0} is for x"),
    ],
    ids=["two", "all namespaces", "another namespace"],
)
def test_operator_groups_that_do_not_fit_are_rejected(catalog, namespace, kubectl, groups, says):
    for name, targets in groups.items():
        group = {"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup", "metadata": {"name": name, "namespace": namespace}}
        kubectl.apply({**group, "spec": {"targetNamespaces": targets} if targets else {}})
    for check in (True, False):
        assert says.format(namespace) in manage(namespace, check=check, succeed=False).message
    assert len(kubectl.list("operatorgroup", namespace)) == len(groups)
    assert kubectl.list("subscription", namespace) == []


def test_another_installation_of_the_package_is_rejected(olm, catalog, fresh, namespace, kubectl):
    """Under another name, in another namespace, and when all that is left of that is its CSV."""
    here = fresh()
    manage(namespace, name="mine", watch_namespaces=[])
    assert f"is subscribed to in namespace {namespace} by Subscription mine already" in manage(namespace, succeed=False).message
    other = manage(namespace, package="leader", name="mine", succeed=False)
    assert f"Subscription mine in namespace {namespace} is for package thing, not leader" in other.message
    refused = manage(here, succeed=False)
    assert (
        f"package thing is subscribed to in namespace {namespace} already (Subscription mine, OperatorGroup mine for all" in refused.message
    )
    kubectl("delete", "subscriptions.operators.coreos.com", "mine", f"--namespace={namespace}")
    stuck = manage(here, succeed=False)
    assert f"ClusterServiceVersion thing.v1.2.0 is here only as a copy of the one in namespace {namespace}" in stuck.message


def test_the_examples_run_unchanged(olm, kubectl, own_cluster, play):
    """Red Hat's catalog is in the namespace that is for all catalogs here, as openshift-marketplace is on OpenShift"""
    ours, theirs = "osso-scheduler-operator", "openshift-secondary-scheduler-operator"
    olm.catalog(Package(ours, {"stable": [Bundle(ours)]}), name="osso/scheduler-catalog:1.0.0")
    versions = [Bundle(theirs, version) for version in ("1.5.1", "1.6.0")]
    olm.serve(olm.catalog(Package(theirs, {"stable": versions})), NAMESPACE, "redhat-operators")
    try:
        tasks = examples(PLUGINS / "modules/olm_operator.py")
        for task in tasks:
            arguments = task["osso.scheduler.olm_operator"]
            if arguments.get("source") == "redhat-operators":
                arguments["source_namespace"] = NAMESPACE
        with stands_in_for(own_cluster, "registry.example.com"):
            run = play(tasks)
        assert [task.status for task in run.tasks] == ["ok"] * len(tasks)
        assert left(kubectl, theirs, theirs) == []
    finally:
        kubectl("delete", "catalogsource", "redhat-operators", f"--namespace={NAMESPACE}")
        clear(olm, kubectl, [ours, theirs])


# What fails, and takes its time to.
FAILURES = {
    "dependency": (
        {"package": "needy", "wait_timeout": 60},
        ["Subscription needy: OLM cannot resolve it: ConstraintsNotSatisfiable", "nowhere"],
    ),
    "broken bundle": ({"package": "broken", "wait_timeout": 45}, ["Subscription broken: its bundle", "unpack"]),
    "bundle image": ({"package": "unpushed", "wait_timeout": 45}, ["Subscription unpushed: its bundle is being unpacked", "Pull"]),
    "requirements": ({"package": "picky", "wait_timeout": 45}, ["picky.v1.0.0 is Pending (RequirementsNotMet)", "minKubeVersion"]),
    "operator image": ({"package": "imageless", "wait_timeout": 45}, ["imageless.v1.0.0 is Installing", "registry.invalid/does/not:exist"]),
    "install mode": ({"package": "single", "wait_timeout": 60}, ["single.v1.0.0 is Failed (UnsupportedOperatorGroup)", "watch_namespaces"]),
    "catalog image": (
        {"source": "own", "source_namespace": None, "catalog": {"image": "registry.invalid/no/catalog:1"}, "wait_timeout": 30},
        ["Will not become ready. CatalogSource", "registry.invalid/no/catalog:1", "Pull"],
    ),
}


def until_told(namespace, says, options):
    """The message, once OLM is so far that it says what is expected: on a busy machine that takes longer than one task waits."""
    for _attempt in range(6):
        message = manage(namespace, succeed=False, **options).message
        if all(part in message for part in says):
            break
    return message


@pytest.fixture(scope="module")
def failures(olm, kubectl, catalog):
    """The failures, side by side, each in a namespace of its own."""
    names = {case: f"test-{uuid.uuid4().hex[:10]}" for case in FAILURES}
    with ThreadPoolExecutor(max_workers=len(FAILURES)) as together:
        yield {case: together.submit(until_told, names[case], says, options) for case, (options, says) in FAILURES.items()}
    clear(olm, kubectl, list(names.values()))


@pytest.mark.parametrize("case", FAILURES)
def test_the_error_names_the_stuck_object_of_olm_and_its_reason(failures, case):
    """F007"""
    message = failures[case].result()
    for part in FAILURES[case][1]:
        assert part in message
