# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Would the recorded answers notice if the engine lacked a rule, or a cell of a table?

    tests/tools/env python -m oracle.mutate [--count N] [--seed N] [--only REGEX]      (in tests/)

One element of a literal in kube_scheduler/tables, or one condition that leads to an error, is taken out of a copy of the
engine; then the hand-written documents are compared with the recordings until one no longer fits.
"""

from __future__ import annotations

import argparse
import ast
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from . import compare, corpus, recordings
from .documents import targets
from .generate import NEW_PLUGIN_NAMES, NEW_POINTS, PLUGIN_NAMES, POINTS, Dice

ENGINE = Path(__file__).parents[2] / "plugins/module_utils/_kube_scheduler"
# Tables and modules that decide the answer; hints, images and conversion are no part of it.
TABLES = ("gates", "plugins", "releases", "rules", "scheduler_plugins", "types")
RULES = ("decode", "defaults", "default_plugins", "extenders", "framework", "startup", "validation", "validation_args")
SAMPLE = 16
SEED = 1
# Tables of wording, of which no answer depends.
_WORDING = re.compile(r"WORDS|REPLACEMENTS|REMOVED_LOCKS|_HINT")
_NAMES = frozenset((*POINTS, *PLUGIN_NAMES)).union(*NEW_POINTS.values(), *NEW_PLUGIN_NAMES.values())


class Mutant(NamedTuple):
    """module: file name; line: where something was taken out; what: which source text; source: of the file without it."""

    module: str
    line: int
    what: str
    source: str


class Outcome(NamedTuple):
    mutant: Mutant
    noticed: str

    def __str__(self) -> str:
        verdict = f"noticed: {self.noticed}" if self.noticed else "NOT NOTICED"
        return f"{self.mutant.module}:{self.mutant.line}: without {self.mutant.what!r}: {verdict}"


def mutants() -> list[Mutant]:
    """All there are, in the order of the source."""
    found = []
    for name in TABLES:
        found += _without(f"tables/{name}.py", _cells)
    for name in RULES:
        found += _without(f"{name}.py", _rules)
    return found


def _without(module: str, candidates) -> list[Mutant]:
    source = (ENGINE / module).read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    data = source.encode()

    def place(line, column):
        return starts[line - 1] + column

    found = []
    for node, first, last, instead in candidates(ast.parse(source)):
        begin, end = place(*first), place(*last)
        text = data[begin:end].decode()
        rest = data[end:]
        if not instead:
            rest = re.sub(rb"\A\s*,", b"", rest)
        what = f"{node.id} in {text}" if isinstance(node, ast.Name) and instead else text
        found.append(Mutant(module, node.lineno, " ".join(what.split())[:70], (data[:begin] + instead.encode() + rest).decode()))
    return found


def _span(node):
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _cells(tree: ast.Module):
    """Parts of the literals that stand in assignments at the top of a module."""
    for statement in tree.body:
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if _WORDING.search(getattr(target, "id", "")):
            continue
        for node in ast.walk(statement.value):
            if isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    if key is not None:
                        yield key, _span(key)[0], _span(value)[1], ""
            elif isinstance(node, (ast.List, ast.Set, ast.Tuple)) and len(node.elts) > 1:
                for element in node.elts:
                    if isinstance(element, ast.Starred):
                        continue
                    yield element, *_span(element), ""
            elif isinstance(node, ast.Call):
                for keyword in node.keywords:
                    yield keyword, *_span(keyword), ""
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                words = node.value.split()
                if len(words) > 1 and all(word in _NAMES for word in words):
                    for number, word in enumerate(words):
                        rest = " ".join(words[:number] + words[number + 1 :])
                        yield ast.copy_location(ast.Name(word), node), *_span(node), repr(rest)


def _rules(tree: ast.Module):
    """Conditions of ``if`` statements in whose body something is reported: then they never hold."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and any(_reports(inner) for statement in node.body for inner in ast.walk(statement)):
            yield node.test, *_span(node.test), "False"


def _reports(node: ast.AST) -> bool:
    if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Raise)):
        return True
    return isinstance(node, ast.Call) and "error" in getattr(node.func, "attr", "")


def sample(count: int, seed: int, only: str = "") -> list[Mutant]:
    """Half of them cells of tables, half rules."""
    dice = Dice(f"mutate/{seed}")
    found = [mutant for mutant in mutants() if re.search(only, f"{mutant.module}:{mutant.line}: {mutant.what}")]
    cells = [mutant for mutant in found if mutant.module.startswith("tables/")]
    rules = [mutant for mutant in found if not mutant.module.startswith("tables/")]
    chosen = [_take(dice, rules) for _count in range(min(count // 2, len(rules)))]
    return chosen + [_take(dice, cells) for _count in range(min(count - len(chosen), len(cells)))]


def _take(dice: Dice, items: list) -> Mutant:
    return items.pop(dice.below(len(items)))


def run(count: int, seed: int = SEED, only: str = "") -> list[Outcome]:
    """Take out one after the other; every mutant is tried in a process of its own."""
    chosen = sample(count, seed, only)
    context = multiprocessing.get_context("fork")
    _questions()
    with context.Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        return [Outcome(mutant, noticed) for mutant, noticed in zip(chosen, pool.map(_noticed, chosen, chunksize=1), strict=True)]


_asked: list = []


def _questions() -> list:
    """(target, document, answer) of all hand-written documents, in an order in which every target and subject comes soon."""
    if not _asked:
        dice = Dice("order")
        for target in targets():
            if not recordings.path(*target).exists():
                continue
            answers = recordings.load(*target)[1]
            for document in corpus.documents(*target):
                answer = answers.get(document.digest)
                if answer and not compare.undecided(answer, target):
                    _asked.append((target, document, answer))
        _asked.sort(key=lambda _question: dice.below(2**30))
    return _asked


def _noticed(mutant: Mutant) -> str:
    """The first document about which the mutant is wrong; empty if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "without"
        shutil.copytree(ENGINE, copy / "kube_scheduler", ignore=shutil.ignore_patterns("__pycache__"))
        (copy / "__init__.py").touch()
        (copy / "kube_scheduler" / mutant.module).write_text(mutant.source, encoding="utf-8")
        sys.path.insert(0, folder)
        try:
            from without.kube_scheduler.check import check
        except Exception as error:
            return f"import: {type(error).__name__}: {error}"
        engine = compare.engine()
        for target, document, answer in _questions():
            try:
                compare.engine = lambda: check
                said = next(compare.compare(document, answer, target), None)
            except Exception as error:
                said = ("raised", "", f"{type(error).__name__}: {error}")
            if said is None:
                continue
            compare.engine = lambda: engine
            if next(compare.compare(document, answer, target), None) is None:  # it is the mutant that is wrong
                first = said[2].splitlines()[0] if said[2] else ""
                return f"{said[0]} of {document.id} for 1.{target[0]} {target[1]}: {first}"[:200]
    return ""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="mutate", description="Would the recorded answers notice a missing rule?")
    parser.add_argument("--count", type=int, default=SAMPLE)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", default="", metavar="REGEX", help="of module:line: text")
    options = parser.parse_args(arguments)
    outcomes = run(options.count, options.seed, options.only)
    for outcome in outcomes:
        print(outcome)
    unnoticed = sum(not outcome.noticed for outcome in outcomes)
    print(f"{len(outcomes)} of {len(mutants())} taken out, {unnoticed} not noticed")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
