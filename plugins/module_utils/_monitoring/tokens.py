# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tokens for Prometheus: given, requested, or read from Secrets; and the claims in a token. A token is never part of a message."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import ApiError, Client
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.findings import Finding, error

LEGACY_NAMESPACE, LEGACY_PREFIX = "openshift-monitoring", "prometheus-k8s-token-"
"""Secrets that OpenShift made for the ServiceAccount of its Prometheus: until 4.15; they survive upgrades."""

_SERVICE_ACCOUNT_TOKEN = "kubernetes.io/service-account-token"


class Token(NamedTuple):
    """source: in words. expires: None if it never does, or does not say. subject: the user that it stands for, empty if it does not say."""

    value: str
    source: str
    expires: datetime | None = None
    subject: str = ""

    def __repr__(self) -> str:
        return f"<token, {self.source}>"

    def is_expired(self, now: datetime) -> bool:
        return self.expires is not None and self.expires <= now


def token_from(value: str, source: str = "token") -> Token:
    """The token for a value, with its claims if it is a JSON web token. Only the server verifies the signature."""
    claims = _claims(value)
    subject = claims.get("sub")
    return Token(value, source, _moment(claims.get("exp")), subject if isinstance(subject, str) else "")


def request(client: Client, account: Mapping[str, Any]) -> tuple[Token | None, Finding | None]:
    """A new token of a ServiceAccount (``namespace``, ``name``, ``audiences``, ``expiration_seconds``), or why there is none."""
    namespace, name = account["namespace"], account["name"]
    who = f"ServiceAccount {namespace}/{name}"
    spec: dict[str, Any] = {"expirationSeconds": account["expiration_seconds"]}
    if account["audiences"]:
        spec["audiences"] = account["audiences"]
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    path = client.resource("v1", "ServiceAccount").path(namespace, name, "token")
    try:
        answer = client.request("POST", path, body=body, content_type="application/json")
    except ApiError as failure:
        if failure.status == 404:
            hint = "create it, for example with the role osso.scheduler.monitoring, or correct service_account"
            return None, error("no-service-account", f"The {who} does not exist", hint)
        if failure.status in (401, 403):
            hint = f"grant the verb create for serviceaccounts/token in the namespace {namespace}, or give token or token_secret"
            return None, error("not-allowed", f"The user is not allowed to request a token of the {who}", hint)
        if failure.status in (400, 422):
            message = f"No token of the {who} could be requested: {failure}"
            return None, error("token-request-refused", message, "correct service_account; a token lives for 600 seconds at least")
        raise
    status = answer["status"]
    token, granted = token_from(status["token"], f"TokenRequest for {who}"), timestamps.parse(status["expirationTimestamp"])
    # The API server computes both with two clock readings, so one can be a second later.
    return token._replace(expires=min(granted, token.expires or granted)), None


def of_secret(client: Client, secret: Mapping[str, str]) -> tuple[Token | None, Finding | None]:
    """The token in a Secret (``namespace``, ``name``), or why there is none."""
    namespace, name = secret["namespace"], secret["name"]
    try:
        live = client.get(client.resource("v1", "Secret"), name, namespace)
    except ApiError as failure:
        return None, _unreadable(failure, f"get the Secret {namespace}/{name}", namespace)
    if live is None:
        hint = f"create one of the type {_SERVICE_ACCOUNT_TOKEN} for a ServiceAccount, or use service_account"
        return None, error("no-token-secret", f"The Secret {namespace}/{name} does not exist", hint)
    return _in_secret(live)


def legacy(client: Client) -> tuple[Token | None, Finding | None]:
    """The token that old releases of OpenShift keep for their Prometheus, or why there is none."""
    try:
        live = client.list(client.resource("v1", "Secret"), LEGACY_NAMESPACE)
    except ApiError as failure:
        return None, _unreadable(failure, f"list the Secrets of {LEGACY_NAMESPACE}", LEGACY_NAMESPACE)
    for secret in live:
        if secret["metadata"]["name"].startswith(LEGACY_PREFIX) and secret.get("type") == _SERVICE_ACCOUNT_TOKEN:
            return _in_secret(secret)
    message = f"There is no Secret {LEGACY_PREFIX}* in the namespace {LEGACY_NAMESPACE}: OpenShift makes none since 4.16"
    return None, error("no-token-secret", message, "use service_account, with a ServiceAccount that may read metrics")


def _in_secret(secret: Mapping[str, Any]) -> tuple[Token | None, Finding | None]:
    name = "{namespace}/{name}".format(**secret["metadata"])
    try:
        value = base64.b64decode((secret.get("data") or {}).get("token") or "").decode("ascii").strip()
    except ValueError:
        value = ""
    if not value:
        hint = f"a Secret of the type {_SERVICE_ACCOUNT_TOKEN} gets one when the ServiceAccount that its annotation names exists"
        return None, error("no-token-secret", f"The Secret {name} holds no text under the key token", hint)
    return token_from(value, f"Secret {name}"), None


def _unreadable(failure: ApiError, what: str, namespace: str) -> Finding:
    if failure.status not in (401, 403):
        raise failure
    hint = f"grant that, or use service_account, which needs the verb create for serviceaccounts/token in {namespace}"
    return error("not-allowed", f"The user is not allowed to {what}", hint)


def _moment(seconds: Any) -> datetime | None:
    """The time of a claim, None for one that is no number of seconds until the year 9999."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        return None
    try:
        return datetime.fromtimestamp(seconds, timezone.utc)
    except (OSError, OverflowError, ValueError):
        return None


def _claims(value: str) -> dict[str, Any]:
    """The payload of a JSON web token, empty for anything else."""
    parts = value.split(".")
    if len(parts) != 3:
        return {}
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (RecursionError, ValueError):
        return {}
    return claims if isinstance(claims, dict) else {}
