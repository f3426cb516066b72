# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a SecondaryScheduler may override of its scheduler's pods: ``spec.unsupportedConfigOverrides``.

Checked is what the API server could not, or would say in a way that does not lead back to this field; it checks the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ansible_collections.osso.scheduler.plugins.module_utils._cluster.resources import Object
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.similar_names import known_are
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.tables.flags import IGNORED_BESIDE_CONFIG

FIELD = "spec.unsupportedConfigOverrides"

_BY_TOPOLOGY = "the operator sets it so that every scheduler has a Lease of its own; spec.topology determines the number of replicas"
_BY_PROFILE = "it follows the cluster's TLS profile, apiservers.config.openshift.io/cluster"
_BY_SERVICE = "it is the certificate of the scheduler's Service"
_BY_PROBES = "probes and the metrics Service expect port 10259 of the pod's address"
_ENDS = "the scheduler would end at once"
TAKEN_FLAGS = {
    # flag of kube-scheduler: what does it instead
    "config": "spec.schedulerConfig does it",
    "v": "spec.logLevel does it",
    "leader-elect": _BY_TOPOLOGY,
    "leader-elect-lease-duration": _BY_TOPOLOGY,
    "leader-elect-renew-deadline": _BY_TOPOLOGY,
    "leader-elect-resource-lock": _BY_TOPOLOGY,
    "leader-elect-resource-name": _BY_TOPOLOGY,
    "leader-elect-resource-namespace": _BY_TOPOLOGY,
    "leader-elect-retry-period": _BY_TOPOLOGY,
    "tls-cipher-suites": _BY_PROFILE,
    "tls-min-version": _BY_PROFILE,
    "tls-cert-file": _BY_SERVICE,
    "tls-private-key-file": _BY_SERVICE,
    "bind-address": _BY_PROBES,
    "secure-port": _BY_PROBES,
    "help": _ENDS,
    "version": _ENDS,
    "write-config-to": _ENDS,
}
_SHORTHANDS = {"v": "v", "h": "help"}

TAKEN_VOLUMES = ("config", "tmp", "certs-dir")
TAKEN_PATHS = ("/etc/kubernetes", "/tmp", "/certs-dir")


Check = Callable[[str, Any], list[str]]
"""Takes the path of a value and the value, and returns what is wrong with it."""


def read(value: Any, field: str = FIELD) -> tuple[Object, list[str]]:
    """The overrides that a resource gives, and what is wrong with them.

    ``value`` is ``spec.unsupportedConfigOverrides`` or None; ``field`` is what messages call it. Returns ``(overrides, problems)``: a dict with the
    usable ones of `KNOWN` that are given and not empty, and a list of sentences that name field and remedy, but no value that could be a secret.
    """
    if value is None:
        return {}, []
    if not isinstance(value, dict):
        return {}, [f"{field} is a {_type(value)}; it must be a mapping with any of {', '.join(KNOWN)}."]
    overrides: Object = {}
    problems: list[str] = []
    for key, given in value.items():
        if key not in KNOWN:
            problems.append(f"{field}.{key} is unknown; {known_are(key, KNOWN)}")
        elif given is not None:
            found = KNOWN[key](f"{field}.{key}", given)
            problems += found
            # An empty affinity says something: that ours does not hold.
            if not found and (given or key == "affinity"):
                overrides[key] = given
    if "volumeMounts" in overrides and ("volumes" in overrides or not value.get("volumes")):
        found = _unmounted(overrides, field)
        if found:
            problems += found
            del overrides["volumeMounts"]
    return overrides, problems


def _unmounted(overrides: Object, field: str) -> list[str]:
    known = {volume["name"] for volume in overrides.get("volumes", ())}
    return [
        f"{field}.volumeMounts[{index}].name is {mount['name']}; no volume of that name is given: add it to {field}.volumes."
        for index, mount in enumerate(overrides["volumeMounts"])
        if mount["name"] not in known
    ]


def _type(value: object) -> str:
    for kind, name in ((bool, "boolean"), (str, "text"), ((int, float), "number"), (list, "list"), (dict, "mapping"), (type(None), "null")):
        if isinstance(value, kind):
            return name
    return type(value).__name__


def _text(path: str, value: Any) -> list[str]:
    if isinstance(value, str) and value:
        return []
    if isinstance(value, (bool, int, float)):
        return [f"{path} is a {_type(value)}; it must be text: put it into quotes."]
    return [f"{path} is {'empty' if value == '' else 'a ' + _type(value)}; it must be text."]


def _any_text(path: str, value: Any) -> list[str]:
    return [] if value == "" else _text(path, value)


def _mapping(path: str, value: Any) -> list[str]:
    return [] if isinstance(value, dict) else [f"{path} is a {_type(value)}; it must be a mapping."]


def _whole_number(minimum: int) -> Check:
    def check(path: str, value: Any) -> list[str]:
        if isinstance(value, int) and not isinstance(value, bool) and value >= minimum:
            return []
        return [f"{path} must be a whole number of at least {minimum}."]

    return check


def _one_of(*choices: str) -> Check:
    def check(path: str, value: Any) -> list[str]:
        return [] if value in choices else [f"{path} must be one of {', '.join(choices)}."]

    return check


def _number_or_percentage(path: str, value: Any) -> list[str]:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return []
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,3}%", value):
        return []
    return [f"{path} must be a whole number such as 1, or a percentage such as 50%."]


