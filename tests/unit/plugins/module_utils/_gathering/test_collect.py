# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is gathered where the cluster of the other tests has none of it: OpenShift, OLM, a server that goes away."""

from __future__ import annotations

import json
import tarfile
from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN, Resource
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import scheduler_details
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.https import Answer
from ansible_collections.osso.scheduler.plugins.module_utils._gathering import collect
from ansible_collections.osso.scheduler.plugins.module_utils._gathering.collect import Options, gather

NAMESPACE = "openshift-secondary-scheduler-operator"
DEPLOYMENT = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "x:1"}]}}, "selector": {}}}


class Server:
    """An API server that serves some groups, with one object of each kind that is asked for, and an operator."""

    host = "https://api.example.com"

    def __init__(self, groups, broken=None, gone=None):
        self.groups, self.broken, self.gone, self.metadata_only = groups, broken, gone, set()
        self.asked = 0

    def request(self, method, path, **_more):
        if path == "/version":
            self.asked += 1
            if self.gone and self.asked > 1:
                raise self.gone
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


def test_objects_of_olm_and_openshift_are_gathered_where_they_are_served(tmp_path):
    groups = {"operators.coreos.com", "route.openshift.io", "config.openshift.io", "operator.openshift.io", "monitoring.coreos.com"}
    server = Server(groups)
    result, names = gathered(server, tmp_path)
    wanted = {f"namespaces/{NAMESPACE}/{plural}.json" for plural in {*OLM, "servicemonitors", "prometheusrules"}}
    assert wanted | OPENSHIFT <= names
    # Of Secrets the server is asked for no values.
    assert server.metadata_only == {"Secret"}
    assert {entry["file"] for entry in result["files"]} == names - {"index.json", "index.md"}


def test_no_objects_of_openshift_or_olm_are_gathered_on_plain_kubernetes(tmp_path):
    result, names = gathered(Server(set()), tmp_path)
    assert not {name for name in names if any(plural in name for plural in OLM)} | (OPENSHIFT & names)
    assert not [entry for entry in result["missing"] if "operators.coreos.com" in entry["source"]]


def test_a_forbidden_kind_is_noted(tmp_path):
    result, names = gathered(Server(set(), ("Role", ApiError(403, "Forbidden", "roles is forbidden"))), tmp_path)
    assert {"what": "roles in kube-system", "why": "roles is forbidden (HTTP 403)"}.items() <= result["missing"][0].items()
    assert {"namespaces/kube-system/rolebindings.json", f"namespaces/{NAMESPACE}/services.json"} <= names
    with tarfile.open(tmp_path / "b.tar.gz") as archive:
        assert json.load(archive.extractfile("b/index.json"))["missing"] == result["missing"]


