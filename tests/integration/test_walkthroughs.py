# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pages of docs/walkthroughs, as their readers follow them: every command, and what it prints.

WALKTHROUGHS=write (`make walkthroughs`) writes into the pages what the commands print now.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from textwrap import indent

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.openshift import rendered
from cluster.throwaway.layout import RELEASES, Layout
from support.ansible_runs import play
from support.control_plane import ControlPlane
from support.load_aware import reserve
from support.monitoring import Load, Stack
from support.openshift import openshift
from support.private_registry import MANIFESTS, PrivateRegistry, skopeo
from support.scheduler import IMAGE, eventually, program_with_plugins
from support.site import NAMESPACE, installed, remove
from support.walkthrough import Page, Place

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/walkthroughs"

# What the pages call the operator's image; all others are called here as everywhere.
OPERATOR_IMAGE = "registry.example.com/osso/scheduler-operator:1.0.0"


def place(**more) -> Place:
    names = {OPERATOR_IMAGE: Path(os.environ["OPERATOR_IMAGE_FILE"]).read_text().strip(), **more.pop("names", {})}
    return Place(names=names, **more)


@contextmanager
def without_operator(request) -> Iterator[Place]:
    remove()
    yield place()


@contextmanager
def without_operator_and_pool(request) -> Iterator[Place]:
    remove()
    unlabel = ("label", "nodes", "--all", "pool-")
    kubectl = request.getfixturevalue("kubectl")
    kubectl(*unlabel)
    try:
        yield place()
    finally:
        kubectl(*unlabel)
        play("osso.scheduler.pools", variables={"scheduler_pools": [{"scheduler_name": "research", "state": "absent"}]})


@contextmanager
def with_operator(request) -> Iterator[Place]:
    """It is left as it was found: what a page has brought to its namespace is waited for to be gone."""
    installed()
    yield place()
    kubectl = request.getfixturevalue("kubectl")
    eventually(lambda: kubectl.get("secondaryscheduler", "packing", NAMESPACE) is None)


@contextmanager
def with_a_program(request) -> Iterator[Place]:
    """The program is that of the image. The page's picture is a screenshot of the page that the first preview writes."""
    folder = request.getfixturevalue("tmp_path")
    (folder / "kube-scheduler").symlink_to(program_with_plugins(request.getfixturevalue("own_cluster")))
    with ExitStack() as stack:
        yield stack.enter_context(with_operator(request))
        if os.environ.get("WALKTHROUGHS") == "write":
            picture = PAGES / "decide-before-you-deploy.png"
            look = ["--hide-scrollbars", "--window-size=1000,1260", f"--screenshot={picture}"]
            subprocess.run(["chromium", "--headless", "--no-sandbox", *look, f"file://{folder}/preview-localhost.html"], check=True)


@contextmanager
def without_custom_scheduler(request) -> Iterator[Place]:
    away = {"custom_schedulers": [{"name": "batch", "state": "absent"}]}
    play("osso.scheduler.custom_scheduler", variables=away)
    try:
        yield place()
    finally:
        play("osso.scheduler.custom_scheduler", variables=away)


@contextmanager
def of_an_older_version(request) -> Iterator[Place]:
    """The one image of operator and scheduler that there is, by tags of two versions: what rolls out is real, what is new is the name."""
    registry = os.environ["REGISTRY"]
    operator = Path(os.environ["OPERATOR_IMAGE_FILE"]).read_text().strip().partition("@")[2]
    tag(registry, "osso/scheduler-operator", operator, "0.9.0", "1.0.0")
    tag(registry, "scheduler-plugins/kube-scheduler", IMAGE.rpartition(":")[2], "v0.33.5")
    remove()
    yield Place(names={"registry.example.com/schedulers/operator": f"{registry}/osso/scheduler-operator"})


def tag(registry: str, repository: str, reference: str, *tags: str) -> None:
    """Have the image of the throwaway cluster's registry be called so, too."""
    manifests = f"http://{registry}/v2/{repository}/manifests"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(f"{manifests}/{reference}", headers={"Accept": MANIFESTS}), timeout=30) as answer:
        kind, manifest = answer.headers["Content-Type"], answer.read()
    for name in tags:
        put = urllib.request.Request(f"{manifests}/{name}", data=manifest, headers={"Content-Type": kind}, method="PUT")
        opener.open(put, timeout=30).close()


