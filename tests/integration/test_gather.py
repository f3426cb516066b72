# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""playbooks/gather.yml on a real cluster: a support bundle without credentials (F124, F125)."""

from __future__ import annotations

import json
import os
import uuid

import pytest
from support.access import service_account
from support.bundles import unpacked
from support.plain_scheduler import CONFIG, plain_scheduler
from support.scheduler import eventually
from support.secrets import holding
from support.site import NAMESPACE, installed

MODULE = "scheduler_gather"
TOKEN = f"pl4nted-{uuid.uuid4().hex}"
OTHER = f"pl4nted-{uuid.uuid4().hex}"
COMMENT = f"pl4nted-{uuid.uuid4().hex}"
# Stands in the text of a shell and nowhere else; and in what a container said last, besides its log
SHELL = f"pl4nted-{uuid.uuid4().hex}"
SAID = f"pl4nted-{uuid.uuid4().hex}"
PLANTED = f"""\
{CONFIG}    pluginConfig:
      - name: TargetLoadPacking
        args: {{{{metricProvider: {{{{type: Prometheus, address: "https://127.0.0.1:9", token: {OTHER}}}}}}}}}
# token: {COMMENT}
"""
READ = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}


@pytest.fixture(scope="module")
def second(kubectl):
    """A scheduler with a planted credential in everything around it, which has ended once; the name of its namespace."""
    with plain_scheduler(kubectl, config=PLANTED) as namespace:
        about = {"namespace": namespace, "annotations": {"my.org/token": TOKEN}}
        secret = {"apiVersion": "v1", "kind": "Secret", "stringData": {"token": TOKEN, "other": f"user:{TOKEN}"}}
        event = {"involvedObject": {"kind": "Pod", "namespace": namespace, "name": "p"}, "reason": "Planted", "type": "Warning"}
        say = f"echo plain words; echo got {TOKEN} here; echo and {OTHER} there; cat /said/said.txt"
        container = {
            "name": "loud",
            "image": f"{os.environ['REGISTRY']}/busybox:1",
            "env": [{"name": "PROM_TOKEN", "value": TOKEN}, {"name": "MODE", "value": "loud"}],
            "command": [
                "sh",
                "-c",
                f"export A_TOKEN={SHELL}; {say}; test -e /state/once && sleep 3600; touch /state/once; exit 3",
            ],
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "args": ["--password", TOKEN],
            "volumeMounts": [{"name": "state", "mountPath": "/state"}, {"name": "said", "mountPath": "/said"}],
        }
        volumes = [{"name": "state", "emptyDir": {}}, {"name": "said", "configMap": {"name": "planted"}}]
        template = {
            "metadata": {"labels": {"app": "loud"}},
            "spec": {"terminationGracePeriodSeconds": 0, "containers": [container], "volumes": volumes},
        }
        said = {"any.txt": f"as it is: {TOKEN}", "said.txt": f"cannot use token: {SAID}\n"}
        # The label is that of what our operator runs beside a scheduler.
        labels = {"app.kubernetes.io/managed-by": "osso.scheduler"}
        kubectl.apply(
            {**secret, "metadata": {**about, "name": "planted"}},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**about, "name": "planted"}, "data": said},
            {"apiVersion": "v1", "kind": "Event", "metadata": {**about, "name": "planted"}, "message": f"told of {TOKEN}", **event},
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {**about, "name": "loud", "labels": labels},
                "spec": {"selector": {"matchLabels": {"app": "loud"}}, "template": template},
            },
        )

        def restarted():
            """its container has ended once and runs again"""
            found = [
                status for pod in kubectl.list("pod", namespace, "app=loud") for status in pod["status"].get("containerStatuses") or []
            ]
            return [status for status in found if status["restartCount"] and status["ready"]]

        eventually(restarted)
        yield namespace


