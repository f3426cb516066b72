# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cluster's TLS profile as flags of kube-scheduler.

Profiles: openshift/api, config/v1 types_tlssecurityprofile.go (Mozilla's guidelines 5.8). Names of ciphers and what happens to those that
Go does not have: openshift/library-go, pkg/crypto OpenSSLToIANACipherSuites and configobserver/apiserver.
"""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object

_TLS13 = ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256")
_FORWARD_SECRET = (
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-CHACHA20-POLY1305",
)
_LEGACY = (
    "ECDHE-ECDSA-AES128-SHA256",
    "ECDHE-RSA-AES128-SHA256",
    "ECDHE-ECDSA-AES128-SHA",
    "ECDHE-RSA-AES128-SHA",
    "ECDHE-ECDSA-AES256-SHA384",
    "ECDHE-RSA-AES256-SHA384",
    "ECDHE-ECDSA-AES256-SHA",
    "ECDHE-RSA-AES256-SHA",
    "AES128-GCM-SHA256",
    "AES256-GCM-SHA384",
    "AES128-SHA256",
    "AES256-SHA256",
    "AES128-SHA",
    "AES256-SHA",
    "DES-CBC3-SHA",
)

PROFILES = {
    # profile: (minimal version, ciphers by OpenSSL's names)
    "Old": ("VersionTLS10", _TLS13 + _FORWARD_SECRET + _LEGACY),
    "Intermediate": ("VersionTLS12", _TLS13 + _FORWARD_SECRET),
    "Modern": ("VersionTLS13", _TLS13),
}
DEFAULT = "Intermediate"

IANA = {
    # OpenSSL's name: IANA's, of what Go can negotiate. Of the ciphers above Go lacks AES256-SHA256 and the two ECDHE ones with SHA384 and CBC.
    "TLS_AES_128_GCM_SHA256": "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384": "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256": "TLS_CHACHA20_POLY1305_SHA256",
    "ECDHE-ECDSA-AES128-GCM-SHA256": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305": "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "ECDHE-RSA-CHACHA20-POLY1305": "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "ECDHE-ECDSA-AES128-SHA256": "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "ECDHE-RSA-AES128-SHA256": "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "ECDHE-ECDSA-AES128-SHA": "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "ECDHE-RSA-AES128-SHA": "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "ECDHE-ECDSA-AES256-SHA": "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "ECDHE-RSA-AES256-SHA": "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "AES128-GCM-SHA256": "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "AES256-GCM-SHA384": "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "AES128-SHA256": "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "AES128-SHA": "TLS_RSA_WITH_AES_128_CBC_SHA",
    "AES256-SHA": "TLS_RSA_WITH_AES_256_CBC_SHA",
    "DES-CBC3-SHA": "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "ECDHE-RSA-DES-CBC3-SHA": "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
}

# With ciphers given and TLS 1.2 allowed, Go serves no HTTP/2 without one of these (golang.org/x/net/http2 ConfigureServer), and so
# kube-scheduler does not start.
_HTTP2 = {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"}
_NEWEST = "VersionTLS13"


def flags(api_server: Object | None) -> list[str]:
    """Flags of kube-scheduler for the APIServer ``cluster`` (config.openshift.io/v1), None where there is none.

    A profile that says nothing of ciphers, or of the version, gives no flag for it: kube-scheduler's default then holds. One with which
    kube-scheduler would not start with TLS 1.2 gets TLS 1.3 alone, whose ciphers no profile restricts.
    """
    version, ciphers = _profile(api_server)
    suites = [IANA[cipher] for cipher in ciphers if cipher in IANA]
    if suites and _HTTP2.isdisjoint(suites):
        version = _NEWEST
    found = []
    if suites:
        found.append("--tls-cipher-suites=" + ",".join(suites))
    if version:
        found.append("--tls-min-version=" + version)
    return found


def _profile(api_server: Object | None) -> tuple[str, Sequence[str]]:
    """``(minimal version, ciphers)`` of the profile; Intermediate for none, an unknown one, or a Custom one without content."""
    profile = ((api_server or {}).get("spec") or {}).get("tlsSecurityProfile") or {}
    if profile.get("type") == "Custom" and profile.get("custom") is not None:
        custom = profile["custom"]
        return custom.get("minTLSVersion") or "", custom.get("ciphers") or []
    return PROFILES.get(profile.get("type", DEFAULT), PROFILES[DEFAULT])
