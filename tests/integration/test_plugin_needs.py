# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What plugins need besides the scheduler is there: gangs, elastic quotas, and what the status says where something is missing."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import uuid
from pathlib import Path

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.needs import CONTROLLER, NEEDS
from support.kinds import delete_kinds
from support.scheduler import Scheduler, eventually
from support.site import NAMESPACE, installed, site

ROOT = Path(__file__).resolve().parents[2]
DEFINITIONS = ROOT / "roles/operator/files/plugins"
CONTROLLER_LABELS = "app.kubernetes.io/name=scheduler-plugins-controller,app.kubernetes.io/instance={0}"
PROFILE = "kubescheduler.config.k8s.io/v1"


class PluginScheduler(Scheduler):
    """A scheduler with one plugin at all of its points."""

    def __init__(self, kubectl, plugin):
        super().__init__(kubectl, f"test-{plugin.lower()[:12]}-{uuid.uuid4().hex[:4]}")
        self.plugin = plugin

    def config(self, weight=1):
        plugins = {"multiPoint": {"enabled": [{"name": self.plugin, "weight": weight}]}}
        if self.plugin == "Coscheduling":
            plugins["multiPoint"]["disabled"] = [{"name": "PrioritySort"}]
        profile = {"schedulerName": self.scheduler_name, "plugins": plugins}
        return json.dumps({"apiVersion": PROFILE, "kind": "KubeSchedulerConfiguration", "profiles": [profile]})

    def log(self, selector):
        return self.kubectl("logs", f"--selector={selector}", f"--namespace={self.namespace}", "--tail=-1").stdout


@pytest.fixture
def plugin_scheduler(operator, kubectl):
    """Make a scheduler for a plugin, that serves."""
    made = []

    def make(plugin):
        made.append(PluginScheduler(kubectl, plugin))
        return made[-1].start()

    yield make
    for scheduler in made:
        scheduler.delete()


class Pods:
    """Pods of a test's namespace, to be placed by a scheduler."""

    def __init__(self, kubectl, namespace, scheduler, labels=None, cpu="10m"):
        self.kubectl, self.namespace, self.scheduler = kubectl, namespace, scheduler
        self.labels, self.cpu = labels or {}, cpu

    def create(self, *names):
        container = {"name": "pause", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": {"cpu": self.cpu}}}
        spec = {"schedulerName": self.scheduler.scheduler_name, "containers": [container], "terminationGracePeriodSeconds": 0}
        for name in names:
            metadata = {"name": name, "namespace": self.namespace, "labels": self.labels}
            self.kubectl.apply({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})

    def placed(self):
        """names of the pods that have a node"""
        return {pod["metadata"]["name"] for pod in self._all() if pod["spec"].get("nodeName")}

    def refusals(self):
        """what the scheduler said of each pod that it did not place"""
        conditions = {
            pod["metadata"]["name"]: [c for c in pod["status"].get("conditions") or [] if c["type"] == "PodScheduled"]
            for pod in self._all()
        }
        return {name: found[0].get("message", "") for name, found in conditions.items() if found and found[0]["status"] == "False"}

    def _all(self):
        return self.kubectl.json("get", "pods", f"--namespace={self.namespace}")["items"]


def test_a_gang_is_placed_as_a_whole_or_not_at_all(plugin_scheduler, kubectl, namespace):
    scheduler = plugin_scheduler("Coscheduling")
    assert scheduler.condition("PluginsReady")[:2] == ("True", "AsExpected")
    group = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "gang", "namespace": namespace}}
    kubectl.apply({**group, "spec": {"minMember": 3}})
    pods = Pods(kubectl, namespace, scheduler, {"scheduling.x-k8s.io/pod-group": "gang"})
    pods.create("one", "two")
    eventually(lambda: len(pods.refusals()) == 2)
    assert all("cannot find enough sibling pods" in message for message in pods.refusals().values()), pods.refusals()
    assert pods.placed() == set()

    pods.create("three")
    eventually(lambda: pods.placed() == {"one", "two", "three"})

    def status():
        """the controller keeps the group's status"""
        return kubectl.json("get", "podgroups.scheduling.x-k8s.io", "gang", f"--namespace={namespace}").get("status") or {}

    eventually(lambda: (status().get("phase"), status().get("running")) == ("Running", 3))
    for selector in (f"app={scheduler.workload}", CONTROLLER_LABELS.format(scheduler.name)):
        assert "forbidden" not in scheduler.log(selector).lower()

    # Nothing of the controller stays when the plugin is no longer used.
    scheduler.plugin = "QOSSort"
    text = json.loads(scheduler.config())
    text["profiles"][0]["plugins"]["multiPoint"]["disabled"] = [{"name": "PrioritySort"}]
    scheduler.write_config(json.dumps(text))
    eventually(lambda: controllers(scheduler) == [])
    eventually(
        lambda: bindings(kubectl, scheduler) == {f"{scheduler.cluster_name}:{name}" for name in ("kube-scheduler", "volume-scheduler")}
    )
    assert scheduler.condition("PluginsReady") == ("", "", "")


