# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Warnings: every one has a document that gets it and one, nearly the same, that does not."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import lint
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.releases import API_VERSIONS, NEWEST, OLDEST

SIGS = "scheduler-plugins"


class Rule(NamedTuple):
    """A document with a warning (code, path), and one without. version and the rest are for both."""

    name: str
    code: str
    path: str
    wrong: str
    right: str
    version: str = "v1"
    kubernetes: str = "1.31"
    plugins: str = "in-tree"
    flags: tuple[str, ...] = ()


def profile(body: str = "", name: str = "default-scheduler") -> str:
    return f"profiles:\n  - schedulerName: {name}\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ")


def plugins(body: str) -> str:
    return profile("plugins: {" + body + "}")


def args(plugin: str, body: str, also: str = "") -> str:
    return profile(f"pluginConfig: [{{name: {plugin}, args: {{{body}}}}}]\n{also}")


def extender(body: str) -> str:
    return f"extenders: [{{{body}}}]"


def prometheus(body: str) -> str:
    return args("TargetLoadPacking", f"metricProvider: {{type: Prometheus, {body}}}", PACKING)


OWN_LEASE = "leaderElection: {resourceName: mine, resourceNamespace: mine}"
PACKING = """
plugins:
  score:
    enabled: [{name: TargetLoadPacking}]
    disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]
"""
EXTENDER = "filterVerb: filter, urlPrefix: 'https://x', enableHTTPS: true"
CA = "tlsConfig: {caFile: /ca}"
TOKEN = "s3cr3t-token"
FOUR_SCORES = ", ".join(
    f"{{name: {name}, weight: 2}}" for name in ("NodeResourcesFit", "ImageLocality", "TaintToleration", "InterPodAffinity")
)

POOL = "{nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: Exists}]}]}"
SPREADING = """
pluginConfig:
  - {name: NodeAffinity, args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: POOL}}}
  - name: PodTopologySpread
    args: {defaultingType: List, defaultConstraints: [{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: WHEN}]}
""".replace("POOL", POOL)
LOAD_POINTS = "score: {enabled: [{name: PLUGIN}], disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]}"

