# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""U01 to U08: what the upstream operator's unit tests assert of its reconciler, seen from outside (README.md says what is adapted)."""

from __future__ import annotations

import base64
import json

import pytest
from conformance.operator.steps import (
    ACCOUNT,
    Machines,
    container,
    edit,
    owner,
    owners,
    patch,
    pod_spec,
    reconcile,
    version,
)
from support.scheduler import IMAGE, eventually
from support.site import NAMESPACE

# library-go's answer to openshift/api's profile Intermediate: without the ciphers that Go does not have.
INTERMEDIATE_CIPHERS = (
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
)
INTERMEDIATE = ["--tls-cipher-suites=" + ",".join(INTERMEDIATE_CIPHERS), "--tls-min-version=VersionTLS12"]
CUSTOM = [
    "--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "--tls-min-version=VersionTLS12",
]


def tls(scheduler) -> list[str]:
    return [argument for argument in container(scheduler).get("args", []) if argument.startswith(("--tls-cipher", "--tls-min"))]


@pytest.mark.long
def test_U01_tls_profile_of_the_cluster_becomes_flags(scheduler, kubectl, request):
    """Adapted, B18: spec.observedConfig stays empty, the user's spec is the user's. Without the kind, there is no profile to follow."""
    if kubectl.json("get", "customresourcedefinition", "apiservers.config.openshift.io", "--ignore-not-found"):
        pytest.skip("this cluster has a TLS profile of its own, which a test may not change")
    assert tls(scheduler) == []
    request.getfixturevalue("api_servers")
    reconcile(scheduler)
    assert tls(scheduler) == INTERMEDIATE
    scheduler.rest()
    ciphers = ["ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-AES128-GCM-SHA256"]
    profile = {"type": "Custom", "custom": {"ciphers": ciphers, "minTLSVersion": "VersionTLS12"}}
    before = scheduler.rollouts()
    kubectl.apply(
        {
            "apiVersion": "config.openshift.io/v1",
            "kind": "APIServer",
            "metadata": {"name": "cluster"},
            "spec": {"tlsSecurityProfile": profile},
        }
    )
    reconcile(scheduler)
    assert tls(scheduler) == CUSTOM
    scheduler.rest()
    assert scheduler.rollouts() == before + 1
    assert "observedConfig" not in scheduler.resource["spec"]
    kubectl("delete", "apiservers.config.openshift.io", "cluster")
    reconcile(scheduler)
    assert tls(scheduler) == INTERMEDIATE
    scheduler.rest()


@pytest.mark.long
def test_U02_the_deployment_has_its_owner_and_is_repaired(scheduler, kubectl, request):
    deployment = scheduler.deployment
    assert (deployment["metadata"]["namespace"], deployment["metadata"]["name"]) == (NAMESPACE, scheduler.workload)
    assert owners(deployment) == [owner(scheduler)]
    patch(scheduler, "deployment", spec={"replicas": 2})
    drifted = {"containers": [{**container(scheduler), "image": "registry.k8s.io/pause:3.10"}]}
    patch(scheduler, "deployment", spec={"template": {"spec": drifted}})
    eventually(lambda: (container(scheduler)["image"], scheduler.deployment["spec"]["replicas"]) == (IMAGE, 1))
    kubectl("delete", "deployment", scheduler.workload, f"--namespace={NAMESPACE}")
    eventually(lambda: scheduler.deployment and scheduler.deployment["metadata"]["uid"] != deployment["metadata"]["uid"])
    scheduler.rest()
    # On a busy machine the operator has not noticed yet that the new Deployment is up, and its status is that of before.
    reconcile(scheduler)
    before = version(scheduler)
    audit = request.getfixturevalue("audit")
    with audit:
        reconcile(scheduler)
    assert version(scheduler) == before
    # Apart from its own leader election, which a single operator does not need.
    assert [request for request in audit.writes(user=ACCOUNT) if request.resource != "leases"] == []


@pytest.mark.long
def test_U03_the_deployment_uses_image_and_configuration_of_the_resource(scheduler):
    """Adapted: what is mounted is not the ConfigMap but a Secret with its text, so that the pods of before keep theirs."""
    assert container(scheduler)["image"] == scheduler.resource["spec"]["schedulerImage"] == IMAGE
    volume = pod_spec(scheduler)["volumes"][0]
    (mount,) = [mount for mount in container(scheduler)["volumeMounts"] if mount["name"] == volume["name"]]
    assert f"--config={mount['mountPath']}/config.yaml" in container(scheduler)["args"]
    config = scheduler.get("secret", volume["secret"]["secretName"])["data"]["config.yaml"]
    # It always ends with a newline.
    assert base64.b64decode(config).decode() == scheduler.get("configmap", scheduler.name)["data"]["config.yaml"] + "\n"


