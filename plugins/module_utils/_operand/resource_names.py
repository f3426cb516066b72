# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of the objects of a SecondaryScheduler, and the annotations for settings that its spec has no field for.

The annotations that identify the contents of its image are in kube_scheduler/target.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypedDict

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.membership import ADOPTED_FROM
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.images import annotation_errors
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.similar_names import similar
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import (
    PLUGINS_ANNOTATION,
    VERSION_ANNOTATION,
    NotInTables,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import quote

FIELD_MANAGER = "osso.scheduler.operator"
FINALIZER = "osso.scheduler/clean-up"
"""Also in operator/watches.yaml, which is read by the runner."""

ROLLBACK = "osso.scheduler/rollback"
AUTOMATIC, NEVER = "Automatic", "Never"
RETRY = "osso.scheduler/retry"
"""Any text: a new one has a rollout that was rolled back tried once more."""
ALLOW_DEFAULT_SCHEDULER = "osso.scheduler/allow-default-scheduler"
ADOPT = "osso.scheduler/adopt"
CONTROLLER_IMAGE = "osso.scheduler/controller-image"

PROMETHEUS_URL = "osso.scheduler/prometheus-url"
PROMETHEUS_TOKEN = "osso.scheduler/prometheus-token"
"""``serviceaccount/NAME`` or ``secret/NAME``, in the resource's namespace."""
PROMETHEUS_TOKEN_DURATION = "osso.scheduler/prometheus-token-duration"
PROMETHEUS_TOKEN_RENEW_BEFORE = "osso.scheduler/prometheus-token-renew-before"
PROMETHEUS_CA = "osso.scheduler/prometheus-ca"
"""Name of a ConfigMap in the resource's namespace."""
LOAD_WATCHER = "osso.scheduler/load-watcher"
"""Image of the load-watcher service."""
MONITORING_REQUIRED = "osso.scheduler/monitoring-required"

PREFIX = "osso.scheduler/"
KNOWN = (
    *(VERSION_ANNOTATION, PLUGINS_ANNOTATION, ROLLBACK, RETRY, ALLOW_DEFAULT_SCHEDULER, ADOPT, ADOPTED_FROM, CONTROLLER_IMAGE),
    *(PROMETHEUS_URL, PROMETHEUS_TOKEN, PROMETHEUS_TOKEN_DURATION, PROMETHEUS_TOKEN_RENEW_BEFORE, PROMETHEUS_CA),
    *(LOAD_WATCHER, MONITORING_REQUIRED),
)
"""All annotations of a SecondaryScheduler with this prefix."""
_VALUES = {ROLLBACK: (AUTOMATIC, NEVER), **dict.fromkeys((ALLOW_DEFAULT_SCHEDULER, ADOPT, MONITORING_REQUIRED), ("true", "false"))}

ROLLOUT = "osso.scheduler/rollout"
"""On the Deployment: the identity of the rollout that it holds."""

# The runner's: edits of what carries them start a reconcile of the resource that they name.
PRIMARY_RESOURCE = "operator-sdk/primary-resource"
PRIMARY_RESOURCE_TYPE = "operator-sdk/primary-resource-type"

# The longest name of what is made: <workload>-config-<hash>, in a label of at most 63 characters.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,41}[a-z0-9])?")


class Names(TypedDict):
    """Of a SecondaryScheduler and of what is made for it: see `names_of`.

    workload: of Deployment, ServiceAccount, Lease and more. set: of the apply set. cluster: of cluster-scoped objects. prometheus: of the Role for
    Prometheus. controller: of the Deployment of the plugins' controller.
    """

    name: str
    namespace: str
    workload: str
    set: str
    cluster: str
    service: str
    prometheus: str
    serving_secret: str
    controller: str
    load_watcher: str


class Owner(TypedDict):
    """The option ``owner`` of the module apply."""

    apiVersion: str
    kind: str
    name: str
    namespace: str
    uid: str


def value_problems(annotations: Mapping[str, str], image: str) -> list[str]:
    """What is wrong with the values of annotations; ``image``: of the scheduler."""
    found = [
        f"{key} is {quote(annotations[key])}; it must be {' or '.join(allowed)}."
        for key, allowed in _VALUES.items()
        if annotations.get(key, "") not in ("", *allowed)
    ]
    # The image itself can answer for a release that the tables lack.
    errors = [(key, error) for key, error in annotation_errors(annotations, image) if not isinstance(error, NotInTables)]
    return [*found, *(f"{key} cannot be used: {error}." for key, error in errors)]


def unknown_annotations(annotations: Mapping[str, str]) -> list[str]:
    """The annotations that look like those of this operator, and that it does not know, each with the known one that is probably meant."""
    found = []
    for key in sorted(key for key in annotations if key.startswith(PREFIX) and key not in KNOWN):
        meant = similar(key[len(PREFIX) :], [known[len(PREFIX) :] for known in KNOWN])
        found.append(f"{key} (did you mean {PREFIX}{meant}?)" if meant else key)
    return found


def is_usable(name: str) -> bool:
    """Does the name of a SecondaryScheduler fit into the names of what is made for it?"""
    return bool(_NAME.fullmatch(name))


def names_of(resource: Object) -> Names:
    """The names around a SecondaryScheduler.

    Upstream's one resource is called ``cluster``: what belongs to it has upstream's names. Names of RBAC objects may hold colons, those of
    namespaces and resources may not, so ``cluster`` is unique in the cluster.
    """
    name, namespace = resource["metadata"]["name"], resource["metadata"]["namespace"]
    workload = "secondary-scheduler" if name == "cluster" else f"secondary-scheduler-{name}"
    return {
        "name": name,
        "namespace": namespace,
        "workload": workload,
        "set": f"operand-{name}",
        "cluster": f"osso:{namespace}:{name}",
        # A Service's name may have 63 characters, as many as the longest workload's.
        "service": "metrics" if name == "cluster" else workload,
        "prometheus": "prometheus-k8s" if name == "cluster" else f"{workload}:prometheus",
        "serving_secret": f"{workload}-serving-cert",
        "controller": f"{workload}-controller",
        # A Service's name, too
        "load_watcher": f"load-watcher-{name}",
    }


def labels(names: Names) -> dict[str, str]:
    """The labels of what is made for a resource; its pods carry ``app`` alone."""
    return {
        "app": names["workload"],
        "app.kubernetes.io/name": "secondary-scheduler",
        "app.kubernetes.io/instance": names["name"],
        "app.kubernetes.io/managed-by": "osso.scheduler",
    }


def owner(resource: Object) -> Owner:
    """The option ``owner`` of the module apply."""
    return {
        "apiVersion": resource["apiVersion"],
        "kind": resource["kind"],
        "name": resource["metadata"]["name"],
        "namespace": resource["metadata"]["namespace"],
        "uid": resource["metadata"]["uid"],
    }


def watch_annotations(names: Names) -> dict[str, str]:
    """The annotations by which the operator notices changes of an object that no owner reference can tie to the resource."""
    return {
        PRIMARY_RESOURCE: "{namespace}/{name}".format(**names),
        PRIMARY_RESOURCE_TYPE: "SecondaryScheduler.operator.openshift.io",
    }


def annotations_of(resource: Object) -> dict[str, str]:
    """The annotations of a SecondaryScheduler, {} where there are none."""
    found: dict[str, str] = resource["metadata"].get("annotations") or {}
    return found


def config_secret(names: Names, config_hash: str) -> str:
    """Name of the Secret that holds the effective configuration of a content hash."""
    return f"{names['workload']}-config-{config_hash}"
