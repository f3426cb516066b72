# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which Prometheus is found in a cluster, and which authorities may have signed its certificate."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.discovery import Discovery
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.endpoint import Endpoint
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.findings import Finding, error, warning

ALL = ("prometheus", "service", "route")


class Cluster:
    """Answers from objects by kind, namespace and name, or with an error by kind."""

    def __init__(self, *objects, **errors):
        self.objects = {(one["kind"], one["metadata"]["namespace"], one["metadata"]["name"]): one for one in objects}
        self.errors, self.seen = errors, []

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def _see(self, resource, namespace, name):
        self.seen.append(f"{resource.kind} {namespace}/{name}")
        if resource.kind in self.errors:
            raise ApiError(self.errors[resource.kind], "reason", "message")

    def get(self, resource, name, namespace):
        self._see(resource, namespace, name)
        return self.objects.get((resource.kind, namespace, name))

    def list(self, resource):
        self._see(resource, None, None)
        return [one for (kind, *_name), one in self.objects.items() if kind == resource.kind]


def obj(kind, name, namespace="m", **content):
    return {"kind": kind, "metadata": {"namespace": namespace, "name": name}, **content}


def route(name, admitted="True"):
    condition = {"type": "Admitted", "status": admitted, "reason": "r", "message": "m"}
    return obj("Route", name, spec={}, status={"ingress": [{"host": f"{name}.example.com", "conditions": [condition]}]})


def service(name, ports=({"name": "web", "port": 9090},)):
    return obj("Service", name, spec={"ports": list(ports)})


def search(cluster, sources=ALL, namespace="m", names=("one", "two"), **options):
    findings = []
    return Discovery(cluster, namespace, list(names), findings, **options).find(sources), findings


ROUTE_ONE = Endpoint("http://one.example.com", "Route", "m", "one")
SERVICE_TWO = Endpoint("http://two.m.svc:9090", "Service", "m", "two")
OPERATED = Endpoint("http://prometheus-operated.m.svc:9090", "Prometheus", "m", "k8s")
PROMETHEUS = obj("Prometheus", "k8s")


@pytest.mark.parametrize(
    ("objects", "sources", "expected"),
    [
        ([PROMETHEUS, service("two"), route("one")], ALL, ROUTE_ONE),
        ([PROMETHEUS, service("two"), route("one")], ("service", "prometheus"), SERVICE_TWO),
        ([PROMETHEUS, service("one", ()), service("two")], ALL, SERVICE_TWO),
        ([PROMETHEUS, route("other"), service("other")], ALL, OPERATED),
        ([route("two"), route("one")], ["route"], ROUTE_ONE),
    ],
)
def test_the_first_source_with_an_endpoint_counts(objects, sources, expected):
    assert search(Cluster(*objects), sources) == (expected, [])


def test_a_route_that_is_not_admitted_is_a_finding():
    found, findings = search(Cluster(route("one", "False"), service("two")))
    assert (found, [(one.severity, one.code) for one in findings]) == (SERVICE_TWO, [("error", "route-not-admitted")])


@pytest.mark.parametrize(
    ("sources", "looked"),
    [
        (ALL, "no admitted Route m/one or m/two and no Service m/one or m/two and no Prometheus object"),
        (["service"], "no Service m/one or m/two"),
        (["prometheus"], "no Prometheus object"),
    ],
)
def test_a_search_that_finds_no_prometheus_is_an_error(sources, looked):
    found, findings = search(Cluster(Prometheus=404), sources)
    hint = "give url, or namespace and names, of the one that measures the nodes"
    assert (found, findings) == (None, [error("not-found", f"No Prometheus was found: there is {looked}", hint)])


def test_a_source_that_may_not_be_read_is_a_warning():
    found, findings = search(Cluster(PROMETHEUS, Route=403, Service=401), names=["one"])
    assert found == OPERATED
    assert findings == [
        warning("not-allowed", "The user is not allowed to get the Route m/one", "grant that, or give url"),
        warning("not-allowed", "The user is not allowed to get the Service m/one", "grant that, or give url"),
    ]
    assert search(Cluster(Prometheus=403), ["prometheus"])[1][0] == warning(
        "not-allowed", "The user is not allowed to list prometheuses.monitoring.coreos.com", "grant that, or give url"
    )


@pytest.mark.parametrize(("kind", "source"), [("Route", "route"), ("Service", "service"), ("Prometheus", "prometheus")])
def test_a_server_that_fails_is_an_error(kind, source):
    with pytest.raises(ApiError):
        search(Cluster(**{kind: 500}), [source])


