# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kubectl, and the audit log of the throwaway cluster."""

from __future__ import annotations

import fileinput
import itertools
import json
import subprocess
import time
import uuid
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import kubernetes
from support import kubectl_server
from urllib3.exceptions import HTTPError

# Where the kinds are that tests ask for again and again.
PATHS = {
    "clusterrolebinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "configmap": "/api/v1/namespaces/{namespace}/configmaps",
    "customresourcedefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "event": "/apis/events.k8s.io/v1/namespaces/{namespace}/events",
    "deployment": "/apis/apps/v1/namespaces/{namespace}/deployments",
    "job": "/apis/batch/v1/namespaces/{namespace}/jobs",
    "kubescheduler": "/apis/operator.openshift.io/v1/kubeschedulers",
    "lease": "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases",
    "namespace": "/api/v1/namespaces",
    "networkpolicy": "/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies",
    "pod": "/api/v1/namespaces/{namespace}/pods",
    "poddisruptionbudget": "/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets",
    "replicaset": "/apis/apps/v1/namespaces/{namespace}/replicasets",
    "role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles",
    "rolebinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings",
    "scheduler": "/apis/config.openshift.io/v1/schedulers",
    "secondaryscheduler": "/apis/operator.openshift.io/v1/namespaces/{namespace}/secondaryschedulers",
    "secret": "/api/v1/namespaces/{namespace}/secrets",
    "service": "/api/v1/namespaces/{namespace}/services",
    "serviceaccount": "/api/v1/namespaces/{namespace}/serviceaccounts",
    "servicemonitor": "/apis/monitoring.coreos.com/v1/namespaces/{namespace}/servicemonitors",
    "operatorgroup": "/apis/operators.coreos.com/v1/namespaces/{namespace}/operatorgroups",
    "packagemanifest": "/apis/packages.operators.coreos.com/v1/namespaces/{namespace}/packagemanifests",
    **{
        kind: f"/apis/operators.coreos.com/v1alpha1/namespaces/{{namespace}}/{kind}s"
        for kind in ("catalogsource", "clusterserviceversion", "installplan", "subscription")
    },
}
WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


class Kubectl:
    """kubectl with one kubeconfig: call it with its arguments."""

    def __init__(self, kubeconfig: Path):
        self.kubeconfig = kubeconfig

    def __call__(self, *args, stdin=None, check=True, timeout=120) -> subprocess.CompletedProcess:
        """Run `kubectl args...`; `stdin` is text or something to send as JSON. Fails the test unless `check` is false."""
        if stdin is not None and not isinstance(stdin, str):
            stdin = json.dumps(stdin)
        done = kubectl_server.run([f"--kubeconfig={self.kubeconfig}", *map(str, args)], stdin, timeout)
        assert not check or done.returncode == 0, f"kubectl {' '.join(map(str, args))}: {done.stderr or done.stdout}"
        return done

    def json(self, *args, **options):
        """What `kubectl args... -o json` answers; None where it answers nothing (--ignore-not-found)."""
        text = self(*args, "--output=json", **options).stdout
        return json.loads(text) if text.strip() else None

    def get(self, kind, name, namespace=""):
        """One object, None where there is none; as `json`, without the start of a process, which is most of a question's price."""
        return self._read(f"{PATHS[kind].format(namespace=namespace)}/{name}")

    def list(self, kind, namespace="", selector="") -> list[dict]:
        """The objects of a kind, as `get`; none where there is no such kind."""
        answer = self._read(PATHS[kind].format(namespace=namespace), labelSelector=selector)
        return answer["items"] if answer else []

    def create(self, kind, definition, namespace="") -> None:
        """Create one object, as `get`."""
        answer = self._request(PATHS[kind].format(namespace=namespace), "POST", body=definition)
        assert answer.status == HTTPStatus.CREATED, f"POST {kind}: {answer.status} {answer.data.decode()}"

    def delete(self, kind, name, namespace="") -> None:
        """Delete one object if it exists, and do not wait until it is gone; as `get`."""
        path = f"{PATHS[kind].format(namespace=namespace)}/{name}"
        answer = self._request(path, "DELETE", propagationPolicy="Background")
        expected = (HTTPStatus.OK, HTTPStatus.ACCEPTED, HTTPStatus.NOT_FOUND)
        assert answer.status in expected, f"DELETE {path}: {answer.status} {answer.data.decode()}"

    def report(self, kind, name, status, namespace="", *, missing_ok=False) -> None:
        """Change fields of an object's status, as who is in charge of it does; as `get`."""
        path = f"{PATHS[kind].format(namespace=namespace)}/{name}/status"
        answer = self._request(path, "PATCH", body={"status": status}, content_type="application/merge-patch+json")
        is_missing = missing_ok and answer.status == HTTPStatus.NOT_FOUND
        assert is_missing or answer.status == HTTPStatus.OK, f"PATCH {path}: {answer.status} {answer.data.decode()}"

    def log(self, namespace, selector) -> str:
        """What the running containers of these pods have logged; as `get`."""
        pods = [pod["metadata"]["name"] for pod in self.list("pod", namespace, selector)]
        return "".join(self._request(f"{PATHS['pod'].format(namespace=namespace)}/{pod}/log").data.decode() for pod in pods)

    def _read(self, path, **query):
        answer = self._request(path, **query)
        if answer.status == HTTPStatus.NOT_FOUND:
            return None
        assert answer.status == HTTPStatus.OK, f"GET {path}: {answer.status} {answer.data.decode()}"
        return json.loads(answer.data)

    def _request(self, path, method="GET", body=None, content_type="application/json", **query):
        client, settings = self._client, self._client.configuration
        headers = {setting["key"]: setting["value"] for setting in settings.auth_settings().values()}
        headers |= {"Content-Type": content_type, "User-Agent": "tests"}  # the audit log tells it from modules and from kubectl
        url = f"{settings.host}{path}?{urlencode(query)}"
        try:
            return client.rest_client.pool_manager.request(method, url, headers=headers, timeout=30, body=body and json.dumps(body))
        except HTTPError as error:
            raise AssertionError(f"{method} {path}: {error}") from error  # like a kubectl that cannot reach the API server

    @cached_property
    def _client(self):
        return kubernetes.config.new_client_from_config(str(self.kubeconfig))

    def apply(self, *objects) -> None:
        """Create or update objects, in this order, as `kubectl apply --server-side` does; as `get`."""
        query = {"fieldManager": "kubectl", "fieldValidation": "Strict"}
        for definition in objects:
            path = f"{self._collection(definition)}/{definition['metadata']['name']}"
            answer = self._request(path, "PATCH", body=definition, content_type="application/apply-patch+yaml", **query)
            assert answer.status in (HTTPStatus.OK, HTTPStatus.CREATED), f"PATCH {path}: {answer.status} {answer.data.decode()}"

    def _collection(self, definition) -> str:
        """Path of the objects of this one's kind, in its namespace."""
        version, kind = definition["apiVersion"], definition["kind"]
        namespace = definition["metadata"].get("namespace", "default")
        known = PATHS.get(kind.lower(), "").format(namespace=namespace)
        prefix = f"/{'apis' if '/' in version else 'api'}/{version}"
        if known.startswith(f"{prefix}/"):
            return known
        resources = (self._read(prefix) or {"resources": []})["resources"]
        found = [one for one in resources if one["kind"] == kind and "/" not in one["name"]]
        assert found, f"the API server has no kind {kind} in {version}"
        return f"{prefix}/namespaces/{namespace}/{found[0]['name']}" if found[0]["namespaced"] else f"{prefix}/{found[0]['name']}"


