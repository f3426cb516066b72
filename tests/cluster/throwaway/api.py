# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Questions to the API server, with the administrator's certificate."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Callable
from datetime import UTC, datetime

from .layout import Layout, Record
from .processes import running
from .progress import ClusterError, Step


class Api:
    def __init__(self, layout: Layout, record: Record):
        self._address = record.address
        self._context = ssl.create_default_context(cafile=layout.pki / "ca.crt")
        self._context.load_cert_chain(layout.pki / "admin.crt", layout.pki / "admin.key")

    def request(self, method: str, path: str, body: str | None = None, content_type: str = "application/json") -> tuple[int, str]:
        """Status and body; status 0 when there is no answer."""
        connection = http.client.HTTPSConnection(self._address, 6443, timeout=5, context=self._context)
        try:
            headers = {"Accept": "application/json", "Content-Type": content_type, "User-Agent": "throwaway-cluster"}
            connection.request(method, path, body=body, headers=headers)
            response = connection.getresponse()
            return response.status, response.read().decode()
        except (OSError, http.client.HTTPException) as error:
            return 0, str(error)
        finally:
            connection.close()

    def get(self, path: str) -> dict | None:
        """The object at `path`, or None when it cannot be had."""
        status, body = self.request("GET", path)
        return json.loads(body) if status == 200 else None

    def ready(self) -> bool:
        return self.request("GET", "/readyz")[0] == 200

    def ready_nodes(self) -> set[str]:
        nodes = (self.get("/api/v1/nodes") or {}).get("items", [])
        return {
            node["metadata"]["name"]
            for node in nodes
            if any(condition["type"] == "Ready" and condition["status"] == "True" for condition in node["status"].get("conditions", ()))
        }

    def doubt(self, node: str) -> None:
        """Take back that a node is Ready, for its kubelet is gone: the controller manager needs most of a minute to see that.

        A starting kubelet looks at the state of a node that is not Ready ten times a second, at that of others every ten seconds.
        """
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        condition = {
            "type": "Ready",
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "The kubelet is being started.",
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        body = json.dumps({"status": {"conditions": [condition]}})
        self.request("PATCH", f"/api/v1/nodes/{node}/status", body, "application/strategic-merge-patch+json")


def wait(layout: Layout, condition: Callable[[], bool], what: str, needs: list[str], seconds: float, step: Step | None = None) -> None:
    """Wait until `condition` holds. Gives up when one of the daemons that it `needs` is gone, or after `seconds`."""
    deadline = time.monotonic() + seconds
    pause = 0.05
    while not condition():
        alive = running(layout)
        for component in needs:
            if component not in alive:
                raise ClusterError(f"{component} ended before {what}", layout.logs / f"{component}.log")
        if time.monotonic() > deadline:
            log = layout.logs / f"{needs[-1]}.log" if needs else None
            raise ClusterError(f"waited {seconds:.0f} s in vain until {what}", log)
        if step:
            step.detail = f"until {what}"
        time.sleep(pause)
        pause = min(pause * 1.5, 0.3)
