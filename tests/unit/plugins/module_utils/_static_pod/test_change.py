# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Results and messages of a change of a static pod. The waits for kubelet are played; with real processes: tests/local/static_pod."""

from __future__ import annotations

import errno
import os
import signal
import socket
import stat

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import change as module
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import guard, manifest, process, rollback
from support.static_pod import CONFIG, TEXT, with_kubeconfig

KEY = "c2VjcmV0LWtleQ=="
SECRET = CONFIG + f"extenders: [{{urlPrefix: 'https://a', tlsConfig: {{keyData: {KEY}}}}}]\n"
SHOWN = CONFIG + "extenders:\n- urlPrefix: https://a\n  tlsConfig:\n    keyData: '********'\n"
COMPLETED = SHOWN + "clientConnection:\n  kubeconfig: /etc/kubernetes/scheduler.conf\n"
ARGV = yaml.safe_load(TEXT)["spec"]["containers"][0]["command"]


class Host:
    """A host whose waits for a scheduler end with the next of `seen`, and well after these. `waits`: their arguments."""

    def __init__(self, folder, monkeypatch):
        self.path = folder / "kubernetes/manifests/kube-scheduler.yaml"
        self.path.parent.mkdir(parents=True)
        self.path.write_text(TEXT)
        self.configurations = folder / "kubernetes/kube-scheduler"
        self.state = folder / "kubernetes/.osso-kube-scheduler.yaml"
        self.seen, self.waits, self.running, self.words, self.old = [], [], {}, "", []
        monkeypatch.setattr(guard.Guard, "start", lambda _guard: ("process", ["a warning"]))
        monkeypatch.setattr(process, "await_one", self._await_one)
        monkeypatch.setattr(process, "older_than", lambda _path, pids: [pid for pid in pids if pid in self.old])
        monkeypatch.setattr(process, "last_words", lambda: self.words)
        monkeypatch.setattr(rollback, "processes", lambda argv: list(self.running.get(tuple(argv), ())))

    def _await_one(self, *arguments):
        self.waits.append(arguments)
        found = self.seen.pop(0) if self.seen else ""
        return found() if callable(found) else found

    def config_file(self, text):
        completed = with_kubeconfig(text)
        return self.configurations / rollback.config_name(completed), completed

    def change(self, check=False, **options):
        usual = {"state": "present", "content": None, "flags": {}, "health_host": None, "wait_timeout": 60}
        paths = {"manifest": str(self.path), "config_folder": str(self.configurations)}
        return module.change({**usual, **paths, **options}, check)


@pytest.fixture
def host(tmp_path, monkeypatch):
    return Host(tmp_path, monkeypatch)


def test_check_mode_predicts_the_result_of_a_change(host):
    file, completed = host.config_file(SECRET)
    host.running[tuple(ARGV)] = [7]
    options = {"content": SECRET, "flags": {"v": 4, "leader-elect": False}, "health_host": "10.0.0.1", "wait_timeout": 9}
    dry = host.change(check=True, **options)
    assert (host.path.read_text(), host.configurations.exists(), host.state.exists(), host.waits) == (TEXT, False, False, [])
    done = host.change(**options)
    after = manifest.read(host.path.read_text(), "x")
    assert after.argv == [*ARGV[:-1], "--v=4", "--leader-elect=False", f"--config={file}"]
    assert (file.read_text(), stat.S_IMODE(file.parent.stat().st_mode), host.state.exists()) == (completed, 0o700, False)
    assert dry == {
        "changed": True,
        "config_path": str(file),
        "hostname": socket.gethostname(),
        "deleted_files": [],
        "diff": [
            {"before_header": str(host.path), "after_header": str(host.path), "before": TEXT, "after": after.text},
            {"before_header": "", "after_header": str(file), "before": "", "after": COMPLETED},
        ],
    }
    assert done.pop("seconds_until_ready") < 60
    assert done == {**dry, "guard": "process", "warnings": ["a warning"]}
    assert host.waits == [(after.argv, [ARGV], ("10.0.0.1", 10259), 9, [], process.LOGS)]


def test_a_container_without_root_can_read_its_configuration(host, monkeypatch):
    """As kubeadm's feature gate RootlessControlPlane makes it."""
    owners = []
    monkeypatch.setattr(module.os, "chown", lambda path, *owner: owners.append((os.path.basename(path), owner)))
    pod = yaml.safe_load(TEXT)
    pod["spec"]["securityContext"] = {"runAsUser": 65001, "runAsGroup": 65002}
    host.path.write_text(yaml.safe_dump(pod))
    host.change(content=SECRET)
    # Those of the manifest itself stay, and those of a folder that exists.
    assert owners[:-1] == [(host.configurations.name, (65001, 65002)), (owners[1][0], (65001, 65002))]


