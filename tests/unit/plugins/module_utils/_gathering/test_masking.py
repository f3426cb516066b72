# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""That no credential gets into a support bundle, and that the rest of it stays readable."""

from __future__ import annotations

import base64
import gzip
import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._gathering.masking import Masking
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
GROUP = "apiVersion: kubescheduler.config.k8s.io/v1"
SECRET = {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "s"}, "data": {"plain": PLANTED}, "stringData": {"a": PLANTED}}


def container(**about):
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", **about}]}}


HOLDERS = {
    "variable": container(env=[{"name": "PROM_TOKEN", "value": PLANTED}]),
    "flag": container(args=["--v=2", f"--client-secret={PLANTED}"]),
    "flag with a space": container(command=["run", "--password", PLANTED, "--v", "2"]),
    "within a shell": container(command=["sh", "-c", f"export PROM_TOKEN={PLANTED}; exec kube-scheduler --v=2"]),
    "within a shell, in quotes": container(command=["sh", "-c", f"PASSWORD='{PLANTED}' exec kube-scheduler"]),
    "flag within a shell": container(command=["sh", "-c", f"exec kube-scheduler --client-secret={PLANTED}"]),
    "flag with a space within a shell": container(command=["sh", "-c", f"exec run --client-secret {PLANTED} --v=2"]),
    "flag of another's": container(args=[f"--from-literal=password={PLANTED}"]),
    "header within a shell": container(args=[f"curl -H 'X-Api-Key: {PLANTED}' -H \"Authorization: Bearer {PLANTED}-2\" https://x"]),
    "flag in command, value in args": container(command=["run", "--password"], args=[PLANTED, "--v=2"]),
    "address": container(env=[{"name": "PROM_URL", "value": f"https://p/api?access_token={PLANTED}&x=1"}]),
    "variable of JSON": container(env=[{"name": "SETTINGS", "value": json.dumps({"a": [{"password": PLANTED}]})}]),
    "copy of an object": {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"annotations": {"kapp.k14s.io/original": json.dumps(container(env=[{"name": "A_TOKEN", "value": PLANTED}]))}},
    },
    "manifest": {
        "kind": "InstallPlan",
        "apiVersion": "operators.coreos.com/v1alpha1",
        "metadata": {"name": "i"},
        "status": {"plan": [{"resource": {"manifest": json.dumps(container(args=[f"--token={PLANTED}"]))}}]},
    },
    "credentials that have a name": {
        "kind": "Thing",
        "apiVersion": "a/v1",
        "metadata": {"name": "t"},
        "spec": {"credentials": {"name": "u", "key": PLANTED}},
    },
    "field": {"kind": "Thing", "apiVersion": "a/v1", "metadata": {"name": "t"}, "spec": {"auth": {"apiKey": PLANTED}}},
    "below a field": {"kind": "Thing", "apiVersion": "a/v1", "metadata": {"name": "t"}, "spec": {"credentials": [{"a": {"b": PLANTED}}]}},
    "annotation": {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "annotations": {"my.org/token": PLANTED}}},
    "configuration": {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m"}, "data": {"config.yaml": CONFIG}},
}


@pytest.mark.parametrize("name", HOLDERS)
def test_a_credential_is_masked_in_its_field_and_everywhere_else(name):
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
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m", "annotations": {"meta.helm.sh/was": PLANTED}}},
        {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {"name": "m"},
            "data": {"a": f"# see kubescheduler.config.k8s.io\n{PLANTED}"},
        },
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m"}, "data": {"a": f"{GROUP}\nkind: Other\na: {PLANTED}\n"}},
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m"}, "data": {"a": f"[{GROUP}, {PLANTED}]"}},
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m"}, "data": {"a": f"{GROUP}\nkind: [{PLANTED}\n"}},
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m"}, "data": {"a": f"{GROUP}\nwhen: 2026-13-45\na: {PLANTED}\n"}},
        {"kind": "InstallPlan", "apiVersion": "o/v1", "metadata": {"name": "i"}, "status": {"manifest": json.dumps(SECRET)}},
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"annotations": {"a": json.dumps([{**SECRET, "kind": "ConfigMap"}])}}},
    ],
    ids=[
        *("config map", "secret", "last applied", "managed fields", "annotation of a config map", "word of a configuration", "other kind"),
        *("list", "no YAML", "a time that is none", "secret in a manifest", "config map in an annotation"),
    ],
)
def test_fields_that_can_contain_credentials_are_not_shown_at_all(obj):
    assert PLANTED not in json.dumps(Masking().cleaned(obj))


