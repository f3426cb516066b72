# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How fast a configuration is judged, beside the real kube-scheduler in the same run: figures for docs/benchmarks.md.

All figures are CPU time of one core, the least of several runs. The engine reads YAML by itself: with and without libyaml
it takes the same time.
"""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from support.processes import cpu_of_children

TITLE = "The engine"
ENGINE = "ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check"
RUNS = 200

PROFILE = """
- schedulerName: {name}
  plugins:
    multiPoint:
      enabled:
      - name: NodeResourcesFit
        weight: 5
      disabled:
      - name: ImageLocality
    score:
      enabled:
      - name: TaintToleration
        weight: 3
      - name: NodeAffinity
        weight: 2
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources:
        - name: cpu
          weight: 1
        - name: memory
          weight: 2
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
"""
HEAD = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  leaseDuration: 137s
  renewDeadline: 107s
  retryPeriod: 26s
profiles:"""
DOCUMENT = HEAD + "".join(PROFILE.format(name=name) for name in ("first", "second", "third"))


def best(run, runs, clock=time.process_time):
    """Milliseconds of the fastest of some runs: what it takes when nothing else disturbs."""
    times = []
    for _run in range(runs):
        started = clock()
        run()
        times.append(clock() - started)
    return min(times) * 1000


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    assert 95 <= len(DOCUMENT.splitlines()) <= 105
    path = tmp_path_factory.mktemp("engine") / "config.yaml"
    path.write_text(DOCUMENT)
    return path


def test_the_check_of_a_document_of_100_lines_is_measured(figures, document):
    result = check(DOCUMENT, "1.34", "scheduler-plugins")
    assert result.valid, result.errors
    figures("KubeSchedulerConfiguration of 100 lines, checked", best(lambda: check(DOCUMENT, "1.34", "scheduler-plugins"), RUNS), "ms")
    wrong = DOCUMENT.replace("weight: 5", "wieght: 5")
    figures("the same with three misspelt fields", best(lambda: check(wrong, "1.34", "scheduler-plugins"), RUNS), "ms")


def test_import_time_in_a_fresh_process_is_measured(figures):
    """In fresh processes, by their own clocks."""
    for what, then in (("import of the engine", ""), ("import and first check of 100 lines", f"check({DOCUMENT!r}, '1.34')")):
        figures(f"{what}, in a fresh process", min(_python(f"from {ENGINE} import check\n{then}") for _run in range(10)), "ms")


def _python(statements):
    """Milliseconds that a new interpreter takes for some statements, its own start not counted."""
    code = f"import time; begin = time.process_time()\n{statements}\nprint((time.process_time() - begin) * 1000)"
    path = [entry for entry in sys.path if entry.endswith("collections")]
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {code}"]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_the_real_kube_scheduler_is_measured_with_the_same_document(figures, own_cluster, document, tmp_path):
    written = tmp_path / "written.yaml"
    command = [own_cluster / "bin/kube-scheduler", f"--config={document}", "--master=http://127.0.0.1:1", "--secure-port=0"]

    def run():
        subprocess.run([*command, f"--write-config-to={written}"], capture_output=True, check=True)

    figures("the same document by kube-scheduler --write-config-to", best(run, 10, cpu_of_children), "ms")
    figures("that, by the clock", best(run, 10, time.perf_counter), "ms")