def test_a_folder_or_file_that_the_container_cannot_read_is_noticed(host, monkeypatch):
    monkeypatch.setattr(module.os, "chown", lambda path, *owner: None)
    pod = yaml.safe_load(TEXT)
    pod["spec"]["securityContext"] = {"runAsUser": 65001}
    host.path.write_text(yaml.safe_dump(pod))
    host.configurations.mkdir(0o755)
    host.change(content=SECRET)
    # Its file does not belong to that user, who got no owner here: it is written again.
    assert host.change(check=True, content=SECRET)["changed"]
    host.configurations.chmod(0o700)
    with pytest.raises(InputError, match=r"^config_folder is .*, which the container's user 65001 cannot read: "):
        host.change(content=SECRET)


def test_credentials_in_the_manifest_are_masked_in_the_diff_alone(host):
    pod = yaml.safe_load(TEXT)
    pod["spec"]["containers"][0]["env"] = [
        {"name": "PROXY_TOKEN", "value": "planted-1"},
        {"name": "PROXY", "value": "http://me:planted-2@proxy"},
    ]
    host.path.write_text(yaml.safe_dump(pod))
    found = host.change(flags={"v": 4})["diff"][0]
    assert "planted" not in str(found)
    assert ("--v=4" in found["after"], "--v=4" in found["before"]) == (True, False)
    assert "planted-1" in host.path.read_text()


def test_a_configuration_that_is_not_used_any_more_is_deleted(host):
    first, _text = host.config_file(SECRET)
    host.change(content=SECRET)
    second, other = host.config_file(CONFIG)
    found = host.change(content=CONFIG)
    assert found["diff"][1] == {
        "before_header": str(first),
        "after_header": str(second),
        "before": COMPLETED,
        "after": other,
    }
    assert (found["deleted_files"], first.exists(), second.exists()) == ([str(first)], False, True)
    # The address is that of the manifest.
    assert host.waits[-1][2] == ("127.0.0.1", 10259)
    absent = host.change(state="absent", content=SECRET, flags={"v": 9})
    assert (absent["changed"], absent["config_path"], absent["deleted_files"]) == (True, "", [str(second)])
    assert manifest.read(host.path.read_text(), "x").argv == ARGV


def test_an_unchanged_configuration_is_only_waited_for(host):
    host.change(content=CONFIG)
    host.waits.clear()
    found = host.change(content=CONFIG)
    assert (found["changed"], "guard" in found, "warnings" in found, len(host.waits)) == (False, False, False, 1)
    argv = manifest.read(host.path.read_text(), "x").argv
    assert host.waits == [(argv, [], ("127.0.0.1", 10259), 60)]
    host.seen, host.words = ["it is gone"], "no disk"
    with pytest.raises(ClusterError) as error:
        host.change(content=CONFIG)
    assert error.value.message == (
        f"Nothing was to be changed in {host.path}, but its kube-scheduler is not well after 60 s: it is gone. "
        "Give another configuration, or take out what was set here with state=absent. Its last words: no disk"
    )


def test_leftovers_of_a_killed_run_are_deleted(host):
    host.state.mkdir()
    (host.state / "guard.py").touch()
    dry = host.change(check=True)
    assert (dry["changed"], dry["deleted_files"], host.state.exists()) == (True, [str(host.state)], True)
    assert (host.change()["deleted_files"], host.state.exists()) == ([str(host.state)], False)
    assert host.change()["changed"] is False


def test_a_change_without_an_available_scheduler_is_rolled_back(host):
    host.seen, host.words = ["0 processes run", ""], f"bad key {KEY}"
    with pytest.raises(
        ClusterError, match=r"^kube-scheduler did not become available within \d+ s: 0 processes run\. The manifest of before"
    ) as error:
        host.change(content=SECRET)
    assert error.value.message.endswith("is in its place again, and the scheduler is well. Its last words: bad key ********")
    assert error.value.result == {"rolled_back": True, "warnings": ["a warning"]}
    assert (host.path.read_text(), list(host.configurations.iterdir()), host.state.exists()) == (TEXT, [], False)
    assert host.waits[1][0] == ARGV
    # Those that the rollback ended must not be left.
    assert host.waits[1][4:] == ([],)


def test_a_rollback_that_does_not_help_is_reported(host):
    host.seen = ["0 processes run", "still nothing"]
    with pytest.raises(ClusterError, match=r"0 processes run\. It is not back yet either: still nothing\.$") as error:
        host.change(flags={"v": 4})
    assert error.value.result["rolled_back"] is False
    assert host.path.read_text() == TEXT


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_task_that_is_ended_is_rolled_back(host, number):
    host.seen = [lambda: os.kill(os.getpid(), number)]
    with pytest.raises(
        ClusterError, match=f"^The change of kube-scheduler was ended by {number.name}. The manifest of before is in its place"
    ):
        host.change(flags={"v": 4})
    assert host.path.read_text() == TEXT


