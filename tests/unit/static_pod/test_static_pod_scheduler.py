# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The default scheduler as a static pod: the manifest's edit, and the module with a stand-in for kubelet that runs real processes."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.tables import openshift
from ansible_collections.osso.scheduler.plugins.module_utils.static_pod import manifest as manifests
from support import kubelet
from support.ansible_runs import play
from support.certificates import Authority
from support.direct_module import run_directly

ROOT = Path(__file__).resolve().parents[3]
CONFIG = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
# As kubeadm writes it, as far as it matters
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "kube-scheduler", "namespace": "kube-system", "labels": {"component": "kube-scheduler"}},
    "spec": {
        "containers": [
            {
                "name": "kube-scheduler",
                "image": "registry.k8s.io/kube-scheduler:v1.34.7",
                "command": ["kube-scheduler", "--bind-address=127.0.0.1", "--kubeconfig=/etc/kubernetes/scheduler.conf", "--v=2"],
                "volumeMounts": [{"name": "kubeconfig", "mountPath": "/etc/kubernetes/scheduler.conf", "readOnly": True}],
            }
        ],
        "hostNetwork": True,
        "volumes": [{"name": "kubeconfig", "hostPath": {"path": "/etc/kubernetes/scheduler.conf", "type": "FileOrCreate"}}],
    },
}
TEXT = "# written by hand\n" + yaml.safe_dump(POD, sort_keys=False)


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


def test_what_is_not_set_any_more_is_as_it_was():
    changed = manifests.edited(read(), "/x/a.yaml", {"v": "4", "profiling": "false"})
    assert manifests.edited(changed, "/x/a.yaml", {"profiling": "false"}).flag("v") == "2"
    assert manifests.edited(changed, None, {}).pod == POD
    assert manifests.edited(read(), None, {}).text == TEXT


def test_flags_in_args_and_flags_without_value():
    pod = yaml.safe_load(TEXT)
    container = pod["spec"]["containers"][0]
    container["command"], container["args"] = ["kube-scheduler"], ["--leader-elect", "--v=2"]
    before = read(yaml.safe_dump(pod))
    after = manifests.edited(before, None, {"leader-elect": "false", "x": "y"})
    assert after.pod["spec"]["containers"][0]["args"] == ["--leader-elect=false", "--v=2", "--x=y"]


@pytest.mark.parametrize(
    ("flags", "address"), [({}, ("127.0.0.1", 10259)), ({"bind-address": "10.0.0.1", "secure-port": "1"}, ("10.0.0.1", 1))]
)
def test_address_of_its_health(flags, address):
    assert manifests.edited(read(), None, flags).address == address


def test_configuration_says_how_the_api_server_is_reached():
    text = manifests.with_kubeconfig(CONFIG, "/etc/kubernetes/scheduler.conf")
    assert yaml.safe_load(text)["clientConnection"] == {"kubeconfig": "/etc/kubernetes/scheduler.conf"}
    said = CONFIG + "clientConnection: {kubeconfig: /mine}\n"
    assert manifests.with_kubeconfig(said, "/other") == said
    with pytest.raises(InputError, match=r"clientConnection\.kubeconfig is missing"):
        manifests.with_kubeconfig(CONFIG, None)


@pytest.mark.parametrize("text", ["a: [", "kind: Deployment\n", "kind: Pod\nspec: {containers: [{name: other}]}\n"])
def test_no_manifest_of_a_scheduler(text):
    with pytest.raises(InputError, match=r"manifest: kube-scheduler\.yaml"):
        read(text)


class Host:
    """A host of a control plane: folders, a manifest, and the module with its paths."""

    def __init__(self, folder: Path):
        folder.mkdir(exist_ok=True)
        self.manifests = folder / "kubernetes/manifests"
        self.manifests.mkdir(parents=True)
        self.config_folder = folder / "kubernetes/kube-scheduler"
        self.path = self.manifests / "kube-scheduler.yaml"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        certificate, key = Authority(folder).certificate("127.0.0.1")
        self.command = [sys.executable, kubelet.__file__, f"--secure-port={port}", f"--tls-cert-file={certificate}"]
        self.command += [f"--tls-private-key-file={key}", "--kubeconfig=/etc/kubernetes/scheduler.conf"]
        pod = yaml.safe_load(TEXT)
        pod["spec"]["containers"][0]["command"] = self.command
        self.path.write_text(yaml.safe_dump(pod))

    def run(self, **options):
        usual = {"manifest": str(self.path), "config_folder": str(self.config_folder), "wait_timeout": 60}
        return run_directly("static_pod_scheduler", **{**usual, **options})

    def configurations(self):
        return sorted(path.name for path in self.config_folder.glob("*"))


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def test_change_again_and_back(host):
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


def test_what_does_not_come_up_is_rolled_back(host):
    with kubelet.Kubelet(host.manifests) as stand_in:
        host.run(content=CONFIG)
        before, configurations = host.path.read_text(), host.configurations()
        failed = host.run(content=CONFIG + "# broken\n" + "parallelism: 8\nbroken: 1\n", wait_timeout=8, succeed=False)
        assert failed.result["rolled_back"] is True
        assert "kube-scheduler did not come up within 8 s" in failed.message
        assert "The manifest of before is in its place again, and the scheduler is well" in failed.message
        assert (host.path.read_text(), host.configurations()) == (before, configurations)
    assert stand_in.seen == {"kube-scheduler.yaml"}


def test_nothing_of_ours_in_the_folder_of_manifests(host):
    run = host.run(content=CONFIG, config_folder=str(host.manifests / "own"), succeed=False)
    assert "where kubelet takes every file for a pod" in run.message


def test_without_a_manifest(tmp_path):
    run = run_directly("static_pod_scheduler", manifest=str(tmp_path / "none.yaml"), succeed=False)
    assert "none.yaml cannot be read: No such file or directory" in run.message


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
            (name,) = host.configurations()
            config = yaml.safe_load((host.config_folder / name).read_text())
            assert config["enableProfiling"] is False
            assert config["clientConnection"]["kubeconfig"] == "/etc/kubernetes/scheduler.conf"
            assert config["profiles"][0]["pluginConfig"][0]["args"] == {"scoringStrategy": {"type": "MostAllocated"}}
        assert play(playbook, variables=variables, args=inventories).changed == []

        started = second.starts
        broken = {**variables, "default_scheduler_flags": {"broken": "yes"}, "default_scheduler_restart_timeout": 8}
        run = play(playbook, variables=broken, args=inventories, succeed=False)
        assert {task.host for task in run.failures} == {"one"}
        assert second.starts == started


def test_tables_of_the_role_are_those_of_the_profiles():
    said = yaml.safe_load((ROOT / "roles/default_scheduler/vars/main.yml").read_text())
    assert said["default_scheduler_verbosity"] == openshift.VERBOSITY
    assert said["default_scheduler_presets"] == {name: preset or "low_node_utilization" for name, preset in openshift.PROFILES.items()}
