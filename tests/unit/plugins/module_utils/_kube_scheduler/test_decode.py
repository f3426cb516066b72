# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which fields there are, which types they have, and what is said of those that are wrong."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import decode, field_types
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document import parse
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.report import Report
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.types import (
    IN_TREE_KINDS,
    SCHEDULER_PLUGINS_KINDS,
    STRUCTURES,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import (
    IN_TREE,
    SCHEDULER_PLUGINS,
    CustomPlugin,
    Target,
)
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.value_syntax import Duration, Quantity

GROUP = "kubescheduler.config.k8s.io"


def read(body, minor=34, version=None, plugins=IN_TREE, custom=()):
    """The decoded document and what was found; body: the fields besides apiVersion and kind."""
    target = Target(minor, plugins, custom)
    version = version or target.served[-1]
    if body.startswith("{"):
        text = f'{{"apiVersion": "{GROUP}/{version}", "kind": "KubeSchedulerConfiguration", {body[1:]}'
    else:
        text = f"apiVersion: {GROUP}/{version}\nkind: KubeSchedulerConfiguration\n{body}"
    root, findings = parse(text)
    report = Report(root)
    report.findings += findings
    assert decode.api_version(root, target, report) == version
    return decode.decode(root, version, target, report), report.findings


def accepted(body, *args, **kwargs):
    config, findings = read(body, *args, **kwargs)
    assert [finding.format() for finding in findings] == []
    del config["apiVersion"], config["kind"]
    return config


def the_finding(body, *args, **kwargs):
    (finding,) = read(body, *args, **kwargs)[1]
    assert (finding.severity, finding.stage) == ("error", "decode")
    return finding


def args_of(plugin, args):
    return f"profiles: [{{pluginConfig: [{{name: {plugin}, args: {args}}}]}}]\n"


def decoded_args(*args, **kwargs):
    return accepted(args_of(*args), **kwargs)["profiles"][0]["pluginConfig"][0]["args"]


# --- the version of the document ---


def version_of(text, minor=34):
    root, _findings = parse(text)
    report = Report(root)
    version = decode.api_version(root, Target(minor), report)
    return version, [(finding.code, finding.path, finding.hint) for finding in report.findings]


@pytest.mark.parametrize(
    ("minor", "served"),
    [
        (21, {"v1beta1"}),
        (22, {"v1beta1", "v1beta2"}),
        (23, {"v1beta2", "v1beta3"}),
        (24, {"v1beta2", "v1beta3"}),
        (25, {"v1beta2", "v1beta3", "v1"}),
        (27, {"v1beta2", "v1beta3", "v1"}),
        (28, {"v1beta3", "v1"}),
        (29, {"v1"}),
        (36, {"v1"}),
    ],
)
def test_each_release_accepts_only_the_versions_that_it_serves(minor, served):
    for version in ("v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3", "v1", "v2", "__internal"):
        found, findings = version_of(f"apiVersion: {GROUP}/{version}\nkind: KubeSchedulerConfiguration\n", minor)
        assert found == (version if version in served else None)
        assert [code for code, _path, _hint in findings] == ([] if version in served else ["unserved-version"])


def test_an_unserved_version_is_reported_with_the_served_ones():
    _version, findings = version_of(f"apiVersion: {GROUP}/v1beta1\nkind: KubeSchedulerConfiguration\n", 27)
    assert findings == [("unserved-version", "apiVersion", "it reads v1beta2, v1beta3, v1; v1beta1 is for 1.19 to 1.22")]


@pytest.mark.parametrize(
    ("text", "code", "path"),
    [
        ("a: 1\n", "required", "kind"),
        ("kind: KubeSchedulerConfiguration\n", "required", "apiVersion"),
        ("apiVersion: null\nkind: KubeSchedulerConfiguration\n", "required", "apiVersion"),
        ("apiVersion: /\nkind: KubeSchedulerConfiguration\n", "required", "apiVersion"),
        (f"apiVersion: {GROUP}/\nkind: KubeSchedulerConfiguration\n", "required", "apiVersion"),
        (f"apiVersion: {GROUP}/v1\nkind: ''\n", "required", "kind"),
        (f"apiVersion: {GROUP}/v1\nkind: 5\n", "wrong-type", "kind"),
        (f"apiVersion: 1\nkind: {GROUP}\n", "wrong-type", "apiVersion"),
        (f"apiVersion: {GROUP}/v1/a\nkind: KubeSchedulerConfiguration\n", "invalid-value", "apiVersion"),
        ("apiVersion: v1\nkind: KubeSchedulerConfiguration\n", "unserved-version", "apiVersion"),
        ("apiVersion: apps/v1\nkind: KubeSchedulerConfiguration\n", "unserved-version", "apiVersion"),
        (f"apiVersion: {GROUP}/v1\nkind: NodeAffinityArgs\n", "wrong-kind", "kind"),
        (f"apiVersion: {GROUP}/v1\nkind: kubeschedulerconfiguration\n", "wrong-kind", "kind"),
        ("apiVersion: v1\nkind: ConfigMap\n", "wrong-kind", "kind"),
        ("apiVersion: v1\nkind: Policy\n", "wrong-kind", "kind"),
    ],
)
def test_a_document_without_a_served_version_and_kind_is_rejected(text, code, path):
    version, findings = version_of(text)
    assert version is None
    assert [finding[:2] for finding in findings] == [(code, path)]


def test_kind_in_other_case_is_found_and_is_an_unknown_field():
    finding = the_finding("Kind: KubeSchedulerConfiguration\n")
    assert (finding.code, finding.path) == ("unknown-field", "Kind")
    assert "did you mean kind?" in finding.hint
    version, findings = version_of(f"apiVersion: {GROUP}/v1\nKind: KubeSchedulerConfiguration\n")
    assert (version, findings) == ("v1", [])


# --- fields ---


def test_every_field_of_the_document_is_read():
    config = accepted(
        """\
parallelism: 8
leaderElection: {leaderElect: on, leaseDuration: 1m, renewDeadline: 1.5s, retryPeriod: "0", resourceLock: leases}
clientConnection: {kubeconfig: /k, qps: 0.1, burst: -5}
enableProfiling: no
podMaxBackoffSeconds: 9223372036854775807
profiles:
- schedulerName: a
  percentageOfNodesToScore: 5
  plugins: {score: {enabled: [{name: X, weight: -1}, null], disabled: []}, filter: null}
extenders:
- {urlPrefix: http://e, enableHTTPS: true, httpTimeout: 5s, tlsConfig: {caData: aGk=}, managedResources: [{name: a/b}]}
- null
delayCacheUntilActive: true
"""
    )
    assert config == {
        "parallelism": 8,
        "leaderElection": {
            "leaderElect": True,
            "leaseDuration": Duration(60 * 10**9),
            "renewDeadline": Duration(1500 * 10**6),
            "retryPeriod": Duration(0),
            "resourceLock": "leases",
        },
        "clientConnection": {"kubeconfig": "/k", "qps": 0.1, "burst": -5},
        "enableProfiling": False,
        "podMaxBackoffSeconds": 2**63 - 1,
        "profiles": [
            {
                "schedulerName": "a",
                "percentageOfNodesToScore": 5,
                "plugins": {"score": {"enabled": [{"name": "X", "weight": -1}, {}], "disabled": []}},
            }
        ],
        "extenders": [
            {
                "urlPrefix": "http://e",
                "enableHTTPS": True,
                "httpTimeout": Duration(5 * 10**9),
                "tlsConfig": {"caData": "aGk="},
                "managedResources": [{"name": "a/b"}],
            },
            {},
        ],
        "delayCacheUntilActive": True,
    }


@pytest.mark.parametrize("null", ["null", "~", ""])
@pytest.mark.parametrize("field", ["parallelism", "leaderElection", "enableProfiling", "profiles", "extenders", "percentageOfNodesToScore"])
def test_a_field_that_is_null_is_treated_as_absent(field, null):
    assert accepted(f"{field}: {null}\n") == {}


@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        ("parallelism: x\n", "parallelism", "is a string, not an integer"),
        ("parallelism: '5'\n", "parallelism", "is a string, not an integer"),
        ("parallelism: yes\n", "parallelism", "is true, not an integer"),
        ("parallelism: 1.5\n", "parallelism", "is a number with a fraction or an exponent, not an integer"),
        ("{" + '"parallelism": 16.0}', "parallelism", "is a number with a fraction or an exponent, not an integer"),
        ("{" + '"parallelism": 1e1}', "parallelism", "is a number with a fraction or an exponent, not an integer"),
        ("parallelism: 12345678901234567890123\n", "parallelism", "is too large for an integer"),
        ("parallelism: []\n", "parallelism", "is a list, not an integer"),
        ("enableProfiling: 'true'\n", "enableProfiling", "is a string, not true or false"),
        ("enableProfiling: 1\n", "enableProfiling", "is a number, not true or false"),
        ("leaderElection: []\n", "leaderElection", "is a list, not a mapping"),
        ("leaderElection: x\n", "leaderElection", "is a string, not a mapping"),
        ("leaderElection: {leaseDuration: 15}\n", "leaderElection.leaseDuration", "is a number, not a duration such as 15s"),
        ("leaderElection: {leaseDuration: null}\n", "leaderElection.leaseDuration", "is null, not a duration"),
        ("leaderElection: {leaseDuration: '15'}\n", "leaderElection.leaseDuration", 'time: missing unit in duration "15"'),
        ("leaderElection: {resourceName: 5}\n", "leaderElection.resourceName", "is a number, not a string"),
        ("clientConnection: {qps: x}\n", "clientConnection.qps", "is a string, not a number"),
        ("clientConnection: {qps: 1e39}\n", "clientConnection.qps", "is too large for a float32"),
        ("profiles: {}\n", "profiles", "is a mapping, not a list"),
        ("profiles: [x]\n", "profiles[0]", "is a string, not a mapping"),
        ("profiles: [{schedulerName: 123}]\n", "profiles[0].schedulerName", "is a number, not a string"),
        ("profiles: [{plugins: {score: []}}]\n", "profiles[0].plugins.score", "is a list, not a mapping"),
        ("profiles: [{plugins: {score: {enabled: [a]}}}]\n", "profiles[0].plugins.score.enabled[0]", "is a string, not a mapping"),
        ("extenders: [{weight: 1.5}]\n", "extenders[0].weight", "is a number with a fraction or an exponent, not an integer"),
        ("extenders: [{httpTimeout: null}]\n", "extenders[0].httpTimeout", "is null, not a duration"),
        ("extenders: [{managedResources: [{name: 1}]}]\n", "extenders[0].managedResources[0].name", "is a number, not a string"),
    ],
)
def test_a_value_of_the_wrong_type_is_rejected_with_a_hint(body, path, message):
    finding = the_finding(body)
    assert (finding.path, finding.message) == (path, message)
    assert finding.hint


