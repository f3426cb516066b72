# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Running one module as Ansible does on the target, without the controller's half: a process, JSON in, JSON out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

COLLECTIONS = Path(__file__).parents[2] / ".cache/collections"


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
    done = subprocess.run(
        [sys.executable, "-m", f"ansible_collections.osso.scheduler.plugins.modules.{name}"],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": {**args, "_ansible_check_mode": check, "_ansible_diff": diff}}),
        env={**os.environ, "PYTHONPATH": str(COLLECTIONS), **(env or {})},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    output = done.stdout + done.stderr
    assert "Traceback" not in output, output
    run = ModuleRun(json.loads(done.stdout), output)
    assert run.failed is not succeed, run.message or run.result
    return run
