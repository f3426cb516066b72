# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""scheduler_probe on a real cluster with its default scheduler."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from support.access import service_account
from support.processes import descendants
from support.scheduler import eventually

IN_A_FORK = [pytest.param(True, id="in a fork"), pytest.param(False, id="in a process of its own", marks=pytest.mark.long)]

MODULE = "scheduler_probe"
NOWHERE = {"osso.scheduler/test": "no-node-has-this"}


def probes(kubectl, namespace) -> list[str]:
    """Names of the probe pods that exist."""
    pods = kubectl.json("get", "pods", f"--namespace={namespace}", "--selector=app.kubernetes.io/name=scheduler-probe")
    return [pod["metadata"]["name"] for pod in pods["items"]]


@pytest.fixture
def probe(module_result, kubectl, namespace):
    """Probe in a namespace that enforces Pod Security `restricted`; nothing may be left there afterwards."""
    kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")

    def run(check=False, **options):
        result = module_result(
            MODULE,
            {"scheduler_name": "default-scheduler", "namespace": namespace, "timeout": 30, **options},
            check=check,
        )
        assert result["changed"] is False
        assert probes(kubectl, namespace) == []
        return result

    return run


def test_the_probe_returns_scheduler_node_and_duration_of_the_placement(probe, kubectl):
    result = probe(running=True, labels={"a": "b"}, resources={"requests": {"cpu": "1m"}})
    assert not result["failed"], result["msg"]
    assert (result["placed"], result["scheduler"], result["reasons"]) == (True, "default-scheduler", [])
    assert result["node"] in [node["metadata"]["name"] for node in kubectl.json("get", "nodes")["items"]]
    assert 0 < result["seconds"] < result["seconds_running"] < 30
    assert "Scheduled" in [event["reason"] for event in result["events"]]


def test_an_image_that_cannot_be_pulled_matters_only_to_a_running_probe(probe):
    image = "registry.invalid/does/not:exist"
    assert probe(image=image)["scheduler"] == "default-scheduler"
    result = probe(image=image, running=True, timeout=15)
    assert result["failed"]
    assert (result["placed"], result["seconds_running"]) == (True, None)
    assert "was not running within 15 s" in result["msg"]
    assert "registry.invalid" in " ".join(result["reasons"])


def test_a_scheduler_name_that_no_scheduler_has_is_reported(probe):
    result = probe(scheduler_name="nobody", timeout=2)
    assert result["failed"]
    assert (result["placed"], result["scheduler"], result["node"], result["seconds"]) == (False, None, None, None)
    assert result["reasons"] == ["no running scheduler has the name nobody: none has processed the pod"]
    assert "scheduler_info -a scheduler_name=nobody" in result["msg"]
    assert not probe(scheduler_name="nobody", timeout=1, expect="unplaced")["failed"]


def test_a_scheduler_that_finds_no_node_is_reported_with_its_reason(probe):
    started = time.monotonic()
    result = probe(node_selector=NOWHERE, expect="unplaced", timeout=60)
    assert not result["failed"]
    assert time.monotonic() - started < 30, "it waited though the scheduler had refused"
    assert result["scheduler"] == "default-scheduler"
    assert "node affinity/selector" in result["reasons"][0]
    result = probe(node_selector=NOWHERE, timeout=5)
    assert result["failed"]
    assert "node affinity/selector" in result["msg"]


def test_a_pod_that_is_placed_although_expected_unplaced_fails_the_probe(probe):
    result = probe(expect="unplaced")
    assert result["failed"]
    assert "expected not to be placed" in result["msg"]


def test_check_mode_sends_only_a_dry_run(probe):
    result = probe(check=True)
    assert (result["failed"], result["placed"]) == (False, None)
    refused = probe(check=True, resources={"requests": {"cpu": "a lot"}})
    assert refused["failed"]
    assert "quantities" in refused["msg"]
    assert not probe(check=True, namespace="does-not-exist-yet")["failed"]


