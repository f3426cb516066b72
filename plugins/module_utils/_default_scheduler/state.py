# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads what there is of OpenShift's default scheduler: the work of the module default_scheduler_info."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._default_scheduler import change_plan as planning
from ansible_collections.osso.scheduler.plugins.module_utils._default_scheduler import revision_progress
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import openshift
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document import NotYaml, read
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables import openshift as table
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.releases import OpenShift
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import is_later, parse_openshift

OPERATOR_NAMESPACE = "openshift-kube-scheduler-operator"
"""Where the operator writes its events; the documentation names its event source instead, which is no namespace."""
NAMESPACE = "openshift-kube-scheduler"
CLUSTER_OPERATOR = "kube-scheduler"
CONFIG_KEY = "config.yaml"
POLL_SECONDS = 2
DEBUG_LOGGING = "osso-scheduler-debug-logging"
"""The ClusterRole that owns what ends a debug logging (roles/default_scheduler/templates)."""


def read_state(client: Client, params: dict[str, Any]) -> dict[str, Any]:
    """The result of the module for its parameters."""
    _reject_hosted(client)
    scheduler = _required(client, *planning.SCHEDULER)
    kube_scheduler = _required(client, *planning.KUBE_SCHEDULER)
    version, release = _version(client, params["openshift_version"])
    debug_logging = _debug_logging(client)
    result: dict[str, Any] = {
        "changed": False,
        "openshift_version": version,
        "scheduler": scheduler.get("spec") or {},
        "kube_scheduler": {key: value for key, value in (kube_scheduler.get("spec") or {}).items() if key != "observedConfig"},
        "profile": openshift.effective_profile((scheduler.get("spec") or {}).get("profile")),
        "policy": ((scheduler.get("spec") or {}).get("policy") or {}).get("name") or "",
        "plan": planning.plan(params["wanted"] or {}, scheduler, kube_scheduler, release, debug_logging)._asdict(),
        **_overrides(client),
        "debug_logging": debug_logging,
        "events": _events(client, params["events"]),
    }
    former = params["former"]
    result["new_revision"] = former is not None and planning.restarts(
        (former["scheduler"], former["kube_scheduler"]), (result["scheduler"], result["kube_scheduler"])
    )
    cluster_operator, kube_scheduler, judged = _wait(client, params)
    return {
        **result,
        "rollout": judged,
        "conditions": {**revision_progress.conditions(kube_scheduler), **revision_progress.conditions(cluster_operator)},
        "degraded_reasons": revision_progress.degraded_reasons(cluster_operator) + revision_progress.degraded_reasons(kube_scheduler),
        # After the wait, since the operator writes it before it makes a revision.
        "configuration": _configuration(client, scheduler, version, release),
    }


def _reject_hosted(client: Client) -> None:
    """Raise ClusterError where the control plane is not in this cluster (HyperShift): what is written here is reverted or has no effect."""
    try:
        infrastructure = _optional(client, "config.openshift.io/v1", "Infrastructure", planning.NAME) or {}
    except ApiError as error:
        if error.status != 403:
            raise
        return
    if (infrastructure.get("status") or {}).get("controlPlaneTopology") == "External":
        raise ClusterError(
            "The control plane of this cluster is hosted: status.controlPlaneTopology of Infrastructure cluster is External. Its default scheduler is "
            "configured on the management cluster, by spec.configuration.scheduler of the HostedCluster: oc patch hostedcluster NAME -n NAMESPACE "
            '--type=merge -p \'{"spec": {"configuration": {"scheduler": {"profile": "HighNodeUtilization"}}}}\'. Secondary schedulers run in this cluster.'
        )


def _required(client: Client, api_version: str, kind: str) -> dict[str, Any]:
    try:
        found = client.get(client.resource(api_version, kind), planning.NAME)
    except ApiError as error:
        if error.reason != "NotServed":
            raise
        raise ClusterError(
            f"The API server does not know {kind} ({api_version}), so this is no OpenShift with a kube-scheduler operator. On another Kubernetes the "
            "default scheduler is a static pod of the control plane: use the playbook osso.scheduler.default_scheduler_static_pod."
        ) from None
    if found is None:
        raise ClusterError(
            f"There is no {kind} {planning.NAME}, which OpenShift makes when it is installed: create it, as without it the operator fails."
        )
    return found