def edited_in_its_place(host, text):
    """A configuration that was changed by hand after it was deployed; its file, and the command line that names it."""
    host.change(content=CONFIG)
    host.waits.clear()
    file, completed = host.config_file(CONFIG)
    file.write_text(text)
    return file, completed, manifest.read(host.path.read_text(), "x").argv


def test_an_edited_configuration_is_written_again_and_its_process_ended(host, monkeypatch):
    file, completed, argv = edited_in_its_place(host, "edited")
    host.running[tuple(argv)] = [7]
    ended = []
    monkeypatch.setattr(rollback.os, "kill", lambda *about: ended.append(about))
    before = host.path.read_text()
    assert host.change(content=CONFIG)["changed"]
    assert (file.read_text(), ended, host.path.read_text()) == (completed, [(7, signal.SIGTERM)], before)
    assert host.waits == [(argv, [], ("127.0.0.1", 10259), 60, [7], process.LOGS)]


def test_an_edited_configuration_that_was_active_is_restored(host, monkeypatch):
    file, _completed, argv = edited_in_its_place(host, "edited")
    host.running[tuple(argv)] = [7]
    ended = []
    monkeypatch.setattr(rollback.os, "kill", lambda *about: ended.append(about))

    def fails():
        host.running[tuple(argv)] = [7, 8]
        return "0 processes run"

    host.seen = [fails]
    with pytest.raises(ClusterError, match="The configuration of before is in its place again, and the scheduler is well") as error:
        host.change(content=CONFIG)
    # 7 ran before the change, and 8 with the new text.
    assert (file.read_text(), [pid for pid, _signal in ended]) == ("edited", [7, 8])
    assert (host.waits[1][4:], error.value.result["rolled_back"]) == (([8],), True)


def test_an_edited_configuration_that_no_process_used_is_not_restored(host):
    file, completed, _argv = edited_in_its_place(host, "edited")
    host.seen = ["0 processes run"]
    with pytest.raises(ClusterError, match=r"No other configuration was active before, so nothing was restored\.$") as error:
        host.change(content=CONFIG)
    assert (file.read_text(), error.value.result["rolled_back"], host.state.exists()) == (completed, False, False)


def test_a_process_that_is_older_than_its_configuration_is_restarted(host, monkeypatch):
    file, _completed, argv = edited_in_its_place(host, host.config_file(CONFIG)[1])
    host.running[tuple(argv)] = host.old = [7]
    os.utime(file, (4e9, 4e9))
    monkeypatch.setattr(rollback.os, "kill", lambda *_about: None)
    found = host.change(content=CONFIG)
    assert found["warnings"] == [
        f"kube-scheduler's process 7 began before {file} was last written. It may run with another text, so it is restarted.",
        "a warning",
    ]
    assert file.stat().st_mtime < 3e9


def test_a_process_that_cannot_be_ended_is_an_error(host, monkeypatch):
    _file, _completed, argv = edited_in_its_place(host, "edited")
    host.running[tuple(argv)] = [7]

    def denied(*_about):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(rollback.os, "kill", denied)
    with pytest.raises(ClusterError, match=r"^kube-scheduler's process cannot be ended: Operation not permitted\. Run the task as root\. "):
        host.change(content=CONFIG)


@pytest.mark.parametrize("folder", ["", "below"])
def test_a_config_folder_inside_the_folder_of_manifests_is_rejected(host, folder):
    given = os.path.join(host.path.parent, folder)
    with pytest.raises(
        InputError, match=f"^config_folder is {given}, inside of {host.path.parent}, where kubelet takes every file for a pod"
    ):
        host.change(config_folder=given)
    host.change(config_folder=f"{host.path.parent}-more")


def test_a_lock_of_another_run_is_an_error(host, monkeypatch):
    monkeypatch.setattr(module, "LOCK_SECONDS", 0)
    with (
        rollback.locked(str(host.path)),
        pytest.raises(ClusterError, match=f"^Another run of this module is changing {host.path}: run the task again when that has ended.$"),
    ):
        host.change()


@pytest.mark.parametrize("missing", ["file", "folder"])
def test_a_missing_manifest_is_an_error(host, missing):
    host.path.unlink()
    if missing == "folder":
        host.path.parent.rmdir()
        host.path.parent.parent.rmdir()
    why = f"^{host.path} cannot be read: No such file or directory. Run the task on a host of the control plane, as root.$"
    with pytest.raises(InputError, match=why):
        host.change()


