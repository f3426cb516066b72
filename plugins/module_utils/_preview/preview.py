# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A preview: from options and a snapshot to the result of the module scheduler_preview."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._debugging import binary
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import images, presets
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import SOURCES, from_structure
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.version_independent import DEFAULT_SCHEDULER_NAME
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring.prometheus import without_credentials
from ansible_collections.osso.scheduler.plugins.module_utils._preview import effect, present_state
from ansible_collections.osso.scheduler.plugins.module_utils._preview.sandbox import Key, key_of
from ansible_collections.osso.scheduler.plugins.module_utils._preview.scheduler_process import Candidate, Scores, candidate
from ansible_collections.osso.scheduler.plugins.module_utils._preview.simulation import (
    DRAIN,
    HEADROOM,
    MODES,
    PENDING,
    REPLACE,
    Progress,
    Run,
    Scene,
    bystander,
    perform,
    score,
)
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import Malformed, Snapshot, redact

Side = Mapping[str, Any]
"""The options of a candidate or baseline, as the module has them."""
CHANGED, ALL = "changed", "all"
"""Whose scores are read."""
_FOREVER = "9999"
_MOST_PODS, _MOST_SECONDS = 100_000, 7 * 24 * 3600


class Options(NamedTuple):
    """What to preview; the module scheduler_preview documents each."""

    candidate: dict[str, Any]
    mode: str = PENDING
    baseline: dict[str, Any] | None = None
    namespaces: list[str] | tuple[str, ...] = ()
    labels: dict[str, str] | None = None
    scheduler_names: list[str] | tuple[str, ...] = ()
    nodes: list[str] | tuple[str, ...] = ()
    template: dict[str, Any] | None = None
    limit: int = 1000
    scores: str = CHANGED
    max_unschedulable: int | None = None
    max_moved_percent: float | None = None
    timeout: int = 600


class Selection(NamedTuple):
    """offered: in their order. skipped: pods that cannot be previewed, with the reason. stays: number of pods that a node cannot lose."""

    offered: list[Object]
    skipped: dict[Key, str]
    stays: int


def preview(options: Options, snapshot: Snapshot, run_command: binary.RunCommand, progress: Progress) -> dict[str, Any]:
    """The result of the module. Raises ClusterError."""
    check(options, snapshot)
    with ExitStack() as stack:
        new = stack.enter_context(prepared("candidate", options.candidate, run_command))
        old, shared, broken = None, False, ""
        if options.baseline:
            # One program for both, unless the baseline has its own
            shared = not options.baseline.get("binary") and bool(
                options.candidate.get("binary") or options.baseline.get("image") in (None, options.candidate.get("image"))
            )
            about = (
                {"binary": new.binary, "release": new.kubernetes, "plugins": new.plugins, "image": None, "program": new.program}
                if shared
                else {}
            )
            try:
                old = stack.enter_context(prepared("baseline", {**options.baseline, **about}, run_command))
            except ClusterError as error:
                if not options.baseline.get("may_be_broken"):
                    raise
                broken = error.message
        every = select(options, snapshot)
        selection = _with_profile(every, old) if old else every
        scene = make_scene(options, snapshot, selection.offered)
        for pod in scene.offered:
            for one in (new, old):
                if one:
                    one.profile_for(pod["spec"].get("schedulerName", ""))
        baseline = None
        if old and scene.offered:
            started = time.monotonic()
            try:
                baseline = perform(old, scene, options.timeout, progress)
            except ClusterError as error:
                if not (options.baseline or {}).get("may_be_broken") or time.monotonic() - started >= options.timeout:
                    raise
                broken, selection = error.message, every
                scene = make_scene(options, snapshot, selection.offered)
        found = perform(new, scene, options.timeout, progress) if scene.offered else Run()
        different = effect.scored(scene, found, baseline, options.scores == ALL, options.max_moved_percent is not None)
        ties: dict[Key, set[str]] = {}
        scores: dict[Key, dict[str, Scores]] = {}
        if different:
            by_key = {key_of(pod): pod for pod in scene.offered}
            # Of each pod, the scores of the node before and of the node after
            kept = {key: {effect.reference(by_key[key], baseline), found.placements[key].node} - {""} for key in different}
            scored = score(new, scene, kept, (baseline or found).history, options.timeout, progress)
            # A pod that the candidate does not place where the reference placed it has no ties.
            ties = {key: scored.ties.get(key, set()) for key in different}
            scores = scored.scores
    outcome = effect.Outcome(
        scene, snapshot.of("Pod"), snapshot.of("Node"), found, baseline, ties, scores, selection.skipped, snapshot.load
    )
    result = effect.report(outcome)
    assumptions = _assumptions(options, snapshot, selection, new, [run for run in (baseline, found) if run], shared)
    if broken:
        assumptions.append(f"The present configuration cannot be run, so each pod is compared with its present node. {broken}")
    beyond = effect.exceeded(result["summary"], result["pods"], options.max_unschedulable, options.max_moved_percent)
    return {
        "changed": False,
        **result,
        "exceeded": beyond,
        "assumptions": assumptions,
        "missing": list(snapshot.missing),
        "kubernetes_version": new.kubernetes,
        "scheduler_names": list(new.scheduler_names),
        "msg": _sentence(options, result),
    }


