# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which metrics load-aware plugins need, and whether what Prometheus has of them is fit for a cluster's nodes. No I/O.

Sources: pkg/watcher/internal/metricsprovider/prometheus.go of paypal/load-watcher (names, windows, the label ``instance``), and which of
CPU and memory the plugins below pkg/trimaran of kubernetes-sigs/scheduler-plugins look at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.needs import NEEDS
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.findings import Finding, error, warning

if TYPE_CHECKING:
    from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.prometheus import Sample

CPU, MEMORY = "instance:node_cpu:ratio", "instance:node_memory_utilisation:ratio"

RAW = {CPU: "node_cpu_seconds_total", MEMORY: "node_memory_MemAvailable_bytes"}
"""What node-exporter measures, out of which a recording rule makes the metric."""

WINDOW = "15m"
"""The longest time over which load-watcher averages; plugins use that average."""

MAX_AGE = 120
"""Seconds after which a sample counts as old: load-watcher asks every 60 s, and Prometheus records every 15 to 30 s."""

RECORDED_BY, US = "recorded_by", "osso.scheduler"
"""The label by which a series says that our own recording rule made it."""

DEFAULT_TARGET_UTILIZATION = 40
"""Of TargetLoadPacking (apis/config/v1/defaults.go)."""

_SHOWN = 5
_LONGEST_NAME = 253


class Node(NamedTuple):
    """addresses: all under which a metric may name the node instead: IPs and host names."""

    name: str
    addresses: tuple[str, ...] = ()


class Readers(NamedTuple):
    """Who goes by the metrics. through_service: by way of a load-watcher service. target_utilization: of TargetLoadPacking, in percent."""

    plugins: Sequence[str]
    through_service: bool = False
    target_utilization: float = DEFAULT_TARGET_UTILIZATION

    def failing(self, metric: str, value: float) -> list[str]:
        """The plugins that compute an invalid score from this average, after which the scheduler places no pod.

        Source: pkg/trimaran of scheduler-plugins v0.34. LowRiskOverCommitment treats a value that is no number as the highest risk, and keeps others
        within its limits. Peaks normalizes any score into the valid range. Values above 1 get `score_without_metric`, too.
        """
        return [name for name in self.plugins if name in NEEDS and metric in NEEDS[name].metrics and self._fails(name, value)]

    @property
    def score_without_metric(self) -> str:
        """The score of a node without a value. Peaks computes a cost, which is 0 for such a node, and NormalizeScore inverts it."""
        others = [name for name in self.plugins if name != "Peaks"]
        if len(others) == len(self.plugins):
            return "the lowest score"
        return "the lowest score, from Peaks the highest" if others else "the highest score"

    def _fails(self, plugin: str, value: float) -> bool:
        if plugin == "TargetLoadPacking":
            target = self.target_utilization
            # Its score is a line through the target, and falls below 0 at this load without any pod.
            return math.isnan(value) or (target < 100 and 100 * value < -target * (target + 0.5) / (100 - target)) or value == -math.inf
        # It reads the standard deviation, too, which is NaN where a sample is infinite.
        return plugin == "LoadVariationRiskBalancing" and not math.isfinite(value)


def nodes(objects: Iterable[Mapping[str, Any]]) -> list[Node]:
    """The Nodes of a cluster, by name."""
    found = []
    for item in objects:
        addresses = (item.get("status") or {}).get("addresses") or []
        found.append(Node(item["metadata"]["name"], tuple(entry["address"] for entry in addresses)))
    return sorted(found)


def needed(plugins: Iterable[str]) -> list[str]:
    """The metrics that these plugins read, without those that may be absent."""
    wanted = {metric for plugin in plugins if plugin in NEEDS for metric in NEEDS[plugin].metrics}
    return [metric for metric in (CPU, MEMORY) if metric in wanted]


def load_aware() -> list[str]:
    """All plugins that read metrics."""
    return [name for name, need in NEEDS.items() if need.metrics]


def average(metric: str) -> str:
    """What load-watcher asks."""
    return f"avg_over_time({metric}[{WINDOW}])"


def age(metric: str) -> str:
    """How long ago, in seconds by Prometheus' own clock, the newest sample within the window was taken."""
    return f"time() - (timestamp({metric}) or max_over_time(timestamp({metric})[{WINDOW}:10s]))"


def recorders(metric: str) -> str:
    """Who records the metric now, by our label; what ended is not among them."""
    return f"count by ({RECORDED_BY}) ({metric})"


def by_others(answer: Sequence[Sample]) -> bool:
    """Whether another rule is among the recorders."""
    return any(sample.labels.get(RECORDED_BY) != US for sample in answer)


def raw(metric: str) -> str:
    """How many series there are of what the metric is made of."""
    return f"count({RAW[metric]})"


