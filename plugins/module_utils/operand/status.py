# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status of a SecondaryScheduler after a reconcile, in the shape of OpenShift's operators (openshift/api, operator/v1 OperatorStatus)."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils.operand import rollout as rollouts
from ansible_collections.osso.scheduler.plugins.module_utils.operand.conditions import condition, dated, made
from ansible_collections.osso.scheduler.plugins.module_utils.operand.decision import APPLY, HOLD, REMOVE, Decision, said_of

# Seconds after which Prometheus is asked again: nothing tells that a metric went away.
METRICS_LOOK = 120

# Seconds after which the operator looks without being told, see watches.yaml.
_OWN_LOOK = 600


class Outcome(NamedTuple):
    """What a reconcile came to.

    deployment: the live one or None; decided_on: as it was when the decision was made. failure: of its newest pods. error: why the apply
    failed, "" otherwise. names: scheduler names that are served. unique: the condition SchedulerNamesUnique. missing: what plugins lack, see
    operand/needs.py; None where they need nothing. metrics: findings of the module prometheus_info, None where no plugin asks Prometheus.
    renew: seconds until a token has to be renewed.
    """

    resource: dict
    decision: Decision
    deployment: dict | None = None
    decided_on: dict | None = None
    failure: Any = None
    error: str = ""
    names: tuple = ()
    unique: dict | None = None
    missing: list | None = None
    metrics: list | None = None
    renew: int | None = None
    overridden: bool = False
    now: str = ""


def report(outcome: Outcome) -> dict[str, Any]:
    """The status. A condition keeps its lastTransitionTime while its status stays the same."""
    resource, deployment, decision = outcome.resource, outcome.deployment, outcome.decision
    before = resource.get("status") or {}
    live = (deployment or {}).get("status") or {}
    conditions = [
        _available(decision, deployment, live),
        _progressing(outcome, live),
        _degraded(outcome, live),
        decision.config_valid,
        _upgradeable(outcome),
        outcome.unique or made("SchedulerNamesUnique", "True", "AsExpected"),
    ]
    if outcome.missing is not None:
        conditions.append(_plugins_ready(outcome.missing))
    if outcome.metrics is not None:
        conditions.append(_metrics_available(outcome.metrics))
    status = {
        "observedGeneration": resource["metadata"]["generation"],
        "readyReplicas": live.get("readyReplicas", 0),
        "schedulerNames": list(outcome.names),
        "conditions": [dated(entry, before, outcome.now) for entry in conditions],
        "generations": [],
    }
    if deployment:
        metadata = deployment["metadata"]
        generation = {
            "group": "apps",
            "resource": "deployments",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "lastGeneration": metadata["generation"],
        }
        config_hash = _config_hash(decision, before)
        if config_hash:
            generation["hash"] = config_hash
        status["generations"] = [generation]
    return status


def next_look(outcome: Outcome, status: dict[str, Any]) -> str:
    """When the operator has to look again by itself, such as ``5s``; "" where it learns of every change that matters."""
    decision = outcome.decision
    if decision.action not in (APPLY, HOLD):
        return ""
    highly_available = rollouts.is_highly_available(outcome.resource.get("spec") or {})
    if decision.config_valid["reason"] == "ConfigMapMissing":
        return "10s"  # nothing tells that it was created
    if decision.reason in ("PrometheusUnknown", "MetricsUnavailable"):
        return "30s"  # nothing tells that they are there
    if rollouts.is_overdue(outcome.deployment) and not rollouts.is_overdue(outcome.decided_on):
        return "1s"  # the deadline has passed since the decision: the next one may go back
    if condition(status, "Progressing").get("status") == "True":
        return "5s"  # pods that cannot start change no object that the operator watches
    if condition(status, "PluginsReady").get("status") == "False":
        return "60s"
    looks = [30] if highly_available else []  # for the nodes
    looks += [METRICS_LOOK] if outcome.metrics is not None else []
    looks += [max(outcome.renew, 1)] if outcome.renew is not None and outcome.renew < _OWN_LOOK else []
    return f"{min(looks)}s" if looks else ""


