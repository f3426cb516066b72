# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Looking for Prometheus in a cluster, and for the authorities that sign its certificate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import ApiError, Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Resource
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring import endpoint as endpoints
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.endpoint import INGRESS, SERVICE, Endpoint
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.findings import Finding, error, warning

SOURCES = ("route", "service", "prometheus")
"""Where to look, in this order."""

ROUTE = Resource("route.openshift.io/v1", "Route", "routes", True)
PROMETHEUS = Resource("monitoring.coreos.com/v1", "Prometheus", "prometheuses", True)

AUTHORITIES = {
    # who signs: ConfigMaps of OpenShift that hold the authority, as (namespace, name, key)
    INGRESS: (
        ("openshift-config-managed", "default-ingress-cert", "ca-bundle.crt"),
        ("openshift-config-managed", "router-ca", "ca-bundle.crt"),
    ),
    SERVICE: (("openshift-monitoring", "openshift-service-ca.crt", "service-ca.crt"),),
}


class Discovery:
    """One search. ``findings`` is where it adds what led nowhere. with_token: whether what it finds gets a token."""

    def __init__(self, client: Client, namespace: str, names: list[str], findings: list[Finding], with_token: bool = False) -> None:
        self._client = client
        self._namespace = namespace
        self._names = names
        self.findings = findings
        self._with_token = with_token

    def find(self, sources: Iterable[str]) -> Endpoint | None:
        """The first endpoint of the sources, in the order of SOURCES; None, and an error among the findings, if there is none."""
        look = {"route": self._routes, "service": self._services, "prometheus": self._prometheuses}
        chosen = [source for source in SOURCES if source in sources]
        for source in chosen:
            found = next(look[source](), None)
            if found is not None:
                return found
        if any(finding.code == "ambiguous" for finding in self.findings):
            return None
        looked = {
            "route": f"no admitted Route {self._either()}",
            "service": f"no Service {self._either()}",
            "prometheus": "no Prometheus object",
        }
        message = "No Prometheus was found: there is {0}".format(" and ".join(looked[source] for source in chosen))
        self.findings.append(error("not-found", message, "give url, or namespace and names, of the one that measures the nodes"))
        return None

    def authorities(self, endpoint: Endpoint, unread: list[Finding]) -> Iterator[tuple[str, str]]:
        """What may have signed the endpoint's certificate: where it is from, and the certificates (PEM). unread: gets a finding for each refusal."""
        kinds = [endpoint.authority] if endpoint.authority else [INGRESS, SERVICE]
        for kind in kinds:
            for namespace, name, key in AUTHORITIES[kind]:
                try:
                    live = self._client.get(self._client.resource("v1", "ConfigMap"), name, namespace)
                except ApiError as failure:
                    unread.append(_refusal(failure, f"read the ConfigMap {namespace}/{name}, which may hold the CA", "give prometheus_ca"))
                    continue
                text = ((live or {}).get("data") or {}).get(key)
                if text:
                    yield f"ConfigMap {namespace}/{name}", text

    def _routes(self) -> Iterator[Endpoint]:
        for name in self._names:
            route = self._get(ROUTE, name)
            if route is not None:
                found, finding = endpoints.of_route(route)
                if found is not None:
                    yield found
                elif finding is not None:
                    self.findings.append(finding)

    def _services(self) -> Iterator[Endpoint]:
        for name in self._names:
            service = self._get(self._client.resource("v1", "Service"), name)
            found = endpoints.of_service(service) if service is not None else None
            if found is not None:
                yield found

    def _prometheuses(self) -> Iterator[Endpoint]:
        try:
            live = self._client.list(PROMETHEUS)
        except ApiError as failure:
            if failure.status != 404:
                self._not_allowed(failure, "list prometheuses.monitoring.coreos.com", "give url")
            return
        found = {_name(item): endpoints.of_prometheus(item) for item in live}
        for name in [name for name, endpoint in found.items() if endpoint is None]:
            message = f"The Prometheus object {name} is ignored: its serviceName is no DNS label, or its routePrefix does not begin with /"
            self.findings.append(warning("bad-url", message, "correct it"))
        usable = [item for item in live if found[_name(item)]]
        chosen = endpoints.choose(usable, self._namespace)
        if chosen is None:
            return
        others = [_name(item) for item in usable if item is not chosen]
        if others and self._with_token and [item["metadata"]["namespace"] for item in usable].count(self._namespace) != 1:
            message = f"There are several Prometheus objects, {', '.join(sorted([_name(chosen), *others]))}, and the token is sent to none of them"
            hint = "set url (monitoring_url), or namespace (monitoring_prometheus_namespace) if it contains one of them"
            self.findings.append(error("ambiguous", message, hint))
            return
        if others:
            message = f"There are several Prometheus objects; {_name(chosen)} was chosen, not {', '.join(others)}"
            self.findings.append(warning("ambiguous", message, "give namespace, or url"))
        yield from filter(None, [found[_name(chosen)]])

    def _get(self, resource: Resource, name: str) -> dict[str, Any] | None:
        try:
            return self._client.get(resource, name, self._namespace)
        except ApiError as failure:
            self._not_allowed(failure, f"get the {resource.kind} {self._namespace}/{name}", "give url")
            return None

    def _not_allowed(self, failure: ApiError, what: str, instead: str) -> None:
        self.findings.append(_refusal(failure, what, instead))

    def _either(self) -> str:
        return " or ".join(f"{self._namespace}/{name}" for name in self._names)


def _name(item: Mapping[str, Any]) -> str:
    return "{namespace}/{name}".format(**item["metadata"])


def _refusal(failure: ApiError, what: str, instead: str) -> Finding:
    """A finding on a refusal. Raises every other failure."""
    if failure.status not in (401, 403):
        raise failure
    return warning("not-allowed", f"The user is not allowed to {what}", f"grant that, or {instead}")
