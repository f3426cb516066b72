# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module static_pod_scheduler, killed: what its guard and its next run make of that."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import change as module
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import guard, manifest, process, rollback
from support import kubelet
from support.direct_module import COLLECTIONS
from support.static_pod import CONFIG, TEXT

BROKEN = CONFIG + "profiles: [{schedulerName: broken}]\n"
SECRET = "extenders: [{urlPrefix: 'https://a', tlsConfig: {keyData: c2VjcmV0LWtleQ==}}]\n"
WRITES = ("rename", "unlink", "mkdir", "rmdir", "chmod", "fsync", "utime", "open")
"""Everything by which the module changes files. `open` makes temporary ones."""


def files_in(top: Path) -> list[Path]:
    """The files below a folder, sorted. `Path.rglob` fails on a folder that another process deletes meanwhile."""
    return sorted(Path(folder, name) for folder, _folders, names in os.walk(top) for name in names)


class Files:
    """A host without processes: what the module would find of them is said by its test."""

    def __init__(self, folder: Path):
        self.path = folder / "kubernetes/manifests/kube-scheduler.yaml"
        self.path.parent.mkdir(parents=True)
        self.config_folder = folder / "kubernetes/kube-scheduler"
        self.path.write_text(TEXT)

    def all(self) -> dict[str, str]:
        """Path -> text; without those that the guard deletes meanwhile."""
        top, found = self.path.parents[1], {}
        for path in files_in(top):
            with contextlib.suppress(FileNotFoundError):
                found[str(path.relative_to(top))] = path.read_text()
        return found

    def change(self, check_mode=False, **options):
        usual = {"state": "present", "content": None, "flags": {}, "health_host": None, "wait_timeout": 60}
        paths = {"manifest": str(self.path), "config_folder": str(self.config_folder)}
        return module.change({**usual, **paths, **options}, check_mode)

    def killed_before(self, number: int, **options) -> bool:
        """Change it in a process of its own, which is killed before its write of this number; whether there was one."""
        child = os.fork()
        if child == 0:
            count = itertools.count()

            def dying(original):
                def write(*args, **kwargs):
                    if next(count) == number:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return original(*args, **kwargs)

                return write

            for name in WRITES:
                setattr(os, name, dying(getattr(os, name)))
            with contextlib.suppress(ClusterError):
                self.change(**options)
            os._exit(0)
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.fixture
def no_guard(monkeypatch):
    monkeypatch.setattr(guard.Guard, "start", lambda _guard: ("process", []))


@pytest.fixture
def world(monkeypatch, no_guard):
    """kube-scheduler is not well with the flag `broken`, or a configuration that holds it."""

    def await_one(argv, *_others):
        config = next((one.partition("=")[2] for one in argv if one.startswith("--config=")), None)
        return "it is broken" if "--broken=yes" in argv or (config and "broken" in Path(config).read_text()) else ""

    monkeypatch.setattr(process, "await_one", await_one)
    monkeypatch.setattr(process, "older_than", lambda _path, _pids: [])
    monkeypatch.setattr(rollback, "processes", lambda _argv: [])


def kills(tmp_path, *, first=None, **options):
    """Hosts whose runs with these options were killed before each of their writes, and the files as they were before that run."""
    for number in itertools.count():
        host = Files(tmp_path / str(number))
        if first:
            host.change(**first)
        before = host.all()
        if not host.killed_before(number, **options):
            assert number > 10  # it has seen something
            return
        yield host, before


CHANGES = pytest.mark.parametrize("options", [{"flags": {"broken": "yes"}}, {"content": BROKEN + SECRET, "flags": {"v": 4}}])


@CHANGES
def test_the_guard_restores_all_files_wherever_the_run_was_killed(tmp_path, world, options):
    """Wherever the run was killed, the files are what they were, and nothing else is there"""
    for host, before in kills(tmp_path, first={"content": CONFIG}, **options):
        rollback.guard(str(host.path))
        assert host.all() == before
        rollback.guard(str(host.path))
        assert host.all() == before


@CHANGES
def test_repeating_a_killed_run_ends_as_if_it_was_not_killed(tmp_path, world, options):
    """Also where the guard was killed, too"""
    for host, before in kills(tmp_path, first={"content": CONFIG}, **options):
        with pytest.raises(ClusterError, match=r"kube-scheduler did not become available within \d+ s: it is broken") as failure:
            host.change(**options)
        assert failure.value.result["rolled_back"] is True
        assert host.all() == before