@pytest.mark.parametrize(("field", "limit"), [("parallelism", 2**31), ("percentageOfNodesToScore", 2**31), ("podMaxBackoffSeconds", 2**63)])
def test_integers_outside_their_range_are_rejected(field, limit):
    assert accepted(f"{field}: {limit - 1}\n") == {field: limit - 1}
    assert accepted(f"{field}: {-limit}\n") == {field: -limit}
    for number in (limit, -limit - 1):
        finding = the_finding(f'{{"{field}": {number}}}')
        assert (finding.code, finding.path) == ("out-of-range", field)


def test_bytes_may_be_a_list_of_numbers():
    assert accepted("extenders: [{tlsConfig: {caData: [104, 105, null]}}]\n")["extenders"][0]["tlsConfig"] == {"caData": "aGkA"}
    assert the_finding("extenders: [{tlsConfig: {caData: [256]}}]\n").code == "wrong-type"


@pytest.mark.parametrize(
    ("body", "path", "hint"),
    [
        ("leaderElection: {LeaderElect: true}\n", "leaderElection.LeaderElect", "did you mean leaderElect? Upper and lower case matter"),
        ("paralelism: 1\n", "paralelism", "did you mean parallelism?"),
        ("leaseDuration: 1s\n", "leaseDuration", "it is a field of leaderElection: check the indentation"),
        ("pluginConfig: []\n", "pluginConfig", "it is a field of profiles: check the indentation"),
        ("healthzBindAddress: ''\n", "healthzBindAddress", "it is a field of v1beta1 and v1beta2, not of v1"),
        ("profiles: [{plugins: {placementScore: {}}}]\n", "profiles[0].plugins.placementScore", "it is a field since Kubernetes 1.36"),
        ('"\\u00a0parallelism": 1\n', "\u00a0parallelism", "its name holds a no-break space"),
        ("metadata: {}\n", "metadata", "the fields here are apiVersion, clientConnection"),
        ("profiles: [{plugins: {score: {enable: []}}}]\n", "profiles[0].plugins.score.enable", "did you mean enabled?"),
        (
            args_of("NodeResourcesFit", "{IgnoredResources: []}"),
            "profiles[0].pluginConfig[0].args.IgnoredResources",
            "did you mean ignored",
        ),
    ],
)
def test_an_unknown_field_is_rejected_with_a_hint(body, path, hint):
    finding = the_finding(body)
    assert (finding.code, finding.path) == ("unknown-field", path)
    assert finding.hint.startswith(hint)


