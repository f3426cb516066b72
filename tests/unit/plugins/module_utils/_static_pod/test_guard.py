# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The guard of a change, as a unit of systemd and as a process. With runs that are killed: tests/local/static_pod/test_killed_run.py."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import guard, rollback

SYSTEMCTL = """\
#!/bin/sh
echo "$@" >>{folder}/log
[ "$1" != restart ] || [ -n "{silent}" ] || touch {armed}
echo "{says}" >&2
exit {code}
"""


@pytest.fixture
def host(tmp_path, monkeypatch):
    """A manifest, and folders of systemd with a systemctl of the test."""

    class Host:
        folder = tmp_path
        manifest = tmp_path / "kubernetes/manifests/k.yaml"
        units = tmp_path / "units"

        def __init__(self):
            self.manifest.parent.mkdir(parents=True)
            self.units.mkdir()
            self.state = tmp_path / "kubernetes/.osso-k.yaml"
            self.state.mkdir()
            self.guard = guard.Guard(str(self.manifest))

        def systemctl(self, code=0, says="", silent=""):
            program = tmp_path / "systemctl"
            program.write_text(SYSTEMCTL.format(folder=tmp_path, armed=self.state / "armed", code=code, says=says, silent=silent))
            program.chmod(0o755)

        def log(self):
            return (tmp_path / "log").read_text().splitlines()

    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(guard, "SYSTEMD", str(tmp_path / "units"))
    monkeypatch.setattr(guard, "UNITS", str(tmp_path / "units"))
    waits = []
    monkeypatch.setattr(guard, "time", SimpleNamespace(monotonic=lambda: sum(waits), sleep=lambda seconds: waits.append(10)))
    found = Host()
    found.systemctl()
    return found


@pytest.fixture
def processes(monkeypatch):
    """The detached processes that would be started; the guard in them begins unless `silent`."""
    started, popen = [], guard.subprocess.Popen

    def start(command, **options):
        if command[0] == "systemctl":
            return popen(command, **options)
        started.append((command, options))
        if not processes_are_silent:
            open(os.path.join(os.path.dirname(command[2]), "armed"), "w").close()
        return None

    processes_are_silent = []
    monkeypatch.setattr(guard.subprocess, "Popen", start)
    return started, processes_are_silent


def test_the_unit_of_the_guard_starts_before_kubelet(host):
    (host.state / "armed").touch()  # of the guard before
    name = f"osso-scheduler-guard-{rollback.digest(str(host.manifest))[:12]}.service"
    unit, link = host.units / name, host.units / "multi-user.target.wants" / name
    assert host.guard.files == [str(unit), str(link)]
    assert host.guard.start() == ("systemd", [])
    words = [sys.executable, "-I", str(host.state / "guard.py"), str(host.manifest), str(unit), str(link)]
    assert unit.read_text() == (
        "[Unit]\nDescription=Rolls back a change of kube-scheduler whose task was killed\nAfter=local-fs.target\nBefore=kubelet.service\n\n"
        f"[Service]\nExecStart={' '.join(shlex.quote(word).join(2 * [chr(34)]) for word in words)}\n\n[Install]\nWantedBy=multi-user.target\n"
    )
    assert stat.S_IMODE(unit.stat().st_mode) == 0o644
    assert os.readlink(link) == str(unit)
    assert (host.state / "guard.py").read_text().endswith("    guard(*sys.argv[1:])\n")
    assert host.log() == ["daemon-reload", f"restart {name}"]
    assert host.guard.left_over == [str(host.state), str(unit), str(link)]
    assert host.guard.start() == ("systemd", [])  # again, with the link
    host.guard.end()
    assert host.log()[4:] == [f"stop {name}", "daemon-reload"]
    assert host.guard.left_over == []
    host.guard.end()
    assert len(host.log()) == 6  # systemd is not concerned


WARNING = (
    "systemd does not start the guard ({}), so it is a detached process, which does not survive a reboot of the host. "
    "After a reboot in the middle of a change, run the task again."
)


@pytest.mark.parametrize(
    ("systemctl", "why"),
    [
        ({"code": 1, "says": "no   bus"}, "no bus"),
        ({"code": 4}, "systemctl exits with 4"),
        ({"silent": "yes"}, "it does not answer within 15 s"),
        (None, "[Errno 2] No such file or directory: 'systemctl'"),
        ("no folder", "[Errno 20] Not a directory"),
    ],
)
def test_a_process_takes_the_place_of_a_unit_that_does_not_start(host, processes, monkeypatch, systemctl, why):
    if isinstance(systemctl, dict):
        host.systemctl(**systemctl)
    elif systemctl is None:
        monkeypatch.setenv("PATH", "/nowhere")
    else:
        (host.folder / "file").touch()
        monkeypatch.setattr(guard, "UNITS", str(host.folder / "file"))
    way, (warning,) = host.guard.start()
    assert way == "process"
    assert warning.startswith(WARNING.partition("{")[0] + why)
    assert warning.endswith(WARNING.partition("}")[2])
    started, _silent = processes
    ((command, options),) = started
    assert command == [sys.executable, "-I", str(host.state / "guard.py"), str(host.manifest), *host.guard.files]
    assert (options["cwd"], options["start_new_session"]) == ("/", True)
    assert {options[name] for name in ("stdin", "stdout", "stderr")} == {guard.subprocess.DEVNULL}


def test_without_systemd_there_is_no_warning(host, processes, monkeypatch):
    monkeypatch.setattr(guard, "SYSTEMD", "/nowhere")
    assert host.guard.start() == ("process", [])
    assert list(host.units.iterdir()) == []


def test_a_guard_that_does_not_start_is_an_error(host, processes, monkeypatch):
    monkeypatch.setattr(guard, "SYSTEMD", "/nowhere")
    processes[1].append("silent")
    (host.state / "armed").touch()  # of the guard before, which does not count
    with pytest.raises(InputError) as error:
        host.guard.start()
    assert error.value.message == (
        "The guard that would roll the change back does not start: it does not answer within 15 s. See to that, and run the task again."
    )


def test_arguments_of_a_unit_are_quoted():
    assert guard._quoted("a \\ \" % $ '") == '"a \\\\ \\" %% $$ \'"'
