# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make hostile YAML and JSON and record what Go's libraries read in it (main.go): recorded.jsonl.xz, for test_reading.py.

    python tests/conformance/kube_scheduler/reading/record.py

Needs Go and its module proxy. The same seed gives the same documents. Each line of the recording is [text, kind, value]; octets
that are no UTF-8 stand in the text as Python's surrogateescape has them.
"""

from __future__ import annotations

import base64
import json
import lzma
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).parent
RECORDING = FOLDER / "recorded.jsonl.xz"
SEED, COUNT = 1, 8000

# What a document is thrown together from: each piece is whole only in some places.
PIECES = [
    *("a", "b", "c: ", "a: ", "b: 1", "a b c", "a:b", "a: b: c", "k: v\n", "- k: v\n  l: w\n", '"q": 1\n', "x" * 50),
    *("- ", "- a", "-", "? ", ": ", ":", "?", "\n- ", "\n  - ", "\n  ", "\n    ", "\n\n", "\n", "\n", " ", "  ", "    ", "\t"),
    *(
        "[",
        "]",
        "{",
        "}",
        ",",
        ", ",
        "[a, b]",
        "{a: b}",
        "{a: 1, b: [c]}",
        "[a: b]",
        "[? a : b]",
        "{? a}",
        "{a}",
        "{a:}",
        '{"a":b}',
        "[a?b]",
    ),
    *("# x", "#", " #", "a #b", "a#b"),
    *("'", '"', "''", '""', "'it''s'", '"\\n"', '"\\x41"', '"\\ud800"', '"\\/"', '"a\\\n b"', "\\"),
    *("|", "|-", "|+", "|2", "|1-", "|0", ">", ">-", "> # c"),
    *("---", "--- ", "\n---\n", "\n...\n", "...", "%YAML 1.1\n", "%YAML 1.2\n---\n", "%TAG !e! tag:e,2000:\n--- ", "%", "@", "`", "="),
    *("&x ", "*x", "&y", "*y ", "<<: ", "<<: *x", "<<", "x: &x {a: 1}\n", "y: &y [1, 2]\n", "z: {<<: *x}\n"),
    *("!!str ", "!!int ", "!foo ", "!", "!!binary ", "!!float ", "!!null ", "!!bool ", "!!timestamp ", "!!merge ", "!e!x ", "!%69 "),
    *(
        "!<tag:yaml.org,2002:int> ",
        "!<!> ",
        "~",
        "null",
        "1",
        "1.0",
        "0x1F",
        "0b1",
        "1e3",
        "1e400",
        "-0",
        ".5",
        ".inf",
        "-.nan",
        "010",
        "08",
    ),
    *("1_000", "2020-01-01", "y", "no", "on", "true", "18446744073709551615", "18446744073709551616", "1.5", "1e21", "0o17", "+1", "1:30"),
    *("\r\n", "\r", "\x85", "\u2028", "\u2029", "\u200b", "\xa0", "\ufeff", "\u00e9", "\u65e5", "\U0001f600", "\x07", "\x7f"),
]
INDENTATIONS = ["", "", "  ", "  ", "    ", " ", "   "]
STARTS = ["", "", "- ", "- - ", "? ", ": ", "-\t", "&x ", "&x", "!!str "]
LINES = [
    *(
        "a:",
        "b: ",
        "c: 1",
        "d: x y",
        "k",
        "'q': ",
        '"q": r',
        "e: |",
        "f: >-",
        "g: [1,",
        "h: {a: b",
        "]",
        "}",
        "- x",
        "*x",
        "<<: *x",
        "i: &x",
    ),
    *(
        "j: *x",
        "k: &x {z: 1}",
        "# c",
        "l: 'multi",
        'm"',
        "end'",
        "text more",
        'n: "open',
        'close"',
        "o: # c",
        "p:\t1",
        "- {q: 1}",
        "r: [a, b]",
    ),
    *(
        "s: !!int '3'",
        "t: *x # c",
        "1: 2",
        "1.0: 2",
        "true: x",
        "~: 1",
        "1e6: 3",
        "1.1: 2",
        "? [a]",
        "{a: b}: c",
        ".inf: 1",
        "u: .inf",
        "[]: 1",
    ),
]
LINE_ENDS = ["", "", " ", "  # c", "\t"]
DOCUMENTS = [
    """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: a
  plugins:
    score:
      enabled:
      - name: X
        weight: 2
      disabled:
      - name: "*"
