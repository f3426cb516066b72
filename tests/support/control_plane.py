# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes of the throwaway cluster as hosts of a control plane: kube-scheduler is a static pod of their kubelets, as kubeadm makes it."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from cluster.throwaway import control_plane, processes
from cluster.throwaway.layout import Layout
from cluster.throwaway.prerequisites import find

from . import health_watch
from .outages import Outages
from .scheduler import IMAGE, eventually

ADDRESS = ("127.0.0.1", 10259)


@dataclass(frozen=True)
class Host:
    """A node. `folder` is its /etc/kubernetes as the machine sees it, `inside` as the node does; `pid`: of its first process."""

    name: str
    folder: Path
    inside: Path
    pid: int

    @property
    def manifest(self) -> Path:
        return self.folder / "manifests/kube-scheduler.yaml"

    @property
    def pod(self) -> str:
        """The mirror pod's name."""
        return f"kube-scheduler-{self.name}"

    def files(self) -> dict[str, tuple[str, int]]:
        """All files: by their names what is in them, and when each was written."""
        found = [path for path in self.folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.folder)): (path.read_text(), path.stat().st_mtime_ns) for path in found}

    def enter(self, *namespaces: str) -> list[str]:
        """The beginning of a command line that runs in these namespaces of the node."""
        return [find("nsenter"), f"--target={self.pid}", *(f"--{name}" for name in namespaces), "--"]


class ControlPlane:
    """While it is entered, the cluster's own scheduler is away, and nodes that were added run one each.

    with ControlPlane(folder, kubectl, tmp_path) as plane:
        plane.add("node-1")
        play(..., args=[f"--inventory={plane.inventory}"])
    """

    def __init__(self, folder: Path, kubectl, own: Path):
        self._layout = Layout(folder)
        self._outages = Outages(folder)
        self._kubectl = kubectl
        self._own = own
        self.hosts: dict[str, Host] = {}

    def __enter__(self) -> ControlPlane:
        # A run that was killed may have left the cluster without its scheduler, and nodes with one.
        self._outages.repair()
        for folder in self._layout.state.glob("nodes/*/kubernetes"):
            (folder / "manifests/kube-scheduler.yaml").unlink(missing_ok=True)
            shutil.rmtree(folder / "kube-scheduler", ignore_errors=True)
        self._outages.stop(control_plane.SCHEDULER)
        return self

    def __exit__(self, *_exception) -> None:
        try:
            for host in self.hosts.values():
                host.manifest.unlink(missing_ok=True)
            eventually(lambda: not any(self.mirror(host) for host in self.hosts.values()))
            self._kubectl("delete", "lease", "kube-scheduler", "--namespace=kube-system", "--ignore-not-found")
            for host in self.hosts.values():
                (host.folder / "scheduler.conf").unlink(missing_ok=True)
                shutil.rmtree(host.folder / "kube-scheduler", ignore_errors=True)
        finally:
            self._outages.start(control_plane.SCHEDULER)

    def add(self, name: str) -> Host:
        """Have the node run a kube-scheduler, and wait until it is ready."""
        folder = self._layout.static_pods(name).parent
        pid = processes.running(self._layout)[f"node-init.{name}"].pid
        host = self.hosts[name] = Host(name, folder, self._layout.in_node(folder), pid)
        shutil.copy(self._layout.pki / "kube-scheduler.kubeconfig", folder / "scheduler.conf")
        new = folder / "kube-scheduler.yaml"
        new.write_text(yaml.safe_dump(manifest(host.inside / "scheduler.conf"), sort_keys=False))
        new.rename(host.manifest)
        self.await_ready(host)
        return host

    def await_ready(self, host: Host) -> None:
        """Wait until its pod runs what its manifest says, and is ready."""
        wanted = yaml.safe_load(host.manifest.read_text())["spec"]["containers"][0]["command"]

        def ready():
            """its pod is Ready"""
            pod = self.mirror(host) or {}
            conditions = (pod.get("status") or {}).get("conditions") or []
            return (
                pod
                and pod["spec"]["containers"][0]["command"] == wanted
                and any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
            )

        eventually(ready)

    def mirror(self, host: Host) -> dict | None:
        """The pod as the API server shows it."""
        return self._kubectl.get("pod", host.pod, "kube-system")

    @property
    def inventory(self) -> Path:
        """Of the hosts. Their Python runs in the node: what it sees of processes, files and network is what a host would."""
        inside = ("mount", "net", "pid", "uts", "ipc")
        variables = {}
        for host in self.hosts.values():
            python = self._own / host.name / "python"
            python.parent.mkdir(exist_ok=True)
            python.write_text(f'#!/bin/sh\nexec {shlex.join([*host.enter(*inside), sys.executable])} "$@"\n')
            python.chmod(0o755)
            variables[host.name] = {
                "ansible_connection": "local",
                "ansible_become": False,  # the tests are root
                "ansible_python_interpreter": str(python),
                "default_scheduler_manifest": str(host.inside / "manifests/kube-scheduler.yaml"),
                "default_scheduler_config_folder": str(host.inside / "kube-scheduler"),
            }
        path = self._own / "inventory.yml"
        path.write_text(yaml.safe_dump({"control_plane": {"hosts": variables}}))
        return path

    @contextlib.contextmanager
    def watched(self) -> Iterator[Watch]:
        """Ask all hosts for their health meanwhile."""
        watch = Watch(self.hosts, self._own)
        try:
            yield watch
        finally:
            watch.end()


