#!/usr/bin/env python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A program that says several times a second whether the scheduler of the network that it runs in is ready: lines of a time and 1 or 0."""

from __future__ import annotations

import http.client
import ssl
import sys
import time


def watch(host: str, port: int) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    while True:
        at = time.time()
        connection = http.client.HTTPSConnection(host, port, timeout=5, context=context)
        try:
            connection.request("GET", "/readyz")
            print(at, int(connection.getresponse().status == http.HTTPStatus.OK), flush=True)
        except (OSError, http.client.HTTPException):
            print(at, 0, flush=True)
        finally:
            connection.close()
        time.sleep(0.2)


if __name__ == "__main__":
    watch(sys.argv[1], int(sys.argv[2]))
