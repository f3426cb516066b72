# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What it takes to find Prometheus, get a token, verify its certificate and look at all metrics: figures for docs/benchmarks.md."""

from __future__ import annotations

import statistics
import time

from support.direct_module import run_directly
from support.monitoring import READ, Stack, grant

TITLE = "Check Prometheus"


def test_finding_and_checking_prometheus_takes_few_requests_and_little_time(
    own_cluster, kubeconfig, kubectl, namespace, audit, figures, tmp_path
):
    times = []
    with Stack.of(own_cluster, kubectl, tmp_path) as stack:
        account = grant(kubectl, namespace, READ)
        for _attempt in range(5):
            with audit:
                started = time.monotonic()
                result = run_directly("prometheus_info", kubeconfig=str(kubeconfig), service_account=account).result
                times.append(time.monotonic() - started)
            assert result["usable"] is True, result["findings"]
        queries = stack.queries_seen()
        run_directly("prometheus_info", kubeconfig=str(kubeconfig), service_account=account)
        queries = stack.queries_seen() - queries
    requests = audit.requests(agent="OpenAPI-Generator")
    figures("prometheus_info by a Route, a process of its own, median of 5", statistics.median(times), "s")
    figures("requests to the API server, a token included", len(requests), "")
    figures("queries to Prometheus", round(queries), "")
    assert 0 < len(requests) <= 12
    assert statistics.median(times) <= 1.5
