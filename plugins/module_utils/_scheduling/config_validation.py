# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The one validation of a configuration: for which kube-scheduler, and what that one makes of it. Pure: no I/O, no module, no client.

Whoever needs more of a configuration than its text (the module kube_scheduler_config, the operator, what looks for Prometheus) goes by the
`ValidationResult`, so that a configuration is read once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import InputError
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.configuration_text import content_hash, normalize
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document import tree
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.images import check_image, described, identify
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.plugins import make_target
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.result import ADVICE, ERROR, RUN, WARNING, Finding, Result
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.target import (
    IN_TREE,
    UnknownTarget,
    is_later_openshift,
    parse_release,
)
from ansible_collections.osso.scheduler.plugins.module_utils._monitoring import prometheus_clients
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling import devices

# Of the finding about clientConnection.kubeconfig
KUBECONFIG = "kubeconfig"


class Target(NamedTuple):
    """The target kube-scheduler; kubernetes and plugins are both None if the release is unknown, and ``unknown`` contains the reason."""

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


# Where a release comes from, as errors name it; one of an image is known.
_OPTIONS = {"option": "kubernetes_version: ", "convert_to": "convert_to: "}


def unknown_target(why: str) -> Target:
    """No release is known: only release-independent checks are made."""
    return Target(None, None, None, None, why)


class Answer(NamedTuple):
    """What an image itself answered. valid: whether it accepts the configuration; error: its message if not; config: completed, as YAML text,
    or None; warning: what could not be deleted."""

    valid: bool
    error: str = ""
    config: str | None = None
    warning: str = ""


@dataclass(frozen=True)
class ValidationResult:
    """What one configuration is to one kube-scheduler.

    text: normalized, as a ConfigMap holds it; bytes if it is no UTF-8. hash: of the text, None for bytes. tree: the document as it is written, {}
    where it is no mapping. config: the completed configuration, or the unchanged document if the release is unknown; None if rejected.
    valid: None where the release is unknown and nothing wrong was found. starts: would the process begin to work, too? findings, api_version,
    scheduler_names, effective: see ``kube_scheduler.result.Result``. image_answer: of the image, None if it was not run.
    """

    text: str | bytes
    target: Target
    valid: bool | None
    starts: bool | None
    hash: str | None = None
    findings: tuple[Finding, ...] = ()
    scheduler_names: tuple[str, ...] = ()
    api_version: str = ""
    tree: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] | None = None
    effective: dict[str, dict[str, list[tuple[str, int]]]] = field(default_factory=dict)
    image_answer: Answer | None = None

    @property
    def decoded(self) -> str:
        """The text, "" for bytes that are none."""
        return self.text if isinstance(self.text, str) else ""

    @property
    def completed(self) -> dict[str, Any] | None:
        """The configuration with all defaults, None unless it is known to be valid."""
        return self.config if self.valid else None

    @property
    def asks_prometheus(self) -> list[str]:
        """The enabled plugins that query Prometheus, themselves or by the operator's load-watcher service."""
        return prometheus_clients.asking_prometheus(self.config) if isinstance(self.config, dict) else []

    @property
    def holds_token(self) -> bool:
        """Is there a credential in the text, or a placeholder for the token for Prometheus?"""
        return prometheus_clients.holds_token(self.tree)

    @property
    def holds_password(self) -> bool:
        """Is there a credential in a URL in the text, or of an extender?"""
        return prometheus_clients.holds_password(self.tree)


def resolve_target(
    image: str | None,
    kubernetes: str | None,
    plugins: Any,
    flags: Sequence[str],
    cluster_release: Callable[[], str],
    convert_to: str | None = None,
    strict: bool = True,
) -> Target:
    """Release and plugins: those given, else those of the image's name, else the cluster's release.

    A release of OpenShift that is newer than the tables is ignored.

    plugins: a name, a mapping, or its text, as annotations contain it. cluster_release: called only if the release is otherwise unknown.
    Raises `InputError` for a release or plugins that were given and that no table describes, unless ``strict`` is false.
    """
    if kubernetes and is_later_openshift(kubernetes):
        kubernetes = None
    known = identify(image) if image else None
    plugins, plugins_from = described(plugins) if isinstance(plugins, str) else plugins or None, "option"
    if plugins is None:
        plugins, plugins_from = (known.plugins, "image") if known else (IN_TREE, "default")
    release: str | None
    if convert_to:
        release, release_from = convert_to, "convert_to"
        plugins = plugins or IN_TREE
    elif kubernetes:
        release, release_from = kubernetes, "option"
    elif known:
        release, release_from = known.kubernetes, "image"
    else:
        release, release_from = cluster_release(), "cluster"
    if release is None or plugins is None:
        lacking = " and ".join(name for name, value in (("kubernetes_version", release), ("plugins", plugins)) if value is None)
        return unknown_target(f"{known.reason if known else 'no image is named'}: give {lacking}")
    try:
        found = make_target(release, plugins, flags).kubernetes
    except UnknownTarget as error:
        if strict and release_from != "cluster":
            unquoted = " A number without quotes loses its last zero: write '1.30'." if release in ("1.2", "1.3") else ""
            raise InputError(f"{'' if _is_known(release) else _OPTIONS[release_from]}{error}.{unquoted}") from None
        return unknown_target(str(error))
    return Target(found, release_from, plugins, plugins_from)


def _is_known(release: str) -> bool:
    try:
        parse_release(release)
    except UnknownTarget:
        return False
    return True


