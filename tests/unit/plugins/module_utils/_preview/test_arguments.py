# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the modules of previews take from the cluster and from files."""

from __future__ import annotations

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import client
from ansible_collections.osso.scheduler.plugins.module_utils._preview import arguments
from support.preview import listed, node


class Cluster:
    """A client that counts how often it is connected."""

    connected = 0

    @classmethod
    def connect(cls, params, warn):
        assert (params["host"], warn) == ("x", print)
        cls.connected += 1
        return cls()

    def list(self, resource):
        return [node("live")] if resource.kind == "Node" else []

    def version(self):
        return "v1.34.4"


def test_the_cluster_is_connected_once_and_only_if_it_is_needed(tmp_path, monkeypatch):
    monkeypatch.setattr(client.Client, "connect", Cluster.connect)
    file = tmp_path / "list.json"
    file.write_bytes(listed(node("filed")))
    inputs = arguments.Inputs({"snapshot": str(file), "host": "x"}, print, print)
    assert [one["metadata"]["name"] for one in inputs.snapshot().of("Node")] == ["filed"]
    assert Cluster.connected == 0
    inputs = arguments.Inputs({"snapshot": None, "host": "x"}, print, print)
    assert ([one["metadata"]["name"] for one in inputs.snapshot().of("Node")], inputs.client) == (["live"], inputs.client)
    assert Cluster.connected == 1


def test_commands_get_their_arguments_as_they_are():
    seen = []

    def run_command(command, **options):
        seen.append((command, options))

    arguments.Inputs({}, print, run_command).run_command(["skopeo", "$HOME"])
    assert seen == [(["skopeo", "$HOME"], {"expand_user_and_vars": False, "handle_exceptions": False})]
