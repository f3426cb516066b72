# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What podman, buildah, skopeo and opm say when a registry does not do as they want, in terms of what can be done about it."""

from __future__ import annotations

import re

# What is looked for in the output, and the remedy. The first that is found counts. {v}: prefix of the playbook's variables.
_REMEDIES = (
    (
        r"unauthorized|authentication required|invalid username/password|401 \(?Unauthorized|no basic auth credentials",
        "refused",
        ("the registry wants other credentials or has been given none: correct {v}credentials (or {v}auth_file) for it"),
    ),
    (
        r"denied|403 \(?Forbidden|insufficient_scope",
        "denied",
        ("the account may not do that: give it the permission, or {v}credentials another account"),
    ),
    (
        r"server gave HTTP response to HTTPS client",
        "plain",
        ("the registry speaks plain HTTP: add it to {v}insecure_registries if that is meant"),
    ),
    (
        r"x509: certificate (?:is valid for|is not valid)|x509: cannot validate certificate for|has expired or is not yet valid",
        "certificate",
        ("its certificate is not for that name or has expired: correct the name or the certificate"),
    ),
    (
        r"x509: |certificate signed by unknown authority|tls: failed to verify",
        "authority",
        ("its certificate is by an authority that this machine does not know: name the authority's certificate in {v}ca_file"),
    ),
    (r"no such host|server misbehaving|Temporary failure in name resolution", "name", "its name does not resolve: correct it"),
    (
        r"connection refused|no route to host|i/o timeout|network is unreachable|deadline exceeded|connection reset",
        "connection",
        ("it does not answer: see that it runs and can be reached from here, and whether a proxy is needed (HTTPS_PROXY)"),
    ),
    (
        r"manifest unknown|name unknown|not found: manifest|NAME_UNKNOWN|repository name not known|404 \(?Not Found",
        "unknown",
        ("there is no such image: correct its name or tag"),
    ),
    (r"no space left on device", "space", "there is no space left"),
)


def explain(output: str, subject: str, prefix: str) -> str:
    """One sentence about ``subject`` (``image X``) and what to do; ``prefix`` is that of the playbook's variables."""
    detail = _last(output)
    for pattern, _name, remedy in _REMEDIES:
        if re.search(pattern, output, re.IGNORECASE):
            return f"{subject}: {remedy.format(v=prefix)}. It was said: {detail}"
    return f"{subject}: {detail or 'nothing was said'}"


def is_missing(output: str) -> bool:
    """Whether it says that there is no such image, and nothing else."""
    return next((name for pattern, name, _remedy in _REMEDIES if re.search(pattern, output, re.IGNORECASE)), "") == "unknown"


def _last(output: str) -> str:
    """The last line, without what loggers put around it."""
    line = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
    message = re.search(r'level=(?:fatal|error) msg="((?:[^"\\]|\\.)*)"', line)
    return message.group(1).replace('\\"', '"') if message else line
