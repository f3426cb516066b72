# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the engine and kube-scheduler disagree.

    tests/tools/env python -m oracle.compare [MINOR ...] [--live] [--show N]      (in tests/)

Compared are: the verdict, the stage of a refusal, the fields that kube-scheduler's message names, the completed configuration
field by field, the plugins that run, and whether the process starts. Disagreements are printed in groups that have one cause.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import corpus, generate, recordings
from .documents import FROZEN, PLUGINS, Document, targets
from .recordings import Answer

COLLECTIONS = str(Path(__file__).parents[2] / ".cache/collections")
STAGES = ("", "decode", "validate", "build", "run")

# Go interface -> field of the configuration.
POINTS = {
    "PreEnqueue": "preEnqueue",
    "QueueSort": "queueSort",
    "PreFilter": "preFilter",
    "Filter": "filter",
    "PostFilter": "postFilter",
    "PreScore": "preScore",
    "Score": "score",
    "Reserve": "reserve",
    "Permit": "permit",
    "PreBind": "preBind",
    "Bind": "bind",
    "PostBind": "postBind",
    "PlacementGenerate": "placementGenerate",
    "PlacementScore": "placementScore",
    "PodGroupPostFilter": "podGroupPostFilter",
}
_FIELD_ERROR = re.compile(
    r"(?:^|[\[ ])(?:\[\]\.)?(\w[\w.]*(?:\[[^\]]*\][\w.]*)*): (?:Invalid value|Required value|Duplicate value|Unsupported value|Forbidden|Internal error)"
)
_STRICT_FIELD = re.compile(r'(?:decoding (\.profiles\[\d+\]\.pluginConfig\[\d+\]): |(?:unknown|duplicate) field "((?:[^"\\]|\\.)*)")')
_GO_FIELD = re.compile(r"Go struct field \w+\.([\w.]+) of type")
_ARGS = re.compile(r"decoding \.(profiles\[\d+\]\.pluginConfig\[\d+\]): ")
_OLD_MESSAGE = re.compile(r"(?:unmarshalerDecoder|Read\w+|read\w+|assert\w+|base64Codec|decode \w+|skip\w*): ")
_OLD_UNKNOWN = re.compile(r"found unknown field: ([^,]*), error")
_SET_TWICE = re.compile(r'line (\d+): key "((?:[^"\\]|\\.)*)" already set in map')
_POINT_ERRORS = (
    re.compile(r'(\w+)Plugin "(.*?)" does not exist'),
    re.compile(r'plugin "(?P<name>.*?)" does not extend (?P<point>\w+)Plugin plugin'),
    re.compile(r'plugin "(?P<name>.*?)" already registered as "(?P<point>\w+)Plugin"'),
)
# Lists of plugins are merged with the default ones: kube-scheduler's index is not the user's.
_PLACE = re.compile(r"(\.plugins\.\w+\.\w+)\[\d+\]")
# requestedToCapacityRatio is named from 1.36 on, preference never, DebuggingConfiguration is no field of the document.
_UNNAMED = ("requestedtocapacityratio", "preference", "debuggingconfiguration")
_LABEL_KEY = re.compile(r"(\.values\[\d+\])\[[^\]]*\]")
# v1beta1's plugins of scheduler-plugins read kubeconfig files of their own.
_ENVIRONMENT = re.compile(
    r"initializing plugin .*(?:: stat /|failed to init rest.Config|no configuration has been provided|connection refused)"
)
_PLUGIN = re.compile(r'initializing plugin "([^"]+)"')


class Disagreement(NamedTuple):
    """kind: what differs; cause: what disagreements of one cause have in common; detail: of this one."""

    kind: str
    cause: str
    detail: str
    target: tuple[int, str]
    document: Document


class Path_(NamedTuple):
    """A field that a message names. anywhere: the message leaves out where it begins; indices: whether it has them."""

    text: str
    anywhere: bool = False
    indices: bool = True


def named(answer: Answer) -> list[Path_]:
    """The fields that kube-scheduler's message names."""
    error = _LABEL_KEY.sub(r"\1", answer.error)
    if answer.stage == "decode":
        return _named_decoding(error)
    if answer.stage == "validate":
        # pluginConfig.args without an index: the arguments of the plugin at queueSort, whichever entry it is.
        return [Path_(text.replace(".pluginConfig.args", ".pluginConfig")) for text in _FIELD_ERROR.findall(error)]
    if answer.stage == "build":
        return _named_building(error)
    return []