def validate(
    text: str | bytes,
    target: Target,
    flags: Sequence[str] = (),
    placeholders: Sequence[str] = (),
    image: str | None = None,
    cluster_version: str | None = None,
    groups: Mapping[str, Collection[str]] | None = None,
) -> ValidationResult:
    """Validate a configuration for a kube-scheduler.

    flags: its command line without ``--config``. placeholders: texts that are filled in before it reads the configuration. image: is compared
    with the target and with ``cluster_version``, where that is known. groups: the API groups that the cluster serves, each with its versions.
    """
    text = normalize(text) if isinstance(text, str) else text
    result = check(text, target.kubernetes, target.plugins or IN_TREE, tuple(flags) if target.kubernetes else (), placeholders)
    more = _about_image(image, target, cluster_version)
    if not any(devices.GROUP in finding.message for finding in more):  # the skew explains it already
        more += devices.unserved(result.effective, target.kubernetes, groups)
    return _validated(text, target, result, more)


def convert(
    text: str | bytes,
    source: str | None,
    target: Target,
    flags: Sequence[str] = (),
    placeholders: Sequence[str] = (),
    image: str | None = None,
    cluster_version: str | None = None,
) -> tuple[ValidationResult, dict[str, Any]]:
    """Convert a configuration that the release ``source`` reads (None: unknown) for a target, and validate what becomes of it.

    Returns the result and what was done: ``source``, ``complete``, ``steps``.
    """
    from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.convert import IMPOSSIBLE
    from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.convert import convert as convert_text

    text = normalize(text) if isinstance(text, str) else text
    more = _about_image(image, target, cluster_version)
    if target.unknown:
        return _validated(text, target, check(text, None), more), {"source": source, "complete": False, "steps": []}
    # It is known
    if target.kubernetes is None:
        raise AssertionError("target.kubernetes")
    try:
        conversion = convert_text(text, source, target.kubernetes, target.plugins, tuple(flags))
    except UnknownTarget as error:
        raise InputError(f"{error}.") from None
    if conversion.steps:
        text = normalize(conversion.text)
    result = check(text, target.kubernetes, target.plugins, tuple(flags), placeholders)
    if any(finding.severity == ERROR for finding in conversion.findings) and not conversion.steps:
        # Rejected by the release that reads it today
        result = Result(conversion.findings, None, conversion.api_version, result.scheduler_names, starts=False, tree=result.tree)
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
    return _validated(text, target, result, [*left, *more]), about


def with_answer(result: ValidationResult, answer: Answer) -> ValidationResult:
    """The result after the image itself has answered: its answer counts."""
    return replace(
        result,
        valid=answer.valid,
        starts=result.starts if answer.valid else False,
        findings=_side_with(answer, result.findings),
        config=tree(answer.config or "") or result.config,
        image_answer=answer,
    )


def with_mounts(result: ValidationResult, paths: Sequence[str]) -> ValidationResult:
    """The result for a pod that mounts volumes at ``paths``: it ends at once without the file that ``clientConnection.kubeconfig`` names."""
    path = unmounted_kubeconfig(result.tree, paths)
    known = next((finding for finding in result.findings if finding.code == KUBECONFIG), None)
    others = tuple(finding for finding in result.findings if finding is not known)
    if not path:
        return replace(result, findings=others)
    error = Finding(
        ERROR,
        KUBECONFIG,
        f"{json.dumps(path)}: no volume of the scheduler's pod contains this file",
        "clientConnection.kubeconfig",
        known.line if known else None,
        known.column if known else None,
        "remove the field: the scheduler then uses its service account; or mount the file",
        RUN,
    )
    return replace(result, starts=False, findings=(error, *others))


def unmounted_kubeconfig(tree: Mapping[str, Any], paths: Sequence[str]) -> str:
    """The path of a kubeconfig that is below none of ``paths``, the mounts of a pod; "" if there is none."""
    connection = tree.get("clientConnection")
    path = connection.get("kubeconfig") if isinstance(connection, dict) else None
    if not isinstance(path, str) or not path:
        return ""
    mounts = [mount.rstrip("/") for mount in paths]
    return "" if any(path == mount or path.startswith(f"{mount}/") for mount in mounts) else path


def _validated(text: str | bytes, target: Target, result: Result, more: Sequence[Finding]) -> ValidationResult:
    valid = None if target.unknown and result.valid else result.valid
    return ValidationResult(
        text=text,
        target=target,
        valid=valid,
        starts=result.starts if valid is not False else False,
        hash=content_hash(text) if isinstance(text, str) else None,
        findings=(*result.findings, *more),
        scheduler_names=tuple(result.scheduler_names),
        api_version=result.api_version,
        tree=result.tree,
        config=result.config,
        effective=result.effective,
    )


def _side_with(answer: Answer, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    rejected = [finding for finding in findings if finding.severity == ERROR and finding.stage != RUN]
    if not answer.valid and not rejected:
        return (Finding(ERROR, "refused-by-image", answer.error), *findings)
    if answer.valid:
        return tuple(
            replace(finding, severity=WARNING, stage=ADVICE, hint="the image accepts it all the same") if finding in rejected else finding
            for finding in findings
        )
    return tuple(findings)


def _about_image(image: str | None, target: Target, cluster_version: str | None) -> list[Finding]:
    if not image:
        return []
    known = identify(image).kubernetes
    # Where the release is the cluster's or that of a conversion, it is not the image's.
    findings = list(check_image(image, known or (target.kubernetes if target.kubernetes_from == "option" else None), cluster_version))
    if known and target.kubernetes_from == "option" and known != target.kubernetes:
        message = f"kubernetes_version is {target.kubernetes}, but the tag of {image} means {known}"
        findings.append(Finding(WARNING, "version-mismatch", message, hint="leave kubernetes_version out", stage=ADVICE))
    return findings
