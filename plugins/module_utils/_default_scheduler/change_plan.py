# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is to be written to OpenShift's Scheduler and KubeScheduler, and what speaks against it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.openshift import (
    effective_profile,
    has_dynamic_resource_allocation,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.openshift import DRA
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.releases import OpenShift

SCHEDULER = ("config.openshift.io/v1", "Scheduler")
KUBE_SCHEDULER = ("operator.openshift.io/v1", "KubeScheduler")
NAME = "cluster"

# option of the role: kind, path in spec
FIELDS = {
    "profile": (SCHEDULER, ("profile",)),
    "dynamic_resource_allocation": (SCHEDULER, ("profileCustomizations", "dynamicResourceAllocation")),
    "masters_schedulable": (SCHEDULER, ("mastersSchedulable",)),
    "default_node_selector": (SCHEDULER, ("defaultNodeSelector",)),
    "log_level": (KUBE_SCHEDULER, ("logLevel",)),
    "operator_log_level": (KUBE_SCHEDULER, ("operatorLogLevel",)),
    "force_redeployment_reason": (KUBE_SCHEDULER, ("forceRedeploymentReason",)),
    "failed_revision_limit": (KUBE_SCHEDULER, ("failedRevisionLimit",)),
    "succeeded_revision_limit": (KUBE_SCHEDULER, ("succeededRevisionLimit",)),
    "unsupported_config_overrides": (KUBE_SCHEDULER, ("unsupportedConfigOverrides",)),
}


class Plan(NamedTuple):
    """``manifests``: for the module apply; ``refusals`` and ``warnings``: texts; ``new_revision``: whether the operator makes one of it."""

    manifests: list[dict[str, Any]]
    refusals: list[str]
    warnings: list[str]
    new_revision: bool


def plan(
    wanted: dict[str, Any],
    scheduler: dict[str, Any],
    kube_scheduler: dict[str, Any],
    release: OpenShift | None,
    debug_logging: dict[str, Any] | None = None,
) -> Plan:
    """``wanted``: options of FIELDS (None: not said), ``clear_policy`` and ``i_understand_unsupported_overrides``.

    ``scheduler``, ``kube_scheduler``: as the API server returns them; ``release``: of OpenShift, None where it is not known.
    ``debug_logging``: as the module default_scheduler_info returns it.
    """
    refusals, warnings = [], []
    wanted = {key: value for key, value in wanted.items() if value is not None}
    policy = (_spec(scheduler).get("policy") or {}).get("name") or ""
    if policy and not wanted.get("clear_policy"):
        refusals.append(
            f"Scheduler {NAME}: spec.policy.name is {policy}. OpenShift 4.10 removed policies, and the operator creates no configuration while "
            "one is named: set default_scheduler_clear_policy to true, and default_scheduler_profile to the profile that replaces it."
        )
    allocation = wanted.get("dynamic_resource_allocation")
    if allocation is not None and release is not None and not has_dynamic_resource_allocation(release):
        del wanted["dynamic_resource_allocation"]
        if release < DRA[0]:
            refusals.append(
                f"default_scheduler_dynamic_resource_allocation is {allocation}, but OpenShift {release} has no such customization: it came with {DRA[0]}. "
                "Leave it out."
            )
        else:
            warnings.append(
                f"default_scheduler_dynamic_resource_allocation is {allocation}, which does nothing since OpenShift 4.21, where dynamic resource allocation "
                f"is on by itself: it is not written to this {release}. Leave it out."
            )
    elif allocation == "Enabled":
        warnings.append(
            "default_scheduler_dynamic_resource_allocation is Enabled: up to OpenShift 4.20 that is a technology preview. With the feature set "
            "TechPreviewNoUpgrade, which it needs, the cluster cannot be upgraded any more."
        )
    if wanted.get("unsupported_config_overrides") and not wanted.get("i_understand_unsupported_overrides"):
        refusals.append(
            "default_scheduler_unsupported_config_overrides is set. Red Hat does not support a cluster with that, and it blocks upgrades: set "
            "default_scheduler_i_understand_unsupported_overrides to true if you mean it."
        )
    raised = debug_logging or {}
    if raised.get("active") and "log_level" in wanted:
        # It would end the debug logging, and be lowered twice.
        level = wanted.pop("log_level")
        if level != raised["back_to"]:
            warnings.append(
                f"default_scheduler_log_level is {level}, but the log level is {raised['level']} for a time and goes back to {raised['back_to']} at "
                f"{raised['until']}: it is not written before. End that with osso.scheduler.revert to have it at once."
            )
    manifests = _manifests(wanted, "policy" in _spec(scheduler))
    if wanted.get("log_level") == "TraceAll":
        warnings.append("default_scheduler_log_level is TraceAll, which is -v=10: every score of every node is logged for each pod.")
    return Plan(manifests, refusals, warnings, _new_revision(wanted, scheduler, kube_scheduler))


def _manifests(wanted: Mapping[str, Any], has_policy: bool) -> list[Object]:
    specs: dict[tuple[str, str], dict[str, Any]] = {}
    for option, (kind, path) in FIELDS.items():
        if option in wanted:
            place = specs.setdefault(kind, {})
            for step in path[:-1]:
                place = place.setdefault(step, {})
            place[path[-1]] = wanted[option]
    if wanted.get("clear_policy") and has_policy:
        # The field cannot go as long as someone else owns it, and an empty name is as good as none.
        specs.setdefault(SCHEDULER, {})["policy"] = {"name": ""}
    return [
        {"apiVersion": api_version, "kind": kind, "metadata": {"name": NAME}, "spec": spec} for (api_version, kind), spec in specs.items()
    ]


def _new_revision(wanted: Mapping[str, Any], scheduler: Object, kube_scheduler: Object) -> bool:
    """Whether these options change what kube-scheduler is started with."""
    after: dict[tuple[str, str], dict[str, Any]] = {SCHEDULER: dict(_spec(scheduler)), KUBE_SCHEDULER: dict(_spec(kube_scheduler))}
    for option, (kind, path) in FIELDS.items():
        if option in wanted:
            after[kind][path[0]] = wanted[option] if len(path) == 1 else {path[1]: wanted[option]}
    return restarts((_spec(scheduler), _spec(kube_scheduler)), (after[SCHEDULER], after[KUBE_SCHEDULER]))


def restarts(before: tuple[dict[str, Any], dict[str, Any]], after: tuple[dict[str, Any], dict[str, Any]]) -> bool:
    """Whether the operator makes a new revision between these specs of Scheduler and KubeScheduler.

    Which nodes take pods and how verbose the operator is make none.
    """
    return _started_with(*before) != _started_with(*after)


def _started_with(scheduler: Object, kube_scheduler: Object) -> tuple[Any, ...]:
    return (
        effective_profile(scheduler.get("profile")),
        (scheduler.get("profileCustomizations") or {}).get("dynamicResourceAllocation") or "Disabled",
        kube_scheduler.get("logLevel") or "Normal",
        kube_scheduler.get("forceRedeploymentReason") or "",
        kube_scheduler.get("unsupportedConfigOverrides") or {},
    )


def _spec(resource: Object) -> dict[str, Any]:
    return resource.get("spec") or {}
