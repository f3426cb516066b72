# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Module apply when something is in the way: one readable message with object, field and reason, or a retry that succeeds."""

from __future__ import annotations

import json
import re
import threading
import time
from urllib.parse import urlsplit

import pytest
from support.access import service_account
from support.direct_module import run_directly
from support.objects import config_map, deployment, thing, things
from support.scheduler import eventually
from support.tcp_proxy import TcpProxy


@pytest.fixture
def fails(apply):
    """Run the module, which has to fail, and return its message."""

    def run(manifests=None, **options):
        return apply(manifests, succeed=False, **options).message

    return run


def invalid(namespace):
    broken = deployment(namespace, replicas=-1)
    broken["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
    return broken


class TestRefusals:
    def test_a_conflict_names_field_and_manager_and_force_takes_over(self, apply, fails, kubectl, namespace):
        kubectl("create", "configmap", "settings", "--from-literal=a=theirs", "--from-literal=b=theirs", f"--namespace={namespace}")
        for check in (True, False):
            message = fails(config_map(namespace, a="ours", b="theirs"), check=check)
            assert message.startswith(f"ConfigMap {namespace}/settings: could not apply it: conflict: .data.a is managed by ")
            assert "kubectl-create" in message
            assert "force_conflicts: true" in message
        assert kubectl.json("get", "configmap", "settings", f"--namespace={namespace}")["data"]["a"] == "theirs"
        apply(config_map(namespace, a="ours", b="theirs"), force_conflicts=True)
        assert kubectl.json("get", "configmap", "settings", f"--namespace={namespace}")["data"]["a"] == "ours"

    def test_invalid_fields_are_named_with_the_server_s_reason(self, fails, namespace):
        for check in (True, False):
            message = fails(invalid(namespace), check=check)
            assert message.startswith(f"Deployment {namespace}/app: could not apply it: the server finds it invalid: ")
            assert "spec.replicas: Invalid value: -1: must be greater than or equal to 0" in message
            assert "spec.template.metadata.labels" in message

    def test_an_immutable_member_is_not_created_again(self, apply, fails, kubectl, namespace):
        """Only an operator does that, which cannot ask its user."""
        kept = {**config_map(namespace, a="1"), "immutable": True}
        apply(kept, set_name="kept", set_namespace=namespace)
        before = kubectl.get("configmap", "settings", namespace)
        for check in (True, False):
            message = fails({**kept, "data": {"a": "2"}}, set_name="kept", set_namespace=namespace, check=check)
            assert "field is immutable when `immutable` is set" in message
        assert kubectl.get("configmap", "settings", namespace) == before

    def test_unknown_fields_and_wrong_types_are_rejected(self, fails, namespace):
        typo = deployment(namespace)
        typo["spec"]["replicsa"] = 1
        assert ".spec.replicsa: field not declared in schema" in fails(typo)
        assert ".data.a: expected string, got 5" in fails(config_map(namespace, a=5))

    def test_the_message_of_an_admission_policy_is_reported(self, fails, kubectl, namespace):
        about = {"name": namespace}
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
        matching = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}, "resourceRules": [rule]}
        validation = {"expression": "object.metadata.name != 'settings'", "message": "settings belong into the vault"}
        kubectl.apply(
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "ValidatingAdmissionPolicy",
                "metadata": about,
                "spec": {"matchConstraints": matching, "validations": [validation]},
            },
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "ValidatingAdmissionPolicyBinding",
                "metadata": about,
                "spec": {"policyName": namespace, "validationActions": ["Deny"]},
            },
        )
        try:
            run = eventually(
                lambda: (one := run_directly("apply", manifests=config_map(namespace), check=True, succeed=None)).failed and one
            )
            assert run.message.startswith(f"ConfigMap {namespace}/settings: could not apply it: ")
            assert "settings belong into the vault" in run.message
        finally:
            kubectl("delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", namespace)

    def test_the_changes_before_a_failure_are_reported(self, apply, kubectl, namespace):
        """In a namespace that does not exist yet, nothing can be validated before it is written"""
        new = f"{namespace}-new"
        own_namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": new}}
        try:
            run = apply([own_namespace, config_map(new, "done"), invalid(new), deployment(new, "never")], succeed=False)
        finally:
            kubectl("delete", "namespace", new, "--ignore-not-found", "--wait=false")
        assert run.actions() == {f"Namespace {new}": "created", "ConfigMap done": "created"}
        assert run.result["changed"]
        assert run.result["requests"]["write"] == 3
        assert (run.result["status"], run.result["reason"]) == (422, "Invalid")

    def test_all_rejections_by_the_server_are_reported_before_the_first_write(self, apply, kubectl, namespace):
        manifests = [config_map(namespace, "never"), invalid(namespace), config_map(namespace, "Invalid")]
        run = apply(manifests, succeed=False)
        assert f"Deployment {namespace}/app: could not apply it: the server finds it invalid: " in run.message
        assert f"ConfigMap {namespace}/Invalid: could not apply it: " in run.message
        assert run.message.endswith("Nothing was written.")
        assert run.result["requests"]["write"] == 0
        assert not run.result["changed"]
        may = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "patch", "create"]}
        may_read = {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"]}
        with service_account(kubectl, namespace, may, may_read) as robot:
            run = apply([config_map(namespace, "never"), deployment(namespace)], succeed=False, **robot)
        assert "verb patch, resource deployments" in run.message
        assert run.result["requests"]["write"] == 0
        assert kubectl.json("get", "configmap", "never", f"--namespace={namespace}", "--ignore-not-found") is None

    def test_the_error_for_a_missing_permission_names_account_rule_and_remedy(self, fails, kubectl, namespace):
        may_read = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}
        with service_account(kubectl, namespace, may_read) as robot:
            for check in (True, False):
                message = fails(config_map(namespace), check=check, **robot)
                who = f"system:serviceaccount:{namespace}:robot"
                assert message.startswith(f"ConfigMap {namespace}/settings: could not apply it: ")
                assert f'Grant it to "{who}" with a rule for verb patch, resource configmaps, API group ""' in message
            message = fails(deployment(namespace), **robot)
            assert message.startswith(f"Deployment {namespace}/app: could not read it: ")
            assert 'verb get, resource deployments, API group "apps"' in message
            kubectl.apply(config_map(namespace))
            message = fails(config_map(namespace), state="absent", **robot)
            assert message.startswith(f"ConfigMap {namespace}/settings: could not delete it: ")
            assert "verb delete" in message

    def test_kinds_that_may_not_be_listed_end_only_a_removal_without_inventory(self, apply, fails, kubectl, namespace):
        may = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}
        kinds = [{"api_version": "v1", "kind": "ConfigMap", "namespace": namespace}, {"api_version": "v1", "kind": "Node"}]
        of_set = {"set_name": "mine", "set_namespace": namespace, "set_kinds": kinds}
        with service_account(kubectl, namespace, may) as robot:
            run = apply([config_map(namespace)], **of_set, **robot)
            assert run.actions()["ConfigMap settings"] == "created"
            assert "verb list, resource nodes" in "".join(run.warnings)
            assert apply([], state="absent", **of_set, **robot).actions()["ConfigMap settings"] == "deleted"
            assert "verb list, resource nodes" in fails(state="absent", **of_set, **robot)

    def test_an_error_about_granting_too_many_permissions_names_the_required_verbs(self, fails, kubectl, namespace):
        rbac = "rbac.authorization.k8s.io"
        may = {"apiGroups": [rbac], "resources": ["roles"], "verbs": ["get", "patch", "create"]}
        role = {
            "apiVersion": f"{rbac}/v1",
            "kind": "Role",
            "metadata": {"name": "greedy", "namespace": namespace},
            "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}],
        }
        with service_account(kubectl, namespace, may) as robot:
            message = fails(role, **robot)
        assert message.startswith(f"Role {namespace}/greedy: could not apply it: ")
        assert "must have its permissions, or the verbs escalate and bind" in message

    def test_an_unknown_kind_and_a_missing_namespace_are_reported(self, fails, namespace):
        unknown = {"apiVersion": "unknown.example.com/v1", "kind": "Nothing", "metadata": {"name": "a", "namespace": namespace}}
        manifests = [config_map(namespace), unknown]
        assert fails(manifests).startswith(f"Nothing {namespace}/a: the API server does not serve unknown.example.com/v1 Nothing.")
        message = fails(config_map("nowhere"))
        assert message == (
            "ConfigMap nowhere/settings: could not apply it: namespace nowhere does not exist; put its Namespace into the "
            "manifests or create it first"
        )

    def test_a_superfluous_or_missing_namespace_is_reported(self, fails, namespace):
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "a", "namespace": "b"}}
        assert "ClusterRole objects are cluster-scoped; remove it" in fails(role)
        nowhere = config_map(namespace)
        del nowhere["metadata"]["namespace"]
        assert "ConfigMap settings: metadata.namespace is missing" in fails(nowhere)

    def test_a_namespace_that_is_being_deleted_is_reported(self, apply, fails, kubectl, namespace):
        held = config_map(namespace, "held")
        held["metadata"]["finalizers"] = ["example.com/hold"]
        kubectl.apply(held)
        kubectl("delete", "namespace", namespace, "--wait=false")
        own_namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        try:
            message = fails(config_map(namespace))
            assert "because it is being terminated. Wait until the namespace is deleted" in message
            # As part of the set it is waited for, to be made anew
            message = fails([own_namespace, config_map(namespace)], wait_timeout=2)
            assert message.startswith(f"Not deleted after 2 s (wait_timeout). Namespace {namespace}: held by ")
            predicted = apply([own_namespace, config_map(namespace)], check=True)
            assert predicted.result["unvalidated"][0]["reason"] == "it is being deleted"
        finally:
            release = threading.Timer(
                2, kubectl, ["patch", "configmap", "held", f"--namespace={namespace}", "--patch", '{"metadata":{"finalizers":null}}']
            )
            release.start()
        run = apply([own_namespace, config_map(namespace)])
        release.join()
        assert run.actions() == {f"Namespace {namespace}": "created", "ConfigMap settings": "created"}
        assert kubectl.json("get", "configmap", "settings", f"--namespace={namespace}")


