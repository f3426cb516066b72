# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API server, spoken to with kubernetes.core's authentication.

One request per question: no discovery for kinds in `resources.KNOWN`, no version check. A server that is away for a moment (a
rolling control plane) is asked again; every other refusal is an `ApiError`.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN, Object, Resource, group_version_path
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.unicode import joined

__all__ = ["FIELD_MANAGER", "ApiError", "Client", "Resource", "raise_if_gone"]

FIELD_MANAGER = "osso.scheduler"

CONNECT_TIMEOUT = 10
# A connection that died without a sign is noticed by the time that an answer takes. Reads are answered at once; a write may
# have to wait for admission webhooks, which get 30 s at most.
READ_TIMEOUT = 15
WRITE_TIMEOUT = 35
PAGE = 500
_HEADER = re.compile(r"[\x20-\x7e\xa0-\xff]*")
# Where the value of a header is from
_HEADERS = {
    "authorization": "api_key (or K8S_AUTH_API_KEY, or the token of the kubeconfig)",
    "impersonate-user": "impersonate_user",
    "impersonate-group": "impersonate_groups",
}
_APPLY_PATCH = "application/apply-patch+yaml"
# Where the Python client goes, by its version, when nothing names a server
NO_HOST = (None, "", "http://localhost")
# YAML folds some of these as line breaks, and rejects others. It has no escapes for pairs of surrogates, so characters beyond them stay.
_ESCAPED_IN_YAML = re.compile(r"[\x7f-\uffff]")
_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
# The operator's proxy answers a list out of its cache, which knows no pages, with everything and this (controller-runtime).
_ALL_AT_ONCE = "continue-not-supported"


Query = Mapping[str, Any]
"""The parameters of a request; those that are None are left out."""