def test_the_termination_message_of_a_container_is_masked_like_a_log():
    said = f"fine\ncannot use token: {PLANTED}\nlast words"
    status = {"containerStatuses": [{"lastState": {"terminated": {"message": said, "reason": "Error"}}}]}
    shown = Masking().cleaned({**container(), "status": status})["status"]["containerStatuses"][0]["lastState"]["terminated"]
    assert shown == {"message": "fine\ncannot use token: ********\nlast words", "reason": "Error"}


def test_references_to_credentials_in_a_shell_command_are_not_masked():
    text = (
        "TOKEN=$PROM_TOKEN exec run --token=$(PROM_TOKEN) --client-secret ${A} --bearer-token-file /run/a; x --use-token && TOKEN_FILE=/a"
    )
    pod = container(command=["sh", "-c", text])
    masking = Masking()
    assert masking.cleaned(pod)["spec"] == pod["spec"]
    assert masking.text("/run/a $PROM_TOKEN && exec") == "/run/a $PROM_TOKEN && exec"


def test_long_texts_are_masked_in_linear_time():
    """A picture in base64 is one word of many letters; a time that grows with its square would not end."""
    pod = container(
        env=[
            {"name": "ICON", "value": "tokensecret" * 20000},
            {"name": "B", "value": "Ab0=" * 200000},
            {"name": "C", "value": 'a"' * 20000},
        ]
    )
    assert Masking().cleaned(pod)["spec"] == pod["spec"]


def test_only_texts_are_masked_by_value():
    """Not keys and numbers, which would be no JSON any more; and a text begins after a line break, as its words do."""
    masking = Masking()
    for value in ("enabled", "3600"):
        masking.remember(value)
    obj = {"enabled": {"seconds": 3600, "on": True, "text": "it is enabled for 3600 s"}, "log": ["a\nsha256~abc", "b\tsha256~abc"]}
    shown = {"enabled": {"seconds": 3600, "on": True, "text": "it is ******** for ******** s"}, "log": ["a\n********", "b\t********"]}
    assert masking.values(obj) == shown
    assert masking.values(["a\0\nb", ("enabled",)]) == ["a\0\nb", ["********"]]
    # A net by shape does not reach from one text into the next.
    for first in ("bearer", "Bearer abc", "Basic", "https://host", "eyJhbGciOi.", "sha256~a", "-----BEGIN PRIVATE KEY-----"):
        assert masking.values([first, "user@plain and more"])[1] == "user@plain and more"


def test_numbers_under_the_name_of_a_credential_are_masked():
    masking = Masking()
    obj = {"kind": "Thing", "apiVersion": "a/v1", "metadata": {"name": "t"}, "spec": {"password": 12345678, "tokens": {"a": True, "b": 7}}}
    assert masking.cleaned(obj)["spec"] == {"password": "********", "tokens": {"a": True, "b": "********"}}
    assert masking.text("7 of 12345678") == "7 of ********"


