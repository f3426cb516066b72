#!/usr/bin/env python
# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stand-in for kubelet with one static pod, and (as a program) for the kube-scheduler in it.

It runs what the manifest says as a process of this machine, again when the pod in the file changes or a second after the process has ended by itself,
and notes every name that it ever sees in the folder of manifests.
"""

from __future__ import annotations

import http.server
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

import yaml

# Seconds from the start of a process that ends by itself until the next one. Without a pause they would keep a processor busy.
BACK_OFF = 1.0


class Kubelet:
    """Reconciles while it is entered. `seen`: all names that were in the folder; `starts`: how often a process was started."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self.seen: set[str] = set()
        self.starts = 0

    def __enter__(self) -> Kubelet:
        self._thread.start()
        return self

    def __exit__(self, *_exception) -> None:
        self._ended.set()
        self._thread.join()

    def _work(self):
        process, pod, text, wanted, started = None, None, "", None, 0.0
        while not self._ended.wait(0.02):
            names = {path.name for path in self._folder.iterdir()}
            self.seen |= names
            before, text = text, (self._folder / "kube-scheduler.yaml").read_text()
            if text != before:
                wanted = yaml.safe_load(text)
            ended = process and process.poll() is not None and time.monotonic() - started > BACK_OFF
            if process and (wanted != pod or ended):
                process.terminate()
                process.wait()
                process = None
            if process is None:
                (container,) = wanted["spec"]["containers"]
                argv = [*container["command"], *container.get("args", [])]
                process, pod, started = subprocess.Popen(argv, stderr=subprocess.DEVNULL), wanted, time.monotonic()
                self.starts += 1
        if process:
            process.terminate()
            process.wait()


def serve(arguments: list[str]) -> None:
    """kube-scheduler: ends on a flag ``broken`` or a configuration that holds it, else answers that it is well."""
    flags = dict(one[2:].split("=", 1) for one in arguments)
    if "broken" in flags or ("config" in flags and "broken" in Path(flags["config"]).read_text()):
        sys.exit("it is broken")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(flags["secure-port"])), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(flags["tls-cert-file"], flags["tls-private-key-file"])
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()


if __name__ == "__main__":
    serve(sys.argv[1:])
