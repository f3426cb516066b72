# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a change, its rollback, and the guard that does it, on folders of a test."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import stat
import uuid

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import rollback
from support.processes import started


@pytest.fixture
def path(tmp_path):
    """A manifest in its folder."""
    found = tmp_path / "kubernetes/manifests/kube-scheduler.yaml"
    found.parent.mkdir(parents=True)
    found.write_text("new")
    return found


@pytest.fixture
def config(tmp_path):
    """A configuration in its folder."""
    found = tmp_path / "configurations/kube-scheduler-now.yaml"
    found.parent.mkdir()
    found.write_text("served")
    return found


def change(path, **more):
    usual = {"before": "old", "after": [rollback.digest("new")], "argv": ["no-such-program"], "running": [], "folders": [], "keep": []}
    return rollback.Change(**{**usual, "manifest": str(path), "config": None, "config_after": None, "found": None, **more})


def test_names_come_from_contents_and_paths():
    assert rollback.state_folder("/etc/kubernetes/manifests/k.yaml") == "/etc/kubernetes/.osso-k.yaml"
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (rollback.digest("abc"), rollback.config_name("abc")) == (digest, f"kube-scheduler-{digest[:12]}.yaml")
    assert change("/m").texts == {rollback.digest("old"), rollback.digest("new")}


def test_a_record_is_read_as_it_was_written(path):
    assert rollback.unconfirmed(str(path)) is None
    made = change(path, running=[7], keep=["/k"], found="f")
    rollback.record(made)
    rollback.record(made)
    folder = path.parents[1] / ".osso-kube-scheduler.yaml"
    assert (stat.S_IMODE(folder.stat().st_mode), [one.name for one in folder.iterdir()]) == (0o700, ["change.json"])
    assert stat.S_IMODE((folder / "change.json").stat().st_mode) == 0o600
    assert rollback.unconfirmed(str(path)) == made


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "Expecting property name"),
        ('{"manifest": "x"}', "missing 9 required"),
        (json.dumps(change("/other")._asdict()), "^it is about /other$"),
    ],
)
def test_an_invalid_record_is_an_error(path, text, why):
    rollback.record(change(path))
    (path.parents[1] / ".osso-kube-scheduler.yaml/change.json").write_text(text)
    with pytest.raises(ValueError, match=why):
        rollback.unconfirmed(str(path))


def test_the_manifest_keeps_mode_and_bytes(path):
    rollback.record(change(path))
    path.chmod(0o640)
    rollback.replace_manifest(str(path), "a\udce4\r\n")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"a\xe4\r\n", 0o640)
    assert rollback.content(str(path)) == "a\udce4\r\n"
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_file_belongs_to_the_owner_of_before(path, monkeypatch):
    owners = []
    monkeypatch.setattr(os, "chown", lambda _path, user, group: owners.append((user, group)))
    folder = str(path.parent)
    rollback.write(str(path), "x", folder)
    assert owners == []
    rollback.write(str(path), "x", folder, 0o600, (0, 5))
    assert owners == [(0, 5)]


@pytest.mark.parametrize("failing", ["mkstemp", "rename", "fsync"])
def test_a_write_that_fails_names_the_file_and_leaves_nothing(path, monkeypatch, failing):
    def fail(*_arguments, **_more):
        raise OSError(errno.ENOSPC, "No space left on device", "/other")

    monkeypatch.setattr(rollback.tempfile if failing == "mkstemp" else os, failing, fail)
    with pytest.raises(OSError, match="No space left on device") as error:
        rollback.write(str(path), "x", str(path.parent))
    assert (error.value.errno, error.value.filename) == (errno.ENOSPC, str(path))
    assert ([one.name for one in path.parent.iterdir()], path.read_text()) == ([path.name], "new")


def test_an_interrupted_write_leaves_nothing(path, monkeypatch):
    def interrupt(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "rename", interrupt)
    with pytest.raises(KeyboardInterrupt):
        rollback.write(str(path), "x", str(path.parent))
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_file_that_does_not_exist_has_no_text(path):
    assert rollback.content_if_any(None) is None
    assert rollback.content_if_any(f"{path}x") is None
    assert rollback.content_if_any(f"{path}/x") is None
    assert rollback.content_if_any(str(path)) == "new"
    with pytest.raises(IsADirectoryError):
        rollback.content_if_any(str(path.parent))


