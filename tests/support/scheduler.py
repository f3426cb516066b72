# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A SecondaryScheduler as its user makes it, and waiting for what becomes of it."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import content_hash
from ansible_collections.osso.scheduler.plugins.module_utils._operand.rollout import is_complete
from oracle.programs import Program, all_programs, number

from .site import NAMESPACE, VARIABLES

IMAGE = VARIABLES["secondary_schedulers"][0]["image"]
# Long enough for a machine that does much else; what is well takes seconds.
WITHIN = int(os.environ.get("WITHIN") or 180)


def eventually(check, within=WITHIN):
    """What `check()` returns as soon as it is true; fails with its last answer after `within` seconds."""
    deadline = time.monotonic() + within
    while not (answer := check()):
        assert time.monotonic() < deadline, f"not within {within} s: {check.__doc__ or check}, last answer {answer!r}"
        time.sleep(0.2)
    return answer


def await_end(kubectl, *kinds_and_selector) -> None:
    """Wait until namespaces that are being deleted, those of earlier tests, have no such object."""

    def ended():
        """No such object is in a namespace that is being deleted."""
        gone = {one["metadata"]["name"] for one in kubectl.list("namespace") if one["status"]["phase"] == "Terminating"}
        found = kubectl.json("get", *kinds_and_selector, "--all-namespaces")["items"]
        return not [one for one in found if one["metadata"]["namespace"] in gone]

    eventually(ended)


def program_with_plugins(cluster: Path) -> Path:
    """A kube-scheduler with the plugins of scheduler-plugins: a program of its own where the cluster is of another release than theirs."""
    program = cluster / "bin/scheduler-plugins"
    if not program.exists():
        return cluster / "bin/kube-scheduler"
    # It acts by its name.
    named = cluster / "with-plugins/kube-scheduler"
    named.parent.mkdir(exist_ok=True)
    with suppress(FileExistsError):
        named.symlink_to(program.resolve())
    return named


def oracle_programs() -> list[Program]:
    """The kube-schedulers since 1.25 that the oracle builds, with and without scheduler-plugins."""
    return [one for one in all_programs() if number(one.minor) >= 25]


def oracle_program(program: Program, folder: Path) -> str:
    """The unchanged kube-scheduler that a program of the oracle contains, as a file that starts it. Skips the test if it is not built."""
    if not program.built():
        pytest.skip(f"tests/oracle/oracle build {program.minor} builds the kube-scheduler of this release")
    file = folder / f"kube-scheduler-{program.path.name}"
    file.write_text(f'#!/bin/sh\nexec {program.path} --command "$@"\n')
    file.chmod(0o755)
    return str(file)


class Scheduler:
    """One SecondaryScheduler with its ConfigMap, made by plain kubectl as a user would."""

    def __init__(self, kubectl, name, namespace=NAMESPACE, scheduler_name=None):
        self.kubectl = kubectl
        self.name = name
        self.namespace = namespace
        self.scheduler_name = scheduler_name or name
        self.workload = "secondary-scheduler" if name == "cluster" else f"secondary-scheduler-{name}"
        self.cluster_name = f"osso:{namespace}:{name}"

    def config(self, weight=1) -> str:
        return json.dumps(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "profiles": [
                    {
                        "schedulerName": self.scheduler_name,
                        "plugins": {
                            "score": {
                                "disabled": [{"name": "NodeResourcesFit"}],
                                "enabled": [{"name": "NodeResourcesFit", "weight": weight}],
                            }
                        },
                    }
                ],
            }
        )

    def write_config(self, text=None):
        self.kubectl.apply(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": self.name, "namespace": self.namespace},
                "data": {"config.yaml": text or self.config()},
            }
        )

    def write(self, **spec):
        self.kubectl.apply(
            {
                "apiVersion": "operator.openshift.io/v1",
                "kind": "SecondaryScheduler",
                "metadata": {"name": self.name, "namespace": self.namespace},
                "spec": {"schedulerConfig": self.name, "schedulerImage": IMAGE, **spec},
            }
        )

    def start(self) -> Scheduler:
        """Create ConfigMap and resource, and wait until the scheduler is available."""
        self.write_config()
        self.write()
        self.rest()
        return self

    def get(self, kind, name=None):
        return self.kubectl.get(kind, name or self.workload, self.namespace)

    @property
    def deployment(self):
        return self.get("deployment")

    @property
    def resource(self):
        return self.get("secondaryscheduler", self.name)

    def condition(self, kind):
        conditions = ((self.resource or {}).get("status") or {}).get("conditions") or []
        return next(((c["status"], c["reason"], c["message"]) for c in conditions if c["type"] == kind), ("", "", ""))

    def events(self) -> dict[str, str]:
        """The last message of each reason."""
        field = f"--field-selector=involvedObject.name={self.name}"
        found = self.kubectl.json("get", "events", f"--namespace={self.namespace}", field)["items"]
        return {event["reason"]: event["message"] for event in found}

    def served(self):
        """the operator says that the scheduler serves what its resource says"""
        resource = self.resource
        return (
            resource["status"].get("observedGeneration") == resource["metadata"]["generation"]
            and self.condition("Available")[0] == "True"
            and self.condition("Progressing")[0] == "False"
            if resource and resource.get("status")
            else False
        )

    def rollouts(self) -> int:
        """How often the Deployment's pods were replaced, the first time included."""
        return len(self.kubectl.list("replicaset", self.namespace, f"app={self.workload}"))

    def serving_pods(self) -> list[dict]:
        """Its pods that are Running and Ready and not about to end."""
        return [
            pod
            for pod in self.kubectl.list("pod", self.namespace, f"app={self.workload}")
            if "deletionTimestamp" not in pod["metadata"]
            and pod["status"]["phase"] == "Running"
            and any(condition["type"] == "Ready" and condition["status"] == "True" for condition in pod["status"]["conditions"])
        ]

    def rest(self):
        """Wait until the operator has reported the present resource, configuration and Deployment, whose rollout is over."""
        eventually(self._is_at_rest)

    def _is_at_rest(self) -> bool:
        """the status is that of the present resource, configuration and Deployment, and all replicas run what the Deployment says"""
        deployment = self.deployment
        if not is_complete(deployment) or not self.served():
            return False
        text = ((self.get("configmap", self.name) or {}).get("data") or {}).get("config.yaml")
        reported = {"lastGeneration": deployment["metadata"]["generation"]}
        # Of a configuration that is missing or invalid, the hash is not reported.
        if text is not None and self.condition("ConfigValid")[0] != "False":
            reported["hash"] = content_hash(text)
        generations = self.resource["status"].get("generations", ())
        return any(reported.items() <= generation.items() for generation in generations)

    def delete(self):
        self.kubectl("delete", "secondaryscheduler", self.name, f"--namespace={self.namespace}", "--ignore-not-found", "--timeout=100s")
        self.kubectl("delete", "configmap", self.name, f"--namespace={self.namespace}", "--ignore-not-found")
