# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Module apply on a cluster: what is created, left alone, updated, removed, and what is told about it."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import threading
from pathlib import Path

import pytest
import yaml
from support.direct_module import run_directly
from support.kinds import delete_kinds, established
from support.objects import config_map, deployment, thing, things


@pytest.fixture
def new(kubectl, namespace):
    """Name of a namespace that does not exist yet."""
    new = f"{namespace}-new"
    yield new
    kubectl("delete", "namespace", new, "--ignore-not-found", "--wait=false")


def everything(namespace) -> list:
    """Objects with what tends to differ between manifest and cluster: defaults, zero values, quantities, keyed, set and atomic lists."""
    text = Path(__file__).with_name("test_apply_set.yaml").read_text().replace("NAMESPACE", namespace)
    return yaml.safe_load(text)["items"]


@pytest.fixture
def cluster_scoped(kubectl, namespace):
    """Removes the cluster-scoped objects of `everything`."""
    yield
    for kind in ("clusterrole", "clusterrolebinding", "priorityclass", "validatingwebhookconfiguration"):
        kubectl("delete", kind, namespace, "--ignore-not-found")


def versions(kubectl, result) -> dict:
    """resourceVersion of each object in a result."""
    found = {}
    for one in result["objects"]:
        group = one["apiVersion"].rpartition("/")[0]
        kind = f"{one['kind']}.{group}" if group else one["kind"]
        where = [f"--namespace={one['namespace']}"] if one["namespace"] else []
        found[one["kind"], one["name"]] = kubectl.json("get", kind, one["name"], *where)["metadata"]["resourceVersion"]
    return found


