# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a resource may override."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._operand import overrides
from hypothesis import given, settings
from hypothesis import strategies as st

FIELD = "spec.unsupportedConfigOverrides"
# Deterministic: a failure here is one everywhere.
SOME = settings(max_examples=200, deadline=None, derandomize=True, database=None)

USABLE = {
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}},
    "args": ["--feature-gates=A=true", "--kube-api-qps-burst=1", "--private", "--vmodule=a=1", "--tls-curve-preferences=X25519"],
    "command": ["/usr/bin/my-scheduler", "--serve"],
    "env": [{"name": "A", "value": ""}, {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
    "imagePullPolicy": "Always",
    "imagePullSecrets": [{"name": "a"}, {"name": "b"}],
    "nodeSelector": {"node-role.kubernetes.io/infra": ""},
    "podAnnotations": {"a/b": "c"},
    "podDisruptionBudget": {"maxUnavailable": "50%"},
    "priorityClassName": "system-cluster-critical",
    "progressDeadlineSeconds": 60,
    "resources": {"requests": {"cpu": 1, "memory": "50Mi"}, "limits": {"memory": "1Gi"}},
    "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}, {"operator": "Exists"}],
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}],
    "volumeMounts": [{"name": "data", "mountPath": "/data", "readOnly": True, "subPath": "x"}],
    "volumes": [{"name": "data", "configMap": {"name": "data"}}],
}


def test_the_table_of_usable_values_has_every_override():
    assert sorted(USABLE) == list(overrides.KNOWN) == sorted(overrides.KNOWN)


def test_valid_overrides_are_returned_unchanged():
    assert overrides.read(USABLE) == (USABLE, [])


@pytest.mark.parametrize("key", sorted(USABLE))
def test_each_override_can_be_given_alone(key):
    given = {name: USABLE[name] for name in USABLE if name in (key, "volumes" if key == "volumeMounts" else key)}
    assert overrides.read(given) == (given, [])


@pytest.mark.parametrize("value", [None, {}, {"args": None}, {"args": []}, {"env": [], "nodeSelector": {}, "resources": {}, "volumes": []}])
def test_empty_overrides_count_as_not_given(value):
    assert overrides.read(value) == ({}, [])


def test_an_empty_affinity_is_given_to_replace_the_operators():
    assert overrides.read({"affinity": {}}) == ({"affinity": {}}, [])


TAKEN = [
    ("--config=/x", "--config: spec.schedulerConfig does it"),
    ("--config", "--config: spec.schedulerConfig does it"),
    ("--leader-elect=false", "--leader-elect: the operator sets it"),
    ("--leader_elect=false", "--leader_elect: the operator sets it"),
    ("--leader-elect-lease-duration=1s", "--leader-elect-lease-duration: the operator sets it"),
    ("--leader-elect-resource-name=a", "--leader-elect-resource-name: the operator sets it"),
    ("--tls-min-version=VersionTLS13", "--tls-min-version: it follows the cluster's TLS profile"),
    ("--tls-cipher-suites=A", "--tls-cipher-suites: it follows the cluster's TLS profile"),
    ("--tls-cert-file=/x", "--tls-cert-file: it is the certificate of the scheduler's Service"),
    ("--secure-port=1", "--secure-port: probes and the metrics Service"),
    ("--bind-address=::1", "--bind-address: probes and the metrics Service"),
    ("--write-config-to=/x", "--write-config-to: the scheduler would end at once"),
    ("--version", "--version: the scheduler would end at once"),
    ("-h", "-h: the scheduler would end at once"),
    ("--kubeconfig=/x", "--kubeconfig, which kube-scheduler ignores beside a configuration; set clientConnection.kubeconfig in that."),
    ("--profiling=false", "--profiling, which kube-scheduler ignores beside a configuration; set enableProfiling in that."),
]


@pytest.mark.parametrize(("flag", "words"), TAKEN)
def test_flags_that_conflict_with_flags_of_the_operator_are_rejected(flag, words):
    found, problems = overrides.read({"args": ["--feature-gates=A=true", flag]})
    assert found == {}
    assert len(problems) == 1
    assert problems[0].startswith(f"{FIELD}.args[1] is {words}")


