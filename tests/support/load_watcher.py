# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A load-watcher service whose load does not change."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def load_watcher(cpu):
    """A load-watcher service with the use of CPU and memory of each node, average and deviation, in percent; its URL. Without a deviation: None."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            metrics = {
                node: {
                    "metrics": [
                        {"name": "c", "type": kind, "operator": operator, "rollup": "", "value": value}
                        for kind in ("CPU", "Memory")
                        for operator, value in (("AVG", average), ("STD", deviation))
                        if value is not None
                    ],
                    "tags": {},
                    "metadata": {},
                }
                for node, (average, deviation) in cpu.items()
            }
            now = int(time.time())
            window = {"duration": "15m", "start": now - 900, "end": now}
            body = json.dumps({"timestamp": now, "window": window, "source": "t", "data": {"NodeMetricsMap": metrics}})
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
