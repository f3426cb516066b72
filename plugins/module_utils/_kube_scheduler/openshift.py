# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The configuration that OpenShift's kube-scheduler operator writes for a profile, release by release.

rendered("4.18", "HighNodeUtilization")
"""

from __future__ import annotations

import copy
from typing import Any

from .presets import profile as preset_profile
from .tables import openshift as table
from .tables.releases import OPENSHIFT, OpenShift
from .target import parse_openshift


class UnknownRelease(ValueError):
    """No table describes this release of OpenShift, or it has no such profile; the message names the known ones."""


def release_of(version: str) -> OpenShift:
    """The release of OpenShift in ``4.18``, ``4.18.3`` or ``openshift-4.18``. Raises UnknownRelease."""
    release = parse_openshift(version or "")
    if not release or release not in OPENSHIFT or release < table.OLDEST:
        raise UnknownRelease(f"{version} is no release of OpenShift that is known: those are {table.OLDEST} to {max(OPENSHIFT)}")
    return release


def effective_profile(profile: str | None) -> str:
    return profile or table.DEFAULT_PROFILE


def rendered(version: str, profile: str | None = "", dynamic_resource_allocation: bool = False) -> dict[str, Any]:
    """The document under ``config.yaml`` of the ConfigMap openshift-kube-scheduler/config. Raises UnknownRelease.

    ``dynamic_resource_allocation``: whether it is asked for, by the profile's customization or, in 4.20, by the feature gate; where that
    does nothing any more, it does nothing here.
    """
    release = release_of(version)
    name = effective_profile(profile)
    if name not in table.PROFILES:
        raise UnknownRelease(f"profile {name} is none of {', '.join(table.PROFILES)}")
    typed = release >= table.TYPED_SINCE
    made: dict[str, Any] = {
        "apiVersion": f"kubescheduler.config.k8s.io/{_of(table.API_VERSION, release)}",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": table.KUBECONFIG},
        "leaderElection": {**table.LEADER_ELECTION, "resourceLock": _of(table.RESOURCE_LOCK, release)},
    }
    if typed:
        for field, empty in table.EMPTY.items():
            made[field] = {**empty, **made[field]}
    if release >= table.PROFILING_SINCE:
        made.update(enableProfiling=False, enableContentionProfiling=False)
    preset = table.PROFILES[name]
    profiles = [preset_profile(preset, {"scheduler_name": "default-scheduler"})] if preset else []
    if dynamic_resource_allocation and has_dynamic_resource_allocation(release):
        profiles = copy.deepcopy(profiles) or [{}]
        profiles[0].setdefault("plugins", {})["multiPoint"] = {"enabled": [{"name": table.DRA_PLUGIN}]}
    if typed:
        profiles = [_typed(one, release) for one in profiles]
    return {**made, "profiles": profiles} if profiles else made


def has_dynamic_resource_allocation(release: OpenShift) -> bool:
    """Whether the profile's customization does anything in this release."""
    first, last = table.DRA
    return first <= release <= last


def differences(expected: Any, live: Any, path: str = "") -> list[str]:
    """What is not as expected, one line a field: ``leaderElection.retryPeriod: expected 26s, is 2s``."""
    if isinstance(expected, dict) and isinstance(live, dict):
        found = []
        for key in [*expected, *(key for key in live if key not in expected)]:
            where = f"{path}.{key}" if path else str(key)
            if key not in live:
                found.append(f"{where}: expected {expected[key]!r}, is missing")
            elif key not in expected:
                found.append(f"{where}: not expected, is {live[key]!r}")
            else:
                found += differences(expected[key], live[key], where)
        return found
    if isinstance(expected, list) and isinstance(live, list) and len(expected) == len(live):
        return [line for number, pair in enumerate(zip(expected, live)) for line in differences(*pair, f"{path}[{number}]")]
    return [] if expected == live else [f"{path}: expected {expected!r}, is {live!r}"]


def _of(steps: tuple[tuple[OpenShift, str], ...], release: OpenShift) -> str:
    return [value for since, value in steps if release >= since][-1]


def _typed(profile: dict[str, Any], release: OpenShift) -> dict[str, Any]:
    points: dict[str, Any] = {name: {} for name, since in table.EXTENSION_POINTS if release >= since}
    return {**profile, "plugins": {**points, **profile["plugins"]}}
