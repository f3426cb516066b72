# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The verdict of kube-scheduler about a KubeSchedulerConfiguration.

The package is pure Python: no Ansible, no Kubernetes client, no I/O; PyYAML is the only import outside the standard library.

    result = check(text, "1.31", plugins="scheduler-plugins")
    result.valid, result.findings, result.scheduler_names

The stages are those of the binary (cmd/kube-scheduler/app, in the order of its ``Setup``), a module each: ``document`` reads
the YAML or JSON, ``decode`` finds the type of every field, ``defaults`` fills in what is absent, ``flags`` overrides,
``validation`` checks the values, ``framework`` builds the profiles from plugins, ``startup`` contains the checks at the start of the process, and
``encode`` writes the completed configuration. ``lint`` warns about accepted settings that are likely mistakes. ``tables`` contains the differences
between releases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .document import Node, NotYaml, parse, unprintable
from .plugins import make_target
from .report import BUILD, MAX_ERRORS, Report, TooManyErrors
from .result import Finding, Result
from .target import IN_TREE, Target
from .version_independent import outline


def check(
    text: str | bytes,
    kubernetes: str | None,
    plugins: str | Mapping[str, Any] = IN_TREE,
    flags: Sequence[str] = (),
    placeholders: Sequence[str] = (),
) -> Result:
    """Read one configuration as a kube-scheduler would; return the result and its findings.

    text: the content of the file that kube-scheduler gets by ``--config``, YAML or JSON (bytes: see ``document.parse``).
    kubernetes: the release of the kube-scheduler, ``1.31``, ``v1.31.4`` or ``openshift-4.18``. None if unknown: then only checks that apply to every
    release are made, and ``starts`` is None.
    plugins: what is compiled into it: ``in-tree``, ``scheduler-plugins`` (kubernetes-sigs, the release for that minor) or the
    description of a custom image (see ``plugins.make_target``).
    flags: its command line, ``--leader-elect=true`` and so on; they override the file and select feature gates.
    placeholders: texts such as ``${PROM_URL}`` that are replaced before a kube-scheduler reads them. Others cause a warning.

    Raises nothing for any content of ``text``; UnknownTarget for a release or plugins that no table describes.
    """
    target = make_target(kubernetes, plugins, flags) if kubernetes is not None else None
    try:
        root, findings = parse(text, target.minor if target is not None else None)
    except NotYaml as error:
        return Result((error.finding,), starts=None if target is None else False)
    if target is None or root is None or root.entries is None:
        names, found = outline(root)
        config = root.value if root is not None and root.entries is not None else None
        return Result(
            _sorted([*findings, *found]),
            config,
            _written_version(root),
            tuple(names),
            starts=None if target is None else False,
            tree=config or {},
        )
    report = Report(root, MAX_ERRORS)
    report.findings += findings
    try:
        result = _check(root, target, report, placeholders)
    except TooManyErrors:
        result = Result(_sorted(report.findings), None, _written_version(root), starts=False)
    return replace(result, tree=root.value)


def _check(root: Node, target: Target, report: Report, placeholders: Sequence[str]) -> Result:
    """The stages after reading, for a mapping."""
    from . import decode, defaults, encode, framework, lint, startup, validation
    from . import flags as command_line

    version = decode.api_version(root, target, report)
    if version is None:
        return Result(_sorted(report.findings), None, _written_version(root), starts=False)
    config = decode.decode(root, version, target, report)
    defaults.apply(config, version, target)
    command_line.apply(config, version, target, report)
    validation.validate(config, version, target, report)
    built = framework.build(config, version, target, report)
    completed = None if report.has_error() else encode.completed(config, version, target, built)
    if completed is not None and unprintable(root.value) is not None:
        completed = _check_writable(completed, report)
    valid = completed is not None
    startup.check(config, version, target, report)
    lint.advise(config, root, version, target, built, report, placeholders)
    return Result(
        _sorted(report.findings),
        completed,
        _written_version(root),
        tuple(dict.fromkeys(name for name in (profile.get("schedulerName") for profile in config["profiles"]) if name)),
        built.effective if valid else {},
        starts=not report.has_error(),
    )


def _check_writable(completed: dict[str, Any], report: Report) -> dict[str, Any] | None:
    """kube-scheduler ends when it can't log the configuration with --v=2, or write it with --write-config-to."""
    path = unprintable(completed)
    if path is None:
        return completed
    message = "holds a control character, which makes kube-scheduler exit when it logs the configuration (--v=2) or writes it"
    report.error(BUILD, "control-character", path, message, "delete it; it is invisible in most editors")
    return None


def _sorted(findings: list[Finding]) -> tuple[Finding, ...]:
    """In the order of the text."""
    return tuple(sorted(findings, key=lambda finding: (finding.line or 0, finding.column or 0)))


def _written_version(root: Node | None) -> str:
    value = root.value.get("apiVersion") if root is not None and isinstance(root.value, dict) else None
    return value if isinstance(value, str) else ""
