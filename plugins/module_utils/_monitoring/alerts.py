# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What alerts of given names say, such as OpenShift's KubeSchedulerDown (bindata/assets/alerts of cluster-kube-scheduler-operator). No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.findings import Finding, warning

INACTIVE, PENDING, FIRING = "inactive", "pending", "firing"
_STATES = (INACTIVE, PENDING, FIRING)


def evaluate(names: Iterable[str], rules: Iterable[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[Finding]]:
    """The state of each alert by name, as the module returns it, and its findings.

    rules: of Prometheus' ``/api/v1/rules``, all groups in one. Several rules of a name are one alert, in the state of the worst.
    """
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for rule in rules:
        by_name.setdefault(rule.get("name", ""), []).append(rule)
    reports, findings = [], []
    for name in dict.fromkeys(names):
        same = by_name.get(name, [])
        states = [rule.get("state", INACTIVE) for rule in same]
        state = max((one for one in states if one in _STATES), key=_STATES.index, default=None)
        active = [_active(alert) for rule in same for alert in rule.get("alerts") or []]
        active.sort(key=lambda one: (one["since"], sorted(one["labels"].items())))
        reports.append({"name": name, "state": state, "active": active})
        findings += _findings(name, state, active)
    return reports, findings


def _active(alert: Mapping[str, Any]) -> dict[str, Any]:
    annotations = alert.get("annotations") or {}
    text = next((annotations[key] for key in ("description", "message", "summary") if annotations.get(key)), "")
    labels = {key: value for key, value in (alert.get("labels") or {}).items() if key != "alertname"}
    return {"state": alert.get("state", ""), "since": alert.get("activeAt", ""), "labels": labels, "message": " ".join(text.split())}


def _findings(name: str, state: str | None, active: list[dict[str, Any]]) -> list[Finding]:
    if state is None:
        hint = "correct the name, or use the Prometheus with this rule: Alertmanager and Thanos can have others"
        return [warning("alert-unknown", f"Prometheus has no rule for the alert {name}", hint)]
    if state == INACTIVE:
        return []
    since = min((one["since"] for one in active if one["since"]), default="")
    said = next((one["message"] for one in active if one["message"]), "")
    message = f"The alert {name} is {state}" + (f" since {since}" if since else "") + (f": {said}" if said else "")
    return [
        warning(f"alert-{state}", message, "the playbook osso.scheduler.report shows which schedulers run, and gather collects their logs")
    ]
