# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check KubeSchedulerConfigurations on the command line, for editors and pre-commit; needs Python and PyYAML, no Ansible.

    python -m ansible_collections.osso.scheduler.plugins.module_utils.kube_scheduler.command_line config.yaml --kubernetes 1.31

Findings go to stdout as ``file:line:column: severity: field: message (hint)``; with --complete, --convert or --diff, whose output
is on stdout, to stderr. Exit status: 0 nothing wrong (warnings allowed), 1 errors found, 2 wrong usage or unreadable file.

The only file of this package that reads files and writes.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import Any, NamedTuple, TextIO

from .check import check
from .images import check_image, identify
from .plugins import make_target
from .result import Finding, Result
from .target import IN_TREE, SCHEDULER_PLUGINS, UnknownTarget
from .text import from_structure

OK, WRONG, UNUSABLE = 0, 1, 2


class Unusable(Exception):
    """The command line or a file cannot be used; the text says why."""


class Judged(NamedTuple):
    """What is said of one file. output: what goes to stdout besides the findings."""

    name: str
    result: Result
    report: dict[str, Any]
    output: str = ""
    notes: tuple[str, ...] = ()


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_intermixed_args(arguments)
    try:
        _check_usage(options)
        judged = [_judge(name, options) for name in options.files]
    except (Unusable, UnknownTarget, ImportError) as error:
        sys.stderr.write(f"error: {error}\n")
        return UNUSABLE
    if options.format == "json":
        sys.stdout.write(json.dumps([one.report for one in judged], indent=2, default=str) + "\n")
    else:
        _write_text(judged, findings_to=sys.stderr if _has_output(options) else sys.stdout)
    return WRONG if any(one.result.errors for one in judged) else OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kube_scheduler",
        description="Says what kube-scheduler says to a KubeSchedulerConfiguration, with line, column, field and remedy.",
        epilog="Exit status: 0 nothing wrong (warnings allowed), 1 errors found, 2 wrong usage or unreadable file.",
    )
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="YAML or JSON; - is stdin")
    add(
        "--kubernetes",
        metavar="RELEASE",
        help="1.31 or openshift-4.18; without it and --image only what holds for every release is checked",
    )
    add("--image", help="the scheduler's image, whose name and tag tell release and plugins")
    add(
        "--plugins",
        metavar="SET",
        help=f"{IN_TREE} (default), {SCHEDULER_PLUGINS}, or the path of a YAML file that describes a custom image",
    )
    add("--flag", action="append", default=[], metavar="FLAG", help="one flag of its command line: --flag=--leader-elect=false")
    add("--format", choices=("text", "json"), default="text")
    add("--complete", action="store_true", help="print the configuration with all defaults, as --write-config-to does")
    add("--convert", metavar="RELEASE", help="print the file as this release reads it; --kubernetes says which one reads it today")
    add("--diff", metavar="OTHER", help="print what differs from this file (before) to FILE (after), all defaults filled in")
    add("--diff-release", metavar="RELEASE", help="print what changes for FILE when its scheduler becomes this release")
    return parser


def _has_output(options: argparse.Namespace) -> bool:
    return bool(options.complete or options.convert or options.diff or options.diff_release)


def _check_usage(options: argparse.Namespace) -> None:
    chosen = [name for name in ("complete", "convert", "diff", "diff_release") if getattr(options, name)]
    if len(chosen) > 1:
        raise Unusable("choose one of {}".format(" and ".join("--" + name.replace("_", "-") for name in chosen)))
    if chosen and len(options.files) > 1:
        raise Unusable("--{} takes one FILE".format(chosen[0].replace("_", "-")))
    if [*options.files, options.diff].count("-") > 1:
        raise Unusable("stdin can be read only once")
    options.described = _plugins(options.plugins)
    image = identify(options.image) if options.image else None
    if image and image.reason and not (options.kubernetes and options.plugins):
        sys.stderr.write(f"note: {image.reason}: give --kubernetes and --plugins; else only what holds for every release is checked\n")
        options.kubernetes = None
    elif image:
        options.kubernetes = options.kubernetes or image.kubernetes
        options.described = options.described or image.plugins
    elif not options.kubernetes and not options.convert:
        sys.stderr.write("note: without --kubernetes or --image only what holds for every release is checked\n")
    options.described = options.described or IN_TREE
    for release in (options.kubernetes, options.convert, options.diff_release):
        if release:
            make_target(release, options.described, options.flag)
    if not options.kubernetes and (options.complete or options.diff or options.diff_release):
        raise Unusable(f"--{chosen[0].replace('_', '-')} needs --kubernetes, or an --image that tells it")