RULES = [
    Rule(
        "collision of names",
        "name-collision",
        "profiles[0].schedulerName",
        f"{profile()}\n{OWN_LEASE}",
        f"{profile(name='mine')}\n{OWN_LEASE}",
    ),
    Rule(
        "collision of names, lease by flags",
        "name-collision",
        "profiles[0].schedulerName",
        f"{profile()}\nleaderElection: {{leaderElect: true}}",
        f"{profile(name='mine')}\nleaderElection: {{leaderElect: true}}",
        flags=("--leader-elect=true", "--leader-elect-resource-name=mine"),
    ),
    Rule(
        "collision of leases",
        "lease-collision",
        "leaderElection.resourceName",
        f"{profile(name='mine')}\nleaderElection: {{resourceName: kube-scheduler}}",
        f"{profile(name='mine')}\nleaderElection: {{resourceName: kube-scheduler, leaderElect: false}}",
    ),
    Rule("collision of default leases", "lease-collision", "leaderElection", profile(name="mine"), profile()),
    Rule(
        "flags override leader election",
        "overridden-by-flag",
        "leaderElection.leaseDuration",
        "leaderElection: {leaseDuration: 1m}",
        "leaderElection: {leaseDuration: 137s}",
        flags=("--leader-elect-lease-duration=2m17s",),
    ),
    Rule(
        "flags override whether to elect",
        "overridden-by-flag",
        "leaderElection.leaderElect",
        "leaderElection: {leaderElect: false}",
        "leaderElection: {leaderElect: true}",
        flags=("--leader-elect=true",),
    ),
    Rule(
        "kubeconfig",
        "kubeconfig",
        "clientConnection.kubeconfig",
        f"clientConnection: {{kubeconfig: /x}}\n{profile(name='mine')}",
        "clientConnection: {kubeconfig: /x}",
    ),
    Rule("placeholder", "placeholder", "profiles[0].schedulerName", profile(name="'${NAME}'"), profile(name="'$NAME'")),
    Rule("placeholder in angles", "placeholder", "profiles[0].schedulerName", profile(name="<name>"), profile(name="'a<b'")),
    Rule("placeholder of a template", "placeholder", "profiles[0].schedulerName", profile(name="'x-{{ name }}'"), profile(name="'x-{}'")),
    Rule("placeholder in words", "placeholder", "profiles[0].schedulerName", profile(name="replace_me"), profile(name="replacement")),
    Rule(
        "placeholder in arguments",
        "placeholder",
        "profiles[0].pluginConfig[0].args.metricProvider.address",
        prometheus("address: '${PROM_URL}'"),
        prometheus("address: 'http://prometheus:9090'"),
        plugins=SIGS,
    ),
    Rule("invisible character", "invisible-character", "profiles[0].schedulerName", profile(name='"a\\u00a0"'), profile(name='"\\u00e9"')),
    Rule(
        "token over http",
        "token-over-http",
        "profiles[0].pluginConfig[0].args.metricProvider.address",
        prometheus(f"address: 'http://x', token: {TOKEN}"),
        prometheus("address: 'http://x'"),
        plugins=SIGS,
    ),
    Rule(
        "token over http to the default address",
        "token-over-http",
        "profiles[0].pluginConfig[0].args.metricProvider",
        prometheus(f"token: {TOKEN}"),
        prometheus(f"address: 'https://x', token: {TOKEN}"),
        plugins=SIGS,
    ),
    Rule(
        "TLS off by default",
        "tls-off",
        "profiles[0].pluginConfig[0].args.metricProvider",
        prometheus(f"address: 'https://x', token: {TOKEN}"),
        prometheus(f"address: 'https://x', token: {TOKEN}, insecureSkipVerify: false"),
        plugins=SIGS,
    ),
    Rule(
        "TLS on where it is meant to be off",
        "tls-on",
        "profiles[0].pluginConfig[0].args.metricProvider.insecureSkipVerify",
        prometheus("address: 'https://x', insecureSkipVerify: true"),
        prometheus("address: 'http://x', insecureSkipVerify: true"),
        plugins=SIGS,
    ),
    Rule(
        "TLS off on demand",
        "tls-off",
        "profiles[0].pluginConfig[0].args.metricProvider.insecureSkipVerify",
        prometheus(f"address: 'https://x', token: {TOKEN}, insecureSkipVerify: true"),
        prometheus(f"address: 'https://x', token: {TOKEN}, insecureSkipVerify: false"),
        plugins=SIGS,
    ),
    Rule(
        "token in clear",
        "secret-in-clear",
        "profiles[0].pluginConfig[0].args.metricProvider.token",
        prometheus(f"address: 'https://x', token: {TOKEN}"),
        prometheus("address: 'https://x', token: '${TOKEN}'"),
        plugins=SIGS,
    ),
    Rule(
        "key in clear",
        "secret-in-clear",
        "extenders[0].tlsConfig.keyData",
        extender(f"{EXTENDER}, tlsConfig: {{caFile: /ca, certFile: /c, keyData: YQ==}}"),
        extender(f"{EXTENDER}, {CA}"),
    ),
    Rule(
        "token in the address of an extender",
        "secret-in-clear",
        "extenders[0].urlPrefix",
        extender("urlPrefix: 'https://x/a?access_token=abcd', filterVerb: filter, tlsConfig: {caFile: /ca}"),
        extender("urlPrefix: 'https://x/a?tokenFile=abcd', filterVerb: filter, tlsConfig: {caFile: /ca}"),
    ),
    Rule(
        "user in the address of a metric provider",
        "secret-in-clear",
        "profiles[0].pluginConfig[0].args.metricProvider.address",
        prometheus("address: 'http://user:word@x'"),
        prometheus("address: 'http://x'"),
        plugins=SIGS,
    ),
    Rule(
        "removed score disabled",
        "disabled-without-effect",
        "profiles[0].plugins.score.disabled[0].name",
        plugins("score: {disabled: [{name: NodeResourcesLeastAllocated}]}"),
        plugins("score: {disabled: [{name: NodeResourcesFit}]}"),
    ),
    Rule(
        "misspelt plugin disabled",
        "disabled-without-effect",
        "profiles[0].plugins.score.disabled[0].name",
        plugins("score: {disabled: [{name: ImageLocalty}]}"),
        plugins("score: {disabled: [{name: ImageLocality}]}"),
    ),
    Rule(
        "plugin disabled where it is not",
        "disabled-without-effect",
        "profiles[0].plugins.score.disabled[0].name",
        plugins("score: {disabled: [{name: NodeName}]}"),
        plugins("filter: {disabled: [{name: EBSLimits}]}"),
        kubernetes="1.30",
    ),
    Rule(
        "plugin disabled that is no default",
        "disabled-without-effect",
        "profiles[0].plugins.filter.disabled[0].name",
        plugins("filter: {disabled: [{name: CinderLimits}]}"),
        plugins("filter: {disabled: [{name: CinderLimits}]}, multiPoint: {enabled: [{name: CinderLimits}]}"),
        kubernetes="1.30",
    ),
    Rule(
        "plugin disabled under multiPoint",
        "disabled-without-effect",
        "profiles[0].plugins.multiPoint.disabled[0].name",
        plugins("multiPoint: {disabled: [{name: EBSLimits}]}"),
        plugins("multiPoint: {disabled: [{name: DynamicResources}]}"),
    ),
    Rule(
        "disabled in v1beta2",
        "disabled-without-effect",
        "profiles[0].plugins.score.disabled[0].name",
        plugins("score: {disabled: [{name: VolumeZone}]}"),
        plugins("score: {disabled: [{name: VolumeBinding}]}"),
        "v1beta2",
        "1.24",
    ),
    Rule("arguments of no plugin", "unused-args", "profiles[0].pluginConfig[0].name", args("NodeAfinity", ""), args("NodeAffinity", "")),
    Rule(
        "arguments of a plugin that takes none",
        "unused-args",
        "profiles[0].pluginConfig[0].name",
        args("ImageLocality", "a: 1"),
        args("InterPodAffinity", "hardPodAffinityWeight: 1"),
    ),
    Rule(
        "arguments of a plugin that does not run",
        "unused-args",
        "profiles[0].pluginConfig[0].name",
        args("DefaultPreemption", "minCandidateNodesAbsolute: 1", "plugins: {multiPoint: {disabled: [{name: DefaultPreemption}]}}"),
        args("DefaultPreemption", "minCandidateNodesAbsolute: 1", "plugins: {multiPoint: {disabled: [{name: ImageLocality}]}}"),
    ),
    Rule(
        "weight reset at score",
        "reset-weight",
        "profiles[0].plugins.score.enabled[0].name",
        plugins("score: {enabled: [{name: TaintToleration}]}"),
        plugins("score: {enabled: [{name: TaintToleration, weight: 1}]}"),
    ),
    Rule(
        "weight reset under multiPoint",
        "reset-weight",
        "profiles[0].plugins.multiPoint.enabled[0].name",
        plugins("multiPoint: {enabled: [{name: NodeAffinity}]}"),
        plugins("multiPoint: {enabled: [{name: ImageLocality}]}"),
    ),
    Rule(
        "weight reset in v1beta2",
        "reset-weight",
        "profiles[0].plugins.score.enabled[0].name",
        plugins("score: {enabled: [{name: PodTopologySpread}]}"),
        plugins("score: {enabled: [{name: TaintToleration}]}"),
        "v1beta2",
        "1.24",
    ),
    Rule(
        "weight zero",
        "weight-zero",
        "profiles[0].plugins.score.enabled[0].weight",
        plugins("score: {enabled: [{name: ImageLocality, weight: 0}]}"),
        plugins("score: {enabled: [{name: ImageLocality, weight: 1}]}"),
    ),
    Rule(
        "weight negative",
        "weight-negative",
        "profiles[0].plugins.multiPoint.enabled[0].weight",
        plugins("multiPoint: {enabled: [{name: ImageLocality, weight: -1}]}"),
        plugins("multiPoint: {enabled: [{name: ImageLocality, weight: 2}]}"),
    ),
    Rule(
        "weight at filter",
        "ignored-weight",
        "profiles[0].plugins.filter.enabled[0].weight",
        plugins("filter: {enabled: [{name: NodeName, weight: 2}]}"),
        plugins("filter: {enabled: [{name: NodeName}]}"),
    ),
    Rule(
        "weight of what is disabled",
        "ignored-weight",
        "profiles[0].plugins.score.disabled[0].weight",
        plugins("score: {disabled: [{name: ImageLocality, weight: 2}]}"),
        plugins("score: {disabled: [{name: ImageLocality}]}"),
    ),
    Rule(
        "two weights",
        "two-weights",
        "profiles[0].plugins.score.enabled[0]",
        plugins("multiPoint: {enabled: [{name: ImageLocality, weight: 5}]}, score: {enabled: [{name: ImageLocality, weight: 2}]}"),
        plugins("multiPoint: {enabled: [{name: ImageLocality, weight: 5}]}, score: {enabled: [{name: ImageLocality, weight: 5}]}"),
    ),
    Rule(
        "filter without preFilter",
        "partly-enabled",
        "profiles[0].plugins.preFilter.disabled[0].name",
        plugins("preFilter: {disabled: [{name: NodePorts}]}"),
        plugins("preFilter: {disabled: [{name: NodeAffinity}]}"),
    ),
    Rule(
        "score without preScore",
        "partly-enabled",
        "profiles[0].plugins.preScore.disabled[0].name",
        plugins("preScore: {disabled: [{name: '*'}], enabled: [{name: TaintToleration}, {name: PodTopologySpread}]}"),
        plugins(
            "preScore: {disabled: [{name: '*'}], enabled: [{name: TaintToleration}, {name: PodTopologySpread}, {name: InterPodAffinity}]}"
        ),
    ),
    Rule(
        "VolumeRestrictions since 1.27",
        "partly-enabled",
        "profiles[0].plugins.preFilter.disabled[0].name",
        plugins("preFilter: {disabled: [{name: VolumeRestrictions}]}"),
        plugins("multiPoint: {disabled: [{name: VolumeRestrictions}]}"),
        kubernetes="1.27",
    ),
    Rule(
        "volumes chosen and not bound",
        "partly-enabled",
        "profiles[0].plugins.preBind.disabled[0].name",
        plugins("preBind: {disabled: [{name: VolumeBinding}]}"),
        plugins("score: {disabled: [{name: VolumeBinding}]}"),
    ),
    Rule(
        "Coscheduling in part",
        "partly-enabled",
        "profiles[0].plugins.permit.enabled[0].name",
        plugins("permit: {enabled: [{name: Coscheduling}]}"),
        plugins("multiPoint: {enabled: [{name: Coscheduling}]}, queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}"),
        plugins=SIGS,
    ),
    Rule(
        "NetworkOverhead in part",
        "partly-enabled",
        "profiles[0].plugins.score.enabled[0].name",
        plugins("score: {enabled: [{name: NetworkOverhead}]}"),
        plugins("multiPoint: {enabled: [{name: NetworkOverhead}]}"),
        plugins=SIGS,
    ),
    Rule(
        "plugins that run twice",
        "runs-twice",
        "profiles[0].plugins.score.enabled",
        plugins(f"score: {{enabled: [{FOUR_SCORES}]}}"),
        plugins("score: {enabled: [{name: NodeResourcesFit, weight: 2}, {name: ImageLocality, weight: 2}]}"),
        kubernetes="1.25",
    ),
    Rule(
        "NodeResourcesFit does not filter",
        "fit-disabled",
        "profiles[0].plugins.multiPoint.disabled[0].name",
        plugins("multiPoint: {disabled: [{name: NodeResourcesFit}]}"),
        plugins("score: {disabled: [{name: NodeResourcesFit}]}"),
    ),
    Rule(
        "taints do not filter",
        "lost-filter",
        "profiles[0].plugins.filter.disabled[0].name",
        plugins("filter: {disabled: [{name: TaintToleration}]}"),
        plugins("filter: {disabled: [{name: InterPodAffinity}]}"),
    ),
    Rule(
        "nothing filters",
        "lost-filter",
        "profiles[0].plugins.filter.disabled[0].name",
        plugins("filter: {disabled: [{name: '*'}]}"),
        plugins("postFilter: {disabled: [{name: '*'}]}"),
    ),
    Rule(
        "two preemptions",
        "two-preemptions",
        "profiles[0].plugins.postFilter.enabled[0].name",
        plugins("postFilter: {enabled: [{name: PreemptionToleration}]}"),
        plugins("postFilter: {enabled: [{name: PreemptionToleration}], disabled: [{name: DefaultPreemption}]}"),
        plugins=SIGS,
    ),
    Rule(
        "Trimaran against requests",
        "contrary-scores",
        "profiles[0].plugins.score.enabled[0].name",
        args("TargetLoadPacking", "watcherAddress: 'http://x'", "plugins: {score: {enabled: [{name: TargetLoadPacking}]}}"),
        args("TargetLoadPacking", "watcherAddress: 'http://x'", PACKING),
        plugins=SIGS,
    ),
    Rule(
        "two of Trimaran",
        "contrary-scores",
        "profiles[0].plugins.score.enabled[1].name",
        profile(
            """
            plugins: {score: {enabled: [{name: LowRiskOverCommitment}, {name: Peaks}], disabled: [{name: NodeResourcesFit}]}}
            pluginConfig:
              - {name: LowRiskOverCommitment, args: {watcherAddress: "http://x"}}
              - {name: Peaks, args: {WatcherAddress: "http://x", NodePowerModel: {n: {k0: 1.0, k1: 1.0, k2: 1.0}}}}
            """
        ),
        args("LowRiskOverCommitment", "watcherAddress: 'http://x'", "plugins: {score: {enabled: [{name: LowRiskOverCommitment}]}}"),
        plugins=SIGS,
    ),
    Rule(
        "domains outside of the added affinity",
        "spread-beyond-affinity",
        "profiles[0].pluginConfig[1].args.defaultConstraints[0].whenUnsatisfiable",
        profile(SPREADING.replace("WHEN", "DoNotSchedule")),
        profile(SPREADING.replace("WHEN", "ScheduleAnyway")),
    ),
    *(
        Rule(
            f"{plugin} ignores {field}: {wrong}",
            "out-of-range",
            f"profiles[0].pluginConfig[0].args.{place}",
            args(plugin, f"watcherAddress: 'http://x', {field}: {wrong}", f"plugins: {{{LOAD_POINTS.replace('PLUGIN', plugin)}}}"),
            args(plugin, f"watcherAddress: 'http://x', {field}: {right}", f"plugins: {{{LOAD_POINTS.replace('PLUGIN', plugin)}}}"),
            plugins=SIGS,
        )
        for plugin, field, wrong, right, place in [
            ("TargetLoadPacking", "targetUtilization", "101", "100", "targetUtilization"),
            ("TargetLoadPacking", "targetUtilization", "0", "1", "targetUtilization"),
            ("LoadVariationRiskBalancing", "safeVarianceMargin", "-0.5", "0", "safeVarianceMargin"),
            ("LoadVariationRiskBalancing", "safeVarianceSensitivity", "-1", "0.5", "safeVarianceSensitivity"),
            ("LowRiskOverCommitment", "smoothingWindowSize", "0", "1", "smoothingWindowSize"),
            ("LowRiskOverCommitment", "riskLimitWeights", "{cpu: 1.5}", "{cpu: 1}", "riskLimitWeights.cpu"),
        ]
    ),
    Rule(
        "all nodes scored",
        "percentage-extreme",
        "percentageOfNodesToScore",
        "percentageOfNodesToScore: 100",
        "percentageOfNodesToScore: 99",
    ),
    Rule(
        "few nodes scored", "percentage-extreme", "percentageOfNodesToScore", "percentageOfNodesToScore: 4", "percentageOfNodesToScore: 5"
    ),
    Rule(
        "few nodes scored by a profile",
        "percentage-extreme",
        "profiles[0].percentageOfNodesToScore",
        profile("percentageOfNodesToScore: 1"),
        profile("percentageOfNodesToScore: 0"),
    ),
    Rule("parallelism", "parallelism", "parallelism", "parallelism: 257", "parallelism: 256"),
    Rule("backoff", "long-backoff", "podMaxBackoffSeconds", "podMaxBackoffSeconds: 3601", "podMaxBackoffSeconds: 3600"),
    Rule("v1beta2 ends", "deprecated-version", "apiVersion", "", "parallelism: 16", "v1beta2", "1.25"),
    Rule(
        "extender without a verb",
        "extender-unused",
        "extenders[0]",
        extender("urlPrefix: 'http://x'"),
        extender("urlPrefix: 'http://x', bindVerb: b"),
    ),
    Rule(
        "extender without an address",
        "extender-address",
        "extenders[0].urlPrefix",
        extender("urlPrefix: x, bindVerb: b"),
        extender("urlPrefix: 'http://x', bindVerb: b"),
    ),
    Rule("extender without CA", "tls-off", "extenders[0].enableHTTPS", extender(EXTENDER), extender(f"{EXTENDER}, {CA}")),
    Rule(
        "extender without TLS",
        "tls-off",
        "extenders[0].tlsConfig",
        extender("filterVerb: f, urlPrefix: 'https://x', tlsConfig: {insecure: true}"),
        extender("filterVerb: f, urlPrefix: 'https://x', tlsConfig: {insecure: false}"),
    ),
    Rule(
        "extender by http",
        "tls-off",
        "extenders[0].urlPrefix",
        extender(f"filterVerb: f, urlPrefix: 'http://x', enableHTTPS: true, {CA}"),
        extender("filterVerb: f, urlPrefix: 'http://x'"),
    ),
    Rule(
        "extender with a long timeout",
        "extender-timeout",
        "extenders[0].httpTimeout",
        extender("urlPrefix: 'http://x', bindVerb: b, httpTimeout: 31s"),
        extender("urlPrefix: 'http://x', bindVerb: b, httpTimeout: 30s"),
    ),
    Rule(
        "ignored resources overwritten",
        "ignored-field",
        "profiles[0].pluginConfig[0].args.ignoredResources",
        args("NodeResourcesFit", "ignoredResources: [a/b]")
        + "\n"
        + extender("urlPrefix: 'http://x', bindVerb: b, managedResources: [{name: x.y/z, ignoredByScheduler: true}]"),
        args("NodeResourcesFit", "ignoredResources: [a/b]")
        + "\n"
        + extender("urlPrefix: 'http://x', bindVerb: b, managedResources: [{name: x.y/z}]"),
    ),
    Rule(
        "multiPoint in v1beta2",
        "ignored-field",
        "profiles[0].plugins.multiPoint",
        plugins("multiPoint: {disabled: [{name: ImageLocality}]}"),
        plugins("score: {disabled: [{name: ImageLocality}]}"),
        "v1beta2",
        "1.24",
    ),
    Rule(
        "preEnqueue in v1beta3",
        "ignored-field",
        "profiles[0].plugins.preEnqueue",
        plugins("preEnqueue: {disabled: [{name: SchedulingGates}]}"),
        plugins("multiPoint: {disabled: [{name: SchedulingGates}]}"),
        "v1beta3",
        "1.28",
    ),
    Rule(
        "gangs without their gate",
        "gang-gate",
        "profiles[0].plugins.multiPoint.enabled[0].name",
        plugins("multiPoint: {enabled: [{name: GangScheduling}]}"),
        plugins("multiPoint: {disabled: [{name: GangScheduling}]}"),
        kubernetes="1.37",
    ),
    Rule(
        "devices without their gate",
        "dra-gate",
        "profiles[0].plugins.multiPoint.enabled[0].name",
        plugins("multiPoint: {enabled: [{name: DynamicResources}]}"),
        plugins("multiPoint: {disabled: [{name: DynamicResources}]}"),
        kubernetes="1.33",
    ),
    Rule(
        "ratio of another strategy",
        "ignored-field",
        "profiles[0].pluginConfig[0].args.scoringStrategy.requestedToCapacityRatio",
        args("NodeResourcesFit", "scoringStrategy: {type: MostAllocated, requestedToCapacityRatio: {shape: [{utilization: 0, score: 1}]}}"),
        args(
            "NodeResourcesFit",
            "scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 0, score: 1}]}}",
        ),
    ),
]


