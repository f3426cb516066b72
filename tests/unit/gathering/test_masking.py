# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""That no credential gets into a support bundle, and that the rest of it stays readable."""

from __future__ import annotations

import base64
import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils.gathering.masking import Masking
from support.secrets import holding

PLANTED = "pl4nted-Credential-77"
CONFIG = f"""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: packing
    pluginConfig:
      - name: TargetLoadPacking
        args: {{metricProvider: {{type: Prometheus, address: "https://p:9091", token: {PLANTED}}}}}
"""


def container(**about):
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", **about}]}}


HOLDERS = {
    "variable": container(env=[{"name": "PROM_TOKEN", "value": PLANTED}]),
    "flag": container(args=["--v=2", f"--client-secret={PLANTED}"]),
    "flag with a space": container(command=["run", "--password", PLANTED, "--v", "2"]),
    "field": {"kind": "Thing", "apiVersion": "a/v1", "metadata": {"name": "t"}, "spec": {"auth": {"apiKey": PLANTED}}},
    "below a field": {"kind": "Thing", "apiVersion": "a/v1", "metadata": {"name": "t"}, "spec": {"credentials": [{"a": {"b": PLANTED}}]}},
    "annotation": {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "annotations": {"my.org/token": PLANTED}}},
    "configuration": {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m"}, "data": {"config.yaml": CONFIG}},
}


@pytest.mark.parametrize("name", HOLDERS)
def test_it_is_masked_where_it_stands_and_wherever_else(name):
    """The second net is by value: in a log, in base64, in JSON, with no name near it."""
    masking = Masking()
    shown = json.dumps(masking.cleaned(HOLDERS[name]))
    assert holding(PLANTED, {"object": json.dumps(HOLDERS[name])}) == ["object"]
    assert holding(PLANTED, {"object": shown}) == []
    assert "********" in shown
    for elsewhere in (f"it said {PLANTED}.", base64.b64encode(f"user:{PLANTED}".encode()).decode(), json.dumps({"a": PLANTED})):
        assert holding(PLANTED, {"text": masking.text(elsewhere)}) == []


@pytest.mark.parametrize(
    "obj",
    [
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m"}, "data": {"any": PLANTED}, "binaryData": {"b": PLANTED}},
        {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "s", "annotations": {"a": PLANTED}}, "data": {"x": PLANTED}},
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": PLANTED}}},
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"managedFields": [{"a": PLANTED}]}},
    ],
    ids=["config map", "secret", "last applied", "managed fields"],
)
def test_what_is_not_shown_at_all(obj):
    assert PLANTED not in json.dumps(Masking().cleaned(obj))


def test_what_names_a_secret_stays():
    """And nothing of it is masked elsewhere, as it would be if it were taken for a credential."""
    masking = Masking()
    reference = {"name": "prometheus", "key": "token"}
    spec = {
        "automountServiceAccountToken": False,
        "imagePullSecrets": [{"name": "pull"}],
        "containers": [
            {
                "name": "c",
                "args": ["--authentication-token-webhook=true", "--bearer-token-file=/run/token", "--v=2"],
                "env": [
                    {"name": "TOKEN", "valueFrom": {"secretKeyRef": reference}},
                    {"name": "TOKEN_FILE", "value": "/run/prometheus"},
                    {"name": "USE_TOKEN", "value": "true"},
                ],
            }
        ],
        "volumes": [
            {"name": "a", "secret": {"secretName": "prometheus", "defaultMode": 420}},
            {
                "name": "b",
                "projected": {"sources": [{"serviceAccountToken": {"path": "token", "audience": "vault", "expirationSeconds": 3607}}]},
            },
        ],
        "authorization": {"type": "Bearer", "credentials": reference},
        "bearerTokenSecret": reference,
    }
    annotations = {"osso.scheduler/prometheus-token": "secret/prometheus"}
    obj = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "annotations": annotations}, "spec": spec}
    cleaned = masking.cleaned(obj)
    assert cleaned == obj
    words = "prometheus vault token pull secret/prometheus true Bearer"
    assert masking.text(words) == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln today", "got ******** today"),
        ('{"a": "Bearer abc.def"}', '{"a": "Bearer ********"}'),
        ("Get https://user:pass@host/api", "Get https://********@host/api"),
        ("a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b", "a ******** b"),
        ("image a@sha256:0123 and https://host:1/x?y=1", "image a@sha256:0123 and https://host:1/x?y=1"),
        ("sha256~abcdef", "********"),
    ],
)
def test_shapes(text, shown):
    assert Masking().text(text) == shown


def test_lines_of_logs():
    log = "fine\nI1122 a.go:1] x token=abc and more\n\tkeyData: abc\n"
    assert Masking().log(log) == "fine\nI1122 a.go:1] x token= ********\n\tkeyData: ********\n"


def test_a_secret_of_several_lines():
    masking = Masking()
    masking.remember("first-line-of-it\nsecond-line-of-it")
    assert masking.text("\tfirst-line-of-it\n\tsecond-line-of-it\n") == "\t********\n\t********\n"


def test_a_configuration_that_is_no_yaml_is_not_shown():
    shown = Masking().configuration(CONFIG + "broken: [\n")
    assert PLANTED not in shown
    assert "not shown" in shown


def test_a_configuration_stays_readable():
    masking = Masking()
    assert "schedulerName: packing" in masking.configuration(CONFIG)
    commented = "kind: A # as it was, token: pl4nted\n# password=pl4nted\nurl: a#token=b\n"
    assert masking.configuration(commented) == "kind: A # as it was, token: ********\n# password= ********\nurl: a#token=b\n"
    plain = "# mine\napiVersion: kubescheduler.config.k8s.io/v1\nkind:   KubeSchedulerConfiguration\n"
    assert masking.configuration(plain) == plain
