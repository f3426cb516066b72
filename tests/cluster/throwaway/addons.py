# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What runs in the cluster as pods: parts that a cluster always has, and others for who asks for them by name.

An add-on is a row of ADDONS: the programs and images that it is made of (rows of build.PROGRAMS and images.IMAGES), a file of
manifests, and how to see that it works.
Nothing of it is built before `cluster addon NAME` asks for it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from string import Template

from . import build, images
from .api import wait
from .control_plane import API_SERVER
from .layout import COREDNS, DNS_IP, DOMAIN, SOURCE, Layout, Record, digest, write
from .prerequisites import find
from .processes import running
from .progress import ClusterError, Progress, run_logged


@dataclass(frozen=True)
class Addon:
    """`ready` is asked until it is true; `manifests` is a file in manifests/ with ${PLACEHOLDERS}."""

    summary: str
    manifests: str
    programs: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    ready: Callable[[Layout, Record], bool] | None = None
    required: bool = False


def _dns_answers(layout: Layout, record: Record) -> bool:
    """Whether every node gets an answer at the Service's address: more than any status says, which may be old."""
    alive = running(layout)
    for node in record.node_names():
        first = alive.get(f"node-init.{node}")
        if not first:
            return False
        inside = [find("nsenter"), f"--target={first.pid}", "--net", find("busybox"), "nslookup"]
        asked = [*inside, "-type=a", f"kubernetes.default.svc.{DOMAIN}", DNS_IP]
        try:
            if subprocess.run(asked, capture_output=True, timeout=1, check=False).returncode:
                return False
        except subprocess.TimeoutExpired:
            return False
    return True


ADDONS = {
    "rbac": Addon("access of the API server to the kubelets", "rbac.yaml", required=True),
    "dns": Addon(
        "cluster DNS by CoreDNS",
        "dns.yaml",
        programs=("coredns",),
        images=("coredns",),
        ready=_dns_answers,
        required=True,
    ),
}

REQUIRED = tuple(name for name, addon in ADDONS.items() if addon.required)


def ensure(layout: Layout, record: Record, progress: Progress, name: str) -> None:
    """Install the add-on or bring it up to date, and wait until it works."""
    if name not in ADDONS:
        raise ClusterError(f"there is no add-on {name}: choose from {', '.join(sorted(ADDONS))}")
    addon = ADDONS[name]
    build.ensure(layout, progress, addon.programs)
    images.ensure(layout, record, progress, addon.images)
    apply(layout, record, name)
    await_works(layout, record, name, progress)


def apply(layout: Layout, record: Record, name: str) -> None:
    """Apply the manifests unless this cluster has them already in this form."""
    addon = ADDONS[name]
    values = {"REGISTRY": record.registry, "DOMAIN": DOMAIN, "DNS_IP": DNS_IP, "COREDNS": COREDNS}
    text = Template((SOURCE / "manifests" / addon.manifests).read_text()).substitute(values)
    # The mark lies beside etcd's data, so that both go together.
    mark = layout.state / "etcd" / f"addon-{name}"
    if mark.exists() and mark.read_text() == digest(text):
        return
    manifests = write(layout.config / f"addon-{name}.yaml", text)
    kubectl = [layout.bin / "kubectl", "--kubeconfig", layout.kubeconfig]
    argv = [*kubectl, "apply", "--server-side", "--force-conflicts", "--field-manager=throwaway-cluster", "--filename", manifests]
    run_logged(argv, layout.logs / f"addon-{name}.log", f"the manifests of the add-on {name} were refused")
    mark.write_text(digest(text))


def works(layout: Layout, record: Record, name: str) -> bool:
    ready = ADDONS[name].ready
    return ready is None or ready(layout, record)


def await_works(layout: Layout, record: Record, name: str, progress: Progress) -> None:
    if not works(layout, record, name):
        with progress.step(f"{name} works") as step:
            wait(layout, lambda: works(layout, record, name), f"the add-on {name} works", [API_SERVER], 120, step)