""",
    "a: &x {b: 1, c: [1, 2]}\nd:\n  <<: *x\n  e: 'f'\n",
    'a: |\n  text\n   more\n\n  end\nb: >-\n  fold\n  ed\n\n  x\nc: "q \\\n  r"\n',
    "---\n# c\na:\n- b\n- c: d\n  e: f\n...\n---\nx: y\n",
    '{"a": [1, 2.5e3, null, true, "s\\u00e9\\n"], "b": {"c": {}}}',
    '{\n\t"apiVersion": "v1",\n\t"kind": "K",\n\t"l": [ { "x": -1 } ]\n}\n',
    '{"a": {"b": 1, "c": 2, "b": 3}}',
    "? a\n: b\n? - c\n  - d\n: e\n",
    "[a, b: c, {d: e}, 'f', \"g\"]\n",
    "a: 1\nb: 2\na: 3\n",
    "a: &x {b: 1, c: 2}\nd:\n- {<<: *x, c: 3}\n- 'e': 1\n  e: 2\n",
]


def documents(seed: int, count: int) -> list[bytes]:
    chance = random.Random(seed)
    return [_encoded(chance, chance.choice((_pieces, _lines, _changed, _changed))(chance)) for _each in range(count)]


def _pieces(chance: random.Random) -> str:
    return "".join(chance.choice(PIECES) for _each in range(chance.randint(1, 9)))


def _lines(chance: random.Random) -> str:
    lines = [
        chance.choice(INDENTATIONS) + chance.choice(STARTS) + chance.choice(LINES) + chance.choice(LINE_ENDS)
        for _each in range(chance.randint(1, 6))
    ]
    return "\n".join(lines) + chance.choice(["", "\n", "\n\n"])


def _changed(chance: random.Random) -> str:
    text = chance.choice(DOCUMENTS)
    for _each in range(chance.randint(1, 2)):
        place = chance.randrange(len(text) + 1)
        length, inserted = chance.choice(
            [(0, chance.choice(PIECES)), (chance.randint(1, 3), ""), (1, chance.choice("\n \t:-#'\"[]{},&*!|>%@`?"))]
        )
        text = text[:place] + inserted + text[place + length :]
    return text


def _encoded(chance: random.Random, text: str) -> bytes:
    octets = text.encode()
    kind = chance.randrange(100)
    if kind < 2:
        place = chance.randrange(len(octets) + 1)
        return octets[:place] + bytes([chance.randrange(128, 256)]) + octets[place + 1 :]
    if kind < 4:
        return b"\xef\xbb\xbf" + octets
    if kind < 6:
        return b"\xff\xfe" + text.encode("utf-16-le") if kind == 4 else b"\xfe\xff" + text.encode("utf-16-be")
    if kind < 8:  # a wrong character behind the document, nearer or further than the reader looks
        return octets + b"\n---\n" + b"x" * chance.choice([1, 300, 500, 520, 1000, 3000]) + b"\x01"
    return octets


def read_by_go(texts: list[bytes]) -> list[list]:
    """[kind, value] for each text; None where two runs differ: keys 1 and "1" in one mapping fall on each other in any order."""
    lines = b"".join(base64.b64encode(text) + b"\n" for text in texts)
    runs = [subprocess.run(["go", "run", "."], cwd=FOLDER, input=lines, stdout=subprocess.PIPE, check=True).stdout for _each in range(2)]
    first, second = ([json.loads(line) for line in run.decode().split("\n") if line] for run in runs)
    return [one if one == other else None for one, other in zip(first, second, strict=True)]


def main() -> int:
    texts = documents(SEED, COUNT)
    answers = read_by_go(texts)
    lines = [
        json.dumps([text.decode("utf-8", "surrogateescape"), kind, value if kind in ("yaml", "error") else None])
        for text, (kind, value) in ((text, answer) for text, answer in zip(texts, answers, strict=True) if answer)
    ]
    RECORDING.write_bytes(lzma.compress(("\n".join(lines) + "\n").encode(), preset=9))
    print(dict(Counter(answer[0] for answer in answers if answer)), RECORDING.stat().st_size, "bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
