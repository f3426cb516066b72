# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Everything that one reconcile of a SecondaryScheduler has to know, read from the cluster, and what is decided on it.

Nothing of it may be printed as a whole: it holds the configuration, and so perhaps a token.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypedDict

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import apply_set, pod_failures, timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.accounts import Account, account
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import secret_texts
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document import tree
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.images import PROGRAM
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import PLACEHOLDERS
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import PLUGINS_ANNOTATION, VERSION_ANNOTATION
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import dns1123_subdomain
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import named_plugins
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring import findings, preflight, prometheus_clients
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.findings import FindingData
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.node_metrics import Readers
from ansible_collections.osso.scheduler.plugins.module_utils._operand import decision as decisions
from ansible_collections.osso.scheduler.plugins.module_utils._operand import (
    eligible_nodes,
    overrides,
    own_secrets,
    plugin_requirements,
    prometheus_access,
    resource_names,
    tls,
    upstream_cleanup,
)
from ansible_collections.osso.scheduler.plugins.module_utils._operand import rollout as rollouts
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import config_validation, image_answer
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.config_validation import ValidationResult
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.configuration import Found, read_config_map

# Seconds for each answer of Prometheus: a reconcile waits for it.
METRICS_TIMEOUT = 3

# Seconds in which an image that no table knows can say itself what it thinks of a configuration, its pull included.
ASK_TIMEOUT = 60

SERVICE_MONITOR = ("monitoring.coreos.com/v1", "ServiceMonitor")


class ConfigMap(NamedTuple):
    """The user's ConfigMap. found: does it exist? marked: is it labelled so that its edits trigger a reconcile? shared: is it labelled so for another
    resource? It can do so for one only."""

    name: str = ""
    found: bool = False
    marked: bool = False
    shared: bool = False


class Neighbours(NamedTuple):
    """Facts about the surroundings of a resource, also during its deletion: all SecondarySchedulers that this operator reconciles, and the ConfigMap."""

    resources: list[Object]
    config_map: ConfigMap


class Platform(TypedDict):
    """What the cluster offers."""

    openshift: bool
    service_ca: bool
    service_monitor: bool


class Inputs(NamedTuple):
    """What one reconcile has read, and what was decided on it.

    facts, decision: see `decision`. validated: the configuration that is applied; None where there is none. needs: what the enabled plugins need,
    None unless something is applied. leftovers: manifests of what may be deleted. scheduler_names: those that the scheduler serves, or will once it
    runs.
    """

    facts: decisions.Facts
    decision: decisions.Decision
    neighbours: Neighbours
    platform: Platform
    validated: ValidationResult | None = None
    needs: plugin_requirements.Needs | None = None
    load_watcher: prometheus_access.LoadWatcher | None = None
    account: Account = Account()
    leftovers: tuple[Object, ...] = ()
    scheduler_names: tuple[str, ...] = ()


class Unanswered(Exception):
    """The image of ``resource`` runs in a Job, and has not answered yet. ``seconds``: when to look for the answer."""

    def __init__(self, seconds: int, resource: Object):
        super().__init__()
        self.seconds = seconds
        self.resource = resource


