# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What olm_operator reports of states that OLM leaves (F007), from its objects alone: kinds without a controller, statuses as OLM 0.45 writes them.

tests/olm/test_stuck.py has the same module with a real OLM.
"""

from __future__ import annotations

import json
import time
import uuid
from urllib.parse import urlsplit

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps
from support.access import service_account
from support.direct_module import run_directly
from support.fault_proxy import FaultProxy
from support.kinds import delete_kinds, established
from support.scheduler import eventually
from support.site import NAMESPACE

GROUP, PACKAGES = "operators.coreos.com", "packages.operators.coreos.com"
KINDS = {
    "Subscription": f"{GROUP}/v1alpha1",
    "ClusterServiceVersion": f"{GROUP}/v1alpha1",
    "InstallPlan": f"{GROUP}/v1alpha1",
    "CatalogSource": f"{GROUP}/v1alpha1",
    "OperatorGroup": f"{GROUP}/v1",
    "PackageManifest": f"{PACKAGES}/v1",
}
VERSIONS = ("1.0.0", "1.1.0", "1.2.0")
LONG_AGO = "2020-01-01T00:00:00Z"


def definition(kind):
    group, _slash, version = KINDS[kind].partition("/")
    plural = kind.lower() + "s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "listKind": kind + "List", "plural": plural, "singular": kind.lower()},
            "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


@pytest.fixture(scope="module", autouse=True)
def olm_kinds(kubectl):
    """OLM's kinds. Other files expect a cluster without OLM: so not after this one."""
    made = [definition(kind) for kind in KINDS]
    names = [one["metadata"]["name"] for one in made]
    kubectl.apply(*made)
    established(kubectl, *names)
    eventually(lambda: _served(kubectl) == {GROUP, PACKAGES})
    yield
    delete_kinds(kubectl, *names)
    eventually(lambda: not _served(kubectl))


def _served(kubectl) -> set:
    """the API server lists OLM's API groups"""
    return {line.partition("/")[0] for line in kubectl("api-versions").stdout.split()} & {GROUP, PACKAGES}


@pytest.fixture
def namespace(kubectl) -> str:
    name = f"olm-{uuid.uuid4().hex[:8]}"
    kubectl("create", "namespace", name)
    yield name
    kubectl("delete", "namespace", name, "--wait=false")


def thing(kind, name, namespace, **content):
    return {"apiVersion": KINDS[kind], "kind": kind, "metadata": {"name": name, "namespace": namespace}, **content}


def csv(namespace, version="1.0.0", phase="Succeeded", reason="", message="", **spec):
    status = {"phase": phase, "reason": reason, "message": message}
    return thing("ClusterServiceVersion", f"demo.v{version}", namespace, spec={"version": version, **spec}, status=status)


def plan(namespace, version, approved=False, phase="RequiresApproval"):
    spec = {"approved": approved, "clusterServiceVersionNames": [f"demo.v{version}"], "approval": "Manual", "generation": 1}
    return thing("InstallPlan", f"install-{version}", namespace, spec=spec, status={"phase": phase})


def packages(namespace, *names):
    """The PackageManifests of a catalog with these packages."""
    entries = [{"name": f"demo.v{version}", "version": version} for version in reversed(VERSIONS)]
    channel = {"name": "stable", "currentCSV": entries[0]["name"], "entries": entries}
    found = [
        thing(
            "PackageManifest",
            name,
            namespace,
            status={
                "packageName": name,
                "catalogSource": "cat",
                "catalogSourceNamespace": namespace,
                "defaultChannel": "stable",
                "channels": [channel],
            },
        )
        for name in names
    ]
    for one in found:
        one["metadata"]["labels"] = {"catalog": "cat", "catalog-namespace": namespace}
    return found


def catalog(namespace, connected=LONG_AGO):
    connection = {"lastObservedState": "READY", "lastConnect": connected}
    return thing("CatalogSource", "cat", namespace, spec={"sourceType": "grpc", "image": "a/b:c"}, status={"connectionState": connection})


def subscription(namespace, approval="Automatic", **status):
    wanted = {"name": "demo", "source": "cat", "sourceNamespace": namespace, "channel": "stable", "installPlanApproval": approval}
    return thing("Subscription", "demo", namespace, spec=wanted, status=status)


def group(namespace, name="group"):
    return thing("OperatorGroup", name, namespace, spec={"targetNamespaces": [namespace]})


def installed(namespace, *more, head="1.0.0", approval="Automatic", **status):
    """The objects of an installation of 1.0.0, without the CSV."""
    name = "demo.v1.0.0"
    told = {"installedCSV": name, "currentCSV": name, "state": "AtLatestKnown", **status}
    return [group(namespace), catalog(namespace), *packages(namespace, "demo"), subscription(namespace, approval, **told), *more]