def text(version: str, body: str = "") -> str:
    return f"apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\n{body}\n"


def warnings(rule: Rule, body: str) -> list[tuple[str, str]]:
    result = check(text(rule.version, body), rule.kubernetes, rule.plugins, rule.flags)
    assert result.valid, [found.format() for found in result.errors]
    assert all(found.line and found.hint for found in result.warnings)
    assert TOKEN not in str(result.findings)
    return [(found.code, found.path) for found in result.warnings]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_document_of_each_rule_gets_its_warning(rule):
    assert (rule.code, rule.path) in warnings(rule, rule.wrong)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.code != "deprecated-version"], ids=lambda rule: rule.name)
def test_a_nearly_equal_document_gets_no_warning(rule):
    assert rule.code not in [code for code, _path in warnings(rule, rule.right)]


IN_PART = [
    ("NodeResourcesFit", "filter", "preFilter"),
    ("NodePorts", "filter", "preFilter"),
    ("PodTopologySpread", "filter", "preFilter"),
    ("InterPodAffinity", "filter", "preFilter"),
    ("VolumeRestrictions", "filter", "preFilter"),
    ("VolumeBinding", "filter", "preFilter"),
    ("VolumeBinding", "filter", "reserve"),
    ("VolumeBinding", "filter", "preBind"),
    ("TaintToleration", "score", "preScore"),
    ("PodTopologySpread", "score", "preScore"),
    ("InterPodAffinity", "score", "preScore"),
    ("Coscheduling", "permit", "preFilter"),
    ("Coscheduling", "permit", "reserve"),
    ("Coscheduling", "reserve", "permit"),
    ("CapacityScheduling", "preFilter", "reserve"),
    ("CapacityScheduling", "reserve", "preFilter"),
    ("CapacityScheduling", "preFilter", "postFilter"),
    ("NetworkOverhead", "filter", "preFilter"),
    ("NetworkOverhead", "score", "preFilter"),
]