@contextmanager
def with_a_private_registry(request) -> Iterator[Place]:
    """It wants TLS and a password, and nodes know it. The sources are in the cluster's own registry, which speaks plain HTTP."""
    folder = request.getfixturevalue("tmp_path_factory").mktemp("private")
    source = os.environ["REGISTRY"]
    here = {"mirror_insecure_registries": [source], "mirror_probe_image": f"{source}/pause:3.10", "mirror_skopeo": skopeo(folder)}
    private = PrivateRegistry(folder / "registry", source.partition(":")[0])
    remove()
    with private.serving(), private.known_to_nodes(request.getfixturevalue("own_cluster")):
        login = {"auths": {private.host: {"auth": private.authorization.removeprefix("Basic ")}}}
        yield place(
            names={"mirror.example.com:5000": private.host, "registry.k8s.io": source},
            more={"vars.yml": yaml.safe_dump(here), "auth.json": json.dumps(login), "registry-ca.pem": private.ca_file.read_text()},
        )
        remove()  # before the registry goes


@contextmanager
def with_prometheus(request) -> Iterator[Place]:
    """One node is nearly full, but nobody has requested much of it; of the others pods have."""
    kubectl, cluster = (request.getfixturevalue(name) for name in ("kubectl", "own_cluster"))
    namespace = request.getfixturevalue("namespace")
    remove()
    with Stack.of(cluster, kubectl, request.getfixturevalue("tmp_path_factory").mktemp("monitoring"), openshift=False) as stack:
        full, half, quiet, *rest = stack.nodes
        stack.under({**dict.fromkeys([full, *rest], Load(0.9)), half: Load(0.5), quiet: Load(0.2)})
        reserve(kubectl, namespace, half, quiet)
        yield place(names={"http://prometheus.example.com:9090": stack.url}, nodes=True)


@contextmanager
def with_both_kinds_of_control_plane(request) -> Iterator[Place]:
    """OpenShift's definitions with a stand-in for its operator, and a node that runs the cluster's scheduler as a static pod."""
    kubectl, cluster = (request.getfixturevalue(name) for name in ("kubectl", "own_cluster"))
    profiles = ("LowNodeUtilization", "HighNodeUtilization", "NoScoring")
    own = request.getfixturevalue("tmp_path_factory").mktemp("control-plane")
    with (
        openshift(kubectl, {profile: json.dumps(rendered("4.18", profile)) for profile in profiles}),
        ControlPlane(cluster, kubectl, own) as plane,
    ):
        plane.add("node-1")
        variables = yaml.safe_load(plane.inventory.read_text())["control_plane"]["hosts"]["node-1"]
        yield place(names={"control-plane-1": "node-1"}, more={"hosts.yml": indent(yaml.safe_dump(variables), 6 * " ")})


# By page where it begins; those of the gate first.
WHERE = {
    "pending-pods": with_operator,
    "secondary-scheduler": without_operator,
    "gang-scheduling": without_operator,
    "team-scheduler": without_operator_and_pool,
    "decide-before-you-deploy": with_a_program,
    "custom-scheduler": without_custom_scheduler,
    "five-minutes": with_operator,
    "upgrade": of_an_older_version,
    "load-aware": with_prometheus,
    "default-scheduler": with_both_kinds_of_control_plane,
    "disconnected": with_a_private_registry,
}


@pytest.fixture
def left_as_found(kubectl):
    """Namespaces that a page has made go, also after a failure."""

    def namespaces():
        return set(kubectl("get", "namespaces", "--output=name").stdout.split()) - {f"namespace/{NAMESPACE}"}

    before = namespaces()
    yield
    if new := namespaces() - before:
        kubectl("delete", *new, "--wait=false", "--ignore-not-found")


def test_every_page_is_executed():
    assert {path.stem for path in PAGES.glob("*.md")} == set(WHERE)


@pytest.fixture
def warning_of_the_release(own_cluster):
    """Pages show a cluster of the default release. On a newer one, each scheduler of scheduler-plugins is reported as old, which pages do not show."""
    version = Layout(own_cluster).release.version
    if version == next(iter(RELEASES.values())).version:
        return None
    return re.compile(
        rf"\[WARNING\]: (?:content: )?the scheduler is of Kubernetes 1\.\d+, \d releases older than the cluster's {re.escape(version)} "
    )


@pytest.mark.usefixtures("left_as_found")
@pytest.mark.long
@pytest.mark.parametrize("name", WHERE)
def test_the_commands_of_a_page_print_what_the_page_shows(name, request, tmp_path, warning_of_the_release):
    with WHERE[name](request) as where:
        where.besides = warning_of_the_release
        try:
            Page(PAGES / f"{name}.md").execute(tmp_path, where, write=os.environ.get("WALKTHROUGHS") == "write")
        except BaseException:
            remove()  # and so all that the page has brought to the operator's namespace
            raise
