# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The right to read a scheduler's profiles, for as long as a task takes.

A ServiceAccount with a ClusterRole that may GET ``/debug/pprof/*`` and nothing else, and a token of it that lives for ten minutes. With the
ServiceAccount the token ends, too. For a scheduler that can't review tokens the same right can be given to everybody, but only as one's choice.
"""

from __future__ import annotations

import time
import uuid
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import ApiError, Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring import tokens

TOKEN, ANONYMOUS = "token", "anonymous"
LABEL = "osso.scheduler/profiling"
URLS = "/debug/pprof/*"
_RBAC = "rbac.authorization.k8s.io"
# The shortest that the API server grants
_TOKEN_SECONDS = 600
# How long until every API server knows of a new binding
_GRANT_SECONDS = 15


class Access:
    """`open` grants the permission and returns the token, empty for anonymous access; `close` revokes it, even if it was only partly created."""

    def __init__(self, client: Client, namespace: str, kind: str) -> None:
        self._client = client
        self._namespace = namespace
        self._kind = kind
        self._made: list[dict[str, Any]] = []
        self.name = f"osso-pprof-{uuid.uuid4().hex[:10]}"

    def open(self) -> str:
        # What is bound last is what grants something.
        for manifest in self.manifests():
            resource = self._client.resource(manifest["apiVersion"], manifest["kind"])
            self._made.append(manifest)
            try:
                self._client.create(resource, manifest)
            except ApiError as error:
                if 400 <= error.status < 500:
                    self._made.pop()
                error.message = f"The {manifest['kind']} {self.name} for reading profiles could not be created: {error.message}"
                raise
        if self._kind == ANONYMOUS:
            return ""
        account = {"namespace": self._namespace, "name": self.name, "audiences": [], "expiration_seconds": _TOKEN_SECONDS}
        token, finding = tokens.request(self._client, account)
        if token is None:
            raise ClusterError(f"{finding}.")
        self._await_grant(token.value)
        return token.value

    def close(self) -> str:
        """A sentence for the user if something is left, else nothing."""
        left = []
        for manifest in reversed(self._made):
            kind, namespace = manifest["kind"], manifest["metadata"].get("namespace")
            try:
                self._client.delete(self._client.resource(manifest["apiVersion"], kind), self.name, namespace)
            except ApiError as error:
                command = f"kubectl delete {kind.lower()} {self.name}" + (f" --namespace={namespace}" if namespace else "")
                left.append(f"The {kind} {self.name} may be left over ({error.message}); delete it: {command}.")
        return " ".join(left)

    def manifests(self) -> list[dict[str, Any]]:
        """What grants the right, in the order in which it is created."""
        about = {"name": self.name, "labels": {"app.kubernetes.io/managed-by": "osso.scheduler", LABEL: "true"}}
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {**about, "namespace": self._namespace}}
        subject: dict[str, Any] = {"kind": "ServiceAccount", "name": self.name, "namespace": self._namespace}
        if self._kind == ANONYMOUS:
            subject = {"kind": "User", "apiGroup": _RBAC, "name": "system:anonymous"}
        role = {"kind": "ClusterRole", "apiGroup": _RBAC, "name": self.name}
        rules = [{"nonResourceURLs": [URLS], "verbs": ["get"]}]
        return [
            *([{**account, "automountServiceAccountToken": False}] if self._kind == TOKEN else []),
            {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": about, "rules": rules},
            {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": about, "roleRef": role, "subjects": [subject]},
        ]

    def _await_grant(self, token: str) -> None:
        """Wait until the API server has heard of the binding: a scheduler that asks too early remembers the refusal for some seconds."""
        asker = _as(self._client, token)
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"nonResourceAttributes": {"path": URLS.replace("*", "heap"), "verb": "get"}},
        }
        deadline = time.monotonic() + _GRANT_SECONDS
        while time.monotonic() < deadline:
            try:
                path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
                answer = asker.request("POST", path, body=review, content_type="application/json")
            except ApiError as error:
                if error.status not in (401, 403):
                    raise
                answer = {}
            if (answer.get("status") or {}).get("allowed"):
                return
            time.sleep(0.1)


def _as(client: Client, token: str) -> Client:
    """A client of the same server for the holder of a token."""
    from kubernetes.client import ApiClient, Configuration

    own = client.api_client.configuration
    configuration = Configuration()
    configuration.api_key, configuration.api_key_prefix = {"authorization": f"Bearer {token}"}, {}
    for name in ("host", "ssl_ca_cert", "verify_ssl", "assert_hostname", "tls_server_name", "proxy", "proxy_headers", "no_proxy"):
        if hasattr(own, name):
            setattr(configuration, name, getattr(own, name))
    configuration.retries = False
    return Client(ApiClient(configuration))