def _named_decoding(error: str) -> list[Path_]:
    args = _ARGS.search(error)
    prefix = f"{args.group(1)}.args" if args else ""
    go = _GO_FIELD.search(error)
    if go:
        text = go.group(1).lstrip(".")
        if not prefix:
            return [Path_(text, indices=False)]
        return [Path_(f"{prefix}.{text}", indices=False)]
    missing = re.search(r"Object '(\w+)' is missing", error)
    if missing:
        return [Path_(missing.group(1)[0].lower() + missing.group(1)[1:])]
    twice = _SET_TWICE.findall(error)
    if twice:
        return [Path_(key, anywhere=True) for _line, key in twice]
    old = _OLD_UNKNOWN.search(error)
    if old:
        return [Path_(old.group(1), anywhere=True)]
    if "strict decod" in error:
        found, here = [], ""
        # 1.23 names the last part of a path only.
        if re.search(r"pluginConfig\[\d+\]: decoding args", error):
            return [Path_(_unquoted(field), anywhere=True) for _where, field in _STRICT_FIELD.findall(error) if field]
        for where, field in _STRICT_FIELD.findall(error):
            if where:
                here = f"{where[1:]}.args."
            else:
                field = _unquoted(field)
                found.append(Path_(here + field, anywhere="." not in field and not here))
        return found
    if "unmarshalerDecoder" in error or "error found in" in error:
        # Fields that were read before stand in front of the one that could not be read.
        read = [part for part in _OLD_MESSAGE.split(error)[0].split(": ") if re.fullmatch(r"[\w.]+", part)]
        return [Path_(read[-1].rpartition(".")[2], anywhere=True, indices=False)] if read else []
    if "no kind" in error or "GroupVersion" in error or "couldn't decode as" in error or "were not of type" in error:
        return [Path_(prefix)] if prefix else []
    return [Path_(prefix)] if prefix else []


def _unquoted(field: str) -> str:
    """A name as it is written, from Go's %q."""
    return field.encode().decode("unicode_escape") if "\\" in field and field.isascii() else field


def _named_building(error: str) -> list[Path_]:
    for pattern in _POINT_ERRORS:
        match = pattern.search(error)
        if match:
            groups = match.groupdict() or {"point": match.group(1), "name": match.group(2)}
            return [Path_(f"plugins.{POINTS[groups['point']]}|plugins.multiPoint", anywhere=True)]
    if _PLUGIN.search(error):
        # Of a plugin without arguments in the document the engine names the place where it is enabled.
        return [Path_(f"{text}|plugins", anywhere=True) for text in _FIELD_ERROR.findall(_PLUGIN.sub("", error))]
    return []


def matches(wanted: Path_, path: str) -> bool:
    """Whether a field of the engine's is the one that kube-scheduler names, or lies in it."""
    ours = _parts(path, wanted.indices)
    for text in wanted.text.split("|"):
        theirs = _parts(text, wanted.indices)
        starts = range(len(ours) - len(theirs) + 1) if wanted.anywhere else (0,)
        if any(ours[start : start + len(theirs)] == theirs for start in starts):
            return True
    return False


def _parts(path: str, indices: bool) -> list[str]:
    """A path as it can be compared: kube-scheduler leaves out what it does not count as a part of it."""
    path = _PLACE.sub(r"\1", path.lower())
    if not indices:  # where Go names types of fields, it names no key of a map either
        path = re.sub(r"(?<=\bnodepowermodel)\.[^.]+(?=\.k\d)", "", path)
    parts = re.findall(r"\[\d+\]|[^.\[\]]+", path)
    return [part for part in parts if part not in _UNNAMED and (indices or part[0] != "[")]


def disagreements(target: tuple[int, str], documents: Iterable[Document], answers: dict[str, Answer]) -> Iterator[Disagreement]:
    """What the engine says otherwise than the answers."""
    for document in documents:
        answer = answers.get(document.digest)
        if answer is None and target in FROZEN:
            continue
        if answer is None:
            yield Disagreement("unrecorded", "make oracle-record", document.id, target, document)
        elif not undecided(answer, target):
            for kind, cause, detail in compare(document, answer, target):
                yield Disagreement(kind, cause, detail, target, document)


def undecided(answer: Answer, target: tuple[int, str]) -> str:
    """Why an answer is none about the document; empty if it is."""
    if answer.verdict == "timeout":
        return "no answer in time"
    if answer.stage == "build" and _ENVIRONMENT.search(answer.error):
        return "a file or an API server that is not there"
    if target[0] <= 21 and ("could overflow" in answer.error or _negative_weight(answer.config)):
        return "up to 1.21 weights are added in random order: with a negative one the verdict changes from start to start"
    return ""


def _negative_weight(config: Any) -> bool:
    if isinstance(config, dict):
        return (isinstance(config.get("weight"), int) and config["weight"] < 0) or any(map(_negative_weight, config.values()))
    return isinstance(config, list) and any(map(_negative_weight, config))


