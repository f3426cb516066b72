# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An unmodified kube-scheduler as a process of this host, which uses a sandbox in the place of an API server.

Its configuration is the completed one of the candidate with the few changes of `sandbox_config`. Configuration and credentials are in memory files
(memfd_create), so that nothing remains on the host, whatever ends this process; the kernel then ends the scheduler, too.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import select
import signal
import subprocess
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import klog
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import scrub, secret_texts
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import flags, gates
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.plugins import make_target
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import ERROR
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.rules import LIBRARY_PLUGINS
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import SCHEDULER_PLUGINS
from ansible_collections.osso.scheduler.plugins.module_utils._preview.sandbox import Key, Sandbox
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import config_validation

START_SECONDS = 60
_END_SECONDS = 5
_STEP = 0.2
_LAST_LINES = 200
_VERSION_BYTES = 10_000
_LINE_BYTES = 1_000_000
# Messages of pkg/scheduler/schedule_one.go and eventhandlers.go, the same from 1.25 to 1.37
_SCORE, _ATTEMPT = "Calculated node's final score for pod", "Attempting to schedule pod"
_PLUGIN_SCORE = "Plugin scored node for pod"
# Since 1.28
_REJECTED, _REJECTED_BY = "Pod moved to an internal scheduling queue", "unschedulable plugins"
_EVENTS = {
    "Add event for node": "ADDED",
    "Add event for scheduled pod": "ADDED",
    "Delete event for scheduled pod": "DELETED",
    # framework/runtime/framework.go
    "Pod waiting on permit": "WAITING",
    "Pod rejected while waiting on permit": "REJECTED",
}
_READ = (
    b"final score for pod",
    b"Attempting to schedule pod",
    b"event for scheduled pod",
    b"Add event for node",
    b"unschedulable plugins=",
    b"waiting on permit",
)
# A list is decoded as a whole, so that the scheduler sees nothing of its kind.
_LIST_FAILED = b"failed to list"
_NOT_DECODED = (b"unmarshal", b"quantities must match", b"parsing time")
# With -v, other files, such as client-go's, would log every request.
ATTEMPTS, EVENTS, SCORES, REJECTIONS = (
    f"--vmodule={levels}"
    for levels in (
        "schedule_one=3",
        "schedule_one=3,eventhandlers=3",
        "schedule_one=10,eventhandlers=3,framework=4",
        "schedule_one=3,eventhandlers=3,scheduling_queue=5",
    )
)
_VERSION = re.compile(r"Kubernetes v(?P<major>[01])\.(?P<minor>[1-9]\d)\.")
_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
_BATCHING = "OpportunisticBatching"
GATED_BY_FLAGS = ("feature-gates", "emulated-version")
"""The flags that change where pods are placed."""
# It gives all nodes the same score as long as no feature gate is set (VolumeBinding.Score). Exists in all releases.
_NEUTRAL = "VolumeBinding"


@dataclass(frozen=True)
class Candidate:
    """A kube-scheduler with a configuration that it accepts.

    config: completed. flags: those that change where pods are placed. unscored: profiles without a plugin that scores nodes. program: the option
    with the program and its value, for messages.
    """

    name: str
    binary: str
    kubernetes: str
    config: Mapping[str, Any]
    scheduler_names: tuple[str, ...]
    flags: tuple[str, ...] = ()
    as_scheduler: str = ""
    reads_load: tuple[str, ...] = ()
    plugins: Any = None
    unscored: tuple[str, ...] = ()
    program: str = ""

    @property
    def starts_early(self) -> bool:
        """Whether it may place pods before its cache has all nodes and pods. Since 1.28 it waits for them (WaitForHandlersSync)."""
        return int(self.kubernetes.split(".")[1]) < 28

    def has_profile_for(self, scheduler_name: str) -> bool:
        return bool(self.as_scheduler) or len(self.scheduler_names) == 1 or scheduler_name in self.scheduler_names

    def profile_for(self, scheduler_name: str) -> str:
        """The schedulerName with which a pod is offered. Raises InputError if the candidate has several profiles and none is selected."""
        if self.as_scheduler or len(self.scheduler_names) == 1:
            return self.as_scheduler or self.scheduler_names[0]
        if scheduler_name in self.scheduler_names:
            return scheduler_name
        raise InputError(
            f"{self.name}.as_scheduler is not set, and the configuration has several profiles: set one of {', '.join(self.scheduler_names)}."
        )


