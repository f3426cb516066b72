# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What one reconcile of a SecondaryScheduler does: a pure function over what was read.

Every reconcile ends in one of four actions. ``apply`` applies a rollout: the one that the resource requests, or the last one
that served, where something stands in the way of what is asked for (an obstacle). ``hold`` touches nothing, since there is an obstacle
and no rollout that is known to serve. ``leave`` changes nothing, ``remove`` deletes everything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import in_status
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.pod_failures import Failure
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.images import program
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import Finding
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.images import PROGRAM
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import PROM_URL
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import PLUGINS_ANNOTATION, VERSION_ANNOTATION
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import dns1123_subdomain
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import DEFAULT_SCHEDULER_NAME
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.findings import FindingData
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.prometheus import credentials_in, without_credentials
from ansible_collections.osso.scheduler.plugins.module_utils._operand import prometheus_access, resource_names
from ansible_collections.osso.scheduler.plugins.module_utils._operand import rollout as rollouts
from ansible_collections.osso.scheduler.plugins.module_utils._operand.operator_conditions import Condition, condition
from ansible_collections.osso.scheduler.plugins.module_utils._operand.rollout import FailedRollout, Memory, Rollout
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.config_validation import (
    Target,
    ValidationResult,
    unmounted_kubeconfig,
)

APPLY, HOLD, LEAVE, REMOVE = "apply", "hold", "leave", "remove"
IMAGE_ACCEPTS = "ImageAccepts"
NO_WATCHER = "load-watcher-unavailable"

Reason = tuple[str, str]
"""Reason and message of a condition."""


class Facts(NamedTuple):
    """What was read before anything is decided; objects are as the API server returns them.

    config: the validation of the text in the resource's ConfigMap, None if there is no text; ``config_problem`` may then contain the reason.
    image_error: the error that prevented an unknown image from reporting its release, "" otherwise.
    overrides, override_problems: of ``spec.unsupportedConfigOverrides``. eligible: names of nodes for an HA scheduler, else None.
    deployment: the live one or None. lost_config: name of the Secret that its pods are to have, where it no longer exists with that content.
    failure: of its newest pods, see cluster/pod_failures.py. tls: flags of the cluster's TLS profile.
    serving_cert: does the cluster make a certificate for the metrics Service? source: what is known of Prometheus, None where nothing is
    needed. metrics: ``findings`` of the module prometheus_info, None where no plugin asks Prometheus.
    """

    resource: Object
    config: ValidationResult | None
    overrides: Object
    config_problem: str = ""
    config_unreadable: bool = False
    image_error: str = ""
    override_problems: tuple[str, ...] = ()
    eligible: list[str] | None = None
    memory: Memory = Memory()
    deployment: Object | None = None
    lost_config: str = ""
    failure: Failure | None = None
    tls: tuple[str, ...] = ()
    serving_cert: bool = False
    source: prometheus_access.Source | None = None
    metrics: list[FindingData] | None = None
    now: str = ""

    @property
    def found_config(self) -> ValidationResult:
        """``config``, where it is known that there is one: for all that is not in the way of a rollout."""
        if self.config is None:
            raise AssertionError("config")
        return self.config

    @property
    def can_restore(self) -> bool:
        """Is there a last rollout that served, and its configuration? If its Secret is lost, the user's ConfigMap may still contain that."""
        memory, config = self.memory, self.config
        if memory.served is None:
            return False
        if memory.secret is not None:
            return True
        return config is not None and config.hash == memory.served["config"] and not (self.source and self.source.lacks(config.decoded))


class ConfigSecret(prometheus_access.SecretContent):
    """The Secret with a configuration; ``template`` is the configuration with its placeholders."""

    template: str


@dataclass(frozen=True)
class Decision:
    """action: see the module. reason, message: of the obstacle, AsExpected where there is none. config_valid: the condition.

    desired: the rollout that the resource asks for, None if that is unknown.
    """

    action: str
    reason: str
    message: str
    config_valid: Condition
    desired: Rollout | None

    @property
    def is_kept(self) -> bool:
        """Is what is applied something else than what the resource asks for?"""
        return self.action == APPLY and self.reason != "AsExpected"


@dataclass(frozen=True)
class Application(Decision):
    """The decision to apply ``rollout``: the one with the action APPLY.

    secret: with its configuration. annotations, replicas: of the Deployment. prune: whether older configurations may go.
    """

    rollout: Rollout
    secret: ConfigSecret
    annotations: dict[str, str]
    replicas: int
    prune: bool