def killed(host, **more):
    """The record of a run that was killed after it had written a manifest with the flag v."""
    before = manifest.read(TEXT, "x")
    after = manifest.edited(before, None, {"v": "9"})
    host.path.write_text(after.text)
    about = {"manifest": str(host.path), "before": TEXT, "after": [rollback.digest(after.text)], "argv": before.argv, "running": []}
    rollback.record(rollback.Change(**{**about, "folders": [], "keep": [], "config": None, "config_after": None, "found": None, **more}))
    return after


def test_a_run_after_a_killed_one_begins_with_the_manifest_before_that(host):
    after = killed(host)
    found = host.change(flags={"x": "y"})
    assert manifest.read(host.path.read_text(), "x").argv == [*ARGV, "--x=y"]
    assert found["warnings"] == [
        f"A run that was killed has not confirmed its change of {host.path}: this run starts from the manifest before that change.",
        "a warning",
    ]
    # All command lines that may be left
    assert host.waits[0][1] == [ARGV, after.argv]


def test_a_change_of_another_program_after_a_killed_run_is_used(host):
    killed(host)
    host.path.write_text(TEXT.replace("--v=2", "--v=3"))
    found = host.change()
    assert found["warnings"] == [
        f"A run that was killed has changed {host.path}, and another program has changed it since: its current content is used."
    ]
    assert (found["deleted_files"], host.state.exists(), "--v=3" in host.path.read_text()) == ([str(host.state)], False, True)


def test_a_record_that_cannot_be_read_is_an_error(host):
    host.state.mkdir()
    (host.state / "change.json").write_text("{}")
    with pytest.raises(InputError) as error:
        host.change()
    assert error.value.message.startswith(f"A run that was killed has left {host.state}, which cannot be read: ")
    assert error.value.message.endswith(f". Check {host.path}, delete that folder, and run the task again.")


def test_folders_of_a_killed_run_are_cleaned(host):
    folder = host.path.parents[1] / "other"
    folder.mkdir()
    left = folder / rollback.config_name("left")
    left.write_text("left")
    killed(host, folders=[str(folder)])
    assert host.change()["deleted_files"] == [str(left)]
    assert not left.exists()


def test_a_manifest_that_another_program_changes_meanwhile_stays(host):
    def change():
        host.path.write_text("of another")
        return "0 processes run"

    host.seen = [change]
    with pytest.raises(
        ClusterError, match=rf"could not be put back: Another program has changed or removed {host.path} meanwhile\.$"
    ) as error:
        host.change(flags={"v": 4})
    assert (error.value.result["rolled_back"], host.path.read_text(), host.state.exists()) == (False, "of another", False)


def test_a_rollback_that_cannot_write_keeps_the_record(host, monkeypatch):
    def full():
        def rename(*_arguments):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "rename", rename)
        return "0 processes run"

    host.seen = [full]
    with pytest.raises(ClusterError) as error:
        host.change(flags={"v": 4})
    assert error.value.message.endswith(
        f". The manifest of before could not be put back: {host.path} cannot be written: No space left on device. It is tried again every 10 s, "
        "and by the next run of the task."
    )
    assert (error.value.result["rolled_back"], (host.state / "change.json").exists()) == (False, True)


def test_a_file_that_cannot_be_deleted_is_a_warning(host, monkeypatch):
    first, _text = host.config_file(SECRET)
    host.change(content=SECRET)
    unlink = os.unlink

    def denied(path, **more):
        if str(path) == str(first):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        unlink(path, **more)

    monkeypatch.setattr(os, "unlink", denied)
    assert host.change(content=CONFIG)["warnings"] == [
        "a warning",
        f"{first}, which is no longer used, cannot be deleted: Permission denied. Delete it, because it can contain credentials.",
    ]


def test_a_record_that_cannot_be_deleted_is_an_error(host, monkeypatch):
    unlink = os.unlink

    def denied(path, **more):
        if str(path).endswith("change.json"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        unlink(path, **more)

    monkeypatch.setattr(os, "unlink", denied)
    why = "change.json cannot be deleted: Permission denied. While it exists, the change counts as unconfirmed and is rolled back.$"
    with pytest.raises(ClusterError, match=f"^{host.state}/{why}"):
        host.change(flags={"v": 4})


def test_a_guard_that_does_not_start_leaves_everything_as_it_was(host, monkeypatch):
    def fails(_guard):
        raise InputError("no guard")

    monkeypatch.setattr(guard.Guard, "start", fails)
    with pytest.raises(InputError, match=r"^no guard$"):
        host.change(content=CONFIG)
    assert (host.path.read_text(), host.configurations.exists(), host.state.exists(), host.waits) == (TEXT, False, False, [])
