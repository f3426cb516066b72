# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is taken for a credential, in the one place that says so and in those that ask it."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import masked, redacted, secret_texts
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_diff import HIDDEN, diff
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import Result
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.secrets import is_secret

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
    """... but not what only switches something, nor the place of one that is filled in later."""
    text = "a: {password: 12345678, token: true, apiKey: null, keyData: '${PROM_TOKEN}'}\n"
    assert masked(text, "") == ("a:\n  password: '********'\n  token: true\n  apiKey: null\n  keyData: ${PROM_TOKEN}\n", "")


@pytest.mark.parametrize("value", ["2026-13-45", "0x_"])
def test_what_yaml_takes_for_a_time_or_a_number_that_is_none(value):
    assert "planted" not in "".join(masked(f"token: planted\nwhen: {value}\n", ""))
    assert masked(f"when: {value}\n", "") == (f"when: {value}\n", "")


@pytest.mark.parametrize("name", CREDENTIALS)
@pytest.mark.parametrize("value", ["planted-{}", {"a": "planted-{}"}, ["planted-{}"], [{"a": "planted-{}"}]])
def test_none_is_told_as_a_difference(name, value):
    """... of the arguments of a plugin, whatever they are made of."""

    def result(number):
        args = json.loads(json.dumps({name: value, "plain": "{}"}).replace("{}", str(number)))
        return Result(config={"profiles": [{"schedulerName": "a", "pluginConfig": [{"name": "Mine", "args": args}]}]})

    found = [difference.format() for difference in diff(result(1), result(2))]
    assert len(found) == 2
    assert found[0].startswith(f"a: Mine.{name}")
    assert f"{HIDDEN} -> {HIDDEN}" in found[0]
    assert found[1] == "a: Mine.plain: changed: 1 -> 2"
