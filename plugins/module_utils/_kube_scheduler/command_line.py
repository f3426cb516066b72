# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check KubeSchedulerConfigurations on the command line, for editors, pre-commit and pipelines; needs Python and PyYAML, no Ansible.

    kube-scheduler-config config.yaml --kubernetes 1.31
    helm template CHART | kube-scheduler-config -

A file is a configuration, or a stream of Kubernetes objects, whose ConfigMaps, Secrets and SecondarySchedulers are checked.

Findings go to stdout as ``file:line:column: severity: object: field: message (hint)``; with --complete, --convert or --diff, whose output
is on stdout, to stderr. Exit status: 0 nothing wrong (warnings allowed), 1 errors found, 2 wrong usage or unreadable file.

The only file of this package that reads files and writes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from .check import check
from .configuration_text import from_structure
from .embedded_configurations import CONFIG_KEY, Configuration, configurations
from .flags import of_operator
from .formats import FORMATS, TOOL, Checked
from .images import check_image, identify
from .plugins import make_target
from .result import ADVICE, ERROR, WARNING, Finding, Result
from .tables.presets import LOAD_WATCHER_URL, PROM_TOKEN, PROM_URL
from .target import IN_TREE, SCHEDULER_PLUGINS, UnknownTarget, is_later_openshift
from .version_independent import API_GROUP

OK, WRONG, UNUSABLE = 0, 1, 2


class Unusable(Exception):
    """The command line or a file cannot be used; the text contains the reason."""


class Validated(NamedTuple):
    """What is reported of one configuration. output: what goes to stdout besides the findings."""

    checked: Checked
    report: dict[str, Any]
    output: str = ""
    notes: tuple[str, ...] = ()


class Reader(NamedTuple):
    """The kube-scheduler that reads a configuration. kubernetes: None if it is unknown. plugins, flags: as for ``check``."""

    kubernetes: str | None
    plugins: Any
    image: str
    flags: tuple[str, ...]
    placeholders: tuple[str, ...] = ()

    def check(self, text: str | bytes, kubernetes: str | None = None) -> Result:
        release = kubernetes or self.kubernetes
        return check(text, release, self.plugins, self.flags if release else (), self.placeholders)


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_intermixed_args(arguments)
    try:
        _check_usage(options)
        validated = [one for name in options.files for one in _validate(name, options)]
    except (Unusable, UnknownTarget, ImportError) as error:
        sys.stderr.write(f"error: {error}\n")
        return UNUSABLE
    checked = [one.checked for one in validated]
    if options.format == "json":
        sys.stdout.write(json.dumps([one.report for one in validated], indent=2, default=str) + "\n")
    else:
        findings_to = sys.stderr if _has_output(options) else sys.stdout
        findings_to.writelines(f"{note}\n" for one in validated for note in one.notes)
        findings_to.write(FORMATS[options.format](checked))
        sys.stdout.writelines(one.output for one in validated)
    return WRONG if any(finding.severity == ERROR for one in checked for finding in one.findings) else OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=TOOL,
        description="Validates KubeSchedulerConfigurations as kube-scheduler does, with line, column, field and remedy.",
        epilog="Exit status: 0 nothing wrong (warnings allowed), 1 errors found, 2 wrong usage or unreadable file.",
    )
    add = parser.add_argument
    add(
        "files",
        nargs="+",
        metavar="FILE",
        help="YAML or JSON: a configuration, or objects such as rendered manifests, of which ConfigMaps, Secrets and SecondarySchedulers are "
        "checked; - is stdin",
    )
    add(
        "--kubernetes",
        metavar="RELEASE",
        help="1.31 or openshift-4.18; without it and --image the image of a SecondaryScheduler in FILE decides, else only what holds for every "
        "release is checked",
    )
    add("--image", help="the scheduler's image, whose name and tag identify release and plugins")
    add(
        "--plugins",
        metavar="SET",
        help=f"{IN_TREE} (default), {SCHEDULER_PLUGINS}, or the path of a YAML file that describes a custom image",
    )
    add("--flag", action="append", default=[], metavar="FLAG", help="one flag of its command line: --flag=--leader-elect=false")
    add("--format", choices=("text", "json", *(name for name in FORMATS if name != "text")), default="text")
    add("--complete", action="store_true", help="print the configuration with all defaults, as --write-config-to does")
    add(
        "--convert",
        metavar="RELEASE",
        help="print the file as this release reads it; read as --kubernetes does, or as the last release of its apiVersion",
    )
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
    if chosen and options.format not in ("text", "json"):
        raise Unusable("--{} has the formats text and json".format(chosen[0].replace("_", "-")))
    if [*options.files, options.diff].count("-") > 1:
        raise Unusable("stdin can be read only once")
    options.described, options.notes = _plugins(options.plugins), []
    if options.kubernetes and is_later_openshift(options.kubernetes):
        _note(f"{options.kubernetes} is newer than this program and is ignored", options)
        options.kubernetes = None
    image = identify(options.image) if options.image else None
    if image and image.reason and not (options.kubernetes and options.plugins):
        _note(f"{image.reason}: give --kubernetes and --plugins; else only release-independent checks are made", options)
        options.kubernetes = None
    elif image:
        options.kubernetes = options.kubernetes or image.kubernetes
        options.described = options.described or image.plugins
    for release in (options.kubernetes, options.convert, options.diff_release):
        if release:
            make_target(release, options.described or IN_TREE, options.flag)
    if not options.kubernetes and (options.complete or options.diff or options.diff_release):
        raise Unusable(f"--{chosen[0].replace('_', '-')} needs --kubernetes, or an --image with a known tag")


