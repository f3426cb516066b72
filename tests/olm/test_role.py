# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Our own bundle and catalog, and the role operator that installs them by a real OLM. The tests follow each other."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from support.olm import GROUP
from support.scheduler import Scheduler, eventually
from support.site import DEMO, NAMESPACE, VARIABLES, remove, site

ROOT = Path(__file__).resolve().parents[2]
ROLE = [{"name": "Install", "ansible.builtin.import_role": {"name": "osso.scheduler.operator"}}]
CRD = "secondaryschedulers.operator.openshift.io"
PACKAGE = "osso-scheduler-operator"
DEPLOYMENT = "osso-scheduler-operator"
NEXT = "1.0.1"


@pytest.fixture(scope="module")
def catalog(olm) -> str:
    """The image of our catalog, as `make images` builds it; it names the bundle, and that the operator, by digest."""
    return build(olm)


@pytest.fixture(scope="module")
def next_catalog(olm, catalog, tmp_path_factory) -> str:
    """The image of a catalog that has a next version of ours as well, which is another in name alone."""
    told = yaml.safe_load((ROOT / "operator/olm/package.yaml").read_text())
    version = told["releases"][-1]["version"]
    told["releases"].append({"version": NEXT, "created": "2027-01-01", "channels": ["stable", "candidate"], "replaces": version})
    package = tmp_path_factory.mktemp("next") / "package.yaml"
    package.write_text(yaml.safe_dump(told))
    return build(olm, f"--package={package}", f"--former={ROOT / '.cache/olm/catalog'}")


def build(olm, *options) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".cache/collections"), "OPM_IMAGE": olm.opm_image, "REGISTRY": olm.registry}
    done = subprocess.run([ROOT / "operator/olm/build", *options], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


@pytest.fixture(scope="module")
def by_olm(catalog) -> dict:
    return {"operator_method": "olm", "operator_catalog_image": catalog}


@pytest.fixture(scope="module")
def by_manifests() -> dict:
    return {"operator_method": "manifests", "operator_image": yaml.safe_load(DEMO.read_text())["operator_image"]}


@pytest.fixture(scope="module")
def role(olm, play, kubectl):
    """Run the role, on a cluster without an operator at first and at last."""

    def run(variables=(), **options):
        return play(ROLE, variables=dict(variables), **options)

    remove()
    yield run
    remove()
    olm.clear(NAMESPACE)


def installed_by(kubectl) -> str:
    labels = kubectl.json("get", "deployment", DEPLOYMENT, f"--namespace={NAMESPACE}")["metadata"]["labels"]
    return "olm" if "olm.owner" in labels else "manifests"


def gone(kubectl) -> bool:
    """Whether neither namespace nor definition is there."""
    found = kubectl("get", "namespaces,customresourcedefinitions", "--output=name").stdout.split()
    return not {f"namespace/{NAMESPACE}", f"customresourcedefinition.apiextensions.k8s.io/{CRD}"} & set(found)


class TestShipping:
    """F013, F164: what the real tools say of bundle and catalog."""

    def test_opm_and_operator_verify_accept_them(self, olm):
        for command in (
            [olm.opm, "validate", ROOT / "operator/catalog"],
            [olm.opm, "validate", ROOT / ".cache/olm/catalog"],
            [olm.operator_verify, "manifests", ROOT / "operator/bundle/manifests"],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr

    def test_operator_verify_would_complain(self, olm, tmp_path):
        for path in (ROOT / "operator/bundle/manifests").iterdir():
            (tmp_path / path.name).write_text(path.read_text().replace("minKubeVersion: 1.25.0", "minKubeVersion: soon"))
        # It ends well all the same.
        done = subprocess.run([olm.operator_verify, "manifests", tmp_path], capture_output=True, text=True, check=False)
        assert "csv.Spec.MinKubeVersion has an invalid value: soon" in done.stderr

    def test_opm_renders_what_the_catalog_holds(self, olm, catalog):
        """From the folder and from the image that was pushed."""
        reference = (ROOT / ".cache/olm/bundle-reference").read_text()
        for where, made in ((ROOT / "operator/bundle", ROOT / "operator/catalog"), (reference, ROOT / ".cache/olm/catalog")):
            (path,) = made.glob("*/*.v*.yaml")
            held = yaml.safe_load(path.read_text())
            options = ["--migrate-level=bundle-object-to-csv-metadata", "--output=json", "--use-http"]
            template = [] if where == reference else [f"--alpha-image-ref-template={held['image']}"]
            done = subprocess.run([olm.opm, "render", where, *options, *template], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout) == held


def test_without_a_catalog_both_remedies_are_named(role, audit):
    with audit:
        (failure,) = role({"operator_method": "olm"}, succeed=False).failures
    assert "No catalog of the cluster holds the package osso-scheduler-operator. Set operator_catalog_image" in failure.result["msg"]
    assert "or operator_catalog_source" in failure.result["msg"]
    assert audit.writes() == []


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"operator_image": "a/b:c"}, "operator_image cannot be honoured with operator_variant osso and operator_method olm"),
        ({"operator_replicas": 2}, "operator_replicas cannot be honoured"),
        ({"operator_variant": "upstream", "operator_version": "1.6.0"}, "operator_version is 1.6.0, which is for OpenShift 4.22 and 4.23"),
    ],
)
def test_refusals(role, by_olm, audit, variables, message):
    with audit:
        (failure,) = role({**by_olm, **variables}, succeed=False).failures
    assert message in failure.result["msg"]
    assert audit.writes() == []


