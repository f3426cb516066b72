# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A play over many clusters that have neither nodes nor controllers (support.bare_cluster)."""

from __future__ import annotations

import json
from pathlib import Path

from .ansible_runs import Run, play
from .bare_cluster import BareCluster
from .scheduler import IMAGE

# Nobody is there who would make anything ready, or place a pod.
VARIABLES = {
    "operator_image": "registry.example.com/osso/scheduler-operator:1.0.0",
    "operator_wait": False,
    "secondary_scheduler_wait": False,
    "probe": "never",
    "secondary_schedulers": [
        {
            "name": "cluster",
            "image": IMAGE,
            "config": {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "profiles": [{"schedulerName": "secondary-scheduler"}],
            },
        }
    ],
}


def inventory(path: Path, accesses: dict[str, dict], **groups: list[str]) -> Path:
    """Write an inventory with a `cluster_access` for each cluster, and more groups of them."""
    hosts = {name: {"cluster_access": access} for name, access in accesses.items()}
    others = {group: {"hosts": dict.fromkeys(names)} for group, names in groups.items()}
    path.write_text(json.dumps({"clusters": {"hosts": hosts}, **others}))
    return path


def forbidden(cluster: BareCluster) -> dict:
    """`cluster_access` of somebody whom the cluster knows, and who may nothing."""
    return {**cluster.access, "api_key": cluster.weak_token}


def site(path: Path, forks: int = 5, variables: dict | None = None, playbook: str = "site", **options) -> Run:
    """Run osso.scheduler.site, or another playbook of ours, over an inventory; `options` as for `play`."""
    arguments = [f"--inventory={path}", f"--forks={forks}"]
    return play(f"osso.scheduler.{playbook}", args=arguments, variables={**VARIABLES, **(variables or {})}, **options)


def table(run: Run) -> dict[str, str]:
    """The lines of the table in the end, by cluster, without its name and id."""
    heading, *lines = run.task("Report the results").result["msg"]
    assert heading.split() == ["cluster", "id", "version", "operator", "schedulers", "changed", "reason"]
    return {name: " ".join(rest) for name, _id, *rest in (line.split() for line in lines)}