def _plugins(given: str | None) -> Any:
    """The description of the plugins, for ``check``; None if none is given."""
    if given in (None, IN_TREE, SCHEDULER_PLUGINS):
        return given
    from .document import NotYaml, read_yaml

    try:
        described = read_yaml(_read(given))
    except NotYaml as error:
        raise Unusable(f"--plugins: {error.finding.format(given)}") from None
    if not isinstance(described, dict):
        raise Unusable(f"--plugins: {given} must hold a mapping with base and extra")
    return described


def _validate(name: str, options: argparse.Namespace) -> list[Validated]:
    found = configurations(_read(name))
    if not any(one.text is not None for one in found):
        _note(f"{name}: no ConfigMap or Secret has a KubeSchedulerConfiguration", options)
    if _has_output(options):
        found = [_only(found, name)]
    return _with_shared_names(found, [_validate_one(name, one, options) for one in found])


def _with_shared_names(found: list[Configuration], validated: list[Validated]) -> list[Validated]:
    """The same, with a warning for each schedulerName that several SecondarySchedulers of the file use."""
    users: dict[str, dict[str, None]] = {}
    for one, about in zip(found, validated):
        if one.scheduler and one.key == CONFIG_KEY:
            for name in about.report["scheduler_names"]:
                users.setdefault(name, {}).update(dict.fromkeys((*one.scheduler.others, one.scheduler.object)))
    shared = {name: " and ".join(objects) for name, objects in users.items() if len(objects) > 1}
    return [_warned(one, about, shared) if one.scheduler and one.key == CONFIG_KEY else about for one, about in zip(found, validated)]


def _warned(found: Configuration, validated: Validated, shared: Mapping[str, str]) -> Validated:
    """The same, with a warning for each of its schedulerNames among ``shared``, which has the users of each."""
    hint = "give each its own schedulerName, because schedulers of one name place the same pods and do not see each other's decisions"
    added = [
        found.located(
            Finding(WARNING, "shared-name", f"schedulerName {name} is used by {shared[name]}", path="profiles", hint=hint, stage=ADVICE)
        )
        for name in validated.report["scheduler_names"]
        if name in shared
    ]
    checked = validated.checked._replace(findings=(*validated.checked.findings, *added))
    return validated._replace(checked=checked, report={**validated.report, "findings": [finding.as_dict() for finding in checked.findings]})


def _only(found: list[Configuration], name: str) -> Configuration:
    """The one configuration of a file of which something is printed."""
    having_text = [one for one in found if one.text is not None]
    if len(having_text) != 1:
        labels = "; ".join(one.label for one in having_text) or "none"
        raise Unusable(f"{name}: one configuration is needed, found are {len(having_text)}: {labels}")
    return having_text[0]