def candidate(
    name: str,
    binary: str,
    text: str | bytes,
    release: str | None = None,
    plugins: Any = None,
    given_flags: Sequence[str] = (),
    feature_gates: Mapping[str, bool] | None = None,
    as_scheduler: str | None = None,
    allow_extenders: bool = False,
    program: str = "",
    source: str = "",
) -> Candidate:
    """The candidate that options describe. Raises InputError with all findings if its scheduler rejects it.

    For messages, name: the side; program: the option with the program and its value, by default those of ``binary``; source: the option with the
    configuration.
    """
    binary = os.path.abspath(binary)
    program, source = program or f"{name}.binary: {binary}", source or name
    own, own_plugins = version_of(binary, name, program) if not (release and plugins) else ("", None)
    arguments = (*given_flags, *(f"--feature-gates={gate}={str(bool(on)).lower()}" for gate, on in (feature_gates or {}).items()))
    try:
        target = config_validation.resolve_target(None, release or own, plugins or own_plugins, arguments, lambda: own)
    except InputError as error:
        # It names options of another module.
        option, _colon, rest = error.message.partition(": ")
        about = {"kubernetes_version": f"{name}.release: {rest}", "plugins": f"{name}.plugins: {rest}"}
        raise InputError(about.get(option, f"{name}: {error.message}")) from None
    result = config_validation.validate(text, target, arguments)
    errors = [finding.format(position=False) for finding in result.findings if finding.severity == ERROR]
    if errors or result.completed is None:
        raise InputError(
            "\n".join([f"{source}: this is no usable KubeSchedulerConfiguration for {target}:", *(errors or [target.unknown])])
        )
    if result.completed.get("extenders") and not allow_extenders:
        raise InputError(
            f"{source}: extenders[0]: a preview does not call extenders, because they can have side effects. Remove extenders for the preview, or "
            f"set {name}.allow_extenders if a call for a pod that is not created has none."
        )
    if as_scheduler and as_scheduler not in result.scheduler_names:
        raise InputError(f"{name}.as_scheduler: no profile is named {as_scheduler}: set one of {', '.join(result.scheduler_names)}.")
    engine = make_target(str(target.kubernetes), target.plugins, arguments)
    values = flags.parse(engine).values
    kept = [f"--{flag}={value}" for flag in GATED_BY_FLAGS for value in values.get(flag, ())]
    emulated, _problems = gates.emulated_minor(engine.minor, values.get("emulated-version", ()))
    if not gates.errors(engine.minor, emulated, {_BATCHING: False}):
        kept.append(f"--feature-gates={_BATCHING}=false")
    return Candidate(
        name,
        binary,
        str(target.kubernetes),
        result.completed,
        result.scheduler_names,
        tuple(kept),
        as_scheduler or "",
        tuple(result.asks_prometheus),
        target.plugins,
        tuple(name for name in result.scheduler_names if not result.effective[name].get("score")),
        program,
    )


def version_of(binary: str, name: str, program: str) -> tuple[str, str | None]:
    """The release of a kube-scheduler, such as ``1.34``, and its plugins if the release shows them. Raises InputError."""
    try:
        output = _output([binary, "--version"])
    except subprocess.TimeoutExpired:
        raise InputError(f"{program} --version did not end within {START_SECONDS} s. Is it a kube-scheduler?") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{program} could not be started: {why}. It must be a kube-scheduler for this host.") from None
    match = _VERSION.search(output)
    if not match:
        raise InputError(f"{program} --version does not print the release of a kube-scheduler: set {name}.release and {name}.plugins.")
    # Images of scheduler-plugins v0.34.7 print that version.
    return f"1.{match['minor']}", SCHEDULER_PLUGINS if match["major"] == "0" else None


