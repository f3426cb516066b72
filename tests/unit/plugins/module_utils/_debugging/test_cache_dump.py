# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What scheduler_cache_dump says where there is no dump after the signal (F155)."""

from __future__ import annotations

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import KNOWN
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import cache_dump, send_sigusr2
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.target_pod import Target

POD = {
    "metadata": {"namespace": "n", "name": "p"},
    "spec": {"containers": [{"name": "c"}]},
    "status": {"containerStatuses": [{"name": "c", "containerID": "x://1"}]},
}
LEFTOVER = "The ephemeral container e has ended; it stays listed."


class Server:
    """An API server with a pod; its log grows by one line, or can't be read any more."""

    def __init__(self, grown):
        self.grown, self.read = grown, 0

    def resource(self, api_version, kind):
        return KNOWN[api_version, kind]

    def get(self, resource, name, namespace):
        return POD

    def text(self, path, query=None):
        self.read += 1
        if self.read == 1:
            return "2026-11-22T05:26:55.1Z first\n"
        if isinstance(self.grown, Exception):
            raise self.grown
        return f"2026-11-22T05:26:56.1Z {self.grown}\n"


def failure(monkeypatch, grown) -> ClusterError:
    monkeypatch.setattr(send_sigusr2, "from_inside", lambda *_args: send_sigusr2.Sent(send_sigusr2.EPHEMERAL, LEFTOVER))
    options = cache_dump.Options(
        None, [], {"namespace": "n", "name": "p"}, cache_dump.AUTO, "busybox", "kube-scheduler", None, None, 1, False
    )
    with pytest.raises(ClusterError) as error:
        cache_dump.run(Server(grown), options, Target(POD, "c", {}, None))
    return error.value


def test_the_end_of_a_log_is_told_without_credentials(monkeypatch):
    """... and what stays in the cluster is named."""
    message = failure(monkeypatch, "cannot use token: pl4nted").message
    assert "its log since then ends with: cannot use token: ********" in message
    assert "pl4nted" not in message
    assert message.endswith(LEFTOVER)


def test_a_log_that_cannot_be_read_any_more(monkeypatch):
    error = failure(monkeypatch, ApiError(500, "InternalError", "the node is gone"))
    assert (error.status, error.message) == (500, f"the node is gone {LEFTOVER}")