def manage(namespace, **options):
    return run_directly("olm_operator", **{"package": "demo", "namespace": namespace, "source": "cat", "wait_timeout": 60, **options})


@pytest.mark.parametrize(
    ("phase", "reason", "message"),
    [("", "", ""), ("Failed", "ComponentUnhealthy", "installing: waiting for deployment demo to become ready")],
)
def test_a_csv_that_did_not_succeed_is_not_called_installed(kubectl, namespace, phase, reason, message):
    kubectl.apply(*installed(namespace, csv(namespace, phase=phase, reason=reason, message=message)))
    for options in ({"check": True}, {"wait": False}):
        run = manage(namespace, **options)
        assert f"demo is not installed in namespace {namespace} yet: ClusterServiceVersion demo.v1.0.0 is {phase or 'new'}" in run.message
        assert f"({reason}): {message}." in run.message or not phase
        assert "demo.v1.0.0 is installed" not in run.message + "".join(run.warnings)
        assert (run.message in run.warnings) is bool(options.get("check") or phase)


def test_a_csv_that_succeeded_is_called_installed_without_a_warning(kubectl, namespace):
    kubectl.apply(*installed(namespace, csv(namespace)))
    for options in ({"check": True}, {"wait": False}):
        run = manage(namespace, **options)
        assert run.message == f"demo.v1.0.0 is installed in namespace {namespace}."
        assert run.warnings == []


def test_a_csv_that_is_being_deleted_is_not_called_installed(kubectl, namespace):
    going = csv(namespace)
    going["metadata"]["finalizers"] = ["example.com/held"]
    kubectl.apply(*installed(namespace, going))
    kubectl("delete", "clusterserviceversion", "demo.v1.0.0", f"--namespace={namespace}", "--wait=false")
    try:
        for options in ({"check": True}, {"wait": False}):
            run = manage(namespace, **options)
            assert "ClusterServiceVersion demo.v1.0.0 is being deleted" in run.message
            assert "is installed" not in run.message + "".join(run.warnings)
    finally:
        patch = '{"metadata": {"finalizers": null}}'
        kubectl("patch", "clusterserviceversion", "demo.v1.0.0", f"--namespace={namespace}", "--type=merge", f"--patch={patch}")


def test_a_csv_that_is_only_a_copy_or_missing_is_not_called_installed(kubectl, namespace):
    kubectl.apply(*installed(namespace))
    run = manage(namespace, wait=False)
    assert "ClusterServiceVersion demo.v1.0.0 does not exist" in run.message
    copied = csv(namespace, reason="Copied")
    copied["metadata"]["labels"] = {"olm.copiedFrom": "elsewhere"}
    kubectl.apply(copied)
    for options in ({"check": True}, {"wait": False}):
        run = manage(namespace, **options)
        assert "ClusterServiceVersion demo.v1.0.0 is here only as a copy of the one in namespace elsewhere" in run.message
        assert "is installed" not in run.message + "".join(run.warnings)


def test_an_operator_between_two_crashes_is_not_installed(kubectl, namespace):
    labels = {"app": "demo"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "operator", "image": "a/b:c"}]}}
    deployment = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    there = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "demo", "namespace": namespace}, "spec": deployment}
    install = {"strategy": "deployment", "spec": {"deployments": [{"name": "demo", "spec": deployment}]}}
    kubectl.apply(*installed(namespace, csv(namespace, install=install), there))
    (pod,) = eventually(lambda: kubectl.list("pod", namespace))

    def started(when):
        container = {"name": "operator", "image": "a/b:c", "imageID": "", "restartCount": 2, "ready": True, "started": True}
        container["state"] = {"running": {"startedAt": when}}
        container["lastState"] = {"terminated": {"exitCode": 3, "reason": "Error", "startedAt": when, "finishedAt": when}}
        conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": when}]
        told = {"phase": "Running", "conditions": conditions, "containerStatuses": [container]}
        kubectl.report("pod", pod["metadata"]["name"], told, namespace)
        eventually(lambda: kubectl.get("deployment", "demo", namespace)["status"].get("availableReplicas"))

    started(timestamps.now())
    # Whether it is the version that was asked for, or the newest that OLM can install
    for upgrade in ("none", "channel"):
        failed = manage(namespace, upgrade=upgrade, force=True, wait_timeout=2, succeed=False)
        assert "container operator was restarted 2 times, the last time less than 60 s ago" in failed.message
        assert "exit code 3" in failed.message
    started(LONG_AGO)
    assert manage(namespace, upgrade="none", force=True).message == f"demo.v1.0.0 is installed in namespace {namespace}."