def controllers(scheduler):
    found = scheduler.kubectl.json("get", "deployments,serviceaccounts", f"--namespace={scheduler.namespace}")["items"]
    return [item["kind"] for item in found if item["metadata"]["name"] == f"{scheduler.workload}-controller"]


def bindings(kubectl, scheduler):
    found = kubectl.json("get", "clusterrolebindings")["items"]
    return {item["metadata"]["name"] for item in found if item["metadata"]["name"].startswith(f"{scheduler.cluster_name}:")}


@pytest.mark.long
def test_an_elastic_quota_keeps_pods_that_exceed_it_pending(plugin_scheduler, kubectl, namespace):
    scheduler = plugin_scheduler("CapacityScheduling")
    assert scheduler.condition("PluginsReady")[:2] == ("True", "AsExpected")

    def quota(cpu, **annotations):
        metadata = {"name": "quota", "namespace": namespace, "annotations": annotations}
        bounds = {"min": {"cpu": cpu}, "max": {"cpu": cpu}}
        kubectl.apply({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "ElasticQuota", "metadata": metadata, "spec": bounds})

    def used():
        """the controller counts"""
        return (kubectl.json("get", "elasticquota", "quota", f"--namespace={namespace}").get("status") or {}).get("used")

    quota("20m")
    eventually(lambda: used() == {"cpu": "0"})
    pods = Pods(kubectl, namespace, scheduler)
    pods.create("one", "two")
    eventually(lambda: pods.placed() == {"one", "two"})
    eventually(lambda: used() == {"cpu": "20m"})
    pods.create("three")
    eventually(lambda: "ElasticQuota" in pods.refusals().get("three", ""))
    assert pods.placed() == {"one", "two"}
    quota("30m")
    changes = itertools.count()

    def room():
        """The scheduler's queue and its plugin hear of a quota on two watches. Where the queue hears first,
        the pod is refused once more by the old quota and waits for the next event, or for 5 minutes."""
        quota("30m", change=str(next(changes)))
        return pods.placed() == {"one", "two", "three"}

    eventually(room)
    for selector in (f"app={scheduler.workload}", CONTROLLER_LABELS.format(scheduler.name)):
        assert "forbidden" not in scheduler.log(selector).lower()


