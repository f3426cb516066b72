# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Folders of this machine as a control plane's host, for the module static_pod_scheduler and the stand-in for kubelet."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import yaml

from . import kubelet
from .certificates import Authority
from .direct_module import run_directly
from .static_pod import TEXT


class Host:
    """A host of a control plane: folders, a manifest, and the module with its paths."""

    def __init__(self, folder: Path):
        folder.mkdir(exist_ok=True)
        self.manifests = folder / "kubernetes/manifests"
        self.manifests.mkdir(parents=True)
        self.config_folder = folder / "kubernetes/kube-scheduler"
        self.path = self.manifests / "kube-scheduler.yaml"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        certificate, key = Authority(folder).certificate("127.0.0.1")
        self.command = [sys.executable, kubelet.__file__, f"--secure-port={port}", f"--tls-cert-file={certificate}"]
        self.command += [f"--tls-private-key-file={key}", "--kubeconfig=/etc/kubernetes/scheduler.conf"]
        pod = yaml.safe_load(TEXT)
        pod["spec"]["containers"][0]["command"] = self.command
        self.path.write_text(yaml.safe_dump(pod))

    def run(self, **options):
        usual = {"manifest": str(self.path), "config_folder": str(self.config_folder), "wait_timeout": 60}
        return run_directly("static_pod_scheduler", **{**usual, **options})

    def configurations(self):
        return sorted(path.name for path in self.config_folder.glob("*"))

    def configuration(self):
        """What the only configuration says."""
        (name,) = self.configurations()
        return yaml.safe_load((self.config_folder / name).read_text())

    def others(self):
        """What there is besides the manifest and the configurations."""
        return sorted(path.name for path in self.manifests.parent.iterdir() if path not in (self.manifests, self.config_folder))
