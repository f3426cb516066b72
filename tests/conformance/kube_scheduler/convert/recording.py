# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Proof that conversions keep the behaviour, by kube-scheduler itself.

Every document of documents.yml is converted on each release that reads both its version and a newer one. The kube-scheduler of
that release (tests/oracle) says what runs before and after: the plugins of every extension point and the completed
configuration must be equal. From the top of the checkout:

    make oracle
    tests/tools/env python tests/conformance/kube_scheduler/convert/recording.py live     # compare now, keep nothing
    tests/tools/env python tests/conformance/kube_scheduler/convert/recording.py record   # ask again, write recordings.json.xz
    tests/tools/env python tests/conformance/kube_scheduler/convert/recording.py generated 300   # so many documents per kube-scheduler
"""

from __future__ import annotations

import hashlib
import json
import lzma
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
RECORDINGS = HERE / "recordings.json.xz"
GROUP = "kubescheduler.config.k8s.io"

if __name__ == "__main__":
    # Before the imports below, which is why they come late (E402)
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / ".cache/collections")]

from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.check import check  # noqa: E402
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.convert import Conversion, convert  # noqa: E402

SERVED = {"Policy": (21, 21), "v1beta1": (22, 22), "v1beta2": (23, 27), "v1beta3": (25, 28)}
"""The minors that read a version and a newer one. A policy becomes v1beta1 on 1.21; 1.22 can't write what it makes of policies."""

STRATEGIES = {
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}
GONE = {"NodePreferAvoidPods", "NodeLabel", "ServiceAffinity"}
IN_ORDER = ("queueSort", "preEnqueue", "postFilter", "reserve", "permit", "preBind", "bind", "postBind")


class Case(NamedTuple):
    """One document on one release."""

    id: str
    version: str
    minor: int
    plugins: str
    text: str
    decide: bool
    args: dict[str, Any]

    def convert(self) -> Conversion:
        return convert(self.text, f"1.{self.minor}", f"1.{self.minor}", self.plugins)


def cases() -> Iterator[Case]:
    for entry in _entries():
        plugins, decide, args = entry.get("plugins", "in-tree"), entry.get("decide", False), entry.get("args", {})

        def on_releases(version: str, text: str, how: str = "", entry=entry, plugins=plugins, decide=decide, args=args) -> Iterator[Case]:
            first, last = SERVED[version]
            for minor in range(max(first, entry.get("since", 0)), min(last, entry.get("until", 99)) + 1):
                if how and minor in (24, 26):
                    continue  # between releases that do the same
                yield Case(f"{entry['name']}, {how}{version} on 1.{minor}", version, minor, plugins, text, decide, args)

        for version in entry["version"].split():
            text = _text(version, entry["document"])
            if version == "Policy":  # all of it can be said in v1beta1
                yield from on_releases(version, text, args={}, decide=False)
                if not entry.get("chain", True):
                    continue
                yield from on_releases("v1beta1", convert(text, "1.21", "1.21").text, "Policy as ")
            else:
                yield from on_releases(version, text)
            # What came out of the oldest versions goes on its way.
            if version in ("Policy", "v1beta1") and not decide and entry.get("chain", True):
                source = "1.21" if version == "Policy" else "1.22"
                yield from on_releases("v1beta2", convert(text, source, "1.22", plugins).text, f"{version} as ", args={})


def _entries() -> Iterator[dict[str, Any]]:
    for entry in yaml.safe_load((HERE / "documents.yml").read_text()):
        if "document" in entry:
            yield entry
        for name in entry.get("predicates", ()):
            yield {**entry, "name": f"{entry['name']} {name}", "document": {"predicates": [{"name": name}], "priorities": []}}
        for name in entry.get("priorities", ()):
            document = {"predicates": [], "priorities": [{"name": name, "weight": 3}]}
            yield {**entry, "name": f"{entry['name']} {name}", "document": document}


