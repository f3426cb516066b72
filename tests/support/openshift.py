# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""OpenShift's kube-scheduler operator as its resources show it: the real definitions, and a stand-in that does what it does to them.

There is no image of the real one that would run here. The stand-in writes the configuration of a profile, advances the revision, and brings
one node after the other to it, in the order and with the fields of the real one (library-go, static pod controllers).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.openshift import rendered

from .kinds import served

KINDS = (
    "clusteroperators.config.openshift.io",
    "clusterversions.config.openshift.io",
    "schedulers.config.openshift.io",
    "kubeschedulers.operator.openshift.io",
)
OPERATOR_NAMESPACE = "openshift-kube-scheduler-operator"
NAMESPACE = "openshift-kube-scheduler"
NODES = ("master-0", "master-1", "master-2")
# What a new revision is made of
FIELDS = ("logLevel", "forceRedeploymentReason", "unsupportedConfigOverrides")

PROFILES = ("LowNodeUtilization", "HighNodeUtilization", "NoScoring")
# The name in all that debug logging creates.
DEBUG_LOGGING = "osso-scheduler-debug-logging"


def profile_texts() -> dict[str, str]:
    """config.yaml of each profile. tests/unit/plugins/module_utils/_kube_scheduler/test_openshift.py compares them with recorded ones."""
    return {profile: json.dumps(rendered("4.18", profile)) for profile in PROFILES}


def configure_default_scheduler(play, playbook="osso.scheduler.default_scheduler", **options):
    """Run the playbook with these variables, without their prefix; `check`, `diff` and `succeed` are options of `play`."""
    chosen = {name: options.pop(name) for name in ("check", "diff", "succeed") if name in options}
    return play(playbook, variables={f"default_scheduler_{name}": value for name, value in options.items()}, **chosen)


def debug_logging_objects(kubectl) -> list[str]:
    """What is left of a debug logging."""
    found = kubectl("get", "clusterroles,clusterrolebindings,namespaces", "--output=name").stdout.split()
    found += kubectl("get", "jobs,serviceaccounts,pods", f"--namespace={DEBUG_LOGGING}", "--output=name").stdout.split()
    return [name for name in found if DEBUG_LOGGING in name]


@contextmanager
def openshift(kubectl, texts: dict[str, str], version: str = "4.18.3") -> Iterator[StandIn]:
    """An OpenShift of this version, whose stand-in writes ``texts`` (profile -> config.yaml); all of it goes again."""
    namespaces = (OPERATOR_NAMESPACE, NAMESPACE)
    with served(kubectl, *KINDS):
        try:
            for name in namespaces:
                kubectl("create", "namespace", name)
            _resources(kubectl, version)
            with StandIn(kubectl, texts) as operator:
                yield operator
        finally:
            kubectl("delete", "namespace", *namespaces, "--ignore-not-found")


