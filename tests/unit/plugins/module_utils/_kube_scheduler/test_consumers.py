# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A configuration that `check` calls valid is valid for everything that works with it: there is one reader."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.diff import difference
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import masked, secret_texts
from ansible_collections.osso.scheduler.plugins.module_utils._gathering.masking import Masking
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_diff import diff
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.convert import convert
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.presets import PLACEHOLDERS
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import named_plugins
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring import prometheus_clients
from ansible_collections.osso.scheduler.plugins.module_utils._operand import plugin_requirements, prometheus_access
from ansible_collections.osso.scheduler.plugins.module_utils._operand.decision import APPLY, decide
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import config_validation
from ansible_collections.osso.scheduler.plugins.module_utils._static_pod import manifest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import generate
from oracle.documents import targets
from support.operand import facts
from support.static_pod import with_kubeconfig

SOME = settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
LOAD_AWARE = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: load-aware
  plugins:
    score:
      enabled:
      - name: TargetLoadPacking
  pluginConfig:
  - name: TargetLoadPacking
    args:
      metricProvider:
        type: Prometheus
        address: https://prometheus:9091
        token: planted-credential
"""
SECOND = "---\ntoken: planted-too\n"
DIALECTS = {
    "as documented": LOAD_AWARE,
    "second document": LOAD_AWARE + "---\nfoo: bar\n",
    "what is no YAML behind the first document": LOAD_AWARE + "---\n\tfoo: [\n",
    "tab after a colon": LOAD_AWARE.replace("address: ", "address:\t"),
    "unknown tag": LOAD_AWARE.replace("schedulerName: ", "schedulerName: !x "),
    "directive": "%YAML 1.1\n---\n" + LOAD_AWARE,
    "byte order mark": "\ufeff" + LOAD_AWARE,
    "escaped key": json.dumps(check(LOAD_AWARE, None).config).replace('"token"', '"t\\u006fken"').replace('"metricP', '"m\\u0065tricP'),
    "time": LOAD_AWARE + "# 2026-13-45\nleaderElection: {leaderElect: false, resourceName: 2026-13-45}\n",
}


def validated(text, kubernetes="1.31", plugins="scheduler-plugins", flags=()):
    """What the operator gets of its ConfigMap."""
    target = config_validation.resolve_target(None, kubernetes, plugins, flags, lambda: "", strict=False)
    return config_validation.validate(text, target, flags, PLACEHOLDERS)


def consume(text, kubernetes="1.31", plugins="scheduler-plugins", flags=()):
    """Everything that works with the text of a configuration, or with its tree."""
    config = validated(text, kubernetes, plugins, flags)
    assert config.valid
    tree = config.tree
    decide(facts(config=config))
    prometheus_clients.queried_prometheus(tree)
    prometheus_clients.watched_by(tree, "http://watcher:2020")
    prometheus_clients.holds_token(tree)
    prometheus_clients.too_many(tree)
    plugin_requirements.kinds(named_plugins(tree))
    prometheus_access.data(config.text, prometheus_access.Source(url="https://a", token="b", watcher_url="http://c"))
    secret_texts(tree)
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"config.yaml": text}}
    difference(config_map, None)
    Masking().cleaned(config_map)
    result = check(text, kubernetes, plugins, flags)
    assert diff(result, result) == []
    moved = check(with_kubeconfig(text), kubernetes, plugins, flags)
    assert (moved.valid, moved.effective, moved.scheduler_names) == (True, result.effective, result.scheduler_names)
    convert(text, kubernetes, "1.34", plugins, flags)


@pytest.mark.parametrize("text", DIALECTS.values(), ids=DIALECTS)
def test_all_consumers_read_every_dialect_of_a_load_aware_configuration(text):
    consume(text)
    config = validated(text)
    asked = prometheus_clients.queried_prometheus(config.tree)
    assert (asked.address, asked.token, asked.plugins) == ("https://prometheus:9091", "planted-credential", ["TargetLoadPacking"])
    decision = decide(facts(config=config))
    assert decision.action == APPLY
    # The scheduler does not log its configuration.
    assert "-v=1" in decision.desired["flags"]
    assert "planted" not in "".join(masked(text, ""))
    assert "planted" not in Masking().configuration(text)


GENERATED = st.builds(
    lambda target, number: (target, generate.document(*target, number)), st.sampled_from(targets()), st.integers(0, 10**6)
)
VARIANTS = st.sampled_from(
    [
        lambda text: text,
        lambda text: text + "\n---\na: [\n",
        lambda text: text + "\n...\n\x07",
        lambda text: text.replace(": ", ":\t"),
        lambda text: text.replace("schedulerName: ", "schedulerName: !x "),
        lambda text: text.replace("name: ", "name: !!str "),
        lambda text: text.replace("weight: ", "weight: !<x> "),
        lambda text: "%YAML 1.1\n--- &a\n" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\u0085\n", 1),
        lambda text: text + "\n? =\n: 1\n",
        lambda text: text.replace("\n", "\n# \U0001f600\n"),
    ]
)


@SOME
@given(GENERATED, VARIANTS, st.data())
def test_a_valid_configuration_raises_in_no_consumer(generated, variant, data):
    (minor, plugins), document = generated
    text = variant(document.text if isinstance(document.text, str) else document.text.decode("utf-8", "replace"))
    if data.draw(st.booleans()):
        first, second = sorted(data.draw(st.integers(0, len(text))) for _end in range(2))
        text = text[:first] + text[second:]
    if check(text, f"1.{minor}", plugins, document.flags).valid:
        consume(text, f"1.{minor}", plugins, document.flags)


def refusal(text):
    """What is said of a configuration for a static pod; empty where it is written."""
    try:
        with_kubeconfig(text)
    except InputError as error:
        return error.message
    return ""


LAUGHS = "a: &a [x, x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(24))


@pytest.mark.parametrize(
    "odd",
    [
        *(
            'a: !!int ""',
            "a: !!bool x",
            "a: !!timestamp x",
            "a: !!float ''",
            "a: [",
            "a: 0x_",
            "a: {[]: 1}",
            "a: !!python/name:os.system x",
        ),
        *(LAUGHS, "a: " + "[" * 100_000, '{"a": ' + "[" * 100_000, "\ud800", "- a", "5", ""),
    ],
)
def test_an_invalid_configuration_is_a_finding_without_credentials(odd):
    """The finding shows no credential."""
    text = f"kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1\ntoken: planted\n{odd}\n"
    for broken in (odd, text, odd + text):
        found = validated(broken)
        assert found.valid is False
        assert found.findings
        decide(facts(config=found))
        assert "planted" not in "".join(masked(broken, broken))
        assert "planted" not in json.dumps(Masking().cleaned({"kind": "ConfigMap", "metadata": {}, "data": {"config.yaml": broken}}))
        prometheus_clients.holds_token(found.tree)
        named_plugins(found.tree)
        assert "planted" not in refusal(broken)
        with pytest.raises(InputError):
            manifest.read(broken, "kube-scheduler.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "kind: KubeSchedulerConfiguration\n---\ntoken: planted\n",
        "---\n---\ntoken: planted\n",
        "a: {token: planted, token: null}\n",
        '{"token": "planted", "token": null}',
        '{"profiles": [{"pluginConfig": [{"args": {"token": "planted", "token": true}}]}]}',
    ],
)
def test_a_credential_that_the_reader_passes_over_is_not_shown(text):
    assert "planted" not in "".join(masked(text, text))


@pytest.mark.parametrize(
    "plugins", ['a: !!int ""', "[" * 100_000, '{"base": 1}', '{"extra": 5}', '{"extra": [{}]}', '{"extra": {"a": 1}}', "- a"]
)
def test_invalid_descriptions_of_plugins_make_the_target_unknown(plugins):
    """An annotation can contain them."""
    assert validated(LAUGHS, plugins=plugins).target.unknown


@pytest.mark.parametrize(
    "profiles",
    [
        5,
        [5],
        [{"plugins": 5}],
        [{"plugins": {"score": 5}}],
        [{"plugins": {"score": {"enabled": 5}}}],
        [{"plugins": {"score": {"enabled": [5, {}]}}}],
    ],
)
def test_a_malformed_document_names_no_plugins(profiles):
    assert not any(entries for points in named_plugins({"profiles": profiles}).values() for entries in points.values())


def test_the_plugins_that_a_configuration_names_are_found():
    assert named_plugins(check(LOAD_AWARE, None).tree) == {"load-aware": {"score": [("TargetLoadPacking", 0)]}}


def test_an_edited_manifest_keeps_quotes_that_kubelet_needs():
    """kubelet reads YAML as kube-scheduler does: a text that it would take for a number keeps its quotes."""
    text = 'kind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - {name: kube-scheduler, command: [kube-scheduler], env: [{name: A, value: "1e3"}]}\n'
    after = manifest.edited(manifest.read(text, "a"), None, {"v": "4"})
    assert manifest.read(after.text, "a").pod["spec"]["containers"][0]["env"] == [{"name": "A", "value": "1e3"}]


@pytest.mark.parametrize("record", ["[" * 100_000, "{", "5", '{"v": 5}'])
def test_a_damaged_record_of_flags_is_an_error(record):
    pod = {"kind": "Pod", "metadata": {"annotations": {manifest.BEFORE: record}}, "spec": {"containers": [{"name": "kube-scheduler"}]}}
    with pytest.raises(InputError, match="set the flags by hand"):
        manifest.read(json.dumps(pod), "a")
