# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cluster's TLS profile as flags."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._operand import tls

TLS13 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"]
INTERMEDIATE = [
    *TLS13,
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
]
OLD = [
    *INTERMEDIATE,
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
]
UNSUPPORTED = ["ECDHE-ECDSA-AES256-SHA384", "ECDHE-RSA-AES256-SHA384", "AES256-SHA256"]
HTTP2 = "ECDHE-RSA-AES128-GCM-SHA256"


def api_server(profile):
    return {"metadata": {"name": "cluster"}, "spec": {"tlsSecurityProfile": profile}}


def custom(*ciphers, version="VersionTLS12"):
    return api_server({"type": "Custom", "custom": {"ciphers": list(ciphers), "minTLSVersion": version}})


def flags(suites, version):
    return ["--tls-cipher-suites=" + ",".join(suites), "--tls-min-version=" + version]


@pytest.mark.parametrize(
    "without",
    [None, {}, {"spec": None}, {"spec": {}}, api_server(None), api_server({}), api_server({"type": ""}), api_server({"type": "Newer"})]
    + [
        api_server({"type": "Custom"}),
        api_server({"type": "Custom", "custom": None}),
        api_server({"type": "Intermediate", "intermediate": {}}),
    ],
)
def test_u01_the_profile_intermediate_is_the_default(without):
    assert tls.flags(without) == flags(INTERMEDIATE, "VersionTLS12")


@pytest.mark.parametrize(("profile", "suites", "version"), [("Old", OLD, "VersionTLS10"), ("Modern", TLS13, "VersionTLS13")])
def test_u01_the_profiles_old_and_modern_give_their_flags(profile, suites, version):
    assert tls.flags(api_server({"type": profile, profile.lower(): {}})) == flags(suites, version)


def test_u01_custom_ciphers_get_ianas_names_and_keep_their_order():
    profile = custom("ECDHE-ECDSA-CHACHA20-POLY1305", HTTP2)
    suites = ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"]
    assert tls.flags(profile) == flags(suites, "VersionTLS12")


def test_ciphers_that_go_lacks_are_left_out():
    profile = custom(HTTP2, "DHE-RSA-AES128-GCM-SHA256", "tls_aes_128_gcm_sha256")
    assert tls.flags(profile) == flags(["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"], "VersionTLS12")


def test_every_cipher_of_a_profile_is_known_or_known_to_be_unsupported():
    named = {cipher for _version, ciphers in tls.PROFILES.values() for cipher in ciphers}
    assert named - set(tls.IANA) == set(UNSUPPORTED)


@pytest.mark.parametrize("ciphers", [[], ["DHE-RSA-AES128-GCM-SHA256"]])
def test_no_cipher_flag_is_given_without_usable_ciphers(ciphers):
    assert tls.flags(custom(*ciphers)) == ["--tls-min-version=VersionTLS12"]
    assert tls.flags(custom(*ciphers, version=None)) == []


@pytest.mark.parametrize(
    ("ciphers", "given", "wanted"),
    [
        # "http2: TLSConfig.CipherSuites is missing an HTTP/2-required AES_128_GCM_SHA256 cipher" of kube-scheduler 1.34
        (["ECDHE-RSA-AES256-GCM-SHA384"], "VersionTLS12", "VersionTLS13"),
        (["ECDHE-RSA-AES256-GCM-SHA384"], "VersionTLS10", "VersionTLS13"),
        (["ECDHE-RSA-AES256-GCM-SHA384"], None, "VersionTLS13"),
        (["TLS_AES_128_GCM_SHA256"], "VersionTLS12", "VersionTLS13"),
        (["TLS_AES_128_GCM_SHA256"], "VersionTLS13", "VersionTLS13"),
        ([HTTP2], "VersionTLS11", "VersionTLS11"),
        (["ECDHE-ECDSA-AES128-GCM-SHA256"], "VersionTLS12", "VersionTLS12"),
    ],
)
def test_a_profile_with_which_the_scheduler_would_not_start_gets_tls_1_3(ciphers, given, wanted):
    assert tls.flags(custom(*ciphers, version=given))[-1] == "--tls-min-version=" + wanted
