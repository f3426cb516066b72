# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Host and port as Go's net package reads them (net/ipsock.go, net/ip.go)."""

from __future__ import annotations


def split_host_port(text: str) -> tuple[str, str]:
    """``("::1", "80")`` for ``[::1]:80``; both may be empty. Raises ValueError with Go's words."""
    colon = text.rfind(":")
    if colon < 0:
        raise ValueError(f"address {text}: missing port in address")
    if text.startswith("["):
        end = text.find("]")
        if end < 0:
            raise ValueError(f"address {text}: missing ']' in address")
        if end + 1 != colon:
            problem = "too many colons" if text[end + 1 : end + 2] == ":" else "missing port"
            raise ValueError(f"address {text}: {problem} in address")
        host, opened, closed = text[1:end], text[1:], text[end + 1 :]
    else:
        host, opened, closed = text[:colon], text, text
        if ":" in host:
            raise ValueError(f"address {text}: too many colons in address")
    for bracket, rest in (("[", opened), ("]", closed)):
        if bracket in rest:
            raise ValueError(f"address {text}: unexpected '{bracket}' in address")
    return host, text[colon + 1 :]


def join_host_port(host: str, port: str) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_ip(text: str) -> bool:
    """An IPv4 or IPv6 address without a zone (net.ParseIP)."""
    import ipaddress  # the rest of the package does without it, and it takes milliseconds to import

    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text and all(character.isascii() for character in text)