class TestInput:
    """What is refused before the cluster is asked; the manifests themselves are tested in tests/unit/plugins/module_utils/_cluster/test_manifests.py."""

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({}, "contain no object"),
            ({"state": "absent"}, "the task names no objects"),
            ({"prune": True}, "prune is true but set_name is missing"),
            ({"keep_existing": ["things.example.com"]}, "keep_existing is given but set_name is missing"),
            ({"take_ownership": ["things.example.com"]}, "take_ownership is given but set_name is missing"),
            ({"orphan": ["things.example.com"], "prune": True}, "orphan is given but set_name is missing"),
            ({"keep_nonempty": True}, "keep_nonempty is for deletions"),
            ({"orphan": ["things.example.com"], "set_name": "a", "set_namespace": "b"}, "orphan is given but prune is false"),
            ({"set_name": "mine", "prune": True}, "prune is true but set_namespace is missing"),
            ({"set_namespace": "mine"}, "set_namespace is given but set_name is missing"),
            ({"adopt": True}, "adopt is true but set_name is missing"),
            ({"adopt": True, "set_name": "mine", "state": "absent"}, "adopt is for objects that are applied"),
            ({"set_name": "Not a name", "set_namespace": "a"}, "set_name is 'Not a name'"),
            ({"set_name": "a" * 55, "set_namespace": "a"}, "at most 54"),
            ({"all_of": [{"api_version": "v1", "kind": "Pod"}]}, "use it only with state: absent"),
            ({"state": "absent", "subresource": "status"}, "state: present only"),
            ({"subresource": "status", "set_name": "a", "set_namespace": "b"}, "remove set_name and owner"),
            ({"wait_for": [{"kind": "Pod", "name": "a"}]}, "neither condition"),
            ({"wait_for": [{"kind": "Pod", "name": "a", "namespace": "b", "rollout": True}]}, "has no rollout"),
            ({"wait_for": [{"kind": "Nothing", "name": "a", "rollout": True}]}, "Nothing a has no api_version"),
            ({"wait_timeout": -1}, "wait_timeout is -1"),
        ],
    )
    def test_contradictory_options_are_rejected(self, fails, options, words):
        manifests = None if options in ({}, {"state": "absent"}) else config_map("default", "never")
        assert words in fails(manifests, **options)

    @pytest.mark.parametrize("data", [{}, {"objects": "nonsense"}])
    def test_an_inventory_with_invalid_contents_is_reported(self, fails, kubectl, namespace, data):
        kubectl.apply(config_map(namespace, "osso-set-mine", **data))
        message = fails(config_map(namespace), set_name="mine", set_namespace=namespace)
        assert message.startswith(f"ConfigMap {namespace}/osso-set-mine does not hold the inventory of a set")


