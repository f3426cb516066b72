# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a kube-scheduler does with pods that are offered in a mode. I/O only by `scheduler_process.running`.

- pending: pods without a node; all others stay.
- replace: one pod after the other is left out, offered, and put back, so that no answer depends on another one.
- drain: all selected pods are taken off their nodes, and offered together.
- headroom: copies of a template, one after the other, until the first has no node.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._preview.sandbox import Answer, Change, Key, Sandbox, key_of
from ansible_collections.osso.scheduler.plugins.module_utils._preview.scheduler_process import (
    ATTEMPTS,
    EVENTS,
    SCORES,
    START_SECONDS,
    Candidate,
    Log,
    Process,
    Scores,
    running,
)

PENDING, REPLACE, DRAIN, HEADROOM = "pending", "replace", "drain", "headroom"
MODES = (PENDING, REPLACE, DRAIN, HEADROOM)
Progress = Callable[[str], None]
"""Is called often, with what is done and what remains."""
# A refused pod is tried again at most so many seconds after the last event: back-off 1 s, and queues are looked through every second.
_RETRIED = 3.0
# A scheduler without any decision for so long has pods that it does not try, such as those that wait for a gang.
_UNPROCESSED = 15.0
# Until a pod that preempted others is bound
_PREEMPTION = 15.0
# Until the scheduler's cache has followed the last change of a pod with a node. On a busy host it can stand still for seconds, and a decision before
# that is wrong. A release that does not log it costs this time once.
_FOLLOWED = 20.0
# Until the event of a preemption
_EVENT = 10.0
_STEP = 0.1
# The schedulerName of pending pods that are not offered: plugins that count the pods of a group see them, and no profile places them.
_BYSTANDER = "not-in-this-preview"


@dataclass(frozen=True)
class Scene:
    """objects: what the sandbox begins with. offered: the pods to place, in their order."""

    mode: str
    objects: tuple[Object, ...]
    offered: tuple[Object, ...]
    limit: int = 0


@dataclass(frozen=True)
class Placement:
    """node: empty if the pod has none, then with the reason. victims: the pods that were deleted for it. processed: whether there was an answer."""

    node: str = ""
    reason: str = ""
    victims: tuple[Key, ...] = ()
    processed: bool = True


@dataclass
class Run:
    """Placements by pod, in the order of the pods; history: the decisions in their order."""

    placements: dict[Key, Placement] = field(default_factory=dict)
    history: list[Change] = field(default_factory=list)
    unknown: dict[str, int] = field(default_factory=dict)
    invented: tuple[str, ...] = ()
    ties: dict[Key, set[str]] = field(default_factory=dict)
    scores: dict[Key, dict[str, Scores]] = field(default_factory=dict)
    seconds: float = 0.0


def bystander(obj: Object) -> Object:
    """A pending pod as one that exists, but is not placed; every other object as it is."""
    if obj["kind"] != "Pod" or obj["spec"].get("nodeName"):
        return obj
    return {**obj, "spec": {**obj["spec"], "schedulerName": _BYSTANDER}}