def _texts_by_name(path: str, value: Any) -> list[str]:
    problems = _mapping(path, value)
    for name, entry in () if problems else value.items():
        problems += _any_text(f"{path}.{name}", entry)
    return problems


def _list_of(check: Check, unique: str | None = None) -> Check:
    def check_all(path: str, value: Any) -> list[str]:
        if not isinstance(value, list):
            return [f"{path} is a {_type(value)}; it must be a list."]
        problems: list[str] = []
        seen: set[str | None] = set()
        for index, entry in enumerate(value):
            problems += check(f"{path}[{index}]", entry)
            name = entry.get(unique) if unique and isinstance(entry, dict) else None
            if isinstance(name, str) and name in seen:
                problems.append(f"{path}[{index}].{unique} is {name}, as in an earlier entry; remove one of them.")
            seen.add(name if isinstance(name, str) else None)
        return problems

    return check_all


def _object(required: Sequence[str] = (), **fields: Check | None) -> Check:
    """A mapping with these fields and no others; a field without a separate check can have any value."""

    def check(path: str, value: Any) -> list[str]:
        problems = _mapping(path, value)
        if problems:
            return problems
        problems += [f"{path}.{name} is missing; add it." for name in required if value.get(name) is None]
        for name, entry in value.items():
            if name not in fields:
                problems.append(f"{path}.{name} is unknown; {known_are(name, fields)}")
            elif (check_field := fields[name]) and entry is not None:
                problems += check_field(f"{path}.{name}", entry)
        return problems

    return check


def _flag(path: str, value: Any) -> list[str]:
    if not isinstance(value, str):
        return [f"{path} is a {_type(value)}; it must be a flag such as --name=value."]
    match = re.match(r"(--?[^=\s]*)(=?)", value)
    name, equals = match.groups() if match else ("", "")
    if not name.strip("-") or (not equals and name != value):
        return [f"{path} is no flag; a flag and its value are one entry: --name=value."]
    flag = name[2:].replace("_", "-") if name.startswith("--") else _SHORTHANDS.get(name[1], name[1:])
    if flag in TAKEN_FLAGS:
        return [f"{path} is {name}: {TAKEN_FLAGS[flag]}; remove it."]
    if flag in IGNORED_BESIDE_CONFIG:
        return [f"{path} is {name}, which kube-scheduler ignores beside a configuration; set {IGNORED_BESIDE_CONFIG[flag]} in that."]
    return [] if name.startswith("--") else [f"{path} begins with one hyphen; a flag has two: --name=value."]


def _not_ours(check: Check, field: str, taken: Sequence[str]) -> Check:
    def check_both(path: str, value: Any) -> list[str]:
        problems = check(path, value)
        if not problems and value.get(field, "") in taken:
            problems.append(
                f"{path}.{field} is {value[field]}, which the operator uses itself; choose another one than {', '.join(taken)}."
            )
        return problems

    return check_both


def _volume(path: str, value: Any) -> list[str]:
    return _mapping(path, value) or (_text(f"{path}.name", value["name"]) if "name" in value else [f"{path}.name is missing; add it."])


def _mount(path: str, value: Any) -> list[str]:
    shape = _object(
        ("name", "mountPath"),
        name=_text,
        mountPath=_text,
        mountPropagation=_text,
        readOnly=None,
        recursiveReadOnly=_text,
        subPath=_any_text,
        subPathExpr=_any_text,
    )
    problems = shape(path, value)
    if not problems:
        problems += _not_ours(_mapping, "mountPath", TAKEN_PATHS)(path, dict(value, mountPath=value["mountPath"].rstrip("/")))
    return problems


def _budget(path: str, value: Any) -> list[str]:
    problems = _object(minAvailable=_number_or_percentage, maxUnavailable=_number_or_percentage)(path, value)
    if not problems and len([entry for entry in value.values() if entry is not None]) != 1:
        problems.append(f"{path} must have exactly one of minAvailable and maxUnavailable.")
    return problems


def _command(path: str, value: Any) -> list[str]:
    problems = _list_of(_text)(path, value)
    return problems if problems or value else [f"{path} is empty; it must begin with the path of the program in the image."]


KNOWN: dict[str, Check] = {
    "affinity": _object(nodeAffinity=_mapping, podAffinity=_mapping, podAntiAffinity=_mapping),
    "args": _list_of(_flag),
    "command": _command,
    "env": _list_of(_object(("name",), name=_text, value=_any_text, valueFrom=_mapping), unique="name"),
    "imagePullPolicy": _one_of("Always", "IfNotPresent", "Never"),
    "imagePullSecrets": _list_of(_object(("name",), name=_text), unique="name"),
    "nodeSelector": _texts_by_name,
    "podAnnotations": _texts_by_name,
    "podDisruptionBudget": _budget,
    "priorityClassName": _text,
    "progressDeadlineSeconds": _whole_number(1),
    "resources": _object(claims=_list_of(_mapping), limits=_mapping, requests=_mapping),
    "tolerations": _list_of(
        _object(
            effect=_one_of("", "NoSchedule", "PreferNoSchedule", "NoExecute"),
            key=_any_text,
            operator=_one_of("", "Exists", "Equal", "Gt", "Lt"),
            tolerationSeconds=None,
            value=_any_text,
        )
    ),
    "topologySpreadConstraints": _list_of(_mapping),
    "volumeMounts": _list_of(_not_ours(_mount, "name", TAKEN_VOLUMES), unique="mountPath"),
    "volumes": _list_of(_not_ours(_volume, "name", TAKEN_VOLUMES), unique="name"),
}
"""Override -> what checks it."""
