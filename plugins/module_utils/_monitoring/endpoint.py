# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The address of a Prometheus, from the objects that define it. No I/O.

Sources: route/v1 of openshift/api; the Services and the Routes that the cluster monitoring operator makes (openshift-monitoring);
Prometheus of prometheus-operator (pkg/apis/monitoring/v1) and the Service ``prometheus-operated`` that it makes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import conditions
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import dns1123_label
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.findings import Finding, error

INGRESS, SERVICE = "ingress", "service"
"""Who signs the certificate: the authority of the cluster's ingress, or that of its Services."""

_TLS_PORTS = ("https", 443, 9091)
_PORT_NAMES = ("web", "https", "http")
_SERVING_CERTIFICATE = ("service.beta.openshift.io/serving-cert-secret-name", "service.alpha.openshift.io/serving-cert-secret-name")


class Endpoint(NamedTuple):
    """url: without a slash at the end. kind: ``Route``, ``Service``, ``Prometheus`` or ``url`` for one that was given.

    authority: INGRESS or SERVICE, empty if unknown. ``object``: kind, namespace and name of its source.
    """

    url: str
    kind: str
    namespace: str = ""
    name: str = ""
    authority: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.name else self.url


def endpoint_from(url: str) -> Endpoint:
    return Endpoint(url.rstrip("/"), "url")


def of_route(route: Mapping[str, Any]) -> tuple[Endpoint | None, Finding | None]:
    """The endpoint of a Route, or why it leads nowhere."""
    namespace, name = route["metadata"]["namespace"], route["metadata"]["name"]
    spec = route.get("spec") or {}
    refusals = []
    for ingress in (route.get("status") or {}).get("ingress") or []:
        admitted = conditions.in_status(ingress, "Admitted")
        if admitted.get("status") == "True" and ingress.get("host"):
            tls = spec.get("tls") or {}
            scheme = "https" if tls.get("termination") else "http"
            # With passthrough it is the Service's own certificate that a client sees.
            authority = (SERVICE if tls["termination"] == "passthrough" else INGRESS) if tls.get("termination") else ""
            # Those of OpenShift's monitoring have the path /api since 4.10 and 4.11: it is the beginning of the API's own paths.
            path = (spec.get("path") or "").rstrip("/").removesuffix("/api")
            url = f"{scheme}://{ingress['host']}{path}"
            return Endpoint(url, "Route", namespace, name, authority), None
        if admitted.get("status") == "False":
            refusals.append(f"{ingress.get('routerName', 'a router')} says {admitted.get('reason')}: {admitted.get('message')}")
    why = "; ".join(refusals) or "no router has taken it up"
    hint = f"inspect oc describe route {name} -n {namespace} and at the IngressController, or give url"
    return None, error("route-not-admitted", f"The Route {namespace}/{name} is not admitted, {why}", hint)


def of_service(service: Mapping[str, Any]) -> Endpoint | None:
    """The endpoint of a Service, None if it has no port."""
    metadata, ports = service["metadata"], (service.get("spec") or {}).get("ports") or []
    if not ports:
        return None
    by_name = {port.get("name"): port for port in reversed(ports)}
    port = next((by_name[name] for name in _PORT_NAMES if name in by_name), ports[0])
    signed = any(name in (metadata.get("annotations") or {}) for name in _SERVING_CERTIFICATE)
    tls = signed or port.get("appProtocol") == "https" or port.get("name") == "https" or port["port"] in _TLS_PORTS
    host = f"{metadata['name']}.{metadata['namespace']}.svc"
    url = "{0}://{1}:{2}".format("https" if tls else "http", host, port["port"])
    return Endpoint(url, "Service", metadata["namespace"], metadata["name"], SERVICE if tls else "")


def of_prometheus(prometheus: Mapping[str, Any]) -> Endpoint | None:
    """The endpoint of a Prometheus object: the Service that its operator makes for it, without anything that guards it.

    None if its fields are none of a URL, in which they could name another host.
    """
    metadata, spec = prometheus["metadata"], prometheus.get("spec") or {}
    tls = bool((spec.get("web") or {}).get("tlsConfig"))
    prefix = (spec.get("routePrefix") or "").rstrip("/")
    service = spec.get("serviceName") or "prometheus-operated"
    if dns1123_label(service) or (prefix and not prefix.startswith("/")):
        return None
    url = "{0}://{1}.{2}.svc:9090{3}".format("https" if tls else "http", service, metadata["namespace"], prefix)
    return Endpoint(url, "Prometheus", metadata["namespace"], metadata["name"])


def choose(prometheuses: Sequence[Mapping[str, Any]], namespace: str) -> Mapping[str, Any] | None:
    """The Prometheus object that is meant: one of the namespace before others, the first by name."""
    ranked = sorted(
        prometheuses, key=lambda item: (item["metadata"]["namespace"] != namespace, item["metadata"]["namespace"], item["metadata"]["name"])
    )
    return ranked[0] if ranked else None