class TestLifeCycle:
    def test_a_second_run_writes_nothing(self, apply, kubectl, namespace, group, cluster_scoped):
        # Without replicas: the controllers' status updates would change resourceVersions
        manifests = [*everything(namespace), thing(group, namespace), things(group)]
        first = apply(manifests, set_name="all", set_namespace=namespace)
        assert set(first.actions().values()) == {"created"}
        assert len(first.actions()) == len(manifests) + 1
        assert first.result["requests"]["write"] == len(manifests) + 1
        assert first.result["changed"]
        kubectl("wait", "--for=jsonpath={.status.observedGeneration}", "deployment/app", f"--namespace={namespace}", "--timeout=100s")
        before = versions(kubectl, first.result)

        second = apply(manifests, set_name="all", set_namespace=namespace, prune=True)
        assert set(second.actions().values()) == {"unchanged"}
        assert not second.result["changed"]
        assert second.result["requests"] == {"read": len(manifests) + 1, "write": 0, "dry_run": 0}
        assert versions(kubectl, second.result) == before
        assert second.result["counts"]["unchanged"] == len(manifests) + 1

    def test_the_api_server_receives_no_write_from_a_second_run(self, apply, audit, namespace, cluster_scoped):
        def ours(requests):
            return [one for one in requests if namespace in (one.namespace, one.name)]

        manifests = everything(namespace)
        with audit:
            apply(manifests)
        assert len(ours(audit.writes(agent="python"))) == len(manifests)
        with audit:
            apply(manifests)
            apply(manifests, check=True, diff=True)
        assert ours(audit.writes(agent="python", dry_run=True)) == []
        assert len(ours(audit.requests(agent="python"))) == 2 * len(manifests)

    def test_each_change_of_a_manifest_is_applied(self, apply, kubectl, namespace):
        apply(config_map(namespace, a="1", b="2"))
        manifest = config_map(namespace, a="1", c="3")
        manifest["metadata"]["labels"] = {"l": "1"}
        run = apply([manifest, config_map(namespace, "other")])
        assert run.actions() == {"ConfigMap settings": "updated", "ConfigMap other": "created"}
        live = kubectl.json("get", "configmap", "settings", f"--namespace={namespace}")
        assert live["data"] == {"a": "1", "c": "3"}
        assert live["metadata"]["labels"] == {"l": "1"}
        assert run.result["objects"][0]["uid"] == live["metadata"]["uid"]
        run = apply(config_map(namespace))
        assert run.actions() == {"ConfigMap settings": "updated"}
        assert not kubectl.json("get", "configmap", "settings", f"--namespace={namespace}").get("data")

    def test_characters_outside_the_basic_multilingual_plane_are_applied_unchanged(self, apply, kubectl, namespace):
        # Among them the line breaks of YAML that JSON does not have, and what YAML does not allow
        odd = "x \x7f \x85 \x9f \u2028 \u2029 \ufeff \ufffe ü\n\ty"
        manifest = config_map(namespace, a="# 😀 \U0010fffd", b=odd)
        manifest["metadata"]["annotations"] = {"example.com/face": "😀"}
        # As the filter to_json has it in a template
        template = json.dumps(manifest)
        assert r"\ud83d\ude00" in template
        assert apply([manifest]).actions() == {"ConfigMap settings": "created"}
        live = kubectl.json("get", "configmap", "settings", f"--namespace={namespace}")
        assert (live["data"], live["metadata"]["annotations"]) == (manifest["data"], manifest["metadata"]["annotations"])
        assert apply([template]).actions() == {"ConfigMap settings": "unchanged"}
        assert apply([template.replace("# ", "#")]).actions() == {"ConfigMap settings": "updated"}
        live = kubectl.json("get", "configmap", "settings", f"--namespace={namespace}")
        assert live["data"] == {"a": "#😀 \U0010fffd", "b": odd}

    def test_fields_of_others_are_left_alone(self, apply, kubectl, namespace):
        apply(config_map(namespace, a="1"))
        kubectl("label", "configmap", "settings", "theirs=1", f"--namespace={namespace}")
        assert apply(config_map(namespace, a="1")).actions() == {"ConfigMap settings": "unchanged"}
        apply(config_map(namespace, a="2"))
        assert kubectl.json("get", "configmap", "settings", f"--namespace={namespace}")["metadata"]["labels"] == {"theirs": "1"}

    def test_drift_is_reverted_with_force_conflicts(self, apply, kubectl, namespace):
        apply(config_map(namespace, a="1", b="2"))
        for patch in ({"data": {"a": "drift"}}, {"data": {"b": None}}):
            kubectl("patch", "configmap", "settings", f"--namespace={namespace}", "--type=merge", "--patch", json.dumps(patch))
            run = apply(config_map(namespace, a="1", b="2"), force_conflicts=True)
            assert run.actions() == {"ConfigMap settings": "updated"}
            assert kubectl.json("get", "configmap", "settings", f"--namespace={namespace}")["data"] == {"a": "1", "b": "2"}

    def test_a_field_with_the_right_value_but_another_manager_becomes_managed_again(self, apply, kubectl, namespace):
        apply(config_map(namespace, a="1"))
        for value in ("2", "1"):
            patch = json.dumps({"data": {"a": value}})
            kubectl("patch", "configmap", "settings", f"--namespace={namespace}", "--type=merge", "--patch", patch)
        results = [apply(config_map(namespace, a="1"), check=check, diff=True).result for check in (True, False)]
        for result in results:
            (shown,) = result["diff"]
            before, after = (yaml.safe_load(shown[side])["metadata"]["managedFields"] for side in ("before", "after"))
            assert [one["manager"] for one in before] == ["kubectl-patch"]
            assert [one["manager"] for one in after] == ["kubectl-patch", "osso.scheduler"]
        assert results[0]["diff"] == results[1]["diff"]
        assert not apply(config_map(namespace, a="1")).result["changed"]

    def test_an_object_made_by_another_tool_is_taken_over_once(self, apply, kubectl, namespace):
        kubectl("create", "configmap", "settings", "--from-literal=a=1", f"--namespace={namespace}")
        assert apply(config_map(namespace, a="1"), check=True).actions() == {"ConfigMap settings": "updated"}
        assert apply(config_map(namespace, a="1")).actions() == {"ConfigMap settings": "updated"}
        assert apply(config_map(namespace, a="1")).actions() == {"ConfigMap settings": "unchanged"}

    def test_a_field_that_the_server_fills_with_defaults_costs_a_write_but_is_no_change(self, apply, namespace):
        odd = deployment(namespace, replicas=0)
        # The server fills it with defaults, which looks like a wish to remove them
        odd["spec"]["strategy"] = {}
        apply(odd)
        run = apply(odd, diff=True)
        assert run.actions() == {"Deployment app": "unchanged"}
        assert run.result["requests"]["write"] == 1
        assert not run.result["changed"]
        assert run.result["diff"] == []
        assert apply(odd, check=True).actions() == {"Deployment app": "unchanged"}

    def test_state_absent_deletes_existing_objects_and_then_changes_nothing(self, apply, kubectl, namespace):
        manifests = [config_map(namespace, "one"), config_map(namespace, "two")]
        apply(manifests[0])
        predicted = apply(manifests, state="absent", check=True)
        assert predicted.result["requests"]["write"] == 0
        assert kubectl.json("get", "configmap", "one", f"--namespace={namespace}")
        run = apply(manifests, state="absent")
        assert run.actions() == predicted.actions() == {"ConfigMap one": "deleted", "ConfigMap two": "absent"}
        assert kubectl.json("get", "configmap", "one", f"--namespace={namespace}", "--ignore-not-found") is None
        run = apply(manifests, state="absent")
        assert set(run.actions().values()) == {"absent"}
        assert not run.result["changed"]
        assert run.result["requests"]["write"] == 0

    def test_all_objects_of_a_kind_can_be_deleted(self, apply, kubectl, namespace, group):
        apply([things(group), thing(group, namespace, "one"), thing(group, namespace, "two")])
        everything_of = [{"api_version": f"{group}/v1", "kind": "Thing"}, {"api_version": "unknown.example.com/v1", "kind": "Nothing"}]
        assert apply(state="absent", all_of=everything_of).actions() == {"Thing one": "deleted", "Thing two": "deleted"}
        assert apply(state="absent", all_of=everything_of).actions() == {}

    def test_status_is_applied_through_its_subresource_independently_of_the_spec(self, apply, kubectl, namespace, group):
        apply([things(group), thing(group, namespace)])

        def status(reason, **options):
            condition = {"type": "Ready", "status": "True", "reason": reason}
            manifest = thing(group, namespace, status={"observedGeneration": 1, "conditions": [condition]})
            return apply(manifest, subresource="status", **options)

        assert status("First", check=True, diff=True).actions() == {"Thing one": "updated"}
        run = status("First", diff=True)
        assert run.actions() == {"Thing one": "updated"}
        assert "reason: First" in run.result["diff"][0]["after"]
        run = status("First")
        assert run.actions() == {"Thing one": "unchanged"}
        assert run.result["requests"]["write"] == 0
        status("Second")
        live = kubectl.json("get", f"things.{group}", "one", f"--namespace={namespace}")
        assert live["status"]["conditions"] == [{"type": "Ready", "status": "True", "reason": "Second"}]
        # Spec and status are two wishes that do not disturb each other
        assert apply(thing(group, namespace)).actions() == {"Thing one": "unchanged"}
        missing = apply(thing(group, namespace, "none"), subresource="status", succeed=False)
        assert "Thing" in missing.message
        assert "not found" in missing.message

    def test_owner_references_are_set_only_in_the_owners_namespace(self, apply, kubectl, namespace):
        apply(config_map(namespace, "owner"))
        uid = kubectl.json("get", "configmap", "owner", f"--namespace={namespace}")["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "namespace": namespace, "uid": uid}
        manifests = [config_map(namespace, "owned"), config_map("default", namespace)]
        apply(manifests, owner=owner)
        try:
            (reference,) = kubectl.json("get", "configmap", "owned", f"--namespace={namespace}")["metadata"]["ownerReferences"]
            assert reference == {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid, "controller": True}
            assert "ownerReferences" not in kubectl.json("get", "configmap", namespace, "--namespace=default")["metadata"]
            assert apply(manifests, owner=owner).result["requests"]["write"] == 0
        finally:
            apply(manifests[1], state="absent")

    def test_live_objects_are_returned_for_the_requested_kinds(self, apply, namespace):
        run = apply([config_map(namespace, a="1"), config_map(namespace, "other")], return_kinds=["ConfigMap"])
        assert [one["metadata"]["name"] for one in run.result["resources"]] == ["settings", "other"]
        assert run.result["resources"][0]["data"] == {"a": "1"}
        assert "managedFields" not in run.result["resources"][0]["metadata"]
        assert "Secrets are never returned" in apply(config_map(namespace), return_kinds=["Secret"], succeed=False).message


class TestCheckMode:
    def test_check_mode_predicts_objects_of_namespaces_and_kinds_that_the_set_creates(self, apply, kubectl, namespace, group, new):
        manifests = [
            thing(group, new),
            config_map(new, a="1"),
            things(group),
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": new}},
            thing(group, namespace),
        ]
        options = {"set_name": "check", "set_namespace": new, "prune": True}
        predicted = apply(manifests, check=True, diff=True, **options)
        assert set(predicted.actions().values()) == {"created"}
        assert predicted.result["requests"]["write"] == 0
        assert predicted.warnings == []
        assert not any("uid" in one for one in predicted.result["objects"])
        assert len(predicted.result["diff"]) == 6
        reasons = {(one["kind"], one["namespace"]): one["reason"] for one in predicted.result["unvalidated"]}
        assert reasons["ConfigMap", new] == reasons["Thing", new] == "its namespace is created by this set"
        assert reasons["Thing", namespace] == "its kind is defined by this set"
        assert len(reasons) == 3
        assert kubectl.json("get", "namespace", new, "--ignore-not-found") is None
        assert kubectl.json("get", "customresourcedefinition", f"things.{group}", "--ignore-not-found") is None

        real = apply(manifests, **options)
        assert real.actions() == predicted.actions()
        apply(manifests, state="absent", **{key: options[key] for key in ("set_name", "set_namespace")})

    def test_a_namespace_or_kind_that_nothing_in_the_set_creates_causes_a_warning(self, apply, namespace):
        manifests = [
            config_map("nowhere", "one"),
            config_map("nowhere", "two"),
            {"apiVersion": "unknown.example.com/v1", "kind": "Nothing", "metadata": {"name": "a", "namespace": namespace}},
        ]
        run = apply(manifests, check=True)
        assert set(run.actions().values()) == {"created"}
        assert [one["reason"] for one in run.result["unvalidated"]] == [
            "namespace nowhere does not exist",
            "namespace nowhere does not exist",
            "kind unknown.example.com/v1 Nothing does not exist",
        ]
        assert len(run.warnings) == 2

    def test_check_mode_reports_validation_errors_of_the_server(self, apply, kubectl, namespace, group):
        apply(things(group))
        established(kubectl, f"things.{group}")
        run = apply(thing(group, namespace, spec={"size": -1}), check=True, succeed=False)
        assert "spec.size" in run.message
        run = apply(thing(group, namespace, spec={"sise": 1}), check=True, succeed=False)
        assert "spec.sise" in run.message

    def test_the_diff_in_check_mode_equals_the_diff_of_the_real_run(self, apply, namespace, group):
        apply([things(group), thing(group, namespace), config_map(namespace, a="1", b="2")])
        manifests = [thing(group, namespace, spec={"size": 2}), config_map(namespace, a="1", b="3")]
        predicted = apply(manifests, check=True, diff=True)
        real = apply(manifests, diff=True)
        assert predicted.result["diff"] == real.result["diff"]
        assert predicted.actions() == real.actions()
        before, after = (yaml.safe_load(real.result["diff"][1][key]) for key in ("before", "after"))
        assert (before["spec"], after["spec"]) == ({"size": 1, "mode": "plain"}, {"size": 2, "mode": "plain"})
        assert "managedFields" not in after["metadata"]
        assert apply(manifests, diff=True).result["diff"] == []

    def test_a_user_who_may_not_bind_every_role_can_check_a_role_and_its_binding(self, kubectl, namespace):
        from support.access import service_account

        rbac = "rbac.authorization.k8s.io"
        may_all = {"apiGroups": [rbac], "resources": ["roles", "rolebindings"], "verbs": ["get", "patch", "create"]}
        may_read = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
        about = {"name": "reader", "namespace": namespace}
        role = {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": about, "rules": [may_read]}
        binding = {
            "apiVersion": f"{rbac}/v1",
            "kind": "RoleBinding",
            "metadata": about,
            "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "reader"},
            "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": namespace}],
        }
        with service_account(kubectl, namespace, may_all, may_read) as robot:
            predicted = run_directly("apply", manifests=[binding, role], check=True, **robot)
            assert predicted.actions() == {"Role reader": "created", "RoleBinding reader": "created"}
            assert predicted.result["unvalidated"][0]["reason"] == f"it refers to Role {namespace}/reader, which is created by this set"
            assert run_directly("apply", manifests=[binding, role], **robot).actions() == predicted.actions()


