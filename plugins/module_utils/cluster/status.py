# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a SecondaryScheduler asks for, and what its status says: pure functions over objects as the API server returns them.

The shape of the status is that of OpenShift's operators (openshift/api, operator/v1 OperatorStatus).
"""

from __future__ import annotations

import re

# `secondary-scheduler-NAME` has to be a DNS label.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,41}[a-z0-9])?")


def decide(resource, config=None):
    """What one reconcile of the SecondaryScheduler `resource` does.

    ``config`` is the result of the module kube_scheduler_config for its ConfigMap, or a skipped task's result.
    Returns ``{"action", "reason", "message", "prune"}``. Actions: ``apply``, ``remove``, ``leave`` (told to keep out) and ``hold``
    (cannot go on; what runs keeps running). ``reason`` is a condition's reason, ``message`` names the field and the remedy.
    ``prune`` says that this configuration is rolled out already, so that no older one is needed any more.
    """
    metadata, spec = resource["metadata"], resource.get("spec") or {}
    state = spec.get("managementState") or "Managed"
    if state == "Removed":
        return _decision("remove", "Removed", "spec.managementState is Removed.")
    if state == "Unmanaged":
        return _decision("leave", "Unmanaged", "spec.managementState is Unmanaged: the scheduler is left as it is.")
    if not _NAME.fullmatch(metadata["name"]):
        return _decision(
            "hold",
            "NameUnusable",
            "metadata.name is {0}; it must be at most 43 lower-case letters, digits and hyphens, to fit into the names of what is made "
            "for it. Create it anew under another name.".format(metadata["name"]),
        )
    for field, what in (
        ("schedulerImage", "the pull specification of the scheduler's image"),
        ("schedulerConfig", "the name of a ConfigMap"),
    ):
        if not spec.get(field):
            return _decision("hold", "FieldMissing", f"spec.{field} is empty; it must be {what}.")
    name = "{0}/{1}".format(metadata["namespace"], spec["schedulerConfig"])
    if not config or not config.get("found"):
        why = (config or {}).get("reason") or "it does not exist"
        return _decision(
            "hold", "ConfigMapMissing", "ConfigMap {0}, key config.yaml (spec.schedulerConfig): {1}.".format(name, why.rstrip("."))
        )
    if not config["valid"]:
        findings = "; ".join(_finding(finding) for finding in config["findings"] if finding["severity"] == "error")
        return _decision("hold", "ConfigInvalid", f"ConfigMap {name}, key config.yaml: {findings}")
    status = resource.get("status") or {}
    serves = [entry.get("hash") for entry in status.get("generations") or []] == [config["hash"]]
    return _decision("apply", "AsExpected", "", prune=serves and _condition(status, "Progressing").get("status") == "False")


def report(resource, decision, deployment, now, config_hash=None):
    """The status of the SecondaryScheduler `resource` after a reconcile.

    ``deployment`` is the live Deployment or None, ``now`` an RFC 3339 time, ``config_hash`` the content hash of the configuration
    that was applied (None when nothing was). A condition keeps its lastTransitionTime while its status stays the same.
    """
    before = resource.get("status") or {}
    live = (deployment or {}).get("status") or {}
    conditions = [
        _available(decision, deployment, live),
        _progressing(decision, deployment, live),
        _degraded(decision, live),
    ]
    for condition in conditions:
        old = _condition(before, condition["type"])
        same = old.get("status") == condition["status"] and old.get("lastTransitionTime")
        condition["lastTransitionTime"] = old["lastTransitionTime"] if same else now
    status = {
        "observedGeneration": resource["metadata"]["generation"],
        "readyReplicas": live.get("readyReplicas", 0),
        "conditions": conditions,
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
        config_hash = config_hash or next((entry.get("hash") for entry in before.get("generations") or []), None)
        if config_hash:
            generation["hash"] = config_hash
        status["generations"] = [generation]
    return status


def _decision(action, reason, message, prune=False):
    return {"action": action, "reason": reason, "message": message, "prune": prune}


def _finding(finding):
    place = "line {0}: ".format(finding["line"]) if finding.get("line") else ""
    path = "{0}: ".format(finding["path"]) if finding.get("path") else ""
    hint = " ({0})".format(finding["hint"]) if finding.get("hint") else ""
    return place + path + finding["message"] + hint


def _condition(status, name):
    return next((condition for condition in status.get("conditions") or [] if condition["type"] == name), {})


def _made(name, status, reason, message=""):
    return {"type": name, "status": status, "reason": reason, "message": message}


def _available(decision, deployment, live):
    if live.get("availableReplicas"):
        return _made(
            "Available", "True", "AsExpected", "{0} of {1} replicas serve.".format(live["availableReplicas"], live.get("replicas", 0))
        )
    if decision["action"] in ("remove", "hold"):
        return _made("Available", "False", decision["reason"], decision["message"])
    if deployment is None:
        return _made("Available", "False", "NoDeployment", "There is no Deployment.")
    return _made("Available", "False", "NoReplicaAvailable", "No replica of the scheduler is ready yet.")


def _progressing(decision, deployment, live):
    if decision["action"] != "apply" or deployment is None:
        return _made("Progressing", "False", decision["reason"], decision["message"])
    wanted = deployment["spec"].get("replicas", 1)
    observed = live.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    updated, available = live.get("updatedReplicas", 0), live.get("availableReplicas", 0)
    if observed and updated == available == live.get("replicas", 0) == wanted:
        return _made("Progressing", "False", "AsExpected", "All replicas run what this resource says.")
    message = f"{updated if observed else 0} of {wanted} replicas updated, {available} available."
    return _made("Progressing", "True", "RollingOut", message)


def _degraded(decision, live):
    if decision["action"] == "hold":
        return _made("Degraded", "True", decision["reason"], decision["message"])
    progressing, failure = _condition(live, "Progressing"), _condition(live, "ReplicaFailure")
    if failure.get("status") == "True":
        return _made("Degraded", "True", failure.get("reason", "ReplicaFailure"), failure.get("message", ""))
    if progressing.get("reason") == "ProgressDeadlineExceeded":
        return _made("Degraded", "True", "ProgressDeadlineExceeded", progressing.get("message", ""))
    return _made("Degraded", "False", "AsExpected")
