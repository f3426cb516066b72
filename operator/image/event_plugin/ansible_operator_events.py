# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plugin of ansible-runner that reports the events of a run to ansible-operator.

ansible-operator starts ansible-runner, puts the path of a unix socket and a URL path into the runner's settings
(``runner_http_url``, ``runner_http_path``), and expects there one HTTP POST per event. A run whose ``playbook_on_stats``
does not arrive counts as failed.

The published plugin for this needs `requests`, whose import alone takes 90 ms of each reconcile; the dozen small requests
of a run need no more than a socket.

At the end of a run it also removes what runs of other resources have left and no run has touched for an hour: ansible-operator
keeps the last runs of each resource, and never forgets a deleted one.
"""

from __future__ import annotations

import json
import shutil
import socket
import time
from functools import cache
from pathlib import Path

# Each resource is played again within ten minutes (--reconcile-period).
KEPT = 3600


def event_handler(runner_config, event):
    """Post one event of the playbook. Raises OSError, which ansible-runner writes to its debug log."""
    settings = runner_config.settings
    if "runner_http_url" in settings:
        _receiver(settings["runner_http_url"], settings["runner_http_path"]).post(event)
        if event.get("event") == "playbook_on_stats":
            sweep(Path(runner_config.private_data_dir), time.time() - KEPT)


def status_handler(runner_config, status):
    """Nothing: ansible-operator drops the runner's own status changes."""


def sweep(own, before):
    """Remove the folders of other resources (.../KIND/NAMESPACE/NAME, all but `own`) whose last run started before that time."""
    for folder in own.parents[1].glob("*/*"):
        try:
            # Written when a run begins.
            if folder != own and (folder / "env/settings").stat().st_mtime < before:
                shutil.rmtree(folder)
        except OSError:
            pass  # somebody else removes it, or its first run is just being laid out


@cache
def _receiver(socket_path, url_path):
    return Receiver(socket_path, url_path)


class Receiver:
    """One kept-alive connection to ansible-operator's event receiver."""

    def __init__(self, socket_path, url_path):
        self._url_path = url_path
        self._socket = socket.socket(socket.AF_UNIX)
        # The receiver itself waits up to 10 s for room in its queue.
        self._socket.settimeout(15)
        self._socket.connect(socket_path)
        self._answers = self._socket.makefile("rb")

    def post(self, event):
        """Send `event` (anything JSON can hold) and wait until it is taken. Raises OSError when it is not."""
        body = json.dumps(event).encode()
        head = f"POST {self._url_path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self._socket.sendall(head.encode() + body)
        status = self._answers.readline().decode()
        while self._answers.readline().strip():
            pass
        # The one answer without a body; after any other the connection cannot be used again, and the run is lost anyway.
        if " 204 " not in status:
            raise ConnectionError(f"ansible-operator did not take the event: {status.strip() or 'connection closed'}")
