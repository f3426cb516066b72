# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a pod template says about the kube-scheduler in it."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.workload import (
    ConfigMapKey,
    Election,
    election,
    find_command,
    trouble,
    watched_namespaces,
)


def pod_spec(command=None, args=None, image="example.org/any:1", mount=None, volume=None) -> dict:
    container = {
        "name": "c",
        "image": image,
        "command": command,
        "args": args,
        "volumeMounts": [mount] if mount else [],
    }
    return {"containers": [{"name": "sidecar", "image": "x"}, container], "volumes": [volume] if volume else []}


@pytest.mark.parametrize(
    ("command", "args", "image"),
    [
        (["/bin/kube-scheduler", "--config=/etc/k/c.yaml"], ["-v=2"], "example.org/any:1"),
        (["kube-scheduler"], ["--config", "/etc/k/c.yaml", "-v", "2"], "example.org/any:1"),
        (["sh", "-c", "exec kube-scheduler --config=/etc/k/c.yaml -v=2  # why"], None, "example.org/any:1"),
        (None, ["--config=/etc/k/c.yaml", "-v=2"], "registry:5000/scheduler-plugins/kube-scheduler:v1@sha256:0"),
    ],
)
def test_finds_the_scheduler_and_its_flags(command, args, image):
    found = find_command(pod_spec(command, args, image))
    assert (found.image, found.config_path, found.flags["v"]) == (image, "/etc/k/c.yaml", "2")


@pytest.mark.parametrize(
    ("command", "args", "image"),
    [
        (None, None, "nginx"),
        (["nginx"], ["--config=/etc/k/c.yaml"], "example.org/kube-scheduler:1"),
        (["/bin/kube-scheduler-simulator"], None, "example.org/any:1"),
    ],
)
def test_other_programs_are_no_schedulers(command, args, image):
    assert find_command(pod_spec(command, args, image)) is None


@pytest.mark.parametrize(
    ("mount", "volume", "expected"),
    [
        ({"mountPath": "/etc/k"}, {"configMap": {"name": "m"}}, ConfigMapKey("m", "c.yaml")),
        ({"mountPath": "/etc/k/"}, {"configMap": {"name": "m"}}, ConfigMapKey("m", "c.yaml")),
        (
            {"mountPath": "/etc/k/c.yaml", "subPath": "real.yaml"},
            {"configMap": {"name": "m"}},
            ConfigMapKey("m", "real.yaml"),
        ),
        (
            {"mountPath": "/etc/k"},
            {"configMap": {"name": "m", "items": [{"key": "x", "path": "c.yaml"}]}},
            ConfigMapKey("m", "x"),
        ),
        ({"mountPath": "/etc/k"}, {"configMap": {"name": "m", "items": [{"key": "x", "path": "d.yaml"}]}}, None),
        (
            {"mountPath": "/etc"},
            {"configMap": {"name": "m", "items": [{"key": "x", "path": "k/c.yaml"}]}},
            ConfigMapKey("m", "x"),
        ),
        (
            {"mountPath": "/etc/k"},
            {"projected": {"sources": [{"secret": {}}, {"configMap": {"name": "m"}}]}},
            ConfigMapKey("m", "c.yaml"),
        ),
        ({"mountPath": "/etc/k"}, {"secret": {"secretName": "m"}}, None),
        ({"mountPath": "/etc/k/c"}, {"configMap": {"name": "m"}}, None),
    ],
)
def test_the_config_map_of_the_configuration_is_found_by_its_mount(mount, volume, expected):
    spec = pod_spec(["kube-scheduler", "--config=/etc/k/c.yaml"], mount={"name": "v", **mount}, volume={"name": "v", **volume})
    assert find_command(spec).config_map == expected


def test_the_innermost_mount_counts():
    spec = pod_spec(["kube-scheduler", "--config=/etc/k/c.yaml"], mount={"name": "outer", "mountPath": "/etc"})
    spec["containers"][1]["volumeMounts"].append({"name": "inner", "mountPath": "/etc/k"})
    spec["volumes"] = [{"name": name, "configMap": {"name": name}} for name in ("outer", "inner")]
    assert find_command(spec).config_map == ConfigMapKey("inner", "c.yaml")


