# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""B01 to B20: the bugs of the upstream operator, and that ours does not have them (README.md says how each was planted)."""

from __future__ import annotations

import json
import re
import uuid
from types import SimpleNamespace

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.images import identify
from conformance.operator import samples
from conformance.operator.steps import (
    ACCOUNT,
    OPERATOR,
    Machines,
    container,
    edit,
    operator_down,
    owners,
    patch,
    pod_spec,
    reconcile,
    stays,
    version,
)
from support.scheduler import IMAGE, Scheduler, eventually
from support.site import NAMESPACE

DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
NOWHERE = {"mode": "HighlyAvailable", "highlyAvailableTopology": {"nodeSelector": {"example.com/pool": "nowhere"}}}


@pytest.fixture(scope="module")
def documentation(root) -> dict[str, str]:
    found = samples.texts(root)
    assert {"README.md", "docs/operator.md", "tests/demo/vars.yml", "plugins/modules/apply.py.yaml"} <= found.keys()
    return found


def test_B01_a_configuration_created_after_its_resource_is_deployed_once(new):
    scheduler = new()
    scheduler.write()
    eventually(lambda: scheduler.condition("Degraded")[:2] == ("True", "ConfigMapMissing"))
    assert scheduler.name in scheduler.condition("Degraded")[2]
    scheduler.write_config()
    scheduler.rest()
    assert scheduler.rollouts() == 1


@pytest.fixture(scope="module")
def restart(scheduler, operator, kubectl):
    """The operator was away, and one of two schedulers lost its ConfigMap meanwhile: both, with what they were before."""
    orphan = Scheduler(kubectl, "test-orphan")
    orphan.write_config()
    orphan.write()
    orphan.rest()
    before = SimpleNamespace(orphan=orphan, orphan_version=version(orphan), status=scheduler.resource["status"], version=version(scheduler))
    with operator_down(kubectl):
        kubectl("delete", "configmap", orphan.name, f"--namespace={NAMESPACE}")
    yield before
    orphan.delete()


def test_B02_a_config_map_deletion_that_the_watch_missed_is_noticed(restart):
    """upstream loses the deletion of a ConfigMap that its watch did not deliver"""
    orphan = restart.orphan
    eventually(lambda: orphan.condition("Degraded")[:2] == ("True", "ConfigMapMissing"))
    assert orphan.condition("Available")[0] == "True"
    assert version(orphan) == restart.orphan_version
    orphan.write_config()
    eventually(lambda: orphan.condition("Degraded")[0] == "False")
    orphan.rest()
    assert version(orphan) == restart.orphan_version


def test_B03_nothing_is_missing_when_the_operator_starts(restart, scheduler, kubectl):
    """upstream reports ConfigMaps as missing that its cache does not hold yet"""
    reconcile(scheduler)
    assert scheduler.resource["status"] == restart.status
    assert version(scheduler) == restart.version
    selector = f"--field-selector=involvedObject.kind=SecondaryScheduler,involvedObject.name={scheduler.name},type=Warning"
    assert kubectl.json("get", "events", f"--namespace={NAMESPACE}", selector)["items"] == []


@pytest.mark.long
def test_B04_metadata_of_others_cause_no_rollout(scheduler, kubectl):
    before = version(scheduler)
    touched = {"metadata": {"labels": {"example.com/touched": "yes"}, "annotations": {"example.com/touched": "yes"}}}
    objects = (
        ("configmap", scheduler.name),
        ("serviceaccount", scheduler.workload),
        ("role", scheduler.workload),
        ("rolebinding", scheduler.workload),
        ("service", scheduler.workload),
        ("clusterrolebinding", f"{scheduler.cluster_name}:kube-scheduler"),
        ("clusterrolebinding", f"{scheduler.cluster_name}:volume-scheduler"),
        ("secret", pod_spec(scheduler)["volumes"][0]["secret"]["secretName"]),
    )
    for kind, name in objects:
        patch(scheduler, kind, name, **touched)
    # What OpenShift does to every ServiceAccount.
    patch(scheduler, "serviceaccount", imagePullSecrets=[{"name": "dockercfg"}])
    reconcile(scheduler)
    scheduler.rest()
    assert version(scheduler) == before
    for kind, name in objects:
        assert scheduler.get(kind, name)["metadata"]["labels"]["example.com/touched"] == "yes", f"{kind} {name}: taken away from its owner"
    assert scheduler.get("serviceaccount")["imagePullSecrets"] == [{"name": "dockercfg"}]


