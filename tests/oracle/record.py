# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ask the oracle about all documents and keep its answers (`make oracle-record`).

    tests/tools/env python -m oracle.record [MINOR ...]      (in tests/)

Answers that are there already are asked for again only with --again: a document that was changed is a new one.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from . import client, compare, generate, recordings
from .documents import FROZEN, PLUGINS, targets
from .recordings import Answer

BATCH = 500


def record(minor: int, plugins: str, again: bool) -> str:
    """Ask what is not recorded yet; says what was done."""
    started = time.monotonic()
    documents = compare.documents(minor, plugins)
    wanted = {document.digest: document for document in documents}
    known: dict[str, Answer] = {}
    if not again and recordings.path(minor, plugins).exists():
        known = recordings.load(minor, plugins)[1]
    answers = {digest: answer for digest, answer in known.items() if digest in wanted and answer.verdict != "timeout"}
    missing = [document for digest, document in wanted.items() if digest not in answers]
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
        answers |= compare.ask(minor, plugins, batch)
    late = sum(answer.verdict == "timeout" for answer in answers.values())
    asked = {"kubernetes": f"1.{minor}", "plugins": plugins, "seed": generate.SEED, "generated": generate.COUNT}
    size = recordings.save(minor, plugins, asked, answers)
    accepted = sum(answer.accepted for answer in answers.values())
    return (
        f"1.{minor} {plugins}: {len(answers)} answers, {accepted} accepted, {len(missing)} asked now, {size // 1024} KiB,"
        f" {time.monotonic() - started:.0f} s" + (f", {late} TIMED OUT" if late else "")
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="record", description="Keep the oracle's answers")
    parser.add_argument("minors", nargs="*", metavar="MINOR", help="1.31 or 31; default: all that are built")
    parser.add_argument("--plugins", choices=PLUGINS)
    parser.add_argument("--again", action="store_true", help="ask about everything anew")
    options = parser.parse_args(arguments)
    minors = [int(minor.rpartition(".")[2]) for minor in options.minors]
    built = client.available()
    failed = 0
    for minor, plugins in targets():
        if (minors and minor not in minors) or options.plugins not in (None, plugins) or (minor, plugins) in FROZEN:
            continue
        if (f"1.{minor}", plugins) not in built:
            print(f"1.{minor} {plugins}: not built (tests/oracle/oracle build 1.{minor})", flush=True)
            failed = 1
            continue
        print(record(minor, plugins, options.again), flush=True)
    return failed


if __name__ == "__main__":
    os.nice(10)
    sys.exit(main())