def _config_hash(decision, before):
    if decision.action == APPLY:
        return decision.rollout["config"]
    return next((entry.get("hash") for entry in before.get("generations") or []), None)


def _available(decision, deployment, live):
    if live.get("availableReplicas"):
        message = "{0} of {1} replicas serve.".format(live["availableReplicas"], live.get("replicas", 0))
        return made("Available", "True", "AsExpected", message)
    if decision.action in (REMOVE, HOLD):
        return made("Available", "False", decision.reason, decision.message)
    if deployment is None:
        return made("Available", "False", "NoDeployment", "There is no Deployment.")
    return made("Available", "False", "NoReplicaAvailable", "No replica of the scheduler is ready yet.")


def _progressing(outcome, live):
    decision, deployment = outcome.decision, outcome.deployment
    if outcome.error:
        return made("Progressing", "False", "ApplyFailed", outcome.error)
    if decision.action != APPLY or deployment is None:
        return made("Progressing", "False", decision.reason, decision.message)
    if rollouts.is_complete(deployment):
        if decision.is_kept:
            return made("Progressing", "False", decision.reason, decision.message)
        return made("Progressing", "False", "AsExpected", "All replicas run what this resource says.")
    if outcome.failure and rollouts.has_served(deployment):
        return made("Progressing", "False", outcome.failure.reason, "The rollout is over, but not all of its replicas serve any more.")
    if rollouts.is_overdue(deployment):
        return made("Progressing", "False", "ProgressDeadlineExceeded", _deadline(deployment, outcome.failure))
    observed = live.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    wanted = deployment["spec"].get("replicas", 1)
    updated, available = live.get("updatedReplicas", 0) if observed else 0, live.get("availableReplicas", 0)
    message = f"{updated} of {wanted} replicas updated, {available} available."
    return made("Progressing", "True", "RollingBack" if decision.reason == "RolledBack" else "RollingOut", message)


def _degraded(outcome, live):
    decision = outcome.decision
    if outcome.error:
        return made("Degraded", "True", "ApplyFailed", outcome.error)
    if decision.action == HOLD or decision.is_kept:
        return made("Degraded", "True", decision.reason, decision.message)
    if outcome.failure:
        return made("Degraded", "True", outcome.failure.reason, outcome.failure.message)
    refused = condition(live, "ReplicaFailure")
    if refused.get("status") == "True":
        return made("Degraded", "True", refused.get("reason", "ReplicaFailure"), refused.get("message", ""))
    if rollouts.is_overdue(outcome.deployment) and not rollouts.is_complete(outcome.deployment):
        return made("Degraded", "True", "ProgressDeadlineExceeded", _deadline(outcome.deployment, None))
    return made("Degraded", "False", "AsExpected")


def _deadline(deployment, failure):
    seconds = deployment["spec"].get("progressDeadlineSeconds", 600)
    why = f": {failure.message}" if failure else "."
    return f"The rollout made no progress for {seconds} s{why}"


def _upgradeable(outcome):
    if outcome.overridden:
        return made(
            "Upgradeable",
            "False",
            "UnsupportedConfigOverrides",
            "spec.unsupportedConfigOverrides is set: whether it fits a later release of the operator has to be checked first.",
        )
    if outcome.decision.config_valid["status"] == "False":
        return made("Upgradeable", "False", outcome.decision.config_valid["reason"], "What runs is not what this resource says.")
    return made("Upgradeable", "True", "AsExpected")


def _plugins_ready(missing):
    if not missing:
        return made("PluginsReady", "True", "AsExpected", "What the enabled plugins need besides the scheduler is there.")
    return made("PluginsReady", "False", missing[0]["reason"], " ".join(entry["message"] for entry in missing))


def _metrics_available(findings):
    errors = [finding for finding in findings if finding["severity"] == "error"]
    if not errors:
        said = said_of(findings) if findings else "Prometheus has what the enabled plugins need, for every node."
        return made("MetricsAvailable", "True", "AsExpected", said)
    reason = re.sub(r"(?:^|-)([a-z])", lambda match: match[1].upper(), errors[0]["code"])
    return made("MetricsAvailable", "False", reason, said_of(findings))
