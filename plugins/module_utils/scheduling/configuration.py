# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find a configuration, find out which kube-scheduler it is for, and judge it: the work of the module kube_scheduler_config."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils.cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils.cluster.secret_texts import secret_texts
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.document import tree
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.images import check_image, identify
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.plugins import make_target
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.presets import PresetError, configuration
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.result import ADVICE, ERROR, RUN, WARNING, Finding, Result
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.target import IN_TREE, SCHEDULER_PLUGINS, UnknownTarget
from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.text import content_hash, from_structure, normalize
from ansible_collections.osso.scheduler.plugins.module_utils.monitoring.configured import asking_prometheus

SOURCES = ("config", "content", "src", "config_map", "preset")


class Target(NamedTuple):
    """The kube-scheduler that is meant; kubernetes and plugins are both None if nobody can say, and ``unknown`` says why."""

    kubernetes: str | None
    kubernetes_from: str | None
    plugins: Any
    plugins_from: str | None
    unknown: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "kubernetes_version": self.kubernetes,
            "kubernetes_version_from": self.kubernetes_from,
            "plugins": self.plugins,
            "plugins_from": self.plugins_from,
            "unknown": self.unknown,
        }

    def __str__(self) -> str:
        if self.kubernetes is None:
            return "any kube-scheduler"
        plugins = self.plugins if isinstance(self.plugins, str) else "plugins of its own"
        return f"Kubernetes {self.kubernetes}" + ("" if plugins == IN_TREE else f" with {plugins}")


class Cluster:
    """The connected cluster, spoken to when it is first needed."""

    def __init__(self, module, client=None):
        self._module = module
        self._client = client
        self._version = None

    @property
    def client(self):
        if self._client is None:
            from ansible_collections.osso.scheduler.plugins.module_utils.cluster.client import Client

            self._client = Client.from_module(self._module)
        return self._client

    @property
    def spoken_to(self) -> bool:
        return self._client is not None

    @property
    def version(self) -> str:
        """What the API server says of its release, such as ``v1.31.4``."""
        if self._version is None:
            self._version = self.client.request("GET", "/version").get("gitVersion", "")
        return self._version


class Found(NamedTuple):
    """text: str, bytes if it is no UTF-8, None if there is none; source: what findings are prefixed with."""

    text: str | bytes | None
    source: str
    reason: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    resource_version: str = ""


def examine(module, client=None) -> dict[str, Any]:
    """The result of the module for its parameters. Raises ClusterError, with the result, where the task is to fail."""
    result = validate(module, client)
    del result["tree"]
    return result


def validate(module, client=None) -> dict[str, Any]:
    """The same, with the ``tree`` of what was validated (``Result.tree``), so that nobody has to parse the text again.

    ``client``: the one to use where there is one already.
    """
    params = module.params
    if params["ask_image"] and params["convert_to"]:
        raise InputError("ask_image and convert_to exclude each other: ask the image of the new release about the converted text.")
    cluster = Cluster(module, client)
    found = _find(params, cluster)
    target = _target(params, cluster)
    result = {
        "changed": False,
        "valid": False,
        "starts": False,
        "findings": [],
        "target": target.as_dict(),
        "scheduler_names": [],
        "api_version": "",
        "text": None,
        "hash": None,
        "completed": None,
        "effective": {},
        "asks_prometheus": [],
        "conversion": None,
        "image_answer": None,
        "found": found.text is not None,
        "reason": found.reason,
        "labels": found.labels or {},
        "annotations": found.annotations or {},
        "resource_version": found.resource_version,
    }
    if found.text is None:
        if params["fail_on"] != "never":
            raise ClusterError(found.reason, **result)
        return {**result, "tree": {}}
    # What is checked is what the ConfigMap will hold.
    text = normalize(found.text) if isinstance(found.text, str) else found.text
    source = found.source
    flags = tuple(params["flags"])
    if params["convert_to"]:
        text, judged, result["conversion"] = _convert(text, params, target, flags)
        source = "converted" if result["conversion"]["steps"] else source
    else:
        judged = check(text, target.kubernetes, target.plugins or IN_TREE, flags if target.kubernetes else (), params["placeholders"])
    completed, valid = judged.config, None if target.unknown and judged.valid else judged.valid
    starts = judged.starts
    findings = list(judged.findings)
    if params["ask_image"] and module.check_mode:
        module.warn("ask_image: check mode creates no Job, so the image was not asked.")
    elif params["ask_image"]:
        answer = _ask(params, cluster, text, flags)
        result["image_answer"] = {"valid": answer.valid, "error": answer.error}
        valid, findings = answer.valid, _side_with(answer, findings)
        starts = starts if valid else False
        completed = tree(answer.config or "") or completed
    if params["image"]:
        findings += _about_image(params, cluster, target)
    result.update(
        valid=valid,
        starts=starts if valid is not False else False,
        findings=[_as_dict(finding, bool(source)) for finding in findings],
        scheduler_names=list(judged.scheduler_names),
        api_version=judged.api_version,
        hash=content_hash(text) if isinstance(text, str) else None,
        effective={name: _points(points) for name, points in judged.effective.items()} if valid else {},
        asks_prometheus=asking_prometheus(completed) if isinstance(completed, dict) else [],
    )
    _fail(params["fail_on"], findings, source, target, result)
    if params["fail_on"] != "never":
        _warn(module, findings, source, target)
    # Ansible prints the whole result of a failure, so what may hold a credential comes only now.
    text = text if isinstance(text, str) else None
    return {**result, "text": text, "completed": completed if valid else None, "tree": judged.tree}


