# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Module apply and objects that others created or changed: what it adopts, what it puts back, and what it gives back."""

from __future__ import annotations

import json
import threading

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import apply_set
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from support.objects import config_map, thing, things

ADOPTED_FROM = "osso.scheduler/adopted-from"
SET = "osso.scheduler/set"


@pytest.fixture
def applied(kubectl, namespace):
    """Apply objects as their users do, with kubectl."""

    def apply_by_hand(*objects, server_side=False):
        options = ["--server-side"] if server_side else []
        for obj in objects:
            kubectl("apply", *options, "--filename=-", stdin=obj)

    return apply_by_hand


@pytest.fixture
def live(kubectl, namespace):
    def read(name, kind="configmap"):
        return kubectl.json("get", kind, name, f"--namespace={namespace}", "--ignore-not-found", "--show-managed-fields")

    return read


def account(namespace, name="robot"):
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}


def managers(obj) -> set[tuple[str, str]]:
    return {(entry["manager"], entry["operation"]) for entry in obj["metadata"]["managedFields"]}


class TestAdoption:
    @pytest.mark.parametrize("inventory", [True, False])
    def test_objects_that_existed_before_are_not_adopted_without_adopt(self, apply, audit, live, namespace, applied, inventory):
        """Equal or not: all of it is named, in check mode, too, and nothing is written"""
        applied(account(namespace), config_map(namespace, a="theirs"))
        options = {"set_name": "mine", **({"set_namespace": namespace} if inventory else {})}
        manifests = [account(namespace), config_map(namespace, a="ours"), config_map(namespace, "new")]
        with audit:
            for check in (True, False):
                run = apply(manifests, check=check, succeed=False, **options)
                assert (
                    f"ServiceAccount {namespace}/robot: set mine did not create it (field managers: kubectl-client-side-apply)"
                    in run.message
                )
                assert f"ConfigMap {namespace}/settings: set mine did not create it" in run.message
                assert "/new" not in run.message
                assert "set adopt to true" in run.message
        assert [one for one in audit.writes() if one.namespace == namespace] == []
        if inventory:
            assert apply(state="absent", **options).actions() == {"ConfigMap osso-set-mine": "absent"}
        else:
            gone = apply(manifests, state="absent", **options)
            assert gone.actions() == {"ConfigMap new": "absent", "ConfigMap settings": "unchanged", "ServiceAccount robot": "unchanged"}
            assert "settings is not deleted: set mine did not create it" in "".join(gone.warnings)
        assert live("settings")["data"] == {"a": "theirs"}
        assert live("robot", "serviceaccount")

    @pytest.mark.parametrize("server_side", [True, False])
    def test_adopted_objects_are_released(self, apply, audit, live, namespace, applied, server_side):
        theirs = config_map(namespace, a="theirs", b="theirs")
        applied(account(namespace), theirs, server_side=server_side)
        before = {manager for manager, _operation in managers(live("settings"))}
        owner = {"apiVersion": "v1", "kind": "ServiceAccount", "name": "robot", "namespace": namespace}
        owner["uid"] = live("robot", "serviceaccount")["metadata"]["uid"]
        manifests = [account(namespace), config_map(namespace, a="ours", c="ours"), config_map(namespace, "new")]
        options = {"set_name": "mine", "set_namespace": namespace}
        with audit:
            predicted = apply(manifests, adopt=True, check=True, diff=True, owner=owner, **options)
        assert [one for one in audit.writes() if one.namespace == namespace] == []
        real = apply(manifests, adopt=True, diff=True, owner=owner, **options)
        assert real.actions() == predicted.actions()
        assert real.actions()["ConfigMap settings"] == real.actions()["ServiceAccount robot"] == "adopted"
        assert real.actions()["ConfigMap new"] == "created"
        assert real.result["diff"][1:] == predicted.result["diff"][1:]
        for run, would in ((predicted, "Would be"), (real, "Was")):
            told = "\n".join(run.warnings)
            assert (
                f"{would} adopted by set mine, since it existed before: ServiceAccount {namespace}/robot, ConfigMap {namespace}/settings"
                in told
            )
            assert f"ConfigMap {namespace}/settings: .data.a is managed by" in told
        obj = live("settings")
        assert obj["data"] == {"a": "ours", "b": "theirs", "c": "ours"}
        assert "ownerReferences" not in obj["metadata"]
        assert "ownerReferences" in live("new")["metadata"]
        assert obj["metadata"]["annotations"][ADOPTED_FROM].split(" ")[1] in before

        # It is a member like the others from then on, without the option.
        again = apply(manifests, owner=owner, **options)
        assert again.result["requests"] == {"read": 4, "write": 0, "dry_run": 0}
        assert apply(manifests[1], state="absent", check=True, **options).actions()["ConfigMap settings"] == "released"

        gone = apply(state="absent", **options)
        assert gone.actions() == {
            "ServiceAccount robot": "released",
            "ConfigMap settings": "released",
            "ConfigMap new": "deleted",
            "ConfigMap osso-set-mine": "deleted",
        }
        assert "existed before and was adopted" in "".join(gone.warnings)
        obj = live("settings")
        assert obj["data"] == {"a": "ours", "b": "theirs", "c": "ours"}
        assert not {SET, f"{SET}-namespace"} & set(obj["metadata"].get("labels") or {})
        assert ADOPTED_FROM not in (obj["metadata"].get("annotations") or {})
        assert {manager for manager, _operation in managers(obj)} == before
        applied(theirs, server_side=server_side)
        # An earlier server-side apply has the last word on each of its fields, so what we added goes with the first of theirs.
        assert live("settings")["data"] == ({"a": "theirs", "b": "theirs"} if server_side else {"a": "theirs", "b": "theirs", "c": "ours"})
        assert apply(state="absent", **options).actions() == {"ConfigMap osso-set-mine": "absent"}

    def test_an_adopted_object_that_leaves_the_set_is_released(self, apply, live, namespace, applied):
        applied(config_map(namespace))
        options = {"set_name": "mine", "set_namespace": namespace}
        apply([config_map(namespace), config_map(namespace, "new")], adopt=True, **options)
        for check in (True, False):
            run = apply(config_map(namespace, "new"), prune=True, check=check, **options)
            assert run.actions()["ConfigMap settings"] == "released"
        assert SET not in (live("settings")["metadata"].get("labels") or {})
        assert apply(config_map(namespace, "new"), prune=True, **options).result["requests"] == {"read": 2, "write": 0, "dry_run": 0}

    def test_adopted_objects_that_labels_select_are_released(self, apply, live, namespace, applied):
        applied(config_map(namespace))
        apply([config_map(namespace), config_map(namespace, "new")], set_name="mine", set_namespace=namespace, adopt=True)
        kind = {"api_version": "v1", "kind": "ConfigMap", "namespace": namespace}
        gone = apply(state="absent", all_of=[{**kind, "label_selector": f"{SET}=mine,{SET}-namespace={namespace}"}])
        assert gone.actions() == {"ConfigMap settings": "released", "ConfigMap new": "deleted"}
        assert SET not in (live("settings")["metadata"].get("labels") or {})

    def test_an_object_that_is_being_deleted_is_neither_a_conflict_nor_adopted(self, apply, kubectl, live, namespace):
        """nor is it adopted: the object that takes its place is ours"""
        theirs = config_map(namespace, a="theirs")
        theirs["metadata"]["finalizers"] = ["example.com/hold"]
        kubectl("create", "--filename=-", stdin=theirs)
        kubectl("delete", "configmap", "settings", f"--namespace={namespace}", "--wait=false")
        run = apply([config_map(namespace, a="ours")], set_name="mine", wait_timeout=1, succeed=False)
        assert "conflict" not in run.message
        assert "did not create" not in run.message
        kubectl("patch", "configmap", "settings", f"--namespace={namespace}", "--type=merge", '--patch={"metadata":{"finalizers":null}}')
        assert apply([config_map(namespace, a="ours")], set_name="mine").actions() == {"ConfigMap settings": "created"}

    def test_an_object_that_others_recreate_during_the_wait_is_not_a_member(self, apply, kubectl, live, namespace):
        """The inventory names it no sooner than there is one of ours."""
        theirs, options = config_map(namespace, a="theirs"), {"set_name": "mine", "set_namespace": namespace}
        held = {**theirs, "metadata": {**theirs["metadata"], "finalizers": ["example.com/hold"]}}
        kubectl("create", "--filename=-", stdin=held)
        kubectl("delete", "configmap", "settings", f"--namespace={namespace}", "--wait=false")
        apply([config_map(namespace, a="ours")], wait_timeout=1, succeed=False, **options)
        assert apply_set.members(live("osso-set-mine")) == []
        kubectl("patch", "configmap", "settings", f"--namespace={namespace}", "--type=merge", '--patch={"metadata":{"finalizers":null}}')
        kubectl("create", "--filename=-", stdin=theirs)
        assert "did not create it" in apply([config_map(namespace, a="ours")], succeed=False, **options).message
        kubectl("delete", "configmap", "settings", f"--namespace={namespace}")
        assert apply([config_map(namespace, a="ours")], **options).actions()["ConfigMap settings"] == "created"
        assert apply_set.members(live("osso-set-mine")) == [Identity("v1", "ConfigMap", namespace, "settings")]

    def test_an_object_that_leaves_within_the_run_is_followed_by_a_member(self, apply, kubectl, live, namespace):
        theirs, options = config_map(namespace, a="theirs"), {"set_name": "mine", "set_namespace": namespace}
        theirs["metadata"]["finalizers"] = ["example.com/hold"]
        kubectl("create", "--filename=-", stdin=theirs)
        kubectl("delete", "configmap", "settings", f"--namespace={namespace}", "--wait=false")
        patch = '--patch={"metadata":{"finalizers":null}}'
        end = threading.Timer(1, lambda: kubectl("patch", "configmap", "settings", f"--namespace={namespace}", "--type=merge", patch))
        end.start()
        assert apply([config_map(namespace, a="ours")], **options).actions()["ConfigMap settings"] == "created"
        end.join()
        assert apply_set.members(live("osso-set-mine")) == [Identity("v1", "ConfigMap", namespace, "settings")]
        assert apply([config_map(namespace, a="ours")], **options).result["changed"] is False

    @pytest.mark.parametrize("how", ["replaced", "without its label"])
    def test_an_adopted_object_without_the_label_of_the_set_is_adopted_again(self, apply, kubectl, live, namespace, applied, how):
        theirs, options = config_map(namespace, a="theirs"), {"set_name": "mine", "set_namespace": namespace}
        applied(theirs)
        apply([config_map(namespace, b="ours")], adopt=True, **options)
        if how == "replaced":
            kubectl("replace", "--filename=-", stdin=theirs)
        else:
            kubectl("label", "configmap", "settings", f"--namespace={namespace}", f"{SET}-", f"{SET}-namespace-")
        assert SET not in (live("settings")["metadata"].get("labels") or {})
        assert apply([config_map(namespace, b="ours")], **options).actions()["ConfigMap settings"] == "adopted"
        assert live("settings")["metadata"]["annotations"][ADOPTED_FROM] != "Apply osso.scheduler"
        assert apply([config_map(namespace, b="ours")], **options).result["changed"] is False
        assert apply(state="absent", **options).actions()["ConfigMap settings"] == "released"

    def test_an_adopted_object_that_its_owner_replaced_is_not_overwritten(self, apply, kubectl, live, namespace, applied):
        theirs, options = config_map(namespace, a="theirs"), {"set_name": "mine", "set_namespace": namespace}
        applied(theirs)
        apply([config_map(namespace, a="ours")], adopt=True, **options)
        kubectl("replace", "--filename=-", stdin=theirs)
        run = apply([config_map(namespace, a="ours")], succeed=False, **options)
        assert ".data.a is managed by" in run.message
        assert "Nothing was written" in run.message
        assert live("settings")["data"] == {"a": "theirs"}

    @pytest.mark.parametrize("is_created_again", [True, False])
    def test_the_successor_of_an_adopted_object_is_ours_only_if_the_run_created_it(
        self, apply, kubectl, live, namespace, applied, is_created_again
    ):
        """Its owner deletes it, and a run does not see its end."""
        theirs, options = config_map(namespace, a="theirs"), {"set_name": "mine", "set_namespace": namespace}
        held = {**theirs, "metadata": {**theirs["metadata"], "finalizers": ["example.com/hold"]}}
        applied(held)
        apply([config_map(namespace, b="ours")], adopt=True, **options)
        kubectl("delete", "configmap", "settings", f"--namespace={namespace}", "--wait=false")
        apply([config_map(namespace, b="ours"), config_map(namespace, "new")], wait_timeout=1, succeed=False, **options)
        kubectl("patch", "configmap", "settings", f"--namespace={namespace}", "--type=merge", '--patch={"metadata":{"finalizers":null}}')
        if is_created_again:
            applied(theirs)
        predicted = apply([config_map(namespace, b="ours")], check=True, **options)
        run = apply([config_map(namespace, b="ours")], **options)
        assert run.actions() == predicted.actions()
        assert run.actions()["ConfigMap settings"] == ("adopted" if is_created_again else "created")
        assert apply([config_map(namespace, b="ours")], **options).result["changed"] is False
        gone = apply(state="absent", **options).actions()
        assert gone["ConfigMap settings"] == ("released" if is_created_again else "deleted")

    def test_members_of_any_kind_can_stay_when_the_set_is_deleted(self, apply, live, namespace):
        options = {"set_name": "mine", "set_namespace": namespace}
        apply([account(namespace, "settings"), config_map(namespace)], **options)
        before = live("settings")
        gone = apply(state="absent", keep_members=["ConfigMap/settings"], **options)
        assert gone.actions() == {"ServiceAccount settings": "deleted", "ConfigMap osso-set-mine": "deleted"}
        assert live("settings") == before

    def test_an_object_of_another_set_is_never_adopted(self, apply, namespace):
        apply(config_map(namespace), set_name="first", set_namespace=namespace)
        run = apply(config_map(namespace), set_name="second", set_namespace=namespace, adopt=True, succeed=False)
        assert f"ConfigMap {namespace}/settings: it belongs to set first" in run.message

    def test_an_object_made_by_hand_in_the_place_of_a_member_is_not_a_member(self, apply, kubectl, live, namespace, applied):
        options = {"set_name": "mine", "set_namespace": namespace}
        apply([config_map(namespace), config_map(namespace, "other")], **options)
        kubectl("delete", "configmap", "settings", f"--namespace={namespace}")
        applied(config_map(namespace))
        assert "did not create it" in apply([config_map(namespace)], succeed=False, **options).message
        assert apply(state="absent", **options).actions() == {"ConfigMap other": "deleted", "ConfigMap osso-set-mine": "deleted"}
        assert live("settings")

    @pytest.mark.parametrize(
        ("lease_wanted", "options", "action"),
        [(True, {"prune": True}, "updated"), (False, {"prune": True}, "deleted"), (False, {"state": "absent"}, "deleted")],
    )
    def test_a_lease_that_its_clients_created_again_is_still_a_member(self, apply, kubectl, live, namespace, lease_wanted, options, action):
        """as client-go does after `kubectl delete lease`: without labels"""
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "one", "namespace": namespace}}
        of_set = {"set_name": "mine", "set_namespace": namespace}
        apply([config_map(namespace), lease], prune=True, **of_set)
        kubectl("delete", "lease", "one", f"--namespace={namespace}")
        kubectl("create", "--filename=-", stdin={**lease, "spec": {"holderIdentity": "pod"}})
        manifests = [config_map(namespace), *([lease] if lease_wanted else [])]
        for check in (True, False):
            assert apply(manifests, check=check, **of_set, **options).actions()["Lease one"] == action
        left = live("one", "lease")
        assert (left["metadata"]["labels"][SET], left["spec"]["holderIdentity"]) == ("mine", "pod") if action == "updated" else not left

    def test_objects_taken_over_from_another_field_manager_belong_to_the_set(self, apply, kubectl, live, namespace):
        """also after a run that was interrupted between its two writes"""
        options = {"set_name": "mine", "set_namespace": namespace}
        kubectl("create", "--field-manager=other", "--filename=-", stdin=config_map(namespace, a="1"))
        assert "did not create it" in apply(config_map(namespace, a="1"), succeed=False, **options).message
        # Without the label, as after the first write; the inventory comes before
        apply(config_map(namespace, a="1"), takeover_field_managers=["other"])
        kubectl("create", "--filename=-", stdin=apply_set.manifest("mine", namespace, [Identity("v1", "ConfigMap", namespace, "settings")]))
        apply(config_map(namespace, a="1"), takeover_field_managers=["other"], **options)
        assert ADOPTED_FROM not in (live("settings")["metadata"].get("annotations") or {})
        assert apply(state="absent", **options).actions()["ConfigMap settings"] == "deleted"

    def test_a_shared_namespace_gets_no_owner_reference(self, apply, kubectl, namespace):
        uid = kubectl.json("get", "clusterrole", "view")["metadata"]["uid"]
        reference = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "name": "view", "uid": uid}
        own = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "ownerReferences": [reference]}}
        apply(own, set_name="mine")
        assert "ownerReferences" not in kubectl.json("get", "namespace", namespace)["metadata"]