SECRET = "correct horse battery staple"


class TestSecrets:
    def secret(self, namespace, value=SECRET):
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "hidden", "namespace": namespace},
            "stringData": {"password": value},
        }

    def assert_hidden(self, output):
        assert SECRET not in output
        assert base64.b64encode(SECRET.encode()).decode() not in output

    def test_secret_values_appear_neither_in_the_result_nor_in_the_diff(self, apply, kubectl, namespace):
        for value, action in ((SECRET, "created"), (SECRET + "!", "updated"), (SECRET, "updated"), (SECRET, "unchanged")):
            for check in (True, False):
                run = apply(self.secret(namespace, value), diff=True, check=check)
                assert run.actions() == {"Secret hidden": action}
                self.assert_hidden(run.output)
                if action == "updated":
                    (diff,) = run.result["diff"]
                    assert diff["before"] != diff["after"]
                    assert "password: '********" in diff["after"]
        encoded = kubectl.json("get", "secret", "hidden", f"--namespace={namespace}")["data"]["password"]
        assert base64.b64decode(encoded).decode() == SECRET
        self.assert_hidden(apply(self.secret(namespace), state="absent", diff=True).output)

    def test_secret_values_do_not_appear_in_errors(self, apply, namespace):
        odd = self.secret(namespace)
        odd["type"] = "kubernetes.io/dockerconfigjson"
        odd["stringData"] = {".dockerconfigjson": SECRET}
        self.assert_hidden(apply(odd, succeed=False).output)
        text = yaml.safe_dump(self.secret(namespace)) + "  broken: [" + SECRET
        self.assert_hidden(apply(text, succeed=False).output)
        number = self.secret(namespace)
        number["stringData"]["password"] = [SECRET]
        self.assert_hidden(apply(number, succeed=False).output)

    def test_secret_values_appear_neither_at_full_verbosity_nor_in_the_system_log(self, play, kubeconfig, namespace, tmp_path):
        log = Path("/dev/log")
        if log.exists():
            pytest.skip("/dev/log is in use on this machine, so that the test cannot listen there")
        task = {
            "name": "Apply",
            "osso.scheduler.apply": {"kubeconfig": str(kubeconfig), "manifests": self.secret(namespace)},
        }
        planted = {"name": "Plant", "ansible.builtin.command": f"echo {SECRET}"}
        heard = []
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.bind(str(log))
            try:
                listener.settimeout(0.2)
                ended = threading.Event()
                thread = threading.Thread(target=self.listen, args=[listener, heard, ended])
                thread.start()
                try:
                    run = play([task, planted], args=["-vvv", "--diff"])
                finally:
                    ended.set()
                    thread.join()
            finally:
                log.unlink()
        assert SECRET in "".join(heard), "the planted value has to be heard"
        assert [line for line in heard if "osso.scheduler.apply" in line and SECRET in line] == []
        told = run.stdout.split("TASK [Plant]")[0]
        assert "Secret " + namespace in told
        self.assert_hidden(told)
        self.assert_hidden(json.dumps(run.task("Apply").result))

    @staticmethod
    def listen(listener, heard, ended):
        """Collect until the play has ended and nothing of it is left to read."""
        while True:
            last = ended.is_set()
            try:
                heard.append(listener.recv(65536).decode("utf-8", "replace"))
            except TimeoutError:
                if last:
                    return


