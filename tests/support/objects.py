# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubernetes objects that tests of the module apply need more than once."""

from __future__ import annotations


def config_map(namespace, name="settings", **data) -> dict:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}


def deployment(namespace, name="app", image="registry.k8s.io/pause:3.10", replicas=1, **pod) -> dict:
    labels = {"app": name}
    container = {"name": "main", "image": image}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"terminationGracePeriodSeconds": 1, "containers": [container], **pod},
            },
        },
    }


def things(group) -> dict:
    """A CustomResourceDefinition of kind Thing with a status subresource; `group` keeps tests apart."""
    condition = {
        "type": "object",
        "required": ["type", "status"],
        "properties": {key: {"type": "string"} for key in ("type", "status", "reason", "message", "lastTransitionTime")},
    }
    conditions = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": condition,
    }
    status = {"type": "object", "properties": {"observedGeneration": {"type": "integer"}, "conditions": conditions}}
    spec = {
        "type": "object",
        "properties": {"size": {"type": "integer", "minimum": 0}, "mode": {"type": "string", "default": "plain"}},
    }
    schema = {"type": "object", "properties": {"spec": spec, "status": status}}
    version = {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": "Thing", "plural": "things"},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def thing(group, namespace, name="one", **fields) -> dict:
    return {
        "apiVersion": f"{group}/v1",
        "kind": "Thing",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"size": 1},
        **fields,
    }
