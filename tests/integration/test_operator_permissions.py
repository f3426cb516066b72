# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator's permissions: what it may do it does, and what it does is not refused; seen in the API server's audit log."""

from __future__ import annotations

import copy
import uuid

import pytest
from support.cluster import Audit
from support.kinds import delete_kinds, established
from support.metrics import Reader
from support.operator_pod import restart
from support.scheduler import Scheduler, eventually
from support.site import NAMESPACE, installed, site

OPERATOR = "osso-scheduler-operator"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:{OPERATOR}"
ROLE = ("role", f"osso:{NAMESPACE}:operator:reconcile", f"--namespace={NAMESPACE}")
CLUSTER_ROLE = ("clusterrole", f"osso:{NAMESPACE}:operator")

HANDED_ON = "nobody can grant what they do not hold: part of the Role that lets Prometheus find the scheduler"
ELECTION = "nobody can grant what they do not hold: part of the Role for the scheduler's Lease"
BIND = "is asked for when a binding is written, and logged as that"

# What the life below does not use, as (namespace, API group, resource, verb) -> why it is granted.
UNUSED = {
    **{(NAMESPACE, "", "endpoints", verb): HANDED_ON for verb in ("get", "list", "watch")},
    **{(NAMESPACE, "discovery.k8s.io", "endpointslices", verb): HANDED_ON for verb in ("get", "list", "watch")},
    **{(NAMESPACE, "", "pods", verb): HANDED_ON for verb in ("get", "watch")},
    (NAMESPACE, "coordination.k8s.io", "leases", "patch"): ELECTION,
    (NAMESPACE, "", "serviceaccounts/token", "create"): "the token of a scheduler that asks Prometheus; test_operator_metrics.py",
    (NAMESPACE, "", "pods/log", "get"): "the answer of an image that is asked",
    (NAMESPACE, "", "events", "list"): "to tell why a Job that asks an image got no pod, as with a quota",
    ("", "rbac.authorization.k8s.io", "clusterroles", "bind"): BIND,
    ("", "rbac.authorization.k8s.io", "clusterroles", "get"): "to see whether the role of a plugin is there; test_plugin_needs.py",
    ("kube-system", "rbac.authorization.k8s.io", "roles", "bind"): BIND,
}


def stand_in(group, plural, kind, scope) -> dict:
    """A definition that has the cluster serve a kind of OpenShift, whatever is in it."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = "v1"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        # Groups of openshift.io are for the community's members only; this test is one for a moment.
        "metadata": {"name": f"{plural}.{group}", "annotations": {"api-approved.kubernetes.io": "unapproved, a test"}},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural},
            "scope": scope,
            "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}],
        },
    }


STAND_INS = [
    stand_in("monitoring.coreos.com", "servicemonitors", "ServiceMonitor", "Namespaced"),
    stand_in("monitoring.coreos.com", "prometheusrules", "PrometheusRule", "Namespaced"),
    stand_in("config.openshift.io", "apiservers", "APIServer", "Cluster"),
]


@pytest.fixture(scope="module")
def openshift_kinds(kubectl):
    """Kinds of OpenShift that the operator looks for."""
    made = []
    for definition in STAND_INS:
        name = definition["metadata"]["name"]
        if not kubectl.json("get", "customresourcedefinition", name, "--ignore-not-found"):
            kubectl.apply(definition)
            made.append(name)
        established(kubectl, name)
    yield
    delete_kinds(kubectl, *made)
    installed()


@pytest.fixture(scope="module")
def replicated_operator(kubectl, openshift_kinds):
    """Two replicas, so that they elect a leader."""
    site(variables={"probe": "never", "operator_replicas": 2})


@pytest.fixture(scope="module")
def life(replicated_operator, own_cluster, kubectl):
    """All requests of the operator while a resource lives and dies, and it is itself restarted."""
    audit = Audit(own_cluster / "logs/audit.log", kubectl)
    scheduler = Scheduler(kubectl, f"life-{uuid.uuid4().hex[:6]}")
    made = "serviceaccount,service,role,rolebinding,secret,deployment,networkpolicy,servicemonitor,poddisruptionbudget"
    selector = f"--selector=app.kubernetes.io/instance={scheduler.name}"
    with audit:
        kubectl("delete", "lease", OPERATOR, f"--namespace={NAMESPACE}")
        restart(kubectl)
        scheduler.write()
        eventually(lambda: scheduler.condition("Degraded")[1] == "ConfigMapMissing")
        scheduler.write_config()
        scheduler.rest()
        # Highly available, and an override
        overrides = {"podDisruptionBudget": {"minAvailable": 1}}
        scheduler.write(topology={"mode": "HighlyAvailable"}, unsupportedConfigOverrides=overrides, operatorLogLevel="Debug")
        eventually(lambda: scheduler.get("poddisruptionbudget"))
        scheduler.rest()
        # Somebody's hand in everything that was made
        edit = "--overwrite", "app.kubernetes.io/managed-by=somebody"
        kubectl("label", made, f"--namespace={NAMESPACE}", selector, *edit)
        kubectl("label", "clusterrolebinding", selector, *edit)
        kubectl("label", "rolebinding", "--namespace=kube-system", selector, *edit)
        kubectl("annotate", "secondaryscheduler", scheduler.name, f"--namespace={NAMESPACE}", "look=again")
        eventually(
            lambda: not kubectl.json("get", made, f"--namespace={NAMESPACE}", f"{selector},app.kubernetes.io/managed-by=somebody")["items"]
        )
        eventually(lambda: not kubectl.json("get", "clusterrolebinding", f"{selector},app.kubernetes.io/managed-by=somebody")["items"])
        scheduler.write()
        scheduler.rest()
        # Another rollout: the configuration of the first is forgotten
        scheduler.write_config(scheduler.config(weight=2))
        scheduler.rest()
        # An image that nobody knows and that does not run
        scheduler.write(schedulerImage="registry.k8s.io/pause:3.10")
        eventually(lambda: scheduler.condition("Degraded")[0] == "True")
        scheduler.write(managementState="Removed")
        eventually(lambda: scheduler.condition("Available")[1] == "Removed")
        scheduler.delete()
        with Reader.running(kubectl) as reader:
            assert reader.scrape().status == 200
        # The watches of before end, and so are logged.
        restart(kubectl)
    return audit.requests(user=ACCOUNT)


def granted(kubectl) -> set:
    """(namespace, API group, resource, verb) of every rule that the operator's ServiceAccount is bound to; no namespace: cluster-wide."""
    found = set()
    for binding in kubectl.json("get", "clusterrolebindings,rolebindings", "--all-namespaces")["items"]:
        subjects = [(s["kind"], s.get("namespace"), s["name"]) for s in binding.get("subjects") or []]
        if ("ServiceAccount", NAMESPACE, OPERATOR) not in subjects:
            continue
        namespace, reference = binding["metadata"].get("namespace", ""), binding["roleRef"]
        place = [f"--namespace={namespace}"] if reference["kind"] == "Role" else []
        for rule in kubectl.json("get", reference["kind"], reference["name"], *place)["rules"]:
            found |= {
                (namespace, group, resource, verb)
                for group in rule.get("apiGroups", [])
                for resource in rule.get("resources", rule.get("nonResourceURLs", []))
                for verb in rule["verbs"]
            }
    return found