@pytest.mark.parametrize(("plugin", "point", "other"), IN_PART)
def test_a_plugin_that_is_disabled_at_one_of_its_points_gets_a_warning(plugin, point, other):
    """A plugin that runs everywhere but at one point, and one that runs at one point only."""
    body = f"multiPoint: {{enabled: [{{name: {plugin}, weight: 3}}]}}, {other}: {{disabled: [{{name: {plugin}}}]}}"
    if plugin == "Coscheduling":
        body += ", queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}"
    result = check(text("v1", plugins(body)), "1.31", SIGS)
    assert result.valid
    messages = [found.message for found in result.warnings if found.code == "partly-enabled" and point in found.message]
    assert len([message for message in messages if plugin in message and f"not at {other}" in message]) == 1


def test_volume_restrictions_need_pre_filter_since_1_27():
    body = text("v1", plugins("preFilter: {disabled: [{name: VolumeRestrictions}]}"))
    assert [bool(check(body, kubernetes).warnings) for kubernetes in ("1.26", "1.27")] == [False, True]


@pytest.mark.parametrize(
    ("plugin", "point"), [("DynamicResources", "multiPoint"), ("DynamicResources", "filter"), ("SchedulingGates", "preEnqueue")]
)
def test_disabling_a_plugin_that_a_feature_gate_would_add_is_no_mistake(plugin, point):
    body = text("v1", plugins(f"{point}: {{disabled: [{{name: {plugin}}}]}}"))
    assert check(body, "1.26").warnings == ()


