# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""scheduler_pprof on a real scheduler: profiles that Go's own tools open, and nothing left in the cluster (F151-F154)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from support.access import service_account
from support.debian import program
from support.inventory import everything
from support.plain_scheduler import CONFIG, config_map, plain_scheduler
from support.processes import descendants
from support.scheduler import eventually

MODULE = "scheduler_pprof"
ALL = ["heap", "allocs", "goroutine", "threadcreate", "block", "mutex", "cpu", "trace"]


@pytest.fixture(scope="module")
def second(kubectl):
    with plain_scheduler(kubectl, restricted=True) as namespace:
        yield namespace


@pytest.fixture
def fetch(run_module, second, tmp_path, kubectl):
    """Fetch profiles; nothing of it may be left in the cluster."""

    def run(check=False, **options):
        args = {"scheduler_name": second, "namespaces": [second], "dest": str(tmp_path), "seconds": 2, **options}
        result = run_module(MODULE, args, check=check)
        assert granted(kubectl) == set()
        assert "eyJhbGci" not in json.dumps(result), "a token is in the result"
        return result

    return run


def granted(kubectl) -> set[str]:
    """What there is that grants the right to read profiles."""
    kinds = "serviceaccounts,clusterroles,clusterrolebindings"
    return set(kubectl("get", kinds, "--all-namespaces", "--selector=osso.scheduler/profiling", "--output=name").stdout.split())