def _find(params, cluster: Cluster) -> Found:
    if params["config"] is not None:
        return Found(from_structure(params["config"]), "")
    if params["preset"] is not None:
        return Found(from_structure(_preset(params)), "")
    if params["content"] is not None:
        return Found(params["content"], "content")
    if params["src"] is not None:
        return Found(_read(params["src"]), params["src"])
    return _read_config_map(params["config_map"], cluster)


def _preset(params) -> dict[str, Any]:
    try:
        return configuration(params["preset"], params["preset_parameters"])
    except PresetError as error:
        raise InputError(str(error)) from None


def _read(path: str) -> str | bytes:
    """The text of a file, or its bytes if they are no text."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise InputError(f"src: {path} cannot be read: {error.strerror}. It is a path on the host that the module runs on.") from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content


def _read_config_map(config_map, cluster: Cluster) -> Found:
    name, namespace, key = (config_map[option] for option in ("name", "namespace", "key"))
    source = f"ConfigMap {namespace}/{name}[{key}]"
    live = cluster.client.get(cluster.client.resource("v1", "ConfigMap"), name, namespace)
    if live is None:
        return Found(None, source, f"The ConfigMap {name} does not exist in the namespace {namespace}.")
    metadata = live["metadata"]
    about = (metadata.get("labels"), metadata.get("annotations"), metadata.get("resourceVersion", ""))
    data = live.get("data") or {}
    if key not in data:
        keys = ", ".join(sorted([*data, *(live.get("binaryData") or {})])) or "none"
        return Found(None, source, f"The ConfigMap {namespace}/{name} has no text under the key {key}; its keys: {keys}.", *about)
    return Found(data[key], source, "", *about)


def _target(params, cluster: Cluster) -> Target:
    """Release and plugins: what the options say, else what the image's name tells, else the cluster's release."""
    image = identify(params["image"]) if params["image"] else None
    plugins, plugins_from = _given_plugins(params["plugins"]), "option"
    if plugins is None:
        plugins, plugins_from = (image.plugins, "image") if image else (IN_TREE, "default")
    if params["convert_to"]:
        release, release_from = params["convert_to"], "convert_to"
        plugins = plugins or IN_TREE
    elif params["kubernetes_version"]:
        release, release_from = params["kubernetes_version"], "option"
    elif image:
        release, release_from = image.kubernetes, "image"
    else:
        release, release_from = _cluster_release(cluster), "cluster"
    if release is None or plugins is None:
        lacking = " and ".join(name for name, value in (("kubernetes_version", release), ("plugins", plugins)) if value is None)
        return Target(None, None, None, None, f"{image.reason}: give {lacking}")
    try:
        kubernetes = make_target(release, plugins, params["flags"]).kubernetes
    except UnknownTarget as error:
        if params["fail_on"] != "never" and release_from != "cluster":
            option = f"{release_from}: " if release_from == "convert_to" else ""
            unquoted = " A number without quotes loses its last zero: write '1.30'." if release in ("1.2", "1.3") else ""
            raise InputError(f"{option}{error}.{unquoted}") from None
        return Target(None, None, None, None, str(error))
    return Target(kubernetes, release_from, plugins, plugins_from)


def _given_plugins(plugins: Any) -> Any:
    """The option; a mapping can also be given as its text, as annotations hold it."""
    if not isinstance(plugins, str) or plugins in (IN_TREE, SCHEDULER_PLUGINS):
        return plugins or None
    # No configuration, whose reader takes what begins with a brace for JSON: a flow mapping of YAML is as good.
    return tree(f"---\n{plugins}") or plugins or None


def _cluster_release(cluster: Cluster) -> str:
    try:
        return cluster.version
    except ClusterError as error:
        raise InputError(
            "Neither kubernetes_version nor image is given, so it is the connected cluster's release that counts, but it cannot be asked: "
            "{0}. Give kubernetes_version, such as 1.31, or image.".format(error.message.rstrip("."))
        ) from None


def _convert(text, params, target: Target, flags) -> tuple[str | bytes, Result, dict[str, Any]]:
    from ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.convert import IMPOSSIBLE, convert

    source = params["kubernetes_version"] or (identify(params["image"]).kubernetes if params["image"] else None)
    if target.unknown:
        return text, check(text, None), {"source": source, "complete": False, "steps": []}
    try:
        conversion = convert(text, source, target.kubernetes, target.plugins, flags)
    except UnknownTarget as error:
        raise InputError(f"{error}.") from None
    if conversion.steps:
        text = normalize(conversion.text)
    judged = check(text, target.kubernetes, target.plugins, flags, params["placeholders"])
    if any(finding.severity == ERROR for finding in conversion.findings) and not conversion.steps:
        # Refused by the release that reads it today
        judged = Result(conversion.findings, None, conversion.api_version, judged.scheduler_names, starts=False, tree=judged.tree)
    left = [
        Finding(WARNING, "not-converted", step.message, step.path, hint="decide what it is to be", stage=ADVICE)
        for step in conversion.steps
        if step.kind == IMPOSSIBLE
    ]
    about = {
        "source": conversion.source,
        "complete": conversion.complete,
        "steps": [{"kind": step.kind, "path": step.path, "message": step.message} for step in conversion.steps],
    }
    return text, replace(judged, findings=(*judged.findings, *left)), about


def _ask(params, cluster: Cluster, text: str | bytes, flags):
    from ansible_collections.osso.scheduler.plugins.module_utils.scheduling.image_answer import Question, ask

    namespace = params["ask_namespace"] or (params["config_map"] or {}).get("namespace") or "default"
    question = Question(
        image=params["image"],
        text=text,
        flags=flags,
        namespace=namespace,
        service_account=params["ask_service_account"],
        timeout=params["ask_timeout"],
        secrets=tuple(secret_texts(tree(text))),
    )
    return ask(cluster.client, question)


def _side_with(answer, findings: list[Finding]) -> list[Finding]:
    """The findings, after the image itself has decided."""
    refused = [finding for finding in findings if finding.severity == ERROR and finding.stage != RUN]
    if not answer.valid and not refused:
        return [Finding(ERROR, "refused-by-image", answer.error), *findings]
    if answer.valid:
        return [
            replace(finding, severity=WARNING, stage=ADVICE, hint="the image accepts it all the same") if finding in refused else finding
            for finding in findings
        ]
    return findings


def _about_image(params, cluster: Cluster, target: Target) -> list[Finding]:
    known = identify(params["image"]).kubernetes
    version = None
    if cluster.spoken_to or params["compare_cluster"]:
        try:
            version = cluster.version
        except ClusterError:
            if params["compare_cluster"]:
                raise
    # Where the release is the cluster's or that of a conversion, it is not the image's.
    findings = list(check_image(params["image"], known or (target.kubernetes if target.kubernetes_from == "option" else None), version))
    if known and target.kubernetes_from == "option" and known != target.kubernetes:
        message = f"kubernetes_version is {target.kubernetes}, but the tag of {params['image']} tells {known}"
        findings.append(Finding(WARNING, "version-mismatch", message, hint="leave kubernetes_version out", stage=ADVICE))
    return findings


def _as_dict(finding: Finding, with_position: bool) -> dict[str, Any]:
    return finding.as_dict() if with_position else dict(finding.as_dict(), line=None, column=None)


def _points(points) -> dict[str, list[list[Any]]]:
    return {point: [list(plugin) for plugin in plugins] for point, plugins in points.items()}


def _fail(fail_on: str, findings: list[Finding], source: str, target: Target, result: dict[str, Any]) -> None:
    failing = {"never": (), "error": (ERROR,), "warning": (ERROR, WARNING)}[fail_on]
    if not any(finding.severity in failing for finding in findings):
        return
    errors = any(finding.severity == ERROR for finding in findings)
    head = f"This is no usable KubeSchedulerConfiguration for {target}:" if errors else f"What is surely not meant, for {target}:"
    lines = [_line(finding, source) for finding in findings if finding.severity in failing]
    raise ClusterError("\n".join([head, *lines]), **result)


def _warn(module, findings: list[Finding], source: str, target: Target) -> None:
    if target.unknown:
        module.warn(f"Checked is only what holds for every kube-scheduler, for nobody can say which one it is: {target.unknown}.")
    for finding in findings:
        if finding.severity == WARNING:
            module.warn(_line(finding, source))


def _line(finding: Finding, source: str) -> str:
    return finding.format(source, bool(source))