def _plugins(given: str | None) -> Any:
    """The description of the plugins, for ``check``; None if none is given."""
    if given in (None, IN_TREE, SCHEDULER_PLUGINS):
        return given
    from .document import NotYaml, read

    try:
        described = read(_read(given))
    except NotYaml as error:
        raise Unusable(f"--plugins: {error.finding.format(given)}") from None
    if not isinstance(described, dict):
        raise Unusable(f"--plugins: {given} must hold a mapping with base and extra")
    return described


def _judge(name: str, options: argparse.Namespace) -> Judged:
    text = _read(name)
    if options.convert:
        return _convert(name, text, options)
    result = _check(text, options)
    if options.image:
        result = replace(result, findings=(*result.findings, *check_image(options.image, options.kubernetes)))
    report = _report(name, result)
    if options.complete:
        report["completed"] = result.config
        return Judged(name, result, report, from_structure(result.config) if result.config and result.valid else "")
    if options.diff or options.diff_release:
        from .differences import diff

        if options.diff:
            differences = diff(_check(_read(options.diff), options), result)
        else:
            result_after = check(text, options.diff_release, options.described, options.flag)
            differences = diff(result, result_after)
        report["differences"] = [difference._asdict() for difference in differences]
        return Judged(name, result, report, "".join(f"{difference.format()}\n" for difference in differences))
    return Judged(name, result, report)


def _check(text: bytes, options: argparse.Namespace) -> Result:
    return check(text, options.kubernetes, options.described, options.flag if options.kubernetes else ())


def _convert(name: str, text: bytes, options: argparse.Namespace) -> Judged:
    from .convert import convert

    conversion = convert(text, options.kubernetes, options.convert, options.described, tuple(options.flag))
    result = check(conversion.text, options.convert, options.described, options.flag)
    result = replace(result, findings=conversion.findings)
    report = _report(name, result)
    report["conversion"] = {
        "source": conversion.source,
        "complete": conversion.complete,
        "steps": [step._asdict() for step in conversion.steps],
        "text": conversion.text,
    }
    notes = tuple(": ".join(part for part in (name, step.kind, step.path, step.message) if part) for step in conversion.steps)
    return Judged(name, result, report, conversion.text, notes)


def _report(name: str, result: Result) -> dict[str, Any]:
    return {
        "file": name,
        "valid": result.valid,
        "starts": result.starts,
        "api_version": result.api_version,
        "scheduler_names": list(result.scheduler_names),
        "findings": [finding.as_dict() for finding in result.findings],
        "effective": result.effective,
    }


def _write_text(judged: list[Judged], findings_to: TextIO) -> None:
    for one in judged:
        for note in one.notes:
            findings_to.write(f"{note}\n")
        for finding in one.result.findings:
            findings_to.write(_line(one.name, finding) + "\n")
        sys.stdout.write(one.output)


def _line(name: str, finding: Finding) -> str:
    """``file:line:column: severity: field: message (hint)``, the form that editors know from compilers."""
    place = f"{name}:{finding.line or 1}:{finding.column or 1}"
    return f"{place}: {finding.severity}: {finding.format(position=False)}".replace("\n", " ")


def _read(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        with open(name, "rb") as file:
            return file.read()
    except OSError as error:
        raise Unusable(f"{name}: {error.strerror}") from None


def run() -> None:
    """The entry point that pre-commit installs."""
    raise SystemExit(main())


if __name__ == "__main__":
    run()