def _output(command: list[str]) -> str:
    """The first bytes that a program writes. Raises OSError, ValueError, and TimeoutExpired."""
    until = time.monotonic() + START_SECONDS
    output = b""
    with subprocess.Popen(  # pylint: disable=ansible-bad-function # run_command would wait for the whole output
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={}, start_new_session=True
    ) as started:
        if started.stdout is None:
            raise AssertionError("stdout")
        try:
            while len(output) < _VERSION_BYTES:
                if not select.select([started.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
                    raise subprocess.TimeoutExpired(command, START_SECONDS)
                read = os.read(started.stdout.fileno(), _VERSION_BYTES)
                if not read:
                    break
                output += read
        finally:
            # What it started, too
            with suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
    return output[:_VERSION_BYTES].decode("utf-8", "replace")


def sandbox_config(config: Mapping[str, Any], kubeconfig: str, load_watcher: str = "", unscored: Collection[str] = ()) -> dict[str, Any]:
    """The configuration for the sandbox: no leader election, all nodes scored, no back-off, its API server, and perhaps its load-watcher.

    unscored: profiles without scores, with which a scheduler looks only for the first node that fits. Here it gives all nodes that fit the same score.
    """
    connection = {"kubeconfig": kubeconfig, "contentType": "application/json", "acceptContentTypes": "application/json"}
    profiles = [{key: value for key, value in profile.items() if key != "percentageOfNodesToScore"} for profile in config["profiles"]]
    for profile in profiles if load_watcher else ():
        profile["pluginConfig"] = [
            {**one, "args": _with_watcher(one["name"], one.get("args") or {}, load_watcher)} for one in profile.get("pluginConfig") or []
        ]
    for profile in profiles:
        if profile["schedulerName"] in unscored:
            plugins = profile.get("plugins") or {}
            profile["plugins"] = {**plugins, "score": {**(plugins.get("score") or {}), "enabled": [{"name": _NEUTRAL, "weight": 1}]}}
    # A scheduler leaves the binding of a pod to an extender that has this verb, which would bind the pod in the cluster.
    extenders = [{key: value for key, value in one.items() if key != "bindVerb"} for one in config.get("extenders") or []]
    return {
        **config,
        **({"extenders": extenders} if extenders else {}),
        "leaderElection": {**(config.get("leaderElection") or {}), "leaderElect": False},
        "clientConnection": {**connection, "qps": 5000, "burst": 10000},
        "percentageOfNodesToScore": 100,
        "podInitialBackoffSeconds": 1,
        "podMaxBackoffSeconds": 1,
        "profiles": profiles,
    }


def _with_watcher(plugin: str, args: Mapping[str, Any], address: str) -> Mapping[str, Any]:
    if plugin not in (*LIBRARY_PLUGINS, "Peaks"):
        return args
    kept = {name: value for name, value in args.items() if name != "metricProvider"}
    return {**kept, "WatcherAddress" if plugin == "Peaks" else "watcherAddress": address}


@dataclass
class Scores:
    """The scores of a node for a pod: by plugin, with the weights of the plugins, and their sum."""

    plugins: dict[str, int] = field(default_factory=dict)
    total: int = 0


class Log:
    """What the log of a scheduler shows about its work, while it is written.

    kept: the nodes, by pod, whose scores are kept.
    """

    def __init__(self, kept: Mapping[Key, Collection[str]] | None = None) -> None:
        self._kept = {"/".join(key): frozenset(nodes) for key, nodes in (kept or {}).items()}
        self._kept_now: tuple[bytes, ...] = ()
        self._scores: dict[str, dict[str, Scores]] = {}
        self._rejections: dict[str, tuple[str, ...]] = {}
        self._best: dict[str, tuple[int, set[str]]] = {}
        self._seen: Counter[tuple[str, str]] = Counter()
        self.cannot_decode = False  # an object
        self._news = threading.Condition()
        self._attempts = 0
        self._last_attempt: dict[str, int] = {}

    def ties(self, key: Key) -> set[str]:
        """The nodes with the highest final score of a pod's last attempt. Empty if nodes were not scored, such as a single feasible node."""
        return self._best.get("/".join(key), (0, set()))[1]

    def scores(self, key: Key) -> dict[str, Scores]:
        """The scores of the kept nodes in a pod's last attempt."""
        return self._scores.get("/".join(key), {})

    def take_rejection(self, key: Key, seconds: float) -> tuple[str, ...] | None:
        """The plugins that rejected nodes in an attempt that failed, once; None if the release does not log them."""
        with self._news:
            self._news.wait_for(lambda: "/".join(key) in self._rejections, seconds)
            return self._rejections.pop("/".join(key), None)

    def attempt(self, key: Key) -> int:
        """The number of the last attempt to place a pod, in the order of all attempts."""
        return self._last_attempt.get("/".join(key), self._attempts)

    def count(self, event: str, key: Key) -> int:
        """How often the scheduler has processed an event of a pod: ``ADDED`` and ``DELETED`` of a pod with a node; or ``ADDED`` of a node.

        With SCORES also ``WAITING`` for other pods, which have to have a node, too, and ``REJECTED`` while it was waiting.
        """
        return self._seen[event, "/".join(key)]

    def await_event(self, event: str, key: Key, count: int, seconds: float) -> bool:
        """Wait until the scheduler has processed the event so many times; whether it has."""
        about = (event, "/".join(key))
        with self._news:
            return self._news.wait_for(lambda: self._seen[about] >= count, seconds)

    def read(self, line: bytes) -> bool:
        """Whether the line is one of these."""
        if _PLUGIN_SCORE.encode() in line:
            # There are very many. Only those of kept nodes are worth parsing.
            if not any(node in line for node in self._kept_now):
                return True
        elif not any(text in line for text in _READ):
            self.cannot_decode |= _LIST_FAILED in line and any(text in line for text in _NOT_DECODED)
            return False
        for entry in klog.entries(line.decode("utf-8", "replace")):
            pod = str(entry.values.get("pod", ""))
            if entry.message in _EVENTS:
                with self._news:
                    self._seen[_EVENTS[entry.message], pod or f"/{entry.values.get('node', '')}"] += 1
                    self._news.notify_all()
            elif entry.message == _ATTEMPT:
                self._attempts += 1
                self._last_attempt[pod] = self._attempts
                self._best.pop(pod, None)
                self._scores.pop(pod, None)
                self._kept_now = tuple(f' node="{node}" '.encode() for node in self._kept.get(pod, ()))
            elif entry.message == _PLUGIN_SCORE:
                self._of_node(entry).plugins[str(entry.values.get("plugin"))] = int(entry.values.get("score", 0))
            elif entry.message == _REJECTED and _REJECTED_BY in entry.values:
                with self._news:
                    self._rejections[pod] = tuple(sorted(entry.values[_REJECTED_BY] or ()))
                    self._news.notify_all()
            elif entry.message == _SCORE:
                node, score = str(entry.values.get("node")), int(entry.values.get("score", 0))
                if node in self._kept.get(pod, ()):
                    self._of_node(entry).total = score
                best, nodes = self._best.get(pod, (score, set()))
                if score > best or not nodes:
                    self._best[pod] = (score, {node})
                elif score == best:
                    nodes.add(node)
        return True

    def _of_node(self, entry: klog.Entry) -> Scores:
        nodes = self._scores.setdefault(str(entry.values.get("pod")), {})
        return nodes.setdefault(str(entry.values.get("node")), Scores())


class Process:
    """A running kube-scheduler. Its log is complete when it has ended."""

    def __init__(self, candidate: Candidate, process: subprocess.Popen[bytes], log: Log) -> None:
        self._candidate = candidate
        self._process = process
        self.log = log
        self._last: deque[str] = deque(maxlen=_LAST_LINES)
        self._reader = threading.Thread(target=self._read, args=[process.stderr], daemon=True)

    def follow(self) -> None:
        """Begin to read the log."""
        self._reader.start()

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def await_start(self, what: str, has_read: Callable[[], bool]) -> None:
        """Wait until the scheduler has read something. Raises ClusterError if it ends or does not."""
        until = time.monotonic() + START_SECONDS
        while not has_read():
            self.check()
            if time.monotonic() > until:
                raise self.failure(f"did not read the {what} within {START_SECONDS} s")

    def check(self) -> None:
        """Raises ClusterError when it has ended, or does not understand an object."""
        if self.has_ended():
            raise self.failure("ended")
        if self.log.cannot_decode:
            raise self.failure("cannot decode an object that it was given")

    def end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._reader.is_alive():
            self._reader.join(START_SECONDS)

    def failure(self, what: str) -> ClusterError:
        """The error with the scheduler's own last words."""
        if self.has_ended():
            self._reader.join(_END_SECONDS)
            status = self._process.returncode
            what = f"ended with status {status}" if status >= 0 else f"was ended by signal {-status}"
        log = "".join(self._last)
        found = klog.last_error(log)
        words = (found[1] if found else log.strip().rpartition("\n")[2])[:2000]
        text = f"{self._candidate.name}: the kube-scheduler ({self._candidate.program}) {what}. Its last error: {words or 'none'}"
        return ClusterError(scrub(text, secret_texts(self._candidate.config)))

    def _read(self, stream: IO[bytes]) -> None:
        for line in iter(lambda: stream.readline(_LINE_BYTES), b""):
            if not self.log.read(line):
                self._last.append(line[:_VERSION_BYTES].decode("utf-8", "replace"))


@contextmanager
def running(candidate: Candidate, sandbox: Sandbox, logged: str, kept: Mapping[Key, Collection[str]] | None = None) -> Iterator[Process]:
    """The candidate's scheduler, which watches the sandbox. Both end with the context. Raises ClusterError if it does not start.

    logged: ATTEMPTS, EVENTS (also those that `Log.await_event` waits for), SCORES (also the scores of nodes) or REJECTIONS (also the plugins that
    reject nodes). kept: as `Log` has it.
    """
    if candidate.starts_early and logged == ATTEMPTS:
        logged = EVENTS
    process = Process(candidate, _start(candidate, sandbox, logged), Log(kept))
    try:
        # The first threads of this process: it forked without any.
        process.follow()
        sandbox.serve()
        process.await_start("pods", lambda: sandbox.wait(lambda: sandbox.pods.watched, _STEP))
        if candidate.starts_early:
            process.await_start("nodes", lambda: all(process.log.await_event("ADDED", key, 1, _STEP) for key in sandbox.nodes))
            if mark := sandbox.mark():
                process.await_start("pods", lambda: process.log.await_event(*mark, _STEP))
        yield process
    finally:
        process.end()
        sandbox.close()


def _start(candidate: Candidate, sandbox: Sandbox, logged: str) -> subprocess.Popen[bytes]:
    kubeconfig = _memory_file("kubeconfig", sandbox.kubeconfig())
    path = f"/proc/self/fd/{kubeconfig}"
    load_watcher = sandbox.url if sandbox.has_load else ""
    unscored = candidate.unscored if logged == SCORES else ()
    config = _memory_file("config", json.dumps(sandbox_config(candidate.config, path, load_watcher, unscored)).encode())
    try:
        return subprocess.Popen(  # pylint: disable=ansible-bad-function # run_command would wait for its end
            [
                candidate.binary,
                f"--config=/proc/self/fd/{config}",
                "--secure-port=0",
                "--leader-elect=false",
                "--authentication-skip-lookup=true",
                *candidate.flags,
                logged,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            # load-watcher, which some plugins contain, takes its kubeconfig from there.
            env={"PATH": os.defpath, "HOME": "/", "KUBE_CONFIG": path},
            pass_fds=(kubeconfig, config),
            start_new_session=True,
            preexec_fn=_ends_with_parent(),
        )
    except OSError as error:
        raise InputError(f"{candidate.program} could not be started: {error.strerror}.") from None
    finally:
        os.close(kubeconfig)
        os.close(config)


def _memory_file(name: str, content: bytes) -> int:
    number = os.memfd_create(name)
    with os.fdopen(os.dup(number), "wb") as file:
        file.write(content)
    return number


def _ends_with_parent() -> Callable[[], None]:
    """For the new process: the kernel kills it when the one that started it ends, even by SIGKILL."""
    library = ctypes.CDLL(None)

    def arrange() -> None:
        library.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)

    return arrange