def decide(facts: Facts) -> Decision:
    """The `Decision` on what was read."""
    valid = config_valid(facts)
    spec = facts.resource.get("spec") or {}
    state = spec.get("managementState") or "Managed"
    if state == "Removed":
        return Decision(REMOVE, "Removed", "spec.managementState is Removed.", valid, None)
    if state == "Unmanaged":
        return Decision(LEAVE, "Unmanaged", "spec.managementState is Unmanaged: the scheduler is left as it is.", valid, None)
    obstacle = _unusable(facts, spec) or _refused(facts, valid) or _unfilled(facts)
    if obstacle:
        return _keep(facts, valid, *obstacle)
    desired = requested_rollout(facts)
    if not _replicas(facts):
        return _keep(facts, valid, "NoNodeMatches", _no_node(desired), desired)
    unmeasured = _unmeasured(facts, desired)
    if unmeasured:
        return _keep(facts, valid, "MetricsUnavailable", unmeasured, desired)
    served, failed = facts.memory.served, _failed(facts, desired)
    if served and failed:
        return _keep(facts, valid, "RolledBack", _rolled_back(desired, served, failed), desired, failed)
    return _apply(facts, valid, "AsExpected", "", desired, desired)


def requested_rollout(facts: Facts) -> Rollout:
    """The rollout that the resource asks for. Its configuration must have been found, its overrides must be usable."""
    spec, config = facts.resource["spec"], facts.found_config
    chosen = rollouts.placement(spec, facts.overrides)
    return {
        "image": spec["schedulerImage"],
        "config": config.hash or "",
        "flags": rollouts.flags_of(facts.resource, facts.overrides, facts.tls, _secrets(facts)),
        "placement": chosen,
        "overrides": {**_command(facts), **{key: value for key, value in facts.overrides.items() if key not in ("args", *chosen)}},
        "serving_cert": facts.serving_cert,
        "health": rollouts.health(config.target.kubernetes, config.completed),
    }


def _command(facts: Facts) -> Object:
    """The command for an image whose program is not at the template's path. For others there is none, so that their rollouts stay the same.

    The name of an image can deceive: one that serves with the template's command keeps it.
    """
    image = facts.resource["spec"]["schedulerImage"]
    path = program(image, resource_names.annotations_of(facts.resource).get(PLUGINS_ANNOTATION))
    served = facts.memory.served
    has_served = served is not None and served["image"] == image and "command" not in served["overrides"]
    return {} if path == PROGRAM or has_served or rollouts.runs(facts.deployment, image, PROGRAM) else {"command": [path]}


def _secrets(facts: Facts) -> rollouts.Secrets:
    """What the configuration contains, with the URL of Prometheus that fills it."""
    config = facts.found_config
    filled = facts.source is not None and PROM_URL in config.decoded and bool(credentials_in(facts.source.url))
    return rollouts.Secrets(token=config.holds_token, password=config.holds_password or filled)


