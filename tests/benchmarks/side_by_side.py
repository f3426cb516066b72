# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ways to bring the same objects to a cluster: site.yml, tasks of kubernetes.core, kubectl and Helm."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply_set import members
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import FIELD_MANAGER
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.manifests import SET_LABEL
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.object_comparison import is_item, owned_fields
from support.ansible_runs import Run, play
from support.processes import cpu_of_children
from support.scheduler import eventually
from support.site import NAMESPACE, RESOURCE, site

INVENTORY = "osso-set-osso-scheduler-operator"
DEFINITION, HANDLED = "CustomResourceDefinition", "SecondaryScheduler"
# As people write them: what others need comes first.
ORDER = ("Namespace", DEFINITION, "ServiceAccount", "ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding", "Service", "NetworkPolicy")
LAST = ("Deployment", "ConfigMap", HANDLED)
# What one plugin needs, and nothing that proves a scheduler by a pod: the others have no such thing.
QUIET = {"probe": "never", "operator_plugins": ["Coscheduling"]}


@dataclass
class Case:
    """The same for all ways: variables for site.yml, and the objects that it makes of them."""

    variables: dict
    objects: list[dict]

    @property
    def definitions(self) -> list[dict]:
        return [item for item in self.objects if item["kind"] == DEFINITION]

    @property
    def others(self) -> list[dict]:
        return [item for item in self.objects if item["kind"] != DEFINITION]

    def has(self, wanted: dict) -> bool:
        return any(_stub(item) == _stub(wanted) for item in self.objects)

    def one(self, kind: str) -> dict:
        (found,) = [item for item in self.objects if item["kind"] == kind]
        return found


@dataclass
class Outcome:
    """What one go of a way said, and what it cost this machine: seconds by the clock, and of the processors."""

    rc: int
    text: str
    seconds: float
    cpu: float
    run: Run | None = field(default=None, repr=False)


def measured(go) -> Outcome:
    """`go()` returns an exit code and a text, or a `Run`."""
    cpu, started = cpu_of_children(), time.monotonic()
    answer = go()
    seconds, cpu = time.monotonic() - started, cpu_of_children() - cpu
    if isinstance(answer, Run):
        return Outcome(answer.rc, answer.stdout + answer.stderr, seconds, cpu, answer)
    return Outcome(*answer, seconds, cpu)


def captured(kubectl, variables) -> Case:
    """Run site.yml with these variables; its objects, each with the fields that site.yml wrote, and no others."""
    variables = {**QUIET, **variables}
    site(variables=variables)
    inventory = kubectl.get("configmap", INVENTORY, NAMESPACE)
    wanted = [(item.api_version, item.kind, item.namespace, item.name) for item in members(inventory)]
    for resource in kubectl.list("secondaryscheduler", NAMESPACE):
        wanted.append((resource["apiVersion"], resource["kind"], NAMESPACE, resource["metadata"]["name"]))
        wanted.append(("v1", "ConfigMap", NAMESPACE, resource["spec"]["schedulerConfig"]))
    stubs = [
        {"apiVersion": version, "kind": kind, "metadata": {"name": name, **({"namespace": namespace} if namespace else {})}}
        for version, kind, namespace, name in wanted
    ]
    live = kubectl.json("get", "--filename=-", "--show-managed-fields", stdin=bundled(stubs))["items"]
    objects = [_written(item) for item in live]
    assert "{{" not in json.dumps(objects), "Ansible and Helm would take it for an expression"
    rank = {kind: number for number, kind in enumerate((*ORDER, "", *LAST))}
    objects.sort(key=lambda item: (rank.get(item["kind"], rank[""]), item["metadata"]["name"]))
    return Case(variables, objects)


def bundled(objects) -> dict:
    return {"apiVersion": "v1", "kind": "List", "items": objects}


def _written(live) -> dict:
    """The manifest that was applied, but for the label that says which set it is of."""
    owned = _kept(live, owned_fields(live, FIELD_MANAGER))
    metadata = {**owned.get("metadata", {}), **{key: live["metadata"][key] for key in ("name", "namespace") if key in live["metadata"]}}
    if "labels" in metadata:
        metadata["labels"] = {key: value for key, value in metadata["labels"].items() if key != SET_LABEL}
    return {**owned, "apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": metadata}


def _kept(value, fields):
    """What of a value is in a set of fields (fieldsV1)."""
    children = {key: below for key, below in fields.items() if key != "."}
    if not children:
        return value if not fields else type(value)()
    if isinstance(value, dict):
        return {key[2:]: _kept(value[key[2:]], below) for key, below in children.items()}
    return [_kept(item, below) for item in value for key, below in children.items() if is_item(key, item)]


