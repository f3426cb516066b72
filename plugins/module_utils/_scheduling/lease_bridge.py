# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pod that schedules pods while the Lease changes from one scheduler to another.

The upstream operator's scheduler tries to acquire the Lease every 26 to 57 s. Without a bridge no pod is placed for that long after the former
leader has released it.
"""

from __future__ import annotations

from typing import Any

_TEMPLATE_HASH = "pod-template-hash"
# Mounted into every pod by the API server, under a name of its own each time.
_TOKEN_VOLUME = "kube-api-access-"
# Where network plugins record the addresses of a pod
_NETWORK = ("k8s.", "cni.")
_ELECTS, _ALWAYS = "--leader-elect=true", "--leader-elect=false"


def bridge(pod: dict[str, Any], workload: str) -> dict[str, Any]:
    """A copy of the scheduler's running ``pod`` that places pods without the Lease.

    ``workload`` is the name of the scheduler's Deployment. Returns {} for a pod that does not mount a configuration of the operator for it. The copy
    may run on any node, and belongs to no ReplicaSet.
    """
    metadata, spec = pod["metadata"], pod["spec"]
    volumes = spec.get("volumes") or []
    mounted = [(volume.get("secret") or {}).get("secretName", "") for volume in volumes]
    if not any(name.startswith(f"{workload}-config-") for name in mounted):
        return {}
    kept = {key: value for key, value in spec.items() if key not in ("nodeName", "volumes", "containers")}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{workload}-bridge",
            "namespace": metadata["namespace"],
            "labels": {key: value for key, value in metadata["labels"].items() if key != _TEMPLATE_HASH},
            "annotations": {key: value for key, value in (metadata.get("annotations") or {}).items() if not key.startswith(_NETWORK)},
        },
        "spec": {
            **kept,
            "containers": [_without_the_lease(container) for container in spec["containers"]],
            "volumes": [volume for volume in volumes if not volume["name"].startswith(_TOKEN_VOLUME)],
        },
    }


def _without_the_lease(container: dict[str, Any]) -> dict[str, Any]:
    return {
        **container,
        "args": [_ALWAYS if arg == _ELECTS else arg for arg in container.get("args") or []],
        "volumeMounts": [mount for mount in container.get("volumeMounts") or [] if not mount["name"].startswith(_TOKEN_VOLUME)],
    }
