#!/usr/bin/env python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Import Ansible, ansible-runner, the Kubernetes client and this collection once, and fork a child for each program that a client runs.

The client is main.go, under the names of the two programs. It connects to the Unix socket $OPERATOR_WARM_RUNNER (SOCK_SEQPACKET: one message
for each send) and

1. receives ``ready``;
2. sends the program's name, working directory, number of arguments, arguments and environment, separated by NUL, with its stdin, stdout and
   stderr. The parent forks before anything is read, so that only the child knows what is in it;
3. receives ``pid N`` from the child. N is also its process group, to which the client sends signals. Or ``unlike`` where the environment
   changes what was imported: then the client starts the program the ordinary way;
4. receives ``status N`` from the parent, a wait status (``man 2 waitpid``).

A client that closes the connection earlier has its child's process group killed. Without $OPERATOR_WARM_RUNNER the parent only imports: the
image's build runs it once in this way.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import pkgutil
import select
import signal
import socket
import stat
import struct
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

REQUEST_LIMIT = 1 << 20
# Variables that these programs read when they are imported. Ansible reads the last one, which differs in each run, when it plays.
IMPORTED_SETTINGS = {"ansible-runner": ("RUNNER_", "PYTHON"), "ansible-playbook": ("ANSIBLE_", "PYTHON")}
READ_LATER = ("ANSIBLE_CACHE_PLUGIN_CONNECTION",)
COLLECTION = "ansible_collections.osso.scheduler.plugins"
# What a reconcile imports while it runs.
USED = (
    "ansible.executor.play_iterator",
    "ansible.executor.playbook_executor",
    "ansible.executor.task_executor",
    "ansible.executor.task_queue_manager",
    "ansible.plugins.cache.jsonfile",
    "ansible.plugins.inventory.ini",
    "ansible.plugins.strategy.linear",
    "ansible.plugins.vars.host_group_vars",
    "ansible.template",
    "ansible_collections.kubernetes.core.plugins.module_utils.k8s.client",
    f"{COLLECTION}.action.reconcile_operand",
)

_status = 1


def main() -> None:
    # The first function registered is the last to run: the children, which leave by it, do not take down what they never used.
    atexit.register(_leave)
    path = os.environ.get("OPERATOR_WARM_RUNNER")
    settings = {"ansible-runner": dict(os.environ)}
    settings["ansible-playbook"] = load()
    program = int  # exit status 0
    if path:
        gc.collect()
        gc.freeze()
        # Returns in the children alone.
        program = serve(listen(Path(path)), settings)
    finish(program)


def load() -> dict[str, str]:
    """Import what a reconcile needs. Returns the environment that Ansible was imported in."""
    import ansible_runner.__main__  # noqa: F401 - children use it
    from ansible_runner import RunnerConfig

    with tempfile.TemporaryDirectory() as folder:
        runner = RunnerConfig(private_data_dir=folder, playbook="none", ident="none")
        runner.prepare_env()
    os.environ.update({name: value for name, value in runner.env.items() if name.startswith("ANSIBLE_")})
    return load_ansible()


def load_ansible() -> dict[str, str]:
    """As `load`, without ansible-runner."""
    importlib.import_module("ansible.cli.playbook")
    from ansible import constants
    from ansible.plugins import callback as callbacks
    from ansible.plugins import loader

    # Each child initializes it once more, which changes nothing.
    loader.init_plugin_loader()
    warnings.filterwarnings("ignore", message="AnsibleCollectionFinder has already been configured")
    for name in USED:
        importlib.import_module(name)
    # Of these Ansible loads all at the start of a play. Of the callbacks only its own: that of ansible-runner keeps the folder of its run.
    for kind in ("become", "connection", "filter", "shell", "strategy", "test"):
        list(getattr(loader, f"{kind}_loader").all(class_only=True))
    for callback in pkgutil.iter_modules(callbacks.__path__, f"{callbacks.__name__}."):
        importlib.import_module(callback.name)
    # This process plays nothing; each child makes a folder of its own.
    os.rmdir(constants.DEFAULT_LOCAL_TMP)
    return dict(os.environ)