class Site:
    """Ours."""

    title = "site.yml"

    def __init__(self, folder: Path):
        self._folder = folder

    def bring(self, case: Case) -> Outcome:
        return measured(lambda: site(variables=case.variables, succeed=False))

    # It knows the order itself.
    at_once = bring

    def look(self, case: Case) -> Outcome:
        return measured(lambda: site(variables=case.variables, check=True, diff=True, succeed=False))

    def forget(self) -> None:
        """What it keeps lies with its objects."""


class Tasks:
    """Plays with kubernetes.core.k8s, as careful authors write them: access named once, and waiting where there is something to wait for."""

    title = ""

    def __init__(self, folder: Path):
        self._folder = folder

    def bring(self, case: Case) -> Outcome:
        return self._play([*self._tasks(case.definitions, established=True), *self._tasks(case.others)])

    def at_once(self, case: Case) -> Outcome:
        return self._play(self._tasks(case.objects))

    def look(self, case: Case) -> Outcome:
        return self._play(self._tasks(case.objects), check=True, diff=True)

    def forget(self) -> None:
        """It keeps nothing."""

    def _tasks(self, objects, established=False) -> list[dict]:
        raise NotImplementedError

    def _play(self, tasks, **options) -> Outcome:
        one = {
            "name": "Objects",
            "hosts": "localhost",
            "connection": "local",
            "gather_facts": False,
            "vars": {"ansible_python_interpreter": "{{ ansible_playbook_python }}"},
            "module_defaults": {"group/kubernetes.core.k8s": {"kubeconfig": os.environ["KUBECONFIG"]}},
            "tasks": tasks,
        }
        return measured(lambda: play([one], succeed=False, **options))


class TaskEach(Tasks):
    title = "kubernetes.core, a task per object"

    def _tasks(self, objects, established=False):
        return [
            {
                "name": f"{item['kind']} {item['metadata']['name']}",
                "kubernetes.core.k8s": {"definition": item, **self._waiting(item["kind"], established)},
            }
            for item in objects
        ]

    def _waiting(self, kind, established):
        if established:
            return {"wait": True, "wait_condition": {"type": "Established", "status": "True"}}
        if kind == HANDLED:
            return {"wait": True, "wait_condition": {"type": "Available", "status": "True"}}
        return {"wait": True} if kind == "Deployment" else {}


class TaskOfAll(Tasks):
    title = "kubernetes.core, one list"

    def _tasks(self, objects, established=False):
        path = self._folder / ("definitions.json" if established else "objects.json")
        path.write_text(json.dumps(bundled(objects)))
        waiting = {"wait_condition": {"type": "Established", "status": "True"}} if established else {}
        return [{"name": "All", "kubernetes.core.k8s": {"src": str(path), "wait": True, **waiting}}]


class Commands:
    """A way by programs at the prompt."""

    title = ""

    def __init__(self, folder: Path):
        self._folder = folder

    def forget(self) -> None:
        """It keeps nothing."""

    def _run(self, *commands) -> Outcome:
        """One command after the other, until one fails."""

        def go():
            text = ""
            for command in commands:
                done = subprocess.run(command, capture_output=True, text=True, env=self._environment(), timeout=600, check=False)
                text += done.stdout + done.stderr
                if done.returncode:
                    return done.returncode, text
            return 0, text

        return measured(go)

    def _environment(self) -> dict:
        return dict(os.environ)

    def _file(self, name, objects) -> str:
        path = self._folder / f"{name}.json"
        path.write_text(json.dumps(bundled(objects)))
        return str(path)


class Apply(Commands):
    title = "kubectl apply"
    options: tuple[str, ...] = ()

    def bring(self, case):
        names = [f"crd/{item['metadata']['name']}" for item in case.definitions]
        return self._run(
            ["kubectl", "apply", *self.options, "--filename", self._file("definitions", case.definitions)],
            ["kubectl", "wait", "--for=condition=Established", "--timeout=60s", *names],
            ["kubectl", "apply", *self.options, "--filename", self._file("objects", case.others)],
        )

    def at_once(self, case):
        return self._run(["kubectl", "apply", *self.options, "--filename", self._file("all", case.objects)])

    def look(self, case):
        outcome = self._run(["kubectl", "diff", *self.options, "--filename", self._file("all", case.objects)])
        # 1 means that there are differences.
        return replace(outcome, rc=0) if outcome.rc == 1 else outcome


class ServerSideApply(Apply):
    title = "kubectl apply --server-side"
    options = ("--server-side",)