def select(options: Options, snapshot: Snapshot) -> Selection:
    """The pods to offer: by priority, then by age."""
    offered, skipped, stays = [], {}, 0
    for pod in snapshot.of("Pod") if options.mode != HEADROOM else []:
        metadata, spec = pod["metadata"], pod["spec"]
        if (
            bool(spec.get("nodeName")) == (options.mode == PENDING)
            or (options.nodes and options.mode != PENDING and spec.get("nodeName") not in options.nodes)
            or not _is_meant(options, pod)
        ):
            continue
        if metadata.get("deletionTimestamp") or any(
            owner.get("kind") in ("DaemonSet", "Node") for owner in metadata.get("ownerReferences") or []
        ):
            stays += 1
        elif spec.get("schedulingGates"):
            skipped[key_of(pod)] = "it waits at the scheduling gates {}".format(", ".join(gate["name"] for gate in spec["schedulingGates"]))
        elif spec.get("resourceClaims"):
            skipped[key_of(pod)] = "it has ResourceClaims, whose devices a preview does not allocate"
        else:
            offered.append(pod)

    def rank(pod: Object) -> tuple[int, str, Key]:
        return -int(pod["spec"].get("priority") or 0), str(pod["metadata"].get("creationTimestamp") or _FOREVER), key_of(pod)

    return Selection(sorted(offered, key=rank), skipped, stays)


def _is_meant(options: Options, pod: Object) -> bool:
    """Whether namespaces, scheduler_names and labels select a pod."""
    labels = pod["metadata"].get("labels") or {}
    return (
        (not options.namespaces or key_of(pod)[0] in options.namespaces)
        and (not options.scheduler_names or pod["spec"].get("schedulerName", DEFAULT_SCHEDULER_NAME) in options.scheduler_names)
        and all(labels.get(label) == value for label, value in (options.labels or {}).items())
    )


def _with_profile(selection: Selection, baseline: Candidate) -> Selection:
    """Without the pods that a baseline with several profiles has no profile for."""
    lacking = [pod for pod in selection.offered if not baseline.has_profile_for(pod["spec"].get("schedulerName", ""))]
    skipped = {key_of(pod): "the baseline has no profile {}".format(pod["spec"].get("schedulerName")) for pod in lacking}
    return selection._replace(
        offered=[pod for pod in selection.offered if key_of(pod) not in skipped], skipped={**selection.skipped, **skipped}
    )