def test_repeating_a_killed_run_confirms_a_change_that_works(tmp_path, world):
    options = {"content": CONFIG + SECRET, "flags": {"v": 4}}
    whole = Files(tmp_path / "whole")
    whole.change(**options)
    resumed = 0
    for host, _before in kills(tmp_path, first={"content": CONFIG}, **options):
        resumed += (host.path.parents[1] / ".osso-kube-scheduler.yaml/change.json").exists() and "--v=4" in host.path.read_text()
        host.change(**options)
        assert host.all().keys() == whole.all().keys()
        assert manifest.read(host.path.read_text(), "").flag("v") == "4"
        assert not host.change(**options)["changed"]
    assert resumed


def test_another_run_starts_from_the_last_confirmed_manifest(tmp_path, world):
    options = {"content": BROKEN + SECRET, "flags": {"broken": "yes", "v": 4}}
    for host, _before in kills(tmp_path, **options):
        left = rollback.unconfirmed(str(host.path)) is not None
        dry = host.change(check_mode=True, flags={"v": 5})
        assert ("A run that was killed" in str(dry.get("warnings")), dry["diff"][0]["before"]) == (left, TEXT)
        done = host.change(flags={"v": 5})
        assert ("A run that was killed" in str(done.get("warnings")), done["changed"]) == (left, True)
        assert host.path.read_text() == manifest.edited(manifest.read(TEXT, ""), None, {"v": "5"}).text
        assert host.all().keys() == {"manifests/kube-scheduler.yaml"}


def test_state_absent_restores_all_files_after_a_killed_run(tmp_path, world):
    for host, before in kills(tmp_path, content=BROKEN, flags={"broken": "yes"}):
        host.change(state="absent")
        assert host.all() == before
        assert not host.change(state="absent")["changed"]


def test_the_guard_restores_a_configuration_that_was_edited_in_place(tmp_path, world, monkeypatch):
    """It served, so it is what the guard goes back to"""
    monkeypatch.setattr(rollback, "processes", lambda _argv: [7])
    monkeypatch.setattr(rollback, "end", lambda _pids: None)
    for number in itertools.count():
        host = Files(tmp_path / str(number))
        path = Path(host.change(content=CONFIG)["config_path"])
        right = path.read_text()
        path.write_text(right + "parallelism: 1\n")
        before = host.all()
        if not host.killed_before(number, content=CONFIG):
            break
        rollback.guard(str(host.path))
        # After the confirmation only the record's folder is left.
        assert host.all() in (before, {**before, f"kube-scheduler/{path.name}": right})
        host.change(content=CONFIG)
        assert path.read_text() == right
        assert host.all().keys() == before.keys()
    assert number > 10


def test_a_manifest_that_was_changed_after_the_killed_run_stays(tmp_path, world):
    for host, _before in kills(tmp_path, flags={"broken": "yes"}):
        if rollback.unconfirmed(str(host.path)) is None:
            continue
        own = TEXT + "# repaired by hand\n"
        host.path.write_text(own)
        if int(host.path.parents[2].name) % 2:
            rollback.guard(str(host.path))
            assert host.all() == {"manifests/kube-scheduler.yaml": own}
        else:
            assert "another program has changed it since" in host.change(check_mode=True, flags={"v": 5})["warnings"][0]
            host.change(flags={"v": 5})
            assert manifest.read(host.path.read_text(), "").flag("v") == "5"
            assert host.all().keys() == {"manifests/kube-scheduler.yaml"}


def test_temporary_files_are_deleted_and_files_of_others_stay(tmp_path, world):
    host = Files(tmp_path)
    host.change(content=CONFIG)
    left = host.config_folder / ".osso-abcd1234"
    left.write_text(SECRET)
    others = [host.config_folder / name for name in (".osso-notes", ".osso-abcd1234.bak", "osso-abcd1234")]
    for path in others:
        path.touch()
    (host.config_folder / ".osso-4321dcba").symlink_to(others[0])
    (host.config_folder / ".osso-folder01").mkdir()
    for check_mode in (True, False):
        assert left.exists()
        run = host.change(check_mode, content=CONFIG)
        assert (run["changed"], run["deleted_files"]) == (True, [str(left)])
    assert not left.exists()
    assert len(list(host.config_folder.iterdir())) == 6
    assert not host.change(content=CONFIG)["changed"]


