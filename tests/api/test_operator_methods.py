# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whose operator comes by which method, and what is refused before anything is written, on a cluster without OLM.

What OLM does is in tests/olm/test_role.py.
"""

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import runner_annotations
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import target
from support import ansible_runs, upstream
from support.scheduler import eventually
from support.site import DEMO, NAMESPACE, RESOURCE, remove, removed

ROLE = [{"name": "Install", "ansible.builtin.import_role": {"name": "osso.scheduler.operator"}}]
UPSTREAM = {"operator_variant": "upstream", "operator_image": "quay.io/openshift/secondary-scheduler-operator:4.20"}
VALIDATION = "Validate the variables"
POLICY = f"osso-scheduler-operator.{NAMESPACE}"


def annotated(value, name="period", namespace=NAMESPACE, annotation=target.PERIOD_ANNOTATION):
    """A SecondaryScheduler with an annotation that ansible-operator reads, such as the period of its reconciles."""
    metadata = {"name": name, "namespace": namespace, "annotations": {annotation: value}}
    spec = {"schedulerConfig": "c", "schedulerImage": "i"}
    return {"apiVersion": "operator.openshift.io/v1", "kind": "SecondaryScheduler", "metadata": metadata, "spec": spec}


def dry_run(kubectl, resource):
    """What the API server says to its creation."""
    return kubectl("create", "--dry-run=server", "--filename=-", stdin=resource, check=False)


@pytest.fixture(scope="module")
def fresh(kubectl):
    """A cluster without any operator, and without OLM."""
    remove()
    if "operators.coreos.com/" in kubectl("api-versions").stdout:
        pytest.skip("this cluster has OLM; tests/olm/test_role.py has the cases with it")


@pytest.mark.parametrize(
    ("variables", "messages"),
    [
        ({"operator_method": "olm"}, ["operator_method is olm, but the cluster does not serve operators.coreos.com"]),
        (
            {"operator_catalog_image": "a/b:c", "operator_approval": "Manual"},
            ["operator_approval, operator_catalog_image cannot be honoured with operator_variant osso and operator_method manifests: there are neither"],
        ),
        ({"operator_method": "olm", "operator_image": "a/b:c", "operator_replicas": 2},
         ["operator_image, operator_replicas cannot be honoured with operator_variant osso and operator_method olm: OLM takes"]),
        ({**UPSTREAM, "operator_plugins": []}, ["operator_plugins cannot be honoured with operator_variant upstream and operator_method manifests: upstream"]),
        (
            {"operator_variant": "upstream", "operator_namespace": "other", "operator_watch_namespaces": ["*"]},
            [
                f"operator_namespace is other, but upstream's operator works in {NAMESPACE} alone",
                f"operator_watch_namespaces is *, but upstream's operator watches {NAMESPACE} alone",
                "operator_image is missing: with operator_variant upstream and operator_method manifests",
            ],
        ),
        # F016: the test cluster is Kubernetes 1.34, as OpenShift 4.21
        ({"operator_variant": "upstream", "operator_method": "olm", "operator_version": "1.6.0"},
         ["operator_version is 1.6.0, which is for OpenShift 4.22 and 4.23. Choose 1.5.0 or 1.5.1, or leave it out"]),
        ({"operator_method": "olm", "operator_upgrade": "version"}, ["operator_upgrade is version, but operator_version is missing"]),
        ({"operator_method": "olm", "operator_approve": "1.0.0"}, ["operator_approve is 1.0.0, but operator_approval is Automatic"]),
    ],
)  # fmt: skip
def test_options_that_the_method_cannot_honour_are_rejected_before_any_write(fresh, play, audit, variables, messages):
    with audit:
        (failure,) = play(ROLE, variables=variables, succeed=False).failures
    assert failure.task.endswith(VALIDATION)
    for message in messages:
        assert message in failure.result["msg"]
    assert audit.writes() == []


@pytest.fixture(scope="class")
def installation(fresh, kubectl):
    """The variables and the run of an installation by `auto`."""
    # What is for OLM may stand beside what is for manifests, in one file for clusters with and without.
    variables = {
        "operator_method": "auto",
        "operator_catalog_image": "registry.example.com/catalog:1",
        **yaml.safe_load(DEMO.read_text()),
    }
    variables["operator_wait"] = False
    variables.pop("secondary_schedulers")
    yield variables, ansible_runs.play(ROLE, variables=variables)
    removed(kubectl)


class TestManifests:
    def test_method_auto_selects_manifests_where_olm_does_not_exist(self, installation, play):
        variables, run = installation
        assert "Deployment" in {item["kind"] for item in run.task("Apply the operator").result["objects"]}
        assert play(ROLE, variables=variables).changed == []

    def test_a_reconcile_period_that_is_not_a_duration_is_rejected(self, installation, kubectl):
        """ansible-operator would ignore the resource. A resource that has one already can still be changed otherwise, and deleted."""
        values = [
            "10m",
            "1h30m",
            "0",
            "-5m",
            "1.5h",
            "+.5s",
            "2µs",
            "2562047h",
            "0s",
            "1s",
            "+.5h",
            "1000000µs",
            "1000000\u03bcs",
            "999ms1000us",
            "garbage",
            "10",
            "",
            "1h0",
            "5 m",
            "1d",
            ".s",
            "2562048h",
            "2562047h60m",
            "1ms",
            "0.5s",
            "0h999ms999us",
            "1ns",
            "\uff11m",
        ]
        usable = [value for value in values if not runner_annotations.problem(annotated(value))]
        assert (usable[0], usable[-1], len(usable)) == ("10m", "999ms1000us", 12)
        # A policy is effective a moment after its creation.
        eventually(lambda: "a duration such as 10m" in dry_run(kubectl, annotated("garbage")).stderr)
        assert [value for value in values if dry_run(kubectl, annotated(value)).returncode == 0] == usable
        assert "from 1s to 2562047h" in dry_run(kubectl, annotated("2562048h")).stderr
        assert dry_run(kubectl, annotated("garbage", namespace="default")).returncode == 0, "the operator does not watch this namespace"
        assert dry_run(kubectl, {**annotated(""), "metadata": {"name": "none", "namespace": NAMESPACE}}).returncode == 0

        binding = kubectl.json("get", "validatingadmissionpolicybinding", POLICY)
        kubectl("delete", "validatingadmissionpolicybinding", POLICY)
        eventually(lambda: dry_run(kubectl, annotated("garbage")).returncode == 0)
        kubectl.apply(annotated("garbage"))
        kubectl.apply({**binding, "metadata": {"name": POLICY, "labels": binding["metadata"]["labels"]}})
        eventually(lambda: dry_run(kubectl, annotated("garbage", "other")).returncode != 0)
        kubectl("annotate", RESOURCE, "period", "a=b", f"--namespace={NAMESPACE}")
        change = ["annotate", RESOURCE, "period", f"--namespace={NAMESPACE}", "--overwrite"]
        assert "a duration such as 10m" in kubectl(*change, f"{target.PERIOD_ANNOTATION}=rubbish", check=False).stderr
        kubectl(*change, f"{target.PERIOD_ANNOTATION}=10m")

    @pytest.mark.parametrize(
        ("annotation", "usable", "unusable"),
        [
            (target.VERBOSITY_ANNOTATION, ["0", "7"], ["8", "999999999999999", "-1", "", "a", "3\n"]),
            (target.ARTIFACTS_ANNOTATION, ["3", "10", "100"], ["0", "-1", "1", "2", "101", "", "5a"]),
        ],
    )
    def test_numbers_that_stop_the_operator_are_rejected(self, installation, kubectl, annotation, usable, unusable):
        def answer(value):
            return dry_run(kubectl, annotated(value, name="numbers", annotation=annotation))

        eventually(lambda: answer("a").returncode != 0)
        assert [value for value in [*usable, *unusable] if answer(value).returncode == 0] == usable
        assert "remove it, or set a number" in answer(unusable[0]).stderr

    def test_removal_of_the_operator_deletes_its_admission_policy(self, installation, kubectl):
        names = "validatingadmissionpolicies,validatingadmissionpolicybindings"
        assert kubectl("get", names, "--output=name").stdout.count(POLICY) == 2
        remove()
        assert kubectl("get", names, "--output=name").stdout == ""


class TestUpstream:
    """Its image is in no package registry; that its own play part is right is proved by what the API server says to the objects."""

    def test_check_mode_predicts_the_upstream_objects_and_a_rerun_writes_nothing(self, fresh, play, kubectl, audit):
        variables = {**UPSTREAM, "operator_wait": False}
        predicted = play(ROLE, variables=variables, check=True)
        run = play(ROLE, variables=variables)
        assert predicted.changed == run.changed != []
        deployment = kubectl.json("get", "deployment", "secondary-scheduler-operator", f"--namespace={NAMESPACE}")
        pod = deployment["spec"]["template"]["spec"]
        assert pod["containers"][0]["image"] == UPSTREAM["operator_image"]
        assert pod["serviceAccountName"] == "secondary-scheduler-operator"
        with audit:
            assert play(ROLE, variables=variables).changed == []
        assert audit.writes() == []

    def test_the_upstream_operator_has_the_permissions_that_it_needs(self, fresh, kubectl):
        account = f"--as=system:serviceaccount:{NAMESPACE}:secondary-scheduler-operator"
        for verb, resource, *subresource in (
            ("create", "clusterrolebindings.rbac.authorization.k8s.io"),
            ("patch", "secondaryschedulers.operator.openshift.io", "--subresource=status"),
            ("create", "pods", "--subresource=binding"),
            ("list", "nodes"),
        ):
            answer = kubectl("auth", "can-i", verb, resource, *subresource, account, "--all-namespaces", check=False)
            assert answer.stdout.strip() == "yes", (verb, resource, answer.stderr)

    def test_our_operator_is_rejected_beside_the_upstream_operator(self, fresh, play):
        (failure,) = play(ROLE, variables={"operator_image": "a/b:c"}, succeed=False).failures
        assert f"The operator {NAMESPACE}/secondary-scheduler-operator already watches {NAMESPACE}" in failure.result["msg"]

    def test_removal_of_our_operator_does_not_remove_schedulers_of_the_upstream_operator(self, fresh, play, audit):
        with audit:
            (failure,) = play(ROLE, variables={"operator_state": "absent"}, succeed=False).failures
        assert f"The operator {NAMESPACE}/secondary-scheduler-operator (upstream) watches {NAMESPACE}" in failure.result["msg"]
        assert "Set operator_variant to upstream" in failure.result["msg"]
        assert audit.writes() == []

    def test_removal_of_the_upstream_operator_leaves_no_object(self, fresh, play, kubectl):
        resource = {"apiVersion": "operator.openshift.io/v1", "kind": "SecondaryScheduler"}
        metadata = {"namespace": NAMESPACE, "name": "cluster", "uid": "former"}
        for obj in upstream.objects({**resource, "metadata": metadata, "spec": {"schedulerConfig": "c", "schedulerImage": "i"}}):
            if obj["kind"] == "ClusterRoleBinding":
                kubectl("create", "--filename=-", stdin=obj)
        changed = "secondary-scheduler-system-volume-scheduler"
        others = json.dumps({"subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "nobody"}]})
        kubectl("patch", "clusterrolebinding", changed, "--type=merge", f"--patch={others}")
        play(ROLE, variables={**UPSTREAM, "operator_state": "absent"})
        left = kubectl("get", "clusterroles,clusterrolebindings,namespaces,customresourcedefinitions", "--output=name").stdout
        kubectl("delete", "clusterrolebinding", changed)
        assert [name for name in left.split() if "secondary" in name] == [f"clusterrolebinding.rbac.authorization.k8s.io/{changed}"]