class Client:
    """Requests to one API server.

    ``requests`` counts what was asked so far: ``{"read": n, "write": n, "dry_run": n}``.
    """

    def __init__(self, api_client: Any, retry_seconds: float = 30) -> None:
        """``api_client`` is an authenticated ``kubernetes.client.ApiClient``."""
        from kubernetes.dynamic import DynamicClient

        # The dynamic client's `request` has the same signature in every kubernetes release; its discovery would cost two
        # requests, so it gets none.
        self._http = DynamicClient(api_client, discoverer=lambda client, cache_file: None)
        self._retry_seconds = retry_seconds
        self._resources = dict(KNOWN)
        self._lock = threading.Lock()
        self.requests = {"read": 0, "write": 0, "dry_run": 0}
        self._date = ""

    @classmethod
    def connect(cls, options: Mapping[str, Any], warn: Callable[[str], None]) -> Client:
        """The client for the authentication ``options`` of a module, or what the environment holds where they are not set.

        Calls ``warn`` with a text when the server's certificate is not verified. Sends no request.
        """
        api_client = _authenticate(options)
        configuration = api_client.configuration
        if configuration.host.startswith("https:") and not configuration.verify_ssl:
            warn(
                f"The certificate of {_without_userinfo(configuration.host)} is not verified, so anyone on the way can "
                "read and change what is sent. Give the cluster's CA (ca_cert, K8S_AUTH_SSL_CA_CERT, or the certificate "
                "authority data of Automation Platform's credential) and leave validate_certs on."
            )
        return cls(api_client, retry_seconds=options.get("retry_seconds") or 0)

    @property
    def host(self) -> str:
        """URL of the API server, without credentials."""
        return _without_userinfo(self._http.configuration.host)

    @property
    def api_client(self) -> Any:
        """The ``kubernetes.client.ApiClient``, for what is no plain request."""
        return self._http.client

    def server_time(self) -> datetime:
        """The API server's time as of its last answer; this host's time if the answer had none."""
        try:
            return parsedate_to_datetime(self._date).astimezone(timezone.utc)
        except (TypeError, ValueError):
            return datetime.now(timezone.utc)

    def request(
        self,
        method: str,
        path: str,
        query: Query | None = None,
        body: Any = None,
        content_type: str | None = None,
        accept: str | None = None,
    ) -> Object:
        """Send one request and return the decoded JSON answer.

        ``query`` is a dict, ``accept`` the form of the answer where plain JSON is not enough.

        What is safe is asked again for up to ``retry_seconds``: a connection that was never made, an
        overloaded (429) or unavailable (503) server, and for everything but POST also a broken connection, 504, and a 500 of a proxy.
        Raises `ApiError`.
        """
        timeout = READ_TIMEOUT if method == "GET" else WRITE_TIMEOUT
        if body is not None:
            body = joined(body, f"The body of {method} {path}")
        if content_type == _APPLY_PATCH:
            # The library sends a body of another content type than its own without a change.
            body, content_type = _as_yaml(body).encode(), f"{_APPLY_PATCH}; charset=utf-8"
        response = self._send(method, path, query, body, content_type, timeout, accept=accept)
        try:
            answer = json.loads(response.data)
        except RecursionError:
            raise ApiError(
                response.status,
                "NestedTooDeeply",
                f"{self.host} answered {method} {path} with content that is nested more deeply than Python reads (its recursion limit is "
                f"{sys.getrecursionlimit()}); simplify the object, which has lists or mappings within each other",
                method=method,
                path=path,
            ) from None
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise ApiError(
                response.status,
                "NotJSON",
                f"{self.host} answered {method} {path} with something that is not a JSON object; is it a Kubernetes API server?",
                method=method,
                path=path,
            )
        return answer

    def version(self) -> str:
        """The release of the API server, such as ``v1.31.4``. Raises `ApiError`."""
        return str(self.request("GET", "/version").get("gitVersion", ""))

    def groups(self) -> dict[str, list[str]]:
        """The API groups that the server serves, each with its versions."""
        answer = self.request("GET", "/apis")
        return {group["name"]: [version["version"] for version in group["versions"]] for group in answer.get("groups") or []}

    def text(self, path: str, query: Query | None = None) -> str:
        """The answer to a GET that is no JSON, such as a container's log. Raises `ApiError`."""
        data: bytes = self._send("GET", path, query, None, None, READ_TIMEOUT).data
        return data.decode("utf-8", "replace")

    def resource(self, api_version: str, kind: str) -> Resource:
        """The `Resource` of a kind: from the table, else by one GET of its group version.

        Raises `ApiError` with status 404 and reason ``NotServed`` when the server does not serve it.
        """
        if (api_version, kind) not in self._resources:
            path = group_version_path(api_version)
            try:
                served = self.request("GET", path)["resources"]
            except ApiError as error:
                if error.status != 404:
                    raise
                served = []
            for entry in served:
                if "/" not in entry["name"]:
                    self.learn(Resource(api_version, entry["kind"], entry["name"], entry["namespaced"]))
            if (api_version, kind) not in self._resources:
                raise _not_served(f"{api_version} {kind}", "GET", path)
        return self._resources[api_version, kind]

    def learn(self, resource: Resource) -> None:
        """Remember where a kind is served, so that it need not be asked for."""
        self._resources[resource.api_version, resource.kind] = resource

    def get(self, resource: Resource, name: str, namespace: str | None = None) -> Object | None:
        """The object, or None when it (or its kind) does not exist."""
        try:
            return self.request("GET", resource.path(namespace, name))
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def list(
        self,
        resource: Resource,
        namespace: str | None = None,
        label_selector: str | None = None,
        field_selector: str | None = None,
        metadata_only: bool = False,
    ) -> list[Object]:
        """All matching objects, each with apiVersion and kind. Reads page by page.

        With ``metadata_only`` the server sends nothing else of them, such as no values of Secrets.
        """
        objects = []
        query = {"limit": PAGE, "labelSelector": label_selector, "fieldSelector": field_selector}
        accept = _METADATA if metadata_only else None
        while True:
            page = self.request("GET", resource.path(namespace), query=query, accept=accept)
            for item in page.get("items") or []:
                objects.append(dict(item, apiVersion=resource.api_version, kind=resource.kind))
            query["continue"] = (page.get("metadata") or {}).get("continue")
            if query["continue"] in (None, "", _ALL_AT_ONCE):
                return objects

    def create(self, resource: Resource, obj: Object, dry_run: bool = False) -> Object:
        """POST the object and return it as stored."""
        return self.request(
            "POST",
            resource.path(obj["metadata"].get("namespace")),
            query={"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict", "dryRun": "All" if dry_run else None},
            body=obj,
            content_type="application/json",
        )

    def apply(
        self,
        resource: Resource,
        obj: Object,
        force: bool = False,
        dry_run: bool = False,
        subresource: str | None = None,
        field_manager: str = FIELD_MANAGER,
    ) -> Object:
        """Server-side apply with strict field validation; return the object as stored."""
        metadata = obj["metadata"]
        return self.request(
            "PATCH",
            resource.path(metadata.get("namespace"), metadata["name"], subresource),
            query={
                "fieldManager": field_manager,
                "fieldValidation": "Strict",
                "force": "true" if force else None,
                "dryRun": "All" if dry_run else None,
            },
            body=obj,
            content_type=_APPLY_PATCH,
        )

    def json_patch(
        self,
        resource: Resource,
        name: str,
        namespace: str | None,
        operations: Sequence[Object],
        field_manager: str = FIELD_MANAGER,
        dry_run: bool = False,
        subresource: str | None = None,
    ) -> Object:
        """Change the object by a JSON patch (a list of operations, RFC 6902) and return it as stored."""
        return self.request(
            "PATCH",
            resource.path(namespace, name, subresource),
            query={"fieldManager": field_manager, "fieldValidation": "Strict", "dryRun": "All" if dry_run else None},
            body=operations,
            content_type="application/json-patch+json",
        )

    def delete(
        self,
        resource: Resource,
        name: str,
        namespace: str | None = None,
        uid: str | None = None,
        propagation: str = "Background",
        dry_run: bool = False,
        grace_period: int | None = None,
    ) -> Object | None:
        """Ask for deletion; return the server's answer, or None when the object does not exist.

        With ``uid`` only that very object is deleted, not a namesake created since (409 otherwise). ``grace_period`` in seconds.
        """
        options: Object = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation}
        if uid:
            options["preconditions"] = {"uid": uid}
        if grace_period is not None:
            options["gracePeriodSeconds"] = grace_period
        if dry_run:
            options["dryRun"] = ["All"]
        try:
            return self.request(
                "DELETE",
                resource.path(namespace, name),
                # The server heeds the body; an audit log shows only the query.
                query={"dryRun": "All" if dry_run else None},
                body=options,
                content_type="application/json",
            )
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def watch(
        self,
        resource: Resource,
        namespace: str | None = None,
        field_selector: str | None = None,
        label_selector: str | None = None,
        resource_version: str | None = None,
        timeout: float = 60,
    ) -> Generator[tuple[str, Object], None, None]:
        """Yield ``(type, object)`` for each change, at most ``timeout`` seconds long.

        Without ``resource_version`` the present objects come first, as ``ADDED``. Ends when the time is over or the connection
        broke: who needs more starts again. Raises `ApiError`, with status 410 when ``resource_version`` is too old.
        """
        path = resource.path(namespace)
        query = {
            "watch": "true",
            "timeoutSeconds": max(1, int(timeout)),
            "fieldSelector": field_selector,
            "labelSelector": label_selector,
            "resourceVersion": resource_version,
        }
        response = self._send("GET", path, query, None, None, max(1, timeout) + 1, stream=True)
        try:
            for line in _lines(response):
                try:
                    event = json.loads(line)
                except (RecursionError, ValueError):
                    return  # cut off by a proxy that lost its own connection
                if "object" not in event:
                    # The operator's proxy answers a watch of one object that it has in its cache with the object.
                    raise ApiError(405, "NotStreamed", f"{self.host} answers with an object instead of a stream", None, "GET", path)
                if event["type"] == "ERROR":
                    status = event["object"]
                    raise ApiError(
                        status.get("code", 500), status.get("reason", ""), status.get("message", ""), status.get("details"), "GET", path
                    )
                if event["type"] != "BOOKMARK":
                    yield event["type"], event["object"]
        finally:
            response.close()

    def _send(
        self,
        method: str,
        path: str,
        query: Query | None,
        body: Any,
        content_type: str | None,
        read_timeout: float,
        stream: bool = False,
        accept: str | None = None,
    ) -> Any:
        """The answer (a urllib3 response, read unless ``stream``) to one request, after the retries that are safe."""
        from kubernetes.client.exceptions import ApiException
        from urllib3.exceptions import HTTPError

        query_params = [(key, value) for key, value in (query or {}).items() if value is not None]
        self._count(method, dict(query_params))
        first_failure = None
        pause = 0.1
        while True:
            try:
                response = self._http.request(
                    method,
                    path,
                    body=body,
                    query_params=list(query_params),
                    content_type=content_type,
                    serialize=False,
                    header_params={"Accept": accept} if accept else {},
                    _request_timeout=(CONNECT_TIMEOUT, read_timeout),
                )
                if not stream:
                    # Reads the body, which can fail like the request itself, and keeps it
                    response.read(cache_content=True)
                self._date = response.headers.get("Date", "")
                return response
            except ApiException as failure:
                # Without a status it is the client's own word for a TLS failure, such as a connection that broke.
                error = _refused(failure, method, path) if failure.status else _unreachable(self.host, failure, method, path)
                is_cut = (
                    error.status == 504
                    # The operator's proxy answers so where its own connection fails. An API server answers with a Status.
                    or (error.status == 500 and _status(failure) is None)
                    or (not failure.status and "EOF occurred" in str(failure.reason))
                )
                retry = error.status in (429, 503) or (is_cut and method != "POST")
                retry_after = (failure.headers or {}).get("Retry-After", "") if retry else ""
                wait = float(retry_after) if retry_after.isdecimal() else pause
            except HTTPError as failure:
                error = _unreachable(self.host, failure, method, path)
                retry = error.reason == "Unreachable" and (method != "POST" or _never_connected(failure))
                wait = pause
            now = time.monotonic()
            first_failure = first_failure or now
            remaining = self._retry_seconds - (now - first_failure)
            if not retry or remaining <= 0:
                if now - first_failure > 1:
                    error.message += f" (retried for {now - first_failure:.0f} s)"
                raise error
            time.sleep(min(wait, remaining))
            pause = min(2 * pause, 2)

    def _count(self, method: str, query: Query) -> None:
        if method == "GET":
            kind = "read"
        elif query.get("dryRun"):
            kind = "dry_run"
        else:
            kind = "write"
        with self._lock:
            self.requests[kind] += 1