def uses(request) -> set:
    """What a request that was let through shows to be needed."""
    resource = "/".join(filter(None, (request.resource, request.subresource)))
    # An apply that finds nothing is let through only to who may create.
    verbs = {"patch", "create"} if (request.verb, request.code) == ("patch", 201) else {request.verb}
    verbs |= {"list"} if request.with_list else set()
    return {(request.namespace, request.group, resource, verb) for verb in verbs}


def test_no_rule_of_the_operator_contains_a_wildcard(replicated_operator, kubectl):
    rules = granted(kubectl)
    assert rules
    assert not [rule for rule in rules if "*" in "".join(rule)]


def test_no_request_of_the_operator_is_unauthorized_or_forbidden(life):
    assert len(life) > 100
    assert [request for request in life if request.code in (401, 403)] == []


def test_every_granted_permission_is_used(life, kubectl):
    used = {use for request in life if request.resource for use in uses(request)}
    rules = granted(kubectl)
    assert sorted(rules - used - set(UNUSED)) == []
    assert sorted(set(UNUSED) & used) == [], "these are used: no reason is needed"
    assert sorted(set(UNUSED) - rules) == [], "these are not granted"


def without(role, resource, verb):
    """A role that does not grant one verb on one resource."""
    poorer = copy.deepcopy(role)
    (rule,) = [rule for rule in poorer["rules"] if resource in rule["resources"] and verb in rule["verbs"]]
    rule["resources"].remove(resource)
    poorer["rules"].append({**rule, "resources": [resource], "verbs": [other for other in rule["verbs"] if other != verb]})
    poorer["rules"] = [rule for rule in poorer["rules"] if rule["resources"] and rule["verbs"]]
    return poorer


@pytest.mark.long
@pytest.mark.parametrize(("place", "resource", "verb"), [(ROLE, "deployments", "patch"), (CLUSTER_ROLE, "nodes", "list")])
def test_a_missing_permission_is_reported_and_the_scheduler_recovers_by_itself(place, resource, verb, replicated_operator, kubectl):
    role = kubectl.json("get", *place)
    for key in ("resourceVersion", "managedFields", "uid"):
        role["metadata"].pop(key, None)
    scheduler = Scheduler(kubectl, f"poor-{uuid.uuid4().hex[:6]}")
    kubectl("replace", "--filename=-", stdin=without(role, resource, verb))
    try:
        scheduler.write_config()
        scheduler.write(topology={"mode": "HighlyAvailable", "highlyAvailableTopology": {"maxReplicas": 1}})
        message = eventually(lambda: scheduler.condition("Degraded")[0] == "True" and scheduler.condition("Degraded")[2])
        assert resource in message
        assert "forbidden" in message
        kubectl("replace", "--filename=-", stdin=role)
        scheduler.rest()
        assert scheduler.condition("Degraded")[0] == "False"
    finally:
        kubectl("replace", "--filename=-", stdin=role)
        scheduler.delete()
