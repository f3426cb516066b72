# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Extenders: their TLS, and the resources that they take from NodeResourcesFit. Verdicts are kube-scheduler's own."""

from __future__ import annotations

from base64 import b64encode

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import extenders, pem
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.report import Report
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import Target


def armoured(kind, base64):
    return f"-----BEGIN {kind}-----\n{base64.strip()}\n-----END {kind}-----\n"


# A pair made for these tests and nothing else: its key as SEC 1 and as PKCS #8; and another key.
CERTIFICATE = armoured(
    "CERTIFICATE",
    """
MIIBbzCCARWgAwIBAgIUf8+GUZVKkprn1DW7TY3yKmW9cjAwCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBYTAgFw0yNjExMjAyMTQ1NTZaGA8yMTI2MTAyNzIxNDU1Nlow
DDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABE4FvhK/ApZI
6273DAsWXPKO5JKc6vVuSWSWtHX9dc4wzmSKPbJQUBu8me9yvoivmk2FohrAYkMH
DgPvRAry47mjUzBRMB0GA1UdDgQWBBTeRB1U5yxJ9/WENf9hOkNtcxwycjAfBgNV
HSMEGDAWgBTeRB1U5yxJ9/WENf9hOkNtcxwycjAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0gAMEUCIQCuPE5scm7cmwfE0f/4BVTLUK5ewW10IrlJYyZEnIx2
yAIgf+QDkRZL7kuinvu5enyAclGe28pGvmP/JNsPnMP4zIo=
""",
)
KEY = armoured(
    "EC PRIVATE KEY",
    """
MHcCAQEEIPtmRQWL7yZclINa2Ga3AfT6b6bS3IIkWzEZ8LcpIo1roAoGCCqGSM49
AwEHoUQDQgAETgW+Er8ClkjrbvcMCxZc8o7kkpzq9W5JZJa0df11zjDOZIo9slBQ
G7yZ73K+iK+aTYWiGsBiQwcOA+9ECvLjuQ==
""",
)
PKCS8_KEY = armoured(
    "PRIVATE KEY",
    """
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+2ZFBYvvJlyUg1rY
ZrcB9PpvptLcgiRbMRnwtykijWuhRANCAAROBb4SvwKWSOtu9wwLFlzyjuSSnOr1
bklklrR1/XXOMM5kij2yUFAbvJnvcr6Ir5pNhaIawGJDBw4D70QK8uO5
""",
)
OTHER_KEY = armoured(
    "EC PRIVATE KEY",
    """
MHcCAQEEIIG66wXtKDi7JIWpLVHzSZLbLAp6gspkx+/Vo9aKW7/UoAoGCCqGSM49
AwEHoUQDQgAEG6YzzfVtYygdxcmA92Qfm71tnsDAOibsKJ94zcBdEeebjSg5Q+kf
em9eSCnZB2lSYuarG3EmzXdrHTfyGeayWA==
""",
)


def encoded(text):
    return b64encode(text.encode()).decode()


def errors(minor=31, profiles=(), **fields):
    report = Report()
    extenders.build({"extenders": [fields], "profiles": list(profiles)}, Target(minor), report)
    return [(finding.path, finding.message) for finding in report.findings]


@pytest.mark.parametrize(
    "text",
    [
        CERTIFICATE,
        CERTIFICATE.strip(),
        CERTIFICATE.replace("\n", "\r\n"),
        "comment\n" + CERTIFICATE,
        KEY + CERTIFICATE,
        armoured("CERTIFICATE", "AAAA") + CERTIFICATE,
    ],
)
def test_a_certificate_authority_is_found(text):
    assert pem.has_certificate(text.encode())
    assert errors(tlsConfig={"caData": encoded(text)}) == []


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "\n",
        KEY,
        " " + CERTIFICATE,
        "x" + CERTIFICATE,
        CERTIFICATE.replace("\n", " "),
        CERTIFICATE.replace("M", "!", 1),
        CERTIFICATE.replace("-----\n", "-----\nName: value\n\n", 1),
        armoured("CERTIFICATE", ""),
        armoured("CERTIFICATE", "AAAA"),
        CERTIFICATE[:100] + CERTIFICATE[164:],
    ],
)
def test_an_invalid_certificate_authority_is_rejected_since_1_22(text):
    assert not pem.has_certificate(text.encode())
    assert errors(tlsConfig={"caData": encoded(text)}) == [
        ("extenders[0].tlsConfig.caData", "unable to load root certificates: no certificate in PEM")
    ]
    assert errors(21, tlsConfig={"caData": encoded(text)}) == []


