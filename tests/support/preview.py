# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes and pods as kubectl prints them, for previews."""

from __future__ import annotations

import json

CONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"schedulerName": "second"}],
}
SECRET = "planted-secret"


def node(name, cpu="4", pods="110", **spec) -> dict:
    amounts = {"cpu": cpu, "memory": "16Gi", "pods": pods}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name},
            "annotations": {"token": SECRET},
            "managedFields": [{"manager": "kubelet"}],
        },
        "spec": spec,
        "status": {"allocatable": amounts, "capacity": amounts, "addresses": [{"type": "InternalIP", "address": "192.0.2.7"}]},
    }


def pod(name, on="", cpu="100m", labels=None, owner="ReplicaSet", **spec) -> dict:
    container = {
        "name": "main",
        "image": "registry.example.com/app:1",
        "command": ["run", SECRET],
        "args": [SECRET],
        "env": [{"name": "TOKEN", "value": SECRET}],
        "resources": {"requests": {"cpu": cpu, "memory": "100Mi"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "labels": labels or {"app": "shop"},
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": SECRET},
            "ownerReferences": [{"apiVersion": "v1", "kind": owner, "name": "owner", "uid": "1", "controller": True}],
        },
        "spec": {"schedulerName": "default-scheduler", "containers": [container], **({"nodeName": on} if on else {}), **spec},
        "status": {"phase": "Running" if on else "Pending"},
    }


def listed(*objects) -> bytes:
    """What `kubectl get -o json` prints."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}).encode()