@pytest.mark.long
def test_B05_a_new_scheduler_has_one_rollout_and_the_operators_log_level_causes_none(new):
    scheduler = new()
    scheduler.write_config()
    scheduler.write()
    scheduler.rest()
    reconcile(scheduler)
    before = version(scheduler)
    assert (before[0], before[2]) == (1, 1), "rollouts, and generation of the Deployment"
    edit(scheduler, operatorLogLevel="Debug")
    scheduler.rest()
    assert scheduler.resource["status"]["observedGeneration"] == scheduler.resource["metadata"]["generation"]
    assert version(scheduler) == before


def test_B06_deletion_leaves_nothing_behind(new, kubectl):
    scheduler = new()
    scheduler.write_config()
    scheduler.write()
    scheduler.rest()
    kinds = (
        "deployments,replicasets,pods,services,serviceaccounts,roles,rolebindings,secrets,configmaps,networkpolicies,clusterrolebindings"
    )
    selector = f"--selector=app.kubernetes.io/instance={scheduler.name}"

    def made():
        found = kubectl.json("get", kinds, "--all-namespaces", selector)["items"]
        return {(item["kind"], item["metadata"]["name"]): item for item in found}

    expected = {"Deployment", "Service", "ServiceAccount", "Role", "RoleBinding", "Secret", "ClusterRoleBinding"}
    assert {kind for kind, _name in made()} >= expected
    bindings = [item for (kind, _name), item in made().items() if kind == "ClusterRoleBinding"]
    assert len(bindings) >= 2
    assert [owners(binding) for binding in bindings] == [[]] * len(bindings), "an owner in a namespace is invalid for what has none"
    assert scheduler.get("lease"), "its replicas elect a leader"
    kubectl("delete", "secondaryscheduler", scheduler.name, f"--namespace={NAMESPACE}", "--timeout=100s")
    eventually(lambda: made().keys() == set())
    eventually(
        lambda: not kubectl.json("get", "pods,replicasets", f"--namespace={NAMESPACE}", f"--selector=app={scheduler.workload}")["items"]
    )
    eventually(lambda: not scheduler.get("lease"))
    assert scheduler.get("configmap", scheduler.name), "the user's ConfigMap stays"
    assert not scheduler.get("configmap", f"osso-set-operand-{scheduler.name}")
    invalid = kubectl.json("get", "events", "--all-namespaces", "--field-selector=reason=OwnerRefInvalidNamespace")["items"]
    assert [event["involvedObject"]["name"] for event in invalid if scheduler.name in event["involvedObject"]["name"]] == []


def test_B07_probes_have_a_timeout_of_10_seconds(scheduler):
    """as the API server understood it: a misspelt field is dropped, and one second is the default"""
    probes = [container(scheduler)[probe] for probe in ("startupProbe", "livenessProbe", "readinessProbe")]
    assert [probe["timeoutSeconds"] for probe in probes] == [10, 10, 10]


@pytest.mark.long
def test_B08_no_service_monitor_is_needed(new, kubectl, request):
    if kubectl.json("get", "customresourcedefinition", "servicemonitors.monitoring.coreos.com", "--ignore-not-found"):
        pytest.skip("this cluster has kind ServiceMonitor")
    scheduler = new()
    scheduler.write_config()
    scheduler.write()
    scheduler.rest()
    assert scheduler.condition("Degraded")[0] == "False"
    before = version(scheduler)
    # As soon as there is such a kind, there is one; the scheduler does not depend on it.
    request.getfixturevalue("service_monitors")
    reconcile(scheduler)
    eventually(lambda: scheduler.get("servicemonitor"))
    scheduler.rest()
    assert version(scheduler) == before


