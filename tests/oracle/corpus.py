# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The hand-written documents of tests/conformance/kube_scheduler/corpus: one or more for every rule of kube-scheduler.

Its README says how a rule is written down.
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import yaml

from . import columns
from .documents import MINORS, PLUGINS, Document, emit, served, targets

FOLDER = Path(__file__).parents[1] / "conformance/kube_scheduler/corpus"
GROUP = "kubescheduler.config.k8s.io"
VERDICTS = ("accept", "refuse")
# Keys of a document that say something about it or stand for a longer way to write it; all others are fields.
SHORTHAND = ("about", "versions", "minors", "flags", "text", "base64", "json", "profile", "plugins", "args", "leader", "extender")


class Rule(NamedTuple):
    """One rule: where it holds, documents that obey (accept) and break (refuse) it, and the minors whose answers are recorded."""

    id: str
    says: str
    subject: str
    minors: frozenset[int]
    versions: tuple[str, ...]
    plugins: tuple[str, ...]
    accept: tuple[dict, ...]
    refuse: tuple[dict, ...]
    recorded: frozenset[int]

    def holds(self, minor: int, version: str) -> bool:
        return minor in self.minors and version in self.versions


class _Loader(yaml.SafeLoader):
    """YAML 1.2's scalars: what stands in the corpus is what is meant."""

    yaml_implicit_resolvers: ClassVar[dict] = {}


for _tag, _regexp, _first in (
    ("bool", r"true|false", "tf"),
    ("null", r"null|~|", ["n", "~", ""]),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?[0-9]+\.[0-9]+", "-+0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_regexp})\Z"), list(_first))
_Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value))


@functools.cache
def rules() -> tuple[Rule, ...]:
    found = []
    for file in sorted(FOLDER.glob("*.yml")):
        found += [_rule(file.stem, entry) for entry in yaml.load(file.read_text(encoding="utf-8"), _Loader)]
    return tuple(found)


def _rule(subject: str, entry: dict) -> Rule:
    unknown = set(entry) - {"rule", "says", "minors", "versions", "plugins", "recorded", *VERDICTS}
    if unknown:
        raise ValueError(f"{subject}: {entry['rule']}: {sorted(unknown)}")
    return Rule(
        f"{subject}/{entry['rule']}",
        entry.get("says", ""),
        subject,
        _minors(entry.get("minors")),
        _names(entry.get("versions"), ("v1beta1", "v1beta2", "v1beta3", "v1")),
        _names(entry.get("plugins"), PLUGINS[1:] if subject == "scheduler_plugins" else PLUGINS[:1]),
        tuple(entry.get("accept") or ()),
        tuple(entry.get("refuse") or ()),
        _minors(entry.get("recorded")),
    )


def _minors(text: Any) -> frozenset[int]:
    """``21-24``, ``27-`` (to the newest), ``-24`` or ``26``; several separated by commas. Nothing: all."""
    if text is None:
        return frozenset(MINORS)
    found = set()
    for part in str(text).lstrip("=").split(","):
        first, dash, last = part.strip().partition("-")
        found.update(range(int(first or MINORS[0]), int(last or MINORS[-1] if dash else first) + 1))
    return frozenset(found)


def _names(text: Any, default: tuple[str, ...]) -> tuple[str, ...]:
    return default if text is None else tuple(str(text).split())


def documents(minor: int, plugins: str) -> list[Document]:
    """All documents for one kube-scheduler, in every version that it reads; those that say nothing of a version once.

    A rule's documents are asked where the rule does not hold, too: then nothing is expected, the oracle says what happens.
    """
    found = {}
    for rule in rules():
        if plugins not in rule.plugins or minor not in rule.recorded:
            continue
        for verdict in VERDICTS:
            for number, patch in enumerate(getattr(rule, verdict)):
                for version in served(minor):
                    made = document(rule, verdict, number, patch, minor, version)
                    known = found.setdefault((made.text, made.flags), made)
                    if known.expected is None:
                        found[made.text, made.flags] = made
    return [*found.values(), *(feature_gates(minor) if plugins == "in-tree" else ())]


def feature_gates(minor: int) -> list[Document]:
    """Every feature gate that any release has, switched on and off: which ones a release knows, and which are locked.

    The names were found in the sources of all releases (``featuregate.Feature = "..."``), those of newer releases by derive.py.
    """
    text = written({}, served(minor)[-1])
    names = (FOLDER / "feature-gates.txt").read_text(encoding="utf-8").split()
    if minor in columns.recorded_minors():
        derived = set().union(*(columns.recorded(other)["feature gates"] for other in columns.recorded_minors()))
        names += sorted(derived - set(names))
    return [Document(f"gates/{name}={value}", text, (f"--feature-gates={name}={value}",)) for name in names for value in ("true", "false")]


def document(rule: Rule, verdict: str, number: int, patch: dict, minor: int, version: str) -> Document:
    holds = rule.holds(minor, version) and minor in _minors(patch.get("minors")) and version in _names(patch.get("versions"), rule.versions)
    name = f"{rule.id}/{verdict}{number}/{version}"
    flags = tuple(patch.get("flags", ()))
    return Document(name, written(patch, version), flags, verdict if holds else None)


def written(patch: dict, version: str) -> str | bytes:
    """The text of a document: as it stands under ``text``, else the smallest configuration with the fields of the patch."""
    head = f"apiVersion: {GROUP}/{version}\nkind: KubeSchedulerConfiguration\n"
    if "text" in patch:
        return patch["text"].replace("$HEAD\n", head).replace("$VERSION", version)
    if "base64" in patch:
        import base64

        return base64.b64decode(patch["base64"]).replace(b"$HEAD\n", head.encode()).replace(b"$VERSION", version.encode())
    made = merged(base(version), {key: value for key, value in patch.items() if key not in SHORTHAND})
    if "leader" in patch:
        made["leaderElection"] = {"leaderElect": True, **patch["leader"]}
    if "extender" in patch:
        made["extenders"] = [patch["extender"]]
    profile = patch.get("profile", {})
    if "plugins" in patch:
        profile = {**profile, "plugins": patch["plugins"]}
    if "args" in patch:
        profile = {**profile, "pluginConfig": [{"name": name, "args": args} for name, args in patch["args"].items()]}
    if profile:
        made["profiles"] = [merged(made["profiles"][0], profile)]
    if "json" in patch:
        return json.dumps(made, indent=patch["json"] or None, ensure_ascii=False)
    return emit(made)


def base(version: str) -> dict:
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "profiles": [{"schedulerName": "s"}],
    }


def merged(below: Any, above: Any) -> Any:
    """Mappings are merged, all else is replaced; the string ``$REMOVE`` removes a field."""
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    result = {**below, **{key: merged(below.get(key), value) for key, value in above.items()}}
    return {key: value for key, value in result.items() if value != "$REMOVE"}


class Row(NamedTuple):
    """How many documents obey and break a rule, in one release and version where it holds."""

    rule: str
    minor: int
    plugins: str
    version: str
    accepting: int
    refusing: int


def coverage() -> list[Row]:
    rows = []
    for minor, plugins in targets():
        for rule in rules():
            for version in served(minor):
                if plugins not in rule.plugins or not rule.holds(minor, version):
                    continue
                counts = [
                    sum(document(rule, verdict, 0, patch, minor, version).expected == verdict for patch in getattr(rule, verdict))
                    for verdict in VERDICTS
                ]
                rows.append(Row(rule.id, minor, plugins, version, *counts))
    return rows
