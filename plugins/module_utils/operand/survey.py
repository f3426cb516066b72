# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Everything that one reconcile of a SecondaryScheduler has to know, read from the cluster, and what is decided on it."""

from __future__ import annotations

import base64
from datetime import datetime, timezone
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.secret_texts import secret_texts
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.document import tree
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.outline import named_plugins
from ansible_collections.osso.scheduler.plugins.module_utils.monitoring import configured, findings, preflight
from ansible_collections.osso.scheduler.plugins.module_utils.monitoring.metrics import Readers
from ansible_collections.osso.scheduler.plugins.module_utils.operand import decision as decisions
from ansible_collections.osso.scheduler.plugins.module_utils.operand import failures, leftovers, needs, nodes, overrides, prometheus, tls
from ansible_collections.osso.scheduler.plugins.module_utils.operand import names as naming
from ansible_collections.osso.scheduler.plugins.module_utils.operand import rollout as rollouts
from ansible_collections.osso.scheduler.plugins.module_utils.operand.conditions import condition
from ansible_collections.osso.scheduler.plugins.module_utils.scheduling import image_answer, validation
from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.configuration import Found, read_config_map

# Seconds for each answer of Prometheus: a reconcile waits for it.
METRICS_TIMEOUT = 3

# Seconds in which an image that no table knows can say itself what it thinks of a configuration, its pull included.
ASK_TIMEOUT = 60

SERVICE_MONITOR = ("monitoring.coreos.com/v1", "ServiceMonitor")


