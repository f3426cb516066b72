# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Running one module without Ansible's controller, JSON in, JSON out.

It runs in a fork of this process, as the collection's action plugins run it (docs/decisions/0017-modules-in-a-fork.md): the module and the
Kubernetes client are imported once, not for each run. With an environment of its own it runs in a new process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import coverage
from ansible_collections.osso.scheduler.plugins.plugin_utils import in_fork

COLLECTIONS = Path(__file__).parents[2] / ".cache/collections"
TIMEOUT = 600  # seconds


@dataclass
class ModuleRun:
    """What a module answered. `output` is all that it wrote, for looking for what must not be there."""

    result: dict
    output: str

    @property
    def failed(self) -> bool:
        return bool(self.result.get("failed"))

    @property
    def message(self) -> str:
        return self.result.get("msg", "")

    @property
    def warnings(self) -> list[str]:
        """The warnings as text; newer releases of ansible-core hand more structure to the controller."""
        warnings = self.result.get("warnings", [])
        return [one if isinstance(one, str) else one["event"]["msg"] for one in warnings]

    def actions(self) -> dict[str, str]:
        """Kind and name of each object, and what was done with it."""
        return {f"{one['kind']} {one['name']}": one["action"] for one in self.result["objects"]}


def run_directly(name: str, /, *, check=False, diff=False, env=None, succeed=True, **args) -> ModuleRun:
    """Run the module osso.scheduler.`name` with `args`.

    Fails the test when the module fails; with `succeed=False` when it does not; with `succeed=None` never.
    """
    arguments = {**args, "_ansible_check_mode": check, "_ansible_diff": diff}
    module = f"ansible_collections.osso.scheduler.plugins.modules.{name}"
    answer, output = _in_process(module, arguments, env) if env else _in_fork(module, arguments)
    assert "Traceback" not in output, output
    run = ModuleRun(json.loads(answer), output)
    assert run.failed is not succeed, run.message or run.result
    return run


def _in_fork(module: str, arguments: dict) -> tuple[str, str]:
    main = import_module(module).main

    def limited():
        signal.alarm(TIMEOUT)
        with measured():
            main()

    done = in_fork.run(limited, in_fork.encoded(arguments), os.getcwd())
    return done["stdout"], done["stdout"] + done["stderr"]


@contextmanager
def measured():
    """Where the coverage of tests is measured, that of this fork, too: for the test that runs."""
    parent = coverage.Coverage.current()
    if parent is None:
        yield
        return
    parent.stop()
    settings = {name: parent.get_option(f"run:{name}") for name in ("branch", "source")}
    child = coverage.Coverage(
        data_file=parent.get_option("run:data_file"), data_suffix=True, context=os.environ["PYTEST_CURRENT_TEST"], **settings
    )
    child.start()
    try:
        yield
    finally:
        child.stop()
        child.save()


def _in_process(module: str, arguments: dict, env: dict) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-m", module],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": arguments}),
        env={**os.environ, "PYTHONPATH": str(COLLECTIONS), **env},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return done.stdout, done.stdout + done.stderr
