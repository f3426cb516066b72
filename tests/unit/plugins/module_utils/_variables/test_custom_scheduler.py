# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Schedulers without an operator: completed variables, and the values for the templates."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._variables.custom_scheduler import complete, operand

ROOT = Path(__file__).parents[5]
OBJECTS = (
    "config_map",
    "service_account",
    "kube_scheduler_binding",
    "volume_scheduler_binding",
    "plugins_role",
    "authentication_reader_binding",
)
"""Options that name objects of a scheduler."""
IMAGE = "registry.k8s.io/kube-scheduler:v1.34.7"
LOCAL = "the probes request the address of the pod; for another one set args and probes"
CHECKED = {"hash": "h", "target": {"kubernetes_version": "1.34"}, "completed": {}, "effective": {}}


def only(**item):
    found = complete([{"image": IMAGE, **item}])
    assert (found["errors"], found["warnings"]) == ([], [])
    (completed,) = found["items"]
    return completed


def probes(port=10259, live="/livez", ready="/readyz"):
    live, ready = ({"httpGet": {"path": path, "port": port, "scheme": "HTTPS"}, "timeoutSeconds": 10} for path in (live, ready))
    return {"livenessProbe": {**live, "initialDelaySeconds": 15}, "readinessProbe": ready}


def test_the_defaults_are_the_scheduler_of_the_openshift_documentation():
    assert only() == {
        "where": "custom_schedulers[0]",
        "name": "custom-scheduler",
        "namespace": "kube-system",
        "create_namespace": False,
        "state": "present",
        "image": IMAGE,
        "image_pull_policy": "",
        "pull_secrets": [],
        "kubernetes_version": "",
        "plugins": "",
        "ask_image": False,
        "config": {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"schedulerName": "custom-scheduler"}],
            "leaderElection": {"leaderElect": False},
        },
        "config_text": "",
        "config_file": "",
        "preset": "",
        "preset_parameters": {},
        "allow_default_scheduler": False,
        "config_map": "scheduler-config",
        "config_key": "scheduler-config.yaml",
        "config_folder": "/etc/config",
        "config_volume": "config-volume",
        "service_account": "custom-scheduler",
        "kube_scheduler_binding": "custom-scheduler-as-kube-scheduler",
        "volume_scheduler_binding": "custom-scheduler-as-volume-scheduler",
        "plugins_role": "custom-scheduler-plugins",
        "authentication_reader": True,
        "authentication_reader_binding": "custom-scheduler-extension-apiserver-authentication-reader",
        "replicas": 1,
        "leader_elect": False,
        "command": ["/usr/local/bin/kube-scheduler"],
        "args": [],
        "flags": ["--leader-elect=false"],
        "env": [],
        "container": "kube-second-scheduler",
        "port": 10259,
        "labels": {"component": "scheduler", "tier": "control-plane"},
        "selector": {"component": "scheduler", "tier": "control-plane"},
        "pod_labels": {"component": "scheduler", "tier": "control-plane", "version": "second"},
        "pod_annotations": {},
        "resources": {"requests": {"cpu": "100m"}},
        "probes": None,
        "pod_security_context": {"seccompProfile": {"type": "RuntimeDefault"}},
        "container_security_context": {
            "privileged": False,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "host_network": False,
        "host_pid": False,
        "priority_class": "",
        "node_selector": {},
        "tolerations": [],
        "affinity": {},
        "topology_spread_constraints": [],
        "volumes": [],
        "volume_mounts": [],
    }


def test_names_follow_from_name_and_namespace():
    item = only(name="batch", namespace="jobs", replicas="2", port="10260", flags=["-v=4"], preset="no_scoring")
    assert [item[key] for key in OBJECTS] == [
        "batch-config",
        "batch",
        "jobs:batch-as-kube-scheduler",
        "jobs:batch-as-volume-scheduler",
        "jobs:batch-plugins",
        "jobs:batch-extension-apiserver-authentication-reader",
    ]
    labels = {"component": "batch", "tier": "control-plane"}
    assert (item["labels"], item["selector"], item["pod_labels"]) == (labels, labels, {**labels, "version": "second"})
    assert (item["leader_elect"], item["replicas"], item["port"], item["config"]) == (True, 2, 10260, {})
    assert item["flags"] == [
        "--leader-elect=true",
        "--leader-elect-resource-name=batch",
        "--leader-elect-resource-namespace=jobs",
        "--secure-port=10260",
        "-v=4",
    ]
    assert operand(item, CHECKED)["shape"]["probes"] == probes(10260)


