# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What kube-scheduler logs when it gets SIGUSR2: the nodes and pods in its cache, its queue, and where its cache is not as its informers. Pure.

The texts are those of pkg/scheduler/backend/cache/debugger (dumper.go, comparer.go; until 1.31 below pkg/scheduler/internal), which
are the same from 1.28 to 1.37, but for the names of the queues: read in the source of every minor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.klog import Entry

RELEASES = ("1.28", "1.37")
"""The oldest and the newest release whose dump is known to be written like this."""

# The entries in the order in which they are logged; the last one ends a dump.
MISMATCH, NODES, QUEUE = "Cache mismatch", "Dump of cached NodeInfo", "Dump of scheduling queue"
# Within the pods of QUEUE, each queue follows the one before.
QUEUES = {
    "activeQ": "active",
    "backoffQ": "backoff",
    "unschedulablePods": "unschedulable",
    "unschedulableEntities": "unschedulable",  # since 1.37
    # Both since 1.37 with the gate GenericWorkload. The summary has them in the other order.
    "incompletePodGroupPods": "incomplete_pod_group",
    "pendingPodGroupMemberPods": "pending_pod_group",
}
REQUIRED_QUEUES = ("active", "backoff", "unschedulable")
_MISMATCHES = {
    "missedNodes": "missed_nodes",
    "redundantNodes": "redundant_nodes",
    "missedPods": "missed_pods",
    "redundantPods": "redundant_pods",
}
_POD = re.compile(
    r"name: (?P<name>\S*), namespace: (?P<namespace>\S*), uid: (?P<uid>\S*), phase: (?P<phase>\S*), nominated node: ?(?P<nominated>\S*)"
)
_RESOURCES = re.compile(
    r"&?\{MilliCPU:(\d+) Memory:(-?\d+) EphemeralStorage:(-?\d+) AllowedPodNumber:(\d+) ScalarResources:map\[([^\]]*)\]\}"
)


class DumpError(Exception):
    """The text is none that a known kube-scheduler writes."""


@dataclass(frozen=True)
class Resources:
    """cpu_millis: thousandths of a CPU; memory, ephemeral_storage: bytes; pods: how many at most, 0 where it is about what is requested.

    scalar: by name, in whole units, bytes for huge pages.
    """

    cpu_millis: int = 0
    memory: int = 0
    ephemeral_storage: int = 0
    pods: int = 0
    scalar: dict[str, int] = field(default_factory=dict)

    def flat(self) -> dict[str, int]:
        """By the names that the API has for them; cpu in thousandths."""
        return {
            "cpu": self.cpu_millis,
            "memory": self.memory,
            "ephemeral-storage": self.ephemeral_storage,
            "pods": self.pods,
            **self.scalar,
        }


@dataclass(frozen=True)
class Pod:
    """queue: a value of QUEUES; empty for one on a node."""

    namespace: str
    name: str
    uid: str
    phase: str
    nominated_node: str = ""
    queue: str = ""


@dataclass(frozen=True)
class Node:
    """deleted: whether the node itself was deleted and only its pods remain. nominated: the pods that will be placed when others have been
    evicted."""

    name: str
    deleted: bool
    requested: Resources
    allocatable: Resources
    pods: tuple[Pod, ...] = ()
    nominated: tuple[Pod, ...] = ()


@dataclass(frozen=True)
class Dump:
    """time: as the log has it. queues: how many pods are in each queue. queue: those pods.

    mismatches: names of nodes and uids of pods that the scheduler itself found missed in its cache, or redundant there.
    """

    time: str
    nodes: tuple[Node, ...]
    queues: dict[str, int]
    queue: tuple[Pod, ...]
    mismatches: dict[str, tuple[str, ...]]

    def as_dict(self) -> dict[str, Any]:
        """Plain lists and dicts, the nodes by name."""
        plain = asdict(self)
        plain["nodes"] = sorted(
            ({**node, "pods": list(node["pods"]), "nominated": list(node["nominated"])} for node in plain["nodes"]), key=_name
        )
        plain["queue"] = list(plain["queue"])
        plain["mismatches"] = {key: list(found) for key, found in plain["mismatches"].items()}
        return plain