@pytest.mark.parametrize(
    ("config", "flags", "expected"),
    [
        (None, {}, Election(True, "kube-system", "kube-scheduler")),
        ({"leaderElection": {"leaderElect": False}}, {}, Election(False, "kube-system", "kube-scheduler")),
        (
            {"leaderElection": {"leaderElect": False}},
            {"leader-elect": "true"},
            Election(True, "kube-system", "kube-scheduler"),
        ),
        (
            {"leaderElection": {"leaderElect": True}},
            {"leader-elect": "false"},
            Election(False, "kube-system", "kube-scheduler"),
        ),
        ({"leaderElection": {"resourceNamespace": "n", "resourceName": "r"}}, {}, Election(True, "n", "r")),
        (
            {"leaderElection": {"resourceNamespace": "n", "resourceName": "r"}},
            {"leader-elect-resource-name": "f"},
            Election(True, "n", "f"),
        ),
        ({"leaderElection": "nonsense"}, {}, Election(True, "kube-system", "kube-scheduler")),
        ({"leaderElection": {"resourceNamespace": 5, "resourceName": ["r"]}}, {}, Election(True, "kube-system", "kube-scheduler")),
        ({"leaderElection": {"resourceNamespace": {}, "resourceName": "r"}}, {}, Election(True, "kube-system", "r")),
    ],
)
def test_flags_override_the_leader_election_of_the_file(config, flags, expected):
    assert election(config, flags) == expected


@pytest.mark.parametrize("words", [["--leader-elect", "--v=2"], ["--leader-elect", "x"], ["--leader-elect"]])
def test_a_boolean_flag_does_not_take_the_next_argument(words):
    flags = find_command(pod_spec(["kube-scheduler"], words)).flags
    assert flags["leader-elect"] == "true"


@pytest.mark.parametrize(
    ("variable", "annotations", "expected"),
    [
        (None, {}, ["*"]),
        ({"value": ""}, {}, ["*"]),
        ({"value": "a, b"}, {}, ["a", "b"]),
        ({}, {}, ["*"]),
        ({"valueFrom": {"fieldRef": {}}}, {"olm.targetNamespaces": "a"}, ["a"]),
        ({"valueFrom": {"fieldRef": {}}}, {"olm.targetNamespaces": ""}, ["*"]),
    ],
)
def test_watched_namespaces_are_read_from_variable_or_annotation(variable, annotations, expected):
    env = [{"name": "WATCH_NAMESPACE", **variable}] if variable is not None else []
    template = {"metadata": {"annotations": annotations}, "spec": {"containers": [{"name": "c", "env": env}]}}
    assert watched_namespaces(template) == expected


def waiting(reason, message="", said="") -> dict:
    last = {"terminated": {"message": said}} if said else {}
    return {
        "containerStatuses": [{"state": {"running": {}}}, {"state": {"waiting": {"reason": reason, "message": message}}, "lastState": last}]
    }


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, ""),
        ({"containerStatuses": [{"state": {"running": {}}}]}, ""),
        (waiting("ContainerCreating"), ""),
        (waiting("ErrImagePull", "no such image"), "ErrImagePull: no such image"),
        (waiting("CrashLoopBackOff", "back-off 10s", "unknown field\n"), "CrashLoopBackOff: unknown field"),
        # The end of its log, in which is its configuration
        (
            waiting("CrashLoopBackOff", "", "I1122 fine\ncannot use token: pl4nted\n"),
            "CrashLoopBackOff: I1122 fine cannot use token: ********",
        ),
        (waiting("CrashLoopBackOff", "", "  keyData: pl4nted\npanic: no leader\n\ngoroutine 1\n"), "CrashLoopBackOff: panic: no leader"),
        (
            {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no node"}]},
            "Unschedulable: no node",
        ),
        ({"conditions": [{"type": "PodScheduled", "status": "True"}]}, ""),
    ],
)
def test_the_trouble_of_a_pod_is_the_reason_why_its_container_waits(status, expected):
    assert trouble({"status": status}) == expected