@pytest.mark.parametrize("plugin", ["NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodeName", "NodePorts", "VolumeBinding"])
def test_a_disabled_important_filter_gets_a_warning(plugin):
    result = check(text("v1", plugins(f"filter: {{disabled: [{{name: {plugin}}}]}}")), "1.31")
    assert [found.path for found in result.warnings if found.code == "lost-filter"] == ["profiles[0].plugins.filter.disabled[0].name"]


@pytest.mark.parametrize("plugin", ["NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio"])
def test_a_disabled_score_that_node_resources_fit_replaces_gets_a_hint(plugin):
    (found,) = check(text("v1", plugins(f"score: {{disabled: [{{name: {plugin}}}]}}")), "1.31").warnings
    assert "NodeResourcesFit" in found.hint


@pytest.mark.parametrize(
    ("plugin", "kubernetes"), [("CapacityScheduling", "1.31"), ("PreemptionToleration", "1.31"), ("CrossNodePreemption", "1.22")]
)
def test_a_plugin_that_preempts_beside_the_default_gets_a_warning(plugin, kubernetes):
    version = "v1" if kubernetes == "1.31" else "v1beta2"
    body = plugins(f"postFilter: {{enabled: [{{name: {plugin}}}]}}")
    assert "two-preemptions" in [found.code for found in check(text(version, body), kubernetes, SIGS).warnings]


