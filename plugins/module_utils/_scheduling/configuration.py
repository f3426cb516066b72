# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find a configuration, validate it (`config_validation`), and report that: the work of the module kube_scheduler_config."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster import config_maps
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ApiError, ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.redaction import secret_texts
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import document
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import from_structure
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.images import identify, program
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.presets import PresetError, configuration
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import ERROR, WARNING, Effective, Finding, plugins_of
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.needs import NEEDS
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import is_later_openshift
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import (
    config_validation,
    devices,
    gangs,
    pool_items,
    pool_policies,
    power_models,
)
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.config_validation import Target, ValidationResult

if TYPE_CHECKING:
    from ansible_collections.osso.scheduler.plugins.module_utils._cluster.client import Client

SOURCES = ("config", "content", "src", "config_map", "preset")


class Options(NamedTuple):
    """What to validate, and how; the module kube_scheduler_config documents each."""

    config: dict[str, Any] | None = None
    content: str | None = None
    src: str | None = None
    config_map: dict[str, str] | None = None
    preset: str | None = None
    preset_parameters: dict[str, Any] | None = None
    pools: tuple[dict[str, Any], ...] | list[dict[str, Any]] = ()
    kubernetes_version: str | None = None
    image: str | None = None
    plugins: Any = None
    flags: tuple[str, ...] | list[str] = ()
    placeholders: tuple[str, ...] | list[str] = ()
    mounted_paths: list[str] | None = None
    convert_to: str | None = None
    ask_image: bool = False
    ask_namespace: str | None = None
    ask_service_account: str = "default"
    ask_command: list[str] | None = None
    ask_pull_secrets: tuple[str, ...] | list[str] = ()
    ask_timeout: int = 120
    compare_cluster: bool = False
    fail_on: str = "error"


class Cluster:
    """The connected cluster; ``connect`` makes the client when it is first needed."""

    def __init__(self, connect: Callable[[], Client]):
        self._connect = connect
        self._client: Client | None = None
        self._version: str | None = None

    @property
    def client(self) -> Client:
        if self._client is None:
            self._client = self._connect()
        return self._client

    @property
    def is_connected(self) -> bool:
        return self._client is not None

    @property
    def version(self) -> str:
        """What the API server reports of its release, such as ``v1.31.4``."""
        if self._version is None:
            self._version = self.client.version()
        return self._version


class Found(NamedTuple):
    """text: str, bytes if it is no UTF-8, None if there is none; source: what findings are prefixed with; is_unreadable: does the key exist, but
    contain no text?"""

    text: str | bytes | None
    source: str
    reason: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    resource_version: str = ""
    is_unreadable: bool = False


def validate_configuration(
    options: Options, connect: Callable[[], Client], warn: Callable[[str], None], check_mode: bool = False
) -> dict[str, Any]:
    """The result of the module. Raises `ClusterError`, with the result, where the task is to fail."""
    if options.ask_image and options.convert_to:
        raise InputError("ask_image and convert_to exclude each other: validate the converted text with the image of the new release.")
    cluster = Cluster(connect)
    found = _find(options, cluster)
    target = config_validation.resolve_target(
        options.image,
        options.kubernetes_version,
        options.plugins,
        options.flags,
        lambda: _cluster_release(cluster, options.kubernetes_version),
        convert_to=options.convert_to,
        strict=options.fail_on != "never",
    )
    result: dict[str, Any] = {
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
        "missing_kinds": [],
        "conversion": None,
        "image_answer": None,
        "found": found.text is not None,
        "reason": found.reason,
        "labels": found.labels or {},
        "annotations": found.annotations or {},
        "resource_version": found.resource_version,
    }
    if found.text is None:
        if options.fail_on != "never":
            raise ClusterError(found.reason, **result)
        return result
    asks = options.ask_image and not check_mode
    source, given = found.source, (options.flags, options.placeholders, options.image, _cluster_version(options, cluster, asks))
    if options.convert_to:
        today = options.kubernetes_version
        if not today or is_later_openshift(today):
            today = identify(options.image).kubernetes if options.image else None
        validated, result["conversion"] = config_validation.convert(found.text, today, target, *given)
        source = "converted" if result["conversion"]["steps"] else source
    else:
        validated = config_validation.validate(found.text, target, *given)
        if options.compare_cluster:
            validated = replace(validated, findings=(*validated.findings, *_about_cluster(cluster.client, validated, target)))
    if options.mounted_paths is not None:
        validated = config_validation.with_mounts(validated, options.mounted_paths)
    if asks:
        answer = _ask(options, cluster, validated)
        validated = config_validation.with_answer(validated, answer)
        result["image_answer"] = {"valid": answer.valid, "error": answer.error}
        if answer.warning:
            warn(answer.warning)
    elif options.ask_image:
        warn("ask_image: check mode creates no Job, so the image did not validate it.")
    result.update(
        valid=validated.valid,
        starts=validated.starts,
        findings=[_as_dict(finding, bool(source)) for finding in validated.findings],
        scheduler_names=list(validated.scheduler_names),
        api_version=validated.api_version,
        hash=validated.hash,
        effective={name: _points(points) for name, points in validated.effective.items()} if validated.valid else {},
        asks_prometheus=validated.asks_prometheus,
        missing_kinds=_missing_kinds(cluster.client, validated.effective) if options.compare_cluster else [],
    )
    _fail(options.fail_on, validated, source, result)
    if options.fail_on != "never":
        _warn(warn, validated, source)
    # Ansible prints the whole result of a failure, so what may hold a credential comes only now.
    return {**result, "text": validated.text if isinstance(validated.text, str) else None, "completed": validated.completed}