def compare(document: Document, answer: Answer, target: tuple[int, str]) -> Iterator[tuple[str, str, str]]:
    """(kind, cause, detail) of everything that differs about one document."""
    minor, plugins = target
    try:
        result = engine()(document.text, f"1.{minor}", plugins, document.flags)
    except Exception as error:  # whatever it is, it is a finding
        place = traceback.extract_tb(error.__traceback__)[-1]
        yield "raised", f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {error}"[:200], ""
        return
    errors = [finding for finding in result.errors if finding.stage != "run"]
    ours = "; ".join(f"[{finding.stage}] {finding.path}: {finding.message}" for finding in result.errors[:4])
    if result.valid != answer.accepted:
        said = f"{answer.stage}: {shape(answer.error)}" if not answer.accepted else "accepted"
        codes = "accepted" if result.valid else ", ".join(sorted({_spot(finding) for finding in errors})[:3])
        yield "verdict", f"kube-scheduler: {said}  engine: {codes}", f"{answer.stage} {answer.error}\n      engine: {ours}"
        return
    if answer.accepted:
        yield from _compare_accepted(result, answer)
        return
    stage = min((STAGES.index(finding.stage) for finding in errors), default=0)
    # 1.21 checks its flags by themselves: then no stage of the document is meant.
    by_flags = document.flags and minor <= 21 and any(not finding.path and finding.stage == "decode" for finding in errors)
    if max(stage, 1) != STAGES.index(answer.stage) and answer.verdict != "panic" and not by_flags:
        detail = f"{answer.error}\n      engine: {ours}"
        yield "stage", f"{answer.stage}, engine {STAGES[stage] or 'yaml'}: {shape(answer.error)}", detail
        return
    yield from _compare_refused(errors, answer, ours)


def _compare_refused(errors: list, answer: Answer, ours: str) -> Iterator[tuple[str, str, str]]:
    detail = f"{answer.error}\n      engine: {ours}"
    wanted = named(answer)
    paths = [finding.path for finding in errors]
    if any(finding.path in ("", "kind", "apiVersion") and finding.stage in ("", "decode") for finding in errors):
        return  # the engine says that it is another document; kube-scheduler also names the fields that such a one has not
    for field in wanted:
        if not any(matches(field, path) for path in paths):
            yield "path", re.sub(r"\[\d+\]", "[]", field.text), f"{field.text}: {detail}"
    lines = [int(line) for line, _key in _SET_TWICE.findall(answer.error)]
    # Its line is that of the value, ours that of the key.
    missing = [line for line in lines if not any(finding.line and 0 <= line - finding.line <= 5 for finding in errors)]
    if missing:
        yield "line", shape(answer.error), f"{missing}: {detail}"
    # A message that was cut for the recording does not name all.
    if answer.stage == "validate" and len(answer.error) < recordings.LONGEST_ERROR:
        for finding in errors:
            if finding.stage == "validate" and not any(matches(field, finding.path) for field in wanted):
                yield "extra", f"{_spot(finding)}: not in {shape(answer.error)}", detail


def _compare_accepted(result: Any, answer: Answer) -> Iterator[tuple[str, str, str]]:
    differing = list(differences(recordings.plain(answer.config), recordings.plain(result.config), ""))
    if differing:
        yield "config", re.sub(r"\[\d+\]", "[]", differing[0].partition(":")[0]), "\n      ".join(differing[:6])
    ours = recordings.effective(result.effective)
    if ours != answer.effective:
        differing = list(differences(answer.effective, ours, ""))
        first = re.sub(r"^\.[^.]*", "", re.sub(r"\[\d+\]", "[]", differing[0].partition(":")[0]))
        yield "effective", first, "\n      ".join(differing[:6])
    if result.starts != answer.starts:
        yield "starts", f"{answer.starts}, engine {result.starts}: {shape(answer.run_error)}", answer.run_error


def differences(theirs: Any, ours: Any, path: str) -> Iterator[str]:
    """``path: theirs, engine ours`` wherever two structures differ."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in [*theirs, *(key for key in ours if key not in theirs)]:
            yield from differences(theirs.get(key, _Absent), ours.get(key, _Absent), f"{path}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, (their, our) in enumerate(zip(theirs, ours, strict=True)):
            yield from differences(their, our, f"{path}[{index}]")
    elif theirs != ours or type(theirs) is not type(ours):
        yield f"{path}: {_short(theirs)}, engine {_short(ours)}"


class _Absent:
    """Stands for a field that is not there."""


def _short(value: Any) -> str:
    return "absent" if value is _Absent else repr(value)[:200]


def shape(error: str) -> str:
    """An error without what is particular to its document."""
    return re.sub(r"\d+", "N", re.sub(r'"(?:[^"\\]|\\.)*"', '"…"', error))[:140]


def _spot(finding: Any) -> str:
    path = re.sub(r"\[\d+\]", "[]", finding.path)
    return f"{finding.code} {path}"[:90]


def engine():
    """The engine: it is what is tested."""
    if COLLECTIONS not in sys.path:
        sys.path.insert(0, COLLECTIONS)
    from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check

    return check


def documents(minor: int, plugins: str, generated: bool = True) -> list[Document]:
    """All documents that are compared for one kube-scheduler."""
    found = corpus.documents(minor, plugins)
    return found + generate.documents(minor, plugins) if generated else found


def ask(minor: int, plugins: str, asked: list[Document]) -> dict[str, Answer]:
    """The oracle's answers, now."""
    from . import client

    said = client.run(f"1.{minor}", plugins, [document.question() for document in asked])
    return {document.digest: recordings.answer(answer) for document, answer in zip(asked, said, strict=True)}


