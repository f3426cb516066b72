# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role operator moves from manifests to a real OLM and back, while the scheduler serves on. The tests follow each other."""

from __future__ import annotations

import json

import pytest
from support.olm import GROUP, Bundle, Package
from support.pod_stream import PodStream
from support.scheduler import Scheduler, eventually
from support.site import NAMESPACE, RESOURCE, gone

pytestmark = pytest.mark.long

DEPLOYMENT = "osso-scheduler-operator"


def installed_by(kubectl) -> str:
    labels = kubectl.json("get", "deployment", DEPLOYMENT, f"--namespace={NAMESPACE}")["metadata"]["labels"]
    return "olm" if "olm.owner" in labels else "manifests"


def of_olm(kubectl) -> list[str]:
    """What OLM has in the operator's namespace."""
    kinds = ",".join(f"{kind}.{GROUP}" for kind in ("subscriptions", "clusterserviceversions", "catalogsources", "operatorgroups"))
    return kubectl("get", kinds, f"--namespace={NAMESPACE}", "--output=name").stdout.split()


# What it needs where it watches all namespaces; a bundle holds it for every way to watch.
FOR_ALL_NAMESPACES = {("rbac.authorization.k8s.io", "clusterrolebindings", "watch", None)}


class Parts:
    """What an installation comes to, in a form that does not depend on the method."""

    def __init__(self, kubectl):
        self.definition = kubectl.json("get", "customresourcedefinition", RESOURCE)["spec"]
        deployment = kubectl.json("get", "deployment", DEPLOYMENT, f"--namespace={NAMESPACE}")
        self.deployment = normalised(deployment)
        account = {"kind": "ServiceAccount", "name": DEPLOYMENT, "namespace": NAMESPACE}
        self.rules = {"cluster": set(), NAMESPACE: set()}
        for kind in ("clusterrolebindings", "rolebindings"):
            for binding in kubectl.json("get", f"{kind}.rbac.authorization.k8s.io", "--all-namespaces")["items"]:
                if account in [{key: subject.get(key) for key in account} for subject in binding.get("subjects") or []]:
                    self._add(kubectl, binding)
        # By OLM there are none for one other namespace alone, so those for kube-system are for all.
        self.rules["cluster"] |= self.rules.pop("kube-system", set())

    def _add(self, kubectl, binding):
        namespace = binding["metadata"].get("namespace")
        where = [f"--namespace={namespace}"] if binding["roleRef"]["kind"] == "Role" else []
        role = kubectl.json("get", f"{binding['roleRef']['kind']}.rbac.authorization.k8s.io".lower(), binding["roleRef"]["name"], *where)
        found = self.rules.setdefault(namespace or "cluster", set())
        for rule in role["rules"]:
            found.update(
                (group, resource, verb, name)
                for group in rule["apiGroups"]
                for resource in rule["resources"]
                for verb in rule["verbs"]
                for name in rule.get("resourceNames") or [None]
            )


def normalised(deployment) -> dict:
    """A Deployment's labels and spec without what OLM adds, and without how it is told what to watch."""
    spec = json.loads(json.dumps(deployment["spec"]))
    template = spec["template"]
    template["metadata"]["annotations"] = {"openshift.io/required-scc": template["metadata"]["annotations"]["openshift.io/required-scc"]}
    # OLM names its record of former versions otherwise than the API server's default.
    spec.pop("revisionHistoryLimit")
    (container,) = template["spec"]["containers"]
    told = {entry["name"]: entry for entry in container.pop("env")}
    # OLM tells each operator its own name; whether the cluster is OpenShift is not known when a bundle is made.
    told.pop("OPERATOR_CONDITION_NAME", None)
    told.pop("SCHEDULER_USER", None)
    assert list(told) == ["WATCH_NAMESPACE"]
    labels = {key: value for key, value in deployment["metadata"]["labels"].items() if key.startswith("app.kubernetes.io/")}
    return {"labels": labels, "spec": spec}