def test_place_of_an_unknown_field_is_its_name():
    finding = the_finding("profiles:\n- plugins:\n    score:\n      enable: []\n")
    assert (finding.line, finding.column) == (6, 7)


def test_all_errors_are_found_at_once():
    _config, findings = read("parallelism: x\nfoo: 1\nprofiles: [{schedulerName: 1}]\n")
    assert {finding.path for finding in findings} == {"parallelism", "foo", "profiles[0].schedulerName"}


@pytest.mark.parametrize(
    ("body", "minor", "known"),
    [
        ("delayCacheUntilActive: true\n", 28, True),
        ("delayCacheUntilActive: true\n", 27, False),
        ("profiles: [{percentageOfNodesToScore: 5}]\n", 26, True),
        ("profiles: [{percentageOfNodesToScore: 5}]\n", 25, False),
        ("profiles: [{plugins: {preEnqueue: {}}}]\n", 26, True),
        ("profiles: [{plugins: {preEnqueue: {}}}]\n", 25, False),
        ("profiles: [{plugins: {multiPoint: {}}}]\n", 23, True),
        ("profiles: [{plugins: {multiPoint: {}}}]\n", 22, False),
        ("profiles: [{plugins: {placementGenerate: {}}}]\n", 36, True),
        ("profiles: [{plugins: {placementGenerate: {}}}]\n", 35, False),
        ("profiles: [{plugins: {podGroupPostFilter: {}}}]\n", 37, True),
        ("profiles: [{plugins: {podGroupPostFilter: {}}}]\n", 36, False),
        ("healthzBindAddress: ''\n", 22, True),
        ("healthzBindAddress: ''\n", 23, False),
        (args_of("InterPodAffinity", "{ignorePreferredTermsOfExistingPods: true}"), 27, True),
        (args_of("InterPodAffinity", "{ignorePreferredTermsOfExistingPods: true}"), 26, False),
        (args_of("NodeResourcesFit", "{scoringStrategy: {}}"), 22, True),
        (args_of("NodeResourcesFit", "{scoringStrategy: {}}"), 21, False),
        (args_of("VolumeBinding", "{shape: []}"), 22, True),
        (args_of("VolumeBinding", "{shape: []}"), 21, False),
        (args_of("PodTopologySpread", "{defaultConstraints: [{minDomains: 1}]}"), 24, True),
        (args_of("PodTopologySpread", "{defaultConstraints: [{minDomains: 1}]}"), 23, False),
        (args_of("PodTopologySpread", "{defaultConstraints: [{matchLabelKeys: [a]}]}"), 25, True),
        (args_of("PodTopologySpread", "{defaultConstraints: [{matchLabelKeys: [a]}]}"), 24, False),
        (args_of("DynamicResources", "{bindingTimeout: 1s}"), 35, True),
        (args_of("DynamicResources", "{bindingTimeout: 1s}"), 34, False),
    ],
)
def test_a_field_is_known_only_since_its_release(body, minor, known):
    """In the newest version that the release serves."""
    findings = read(body, minor)[1]
    assert [finding.code for finding in findings] == ([] if known else ["unknown-field"])


