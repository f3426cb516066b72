# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Custom schedulers: the objects of OpenShift's documentation, what can be said otherwise, and what is refused (F110 to F118)."""

from __future__ import annotations

import json
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml
from ansible_collections.osso.scheduler.plugins.module_utils._variables.custom_scheduler import DEFAULTS, complete, operand
from support.ansible_runs import play

ROOT = Path(__file__).resolve().parents[2]
IMAGE = "registry.k8s.io/kube-scheduler:v1.34.7"
SPEC = yaml.safe_load((ROOT / "roles/custom_scheduler/meta/argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
OLD = {
    "apiVersion": "kubescheduler.config.k8s.io/v1beta2",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"schedulerName": "custom-scheduler"}],
    "leaderElection": {"leaderElect": False},
}


def rendered(*schedulers, succeed=True):
    """The objects of the first of these schedulers, and the run: the role's check, then the templates that it names."""
    paths = [f"roles/operand/templates/{name}.yaml.j2" for name in ("scheduler", "permissions")]
    paths += [f"roles/custom_scheduler/templates/{name}.yaml.j2" for name in ("configuration", "plugins")]
    role = {"name": "osso.scheduler.custom_scheduler", "tasks_from": "check", "public": True}
    tasks = [
        {"name": "Check", "ansible.builtin.include_role": role},
        {
            "name": "Render",
            "ansible.builtin.debug": {"msg": "{{ lookup('ansible.builtin.template', item) | from_yaml_all | select | list }}"},
            "loop": [str(ROOT / path) for path in paths],
            "vars": {
                "custom_scheduler_item": "{{ custom_scheduler_present[0] }}",
                "custom_scheduler_result": "{{ custom_scheduler_checked.results[0] }}",
                "operand": "{{ custom_scheduler_item | osso.scheduler.custom_operand(custom_scheduler_result) }}",
            },
        },
    ]
    # No cluster is asked: the image says what reads the configuration.
    variables = {"custom_schedulers": list(schedulers), "custom_scheduler_compare_cluster": False}
    run = play(tasks, variables=variables, succeed=succeed, env={"KUBECONFIG": "/dev/null"})
    documents = [document for task in run.tasks if task.task == "Render" for result in task.result["results"] for document in result["msg"]]
    return {(document["kind"], document["metadata"]["name"]): document for document in documents}, run


@pytest.fixture(scope="module")
def documented():
    return rendered({"image": IMAGE})[0]


def test_the_role_renders_the_objects_and_names_of_the_documentation(documented):
    """F110, F111, F113, F118"""
    assert set(documented) == {
        ("ConfigMap", "scheduler-config"),
        ("ServiceAccount", "custom-scheduler"),
        ("ClusterRoleBinding", "custom-scheduler-as-kube-scheduler"),
        ("ClusterRoleBinding", "custom-scheduler-as-volume-scheduler"),
        ("RoleBinding", "custom-scheduler-extension-apiserver-authentication-reader"),
        ("Deployment", "custom-scheduler"),
    }
    namespaces = {document["metadata"].get("namespace") for document in documented.values()}
    assert namespaces == {"kube-system", None}
    (text,) = documented["ConfigMap", "scheduler-config"]["data"].items()
    assert text[0] == "scheduler-config.yaml"
    assert yaml.safe_load(text[1]) == {**OLD, "apiVersion": "kubescheduler.config.k8s.io/v1"}
    for role in ("kube-scheduler", "volume-scheduler"):
        binding = documented["ClusterRoleBinding", f"custom-scheduler-as-{role}"]
        assert binding["roleRef"]["name"] == f"system:{role}"
        assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "custom-scheduler", "namespace": "kube-system"}]
        assert "annotations" not in binding["metadata"], "what the operator watches by"


