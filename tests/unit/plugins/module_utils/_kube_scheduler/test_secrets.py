# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is taken for a credential, in the one place that says so and in those that ask it."""

from __future__ import annotations

import json
import time

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import masked, one_line, redacted, secret_texts
from ansible_collections.osso.scheduler.plugins.module_utils._gathering.masking import Masking
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_diff import HIDDEN, diff
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import Result
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.secrets import MASK, is_secret, mask_credentials

CREDENTIALS = [
    *("token", "bearerToken", "TOKEN", "password", "passwd", "passphrase", "clientSecret", "credentials", "keyData", "key-data"),
    *("certData", "apiKey", "api_key", "private-key", "Authorization", "METRICS_PROVIDER_TOKEN"),
]
PLAIN = ["address", "keyFile", "certFile", "weight", "schedulerName", "metadata", "key", "data", "tlsConfig", "passes"]


@pytest.mark.parametrize("name", CREDENTIALS)
def test_values_of_credential_fields_are_masked_everywhere(name):
    assert is_secret(name)
    assert secret_texts({name: ["planted"]}) == {"planted"}
    assert "planted" not in "".join(masked(f"a: {{{name}: planted-1}}\n", f"a: {{{name}: planted-2}}\n"))
    assert "planted" not in redacted(f"cannot use {name}: planted")


@pytest.mark.parametrize("name", PLAIN)
def test_values_of_other_fields_are_not_masked(name):
    assert not is_secret(name)
    assert secret_texts({name: ["planted"]}) == set()
    assert redacted(f"cannot use {name}: planted") == f"cannot use {name}: planted"


def test_numbers_are_credentials_too():
    """No credentials: booleans, and placeholders that are filled in later."""
    text = "a: {password: 12345678, token: true, apiKey: null, keyData: '${PROM_TOKEN}'}\n"
    assert masked(text, "") == ("a:\n  password: '********'\n  token: true\n  apiKey: null\n  keyData: ${PROM_TOKEN}\n", "")


@pytest.mark.parametrize("value", ["2026-13-45", "0x_"])
def test_malformed_times_and_numbers_do_not_stop_masking(value):
    assert "planted" not in "".join(masked(f"token: planted\nwhen: {value}\n", ""))
    assert masked(f"when: {value}\n", "") == (f"when: {value}\n", "")


@pytest.mark.parametrize("name", CREDENTIALS)
@pytest.mark.parametrize("value", ["planted-{}", {"a": "planted-{}"}, ["planted-{}"], [{"a": "planted-{}"}]])
def test_credentials_are_hidden_in_differences(name, value):
    """They are arguments of a plugin, of any type."""

    def result(number):
        args = json.loads(json.dumps({name: value, "plain": "{}"}).replace("{}", str(number)))
        return Result(config={"profiles": [{"schedulerName": "a", "pluginConfig": [{"name": "Mine", "args": args}]}]})

    found = [difference.format() for difference in diff(result(1), result(2))]
    assert len(found) == 2
    assert found[0].startswith(f"a: Mine.{name}")
    assert f"{HIDDEN} -> {HIDDEN}" in found[0]
    assert found[1] == "a: Mine.plain: changed: 1 -> 2"


IN_TEXTS = [
    *("--token planted-1", "--token=planted-1", "run --client-secret 'planted-1' --v=2", "-password planted", "--token planted"),
    *("gho_planted1234567890", "github_pat_planted1234567890", "glpat-planted-1234567890", "xoxb-planted-12345-67890"),
    *(f"gh{letter}_planted1234567890" for letter in "psur"),
    *(
        "the password is planted1",
        "the token is: planted1.",
        "its secret is 'planted'",
        "Passphrase is pl@planted",
        "API key-data is planted-77",
    ),
    *("curl -s -u jane:planted https://a/b", "curl --user=jane:planted a", 'curl -u "jane:planted" a', "curl -ujane:planted a"),
    "eyJhbGciOiJplanted.planted.planted",
    "sha256~planted",
]


