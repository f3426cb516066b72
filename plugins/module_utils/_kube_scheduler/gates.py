# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which feature gates are on (staging/src/k8s.io/component-base/featuregate/feature_gate.go)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from .strconv import parse_bool
from .tables.gates import DEPENDENCIES, EMULATED, GATES, PREFIX_SINCE

_GROUPS = {"AllAlpha": "alpha", "AllBeta": "beta"}
"""Gates that stand for all gates of a stage, except those that are set themselves."""

_PREALPHA = "prealpha"


def parse(values: Sequence[str], minor: int) -> tuple[dict[str, bool], list[str]]:
    """The gates that values of ``--feature-gates`` such as ``A=true,B=false`` set, and what is wrong with them.

    Since 1.31 the name of a component can stand before a gate, ``kube:A=true``; kube-scheduler knows no other one.
    """
    chosen: dict[str, bool] = {}
    problems = []
    prefixed = set()
    for pair in (pair for value in values for pair in value.split(",") if pair):
        if minor >= PREFIX_SINCE:
            prefix, colon, name = (part.strip() for part in pair.partition(":"))
            prefixed.add(bool(colon))
            if colon and prefix != "kube":
                problems.append(f"component not registered: {prefix}")
                continue
            pair = name if colon else pair
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals:
            problems.append(f"missing bool value for {name}")
            continue
        try:
            chosen[name] = parse_bool(value)
        except ValueError as error:
            problems.append(f"invalid value of {name}={value}, err: {error}")
    if len(prefixed) > 1:
        problems.append("set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use")
    return chosen, problems


def emulated_minor(minor: int, values: Sequence[str]) -> tuple[int, list[str]]:
    """The minor as which ``--emulated-version`` (``1.33``, ``kube=1.33``) lets feature gates act, and what is wrong with it."""
    versions = [version for value in values for version in value.split(",") if version]
    if not versions:
        return minor, []
    if len(versions) > 1:
        return minor, ["duplicate version flag"]
    component, equals, version = versions[0].rpartition("=")
    if equals and component.strip() != "kube":
        return minor, [f"component not registered: {component.strip()}"]
    match = re.fullmatch(r"v?1\.([0-9]{1,19})(?:\.0+)?", version.strip())
    if not match:
        return minor, [f'illegal version string "{version}"']
    emulated = int(match.group(1))
    floor = minor - max(back for since, back in EMULATED.items() if since <= minor)
    if not floor <= emulated <= minor:
        return minor, [f"emulation version 1.{emulated} is not between [1.{floor}, 1.{minor}]"]
    return emulated, []


def errors(minor: int, emulated: int, chosen: Mapping[str, bool]) -> list[str]:
    """What a kube-scheduler of 1.minor that emulates 1.emulated finds wrong with gates that its command line sets."""
    found = []
    for name, value in chosen.items():
        if name in _GROUPS:
            continue
        stage = stages(minor, emulated).get(name)
        if stage is None:
            found.append(f"unrecognized feature gate: {name}")
        elif "!" in stage and value != ("+" in stage):
            locked = "true" if "+" in stage else "false"
            found.append(f"cannot set feature gate {name} to {str(value).lower()}, feature is locked to {locked}")
        elif stage == _PREALPHA:
            found.append(f"cannot set feature gate {name} to {str(value).lower()}, feature is PreAlpha at emulated version 1.{emulated}")
    if found:
        return found
    applied = values(minor, emulated, chosen)
    for name, needed in dependencies(minor).items():
        off = [other for other in needed if not applied[other]]
        if applied[name] and off:
            found.append(f"{name} is enabled, but depends on features that are disabled: [{' '.join(sorted(off))}]")
    return found


def known(minor: int) -> Iterable[str]:
    """The names of all gates that a kube-scheduler of 1.minor has."""
    return stages(minor, minor).keys()


def values(minor: int, emulated: int, chosen: Mapping[str, bool]) -> Mapping[str, bool]:
    """Every gate of a kube-scheduler of 1.minor that emulates 1.emulated, with its value where ``chosen`` are set."""
    if not chosen:
        return _defaults(minor, emulated)
    found = dict(_defaults(minor, emulated))
    for group, stage in _GROUPS.items():
        if group in chosen:
            found.update({name: chosen[group] for name, of in stages(minor, emulated).items() if of.rstrip("+!") == stage})
    found.update(chosen)
    return found


@cache
def _defaults(minor: int, emulated: int) -> Mapping[str, bool]:
    return {name: "+" in stage for name, stage in stages(minor, emulated).items()}


@cache
def stages(minor: int, emulated: int) -> Mapping[str, str]:
    """Gate -> its stage as in the table (``beta+``) in 1.emulated, for the gates that 1.minor has."""
    found = {}
    for name, history in GATES.items():
        now, then = "gone", _PREALPHA
        for change in history.split():
            since, stage = change.split(":")
            if int(since) <= minor:
                now = stage
            if int(since) <= emulated:
                then = stage
        if now != "gone":
            found[name] = then
    return found


@cache
def dependencies(minor: int) -> Mapping[str, tuple[str, ...]]:
    """Gate -> the gates that have to be enabled where it is, in kube-scheduler 1.minor."""
    found = {}
    for name, history in DEPENDENCIES.items():
        needed = ""
        for change in history.split():
            since, gates = change.split(":")
            if int(since) <= minor:
                needed = gates
        if needed:
            found[name] = tuple(needed.split(","))
    return found