def evaluate(
    metric: str,
    averages: Sequence[Sample],
    ages: Sequence[Sample],
    known: Sequence[Node],
    max_age: float,
    raw_series: int | None,
    readers: Readers,
) -> tuple[dict[str, Any], list[Finding]]:
    """What there is of a metric, in the form that the module returns, and what is wrong with it.

    averages, ages: vectors (``labels``, ``value``) that answer `average` and `age`. known: the cluster's nodes. raw_series: the answer to
    `raw`, None if it was not asked.
    """
    values = _by_instance(averages)
    seconds = {instance: min(found) for instance, found in _by_instance(ages).items()}
    by_node = []
    for node in known:
        value, old = values.get(node.name, [math.nan])[-1], seconds.get(node.name, math.nan)
        by_node.append(
            {
                "name": node.name,
                "value": round(value, 4) if math.isfinite(value) else None,
                "age_seconds": round(old) if math.isfinite(old) else None,
            }
        )
    names = {node.name for node in known}
    report: dict[str, Any] = {
        "name": metric,
        "exists": bool(values),
        "nodes": by_node,
        "other_instances": sorted(set(values) - names),
    }
    if not values:
        return report, [_missing(metric, raw_series)]
    findings = _unmatched(metric, report["other_instances"], [node for node in known if node.name not in values], len(known), readers)
    stale = sorted(name for name in names if name in seconds and not seconds[name] <= max_age)
    if stale:
        oldest = max(seconds[name] for name in stale)
        message = f"{metric} is up to {oldest:.0f} s old for {_listed(stale)}, and a scheduler uses it without a warning"
        hint = "see whether Prometheus still scrapes node-exporter there (its page Targets), and evaluates its rules"
        findings.append(error("metric-stale", message, hint, metric=metric, nodes=tuple(stale)))
    twice = sorted(name for name in names if len(values.get(name, ())) > 1)
    if twice:
        message = f"There are several series of {metric} for {_listed(twice)}; a scheduler takes one of them"
        hint = "remove one of the recording rules that make them"
        findings.append(warning("metric-duplicate", message, hint, metric=metric, nodes=tuple(twice)))
    return report, findings + _wrong_values(metric, values, names, readers)


def _wrong_values(metric: str, values: Mapping[str, list[float]], names: set[str], readers: Readers) -> list[Finding]:
    """Values with which a scheduler does not work, and such as no ratio has."""
    hint = f"correct its recording rule, which may divide by 0; the average is well again {WINDOW} after the last such sample"
    findings: list[Finding] = []
    unsent = sorted(name for name, found in values.items() if not all(map(math.isfinite, found))) if readers.through_service else []
    if unsent:
        # gojay, with which load-watcher writes JSON, writes NaN and Inf, which it does not read.
        message = f"{metric} is no finite number for {_listed(unsent)}, so no plugin can read load-watcher's output, and every node gets the lowest score"
        findings.append(error("metric-invalid", message, hint, metric=metric, nodes=tuple(unsent)))
    failing = {name: readers.failing(metric, value) for name in names & set(values) for value in values[name]}
    invalid = sorted(name for name, plugins in failing.items() if plugins and name not in unsent)
    if invalid:
        plugins = sorted({plugin for name in invalid for plugin in failing[name]})
        shown = ", ".join(sorted({f"{value:.4g}" for name in invalid for value in values[name] if readers.failing(metric, value)})[:_SHOWN])
        message = (
            f"{metric} is {shown} for {_listed(invalid)}: {' and '.join(plugins)} makes an invalid score of it, and no pod is placed at all"
        )
        findings.append(error("metric-invalid", message, hint, metric=metric, nodes=tuple(invalid)))
    odd = {name for name in names & set(values) if not all(-0.01 <= value <= 1.5 for value in values[name])}
    high = sorted(odd.difference(unsent, invalid))
    if high:
        message = f"{metric} is no ratio from 0 to 1 for {_listed(high)}"
        findings.append(warning("metric-out-of-range", message, "correct its recording rule", metric=metric, nodes=tuple(high)))
    return findings


def _by_instance(samples: Sequence[Sample]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for sample in samples:
        found.setdefault(sample.labels.get("instance", ""), []).append(sample.value)
    return found


def _missing(metric: str, raw_series: int | None) -> Finding:
    message = f"Prometheus has no {metric}, so every node gets the lowest score"
    if raw_series:
        hint = f"it has {RAW[metric]}: record the metric by a rule, for example with the role osso.scheduler.monitoring"
    elif raw_series == 0:
        hint = f"it has no {RAW[metric]} either: have it scrape node-exporter on every node, and record the metric by a rule"
    else:
        hint = "record it by a rule, for example with the role osso.scheduler.monitoring"
    return error("metric-missing", message, hint, metric=metric)


def _unmatched(metric: str, others: Sequence[str], nodes_without: Sequence[Node], known: int, readers: Readers) -> list[Finding]:
    """Nodes without a series: because it has another label, or because there is none.

    others: labels that are no node's name. known: how many nodes there are.
    """
    without = {node.name for node in nodes_without}
    renamed = {}
    for node in nodes_without:
        other = next((instance for instance in others if _means(instance, node)), None)
        if other is not None:
            renamed[node.name] = other
    # Where no node is found at all, the label is wrong whatever it holds.
    misnamed = set(renamed) or (without if len(without) == known else set())
    findings = []
    if misnamed:
        instances, named = list(renamed.values()) or others, sorted(misnamed)
        message = (
            f"The label instance of {metric} is no node name ({_listed(instances)}), so a scheduler finds nothing for {_listed(named)}"
        )
        hint = "have instance replaced by the node's name where Prometheus scrapes node-exporter, or in the recording rule"
        findings.append(error("labels-do-not-match", message, hint, metric=metric, nodes=tuple(named)))
    missing = sorted(without - misnamed)
    if missing:
        message = f"Prometheus has no {metric} for {_listed(missing)}, which therefore get {readers.score_without_metric}"
        hint = "see whether node-exporter runs there and Prometheus scrapes it"
        findings.append(error("metric-missing-for-nodes", message, hint, metric=metric, nodes=tuple(missing)))
    return findings


def _means(instance: str, node: Node) -> bool:
    """Whether a label that is not the node's name stands for the node: with a port, a domain, or as an address of it."""
    host = instance.rpartition(":")[0] if instance.rpartition(":")[2].isdecimal() else instance
    host = host.strip("[]")
    return host == node.name or host in node.addresses or host.split(".")[0] == node.name.split(".")[0]


def _listed(names: Iterable[str]) -> str:
    every = [name[:_LONGEST_NAME] for name in names]
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + more
