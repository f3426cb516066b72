# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status of a SecondaryScheduler after a reconcile, in the shape of OpenShift's operators (openshift/api, operator/v1 OperatorStatus)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.conditions import in_status
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.deployments import progress
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.pod_failures import Failure
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import PERIOD_ANNOTATION
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import Duration
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.findings import FindingData
from ansible_collections.osso.scheduler.plugins.module_utils._operand import resource_names
from ansible_collections.osso.scheduler.plugins.module_utils._operand import rollout as rollouts
from ansible_collections.osso.scheduler.plugins.module_utils._operand.decision import (
    APPLY,
    HOLD,
    REMOVE,
    Application,
    Decision,
    Reason,
    findings_text,
)
from ansible_collections.osso.scheduler.plugins.module_utils._operand.operator_conditions import (
    SEE_DEGRADED,
    Condition,
    condition,
    with_time,
)
from ansible_collections.osso.scheduler.plugins.module_utils._operand.plugin_requirements import Missing

# Seconds after which Prometheus is asked again: no event reports that a metric has disappeared. And nodes are counted again.
METRICS_LOOK, NODES_LOOK = 120, 30

# Seconds after which the operator reconciles without an event: --reconcile-period in operator/Containerfile.
_OWN_LOOK = 600

# Seconds until the first look at what has just begun to be missing, at pods that have just been replaced, and at what is being deleted.
_LOOK, _ROLLOUT_LOOK, _REMOVAL_LOOK = 10, 5, 1

_MINUTE = 60

# Seconds between two looks, whichever resources they are at: a reconcile takes up to about one second of CPU time.
_SHARE = 5

REMOVING, ROLLING_OUT = "Removing", "RollingOut"

MANY = _OWN_LOOK // _SHARE
"""So many resources that none is looked at more often than all are."""


class Outcome(NamedTuple):
    """What a reconcile came to.

    deployment: the one that the decision was made on, or what the apply replaced it with, or None; newer: as it was after the apply, None if unknown.
    failure: of its newest pods. error: why the apply failed, "" otherwise. removing: what holds that which is being deleted, "" if nothing does.
    names: scheduler names that are served. unique: the condition SchedulerNamesUnique. missing: what plugins lack, see
    operand/plugin_requirements.py; None where they need nothing. metrics: findings of the module prometheus_info, None where no plugin asks
    Prometheus. renew: seconds until the renewal of a token. is_config_unwatched: does nothing trigger a reconcile at the next edit of the ConfigMap,
    or of its creation? resources: how many SecondarySchedulers the operator looks after. additions: to pod templates, see the module apply.
    """

    resource: Object
    decision: Decision
    deployment: Object | None = None
    newer: Object | None = None
    failure: Failure | None = None
    error: str = ""
    removing: str = ""
    names: tuple[str, ...] = ()
    unique: Condition | None = None
    missing: list[Missing] | None = None
    metrics: list[FindingData] | None = None
    renew: int | None = None
    is_config_unwatched: bool = False
    resources: int = 1
    overridden: bool = False
    additions: tuple[Mapping[str, Any], ...] = ()
    now: str = ""


def report(outcome: Outcome) -> Object:
    """The status. A condition keeps its lastTransitionTime while its status stays the same."""
    resource, deployment, decision = outcome.resource, outcome.deployment, outcome.decision
    before = resource.get("status") or {}
    live = (deployment or {}).get("status") or {}
    conditions = [
        _available(decision, deployment, live),
        _progressing(outcome),
        _degraded(outcome, live),
        decision.config_valid,
        _upgradeable(outcome),
        outcome.unique or condition("SchedulerNamesUnique", "True", "AsExpected"),
    ]
    if outcome.missing is not None:
        conditions.append(_plugins_ready(outcome.missing))
    if outcome.metrics is not None:
        conditions.append(_metrics_available(outcome.metrics))
    if outcome.additions:
        conditions.append(_as_declared(outcome.additions))
    unknown = resource_names.unknown_annotations(resource_names.annotations_of(resource))
    if unknown:
        message = f"The operator ignores annotations that it does not know: {', '.join(unknown)}. Correct or remove them."
        conditions.append(condition("AnnotationsKnown", "False", "AnnotationUnknown", message))
    status: Object = {
        "observedGeneration": resource["metadata"]["generation"],
        "readyReplicas": live.get("readyReplicas", 0),
        "schedulerNames": list(outcome.names if _is_as_decided(outcome) else before.get("schedulerNames") or ()),
        "conditions": [with_time(entry, before, outcome.now) for entry in _without_repetition(conditions)],
    }
    if deployment:
        metadata = deployment["metadata"]
        generation: Object = {
            "group": "apps",
            "resource": "deployments",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "lastGeneration": metadata["generation"],
        }
        config_hash = _config_hash(outcome, before)
        if config_hash:
            generation["hash"] = config_hash
        status["generations"] = [generation]
    return status