def test_the_next_version_is_not_known_before_its_plan_is_written(kubectl, namespace):
    """OLM upgrades step by step, and a PackageManifest does not list which version replaces which."""
    kubectl.apply(*installed(namespace, csv(namespace), approval="Manual"))
    for options in ({"check": True}, {}):
        run = manage(namespace, approval="Manual", **options)
        assert run.result["upgrade"] is None
        assert "Channel stable offers 1.1.0, 1.2.0, and OLM upgrades step by step: run again when OLM has written" in run.message
    kubectl.apply(*installed(namespace, csv(namespace, "1.1.0"), approval="Manual", installedCSV="demo.v1.1.0", currentCSV="demo.v1.1.0"))
    assert manage(namespace, approval="Manual").result["upgrade"] == "1.2.0"


def test_an_earlier_version_that_has_to_be_approved_first_is_named(kubectl, namespace):
    waiting = {"currentCSV": "demo.v1.1.0", "state": "UpgradePending", "installPlanRef": {"name": "install-1.1.0"}}
    kubectl.apply(*installed(namespace, csv(namespace), plan(namespace, "1.1.0"), approval="Manual", **waiting))
    assert manage(namespace, approval="Manual").result["upgrade"] == "1.1.0"
    for options in ({"check": True}, {}):
        started = time.monotonic()
        failed = manage(namespace, approval="Manual", approve="1.2.0", succeed=False, **options)
        for part in ("InstallPlan install-1.1.0 waits", "set approve: 1.1.0 first, and approve: 1.2.0 when its InstallPlan waits."):
            assert part in failed.message
        assert time.monotonic() - started < 45, "it waited, although OLM writes no other plan"


def test_an_operator_whose_subscription_was_deleted_is_removed_first(kubectl, namespace):
    """OLM connects no new Subscription with a CSV that is there, so nothing is written that could only fail."""
    orphan = csv(namespace)
    orphan["metadata"]["labels"] = {f"operators.coreos.com/demo.{namespace}": ""}
    kubectl.apply(group(namespace), catalog(namespace), *packages(namespace, "demo"), orphan)
    for options in ({"check": True}, {}, {"state": "prepared"}):
        failed = manage(namespace, succeed=False, **options)
        assert "ClusterServiceVersion demo.v1.0.0 of package demo is there: its Subscription was deleted" in failed.message
        assert "remove the operator with state: absent" in failed.message
        assert kubectl("get", "subscriptions", f"--namespace={namespace}", "--output=name").stdout == ""
    manage(namespace, state="absent")
    assert kubectl("get", "clusterserviceversions", f"--namespace={namespace}", "--output=name").stdout == ""


def test_a_misspelt_package_of_a_new_catalog_is_reported_at_once(kubectl, namespace):
    kubectl.apply(group(namespace), catalog(namespace, timestamps.now()), *packages(namespace, "demo"))
    started = time.monotonic()
    failed = manage(namespace, package="dmeo", succeed=False)
    assert "did you mean demo?" in failed.message
    assert time.monotonic() - started < 45, "it waited as long as a catalog counts as new"


class PackageServer(FaultProxy):
    """Lists a package of each of several catalogs in one namespace, as OLM's package server does; objects of one name cannot be stored there."""

    catalogs = ("one",)

    def answer(self, method, path, headers, body):
        if urlsplit(path).path != f"/apis/{PACKAGES}/v1/namespaces/{NAMESPACE}/packagemanifests":
            return None
        listed = [packages(NAMESPACE, "osso-scheduler-operator")[0] for _catalog in self.catalogs]
        for package, name in zip(listed, self.catalogs, strict=True):
            package["status"]["catalogSource"] = name
        return 200, {}, {"apiVersion": KINDS["PackageManifest"], "kind": "PackageManifestList", "metadata": {}, "items": listed}


ALL = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}


@pytest.mark.parametrize("catalogs", [("one",), ("one", "two")])
def test_a_package_in_two_catalogs_is_an_error_without_a_write(play, kubectl, namespace, own_cluster, audit, tmp_path, catalogs):
    kubeconfig = tmp_path / "kubeconfig"
    role = {"ansible.builtin.import_role": {"name": "osso.scheduler.operator"}}
    with PackageServer(own_cluster) as proxy, service_account(kubectl, namespace, ALL, everywhere=True) as robot:
        proxy.catalogs = catalogs
        robot["kubeconfig"]["clusters"][0]["cluster"]["server"] = proxy.url
        kubeconfig.write_text(json.dumps(robot["kubeconfig"]))
        with audit:
            run = play(
                [role], variables={"operator_method": "olm"}, env={"KUBECONFIG": str(kubeconfig)}, check=len(catalogs) == 1, succeed=False
            )
    failure = run.task("Fail if several catalogs contain the package")
    if len(catalogs) == 1:
        assert failure.status == "skipped"
    else:
        assert run.failures == [failure]
        assert f"is in more than one catalog: {NAMESPACE}/one, {NAMESPACE}/two. Say which with" in failure.result["msg"]
        assert audit.writes() == []