@pytest.mark.parametrize("flag", ["--v=4", "-v=4", "-v4", "-v"])
def test_u05_a_flag_for_the_log_level_is_rejected_in_favor_of_its_field(flag):
    name = flag.partition("=")[0]
    assert overrides.read({"args": [flag]})[1] == [f"{FIELD}.args[0] is {name}: spec.logLevel does it; remove it."]


@pytest.mark.parametrize("flag", ["value", "--name value", " --name=value", "-", "--", "", "--=x", "--a\n=b", "config=/x"])
def test_an_entry_that_is_no_flag_is_rejected(flag):
    assert overrides.read({"args": [flag]})[1] == [f"{FIELD}.args[0] is no flag; a flag and its value are one entry: --name=value."]


REFUSED = [
    # value, beginning of the one problem
    ("text", " is a text; it must be a mapping with any of affinity, args, "),
    ([], " is a list; it must be a mapping"),
    ({"arg": ["--a=b"]}, ".arg is unknown; did you mean args? Known are affinity, "),
    ({"servingInfo": {}}, ".servingInfo is unknown; known are affinity, "),
    ({"args": "--a=b"}, ".args is a text; it must be a list."),
    ({"args": [1]}, ".args[0] is a number; it must be a flag such as --name=value."),
    ({"args": ["-a=b"]}, ".args[0] begins with one hyphen; a flag has two: --name=value."),
    ({"affinity": {"podAntiAfinity": {}}}, ".affinity.podAntiAfinity is unknown; did you mean podAntiAffinity?"),
    ({"affinity": {"podAffinity": []}}, ".affinity.podAffinity is a list; it must be a mapping."),
    ({"command": []}, ".command is empty; it must begin with the path of the program in the image."),
    ({"command": "/bin/x"}, ".command is a text; it must be a list."),
    ({"command": ["/bin/x", 1]}, ".command[1] is a number; it must be text: put it into quotes."),
    ({"env": [{"value": "a"}]}, ".env[0].name is missing; add it."),
    ({"env": [{"name": "A", "value": 1}]}, ".env[0].value is a number; it must be text: put it into quotes."),
    ({"env": [{"name": "A", "value": True}]}, ".env[0].value is a boolean; it must be text: put it into quotes."),
    ({"env": [{"name": "A"}, {"name": "A"}]}, ".env[1].name is A, as in an earlier entry; remove one of them."),
    ({"env": ["A=b"]}, ".env[0] is a text; it must be a mapping."),
    ({"env": {"A": "b"}}, ".env is a mapping; it must be a list."),
    ({"imagePullPolicy": "always"}, ".imagePullPolicy must be one of Always, IfNotPresent, Never."),
    ({"imagePullSecrets": ["a"]}, ".imagePullSecrets[0] is a text; it must be a mapping."),
    ({"imagePullSecrets": [{"name": "a", "namespace": "b"}]}, ".imagePullSecrets[0].namespace is unknown; "),
    ({"nodeSelector": {"a": 1}}, ".nodeSelector.a is a number; it must be text: put it into quotes."),
    ({"nodeSelector": ["a"]}, ".nodeSelector is a list; it must be a mapping."),
    ({"podAnnotations": {"a": True}}, ".podAnnotations.a is a boolean; it must be text: put it into quotes."),
    ({"podDisruptionBudget": {}}, ".podDisruptionBudget must have exactly one of minAvailable and maxUnavailable."),
    ({"podDisruptionBudget": {"minAvailable": 1, "maxUnavailable": 1}}, ".podDisruptionBudget must have exactly one of "),
    (
        {"podDisruptionBudget": {"minAvailable": "half"}},
        ".podDisruptionBudget.minAvailable must be a whole number such as 1, or a percentage",
    ),
    ({"podDisruptionBudget": {"minAvailable": -1}}, ".podDisruptionBudget.minAvailable must be a whole number"),
    ({"podDisruptionBudget": {"minAvailable": True}}, ".podDisruptionBudget.minAvailable must be a whole number"),
    ({"priorityClassName": 1000}, ".priorityClassName is a number; it must be text: put it into quotes."),
    ({"priorityClassName": ""}, ".priorityClassName is empty; it must be text."),
    ({"progressDeadlineSeconds": 0}, ".progressDeadlineSeconds must be a whole number of at least 1."),
    ({"progressDeadlineSeconds": "60"}, ".progressDeadlineSeconds must be a whole number of at least 1."),
    ({"progressDeadlineSeconds": True}, ".progressDeadlineSeconds must be a whole number of at least 1."),
    ({"resources": {"cpu": 1}}, ".resources.cpu is unknown; known are claims, limits, requests."),
    ({"resources": {"limits": "1Gi"}}, ".resources.limits is a text; it must be a mapping."),
    ({"tolerations": [{"key": "a", "effect": "NoRun"}]}, ".tolerations[0].effect must be one of "),
    ({"tolerations": [{"key": "a", "operator": "In"}]}, ".tolerations[0].operator must be one of "),
    ({"tolerations": [{"key": "a", "value": True}]}, ".tolerations[0].value is a boolean; it must be text: put it into quotes."),
    ({"topologySpreadConstraints": {"maxSkew": 1}}, ".topologySpreadConstraints is a mapping; it must be a list."),
    ({"volumes": [{"emptyDir": {}}]}, ".volumes[0].name is missing; add it."),
    (
        {"volumes": [{"name": "config"}]},
        ".volumes[0].name is config, which the operator uses itself; choose another one than config, tmp, ",
    ),
    ({"volumes": [{"name": "a"}, {"name": "a"}]}, ".volumes[1].name is a, as in an earlier entry; remove one of them."),
    ({"volumeMounts": [{"name": "a", "mountPath": "/a"}]}, ".volumeMounts[0].name is a; no volume of that name is given: add it to "),
    ({"volumeMounts": [{"name": "tmp", "mountPath": "/a"}]}, ".volumeMounts[0].name is tmp, which the operator uses itself; "),
    ({"volumeMounts": [{"name": "a"}]}, ".volumeMounts[0].mountPath is missing; add it."),
    (
        {"volumes": [{"name": "a"}], "volumeMounts": [{"name": "a", "mountPath": "/etc/kubernetes/"}]},
        ".volumeMounts[0].mountPath is /etc/kubernetes, which the operator uses itself; choose another one than /etc/kubernetes, /tmp, ",
    ),
    (
        {"volumes": [{"name": "a"}], "volumeMounts": [{"name": "a", "mountPath": "/a"}, {"name": "a", "mountPath": "/a"}]},
        ".volumeMounts[1].mountPath is /a, as in an earlier entry; remove one of them.",
    ),
]


