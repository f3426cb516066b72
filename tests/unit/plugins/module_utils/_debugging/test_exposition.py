# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the metrics of a kube-scheduler say (F124)."""

from __future__ import annotations

import math
import time

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.exposition import (
    ATTEMPT_SECONDS,
    ATTEMPTS,
    PENDING,
    Sample,
    of_scheduler,
    quantile,
    samples,
)

PAGE = """\
# HELP scheduler_pending_pods [STABLE] Number of pending pods
# TYPE scheduler_pending_pods gauge
scheduler_pending_pods{queue="active"} 0
scheduler_pending_pods{queue="unschedulable"} 2
scheduler_schedule_attempts_total{profile="a",result="scheduled"} 30
scheduler_schedule_attempts_total{profile="a",result="unschedulable"} 1e+01
scheduler_schedule_attempts_total{profile="b",result="error"} 1 1700000000000
scheduler_scheduling_attempt_duration_seconds_bucket{profile="a",result="scheduled",le="0.001"} 10
scheduler_scheduling_attempt_duration_seconds_bucket{profile="a",result="scheduled",le="0.002"} 30
scheduler_scheduling_attempt_duration_seconds_bucket{profile="a",result="scheduled",le="+Inf"} 30
scheduler_scheduling_attempt_duration_seconds_bucket{profile="a",result="unschedulable",le="0.001"} 10
scheduler_scheduling_attempt_duration_seconds_bucket{profile="a",result="unschedulable",le="0.002"} 10
scheduler_scheduling_attempt_duration_seconds_bucket{profile="a",result="unschedulable",le="+Inf"} 10
process_start_time_seconds 1.7637e+09
"""


def test_metric_lines_are_parsed_and_malformed_ones_are_skipped():
    text = 'A 1\n# A 2\nA{x="1,\\"}{",y="\\\\n\\n"} NaN\n\nA{} +Inf 12\nA no line\nA{e="f",} 0x1z\nA{x} 3\nother 4\nA_other 5\n'
    found = list(samples(text.replace("A", PENDING)))
    assert [sample.labels for sample in found] == [{}, {"x": '1,"}{', "y": "\\n\n"}, {}, {}]
    assert {sample.name for sample in found} == {PENDING}
    assert math.isnan(found[1].value)
    assert math.isinf(found[2].value)


@pytest.mark.parametrize(
    ("rank", "buckets", "value"),
    [
        (0.5, {1: 10, 2: 20, math.inf: 20}, 1.0),
        (0.75, {1: 10, 2: 20, math.inf: 20}, 1.5),
        (0.25, {1: 10, 2: 20, math.inf: 20}, 0.5),
        (0.99, {1: 10, 2: 20, math.inf: 40}, 2),
        (0.5, {1: 0, 2: 0, math.inf: 0}, None),
        (0.5, {}, None),
        (0.5, {math.inf: 3}, 0.0),
    ],
)
def test_quantiles_are_those_of_promql(rank, buckets, value):
    assert quantile(rank, buckets) == value


def test_metrics_give_attempts_durations_and_pending_pods():
    found = of_scheduler(samples(PAGE))
    assert found == {
        "started_at": 1763700000,
        "profiles": [
            {
                "scheduler_name": "a",
                "attempts": {"scheduled": 30, "unschedulable": 10},
                # 40 attempts, half of them up to 1 ms
                "attempt_seconds": {"count": 40, "p50": 0.001, "p90": 0.0018, "p99": 0.00198},
            },
            {"scheduler_name": "b", "attempts": {"error": 1}, "attempt_seconds": None},
        ],
        "pod_seconds": None,
        "pending": {"active": 0, "unschedulable": 2},
    }


def test_samples_that_are_no_numbers_are_ignored():
    more = (
        'scheduler_pending_pods{queue="gated"} NaN\nprocess_start_time_seconds +Inf\nscheduler_schedule_attempts_total{profile="a"} -Inf\n'
        'scheduler_pod_scheduling_sli_duration_seconds_bucket{le="NaN"} 3\n'
        'scheduler_scheduling_attempt_duration_seconds_bucket{profile="a",le="+Inf"} NaN\n'
    )
    assert of_scheduler(samples(more + PAGE)) == of_scheduler(samples(PAGE))


def test_histograms_of_older_releases_are_read_under_their_old_names():
    old = PAGE.replace("scheduler_scheduling_attempt_duration", "scheduler_e2e_scheduling_duration")
    assert of_scheduler(samples(old)) == of_scheduler(samples(PAGE))


def test_a_page_without_scheduler_metrics_gives_an_empty_result():
    empty = {"started_at": None, "profiles": [], "pod_seconds": None, "pending": {}}
    assert of_scheduler([Sample("go_goroutines", {}, 3)]) == empty
    assert of_scheduler(samples("<html>")) == empty


def test_values_and_bounds_that_cannot_be_read_are_left_out():
    assert list(samples(f'{PENDING} 1x\n{PENDING}{{c="d"}} 2\n')) == [Sample(PENDING, {"c": "d"}, 2.0)]
    name = "scheduler_pod_scheduling_sli_duration_seconds_bucket"
    text = f'{name}{{attempts="1"}} 7\n{name}{{le="much"}} 7\n{name}{{le="2"}} 4\n{name}{{le="+Inf"}} 4\n'
    assert of_scheduler(samples(text))["pod_seconds"] == {"count": 4, "p50": 1.0, "p90": 1.8, "p99": 1.98}
    assert of_scheduler(samples(f'{name}{{le="+Inf"}} 0\n'))["pod_seconds"] is None
    counted = 'scheduler_schedule_attempts_total{result="error"} 1\nscheduler_schedule_attempts_total{result="error",x="y"} 2\n'
    assert of_scheduler(samples(counted))["profiles"] == [{"scheduler_name": "", "attempts": {"error": 3}, "attempt_seconds": None}]


def test_a_hostile_page_is_read_in_bounded_time_and_memory():
    """Anyone who may create a Deployment can serve one."""
    lines = [
        f"{PENDING}{{{'a' * 8000}}} 1",
        f"{PENDING}{{{'}' * 8000}}} 1",
        f"{PENDING} {' ' * 8000}x y",
        f'{PENDING}{{x="{"a" * 10_000}"}} 1',
    ]
    assert [sample.labels for sample in samples("\n".join(lines * 100))] == [{}, {}] * 100
    assert sum(1 for sample in samples(f"{PENDING} 1\n" * 100_001)) == 100_000


def test_sums_that_are_no_numbers_are_unknown():
    name = "scheduler_pod_scheduling_sli_duration_seconds_bucket"
    for counts in ({"+Inf": "1e308"}, {"1": "-1e308", "+Inf": "1e308"}, {"-Inf": "5", "+Inf": "5"}, {"1e308": "9", "-1e308": "1"}):
        text = "".join(f'{name}{{le="{bound}",x="{x}"}} {count}\n' for bound, count in counts.items() for x in "ab")
        found = of_scheduler(samples(text))["pod_seconds"]
        assert found is None or all(map(math.isfinite, found.values())), counts


def test_profiles_are_grouped_once():
    """A page can name any number of them."""
    name = ATTEMPT_SECONDS[0]
    lines = (f'{ATTEMPTS}{{profile="{one}"}} 1\n{name}_bucket{{profile="{one}",le="+Inf"}} 1\n' for one in range(20_000))
    started = time.process_time()
    assert len(of_scheduler(samples("".join(lines)))["profiles"]) == 20_000
    assert time.process_time() - started < 10
