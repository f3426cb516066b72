# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A dump of a real kube-scheduler 1.34.4, with what the API server had at that time (F157).

Recorded on the throwaway cluster from a scheduler that serves `recorded`: a node without a kubelet and pods on it, one that waits for another
to be evicted, one that fits nowhere, one at a gate, one for another scheduler, and one on a node that does not exist.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.klog import entries
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.cache_comparison import compare, view
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.dump_parser import find

RECORDED = Path(__file__).parent / "recorded"


@pytest.fixture(scope="module")
def dump():
    return find(entries((RECORDED / "1.34.log").read_text()))


@pytest.fixture(scope="module")
def there():
    return view(**json.loads((RECORDED / "1.34.json").read_text()))


def test_the_nodes_of_the_recorded_dump_are_parsed(dump):
    nodes = {node.name: node for node in dump.nodes}
    assert sorted(nodes) == ["ghost-node", "node-1", "node-2", "node-3", "recorded-node"]
    assert [name for name, node in nodes.items() if node.deleted] == ["ghost-node"]
    recorded = nodes["recorded-node"]
    assert [pod.name for pod in recorded.pods] == ["placed-0", "placed-1", "placed-2", "gpu", "low"]
    assert [(pod.name, pod.nominated_node) for pod in recorded.nominated] == [("high", "recorded-node")]
    assert recorded.requested.flat() == {"cpu": 980, "memory": 15728640, "ephemeral-storage": 0, "pods": 0, "example.com/gpu": 1}
    assert (recorded.allocatable.cpu_millis, recorded.allocatable.pods) == (1000, 20)
    assert recorded.allocatable.scalar == {"example.com/gpu": 3, "hugepages-2Mi": 64 << 20}


def test_the_queue_of_the_recorded_dump_is_parsed(dump):
    assert dump.queues == {"active": 0, "backoff": 0, "unschedulable": 3}
    assert {pod.name: pod.queue for pod in dump.queue} == dict.fromkeys(("high", "nowhere", "gated"), "unschedulable")


def test_a_recorded_dump_differs_from_the_api_server_by_one_ghost_node(dump, there):
    found = compare(dump, there, there, ["recorded"])
    assert [(one["kind"], one["node"]) for one in found["differences"]] == [("ghost_node", "ghost-node")]
    assert {one["pod"] or one["subject"]: one["meaning"] for one in found["mismatches"]} == {
        "ghost-node": "the scheduler's informer and its cache disagree about this node",
        "others": "no mismatch: it waits for nobody, which is another scheduler",
    }


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (("metadata", "uid", "another"), "stale_pod"),
        (("spec", "nodeName", "node-1"), "pod_elsewhere"),
        (("status", "phase", "Succeeded"), "stale_pod"),
    ],
)
def test_a_pod_that_differs_from_the_recording_is_a_difference(dump, change, kind):
    recorded = json.loads((RECORDED / "1.34.json").read_text())
    part, key, value = change
    next(pod for pod in recorded["pods"] if pod["metadata"]["name"] == "low")[part][key] = value
    changed = view(**recorded)
    assert kind in [one["kind"] for one in compare(dump, changed, changed, ["recorded"])["differences"]]
