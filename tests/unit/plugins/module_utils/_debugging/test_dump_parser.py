# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading what kube-scheduler dumps (F157)."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.klog import entries
from ansible_collections.osso.scheduler.plugins.module_utils._debugging.dump_parser import DumpError, find

HEADER = "I1122 05:26:55.123456       1 dumper.go:52]"
RESOURCES = "&{MilliCPU:150 Memory:52428800 EphemeralStorage:0 AllowedPodNumber:0 ScalarResources:map[]}"
ALLOCATABLE = "&{MilliCPU:2000 Memory:8326463488 EphemeralStorage:47093746742 AllowedPodNumber:110 ScalarResources:map[example.com/gpu:2 hugepages-2Mi:0]}"


def pod_line(name, node="", phase="Running"):
    return f"name: {name}, namespace: shop, uid: uid-{name}, phase: {phase}, nominated node: {node}\n"


def node_text(name="node-1", pods=(), nominated=(), deleted="false", allocatable=ALLOCATABLE):
    text = f"Node name: {name}\nDeleted: {deleted}\nRequested Resources: {RESOURCES}\nAllocatable Resources:{allocatable}\n"
    text += f"Scheduled Pods(number: {len(pods)}):\n" + "".join(pods)
    return text + (f"Nominated Pods(number: {len(nominated)}):\n" + "".join(nominated) if nominated else "")


def lines(text):
    """A value of several lines, as klog writes it."""
    return "<\n" + "".join(f"\t{line}\n" for line in text.removesuffix("\n").split("\n")) + " >"


def log(nodes=(), queue=(), summary=(0, 0, 0), before="", text="activeQ:{}; backoffQ:{}; unschedulablePods:{}"):
    nodes = lines("\n\n".join(nodes)) if nodes else '""'
    pods = lines("".join(queue)) if queue else '""'
    summary = text.format(*summary)
    return (
        f'{before}{HEADER} "Dump of cached NodeInfo" nodes={nodes}\n{HEADER} "Dump of scheduling queue" summary="{summary}" pods={pods}\n'
    )


def read(text):
    return find(entries(text))


def test_nodes_are_read_with_their_pods_and_resources():
    found = read(log([node_text(pods=[pod_line("a"), pod_line("b")]), node_text("node-2")]))
    one, two = found.nodes
    assert (one.name, one.deleted, [pod.name for pod in one.pods], two.name, two.pods) == ("node-1", False, ["a", "b"], "node-2", ())
    assert (one.requested.cpu_millis, one.requested.memory) == (150, 52428800)
    assert (one.allocatable.pods, one.allocatable.scalar) == (110, {"example.com/gpu": 2, "hugepages-2Mi": 0})
    assert one.pods[0].uid == "uid-a"


def test_the_queues_of_pods_are_read_as_1_37_writes_them():
    """PendingPods of pkg/scheduler/backend/queue: with the gate GenericWorkload the pods follow in another order than the counts."""
    text = "activeQ:{}; backoffQ:{}; unschedulableEntities:{}; pendingPodGroupMemberPods:{}; incompletePodGroupPods:{}"
    found = read(log(queue=[pod_line(name) for name in "abc"], summary=(0, 0, 1, 1, 1), text=text))
    assert [(pod.name, pod.queue) for pod in found.queue] == [
        ("a", "unschedulable"),
        ("b", "incomplete_pod_group"),
        ("c", "pending_pod_group"),
    ]
    found = read(log(queue=[pod_line("a")], summary=(0, 0, 1), text="activeQ:{}; backoffQ:{}; unschedulableEntities:{}"))
    assert [pod.queue for pod in found.queue] == ["unschedulable"]


def test_a_deleted_node_is_read_with_its_nominated_pods():
    empty = "&{MilliCPU:0 Memory:0 EphemeralStorage:0 AllowedPodNumber:0 ScalarResources:map[]}"
    [node] = read(
        log([node_text(pods=[pod_line("a")], nominated=[pod_line("n", "node-1", "Pending")], deleted="true", allocatable=empty)])
    ).nodes
    assert node.deleted
    assert [(pod.name, pod.nominated_node) for pod in node.nominated] == [("n", "node-1")]
    assert [pod.name for pod in node.pods] == ["a"]


def test_the_position_of_a_waiting_pod_determines_its_queue():
    found = read(log(queue=[pod_line(name, phase="Pending") for name in "abcd"], summary=(1, 1, 2)))
    assert [(pod.name, pod.queue) for pod in found.queue] == [
        ("a", "active"),
        ("b", "backoff"),
        ("c", "unschedulable"),
        ("d", "unschedulable"),
    ]
    assert found.queues == {"active": 1, "backoff": 1, "unschedulable": 2}


def test_mismatches_that_the_scheduler_logs_are_read():
    before = (
        f'{HEADER} "Cache mismatch" missedNodes=["n"] redundantNodes=[]\n{HEADER} "Cache mismatch" missedPods=["p","q"] redundantPods=[]\n'
    )
    assert read(log(before=before)).mismatches == {
        "missed_nodes": ("n",),
        "redundant_nodes": (),
        "missed_pods": ("p", "q"),
        "redundant_pods": (),
    }


def test_a_mismatch_of_an_earlier_dump_is_not_the_last_ones():
    first = log(before=f'{HEADER} "Cache mismatch" missedNodes=["n"] redundantNodes=[]\n')
    found = read(first + log([node_text()]))
    assert (len(found.nodes), found.mismatches["missed_nodes"]) == (1, ())


def test_an_unfinished_dump_is_not_read():
    text = log([node_text(pods=[pod_line("a")])], [pod_line("b")], (1, 0, 0))
    for end in range(len(text)):
        assert read(text[:end]) is None, text[:end]
    assert read(text) is not None


def test_a_dump_in_json_logs_is_parsed():
    nodes = json.dumps({"ts": 1.5, "caller": "debugger/dumper.go:52", "msg": "Dump of cached NodeInfo", "v": 0, "nodes": node_text()})
    queue = json.dumps(
        {"ts": 1.6, "msg": "Dump of scheduling queue", "v": 0, "summary": "activeQ:0; backoffQ:0; unschedulablePods:0", "pods": ""}
    )
    assert read(f"{nodes}\n{queue}\n").nodes[0].name == "node-1"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (log(["something else\nand more\n"]), "not described as expected"),
        (log([node_text(allocatable="{CPU:1}")]), "resources are not written"),
        (log([node_text(pods=["pod x in y\n"])]), "a pod is not written"),
        (log([node_text().replace("Deleted", "Gone")]), "without 'Deleted'"),
        (log(queue=[pod_line("a")], summary=(2, 0, 0)), "the dump announces 2 pods, but 1 follow"),
        (log().replace("backoffQ", "errorQ"), "summary of the queue"),
    ],
)
def test_a_dump_in_an_unknown_format_is_an_error(text, why):
    with pytest.raises(DumpError, match=why):
        read(text)


def test_a_dump_becomes_plain_data_with_sorted_nodes():
    plain = read(log([node_text("b"), node_text("a", pods=[pod_line("x")])])).as_dict()
    assert [node["name"] for node in plain["nodes"]] == ["a", "b"]
    assert json.loads(json.dumps(plain)) == plain