class TestForeignChanges:
    """Of objects that are ours."""

    @pytest.fixture
    def changed(self, apply, kubectl, namespace):
        """A set of which somebody has changed one field."""
        options = {"set_name": "mine", "set_namespace": namespace}
        apply([config_map(namespace, a="1", b="1"), config_map(namespace, "other", a="1")], **options)
        patch = {"data": {"a": "edited"}}
        kubectl("patch", "configmap", "settings", f"--namespace={namespace}", "--type=merge", f"--patch={json.dumps(patch)}")
        return options

    @pytest.mark.parametrize("alone", [True, False])
    def test_changes_of_others_end_the_run_before_its_first_write(self, apply, audit, namespace, changed, alone):
        """not even a write is sent that the server would reject"""
        others = [] if alone else [config_map(namespace, "first", a="2"), config_map(namespace, "other", a="2")]
        manifests = [*others, config_map(namespace, a="1", b="1")]
        with audit:
            for check in (True, False):
                message = apply(manifests, check=check, succeed=False, **changed).message
                assert f'ConfigMap {namespace}/settings: could not apply it: conflict: .data.a is managed by "kubectl-patch"' in message
                assert "force_conflicts: true" in message
        assert [one for one in audit.writes() if one.namespace == namespace] == []

    @pytest.mark.parametrize("alone", [True, False])
    def test_changes_of_others_are_reverted_and_named_with_force_conflicts(self, apply, live, namespace, changed, alone):
        manifests = [config_map(namespace, a="1", b="1"), *([] if alone else [config_map(namespace, "other", a="2")])]
        for check, words in ((True, "Would be"), (False, "Was")):
            run = apply(manifests, force_conflicts=True, check=check, **changed)
            (warning,) = run.warnings
            expected = f'ConfigMap {namespace}/settings: .data.a is managed by "kubectl-patch" using v1. {words} put back'
            assert warning.startswith(expected)
            assert run.actions()["ConfigMap settings"] == "updated"
        assert live("settings")["data"] == {"a": "1", "b": "1"}
        again = apply(manifests, force_conflicts=True, **changed)
        assert again.warnings == []
        assert again.result["requests"]["write"] == again.result["requests"]["dry_run"] == 0

    def test_fields_that_others_removed_are_restored_and_fields_that_they_added_stay(self, apply, kubectl, live, namespace, changed):
        kubectl(
            "patch", "configmap", "settings", f"--namespace={namespace}", "--type=merge", '--patch={"data":{"a":"1","b":null,"c":"theirs"}}'
        )
        apply([config_map(namespace, a="1", b="1"), config_map(namespace, "other", a="1")], **changed)
        assert live("settings")["data"] == {"a": "1", "b": "1", "c": "theirs"}


