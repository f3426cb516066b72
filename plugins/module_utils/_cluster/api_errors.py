# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a refusal means for the person who reads it: object, field, the server's reason, remedy; never the value of a Secret."""

from __future__ import annotations

import base64
import binascii
import contextlib
import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import Identity
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import scrub
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object

FORCE = "force_conflicts: true (in a role of this collection ROLE_force_conflicts)"
_FORBIDDEN = re.compile(r'User "(?P<user>[^"]*)" cannot (?P<verb>\S+) resource "(?P<resource>[^"]*)"(?: in API group "(?P<group>[^"]*)")?')


def refusal(error: ApiError, identity: Identity, action: str, obj: Object | None = None) -> ClusterError:
    """The `ClusterError` for an `ApiError` that stopped ``action`` ("apply", "delete", "read") on ``identity``."""
    if error.reason == "NotServed":
        why = f"the API server does not serve {identity.api_version} {identity.kind}; install its CustomResourceDefinition first"
    else:
        why = _explained(error)
    text = f"{identity}: could not {action} it: {why}"
    if identity.kind == "Secret":
        text = without_values(text, obj or {})
    return ClusterError(text, status=error.status, reason=error.reason)


def _explained(error: ApiError) -> str:
    causes = error.details.get("causes") or []
    found = conflicts(error)
    if found:
        return f"conflict: {found}. With {FORCE} these fields get the values of the manifest; or leave them out of the manifest."
    if error.status == 403:
        return _forbidden(error, causes)
    if error.status == 422 and causes:
        said = "the server finds it invalid: " + "; ".join(
            "{0}: {1}".format(cause["field"], cause.get("message", "")) if cause.get("field") else cause.get("message", "")
            for cause in causes
        )
        # Kubernetes 1.37 has other words: "field is immutable" instead of "cannot change roleRef".
        is_role = "change roleRef" in said or any(
            cause.get("field") == "roleRef" and "immutable" in cause.get("message", "") for cause in causes
        )
        return f"{said}. Delete the binding, then repeat: it is created with the role of the manifest." if is_role else said
    if error.status == 404 and error.details.get("kind") == "namespaces":
        return "namespace {0} does not exist; put its Namespace into the manifests or create it first".format(error.details.get("name"))
    if error.status == 401:
        return error.in_words()
    if error.status == 400:
        return error.message.partition("strict decoding error: ")[2] or error.message
    # What structured-merge-diff prints for a value of the wrong type
    return re.sub(r"&value\.valueUnstructured\{Value:(.*?)\}", r"\1", error.message)


def conflicts(error: ApiError) -> str:
    """Which fields others have set to another value, and who; empty where that is not what stopped an apply."""
    by_manager: dict[str, list[str]] = {}
    for cause in error.details.get("causes") or []:
        if cause.get("reason") == "FieldManagerConflict":
            manager = re.sub(r"^conflict with ", "", cause.get("message", "?"))
            by_manager.setdefault(manager, []).append(cause.get("field", "?"))
    return "; ".join(
        "{0} {1} managed by {2}".format(", ".join(fields), "is" if len(fields) == 1 else "are", manager)
        for manager, fields in by_manager.items()
    )


def is_escalation(error: ApiError) -> bool:
    """Was a role, or its assignment, refused because it grants more than the user has?"""
    return error.status == 403 and "attempting to grant RBAC permissions not currently held" in error.message


def _forbidden(error: ApiError, causes: list[Object]) -> str:
    if any(cause.get("reason") == "NamespaceTerminating" for cause in causes):
        return f"{error.message}. Wait until the namespace is deleted, create it again, then repeat."
    denied = _FORBIDDEN.search(error.message)
    if denied:
        return '{0}. Grant it to "{1}" with a rule for verb {2}, resource {3}, API group "{4}".'.format(
            error.message, denied["user"], denied["verb"], denied["resource"], denied["group"] or ""
        )
    if is_escalation(error):
        return error.message + ". A user who applies a role must have its permissions, or the verbs escalate and bind on it."
    return error.message


def without_values(text: str, secret: Mapping[str, Any]) -> str:
    """``text`` without the values of a Secret, plain or encoded."""
    values = set()
    for field in ("data", "stringData"):
        for value in (secret.get(field) or {}).values():
            values.add(str(value))
            if field == "data":
                with contextlib.suppress(binascii.Error, TypeError, ValueError):
                    values.add(base64.b64decode(value).decode())
    return scrub(text, filter(str.strip, values))