@pytest.fixture(scope="module")
def bundle(play, second, tmp_path_factory, kubectl):
    """The run of the playbook, and what is in the file: name -> text."""
    installed()
    folder = tmp_path_factory.mktemp("bundle")
    reader = f"{second}-reader"
    kubectl("create", "serviceaccount", "metrics", f"--namespace={second}")
    kubectl("create", "clusterrole", reader, "--verb=get", "--non-resource-url=/metrics")
    kubectl("create", "clusterrolebinding", reader, f"--clusterrole={reader}", f"--serviceaccount={second}:metrics")
    try:
        variables = {"gather_dest": str(folder), "gather_namespaces": ["kube-system", second]}
        run = play("osso.scheduler.gather", variables={**variables, "gather_metrics_account": {"namespace": second, "name": "metrics"}})
    finally:
        kubectl("delete", "clusterrole,clusterrolebinding", reader)
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    return run, unpacked(path)


def items(files, name) -> list[dict]:
    return json.loads(files[name])["items"]


@pytest.mark.long
def test_the_bundle_contains_no_planted_credential(bundle, second, kubectl):
    run, files = bundle
    for planted in (TOKEN, OTHER, COMMENT, SHELL, SAID):
        assert holding(planted, files) == []
    assert TOKEN not in run.stdout
    # It would be seen: the cluster is full of it.
    told = {kind: kubectl("get", kind, f"--namespace={second}", "--output=json").stdout for kind in ("secret", "configmap", "event", "pod")}
    assert holding(TOKEN, told) == sorted(told)
    assert holding(OTHER, told) == ["configmap", "pod"]
    assert holding(COMMENT, told) == ["configmap"]
    assert holding(SHELL, told) == ["pod"]
    assert holding(SAID, told) == ["configmap", "pod"]
    log = kubectl("logs", "deployment/loud", f"--namespace={second}").stdout
    assert f"got {TOKEN} here" in log
    assert f"cannot use token: {SAID}" in log
    # And what is no credential is there.
    where = f"namespaces/{second}"
    (name,) = (name for name in files if name.startswith(f"{where}/logs/loud-") and name.endswith("/loud.log"))
    assert "plain words" in files[name]
    assert "got ******** here" in files[name]
    assert "and ******** there" in files[name]
    assert "got ******** here" in files[name.replace("loud.log", "loud.previous.log")]
    (pod,) = (pod for pod in items(files, f"{where}/pods.json") if pod["metadata"]["name"].startswith("loud-"))
    assert "export A_TOKEN=********; echo plain words; echo got" in pod["spec"]["containers"][0]["command"][2]
    assert "plain words\ngot ******** here" in pod["status"]["containerStatuses"][0]["lastState"]["terminated"]["message"]
    assert pod["spec"]["containers"][0]["env"] == [{"name": "PROM_TOKEN", "value": "********"}, {"name": "MODE", "value": "loud"}]
    secrets = {secret["metadata"]["name"]: secret for secret in items(files, f"{where}/secrets.json")}
    assert set(secrets["planted"]) == {"apiVersion", "kind", "metadata"}
    maps = {one["metadata"]["name"]: one["data"] for one in items(files, f"{where}/configmaps.json")}
    assert f"schedulerName: {second}-packing" in maps["second"]["config.yaml"]
    assert maps["planted"]["any.txt"].endswith("characters, not gathered)")
    assert "told of ********" in files[f"{where}/events.json"]


