# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The verdict about a KubeSchedulerConfiguration, and what it says."""

from __future__ import annotations

import time

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import Finding

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def the_finding(text) -> Finding:
    (finding,) = check(text, None).findings
    return finding


def place(finding) -> tuple:
    return (finding.code, finding.path, finding.line, finding.column)


@pytest.mark.parametrize(
    ("profiles", "names"),
    [
        ("", ("default-scheduler",)),
        ("profiles:\n", ("default-scheduler",)),
        ("profiles: []\n", ("default-scheduler",)),
        ("profiles: [{}]\n", ("default-scheduler",)),
        ("profiles: [null]\n", ("default-scheduler",)),
        ("profiles:\n- schedulerName: null\n", ("default-scheduler",)),
        ("profiles:\n- schedulerName: a\n- schedulerName: b\n", ("a", "b")),
        ("profiles:\n- &p {schedulerName: a}\n", ("a",)),
        ("profiles:\n- <<: {schedulerName: a}\n", ("a",)),
        ("profiles:\n- schedulerName: 1:30\n", ("1:30",)),  # a number for PyYAML, a string for kube-scheduler
    ],
)
def test_scheduler_names_are_read_from_the_profiles(profiles, names):
    result = check(HEAD + profiles, None)
    assert (result.valid, result.findings, result.scheduler_names) == (True, (), names)
    assert result.api_version == "kubescheduler.config.k8s.io/v1"


def test_config_is_the_parsed_document():
    assert check(HEAD + "parallelism: 0x10\n", None).config == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "parallelism": 16,
    }


@pytest.mark.parametrize(
    ("profiles", "expected"),
    [
        ("profiles:\n- schedulerName: a\n- schedulerName: a\n", ("duplicate-name", "profiles[1].schedulerName", 5, 18)),
        ("profiles:\n- schedulerName: a\n- {}\n", ("missing-name", "profiles[1].schedulerName", 5, 3)),
        ("profiles:\n- schedulerName: ''\n", ("missing-name", "profiles[0].schedulerName", 4, 18)),
        ("profiles:\n- schedulerName: y\n", ("wrong-type", "profiles[0].schedulerName", 4, 18)),
        ("profiles:\n- schedulerName: 08\n", ("wrong-type", "profiles[0].schedulerName", 4, 18)),
        ("profiles:\n- a\n", ("wrong-type", "profiles[0]", 4, 3)),
        ("profiles:\n  schedulerName: a\n", ("wrong-type", "profiles", 4, 3)),
        ("parallelism: 1\nparallelism: 2\n", ("duplicate-key", "parallelism", 4, 1)),
        ("profiles:\n- plugins: {}\n  plugins: {}\n", ("duplicate-key", "profiles[0].plugins", 5, 3)),
        ("b: &b {a: 1}\nc: {a: 2, <<: *b}\n", ("duplicate-key", "c.a", 4, 11)),
        ("b: [&b {k: 1}, &c {k: 2}]\nc: {<<: [*b, *c]}\n", ("duplicate-key", "c.k", 4, 5)),
        ("yes: 1\non: 2\n", ("duplicate-key", "true", 4, 1)),
    ],
)
def test_invalid_fields_are_rejected_with_code_and_place(profiles, expected):
    assert place(the_finding(HEAD + profiles)) == expected
    assert not check(HEAD + profiles, None).valid