class TestSets:
    def test_only_objects_that_left_the_set_are_pruned(self, apply, kubectl, namespace):
        def run(*names, **options):
            manifests = [config_map(namespace, name) for name in names]
            return apply(manifests, set_name="mine", set_namespace=namespace, **options)

        def names():
            found = kubectl.json("get", "configmaps", f"--namespace={namespace}")["items"]
            return {one["metadata"]["name"] for one in found} - {"kube-root-ca.crt", "openshift-service-ca.crt"}

        run("a", "b", "adopted")
        # Not ours: one nobody applied with the set although it carries its label, one that another set took over
        foreign = config_map(namespace, "foreign")
        foreign["metadata"]["labels"] = {"osso.scheduler/set": "mine"}
        kubectl.apply(foreign, config_map(namespace, "unlabelled"))
        kubectl("label", "configmap", "adopted", "osso.scheduler/set=other", "--overwrite", f"--namespace={namespace}")
        assert run("a").actions() == {"ConfigMap a": "unchanged", "ConfigMap osso-set-mine": "unchanged"}
        assert names() == {"a", "b", "adopted", "foreign", "unlabelled", "osso-set-mine"}

        predicted = run("a", "c", prune=True, check=True)
        assert predicted.result["requests"]["write"] == 0
        pruned = run("a", "c", prune=True)
        assert pruned.actions() == predicted.actions()
        assert pruned.actions() == {
            "ConfigMap a": "unchanged",
            "ConfigMap osso-set-mine": "updated",
            "ConfigMap c": "created",
            "ConfigMap b": "deleted",
        }
        assert names() == {"a", "c", "adopted", "foreign", "unlabelled", "osso-set-mine"}
        again = run("a", "c", prune=True)
        assert again.result["requests"] == {"read": 3, "write": 0, "dry_run": 0}

        gone = apply(state="absent", set_name="mine", set_namespace=namespace)
        assert gone.actions() == {"ConfigMap c": "deleted", "ConfigMap a": "deleted", "ConfigMap osso-set-mine": "deleted"}
        assert names() == {"adopted", "foreign", "unlabelled"}

    def test_a_lost_inventory_leaves_nothing_behind(self, apply, kubectl, namespace):
        """nor does it have anything deleted that is another set's, or a copy that somebody made"""
        kinds = [{"api_version": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}, {"api_version": "v1", "kind": "ConfigMap"}]
        kinds.append({"api_version": "not.served.example.com/v1", "kind": "Thing"})

        def role(name):
            return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": f"{namespace}:{name}"}}

        def run(*manifests, home=namespace, **options):
            return apply(list(manifests), set_name="mine", set_namespace=home, set_kinds=kinds, **options)

        def names():
            found = kubectl.json("get", "clusterroles")["items"]
            return {one["metadata"]["name"].partition(":")[2] for one in found if one["metadata"]["name"].startswith(f"{namespace}:")}

        run(role("a"), role("b"), config_map(namespace, "settings"))
        run(role("theirs"), home="default")
        labels = kubectl.json("get", "clusterrole", f"{namespace}:a")["metadata"]["labels"]
        assert labels == {"osso.scheduler/set": "mine", "osso.scheduler/set-namespace": namespace}
        kubectl.apply({**role("copy"), "metadata": {"name": f"{namespace}:copy", "labels": labels}})

        try:
            kubectl("delete", "configmap", "osso-set-mine", f"--namespace={namespace}")
            assert run(role("b"), prune=True).actions() == {
                f"ClusterRole {namespace}:b": "unchanged",
                "ConfigMap osso-set-mine": "created",
                f"ClusterRole {namespace}:a": "deleted",
                "ConfigMap settings": "deleted",
            }
            assert run(role("b"), prune=True).result["requests"] == {"read": 2, "write": 0, "dry_run": 0}

            kubectl("delete", "configmap", "osso-set-mine", f"--namespace={namespace}")
            predicted = run(state="absent", check=True)
            assert run(state="absent").actions() == predicted.actions()
            assert predicted.actions() == {f"ClusterRole {namespace}:b": "deleted", "ConfigMap osso-set-mine": "absent"}
            assert names() == {"theirs", "copy"}
        finally:
            run(state="absent", home="default")
            kubectl("delete", "clusterrole", f"{namespace}:copy")
        assert names() == set()

    def test_objects_of_an_interrupted_run_belong_to_the_set(self, apply, kubectl, namespace, new):
        """The next runs update and prune what the interrupted run created."""

        def run(*manifests, **options):
            return apply([own_namespace, *manifests], set_name="mine", set_namespace=namespace, **options)

        # In a namespace that does not exist yet, nothing can be validated before it is written.
        own_namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": new}}
        failed = run(config_map(new, "a"), config_map(new, "Invalid"), succeed=False)
        created = {f"Namespace {new}": "created", "ConfigMap osso-set-mine": "created", "ConfigMap a": "created"}
        assert failed.actions() == created
        assert failed.result["changed"]
        assert run(config_map(new, "a", changed="1")).actions()["ConfigMap a"] == "updated"
        assert run(config_map(new, "b"), prune=True).actions()["ConfigMap a"] == "deleted"

    def test_a_set_can_contain_the_namespace_of_its_inventory(self, apply, kubectl, namespace, new):
        manifests = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": new}}, config_map(new)]
        run = apply(manifests, set_name="mine", set_namespace=new)
        assert list(run.actions()) == [f"Namespace {new}", "ConfigMap osso-set-mine", "ConfigMap settings"]
        gone = apply(state="absent", set_name="mine", set_namespace=new)
        assert list(gone.actions()) == ["ConfigMap settings", "ConfigMap osso-set-mine", f"Namespace {new}"]
        assert kubectl.json("get", "namespace", new, "--ignore-not-found") is None

    def test_a_namespace_that_existed_before_is_not_deleted_with_the_set(self, apply, kubectl, namespace):
        manifests = [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": {"team": "batch"}}},
            config_map(namespace, "one"),
        ]
        apply(manifests, set_name="guest", set_namespace=namespace)
        assert kubectl.json("get", "namespace", namespace)["metadata"]["labels"]["team"] == "batch"
        again = apply(manifests, set_name="guest", set_namespace=namespace)
        assert set(again.actions().values()) == {"unchanged"}
        apply(state="absent", set_name="guest", set_namespace=namespace)
        assert kubectl.json("get", "namespace", namespace)["status"]["phase"] == "Active"
        assert kubectl.json("get", "configmap", "one", f"--namespace={namespace}", "--ignore-not-found") is None

    def test_namespaces_and_kinds_in_use_are_not_pruned(self, apply, kubectl, namespace, group, new):
        own_namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": new}}
        options = {"set_name": "mine", "set_namespace": namespace}
        apply([own_namespace, things(group), thing(group, namespace, "ours"), config_map(namespace)], **options)
        kubectl.apply(thing(group, namespace, "foreign"))
        run = apply(config_map(namespace), prune=True, **options)
        assert run.actions()["Thing ours"] == "deleted"
        assert sorted(warning.split(" is no longer")[0] for warning in run.warnings) == [
            f"CustomResourceDefinition things.{group}",
            f"Namespace {new}",
        ]
        assert kubectl.json("get", "namespace", new)
        assert kubectl.json("get", f"things.{group}", "foreign", f"--namespace={namespace}")
        kubectl("delete", f"things.{group}", "foreign", f"--namespace={namespace}")
        run = apply(config_map(namespace), prune=True, **options)
        assert run.actions()[f"CustomResourceDefinition things.{group}"] == "deleted"
        assert apply(state="absent", **options).actions()[f"Namespace {new}"] == "deleted"

    def test_a_kind_in_use_is_not_deleted_with_its_set(self, apply, kubectl, namespace, group):
        options = {"set_name": "mine", "set_namespace": namespace}
        apply([things(group), thing(group, namespace, "ours"), config_map(namespace)], **options)
        kubectl.apply(thing(group, namespace, "foreign"))
        predicted = apply(state="absent", check=True, **options)
        gone = apply(state="absent", **options)
        assert gone.actions() == predicted.actions()
        assert set(gone.actions()) == {"Thing ours", "ConfigMap settings", "ConfigMap osso-set-mine"}
        (warning,) = gone.warnings
        assert warning.startswith(f"CustomResourceDefinition things.{group} of set mine is not deleted")
        assert kubectl.json("get", f"things.{group}", "foreign", f"--namespace={namespace}")
        # It is still the set's: the next run knows it again, and can delete it once it is free, or told to delete what is in its way.
        assert apply([things(group)], **options).actions()[f"CustomResourceDefinition things.{group}"] == "unchanged"
        everything = [{"api_version": f"{group}/v1", "kind": "Thing"}]
        assert f"CustomResourceDefinition things.{group}" in apply(state="absent", all_of=everything, **options).actions()
        assert kubectl.json("get", "customresourcedefinition", f"things.{group}", "--ignore-not-found") is None

    def test_a_crd_that_others_installed_can_be_left_as_it_is(self, apply, kubectl, namespace, group):
        options = {"set_name": "mine", "set_namespace": namespace, "keep_existing": [f"things.{group}"], "prune": True}
        theirs = things(group)
        theirs["spec"]["names"]["shortNames"] = ["theirs"]
        kubectl.apply(theirs)
        for _again in range(2):
            run = apply([things(group), config_map(namespace)], **options)
            assert run.actions()[f"CustomResourceDefinition things.{group}"] == "unchanged"
        live = kubectl.json("get", "customresourcedefinition", f"things.{group}")
        assert live["spec"]["names"]["shortNames"] == ["theirs"]
        assert "osso.scheduler/set" not in live["metadata"].get("labels", {})
        apply(state="absent", set_name="mine", set_namespace=namespace)
        assert kubectl.json("get", "customresourcedefinition", f"things.{group}")
        # Without it, ours is brought, and kept as ours from then on.
        delete_kinds(kubectl, f"things.{group}")
        assert apply([things(group)], **options).actions()[f"CustomResourceDefinition things.{group}"] == "created"
        changed = things(group)
        changed["spec"]["names"]["shortNames"] = ["ours"]
        assert apply([changed], **options).actions()[f"CustomResourceDefinition things.{group}"] == "updated"

    def test_a_kind_moves_to_another_way_of_installation_and_back(self, apply, kubectl, namespace, group):
        """Its objects stay: nothing of the definition but the set's label is touched."""
        name = f"things.{group}"
        options = {"set_name": "mine", "set_namespace": namespace, "prune": True}

        def labels():
            return kubectl.json("get", "customresourcedefinition", name)["metadata"].get("labels", {})

        apply([things(group), config_map(namespace)], **options)
        kubectl.apply(thing(group, namespace, "one"))
        before = kubectl.json("get", name, "one", f"--namespace={namespace}")["metadata"]["uid"]
        for check, writes in ((True, 0), (False, 2), (False, 0)):
            run = apply(config_map(namespace), orphan=[name], check=check, **options)
            assert run.result["requests"]["write"] == writes, "the definition and the inventory, once"
            assert run.warnings == []
            assert ("osso.scheduler/set" in labels()) == check
        apply(state="absent", set_name="mine", set_namespace=namespace)
        assert kubectl.json("get", name, "one", f"--namespace={namespace}")["metadata"]["uid"] == before
        for writes in (3, 0):
            run = apply([things(group), config_map(namespace)], take_ownership=[name], **options)
            assert run.result["requests"]["write"] == writes
        assert labels()["osso.scheduler/set"] == "mine"
        everything = [{"api_version": f"{group}/v1", "kind": "Thing"}]
        assert (
            f"CustomResourceDefinition {name}"
            in apply(state="absent", all_of=everything, set_name="mine", set_namespace=namespace).actions()
        )

    def test_existing_namespaces_and_crds_do_not_become_members(self, apply, kubectl, namespace, group, new):
        own_namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": new}}
        kubectl.apply(own_namespace, things(group))
        established(kubectl, f"things.{group}")
        own_namespace["metadata"]["labels"] = {"wanted": "true"}
        options = {"set_name": "mine", "set_namespace": new}
        for writes in (5, 0):
            # Their fields are applied like any other's
            run = apply([own_namespace, things(group), thing(group, new), config_map(new)], prune=True, **options)
            assert run.result["requests"]["write"] == writes
        labels = kubectl.json("get", "namespace", new)["metadata"]["labels"]
        assert labels["wanted"] == "true"
        assert "osso.scheduler/set" not in labels
        gone = apply(state="absent", **options)
        assert list(gone.actions()) == ["Thing one", "ConfigMap settings", "ConfigMap osso-set-mine"]
        assert kubectl.json("get", "namespace", new)["metadata"].get("deletionTimestamp") is None
        assert kubectl.json("get", "customresourcedefinition", f"things.{group}")


