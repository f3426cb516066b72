# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What kube-scheduler does with extenders when it is built, and what it refuses then.

Sources: buildExtenders in pkg/scheduler/scheduler.go (up to 1.22 create in factory.go), NewHTTPExtender in
pkg/scheduler/extender.go, TLSConfigFor in client-go/transport/transport.go.
"""

from __future__ import annotations

from base64 import b64decode
from typing import Any

from .pem import has_certificate, pair_problem
from .report import BUILD, Path, Report
from .target import Target

FIT = "NodeResourcesFit"


def build(config: dict[str, Any], target: Target, report: Report) -> None:
    """Check the TLS of every extender and make NodeResourcesFit ignore, in place, the resources that they manage alone.

    Files (caFile, certFile, keyFile) are not read: they are those of the scheduler's container.
    """
    ignored = []
    for index, extender in enumerate(config.get("extenders", ())):
        if extender.get("tlsConfig") is not None:
            _check_tls(extender["tlsConfig"], ("extenders", index, "tlsConfig"), target, report)
        ignored += [resource.get("name", "") for resource in extender.get("managedResources", ()) if resource.get("ignoredByScheduler")]
    if not ignored:
        return
    for index, profile in enumerate(config.get("profiles", ())):
        plugin_config = profile.setdefault("pluginConfig", [])
        if target.minor <= 21:
            # One entry more, which is refused if the profile has one of its own.
            plugin_config.append({"name": FIT, "args": {"ignoredResources": list(ignored)}})
            continue
        entry = next((entry for entry in plugin_config if entry.get("name") == FIT), None)
        if entry is not None:
            entry["args"]["ignoredResources"] = list(ignored)
        elif not report.has_error_within(("profiles", index)):
            message = f"an extender has resources with ignoredByScheduler: true, and {FIT}, which would ignore them, is disabled"
            hint = f"enable {FIT} in this profile, or give its arguments in pluginConfig"
            report.error(BUILD, "extender", ("profiles", index, "plugins"), f"can't find {FIT}Args in plugin config: {message}", hint)


def _check_tls(tls: dict[str, Any], path: Path, target: Target, report: Report) -> None:
    authority = b64decode(tls.get("caData", ""))
    if tls.get("insecure") and (authority or tls.get("caFile")):
        message = "specifying a root certificates file with the insecure flag is not allowed"
        report.error(BUILD, "extender", (*path, "insecure"), message, "remove insecure: true, or caData and caFile")
    elif authority and target.minor >= 22 and not has_certificate(authority):
        message = "unable to load root certificates: no certificate in PEM"
        hint = "give the certificate in PEM (-----BEGIN CERTIFICATE-----), encoded with base64 once more"
        report.error(BUILD, "extender", (*path, "caData"), message, hint)
    certificate, key = b64decode(tls.get("certData", "")), b64decode(tls.get("keyData", ""))
    if certificate and key:
        which, message = pair_problem(certificate, key)
        if which:
            field = "certData" if which == "certificate" else "keyData"
            hint = "give a certificate and the private key that belongs to it, both in PEM, encoded with base64 once more"
            report.error(BUILD, "extender", (*path, field), message, hint)