@pytest.mark.long
def test_B09_objects_of_a_resource_that_is_being_deleted_are_not_recreated(new, kubectl):
    """upstream goes on reconciling a resource that another finalizer holds, and tries for ever after one that is gone"""
    scheduler = new()
    scheduler.write_config()
    scheduler.write()
    scheduler.rest()
    finalizers = scheduler.resource["metadata"].get("finalizers", [])
    patch(scheduler, "secondaryscheduler", scheduler.name, metadata={"finalizers": [*finalizers, "example.com/hold"]})
    kubectl("delete", "secondaryscheduler", scheduler.name, f"--namespace={NAMESPACE}", "--wait=false")
    eventually(lambda: scheduler.resource["metadata"]["finalizers"] == ["example.com/hold"] and scheduler.deployment is None)
    scheduler.write_config(scheduler.config(weight=23))
    patch(scheduler, "secondaryscheduler", scheduler.name, metadata={"annotations": {"example.com/look": "again"}})
    selector = f"--selector=app.kubernetes.io/instance={scheduler.name}"

    def nothing():
        """nothing of a scheduler that is being deleted comes back"""
        kinds = "deployments,services,serviceaccounts,roles,rolebindings,clusterrolebindings"
        return not [
            item
            for item in kubectl.json("get", kinds, "--all-namespaces", selector)["items"]
            if "deletionTimestamp" not in item["metadata"]
        ]

    eventually(nothing)
    stays(nothing, seconds=5)
    patch(scheduler, "secondaryscheduler", scheduler.name, metadata={"finalizers": None})
    eventually(lambda: scheduler.resource is None)
    scheduler.write_config(scheduler.config(weight=24))
    log = ["logs", f"deployment/{OPERATOR}", f"--namespace={NAMESPACE}", "--since=3s"]

    def quiet():
        """the operator does not go on about a scheduler that is gone"""
        return not [line for line in kubectl(*log).stdout.splitlines() if scheduler.name in line]

    eventually(quiet)
    stays(quiet)


@pytest.mark.long
def test_B10_a_topology_without_matching_nodes_is_reported_and_changes_nothing(scheduler, kubectl):
    before, service = version(scheduler), pod_spec(scheduler)
    edit(scheduler, topology=NOWHERE)
    eventually(lambda: scheduler.condition("Degraded")[:2] == ("True", "NoNodeMatches"))
    assert "example.com/pool" in scheduler.condition("Degraded")[2]
    assert scheduler.condition("Available")[0] == "True"
    assert (version(scheduler), pod_spec(scheduler)) == (before, service), "what runs keeps running"
    machines = Machines(kubectl)
    machines.add(f"machine-{uuid.uuid4().hex[:6]}", **{"example.com/pool": "nowhere"})
    try:
        machines.say()
        reconcile(scheduler)
        eventually(lambda: pod_spec(scheduler).get("nodeSelector") == {"example.com/pool": "nowhere"})
        edit(scheduler, topology=None)
        scheduler.rest()
    finally:
        machines.remove()