def raise_if_gone(client: Client, error: ApiError) -> None:
    """Raise `ApiError` if the API server does not answer or the user is no longer valid.

    ``error``: of a request that the server forwards to a node, such as one for a log. It is the same (no answer, or 401) if only that node does not
    answer or does not trust the server.
    """
    if error.status in (0, 401):
        client.request("GET", "/version")


def _authenticate(options: Mapping[str, Any]) -> Any:
    """The authenticated ApiClient that kubernetes.core makes of the module's options and the environment."""
    try:
        import kubernetes
    except ImportError:
        raise ClusterError(
            f"The Python library kubernetes is missing for {_interpreter()}: pip install 'kubernetes>=29.0.0,!=36.0.0,!=36.0.1', or set "
            "ansible_python_interpreter to a Python that has it."
        ) from None
    from ansible_collections.kubernetes.core.plugins.module_utils.k8s import client as core

    _refuse_two_clusters(options)
    given = {name: options.get(name) for name in core.AUTH_ARG_SPEC}
    try:
        try:
            # The steps of get_api_client up to where it makes its dynamic client, whose discovery costs two requests
            chosen = core._create_auth_spec(None, **given)
            configuration = core._create_configuration(chosen)
            configuration.retries = False
            if chosen.get("host"):
                # Before each request it would set back what a kubeconfig with a token says, its server among it.
                configuration.refresh_api_key_hook = None
            urlsplit(configuration.host)  # raises ValueError, as the next line does for a proxy
            api_client = kubernetes.client.ApiClient(configuration)
            for header, value in core._create_headers(None, **given).items():
                core._set_header(api_client, header, value)
        except AttributeError:
            # They are not public: where a later kubernetes.core has none of them, its public function is dearer but there
            api_client = core.get_api_client(**given).client.client
        if api_client.configuration.host in NO_HOST and not options.get("host") and "K8S_AUTH_HOST" not in os.environ:
            raise kubernetes.config.ConfigException("the kubeconfig's cluster has no server")
    except (kubernetes.config.ConfigException, core.CoreException) as error:
        raise ClusterError(
            "No usable credentials for a cluster: {0}. Give kubeconfig, or host with api_key, or set K8S_AUTH_KUBECONFIG, or "
            "K8S_AUTH_HOST with K8S_AUTH_API_KEY.{1}".format(str(error).rstrip("."), _in_a_pod())
        ) from None
    except UnicodeEncodeError:
        raise InputError("username, password, proxy_headers: the Python library sends Latin-1 characters alone; use a token.") from None
    except ValueError:
        # Of a URL, which the message would quote with the password in it
        raise InputError("host or proxy, or the server of the kubeconfig, is no URL; give one such as https://HOST:6443.") from None
    _refuse_broken_headers(api_client)
    return api_client


