# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a scheduler's pods depend on, and the memory of which of it served and which did not.

The memory is in annotations of the Secret that holds the configuration of the last rollout that served, and of the Deployment: it outlives the
operator, the user's ConfigMap, and one of both.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict, cast

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import additions, conditions, deployments
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.deployments import progress
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.object_comparison import owned_fields, owns
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.pod_failures import Failure
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.readiness import CRASHES
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import content_hash
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.flags import of_operator
from ansible_collections.osso.scheduler.plugins.module_utils._operand import overrides, resource_names
from ansible_collections.osso.scheduler.plugins.module_utils._operand.prometheus_access import CONFIG_KEY, FILLED, decoded_data, template

VERBOSITY = {"Normal": 2, "Debug": 4, "Trace": 6, "TraceAll": 8}

PRESENT = "osso.scheduler/present-rollout"
"""On the Deployment: the rollout that it holds."""
SERVED = "osso.scheduler/served-rollout"
SERVED_AT = "osso.scheduler/served-at"
FAILED = "osso.scheduler/failed-rollout"
RECORD = (SERVED, SERVED_AT, FAILED)
"""On the Secret."""

CONTAINER, CONFIG_VOLUME = "secondary-scheduler", "config"
"""Names in the template of the Deployment (roles/operand/templates/scheduler.yaml.j2)."""

# Overrides that it takes over as they are
_OF_POD = ("affinity", "imagePullSecrets", "priorityClassName", "topologySpreadConstraints")
_OF_CONTAINER = ("env", "imagePullPolicy", "resources", "volumeMounts")


class Placement(TypedDict):
    """Where pods may run, as the spec of a pod says it."""

    nodeSelector: dict[str, str]
    tolerations: list[Object]


class Health(TypedDict):
    """Paths of the probes."""

    live: str
    ready: str


class Rollout(TypedDict):
    """All that the resource, its configuration and the cluster say about the pods. The number of replicas is no part of it.

    config: the content hash. overrides: see `overrides.read`, without what has a field of its own here. serving_cert: does the cluster make a
    certificate for the metrics Service?
    """

    image: str
    config: str
    flags: list[str]
    placement: Placement
    overrides: Object
    serving_cert: bool
    health: Health


class FailedRollout(TypedDict, total=False):
    """The record of a rollout that did not come to serve. retry: the annotation at that time."""

    id: str
    reason: str
    message: str
    retry: str


KEYS = Rollout.__required_keys__

# Log lines of a scheduler that crashes because the API server is not reachable, which is no fault of the rollout.
_NOBODY_ANSWERS = re.compile(
    r"connection refused|connection reset|i/o timeout|TLS handshake timeout|no route to host|deadline exceeded|\bEOF\b"
)


# Kubernetes 1.31, https://github.com/kubernetes/kubernetes/pull/118148
_READYZ_SINCE = 31

HIGHLY_AVAILABLE = "HighlyAvailable"
MAX_REPLICAS = 3


class Secrets(NamedTuple):
    """What a configuration contains that must not be logged."""

    token: bool = False
    """or another credential: kube-scheduler logs it only with the configuration as a whole"""
    password: bool = False
    """in a URL or of an extender: extenders are logged when they are created, and Trimaran logs its metric provider's address"""


NO_SECRETS = Secrets()


def flags(
    workload: str,
    namespace: str,
    log_level: str = "",
    tls: Sequence[str] = (),
    extra: Sequence[str] = (),
    secrets: Secrets = NO_SECRETS,
) -> list[str]:
    """The scheduler's command line without ``--config``; ``workload`` is the name of its Deployment, and of its Lease.

    The timing of the leader election overrides the configuration's. A leader may be cut off from the API server for as long as OpenShift
    recommends for its components. But a replica tries to acquire the Lease every 1 to 2.2 s instead of every 26 to 57 s: in each rollout,
    no pod is placed from the end of the old leader until the next attempt, and no pod is to wait longer than 3 s.
    """
    verbosity = VERBOSITY[log_level or "Normal"]
    said = [f"-v={verbosity}"]
    if any(secrets):
        # From 2 on kube-scheduler logs its configuration as a whole (cmd/kube-scheduler/app/options/configfile.go) and each extender
        # (pkg/scheduler/scheduler.go).
        said = ["-v=1"]
        # --vmodule exists only for the text format, and can only raise the level of -v.
        if not secrets.password and "--logging-format=json" not in extra:
            said.append(f"--vmodule=configfile=1,*={verbosity}")
    return [*of_operator(workload, namespace), *said, *tls, *extra]