def next_look(outcome: Outcome, status: Object) -> str:
    """When the operator has to look again by itself, such as ``5s``; "" where it learns of every change that matters."""
    looks = list(_looks(outcome, status)) if outcome.decision.action in (APPLY, HOLD) or outcome.removing or outcome.error else []
    return f"{min(looks)}s" if looks else ""


def _looks(outcome: Outcome, status: Object) -> Iterator[int]:
    """Seconds until each look that something is a reason for."""
    decision, age, resources = outcome.decision, unchanged_for(status, outcome.now), outcome.resources
    if outcome.newer and _end(outcome.newer) != _end(outcome.deployment):
        yield 1  # the rollout has come to an end since the decision, which is not always an event for the operator
    if in_status(status, "Progressing").get("status") == "True":
        # Pods that cannot start change no object that the operator watches.
        yield backoff(age, _REMOVAL_LOOK if outcome.removing else _ROLLOUT_LOOK, resources)
    # No event reports that these exist now: the ConfigMap, what is named of Prometheus, what plugins need
    if (
        outcome.is_config_unwatched
        or decision.reason in ("PrometheusUnknown", "MetricsUnavailable")
        or in_status(status, "PluginsReady").get("status") == "False"
        or outcome.error
    ):
        yield backoff(age, max(_LOOK, resources), resources)
    if rollouts.is_highly_available(outcome.resource.get("spec") or {}):
        yield min(max(NODES_LOOK, _SHARE * resources), _OWN_LOOK)
    if outcome.metrics is not None:
        yield min(max(METRICS_LOOK, _SHARE * resources), _OWN_LOOK)
    if outcome.renew is not None and outcome.renew < _period(outcome.resource):
        yield max(outcome.renew, 1)


def _period(resource: Object) -> float:
    """Seconds after which the operator reconciles this resource without an event; infinite where it does not."""
    text = resource_names.annotations_of(resource).get(PERIOD_ANNOTATION)
    if text is None:
        return _OWN_LOOK
    try:
        period = Duration.parse(text) / 10**9
    except ValueError:
        return _OWN_LOOK
    return period if period > 0 else math.inf


def _end(deployment: Object | None) -> tuple[bool, bool]:
    """How a rollout has come to an end, if it has."""
    return rollouts.is_complete(deployment), rollouts.is_overdue(deployment)


def backoff(age: int, least: int = _LOOK, resources: int = 1) -> int:
    """Seconds until the next look at a state that has lasted for ``age`` seconds: about as long again.

    It is never less than ``least``, and no more than a minute, or than what keeps the looks at so many ``resources`` together from taking more
    than about a fifth of a processor: one that is broken never keeps the operator from the others.
    """
    return min(max(age, least), max(_MINUTE, _SHARE * resources), _OWN_LOOK)


def unchanged_for(status: Object, now: str) -> int:
    """Seconds since a condition of this status changed last."""
    ages = [age for entry in status["conditions"] if (age := _age(entry.get("lastTransitionTime"), now)) is not None]
    return max(int(min(ages)), 0) if ages else 0


