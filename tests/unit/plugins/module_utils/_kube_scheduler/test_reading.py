# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Thousands of hostile documents are read as Go's libraries read them: tests/conformance/kube_scheduler/reading."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._kube_scheduler.document import NotYaml, parse

RECORDING = Path(__file__).parents[4] / "conformance/kube_scheduler/reading/recorded.jsonl.xz"
UNTIL_1_22 = 22


@pytest.fixture(scope="module")
def recorded() -> list[tuple[bytes, str, object]]:
    lines = lzma.decompress(RECORDING.read_bytes()).decode().split("\n")
    # what Go says of an error is there for people
    return [
        (text.encode("utf-8", "surrogateescape"), kind, comparable(value) if kind == "yaml" else None)
        for text, kind, value in map(json.loads, filter(None, lines))
    ]


def test_every_document_is_read_as_by_go(recorded):
    wrong = [(text, kind, value, ours) for text, kind, value in recorded if (ours := read(text)) != (kind, value)]
    assert not wrong, f"{len(wrong)} of {len(recorded)}, for example {wrong[0]}"


def test_the_recording_has_documents_of_each_kind(recorded):
    kinds = [kind for _text, kind, _value in recorded]
    assert all(kinds.count(kind) >= least for kind, least in (("yaml", 1500), ("error", 1500), ("duplicate", 50), ("json", 50)))


def read(text: bytes) -> tuple[str, object]:
    """Ours, in the form of the recording; of JSON, which Go has not decoded at this point, no value."""
    try:
        root, findings = parse(text, UNTIL_1_22)
    except NotYaml:
        return "error", None
    if any(finding.code == "duplicate-key" for finding in findings):
        return "duplicate", None
    if text.lstrip().startswith(b"{"):
        return "json", None
    return "yaml", comparable(None if root is None else root.value)


def comparable(value: object) -> object:
    """With the type told apart: 1 and True are equal in Python, 1 and 1.0 in JSON."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else [value] if isinstance(value, bool) else value