def test_given_values_replace_the_defaults():
    given = {
        "config_map": "c",
        "service_account": "sa",
        "kube_scheduler_binding": "k",
        "volume_scheduler_binding": "v",
        "authentication_reader_binding": "a",
        "labels": {"app": "x"},
        "selector": {"app": "y"},
        "probes": {},
        "args": ["--config=/x"],
        "config_text": "text",
    }
    item = only(**given, flags=["-v=4"], pod_labels={"own": "1"}, leader_elect="true")
    assert {key: item[key] for key in given} == given
    assert (item["flags"], item["pod_labels"], item["leader_elect"]) == ([], {"own": "1", "app": "y"}, True)
    assert only(labels={"app": "x"})["pod_labels"] == {"app": "x", "version": "second"}
    assert only(leader_elect="no")["leader_elect"] is False


@pytest.mark.parametrize(
    ("item", "flags"),
    [
        ({"args": ["--config=/x", "--leader-elect=false", "-v", "4", "--own=1"]}, ["--leader-elect=false"]),
        ({"args": ["--config", "/x", "--leader-elect"], "command": ["/bin/kube-scheduler"]}, ["--leader-elect"]),
        ({"args": ["--leader-elect=$(ELECT)", "--feature-gates=A=true", "--leader-elect-resource-name", "x"]}, ["--feature-gates=A=true"]),
        ({"args": ["--leader-elect=false"], "command": ["/scheduler"]}, []),
    ],
)
def test_arguments_that_decide_about_leader_and_gates_are_validated_as_flags(item, flags):
    item = only(**item)
    assert (item["flags"], operand(item, CHECKED)["shape"]["args"]) == (flags, item["args"])


def test_without_schedulers_there_is_a_warning():
    assert complete([]) == {"items": [], "errors": [], "warnings": ["custom_schedulers is empty: no scheduler is configured."]}


WHERE = "custom_schedulers[0]: kube-system/custom-scheduler"
LONGEST = "a" * 52


@pytest.mark.parametrize(
    ("item", "errors"),
    [
        ({"name": LONGEST}, []),
        (
            {"name": LONGEST + "a"},
            [
                f"custom_schedulers[0]: name is {LONGEST}a: use up to 52 lower-case letters, digits and hyphens, with none of these at an end."
            ],
        ),
        (
            {"name": "a-"},
            ["custom_schedulers[0]: name is a-: use up to 52 lower-case letters, digits and hyphens, with none of these at an end."],
        ),
        (
            {"name": "kube-scheduler"},
            ["custom_schedulers[0]: name is kube-scheduler, which is the default scheduler's, and its Lease: use another one."],
        ),
        (
            {"namespace": "A", "state": "absent", "image": "", "replicas": -1},
            ["custom_schedulers[0]: namespace is A: use up to 63 lower-case letters, digits and hyphens, with no hyphen at an end."],
        ),
        ({"replicas": 0}, []),
        ({"replicas": -1}, [f"{WHERE}: replicas is -1: set 0 or more."]),
        ({"port": 1}, []),
        ({"port": 65535}, []),
        ({"port": 0}, [f"{WHERE}: port is 0: set a number from 1 to 65535."]),
        ({"port": 65536}, [f"{WHERE}: port is 65536: set a number from 1 to 65535."]),
        ({"image": ""}, [f"{WHERE} has no image: give that of the scheduler, such as registry.k8s.io/kube-scheduler:v1.34.7."]),
        (
            {"config_text": "x", "preset": "y"},
            [f"{WHERE} has config_text and preset: give one of them, or none for the documentation's configuration."],
        ),
        (
            {"replicas": 2, "leader_elect": False},
            [f"{WHERE}: replicas is 2 and leader_elect false, so all of them would place the same pods: leave leader_elect out."],
        ),
        ({"flags": ["-v=4", "--leader-elect-lease-duration=60s", "--feature-gates=A=true"]}, []),
        (
            {"leader_elect": True, "flags": ["--leader_elect=true", "--leader-elect-resource-name=x"]},
            [
                f"{WHERE}: flags has --{flag}: leader_elect sets it, with a Lease of the scheduler's own; remove it."
                for flag in ("leader-elect", "leader-elect-resource-name")
            ],
        ),
        # What the role writes, and what the probes can reach
        ({"flags": ["--leader-elect=false", "--bind-address=0.0.0.0"]}, []),
        ({"flags": ["--bind-address=127.0.0.1"]}, [f"{WHERE}: flags has --bind-address: {LOCAL}; remove it."]),
        ({"flags": ["--secure-port", "1"]}, [f"{WHERE}: flags has --secure-port: port sets it, also for the probes; remove it."]),
        (
            {"port": 1, "flags": ["--config=/x", "-h"]},
            [
                f"{WHERE}: flags has --config: config_folder and config_key set it; remove it.",
                f"{WHERE}: flags has --h: the scheduler would end at once; remove it.",
            ],
        ),
        ({"selector": {}}, [f"{WHERE}: selector is {{}}: give at least one label."]),
    ],
)
def test_an_invalid_item_is_an_error(item, errors):
    assert complete([{"image": IMAGE, **item}])["errors"] == errors


