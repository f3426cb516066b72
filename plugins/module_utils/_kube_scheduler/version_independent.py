# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of a document that do not depend on the release of the kube-scheduler.

They cover the type of the document and the scheduler names of its profiles. If the release of the scheduler's image is unknown, these are the only
checks.
"""

from __future__ import annotations

from typing import Any

from .document import Node, Place, join
from .plain_data import as_text, mappings_in
from .result import ERROR, Finding

API_GROUP = "kubescheduler.config.k8s.io"
KIND = "KubeSchedulerConfiguration"
DEFAULT_SCHEDULER_NAME = "default-scheduler"
"""What kube-scheduler calls a profile without schedulerName when it is the only one (Kubernetes API defaults)."""


def outline(root: Node | None) -> tuple[list[str], list[Finding]]:
    """The scheduler names in the order of the profiles, and what is wrong with them or with the type of the document."""
    if root is None or root.entries is None:
        return [], [_not_a_mapping(root)]
    findings = _check_type(root)
    if findings:
        # Without the right type the fields mean something else, and every further finding would mislead.
        return [], findings
    return _check_profiles(root)


def named_plugins(tree: dict[str, Any]) -> dict[str, dict[str, list[tuple[str, int]]]]:
    """The plugins that a configuration names itself, shaped like ``Result.effective``: all that is known of them without a release.

    tree: of any document, ``Result.tree``.
    """
    found = {}
    for profile in mappings_in(tree.get("profiles")):
        points = profile.get("plugins")
        found[as_text(profile.get("schedulerName")) or DEFAULT_SCHEDULER_NAME] = {
            point: [
                (plugin["name"], weight if isinstance(weight := plugin.get("weight"), int) else 0)
                for plugin in mappings_in(plugins.get("enabled"))
                if as_text(plugin.get("name"))
            ]
            for point, plugins in (points if isinstance(points, dict) else {}).items()
            if isinstance(plugins, dict)
        }
    return found


def _error(code: str, message: str, path: str, place: Place, hint: str = "") -> Finding:
    return Finding(ERROR, code, message, path, place.line, place.column, hint)


def _not_a_mapping(root: Node | None) -> Finding:
    hint = f"it begins with apiVersion: {API_GROUP}/v1 and kind: {KIND}"
    if root is None or root.value is None:
        return _error("empty-document", "the document is empty", "", Place(1, 1), hint)
    return _error("not-a-mapping", f"the document is {_name_type(root.value)}, not a mapping", "", root.place, hint)


def _name_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "a mapping"


def _string(root: Node, key: str) -> str:
    return as_text(root.value.get(key))


def _check_type(root: Node) -> list[Finding]:
    entries = root.entries or {}
    expected = {"apiVersion": f"{API_GROUP}/v1", "kind": KIND}
    findings = []
    for key, example in expected.items():
        place, node = entries.get(key, (root.place, None))
        if node is None or node.value is None or node.value == "":
            hint = f"add {key}: {example}"
            other = next((name for name in entries if name.lower() == key.lower() and name != key), None)
            if other is not None:
                place = entries[other][0]
                hint = f"write {key} instead of {other}; upper and lower case matter"
            findings.append(_error("missing-field", "is missing", key, place, hint))
        elif not isinstance(node.value, str):
            message = f"is {_name_type(node.value)}, not a string"
            findings.append(_error("wrong-type-of-document", message, key, node.place, f"write {key}: {example}"))
    if findings:
        return findings
    group, slash, version = _string(root, "apiVersion").partition("/")
    if group != API_GROUP or not slash or not version or "/" in version:
        message = "{} is not a version of {}".format(_string(root, "apiVersion"), API_GROUP)
        hint = _hint_for_other_object(root) or f"write apiVersion: {API_GROUP}/v1, or the older version that the image reads"
        findings.append(_error("wrong-type-of-document", message, "apiVersion", entries["apiVersion"][1].place, hint))
    elif _string(root, "kind") != KIND:
        message = "{} is not {}".format(_string(root, "kind"), KIND)
        hint = f"write kind: {KIND}"
        findings.append(_error("wrong-type-of-document", message, "kind", entries["kind"][1].place, hint))
    return findings


def _hint_for_other_object(root: Node) -> str:
    kind = _string(root, "kind")
    if kind in ("ConfigMap", "Secret"):
        return f"this is a {kind}; what belongs here is the text under one of its keys, such as config.yaml"
    if kind == "Policy":
        return f"scheduling policies ended with Kubernetes 1.22; write them as profiles of a {KIND}"
    return ""


def _check_profiles(root: Node) -> tuple[list[str], list[Finding]]:
    """The scheduler names in the order of the profiles, and what is wrong with them."""
    node = (root.entries or {}).get("profiles", (root.place, None))[1]
    if node is None or node.value is None or node.value == []:
        return [DEFAULT_SCHEDULER_NAME], []
    if node.items is None:
        message = f"is {_name_type(node.value)}, not a list"
        return [], [_error("wrong-type", message, "profiles", node.place, "begin each profile with a hyphen")]
    names: list[str] = []
    findings: list[Finding] = []
    for index, profile in enumerate(node.items):
        path = join("profiles", index)
        name, finding = _scheduler_name(profile, path, only=len(node.items) == 1)
        if finding is None and name in names:
            where = profile.entries["schedulerName"][1].place if profile.entries else profile.place
            message = f"{name} is also the name of profiles[{names.index(name)}]"
            finding = _error("duplicate-name", message, join(path, "schedulerName"), where, "each profile needs a name of its own")
        if finding is not None:
            findings.append(finding)
        # An unusable name keeps its place, so that the index of a duplicate is right.
        names.append(name)
    return [name for name in dict.fromkeys(names) if name], findings


def _scheduler_name(profile: Node, path: str, only: bool) -> tuple[str, Finding | None]:
    if profile.value is not None and profile.entries is None:
        message = f"is {_name_type(profile.value)}, not a mapping"
        return "", _error("wrong-type", message, path, profile.place, "write schedulerName: and the name")
    path = join(path, "schedulerName")
    entry = (profile.entries or {}).get("schedulerName")
    if entry is None or entry[1].value is None:
        if only:
            return DEFAULT_SCHEDULER_NAME, None
        message = "is missing; among several profiles each needs one"
        return "", _error("missing-name", message, path, profile.place, "add schedulerName")
    node = entry[1]
    if not isinstance(node.value, str):
        message = f"is {_name_type(node.value)}, not a string"
        return "", _error("wrong-type", message, path, node.place, "put the name into quotes")
    if not node.value:
        return "", _error("missing-name", "is empty", path, node.place, "set the schedulerName that pods use")
    return node.value, None