@pytest.mark.long
def test_B10_replicas_follow_the_nodes(new, kubectl):
    """6.1.14: cordoned, not ready, tainted and deleted nodes carry no replica; noticed without an event, by a timed look"""
    machines, pool = Machines(kubectl), {"example.com/pool": "following"}
    names = [f"machine-{uuid.uuid4().hex[:6]}" for _number in range(5)]
    for name in names:
        machines.add(name, **pool)
    try:
        machines.say()
        scheduler = new()
        scheduler.write_config()
        scheduler.write(topology={"mode": "HighlyAvailable", "highlyAvailableTopology": {"maxReplicas": 9, "nodeSelector": pool}})
        eventually(lambda: scheduler.deployment and scheduler.deployment["spec"]["replicas"] == 5)
        cordoned, unready, tainted, deleted, _left = names
        kubectl("cordon", cordoned)
        kubectl("taint", "node", tainted, "example.com/reserved=yes:NoSchedule")
        kubectl("delete", "node", deleted)
        machines.ready.pop(deleted)
        machines.ready[unready] = "False"
        machines.say()

        def follows(replicas):
            machines.say()
            return scheduler.deployment["spec"]["replicas"] == replicas

        eventually(lambda: follows(1), within=120)
        kubectl("uncordon", cordoned)
        machines.ready[unready] = "True"
        machines.say()
        reconcile(scheduler)
        eventually(lambda: follows(3))
    finally:
        machines.remove()


def test_B11_permission_rules_have_an_effect(scheduler, kubectl):
    """A rule with names never allows a creation: those names do not exist yet. What is created below an object that does, may be named."""
    for namespaced in ("role", "clusterrole"):
        selector = "--selector=app.kubernetes.io/managed-by=osso.scheduler"
        found = kubectl.json("get", namespaced, "--all-namespaces", selector)["items"]
        assert found
        for role in found:
            named = [rule for rule in role["rules"] if rule.get("resourceNames") and {"create", "deletecollection"} & set(rule["verbs"])]
            useless = [rule for rule in named if not all("/" in resource for resource in rule["resources"])]
            assert useless == [], role["metadata"]["name"]
    lease = scheduler.get("lease")
    assert lease["spec"]["holderIdentity"].startswith(scheduler.workload)
    account = f"--as=system:serviceaccount:{NAMESPACE}:{scheduler.workload}"
    for verb in ("get", "update"):
        assert kubectl("auth", "can-i", verb, f"leases/{scheduler.workload}", f"--namespace={NAMESPACE}", account).stdout.strip() == "yes"


def findings(configurations) -> list[tuple[str, str]]:
    """What a kube-scheduler of its image, or of 1.34 with scheduler-plugins, says against each configuration."""
    answer = []
    for name, config, image in configurations:
        known = identify(image) if image else None
        release, plugins = (known.kubernetes, known.plugins) if known and known.kubernetes else ("1.34", "scheduler-plugins")
        result = check(yaml.safe_dump(config), release, plugins)
        answer += [(name, finding.message) for finding in result.findings if finding.severity == "error"]
    return answer


OLD = """
```yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: TargetLoadPacking}
data:
  config.yaml: |
    apiVersion: kubescheduler.config.k8s.io/v1beta1
    kind: KubeSchedulerConfiguration
    profiles:
      - pluginConfig:
          - name: TargetLoadPacking
            args: {metricProvider: {Token: x, address: "${PROM_HOST}"}}
---
apiVersion: operator.openshift.io/v1
kind: SecondaryScheduler
metadata: {name: cluster}
spec: {schedulerConfig: TargetLoadPacking, topology: {highlyAvailableTopology: {maxReplicas: 2}}}
```
`oc edit secondaryschedulers/secondary scheduler -n default`
"""


# Pages that show what becomes of a mistake
ON_PURPOSE = {
    (f"docs/walkthroughs/{page}.md", 'ScorePlugin "NodeResourceFit" does not exist') for page in ("pending-pods", "secondary-scheduler")
}


def bad_names(found) -> list[tuple[str, str]]:
    names = [
        (name, item["metadata"]["name"]) for kind in ("ConfigMap", "SecondaryScheduler") for name, item in samples.of_kind(found, kind)
    ]
    return [(name, text) for name, text in names if not DNS_SUBDOMAIN.fullmatch(text)]


def test_B12_documented_names_and_versions_can_be_used(documentation):
    assert bad_names({"old.md": OLD}) == [("old.md", "TargetLoadPacking")]
    assert "v1beta1" in str(findings(samples.configurations({"old.md": OLD})))
    configurations = samples.configurations(documentation)
    assert configurations
    assert sorted(findings(configurations)) == sorted(ON_PURPOSE)
    assert bad_names(documentation) == []