class Stage:
    """A sandbox with a running scheduler, until a deadline."""

    def __init__(
        self, candidate: Candidate, sandbox: Sandbox, process: Process, deadline: float, progress: Progress, total: int = 1
    ) -> None:
        self.candidate = candidate
        self.sandbox = sandbox
        self.process = process
        self._deadline = deadline
        self._progress, self._total, self._attempts = progress, total, 0
        self._processes = self._follows = True

    def twin(self, pod: Object) -> Object:
        """The pod as it is offered to the scheduler: without a node, with the name of its profile."""
        spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
        spec["schedulerName"] = self.candidate.profile_for(pod["spec"].get("schedulerName", ""))
        metadata = {"uid": "-".join(key_of(pod)), **pod["metadata"]}
        claims = (pod.get("status") or {}).get("resourceClaimStatuses")
        return {
            **pod,
            "metadata": metadata,
            "spec": spec,
            "status": {"phase": "Pending", **({"resourceClaimStatuses": claims} if claims else {})},
        }

    def wait(self, condition: Callable[[], bool], seconds: float = float("inf")) -> bool:
        """Wait for decisions. Raises ClusterError when the scheduler ends or cannot decode an object, or at the deadline."""
        until = time.monotonic() + seconds
        while not self.sandbox.wait(condition, min(_STEP, max(0.0, until - time.monotonic()))):
            self.process.check()
            if time.monotonic() > self._deadline:
                raise self.process.failure("did not place all pods before the timeout")
            if time.monotonic() > until:
                return False
        return True

    @property
    def _patience(self) -> float:
        """Seconds to wait for an answer. Before the first one, the scheduler reads the whole cluster."""
        return _UNPROCESSED if self.sandbox.decisions else START_SECONDS

    def _check_processes(self) -> None:
        """Raises ClusterError for a scheduler that waits for a kind that the sandbox does not serve."""
        if self.sandbox.unknown and not self.sandbox.decisions:
            lacking = ", ".join(self.sandbox.unknown)
            raise self.process.failure(f"processes no pod; the sandbox does not serve what it requests: {lacking}")

    def _await_cache(self) -> None:
        """Some releases handle changes of pods with and without a node in two goroutines: a pod could be placed before the last change."""
        if self._follows and (mark := self.sandbox.mark()):
            self._follows = self.process.log.await_event(*mark, _FOLLOWED)

    def _report(self, done: int) -> None:
        self._progress(f"{self.candidate.name}: {done} of {self._total} pods")

    def attempt(self, pod: Object, keep: bool = False) -> Placement:
        """Offer one pod, note the answer, and restore what was there before, unless it is to be kept with its node."""
        self._report(self._attempts)
        self._attempts += 1
        sandbox, key = self.sandbox, key_of(pod)
        original, since = sandbox.pods.objects.get(key), len(sandbox.history)
        present, volumes = dict(sandbox.pods.objects), sandbox.volumes()
        if original is not None:
            sandbox.withdraw(key)
        self._await_cache()
        log = self.process.log
        waited, rejected = log.count("WAITING", key), log.count("REJECTED", key)
        sandbox.offer(self.twin(pod))
        patience = self._patience if self._processes else _RETRIED
        self._processes = self.wait(lambda: key in sandbox.answers or log.count("WAITING", key) > waited, patience)
        processed = key in sandbox.answers
        self._check_processes()
        answer = sandbox.answers.get(key, Answer())
        if answer.nominated and not answer.node:
            self.wait(lambda: bool(sandbox.answers[key].node), _PREEMPTION)
            answer = sandbox.answers[key]
        victims = tuple(change.key for change in sandbox.history[since:] if not change.node)
        if not (keep and answer.node):
            sandbox.withdraw(key)
            if not answer.node and log.count("WAITING", key) > waited:
                # Until then its cache has the pod on a node.
                log.await_event("REJECTED", key, rejected + 1, _FOLLOWED)
            sandbox.restore_volumes(volumes)
            if original is not None:
                sandbox.offer(original)
            for victim in victims:
                sandbox.offer(present[victim])
        return Placement(answer.node, answer.reason, victims, processed)

    def all_together(self, pods: Sequence[Object]) -> dict[Key, Placement]:
        """Offer all pods, and wait until each is bound, or was refused and has been tried again after the last event."""
        sandbox, keys = self.sandbox, [key_of(pod) for pod in pods]
        for pod in pods:
            sandbox.offer(self.twin(pod))
        uids = {self.twin(pod)["metadata"]["uid"]: key_of(pod) for pod in pods}

        def is_settled() -> bool:
            # It is checked at each decision.
            self._report(len(sandbox.answers))
            if len(sandbox.answers) < len(keys):
                return time.monotonic() - sandbox.last_decision > self._patience
            if all(sandbox.answers[key].node for key in keys):
                return True
            return time.monotonic() - sandbox.last_decision > _RETRIED

        self.wait(is_settled)
        self._check_processes()
        self.wait(lambda: all(change.node or change.by for change in sandbox.history), _EVENT)
        victims: dict[Key, tuple[Key, ...]] = {}
        for change in sandbox.history:
            if not change.node and change.by in uids:
                preemptor = uids[change.by]
                victims[preemptor] = (*victims.get(preemptor, ()), change.key)
        placements = {}
        for key in keys:
            answer = sandbox.answers.get(key, Answer())
            placements[key] = Placement(answer.node, answer.reason, victims.get(key, ()), key in sandbox.answers)
        return placements


