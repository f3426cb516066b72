# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Modules in a fork of Ansible's worker (plugins/plugin_utils/in_fork.py) answer what they would in a process of their own."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.plugin_utils import in_fork
from kubernetes.config import kube_config
from support.ansible_runs import play
from support.api_server import ApiServer, status
from support.scheduler import eventually

# What Ansible says with -vvv where it packs a module and starts a Python for it
STARTS = "EXEC /bin/sh"
RELEASE = {"kubernetes_version": "1.34", "plugins": "in-tree"}
CONFIG = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
TEMPLATE = "{{ 1 + 1 }} ü"
NEW = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}
TASKS = {
    "it is well": ({"osso.scheduler.kube_scheduler_config": {"config": CONFIG, **RELEASE}}, []),
    "it warns": ({"osso.scheduler.kube_scheduler_config": {"config": CONFIG, "image": "mine"}}, [(200, {"major": "1", "minor": "34"})] * 9),
    "it fails": ({"osso.scheduler.kube_scheduler_config": {"content": "a: b: c", **RELEASE}}, []),
    # Relative paths begin beside the playbook, here of the playbook itself.
    "it reads a file": ({"osso.scheduler.kube_scheduler_config": {"src": "playbook.json", **RELEASE}}, []),
    "it does not know an option": ({"osso.scheduler.kube_scheduler_config": {"confg": {}}}, []),
    "the server refuses it": ({"osso.scheduler.scheduler_info": {"gather": ["platform"]}}, [(403, status(403, "Forbidden", TEMPLATE))] * 9),
    "it would change something": (
        {
            "osso.scheduler.apply": {"manifests": [NEW]},
            "check_mode": True,
            "diff": True,
        },
        [(404, status(404, "NotFound")), *[(200, NEW)] * 9],
    ),
}


def run(tasks, python, server):
    """Tasks of a play on this machine, with that Python; its results, and whether a process was started for a module."""
    plays = [
        {
            "name": "Test",
            "hosts": "localhost",
            "connection": "local",
            "gather_facts": False,
            "vars": {"ansible_python_interpreter": str(python)},
            "tasks": tasks,
        }
    ]
    environment = {"K8S_AUTH_HOST": server, "K8S_AUTH_API_KEY": "sha256~planted"}
    # As tests/tools/env has them; ansible-test sets an environment of its own.
    environment |= {"ANSIBLE_LOCALHOST_WARNING": "false", "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false"}
    return play(plays, env=environment, args=["-vvv"], succeed=False)


@pytest.fixture
def other_python(tmp_path):
    """The same by another name."""
    path = tmp_path / "python"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    path.chmod(0o755)
    return path


def comparable(done):
    """What two runs have in common: not time, port, and what is made of the playbook's text."""
    warnings = re.findall(r"\[WARNING\]: .*", done.stdout + done.stderr)
    text = repr([warnings, *((task.status, {**task.result, "exception": ""}) for task in done.tasks)])
    return re.sub(r"127\.0\.0\.1:\d+|\(retried for \d+ s\)|'hash': '\w+'", "", text)


@pytest.mark.parametrize("name", TASKS)
def test_a_module_in_a_fork_gives_the_same_answer(name, other_python):
    task, answers = TASKS[name]
    told = []
    for python in (sys.executable, other_python):
        with ApiServer.running() as server:
            server.answers = list(answers)
            tasks = [{"name": "Do it", "register": "kept", "ignore_errors": True, **task}, {"ansible.builtin.debug": {"var": "kept"}}]
            done = run(tasks, python, server.url)
        assert (STARTS in done.stdout) == (python != sys.executable)
        assert done.tasks, done.output()
        assert "sha256~planted" not in done.output()
        told.append(comparable(done))
    assert told[0] == told[1]
    assert ("WARNING" in told[0]) == (name == "it warns")
    assert "No such file" not in told[0]
    assert ("'changed': True" in told[0]) == (name == "it would change something")
    # What a server says is no template.
    assert told[0].count(TEMPLATE) == (2 if name == "the server refuses it" else 0)


@pytest.mark.parametrize(
    "keywords", [{"environment": {"A": "b"}}, {"async": 60, "poll": 1}], ids=["an environment of its own", "asynchronously"]
)
def test_a_task_that_a_fork_cannot_run_is_left_to_ansible(keywords):
    with ApiServer.running() as server:
        server.answers = [(403, status(403, "Forbidden"))] * 20
        done = run([{"osso.scheduler.scheduler_info": {"gather": ["platform"]}, **keywords}], sys.executable, server.url)
    assert STARTS in done.stdout, done.output()


def test_modules_that_action_plugins_import_before_the_fork_exist(monkeypatch):
    """`share` takes a module that cannot be imported for one that another machine has."""
    imported = set()
    monkeypatch.setattr(in_fork, "import_module", imported.add)
    for path in Path(in_fork.__file__).parents[1].glob("action/*.py"):
        importlib.reload(importlib.import_module(f"{in_fork.COLLECTION}.plugins.action.{path.stem}"))
    assert f"{in_fork.COLLECTION}.plugins.module_utils._kube_scheduler.pem" in imported
    assert [name for name in sorted(imported) if not importlib.util.find_spec(name)] == []