@pytest.mark.parametrize(("version", "known"), [("v1beta2", True), ("v1beta3", False), ("v1", False)], ids=["v1beta2", "v1beta3", "v1"])
def test_a_field_is_unknown_in_a_version_without_it(version, known):
    findings = read("metricsBindAddress: ''\n", 26, version)[1]
    assert [finding.code for finding in findings] == ([] if known else ["unknown-field"])


# --- arguments of plugins ---


@pytest.mark.parametrize("args", ["5", "text", "[1, {a: b}]", "{any: {thing: 1}}"])
def test_arguments_without_a_type_are_taken_as_they_are(args):
    for plugin in ("ImageLocality", "Typo", "Coscheduling"):
        assert decoded_args(plugin, args) == parse(f"--- {args}\n")[0].value


@pytest.mark.parametrize("args", ["5", "text", "[1]", "true"])
def test_arguments_with_a_type_are_a_mapping(args):
    finding = the_finding(args_of("NodeResourcesFit", args))
    assert (finding.code, finding.path) == ("wrong-type", "profiles[0].pluginConfig[0].args")


@pytest.mark.parametrize("args", ["null", "{}"])
def test_no_arguments_are_empty_arguments(args):
    assert decoded_args("NodeResourcesFit", args) == {}
    assert accepted("profiles: [{pluginConfig: [{name: NodeResourcesFit}]}]\n")["profiles"][0]["pluginConfig"][0]["args"] == {}


