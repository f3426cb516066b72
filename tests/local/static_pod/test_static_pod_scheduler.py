# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The default scheduler as a static pod: the manifest's edit, and the module with a stand-in for kubelet that runs real processes."""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables import openshift
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import manifest as manifests
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import process, rollback
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod.change import change
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod.guard import Guard
from support import kubelet
from support.ansible_runs import play
from support.api_server import ApiServer, status
from support.direct_module import COLLECTIONS, run_directly
from support.static_pod import CONFIG, POD, TEXT, with_kubeconfig
from support.static_pod_host import Host

ROOT = Path(__file__).resolve().parents[3]


def read(text=TEXT):
    return manifests.read(text, "kube-scheduler.yaml")


def test_edit_adds_what_is_needed_and_nothing_else():
    before = read()
    after = manifests.edited(before, "/etc/kubernetes/kube-scheduler/a.yaml", {"v": "4", "profiling": "false"})
    assert after.argv == [
        "kube-scheduler",
        "--bind-address=127.0.0.1",
        "--kubeconfig=/etc/kubernetes/scheduler.conf",
        "--v=4",
        "--profiling=false",
        "--config=/etc/kubernetes/kube-scheduler/a.yaml",
    ]
    assert after.pod["spec"]["volumes"][-1]["hostPath"] == {"path": "/etc/kubernetes/kube-scheduler", "type": "Directory"}
    assert after.pod["spec"]["containers"][0]["volumeMounts"][-1]["mountPath"] == "/etc/kubernetes/kube-scheduler"
    assert yaml.safe_load(after.text) == after.pod
    # Again it changes nothing, not even the text.
    again = manifests.edited(after, "/etc/kubernetes/kube-scheduler/a.yaml", {"v": "4", "profiling": "false"})
    assert again.text == after.text


def test_flags_that_are_no_longer_set_get_their_former_values():
    changed = manifests.edited(read(), "/x/a.yaml", {"v": "4", "profiling": "false"})
    assert manifests.edited(changed, "/x/a.yaml", {"profiling": "false"}).flag("v") == "2"
    assert manifests.edited(changed, None, {}).pod == POD
    assert manifests.edited(read(), None, {}).text == TEXT


def test_flags_in_args_and_flags_without_a_value_are_edited():
    pod = yaml.safe_load(TEXT)
    container = pod["spec"]["containers"][0]
    container["command"], container["args"] = ["kube-scheduler"], ["--leader-elect", "--v=2"]
    before = read(yaml.safe_dump(pod))
    after = manifests.edited(before, None, {"leader-elect": "false", "x": "y"})
    assert after.pod["spec"]["containers"][0]["args"] == ["--leader-elect=false", "--v=2", "--x=y"]


@pytest.mark.parametrize(
    ("flags", "address"), [({}, ("127.0.0.1", 10259)), ({"bind-address": "10.0.0.1", "secure-port": "1"}, ("10.0.0.1", 1))]
)
def test_the_flags_determine_the_address_of_the_health_endpoint(flags, address):
    assert manifests.edited(read(), None, flags).address == address


def test_configuration_contains_the_kubeconfig_of_the_manifest():
    text = with_kubeconfig(CONFIG)
    assert yaml.safe_load(text)["clientConnection"] == {"kubeconfig": "/etc/kubernetes/scheduler.conf"}
    said = CONFIG + "clientConnection: {kubeconfig: /mine}\n"
    assert with_kubeconfig(said, "/other") == said
    with pytest.raises(InputError, match=r"clientConnection\.kubeconfig is missing"):
        with_kubeconfig(CONFIG, None)


@pytest.mark.parametrize("text", ["a: [", "kind: Deployment\n", "kind: Pod\nspec: {containers: [{name: other}]}\n"])
def test_a_manifest_that_is_not_of_a_scheduler_is_rejected(text):
    with pytest.raises(InputError, match=r"manifest: kube-scheduler\.yaml"):
        read(text)