def _resources(kubectl, version):
    policy = {"spec": {"policy": {"name": ""}, "mastersSchedulable": False}}
    kubectl.apply(
        {"apiVersion": "config.openshift.io/v1", "kind": "Scheduler", "metadata": {"name": "cluster"}, **policy},
        {
            "apiVersion": "operator.openshift.io/v1",
            "kind": "KubeScheduler",
            "metadata": {"name": "cluster"},
            "spec": {"managementState": "Managed", "logLevel": "Normal"},
        },
        {"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "metadata": {"name": "kube-scheduler"}, "spec": {}},
        {
            "apiVersion": "config.openshift.io/v1",
            "kind": "ClusterVersion",
            "metadata": {"name": "version"},
            "spec": {"clusterID": "00000000-0000-4000-8000-000000000000"},
        },
    )
    desired = {"version": version, "image": "release.example.com/ocp:1"}
    status = {"desired": desired, "observedGeneration": 1, "versionHash": "x", "availableUpdates": []}
    _status(kubectl, "clusterversion", "version", status)


class StandIn:
    """Reconciles while it is entered. `broken`: it writes what no profile yields; `held`: it does nothing."""

    def __init__(self, kubectl, texts):
        self._kubectl = kubectl
        self._texts = texts
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._built_of = None
        self._revision = 0
        self.broken = self.held = False
        self.errors = []

    def __enter__(self) -> StandIn:
        self._nodes = [{"nodeName": name} for name in NODES]
        # A node's revision cannot be set when the node comes.
        _status(self._kubectl, "kubescheduler", "cluster", {"nodeStatuses": self._nodes})
        self._reconcile()
        self._thread.start()
        return self

    def __exit__(self, *_exception) -> None:
        self._ended.set()
        self._thread.join()
        assert self.errors == []

    @property
    def revision(self) -> int:
        return self._revision

    def _work(self):
        while not self._ended.wait(0.3):
            if self.held:
                continue
            try:
                self._reconcile()
            except Exception as error:  # a thread's failure is told at the end
                self.errors.append(error)
                return

    def _reconcile(self):
        scheduler = self._kubectl.get("scheduler", "cluster")["spec"]
        spec = self._kubectl.get("kubescheduler", "cluster")["spec"]
        text = self._texts[scheduler.get("profile") or "LowNodeUtilization"]
        if self.broken:
            text = json.dumps({**json.loads(text), "parallelism": 3})
        made_of = (text, json.dumps([spec.get(field) or "" for field in FIELDS]))
        policy = (scheduler.get("policy") or {}).get("name")
        if policy:
            self._conditions(
                "KubeScheduler", TargetConfigControllerDegraded=("True", "SynchronizationError", "policy config has been removed")
            )
            self._conditions("ClusterOperator", Available="True", Progressing="False", Degraded="True")
        elif made_of != self._built_of:
            self._built_of = made_of
            self._roll_out(text)

    def _roll_out(self, text):
        config = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "config", "namespace": NAMESPACE},
            "data": {"config.yaml": text},
        }
        self._kubectl.apply(config)
        self._conditions("KubeScheduler", TargetConfigControllerDegraded="False")
        self._revision += 1
        self._conditions("ClusterOperator", Available="True", Progressing="True", Degraded="False")
        for node in self._nodes:
            node["targetRevision"] = self._revision
            self._show()
            node["currentRevision"] = self._revision
            node["targetRevision"] = 0
            self._show()
            self._event(node["nodeName"])
        self._conditions("ClusterOperator", Available="True", Progressing="False", Degraded="False")

    def _show(self):
        _status(self._kubectl, "kubescheduler", "cluster", {"latestAvailableRevision": self._revision, "nodeStatuses": self._nodes})

    def _conditions(self, kind, **conditions):
        now = "2026-01-01T00:00:00Z"
        told = [(name, (value, "AsExpected", "") if isinstance(value, str) else value) for name, value in conditions.items()]
        listed = [
            {"type": name, "status": status, "reason": reason, "message": message, "lastTransitionTime": now}
            for name, (status, reason, message) in told
        ]
        place = ("kubescheduler", "cluster") if kind == "KubeScheduler" else ("clusteroperator", "kube-scheduler")
        _status(self._kubectl, *place, {"conditions": listed})

    def _event(self, node):
        name = f"{node}.{self._revision}"
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": OPERATOR_NAMESPACE},
            "involvedObject": {"kind": "Deployment", "namespace": OPERATOR_NAMESPACE, "name": OPERATOR_NAMESPACE},
            "reason": "NodeCurrentRevisionChanged",
            "message": f'Updated node "{node}" to {self._revision} because static pod is ready',
            "type": "Normal",
        }
        self._kubectl("create", "--filename=-", stdin=event)


def _status(kubectl, kind, name, status):
    kubectl("patch", kind, name, "--subresource=status", "--type=merge", f"--patch={json.dumps({'status': status})}")
