# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A static pod of the default scheduler: its manifest, and a configuration. Pure, as the unit tests that use it."""

from __future__ import annotations

import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import manifest

CONFIG = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
# As kubeadm writes it, as far as it matters
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "kube-scheduler", "namespace": "kube-system", "labels": {"component": "kube-scheduler"}},
    "spec": {
        "containers": [
            {
                "name": "kube-scheduler",
                "image": "registry.k8s.io/kube-scheduler:v1.34.7",
                "command": ["kube-scheduler", "--bind-address=127.0.0.1", "--kubeconfig=/etc/kubernetes/scheduler.conf", "--v=2"],
                "volumeMounts": [{"name": "kubeconfig", "mountPath": "/etc/kubernetes/scheduler.conf", "readOnly": True}],
            }
        ],
        "hostNetwork": True,
        "volumes": [{"name": "kubeconfig", "hostPath": {"path": "/etc/kubernetes/scheduler.conf", "type": "FileOrCreate"}}],
    },
}
TEXT = "# written by hand\n" + yaml.safe_dump(POD, sort_keys=False)


def with_kubeconfig(text, kubeconfig="/etc/kubernetes/scheduler.conf"):
    """The configuration as a host gets it whose manifest has this flag, and no other one that kube-scheduler would ignore."""
    flags = [f"--kubeconfig={kubeconfig}"] if kubeconfig else []
    pod = {"metadata": {}, "spec": {"containers": [{"name": "kube-scheduler", "command": ["kube-scheduler", *flags]}]}}
    return manifest.with_ignored_flags(text, manifest.Manifest("", pod))
