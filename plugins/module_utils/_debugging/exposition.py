# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Metrics as a program serves them (Prometheus text format 0.0.4), and what those of a kube-scheduler say. Pure.

Sources: the format's description (prometheus.io, "Exposition formats"), pkg/scheduler/metrics/metrics.go of each release, and the
interpolation of PromQL's histogram_quantile (promql/quantile.go).
"""

from __future__ import annotations

import io
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

ATTEMPTS = "scheduler_schedule_attempts_total"
PENDING = "scheduler_pending_pods"
START = "process_start_time_seconds"
# What one attempt takes, the newest name first: since Kubernetes 1.23, before.
ATTEMPT_SECONDS = ("scheduler_scheduling_attempt_duration_seconds", "scheduler_e2e_scheduling_duration_seconds")
# From when a pod comes into the queue until it is bound: since Kubernetes 1.27, before.
POD_SECONDS = ("scheduler_pod_scheduling_sli_duration_seconds", "scheduler_pod_scheduling_duration_seconds")
_NAMES = {ATTEMPTS, PENDING, START, *(f"{name}_bucket" for name in (*ATTEMPT_SECONDS, *POD_SECONDS))}
_USED = tuple(_NAMES)
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}

_LINE = re.compile(r"(?P<name>[A-Za-z_:][\w:]*)(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)(?:\s+-?\d+)?\s*\Z")
_LABEL = re.compile(r'([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"\s*,?\s*')
_LONGEST = 8192
"""Characters of a line. Longer ones are left out."""
_MOST = 100_000
"""Samples that are read. A kube-scheduler has some thousands."""
_ESCAPE = re.compile(r"\\(.)")


class Sample(NamedTuple):
    name: str
    labels: Mapping[str, str]
    value: float


def samples(text: str) -> Iterator[Sample]:
    """The samples of a page of metrics that `of_scheduler` uses; lines that are none are left out."""
    for line in itertools.islice((line for line in io.StringIO(text) if line.startswith(_USED)), _MOST):
        match = _LINE.match(line.strip()) if len(line) <= _LONGEST else None
        if match and match["name"] in _NAMES:
            try:
                yield Sample(match["name"], _labels(match["labels"] or ""), float(match["value"]))
            except ValueError:
                continue


def _labels(text: str) -> dict[str, str]:
    labels, position = {}, 0
    while found := _LABEL.match(text, position):
        labels[found[1]] = _ESCAPE.sub(_unescaped, found[2])
        position = found.end()
    return labels


def quantile(rank: float, buckets: Mapping[float, float]) -> float | None:
    """Of a histogram, upper bound -> count up to it, ``inf`` included: linear within a bucket; None if nothing was counted.

    Beyond the last finite bound nothing is known, and that bound is the answer.
    """
    bounds = sorted(buckets)
    if not bounds or not buckets[bounds[-1]]:
        return None
    wanted, below, start = rank * buckets[bounds[-1]], 0.0, 0.0
    for bound in bounds:
        if buckets[bound] >= wanted:
            if math.isinf(bound):
                return start
            inside = buckets[bound] - below
            return start + (bound - start) * ((wanted - below) / inside if inside else 1.0)
        below, start = buckets[bound], bound
    return start


def of_scheduler(found: Iterable[Sample]) -> dict[str, Any]:
    """What a kube-scheduler has done since its process began, in the form that scheduler_info returns.

    Samples that are no numbers, or infinite, say nothing of that.
    """
    by_name: dict[str, list[Sample]] = {}
    for sample in found:
        if not math.isfinite(sample.value):
            continue
        by_name.setdefault(sample.name, []).append(sample)
    attempts: dict[str, dict[str, int]] = {}
    for sample in by_name.get(ATTEMPTS, ()):
        results = attempts.setdefault(sample.labels.get("profile", ""), {})
        result = sample.labels.get("result", "")
        results[result] = results.get(result, 0) + int(sample.value)
    took: dict[str, list[Sample]] = {}
    for sample in _first(by_name, ATTEMPT_SECONDS):
        took.setdefault(sample.labels.get("profile", ""), []).append(sample)
    start = by_name.get(START)
    return {
        "started_at": int(start[0].value) if start else None,
        "profiles": [
            {
                "scheduler_name": name,
                "attempts": attempts[name],
                "attempt_seconds": _latency(took.get(name, ())),
            }
            for name in sorted(attempts)
        ],
        "pod_seconds": _latency(_first(by_name, POD_SECONDS)),
        "pending": {sample.labels.get("queue", ""): int(sample.value) for sample in by_name.get(PENDING, ())},
    }


def _first(by_name: Mapping[str, list[Sample]], names: Iterable[str]) -> list[Sample]:
    """The buckets of the first of the histograms that there is."""
    return next((by_name[f"{name}_bucket"] for name in names if f"{name}_bucket" in by_name), [])


def _latency(buckets: Iterable[Sample]) -> dict[str, Any] | None:
    """Count and quantiles, in seconds, of all series of a histogram together; None if there is nothing, or if they are no numbers."""
    together: dict[float, float] = {}
    for sample in buckets:
        try:
            bound = float(sample.labels["le"])
        except (KeyError, ValueError):
            continue
        if math.isnan(bound):
            continue
        together[bound] = together.get(bound, 0.0) + sample.value
    if not together or not together[max(together)]:
        return None
    count, found = together[max(together)], {name: round(quantile(rank, together) or 0.0, 6) for name, rank in QUANTILES.items()}
    # Sums and differences of finite numbers can be infinite.
    return {"count": int(count), **found} if all(map(math.isfinite, (count, *found.values()))) else None


def _unescaped(match: re.Match[str]) -> str:
    return "\n" if match.group(1) == "n" else match.group(1)