@pytest.fixture
def machines(kubectl):
    """Five nodes without machine, in pools of one, three and five."""
    machines = Machines(kubectl)
    for number in range(5):
        pools = {f"example.com/pool-of-{size}": "yes" for size in (1, 3, 5) if number < size}
        machines.add(f"machine-{number}", **pools)
    machines.say()
    yield machines
    machines.remove()


TOLERATIONS = [
    {"key": "one", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "two", "operator": "Equal", "value": "2", "effect": "NoExecute", "tolerationSeconds": 5},
]


def highly_available(pool, most=None, **fields) -> dict:
    limit = {"maxReplicas": most} if most else {}
    selector = {"nodeSelector": {f"example.com/pool-of-{pool}": "yes"}} if pool else {}
    return {"mode": "HighlyAvailable", "highlyAvailableTopology": {**limit, **selector, **fields}}


@pytest.mark.long
def test_U04_topology_decides_replicas_and_placement(new, machines, kubectl):
    """Adapted: a block HighlyAvailable beside mode SingleReplica and maxReplicas 0 are refused by the API already, as upstream's CRD does."""
    scheduler = new()
    scheduler.write_config()
    for topology, replicas in (
        (None, 1),
        ({}, 1),
        ({"mode": "SingleReplica"}, 1),
        ({"mode": "HighlyAvailable"}, 3),
        (highly_available(0), 3),
        (highly_available(1, 3), 1),
        (highly_available(3, 3), 3),
        (highly_available(5, 3), 3),
        (highly_available(5), 3),
        (highly_available(5, 6), 5),
        (highly_available(3, 2, tolerations=TOLERATIONS), 2),
        ({"mode": "SingleReplica"}, 1),
    ):
        scheduler.write(**({} if topology is None else {"topology": topology}))
        block = (topology or {}).get("highlyAvailableTopology") or {}
        wanted = (replicas, block.get("nodeSelector"), block.get("tolerations"))

        def seen(scheduler=scheduler):
            spec = pod_spec(scheduler)
            return spec and (scheduler.deployment["spec"]["replicas"], spec.get("nodeSelector"), spec.get("tolerations"))

        machines.say()
        try:
            eventually(lambda wanted=wanted, seen=seen: seen() == wanted)
        except AssertionError:
            raise AssertionError(f"{topology}: expected {wanted}, seen {seen()}") from None
    for refused, why in (
        ({"mode": "SingleReplica", "highlyAvailableTopology": {"maxReplicas": 2}}, "can only be set when mode is HighlyAvailable"),
        ({"highlyAvailableTopology": {"maxReplicas": 2}}, "can only be set when mode is HighlyAvailable"),
        ({"mode": "HighlyAvailable", "highlyAvailableTopology": {"maxReplicas": 0}}, "greater than or equal to 1"),
    ):
        patched = ["patch", "secondaryscheduler", scheduler.name, f"--namespace={NAMESPACE}", "--type=merge"]
        answer = kubectl(*patched, f"--patch={json.dumps({'spec': {'topology': refused}})}", check=False)
        assert answer.returncode, refused
        assert why in answer.stderr


@pytest.mark.long
@pytest.mark.parametrize(("level", "flag"), [("Debug", "-v=4"), ("Normal", "-v=2"), ("Trace", "-v=6"), ("TraceAll", "-v=8"), ("", "-v=2")])
def test_U05_the_log_level_becomes_the_verbosity_flag(scheduler, level, flag):
    edit(scheduler, logLevel=level)
    eventually(lambda: [argument for argument in container(scheduler)["args"] if argument.startswith("-v=")] == [flag])


LEASES = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "delete"]}
STRANGER = [{"kind": "ServiceAccount", "name": "stranger", "namespace": "default"}]
# Kind, name and what somebody changes of it; None where only metadata are enforced.
OBJECTS = (
    ("clusterrolebinding", "{cluster}:kube-scheduler", {"subjects": STRANGER}),
    ("clusterrolebinding", "{cluster}:volume-scheduler", {"subjects": STRANGER}),
    ("serviceaccount", "secondary-scheduler", {"metadata": {"labels": {"app": "other"}}}),
    ("service", "metrics", {"spec": {"selector": {"app": "other"}}}),
    ("role", "prometheus-k8s", {"rules": [LEASES]}),
    ("rolebinding", "prometheus-k8s", {"subjects": STRANGER}),
    ("role", "secondary-scheduler", {"rules": [LEASES]}),
    ("rolebinding", "secondary-scheduler", {"subjects": STRANGER}),
    ("servicemonitor", "secondary-scheduler", {"spec": {"endpoints": [{"port": "https", "interval": "99s"}]}}),
)


def look(cluster, kind, name):
    """One of OBJECTS as it is now, or None."""
    return cluster.get(kind, name.format(cluster=cluster.cluster_name))


def wanted_part(item) -> dict:
    """What of an object the operator enforces, in the state that it is in."""
    return {key: item[key] for key in ("subjects", "rules", "spec") if key in item} | {"labels": item["metadata"].get("labels")}