def read_config_map(client: Client, namespace: str, name: str, key: str = "config.yaml") -> Found:
    """The text under a key of a ConfigMap. Raises `ApiError`."""
    source = f"ConfigMap {namespace}/{name}[{key}]"
    live = client.get(client.resource("v1", "ConfigMap"), name, namespace)
    if live is None:
        return Found(None, source, f"The ConfigMap {name} does not exist in the namespace {namespace}.")
    metadata = live["metadata"]
    about = (metadata.get("labels"), metadata.get("annotations"), metadata.get("resourceVersion", ""))
    try:
        text = config_maps.text(live, key)
    except InputError as error:
        return Found(None, source, f"The ConfigMap {namespace}/{name} cannot be read: {error}.", *about, is_unreadable=True)
    if text is None:
        keys = ", ".join(config_maps.keys(live)) or "none"
        return Found(None, source, f"The ConfigMap {namespace}/{name} has no key {key}; its keys: {keys}.", *about)
    return Found(text, source, "", *about)


def _find(options: Options, cluster: Cluster) -> Found:
    """The configuration, which keeps its schedulers on the nodes of their pools. Raises `InputError` with the lines that a text lacks."""
    pools = pool_items.complete(options.pools)
    if pools["errors"]:
        raise InputError("\n".join(pools["errors"]))
    separated = [item for item in pools["items"] if item["state"] == "present" and pool_policies.node_labels(item)]
    tree = _preset(options.preset, options.preset_parameters) if options.preset is not None else options.config
    if tree is not None:
        for item in separated:
            tree = pool_policies.with_nodes(tree, item)
        found = Found(from_structure(tree), "")
    else:
        found = _read_text(options, cluster)
        tree = document.tree(found.text or "") if separated else {}
    names = pool_policies.scheduler_names(tree)
    lacking = [item for item in separated if item["scheduler_name"] in names and not pool_policies.keeps_to_nodes(tree, item)]
    if lacking:
        raise InputError("\n".join(pool_policies.missing_lines(item, f"the scheduler {item['scheduler_name']}") for item in lacking))
    return found


def _read_text(options: Options, cluster: Cluster) -> Found:
    if options.content is not None:
        return Found(options.content, "content")
    if options.src is not None:
        return Found(_read(options.src), options.src)
    # The last of `SOURCES`
    if options.config_map is None:
        raise AssertionError("config_map")
    return read_config_map(cluster.client, **options.config_map)


def _preset(name: str, parameters: dict[str, Any] | None) -> dict[str, Any]:
    try:
        return configuration(name, parameters)
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


def _cluster_release(cluster: Cluster, given: str | None) -> str:
    try:
        return cluster.version
    except ClusterError as error:
        lacks = (
            f"kubernetes_version {given} is newer than this collection and image is not given"
            if given
            else "Neither kubernetes_version nor image is given"
        )
        raise InputError(
            f"{lacks}, so the release of the connected cluster is required, but it cannot be read: {error.message.rstrip('.')}. "
            "Give kubernetes_version, such as 1.31, or image."
        ) from None