def test_a_malformed_image_is_an_error():
    (error,) = complete([{"image": "a b"}])["errors"]
    assert error.startswith(f"{WHERE}: image: 'a b' is no image reference")


def test_schedulers_share_no_objects():
    same = {"image": IMAGE, "labels": {"app": "x"}}
    shared = {**same, **dict.fromkeys(OBJECTS, "s")}
    found = complete([{**shared, "name": "a"}, {**shared, "name": "b"}, {**shared, "name": "c", "state": "absent"}])["errors"]
    assert found == [
        *(f"custom_schedulers: {name} is s for 2 schedulers: give each its own." for name in OBJECTS),
        "custom_schedulers: two schedulers of one namespace have the same selector: give each labels of its own.",
    ]
    found = complete([{**shared, "name": "a"}, {**shared, "name": "b", "namespace": "other"}])["errors"]
    assert found == [f"custom_schedulers: {name} is s for 2 schedulers: give each its own." for name in OBJECTS[2:]]


def test_two_items_for_one_scheduler_are_an_error():
    (error,) = complete([{"image": IMAGE}, {"image": IMAGE, "namespace": "other"}, {"image": IMAGE}])["errors"]
    assert error == (
        "custom_schedulers[0], custom_schedulers[2]: kube-system/custom-scheduler is listed 2 times: give each scheduler of a namespace its own name."
    )


def test_two_items_for_one_scheduler_hide_no_shared_objects():
    given = [
        {"name": "a"},
        {"name": "a", "config_map": "s", "labels": {"app": "x"}},
        {"name": "b", "config_map": "s", "labels": {"app": "x"}},
    ]
    assert complete([{"image": IMAGE, **item} for item in given])["errors"] == [
        "custom_schedulers[0], custom_schedulers[1]: kube-system/a is listed 2 times: give each scheduler of a namespace its own name.",
        "custom_schedulers: config_map is s for 2 schedulers: give each its own.",
        "custom_schedulers: two schedulers of one namespace have the same selector: give each labels of its own.",
    ]


def test_scheduler_names_are_used_once_and_default_scheduler_only_with_permission():
    given = [{"image": IMAGE, "name": "gone", "state": "absent"}, {"image": IMAGE, "name": "a"}, {"image": IMAGE, "name": "b"}]
    found = complete(given, [["x", "default-scheduler"], ["x"]])["errors"]
    assert found == [
        (
            "custom_schedulers[1]: kube-system/a has a profile with the schedulerName default-scheduler, so two schedulers would place every pod: "
            "use another name, or set allow_default_scheduler to true."
        ),
        "custom_schedulers[1], custom_schedulers[2]: the schedulerName x is in the profiles of kube-system/a and kube-system/b: use it once.",
    ]
    given[1]["allow_default_scheduler"] = True
    assert complete(given, [["default-scheduler"], ["x"]])["errors"] == []


def test_the_templates_get_every_value_of_a_scheduler():
    item = only(
        name="batch",
        pull_secrets=["p"],
        image_pull_policy="Always",
        env=[{"name": "A"}],
        pod_annotations={"own": "1"},
        priority_class="high",
        topology_spread_constraints=[{"maxSkew": 1}],
        volumes=[{"name": "v"}],
        volume_mounts=[{"name": "m"}],
        node_selector={"n": "1"},
        tolerations=[{"key": "t"}],
        host_network=True,
    )
    assert operand(item, CHECKED) == {
        "replicas": 1,
        "labels": item["labels"],
        "authentication_reader": True,
        "elects_leader": False,
        "plugin_rules": [],
        "names": {
            "workload": "batch",
            "namespace": "kube-system",
            "service_account": "batch",
            "plugins": "batch-plugins",
            "bindings": {
                "system:kube-scheduler": "batch-as-kube-scheduler",
                "system:volume-scheduler": "batch-as-volume-scheduler",
                "extension-apiserver-authentication-reader": "batch-extension-apiserver-authentication-reader",
            },
        },
        "rollout": {
            "image": IMAGE,
            "serving_cert": False,
            "placement": {"nodeSelector": {"n": "1"}, "tolerations": [{"key": "t"}]},
            "overrides": {
                "command": ["/usr/local/bin/kube-scheduler"],
                "env": [{"name": "A"}],
                "imagePullPolicy": "Always",
                "imagePullSecrets": [{"name": "p"}],
                "podAnnotations": {"own": "1", "osso.scheduler/config": "h"},
                "priorityClassName": "high",
                "progressDeadlineSeconds": 300,
                "topologySpreadConstraints": [{"maxSkew": 1}],
                "resources": {"requests": {"cpu": "100m"}},
                "volumes": [{"name": "v"}],
                "volumeMounts": [{"name": "m"}],
            },
        },
        "shape": {
            "selector": item["selector"],
            "pod_labels": item["pod_labels"],
            "scc": {},
            "port": 10259,
            "container": "kube-second-scheduler",
            "args": ["--config=/etc/config/scheduler-config.yaml", "--leader-elect=false"],
            "probes": probes(),
            "config_map": "batch-config",
            "config_volume": "config-volume",
            "config_folder": "/etc/config",
            "pod_security": item["pod_security_context"],
            "container_security": item["container_security_context"],
            "host_network": True,
            "host_pid": False,
        },
    }