def config_valid(facts: Facts) -> Condition:
    """The condition ConfigValid: False for what the scheduler would refuse or not start with, Unknown if that cannot be determined."""
    resource, config = facts.resource, facts.config
    spec = resource.get("spec") or {}
    if not spec.get("schedulerConfig"):
        return condition("ConfigValid", "Unknown", "FieldMissing", "spec.schedulerConfig is empty.")
    problem = _config_map_name_problem(spec["schedulerConfig"])
    if problem:
        return condition("ConfigValid", "Unknown", "ConfigMapNameInvalid", problem)
    name = "{0}/{1}".format(resource["metadata"]["namespace"], spec["schedulerConfig"])
    if config is None:
        reason = "ConfigMapUnreadable" if facts.config_unreadable else "ConfigMapMissing"
        why = (facts.config_problem or "it does not exist").rstrip(".")
        return condition("ConfigValid", "Unknown", reason, f"ConfigMap {name}, key config.yaml (spec.schedulerConfig): {why}.")
    source = f"ConfigMap {name}, key config.yaml: "
    answer = config.image_answer
    if answer and not answer.valid:
        return condition("ConfigValid", "False", "ConfigInvalid", f"{source}the kube-scheduler in the image rejects it: {answer.error}")
    if config.valid is False or config.starts is False:
        return condition("ConfigValid", "False", "ConfigInvalid", _errors(source, config))
    if (
        DEFAULT_SCHEDULER_NAME in config.scheduler_names
        and resource_names.annotations_of(resource).get(resource_names.ALLOW_DEFAULT_SCHEDULER) != "true"
    ):
        message = (
            f"{source}a profile is called {DEFAULT_SCHEDULER_NAME}, by its schedulerName or since it has none: it would compete with the "
            "cluster's own scheduler for every pod. Give each profile a schedulerName of its own; if you mean it, set the annotation "
            f"{resource_names.ALLOW_DEFAULT_SCHEDULER}: 'true' on this resource."
        )
        return condition("ConfigValid", "False", "DefaultSchedulerRefused", message)
    kubeconfig = unmounted_kubeconfig(config.tree, [str(mount.get("mountPath", "")) for mount in facts.overrides.get("volumeMounts") or []])
    if kubeconfig:
        message = (
            f"{source}clientConnection.kubeconfig is {json.dumps(without_credentials(kubeconfig))}, and no volume of the scheduler's pod "
            "contains this file. Remove the field: the scheduler then uses its service account. Or mount the file with "
            "spec.unsupportedConfigOverrides.volumes and volumeMounts."
        )
        return condition("ConfigValid", "False", "ConfigInvalid", message)
    warnings = _findings(config, "warning")
    warnings = f" Warnings: {warnings}" if warnings else ""
    target = config.target
    if answer:
        return condition(
            "ConfigValid",
            "True",
            IMAGE_ACCEPTS,
            f"The kube-scheduler in the image accepts it. It was run because {target.unknown}.{warnings}",
        )
    if config.valid is None:
        return _of_unknown_image(facts, target, warnings)
    return condition("ConfigValid", "True", "AsExpected", f"Checked for {target}.{warnings}")


def _of_unknown_image(facts: Facts, target: Target, warnings: str) -> Condition:
    before = in_status(facts.resource.get("status") or {}, "ConfigValid")
    is_deployed, has_served = (False, False) if _unusable(facts, facts.resource["spec"]) else tried(facts)
    if before.get("reason") == IMAGE_ACCEPTS and is_deployed:
        return condition("ConfigValid", "True", IMAGE_ACCEPTS, before.get("message", ""))
    if has_served and not is_deployed:
        message = (
            f"The kube-scheduler in the image has already run with it. Other checks are release-independent, because {target.unknown}."
        )
        return condition("ConfigValid", "True", IMAGE_ACCEPTS, message + warnings)
    answer = f" The image itself gave no answer: {facts.image_error.rstrip('.')}." if facts.image_error else ""
    message = (
        f"Only release-independent checks are made, because {target.unknown}.{answer} The annotations {VERSION_ANNOTATION} "
        f"(such as 1.31 or openshift-4.18) and {PLUGINS_ANNOTATION} (in-tree, scheduler-plugins, or the plugins of a custom image) of this resource "
        "identify both."
    )
    return condition("ConfigValid", "Unknown", "ImageUnknown", message + warnings)


def tried(facts: Facts) -> tuple[bool, bool]:
    """Is what the resource asks for deployed, and is it the last rollout that served? Then its Deployment may have been deleted or hold another one."""
    requested = rollouts.identity(requested_rollout(facts))
    return rollouts.deployed(facts.deployment) == requested, facts.memory.served_id == requested


def _unusable(facts: Facts, spec: Object) -> Reason | None:
    """``(reason, message)`` for a resource whose fields cannot be used, None otherwise."""
    name = facts.resource["metadata"]["name"]
    if not resource_names.is_usable(name):
        message = (
            f"metadata.name is {name}; it must be at most 43 lower-case letters, digits and hyphens, to fit into the names of what is "
            "created for it. Recreate it under another name."
        )
        return "NameUnusable", message
    for field, what in (
        ("schedulerImage", "the pull specification of the scheduler's image"),
        ("schedulerConfig", "the name of a ConfigMap"),
    ):
        if not spec.get(field):
            return "FieldMissing", f"spec.{field} is empty; it must be {what}."
    problem = _config_map_name_problem(spec["schedulerConfig"])
    if problem:
        return "ConfigMapNameInvalid", problem
    problems = resource_names.value_problems(resource_names.annotations_of(facts.resource), spec["schedulerImage"])
    if problems:
        return "AnnotationInvalid", " ".join(f"The annotation {problem}" for problem in problems)
    if facts.override_problems:
        return "OverridesInvalid", " ".join(facts.override_problems)
    return None