def timestamp():
    """The present time as the API server writes it."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Survey:
    """Reads what there is around one SecondaryScheduler.

    ``namespaces``: those in which other SecondarySchedulers are looked for, empty for all. ``ask_image``: may an image that no table knows be
    asked by a Job?
    """

    def __init__(self, client, resource, namespaces=(), ask_image=True):
        self._client = client
        self._resource = resource
        self._names = naming.of(resource)
        self._namespaces = namespaces
        self._ask_image = ask_image
        self._spec = resource.get("spec") or {}
        self._found = Found(None, "")

    def result(self) -> dict[str, Any]:
        """What the module operand_info returns. Raises `ApiError`."""
        groups = self._groups()
        facts = self._facts(groups)
        decision = decisions.decide(facts)
        config = facts.config
        if self._is_to_be_asked(facts, decision):
            try:
                config = validation.with_answer(config, self._ask(config, decision.desired["flags"]))
                facts = facts._replace(config=config)
            except ClusterError as error:
                facts = facts._replace(image_error=error.message)
            decision = decisions.decide(facts)
        measured = self._metrics(facts, decision)
        if measured is not None:
            facts = facts._replace(metrics=measured)
            decision = decisions.decide(facts)
        judged = config
        if decision.is_kept:
            judged = self._validate(decision.secret["template"], decision.rollout["image"], decision.rollout["flags"])
        applied = decision.action == decisions.APPLY
        others = self._others()
        before, account = self._service_account(facts.deployment) if applied else (None, None)
        return {
            "action": decision.action,
            "reason": decision.reason,
            "message": decision.message,
            "names": dict(self._names, config_secret=decision.secret["name"] if applied else ""),
            "labels": naming.labels(self._names),
            "owner": naming.owner(self._resource),
            "noticed": naming.noticed(self._names),
            "rollout": dict(decision.rollout, id=rollouts.identity(decision.rollout)) if applied else None,
            "secret": _encoded(decision.secret) if applied else None,
            "load_watcher": self._load_watcher(facts, decision) if applied else None,
            "replicas": decision.replicas,
            "service_account": account,
            "prune": decision.prune,
            "platform": {
                "openshift": "route.openshift.io" in groups,
                "service_ca": facts.serving_cert,
                "service_monitor": self._serves(groups, *SERVICE_MONITOR),
            },
            "needs": self._needs(judged, decision, groups) if applied else None,
            "leftovers": self._leftovers(account != before) if applied else [],
            "decision": dict(decision._asdict(), secret=None),
            "metrics": facts.metrics,
            "renew": facts.source.renew if facts.source else None,
            "deployment": facts.deployment,
            "failure": facts.failure._asdict() if facts.failure else None,
            "scheduler_names": self._scheduler_names(judged, decision, facts.deployment),
            "resources": [_about(other) for other in others],
            "config_map": self._config_map(self._found, others),
            "overridden": bool(self._spec.get("unsupportedConfigOverrides")),
        }

    def neighbours(self) -> dict[str, Any]:
        """Of `result` what still counts when the resource is being deleted. Neither its spec nor its configuration need be usable for that."""
        others = self._others()
        return {
            "names": self._names,
            "noticed": naming.noticed(self._names),
            "resources": [_about(other) for other in others],
            "config_map": self._config_map(self._config_map_metadata(), others),
        }

    def _config_map_metadata(self):
        """What is known of the user's ConfigMap."""
        if not self._spec.get("schedulerConfig"):
            return self._found
        try:
            return read_config_map(self._client, self._names["namespace"], self._spec["schedulerConfig"])
        except ApiError as error:
            if error.status not in (400, 404, 422):
                raise
            return self._found  # The field is no name of an object.

    # Facts

    def _facts(self, groups) -> decisions.Facts:
        given, problems = overrides.read(self._spec.get("unsupportedConfigOverrides"))
        service_ca = "route.openshift.io" in groups
        profile = self._tls(groups)
        deployment = self._get("apps/v1", "Deployment", self._names["workload"])
        config = None
        if self._spec.get("schedulerConfig"):
            self._found = read_config_map(self._client, self._names["namespace"], self._spec["schedulerConfig"])
        if self._found.text is not None:
            config = self._validate(self._found.text, self._spec.get("schedulerImage"), rollouts.flags_of(self._resource, given, profile))
        eligible = None
        if rollouts.is_highly_available(self._spec):
            chosen = rollouts.placement(self._spec, given)
            live = self._client.list(self._client.resource("v1", "Node"))
            eligible = nodes.eligible(live, chosen["nodeSelector"], chosen["tolerations"])
        secrets, now = self._secrets(), timestamp()
        memory = rollouts.remember(secrets)
        texts = (config.text if config else "") + (prometheus.template(memory.secret) if memory.secret else "")
        return decisions.Facts(
            resource=self._resource,
            config=config,
            config_problem=self._found.reason,
            overrides=given,
            override_problems=tuple(problems),
            eligible=eligible,
            memory=memory,
            deployment=deployment,
            failure=self._failure(deployment),
            tls=tuple(profile),
            serving_cert=service_ca,
            source=prometheus.read(self._client, self._resource, texts, secrets, now),
            now=now,
        )

    def _groups(self):
        """The API groups that the server serves, each with its versions."""
        answer = self._client.request("GET", "/apis")
        return {group["name"]: [version["version"] for version in group["versions"]] for group in answer.get("groups") or []}

    def _serves(self, groups, api_version, kind):
        group, version = api_version.split("/")
        if version not in groups.get(group, ()):
            return False
        try:
            self._client.resource(api_version, kind)
        except ApiError as error:
            if error.status != 404:
                raise
            return False
        return True

    def _tls(self, groups):
        """The flags of the cluster's TLS profile; none where the cluster has no such thing."""
        if not self._serves(groups, "config.openshift.io/v1", "APIServer"):
            return []
        return tls.flags(self._client.get(self._client.resource("config.openshift.io/v1", "APIServer"), "cluster"))

    def _validate(self, text, image, flags):
        annotations, version = naming.annotations(self._resource), self._client.version
        kubernetes, plugins = annotations.get(naming.KUBERNETES_VERSION), annotations.get(naming.PLUGINS)
        target = validation.resolve_target(image, kubernetes, plugins, flags, version, strict=False)
        return validation.validate(text, target, flags, prometheus.PLACEHOLDERS, image, self._version())

    def _version(self):
        try:
            return self._client.version()
        except ApiError:
            return None

    def _ask(self, config, flags):
        question = image_answer.Question(
            image=self._spec["schedulerImage"],
            text=config.text,
            flags=tuple(flags),
            namespace=self._names["namespace"],
            timeout=ASK_TIMEOUT,
            secrets=tuple(secret_texts(config.tree)),
        )
        return image_answer.ask(self._client, question)

    def _is_to_be_asked(self, facts, decision):
        return (
            self._ask_image
            and decision.action == decisions.APPLY
            and not decision.is_kept
            and facts.config.valid is None
            and not decisions.is_deployed(facts)
        )

    def _secrets(self):
        """Those with configurations of the scheduler."""
        selector = ",".join(f"{key}={value}" for key, value in naming.labels(self._names).items())
        return self._client.list(self._client.resource("v1", "Secret"), self._names["namespace"], label_selector=selector)

    def _failure(self, deployment):
        """Why pods of the newest rollout are not ready. Asked only where some are not."""
        if deployment is None or rollouts.is_complete(deployment):
            return None
        selector = f"app={self._names['workload']}"
        found = [
            self._client.list(self._client.resource(*kind), self._names["namespace"], label_selector=selector)
            for kind in (("apps/v1", "ReplicaSet"), ("v1", "Pod"))
        ]
        return failures.of_rollout(deployment, *found)

    def _service_account(self, deployment):
        """What the pods say of a ServiceAccount that was made anew, and what they are to say: its uid once that happened, so that they are
        replaced; None before.

        Pods get their tokens for the very ServiceAccount that was there; without it the API server refuses them.
        """
        if deployment is None:
            return None, None
        before = (deployment["spec"]["template"]["metadata"].get("annotations") or {}).get(naming.SERVICE_ACCOUNT)
        live = self._get("v1", "ServiceAccount", self._names["workload"])
        progress = condition(deployment.get("status") or {}, "Progressing").get("lastUpdateTime")
        anew = live is not None and progress is not None and live["metadata"]["creationTimestamp"] > progress
        return before, live["metadata"]["uid"] if anew else before

    def _get(self, api_version, kind, name):
        return self._client.get(self._client.resource(api_version, kind), name, self._names["namespace"])

    def _others(self):
        """All SecondarySchedulers that this operator looks after."""
        resource = self._client.resource(self._resource["apiVersion"], self._resource["kind"])
        return [found for namespace in self._namespaces or [None] for found in self._client.list(resource, namespace)]

    # What follows from the decision

    def _metrics(self, facts, decision):
        """What stands between the scheduler and the metrics that its plugins ask Prometheus for; None where none of them does."""
        if decision.action != decisions.APPLY:
            return None
        data, source = decision.secret["data"], facts.source
        text, ca = data[prometheus.CONFIG_KEY], data.get(prometheus.CA_KEY)
        # What is filled in is another text than the one that was validated.
        config = facts.config.tree if facts.config and text == facts.config.text else tree(text)
        asked, more = configured.asked(config), []
        through_service = asked is None and source is not None and bool(source.watcher_url)
        if through_service:
            plugins = configured.watched_by(config, source.watcher_url)
            asked, ca = (configured.Asked(source.url, source.token, False, plugins) if plugins else None), source.ca
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
        readers = Readers(asked.plugins, through_service, configured.target_utilization(config))
        return preflight.examine(options, lambda: self._client, readers=readers)["findings"] + more

    def _load_watcher(self, facts, decision):
        found = prometheus.load_watcher(decision.secret["template"], facts.source, self._names)
        return dict(found, secret=_encoded(found["secret"])) if found else None

    def _without_watcher(self):
        """A finding where no pod of the load-watcher has metrics for the scheduler."""
        name = self._names["load_watcher"]
        live = self._get("apps/v1", "Deployment", name)
        if live and (live.get("status") or {}).get("availableReplicas"):
            return []
        message = f"No pod of the Deployment {self._names['namespace']}/{name} is ready, so the scheduler knows of no load"
        hint = f"if it stays so, look at kubectl describe deployment {name} -n {self._names['namespace']}, and at the log of its pods"
        return [findings.error(decisions.NO_WATCHER, message, hint).as_dict()]

    def _scheduler_names(self, judged, decision, deployment):
        """The names that the scheduler serves, or will once it runs."""
        if decision.action == decisions.APPLY:
            return list(judged.scheduler_names)
        if decision.action == decisions.REMOVE or deployment is None:
            return []
        return list((self._resource.get("status") or {}).get("schedulerNames") or [])

    def _needs(self, judged, decision, groups):
        effective = (judged.effective if judged.valid else None) or named_plugins(judged.tree)
        served = {f"{api_version}/{kind}" for api_version, kind in needs.kinds(effective) if self._serves(groups, api_version, kind)}
        roles = self._client.resource("rbac.authorization.k8s.io/v1", "ClusterRole")
        facts = {
            "served": served,
            "cluster_roles": {name for name in needs.cluster_roles(effective) if self._client.get(roles, name)},
            "controller": self._get("apps/v1", "Deployment", self._names["controller"]) if needs.needs_controller(effective) else None,
            "image": decision.rollout["image"],
            "annotations": naming.annotations(self._resource),
        }
        return needs.of(effective, facts)

    def _leftovers(self, is_cut_off):
        """What the upstream operator made for the resource and this one has no use for; the Lease of a leader that the API server refuses
        (``is_cut_off``), which cannot hand it over, so that the next one would wait until it expires.
        """
        found = []
        for candidate in leftovers.candidates(self._resource):
            kind, metadata = self._client.resource(candidate["apiVersion"], candidate["kind"]), candidate["metadata"]
            found.append(self._client.get(kind, metadata["name"], metadata.get("namespace")))
        lease = {"name": self._names["workload"], "namespace": self._names["namespace"]}
        return leftovers.of(self._resource, [live for live in found if live]) + (
            [{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": lease}] if is_cut_off else []
        )

    def _config_map(self, found, others):
        """The user's ConfigMap: is there one, and does it tell the operator of its edits?"""
        if not self._spec.get("schedulerConfig"):
            return {"name": "", "found": False, "marked": False, "shared": False}
        annotations = found.annotations or {}
        marked = annotations.get(naming.PRIMARY_RESOURCE)
        mine = naming.noticed(self._names)[naming.PRIMARY_RESOURCE]
        users = {
            "{namespace}/{name}".format(**other["metadata"])
            for other in others
            if (other.get("spec") or {}).get("schedulerConfig") == self._spec["schedulerConfig"]
        }
        return {
            "name": self._spec["schedulerConfig"],
            "found": bool(found.resource_version),
            "marked": marked == mine,
            # It can tell of one resource only.
            "shared": marked != mine and marked in users,
        }


def _encoded(secret):
    """A decision's Secret as the API server takes it."""
    data = {key: base64.b64encode(text.encode()).decode() for key, text in secret["data"].items()}
    return {"name": secret["name"], "annotations": secret["annotations"], "data": data}


def _about(resource):
    """What other resources have to know of one."""
    status = resource.get("status") or {}
    metadata = {key: value for key, value in resource["metadata"].items() if key in ("name", "namespace", "deletionTimestamp")}
    return {
        "metadata": metadata,
        "spec": {"managementState": (resource.get("spec") or {}).get("managementState")},
        "status": {key: status[key] for key in ("schedulerNames", "conditions") if key in status},
    }
