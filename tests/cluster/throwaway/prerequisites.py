# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the machine must have. Checked before any work starts; Debian packages are installed when missing."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .layout import Layout
from .progress import ClusterError, Progress, run_logged

# Daemons and tools are in sbin directories, which not every root shell searches.
SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin"])

CNI_DIRECTORIES = [Path("/usr/lib/cni"), Path("/opt/cni/bin"), Path("/usr/libexec/cni")]

# Debian package -> commands that are used of it.
PACKAGES = {
    "containerd": ["containerd", "containerd-shim-runc-v2"],
    "runc": ["runc"],
    "containernetworking-plugins": [],  # no command: see missing()
    "docker-registry": ["docker-registry"],
    "buildah": ["buildah"],
    "busybox-static": ["busybox"],
    "iproute2": ["ip"],
    "mmdebstrap": ["mmdebstrap"],
    "nftables": ["nft"],
    "openssl": ["openssl"],
    "util-linux": ["unshare", "nsenter"],
}

# Seen of Kubernetes 1.34 and containerd 1.6; the reserve is for programs in pods.
INOTIFY_INSTANCES = {"kube-apiserver": 7, "kube-controller-manager": 6, "kube-scheduler": 1, "kubelet": 7, "kube-proxy": 1, "containerd": 1}
INOTIFY_RESERVE = 8

OTHER_CLUSTER = "set KUBECONFIG and REGISTRY to use another cluster"

POLICY = Path("/usr/sbin/policy-rc.d")


def find(command: str) -> str:
    """The command's path."""
    path = shutil.which(command, path=SEARCH_PATH)
    if not path:
        raise ClusterError(f"the command {command} is missing: install it and start again")
    return path


def cni_directory() -> Path | None:
    return next((directory for directory in CNI_DIRECTORIES if (directory / "bridge").exists()), None)


def missing() -> list[str]:
    """Packages of which a command is missing."""
    names = [name for name, commands in PACKAGES.items() if not all(shutil.which(command, path=SEARCH_PATH) for command in commands)]
    if not cni_directory():
        names.append("containernetworking-plugins")
    return sorted(names)


def check_machine() -> None:
    if platform.system() != "Linux":
        raise ClusterError(f"the throwaway cluster needs Linux, this is {platform.system()}: use a Linux machine, or {OTHER_CLUSTER}")
    if os.geteuid() != 0:
        raise ClusterError(f"the throwaway cluster needs root (namespaces, network links, mounts): run as root, or {OTHER_CLUSTER}")


def check_namespaces() -> None:
    result = subprocess.run(
        [find("unshare"), "--fork", "--net", "--mount", "--pid", "--uts", "--ipc", "--mount-proc", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise ClusterError(
            f"this machine does not let root make namespaces ({result.stderr.strip()}): "
            f"in a container, start it privileged; or {OTHER_CLUSTER}"
        )


def check_inotify(components: Iterable[str]) -> None:
    """See that root can have as many inotify instances as these daemons need: without, they fail in many obscure ways.

    What is free cannot be asked for, so it is tried.
    """
    needed = INOTIFY_RESERVE + sum(INOTIFY_INSTANCES.get(component.split(".")[0], 0) for component in components)
    inotify_init1 = ctypes.CDLL(None).inotify_init1
    opened: list[int] = []
    try:
        while len(opened) < needed:
            instance = inotify_init1(os.O_CLOEXEC)
            if instance < 0:
                raise ClusterError(
                    f"the cluster needs {needed} inotify instances, the machine has only {len(opened)} left for root: "
                    "raise the limit (sysctl -w fs.inotify.max_user_instances=1024), use fewer NODES, or clean other clusters"
                )
            opened.append(instance)
    finally:
        for instance in opened:
            os.close(instance)


def check_go(go_mod_files: list[Path]) -> None:
    """Go must be there, and new enough for the modules or able to fetch a newer one itself (since Go 1.21)."""
    wanted = max((_version(re.search(r"^go (\S+)$", file.read_text(), re.M)[1]) for file in go_mod_files), default=())
    needed = ".".join(map(str, wanted))
    go = shutil.which("go")
    if not go:
        raise ClusterError(f"Go is missing: install Go {needed} or newer (https://go.dev/dl/) and put it on PATH")
    version, toolchain = subprocess.run([go, "env", "GOVERSION", "GOTOOLCHAIN"], capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )[:2]
    found = _version(version.removeprefix("go"))
    if found < wanted and (found < (1, 21) or not toolchain.endswith("auto")):
        raise ClusterError(f"Go {needed} or newer is needed, {go} is {version}: install a newer one from https://go.dev/dl/")


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.match(r"\d+(\.\d+)*", text)[0].split("."))


def check_packages() -> None:
    """See that what is missing can be installed."""
    packages = missing()
    if packages and not _apt():
        raise ClusterError(
            "these Debian packages (or what they contain) are missing, and there is no apt-get to install them: "
            f"{', '.join(packages)}: install them and start again"
        )


def _apt() -> str | None:
    return shutil.which("apt-get", path=SEARCH_PATH)


def ensure_packages(layout: Layout, progress: Progress) -> None:
    packages = missing()
    if not packages:
        return
    env = {**os.environ, "PATH": SEARCH_PATH, "DEBIAN_FRONTEND": "noninteractive"}
    with progress.step(f"install Debian packages {' '.join(packages)}") as step, services_stay_stopped():

        def on_line(line: str) -> None:
            if line.startswith(("Get:", "Unpacking", "Setting up")):
                step.detail = line[:60]

        log = layout.logs / "apt.log"
        run_logged([_apt(), "update"], log, "apt-get update failed: check the network and /etc/apt/sources.list", on_line=on_line, env=env)
        run_logged(
            [_apt(), "install", "--yes", "--no-install-recommends", "--no-upgrade", *packages],
            log,
            f"the Debian packages {', '.join(packages)} could not be installed",
            on_line=on_line,
            env=env,
        )
    if still := missing():
        raise ClusterError(f"apt-get installed what it was asked for, yet something of these packages is missing: {', '.join(still)}")


@contextmanager
def services_stay_stopped() -> Iterator[None]:
    """Packages must not start their services (containerd, a registry on all addresses) on the machine.

    Where the machine's owner has a policy already, that one stays in charge.
    """
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()