@pytest.mark.long
def test_U06_every_object_is_made_kept_and_repaired(cluster, service_monitors, kubectl, request):
    """Adapted, B6: ClusterRoleBindings have no owner reference, and are in the finalizer's care."""
    # Kinds of earlier tests change its flags. The reconcile after that rollout records in the Secret what is available.
    reconcile(cluster)
    cluster.rest()
    reconcile(cluster)
    made = {(kind, name): look(cluster, kind, name) for kind, name, _change in OBJECTS}
    assert [key for key, item in made.items() if item is None] == []
    for (kind, _name), item in made.items():
        assert owners(item) == ([] if kind == "clusterrolebinding" else [owner(cluster)]), kind
    audit = request.getfixturevalue("audit")
    with audit:
        reconcile(cluster)
    assert [request for request in audit.writes(user=ACCOUNT) if request.resource != "leases"] == []
    for kind, name, change in OBJECTS:
        patch(cluster, kind, name.format(cluster=cluster.cluster_name), **change)
    for kind, name, _change in OBJECTS:
        eventually(lambda kind=kind, name=name: wanted_part(look(cluster, kind, name)) == wanted_part(made[kind, name]))
    for kind, name, _change in OBJECTS:
        kubectl(
            "delete", kind, name.format(cluster=cluster.cluster_name), *([] if kind.startswith("cluster") else [f"--namespace={NAMESPACE}"])
        )
    for kind, name, _change in OBJECTS:
        again = eventually(lambda kind=kind, name=name: look(cluster, kind, name))
        assert again["metadata"]["uid"] != made[kind, name]["metadata"]["uid"]
        assert wanted_part(again).keys() == wanted_part(made[kind, name]).keys()
    cluster.rest()
    # Tokens are bound to the ServiceAccount that was deleted: pods of before can do nothing any more.
    account = cluster.get("serviceaccount")["metadata"]["creationTimestamp"]
    eventually(lambda: [pod["metadata"]["creationTimestamp"] >= account for pod in cluster.serving_pods()] == [True])
    cluster.rest()


# Upstream's names of the objects in its annotations of the pod template.
UPSTREAM_ANNOTATIONS = (
    "secondaryschedulers.operator.openshift.io/", "configmaps/", "serviceaccounts/", "clusterrolebindings/", "services/", "roles/",
    "rolebindings/", "servicemonitors/",
)  # fmt: skip


@pytest.mark.long
def test_U07_one_reconcile_creates_everything_and_reports_the_generation(new):
    """Adapted, B4 and B5: none of upstream's eleven annotations is on the pods."""
    scheduler = new()
    scheduler.write_config()
    scheduler.write()
    scheduler.rest()
    for kind in ("deployment", "serviceaccount", "role", "rolebinding"):
        assert scheduler.get(kind), kind
    assert scheduler.get("service")
    for role in ("kube-scheduler", "volume-scheduler"):
        assert scheduler.get("clusterrolebinding", f"{scheduler.cluster_name}:{role}"), role
    annotations = scheduler.deployment["spec"]["template"]["metadata"].get("annotations", {})
    assert [key for key in annotations if key.startswith(UPSTREAM_ANNOTATIONS)] == []
    generation = scheduler.resource["status"]["generations"][0]
    assert {key: generation[key] for key in ("group", "resource", "namespace", "name", "lastGeneration")} == {
        "group": "apps",
        "resource": "deployments",
        "namespace": NAMESPACE,
        "name": scheduler.workload,
        "lastGeneration": scheduler.deployment["metadata"]["generation"],
    }
    assert scheduler.resource["status"]["readyReplicas"] == 1
    assert scheduler.resource["status"]["observedGeneration"] == scheduler.resource["metadata"]["generation"]


@pytest.mark.long
def test_U08_only_a_change_of_the_configurations_content_causes_a_rollout(scheduler):
    """Adapted, B4: upstream compares the objects' resourceVersions with its annotations; here the name of the mounted Secret is the content."""

    def mounted():
        return pod_spec(scheduler)["volumes"][0]["secret"]["secretName"]

    def config_version():
        return scheduler.get("configmap", scheduler.name)["metadata"]["resourceVersion"]

    scheduler.write_config()
    scheduler.rest()
    first, seen, before = mounted(), config_version(), scheduler.rollouts()
    scheduler.write_config(scheduler.config(weight=17))
    eventually(lambda: mounted() != first)
    scheduler.rest()
    assert scheduler.rollouts() == before + 1
    assert scheduler.get("secret", mounted())["immutable"] is True
    assert scheduler.resource["status"]["generations"][0]["hash"] in mounted()
    eventually(lambda: scheduler.get("secret", first) is None)
    scheduler.write_config()
    eventually(lambda: mounted() == first)
    assert config_version() != seen
    scheduler.rest()