def test_references_to_secrets_are_not_masked():
    """If the name were taken for a credential, it would be masked elsewhere, too."""
    masking = Masking()
    reference = {"name": "prometheus", "key": "token"}
    spec = {
        "automountServiceAccountToken": False,
        "imagePullSecrets": [{"name": "pull"}],
        "containers": [
            {
                "name": "c",
                "args": [
                    *("--authentication-token-webhook=true", "--bearer-token-file=/run/token", "--v=2"),
                    *("--authorization-kubeconfig=/etc/kubernetes/scheduler.conf", "--authorization-always-allow-paths=/healthz,/livez"),
                    *("--authorization-webhook-cache-authorized-ttl=10s", "--authorization-webhook-version", "v1"),
                ],
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
    words = "prometheus vault token pull secret/prometheus true /etc/kubernetes/scheduler.conf /healthz 10s v1 Bearer"
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
        ("a -----BEGIN PRIVATE KEY-----\n2026-11-22T05:26:55Z MIIEvgIBADANBgkqhkiG\nplain\n", "a ********\nplain\n"),
        ("-----BEGIN CERTIFICATE-----\nMIIE", "-----BEGIN CERTIFICATE-----\nMIIE"),
    ],
)
def test_text_in_the_shape_of_a_credential_is_masked(text, shown):
    assert Masking().text(text) == shown


def test_credentials_in_log_lines_are_masked():
    log = "fine\nI1122 a.go:1] x token=abc and more\n\tkeyData: abc\n"
    assert Masking().log(log) == "fine\nI1122 a.go:1] x token= ********\n\tkeyData: ********\n"


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        ("token:\n  abc\nfine\n", "token: ********\n  ********\nfine\n"),
        ("\tkeyData: |\n\t  abc\n\t  def\n\tfine\n", "\tkeyData: ********\n\t  ********\n\t  ********\n\tfine\n"),
        ("2026-11-22T05:26:55Z tokens:\n2026-11-22T05:26:56Z - a\n2026-11-22T05:26:57Z - b\n2026-11-22T05:26:58Z c\n",)
        + (
            "2026-11-22T05:26:55Z tokens: ********\n2026-11-22T05:26:56Z ********\n2026-11-22T05:26:57Z ********\n2026-11-22T05:26:58Z c\n",
        ),
        (
            "waits for token:\nI1122 05:26:55.100000       1 a.go:1] fine\n",
            "waits for token: ********\nI1122 05:26:55.100000       1 a.go:1] fine\n",
        ),
    ],
)
def test_a_credential_in_the_next_line_is_masked(log, shown):
    assert Masking().log(log) == shown


def test_a_credential_in_the_next_line_of_a_comment_is_masked():
    text = "# token:\n#   pl4nted\n# fine\nkind: A\n# was: x\n"
    assert Masking().configuration(text) == "# token: ********\n#   ********\n# fine\nkind: A\n# was: x\n"


def test_each_line_of_a_secret_is_masked():
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
    commented = "kind: A # as it was, token: pl4nted\n# password=pl4nted\nurl: a#b\nother: 'a, access_token=pl4nted'\n"
    shown = "kind: A # as it was, token: ********\n# password= ********\nurl: a#b\nother: 'a, access_token=********'\n"
    assert masking.configuration(commented) == shown
    plain = "# mine\napiVersion: kubescheduler.config.k8s.io/v1\nkind:   KubeSchedulerConfiguration\n"
    assert masking.configuration(plain) == plain


@pytest.mark.parametrize(
    ("obj", "shown"),
    [
        (
            {**SECRET, "type": "Opaque", "metadata": {"name": "s", "annotations": {"a": "b"}, "managedFields": [1]}},
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "annotations": {"a": "(not gathered)"}}},
        ),
        (
            {
                "kind": "ConfigMap",
                "apiVersion": "v1",
                "metadata": {"name": "m"},
                "immutable": True,
                "data": {"a": "four", "b": "kind: A", "c": f"{GROUP}\nkind: KubeSchedulerConfiguration\n", "d": f"{GROUP}: [\n"},
                "binaryData": {"e": "AAAA"},
            },
            {
                "kind": "ConfigMap",
                "apiVersion": "v1",
                "metadata": {"name": "m", "annotations": {}},
                "immutable": True,
                "data": {
                    "a": "(4 characters, not gathered)",
                    "b": "(7 characters, not gathered)",
                    "c": f"{GROUP}\nkind: KubeSchedulerConfiguration\n",
                    "d": "(not shown: it may contain a credential that cannot be masked)\n",
                },
                "binaryData": {"e": "(4 characters, not gathered)"},
            },
        ),
        (
            {"kind": "ConfigMap", "apiVersion": "v1", "metadata": None, "data": None},
            {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"annotations": {}}, "data": {}},
        ),
        (
            {
                "kind": "CustomResourceDefinition",
                "metadata": {"annotations": {"my.org/token": PLANTED}},
                "spec": {"password": {"type": "a"}},
            },
            {
                "kind": "CustomResourceDefinition",
                "metadata": {"annotations": {"my.org/token": "********"}},
                "spec": {"password": {"type": "a"}},
            },
        ),
    ],
    ids=["secret", "config map", "empty config map", "definition"],
)
def test_secrets_config_maps_and_crds_are_shown_only_in_part(obj, shown):
    assert Masking().cleaned(obj) == shown


