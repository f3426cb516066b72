# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What several conformance tests do to a scheduler and its cluster, and read of them."""

from __future__ import annotations

import json
import time
import uuid
from contextlib import contextmanager
from datetime import UTC, datetime

from support.scheduler import eventually
from support.site import NAMESPACE

OPERATOR = "osso-scheduler-operator"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:{OPERATOR}"


def patch(scheduler, kind, name=None, /, **fields):
    """Change fields of an object in the scheduler's namespace, as a person would with `kubectl edit`; the scheduler's own by default."""
    arguments = ["patch", kind, name or scheduler.workload, f"--namespace={scheduler.namespace}", "--type=merge"]
    scheduler.kubectl(*arguments, f"--patch={json.dumps(fields)}")


def edit(scheduler, **spec):
    """Change fields of the resource's spec; None takes one away."""
    patch(scheduler, "secondaryscheduler", scheduler.name, spec=spec)


def finished(kubectl, name) -> int:
    """How many reconciles of the resource `name` the running operator has finished well."""
    log = kubectl.log(NAMESPACE, f"app.kubernetes.io/name={OPERATOR}")
    return sum("exited successfully" in line and f'"name":"{name}"' in line for line in log.splitlines())


def reconcile(scheduler):
    """Have the operator look at the scheduler once more, although nothing has changed, and wait until it has.

    Twice: what ends after the first time may have begun before it.
    """
    for _time in range(2):
        before = finished(scheduler.kubectl, scheduler.name)
        patch(scheduler, "secondaryscheduler", scheduler.name, metadata={"annotations": {"example.com/look": uuid.uuid4().hex}})
        eventually(lambda before=before: finished(scheduler.kubectl, scheduler.name) > before)


def pod_spec(scheduler) -> dict:
    """The pod template's spec in the Deployment; empty where there is no Deployment."""
    return (scheduler.deployment or {"spec": {"template": {"spec": {}}}})["spec"]["template"]["spec"]


def container(scheduler) -> dict:
    """The scheduler's container in the Deployment; empty where there is no Deployment."""
    return pod_spec(scheduler).get("containers", [{}])[0]


def version(scheduler) -> tuple:
    """What a rollout, or any other change of the Deployment, changes."""
    return scheduler.rollouts(), scheduler.deployment["metadata"]["uid"], scheduler.deployment["metadata"]["generation"]


def owners(item) -> list[dict]:
    """An object's owner references without the optional fields."""
    return [
        {key: reference[key] for key in ("apiVersion", "kind", "name", "uid")} for reference in item["metadata"].get("ownerReferences", [])
    ]


def owner(scheduler) -> dict:
    """The reference to the scheduler's resource that what is made for it carries."""
    metadata = scheduler.resource["metadata"]
    return {"apiVersion": "operator.openshift.io/v1", "kind": "SecondaryScheduler", "name": metadata["name"], "uid": metadata["uid"]}


@contextmanager
def operator_down(kubectl):
    """No operator runs inside the block; afterwards it is ready again."""
    scale = ["scale", f"deployment/{OPERATOR}", f"--namespace={NAMESPACE}"]
    pods = ["get", "pods", f"--namespace={NAMESPACE}", f"--selector=app.kubernetes.io/name={OPERATOR}"]
    kubectl(*scale, "--replicas=0")
    eventually(lambda: not kubectl.json(*pods)["items"])
    try:
        yield
    finally:
        kubectl(*scale, "--replicas=1")
        kubectl("rollout", "status", f"deployment/{OPERATOR}", f"--namespace={NAMESPACE}", "--timeout=100s")


class Machines:
    """Nodes without a machine: they are what the API server says of them, so that a test can say it.

    They have no room for pods: nothing is ever placed on them.
    """

    def __init__(self, kubectl):
        self.kubectl = kubectl
        self.ready: dict[str, str] = {}

    def add(self, name, **labels):
        """A node that is ready."""
        labels = {"example.com/machine": "none", **labels}
        self.kubectl("create", "--filename=-", stdin={"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}})
        self.ready[name] = "True"

    def say(self):
        """Report the state of all of them, as kubelets do; without that, the cluster takes them for lost after 50 s."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for name, ready in self.ready.items():
            condition = {
                "type": "Ready",
                "status": ready,
                "reason": "Test",
                "message": "",
                "lastHeartbeatTime": now,
                "lastTransitionTime": now,
            }
            status = json.dumps({"status": {"conditions": [condition]}})
            self.kubectl("patch", "node", name, "--subresource=status", "--type=merge", f"--patch={status}")
        eventually(lambda: all(self._untainted(name) is (ready == "True") for name, ready in self.ready.items()))

    def remove(self):
        self.kubectl("delete", "nodes", "--selector=example.com/machine=none")
        self.ready.clear()

    def _untainted(self, name) -> bool:
        """the cluster's controllers have taken note of what was said"""
        taints = self.kubectl.json("get", "node", name)["spec"].get("taints", [])
        return not any(taint["key"] in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable") for taint in taints)


def stays(check, seconds=3):
    """See that `check()` stays true for a while; for what must not happen, after something that would make it happen."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert check(), check.__doc__ or check
        time.sleep(0.3)
