# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A SecondaryScheduler and what surrounds it, as the API server returns them, for tests of pure functions; and reconciles without the operator."""

from __future__ import annotations

import base64
import copy
import json
from dataclasses import replace
from pathlib import Path

from ansible_collections.osso.scheduler.plugins.module_utils._operand import rollout as rollouts
from ansible_collections.osso.scheduler.plugins.module_utils._operand.decision import Facts
from ansible_collections.osso.scheduler.plugins.module_utils._operand.resource_names import FIELD_MANAGER, FINALIZER
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.config_validation import Target, ValidationResult, unknown_target

from .ansible_runs import play

__all__ = ["FINALIZER"]

CRD = Path(__file__).parents[2] / "roles/operator/files/secondaryschedulers.crd.yaml"
THEN, NOW = "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"
TARGET = Target("1.31", "image", "scheduler-plugins", "image")
CONFIG = ValidationResult(
    text="kind: KubeSchedulerConfiguration",
    target=TARGET,
    valid=True,
    starts=True,
    hash="abc",
    scheduler_names=("batch",),
    tree={"kind": "KubeSchedulerConfiguration"},
)
UNKNOWN = replace(CONFIG, valid=None, starts=None, target=unknown_target("image:1 says nothing"))


def resource(name="cluster", status=None, annotations=None, **spec):
    spec = {"schedulerConfig": "config", "schedulerImage": "image:1", **spec}
    metadata = {"name": name, "namespace": "ns", "generation": 3, "uid": "u"}
    if annotations:
        metadata["annotations"] = annotations
    made = {"apiVersion": "operator.openshift.io/v1", "kind": "SecondaryScheduler", "metadata": metadata, "spec": spec}
    return {**made, "status": status} if status else made


PROBE = {"f:httpGet": {"f:path": {}, "f:port": {}, "f:scheme": {}}}
SECURITY = {"f:allowPrivilegeEscalation": {}, "f:capabilities": {"f:drop": {}}, "f:readOnlyRootFilesystem": {}}
APPLIED = {
    "f:automountServiceAccountToken": {},
    "f:serviceAccountName": {},
    "f:securityContext": {"f:runAsNonRoot": {}, "f:seccompProfile": {"f:type": {}}},
    "f:containers": {
        'k:{"name":"secondary-scheduler"}': {
            **{key: {} for key in (".", "f:name", "f:image", "f:command", "f:args")},
            **{f"f:{kind}Probe": PROBE for kind in ("liveness", "readiness", "startup")},
            "f:resources": {"f:requests": {"f:cpu": {}}},
            "f:securityContext": SECURITY,
        }
    },
    "f:volumes": {'k:{"name":"config"}': {".": {}, "f:name": {}, "f:secret": {"f:secretName": {}}}},
}
"""What the operator owns of the pods' spec"""


def pod_fields(fields):
    return {"f:spec": {"f:template": {"f:spec": fields}}}


def deployment(rollout=None, replicas=1, generation=2, observed=2, conditions=(), **status):
    annotations = {"osso.scheduler/rollout": rollouts.identity(rollout)} if rollout else {}
    secret = f"secondary-scheduler-config-{rollout['config']}" if rollout else "elsewhere"
    applied = {"manager": FIELD_MANAGER, "operation": "Apply", "apiVersion": "apps/v1", "fieldsV1": copy.deepcopy(pod_fields(APPLIED))}
    return {
        "metadata": {
            "name": "secondary-scheduler",
            "namespace": "ns",
            "generation": generation,
            "annotations": annotations,
            "managedFields": [applied],
        },
        "spec": {
            "replicas": replicas,
            "template": {"spec": {"volumes": [{"name": "config", "secret": {"secretName": secret}}]}},
        },
        "status": {"observedGeneration": observed, "conditions": list(conditions), **status},
    }


def serving(rollout=None, replicas=1):
    live = deployment(rollout, replicas)
    live["status"].update(dict.fromkeys(("replicas", "updatedReplicas", "availableReplicas", "readyReplicas"), replicas))
    return live


def facts(**given):
    return Facts(**{"resource": resource(), "config": CONFIG, "overrides": {}, "now": NOW, **given})


def stored(secret):
    """A decision's Secret, as the API server returns it."""
    data = {key: base64.b64encode(text.encode()).decode() for key, text in secret["data"].items()}
    return {"metadata": {"name": secret["name"], "annotations": secret["annotations"]}, "data": data}


def memory(served, failed=None, text="kind: KubeSchedulerConfiguration"):
    """What the configuration Secret of a rollout that served remembers."""
    annotations = {rollouts.SERVED: json.dumps(served), rollouts.SERVED_AT: THEN}
    if failed:
        annotations[rollouts.FAILED] = json.dumps(failed)
    name = f"secondary-scheduler-config-{served['config']}"
    return rollouts.read_memory(
        [{"metadata": {"name": name, "annotations": annotations}, "data": {"config.yaml": base64.b64encode(text.encode()).decode()}}]
    )


def reconcile(resource, state="present", access=None, succeed=True):
    """The `Run` of one reconcile of the live ``resource`` by the role operand; ``access``: module options of who runs it."""
    tasks = [
        {"name": "Reconcile", "ansible.builtin.include_role": {"name": "osso.scheduler.operand", "public": True}},
        {"name": "Show when the operator looks again", "ansible.builtin.debug": {"msg": "{{ operand_next_look }}"}},
    ]
    defaults = {"group/osso.scheduler.scheduler": access or {}}
    plays = [{"name": "Test", "hosts": "localhost", "gather_facts": False, "module_defaults": defaults, "tasks": tasks}]
    # As ansible-operator passes it
    variables = {"_operator_openshift_io_secondaryscheduler": resource, "operand_state": state}
    return play(plays, variables=variables, succeed=succeed)
