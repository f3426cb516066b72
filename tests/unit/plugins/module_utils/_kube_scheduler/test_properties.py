# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What holds for every text whatsoever, and for every configuration that is accepted."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import RUN
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import generate
from oracle.documents import emit, targets

# Deterministic: a failure here is one everywhere; `make test-long` is for longer searches.
SOME = settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
FEWER = settings(SOME, max_examples=60)

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
TARGETS = st.sampled_from(targets())
# Pieces that mean something to YAML, to JSON, or to kube-scheduler.
PIECES = st.sampled_from(
    [*"\n\t \r:-?,[]{}#&*!|>'\"%@`\\0aé\ufeff\x00\x07\u2028\u00a0", "\n- ", "\n  ", ": ", "<<: ", "*a", "&a ", "---\n", "...\n", "!!int "]
    + ["profiles:", "plugins:", "score:", "enabled:", "name:", "args:", "pluginConfig:", "0x", "1e9", "~", "y", "\\u", "null", "1_0", HEAD]
    + ['{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",', '"profiles":[', "}", "%YAML 1.1\n", "!<x> "]
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.sampled_from(generate.WORDS))
KEYS = st.one_of(st.sampled_from(generate.FIELDS), st.sampled_from(generate.POINTS), st.text(max_size=4))
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)), max_leaves=25
)
GENERATED = st.builds(lambda target, number: (target, generate.document(*target, number)), TARGETS, st.integers(0, 10**6))


def well_formed(result, text):
    """What a Result says of itself is never contradictory."""
    lines = len(text.splitlines()) + 2 if isinstance(text, str) else text.count(b"\n") + text.count(b"\r") + 2
    assert result.valid == (result.config is not None)
    assert result.starts == (not result.errors)
    assert result.valid == (not [finding for finding in result.errors if finding.stage != RUN])
    for finding in result.findings:
        assert finding.message
        assert finding.code == finding.code.lower()
        assert finding.line is None or 1 <= finding.line <= lines or "\u2028" in str(text) or "\u0085" in str(text)
        assert finding.column is None or finding.column >= 1


@SOME
@given(st.binary(max_size=300), TARGETS)
def test_no_sequence_of_bytes_raises_an_exception(data, target):
    well_formed(check(data, f"1.{target[0]}", target[1]), data)


@SOME
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join)), st.booleans(), TARGETS)
def test_no_text_raises_an_exception(text, headed, target):
    text = HEAD + text if headed else text
    well_formed(check(text, f"1.{target[0]}", target[1]), text)


@SOME
@given(st.dictionaries(KEYS, ANYTHING, max_size=5), TARGETS, st.data())
def test_no_structure_of_fields_raises_an_exception(fields, target, data):
    version = data.draw(st.sampled_from(generate.served(target[0])))
    head = {"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": "KubeSchedulerConfiguration"}
    text = json.dumps({**head, **fields}, ensure_ascii=data.draw(st.booleans()))
    well_formed(check(text, f"1.{target[0]}", target[1]), text)


@SOME
@given(st.lists(st.text(max_size=40), max_size=4), TARGETS)
def test_no_list_of_flags_raises_an_exception(flags, target):
    check(HEAD, f"1.{target[0]}", target[1], flags)
    check(HEAD, f"1.{target[0]}", target[1], [f"--{flag}" for flag in flags])


@SOME
@given(GENERATED, st.data())
def test_no_damaged_configuration_raises_an_exception(generated, data):
    (minor, plugins), document = generated
    text = document.text if isinstance(document.text, str) else document.text.decode("utf-8", "replace")
    first, second = sorted(data.draw(st.integers(0, len(text))) for _end in range(2))
    text = text[:first] + data.draw(st.one_of(PIECES, st.just(""))) + text[second:]
    well_formed(check(text, f"1.{minor}", plugins, document.flags), text)


@SOME
@given(GENERATED)
def test_a_completed_configuration_is_complete(generated):
    """Checked once more it stays as it is, and the same plugins run.

    Not so in v1beta1 and v1beta2, where kube-scheduler itself forgets what was disabled.
    """
    (minor, plugins), document = generated
    first = check(document.text, f"1.{minor}", plugins, document.flags)
    if not first.valid or first.api_version.endswith(("v1beta1", "v1beta2")):
        return
    second = check(emit(first.config), f"1.{minor}", plugins, document.flags)
    assert second.config == first.config
    if minor > 25:  # up to 1.25 lists of three and more are mangled, each time anew
        assert second.effective == first.effective
    assert second.starts == first.starts


@FEWER
@given(GENERATED)
def test_yaml_and_json_mean_the_same(generated):
    (minor, plugins), document = generated
    result = check(document.text, f"1.{minor}", plugins, document.flags)
    if result.valid:
        texts = [emit(result.config), json.dumps(result.config), json.dumps(result.config, indent=1, ensure_ascii=False)]
        results = [check(text, f"1.{minor}", plugins) for text in texts]
        assert results[0].config == results[1].config == results[2].config
        assert results[0].effective == results[1].effective == results[2].effective
        assert len({frozenset((found.code, found.path) for found in result.findings) for result in results}) == 1


@pytest.mark.parametrize("text", ["", HEAD, "\ufeff" + HEAD, "x", "{", "[", "\x00", "\ud800"])
def test_a_text_and_its_bytes_get_the_same_verdict(text):
    as_text = check(text, "1.31")
    as_bytes = check(text.encode("utf-8", "surrogatepass"), "1.31")
    assert as_text.valid == as_bytes.valid
