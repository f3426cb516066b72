# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which kube-scheduler a document is for: its release, the plugins compiled into it, the flags it is started with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .tables.releases import API_VERSIONS, NEWEST, OLDEST, OPENSHIFT, OpenShift
from .value_syntax import Duration, quote

VERSION_ANNOTATION, PLUGINS_ANNOTATION = "osso.scheduler/kubernetes-version", "osso.scheduler/plugins"
"""Of a SecondaryScheduler: what its image contains, where the name does not identify it."""
PERIOD_ANNOTATION = "ansible.sdk.operatorframework.io/reconcile-period"
VERBOSITY_ANNOTATION = "ansible.sdk.operatorframework.io/verbosity"
ARTIFACTS_ANNOTATION = "ansible.sdk.operatorframework.io/max-runner-artifacts"
RUNNER_ANNOTATIONS = (PERIOD_ANNOTATION, VERBOSITY_ANNOTATION, ARTIFACTS_ANNOTATION)
"""Of any resource: ansible-operator itself reads them, and checks only the syntax of the values."""

IN_TREE = "in-tree"
SCHEDULER_PLUGINS = "scheduler-plugins"

_KUBERNETES = re.compile(r"v?1\.([0-9]{1,4})(?:\.[0-9]+)?(?:[-+].*)?\Z")
_OPENSHIFT = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]+)?(?:[-+].*)?\Z")
_PREFIX = "openshift-"
_SHOWN = 60
_VERBOSITY = re.compile(r"[0-7]")
_ARTIFACTS = re.compile(r"[3-9]|[1-9][0-9]|100")


class UnknownTarget(ValueError):
    """No table describes the requested kube-scheduler; the message names the valid values."""


class NotInTables(UnknownTarget):
    """... although the request is well-formed: a release that the tables lack may fit."""


@dataclass(frozen=True)
class CustomPlugin:
    """A plugin that only a custom image holds.

    points: its extension points, named as in the configuration (``preFilter``).
    args: None when nothing is known of its arguments ("opaque"), else field name -> type as in tables/types.py, for
    example ``{"address": "string", "limits": "[]int32"}``.
    """

    name: str
    points: tuple[str, ...]
    args: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Target:
    """The kube-scheduler whose verdict is asked for.

    minor: 31 for Kubernetes 1.31. plugins: IN_TREE or SCHEDULER_PLUGINS; custom: what the image holds besides.
    flags: its command line, for example ``("--leader-elect=false", "--feature-gates=StorageCapacityScoring=true")``.
    """

    minor: int
    plugins: str = IN_TREE
    custom: tuple[CustomPlugin, ...] = field(default=())
    flags: tuple[str, ...] = field(default=())

    @property
    def kubernetes(self) -> str:
        return f"1.{self.minor}"

    def serves(self, version: str) -> bool:
        """Whether this release reads documents of a version such as ``v1beta3``."""
        first, last = API_VERSIONS.get(version, (NEWEST + 1, None))
        return first <= self.minor and (last is None or self.minor <= last)

    @property
    def served(self) -> tuple[str, ...]:
        return tuple(version for version in API_VERSIONS if self.serves(version))


class RunnerProblem(NamedTuple):
    """What is wrong with one of `RUNNER_ANNOTATIONS`, and what follows from it. stops: whether the resource is no longer reconciled."""

    name: str
    problem: str
    remedy: str
    stops: bool


def runner_problems(annotations: Mapping[str, str]) -> Iterator[RunnerProblem]:
    """Those of `RUNNER_ANNOTATIONS` with a value that harms.

    The policy in roles/operator/templates/operator_admission.yaml.j2 has the same rules.
    """
    period = _period_problem(annotations.get(PERIOD_ANNOTATION, "0"))
    if period:
        yield RunnerProblem(PERIOD_ANNOTATION, period, "remove it, or set a duration such as 10m", True)
    verbosity = annotations.get(VERBOSITY_ANNOTATION, "0")
    if not _VERBOSITY.fullmatch(verbosity):
        problem = f"{quote(verbosity[:_SHOWN])} is no number from 0 to 7; with a large number the operator ends at each reconcile"
        yield RunnerProblem(VERBOSITY_ANNOTATION, problem, "remove it, or set a number such as 3", False)
    artifacts = annotations.get(ARTIFACTS_ANNOTATION, "5")
    if not _ARTIFACTS.fullmatch(artifacts):
        what = "with 1 or 2 each reconcile fails, and with less the files of all runs fill the operator's volume"
        problem = f"{quote(artifacts[:_SHOWN])} is no number from 3 to 100; {what}"
        yield RunnerProblem(ARTIFACTS_ANNOTATION, problem, "remove it, or set a number such as 5", artifacts in ("1", "2"))


def _period_problem(text: str) -> str:
    """0 and less switch the period off."""
    shown = quote(text[:_SHOWN])
    try:
        period = Duration.parse(text)
    except ValueError:
        return f"{shown} is no duration up to 2562047h, so the operator does not reconcile the resource"
    return f"{shown} is less than 1s, so the operator reconciles the resource without a pause" if 0 < period < 10**9 else ""


def parse_release(text: str) -> int:
    """The minor (31) of ``1.31``, ``v1.31.4`` or ``openshift-4.18``. Raises UnknownTarget."""
    match = _KUBERNETES.match(text)
    if match:
        minor = int(match.group(1))
    elif text.startswith(_PREFIX) and (release := parse_openshift(text)):
        minor = OPENSHIFT.get(release, 0)
    else:
        raise UnknownTarget(f"{text} is no release: write for example 1.31 or openshift-4.18")
    if not OLDEST <= minor <= NEWEST:
        later = minor > NEWEST or is_later_openshift(text)
        raise NotInTables(
            f"{text} is not known here: Kubernetes 1.{OLDEST} to 1.{NEWEST} are, as are {_PREFIX}{min(OPENSHIFT)} to {_PREFIX}{max(OPENSHIFT)}"
            + (f"; upgrade osso.scheduler, or use 1.{NEWEST}, the newest release that this one knows" if later else "")
        )
    return minor


def parse_openshift(text: str) -> OpenShift | None:
    """The release of OpenShift in ``4.18``, ``4.18.3`` or ``openshift-4.18``, known here or not; None where the text is none."""
    match = _OPENSHIFT.match(text[len(_PREFIX) :] if text.startswith(_PREFIX) else text)
    return OpenShift(*map(int, match.groups())) if match else None


def is_later_openshift(text: str) -> bool:
    """Whether the text is a release of OpenShift that came after these tables."""
    return text.startswith(_PREFIX) and is_later(parse_openshift(text))


def is_later(release: OpenShift | None) -> bool:
    """Whether these tables lack a release of OpenShift that came after the first one in them."""
    return release is not None and release not in OPENSHIFT and release > min(OPENSHIFT)
