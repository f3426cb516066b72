# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds schedulers, operators, and pods that no scheduler handles, for the module scheduler_info."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from functools import partial
from typing import Any, NamedTuple, TypeVar

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import conditions, config_maps, runner_annotations, timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import ApiError, Client, raise_if_gone
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.pod_failures import EventText, event_texts
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import scrub, secret_texts
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import document
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.images import split
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.operators import UPSTREAM_NAMESPACE
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import dns1123_subdomain
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import DEFAULT_SCHEDULER_NAME
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import collisions, foreign_schedulers, placements
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pending_pods import (
    GROUP,
    Claims,
    PodGroups,
    owner,
    pod_groups,
    why_pending,
    why_unserved,
)
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pool_policies import added_terms
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.workload import (
    DEFAULT_LEASE,
    Command,
    ConfigMapKey,
    Election,
    election,
    find_command,
    is_ready,
    trouble,
    watched_namespaces,
)

OPENSHIFT_NAMESPACE = "openshift-kube-scheduler"
# Where a default scheduler keeps its Lease and its static pods, with the label of those: kubeadm and most others, OpenShift.
DEFAULT_SCHEDULERS = (
    (*DEFAULT_LEASE, "component=kube-scheduler"),
    (OPENSHIFT_NAMESPACE, "kube-scheduler", "app=openshift-kube-scheduler"),
)
# Name of the Deployment of an operator for SecondaryScheduler resources -> whose operator it is.
OPERATORS = {"osso-scheduler-operator": "osso", "secondary-scheduler-operator": "upstream"}
# The Operator Lifecycle Manager's label with the name of the ClusterServiceVersion that created an object
OLM_OWNER = "olm.owner"
# A Lease is taken as renewed for this much longer than it says, for clocks that differ.
CLOCK_TOLERANCE = 10
# Statuses of requests that were given up after a while: whoever is asked the same takes as long again.
_NO_ANSWER = (0, 503, 504)
# Nodes with rejected pods whose other pods are read, those with the most first
COLLISION_NODES = 50
# Where a user who may not list everywhere is taken to see something
FALLBACK = ("kube-system",)


class Running(NamedTuple):
    """The workload of a scheduler, for values that are not returned. command: None without a workload.

    config: the text of its configuration; None if it has none, or none that can be read. selector: the labels of its pods, empty where
    ``pods`` has them.
    """

    command: Command | None
    config: str | None
    selector: str = ""
    pods: tuple[dict[str, Any], ...] = ()


_T = TypeVar("_T")


