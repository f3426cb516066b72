# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a refusal means for the person who reads it; the answers are those of a real API server."""

from __future__ import annotations

import base64

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.api_errors import refusal, without_values
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity

CONFIG_MAP = Identity("v1", "ConfigMap", "b", "a")


def text(status, reason, message, identity=CONFIG_MAP, obj=None, **details):
    return refusal(ApiError(status, reason, message, details), identity, "apply", obj).message


def test_a_conflict_names_fields_managers_and_the_way_out():
    causes = [
        {"reason": "FieldManagerConflict", "message": 'conflict with "kubectl" using v1', "field": ".data.x"},
        {"reason": "FieldManagerConflict", "message": 'conflict with "kubectl" using v1', "field": ".data.y"},
    ]
    said = text(409, "Conflict", "Apply failed with 2 conflicts", causes=causes)
    assert said.startswith("ConfigMap b/a: could not apply it: conflict")
    assert '.data.x, .data.y are managed by "kubectl" using v1' in said
    assert "force_conflicts: true" in said


def test_a_denial_names_the_account_and_the_missing_rule():
    message = 'configmaps "a" is forbidden: User "system:serviceaccount:b:robot" cannot patch resource "configmaps" in API group "" in the namespace "b"'
    said = text(403, "Forbidden", message)
    assert message in said
    assert 'Grant it to "system:serviceaccount:b:robot" with a rule for verb patch, resource configmaps, API group "".' in said


def test_the_error_for_a_terminating_namespace_recommends_waiting():
    message = 'configmaps "a" is forbidden: unable to create new content in namespace b because it is being terminated'
    said = text(403, "Forbidden", message, causes=[{"reason": "NamespaceTerminating", "message": "...", "field": "metadata.namespace"}])
    assert message in said
    assert "Wait until the namespace is deleted" in said
    assert "Grant" not in said


def test_invalid_fields_are_listed():
    said = text(
        422, "Invalid", "...", causes=[{"field": "spec.a", "message": "must be positive"}, {"field": "spec.b", "message": "Required value"}]
    )
    assert "spec.a: must be positive; spec.b: Required value" in said


def test_the_role_of_a_binding_cannot_be_changed():
    """In the words of Kubernetes 1.34 and of 1.37."""
    for words in ("cannot change roleRef", "field is immutable"):
        said = text(422, "Invalid", "...", causes=[{"field": "roleRef", "message": f"Invalid value: {{}}: {words}"}])
        assert "Delete the binding, then repeat" in said
    assert "binding" not in text(422, "Invalid", "...", causes=[{"field": "spec.scope", "message": "Invalid value: field is immutable"}])


def test_the_error_for_a_missing_namespace_names_the_remedy():
    assert "namespace b does not exist; put its Namespace into the manifests" in text(
        404, "NotFound", 'namespaces "b" not found', name="b", kind="namespaces"
    )


def test_values_of_a_secret_never_show():
    obj = {"data": {"k": base64.b64encode(b"hunter2").decode()}, "stringData": {"other": "correct horse"}}
    said = text(400, "BadRequest", "bad hunter2, aHVudGVyMg==, correct horse", Identity("v1", "Secret", "b", "a"), obj)
    assert "hunter2" not in said
    assert "aHVudGVyMg" not in said
    assert "correct horse" not in said
    assert "********" in said
    assert without_values("text", {"data": {"k": "not base64", "empty": ""}}) == "text"


CONFLICT = {"reason": "FieldManagerConflict", "message": 'conflict with "a"', "field": ".x"}
START = "ConfigMap b/a: could not apply it: "
DENIED = 'x is forbidden: User "u" cannot get resource "pods"'


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            (409, "Conflict", "m", {"causes": [CONFLICT]}),
            (
                'conflict: .x is managed by "a". With force_conflicts: true (in a role of this collection ROLE_force_conflicts) these fields get the '
                "values of the manifest; or leave them out of the manifest."
            ),
        ),
        (
            (409, "Conflict", "m", {"causes": [{"reason": "FieldManagerConflict"}, CONFLICT]}),
            (
                'conflict: ? is managed by ?; .x is managed by "a". With force_conflicts: true (in a role of this collection '
                "ROLE_force_conflicts) these fields get the values of the manifest; or leave them out of the manifest."
            ),
        ),
        ((409, "Conflict", "m", {"causes": [{"reason": "Other"}]}), "m"),
        ((403, "Forbidden", DENIED, {}), f'{DENIED}. Grant it to "u" with a rule for verb get, resource pods, API group "".'),
        (
            (403, "Forbidden", f'{DENIED} in API group "apps"', {}),
            f'{DENIED} in API group "apps". Grant it to "u" with a rule for verb get, resource pods, API group "apps".',
        ),
        (
            (403, "Forbidden", "x attempting to grant RBAC permissions not currently held", {}),
            (
                "x attempting to grant RBAC permissions not currently held. A user who applies a role must have its permissions, or the verbs "
                "escalate and bind on it."
            ),
        ),
        ((403, "Forbidden", "quota", {}), "quota"),
        ((422, "Invalid", "m &value.valueUnstructured{Value:5} n", {}), "m 5 n"),
        ((422, "Invalid", "m", {"causes": [{"message": "bad"}]}), "the server finds it invalid: bad"),
        ((404, "NotFound", "m", {"kind": "roles", "name": "x"}), "m"),
        ((401, "Unauthorized", "m", {}), "the server does not accept the credentials (m); is the token or certificate expired?"),
        ((400, "BadRequest", 'x strict decoding error: unknown field "a"', {}), 'unknown field "a"'),
        ((400, "BadRequest", "m", {}), "m"),
        ((404, "NotServed", "m", {}), "the API server does not serve v1 ConfigMap; install its CustomResourceDefinition first"),
    ],
)
def test_a_rejection_is_explained(error, said):
    status, reason, message, details = error
    found = refusal(ApiError(status, reason, message, details), CONFIG_MAP, "apply")
    assert (found.message, found.result) == (START + said, {"status": status, "reason": reason})


def test_only_values_of_secrets_are_hidden():
    assert text(400, "BadRequest", "hunter2", obj={"data": {"k": "hunter2"}}) == f"{START}hunter2"
    assert without_values("a b", {"data": None, "stringData": {"x": " ", "y": "b", "n": 5}}) == "a ********"