@pytest.mark.parametrize(("timeout", "expected"), [(60, 300), (301, 301)])
def test_a_rollout_is_not_given_up_before_the_wait_ends(timeout, expected):
    assert operand(only(), CHECKED, timeout)["rollout"]["overrides"]["progressDeadlineSeconds"] == expected


@pytest.mark.parametrize(
    ("image", "plugins", "command", "expected"),
    [
        (IMAGE, "", None, ["/usr/local/bin/kube-scheduler"]),
        ("example.com/team/scheduler:7", "", None, ["/usr/local/bin/kube-scheduler"]),
        ("example.com/team/scheduler:7", "in-tree", [], ["/usr/local/bin/kube-scheduler"]),
        ("example.com/team/scheduler:7", "scheduler-plugins", None, ["/bin/kube-scheduler"]),
        ("example.com/team/scheduler:7", {"base": "scheduler-plugins", "extra": []}, None, ["/bin/kube-scheduler"]),
        ("example.com/scheduler-plugins/kube-scheduler:v0.34.7", "", None, ["/bin/kube-scheduler"]),
        ("registry.redhat.io/openshift4/ose-hyperkube-rhel9:v4.18", "", None, ["/bin/kube-scheduler"]),
        ("example.com/team/scheduler:7", "scheduler-plugins", ["/own"], ["/own"]),
    ],
)
def test_the_program_is_where_the_image_has_it(image, plugins, command, expected):
    made = operand(only(image=image, plugins=plugins, command=command), CHECKED)
    assert made["rollout"]["overrides"]["command"] == expected


@pytest.mark.parametrize(
    ("release", "completed", "live", "ready"),
    [
        ("1.31", {"delayCacheUntilActive": False}, "/livez", "/readyz"),
        ("1.37", None, "/livez", "/readyz"),
        ("1.31", {"delayCacheUntilActive": True}, "/livez", "/livez"),
        ("1.30", {}, "/healthz", "/healthz"),
        (None, None, "/healthz", "/healthz"),
    ],
)
def test_readiness_waits_for_the_caches_where_the_release_can_report_it(release, completed, live, ready):
    checked = {**CHECKED, "target": {"kubernetes_version": release}, "completed": completed}
    assert operand(only(), checked)["shape"]["probes"] == probes(live=live, ready=ready)
    assert operand(only(probes={}), checked)["shape"]["probes"] == {}


def test_given_arguments_and_affinity_reach_the_deployment():
    made = operand(only(args=["--config=/x"], affinity={"nodeAffinity": {}}), CHECKED)
    assert (made["shape"]["args"], made["rollout"]["overrides"]["affinity"]) == (["--config=/x"], {"nodeAffinity": {}})


def running(*plugins, minor=34, **fields):
    """The result of the check of a configuration that runs these plugins."""
    effective = {"gangs": {"permit": [[plugin, 0] for plugin in plugins]}}
    target = {"plugins": "scheduler-plugins", "kubernetes_version": f"1.{minor}"}
    return {**CHECKED, "target": target, "effective": effective, "missing_kinds": [], "findings": [], "text": "", **fields}


def loading(**args):
    """A completed configuration of a load-aware plugin, which asks metrics-server by default."""
    args = {"metricProvider": {"type": "KubernetesMetricsServer"}, **args}
    return {"profiles": [{"schedulerName": "a", "pluginConfig": [{"name": "TargetLoadPacking", "args": args}]}]}


