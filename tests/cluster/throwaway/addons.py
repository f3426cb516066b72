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
from pathlib import Path
from string import Template

from . import build, images
from .api import Api, wait
from .control_plane import API_SERVER
from .layout import COREDNS, DNS_IP, DOMAIN, OLM, OPM, SOURCE, Layout, Record, digest, write
from .prerequisites import find
from .processes import running
from .progress import ClusterError, Progress, run_logged


@dataclass(frozen=True)
class Addon:
    """`ready` is asked until it is true, for so many seconds; `manifests` is a file in manifests/ with ${PLACEHOLDERS}.

    `definitions` are the kinds that it needs: directory of a Go module of ours, Go module that publishes them, folder in that one.
    """

    summary: str
    manifests: str
    definitions: tuple[str, str, str] | None = None
    programs: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    ready: Callable[[Layout, Record], bool] | None = None
    required: bool = False
    seconds: float = 120


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


def _olm_works(layout: Layout, record: Record) -> bool:
    """Whether both operators are available, and what the catalogs hold can be listed."""
    api = Api(layout, record)
    deployments = (api.get(f"/apis/apps/v1/namespaces/olm/deployments/{name}") for name in ("olm-operator", "catalog-operator"))
    return all(map(_is_available, deployments)) and api.get("/apis/packages.operators.coreos.com/v1/packagemanifests") is not None


def _is_available(workload: dict | None) -> bool:
    return _has_condition(workload, "Available")


def _is_established(definition: dict | None) -> bool:
    return _has_condition(definition, "Established")


def _has_condition(live: dict | None, kind: str) -> bool:
    conditions = ((live or {}).get("status") or {}).get("conditions") or []
    return any((condition["type"], condition["status"]) == (kind, "True") for condition in conditions)


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
    "olm": Addon(
        "Operator Lifecycle Manager, with the API that lists what catalogs hold",
        "olm.yaml",
        definitions=("olm", "github.com/operator-framework/api", "crds"),
        programs=(*images.OLM_PROGRAMS, *images.OPM_PROGRAMS, "operator-verify"),
        images=("olm", "opm"),
        ready=_olm_works,
        seconds=300,
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
    values = {"REGISTRY": record.registry, "DOMAIN": DOMAIN, "DNS_IP": DNS_IP, "COREDNS": COREDNS, "OLM": OLM, "OPM": OPM}
    text = Template((SOURCE / "manifests" / addon.manifests).read_text()).substitute(values)
    # The mark lies beside etcd's data, so that both go together.
    mark = layout.state / "etcd" / f"addon-{name}"
    if mark.exists() and mark.read_text() == digest(text):
        return
    if addon.definitions:
        _define(layout, record, name, *addon.definitions)
    manifests = write(layout.config / f"addon-{name}.yaml", text)
    _send(layout, manifests, layout.logs / f"addon-{name}.log", f"the manifests of the add-on {name} were refused")
    mark.write_text(digest(text))


def _define(layout: Layout, record: Record, name: str, module: str, publisher: str, folder: str) -> None:
    """Apply the definitions that another project publishes, and wait until their kinds are served."""
    api = Api(layout, record)
    path = build.published(layout, module, publisher) / folder
    _send(layout, path, layout.logs / f"addon-{name}-definitions.log", f"the definitions of the add-on {name} were refused")

    def served() -> bool:
        # <group>_<plural>.yaml
        named = (file.stem.partition("_")[::2] for file in path.glob("*.yaml"))
        definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        return all(_is_established(api.get(f"{definitions}/{plural}.{group}")) for group, plural in named)

    wait(layout, served, f"the kinds of the add-on {name} are served", [API_SERVER], 60)


def _send(layout: Layout, path: Path, log: Path, failure: str) -> None:
    """Have the cluster take what is in a file, or in a folder's YAML files."""
    kubectl = [layout.bin / "kubectl", "--kubeconfig", layout.kubeconfig]
    run_logged(
        [*kubectl, "apply", "--server-side", "--force-conflicts", "--field-manager=throwaway-cluster", "--filename", path], log, failure
    )


def works(layout: Layout, record: Record, name: str) -> bool:
    ready = ADDONS[name].ready
    return ready is None or ready(layout, record)


def await_works(layout: Layout, record: Record, name: str, progress: Progress) -> None:
    if not works(layout, record, name):
        with progress.step(f"{name} works") as step:
            wait(layout, lambda: works(layout, record, name), f"the add-on {name} works", [API_SERVER], ADDONS[name].seconds, step)
