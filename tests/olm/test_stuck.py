# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""olm_operator with a real OLM where an operator is installed and OLM does not get any further (F007): the reason, in time, and the remedy.

The upgrades fail side by side. Each package has its own CRD, so each case has its own package.
"""

from __future__ import annotations

import json
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.direct_module import run_directly
from support.olm import GROUP, NAMESPACE, Bundle, Package
from support.scheduler import eventually

pytestmark = pytest.mark.long

SOURCE = "stuck"
CRD = "customresourcedefinitions.apiextensions.k8s.io"
BUSYBOX = "registry.k8s.io/busybox:1"
TIMEOUT = 240  # seconds; a reason takes much less


def upgraded_crd(package: str, scope: str = "Namespaced", required: tuple[str, ...] = ()) -> dict[str, str]:
    crd = json.loads(Bundle(package).contents("")["manifests/crd.yaml"])
    crd["spec"]["scope"] = scope
    if required:
        fields = {"type": "object", "required": list(required), "properties": {name: {"type": "integer"} for name in required}}
        schema = {"type": "object", "properties": {"spec": fields}}
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    return {"manifests/crd.yaml": json.dumps(crd)}


# package -> its second version
UPGRADES = {
    "strict": Bundle("strict", "1.1.0", files=upgraded_crd("strict", required=("size",))),
    "scoped": Bundle("scoped", "1.1.0", files=upgraded_crd("scoped", scope="Cluster")),
    "crashing": Bundle("crashing", "1.1.0", image=BUSYBOX, command=["sh", "-c", "echo no license; exit 3"]),
    "unpullable": Bundle("unpullable", "1.1.0", image="registry.invalid/does/not:exist"),
}
# package -> parts of the message
REASONS = {
    "strict": ["InstallPlan ", "updated validation is too restrictive", "correct the object that it names", "state: absent"],
    "scoped": ["InstallPlan ", "spec.scope", "field is immutable", "state: absent"],
    "crashing": ["ClusterServiceVersion crashing.v1.1.0 is ", "exit code 3", "Deployment crashing"],
    "unpullable": ["ClusterServiceVersion unpullable.v1.1.0 is ", "registry.invalid/does/not:exist", "Pull"],
}
THINGS = [Bundle("manual", version) for version in ("1.0.0", "1.1.0", "1.2.0")]
# package -> seconds until it crashes: before OLM has noticed that it is available, and after
FLASHES = {"flash": 1, "late": 8}


def manage(namespace, package, **options):
    where = {} if options.get("state") == "absent" else {"source": SOURCE, "source_namespace": NAMESPACE}
    return run_directly("olm_operator", package=package, namespace=namespace, **{"wait_timeout": TIMEOUT, **where, **options})


@pytest.fixture(scope="module")
def catalog(olm, kubectl):
    packages = [Package(name, {"stable": [Bundle(name), bundle]}) for name, bundle in UPGRADES.items()]
    packages += [Package("manual", {"stable": THINGS})]
    packages += [
        Package(name, {"stable": [Bundle(name, image=BUSYBOX, command=["sh", "-c", f"sleep {seconds}; exit 4"])]})
        for name, seconds in FLASHES.items()
    ]
    packages += [Package(name, {"stable": [Bundle(name)]}) for name in ("plain", "other")]
    olm.serve(olm.catalog(*packages), NAMESPACE, SOURCE)
    yield
    kubectl("delete", "catalogsource", SOURCE, f"--namespace={NAMESPACE}")


def thing(package, namespace):
    return {"apiVersion": f"{package}.example.com/v1", "kind": "Thing", "metadata": {"name": "one", "namespace": namespace}, "spec": {}}


@pytest.fixture(scope="module")
def stuck(olm, catalog, kubectl):
    """package -> (namespace, the failed upgrade, seconds that it took)."""
    names = {package: f"test-{uuid.uuid4().hex[:10]}" for package in UPGRADES}

    def upgrade(package):
        namespace = names[package]
        manage(namespace, package, upgrade="none", starting_csv="1.0.0")
        kubectl.apply(thing(package, namespace))
        started = time.monotonic()
        failed = manage(namespace, package, succeed=False)
        return namespace, failed, time.monotonic() - started

    with ThreadPoolExecutor(max_workers=len(names)) as together:
        yield {package: together.submit(upgrade, package) for package in names}
    olm.clear(*names.values())
    kubectl("delete", "namespace", *names.values(), "--wait=false", "--ignore-not-found")


@pytest.mark.parametrize("package", UPGRADES)
def test_the_reason_of_a_stuck_upgrade_is_reported_before_the_timeout(stuck, package):
    _namespace, failed, seconds = stuck[package].result()
    for part in REASONS[package]:
        assert part in failed.message
    assert "is not referenced by a subscription" not in failed.message
    assert "ServiceAccount" not in failed.message
    assert seconds < TIMEOUT / 2, "it waited for its timeout"


def test_the_remedy_of_the_message_repairs_a_stuck_upgrade(stuck, kubectl):
    """as the message says: correct the object, remove the operator, whose resources stay, and install it again"""
    namespace, failed, _seconds = stuck["strict"].result()
    assert "remove the operator with state: absent, its custom resources stay, and install it again" in failed.message
    kubectl.apply({**thing("strict", namespace), "spec": {"size": 1}})
    manage(namespace, "strict", state="absent")
    done = manage(namespace, "strict")
    assert (done.result["csv"]["version"], done.result["csv"]["phase"]) == ("1.1.0", "Succeeded")
    assert kubectl.json("get", "things.strict.example.com", "one", f"--namespace={namespace}")["spec"] == {"size": 1}


def test_the_remedy_of_the_message_reinstalls_the_version_before_a_crashing_one(stuck):
    namespace, failed, _seconds = stuck["crashing"].result()
    assert "install it again with starting_csv: crashing.v1.0.0 and upgrade: none" in failed.message.replace(
        "custom resources stay, and ", ""
    )
    manage(namespace, "crashing", state="absent")
    done = manage(namespace, "crashing", starting_csv="crashing.v1.0.0", upgrade="none")
    assert (done.result["csv"]["version"], done.result["csv"]["phase"]) == ("1.0.0", "Succeeded")


def test_an_operator_can_be_removed_and_installed_again_at_once(catalog, namespace):
    """OLM takes an InstallPlan that is left for that of the new Subscription, and then never creates the CSV again."""
    manage(namespace, "other")
    for _attempt in range(2):
        assert manage(namespace, "plain").result["csv"]["phase"] == "Succeeded"
        manage(namespace, "plain", state="absent")


def test_a_csv_that_was_deleted_is_reported_before_the_timeout(catalog, namespace, kubectl, audit):
    manage(namespace, "plain")
    kubectl("delete", f"clusterserviceversions.{GROUP}", "plain.v1.0.0", f"--namespace={namespace}")
    with audit:
        checked = manage(namespace, "plain", check=True, succeed=False)
    assert audit.writes() == []
    started = time.monotonic()
    failed = manage(namespace, "plain", succeed=False)
    assert time.monotonic() - started < TIMEOUT / 2, "it waited for its timeout"
    for run in (checked, failed):
        assert "its ClusterServiceVersion plain.v1.0.0 was deleted, and OLM does not create it again" in run.message
        assert "is installed" not in run.message
    manage(namespace, "plain", state="absent")
    assert manage(namespace, "plain").result["csv"]["phase"] == "Succeeded"


def test_a_csv_that_failed_because_of_a_deleted_second_group_is_reported(catalog, namespace, kubectl, olm):
    manage(namespace, "plain")
    group = {"apiVersion": f"{GROUP}/v1", "kind": "OperatorGroup", "metadata": {"name": "second", "namespace": namespace}}
    kubectl.apply({**group, "spec": {"targetNamespaces": [namespace]}})
    olm.await_phase("plain.v1.0.0", namespace, "Failed")
    kubectl("delete", f"operatorgroups.{GROUP}", "second", f"--namespace={namespace}")
    run = manage(namespace, "plain", succeed=None)
    if run.failed:  # OLM may have checked again by chance.
        assert "plain.v1.0.0 is Failed (TooManyOperatorGroups)" in run.message
        assert "at once when the ClusterServiceVersion gets any annotation" in run.message
    kubectl("annotate", f"clusterserviceversions.{GROUP}", "plain.v1.0.0", f"--namespace={namespace}", "check=again")
    assert manage(namespace, "plain").result["csv"]["phase"] == "Succeeded"


def test_a_plan_that_waits_behind_an_installed_version_is_reported(catalog, namespace, kubectl, audit):
    manual = {"approval": "Manual", "starting_csv": "manual.v1.0.0"}
    manage(namespace, "manual", **manual, approve="1.0.0")

    def offered():
        return {one["spec"]["clusterServiceVersionNames"][0] for one in kubectl.list("installplan", namespace)} >= {"manual.v1.1.0"}

    eventually(offered, within=120)
    for check in (False, True):
        with audit:
            told = manage(namespace, "manual", approval="Manual", check=check)
        assert audit.writes() == []
        assert "manual.v1.0.0 is installed in namespace" in told.message
        assert "waits for approval; it installs manual.v1.1.0: approve it with approve: 1.1.0" in told.message
        assert told.message in " ".join(told.warnings)
        assert told.result["upgrade"] == "1.1.0"
        unknown = manage(namespace, "manual", approval="Manual", approve="9.9.9", check=check, succeed=False)
        assert "approve is 9.9.9, which channel stable of package manual does not hold" in unknown.message
        unknown = manage(namespace, "manual", upgrade="version", version="9.9.9", check=check, succeed=False)
        assert "version is 9.9.9, which channel stable of package manual does not hold" in unknown.message


def test_a_catalog_image_that_cannot_be_pulled_is_reported(olm, catalog, namespace, kubectl):
    """a new one, and the next image of one that works"""
    image = olm.catalog(Package("plain", {"stable": [Bundle("plain")]}))

    def seconds(image):
        where = {"source": "own", "source_namespace": None, "catalog": {"image": image, "security_context_config": "restricted"}}
        started = time.monotonic()
        run = manage(namespace, "plain", **where, succeed=None)
        return run, time.monotonic() - started

    for _attempt in range(2):
        failed, took = seconds("registry.invalid/no/catalog:1")
        assert failed.failed
        for part in ("CatalogSource", "registry.invalid/no/catalog:1", "Pull", "Correct catalog.image"):
            assert part in failed.message
        assert took < 60, "it waited for its timeout"
        done, _took = seconds(image)
        assert done.result["csv"]["phase"] == "Succeeded", done.message


@pytest.mark.parametrize("package", FLASHES)
def test_an_operator_that_crashes_soon_is_not_reported_as_installed(catalog, namespace, package):
    started = time.monotonic()
    assert "exit code 4" in manage(namespace, package, succeed=False).message
    assert time.monotonic() - started < TIMEOUT, "it waited for its timeout"
    # Between two crashes, too
    assert "exit code 4" in manage(namespace, package, wait_timeout=20, succeed=False).message


def test_a_crd_that_existed_before_stays(catalog, namespace, kubectl):
    """Its objects stay, too, whether the installation succeeds or not."""
    crd = json.loads(upgraded_crd("plain")["manifests/crd.yaml"])
    kubectl.apply(crd)
    try:
        kubectl("wait", "--for=condition=Established", f"{CRD}/{crd['metadata']['name']}")
        kubectl.apply(thing("plain", namespace))
        manage(namespace, "plain")
        gone = manage(namespace, "plain", state="absent", delete_crds=True, force=True)
        assert any("existed before OLM installed the operator (field manager kubectl)" in text for text in gone.warnings)
        assert kubectl.json("get", "things.plain.example.com", "one", f"--namespace={namespace}")
    finally:
        kubectl("delete", CRD, crd["metadata"]["name"])