def _config_map_name_problem(name: str) -> str:
    if not dns1123_subdomain(name):
        return ""
    return (
        f"spec.schedulerConfig is {json.dumps(name[:253])}, which cannot be the name of a ConfigMap: use at most 253 lower-case letters, digits, "
        "hyphens and dots, with a letter or digit at the beginning and at the end."
    )


def _refused(facts: Facts, valid: Condition) -> Reason | None:
    """``(reason, message)`` for a configuration that is not there or would not start, None otherwise."""
    # Unknown: the image may be valid, and only the rollout will show it.
    if valid["status"] == "False" or facts.config is None:
        return valid["reason"], valid["message"]
    return None


def _unfilled(facts: Facts) -> Reason | None:
    """``(reason, message)`` for a configuration with placeholders that nothing fills, None otherwise."""
    problem = facts.source.obstacle(facts.found_config.decoded) if facts.source is not None else ""
    return ("PrometheusUnknown", f"The settings for Prometheus are incomplete: {problem}.") if problem else None


def _unmeasured(facts: Facts, desired: Rollout) -> str:
    """Why a scheduler that depends on metrics is not deployed, empty if it may be."""
    # The load-watcher comes with the scheduler: it cannot be there before.
    errors = [finding for finding in facts.metrics or [] if finding["severity"] == "error" and finding["code"] != NO_WATCHER]
    if not errors:
        return ""
    said = findings_text(errors)
    if resource_names.annotations_of(facts.resource).get(resource_names.MONITORING_REQUIRED) == "true":
        return f"{said} There is no rollout without metrics, because of the annotation {resource_names.MONITORING_REQUIRED} says."
    silent = any(finding["code"] == "no-answer" for finding in errors)
    if silent and rollouts.deployed(facts.deployment) != rollouts.identity(desired):
        return f"{said} With such a Prometheus the scheduler would not even start, so it is not deployed."
    return ""


def findings_text(findings: Iterable[FindingData]) -> str:
    """Findings of the module prometheus_info as one text."""
    return " ".join("{0}{1}.".format(entry["message"], f": {entry['hint']}" if entry["hint"] else "") for entry in findings)


def _failed(facts: Facts, desired: Rollout) -> FailedRollout | None:
    """The record of why the desired rollout does not come to serve, None where it may be (or stay) applied."""
    memory, annotations = facts.memory, resource_names.annotations_of(facts.resource)
    wanted, retry = rollouts.identity(desired), annotations.get(resource_names.RETRY) or ""
    if annotations.get(resource_names.ROLLBACK) == resource_names.NEVER or not memory.served or memory.served_id == wanted:
        return None
    if memory.failed and memory.failed.get("id") == wanted and memory.failed.get("retry") == retry:
        return memory.failed
    failure = facts.failure
    if rollouts.deployed(facts.deployment) != wanted or not rollouts.is_failing(facts.deployment, failure) or not facts.can_restore:
        return None
    reason, message = (failure.reason, failure.message) if failure else ("ProgressDeadlineExceeded", "it was not ready in time")
    return {"id": wanted, "reason": reason, "message": message, "retry": retry}


def _rolled_back(desired: Rollout, served: Rollout, failed: FailedRollout) -> str:
    what = str(failed.get("message", "")).rstrip(".")
    config = "the same configuration" if desired["config"] == served["config"] else f"configuration {served['config']}"
    return (
        f"The rollout of image {desired['image']}, configuration {desired['config']} failed: {failed.get('reason')}: {what}. The last one that "
        f"served replaces it: image {served['image']}, {config}. The failed one is tried again when this resource or its ConfigMap changes, or for "
        f"a new value of the annotation {resource_names.RETRY}."
    )


def _replicas(facts: Facts) -> int:
    """How many replicas the resource asks for and the nodes allow."""
    wanted = rollouts.max_replicas(facts.resource.get("spec") or {})
    return wanted if facts.eligible is None else min(wanted, len(facts.eligible))


def _no_node(desired: Rollout) -> str:
    selector = desired["placement"]["nodeSelector"]
    chosen = ", ".join(f"{key}={value}" for key, value in sorted(selector.items())) or "(none)"
    return (
        f"No node is ready, schedulable and free of taints that are not tolerated, with the labels {chosen} "
        "(spec.topology.highlyAvailableTopology.nodeSelector): what runs is left as it is. Label or uncordon a node, or change the selector."
    )


