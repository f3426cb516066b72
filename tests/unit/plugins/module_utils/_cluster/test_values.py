# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Progress of Deployments, times of the API server, characters, and texts of errors."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster import timestamps, unicode
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.deployments import Progress, is_overdue, progress
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError, message_of


def deployment(replicas=2, generation=3, observed=3, updated=2, available=2, total=2, reason="x"):
    return {
        "metadata": {"generation": generation},
        "spec": {"replicas": replicas},
        "status": {
            "observedGeneration": observed,
            "updatedReplicas": updated,
            "availableReplicas": available,
            "replicas": total,
            "conditions": [{"type": "Progressing", "status": "False", "reason": reason}],
        },
    }


def test_the_progress_of_a_deployment_is_its_status():
    assert progress(deployment(5, 3, 3, 1, 2, 3)) == Progress(True, 5, 1, 2, 3)
    assert progress({"metadata": {}}) == Progress(True, 1, 0, 0, 0)
    assert progress({"metadata": {"generation": 1}, "spec": None, "status": None}) == Progress(False, 1, 0, 0, 0)


@pytest.mark.parametrize(
    ("changed", "complete"),
    [
        ({}, True),
        ({"observed": 4}, True),
        ({"observed": 2}, False),
        ({"updated": 1}, False),
        ({"available": 1}, False),
        ({"total": 3}, False),
        ({"replicas": 3}, False),
        ({"replicas": 0, "updated": 0, "available": 0, "total": 0}, True),
    ],
)
def test_a_rollout_is_complete_with_all_replicas_and_no_others(changed, complete):
    assert progress(deployment(**changed)).complete is complete


@pytest.mark.parametrize(
    ("changed", "overdue"),
    [
        ({}, True),
        ({"updated": 0, "total": 0}, True),
        ({"updated": 0, "total": 1}, False),
        ({"observed": 2}, False),
        ({"reason": "ReplicaSetUpdated"}, False),
    ],
)
def test_only_the_deadline_of_the_present_rollout_counts(changed, overdue):
    assert is_overdue(deployment(**{"reason": "ProgressDeadlineExceeded", **changed})) is overdue


def test_times_are_read_and_written_in_utc():
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert timestamps.parse("2026-01-02T03:04:05Z") == timestamps.parse("2026-01-02T03:04:05.999999Z") == moment
    assert timestamps.write(moment) == "2026-01-02T03:04:05Z"
    assert abs((timestamps.parse(timestamps.now()) - datetime.now(UTC)).total_seconds()) < 60
    assert timestamps.seconds_between("2026-01-02T03:04:05Z", "2026-01-02T03:05:00Z") == 55
    assert timestamps.seconds_between("2026-01-02T03:05:00Z", "2026-01-02T03:04:05Z") == -55


@pytest.mark.parametrize("text", [None, "", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02T03:04:05+01:00", "2026-13-02T03:04:05Z"])
def test_a_text_that_is_no_utc_time_is_rejected(text):
    with pytest.raises(ValueError, match=r"time"):
        timestamps.parse(text)


def test_surrogate_pairs_are_one_character_everywhere():
    pair = "\ud83d\ude00"
    assert unicode.joined({pair: [pair, (pair, 1)], "b": {"c": pair}, 1: None}, "x") == {
        "\U0001f600": ["\U0001f600", ["\U0001f600", 1]],
        "b": {"c": "\U0001f600"},
        1: None,
    }
    assert unicode.replaced(f"a{pair}b") == "a\U0001f600b"
    assert unicode.replaced("a\ud83db") == "a\ufffdb"
    assert unicode.replaced("plain \U0001f600") == "plain \U0001f600"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": ["b", "c\ud83d"]}, r"x.a[1] contains \ud83d, which is half of a surrogate pair and no character."),
        ({"a": ["b", "\ude00c"]}, r"x.a[1] contains \ude00, which is half"),
        ({"\ud83d": 1}, r"x, a key contains \ud83d, which is half"),
        ({"\ud83d\ud83d\ude00": 1}, r"x, a key contains \ud83d, which is half"),
    ],
)
def test_half_a_pair_is_an_error_with_its_place(value, message):
    with pytest.raises(InputError) as failure:
        unicode.joined(value, "x")
    assert failure.value.message.startswith(message)


def test_messages_of_errors_name_the_remedy_and_no_secret_value():
    assert message_of(ApiError(403, "Forbidden", "no")) == "no"
    assert message_of(ApiError(401, "Unauthorized", "Unauthorized")) == (
        "the server does not accept the credentials (Unauthorized); is the token or certificate expired?"
    )
    assert message_of(ClusterError("failed")) == message_of(InputError("failed")) == "failed"
    with pytest.raises(KeyError) as raised:
        raise KeyError("s3cret")
    bug = message_of(raised.value)
    assert bug.startswith(
        "A bug of osso.scheduler; report it with these lines. Values are left out, because they may be credentials.\n"
        "KeyError, most recent call last:\n  "
    )
    assert bug.endswith("in test_messages_of_errors_name_the_remedy_and_no_secret_value")
    assert "s3cret" not in bug


def test_an_api_error_has_all_of_a_status():
    error = ApiError(409, "Conflict", "m", {"causes": []}, "PATCH", "/x", True)
    found = (error.status, error.reason, error.message, error.details, error.method, error.path, error.never_sent)
    assert found == (409, "Conflict", "m", {"causes": []}, "PATCH", "/x", True)
    error = ApiError(0, "Unreachable", "m")
    assert (error.details, error.method, error.path, error.never_sent) == ({}, "", "", False)
