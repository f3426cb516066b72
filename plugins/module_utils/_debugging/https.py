# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A GET of what a kube-scheduler serves over HTTPS, through a port-forward of the API server."""

from __future__ import annotations

import hashlib
import http.client
import ssl
from dataclasses import dataclass
from typing import NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import bounded_http, streams
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import Target

_LARGEST = 128 << 20
"""Bytes of an answer: execution traces are the largest."""


class Answer(NamedTuple):
    """fingerprint: SHA-256 of the certificate in hexadecimal."""

    status: int
    body: bytes
    fingerprint: str


@dataclass(frozen=True)
class Peer:
    """Whom to talk to, and as whom: the one of a certificate (``context``, ``name``, ``fingerprint``), with a token or without."""

    context: ssl.SSLContext
    name: str | None = None
    fingerprint: str | None = None
    token: str = ""


def unverified() -> ssl.SSLContext:
    """For a certificate that a kube-scheduler has signed itself: the way to the pod is the API server's and the kubelet's."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def get(client: Client, target: Target, port: int, path: str, peer: Peer, patience: float, largest: int | None = None) -> Answer:
    """The answer, whatever its status. ``patience`` in seconds, for the whole of it; ``largest`` in bytes, by default 128 MiB. Raises ClusterError where
    none comes or the certificate is another's.
    """
    with streams.forwarded(client, target.namespace, target.name, port, patience) as plain:
        try:
            connection = peer.context.wrap_socket(plain, server_hostname=peer.name or None)
        except ssl.SSLCertVerificationError as error:
            raise ClusterError(
                f"The certificate of the scheduler in {target} could not be verified with serving_ca and serving_name: {error.verify_message}."
            ) from None
        except (ssl.SSLEOFError, ssl.SSLSyscallError, ssl.SSLZeroReturnError):
            raise  # nothing listens there, or it has hung up
        except ssl.SSLError as error:
            raise ClusterError(
                f"Port {port} of the pod {target} does not speak TLS ({error.reason}). Give the scheduler's --secure-port as port."
            ) from None
        except ValueError as error:
            raise ClusterError(f"serving_name: {peer.name} is no name that a certificate can have: {error}.") from None
        fingerprint = hashlib.sha256(connection.getpeercert(binary_form=True) or b"").hexdigest()
        if peer.fingerprint and peer.fingerprint != fingerprint:
            # Before the token is sent
            connection.close()
            raise ClusterError(
                f"certificate_sha256: the certificate of the scheduler in {target} is another one, with the fingerprint {fingerprint}."
            )
        session = http.client.HTTPConnection("localhost", timeout=patience)
        session.sock = connection
        bounded_http.limit_time(session, patience)
        headers = {"Connection": "close", **({"Authorization": f"Bearer {peer.token}"} if peer.token else {})}
        try:
            session.request("GET", path, headers=headers)
            response = session.getresponse()
            return Answer(response.status, bounded_http.read(response, largest or _LARGEST), fingerprint)
        except bounded_http.TooLargeError as error:
            raise ClusterError(f"Port {port} of the pod {target} begins {error}.") from None
        except http.client.HTTPException as error:
            raise ClusterError(f"Port {port} of the pod {target} does not speak HTTP: {error!r}.") from None
        finally:
            session.close()
