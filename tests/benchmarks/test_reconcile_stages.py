# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the CPU time of an unchanged reconcile goes: figures for docs/benchmarks.md. It needs an API server, and no node."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import Counter
from contextlib import contextmanager

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.apply import Run
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._operand.inputs import Reader
from ansible_collections.osso.scheduler.plugins.module_utils._operand.reporting import Reporting
from ansible_collections.osso.scheduler.plugins.plugin_utils import operand_templates
from support.ansible_runs import play
from support.cluster import Kubectl
from support.operand import CRD
from support.operator_in_process import Operator
from support.processes import cpu_of, descendants
from support.scheduler import Scheduler

TITLE = "The stages of an unchanged reconcile"
TIMES = 30
STAGES = (
    (Client, "connect", "connect"),
    (Reader, "read", "read, validate, decide"),
    (operand_templates, "manifests", "render the templates"),
    (Run, "present", "compare with what exists, nothing to apply"),
    (Reporting, "present", "compare the status, nothing to report"),
)
RESOURCE = "_operator_openshift_io_secondaryscheduler"


@pytest.fixture
def scheduler(api_server):
    kubectl = Kubectl(api_server.folder / "kubeconfig")
    kubectl("apply", "--server-side", f"--filename={CRD}")
    kubectl("wait", "--for=condition=Established", f"--filename={CRD}", "--timeout=60s")
    kubectl("create", "namespace", "stages")
    scheduler = Scheduler(kubectl, "stages", "stages")
    scheduler.write_config()
    scheduler.write()
    Operator(kubectl).serve(scheduler)
    return scheduler


@pytest.fixture
def warm(api_server, monkeypatch):
    """Plays are forks of a parent that has imported Ansible, as in the operator's image; as this function, the parent's process id."""
    monkeypatch.delenv("ORDINARY_PLAYS")
    monkeypatch.setenv("KUBECONFIG", str(api_server.folder / "kubeconfig"))
    play([{"ansible.builtin.meta": "noop"}])
    (parent,) = descendants(os.getpid(), "warm_parent")
    return parent


def test_cpu_time_of_an_unchanged_reconcile_is_measured_by_stage(scheduler, warm, figures, monkeypatch):
    spent = Counter()
    for home, name, stage in STAGES:
        monkeypatch.setattr(home, name, measured(getattr(home, name), spent, stage))
    for _time in range(TIMES):
        spent.update(in_fork(lambda: reconciled(scheduler, spent)))

    plays = {}
    for what, playbook in (
        ("nothing", [{"ansible.builtin.meta": "noop"}]),
        ("reconcile", "osso.scheduler.reconcile"),
    ):
        before = cpu_of(warm)
        for _time in range(TIMES):
            assert play(playbook, variables={RESOURCE: scheduler.resource}).changed == []
        plays[what] = (cpu_of(warm) - before) / TIMES

    milliseconds = {stage: 1000 * seconds / TIMES for stage, seconds in spent.items()}
    whole = milliseconds.pop("whole")
    figures(f"ansible-playbook with one reconcile, forked, mean of {TIMES}", 1000 * plays["reconcile"], "ms")
    figures("of it, a play without a task", 1000 * plays["nothing"], "ms")
    figures("of it, the role, the task's process and its arguments", 1000 * (plays["reconcile"] - plays["nothing"]) - whole, "ms")
    for stage, spent_there in milliseconds.items():
        figures(f"of it, {stage}", spent_there, "ms")
    figures("of it, the rest of the reconcile", whole - sum(milliseconds.values()), "ms")


def reconciled(scheduler, spent):
    spent.clear()
    with stopwatch(spent, "whole"):
        assert not Operator(scheduler.kubectl).reconcile(scheduler).changed
    return spent


def in_fork(function):
    """What the function returns in a new process, in which it runs for the first time, as in the operator."""
    fork = multiprocessing.get_context("fork")
    answers = fork.SimpleQueue()
    process = fork.Process(target=lambda: answers.put(function()))
    process.start()
    answer = answers.get()
    process.join()
    return answer


@contextmanager
def stopwatch(spent, stage):
    started = time.process_time()
    yield
    spent[stage] += time.process_time() - started


def measured(function, spent, stage):
    """The function, or class method, whose CPU time is added to spent[stage]."""

    def run(*args, **options):
        with stopwatch(spent, stage):
            return function(*args, **options)

    return staticmethod(run) if isinstance(getattr(function, "__self__", None), type) else run