def make_scene(options: Options, snapshot: Snapshot, offered: list[Object]) -> Scene:
    """What the sandbox begins with. Other pending pods exist, but are not placed."""
    away = {key_of(pod) for pod in offered} if options.mode in (DRAIN, PENDING) else set()
    detached = _detached(snapshot, away) if options.mode == DRAIN else set()
    objects = []
    for obj in snapshot.objects:
        if (obj["kind"] == "Pod" and key_of(obj) in away) or (obj["kind"] == "VolumeAttachment" and _attached(obj) in detached):
            continue
        if obj["kind"] == "Node" and options.mode == DRAIN and obj["metadata"]["name"] in options.nodes:
            obj = {**obj, "spec": {**(obj.get("spec") or {}), "unschedulable": True}}
        objects.append(bystander(obj))
    if options.mode == HEADROOM:
        one = copy_of(options.template or {}, snapshot)
        # They fit beside what is there.
        one["spec"]["preemptionPolicy"] = "Never"
        offered = [{**one, "metadata": {**one["metadata"], "name": f"preview-{number:06}"}} for number in range(1, options.limit + 1)]
    return Scene(options.mode, tuple(objects), tuple(offered), options.limit)


def _attached(attachment: Object) -> tuple[str, str]:
    """Node and volume of a VolumeAttachment."""
    spec = attachment.get("spec") or {}
    return str(spec.get("nodeName")), str((spec.get("source") or {}).get("persistentVolumeName"))


def _detached(snapshot: Snapshot, away: set[Key]) -> set[tuple[str, str]]:
    """Node and volume of what is attached only for pods that are taken away."""
    volumes = {key_of(claim): str((claim.get("spec") or {}).get("volumeName")) for claim in snapshot.of("PersistentVolumeClaim")}
    attached: dict[bool, set[tuple[str, str]]] = {True: set(), False: set()}
    for pod in snapshot.of("Pod"):
        namespace, name = key_of(pod)
        for volume in pod["spec"].get("volumes") or []:
            claim = (volume.get("persistentVolumeClaim") or {}).get("claimName") or (
                f"{name}-{volume['name']}" if "ephemeral" in volume else ""
            )
            attached[(namespace, name) in away].add((str(pod["spec"].get("nodeName")), volumes.get((namespace, claim), "")))
    return attached[True] - attached[False]


def copy_of(template: Mapping[str, Any], snapshot: Snapshot, namespace: str = "") -> Object:
    """A pod of a template, such as one of a Deployment, with the defaults that the API server sets only in pods.

    namespace: instead of that of the template. Raises InputError.
    """
    try:
        metadata = {
            "namespace": "default",
            **(template.get("metadata") or {}),
            "name": "preview",
            **({"namespace": namespace} if namespace else {}),
        }
        pod = redact({**template, "apiVersion": "v1", "kind": "Pod", "metadata": metadata})
        for container in (*(pod["spec"].get("containers") or []), *(pod["spec"].get("initContainers") or [])):
            resources = container.get("resources") or {}
            if resources.get("limits"):
                container["resources"] = {**resources, "requests": {**resources["limits"], **(resources.get("requests") or {})}}
        pod["spec"] = {**_priority(pod["spec"], snapshot), **pod["spec"]}
        return pod
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        why = f" {error}." if isinstance(error, Malformed) else ""
        raise InputError(
            f"template: must be a Pod with metadata and spec, such as a template of a Deployment with its spec.{why}"
        ) from None


def _priority(spec: Mapping[str, Any], snapshot: Snapshot) -> dict[str, Any]:
    """Priority and preemption of the PriorityClass of a pod. Raises InputError if it does not exist."""
    classes = [one for one in snapshot.objects if one["kind"] == "PriorityClass"]
    name = spec.get("priorityClassName")
    found = next((one for one in classes if (one["metadata"]["name"] == name if name else one.get("globalDefault"))), None)
    if found:
        return {"priority": found["value"], **({"preemptionPolicy": found["preemptionPolicy"]} if found.get("preemptionPolicy") else {})}
    if name and "priority" not in spec and classes:
        raise InputError(f"template: spec.priorityClassName: there is no PriorityClass {name}. Correct the name, or create the class.")
    return {}