def test_the_role_renders_the_deployment_of_the_documentation(documented):
    """F112"""
    deployment = documented["Deployment", "custom-scheduler"]
    labels = {"component": "scheduler", "tier": "control-plane"}
    assert deployment["metadata"]["labels"] == labels
    assert deployment["spec"]["selector"]["matchLabels"] == labels
    template = deployment["spec"]["template"]
    assert template["metadata"]["labels"] == {**labels, "version": "second"}
    pod = template["spec"]
    assert pod["serviceAccountName"] == "custom-scheduler"
    assert not pod.get("hostNetwork")
    assert not pod.get("hostPID")
    (container,) = pod["containers"]
    assert container["name"] == "kube-second-scheduler"
    assert container["command"] + container["args"] == [
        "/usr/local/bin/kube-scheduler",
        "--config=/etc/config/scheduler-config.yaml",
        "--leader-elect=false",
    ]
    assert container["resources"] == {"requests": {"cpu": "100m"}}
    # The documentation's /healthz is deprecated since 1.31, and ready before the caches are.
    live, ready = ({"path": path, "port": 10259, "scheme": "HTTPS"} for path in ("/livez", "/readyz"))
    assert (container["livenessProbe"]["httpGet"], container["livenessProbe"]["initialDelaySeconds"]) == (live, 15)
    assert container["readinessProbe"]["httpGet"] == ready
    assert container["securityContext"]["privileged"] is False
    assert {"name": "config-volume", "mountPath": "/etc/config", "readOnly": True} in container["volumeMounts"]
    assert {"name": "config-volume", "configMap": {"name": "scheduler-config"}} in pod["volumes"]


def test_old_api_version_of_the_documentation_is_converted_with_a_warning():
    """F075: an image that reads no v1beta2 gets v1; one that does keeps it"""
    objects, run = rendered({"image": IMAGE, "config": OLD})
    text = yaml.safe_load(objects["ConfigMap", "scheduler-config"]["data"]["scheduler-config.yaml"])
    assert (text["apiVersion"], text["profiles"][0]["schedulerName"]) == ("kubescheduler.config.k8s.io/v1", "custom-scheduler")
    assert "does not read kubescheduler.config.k8s.io/v1beta2 any more" in run.stdout
    objects, run = rendered({"image": "registry.k8s.io/kube-scheduler:v1.26.1", "config": OLD})
    text = yaml.safe_load(objects["ConfigMap", "scheduler-config"]["data"]["scheduler-config.yaml"])
    assert text["apiVersion"] == OLD["apiVersion"]
    assert "any more" not in run.stdout


def test_an_invalid_configuration_is_rejected():
    """F073"""
    wrong = {**OLD, "apiVersion": "kubescheduler.config.k8s.io/v1", "profiels": []}
    _objects, run = rendered({"image": IMAGE, "config": wrong}, succeed=False)
    (failure,) = run.failures
    assert "profiels: unknown field profiels (did you mean profiles?)" in failure.result["results"][0]["msg"]


def test_all_options_of_a_custom_scheduler_are_rendered():
    """F050, F114, F115: any image, leader election, another name in another namespace"""
    objects, _run = rendered(
        {
            "name": "batch",
            "namespace": "jobs",
            "create_namespace": True,
            "image": "registry.example.com/batch:1",
            "kubernetes_version": "1.31",
            "plugins": "scheduler-plugins",
            "replicas": 2,
            "pull_secrets": ["registry"],
            "flags": ["-v=4"],
            "env": [{"name": "A", "value": "b"}],
            "authentication_reader": False,
            "pod_security_context": {"runAsNonRoot": True},
            "node_selector": {"pool": "batch"},
            "priority_class": "system-cluster-critical",
        }
    )
    assert set(objects) == {
        ("Namespace", "jobs"),
        ("ConfigMap", "batch-config"),
        ("Lease", "batch"),
        ("ServiceAccount", "batch"),
        ("ClusterRoleBinding", "jobs:batch-as-kube-scheduler"),
        ("ClusterRoleBinding", "jobs:batch-as-volume-scheduler"),
        ("Role", "batch"),
        ("RoleBinding", "batch"),
        ("Deployment", "batch"),
    }
    assert objects["Role", "batch"]["rules"][0]["resourceNames"] == ["batch"]
    deployment = objects["Deployment", "batch"]["spec"]
    assert deployment["replicas"] == 2
    assert deployment["selector"]["matchLabels"] == {"component": "batch", "tier": "control-plane"}
    pod = deployment["template"]["spec"]
    assert pod["imagePullSecrets"] == [{"name": "registry"}]
    assert (pod["nodeSelector"], pod["priorityClassName"], pod["securityContext"]) == (
        {"pool": "batch"},
        "system-cluster-critical",
        {"runAsNonRoot": True},
    )
    (container,) = pod["containers"]
    assert container["command"] == ["/bin/kube-scheduler"]
    assert container["env"] == [{"name": "A", "value": "b"}]
    assert container["args"] == [
        "--config=/etc/config/scheduler-config.yaml",
        "--leader-elect=true",
        "--leader-elect-resource-name=batch",
        "--leader-elect-resource-namespace=jobs",
        "-v=4",
    ]


