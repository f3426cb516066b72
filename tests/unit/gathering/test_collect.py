# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is gathered where the cluster of the other tests has none of it: OpenShift, OLM, a server that goes away."""

from __future__ import annotations

import json
import tarfile

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.resources import KNOWN, Resource
from ansible_collections.osso.scheduler.plugins.module_utils.gathering.collect import Options, gather

NAMESPACE = "openshift-secondary-scheduler-operator"
DEPLOYMENT = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "x:1"}]}}, "selector": {}}}


class Server:
    """An API server that serves some groups, with one object of each kind that is asked for, and an operator."""

    host = "https://api.example.com"

    def __init__(self, groups, broken=None):
        self.groups, self.broken, self.metadata_only = groups, broken, set()

    def request(self, method, path, **_more):
        if path == "/version":
            return {"major": "1", "minor": "34"}
        group = path.removeprefix("/apis/").partition("/")[0]
        if group not in self.groups:
            raise ApiError(404, "NotServed", "no such group", path=path)
        return {"resources": [{"kind": kind} for kind in ("ServiceMonitor", "PrometheusRule")]}

    def resource(self, api_version, kind):
        if (api_version, kind) in KNOWN:
            return KNOWN[api_version, kind]
        if api_version.partition("/")[0] not in self.groups:
            raise ApiError(404, "NotServed", f"the API server does not serve {kind}")
        return Resource(
            api_version, kind, f"{kind.lower()}s", kind not in ("Scheduler", "KubeScheduler", "ClusterOperator", "ClusterVersion")
        )

    def list(self, resource, namespace=None, metadata_only=False, field_selector=None, **_selectors):
        if self.broken and resource.kind == self.broken[0]:
            raise self.broken[1]
        if metadata_only:
            self.metadata_only.add(resource.kind)
        if resource.kind == "Deployment" and field_selector == "metadata.name=osso-scheduler-operator":
            return [{**DEPLOYMENT, "metadata": {"namespace": NAMESPACE, "name": "osso-scheduler-operator"}}]
        if resource.kind == "SecondaryScheduler" or resource.kind == "Pod" or resource.kind == "Deployment":
            return []
        return [{"kind": resource.kind, "apiVersion": resource.api_version, "metadata": {"name": "one", "namespace": namespace}}]

    def get(self, resource, name, namespace=None):
        if resource.kind in ("Lease", "ConfigMap"):
            return None
        return {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": {"name": name}}


def gathered(server, tmp_path, dry=False):
    path = tmp_path / "b.tar.gz"
    options = Options(str(path), ["kube-system"], 100, None, False, None)
    result = gather(server, options, dry)
    names = set()
    if path.exists():
        with tarfile.open(path) as archive:
            names = {name.removeprefix("b/") for name in archive.getnames()}
    return result, names


OLM = {"clusterserviceversions", "subscriptions", "installplans", "catalogsources", "operatorgroups"}
OPENSHIFT = {
    *("cluster/scheduler-cluster.json", "cluster/kubescheduler-cluster.json"),
    *("cluster/clusteroperator-kube-scheduler.json", "cluster/clusterversion-version.json"),
}


def test_olm_and_openshift_where_they_are_served(tmp_path):
    groups = {"operators.coreos.com", "route.openshift.io", "config.openshift.io", "operator.openshift.io", "monitoring.coreos.com"}
    server = Server(groups)
    result, names = gathered(server, tmp_path)
    wanted = {f"namespaces/{NAMESPACE}/{plural}.json" for plural in {*OLM, "servicemonitors", "prometheusrules"}}
    assert wanted | OPENSHIFT <= names
    # Of Secrets the server is asked for no values.
    assert server.metadata_only == {"Secret"}
    assert {entry["file"] for entry in result["files"]} == names - {"index.json", "index.md"}


def test_plain_kubernetes(tmp_path):
    result, names = gathered(Server(set()), tmp_path)
    assert not {name for name in names if any(plural in name for plural in OLM)} | (OPENSHIFT & names)
    assert not [entry for entry in result["missing"] if "operators.coreos.com" in entry["source"]]


def test_a_kind_that_is_refused_is_noted(tmp_path):
    result, names = gathered(Server(set(), ("Role", ApiError(403, "Forbidden", "roles is forbidden"))), tmp_path)
    assert {"what": "roles in kube-system", "why": "roles is forbidden (HTTP 403)"}.items() <= result["missing"][0].items()
    assert {"namespaces/kube-system/rolebindings.json", f"namespaces/{NAMESPACE}/services.json"} <= names
    with tarfile.open(tmp_path / "b.tar.gz") as archive:
        assert json.load(archive.extractfile("b/index.json"))["missing"] == result["missing"]


@pytest.mark.parametrize("status", [0, 401])
def test_a_server_that_is_gone_is_an_error_and_leaves_no_file(tmp_path, status):
    with pytest.raises(ApiError):
        gathered(Server(set(), ("Role", ApiError(status, "Unreachable", "gone"))), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_dry(tmp_path):
    result, _names = gathered(Server(set()), tmp_path, dry=True)
    assert list(tmp_path.iterdir()) == []
    assert result["msg"].startswith("Would write")
    assert result["files"]
