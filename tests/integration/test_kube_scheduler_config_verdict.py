# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The engine says what the cluster's own kube-scheduler says when it is started with a file.

No helper of ours stands between: the same binary that schedules in the throwaway cluster, asked by ``--write-config-to``.
"""

from __future__ import annotations

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from oracle import compare, corpus, generate, recordings

pytestmark = pytest.mark.long

DOCUMENTS = 80
# Plugins that ask an API server, or a source of metrics, when they are built.
ASKING = re.compile(
    "CapacityScheduling|Coscheduling|NodeResourceTopologyMatch|NetworkOverhead|TopologicalSort|SySched"
    "|TargetLoadPacking|LoadVariation|LowRisk|Peaks"
)


@pytest.fixture(scope="module")
def kube_scheduler(own_cluster):
    """The binary and its minor."""
    binary = own_cluster / "bin/kube-scheduler"
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout
    return binary, int(re.search(r"v1\.(\d+)\.", version).group(1))


def ask(binary, folder, document):
    """What the process answers: an Answer of the kind that is recorded, without a stage."""
    given, written = folder / "config.yaml", folder / "written.yaml"
    folder.mkdir()
    given.write_bytes(document.text if isinstance(document.text, bytes) else document.text.encode())
    command = [binary, f"--config={given}", "--master=http://127.0.0.1:1", "--secure-port=0", f"--write-config-to={written}"]
    done = subprocess.run([*command, *document.flags], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode == 0:
        return recordings.Answer("accept", config=yaml.safe_load(written.read_text()))
    return recordings.Answer("refuse", error=done.stderr[-500:])


def test_the_clusters_own_kube_scheduler_gives_the_same_verdicts(kube_scheduler, tmp_path):
    binary, minor = kube_scheduler
    dice = generate.Dice("cluster")
    known = [
        *corpus.documents(minor, "in-tree"),
        *corpus.documents(minor, "scheduler-plugins"),
        *generate.documents(minor, "scheduler-plugins", 300),
    ]
    usable = [document for document in known if not ASKING.search(str(document.text)) and not document.id.startswith("gates/")]
    chosen = [usable.pop(dice.below(len(usable))) for _count in range(DOCUMENTS)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda number: ask(binary, tmp_path / str(number), chosen[number]), range(DOCUMENTS)))

    accepted = sum(answer.accepted for answer in answers)
    assert DOCUMENTS / 5 < accepted < DOCUMENTS * 4 / 5, "the sample should hold enough of both"
    wrong = []
    for document, answer in zip(chosen, answers, strict=True):
        result = check(document.text, f"1.{minor}", "scheduler-plugins", document.flags)
        if result.valid != answer.accepted:
            wrong.append(f"{document.id}: {answer.verdict} {answer.error}, engine: {[found.format() for found in result.errors]}")
        elif answer.accepted:
            differing = list(compare.differences(recordings.plain(answer.config), recordings.plain(result.config), ""))
            wrong += [f"{document.id}: {text}" for text in differing[:3]]
    assert wrong == []
