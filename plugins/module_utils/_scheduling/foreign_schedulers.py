# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Schedulers that are not kube-scheduler, recognised in the pod template of a Deployment. Pure: no requests.

Sources: installer/volcano-development.yaml and cmd/scheduler/app/options of volcano-sh/volcano; helm-charts/yunikorn of
apache/yunikorn-release; versions/*/templates/koord-scheduler.yaml of koordinator-sh/charts.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any, NamedTuple

from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.images import split
from ansible_collections.osso.scheduler.plugins.module_utils._scheduling.workload import ConfigMapKey, config_map_of, words

KUBE_SCHEDULER = "kube-scheduler"
UNKNOWN = "unknown"


class Software(NamedTuple):
    """name: what it is called. names: the schedulerNames that it uses by default. flag: its flag for others, if it has one."""

    name: str
    names: tuple[str, ...]
    flag: str = ""


_VOLCANO = Software("Volcano", ("volcano",), "scheduler-name")
_YUNIKORN = Software("YuniKorn", ("yunikorn",))
_KOORDINATOR = Software("Koordinator", ("koord-scheduler",))
# The last part of the path of a program or of an image
PROGRAMS = {
    "vc-scheduler": _VOLCANO,
    "yunikorn-scheduler": _YUNIKORN,
    "yunikorn-scheduler-k8s": _YUNIKORN,
    "k8s_yunikorn_scheduler": _YUNIKORN,
    "koord-scheduler": _KOORDINATOR,
}


class Found(NamedTuple):
    """config_map: where its KubeSchedulerConfiguration is from, if it has one."""

    software: str
    names: tuple[str, ...]
    image: str
    config_map: ConfigMapKey | None = None


def find(pod_spec: Mapping[str, Any]) -> Found | None:
    """The scheduler of another make among the containers of a pod, or None."""
    for container in pod_spec.get("containers") or []:
        software = _software(container)
        if software is not None:
            given = words(container)
            names = tuple(value for value in _values(given, software.flag) if value) if software.flag else ()
            path = next(iter(_values(given, "config")), "")
            config_map = config_map_of(path, container, pod_spec) if path else None
            return Found(software.name, names or software.names, container.get("image", ""), config_map)
    return None


def by_name(deployment: Mapping[str, Any], scheduler_name: str) -> Found | None:
    """A program that is not known here and is called like the schedulerName, or None."""
    for container in deployment["spec"]["template"]["spec"].get("containers") or []:
        programs = {posixpath.basename(word) for word in (container.get("command") or [])[:1]}
        if scheduler_name in {deployment["metadata"]["name"], container.get("name"), *programs}:
            return Found(UNKNOWN, (scheduler_name,), container.get("image", ""))
    return None


def _software(container: Mapping[str, Any]) -> Software | None:
    repository, tag = split(container.get("image", ""))[:2]
    image = posixpath.basename(repository)
    if image == "yunikorn" and (tag or "").startswith("scheduler-"):
        return _YUNIKORN
    programs = [posixpath.basename(word) for word in words(container)] if container.get("command") else [image]
    return next((PROGRAMS[program] for program in programs if program in PROGRAMS), None)


def _values(given: list[str], flag: str) -> list[str]:
    """The values of a flag on a command line, in both of its forms."""
    found = []
    for index, word in enumerate(given):
        name, equals, value = word.lstrip("-").partition("=")
        if word.startswith("-") and name == flag:
            found.append(value if equals else (given[index + 1] if index + 1 < len(given) else ""))
    return found