def _optional(client: Client, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
    try:
        return client.get(client.resource(api_version, kind), name, namespace)
    except ApiError as error:
        if error.status == 404:
            return None
        raise


def _version(client: Client, given: str | None) -> tuple[str, OpenShift | None]:
    if is_later(parse_openshift(given or "")):
        given = None
    live = given
    if not live:
        found = _optional(client, "config.openshift.io/v1", "ClusterVersion", "version") or {}
        live = ((found.get("status") or {}).get("desired") or {}).get("version") or ""
    try:
        return live, openshift.release_of(live)
    except openshift.UnknownRelease as error:
        if given:
            raise ClusterError(f"openshift_version: {error}.") from None
        return live, None


def _overrides(client: Client) -> dict[str, list[Any]]:
    """``unmanaged``: what of the operator the cluster-version operator leaves alone. ``other_overrides``: those that an apply of one would delete.

    Before OpenShift 4.15 the list is one value, which an apply replaces. The fields of its managers show it: a list that is merged has keys there.
    """
    live = _optional(client, "config.openshift.io/v1", "ClusterVersion", "version") or {}
    found = (live.get("spec") or {}).get("overrides") or []
    owned = [
        ((entry.get("fieldsV1") or {}).get("f:spec") or {}).get("f:overrides")
        for entry in live.get("metadata", {}).get("managedFields") or []
    ]
    merged = any(owned)
    return {
        "unmanaged": [
            f"{one.get('kind')} {one.get('namespace')}/{one.get('name')}"
            for one in found
            if one.get("unmanaged") and one.get("namespace") in (OPERATOR_NAMESPACE, NAMESPACE)
        ],
        # The Deployment has the name of its namespace.
        "other_overrides": []
        if merged
        else [
            one
            for one in found
            if [one.get(key) for key in ("kind", "namespace", "name")] != ["Deployment", OPERATOR_NAMESPACE, OPERATOR_NAMESPACE]
        ],
    }


def _debug_logging(client: Client) -> dict[str, Any]:
    """What the role default_scheduler has noted where it raised the log level for a time, and whether that is going on."""
    found = job = None
    try:
        found = _optional(client, "rbac.authorization.k8s.io/v1", "ClusterRole", DEBUG_LOGGING)
        if found is not None:
            job = _optional(client, "batch/v1", "Job", DEBUG_LOGGING, DEBUG_LOGGING)
    except ApiError as error:
        if error.status != 403:
            raise
    return debug_logging_of(found, job, time.time())


def debug_logging_of(found: dict[str, Any] | None, job: dict[str, Any] | None, now: float) -> dict[str, Any]:
    """What the ClusterRole notes. It is ``active`` as long as its end is to come (``now`` in seconds) and the Job is there that lowers the level."""
    noted = ((found or {}).get("metadata") or {}).get("annotations") or {}
    end = noted.get("osso.scheduler/until", "")
    return {
        "active": job is not None and end.isdecimal() and int(end) > now,
        "noted": found is not None,
        "name": DEBUG_LOGGING,
        "level": noted.get("osso.scheduler/log-level", ""),
        "back_to": noted.get("osso.scheduler/back-to", ""),
        "until": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(end))) if end.isdecimal() else "",
    }


def _events(client: Client, limit: int) -> list[dict[str, Any]]:
    """The latest events of the operator, the oldest of them first."""
    if not limit:
        return []
    found = client.list(client.resource("v1", "Event"), OPERATOR_NAMESPACE)
    told = [
        {
            "time": one.get("lastTimestamp") or one.get("eventTime") or one["metadata"].get("creationTimestamp") or "",
            "type": one.get("type", ""),
            "reason": one.get("reason", ""),
            "message": one.get("message", ""),
        }
        for one in found
    ]
    return sorted(told, key=lambda event: event["time"])[-limit:]


def _wait(client: Client, params: Mapping[str, Any]) -> tuple[Object | None, Object, dict[str, Any]]:
    """The state of the rollout, at its end, at its next step, or when the time is over."""
    deadline = time.monotonic() + params["wait_timeout"]
    while True:
        cluster_operator = _optional(client, "config.openshift.io/v1", "ClusterOperator", CLUSTER_OPERATOR)
        kube_scheduler = _required(client, *planning.KUBE_SCHEDULER)
        judged = revision_progress.evaluate(cluster_operator, kube_scheduler, params["after_revision"])
        is_news = params["known_progress"] is not None and judged["message"] != params["known_progress"]
        if judged["complete"] or is_news or time.monotonic() >= deadline:
            return cluster_operator, kube_scheduler, judged
        time.sleep(min(POLL_SECONDS, max(0.1, deadline - time.monotonic())))


def _configuration(client: Client, scheduler: Object, version: str, release: OpenShift | None) -> dict[str, Any]:
    """What the profile yields, what there is, and what is different."""
    spec = scheduler.get("spec") or {}
    allocation = (spec.get("profileCustomizations") or {}).get("dynamicResourceAllocation") == "Enabled"
    allocation = allocation or (release == table.DRA[1] and _gate_is_on(client, "DynamicResourceAllocation", version))
    expected, reason = None, ""
    try:
        expected = openshift.rendered(str(release or version or "unknown"), spec.get("profile"), allocation)
    except openshift.UnknownRelease as error:
        reason = f"{error}."
    config_map = _optional(client, "v1", "ConfigMap", "config", NAMESPACE) or {}
    text = (config_map.get("data") or {}).get(CONFIG_KEY)
    live = _parsed(text)
    if text is None:
        reason = reason or f"There is no ConfigMap {NAMESPACE}/config with the key {CONFIG_KEY}."
    different = openshift.differences(expected, live) if expected is not None and text is not None else []
    return {
        "expected": expected,
        "live": live,
        "matches": None if reason else not different,
        "differences": different,
        "reason": reason,
    }


def _gate_is_on(client: Client, gate: str, version: str) -> bool:
    found = _optional(client, "config.openshift.io/v1", "FeatureGate", planning.NAME) or {}
    for entry in (found.get("status") or {}).get("featureGates") or []:
        if entry.get("version") == version:
            return gate in [one.get("name") for one in entry.get("enabled") or []]
    return False


def _parsed(text: str | None) -> Any:
    """The document; the text itself where it is none."""
    if text is None:
        return None
    try:
        return read(text)
    except NotYaml:
        return text
