# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Module apply and what others add to pod templates: removed once, and reported where it returns at once."""

from __future__ import annotations

import copy
import json
from datetime import datetime, timedelta

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._operand.rollout import has_served
from support.admission import mutating_policy
from support.objects import deployment
from support.scheduler import eventually

RESTARTED = "kubectl.kubernetes.io/restartedAt"
# What others may add, each as a strategic merge patch of the template
ADDITIONS = {
    "spec.template.spec.containers[name=main].env[name=ADDED]": {
        "spec": {"containers": [{"name": "main", "env": [{"name": "ADDED", "value": "1"}]}]}
    },
    "spec.template.metadata.annotations['example.com/added']": {"metadata": {"annotations": {"example.com/added": "1"}}},
    "spec.template.spec.containers[name=sidecar]": {"spec": {"containers": [{"name": "sidecar", "image": "registry.k8s.io/pause:3.10"}]}},
    "spec.template.spec.volumes[name=added]": {"spec": {"volumes": [{"name": "added", "emptyDir": {}}]}},
    "spec.template.spec.hostNetwork": {"spec": {"hostNetwork": True}},
    "spec.template.spec.containers[name=main].resources": {
        "spec": {"containers": [{"name": "main", "resources": {"limits": {"cpu": "1"}}}]}
    },
    "spec.template.spec.tolerations": {"spec": {"tolerations": [{"operator": "Exists"}]}},
}


def workload(namespace, **pod) -> dict:
    """A Deployment with fields beside which, and in which, others can add something."""
    obj = deployment(namespace, replicas=0, **pod)
    obj["spec"]["template"]["spec"]["containers"][0] |= {
        "ports": [{"containerPort": 1}],
        "livenessProbe": {"httpGet": {"port": 1}},
        "resources": {},
    }
    return obj


@pytest.fixture
def live(kubectl, namespace):
    return lambda: kubectl.json("get", "deployment", "app", f"--namespace={namespace}", "--show-managed-fields")


@pytest.fixture
def patch(kubectl, namespace):
    """Change the template as another manager."""

    def run(template, manager="somebody"):
        text = json.dumps({"spec": {"template": template}})
        kubectl("patch", "deployment", "app", f"--namespace={namespace}", f"--field-manager={manager}", f"--patch={text}")

    return run


def test_additions_of_others_are_removed_by_one_change_of_the_pod_template(apply, patch, live, namespace):
    wanted = workload(namespace)

    def run(**options):
        return apply(wanted, revert_additions=True, **options)

    run()
    declared = live()["spec"]["template"]
    assert run().result["requests"] == {"read": 1, "write": 0, "dry_run": 0}, "defaults are no additions"
    patch({"metadata": {"annotations": {RESTARTED: "2026-01-01T00:00:00Z"}}}, manager="kubectl-rollout")
    assert run().result["requests"]["write"] == 0
    for number, template in enumerate(ADDITIONS.values()):
        patch(template, manager=f"somebody-{number % 2}")
    assert apply(wanted).result["counts"]["unchanged"] == 1, "without the option they stay"

    before = live()
    predicted = run(check=True)
    assert predicted.result["requests"]["write"] == 0
    (warning,) = predicted.warnings
    assert "Would be removed." in warning
    assert [text for text in (*ADDITIONS, "(field manager somebody-0)", "(field manager somebody-1)") if text not in warning] == []
    done = run()
    assert [text.replace("Would be", "Was") for text in predicted.warnings] == done.warnings
    assert done.actions() == predicted.actions() == {"Deployment app": "updated"}
    after = live()
    assert after["metadata"]["generation"] == before["metadata"]["generation"] + 1
    assert after["spec"]["template"]["metadata"].pop("annotations") == {RESTARTED: "2026-01-01T00:00:00Z"}
    assert after["spec"]["template"] == declared
    again = run()
    assert again.result["requests"]["write"] == 0
    assert again.result["additions"] == []