def _age(text: str | None, now: str) -> float | None:
    """Seconds since a time, None for one that someone else wrote in another form."""
    try:
        return timestamps.seconds_between(text, now)
    except ValueError:
        return None


def _is_as_decided(outcome: Outcome) -> bool:
    """False if the rollout could not be applied: what was applied before remains."""
    decision = outcome.decision
    return not (
        outcome.error and isinstance(decision, Application) and rollouts.deployed(outcome.deployment) != rollouts.identity(decision.rollout)
    )


def _config_hash(outcome: Outcome, before: Object) -> str | None:
    if isinstance(outcome.decision, Application) and _is_as_decided(outcome):
        return outcome.decision.rollout["config"]
    return next((entry.get("hash") for entry in before.get("generations") or []), None)


def _available(decision: Decision, deployment: Object | None, live: Object) -> Condition:
    if live.get("availableReplicas"):
        # During a rollout there are more pods than are wanted.
        wanted = (progress(deployment).wanted if deployment else 0) or live.get("replicas", 0)
        message = f"{min(live['availableReplicas'], wanted)} of {wanted} replicas are available."
        return condition("Available", "True", "AsExpected", message)
    if decision.action in (REMOVE, HOLD):
        return condition("Available", "False", decision.reason, decision.message)
    if deployment is None:
        return condition("Available", "False", "NoDeployment", "There is no Deployment.")
    return condition("Available", "False", "NoReplicaAvailable", "No replica of the scheduler is ready yet.")


def _progressing(outcome: Outcome) -> Condition:
    decision, deployment = outcome.decision, outcome.deployment
    if outcome.error:
        return condition("Progressing", "False", "ApplyFailed", outcome.error)
    if outcome.removing:
        return condition("Progressing", "True", REMOVING, outcome.removing)
    # A rollout that began before there was an obstacle goes on.
    if deployment is None or (decision.action != APPLY and not _is_rolling_out(outcome)):
        return condition("Progressing", "False", decision.reason, decision.message)
    if rollouts.is_complete(deployment):
        if decision.is_kept:
            return condition("Progressing", "False", decision.reason, decision.message)
        if outcome.additions:
            message = "All replicas run the pod template of the Deployment, which others change: see the condition PodTemplateAsDeclared."
            return condition("Progressing", "False", "AsExpected", message)
        return condition("Progressing", "False", "AsExpected", "All replicas run the declared configuration.")
    # Crashes of one that nothing has recorded as served lead to a rollback, and are no event for the operator.
    is_recorded = not isinstance(decision, Application) or rollouts.is_recorded(decision.secret["annotations"], decision.rollout)
    if outcome.failure and rollouts.has_served(deployment) and is_recorded:
        return condition(
            "Progressing", "False", outcome.failure.reason, "The rollout is complete, but not all of its replicas are available any more."
        )
    if rollouts.is_overdue(deployment):
        return condition("Progressing", "False", "ProgressDeadlineExceeded", _deadline(deployment))
    found = progress(deployment)
    message = f"{found.updated if found.observed else 0} of {found.wanted} replicas updated, {found.available} available."
    if deployment["spec"].get("paused"):
        metadata = deployment["metadata"]
        resume = f"kubectl rollout resume deployment/{metadata['name']} -n {metadata['namespace']}"
        message += f" The rollout is paused (spec.paused of the Deployment): continue it with {resume}."
    return condition("Progressing", "True", "RollingBack" if decision.reason == "RolledBack" else ROLLING_OUT, message)


def _is_rolling_out(outcome: Outcome) -> bool:
    """Is something held whose pods are still to come?"""
    deployment = outcome.deployment
    return outcome.decision.action == HOLD and not (
        rollouts.is_complete(deployment) or rollouts.has_served(deployment) or rollouts.is_overdue(deployment)
    )


def _degraded(outcome: Outcome, live: Object) -> Condition:
    decision = outcome.decision
    if outcome.error:
        return condition("Degraded", "True", "ApplyFailed", outcome.error)
    found = _failing(outcome, live)
    if decision.action == HOLD or decision.is_kept:
        also = " The present pods fail, too: {0}: {1}".format(*found) if found else ""
        return condition("Degraded", "True", decision.reason, decision.message + also)
    return condition("Degraded", "True", *found) if found else condition("Degraded", "False", "AsExpected")