class TestOnTheController:
    def test_templates_are_rendered_and_files_are_applied_unchanged(self, play, kubeconfig, kubectl, namespace, tmp_path):
        (tmp_path / "templates").mkdir()
        (tmp_path / "files").mkdir()
        (tmp_path / "templates/part.yaml.j2").write_text("part: '{{ number + 1 }}'\n")
        template = """
{% for name in names %}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ name }}
  namespace: {{ target }}
data:
  {% include 'part.yaml.j2' %}

{% endfor %}
"""
        (tmp_path / "templates/two.yaml.j2").write_text(template)
        (tmp_path / "templates/json.j2").write_text(json.dumps(config_map("{{ target }}", "json", number="{{ number }}")))
        (tmp_path / "files/plain.yaml").write_text(yaml.safe_dump(config_map(namespace, "plain", text="{{ not_rendered }}")))
        secret = tmp_path / "files/encrypted.yaml"
        secret.write_text(yaml.safe_dump(config_map(namespace, "encrypted")))
        (tmp_path / "password").write_text("x")
        subprocess.run(
            ["ansible-vault", "encrypt", "--vault-password-file", tmp_path / "password", secret], check=True, capture_output=True
        )
        options = {
            "templates": ["two.yaml.j2", "json.j2"],
            "src": ["plain.yaml", "encrypted.yaml"],
            "manifests": [config_map(namespace, "inline")],
        }
        tasks = [{"name": "Apply", "osso.scheduler.apply": options, "vars": {"number": 41, "names": ["one", "two"]}}]
        content = [{"hosts": "localhost", "connection": "local", "gather_facts": False, "vars": {"target": namespace}, "tasks": tasks}]
        content[0]["module_defaults"] = {"group/osso.scheduler.scheduler": {"kubeconfig": str(kubeconfig)}}
        playbook = tmp_path / "playbook.yml"
        playbook.write_text(yaml.safe_dump(content))
        arguments = [f"--vault-password-file={tmp_path}/password"]
        result = play(playbook, args=arguments, env={"KUBECONFIG": "/nonexistent"}).task("Apply").result
        assert [one["name"] for one in result["objects"]] == ["inline", "plain", "encrypted", "one", "two", "json"]
        for name, data in (("one", {"part": "42"}), ("json", {"number": "41"}), ("plain", {"text": "{{ not_rendered }}"})):
            assert kubectl.json("get", "configmap", name, f"--namespace={namespace}")["data"] == data
        again = play(playbook, args=arguments, check=True).task("Apply")
        assert not again.changed

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"templates": "missing.j2"}, ["templates missing.j2", "missing.j2"]),
            ({"src": "missing.yaml"}, ["src missing.yaml"]),
            ({"templates": "broken.j2"}, ["templates broken.j2", "line 2"]),
            ({"templates": "undefined.j2"}, ["templates undefined.j2", "nobody_set_this"]),
            ({"manifests": [], "templates": []}, ["contain no object"]),
        ],
    )
    def test_mistakes_in_templates_and_files_are_reported_without_a_traceback(self, play, tmp_path, options, words):
        (tmp_path / "broken.j2").write_text("a: b\n c: d\n")
        (tmp_path / "undefined.j2").write_text("{{ nobody_set_this }}\n")
        tasks = [{"name": "Apply", "osso.scheduler.apply": options}]
        playbook = tmp_path / "playbook.yml"
        playbook.write_text(yaml.safe_dump([{"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks}]))
        run = play(playbook, succeed=False)
        (failure,) = run.failures
        for word in words:
            assert word in failure.result["msg"]
        assert "Traceback" not in run.output()