class Helm(Commands):
    """The definitions lie in the chart's folder for them, as Helm wants it; the release is in another namespace than what it brings."""

    title = "Helm"
    release = ("osso", "--namespace=default")

    def bring(self, case):
        return self._run(self._upgrade(self._chart(case, "crds"), "--wait"))

    def at_once(self, case):
        return self._run(self._upgrade(self._chart(case, "templates")))

    def look(self, case):
        return self._run(self._upgrade(self._chart(case, "crds"), "--dry-run=server"))

    def forget(self):
        self._run(["kubectl", "delete", "secret", "--namespace=default", "--selector=owner=helm,name=osso"])

    def _upgrade(self, chart, *options):
        name, namespace = self.release
        return ["helm", "upgrade", "--install", name, str(chart), namespace, *options]

    def _chart(self, case, definitions) -> Path:
        chart = self._folder / f"chart-{definitions}"
        for path in chart.glob("*/*.yaml"):
            path.unlink()
        for folder, objects in ((definitions, case.definitions), ("templates", case.others)):
            (chart / folder).mkdir(parents=True, exist_ok=True)
            for number, item in enumerate(objects):
                (chart / folder / f"{number:02}-{item['kind'].lower()}-{definitions}.yaml").write_text(json.dumps(item))
        (chart / "Chart.yaml").write_text("apiVersion: v2\nname: osso\nversion: 1.0.0\n")
        return chart

    def _environment(self):
        return {
            **os.environ,
            "HELM_CONFIG_HOME": str(self._folder),
            "HELM_CACHE_HOME": str(self._folder),
            "HELM_DATA_HOME": str(self._folder),
        }


WAYS = (Site, TaskEach, TaskOfAll, Apply, ServerSideApply, Helm)


class Ground:
    """The cluster between two ways."""

    def __init__(self, kubectl):
        self._kubectl = kubectl

    def clean(self, objects) -> None:
        """Take away what any way has brought of these objects, and what became of it."""
        home = [item for item in objects if item["metadata"].get("namespace") != NAMESPACE]
        if self._handled():
            # While the operator is there, it cleans up after its resource.
            gone = self._kubectl("delete", HANDLED, "--all", "--all-namespaces", "--timeout=60s", timeout=90, check=False)
            if gone.returncode:
                for item in self._kubectl.json("get", HANDLED, "--all-namespaces")["items"]:
                    where = f"--namespace={item['metadata']['namespace']}"
                    no_finalizers = '--patch={"metadata":{"finalizers":null}}'
                    self._kubectl("patch", HANDLED, item["metadata"]["name"], where, "--type=merge", no_finalizers)
        self._kubectl("delete", "--filename=-", "--ignore-not-found", "--wait=false", stdin=bundled(home))
        eventually(lambda: self._gone(home))

    def _handled(self) -> bool:
        """Whether the cluster knows the kind that the operator handles."""
        return self._kubectl.json("get", "customresourcedefinition", RESOURCE, "--ignore-not-found") is not None

    def _gone(self, objects) -> bool:
        """nothing of it is there"""
        left = self._kubectl.json("get", "--filename=-", "--ignore-not-found", stdin=bundled([_stub(item) for item in objects]))
        for item in [] if left is None else left.get("items", [left]):
            if item["kind"] == DEFINITION:
                # An API server that could not list its objects at once would try again after minutes, or when something happens to it.
                self._kubectl(
                    "annotate", "crd", item["metadata"]["name"], f"example.com/looked={time.time_ns()}", "--overwrite", check=False
                )
        return not left

    def content(self, objects) -> dict:
        """What the cluster holds of these objects, without what differs by nature: by whom, when, and what a server has chosen."""
        stubs = [_stub(item) for item in objects if item["kind"] != HANDLED or self._handled()]
        live = self._kubectl.json("get", "--filename=-", "--ignore-not-found", stdin=bundled(stubs))
        live = [] if live is None else live.get("items", [live])
        return {(item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]): _content(item) for item in live}


def _stub(item) -> dict:
    about = {key: value for key, value in item["metadata"].items() if key in ("name", "namespace")}
    return {"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": about}


# What a way signs its objects with
SIGNED = (SET_LABEL, "app.kubernetes.io/managed-by", "meta.helm.sh/", "kubectl.kubernetes.io/last-applied-configuration")


def _content(live) -> dict:
    left = {key: value for key, value in live.items() if key not in ("metadata", "status")}
    for key in ("labels", "annotations"):
        given = live["metadata"].get(key) or {}
        left[key] = {name: value for name, value in given.items() if not name.startswith(SIGNED)}
    if live["kind"] == "Service":
        left["spec"] = {key: value for key, value in left["spec"].items() if key not in ("clusterIP", "clusterIPs")}
    return left