@pytest.mark.long
def test_the_index_lists_each_file_of_the_bundle_with_its_source(bundle, second):
    run, files = bundle
    index = json.loads(files["index.json"])
    assert {entry["file"]: entry["bytes"] for entry in index["files"]} == {
        name: len(text.encode()) for name, text in files.items() if not name.startswith("index.")
    }
    assert all(entry["what"] and entry["source"] for entry in index["files"])
    assert (
        f"| namespaces/{second}/leases.json | leases in {second} | GET /apis/coordination.k8s.io/v1/namespaces/{second}/leases | 1 |"
        in files["index.md"]
    )
    expected = {
        "scheduler_info.json",
        "cluster/nodes.json",
        "cluster/secondaryschedulers.json",
        f"namespaces/{NAMESPACE}/deployments.json",
        f"namespaces/{NAMESPACE}/replicasets.json",
        f"namespaces/{second}/events.json",
    }
    assert expected <= set(files)
    assert [one["metadata"]["namespace"] for one in items(files, "cluster/secondaryschedulers.json")] == [NAMESPACE]
    assert [
        name for name in files if name.startswith(f"namespaces/{NAMESPACE}/logs/osso-scheduler-operator-") and name.endswith("operator.log")
    ]
    bindings = {binding["roleRef"]["name"] for binding in items(files, "cluster/clusterrolebindings.json")}
    assert "system:kube-scheduler" in bindings
    # Metrics of schedulers and operator, as far as the account may read them
    pages = [name for name in files if name.startswith("metrics/")]
    assert [name for name in pages if f"{second}_second-" in name and "scheduler_pending_pods" in files[name]]
    assert [name for name in pages if f"{NAMESPACE}_secondary-scheduler-" in name]
    assert [name for name in pages if f"{NAMESPACE}_osso-scheduler-operator-" in name]
    told = {
        entry["scheduler_names"][0]: entry for entry in json.loads(files["scheduler_info.json"])["schedulers"] if entry["scheduler_names"]
    }
    assert told[second]["profiles"][0]["plugins"]["bind"] == ["DefaultBinder"]
    assert run.task("Gather").changed


@pytest.mark.long
def test_the_module_only_reads_and_one_forbidden_kind_does_not_stop_the_rest(play, run_module, kubectl, namespace, second, tmp_path, audit):
    """With --check it reads the same, and writes no file."""
    path = tmp_path / "bundle.tar.gz"
    allowed = {**READ, "resources": ["pods", "pods/log", "deployments", "configmaps", "leases", "nodes", "events"]}
    with audit, service_account(kubectl, namespace, allowed, everywhere=True) as access:
        variables = {"gather_dest": str(tmp_path), "gather_namespaces": [second], "cluster_access": access}
        would = play("osso.scheduler.gather", variables=variables, check=True)
        assert list(tmp_path.iterdir()) == []
        result = run_module(MODULE, {"path": str(path), "namespaces": [second], **access})
    assert not result["failed"], result["msg"]
    files = unpacked(path)
    assert would.changed == ["Gather"]
    assert would.task("Gather").result["msg"].startswith(f"Would write {tmp_path}/schedulers-localhost-")
    announced = would.task("Report the contents of the bundle").result["msg"]
    assert set(announced) == {entry["file"] for entry in result["files"]} == set(files) - {"index.json", "index.md"}
    assert items(files, f"namespaces/{second}/pods.json")
    why = {entry["what"]: entry["why"] for entry in result["missing"]}
    assert 'cannot list resource "secrets"' in why[f"secrets in {second}"]
    assert 'cannot list resource "replicasets"' in why[f"replicasets in {second}"]
    assert "pods/portforward" in why[f"metrics of Deployment {second}/second"]
    assert why == {entry["what"]: entry["why"] for entry in json.loads(files["index.json"])["missing"]}
    assert "| secrets in" in files["index.md"]
    robot = f"system:serviceaccount:{namespace}:robot"
    # Opening a port-forward is a request of its own kind; it was refused, and it changes nothing.
    assert [request for request in audit.writes(user=robot) if request.subresource != "portforward"] == []
    assert audit.requests(user=robot)


@pytest.mark.long
def test_the_bundle_contains_cache_dumps_on_request(run_module, second, tmp_path):
    options = {"path": str(tmp_path / "b.tar.gz"), "namespaces": [second], "log_lines": 0, "cache_dumps": True}
    result = run_module(MODULE, {**options, "debug_image": f"{os.environ['REGISTRY']}/busybox:1"})
    assert not result["failed"], result["msg"]
    files = unpacked(tmp_path / "b.tar.gz")
    (name,) = (name for name in files if name.startswith(f"cache_dumps/{second}_second-"))
    assert json.loads(files[name])["dump"]["nodes"]
    assert [note for note in result["notes"] if "ephemeral container" in note]
    assert not [name for name in files if name.endswith(".log")]


def test_bad_input_is_one_clear_error(run_module, tmp_path):
    result = run_module(MODULE, {"path": f"{tmp_path}/nowhere/b.tar.gz"})
    assert result["failed"]
    assert result["msg"].startswith(f"path: {tmp_path}/nowhere is no directory that can be written to.")
