# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Conditions as metrics of the operator: one gauge per SecondaryScheduler and condition.

The ansible-operator runner takes metrics by POST and shows them among its own. What it can do (internal/ansible/metrics of
ansible-operator-plugins 1.42): one metric without labels per request; a gauge can be set to anything but 0, and be
incremented; no metric ever goes away. So condition, namespace and name stand in the metric's name (the operator's
ServiceMonitor makes labels of them), 0 is -1 incremented, and a deleted resource leaves its gauges at -1 until the
operator restarts.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.osso.scheduler.plugins.module_utils._operand.operator_conditions import Condition
from ansible_collections.osso.scheduler.plugins.module_utils._operand.resource_names import Names

# Set only in the operator's image. Without it, no metrics are exposed.
ADDRESS = "OPERATOR_METRICS"
# The runner's table of metrics is not made for two at once: a first POST of a metric that meets another may end the process.
# Not in the folder of tempfile, which each fork of a module has for itself.
LOCK = "/tmp/osso-scheduler-metrics.lock"
TIMEOUT = 2

NAME = "osso_secondaryscheduler_condition"
HELP = "A condition of a SecondaryScheduler: 1 True, 0 False, -1 Unknown, not wanted (Removed) or deleted."
TYPES = (
    "Available",
    "Progressing",
    "Degraded",
    "ConfigValid",
    "Upgradeable",
    "SchedulerNamesUnique",
    "PluginsReady",
    "MetricsAvailable",
    "PodTemplateAsDeclared",
    "AnnotationsKnown",
)
VALUES = {"True": 1, "False": 0}
UNKNOWN = -1

Gauge = dict[str, Any]
"""The body of a request: ``name``, ``description``, and as ``gauge`` what to do to it."""


def post(names: Names, conditions: Sequence[Condition] | None) -> str | None:
    """Hand the conditions of one SecondaryScheduler to the runner, as its status holds them.

    ``names`` has its ``namespace`` and ``name``. Returns why that failed, or None; never raises for it.
    """
    if not conditions:
        return None
    # A condition that has gone would keep its last value.
    return _send(payloads(names, {**dict.fromkeys(TYPES, UNKNOWN), **{entry["type"]: _value(entry) for entry in conditions}}))


def forget(names: Names) -> str | None:
    """Remove the metrics of a deleted SecondaryScheduler; returns as `post`."""
    return _send(payloads(names, dict.fromkeys(TYPES, UNKNOWN)))


def payloads(names: Names, values: Mapping[str, int]) -> list[Gauge]:
    """The bodies of the requests, in their order, that give the gauges of one SecondaryScheduler these values by condition type."""
    bodies = []
    for kind, value in values.items():
        # Namespaces and names hold no colon; namespaces hold no dot either, so no two resources share a metric.
        metric = ":".join([NAME, kind, names["namespace"], names["name"].replace(".", ":")])
        bodies.append(_gauge(metric, set=value or UNKNOWN))
        if value == 0:
            bodies.append(_gauge(metric, increment=True))
    return bodies


def _value(condition: Condition) -> int:
    return UNKNOWN if condition.get("reason") == "Removed" else VALUES.get(condition["status"], UNKNOWN)


def _gauge(metric: str, **action: Any) -> Gauge:
    return {"name": metric, "description": HELP, "gauge": action}


def _send(bodies: list[Gauge]) -> str | None:
    address = os.environ.get(ADDRESS)
    if not address or not bodies:
        return None
    url = urlsplit(address)
    connection = HTTPConnection(url.hostname or "", url.port, timeout=TIMEOUT)
    try:
        with open(LOCK, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for body in bodies:
                connection.request("POST", url.path, json.dumps(body), {"Content-Type": "application/json"})
                answer = connection.getresponse()
                text = answer.read().decode("utf-8", "replace").strip()
                if answer.status != 200:
                    return f"{address} did not take {body['name']}: {answer.status} {text}"
    except (OSError, HTTPException) as error:
        return f"{address} did not take metrics: {error}"
    finally:
        connection.close()
    return None