def flags_of(resource: Object, overrides: Object, tls: Sequence[str], secrets: Secrets = NO_SECRETS) -> list[str]:
    """The `flags` that a SecondaryScheduler asks for, with the flags ``tls`` of the cluster's TLS profile.

    ``secrets``: of its configuration.
    """
    names = resource_names.names_of(resource)
    log_level = (resource.get("spec") or {}).get("logLevel") or ""
    extra = overrides.get("args") or ()
    return flags(names["workload"], names["namespace"], log_level, tls=tls, extra=extra, secrets=secrets)


def health(kubernetes: str | None, completed: Mapping[str, Any] | None) -> Health:
    """Paths of the probes: ``live`` and ``ready``. ``kubernetes``: such as ``"1.31"``, None if unknown; ``completed``: the configuration.

    Up to 1.30 kube-scheduler knows ``/healthz`` alone. A replica that fills its caches only once it leads must not be waited for.
    """
    minor = int(kubernetes.split(".")[1]) if kubernetes else 0
    if minor < _READYZ_SINCE:
        return {"live": "/healthz", "ready": "/healthz"}
    return {"live": "/livez", "ready": "/livez" if (completed or {}).get("delayCacheUntilActive") else "/readyz"}


def proxies(overrides: Object) -> dict[str, str]:
    """The proxies in the scheduler's environment, by ``http``, ``https`` and ``no``, as Go reads it. One out of a Secret or ConfigMap is unknown here."""
    env = {one["name"]: one.get("value") or "" for one in overrides.get("env") or ()}
    return {kind: env.get(f"{kind}_proxy".upper()) or env.get(f"{kind}_proxy", "") for kind in ("http", "https", "no")}


def placement(spec: Object, overrides: Object) -> Placement:
    """nodeSelector and tolerations of the pods: the topology's, where it has any, else the overrides'."""
    topology = spec.get("topology") or {}
    chosen = (topology.get("highlyAvailableTopology") or {}) if is_highly_available(spec) else {}
    return {
        "nodeSelector": chosen.get("nodeSelector") or overrides.get("nodeSelector") or {},
        "tolerations": chosen.get("tolerations") or overrides.get("tolerations") or [],
    }


def is_highly_available(spec: Object) -> bool:
    return bool((spec.get("topology") or {}).get("mode") == HIGHLY_AVAILABLE)


def max_replicas(spec: Object) -> int:
    """How many replicas a SecondaryScheduler asks for, where there are nodes enough."""
    if not is_highly_available(spec):
        return 1
    return (spec["topology"].get("highlyAvailableTopology") or {}).get("maxReplicas") or MAX_REPLICAS


