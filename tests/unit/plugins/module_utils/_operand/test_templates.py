# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The manifests that one reconcile renders (plugin_utils/operand_templates.py)."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._operand.decision import decide
from ansible_collections.osso.scheduler.plugins.module_utils._operand.inputs import ConfigMap, Inputs, Neighbours, template_variables
from ansible_collections.osso.scheduler.plugins.plugin_utils import operand_templates
from ansible_collections.osso.scheduler.plugins.plugin_utils.operand_templates import OPENSHIFT_PROMETHEUS, manifests
from support.operand import CONFIG, facts, resource

PLATFORM = {"openshift": True, "service_ca": True, "service_monitor": True}
CONTROLLER = {"image": "controller:1", "replicas": 1, "cluster_role": "r", "lease_role": "l", "lease_namespace": "kube-system"}
NEEDS = {"cluster_roles": ["osso:plugin:Coscheduling"], "controller": CONTROLLER, "missing": []}
EVERYTHING = {"podDisruptionBudget": {"minAvailable": 1}, "env": [{"name": "A", "value": "b"}], "volumes": [{"name": "v", "emptyDir": {}}]}


def rendered(platform=None, needs=None, load_watcher=None, user="", prometheus=None, **given):
    about = facts(**given)
    platform = platform or dict.fromkeys(PLATFORM, False)
    needs = needs or {"cluster_roles": [], "controller": None, "missing": []}
    inputs = Inputs(about, decide(about), Neighbours([], ConfigMap()), platform, CONFIG, needs, load_watcher)
    variables = template_variables(inputs, inputs.decision)
    return {(one["kind"], one["metadata"]["name"]): one for one in manifests(variables, user, prometheus or OPENSHIFT_PROMETHEUS)}


def test_all_objects_of_a_scheduler_without_options_are_rendered():
    found = rendered(user="65532")
    assert {kind for kind, name in found} == {
        *("Deployment", "Secret", "ServiceAccount", "ClusterRoleBinding", "RoleBinding", "Role", "Service", "NetworkPolicy")
    }
    deployment = found["Deployment", "secondary-scheduler"]
    assert deployment["spec"]["template"]["spec"]["securityContext"]["runAsUser"] == 65532
    assert deployment["metadata"]["annotations"]["osso.scheduler/rollout"]
    assert ("ClusterRoleBinding", "osso:ns:cluster:kube-scheduler") in found
    assert base64.b64decode(found["Secret", "secondary-scheduler-config-abc"]["data"]["config.yaml"]).decode() == CONFIG.text


def test_all_optional_manifests_are_rendered_when_requested():
    watcher = {
        "image": "watcher:1",
        "url": "https://p:9091",
        "secret": {"name": "load-watcher-x", "annotations": {}, "data": {"token": "t"}},
    }
    found = rendered(PLATFORM, NEEDS, watcher, overrides=EVERYTHING, serving_cert=True)
    assert {"PodDisruptionBudget", "ServiceMonitor"} <= {kind for kind, name in found}
    assert {("Deployment", "secondary-scheduler-controller"), ("Deployment", "load-watcher-cluster")} <= set(found)
    assert ("ClusterRoleBinding", "osso:ns:cluster:plugin:Coscheduling") in found
    assert "runAsUser" not in found["Deployment", "secondary-scheduler"]["spec"]["template"]["spec"]["securityContext"]


def test_a_disruption_budget_is_the_users_with_the_selector_of_the_scheduler():
    budget = {"maxUnavailable": "30%", "unhealthyPodEvictionPolicy": "AlwaysAllow"}
    found = rendered(overrides={"podDisruptionBudget": {**budget, "selector": {"matchLabels": {"app": "other"}}}})
    selector = found["Deployment", "secondary-scheduler"]["spec"]["selector"]
    assert found["PodDisruptionBudget", "secondary-scheduler"]["spec"] == {**budget, "selector": selector}


def test_replicas_avoid_each_others_nodes_and_are_replaced_without_a_gap():
    topology = resource(topology={"mode": "HighlyAvailable"})
    spec = rendered(resource=topology, eligible=["a", "b", "c"])["Deployment", "secondary-scheduler"]["spec"]
    assert spec["replicas"] == 3
    pod = {"matchLabels": spec["template"]["metadata"]["labels"]}
    assert spec["selector"] == pod
    others = {"weight": 100, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "labelSelector": pod}}
    # Preferred and not required: with fewer nodes, and during a rollout, two replicas may share one.
    assert spec["template"]["spec"]["affinity"] == {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [others]}}
    assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}