def perform(candidate: Candidate, scene: Scene, timeout: float, progress: Progress) -> Run:
    """Offer the pods of a scene to the candidate. Raises ClusterError."""

    def act(stage: Stage) -> dict[Key, Placement]:
        if scene.mode == REPLACE:
            return {key_of(pod): stage.attempt(pod) for pod in scene.offered}
        if scene.mode == HEADROOM:
            found = {}
            for pod in scene.offered:
                found[key_of(pod)] = placement = stage.attempt(pod, keep=True)
                if not placement.node:
                    break
            return found
        return stage.all_together(scene.offered)

    logged = EVENTS if scene.mode in (REPLACE, HEADROOM) else ATTEMPTS
    return on_stage(candidate, scene.objects, act, timeout, logged, progress, len(scene.offered))


def score(
    candidate: Candidate,
    scene: Scene,
    kept: Mapping[Key, Collection[str]],
    history: Sequence[Change],
    timeout: float,
    progress: Progress,
) -> Run:
    """Offer some pods again, to learn between which nodes the candidate chose at random. kept: these pods, with nodes whose scores are kept.

    Modes that place pods together follow ``history``, the decisions of a run: each pod meets the nodes as its decision met them.
    """
    by_key = {key_of(pod): pod for pod in scene.offered}

    def act(stage: Stage) -> dict[Key, Placement]:
        if scene.mode == REPLACE:
            return {key_of(pod): stage.attempt(pod) for pod in scene.offered if key_of(pod) in kept}
        for pod in scene.offered:
            stage.sandbox.offer(bystander(stage.twin(pod)))
        found = {}
        for change in history:
            if change.key in kept and change.node:
                found[change.key] = stage.attempt(by_key[change.key])
            if not change.node:
                stage.sandbox.withdraw(change.key)
            elif change.key in by_key:
                twin = stage.twin(by_key[change.key])
                stage.sandbox.offer({**twin, "spec": {**twin["spec"], "nodeName": change.node}})
        return found

    candidate = replace(candidate, name=f"{candidate.name}, scores")
    return on_stage(candidate, scene.objects, act, timeout, SCORES, progress, len(kept), kept)


def on_stage(
    candidate: Candidate,
    objects: Iterable[Object],
    act: Callable[[Stage], dict[Key, Placement]],
    timeout: float,
    logged: str,
    progress: Progress,
    total: int,
    kept: Mapping[Key, Collection[str]] | None = None,
) -> Run:
    """Start the candidate with a sandbox of objects, and ``act``. progress: is called, for ``total`` pods. kept: as `Log` has it."""
    started = time.monotonic()
    sandbox = Sandbox(objects)
    with running(candidate, sandbox, logged, kept) as process:
        placements = act(Stage(candidate, sandbox, process, started + timeout, progress, total))
    seconds, log = time.monotonic() - started, process.log
    # A single feasible node is not scored. A pod that waits for the others of its group has scores, but no node.
    ties = {key: log.ties(key) or {one.node} - {""} for key, one in placements.items() if logged == SCORES}
    scores = {key: log.scores(key) for key in kept or ()}
    return Run(placements, _ordered(sandbox, log), sandbox.unknown, tuple(sorted(sandbox.invented)), ties, scores, seconds)


def _ordered(sandbox: Sandbox, log: Log) -> list[Change]:
    """The decisions in the order in which they were taken; bindings arrive in the order in which goroutines send them."""
    uids = {obj["metadata"]["uid"]: key for key, obj in sandbox.pods.objects.items()}
    return sorted(sandbox.history, key=lambda change: (log.attempt(uids.get(change.by, change.key)), bool(change.node)))