def test_plugin_arguments_are_decoded_by_their_types():
    assert decoded_args("DynamicResources", "{filterTimeout: 1m}") == {"filterTimeout": Duration(60 * 10**9)}
    assert decoded_args("DynamicResources", "{filterTimeout: null}") == {}
    fit = "{scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 5}]}}"
    assert decoded_args("NodeResourcesFit", fit) == {
        "scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 5}]}
    }
    finding = the_finding(args_of("NodeResourcesFit", "{scoringStrategy: {resources: [{weight: '5'}]}}"))
    assert finding.path == "profiles[0].pluginConfig[0].args.scoringStrategy.resources[0].weight"


def test_arguments_may_name_their_type():
    assert decoded_args("NodeAffinity", f"{{apiVersion: {GROUP}/v1, kind: NodeAffinityArgs}}")["kind"] == "NodeAffinityArgs"
    for args in ("{kind: NodeAffinityArgs}", f"{{apiVersion: {GROUP}/v1}}", "{apiVersion: '', kind: ''}", "{apiVersion: /}"):
        decoded_args("NodeAffinity", args)


@pytest.mark.parametrize(
    ("args", "code", "field"),
    [
        ("{kind: InterPodAffinityArgs}", "wrong-kind", "kind"),
        ("{kind: Typo}", "wrong-kind", "kind"),
        ("{kind: 5}", "wrong-type", "kind"),
        (f"{{apiVersion: {GROUP}/v1beta3}}", "wrong-kind", "apiVersion"),
        ("{apiVersion: v1}", "wrong-kind", "apiVersion"),
        ("{apiVersion: a/b/c}", "wrong-kind", "apiVersion"),
    ],
)
def test_arguments_of_another_kind_or_version_are_rejected(args, code, field):
    finding = the_finding(args_of("NodeAffinity", args), 26)
    assert (finding.code, finding.path) == (code, f"profiles[0].pluginConfig[0].args.{field}")


def test_arguments_of_scheduler_plugins_are_typed_only_with_them():
    args = "{watcherAddress: 5}"
    assert decoded_args("TargetLoadPacking", args) == {"watcherAddress": 5}
    finding = the_finding(args_of("TargetLoadPacking", args), plugins=SCHEDULER_PLUGINS)
    assert finding.path == "profiles[0].pluginConfig[0].args.watcherAddress"