def test_nothing_is_imported_if_a_plugin_starts_modules_in_its_own_way(monkeypatch):
    """A plugin that starts modules in its own way: every start would pay for what is imported here."""
    imported = []
    monkeypatch.setattr(in_fork, "import_module", imported.append)
    in_fork.share("apply")
    assert imported
    imported.clear()
    monkeypatch.setattr(in_fork.action, "modify_module", lambda: None)
    in_fork.share("apply")
    assert imported == []


def test_a_task_that_takes_too_long_leaves_nothing_behind():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        # Until the module has connected before the time is over
        for seconds in (2, 10, 60):
            task = {"osso.scheduler.scheduler_info": {"gather": ["platform"]}, "timeout": seconds}
            done = run([task], sys.executable, f"http://127.0.0.1:{port}")
            assert done.failures, done.output()
            if select.select([silent], [], [], 0)[0]:
                break
        silent.settimeout(60)
        connection, _address = silent.accept()
        # Who asked is gone: behind the request is the end.
        connection.settimeout(60)
        deadline = time.monotonic() + 60
        while connection.recv(65536):
            assert time.monotonic() < deadline


def test_a_crash_shows_where_but_no_value(tmp_path):
    def main():
        raise ValueError("Invalid header value b'Bearer sha256~planted'")

    answer = in_fork.run(main, b"{}", str(tmp_path))
    assert answer["rc"] == 1
    assert re.search(r"ValueError, .*test_in_fork\.py:\d+ in main", answer["stderr"], re.DOTALL)
    assert "planted" not in answer["stdout"] + answer["stderr"]


def kill_ansible():
    parent = os.getppid()
    os.kill(parent, signal.SIGKILL)
    eventually(lambda: os.getppid() != parent)


ENDS = {
    "it ends": lambda: None,
    "it fails": lambda: sys.exit(1),
    "it is interrupted": lambda: signal.raise_signal(signal.SIGINT),
    "it is killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "it takes too long": lambda: os.kill(os.getppid(), signal.SIGALRM) or time.sleep(600),
    "Ansible is killed": kill_ansible,
}


@pytest.mark.parametrize("end", ENDS)
def test_the_temporary_files_of_a_module_are_removed_at_its_end(monkeypatch, tmp_path, end):
    """such as those with the keys of a kubeconfig. An interrupted module may still need them, to delete what it has created."""
    temporary, told = tmp_path / "temporary", tmp_path / "told"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(kube_config, "_temp_files", {})

    def main():
        path = Path(kube_config._create_temp_file_with_content("planted"))
        told.write_text(str(path))
        ENDS[end]()
        told.write_text(path.read_text())

    ansible = os.fork()
    if not ansible:
        try:
            signal.signal(signal.SIGALRM, signal.default_int_handler)
            in_fork.run(main, b"{}", str(tmp_path))
        finally:
            os._exit(0)
    os.waitpid(ansible, 0)
    eventually(lambda: told.exists() and not list(temporary.iterdir()))
    assert (told.read_text() == "planted") is (end in ("it ends", "Ansible is killed"))


@pytest.mark.parametrize("at_once", [1, 2])
def test_another_child_of_the_process_is_left_alone(tmp_path, at_once):
    """such as another thread's, or a helper of Ansible's: it has ended before the module has, and is still there for its own parent"""
    other = subprocess.Popen([sys.executable, "-c", "raise SystemExit(7)"])
    os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
    answers = in_fork.run_all(lambda: print("done"), [b"{}", b"{}"], tmp_path, at_once)
    assert [(answer["rc"], answer["stdout"]) for answer in answers] == [(0, "done\n")] * 2
    assert other.wait() == 7


@pytest.mark.parametrize("at_once", [1, 2])
def test_a_reader_of_a_pipe_does_not_wait_for_the_end_of_the_module(tmp_path, at_once):
    """such as a thread that starts a process just when the module is forked: it reads until nobody holds the other end"""
    reader, writer = os.pipe()
    ended = tmp_path / "ended"

    def main():
        with open(tmp_path / f"new-{os.getpid()}", "w") as file:
            deadline = time.monotonic() + 180
            while not ended.exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            os.close(writer)  # as an object of the parent that is deleted
            file.write("its own file")
        print(ended.exists())

    def parent():
        os.read(reader, 1)
        ended.touch()

    def delete():
        eventually(lambda: len(list(tmp_path.glob("new-*"))) == at_once)
        os.close(writer)

    thread = threading.Thread(target=parent)
    threading.Thread(target=delete).start()
    thread.start()
    answers = in_fork.run_all(main, [b"{}"] * at_once, tmp_path, at_once)
    thread.join()
    os.close(reader)
    assert [(answer["rc"], answer["stdout"]) for answer in answers] == [(0, "True\n")] * at_once


def test_progress_is_shown_while_a_module_runs(monkeypatch, tmp_path):
    shown = []
    monkeypatch.setattr(in_fork.Display, "display", lambda self, text, stderr: shown.append((text, stderr)))

    def main():
        in_fork.progress_pipe.show("1 of 2\npods")
        print("{}")

    assert in_fork.run(main, b"{}", str(tmp_path)) == {"rc": 0, "stdout": "{}\n", "stderr": ""}
    assert shown == [("1 of 2 pods", True)]
    assert in_fork.progress_pipe.pipe is None
