# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Certificates for servers that tests start, by an authority of the test's own."""

from __future__ import annotations

import ipaddress
import ssl
import subprocess
from pathlib import Path


class Authority:
    """A certificate authority in a folder, a new one unless it is told of the certificate `ca.crt` and `ca.key` of another folder.

    `pem` is its certificate.
    """

    def __init__(self, folder: Path, name: str = "test", of: Path | None = None):
        self._folder = folder
        self._serial = 0
        self._key, self.path = (of or folder) / "ca.key", (of or folder) / "ca.crt"
        if of is None:
            # A name of its own: by an equal name a client would look for the wrong key.
            subject = f"/CN={name} authority {folder.name}"
            _openssl("req", "-x509", "-days=2", f"-subj={subject}", *_key(self._key), f"-out={self.path}", "-addext=keyUsage=keyCertSign")
        self.pem = self.path.read_text()

    def expired(self) -> str:
        """An older certificate of the authority, with the same name and key, that has expired."""
        path = self._folder / "expired.crt"
        _openssl("x509", f"-in={self.path}", f"-signkey={self._key}", "-days=-1", f"-out={path}")
        return path.read_text()

    def certificate(self, *names: str, days: int = 2) -> tuple[Path, Path]:
        """Files of a certificate for these names or IP addresses and of its key. With negative `days` it has expired."""
        self._serial += 1
        path, key, request = (self._folder / f"{self._serial}.{suffix}" for suffix in ("crt", "key", "csr"))
        extensions = self._folder / f"{self._serial}.ext"
        extensions.write_text("subjectAltName=" + ",".join(_alternative(name) for name in names) + "\nextendedKeyUsage=serverAuth\n")
        _openssl("req", f"-subj=/CN={names[0][:60]}", *_key(key), f"-out={request}")
        command = ["x509", "-req", f"-in={request}", f"-CA={self.path}", f"-CAkey={self._key}", f"-set_serial={self._serial}"]
        _openssl(*command, f"-days={days}", f"-extfile={extensions}", f"-out={path}")
        return path, key

    def context(self, *names: str, days: int = 2) -> ssl.SSLContext:
        """TLS of a server with such a certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.certificate(*names, days=days))
        return context


def _key(path: Path) -> list[str]:
    return ["-newkey=ec", "-pkeyopt=ec_paramgen_curve:prime256v1", "-nodes", f"-keyout={path}"]


def _alternative(name: str) -> str:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return f"DNS:{name}"
    return f"IP:{name}"


def _openssl(command: str, *options: str) -> None:
    """Run `openssl`; its options take their values as arguments of their own."""
    words = [word for option in options for word in option.split("=", 1)]
    subprocess.run(["openssl", command, *words], check=True, capture_output=True)
