# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Errors of podman, buildah, skopeo and opm about a registry, with their remedies."""

from __future__ import annotations

import re
from typing import Any

# Of what kind it is, what is looked for in the output, and the remedy. The first that is found counts. {v}: prefix of the playbook's variables.
_REMEDIES = (
    (
        "refused",
        r"unauthorized: authentication required|invalid username/password|no basic auth credentials|incorrect username or password",
        "the registry rejects the credentials or got none: correct {v}credentials (or {v}auth_file) for it",
    ),
    (
        "denied",
        r"(?<!permission )denied|unauthorized|not authorized|forbidden|insufficient_scope",
        "the registry does not let this account do that: give it the permission, or {v}credentials another account",
    ),
    (
        "plain",
        r"server gave HTTP response to HTTPS client",
        "the registry speaks plain HTTP: add it to {v}insecure_registries if that is meant",
    ),
    (
        "certificate",
        r"x509: certificate is (?:valid for|not valid)|x509: cannot validate certificate|has expired or is not yet valid",
        "its certificate is not for that name or has expired: correct the name or the certificate",
    ),
    (
        "authority",
        r"x509: |failed to verify certificate",
        "this host does not trust the CA of its certificate: name the CA certificate in {v}ca_file",
    ),
    ("name", r"no such host|server misbehaving|name resolution", "the registry's name does not resolve: correct it"),
    (
        "connection",
        r"connection refused|no route to host|i/o timeout|network is unreachable|deadline exceeded|connection reset",
        "the registry does not answer: see that it runs and can be reached from here, and whether a proxy is needed (HTTPS_PROXY)",
    ),
    (
        "unknown",
        r"manifest unknown|name unknown|not known to registry|manifest \S+ not found|404 \(?not found",
        "the image does not exist: correct its name or tag",
    ),
    ("space", r"no space left on device", "there is no space left"),
)


# What is so for all images of a registry.
_REGISTRY_WIDE = ("refused", "plain", "certificate", "authority", "name", "connection")


def explain(output: str, reference: str, prefix: str) -> str:
    """One sentence about the image of that ``reference``, or about its registry, and what to do.

    prefix: what the names of the playbook's variables begin with.
    """
    detail = _last(output)
    subject, remedy = about(output, reference), _cause_and_remedy(output)[1]
    return f"{subject}: {remedy.format(v=prefix)}. Original message: {detail}" if remedy else f"{subject}: {detail or 'no error message'}"


def about(output: str, reference: str) -> str:
    """The common part of all messages, to report it only once."""
    return reference.partition("/")[0] if _cause_and_remedy(output)[0] in _REGISTRY_WIDE else reference


def may_be_missing(output: str) -> bool:
    """Whether the error means that the image does not exist. Some registries instead deny access to a missing image, unless the user may create
    it."""
    return _cause_and_remedy(output)[0] in ("unknown", "denied")


def problems(answers: list[dict[str, Any]], prefix: str) -> list[str]:
    """The problem, by the output of ``skopeo inspect`` for images that may exist or not: ``rc``, ``stderr``, and ``item``,
    the image's reference. What is so for all images of a registry is in the list once.
    """
    found: dict[str, str] = {}
    for answer in answers:
        output = answer.get("stderr", "")
        if answer["rc"] != 0 and not may_be_missing(output):
            found.setdefault(about(output, answer["item"]), explain(output, answer["item"], prefix))
    return list(found.values())


def _cause_and_remedy(output: str) -> tuple[str, str]:
    return next(((kind, remedy) for kind, pattern, remedy in _REMEDIES if re.search(pattern, output, re.IGNORECASE)), ("", ""))


def _last(output: str) -> str:
    """The last line, without what loggers put around it."""
    line = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
    message = re.search(r'level=(?:fatal|error) msg="((?:[^"\\]|\\.)*)"', line)
    return message.group(1).replace('\\"', '"') if message else line
