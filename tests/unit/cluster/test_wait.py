# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waiting for objects, where a server does not let one watch."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils.cluster import wait
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ApiError
from support.api_server import ApiServer, connect, status

OBJECT = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}


def first_version(*answers):
    """The object as it comes first, from a server that answers so."""
    with ApiServer.running() as server:
        server.answers = list(answers)
        client = connect(server.url, retry_seconds=0)
        target = SimpleNamespace(identity=SimpleNamespace(name="a", namespace=None), resource=client.resource("v1", "Namespace"))
        return next(wait._versions(client, target, SimpleNamespace(remaining=lambda: 60)))


def ended(code, reason):
    """A watch that the server ends with an error."""
    return (200, json.dumps({"type": "ERROR", "object": status(code, reason)}).encode() + b"\n")


def test_a_busy_server_is_asked_instead():
    """Its cache was behind what it had told itself ("Too large resource version")."""
    assert first_version(ended(504, "Timeout"), (200, OBJECT)) == OBJECT


def test_who_is_not_let_in_is_told():
    with pytest.raises(ApiError):
        first_version(ended(401, "Unauthorized"), (200, OBJECT))
