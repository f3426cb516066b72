# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""operator/image/warm_runner: client, parent and the container's first process, with Python programs in the place of Ansible."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from support.scheduler import WITHIN, eventually

SOURCE = Path(__file__).parents[2] / "operator/image/warm_runner"
# The parent, with programs that execute their first argument.
PARENT = f"""#!{sys.executable}
import importlib.util, os, socket, sys, time
listen = socket.socket.listen
socket.socket.listen = lambda self, backlog: (time.sleep(float(os.environ.get("LATE", 0))), listen(self, backlog))
specification = importlib.util.spec_from_file_location("warm_parent", {str(SOURCE / "warm_parent.py")!r})
warm_parent = sys.modules["warm_parent"] = importlib.util.module_from_spec(specification)
specification.loader.exec_module(warm_parent)
warm_parent.load = lambda: dict(os.environ)
def program():
    found = {{}}
    exec(sys.argv[1], found)
    return found.get("result")
warm_parent.run_runner = warm_parent.run_playbook = program
warm_parent.main()
"""
ORDINARY = """#!/bin/sh
echo "ordinary $*"
exit 7
"""
WHO = "import os; print(os.getpid(), os.getppid(), os.getpgid(0))"


@pytest.fixture(scope="module")
def programs(tmp_path_factory) -> Path:
    """The folder of the client by each of its names, the parent, and in `ordinary` what the client executes by itself."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "ordinary").mkdir()
    environment = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}
    # As the image's program is built, so that Go has its packages already.
    command = ["go", "build", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false"]
    # On a busy machine the parent may take long to answer: an impatient client is for the test of a hung one alone.
    hasty = (("impatient/ansible-playbook", "main.patience=500ms"), ("watchful/warm-runner", "main.lookEvery=100ms"))
    for path, flags in ((folder / "warm-runner", []), *((folder / name, [f"-ldflags=-X {flag}"]) for name, flag in hasty)):
        subprocess.run([*command, *flags, f"-o={path}", "."], cwd=SOURCE, env=environment, check=True)
    (folder / "warm-parent").write_text(PARENT)
    for name in ("ansible-runner", "ansible-playbook"):
        (folder / name).symlink_to("warm-runner")
        (folder / "ordinary" / name).write_text(ORDINARY)
    for path in (folder / "warm-parent", *(folder / "ordinary").iterdir()):
        path.chmod(0o755)
    return folder


# A signal just before a long sleep would be handled only after it: Python looks for signals between its instructions.
UNTIL_A_SIGNAL = "\nwhile True: time.sleep(0.05)"


class Pod:
    """What a container of the image has: programs, environment, and a parent."""

    def __init__(self, programs, folder):
        self.socket = folder / "socket"
        self.environment = {
            "PATH": f"{programs}:{programs / 'ordinary'}:/usr/bin:/bin",
            "OPERATOR_WARM_RUNNER": str(self.socket),
            "ANSIBLE_CONFIG": "/opt/ansible/ansible.cfg",
        }
        self._programs = programs
        self.parent = 0

    def start(self, name, *arguments, **options) -> subprocess.Popen:
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        options["env"] = {**self.environment, **options.get("env", {})}
        # A shell without job control has its background jobs, such as these tests in .ci/run, ignore SIGINT.
        options["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
        return subprocess.Popen([self._programs / name, *arguments], text=True, **options)

    def run(self, *arguments, name="ansible-playbook", stdin="", **options) -> subprocess.CompletedProcess:
        with self.start(name, *arguments, stdin=subprocess.PIPE, **options) as client:
            out, err = client.communicate(stdin, timeout=60)
        return subprocess.CompletedProcess(arguments, client.returncode, out, err)

    @contextmanager
    def with_parent(self):
        with self.start("warm-parent", stdout=None, stderr=None) as parent:
            self.parent = parent.pid
            eventually(self.socket.exists)
            try:
                yield self
            finally:
                parent.kill()


@pytest.fixture
def pod(programs, tmp_path):
    folder = tmp_path / "warm"
    folder.mkdir(0o700)
    return Pod(programs, folder)


@pytest.fixture
def warm(pod):
    with pod.with_parent():
        yield pod


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the latter if it ends between the opening and the reading
        return False


# The client and the parent


@pytest.mark.parametrize("name", ["ansible-runner", "ansible-playbook"])
def test_the_child_has_arguments_environment_and_streams_of_the_client(warm, name, tmp_path):
    program = (
        "import os, sys; print(sys.argv, os.getcwd(), os.environ.get('ONE'), 'TWO' in os.environ, sys.stdin.read());"
        "print('error', file=sys.stderr); print(open('/proc/self/comm').read().strip())"
    )
    warm.environment["TWO"] = "only here"
    # Two variables: one that the parent does not have, and one that it has and the client does not.
    done = warm.run(program, "--flag", "ä\n", name=name, stdin="input", cwd=tmp_path, env={"ONE": "ü"})
    arguments = [name, program, "--flag", "ä\n"]
    assert done.stdout.splitlines() == [f"{arguments} {tmp_path} ü True input", name[:15]]
    assert (done.stderr, done.returncode) == ("error\n", 0)


@pytest.mark.parametrize(
    ("program", "status", "error"),
    [
        ("", 0, ""),
        ("result = 3", 3, ""),
        ("import sys; sys.exit(4)", 4, ""),
        ("import sys; sys.exit('text')", 1, "text\n"),
        ("import os; os._exit(250)", 250, ""),
        ("import os; os.kill(os.getpid(), 9)", -9, ""),
        ("import os; os.kill(os.getpid(), 15)", -15, ""),
        *(
            (f"import os, signal; signal.signal({number}, signal.SIG_DFL); os.kill(os.getpid(), {number})", -number, "")
            # At the first three Go's runtime prints its goroutines, and it ignores the others.
            for number in (signal.SIGQUIT, signal.SIGABRT, signal.SIGSEGV, signal.SIGUSR1, signal.SIGPIPE, signal.SIGRTMIN)
        ),
    ],
)
def test_the_client_ends_with_the_exit_status_of_the_child(warm, program, status, error):
    done = warm.run(program)
    assert (done.returncode, done.stderr) == (status, error)


def test_a_traceback_of_the_child_is_printed(warm):
    done = warm.run("1 / 0")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr


def test_each_run_is_a_process_group_of_its_own(warm):
    children = [[int(number) for number in warm.run(WHO).stdout.split()] for _run in range(2)]
    assert [(parent, group) for _child, parent, group in children] == [(warm.parent, child) for child, _parent, _group in children]


def test_nothing_of_the_parent_is_open_in_the_child(warm):
    """Nor of another client: its end would go unnoticed."""
    with warm.start("ansible-runner", "import time; print('runs', flush=True); time.sleep(60)") as other:
        other.stdout.readline()
        opened = warm.run("import os; print([number for number in range(64) if os.path.exists(f'/proc/self/fd/{number}')])").stdout
        other.kill()
    assert opened == "[0, 1, 2]\n"


def test_the_child_has_default_signal_handlers_and_its_own_random_numbers(warm):
    program = (
        "import random, signal, tempfile; print(signal.getsignal(signal.SIGCHLD), random.random(), next(tempfile._get_candidate_names()))"
    )
    first, second = warm.run(program).stdout.split(), warm.run(program).stdout.split()
    assert first[0] == second[0] == str(signal.SIG_DFL)
    assert first[1] != second[1]
    assert first[2] != second[2]


def test_signals_reach_the_child(warm):
    program = (
        "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(42));"
        f"print('runs', flush=True){UNTIL_A_SIGNAL}"
    )  # fmt: skip
    with warm.start("ansible-runner", program) as client:
        client.stdout.readline()
        client.terminate()
        assert client.wait(WITHIN) == 42


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_child_and_what_it_started(warm, number):
    program = f"import os, time; child = os.fork(); print(os.getpid() if child else '', flush=True){UNTIL_A_SIGNAL}"
    with warm.start("ansible-runner", program) as client:
        # Both lines: until the fork is complete in the new process, Python drops a signal there.
        group = int(client.stdout.readline().strip() + client.stdout.readline().strip())
        client.send_signal(number)
        # Python makes an exception of SIGINT.
        assert client.wait(WITHIN) == (1 if number == signal.SIGINT else -number)
    eventually(lambda: not group_runs(group))


def group_runs(group: int) -> bool:
    found = subprocess.run(["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
    return any(int(entry.split()[0]) == group and "Z" not in entry.split()[1] for entry in found.splitlines())


def test_the_child_ends_with_its_client(warm):
    with warm.start("ansible-runner", f"{WHO}; import sys, time; sys.stdout.flush(); time.sleep(60)") as client:
        child = int(client.stdout.readline().split()[0])
        assert runs(child)
        client.kill()
        eventually(lambda: not runs(child))
    assert warm.run("result = 5").returncode == 5


@pytest.mark.parametrize("turned", ["on", "off"])
def test_a_playbook_ends_with_the_ansible_runner_that_started_it(warm, programs, tmp_path, turned):
    """pexpect has it ignore SIGHUP. Otherwise it would write beside the next reconcile."""
    (tmp_path / "ansible-playbook").write_text("#!/bin/sh\necho $$\nexec sleep 600\n")
    (tmp_path / "ansible-playbook").chmod(0o755)
    environment = {"PATH": f"{programs}:{tmp_path}:/usr/bin:/bin", "AWX_ISOLATED_DATA_DIR": "/tmp/run"}
    if turned == "off":
        environment["OPERATOR_WARM_RUNNER"] = ""
    inner = f"{WHO}; import sys, time; sys.stdout.flush(); time.sleep(600)"
    runner = (
        "import os, signal, subprocess, sys, time; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        f"subprocess.Popen(['ansible-playbook', {inner!r}], env=os.environ | {environment!r}, start_new_session=True); time.sleep(60)"
    )
    with warm.start("ansible-runner", runner) as client:
        playbook = int(client.stdout.readline().split()[0])
        assert runs(playbook)
        client.kill()
        try:
            eventually(lambda: not runs(playbook))
        finally:
            with suppress(ProcessLookupError):
                os.kill(playbook, signal.SIGKILL)


def test_a_run_ends_with_its_parent(warm):
    """What it has done is unknown, so it is not done once more: ansible-operator repeats the whole reconcile."""
    with warm.start("ansible-runner", f"{WHO}; import sys, time; sys.stdout.flush(); time.sleep(60)") as client:
        child = int(client.stdout.readline().split()[0])
        os.kill(warm.parent, signal.SIGKILL)
        assert client.wait(WITHIN) == 1
        assert client.stderr.read() == "ansible-runner: the warm parent has ended, and with it this run\n"
        eventually(lambda: not runs(child))
    # And the next one starts by itself.
    assert warm.run("result = 5").returncode == 7


def test_a_socket_that_can_be_seen_accepts_connections(pod):
    pod.environment["LATE"] = "0.5"
    with pod.with_parent():
        assert pod.run("result = 5").returncode == 5, "it was started the ordinary way"


def test_several_clients_run_at_the_same_time(warm):
    program = "import sys, time; time.sleep(0.2); print(sys.argv[2]); result = int(sys.argv[2])"
    clients = [warm.start("ansible-playbook", program, str(number)) for number in range(8)]
    for number, client in enumerate(clients):
        with client:
            assert client.communicate(timeout=60)[0] == f"{number}\n"
            assert client.returncode == number


def test_many_runs_leave_nothing_behind(warm):
    def held():
        own = Path(f"/proc/{warm.parent}")
        resident = int(re.search(r"VmRSS:\s+(\d+)", (own / "status").read_text())[1])
        return len(list((own / "fd").iterdir())), (own / "task" / str(warm.parent) / "children").read_text(), resident

    for _run in range(10):
        warm.run("")
    files, children, resident = held()
    with warm.start("ansible-runner", "import time; print('runs', flush=True); time.sleep(60)") as planted:
        planted.stdout.readline()
        assert held()[:2] > (files, children)
        planted.kill()
    for _run in range(100):
        warm.run("")
    eventually(lambda: held()[0] <= files and not held()[1])
    assert held()[2] < resident + 512


def test_the_parent_keeps_no_environment_or_arguments_of_its_children(warm):
    assert b"/opt/ansible/ansible.cfg" in memory(warm.parent)
    secret = uuid.uuid4().hex
    assert warm.run("import os, sys; result = len(os.environ['KEY'] + sys.argv[2])", secret, env={"KEY": secret}).returncode == 64
    assert secret.encode() not in memory(warm.parent)


def memory(pid: int) -> bytes:
    found = b""
    with open(f"/proc/{pid}/mem", "rb") as file:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            first, last = (int(address, 16) for address in line.split()[0].split("-"))
            if " rw" in line and "[v" not in line:
                file.seek(first)
                found += file.read(last - first)
    return found


# Without the parent


def ordinary(done) -> bool:
    return (done.stdout, done.returncode) == ("ordinary a b\n", 7)


def test_without_a_parent_the_client_starts_the_program(pod):
    assert ordinary(pod.run("a", "b"))
    pod.socket.write_text("")
    assert ordinary(pod.run("a", "b"))


def test_an_empty_variable_turns_the_warm_runner_off(warm):
    assert warm.run("result = 5").returncode == 5
    assert ordinary(warm.run("a", "b", env={"OPERATOR_WARM_RUNNER": ""}))


@pytest.mark.parametrize(
    ("name", "environment", "alike"),
    [
        ("ansible-playbook", {"ANSIBLE_CONFIG": "/other.cfg"}, False),
        ("ansible-playbook", {"ANSIBLE_STRATEGY": "free"}, False),
        ("ansible-playbook", {"PYTHONPATH": "/other"}, False),
        ("ansible-playbook", {"ANSIBLE_CACHE_PLUGIN_CONNECTION": "/tmp/run"}, True),
        ("ansible-playbook", {"KUBECONFIG": "/tmp/kubeconfig"}, True),
        ("ansible-runner", {"ANSIBLE_CONFIG": "/other.cfg"}, True),
        ("ansible-runner", {"RUNNER_BINARY": "/other"}, False),
    ],
)
def test_other_settings_than_the_parents_start_the_program(warm, name, environment, alike):
    done = warm.run("result = 5", name=name, env=environment)
    assert done.returncode == (5 if alike else 7)


def test_a_parent_that_does_not_respond_is_killed(warm):
    os.kill(warm.parent, signal.SIGSTOP)
    assert ordinary(warm.run("a", "b", name="impatient/ansible-playbook"))
    eventually(lambda: not runs(warm.parent))


def test_only_the_owner_can_access_the_folder_of_the_socket(pod):
    pod.socket.parent.chmod(0o755)
    with pod.start("warm-parent") as parent:
        assert parent.wait(WITHIN) == 1
        assert "mode 0700" in parent.stderr.read()
    pod.socket.parent.rmdir()
    with pod.with_parent():
        assert pod.socket.parent.stat().st_mode & 0o777 == 0o700


def test_an_invalid_request_does_not_harm_the_parent(warm):
    import socket

    for message in (b"", b"nonsense", b"ansible-playbook\0/\0" + b"9" * 10):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.settimeout(WITHIN)
            connection.connect(str(warm.socket))
            assert connection.recv(64) == b"ready"
            connection.send(message) if message else connection.shutdown(socket.SHUT_RDWR)
            assert connection.recv(64) in (b"", b"status 256")
    assert warm.run("result = 5").returncode == 5


# The first process of the container


@contextmanager
def container(pod, *command):
    with pod.start("warm-runner", *command) as first:
        eventually(pod.socket.exists)
        try:
            yield first
        finally:
            for child in children(first.pid).values() if runs(first.pid) else []:
                os.kill(child, signal.SIGKILL)


def children(pid: int) -> dict[str, int]:
    """Process ids of what a process has started, by name; of scripts by the script's."""
    found = {}
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in (thread / "children").read_text().split():
            with suppress(OSError):  # it has ended
                found[Path(f"/proc/{child}/comm").read_text().strip()] = int(child)
    return found


