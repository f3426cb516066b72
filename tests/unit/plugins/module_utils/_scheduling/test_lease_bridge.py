# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pod that places pods while two schedulers hand over their Lease."""

from __future__ import annotations

import copy

from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.lease_bridge import bridge

WORKLOAD = "secondary-scheduler-batch"


def pod(secret=f"{WORKLOAD}-config-0123456789ab"):
    return {
        "metadata": {
            "name": f"{WORKLOAD}-6c5b4d-x2x9z",
            "namespace": "one",
            "uid": "u",
            "labels": {"app": WORKLOAD, "pod-template-hash": "6c5b4d"},
            "annotations": {
                "openshift.io/required-scc": "restricted-v2",
                "k8s.ovn.org/pod-networks": "{}",
                "cni.projectcalico.org/podIP": "1",
            },
            "ownerReferences": [{"kind": "ReplicaSet"}],
        },
        "spec": {
            "nodeName": "node-1",
            "serviceAccountName": WORKLOAD,
            "volumes": [{"name": "config", "secret": {"secretName": secret}}, {"name": "kube-api-access-abcde", "projected": {}}],
            "containers": [
                {
                    "name": "secondary-scheduler",
                    "args": ["--config=/etc/kubernetes/config.yaml", "--leader-elect=true", "--leader-elect-retry-period=2s"],
                    "volumeMounts": [{"name": "config", "mountPath": "/c"}, {"name": "kube-api-access-abcde", "mountPath": "/t"}],
                }
            ],
        },
        "status": {"phase": "Running"},
    }


def test_the_bridge_is_the_same_pod_without_leader_election():
    given = pod()
    before = copy.deepcopy(given)
    assert bridge(given, WORKLOAD) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{WORKLOAD}-bridge",
            "namespace": "one",
            "labels": {"app": WORKLOAD},
            "annotations": {"openshift.io/required-scc": "restricted-v2"},
        },
        "spec": {
            "serviceAccountName": WORKLOAD,
            "volumes": [{"name": "config", "secret": {"secretName": f"{WORKLOAD}-config-0123456789ab"}}],
            "containers": [
                {
                    "name": "secondary-scheduler",
                    "args": ["--config=/etc/kubernetes/config.yaml", "--leader-elect=false", "--leader-elect-retry-period=2s"],
                    "volumeMounts": [{"name": "config", "mountPath": "/c"}],
                }
            ],
        },
    }
    assert given == before


def test_pods_of_another_operator_or_scheduler_are_not_bridged():
    assert bridge(pod(secret="secondary-scheduler-config-0123456789ab"), WORKLOAD) == {}
    assert bridge({"metadata": {"labels": {}}, "spec": {}}, WORKLOAD) == {}
