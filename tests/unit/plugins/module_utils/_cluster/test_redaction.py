# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Credentials in texts for people: masked in diffs, cut from messages."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import (
    NOT_SHOWN,
    cut,
    cut_lines,
    holds_credential,
    masked,
    one_line,
    redacted,
    scrub,
    secret_texts,
)


def test_secret_texts_are_below_keys_of_credentials_and_in_urls():
    document = {
        "password": {"deep": ["text-1", {"er": "text-2"}], "number": 12345, "flag": True, "none": None, "short": "abc", "four": "abcd"},
        "token": "${PROM_TOKEN}",
        "apiKey": "${lower}",
        "plain": ["text-3", "https://user:pass@host/path and http://other@host", "user@host"],
        "addresses": ["me:wo:r/d@host:9090", "host?a=1&access_token=text%205&b=2", "h#token=text-6;b=1"],
        "harmless": [
            "reg:1/image:tag@sha256:0abc",
            "a:tag@sha256:0abc",
            "h?tokens",
            "h?tokenFile=/file",
            "h?token=${PROM_TOKEN}",
            "h?token=abc",
        ],
        7: "text-4",
    }
    assert secret_texts(document) == {"text-1", "text-2", "12345", "abcd", "${lower}", "user:pass", "other", "wo:r/d", "text%205", "text-6"}
    assert secret_texts(None) == set()


def test_the_longest_secret_is_masked_first():
    assert scrub("abc ab abcd ab", ["ab", "abcd", "abc", "ab"]) == "******** ******** ******** ********"
    assert scrub("text", []) == "text"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(
            "token: planted-1\nb: one\n",
            "token: planted-2\nb: two\n",
            ("token: '******** (before)'\nb: one\n", "token: '******** (after)'\nb: two\n"),
            id="changed",
        ),
        pytest.param("token: planted # c\n", "a: 1\ntoken: planted\n", ("token: '********'\n", "a: 1\ntoken: '********'\n"), id="the same"),
        pytest.param("", "token: planted\n", ("", "token: '********'\n"), id="new"),
        pytest.param("token: planted\n", "", ("token: '********'\n", ""), id="removed"),
        pytest.param(
            "token: planted\n", "b:   1 # kept, as there is no secret\n", ("token: '********'\n", "b: 1\n"), id="only one has a secret"
        ),
        pytest.param("b:   1 # comment\n", "b:   2\n", ("b:   1 # comment\n", "b:   2\n"), id="no secrets"),
        pytest.param("token: [planted\n", "b: 1\n", (NOT_SHOWN, "b: 1\n"), id="no YAML, with the word of a secret"),
        pytest.param("http://me:planted@h: [\n", "", (NOT_SHOWN, ""), id="no YAML, with a user in a URL"),
        pytest.param("b: [\n", "c: {\n", ("b: [\n", "c: {\n"), id="no YAML, no secret"),
        pytest.param("token: planted\n", "b: [\n", ("token: '********'\n", "b: [\n"), id="a secret, and no YAML"),
        pytest.param("a: 1\n---\ntoken: planted\n", "", (NOT_SHOWN, ""), id="a secret in a second document"),
        pytest.param("token: '${A}'\ntoken: b\n", "", (NOT_SHOWN, ""), id="a key that is there twice"),
        pytest.param("token: planted-1\ntoken: planted-2\n", "", ("token: '********'\n", ""), id="a secret that is there twice"),
        pytest.param(
            "u: http://me@h/ x\n",
            "u: http://you@h/ x\n",
            ("u: http://******** (before)@h/ x\n", "u: http://******** (after)@h/ x\n"),
            id="URLs",
        ),
        pytest.param(
            "u: http://h?apikey=planted-1\n",
            "u: me:planted-2@h\n",
            ("u: http://h?apikey=******** (before)\n", "u: me:******** (after)@h\n"),
            id="a parameter, an address without a scheme",
        ),
        pytest.param(
            "tokn: eyJhbGciOiJ.planted-1 b\n",
            "tokn: sha256~planted-2\n",
            ("tokn: '******** (before) b'\n", "tokn: '******** (after)'\n"),
            id="tokens below other keys",
        ),
        pytest.param("token: !planted\n", "token: &planted b\n", (NOT_SHOWN, NOT_SHOWN), id="a tag and an anchor"),
        pytest.param("token: !planted abcd\n", "b: 1\n", ("token: '********'\n", "b: 1\n"), id="a tag and a value"),
        pytest.param("tokn: [eyJhbGciOiJ.planted\n", "b: 1\n", (NOT_SHOWN, "b: 1\n"), id="no YAML, with a token"),
        pytest.param(
            "b:   1 # was eyJhbGciOiJ.planted\n# at http://me:planted@h/\n# token: planted\n# password:\n#   planted\nc: d#token:e\n",
            "b:   2 # no token\n",
            (
                "b:   1 # was ********\n# at http://********@h/\n# token: ********\n# password: ********\n#   ********\nc: d#token:e\n",
                "b:   2 # no token\n",
            ),
            id="comments",
        ),
        pytest.param(
            "u: h?token=me:planted@h\n", "u: h?token=me:planted@h\n", ("u: h?token=********\n", "u: h?token=********\n"), id="masked once"
        ),
    ],
)
def test_texts_of_a_diff_are_masked(before, after, expected):
    assert masked(before, after) == expected


def test_a_text_contains_a_credential_if_a_diff_would_mask_it():
    assert holds_credential("token: planted\n")
    assert holds_credential("token: [planted\n")
    assert holds_credential("a: 1 # token: planted\n")
    assert not holds_credential("a: planted # comment\n")
    assert not holds_credential("token: '${PROM_TOKEN}'\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("flag -token=planted rest", "flag -token= ********"),
        ('{"keyData" : "planted"}', '{"keyData" : ********'),
        ("caData: planted", "caData: ********"),
        ("ca-data=planted", "ca-data= ********"),
        ('password\\n": planted', 'password\\n": ********'),
        ("header Bearer planted", "header Bearer ********"),
        ("Object 'Kind' is missing in 'planted", "Object 'Kind' is missing in ' ********"),
        ("yaml: cannot decode !!str `planted", "yaml: cannot decode !!str ` ********"),
        ("yaml: cannot unmarshal !!map `planted", "yaml: cannot unmarshal !!map ` ********"),
        ("yaml: unknown anchor 'planted", "yaml: unknown anchor ' ********"),
        ("a token is missing", "a token is missing"),
        ("", ""),
    ],
)
def test_a_line_is_cut_before_a_credential(line, expected):
    assert cut(line) == expected
    assert redacted(line) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password:\nplanted\nshown", "password: ********\n********\nshown"),
        ("password:\n  planted\n  planted\nkey: shown", "password: ********\n  ********\n  ********\nkey: shown"),
        ("password: planted\nshown", "password: ********\nshown"),
    ],
)
def test_lines_below_a_cut_line_are_masked(text, expected):
    assert "\n".join(cut_lines(text.split("\n"))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, ""),
        (" a\n\tb  c ", "a b c"),
        ("before eyJhbGciOiJSUzI1NiJ9.x after", "before ********"),
        ("get https://me:planted@host failed", "get https********"),
        ('User "oidc:jane@example.com" cannot create', 'User "oidc:jane@example.com" cannot create'),
        ("get https://host/a?x=1&api_key=planted failed", "get https://host/a?x=1********"),
        ("x" * 600, "x" * 600),
        ("x" * 601, "x" * 596 + " ..."),
    ],
)
def test_a_text_in_one_line_is_short_and_without_credentials(text, expected):
    assert one_line(text) == expected
