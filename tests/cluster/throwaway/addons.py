# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What runs in the cluster as pods: parts that a cluster always has, and others for who asks for them by name.

An add-on is a row of ADDONS: the programs and images that it is made of (rows of build.PROGRAMS and images.IMAGES), a file of
manifests, and how to see that it works. Nothing of it is built before `cluster addon NAME` asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from string import Template

from . import build, images
from .api import Api, wait
from .control_plane import API_SERVER
from .layout import COREDNS, DNS_IP, DOMAIN, SOURCE, Layout, Record, digest, write
from .progress import ClusterError, Progress, Step, run_logged


@dataclass(frozen=True)
class Addon:
    """`ready` is asked until it is true; `manifests` is a file in manifests/ with ${PLACEHOLDERS}."""

    summary: str
    manifests: str
    programs: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    ready: Callable[[Api], bool] = lambda api: True
    required: bool = False


ADDONS = {
    "rbac": Addon("access of the API server to the kubelets", "rbac.yaml", required=True),
    "dns": Addon(
        "cluster DNS by CoreDNS",
        "dns.yaml",
        programs=("coredns",),
        images=("coredns",),
        ready=lambda api: api.deployment_available("kube-system", "coredns"),
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
    with progress.step(f"add-on {name}") as step:
        apply(layout, record, name)
        await_ready(layout, record, name, step)


def apply(layout: Layout, record: Record, name: str) -> bool:
    """Apply the manifests unless this cluster has them already in this form; whether they were applied."""
    addon = ADDONS[name]
    values = {"REGISTRY": record.registry, "DOMAIN": DOMAIN, "DNS_IP": DNS_IP, "COREDNS": COREDNS}
    text = Template((SOURCE / "manifests" / addon.manifests).read_text()).substitute(values)
    # The mark lies beside etcd's data, so that both go together.
    mark = layout.state / "etcd" / f"addon-{name}"
    if mark.exists() and mark.read_text() == digest(text):
        return False
    manifests = write(layout.config / f"addon-{name}.yaml", text)
    kubectl = [layout.bin / "kubectl", "--kubeconfig", layout.kubeconfig]
    argv = [*kubectl, "apply", "--server-side", "--force-conflicts", "--field-manager=throwaway-cluster", "--filename", manifests]
    run_logged(argv, layout.logs / f"addon-{name}.log", f"the manifests of the add-on {name} were refused")
    mark.write_text(digest(text))
    return True


def works(layout: Layout, record: Record, name: str) -> bool:
    return ADDONS[name].ready(Api(layout, record))


def await_ready(layout: Layout, record: Record, name: str, step: Step | None = None) -> None:
    wait(layout, lambda: works(layout, record, name), f"the add-on {name} works", [API_SERVER], 120, step)