class SchedulerDiscovery:
    """One look at a cluster.

    namespaces: where to search for Deployments, everywhere if empty, and what to search for a user who may not list everywhere.

    ``namespaces``: what is searched for that user. ``named``: those that were given. ``unknown`` collects what could not be read for lack of
    permission, or because a node did not answer. ``unread``: the kinds of which nothing could be listed anywhere. ``silent``: the names of nodes
    that did not answer.
    """

    def __init__(self, client: Client, namespaces: Sequence[str], now: datetime | None = None) -> None:
        # A form that is left blank sends an empty name.
        namespaces = [name.strip() for name in namespaces if name.strip()]
        self._client = client
        self._everywhere = not namespaces
        self.named = frozenset(namespaces)
        self.namespaces = list(namespaces) or list(FALLBACK)
        self._others: list[dict[str, Any]] = []
        self.now = now or datetime.now(timezone.utc)
        self._leases: dict[tuple[str, str], dict[str, Any] | None] = {}
        self._running: dict[tuple[str, str, str], Running] = {}
        self.unknown: list[str] = []
        self.unread: set[str] = set()
        self.silent: set[str] = set()

    def schedulers(self) -> list[dict[str, Any]]:
        """All schedulers that were found, in the form that the module returns."""
        custom_resources = self._list_here("operator.openshift.io/v1", "SecondaryScheduler")
        deployments = self._deployments({resource["metadata"]["namespace"] for resource in custom_resources})
        found = []
        for resource in custom_resources:
            namespace = resource["metadata"]["namespace"]
            mine = next((one for one in deployments if one["metadata"]["namespace"] == namespace and is_operand(one, resource)), None)
            found.append(self._secondary_scheduler(resource, mine))
            deployments = [deployment for deployment in deployments if deployment is not mine]
        for deployment in deployments:
            entry = self._deployment(deployment)
            if entry is None:
                self._others.append(deployment)
            else:
                found.append(entry)
        found.sort(key=lambda entry: entry["namespace"])
        default = self._default_scheduler(found)
        return [*([default] if default else []), *found]

    def running(self, entry: Mapping[str, Any]) -> Running:
        """What runs an entry of `schedulers`."""
        return self._running.get(_key(entry), Running(None, None))

    def configuration(self, entry: Mapping[str, Any]) -> str | None:
        """The text of the configuration of an entry of `schedulers`, None if it has none or none that can be read."""
        running = self.running(entry)
        if running.config is None and entry["kind"] == "StaticPod" and entry["namespace"] == OPENSHIFT_NAMESPACE:
            # What OpenShift's installer wrote on the node is the ConfigMap of the pod's revision.
            revisions = [(pod["metadata"].get("labels") or {}).get("revision") for pod in running.pods]
            name = f"config-{revisions[0]}" if revisions and revisions[0] else "config"
            return self._read_config(OPENSHIFT_NAMESPACE, ConfigMapKey(name, "config.yaml"))[3]
        return running.config

    def pods(self, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The pods of an entry of `schedulers` that are not about to go."""
        running = self.running(entry)
        found = list(running.pods) or (
            self._list("v1", "Pod", entry["namespace"], label_selector=running.selector) if running.selector else []
        )
        return [pod for pod in found if not pod["metadata"].get("deletionTimestamp")]

    def log(self, pod: Mapping[str, Any], container: str, lines: int, previous: bool = False) -> str | None:
        """The end of a container's log; None if it can't be read, or if there is none of an earlier run."""
        where = f"the log of {pod['metadata']['namespace']}/{pod['metadata']['name']}"
        try:
            return self.log_of(pod, {"container": container, "tailLines": lines, **({"previous": "true"} if previous else {})})
        except ApiError as error:
            raise_if_gone(self._client, error)
            # It has not begun, or the node has not kept it, or the pod was deleted.
            if error.status not in (400, 404):
                self._note(f"{where}: {error.message}")
        except ClusterError as error:
            self._note(f"{where}: {error.message}")
        return None

    def log_of(self, pod: Mapping[str, Any], query: Mapping[str, Any]) -> str:
        """A container's log. Raises ClusterError, at once where the pod's node has not answered before."""
        metadata, node = pod["metadata"], pod["spec"].get("nodeName") or ""
        if node in self.silent:
            raise ClusterError(f"its node {node} has not answered before, so no further request was sent")
        try:
            return self._client.text(self._client.resource("v1", "Pod").path(metadata["namespace"], metadata["name"], "log"), dict(query))
        except ApiError as error:
            if error.status in _NO_ANSWER and node:
                self.silent.add(node)
            raise

    def operators(self) -> list[dict[str, Any]]:
        """The operators for SecondaryScheduler resources, in the form that the module returns."""
        found = []
        for name, variant in OPERATORS.items():
            for deployment in self._list_here("apps/v1", "Deployment", field_selector=f"metadata.name={name}"):
                template = deployment["spec"]["template"]
                image = template["spec"]["containers"][0].get("image", "")
                found.append(
                    {
                        "kind": "Deployment",
                        "namespace": deployment["metadata"]["namespace"],
                        "name": name,
                        "variant": variant,
                        "watches": [UPSTREAM_NAMESPACE] if variant == "upstream" else watched_namespaces(template),
                        "image": image,
                        "version": split(image)[1] or None,
                        "method": "olm" if OLM_OWNER in (deployment["metadata"].get("labels") or {}) else "manifests",
                        "replicas": deployment["spec"].get("replicas", 1),
                        "ready": (deployment.get("status") or {}).get("readyReplicas") or 0,
                    }
                )
        return found

    def platform(self) -> dict[str, Any]:
        """What an installation has to know of the cluster, in the form that the module returns."""
        return {
            "openshift": self.openshift(),
            "monitoring": self._monitoring(),
            "olm": self._has_group("operators.coreos.com"),
            "admission_policies": self._serves_admission_policies(),
            "kubernetes_version": self._kubernetes_version(),
        }

    def cluster(self) -> dict[str, Any]:
        """Which cluster it is, in the form that the module returns."""
        uid = None
        try:
            namespace = self._client.get(self._client.resource("v1", "Namespace"), "kube-system")
            uid = namespace["metadata"]["uid"] if namespace else None
        except ApiError as error:
            if error.status != 403:
                raise
            self._note(error.message)
        return {"uid": uid, "server": self._client.host}

    def openshift(self) -> bool:
        """Whether the cluster serves the API group by which OpenShift is known."""
        return self._has_group("route.openshift.io")

    def _monitoring(self) -> bool:
        """Whether the cluster serves the kinds of the Prometheus operator that its installation can use."""
        served = {entry["kind"] for entry in (self._group("monitoring.coreos.com/v1") or {}).get("resources") or []}
        return {"ServiceMonitor", "PrometheusRule"} <= served

    def _serves_admission_policies(self) -> bool:
        """Whether the cluster serves ValidatingAdmissionPolicy in the version that is stable since Kubernetes 1.30."""
        served = (self._group("admissionregistration.k8s.io/v1") or {}).get("resources") or []
        return "ValidatingAdmissionPolicy" in {entry["kind"] for entry in served}

    def _kubernetes_version(self) -> str:
        version = self._client.request("GET", "/version")
        # Some add a plus sign to the minor.
        return "{}.{}".format(version["major"], version["minor"].rstrip("+"))

    def _has_group(self, group: str) -> bool:
        return self._group(group) is not None

    def _group(self, group: str) -> dict[str, Any] | None:
        """The server's discovery document of a group or a version, None if it does not serve it."""
        try:
            return self._client.request("GET", f"/apis/{group}")
        except ApiError as error:
            if error.status != 404:
                raise
            return None

    def pending_pods(self, scheduler_name: str | None) -> list[dict[str, Any]]:
        """Pods that wait for a node, of all namespaces as far as that is allowed."""
        selector = "spec.nodeName=,status.phase=Pending"
        if scheduler_name:
            selector += f",spec.schedulerName={scheduler_name}"
        return self._list_here("v1", "Pod", field_selector=selector)

    def pending(self, pods: list[dict[str, Any]], schedulers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """All of the pods with the reason why each waits: first those that no scheduler looks after, then by schedulerName, the oldest first."""
        schedulers = [*schedulers, *self._by_name({pod["spec"]["schedulerName"] for pod in pods}, schedulers)]
        claims = self._claims() if any(pod["spec"].get("resourceClaims") for pod in pods) else None
        groups = self._pod_groups() if any(pod["spec"].get(GROUP) for pod in pods) else None
        found = []
        for pod in pods:
            unserved = why_unserved(pod, schedulers, self._unchanged(pod), self._everywhere, claims)
            why = why_pending(pod, claims, groups)
            if unserved is None:
                why = f"no scheduler of its name was found in the namespaces that were searched; one reported: {why}"
            found.append(
                {
                    "scheduler_name": pod["spec"]["schedulerName"],
                    **{key: pod["metadata"][key] for key in ("namespace", "name")},
                    "owner": owner(pod),
                    "pending_seconds": self.age(pod["metadata"]["creationTimestamp"]),
                    "served": None if unserved is None else not unserved,
                    "reason": unserved or why,
                }
            )
        return sorted(found, key=_urgency)

    def collisions(self, scheduler_name: str | None) -> list[dict[str, Any]]:
        """Pods that a kubelet rejected, with the other schedulers that placed pods there, in the form that the module returns."""
        failed = self._list_here("v1", "Pod", field_selector="status.phase=Failed")
        rejected = [pod for pod in failed if collisions.is_rejected(pod)]
        numbers = Counter(pod["spec"]["nodeName"] for pod in rejected)
        nodes = [node for node, _number in numbers.most_common(COLLISION_NODES)]
        if len(numbers) > len(nodes):
            self._note(f"Pods of {len(numbers) - len(nodes)} more nodes with rejected pods: those of {len(nodes)} nodes were read")
        neighbours = {node: self._list_here("v1", "Pod", field_selector=f"spec.nodeName={node}") for node in nodes}
        found = collisions.collisions(rejected, neighbours)
        return [one for one in found if scheduler_name in (None, one["scheduler_name"], *one["others"])]

    def placements(self, scheduler_name: str | None) -> list[dict[str, Any]]:
        """How many pods each scheduler placed in each namespace, in the form that the module returns."""
        return placements.placements(self._list_here("v1", "Pod"), scheduler_name)

    def overlaps(self, schedulers: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
        """Nodes on which several of `schedulers` place pods, in the form that the module returns; None if nodes may not be listed."""
        nodes = self._allowed("Nodes", lambda: self._client.list(self._client.resource("v1", "Node")))
        if nodes is None:
            return None
        users = []
        for entry in schedulers:
            if entry["serving"]:
                tree = document.tree(self.configuration(entry) or "")
                terms = {name: added_terms(tree, name) for name in entry["scheduler_names"]}
                users.append(collisions.User(f"{entry['kind']} {entry['namespace']}/{entry['name']}", terms))
        return collisions.overlaps(users, nodes)

    def _unchanged(self, pod: Mapping[str, Any]) -> int:
        """Seconds since the pod was created or changed: one whose scheduling gate was removed just now has waited for no scheduler before."""
        metadata = pod["metadata"]
        times = [entry["time"] for entry in metadata.get("managedFields") or [] if entry.get("time")]
        return self.age(max([metadata["creationTimestamp"], *times]))

    def _claims(self) -> Claims:
        """The ResourceClaims of the cluster, as far as they can be read."""
        group = self._group("resource.k8s.io")
        if group is None:
            return Claims()
        found = self._list_here(group["preferredVersion"]["groupVersion"], "ResourceClaim", metadata_only=True)
        named = {(claim["metadata"]["namespace"], claim["metadata"]["name"]): claim["metadata"].get("deletionTimestamp") for claim in found}
        deleted = frozenset(key for key, time in named.items() if time)
        return Claims(frozenset(named), deleted, not any(finding.startswith("ResourceClaims") for finding in self.unknown))

    def _pod_groups(self) -> PodGroups | None:
        """The PodGroups of the cluster; None if they cannot be read."""
        kind, group = "PodGroup", "scheduling.k8s.io"
        for version in (self._group(group) or {}).get("versions") or []:
            api_version = version["groupVersion"]
            if any(entry["kind"] == kind for entry in (self._group(api_version) or {}).get("resources") or []):
                found = self._list_here(api_version, kind)
                return None if any(finding.startswith(f"{kind}s") for finding in self.unknown) else pod_groups(found)
        return None

    def _by_name(self, names: Iterable[str], schedulers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Programs that are not known here, for names that no scheduler of ``schedulers`` has: their Deployment or container is called so."""
        known = {name for scheduler in schedulers for name in scheduler["scheduler_names"]}
        found = [(one, foreign_schedulers.by_name(one, name)) for name in sorted(set(names) - known) for one in self._others]
        return [self._foreign(deployment, scheduler) for deployment, scheduler in found if scheduler is not None]

    def _deployments(self, of_resources: set[str]) -> list[dict[str, Any]]:
        """All Deployments or, where namespaces were given or no others may be read, those of these and of SecondarySchedulers."""
        if self._everywhere:
            try:
                return self._client.list(self._client.resource("apps/v1", "Deployment"))
            except ApiError as error:
                if error.status != 403:
                    raise
            self._everywhere = False
        namespaces = dict.fromkeys([*self.namespaces, *sorted(of_resources)])
        return [deployment for namespace in namespaces for deployment in self._list("apps/v1", "Deployment", namespace)]

    def _secondary_scheduler(self, resource: dict[str, Any], deployment: dict[str, Any] | None) -> dict[str, Any]:
        spec = resource.get("spec") or {}
        config_map = ConfigMapKey(spec["schedulerConfig"], "config.yaml") if spec.get("schedulerConfig") else None
        about = {
            "kind": "SecondaryScheduler",
            "namespace": resource["metadata"]["namespace"],
            "name": resource["metadata"]["name"],
            "conditions": conditions.conditions_of(resource),
        }
        command = find_command(deployment["spec"]["template"]["spec"]) if deployment else None
        if deployment is None or command is None:
            names, problem, _config, _text = self._read_config(about["namespace"], config_map)
            degraded = conditions.find(resource, "Degraded").get("message") if conditions.is_true(resource, "Degraded") else None
            ignored = runner_annotations.problem(resource)
            message = "; ".join(filter(None, ["it has no Deployment that runs kube-scheduler", ignored, degraded, problem]))
            image = spec.get("schedulerImage")
            return _entry(about, names=names, image=image, serving=False, message=message)
        entry = self._workload(about, deployment, command, config_map)
        return {**entry, "message": "; ".join(filter(None, [entry["message"], runner_annotations.problem(resource)]))}

    def _deployment(self, deployment: dict[str, Any]) -> dict[str, Any] | None:
        """The scheduler that a Deployment runs, None if it runs none."""
        template = deployment["spec"]["template"]["spec"]
        command = find_command(template)
        if command is not None:
            return self._workload(_about(deployment), deployment, command, command.config_map)
        other = foreign_schedulers.find(template)
        return None if other is None else self._foreign(deployment, other)

    def _foreign(self, deployment: dict[str, Any], other: foreign_schedulers.Found) -> dict[str, Any]:
        """A scheduler that is not kube-scheduler. Whether it is available is known by its readiness alone."""
        about, names, problem = _about(deployment), list(other.names), ""
        if other.config_map is not None:
            read, problem = self._read_config(about["namespace"], other.config_map)[:2]
            names = read or names
        ready, replicas = (deployment.get("status") or {}).get("readyReplicas") or 0, deployment["spec"].get("replicas", 1)
        program = f"a program that is not known here, called {names[0]}" if other.software == foreign_schedulers.UNKNOWN else other.software
        message = f"{_count(ready)}; it is {program}, whose leader election is not examined"
        return _entry(
            about,
            names=names,
            software=other.software,
            workload=f"Deployment/{about['name']}",
            image=other.image,
            replicas=replicas,
            ready=ready,
            serving=ready > 0,
            message="; ".join(filter(None, [message, *self._deployment_troubles(deployment, ready), problem])),
        )

    def _workload(
        self, about: dict[str, Any], deployment: dict[str, Any], command: Command, config_map: ConfigMapKey | None
    ) -> dict[str, Any]:
        if config_map is None and command.config_path is None:
            names, problem, config, text = [DEFAULT_SCHEDULER_NAME], "", None, None
        else:
            names, problem, config, text = self._read_config(about["namespace"], config_map)
        self._running[_key(about)] = Running(command, text, _selector(deployment))
        name = deployment["metadata"]["name"]
        ready = (deployment.get("status") or {}).get("readyReplicas") or 0
        elected = election(config, command.flags)
        lease = self._lease(elected) if elected.elect else None
        # On the host's network a pod is called like its node.
        holders = "" if deployment["spec"]["template"]["spec"].get("hostNetwork") else f"{name}-"
        serving, message = self._serves(ready, elected, lease, holders)
        replicas = deployment["spec"].get("replicas", 1)
        message = "; ".join([message, *self._deployment_troubles(deployment, ready)])
        return _entry(
            about,
            names=names,
            workload=f"Deployment/{name}",
            image=command.image,
            replicas=replicas,
            ready=ready,
            serving=serving,
            leader=self._leader(lease, elected) if lease else None,
            elects=elected.elect,
            message="; ".join(filter(None, [message, problem])),
        )

    def _deployment_troubles(self, deployment: dict[str, Any], ready: int) -> list[str]:
        """Why a Deployment has fewer ready pods than it should, as far as its pods, their events and its conditions report it."""
        if ready >= deployment["spec"].get("replicas", 1):
            return []
        pods = self._list("v1", "Pod", deployment["metadata"]["namespace"], label_selector=_selector(deployment))
        refused = conditions.find(deployment, "ReplicaFailure").get("message") if conditions.is_true(deployment, "ReplicaFailure") else ""
        return list(dict.fromkeys(filter(None, [refused, *self._pod_troubles(pods)])))

    def _pod_troubles(self, pods: Iterable[dict[str, Any]]) -> list[str]:
        """Why pods are not ready: what they report of themselves, and the last event on them that shows more."""
        lacking = [pod for pod in pods if not is_ready(pod) and not pod["metadata"].get("deletionTimestamp")]
        texts: dict[str, EventText] = {}
        for namespace in {pod["metadata"]["namespace"] for pod in lacking if _has_run(pod)}:
            texts.update(event_texts(partial(self._events, namespace)))
        found = []
        for pod in lacking:
            text = texts.get(pod["metadata"].get("uid") or "-")
            found += [trouble(pod), text.message if text else ""]
        return list(dict.fromkeys(filter(None, found)))

    def _events(self, namespace: str, field_selector: str) -> list[dict[str, Any]]:
        return self._list("v1", "Event", namespace, field_selector=field_selector)

    def _default_scheduler(self, found: list[dict[str, Any]]) -> dict[str, Any] | None:
        """The cluster's own scheduler, by its static pods or, where those can't be seen, by its Lease alone."""
        for namespace, name, selector in DEFAULT_SCHEDULERS:
            pods = [pod for pod in self._list("v1", "Pod", namespace, label_selector=selector) if _is_static(pod)]
            command = find_command(pods[0]["spec"]) if pods else None
            elected = Election(election(None, command.flags if command else {}).elect, namespace, name)
            lease = self._lease(elected)
            if lease is not None or pods:
                break
        else:
            about = {"kind": "default", "namespace": DEFAULT_LEASE[0], "name": DEFAULT_LEASE[1], "conditions": []}
            message = "neither a Lease nor pods of it are visible, so it is unknown whether it is available"
            return _entry(about, names=[DEFAULT_SCHEDULER_NAME], serving=None, message=message)
        leader = self._leader(lease, elected) if lease else None
        if any(entry["leader"] and entry["leader"] == leader and entry["serving"] for entry in found):
            return None  # a Deployment that was found already is the default scheduler
        ready = sum(1 for pod in pods if is_ready(pod))
        serving, message = self._serves(ready if pods else None, elected, lease, "")
        message = "; ".join([message, *self._pod_troubles(pods)])
        about = {"kind": "StaticPod" if pods else "default", "namespace": namespace, "name": name, "conditions": []}
        self._running[_key(about)] = Running(command, None, pods=tuple(pods))
        return _entry(
            about,
            names=[DEFAULT_SCHEDULER_NAME],
            workload=", ".join(f"Pod/{pod['metadata']['name']}" for pod in pods) or None,
            image=command.image if command else None,
            replicas=len(pods) if pods else None,
            ready=ready if pods else None,
            serving=serving,
            leader=leader,
            elects=elected.elect,
            message=message,
        )

    def _serves(self, ready: int | None, elected: Election, lease: dict[str, Any] | None, holders: str) -> tuple[bool | None, str]:
        """Whether instances do their work, and a sentence about it.

        ready: how many are ready, None if they can't be seen; holders: what the names of their hosts begin with.
        """
        if ready == 0:
            return False, "no instance is ready"
        count = _count(ready) if ready else "its instances can't be seen"
        if not elected.elect:
            return True, f"{count}, without leader election"
        where = f"{elected.namespace}/{elected.name}"
        if lease is None:
            if any(f"Lease {where}" in finding for finding in self.unknown):
                return (True if ready else None), f"{count}; its Lease {where} can't be read"
            return (False if ready else None), f"{count}, but there is no Lease {where}: none leads"
        leader = self._leader(lease, elected)
        holder, age = leader["holder"], leader["renewed_seconds"]
        if not holder or age is None:
            return False, f"{count}, but the Lease {where} has no holder"
        if age > leader["duration_seconds"] + CLOCK_TOLERANCE:
            return False, f"{count}, but {holder} has not renewed the Lease {where} for {age} s"
        if not holder.startswith(holders):
            return False, f"{count}, but it waits for the Lease {where}, which {holder} holds"
        return True, f"{count}, {holder} leads"

    def _leader(self, lease: dict[str, Any], elected: Election) -> dict[str, Any]:
        spec = lease.get("spec") or {}
        renewed, acquired = spec.get("renewTime"), spec.get("acquireTime")
        return {
            "namespace": elected.namespace,
            "lease": elected.name,
            "holder": spec.get("holderIdentity") or "",
            "acquired_seconds": self.age(acquired) if acquired else None,
            "renewed_seconds": self.age(renewed) if renewed else None,
            "duration_seconds": spec.get("leaseDurationSeconds") or 0,
        }

    def _read_config(self, namespace: str, config_map: ConfigMapKey | None) -> tuple[list[str], str, dict[str, Any] | None, str | None]:
        """The scheduler names in a configuration, what is wrong with it, the configuration and its text."""
        if config_map is None:
            return [], "its configuration is not in a ConfigMap, so its names are unknown", None, None
        where = f"ConfigMap {namespace}/{config_map.name}"
        found = self._read(where, "v1", "ConfigMap", config_map.name, namespace)
        if found is None:
            return [], f"its {where} does not exist or can't be read", None, None
        try:
            text = config_maps.text(found, config_map.key)
        except InputError as error:
            return [], f"its {where} cannot be read: {error}", None, None
        if text is None:
            return [], f"its {where} has no key {config_map.key}", None, None
        result = check(text, None)
        problem = "" if result.valid else scrub(f"its {where} is not valid: {result.errors[0].format()}", secret_texts(result.config))
        return list(result.scheduler_names), problem, result.config, text

    def _lease(self, elected: Election) -> dict[str, Any] | None:
        key = (elected.namespace, elected.name)
        if key not in self._leases:
            where = f"Lease {elected.namespace}/{elected.name}"
            self._leases[key] = self._read(where, "coordination.k8s.io/v1", "Lease", elected.name, elected.namespace)
        return self._leases[key]

    def _read(self, what: str, api_version: str, kind: str, name: str, namespace: str) -> dict[str, Any] | None:
        """An object that a Deployment or a configuration names; None if it does not exist or may not be read."""
        # The API server rejects the request for a name that no object can have, such as 50%.
        if dns1123_subdomain(name) or dns1123_subdomain(namespace):
            return None
        return self._allowed(what, lambda: self._client.get(self._client.resource(api_version, kind), name, namespace))

    def _list_here(self, api_version: str, kind: str, **selectors: Any) -> list[dict[str, Any]]:
        """Objects of all namespaces, or of those asked for if only that is allowed."""
        resource = self._client.resource(api_version, kind)
        try:
            return self._client.list(resource, **selectors)
        except ApiError as error:
            if error.status == 404:
                return []  # the kind is not served
            if error.status != 403:
                raise
        answers = [self._listed(api_version, kind, namespace, **selectors) for namespace in self.namespaces]
        self._note(f"{kind}s outside of the namespaces {', '.join(self.namespaces)}: listing them everywhere is not allowed")
        if all(answer is None for answer in answers):
            self.unread.add(kind)
        return [one for answer in answers for one in answer or []]

    def _list(self, api_version: str, kind: str, namespace: str, **selectors: Any) -> list[dict[str, Any]]:
        return self._listed(api_version, kind, namespace, **selectors) or []

    def _listed(self, api_version: str, kind: str, namespace: str, **selectors: Any) -> list[dict[str, Any]] | None:
        """Objects of a namespace, None if they may not be listed."""
        resource = self._client.resource(api_version, kind)
        return self._allowed(f"{kind}s in {namespace}", lambda: self._client.list(resource, namespace, **selectors))

    def _allowed(self, what: str, read: Callable[[], _T]) -> _T | None:
        """The answer to a question, None if it may not be asked or if the kind is not served."""
        try:
            return read()
        except ApiError as error:
            if error.status == 403:
                self._note(f"{what}: {error.message}")
            elif error.status != 404:
                raise
            return None

    def _note(self, finding: str) -> None:
        if finding not in self.unknown:
            self.unknown.append(finding)

    def age(self, timestamp: str) -> int:
        """Whole seconds since an RFC 3339 time of the API server."""
        return max(0, int((self.now - timestamps.parse(timestamp)).total_seconds()))


def _key(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    return entry["kind"], entry["namespace"], entry["name"]


def _selector(deployment: dict[str, Any]) -> str:
    """The labels of its pods, as a query has them."""
    return ",".join(f"{key}={value}" for key, value in (deployment["spec"]["selector"].get("matchLabels") or {}).items())


def _urgency(entry: dict[str, Any]) -> tuple[int, str, int]:
    return (False, None, True).index(entry["served"]), entry["scheduler_name"], -entry["pending_seconds"]


def _count(ready: int) -> str:
    return f"{ready or 'no'} instance{'s' if ready > 1 else ''}{' is' if not ready else ''} ready"


def _has_run(pod: Mapping[str, Any]) -> bool:
    return bool((pod.get("status") or {}).get("containerStatuses"))


def _about(deployment: Mapping[str, Any]) -> dict[str, Any]:
    """What an entry has of the Deployment that it is made of."""
    return {
        "kind": "Deployment",
        "namespace": deployment["metadata"]["namespace"],
        "name": deployment["metadata"]["name"],
        "conditions": conditions.conditions_of(deployment),
    }


def is_operand(deployment: dict[str, Any], resource: dict[str, Any]) -> bool:
    """Whether an operator made the Deployment for the SecondaryScheduler."""
    metadata = deployment["metadata"]
    owners = metadata.get("ownerReferences") or []
    if any(owner["uid"] == resource["metadata"]["uid"] for owner in owners):
        return True
    labels = metadata.get("labels") or {}
    return (
        labels.get("app.kubernetes.io/name") == "secondary-scheduler"
        and labels.get("app.kubernetes.io/instance") == resource["metadata"]["name"]
    )


def _is_static(pod: dict[str, Any]) -> bool:
    return placements.MIRROR_ANNOTATION in (pod["metadata"].get("annotations") or {})


def _entry(
    about: dict[str, Any],
    *,
    names: list[str],
    serving: bool | None,
    message: str,
    software: str = foreign_schedulers.KUBE_SCHEDULER,
    elects: bool | None = None,
    workload: str | None = None,
    image: str | None = None,
    replicas: int | None = None,
    ready: int | None = None,
    leader: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "scheduler_names": names,
        **about,
        "software": software,
        "workload": workload,
        "image": image,
        "version": split(image or "")[1] or None,
        "replicas": replicas,
        "ready": ready,
        "serving": serving,
        "elects": elects,
        "leader": leader,
        "message": message,
    }