@pytest.mark.parametrize(
    ("value", "text", "shown"),
    [
        ("abc", "an abc", "an abc"),
        ("abcd", "an abcd", "an ********"),
        # Lines of eight characters and more, with the spaces around them removed
        ("one-line\n  seven77  \nlast-line", "one-line seven77 last-line", "******** seven77 ********"),
        # 12 characters of base64 and more: 9 bytes are 12 characters, of which the last one is left out.
        ("ninebytes", base64.b64encode(b"ninebytes").decode(), base64.b64encode(b"ninebytes").decode()),
        ("ten-bytes!", base64.b64encode(b"ten-bytes!").decode(), "********Q=="),
        ("ten-bytes!", base64.b64encode(b"xxten-bytes!").decode(), "eHh********h"),
    ],
)
def test_a_credential_is_masked_elsewhere_only_from_a_certain_length(value, text, shown):
    masking = Masking()
    masking.remember(value)
    assert masking.text(text) == shown


@pytest.mark.parametrize(("number", "hidden"), [(12345, False), (123456, True)])
def test_a_short_number_is_masked_only_in_its_place(number, hidden):
    masking = Masking()
    assert masking.shown({"password": number}) == {"password": "********"}
    assert masking.text(f"{number}") == ("********" if hidden else f"{number}")


@pytest.mark.parametrize("value", ["", "true", "FALSE", "none", "null", "secret/x", "serviceaccount/x", "$(A)", "${A}", "$A", None, True])
def test_a_value_that_is_no_credential_stays(value):
    assert Masking().shown({"password": value, "tokens": [value]}) == {"password": value, "tokens": [value]}


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"name": "A_TOKEN", "value": PLANTED}, {"name": "A_TOKEN", "value": "********"}),
        ({"name": "A", "value": PLANTED}, {"name": "A", "value": PLANTED}),
        ({"name": ["A_TOKEN"], "value": PLANTED}, {"name": ["A_TOKEN"], "value": PLANTED}),
        ({"secret": {"password": PLANTED, "a": "b"}}, {"secret": {"password": "********", "a": "b"}}),
        ({"authorization": {"credentials": {"key": "a"}}}, {"authorization": {"credentials": {"key": "a"}}}),
        ({"basicAuth": {"password": {"key": "a"}}}, {"basicAuth": {"password": {"key": "a"}}}),
        ({"other": {"password": {"key": PLANTED}}}, {"other": {"password": {"key": "********"}}}),
        ({"tokenRef": {"key": PLANTED, "more": "b"}}, {"tokenRef": {"key": PLANTED, "more": "b"}}),
        ({"command": ["run", "--password"], "args": [PLANTED, "x"]}, {"command": ["run", "--password"], "args": ["********", "x"]}),
        ({"command": ["run"], "args": [PLANTED]}, {"command": ["run"], "args": [PLANTED]}),
        ({"command": [], "args": [PLANTED]}, {"command": [], "args": [PLANTED]}),
        ({"args": ["--password", "--v=2", PLANTED]}, {"args": ["--password", "--v=2", PLANTED]}),
        ({"args": ["--password=", PLANTED]}, {"args": ["--password=", PLANTED]}),
        ({"args": ["-token=$(A)", 7, "--token-file", PLANTED]}, {"args": ["-token=$(A)", 7, "--token-file", PLANTED]}),
        ({"args": ["--token x1234"]}, {"args": ["--token ********"]}),
        ({"note": '{"a": 1}'}, {"note": '{"a": 1}'}),
        ({"note": ' {"password": "x1234", "b": 1}'}, {"note": '{"password": "********", "b": 1}'}),
        ({"note": "{password: x1234"}, {"note": "{password: ********"}),
        ({"note": "password: x1234"}, {"note": "password: ********"}),
        ({"note": "db: {user: a, password: x1234}"}, {"note": "db: {user: a, password: ********}"}),
        ({"message": "password: x1234"}, {"message": "password: ********"}),
        ({"command": ["sh", "-c", "TOKEN=`make it` run"]}, {"command": ["sh", "-c", "TOKEN=******** it` run"]}),
    ],
)
def test_values_are_masked_by_the_name_of_their_key(given, shown):
    assert Masking().shown(given) == shown