@pytest.mark.parametrize(
    ("release", "live", "ready"), [(None, "/healthz", "/healthz"), ("1.30", "/healthz", "/healthz"), ("1.34", "/livez", "/readyz")]
)
def test_probes_use_the_paths_of_the_schedulers_release(release, live, ready):
    found = rendered(config=replace(CONFIG, target=CONFIG.target._replace(kubernetes=release)))
    (container,) = found["Deployment", "secondary-scheduler"]["spec"]["template"]["spec"]["containers"]
    paths = [container[probe]["httpGet"]["path"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")]
    assert paths == [live, live, ready]


@pytest.mark.parametrize("affinity", [{}, {"nodeAffinity": {}}])
def test_an_affinity_among_the_overrides_replaces_the_one_between_replicas(affinity):
    found = rendered(overrides={"affinity": affinity})
    assert found["Deployment", "secondary-scheduler"]["spec"]["template"]["spec"]["affinity"] == affinity


def test_prometheus_may_find_the_endpoints_and_nothing_else():
    found = rendered(PLATFORM)
    role, binding = found["Role", "prometheus-k8s"], found["RoleBinding", "prometheus-k8s"]
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["services", "endpoints", "pods"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["get", "list", "watch"]},
    ]
    assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role["metadata"]["name"]}
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "prometheus-k8s", "namespace": "openshift-monitoring"}]


def test_the_prometheus_of_the_installation_finds_the_endpoints():
    found = rendered(PLATFORM, prometheus={"namespace": "monitoring", "service_account": "prom", "labels": {"release": "stack"}})
    assert found["RoleBinding", "prometheus-k8s"]["subjects"] == [{"kind": "ServiceAccount", "name": "prom", "namespace": "monitoring"}]
    labels = found["ServiceMonitor", "secondary-scheduler"]["metadata"]["labels"]
    assert labels == {**found["Service", "metrics"]["metadata"]["labels"], "release": "stack"}


@pytest.mark.parametrize("text", ["{", "[]", '{"name": "x"}', ""])
def test_a_prometheus_that_the_operator_cannot_read_is_an_error_with_its_variable(text):
    with pytest.raises(InputError, match=r"OPERAND_PROMETHEUS of the operator's pod is .*: set a JSON object"):
        operand_templates.prometheus(text)


@pytest.mark.parametrize("service_ca", [True, False])
def test_prometheus_reads_the_metrics_with_its_own_token(service_ca):
    found = rendered({**PLATFORM, "service_ca": service_ca})
    spec, service = found["ServiceMonitor", "secondary-scheduler"]["spec"], found["Service", "metrics"]
    assert spec["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert spec["namespaceSelector"] == {"matchNames": ["ns"]}
    (endpoint,) = spec["endpoints"]
    assert endpoint["port"] in [port["name"] for port in service["spec"]["ports"]]
    assert (endpoint["path"], endpoint["scheme"]) == ("/metrics", "https")
    assert endpoint["bearerTokenFile"] == "/var/run/secrets/kubernetes.io/serviceaccount/token"
    ca = {
        "caFile": "/etc/prometheus/configmaps/serving-certs-ca-bundle/service-ca.crt",
        "serverName": f"{service['metadata']['name']}.ns.svc",
    }
    assert endpoint["tlsConfig"] == (ca if service_ca else {"insecureSkipVerify": True})


@pytest.mark.parametrize("text", ["{{ 1 + 1 }}", "{% raw %}", "{# x #}", "'\"\n---\nkind: Pod", "😀 ä \u2028"])
def test_values_of_a_resource_are_never_evaluated_as_templates(text):
    found = rendered(resource=resource(schedulerImage=text), overrides={"env": [{"name": "A", "value": text}]})
    (container,) = found["Deployment", "secondary-scheduler"]["spec"]["template"]["spec"]["containers"]
    assert (container["image"], container["env"]) == (text, [{"name": "A", "value": text}])


def test_an_invalid_manifest_is_reported_with_its_template():
    with pytest.raises(InputError, match=r"template configuration\.yaml\.j2"):
        manifests_of_a_secret_without_a_name()


def manifests_of_a_secret_without_a_name():
    about = facts()
    decision = decide(about)
    decision = replace(decision, secret={**decision.secret, "name": None})
    needs = {"cluster_roles": [], "controller": None, "missing": []}
    inputs = Inputs(about, decision, Neighbours([], ConfigMap()), dict.fromkeys(PLATFORM, False), CONFIG, needs)
    return manifests(template_variables(inputs, inputs.decision), "", OPENSHIFT_PROMETHEUS)
