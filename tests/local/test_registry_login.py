# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""F022: passwords of registries do not outlast the run, also when it is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from support.ansible_runs import play

ROLE = {"ansible.builtin.include_role": {"name": "osso.scheduler.registry_login"}}
PASSWORD = "correct-horse"
CREDENTIALS = {"registry.example.com": {"username": "robot", "password": PASSWORD}}


def test_logging_out_leaves_no_password():
    """Not only the end of the run"""
    log_out = {"ansible.builtin.include_role": {"name": "osso.scheduler.registry_login", "tasks_from": "log_out"}}
    look = {"name": "Look", "ansible.builtin.stat": {"path": "{{ registry_login_folder }}/config.json"}}
    again = {**look, "name": "Look again"}
    run = play([ROLE, look, log_out, again], variables={"registry_login_credentials": CREDENTIALS}, args=["-vvv"])
    assert [run.task(one["name"]).result["stat"]["exists"] for one in (look, again)] == [True, False]
    assert PASSWORD not in run.output()


def test_an_existing_login_file_is_linked_and_stays_unchanged(tmp_path):
    """As `podman login` writes it"""
    file = tmp_path / "auth.json"
    login = '{"auths": {"registry.example.com": {"auth": "cm9ib3Q6Y29ycmVjdC1ob3JzZQ=="}}}'
    file.write_text(login)
    look = {"name": "Look", "ansible.builtin.stat": {"path": "{{ registry_login_folder }}/config.json"}}
    tell = {"name": "Tell", "ansible.builtin.debug": {"msg": "{{ [registry_login_folder, registry_login_environment] }}"}}
    log_out = {"ansible.builtin.include_role": {"name": "osso.scheduler.registry_login", "tasks_from": "log_out"}}
    run = play([ROLE, look, tell, log_out], variables={"registry_login_auth_file": str(file)})
    assert run.task("Look").result["stat"]["lnk_source"] == str(file)
    folder, environment = run.task("Tell").result["msg"]
    assert environment == {"REGISTRY_AUTH_FILE": f"{folder}/config.json", "DOCKER_CONFIG": folder}
    assert not Path(folder).exists()
    assert file.read_text() == login


def test_ctrl_c_leaves_no_password(tmp_path):
    told = tmp_path / "folder"
    wait = f"echo '{{{{ registry_login_folder }}}}' > {told}.new && mv {told}.new {told} && exec sleep 600"
    tasks = [ROLE, {"ansible.builtin.command": {"argv": ["sh", "-c", wait]}}]
    playbook = tmp_path / "playbook.json"
    playbook.write_text(json.dumps([{"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks}]))
    run = subprocess.Popen(
        # What a shell runs in the background ignores SIGINT, and so would this.
        [
            "env",
            "--default-signal=INT",
            "ansible-playbook",
            f"--extra-vars={json.dumps({'registry_login_credentials': CREDENTIALS})}",
            str(playbook),
        ],
        env={**os.environ, "ANSIBLE_LOCAL_TEMP": str(tmp_path / "local"), "TMPDIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        while not told.exists():
            assert run.poll() is None, run.stdout.read()
            time.sleep(0.05)
        folder = Path(told.read_text().strip())
        assert (folder.stat().st_mode & 0o777, (folder / "config.json").stat().st_mode & 0o777) == (0o700, 0o600)
        # As a terminal does: to all processes in its foreground.
        os.killpg(run.pid, signal.SIGINT)
        output, _none = run.communicate()
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
    assert "interrupted" in output
    assert (folder.exists(), list((tmp_path / "local").iterdir())) == (False, [])