def test_B13_misspelt_token_is_rejected_and_not_documented(documentation, new):
    scheduler = new()
    secret = uuid.uuid4().hex
    provider = {"type": "Prometheus", "address": "https://prometheus.example.com", "Token": secret}
    config = json.loads(scheduler.config())
    config["profiles"][0]["pluginConfig"] = [{"name": "TargetLoadPacking", "args": {"metricProvider": provider}}]
    scheduler.write_config(json.dumps(config))
    scheduler.write()
    eventually(lambda: scheduler.condition("ConfigValid")[:2] == ("False", "ConfigInvalid"))
    message = scheduler.condition("Degraded")[2]
    assert "profiles[0].pluginConfig[0].args.metricProvider" in message
    assert "Token" in message
    assert secret not in json.dumps(scheduler.resource["status"])
    assert scheduler.deployment is None
    wrong = [name for name, mapping in samples.all_mappings({"old.md": OLD}) if "Token" in mapping]
    assert wrong == ["old.md"]
    assert [name for name, mapping in samples.all_mappings(documentation) if "Token" in mapping] == []


def wrong_targets(found) -> list[tuple[str, str]]:
    """Commands on a SecondaryScheduler whose name is neither `cluster`, nor a placeholder in capitals, nor that of a scheduler that the same text brings."""
    pattern = re.compile(r"secondaryschedulers?(?:\.operator\.openshift\.io)?[/ ]+(?!-)(.+?)(?= +-|$)")
    lists = [(name, mapping["secondary_schedulers"]) for name, mapping in samples.all_mappings(found) if "secondary_schedulers" in mapping]
    brought = {(name, one["name"]) for name, listed in lists if isinstance(listed, list) for one in listed if "name" in one}
    return [
        (name, command)
        for name, command in samples.commands(found)
        if (match := pattern.search(command))
        and not re.fullmatch(r"cluster|[A-Z]+", target := match[1].split(" ")[0] if " " not in match[1] else match[1])
        and (name, target) not in brought
    ]


def test_B14_documented_commands_name_existing_objects(documentation):
    assert wrong_targets({"old.md": OLD}) == [("old.md", "oc edit secondaryschedulers/secondary scheduler -n default")]
    assert samples.commands(documentation)
    assert wrong_targets(documentation) == []


# What our code fills in; monitoring's placeholders come with the load-aware work.
FILLED_IN = {"PROM_URL", "PROM_TOKEN"}


def test_B15_documented_placeholders_are_filled_in_and_documented_images_exist(documentation):
    assert samples.placeholders({"old.md": OLD}) - FILLED_IN == {"PROM_HOST"}
    assert samples.placeholders(documentation) - FILLED_IN == set()
    images = {
        (name, mapping[key])
        for name, mapping in samples.all_mappings(documentation)
        for key in ("image", "schedulerImage")
        if isinstance(mapping.get(key), str) and "kube-scheduler:" in mapping[key]
    }
    assert images
    assert [(name, image) for name, image in images if not identify(image).kubernetes] == []
    assert not identify("registry.k8s.io/scheduler-plugins/kube-scheduler:4.9").kubernetes


def test_B16_a_scheduler_is_ready_only_after_it_has_read_the_cluster(scheduler, kubectl):
    """/readyz, since Kubernetes 1.31, waits until every handler has seen all there is; /healthz, which it replaces, does not. Replicas that wait to lead
    have seen the cluster, too, and are ready (E11)."""
    probes = {name: container(scheduler)[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "liveness", "readiness")}
    assert probes == {"startup": "/livez", "liveness": "/livez", "readiness": "/readyz"}
    (pod,) = scheduler.serving_pods()
    ready = f"/api/v1/namespaces/{NAMESPACE}/pods/https:{pod['metadata']['name']}:10259/proxy/readyz?verbose"
    answer = kubectl("get", f"--raw={ready}").stdout
    assert "[+]sched-handler-sync ok" in answer


