# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What all tests share: the environment of tests/tools/env, running Ansible, the cluster, and the summary of times.

The cluster is the throwaway one (make cluster), or the one of KUBECONFIG.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import uuid
from collections import Counter
from functools import cached_property
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT / "tests") not in sys.path:
    sys.path.append(str(ROOT / "tests"))  # for ansible-test

MARKERS = {
    "integration": "needs a cluster (make test-integration)",
    "long": "second tier (make test-long); docs/tests-second-tier.md says which test of the gate guards the same more cheaply",
    "in_order": "the tests of this file follow each other; with one of them, the second tier runs all",
}


def clusters() -> int:
    """How many throwaway clusters there are."""
    return int(os.environ.get("CLUSTERS") or 1)


def set_environment():
    """Give plain `pytest` the same environment as `make`, and each worker of pytest-xdist its cluster, as far as CLUSTERS go."""
    environment = dict(os.environ)
    number = int(environment.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) + 1
    if 1 < number <= clusters():
        environment["CLUSTER_DIR"] += f"-{number}"
        for name in ("KUBECONFIG", "REGISTRY"):
            environment.pop(name, None)
    wanted = subprocess.run([ROOT / "tests/tools/env", "env", "-0"], env=environment, capture_output=True, text=True, check=True).stdout
    os.environ.clear()
    os.environ.update(entry.split("=", 1) for entry in wanted.split("\0") if entry)


# The Python library kubernetes, which these modules import, reads KUBECONFIG when it is imported.
# It has an environment of its own, and reads no pyproject.toml.
BY_ANSIBLE_TEST = "ansible_pytest_collections" in os.environ.get("PYTEST_PLUGINS", "")
if not BY_ANSIBLE_TEST:
    set_environment()

from kubernetes.config.kube_config import KUBE_CONFIG_DEFAULT_LOCATION  # noqa: E402
from support import ansible_runs, warm_ansible  # noqa: E402
from support.cluster import Audit, Kubectl  # noqa: E402

# The tests of these folders stay together: they change their cluster for good. So they are the last ones of their worker,
# see `all-on-clusters` in the Makefile.
TOGETHER = ("tests/olm/",)
# So many other tests take about as long as those of TOGETHER.
BESIDE = 85

# Files of tests that take minutes each, the longest first; none of TOGETHER, whose cluster would have OLM from the start then.
LONGEST = (
    "api/test_fleet.py",
    "api/test_default_scheduler.py",
    "integration/test_operator_permissions.py",
    "integration/test_operator_metrics.py",
    "conformance/operator/test_bugs.py",
    "integration/test_load_aware.py",
    "integration/test_operator_beyond.py",
    "integration/test_monitoring.py",
    "integration/test_operator_service.py",
    "integration/test_site.py",
    "integration/test_custom_scheduler.py",
    "integration/test_use_scheduler.py",
    "integration/test_molecule.py",
)


def pytest_configure(config):
    if BY_ANSIBLE_TEST:
        config.option.markexpr = config.option.markexpr or "not long"
    for name, purpose in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {purpose}")


def pytest_addoption(parser):
    parser.addoption("--parts", metavar="FILE", help="gets the times of the folders of tests, a line NAME<tab>SECONDS each")


def pytest_collection_finish():
    """Take what was collected from the garbage collector, which would look at thousands of tests again and again, and copy them in each fork."""
    gc.collect()
    gc.freeze()


def is_own(kubeconfig: Path) -> bool:
    """Whether it is a throwaway cluster's."""
    return kubeconfig.resolve() == Path(os.environ["CLUSTER_DIR"]).resolve() / "kubeconfig"