def test_a_pod_that_is_not_admitted_fails_the_probe(probe, kubectl, namespace):
    kubectl("create", "quota", "all", "--hard=requests.cpu=100m", f"--namespace={namespace}")
    # Admission uses its status, which a controller writes.
    eventually(lambda: probe(check=True)["failed"])
    result = probe()
    assert result["failed"]
    assert f"could not be created in the namespace {namespace}" in result["msg"]
    assert "must specify requests.cpu" in result["msg"]
    assert probe(resources={"requests": {"cpu": "50m"}})["placed"]


def test_a_probe_in_a_missing_namespace_fails(run_module):
    result = run_module(MODULE, {"scheduler_name": "default-scheduler", "namespace": "does-not-exist"})
    assert result["failed"]
    assert 'namespaces "does-not-exist" not found' in result["msg"]


@pytest.fixture
def waiting(kubectl, namespace, tmp_path):
    """Starts Ansible with a probe that nobody places, in a group of processes of its own; returns once the pod is there."""
    started = []

    def start(in_a_fork) -> subprocess.Popen:
        python = tmp_path / "python"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        python.chmod(0o755)
        options = {"scheduler_name": "nobody", "namespace": namespace, "timeout": 100}
        command = ["ansible", "localhost", "--module-name=osso.scheduler.scheduler_probe", f"--args={json.dumps(options)}"]
        command += [] if in_a_fork else [f"--extra-vars=ansible_python_interpreter={python}"]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True))
        eventually(lambda: probes(kubectl, namespace))
        return started[0]

    yield start
    for ansible in started:
        ansible.kill()


@pytest.mark.parametrize("in_a_fork", IN_A_FORK)
@pytest.mark.parametrize("name", ["SIGTERM", pytest.param("SIGINT", marks=pytest.mark.long)])
def test_a_signal_leaves_no_pod(waiting, kubectl, namespace, name, in_a_fork):
    ansible = waiting(in_a_fork)
    assert bool(descendants(ansible.pid, f"AnsiballZ_{MODULE}")) != in_a_fork
    os.kill(descendants(ansible.pid, MODULE)[-1], signal.Signals[name])
    output = ansible.communicate(timeout=120)[0]
    assert f"The probe was ended by {name}." in output
    assert probes(kubectl, namespace) == []


@pytest.mark.parametrize("in_a_fork", IN_A_FORK)
def test_interrupting_ansible_leaves_no_pod(waiting, kubectl, namespace, in_a_fork):
    """A terminal's Ctrl-C goes to all processes."""
    ansible = waiting(in_a_fork)
    os.killpg(ansible.pid, signal.SIGINT)
    ansible.communicate(timeout=60)
    eventually(lambda: probes(kubectl, namespace) == [])


PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["create", "delete", "list", "watch"]}
EVENTS = {"apiGroups": [""], "resources": ["events"], "verbs": ["list"]}


def test_the_documented_permissions_suffice(probe, kubectl, namespace):
    with service_account(kubectl, namespace, PODS, EVENTS) as access:
        assert probe(**access)["scheduler"] == "default-scheduler"


def test_without_permission_for_events_the_scheduler_is_unknown(probe, kubectl, namespace):
    with service_account(kubectl, namespace, PODS) as access:
        result = probe(**access)
    assert (result["failed"], result["placed"], result["scheduler"]) == (False, True, None)
    assert "events" in result["warnings"][0]


def test_a_pod_that_cannot_be_deleted_is_named(module_result, kubectl, namespace):
    with service_account(kubectl, namespace, {**PODS, "verbs": ["create", "list", "watch"]}, EVENTS) as access:
        result = module_result(MODULE, {"scheduler_name": "default-scheduler", "namespace": namespace, **access})
    assert result["failed"]
    assert "placed the probe pod on" in result["msg"]
    (left,) = probes(kubectl, namespace)
    assert f"kubectl -n {namespace} delete pod {left} --grace-period=0" in result["msg"]