@pytest.fixture(scope="module")
def manifests(role, by_manifests, kubectl):
    """What is there after an installation by manifests."""
    role(by_manifests)
    return Parts(kubectl)


@pytest.fixture(scope="module")
def moving_scheduler(kubectl):
    return Scheduler(kubectl, "moves")


@pytest.fixture(scope="module")
def served(manifests, moving_scheduler):
    """A scheduler that serves; what it is known by: nothing of it may be replaced by what follows."""
    moving_scheduler.write_config()
    moving_scheduler.write()
    eventually(moving_scheduler.served)

    def known():
        (pod,) = moving_scheduler.serving_pods()
        return pod["metadata"]["uid"], moving_scheduler.resource["metadata"]["uid"], moving_scheduler.deployment["metadata"]["generation"]

    return known


def test_method_auto_keeps_an_installation_by_manifests(role, manifests, by_manifests, by_olm, audit):
    with audit:
        run = role({**by_manifests, **by_olm, "operator_method": "auto"})
    assert (run.changed, audit.writes()) == ([], [])


@pytest.fixture(scope="module")
def broken(olm):
    """A catalog of our package that OLM can install from, but whose operator cannot start."""
    package = "osso-scheduler-operator"
    return olm.catalog(Package(package, {"stable": [Bundle(package, image="registry.invalid/does/not:exist")]}))


def test_a_failed_move_restores_the_operator_while_pods_are_placed(role, served, broken, manifests, by_manifests, namespace, kubectl):
    """The plan succeeds, the operator in it does not."""
    before, parts = served(), manifests
    stream = PodStream(kubectl, namespace, "moves")
    try:
        with stream:
            variables = {"operator_method": "olm", "operator_catalog_image": broken, "operator_wait_timeout": 180}
            failure = role(variables, succeed=False).failures[-1]
        assert "registry.invalid/does/not:exist" in failure.result["msg"]
        assert failure.result["msg"].strip().endswith("the one of the manifests is restored as it was.")
        eventually(lambda: None not in stream.waits())
        assert max(stream.waits()) <= 3
    finally:
        stream.close()
    assert (installed_by(kubectl), served()) == ("manifests", before)
    found = Parts(kubectl)
    assert (found.definition, found.rules, found.deployment) == (parts.definition, parts.rules, parts.deployment)
    assert of_olm(kubectl) == []
    assert role({**by_manifests, "operator_method": "auto"}).changed == []


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"operator_catalog_image": "registry.invalid/misspelt:1"}, "Correct catalog.image"),
        ({"operator_channel": "fast"}, "channel is fast, which package osso-scheduler-operator"),
        ({"operator_version": "7.0.0"}, "version is 7.0.0, which channel stable"),
    ],
    ids=["catalog", "channel", "version"],
)
def test_a_move_that_cannot_succeed_leaves_the_operator_as_it_is(role, served, by_olm, by_manifests, kubectl, variables, says):
    before, deployment = served(), kubectl.get("deployment", DEPLOYMENT, NAMESPACE)["metadata"]
    predicted = role({**by_olm, **variables}, check=True)
    assert "channel, version and bundle in it, are not verified" in predicted.output()
    (failure,) = role({**by_olm, **variables}, succeed=False).failures
    assert says in failure.result["msg"]
    after = kubectl.get("deployment", DEPLOYMENT, NAMESPACE)["metadata"]
    assert (after["uid"], after["generation"], served()) == (deployment["uid"], deployment["generation"], before)
    assert of_olm(kubectl) == []
    assert role({**by_manifests, "operator_method": "auto"}).changed == []


def test_moving_to_a_catalog_that_does_not_exist_removes_nothing(role, served, kubectl, audit):
    before = served()
    with audit:
        (failure,) = role(
            {"operator_method": "olm", "operator_catalog_source": "no-such", "operator_wait_timeout": 30}, succeed=False
        ).failures
    assert "no-such" in failure.result["msg"]
    assert audit.writes() == []
    assert (installed_by(kubectl), served()) == ("manifests", before)