class ByFile(LoadFileScheduling):
    """pytest-xdist's distribution by files, in which the folders of TOGETHER are one file each where there are tests of others, too.

    One worker begins with such a folder while BESIDE other tests are left, and gets nothing after it: these are for the other workers.
    """

    @cached_property
    def _has_others(self):
        return not all(nodeid.startswith(TOGETHER) for nodeid in self.collection)

    def _split_scope(self, nodeid):
        folder = next((folder for folder in TOGETHER if nodeid.startswith(folder)), None)
        return folder if folder and self._has_others else super()._split_scope(nodeid)

    def _reschedule(self, node):
        if len(self.nodes) > 1 and self._has_others:
            if not {*TOGETHER}.isdisjoint(self.assigned_work[node]):
                if not node.shutting_down:
                    node.shutdown()  # after what it has got
                return
            others = sum(len(tests) for scope, tests in self.workqueue.items() if scope not in TOGETHER)
            for folder in TOGETHER:
                if folder in self.workqueue and others <= BESIDE:
                    self.workqueue.move_to_end(folder, last=False)
        super()._reschedule(node)


def pytest_xdist_make_scheduler(config, log):
    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    if config.option.markexpr == "long":
        # Where one test begins with what the one before has left, the second tier runs the whole file.
        files = {item.path for item in items if item.get_closest_marker("long")}
        for item in items:
            if item.path in files and item.get_closest_marker("in_order"):
                item.add_marker("long")
    with_cluster = {ROOT / "tests/integration", ROOT / "tests/conformance/operator", ROOT / "tests/olm"}
    for item in items:
        if with_cluster & set(item.path.parents):
            item.add_marker("integration")
    if hasattr(config, "workerinput"):
        # Workers take whole files in this order; all end at about the same time.
        rank = {ROOT / "tests" / name: number for number, name in enumerate(LONGEST)}
        short = len(rank)
        items.sort(key=lambda item: short + 1 if item.nodeid.startswith(TOGETHER) else rank.get(item.path, short))


def pytest_terminal_summary(terminalreporter, config):
    """Add the time of each folder to the table at the end of `make test`."""
    if hasattr(config, "workerinput") or not config.getoption("--parts"):
        return
    parts = Counter()
    workers = getattr(config.option, "numprocesses", None)
    shared = f" (sum of {workers} workers)" if workers else ""
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        if isinstance(report, pytest.TestReport):
            parts["pytest " + "/".join(Path(report.location[0]).parts[:2]) + shared] += report.duration
    with Path(config.getoption("--parts")).open("a") as times:
        times.writelines(f"{name}\t{seconds:.0f}\n" for name, seconds in parts.items())


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def play():
    """`support.ansible_runs.play`: run a playbook, plays or tasks. Threads of a test may call it, too."""
    warm_ansible.start()
    return ansible_runs.play


@pytest.fixture(scope="session")
def run_module(play):
    """`support.ansible_runs.run_module`: run one module."""
    return ansible_runs.run_module


@pytest.fixture(scope="session")
def kubeconfig() -> Path:
    """Path of the kubeconfig, of a cluster that answers."""
    path = Path(os.environ["KUBECONFIG"])
    assert str(path) == KUBE_CONFIG_DEFAULT_LOCATION, "modules without the option kubeconfig would go to another cluster"
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers > clusters():
        pytest.fail(f"{workers} workers of pytest need as many clusters: see CLUSTERS in the Makefile.", pytrace=False)
    if not path.exists():
        pytest.fail(
            f"No cluster: {path} does not exist. Start one with `make cluster` or name yours in KUBECONFIG.",
            pytrace=False,
        )
    ready = Kubectl(path)("get", "--raw=/readyz", check=False, timeout=30)
    if ready.returncode:
        pytest.fail(f"The cluster of {path} does not answer: {ready.stderr.strip()}. See `make cluster-status`.", pytrace=False)
    return path


@pytest.fixture(scope="session")
def kubectl(kubeconfig) -> Kubectl:
    """kubectl("get", "nodes"), kubectl.json("get", "nodes"), kubectl.apply(object, ...)."""
    return Kubectl(kubeconfig)


