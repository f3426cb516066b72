# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Streams into pods: outcomes of commands, and refusals in the texts of the Python library."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.streams import Outcome, _outcome, _refusals


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ({"status": "Success"}, Outcome(0, "out", "")),
        (
            {
                "status": "Failure",
                "message": "m",
                "details": {"causes": [{"reason": "Other", "message": "1"}, {"reason": "ExitCode", "message": "3"}]},
            },
            Outcome(3, "out", "m"),
        ),
        (
            {"status": "Failure", "message": "no such file", "details": {"causes": [{"reason": "ExitCode", "message": "x"}]}},
            Outcome(None, "out", "no such file"),
        ),
        ({"status": "Failure", "details": None}, Outcome(None, "out", "")),
    ],
)
def test_the_status_of_a_command_gives_its_exit_code_and_message(status, outcome):
    assert _outcome(json.dumps(status), "out") == outcome


def test_a_connection_that_broke_has_no_exit_code():
    assert _outcome("", "out") == Outcome(None, "out", "the connection broke before the command ended")


class ApiException(Exception):
    def __init__(self, reason):
        super().__init__("all")
        self.reason = reason


BODY = '{"kind": "Status", "reason": "Forbidden", "message": "no exec"}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Handshake status 403 Forbidden -+-+- {{}} -+-+- {BODY}", (403, "Forbidden", "no exec")),
        (f"Handshake status 403 Forbidden -+-+- {{}} -+-+- {BODY.encode()!r}", (403, "Forbidden", "no exec")),
        ("Handshake status 500 Internal Server Error -+-+- {} -+-+- broken", (500, "", "Internal Server Error")),
        ("Handshake status 404 Not Found -+-+- {} -+-+- [1]", (404, "", "Not Found")),
        ("[Errno 111] Connection refused -+-+- x", (0, "Unreachable", "[Errno 111] Connection refused")),
    ],
)
def test_a_rejected_connection_has_status_reason_and_message(text, expected):
    with pytest.raises(ApiError) as failure, _refusals("GET", "/path"):
        raise ApiException(text)
    error = failure.value
    assert (error.status, error.reason, error.message) == expected
    assert (error.method, error.path) == ("GET", "/path")


@pytest.mark.parametrize("error", [ClusterError("m"), ValueError("m")])
def test_errors_of_other_types_are_raised_unchanged(error):
    with pytest.raises(type(error)) as failure, _refusals("GET", "/path"):
        raise error
    assert failure.value is error