@pytest.mark.parametrize("authority", [{"caData": encoded(CERTIFICATE)}, {"caFile": "/ca.crt"}])
def test_insecure_excludes_a_certificate_authority(authority):
    assert [path for path, _message in errors(tlsConfig={"insecure": True, **authority})] == ["extenders[0].tlsConfig.insecure"]
    assert errors(tlsConfig={"insecure": False, **authority}) == errors(tlsConfig={"insecure": True, "caData": ""}) == []


@pytest.mark.parametrize("key", [KEY, PKCS8_KEY, CERTIFICATE + KEY])
def test_a_certificate_with_its_key_is_valid(key):
    assert errors(tlsConfig={"certData": encoded(CERTIFICATE), "keyData": encoded(key)}) == []


@pytest.mark.parametrize(
    ("certificate", "key", "field", "message"),
    [
        ("x", KEY, "certData", "failed to find a certificate"),
        (KEY, CERTIFICATE, "certData", "failed to find a certificate"),
        (armoured("CERTIFICATE", "AAAA"), KEY, "certData", "malformed certificate"),
        (CERTIFICATE, "x", "keyData", "failed to find a private key"),
        (CERTIFICATE, CERTIFICATE, "keyData", "failed to find a private key"),
        (CERTIFICATE, KEY.replace("EC PRIVATE", "PUBLIC"), "keyData", "failed to find a private key"),
        (CERTIFICATE, armoured("PRIVATE KEY", "AAAA"), "keyData", "failed to parse private key"),
        (CERTIFICATE, OTHER_KEY, "keyData", "does not match"),
    ],
)
def test_an_invalid_certificate_or_key_is_an_error_at_its_field(certificate, key, field, message):
    ((path, found),) = errors(tlsConfig={"certData": encoded(certificate), "keyData": encoded(key)})
    assert path == f"extenders[0].tlsConfig.{field}"
    assert message in found


def test_one_half_of_a_pair_is_ignored():
    assert errors(tlsConfig={"certData": encoded("x")}) == errors(tlsConfig={"keyData": encoded("x")}) == errors() == []


MANAGED = [{"name": "example.com/a", "ignoredByScheduler": True}, {"name": "example.com/b"}]


def fit(*ignored):
    return {"pluginConfig": [{"name": "NodeResourcesFit", "args": {"ignoredResources": list(ignored)}}]}


def test_resources_of_an_extender_replace_those_that_the_scheduler_ignores():
    profile = fit("example.com/own")
    assert errors(profiles=[profile], managedResources=MANAGED) == []
    assert profile == fit("example.com/a")


def test_resources_that_are_not_ignored_change_nothing():
    profile = fit("example.com/own")
    assert errors(profiles=[profile], managedResources=MANAGED[1:]) == []
    assert profile == fit("example.com/own")


def test_resources_of_an_extender_need_node_resources_fit_in_every_profile():
    ((path, message),) = errors(profiles=[fit(), {}], managedResources=MANAGED)
    assert path == "profiles[1].plugins"
    assert "can't find NodeResourcesFitArgs in plugin config" in message


def test_up_to_1_21_resources_of_extenders_are_a_separate_entry():
    profile = fit()
    assert errors(21, profiles=[profile], managedResources=MANAGED) == []
    assert [entry["args"]["ignoredResources"] for entry in profile["pluginConfig"]] == [[], ["example.com/a"]]