def go(*args) -> str:
    """What one of Go's tools says."""
    if not shutil.which("go"):
        pytest.skip("needs go, whose tools open the profiles")
    done = subprocess.run(["go", "tool", *map(str, args)], capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_profiles_are_opened_by_go(fetch, tmp_path, kubectl):
    before = everything(kubectl)
    result = fetch(profiles=ALL)
    assert everything(kubectl) - before == set()
    assert not result["failed"], result["msg"]
    assert result["changed"]
    assert [one["profile"] for one in result["files"]] == ALL
    paths = {one["profile"]: Path(one["path"]) for one in result["files"]}
    assert sorted(paths.values()) == sorted(tmp_path.iterdir())
    assert all(path.stat().st_size == one["size"] for path, one in zip(paths.values(), result["files"], strict=True))
    tops = {profile: go("pprof", "-top", "-nodecount=500", path) for profile, path in paths.items() if profile != "trace"}
    kinds = {"heap": "inuse_space", "allocs": "alloc_space", "goroutine": "goroutine", "block": "delay", "cpu": "cpu", "mutex": "delay"}
    for profile, kind in kinds.items():
        assert f"Type: {kind}" in tops[profile], tops[profile]
    # Names of functions without the program
    assert "k8s.io/kubernetes/pkg/scheduler" in tops["goroutine"]
    assert "k8s.io/" in tops["heap"]
    assert "Duration: " in tops["cpu"], tops["cpu"]
    go("trace", "-pprof=sched", paths["trace"])


@pytest.fixture
def skopeo(own_cluster, tmp_path_factory) -> str:
    """skopeo that finds images where the cluster's nodes find them."""
    folder = tmp_path_factory.mktemp("skopeo")
    mirror = f'location = "{(own_cluster / "registry").read_text().strip()}"\ninsecure = true\n'
    (folder / "registries.conf").write_text(f'[[registry]]\nlocation = "registry.k8s.io"\n[[registry.mirror]]\n{mirror}')
    wrapper = folder / "skopeo"
    wrapper.write_text(f'#!/bin/sh\nexec {program("skopeo", "skopeo")} --registries-conf={folder}/registries.conf "$@"\n')
    wrapper.chmod(0o755)
    return str(wrapper)


@pytest.mark.long
def test_the_program_is_copied_from_the_image(fetch, tmp_path, skopeo):
    """shows what profiles lack"""
    asked = {"profiles": ["cpu"], "seconds": 1, "binary": {"skopeo": skopeo, "validate_certs": False}}
    foretold = fetch(check=True, **asked)["binary"]
    assert list(tmp_path.iterdir()) == []
    result = fetch(**asked)
    assert not result["failed"], result["msg"]
    told, path = result["binary"], Path(result["binary"]["path"])
    assert foretold == {**told, "size": None}
    assert "@sha256:" in told["image"]
    assert path.stat().st_size == told["size"]
    assert sorted(tmp_path.iterdir()) == sorted([path, Path(result["files"][0]["path"])])
    assert "scheduler-plugins" in subprocess.run(["go", "version", "-m", path], capture_output=True, text=True, check=True).stdout
    go("pprof", "-top", path, result["files"][0]["path"])


@pytest.mark.long
def test_an_unreachable_registry_fails_the_task_but_keeps_the_profiles(fetch, tmp_path):
    """The profiles are there all the same."""
    result = fetch(profiles=["goroutine"], binary={"skopeo": str(program("skopeo", "skopeo"))})
    assert result["failed"]
    assert "binary.auth_file and binary.validate_certs configure the access" in result["msg"]
    assert [str(path) for path in tmp_path.iterdir()] == [result["files"][0]["path"]]


def test_check_mode_names_the_files_and_does_nothing(fetch, audit, tmp_path):
    with audit:
        result = fetch(check=True)
    assert (result["failed"], result["changed"], result["certificate"]) == (False, True, None)
    assert [one["size"] for one in result["files"]] == [None, None]
    assert [one for one in audit.writes() if one.resource != "configmaps"] == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_the_certificate_is_verified_by_its_fingerprint(fetch, tmp_path):
    first = fetch(profiles=["goroutine"])
    assert first["certificate"]["verified"] is False
    fingerprint = first["certificate"]["sha256"]
    colons = ":".join(fingerprint[at : at + 2].upper() for at in range(0, 64, 2))
    assert fetch(profiles=["goroutine"], certificate_sha256=colons)["certificate"] == {"sha256": fingerprint, "verified": True}
    refused = fetch(profiles=["heap"], certificate_sha256="0" * 64)
    assert refused["failed"]
    assert fingerprint in refused["msg"]
    assert not (tmp_path / "heap").exists()


@pytest.mark.long
def test_a_certificate_that_the_ca_has_not_signed_is_rejected(fetch, own_cluster):
    result = fetch(serving_ca=str(own_cluster / "pki/ca.crt"))
    assert result["failed"]
    assert "could not be verified with serving_ca and serving_name" in result["msg"]


@pytest.mark.long
def test_anonymous_access_is_only_by_choice_and_ends_with_the_task(fetch):
    result = fetch(access="anonymous", profiles=["goroutine"])
    assert not result["failed"], result["msg"]
    assert any("everybody" in str(warning) for warning in result["warnings"])


@pytest.mark.parametrize(("port", "why"), [(1, "The connection to port 1 of the pod"), (2112, "The connection to port 2112 of the pod")])
@pytest.mark.long
def test_a_port_without_a_usable_listener_is_reported(fetch, port, why):
    result = fetch(port=port)
    assert result["failed"]
    assert why in result["msg"]


def test_a_missing_permission_is_named(fetch, kubectl, second):
    rules = [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
        {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["create", "delete"]},
    ]
    (pod,) = kubectl.list("pod", second, "app=second")
    with service_account(kubectl, second, *rules) as me:
        result = fetch(**me, pod={"namespace": second, "name": pod["metadata"]["name"]})
    assert result["failed"]
    assert "The ClusterRole osso-pprof-" in result["msg"]
    assert 'cannot create resource "clusterroles"' in result["msg"]
    assert "left over" not in result["msg"]


def test_a_signal_ends_the_module_and_leaves_no_permissions(kubectl, second, tmp_path):
    options = {"scheduler_name": second, "namespaces": [second], "dest": str(tmp_path), "profiles": ["cpu"], "seconds": 300}
    command = ["ansible", "localhost", f"--module-name=osso.scheduler.{MODULE}", f"--args={json.dumps(options)}"]
    ansible = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:

        def bound():
            """the right is there"""
            return len(granted(kubectl)) == 3

        eventually(bound)
        os.kill(descendants(ansible.pid, MODULE)[-1], signal.SIGTERM)
        output = ansible.communicate(timeout=120)[0]
    finally:
        ansible.kill()
    assert "The fetching of profiles was ended by SIGTERM." in output
    assert granted(kubectl) == set()


@pytest.mark.long
def test_a_scheduler_with_profiling_disabled_is_reported_with_the_remedy(kubectl, second, fetch):
    off = CONFIG.format(namespace=second) + "enableProfiling: false\n"
    kubectl.apply(config_map(second, off))
    kubectl("rollout", "restart", "deployment/second", f"--namespace={second}")
    kubectl("rollout", "status", "deployment/second", f"--namespace={second}", "--timeout=180s", timeout=200)

    def ended():
        """the pod of before is gone"""
        return len(kubectl.list("pod", second, "app=second")) == 1

    eventually(ended)
    result = fetch()
    assert result["failed"]
    assert "Set enableProfiling: true in its configuration" in result["msg"]
