# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator's reconcile in this process, and the statuses of its pods, which a test plays back: there is no node.

Everything else is real: the API server, and the controllers of Deployments and ReplicaSets, which create pods and conclude from their statuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.deployments import progress
from ansible_collections.osso.scheduler.plugins.module_utils._operand import reconcile
from ansible_collections.osso.scheduler.plugins.module_utils._operand.rollout import is_complete
from ansible_collections.osso.scheduler.plugins.plugin_utils import operand_templates

from .scheduler import WITHIN, Scheduler, eventually

USER = "65532"


def ready(pod) -> dict:
    """What the kubelet reports of a pod whose containers run."""
    return _status(pod, "True", {"running": {}}, ready=True, started=True, restartCount=0)


def crashing(message, crashes=3):
    """What it reports of a pod whose container ended so often, and said this last."""
    ended = {"terminated": {"exitCode": 1, "reason": "Error", "message": message}}
    waits = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s restarting failed container"}}
    return lambda pod: _status(pod, "False", waits, lastState=ended, restartCount=crashes)


def unpullable(pod) -> dict:
    """What it reports of a pod whose image does not exist."""
    image = pod["spec"]["containers"][0]["image"]
    message = f'Back-off pulling image "{image}": ErrImagePull: rpc error: code = NotFound desc = {image}: not found'
    return _status(pod, "False", {"waiting": {"reason": "ImagePullBackOff", "message": message}}, restartCount=0)


def _status(pod, is_ready, state, **container) -> dict:
    (name,) = (one["name"] for one in pod["spec"]["containers"])
    image = pod["spec"]["containers"][0]["image"]
    return {
        "phase": "Running" if is_ready == "True" else "Pending",
        "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": is_ready}],
        "containerStatuses": [{"name": name, "image": image, "imageID": "", "ready": False, "state": state, **container}],
    }


class Operator:
    """What ansible-operator does with resources, and kubelets with their pods, each when the test says so.

    ``options``: of modules, such as ``api_key`` of somebody with few permissions.
    """

    def __init__(self, kubectl, **options):
        self.warnings: list[str] = []
        self._kubectl = kubectl
        self._client = Client.connect({"kubeconfig": str(kubectl.kubeconfig), "retry_seconds": 30, **options}, self.warnings.append)

    def reconcile(
        self, scheduler: Scheduler, resource: dict | None = None, meanwhile: Callable[[], object] = lambda: None
    ) -> reconcile.Result:
        """One reconcile of the scheduler's resource, or of an earlier version of it; it knows of no SecondaryScheduler in another namespace.

        ``meanwhile`` is called after the decision, before anything is written.
        """

        def render(variables):
            meanwhile()
            return operand_templates.manifests(variables, USER, operand_templates.OPENSHIFT_PROMETHEUS)

        return reconcile.reconcile(self._client, resource or scheduler.resource, render, [scheduler.namespace], self.warnings.append)

    def finalize(self, scheduler: Scheduler, resource: dict | None = None) -> reconcile.Result:
        """What follows the deletion of its resource, which need not have been deleted."""
        return reconcile.finalize(self._client, resource or scheduler.resource, WITHIN, [scheduler.namespace], self.warnings.append)

    def requests(self, scheduler: Scheduler) -> dict[str, int]:
        """How many requests one reconcile sends: ``read``, ``write`` and ``dry_run``."""
        before = dict(self._client.requests)
        self.reconcile(scheduler)
        return {kind: count - before[kind] for kind, count in self._client.requests.items()}

    def writes(self, scheduler: Scheduler) -> int:
        """How many requests of one reconcile change something, or are meant to."""
        found = self.requests(scheduler)
        return found["write"] + found["dry_run"]

    def play(self, scheduler: Scheduler, status) -> None:
        """Report ``status(pod)`` for each pod of the scheduler of which nothing was reported yet, as soon as there is one.

        The pods may exist before the controller of Deployments has written that it has seen the new template; until then no pod counts as new.
        """
        eventually(lambda: progress(scheduler.deployment).observed)
        pods = eventually(lambda: list(self._new_pods(scheduler)))
        for pod in pods:
            self._kubectl.report("pod", pod["metadata"]["name"], status(pod), scheduler.namespace)

    def run_pods(self, scheduler: Scheduler) -> None:
        """All new pods of the scheduler become ready, until the rollout is over."""

        def complete():
            """the controller of Deployments says that the rollout is over"""
            for pod in self._new_pods(scheduler):
                self._kubectl.report("pod", pod["metadata"]["name"], ready(pod), scheduler.namespace, missing_ok=True)
            return is_complete(scheduler.deployment)

        eventually(complete)

    def serve(self, scheduler: Scheduler) -> None:
        """Reconcile until the scheduler is available as its resource says, with pods that run well."""
        self.reconcile(scheduler)
        self.run_pods(scheduler)
        self.reconcile(scheduler)
        assert scheduler.served(), scheduler.resource["status"]

    def _new_pods(self, scheduler: Scheduler) -> Iterator[dict]:
        for pod in self._kubectl.list("pod", scheduler.namespace, f"app={scheduler.workload}"):
            if "deletionTimestamp" not in pod["metadata"] and not pod["status"].get("containerStatuses"):
                yield pod