def test_an_own_field_that_leaves_the_manifest_is_not_an_addition_of_others(apply, live, namespace):
    terms = [{"weight": 1, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "app"}}}}]
    apply(
        workload(namespace, affinity={"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}), revert_additions=True
    )
    done = apply(workload(namespace), revert_additions=True)
    assert (done.result["additions"], done.warnings) == ([], [])
    assert "affinity" not in live()["spec"]["template"]["spec"]
    assert apply(workload(namespace), revert_additions=True).result["requests"]["write"] == 0


def version_at_rest(live) -> str:
    """The resourceVersion once the controller of Deployments has reported the end of the rollout, so that it writes no more."""
    return eventually(lambda: has_served(found := live()) and found["metadata"]["resourceVersion"])


def test_an_addition_that_returns_at_once_is_reported_and_left_in_place(apply, patch, live, namespace):
    def run(manifest):
        return apply(manifest, revert_additions=True)

    def reported(done):
        return [(one["field"], one["manager"]) for one in done.result["additions"]]

    run(workload(namespace))
    field, template = next(iter(ADDITIONS.items()))
    patch(template)
    assert reported(run(workload(namespace))) == []
    patch(template)
    version = version_at_rest(live)
    done = run(workload(namespace))
    assert reported(done) == [(field, "somebody")]
    assert any(f"{field} (field manager somebody)" in text for text in done.warnings)
    assert live()["metadata"]["resourceVersion"] == version
    # Something else is removed all the same, and with another template everything once more.
    patch(ADDITIONS["spec.template.metadata.annotations['example.com/added']"], manager="another")
    assert reported(run(workload(namespace))) == [(field, "somebody")]
    assert "annotations" not in live()["spec"]["template"]["metadata"]
    assert reported(run(workload(namespace, priorityClassName="system-cluster-critical"))) == []
    assert "env" not in live()["spec"]["template"]["spec"]["containers"][0]


ADDING = """Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [
    Object.spec.template.spec.containers{name: "main", env: [Object.spec.template.spec.containers.env{name: "ADDED", value: "1"}]},
    Object.spec.template.spec.containers{name: "sidecar", image: "registry.k8s.io/pause:3.10"}]}}}}"""
REPLACING = """Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [
    Object.spec.template.spec.containers{name: "main", image: "mirror.example.com/pause:3.10"}]}}}}"""


@pytest.fixture(params=[ADDING])
def policy(request, kubectl, namespace):
    """A mutating admission policy for every Deployment of the namespace; by default it adds a variable and a sidecar."""
    with mutating_policy(kubectl, namespace, request.param):
        yield


def test_a_mutating_admission_policy_is_not_fought(policy, apply, live, namespace):
    runs = [apply(workload(namespace), revert_additions=True)]
    version_at_rest(live)  # a write of the controller would be a conflict, and a write more
    runs += [apply(workload(namespace), revert_additions=True) for _number in range(3)]
    assert [done.result["requests"]["write"] for done in runs] == [1, 2, 0, 0]
    assert live()["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1", "the attempt to revert replaces no pod"
    expected = [("spec.template.spec.containers[name=main].env[name=ADDED]", ""), ("spec.template.spec.containers[name=sidecar]", "")]
    for done in runs[1:]:
        assert [(one["field"], one["manager"]) for one in done.result["additions"]] == expected
        assert any("containers[name=sidecar] (mutating admission)" in text for text in done.warnings)


@pytest.mark.parametrize("policy", [REPLACING], indirect=True)
def test_a_field_that_a_mutating_admission_policy_replaces_is_reported(policy, apply, live, namespace):
    wanted = workload(namespace)
    wanted["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1000m"}}
    first = apply(wanted, revert_additions=True)
    version = version_at_rest(live)
    expected = {
        "field": "spec.template.spec.containers[name=main].image",
        "manager": "",
        "declared": '"registry.k8s.io/pause:3.10"',
        "live": '"mirror.example.com/pause:3.10"',
    }
    for done in (first, apply(wanted, revert_additions=True), apply(wanted, revert_additions=True, check=True)):
        (one,) = done.result["additions"]
        assert {key: one[key] for key in expected} == expected
        (warning,) = done.warnings
        assert 'declared "registry.k8s.io/pause:3.10", live "mirror.example.com/pause:3.10"' in warning
    assert not done.result["changed"]
    assert live()["metadata"]["resourceVersion"] == version, "nothing is stored again"


def test_a_field_that_was_left_in_place_is_removed_again_after_a_while(apply, patch, live, namespace):
    """so a person's edit of next week is no reason to give up"""
    from ansible_collections.osso.scheduler.plugins.module_utils._cluster.additions import AT_ONCE, evaluate

    wanted = workload(namespace)
    apply(wanted, revert_additions=True)
    _field, template = next(iter(ADDITIONS.items()))
    for _number in range(2):
        patch(template)
        apply(wanted, revert_additions=True)
    now = live()
    assert evaluate(now, wanted, "osso.scheduler").disputed
    later = copy.deepcopy(now)
    (entry,) = [one for one in later["metadata"]["managedFields"] if one["manager"] == "somebody"]
    time = datetime.strptime(entry["time"], "%Y-%m-%dT%H:%M:%SZ") + timedelta(seconds=AT_ONCE + 60)
    entry["time"] = time.strftime("%Y-%m-%dT%H:%M:%SZ")
    assert evaluate(later, wanted, "osso.scheduler").disputed == []
    assert evaluate(later, wanted, "osso.scheduler").fresh