@pytest.mark.long
def test_B16_older_and_unknown_schedulers_are_probed_at_a_path_that_they_serve(new, kubectl):
    scheduler = new()
    scheduler.write_config()
    scheduler.write(schedulerImage=IMAGE.replace("v0.34.7", "v0.30.6"))
    eventually(lambda: container(scheduler).get("readinessProbe"))
    assert {container(scheduler)[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "liveness", "readiness")} == {"/healthz"}


def incomplete(found) -> list[str]:
    return [
        name
        for name, item in samples.of_kind(found, "SecondaryScheduler")
        if not {"schedulerConfig", "schedulerImage"} <= item["spec"].keys()
    ]


def test_B17_the_operator_has_one_account_and_examples_are_complete(documentation, operator, kubectl):
    deployment = kubectl.json("get", "deployment", OPERATOR, f"--namespace={NAMESPACE}", "--show-managed-fields")
    spec = deployment["spec"]["template"]["spec"]
    assert spec["serviceAccountName"] == spec.get("serviceAccount", spec["serviceAccountName"]) == OPERATOR
    managed = [entry["fieldsV1"] for entry in deployment["metadata"]["managedFields"]]
    assert '"f:serviceAccount"' not in json.dumps(managed), "the deprecated field is the API server's to fill"
    assert incomplete({"old.md": OLD}) == ["old.md"]
    assert incomplete(documentation) == []


def test_B18_the_operator_does_not_write_the_users_spec(scheduler):
    scheduler.write()
    scheduler.rest()
    reconcile(scheduler)
    given = {"schedulerConfig": scheduler.name, "schedulerImage": IMAGE}
    defaults = {"logLevel": "Normal", "operatorLogLevel": "Normal"}
    assert scheduler.resource["spec"] == {**defaults, **given}
    shown = scheduler.kubectl.json("get", "secondaryscheduler", scheduler.name, f"--namespace={NAMESPACE}", "--show-managed-fields")
    writers = {entry["manager"] for entry in shown["metadata"]["managedFields"] if "f:spec" in entry["fieldsV1"]}
    assert writers <= {"kubectl", "kubectl-patch"}
    assert {entry["manager"] for entry in shown["metadata"]["managedFields"]} - writers, "the operator writes the status"


def refused(kubectl, found) -> list[str]:
    """Documented resources that the API server does not take."""
    answers = []
    for number, (name, item) in enumerate(samples.of_kind(found, "SecondaryScheduler")):
        item = {**item, "metadata": {"name": f"sample-{number}", "namespace": NAMESPACE}}
        answer = kubectl("create", "--dry-run=server", "--validate=strict", "--filename=-", stdin=item, check=False)
        answers += [f"{name}: {answer.stderr.strip()}"] if answer.returncode else []
    return answers


def test_B19_documented_resources_are_accepted(documentation, operator, kubectl):
    (planted,) = refused(kubectl, {"old.md": OLD})
    assert "can only be set when mode is HighlyAvailable" in planted
    assert samples.of_kind(documentation, "SecondaryScheduler")
    assert refused(kubectl, documentation) == []


def test_B20_the_operator_can_read_secrets_only_in_namespaces_of_schedulers(operator, kubectl):
    def can(verb, resource, *where):
        return kubectl("auth", "can-i", verb, resource, *where, f"--as={ACCOUNT}", check=False).stdout.strip() == "yes"

    assert can("get", "secrets", f"--namespace={NAMESPACE}"), "it makes one for each configuration"
    for verb in ("get", "list", "watch", "create", "patch", "delete"):
        assert not can(verb, "secrets", "--all-namespaces")
        assert not can(verb, "secrets", "--namespace=kube-system")
        assert not can(verb, "configmaps", "--namespace=kube-system")