def _cluster_version(options: Options, cluster: Cluster, asks: bool) -> str | None:
    """The cluster's release, where the image is to be compared with it. ``asks``: is the cluster needed anyway?"""
    if not options.image or not (cluster.is_connected or options.compare_cluster or asks):
        return None
    try:
        return cluster.version
    except ClusterError:
        if options.compare_cluster:
            raise
        return None


def _about_cluster(client: Client, validated: ValidationResult, target: Target) -> list[Finding]:
    """What the cluster lacks for the plugins that run: the API of gangs, and all that devices need; and what a power model lacks for its nodes."""
    groups = client.groups()
    return [
        *gangs.unserved(validated.effective, target.kubernetes, groups),
        *_about_devices(client, validated, target, groups),
        *_about_power(client, validated),
    ]


def _about_power(client: Client, validated: ValidationResult) -> list[Finding]:
    """Nodes that the power models of Peaks lack."""
    if power_models.PLUGIN not in plugins_of(validated.effective):
        return []
    try:
        nodes = client.list(client.resource("v1", "Node"))
    except ApiError as error:
        if error.status != 403:
            raise
        return []
    return power_models.incomplete(validated.config or {}, validated.effective, nodes)


def _missing_kinds(client: Client, effective: Effective) -> list[str]:
    """Of the kinds that the enabled plugins of scheduler-plugins read, those that the API server does not serve, as ``<apiVersion>/<kind>``."""
    missing = set()
    for kind in {kind for plugin in plugins_of(effective) & set(NEEDS) for kind in NEEDS[plugin].kinds}:
        try:
            client.resource(kind.api_version, kind.kind)
        except ApiError as error:
            if error.status != 404:
                raise
            missing.add(f"{kind.api_version}/{kind.kind}")
    return sorted(missing)


def _about_devices(client: Client, validated: ValidationResult, target: Target, groups: dict[str, list[str]]) -> list[Finding]:
    """What the cluster lacks for dynamic resource allocation, where the configuration allocates devices."""
    if not devices.allocates(validated.effective) or any(devices.GROUP in finding.message for finding in validated.findings):
        return []
    found = devices.unserved(validated.effective, target.kubernetes, groups)
    if found:
        return found
    try:
        role = client.get(client.resource("rbac.authorization.k8s.io/v1", "ClusterRole"), devices.CLUSTER_ROLE)
    except ApiError as error:
        if error.status != 403:
            raise
        return []
    return devices.unreadable(validated.effective, role)


def _ask(options: Options, cluster: Cluster, validated: ValidationResult) -> config_validation.Answer:
    from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.image_answer import Question, ask

    # The module requires it with ask_image.
    if options.image is None:
        raise AssertionError("image")
    question = Question(
        image=options.image,
        text=validated.text,
        flags=tuple(options.flags),
        namespace=options.ask_namespace or (options.config_map or {}).get("namespace") or "default",
        service_account=options.ask_service_account,
        timeout=options.ask_timeout,
        secrets=tuple(secret_texts(validated.tree)),
        command=tuple(options.ask_command or [program(options.image, options.plugins)]),
        pull_secrets=tuple(options.ask_pull_secrets),
    )
    return ask(cluster.client, question)


def _as_dict(finding: Finding, with_position: bool) -> dict[str, Any]:
    return finding.as_dict() if with_position else dict(finding.as_dict(), line=None, column=None)


def _points(points: Mapping[str, Sequence[tuple[str, int]]]) -> dict[str, list[list[Any]]]:
    return {point: [list(plugin) for plugin in plugins] for point, plugins in points.items()}


def _fail(fail_on: str, validated: ValidationResult, source: str, result: dict[str, Any]) -> None:
    failing = {"never": (), "error": (ERROR,), "warning": (ERROR, WARNING)}[fail_on]
    found = [finding for finding in validated.findings if finding.severity in failing]
    if not found:
        return
    errors = any(finding.severity == ERROR for finding in found)
    title = "This is no usable KubeSchedulerConfiguration for" if errors else "Likely mistakes, for"
    raise ClusterError("\n".join([f"{title} {validated.target}:", *(_line(finding, source) for finding in found)]), **result)


def _warn(warn: Callable[[str], None], validated: ValidationResult, source: str) -> None:
    target: Target = validated.target
    if target.unknown:
        warn(f"The kube-scheduler release is unknown, so only checks that apply to every release were made: {target.unknown}.")
    for finding in validated.findings:
        if finding.severity == WARNING:
            warn(_line(finding, source))


def _line(finding: Finding, source: str) -> str:
    return finding.format(source, bool(source))