def _text(version: str, document: dict[str, Any]) -> str:
    if version == "Policy":
        head = {"apiVersion": "v1", "kind": "Policy"}
    else:
        head = {"apiVersion": f"{GROUP}/{version}", "kind": "KubeSchedulerConfiguration"}
    return yaml.safe_dump({**head, **document}, sort_keys=False).replace("{version}", version)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def ask(minor: int, plugins: str, texts: list[str]) -> list[dict[str, Any]]:
    """The verdicts of the real kube-scheduler on documents and policies, reduced to what is compared."""
    from oracle import client

    with tempfile.TemporaryDirectory() as folder:
        documents: list[dict[str, Any]] = []
        for index, text in enumerate(texts):
            if text.startswith("apiVersion: v1\n"):
                policy = Path(folder) / f"{index}.yaml"
                policy.write_text(text)
                documents.append({"id": index, "flags": [f"--policy-config-file={policy}"]})
            else:
                documents.append({"id": index, "text": text})
        answers = client.run(f"1.{minor}", plugins, documents)
    return [{name: answer[name] for name in ("verdict", "error", "config", "effective")} for answer in answers]


def differences(case: Case, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What the converted document does otherwise, apart from what documents.yml and the names of 1.22 explain."""
    if before["verdict"] != "accept" or after["verdict"] != "accept":
        return [f"refused: {answer['error'] or answer['verdict']}" for answer in (before, after) if answer["verdict"] != "accept"]
    found = []
    for scheduler in sorted({*before["effective"], *after["effective"]}):
        ran, runs = _running(before["effective"].get(scheduler, {}), case), _running(after["effective"].get(scheduler, {}), case)
        found += [
            f"{scheduler}: {point}: {ran.get(point)} -> {runs.get(point)}"
            for point in sorted({*ran, *runs})
            if ran.get(point) != runs.get(point)
        ]
    for index, (profile, other) in enumerate(zip(before["config"]["profiles"], after["config"]["profiles"], strict=True)):
        points = before["effective"][profile["schedulerName"]]
        runs = {name for listed in points.values() for name, _weight in listed} | {"NodeResourcesFit"}
        scores = {name for name, _weight in points.get("score", [])}
        # Plugins that were only built, and run nowhere, have no say.
        expected = {name: values for name, values in _expected(_args(profile), scores, case).items() if name in runs}
        args_after = {name: values for name, values in _args(other).items() if name in runs}
        for name in sorted({*expected, *args_after}):
            if expected.get(name) != args_after.get(name):
                found.append(f"profiles[{index}]: arguments of {name}: {expected.get(name)} -> {args_after.get(name)}")
    if case.version != "Policy":  # which is no configuration
        rest, rest_after = _rest(before["config"]), _rest(after["config"])
        found += [
            f"{name}: {rest.get(name)} -> {rest_after.get(name)}"
            for name in sorted({*rest, *rest_after})
            if rest.get(name) != rest_after.get(name)
        ]
    return found


def _running(points: dict[str, list], case: Case) -> dict[str, list]:
    """Under the names of afterwards, without what is gone in the next version."""
    gone = {"v1beta1": GONE, "v1beta2": {"SelectorSpread"}, "v1beta3": {"SelectorSpread"}}.get(case.version, set())
    new = dict.fromkeys(STRATEGIES, "NodeResourcesFit") if case.version == "v1beta1" else {}
    running = {}
    for point, listed in points.items():
        kept = [[new.get(name, name), weight] for name, weight in listed if name not in gone]
        if kept:
            running[point] = kept if point in IN_ORDER else sorted(kept)
    return running


def _args(profile: dict[str, Any]) -> dict[str, Any]:
    entries = profile.get("pluginConfig") or ()
    return {
        entry["name"]: {name: value for name, value in entry["args"].items() if name not in ("apiVersion", "kind")} for entry in entries
    }


def _expected(args: dict[str, Any], scores: set[str], case: Case) -> dict[str, Any]:
    """The arguments that the converted document should give, by those of before."""
    if case.version == "Policy":
        return args
    expected = {name: values for name, values in args.items() if name not in {*STRATEGIES, *GONE, "SelectorSpread"}}
    for name in STRATEGIES:
        if name in scores and name in args:
            strategy = {"type": STRATEGIES[name], "resources": args[name]["resources"]}
            if "shape" in args[name]:
                strategy["requestedToCapacityRatio"] = {"shape": args[name]["shape"]}
            expected["NodeResourcesFit"] = {**expected["NodeResourcesFit"], "scoringStrategy": strategy}
    for name, values in case.args.items():
        if name in expected:
            expected[name] = {**expected[name], **values}
    return expected


def _rest(config: dict[str, Any]) -> dict[str, Any]:
    ended = ("apiVersion", "profiles", "healthzBindAddress", "metricsBindAddress")
    return {name: value for name, value in config.items() if name not in ended}


def _moves_labels(case: Case) -> bool:
    """Whether NodeLabel becomes an affinity, which changes arguments in a way that only a person could expect."""
    return case.version == "v1beta1" and "NodeLabel" in case.text


def load() -> dict[str, dict[str, Any]]:
    """Case id -> {"converted": digest of the text, "before": answer, "after": answer}"""
    stored = json.loads(lzma.decompress(RECORDINGS.read_bytes()))
    answers = stored["answers"]
    return {
        name: {"converted": entry["converted"], "before": answers[entry["before"]], "after": answers[entry["after"]]}
        for name, entry in stored["cases"].items()
    }


def generated(count: int) -> Iterator[Case]:
    """Documents of the generator (tests/oracle/generate.py) that their release accepts, for every program that is built."""
    from oracle import client, generate

    for program, plugins in client.available():
        minor = int(program.partition(".")[2])
        versions = [version for version, (first, last) in SERVED.items() if first <= minor <= last and version != "Policy"]
        for number in range(count if versions else 0):
            dice = generate.Dice(f"convert/{minor}/{plugins}/{number}")
            target = generate.Target(minor, plugins, dice.pick(versions))
            made = generate.configuration(dice, target)
            for _fault in range(dice.below(3)):
                made = generate.mutated(dice, made, target)
            text = generate.written(dice, made)
            if isinstance(text, str) and made.get("apiVersion") == f"{GROUP}/{target.version}" and check(text, program, plugins).valid:
                yield Case(f"{number}, {target.version} on {program} {plugins}", target.version, minor, plugins, text, False, {})


def main() -> int:
    from oracle import client

    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command not in ("live", "record", "generated"):
        print(__doc__)
        return 2
    chosen = generated(int(sys.argv[2])) if command == "generated" else cases()
    built = set(client.available())
    programs: dict[tuple[int, str], list[Case]] = {}
    for case in chosen:
        programs.setdefault((case.minor, case.plugins), []).append(case)
    answers: list[dict[str, Any]] = []
    recorded: dict[str, dict[str, Any]] = {}
    failed = undecided = 0
    for (minor, plugins), asked in sorted(programs.items()):
        if (f"1.{minor}", plugins) not in built:
            print(f"the oracle 1.{minor} {plugins} is not built: {len(asked)} conversions are not compared")
            continue
        conversions = [case.convert() for case in asked]
        said = ask(minor, plugins, [text for case, made in zip(asked, conversions, strict=True) for text in (case.text, made.text)])
        for case, conversion, before, after in zip(asked, conversions, said[::2], said[1::2], strict=True):
            entry: dict[str, Any] = {"converted": digest(conversion.text)}
            for side, answer in (("before", before), ("after", after)):
                if answer not in answers:
                    answers.append(answer)
                entry[side] = answers.index(answer)
            recorded[case.id] = entry
            if command == "generated" and (not conversion.complete or _moves_labels(case)):
                undecided += 1
                continue
            found = [] if case.decide else differences(case, before, after)
            if conversion.complete == case.decide:
                found.append(f"complete is {conversion.complete}: {[found.format() for found in conversion.findings]} {conversion.steps}")
            if found:
                failed += 1
                print(f"DIFFERENT: {case.id}", *found, sep="\n    ")
    print(f"{len(recorded) - undecided} conversions compared, {failed} different; {undecided} are for a person to decide")
    if command == "record":
        content = json.dumps({"cases": recorded, "answers": answers}, sort_keys=True, separators=(",", ":"))
        RECORDINGS.write_bytes(lzma.compress(content.encode(), preset=9))
        print(f"{RECORDINGS.name}: {RECORDINGS.stat().st_size} bytes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