def manifest(kubeconfig: Path) -> dict:
    """The pod as kubeadm writes it, with the cluster's own image."""
    port = {"host": ADDRESS[0], "port": ADDRESS[1], "scheme": "HTTPS"}
    probes = {
        "livenessProbe": ("/livez", {"failureThreshold": 8, "initialDelaySeconds": 10, "periodSeconds": 10}),
        "readinessProbe": ("/readyz", {"failureThreshold": 3, "periodSeconds": 1}),
        "startupProbe": ("/livez", {"failureThreshold": 24, "initialDelaySeconds": 10, "periodSeconds": 10}),
    }
    container = {
        "name": "kube-scheduler",
        "image": IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "command": [
            "kube-scheduler",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            f"--bind-address={ADDRESS[0]}",
            f"--kubeconfig={kubeconfig}",
            "--leader-elect=true",
        ],
        "resources": {"requests": {"cpu": "100m"}},
        "volumeMounts": [{"name": "kubeconfig", "mountPath": str(kubeconfig), "readOnly": True}],
        **{name: {"httpGet": {**port, "path": path}, "timeoutSeconds": 15, **rest} for name, (path, rest) in probes.items()},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "kube-scheduler",
            "namespace": "kube-system",
            "labels": {"component": "kube-scheduler", "tier": "control-plane"},
        },
        "spec": {
            "containers": [container],
            "hostNetwork": True,
            "priority": 2000001000,
            "priorityClassName": "system-node-critical",
            "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
            "volumes": [{"name": "kubeconfig", "hostPath": {"path": str(kubeconfig), "type": "FileOrCreate"}}],
        },
    }


class Watch:
    """What the schedulers of hosts answer, several times a second. It is kept in `folder` meanwhile: a pipe would be full after minutes."""

    def __init__(self, hosts: dict[str, Host], folder: Path, address: tuple[str, int] = ADDRESS):
        self._files = {name: folder / f"{name}.health" for name in hosts}
        self._watchers = {}
        for name, host in hosts.items():
            with self._files[name].open("w") as file:
                watcher = subprocess.Popen([*host.enter("net"), sys.executable, health_watch.__file__, *map(str, address)], stdout=file)
            self._watchers[name] = watcher
        self._answers: list[tuple[float, str, bool]] = []

    def end(self) -> None:
        for name, watcher in self._watchers.items():
            watcher.terminate()
            watcher.wait()
            # What was being written when it ended is no line.
            for line in self._files[name].read_text().splitlines(keepends=True):
                at, _space, answer = line.partition(" ")
                if line.endswith("\n"):
                    self._answers.append((float(at), name, answer.strip() == "1"))
        self._answers.sort()

    def seconds_unserved(self) -> float:
        """How long, in all, no host's scheduler was well."""
        last = dict.fromkeys(self._watchers, True)
        total, since = 0.0, None
        for at, name, well in self._answers:
            last[name] = well
            if since is not None:
                total, since = total + at - since, None
            if not any(last.values()):
                since = at
        return total

    def interrupted(self) -> set[str]:
        """The hosts whose schedulers were not well at some time."""
        return {name for _at, name, well in self._answers if not well}