@pytest.mark.parametrize(
    ("text", "expected", "hint"),
    [
        ("", ("empty-document", "", 1, 1), "apiVersion: kubescheduler.config.k8s.io/v1"),
        ("# only a comment\n", ("empty-document", "", 1, 1), "kind: KubeSchedulerConfiguration"),
        ("---\n---\n" + HEAD, ("empty-document", "", 1, 1), ""),
        ("- a\n", ("not-a-mapping", "", 1, 1), ""),
        (HEAD.replace("kind", "Kind"), ("missing-field", "kind", 2, 1), "write kind instead of Kind"),
        ("kind: KubeSchedulerConfiguration\n", ("missing-field", "apiVersion", 1, 1), "add apiVersion: "),
        ("apiVersion: v1\nkind: ConfigMap\n", ("wrong-type-of-document", "apiVersion", 1, 13), "under one of its keys"),
        ("apiVersion: v1\nkind: Policy\n", ("wrong-type-of-document", "apiVersion", 1, 13), "Kubernetes 1.22"),
        (HEAD.replace("/v1", "/v1/x"), ("wrong-type-of-document", "apiVersion", 1, 13), ""),
        (
            HEAD.replace("Configuration", "Config"),
            ("wrong-type-of-document", "kind", 2, 7),
            "KubeSchedulerConfiguration",
        ),
        (HEAD.replace("kubescheduler.config.k8s.io/v1", "1"), ("wrong-type-of-document", "apiVersion", 1, 13), ""),
        (HEAD + "profiles:\n\t- schedulerName: a\n", ("yaml-syntax", "", 4, 1), "indented with a tab"),
        (HEAD + "a: b: c\n", ("yaml-syntax", "", 3, 5), "quotes"),
        (HEAD + "a: [\n", ("yaml-syntax", "", 4, 1), ""),
        (HEAD + "a: *b\n", ("yaml-alias", "", 3, 4), "quotes"),
        (HEAD + "a: &b [*b]\n", ("yaml-alias", "", 3, 8), ""),
        (HEAD + "a: {{ b }}\n", ("yaml-key", "a", 3, 5), "template"),
        (HEAD + "a: {~: 1}\n", ("yaml-key", "a", 3, 5), ""),
        (HEAD + "a:\n  <<: 5\n", ("yaml-merge", "a", 4, 3), ""),
        (HEAD + "a: \x01\n", ("control-character", "", 3, 4), "invisible"),
        ("{apiVersion: v1}", ("json-syntax", "", 1, 2), "read as JSON"),
        ('{"a": 1} x', ("json-syntax", "", 1, 10), ""),
        (b"a: \xff\n", ("encoding", "", 1, 4), "UTF-8"),
    ],
)
def test_unusable_documents_are_rejected_with_place_and_hint(text, expected, hint):
    finding = check(text, None).findings[0]
    assert place(finding) == expected
    assert hint in finding.hint
    assert not check(text, None).valid


def test_json_is_read_as_json():
    text = '{\n\t"apiVersion": "kubescheduler.config.k8s.io/v1",\n\t"kind": "KubeSchedulerConfiguration"\n}'
    assert check(text, None).valid
    assert the_finding(text.replace("\n}", ',\n\t"kind": "x"\n}').replace('"x"', '"KubeSchedulerConfiguration"')).code == "duplicate-key"


def test_a_byte_order_mark_is_accepted_in_text_and_bytes():
    assert check("\ufeff" + HEAD, None).valid
    assert check(("\ufeff" + HEAD).encode(), None).valid
    # The mark hides the brace from kube-scheduler, which then reads YAML.
    assert check("\ufeff{apiVersion: v1}", None).api_version == "v1"


@pytest.mark.parametrize("rest", ["a: 1\n", "a: [\n", "\tbroken"])
def test_text_after_the_first_document_is_ignored_with_a_warning(rest):
    result = check(f"{HEAD}---\n{rest}", None)
    assert result.valid
    assert [(finding.code, finding.severity) for finding in result.findings] == [("ignored-document", "warning")]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "token: *s3cret\n",
        HEAD + "token: s3cret: x\n",
        HEAD + 'token: "s3cret\n',
        HEAD + "token: !s3cret! x\n",
        HEAD + "token: %s3cret\n",
        HEAD + "token: &s3cret\n - x\n y",
        '{"token": s3cret}',
        "s3cret",
    ],
)
def test_no_finding_quotes_the_document(text):
    result = check(text, None)
    assert not result.valid
    assert "s3cret" not in repr(result.findings)


def test_the_check_reports_several_findings_at_once():
    text = HEAD + "a: 1\na: 2\nprofiles:\n- schedulerName: x\n- schedulerName: x\n"
    assert [finding.code for finding in check(text, None).findings] == ["duplicate-key", "duplicate-name"]


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * 10000 + "]" * 10000,
        "a: " + "{a: " * 10000 + "}" * 10000,
        "".join("- " * 5000),
        "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 100)),
    ],
    ids=["lists", "mappings", "blocks", "aliases of aliases"],
)
def test_hostile_documents_are_rejected_within_two_seconds(text):
    started = time.thread_time()
    assert not check(text, None).valid
    assert time.thread_time() - started < 2


def test_a_finding_is_formatted_with_or_without_its_position():
    finding = Finding("error", "code", "is wrong", "a.b", 3, 4, "do this")
    assert finding.format("f.yaml") == "f.yaml:3:4: a.b: is wrong (do this)"
    assert finding.format("f.yaml", position=False) == "f.yaml: a.b: is wrong (do this)"
    assert Finding("error", "code", "is wrong").format() == "is wrong"
