# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Certificates and private keys in PEM, as far as it takes to see whether Go's crypto/tls can use them.

Looked at are the PEM armour (encoding/pem), the outer structure of the DER in it, and whether a private key belongs to a
certificate. Not looked at, and left to Go: signatures, extensions, algorithms, the values of names and dates.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import NamedTuple

_BLOCK = re.compile(
    rb"(?:\A|(?<=\n))-----BEGIN ([^\n]*?)-----[ \t\r]*\n(?P<headers>(?:[^\n:]*:[^\n]*\n)*)"
    rb"(?P<base64>(?:(?!-----BEGIN )[^:])*?)(?:(?<=\n))-----END \1-----[ \t\r]*(?=\n|\Z)"
)
_INTEGER, _BIT_STRING, _OCTET_STRING, _OID, _SEQUENCE = 0x02, 0x03, 0x04, 0x06, 0x30
_RSA = bytes.fromhex("2a864886f70d010101")
_ELLIPTIC = bytes.fromhex("2a8648ce3d0201")
_ED25519 = bytes.fromhex("2b6570")


class Block(NamedTuple):
    """kind: ``CERTIFICATE``, ``RSA PRIVATE KEY`` ...; headers: whether there are any; der: the content."""

    kind: str
    headers: bool
    der: bytes


def blocks(data: bytes) -> Iterator[Block]:
    """The PEM blocks in a text; everything between them is ignored, as are damaged ones."""
    for match in _BLOCK.finditer(data):
        try:
            der = b64decode(re.sub(rb"\s", b"", match.group("base64")), validate=True)
        except ValueError:
            continue
        yield Block(match.group(1).decode("latin-1"), bool(match.group("headers")), der)


def has_certificate(data: bytes) -> bool:
    """Whether Go takes at least one certificate authority out of the text."""
    return any(block.kind == "CERTIFICATE" and not block.headers and _public_key(block.der) for block in blocks(data))


def pair_problem(certificate: bytes, key: bytes) -> tuple[str, str]:
    """What tls.X509KeyPair has against two texts in PEM: (``certificate`` or ``key``, message), both empty for nothing."""
    certificates = [block for block in blocks(certificate) if block.kind == "CERTIFICATE"]
    keys = [block for block in blocks(key) if block.kind == "PRIVATE KEY" or block.kind.endswith(" PRIVATE KEY")]
    if not certificates:
        return "certificate", "tls: failed to find a certificate in PEM"
    if not keys:
        return "key", "tls: failed to find a private key in PEM"
    public = _public_key(certificates[0].der)
    if public is None:
        return "certificate", "x509: malformed certificate"
    private = _private_key(keys[0].der)
    if private is None:
        return "key", "tls: failed to parse private key"
    if private[0] != public[0]:
        return "key", "tls: private key type does not match public key type"
    if private[1] and private[1] != public[1]:
        return "key", "tls: private key does not match public key"
    return "", ""


def _public_key(certificate: bytes) -> tuple[bytes, bytes] | None:
    """Algorithm and key of a certificate, None if it is none."""
    try:
        ((tag, content),) = _elements(certificate)
        (signed_tag, signed), _algorithm, signature = _elements(content)
        if (tag, signed_tag, signature[0]) != (_SEQUENCE, _SEQUENCE, _BIT_STRING):
            return None
        fields = list(_elements(signed))
        # The version is explicit, [0], where it is not the first one.
        first = 1 if fields[0][0] == 0xA0 else 0
        if fields[first][0] != _INTEGER or any(field[0] != _SEQUENCE for field in fields[first + 1 : first + 6]):
            return None
        algorithm, (_tag, bits) = _elements(fields[first + 5][1])
        oid = next(_elements(algorithm[1]))[1]
        return oid, _rsa_modulus(bits[1:], 0) if oid == _RSA else bits[1:]
    except (ValueError, IndexError, StopIteration):
        return None


def _private_key(der: bytes) -> tuple[bytes, bytes] | None:
    """Algorithm and public part of a private key (PKCS #1, PKCS #8, SEC 1), the latter empty where it is not in there."""
    try:
        ((_tag, content),) = _elements(der)
        fields = list(_elements(content))
        tags = [field[0] for field in fields]
        if tags[:3] == [_INTEGER, _SEQUENCE, _OCTET_STRING]:
            oid = next(_elements(fields[1][1]))[1]
            if oid == _ED25519:
                return oid, b""
            inner = _private_key(fields[2][1])
            return inner if inner is not None and inner[0] == oid else None
        if tags[:2] == [_INTEGER, _OCTET_STRING]:
            public = next((content for tag, content in fields if tag == 0xA1), b"")
            return _ELLIPTIC, next(_elements(public))[1][1:] if public else b""
        if len(tags) >= 9 and set(tags[:9]) == {_INTEGER}:
            return _RSA, _rsa_modulus(der, 1)
    except (ValueError, IndexError, StopIteration):
        pass
    return None


def _rsa_modulus(der: bytes, position: int) -> bytes:
    ((_tag, content),) = _elements(der)
    return list(_elements(content))[position][1]


def _elements(der: bytes) -> Iterator[tuple[int, bytes]]:
    """(tag, content) of the elements that stand one behind the other. Raises ValueError, IndexError."""
    at = 0
    while at < len(der):
        tag, length = der[at], der[at + 1]
        at += 2
        if length >= 0x80:
            size = length - 0x80
            length = int.from_bytes(der[at : at + size], "big")
            at += size
            if not 1 <= size <= 4:
                raise ValueError("no length")
        if at + length > len(der):
            raise ValueError("too short")
        yield tag, der[at : at + length]
        at += length