def identity(rollout: Rollout) -> str:
    """Twelve hexadecimal digits that are the same for the same rollout."""
    return hashlib.sha256(json.dumps(rollout, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:12]


class Memory(NamedTuple):
    """``secret``: the Secret of the last rollout that served, as the API server returns it, None if there is none yet or it is lost.

    ``served``: that rollout; ``failed``: a later one that did not come to serve, or None.
    """

    secret: Object | None = None
    served: Rollout | None = None
    failed: FailedRollout | None = None

    @property
    def served_id(self) -> str | None:
        return identity(self.served) if self.served else None


def read_memory(secrets: Collection[Object], deployment: Object | None = None) -> Memory:
    """What the Deployment of one scheduler and its configuration Secrets remember. What someone else's hand made unreadable counts as absent.

    The Deployment knows of rollouts that no reconcile has recorded in a Secret yet, and is what remains if such a Secret is lost.
    """
    recorded = sorted(_records(secrets), key=lambda found: found[:2])
    newest = recorded[-1][-1] if recorded else Memory()
    served = _served_by(deployment, newest.served) or newest.served
    if served is None:
        return Memory()
    if served == newest.served:
        secret = newest.secret
    else:
        holding = [one for one in secrets if _config(one) and content_hash(template(one)) == served["config"]]
        secret = max(holding, key=lambda one: one["metadata"].get("creationTimestamp") or "", default=None)
    failed = newest.failed or _decoded(_annotations(deployment).get(FAILED))
    return Memory(secret, served, cast("FailedRollout | None", failed))


def _records(secrets: Collection[Object]) -> Iterator[tuple[str, str, Memory]]:
    """When it was written, the name of the Secret, and the memory."""
    for secret in secrets:
        name, annotations = secret["metadata"]["name"], resource_names.annotations_of(secret)
        served = _rollout(annotations.get(SERVED))
        if served and name.endswith(f"-{annotations.get(FILLED) or served['config']}") and _config(secret):
            failed = cast("FailedRollout | None", _decoded(annotations.get(FAILED)))
            yield annotations.get(SERVED_AT, ""), name, Memory(secret, served, failed)


def _served_by(deployment: Object | None, recorded: Rollout | None) -> Rollout | None:
    """The last rollout that served, as far as the Deployment knows; ``recorded``: as far as the Secrets do.

    Where the Deployment does not say which rollout it holds, that of the Secrets may be a later one than the one before.
    """
    annotations = _annotations(deployment)
    present = _rollout(annotations.get(PRESENT))
    before = _rollout(annotations.get(SERVED))
    if present is None or identity(present) != annotations.get(resource_names.ROLLOUT):
        return recorded or before
    return present if present == recorded or serves(deployment, present) else before


def is_recorded(annotations: Mapping[str, str], rollout: Rollout) -> bool:
    """Do the annotations of a Secret say that this rollout has served?"""
    return _rollout(annotations.get(SERVED)) == rollout


def _rollout(text: str | None) -> Rollout | None:
    """The rollout that an annotation contains, None for any other text."""
    value = _decoded(text)
    # Another release of the operator may have remembered less.
    if value is None or not set(value) >= KEYS:
        return None
    chosen, paths = value["placement"], value["health"]
    is_one = (
        _are_texts([value["image"], value["config"]])
        and _are_texts(value["flags"])
        and isinstance(chosen, dict)
        and isinstance(chosen.get("nodeSelector"), dict)
        and _are_texts(list(chosen["nodeSelector"].values()))
        and isinstance(chosen.get("tolerations"), list)
        and all(isinstance(toleration, dict) for toleration in chosen["tolerations"])
        and isinstance(value["overrides"], dict)
        and not overrides.read(value["overrides"])[1]
        and isinstance(value["serving_cert"], bool)
        and isinstance(paths, dict)
        and _are_texts([paths.get("live"), paths.get("ready")])
    )
    return cast(Rollout, value) if is_one else None


def _are_texts(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _annotations(deployment: Object | None) -> dict[str, str]:
    return resource_names.annotations_of(deployment) if deployment else {}


def annotations_of(
    memory: Memory, secret_name: str, now: str, serves: Rollout | None = None, failed: FailedRollout | None = None
) -> dict[str, str]:
    """The annotations of the Secret ``secret_name``: what it has to remember.

    ``serves``: the rollout with its configuration that serves now; ``failed``: the failure record to keep.
    """
    served, at = None, now
    if memory.secret is not None and memory.secret["metadata"]["name"] == secret_name:
        recorded = resource_names.annotations_of(memory.secret)
        served, at = memory.served, recorded.get(SERVED_AT, now) if memory.served and is_recorded(recorded, memory.served) else now
    if serves is not None and serves != served:
        served, at = serves, now
    if served is None:
        return {}
    kept = {SERVED: _encoded(served), SERVED_AT: at}
    return dict(kept, **{FAILED: _encoded(failed)}) if failed else kept


def annotations_of_deployment(memory: Memory, rollout: Rollout, live: Object | None, failed: FailedRollout | None = None) -> dict[str, str]:
    """The annotations of the Deployment that holds ``rollout``: that one, and what has to be remembered. ``live``: that Deployment or None.

    The last rollout that served is the one before: nothing is written when this one comes to serve.
    """
    served = _annotations(live).get(SERVED)
    if memory.served and (memory.served != rollout or (served and not _rollout(served))):
        served = _encoded(memory.served)
    return {
        resource_names.ROLLOUT: identity(rollout),
        PRESENT: _encoded(rollout),
        **({SERVED: served} if served else {}),
        **({FAILED: _encoded(failed)} if failed else {}),
    }


def deployed(deployment: Object | None) -> str | None:
    """Identity of the rollout that a Deployment holds, None where there is no Deployment or it does not say."""
    return _annotations(deployment).get(resource_names.ROLLOUT)


def configuration(deployment: Object | None) -> str | None:
    """Name of the Secret with the configuration that a Deployment's pods are to have, None where there is none."""
    volumes = ((((deployment or {}).get("spec") or {}).get("template") or {}).get("spec") or {}).get("volumes") or []
    return next(((volume.get("secret") or {}).get("secretName") for volume in volumes if volume["name"] == CONFIG_VOLUME), None)


def is_complete(deployment: Object | None) -> bool:
    """Do all replicas run what the Deployment says?"""
    return progress(deployment).complete if deployment else False


def serves(deployment: Object | None, rollout: Rollout) -> bool:
    """Does a Deployment that holds a rollout prove that it serves? Not without a replica, or with pods as someone else's hand made them."""
    if deployment is None or not progress(deployment).wanted:
        return False
    return deployed(deployment) == identity(rollout) and is_complete(deployment) and _is_as_applied(deployment, rollout)


def _is_as_applied(deployment: Object, rollout: Rollout) -> bool:
    """Has no one edited the pods' spec since the operator applied it? Admission takes no field from the operator, and owns none that it adds."""
    fields = owned_fields(deployment, resource_names.FIELD_MANAGER)
    declared = {"spec": {"template": {"spec": _declared(rollout)}}}
    return bool(fields) and owns(fields, declared) and not additions.by_hand(deployment, resource_names.FIELD_MANAGER)


def _declared(rollout: Rollout) -> Object:
    """The fields of the pods' spec in the template of the Deployment on which it depends whether they serve. Values are left out."""
    given = rollout["overrides"]
    probe = {"httpGet": {"path": "", "port": ""}}
    container = {"image": "", "command": [], "args": [], "startupProbe": probe, "livenessProbe": probe, "readinessProbe": probe}
    container["securityContext"] = {"allowPrivilegeEscalation": "", "readOnlyRootFilesystem": "", "capabilities": {"drop": []}}
    return {
        "serviceAccountName": "",
        "automountServiceAccountToken": "",
        "securityContext": {"runAsNonRoot": "", "seccompProfile": {"type": ""}},
        **{key: given[key] for key in _OF_POD if key in given},
        **{key: chosen for key, chosen in rollout["placement"].items() if chosen},
        "containers": [{"name": CONTAINER, **container, **{key: given[key] for key in _OF_CONTAINER if key in given}}],
        "volumes": [{"name": CONFIG_VOLUME, "secret": {"secretName": ""}}, *given.get("volumes", ())],
    }


def runs(deployment: Object | None, image: str, program: str) -> bool:
    """Does a Deployment, of whomever, serve with this image and program?"""
    if deployment is None or not (deployment.get("status") or {}).get("availableReplicas"):
        return False
    containers = deployment["spec"]["template"]["spec"].get("containers") or []
    return any(one.get("image") == image and one.get("command") == [program] for one in containers) and is_complete(deployment)


def is_overdue(deployment: Object | None) -> bool:
    """Has the deadline of the present rollout passed? Not before it has a replica: the one before ends first."""
    return deployments.is_overdue(deployment) and progress(deployment).updated > 0 if deployment else False


def has_served(deployment: Object | None) -> bool:
    """Was the present rollout over once, whatever became of its pods since?"""
    if not deployment:
        return False
    found = progress(deployment)
    over = conditions.find(deployment, "Progressing").get("reason") == "NewReplicaSetAvailable"
    return found.observed and over and found.total == found.updated == found.wanted


def is_failing(deployment: Object | None, failure: Failure | None) -> bool:
    """Does the rollout that a Deployment holds not come to serve, by its own fault? Of one that nothing has recorded as served."""
    if is_complete(deployment):
        return False
    crashes = failure.crashes if failure and not _NOBODY_ANSWERS.search(failure.message) else 0
    return is_overdue(deployment) or crashes >= CRASHES


def _config(secret: Object) -> str | None:
    try:
        return decoded_data(secret).get(CONFIG_KEY)
    except ValueError:  # neither base64 nor text
        return None


def _encoded(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _decoded(text: str | None) -> dict[str, Any] | None:
    try:
        value = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