class Parts:
    """What an installation comes to, in a form that does not depend on the method."""

    def __init__(self, kubectl):
        self.definition = kubectl.json("get", "customresourcedefinition", CRD)["spec"]
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
def scheduler(kubectl):
    return Scheduler(kubectl, "moves")


@pytest.fixture(scope="module")
def served(manifests, scheduler):
    """A scheduler that serves; what it is known by: nothing of it may be replaced by what follows."""
    scheduler.write_config()
    scheduler.write()
    eventually(scheduler.served)

    def known():
        (pod,) = scheduler.serving_pods()
        return pod["metadata"]["uid"], scheduler.resource["metadata"]["uid"], scheduler.deployment["metadata"]["generation"]

    return known


def test_auto_stays_with_the_method_that_is_there(role, manifests, by_manifests, by_olm, audit):
    with audit:
        run = role({**by_manifests, **by_olm, "operator_method": "auto"})
    assert (run.changed, audit.writes()) == ([], [])


def test_moving_to_a_catalog_that_does_not_exist_takes_nothing_away(role, served, kubectl, audit):
    before = served()
    with audit:
        (failure,) = role(
            {"operator_method": "olm", "operator_catalog_source": "no-such", "operator_wait_timeout": 30}, succeed=False
        ).failures
    assert "no-such" in failure.result["msg"]
    assert audit.writes() == []
    assert (installed_by(kubectl), served()) == ("manifests", before)


def test_from_manifests_to_olm_with_the_scheduler_serving(role, served, scheduler, by_olm, manifests, kubectl):
    """F014, F164: both ways end in the same Deployment, permissions and definition."""
    before = served()
    predicted = role(by_olm, check=True, diff=True)
    run = role(by_olm)
    assert set(predicted.changed) == set(run.changed) != set()
    assert installed_by(kubectl) == "olm"
    found = Parts(kubectl)
    assert found.definition == manifests.definition
    assert found.rules == manifests.rules
    assert found.deployment == manifests.deployment
    assert served() == before
    # The operator that is there now looks after it.
    scheduler.write(logLevel="Debug")
    eventually(scheduler.served)


def test_by_olm_the_second_run_writes_nothing(role, by_olm, audit):
    with audit:
        run = role(by_olm)
    assert (run.changed, audit.writes()) == ([], [])


def test_auto_stays_with_olm(role, by_olm, by_manifests, kubectl):
    run = role({**by_manifests, **by_olm, "operator_method": "auto"})
    assert (run.changed, installed_by(kubectl)) == ([], "olm")


def test_the_catalog_need_not_be_told_again(role, kubectl):
    run = role({"operator_method": "olm"})
    assert (run.changed, installed_by(kubectl)) == ([], "olm")


