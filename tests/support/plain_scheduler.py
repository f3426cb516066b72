# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A second scheduler as a plain Deployment, without an operator."""

from __future__ import annotations

import re
import uuid
from contextlib import contextmanager

from .site import VARIABLES

IMAGE = VARIABLES["secondary_schedulers"][0]["image"]
RBAC = "rbac.authorization.k8s.io"
CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  resourceNamespace: {namespace}
  resourceName: second
profiles:
  - schedulerName: {namespace}
  - schedulerName: {namespace}-packing
"""


def config_map(namespace, text) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "second", "namespace": namespace},
        "data": {"config.yaml": text},
    }


@contextmanager
def plain_scheduler(kubectl, image=IMAGE, config=CONFIG, restricted=False):
    """A scheduler in a namespace of its own, whose name is also its schedulerName; `{namespace}` in `config` becomes it.

    `restricted`: as the Pod Security level of that name wants it, and enforced. The Deployment is called `second`.
    """
    namespace = f"test-second-{uuid.uuid4().hex[:8]}"
    about = {"name": "second", "namespace": namespace}
    subjects = [{"kind": "ServiceAccount", **about}]
    bindings = [
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": f"{namespace}-{role}"},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": f"system:{role}"},
            "subjects": subjects,
        }
        for role in ("kube-scheduler", "volume-scheduler")
    ]
    lease = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "Role",
        "metadata": about,
        "rules": [{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["*"]}],
    }
    binding = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": about,
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "second"},
        "subjects": subjects,
    }
    container = {
        "name": "scheduler",
        "image": image,
        "command": ["/bin/kube-scheduler"],
        "args": ["--config=/etc/second/config.yaml", "--authentication-tolerate-lookup-failure=true"],
        "volumeMounts": [{"name": "config", "mountPath": "/etc/second"}, {"name": "tmp", "mountPath": "/tmp"}],
        "readinessProbe": {"httpGet": {"scheme": "HTTPS", "port": 10259, "path": "/healthz"}, "periodSeconds": 1, "timeoutSeconds": 10},
    }
    pod = {
        "serviceAccountName": "second",
        "terminationGracePeriodSeconds": 1,
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": "second"}}, {"name": "tmp", "emptyDir": {}}],
    }
    if restricted:
        pod["securityContext"] = {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}
        container["securityContext"] = {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": about,
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "second"}},
            "template": {"metadata": {"labels": {"app": "second"}}, "spec": pod},
        },
    }
    kubectl("create", "namespace", namespace)
    try:
        if restricted:
            kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": about}
        kubectl.apply(account, *bindings, lease, binding, config_map(namespace, config.format(namespace=namespace)), deployment)
        kubectl("rollout", "status", "deployment/second", f"--namespace={namespace}", "--timeout=180s", timeout=200)
        yield namespace
    finally:
        kubectl("delete", "clusterrolebinding", *(item["metadata"]["name"] for item in bindings), "--ignore-not-found")
        kubectl("delete", "namespace", namespace, "--wait=false")


def errors_of(kubectl, second) -> list[str]:
    """The lines of errors in the log of the scheduler's pod, with single spaces."""
    pods = kubectl.json("get", "pods", f"--namespace={second}")["items"]
    (name,) = (one["metadata"]["name"] for one in pods if "deletionTimestamp" not in one["metadata"])
    log = kubectl("logs", name, f"--namespace={second}").stdout
    return [" ".join(line.split()) for line in log.splitlines() if re.match(r"E[0-9]{4} ", line)]