def find(entries: Iterable[Entry]) -> Dump | None:
    """The last whole dump among log entries, None if there is none. Raises DumpError for one that cannot be read."""
    found = nodes = None
    mismatches: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        if not entry.complete:
            continue
        if entry.message == MISMATCH:
            mismatches.update({_MISMATCHES[key]: tuple(value or ()) for key, value in entry.values.items() if key in _MISMATCHES})
        elif entry.message == NODES:
            nodes = entry
        elif entry.message == QUEUE and nodes is not None:
            found = (nodes, entry, mismatches)
            nodes, mismatches = None, {}
    if found is None:
        return None
    nodes, queue, mismatches = found
    queues = _summary(str(queue.values.get("summary", "")))
    return Dump(
        queue.time,
        tuple(_nodes(str(nodes.values.get("nodes", "")))),
        queues,
        tuple(_queue(str(queue.values.get("pods", "")), queues)),
        {name: mismatches.get(name, ()) for name in _MISMATCHES.values()},
    )


def _nodes(text: str) -> list[Node]:
    found = []
    for block in re.split(r"^Node name: ", text, flags=re.MULTILINE)[1:]:
        lines = [line for line in block.split("\n") if line.strip()]
        values = dict(_field(line) for line in lines[1:4])
        try:
            about = (
                lines[0],
                values["Deleted"] == "true",
                _resources(values["Requested Resources"]),
                _resources(values["Allocatable Resources"]),
            )
        except (IndexError, KeyError) as error:
            raise DumpError(f"a node is described without {error}: {block[:200]!r}") from None
        pods: dict[str, list[Pod]] = {"Scheduled": [], "Nominated": []}
        section = ""
        for line in lines[4:]:
            if re.match(r"(Scheduled|Nominated) Pods\(number: \d+\):$", line):
                section = line.partition(" ")[0]
            elif section:
                pods[section].append(_pod(line))
            else:
                raise DumpError(f"a line about the node {lines[0]} is not known: {line!r}")
        found.append(Node(*about, tuple(pods["Scheduled"]), tuple(pods["Nominated"])))
    if text.strip() and not found:
        raise DumpError(f"the nodes are not described as expected: {text[:200]!r}")
    return found


def _field(line: str) -> tuple[str, str]:
    name, _colon, value = line.partition(":")
    return name, value.strip()


def _resources(text: str) -> Resources:
    match = _RESOURCES.fullmatch(text)
    if not match:
        raise DumpError(f"resources are not written as expected: {text!r}")
    scalar = {}
    for one in match.group(5).split():
        name, _colon, amount = one.rpartition(":")
        scalar[name] = int(amount)
    cpu, memory, storage, pods = (int(number) for number in match.groups()[:4])
    return Resources(cpu, memory, storage, pods, scalar)


def _pod(line: str, queue: str = "") -> Pod:
    match = _POD.fullmatch(line)
    if not match:
        raise DumpError(f"a pod is not written as expected: {line!r}")
    return Pod(match["namespace"], match["name"], match["uid"], match["phase"], match["nominated"], queue)


def _summary(text: str) -> dict[str, int]:
    counts = dict(re.findall(r"(\w+):(\d+)", text))
    found = {queue: int(counts[name]) for name, queue in QUEUES.items() if name in counts}
    if any(queue not in found for queue in REQUIRED_QUEUES):
        raise DumpError(f"the summary of the queue is not written as expected: {text!r}")
    return found


def _queue(text: str, queues: dict[str, int]) -> list[Pod]:
    lines = [line for line in text.split("\n") if line.strip()]
    names = [name for name, count in queues.items() for each in range(count)]
    if len(names) != len(lines):
        raise DumpError(f"the dump announces {len(names)} pods, but {len(lines)} follow")
    return [_pod(line, name) for line, name in zip(lines, names)]


def _name(node: dict[str, Any]) -> str:
    name: str = node["name"]
    return name