def _refuse_broken_headers(api_client: Any) -> None:
    """Raise `InputError` for what no header can hold. The library would quote the value, which may be a token, in a traceback."""
    headers = dict(api_client.default_headers)
    headers.update((entry["key"], entry["value"]) for entry in api_client.configuration.auth_settings().values())
    for name, value in headers.items():
        if not _HEADER.fullmatch(value or ""):
            told = _HEADERS.get(str(name).lower(), name)
            raise InputError(
                f"{told}: its value contains a line break, another control character or one that is not Latin-1, which an HTTP header cannot contain. "
                "Remove it; the filter trim removes a line break at the end."
            )


def _in_a_pod() -> str:
    """A further remedy for a process in a pod, which could use its account's token if that were mounted."""
    if "KUBERNETES_SERVICE_HOST" not in os.environ:
        return ""
    return (
        " This is a pod without a ServiceAccount's token: with automountServiceAccountToken: true and a serviceAccountName in its specification (on "
        "Automation Platform, that of the container group) it needs none of these."
    )


def _refuse_two_clusters(options: Mapping[str, Any]) -> None:
    """Raise `InputError` where kubernetes.core would go to the environment's cluster although the options name another one.

    It takes each option that is not given from the environment; host and token then go before a kubeconfig, a host alone is mixed with it.
    """
    named = [name for name in ("kubeconfig", "context") if options.get(name)]
    host = os.environ.get("K8S_AUTH_HOST")
    if not named or not host or options.get("host"):
        return
    told = " and ".join(f"{name}: {options[name]}" if isinstance(options[name], str) else name for name in named)
    raise InputError(
        f"Two clusters are named: one by the options ({told}), another one by K8S_AUTH_HOST={_without_userinfo(host)} in the environment, which "
        "would be taken. Give host, api_key and ca_cert as options instead, or run without K8S_AUTH_HOST: on Automation Platform, launch the "
        "job without the cluster's credential."
    )