def through(kubectl, port) -> dict:
    """The kubeconfig of the cluster, by way of a port on this machine."""
    config = kubectl.json("config", "view", "--minify", "--flatten", "--raw")
    cluster = config["clusters"][0]["cluster"]
    cluster["tls-server-name"] = urlsplit(cluster["server"]).hostname
    cluster["server"] = f"https://127.0.0.1:{port}"
    return config


@pytest.fixture
def proxy(kubectl):
    server = urlsplit(kubectl.json("config", "view", "--minify")["clusters"][0]["cluster"]["server"])
    with TcpProxy((server.hostname, server.port)) as proxy:
        yield proxy


class TestConnection:
    def test_a_run_survives_an_outage_of_the_api_server_of_10_s(self, apply, kubectl, api_server, proxy, namespace):
        manifests = [config_map(namespace, f"number-{number}") for number in range(200)]
        cut = threading.Thread(target=self.cut_when_it_writes, args=[api_server, proxy, namespace])
        cut.start()
        run = apply(manifests, kubeconfig=through(kubectl, proxy.port))
        cut.join()
        assert run.result["counts"]["created"] == len(manifests)
        assert self.cut_at < self.count(api_server, namespace)

    def cut_when_it_writes(self, api_server, proxy, namespace):
        deadline = time.monotonic() + 30
        while not (count := self.count(api_server, namespace)) and time.monotonic() < deadline:
            time.sleep(0.01)
        proxy.cut(10)
        type(self).cut_at = count

    @staticmethod
    def count(api_server, namespace):
        # A process of kubectl takes long enough for the run to be over.
        found = json.loads(api_server.get(f"/api/v1/namespaces/{namespace}/configmaps"))["items"]
        return sum("number-" in item["metadata"]["name"] for item in found)

    def test_an_api_server_that_stays_unreachable_is_reported_after_retry_seconds(self, apply, kubectl, proxy, namespace):
        config = through(kubectl, proxy.port)
        proxy.cut(60)
        run = apply(config_map(namespace), kubeconfig=config, retry_seconds=3, succeed=False)
        assert 2 < int(re.search(r"retried for (\d+) s", run.message)[1]) < 10
        assert f"https://127.0.0.1:{proxy.port} cannot be reached" in run.message
        assert run.message.startswith(f"ConfigMap {namespace}/settings: could not read it: ")
        assert run.result["status"] == 0

    def test_the_wait_continues_after_an_outage(self, apply, kubectl, proxy, namespace):
        group = f"{namespace}.example.com"
        apply([things(group), thing(group, namespace)])
        wait_for = [{"api_version": f"{group}/v1", "kind": "Thing", "name": "one", "namespace": namespace, "condition": {"type": "Ready"}}]
        status = json.dumps({"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
        become_ready = [
            "patch",
            f"things.{group}",
            "one",
            f"--namespace={namespace}",
            "--subresource=status",
            "--type=merge",
            "--patch",
            status,
        ]
        started = time.monotonic()
        threading.Timer(2, proxy.cut, [5]).start()
        ready = threading.Timer(4, kubectl, become_ready)
        ready.start()
        run = apply(thing(group, namespace), kubeconfig=through(kubectl, proxy.port), wait_for=wait_for, wait_timeout=60)
        took = time.monotonic() - started
        ready.join()
        kubectl("delete", "customresourcedefinition", f"things.{group}", "--wait=false")
        assert run.actions() == {"Thing one": "unchanged"}
        assert 6 < took < 50

    def test_a_certificate_from_an_unknown_ca_is_an_error_without_retries(self, fails, kubectl, proxy, tmp_path):
        config = through(kubectl, proxy.port)
        del config["clusters"][0]["cluster"]["certificate-authority-data"]
        message = fails(config_map("default", "never"), kubeconfig=config)
        assert "retried" not in message, "nothing to wait for"
        assert "could not be verified; give the CA that signed it" in message

    def test_unverified_certificates_are_warned_about(self, apply, kubectl, proxy):
        config = through(kubectl, proxy.port)
        del config["clusters"][0]["cluster"]["certificate-authority-data"]
        run = apply(config_map("default", "never"), kubeconfig=config, validate_certs=False, check=True)
        assert len(run.warnings) == 1
        assert f"The certificate of https://127.0.0.1:{proxy.port} is not verified" in run.warnings[0]

    def test_rejected_credentials_are_reported_without_their_token(self, fails, kubectl):
        config = kubectl.json("config", "view", "--minify", "--flatten", "--raw")
        config["users"][0]["user"] = {"token": "wrong-token-value"}
        run_message = fails(config_map("default", "never"), kubeconfig=config)
        assert "does not accept the credentials" in run_message
        assert "wrong-token-value" not in run_message

    @pytest.mark.parametrize(
        ("environment", "words"),
        [
            ({"KUBECONFIG": "/nonexistent", "HOME": "/nonexistent"}, "No usable credentials for a cluster"),
            (
                {"KUBECONFIG": "/nonexistent", "HOME": "/nonexistent", "KUBERNETES_SERVICE_HOST": "10.96.0.1"},
                "automountServiceAccountToken: true",
            ),
            ({"K8S_AUTH_HOST": "https://api.invalid:6443", "K8S_AUTH_API_KEY": "x"}, "cannot be resolved"),
        ],
    )
    def test_missing_or_unusable_access_to_a_cluster_is_reported(self, environment, words):
        run = run_directly("apply", manifests=config_map("default", "never"), env=environment, succeed=False)
        assert words in run.message