@pytest.mark.parametrize("other", ["NodeResourcesFit", "NodeResourcesBalancedAllocation"])
@pytest.mark.parametrize("plugin", ["TargetLoadPacking", "LoadVariationRiskBalancing"])
def test_scoring_by_load_and_by_requests_gets_a_warning(plugin, other):
    disabled = {"NodeResourcesFit", "NodeResourcesBalancedAllocation"} - {other}
    body = f"plugins: {{score: {{enabled: [{{name: {plugin}}}], disabled: [{{name: {disabled.pop()}}}]}}}}"
    result = check(text("v1", args(plugin, "watcherAddress: 'http://x'", body)), "1.31", SIGS)
    assert [other in found.message for found in result.warnings if found.code == "contrary-scores"] == [True]


def test_known_placeholders_get_no_finding():
    body = prometheus("address: '${PROM_URL}', token: '${OTHER}'")
    filled = check(text("v1", body), "1.31", plugins=SIGS, placeholders=["${PROM_URL}"])
    assert [finding.path for finding in filled.findings if finding.code == "placeholder"] == [
        "profiles[0].pluginConfig[0].args.metricProvider.token"
    ]


def test_every_warning_has_a_rule():
    codes = set(re.findall(r'warn(?:ing)?\(\s*"([a-z-]+)"', Path(lint.__file__).read_text(encoding="utf-8")))
    assert codes == {rule.code for rule in RULES}


