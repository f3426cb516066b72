# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The examples in the documentation of modules and filters."""

from __future__ import annotations

import ast
from pathlib import Path

import yaml

from .ansible_runs import Run
from .site import VARIABLES

PLUGINS = Path(__file__).parents[2] / "plugins"

FILES = {
    "files/config.yaml": VARIABLES["secondary_schedulers"][0]["config"],
    "files/old.yaml": {"apiVersion": "kubescheduler.config.k8s.io/v1beta3", "kind": "KubeSchedulerConfiguration"},
    "scheduler.yaml.j2": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "example", "namespace": "jobs"}},
    "deployment.yaml": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "taken-over", "namespace": "jobs"}},
    "namespace.yaml.j2": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "my-operator"}},
    "operator.yaml.j2": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "operator", "namespace": "my-operator"}},
    "crd.yaml": {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "operator", "namespace": "my-operator"}},
    "catalog.yaml": {"schema": "olm.bundle", "name": "a.v1.0.0", "package": "a", "image": "registry.example.com/a-bundle:1.0.0"},
}


def examples(path: Path) -> list[dict]:
    """The tasks in the EXAMPLES of a module, or of a filter, which are in a file beside it."""
    if path.suffix == ".yml":
        return yaml.safe_load(yaml.safe_load(path.read_text())["EXAMPLES"])
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "EXAMPLES":
            return yaml.safe_load(ast.literal_eval(node.value))
    raise AssertionError(f"{path} has no EXAMPLES")


def run_examples(play, path: Path, folder: Path) -> Run:
    """Run a plugin's EXAMPLES as they stand, with the files in `folder` that they read; each task has to succeed."""
    for name, content in FILES.items():
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(yaml.safe_dump(content))
    playbook = folder / "playbook.yaml"
    tasks = examples(path)
    playbook.write_text(yaml.safe_dump([{"name": "Examples", "hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
    run = play(playbook, variables={"private_folder": str(folder), "registry_password": "not a real one"})
    assert [task.status for task in run.tasks] == ["ok"] * len(tasks)
    return run