def test_a_crd_and_a_resource_that_uses_its_new_field_change_together(apply, namespace, group):
    """The server does not know the field yet that the resource has"""
    apply([things(group), thing(group, namespace)])
    wider = things(group)
    properties = wider["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    properties["colour"] = {"type": "string"}
    manifests = [wider, thing(group, namespace, spec={"colour": "blue"})]
    predicted = apply(manifests, check=True)
    assert [one["reason"] for one in predicted.result["unvalidated"]] == ["the definition of its kind is changed by this set"]
    real = apply(manifests)
    assert set(real.actions().values()) == {"updated"}


class TestEditsWithoutMerge:
    """Somebody changed the number of a named port: with both ports the API server finds the object invalid."""

    @pytest.fixture
    def edited(self, apply, kubectl, namespace):
        """A Service of a set after such an edit, and its manifest."""
        spec = {"ports": [{"name": "http", "port": 80}], "selector": {"app": "x"}}
        manifest = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": namespace}, "spec": spec}
        apply([manifest], set_name="mine", set_namespace=namespace)
        patch = json.dumps({"metadata": {"labels": {"kept": "yes"}}, "spec": {"ports": [{"name": "http", "port": 81}], "type": "NodePort"}})
        kubectl("patch", "service", "web", f"--namespace={namespace}", "--type=merge", f"--patch={patch}")
        return manifest

    def test_without_force_the_error_names_managers_and_remedy(self, apply, live, namespace, edited):
        before = live("web", "service")
        run = apply([edited], set_name="mine", set_namespace=namespace, succeed=False)
        assert "spec.ports[1].name: Duplicate value" in run.message
        assert "it is valid without what the field managers kubectl-patch set; force_conflicts: true" in run.message
        assert live("web", "service") == before

    def test_forced_changes_match_the_manifest_and_the_prediction_of_check_mode(self, apply, live, namespace, edited):
        options = {"set_name": "mine", "set_namespace": namespace, "force_conflicts": True, "diff": True}
        address = live("web", "service")["spec"]["clusterIP"]
        predicted = apply([edited], check=True, **options)
        real = apply([edited], **options)
        assert predicted.result["diff"] == real.result["diff"]
        for run, would in ((predicted, "Would be"), (real, "Was")):
            said = f"the manifest cannot be merged with fields that are managed by kubectl-patch. {would} put back"
            assert said in "\n".join(run.warnings)
        after = live("web", "service")
        assert [port["port"] for port in after["spec"]["ports"]] == [80]
        assert (after["spec"]["type"], after["spec"]["clusterIP"]) == ("ClusterIP", address)
        assert after["metadata"]["labels"]["kept"] == "yes"
        assert apply([edited], **options).result["requests"]["write"] == 0

    def test_an_invalid_manifest_is_no_edit_of_others(self, apply, namespace, edited):
        edited["spec"]["ports"] = [{"name": "http", "port": 0}]
        run = apply([edited], set_name="mine", set_namespace=namespace, force_conflicts=True, succeed=False)
        assert "port: Invalid value: 0" in run.message
        assert "kubectl-patch" not in run.message