def check(options: Options, snapshot: Snapshot) -> None:
    if options.mode not in MODES:
        raise InputError(f"mode: {options.mode} is not known: choose from {', '.join(MODES)}.")
    if (options.mode == HEADROOM) != bool(options.template):
        raise InputError(f"template is for mode {HEADROOM}, which requires it: mode is {options.mode}.")
    if options.template:
        copy_of(options.template, snapshot)
    for name, most in (("limit", _MOST_PODS), ("timeout", _MOST_SECONDS)):
        check_number(name, getattr(options, name), most)
    if options.max_unschedulable is not None and options.max_unschedulable < 0:
        raise InputError(f"max_unschedulable is {options.max_unschedulable}: it must be at least 0.")
    if options.max_moved_percent is not None and not 0 <= options.max_moved_percent <= 100:
        raise InputError(f"max_moved_percent is {options.max_moved_percent:g}: it must be from 0 to 100.")
    unknown = sorted(set(options.nodes) - {node["metadata"]["name"] for node in snapshot.of("Node")})
    if unknown:
        raise InputError(f"nodes: {', '.join(unknown)}: there is no such node.")
    if (
        options.mode != HEADROOM
        and (options.namespaces or options.labels)
        and not any(_is_meant(options, pod) for pod in snapshot.of("Pod"))
    ):
        given = [f"{name} {json.dumps(value)}" for name in ("namespaces", "labels", "scheduler_names") if (value := getattr(options, name))]
        raise InputError(f"{given[0].partition(' ')[0]}: no pod is selected by {', '.join(given)}. Correct the selection, or remove it.")


def check_number(name: str, value: int, most: int = _MOST_SECONDS) -> None:
    if not 1 <= value <= most:
        raise InputError(f"{name} is {value}: it must be from 1 to {most}.")


@contextmanager
def prepared(name: str, given: Side, run_command: binary.RunCommand) -> Iterator[Candidate]:
    """The candidate, with its program out of its image where no file is given."""
    text, image = text_of(name, given), given.get("image")
    release, plugins = given.get("release"), given.get("plugins")
    if image:
        known = images.identify(image)
        release, plugins = release or known.kubernetes, plugins or known.plugins
    with ExitStack() as stack:
        path = given.get("binary")
        if not path:
            if not image:
                raise InputError(f"{name}: set {name}.binary, the path of a kube-scheduler, or {name}.image, whose kube-scheduler is used.")
            path = os.path.join(stack.enter_context(tempfile.TemporaryDirectory(prefix="osso.preview.")), "kube-scheduler")
            source = binary.Source(given.get("auth_file"), given.get("validate_certs", True), given.get("skopeo") or "skopeo", name)
            try:
                binary.extract(image, "", path, source, run_command)
            except ClusterError as error:
                raise ClusterError(
                    f"{error.message} Or set {name}.binary to the path of a kube-scheduler on this host, such as a copy of the program "
                    "from the image, or set job."
                ) from None
            os.chmod(path, 0o700)
        extracted = image and (given.get("extracted") or not given.get("binary"))
        program = given.get("program") or (f"{name}.image: {image}" if extracted else f"{name}.binary: {path}")
        more = (
            given.get("flags") or (),
            given.get("feature_gates"),
            given.get("as_scheduler"),
            bool(given.get("allow_extenders")),
            program,
            source_of(name, given),
        )
        yield candidate(name, path, present_state.filled(text) if isinstance(text, str) else text, release, plugins, *more)


def text_of(name: str, given: Side) -> str | bytes:
    """The configuration of a side, with its placeholders. Raises InputError."""
    sources = [f"{name}.{source}" for source in SOURCES if given.get(source)]
    if len(sources) != 1:
        every = ", ".join(f"{name}.{source}" for source in SOURCES)
        raise InputError(f"{name}: set one of {every}; set are: {', '.join(sources) or 'none'}.")
    if given.get("config"):
        return from_structure(given["config"])
    if given.get("config_text"):
        return str(given["config_text"])
    if given.get("preset"):
        try:
            return from_structure(presets.configuration(given["preset"], given.get("preset_parameters")))
        except presets.PresetError as error:
            raise InputError(f"{name}.{error}") from None
    try:
        with open(given["config_file"], "rb") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"{name}.config_file: {given['config_file']} cannot be read: {error.strerror}.") from None