def test_the_first_process_ends_as_its_command_and_passes_signals_on(pod):
    command = ["sh", "-c", "trap 'kill $!; exit 6' TERM; echo runs; sleep 60 & wait"]
    with container(pod, *command) as first:
        assert first.stdout.readline() == "runs\n"
        parent = children(first.pid)["warm-parent"]
        first.terminate()
        assert first.wait(WITHIN) == 6
        # In a container the kernel ends what is left.
        os.kill(parent, signal.SIGKILL)


def test_the_parent_is_started_again(pod):
    with container(pod, "sleep", "60") as first:
        before = children(first.pid)
        assert pod.run("result = 5").returncode == 5
        os.kill(before["warm-parent"], signal.SIGKILL)
        eventually(lambda: children(first.pid).get("warm-parent", before["warm-parent"]) != before["warm-parent"])
        eventually(lambda: pod.run("result = 5").returncode == 5)
        os.kill(children(first.pid)["warm-parent"], signal.SIGKILL)
        os.kill(before["sleep"], signal.SIGKILL)
        assert first.wait(WITHIN) == 128 + signal.SIGKILL
        assert "the warm parent ended with status 137 and is started again in 1s" in first.stderr.read()


def test_a_parent_that_cannot_be_started_is_tried_again(pod, programs, tmp_path):
    (tmp_path / "late").mkdir()
    pod.environment["PATH"] = f"{tmp_path / 'late'}:/usr/bin:/bin"
    with pod.start("warm-runner", "sleep", "60") as first:
        assert "no warm parent: " in first.stderr.readline()
        (tmp_path / "late/warm-parent").symlink_to(programs / "warm-parent")
        eventually(pod.socket.exists)
        for child in children(first.pid).values():
            os.kill(child, signal.SIGKILL)