def _validate_one(name: str, found: Configuration, options: argparse.Namespace) -> Validated:
    if found.text is None:
        return _validated(name, found, Result(found.findings), located=True)
    reader = _reader(name, found, options)
    if options.convert:
        return _convert(name, found, reader, options)
    result = reader.check(found.text)
    if reader.image:
        result = replace(result, findings=(*result.findings, *check_image(reader.image, reader.kubernetes)))
    validated = _validated(name, found, result)
    report = validated.report
    if options.complete:
        report["completed"] = result.config
        return validated._replace(output=from_structure(result.config) if result.config and result.valid else "")
    if options.diff or options.diff_release:
        from .configuration_diff import diff

        if options.diff:
            differences = diff(reader.check(_only(configurations(_read(options.diff)), options.diff).text or ""), result)
        else:
            differences = diff(result, reader.check(found.text, options.diff_release))
        report["differences"] = [difference._asdict() for difference in differences]
        return validated._replace(output="".join(f"{difference.format()}\n" for difference in differences))
    return validated


def _reader(name: str, found: Configuration, options: argparse.Namespace) -> Reader:
    """Who reads a configuration: what the command line says, else the SecondaryScheduler in the same file."""
    flags = tuple(options.flag)
    reader = Reader(options.kubernetes, options.described or IN_TREE, options.image or "", flags)
    scheduler = found.scheduler
    if scheduler is None:
        if not reader.kubernetes and not options.convert:
            _note("without --kubernetes or --image only release-independent checks are made", options)
        return reader
    # What the operator fills in, and its flags. Namespace and name of the Lease do not matter, as long as they are not the default scheduler's.
    flags = (*of_operator("secondary-scheduler", "default"), *flags)
    reader = reader._replace(flags=flags, placeholders=(PROM_URL, PROM_TOKEN, LOAD_WATCHER_URL))
    if options.kubernetes or options.image:
        return reader
    image = identify(scheduler.image)
    kubernetes, plugins = scheduler.kubernetes or image.kubernetes, options.described or scheduler.plugins or image.plugins
    if kubernetes is None or plugins is None:
        _note(
            f"{name}: {scheduler.object}: {image.reason}: give --kubernetes and --plugins; else only release-independent checks are made",
            options,
        )
        return reader
    try:
        make_target(kubernetes, plugins, flags)
    except UnknownTarget as error:
        raise Unusable(f"{name}: {scheduler.object}: {error}") from None
    return reader._replace(kubernetes=kubernetes, plugins=plugins, image=scheduler.image)


def _note(text: str, options: argparse.Namespace) -> None:
    """Once for all files."""
    if text not in options.notes:
        options.notes.append(text)
        sys.stderr.write(f"note: {text}\n")


def _convert(name: str, found: Configuration, reader: Reader, options: argparse.Namespace) -> Validated:
    from .convert import convert

    text = found.text or ""
    source = reader.kubernetes if reader.kubernetes and _reads(reader, text) else None
    conversion = convert(text, source, options.convert, reader.plugins, reader.flags)
    result = check(conversion.text, options.convert, reader.plugins, reader.flags)
    validated = _validated(name, found, replace(result, findings=conversion.findings))
    validated.report["conversion"] = {
        "source": conversion.source,
        "complete": conversion.complete,
        "steps": [step._asdict() for step in conversion.steps],
        "text": conversion.text,
    }
    notes = tuple(": ".join(part for part in (name, step.kind, step.path, step.message) if part) for step in conversion.steps)
    return validated._replace(output=conversion.text, notes=notes)


def _reads(reader: Reader, text: str | bytes) -> bool:
    """Whether a release reads the version in which a document is written; if not, the document is older or newer than the image."""
    group, _slash, version = check(text, None).api_version.rpartition("/")
    return group != API_GROUP or not reader.kubernetes or make_target(reader.kubernetes).serves(version)


def _validated(name: str, found: Configuration, result: Result, located: bool = False) -> Validated:
    """located: whether the findings have their places in the file already."""
    findings = result.findings if located else tuple(found.located(finding) for finding in result.findings)
    report = {
        "file": name,
        "object": found.object,
        "key": found.key,
        "valid": result.valid,
        "starts": result.starts,
        "api_version": result.api_version,
        "scheduler_names": list(result.scheduler_names),
        "findings": [finding.as_dict() for finding in findings],
        "effective": result.effective,
    }
    return Validated(Checked(name, found.label, findings), report)


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