def _keep(
    facts: Facts, valid: Condition, reason: str, message: str, desired: Rollout | None = None, failed: FailedRollout | None = None
) -> Decision:
    """Something is in the way: keep the last rollout that served as it was. A later one that may still come to serve is left alone."""
    memory, live = facts.memory, facts.deployment
    replaceable = failed or live is None or rollouts.deployed(live) == memory.served_id or rollouts.is_failing(live, facts.failure)
    if not memory.served or not facts.can_restore or not replaceable:
        return Decision(HOLD, reason, _with_lost_config(facts, message), valid, desired)
    return _apply(facts, valid, reason, message, desired, memory.served, failed)


def _with_lost_config(facts: Facts, message: str) -> str:
    """The message, with a warning where pods that start now run something else than was deployed."""
    if not facts.lost_config:
        return message
    return (
        f"{message.rstrip('.')}. The Secret {facts.resource['metadata']['namespace']}/{facts.lost_config} with the configuration of the running "
        "scheduler was deleted or replaced, so its pods that start now do not run what was deployed. Delete a Secret of this name that is not the "
        "operator's, and correct the problem above: then the operator creates the configuration again."
    )


def _apply(
    facts: Facts,
    valid: Condition,
    reason: str,
    message: str,
    desired: Rollout | None,
    rollout: Rollout,
    failed: FailedRollout | None = None,
) -> Application:
    secret = _secret(facts, rollout)
    serves = rollouts.serves(facts.deployment, rollout) and rollouts.configuration(facts.deployment) == secret["name"]
    memory = facts.memory
    failed = failed or _remembered(memory, rollout)
    record = rollouts.annotations_of(memory, secret["name"], facts.now, rollout if serves else None, failed)
    secret["annotations"].update(record)
    # Where no node is left for it, a scheduler stays as it is.
    replicas = _replicas(facts) or ((facts.deployment or {}).get("spec") or {}).get("replicas") or 1
    annotations = rollouts.annotations_of_deployment(memory, rollout, facts.deployment, failed)
    # What is not known is not taken away.
    prune = serves and not (facts.source is not None and facts.source.lacks(secret["template"]))
    return Application(APPLY, reason, message, valid, desired, rollout, secret, annotations, replicas, prune)


def _secret(facts: Facts, rollout: Rollout) -> ConfigSecret:
    """The Secret with a rollout's configuration, without the annotations that remember rollouts."""
    memory, source = facts.memory, facts.source
    # The text of a remembered configuration is the Secret's: the user's ConfigMap may be gone.
    kept = memory.secret if memory.served is not None and memory.served["config"] == rollout["config"] else None
    text = prometheus_access.template(kept) if kept else facts.found_config.decoded
    if kept and source is not None and source.lacks(text):
        return {
            "name": kept["metadata"]["name"],
            "annotations": prometheus_access.annotations_in(kept),
            "data": prometheus_access.decoded_data(kept),
            "template": text,
        }
    content = prometheus_access.content(rollout["config"], text, source)
    return {
        "name": resource_names.config_secret(resource_names.names_of(facts.resource), content),
        "annotations": prometheus_access.annotations_of(text, source, content),
        "data": prometheus_access.data(text, source),
        "template": text,
    }


def _remembered(memory: Memory, rollout: Rollout) -> FailedRollout | None:
    """The record of an earlier failure, as long as it is not that rollout which is tried again."""
    return memory.failed if memory.failed and memory.failed.get("id") != rollouts.identity(rollout) else None


def _errors(source: str, config: ValidationResult) -> str:
    """The errors with their places. All flags but those of the overrides are the operator's own."""
    errors = [finding for finding in config.findings if finding.severity == "error"]
    flags = [replace(finding, line=None) for finding in errors if finding.code == "flag"]
    others = [finding for finding in errors if finding.code != "flag"]
    places = ((source, others), ("spec.unsupportedConfigOverrides.args: ", flags))
    return "; ".join(place + "; ".join(map(_finding, found)) for place, found in places if found) or source


def _findings(config: ValidationResult, severity: str) -> str:
    return "; ".join(_finding(finding) for finding in config.findings if finding.severity == severity)


def _finding(finding: Finding) -> str:
    place = f"line {finding.line}: " if finding.line else ""
    path = f"{finding.path}: " if finding.path else ""
    hint = f" ({finding.hint})" if finding.hint else ""
    return place + path + finding.message + hint