def _interpreter() -> str:
    return sys.executable


def _as_yaml(body: Any) -> str:
    """As JSON that means the same to a parser of YAML."""
    return _ESCAPED_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(body, ensure_ascii=False))


def _without_userinfo(url: str) -> str:
    """The operator's proxy puts a token-like owner reference before the host: never show it."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _lines(response: Any) -> Iterator[bytes]:
    """Complete lines of a stream, until it ends or breaks."""
    from urllib3.exceptions import HTTPError

    rest = b""
    try:
        for chunk in response.stream(65536):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if line.strip():
                    yield line
    except (HTTPError, OSError):
        return


def _status(failure: Any) -> Object | None:
    """The Status object in an answer that is not 2xx; None where something else than an API server answered."""
    try:
        status = json.loads(failure.body)
    except (RecursionError, TypeError, ValueError):
        return None
    return status if isinstance(status, dict) and status.get("kind") == "Status" else None


def _refused(failure: Any, method: str, path: str) -> ApiError:
    """The `ApiError` of an answer that is not 2xx."""
    status = _status(failure)
    if status is not None:
        return ApiError(
            failure.status, status.get("reason") or "", status.get("message") or failure.reason, status.get("details"), method, path
        )
    if failure.status == 404:
        return _not_served(path, method, path)
    body = failure.body.decode("utf-8", "replace") if isinstance(failure.body, bytes) else failure.body
    return ApiError(failure.status, failure.reason or "", (body or failure.reason or "").strip()[:500], None, method, path)


def _not_served(what: str, method: str, path: str) -> ApiError:
    return ApiError(
        404, "NotServed", f"the API server does not serve {what}; is its CustomResourceDefinition installed?", None, method, path
    )


def _never_connected(failure: Exception) -> bool:
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

    return isinstance(getattr(failure, "reason", failure), (ConnectTimeoutError, NewConnectionError))


def _unreachable(host: str, failure: Exception, method: str, path: str) -> ApiError:
    """The `ApiError` of a request that got no answer; ``Unreachable`` is worth another try, ``Unusable`` is not."""
    from urllib3 import exceptions

    cause = getattr(failure, "reason", failure)
    text = str(cause)
    if "CERTIFICATE_VERIFY_FAILED" in text or "Hostname mismatch" in text:
        remedy = "give the CA that signed it (ca_cert, K8S_AUTH_SSL_CA_CERT or certificate-authority-data in the kubeconfig)"
        return ApiError(0, "Unusable", f"the certificate of {host} could not be verified; {remedy}: {text}", None, method, path, True)
    unresolved = getattr(exceptions, "NameResolutionError", ())
    if (unresolved and isinstance(cause, unresolved)) or "Name or service not known" in text:
        return ApiError(
            0,
            "Unusable",
            f"the name of the API server in {host} cannot be resolved; check host or the kubeconfig's server",
            None,
            method,
            path,
            True,
        )
    if isinstance(cause, exceptions.ReadTimeoutError):
        return ApiError(0, "Unreachable", f"{host} gave no answer to {method} {path} in time", None, method, path)
    never_sent = _never_connected(failure)
    return ApiError(0, "Unreachable", f"the API server {host} cannot be reached: {text}", None, method, path, never_sent)