@pytest.mark.parametrize(("value", "words"), REFUSED)
def test_each_invalid_override_is_rejected_with_one_problem(value, words):
    found, problems = overrides.read(value)
    assert [problem for problem in problems if not problem.startswith(FIELD + words)] == []
    assert len(problems) == 1
    assert not isinstance(value, dict) or list(value)[-1] not in found


def test_every_problem_is_reported_and_the_rest_is_usable():
    found, problems = overrides.read({"args": ["--v=1", "x"], "bogus": 1, "priorityClassName": "a"})
    assert found == {"priorityClassName": "a"}
    assert len(problems) == 3


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["name", "value", "key", "mountPath", "operator", "minAvailable", "x"]), inner, max_size=3),
    ),
    max_leaves=8,
)


@SOME
@given(st.dictionaries(st.one_of(st.sampled_from(sorted(overrides.KNOWN)), st.text(max_size=4)), JSON, max_size=4))
def test_any_value_gets_overrides_or_problems(value):
    found, problems = overrides.read(value)
    assert set(found) <= set(value) & set(overrides.KNOWN)
    assert all(problem.startswith(FIELD) and problem.endswith(".") for problem in problems)
    # What is given and neither usable nor empty is told.
    assert problems or all(key in found or not value[key] for key in value)
    assert overrides.read(found)[0] == found


@SOME
@given(st.text(alphabet="ABCDEFabcdef0123456789_-", min_size=12, max_size=30).filter(lambda text: not text.startswith("-")))  # no flag
def test_no_value_that_may_be_a_secret_is_shown(secret):
    bad = {
        "env": [{"name": "A", "value": [secret]}, {"name": "B", "value": secret, "x": 1}],
        "args": [f"--config={secret}", f"--v {secret}", secret],
        "podAnnotations": {"a": [secret]},
        "volumes": [{"name": "tmp", "csi": secret}],
        "resources": secret,
    }
    problems = overrides.read(bad)[1]
    assert len(problems) == 8
    assert not [problem for problem in problems if secret in problem]