def source_of(name: str, given: Side) -> str:
    """The option with the configuration of a side, and its value if it is short; for messages."""
    if given.get("source"):
        return str(given["source"])
    option = next(source for source in SOURCES if given.get(source))
    return f"{name}.{option}" + (f": {given[option]}" if option in ("config_file", "preset") else "")


def _assumptions(options: Options, snapshot: Snapshot, selection: Selection, new: Candidate, runs: list[Run], shared: bool) -> list[str]:
    """What a preview cannot know, as far as it is about this one."""
    found = ["Admission, quotas and kubelets that reject pods are not part of a preview."]
    if new.kubernetes and "--feature-gates=OpportunisticBatching=false" in new.flags:
        found.append(
            "The feature gate OpportunisticBatching is off, because it skips scoring. It does not change where a single pod is placed."
        )
    found.append(
        "All nodes are scored (percentageOfNodesToScore is 100). With fewer, a cluster of more than 100 nodes chooses among some of them."
    )
    image = (options.baseline or {}).get("image")
    if shared and image and image != options.candidate.get("image"):
        found.append(f"The baseline ran with the program of the candidate, although its image is {image}.")
    if options.mode == REPLACE:
        found.append("Each pod is placed alone, with all other pods where they are. The values of nodes after it add up these answers.")
    if options.mode == DRAIN and options.nodes:
        found.append(f"These nodes are cordoned: {', '.join(options.nodes)}.")
    if selection.stays:
        found.append(f"{selection.stays} selected pods stay: pods of DaemonSets, static pods and pods that are being deleted.")
    left_out = sum(not pod["spec"].get("nodeName") for pod in snapshot.of("Pod"))
    left_out -= len(selection.offered) + len(selection.skipped) if options.mode == PENDING else 0
    if left_out:
        found.append(f"{left_out} other pending pods are not placed.")
    found += about_load(snapshot, new)
    if snapshot.load:
        found.append(
            "In the load after, each pod that moves takes its measured use with it, and one without a measured use takes its requests."
        )
    if new.config.get("extenders"):
        found.append(f"Extenders were called: {', '.join(without_credentials(one['urlPrefix']) for one in new.config['extenders'])}.")
    if not snapshot.kubernetes:
        found.append("The snapshot is a list of kubectl: kinds that it does not contain do not exist in the preview.")
    for run in runs:
        found += [
            f"The volume of the claim {claim} is invented, for the node of its first pod and nodes with the same topology of its CSI driver."
            for claim in run.invented
        ]
        found += [f"The sandbox does not serve: {request} ({count} requests)." for request, count in sorted(run.unknown.items())]
    return list(dict.fromkeys(found))


def about_load(snapshot: Snapshot, new: Candidate) -> list[str]:
    """What the preview of a load-aware scheduler cannot know."""
    plugins = ", ".join(new.reads_load)
    if not plugins:
        return []
    if any(obj["kind"] == "NodeMetrics" for obj in snapshot.objects):
        return [
            f"{plugins} use the load that the metrics API measured for the snapshot. It has no deviation, and does not change when pods are placed."
        ]
    return [f"{plugins} use the measured load, which does not change when pods are placed, and without access to metrics is 0."]


def _sentence(options: Options, result: Mapping[str, Any]) -> str:
    summary, headroom = result["summary"], result["headroom"]
    if headroom:
        return f"{headroom['pods']} more pods fit. The next one: {headroom['stopped_by']}"
    parts = [f"{summary[name]} {name.replace('_', ' ')}" for name in ("same", "tie", "moved", "unschedulable", "preempts", "not_compared")]
    return f"{options.mode}: {effect.counted(summary['pods'])}: {', '.join(parts)}."
