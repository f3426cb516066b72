# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of images, as people write them and as container engines understand them."""

from __future__ import annotations

import re
from typing import NamedTuple

DOCKER_HUB = "docker.io"
_DOCKER_HUB = (DOCKER_HUB, "index.docker.io", "registry-1.docker.io")
# The grammar of distribution/reference, in what it allows to begin and to be repeated.
_PATH = re.compile(r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)*")
_HOST = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(?::[0-9]{1,5})?")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# What looks like the ID of an image is not read as a name.
_ID = re.compile(r"[0-9a-f]{64}")
_LONGEST = 255


class Reference(NamedTuple):
    """host: registry, with its port; path: repository in it; tag, digest: empty where there is none."""

    host: str
    path: str
    tag: str
    digest: str

    @property
    def repository(self) -> str:
        return f"{self.host}/{self.path}"

    @property
    def pull(self) -> str:
        """How it is asked for. A digest says more than a tag, and skopeo takes but one of them."""
        return self.repository + (f"@{self.digest}" if self.digest else f":{self.tag}")


def parse(text: str) -> Reference:
    """A reference completed with the defaults: Docker Hub, tag ``latest``. Raises ValueError with the reason for an invalid one."""
    name, at, digest = text.partition("@")
    if at and not _DIGEST.fullmatch(digest):
        raise ValueError(f"{text!r} is no image reference: @ must be followed by sha256: and 64 hexadecimal digits")
    host, slash, rest = name.partition("/")
    if not slash or not ("." in host or ":" in host or host == "localhost"):
        host, rest = DOCKER_HUB, name
    if host in _DOCKER_HUB:
        host, rest = DOCKER_HUB, rest if "/" in rest else f"library/{rest}"
    path, colon, tag = rest.partition(":")
    is_name = _PATH.fullmatch(path) and len(path) <= _LONGEST and not _ID.fullmatch(text)
    if not _HOST.fullmatch(host) or not is_name or (colon and not _TAG.fullmatch(tag)):
        raise ValueError(
            f"{text!r} is no image reference, such as registry.example.com/team/name:1.0 or registry.example.com/team/name@sha256:..."
        )
    return Reference(host, path, tag or ("" if at else "latest"), digest)


def problem(text: str) -> str:
    """Why a text is no image reference; empty if it is one."""
    try:
        parse(text)
    except ValueError as error:
        return str(error)
    return ""


def parse_registry(text: str) -> tuple[str, str]:
    """Host (with port) and path, which may be empty, of a place where images go: ``registry.example.com:5000/team``.

    Raises ValueError.
    """
    host, _slash, path = text.rstrip("/").partition("/")
    if "://" in text or not _HOST.fullmatch(host) or (path and not _PATH.fullmatch(path)):
        raise ValueError(
            f"{text!r} is no registry, such as registry.example.com:5000 or registry.example.com/team, without https://, tag and digest"
        )
    return host, path
