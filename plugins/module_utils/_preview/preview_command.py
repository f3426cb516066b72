# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Previews on the command line, for pipelines; needs Python, PyYAML and a kube-scheduler, no Ansible and no cluster.

    python -m ansible_collections.osso.scheduler.plugins.module_utils.scheduler_preview \\
        --snapshot cluster.json.gz --config new.yaml --binary ./kube-scheduler --mode replace --max-moved-percent 5

Exit status: 0 within the limits, 1 beyond them, 2 wrong usage, unreadable file, or a scheduler that cannot be run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.errors import ClusterError, InputError
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler import document
from ansible_collections.osso.scheduler.plugins.module_utils._preview.option_names import COMMAND_LINE, renamed
from ansible_collections.osso.scheduler.plugins.module_utils._preview.preview import Options, preview
from ansible_collections.osso.scheduler.plugins.module_utils._preview.progress import Progress
from ansible_collections.osso.scheduler.plugins.module_utils._preview.simulation import MODES, PENDING
from ansible_collections.osso.scheduler.plugins.module_utils._preview.snapshot import read
from ansible_collections.osso.scheduler.plugins.module_utils._preview.table import printable, table

OK, BEYOND, UNUSABLE = 0, 1, 2


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    given = parser.parse_args(arguments)
    for option in ("binary", "flag"):
        if getattr(given, f"baseline_{option}") and not given.baseline_config:
            parser.error(f"--baseline-{option}: set --baseline-config, too")
    try:
        result = preview(_options(given), read(given.snapshot), _run_command, Progress(_show))
    except ClusterError as error:
        _show(f"error: {renamed(error.message, COMMAND_LINE)}")
        return UNUSABLE
    sys.stdout.write(json.dumps(result, indent=2) + "\n" if given.format == "json" else "\n".join(table(result)) + "\n")
    for sentence in result["exceeded"]:
        _show(sentence)
    return BEYOND if result["exceeded"] else OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="preview",
        description="Shows what a KubeSchedulerConfiguration would do with the pods of a snapshot.",
        epilog="Exit status: 0 within the limits, 1 beyond them, 2 wrong usage or a scheduler that cannot be run.",
    )
    add = parser.add_argument
    add("--snapshot", required=True, metavar="FILE", help="of the module scheduler_snapshot, or of kubectl get -o json")
    add("--mode", choices=MODES, default=PENDING)
    add("--template", metavar="FILE", help="with the mode headroom: the pod, or a workload with a template for pods")
    add("--limit", type=int, default=1000, metavar="PODS", help="with the mode headroom: the largest number of pods")
    for side, word in (("", "the candidate"), ("baseline-", "the baseline")):
        add(f"--{side}config", required=not side, metavar="FILE", help=f"the configuration of {word}")
        add(f"--{side}binary", required=not side, metavar="FILE", help=f"the kube-scheduler of {word}")
        add(f"--{side}flag", action="append", default=[], metavar="FLAG", help=f"one flag of {word}")
    add("--release", help="the release of the kube-schedulers, such as 1.34, if their --version does not show it")
    add("--plugins", choices=("in-tree", "scheduler-plugins"), help="their plugins")
    add("--as-scheduler", metavar="NAME", help="the profile of the candidate that places the pods")
    add("--allow-extenders", action="store_true", help="whether the schedulers may call the extenders of their configurations")
    add("--namespace", action="append", default=[], metavar="NAME")
    add("--node", action="append", default=[], metavar="NAME")
    add("--max-unschedulable", type=int, metavar="PODS")
    add("--max-moved-percent", type=float, metavar="PERCENT")
    add("--timeout", type=int, default=600, metavar="SECONDS")
    add("--format", choices=("text", "json"), default="text")
    return parser


def _options(given: argparse.Namespace) -> Options:
    about = {"release": given.release, "plugins": given.plugins, "allow_extenders": given.allow_extenders}
    new = {"config_file": given.config, "binary": given.binary, "flags": given.flag, "as_scheduler": given.as_scheduler}
    old = {
        "config_file": given.baseline_config,
        "binary": given.baseline_binary or given.binary,
        "flags": given.baseline_flag,
    }
    return Options(
        candidate={**about, **new},
        baseline={**about, **old} if given.baseline_config else None,
        mode=given.mode,
        template=_template(given.template) if given.template else None,
        limit=given.limit,
        namespaces=given.namespace,
        nodes=given.node,
        max_unschedulable=given.max_unschedulable,
        max_moved_percent=given.max_moved_percent,
        timeout=given.timeout,
    )


def _template(path: str) -> dict[str, Any]:
    """The pod in a file, or the template of the workload in it."""
    try:
        with open(path, "rb") as file:
            found = document.read_yaml(file.read())
    except OSError as error:
        raise InputError(f"template: {path} cannot be read: {error.strerror}.") from None
    except document.NotYaml as error:
        raise InputError(f"template: {path} is no YAML: {error}.") from None
    spec = found.get("spec") if isinstance(found, dict) else None
    template = spec.get("template") if isinstance(spec, dict) else None
    if not isinstance(template, dict) or not template:
        pod: dict[str, Any] = found
        return pod
    # The pods of a workload are in its namespace.
    own, metadata = found.get("metadata"), template.get("metadata") or {}
    namespace = own.get("namespace") if isinstance(own, dict) else None
    return {**template, "metadata": {"namespace": namespace, **metadata}} if namespace and isinstance(metadata, dict) else template


def _run_command(command: list[str]) -> tuple[int, str, str]:
    # Without a module
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # pylint: disable=ansible-bad-function
    return done.returncode, done.stdout, done.stderr


def _show(sentence: str) -> None:
    sys.stderr.write(f"{printable(sentence)}\n")