@pytest.mark.parametrize("text", IN_TEXTS)
def test_credentials_in_free_text_are_masked_in_every_place(text):
    masking = Masking()
    for shown in (
        mask_credentials(text, MASK),
        masked(f"a: 1 # {text}\n", "")[0],
        masked(json.dumps({"note": text}), "")[0],
        redacted(f"said: {text}"),
        one_line(f"said {text}"),
        masking.text(f"said {text}\n"),
    ):
        assert "planted" not in shown
        assert MASK in shown


@pytest.mark.parametrize("key", ["AKIA" + "Z7" * 8, "ASIA" + "Z7" * 8])
def test_a_key_id_of_aws_is_masked(key):
    assert mask_credentials(f"id {key}.", MASK) == f"id {MASK}."


@pytest.mark.parametrize("kind", ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY"])
@pytest.mark.parametrize("end", ["-----END {}-----", ""])
def test_a_private_key_is_masked_as_a_whole(kind, end):
    lines = [f"-----BEGIN {kind}-----", "planted1" * 8, "planted2" * 4, *filter(None, [end.format(kind)])]
    commented = "".join(f"# {line}\n" for line in lines) + "# rest\na: 1\n"
    assert masked(commented, "")[0] == f"# {MASK}\n" * len(lines) + "# rest\na: 1\n"
    block = "note: |\n" + "".join(f"  {line}\n" for line in lines)
    assert "planted" not in masked(block, "")[0]


@pytest.mark.parametrize(
    "text",
    [
        *("the flag --token is missing", "--token-file /run/token", "--token must be set, or --password", "--token ${TOKEN}"),
        *("use --authorization-kubeconfig /etc/kubeconfig", "the token is missing", "a password is required", "the token is expired"),
        *("the secret is mounted at /run/secrets", "its credentials is no word", "the token is <TOKEN>", "the token is /run/token1"),
        *(
            "docker run -u 1000:1000 image",
            "curl -k https://host:6443/readyz",
            "curl -s -u $USER:$PASSWORD a",
            "asia-southeast1-docker.pkg.dev/a",
        ),
        *("asiaasiaasiaasiaasia", "AKIAB", "ghp_short", "highp_recision1234567", "sha256:0123456789abcdef", "xoxo-hugs", "glpat-"),
        *("-----BEGIN CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----", "tokens are counted per node1", "secret-a1 is one of them"),
    ],
)
def test_texts_without_a_credential_stay_as_they_are(text):
    assert mask_credentials(text, MASK) == text
    assert masked(f"a: 1 # {text}\n", "")[0] == f"a: 1 # {text}\n"
    assert redacted(text) == text
    assert Masking().text(text) == text


def test_long_free_text_is_masked_in_linear_time():
    start = time.process_time()
    for part in (
        "--token-",
        "token is ",
        "curl -u ",
        "-",
        "ghp_",
        "-----BEGIN ",
        "-----BEGIN A\n",
        "-----BEGIN A\n-----END",
        "password" * 9,
    ):
        mask_credentials(part * (200_000 // len(part)), MASK)
    # About 0.7 s. A time that grows with the square of the length would be minutes, or 6 s where a shape has a limit of its length.
    assert time.process_time() - start < 3


@pytest.mark.parametrize("name", ["eyJhbGciOiJSUzI1NiJ9.planted.planted", "sha256~planted", "ghp_planted1234567890"])
@pytest.mark.parametrize(
    "profile",
    [
        "- {schedulerName: X}\n- {schedulerName: X}",
        "- {schedulerName: a, X: b}",
        "- {schedulerName: a, plugins: {score: {enabled: [{name: X}]}}}",
        "- {schedulerName: a, plugins: {X: {enabled: []}}}",
        "- {schedulerName: a, pluginConfig: [{name: X, args: {}}, {name: X, args: {}}]}",
        "- {schedulerName: a}\nleaderElection: {resourceLock: X}",
    ],
)
def test_an_error_does_not_quote_a_name_that_resembles_a_token(profile, name):
    text = f"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n{profile}\n".replace("X", name)
    findings = check(text, "1.31").findings
    assert findings
    assert "planted" not in "".join(finding.format() + str(finding.as_dict()) for finding in findings)