def test_quantities_in_plugin_arguments_are_parsed_or_rejected():
    args = decoded_args("TargetLoadPacking", "{defaultRequests: {cpu: 500m, memory: 2, b: 1.5, c: null}}", plugins=SCHEDULER_PLUGINS)
    assert {name: str(value) for name, value in args["defaultRequests"].items()} == {"cpu": "500m", "memory": "2", "b": "1500m", "c": "0"}
    assert isinstance(args["defaultRequests"]["cpu"], Quantity)
    for wrong in ("1Gb", "true", "[]", "''"):
        finding = the_finding(args_of("TargetLoadPacking", f"{{defaultRequests: {{cpu: {wrong}}}}}"), plugins=SCHEDULER_PLUGINS)
        assert finding.path == "profiles[0].pluginConfig[0].args.defaultRequests.cpu"


def test_messages_never_contain_values_of_arguments():
    secret = "s3cr3t"
    for body in (
        args_of(
            "TargetLoadPacking",
            f"{{metricProvider: {{token: [{secret}]}}, defaultRequests: {{cpu: {secret}}}, targetUtilization: {secret}}}",
        ),
        f"extenders: [{{tlsConfig: {{keyData: {secret}}}}}]\n",
    ):
        findings = read(body, plugins=SCHEDULER_PLUGINS)[1]
        assert findings
        assert not any(secret in finding.format() for finding in findings)


def test_fields_of_peaks_have_the_names_of_go():
    decoded_args("Peaks", "{WatcherAddress: x, NodePowerModel: {node: {k0: 1, k1: 0.5}}}", plugins=SCHEDULER_PLUGINS)
    finding = the_finding(args_of("Peaks", "{watcherAddress: x}"), plugins=SCHEDULER_PLUGINS)
    assert finding.hint == "did you mean WatcherAddress? Upper and lower case matter"


@pytest.mark.parametrize(
    ("plugin", "minors", "versions"),
    [
        ("NodeResourcesBalancedAllocation", range(22, 37), {"v1beta1", "v1beta2", "v1beta3", "v1"}),
        ("DynamicResources", range(34, 37), {"v1"}),
        ("NodeLabel", range(21, 23), {"v1beta1"}),
        ("RequestedToCapacityRatio", range(21, 23), {"v1beta1"}),
        ("NodeResourcesFit", range(21, 37), {"v1beta1", "v1beta2", "v1beta3", "v1"}),
        ("CapacityScheduling", range(21, 23), {"v1beta1"}),
        ("PreemptionToleration", range(22, 35), {"v1beta2", "v1beta3", "v1"}),
        ("TopologicalSort", range(24, 35), {"v1beta3", "v1"}),
        ("LowRiskOverCommitment", range(26, 35), {"v1beta3", "v1"}),
        ("SySched", range(28, 35), {"v1beta3", "v1"}),
        ("Peaks", range(31, 35), {"v1"}),
        ("Typo", range(0), set()),
    ],
)
def test_arguments_have_a_type_where_release_and_version_register_it(plugin, minors, versions):
    for minor in range(21, 35 if f"{plugin}Args" in SCHEDULER_PLUGINS_KINDS else 37):
        target = Target(minor, SCHEDULER_PLUGINS)
        for version in target.served:
            assert decode.registered(plugin, version, target) == (minor in minors and version in versions), (minor, version)


def test_capacity_scheduling_in_v1beta1_is_rejected_on_1_22():
    """Its arguments have a type that the release cannot convert; with another document or release there is no such thing."""
    for body in (args_of("CapacityScheduling", "{}"), "profiles: [{plugins: {filter: {enabled: [{name: CapacityScheduling}]}}}]\n"):
        assert the_finding(body, 22, "v1beta1", SCHEDULER_PLUGINS).code == "unsupported-plugin"
        accepted(body, 22, "v1beta2", SCHEDULER_PLUGINS)
        accepted(body, 21, "v1beta1", SCHEDULER_PLUGINS)
        accepted(body, 22, "v1beta1", IN_TREE)


def test_numbers_in_untyped_arguments_are_checked_up_to_1_22():
    body = '{"profiles": [{"pluginConfig": [{"name": "X", "args": [{"a": 1e400}]}]}]}'
    assert the_finding(body, 22).path == "profiles[0].pluginConfig[0].args[0].a"
    accepted(body, 23)


