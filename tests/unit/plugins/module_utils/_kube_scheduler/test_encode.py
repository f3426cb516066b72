# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The completed configuration, as kube-scheduler writes it."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import decode, defaults, encode
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document import parse
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.report import Report
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import IN_TREE, SCHEDULER_PLUGINS, Target


def completed(body="", running=(), minor=34, version=None, plugins=IN_TREE):
    """running: the plugins of each profile that were built."""
    target = Target(minor, plugins)
    version = version or target.served[-1]
    root, _findings = parse(f"apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\n{body}")
    report = Report(root)
    config = decode.decode(root, version, target, report)
    assert [finding.format() for finding in report.findings] == []
    defaults.apply(config, version, target)
    built = SimpleNamespace(plugins=[set(running) for _profile in config["profiles"]])
    return encode.completed(config, version, target, built)


def completed_args(plugin, args="{}", *more, **kwargs):
    config = completed(f"profiles: [{{pluginConfig: [{{name: {plugin}, args: {args}}}]}}]\n", (plugin,), *more, **kwargs)
    (entry,) = config["profiles"][0]["pluginConfig"]
    assert entry["name"] == plugin
    args = entry["args"]
    assert args.pop("kind") == f"{plugin}Args"
    assert args.pop("apiVersion") == config["apiVersion"]
    return args


def test_an_empty_document_is_written_with_all_defaults():
    config = completed()
    (profile,) = config.pop("profiles")
    assert profile.pop("schedulerName") == "default-scheduler"
    assert set(profile) == {"plugins"}
    assert config == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "parallelism": 16,
        "leaderElection": {
            "leaderElect": True,
            "leaseDuration": "15s",
            "renewDeadline": "10s",
            "retryPeriod": "2s",
            "resourceLock": "leases",
            "resourceName": "kube-scheduler",
            "resourceNamespace": "kube-system",
        },
        "clientConnection": {
            "kubeconfig": "",
            "acceptContentTypes": "",
            "contentType": "application/vnd.kubernetes.protobuf",
            "qps": 50,
            "burst": 100,
        },
        "enableProfiling": True,
        "enableContentionProfiling": True,
        "percentageOfNodesToScore": 0,
        "podInitialBackoffSeconds": 1,
        "podMaxBackoffSeconds": 10,
    }


def test_each_field_decides_whether_a_zero_value_is_written():
    assert completed("enableProfiling: false\n")["enableContentionProfiling"] is False
    assert completed("", minor=26, version="v1beta2")["healthzBindAddress"] == ""
    assert "delayCacheUntilActive" not in completed("delayCacheUntilActive: false\n")
    assert completed("delayCacheUntilActive: true\n")["delayCacheUntilActive"] is True


@pytest.mark.parametrize("minor", range(22, 37))
def test_every_extension_point_is_written(minor):
    points = {"queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind", "bind", "postBind"}
    points |= {"multiPoint"} if minor >= 23 else set()
    points |= {"preEnqueue"} if minor >= 26 else set()
    points |= {"placementGenerate", "placementScore"} if minor >= 36 else set()
    points |= {"podGroupPostFilter"} if minor >= 37 else set()
    for version in Target(minor).served:
        plugins = completed("", minor=minor, version=version)["profiles"][0]["plugins"]
        assert set(plugins) == points
        assert plugins["permit"] == {}


def test_every_plugin_has_a_weight():
    plugins = completed("profiles: [{plugins: {score: {enabled: [{name: A, weight: 5}, {name: B}], disabled: [{name: C}]}}}]\n")
    assert plugins["profiles"][0]["plugins"]["score"] == {
        "enabled": [{"name": "A", "weight": 5}, {"name": "B", "weight": 0}],
        "disabled": [{"name": "C", "weight": 0}],
    }


def test_extenders_are_written_with_their_defaults():
    config = completed("extenders: [{}, {tlsConfig: {}, weight: 0, filterVerb: f, managedResources: [{name: a/b}], httpTimeout: 1500ms}]\n")
    assert config["extenders"] == [
        {"urlPrefix": "", "httpTimeout": "5s"},
        {"urlPrefix": "", "filterVerb": "f", "tlsConfig": {}, "httpTimeout": "1.5s", "managedResources": [{"name": "a/b"}]},
    ]
    assert "extenders" not in completed("extenders: []\n")