def test_one_of_several_objects_is_chosen_with_a_warning():
    found, findings = search(Cluster(obj("Prometheus", "b", "a"), obj("Prometheus", "c", "m"), obj("Prometheus", "a", "z")), ["prometheus"])
    assert (found.namespace, found.name) == ("m", "c")
    message = "There are several Prometheus objects; m/c was chosen, not a/b, z/a"
    assert findings == [warning("ambiguous", message, "give namespace, or url")]


@pytest.mark.parametrize("namespace", ["m", "n"])
def test_a_token_is_sent_to_none_of_several_objects(namespace):
    cluster = Cluster(obj("Prometheus", "b", "a"), obj("Prometheus", "d", "m"), obj("Prometheus", "c", "m"))
    found, findings = search(cluster, namespace=namespace, with_token=True)
    message = "There are several Prometheus objects, a/b, m/c, m/d, and the token is sent to none of them"
    hint = "set url (monitoring_url), or namespace (monitoring_prometheus_namespace) if it contains one of them"
    assert (found, findings) == (None, [error("ambiguous", message, hint)])


def test_a_token_is_sent_to_the_only_object_of_the_namespace():
    found, findings = search(Cluster(obj("Prometheus", "b", "a"), obj("Prometheus", "c", "m")), with_token=True)
    assert (found.name, [one.severity for one in findings]) == ("c", ["warning"])


def test_an_object_that_names_another_host_is_ignored():
    evil = obj("Prometheus", "b", "a", spec={"serviceName": "evil.example.com/?x="})
    found, findings = search(Cluster(evil, obj("Prometheus", "c", "z")), with_token=True)
    assert found.url == "http://prometheus-operated.z.svc:9090"
    message = "The Prometheus object a/b is ignored: its serviceName is no DNS label, or its routePrefix does not begin with /"
    assert findings == [warning("bad-url", message, "correct it")]


INGRESS = obj("ConfigMap", "default-ingress-cert", "openshift-config-managed", data={"ca-bundle.crt": "i"})
ROUTER = obj("ConfigMap", "router-ca", "openshift-config-managed", data={"ca-bundle.crt": "r", "other": "x"})
SERVICE = obj("ConfigMap", "openshift-service-ca.crt", "openshift-monitoring", data={"service-ca.crt": "s"})


@pytest.mark.parametrize(
    ("objects", "authority", "expected"),
    [
        ([INGRESS, ROUTER, SERVICE], "", ["i", "r", "s"]),
        ([INGRESS, ROUTER, SERVICE], "ingress", ["i", "r"]),
        ([INGRESS, ROUTER, SERVICE], "service", ["s"]),
        ([{**INGRESS, "data": None}, {**ROUTER, "data": {"ca-bundle.crt": ""}}], "", []),
        ([], "", []),
    ],
)
def test_authorities_are_those_of_ingress_and_services(objects, authority, expected):
    endpoint = Endpoint("https://p", "url", authority=authority)
    found = list(Discovery(Cluster(*objects), "m", [], []).authorities(endpoint, []))
    assert [text for _source, text in found] == expected
    if "r" in expected:
        assert found[1] == ("ConfigMap openshift-config-managed/router-ca", "r")


def test_an_authority_that_may_not_be_read_is_a_warning():
    findings = []
    assert (
        list(
            Discovery(Cluster(SERVICE, ConfigMap=403), "m", [], []).authorities(Endpoint("https://p", "url", authority="service"), findings)
        )
        == []
    )
    what = "read the ConfigMap openshift-monitoring/openshift-service-ca.crt, which may hold the CA"
    assert findings == [warning("not-allowed", f"The user is not allowed to {what}", "grant that, or give prometheus_ca")]
    with pytest.raises(ApiError):
        list(Discovery(Cluster(ConfigMap=500), "m", [], []).authorities(Endpoint("https://p", "url"), []))


def test_a_finding_has_all_its_fields_as_modules_return_it():
    finding = error("code", "It failed", "do something", metric="m", nodes=("a", "b"))
    assert finding.as_dict() == {
        "severity": "error",
        "code": "code",
        "message": "It failed",
        "hint": "do something",
        "metric": "m",
        "nodes": ["a", "b"],
    }
    assert str(finding) == "It failed: do something"
    assert str(Finding("warning", "code", "It failed")) == "It failed"
