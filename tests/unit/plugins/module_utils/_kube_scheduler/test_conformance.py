# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The engine says what kube-scheduler said: the recorded answers of all releases (tests/conformance/kube_scheduler).

The gate compares those of `gate`, the second tier all of them.
"""

from __future__ import annotations

import contextlib
import io

import pytest
from oracle import compare, corpus, generate, mutate, recordings
from oracle.documents import served, targets

# One in so many documents is compared in any case.
GENERATED, HAND_WRITTEN = 20, 8
TARGETS = [pytest.param(minor, plugins, id=f"1.{minor}-{plugins}") for minor, plugins in targets()]


def gate(target, documents, answers):
    """The hand-written documents of the oldest and the newest release, of the others an eighth, and the first document of each kind of answer that this
    kube-scheduler gave; every twentieth of the generated documents. Each kube-scheduler has others."""
    minors = [minor for minor, _plugins in targets()]
    whole = target[0] in (min(minors), max(minors))
    number_of_target, kinds = targets().index(target), set()
    for number, document in enumerate(documents):
        answer = answers.get(document.digest)
        kind = answer and (answer.verdict, answer.stage, answer.starts, compare.shape(answer.error), compare.shape(answer.run_error))
        generated = document.id.startswith("gen/")
        share = GENERATED if generated else HAND_WRITTEN
        if kind not in kinds or number % share == number_of_target % share or (whole and not generated):
            yield document
        kinds.add(kind)


def compared(target, chosen=gate):
    """What is told about one kube-scheduler: how many documents, whether an answer lacks, disagreements, wrong expectations."""
    minor, plugins = target
    asked, answers = recordings.load(minor, plugins)
    documents = compare.documents(minor, plugins)
    compared = list(chosen(target, documents, answers))
    found = list(compare.disagreements(target, compared, answers))
    unexpected = [
        f"{document.id}: {answers[document.digest].verdict} {answers[document.digest].error}"
        for document in documents
        if document.expected
        and document.digest in answers
        and not compare.undecided(answers[document.digest], target)
        and answers[document.digest].accepted != (document.expected == "accept")
    ]
    generated = sum(document.id.startswith("gen/") for document in documents)
    return {"asked": asked, "generated": generated, "compared": len(compared), "found": found, "unexpected": unexpected}


def disagreements(found, minor) -> str:
    """A report of them, empty if there are none."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        compare.report(found, show=0, most=20)
    return f"{len(found)} disagreements (python -m oracle.compare 1.{minor}):\n{text.getvalue()}" if found else ""


@pytest.mark.parametrize(("minor", "plugins"), TARGETS)
def test_the_engine_agrees_with_kube_scheduler(minor, plugins):
    """Verdict, stage, fields named, completed configuration, plugins that run, and whether it starts.

    Of enough documents, and kube-scheduler gave the verdicts that were expected when the documents were written.
    """
    outcome = compared((minor, plugins))
    assert disagreements(outcome["found"], minor) == ""
    assert outcome["unexpected"] == []
    assert outcome["generated"] >= 2000
    assert outcome["compared"] >= 300
    assert outcome["asked"] == {"kubernetes": f"1.{minor}", "plugins": plugins, "seed": generate.SEED, "generated": generate.COUNT}


@pytest.mark.long
@pytest.mark.parametrize(("minor", "plugins"), TARGETS)
def test_the_engine_agrees_about_every_document(minor, plugins):
    found = compared((minor, plugins), lambda _target, documents, _answers: documents)["found"]
    assert disagreements(found, minor) == ""


def test_every_rule_has_documents_that_obey_and_break_it():
    """In every release and version where the rule holds."""
    rows = corpus.coverage()
    assert [row for row in rows if not (row.accepting and row.refusing)] == []
    for minor, plugins in targets():
        covered = {row.version for row in rows if (row.minor, row.plugins) == (minor, plugins)}
        assert covered == set(served(minor)), f"1.{minor} {plugins}"


def test_rules_have_names_of_their_own():
    names = [rule.id for rule in corpus.rules()]
    assert len(names) == len(set(names)) > 150


def test_generated_documents_are_the_same_every_time():
    first, second = ([document.digest for document in generate.documents(31, "in-tree", 50)] for _time in range(2))
    assert first == second
    assert first != [document.digest for document in generate.documents(31, "in-tree", 50, seed=generate.SEED + 1)]


def test_the_comparison_finds_every_kind_of_disagreement():
    """What the comparison looks at, each with a planted lie in the answer."""
    target = (31, "in-tree")
    documents = [document for document in corpus.documents(*target) if document.id.startswith(("fields/", "plugins/"))]
    _asked, answers = recordings.load(*target)
    accepted = next(document for document in documents if answers[document.digest].accepted)
    refused = next(document for document in documents if answers[document.digest].stage == "validate")
    right = answers[accepted.digest]
    config = {**right.config, "parallelism": 17}
    effective = {name: {**points, "score": points["score"][::-1]} for name, points in right.effective.items()}
    lies = (
        ("verdict", accepted, recordings.Answer("refuse", "decode", "x")),
        ("config", accepted, right._replace(config=config)),
        ("effective", accepted, right._replace(effective=effective)),
        ("starts", accepted, right._replace(starts=not right.starts)),
        ("verdict", refused, right),
        ("stage", refused, answers[refused.digest]._replace(stage="build")),
        ("path", refused, answers[refused.digest]._replace(error="profiles[3].schedulerName: Required value")),
        ("unrecorded", refused, None),
    )
    for kind, document, lie in lies:
        answers_with_a_lie = {} if lie is None else {document.digest: lie}
        kinds = [item.kind for item in compare.disagreements(target, [document], answers_with_a_lie)]
        assert kind in kinds, f"{document.id}: {lie}"


# One of every table and of every module with rules; `python -m oracle.mutate --count 100` takes out any.
PARTS = (
    r'tables/gates.py:\d+: "ContextualLogging"',
    r'tables/plugins.py:\d+: Default\("preScore", "NodeResourcesFit"',
    r'tables/releases.py:\d+: "v1beta2": \(22',
    r'tables/scheduler_plugins.py:\d+: Plugin\("SySched"',
    r'tables/types.py:\d+: Field\("parallelism"',
    r"framework.py:\d+: total < 0",
    r"validation.py:\d+: binders > 1",
    r"validation_args.py:\d+: name in seen",
)


@pytest.mark.long
def test_a_missing_rule_or_table_cell_is_noticed():
    """Without it some recorded answer no longer fits."""
    outcomes = mutate.run(count=3 * len(PARTS), only="|".join(PARTS))
    assert len(outcomes) == len(PARTS), [str(item) for item in outcomes]
    assert [str(item) for item in outcomes if not item.noticed] == []