@pytest.fixture
def namespace(kubectl) -> str:
    """A new namespace of its own; its deletion is not waited for."""
    name = f"test-{uuid.uuid4().hex[:10]}"
    kubectl.create("namespace", {"metadata": {"name": name}})
    # A controller creates it a moment later, and without it a pod is rejected.
    kubectl.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}})
    yield name
    kubectl.delete("namespace", name)


@pytest.fixture(scope="module")
def operator(kubectl):
    """The demo's installation on the cluster: the operator and the SecondaryScheduler `cluster`."""
    from support.site import installed

    installed()


@pytest.fixture
def new(operator, kubectl):
    """new(name=None, ...) is a `support.scheduler.Scheduler` that does not exist yet; it is deleted after the test."""
    from support.scheduler import Scheduler

    created = []

    def create(name=None, **about) -> Scheduler:
        created.append(Scheduler(kubectl, name or f"test-{uuid.uuid4().hex[:6]}", **about))
        return created[-1]

    yield create
    for scheduler in created:
        scheduler.delete()


@pytest.fixture
def own_scheduler(new):
    """An available scheduler for one test."""
    return new().start()


@pytest.fixture(scope="module")
def scheduler(operator, kubectl):
    """An available scheduler for the tests of a file, which leave it available."""
    from support.scheduler import Scheduler

    scheduler = Scheduler(kubectl, f"test-{uuid.uuid4().hex[:6]}").start()
    yield scheduler
    scheduler.delete()


@pytest.fixture(scope="session")
def own_cluster(kubeconfig) -> Path:
    """The folder of the throwaway cluster; skips on any other cluster."""
    if not is_own(kubeconfig):
        pytest.skip(f"needs the inside of the throwaway cluster; KUBECONFIG={kubeconfig} is another one")
    return kubeconfig.parent


@pytest.fixture(scope="session")
def api_server(tmp_path_factory):
    """A `support.bare_cluster.BareCluster` with controllers, for tests that need no node: one for all folders of such tests."""
    from support.bare_cluster import bare_clusters

    with bare_clusters(tmp_path_factory.mktemp("api"), ["api"], controllers=True) as clusters:
        yield clusters["api"]


@pytest.fixture
def audit(own_cluster, kubectl) -> Audit:
    """`with audit: ...`, then `audit.writes()` are the write requests in between."""
    return Audit(own_cluster / "logs/audit.log", kubectl)


@pytest.fixture
def apply(kubeconfig):
    """apply(manifests, **options): the module apply on the cluster, or on that of the option kubeconfig, run directly."""
    # Imported here: it needs the environment that pytest_configure makes.
    from support.direct_module import run_directly

    def run(manifests=None, **options):
        return run_directly("apply", **{"kubeconfig": str(kubeconfig), "manifests": manifests, **options})

    return run


@pytest.fixture
def module_result(kubeconfig):
    """module_result(name, args, check=False) is what `run_module` returns, of the module run directly: without the start of Ansible."""
    from support.direct_module import run_directly

    def run(name, args=None, *, check=False) -> dict:
        done = run_directly(name, check=check, succeed=None, **{"kubeconfig": str(kubeconfig), **(args or {})})
        return {"changed": False, **done.result, "failed": done.failed, "warnings": done.warnings}

    return run


@pytest.fixture
def group(kubectl, namespace):
    """An API group for the test's own kinds."""
    group = f"{namespace}.example.com"
    yield group
    kubectl.delete("customresourcedefinition", f"things.{group}")


@pytest.fixture
def pending_pod(kubectl, namespace):
    """pending_pod(scheduler_name, **spec) creates a pod for a scheduler and returns its name."""

    def create(scheduler_name, **spec) -> str:
        name = f"pending-{uuid.uuid4().hex[:6]}"
        containers = [{"name": "c", "image": "registry.k8s.io/pause:3.10"}]
        spec = {"schedulerName": scheduler_name, "containers": containers, "terminationGracePeriodSeconds": 0, **spec}
        kubectl.create("pod", {"metadata": {"name": name}, "spec": spec}, namespace)
        return name

    return create
