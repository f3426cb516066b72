# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Manifests of static pods: what is read, edited and reverted. With real processes: tests/local/static_pod."""

from __future__ import annotations

import copy
import json

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import manifest as manifests
from support.static_pod import CONFIG, POD, TEXT

BEFORE = "osso.scheduler/flags-before"


def pod(*flags, args=None, annotations=None, **spec):
    made = copy.deepcopy(POD)
    container = made["spec"]["containers"][0]
    container["command"] = ["kube-scheduler", *flags]
    if args is not None:
        container["args"] = args
    if annotations is not None:
        made["metadata"]["annotations"] = annotations
    made["spec"].update(spec)
    return made


def read(made):
    return manifests.read(yaml.safe_dump(made), "/m.yaml")


@pytest.mark.parametrize(
    ("flags", "address"),
    [
        ([], ("127.0.0.1", 10259)),
        (["--bind-address="], ("127.0.0.1", 10259)),
        (["--bind-address=0.0.0.0"], ("127.0.0.1", 10259)),
        (["--bind-address=::", "--secure-port="], ("127.0.0.1", 10259)),
        (["--bind-address=::1", "--secure-port=1", "--secure-port=2"], ("::1", 2)),
    ],
)
def test_health_is_requested_on_this_host(flags, address):
    assert read(pod(*flags)).address == address


def test_a_manifest_names_its_present_and_former_configuration():
    noted = {BEFORE: json.dumps({"config": "/before.yaml", "v": "2"})}
    assert read(pod("--config=/now.yaml", annotations=noted)).configurations == {"/now.yaml", "/before.yaml"}
    assert read(pod("--config=/now.yaml", annotations={BEFORE: json.dumps({"config": None})})).configurations == {"/now.yaml"}
    assert read(pod()).configurations == set()


def test_command_and_arguments_are_one_command_line():
    one = read(pod("--v=2", args=["--v=3", "--leader-elect"]))
    assert one.argv == ["kube-scheduler", "--v=2", "--v=3", "--leader-elect"]
    assert (one.flag("v"), one.flag("leader-elect"), one.flag("leader")) == ("3", "", None)


def test_an_edit_of_the_manifest_can_be_reverted():
    edited = manifests.edited(read(pod("--v=2", "--profiling")), "/etc/s/c.yaml", {"v": "4", "profiling": "false", "new": "1"})
    expected = pod("--v=4", "--profiling=false", "--new=1", "--config=/etc/s/c.yaml")
    noted = {"config": None, "new": None, "profiling": "true", "v": "2"}
    expected["metadata"]["annotations"] = {BEFORE: json.dumps(noted)}
    spec = expected["spec"]
    spec["containers"][0]["volumeMounts"].append({"name": "osso-scheduler-config", "mountPath": "/etc/s", "readOnly": True})
    spec["volumes"].append({"name": "osso-scheduler-config", "hostPath": {"path": "/etc/s", "type": "Directory"}})
    assert (edited.pod, yaml.safe_load(edited.text)) == (expected, expected)
    reverted = manifests.edited(edited, None, {}).pod
    assert reverted == pod("--v=2", "--profiling=true")


def test_a_manifest_without_volumes_has_none_afterwards():
    bare = pod("--v=2", annotations={"kept": "yes"})
    del bare["spec"]["volumes"], bare["spec"]["containers"][0]["volumeMounts"]
    edited = manifests.edited(read(bare), "/etc/s/c.yaml", {})
    assert [one["name"] for one in edited.pod["spec"]["volumes"]] == ["osso-scheduler-config"]
    assert edited.pod["metadata"]["annotations"].keys() == {BEFORE, "kept"}
    assert manifests.edited(edited, None, {}).pod == bare


def test_another_configuration_replaces_the_first():
    first = manifests.edited(read(pod()), "/a/c.yaml", {})
    second = manifests.edited(first, "/b/c.yaml", {})
    volumes = [one["hostPath"]["path"] for one in second.pod["spec"]["volumes"]]
    assert volumes == ["/etc/kubernetes/scheduler.conf", "/b"]
    assert second.argv == ["kube-scheduler", "--config=/b/c.yaml"]
    assert json.loads(second.pod["metadata"]["annotations"][BEFORE]) == {"config": None}


def test_flags_are_changed_in_a_container_with_only_arguments():
    made = pod(args=["--v=2"])
    del made["spec"]["containers"][0]["command"]
    container = manifests.edited(read(made), None, {"v": "4", "x": "y"}).pod["spec"]["containers"][0]
    assert (container["args"], "command" in container) == (["--v=4", "--x=y"], False)
    del made["spec"]["containers"][0]["args"]
    container = manifests.edited(read(made), None, {"x": "y"}).pod["spec"]["containers"][0]
    assert (container["command"], "args" in container) == (["--x=y"], False)


NOTED = (
    "manifest: the annotation osso.scheduler/flags-before in /m.yaml is not what was written there: set the flags by hand, and delete it."
)
OTHER = "manifest: /m.yaml holds no Pod with a container kube-scheduler: give the manifest of the default scheduler."


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (["a"], OTHER),
        ({**POD, "kind": "Deployment"}, OTHER),
        ({**POD, "metadata": None}, OTHER),
        ({**POD, "spec": ["a"]}, OTHER),
        ({**POD, "spec": {"containers": {"name": "kube-scheduler"}}}, OTHER),
        ({**POD, "spec": {"containers": ["kube-scheduler", {"name": "x"}]}}, OTHER),
        (pod(annotations={BEFORE: "{"}), NOTED),
        (pod(annotations={BEFORE: "[]"}), NOTED),
        (pod(annotations={BEFORE: '{"v": 2}'}), NOTED),
        (pod(annotations={BEFORE: '{"a": null, "v": [null]}'}), NOTED),
    ],
)
def test_a_malformed_manifest_is_rejected(made, message):
    with pytest.raises(InputError) as error:
        read(made)
    assert error.value.message == message


def test_a_manifest_that_is_no_yaml_is_an_error():
    with pytest.raises(InputError, match=r"^manifest: /m\.yaml is no YAML: .*\. Repair it first\.$"):
        manifests.read("a: [", "/m.yaml")
    assert manifests.read(TEXT, "/m.yaml") == (TEXT, POD)


def test_the_kubeconfig_of_the_flag_is_added_to_the_configuration():
    more = CONFIG + "clientConnection: {qps: 5}\n"
    assert yaml.safe_load(manifests.with_kubeconfig(more, "/k")) == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"qps": 5, "kubeconfig": "/k"},
    }
    own = CONFIG + "clientConnection: {kubeconfig: /mine}\n"
    assert manifests.with_kubeconfig(own, None) == own


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: [", "content is no YAML, see line 3: correct it."),
        ("[a]", "content is no KubeSchedulerConfiguration: give a YAML mapping."),
        ("clientConnection: [a]", "content: clientConnection is no mapping: correct it."),
        (
            "clientConnection: {kubeconfig: ''}",
            "content: clientConnection.kubeconfig is missing, and the manifest has no --kubeconfig: set it.",
        ),
    ],
)
def test_a_configuration_without_a_kubeconfig_or_structure_is_rejected(text, message):
    with pytest.raises(InputError) as error:
        manifests.with_kubeconfig(text, None if "''" in text else "/k")
    assert error.value.message == message