@pytest.mark.parametrize(
    "name",
    [
        "DB_PASS",
        "DB_PWD",
        "PGPASS",
        "pwd",
        "Pwd",
        "ENCRYPTION_KEY",
        "SIGNING_KEY",
        "AWS_ACCESS_KEY",
        "REDIS_AUTH",
        "Cookie",
        "COOKIE_SECRET",
        "storepass",
        "DOCKERCONFIGJSON",
    ],
)
def test_variables_with_common_names_of_credentials_are_masked(name):
    given = {"env": [{"name": name, "value": PLANTED}], "args": [f"--{name}={PLANTED}"], "conn": f"a=b;{name}={PLANTED}"}
    assert PLANTED not in str(Masking().shown(given))


@pytest.mark.parametrize("name", ["BYPASS", "PWD", "COOKIE_DOMAIN", "compass", "AUTHOR", "PASSIVE", "OAUTH_ISSUER", "KEYS", "pwd-file"])
def test_other_variables_are_shown(name):
    assert Masking().shown({"env": [{"name": name, "value": PLANTED}]})["env"][0]["value"] == PLANTED


def test_registry_credentials_in_an_annotation_are_masked():
    given = {"annotations": {"x": json.dumps({"auths": {"r.example.com": {"auth": PLANTED}}})}}
    assert PLANTED not in str(Masking().shown(given))


@pytest.mark.parametrize(
    "copy",
    [
        "env:\n- name: DB_PASSWORD\n  value: {}\n",
        "env: [{{name: DB_PASSWORD, value: {}}}]",
        "- value: {}\n  name: A_TOKEN\n",
        "name: a\nvalue: b\n---\n- name: A_PASS\n  value: {}\n",
        '"name": A_TOKEN\n"value" : {}\n',
        "a: {{{{ b }}}}\nenv:\n- name: A_TOKEN\n  value: {}\n",
    ],
)
def test_a_copy_in_yaml_is_masked(copy):
    assert PLANTED not in str(Masking().shown({"annotations": {"x": copy.format(PLANTED)}}))
    text = "env:\n- name: A\n  value: b\n"
    assert Masking().shown({"x": text}) == {"x": text}


def test_a_compressed_copy_is_left_out():
    packed = base64.b64encode(gzip.compress(b"password: x")).decode()
    assert Masking().shown({"annotations": {"x": packed}}) == {"annotations": {"x": f"({len(packed)} characters, not gathered)"}}


def test_an_ordinary_word_that_is_called_a_secret_is_masked_only_as_a_word():
    """Anyone may write such an annotation. Names of objects are shown."""
    masking = Masking()
    shown = masking.cleaned(
        {"kind": "Pod", "metadata": {"name": "batch", "namespace": "team", "annotations": {"x": "secret=kube-scheduler"}}}
    )
    assert shown["metadata"]["annotations"] == {"x": "secret=********"}
    pod = {"kind": "Pod", "metadata": {"name": "kube-scheduler"}, "spec": {"schedulerName": "packing", "containers": [{"name": "main"}]}}
    masking.cleaned(pod)
    for word in ("default", "packing", "main", "batch", "team", "orange", "correct-horse-battery-staple"):
        masking.remember(word)
    encoded = base64.b64encode(b"user:correct-horse-battery-staple").decode()
    shown = masking.text(f"x.correct-horse-battery-staple.y {encoded} _orange a\\norange")
    assert shown.startswith("x.********.y ")
    assert "Y29ycmVjdC1ob3JzZS" not in shown
    assert shown.endswith(" _******** a\\n********")
    text = "kube-scheduler default-scheduler default.svc default packing main batch team orange orange, an-orange"
    assert masking.text(text) == (
        "kube-scheduler default-scheduler default.svc ******** packing main batch team ******** ********, an-orange"
    )


def test_ordinary_words_of_a_sentence_are_not_masked_elsewhere():
    masking = Masking()
    assert masking.shown({"note": "cannot read secret: nodes are gone; auth: plugins failed"}) == {
        "note": "cannot read secret: ******** are gone; auth: ******** failed"
    }
    assert masking.text("0/3 nodes are available") == "0/3 nodes are available"
    masking.shown({"command": ["sh", "-c", "login --password orange"]})
    assert masking.text("orange") == "********"


def test_a_script_of_a_command_line_is_not_read_as_yaml():
    """It has its own rules, and what they find is remembered."""
    masking = Masking()
    shown = masking.shown({"args": ["name=a\nvalue=b\nlogin --password orange --user x\n"]})
    assert shown == {"args": ["name=a\nvalue=b\nlogin --password ******** --user x\n"]}
    assert masking.text("orange") == "********"
