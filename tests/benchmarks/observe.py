# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the operator costs, what it has done, and whether it is done."""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress
from pathlib import Path

from support.operator_pod import AT_REST
from support.site import NAMESPACE

SELECTOR = "app.kubernetes.io/name=osso-scheduler-operator"
# ansible-operator's summary of a run that went well.
DONE = re.compile(r'^\{.*"Ansible-runner exited successfully".*\}$', re.MULTILINE)


def until(check, within=900, pause=0.1):
    """Return when `check()` is true; fails after `within` seconds."""
    deadline = time.monotonic() + within
    while not check():
        assert time.monotonic() < deadline, f"not within {within} s"
        time.sleep(pause)


def serves(resource) -> bool:
    """Does the status of a SecondaryScheduler say that its present generation serves?"""
    status = resource.get("status") or {}
    conditions = {condition["type"]: condition["status"] for condition in status.get("conditions") or []}
    current = status.get("observedGeneration") == resource["metadata"]["generation"]
    return current and conditions.get("Available") == "True" and conditions.get("Progressing") == "False"


def name_of(process) -> str:
    """What the kernel keeps of a process's name; nothing when it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text().strip()
    return ""


class OperatorPod:
    """Figures of the running pod from its cgroup, which is on this machine, and from its log."""

    def __init__(self, api):
        self._core = api.CoreV1Api()

    @property
    def _running(self):
        (pod,) = [
            pod
            for pod in self._core.list_namespaced_pod(NAMESPACE, label_selector=SELECTOR).items
            if not pod.metadata.deletion_timestamp and pod.status.phase == "Running"
        ]
        return pod

    def memory(self) -> float:
        """Working set in MB, as the kubelet counts it: what is in use but for files that the kernel can drop at once."""
        folder = self._cgroup("memory")
        statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        if (folder / "memory.current").exists():
            used, inactive = folder / "memory.current", statistics["inactive_file"]
        else:
            used, inactive = folder / "memory.usage_in_bytes", statistics["total_inactive_file"]
        return (int(used.read_text()) - int(inactive)) / 1e6

    def cpu(self) -> float:
        """CPU seconds that the pod has used so far."""
        folder = self._cgroup("cpuacct")
        if (folder / "cpuacct.usage").exists():
            return int((folder / "cpuacct.usage").read_text()) / 1e9
        statistics = dict(line.split() for line in (folder / "cpu.stat").read_text().splitlines())
        return int(statistics["usage_usec"]) / 1e6

    def runs(self) -> list[tuple[str, str]]:
        """Namespace and name of the resource of each run that ended well, in their order."""
        log = self._core.read_namespaced_pod_log(self._running.metadata.name, NAMESPACE)
        ended = [json.loads(line) for line in DONE.findall(log)]
        return [(entry["namespace"], entry["name"]) for entry in ended]

    def restart(self):
        """Delete the pod and wait for the next one to run."""
        old = self._running.metadata
        self._core.delete_namespaced_pod(old.name, NAMESPACE)

        def replaced():
            pods = self._core.list_namespaced_pod(NAMESPACE, label_selector=SELECTOR).items
            return [pod.status.phase for pod in pods] == ["Running"] and pods[0].metadata.uid != old.uid

        until(replaced, within=120)

    def rest(self, quiet=8.0, within=600):
        """Wait until no process of a reconcile has run for `quiet` seconds: other work must not be in the next figure."""
        container_cgroups = self._cgroup("pids")
        deadline = time.monotonic() + within
        since = time.monotonic()
        while time.monotonic() - since < quiet:
            assert time.monotonic() < deadline, "the operator does not come to rest"
            found = (process for path in container_cgroups.glob("*/cgroup.procs") for process in path.read_text().split())
            if {name_of(process) for process in found} - AT_REST - {"pause", ""}:
                since = time.monotonic()
            time.sleep(0.2)

    def _cgroup(self, controller) -> Path:
        """The pod's cgroup, of version 1 or 2."""
        uid = self._running.metadata.uid
        root = Path("/sys/fs/cgroup")
        top = root / controller if (root / controller).exists() else root
        for _attempt in range(10):
            # Others go away while this looks.
            with suppress(FileNotFoundError):
                found = next((path for path in top.glob(f"*/*/kubepods*/**/*pod{uid}")), None)
                assert found, f"no cgroup of pod {uid} below {top}"
                return found
        raise AssertionError(f"the cgroups below {top} never stay as they are")