@pytest.mark.parametrize("status", [0, 401])
def test_an_unreachable_server_is_an_error_and_leaves_no_file(tmp_path, status):
    gone = ApiError(status, "Unreachable", "gone")
    with pytest.raises(ApiError):
        gathered(Server(set(), ("Role", gone), gone), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("status", [0, 401, 500])
def test_one_request_that_fails_like_that_is_noted(tmp_path, status):
    """The server still answers, so it was not the server; a kubelet may be what did not."""
    result, names = gathered(Server(set(), ("Role", ApiError(status, "Unreachable", "no answer in time"))), tmp_path)
    assert result["missing"][0]["what"] == "roles in kube-system"
    assert result["missing"][0]["why"].startswith("no answer in time")
    assert "namespaces/kube-system/rolebindings.json" in names


PORT = "--secure-port=$(PORT)"


class Scheduler(Server):
    """... with a scheduler of two names, whose instances are on a node that does not answer, and whose port nobody knows."""

    names = ("a", "b")
    logs = 0

    def list(self, resource, namespace=None, **selectors):
        if namespace == "kube-system" and resource.kind == "Deployment" and not selectors.get("field_selector"):
            metadata = {"namespace": namespace, "name": "second"}
            container = {"name": "c", "image": "x:1", "command": ["kube-scheduler", "--config=/etc/k/c.yaml", PORT]}
            mount = {"name": "v", "mountPath": "/etc/k"}
            spec = {"containers": [{**container, "volumeMounts": [mount]}], "volumes": [{"name": "v", "configMap": {"name": "m"}}]}
            return [{"metadata": metadata, "spec": {"template": {"spec": spec}, "selector": {"matchLabels": {"a": "b"}}}}]
        if namespace == "kube-system" and resource.kind == "Pod" and selectors.get("label_selector", "a=b") == "a=b":
            (deployment,) = self.list(resource._replace(kind="Deployment"), namespace)
            status = {"name": "c", "containerID": "x://1", "restartCount": 1}
            return [
                {
                    "metadata": {"namespace": namespace, "name": f"second-{number}"},
                    "spec": {**deployment["spec"]["template"]["spec"], "nodeName": "dead"},
                    "status": {"containerStatuses": [status]},
                }
                for number in range(2)
            ]
        return super().list(resource, namespace, **selectors)

    def get(self, resource, name, namespace=None):
        if (resource.kind, name) == ("ConfigMap", "m") and self.names:
            profiles = ", ".join(f"{{schedulerName: {name}}}" for name in self.names)
            text = f"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{profiles}]\n"
            return {"data": {"c.yaml": text}}
        return super().get(resource, name, namespace)

    def text(self, path, query=None):
        self.logs += 1
        raise ApiError(0, "Unreachable", "gave no answer in time", path=path)


def test_a_node_that_does_not_answer_costs_one_question_and_its_logs(tmp_path):
    server = Scheduler(set())
    result, names = gathered(server, tmp_path)
    assert server.logs == 1
    assert "scheduler_info.json" in names
    why = {entry["what"]: entry["why"] for entry in result["missing"]}
    assert len([what for what in why if what.startswith("log of the container c")]) == 4
    assert "its node dead has not answered before" in why["log of the container c of the pod kube-system/second-1"]
    assert [entry["why"] for entry in result["missing"] if "gave no answer in time" in entry["why"]]
    assert "secure-port" in why["metrics of Deployment kube-system/second"]


def test_custom_resources_are_listed_by_namespace_if_not_allowed_everywhere(tmp_path):
    class Narrow(Server):
        def list(self, resource, namespace=None, **selectors):
            if resource.kind == "SecondaryScheduler" and not namespace:
                raise ApiError(403, "Forbidden", "not in all of the cluster")
            return super().list(resource, namespace, **selectors)

    result, names = gathered(Narrow(set()), tmp_path)
    assert "namespaces/kube-system/secondaryschedulers.json" in names
    assert [entry for entry in result["missing"] if entry["what"] == "secondaryschedulers"]
    assert "namespaces/kube-system/secondaryschedulers.json" not in gathered(Server(set()), tmp_path)[1]


@pytest.mark.parametrize("names", [("a", "b"), None])
def test_a_dump_is_compared_under_all_names_of_its_scheduler(tmp_path, monkeypatch, names):
    targets = []

    def run(_client, _options, target=None):
        targets.append(target)
        raise ApiError(0, "Unreachable", "the stream broke. The ephemeral container x stays listed")

    monkeypatch.setattr(collect.cache_dump, "run", run)
    server = Scheduler(set())
    server.names = names
    options = Options(str(tmp_path / "b.tar.gz"), ["kube-system"], 0, None, True, "busybox")
    result = gather(server, options, False)
    assert [target.scheduler_names for target in targets] == [names]
    assert [entry for entry in result["missing"] if "the stream broke. The ephemeral container x" in entry["why"]]


def test_a_dry_run_lists_the_files_and_writes_none(tmp_path):
    result, _names = gathered(Server(set()), tmp_path, dry=True)
    assert list(tmp_path.iterdir()) == []
    assert result["msg"].startswith("Would write")
    assert result["files"]


class Running(Server):
    """... with pods of a scheduler that our operator runs, of the operator, and of others, and bindings for some of them."""

    def list(self, resource, namespace=None, **selectors):
        if resource.kind == "ClusterRoleBinding":
            subjects = {"ours": [{"name": "x"}, {"namespace": "kube-system", "name": "scheduler"}], "none": None}
            subjects |= {"other": [{"namespace": "kube-system", "name": "other"}], "elsewhere": [{"namespace": "a", "name": "scheduler"}]}
            return [{"metadata": {"name": name}, "subjects": found} for name, found in subjects.items()]
        if namespace == "kube-system" and resource.kind == "Deployment" and not selectors.get("field_selector"):
            managed = {"app.kubernetes.io/managed-by": "osso.scheduler"}
            return [
                {**DEPLOYMENT, "metadata": {"namespace": namespace, "name": "proxy", "labels": managed}},
                {**DEPLOYMENT, "metadata": {"namespace": namespace, "name": "other", "labels": {"app.kubernetes.io/managed-by": "helm"}}},
            ]
        if namespace == "kube-system" and resource.kind == "Pod" and not selectors.get("label_selector"):
            return [
                self.pod("second", ["kube-scheduler"], "scheduler", restarts=1),
                self.pod("proxy-1", ["proxy"], "proxy", owner={"kind": "ReplicaSet", "name": "proxy-5d"}),
                self.pod("other-1", ["other"], "other", owner={"kind": "ReplicaSet", "name": "other-5d"}),
                self.pod("set-1", ["set"], "set", owner={"kind": "StatefulSet", "name": "proxy-5d"}),
            ]
        return super().list(resource, namespace, **selectors)

    def pod(self, name, command, account, owner=None, restarts=0):
        status = {"name": "c", "containerID": "x://1", "restartCount": restarts}
        return {
            "metadata": {"namespace": "kube-system", "name": name, **({"ownerReferences": [owner]} if owner else {})},
            "spec": {"containers": [{"name": "c", "image": "x:1", "command": command}], "serviceAccountName": account},
            "status": {"initContainerStatuses": [{"name": "i"}] if restarts else None, "containerStatuses": [status]},
        }

    def text(self, path, query=None):
        return f"{json.dumps(query, sort_keys=True)}\n"


def test_logs_of_schedulers_and_of_pods_of_the_operator_are_gathered(tmp_path):
    result, names = gathered(Running(set()), tmp_path)
    folder = "namespaces/kube-system/logs"
    logs = {f"{folder}/second/{name}.log" for name in ("c", "c.previous", "i")} | {f"{folder}/proxy-1/c.log"}
    assert {name for name in names if "/logs/" in name} == logs
    with tarfile.open(tmp_path / "b.tar.gz") as archive:
        contents = {name: json.load(archive.extractfile(f"b/{name}")) for name in logs}
        bindings = json.load(archive.extractfile("b/cluster/clusterrolebindings.json"))
    query = {"container": "c", "tailLines": 100, "timestamps": "true"}
    assert contents[f"{folder}/second/c.log"] == query
    assert contents[f"{folder}/second/c.previous.log"] == {**query, "previous": "true"}
    assert [one["metadata"]["name"] for one in bindings["items"]] == ["ours"]
    files = {entry["file"]: entry for entry in result["files"]}
    previous = dict(files[f"{folder}/second/c.previous.log"])
    assert previous.pop("bytes") > 0
    assert previous == {
        "file": f"{folder}/second/c.previous.log",
        "what": "log of the container c of the pod kube-system/second from before its last restart",
        "source": "GET /api/v1/namespaces/kube-system/pods/second/log?container=c&previous=true",
        "objects": None,
    }
    about = {name: files[name]["what"] for name in files if name.startswith("cluster/events")}
    assert about == {"cluster/events-FailedScheduling.json": "events", "cluster/events-Preempted.json": "events"}
    assert files["cluster/events-Preempted.json"]["source"] == "GET /api/v1/events?fieldSelector=reason=Preempted"
    secrets = files["namespaces/kube-system/secrets.json"]
    assert (secrets["what"], secrets["objects"]) == ("secrets in kube-system, names and labels only", 1)


def test_no_logs_are_gathered_if_none_are_requested(tmp_path):
    options = Options(str(tmp_path / "b.tar.gz"), ["kube-system"], 0, None, False, None)
    assert not [entry for entry in gather(Running(set()), options, True)["files"] if "/logs/" in entry["file"]]


def test_the_result_has_path_size_and_number_of_missing_things(tmp_path):
    server = Server(set(), ("Role", ApiError(403, "Forbidden", "roles is forbidden")))
    result, names = gathered(server, tmp_path)
    content = (tmp_path / "b.tar.gz").read_bytes()
    missing = len(result["missing"])
    assert {key: result[key] for key in result if key not in ("files", "missing")} == {
        "changed": True,
        "path": str(tmp_path / "b.tar.gz"),
        "size": len(content),
        "notes": [],
        "msg": f"Wrote {tmp_path}/b.tar.gz: {len(names) - 2} files, {len(content)} bytes; {missing} things could not be read, see missing.",
    }
    with tarfile.open(tmp_path / "b.tar.gz") as archive:
        assert json.load(archive.extractfile("b/cluster/version.json")) == {"major": "1", "minor": "34"}
        assert json.load(archive.extractfile("b/scheduler_info.json")).keys() == {
            *("schedulers", "pending_pods", "conflicts", "operators", "unknown")
        }


def test_unserved_kinds_and_missing_objects_are_reported_as_missing(tmp_path):
    class Bare(Server):
        def resource(self, api_version, kind):
            if kind == "SecondaryScheduler":
                raise ApiError(404, "NotServed", "the path is unknown")
            return super().resource(api_version, kind)

        def get(self, resource, name, namespace=None):
            return None if resource.kind == "CustomResourceDefinition" else super().get(resource, name, namespace)

    found = gathered(Bare(set()), tmp_path)[0]["missing"]
    crd = "CustomResourceDefinition secondaryschedulers.operator.openshift.io"
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/secondaryschedulers.operator.openshift.io"
    assert {"what": crd, "source": f"GET {path}", "why": "there is none"} in found
    assert {
        "what": "SecondarySchedulers",
        "source": "GET /apis/operator.openshift.io/v1",
        "why": "the API server does not serve it (HTTP 404)",
    } in found


class Dumping(Scheduler):
    """... whose log can be read."""

    def text(self, path, query=None):
        return ""


@pytest.mark.parametrize("dry", [True, False])
def test_cache_dumps_are_gathered_and_their_leftovers_reported(tmp_path, monkeypatch, dry):
    asked = []

    def work(_client, options, target):
        asked.append((options, str(target)))
        return {"leftover": "a container stays", "msg": "Would do it.", "dump": "x"}

    monkeypatch.setattr(collect.cache_dump, "plan" if dry else "run", work)
    result = gather(Dumping(set()), Options(str(tmp_path / "b.tar.gz"), ["kube-system"], 0, None, True, "busybox"), dry)
    ((options, target),) = asked
    namespace, _slash, name = target.partition("/")
    assert options == collect.cache_dump.Options(
        None, [], {"namespace": namespace, "name": name, "container": "c"}, "auto", "busybox", "kube-scheduler", None, None, 60, True
    )
    assert result["notes"] == ["a container stays", *(["Would do it."] if dry else [])]
    (file,) = [entry for entry in result["files"] if entry["file"].startswith("cache_dumps/")]
    assert (file["file"], file["what"]) == (
        f"cache_dumps/{namespace}_{name}.json",
        "what Deployment kube-system/second believes of nodes and pods",
    )


@pytest.mark.parametrize(
    ("answer", "why"), [((200, b"page"), ""), ((500, b""), "kube-system/operator-1 answered the request for its metrics with HTTP 500")]
)
def test_metrics_of_the_operator_are_gathered_or_reported_as_missing(tmp_path, monkeypatch, answer, why):
    class Operated(Running):
        api_client = SimpleNamespace(configuration=SimpleNamespace(cert_file=None, key_file=None))

        def list(self, resource, namespace=None, **selectors):
            found = super().list(resource, namespace, **selectors)
            if namespace == "kube-system" and resource.kind == "Pod" and not selectors.get("label_selector"):
                found.append(self.pod("operator-1", ["run"], "x", owner={"kind": "ReplicaSet", "name": "osso-scheduler-operator-5d"}))
            return found

    asked = []

    def get(_client, target, port, path, _peer, _patience, _largest):
        asked.append((str(target), target.container, port, path))
        return Answer(*answer, "")

    monkeypatch.setattr(scheduler_details.https, "get", get)
    result, names = gathered(Operated(set()), tmp_path)
    assert asked == [("kube-system/operator-1", "c", 8443, "/metrics")]
    about = {"what": "metrics of the operator kube-system/operator-1", "source": "GET https://kube-system/operator-1:8443/metrics"}
    file = "metrics/kube-system_operator-1.txt"
    assert ({**about, "why": why} in result["missing"], file in names) == (bool(why), not why)
    assert "namespaces/kube-system/logs/operator-1/c.log" in names