@pytest.mark.parametrize("seconds", [0, 0.01, None])
def test_only_one_process_can_have_the_lock(path, seconds):
    with rollback.locked(str(path), seconds):
        handle = os.open(path.parents[1], os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for patience in (0, 0.06):
            with pytest.raises(TimeoutError), rollback.locked(str(path), patience):
                pass
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(handle)


def test_a_lock_that_becomes_free_is_taken_before_the_time_is_over(path, monkeypatch):
    handle = os.open(path.parents[1], os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    monkeypatch.setattr(rollback.time, "sleep", lambda _seconds: os.close(handle))
    with rollback.locked(str(path), 60):
        pass


@pytest.mark.parametrize("text", [None, "of another program"])
def test_a_rollback_keeps_the_changes_of_others(path, config, text):
    made = change(path, config=str(config), config_after=rollback.digest("served"), found="before", folders=[str(config.parent)])
    path.unlink() if text is None else path.write_text(text)
    assert rollback.restore(made) == (False, [])
    assert rollback.content_if_any(str(path)) == text
    assert config.read_text() == "served"


def test_manifest_and_configurations_are_restored(path, config):
    rollback.record(change(path))
    unused, kept = (config.parent / rollback.config_name(text) for text in ("unused", "kept"))
    unused.write_text("unused")
    kept.write_text("kept")
    made = change(
        path, config=str(config), config_after=rollback.digest("served"), found="f", folders=[str(config.parent)], keep=[str(kept)]
    )
    assert rollback.restore(made) == (True, [])
    assert (path.read_text(), config.read_text(), unused.exists(), kept.exists()) == ("old", "f", False, True)


@pytest.mark.parametrize(
    ("more", "restored"),
    [
        ({}, True),
        ({"config": None}, False),
        ({"found": None}, False),
        ({"config_after": rollback.digest("other")}, False),
        ({"found": ""}, True),
    ],
)
def test_the_former_configuration_is_restored_only_over_our_own_text(path, config, more, restored):
    made = change(path, **{"config": str(config), "config_after": rollback.digest("served"), "found": "before", **more})
    assert rollback.restore_configuration(made) is restored
    assert config.read_text() == (made.found if restored else "served")


@pytest.fixture
def program():
    """A process with an unusual command line, and that line."""
    argv = ["sleep", f"60.{uuid.uuid4().int % 10**9:09}"]
    with started(argv) as process:
        yield process, argv
        process.kill()


def test_a_process_is_found_by_its_exact_command_line(program, tmp_path):
    process, argv = program
    assert rollback.processes(argv) == [process.pid]
    assert rollback.processes(argv[:1]) == rollback.processes([*argv, "x"]) == []
    (tmp_path / "12").mkdir()
    (tmp_path / "12/cmdline").write_bytes(b"a\0b\0")
    (tmp_path / "13/cmdline").mkdir(parents=True)
    (tmp_path / "self").mkdir()
    (tmp_path / "self/cmdline").write_bytes(b"a\0b\0")
    assert rollback.processes(["a", "b"], str(tmp_path)) == [12]


@pytest.mark.parametrize(("known", "manifest", "ends"), [(False, "old", True), (True, "old", False), (False, "new", False)])
def test_a_process_that_ran_with_the_new_text_has_to_end(path, config, program, known, manifest, ends):
    """kubelet restarts it only if the manifest changes."""
    process, argv = program
    rollback.record(change(path))
    path.write_text(manifest)
    about = {"argv": argv, "running": [process.pid] if known else []}
    made = change(path, config=str(config), config_after=rollback.digest("served"), found="before", **about)
    assert rollback.restore(made) == (True, [process.pid] if ends else [])
    if ends:
        assert process.wait(60) == -signal.SIGTERM
    assert process.poll() is None or ends
    rollback.end([process.pid] if ends else [])  # it has ended already


def test_only_our_own_unused_files_are_found(tmp_path):
    one, other = tmp_path / "a[1]", tmp_path / "b"
    one.mkdir()
    other.mkdir()
    names = [rollback.config_name(text) for text in ("used", "unused", "edited")]
    for name, text in zip(names, ("used", "unused", "by hand"), strict=True):
        (one / name).write_text(text)
    (one / "kube-scheduler-folder.yaml").mkdir()
    (one / "mine.yaml").write_text("unused")
    (one / ".osso-abcd_123").write_text("")
    (one / ".osso-abcd_1234").write_text("")
    (one / ".osso-abcd_124").mkdir()
    (other / names[1]).symlink_to(one / names[1])
    link = tmp_path / "link"
    link.symlink_to(one / names[0])
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    (manifests / "own.yaml").write_text(names[1])
    arguments = [[str(other), str(one), str(one), str(tmp_path / "missing")], [str(link)], str(manifests / "own.yaml")]
    assert rollback.unused(*arguments) == [str(one / names[1]), str(one / ".osso-abcd_123")]
    # Another scheduler uses it.
    (manifests / "other.yaml").write_text(f"command: [kube-scheduler, --config={one / names[1]}]")
    assert rollback.unused(*arguments) == [str(one / ".osso-abcd_123")]


def test_forgetting_deletes_the_record_first(path, tmp_path, monkeypatch):
    rollback.record(change(path))
    unit = tmp_path / "unit"
    unit.touch()
    folder = rollback.state_folder(str(path))
    order = []
    for module, name in ((os, "unlink"), (os, "fsync"), (rollback.shutil, "rmtree")):
        original = getattr(module, name)

        def noted(first, *arguments, original=original, name=name, **more):
            order.append((name, first if isinstance(first, str) else "folder"))
            return original(first, *arguments, **more)

        monkeypatch.setattr(module, name, noted)
    rollback.forget(str(path), [str(unit), f"{unit}2"])
    monkeypatch.undo()
    assert order[:5] == [
        ("unlink", f"{folder}/change.json"),
        ("fsync", "folder"),
        ("unlink", str(unit)),
        ("unlink", f"{unit}2"),
        ("rmtree", folder),
    ]
    assert not unit.exists()
    assert not os.path.exists(folder)
    rollback.forget(str(path))


@pytest.fixture
def log(monkeypatch):
    """What the guard writes to the log of the host."""
    found = []
    monkeypatch.setattr(rollback.syslog, "openlog", found.append)
    monkeypatch.setattr(rollback.syslog, "syslog", lambda level, text: found.append((level, text)))
    return found


@pytest.mark.parametrize(
    ("text", "after", "said"), [("new", "old", "rolled back"), ("other", "other", "left unchanged, because it was changed since")]
)
def test_the_guard_rolls_an_unconfirmed_change_back(path, tmp_path, log, text, after, said):
    rollback.record(change(path))
    path.write_text(text)
    unit = tmp_path / "unit"
    unit.touch()
    rollback.guard(str(path), str(unit))
    assert (path.read_text(), unit.exists(), os.path.exists(rollback.state_folder(str(path)))) == (after, False, False)
    assert log == ["osso-scheduler-guard", (rollback.syslog.LOG_WARNING, f"{path}: the change was not confirmed, and is {said}")]


def test_the_guard_of_a_confirmed_change_does_nothing(path, log):
    rollback.guard(str(path))
    assert (path.read_text(), log) == ("new", ["osso-scheduler-guard"])


def test_the_guard_tries_again_after_an_error(path, log, monkeypatch):
    rollback.record(change(path))
    record = path.parents[1] / ".osso-kube-scheduler.yaml/change.json"
    record.write_text("{}")
    armed, waits = [], []

    def repair(seconds):
        armed.append(sorted(one.name for one in record.parent.iterdir()))
        waits.append(seconds)
        rollback.record(change(path))

    monkeypatch.setattr(rollback.time, "sleep", repair)
    rollback.guard(str(path))
    assert (waits, armed) == ([10], [["armed", "change.json"]])
    level, text = log[1]
    assert (level, path.read_text()) == (rollback.syslog.LOG_ERR, "old")
    assert text.startswith(f"{path}: the change cannot be rolled back, next try in 10 s: ")
