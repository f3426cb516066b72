# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods that are created one after the other while something changes, to see that each of them is placed."""

from __future__ import annotations

import itertools
import json
import threading
from datetime import datetime

PAUSE = "registry.k8s.io/pause:3.10"


class PodStream:
    """`with PodStream(...) as stream:` a pod every `seconds` for `scheduler_name`; then `stream.waits()`.

    The pods go to a node without a kubelet, so that they cost nothing but their placing. `also` is called each time, too, and
    what it returned is in `seen`. What fails meanwhile is raised at the end.
    """

    def __init__(self, kubectl, namespace, scheduler_name, also=None, seconds=1.0):
        self._kubectl = kubectl
        self._namespace = namespace
        self._scheduler_name = scheduler_name
        self._also = also
        self._seconds = seconds
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._failure: Exception | None = None
        self.created = 0
        self.seen = []

    def __enter__(self) -> PodStream:
        metadata = {"name": self._namespace, "labels": {"stream": self._namespace}}
        # Nobody else's pods
        spec = {"taints": [{"key": "stream", "effect": "NoSchedule"}]}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec}
        self._kubectl("create", "--filename=-", stdin=node)
        room = {key: {"cpu": "1", "memory": "1Gi", "pods": "10000"} for key in ("capacity", "allocatable")}
        self._kubectl("patch", "node", self._namespace, "--subresource=status", "--type=merge", f"--patch={json.dumps({'status': room})}")
        self._thread.start()
        return self

    def __exit__(self, kind, *_exception) -> None:
        self._end.set()
        self._thread.join()
        if self._failure and kind is None:
            raise self._failure

    def close(self) -> None:
        """Take the pods and their node away: nobody confirms their end there."""
        self._kubectl("delete", "pods", "--all", f"--namespace={self._namespace}", "--force", "--grace-period=0", "--wait=false")
        self._kubectl("delete", "node", self._namespace, "--ignore-not-found")

    def waits(self) -> list[float | None]:
        """Seconds that each pod waited for its node, to the second, in the order of their creation; None for those that still do."""
        pods = self._kubectl.json("get", "pods", f"--namespace={self._namespace}")["items"]
        pods.sort(key=lambda pod: int(pod["metadata"]["name"].rpartition("-")[2]))
        assert len(pods) == self.created
        placed = self._placed()
        return [_wait(pod, placed.get(pod["metadata"]["name"])) for pod in pods]

    def longest_pause(self) -> float:
        """Seconds between two placements that followed each other, at most; by the events, which are more exact than pods."""
        times = sorted(self._placed().values())
        return max((after - before).total_seconds() for before, after in itertools.pairwise(times))

    def _placed(self) -> dict[str, datetime]:
        """Pod -> the time of its event `Scheduled`."""
        events = self._kubectl.list("event", self._namespace)
        return {event["regarding"]["name"]: _time(event["eventTime"]) for event in events if event["reason"] == "Scheduled"}

    def _run(self) -> None:
        try:
            self._create()
        except Exception as failure:
            self._failure = failure

    def _create(self) -> None:
        while True:
            self._kubectl.create("pod", self._pod(), self._namespace)
            self.created += 1
            if self._also:
                self.seen.append(self._also())
            if self._end.wait(self._seconds):
                return

    def _pod(self) -> dict:
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"stream-{self.created}", "namespace": self._namespace},
            "spec": {
                "schedulerName": self._scheduler_name,
                "nodeSelector": {"stream": self._namespace},
                "tolerations": [{"operator": "Exists"}],
                "containers": [{"name": "pause", "image": PAUSE}],
            },
        }


def _wait(pod, placed: datetime | None) -> float | None:
    scheduled = [one for one in pod["status"].get("conditions") or [] if one["type"] == "PodScheduled" and one["status"] == "True"]
    if scheduled:
        at = _time(scheduled[0]["lastTransitionTime"])
    elif pod["spec"].get("nodeName") and placed:
        # A second scheduler that came too late has written its failure into the condition, which a kubelet would correct.
        at = placed.replace(microsecond=0)
    else:
        return None
    return (at - _time(pod["metadata"]["creationTimestamp"])).total_seconds()


def _time(text) -> datetime:
    return datetime.fromisoformat(text)