def test_the_command_ends_when_the_certificate_for_its_metrics_appears(pod, tmp_path):
    """Then the container is started again, and the operator finds it."""
    pod.environment.update(OPERATOR_WARM_RUNNER="", TMPDIR=str(tmp_path))
    certificate = tmp_path / "k8s-metrics-server/serving-certs/tls.crt"
    with pod.start("watchful/warm-runner", "sleep", "60") as first:
        eventually(lambda: "sleep" in children(first.pid))  # warm-runner has checked before it started this
        certificate.parent.mkdir(parents=True)
        certificate.write_text("certificate")
        assert first.wait(WITHIN) == 128 + signal.SIGTERM
        assert "the certificate for the metrics is there now" in first.stderr.read()


def test_a_certificate_that_exists_at_the_start_ends_nothing(pod, tmp_path):
    pod.environment.update(OPERATOR_WARM_RUNNER="", TMPDIR=str(tmp_path))
    certificate = tmp_path / "k8s-metrics-server/serving-certs/tls.crt"
    certificate.parent.mkdir(parents=True)
    certificate.write_text("certificate")
    with pod.start("watchful/warm-runner", "sh", "-c", "sleep 0.5; exit 3") as first:
        assert first.wait(WITHIN) == 3


def test_no_parent_is_started_if_the_warm_runner_is_turned_off(pod):
    pod.environment["OPERATOR_WARM_RUNNER"] = ""
    with pod.start("warm-runner", "sh", "-c", "echo runs; read wait; exit 3", stdin=subprocess.PIPE) as first:
        assert first.stdout.readline() == "runs\n"
        assert list(children(first.pid)) == ["sh"]
        first.stdin.close()
        assert first.wait(WITHIN) == 3


def test_modules_that_the_parent_imports_from_this_collection_exist():
    source = (SOURCE / "warm_parent.py").read_text()
    names = [
        name.replace("{COLLECTION}", "ansible_collections.osso.scheduler.plugins")
        for name in re.findall(r'f"(\{COLLECTION\}[^"]+)"', source)
    ]
    assert names
    assert [name for name in names if not importlib.util.find_spec(name)] == []