def test_the_image_check_uses_the_command_and_pull_secrets_of_the_pods():
    _objects, run = rendered(
        {"image": "registry.example.com/team/scheduler:7", "kubernetes_version": "1.31", "plugins": "in-tree", "pull_secrets": ["registry"]}
    )
    (checked,) = run.task("Validate the configurations").result["results"]
    given = checked["invocation"]["module_args"]
    assert (given["ask_command"], given["ask_pull_secrets"]) == (["/usr/local/bin/kube-scheduler"], ["registry"])


def test_the_permissions_of_plugins_are_rendered():
    image = "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7"
    objects, _run = rendered({"name": "batch", "namespace": "jobs", "image": image, "preset": "coscheduling"})
    name = "jobs:batch-plugins"
    assert objects["ClusterRole", name]["rules"] == [
        {"apiGroups": ["scheduling.x-k8s.io"], "resources": ["podgroups"], "verbs": ["get", "list", "watch"]}
    ]
    binding = objects["ClusterRoleBinding", name]
    assert (binding["roleRef"]["kind"], binding["roleRef"]["name"]) == ("ClusterRole", name)
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "batch", "namespace": "jobs"}]


@pytest.mark.parametrize(("host_network", "expected"), [(False, (0, 1)), (True, (1, 0))])
def test_a_pod_that_has_the_port_of_its_node_is_deleted_first(host_network, expected):
    objects, _run = rendered({"image": IMAGE, "host_network": host_network})
    update = objects["Deployment", "custom-scheduler"]["spec"]["strategy"]["rollingUpdate"]
    assert (update["maxUnavailable"], update["maxSurge"]) == expected


@pytest.mark.parametrize(
    ("options", "verified"),
    [
        ({}, ["running"]),
        ({"custom_scheduler_wait": "false"}, []),
        ({"custom_scheduler_wait": "false", "custom_scheduler_probe": "always"}, ["running"]),
    ],
)
def test_only_schedulers_that_can_run_by_now_are_verified(options, verified):
    schedulers = [{"name": "paused", "image": IMAGE, "replicas": 0}, {"name": "running", "image": IMAGE}]
    checked = {"results": [{"scheduler_names": [one["name"]]} for one in schedulers]}
    variables = {"custom_scheduler_checked": checked, "custom_scheduler_applied": {"changed": True}, **options}
    role = {"name": "osso.scheduler.custom_scheduler", "tasks_from": "probe"}
    run = play(
        [{"name": "Probe", "ansible.builtin.include_role": role}],
        variables={"custom_schedulers": schedulers, **variables},
        succeed=not verified,
        env={"KUBECONFIG": "/dev/null"},
    )
    tried = [one for task in run.tasks if "Verify each" in task.task for one in task.result.get("results", ())]
    assert [one["item"] for one in tried if not one.get("skipped")] == verified


def test_a_load_aware_preset_without_an_address_is_rejected():
    load_aware = {"image": "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7", "preset": "trimaran_target_load_packing"}
    _objects, run = rendered(load_aware, succeed=False)
    (failure,) = run.failures
    assert "the configuration holds ${PROM_URL}, which only the operator fills: set preset_parameters.address." in failure.result["msg"]
    rendered({**load_aware, "preset_parameters": {"address": "https://prometheus.example.com", "token": ""}})


def test_only_new_content_changes_the_pod_template():
    (item,) = complete([{"image": IMAGE}])["items"]
    checked = {"target": {"kubernetes_version": "1.34"}, "completed": {}, "effective": {}}
    pods = [json.dumps(operand(item, {**checked, "hash": text}), sort_keys=True) for text in ("a", "a", "b")]
    assert pods[0] == pods[1] != pods[2]


def test_own_arguments_replace_all_arguments():
    (item,) = complete([{"image": "example.com/other:1", "command": ["/other"], "args": ["serve"]}])["items"]
    made = operand(item, {"hash": "a", "target": {"kubernetes_version": None}, "completed": None, "effective": {}})
    assert (made["rollout"]["overrides"]["command"], made["shape"]["args"]) == (["/other"], ["serve"])


