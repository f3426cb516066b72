# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading log lines as klog and the JSON format write them."""

from __future__ import annotations

import json

import pytest
from ansible_collections.osso.scheduler.plugins.module_utils._cluster.klog import entries

HEADER = "I1122 05:26:55.123456       1 dumper.go:52]"


def only(text):
    [entry] = entries(text)
    return entry


def test_a_line_with_values_of_all_kinds():
    entry = only(f'{HEADER} "Several \\"things\\"" a="one two" b=3 c=true d=["x y","z"] e={{"k":"v w"}} f=<nil> g="" h=1.5s\n')
    assert (entry.severity, entry.time, entry.source) == ("info", "1122 05:26:55.123456", "dumper.go:52")
    assert entry.message == 'Several "things"'
    assert entry.values == {"a": "one two", "b": 3, "c": True, "d": ["x y", "z"], "e": {"k": "v w"}, "f": "<nil>", "g": "", "h": "1.5s"}


def test_values_of_several_lines_keep_their_own_tabs_and_delimiters():
    entry = only(f'{HEADER} "m" first=<\n\tone\n\t\n\t\ttwo\n\t >\n > second="s" third=<\n\tx\n >\n')
    assert entry.values == {"first": "one\n\n\ttwo\n >", "second": "s", "third": "x"}
    assert entry.complete


@pytest.mark.parametrize(("severity", "letter"), [("info", "I"), ("warning", "W"), ("error", "E"), ("fatal", "F")])
def test_severities(severity, letter):
    assert only(f'{letter}{HEADER[1:]} "m"\n').severity == severity


def test_a_message_without_structure_is_taken_as_it_is():
    entry = only(f"{HEADER} Registered topology plugin a=b\n")
    assert (entry.message, entry.values) == ("Registered topology plugin a=b", {})


def test_escapes_that_go_has_and_json_has_not():
    assert only(f'{HEADER} "m" a="\\x1b[0m\\a \\\\x41 \\u00e4"\n').values == {"a": "\x1b[0m\a \\x41 ä"}


def test_what_is_not_finished_is_not_complete():
    assert not only(f'{HEADER} "m" nodes=<\n\tNode name: a\n').complete
    assert list(entries(f'{HEADER} "m" a="b"')) == []
    cut = list(entries(f'{HEADER} "m" nodes=<\n\tNode name: a\n{HEADER} "next"\n'))
    assert [entry.complete for entry in cut] == [False, True]


def test_lines_of_others_are_left_out():
    assert [entry.message for entry in entries(f'panic: oh\n\ngoroutine 1 [running]:\n{HEADER} "m"\n\tstray\n')] == ["m"]


def test_json():
    line = json.dumps({"ts": 1763789215123.4, "caller": "debugger/dumper.go:52", "msg": "m", "v": 0, "nodes": "a\n\nb"})
    entry = only(f"{line}\n{{broken\n")
    assert (entry.severity, entry.message, entry.values) == ("info", "m", {"nodes": "a\n\nb"})
    assert only('{"ts":1,"msg":"m","err":"e"}\n').severity == "error"