def test_configurations_in_a_folder_that_is_no_longer_used_are_deleted(tmp_path, world):
    host = Files(tmp_path)
    former = Path(host.change(content=CONFIG + SECRET)["config_path"])
    host.config_folder = tmp_path / "kubernetes/other"
    assert host.change(content=CONFIG)["deleted_files"] == [str(former)]
    assert not former.exists()


def test_an_unreadable_record_of_a_killed_run_is_an_error(tmp_path, world):
    host = Files(tmp_path)
    folder = Path(rollback.state_folder(str(host.path)))
    folder.mkdir()
    for content in (b"{", b"[]", b"{}", b'"x"', b"\xff"):
        (folder / "change.json").write_bytes(content)
        with pytest.raises(ClusterError, match=r"has left .*/\.osso-kube-scheduler\.yaml, which cannot be read: .*delete that folder"):
            host.change(flags={"v": 4})
        assert host.path.read_text() == TEXT


def test_a_second_run_at_the_same_time_fails_after_the_lock_timeout(tmp_path, world, monkeypatch):
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.2)
    host = Files(tmp_path)
    with (
        rollback.locked(str(host.path)),
        pytest.raises(ClusterError, match=r"Another run of this module is changing .*kube-scheduler\.yaml"),
    ):
        host.change(flags={"v": 4})
    assert host.change(flags={"v": 4})["changed"]


def test_a_run_waits_for_the_end_of_another(tmp_path, world):
    host = Files(tmp_path)
    other = contextlib.ExitStack()
    other.enter_context(rollback.locked(str(host.path)))
    threading.Timer(0.3, other.close).start()
    assert host.change(flags={"v": 4})["changed"]


def test_only_root_can_read_the_record(tmp_path, world, monkeypatch):
    host = Files(tmp_path)
    seen = []

    def await_one(*_arguments):
        folder = Path(rollback.state_folder(str(host.path)))
        seen.extend(path.stat().st_mode & 0o777 for path in (folder, folder / "change.json"))
        return ""

    monkeypatch.setattr(process, "await_one", await_one)
    host.change(content=CONFIG + SECRET)
    assert seen == [0o700, 0o600]


