# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""playbooks/site.yml over twenty real API servers: how its cost grows, three of them broken, and slices of them as jobs of their own, all at once."""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from support.bare_cluster import bare_clusters
from support.certificates import Authority
from support.fleet import VARIABLES, forbidden, inventory, site, table

pytestmark = pytest.mark.long

NAMES = [f"cluster-{number:02}" for number in range(1, 21)]
SHOWN = "1.34 osso 1.0.0 secondary-scheduler"
SLICES = 3


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    with bare_clusters(tmp_path_factory.mktemp("fleet"), NAMES) as clusters:
        yield clusters


@pytest.fixture(scope="module")
def accesses(fleet):
    return {name: cluster.access for name, cluster in fleet.items()}


@pytest.fixture(scope="module")
def installed(accesses, tmp_path_factory):
    run = site(inventory(tmp_path_factory.mktemp("first") / "inventory.json", accesses), forks=len(NAMES))
    assert table(run) == dict.fromkeys(NAMES, f"{SHOWN} operator, schedulers")


def of_children() -> float:
    """CPU seconds of all processes that this one has started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize("count", [1, 5, 10, 20])
def test_an_unchanged_run_sends_no_write_and_costs_the_same_for_each(installed, fleet, accesses, count, tmp_path, record_property):
    names = NAMES[:count]
    path = inventory(tmp_path / "inventory.json", {name: accesses[name] for name in names})
    before = {name: fleet[name].position() for name in names}
    servers, ansible, started = sum(cluster.cpu() for cluster in fleet.values()), of_children(), time.monotonic()
    run = site(path, forks=count)
    seconds = time.monotonic() - started
    ansible, servers = of_children() - ansible, sum(cluster.cpu() for cluster in fleet.values()) - servers
    assert run.changed == []
    requests = [len(fleet[name].requests(before[name])) for name in names]
    assert min(requests) > 0, "this would not see a write"
    assert len(set(requests)) == 1
    assert [fleet[name].writes(before[name]) for name in names] == [[]] * count
    record_property("seconds", f"{seconds:.1f}")
    record_property("CPU seconds of Ansible", f"{ansible:.1f}, {ansible / count:.2f} for each cluster")
    record_property("CPU seconds of the twenty API servers meanwhile", f"{servers:.1f}")
    record_property("requests to each cluster", str(requests[0]))
    record_property("load of the machine", f"{os.getloadavg()[0]:.1f}")


def test_broken_clusters_do_not_stop_the_others(installed, fleet, accesses, tmp_path, record_property):
    """Nothing listens, nothing is said, somebody may nothing, somebody is not known, and somebody else is there."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        other = Authority(tmp_path, "other")
        broken = {
            NAMES[2]: {**accesses[NAMES[2]], "host": "https://127.0.0.1:9"},
            NAMES[7]: forbidden(fleet[NAMES[7]]),
            NAMES[8]: {**accesses[NAMES[8]], "api_key": "sha256~nobody-knows-it"},
            NAMES[12]: {**accesses[NAMES[12]], "ca_cert": str(other.path)},
            NAMES[19]: {**accesses[NAMES[19]], "host": f"https://127.0.0.1:{silent.getsockname()[1]}"},
        }
        path = inventory(tmp_path / "inventory.json", {**accesses, **broken})
        started = time.monotonic()
        run = site(path, forks=len(NAMES), variables={"fleet_dest": str(tmp_path)}, succeed=False)
        record_property("seconds", f"{time.monotonic() - started:.1f}")
    assert run.rc == 2
    lines = table(run)
    assert {name for name, line in lines.items() if "failed: " in line} == broken.keys()
    assert {lines[name] for name in NAMES if name not in broken} == {f"{SHOWN} nothing"}
    said = {NAMES[2]: "cannot be reached", NAMES[8]: "does not accept the credentials", NAMES[12]: "could not be verified"}
    assert [name for name, words in said.items() if words not in lines[name]] == []
    written = run.output() + (tmp_path / "fleet.html").read_text() + (tmp_path / "fleet.json").read_text()
    secrets = ["sha256~nobody-knows-it", *(token for cluster in fleet.values() for token in (cluster.token, cluster.weak_token))]
    assert [secret for secret in secrets if secret in written] == []


@pytest.fixture(scope="module")
def runner(root, tmp_path_factory) -> Path:
    """ansible-runner with all that the execution environment has."""
    folder = tmp_path_factory.mktemp("runner") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    requirements = root / "automation_platform/execution_environment/requirements.txt"
    pip = [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
    subprocess.run([*pip, "-r", requirements], check=True)
    return folder / "bin/ansible-runner"


def test_slices_of_the_inventory_run_as_separate_jobs_at_the_same_time(installed, fleet, accesses, runner, tmp_path, record_property):
    """As Automation Platform cuts an inventory: every third host. Nothing but the play is the same for them."""
    before = {name: cluster.position() for name, cluster in fleet.items()}
    environment = {**os.environ, "PATH": f"{runner.parent}:{os.environ['PATH']}"}
    jobs = []
    started = time.monotonic()
    for number in range(SLICES):
        job = tmp_path / f"slice-{number}"
        for part in ("inventory", "env", "project"):
            (job / part).mkdir(parents=True)
        names = NAMES[number::SLICES]
        inventory(job / "inventory/hosts.json", {name: accesses[name] for name in names})
        (job / "env/extravars").write_text(yaml.safe_dump({**VARIABLES, "fleet_required": True, "fleet_dest": str(job)}))
        command = [runner, "run", job, "--playbook", "osso.scheduler.site", "--forks", str(len(names)), "--json"]
        jobs.append((job, names, subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)))
    for job, names, process in jobs:
        output = process.communicate(timeout=900)[0]
        assert process.returncode == 0, output[-3000:]
        told = json.loads((job / "fleet.json").read_text())["clusters"]
        assert [(one["cluster"], one["outcome"], one["changed"]) for one in told] == [(name, "done", []) for name in names]
        events = "".join(path.read_text() for path in job.glob("artifacts/*/job_events/*.json"))
        assert "Report the results" in events
        assert [name for name in NAMES if fleet[name].token in output + events] == []
    record_property("slices", str(SLICES))
    record_property("seconds", f"{time.monotonic() - started:.1f}")
    assert [cluster.writes(before[name]) for name, cluster in fleet.items()] == [[]] * len(NAMES)
    assert all(cluster.requests(before[name]) for name, cluster in fleet.items())
