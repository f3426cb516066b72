# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a user asked of several SecondarySchedulers, under whatever circumstances, and whether the cluster is as they said last."""

from __future__ import annotations

import base64
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, partial

import yaml

from .scheduler import IMAGE, Scheduler, eventually
from .site import NAMESPACE

SET_LABEL = "osso.scheduler/set"
VERBOSITY = {"Normal": "-v=2", "Debug": "-v=4", "Trace": "-v=6", "TraceAll": "-v=8"}
# Names of what the operator makes outside a namespace: osso:NAMESPACE:NAME, with :WHAT where there are several.
CLUSTER_NAME = re.compile(r"osso:([^:]+):([^:]+)")
OPERATORS_OWN = "operator"
PATIENCE = 300


class User:
    """Somebody who says what they want until the API server has it, and remembers it."""

    def __init__(self, kubectl, name: str):
        self.scheduler = Scheduler(kubectl, name)
        self.name = name
        self.kubectl = kubectl
        self.config = ""
        self.spec: dict = {}
        self.wanted = False

    def create(self) -> None:
        """Make both; one of that name that is on its way out cannot be edited back, and is waited for."""
        eventually(lambda: not self.insist(lambda: self.scheduler.resource), PATIENCE)
        self.wanted = True
        self.configure(1)
        self.edit()

    def edit(self, **spec) -> None:
        """Replace the spec."""
        self.spec = {"schedulerConfig": self.name, "schedulerImage": IMAGE, "logLevel": "Normal", **spec}
        self.insist(partial(self.scheduler.write, **self.spec))

    def configure(self, weight: int) -> None:
        """Replace the text of the ConfigMap."""
        self.config = self.scheduler.config(weight)
        self.insist(lambda: self.scheduler.write_config(self.config))

    def delete(self) -> None:
        """Ask for the deletion, and see that it was heard."""
        self.wanted = False
        delete = ["delete", "secondaryscheduler", self.name, f"--namespace={NAMESPACE}", "--ignore-not-found", "--wait=false"]
        self.insist(lambda: self.kubectl(*delete))

    def insist(self, act) -> None:
        """Try again while the API server is away. `act` must bear to be done twice."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return act()
            except AssertionError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)


class Cluster:
    """All that could be wrong where the operator works, read once."""

    def __init__(self, kubectl, users: list[User]):
        self.users = users
        resources = kubectl.json("get", "secondaryschedulers", f"--namespace={NAMESPACE}")["items"]
        self.resources = {_name(item): item for item in resources}
        kinds = kubectl("api-resources", "--verbs=list,delete", "--output=name").stdout.split()
        # Events are no children, and a set's label is on none.
        kinds = [kind for kind in kinds if kind.split(".")[0] != "events"]
        members = kubectl.json("get", ",".join(kinds), "--all-namespaces", f"--selector={SET_LABEL}")["items"]
        self.members = [item for item in members if self._owner(item)]
        permissions = kubectl.json("get", "clusterrolebindings,clusterroles,rolebindings,roles", "--all-namespaces")["items"]
        self.permissions = [item for item in permissions if self._owner(item)]
        self.others = kubectl.json("get", "replicasets,pods,leases,secrets", f"--namespace={NAMESPACE}")["items"]

    @cached_property
    def findings(self) -> list[str]:
        """Everything that is not as its user said, one sentence each; nothing where all is well."""
        found = [*self._deletions(), *self._orphans()]
        for user in self.users:
            found += [f"{user.name}: {finding}" for finding in (self._wanted(user) if user.wanted else self._unwanted(user))]
        return found

    def _wanted(self, user: User) -> Iterator[str]:
        resource = self.resources.get((NAMESPACE, user.name))
        if not resource:
            yield "lost edit: the resource does not exist"
            return
        fields = ("schedulerConfig", "schedulerImage", "logLevel", "topology")
        if lost := [field for field in fields if resource["spec"].get(field) != user.spec.get(field)]:
            yield f"lost edit: the resource does not hold the last {', '.join(lost)}"
        yield from self._status(user, resource)
        deployments = self._members(user, "Deployment")
        if len(deployments) != 1:
            yield f"{'duplicate' if deployments else 'lost edit'}: {len(deployments)} Deployments"
            return
        yield from self._deployment(user, resource, deployments[0])
        yield from self._pods(user, deployments[0])

    def _status(self, user: User, resource: dict) -> Iterator[str]:
        status = resource.get("status", {})
        if status.get("observedGeneration") != resource["metadata"]["generation"]:
            yield f"lost edit: generation {resource['metadata']['generation']}, observed {status.get('observedGeneration')}"
        conditions = {condition["type"]: condition for condition in status.get("conditions", [])}
        for kind, wanted in (("Available", "True"), ("Progressing", "False"), ("Degraded", "False"), ("ConfigValid", "True")):
            condition = conditions.get(kind, {"status": "absent"})
            if condition["status"] != wanted:
                yield f"{kind} is {condition['status']}: {condition.get('reason')}: {condition.get('message')}"

    def _deployment(self, user: User, resource: dict, deployment: dict) -> Iterator[str]:
        spec, status = deployment["spec"], deployment.get("status", {})
        pod = spec["template"]["spec"]
        (container,) = pod["containers"]
        replicas = user.spec.get("topology", {}).get("highlyAvailableTopology", {}).get("maxReplicas", 1)
        secrets = [
            volume["secret"]["secretName"]
            for volume in pod["volumes"]
            if "secret" in volume and "-config-" in volume["secret"]["secretName"]
        ]
        for what, wanted, is_ in (
            ("name", user.scheduler.workload, deployment["metadata"]["name"]),
            ("image", user.spec["schedulerImage"], container["image"]),
            ("log level", [VERBOSITY[user.spec["logLevel"]]], [flag for flag in container["args"] if flag.startswith("-v")]),
            ("replicas", replicas, spec["replicas"]),
            ("configuration", [json.loads(user.config)], [self._configuration(name) for name in secrets]),
        ):
            if is_ != wanted:
                yield f"lost edit: the Deployment's {what} is {is_!r}, wanted {wanted!r}"
        owners = [owner["uid"] for owner in deployment["metadata"].get("ownerReferences", [])]
        if owners != [resource["metadata"]["uid"]]:
            yield f"the Deployment's owners are {owners}, the resource is {resource['metadata']['uid']}"
        counts = [status.get(key, 0) for key in ("replicas", "updatedReplicas", "availableReplicas")]
        if status.get("observedGeneration") != deployment["metadata"]["generation"] or counts != 3 * [replicas]:
            yield f"the Deployment has {counts} replicas, updated and available ones; wanted {replicas} of each"

    def _pods(self, user: User, deployment: dict) -> Iterator[str]:
        mine = [item for item in self.others if item["metadata"].get("labels", {}).get("app") == user.scheduler.workload]
        active = [item["metadata"]["name"] for item in mine if item["kind"] == "ReplicaSet" and item["spec"]["replicas"]]
        if len(active) != 1:
            yield f"duplicate: ReplicaSets {active} all have replicas"
        pods = [
            item["metadata"]["name"] for item in mine if item["kind"] == "Pod" and item["status"]["phase"] not in ("Succeeded", "Failed")
        ]
        if len(pods) != deployment["spec"]["replicas"]:
            yield f"duplicate: pods {pods}, wanted {deployment['spec']['replicas']}"
        # Besides the one in use, the last one that served may stay for going back.
        configurations = [item for item in self._members(user, "Secret") if "-config-" in item["metadata"]["name"]]
        if len(configurations) > 2:
            yield f"duplicate: {len(configurations)} configurations"

    def _unwanted(self, user: User) -> Iterator[str]:
        if resource := self.resources.get((NAMESPACE, user.name)):
            yield f"lost edit: deleted, but it exists with the finalizers {resource['metadata'].get('finalizers')}"

    def _deletions(self) -> Iterator[str]:
        for item in [*self.resources.values(), *self.members, *self.permissions]:
            metadata = item["metadata"]
            if "deletionTimestamp" in metadata:
                yield f"stuck finalizer: {_title(item)} has waited for {metadata.get('finalizers')} since {metadata['deletionTimestamp']}"

    def _orphans(self) -> Iterator[str]:
        seen = set()
        for item in [*self.members, *self.permissions]:
            if self._owner(item) not in self.resources and _title(item) not in seen:
                seen.add(_title(item))
                yield f"orphan: {_title(item)} of {'/'.join(self._owner(item))}, which does not exist"
        workloads = {Scheduler(None, name).workload for _namespace, name in self.resources}
        for item in self.others:
            workload = item["metadata"].get("labels", {}).get("app", "")
            if item["kind"] == "Lease":
                workload = item["metadata"]["name"]
            if re.match(r"secondary-scheduler(-|$)", workload) and workload not in workloads and _title(item) not in seen:
                yield f"orphan: {_title(item)} of the workload {workload}, whose resource does not exist"

    @staticmethod
    def _owner(item: dict) -> tuple[str, str] | None:
        """Namespace and name of the resource that this was made for; None for what is none of this operator's operands."""
        metadata = item["metadata"]
        set_name = metadata.get("labels", {}).get(SET_LABEL, "")
        if match := CLUSTER_NAME.match(metadata["name"]):
            owner = match[1], match[2]
        elif set_name.startswith("operand-"):
            owner = metadata.get("namespace"), set_name.removeprefix("operand-")
        else:
            return None
        return owner if owner[0] == NAMESPACE and owner[1] != OPERATORS_OWN else None

    def _members(self, user: User, kind: str) -> list[dict]:
        return [item for item in self.members if item["kind"] == kind and self._owner(item) == (NAMESPACE, user.name)]

    def _configuration(self, secret: str) -> dict | None:
        content = next((item["data"] for item in self.others if item["kind"] == "Secret" and item["metadata"]["name"] == secret), {})
        return yaml.safe_load(base64.b64decode(content["config.yaml"])) if "config.yaml" in content else None

    @property
    def counts(self) -> dict[str, int]:
        """What was looked at, by kind: a check of nothing would find nothing."""
        return dict(Counter(item["kind"] for item in [*self.resources.values(), *self.members]))


def converge(kubectl, users: list[User], within: float) -> Cluster:
    """Wait until nothing is left to find, and fails with what is after `within` seconds."""
    deadline = time.monotonic() + within
    while (cluster := Cluster(kubectl, users)).findings:
        assert time.monotonic() < deadline, "\n".join([f"not within {within} s:", *cluster.findings])
        time.sleep(1)
    return cluster


def _name(item: dict) -> tuple[str, str]:
    return item["metadata"]["namespace"], item["metadata"]["name"]


def _title(item: dict) -> str:
    return f"{item['kind']} {'/'.join(filter(None, (item['metadata'].get('namespace'), item['metadata']['name'])))}"
