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
from support.static_pod import CONFIG, POD, TEXT, with_kubeconfig

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
    noted = {"config": [None, "/etc/s/c.yaml"], "new": [None, "1"], "profiling": ["true", "false"], "v": ["2", "4"]}
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
    assert json.loads(second.pod["metadata"]["annotations"][BEFORE]) == {"config": [None, "/b/c.yaml"]}


def test_a_flag_that_others_have_changed_since_stays():
    edited = manifests.edited(read(pod("--v=2", "--x=1")), "/a/c.yaml", {"v": "4", "x": "2"}).pod
    command = edited["spec"]["containers"][0]["command"]
    command[1] = "--v=6"
    command[-1] = "--config=/own.yaml"
    assert manifests.edited(read(edited), None, {}).argv == ["kube-scheduler", "--v=6", "--x=1", "--config=/own.yaml"]
    # What a former version noted has no value to compare.
    edited["metadata"]["annotations"][BEFORE] = json.dumps({"v": "2"})
    assert manifests.edited(read(edited), None, {}).flag("v") == "2"


def test_the_value_of_a_flag_may_be_the_next_argument():
    made = read(pod("--v", "2", "--leader-elect", "--x=1", args=["--y", "3"]))
    assert (made.flag("v"), made.flag("leader-elect"), made.flag("y")) == ("2", "", "3")
    edited = manifests.edited(made, None, {"v": "4", "leader-elect": "false", "y": "5"})
    assert edited.argv == ["kube-scheduler", "--v=4", "--leader-elect=false", "--x=1", "--y=5"]
    assert manifests.edited(edited, None, {}).argv == ["kube-scheduler", "--v=2", "--leader-elect=true", "--x=1", "--y=3"]


@pytest.mark.parametrize("path", ["/etc/s", "/etc/s/"])
def test_a_folder_that_is_mounted_already_is_used(path):
    own = {"volumes": [{"name": "own", "hostPath": {"path": path}}]}
    made = pod("--v=2", **own)
    made["spec"]["containers"][0]["volumeMounts"] = [{"name": "own", "mountPath": path}]
    edited = manifests.edited(read(made), "/etc/s/c.yaml", {})
    assert (edited.pod["spec"]["volumes"], len(edited.pod["spec"]["containers"][0]["volumeMounts"])) == (own["volumes"], 1)
    assert manifests.edited(edited, None, {}).pod == made
    for volume, more in (({"hostPath": {"path": "/other"}}, {}), ({"emptyDir": {}}, {}), ({"hostPath": {"path": path}}, {"subPath": "a"})):
        made["spec"]["volumes"] = [{"name": "own", **volume}]
        made["spec"]["containers"][0]["volumeMounts"] = [{"name": "own", "mountPath": path, **more}]
        with pytest.raises(InputError, match=r"^config_folder is /etc/s, where the manifest mounts the volume own: use another folder\.$"):
            manifests.edited(read(made), "/etc/s/c.yaml", {})


def test_files_belong_to_the_user_of_the_container():
    made = pod(securityContext={"runAsUser": 7, "runAsGroup": 8})
    assert (read(pod()).owner, read(made).owner, read(pod(securityContext={"runAsUser": 7})).owner) == (None, (7, 8), (7, -1))
    made["spec"]["containers"][0]["securityContext"] = {"runAsUser": 0}
    assert read(made).owner is None


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
        (pod(annotations={BEFORE: '{"v": [null, 4]}'}), NOTED),
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
    assert yaml.safe_load(with_kubeconfig(more, "/k")) == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"qps": 5, "kubeconfig": "/k"},
    }
    own = CONFIG + "clientConnection: {kubeconfig: /mine}\n"
    assert with_kubeconfig(own, None) == own


def test_flags_that_a_configuration_makes_useless_are_added_to_it():
    flags = [
        "--kubeconfig=/k",
        "--profiling=false",
        "--contention-profiling",
        "--kube-api-qps=500",
        "--kube-api-burst=9",
        "--kube-api-content-type=x",
    ]
    made = read(pod(*flags))
    added = yaml.safe_load(manifests.with_ignored_flags(CONFIG, made))
    connection = {"kubeconfig": "/k", "qps": 500, "burst": 9, "contentType": "x"}
    assert added == {**yaml.safe_load(CONFIG), "enableProfiling": False, "enableContentionProfiling": True, "clientConnection": connection}
    own = (
        CONFIG
        + "enableProfiling: true\nenableContentionProfiling: false\nclientConnection: {kubeconfig: /m, qps: 1, burst: 1, contentType: y}\n"
    )
    assert manifests.with_ignored_flags(own, made) == own
    # They stay in the manifest, so a second run adds the same.
    edited = manifests.edited(made, "/etc/s/c.yaml", {})
    assert yaml.safe_load(manifests.with_ignored_flags(CONFIG, edited)) == added
    # Flags that were set here do not count: this run withdraws them.
    former = manifests.edited(read(pod("--kubeconfig=/k", "--profiling")), None, {"profiling": "false", "kube-api-qps": "5"})
    given = yaml.safe_load(manifests.with_ignored_flags(CONFIG, former))
    assert (given["enableProfiling"], given["clientConnection"]) == (True, {"kubeconfig": "/k"})
    # They had no effect with a configuration of the manifest's own.
    before = read(pod(*flags, "--config=/own.yaml"))
    assert yaml.safe_load(manifests.with_ignored_flags(CONFIG, before))["clientConnection"] == {"kubeconfig": "/k"}
    # kube-scheduler ends with such a flag.
    assert "qps" not in manifests.with_ignored_flags(CONFIG, read(pod("--kubeconfig=/k", "--kube-api-qps=many")))


@pytest.mark.parametrize(("flag", "field"), [("profiling", "enableProfiling"), ("kube-api-qps", "clientConnection.qps")])
def test_a_flag_without_effect_is_rejected(flag, field):
    with pytest.raises(
        InputError, match=rf"^flags: kube-scheduler ignores {flag} beside a configuration: set {field} in the configuration\.$"
    ):
        manifests.check_flags({"v": "4", flag.replace("-", "_"): "1"})
    manifests.check_flags({"v": "4"})


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
        with_kubeconfig(text, None if "''" in text else "/k")
    assert error.value.message == message