def test_moving_with_manual_approval_needs_the_version(role, served, by_olm, kubectl, audit):
    with audit:
        (failure,) = role({**by_olm, "operator_approval": "Manual"}, succeed=False).failures
    assert "operator_approval is Manual and operator_approve is missing: moving from manifests to OLM" in failure.result["msg"]
    assert (audit.writes(), installed_by(kubectl)) == ([], "manifests")


def test_moving_from_manifests_to_olm_keeps_the_scheduler_available(role, served, moving_scheduler, by_olm, manifests, kubectl):
    """F014, F164: both ways end in the same Deployment, permissions and definition."""
    before = served()
    predicted = role(by_olm, check=True, diff=True)
    run = role(by_olm)
    assert set(predicted.changed) == set(run.changed) != set()
    assert installed_by(kubectl) == "olm"
    found = Parts(kubectl)
    assert found.definition == manifests.definition
    assert found.rules["cluster"] >= FOR_ALL_NAMESPACES
    found.rules["cluster"] -= FOR_ALL_NAMESPACES
    assert found.rules == manifests.rules
    assert found.deployment == manifests.deployment
    assert served() == before
    # The operator that is there now looks after it.
    moving_scheduler.write(logLevel="Debug")
    eventually(moving_scheduler.served)


def test_a_second_run_with_olm_writes_nothing(role, by_olm, audit):
    with audit:
        run = role(by_olm)
    assert (run.changed, audit.writes()) == ([], [])


def test_method_auto_keeps_an_installation_by_olm(role, by_olm, by_manifests, kubectl):
    run = role({**by_manifests, **by_olm, "operator_method": "auto"})
    assert (run.changed, installed_by(kubectl)) == ([], "olm")


def test_a_later_run_with_olm_needs_no_catalog_variables(role, kubectl):
    run = role({"operator_method": "olm"})
    assert (run.changed, installed_by(kubectl)) == ([], "olm")


def test_the_sample_resource_of_the_bundle_yields_an_available_scheduler(kubectl, namespace, role):
    """F164, not so upstream's B17: created as the console would, it serves."""
    csv = kubectl.json("get", f"clusterserviceversions.{GROUP}", f"--namespace={NAMESPACE}")["items"][0]
    (sample,) = json.loads(csv["metadata"]["annotations"]["alm-examples"])
    kubectl.apply(sample)
    scheduler = Scheduler(kubectl, sample["metadata"]["name"], scheduler_name="secondary-scheduler")
    try:
        eventually(scheduler.served)
    finally:
        kubectl("delete", RESOURCE, scheduler.name, f"--namespace={NAMESPACE}")


def test_moving_from_olm_to_manifests_keeps_the_scheduler_available(role, served, moving_scheduler, by_manifests, manifests, kubectl):
    before = served()
    predicted = role(by_manifests, check=True, diff=True)
    run = role(by_manifests)
    assert set(predicted.changed) == set(run.changed) != set()
    assert installed_by(kubectl) == "manifests"
    found = Parts(kubectl)
    assert (found.definition, found.rules, found.deployment) == (manifests.definition, manifests.rules, manifests.deployment)
    assert served() == before
    moving_scheduler.write(logLevel="Normal")
    eventually(moving_scheduler.served)
    assert role(by_manifests).changed == []
    assert of_olm(kubectl) == []


def test_the_removal_leaves_nothing(role, kubectl):
    """By way of both methods, so that what one has left for the other would show."""
    role({"operator_state": "absent"})
    assert gone(kubectl)
    kinds = f"customresourcedefinitions,clusterroles,clusterrolebindings,operators.{GROUP}"
    left = kubectl("get", kinds, "--output=name").stdout.split()
    assert [name for name in left if "osso" in name or "secondaryscheduler" in name] == []