def read(group, resources, verbs=("get", "list", "watch")):
    return {"apiGroups": [group], "resources": [resources], "verbs": list(verbs)}


@pytest.mark.parametrize(
    ("checked", "rules"),
    [
        (running("NodeResourcesFit"), []),
        (running("Coscheduling"), [read("scheduling.x-k8s.io", "podgroups")]),
        (running("Peaks", "TargetLoadPacking", completed=loading()), [read("metrics.k8s.io", "nodes", ("get", "list"))]),
        (running("TargetLoadPacking", minor=25, completed=loading()), [read("metrics.k8s.io", "nodes", ("get", "list"))]),
        (running("TargetLoadPacking", completed=loading(metricProvider={"type": "Prometheus"})), []),
        (running("TargetLoadPacking", completed=loading(watcherAddress="http://w:2020")), []),
        (running("Coscheduling", minor=25), []),
    ],
)
def test_a_scheduler_gets_the_permissions_of_its_plugins(checked, rules):
    made = operand(only(name="batch", namespace="jobs"), checked)
    assert (made["plugin_rules"], made["names"]["plugins"]) == (rules, "jobs:batch-plugins")
    assert operand(only(plugins_role=""), checked)["plugin_rules"] == []


@pytest.mark.parametrize(
    ("checked", "errors", "warnings"),
    [
        (running("NodeResourceTopologyMatch", "NodeResourcesFit"), [], []),
        (
            running("SySched", missing_kinds=["security-profiles-operator.x-k8s.io/v1beta1/SeccompProfile"]),
            [
                (
                    f"{WHERE}: the plugin SySched reads security-profiles-operator.x-k8s.io/v1beta1 SeccompProfile, which the API server does not serve: "
                    "install the Security Profiles Operator."
                )
            ],
            [],
        ),
        (
            running("Coscheduling", missing_kinds=["scheduling.x-k8s.io/v1alpha1/PodGroup"]),
            [
                (
                    f"{WHERE}: the plugin Coscheduling reads scheduling.x-k8s.io/v1alpha1 PodGroup, which the API server does not serve: apply its "
                    "CustomResourceDefinition, roles/operator/files/plugins/podgroups.scheduling.x-k8s.io.crd.yaml of this collection, or run the role "
                    "osso.scheduler.operator with operator_plugins that name the plugin."
                )
            ],
            [],
        ),
        (
            running("Coscheduling", minor=25, missing_kinds=["scheduling.x-k8s.io/v1alpha1/PodGroup"]),
            [],
            [
                (
                    f"{WHERE}: Coscheduling of scheduler-plugins before v0.26: the role does not create the CRDs and permissions that they need: use an "
                    "image of v0.26 or newer, or create them yourself."
                )
            ],
        ),
    ],
)
def test_missing_requirements_of_plugins_are_reported_before_the_first_write(checked, errors, warnings):
    found = complete([{"state": "absent", "name": "gone"}, {"image": IMAGE}], checked=[checked])
    expected = [text.replace("[0]", "[1]") for text in errors], [text.replace("[0]", "[1]") for text in warnings]
    assert (found["errors"], found["warnings"]) == expected
    assert all((ROOT / path).is_file() for error in errors for path in re.findall(r"roles/\S+[.]yaml", error))


@pytest.mark.parametrize(
    ("item", "checked", "errors"),
    [
        (
            {"preset": "trimaran_target_load_packing"},
            {"text": "address: ${PROM_URL}\ntoken: ${PROM_TOKEN}\n"},
            [
                "${PROM_URL}, which only the operator fills: set preset_parameters.address.",
                "${PROM_TOKEN}, which only the operator fills: set preset_parameters.token, to an empty text if Prometheus requires none.",
            ],
        ),
        (
            {"config_text": "x"},
            {"text": "watcherAddress: ${LOAD_WATCHER_URL}\n"},
            ["${LOAD_WATCHER_URL}, which only the operator fills: write the value itself."],
        ),
        ({"config_text": "x"}, {"text": "# token: ${PROM_TOKEN}\n", "findings": []}, []),
        ({"config_text": "x"}, {"text": "token: <token>\n"}, []),
        ({"config_text": "x"}, {"text": None}, []),
        # A wrapper can fill them.
        ({"config_text": "x", "command": ["/bin/sh", "-c", "envsubst"]}, {"text": "address: ${PROM_URL}\n"}, []),
    ],
)
def test_placeholders_of_the_operator_are_rejected(item, checked, errors):
    found = complete([{"image": IMAGE, **item}], checked=[running(**{"findings": [{"code": "placeholder"}], **checked})])["errors"]
    assert found == [f"{WHERE}: the configuration holds {error}" for error in errors]
