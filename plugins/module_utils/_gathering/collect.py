# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A support bundle of the schedulers of a cluster: the work of the module scheduler_gather.

What may not be read, or fails, is noted and does not stop the rest. Only a cluster that can't be spoken to at all is an error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from typing import Any, TypeVar

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import FIELD_MANAGER, ApiError, Client, Resource, raise_if_gone
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import cache_dump
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.files import save
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.scheduler_details import FACTS, Inside, credentials
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import Target
from ansible_collections.osso.scheduler.plugins.module_utils._gathering.bundle import Bundle
from ansible_collections.osso.scheduler.plugins.module_utils._gathering.masking import Masking
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.pending_pods import conflicts
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.scheduler_discovery import OPERATORS, SchedulerDiscovery
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.workload import find_command

SUFFIX = ".tar.gz"

# In each of the namespaces: what is asked of the server, always or where it serves the group.
_IN_NAMESPACE = (
    *(("v1", kind) for kind in ("Pod", "ConfigMap", "Secret", "Service", "ServiceAccount", "Event")),
    *(("apps/v1", kind) for kind in ("Deployment", "ReplicaSet")),
    ("coordination.k8s.io/v1", "Lease"),
    *(("rbac.authorization.k8s.io/v1", kind) for kind in ("Role", "RoleBinding")),
    ("policy/v1", "PodDisruptionBudget"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
)
_MONITORING = tuple(("monitoring.coreos.com/v1", kind) for kind in ("ServiceMonitor", "PrometheusRule"))
_OLM = (
    *(("operators.coreos.com/v1alpha1", kind) for kind in ("ClusterServiceVersion", "Subscription", "InstallPlan", "CatalogSource")),
    ("operators.coreos.com/v1", "OperatorGroup"),
)
# Asked for in all of the cluster, and where that is not allowed in each of the namespaces
_CUSTOM = ("operator.openshift.io/v1", "SecondaryScheduler")
# One object of the cluster each
_OPENSHIFT = (
    ("config.openshift.io/v1", "Scheduler", "cluster"),
    ("operator.openshift.io/v1", "KubeScheduler", "cluster"),
    ("config.openshift.io/v1", "ClusterOperator", "kube-scheduler"),
    ("config.openshift.io/v1", "ClusterVersion", "version"),
)
_CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "secondaryschedulers.operator.openshift.io")
# What schedulers say of pods, wherever these are
_REASONS = ("FailedScheduling", "Preempted")
# Where our operator serves its metrics
_OPERATOR_PORT = 8443


@dataclass(frozen=True)
class Options:
    """What to gather; the names and meanings are those of the module's options."""

    path: str
    namespaces: list[str]
    log_lines: int
    metrics_account: Mapping[str, str] | None
    cache_dumps: bool
    debug_image: str | None

    def __post_init__(self) -> None:
        directory = os.path.dirname(self.path) or "."
        if not self.path.endswith(SUFFIX) or os.path.basename(self.path) == SUFFIX:
            raise InputError(f"path: {self.path} does not end in NAME{SUFFIX}, which is what will be in it.")
        if not os.path.isdir(directory) or not os.access(directory, os.W_OK):
            raise InputError(f"path: {directory} is no directory that can be written to. It is a path on the host that the module runs on.")
        if os.path.isdir(self.path):
            raise InputError(f"path: {self.path} is a directory. Give the file to write.")
        if self.log_lines < 0:
            raise InputError(f"log_lines is {self.log_lines}: give 0, for no logs, or more.")
        if self.cache_dumps and not self.debug_image:
            raise InputError(
                "cache_dumps needs debug_image: the image of the container that sends the signal, where the scheduler's has no shell."
            )


