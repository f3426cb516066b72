# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Logging in to registries: the file that podman, buildah, skopeo and opm read."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

from .reference import parse_registry


def auth_file(credentials: Any, variable: str = "credentials") -> str:
    """Text of that file for ``credentials``: registry (``host:port``, or with a path) -> ``username`` and ``password``.

    Raises ValueError that names ``variable`` and never shows a value.
    """
    if not isinstance(credentials, dict):
        raise ValueError(f"{variable} has to be a mapping from registry to username and password")
    accounts = {}
    for registry, account in credentials.items():
        try:
            parse_registry(str(registry))
        except ValueError as error:
            raise ValueError(f"{variable}: {error}") from None
        given = [account.get(name) if isinstance(account, dict) else None for name in ("username", "password")]
        texts = [text for text in given if isinstance(text, str) and text]
        if len(texts) != len(given) or set(account) != {"username", "password"}:
            raise ValueError(f"{variable}[{str(registry)!r}] has to have username and password, both of them texts, and nothing else")
        if ":" in texts[0]:
            raise ValueError(f"{variable}[{str(registry)!r}].username must not contain a colon")
        accounts[str(registry).rstrip("/")] = {"auth": b64encode(":".join(texts).encode()).decode()}
    return json.dumps({"auths": accounts})
