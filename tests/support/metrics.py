# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading metrics as Prometheus does: from a pod, through the Service, with the token of a ServiceAccount."""

from __future__ import annotations

import json
import os
import re
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .site import NAMESPACE

SERVICE = "osso-scheduler-operator-metrics"
READER_ROLE = f"osso:{NAMESPACE}:operator:metrics-reader"

# In the pod: argv is address, headers as JSON, and "token" where the ServiceAccount's own is to be sent; a CA for the server, else nobody verifies.
PROGRAM = """
import json, ssl, sys, urllib.error, urllib.request
address, headers, token, authority = sys.argv[1:]
headers = json.loads(headers)
if token:
    with open("/var/run/secrets/kubernetes.io/serviceaccount/token") as file:
        headers["Authorization"] = "Bearer " + file.read()
context = ssl.create_default_context(cadata=authority) if authority else ssl._create_unverified_context()
try:
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), context=context, timeout=20) as answer:
        print(json.dumps([answer.status, answer.read().decode()]))
except urllib.error.HTTPError as error:
    print(json.dumps([error.code, error.read().decode()]))
except OSError as error:
    print(json.dumps([0, str(error)]))
"""


@dataclass(frozen=True)
class Scrape:
    """status: of HTTP, 0 where nobody answered."""

    status: int
    text: str

    def value(self, metric: str) -> float | None:
        """The value of the one series that is written exactly so, labels included."""
        found = re.findall(rf"^{re.escape(metric)} (\S+)$", self.text, flags=re.MULTILINE)
        assert len(found) <= 1
        return float(found[0]) if found else None

    def names(self) -> set[str]:
        return set(re.findall(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)", self.text, flags=re.MULTILINE))


class Reader:
    """A pod somewhere in the cluster, whose ServiceAccount may read the operator's metrics unless `allowed` is false."""

    def __init__(self, kubectl, namespace):
        self._kubectl, self._namespace = kubectl, namespace

    @classmethod
    @contextmanager
    def running(cls, kubectl, allowed=True):
        name = f"reader-{uuid.uuid4().hex[:10]}"
        account = {"name": "reader", "namespace": name}
        image = Path(os.environ["OPERATOR_IMAGE_FILE"]).read_text().strip()
        container = {"name": "reader", "image": image, "command": ["sleep", "infinity"]}
        kubectl("create", "namespace", name)
        try:
            kubectl.apply(
                {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account},
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": account,
                    "spec": {"serviceAccountName": "reader", "terminationGracePeriodSeconds": 0, "containers": [container]},
                },
            )
            if allowed:
                kubectl("create", "clusterrolebinding", name, f"--clusterrole={READER_ROLE}", f"--serviceaccount={name}:reader")
            kubectl("wait", f"--namespace={name}", "--for=condition=Ready", "pod/reader", "--timeout=110s")
            yield cls(kubectl, name)
        finally:
            kubectl("delete", "clusterrolebinding", name, "--ignore-not-found")
            kubectl("delete", "namespace", name, "--wait=false")

    def scrape(self, token=True, authority="", accept="", service=SERVICE) -> Scrape:
        """`authority` is the CA's certificate to trust; without one nothing is verified."""
        address = f"https://{service}.{NAMESPACE}.svc:8443/metrics"
        headers = json.dumps({"Accept": accept} if accept else {})
        arguments = [address, headers, "token" if token else "", authority]
        run = ["exec", f"--namespace={self._namespace}", "-i", "reader", "--", "python3", "-", *arguments]
        return Scrape(*json.loads(self._kubectl(*run, stdin=PROGRAM).stdout))
