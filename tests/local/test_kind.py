# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""CLUSTER=kind: the commands that it runs. Programs named kind, docker and podman record them; no real kind runs."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

PROGRAM = """#!/usr/bin/env bash
echo "$(basename "$0") $*" >>"$RECORD"
case "$(basename "$0") $*" in
  "kind get clusters") echo "$CLUSTERS" ;;
  "kind get nodes "*) printf 'one\\ntwo\\n' ;;
  "kind get kubeconfig "*) echo "the kubeconfig" ;;
  *" inspect "*) exit "$MISSING" ;;
  *" exec --interactive "* | "kind create "*) sed 's/^/< /' >>"$RECORD" ;;
esac
"""
REGISTRY = "osso-scheduler-registry"
NODES = [
    line
    for node in ("one", "two")
    for line in (
        f"ENGINE exec {node} mkdir -p /etc/containerd/certs.d/localhost:5001",
        f"ENGINE exec --interactive {node} cp /dev/stdin /etc/containerd/certs.d/localhost:5001/hosts.toml",
        f'< [host."http://{REGISTRY}:5000"]',
    )
]


@pytest.fixture
def kind(tmp_path, root):
    """Runs make or tests/cluster/kind beside the recording programs; returns the process and what was recorded."""
    programs = tmp_path / "bin"
    programs.mkdir()
    # An engine of this host must not be found.
    for name in ("bash", "basename", "chmod", "grep", "mkdir", "rm", "sed", "make", "seq", "env", "sh"):
        (programs / name).symlink_to(shutil.which(name))
    record = tmp_path / "record"

    def run(*command, engines=("docker",), clusters="", missing=1):
        for name in ("kind", *engines):
            (programs / name).write_text(PROGRAM)
            (programs / name).chmod(0o755)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("KIND_", "MAKE"))}
        environment |= {"PATH": str(programs), "RECORD": str(record), "CLUSTERS": clusters, "MISSING": str(missing)}
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
        return done, record.read_text().splitlines() if record.exists() else []

    return run


@pytest.mark.parametrize("engine", ["docker", "podman"])
def test_a_cluster_and_its_registry_are_created(kind, root, tmp_path, engine):
    done, commands = kind(root / "tests/cluster/kind", "up", tmp_path / "new", engines=[engine])
    assert done.returncode == 0, done.stderr
    created = commands.index("kind create cluster --name=osso-scheduler --wait=120s --config=-")
    assert commands[:created] == [
        f"{engine} inspect {REGISTRY}",
        f"{engine} run --detach --restart=always --publish=127.0.0.1:5001:5000 --name={REGISTRY} registry:2",
        "kind get clusters",
    ]
    assert "< nodes: [{role: control-plane}, {role: worker}, {role: worker}]" in commands
    network = commands.index(f"{engine} network connect kind {REGISTRY}")
    expected = [line.replace("ENGINE", engine) for line in NODES]
    assert commands[network + 1 :] == ["kind get nodes --name=osso-scheduler", *expected, "kind get kubeconfig --name=osso-scheduler"]
    assert (tmp_path / "new/kubeconfig").read_text() == "the kubeconfig\n"


def test_an_existing_cluster_and_registry_are_kept(kind, root, tmp_path):
    done, commands = kind(root / "tests/cluster/kind", "up", tmp_path, clusters="osso-scheduler", missing=0)
    assert done.returncode == 0, done.stderr
    assert not [command for command in commands if " create " in command or " run " in command]


def test_down_removes_cluster_registry_and_kubeconfig(kind, root, tmp_path):
    directory = tmp_path / "old"
    directory.mkdir()
    done, commands = kind(root / "tests/cluster/kind", "down", directory)
    assert done.returncode == 0, done.stderr
    assert commands == ["kind delete cluster --name=osso-scheduler", f"docker rm --force {REGISTRY}"]
    assert not directory.exists()


def test_without_an_engine_the_error_names_both(kind, root, tmp_path):
    done, commands = kind(root / "tests/cluster/kind", "up", tmp_path, engines=[])
    assert (done.returncode, done.stderr, commands) == (1, "kind: neither docker nor podman is installed; kind needs one of them\n", [])


def test_make_uses_the_cluster_and_the_registry_of_kind(kind, root, tmp_path):
    """The recipes here stand in for the builds and the cluster."""
    recipes = tmp_path / "recipes.mk"
    recipes.write_text('collections env:\n\t@:\nready:\n\t@echo "$(KIND)"\nimages:\n\t@echo "$$KUBECONFIG $$REGISTRY $(CLUSTERS)"\n')
    done, _commands = kind("make", "--no-print-directory", "-f", "Makefile", "-f", recipes, "ready", "images", "CLUSTER=kind")
    assert done.stdout.splitlines()[1:] == [f"{root}/.cluster-kind", f"{root}/.cluster-kind/kubeconfig localhost:5001 1"], done.stderr


def test_another_value_of_cluster_is_rejected(kind):
    done, _commands = kind("make", "help", "CLUSTER=minikube")
    assert done.returncode == 2
    assert "CLUSTER=minikube is unknown; kind is the only value" in done.stderr