@pytest.mark.parametrize("version", API_VERSIONS)
def test_a_configuration_of_defaults_gets_no_warning(version):
    first, last = API_VERSIONS[version]
    for minor in range(max(first, OLDEST), (last or NEWEST) + 1):
        result = check(text(version), f"1.{minor}")
        assert [found.code for found in result.findings if found.code != "deprecated-version"] == []


@pytest.mark.parametrize(("version", "since"), [("v1beta1", 22), ("v1beta2", 25), ("v1beta3", 26)])
def test_a_version_is_deprecated_from_the_release_that_logs_it(version, since):
    first, last = API_VERSIONS[version]
    deprecated = [minor for minor in range(max(first, OLDEST), last + 1) if check(text(version), f"1.{minor}").warnings]
    assert deprecated == list(range(since, last + 1))


def test_a_right_configuration_of_second_schedulers_gets_no_warning():
    text = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: true, resourceName: mine, resourceNamespace: mine}
profiles:
  - schedulerName: load-aware
    plugins:
      queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
      score:
        enabled: [{name: LoadVariationRiskBalancing, weight: 5}]
        disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]
    pluginConfig:
      - name: LoadVariationRiskBalancing
        args: {safeVarianceMargin: 1, metricProvider: {type: Prometheus, address: "http://prometheus:9090"}}
  - schedulerName: groups
    plugins:
      multiPoint: {enabled: [{name: Coscheduling}]}
      queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