def _failing(outcome: Outcome, live: Object) -> Reason | None:
    """What is wrong with the pods that the Deployment has or is to have, None if nothing is known."""
    if outcome.failure:
        return outcome.failure.reason, outcome.failure.message
    refused = in_status(live, "ReplicaFailure")
    if refused.get("status") == "True":
        return refused.get("reason", "ReplicaFailure"), refused.get("message", "")
    deployment = outcome.deployment
    if deployment and rollouts.is_overdue(deployment) and not rollouts.is_complete(deployment):
        return "ProgressDeadlineExceeded", _deadline(deployment)
    return None


def _deadline(deployment: Object) -> str:
    return f"The rollout made no progress for {deployment['spec'].get('progressDeadlineSeconds', 600)} s."


def _without_repetition(conditions: list[Condition]) -> list[Condition]:
    """The conditions, of which those that follow from Degraded refer to it."""
    degraded = next(entry for entry in conditions if entry["type"] == "Degraded")
    if degraded["status"] != "True":
        return conditions
    return [
        {**entry, "message": SEE_DEGRADED}
        if entry is not degraded and entry["message"] and entry["message"] in degraded["message"]
        else entry
        for entry in conditions
    ]


def _upgradeable(outcome: Outcome) -> Condition:
    if outcome.overridden:
        return condition(
            "Upgradeable",
            "False",
            "UnsupportedConfigOverrides",
            "spec.unsupportedConfigOverrides is set: whether it fits a later release of the operator has to be checked first.",
        )
    if outcome.decision.config_valid["status"] == "False":
        return condition(
            "Upgradeable", "False", outcome.decision.config_valid["reason"], "No scheduler runs with the declared configuration."
        )
    return condition("Upgradeable", "True", "AsExpected")


def _plugins_ready(missing: Sequence[Missing]) -> Condition:
    if not missing:
        return condition("PluginsReady", "True", "AsExpected", "The requirements of the enabled plugins are met.")
    return condition("PluginsReady", "False", missing[0]["reason"], " ".join(entry["message"] for entry in missing))


def _as_declared(additions: Sequence[Mapping[str, Any]]) -> Condition:
    replaced = [one for one in additions if "declared" in one]
    added = [one for one in additions if one not in replaced]
    messages = []
    if added:
        said = _fields((one, f"by field manager {one['manager']}" if one["manager"] else "by mutating admission") for one in added)
        messages.append(
            f"Others add to a pod template, and again at once after the operator removed it: {said}. It is left there. Change what adds it, or "
            "exempt this namespace; then remove the field, or change this resource."
        )
    if replaced:
        said = _fields((one, f"declared {one['declared']}, " + (f"live {one['live']}" if one["live"] else "removed")) for one in replaced)
        messages.append(
            f"Mutating admission changes a pod template in each write: {said}. Change the policy or webhook, or exempt this namespace; then change "
            "this resource."
        )
    return condition("PodTemplateAsDeclared", "False", "FieldsAdded" if added else "FieldsReplaced", " ".join(messages))


def _fields(found: Iterable[tuple[Mapping[str, Any], str]]) -> str:
    """The places of pairs of an addition and what is reported of it, as one text."""
    return "; ".join(f"Deployment {one['namespace']}/{one['name']}: {one['field']}, {what}" for one, what in found)


def _metrics_available(findings: Sequence[FindingData]) -> Condition:
    errors = [finding for finding in findings if finding["severity"] == "error"]
    if not errors:
        said = findings_text(findings) if findings else "Prometheus has what the enabled plugins need, for every node."
        return condition("MetricsAvailable", "True", "AsExpected", said)
    reason = re.sub(r"(?:^|-)([a-z])", lambda match: match[1].upper(), errors[0]["code"])
    return condition("MetricsAvailable", "False", reason, findings_text(findings))