def test_a_missing_crd_is_reported_until_it_exists(plugin_scheduler, kubectl):
    """SySched needs a kind of the Security Profiles Operator, which is not on the test cluster."""
    scheduler = plugin_scheduler("SySched")
    name = "seccompprofiles.security-profiles-operator.x-k8s.io"
    status, reason, message = scheduler.condition("PluginsReady")
    assert (status, reason) == ("False", "CRDMissing")
    assert name in message
    assert "Security Profiles Operator" in message
    assert scheduler.condition("Available")[0] == "True", "it runs all the same"
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {
            "group": name.partition(".")[2],
            "scope": "Namespaced",
            "names": {"kind": "SeccompProfile", "plural": "seccompprofiles"},
            "versions": [{"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    }
    try:
        kubectl.apply(definition)
        eventually(lambda: scheduler.condition("PluginsReady")[:2] == ("True", "AsExpected"))
    finally:
        delete_kinds(kubectl, name)


def test_the_operator_may_bind_these_roles_and_no_others(operator, kubectl):
    def may(verb, name):
        subject = f"--as=system:serviceaccount:{NAMESPACE}:osso-scheduler-operator"
        return (
            kubectl("auth", "can-i", verb, f"clusterroles.rbac.authorization.k8s.io/{name}", subject, check=False).stdout.strip() == "yes"
        )

    roles = [f"osso-scheduler:plugin:{name}" for name, need in NEEDS.items() if need.rules] + [CONTROLLER.role, CONTROLLER.lease_role]
    for role in roles:
        assert may("bind", role), role
        assert not may("escalate", role)
        assert not may("update", role)
    assert not may("bind", "osso-scheduler:plugin:Other")
    assert not may("bind", "cluster-admin")


@pytest.mark.long
def test_installation_creates_crds_and_roles_of_the_chosen_plugins(operator, kubectl, namespace):
    def roles():
        found = [item["metadata"]["name"] for item in kubectl.json("get", "clusterroles")["items"]]
        return {name for name in found if name.startswith("osso-scheduler:")}

    def definitions():
        found = [item["metadata"]["name"] for item in kubectl.json("get", "customresourcedefinitions")["items"]]
        return {f"{name}.crd.yaml" for name in found} & {path.name for path in DEFINITIONS.iterdir()}

    # CRDs that a handover or an interrupted run has left, and quotas of the test before, would stay.
    delete_kinds(kubectl, *(path.name.removesuffix(".crd.yaml") for path in DEFINITIONS.iterdir()))
    site(variables={"probe": "never"})
    everything = roles(), definitions()
    assert everything[1] == {path.name for path in DEFINITIONS.iterdir()}
    metadata = {"name": "mine", "namespace": namespace}
    kubectl.apply({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": metadata, "spec": {"minMember": 1}})
    site(variables={"probe": "never", "operator_plugins": ["PreemptionToleration"]})
    assert roles() == {"osso-scheduler:plugin:PreemptionToleration"}
    # Objects of it exist. The API server deletes the other CRDs a moment later.
    eventually(lambda: definitions() == {"podgroups.scheduling.x-k8s.io.crd.yaml"})
    assert kubectl.json("get", "podgroups.scheduling.x-k8s.io", "mine", f"--namespace={namespace}")

    # Another operator brings a definition of its own: it is left as it is.
    path = DEFINITIONS / "noderesourcetopologies.topology.node.k8s.io.crd.yaml"
    theirs = yaml.safe_load(path.read_text())
    theirs["spec"]["names"]["shortNames"] = ["theirs"]
    name = theirs["metadata"]["name"]
    try:
        kubectl.apply(theirs)
        installed()
        assert (roles(), definitions()) == everything
        live = kubectl.json("get", "customresourcedefinition", name)
        assert live["spec"]["names"]["shortNames"] == ["theirs"]
    finally:
        delete_kinds(kubectl, name)
    site(variables={"probe": "never"})
    assert (roles(), definitions()) == everything


@pytest.fixture(scope="module")
def upstream():
    """The sources of scheduler-plugins that the test cluster is built of."""
    if not shutil.which("go"):
        pytest.skip("go is not installed: it fetches the module with the real definitions")
    command = ["go", "mod", "download", "-json", "sigs.k8s.io/scheduler-plugins"]
    found = subprocess.run(command, cwd=ROOT / "tests/cluster/kubernetes", check=True, capture_output=True)
    return Path(json.loads(found.stdout)["Dir"])


def shape(value):
    """A definition without texts for people, and without an order where there is none."""
    if isinstance(value, dict):
        return {
            key: sorted(entry) if key == "required" else shape(entry)
            for key, entry in value.items()
            if not (key == "description" and isinstance(entry, str))
        }
    return [shape(entry) for entry in value] if isinstance(value, list) else value


@pytest.mark.parametrize("path", sorted(DEFINITIONS.iterdir()), ids=lambda path: path.name.partition(".")[0])
def test_our_crds_accept_the_same_fields_as_the_real_ones(upstream, path):
    """Every field, its type, bounds and default: those that the project generates from the Go types that the plugins read."""
    ours = yaml.safe_load(path.read_text())
    generated = [*upstream.glob("config/crd/bases/*.yaml"), *upstream.glob("manifests/*/crd.yaml")]
    real = [found for file in generated for found in yaml.safe_load_all(file.read_text()) if found]
    real = [found for found in real if found["metadata"]["name"] == ours["metadata"]["name"]]
    assert real
    for found in real:
        assert shape(ours["spec"]) == shape(found["spec"])
