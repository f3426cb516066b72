# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a Prometheus answers, as Route, Service and Prometheus objects say."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.endpoint import (
    INGRESS,
    SERVICE,
    Endpoint,
    choose,
    endpoint_from,
    of_prometheus,
    of_route,
    of_service,
)

ADMITTED = {"type": "Admitted", "status": "True"}
REFUSED = {"type": "Admitted", "status": "False", "reason": "HostAlreadyClaimed", "message": "another route has it"}


def route(tls=None, ingress=(("prometheus.apps.example.com", ADMITTED),), path=""):
    return {
        "metadata": {"namespace": "openshift-monitoring", "name": "prometheus-k8s"},
        "spec": {"host": "wanted.example.com", "path": path, **({"tls": {"termination": tls}} if tls else {})},
        "status": {"ingress": [{"host": host, "routerName": "default", "conditions": [condition]} for host, condition in ingress]},
    }


def service(*ports, **annotations):
    return {"metadata": {"namespace": "monitoring", "name": "prometheus-k8s", "annotations": annotations}, "spec": {"ports": list(ports)}}


@pytest.mark.parametrize(
    ("tls", "path", "url", "authority"),
    [
        ("reencrypt", "", "https://prometheus.apps.example.com", INGRESS),
        # As OpenShift's routes prometheus-k8s and thanos-querier have it
        ("reencrypt", "/api", "https://prometheus.apps.example.com", INGRESS),
        ("edge", "/team/api/", "https://prometheus.apps.example.com/team", INGRESS),
        ("edge", "/team", "https://prometheus.apps.example.com/team", INGRESS),
        ("passthrough", "/", "https://prometheus.apps.example.com", SERVICE),
        (None, "", "http://prometheus.apps.example.com", ""),
    ],
)
def test_url_and_authority_are_derived_from_the_tls_of_a_route(tls, path, url, authority):
    found, finding = of_route(route(tls, path=path))
    assert (found, finding) == (Endpoint(url, "Route", "openshift-monitoring", "prometheus-k8s", authority), None)


def test_first_router_that_admits_a_route_counts():
    found, finding = of_route(route("edge", [("a.example.com", REFUSED), ("b.example.com", ADMITTED)]))
    assert (found.url, finding) == ("https://b.example.com", None)


@pytest.mark.parametrize(
    ("ingress", "why"),
    [
        ((), "no router has taken it up"),
        ([("a.example.com", REFUSED)], "default says HostAlreadyClaimed: another route has it"),
    ],
)
def test_a_route_that_is_not_admitted_is_an_error(ingress, why):
    found, finding = of_route(route("edge", ingress))
    assert found is None
    assert (finding.severity, finding.code) == ("error", "route-not-admitted")
    assert finding.message == f"The Route openshift-monitoring/prometheus-k8s is not admitted, {why}"
    assert "oc describe route prometheus-k8s -n openshift-monitoring" in finding.hint


@pytest.mark.parametrize(
    ("ports", "annotations", "url"),
    [
        ([{"name": "web", "port": 9090}], {}, "http://prometheus-k8s.monitoring.svc:9090"),
        ([{"name": "tenancy", "port": 9092}, {"name": "web", "port": 9091}], {}, "https://prometheus-k8s.monitoring.svc:9091"),
        ([{"port": 8080}], {}, "http://prometheus-k8s.monitoring.svc:8080"),
        ([{"name": "https", "port": 8443}, {"name": "metrics", "port": 1}], {}, "https://prometheus-k8s.monitoring.svc:8443"),
        ([{"name": "web", "port": 80, "appProtocol": "https"}], {}, "https://prometheus-k8s.monitoring.svc:80"),
        (
            [{"name": "web", "port": 8080}],
            {"service.beta.openshift.io/serving-cert-secret-name": "tls"},
            "https://prometheus-k8s.monitoring.svc:8080",
        ),
    ],
)
def test_url_and_authority_are_derived_from_the_ports_of_a_service(ports, annotations, url):
    found = of_service(service(*ports, **annotations))
    assert (found.url, found.authority) == (url, SERVICE if url.startswith("https") else "")


def test_a_service_without_ports_has_no_endpoint():
    assert of_service(service()) is None


@pytest.mark.parametrize(
    ("spec", "url"),
    [
        ({}, "http://prometheus-operated.monitoring.svc:9090"),
        ({"routePrefix": "/"}, "http://prometheus-operated.monitoring.svc:9090"),
        ({"routePrefix": "/prom", "web": {"tlsConfig": {"cert": {}}}}, "https://prometheus-operated.monitoring.svc:9090/prom"),
        ({"serviceName": "mine"}, "http://mine.monitoring.svc:9090"),
    ],
)
def test_the_url_is_derived_from_a_prometheus_object(spec, url):
    assert of_prometheus({"metadata": {"namespace": "monitoring", "name": "k8s"}, "spec": spec}).url == url


def test_prometheus_object_of_the_namespace_comes_first():
    found = [{"metadata": {"namespace": namespace, "name": name}} for namespace, name in (("a", "z"), ("b", "y"), ("b", "x"))]
    assert choose(found, "b")["metadata"]["name"] == "x"
    assert choose(found, "c")["metadata"]["name"] == "z"
    assert choose([], "b") is None


def test_a_given_url_loses_its_trailing_slash():
    assert (endpoint_from("https://p.example.com/").url, str(endpoint_from("https://p.example.com"))) == (
        "https://p.example.com",
        "https://p.example.com",
    )


@pytest.mark.parametrize("spec", [{"serviceName": "evil.example.com/?x="}, {"serviceName": "a.b"}, {"routePrefix": "@evil.example.com/"}])
def test_a_prometheus_object_that_names_another_host_has_no_endpoint(spec):
    assert of_prometheus({"metadata": {"namespace": "monitoring", "name": "k8s"}, "spec": spec}) is None
