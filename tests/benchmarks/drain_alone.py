# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Both passes of a drain in a process of its own, whose memory test_preview.py measures. Prints a line of JSON after each pass.

Arguments: the snapshot, the kube-scheduler, and its configuration as JSON.
"""

from __future__ import annotations

import json
import resource
import sys

from ansible_collections.osso.scheduler.plugins.module_utils._preview import effect, snapshot
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import Options, make_scene, prepared, select
from ansible_collections.osso.scheduler.plugins.module_utils._preview.sandbox import key_of
from ansible_collections.osso.scheduler.plugins.module_utils._preview.simulation import DRAIN, Run, perform, score


def main() -> None:
    file, binary, config = sys.argv[1:]
    side = {"binary": binary, "config": json.loads(config)}
    options = Options(side, DRAIN)
    cluster = snapshot.read(file)
    scene = make_scene(options, cluster, select(options, cluster).offered)
    with prepared("candidate", side, None) as candidate:
        started = scheduler_cpu()
        found = perform(candidate, scene, 1800, lambda text: None)
        show(found, sum(bool(one.node) for one in found.placements.values()), started)
        changed = effect.scored(scene, found, None)
        by_key = {key_of(pod): pod for pod in scene.offered}
        kept = {key: {effect.reference(by_key[key], None), found.placements[key].node} for key in changed}
        started = scheduler_cpu()
        scored = score(candidate, scene, kept, found.history, 1800, lambda text: None)
        show(scored, sum(bool(nodes) for nodes in scored.ties.values()), started)


def show(run: Run, pods: int, cpu_before: float) -> None:
    sys.stdout.write(json.dumps({"seconds": run.seconds, "pods": pods, "cpu": scheduler_cpu() - cpu_before}) + "\n")
    sys.stdout.flush()


def scheduler_cpu() -> float:
    """CPU seconds of the schedulers that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