class Reader:
    """Reads what exists around one SecondaryScheduler.

    ``namespaces``: those in which other SecondarySchedulers are looked for, empty for all.
    """

    def __init__(self, client: Client, resource: Object, namespaces: Sequence[str] = ()):
        self._client = client
        self._namespaces = namespaces
        self._take(resource)
        self._found = Found(None, "")
        self._groups: dict[str, list[str]] = {}
        self._version: str | None = None

    def read(self) -> Inputs:
        """What this reconcile goes by. Raises `ApiError`, and `Unanswered`.

        Resource and ConfigMap are often written together. Between the event of the first write and this reconcile, the second write follows: the
        resource of the event would be deployed with a configuration that it never had, and then replaced.
        """
        self._groups = self._client.groups()
        resources = self._resources()
        uid = self._resource["metadata"]["uid"]
        latest = next((live for live in resources if live["metadata"]["uid"] == uid), None)
        if latest and "deletionTimestamp" not in latest["metadata"]:
            self._take(latest)
        facts = self._facts()
        decision = decisions.decide(facts)
        if isinstance(decision, decisions.Application) and self._is_to_be_asked(facts, decision):
            config = facts.found_config
            try:
                answer = self._answer(config, decision.rollout)
                facts = facts._replace(config=config_validation.with_answer(config, answer))
            except ClusterError as error:
                facts = facts._replace(image_error=error.message)
            decision = decisions.decide(facts)
        measured = self._metrics(facts, decision)
        if measured is not None:
            facts = facts._replace(metrics=measured)
            decision = decisions.decide(facts)
        platform: Platform = {
            "openshift": "route.openshift.io" in self._groups,
            "service_ca": facts.serving_cert,
            "service_monitor": self._serves(*SERVICE_MONITOR),
        }
        inputs = Inputs(facts, decision, self._neighbours(self._found, resources), platform, facts.config)
        if not isinstance(decision, decisions.Application):
            return inputs._replace(scheduler_names=self._reported_names(decision, facts.deployment))
        validated = (
            self._validate(decision.secret["template"], decision.rollout["image"], decision.rollout["flags"])
            if decision.is_kept
            else facts.found_config
        )
        account = self._account(facts.deployment)
        return inputs._replace(
            validated=validated,
            needs=self._needs(validated, decision),
            load_watcher=prometheus_access.load_watcher(decision.secret["template"], facts.source, self._names),
            account=account,
            leftovers=tuple(self._leftovers(account.is_cut_off)),
            scheduler_names=validated.scheduler_names,
        )

    def neighbours(self) -> Neighbours:
        """What still counts when the resource is being deleted. Neither its spec nor its configuration need be usable for that."""
        return self._neighbours(self._config_map_metadata(), self._resources())

    def _config_map_metadata(self) -> Found:
        """What is known of the user's ConfigMap."""
        if not self._config_map_name:
            return self._found
        return read_config_map(self._client, self._names["namespace"], self._config_map_name)

    # Facts

    def _facts(self) -> decisions.Facts:
        given, problems = overrides.read(self._spec.get("unsupportedConfigOverrides"))
        service_ca = "route.openshift.io" in self._groups
        profile = self._tls()
        deployment = self._get("apps/v1", "Deployment", self._names["workload"])
        config = None
        if self._config_map_name:
            self._found = read_config_map(self._client, self._names["namespace"], self._config_map_name)
        if isinstance(self._found.text, str):
            config = self._validate(self._found.text, self._spec.get("schedulerImage"), rollouts.flags_of(self._resource, given, profile))
        eligible = None
        if rollouts.is_highly_available(self._spec):
            chosen = rollouts.placement(self._spec, given)
            live = self._client.list(self._client.resource("v1", "Node"))
            eligible = eligible_nodes.eligible(live, chosen["nodeSelector"], chosen["tolerations"])
        secrets, now = self._secrets(deployment), timestamps.now()
        memory, configured = rollouts.read_memory(secrets, deployment), rollouts.configuration(deployment)
        intact = {secret["metadata"]["name"] for secret in secrets}
        texts = [config.decoded if config else "", prometheus_access.template(memory.secret) if memory.secret else ""]
        facts = decisions.Facts(
            resource=self._resource,
            config=config,
            config_problem=self._found.reason,
            config_unreadable=self._found.is_unreadable,
            overrides=given,
            override_problems=tuple(problems),
            eligible=eligible,
            memory=memory,
            deployment=deployment,
            lost_config=configured if configured and configured not in intact else "",
            failure=self._failure(deployment),
            tls=tuple(profile),
            serving_cert=service_ca,
            now=now,
        )
        if not isinstance(decisions.decide(facts), decisions.Application):
            return facts  # A token would be requested each time, and discarded.
        return facts._replace(source=prometheus_access.read(self._client, self._resource, texts, secrets, now))

    def _serves(self, api_version: str, kind: str) -> bool:
        group, version = api_version.split("/")
        if version not in self._groups.get(group, ()):
            return False
        try:
            self._client.resource(api_version, kind)
        except ApiError as error:
            if error.status != 404:
                raise
            return False
        return True

    def _tls(self) -> list[str]:
        """The flags of the cluster's TLS profile; none where the cluster has no such thing."""
        if not self._serves("config.openshift.io/v1", "APIServer"):
            return []
        return tls.flags(self._client.get(self._client.resource("config.openshift.io/v1", "APIServer"), "cluster"))

    def _validate(self, text: str, image: str | None, flags: Sequence[str]) -> ValidationResult:
        annotations = resource_names.annotations_of(self._resource)
        kubernetes, plugins = annotations.get(VERSION_ANNOTATION), annotations.get(PLUGINS_ANNOTATION)
        version = self._cluster_version()
        target = config_validation.resolve_target(image, kubernetes, plugins, flags, lambda: version, strict=False)
        return config_validation.validate(text, target, flags, PLACEHOLDERS, image, version or None, self._groups or None)

    def _cluster_version(self) -> str:
        """The release of the API server; "" if it is unknown, which does not prevent the deployment of a configuration."""
        if self._version is None:
            try:
                self._version = self._client.version()
            except ApiError:
                self._version = ""
        return self._version

    def _answer(self, config: ValidationResult, rollout: rollouts.Rollout) -> config_validation.Answer:
        """What the image itself answers. Raises `Unanswered` while it runs, `ClusterError` where it gives no answer."""
        given = rollout["overrides"]
        question = image_answer.Question(
            image=self._spec["schedulerImage"],
            text=config.text,
            flags=tuple(rollout["flags"]),
            namespace=self._names["namespace"],
            timeout=ASK_TIMEOUT,
            secrets=tuple(secret_texts(config.tree)),
            command=tuple(given.get("command") or (PROGRAM,)),
            pull_secrets=tuple(secret["name"] for secret in given.get("imagePullSecrets") or ()),
        )
        answer = image_answer.ask_without_waiting(self._client, question, timestamps.now())
        if isinstance(answer, int):
            raise Unanswered(answer, self._resource)
        return answer

    @staticmethod
    def _is_to_be_asked(facts: decisions.Facts, decision: decisions.Application) -> bool:
        if decision.is_kept or facts.found_config.valid is not None:
            return False
        return not any(decisions.tried(facts))

    def _secrets(self, deployment: Object | None) -> list[Object]:
        """Those with configurations and tokens of the scheduler.

        None for a name that is too long: nothing was ever made for it, and it fits into no label.
        """
        names = self._names
        if not resource_names.is_usable(names["name"]):
            return []
        labels = ",".join(f"{key}={value}" for key, value in resource_names.labels(names).items())
        selector = f"{labels},{apply_set.selector(names['set'], names['namespace'])}"
        found = self._client.list(self._client.resource("v1", "Secret"), names["namespace"], label_selector=selector)
        return own_secrets.own(found, self._resource, deployment, self._recorded_secrets)

    def _recorded_secrets(self) -> list[str]:
        """Names of the Secrets in the inventory; none where it does not exist or is unreadable, which the apply reports."""
        namespace = self._names["namespace"]
        inventory = self._get("v1", "ConfigMap", apply_set.identity(self._names["set"], namespace).name)
        try:
            members = apply_set.members(inventory)
        except ClusterError:
            return []
        return [member.name for member in members if (member.kind, member.namespace) == ("Secret", namespace)]

    def _failure(self, deployment: Object | None) -> pod_failures.Failure | None:
        """Why pods of the newest rollout are not ready. Asked only where some are not."""
        if deployment is None or rollouts.is_complete(deployment):
            return None
        selector = f"app={self._names['workload']}"
        replica_sets, pods = (
            self._client.list(self._client.resource(*kind), self._names["namespace"], label_selector=selector)
            for kind in (("apps/v1", "ReplicaSet"), ("v1", "Pod"))
        )
        failure = pod_failures.of_rollout(deployment, replica_sets, pods)
        if failure is None and rollouts.is_overdue(deployment):
            # Only then: a probe that fails while a scheduler starts is no failure.
            kind = self._client.resource("v1", "Event")
            texts = pod_failures.event_texts(partial(self._client.list, kind, self._names["namespace"], None))
            failure = pod_failures.of_rollout(deployment, replica_sets, pods, texts)
        return failure

    def _account(self, deployment: Object | None) -> Account:
        return account(deployment, self._get("v1", "ServiceAccount", self._names["workload"])) if deployment else Account()

    def _get(self, api_version: str, kind: str, name: str) -> Object | None:
        return self._client.get(self._client.resource(api_version, kind), name, self._names["namespace"])

    def _take(self, resource: Object) -> None:
        """Reconcile this version of the resource."""
        self._resource = resource
        self._names = resource_names.names_of(resource)
        self._spec = resource.get("spec") or {}
        name = self._spec.get("schedulerConfig") or ""
        self._config_map_name = "" if dns1123_subdomain(name) else name

    def _resources(self) -> list[Object]:
        """All SecondarySchedulers that this operator reconciles."""
        kind = self._client.resource(self._resource["apiVersion"], self._resource["kind"])
        return [live for namespace in self._namespaces or (None,) for live in self._client.list(kind, namespace)]

    def _neighbours(self, found: Found, resources: list[Object]) -> Neighbours:
        return Neighbours(resources, self._config_map(found, resources))

    # What follows from the decision

    def _metrics(self, facts: decisions.Facts, decision: decisions.Decision) -> list[FindingData] | None:
        """What stands between the scheduler and the metrics that its plugins ask Prometheus for; None where none of them does."""
        if not isinstance(decision, decisions.Application):
            return None
        data, source = decision.secret["data"], facts.source
        text, ca = data[prometheus_access.CONFIG_KEY], data.get(prometheus_access.CA_KEY)
        # What is filled in is another text than the one that was validated.
        config = facts.config.tree if facts.config and text == facts.config.text else tree(text)
        asked = prometheus_clients.queried_prometheus(config)
        more: list[FindingData] = []
        through_service = asked is None and source is not None and bool(source.watcher_url)
        if through_service and source is not None:
            plugins = prometheus_clients.watched_by(config, source.watcher_url)
            asked, ca = (prometheus_clients.Asked(source.url, source.token, False, plugins) if plugins else None), source.ca
            more = self._without_watcher()
        if asked is None:
            return None
        options = preflight.Options(
            url=asked.address,
            token=asked.token,
            insecure_skip_verify=asked.insecure_skip_verify,
            prometheus_ca=ca or None,
            plugins=asked.plugins,
            timeout=METRICS_TIMEOUT,
        )
        # Those of who asks, not the operator's, which OLM sets. Nothing sets any for the load-watcher.
        proxies = {} if through_service else rollouts.proxies(decision.rollout["overrides"])
        readers = Readers(asked.plugins, through_service, prometheus_clients.target_utilization(config))
        # The scheduler has no other CA than its Secret's and its image's.
        answer = preflight.inspect_prometheus(options, lambda: self._client, readers=readers, proxies=proxies, cluster_ca=False)
        found: list[FindingData] = answer["findings"]
        return found + more

    def _without_watcher(self) -> list[FindingData]:
        """A finding where no pod of the load-watcher has metrics for the scheduler."""
        name = self._names["load_watcher"]
        live = self._get("apps/v1", "Deployment", name)
        if live and (live.get("status") or {}).get("availableReplicas"):
            return []
        message = f"No pod of the Deployment {self._names['namespace']}/{name} is ready, so the scheduler knows of no load"
        hint = f"if it stays so, look at kubectl describe deployment {name} -n {self._names['namespace']}, and at the log of its pods"
        return [findings.error(decisions.NO_WATCHER, message, hint).as_dict()]

    def _reported_names(self, decision: decisions.Decision, deployment: Object | None) -> tuple[str, ...]:
        """The names that the scheduler serves where nothing is applied: those that its status reports, as long as it exists."""
        if decision.action == decisions.REMOVE or deployment is None:
            return ()
        return tuple((self._resource.get("status") or {}).get("schedulerNames") or ())

    def _needs(self, validated: ValidationResult, decision: decisions.Application) -> plugin_requirements.Needs:
        effective = (validated.effective if validated.valid else None) or named_plugins(validated.tree)
        served = {f"{api_version}/{kind}" for api_version, kind in plugin_requirements.kinds(effective) if self._serves(api_version, kind)}
        roles = self._client.resource("rbac.authorization.k8s.io/v1", "ClusterRole")
        facts: plugin_requirements.ClusterFacts = {
            "served": served,
            "cluster_roles": {name for name in plugin_requirements.cluster_roles(effective) if self._client.get(roles, name)},
            "controller": self._get("apps/v1", "Deployment", self._names["controller"])
            if plugin_requirements.needs_controller(effective)
            else None,
            "image": decision.rollout["image"],
            "annotations": resource_names.annotations_of(self._resource),
        }
        return plugin_requirements.requirements_of(effective, facts)

    def _leftovers(self, is_cut_off: bool) -> list[Object]:
        """What the upstream operator made for the resource and this one has no use for; the Lease of a leader that the API server refuses
        (``is_cut_off``), which cannot hand it over, so that the next one would wait until it expires.
        """
        found = []
        for candidate in upstream_cleanup.candidates(self._resource):
            kind, metadata = self._client.resource(candidate["apiVersion"], candidate["kind"]), candidate["metadata"]
            found.append(self._client.get(kind, metadata["name"], metadata.get("namespace")))
        lease = {"name": self._names["workload"], "namespace": self._names["namespace"]}
        return upstream_cleanup.leftovers_of(self._resource, [live for live in found if live]) + (
            [{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": lease}] if is_cut_off else []
        )

    def _config_map(self, found: Found, resources: list[Object]) -> ConfigMap:
        name = self._config_map_name
        if not name:
            return ConfigMap()
        marked = (found.annotations or {}).get(resource_names.PRIMARY_RESOURCE)
        mine = resource_names.watch_annotations(self._names)[resource_names.PRIMARY_RESOURCE]
        users = {
            "{namespace}/{name}".format(**other["metadata"])
            for other in resources
            if (other.get("spec") or {}).get("schedulerConfig") == name
        }
        return ConfigMap(name, bool(found.resource_version), marked == mine, marked != mine and marked in users)


class TemplateVariables(TypedDict):
    """The variable ``operand`` of the templates in roles/operand/templates. The data of Secrets is encoded as the API server takes it."""

    names: resource_names.Names
    labels: dict[str, str]
    noticed: dict[str, str]
    owner: resource_names.Owner
    rollout: rollouts.Rollout
    annotations: dict[str, str]
    secret: prometheus_access.SecretContent
    load_watcher: prometheus_access.LoadWatcher | None
    replicas: int
    account: Mapping[str, object]
    platform: Platform
    needs: plugin_requirements.Needs | None


def template_variables(inputs: Inputs, decision: decisions.Application) -> TemplateVariables:
    """What the templates need to apply what was decided."""
    names, watcher = resource_names.names_of(inputs.facts.resource), inputs.load_watcher
    return {
        "names": names,
        "labels": resource_names.labels(names),
        "noticed": resource_names.watch_annotations(names),
        "owner": resource_names.owner(inputs.facts.resource),
        "rollout": decision.rollout,
        "annotations": decision.annotations,
        "secret": _encoded(decision.secret),
        "load_watcher": {**watcher, "secret": _encoded(watcher["secret"])} if watcher else None,
        "replicas": decision.replicas,
        "account": inputs.account._asdict(),
        "platform": inputs.platform,
        "needs": inputs.needs,
    }


def _encoded(secret: prometheus_access.SecretContent) -> prometheus_access.SecretContent:
    """The Secret with its data as the API server takes it."""
    data = {key: base64.b64encode(text.encode()).decode() for key, text in secret["data"].items()}
    return {"name": secret["name"], "annotations": secret["annotations"], "data": data}