def test_a_change_is_applied_once_and_reverted_with_state_absent(host):
    before = host.path.read_text()
    with kubelet.Kubelet(host.manifests) as stand_in:
        dry = host.run(content=CONFIG, flags={"v": 4}, check=True, diff=True).result
        assert (dry["changed"], host.path.read_text(), host.config_folder.exists()) == (True, before, False)
        assert ["--v=4" in one["after"] for one in dry["diff"]] == [True, False]
        assert "KubeSchedulerConfiguration" in dry["diff"][1]["after"]

        done = host.run(content=CONFIG, flags={"v": 4}).result
        assert done["changed"]
        assert [done["config_path"]] == [str(host.config_folder / name) for name in host.configurations()]
        started = stand_in.starts
        assert not host.run(content=CONFIG, flags={"v": 4}).result["changed"]
        assert stand_in.starts == started

        other = host.run(content=CONFIG + "parallelism: 8\n", flags={"v": 4}).result
        assert [other["config_path"]] == [str(host.config_folder / name) for name in host.configurations()]
        assert other["config_path"] != done["config_path"]

        assert host.run(state="absent").result["changed"]
        assert (yaml.safe_load(host.path.read_text()), host.configurations()) == (yaml.safe_load(before), [])
        assert not host.run(state="absent").result["changed"]
    assert stand_in.seen == {"kube-scheduler.yaml"}


def test_a_scheduler_that_does_not_become_available_is_rolled_back(host):
    with kubelet.Kubelet(host.manifests) as stand_in:
        host.run(content=CONFIG)
        before, configurations = host.path.read_text(), host.configurations()
        failed = host.run(content=CONFIG + "# broken\n" + "parallelism: 8\nbroken: 1\n", wait_timeout=15, succeed=False)
        assert failed.result["rolled_back"] is True
        assert re.search(r"kube-scheduler did not become available within \d+ s: ", failed.message)
        assert "The manifest of before is in its place again, and the scheduler is well" in failed.message
        assert (host.path.read_text(), host.configurations()) == (before, configurations)
    assert stand_in.seen == {"kube-scheduler.yaml"}


def test_a_configuration_that_was_edited_in_place_is_corrected(host):
    """The manifest stays, so kubelet sees no change: the process is ended"""
    with kubelet.Kubelet(host.manifests):
        path = Path(host.run(content=CONFIG).result["config_path"])
        manifest, right = host.path.read_text(), path.read_text()
        (before,) = rollback.processes(read(manifest).argv)
        path.write_text(right + "parallelism: 1\n")
        assert host.run(content=CONFIG, check=True).result["changed"]
        assert host.run(content=CONFIG).result["changed"]
        (after,) = rollback.processes(read(manifest).argv)
        assert (path.read_text(), host.path.read_text(), after == before) == (right, manifest, False)
        assert not host.run(content=CONFIG).result["changed"]


@pytest.fixture
def step(host, monkeypatch):
    """The module's work here, where no process ever comes up; what `meanwhile` does happens while it waits for the new one."""

    def run(meanwhile=None, running=(), check_mode=False, **options):
        ended, waits = [], []

        def await_one(*asked):
            waits.append(asked)
            if len(waits) == 1 and meanwhile:
                meanwhile()
            return "it is broken" if len(waits) == 1 else ""

        monkeypatch.setattr(process, "await_one", await_one)
        monkeypatch.setattr(rollback, "processes", lambda _argv: list(running))
        monkeypatch.setattr(rollback, "end", ended.extend)
        monkeypatch.setattr(Guard, "start", lambda _guard: ("process", []))
        usual = {"state": "present", "content": CONFIG, "flags": {}, "health_host": None, "wait_timeout": 60}
        with pytest.raises(ClusterError) as failure:
            change({**usual, "manifest": str(host.path), "config_folder": str(host.config_folder), **options}, check_mode)
        return failure.value, ended

    return run


def test_a_configuration_that_was_edited_in_place_and_worked_is_rolled_back_to(host, step):
    text = with_kubeconfig(CONFIG)
    edited, right = host.config_folder / rollback.config_name(text), text
    host.config_folder.mkdir()
    edited.write_text("edited")
    host.path.write_text(manifests.edited(read(host.path.read_text()), str(edited), {}).text)
    failure, ended = step(running=[7])
    assert "it is broken. The configuration of before is in its place again, and the scheduler is well." in failure.message
    assert (failure.result["rolled_back"], edited.read_text(), ended) == (True, "edited", [7])
    # Nothing is gone back to that did not serve.
    failure, ended = step()
    assert "No other configuration was active before, so nothing was restored." in failure.message
    assert (failure.result["rolled_back"], edited.read_text(), ended) == (False, right, [])


def test_a_manifest_that_was_moved_meanwhile_is_not_rolled_back_and_reported(host, step):
    failure, _ended = step(meanwhile=lambda: host.path.rename(host.config_folder / "away"))
    assert "it is broken. The manifest of before could not be put back: " in failure.message
    assert f"Another program has changed or removed {host.path} meanwhile." in failure.message
    assert failure.result["rolled_back"] is False