def listen(path: Path) -> socket.socket:
    """A listening socket in a folder that is this user's alone. Once it has that name, it accepts connections."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    found = path.parent.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        sys.exit(f"warm-parent: {path.parent} has to be a folder of user {os.getuid()} with mode 0700.")
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(new))
    listener.listen(64)
    new.rename(path)
    return listener


@dataclass(eq=False)
class Client:
    connection: socket.socket
    child: int = 0  # its process id, when there is one


def serve(listener: socket.socket, settings: dict[str, dict[str, str]]) -> Callable[[], object]:
    """Fork for each request. Returns in the children alone, with what they have to run."""
    wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    events = select.epoll()
    events.register(listener, select.EPOLLIN)
    events.register(wake, select.EPOLLIN)
    clients: dict[int, Client] = {}  # by the number of the connection
    children: dict[int, Client] = {}  # by process id

    def forget(client: Client) -> None:
        events.unregister(client.connection)
        del clients[client.connection.fileno()]
        children.pop(client.child, None)
        client.connection.close()

    while True:
        for number, event in events.poll():
            if number == listener.fileno():
                connection, _address = listener.accept()
                if same_user(connection) and sent(connection, "ready"):
                    clients[connection.fileno()] = Client(connection)
                    events.register(connection, select.EPOLLIN)
                else:
                    connection.close()
            elif number == wake:
                os.read(wake, 4096)
                for pid, status in ended():
                    if pid in children:
                        sent(children[pid].connection, f"status {status}")
                        forget(children[pid])
            elif number in clients:
                client = clients[number]
                if event & (select.EPOLLHUP | select.EPOLLERR):
                    if client.child:
                        kill(client.child)
                    forget(client)
                    continue
                try:
                    client.child = os.fork()
                except OSError as error:
                    print(f"warm-parent: {error}", file=sys.stderr, flush=True)
                    forget(client)
                    continue
                if client.child == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    for opened in (listener, events, *(other.connection for other in clients.values() if other is not client)):
                        opened.close()
                    os.close(wake)
                    os.close(woken)
                    return prepared(client.connection, settings)
                children[client.child] = client
                # From now on only its end is of interest, which is always reported.
                events.modify(number, 0)


def same_user(connection: socket.socket) -> bool:
    _pid, user, _group = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return user == os.getuid()


def sent(connection: socket.socket, message: str) -> bool:
    try:
        connection.send(message.encode(), socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        return True
    except OSError:
        return False  # The client has gone, which the next event reports.


def ended() -> list[tuple[int, int]]:
    """Process id and wait status of all children that have ended."""
    found = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if not pid:
            return found
        found.append((pid, status))


def kill(pid: int) -> None:
    for end in (os.killpg, os.kill):  # a child that has only just been forked has no group yet
        with suppress(ProcessLookupError):
            end(pid, signal.SIGKILL)


def prepared(connection: socket.socket, settings: dict[str, dict[str, str]]) -> Callable[[], object]:
    """In the child: become the process that the client asks for. Returns the program's main function."""
    os.setpgid(0, 0)
    request, descriptors, flags, _address = socket.recv_fds(connection, REQUEST_LIMIT, 3)
    if len(descriptors) != 3 or flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
        os._exit(1)
    name, folder, count, *rest = os.fsdecode(request).split("\0")
    arguments, variables = rest[: int(count)], rest[int(count) :]
    environment = dict(variable.split("=", 1) for variable in variables)
    if unlike(name, environment, settings[name]):
        sent(connection, "unlike")
        os._exit(1)
    try:
        connection.send(f"pid {os.getpid()}".encode(), socket.MSG_NOSIGNAL)
    except OSError:
        os._exit(1)  # It waits no longer.
    connection.close()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    Path("/proc/self/comm").write_text(name)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # $TMPDIR may be another
    sys.argv = [name, *arguments]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)
    return run_playbook if name == "ansible-playbook" else run_runner


def unlike(name: str, environment: dict[str, str], imported: dict[str, str]) -> bool:
    """Whether a variable that was read while the program was imported has another value now."""
    prefixes = IMPORTED_SETTINGS[name]
    names = {variable for variable in (*environment, *imported) if variable.startswith(prefixes) and variable not in READ_LATER}
    return any(environment.get(variable) != imported.get(variable) for variable in names)


def run_runner() -> object:
    from ansible_runner.__main__ import main as run

    return run()


def run_playbook() -> object:
    """As `ansible-playbook`, with what is made for each process when modules are imported: the default kubeconfig, a temporary folder, locks."""
    from ansible import constants
    from ansible.cli.playbook import main as run
    from ansible.config.manager import cleanup_tmp_file
    from kubernetes.config import kube_config

    kube_config.KUBE_CONFIG_DEFAULT_LOCATION = os.environ.get("KUBECONFIG", "~/.kube/config")
    atexit.unregister(cleanup_tmp_file)
    constants.set_constant("DEFAULT_LOCAL_TMP", constants.config.get_config_value("DEFAULT_LOCAL_TMP", variables=vars(constants)))
    # Locks that forks share, until ansible-core 2.19: a child that is killed while it holds one would stop all others.
    if locks := sys.modules.get("ansible.executor.action_write_locks"):
        importlib.reload(locks)
    return run()


def finish(program: Callable[[], object]) -> None:
    """Run it and exit as an interpreter would."""
    global _status
    try:
        result = program()
    except SystemExit as end:
        result = end.code
    except BaseException:
        traceback.print_exc()
        result = 1
    if result is not None and not isinstance(result, int):
        print(result, file=sys.stderr)
        result = 1
    _status = (result or 0) & 0xFF
    sys.exit(_status)


def _leave() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(_status)


if __name__ == "__main__":
    main()