@pytest.mark.parametrize(
    ("schedulers", "says"),
    [
        ([{}], "kube-system/custom-scheduler has no image"),
        ([{"image": IMAGE, "config": OLD, "preset": "no_scoring"}], "has config and preset"),
        ([{"image": IMAGE, "name": "Batch"}], "name is Batch"),
        ([{"image": IMAGE, "name": "kube-scheduler"}], "name is kube-scheduler"),
        ([{"image": IMAGE, "replicas": 2, "leader_elect": False}], "replicas is 2 and leader_elect false"),
        ([{"image": IMAGE, "selector": {}}], "give at least one label"),
        ([{"image": IMAGE, "replicas": -1}], "custom_schedulers[0]: kube-system/custom-scheduler: replicas is -1: set 0 or more."),
        ([{"image": IMAGE, "port": "70000"}], "port is 70000: set a number from 1 to 65535."),
        ([{"image": IMAGE, "port": 0}], "port is 0: set a number from 1 to 65535."),
        ([{"image": IMAGE, "namespace": "Batch_1"}], "namespace is Batch_1: use up to 63 lower-case letters"),
        ([{"image": IMAGE}, {"image": IMAGE}], "kube-system/custom-scheduler is listed 2 times"),
        ([{"image": IMAGE}, {"image": IMAGE, "name": "b", "config_map": "scheduler-config"}], "config_map is scheduler-config for 2"),
        ([{"image": IMAGE}, {"image": IMAGE, "name": "b", "labels": {"component": "scheduler", "tier": "control-plane"}}], "same selector"),
    ],
)
def test_invalid_schedulers_are_rejected_with_their_place(schedulers, says):
    (error,) = complete(schedulers)["errors"]
    assert says in error
    assert error.startswith(("custom_schedulers[", "custom_schedulers: "))


def test_several_custom_schedulers_are_accepted_together():
    """F115"""
    assert complete([{"image": IMAGE}, {"image": IMAGE, "name": "batch"}, {"image": IMAGE, "namespace": "jobs"}])["errors"] == []
    assert complete([{"state": "absent"}])["errors"] == []


def test_a_scheduler_name_in_two_custom_schedulers_is_rejected():
    two = [{"image": IMAGE}, {"image": IMAGE, "name": "batch"}]
    assert complete(two, [["a"], ["b"]])["errors"] == []
    (error,) = complete(two, [["a"], ["a", "b"]])["errors"]
    assert error.startswith(
        "custom_schedulers[0], custom_schedulers[1]: the schedulerName a is in the profiles of kube-system/custom-scheduler and"
    )
    (error,) = complete(two, [["default-scheduler"], ["b"]])["errors"]
    assert "allow_default_scheduler" in error
    assert complete([{"image": IMAGE, "allow_default_scheduler": True}], [["default-scheduler"]])["errors"] == []


def test_documented_defaults_equal_the_defaults_of_the_code():
    options = SPEC["custom_schedulers"]["options"]
    assert set(options) == set(DEFAULTS)
    said = {name: option["default"] for name, option in options.items() if "default" in option}
    assert said == {name: DEFAULTS[name] for name in said}
    assert {name for name in DEFAULTS if DEFAULTS[name] not in (None, "") and name not in said} <= {"config"}


@pytest.mark.long
def test_templates_are_found_in_an_installed_tarball(tmp_path):
    """The two roles share templates by path: what is installed has to hold them where the role looks."""
    command = ["ansible-galaxy", "collection", "build", "--output-path", tmp_path]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (tarball,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(tarball) as archive:
        assert not [member.name for member in archive.getmembers() if member.issym() or member.islnk()]
    collections = tmp_path / "collections"
    install = ["ansible-galaxy", "collection", "install", "--no-deps", "--offline", "--force", f"--collections-path={collections}", tarball]
    subprocess.run(install, capture_output=True, check=True)
    (item,) = complete([{"image": IMAGE}])["items"]
    checked = {
        "hash": "a",
        "target": {"kubernetes_version": "1.34"},
        "completed": {},
        "effective": {},
        "text": "kind: KubeSchedulerConfiguration\n",
        "scheduler_names": [],
    }
    variables = {"custom_schedulers": [item], "custom_scheduler_checked": {"results": [checked]}}
    role = {"name": "osso.scheduler.custom_scheduler", "tasks_from": "apply"}
    paths = {"ANSIBLE_COLLECTIONS_PATH": f"{collections}:{ROOT / '.cache/collections'}", "KUBECONFIG": "/dev/null"}
    run = play([{"name": "Apply", "ansible.builtin.include_role": role}], variables=variables, succeed=False, env=paths)
    # Templates are rendered before a cluster is asked for.
    (failure,) = run.failures
    assert "No usable credentials for a cluster" in failure.result["results"][0]["msg"], run.output()
    # And the test would see it if one were not found.
    (collections / "ansible_collections/osso/scheduler/roles/operand/templates/permissions.yaml.j2").unlink()
    run = play([{"name": "Apply", "ansible.builtin.include_role": role}], variables=variables, succeed=False, env=paths)
    (failure,) = run.failures
    assert "permissions.yaml.j2" in failure.result["results"][0]["msg"], run.output()