def test_arguments_of_custom_plugins_are_decoded_by_their_declared_types():
    custom = (
        CustomPlugin("Mine", ("score",), {"address": "string", "limits": "[]int32", "resources": "[]ResourceSpec", "wait": "*duration"}),
        CustomPlugin("Opaque", ("score",)),
    )
    args = "{address: a, limits: [1], resources: [{name: cpu}], wait: 5s}"
    assert decoded_args("Mine", args, custom=custom)["wait"] == Duration(5 * 10**9)
    assert the_finding(args_of("Mine", "{adress: a}"), custom=custom).hint == "did you mean address?"
    assert the_finding(args_of("Mine", "{limits: [x]}"), custom=custom).path == "profiles[0].pluginConfig[0].args.limits[0]"
    assert decoded_args("Opaque", "[1]", custom=custom) == [1]


@pytest.mark.parametrize("name", ["TargetLoadPacking", "NodeLabel"])
def test_custom_plugins_may_have_names_that_other_kube_schedulers_know(name):
    custom = (CustomPlugin(name, ("score",), {"mine": "string"}),)
    assert decoded_args(name, "{mine: a}", minor=35, custom=custom) == {"mine": "a"}
    assert the_finding(args_of(name, "{mine: 1}"), 35, custom=custom).code == "wrong-type"
    opaque = (CustomPlugin(name, ("score",)),)
    assert decoded_args(name, "{mine: 1}", minor=35, custom=opaque) == {"mine": 1}


# --- the table ---


def test_every_type_in_the_table_is_valid():
    for fields in STRUCTURES.values():
        for field in fields:
            field_types.parse_type(field.type)


def test_every_kind_has_fields_and_every_structure_is_used():
    kinds = {*IN_TREE_KINDS, *SCHEDULER_PLUGINS_KINDS}
    assert kinds <= set(STRUCTURES)
    named = {field_types.ROOT} | kinds
    for fields in STRUCTURES.values():
        for field in fields:
            kind = field_types.parse_type(field.type)
            named.add((kind.element or kind).structure)
    assert set(STRUCTURES) == named - {""}


def test_no_field_exists_twice_in_one_release():
    for name, rows in STRUCTURES.items():
        for minor in range(21, 37):
            for version in ("v1beta1", "v1beta2", "v1beta3", "v1"):
                names = [row.name for row in rows if row.since <= minor <= row.until and (not row.versions or version in row.versions)]
                assert len(names) == len(set(names)), (name, minor, version)


@pytest.mark.parametrize("wrong", ["strin", "[]", "map[int]string", "**x", "[]nothing", ""])
def test_an_invalid_type_of_a_field_is_rejected(wrong):
    with pytest.raises(ValueError, match="is no type"):
        field_types.parse_type(wrong)


# --- integers up to 1.22 ---


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("5000000035", 705032739),
        ("-5000000035", -705032739),
        ("2147483647", 2147483647),
    ],
)
def test_integers_that_are_too_large_wrap_around_up_to_1_22(written, read_as):
    text = f"profiles: [{{plugins: {{score: {{enabled: [{{name: A, weight: {written}}}]}}}}}}]\n"
    (entry,) = accepted(text, 22)["profiles"][0]["plugins"]["score"]["enabled"]
    assert entry["weight"] == read_as


def test_the_shortest_digits_of_a_float_in_yaml_are_read():
    # 82641776144906880000 - 4 * 2**64
    assert accepted("podInitialBackoffSeconds: 82641776144906883459\n", 22)["podInitialBackoffSeconds"] == 8854799850068673536


@pytest.mark.parametrize("written", ["2147483648", "4294967296", "99999999999"])
def test_most_integers_that_are_too_large_are_rejected_up_to_1_22(written):
    assert the_finding(f"parallelism: {written}\n", 22).code == "out-of-range"


def test_integers_that_are_too_large_are_rejected_since_1_23():
    assert the_finding("parallelism: 5000000035\n", 23).code == "out-of-range"