def test_the_sample_works(kubectl, namespace, role):
    """F164, not so upstream's B17: created as the console would, it serves."""
    csv = kubectl.json("get", f"clusterserviceversions.{GROUP}", f"--namespace={NAMESPACE}")["items"][0]
    (sample,) = json.loads(csv["metadata"]["annotations"]["alm-examples"])
    kubectl.apply(sample)
    scheduler = Scheduler(kubectl, sample["metadata"]["name"], scheduler_name="secondary-scheduler")
    try:
        eventually(scheduler.served)
    finally:
        kubectl("delete", CRD, scheduler.name, f"--namespace={NAMESPACE}")


def test_an_upgrade_waits_for_its_approval(role, served, by_olm, next_catalog, kubectl):
    """F005, F019: with manual approval the next version comes when it is named, and not before; the scheduler serves on."""
    before = served()
    manual = {**by_olm, "operator_catalog_image": next_catalog, "operator_approval": "Manual"}
    waiting = role(manual).task("Install the operator by OLM").result
    assert (waiting["csv"]["version"], waiting["upgrade"]) == ("1.0.0", NEXT)
    (failure,) = role({**manual, "operator_approval": "Automatic", "operator_approve": NEXT}, succeed=False).failures
    assert "operator_approval is Automatic" in failure.result["msg"]
    done = role({**manual, "operator_approve": NEXT}).task("Install the operator by OLM").result
    assert (done["csv"]["version"], done["upgrade"]) == (NEXT, None)
    assert role({**manual, "operator_approve": NEXT}).changed == []
    assert served() == before
    assert installed_by(kubectl) == "olm"


def test_from_olm_to_manifests_with_the_scheduler_serving(role, served, scheduler, by_manifests, manifests, kubectl):
    before = served()
    run = role(by_manifests)
    assert run.changed
    assert installed_by(kubectl) == "manifests"
    found = Parts(kubectl)
    assert (found.definition, found.rules, found.deployment) == (manifests.definition, manifests.rules, manifests.deployment)
    assert served() == before
    scheduler.write(logLevel="Normal")
    eventually(scheduler.served)
    assert role(by_manifests).changed == []
    kinds = ",".join(f"{kind}.{GROUP}" for kind in ("subscriptions", "clusterserviceversions", "catalogsources", "operatorgroups"))
    assert kubectl("get", kinds, f"--namespace={NAMESPACE}", "--output=name").stdout == ""


def test_the_removal_leaves_nothing(role, kubectl):
    """By way of both methods, so that what one has left for the other would show."""
    role({"operator_state": "absent"})
    assert gone(kubectl)
    kinds = f"customresourcedefinitions,clusterroles,clusterrolebindings,operators.{GROUP}"
    left = kubectl("get", kinds, "--output=name").stdout.split()
    assert [name for name in left if "osso" in name or "secondaryscheduler" in name] == []


def test_site_from_an_empty_cluster_to_a_pod_by_olm(by_olm, next_catalog, kubectl, tmp_path, audit):
    """The whole of it: operator by OLM, scheduler, pod placed by it; again, and nothing is written; and away."""
    variables = {key: value for key, value in VARIABLES.items() if key != "operator_image"}
    file = tmp_path / "vars.yml"
    file.write_text(yaml.safe_dump({**variables, **by_olm}))
    run = site(file)
    assert "placed" in run.stdout or run.task("Prove each scheduler with a pod").status == "ok"
    with audit:
        again = site(file)
    assert (again.changed, audit.writes()) == ([], [])
    # F019: the catalog offers a next version, the channel brings it, and the scheduler is not touched.
    scheduler = Scheduler(kubectl, "cluster", scheduler_name="secondary-scheduler")
    (pod,) = scheduler.serving_pods()
    upgraded = site(file, variables={"operator_catalog_image": next_catalog, "probe": "never"}).task("Install the operator by OLM")
    assert (upgraded.changed, upgraded.result["csv"]["version"]) == (True, NEXT)
    (same,) = scheduler.serving_pods()
    assert same["metadata"]["uid"] == pod["metadata"]["uid"]
    remove()
    assert gone(kubectl)
