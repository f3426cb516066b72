# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Messages about the program of a preview. With real kube-schedulers: tests/api/test_preview.py."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import from_structure
from ansible_collections.osso.scheduler.plugins.module_utils._preview import scheduler_process
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import Options, prepared, preview
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import parse
from support.preview import CONFIG, listed, node, pod

VERSION = '[ "$1" = --version ] && echo Kubernetes v1.34.1 && exit; '
UNREADABLE = 'E1125 10:00:00.000000 1 a.go:1] "failed to list" err="json: cannot unmarshal"'
IMAGE = "registry.example.com/kube-scheduler:latest"


@pytest.fixture
def program(tmp_path):
    def written(script):
        path = tmp_path / "kube-scheduler"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)

    return written


@pytest.mark.parametrize(
    ("side", "option"),
    [
        ({}, "candidate.binary: {path}"),
        ({"image": IMAGE}, "candidate.binary: {path}"),
        ({"image": IMAGE, "extracted": True}, f"candidate.image: {IMAGE}"),
        ({"program": "candidate.image: other"}, "candidate.image: other"),
    ],
    ids=["file", "file, and image for its release", "image", "program of the other side"],
)
def test_messages_name_the_option_with_the_program(program, side, option):
    path = program("echo hello")
    with pytest.raises(InputError) as caught, prepared("candidate", {"binary": path, "config": CONFIG, **side}, None):
        pass
    assert caught.value.message.startswith(f"{option.format(path=path)} --version does not print the release of a kube-scheduler: set ")


def test_a_program_that_writes_without_end_is_rejected(program):
    path = program("exec yes Kubernetes")
    with pytest.raises(InputError, match="does not print the release"):
        scheduler_process.version_of(path, "candidate", "candidate.binary: x")


def test_a_program_that_leaves_a_child_process_is_rejected(program, monkeypatch):
    """It holds the output open."""
    monkeypatch.setattr(scheduler_process, "START_SECONDS", 1)
    with pytest.raises(InputError, match="did not end within 1 s"):
        scheduler_process.version_of(program("sleep 300 & echo Kubernetes"), "candidate", "candidate.binary: x")


def test_the_release_of_a_program_is_read_from_its_version(program):
    assert scheduler_process.version_of(program("echo Kubernetes v1.34.1; echo more >&2"), "candidate", "") == ("1.34", None)


def made(**given):
    usual = {"release": "1.34", "plugins": "in-tree", "text": from_structure(CONFIG)}
    return scheduler_process.candidate("baseline", "/bin/kube-scheduler", **{**usual, **given})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"release": "1.x"}, r"^baseline\.release: "),
        ({"plugins": "mine"}, r"^baseline\.plugins: "),
        ({"text": "kind: ["}, r"^baseline: this is no usable KubeSchedulerConfiguration for .*:\n"),
        ({"text": "kind: [", "source": "the file"}, "^the file: this is no usable KubeSchedulerConfiguration for "),
        ({"as_scheduler": "third"}, r"^baseline\.as_scheduler: no profile is named third: set one of second\.$"),
        (
            {"text": from_structure({**CONFIG, "extenders": [{"urlPrefix": "https://x", "filterVerb": "f"}]})},
            r"^baseline: extenders\[0\]: a preview does not call extenders.*set baseline\.allow_extenders if",
        ),
    ],
)
def test_a_side_that_cannot_be_run_is_rejected(given, message):
    with pytest.raises(InputError, match=message):
        made(**given)


def test_flags_that_change_where_pods_are_placed_are_kept():
    found = made(given_flags=["--v=2", "--feature-gates=InPlacePodVerticalScaling=false"], as_scheduler="second")
    assert found.flags == ("--feature-gates=InPlacePodVerticalScaling=false",)
    assert (found.scheduler_names, found.as_scheduler, found.kubernetes) == (("second",), "second", "1.34")
    assert found.program == "baseline.binary: /bin/kube-scheduler"
    gates = made(release="1.35", feature_gates={"InPlacePodVerticalScaling": True}, program="candidate.image: x")
    assert (gates.flags, gates.program) == (
        ("--feature-gates=InPlacePodVerticalScaling=true", "--feature-gates=OpportunisticBatching=false"),
        "candidate.image: x",
    )
    extenders = {**CONFIG, "extenders": [{"urlPrefix": "https://x", "filterVerb": "f"}]}
    assert made(text=from_structure(extenders), allow_extenders=True).config["extenders"][0]["urlPrefix"] == "https://x"


def test_the_configuration_of_the_sandbox_has_all_its_fields():
    args = {"metricProvider": {"type": "Prometheus"}, "watcherAddress": "http://x", "a": 1}
    plugins = [{"name": "TargetLoadPacking", "args": args}, {"name": "Peaks", "args": {"a": 1}}, {"name": "Other", "args": {"a": 1}}]
    config = {"parallelism": 3, "profiles": [{"schedulerName": "x", "pluginConfig": plugins}, {"schedulerName": "y"}]}
    made = scheduler_process.sandbox_config(config, "/k", "http://load", ["y"])
    assert made == {
        "parallelism": 3,
        "leaderElection": {"leaderElect": False},
        "clientConnection": {
            "kubeconfig": "/k",
            "contentType": "application/json",
            "acceptContentTypes": "application/json",
            "qps": 5000,
            "burst": 10000,
        },
        "percentageOfNodesToScore": 100,
        "podInitialBackoffSeconds": 1,
        "podMaxBackoffSeconds": 1,
        "profiles": [
            {
                "schedulerName": "x",
                "pluginConfig": [
                    {"name": "TargetLoadPacking", "args": {"a": 1, "watcherAddress": "http://load"}},
                    {"name": "Peaks", "args": {"a": 1, "WatcherAddress": "http://load"}},
                    {"name": "Other", "args": {"a": 1}},
                ],
            },
            {"schedulerName": "y", "pluginConfig": [], "plugins": {"score": {"enabled": [{"name": "VolumeBinding", "weight": 1}]}}},
        ],
    }


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (
            VERSION + 'echo one; echo "the last" >&2; exit 3',
            "ended with status 3. Its last error: the last$",
        ),
        (VERSION + "kill -9 $$", "was ended by signal 9. Its last error: none$"),
        (
            VERSION + "echo '" + UNREADABLE + "' >&2; exec sleep 60",
            "cannot decode an object that it was given. Its last error: E1125 10:00:00.000000 1 a.go:1",
        ),
    ],
)
def test_a_scheduler_that_ends_or_cannot_read_the_cluster_is_an_error(program, script, why):
    path = program(script)
    snapshot = parse(listed(node("a"), pod("p", on="a")), "list")
    options = Options({"binary": path, "config": CONFIG}, "replace")
    with pytest.raises(ClusterError, match=rf"^candidate: the kube-scheduler \(candidate\.binary: {path}\) {why}"):
        preview(options, snapshot, None, lambda text: None)


def test_scheduler_plugins_are_recognised_by_their_version(program):
    found = scheduler_process.version_of(program("echo Kubernetes v0.34.7"), "candidate", "")
    assert found == ("1.34", "scheduler-plugins")
    with pytest.raises(
        InputError, match=r"^x could not be started: No such file or directory\. It must be a kube-scheduler for this host\.$"
    ):
        scheduler_process.version_of("/nowhere", "candidate", "x")
