# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Running Ansible as its users do: a process, real argument parsing, results read back per task. It has imported Ansible before; see warm_ansible."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from support import warm_ansible


@dataclass
class TaskResult:
    """What one task said on one host. `status` is ok, failed, ignored, skipped or unreachable."""

    task: str
    host: str
    status: str
    result: dict

    @property
    def changed(self) -> bool:
        return bool(self.result.get("changed"))


@dataclass
class Run:
    """One finished ansible-playbook."""

    rc: int
    stdout: str
    stderr: str
    tasks: list[TaskResult] = field(default_factory=list)

    @property
    def changed(self) -> list[str]:
        """Names of the tasks that changed something."""
        return [task.task for task in self.tasks if task.changed]

    @property
    def failures(self) -> list[TaskResult]:
        return [task for task in self.tasks if task.status in ("failed", "unreachable")]

    def task(self, name: str) -> TaskResult:
        """The one result of the task whose name is, or ends in, `name` (roles put theirs in front)."""
        found = [task for task in self.tasks if task.task == name or task.task.endswith(f" : {name}")]
        assert len(found) == 1, f"{len(found)} results of task {name!r} among {[task.task for task in self.tasks]}"
        return found[0]

    def output(self) -> str:
        return f"rc={self.rc}\n{self.stdout}\n{self.stderr}"


def play(content, *, variables=None, check=False, diff=False, args=(), env=None, succeed=True, timeout=900) -> Run:
    """Run a playbook and return its `Run`.

    `content` is a playbook's path or full name (`osso.scheduler.site`), a list of plays, or a list of tasks for localhost.
    `variables` become extra variables, `args` go to ansible-playbook as they are, `env` is added to the environment.
    Fails the test when the playbook fails, unless `succeed` is false. `timeout` is in seconds.
    """
    with TemporaryDirectory(prefix="osso-play-") as folder:
        record = Path(folder, "record.jsonl")
        record.touch()
        command = ["ansible-playbook", *(["--check"] if check else []), *(["--diff"] if diff else []), *args]
        if variables:
            Path(folder, "variables.json").write_text(json.dumps(variables))
            command.append(f"--extra-vars=@{folder}/variables.json")
        if not isinstance(content, (str, os.PathLike)):
            plays = content if all("hosts" in item for item in content) else [_local_play(content)]
            content = Path(folder, "playbook.json")
            content.write_text(json.dumps(plays))
        environment = {
            **os.environ,
            **warm_ansible.SETTINGS,
            "OSSO_TEST_RECORD": str(record),
            **(env or {}),
        }
        done = warm_ansible.run([*command, os.fspath(content)], env=environment, timeout=timeout)
        tasks = [TaskResult(**json.loads(line)) for line in record.read_text().splitlines()]
    run = Run(done.returncode, done.stdout, done.stderr, tasks)
    assert not succeed or run.rc == 0, run.output()
    return run


def run_module(name: str, args=None, *, check=False, diff=False, env=None) -> dict:
    """Run one module of this collection (or any by its full name) and return its result; `failed` is always in it."""
    full_name = name if "." in name else f"osso.scheduler.{name}"
    tasks = [{"name": full_name, full_name: args or {}}]
    run = play(tasks, check=check, diff=diff, env=env, succeed=False)
    assert run.tasks, run.output()
    (task,) = run.tasks
    return {**task.result, "failed": task.status == "failed"}


def _local_play(tasks: list) -> dict:
    return {"name": "Test", "hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks}