def _compare_target(work: tuple[tuple[int, str], argparse.Namespace]) -> tuple[int, list[Disagreement], str]:
    (minor, plugins), options = work
    asked = documents(minor, plugins, not options.corpus)
    if options.only:
        asked = [document for document in asked if re.search(options.only, document.id)]
    try:
        answers = ask(minor, plugins, asked) if options.live else recordings.load(minor, plugins)[1]
    except Exception as error:
        return 0, [], f"1.{minor} {plugins}: {error}"
    return len(asked), list(disagreements((minor, plugins), asked, answers)), ""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="compare", description="Where the engine and kube-scheduler disagree")
    parser.add_argument("minors", nargs="*", metavar="MINOR", help="1.31 or 31; default: all")
    parser.add_argument("--plugins", choices=PLUGINS, help="only this set of plugins")
    parser.add_argument("--live", action="store_true", help="ask the oracle's programs instead of the recordings")
    parser.add_argument("--corpus", action="store_true", help="only the hand-written documents")
    parser.add_argument("--only", metavar="REGEX", help="only documents whose id matches")
    parser.add_argument("--kind", help="only disagreements of this kind, several separated by commas")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N whole documents of each group")
    parser.add_argument("--groups", type=int, default=60, metavar="N", help="print at most N groups")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    options = parser.parse_args(arguments)
    minors = [int(minor.rpartition(".")[2]) for minor in options.minors]
    chosen = [
        (minor, plugins)
        for minor, plugins in targets()
        if (not minors or minor in minors) and (not options.plugins or plugins == options.plugins)
    ]
    work = [(target, options) for target in chosen]
    if options.jobs > 1:
        with multiprocessing.Pool(options.jobs) as pool:
            outcome = pool.map(_compare_target, work, chunksize=1)
    else:
        outcome = [_compare_target(item) for item in work]
    for problem in filter(None, (problem for _count, _found, problem in outcome)):
        print(f"not compared: {problem}"[:300])
    found = [item for _count, some, _problem in outcome for item in some]
    if options.kind:
        found = [item for item in found if item.kind in options.kind.split(",")]
    report(found, options.show, options.groups)
    documents_compared = sum(count for count, _found, _problem in outcome)
    by_kind = {kind: sum(item.kind == kind for item in found) for kind in dict.fromkeys(item.kind for item in found)}
    print(f"{documents_compared} documents compared, {len(found)} disagreements {by_kind or ''}")
    return 1 if found else 0


def report(found: list[Disagreement], show: int, most: int) -> None:
    """The disagreements by cause, the most frequent of each kind first."""
    groups: dict[tuple[str, str], list[Disagreement]] = {}
    for item in found:
        groups.setdefault((item.kind, item.cause), []).append(item)
    order = ("raised", "verdict", "stage", "config", "effective", "starts", "path", "line", "extra", "unrecorded")
    ranked = sorted(groups.items(), key=lambda group: (order.index(group[0][0]), -len(group[1])))
    for (kind, cause), items in ranked[:most]:
        print(f"{kind:9} {len(items):5} x  {cause}")
        print(f"      {_releases(items)}: {items[0].document.id}")
        if items[0].detail:
            print(f"      {items[0].detail[:900]}")
        for item in items[:show]:
            print(f"      ----- {item.target[0]} {item.target[1]} {item.document.id} {' '.join(item.document.flags)}")
            print("      " + str(item.document.text).replace("\n", "\n      "))
    if len(ranked) > most:
        print(f"... and {len(ranked) - most} groups more (--groups)")


def _releases(items: list[Disagreement]) -> str:
    minors = sorted({item.target[0] for item in items})
    sets = sorted({item.target[1] for item in items})
    shown = f"1.{minors[0]}" if len(minors) == 1 else f"1.{minors[0]}-1.{minors[-1]} ({len(minors)})"
    return f"{shown} {', '.join(sets)}"


if __name__ == "__main__":
    os.nice(5)
    sys.exit(main())