@dataclass(frozen=True)
class Request:
    """One request as the API server noted it. `namespace`, `resource` and `name` are empty where there is none."""

    verb: str
    user: str
    agent: str
    code: int
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    dry_run: bool
    with_list: bool
    """A watch that begins with all objects, as a list would return them; against an older API server the client lists them first."""

    @classmethod
    def from_event(cls, event: dict) -> Request:
        target = event.get("objectRef", {})
        query = parse_qs(urlsplit(event["requestURI"]).query)
        return cls(
            verb=event["verb"],
            user=event.get("user", {}).get("username", ""),
            agent=event.get("userAgent", ""),
            code=event.get("responseStatus", {}).get("code", 0),
            group=target.get("apiGroup", ""),
            resource=target.get("resource", ""),
            subresource=target.get("subresource", ""),
            namespace=target.get("namespace", ""),
            name=target.get("name", ""),
            dry_run="dryRun" in query,
            with_list="sendInitialEvents" in query,
        )


class Audit:
    """The API server's audit log between two moments.

        with audit:
            play(...)
        assert audit.writes() == []

    Both moments are requests that the log itself shows, so nothing in between is missed.
    """

    def __init__(self, log: Path, kubectl: Kubectl):
        self._log = log
        self._kubectl = kubectl
        self._from = self._until = ""

    def __enter__(self) -> Audit:
        self._from, self._until = self._mark(), ""
        return self

    def __exit__(self, *_exception) -> None:
        self._until = self._mark()

    def requests(self, user: str = "", agent: str = "") -> list[Request]:
        """Answered requests in between, of those whose user and user agent contain `user` and `agent`.

        Without `user`, the cluster's own components (`system:...`) are left out.
        """
        assert self._until, "the audit log is read after its `with` block"
        found = [Request.from_event(event) for event in self._between()]
        return [
            request
            for request in found
            if agent in request.agent and (user in request.user if user else not request.user.startswith("system:"))
        ]

    def writes(self, user: str = "", agent: str = "", dry_run: bool = False) -> list[Request]:
        """Requests that meant to change something: what was persisted or refused; dry runs only where `dry_run` is true.

        Access reviews and token requests create nothing that stays; they are not counted.
        """
        return [
            request
            for request in self.requests(user, agent)
            if request.verb in WRITES
            and (dry_run or not request.dry_run)
            and request.group not in ("authorization.k8s.io", "authentication.k8s.io")
            and request.subresource != "token"
        ]

    def _mark(self) -> str:
        """Leave a line in the log that can be found again: a GET of a ConfigMap that does not exist."""
        name = f"audit-mark-{uuid.uuid4()}"
        size = self._log.stat().st_size if self._log.exists() else 0
        self._kubectl("get", "configmap", name, "--namespace=default", "--ignore-not-found")
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with self._log.open("rb") as log:
                log.seek(min(size, self._log.stat().st_size))
                if name.encode() in log.read():
                    return name
            time.sleep(0.05)
        raise AssertionError(f"{self._log} does not show the request for {name}: is auditing on?")

    def _between(self):
        """The events between both marks; long-running requests count when they end."""
        for line in self._since():
            if self._until in line:
                return
            if (event := json.loads(line))["stage"] == "ResponseComplete":
                yield event
        raise AssertionError(f"{self._log} and what it was before its last rotation do not show the two moments")

    def _since(self):
        """The lines after the first mark, which is in the log before if it was rotated meanwhile."""
        before = sorted(self._log.parent.glob(f"{self._log.stem}-*{self._log.suffix}"))[-1:]
        for paths in ([self._log], [*before, self._log]):
            with fileinput.FileInput(paths) as log:
                lines = itertools.dropwhile(lambda line: self._from not in line, log)
                if next(lines, None) is not None:
                    yield from lines
                    return
