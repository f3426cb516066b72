# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""olm_operator with state: prepared and a real OLM: what it proves, and that a failure leaves nothing behind."""

from __future__ import annotations

import json
import uuid

import pytest
from support.direct_module import run_directly
from support.kinds import delete_kinds, established
from support.olm import GROUP, NAMESPACE, Bundle, Package

SOURCE = "preparing"


def definition(package: str, scope: str = "Namespaced", spec: dict | None = None) -> dict:
    """The CRD of a test operator, with another scope, or with a schema for spec."""
    crd = json.loads(Bundle(package).contents("")["manifests/crd.yaml"])
    crd["spec"]["scope"] = scope
    if spec:
        schema = {"type": "object", "properties": {"spec": {"type": "object", **spec}}}
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    return crd


def with_definition(package: str, **changes) -> Bundle:
    return Bundle(package, files={"manifests/crd.yaml": json.dumps(definition(package, **changes))})


BUNDLES = [
    Bundle("fitting"),
    Bundle("unpullable", pushed=False),
    with_definition("strict", spec={"required": ["size"]}),
    with_definition("scoped", scope="Cluster"),
]
# What fails: the options, and what the message says of it
FAILURES = {
    "channel": ({"package": "fitting", "channel": "fast"}, ["channel is fast, which package fitting", "Its channels: stable"]),
    "version": (
        {"package": "fitting", "upgrade": "version", "version": "7.0.0"},
        ["version is 7.0.0, which channel stable of package fitting does not hold"],
    ),
    "catalog": (
        {"package": "fitting", "source": "own", "source_namespace": None, "catalog": {"image": "registry.invalid/misspelt:1"}},
        ["registry.invalid/misspelt:1", "Pull", "Correct catalog.image"],
    ),
    "bundle": ({"package": "unpullable"}, ["Subscription unpullable: its bundle", "Pull"]),
    "schema": (
        {"package": "strict"},
        ["strict.v1.0.0 cannot be installed: existing objects are not valid by", "things.strict.example.com", "/one: spec.size is missing"],
    ),
    "scope": ({"package": "scoped"}, ["scoped.v1.0.0 cannot be installed", "cannot replace the existing one", "spec.scope", "immutable"]),
}


@pytest.fixture(scope="module")
def catalog(olm, kubectl):
    olm.serve(olm.catalog(*(Package(bundle.package, {"stable": [bundle]}) for bundle in BUNDLES)), NAMESPACE, SOURCE)
    yield
    kubectl("delete", "catalogsource", SOURCE, f"--namespace={NAMESPACE}")


@pytest.fixture
def existing(kubectl, namespace):
    """Objects of the kinds `strict` and `scoped`, as an installation without OLM has made them."""
    definitions = [definition(package) for package in ("strict", "scoped")]
    for crd in definitions:
        kubectl.apply(crd)
        established(kubectl, crd["metadata"]["name"])
        api_version = f"{crd['spec']['group']}/v1"
        kubectl.apply({"apiVersion": api_version, "kind": "Thing", "metadata": {"name": "one", "namespace": namespace}, "spec": {}})
    yield
    delete_kinds(kubectl, *(crd["metadata"]["name"] for crd in definitions))


def manage(namespace, **options):
    return run_directly(
        "olm_operator", namespace=namespace, **{"source": SOURCE, "source_namespace": NAMESPACE, "wait_timeout": 240, **options}
    )


def of_olm(kubectl, namespace) -> list[str]:
    """What OLM has for a namespace."""
    kinds = ("subscriptions", "clusterserviceversions", "installplans", "catalogsources", "operatorgroups")
    names = ",".join(f"{kind}.{GROUP}" for kind in kinds)
    found = kubectl("get", names, f"--namespace={namespace}", "--output=name").stdout.split()
    records = kubectl("get", f"operators.{GROUP}", "--output=name").stdout.split()
    return found + [name for name in records if name.endswith(f".{namespace}")]


@pytest.mark.long
def test_a_prepared_operator_is_installed_by_the_next_task(catalog, namespace, kubectl, audit):
    ready = manage(namespace, package="fitting", state="prepared")
    assert "fitting.v1.0.0 can be installed: InstallPlan install-" in ready.message
    assert ready.result["subscription"]["approval"] == "Manual"
    assert kubectl.list("clusterserviceversion", namespace) == kubectl.list("deployment", namespace) == []
    with audit:
        again = manage(namespace, package="fitting", state="prepared")
    assert (again.result["changed"], audit.writes()) == (False, [])
    done = manage(namespace, package="fitting")
    assert (done.result["csv"]["phase"], done.result["subscription"]["approval"]) == ("Succeeded", "Automatic")
    manage(namespace, package="fitting", state="absent", delete_crds=True)


@pytest.mark.long
@pytest.mark.parametrize("case", FAILURES)
def test_a_failed_preparation_leaves_nothing(catalog, existing, namespace, kubectl, case):
    options, says = FAILURES[case]
    before = kubectl.json("get", "customresourcedefinitions")["items"]
    failed = manage(namespace, state="prepared", succeed=False, **options)
    for part in says:
        assert part in failed.message
    assert of_olm(kubectl, namespace) == []
    assert set(failed.actions().values()) <= {"unchanged"}
    assert not failed.result["changed"]
    after = kubectl.json("get", "customresourcedefinitions")["items"]
    assert [one["metadata"]["generation"] for one in after] == [one["metadata"]["generation"] for one in before]


@pytest.mark.parametrize("check", [True, False], ids=["check", "run"])
def test_a_catalog_named_like_a_service_account_is_rejected(olm, namespace, kubectl, audit, check):
    """OLM would wait for ever for an account that is the catalog's alone."""
    kubectl("create", "serviceaccount", "taken", f"--namespace={namespace}")
    options = {"package": "fitting", "source": "taken", "source_namespace": None, "catalog": {"image": "registry.invalid/any:1"}}
    with audit:
        refused = manage(namespace, state="prepared", check=check, succeed=False, **options)
    assert f"source is taken, but namespace {namespace} has a ServiceAccount of this name already" in refused.message
    assert audit.writes() == []


def test_a_catalog_that_does_not_exist_yet_is_not_verified_in_check_mode(olm, audit):
    options = {"package": "fitting", "source": "own", "source_namespace": None, "catalog": {"image": "registry.invalid/misspelt:1"}}
    with audit:
        predicted = manage(f"test-{uuid.uuid4().hex[:10]}", state="prepared", check=True, **options)
    assert audit.writes() == []
    (warning,) = predicted.warnings
    assert "does not exist yet, so its image, and the package, channel, version and bundle in it, are not verified" in warning
