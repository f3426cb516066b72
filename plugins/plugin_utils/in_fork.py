# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Modules of this collection in a fork of Ansible's worker process, where that is the machine and the Python that they are meant for.

For a module task Ansible packs the module with all its imports, starts a new Python process, and imports everything again. This takes about 0.4 s of
CPU time, most of the cost of a task without changes. Here the module, with the Kubernetes client, is imported once in Ansible's main process, of
which all workers are forks. A worker forks again and calls the module. Changes of the module to its process, from warnings to the environment, end
with that fork. Ansible does everything else, from the templating of arguments to the marking of results as unsafe.

Ansible runs tasks as usual if they have another connection, another Python, another user, ``async``, or their own environment.
docs/decisions/0017-modules-in-a-fork.md contains the reasons.
"""

from __future__ import annotations

import gc
import io
import json
import os
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import wait
from pathlib import Path

from ansible import constants
from ansible.executor import module_common
from ansible.module_utils import basic
from ansible.plugins import action
from ansible.plugins.loader import filter_loader, test_loader
from ansible.release import __version__
from ansible.utils.display import Display
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import progress_pipe
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import stack_of
from ansible_collections.osso.scheduler.plugins.plugin_utils import bytecode

try:
    from ansible.module_utils.common.json import Direction, get_module_encoder
except ImportError:
    # ansible-core before 2.19
    get_module_encoder = None

# What is used here of Ansible is not all public. A newer one does it its own way until this has been seen to work with it.
NEWEST = (2, 21)
COLLECTION = "ansible_collections.osso.scheduler"
MODULES = f"{COLLECTION}.plugins.modules."
# In which form arguments and results go, for ansible-core from 2.19 on
PROFILE = "legacy"


def ansible_packs_modules():
    """False where another plugin does it, such as mitogen."""
    return action.modify_module is module_common.modify_module


def share(name, *parts):
    """Import the module ``name`` before workers are forked, and the ``parts`` of module_utils that it imports only when it needs them.

    All filters, too: Ansible loads those of a collection together, in each worker, and keeps no compiled form of what a collection has. The machine
    that the module is for may be another one, so it need not be possible here.
    """
    if not ansible_packs_modules():
        return
    bytecode.keep()
    filters = sorted(path.stem for path in (Path(__file__).parents[1] / "filter").glob("*.py"))
    try:
        import_module("ansible_collections.kubernetes.core.plugins.module_utils.k8s.client")
        import_module(MODULES + name)
        for part in parts:
            import_module(f"{COLLECTION}.plugins.module_utils.{part}")
        for plugin in filters:
            import_module(f"{COLLECTION}.plugins.filter.{plugin}")
        # Ansible loads all of its own filters and tests with the first one, else in each worker.
        filter_loader.get("ansible.builtin.default")
        test_loader.get("ansible.builtin.defined")
        # Garbage collection in a worker would look at all of that again.
        gc.freeze()
    except ImportError:
        pass


class InFork(action.ActionBase):
    """What an action plugin executes as a module runs in a fork, where it can."""

    def _execute_module(self, module_name=None, module_args=None, tmp=None, task_vars=None, wrap_async=False, **others):
        task_vars = task_vars or {}
        name = module_name or self._task.resolved_action or self._task.action
        if not self._is_meant_for_this_process(name, task_vars, wrap_async):
            return super()._execute_module(
                module_name=module_name, module_args=module_args, tmp=tmp, task_vars=task_vars, wrap_async=wrap_async, **others
            )
        (result,) = self._in_forks(name, [self._task.args if module_args is None else module_args], task_vars)
        return result

    def _execute_side_by_side(self, name, several, task_vars, at_once):
        """The results of a module with each of ``several`` arguments. In forks, as many ``at_once``; where it cannot run in forks, one after the other."""
        if self._is_meant_for_this_process(name, task_vars, wrap_async=False):
            return self._in_forks(name, several, task_vars, at_once)
        return [self._execute_module(module_name=name, module_args=arguments, task_vars=task_vars) for arguments in several]

    def _in_forks(self, name, several, task_vars, at_once=1):
        prepared = [dict(arguments) for arguments in several]
        for arguments in prepared:
            self._update_module_args(name, arguments, task_vars)
        main = import_module(MODULES + name.rpartition(".")[2]).main
        answers = run_all(main, [encoded(arguments) for arguments in prepared], self._loader.get_basedir(), at_once)
        return [cleaned(self._parse_returned_data(answer, *([PROFILE] if get_module_encoder else []))) for answer in answers]

    def _is_meant_for_this_process(self, name, task_vars, wrap_async):
        return (
            tuple(int(part) for part in __version__.split(".")[:2]) <= NEWEST
            and name.startswith("osso.scheduler.")
            and self._connection.transport == "local"
            and not self._connection.become
            and not self._task.delegate_to
            and not (wrap_async or self._task.async_val)
            and not any(self._task.environment or [])
            and not constants.DEFAULT_KEEP_REMOTE_FILES
            and self._templar.template(task_vars.get("ansible_python_interpreter", "")) == sys.executable
            and ansible_packs_modules()
        )


def encoded(arguments):
    """The arguments as a module reads them."""
    content = {"ANSIBLE_MODULE_ARGS": arguments}
    if get_module_encoder:
        return json.dumps(content, cls=get_module_encoder(PROFILE, Direction.CONTROLLER_TO_MODULE)).encode()
    from ansible.module_utils.common.json import AnsibleJSONEncoder

    return json.dumps(content, cls=AnsibleJSONEncoder, vault_to_text=True).encode()


def cleaned(result):
    """The result without the keys that modules return only for Ansible. Before ansible-core 2.21 it is a dict."""
    if isinstance(result, dict):
        from ansible.vars.clean import remove_internal_keys

        remove_internal_keys(result)
        return result
    result.remove_internal_keys()
    return result.as_result_dict(for_round_trip=True)


def run(main, arguments, folder):
    """Call ``main`` in a fork of this process: what a new process in that folder would have answered, as ``rc``, ``stdout`` and ``stderr``."""
    return run_all(main, [arguments], folder)[0]


def run_all(main, several, folder, at_once=1):
    """The answers of ``main`` to each of ``several`` arguments, in their order, as `run` has them; ``at_once`` forks at a time.

    The progress of a fork that runs alone is shown.
    """
    waiting, running, answers = list(enumerate(several)), {}, {}
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                number, arguments = waiting.pop(0)
                fork = _Fork(main, arguments, folder)
                running[fork.child] = number, fork
            if len(running) == 1:
                next(iter(running.values()))[1].show_progress()
            # Only its own forks: this process may have other children, and other threads that wait for theirs.
            ended = wait([fork.ended for number, fork in running.values()]) if len(running) > 1 else ()
            for child in [child for child, (number, fork) in running.items() if fork.ended in ended or len(running) == 1]:
                status = os.waitpid(child, 0)[1]
                number, fork = running.pop(child)
                answers[number] = fork.answer(status)
    except BaseException:
        # The task has taken too long, or was cancelled.
        for _number, fork in running.values():
            fork.stop()
        raise
    return [answers[number] for number in sorted(answers)]


class _Fork:
    """One call of a module in a fork of this process, ``child``; ``ended`` can be read from once it has ended.

    Its temporary files end with it: the Kubernetes client keeps the keys of a kubeconfig in such files, and deletes them only when its process ends as
    an interpreter does.
    """

    def __init__(self, main, arguments, folder):
        # `answer` closes them.
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        self._temporary = tempfile.mkdtemp(prefix="osso.module.")
        self.ended, alive = os.pipe()
        self.child = os.fork()
        if not self.child:
            progress_pipe.pipe = alive
            _be_the_module(main, arguments, folder, self._temporary, self._out, self._err, alive)
        os.close(alive)

    def show_progress(self):
        """Show what the module reports while it runs, until it has ended."""
        with open(self.ended, encoding="utf-8", errors="replace", closefd=False) as sentences:
            for sentence in sentences:
                Display().display(sentence.rstrip("\n"), stderr=True)

    def answer(self, status):
        """What it wrote; ``status``: how it ended, as `os.waitpid` reports it."""
        os.close(self.ended)
        # If it was killed, it has not done so itself.
        _remove(self._temporary)
        texts = {}
        for name, file in (("stdout", self._out), ("stderr", self._err)):
            with file:
                file.seek(0)
                texts[name] = file.read().decode("utf-8", "surrogateescape")
        return {"rc": os.waitstatus_to_exitcode(status), **texts}

    def stop(self):
        os.kill(self.child, signal.SIGTERM)
        os.waitpid(self.child, 0)
        _remove(self._temporary)


def _remove(folder):
    shutil.rmtree(folder, ignore_errors=True)


def _be_the_module(main, arguments, folder, temporary, out, err, alive):
    """Never returns: behind it is Ansible's worker, which must not run twice. ``alive`` stays open until the end."""
    status = 1
    try:
        tempfile.tempdir = temporary
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (out.fileno(), 1), (err.fileno(), 2)):
            os.dup2(source, target)
        _leave_open_files({0, 1, 2, nothing, alive}, nothing)
        sys.stdin, sys.stdout, sys.stderr = (
            io.TextIOWrapper(io.FileIO(number, mode), encoding="utf-8") for number, mode in enumerate("rww")
        )
        # Where relative paths begin for every module that Ansible runs on its own machine
        os.chdir(folder)
        _leave_the_controller()
        basic._ANSIBLE_ARGS = arguments
        basic._ANSIBLE_PROFILE = PROFILE
        main()
        status = 0
    except SystemExit as end:
        status = end.code or 0
    except BaseException as error:
        print(stack_of(error), file=sys.stderr)
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
            # Ansible may have ended before it, such as by Ctrl-C.
            _remove(temporary)
        finally:
            os._exit(status)


def _leave_open_files(own, nothing):
    """Close the files, pipes and sockets of this process's parent: another process may wait for the other end of one.

    The numbers stay in use. Objects of the parent that are deleted here close them, and must not close a file of the module.
    """
    for number in {int(name) for name in os.listdir("/dev/fd")} - own:
        # The one of the list itself is closed already.
        with suppress(OSError):
            os.fstat(number)
            os.dup2(nothing, number)


def _leave_the_controller():
    """From 2.19 on a warning is displayed in Ansible's own processes, and belongs to the result in a module's."""
    try:
        internal = import_module("ansible.module_utils._internal")
    except ImportError:
        return
    internal.is_controller = False