def start(host, **options) -> subprocess.Popen:
    """The module, as Ansible starts it."""
    run = subprocess.Popen(
        [sys.executable, "-m", "ansible_collections.osso.scheduler.plugins.modules.static_pod_scheduler"],
        env={**os.environ, "PYTHONPATH": str(COLLECTIONS)},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    arguments = {"manifest": str(host.path), "config_folder": str(host.config_folder), "wait_timeout": 120, **options}
    run.stdin.write(json.dumps({"ANSIBLE_MODULE_ARGS": arguments}))
    run.stdin.close()
    return run


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_guard_rolls_back_when_a_run_is_killed_after_the_manifest_change(host):
    """The real guard, a detached process, rolls back at once; the next run is like the first one"""
    before = host.path.read_text()
    options = {"content": CONFIG + "# broken\nbroken: 1\n" + SECRET, "flags": {"v": 4}}
    with kubelet.Kubelet(host.manifests) as stand_in:
        run = start(host, **options)
        wait_for(lambda: host.path.read_text() != before)
        run.kill()
        run.wait()
        wait_for(lambda: (host.path.read_text(), host.configurations(), host.others()) == (before, [], []))
        address = manifest.read(before, "").address
        assert process.await_one(manifest.read(before, "").argv, [], address, 60) == ""
    assert stand_in.seen == {"kube-scheduler.yaml"}


def test_a_process_older_than_its_configuration_is_restarted(host):
    """Somebody edited the file, the scheduler was restarted, and the edit was undone: the process runs what is in no file"""
    with kubelet.Kubelet(host.manifests):
        path = Path(host.run(content=CONFIG).result["config_path"])
        (old,) = rollback.processes(manifest.read(host.path.read_text(), "").argv)
        assert not host.run(content=CONFIG).result["changed"]
        path.write_text(path.read_text())
        in_future = time.time() + 3600
        os.utime(path, (in_future, in_future))
        dry = host.run(content=CONFIG, check=True)
        assert dry.result["changed"]
        assert f"process {old} began before {path} was last written" in dry.warnings[0]
        assert host.run(content=CONFIG).result["changed"]
        (new,) = rollback.processes(manifest.read(host.path.read_text(), "").argv)
        assert new != old
        assert not host.run(content=CONFIG).result["changed"]


def test_a_process_that_started_before_a_file_was_written_counts_as_older(tmp_path):
    file = tmp_path / "file"
    file.touch()
    before = time.time()
    with subprocess.Popen(["sleep", "60"]) as sleep:
        after = time.time()
        try:
            for at, older in ((before - 3600, False), (before, False), (after + 1, True), (after + 3600, True)):
                os.utime(file, (at, at))
                assert (process.older_than(str(file), [sleep.pid]) == [sleep.pid]) is older
        finally:
            sleep.kill()
    assert process.older_than(str(file), [sleep.pid]) == []


SYSTEMCTL = """\
#!{python}
import shlex, subprocess, sys
from pathlib import Path
with open("{log}", "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
if sys.argv[1] == "restart":
    (line,) = [line for line in Path("{units}", sys.argv[2]).read_text().splitlines() if line.startswith("ExecStart=")]
    words = [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(line.removeprefix("ExecStart="))]
    subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
"""


@pytest.fixture
def systemd(tmp_path, monkeypatch):
    """Its folders, and a program that notes what it is asked and starts units."""
    units, programs = tmp_path / "units", tmp_path / "programs"
    units.mkdir()
    programs.mkdir()
    (programs / "systemctl").write_text(SYSTEMCTL.format(python=sys.executable, log=tmp_path / "log", units=units))
    (programs / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(guard, "SYSTEMD", str(units))
    monkeypatch.setattr(guard, "UNITS", str(units))
    return units


def test_guard_is_a_systemd_unit_that_starts_with_the_host(tmp_path, systemd, monkeypatch):
    host = Files(tmp_path / "host $%\" '")
    monkeypatch.setattr(rollback, "processes", lambda _argv: [])
    while_changing = {}

    def await_one(*_arguments):
        while_changing.update({str(path.relative_to(systemd)): path.read_text() for path in files_in(systemd)})
        return ""

    monkeypatch.setattr(process, "await_one", await_one)
    assert host.change(flags={"v": 4})["guard"] == "systemd"
    (unit, link) = sorted(while_changing, key=len)
    assert link == f"multi-user.target.wants/{unit}"
    assert "WantedBy=multi-user.target" in while_changing[unit]
    asked = (tmp_path / "log").read_text().splitlines()
    assert asked == ["daemon-reload", f"restart {unit}", f"stop {unit}", "daemon-reload"]
    assert list(files_in(systemd)) == []
    assert host.all().keys() == {"manifests/kube-scheduler.yaml"}


def test_guard_deletes_its_systemd_unit_after_the_rollback(tmp_path, systemd, monkeypatch):
    host = Files(tmp_path / "host")
    monkeypatch.setattr(rollback, "processes", lambda _argv: [])
    monkeypatch.setattr(process, "await_one", lambda *_arguments: os.kill(os.getpid(), signal.SIGKILL))
    child = os.fork()
    if child == 0:
        host.change(flags={"v": 4}, content=CONFIG)
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    wait_for(lambda: (host.all(), list(files_in(systemd))) == ({"manifests/kube-scheduler.yaml": TEXT}, []))


def test_guard_is_a_process_where_systemd_fails(tmp_path, systemd, monkeypatch):
    (tmp_path / "programs/systemctl").write_text("#!/bin/sh\necho no bus >&2\nexit 1\n")
    monkeypatch.setattr(rollback, "processes", lambda _argv: [])
    monkeypatch.setattr(process, "await_one", lambda *_arguments: "")
    host = Files(tmp_path / "host")
    done = host.change(flags={"v": 4})
    assert done["guard"] == "process"
    assert "systemd does not start the guard (no bus), so it is a detached process, which does not survive a reboot" in done["warnings"][0]
    assert (list(files_in(systemd)), host.all().keys()) == ([], {"manifests/kube-scheduler.yaml"})


def test_nothing_is_changed_if_the_guard_does_not_start(tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "START_SECONDS", 0.2)
    monkeypatch.setattr(sys, "executable", "/bin/true")
    host = Files(tmp_path)
    with pytest.raises(ClusterError, match=r"The guard that would roll the change back does not start: it does not answer within 0\.2 s"):
        host.change(flags={"v": 4}, content=CONFIG)
    assert host.all() == {"manifests/kube-scheduler.yaml": TEXT}