def gather(client: Client, options: Options, dry: bool) -> dict[str, Any]:
    """The module's result. dry: write no file, and send no scheduler a signal. Raises ClusterError with the reason and the remedy."""
    version = client.request("GET", "/version")  # a cluster that does not answer is reported first
    collector = _Collector(client, options)
    collector.bundle.add("cluster/version.json", "the release of the API server", "GET /version", version)
    collector.collect(dry)
    made = collector.discovery.now
    folder = os.path.basename(options.path)[: -len(SUFFIX)]
    content = collector.bundle.packed(folder, client.host, made)
    if not dry:
        save(options.path, content)
    bundle = collector.bundle
    verb = "Would write" if dry else "Wrote"
    unread = f"; {len(bundle.missing)} things could not be read, see missing" if bundle.missing else ""
    return {
        "changed": True,
        "path": options.path,
        "size": len(content),
        "files": bundle.files,
        "missing": bundle.missing,
        "notes": bundle.notes,
        "msg": f"{verb} {options.path}: {len(bundle.files)} files, {len(content)} bytes{unread}.",
    }


_T = TypeVar("_T")


class _Collector:
    def __init__(self, client: Client, options: Options) -> None:
        self._client = client
        self._options = options
        self.bundle = Bundle(Masking())
        self.discovery = SchedulerDiscovery(client, options.namespaces, datetime.now(timezone.utc))
        self._inside = Inside(client, self.discovery, options.metrics_account)
        self._pods: dict[tuple[str, str], dict[str, Any]] = {}
        # What may not be read, by the requests for it
        self._forbidden: set[str] = set()
        # What the operator and the roles made
        self._deployments: set[tuple[str, str]] = set()

    def collect(self, dry: bool) -> None:
        schedulers = self._try("schedulers", "as scheduler_info", self.discovery.schedulers) or []
        operators = self._try("operators", "as scheduler_info", self.discovery.operators) or []
        platform = self._try("API versions of the cluster", "GET /apis", self.discovery.platform) or {}
        for entry in schedulers:
            # Before anything is shown: the log of a scheduler may contain parts of its configuration.
            for value in credentials(self._try("a configuration", "ConfigMap", partial(self.discovery.configuration, entry))):
                self.bundle.masking.remember(value)
        self._summary(schedulers, operators)
        self._cluster(platform)
        namespaces = dict.fromkeys([*self.discovery.namespaces, *(one["namespace"] for one in [*schedulers, *operators])])
        for namespace in namespaces:
            self._namespace(namespace, platform)
        self._bindings()
        self._logs(schedulers)
        self._metrics(schedulers)
        if self._options.cache_dumps:
            self._cache_dumps(schedulers, dry)
        for finding in self.discovery.unknown:
            if not any(finding in entry["why"] for entry in self.bundle.missing):
                self.bundle.miss("something of scheduler_info.json", "as scheduler_info", finding)

    def _summary(self, schedulers: list[dict[str, Any]], operators: list[dict[str, Any]]) -> None:
        """The result of scheduler_info with all values of ``gather``."""
        for entry in schedulers:
            for name, find in FACTS.items():
                where = f"{entry['kind']} {entry['namespace']}/{entry['name']}"
                entry.update(self._try(f"{name} of {where}", "as scheduler_info", partial(find, self._inside, entry)) or {})
        pods = self._try("pods without a node", "GET /api/v1/pods", lambda: self.discovery.pending_pods(None)) or []
        found = {
            "schedulers": schedulers,
            "pending_pods": self.discovery.pending(pods, schedulers),
            "conflicts": conflicts(schedulers),
            "operators": operators,
            "unknown": self.discovery.unknown,
        }
        self.bundle.add(
            "scheduler_info.json",
            "schedulers with their names, and pending pods with their reasons",
            "as scheduler_info",
            self.bundle.masking.shown(found),
        )

    def _cluster(self, platform: Mapping[str, Any]) -> None:
        self._list("cluster", *_CUSTOM)
        self._list("cluster", "v1", "Node")
        self._list("cluster", "scheduling.k8s.io/v1", "PriorityClass")
        for reason in _REASONS:
            self._list("cluster", "v1", "Event", suffix=f"-{reason}", field_selector=f"reason={reason}")
        for api_version, kind, name in (_CRD, *(_OPENSHIFT if platform.get("openshift") else ())):
            self._get(f"cluster/{kind.lower()}-{name}.json", api_version, kind, name)

    def _namespace(self, namespace: str, platform: Mapping[str, Any]) -> None:
        resource = self._resource(*_CUSTOM)
        alone = resource and f"GET {resource.path(None)}" in self._forbidden
        kinds = (
            *_IN_NAMESPACE,
            *((_CUSTOM,) if alone else ()),
            *(_MONITORING if platform.get("monitoring") else ()),
            *(_OLM if platform.get("olm") else ()),
        )
        for api_version, kind in kinds:
            objects = self._list(f"namespaces/{namespace}", api_version, kind, namespace, metadata_only=kind == "Secret")
            if kind == "Pod":
                self._pods.update({(namespace, pod["metadata"]["name"]): pod for pod in objects})
            if kind == "Deployment":
                self._deployments.update((namespace, one["metadata"]["name"]) for one in objects if _is_managed(one))

    def _bindings(self) -> None:
        """What the schedulers and operators may do in all of the cluster."""
        accounts = {(key[0], pod["spec"].get("serviceAccountName")) for key, pod in self._pods.items() if self._is_ours(pod)}

        def concerned(binding: Mapping[str, Any]) -> bool:
            return any((subject.get("namespace"), subject.get("name")) in accounts for subject in binding.get("subjects") or [])

        self._list("cluster", "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", keep=concerned)

    def _logs(self, schedulers: list[dict[str, Any]]) -> None:
        if not self._options.log_lines:
            return
        pods = {key: pod for key, pod in self._pods.items() if self._is_ours(pod)}
        for entry in schedulers:
            found = self._try("the pods of a scheduler", "GET pods", partial(self._inside.pods, entry)) or []
            pods.update({(pod["metadata"]["namespace"], pod["metadata"]["name"]): pod for pod in found})
        for _where, pod in sorted(pods.items()):
            status = pod.get("status") or {}
            for container in [
                one for key in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses") for one in status.get(key) or []
            ]:
                for previous in (False, True) if container.get("restartCount") else (False,):
                    self._log(pod, container["name"], previous)

    def _is_ours(self, pod: Mapping[str, Any]) -> bool:
        """Whether to collect a pod's log: pods of schedulers, of operators, and those that the operator runs for a scheduler."""
        workload = _workload(pod)
        return (
            find_command(pod["spec"]) is not None or workload in OPERATORS or (pod["metadata"]["namespace"], workload) in self._deployments
        )

    def _log(self, pod: Mapping[str, Any], container: str, previous: bool) -> None:
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        path = self._client.resource("v1", "Pod").path(namespace, name, "log")
        query = {"container": container, "tailLines": self._options.log_lines, "timestamps": "true"}
        what = f"log of the container {container} of the pod {namespace}/{name}" + (" from before its last restart" if previous else "")
        if previous:
            query["previous"] = "true"
        source = f"GET {path}?container={container}" + ("&previous=true" if previous else "")
        text = self._try(what, source, lambda: self.discovery.log_of(pod, query))
        if text is not None:
            file = f"namespaces/{namespace}/logs/{name}/{container}{'.previous' if previous else ''}.log"
            self.bundle.add(file, what, source, self.bundle.masking.log(text))

    def _metrics(self, schedulers: list[dict[str, Any]]) -> None:
        for entry in schedulers:
            where = f"{entry['kind']} {entry['namespace']}/{entry['name']}"
            source = f"GET https://POD/metrics of {where}"
            answer = self._try(f"metrics of {where}", source, partial(self._inside.metrics_text, entry))
            if answer:
                self._page_of_metrics(f"metrics of {where}", source, *answer)
        for (namespace, name), pod in self._pods.items():
            if OPERATORS.get(_workload(pod)) == "osso":
                target = Target(pod, pod["spec"]["containers"][0]["name"], {}, None)
                source = f"GET https://{namespace}/{name}:{_OPERATOR_PORT}/metrics"
                text, why = self._inside.page_of(target, _OPERATOR_PORT)
                self._page_of_metrics(f"metrics of the operator {namespace}/{name}", source, target, text, why)

    def _page_of_metrics(self, what: str, source: str, target: Target | None, text: str, why: str) -> None:
        if target is None or why:
            self.bundle.miss(what, source, why)
        else:
            self.bundle.add(f"metrics/{target.namespace}_{target.name}.txt", what, source, text)

    def _cache_dumps(self, schedulers: list[dict[str, Any]], dry: bool) -> None:
        for entry in schedulers:
            what = f"what {entry['kind']} {entry['namespace']}/{entry['name']} believes of nodes and pods"
            known = len(self.bundle.missing)
            target = self._try(what, "scheduler_cache_dump", partial(self._inside.target, entry))
            if target is None:
                if len(self.bundle.missing) == known:
                    self.bundle.miss(what, "scheduler_cache_dump", "no instance of it that runs can be seen")
                continue
            wanted = cache_dump.Options(
                scheduler_name=None,
                namespaces=[],
                pod={"namespace": target.namespace, "name": target.name, "container": target.container},
                method=cache_dump.AUTO,
                debug_image=self._options.debug_image or "",
                process="kube-scheduler",
                pid=None,
                log_path=None,
                timeout=60,
                compare=True,
            )
            work = cache_dump.plan if dry else cache_dump.run
            found = self._try(what, "scheduler_cache_dump", partial(work, self._client, wanted, target))
            if found:
                name = f"cache_dumps/{target.namespace}_{target.name}.json"
                self.bundle.add(name, what, "scheduler_cache_dump", found)
                self.bundle.notes += [text for text in (found["leftover"], found["msg"] if dry else "") if text]

    def _list(
        self,
        folder: str,
        api_version: str,
        kind: str,
        namespace: str | None = None,
        keep: Callable[[Mapping[str, Any]], bool] | None = None,
        suffix: str = "",
        **selectors: Any,
    ) -> list[dict[str, Any]]:
        """A file with the objects of a kind; the objects, none where they can't be read."""
        resource = self._resource(api_version, kind)
        if resource is None:
            return []
        path = resource.path(namespace)
        what = f"{resource.plural} in {namespace}" if namespace else resource.plural
        source = f"GET {path}" + (f"?fieldSelector={selectors['field_selector']}" if "field_selector" in selectors else "")
        found = self._try(what, source, lambda: self._client.list(resource, namespace, **selectors))
        if found is None:
            return []
        kept = [obj for obj in found if keep is None or keep(obj)]
        what += ", names and labels only" if selectors.get("metadata_only") else ""
        self.bundle.objects(f"{folder}/{resource.plural}{suffix}.json", what, source, kept)
        return kept

    def _get(self, name: str, api_version: str, kind: str, object_name: str) -> None:
        resource = self._resource(api_version, kind)
        if resource is None:
            return
        source = f"GET {resource.path(None, object_name)}"
        found = self._try(f"{kind} {object_name}", source, lambda: self._client.get(resource, object_name))
        if found:
            self.bundle.objects(name, f"{kind} {object_name}", source, [found])
        elif not any(entry["source"] == source for entry in self.bundle.missing):
            self.bundle.miss(f"{kind} {object_name}", source, "there is none")

    def _resource(self, api_version: str, kind: str) -> Resource | None:
        return self._try(f"{kind}s", f"GET /apis/{api_version}", lambda: self._client.resource(api_version, kind))

    def _try(self, what: str, source: str, read: Callable[[], _T]) -> _T | None:
        """What `read` returns, None where it fails, which is noted. Raises where there is no server or no user any more."""
        try:
            return read()
        except ApiError as error:
            raise_if_gone(self._client, error)
            if error.status == 403:
                self._forbidden.add(source)
            why = "the API server does not serve it" if error.reason == "NotServed" else error.message
            self.bundle.miss(what, source, f"{why} (HTTP {error.status})" if error.status else why)
        except ClusterError as error:
            self.bundle.miss(what, source, error.message)
        return None


def _is_managed(obj: Mapping[str, Any]) -> bool:
    return (obj["metadata"].get("labels") or {}).get("app.kubernetes.io/managed-by") == FIELD_MANAGER


def _workload(pod: Mapping[str, Any]) -> str:
    """The name of the Deployment that a pod belongs to, from the name of its ReplicaSet; empty if it belongs to none."""
    owners = pod["metadata"].get("ownerReferences") or []
    return next((owner["name"].rpartition("-")[0] for owner in owners if owner["kind"] == "ReplicaSet"), "")