def test_arguments_of_plugins_that_run_are_written_by_name():
    body = "profiles: [{pluginConfig: [{name: VolumeBinding}, {name: Other, args: 1}, {name: InterPodAffinity}]}]\n"
    entries = completed(body, ("InterPodAffinity", "VolumeBinding", "NodeName"))["profiles"][0]["pluginConfig"]
    assert [entry["name"] for entry in entries] == ["InterPodAffinity", "VolumeBinding"]
    assert entries[0]["args"] == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "InterPodAffinityArgs",
        "hardPodAffinityWeight": 1,
        "ignorePreferredTermsOfExistingPods": False,
    }


@pytest.mark.parametrize("args", ["{}", "[]", "0", "''", "{a: [1, null]}"])
def test_arguments_without_a_type_are_written_as_they_are(args):
    config = completed(f"profiles: [{{pluginConfig: [{{name: ImageLocality, args: {args}}}]}}]\n", ("ImageLocality",))
    assert config["profiles"][0]["pluginConfig"] == [{"name": "ImageLocality", "args": parse(f"--- {args}\n")[0].value}]


def test_plugins_without_arguments_are_left_out():
    assert "pluginConfig" not in completed("profiles: [{pluginConfig: [{name: NodeName}]}]\n", ("NodeName",))["profiles"][0]


def test_only_plugins_with_arguments_get_default_arguments_on_1_21():
    """It adds them when it builds the plugins, not when it fills in defaults."""
    entries = completed("", ("VolumeBinding", "NodeName"), 21)["profiles"][0]["pluginConfig"]
    assert [(entry["name"], entry["args"]["bindTimeoutSeconds"]) for entry in entries] == [("VolumeBinding", 600)]


@pytest.mark.parametrize(
    ("plugin", "args", "written"),
    [
        ("DynamicResources", "{filterTimeout: 90s}", {"filterTimeout": "1m30s"}),
        ("NodeAffinity", "{}", {}),
        (
            "NodeAffinity",
            "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}",
            {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": None}}},
        ),
        (
            "NodeAffinity",
            (
                "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []},"
                " preferredDuringSchedulingIgnoredDuringExecution: [null]}}"
            ),
            {
                "addedAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []},
                    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 0, "preference": {}}],
                }
            },
        ),
        (
            "PodTopologySpread",
            "{defaultConstraints: [{maxSkew: 1, nodeTaintsPolicy: ''}]}",
            {
                "defaultingType": "System",
                "defaultConstraints": [{"maxSkew": 1, "topologyKey": "", "whenUnsatisfiable": "", "nodeTaintsPolicy": ""}],
            },
        ),
        ("VolumeBinding", "{shape: []}", {"bindTimeoutSeconds": 600}),
    ],
)
def test_plugin_arguments_are_written_as_kube_scheduler_writes_them(plugin, args, written):
    assert completed_args(plugin, args) == written


def test_arguments_of_scheduler_plugins_are_written_with_their_defaults():
    args = completed_args("TargetLoadPacking", "{watcherAddress: w, defaultRequests: {memory: 1536Mi}}", plugins=SCHEDULER_PLUGINS)
    assert args == {
        "watcherAddress": "w",
        "metricProvider": {"address": "", "token": "", "insecureSkipVerify": False},
        "defaultRequests": {"memory": "1536Mi"},
        "defaultRequestsMultiplier": "1.5",
        "targetUtilization": 40,
    }
    args = completed_args("Peaks", plugins=SCHEDULER_PLUGINS)
    assert args == {"WatcherAddress": "", "NodePowerModel": None}
    args = completed_args("NodeResourceTopologyMatch", plugins=SCHEDULER_PLUGINS)
    assert args["cacheResyncPeriodSeconds"] == 0
    assert "discardReservedNodes" not in args


@pytest.mark.parametrize(
    ("minor", "version", "kept"),
    [(22, "v1beta1", True), (22, "v1beta2", True), (23, "v1beta2", False), (27, "v1beta2", False)],
)
def test_fields_that_the_internal_type_lacks_are_lost(minor, version, kept):
    args = completed_args("Coscheduling", "{deniedPGExpirationTimeSeconds: 5}", minor, version, SCHEDULER_PLUGINS)
    assert args.get("deniedPGExpirationTimeSeconds") == (5 if kept else None)


def test_the_completed_configuration_can_be_written_as_json():
    config = completed(
        "clientConnection: {qps: 0.1}\nleaderElection: {leaseDuration: 1h}\n", ("TargetLoadPacking",), plugins=SCHEDULER_PLUGINS
    )
    assert json.loads(json.dumps(config)) == config
    assert config["clientConnection"]["qps"] == 0.1