def test_a_full_disk_is_reported_before_anything_is_changed(host, step, monkeypatch):
    """Whatever cannot be written, nothing was ended and nothing is left"""
    before, fsync, named = host.path.read_text(), os.fsync, []
    for which in itertools.count():
        written = itertools.count()

        def full(handle, which=which, written=written):
            if next(written) == which:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            fsync(handle)

        monkeypatch.setattr(os, "fsync", full)
        failure, ended = step(running=[7])
        if "it is broken" in failure.message:
            break  # it got as far as to wait
        assert (host.path.read_text(), host.configurations(), host.others()) == (before, [], [])
        assert "cannot be written: No space left on device" in failure.message
        assert (failure.result, ended) == ({}, [])
        named.append(Path(failure.message.partition(" ")[0]).name)
    text = with_kubeconfig(CONFIG)
    assert set(named) == {rollback.RECORD, rollback.config_name(text), host.path.name}


def test_a_full_disk_during_the_rollback_is_reported(host, step, monkeypatch):
    def full(_handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    failure, _ended = step(meanwhile=lambda: monkeypatch.setattr(os, "fsync", full))
    assert f"The manifest of before could not be put back: {host.path} cannot be written: No space left on device." in failure.message
    assert failure.result["rolled_back"] is False


def test_file_systems_are_compared_also_in_check_mode(host, step, monkeypatch):
    stat = os.stat

    def apart(path, **options):
        found = stat(path, **options)
        return SimpleNamespace(st_dev=1) if path == str(host.manifests) else found

    monkeypatch.setattr(os, "stat", apart)
    failure, _ended = step(check_mode=True)
    assert "are on different file systems" in failure.message


def test_a_configuration_folder_that_cannot_be_created_is_reported(host, step):
    file = host.manifests.parent / "file"
    file.touch()
    failure, _ended = step(config_folder=str(file / "folder"))
    assert failure.message.startswith(f"{file}/folder cannot be written: Not a directory.")


def test_a_process_that_ends_after_every_start_is_given_up(tmp_path):
    """By its logs, of which kubelet has one for each start and keeps the last; those of before do not count"""
    last = tmp_path / "0.log"
    last.touch()
    starts = process._Starts(str(tmp_path / "*.log"))

    def in_vain(now, running=False):
        starts.look(now, running)
        return starts.in_vain(now)

    # As kubelet does it: at once, after ten seconds, after twenty.
    seen = []
    for number, at in enumerate((15, 17, 30, 53), 1):
        last = last.rename(tmp_path / f"{number}.log") if number > 1 else tmp_path / "1.log"
        last.touch()
        seen.append([in_vain(at), in_vain(at + 1, running=True), in_vain(at + 5), in_vain(at + 6)])
    assert seen == [[False] * 4, [False] * 4, [False, False, False, True], [False, False, False, True]]
    assert starts.count == 4


def test_a_process_that_ends_after_every_start_is_given_up_before_the_timeout(tmp_path, monkeypatch):
    def processes(argv):
        """None ever, but each time somebody looks, kubelet has started one more."""
        (tmp_path / f"{len(list(tmp_path.iterdir()))}.log").touch()
        return []

    monkeypatch.setattr(process, "STABLE_SECONDS", 0)
    monkeypatch.setattr(process, "processes", processes)
    wrong = process.await_one(["ends at once"], [], ("127.0.0.1", 9), 600, logs=str(tmp_path / "*.log"))
    assert wrong == "kubelet started it 3 times, and it ended each time"


def test_a_broken_manifest_of_a_killed_run_is_reported_as_not_available(host):
    """The same task again has nothing to change, and says that the scheduler is not well."""
    left = manifests.edited(read(host.path.read_text()), None, {"broken": "yes"})
    host.path.write_text(left.text)
    with kubelet.Kubelet(host.manifests) as stand_in:
        assert not host.run(flags={"broken": "yes"}, check=True).result["changed"]
        again = host.run(flags={"broken": "yes"}, wait_timeout=2, succeed=False)
        assert "Nothing was to be changed in" in again.message
        assert "is not well after 2 s" in again.message
        assert "state=absent" in again.message
        assert host.path.read_text() == left.text
        assert host.run(state="absent").result["changed"]
    assert stand_in.seen == {"kube-scheduler.yaml"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_the_task_restores_the_former_manifest(host, number):
    before = host.path.read_text()
    arguments = {"manifest": str(host.path), "config_folder": str(host.config_folder), "flags": {"broken": "yes"}, "wait_timeout": 120}
    with kubelet.Kubelet(host.manifests):
        module = subprocess.Popen(
            [sys.executable, "-m", "ansible_collections.osso.scheduler.plugins.modules.static_pod_scheduler"],
            env={**os.environ, "PYTHONPATH": str(COLLECTIONS)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        module.stdin.write(json.dumps({"ANSIBLE_MODULE_ARGS": arguments}))
        module.stdin.close()
        while host.path.read_text() == before:
            assert module.poll() is None
            time.sleep(0.02)
        module.send_signal(number)
        result = json.loads(module.stdout.read())
        module.wait()
    assert result["msg"].startswith(f"The change of kube-scheduler was ended by {number.name}. The manifest of before is in its place")
    assert (result["rolled_back"], host.path.read_text()) == (True, before)


def test_only_unused_configurations_of_the_module_are_deleted(host):
    """Only what is named by its content is deleted, and nothing that the manifest, or the way back, names"""
    host.config_folder.mkdir()
    own, alike = host.config_folder / "kube-scheduler-custom.yaml", host.config_folder / "kube-scheduler-0123456789ab.yaml"
    own.write_text("mine")
    alike.write_text("named alike")
    said = CONFIG + "clientConnection: {kubeconfig: /mine}\n"
    former = host.config_folder / rollback.config_name(said)
    former.write_text(said)
    pod = yaml.safe_load(host.path.read_text())
    pod["spec"]["containers"][0]["command"].append(f"--config={former}")
    host.path.write_text(yaml.safe_dump(pod))
    with kubelet.Kubelet(host.manifests):
        first = Path(host.run(content=CONFIG).result["config_path"])
        assert {own, alike, former, first} == set(host.config_folder.iterdir())
        second = Path(host.run(content=CONFIG + "parallelism: 8\n").result["config_path"])
        assert {own, alike, former, second} == set(host.config_folder.iterdir())
        host.run(state="absent")
        assert {own, alike, former} == set(host.config_folder.iterdir())


def test_credentials_are_in_no_output(host):
    text = CONFIG + "extenders:\n- urlPrefix: https://a\n  tlsConfig: {keyData: %s}\n"
    keys = ["Zmlyc3Qta2V5", "c2Vjb25kLWtleQ=="]
    with kubelet.Kubelet(host.manifests):
        outputs = [host.run(content=text % keys[0], diff=True).output]
        assert keys[0] in (host.config_folder / host.configurations()[0]).read_text()
        changed = host.run(content=text % keys[1], check=True, diff=True)
        outputs.append(changed.output)
        assert ["********" in changed.result["diff"][1][side] for side in ("before", "after")] == [True, True]
        outputs.append(host.run(content=text % keys[1] + "broken: [", succeed=False).output)
    assert [key for key in keys if key in "".join(outputs)] == []


def test_an_old_process_with_the_same_command_line_is_not_the_new_one(host):
    """A flag set to what it was changes no more than the annotation, and kubelet starts the pod anew"""
    pod = yaml.safe_load(host.path.read_text())
    pod["spec"]["containers"][0]["command"].append("--v=2")
    host.path.write_text(yaml.safe_dump(pod))
    argv, address = read(host.path.read_text()).argv, read(host.path.read_text()).address
    with kubelet.Kubelet(host.manifests):
        assert process.await_one(argv, [], address, 60) == ""
        (old,) = rollback.processes(argv)
        seen = process.await_one(argv, [], address, 1, [old])
        assert seen == "the process before still runs"
        assert host.run(flags={"v": 2}).result["changed"]
        (new,) = rollback.processes(argv)
        assert (read(host.path.read_text()).argv, new == old) == (argv, False)


def test_a_configuration_folder_below_the_folder_of_manifests_is_rejected(host):
    run = host.run(content=CONFIG, config_folder=str(host.manifests / "own"), succeed=False)
    assert "where kubelet takes every file for a pod" in run.message


def test_a_missing_manifest_is_an_error(tmp_path):
    run = run_directly("static_pod_scheduler", manifest=str(tmp_path / "none.yaml"), succeed=False)
    assert "none.yaml cannot be read: No such file or directory" in run.message


@pytest.mark.long
def test_playbook_changes_one_host_after_the_other(tmp_path):
    """Profile, log level and profiling on two hosts; the second one is left alone where the first fails"""
    hosts = {name: Host(tmp_path / name) for name in ("one", "two")}
    inventory = tmp_path / "inventory.yml"
    own = {
        name: {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "default_scheduler_manifest": str(host.path),
            "default_scheduler_config_folder": str(host.config_folder),
        }
        for name, host in hosts.items()
    }
    inventory.write_text(yaml.safe_dump({"control_plane": {"hosts": own}}))
    variables = {
        "ansible_become": False,
        "default_scheduler_profile": "HighNodeUtilization",
        "default_scheduler_log_level": "Debug",
        "default_scheduler_profiling": False,
        "default_scheduler_kubernetes_version": "1.34",
        "default_scheduler_probe": False,
        "default_scheduler_restart_timeout": 60,
    }
    playbook, inventories = "osso.scheduler.default_scheduler_static_pod", [f"--inventory={inventory}"]
    with kubelet.Kubelet(hosts["one"].manifests), kubelet.Kubelet(hosts["two"].manifests) as second:
        play(playbook, variables=variables, args=inventories)
        for host in hosts.values():
            (container,) = yaml.safe_load(host.path.read_text())["spec"]["containers"]
            assert "--v=4" in container["command"]
            config = host.configuration()
            assert config["enableProfiling"] is False
            assert config["clientConnection"]["kubeconfig"] == "/etc/kubernetes/scheduler.conf"
            assert config["profiles"][0]["pluginConfig"][0]["args"] == {"scoringStrategy": {"type": "MostAllocated"}}
        assert play(playbook, variables=variables, args=inventories).changed == []

        started = second.starts
        broken = {**variables, "default_scheduler_flags": {"broken": "yes"}, "default_scheduler_restart_timeout": 10}
        run = play(playbook, variables=broken, args=inventories, succeed=False)
        assert {task.host for task in run.failures} == {"one"}
        assert second.starts == started


@pytest.fixture
def probing(host, tmp_path):
    """probing(answers) runs the playbook on one host; these are what the API server answers to the probe and to what follows it."""
    inventory = tmp_path / "inventory.yml"
    own = {
        "ansible_connection": "local",
        "ansible_python_interpreter": sys.executable,
        "default_scheduler_manifest": str(host.path),
        "default_scheduler_config_folder": str(host.config_folder),
    }
    inventory.write_text(yaml.safe_dump({"control_plane": {"hosts": {"one": own}}}))
    variables = {
        "ansible_become": False,
        "default_scheduler_profile": "HighNodeUtilization",
        "default_scheduler_flags": {"v": 4},
        "default_scheduler_kubernetes_version": "1.34",
        "default_scheduler_restart_timeout": 60,
    }
    with kubelet.Kubelet(host.manifests), ApiServer.running() as server:

        def run(answers, **options):
            server.answers = answers
            environment = {"K8S_AUTH_HOST": server.url, "K8S_AUTH_API_KEY": "token"}
            playbook = "osso.scheduler.default_scheduler_static_pod"
            done = play(playbook, variables=variables, args=[f"--inventory={inventory}"], env=environment, **options)
            assert server.answers == []
            return done

        yield run


def forbidden():
    return [(403, status(403, "Forbidden", "no pods here"))]


def test_playbook_reports_a_probe_that_fails_after_the_change(probing, host):
    run = probing(forbidden(), succeed=False)
    (failure,) = run.failures
    assert "no pods here" in failure.result["msg"]
    assert read(host.path.read_text()).flag("v") == "4", "the scheduler itself is well"
    assert host.configuration()["profiles"][0]["pluginConfig"][0]["args"] == {"scoringStrategy": {"type": "MostAllocated"}}


@pytest.mark.long
def test_playbook_probes_again_after_a_probe_that_failed(probing):
    """Nothing is left to be changed then, and it says when it was another host's scheduler that placed the pod"""
    pod = {"metadata": {"name": "probe", "uid": "u", "resourceVersion": "1"}, "spec": {"nodeName": "worker"}}

    def placed_by(host_name):
        event = {"metadata": {}, "reason": "Scheduled", "reportingInstance": f"default-scheduler-{host_name}"}
        missing, empty = (404, status(404, "NotFound")), (200, {"items": []})
        # The search for conflicts: SecondarySchedulers, Deployments, static pods and Lease, those of OpenShift
        return [(201, pod), (200, {"items": [event]}), (200, {}), missing, empty, empty, missing, empty, missing]

    said = "Report if another host's scheduler placed the pod"
    probing(forbidden(), succeed=False)
    again = probing(placed_by("elsewhere"))
    assert again.changed == []
    assert "was placed by default-scheduler-elsewhere, and not by the one of" in again.task(said).result["msg"]
    assert probing(placed_by(socket.gethostname())).task(said).status == "skipped"


def test_tables_of_the_role_match_the_profiles_of_openshift():
    said = yaml.safe_load((ROOT / "roles/default_scheduler/vars/main.yml").read_text())
    assert said["default_scheduler_verbosity"] == openshift.VERBOSITY
    assert said["default_scheduler_presets"] == {name: preset or "low_node_utilization" for name, preset in openshift.PROFILES.items()}