"""
    result = check(text, "1.31", SIGS)
    assert [found.format() for found in result.findings] == []


def test_a_consequence_of_an_error_is_no_warning():
    text = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {filter: {disabled: [{name: "*"}], enabled: [{name: Nonsense}]}}}]
"""
    assert check(text, "1.31").warnings == ()


@pytest.mark.parametrize(
    "body",
    [
        "profiles: 5",
        "profiles: [5, {plugins: 5}, {plugins: {score: 5}}, {plugins: {score: {enabled: 5, disabled: [5, {name: 5}]}}}]",
        "profiles: [{pluginConfig: 5}, {pluginConfig: [5, {name: 5}, {name: a, args: 5}, {name: NodeResourcesFit, args: {scoringStrategy: 5}}]}]",
        "profiles: [{pluginConfig: [{name: X, args: {metricProvider: {type: Prometheus, address: 5, token: 5}}}]}]",
        "extenders: [5, {tlsConfig: 5, urlPrefix: 5, managedResources: 5}]",
        "leaderElection: 5",
        "leaderElection: {leaseDuration: 5, renewDeadline: x}",
        "clientConnection: 5",
        "percentageOfNodesToScore: {}",
        "a: &a {b: [1]}\nc: [*a, *a]",
    ],
)
def test_documents_of_the_wrong_types_only_get_errors(body):
    for plugin_set in ("in-tree", SIGS):
        result = check(f"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{body}\n", "1.31", plugin_set)
        assert result.errors or "metricProvider" in body
