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
from contextlib import suppress

from .layout import Layout, Record
from .processes import running
from .progress import ClusterError, Step


class Api:
    def __init__(self, layout: Layout, record: Record):
        self._address = record.address
        self._context = ssl.create_default_context(cafile=layout.pki / "ca.crt")
        self._context.load_cert_chain(layout.pki / "admin.crt", layout.pki / "admin.key")

    def request(self, method: str, path: str) -> tuple[int, str]:
        """Status and body; status 0 when there is no answer."""
        connection = http.client.HTTPSConnection(self._address, 6443, timeout=5, context=self._context)
        try:
            connection.request(method, path, headers={"Accept": "application/json", "User-Agent": "throwaway-cluster"})
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
        return {node["metadata"]["name"] for node in nodes if _condition(node, "Ready") == "True"}

    def deployment_available(self, namespace: str, name: str) -> bool:
        """Whether the present generation is rolled out in full."""
        found = self.get(f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}")
        if not found:
            return False
        status, replicas = found.get("status", {}), found["spec"]["replicas"]
        return (
            status.get("observedGeneration") == found["metadata"]["generation"]
            and status.get("updatedReplicas", 0) == replicas
            and status.get("availableReplicas", 0) == replicas
        )


def _condition(thing: dict, kind: str) -> str | None:
    return next((condition["status"] for condition in thing.get("status", {}).get("conditions", []) if condition["type"] == kind), None)


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
